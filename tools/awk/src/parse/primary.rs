//! Operands: constants, variables, fields, calls, `getline`, parentheses; and the operators that
//! bind to them: `++`, `--`, assignment.

use super::{AwkParser, Result};
use crate::ast::{AwkExpr, GetlineSource};
use crate::builtin::AwkBuiltin;
use crate::token::{AwkArith, AwkTok, Keyword as K};

impl AwkParser<'_> {
    /// Parses an operand with `++` or `--` after it, or an assignment to it.
    pub(super) fn parse_postfix(&mut self) -> Result<AwkExpr> {
        let operand = self.parse_primary()?;
        if !is_lvalue(&operand) {
            return Ok(operand);
        }
        match self.tok {
            AwkTok::Incr | AwkTok::Decr => {
                let delta = if self.tok == AwkTok::Incr { 1.0 } else { -1.0 };
                self.advance_token()?;
                Ok(AwkExpr::Step { target: Box::new(operand), delta, prefix: false })
            }
            AwkTok::Assign => {
                self.advance_token()?;
                self.skip_newlines()?;
                let value = self.parse_expr()?;
                Ok(AwkExpr::Assign(Box::new(operand), Box::new(value)))
            }
            AwkTok::OpAssign(op) => {
                self.advance_token()?;
                self.skip_newlines()?;
                let value = self.parse_expr()?;
                Ok(AwkExpr::Update(Box::new(operand), op, Box::new(value)))
            }
            _ => Ok(operand),
        }
    }

    fn parse_primary(&mut self) -> Result<AwkExpr> {
        let tok = std::mem::replace(&mut self.tok, AwkTok::Eof);
        match tok {
            AwkTok::Num(n) => self.parse_suffix(AwkExpr::Num(n)),
            AwkTok::Str(s) => self.parse_suffix(AwkExpr::Str(s)),
            AwkTok::TypedRegex(r) => self.parse_suffix(AwkExpr::TypedRegex(r)),
            AwkTok::Slash | AwkTok::OpAssign(AwkArith::Div) => {
                let body = self.lexer.lex_regex(&tok)?;
                self.parse_suffix(AwkExpr::Regex(body))
            }
            AwkTok::Dollar => {
                self.advance_token()?;
                let index = self.parse_nested(|p| p.field_index())?;
                Ok(AwkExpr::Field(Box::new(index)))
            }
            AwkTok::Incr | AwkTok::Decr => {
                let delta = if tok == AwkTok::Incr { 1.0 } else { -1.0 };
                self.advance_token()?;
                let target = self.parse_nested(|p| p.parse_primary())?;
                if !is_lvalue(&target) {
                    return Err(self.unexpected_token());
                }
                Ok(AwkExpr::Step { target: Box::new(target), delta, prefix: true })
            }
            AwkTok::Not | AwkTok::Minus | AwkTok::Plus => {
                self.tok = tok;
                self.parse_unary()
            }
            AwkTok::LParen => self.parse_parens(),
            AwkTok::Name(name) => {
                let v = self.resolve_variable(&name)?;
                self.advance_token()?;
                let subs = self.parse_subscripts()?;
                Ok(if subs.is_empty() { AwkExpr::Var(v) } else { AwkExpr::Index(v, subs) })
            }
            AwkTok::FuncName(name) => self.parse_call(&name),
            AwkTok::Indirect(name) => {
                let v = self.resolve_variable(&name)?;
                self.advance_token()?;
                let args = self.parse_arguments()?;
                Ok(AwkExpr::Indirect(v, args))
            }
            AwkTok::Builtin(b) => self.parse_builtin(b),
            AwkTok::Key(K::Getline) => {
                self.advance_token()?;
                let target = self.getline_target()?;
                let input = if self.tok == AwkTok::Lt {
                    self.advance_token()?;
                    GetlineSource::File(Box::new(self.parse_nested(|p| p.parse_primary())?))
                } else {
                    GetlineSource::Main
                };
                Ok(AwkExpr::Getline(input, target))
            }
            other => {
                self.tok = other;
                Err(self.unexpected_token())
            }
        }
    }

    fn parse_suffix(&mut self, e: AwkExpr) -> Result<AwkExpr> {
        self.advance_token()?;
        Ok(e)
    }

    /// Parses the operand after `$`, but not a `++` after that, because the `++` belongs to the
    /// field.
    fn field_index(&mut self) -> Result<AwkExpr> {
        match self.tok {
            // `$-i++` takes the field of `-(i++)`.
            AwkTok::Minus | AwkTok::Plus | AwkTok::Not => self.parse_unary(),
            // `$$i++` increments the inner field, `$i++` its only field.
            AwkTok::Dollar => {
                let inner = self.parse_primary()?;
                match self.tok {
                    AwkTok::Incr | AwkTok::Decr => {
                        let delta = if self.tok == AwkTok::Incr { 1.0 } else { -1.0 };
                        self.advance_token()?;
                        Ok(AwkExpr::Step { target: Box::new(inner), delta, prefix: false })
                    }
                    _ => Ok(inner),
                }
            }
            _ => self.parse_primary(),
        }
    }

    fn parse_parens(&mut self) -> Result<AwkExpr> {
        self.advance_token()?;
        let list = self.in_parens(|p| {
            let mut list = vec![p.parse_expr()?];
            while p.take_token(&AwkTok::Comma)? {
                p.skip_newlines()?;
                list.push(p.parse_expr()?);
            }
            p.skip_newlines()?;
            Ok(list)
        })?;
        self.expect_token(&AwkTok::RParen)?;
        let mut list = list;
        match list.pop() {
            Some(only) if list.is_empty() => Ok(AwkExpr::Group(Box::new(only))),
            Some(last) => {
                list.push(last);
                Ok(AwkExpr::List(list))
            }
            None => Err(self.unexpected_token()),
        }
    }

    /// Parses `(a, b, ...)` of a call.
    fn parse_arguments(&mut self) -> Result<Vec<AwkExpr>> {
        self.expect_token(&AwkTok::LParen)?;
        let args = self.in_parens(|p| {
            p.skip_newlines()?;
            if p.tok == AwkTok::RParen {
                return Ok(Vec::new());
            }
            let args = p.expr_list()?;
            p.skip_newlines()?;
            Ok(args)
        })?;
        self.expect_token(&AwkTok::RParen)?;
        Ok(args)
    }

    fn parse_call(&mut self, name: &[u8]) -> Result<AwkExpr> {
        if let Some(i) = self.locals.iter().position(|l| l == name) {
            // A parameter before parentheses is concatenated to them.
            self.advance_token()?;
            return Ok(AwkExpr::Var(crate::ast::AwkVar::Local(i as u32)));
        }
        let known = self.functions.contains_key(name);
        if !known && self.globals.contains_key(name) {
            // The name is known as a variable, so this is `x (y)` without the blank.
            let v = self.resolve_variable(name)?;
            self.advance_token()?;
            return Ok(AwkExpr::Var(v));
        }
        let f = self.declare_function(name);
        self.called.insert(f);
        self.advance_token()?;
        let args = self.parse_arguments()?;
        Ok(AwkExpr::Call(f, args))
    }

    fn parse_builtin(&mut self, b: AwkBuiltin) -> Result<AwkExpr> {
        let at = self.lexer.start;
        self.advance_token()?;
        let args = if b == AwkBuiltin::Length && self.tok != AwkTok::LParen {
            Vec::new()
        } else if self.tok == AwkTok::LParen {
            self.parse_arguments()?
        } else {
            return Err(self.unexpected_token());
        };
        let (least, most) = b.arity();
        if args.len() < least || args.len() > most {
            let message =
                format!("{} is invalid as number of arguments for {}", args.len(), b.name());
            return Err(self.lexer.error_at(at, message));
        }
        Ok(AwkExpr::Builtin(b, args))
    }

    /// Returns the variable after `getline`, if there is one.
    pub(super) fn getline_target(&mut self) -> Result<Option<Box<AwkExpr>>> {
        if matches!(self.tok, AwkTok::Dollar | AwkTok::Name(_)) {
            let target = self.parse_nested(|p| p.parse_primary())?;
            return Ok(Some(Box::new(target)));
        }
        Ok(None)
    }
}

fn is_lvalue(e: &AwkExpr) -> bool {
    matches!(e, AwkExpr::Var(_) | AwkExpr::Index(..) | AwkExpr::Field(_))
}
