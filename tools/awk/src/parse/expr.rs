//! Expressions, one function per precedence, lowest first.

use super::{AwkParser, MAX_CHAIN, Result};
use crate::ast::{AwkComparison, AwkExpr, GetlineSource};
use crate::token::{AwkArith, AwkTok, Keyword as K};

impl AwkParser<'_> {
    /// Parses expressions that are separated by commas, after which newlines are allowed.
    pub(super) fn expr_list(&mut self) -> Result<Vec<AwkExpr>> {
        let mut list = vec![self.parse_expr()?];
        while self.take_token(&AwkTok::Comma)? {
            self.skip_newlines()?;
            list.push(self.parse_expr()?);
        }
        Ok(list)
    }

    /// Parses any expression: conditions and assignments (the latter are found in `primary`).
    pub(super) fn parse_expr(&mut self) -> Result<AwkExpr> {
        self.enter_level()?;
        let result = self.parse_conditional();
        self.leave_level();
        result
    }

    fn parse_conditional(&mut self) -> Result<AwkExpr> {
        let mut arms = Vec::new();
        let mut last = self.parse_or()?;
        while self.take_token(&AwkTok::Question)? {
            self.skip_newlines()?;
            let yes = self.parse_expr()?;
            self.skip_newlines()?;
            self.expect_token(&AwkTok::Colon)?;
            self.skip_newlines()?;
            arms.push((last, yes));
            last = self.parse_or()?;
        }
        Ok(if arms.is_empty() { last } else { AwkExpr::Cond(arms, Box::new(last)) })
    }

    fn parse_or(&mut self) -> Result<AwkExpr> {
        let first = self.parse_and()?;
        if self.tok != AwkTok::Or {
            return Ok(first);
        }
        let mut list = vec![first];
        while self.take_token(&AwkTok::Or)? {
            self.skip_newlines()?;
            list.push(self.parse_and()?);
        }
        Ok(AwkExpr::Or(list))
    }

    fn parse_and(&mut self) -> Result<AwkExpr> {
        let first = self.parse_membership()?;
        if self.tok != AwkTok::And {
            return Ok(first);
        }
        let mut list = vec![first];
        while self.take_token(&AwkTok::And)? {
            self.skip_newlines()?;
            list.push(self.parse_membership()?);
        }
        Ok(AwkExpr::And(list))
    }

    /// Parses `x in a`, `(i, j) in a`.
    fn parse_membership(&mut self) -> Result<AwkExpr> {
        let mut left = self.parse_matching()?;
        let mut chain = 0;
        while self.is_key(K::In) {
            self.count_chain(&mut chain)?;
            self.advance_token()?;
            let AwkTok::Name(name) = std::mem::replace(&mut self.tok, AwkTok::Eof) else {
                return Err(self.unexpected_token());
            };
            let array = self.resolve_variable(&name)?;
            self.advance_token()?;
            let subs = self.parse_subscripts()?;
            let keys = match left {
                AwkExpr::List(list) => list,
                other => vec![other],
            };
            left = AwkExpr::In(keys, array, subs);
        }
        Ok(left)
    }

    fn parse_matching(&mut self) -> Result<AwkExpr> {
        let mut left = self.parse_comparison()?;
        let mut chain = 0;
        while matches!(self.tok, AwkTok::Match | AwkTok::NoMatch) {
            self.count_chain(&mut chain)?;
            let negate = self.tok == AwkTok::NoMatch;
            self.advance_token()?;
            let right = self.parse_comparison()?;
            left = AwkExpr::Match { negate, text: Box::new(left), pattern: Box::new(right) };
        }
        Ok(left)
    }

    fn parse_comparison(&mut self) -> Result<AwkExpr> {
        let mut left = self.parse_concat()?;
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
            self.count_chain(&mut chain)?;
            self.advance_token()?;
            let right = self.parse_concat()?;
            left = AwkExpr::Compare(op, Box::new(left), Box::new(right));
        }
    }

    fn count_chain(&mut self, chain: &mut usize) -> Result<()> {
        *chain += 1;
        if *chain > MAX_CHAIN {
            return Err(self.lexer.error_here("nested too deeply"));
        }
        Ok(())
    }

    /// Parses juxtaposition, and `command | getline`, which binds as tightly.
    pub(super) fn parse_concat(&mut self) -> Result<AwkExpr> {
        let mut parts = vec![self.parse_additive()?];
        let mut chain = 0;
        loop {
            if self.starts_operand() {
                if matches!(parts.last(), Some(AwkExpr::List(_))) {
                    return Err(self.unexpected_token());
                }
                parts.push(self.parse_additive()?);
                continue;
            }
            let coprocess = self.tok == AwkTok::Coproc;
            if (coprocess || self.tok == AwkTok::Pipe)
                && *self.peek_token()? == AwkTok::Key(K::Getline)
            {
                self.count_chain(&mut chain)?;
                self.advance_token()?;
                self.advance_token()?;
                let target = self.getline_target()?;
                let command = Box::new(join_parts(parts));
                let input = if coprocess {
                    GetlineSource::Coprocess(command)
                } else {
                    GetlineSource::Command(command)
                };
                // `cmd | getline x + 1` adds 1 to the result.
                let first = self.multiplicative_rest(AwkExpr::Getline(input, target))?;
                parts = vec![self.additive_rest(first)?];
                continue;
            }
            return Ok(join_parts(parts));
        }
    }

    /// Returns whether the token begins an operand that is concatenated to the previous one. (`-`
    /// and `+` do not, because they were parsed as operators.)
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

    fn parse_additive(&mut self) -> Result<AwkExpr> {
        let first = self.parse_multiplicative()?;
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
            self.advance_token()?;
            rest.push((op, self.parse_multiplicative()?));
        }
        Ok(if rest.is_empty() { first } else { AwkExpr::Chain(Box::new(first), rest) })
    }

    fn parse_multiplicative(&mut self) -> Result<AwkExpr> {
        let first = self.parse_unary()?;
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
            self.advance_token()?;
            let operand = self.parse_unary()?;
            if is_zero(&operand)
                && matches!(op, AwkArith::Div | AwkArith::Mod)
                && rest.is_empty()
                && matches!(first, AwkExpr::Num(_))
            {
                let what = if op == AwkArith::Div { "" } else { " in `%'" };
                return Err(self.lexer.error_here(format!("division by zero attempted{what}")));
            }
            rest.push((op, operand));
        }
        Ok(if rest.is_empty() { first } else { AwkExpr::Chain(Box::new(first), rest) })
    }

    pub(super) fn parse_unary(&mut self) -> Result<AwkExpr> {
        let wrap = match self.tok {
            AwkTok::Not => AwkExpr::Not,
            AwkTok::Minus => AwkExpr::Neg,
            AwkTok::Plus => AwkExpr::Plus,
            _ => return self.parse_power(),
        };
        self.advance_token()?;
        let operand = self.parse_nested(|p| p.parse_unary())?;
        Ok(wrap(Box::new(operand)))
    }

    /// Parses `x ^ y`, which is right-associative and binds tighter than a unary minus on its left.
    fn parse_power(&mut self) -> Result<AwkExpr> {
        let base = self.parse_postfix()?;
        if self.tok != AwkTok::Caret {
            return Ok(base);
        }
        self.advance_token()?;
        let exponent = self.parse_nested(|p| p.parse_unary())?;
        Ok(AwkExpr::Chain(Box::new(base), vec![(AwkArith::Pow, exponent)]))
    }
}

fn is_zero(e: &AwkExpr) -> bool {
    matches!(e, AwkExpr::Num(n) if *n == 0.0)
}

fn join_parts(mut parts: Vec<AwkExpr>) -> AwkExpr {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            AwkExpr::Concat(parts)
        }
        None => AwkExpr::Concat(parts),
    }
}
