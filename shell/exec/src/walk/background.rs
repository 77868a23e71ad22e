//! Code that runs beside the shell: `&`, `coproc`, early stages of pipelines, process
//! substitutions. A program is spawned directly; shell code goes to a spawned shell together
//! with the state it needs ([`crate::state::ship`]).

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use box_sys::{NewGroup, Pid, error_text};
use sh_expand::Str;
use sh_syntax::ast::{
    AndOr, Command, CommandKind, CommandList, CommandWord, Coproc, ListItem, Pipeline,
    PipelineStage, SimpleCommand, Word, WordPart,
};

use crate::Shell;
use crate::command::{Pumps, ResolvedCommand};
use crate::io::{DescriptorTarget, OpenFile};
use crate::shell::{Flow, Unwind};
use crate::state::here::CommandContext;
use crate::state::jobs::NewJob;
use crate::state::options::SetOpt;
use crate::state::ship;
use crate::state::traps::Trap;
use crate::state::vars::{ScopeKind, decimal_digits};

/// Code for a process of its own.
pub(crate) enum DetachedCode<'c> {
    Command(&'c Command),
    AndOr(&'c AndOr),
    List(&'c CommandList),
}

/// The result of starting a job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StartResult {
    Pid(Pid),
    /// The code has already ended (an expansion failed, a command does not exist).
    Done(i32),
}

/// The text of a job, and those of its processes if there are several.
#[derive(Debug, Default)]
pub(crate) struct JobText {
    pub text: Vec<u8>,
    pub stages: Vec<Vec<u8>>,
}

impl From<Vec<u8>> for JobText {
    fn from(text: Vec<u8>) -> JobText {
        JobText { text, stages: Vec::new() }
    }
}

/// Returns the text of a job in the background: of a subshell or group on one line, as in bash.
fn background_text(a: &AndOr) -> Vec<u8> {
    match only_command(a).map(|c| (&c.kind, c)) {
        Some((CommandKind::Subshell(_) | CommandKind::Brace(_), c)) => {
            sh_syntax::print::command_line(c)
        }
        _ => {
            let list = DetachedCode::AndOr(a).to_list();
            sh_syntax::print::print_list(&list).trim_ascii_end().to_vec()
        }
    }
}

/// Returns the texts of a pipeline's stages.
pub(crate) fn stage_texts(stages: &[PipelineStage]) -> Vec<Vec<u8>> {
    stages.iter().map(|s| sh_syntax::print::command_line(&s.command)).collect()
}

impl<'c> DetachedCode<'c> {
    /// Returns the simple command, if the code consists of only one.
    fn simple_command(&self) -> Option<(&'c SimpleCommand, &'c Command)> {
        match self {
            DetachedCode::Command(c) => only_simple_command(c),
            DetachedCode::AndOr(a) => only_simple_command(only_command(a)?),
            DetachedCode::List(l) => only_simple_command(only_command(only_and_or(l)?)?),
        }
    }

    /// Returns the line of its first command.
    fn first_line(&self) -> Option<u32> {
        let and_or = match self {
            DetachedCode::Command(c) => return Some(c.line),
            DetachedCode::AndOr(a) => *a,
            DetachedCode::List(l) => &l.items.first()?.and_or,
        };
        and_or.first.stages.first().map(|s| s.command.line)
    }

    /// Returns the code as a separate list.
    fn to_list(&self) -> CommandList {
        let and_or = match self {
            DetachedCode::Command(c) => {
                let stage = PipelineStage { command: (*c).clone(), pipe_stderr: false };
                let first = Pipeline { timed: None, negated: false, stages: vec![stage] };
                AndOr { first, rest: Vec::new() }
            }
            DetachedCode::AndOr(a) => {
                let mut and_or: AndOr = (*a).clone();
                // Bash does not negate commands in the background.
                if and_or.rest.is_empty() {
                    and_or.first.negated = false;
                }
                and_or
            }
            DetachedCode::List(l) => return (*l).clone(),
        };
        CommandList { items: vec![ListItem { and_or, background: false, newline: false }] }
    }
}

/// Returns the list's only item, if that runs in the foreground.
fn only_and_or(list: &CommandList) -> Option<&AndOr> {
    match list.items.as_slice() {
        [item] if !item.background => Some(&item.and_or),
        _ => None,
    }
}

/// Returns the command of a list of pipelines, if there is only one; it may be negated.
fn only_command(and_or: &AndOr) -> Option<&Command> {
    match and_or.first.stages.as_slice() {
        [stage] if and_or.rest.is_empty() && and_or.first.timed.is_none() => Some(&stage.command),
        _ => None,
    }
}

/// Returns `c` if it is a simple command, or, if it is a subshell that runs a single simple
/// command, that command. The new process is itself that subshell, so that `kill $!` reaches the
/// program of `( program ) &`, as in bash.
fn only_simple_command(c: &Command) -> Option<(&SimpleCommand, &Command)> {
    match &c.kind {
        CommandKind::Simple(s) => Some((s, c)),
        CommandKind::Subshell(list) if c.redirects.is_empty() => {
            let and_or = only_and_or(list).filter(|a| !a.first.negated)?;
            only_simple_command(only_command(and_or)?)
        }
        _ => None,
    }
}

/// Returns a simple command whose words are already expanded.
fn expanded_command(s: &SimpleCommand, c: &Command, argv: &[Str]) -> Command {
    let quoted = argv.iter().map(|a| {
        let raw = box_text::escape::at_q(a).into();
        CommandWord::Word(Word { parts: vec![WordPart::Quoted(a.clone())], raw })
    });
    let simple = SimpleCommand { assignments: s.assignments.clone(), words: quoted.collect() };
    let kind = CommandKind::Simple(simple);
    Command { kind, redirects: c.redirects.clone(), line: c.line }
}

impl Shell<'_> {
    /// Starts code on a copy of the state whose descriptors `prepare` sets.
    pub(crate) fn start_detached(
        &mut self,
        prepare: impl FnOnce(&mut Self),
        code: DetachedCode<'_>,
        pumps: &mut Pumps,
    ) -> StartResult {
        let copy = self.state.clone();
        let saved = std::mem::replace(&mut self.state, copy);
        let subs = std::mem::take(&mut self.process_subs);
        self.enter_subshell();
        if !matches!(code, DetachedCode::List(_)) && code.simple_command().is_none() {
            self.enter_context(CommandContext::Detached);
        }
        prepare(self);
        match &code {
            DetachedCode::Command(c) => self.count_once(c),
            DetachedCode::AndOr(a) if a.rest.is_empty() => {
                if let [only] = a.first.stages.as_slice() {
                    self.count_once(&only.command);
                }
            }
            DetachedCode::AndOr(_) | DetachedCode::List(_) => {}
        }
        let r = self.start_code(&code, pumps);
        self.sync_output();
        let left = self.leave_process_subs(matches!(code, DetachedCode::Command(_)));
        self.process_subs = subs;
        self.process_subs.extend(left);
        self.state = saved;
        match r {
            Ok(s) => s,
            Err(unwind) => StartResult::Done(unwind.status().unwrap_or(0)),
        }
    }

    fn start_code(
        &mut self,
        code: &DetachedCode<'_>,
        pumps: &mut Pumps,
    ) -> Result<StartResult, Unwind> {
        // This group is for the command itself, not for processes that its expansions start.
        let group = self.children.take_group();
        if let Some(line) = code.first_line() {
            self.state.line = line;
        }
        let Some((s, c)) = code.simple_command() else {
            self.children.group = group;
            return Ok(self.ship_code(code.to_list(), pumps));
        };
        let literal = match s.words.first() {
            Some(CommandWord::Word(w)) => super::stages::literal_text(w),
            _ => None,
        };
        self.enter_context(CommandContext::Alone);
        if literal.is_some() && !self.is_external(c) {
            self.children.group = group;
            return Ok(self.ship_code(code.to_list(), pumps));
        }
        // The words are expanded here, because this copy of the state is the new process's.
        self.state.line = c.line;
        self.budget.expansion_bytes = 0;
        self.last_subst = None;
        if self.state.traps.sees_trap(Trap::Debug) {
            self.run_debug_trap(c)?;
        }
        let words = self.expand_words(s)?;
        if words.argv.is_empty() {
            return self.run_command(c).map(StartResult::Done);
        }
        let found = self.find_command(&words.argv[0]);
        if let ResolvedCommand::Builtin(_) | ResolvedCommand::Function(_) = found {
            // The name came from an expansion, so the words are already expanded and must not be
            // expanded again.
            let command = expanded_command(s, c, &words.argv);
            self.children.group = group;
            return Ok(self.ship_code(DetachedCode::Command(&command).to_list(), pumps));
        }
        self.state.vars.push_scope(ScopeKind::Temporary);
        self.begin_program(&words, s)?;
        let found = self.find_again(found, &words.argv[0], &s.assignments);
        match self.redirect_unscoped(c, true) {
            Ok(_) => {}
            Err(Some(u)) => return Err(u),
            Err(None) => return Ok(StartResult::Done(1)),
        }
        let missing = match found {
            ResolvedCommand::Program(p) => {
                self.children.group = group;
                match self.start_program(&p, &words.argv, pumps) {
                    Ok(pid) => return Ok(StartResult::Pid(pid)),
                    Err(missing) => missing,
                }
            }
            ResolvedCommand::Nothing(missing) => missing,
            ResolvedCommand::Builtin(_) | ResolvedCommand::Function(_) => {
                return Ok(StartResult::Done(0));
            }
        };
        self.command_missing(&missing, &words.argv).map(StartResult::Done)
    }

    /// Runs code in a spawned shell that gets a copy of this state.
    fn ship_code(&mut self, code: CommandList, pumps: &mut Pumps) -> StartResult {
        match self.try_ship(code, pumps) {
            Ok(pid) => StartResult::Pid(pid),
            Err(e) => {
                let message = error_text(&e);
                self.print_error(&[b"fork: ", message.as_bytes()]);
                StartResult::Done(254)
            }
        }
    }

    fn try_ship(&mut self, code: CommandList, pumps: &mut Pumps) -> std::io::Result<Pid> {
        let task = sh_syntax::print::print_list(&code);
        let data = ship::encode_state(self, code).map_err(std::io::Error::other)?;
        let (read, mut write) = if data.len() <= box_sys::PIPE_CAPACITY {
            self.sys.pipe()?
        } else {
            box_sys::preview1::spool()?
        };
        write.write_all(&data)?;
        drop(write);
        let n = self.state.fds.free_from(40).unwrap_or(40);
        let argv = [b"bash".to_vec(), format!("{}{n}", crate::STATE_OPTION).into_bytes()];
        let program = self.own_program();
        self.spawn_program(program, &argv, &[(n, Rc::new(read))], Some(&task), pumps)
    }

    /// Runs `list &`.
    pub(crate) fn run_background(&mut self, a: &AndOr) -> Flow {
        self.check_budgets()?;
        self.sync_output();
        if let Some(flow) = self.background_job(a) {
            return flow;
        }
        self.check_background()?;
        let text = background_text(a);
        let mut pumps = Pumps::default();
        // With job control, the job keeps the terminal and the keyboard's signals, and gets its own
        // process group.
        let attended = self.state.options.has_set(SetOpt::Monitor);
        let null = match self.sys.open(Path::new("/dev/null"), File::options().read(true)) {
            Ok(f) if !attended => {
                Some(DescriptorTarget::File(Rc::new(OpenFile::new(Rc::new(f), false))))
            }
            _ => None,
        };
        let saved = (!attended).then(|| self.state.traps.clone());
        if !attended {
            self.state.traps.enter_background();
        }
        let group = if attended { NewGroup::New } else { NewGroup::Inherit };
        let leads_group = attended;
        let pipeline = a.rest.is_empty() && a.first.timed.is_none();
        if pipeline && self.mentions.commands {
            for stage in &a.first.stages {
                self.note_stage(&stage.command);
            }
        }
        let started = match a.first.stages.as_slice() {
            stages @ [_, _, ..] if pipeline => {
                self.background_stages(stages, null, group, &mut pumps)
            }
            _ => {
                self.children.group = group;
                let code = DetachedCode::AndOr(a);
                vec![self.start_detached(|s| s.begin_at(null.map(Some)), code, &mut pumps)]
            }
        };
        self.children.group = NewGroup::Inherit;
        if let Some(traps) = saved {
            self.state.traps = traps;
        }
        let stages = match a.first.stages.as_slice() {
            stages @ [_, _, ..] if pipeline => stage_texts(stages),
            _ => Vec::new(),
        };
        let id = self.add_job(&started, JobText { text, stages }, pumps, leads_group);
        self.print_started_job(id);
        Ok(0)
    }

    /// Runs `%job &` as `bg %job`; `None` for other commands.
    fn background_job(&mut self, a: &AndOr) -> Option<Flow> {
        let (simple, _) = only_simple_command(only_command(a)?)?;
        let [CommandWord::Word(word)] = simple.words.as_slice() else { return None };
        let spec = super::stages::literal_text(word).filter(|text| text.starts_with(b"%"))?;
        let words = [Rc::new(b"bg".to_vec()), Rc::new(spec.to_vec())];
        Some(crate::builtin::command::run_without_functions(self, &words))
    }

    /// Prints the number of a job that has just begun, as an interactive shell does.
    fn print_started_job(&mut self, id: u32) {
        if self.state.options.is_interactive() && !self.state.ids.is_subshell() {
            let pid = self.state.ids.last_background.unwrap_or(0);
            self.write_err(format!("[{id}] {pid}\n").as_bytes());
        }
    }

    /// Fails if there would be too many background processes.
    fn check_background(&mut self) -> Result<(), Unwind> {
        let running = |s: &Self| s.state.jobs.list().iter().filter(|j| !j.is_done()).count() as u64;
        if running(self) < self.budget.limits.background {
            return Ok(());
        }
        self.reap_children();
        if running(self) < self.budget.limits.background {
            return Ok(());
        }
        self.print_error(&[b"limit reached: too many background processes"]);
        Err(Unwind::Exit(1))
    }

    /// Starts the stages of a pipeline in the background, in a group that the first one leads.
    fn background_stages(
        &mut self,
        stages: &[PipelineStage],
        null: Option<DescriptorTarget>,
        mut group: NewGroup,
        pumps: &mut Pumps,
    ) -> Vec<StartResult> {
        let Some((last, before)) = stages.split_last() else { return Vec::new() };
        let mut started = Vec::new();
        let mut input = null.map(Some);
        for stage in before {
            self.children.group = group;
            let (s, next) = self.early_stage(stage, input, pumps);
            if let (NewGroup::New, StartResult::Pid(leader)) = (group, s) {
                group = NewGroup::Of(leader);
            }
            started.push(s);
            input = Some(next);
        }
        self.children.group = group;
        let code = DetachedCode::Command(&last.command);
        started.push(self.start_detached(|s| s.begin_at(input), code, pumps));
        started
    }

    /// Sets the standard input, if one is given.
    fn begin_at(&mut self, input: Option<Option<DescriptorTarget>>) {
        if let Some(input) = input {
            self.state.fds.set(0, input);
        }
    }

    /// Adds started processes to the job list and sets `$!`.
    pub(crate) fn add_job(
        &mut self,
        started: &[StartResult],
        JobText { text, stages }: JobText,
        pumps: Pumps,
        leads_group: bool,
    ) -> u32 {
        let mut pids = Vec::new();
        let mut ended = Vec::new();
        for s in started {
            match s {
                StartResult::Pid(pid) => pids.push(*pid),
                StartResult::Done(status) => {
                    let pid = self.state.ids.pseudo_pid(self.children.next_pseudo());
                    pids.push(pid);
                    ended.push((pid, *status));
                }
            }
        }
        self.state.ids.last_background = pids.last().copied();
        let jobs = &mut self.state.jobs;
        // A first process that exists by name only leads no group.
        let leads_group = leads_group && matches!(started.first(), Some(StartResult::Pid(_)));
        let id = jobs.add(NewJob { pids, text, stages, pumps: pumps.into_job(), leads_group });
        for (pid, status) in ended {
            jobs.set_status(pid, status);
        }
        id
    }

    /// Runs `coproc`: a job with a pipe on both sides.
    pub(crate) fn run_coproc(&mut self, k: &Coproc, c: &Command) -> Flow {
        self.state.line = c.line;
        let name = k.name.as_deref().unwrap_or(b"COPROC").to_vec();
        let pipes = self.sys.pipe().and_then(|a| self.sys.pipe().map(|b| (a, b)));
        let ((their_in, our_out), (our_in, their_out)) = match pipes {
            Ok(p) => p,
            Err(e) => {
                let text = error_text(&e);
                self.print_error(&[b"pipe error: ", text.as_bytes()]);
                return Ok(1);
            }
        };
        let desc = |f| DescriptorTarget::File(Rc::new(OpenFile::new(Rc::new(f), true)));
        let mut pumps = Pumps::default();
        let attended = self.state.options.has_set(SetOpt::Monitor);
        self.children.group = if attended { NewGroup::New } else { NewGroup::Inherit };
        let started = self.start_detached(
            |s| {
                s.enter_context(CommandContext::Detached);
                if !s.state.options.has_set(SetOpt::Monitor) {
                    s.state.traps.enter_background();
                }
                s.state.fds.set(0, Some(desc(their_in)));
                s.state.fds.set(1, Some(desc(their_out)));
            },
            DetachedCode::Command(&k.body),
            &mut pumps,
        );
        self.children.group = NewGroup::Inherit;
        let body = sh_syntax::print::command_line(&k.body);
        let text = [b"coproc ", name.as_slice(), b" ", &body].concat();
        let id = self.add_job(&[started], text.into(), pumps, attended);
        self.print_started_job(id);
        let first = self.state.fds.free_from(60).unwrap_or(60);
        self.state.fds.set(first, Some(desc(our_in)));
        let second = self.state.fds.free_from(first + 1).unwrap_or(first + 1);
        self.state.fds.set(second, Some(desc(our_out)));
        let array =
            [first, second].iter().map(|n| Rc::new(decimal_digits(i64::from(*n)))).collect();
        self.set_array(&name, array).map_err(|e| self.expansion_failed(e))?;
        let pid = self.state.ids.last_background.unwrap_or(0);
        self.set_quietly(&[name.as_slice(), b"_PID"].concat(), &decimal_digits(i64::from(pid)));
        Ok(0)
    }
}
