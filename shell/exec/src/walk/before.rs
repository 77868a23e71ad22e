//! Assignments before a command (POSIX XCU 2.9.1): making them in a scope, and leaving that scope.
//!
//! Before a function call, the assignments are made in the function's own scope, as if it had
//! declared them; a variable that the function then marks with `export` or `readonly` outlives the
//! call. Before a builtin, only the builtin sees them; if it assigns to one of the variables, the
//! hidden variable is changed, too (except for `read`, `mapfile`, `unset`, `eval` and `.`, which
//! have a scope of their own).

use sh_expand::{Attributes, Str};
use sh_syntax::ast::{AssignValue, Assignment};

use crate::Shell;
use crate::shell::Unwind;
use crate::state::assign::{is_special, shown_name};
use crate::state::options::SetOpt;
use crate::state::vars::{ScopeKind, ShellVar, TemporaryVar, VarSlot};
use crate::xtrace::value_quote;

/// Builtins whose own assignments do not change the variables that the assignments before them
/// hide.
pub(crate) const SCOPED: &[&str] = &["mapfile", "read", "readarray", "unset"];

impl Shell<'_> {
    /// Performs the assignments before a command in the innermost scope. `special` says that the
    /// command is a special builtin.
    pub(super) fn temporary_assignments(
        &mut self,
        list: &[Assignment],
        special: bool,
    ) -> Result<(), Unwind> {
        for a in list {
            if a.subscript.is_some() {
                // The assignment is invalid, but following the nameref may fail first, with an
                // error of its own.
                self.follow_nameref(&a.name).map(drop).map_err(|e| self.expansion_failed(e))?;
                let value = match &a.value {
                    AssignValue::Scalar(word) => word.raw.len() + 1,
                    AssignValue::Array(_) => 0,
                };
                let place = &a.raw[..a.raw.len() - value];
                let place = place.strip_suffix(b"+").unwrap_or(place);
                self.print_error(&[b"`", place, b"': not a valid identifier"]);
                continue;
            }
            self.temporary_assignment(a, special)?;
        }
        Ok(())
    }

    /// Performs one of the assignments, to a whole variable.
    fn temporary_assignment(&mut self, a: &Assignment, special: bool) -> Result<(), Unwind> {
        let name = match self.follow_nameref(&a.name) {
            Ok(t) => shown_name(&t.name).to_vec(),
            Err(e) => return Err(self.expansion_failed(e)),
        };
        if let Err(e) = self.check_array_writable(&name, &a.name) {
            // In POSIX mode this error abandons the current commands, and before a special builtin
            // ends the script (bash manual 6.11).
            if self.state.options.has_set(SetOpt::Posix) {
                return Err(if special {
                    self.assignment_failed(e)
                } else {
                    self.expansion_failed(e)
                });
            }
            self.print_error(&[&e.message()]);
            return self.refused().map(drop);
        }
        // The value may refer to the variable itself, so it is expanded before the variable is
        // hidden.
        let value = match &a.value {
            AssignValue::Scalar(word) => sh_expand::expand_assignment_value(self, word),
            AssignValue::Array(elements) => self.compound_text(elements),
        };
        let value = value.map_err(|e| self.expansion_failed(e))?;
        let traced = (self.is_tracing() && !a.append).then(|| value.clone());
        self.declare_temporary(&name, a.append);
        if name == b"POSIXLY_CORRECT" {
            self.state.options.begin_brief_posix();
        }
        let done =
            if a.append { self.append_scalar(&name, value) } else { self.set_scalar(&name, value) };
        self.state.vars.entry_or_insert(&name).attrs -= Attributes::CONVERTING;
        self.state.vars.touch_env();
        done.map_err(|e| self.assignment_failed(e))?;
        if self.is_tracing() {
            // After `a+=x` the whole value is traced.
            let sum = || self.state.vars.get(&name).and_then(ShellVar::text).unwrap_or_default();
            let value = value_quote(&traced.unwrap_or_else(sum));
            self.trace_text(&[&a.name, &b"="[..], &value].concat());
        }
        Ok(())
    }

    /// Declares a variable in the innermost scope, which hides the existing one. With `append` it
    /// begins with the old value and the attributes that convert values.
    fn declare_temporary(&mut self, name: &[u8], append: bool) {
        let level = self.state.vars.scope_level();
        let old = self.state.vars.get(name).cloned();
        let v = self.state.vars.declare_var(name, level);
        // If the shell computes the variable (`RANDOM`), the command still sees the assigned value.
        if let Some(old) = old.filter(|_| append) {
            // Appending follows the old variable's attributes (`-i`, `-u` and such); the caller
            // removes them afterwards.
            v.attrs |= old.attrs & Attributes::CONVERTING;
            v.slot = old.text().map_or(VarSlot::Unset, VarSlot::Scalar);
        }
        v.attrs |= Attributes::EXPORT;
        v.temporary = Some(TemporaryVar::default());
    }

    /// Prints the trace of a command after those of its assignments. The assigned values are hidden
    /// meanwhile, because `PS4` must not see them.
    pub(super) fn trace_behind(&mut self, argv: &[Str], scoped: bool) {
        if !self.is_tracing() {
            return;
        }
        if !scoped {
            return self.trace_command(argv);
        }
        let vars = self.state.vars.lift_scope();
        self.trace_command(argv);
        self.state.vars.put_scope(ScopeKind::Temporary, vars);
    }

    /// Leaves a scope, and performs the side effects of the variables whose values change by that.
    pub(crate) fn pop_scope(&mut self) {
        let mut changed = Vec::new();
        let options = self.state.vars.pop_scope(|name, outliving| {
            if outliving.is_some() || is_special(&name) {
                changed.push((name, outliving));
            }
        });
        for (name, outliving) in changed {
            match outliving {
                Some(var) => self.hand_out(&name, var),
                // After `local OPTIND`, `getopts` starts again at the outer value, as after any
                // assignment to `OPTIND`.
                None => self.after_set(&name),
            }
        }
        if let Some(o) = options {
            let (set, _) = o.to_bits();
            let (_, shopt) = self.state.options.to_bits();
            self.state.options.set_bits(set, shopt);
        }
    }

    /// Runs `f`, which lists variables for a builtin, without the assignments before that builtin.
    pub(crate) fn without_own_scope<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        if self.state.here.own_scope != Some(self.state.vars.scope_level()) {
            return f(self);
        }
        let vars = self.state.vars.lift_scope();
        let result = f(self);
        self.state.vars.put_scope(ScopeKind::Temporary, vars);
        result
    }

    /// Applies an assignment that stood before a builtin to the variable that it hides.
    pub(crate) fn promote_variable(&mut self, name: &[u8]) {
        let Some(var) = self.state.vars.get(name) else { return };
        if self.state.vars.scope_kind(var.level) != Some(ScopeKind::Temporary) {
            return;
        }
        let var = var.clone();
        self.state.vars.reveal_hidden(name, var.level);
        self.merge_variable(name, var);
    }

    /// Sets the visible variable of a name to the value of `var`, and adds the attributes of `var`
    /// to it.
    fn merge_variable(&mut self, name: &[u8], var: ShellVar) {
        match var.slot {
            VarSlot::Indexed(_) | VarSlot::Assoc(_) => {
                self.state.vars.entry_or_insert(name).slot = var.slot
            }
            // Assigning to an integer evaluates arithmetic; if that fails, the old value stays.
            _ => {
                if let Some(text) = var.text() {
                    let _ = self.put_scalar(name, text);
                }
            }
        }
        let target = self.state.vars.entry_or_insert(name);
        target.attrs |= var.attrs;
        self.state.vars.touch_env();
        self.after_set(name);
    }

    /// Passes a variable that outlives the scope just left to the enclosing scope, and merges it
    /// with a variable of that scope if there is one. When that scope is left, the variable is
    /// passed on, up to the global scope.
    fn hand_out(&mut self, name: &[u8], var: ShellVar) {
        let level = self.state.vars.scope_level();
        let had = self.state.vars.get(name).is_some_and(|v| v.level == level && v.is_local());
        self.state.vars.declare_var(name, level);
        self.merge_variable(name, var);
        self.state.vars.entry_or_insert(name).temporary =
            (level > 0).then_some(TemporaryVar { local: had, outlives: true });
    }
}
