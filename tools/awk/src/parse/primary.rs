//! Operands: constants, variables, fields, calls, `getline`, parentheses; and what binds to
//! them: `++`, `--`, assignment.

use super::{AwkParser, Result};
use crate::ast::{AwkExpr, GetlineSource};
use crate::builtin::AwkBuiltin;
use crate::token::{AwkArith, AwkTok, Keyword as K};

impl AwkParser<'_> {
    /// An operand with `++` or `--` behind it, or an assignment to it.
    pub(super) fn postfix(&mut self) -> Result<AwkExpr> {
        let operand = self.primary()?;
        if !is_lvalue(&operand) {
            return Ok(operand);
        }
        match self.tok {
            AwkTok::Incr | AwkTok::Decr => {
                let delta = if self.tok == AwkTok::Incr { 1.0 } else { -1.0 };
                self.advance()?;
                Ok(AwkExpr::Step { target: Box::new(operand), delta, prefix: false })
            }
            AwkTok::Assign => {
                self.advance()?;
                self.skip_newlines()?;
                let value = self.expr()?;
                Ok(AwkExpr::Assign(Box::new(operand), Box::new(value)))
            }
            AwkTok::OpAssign(op) => {
                self.advance()?;
                self.skip_newlines()?;
                let value = self.expr()?;
                Ok(AwkExpr::Update(Box::new(operand), op, Box::new(value)))
            }
            _ => Ok(operand),
        }
    }

    fn primary(&mut self) -> Result<AwkExpr> {
        let tok = std::mem::replace(&mut self.tok, AwkTok::Eof);
        match tok {
            AwkTok::Num(n) => self.then(AwkExpr::Num(n)),
            AwkTok::Str(s) => self.then(AwkExpr::Str(s)),
            AwkTok::TypedRegex(r) => self.then(AwkExpr::TypedRegex(r)),
            AwkTok::Slash | AwkTok::OpAssign(AwkArith::Div) => {
                let body = self.lexer.regex(&tok)?;
                self.then(AwkExpr::Regex(body))
            }
            AwkTok::Dollar => {
                self.advance()?;
                let index = self.nested(|p| p.field_index())?;
                Ok(AwkExpr::Field(Box::new(index)))
            }
            AwkTok::Incr | AwkTok::Decr => {
                let delta = if tok == AwkTok::Incr { 1.0 } else { -1.0 };
                self.advance()?;
                let target = self.nested(|p| p.primary())?;
                if !is_lvalue(&target) {
                    return Err(self.unexpected());
                }
                Ok(AwkExpr::Step { target: Box::new(target), delta, prefix: true })
            }
            AwkTok::Not | AwkTok::Minus | AwkTok::Plus => {
                self.tok = tok;
                self.unary()
            }
            AwkTok::LParen => self.parens(),
            AwkTok::Name(name) => {
                let v = self.variable(&name)?;
                self.advance()?;
                let subs = self.subscripts()?;
                Ok(if subs.is_empty() { AwkExpr::Var(v) } else { AwkExpr::Index(v, subs) })
            }
            AwkTok::FuncName(name) => self.call(&name),
            AwkTok::Indirect(name) => {
                let v = self.variable(&name)?;
                self.advance()?;
                let args = self.arguments()?;
                Ok(AwkExpr::Indirect(v, args))
            }
            AwkTok::Builtin(b) => self.builtin(b),
            AwkTok::Key(K::Getline) => {
                self.advance()?;
                let target = self.getline_target()?;
                let input = if self.tok == AwkTok::Lt {
                    self.advance()?;
                    GetlineSource::File(Box::new(self.nested(|p| p.primary())?))
                } else {
                    GetlineSource::Main
                };
                Ok(AwkExpr::Getline(input, target))
            }
            other => {
                self.tok = other;
                Err(self.unexpected())
            }
        }
    }

    fn then(&mut self, e: AwkExpr) -> Result<AwkExpr> {
        self.advance()?;
        Ok(e)
    }

    /// What follows `$`: an operand without `++` behind it, which would belong to the field.
    fn field_index(&mut self) -> Result<AwkExpr> {
        match self.tok {
            // `$-i++` takes the field of `-(i++)`.
            AwkTok::Minus | AwkTok::Plus | AwkTok::Not => self.unary(),
            // `$$i++` steps the inner field, `$i++` the (only) outer one.
            AwkTok::Dollar => {
                let inner = self.primary()?;
                match self.tok {
                    AwkTok::Incr | AwkTok::Decr => {
                        let delta = if self.tok == AwkTok::Incr { 1.0 } else { -1.0 };
                        self.advance()?;
                        Ok(AwkExpr::Step { target: Box::new(inner), delta, prefix: false })
                    }
                    _ => Ok(inner),
                }
            }
            _ => self.primary(),
        }
    }

    fn parens(&mut self) -> Result<AwkExpr> {
        self.advance()?;
        let list = self.in_parens(|p| {
            let mut list = vec![p.expr()?];
            while p.eat(&AwkTok::Comma)? {
                p.skip_newlines()?;
                list.push(p.expr()?);
            }
            p.skip_newlines()?;
            Ok(list)
        })?;
        self.expect(&AwkTok::RParen)?;
        let mut list = list;
        match list.pop() {
            Some(only) if list.is_empty() => Ok(AwkExpr::Group(Box::new(only))),
            Some(last) => {
                list.push(last);
                Ok(AwkExpr::List(list))
            }
            None => Err(self.unexpected()),
        }
    }

    /// `(a, b, ...)` of a call.
    fn arguments(&mut self) -> Result<Vec<AwkExpr>> {
        self.expect(&AwkTok::LParen)?;
        let args = self.in_parens(|p| {
            p.skip_newlines()?;
            if p.tok == AwkTok::RParen {
                return Ok(Vec::new());
            }
            let args = p.expr_list()?;
            p.skip_newlines()?;
            Ok(args)
        })?;
        self.expect(&AwkTok::RParen)?;
        Ok(args)
    }

    fn call(&mut self, name: &[u8]) -> Result<AwkExpr> {
        if let Some(i) = self.locals.iter().position(|l| l == name) {
            // A parameter in front of parentheses is put next to them.
            self.advance()?;
            return Ok(AwkExpr::Var(crate::ast::AwkVar::Local(i as u32)));
        }
        let known = self.functions.contains_key(name);
        if !known && self.globals.contains_key(name) {
            // A variable seen before: `x (y)` without the blank.
            let v = self.variable(name)?;
            self.advance()?;
            return Ok(AwkExpr::Var(v));
        }
        let f = self.function(name);
        self.called.insert(f);
        self.advance()?;
        let args = self.arguments()?;
        Ok(AwkExpr::Call(f, args))
    }

    fn builtin(&mut self, b: AwkBuiltin) -> Result<AwkExpr> {
        let at = self.lexer.start;
        self.advance()?;
        let args = if b == AwkBuiltin::Length && self.tok != AwkTok::LParen {
            Vec::new()
        } else if self.tok == AwkTok::LParen {
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
        Ok(AwkExpr::Builtin(b, args))
    }

    /// The variable after `getline`, if there is one.
    pub(super) fn getline_target(&mut self) -> Result<Option<Box<AwkExpr>>> {
        if matches!(self.tok, AwkTok::Dollar | AwkTok::Name(_)) {
            let target = self.nested(|p| p.primary())?;
            return Ok(Some(Box::new(target)));
        }
        Ok(None)
    }
}

fn is_lvalue(e: &AwkExpr) -> bool {
    matches!(e, AwkExpr::Var(_) | AwkExpr::Index(..) | AwkExpr::Field(_))
}
