//! Assignments: all of them visit the paths of their left side and set each.
//!
//! The value being changed is in a variable only. A fork keeps what is on the stack when it is
//! made, and that second owner would make each change copy the whole container; so the value goes
//! to its variable before the fork, and what the left side begins with is pushed behind it.

use super::code::{JqOp, OpOperand, VarAddress};
use super::compile::{JqCompiler, NameScope, Result};
use crate::lang::ast::{AssignOp, JqExpr};

impl<'a> JqCompiler<'a> {
    /// `path(e)`
    pub fn path(&mut self, e: &'a JqExpr, scope: &NameScope<'a>) -> Result {
        self.emit(JqOp::PathBegin);
        self.expr(e, scope)?;
        self.emit(JqOp::PathEnd);
        Ok(())
    }

    /// An assignment.
    pub fn assign(
        &mut self,
        op: AssignOp,
        left: &'a JqExpr,
        right: &'a JqExpr,
        scope: &NameScope<'a>,
    ) -> Result {
        if op == AssignOp::Update {
            return self.modify(left, scope, |c| c.expr(right, scope));
        }
        // The right side sees the whole input, not what is at the path.
        let value = self.slot();
        self.aside(right, scope)?;
        self.emit(JqOp::StoreVar(value));
        match op {
            AssignOp::Arith(op) => self.modify(left, scope, |c| {
                c.emit(JqOp::Binary(op, OpOperand::Input, OpOperand::Var(value)));
                Ok(())
            }),
            AssignOp::Alt => self.modify(left, scope, |c| {
                c.emit(JqOp::Dup);
                let no = c.emit_jump(JqOp::JumpFalse);
                let end = c.emit_jump(JqOp::Jump);
                c.land(no);
                c.emit(JqOp::LoadVar(value));
                c.land(end);
                Ok(())
            }),
            AssignOp::Set | AssignOp::Update => self.set(left, value, scope),
        }
    }

    fn set(&mut self, left: &'a JqExpr, value: VarAddress, scope: &NameScope<'a>) -> Result {
        let (state, path) = (self.slot(), self.slot());
        self.emit(JqOp::StoreVar(state));
        let fork = self.emit_jump(JqOp::Fork);
        self.emit(JqOp::PushVar(state));
        self.path(left, scope)?;
        self.emit(JqOp::StoreVar(path));
        self.emit(JqOp::SetPath(state, path, value));
        self.land(fork);
        self.emit(JqOp::ClearVar(value));
        self.emit(JqOp::PushTake(state));
        Ok(())
    }

    /// `left |= f`: the first output of `f` counts; where it has none the path is deleted, after
    /// all others are done.
    fn modify(
        &mut self,
        left: &'a JqExpr,
        scope: &NameScope<'a>,
        f: impl FnOnce(&mut Self) -> Result,
    ) -> Result {
        let (state, gone, path, mark) = (self.slot(), self.slot(), self.slot(), self.slot());
        self.emit(JqOp::NestInc);
        self.emit(JqOp::StoreVar(state));
        self.emit(JqOp::InitArray(gone));
        let fork = self.emit_jump(JqOp::Fork);
        self.emit(JqOp::PushVar(state));
        self.path(left, scope)?;
        self.emit(JqOp::StoreVar(path));
        self.emit(JqOp::Mark(mark));
        let none = self.emit_jump(JqOp::Fork);
        self.emit(JqOp::TakePath(state, path));
        f(self)?;
        self.emit(JqOp::Cut(mark));
        self.emit(JqOp::PutPath(state, path));
        self.land(none);
        self.emit(JqOp::AddTo(gone, path));
        self.land(fork);
        self.emit(JqOp::DeletePaths(state, gone));
        self.emit(JqOp::NestDec);
        Ok(())
    }
}
