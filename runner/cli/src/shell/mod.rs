//! `runner shell`: an interactive shell on a session.
//!
//! | file | contents |
//! |---|---|
//! | `complete` | commands and paths for the Tab key; whether a command is complete |
//! | `lines` | the line editor and its history |
//! | `programs` | which lines run on a terminal of the session |
//! | `words` | lines for the prompt itself: `undo`, `redo`, `fork`, `help` |
//!
//! Each command is a commit that can be undone. A line of programs alone runs on a terminal of the
//! session, which the user's terminal shows; any other is a call of the session's shell, which gets
//! the user's input through a pipe and not the terminal itself, because a guest must not be able to
//! control that.
//!
//! # Deliberately absent
//! Job control: each line ends before the next prompt. Typing ahead while a command runs, because
//! the command receives that input.

mod complete;
mod lines;
mod programs;
mod words;

use crate::args::grants::GrantSettings;
use crate::args::session::ShellArgs;
use crate::call::{self, RunningCall};
use crate::terminal::{self, SavedTerminal};
use crate::{CliFailure, message, tools};
use complete::Completions;
use lines::{EditedLine, LineEditor};
use programs::is_for_terminal;
use sh_syntax::parse::is_complete;
use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal};
use wasibox::{Exec, Input, Limits, Output, Session};
use words::PromptWord;

/// The name in the prompt for a session without a name.
const UNNAMED: &str = "box";

struct InteractiveShell {
    session: Session,
    running: RunningCall,
    limits: Limits,
    is_raw: bool,
    /// The status of the last command.
    status: u8,
    /// The names of programs, which run on a terminal.
    programs: BTreeSet<String>,
    /// Whether the last command was none of the session's shell, so that its `$?` is another.
    was_beside: bool,
}

/// Runs commands until the user leaves, and returns the status of the last one.
pub fn run(args: &ShellArgs) -> Result<u8, CliFailure> {
    let GrantSettings { policy, pool, tools_from, .. } = args.grants.grant_settings()?;
    let limits = policy.limits;
    let engine = call::open_engine(&args.image, pool)?;
    let _servers = tools::connect_servers(&engine, &tools_from)?;
    let (session, name) = match &args.name {
        None => (engine.session(policy.clone())?, UNNAMED),
        Some(name) => {
            let sessions = engine.sessions(args.store.open()?);
            call::note_image(name, sessions.store().session_info(name)?.image, &engine);
            (sessions.session(name, policy.clone())?, name.as_str())
        }
    };
    let running = RunningCall::default();
    let names = engine.image().commands().iter().map(|c| c.name.clone());
    let programs = names.filter(|name| !complete::BUILTINS.contains(&name.as_str())).collect();
    let mut shell = InteractiveShell {
        session,
        running,
        limits,
        is_raw: args.raw,
        status: 0,
        programs,
        was_beside: false,
    };
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        let completions = Completions::new(&shell.session, engine.image(), policy.mounts)?;
        let lines = LineEditor::new(completions, &shell.session)?;
        // The handler is installed here, because the editor has its own handler for Ctrl-C while it
        // exists.
        let terminal = SavedTerminal::save()?;
        // A signal may end this process while the editor or a program has the terminal. The editor
        // has asked it for brackets around pasted text.
        shell.watch_signals(move || {
            terminal.restore();
            // Not by the buffer of standard output, whose lock another thread may have.
            let _ = rustix::io::write(std::io::stdout(), b"\x1b[?2004l\r\n");
        })?;
        shell.run_interactive(name, lines)?;
    } else {
        shell.watch_signals(|| {})?;
        shell.read()?;
    }
    Ok(shell.status)
}

impl InteractiveShell {
    fn watch_signals(&self, leave: impl Fn() + Send + 'static) -> Result<(), CliFailure> {
        let interrupt = self.session.interrupter();
        call::watch_signals(call::take_signals()?, interrupt, self.running.clone(), leave);
        Ok(())
    }

    /// Runs commands that a user types.
    fn run_interactive(&mut self, name: &str, mut lines: LineEditor) -> Result<(), CliFailure> {
        message::print_hint(words::GREETING);
        loop {
            let dir = String::from_utf8_lossy(&self.session.directory()?).into_owned();
            let prompt = format!("{name}:{}$ ", message::escape_text(&dir));
            let line = match lines.read(&prompt, &dir)? {
                EditedLine::Line(line) => line,
                EditedLine::Nothing => continue,
                EditedLine::End => return Ok(()),
            };
            if line.trim().is_empty() {
                continue;
            }
            lines.remember(&line, &self.session);
            if let Some(status) = exit_status_of(&line, self.status) {
                self.status = status;
                return Ok(());
            }
            if let Some(word) = PromptWord::parse(&line) {
                self.move_session(&word);
            } else if is_for_terminal(&line, &self.programs) {
                self.run_programs(&line);
            } else {
                self.run_typed(&line);
            }
        }
    }

    /// Acts on a line for the prompt.
    fn move_session(&mut self, word: &PromptWord) {
        self.status = match word.act(&self.session) {
            Ok(()) => 0,
            Err(failure) => {
                message::say_message(&failure.text);
                failure.status
            }
        };
        self.was_beside = false;
    }

    /// Runs programs on a terminal of the session.
    fn run_programs(&mut self, line: &str) {
        let mut exec = Exec::new(["bash", "-c", line]);
        exec.timeout = self.limits.timeout;
        self.status = match terminal::run(&self.session, exec, self.is_raw) {
            Ok(end) => {
                if end.is_within_line {
                    message::print_hint("");
                }
                end.status
            }
            Err(failure) => {
                message::say_message(&failure.text);
                failure.status
            }
        };
        self.was_beside = true;
    }

    /// Runs a line in the session's shell, which learns the status of programs that ran beside it.
    fn run_typed(&mut self, line: &str) {
        let sees_status = std::mem::take(&mut self.was_beside) && line.contains("$?");
        let script =
            if sees_status { format!("(exit {})\n{line}", self.status) } else { line.to_owned() };
        self.call_bytes(script.into_bytes(), Input::Inherit);
    }

    /// Runs commands from standard input.
    fn read(&mut self) -> Result<(), CliFailure> {
        let mut input = std::io::stdin().lock();
        let mut text = Vec::new();
        loop {
            let is_end = input.read_until(b'\n', &mut text)? == 0;
            if text.trim_ascii().is_empty() {
                text.clear();
            } else if is_end || is_complete(&text) {
                let line = String::from_utf8_lossy(&text).into_owned();
                if let Some(status) = exit_status_of(&line, self.status) {
                    self.status = status;
                    return Ok(());
                }
                self.call_bytes(std::mem::take(&mut text), Input::Bytes(Vec::new()));
            }
            if is_end {
                return Ok(());
            }
        }
    }

    /// Runs a command. An error is reported, and the session continues.
    fn call_bytes(&mut self, mut script: Vec<u8>, input: Input) {
        use std::os::unix::ffi::OsStringExt;
        if script.last() == Some(&b'\n') {
            script.pop();
        }
        let mut exec = Exec::script(std::ffi::OsString::from_vec(script));
        (exec.input, exec.output, exec.raw_terminal) = (input, Output::Inherit, self.is_raw);
        // A process started with `&` at a prompt is expected to continue.
        exec.keep_background = true;
        if let Ok(size) = rustix::termios::tcgetwinsize(std::io::stdout()) {
            for (name, n) in [("COLUMNS", size.ws_col), ("LINES", size.ws_row)] {
                if n > 0 {
                    exec.env.push((name.into(), n.to_string().into_bytes()));
                }
            }
        }
        let session = &self.session;
        self.status = match self.running.run_during(|| session.exec(exec)) {
            Ok(outcome) => {
                // A failure is ignored: messages go to standard error, which may be closed.
                let _ = call::print_outcome(&outcome, false, &self.limits);
                outcome.exit_code
            }
            Err(e) => {
                let failure = CliFailure::from(e);
                message::say_message(&failure.text);
                failure.status
            }
        };
    }
}

/// Returns the status with which a command leaves the shell, if it is a lone `exit`. Inside a
/// script, `exit` ends the script.
fn exit_status_of(line: &str, status: u8) -> Option<u8> {
    let mut words = line.split_whitespace();
    if !matches!(words.next(), Some("exit" | "logout")) {
        return None;
    }
    match (words.next(), words.next()) {
        (None, _) => Some(status),
        // The lowest eight bits count, as in a shell.
        (Some(n), None) => n.parse::<i64>().ok().map(|n| n as u8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::exit_status_of;

    #[test]
    fn exit_leaves() {
        assert_eq!(
            (exit_status_of("exit\n", 3), exit_status_of(" exit 5 ", 3)),
            (Some(3), Some(5))
        );
        // bash -c 'exit 257'; echo $?
        assert_eq!(
            (exit_status_of("exit 257", 0), exit_status_of("exit -1", 0)),
            (Some(1), Some(255))
        );
        for no in ["exit 1 2", "exit; ls", "echo exit", "exit x"] {
            assert_eq!(exit_status_of(no, 0), None, "{no}");
        }
    }
}
