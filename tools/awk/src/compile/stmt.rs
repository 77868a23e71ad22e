//! Statements.

use super::{AwkCompiler, LoopJumps};
use crate::ast::{AwkCase, AwkExpr, Label, OutputRedirect, Stmt, StmtKind};
use crate::code::AwkOp;

impl AwkCompiler {
    pub(super) fn compile_stmts(&mut self, list: &[Stmt]) {
        list.iter().for_each(|s| self.compile_stmt(s));
    }

    fn compile_stmt(&mut self, s: &Stmt) {
        self.line = s.line;
        match &s.kind {
            StmtKind::Block(list) => self.compile_stmts(list),
            StmtKind::Expr(e) => self.compile_for_effect(e),
            StmtKind::Print(args, to) => self.compile_print(args, to, false),
            StmtKind::Printf(args, to) => self.compile_print(args, to, true),
            StmtKind::If(arms, last) => self.if_stmt(arms, last.as_deref()),
            StmtKind::While(cond, body) => self.for_stmt(None, Some(cond), None, body),
            StmtKind::DoWhile(body, cond) => {
                let start = self.next_pc();
                let l = self.loop_body(body);
                let test = self.next_pc();
                self.finish_continues(&l, test);
                let out = self.jump_unless(cond);
                self.emit_op(AwkOp::Jump(start));
                out.into_iter().for_each(|j| self.patch_jump(j));
                self.finish_breaks(&l);
            }
            StmtKind::For(init, cond, step, body) => {
                self.for_stmt(init.as_deref(), cond.as_ref(), step.as_deref(), body);
            }
            StmtKind::ForIn(v, array, subs, body) => {
                let place = self.array_place(*array, subs);
                self.emit_op(AwkOp::ForIn(place));
                let target = self.var_target(*v);
                let start = self.next_pc();
                let next = self.emit_jump(AwkOp::ForNext(target, 0));
                let l = self.loop_body(body);
                self.finish_continues(&l, start);
                self.emit_op(AwkOp::Jump(start));
                self.patch_jump(next);
                self.finish_breaks(&l);
                self.emit_op(AwkOp::ForEnd);
            }
            StmtKind::Switch(e, cases) => self.compile_switch(e, cases),
            StmtKind::Break => {
                let at = self.emit_jump(AwkOp::Jump(0));
                if let Some(l) = self.loops.last_mut() {
                    l.breaks.push(at);
                }
            }
            StmtKind::Continue => {
                let at = self.emit_jump(AwkOp::Jump(0));
                if let Some(l) = self.loops.iter_mut().rev().find(|l| !l.is_switch) {
                    l.continues.push(at);
                }
            }
            StmtKind::Next => self.emit_op(AwkOp::Next),
            StmtKind::NextFile => self.emit_op(AwkOp::NextFile),
            StmtKind::Exit(None) => self.emit_op(AwkOp::ExitPlain),
            StmtKind::Exit(Some(e)) => {
                self.compile_expr(e);
                self.emit_op(AwkOp::Exit);
            }
            StmtKind::Return(e) => {
                match e {
                    Some(e) => self.compile_expr(e),
                    None => self.emit_op(AwkOp::Uninit),
                }
                self.emit_op(AwkOp::Return);
            }
            StmtKind::DeleteAll(v) => {
                let place = self.place_of_array(*v);
                self.emit_op(AwkOp::DeleteAll(place));
            }
            StmtKind::Delete(v, subs) => {
                let place = self.element_address(*v, subs);
                self.emit_op(AwkOp::Delete(place));
            }
        }
    }

    fn for_stmt(
        &mut self,
        init: Option<&Stmt>,
        cond: Option<&AwkExpr>,
        step: Option<&Stmt>,
        body: &Stmt,
    ) {
        init.into_iter().for_each(|s| self.compile_stmt(s));
        let start = self.next_pc();
        let out = cond.map(|c| self.jump_unless(c)).unwrap_or_default();
        let l = self.loop_body(body);
        let next = self.next_pc();
        self.finish_continues(&l, next);
        step.into_iter().for_each(|s| self.compile_stmt(s));
        self.emit_op(AwkOp::Jump(start));
        out.into_iter().for_each(|j| self.patch_jump(j));
        self.finish_breaks(&l);
    }

    fn loop_body(&mut self, body: &Stmt) -> LoopJumps {
        self.loops.push(LoopJumps::default());
        self.compile_stmt(body);
        self.loops.pop().unwrap_or_default()
    }

    fn finish_continues(&mut self, l: &LoopJumps, to: u32) {
        l.continues.iter().for_each(|j| self.patch_to(*j, to));
    }

    fn finish_breaks(&mut self, l: &LoopJumps) {
        l.breaks.iter().for_each(|j| self.patch_jump(*j));
    }

    fn if_stmt(&mut self, arms: &[(AwkExpr, Stmt)], last: Option<&Stmt>) {
        let mut ends = Vec::new();
        for (n, (cond, body)) in arms.iter().enumerate() {
            let skip = self.jump_unless(cond);
            self.compile_stmt(body);
            if n + 1 < arms.len() || last.is_some() {
                ends.push(self.emit_jump(AwkOp::Jump(0)));
            }
            skip.into_iter().for_each(|j| self.patch_jump(j));
        }
        if let Some(s) = last {
            self.compile_stmt(s);
        }
        ends.into_iter().for_each(|j| self.patch_jump(j));
    }

    /// Compiles a `switch`. The subject stays on the stack while the labels are tried.
    fn compile_switch(&mut self, subject: &AwkExpr, cases: &[AwkCase]) {
        self.compile_expr(subject);
        let mut entries = Vec::new();
        let mut default = None;
        for (n, case) in cases.iter().enumerate() {
            match &case.label {
                Label::Default => {
                    default = Some(n);
                    continue;
                }
                Label::Num(x) => {
                    self.emit_op(AwkOp::Dup);
                    self.emit_op(AwkOp::Num(*x));
                    self.emit_op(AwkOp::Compare(crate::ast::AwkComparison::Eq));
                }
                Label::Str(s) => {
                    self.emit_op(AwkOp::Dup);
                    self.emit_string(s);
                    self.emit_op(AwkOp::Compare(crate::ast::AwkComparison::Eq));
                }
                Label::Regex(r) => {
                    self.emit_op(AwkOp::Dup);
                    let p = self.pattern_index(r);
                    self.emit_op(AwkOp::Match(p, false));
                }
            }
            entries.push((n, self.emit_jump(AwkOp::JumpIf(0))));
        }
        self.emit_op(AwkOp::Pop);
        let none = self.emit_jump(AwkOp::Jump(0));
        // Each case has two entries: from its label, with the subject still on the stack, and by
        // falling through, without it.
        self.loops.push(LoopJumps { is_switch: true, ..LoopJumps::default() });
        let mut default_at = None;
        for (n, case) in cases.iter().enumerate() {
            let over = self.emit_jump(AwkOp::Jump(0));
            if let Some((_, jump)) = entries.iter().find(|(e, _)| *e == n) {
                self.patch_jump(*jump);
                self.emit_op(AwkOp::Pop);
            }
            self.patch_jump(over);
            if default == Some(n) {
                default_at = Some(self.next_pc());
            }
            self.compile_stmts(&case.body);
        }
        match default_at {
            Some(at) => self.patch_to(none, at),
            None => self.patch_jump(none),
        }
        let l = self.loops.pop().unwrap_or_default();
        self.finish_breaks(&l);
    }

    fn compile_print(
        &mut self,
        args: &[AwkExpr],
        to: &Option<(OutputRedirect, AwkExpr)>,
        format: bool,
    ) {
        args.iter().for_each(|a| self.compile_expr(a));
        if let Some((_, target)) = to {
            self.compile_expr(target);
        }
        let (n, redirect) = (args.len() as u32, to.as_ref().map(|(r, _)| *r));
        self.emit_op(if format { AwkOp::Printf(n, redirect) } else { AwkOp::Print(n, redirect) });
    }
}
