//! Pipelines: `!`, `time`, PIPESTATUS, and what follows a failure (`set -e`, ERR trap).

use std::rc::Rc;

use sh_syntax::ast::{Command, CommandKind, Pipeline};

use super::Ran;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::PipeStatus;
use crate::state::here::Context;
use crate::state::options::SetOpt;

/// Whether a failure of this command is one that `set -e` looks at; compound commands
/// had their say when the command inside of them failed.
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

impl Shell<'_> {
    pub(crate) fn pipeline(&mut self, p: &Pipeline) -> Flow {
        if p.timed.is_some() {
            return self.timed(p);
        }
        self.untimed(p)
    }

    pub(crate) fn untimed(&mut self, p: &Pipeline) -> Flow {
        if self.state.options.has(SetOpt::NoExec) && !self.state.options.interactive {
            return Ok(0);
        }
        // bash looks at these when the pipeline begins: `! { set -e; ... }` does exit, and a
        // function that sets an ERR trap and fails does not run it.
        let trapped = self.state.traps.has_err;
        // Of a simple command or a subshell alone in its process the shell takes no notice that it
        // fails.
        let alone = self.state.here.alone;
        let ignoring = p.negated && self.state.options.has(SetOpt::ErrExit);
        let status = match p.stages.as_slice() {
            [] => 0,
            [stage] => {
                let r = match ignoring {
                    true => self.within(Context::Condition, |s| s.one_stage(&stage.command, true)),
                    false => self.one_stage(&stage.command, p.negated),
                };
                if p.negated && matches!(r, Err(Unwind::Break(_) | Unwind::Continue(_))) {
                    // `! break` fails.
                    self.state.status = i32::from(self.state.status == 0);
                }
                let Ran { status, begun } = r?;
                if p.negated && !begun {
                    // Of a compound command whose redirections failed bash does not negate that.
                    self.state.status = status;
                    return Ok(status);
                }
                status
            }
            stages => {
                let statuses = if ignoring {
                    self.within(Context::Condition, |s| s.run_stages(stages))?
                } else {
                    self.run_stages(stages)?
                };
                let status = if self.state.options.has(SetOpt::PipeFail) {
                    statuses.iter().rev().copied().find(|s| *s != 0).unwrap_or(0)
                } else {
                    statuses.last().copied().unwrap_or(0)
                };
                // To bash a subshell that ends a pipeline fails twice: by itself, then as the pipeline.
                if let Some(stage) = stages.last()
                    && status != 0
                    && matches!(stage.command.kind, CommandKind::Subshell(_))
                {
                    self.state.status = status;
                    let line = stages.first().map_or(0, |s| s.command.line);
                    if !p.negated {
                        self.failed(status, line, trapped)?;
                    } else if !self.state.here.condition && trapped {
                        self.run_err_trap(line)?;
                    }
                }
                self.state.pipe_status = PipeStatus::Many(Rc::new(statuses));
                status
            }
        };
        if p.negated {
            let status = i32::from(status == 0);
            self.state.status = status;
            return Ok(status);
        }
        self.state.status = status;
        if status != 0 {
            let checked = match p.stages.as_slice() {
                [stage] if alone => {
                    matches!(stage.command.kind, CommandKind::Arith(_) | CommandKind::Cond(_))
                }
                [stage] => fails_by_itself(&stage.command),
                stages => !stages.is_empty(),
            };
            if checked {
                let line = p.stages.first().map_or(0, |s| s.command.line);
                self.failed(status, line, trapped)?;
            }
        }
        Ok(status)
    }

    fn one_stage(&mut self, c: &Command, negated: bool) -> Result<Ran, Unwind> {
        let ran = match self.command_of(c, negated) {
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

    /// A compound command failed before it began (a redirection).
    pub(crate) fn failed_unless_checked(&mut self, c: &Command, line: u32) -> Result<(), Unwind> {
        // Bash reports the line of the command before.
        match fails_by_itself(c) {
            true => Ok(()),
            false => self.failed(1, line, self.state.traps.has_err),
        }
    }

    /// The body of a function, which fails by itself if it is a subshell, `((` or `[[`.
    pub(crate) fn body_command(&mut self, c: &Command) -> Flow {
        self.counting(c, fails_by_itself(c), Self::command)
    }

    /// A stage that runs in a copy of the state here: `((` and `[[` fail by themselves.
    pub(crate) fn stage_command(&mut self, c: &Command) -> Flow {
        let counts = matches!(c.kind, CommandKind::Arith(_) | CommandKind::Cond(_));
        self.counting(c, counts, Self::command)
    }

    /// The last stage with `lastpipe`, which fails as a pipeline of its own would; a subshell's
    /// failure is reported with the pipeline's.
    pub(crate) fn last_stage(&mut self, c: &Command) -> Flow {
        let counts = fails_by_itself(c) && !matches!(c.kind, CommandKind::Subshell(_));
        self.counting(c, counts, |s, c| s.one_stage(c, false).map(|ran| ran.status))
    }

    /// Runs a command; if its failure `counts`, the ERR trap that was set before sees it.
    fn counting(
        &mut self,
        c: &Command,
        counts: bool,
        run: impl FnOnce(&mut Self, &Command) -> Flow,
    ) -> Flow {
        let trapped = self.state.traps.has_err;
        let status = run(self, c)?;
        if status != 0 && counts {
            self.state.status = status;
            self.failed(status, c.line, trapped)?;
        }
        Ok(status)
    }

    /// A command failed where failure counts: the ERR trap if it was set before, then `set -e`.
    fn failed(&mut self, status: i32, line: u32, trapped: bool) -> Result<(), Unwind> {
        if self.state.here.condition {
            return Ok(());
        }
        if trapped {
            self.run_err_trap(line)?;
        }
        if self.state.options.has(SetOpt::ErrExit) {
            return Err(self.exit_on_error(status));
        }
        Ok(())
    }
}
