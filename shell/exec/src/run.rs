//! Running source text: command after command, so that an alias or option set by one command
//! affects how the next is read, and a syntax error is reported after the commands before it have
//! run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use sh_syntax::ast::CommandList;
use sh_syntax::error::SyntaxError;
use sh_syntax::parse::{Aliases, ParseOptions, Parser, SourceInput};

use crate::Shell;
use crate::io::DescriptorTarget;
use crate::shell::{Flow, Unwind};
use crate::state::here::CommandContext;
use crate::state::options::{SetOpt, ShOpt};
use crate::state::traps::Trap;
use crate::verdict::syntax::{AfterSyntax, TextPlace, syntax_verdict};

/// Source text to run within the shell (`eval`, `source`, trap actions, `-c`).
pub struct SourceText<'t> {
    pub text: &'t [u8],
    /// Number of the text's first line.
    pub line: u32,
    pub kind: TextKind,
}

/// The kind of source that a text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// The script itself.
    Script,
    /// The script itself, given by `-c`.
    CommandString,
    /// The operands of `eval`.
    Eval,
    /// Any other text within the script: files that `.` runs, start-up files, `fc`, callbacks.
    Commands,
    /// `$( )` that is parsed while it runs.
    Substitution,
    /// A trap's action; `None` for a signal's.
    Action(Option<Trap>),
}

impl TextKind {
    fn is_main(self) -> bool {
        matches!(self, TextKind::Script | TextKind::CommandString)
    }

    /// Returns the name that syntax errors show after the usual prefix.
    pub(crate) fn blamed_on(self) -> Option<&'static str> {
        Some(match self {
            TextKind::Script | TextKind::Commands => return None,
            TextKind::CommandString => "-c",
            TextKind::Eval => "eval",
            TextKind::Substitution => "command substitution",
            TextKind::Action(Some(Trap::Debug)) => "debug trap",
            TextKind::Action(Some(Trap::Err)) => "error trap",
            TextKind::Action(Some(Trap::Return)) => "return trap",
            TextKind::Action(Some(Trap::Exit)) => "exit trap",
            TextKind::Action(None) => "trap",
        })
    }

    /// Returns the place of the text in the table of verdicts.
    fn place(self) -> TextPlace {
        match self {
            TextKind::Script | TextKind::CommandString => TextPlace::Script,
            TextKind::Eval | TextKind::Commands | TextKind::Substitution => TextPlace::Text,
            TextKind::Action(_) => TextPlace::Action,
        }
    }

    /// Returns the context of its commands, in addition to those that the caller has entered.
    fn context(self) -> Option<CommandContext> {
        match self {
            TextKind::Script | TextKind::CommandString => None,
            // The contexts that these have already entered make traces show a deeper level.
            TextKind::Substitution | TextKind::Action(Some(Trap::Exit)) => None,
            TextKind::Eval | TextKind::Commands | TextKind::Action(_) => Some(CommandContext::Text),
        }
    }
}

/// The special names that the texts of the script mention. Keeping their values costs time for each
/// command, so a value is kept only if a script may read it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextMentions {
    /// Whether the text mentions `BASH_COMMAND`.
    pub commands: bool,
    /// Whether the text mentions `expand_aliases`: a substitution may turn aliases on.
    pub aliases: bool,
}

impl TextMentions {
    /// Searches a text that is about to run.
    pub fn look_at(&mut self, text: &[u8]) {
        let has = |name: &[u8]| memchr::memmem::find(text, name).is_some();
        self.commands = self.commands || has(b"BASH_COMMAND");
        self.aliases = self.aliases || has(b"expand_aliases");
    }
}

pub(crate) struct AliasView<'a>(pub &'a BTreeMap<Vec<u8>, Rc<[u8]>>);

impl Aliases for AliasView<'_> {
    fn get(&self, name: &[u8]) -> Option<Rc<[u8]>> {
        self.0.get(name).cloned()
    }
}

/// Script lines that are read from a descriptor, which may be replaced between commands (`exec <
/// file`).
pub struct ScriptInput {
    pub desc: Rc<RefCell<Option<DescriptorTarget>>>,
    /// Copies each line to standard error (`set -v`).
    pub echo: Rc<RefCell<Option<DescriptorTarget>>>,
}

pub(crate) fn print_to(desc: &Option<DescriptorTarget>, text: &[u8]) {
    if let Some(DescriptorTarget::File(f)) = desc {
        // A failure to show the prompt is not reported.
        let _ = f.write(text).and_then(|()| f.flush());
    }
}

impl SourceInput for ScriptInput {
    fn read_line(&mut self, buf: &mut Vec<u8>, _: bool) -> bool {
        let desc = self.desc.borrow().clone();
        let Some(desc) = desc else { return false };
        let before = buf.len();
        // The shell acts on a signal before the next command.
        while let Err(e) = desc.read_until(Some(b'\n'), usize::MAX, buf)
            && e.kind() == std::io::ErrorKind::Interrupted
        {
            box_sys::events::sleep_for(std::time::Duration::ZERO);
        }
        let echo = self.echo.borrow();
        if echo.is_some() {
            print_to(&echo, &buf[before..]);
        }
        buf.len() > before
    }
}

impl Shell<'_> {
    /// Returns the parser's options for the current shell options.
    pub(crate) fn parse_options(&self) -> ParseOptions {
        ParseOptions {
            posix: self.state.options.has_set(SetOpt::Posix),
            extglob: self.state.options.has_shopt(ShOpt::ExtGlob),
            expand_aliases: self.state.options.has_shopt(ShOpt::ExpandAliases),
            first_line: self.state.line.max(1),
        }
    }

    fn update_parser(&self, parser: &mut Parser<'_>) {
        let o = parser.options_mut();
        o.posix = self.state.options.has_set(SetOpt::Posix);
        o.extglob = self.state.options.has_shopt(ShOpt::ExtGlob);
        o.expand_aliases = self.state.options.has_shopt(ShOpt::ExpandAliases);
    }

    /// Reports a syntax error.
    pub(crate) fn syntax_error(&mut self, e: &SyntaxError, name: Option<&str>) {
        let mut prefix = self.message_name().to_vec();
        prefix.extend_from_slice(b": ");
        if let Some(n) = name {
            prefix.extend_from_slice(n.as_bytes());
            prefix.extend_from_slice(b": ");
        }
        self.write_err(&e.render(&prefix));
    }

    /// Returns whether `set -e` applies to the current command.
    pub(crate) fn exits_on_errors(&self) -> bool {
        self.state.options.has_set(SetOpt::ErrExit) && !self.state.here.condition
    }

    /// Returns whether `set -t` ends the script after the command that was read last. It does not
    /// end a `-c` text.
    pub(crate) fn ends_after_command(&self) -> bool {
        let options = &self.state.options;
        options.has_set(SetOpt::OneCmd)
            && !options.is_command_string()
            && !self.state.ids.is_subshell()
    }

    pub(crate) fn parser_warnings(&mut self, parser: &mut Parser<'_>) {
        for w in parser.take_warnings() {
            let line = self.state.line;
            self.state.line = w.line;
            self.print_error(&[b"warning: ", &w.message]);
            self.state.line = line;
        }
    }

    /// Runs text. A syntax error gives status 2 and ends the text; an expansion error abandons only
    /// its own command.
    pub fn run_text(&mut self, text: SourceText<'_>) -> Flow {
        match text.kind.context() {
            Some(context) => self.run_within(context, |s| s.run_commands(text)),
            None => self.run_commands(text),
        }
    }

    fn run_commands(&mut self, text: SourceText<'_>) -> Flow {
        self.check_depth()?;
        let mut options = self.parse_options();
        options.first_line = text.line.max(1);
        self.mentions.look_at(text.text);
        let mut parser = Parser::new(text.text, options);
        let main = text.kind.is_main();
        let mut status = 0;
        let mut at = 0;
        loop {
            if at > 0 && main && self.ends_after_command() {
                return Ok(status);
            }
            self.update_parser(&mut parser);
            let aliases = self.state.aliases.clone();
            let next = parser.next_command(&AliasView(&aliases));
            if self.state.options.has_set(SetOpt::Verbose) {
                let end = parser.offset().min(text.text.len());
                let mut lines = text.text.get(at..end).unwrap_or_default().to_vec();
                if lines.last().is_some_and(|b| *b != b'\n') {
                    lines.push(b'\n');
                }
                self.write_err(&lines);
            }
            at = parser.offset();
            self.parser_warnings(&mut parser);
            match next {
                Ok(None) => return Ok(status),
                Ok(Some(list)) => match self.list_read(&list, parser.last_line()) {
                    Ok(s) => status = s,
                    Err(Unwind::Discard(s)) if !self.state.ids.is_subshell() => {
                        // For any other text the status is 1.
                        status = if main { s } else { 1 };
                        self.state.status = status;
                    }
                    Err(u) => return Err(u),
                },
                Err(e) => {
                    self.syntax_error(&e, text.kind.blamed_on());
                    return self.after_syntax_error(text.kind.place());
                }
            }
        }
    }

    /// Acts on a syntax error that was reported, and returns how execution continues.
    pub(crate) fn after_syntax_error(&mut self, place: TextPlace) -> Flow {
        const STATUS: i32 = 2;
        self.state.status = STATUS;
        let spares = self.state.here.command_builtin && !self.exits_on_errors();
        match syntax_verdict(place, &self.mode()) {
            AfterSyntax::Continue | AfterSyntax::End => Ok(STATUS),
            // `command` takes away the properties of a special builtin from `eval`.
            AfterSyntax::Exit if spares => Ok(STATUS),
            AfterSyntax::Exit => Err(self.exit_here(STATUS)),
        }
    }

    /// Runs a list that was just read. Until one of its commands sets the line number, the number
    /// is that of the last line read.
    fn list_read(&mut self, list: &CommandList, last_line: u32) -> Flow {
        self.state.line = last_line;
        self.run_list(list)
    }

    /// Runs the main script and returns the status to exit with, after the EXIT trap.
    pub fn run_main(&mut self, text: SourceText<'_>) -> i32 {
        let r = self.run_text(text);
        self.finish(r)
    }

    /// Runs commands from standard input as they arrive.
    pub fn run_stdin(&mut self) -> i32 {
        if self.state.options.is_interactive() {
            return self.run_prompts();
        }
        let desc = Rc::new(RefCell::new(self.state.fds.get(0).cloned()));
        let echo = Rc::new(RefCell::new(None));
        let input = ScriptInput { desc: desc.clone(), echo: echo.clone() };
        let mut options = self.parse_options();
        options.first_line = 1;
        self.mentions.commands = true;
        let mut parser = Parser::with_input(Box::new(input), options);
        let (mut status, mut began) = (0, false);
        let r = loop {
            if began && self.ends_after_command() {
                break Ok(status);
            }
            began = true;
            self.update_parser(&mut parser);
            self.sync_output();
            *desc.borrow_mut() = self.state.fds.get(0).cloned();
            *echo.borrow_mut() = if self.state.options.has_set(SetOpt::Verbose) {
                self.state.fds.get(2).cloned()
            } else {
                None
            };
            let aliases = self.state.aliases.clone();
            let next = parser.next_command(&AliasView(&aliases));
            self.parser_warnings(&mut parser);
            match next {
                Ok(None) => break Ok(status),
                Ok(Some(list)) => match self.run_list(&list) {
                    Ok(s) => status = s,
                    Err(Unwind::Discard(s)) => {
                        status = s;
                        self.state.status = s;
                    }
                    Err(u) => break Err(u),
                },
                Err(e) => {
                    self.syntax_error(&e, None);
                    break self.after_syntax_error(TextPlace::Script);
                }
            }
        };
        self.finish(r)
    }

    /// Ends the shell: runs the EXIT trap and writes the output.
    pub fn finish(&mut self, r: Flow) -> i32 {
        let r = match (r, self.budget.take_hit()) {
            // The last command hit a limit.
            (Ok(_), Some(what)) => {
                self.print_error(&[b"limit reached: ", what.as_bytes()]);
                Err(Unwind::Exit(1))
            }
            (r, _) => r,
        };
        let status = match r {
            Ok(s) => s,
            Err(unwind) => unwind.status().unwrap_or(self.state.status),
        };
        let status = match self.run_pending_traps() {
            Err(Unwind::Exit(s) | Unwind::GiveUp(s)) => s,
            Ok(()) | Err(_) => status,
        };
        let hangs_up = self.signals.is_killed_by(box_sys::signal::HUP);
        let status = match r {
            // No trap runs while the shell leaves loops.
            Err(Unwind::Break(_) | Unwind::Continue(_)) => status,
            _ => self.run_exit_trap(status),
        };
        self.drain_captured_jobs();
        self.sync_output();
        self.save_history();
        self.end_job_control(hangs_up);
        if let Some(signal) = self.signals.take_killed_by() {
            // The parent process must see the signal that ended this process.
            box_sys::events::catch_signals(0, 0);
            let _ = self.sys.kill(self.sys.pid(), signal);
        } else if !self.output.is_pipe_broken() {
            self.leave_session(status);
        }
        if self.output.is_pipe_broken() && status == 0 { 141 } else { status }
    }
}

impl Shell<'_> {
    /// Stores the text of `-c` in BASH_EXECUTION_STRING.
    pub fn set_command_string(&mut self, text: &[u8]) {
        self.set_quietly(b"BASH_EXECUTION_STRING", text);
    }

    /// Opens a script given as `/dev/stdin` or `/dev/fd/N`; `None` for an ordinary file.
    pub fn open_script(&mut self, name: &[u8]) -> Option<std::io::Result<Vec<u8>>> {
        let desc = self.open_virtual(name)?;
        let Some(desc) = desc else { return Some(Err(crate::io::bad_fd())) };
        let mut out = Vec::new();
        Some(desc.read_to_end(&mut out).map(|()| out))
    }

    /// Reads standard input to its end, up to the limit for captured data.
    pub fn read_stdin(&mut self) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        self.read_until(0, None, usize::MAX, &mut out)?;
        Ok(out)
    }

    /// Runs a start-up file if it exists (`BASH_ENV`); its name undergoes parameter, command and
    /// arithmetic expansion.
    pub fn source_quietly(&mut self, name: &[u8]) {
        let expanded = match sh_syntax::parse::parse_dquoted(name, &self.parse_options()) {
            Ok(word) => sh_expand::expand_single(self, &word).map(|s| s.to_vec()),
            Err(_) => Ok(name.to_vec()),
        };
        let Ok(file) = expanded else { return };
        if let Ok(text) = self.read_file(&self.absolute_path(&file)) {
            // The script runs even if the start-up file fails.
            let _ = self.run_text(SourceText { text: &text, line: 1, kind: TextKind::Commands });
        }
    }
}
