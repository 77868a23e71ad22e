//! The shell: its state, what it was given to act with, messages, and the shared helpers.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use box_applet::Table;
use box_sys::{Group, Processes, path};
use sh_expand::Str;
use sh_syntax::error::SyntaxError;

use crate::budget::{Budget, Limits};
use crate::io::{FdTable, OpenFile};
use crate::run::SyntaxFailed;
use crate::state::{Frame, GetOpts, PipeStatus, State};

/// Why execution leaves the normal path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwind {
    /// `break n`, `continue n`: levels still to go.
    Break(u32),
    Continue(u32),
    /// `return`: ends the function or sourced file.
    Return(i32),
    /// Ends the shell (or subshell).
    Exit(i32),
    /// The same because an expansion or assignment failed: the commands and functions around it are given up.
    GiveUp(i32),
    /// Abandons the current top-level command (bash's DISCARD after an expansion error).
    Discard(i32),
    /// The same for the command that the script itself has there, out of `eval`, `.` and traps:
    /// what bash does after an error in a subscript.
    Abandon(i32),
}

impl Unwind {
    /// The status of a subshell that is left so; `None`: loops are left, which gives it none.
    #[must_use]
    pub fn status(self) -> Option<i32> {
        match self {
            Unwind::Exit(s)
            | Unwind::GiveUp(s)
            | Unwind::Return(s)
            | Unwind::Discard(s)
            | Unwind::Abandon(s) => Some(s),
            Unwind::Break(_) | Unwind::Continue(_) => None,
        }
    }
}

/// The status of what ran, or the way out.
pub type Flow = Result<i32, Unwind>;

pub struct Shell<'a> {
    pub state: Box<State>,
    pub sys: &'a dyn Processes,
    pub table: &'a Table,
    pub budget: Budget,
    /// The stream with collected output, and since when (ms).
    pub(crate) dirty: Option<Rc<OpenFile>>,
    pub(crate) dirty_since: u64,
    pub(crate) broken_pipe: bool,
    /// A limit that was met where nothing could unwind; acted on before the next command.
    pub(crate) limit_hit: Option<&'static str>,
    pub(crate) output_error: Option<std::io::Error>,
    /// Status of the last command substitution of the current command.
    pub(crate) last_subst: Option<i32>,
    /// Signals that arrived and wait for a safe moment, one bit each.
    pub(crate) pending_signals: u64,
    /// Signals for the shell around this subshell.
    pub(crate) outer_signals: u64,
    /// Signals whose disposition is the parent's choice: ignored when the shell began.
    pub(crate) fixed_signals: u64,
    /// Children that ended since the CHLD trap ran last.
    pub(crate) ended_children: u32,
    /// The signal that ends this process, once its EXIT trap ran.
    pub(crate) killed_by: Option<u8>,
    /// How the last text that was run ended, if it did not parse.
    pub(crate) syntax_failed: Option<SyntaxFailed>,
    pub(crate) env_cache: Option<(u64, EnvList)>,
    /// Process substitutions of the current command, to be closed after it.
    pub(crate) process_subs: Vec<crate::process_sub::Running>,
    /// The process group of the process that is started next.
    pub(crate) job_group: Group,
    pub(crate) regex_cache: Option<(Vec<u8>, bool, Rc<box_text::regex::Regex>)>,
    pub(crate) next_pseudo_pid: u32,
    /// How a substitution ended the shell, while expansion passes the news on.
    pub(crate) interrupted: Option<Unwind>,
    /// `exec` without a command: its redirections stay.
    pub(crate) keep_redirects: bool,
    /// Some script text names BASH_COMMAND.
    pub(crate) track_commands: bool,
    /// The shell ends because of a syntax error that shows in the status its EXIT trap sees.
    pub(crate) bad_syntax_exit: bool,
    /// An error left `eval` or `.` in this subshell, and bash the functions in there only.
    pub(crate) left_text: bool,
    /// A substitution may turn aliases on.
    pub(crate) mentions_aliases: bool,
    pub(crate) history: Vec<Vec<u8>>,
    /// The line of the command being begun, and the one before it in effect.
    pub(crate) line_before: (u32, u32),
    /// What the environment held besides variables, for programs.
    pub(crate) odd_env: EnvList,
    /// The zone that was used last, and the `TZ` that named it.
    pub(crate) zone: Option<(Option<Vec<u8>>, box_text::time::Zone)>,
    /// The session whose call this is.
    pub(crate) session: Option<Box<crate::state::session::Session>>,
}

pub(crate) type EnvList = Rc<Vec<(Vec<u8>, Vec<u8>)>>;

/// What a shell starts with.
pub struct Start<'a> {
    pub arg0: Vec<u8>,
    pub positional: Vec<Vec<u8>>,
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    pub cwd: PathBuf,
    pub fds: FdTable,
    pub limits: Limits,
    pub sys: &'a dyn Processes,
    pub table: &'a Table,
}

impl<'a> Shell<'a> {
    pub fn new(start: Start<'a>) -> Shell<'a> {
        let pid = start.sys.pid();
        let state = State {
            vars: Default::default(),
            functions: Rc::default(),
            aliases: Rc::default(),
            options: Default::default(),
            traps: Default::default(),
            jobs: Rc::default(),
            fds: start.fds,
            outer_fds: None,
            cwd: Rc::new(start.cwd),
            dirs: Rc::default(),
            arg0: Rc::new(start.arg0),
            positional: Rc::new(start.positional.into_iter().map(Rc::new).collect()),
            frames: Rc::default(),
            funcname_shown: false,
            hashed: Rc::default(),
            disabled_builtins: Rc::default(),
            status: 0,
            pipe_status: PipeStatus::One(0),
            ulimits: Rc::default(),
            last_background: None,
            last_arg: Str::default(),
            line: 0,
            shell_pid: pid,
            own_pid: pid,
            subshell: 0,
            started: Instant::now(),
            seconds_offset: 0,
            random: pid.wrapping_mul(2_654_435_761) ^ Instant::now().elapsed().subsec_nanos(),
            random_set: false,
            getopts: GetOpts::default(),
            umask: box_sys::meta::umask(),
            here: Default::default(),
            trap_exit: None,
            command_text: Str::default(),
            outer_command: None,
            outermost_command: None,
            outer_positional: None,
            call_args: Rc::default(),
            positional_set: false,
            text_begun: false,
            completions: Rc::default(),
        };
        let mut shell = Shell {
            state: Box::new(state),
            sys: start.sys,
            table: start.table,
            budget: Budget::new(start.limits),
            dirty: None,
            dirty_since: 0,
            broken_pipe: false,
            limit_hit: None,
            output_error: None,
            last_subst: None,
            pending_signals: 0,
            outer_signals: 0,
            fixed_signals: 0,
            ended_children: 0,
            killed_by: None,
            syntax_failed: None,
            env_cache: None,
            process_subs: Vec::new(),
            job_group: Group::Inherit,
            regex_cache: None,
            next_pseudo_pid: 0,
            interrupted: None,
            keep_redirects: false,
            track_commands: false,
            mentions_aliases: false,
            bad_syntax_exit: false,
            left_text: false,
            history: Vec::new(),
            line_before: (0, 0),
            odd_env: EnvList::default(),
            zone: None,
            session: None,
        };
        shell.init_vars(&start.env);
        shell.init_traps();
        let seed = shell.entropy();
        shell.state.random = seed as u32;
        shell
    }

    /// The bottom frame of a script file, which makes `BASH_SOURCE` and `caller` work at its top level.
    pub fn enter_script(&mut self, file: &[u8]) {
        Rc::make_mut(&mut self.state.frames).push(Frame {
            name: Rc::new(b"main".to_vec()),
            source: Rc::new(file.to_vec()),
            call_line: 0,
            is_function: false,
        });
    }

    /// The name messages begin with: the file whose code runs, else `$0`.
    pub fn message_name(&self) -> Str {
        match self.state.frames.last() {
            Some(f) if !f.source.is_empty() => f.source.clone(),
            _ => self.state.arg0.clone(),
        }
    }

    /// `NAME: line N: `, as bash begins its messages.
    pub fn prefix(&self) -> Vec<u8> {
        let mut p = self.message_name().to_vec();
        p.extend_from_slice(b": ");
        if !self.state.options.interactive {
            p.extend_from_slice(format!("line {}: ", self.state.line).as_bytes());
        }
        p
    }

    /// A message on standard error, with the usual prefix and a newline.
    pub fn error(&mut self, parts: &[&[u8]]) {
        let mut line = self.prefix();
        parts.iter().for_each(|p| line.extend_from_slice(p));
        line.push(b'\n');
        self.err(&line);
    }

    /// What is wrong with a substitution that does not parse: one line or, with their numbers, several.
    pub(crate) fn substitution_error(&mut self, e: &SyntaxError) {
        if e.line == 0 {
            return self.error(&[&e.cause.message()]);
        }
        let name = self.message_name();
        for (line, message) in e.lines() {
            let head = format!(": command substitution: line {line}: ");
            self.err(&[name.as_slice(), head.as_bytes(), &message, b"\n"].concat());
        }
    }

    /// `PREFIX NAME: MESSAGE`.
    pub fn builtin_error(&mut self, name: &[u8], parts: &[&[u8]]) {
        let mut all = vec![name, b": "];
        all.extend_from_slice(parts);
        self.error(&all);
    }

    /// An operand as an absolute path.
    pub fn path(&self, operand: &[u8]) -> PathBuf {
        path::resolve(&self.state.cwd, operand)
    }

    pub fn cwd(&self) -> &Path {
        &self.state.cwd
    }

    /// The file system is about to be looked at or changed: everything written must be there.
    pub fn about_to_look(&mut self) {
        self.sync_output();
    }

    /// Called before each command: budgets, signals, a closed output.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<(), Unwind> {
        self.budget.commands += 1;
        let urgent = self.broken_pipe
            || self.pending_signals != 0
            || self.limit_hit.is_some()
            || box_sys::events::pending();
        if urgent || self.budget.commands & 0x3f == 0 {
            return self.slow_tick();
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn loop_tick(&mut self) -> Result<(), Unwind> {
        self.budget.loop_rounds += 1;
        if self.budget.loop_rounds & 0x3f == 0
            || self.pending_signals != 0
            || box_sys::events::pending()
        {
            return self.slow_tick();
        }
        Ok(())
    }

    #[cold]
    fn slow_tick(&mut self) -> Result<(), Unwind> {
        if self.broken_pipe {
            self.broken_pipe = false;
            if self.state.traps.get(box_sys::signal::PIPE).is_none() {
                return Err(Unwind::Exit(128 + i32::from(box_sys::signal::PIPE)));
            }
        }
        if let Some(what) = self.limit_hit.or_else(|| self.budget.exceeded()) {
            self.error(&[b"limit reached: ", what.as_bytes()]);
            return Err(Unwind::Exit(1));
        }
        box_sys::events::poke();
        if self.dirty.is_some() && self.budget.clock().saturating_sub(self.dirty_since) > 10 {
            self.sync_output();
        }
        self.run_pending_traps()
    }

    /// Guards every recursion of the walker.
    pub(crate) fn check_depth(&mut self) -> Result<(), Unwind> {
        if self.budget.stack_low() {
            self.error(&[b"maximum nesting level exceeded"]);
            return Err(Unwind::Exit(1));
        }
        Ok(())
    }
}
