//! Requests about processes that continue from call to call, and their answers.

use crate::check::{MAX_COMMAND, RequestFault, checked_seconds};
use crate::outcome::End;
use crate::request::{Command, Exec, Input};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Bytes of output that one answer has by default, and at most.
pub const READ_OUTPUT: u64 = 32 << 10;
pub const MAX_READ: u64 = 1 << 20;
/// Bytes of a process's output that are kept.
pub const KEPT_OUTPUT: usize = 1 << 20;
/// The longest wait of one request.
pub const MAX_WAIT: Duration = Duration::from_secs(3600);
/// Maximum bytes of a pattern.
const MAX_PATTERN: usize = 4096;

/// A request about processes. In JSON for example `{"start": {"script": "npm start"}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessRequest {
    /// Begins a process that runs beside calls. Answered by
    /// [`Answer::Process`](crate::Answer::Process).
    Start(ProcessStart),
    /// Returns output, and waits for it. Answered by
    /// [`Answer::ProcessOutput`](crate::Answer::ProcessOutput).
    Read(ProcessRead),
    /// Writes input. Answered by [`Answer::Process`](crate::Answer::Process).
    Write(ProcessWrite),
    /// Sends a signal. Answered by [`Answer::Process`](crate::Answer::Process).
    Kill(ProcessKill),
    /// Lists the processes that run, and those that ended last. Answered by
    /// [`Answer::Processes`](crate::Answer::Processes).
    List,
}

/// The process to begin: a script or a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ProcessStart {
    /// A script for a bash of its own, which begins in the session's directory with its exported
    /// variables. A process has either `script` or `argv`.
    pub script: Option<String>,
    /// A program with its arguments.
    pub argv: Option<Vec<String>>,
    pub env: BTreeMap<String, String>,
    /// The directory in which it starts, as an absolute path.
    pub cwd: Option<String>,
    /// The time limit in seconds; none by default.
    pub timeout: Option<f64>,
    /// Whether it has a terminal. Without one its standard input is a pipe.
    pub terminal: bool,
    /// The size of the terminal: 24 rows of 80 columns by default.
    pub size: Option<ScreenSize>,
}

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScreenSize {
    pub rows: u16,
    pub columns: u16,
}

/// What is read of a process's output, and what is waited for. Without any of `until`, `port` and
/// `wait` nothing is waited for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ProcessRead {
    pub process: u64,
    /// The position from which output is returned, `next` of an earlier answer; by default where the
    /// last read without a position has ended.
    pub after: Option<u64>,
    /// Seconds to wait: for `until` or `port`, or without them for any output. The end of the
    /// process ends every wait.
    pub wait: Option<f64>,
    /// A regular expression to wait for in the output from that position on.
    pub until: Option<String>,
    /// A port to wait for, until a program of the session listens at it.
    pub port: Option<u16>,
    /// The maximum bytes of output, 32 KiB by default.
    pub max_output: Option<u64>,
}

/// Input for a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ProcessWrite {
    pub process: u64,
    /// What is written, or typed at its terminal.
    pub text: String,
    /// Whether the input ends; a terminal hangs up.
    pub end: bool,
    /// The new size of its terminal.
    pub size: Option<ScreenSize>,
}

/// A signal for a process and those that it has begun.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ProcessKill {
    pub process: u64,
    /// The number of the signal. Without one it is SIGTERM, and SIGKILL if the process still runs
    /// after `wait`.
    pub signal: Option<u8>,
    /// Seconds to wait for the end of the process; 5 by default.
    pub wait: Option<f64>,
}

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProcessStatus {
    Running,
    /// It has exited; `exit_code` is its own.
    Exited,
    /// A signal has ended it.
    Signaled,
    /// A limit has ended it.
    Limited,
    /// It has ended because its session went to sleep or was moved to another of its states.
    Lost,
}

impl ProcessStatus {
    /// Returns the status of a process that has ended by itself.
    ///
    /// ```
    /// use wasibox_protocol::{End, ProcessStatus};
    ///
    /// assert_eq!(ProcessStatus::of_end(End::Signaled(15)), ProcessStatus::Signaled);
    /// ```
    pub fn of_end(end: End) -> ProcessStatus {
        match end {
            End::Exited(_) => ProcessStatus::Exited,
            End::Signaled(_) | End::Interrupted => ProcessStatus::Signaled,
            End::Limit(_) => ProcessStatus::Limited,
        }
    }
}

/// A process that continues from call to call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessReport {
    /// The number that requests name it by. It is not used again in the session.
    pub process: u64,
    /// Its number as programs of the session see it.
    pub pid: u32,
    /// The beginning of its script or command.
    pub command: String,
    pub terminal: bool,
    pub status: ProcessStatus,
    /// As a shell would report it; `null` while it runs.
    pub exit_code: Option<u8>,
    /// Seconds since it began, until it ended.
    pub seconds: f64,
    /// Bytes of output that it has written. The last MiB is kept.
    pub written: u64,
}

/// Output of a process.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessOutput {
    pub report: ProcessReport,
    /// Standard output and standard error as they came, or what the terminal shows. Bytes that are
    /// no UTF-8 are replaced.
    pub output: String,
    /// The position behind this output.
    pub next: u64,
    /// Bytes before this output that are no longer kept.
    pub dropped: u64,
    /// Whether what was waited for has come: `until`, `port`, or some output.
    pub found: bool,
}

impl ProcessStart {
    /// Returns the program to begin, as [`Exec`] has it, and the size of its terminal.
    ///
    /// ```
    /// use wasibox_protocol::{Command, ProcessStart};
    ///
    /// let start = ProcessStart { script: Some("sleep 1".into()), ..ProcessStart::default() };
    /// let exec = start.to_exec().unwrap();
    /// assert!(matches!(exec.command, Command::Program(argv) if argv[0] == b"bash"));
    /// ```
    ///
    /// # Errors
    /// [`RequestFault::NoCommand`] if there is nothing to run or more than one thing, and
    /// [`RequestFault::Time`].
    pub fn to_exec(&self) -> Result<Exec, RequestFault> {
        let argv = match (&self.script, &self.argv) {
            (Some(script), None) => vec!["bash".into(), "-c".into(), script.clone().into_bytes()],
            (None, Some(argv)) => argv.iter().map(|word| word.clone().into_bytes()).collect(),
            _ => return Err(RequestFault::NoCommand),
        };
        let mut exec = Exec::from_command(Command::Program(argv));
        let variables = self.env.iter();
        exec.env = variables.map(|(n, v)| (n.clone().into(), v.clone().into())).collect();
        exec.cwd.clone_from(&self.cwd);
        exec.timeout = self.timeout.map(checked_seconds).transpose()?;
        exec.input = Input::Inherit;
        Ok(exec)
    }

    /// Returns the command as lists show it.
    ///
    /// ```
    /// use wasibox_protocol::ProcessStart;
    ///
    /// let argv = Some(vec!["ls".into(), "-l".into()]);
    /// assert_eq!(ProcessStart { argv, ..ProcessStart::default() }.shown_command(), "ls -l");
    /// ```
    pub fn shown_command(&self) -> String {
        const MOST: usize = 200;
        let argv = self.argv.as_deref().unwrap_or_default().join(" ");
        let mut text = self.script.clone().unwrap_or(argv);
        if text.len() > MOST {
            text.truncate(text.floor_char_boundary(MOST));
            text.push_str("...");
        }
        text
    }
}

/// Returns a time to wait, at most [`MAX_WAIT`].
///
/// # Errors
/// [`RequestFault::Time`] if it is no time.
pub fn checked_wait(seconds: Option<f64>) -> Result<Duration, RequestFault> {
    match seconds {
        None => Ok(Duration::ZERO),
        Some(0.0) => Ok(Duration::ZERO),
        Some(seconds) => Ok(checked_seconds(seconds)?.min(MAX_WAIT)),
    }
}

impl ProcessRequest {
    /// Checks the request, as [`Request::check`](crate::Request::check) does.
    ///
    /// # Errors
    /// The first fault that is found.
    pub(crate) fn check(&self) -> Result<(), RequestFault> {
        match self {
            ProcessRequest::Start(start) => start.to_exec()?.check(),
            ProcessRequest::Read(read) => {
                let pattern = read.until.as_deref().unwrap_or_default();
                if pattern.len() > MAX_PATTERN {
                    return Err(RequestFault::Pattern(format!("more than {MAX_PATTERN} bytes")));
                }
                checked_wait(read.wait).map(drop)
            }
            ProcessRequest::Write(write) if write.text.len() > MAX_COMMAND => {
                Err(RequestFault::CommandSize { bytes: write.text.len() })
            }
            ProcessRequest::Kill(kill) => {
                if kill.signal.is_some_and(|signal| !(1..=64).contains(&signal)) {
                    return Err(RequestFault::Signal);
                }
                checked_wait(kill.wait).map(drop)
            }
            ProcessRequest::Write(_) | ProcessRequest::List => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use serde_json::{Value, json};

    #[test]
    fn requests_are_read_from_json_and_checked() {
        let read = |value: Value| serde_json::from_value::<Request>(json!({ "processes": value }));
        let check = |value: Value| read(value).unwrap().check();
        assert!(check(json!("list")).is_ok());
        assert!(check(json!({"start": {"script": "ls", "terminal": true}})).is_ok());
        assert!(
            check(json!({"start": {"argv": ["ls"], "env": {"A": "1"}, "cwd": "/tmp"}})).is_ok()
        );
        assert!(check(json!({"read": {"process": 1, "wait": 0, "until": "a+"}})).is_ok());
        assert!(check(json!({"kill": {"process": 1, "signal": 9}})).is_ok());
        for wrong in [
            json!({"start": {}}),
            json!({"start": {"script": "a", "argv": ["b"]}}),
            json!({"start": {"argv": []}}),
            json!({"start": {"script": "a", "cwd": "b"}}),
            json!({"start": {"script": "a\u{0}"}}),
            json!({"start": {"script": "a", "timeout": -1}}),
            json!({"read": {"process": 1, "wait": -1}}),
            json!({"read": {"process": 1, "until": "a".repeat(5000)}}),
            json!({"write": {"process": 1, "text": "a".repeat(4 << 20)}}),
            json!({"kill": {"process": 1, "signal": 0}}),
            json!({"kill": {"process": 1, "signal": 65}}),
        ] {
            assert!(check(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(read(json!({"start": {"scripts": "a"}})).is_err());
        let long = ProcessStart { script: Some("ä".repeat(200)), ..ProcessStart::default() };
        assert_eq!(long.shown_command(), "ä".repeat(100) + "...");
    }
}
