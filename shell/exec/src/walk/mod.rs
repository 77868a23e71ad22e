//! Execution of the tree. The main match is here; each construct has a file of its own.
//!
//! | file | contents |
//! |---|---|
//! | `simple` | simple commands: words, assignments, redirections, then running the command |
//! | `before` | assignments before a command and their scope |
//! | `pipeline` | pipelines, `!`, `time`, PIPESTATUS, `set -e` |
//! | `stages` | stages of a real pipeline: which one runs in which process |
//! | `bounded` | code that may run to its end before its reader starts |
//! | `loops` | `while`, `until`, `for`, `for ((`, `select`, `break`/`continue` |
//! | `case` | `case` |
//! | `cond` | `[[ ]]` |
//! | `subshell` | `( )` and all other code that runs on a copy of the state |
//! | `substitute` | `$( )` |
//! | `background` | `&` and `coproc` |
//! | `shipped` | code that a process was spawned for |
//!
//! Invariant: `set -e`, the ERR trap and PIPESTATUS are handled in one place, where a pipeline
//! ends; `here.condition` says whether a condition is being evaluated.

mod background;
mod before;
mod bounded;
mod case;
mod cond;
mod loops;
mod pipeline;
mod shipped;
mod simple;
mod stages;
mod subshell;
mod substitute;
mod time;

use sh_expand::Attributes;
use sh_syntax::ast::{AndOr, Command, CommandKind, CommandList, Connector, If};

use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::FunctionDef;
use crate::state::here::CommandContext;
use crate::state::options::SetOpt;
use simple::RedirectReach;

pub(crate) use background::{DetachedCode, JobText, StartResult};
pub(crate) use before::SCOPED;
pub(crate) use cond::LastRegex;
pub use simple::DeclarationOperand;

/// The end of a command that does not unwind.
#[derive(Clone, Copy, Debug)]
struct CommandEnd {
    status: i32,
    /// Whether the command began; false for a compound command whose redirections failed.
    begun: bool,
}

impl CommandEnd {
    fn begun_with(status: i32) -> CommandEnd {
        CommandEnd { status, begun: true }
    }
}

impl Shell<'_> {
    /// Runs a list and returns the status of its last command.
    pub fn run_list(&mut self, list: &CommandList) -> Flow {
        let mut status = 0;
        for item in &list.items {
            status = if item.background {
                self.run_background(&item.and_or)?
            } else {
                self.and_or(&item.and_or)?
            };
            self.state.status = status;
        }
        Ok(status)
    }

    /// Runs `f` while `set -e` and the ERR trap are suspended.
    pub(crate) fn ignoring_errexit(&mut self, f: impl FnOnce(&mut Self) -> Flow) -> Flow {
        self.run_within(CommandContext::Condition, f)
    }

    pub(crate) fn and_or(&mut self, a: &AndOr) -> Flow {
        let Some((last, before)) = a.rest.split_last() else { return self.run_pipeline(&a.first) };
        let mut status = self.ignoring_errexit(|s| s.run_pipeline(&a.first))?;
        let wanted = |c: Connector, status: i32| match c {
            Connector::And => status == 0,
            Connector::Or => status != 0,
        };
        for (connector, p) in before {
            if wanted(*connector, status) {
                status = self.ignoring_errexit(|s| s.run_pipeline(p))?;
            }
        }
        if wanted(last.0, status) { self.run_pipeline(&last.1) } else { Ok(status) }
    }

    /// Runs one command with its redirections.
    pub(crate) fn run_command(&mut self, c: &Command) -> Flow {
        self.command_of(c, false, RedirectReach::Command).map(|ran| ran.status)
    }

    /// Runs the command of a pipeline, which `!` negates if `negated`. `reach` applies to a simple
    /// command.
    fn command_of(
        &mut self,
        c: &Command,
        negated: bool,
        reach: RedirectReach,
    ) -> Result<CommandEnd, Unwind> {
        if let CommandKind::Simple(s) = &c.kind {
            return self.run_simple(s, c, reach).map(CommandEnd::begun_with);
        }
        self.check_budgets()?;
        self.check_depth()?;
        if self.state.options.has_set(SetOpt::NoExec) && !self.state.options.is_interactive() {
            return Ok(CommandEnd::begun_with(0));
        }
        if let CommandKind::Subshell(list) = &c.kind {
            self.note_subshell(c);
            return self.run_subshell(list, c, negated);
        }
        self.ending_process_subs(|s| {
            if c.redirects.is_empty() {
                s.run_compound(c).map(CommandEnd::begun_with)
            } else {
                s.redirected_compound(c, negated)
            }
        })
    }

    /// Runs a compound command with redirections.
    fn redirected_compound(&mut self, c: &Command, negated: bool) -> Result<CommandEnd, Unwind> {
        // Messages show the line of the last simple command, as in bash.
        match self.apply_redirects(&c.redirects) {
            Ok(saved) => {
                let r = self.run_compound(c);
                self.restore_redirects(saved);
                r.map(CommandEnd::begun_with)
            }
            Err(Some(unwind)) => Err(unwind),
            Err(None) => self.not_begun(c, negated),
        }
    }

    /// Ends a compound command whose redirections failed. No command inside has run, so the
    /// compound command itself is what failed.
    fn not_begun(&mut self, c: &Command, negated: bool) -> Result<CommandEnd, Unwind> {
        self.set_status(1);
        if !negated {
            self.failed_unless_checked(c)?;
        }
        Ok(CommandEnd { status: 1, begun: false })
    }

    fn run_compound(&mut self, c: &Command) -> Flow {
        match &c.kind {
            CommandKind::Simple(s) => self.run_simple(s, c, RedirectReach::Command),
            CommandKind::Brace(list) => self.run_list(list),
            CommandKind::Subshell(list) => self.run_subshell(list, c, false).map(|end| end.status),
            CommandKind::If(i) => self.if_command(i),
            CommandKind::While(w) => self.while_command(w),
            CommandKind::For(f) => self.for_command(f, c),
            CommandKind::ArithFor(f) => self.arith_for(f, c),
            CommandKind::Select(f) => self.select_command(f, c),
            CommandKind::Case(k) => self.case_command(k, c),
            CommandKind::Arith(a) => self.arith_command(a, c),
            CommandKind::Cond(e) => self.cond_command(e, c),
            CommandKind::Function(f) => self.define_function(f, c),
            CommandKind::Coproc(k) => self.run_coproc(k, c),
        }
    }

    fn if_command(&mut self, i: &If) -> Flow {
        for (condition, body) in &i.branches {
            if self.ignoring_errexit(|s| s.run_list(condition))? == 0 {
                return self.run_list(body);
            }
        }
        match &i.otherwise {
            Some(body) => self.run_list(body),
            None => Ok(0),
        }
    }

    fn arith_command(&mut self, a: &sh_syntax::ast::ArithText, c: &Command) -> Flow {
        self.state.line = c.line;
        if !self.run_debug_trap(c)? {
            return Ok(0);
        }
        self.budget.expansion_bytes = 0;
        match self.traced_arith(a) {
            Ok(n) => Ok(i32::from(n == 0)),
            Err(e) => self.expression_failed(b"((: ", e),
        }
    }

    /// Evaluates the expression of `(( ))`; `set -x` shows it after its expansions.
    pub(crate) fn traced_arith(
        &mut self,
        a: &sh_syntax::ast::ArithText,
    ) -> Result<i64, sh_expand::ExpandError> {
        if !self.is_tracing() {
            return self.run_within(CommandContext::Expression(b"((: "), |s| {
                sh_expand::arith::eval_arith(s, a)
            });
        }
        let text = if a.word.parts.is_empty() {
            std::rc::Rc::new(a.word.raw.to_vec())
        } else {
            sh_expand::arith::expand_text(self, a)?
        };
        self.trace_text(&[b"(( ", text.as_slice(), b" ))"].concat());
        self.run_within(CommandContext::Expression(b"((: "), |s| {
            sh_expand::arith::eval_text(s, &text)
        })
    }

    fn define_function(
        &mut self,
        f: &std::rc::Rc<sh_syntax::ast::FunctionCommand>,
        c: &Command,
    ) -> Flow {
        self.state.line = c.line;
        // As in bash, a name with quotes is none.
        let is_quoted = f.name.iter().any(|b| matches!(b, b'$' | b'`' | b'\'' | b'"' | b'\\'));
        if is_quoted && !self.state.options.has_set(SetOpt::Posix) {
            self.print_error(&[b"`", &f.name, b"': not a valid identifier"]);
            return Ok(1);
        }
        if self.state.options.has_set(SetOpt::Posix) && !crate::state::assign::is_name(&f.name) {
            self.print_error(&[b"`", &f.name, b"': not a valid identifier"]);
            return if self.state.options.is_interactive() {
                Ok(1)
            } else {
                Err(self.ends_with(2))
            };
        }
        if self
            .state
            .functions
            .get(&*f.name)
            .is_some_and(|d| d.attrs.intersects(Attributes::READONLY))
        {
            self.print_error(&[&f.name, b": readonly function"]);
            return Ok(1);
        }
        if self.state.options.has_set(SetOpt::Posix) && crate::builtin::is_special(&f.name) {
            self.print_error(&[b"`", &f.name, b"': is a special builtin"]);
            return if self.state.options.is_interactive() {
                Ok(1)
            } else {
                Err(self.ends_with(2))
            };
        }
        let source = self.state.calls.current_source().cloned();
        let source = source.unwrap_or_else(|| std::rc::Rc::new(b"environment".to_vec()));
        let old = self.state.functions.get(&*f.name).map(|old| old.attrs).unwrap_or_default();
        let mut attrs = old - Attributes::READONLY;
        attrs.set(
            Attributes::EXPORT,
            old.intersects(Attributes::EXPORT) || self.state.options.has_set(SetOpt::AllExport),
        );
        let def = FunctionDef { function: f.clone().into(), source, line: c.line, attrs };
        if attrs.intersects(Attributes::EXPORT) {
            self.state.vars.touch_env();
        }
        let functions = std::rc::Rc::make_mut(&mut self.state.functions);
        functions.insert(std::rc::Rc::from(&*f.name), def);
        Ok(0)
    }

    /// Sets `$?`.
    #[inline]
    pub(crate) fn set_status(&mut self, status: i32) {
        self.state.status = status;
    }
}
