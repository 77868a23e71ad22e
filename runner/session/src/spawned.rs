//! A program that runs beside the session's calls, on both sides: the pipes to it, and how it ended.

use crate::error::Error;
use box_abi::terminal::WindowSize;
use serde::{Deserialize, Serialize};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wasibox_protocol::{End, Input};
use wasibox_sandbox::relay::{TerminalStart, key_frames, size_frame};
use wasibox_sandbox::streams::{HostStream, OutputMeter, is_null_device};
use wasibox_sandbox::{PlacedExec, RunResult, RunSpec, SessionSandbox, TerminalRun};

/// Maximum bytes of a report.
const REPORT: u64 = 64;

/// The end of a process that ran beside calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEnd {
    pub end: End,
    /// CPU time of the process and of those that it began and that ended before it.
    pub cpu: Duration,
}

/// The message about a process's end.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProcessReport {
    end: End,
    cpu_ns: u64,
}

/// The ends of the pipes that the process has.
pub struct SpawnEnds {
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    /// Receives the report.
    pub report: OwnedFd,
}

/// A process that runs beside the session's calls, begun by [`Session::spawn`](crate::Session).
/// Dropping it does not end the process.
pub struct SpawnedProcess {
    /// Its number, as guests see it.
    pub pid: u32,
    /// Writes to its standard input; `None` if it has none. Dropping it is the end of the input.
    pub stdin: Option<PipeWriter>,
    pub stdout: PipeReader,
    pub stderr: PipeReader,
    /// The report about its end.
    pub end: ProcessEndReader,
}

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    pub rows: u16,
    pub columns: u16,
}

impl Default for TerminalSize {
    /// Returns 24 rows of 80 columns.
    fn default() -> TerminalSize {
        TerminalSize { rows: 24, columns: 80 }
    }
}

impl TerminalSize {
    fn window(self) -> WindowSize {
        WindowSize { rows: self.rows, columns: self.columns, width: 0, height: 0 }
    }
}

/// A process on a terminal of its own, begun by
/// [`Session::spawn_terminal`](crate::Session::spawn_terminal).
pub struct TerminalProcess {
    /// Its number, as guests see it.
    pub pid: u32,
    /// Types into the terminal. Dropping it hangs up.
    pub keyboard: TerminalKeyboard,
    /// What the terminal shows: bytes with control sequences. A reader must read, because the
    /// programs wait for it.
    pub screen: PipeReader,
    /// The report about its end.
    pub end: ProcessEndReader,
}

/// Types into a terminal, and sets its size.
#[derive(Debug)]
pub struct TerminalKeyboard(PipeWriter);

impl TerminalKeyboard {
    /// Types bytes; waits while the programs on the terminal do not read.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn type_bytes(&self, bytes: &[u8]) -> std::io::Result<()> {
        key_frames(bytes).iter().try_for_each(|frame| (&self.0).write_all(frame))
    }

    /// Sets the size of the window; the programs receive SIGWINCH.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn resize(&self, size: TerminalSize) -> std::io::Result<()> {
        (&self.0).write_all(&size_frame(size.window()))
    }
}

/// Waits for the end of a process.
pub struct ProcessEndReader {
    report: PipeReader,
    is_over: Arc<AtomicBool>,
}

impl ProcessEndReader {
    /// Waits until the process has ended. A process whose session went to sleep, or was moved to
    /// another state, was killed.
    pub fn wait(mut self) -> ProcessEnd {
        let mut bytes = Vec::new();
        // A failure is the same as an incomplete report.
        let _ = (&mut self.report).take(REPORT).read_to_end(&mut bytes);
        self.is_over.store(true, Ordering::Release);
        match postcard::from_bytes(&bytes) {
            Ok(ProcessReport { end, cpu_ns }) => {
                ProcessEnd { end, cpu: Duration::from_nanos(cpu_ns) }
            }
            Err(_) => ProcessEnd { end: End::Signaled(9), cpu: Duration::ZERO },
        }
    }
}

/// Makes the pipes of a process.
///
/// # Errors
/// If the system has no descriptors left.
pub fn make_pipes(has_input: bool) -> std::io::Result<(SpawnEnds, Pipes)> {
    let (stdin, own_in) = if has_input {
        let (theirs, ours) = pipe()?;
        (theirs.into(), Some(ours))
    } else {
        (std::fs::File::open("/dev/null")?.into(), None)
    };
    let ((stdout, out), (stderr, err), (report, reports)) = (pipe()?, pipe()?, pipe()?);
    let (out, err, reports): (OwnedFd, OwnedFd, OwnedFd) = (out.into(), err.into(), reports.into());
    let ends = SpawnEnds { stdin, stdout: out, stderr: err, report: reports };
    Ok((ends, Pipes { stdin: own_in, stdout, stderr, report }))
}

/// Makes the pipes of a process on a terminal: its keyboard is the standard input, its screen the
/// standard output.
///
/// # Errors
/// If the system has no descriptors left.
pub fn make_terminal_pipes() -> std::io::Result<(SpawnEnds, Pipes)> {
    let (ends, pipes) = make_pipes(true)?;
    let stderr = std::fs::File::options().write(true).open("/dev/null")?.into();
    Ok((SpawnEnds { stderr, ..ends }, pipes))
}

/// The host's ends of the pipes of a process.
pub struct Pipes {
    stdin: Option<PipeWriter>,
    stdout: PipeReader,
    stderr: PipeReader,
    pub report: PipeReader,
}

impl Pipes {
    /// Makes the handle of a process on a terminal.
    pub fn into_terminal(self, pid: u32, is_over: Arc<AtomicBool>) -> Option<TerminalProcess> {
        let SpawnedProcess { stdin, stdout, end, .. } = self.into_process(pid, is_over);
        let keyboard = TerminalKeyboard(stdin?);
        Some(TerminalProcess { pid, keyboard, screen: stdout, end })
    }

    /// Makes the handle of the process. `is_over` is set when its end has been read.
    pub fn into_process(self, pid: u32, is_over: Arc<AtomicBool>) -> SpawnedProcess {
        let Pipes { stdin, stdout, stderr, report } = self;
        SpawnedProcess { pid, stdin, stdout, stderr, end: ProcessEndReader { report, is_over } }
    }
}

/// Begins a program beside the calls of a sandbox, on a terminal if a size is given; `ended` is
/// called when it has ended, before its report is written.
///
/// # Errors
/// If it cannot be started.
pub fn begin_process(
    sandbox: &SessionSandbox,
    placed: PlacedExec,
    terminal: Option<TerminalSize>,
    ends: SpawnEnds,
    ended: impl FnOnce() + Send + 'static,
) -> Result<u32, Error> {
    let SpawnEnds { stdin, stdout, stderr, report } = ends;
    let (argv, env, cwd) = (placed.argv(), placed.environment(), placed.directory());
    let exec = placed.exec;
    let report_end = move |run: RunResult| {
        let end = End::of_run(run.status.into(), run.limit, run.interrupted);
        let cpu_ns = u64::try_from(run.cpu.as_nanos()).unwrap_or(u64::MAX);
        ended();
        // A failure means that nobody waits for the process.
        if let Ok(bytes) = postcard::to_stdvec(&ProcessReport { end, cpu_ns }) {
            let _ = std::fs::File::from(report).write_all(&bytes);
        }
    };
    if let Some(size) = terminal {
        let terminal = TerminalStart { size: size.window(), keyboard: stdin, screen: stdout };
        let run = TerminalRun { argv, env, cwd, timeout: exec.timeout, terminal };
        return Ok(sandbox.begin_on_terminal(run, report_end)?);
    }
    let has_input = exec.input == Input::Inherit && !is_null_device(&stdin);
    let meter = OutputMeter::new(sandbox.policy().limits.output);
    let spec = RunSpec {
        argv,
        env,
        cwd,
        stdin: has_input.then(|| HostStream::input(&stdin)).transpose()?,
        stdout: HostStream::output(&stdout, meter.clone(), exec.raw_terminal)?,
        stderr: HostStream::output(&stderr, meter, exec.raw_terminal)?,
        timeout: exec.timeout,
        keep: true,
    };
    drop((stdin, stdout, stderr));
    Ok(sandbox.begin_detached(spec, report_end)?)
}
