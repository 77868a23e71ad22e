//! A call: its request, and its output as it is written.

use crate::failure::SdkFailure;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::time::Duration;
use wasibox::{Cancel, Exec, InheritedStreams, Input, Outcome, Output, Session};

/// The maximum number of bytes of output in a chunk.
const CHUNK: usize = 64 << 10;
/// The maximum number of bytes of output that are captured by default.
const CAPTURE: u64 = 16 << 20;

/// The command of a call, and its options.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CallOptions {
    /// A script for the session's shell; or
    script: Option<String>,
    /// arguments of a command; or
    argv: Option<Vec<String>>,
    /// a cell of the session's Python interpreter; or
    python: Option<String>,
    /// of its JavaScript interpreter.
    javascript: Option<String>,
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    /// Seconds.
    timeout: Option<f64>,
    /// The maximum number of bytes of output that are captured.
    max_output: Option<u64>,
    /// Whether changed files are listed; true by default.
    list_files: Option<bool>,
    keep_background: bool,
}

impl CallOptions {
    /// Parses options from JSON.
    ///
    /// # Errors
    /// Returns an error if they are invalid.
    pub fn parse(text: &str) -> Result<CallOptions, SdkFailure> {
        Ok(serde_json::from_str(text)?)
    }

    /// Returns the call, with its standard input.
    ///
    /// # Errors
    /// Returns an error for an invalid time or variable, and if there is nothing to run or more
    /// than one thing.
    pub fn exec(self, stdin: Vec<u8>) -> Result<Exec, SdkFailure> {
        let mut exec = match (self.script, self.argv, self.python, self.javascript) {
            (Some(script), None, None, None) => Exec::script(script),
            (None, Some(argv), None, None) if !argv.is_empty() => Exec::new(argv),
            (None, None, Some(code), None) => Exec::python(code),
            (None, None, None, Some(code)) => Exec::javascript(code),
            _ => {
                return Err(SdkFailure::invalid(
                    "a call is a script, a list of arguments or a cell of Python or JavaScript",
                ));
            }
        };
        for (name, value) in self.env {
            let is_bad = name.is_empty() || name.contains('=');
            if is_bad || name.contains('\0') || value.contains('\0') {
                return Err(SdkFailure::invalid(format!("env: '{name}' is no variable")));
            }
            exec.env.push((name.into(), value.into()));
        }
        if let Some(cwd) = self.cwd {
            if !cwd.starts_with('/') {
                return Err(SdkFailure::invalid(format!("cwd: '{cwd}' is not an absolute path")));
            }
            exec.cwd = Some(cwd);
        }
        if let Some(seconds) = self.timeout {
            let timeout = Duration::try_from_secs_f64(seconds).ok().filter(|t| !t.is_zero());
            exec.timeout = Some(timeout.ok_or_else(|| {
                SdkFailure::invalid("timeout must be a positive number of seconds")
            })?);
        }
        exec.input = Input::Bytes(stdin);
        exec.output = Output::Capture { limit: self.max_output.unwrap_or(CAPTURE) };
        exec.list_files = self.list_files.unwrap_or(true);
        exec.keep_background = self.keep_background;
        Ok(exec)
    }
}

/// The maximum number of bytes of standard input that are sent with the command; more is sent
/// through a pipe.
const INPUT: usize = 256 << 10;

/// A receiver of output: whether it is standard error, and its bytes.
pub type Chunk<'a> = &'a (dyn Fn(bool, &[u8]) + Sync);

/// Runs a call until it ends or is cancelled. With `chunk`, output is passed on as it is written,
/// in addition to the outcome.
///
/// # Errors
/// Returns an error if the call could not be started or was cancelled before, or if the session's
/// process died. A command that fails is an outcome.
pub fn run(
    session: &Session,
    mut exec: Exec,
    cancel: &Cancel,
    chunk: Option<Chunk<'_>>,
) -> Result<Outcome, SdkFailure> {
    // A call's own time limit never exceeds the policy's.
    let most = session.policy().limits.timeout;
    exec.timeout = match (exec.timeout, most) {
        (Some(asked), Some(most)) => Some(asked.min(most)),
        (asked, _) => asked,
    };
    let is_short = matches!(&exec.input, Input::Bytes(bytes) if bytes.len() <= INPUT);
    if is_short && chunk.is_none() {
        return Ok(session.exec_unless(exec, cancel, None)?);
    }
    let input = match &mut exec.input {
        Input::Bytes(bytes) if bytes.len() > INPUT => std::mem::take(bytes),
        _ => Vec::new(),
    };
    let (stdin, feed) = pipe()?;
    if !input.is_empty() {
        exec.input = Input::Inherit;
    }
    let limit = match exec.output {
        Output::Capture { limit } => limit,
        Output::Inherit => 0,
    };
    let ((out, out_end), (err, err_end)) = (pipe()?, pipe()?);
    std::thread::scope(|scope| {
        let readers = chunk.map(|chunk| {
            exec.output = Output::Inherit;
            let stdout = scope.spawn(move || drain_pipe(out, limit, &|bytes| chunk(false, bytes)));
            let stderr = scope.spawn(move || drain_pipe(err, limit, &|bytes| chunk(true, bytes)));
            (stdout, stderr)
        });
        scope.spawn(move || write_all(feed, &input));
        let streams = InheritedStreams { stdin: &stdin, stdout: &out_end, stderr: &err_end };
        let result = session.exec_unless(exec, cancel, Some(&streams));
        // A reader ends with the last writer, and a writer with the last reader.
        drop((stdin, out_end, err_end));
        let Some((stdout, stderr)) = readers else { return Ok(result?) };
        let (stdout, is_cut) = stdout.join().unwrap_or_default();
        let (stderr, is_cut_too) = stderr.join().unwrap_or_default();
        let mut outcome = result?;
        outcome.truncated |= is_cut || is_cut_too;
        (outcome.stdout, outcome.stderr) = (stdout, stderr);
        Ok(outcome)
    })
}

/// Writes standard input, as far as it is read.
fn write_all(mut to: PipeWriter, bytes: &[u8]) {
    let _ = to.write_all(bytes);
}

/// Reads to the end. Returns the first `limit` bytes and whether there were more.
fn drain_pipe(mut from: PipeReader, limit: u64, tell: &dyn Fn(&[u8])) -> (Vec<u8>, bool) {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut kept, mut is_cut) = (Vec::new(), false);
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return (kept, is_cut),
            Ok(n) => {
                tell(&buffer[..n]);
                let room = (limit - kept.len()).min(n);
                kept.extend_from_slice(&buffer[..room]);
                is_cut |= room < n;
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return (kept, true),
        }
    }
}

/// Splits an outcome into standard output, standard error, and the rest as JSON in the format of
/// `runner exec --json`.
pub fn outcome_parts(mut outcome: Outcome) -> (Vec<u8>, Vec<u8>, String) {
    let stdout = std::mem::take(&mut outcome.stdout);
    let stderr = std::mem::take(&mut outcome.stderr);
    let rest = serde_json::to_string(&outcome).unwrap_or_else(|_| "{}".to_owned());
    (stdout, stderr, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exec(text: &str) -> Result<Exec, String> {
        let options = CallOptions::parse(text).map_err(|e| e.text)?;
        options.exec(b"in".to_vec()).map_err(|e| e.text)
    }

    #[test]
    fn options_become_a_call() {
        let text = r#"{"argv": ["ls", "-l"], "env": {"A": "b"}, "cwd": "/tmp", "timeout": 1.5,
                       "max_output": 10, "list_files": false}"#;
        let e = exec(text).unwrap();
        assert_eq!(e.argv, [b"ls".to_vec(), b"-l".to_vec()]);
        assert_eq!(e.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(e.output, Output::Capture { limit: 10 });
        assert_eq!((e.input, e.list_files), (Input::Bytes(b"in".to_vec()), false));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, why) in [
            ("{}", "a call is"),
            (r#"{"script": "a", "python": "b"}"#, "a call is"),
            (r#"{"python": "a", "javascript": "b"}"#, "a call is"),
            (r#"{"argv": []}"#, "a call is"),
            (r#"{"script": "a", "env": {"A=": "b"}}"#, "'A='"),
            (r#"{"script": "a", "cwd": "tmp"}"#, "absolute"),
            (r#"{"script": "a", "timeout": 0}"#, "no time"),
            (r#"{"script": "a", "timeout": -1}"#, "no time"),
            (r#"{"script": "a", "time": 1}"#, "time"),
        ] {
            assert!(exec(text).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn what_is_drained_is_told_whole_and_kept_in_part() {
        let (from, mut to) = pipe().unwrap();
        let writer = std::thread::spawn(move || {
            use std::io::Write;
            to.write_all(&[7; 100_000]).unwrap();
        });
        let told = std::sync::atomic::AtomicUsize::new(0);
        let count = |bytes: &[u8]| {
            told.fetch_add(bytes.len(), std::sync::atomic::Ordering::Relaxed);
        };
        let (kept, is_cut) = drain_pipe(from, 1000, &count);
        writer.join().unwrap();
        assert_eq!((kept.len(), is_cut, told.into_inner()), (1000, true, 100_000));
    }
}
