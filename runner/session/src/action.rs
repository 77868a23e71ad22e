//! The requests that a session takes.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;
use wasibox_vfs::around::{self, SESSION_OPTION, SESSION_SHELL};
pub use wasibox_vfs::around::{HOME, ShellSurroundings};

/// A request to a [`crate::Session`].
#[derive(Clone, Debug)]
pub enum Action {
    /// Runs a command to its end.
    Exec(Exec),
}

/// A command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exec {
    /// The arguments; the first is the command.
    pub argv: Vec<Vec<u8>>,
    /// Variables that are added to the session's environment, which starts as
    /// [`Exec::default_env`], and replace existing ones of the same name.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// The working directory in the guest, as an absolute path. The default is the session's
    /// directory, which starts as [`HOME`].
    pub cwd: Option<String>,
    pub input: Input,
    pub output: Output,
    /// The limit of wall-clock time, in place of the policy's.
    pub timeout: Option<Duration>,
    /// Whether the outcome lists changed files.
    pub list_files: bool,
    /// Whether processes that still run when the command has ended continue until they end, or the
    /// session is parked, closed, or moved to another of its states. Their output to captured
    /// streams is then discarded.
    pub keep_background: bool,
    /// Whether a terminal receives output byte by byte as it is, instead of text and colours only.
    pub raw_terminal: bool,
    /// The directory, umask and environment with which the session's shell ended the last call.
    place: Option<ShellSurroundings>,
    /// Code for a live interpreter, in place of a command.
    pub(crate) cell: Option<CellRequest>,
}

/// Code for an interpreter of the session that stays alive from call to call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CellRequest {
    /// The interpreter's name.
    pub name: String,
    pub code: Vec<u8>,
}

/// The name of the session's Python interpreter.
pub const PYTHON: &str = "python";
/// The name of the session's JavaScript interpreter.
pub const JAVASCRIPT: &str = "javascript";

/// The source of standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// These bytes.
    Bytes(Vec<u8>),
    /// This process's standard input.
    Inherit,
}

/// The destination of standard output and standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// The outcome, which has at most this many bytes of the two streams together.
    Capture { limit: u64 },
    /// This process's own streams, without delay; the policy's limit applies.
    Inherit,
}

/// Maximum bytes that are captured by default: 16 MiB.
pub const CAPTURE: u64 = 16 << 20;

impl Exec {
    /// Makes a command with no input, captured output (16 MiB at most), the default environment and
    /// directory, and the policy's limits.
    ///
    /// ```
    /// use wasibox::Exec;
    ///
    /// let sort = Exec::new(["sort", "-n", "numbers.txt"]);
    /// assert_eq!(sort.argv.len(), 3);
    /// ```
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

    /// Makes a cell for the session's Python interpreter. Variables, imports and open files stay
    /// for the next cell. The value of the last expression is in the outcome
    /// ([`Outcome::value`](crate::Outcome)).
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::Exec;
    ///
    /// session.exec(Exec::python("import math; r = 2"))?;
    /// let area = session.exec(Exec::python("math.pi * r ** 2"))?;
    /// assert_eq!(area.value.as_deref(), Some("12.566370614359172"));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn python(code: impl Into<Vec<u8>>) -> Exec {
        let cell = CellRequest { name: PYTHON.into(), code: code.into() };
        Exec { cell: Some(cell), ..Exec::new(["python3"]) }
    }

    /// Makes a cell for the session's JavaScript interpreter. Top-level `let`, `const` and classes
    /// may be declared again, and `await` and `import` are allowed at the top level.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::Exec;
    ///
    /// let outcome = session.exec(Exec::javascript("[1, 2, 3].map((n) => n * n)"))?;
    /// assert_eq!(outcome.value_json.as_deref(), Some("[1,4,9]"));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn javascript(code: impl Into<Vec<u8>>) -> Exec {
        let cell = CellRequest { name: JAVASCRIPT.into(), code: code.into() };
        Exec { cell: Some(cell), ..Exec::new(["node"]) }
    }

    /// Makes a script for the session's shell, which is bash. It continues with the variables,
    /// functions, options and the directory of the last call, and leaves its own to the next one.
    /// In a session without a history the shell starts fresh.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::Exec;
    ///
    /// session.exec(Exec::script("cd /tmp; count() { ls | wc -l; }"))?;
    /// assert_eq!(session.exec(Exec::script("count"))?.stdout, b"0\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn script(script: impl Into<OsString>) -> Exec {
        Exec::new([
            OsString::from(SESSION_SHELL),
            SESSION_OPTION.into(),
            "-c".into(),
            script.into(),
        ])
    }

    /// Returns the command as a person would type it.
    pub(crate) fn command_text(&self) -> Vec<u8> {
        if let Some(cell) = &self.cell {
            return cell.code.clone();
        }
        match self.as_script() {
            Some(script) => script.to_vec(),
            None => self.argv.iter().map(|a| around::quote_word(a)).collect::<Vec<_>>().join(&b' '),
        }
    }

    /// Returns the script, if the command is one for the session's shell.
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

    /// Returns the state with which a script's shell starts, if it differs from `state`. Moves the
    /// command's variables from the environment into the returned state, because the shell keeps
    /// only variables of its state.
    pub(crate) fn state_after(&mut self, state: &[u8]) -> Option<Vec<u8>> {
        self.as_script()?;
        let cwd = self.cwd.as_ref().map(|cwd| cwd.as_bytes());
        let state = around::state_after(state, cwd, &self.env)?;
        self.env.clear();
        Some(state)
    }

    /// Gives a command the directory, umask and environment of `state`. A script's shell reads the
    /// state itself; without one, its argument that asks for the state is removed, so that it
    /// starts fresh.
    pub(crate) fn go_on(&mut self, state: Option<&[u8]>) {
        match (self.as_script(), state) {
            (Some(_), None) => drop(self.argv.remove(1)),
            (Some(_), Some(_)) => {}
            (None, state) => self.place = state.and_then(ShellSurroundings::from_state),
        }
    }

    /// Returns the maximum number of bytes that are captured.
    pub(crate) fn capture_limit(&self) -> u64 {
        match self.output {
            Output::Capture { limit } => limit,
            Output::Inherit => 0,
        }
    }

    /// Returns the directory in which the command starts.
    pub(crate) fn directory(&self) -> Vec<u8> {
        let place = || self.place.as_ref()?.cwd.clone();
        match &self.cwd {
            Some(cwd) => cwd.clone().into_bytes(),
            None => place().unwrap_or_else(|| HOME.into()),
        }
    }

    /// Returns the variables in every command's environment, in addition to `PWD`.
    ///
    /// ```
    /// use wasibox::Exec;
    ///
    /// assert!(Exec::default_env().iter().any(|(name, _)| *name == "PATH"));
    /// ```
    pub fn default_env() -> &'static [(&'static str, &'static str)] {
        around::ENVIRONMENT
    }

    /// Returns the environment as `NAME=value` strings.
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
