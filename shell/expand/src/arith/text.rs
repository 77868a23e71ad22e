//! Arithmetic straight from text: one pass that parses and evaluates, as bash does, so that
//! side effects happen up to an error and messages quote the rest of the text.

mod token;

use std::borrow::Cow;

use sh_syntax::ast::ArithBinary;

use super::tree::binary;
use super::variable::{self, Depth, Place, too_deep};
use crate::env::Env;
use crate::error::{Cause, ExpandError};
use crate::subscript::{self, OwnedKey};
use token::{Name, Scanner, Token};

pub use token::closing_bracket;

type Result<T> = std::result::Result<T, ExpandError>;

/// Where a text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Expansions in it were done: subscripts are taken as they are.
    Expanded,
    /// A value or an operand of `let`: subscripts are expanded here.
    Raw,
}

/// How deep parentheses, signs, assignments and conditionals may nest in all.
const MAX_NESTING: u32 = 170;

/// Evaluates a text; `depth` counts the variables on the way here.
pub(super) fn eval(env: &mut dyn Env, source: &[u8], origin: Origin, depth: u32) -> Result<i64> {
    let mut evaluator = Evaluator::new(env, source, origin, depth);
    evaluator.whole()
}

/// The error of the `n`th operator that can fail, which did: the text is parsed again without
/// evaluating anything, up to the place that the message must quote.
pub(super) fn explain(env: &mut dyn Env, source: &[u8], operator: usize) -> ExpandError {
    let mut evaluator = Evaluator::new(env, source, Origin::Expanded, 0);
    evaluator.skip = 1;
    evaluator.explain = Some(operator);
    match evaluator.whole() {
        Err(error) => error,
        Ok(_) => Cause::Arithmetic {
            expression: source.to_vec(),
            reason: "division by 0".to_string(),
            token: Vec::new(),
        }
        .into(),
    }
}

/// What an assignment may go to.
enum Target<'t> {
    /// Not evaluated yet.
    Name(Name<'t>),
    /// An element that was read: its subscript is evaluated once.
    Place(Place<'t>),
}

/// A binary operator of the text.
struct Operator {
    op: ArithBinary,
    /// Where its right operand begins, for messages.
    operand: usize,
    /// Its number among those that can fail.
    number: usize,
}

struct Evaluator<'e, 't> {
    env: &'e mut dyn Env,
    scanner: Scanner<'t>,
    token: Token<'t>,
    origin: Origin,
    /// Variables on the way here.
    depth: u32,
    /// Nested constructs within this text.
    nesting: u32,
    /// Not zero: parse without evaluating.
    skip: u32,
    explain: Option<usize>,
    operators: usize,
}

impl<'e, 't> Evaluator<'e, 't> {
    fn new(
        env: &'e mut dyn Env,
        source: &'t [u8],
        origin: Origin,
        depth: u32,
    ) -> Evaluator<'e, 't> {
        Evaluator {
            env,
            scanner: Scanner::new(source),
            token: Token::End,
            origin,
            depth,
            nesting: 0,
            skip: 0,
            explain: None,
            operators: 0,
        }
    }

    fn whole(&mut self) -> Result<i64> {
        if self.env.stack_low() {
            return Err(too_deep(self.scanner.source(), self.scanner.source()));
        }
        if self.scanner.is_blank() {
            return Ok(0);
        }
        self.advance()?;
        let value = self.comma()?;
        match self.token {
            Token::End => Ok(value),
            _ => Err(self.error("syntax error in expression")),
        }
    }

    fn advance(&mut self) -> Result<()> {
        self.token = self.scanner.next()?;
        Ok(())
    }

    fn error(&self, message: &str) -> ExpandError {
        self.scanner.error(message, self.scanner.start())
    }

    /// Guards every recursion.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting >= MAX_NESTING || self.env.stack_low() {
            return Err(self.error("expression recursion level exceeded"));
        }
        self.nesting += 1;
        let result = f(self);
        self.nesting -= 1;
        result
    }

    fn comma(&mut self) -> Result<i64> {
        let mut value = self.assignment()?;
        while self.token == Token::Comma {
            self.advance()?;
            value = self.assignment()?;
        }
        Ok(value)
    }

    /// Assignment is right-associative; its target was met as the last operand.
    fn assignment(&mut self) -> Result<i64> {
        let (value, target) = self.conditional()?;
        let Token::Assign(op) = self.token else { return Ok(value) };
        let Some(target) = target else {
            return Err(self.error("attempted assignment to non-variable"));
        };
        let operator = op.map(|op| self.count_operator(op));
        self.advance()?;
        let right = self.nested(Self::assignment)?;
        // bash quotes what follows the value here, not the value.
        let operand = self.scanner.start();
        let value = match (op, operator) {
            (Some(op), Some(number)) => {
                self.compute(&Operator { op, operand, number }, value, right)?
            }
            _ => right,
        };
        if self.skip == 0 {
            self.write(target, value)?;
        }
        Ok(value)
    }

    /// The value; and the variable, if the expression was nothing else.
    fn conditional(&mut self) -> Result<(i64, Option<Target<'t>>)> {
        let (condition, target) = self.binary(0)?;
        if self.token != Token::Question {
            return Ok((condition, target));
        }
        self.advance()?;
        if matches!(self.token, Token::End | Token::Colon) {
            return Err(self.error("expression expected"));
        }
        self.skip += u32::from(condition == 0);
        let yes = self.nested(Self::comma)?;
        self.skip -= u32::from(condition == 0);
        if self.token != Token::Colon {
            return Err(self.error("`:' expected for conditional expression"));
        }
        self.advance()?;
        if self.token == Token::End {
            return Err(self.error("expression expected"));
        }
        self.skip += u32::from(condition != 0);
        let (no, _) = self.nested(Self::conditional)?;
        self.skip -= u32::from(condition != 0);
        Ok((if condition != 0 { yes } else { no }, None))
    }

    /// Binary operators that bind at least as tightly as `level`.
    fn binary(&mut self, level: u8) -> Result<(i64, Option<Target<'t>>)> {
        let (mut left, mut target) = self.unary()?;
        loop {
            match self.token {
                Token::Or if level == 0 => {
                    self.advance()?;
                    left = self.logical(left != 0, left, 1)?;
                }
                Token::And if level <= 1 => {
                    self.advance()?;
                    left = self.logical(left == 0, left, 2)?;
                }
                Token::Binary(op) if precedence(op) >= level => {
                    let number = self.count_operator(op);
                    self.advance()?;
                    let operand = self.scanner.start();
                    // `**` is right-associative, the others are not.
                    let tighter = precedence(op) + u8::from(op != ArithBinary::Pow);
                    let (right, _) = self.nested(|e| e.binary(tighter))?;
                    left = self.compute(&Operator { op, operand, number }, left, right)?;
                }
                _ => return Ok((left, target)),
            }
            target = None;
        }
    }

    /// The right side of `&&` and `||`, evaluated unless the left side `decides`.
    fn logical(&mut self, decides: bool, left: i64, level: u8) -> Result<i64> {
        self.skip += u32::from(decides);
        let (right, _) = self.nested(|e| e.binary(level))?;
        self.skip -= u32::from(decides);
        Ok(if decides { i64::from(left != 0) } else { i64::from(right != 0) })
    }

    fn unary(&mut self) -> Result<(i64, Option<Target<'t>>)> {
        let operator = self.token;
        match operator {
            Token::Not | Token::Complement | Token::Binary(ArithBinary::Add | ArithBinary::Sub) => {
                self.advance()?;
                let (value, _) = self.nested(Self::unary)?;
                let value = match operator {
                    Token::Not => i64::from(value == 0),
                    Token::Complement => !value,
                    Token::Binary(ArithBinary::Sub) => value.wrapping_neg(),
                    _ => value,
                };
                Ok((value, None))
            }
            Token::Increment(delta) => {
                self.advance()?;
                let Token::Name(name) = self.token else {
                    return Err(
                        self.error("identifier expected after pre-increment or pre-decrement")
                    );
                };
                let (value, target) = self.read(name)?;
                let value = value.wrapping_add(delta);
                if self.skip == 0 {
                    self.write(target, value)?;
                }
                self.advance()?;
                if let Token::PostIncrement(delta) = self.token {
                    let sign = if delta > 0 { "++" } else { "--" };
                    return Err(self.error(&format!("{sign}: assignment requires lvalue")));
                }
                Ok((value, None))
            }
            _ => self.primary(),
        }
    }

    fn primary(&mut self) -> Result<(i64, Option<Target<'t>>)> {
        match self.token {
            Token::Number(value) => {
                self.advance()?;
                Ok((value, None))
            }
            Token::Open => {
                self.advance()?;
                let value = self.nested(Self::comma)?;
                if self.token != Token::Close {
                    return Err(self.error("missing `)'"));
                }
                self.advance()?;
                Ok((value, None))
            }
            Token::Name(name) => self.name(name),
            _ => Err(self.error("syntax error: operand expected")),
        }
    }

    /// A variable; a plain assignment does not read it.
    fn name(&mut self, name: Name<'t>) -> Result<(i64, Option<Target<'t>>)> {
        if self.scanner.assignment_follows() {
            self.advance()?;
            return Ok((0, Some(Target::Name(name))));
        }
        let (value, target) = self.read(name)?;
        self.advance()?;
        if let Token::PostIncrement(delta) = self.token {
            if self.skip == 0 {
                self.write(target, value.wrapping_add(delta))?;
            }
            self.advance()?;
            return Ok((value, None));
        }
        Ok((value, Some(target)))
    }

    fn depth_here(&self) -> Depth<'t> {
        let text = self.scanner.source();
        let token = text.get(self.scanner.start()..).unwrap_or_default();
        Depth { variables: self.depth, text, token }
    }

    fn read(&mut self, name: Name<'t>) -> Result<(i64, Target<'t>)> {
        if self.skip > 0 {
            return Ok((0, Target::Name(name)));
        }
        match name.subscript {
            None => {
                let depth = self.depth_here();
                Ok((variable::read(self.env, name.text, &depth)?, Target::Name(name)))
            }
            Some(text) => {
                variable::require_array(self.env, name.text)?;
                let place = self.element(name.text, text)?;
                let depth = self.depth_here();
                Ok((place.read(self.env, &depth)?, Target::Place(place)))
            }
        }
    }

    fn write(&mut self, target: Target<'t>, value: i64) -> Result<()> {
        match target {
            Target::Place(place) => place.write(self.env, value),
            Target::Name(Name { text, subscript: None }) => variable::write(self.env, text, value),
            Target::Name(Name { text, subscript: Some(sub) }) => {
                self.element(text, sub)?.write(self.env, value)
            }
        }
    }

    fn element(&mut self, name: &'t [u8], text: &'t [u8]) -> Result<Place<'t>> {
        let (base, _) = self.env.resolve(name)?;
        if let Some(place) = variable::whole(self.env, name, &base, text) {
            return Ok(place);
        }
        let written = text;
        let raw = match self.origin {
            Origin::Raw => subscript::needs_expansion(text),
            Origin::Expanded => has_active(text),
        };
        let unquoted;
        let text = match self.origin == Origin::Expanded && !raw && text.contains(&b'\\') {
            true => {
                unquoted = without_backslashes(text, subscript::is_assoc(self.env, &base));
                unquoted.as_slice()
            }
            false => text,
        };
        let key = if raw {
            let parsed = subscript::parsed(&base, text)?;
            subscript::subscript_key(self.env, &base, &parsed)?
        } else if subscript::is_assoc(self.env, &base) {
            OwnedKey::Name(text.to_vec())
        } else {
            let depth = self.depth_here().deeper(self.env)?;
            let index = eval(self.env, text, self.origin, depth);
            OwnedKey::Index(index?)
        };
        Ok(Place::Element(base, key, Cow::Borrowed(written)))
    }

    /// Numbers the operators that can fail, in source order.
    fn count_operator(&mut self, op: ArithBinary) -> usize {
        let number = self.operators;
        if matches!(op, ArithBinary::Div | ArithBinary::Rem | ArithBinary::Pow) {
            self.operators += 1;
            return number;
        }
        usize::MAX
    }

    fn compute(&self, operator: &Operator, left: i64, right: i64) -> Result<i64> {
        let &Operator { op, operand, number } = operator;
        let fails = match self.explain {
            Some(wanted) => wanted == number,
            None if self.skip > 0 => return Ok(binary(op, left, right).unwrap_or(0)),
            None => false,
        };
        match binary(op, left, right) {
            Some(value) if !fails => Ok(value),
            None if self.skip > 0 && !fails => Ok(0),
            _ if op == ArithBinary::Pow => Err(self.error("exponent less than 0")),
            _ => Err(self.scanner.error("division by 0", operand)),
        }
    }
}

/// How tightly an operator binds; `||` is 0 and `&&` 1.
fn precedence(op: ArithBinary) -> u8 {
    match op {
        ArithBinary::BitOr => 2,
        ArithBinary::BitXor => 3,
        ArithBinary::BitAnd => 4,
        ArithBinary::Equal | ArithBinary::NotEqual => 5,
        ArithBinary::Less | ArithBinary::LessEq | ArithBinary::Greater | ArithBinary::GreaterEq => {
            6
        }
        ArithBinary::ShiftLeft | ArithBinary::ShiftRight => 7,
        ArithBinary::Add | ArithBinary::Sub => 8,
        ArithBinary::Mul | ArithBinary::Div | ArithBinary::Rem => 9,
        ArithBinary::Pow => 10,
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
