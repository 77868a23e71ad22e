//! Code that runs on a copy of the state: `( )`, command substitutions, stages of pipelines.
//!
//! There is no fork: the state is swapped for a copy, the code runs in this process, and the
//! original is restored. The values that the system keeps per process (pid, umask, directory) are
//! part of the state, so nothing leaks.

use std::rc::Rc;

use box_sys::NewGroup;
use sh_syntax::ast::{Command, CommandKind, CommandList};

use super::CommandEnd;
use super::background::{DetachedCode, StartResult};
use crate::Shell;
use crate::command::Pumps;
use crate::shell::{Flow, Unwind};
use crate::state::here::CommandContext;
use crate::state::jobs::Jobs;
use crate::state::options::{SetOpt, ShOpt};

impl Shell<'_> {
    /// Runs `( )`. Its redirections are performed within, so that the shell around it holds none of
    /// the files and keeps the variables that the names of the files have set.
    pub(super) fn run_subshell(
        &mut self,
        list: &CommandList,
        c: &Command,
        negated: bool,
    ) -> Result<CommandEnd, Unwind> {
        if !c.redirects.is_empty() {
            self.state.line = c.line;
        }
        if self.controls_jobs() {
            return self.run_subshell_job(list, c).map(CommandEnd::begun_with);
        }
        let mut begun = true;
        let status = self.in_subshell(|s| {
            s.enter_context(CommandContext::Detached);
            s.state.jobs = Jobs::default();
            s.ending_process_subs(|s| {
                match s.apply_redirects(&c.redirects) {
                    Ok(saved) => s.forget_saved(saved),
                    Err(Some(unwind)) => return Err(unwind),
                    Err(None) => {
                        begun = false;
                        return Ok(1);
                    }
                }
                s.run_list(list)
            })
        });
        // In bash the subshell is a child.
        self.child_ended();
        if begun { Ok(CommandEnd::begun_with(status)) } else { self.not_begun(c, negated) }
    }

    /// Runs a subshell in a process of its own, because it is a job.
    fn run_subshell_job(&mut self, list: &CommandList, c: &Command) -> Flow {
        let kind = CommandKind::Subshell(Rc::new(list.clone()));
        let redirects = c.redirects.clone();
        let command = Command { kind, redirects, line: self.state.line };
        let mut pumps = Pumps::default();
        self.begin_foreground_job();
        match self.start_detached(|_| {}, DetachedCode::Command(&command), &mut pumps) {
            StartResult::Pid(pid) => {
                pumps.drain_all(self);
                let text = || sh_syntax::print::command_line(&command).into();
                let end = self.wait_foreground(vec![pid], text);
                let status = end.statuses.last().copied().unwrap_or(127);
                self.finish_foreground(&end, status)
            }
            StartResult::Done(status) => {
                self.children.group = NewGroup::Inherit;
                Ok(status)
            }
        }
    }

    /// Runs `f` as a subshell environment (POSIX XCU 2.12) and returns its exit status.
    pub(crate) fn in_subshell(&mut self, f: impl FnOnce(&mut Self) -> Flow) -> i32 {
        if self.check_depth().is_err() {
            return 1;
        }
        // Within the subshell, existing children belong to another shell and cannot be reaped.
        if !self.state.jobs.list().is_empty() {
            self.reap_children();
        }
        let copy = self.state.clone();
        let saved = std::mem::replace(&mut self.state, copy);
        self.enter_subshell();
        let r = f(self);
        let status = self.end_subshell(r);
        self.drain_captured_jobs();
        self.state = saved;
        if self.is_process() {
            self.signals.return_to_outermost();
        }
        status
    }

    /// Changes the state for the beginning of a subshell. The loops around it still count, because
    /// `break` and `continue` can leave a substitution or a simple command.
    pub(crate) fn enter_subshell(&mut self) {
        let pid = self.state.ids.pseudo_pid(self.children.next_pseudo());
        self.state.enter_subshell(pid);
    }

    /// Returns the exit status of a subshell, after its EXIT trap.
    pub(crate) fn end_subshell(&mut self, r: Flow) -> i32 {
        let status = match r {
            Ok(s) => s,
            Err(unwind) => match unwind.status() {
                Some(s) => s,
                // While the shell leaves loops, bash runs no commands, not even those of a trap.
                None => return self.state.status,
            },
        };
        self.run_exit_trap(status)
    }

    /// Turns off `set -v` and, where bash does (bash manual 3.7.3), `set -e`, because command
    /// substitutions do not inherit them.
    pub(crate) fn drop_options(&mut self) {
        self.state.options.switch_set(SetOpt::Verbose, false);
        if !self.state.options.has_shopt(ShOpt::InheritErrExit)
            && !self.state.options.has_set(SetOpt::Posix)
        {
            self.state.options.switch_set(SetOpt::ErrExit, false);
        }
    }
}
