//! Calling a function (bash manual 3.3).

use std::rc::Rc;

use sh_expand::Str;

use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::here::Context;
use crate::state::options::{SetOpt, ShOpt};
use crate::state::traps::Trap;
use crate::state::vars::ScopeKind;
use crate::state::{Frame, FunctionDef, traps};

impl Shell<'_> {
    /// `scoped`: the innermost scope has the assignments before the call and is the function's.
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
                .var(b"FUNCNEST")
                .and_then(|t| sh_expand::arith::plain_integer(&t))
                .and_then(|n| u32::try_from(n).ok())
                .filter(|n| *n > 0),
        };
        let bound = limit.unwrap_or(self.budget.limits.call_depth);
        if depth > bound || self.budget.stack_low() {
            let shown = if depth > bound { bound } else { depth - 1 };
            let n = format!(": maximum function nesting level exceeded ({shown})");
            self.error(&[name, n.as_bytes()]);
            // FUNCNEST abandons the command, as in bash; the budget ends the script.
            if limit.is_none() {
                return Err(Unwind::Exit(1));
            }
            self.note_failure();
            return Err(Unwind::Discard(1));
        }
        Ok(())
    }

    fn guarded_call(&mut self, def: &FunctionDef, name: Str, argv: &[Str], scoped: bool) -> Flow {
        self.check_call_depth(&name)?;
        let positional = Rc::new(argv[1..].to_vec());
        let debugged = self.state.options.shopt(ShOpt::ExtDebug);
        if debugged {
            Rc::make_mut(&mut self.state.call_args).push(positional.clone());
        }
        let old_positional = std::mem::replace(&mut self.state.positional, positional);
        let outermost = self.state.outer_positional.is_none();
        if outermost {
            self.state.outer_positional = Some(old_positional.clone());
        }
        let line = self.state.line;
        Rc::make_mut(&mut self.state.frames).push(Frame {
            name,
            source: def.source.clone(),
            call_line: line,
            is_function: true,
        });
        match scoped {
            true => self.state.vars.give_scope(),
            false => self.state.vars.push_scope(ScopeKind::Function),
        }
        // DEBUG and RETURN reach into functions only with functrace or `declare -t`.
        let traced = def.trace || self.state.options.has(SetOpt::FuncTrace);
        let outer =
            (self.state.traps.has_debug, self.state.traps.has_return, self.state.traps.has_err);
        let mut unseen = Vec::new();
        if !traced {
            unseen.extend(outer.0.then_some(traps::DEBUG));
            self.state.traps.has_debug = false;
        }
        // Nor does RETURN reach what the DEBUG trap calls.
        if !traced || self.state.here.running.has(Trap::Debug) {
            unseen.extend(outer.1.then_some(traps::RETURN));
            self.state.traps.has_return = false;
        }
        if !self.state.options.has(SetOpt::ErrTrace) {
            unseen.extend(outer.2.then_some(traps::ERR));
            self.state.traps.has_err = false;
        }
        let action = |c: u8| self.state.traps.get(c).map(|action| (c, action.clone()));
        let unseen: Vec<(u8, Str)> = unseen.into_iter().filter_map(action).collect();
        let inner =
            (self.state.traps.has_debug, self.state.traps.has_return, self.state.traps.has_err);
        let r = self.within(Context::Function, |s| s.command_in_function(def));
        let r = match r {
            Err(Unwind::Return(status)) => Ok(status),
            // A loop outside of the function is not the function's business in bash.
            Err(Unwind::Break(_) | Unwind::Continue(_)) => Ok(self.state.status),
            other => other,
        };
        if self.is_left_in_text(&r) {
            return r;
        }
        let mut r = r;
        // `$?` in it is that before a `return`.
        if self.state.traps.has_return
            && r.is_ok()
            && let Err(u) = self.run_return_trap()
        {
            r = Err(u);
        }
        // A trap set inside of the function stays in force; else the flags come back, and what it
        // did not see and reset nevertheless.
        for (condition, action) in unseen {
            if self.state.traps.get(condition).is_none() {
                self.state.traps.set(condition, Some(action));
            }
        }
        let now =
            (self.state.traps.has_debug, self.state.traps.has_return, self.state.traps.has_err);
        if now.0 == inner.0 {
            self.state.traps.has_debug = outer.0;
        }
        if now.1 == inner.1 {
            self.state.traps.has_return = outer.1;
        }
        if now.2 == inner.2 {
            self.state.traps.has_err = outer.2;
        }
        if !scoped {
            self.pop_scope();
        }
        Rc::make_mut(&mut self.state.frames).pop();
        if debugged {
            Rc::make_mut(&mut self.state.call_args).pop();
        }
        match r {
            Err(Unwind::Discard(_) | Unwind::Abandon(_) | Unwind::GiveUp(_)) => {
                self.state.funcname_shown = true;
            }
            Ok(_) if !self.state.frames.iter().any(|f| f.is_function) => {
                self.state.funcname_shown = false;
            }
            _ => {}
        }
        if outermost {
            self.state.outer_positional = None;
        }
        self.state.positional = old_positional;
        self.state.positional_set = false;
        self.state.line = line;
        r
    }

    fn command_in_function(&mut self, def: &FunctionDef) -> Flow {
        // Only a state that no shell has written holds anything else.
        let function = match def.function.get() {
            Ok(function) => function,
            Err(why) => {
                let name = self.state.frames.last().map(|f| f.name.clone()).unwrap_or_default();
                self.error(&[&name, b": corrupt function: ", why.to_string().as_bytes()]);
                return Ok(1);
            }
        };
        if self.state.traps.has_debug {
            // The action sees the line where the function was defined.
            self.state.line = function.body.line;
            self.run_debug_action()?;
        }
        self.body_command(&function.body)
    }
}
