//! Calling a function (bash manual 3.3).

use sh_expand::{Attributes, PositionalList, Str};

use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::FunctionDef;
use crate::state::calls::CallFrame;
use crate::state::here::CommandContext;
use crate::state::options::{SetOpt, ShOpt};
use crate::state::traps::{Trap, TrapSet};
use crate::state::vars::ScopeKind;

impl Shell<'_> {
    /// Calls a function. With `scoped`, the innermost scope already holds the assignments before
    /// the call, and becomes the function's scope.
    pub(crate) fn call_function(&mut self, def: &FunctionDef, argv: &[Str], scoped: bool) -> Flow {
        let name = argv[0].clone();
        self.budget.call_depth += 1;
        let r = self.guarded_call(def, name, argv, scoped);
        self.budget.call_depth -= 1;
        r
    }

    fn check_call_depth(&mut self, name: &[u8]) -> Result<(), Unwind> {
        let depth = self.budget.call_depth;
        let limit = match self.state.vars.get(b"FUNCNEST") {
            None => None,
            Some(_) => self
                .variable_text(b"FUNCNEST")
                .and_then(|t| sh_expand::arith::plain_integer(&t))
                .and_then(|n| u32::try_from(n).ok())
                .filter(|n| *n > 0),
        };
        let bound = limit.unwrap_or(self.budget.limits.call_depth);
        if depth > bound || self.budget.stack_low() {
            let shown = if depth > bound { bound } else { depth - 1 };
            let n = format!(": maximum function nesting level exceeded ({shown})");
            self.print_error(&[name, n.as_bytes()]);
            // FUNCNEST abandons the command, as in bash; the budget ends the script.
            if limit.is_none() {
                return Err(Unwind::Exit(1));
            }
            return Err(Unwind::Discard(1));
        }
        Ok(())
    }

    fn guarded_call(&mut self, def: &FunctionDef, name: Str, argv: &[Str], scoped: bool) -> Flow {
        self.check_call_depth(&name)?;
        let positional = PositionalList::from(argv[1..].to_vec());
        let line = self.state.line;
        let debugged = self.state.options.has_shopt(ShOpt::ExtDebug);
        self.state.calls.push(CallFrame {
            name,
            source: def.source.clone(),
            call_line: line,
            is_function: true,
            args: debugged.then(|| positional.clone()),
        });
        let params = self.state.params.enter_function(positional);
        if scoped {
            self.state.vars.give_scope()
        } else {
            self.state.vars.push_scope(ScopeKind::Function)
        }
        let reaching = self.traps_in(def);
        let hidden = self.state.traps.enter_function(reaching);
        let r = self.run_within(CommandContext::Function, |s| s.command_in_function(def));
        let mut r = match r {
            Err(Unwind::Return(status)) => Ok(status),
            // In bash, a function cannot leave a loop outside of it.
            Err(Unwind::Break(_) | Unwind::Continue(_)) => Ok(self.state.status),
            other => other,
        };
        // `$?` in the action is the status before a `return`.
        if self.state.traps.sees_trap(Trap::Return)
            && r.is_ok()
            && let Err(u) = self.run_return_trap()
        {
            r = Err(u);
        }
        self.state.traps.leave_function(hidden);
        if !scoped {
            self.pop_scope();
        }
        self.state.calls.pop();
        self.state.params.leave_function(params);
        self.state.line = line;
        r
    }

    /// Returns the traps whose actions a function's commands run: `DEBUG` and `RETURN` with
    /// `functrace` or `declare -t`, `ERR` with `errtrace`.
    fn traps_in(&self, def: &FunctionDef) -> TrapSet {
        let options = &self.state.options;
        let traced = def.attrs.intersects(Attributes::TRACE) || options.has_set(SetOpt::FuncTrace);
        // RETURN does not run in functions that the DEBUG trap calls.
        let returns = traced && !self.state.here.running.has(Trap::Debug);
        TrapSet::default()
            .put(Trap::Debug, traced)
            .put(Trap::Return, returns)
            .put(Trap::Err, options.has_set(SetOpt::ErrTrace))
    }

    fn command_in_function(&mut self, def: &FunctionDef) -> Flow {
        // This fails only for a serialized state that no shell has written.
        let function = match def.function.get() {
            Ok(function) => function,
            Err(why) => {
                let name = self.state.calls.innermost_name();
                self.print_error(&[&name, b": corrupt function: ", why.to_string().as_bytes()]);
                return Ok(1);
            }
        };
        if self.state.traps.sees_trap(Trap::Debug) {
            // The action sees the line of the function's definition.
            self.state.line = function.body.line;
            self.run_debug_action()?;
        }
        self.body_command(&function.body)
    }
}
