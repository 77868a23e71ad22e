//! Assignments: all of them visit the paths of their left side and set each.
//!
//! The value being changed is in a variable only. A fork keeps what is on the stack when it is
//! made, and that second owner would make each change copy the whole container; so the value goes
//! to its variable before the fork, and what the left side begins with is pushed behind it.

use super::code::{Op, Operand, Slot};
use super::compile::{Compiler, Result, Scope};
use crate::lang::ast::{AssignOp, Expr};

impl<'a> Compiler<'a> {
    /// `path(e)`
    pub fn path(&mut self, e: &'a Expr, scope: &Scope<'a>) -> Result {
        self.emit(Op::PathBegin);
        self.expr(e, scope)?;
        self.emit(Op::PathEnd);
        Ok(())
    }

    /// An assignment.
    pub fn assign(
        &mut self,
        op: AssignOp,
        left: &'a Expr,
        right: &'a Expr,
        scope: &Scope<'a>,
    ) -> Result {
        if op == AssignOp::Update {
            return self.modify(left, scope, |c| c.expr(right, scope));
        }
        // The right side sees the whole input, not what is at the path.
        let value = self.slot();
        self.aside(right, scope)?;
        self.emit(Op::StoreVar(value));
        match op {
            AssignOp::Arith(op) => self.modify(left, scope, |c| {
                c.emit(Op::Binary(op, Operand::Input, Operand::Var(value)));
                Ok(())
            }),
            AssignOp::Alt => self.modify(left, scope, |c| {
                c.emit(Op::Dup);
                let no = c.emit_jump(Op::JumpFalse);
                let end = c.emit_jump(Op::Jump);
                c.land(no);
                c.emit(Op::LoadVar(value));
                c.land(end);
                Ok(())
            }),
            AssignOp::Set | AssignOp::Update => self.set(left, value, scope),
        }
    }

    fn set(&mut self, left: &'a Expr, value: Slot, scope: &Scope<'a>) -> Result {
        let (state, path) = (self.slot(), self.slot());
        self.emit(Op::StoreVar(state));
        let fork = self.emit_jump(Op::Fork);
        self.emit(Op::PushVar(state));
        self.path(left, scope)?;
        self.emit(Op::StoreVar(path));
        self.emit(Op::SetPath(state, path, value));
        self.land(fork);
        self.emit(Op::ClearVar(value));
        self.emit(Op::PushTake(state));
        Ok(())
    }

    /// `left |= f`: the first output of `f` counts; where it has none the path is deleted, after
    /// all others are done.
    fn modify(
        &mut self,
        left: &'a Expr,
        scope: &Scope<'a>,
        f: impl FnOnce(&mut Self) -> Result,
    ) -> Result {
        let (state, gone, path, mark) = (self.slot(), self.slot(), self.slot(), self.slot());
        self.emit(Op::NestInc);
        self.emit(Op::StoreVar(state));
        self.emit(Op::InitArray(gone));
        let fork = self.emit_jump(Op::Fork);
        self.emit(Op::PushVar(state));
        self.path(left, scope)?;
        self.emit(Op::StoreVar(path));
        self.emit(Op::Mark(mark));
        let none = self.emit_jump(Op::Fork);
        self.emit(Op::TakePath(state, path));
        f(self)?;
        self.emit(Op::Cut(mark));
        self.emit(Op::PutPath(state, path));
        self.land(none);
        self.emit(Op::AddTo(gone, path));
        self.land(fork);
        self.emit(Op::DeletePaths(state, gone));
        self.emit(Op::NestDec);
        Ok(())
    }
}
