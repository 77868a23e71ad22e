//! Operands: constants, variables, fields, calls, `getline`, parentheses; and what binds to
//! them: `++`, `--`, assignment.

use super::{Parser, Result};
use crate::ast::{Expr, Input};
use crate::builtin::Builtin;
use crate::token::{Arith, Keyword as K, Tok};

impl Parser<'_> {
    /// An operand with `++` or `--` behind it, or an assignment to it.
    pub(super) fn postfix(&mut self) -> Result<Expr> {
        let operand = self.primary()?;
        if !is_lvalue(&operand) {
            return Ok(operand);
        }
        match self.tok {
            Tok::Incr | Tok::Decr => {
                let delta = if self.tok == Tok::Incr { 1.0 } else { -1.0 };
                self.advance()?;
                Ok(Expr::Step { target: Box::new(operand), delta, prefix: false })
            }
            Tok::Assign => {
                self.advance()?;
                self.skip_newlines()?;
                let value = self.expr()?;
                Ok(Expr::Assign(Box::new(operand), Box::new(value)))
            }
            Tok::OpAssign(op) => {
                self.advance()?;
                self.skip_newlines()?;
                let value = self.expr()?;
                Ok(Expr::Update(Box::new(operand), op, Box::new(value)))
            }
            _ => Ok(operand),
        }
    }

    fn primary(&mut self) -> Result<Expr> {
        let tok = std::mem::replace(&mut self.tok, Tok::Eof);
        match tok {
            Tok::Num(n) => self.then(Expr::Num(n)),
            Tok::Str(s) => self.then(Expr::Str(s)),
            Tok::TypedRegex(r) => self.then(Expr::TypedRegex(r)),
            Tok::Slash | Tok::OpAssign(Arith::Div) => {
                let body = self.lexer.regex(&tok)?;
                self.then(Expr::Regex(body))
            }
            Tok::Dollar => {
                self.advance()?;
                let index = self.nested(|p| p.field_index())?;
                Ok(Expr::Field(Box::new(index)))
            }
            Tok::Incr | Tok::Decr => {
                let delta = if tok == Tok::Incr { 1.0 } else { -1.0 };
                self.advance()?;
                let target = self.nested(|p| p.primary())?;
                if !is_lvalue(&target) {
                    return Err(self.unexpected());
                }
                Ok(Expr::Step { target: Box::new(target), delta, prefix: true })
            }
            Tok::Not | Tok::Minus | Tok::Plus => {
                self.tok = tok;
                self.unary()
            }
            Tok::LParen => self.parens(),
            Tok::Name(name) => {
                let v = self.variable(&name)?;
                self.advance()?;
                let subs = self.subscripts()?;
                Ok(if subs.is_empty() { Expr::Var(v) } else { Expr::Index(v, subs) })
            }
            Tok::FuncName(name) => self.call(&name),
            Tok::Indirect(name) => {
                let v = self.variable(&name)?;
                self.advance()?;
                let args = self.arguments()?;
                Ok(Expr::Indirect(v, args))
            }
            Tok::Builtin(b) => self.builtin(b),
            Tok::Key(K::Getline) => {
                self.advance()?;
                let target = self.getline_target()?;
                let input = if self.tok == Tok::Lt {
                    self.advance()?;
                    Input::File(Box::new(self.nested(|p| p.primary())?))
                } else {
                    Input::Main
                };
                Ok(Expr::Getline(input, target))
            }
            other => {
                self.tok = other;
                Err(self.unexpected())
            }
        }
    }

    fn then(&mut self, e: Expr) -> Result<Expr> {
        self.advance()?;
        Ok(e)
    }

    /// What follows `$`: an operand without `++` behind it, which would belong to the field.
    fn field_index(&mut self) -> Result<Expr> {
        match self.tok {
            // `$-i++` takes the field of `-(i++)`.
            Tok::Minus | Tok::Plus | Tok::Not => self.unary(),
            // `$$i++` steps the inner field, `$i++` the (only) outer one.
            Tok::Dollar => {
                let inner = self.primary()?;
                match self.tok {
                    Tok::Incr | Tok::Decr => {
                        let delta = if self.tok == Tok::Incr { 1.0 } else { -1.0 };
                        self.advance()?;
                        Ok(Expr::Step { target: Box::new(inner), delta, prefix: false })
                    }
                    _ => Ok(inner),
                }
            }
            _ => self.primary(),
        }
    }

    fn parens(&mut self) -> Result<Expr> {
        self.advance()?;
        let list = self.in_parens(|p| {
            let mut list = vec![p.expr()?];
            while p.eat(&Tok::Comma)? {
                p.skip_newlines()?;
                list.push(p.expr()?);
            }
            p.skip_newlines()?;
            Ok(list)
        })?;
        self.expect(&Tok::RParen)?;
        let mut list = list;
        match list.pop() {
            Some(only) if list.is_empty() => Ok(Expr::Group(Box::new(only))),
            Some(last) => {
                list.push(last);
                Ok(Expr::List(list))
            }
            None => Err(self.unexpected()),
        }
    }

    /// `(a, b, ...)` of a call.
    fn arguments(&mut self) -> Result<Vec<Expr>> {
        self.expect(&Tok::LParen)?;
        let args = self.in_parens(|p| {
            p.skip_newlines()?;
            if p.tok == Tok::RParen {
                return Ok(Vec::new());
            }
            let args = p.expr_list()?;
            p.skip_newlines()?;
            Ok(args)
        })?;
        self.expect(&Tok::RParen)?;
        Ok(args)
    }

    fn call(&mut self, name: &[u8]) -> Result<Expr> {
        if let Some(i) = self.locals.iter().position(|l| l == name) {
            // A parameter in front of parentheses is put next to them.
            self.advance()?;
            return Ok(Expr::Var(crate::ast::Var::Local(i as u32)));
        }
        let known = self.functions.contains_key(name);
        if !known && self.globals.contains_key(name) {
            // A variable seen before: `x (y)` without the blank.
            let v = self.variable(name)?;
            self.advance()?;
            return Ok(Expr::Var(v));
        }
        let f = self.function(name);
        self.called.insert(f);
        self.advance()?;
        let args = self.arguments()?;
        Ok(Expr::Call(f, args))
    }

    fn builtin(&mut self, b: Builtin) -> Result<Expr> {
        let at = self.lexer.start;
        self.advance()?;
        let args = if b == Builtin::Length && self.tok != Tok::LParen {
            Vec::new()
        } else if self.tok == Tok::LParen {
            self.arguments()?
        } else {
            return Err(self.unexpected());
        };
        let (least, most) = b.arity();
        if args.len() < least || args.len() > most {
            let message =
                format!("{} is invalid as number of arguments for {}", args.len(), b.name());
            return Err(self.lexer.error_at(at, message));
        }
        Ok(Expr::Builtin(b, args))
    }

    /// The variable after `getline`, if there is one.
    pub(super) fn getline_target(&mut self) -> Result<Option<Box<Expr>>> {
        if matches!(self.tok, Tok::Dollar | Tok::Name(_)) {
            let target = self.nested(|p| p.primary())?;
            return Ok(Some(Box::new(target)));
        }
        Ok(None)
    }
}

fn is_lvalue(e: &Expr) -> bool {
    matches!(e, Expr::Var(_) | Expr::Index(..) | Expr::Field(_))
}
