//! The evaluator of expressions.
//!
//! A tree comes from the source, with expansions as operands, or from a text: the source after its
//! expansions, or the value of a variable.

use std::borrow::Cow;

use sh_syntax::arith::MARKER;
use sh_syntax::ast::{ArithBinary, ArithExpr, ArithIndex, ArithPlace, ArithUnary};

use super::operand::{ExpansionResult, spell_operands};
use super::parsed::parse_cached;
use super::variable::{self, ArithVariable, Depth, too_deep};
use crate::env::ExpandEnv;
use crate::error::{ExpandCause, ExpandError};
use crate::subscript::{self, OwnedKey};

/// The reason why an expression could not be evaluated.
#[derive(Debug)]
pub(super) enum ArithFailure {
    Error(Box<ExpandError>),
    /// An operator failed with this message, which quotes the text from this place on.
    At(&'static str, u32),
}

impl From<ExpandError> for ArithFailure {
    fn from(error: ExpandError) -> ArithFailure {
        ArithFailure::Error(Box::new(error))
    }
}

/// The maximum depth of a tree, which always fits on the stack. Deeper trees are refused.
const MAX_DEPTH: u32 = 400;

/// Evaluates a tree of the source.
pub(super) fn eval_tree(
    env: &mut dyn ExpandEnv,
    expr: &ArithExpr,
    operands: &[ExpansionResult],
) -> Result<i64, ArithFailure> {
    ArithWalk { env, operands, text: b"", variables: 0 }.eval_expr(expr, 0)
}

/// Evaluates a text; `variables` is the number of variables that led to it.
pub(super) fn eval_text(
    env: &mut dyn ExpandEnv,
    text: &[u8],
    variables: u32,
) -> Result<i64, ExpandError> {
    if env.stack_low() {
        return Err(too_deep(text, b""));
    }
    let Some(expr) = parse_cached(text)? else { return Ok(0) };
    let value = ArithWalk { env, operands: &[], text, variables }.eval_expr(&expr, 0);
    value.map_err(|fail| arith_error(fail, text, &[]))
}

/// Returns the error of an expression whose text is `marked`.
pub(super) fn arith_error(
    fail: ArithFailure,
    marked: &[u8],
    operands: &[ExpansionResult],
) -> ExpandError {
    match fail {
        ArithFailure::Error(error) => *error,
        ArithFailure::At(reason, at) => {
            let (text, at) = spell_operands(marked, operands, at as usize);
            ExpandCause::Arithmetic {
                token: text.get(at..).unwrap_or_default().to_vec(),
                // Messages omit leading blanks, but not newlines.
                expression: text.into_iter().skip_while(|b| matches!(b, b' ' | b'\t')).collect(),
                reason: reason.to_string(),
            }
            .into()
        }
    }
}

struct ArithWalk<'e, 't> {
    env: &'e mut dyn ExpandEnv,
    /// The results of the expansions.
    operands: &'t [ExpansionResult],
    /// The text that was parsed; empty if that was the source.
    text: &'t [u8],
    /// The number of variables that led here.
    variables: u32,
}

impl<'t> ArithWalk<'_, 't> {
    /// Returns the depth at which a variable is read.
    fn depth_of(&self, name: &'t [u8]) -> Depth<'t> {
        Depth { variables: self.variables, text: self.text, name }
    }

    fn eval_expr(&mut self, expr: &'t ArithExpr, depth: u32) -> Result<i64, ArithFailure> {
        if depth > MAX_DEPTH {
            return Err(too_deep(self.text, b"").into());
        }
        let depth = depth + 1;
        match expr {
            ArithExpr::Number(value) => Ok(*value),
            ArithExpr::Variable(ArithPlace { name, index: None }) => self.named_value(name),
            ArithExpr::Variable(ArithPlace { name, index: Some(index) }) => {
                let place = self.array_element(name, index, depth)?;
                self.element_value(name, &place)
            }
            ArithExpr::Operand(at) => match self.operands.get(*at) {
                Some(ExpansionResult::Number(value)) => Ok(*value),
                // The marker is a byte of the text itself.
                _ => Err(ArithFailure::At("syntax error: operand expected", 0)),
            },
            ArithExpr::Unary(op, operand) => {
                let value = self.eval_expr(operand, depth)?;
                Ok(match op {
                    ArithUnary::Plus => value,
                    ArithUnary::Minus => value.wrapping_neg(),
                    ArithUnary::Not => i64::from(value == 0),
                    ArithUnary::Complement => !value,
                })
            }
            ArithExpr::Binary(op, left, right, at) => {
                let left = self.eval_expr(left, depth)?;
                let right = self.eval_expr(right, depth)?;
                checked_binary((*op, *at), left, right)
            }
            ArithExpr::LogicalAnd(left, right) => Ok(i64::from(
                self.eval_expr(left, depth)? != 0 && self.eval_expr(right, depth)? != 0,
            )),
            ArithExpr::LogicalOr(left, right) => Ok(i64::from(
                self.eval_expr(left, depth)? != 0 || self.eval_expr(right, depth)? != 0,
            )),
            ArithExpr::Ternary(condition, yes, no) => {
                let branch = if self.eval_expr(condition, depth)? != 0 { yes } else { no };
                self.eval_expr(branch, depth)
            }
            ArithExpr::Assign(op, target, value) => self.eval_assign(*op, target, value, depth),
            ArithExpr::Step { increment, prefix, target } => {
                let by = if *increment { 1 } else { -1 };
                let (old, new) =
                    self.update_variable(target, depth, |_, old| Ok(old.wrapping_add(by)))?;
                Ok(if *prefix { new } else { old })
            }
            ArithExpr::Comma(left, right) => {
                self.eval_expr(left, depth)?;
                self.eval_expr(right, depth)
            }
        }
    }

    fn eval_assign(
        &mut self,
        op: Option<(ArithBinary, u32)>,
        target: &'t ArithPlace,
        value: &'t ArithExpr,
        depth: u32,
    ) -> Result<i64, ArithFailure> {
        if let Some(op) = op {
            let change =
                |walk: &mut Self, old| checked_binary(op, old, walk.eval_expr(value, depth)?);
            return Ok(self.update_variable(target, depth, change)?.1);
        }
        // As in bash, the subscript is evaluated before the value only if the element is also read.
        let value = self.eval_expr(value, depth)?;
        match &target.index {
            None => variable::write(self.env, &target.name, value)?,
            Some(index) => {
                self.element_variable(&target.name, index, depth)?.write(self.env, value)?
            }
        }
        Ok(value)
    }

    /// Changes a variable and returns its value before and after.
    fn update_variable(
        &mut self,
        target: &'t ArithPlace,
        depth: u32,
        change: impl FnOnce(&mut Self, i64) -> Result<i64, ArithFailure>,
    ) -> Result<(i64, i64), ArithFailure> {
        let name = &target.name;
        let Some(index) = &target.index else {
            let old = self.named_value(name)?;
            let new = change(self, old)?;
            variable::write(self.env, name, new)?;
            return Ok((old, new));
        };
        let place = self.array_element(name, index, depth)?;
        let old = self.element_value(name, &place)?;
        let new = change(self, old)?;
        place.write(self.env, new)?;
        Ok((old, new))
    }

    #[inline]
    fn named_value(&mut self, name: &'t [u8]) -> Result<i64, ArithFailure> {
        let from = self.depth_of(name);
        Ok(variable::read(self.env, name, &from)?)
    }

    fn element_value(
        &mut self,
        name: &'t [u8],
        place: &ArithVariable<'t>,
    ) -> Result<i64, ArithFailure> {
        let from = self.depth_of(name);
        Ok(place.read(self.env, &from)?)
    }

    /// Returns an element to read.
    fn array_element(
        &mut self,
        name: &'t [u8],
        index: &'t ArithIndex,
        depth: u32,
    ) -> Result<ArithVariable<'t>, ArithFailure> {
        variable::require_array(self.env, name)?;
        self.element_variable(name, index, depth)
    }

    fn element_variable(
        &mut self,
        name: &'t [u8],
        index: &'t ArithIndex,
        depth: u32,
    ) -> Result<ArithVariable<'t>, ArithFailure> {
        let (base, _) = self.env.resolve(name)?;
        if let Some(place) = variable::whole_array(self.env, name, &base, &index.raw) {
            return Ok(place);
        }
        let assoc = subscript::is_assoc(self.env, &base);
        let key = match &index.expr {
            _ if assoc && index.raw.contains(&MARKER) => OwnedKey::Name(self.spell_index(index)),
            Some(expr) if !assoc => OwnedKey::Index(self.index(expr, name, index, depth)?),
            _ => self.subscript_key(&base, name, &index.raw, assoc)?,
        };
        let written = match &key {
            // Messages show the subscript with its expansions.
            OwnedKey::Index(..0) if index.raw.contains(&MARKER) => {
                Cow::Owned(self.spell_index(index))
            }
            _ => Cow::Borrowed(&index.raw[..]),
        };
        Ok(ArithVariable::Element(base, key, written))
    }

    /// Returns the operands from the first one in a subscript on.
    fn operands_in(&self, index: &ArithIndex) -> &'t [ExpansionResult] {
        self.operands.get(index.operands..).unwrap_or_default()
    }

    fn spell_index(&self, index: &ArithIndex) -> Vec<u8> {
        spell_operands(&index.raw, self.operands_in(index), 0).0
    }

    /// Evaluates an index whose expression is already parsed.
    fn index(
        &mut self,
        expr: &'t ArithExpr,
        name: &'t [u8],
        index: &'t ArithIndex,
        depth: u32,
    ) -> Result<i64, ArithFailure> {
        let variables = self.depth_of(name).next_depth(self.env)?;
        let mut inner =
            ArithWalk { env: self.env, operands: self.operands, text: &index.raw, variables };
        let value = inner.eval_expr(expr, depth);
        Ok(value.map_err(|fail| arith_error(fail, &index.raw, self.operands_in(index)))?)
    }

    /// Evaluates a subscript that is a key, or an index that has to be expanded or parsed first.
    fn subscript_key(
        &mut self,
        base: &[u8],
        name: &'t [u8],
        raw: &[u8],
        assoc: bool,
    ) -> Result<OwnedKey, ArithFailure> {
        if subscript::needs_expansion(raw) {
            let parsed = subscript::subscript_from_text(base, raw)?;
            return Ok(subscript::subscript_key(self.env, base, &parsed)?);
        }
        if assoc {
            return Ok(OwnedKey::Name(raw.to_vec()));
        }
        let variables = self.depth_of(name).next_depth(self.env)?;
        Ok(OwnedKey::Index(eval_text(self.env, raw, variables)?))
    }
}

/// Performs a binary operation, whose error messages quote the text from `at` on.
fn checked_binary((op, at): (ArithBinary, u32), a: i64, b: i64) -> Result<i64, ArithFailure> {
    match eval_binary(op, a, b) {
        Some(value) => Ok(value),
        None if op == ArithBinary::Pow => Err(ArithFailure::At("exponent less than 0", at)),
        None => Err(ArithFailure::At("division by 0", at)),
    }
}

/// Performs a binary operation; `None` if it is an error (division by 0, negative exponent).
fn eval_binary(op: ArithBinary, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        ArithBinary::Add => a.wrapping_add(b),
        ArithBinary::Sub => a.wrapping_sub(b),
        ArithBinary::Mul => a.wrapping_mul(b),
        ArithBinary::Div if b == 0 => return None,
        ArithBinary::Div => a.wrapping_div(b),
        ArithBinary::Rem if b == 0 => return None,
        ArithBinary::Rem => a.wrapping_rem(b),
        ArithBinary::Pow => integer_power(a, u64::try_from(b).ok()?),
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

fn integer_power(mut base: i64, mut exponent: u64) -> i64 {
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
