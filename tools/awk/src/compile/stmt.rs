//! Statements.

use super::{Compiler, Loop};
use crate::ast::{Case, Expr, Label, Redirect, Stmt, StmtKind};
use crate::code::Op;

impl Compiler {
    pub(super) fn stmts(&mut self, list: &[Stmt]) {
        list.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, s: &Stmt) {
        self.line = s.line;
        match &s.kind {
            StmtKind::Block(list) => self.stmts(list),
            StmtKind::Expr(e) => self.discard(e),
            StmtKind::Print(args, to) => self.print(args, to, false),
            StmtKind::Printf(args, to) => self.print(args, to, true),
            StmtKind::If(arms, last) => self.if_stmt(arms, last.as_deref()),
            StmtKind::While(cond, body) => self.for_stmt(None, Some(cond), None, body),
            StmtKind::DoWhile(body, cond) => {
                let start = self.here();
                let l = self.loop_body(body);
                let test = self.here();
                self.finish_continues(&l, test);
                let out = self.jump_unless(cond);
                self.emit(Op::Jump(start));
                out.into_iter().for_each(|j| self.patch(j));
                self.finish_breaks(&l);
            }
            StmtKind::For(init, cond, step, body) => {
                self.for_stmt(init.as_deref(), cond.as_ref(), step.as_deref(), body);
            }
            StmtKind::ForIn(v, array, subs, body) => {
                let place = self.array_place(*array, subs);
                self.emit(Op::ForIn(place));
                let target = self.var_target(*v);
                let start = self.here();
                let next = self.jump(Op::ForNext(target, 0));
                let l = self.loop_body(body);
                self.finish_continues(&l, start);
                self.emit(Op::Jump(start));
                self.patch(next);
                self.finish_breaks(&l);
                self.emit(Op::ForEnd);
            }
            StmtKind::Switch(e, cases) => self.switch(e, cases),
            StmtKind::Break => {
                let at = self.jump(Op::Jump(0));
                if let Some(l) = self.loops.last_mut() {
                    l.breaks.push(at);
                }
            }
            StmtKind::Continue => {
                let at = self.jump(Op::Jump(0));
                if let Some(l) = self.loops.iter_mut().rev().find(|l| !l.is_switch) {
                    l.continues.push(at);
                }
            }
            StmtKind::Next => self.emit(Op::Next),
            StmtKind::NextFile => self.emit(Op::NextFile),
            StmtKind::Exit(None) => self.emit(Op::ExitPlain),
            StmtKind::Exit(Some(e)) => {
                self.expr(e);
                self.emit(Op::Exit);
            }
            StmtKind::Return(e) => {
                match e {
                    Some(e) => self.expr(e),
                    None => self.emit(Op::Uninit),
                }
                self.emit(Op::Return);
            }
            StmtKind::DeleteAll(v) => {
                let place = self.place(*v);
                self.emit(Op::DeleteAll(place));
            }
            StmtKind::Delete(v, subs) => {
                let place = self.element_address(*v, subs);
                self.emit(Op::Delete(place));
            }
        }
    }

    fn for_stmt(
        &mut self,
        init: Option<&Stmt>,
        cond: Option<&Expr>,
        step: Option<&Stmt>,
        body: &Stmt,
    ) {
        init.into_iter().for_each(|s| self.stmt(s));
        let start = self.here();
        let out = cond.map(|c| self.jump_unless(c)).unwrap_or_default();
        let l = self.loop_body(body);
        let next = self.here();
        self.finish_continues(&l, next);
        step.into_iter().for_each(|s| self.stmt(s));
        self.emit(Op::Jump(start));
        out.into_iter().for_each(|j| self.patch(j));
        self.finish_breaks(&l);
    }

    fn loop_body(&mut self, body: &Stmt) -> Loop {
        self.loops.push(Loop::default());
        self.stmt(body);
        self.loops.pop().unwrap_or_default()
    }

    fn finish_continues(&mut self, l: &Loop, to: u32) {
        l.continues.iter().for_each(|j| self.patch_to(*j, to));
    }

    fn finish_breaks(&mut self, l: &Loop) {
        l.breaks.iter().for_each(|j| self.patch(*j));
    }

    fn if_stmt(&mut self, arms: &[(Expr, Stmt)], last: Option<&Stmt>) {
        let mut ends = Vec::new();
        for (n, (cond, body)) in arms.iter().enumerate() {
            let skip = self.jump_unless(cond);
            self.stmt(body);
            if n + 1 < arms.len() || last.is_some() {
                ends.push(self.jump(Op::Jump(0)));
            }
            skip.into_iter().for_each(|j| self.patch(j));
        }
        if let Some(s) = last {
            self.stmt(s);
        }
        ends.into_iter().for_each(|j| self.patch(j));
    }

    /// The subject stays on the stack while the labels are tried.
    fn switch(&mut self, subject: &Expr, cases: &[Case]) {
        self.expr(subject);
        let mut entries = Vec::new();
        let mut default = None;
        for (n, case) in cases.iter().enumerate() {
            match &case.label {
                Label::Default => {
                    default = Some(n);
                    continue;
                }
                Label::Num(x) => {
                    self.emit(Op::Dup);
                    self.emit(Op::Num(*x));
                    self.emit(Op::Compare(crate::ast::Cmp::Eq));
                }
                Label::Str(s) => {
                    self.emit(Op::Dup);
                    self.string(s);
                    self.emit(Op::Compare(crate::ast::Cmp::Eq));
                }
                Label::Regex(r) => {
                    self.emit(Op::Dup);
                    let p = self.pattern(r);
                    self.emit(Op::Match(p, false));
                }
            }
            entries.push((n, self.jump(Op::JumpIf(0))));
        }
        self.emit(Op::Pop);
        let none = self.jump(Op::Jump(0));
        // Each case is entered twice: from its label with the subject still there, or by
        // falling through without it.
        self.loops.push(Loop { is_switch: true, ..Loop::default() });
        let mut default_at = None;
        for (n, case) in cases.iter().enumerate() {
            let over = self.jump(Op::Jump(0));
            if let Some((_, jump)) = entries.iter().find(|(e, _)| *e == n) {
                self.patch(*jump);
                self.emit(Op::Pop);
            }
            self.patch(over);
            if default == Some(n) {
                default_at = Some(self.here());
            }
            self.stmts(&case.body);
        }
        match default_at {
            Some(at) => self.patch_to(none, at),
            None => self.patch(none),
        }
        let l = self.loops.pop().unwrap_or_default();
        self.finish_breaks(&l);
    }

    fn print(&mut self, args: &[Expr], to: &Option<(Redirect, Expr)>, format: bool) {
        args.iter().for_each(|a| self.expr(a));
        if let Some((_, target)) = to {
            self.expr(target);
        }
        let (n, redirect) = (args.len() as u32, to.as_ref().map(|(r, _)| *r));
        self.emit(if format { Op::Printf(n, redirect) } else { Op::Print(n, redirect) });
    }
}
