//! The evaluator over the parser's tree.
//!
//! bash expands `$x` in an expression before it evaluates any of it. The tree evaluates in
//! place, which makes no difference unless an assignment inside the expression comes first;
//! then, and where a `$x` is no plain number, the whole expression goes the way of text.

use std::borrow::Cow;

use sh_syntax::ast::{ArithBinary, ArithExpr, ArithIndex, ArithUnary, Param, ParamName, ParamOp};

use super::number::plain_integer;
use super::text::{self, Origin};
use super::variable::{self, Depth, Place};
use crate::env::Env;
use crate::error::{Cause, ExpandError};
use crate::subscript::{self, OwnedKey};

/// Why the tree could not be evaluated.
#[derive(Debug)]
pub(super) enum Fail {
    Error(Box<ExpandError>),
    /// Nothing was assigned yet: evaluate the expanded text instead.
    AsText,
    /// The `n`th operator of the source that can fail (`/ % **` and their assignments) did.
    At(usize),
}

impl From<ExpandError> for Fail {
    fn from(error: ExpandError) -> Fail {
        Fail::Error(Box::new(error))
    }
}

/// Deeper trees are evaluated as text, which loops over chains of operators.
const MAX_DEPTH: u32 = 300;

pub(super) fn eval(env: &mut dyn Env, expr: &ArithExpr) -> Result<i64, Fail> {
    let mut walk = Walk { env, root: expr, has_param: None, assigned: false };
    match walk.value(expr, 0) {
        // A `$x` behind the error would have been expanded before it.
        Err(Fail::Error(_)) if !walk.assigned && walk.tree_has_param() => Err(Fail::AsText),
        result => result,
    }
}

struct Walk<'e, 't> {
    env: &'e mut dyn Env,
    root: &'t ArithExpr,
    /// Whether the tree holds a `$x`; found out when it first matters.
    has_param: Option<bool>,
    assigned: bool,
}

impl<'t> Walk<'_, 't> {
    fn value(&mut self, expr: &'t ArithExpr, depth: u32) -> Result<i64, Fail> {
        if depth > MAX_DEPTH {
            return if self.assigned { Err(too_deep()) } else { Err(Fail::AsText) };
        }
        let depth = depth + 1;
        match expr {
            ArithExpr::Number(value) => Ok(*value),
            ArithExpr::Var(name) => self.variable(name),
            ArithExpr::Element(name, index) => {
                variable::require_array(self.env, name)?;
                let place = self.element(name, index, depth)?;
                Ok(place.read(self.env, &Depth::TOP)?)
            }
            ArithExpr::Param(param) => self.param(param),
            ArithExpr::Unary(op, operand) => {
                let value = self.value(operand, depth)?;
                Ok(match op {
                    ArithUnary::Plus => value,
                    ArithUnary::Minus => value.wrapping_neg(),
                    ArithUnary::Not => i64::from(value == 0),
                    ArithUnary::Complement => !value,
                })
            }
            ArithExpr::Binary(op, left, right) => {
                let left = self.value(left, depth)?;
                let right = self.value(right, depth)?;
                match binary(*op, left, right) {
                    Some(value) => Ok(value),
                    None => Err(self.at(expr)),
                }
            }
            ArithExpr::LogicalAnd(left, right) => {
                if self.value(left, depth)? == 0 {
                    return self.skipped(right).map(|()| 0);
                }
                Ok(i64::from(self.value(right, depth)? != 0))
            }
            ArithExpr::LogicalOr(left, right) => {
                if self.value(left, depth)? != 0 {
                    return self.skipped(right).map(|()| 1);
                }
                Ok(i64::from(self.value(right, depth)? != 0))
            }
            ArithExpr::Ternary(condition, yes, no) => {
                let (branch, other) =
                    if self.value(condition, depth)? != 0 { (yes, no) } else { (no, yes) };
                self.skipped(other)?;
                self.value(branch, depth)
            }
            ArithExpr::Assign(op, ..) => self.assign(expr, *op, depth),
            ArithExpr::Step { increment, prefix, target } => {
                self.before_side_effect(expr)?;
                let delta = if *increment { 1 } else { -1 };
                let (old, new) = self.step(target, delta, depth)?;
                Ok(if *prefix { new } else { old })
            }
            ArithExpr::Comma(left, right) => {
                self.value(left, depth)?;
                self.value(right, depth)
            }
        }
    }

    /// Adds to a variable; its value before and after.
    fn step(&mut self, target: &'t ArithExpr, delta: i64, depth: u32) -> Result<(i64, i64), Fail> {
        match target {
            ArithExpr::Var(name) => {
                let old = variable::read(self.env, name, &Depth::TOP)?;
                let new = old.wrapping_add(delta);
                self.assigned = true;
                variable::write(self.env, name, new)?;
                Ok((old, new))
            }
            ArithExpr::Element(name, index) => {
                variable::require_array(self.env, name)?;
                let place = self.element(name, index, depth)?;
                let old = place.read(self.env, &Depth::TOP)?;
                let new = old.wrapping_add(delta);
                self.assigned = true;
                place.write(self.env, new)?;
                Ok((old, new))
            }
            _ => Err(Fail::AsText),
        }
    }

    /// What is not evaluated must still be an expression once its `$x` are expanded.
    fn skipped(&mut self, expr: &'t ArithExpr) -> Result<(), Fail> {
        if !self.tree_has_param() {
            return Ok(());
        }
        let mut params = Vec::new();
        visit(expr, &mut |e| {
            if let ArithExpr::Param(param) = e {
                params.push(&**param);
            }
        });
        params.into_iter().try_for_each(|param| self.param(param).map(drop))
    }

    fn variable(&mut self, name: &'t [u8]) -> Result<i64, Fail> {
        if let Some(value) = self.env.get_int(name) {
            return Ok(value);
        }
        // The value may be an expression with assignments of its own.
        if self.tree_has_param() && !self.assigned {
            return Err(Fail::AsText);
        }
        Ok(variable::read(self.env, name, &Depth::TOP)?)
    }

    fn assign(
        &mut self,
        expr: &'t ArithExpr,
        op: Option<ArithBinary>,
        depth: u32,
    ) -> Result<i64, Fail> {
        let ArithExpr::Assign(_, target, value) = expr else { return Err(Fail::AsText) };
        match &**target {
            ArithExpr::Var(name) => {
                let old = match op {
                    Some(_) => self.variable(name)?,
                    None => 0,
                };
                let value = self.value(value, depth)?;
                let value = self.combined(expr, op, old, value)?;
                self.before_side_effect(expr)?;
                self.assigned = true;
                variable::write(self.env, name, value)?;
                Ok(value)
            }
            ArithExpr::Element(name, index) => {
                // As in bash: the subscript comes first only if the element is read.
                let (place, value) = match op {
                    Some(_) => {
                        variable::require_array(self.env, name)?;
                        let place = self.element(name, index, depth)?;
                        let old = place.read(self.env, &Depth::TOP)?;
                        let value = self.value(value, depth)?;
                        (place, self.combined(expr, op, old, value)?)
                    }
                    None => {
                        let value = self.value(value, depth)?;
                        (self.element(name, index, depth)?, value)
                    }
                };
                self.before_side_effect(expr)?;
                self.assigned = true;
                place.write(self.env, value)?;
                Ok(value)
            }
            _ => Err(Fail::AsText),
        }
    }

    fn combined(
        &self,
        expr: &ArithExpr,
        op: Option<ArithBinary>,
        old: i64,
        value: i64,
    ) -> Result<i64, Fail> {
        match op {
            None => Ok(value),
            Some(op) => binary(op, old, value).ok_or_else(|| self.at(expr)),
        }
    }

    /// An assignment that is not the last thing to happen, in a tree with `$x`: the text way, while
    /// nothing has happened yet.
    fn before_side_effect(&mut self, expr: &ArithExpr) -> Result<(), Fail> {
        let inner = !self.assigned && !std::ptr::eq(expr, self.root);
        if inner && self.tree_has_param() {
            return Err(Fail::AsText);
        }
        Ok(())
    }

    fn tree_has_param(&mut self) -> bool {
        let root = self.root;
        *self.has_param.get_or_insert_with(|| any(root, is_param))
    }

    /// `$x`, `$1`, `$#`: its text, which must be a number that cannot combine with its neighbours.
    fn param(&mut self, param: &Param) -> Result<i64, Fail> {
        let value = match &param.name {
            _ if !matches!(param.op, ParamOp::Plain) || param.subscript.is_some() => None,
            _ if param.indirect => None,
            ParamName::Variable(name) => self.env.get_int(name),
            ParamName::Positional(n) => (*n as usize)
                .checked_sub(1)
                .and_then(|at| self.env.positional().get(at).and_then(|t| plain_integer(t))),
            ParamName::Special(b'#') => i64::try_from(self.env.positional().len()).ok(),
            ParamName::Special(b'@' | b'*') => None,
            ParamName::Special(c) => self.env.special(*c).and_then(|t| plain_integer(&t)),
        };
        value.filter(|v| *v >= 0).ok_or(Fail::AsText)
    }

    fn element(
        &mut self,
        name: &'t [u8],
        index: &'t ArithIndex,
        depth: u32,
    ) -> Result<Place<'t>, Fail> {
        let (base, _) = self.env.resolve(name)?;
        if subscript::is_assoc(self.env, &base) {
            if subscript::needs_expansion(&index.raw) {
                if !index.raw.iter().any(|b| matches!(b, b'$' | b'`')) {
                    // `m['k']`: quotes alone.
                    let parsed = subscript::parsed(&base, &index.raw)?;
                    let key = subscript::subscript_key(self.env, &base, &parsed)?;
                    return Ok(Place::Element(base, key, Cow::Borrowed(&index.raw)));
                }
                return if self.assigned { Err(too_deep()) } else { Err(Fail::AsText) };
            }
            let key = OwnedKey::Name(index.raw.to_vec());
            return Ok(Place::Element(base, key, Cow::Borrowed(&index.raw)));
        }
        if let Some(place) = variable::whole(self.env, name, &base, &index.raw) {
            if !self.assigned && self.tree_has_param() {
                // The complaint must not come twice.
                return Err(Fail::AsText);
            }
            return Ok(place);
        }
        let value = match &index.expr {
            // An assignment in a subscript, with a `$x` that bash would have expanded before it.
            Some(expr) if !self.assigned && any(expr, is_assignment) && self.tree_has_param() => {
                return Err(Fail::AsText);
            }
            Some(expr) => {
                let mut inner =
                    Walk { env: self.env, root: expr, has_param: None, assigned: self.assigned };
                match inner.value(expr, depth) {
                    Err(Fail::At(operator)) => {
                        let error = text::explain(self.env, &index.raw, operator);
                        return Err(error.into());
                    }
                    Err(Fail::Error(error)) => return Err((*error).into()),
                    other => {
                        self.assigned = inner.assigned;
                        other?
                    }
                }
            }
            None => text::eval(self.env, &index.raw, Origin::Raw, 0)?,
        };
        if value < 0 && !self.assigned && self.tree_has_param() {
            // There may be no such element, and the complaint must not come twice.
            return Err(Fail::AsText);
        }
        Ok(Place::Element(base, OwnedKey::Index(value), Cow::Borrowed(&index.raw)))
    }

    /// The number of a failed operator, counted through the source.
    fn at(&self, failed: &ArithExpr) -> Fail {
        let mut count = 0;
        match find(self.root, failed, &mut count) {
            true => Fail::At(count),
            false => Fail::AsText,
        }
    }
}

fn too_deep() -> Fail {
    Fail::Error(Box::new(Cause::TooRecursive.into()))
}

/// Visits the tree in source order without subscripts, counting operators that can fail,
/// until it meets `failed`; an explicit stack, since trees may be long chains.
fn find(root: &ArithExpr, failed: &ArithExpr, count: &mut usize) -> bool {
    enum Step<'t> {
        Enter(&'t ArithExpr),
        /// Between the operands.
        Operator(&'t ArithExpr, ArithBinary),
    }
    let mut stack = vec![Step::Enter(root)];
    while let Some(step) = stack.pop() {
        match step {
            Step::Operator(expr, op) => {
                if std::ptr::eq(expr, failed) {
                    return true;
                }
                if matches!(op, ArithBinary::Div | ArithBinary::Rem | ArithBinary::Pow) {
                    *count += 1;
                }
            }
            Step::Enter(expr) => match expr {
                ArithExpr::Binary(op, left, right) => {
                    stack.push(Step::Enter(right));
                    stack.push(Step::Operator(expr, *op));
                    stack.push(Step::Enter(left));
                }
                ArithExpr::Assign(Some(op), _, value) => {
                    stack.push(Step::Enter(value));
                    stack.push(Step::Operator(expr, *op));
                }
                ArithExpr::Assign(None, _, value) => stack.push(Step::Enter(value)),
                ArithExpr::Unary(_, operand) => stack.push(Step::Enter(operand)),
                ArithExpr::LogicalAnd(left, right)
                | ArithExpr::LogicalOr(left, right)
                | ArithExpr::Comma(left, right) => {
                    stack.push(Step::Enter(right));
                    stack.push(Step::Enter(left));
                }
                ArithExpr::Ternary(condition, yes, no) => {
                    stack.push(Step::Enter(no));
                    stack.push(Step::Enter(yes));
                    stack.push(Step::Enter(condition));
                }
                ArithExpr::Number(_)
                | ArithExpr::Var(_)
                | ArithExpr::Element(..)
                | ArithExpr::Param(_)
                | ArithExpr::Step { .. } => {}
            },
        }
    }
    false
}

fn is_param(expr: &ArithExpr) -> bool {
    matches!(expr, ArithExpr::Param(_))
}

fn is_assignment(expr: &ArithExpr) -> bool {
    matches!(expr, ArithExpr::Assign(..) | ArithExpr::Step { .. })
}

/// Whether any node of the tree, subscripts included, passes the test.
fn any(root: &ArithExpr, test: impl Fn(&ArithExpr) -> bool) -> bool {
    let mut found = false;
    visit(root, &mut |expr| found |= test(expr));
    found
}

/// Shows every node of the tree, subscripts included.
fn visit<'t>(root: &'t ArithExpr, see: &mut impl FnMut(&'t ArithExpr)) {
    let mut stack = vec![root];
    while let Some(expr) = stack.pop() {
        see(expr);
        match expr {
            ArithExpr::Number(_) | ArithExpr::Var(_) | ArithExpr::Param(_) => {}
            ArithExpr::Element(_, index) => stack.extend(index.expr.as_ref()),
            ArithExpr::Unary(_, operand) | ArithExpr::Step { target: operand, .. } => {
                stack.push(operand)
            }
            ArithExpr::Binary(_, left, right)
            | ArithExpr::LogicalAnd(left, right)
            | ArithExpr::LogicalOr(left, right)
            | ArithExpr::Comma(left, right)
            | ArithExpr::Assign(_, left, right) => stack.extend([&**left, &**right]),
            ArithExpr::Ternary(condition, yes, no) => stack.extend([&**condition, &**yes, &**no]),
        }
    }
}

/// A binary operation; `None` where it is an error (division by 0, negative exponent).
pub(super) fn binary(op: ArithBinary, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        ArithBinary::Add => a.wrapping_add(b),
        ArithBinary::Sub => a.wrapping_sub(b),
        ArithBinary::Mul => a.wrapping_mul(b),
        ArithBinary::Div if b == 0 => return None,
        ArithBinary::Div => a.wrapping_div(b),
        ArithBinary::Rem if b == 0 => return None,
        ArithBinary::Rem => a.wrapping_rem(b),
        ArithBinary::Pow => power(a, u64::try_from(b).ok()?),
        ArithBinary::ShiftLeft => a.wrapping_shl(b as u32),
        ArithBinary::ShiftRight => a.wrapping_shr(b as u32),
        ArithBinary::Less => i64::from(a < b),
        ArithBinary::LessEq => i64::from(a <= b),
        ArithBinary::Greater => i64::from(a > b),
        ArithBinary::GreaterEq => i64::from(a >= b),
        ArithBinary::Equal => i64::from(a == b),
        ArithBinary::NotEqual => i64::from(a != b),
        ArithBinary::BitAnd => a & b,
        ArithBinary::BitXor => a ^ b,
        ArithBinary::BitOr => a | b,
    })
}

fn power(mut base: i64, mut exponent: u64) -> i64 {
    let mut value = 1i64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            value = value.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    value
}
