//! Pipelines: `!`, `time`, PIPESTATUS, and the consequences of a failure (`set -e`, ERR trap).

use std::rc::Rc;

use sh_syntax::ast::{Command, CommandKind, Pipeline};

use super::CommandEnd;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::PipeStatus;
use crate::state::here::CommandContext;
use crate::state::options::SetOpt;
use crate::state::traps::Trap;
use crate::walk::simple::RedirectReach;

/// Returns whether a failure of this command counts for `set -e`. For compound commands, the
/// failure of the command inside them has already counted.
fn fails_by_itself(c: &Command) -> bool {
    matches!(
        c.kind,
        CommandKind::Simple(_)
            | CommandKind::Subshell(_)
            | CommandKind::Arith(_)
            | CommandKind::Cond(_)
            | CommandKind::Coproc(_)
    )
}

/// The result of a pipeline's stages.
struct RanStages {
    status: i32,
    /// Whether the command began; false for a compound command whose redirections failed.
    begun: bool,
    /// The statuses of the stages, if there are several.
    statuses: Option<Rc<Vec<i32>>>,
}

/// Returns the line of a pipeline's first command.
fn first_line(p: &Pipeline) -> u32 {
    p.stages.first().map_or(0, |s| s.command.line)
}

impl Shell<'_> {
    pub(crate) fn run_pipeline(&mut self, p: &Pipeline) -> Flow {
        if p.timed.is_some() {
            return self.run_timed(p);
        }
        self.run_untimed(p, RedirectReach::Command)
    }

    /// Runs a pipeline without `time`. `reach` applies if the pipeline is one simple command.
    pub(crate) fn run_untimed(&mut self, p: &Pipeline, reach: RedirectReach) -> Flow {
        if self.state.options.has_set(SetOpt::NoExec) && !self.state.options.is_interactive() {
            return Ok(0);
        }
        // As in bash, the trap and the option count that were set when the pipeline began: `! { set
        // -e; ... }` does exit, and a function that sets an ERR trap and fails does not run it.
        let trapped = self.state.traps.sees_trap(Trap::Err);
        // If a process runs only a simple command or a subshell, its failure has no consequences
        // here.
        let alone = self.state.here.alone;
        let ignoring = p.negated && self.state.options.has_set(SetOpt::ErrExit);
        let ran = if ignoring {
            self.run_within(CommandContext::Condition, |s| s.stages_of(p, reach))
        } else {
            self.stages_of(p, reach)
        }?;
        if p.stages.len() > 1 {
            self.note_last_subshell(p, ran.status, trapped)?;
            if let Some(statuses) = ran.statuses {
                self.state.pipe_status = PipeStatus::Many(statuses);
            }
        }
        if p.negated {
            // bash does not negate the status of a compound command whose redirections failed.
            let status = if ran.begun { i32::from(ran.status == 0) } else { ran.status };
            self.state.status = status;
            return Ok(status);
        }
        self.state.status = ran.status;
        if ran.status != 0 {
            let checked = match p.stages.as_slice() {
                [stage] if alone => {
                    matches!(stage.command.kind, CommandKind::Arith(_) | CommandKind::Cond(_))
                }
                [stage] => fails_by_itself(&stage.command),
                stages => !stages.is_empty(),
            };
            if checked {
                self.handle_failure(ran.status, first_line(p), trapped)?;
            }
        }
        Ok(ran.status)
    }

    /// Runs the stages and returns the pipeline's status, and all statuses if there are several
    /// stages.
    #[inline]
    fn stages_of(&mut self, p: &Pipeline, reach: RedirectReach) -> Result<RanStages, Unwind> {
        let [stage] = p.stages.as_slice() else {
            let statuses = self.run_stages(&p.stages)?;
            let last = if self.state.options.has_set(SetOpt::PipeFail) {
                statuses.iter().rev().find(|s| **s != 0)
            } else {
                statuses.last()
            };
            let status = last.copied().unwrap_or(0);
            return Ok(RanStages { status, begun: true, statuses: Some(Rc::new(statuses)) });
        };
        let r = self.one_stage(&stage.command, p.negated, reach);
        if p.negated && matches!(r, Err(Unwind::Break(_) | Unwind::Continue(_))) {
            // `! break` fails.
            self.state.status = i32::from(self.state.status == 0);
        }
        let CommandEnd { status, begun } = r?;
        Ok(RanStages { status, begun, statuses: None })
    }

    /// Handles the failure of a subshell at the end of a pipeline. In bash it fails twice: by
    /// itself, then as the pipeline.
    fn note_last_subshell(
        &mut self,
        p: &Pipeline,
        status: i32,
        trapped: bool,
    ) -> Result<(), Unwind> {
        let is_subshell = |c: &Command| matches!(c.kind, CommandKind::Subshell(_));
        if status == 0 || !p.stages.last().is_some_and(|s| is_subshell(&s.command)) {
            return Ok(());
        }
        self.state.status = status;
        if !p.negated {
            self.handle_failure(status, first_line(p), trapped)
        } else if !self.state.here.condition && trapped {
            self.run_err_trap(first_line(p))
        } else {
            Ok(())
        }
    }

    fn one_stage(
        &mut self,
        c: &Command,
        negated: bool,
        reach: RedirectReach,
    ) -> Result<CommandEnd, Unwind> {
        let ran = match self.command_of(c, negated, reach) {
            Err(unwind @ (Unwind::Break(_) | Unwind::Continue(_))) => {
                self.state.pipe_status = PipeStatus::One(0);
                return Err(unwind);
            }
            r => r?,
        };
        let forked = matches!(c.kind, CommandKind::Subshell(_));
        if fails_by_itself(c) && (forked || ran.begun) {
            self.state.pipe_status = PipeStatus::One(ran.status);
        }
        Ok(ran)
    }

    /// Handles the failure of a compound command's redirections.
    pub(crate) fn failed_unless_checked(&mut self, c: &Command) -> Result<(), Unwind> {
        if fails_by_itself(c) {
            Ok(())
        } else {
            self.handle_failure(1, c.line, self.state.traps.sees_trap(Trap::Err))
        }
    }

    /// Runs the body of a function, which fails by itself if it is a subshell, `((` or `[[`.
    pub(crate) fn body_command(&mut self, c: &Command) -> Flow {
        self.run_counting(c, fails_by_itself(c), Self::run_command)
    }

    /// Runs a stage in this process, on a copy of the state. `((` and `[[` fail by themselves.
    pub(crate) fn stage_command(&mut self, c: &Command) -> Flow {
        let counts = matches!(c.kind, CommandKind::Arith(_) | CommandKind::Cond(_));
        self.run_counting(c, counts, Self::run_command)
    }

    /// Runs the last stage with `lastpipe`, which fails like a separate pipeline. A subshell's
    /// failure is handled with the pipeline's.
    pub(crate) fn last_stage(&mut self, c: &Command) -> Flow {
        let counts = fails_by_itself(c) && !matches!(c.kind, CommandKind::Subshell(_));
        self.run_counting(c, counts, |s, c| {
            s.one_stage(c, false, RedirectReach::Command).map(|ran| ran.status)
        })
    }

    /// Runs a command; if its failure `counts`, the ERR trap that was set before sees it.
    fn run_counting(
        &mut self,
        c: &Command,
        counts: bool,
        run: impl FnOnce(&mut Self, &Command) -> Flow,
    ) -> Flow {
        let trapped = self.state.traps.sees_trap(Trap::Err);
        let status = run(self, c)?;
        if status != 0 && counts {
            self.state.status = status;
            self.handle_failure(status, c.line, trapped)?;
        }
        Ok(status)
    }

    /// Handles a failed command, except in a condition: runs the ERR trap if it was set before,
    /// then applies `set -e`.
    fn handle_failure(&mut self, status: i32, line: u32, trapped: bool) -> Result<(), Unwind> {
        if self.state.here.condition {
            return Ok(());
        }
        if trapped {
            self.run_err_trap(line)?;
        }
        if self.state.options.has_set(SetOpt::ErrExit) {
            return Err(self.exit_on_error(status));
        }
        Ok(())
    }
}
