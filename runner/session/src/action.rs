//! What can be asked of a session.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;
use wasibox_vfs::around::{self, SESSION_OPTION, SESSION_SHELL};
pub use wasibox_vfs::around::{HOME, ShellSurroundings};

/// A request to a [`crate::Session`].
#[derive(Clone, Debug)]
pub enum Action {
    /// Run a command to its end.
    Exec(Exec),
}

/// A command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exec {
    /// Arguments; the first is the command.
    pub argv: Vec<Vec<u8>>,
    /// Added to the session's environment, which begins as [`Exec::default_env`], replacing names
    /// that are there.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// Working directory in the guest, absolute. By default that of the session, which begins in [`HOME`].
    pub cwd: Option<String>,
    pub input: Input,
    pub output: Output,
    /// Limit of wall-clock time instead of the policy's.
    pub timeout: Option<Duration>,
    /// Whether the outcome lists changed files.
    pub list_files: bool,
    /// Whether processes that still run when the command has ended go on: until they end, or the session is
    /// parked, closed, or moved to another of its states. What they write to captured streams then goes nowhere.
    pub keep_background: bool,
    /// Whether a terminal that output goes to gets every byte as it is, not text and colours only.
    pub raw_terminal: bool,
    /// Where the session's shell was when the call before ended.
    place: Option<ShellSurroundings>,
    /// Code for an interpreter that stays, instead of a command.
    pub(crate) cell: Option<CellRequest>,
}

/// Code for an interpreter of the session's that stays from call to call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CellRequest {
    /// Which interpreter.
    pub name: String,
    pub code: Vec<u8>,
}

/// The name of the session's Python interpreter.
pub const PYTHON: &str = "python";
/// The name of its JavaScript interpreter.
pub const JAVASCRIPT: &str = "javascript";

/// Where standard input comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// These bytes.
    Bytes(Vec<u8>),
    /// This process's standard input.
    Inherit,
}

/// Where standard output and error go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// Into the outcome, at most this many bytes together.
    Capture { limit: u64 },
    /// To this process's own, as they come; the policy's limit applies.
    Inherit,
}

/// What is captured at most if nothing else is said: 16 MiB.
pub const CAPTURE: u64 = 16 << 20;

impl Exec {
    /// A command with no input, captured output (16 MiB at most), the default
    /// environment and directory, and the policy's limits.
    pub fn new<S: Into<OsString>>(argv: impl IntoIterator<Item = S>) -> Exec {
        Exec {
            argv: argv.into_iter().map(|a| a.into().into_vec()).collect(),
            env: Vec::new(),
            cwd: None,
            input: Input::Bytes(Vec::new()),
            output: Output::Capture { limit: CAPTURE },
            timeout: None,
            list_files: true,
            keep_background: false,
            raw_terminal: false,
            place: None,
            cell: None,
        }
    }

    /// A cell of the session's Python interpreter: variables, imports and open files stay for the next one. The
    /// value of its last expression is in the outcome ([`Outcome::value`](crate::Outcome)).
    pub fn python(code: impl Into<Vec<u8>>) -> Exec {
        let cell = CellRequest { name: PYTHON.into(), code: code.into() };
        Exec { cell: Some(cell), ..Exec::new(["python3"]) }
    }

    /// The same in the session's JavaScript interpreter: `let`, `const` and classes of its top may be declared again,
    /// `await` and `import` are allowed there.
    pub fn javascript(code: impl Into<Vec<u8>>) -> Exec {
        let cell = CellRequest { name: JAVASCRIPT.into(), code: code.into() };
        Exec { cell: Some(cell), ..Exec::new(["node"]) }
    }

    /// A script for the session's shell, which is bash: it goes on with the variables, functions, options and the directory
    /// of the call before, and leaves its own to the next. In a session without a history it
    /// is a shell of its own.
    pub fn script(script: impl Into<OsString>) -> Exec {
        Exec::new([
            OsString::from(SESSION_SHELL),
            SESSION_OPTION.into(),
            "-c".into(),
            script.into(),
        ])
    }

    /// What runs, as a person would type it.
    pub(crate) fn command_text(&self) -> Vec<u8> {
        if let Some(cell) = &self.cell {
            return cell.code.clone();
        }
        match self.as_script() {
            Some(script) => script.to_vec(),
            None => self.argv.iter().map(|a| around::quote_word(a)).collect::<Vec<_>>().join(&b' '),
        }
    }

    /// The script for the session's shell, if it is one.
    fn as_script(&self) -> Option<&[u8]> {
        match self.argv.as_slice() {
            [shell, session, _, script]
                if shell == SESSION_SHELL.as_bytes() && session == SESSION_OPTION.as_bytes() =>
            {
                Some(script)
            }
            _ => None,
        }
    }

    /// The state that a script's shell begins with, if it is not that of the last one. Takes the variables, which
    /// would be those of a fresh shell otherwise, and not be kept.
    pub(crate) fn state_after(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        self.as_script()?;
        let cwd = self.cwd.as_ref().map(|cwd| cwd.as_bytes());
        let state = around::state_after(state, cwd, &self.env)?;
        self.env.clear();
        Some(state)
    }

    /// Goes on where the session's shell was, which does so by itself; where no state is kept, it is a
    /// shell of its own.
    pub(crate) fn go_on(&mut self, state: Option<&[u8]>) {
        match (self.as_script(), state) {
            (Some(_), None) => drop(self.argv.remove(1)),
            (Some(_), Some(_)) => {}
            (None, state) => self.place = state.and_then(ShellSurroundings::from_state),
        }
    }

    /// Bytes that are captured at most.
    pub(crate) fn capture_limit(&self) -> u64 {
        match self.output {
            Output::Capture { limit } => limit,
            Output::Inherit => 0,
        }
    }

    /// The directory that it begins in.
    pub(crate) fn directory(&self) -> Vec<u8> {
        let place = || self.place.as_ref()?.cwd.clone();
        match &self.cwd {
            Some(cwd) => cwd.clone().into_bytes(),
            None => place().unwrap_or_else(|| HOME.into()),
        }
    }

    /// What every command finds in its environment, besides `PWD`.
    pub fn default_env() -> &'static [(&'static str, &'static str)] {
        around::ENVIRONMENT
    }

    /// The environment as `NAME=value` strings.
    pub(crate) fn environment(&self) -> Vec<Vec<u8>> {
        around::command_environment(self.place.as_ref(), &self.directory(), &self.env)
    }
}

impl From<&str> for Exec {
    fn from(script: &str) -> Exec {
        Exec::script(script)
    }
}

impl From<String> for Exec {
    fn from(script: String) -> Exec {
        Exec::script(script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_variables_replace_default_ones() {
        let mut e = Exec::new(["true"]);
        e.env = vec![(b"HOME".to_vec(), b"/x".to_vec()), (b"A".to_vec(), b"b=c".to_vec())];
        e.cwd = Some("/tmp".into());
        let env = e.environment();
        let has = |s: &[u8]| env.iter().filter(|v| *v == s).count();
        assert_eq!((has(b"HOME=/x"), has(b"HOME=/home/user")), (1, 0));
        assert_eq!((has(b"A=b=c"), has(b"PWD=/tmp"), has(b"TZ=UTC")), (1, 1, 1));
    }
}
