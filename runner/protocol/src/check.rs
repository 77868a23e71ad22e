//! The checks of requests. Everything that a door could check is checked here, once.

use crate::request::{Command, Exec, HistoryRequest, Request, ValueRequest, WorkspaceRequest};
use std::time::Duration;

/// Maximum bytes of a command, script or cell together with its variables. A call is sent to the
/// session's process as one message, which has at most 4 MiB in total.
pub const MAX_COMMAND: usize = 3 << 20;
/// Maximum number of arguments and variables.
pub const MAX_WORDS: usize = 100_000;
/// Maximum bytes of a path, as in the kernel.
const MAX_PATH: usize = 4096;
/// Maximum number of paths of a request about the workspace.
const MAX_PATHS: usize = 10_000;
/// The prefix of keys that belong to the host.
pub const OWN_KEYS: &[u8] = b"wasibox.";

/// The reason why a request is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestFault {
    /// A call has nothing to run, or more than one thing.
    #[error("a call is a script, a list of arguments or a cell of Python or JavaScript")]
    NoCommand,
    #[error("the command contains a NUL")]
    CommandNul,
    #[error("the command and its variables have {bytes} bytes, {MAX_COMMAND} at most")]
    CommandSize { bytes: usize },
    #[error("there are {count} arguments and variables, {MAX_WORDS} at most")]
    WordCount { count: usize },
    /// A variable has no name, a name with `=`, or a NUL in its name or value.
    #[error("env: '{0}' is not a valid variable")]
    Variable(String),
    #[error("cwd: '{0}' is not an absolute path")]
    Directory(String),
    /// A time is negative, zero, or too large.
    #[error("timeout must be a positive number of seconds")]
    Time,
    /// A key is empty or the host's own.
    #[error("a key has at least one byte and does not begin with wasibox.")]
    Key,
    /// A commit's name could be taken for its number.
    #[error("a commit's name must not be a number")]
    NumberAsName,
    /// A path has a NUL or is too long.
    #[error("'{0}' is not a valid path")]
    Path(String),
    /// A regular expression is malformed or too long.
    #[error("until: {0}")]
    Pattern(String),
    #[error("a signal is a number from 1 to 64")]
    Signal,
    #[error("there are {count} paths, {MAX_PATHS} at most")]
    PathCount { count: usize },
}

impl Request {
    /// Checks all that can be known about the request without a session: sizes, NULs, absolute
    /// paths, names.
    ///
    /// ```
    /// use wasibox_protocol::{Exec, Request, RequestFault};
    ///
    /// let mut exec = Exec::new(["ls"]);
    /// exec.env.push((b"A=".to_vec(), b"1".to_vec()));
    /// assert_eq!(Request::Exec(exec).check(), Err(RequestFault::Variable("A=".into())));
    /// ```
    ///
    /// # Errors
    /// The first fault that is found.
    pub fn check(&self) -> Result<(), RequestFault> {
        match self {
            Request::Exec(exec) => exec.check(),
            Request::History(HistoryRequest::Tag { name, .. }) if name.parse::<u64>().is_ok() => {
                Err(RequestFault::NumberAsName)
            }
            Request::Values(ValueRequest::Set { key, .. } | ValueRequest::Remove(key))
                if key.is_empty() || is_own_key(key) =>
            {
                Err(RequestFault::Key)
            }
            Request::Workspace(WorkspaceRequest::Diff(paths) | WorkspaceRequest::Apply(paths)) => {
                check_paths(paths)
            }
            Request::Processes(request) => request.check(),
            // A request about files is checked where the files are, because its errors describe
            // them.
            Request::Files(_)
            | Request::History(_)
            | Request::Values(_)
            | Request::Reset
            | Request::Tools
            | Request::Ports => Ok(()),
        }
    }
}

impl Exec {
    /// Checks the call, as [`Request::check`] does.
    ///
    /// ```
    /// use wasibox_protocol::{Exec, RequestFault};
    ///
    /// assert_eq!(Exec::script("a\0b").check(), Err(RequestFault::CommandNul));
    /// assert_eq!(Exec::python("'a\0b'").check(), Ok(())); // Python has a message for it.
    /// ```
    ///
    /// # Errors
    /// The first fault that is found.
    pub fn check(&self) -> Result<(), RequestFault> {
        let (count, bytes, has_nul) = match &self.command {
            Command::Program(argv) => {
                let is_named = argv.first().is_some_and(|name| !name.is_empty());
                if !is_named {
                    return Err(RequestFault::NoCommand);
                }
                let bytes = argv.iter().map(Vec::len).sum();
                (argv.len(), bytes, argv.iter().any(|word| word.contains(&0)))
            }
            Command::Script(script) => (1, script.len(), script.contains(&0)),
            Command::Cell { code, .. } => (1, code.len(), false),
        };
        if has_nul {
            return Err(RequestFault::CommandNul);
        }
        if let Some((name, _)) = self.env.iter().find(|variable| !is_variable(variable)) {
            return Err(RequestFault::Variable(String::from_utf8_lossy(name).into_owned()));
        }
        let variables: usize = self.env.iter().map(|(name, value)| name.len() + value.len()).sum();
        let (count, bytes) = (count + self.env.len(), bytes + variables);
        if count > MAX_WORDS {
            return Err(RequestFault::WordCount { count });
        }
        if bytes > MAX_COMMAND {
            return Err(RequestFault::CommandSize { bytes });
        }
        match &self.cwd {
            Some(cwd) if !cwd.starts_with('/') || !is_path(cwd) => {
                Err(RequestFault::Directory(cwd.clone()))
            }
            _ => Ok(()),
        }
    }
}

fn is_variable((name, value): &(Vec<u8>, Vec<u8>)) -> bool {
    !name.is_empty() && !name.iter().any(|b| matches!(b, 0 | b'=')) && !value.contains(&0)
}

fn is_path(path: &str) -> bool {
    path.len() <= MAX_PATH && !path.contains('\0')
}

fn check_paths(paths: &[String]) -> Result<(), RequestFault> {
    if paths.len() > MAX_PATHS {
        return Err(RequestFault::PathCount { count: paths.len() });
    }
    match paths.iter().find(|path| !is_path(path)) {
        Some(path) => Err(RequestFault::Path(path.clone())),
        None => Ok(()),
    }
}

/// Returns whether a key of the session's values is reserved for the host.
///
/// ```
/// assert!(wasibox_protocol::is_own_key(b"wasibox.tools"));
/// ```
pub fn is_own_key(key: &[u8]) -> bool {
    key.starts_with(OWN_KEYS)
}

/// Converts a number of seconds, the unit in which clients give times.
///
/// ```
/// use wasibox_protocol::{RequestFault, checked_seconds};
///
/// assert_eq!(checked_seconds(1.5).map(|time| time.as_millis()), Ok(1500));
/// assert_eq!(checked_seconds(0.0), Err(RequestFault::Time));
/// ```
///
/// # Errors
/// If it is negative, zero, not a number, or too large.
pub fn checked_seconds(seconds: f64) -> Result<Duration, RequestFault> {
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
    time.ok_or(RequestFault::Time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::FileRequest;

    #[test]
    fn commands_have_a_name_and_no_nul() {
        let none: [&str; 0] = [];
        assert_eq!(Exec::new(none).check(), Err(RequestFault::NoCommand));
        assert_eq!(Exec::new([""]).check(), Err(RequestFault::NoCommand));
        assert_eq!(Exec::new(["echo", ""]).check(), Ok(()));
        assert_eq!(Exec::new(["echo", "a\0"]).check(), Err(RequestFault::CommandNul));
        assert_eq!(Exec::script("").check(), Ok(()));
        assert_eq!(Exec::javascript("`\0`").check(), Ok(()));
    }

    #[test]
    fn variables_have_names() {
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "\0")] {
            let mut exec = Exec::script("env");
            exec.env = vec![("OK".into(), "a=b".into()), (name.into(), value.into())];
            assert_eq!(exec.check(), Err(RequestFault::Variable(name.into())), "{name:?}");
        }
    }

    #[test]
    fn directories_are_absolute() {
        for cwd in ["", "tmp", "./tmp", "~", "/a\0b", &format!("/{}", "a".repeat(MAX_PATH))] {
            let exec = Exec { cwd: Some(cwd.into()), ..Exec::script("pwd") };
            assert_eq!(exec.check(), Err(RequestFault::Directory(cwd.into())));
        }
        let exec = Exec { cwd: Some("/tmp/../a b".into()), ..Exec::script("pwd") };
        assert_eq!(exec.check(), Ok(()));
    }

    #[test]
    fn sizes_are_bounded() {
        let mut exec = Exec::script("x".repeat(MAX_COMMAND - 1));
        assert_eq!(exec.check(), Ok(()));
        exec.env = vec![("A".into(), "b".into())];
        assert_eq!(exec.check(), Err(RequestFault::CommandSize { bytes: MAX_COMMAND + 1 }));
        let exec = Exec::python(vec![b' '; MAX_COMMAND + 1]);
        assert_eq!(exec.check(), Err(RequestFault::CommandSize { bytes: MAX_COMMAND + 1 }));
        let exec = Exec::new(vec!["x"; MAX_WORDS + 1]);
        assert_eq!(exec.check(), Err(RequestFault::WordCount { count: MAX_WORDS + 1 }));
    }

    #[test]
    fn keys_and_names_of_the_host_are_refused() {
        for key in ["", "wasibox.", "wasibox.tools"] {
            let set = ValueRequest::Set { key: key.into(), value: Vec::new() };
            assert_eq!(Request::Values(set).check(), Err(RequestFault::Key));
            let removed = Request::Values(ValueRequest::Remove(key.into()));
            assert_eq!(removed.check(), Err(RequestFault::Key));
        }
        let tag =
            |name: &str| Request::History(HistoryRequest::Tag { name: name.into(), number: 1 });
        assert_eq!(tag("12").check(), Err(RequestFault::NumberAsName));
        assert_eq!(tag("v12").check(), Ok(()));
    }

    #[test]
    fn paths_of_the_workspace_are_bounded() {
        let diff = |paths: Vec<String>| Request::Workspace(WorkspaceRequest::Diff(paths)).check();
        assert_eq!(diff(vec!["src".into(), "a b".into()]), Ok(()));
        assert_eq!(diff(vec!["a\0".into()]), Err(RequestFault::Path("a\0".into())));
        let count = MAX_PATHS + 1;
        assert_eq!(diff(vec!["a".into(); count]), Err(RequestFault::PathCount { count }));
    }

    #[test]
    fn other_requests_need_no_check() {
        let made = Request::Files(FileRequest::MakeDir { path: "a".into() });
        for request in [made, Request::Reset, Request::Tools, Request::Values(ValueRequest::List)] {
            assert_eq!(request.check(), Ok(()));
        }
    }

    #[test]
    fn seconds_are_positive_and_finite() {
        for no in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(checked_seconds(no), Err(RequestFault::Time), "{no}");
        }
        assert_eq!(checked_seconds(0.25), Ok(Duration::from_millis(250)));
    }
}
