//! The shell: its state, the interfaces it acts through, messages, and the shared helpers.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use box_applet::AppletTable;
use box_sys::{Processes, path};
use sh_expand::Str;
use sh_syntax::error::SyntaxError;

use crate::budget::{ScriptBudget, ScriptLimits};
use crate::command::{ChildEnv, Children};
use crate::io::{CollectedOutput, FdTable};
use crate::run::TextMentions;
use crate::signals::Signals;
use crate::state::ShellState;
use crate::state::calls::CallFrame;
use crate::state::options::ShellOptions;
use crate::state::params::PositionalParams;

/// The reason why execution leaves the normal path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwind {
    /// `break n`, `continue n`: the number of levels still to leave.
    Break(u32),
    Continue(u32),
    /// `return`: ends the function or sourced file.
    Return(i32),
    /// Ends the running builtin; a message has been printed.
    Builtin(i32),
    /// Ends the shell (or subshell).
    Exit(i32),
    /// Ends the shell (or subshell) because an expansion or assignment failed: the commands and
    /// functions around it are abandoned.
    GiveUp(i32),
    /// Abandons the current top-level command (bash's DISCARD after an expansion error).
    Discard(i32),
}

impl Unwind {
    /// Returns the status of a subshell that is left this way; `None` for leaving loops, which
    /// gives no status.
    #[must_use]
    pub fn status(self) -> Option<i32> {
        match self {
            Unwind::Exit(s) | Unwind::GiveUp(s) | Unwind::Discard(s) => Some(s),
            Unwind::Return(s) | Unwind::Builtin(s) => Some(s),
            Unwind::Break(_) | Unwind::Continue(_) => None,
        }
    }
}

/// The status of the executed code, or the way that execution unwinds.
pub type Flow = Result<i32, Unwind>;

/// A shell: the state that subshells copy, the interfaces it acts through, and the state of its
/// process.
pub struct Shell<'a> {
    pub(crate) state: Box<ShellState>,
    pub(crate) sys: &'a dyn Processes,
    pub(crate) table: &'a AppletTable,
    pub(crate) budget: ScriptBudget,
    pub(crate) output: CollectedOutput,
    pub(crate) signals: Signals,
    pub(crate) child_env: ChildEnv,
    pub(crate) children: Children,
    /// Process substitutions of the current command, to be closed after it.
    pub(crate) process_subs: Vec<crate::process_sub::RunningProcessSub>,
    pub(crate) leaving: LeavingNews,
    pub(crate) mentions: TextMentions,
    /// Status of the last command substitution of the current command.
    pub(crate) last_subst: Option<i32>,
    pub(crate) regex: crate::walk::LastRegex,
    pub(crate) zone: crate::clock::LastZone,
    pub(crate) history: crate::history::History,
    /// The editor of lines at the prompt.
    pub(crate) editor: Option<Box<dyn crate::interactive::LineReader>>,
    /// The terminal, with job control.
    pub(crate) terminal: Option<Box<crate::control::JobTerminal>>,
    /// Whether the last command tried to leave the shell and was told about stopped jobs.
    pub(crate) leave_warned: bool,
    /// The session that this call belongs to.
    pub(crate) session: Option<Box<crate::state::session::SessionBaseline>>,
}

/// Information about how execution left a construct, for outer code that [`Unwind`] does not reach.
#[derive(Debug, Default)]
pub(crate) struct LeavingNews {
    /// The unwinding by which a substitution ended the shell, while expansion passes it on.
    pub interrupted: Option<Unwind>,
    /// `exec` without a command has run: the redirections of the current command stay.
    pub keeps_redirects: bool,
}

/// The inputs that a shell starts with.
pub struct ShellStart<'a> {
    pub arg0: Vec<u8>,
    pub positional: Vec<Vec<u8>>,
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    pub cwd: PathBuf,
    pub fds: FdTable,
    pub limits: ScriptLimits,
    pub sys: &'a dyn Processes,
    pub table: &'a AppletTable,
}

impl<'a> Shell<'a> {
    /// Returns a shell that has loaded its environment.
    pub fn new(start: ShellStart<'a>) -> Shell<'a> {
        let params = PositionalParams::new(start.arg0, start.positional);
        let mut shell = Shell {
            state: Box::new(ShellState::new(start.sys.pid(), params, start.cwd, start.fds)),
            sys: start.sys,
            table: start.table,
            budget: ScriptBudget::new(start.limits),
            output: CollectedOutput::default(),
            signals: Signals::default(),
            child_env: ChildEnv::default(),
            children: Children::default(),
            process_subs: Vec::new(),
            leaving: LeavingNews::default(),
            mentions: TextMentions::default(),
            last_subst: None,
            regex: Default::default(),
            zone: Default::default(),
            history: Default::default(),
            editor: None,
            terminal: None,
            leave_warned: false,
            session: None,
        };
        shell.init_vars(&start.env);
        shell.init_traps();
        let seed = shell.random_bits();
        shell.state.random.seed(seed as u32);
        shell
    }

    /// Gives the shell an editor for the lines that a user types.
    pub fn set_editor(&mut self, editor: Box<dyn crate::interactive::LineReader>) {
        self.editor = Some(editor);
    }

    /// Returns the options, for the code that starts the shell.
    pub fn options_mut(&mut self) -> &mut ShellOptions {
        &mut self.state.options
    }

    /// Returns whether this shell is the process itself, not a subshell within it.
    pub(crate) fn is_process(&self) -> bool {
        self.state.ids.own_pid() == self.sys.pid()
    }

    /// Pushes the bottom frame of a script file, which makes `BASH_SOURCE` and `caller` work at its
    /// top level.
    pub fn enter_script(&mut self, file: &[u8]) {
        self.state.calls.push(CallFrame {
            name: Rc::new(b"main".to_vec()),
            source: Rc::new(file.to_vec()),
            call_line: 0,
            is_function: false,
            args: None,
        });
    }

    /// Returns the name that messages begin with: the file whose code runs, or `$0`.
    pub fn message_name(&self) -> Str {
        let source = self.state.calls.current_source().filter(|source| !source.is_empty());
        source.unwrap_or(self.state.params.arg0()).clone()
    }

    /// Returns `NAME: line N: `, the beginning of bash's messages.
    pub fn message_prefix(&self) -> Vec<u8> {
        let mut p = self.message_name().to_vec();
        p.extend_from_slice(b": ");
        if !self.state.options.is_interactive() {
            p.extend_from_slice(format!("line {}: ", self.state.line).as_bytes());
        }
        p
    }

    /// Prints a message on standard error, with the usual prefix and a newline.
    pub fn print_error(&mut self, parts: &[&[u8]]) {
        let mut line = self.message_prefix();
        parts.iter().for_each(|p| line.extend_from_slice(p));
        line.push(b'\n');
        self.write_err(&line);
    }

    /// Prints the error of a substitution that does not parse: one line or, with line numbers,
    /// several.
    pub(crate) fn substitution_error(&mut self, e: &SyntaxError) {
        let name = self.message_name();
        for (line, message) in e.lines() {
            let head = format!(": command substitution: line {line}: ");
            self.write_err(&[name.as_slice(), head.as_bytes(), &message, b"\n"].concat());
        }
    }

    /// Prints `PREFIX NAME: MESSAGE`.
    pub fn builtin_error(&mut self, name: &[u8], parts: &[&[u8]]) {
        let mut all = vec![name, b": "];
        all.extend_from_slice(parts);
        self.print_error(&all);
    }

    /// Returns an operand as an absolute path.
    pub fn absolute_path(&self, operand: &[u8]) -> PathBuf {
        path::resolve_path(self.cwd(), operand)
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> &Path {
        self.state.dirs.cwd()
    }

    /// Writes all pending output, because the file system is about to be read or changed.
    pub fn about_to_look(&mut self) {
        self.sync_output();
    }

    /// Checks budgets, signals and a closed output before each command.
    #[inline]
    pub(crate) fn check_budgets(&mut self) -> Result<(), Unwind> {
        self.budget.commands += 1;
        let urgent = self.output.is_pipe_broken()
            || self.signals.is_pending()
            || self.budget.is_hit()
            || box_sys::events::has_pending();
        if urgent || self.budget.commands & 0x3f == 0 {
            return self.slow_tick();
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn loop_tick(&mut self) -> Result<(), Unwind> {
        self.budget.loop_rounds += 1;
        if self.budget.loop_rounds & 0x3f == 0
            || self.signals.is_pending()
            || box_sys::events::has_pending()
        {
            return self.slow_tick();
        }
        Ok(())
    }

    #[cold]
    fn slow_tick(&mut self) -> Result<(), Unwind> {
        if self.output.take_broken_pipe() && self.state.traps.get(box_sys::signal::PIPE).is_none() {
            return Err(Unwind::Exit(128 + i32::from(box_sys::signal::PIPE)));
        }
        if let Some(what) = self.budget.exceeded_limit() {
            self.print_error(&[b"limit reached: ", what.as_bytes()]);
            return Err(Unwind::Exit(1));
        }
        box_sys::events::poke_signals();
        if self.output.is_some() && self.output.is_older(10, self.budget.elapsed_millis()) {
            self.sync_output();
        }
        self.run_pending_traps()
    }

    /// Checks the depth of every recursion of the walker.
    pub(crate) fn check_depth(&mut self) -> Result<(), Unwind> {
        if self.budget.stack_low() {
            self.print_error(&[b"maximum nesting level exceeded"]);
            return Err(Unwind::Exit(1));
        }
        Ok(())
    }
}
