//! Statements.

use super::{Parser, Result};
use crate::ast::{Case, Expr, Label, Redirect, Stmt, StmtKind, Subscripts};
use crate::token::{Keyword as K, Tok};

impl Parser<'_> {
    /// One statement with its terminator.
    pub(super) fn stmt(&mut self) -> Result<Stmt> {
        self.enter()?;
        let line = self.line();
        let kind = self.stmt_kind();
        self.leave();
        Ok(Stmt { line, kind: kind? })
    }

    fn stmt_kind(&mut self) -> Result<StmtKind> {
        let Tok::Key(k) = self.tok else {
            return match self.tok {
                Tok::LBrace => Ok(StmtKind::Block(self.braces()?)),
                Tok::Semi => {
                    self.advance()?;
                    Ok(StmtKind::Block(Vec::new()))
                }
                _ => {
                    let s = self.simple()?;
                    self.terminator()?;
                    Ok(s)
                }
            };
        };
        match k {
            K::If => self.if_stmt(),
            K::While => {
                self.advance()?;
                let cond = self.condition()?;
                if self.eat(&Tok::Semi)? {
                    let empty = Stmt { line: self.line(), kind: StmtKind::Block(Vec::new()) };
                    return Ok(StmtKind::While(cond, Box::new(empty)));
                }
                let body = self.loop_body()?;
                Ok(StmtKind::While(cond, Box::new(body)))
            }
            K::Do => {
                self.advance()?;
                let body = self.loop_body()?;
                self.skip_terminators()?;
                self.expect(&Tok::Key(K::While))?;
                let cond = self.condition()?;
                self.terminator()?;
                Ok(StmtKind::DoWhile(Box::new(body), cond))
            }
            K::For => self.for_stmt(),
            K::Switch => self.switch_stmt(),
            _ => {
                let s = self.simple()?;
                self.terminator()?;
                Ok(s)
            }
        }
    }

    /// `(expr)` and the newlines after it.
    fn condition(&mut self) -> Result<Expr> {
        self.expect(&Tok::LParen)?;
        let cond = self.in_parens(|p| p.expr())?;
        self.expect(&Tok::RParen)?;
        Ok(cond)
    }

    fn body(&mut self) -> Result<Stmt> {
        self.skip_newlines()?;
        self.stmt()
    }

    fn loop_body(&mut self) -> Result<Stmt> {
        self.context.loops += 1;
        let body = self.body();
        self.context.loops -= 1;
        body
    }

    /// Ends a simple statement: `;`, newline, or before `}`.
    fn terminator(&mut self) -> Result<()> {
        match self.tok {
            Tok::Semi | Tok::Newline => self.advance(),
            Tok::RBrace | Tok::Eof => Ok(()),
            _ => Err(self.unexpected()),
        }
    }

    fn if_stmt(&mut self) -> Result<StmtKind> {
        let mut arms = Vec::new();
        loop {
            self.advance()?;
            let cond = self.condition()?;
            let body = self.body()?;
            arms.push((cond, body));
            self.skip_to_else()?;
            if !self.is_key(K::Else) {
                return Ok(StmtKind::If(arms, None));
            }
            self.advance()?;
            self.skip_newlines()?;
            if !self.is_key(K::If) {
                let last = self.stmt()?;
                return Ok(StmtKind::If(arms, Some(Box::new(last))));
            }
        }
    }

    /// Newlines and `;` may stand before `else`; skipping them changes nothing otherwise.
    fn skip_to_else(&mut self) -> Result<()> {
        self.skip_terminators()
    }

    fn for_stmt(&mut self) -> Result<StmtKind> {
        self.advance()?;
        self.expect(&Tok::LParen)?;
        let (no_gt, line) = (std::mem::replace(&mut self.no_gt, false), self.line());
        let init = if self.tok == Tok::Semi { None } else { Some(self.simple()?) };
        if self.tok == Tok::RParen {
            if let Some(StmtKind::Expr(Expr::In(keys, array, subs))) = init
                && let [Expr::Var(v)] = keys.as_slice()
            {
                let v = *v;
                self.advance()?;
                self.no_gt = no_gt;
                let body = self.for_body()?;
                return Ok(StmtKind::ForIn(v, array, subs, Box::new(body)));
            }
            return Err(self.unexpected());
        }
        self.expect(&Tok::Semi)?;
        self.skip_newlines()?;
        let cond = if self.tok == Tok::Semi { None } else { Some(self.expr()?) };
        self.expect(&Tok::Semi)?;
        self.skip_newlines()?;
        let step_line = self.line();
        let step = if self.tok == Tok::RParen { None } else { Some(self.simple()?) };
        self.expect(&Tok::RParen)?;
        self.no_gt = no_gt;
        let body = self.for_body()?;
        let boxed = |line, kind: Option<StmtKind>| kind.map(|kind| Box::new(Stmt { line, kind }));
        Ok(StmtKind::For(boxed(line, init), cond, boxed(step_line, step), Box::new(body)))
    }

    fn for_body(&mut self) -> Result<Stmt> {
        if self.eat(&Tok::Semi)? {
            return Ok(Stmt { line: self.line(), kind: StmtKind::Block(Vec::new()) });
        }
        self.loop_body()
    }

    fn switch_stmt(&mut self) -> Result<StmtKind> {
        self.advance()?;
        let subject = self.condition()?;
        self.skip_newlines()?;
        self.expect(&Tok::LBrace)?;
        let mut cases: Vec<Case> = Vec::new();
        self.context.switches += 1;
        loop {
            self.skip_terminators()?;
            let label = match self.tok {
                Tok::RBrace => break,
                Tok::Key(K::Case) => {
                    self.advance()?;
                    self.case_label()?
                }
                Tok::Key(K::Default) => {
                    self.advance()?;
                    if cases.iter().any(|c| matches!(c.label, Label::Default)) {
                        return Err(self
                            .lexer
                            .error("duplicate `default' detected in switch body"));
                    }
                    Label::Default
                }
                _ => return Err(self.unexpected()),
            };
            self.expect(&Tok::Colon)?;
            let mut body = Vec::new();
            loop {
                self.skip_terminators()?;
                if matches!(self.tok, Tok::RBrace | Tok::Eof | Tok::Key(K::Case | K::Default)) {
                    break;
                }
                body.push(self.stmt()?);
            }
            cases.push(Case { label, body });
        }
        self.context.switches -= 1;
        self.expect(&Tok::RBrace)?;
        Ok(StmtKind::Switch(subject, cases))
    }

    fn case_label(&mut self) -> Result<Label> {
        let label = match std::mem::replace(&mut self.tok, Tok::Eof) {
            Tok::Num(n) => Label::Num(n),
            Tok::Str(s) => Label::Str(s),
            Tok::TypedRegex(r) => Label::Regex(r),
            t @ (Tok::Slash | Tok::OpAssign(crate::token::Arith::Div)) => {
                Label::Regex(self.lexer.regex(&t)?)
            }
            t @ (Tok::Minus | Tok::Plus) => {
                self.advance()?;
                let Tok::Num(n) = self.tok else { return Err(self.unexpected()) };
                Label::Num(if t == Tok::Minus { -n } else { n })
            }
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        Ok(label)
    }

    /// A statement that may stand in the head of a `for`.
    fn simple(&mut self) -> Result<StmtKind> {
        let Tok::Key(k) = self.tok else { return Ok(StmtKind::Expr(self.expr()?)) };
        match k {
            K::Print | K::Printf => self.print(k),
            K::Delete => self.delete(),
            K::Break if self.context.loops + self.context.switches == 0 => {
                Err(self.lexer.error("`break' is not allowed outside a loop or switch"))
            }
            K::Continue if self.context.loops == 0 => {
                Err(self.lexer.error("`continue' is not allowed outside a loop"))
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
                    return Err(self.lexer.error(format!("`{name}' used in {rule} action")));
                }
                self.advance()?;
                Ok(if k == K::Next { StmtKind::Next } else { StmtKind::NextFile })
            }
            K::Break => self.word(StmtKind::Break),
            K::Continue => self.word(StmtKind::Continue),
            K::Exit => {
                self.advance()?;
                Ok(StmtKind::Exit(self.optional_expr()?))
            }
            K::Return => {
                if !self.context.in_function {
                    return Err(self.lexer.error("`return' used outside function context"));
                }
                self.advance()?;
                Ok(StmtKind::Return(self.optional_expr()?))
            }
            K::Getline => Ok(StmtKind::Expr(self.expr()?)),
            _ => Err(self.unexpected()),
        }
    }

    fn word(&mut self, kind: StmtKind) -> Result<StmtKind> {
        self.advance()?;
        Ok(kind)
    }

    fn optional_expr(&mut self) -> Result<Option<Expr>> {
        if matches!(self.tok, Tok::Semi | Tok::Newline | Tok::RBrace | Tok::Eof) {
            return Ok(None);
        }
        self.expr().map(Some)
    }

    fn print(&mut self, k: K) -> Result<StmtKind> {
        self.advance()?;
        let no_gt = std::mem::replace(&mut self.no_gt, true);
        let mut args = Vec::new();
        let ends = matches!(
            self.tok,
            Tok::Semi
                | Tok::Newline
                | Tok::RBrace
                | Tok::Eof
                | Tok::Gt
                | Tok::Append
                | Tok::Pipe
                | Tok::Coproc
        );
        if !ends {
            args = self.expr_list()?;
            if let [Expr::List(_)] = args.as_slice()
                && let Some(Expr::List(list)) = args.pop()
            {
                args = list;
            }
            if args.iter().any(|a| matches!(a, Expr::List(_))) {
                return Err(self.unexpected());
            }
        }
        let redirect = match self.tok {
            Tok::Gt => Some(Redirect::Truncate),
            Tok::Append => Some(Redirect::Append),
            Tok::Pipe => Some(Redirect::Pipe),
            Tok::Coproc => Some(Redirect::Coprocess),
            _ => None,
        };
        let target = match redirect {
            Some(r) => {
                self.advance()?;
                Some((r, self.concat()?))
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

    fn delete(&mut self) -> Result<StmtKind> {
        self.advance()?;
        let parens = self.eat(&Tok::LParen)?;
        let Tok::Name(name) = std::mem::replace(&mut self.tok, Tok::Eof) else {
            return Err(self.unexpected());
        };
        let v = self.variable(&name)?;
        self.advance()?;
        let subs = self.subscripts()?;
        if parens {
            self.expect(&Tok::RParen)?;
        }
        Ok(if subs.is_empty() { StmtKind::DeleteAll(v) } else { StmtKind::Delete(v, subs) })
    }

    /// `[i, j][k]...`, perhaps none.
    pub(super) fn subscripts(&mut self) -> Result<Subscripts> {
        let mut subs = Vec::new();
        while self.eat(&Tok::LBracket)? {
            let list = self.in_parens(|p| p.expr_list())?;
            if list.is_empty() {
                return Err(self.unexpected());
            }
            self.expect(&Tok::RBracket)?;
            subs.push(list);
        }
        Ok(subs)
    }

    /// Parses with `>` as a comparison again.
    pub(super) fn in_parens<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let no_gt = std::mem::replace(&mut self.no_gt, false);
        let result = f(self);
        self.no_gt = no_gt;
        result
    }
}
