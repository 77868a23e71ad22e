//! Where in a script the shell is: what the constructs around a command change about how it runs.
//!
//! Each construct is a [`Context`], and [`Here::within`] is the one place that says what it changes. Code enters one by
//! [`Shell::within`], which puts back what was before whatever way the code is left; a subshell enters one for good, on
//! its own copy. Nothing else writes these fields, and none is more than a word, so that both cost next to nothing.

use crate::Shell;

/// A construct around commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// What `if`, `while`, `&&`, `||` and `!` look at: `set -e` and the ERR trap do not act.
    Condition,
    /// The body of a loop.
    Loop,
    /// A function's body: the loops around the call are out of its reach.
    Function,
    /// The text of `eval`, `.` or a trap: traces show how deep it is.
    Text,
    /// The action of a trap that met `$?` as this.
    Action { status: i32 },
    /// The action of the EXIT trap.
    ExitAction,
    /// An expression that is a command or an operand of one, whose warnings name it: `((: `.
    Expression(&'static [u8]),
    /// `command` before a builtin: no syntax error in a text within ends a POSIX shell.
    CommandBuiltin,
    /// The word behind a redirection operator; `<>` opens both ways.
    Redirection { both_ways: bool },
    /// The operands within `$( )`, from where the rest is as in a subshell.
    Subshell,
    /// `$( )` and process substitutions begin in a subshell; `action`: in that of a trap around them.
    Substitution { action: bool },
    /// `$( )` that can be left by `exit`: with so many calls under way its redirections go before the EXIT trap runs.
    Captured { calls: usize },
    /// A subshell of commands of its own: no loop outside is in its reach.
    Detached,
    /// A stage that is a compound command, at whose end bash runs no EXIT trap.
    SilentStage,
}

/// When a subshell's EXIT trap runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExitTrap {
    /// Within the redirections in force.
    #[default]
    Here,
    /// Out of them, with so many calls under way.
    Late { calls: usize },
    /// Never.
    Never,
}

/// What the contexts around a command come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Here {
    /// `set -e` does not act.
    pub condition: bool,
    /// Loops around the command within this function.
    pub loops: u32,
    /// Texts around it, for `PS4`'s first character.
    pub depth: u32,
    /// The same for the EXIT trap.
    pub exit_depth: u32,
    /// A trap action runs, in this process or around the substitution that this is: `BASH_COMMAND` stays.
    pub action: bool,
    /// `$?` when the running trap action began.
    pub trap_status: Option<i32>,
    pub exit_trap: ExitTrap,
    /// How warnings name the command that evaluates an expression; empty in a word.
    pub evaluator: &'static [u8],
    /// `command` runs a builtin.
    pub command_builtin: bool,
    /// The word that is expanded names a file for `<>`.
    pub both_ways: bool,
}

impl Here {
    /// What it comes to within that context.
    #[must_use]
    pub fn within(self, context: Context) -> Here {
        match context {
            Context::Condition => Here { condition: true, ..self },
            Context::Loop => Here { loops: self.loops + 1, ..self },
            Context::Function | Context::Detached => Here { loops: 0, ..self },
            Context::Text => Here { depth: self.depth + 1, ..self },
            Context::Action { status } => {
                Here { condition: false, action: true, trap_status: Some(status), ..self }
            }
            Context::ExitAction => Here { depth: self.exit_depth, ..self },
            Context::Expression(evaluator) => Here { evaluator, ..self },
            Context::CommandBuiltin => Here { command_builtin: true, ..self },
            Context::Redirection { both_ways } => Here { both_ways, ..self },
            Context::Subshell => Here {
                exit_depth: self.depth + 1,
                action: false,
                trap_status: None,
                exit_trap: ExitTrap::Here,
                evaluator: b"",
                both_ways: false,
                ..self
            },
            Context::Substitution { action } => {
                let depth = self.depth + 1;
                Here { depth, exit_depth: depth, action, ..self }
            }
            Context::Captured { calls } => Here { exit_trap: ExitTrap::Late { calls }, ..self },
            Context::SilentStage => Here { exit_trap: ExitTrap::Never, ..self },
        }
    }
}

impl Shell<'_> {
    /// Runs `f` in that context.
    pub(crate) fn within<T>(&mut self, context: Context, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.state.here;
        self.state.here = outer.within(context);
        let result = f(self);
        // A subshell's state may have taken this one's place in between; it always gives it back.
        self.state.here = outer;
        result
    }

    /// The rest of this subshell is in that context.
    pub(crate) fn enter(&mut self, context: Context) {
        self.state.here = self.state.here.within(context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_reach_into_functions_and_subshells_but_not_into_actions() {
        let here = Here::default().within(Context::Condition);
        assert!(here.within(Context::Function).within(Context::Subshell).condition);
        assert!(!here.within(Context::Action { status: 1 }).condition);
    }

    #[test]
    fn loops_end_at_functions() {
        let here = Here::default().within(Context::Loop).within(Context::Loop);
        assert_eq!((here.loops, here.within(Context::Function).loops), (2, 0));
        assert_eq!(here.within(Context::Subshell).loops, 2);
    }

    #[test]
    fn a_subshell_is_out_of_the_action_and_a_substitution_is_not() {
        let here = Here::default().within(Context::Text).within(Context::Action { status: 3 });
        let inner = here.within(Context::Subshell);
        assert_eq!((inner.action, inner.trap_status, inner.exit_depth), (false, None, 2));
        let inner = inner.within(Context::Substitution { action: here.action });
        assert_eq!((inner.action, inner.depth, inner.exit_depth), (true, 2, 2));
    }
}
