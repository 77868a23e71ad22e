//! Expressions, one function per precedence, lowest first.

use super::{AwkParser, MAX_CHAIN, Result};
use crate::ast::{AwkComparison, AwkExpr, GetlineSource};
use crate::token::{AwkArith, AwkTok, Keyword as K};

impl AwkParser<'_> {
    /// Expressions with commas between, newlines allowed after these.
    pub(super) fn expr_list(&mut self) -> Result<Vec<AwkExpr>> {
        let mut list = vec![self.expr()?];
        while self.eat(&AwkTok::Comma)? {
            self.skip_newlines()?;
            list.push(self.expr()?);
        }
        Ok(list)
    }

    /// Any expression: conditions and assignments (the latter are found in `primary`).
    pub(super) fn expr(&mut self) -> Result<AwkExpr> {
        self.enter()?;
        let result = self.conditional();
        self.leave();
        result
    }

    fn conditional(&mut self) -> Result<AwkExpr> {
        let mut arms = Vec::new();
        let mut last = self.or()?;
        while self.eat(&AwkTok::Question)? {
            self.skip_newlines()?;
            let yes = self.expr()?;
            self.skip_newlines()?;
            self.expect(&AwkTok::Colon)?;
            self.skip_newlines()?;
            arms.push((last, yes));
            last = self.or()?;
        }
        Ok(if arms.is_empty() { last } else { AwkExpr::Cond(arms, Box::new(last)) })
    }

    fn or(&mut self) -> Result<AwkExpr> {
        let first = self.and()?;
        if self.tok != AwkTok::Or {
            return Ok(first);
        }
        let mut list = vec![first];
        while self.eat(&AwkTok::Or)? {
            self.skip_newlines()?;
            list.push(self.and()?);
        }
        Ok(AwkExpr::Or(list))
    }

    fn and(&mut self) -> Result<AwkExpr> {
        let first = self.membership()?;
        if self.tok != AwkTok::And {
            return Ok(first);
        }
        let mut list = vec![first];
        while self.eat(&AwkTok::And)? {
            self.skip_newlines()?;
            list.push(self.membership()?);
        }
        Ok(AwkExpr::And(list))
    }

    /// `x in a`, `(i, j) in a`.
    fn membership(&mut self) -> Result<AwkExpr> {
        let mut left = self.matching()?;
        let mut chain = 0;
        while self.is_key(K::In) {
            self.count(&mut chain)?;
            self.advance()?;
            let AwkTok::Name(name) = std::mem::replace(&mut self.tok, AwkTok::Eof) else {
                return Err(self.unexpected());
            };
            let array = self.variable(&name)?;
            self.advance()?;
            let subs = self.subscripts()?;
            let keys = match left {
                AwkExpr::List(list) => list,
                other => vec![other],
            };
            left = AwkExpr::In(keys, array, subs);
        }
        Ok(left)
    }

    fn matching(&mut self) -> Result<AwkExpr> {
        let mut left = self.comparison()?;
        let mut chain = 0;
        while matches!(self.tok, AwkTok::Match | AwkTok::NoMatch) {
            self.count(&mut chain)?;
            let negate = self.tok == AwkTok::NoMatch;
            self.advance()?;
            let right = self.comparison()?;
            left = AwkExpr::Match { negate, text: Box::new(left), pattern: Box::new(right) };
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<AwkExpr> {
        let mut left = self.concat()?;
        let mut chain = 0;
        loop {
            let op = match self.tok {
                AwkTok::Lt => AwkComparison::Lt,
                AwkTok::Le => AwkComparison::Le,
                AwkTok::Eq => AwkComparison::Eq,
                AwkTok::Ne => AwkComparison::Ne,
                AwkTok::Gt if !self.no_gt => AwkComparison::Gt,
                AwkTok::Ge => AwkComparison::Ge,
                _ => return Ok(left),
            };
            self.count(&mut chain)?;
            self.advance()?;
            let right = self.concat()?;
            left = AwkExpr::Compare(op, Box::new(left), Box::new(right));
        }
    }

    fn count(&mut self, chain: &mut usize) -> Result<()> {
        *chain += 1;
        if *chain > MAX_CHAIN {
            return Err(self.lexer.error("nested too deeply"));
        }
        Ok(())
    }

    /// Juxtaposition, and `command | getline`, which binds as tightly.
    pub(super) fn concat(&mut self) -> Result<AwkExpr> {
        let mut parts = vec![self.additive()?];
        let mut chain = 0;
        loop {
            if self.starts_operand() {
                if matches!(parts.last(), Some(AwkExpr::List(_))) {
                    return Err(self.unexpected());
                }
                parts.push(self.additive()?);
                continue;
            }
            let coprocess = self.tok == AwkTok::Coproc;
            if (coprocess || self.tok == AwkTok::Pipe) && *self.peek()? == AwkTok::Key(K::Getline) {
                self.count(&mut chain)?;
                self.advance()?;
                self.advance()?;
                let target = self.getline_target()?;
                let command = Box::new(join(parts));
                let input = if coprocess {
                    GetlineSource::Coprocess(command)
                } else {
                    GetlineSource::Command(command)
                };
                // `cmd | getline x + 1` adds to the result.
                let first = self.multiplicative_rest(AwkExpr::Getline(input, target))?;
                parts = vec![self.additive_rest(first)?];
                continue;
            }
            return Ok(join(parts));
        }
    }

    /// Whether the token begins an operand that is put next to the one before. (`-` and `+`
    /// do not: they were taken as operators.)
    fn starts_operand(&self) -> bool {
        matches!(
            self.tok,
            AwkTok::Num(_)
                | AwkTok::Str(_)
                | AwkTok::TypedRegex(_)
                | AwkTok::Name(_)
                | AwkTok::FuncName(_)
                | AwkTok::Indirect(_)
                | AwkTok::Builtin(_)
                | AwkTok::Dollar
                | AwkTok::Not
                | AwkTok::LParen
                | AwkTok::Minus
                | AwkTok::Plus
                | AwkTok::Incr
                | AwkTok::Decr
        )
    }

    fn additive(&mut self) -> Result<AwkExpr> {
        let first = self.multiplicative()?;
        self.additive_rest(first)
    }

    fn additive_rest(&mut self, first: AwkExpr) -> Result<AwkExpr> {
        let mut rest = Vec::new();
        loop {
            let op = match self.tok {
                AwkTok::Plus => AwkArith::Add,
                AwkTok::Minus => AwkArith::Sub,
                _ => break,
            };
            self.advance()?;
            rest.push((op, self.multiplicative()?));
        }
        Ok(if rest.is_empty() { first } else { AwkExpr::Chain(Box::new(first), rest) })
    }

    fn multiplicative(&mut self) -> Result<AwkExpr> {
        let first = self.unary()?;
        self.multiplicative_rest(first)
    }

    fn multiplicative_rest(&mut self, first: AwkExpr) -> Result<AwkExpr> {
        let mut rest = Vec::new();
        loop {
            let op = match self.tok {
                AwkTok::Star => AwkArith::Mul,
                AwkTok::Slash => AwkArith::Div,
                AwkTok::Percent => AwkArith::Mod,
                _ => break,
            };
            self.advance()?;
            let operand = self.unary()?;
            if is_zero(&operand)
                && matches!(op, AwkArith::Div | AwkArith::Mod)
                && rest.is_empty()
                && matches!(first, AwkExpr::Num(_))
            {
                let what = if op == AwkArith::Div { "" } else { " in `%'" };
                return Err(self.lexer.error(format!("division by zero attempted{what}")));
            }
            rest.push((op, operand));
        }
        Ok(if rest.is_empty() { first } else { AwkExpr::Chain(Box::new(first), rest) })
    }

    pub(super) fn unary(&mut self) -> Result<AwkExpr> {
        let wrap = match self.tok {
            AwkTok::Not => AwkExpr::Not,
            AwkTok::Minus => AwkExpr::Neg,
            AwkTok::Plus => AwkExpr::Plus,
            _ => return self.power(),
        };
        self.advance()?;
        let operand = self.nested(|p| p.unary())?;
        Ok(wrap(Box::new(operand)))
    }

    /// `x ^ y`, right-associative, above unary minus on its left only.
    fn power(&mut self) -> Result<AwkExpr> {
        let base = self.postfix()?;
        if self.tok != AwkTok::Caret {
            return Ok(base);
        }
        self.advance()?;
        let exponent = self.nested(|p| p.unary())?;
        Ok(AwkExpr::Chain(Box::new(base), vec![(AwkArith::Pow, exponent)]))
    }
}

fn is_zero(e: &AwkExpr) -> bool {
    matches!(e, AwkExpr::Num(n) if *n == 0.0)
}

fn join(mut parts: Vec<AwkExpr>) -> AwkExpr {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            AwkExpr::Concat(parts)
        }
        None => AwkExpr::Concat(parts),
    }
}
