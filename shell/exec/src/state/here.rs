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
    /// The condition of `if` or `while`, or an operand of `&&`, `||` or `!`: `set -e` and the ERR
    /// trap do not act.
    Condition,
    /// The body of a loop.
    Loop,
    /// A function's body, which cannot leave loops around the call.
    Function,
    /// The commands of a separate text. Traces show how deeply it is nested.
    Text,
    /// The action of a trap. `status` is `$?` when the action began; `trap` is `None` for a signal,
    /// whose action may run within itself.
    Action { trap: Option<Trap>, status: i32 },
    /// The action of the EXIT trap.
    ExitAction,
    /// An expression that is a command or an operand of one. Its warnings name that command, for
    /// example `((: `.
    Expression(&'static [u8]),
    /// A builtin; the assignments before it were made in `scope`.
    Builtin { scope: u32 },
    /// `command` before a builtin: a syntax error in a text that the builtin runs does not end a
    /// POSIX shell. With `scoped`, the builtin treats the scope of the assignments before it like
    /// any other.
    CommandBuiltin { scoped: bool },
    /// The word after a redirection operator; `<>` opens for reading and writing.
    Redirection { both_ways: bool },
    /// A subshell of any kind; it is entered before the contexts below.
    Subshell,
    /// `$( )` and process substitutions, entered after [`CommandContext::Subshell`]. `action` says
    /// whether a trap action is around them.
    Substitution { action: bool },
    /// `$( )` that `exit` can leave. `calls` is the number of active calls at which its EXIT trap
    /// runs, after its redirections are undone.
    Captured { calls: usize },
    /// A subshell with commands of its own, which cannot leave a loop around it.
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
    /// After the redirections are undone, when the number of active calls is `calls`.
    Late { calls: usize },
    /// The trap does not run.
    Never,
}

/// The combined effect of the contexts around a command. A process that is spawned for the command
/// receives all fields that are not skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContextSummary {
    /// Whether `set -e` is suspended.
    pub condition: bool,
    /// The number of loops around the command within this function.
    pub loops: u32,
    /// The number of nested texts around the command, which the repeated first character of `PS4`
    /// shows.
    pub depth: u32,
    /// The same number for the action of the EXIT trap.
    pub exit_depth: u32,
    /// Whether a trap action runs, in this shell or around this substitution; `BASH_COMMAND` then
    /// stays unchanged.
    pub action: bool,
    /// The value of `$?` when the running trap action began.
    #[serde(skip)]
    pub trap_status: Option<i32>,
    pub exit_trap: ExitTrap,
    /// Whether a command substitution is around the command. The shell then prints no message about
    /// a child that a signal ended.
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

    /// Returns the effect for separate commands, to which assignments before the builtin that runs
    /// them have no special meaning.
    fn with_commands(self) -> ContextSummary {
        ContextSummary { own_scope: None, ..self }
    }

    /// Returns the state that a subshell begins with. The code names every field, so that a new
    /// field does not compile until this code handles it.
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
    /// Returns the state that a process spawned for a command begins with, apart from the skipped
    /// fields.
    #[must_use]
    pub fn shipped(self) -> ContextSummary {
        let exit_trap = match self.exit_trap {
            // The new process does not undo the redirections before the trap.
            ExitTrap::Here | ExitTrap::Late { .. } => ExitTrap::Here,
            ExitTrap::Never => ExitTrap::Never,
        };
        ContextSummary { exit_trap, ..self }
    }
}

impl Shell<'_> {
    /// Runs `f` within a context.
    pub(crate) fn run_within<T>(
        &mut self,
        context: CommandContext,
        f: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.state.here;
        self.state.here = outer.within_context(context);
        let result = f(self);
        // A subshell may have replaced the whole state in between, but has always restored it.
        self.state.here = outer;
        result
    }

    /// Enters a context for the rest of this subshell.
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
    fn a_subshell_leaves_the_trap_action_but_a_substitution_does_not() {
        let here = ContextSummary::default()
            .within_context(CommandContext::Text)
            .within_context(action(3));
        let inner = here.within_context(CommandContext::Subshell);
        assert_eq!((inner.action, inner.trap_status, inner.exit_depth), (false, None, 2));
        let inner = inner.within_context(CommandContext::Substitution { action: here.action });
        assert_eq!((inner.action, inner.depth, inner.exit_depth), (true, 2, 2));
    }
    #[test]
    fn commands_of_a_builtin_are_not_in_the_scope_of_its_assignments() {
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
    fn an_action_runs_within_itself_only_for_exit_in_a_subshell() {
        let here = ContextSummary::default().within_context(action(0));
        let here =
            here.within_context(CommandContext::Action { trap: Some(Trap::Exit), status: 0 });
        assert!(here.running.has(Trap::Exit) && here.running.has(Trap::Err));
        let inner = here.within_context(CommandContext::Subshell);
        assert!(!inner.running.has(Trap::Exit) && inner.running.has(Trap::Err));
    }
}
