//! Pipelines of several stages. Programs are spawned and run beside each other. Shell code in a
//! stage before the last runs in a spawned shell, unless its output is bounded: then it runs here
//! first, and its output is kept in memory. The last stage runs here, on a copy of the state.

use std::rc::Rc;

use box_sys::{NewGroup, Pid};
use sh_syntax::ast::{
    AndOr, Command, CommandKind, CommandList, ListItem, Pipeline, PipelineStage, Redirect,
    RedirectFd, RedirectOp, RedirectTarget, Word, WordPart,
};

use super::background::{DetachedCode, JobText, StartResult, stage_texts};
use crate::Shell;
use crate::command::Pumps;
use crate::io::{Buffer, DescriptorTarget, MemoryInput, OpenFile};
use crate::shell::{Flow, Unwind};
use crate::state::here::CommandContext;
use crate::state::jobs::Jobs;
use crate::state::options::{SetOpt, ShOpt};
use crate::state::traps::Trap;

impl Shell<'_> {
    /// Runs all stages, waits for them and returns their statuses in order.
    pub(crate) fn run_stages(&mut self, stages: &[PipelineStage]) -> Result<Vec<i32>, Unwind> {
        self.check_depth()?;
        self.sync_output();
        let Some((last, before)) = stages.split_last() else { return Ok(Vec::new()) };
        let line = self.state.line;
        let subs = self.process_subs.len();
        let mut pumps = Pumps::default();
        let mut started = Vec::with_capacity(stages.len());
        let mut input: Option<DescriptorTarget> = None;
        for (i, stage) in before.iter().enumerate() {
            self.stage_debug_trap(&stage.command)?;
            let stdin = (i > 0).then(|| input.take());
            self.set_stage_group(&started);
            let (s, next) = self.early_stage(stage, stdin, &mut pumps);
            started.push(s);
            input = next;
        }
        let lastpipe = self.state.options.has_shopt(ShOpt::LastPipe)
            && !self.state.options.has_set(SetOpt::Monitor);
        if !lastpipe {
            self.stage_debug_trap(&last.command)?;
        }
        self.set_stage_group(&started);
        let end = if lastpipe {
            match self.stage_in_shell(&last.command, input, &mut pumps) {
                Ok(status) => StartResult::Done(status),
                Err(u) => {
                    pumps.drain_all(self);
                    self.collect_statuses(&started, &[]);
                    return Err(u);
                }
            }
        } else {
            self.final_stage(&last.command, input, &mut pumps)
        };
        started.push(end);
        pumps.drain_all(self);
        let statuses = if self.controls_jobs() {
            self.wait_for_stages(&started, stages)
        } else {
            Ok(self.collect_statuses(&started, stages))
        };
        self.end_process_subs(subs);
        self.state.line = line;
        statuses
    }

    /// With job control, puts the next stage into the group of the first one that has a process.
    fn set_stage_group(&mut self, started: &[StartResult]) {
        if self.controls_jobs() {
            self.children.group = match leader_of(started) {
                Some(leader) => NewGroup::Of(leader),
                None => NewGroup::Foreground,
            };
        }
    }

    /// Waits for the stages as for one job.
    fn wait_for_stages(
        &mut self,
        started: &[StartResult],
        stages: &[PipelineStage],
    ) -> Result<Vec<i32>, Unwind> {
        let pid = |s: &StartResult| match s {
            StartResult::Pid(pid) => Some(*pid),
            StartResult::Done(_) => None,
        };
        let pids: Vec<_> = started.iter().filter_map(pid).collect();
        if pids.is_empty() {
            self.children.group = NewGroup::Inherit;
            return Ok(self.collect_statuses(started, stages));
        }
        let end = self.wait_foreground(pids, || JobText {
            text: pipeline_text(stages),
            stages: stage_texts(stages),
        });
        let mut ended = end.statuses.iter().copied();
        let statuses: Vec<i32> = started
            .iter()
            .map(|s| match s {
                StartResult::Done(status) => *status,
                StartResult::Pid(_) => ended.next().unwrap_or(127),
            })
            .collect();
        self.finish_foreground(&end, statuses.last().copied().unwrap_or(0))?;
        Ok(statuses)
    }

    /// Runs the last stage: a program is spawned, shell code runs here on a copy of the state.
    fn final_stage(
        &mut self,
        c: &Command,
        input: Option<DescriptorTarget>,
        pumps: &mut Pumps,
    ) -> StartResult {
        // Output of earlier stages that goes to a buffer is read only after a stage that runs here.
        // If that output filled its pipe, the two stages would wait for each other, so the last
        // stage gets its own process.
        if self.is_external(c) || !pumps.is_empty() || self.controls_jobs() {
            let begin = |s: &mut Self| {
                s.begin_stage(c);
                s.state.fds.set(0, input);
            };
            return self.start_detached(begin, DetachedCode::Command(c), pumps);
        }
        pumps.close_writers();
        StartResult::Done(self.in_subshell(|s| {
            s.begin_stage(c);
            s.state.fds.set(0, input);
            s.count_once(c);
            let r = s.stage_command(c);
            s.sync_output();
            r
        }))
    }

    /// Runs the last stage with `lastpipe` in the shell itself.
    fn stage_in_shell(
        &mut self,
        c: &Command,
        input: Option<DescriptorTarget>,
        pumps: &mut Pumps,
    ) -> Flow {
        pumps.close_writers();
        let old = self.state.fds.set(0, input);
        let r = self.last_stage(c);
        self.sync_output();
        self.state.fds.set(0, old);
        r
    }

    /// Runs the DEBUG trap of a stage in the shell itself, unless the stage inherits it.
    fn stage_debug_trap(&mut self, c: &Command) -> Result<(), Unwind> {
        if !self.state.here.running.has(Trap::Debug) {
            self.note_stage(c);
        }
        let inherits = self.state.options.has_set(SetOpt::FuncTrace);
        if self.state.traps.sees_trap(Trap::Debug)
            && !inherits
            && matches!(c.kind, CommandKind::Simple(_))
        {
            self.state.line = c.line;
            self.run_debug_trap(c)?;
        }
        Ok(())
    }

    /// Sets the text that `BASH_COMMAND` shows in the shell itself after the stages.
    pub(crate) fn note_stage(&mut self, c: &Command) {
        match c.kind {
            CommandKind::Simple(_) if self.mentions.commands => {
                self.note_command(|| sh_syntax::print::command_head(c));
            }
            CommandKind::Subshell(_) => self.note_subshell(c),
            _ => {}
        }
    }

    /// Starts a stage that is not the last; its output becomes the next one's input.
    pub(crate) fn early_stage(
        &mut self,
        stage: &PipelineStage,
        stdin: Option<Option<DescriptorTarget>>,
        pumps: &mut Pumps,
    ) -> (StartResult, Option<DescriptorTarget>) {
        let both;
        let command = if stage.pipe_stderr {
            both = with_stderr(&stage.command);
            &both
        } else {
            &stage.command
        };
        if self.is_bounded(command) {
            // The command may be `jobs`.
            self.reap_children();
            // The group is for the stages that have processes.
            let group = self.children.take_group();
            let buffer = Buffer::default();
            let out = DescriptorTarget::Capture(buffer.clone());
            let status = self.in_subshell(|s| {
                s.begin_stage(command);
                if let Some(stdin) = stdin {
                    s.state.fds.set(0, stdin);
                }
                s.state.fds.set(1, Some(out));
                s.count_once(command);
                s.stage_command(command)
            });
            self.children.group = group;
            let data = Rc::new(super::substitute::take_buffer(buffer));
            let memory = DescriptorTarget::Memory(Rc::new(MemoryInput::new(data)));
            return (StartResult::Done(status), Some(memory));
        }
        let (read, write) = match self.sys.pipe() {
            Ok(p) => p,
            Err(e) => {
                let text = box_sys::error_text(&e);
                self.print_error(&[b"pipe error: ", text.as_bytes()]);
                return (StartResult::Done(1), None);
            }
        };
        let write = DescriptorTarget::File(Rc::new(OpenFile::new(Rc::new(write), true)));
        let started = self.start_detached(
            |s| {
                s.begin_stage(command);
                if let Some(stdin) = stdin {
                    s.state.fds.set(0, stdin);
                }
                s.state.fds.set(1, Some(write));
            },
            DetachedCode::Command(command),
            pumps,
        );
        let read = DescriptorTarget::File(Rc::new(OpenFile::new(Rc::new(read), true)));
        (started, Some(read))
    }

    /// Performs the steps that a stage needs in addition to those of any subshell.
    fn begin_stage(&mut self, command: &Command) {
        if ends_silently(command) {
            self.enter_context(CommandContext::SilentStage);
        }
        if let CommandKind::Simple(_) = command.kind {
            self.enter_context(CommandContext::Alone);
        } else {
            self.enter_context(CommandContext::Detached);
            self.state.jobs = Jobs::default();
        }
    }

    /// Counts a subshell that is a stage as one level, not two.
    pub(crate) fn count_once(&mut self, command: &Command) {
        if matches!(command.kind, CommandKind::Subshell(_)) {
            self.state.ids.count_once();
            // Its failure is handled by the pipeline alone.
            self.enter_context(CommandContext::Alone);
        }
    }

    /// Waits for all stages. A signal that ended a stage is reported only for the last one.
    pub(crate) fn collect_statuses(
        &mut self,
        started: &[StartResult],
        stages: &[PipelineStage],
    ) -> Vec<i32> {
        let last = started.len().saturating_sub(1);
        started
            .iter()
            .enumerate()
            .map(|(at, started)| match (started, stages.get(at)) {
                (StartResult::Done(status), _) => *status,
                (StartResult::Pid(pid), Some(stage)) if at == last => {
                    let text = || sh_syntax::print::command_line(&stage.command);
                    self.wait_in_foreground(*pid, text)
                }
                (StartResult::Pid(pid), _) => self.wait_for(*pid),
            })
            .collect()
    }

    /// Returns whether the command is certainly a program: a literal name that is neither builtin
    /// nor function.
    pub(crate) fn is_external(&self, c: &sh_syntax::ast::Command) -> bool {
        let CommandKind::Simple(s) = &c.kind else { return false };
        match s.words.first() {
            Some(sh_syntax::ast::CommandWord::Word(w)) => match literal_text(w) {
                Some(name) => {
                    self.enabled_builtin(name).is_none() && !self.state.functions.contains_key(name)
                }
                None => false,
            },
            _ => false,
        }
    }
}

/// Returns the first of the processes.
fn leader_of(started: &[StartResult]) -> Option<Pid> {
    started.iter().find_map(|s| match s {
        StartResult::Pid(pid) => Some(*pid),
        StartResult::Done(_) => None,
    })
}

/// Returns the text of a pipeline, as `jobs` shows it.
fn pipeline_text(stages: &[PipelineStage]) -> Vec<u8> {
    let first = Pipeline { timed: None, negated: false, stages: stages.to_vec() };
    let and_or = AndOr { first, rest: Vec::new() };
    let list = CommandList { items: vec![ListItem { and_or, background: false, newline: false }] };
    sh_syntax::print::print_list(&list).trim_ascii_end().to_vec()
}

/// Returns whether bash omits an EXIT trap that the stage sets.
fn ends_silently(c: &Command) -> bool {
    !matches!(
        c.kind,
        CommandKind::Simple(_)
            | CommandKind::Brace(_)
            | CommandKind::Subshell(_)
            | CommandKind::Coproc(_)
    )
}

/// Returns the word's text if nothing in it is expanded.
pub(crate) fn literal_text(w: &sh_syntax::ast::Word) -> Option<&[u8]> {
    use sh_syntax::ast::WordPart;
    match w.parts.as_slice() {
        [WordPart::Literal(t)]
            if !t.iter().any(|c| matches!(c, b'*' | b'?' | b'[' | b'{' | b'~'))
                || t.as_ref() == b"[" =>
        {
            Some(t)
        }
        [WordPart::Quoted(t)] => Some(t),
        [WordPart::DoubleQuoted(inner)] => match inner.as_slice() {
            [WordPart::Quoted(t)] => Some(t),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the command of a stage before `|&`, which is `2>&1 |`: the redirection follows those of
/// the command.
fn with_stderr(command: &Command) -> Command {
    let mut command = command.clone();
    let one = WordPart::Literal(Rc::new(b"1".to_vec()));
    command.redirects.push(Redirect {
        fd: RedirectFd::Number(2),
        op: RedirectOp::DupWrite,
        target: RedirectTarget::Word(Word { parts: vec![one], raw: b"1"[..].into() }),
        line: command.line,
    });
    command
}
