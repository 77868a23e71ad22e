//! Expressions, one function per precedence, lowest first.

use super::{MAX_CHAIN, Parser, Result};
use crate::ast::{Cmp, Expr, Input};
use crate::token::{Arith, Keyword as K, Tok};

impl Parser<'_> {
    /// Expressions with commas between, newlines allowed after these.
    pub(super) fn expr_list(&mut self) -> Result<Vec<Expr>> {
        let mut list = vec![self.expr()?];
        while self.eat(&Tok::Comma)? {
            self.skip_newlines()?;
            list.push(self.expr()?);
        }
        Ok(list)
    }

    /// Any expression: conditions and assignments (the latter are found in `primary`).
    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.enter()?;
        let result = self.conditional();
        self.leave();
        result
    }

    fn conditional(&mut self) -> Result<Expr> {
        let mut arms = Vec::new();
        let mut last = self.or()?;
        while self.eat(&Tok::Question)? {
            self.skip_newlines()?;
            let yes = self.expr()?;
            self.skip_newlines()?;
            self.expect(&Tok::Colon)?;
            self.skip_newlines()?;
            arms.push((last, yes));
            last = self.or()?;
        }
        Ok(if arms.is_empty() { last } else { Expr::Cond(arms, Box::new(last)) })
    }

    fn or(&mut self) -> Result<Expr> {
        let first = self.and()?;
        if self.tok != Tok::Or {
            return Ok(first);
        }
        let mut list = vec![first];
        while self.eat(&Tok::Or)? {
            self.skip_newlines()?;
            list.push(self.and()?);
        }
        Ok(Expr::Or(list))
    }

    fn and(&mut self) -> Result<Expr> {
        let first = self.membership()?;
        if self.tok != Tok::And {
            return Ok(first);
        }
        let mut list = vec![first];
        while self.eat(&Tok::And)? {
            self.skip_newlines()?;
            list.push(self.membership()?);
        }
        Ok(Expr::And(list))
    }

    /// `x in a`, `(i, j) in a`.
    fn membership(&mut self) -> Result<Expr> {
        let mut left = self.matching()?;
        let mut chain = 0;
        while self.is_key(K::In) {
            self.count(&mut chain)?;
            self.advance()?;
            let Tok::Name(name) = std::mem::replace(&mut self.tok, Tok::Eof) else {
                return Err(self.unexpected());
            };
            let array = self.variable(&name)?;
            self.advance()?;
            let subs = self.subscripts()?;
            let keys = match left {
                Expr::List(list) => list,
                other => vec![other],
            };
            left = Expr::In(keys, array, subs);
        }
        Ok(left)
    }

    fn matching(&mut self) -> Result<Expr> {
        let mut left = self.comparison()?;
        let mut chain = 0;
        while matches!(self.tok, Tok::Match | Tok::NoMatch) {
            self.count(&mut chain)?;
            let negate = self.tok == Tok::NoMatch;
            self.advance()?;
            let right = self.comparison()?;
            left = Expr::Match { negate, text: Box::new(left), pattern: Box::new(right) };
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Expr> {
        let mut left = self.concat()?;
        let mut chain = 0;
        loop {
            let op = match self.tok {
                Tok::Lt => Cmp::Lt,
                Tok::Le => Cmp::Le,
                Tok::Eq => Cmp::Eq,
                Tok::Ne => Cmp::Ne,
                Tok::Gt if !self.no_gt => Cmp::Gt,
                Tok::Ge => Cmp::Ge,
                _ => return Ok(left),
            };
            self.count(&mut chain)?;
            self.advance()?;
            let right = self.concat()?;
            left = Expr::Compare(op, Box::new(left), Box::new(right));
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
    pub(super) fn concat(&mut self) -> Result<Expr> {
        let mut parts = vec![self.additive()?];
        let mut chain = 0;
        loop {
            if self.starts_operand() {
                if matches!(parts.last(), Some(Expr::List(_))) {
                    return Err(self.unexpected());
                }
                parts.push(self.additive()?);
                continue;
            }
            let coprocess = self.tok == Tok::Coproc;
            if (coprocess || self.tok == Tok::Pipe) && *self.peek()? == Tok::Key(K::Getline) {
                self.count(&mut chain)?;
                self.advance()?;
                self.advance()?;
                let target = self.getline_target()?;
                let command = Box::new(join(parts));
                let input =
                    if coprocess { Input::Coprocess(command) } else { Input::Command(command) };
                // `cmd | getline x + 1` adds to the result.
                let first = self.multiplicative_rest(Expr::Getline(input, target))?;
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
            Tok::Num(_)
                | Tok::Str(_)
                | Tok::TypedRegex(_)
                | Tok::Name(_)
                | Tok::FuncName(_)
                | Tok::Indirect(_)
                | Tok::Builtin(_)
                | Tok::Dollar
                | Tok::Not
                | Tok::LParen
                | Tok::Minus
                | Tok::Plus
                | Tok::Incr
                | Tok::Decr
        )
    }

    fn additive(&mut self) -> Result<Expr> {
        let first = self.multiplicative()?;
        self.additive_rest(first)
    }

    fn additive_rest(&mut self, first: Expr) -> Result<Expr> {
        let mut rest = Vec::new();
        loop {
            let op = match self.tok {
                Tok::Plus => Arith::Add,
                Tok::Minus => Arith::Sub,
                _ => break,
            };
            self.advance()?;
            rest.push((op, self.multiplicative()?));
        }
        Ok(if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) })
    }

    fn multiplicative(&mut self) -> Result<Expr> {
        let first = self.unary()?;
        self.multiplicative_rest(first)
    }

    fn multiplicative_rest(&mut self, first: Expr) -> Result<Expr> {
        let mut rest = Vec::new();
        loop {
            let op = match self.tok {
                Tok::Star => Arith::Mul,
                Tok::Slash => Arith::Div,
                Tok::Percent => Arith::Mod,
                _ => break,
            };
            self.advance()?;
            let operand = self.unary()?;
            if is_zero(&operand)
                && matches!(op, Arith::Div | Arith::Mod)
                && rest.is_empty()
                && matches!(first, Expr::Num(_))
            {
                let what = if op == Arith::Div { "" } else { " in `%'" };
                return Err(self.lexer.error(format!("division by zero attempted{what}")));
            }
            rest.push((op, operand));
        }
        Ok(if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) })
    }

    pub(super) fn unary(&mut self) -> Result<Expr> {
        let wrap = match self.tok {
            Tok::Not => Expr::Not,
            Tok::Minus => Expr::Neg,
            Tok::Plus => Expr::Plus,
            _ => return self.power(),
        };
        self.advance()?;
        let operand = self.nested(|p| p.unary())?;
        Ok(wrap(Box::new(operand)))
    }

    /// `x ^ y`, right-associative, above unary minus on its left only.
    fn power(&mut self) -> Result<Expr> {
        let base = self.postfix()?;
        if self.tok != Tok::Caret {
            return Ok(base);
        }
        self.advance()?;
        let exponent = self.nested(|p| p.unary())?;
        Ok(Expr::Chain(Box::new(base), vec![(Arith::Pow, exponent)]))
    }
}

fn is_zero(e: &Expr) -> bool {
    matches!(e, Expr::Num(n) if *n == 0.0)
}

fn join(mut parts: Vec<Expr>) -> Expr {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            Expr::Concat(parts)
        }
        None => Expr::Concat(parts),
    }
}
