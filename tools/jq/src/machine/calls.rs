//! Functions: definitions, calls, and the built-in ones.
//!
//! Built-in functions written in jq are expanded where they are called, and so are their
//! parameters, so that they cost no calls. (They do not call themselves; if they recurse, they do
//! so by an inner definition, which is compiled like any other.)

use super::code::{CallSite, Callee, Func, JqOp, NativeSite, OpOperand, VarAddress};
use super::compile::{CompileError, JqCompiler, NameBinding, NameScope, Result};
use crate::builtins::Native;
use crate::lang::ast::{Def, JqExpr};
use crate::value::Value;

/// The meaning of a called name.
enum NameMeaning<'a, 's> {
    Callee(Callee),
    Inline(&'a JqExpr, &'s NameScope<'a>),
}

impl<'a> JqCompiler<'a> {
    /// Compiles a definition, and returns the scope extended by its name.
    pub fn define_function(&mut self, def: &'a Def, scope: &NameScope<'a>) -> NameScope<'a> {
        let id = self.reserve_function();
        let outer = scope.with_binding(NameBinding::Func {
            name: def.name.clone(),
            arity: def.params.len(),
            depth: self.current_depth(),
            id,
        });
        self.compile_function(id, def, &outer);
        outer
    }

    /// Compiles a module's definition, and returns the function's number, which can be bound to
    /// other names, and the scope extended by its name.
    pub fn define_global(&mut self, def: &'a Def, scope: &NameScope<'a>) -> (u32, NameScope<'a>) {
        let id = self.reserve_function();
        let (name, arity) = (def.name.clone(), def.params.len());
        let outer = scope.with_binding(NameBinding::GlobalFunc { name, arity, id });
        self.compile_function(id, def, &outer);
        (id, outer)
    }

    fn reserve_function(&mut self) -> u32 {
        self.program.funcs.push(Func::default());
        self.program.funcs.len() as u32 - 1
    }

    fn compile_function(&mut self, id: u32, def: &'a Def, scope: &NameScope<'a>) {
        if let Err(e) = self.compile_guarded(|c| c.function_body(id, def, scope)) {
            self.broken.insert(id, e);
        }
    }

    fn function_body(&mut self, id: u32, def: &'a Def, scope: &NameScope<'a>) -> Result {
        self.begin_function();
        let mut inner = scope.clone();
        for (at, p) in def.params.iter().enumerate() {
            inner = inner.with_binding(NameBinding::Param {
                name: p.name.clone(),
                depth: self.current_depth(),
                at: at as u16,
            });
        }
        for (at, p) in def.params.iter().enumerate().filter(|(_, p)| p.is_var) {
            self.emit_op(JqOp::Dup);
            self.emit_op(JqOp::NestInc);
            let callee = Callee::Param { level: 0, at: at as u16 };
            self.emit_call(callee, Vec::new());
            self.emit_op(JqOp::NestDec);
            let slot;
            (slot, inner) = self.declare_variable(&p.name, &inner);
            self.emit_op(JqOp::StoreVar(slot));
        }
        self.compile_expr(&def.body, &inner)?;
        self.emit_op(JqOp::Ret);
        self.end_function(id);
        Ok(())
    }

    fn emit_call(&mut self, callee: Callee, args: Vec<Callee>) {
        self.program.calls.push(CallSite { callee, args });
        self.emit_op(JqOp::Call(self.program.calls.len() as u32 - 1));
    }

    fn find_callee<'s>(
        &self,
        name: &str,
        arity: usize,
        scope: &'s NameScope<'a>,
    ) -> Option<NameMeaning<'a, 's>> {
        scope.find_binding(|b| match b {
            NameBinding::Func { name: n, arity: a, depth, id } if n == name && *a == arity => {
                let level = self.level_of(*depth);
                Some(NameMeaning::Callee(Callee::Func { id: *id, level }))
            }
            NameBinding::GlobalFunc { name: n, arity: a, id } if n == name && *a == arity => {
                Some(NameMeaning::Callee(Callee::Global { id: *id }))
            }
            NameBinding::Param { name: n, depth, at } if n == name && arity == 0 => {
                let level = self.level_of(*depth);
                Some(NameMeaning::Callee(Callee::Param { level, at: *at }))
            }
            NameBinding::Inline { name: n, expr, scope } if *n == name && arity == 0 => {
                Some(NameMeaning::Inline(expr, scope))
            }
            _ => None,
        })
    }

    /// Compiles a call of the function that has this name in the scope, or otherwise of a builtin.
    pub fn compile_call(
        &mut self,
        name: &str,
        args: &'a [JqExpr],
        at: usize,
        scope: &NameScope<'a>,
    ) -> Result {
        match self.find_callee(name, args.len(), scope) {
            Some(NameMeaning::Callee(callee)) => {
                let args =
                    args.iter().map(|e| self.compile_closure(e, scope)).collect::<Result<_>>()?;
                self.emit_call(callee, args);
                Ok(())
            }
            Some(NameMeaning::Inline(expr, scope)) => {
                let scope = scope.clone();
                self.compile_expr(expr, &scope)
            }
            None => self.compile_builtin(name, args, at, scope),
        }
    }

    /// Compiles an argument that is passed unevaluated.
    fn compile_closure(&mut self, e: &'a JqExpr, scope: &NameScope<'a>) -> Result<Callee> {
        if let JqExpr::Call(name, args, _) = e
            && args.is_empty()
        {
            match self.find_callee(name, 0, scope) {
                Some(NameMeaning::Callee(callee)) => return Ok(callee),
                Some(NameMeaning::Inline(expr, scope)) => {
                    let scope = scope.clone();
                    return self.compile_closure(expr, &scope);
                }
                None => {}
            }
        }
        let id = self.reserve_function();
        self.begin_function();
        self.compile_expr(e, scope)?;
        self.emit_op(JqOp::Ret);
        self.end_function(id);
        Ok(Callee::Func { id, level: 0 })
    }

    /// Emits a call of a native function.
    pub fn emit_native(&mut self, native: Option<Native>, args: Vec<OpOperand>) {
        if let Some(native) = native {
            self.program.natives.push(NativeSite { native, args });
            self.emit_op(JqOp::Native(self.program.natives.len() as u32 - 1));
        }
    }

    fn compile_builtin(
        &mut self,
        name: &str,
        args: &'a [JqExpr],
        at: usize,
        scope: &NameScope<'a>,
    ) -> Result {
        match (name, args) {
            ("empty", []) => self.emit_op(JqOp::Backtrack),
            ("recurse", []) => self.emit_op(JqOp::Recurse),
            ("error", [e]) => {
                self.compile_expr(e, scope)?;
                self.emit_native(self.library.find_native("error", 0), Vec::new());
            }
            ("select", [e]) => {
                self.compile_aside(e, scope)?;
                self.emit_op(JqOp::BacktrackFalse);
            }
            ("first", [e]) => {
                let mark = self.new_slot();
                self.emit_op(JqOp::Mark(mark));
                self.compile_expr(e, scope)?;
                self.emit_op(JqOp::Cut(mark));
            }
            ("path", [e]) => self.compile_path(e, scope)?,
            ("getpath", [e]) => {
                let mut args = self.compile_args([e].into_iter(), scope)?;
                self.emit_op(JqOp::GetPath(args.pop().unwrap_or(OpOperand::Stack)));
            }
            ("range", [from, to, rest @ ..]) if rest.len() < 2 => {
                self.compile_argument(from, scope)?;
                self.compile_argument(to, scope)?;
                rest.iter().try_for_each(|e| self.compile_argument(e, scope))?;
                self.emit_op(JqOp::Range(!rest.is_empty()));
            }
            ("builtins", []) => {
                let all = self.library.function_names().into_iter().map(Value::str).collect();
                self.emit_op(JqOp::Const(all));
            }
            _ => {
                if let Some(native) = self.library.find_native(name, args.len()) {
                    let args = self.compile_args(args.iter(), scope)?;
                    self.emit_native(Some(native), args);
                } else if let Some(def) = self.library.find_def(name, args.len()) {
                    self.expand_definition(def, args, scope)?;
                } else {
                    let message = format!("{name}/{} is not defined", args.len());
                    return Err(CompileError { message, at, module: self.module });
                }
            }
        }
        Ok(())
    }

    /// Compiles the body of a built-in definition in place.
    fn expand_definition(
        &mut self,
        def: &'a Def,
        args: &'a [JqExpr],
        scope: &NameScope<'a>,
    ) -> Result {
        let mut inner = NameScope::default();
        for (p, expr) in def.params.iter().zip(args) {
            if p.is_var {
                // A `$`-parameter is evaluated once, and the body runs for each of its outputs.
                match self.simple_operand(expr, scope) {
                    Some(OpOperand::Const(value)) => {
                        inner =
                            inner.with_binding(NameBinding::Global { name: p.name.clone(), value });
                    }
                    _ => {
                        self.compile_aside(expr, scope)?;
                        let slot: VarAddress;
                        (slot, inner) = self.declare_variable(&p.name, &inner);
                        self.emit_op(JqOp::StoreVar(slot));
                    }
                }
            } else {
                inner = inner.with_binding(NameBinding::Inline {
                    name: &p.name,
                    expr,
                    scope: scope.clone(),
                });
            }
        }
        self.compile_expr(&def.body, &inner)
    }
}
