//! Assignments, all of which visit the paths of their left side and set each.
//!
//! The value being changed is only in a variable. A fork keeps the values that are on the stack
//! when it is made, and such a second owner would make each change copy the whole container. So the
//! value is moved to its variable before the fork, and the input of the left side is pushed after
//! it.

use super::code::{JqOp, OpOperand, VarAddress};
use super::compile::{JqCompiler, NameScope, Result};
use crate::lang::ast::{AssignOp, JqExpr};

impl<'a> JqCompiler<'a> {
    /// Compiles `path(e)`.
    pub fn compile_path(&mut self, e: &'a JqExpr, scope: &NameScope<'a>) -> Result {
        self.emit_op(JqOp::PathBegin);
        self.compile_expr(e, scope)?;
        self.emit_op(JqOp::PathEnd);
        Ok(())
    }

    /// Compiles an assignment.
    pub fn compile_assign(
        &mut self,
        op: AssignOp,
        left: &'a JqExpr,
        right: &'a JqExpr,
        scope: &NameScope<'a>,
    ) -> Result {
        if op == AssignOp::Update {
            return self.compile_modify(left, scope, |c| c.compile_expr(right, scope));
        }
        // The right side sees the whole input, not the value at the path.
        let value = self.new_slot();
        self.compile_aside(right, scope)?;
        self.emit_op(JqOp::StoreVar(value));
        match op {
            AssignOp::Arith(op) => self.compile_modify(left, scope, |c| {
                c.emit_op(JqOp::Binary(op, OpOperand::Input, OpOperand::Var(value)));
                Ok(())
            }),
            AssignOp::Alt => self.compile_modify(left, scope, |c| {
                c.emit_op(JqOp::Dup);
                let no = c.emit_jump(JqOp::JumpFalse);
                let end = c.emit_jump(JqOp::Jump);
                c.land_jump(no);
                c.emit_op(JqOp::LoadVar(value));
                c.land_jump(end);
                Ok(())
            }),
            AssignOp::Set | AssignOp::Update => self.set(left, value, scope),
        }
    }

    fn set(&mut self, left: &'a JqExpr, value: VarAddress, scope: &NameScope<'a>) -> Result {
        let (state, path) = (self.new_slot(), self.new_slot());
        self.emit_op(JqOp::StoreVar(state));
        let fork = self.emit_jump(JqOp::Fork);
        self.emit_op(JqOp::PushVar(state));
        self.compile_path(left, scope)?;
        self.emit_op(JqOp::StoreVar(path));
        self.emit_op(JqOp::SetPath(state, path, value));
        self.land_jump(fork);
        self.emit_op(JqOp::ClearVar(value));
        self.emit_op(JqOp::PushTake(state));
        Ok(())
    }

    /// Compiles `left |= f`. The first output of `f` counts; a path for which it has none is
    /// deleted, after all others are done.
    fn compile_modify(
        &mut self,
        left: &'a JqExpr,
        scope: &NameScope<'a>,
        f: impl FnOnce(&mut Self) -> Result,
    ) -> Result {
        let (state, gone, path, mark) =
            (self.new_slot(), self.new_slot(), self.new_slot(), self.new_slot());
        self.emit_op(JqOp::NestInc);
        self.emit_op(JqOp::StoreVar(state));
        self.emit_op(JqOp::InitArray(gone));
        let fork = self.emit_jump(JqOp::Fork);
        self.emit_op(JqOp::PushVar(state));
        self.compile_path(left, scope)?;
        self.emit_op(JqOp::StoreVar(path));
        self.emit_op(JqOp::Mark(mark));
        let none = self.emit_jump(JqOp::Fork);
        self.emit_op(JqOp::TakePath(state, path));
        f(self)?;
        self.emit_op(JqOp::Cut(mark));
        self.emit_op(JqOp::PutPath(state, path));
        self.land_jump(none);
        self.emit_op(JqOp::AddTo(gone, path));
        self.land_jump(fork);
        self.emit_op(JqOp::DeletePaths(state, gone));
        self.emit_op(JqOp::NestDec);
        Ok(())
    }
}
