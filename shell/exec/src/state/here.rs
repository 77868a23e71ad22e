//! The position of the shell within a script: how the constructs around a command change the way it
//! runs.
//!
//! Each construct is a [`CommandContext`], and [`ContextSummary::within_context`] is the one place
//! that defines its effect. Code enters a context with [`Shell::run_within`], which restores the
//! previous state however the code is left; a subshell enters one permanently, on its own copy. No
//! other code writes these fields, and each of them is at most one word, so that both operations
//! are very cheap.

use serde::{Deserialize, Serialize};

use super::traps::{Trap, TrapSet};
use crate::Shell;

/// A construct around commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandContext {
    /// The condition of `if` or `while`, or an operand of `&&`, `||` or `!`: `set -e` and the ERR trap do not act.
    Condition,
    /// The body of a loop.
    Loop,
    /// A function's body: the loops around the call are out of its reach.
    Function,
    /// Commands from a text of their own, whose depth traces show.
    Text,
    /// The action of a trap that found `$?` as this; `trap`: one that does not run within itself.
    Action { trap: Option<Trap>, status: i32 },
    /// The action of the EXIT trap.
    ExitAction,
    /// An expression that is a command or an operand of one. Its warnings name that command, for example `((: `.
    Expression(&'static [u8]),
    /// A builtin with assignments before it, which were made in that scope.
    Builtin { scope: u32 },
    /// `command` before a builtin: no syntax error in a text within it ends a POSIX shell. `scoped`: the builtin treats the
    /// assignments before it as a scope like any other.
    CommandBuiltin { scoped: bool },
    /// The word after a redirection operator; `<>` opens for reading and writing.
    Redirection { both_ways: bool },
    /// The operands within `$( )`, after which the rest is as in a subshell.
    Subshell,
    /// `$( )` and process substitutions, which begin in a subshell; `action`: in a subshell of the trap action around them.
    Substitution { action: bool },
    /// `$( )` that `exit` can leave: with so many active calls, its redirections are undone before the EXIT trap runs.
    Captured { calls: usize },
    /// A subshell of separate commands, which cannot leave a loop outside.
    Detached,
    /// A stage that is a compound command, whose EXIT trap bash does not run.
    SilentStage,
    /// A subshell that consists of one command.
    Alone,
}

/// The time at which a subshell's EXIT trap runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ExitTrap {
    /// Within the current redirections.
    #[default]
    Here,
    /// After the redirections are undone, with so many active calls.
    Late { calls: usize },
    /// The trap does not run.
    Never,
}

/// The combined effect of the contexts around a command. A process that is spawned for the command receives it, except for the
/// skipped fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContextSummary {
    /// Whether `set -e` is suspended.
    pub condition: bool,
    /// The number of loops around the command within this function.
    pub loops: u32,
    /// The number of texts around it, for `PS4`'s first character.
    pub depth: u32,
    /// The number of texts around the EXIT trap.
    pub exit_depth: u32,
    /// Whether a trap action runs, in this process or around the substitution that this is: `BASH_COMMAND` stays unchanged.
    pub action: bool,
    /// The value of `$?` when the running trap action began.
    #[serde(skip)]
    pub trap_status: Option<i32>,
    pub exit_trap: ExitTrap,
    /// Whether a command substitution is around the command: it does not say which signal ended a child.
    pub captured: bool,
    /// The name of the command that evaluates an expression, for warnings; empty in a word.
    #[serde(skip)]
    pub evaluator: &'static [u8],
    /// Whether `command` runs a builtin.
    #[serde(skip)]
    pub command_builtin: bool,
    /// Whether the word being expanded names a file for `<>`.
    #[serde(skip)]
    pub both_ways: bool,
    /// The scope of the assignments before the running builtin.
    #[serde(skip)]
    pub own_scope: Option<u32>,
    /// The traps whose actions are running: none of them runs within itself.
    #[serde(skip)]
    pub running: TrapSet,
    /// Whether this subshell consists of the next command alone.
    pub alone: bool,
}

impl ContextSummary {
    /// Returns the effect within one more context.
    #[must_use]
    pub fn within_context(self, context: CommandContext) -> ContextSummary {
        match context {
            CommandContext::Condition => ContextSummary { condition: true, ..self },
            CommandContext::Loop => ContextSummary { loops: self.loops + 1, ..self },
            CommandContext::Function => ContextSummary { loops: 0, ..self.with_commands() },
            CommandContext::Detached => ContextSummary { loops: 0, ..self },
            CommandContext::Text => {
                ContextSummary { depth: self.depth + 1, ..self.with_commands() }
            }
            CommandContext::Action { trap, status } => ContextSummary {
                condition: false,
                action: true,
                trap_status: Some(status),
                running: trap.map_or(self.running, |trap| self.running.with_trap(trap)),
                ..self
            },
            CommandContext::ExitAction => {
                ContextSummary { depth: self.exit_depth, ..self.with_commands() }
            }
            CommandContext::Expression(evaluator) => ContextSummary { evaluator, ..self },
            CommandContext::Builtin { scope } => ContextSummary { own_scope: Some(scope), ..self },
            CommandContext::CommandBuiltin { scoped } => ContextSummary {
                command_builtin: true,
                own_scope: self.own_scope.filter(|_| !scoped),
                ..self
            },
            CommandContext::Redirection { both_ways } => ContextSummary { both_ways, ..self },
            CommandContext::Subshell => self.in_subshell(),
            CommandContext::Substitution { action } => {
                let depth = self.depth + 1;
                ContextSummary { depth, exit_depth: depth, action, ..self }
            }
            CommandContext::Captured { calls } => {
                ContextSummary { exit_trap: ExitTrap::Late { calls }, captured: true, ..self }
            }
            CommandContext::SilentStage => ContextSummary { exit_trap: ExitTrap::Never, ..self },
            CommandContext::Alone => ContextSummary { alone: true, ..self },
        }
    }

    /// Returns the effect for separate commands, which ignore assignments before the builtin around them.
    fn with_commands(self) -> ContextSummary {
        ContextSummary { own_scope: None, ..self }
    }

    /// Returns the state that a subshell begins with. The code names every field so that a new field does not compile before it
    /// is decided upon.
    fn in_subshell(self) -> ContextSummary {
        let ContextSummary {
            condition,
            loops,
            depth,
            exit_depth: _,
            action: _,
            trap_status: _,
            exit_trap: _,
            captured,
            evaluator: _,
            command_builtin,
            both_ways: _,
            own_scope: _,
            running,
            alone: _,
        } = self;
        ContextSummary {
            condition,
            // `break` in a substitution leaves the loop around it.
            loops,
            depth,
            exit_depth: depth + 1,
            action: false,
            trap_status: None,
            exit_trap: ExitTrap::Here,
            captured,
            evaluator: b"",
            command_builtin,
            both_ways: false,
            own_scope: None,
            running: running.without_trap(Trap::Exit),
            alone: false,
        }
    }
}

impl ContextSummary {
    /// Returns the state that a process spawned for a command begins with, apart from the skipped fields.
    #[must_use]
    pub fn shipped(self) -> ContextSummary {
        let exit_trap = match self.exit_trap {
            // The redirections that the trap would run outside of stay here.
            ExitTrap::Here | ExitTrap::Late { .. } => ExitTrap::Here,
            ExitTrap::Never => ExitTrap::Never,
        };
        ContextSummary { exit_trap, ..self }
    }
}

impl Shell<'_> {
    /// Runs `f` within that context.
    pub(crate) fn run_within<T>(
        &mut self,
        context: CommandContext,
        f: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.state.here;
        self.state.here = outer.within_context(context);
        let result = f(self);
        // A subshell's state may have replaced this one in between; it is always restored.
        self.state.here = outer;
        result
    }

    /// Enters that context for the rest of this subshell.
    pub(crate) fn enter_context(&mut self, context: CommandContext) {
        self.state.here = self.state.here.within_context(context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(status: i32) -> CommandContext {
        CommandContext::Action { trap: Some(Trap::Err), status }
    }

    #[test]
    fn conditions_reach_into_functions_and_subshells_but_not_into_actions() {
        let here = ContextSummary::default().within_context(CommandContext::Condition);
        assert!(
            here.within_context(CommandContext::Function)
                .within_context(CommandContext::Subshell)
                .condition
        );
        assert!(!here.within_context(action(1)).condition);
    }

    #[test]
    fn loops_end_at_functions() {
        let here = ContextSummary::default()
            .within_context(CommandContext::Loop)
            .within_context(CommandContext::Loop);
        assert_eq!((here.loops, here.within_context(CommandContext::Function).loops), (2, 0));
        assert_eq!(here.within_context(CommandContext::Subshell).loops, 2);
    }

    #[test]
    fn a_subshell_is_out_of_the_action_and_a_substitution_is_not() {
        let here = ContextSummary::default()
            .within_context(CommandContext::Text)
            .within_context(action(3));
        let inner = here.within_context(CommandContext::Subshell);
        assert_eq!((inner.action, inner.trap_status, inner.exit_depth), (false, None, 2));
        let inner = inner.within_context(CommandContext::Substitution { action: here.action });
        assert_eq!((inner.action, inner.depth, inner.exit_depth), (true, 2, 2));
    }
    #[test]
    fn commands_of_a_builtin_have_none_of_its_assignments() {
        let here = ContextSummary::default().within_context(CommandContext::Builtin { scope: 3 });
        assert_eq!(here.own_scope, Some(3));
        assert_eq!(here.within_context(CommandContext::Function).own_scope, None);
        assert_eq!(here.within_context(CommandContext::Text).own_scope, None);
        assert_eq!(
            here.within_context(CommandContext::CommandBuiltin { scoped: false }).own_scope,
            Some(3)
        );
        assert_eq!(
            here.within_context(CommandContext::CommandBuiltin { scoped: true }).own_scope,
            None
        );
    }

    #[test]
    fn an_action_does_not_run_within_itself_but_for_exit_in_a_subshell() {
        let here = ContextSummary::default().within_context(action(0));
        let here =
            here.within_context(CommandContext::Action { trap: Some(Trap::Exit), status: 0 });
        assert!(here.running.has(Trap::Exit) && here.running.has(Trap::Err));
        let inner = here.within_context(CommandContext::Subshell);
        assert!(!inner.running.has(Trap::Exit) && inner.running.has(Trap::Err));
    }
}
