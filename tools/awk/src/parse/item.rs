//! Rules and functions.

use super::{AwkParser, Result, StatementContext};
use crate::ast::{AwkPattern, AwkRule, Stmt};
use crate::token::{AwkTok, Keyword};

impl AwkParser<'_> {
    pub(super) fn program_items(&mut self) -> Result<()> {
        loop {
            self.skip_terminators()?;
            match self.tok {
                AwkTok::Eof => return Ok(()),
                AwkTok::Key(Keyword::Function) => self.function_item()?,
                AwkTok::Key(
                    k @ (Keyword::Begin | Keyword::End | Keyword::BeginFile | Keyword::EndFile),
                ) => {
                    self.special_rule(k)?;
                }
                _ => self.parse_rule()?,
            }
        }
    }

    fn special_rule(&mut self, k: Keyword) -> Result<()> {
        self.advance_token()?;
        let name = match k {
            Keyword::Begin => "BEGIN",
            Keyword::End => "END",
            Keyword::BeginFile => "BEGINFILE",
            _ => "ENDFILE",
        };
        if self.tok != AwkTok::LBrace {
            return Err(self.lexer.error_here(format!("{name} blocks must have an action part")));
        }
        self.context = StatementContext { special_rule: Some(name), ..StatementContext::default() };
        let body = self.parse_braces()?;
        self.context = StatementContext::default();
        match k {
            Keyword::Begin => self.program.begin.push(body),
            Keyword::End => self.program.end.push(body),
            Keyword::BeginFile => self.program.begin_file.push(body),
            _ => self.program.end_file.push(body),
        }
        Ok(())
    }

    fn parse_rule(&mut self) -> Result<()> {
        let line = self.parse_line();
        let pattern = if self.tok == AwkTok::LBrace {
            AwkPattern::Always
        } else {
            let first = self.parse_expr()?;
            if self.take_token(&AwkTok::Comma)? {
                self.skip_newlines()?;
                AwkPattern::Range(first, self.parse_expr()?)
            } else {
                AwkPattern::When(first)
            }
        };
        let action = match self.tok {
            AwkTok::LBrace => Some(self.parse_braces()?),
            AwkTok::Newline | AwkTok::Semi | AwkTok::Eof => None,
            _ => return Err(self.unexpected_token()),
        };
        self.program.rules.push(AwkRule { line, pattern, action });
        Ok(())
    }

    /// Parses `{ ... }`.
    pub(super) fn parse_braces(&mut self) -> Result<Vec<Stmt>> {
        self.expect_token(&AwkTok::LBrace)?;
        let body = self.parse_nested(|p| p.stmts_until_brace())?;
        self.expect_token(&AwkTok::RBrace)?;
        Ok(body)
    }

    pub(super) fn stmts_until_brace(&mut self) -> Result<Vec<Stmt>> {
        let mut body = Vec::new();
        loop {
            self.skip_terminators()?;
            if matches!(self.tok, AwkTok::RBrace | AwkTok::Eof) {
                return Ok(body);
            }
            body.push(self.parse_stmt()?);
        }
    }

    fn function_item(&mut self) -> Result<()> {
        self.advance_token()?;
        let name = match std::mem::replace(&mut self.tok, AwkTok::Eof) {
            AwkTok::Name(n) | AwkTok::FuncName(n) => n,
            AwkTok::Builtin(b) => {
                let message =
                    format!("`{}' is a built-in function, it cannot be redefined", b.name());
                return Err(self.lexer.error_here(message));
            }
            _ => return Err(self.lexer.error_here("syntax error")),
        };
        let shown = String::from_utf8_lossy(&name).into_owned();
        let f = self.declare_function(&name);
        if self.program.functions[f as usize].defined {
            return Err(self
                .lexer
                .error_here(format!("function name `{shown}' previously defined")));
        }
        self.program.functions[f as usize].defined = true;
        self.program.functions[f as usize].line = self.parse_line();
        self.advance_token()?;
        self.expect_token(&AwkTok::LParen)?;
        let mut params: Vec<Vec<u8>> = Vec::new();
        self.skip_newlines()?;
        while self.tok != AwkTok::RParen {
            let (AwkTok::Name(p) | AwkTok::FuncName(p)) =
                std::mem::replace(&mut self.tok, AwkTok::Eof)
            else {
                return Err(self.lexer.error_here("syntax error"));
            };
            if params.contains(&p) {
                let p = String::from_utf8_lossy(&p);
                let n = params.len() + 1;
                let message =
                    format!("function `{shown}': parameter #{n}, `{p}', duplicates an earlier one");
                return Err(self.lexer.error_here(message));
            }
            if p == name {
                let message =
                    format!("function `{shown}': cannot use function name as parameter name");
                return Err(self.lexer.error_here(message));
            }
            params.push(p);
            self.advance_token()?;
            self.skip_newlines()?;
            if !self.take_token(&AwkTok::Comma)? {
                break;
            }
            self.skip_newlines()?;
        }
        self.expect_token(&AwkTok::RParen)?;
        self.skip_newlines()?;
        self.program.functions[f as usize].params = params.len();
        self.locals = params;
        self.context = StatementContext { in_function: true, ..StatementContext::default() };
        let body = self.parse_braces()?;
        self.context = StatementContext::default();
        self.locals.clear();
        self.program.functions[f as usize].body = body;
        Ok(())
    }
}
