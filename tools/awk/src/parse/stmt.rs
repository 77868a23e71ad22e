//! Statements.

use super::{AwkParser, Result};
use crate::ast::{AwkCase, AwkExpr, Label, OutputRedirect, Stmt, StmtKind, Subscripts};
use crate::token::{AwkTok, Keyword as K};

impl AwkParser<'_> {
    /// Parses one statement with its terminator.
    pub(super) fn parse_stmt(&mut self) -> Result<Stmt> {
        self.enter_level()?;
        let line = self.parse_line();
        let kind = self.stmt_kind();
        self.leave_level();
        Ok(Stmt { line, kind: kind? })
    }

    fn stmt_kind(&mut self) -> Result<StmtKind> {
        let AwkTok::Key(k) = self.tok else {
            return match self.tok {
                AwkTok::LBrace => Ok(StmtKind::Block(self.parse_braces()?)),
                AwkTok::Semi => {
                    self.advance_token()?;
                    Ok(StmtKind::Block(Vec::new()))
                }
                _ => {
                    let s = self.parse_simple()?;
                    self.parse_terminator()?;
                    Ok(s)
                }
            };
        };
        match k {
            K::If => self.if_stmt(),
            K::While => {
                self.advance_token()?;
                let cond = self.parse_condition()?;
                if self.take_token(&AwkTok::Semi)? {
                    let empty = Stmt { line: self.parse_line(), kind: StmtKind::Block(Vec::new()) };
                    return Ok(StmtKind::While(cond, Box::new(empty)));
                }
                let body = self.loop_body()?;
                Ok(StmtKind::While(cond, Box::new(body)))
            }
            K::Do => {
                self.advance_token()?;
                let body = self.loop_body()?;
                self.skip_terminators()?;
                self.expect_token(&AwkTok::Key(K::While))?;
                let cond = self.parse_condition()?;
                self.parse_terminator()?;
                Ok(StmtKind::DoWhile(Box::new(body), cond))
            }
            K::For => self.for_stmt(),
            K::Switch => self.switch_stmt(),
            _ => {
                let s = self.parse_simple()?;
                self.parse_terminator()?;
                Ok(s)
            }
        }
    }

    /// Parses `(expr)` and the newlines after it.
    fn parse_condition(&mut self) -> Result<AwkExpr> {
        self.expect_token(&AwkTok::LParen)?;
        let cond = self.in_parens(|p| p.parse_expr())?;
        self.expect_token(&AwkTok::RParen)?;
        Ok(cond)
    }

    fn parse_body(&mut self) -> Result<Stmt> {
        self.skip_newlines()?;
        self.parse_stmt()
    }

    fn loop_body(&mut self) -> Result<Stmt> {
        self.context.loops += 1;
        let body = self.parse_body();
        self.context.loops -= 1;
        body
    }

    /// Ends a simple statement: `;`, newline, or before `}`.
    fn parse_terminator(&mut self) -> Result<()> {
        match self.tok {
            AwkTok::Semi | AwkTok::Newline => self.advance_token(),
            AwkTok::RBrace | AwkTok::Eof => Ok(()),
            _ => Err(self.unexpected_token()),
        }
    }

    fn if_stmt(&mut self) -> Result<StmtKind> {
        let mut arms = Vec::new();
        loop {
            self.advance_token()?;
            let cond = self.parse_condition()?;
            let body = self.parse_body()?;
            arms.push((cond, body));
            self.skip_to_else()?;
            if !self.is_key(K::Else) {
                return Ok(StmtKind::If(arms, None));
            }
            self.advance_token()?;
            self.skip_newlines()?;
            if !self.is_key(K::If) {
                let last = self.parse_stmt()?;
                return Ok(StmtKind::If(arms, Some(Box::new(last))));
            }
        }
    }

    /// Skips newlines and `;`, which may come before `else`; without an `else`, this has no effect.
    fn skip_to_else(&mut self) -> Result<()> {
        self.skip_terminators()
    }

    fn for_stmt(&mut self) -> Result<StmtKind> {
        self.advance_token()?;
        self.expect_token(&AwkTok::LParen)?;
        let (no_gt, line) = (std::mem::replace(&mut self.no_gt, false), self.parse_line());
        let init = if self.tok == AwkTok::Semi { None } else { Some(self.parse_simple()?) };
        if self.tok == AwkTok::RParen {
            if let Some(StmtKind::Expr(AwkExpr::In(keys, array, subs))) = init
                && let [AwkExpr::Var(v)] = keys.as_slice()
            {
                let v = *v;
                self.advance_token()?;
                self.no_gt = no_gt;
                let body = self.for_body()?;
                return Ok(StmtKind::ForIn(v, array, subs, Box::new(body)));
            }
            return Err(self.unexpected_token());
        }
        self.expect_token(&AwkTok::Semi)?;
        self.skip_newlines()?;
        let cond = if self.tok == AwkTok::Semi { None } else { Some(self.parse_expr()?) };
        self.expect_token(&AwkTok::Semi)?;
        self.skip_newlines()?;
        let step_line = self.parse_line();
        let step = if self.tok == AwkTok::RParen { None } else { Some(self.parse_simple()?) };
        self.expect_token(&AwkTok::RParen)?;
        self.no_gt = no_gt;
        let body = self.for_body()?;
        let boxed = |line, kind: Option<StmtKind>| kind.map(|kind| Box::new(Stmt { line, kind }));
        Ok(StmtKind::For(boxed(line, init), cond, boxed(step_line, step), Box::new(body)))
    }

    fn for_body(&mut self) -> Result<Stmt> {
        if self.take_token(&AwkTok::Semi)? {
            return Ok(Stmt { line: self.parse_line(), kind: StmtKind::Block(Vec::new()) });
        }
        self.loop_body()
    }

    fn switch_stmt(&mut self) -> Result<StmtKind> {
        self.advance_token()?;
        let subject = self.parse_condition()?;
        self.skip_newlines()?;
        self.expect_token(&AwkTok::LBrace)?;
        let mut cases: Vec<AwkCase> = Vec::new();
        self.context.switches += 1;
        loop {
            self.skip_terminators()?;
            let label = match self.tok {
                AwkTok::RBrace => break,
                AwkTok::Key(K::Case) => {
                    self.advance_token()?;
                    self.case_label()?
                }
                AwkTok::Key(K::Default) => {
                    self.advance_token()?;
                    if cases.iter().any(|c| matches!(c.label, Label::Default)) {
                        return Err(self
                            .lexer
                            .error_here("duplicate `default' detected in switch body"));
                    }
                    Label::Default
                }
                _ => return Err(self.unexpected_token()),
            };
            self.expect_token(&AwkTok::Colon)?;
            let mut body = Vec::new();
            loop {
                self.skip_terminators()?;
                if matches!(
                    self.tok,
                    AwkTok::RBrace | AwkTok::Eof | AwkTok::Key(K::Case | K::Default)
                ) {
                    break;
                }
                body.push(self.parse_stmt()?);
            }
            cases.push(AwkCase { label, body });
        }
        self.context.switches -= 1;
        self.expect_token(&AwkTok::RBrace)?;
        Ok(StmtKind::Switch(subject, cases))
    }

    fn case_label(&mut self) -> Result<Label> {
        let label = match std::mem::replace(&mut self.tok, AwkTok::Eof) {
            AwkTok::Num(n) => Label::Num(n),
            AwkTok::Str(s) => Label::Str(s),
            AwkTok::TypedRegex(r) => Label::Regex(r),
            t @ (AwkTok::Slash | AwkTok::OpAssign(crate::token::AwkArith::Div)) => {
                Label::Regex(self.lexer.lex_regex(&t)?)
            }
            t @ (AwkTok::Minus | AwkTok::Plus) => {
                self.advance_token()?;
                let AwkTok::Num(n) = self.tok else { return Err(self.unexpected_token()) };
                Label::Num(if t == AwkTok::Minus { -n } else { n })
            }
            _ => return Err(self.unexpected_token()),
        };
        self.advance_token()?;
        Ok(label)
    }

    /// Parses a statement that may be in the head of a `for`.
    fn parse_simple(&mut self) -> Result<StmtKind> {
        let AwkTok::Key(k) = self.tok else { return Ok(StmtKind::Expr(self.parse_expr()?)) };
        match k {
            K::Print | K::Printf => self.parse_print(k),
            K::Delete => self.parse_delete(),
            K::Break if self.context.loops + self.context.switches == 0 => {
                Err(self.lexer.error_here("`break' is not allowed outside a loop or switch"))
            }
            K::Continue if self.context.loops == 0 => {
                Err(self.lexer.error_here("`continue' is not allowed outside a loop"))
            }
            K::Next | K::NextFile => {
                let name = if k == K::Next { "next" } else { "nextfile" };
                let allowed = match self.context.special_rule {
                    None => true,
                    Some("BEGINFILE") => k == K::NextFile,
                    Some(_) => false,
                };
                if !allowed {
                    let rule = self.context.special_rule.unwrap_or_default();
                    return Err(self.lexer.error_here(format!("`{name}' used in {rule} action")));
                }
                self.advance_token()?;
                Ok(if k == K::Next { StmtKind::Next } else { StmtKind::NextFile })
            }
            K::Break => self.parse_keyword(StmtKind::Break),
            K::Continue => self.parse_keyword(StmtKind::Continue),
            K::Exit => {
                self.advance_token()?;
                Ok(StmtKind::Exit(self.optional_expr()?))
            }
            K::Return => {
                if !self.context.in_function {
                    return Err(self.lexer.error_here("`return' used outside function context"));
                }
                self.advance_token()?;
                Ok(StmtKind::Return(self.optional_expr()?))
            }
            K::Getline => Ok(StmtKind::Expr(self.parse_expr()?)),
            _ => Err(self.unexpected_token()),
        }
    }

    fn parse_keyword(&mut self, kind: StmtKind) -> Result<StmtKind> {
        self.advance_token()?;
        Ok(kind)
    }

    fn optional_expr(&mut self) -> Result<Option<AwkExpr>> {
        if matches!(self.tok, AwkTok::Semi | AwkTok::Newline | AwkTok::RBrace | AwkTok::Eof) {
            return Ok(None);
        }
        self.parse_expr().map(Some)
    }

    fn parse_print(&mut self, k: K) -> Result<StmtKind> {
        self.advance_token()?;
        let no_gt = std::mem::replace(&mut self.no_gt, true);
        let mut args = Vec::new();
        let ends = matches!(
            self.tok,
            AwkTok::Semi
                | AwkTok::Newline
                | AwkTok::RBrace
                | AwkTok::Eof
                | AwkTok::Gt
                | AwkTok::Append
                | AwkTok::Pipe
                | AwkTok::Coproc
        );
        if !ends {
            args = self.expr_list()?;
            if let [AwkExpr::List(_)] = args.as_slice()
                && let Some(AwkExpr::List(list)) = args.pop()
            {
                args = list;
            }
            if args.iter().any(|a| matches!(a, AwkExpr::List(_))) {
                return Err(self.unexpected_token());
            }
        }
        let redirect = match self.tok {
            AwkTok::Gt => Some(OutputRedirect::Truncate),
            AwkTok::Append => Some(OutputRedirect::Append),
            AwkTok::Pipe => Some(OutputRedirect::Pipe),
            AwkTok::Coproc => Some(OutputRedirect::Coprocess),
            _ => None,
        };
        let target = match redirect {
            Some(r) => {
                self.advance_token()?;
                Some((r, self.parse_concat()?))
            }
            None => None,
        };
        self.no_gt = no_gt;
        Ok(if k == K::Print {
            StmtKind::Print(args, target)
        } else {
            StmtKind::Printf(args, target)
        })
    }

    fn parse_delete(&mut self) -> Result<StmtKind> {
        self.advance_token()?;
        let parens = self.take_token(&AwkTok::LParen)?;
        let AwkTok::Name(name) = std::mem::replace(&mut self.tok, AwkTok::Eof) else {
            return Err(self.unexpected_token());
        };
        let v = self.resolve_variable(&name)?;
        self.advance_token()?;
        let subs = self.parse_subscripts()?;
        if parens {
            self.expect_token(&AwkTok::RParen)?;
        }
        Ok(if subs.is_empty() { StmtKind::DeleteAll(v) } else { StmtKind::Delete(v, subs) })
    }

    /// Parses `[i, j][k]...`, perhaps none.
    pub(super) fn parse_subscripts(&mut self) -> Result<Subscripts> {
        let mut subs = Vec::new();
        while self.take_token(&AwkTok::LBracket)? {
            let list = self.in_parens(|p| p.expr_list())?;
            if list.is_empty() {
                return Err(self.unexpected_token());
            }
            self.expect_token(&AwkTok::RBracket)?;
            subs.push(list);
        }
        Ok(subs)
    }

    /// Calls `f` to parse the inside of parentheses, where `>` is a comparison again.
    pub(super) fn in_parens<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let no_gt = std::mem::replace(&mut self.no_gt, false);
        let result = f(self);
        self.no_gt = no_gt;
        result
    }
}
