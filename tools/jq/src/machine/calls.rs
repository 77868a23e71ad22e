//! Functions: definitions, calls, and the built-in ones.
//!
//! Built-in functions written in jq are expanded where they are called, their parameters too, so
//! they cost no calls. (They do not call themselves; those that recurse do it by an inner
//! definition, which is compiled as any other.)

use super::code::{CallSite, Callee, Func, JqOp, NativeSite, OpOperand, VarAddress};
use super::compile::{CompileError, JqCompiler, NameBinding, NameScope, Result};
use crate::builtins::Native;
use crate::lang::ast::{Def, JqExpr};
use crate::value::Value;

/// What a called name stands for.
enum NameMeaning<'a, 's> {
    Callee(Callee),
    Inline(&'a JqExpr, &'s NameScope<'a>),
}

impl<'a> JqCompiler<'a> {
    /// Compiles a definition and brings it into sight.
    pub fn define(&mut self, def: &'a Def, scope: &NameScope<'a>) -> NameScope<'a> {
        let id = self.reserve();
        let outer = scope.with(NameBinding::Func {
            name: def.name.clone(),
            arity: def.params.len(),
            depth: self.depth(),
            id,
        });
        self.function(id, def, &outer);
        outer
    }

    /// Compiles a module's definition and brings it into sight; gives its number too, by which
    /// it can be known under other names.
    pub fn define_global(&mut self, def: &'a Def, scope: &NameScope<'a>) -> (u32, NameScope<'a>) {
        let id = self.reserve();
        let (name, arity) = (def.name.clone(), def.params.len());
        let outer = scope.with(NameBinding::GlobalFunc { name, arity, id });
        self.function(id, def, &outer);
        (id, outer)
    }

    fn reserve(&mut self) -> u32 {
        self.program.funcs.push(Func::default());
        self.program.funcs.len() as u32 - 1
    }

    fn function(&mut self, id: u32, def: &'a Def, scope: &NameScope<'a>) {
        if let Err(e) = self.guarded(|c| c.function_body(id, def, scope)) {
            self.broken.insert(id, e);
        }
    }

    fn function_body(&mut self, id: u32, def: &'a Def, scope: &NameScope<'a>) -> Result {
        self.begin();
        let mut inner = scope.clone();
        for (at, p) in def.params.iter().enumerate() {
            inner = inner.with(NameBinding::Param {
                name: p.name.clone(),
                depth: self.depth(),
                at: at as u16,
            });
        }
        for (at, p) in def.params.iter().enumerate().filter(|(_, p)| p.is_var) {
            self.emit(JqOp::Dup);
            self.emit(JqOp::NestInc);
            let callee = Callee::Param { level: 0, at: at as u16 };
            self.emit_call(callee, Vec::new());
            self.emit(JqOp::NestDec);
            let slot;
            (slot, inner) = self.declare(&p.name, &inner);
            self.emit(JqOp::StoreVar(slot));
        }
        self.expr(&def.body, &inner)?;
        self.emit(JqOp::Ret);
        self.end(id);
        Ok(())
    }

    fn emit_call(&mut self, callee: Callee, args: Vec<Callee>) {
        self.program.calls.push(CallSite { callee, args });
        self.emit(JqOp::Call(self.program.calls.len() as u32 - 1));
    }

    fn find<'s>(
        &self,
        name: &str,
        arity: usize,
        scope: &'s NameScope<'a>,
    ) -> Option<NameMeaning<'a, 's>> {
        scope.find(|b| match b {
            NameBinding::Func { name: n, arity: a, depth, id } if n == name && *a == arity => {
                let level = self.level(*depth);
                Some(NameMeaning::Callee(Callee::Func { id: *id, level }))
            }
            NameBinding::GlobalFunc { name: n, arity: a, id } if n == name && *a == arity => {
                Some(NameMeaning::Callee(Callee::Global { id: *id }))
            }
            NameBinding::Param { name: n, depth, at } if n == name && arity == 0 => {
                let level = self.level(*depth);
                Some(NameMeaning::Callee(Callee::Param { level, at: *at }))
            }
            NameBinding::Inline { name: n, expr, scope } if *n == name && arity == 0 => {
                Some(NameMeaning::Inline(expr, scope))
            }
            _ => None,
        })
    }

    /// A call of what has that name in the scope, else of a builtin.
    pub fn call(
        &mut self,
        name: &str,
        args: &'a [JqExpr],
        at: usize,
        scope: &NameScope<'a>,
    ) -> Result {
        match self.find(name, args.len(), scope) {
            Some(NameMeaning::Callee(callee)) => {
                let args = args.iter().map(|e| self.closure(e, scope)).collect::<Result<_>>()?;
                self.emit_call(callee, args);
                Ok(())
            }
            Some(NameMeaning::Inline(expr, scope)) => {
                let scope = scope.clone();
                self.expr(expr, &scope)
            }
            None => self.builtin(name, args, at, scope),
        }
    }

    /// An argument that is passed unevaluated.
    fn closure(&mut self, e: &'a JqExpr, scope: &NameScope<'a>) -> Result<Callee> {
        if let JqExpr::Call(name, args, _) = e
            && args.is_empty()
        {
            match self.find(name, 0, scope) {
                Some(NameMeaning::Callee(callee)) => return Ok(callee),
                Some(NameMeaning::Inline(expr, scope)) => {
                    let scope = scope.clone();
                    return self.closure(expr, &scope);
                }
                None => {}
            }
        }
        let id = self.reserve();
        self.begin();
        self.expr(e, scope)?;
        self.emit(JqOp::Ret);
        self.end(id);
        Ok(Callee::Func { id, level: 0 })
    }

    /// Emits a call of a native function.
    pub fn native(&mut self, native: Option<Native>, args: Vec<OpOperand>) {
        if let Some(native) = native {
            self.program.natives.push(NativeSite { native, args });
            self.emit(JqOp::Native(self.program.natives.len() as u32 - 1));
        }
    }

    fn builtin(
        &mut self,
        name: &str,
        args: &'a [JqExpr],
        at: usize,
        scope: &NameScope<'a>,
    ) -> Result {
        match (name, args) {
            ("empty", []) => self.emit(JqOp::Backtrack),
            ("recurse", []) => self.emit(JqOp::Recurse),
            ("error", [e]) => {
                self.expr(e, scope)?;
                self.native(self.library.native("error", 0), Vec::new());
            }
            ("select", [e]) => {
                self.aside(e, scope)?;
                self.emit(JqOp::BacktrackFalse);
            }
            ("first", [e]) => {
                let mark = self.slot();
                self.emit(JqOp::Mark(mark));
                self.expr(e, scope)?;
                self.emit(JqOp::Cut(mark));
            }
            ("path", [e]) => self.path(e, scope)?,
            ("getpath", [e]) => {
                let mut args = self.args([e].into_iter(), scope)?;
                self.emit(JqOp::GetPath(args.pop().unwrap_or(OpOperand::Stack)));
            }
            ("range", [from, to, rest @ ..]) if rest.len() < 2 => {
                self.argument(from, scope)?;
                self.argument(to, scope)?;
                rest.iter().try_for_each(|e| self.argument(e, scope))?;
                self.emit(JqOp::Range(!rest.is_empty()));
            }
            ("builtins", []) => {
                let all = self.library.names().into_iter().map(Value::str).collect();
                self.emit(JqOp::Const(all));
            }
            _ => {
                if let Some(native) = self.library.native(name, args.len()) {
                    let args = self.args(args.iter(), scope)?;
                    self.native(Some(native), args);
                } else if let Some(def) = self.library.def(name, args.len()) {
                    self.expand(def, args, scope)?;
                } else {
                    let message = format!("{name}/{} is not defined", args.len());
                    return Err(CompileError { message, at, module: self.module });
                }
            }
        }
        Ok(())
    }

    /// Compiles the body of a built-in definition in place.
    fn expand(&mut self, def: &'a Def, args: &'a [JqExpr], scope: &NameScope<'a>) -> Result {
        let mut inner = NameScope::default();
        for (p, expr) in def.params.iter().zip(args) {
            if p.is_var {
                // `$`-parameters are evaluated once; every output runs the body.
                match self.simple(expr, scope) {
                    Some(OpOperand::Const(value)) => {
                        inner = inner.with(NameBinding::Global { name: p.name.clone(), value });
                    }
                    _ => {
                        self.aside(expr, scope)?;
                        let slot: VarAddress;
                        (slot, inner) = self.declare(&p.name, &inner);
                        self.emit(JqOp::StoreVar(slot));
                    }
                }
            } else {
                inner =
                    inner.with(NameBinding::Inline { name: &p.name, expr, scope: scope.clone() });
            }
        }
        self.expr(&def.body, &inner)
    }
}
