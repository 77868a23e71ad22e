//! What can be asked of a session.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

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
    /// Added to the default environment ([`Exec::default_env`]), replacing names that
    /// are there.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// Working directory in the guest, absolute.
    pub cwd: String,
    pub input: Input,
    pub output: Output,
    /// Limit of wall-clock time instead of the policy's.
    pub timeout: Option<Duration>,
    /// Whether the outcome lists changed files.
    pub list_files: bool,
    /// Whether a terminal that output goes to gets every byte as it is, not text and colours only.
    pub raw_terminal: bool,
}

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

/// The home of a session's user, and the directory commands start in.
pub const HOME: &str = "/home/user";

impl Exec {
    /// A command with no input, captured output (16 MiB at most), the default
    /// environment and directory, and the policy's limits.
    pub fn new<S: Into<OsString>>(argv: impl IntoIterator<Item = S>) -> Exec {
        Exec {
            argv: argv.into_iter().map(|a| a.into().into_vec()).collect(),
            env: Vec::new(),
            cwd: HOME.into(),
            input: Input::Bytes(Vec::new()),
            output: Output::Capture { limit: CAPTURE },
            timeout: None,
            list_files: true,
            raw_terminal: false,
        }
    }

    /// What every command finds in its environment, besides `PWD`.
    pub fn default_env() -> &'static [(&'static str, &'static str)] {
        &[
            ("HOME", HOME),
            ("HOSTNAME", "box"),
            ("LANG", "C.UTF-8"),
            ("LOGNAME", "user"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("SHELL", "/bin/sh"),
            ("TERM", "dumb"),
            ("TZ", "UTC"),
            ("USER", "user"),
        ]
    }

    /// The environment as `NAME=value` strings.
    pub(crate) fn environment(&self) -> Vec<Vec<u8>> {
        let mut all: Vec<(Vec<u8>, Vec<u8>)> = Exec::default_env()
            .iter()
            .map(|(k, v)| (k.as_bytes().to_vec(), v.as_bytes().to_vec()))
            .collect();
        all.push((b"PWD".to_vec(), self.cwd.clone().into_bytes()));
        for (k, v) in &self.env {
            all.retain(|(name, _)| name != k);
            all.push((k.clone(), v.clone()));
        }
        all.into_iter().map(|(k, v)| [&k, b"=".as_slice(), &v].concat()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_variables_replace_default_ones() {
        let mut e = Exec::new(["true"]);
        e.env = vec![(b"HOME".to_vec(), b"/x".to_vec()), (b"A".to_vec(), b"b=c".to_vec())];
        e.cwd = "/tmp".into();
        let env = e.environment();
        let has = |s: &[u8]| env.iter().filter(|v| *v == s).count();
        assert_eq!((has(b"HOME=/x"), has(b"HOME=/home/user")), (1, 0));
        assert_eq!((has(b"A=b=c"), has(b"PWD=/tmp"), has(b"TZ=UTC")), (1, 1, 1));
    }
}
