//! The requests that a session takes.

use crate::files::FileRequest;
use crate::process::ProcessRequest;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::time::Duration;

/// A request to a session. In JSON for example `{"history": "undo"}`.
///
/// ```
/// use wasibox_protocol::{Exec, HistoryRequest, Request};
///
/// let first = Request::from(Exec::script("echo hi > a"));
/// let second = Request::History(HistoryRequest::Undo);
/// assert!(first.check().is_ok() && second.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Runs a command, a script or a cell to its end. Answered by
    /// [`Answer::Outcome`](crate::Answer::Outcome).
    Exec(Exec),
    /// Reads or changes files without running a guest. Answered by
    /// [`Answer::Files`](crate::Answer::Files).
    Files(FileRequest),
    History(HistoryRequest),
    Values(ValueRequest),
    Workspace(WorkspaceRequest),
    /// Ends the interpreters; the next cell starts a new one. Answered by
    /// [`Answer::Done`](crate::Answer::Done).
    Reset,
    /// Lists the functions of the embedder that guests may call. Answered by
    /// [`Answer::Tools`](crate::Answer::Tools).
    Tools,
    Processes(ProcessRequest),
    /// Lists the ports at which programs of the session listen. Answered by
    /// [`Answer::Ports`](crate::Answer::Ports).
    Ports,
}

impl<E: Into<Exec>> From<E> for Request {
    fn from(exec: E) -> Request {
        Request::Exec(exec.into())
    }
}

/// A request about the session's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryRequest {
    /// Lists the commits, or the given number of newest ones, the oldest first. Answered by
    /// [`Answer::Commits`](crate::Answer::Commits).
    List { last: Option<usize> },
    /// Returns the current commit. This request and the moves below are answered by
    /// [`Answer::Commit`](crate::Answer::Commit).
    Head,
    /// Moves to the commit before the current one.
    Undo,
    /// Moves forward again.
    Redo,
    /// Makes a new commit with the state of an earlier one.
    Restore(u64),
    /// Moves to a commit, as if nothing had happened since.
    RollBack(u64),
    /// Gives a commit a name. Answered by [`Answer::Done`](crate::Answer::Done).
    Tag { name: String, number: u64 },
    /// Removes a name. Answered by [`Answer::Done`](crate::Answer::Done).
    Untag(String),
    /// Lists the names. Answered by [`Answer::Tags`](crate::Answer::Tags).
    Tags,
}

/// A request about the session's key-values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueRequest {
    /// Answered by [`Answer::Value`](crate::Answer::Value).
    Get(Vec<u8>),
    /// Answered by [`Answer::Done`](crate::Answer::Done).
    Set { key: Vec<u8>, value: Vec<u8> },
    /// Answered by [`Answer::Removed`](crate::Answer::Removed).
    Remove(Vec<u8>),
    /// Lists the keys that are not the host's own. Answered by
    /// [`Answer::Keys`](crate::Answer::Keys).
    List,
}

/// A request about the folder that the session works in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceRequest {
    /// Compares the folder with its original, limited to these paths and everything below them (all
    /// if there are none). Answered by [`Answer::Diff`](crate::Answer::Diff).
    Diff(Vec<String>),
    /// Brings changes back to the host's folder, limited in the same way. Answered by
    /// [`Answer::Applied`](crate::Answer::Applied).
    Apply(Vec<String>),
}

/// A command, a script or a cell, and how it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exec {
    pub command: Command,
    /// Variables that are added to the session's environment and replace existing ones of the same
    /// name.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// The working directory in the guest, as an absolute path. The default is the session's
    /// directory.
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
}

/// The program, script or code that a call runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// A program and its arguments; the first is the program's name or path.
    Program(Vec<Vec<u8>>),
    /// A script for the session's shell, which is bash.
    Script(#[serde(with = "serde_bytes")] Vec<u8>),
    /// Code for an interpreter that stays alive from call to call.
    Cell {
        language: Language,
        #[serde(with = "serde_bytes")]
        code: Vec<u8>,
    },
}

/// The language of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    Python,
    JavaScript,
}

/// The name of the session's Python interpreter.
pub const PYTHON: &str = "python";
/// The name of the session's JavaScript interpreter.
pub const JAVASCRIPT: &str = "javascript";

impl Language {
    /// Returns the name of the session's interpreter.
    ///
    /// ```
    /// assert_eq!(wasibox_protocol::Language::JavaScript.interpreter(), "javascript");
    /// ```
    pub fn interpreter(self) -> &'static str {
        match self {
            Language::Python => PYTHON,
            Language::JavaScript => JAVASCRIPT,
        }
    }

    /// Returns the command of the image that runs it.
    ///
    /// ```
    /// assert_eq!(wasibox_protocol::Language::Python.program(), "python3");
    /// ```
    pub fn program(self) -> &'static str {
        match self {
            Language::Python => "python3",
            Language::JavaScript => "node",
        }
    }
}

/// The source of standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// These bytes.
    Bytes(#[serde(with = "serde_bytes")] Vec<u8>),
    /// The caller's standard input.
    Inherit,
}

/// The destination of standard output and standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// The outcome, up to this many bytes of both streams together.
    Capture { limit: u64 },
    /// The caller's own streams, without delay; the policy's limit applies.
    Inherit,
}

/// Maximum bytes that are captured by default: 16 MiB.
pub const CAPTURE: u64 = 16 << 20;

impl Exec {
    /// Makes a call of `command` with no input, captured output (16 MiB at most), the default
    /// environment and directory, and the policy's limits.
    ///
    /// ```
    /// use wasibox_protocol::{Command, Exec};
    ///
    /// let exec = Exec::from_command(Command::Script(b"ls".to_vec()));
    /// assert!(exec.env.is_empty() && exec.list_files);
    /// ```
    pub fn from_command(command: Command) -> Exec {
        Exec {
            command,
            env: Vec::new(),
            cwd: None,
            input: Input::Bytes(Vec::new()),
            output: Output::Capture { limit: CAPTURE },
            timeout: None,
            list_files: true,
            keep_background: false,
            raw_terminal: false,
        }
    }

    /// Makes a call of a program with its arguments, which no shell interprets.
    ///
    /// ```
    /// use wasibox_protocol::{Command, Exec};
    ///
    /// let sort = Exec::new(["sort", "-n", "numbers.txt"]);
    /// assert!(matches!(sort.command, Command::Program(argv) if argv.len() == 3));
    /// ```
    pub fn new<S: Into<OsString>>(argv: impl IntoIterator<Item = S>) -> Exec {
        let argv = argv.into_iter().map(|word| word.into().into_encoded_bytes());
        Exec::from_command(Command::Program(argv.collect()))
    }

    /// Makes a cell for the session's Python interpreter. Variables, imports and open files stay
    /// for the next cell. The value of the last expression is in the outcome
    /// ([`Outcome::value`](crate::Outcome)).
    ///
    /// ```
    /// use wasibox_protocol::{Command, Exec, Language};
    ///
    /// let cell = Exec::python("import math; math.pi");
    /// assert!(matches!(cell.command, Command::Cell { language: Language::Python, .. }));
    /// ```
    pub fn python(code: impl Into<Vec<u8>>) -> Exec {
        Exec::from_command(Command::Cell { language: Language::Python, code: code.into() })
    }

    /// Makes a cell for the session's JavaScript interpreter. Top-level `let`, `const` and classes
    /// may be declared again, and `await` and `import` are allowed at the top level.
    ///
    /// ```
    /// use wasibox_protocol::{Command, Exec, Language};
    ///
    /// let cell = Exec::javascript("[1, 2, 3].map((n) => n * n)");
    /// assert!(matches!(cell.command, Command::Cell { language: Language::JavaScript, .. }));
    /// ```
    pub fn javascript(code: impl Into<Vec<u8>>) -> Exec {
        Exec::from_command(Command::Cell { language: Language::JavaScript, code: code.into() })
    }

    /// Makes a script for the session's shell, which is bash. It continues with the variables,
    /// functions, options and the directory of the last call, and leaves its own to the next one.
    /// In a session without a history the shell starts fresh.
    ///
    /// ```
    /// use wasibox_protocol::{Command, Exec};
    ///
    /// assert_eq!(Exec::script("cd /tmp; ls").command, Command::Script(b"cd /tmp; ls".to_vec()));
    /// ```
    pub fn script(script: impl Into<OsString>) -> Exec {
        Exec::from_command(Command::Script(script.into().into_encoded_bytes()))
    }

    /// Returns the maximum number of bytes that are captured.
    ///
    /// ```
    /// assert_eq!(wasibox_protocol::Exec::script("ls").capture_limit(), 16 << 20);
    /// ```
    pub fn capture_limit(&self) -> u64 {
        match self.output {
            Output::Capture { limit } => limit,
            Output::Inherit => 0,
        }
    }

    /// Shortens the call's own time limit to the policy's limit `most`, if there is one. A call
    /// without a time limit of its own has the policy's anyway.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wasibox_protocol::Exec;
    ///
    /// let mut exec = Exec::script("sleep 60");
    /// exec.timeout = Some(Duration::from_secs(60));
    /// exec.cap_timeout(Some(Duration::from_secs(5)));
    /// assert_eq!(exec.timeout, Some(Duration::from_secs(5)));
    /// ```
    pub fn cap_timeout(&mut self, most: Option<Duration>) {
        self.timeout = self.timeout.map(|asked| most.map_or(asked, |most| most.min(asked)));
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
