//! The evaluator of expressions.
//!
//! A tree comes from the source, with `$x` as operands, or from a text: the source after its
//! expansions, or the value of a variable.
//!
//! bash expands `$x` in an expression before it evaluates any of it. A tree of the source is
//! evaluated in place, which makes no difference unless an assignment inside the expression
//! comes first; then, and where a `$x` is no plain number, the whole expression is expanded to a
//! text and parsed again.

use std::borrow::Cow;

use sh_syntax::ast::{ArithBinary, ArithExpr, ArithIndex, ArithUnary, Param, ParamName, ParamOp};

use super::number::plain_integer;
use super::variable::{self, Depth, Place, too_deep};
use crate::env::Env;
use crate::error::{Cause, ExpandError};
use crate::subscript::{self, OwnedKey};

/// Where an expression comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The source; expansions are operands.
    Source,
    /// The source after its expansions: subscripts are taken as they are.
    Expanded,
    /// A value or an operand of `let`: subscripts are expanded here.
    Raw,
}

/// Why an expression could not be evaluated.
#[derive(Debug)]
pub(super) enum Fail {
    Error(Box<ExpandError>),
    /// Nothing was assigned yet: evaluate the expanded text instead.
    AsText,
    /// An operator fails, for that reason; messages quote the text from that place on.
    At(&'static str, u32),
}

impl From<ExpandError> for Fail {
    fn from(error: ExpandError) -> Fail {
        Fail::Error(Box::new(error))
    }
}

/// Deeper trees are refused: this much always fits on the stack.
const MAX_DEPTH: u32 = 400;

/// Evaluates a tree of the source.
pub(super) fn eval(env: &mut dyn Env, expr: &ArithExpr) -> Result<i64, Fail> {
    let mut walk = Walk::new(env, expr, Origin::Source, b"", 0);
    match walk.value(expr, 0) {
        // A `$x` behind the error would have been expanded before it.
        Err(Fail::Error(_)) if !walk.assigned && walk.tree_has_param() => Err(Fail::AsText),
        result => result,
    }
}

/// Evaluates a text; `variables` counts those on the way here.
pub(super) fn eval_text(
    env: &mut dyn Env,
    text: &[u8],
    origin: Origin,
    variables: u32,
) -> Result<i64, ExpandError> {
    if env.stack_low() {
        return Err(too_deep(text, b""));
    }
    let parsed = sh_syntax::arith::parse(text).map_err(|e| Cause::Arithmetic {
        expression: e.expression.into_vec(),
        reason: e.message.to_string(),
        token: e.token.into_vec(),
    })?;
    let Some(expr) = parsed else { return Ok(0) };
    let value = Walk::new(env, &expr, origin, text, variables).value(&expr, 0);
    value.map_err(|fail| error(fail, text))
}

/// The error of an expression with that text.
pub(super) fn error(fail: Fail, text: &[u8]) -> ExpandError {
    match fail {
        Fail::Error(error) => *error,
        Fail::AsText => too_deep(text, b""),
        // Messages leave leading blanks out, but no newlines.
        Fail::At(reason, at) => Cause::Arithmetic {
            expression: text.iter().copied().skip_while(|b| matches!(b, b' ' | b'\t')).collect(),
            reason: reason.to_string(),
            token: text.get(at as usize..).unwrap_or_default().to_vec(),
        }
        .into(),
    }
}

struct Walk<'e, 't> {
    env: &'e mut dyn Env,
    root: &'t ArithExpr,
    origin: Origin,
    /// What was parsed; nothing if that is the source.
    text: &'t [u8],
    /// Variables on the way here.
    variables: u32,
    /// Whether the tree holds a `$x`; found out when it first matters.
    has_param: Option<bool>,
    assigned: bool,
}

impl<'e, 't> Walk<'e, 't> {
    fn new(
        env: &'e mut dyn Env,
        root: &'t ArithExpr,
        origin: Origin,
        text: &'t [u8],
        variables: u32,
    ) -> Walk<'e, 't> {
        let has_param = (origin != Origin::Source).then_some(false);
        Walk { env, root, origin, text, variables, has_param, assigned: false }
    }

    /// Where the variable is read.
    fn depth_of(&self, name: &'t [u8]) -> Depth<'t> {
        Depth { variables: self.variables, text: self.text, name }
    }

    fn value(&mut self, expr: &'t ArithExpr, depth: u32) -> Result<i64, Fail> {
        if depth > MAX_DEPTH {
            return Err(too_deep(self.text, b"").into());
        }
        let depth = depth + 1;
        match expr {
            ArithExpr::Number(value) => Ok(*value),
            ArithExpr::Var(name) => self.variable(name),
            ArithExpr::Element(name, index) => {
                variable::require_array(self.env, name)?;
                let place = self.element(name, index, depth)?;
                let from = self.depth_of(name);
                Ok(place.read(self.env, &from)?)
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
            ArithExpr::Binary(op, left, right, at) => {
                let left = self.value(left, depth)?;
                let right = self.value(right, depth)?;
                self.binary((*op, *at), left, right)
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
                let from = self.depth_of(name);
                let old = variable::read(self.env, name, &from)?;
                let new = old.wrapping_add(delta);
                self.assigned = true;
                variable::write(self.env, name, new)?;
                Ok((old, new))
            }
            ArithExpr::Element(name, index) => {
                variable::require_array(self.env, name)?;
                let place = self.element(name, index, depth)?;
                let from = self.depth_of(name);
                let old = place.read(self.env, &from)?;
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
        let from = self.depth_of(name);
        Ok(variable::read(self.env, name, &from)?)
    }

    fn assign(
        &mut self,
        expr: &'t ArithExpr,
        op: Option<(ArithBinary, u32)>,
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
                let value = self.combined(op, old, value)?;
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
                        let from = self.depth_of(name);
                        let old = place.read(self.env, &from)?;
                        let value = self.value(value, depth)?;
                        (place, self.combined(op, old, value)?)
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
        &mut self,
        op: Option<(ArithBinary, u32)>,
        old: i64,
        value: i64,
    ) -> Result<i64, Fail> {
        match op {
            None => Ok(value),
            Some(op) => self.binary(op, old, value),
        }
    }

    /// A binary operation, whose messages quote from `at` on.
    fn binary(&mut self, (op, at): (ArithBinary, u32), a: i64, b: i64) -> Result<i64, Fail> {
        match binary(op, a, b) {
            Some(value) => Ok(value),
            // Messages show the text as it is expanded.
            None if self.tree_has_param() => Err(Fail::AsText),
            None if op == ArithBinary::Pow => Err(Fail::At("exponent less than 0", at)),
            None => Err(Fail::At("division by 0", at)),
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
        if let Some(place) = variable::whole(self.env, name, &base, &index.raw) {
            if !self.assigned && self.tree_has_param() {
                // The complaint must not come twice.
                return Err(Fail::AsText);
            }
            return Ok(place);
        }
        let assoc = subscript::is_assoc(self.env, &base);
        let key = match &index.expr {
            Some(expr) if !assoc => OwnedKey::Index(self.index(expr, name, &index.raw, depth)?),
            _ => self.key(&base, name, &index.raw, assoc)?,
        };
        Ok(Place::Element(base, key, Cow::Borrowed(&index.raw)))
    }

    /// An index that is an expression as it stands.
    fn index(
        &mut self,
        expr: &'t ArithExpr,
        name: &'t [u8],
        raw: &'t [u8],
        depth: u32,
    ) -> Result<i64, Fail> {
        if !self.assigned && any(expr, is_assignment) && self.tree_has_param() {
            // An assignment in a subscript, with a `$x` that bash would have expanded before it.
            return Err(Fail::AsText);
        }
        let variables = self.depth_of(name).deeper(self.env)?;
        let mut inner = Walk::new(self.env, expr, self.origin, raw, variables);
        inner.assigned = self.assigned;
        let value = match inner.value(expr, depth) {
            Err(fail @ Fail::At(..)) => return Err(error(fail, raw).into()),
            other => {
                self.assigned = inner.assigned;
                other?
            }
        };
        if value < 0 && !self.assigned && self.tree_has_param() {
            // There may be no such element, and the complaint must not come twice.
            return Err(Fail::AsText);
        }
        Ok(value)
    }

    /// A subscript that is a key, or that is expanded before it is an index.
    fn key(
        &mut self,
        base: &[u8],
        name: &'t [u8],
        raw: &[u8],
        assoc: bool,
    ) -> Result<OwnedKey, Fail> {
        let expanded = self.origin == Origin::Expanded;
        let active = match expanded {
            true => has_active(raw),
            false => subscript::needs_expansion(raw),
        };
        if active {
            let parsed = subscript::parsed(base, raw)?;
            return Ok(subscript::subscript_key(self.env, base, &parsed)?);
        }
        let text = match expanded && raw.contains(&b'\\') {
            true => Cow::Owned(without_backslashes(raw, assoc)),
            false => Cow::Borrowed(raw),
        };
        if assoc {
            return Ok(OwnedKey::Name(text.into_owned()));
        }
        let variables = self.depth_of(name).deeper(self.env)?;
        Ok(OwnedKey::Index(eval_text(self.env, &text, self.origin, variables)?))
    }
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
            ArithExpr::Binary(_, left, right, _)
            | ArithExpr::LogicalAnd(left, right)
            | ArithExpr::LogicalOr(left, right)
            | ArithExpr::Comma(left, right)
            | ArithExpr::Assign(_, left, right) => stack.extend([&**left, &**right]),
            ArithExpr::Ternary(condition, yes, no) => stack.extend([&**condition, &**yes, &**no]),
        }
    }
}

/// Whether a subscript holds something to expand that no expansion within it gave: it came with
/// its bracket, `i='a[$n]'; echo $(($i))`.
fn has_active(text: &[u8]) -> bool {
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'$' | b'`' | b'"' | b'\'' => return true,
            _ => {}
        }
    }
    false
}

/// A subscript without the backslashes it got when it was expanded: all of them in a key; in an
/// index those of brackets and single quotes stay, as an expansion makes no subscript of its own.
fn without_backslashes(text: &[u8], key: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let special = |b: &u8| key || matches!(b, b'\\' | b'"' | b'$' | b'`');
        match byte {
            b'\\' => out.push(bytes.next_if(special).unwrap_or(byte)),
            _ => out.push(byte),
        }
    }
    out
}

/// A binary operation; `None` where it is an error (division by 0, negative exponent).
fn binary(op: ArithBinary, a: i64, b: i64) -> Option<i64> {
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
