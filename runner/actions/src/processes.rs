//! `start_process`, `read_process`, `write_process`, `kill_process`, `list_processes`: processes that
//! continue from call to call.

use crate::exec::ClientCall;
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use wasibox::{
    Answer, PortSummary, ProcessKill, ProcessOutput, ProcessRead, ProcessReport, ProcessRequest,
    ProcessStart, ProcessStatus, ProcessWrite, Refusal, Request, ScreenSize, Session,
};

/// The signals that are known by name.
const SIGNALS: &[(&str, u8)] = &[
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("KILL", 9),
    ("USR1", 10),
    ("USR2", 12),
    ("TERM", 15),
    ("CONT", 18),
    ("STOP", 19),
    ("TSTP", 20),
];

/// The arguments of `start_process`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartProcess {
    /// Script for bash.
    command: String,
    /// Give it a terminal, for programs that ask or draw.
    #[serde(default)]
    terminal: bool,
    /// Directory; by default that of the session.
    #[serde(default)]
    cwd: Option<String>,
    /// Variables to export.
    #[serde(default)]
    env: Option<BTreeMap<String, String>>,
    /// Wait until a program listens at this port.
    #[serde(default)]
    port: Option<u16>,
    /// Wait until its output has a match of this regular expression.
    #[serde(default)]
    until: Option<String>,
    /// Seconds to wait for port or until, 30 by default.
    #[serde(default)]
    wait: Option<f64>,
}

/// The arguments of `read_process`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadProcess {
    process: u64,
    /// Seconds to wait: for until or port, else for any output.
    #[serde(default)]
    wait: Option<f64>,
    /// Wait until the output has a match of this regular expression.
    #[serde(default)]
    until: Option<String>,
    /// Wait until a program listens at this port.
    #[serde(default)]
    port: Option<u16>,
    /// Position to read from: 0, or `next` of an answer; by default where the last read has ended.
    #[serde(default)]
    after: Option<u64>,
    /// The maximum bytes, 32 KiB by default.
    #[serde(default)]
    max_output: Option<u64>,
}

/// The arguments of `write_process`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteProcess {
    process: u64,
    /// Input; what is typed, for a terminal ("\r" is Enter, "\u0003" is Ctrl-C).
    #[serde(default)]
    text: String,
    /// End its input after that.
    #[serde(default)]
    end: bool,
    /// New rows of its terminal; with columns.
    #[serde(default)]
    rows: Option<u16>,
    /// New columns of its terminal.
    #[serde(default)]
    columns: Option<u16>,
    /// Seconds to wait for output that follows.
    #[serde(default)]
    wait: Option<f64>,
}

/// The arguments of `kill_process`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KillProcess {
    process: u64,
    /// Name or number, such as INT; by default TERM, then KILL after 5 seconds.
    #[serde(default)]
    signal: Option<String>,
}

/// The arguments of `list_processes`: none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListProcesses {}

/// The processes of a session.
#[derive(Serialize, JsonSchema)]
pub struct ProcessesAnswer {
    processes: Vec<ProcessReport>,
    /// Ports at which programs of the session listen.
    ports: Vec<PortSummary>,
}

/// Seconds to wait for a process that has just begun.
const START_WAIT: f64 = 30.0;

fn ask(
    call: &ClientCall<'_>,
    session: &Session,
    request: ProcessRequest,
) -> Result<Answer, Refusal> {
    Ok(session.apply(Request::Processes(request), call.stop.streams(session))?)
}

fn read_output(
    call: &ClientCall<'_>,
    session: &Session,
    mut read: ProcessRead,
) -> Result<ProcessOutput, Refusal> {
    if read.wait.is_some() {
        let wait = call.client.space().machine().call_timeout(read.wait.filter(|w| *w > 0.0))?;
        read.wait = read.wait.map(|asked| asked.min(wait.as_secs_f64()));
    }
    match ask(call, session, ProcessRequest::Read(read))? {
        Answer::ProcessOutput(output) => Ok(*output),
        _ => Err(Refusal::mismatch()),
    }
}

fn process_of(answer: Answer) -> Result<ProcessReport, Refusal> {
    match answer {
        Answer::Process(report) => Ok(report),
        _ => Err(Refusal::mismatch()),
    }
}

impl ToolAction for StartProcess {
    type Answer = ProcessOutput;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<ProcessOutput>, Refusal> {
        let session = call.session()?;
        let start = ProcessStart {
            script: Some(self.command),
            cwd: self.cwd,
            env: self.env.unwrap_or_default(),
            terminal: self.terminal,
            ..ProcessStart::default()
        };
        let process = process_of(ask(call, &session, ProcessRequest::Start(start))?)?.process;
        let is_waiting = self.port.is_some() || self.until.is_some();
        let wait = is_waiting.then(|| self.wait.unwrap_or(START_WAIT));
        let read = ProcessRead {
            process,
            wait,
            port: self.port,
            until: self.until,
            ..ProcessRead::default()
        };
        let output = read_output(call, &session, read)?;
        Ok(in_words(output, is_waiting))
    }
}

impl ToolAction for ReadProcess {
    type Answer = ProcessOutput;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<ProcessOutput>, Refusal> {
        let session = call.session()?;
        let is_waiting = self.until.is_some() || self.port.is_some();
        let read = ProcessRead {
            process: self.process,
            after: self.after,
            wait: self.wait.or(is_waiting.then_some(START_WAIT)),
            until: self.until,
            port: self.port,
            max_output: self.max_output,
        };
        let output = read_output(call, &session, read)?;
        Ok(in_words(output, is_waiting))
    }
}

impl ToolAction for WriteProcess {
    type Answer = ProcessOutput;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<ProcessOutput>, Refusal> {
        let session = call.session()?;
        let size = match (self.rows, self.columns) {
            (Some(rows), Some(columns)) => Some(ScreenSize { rows, columns }),
            (None, None) => None,
            _ => return Err(Refusal::invalid_request("a size has rows and columns")),
        };
        let WriteProcess { process, text, end, wait, .. } = self;
        let write = ProcessWrite { process, text, end, size };
        process_of(ask(call, &session, ProcessRequest::Write(write))?)?;
        let read = ProcessRead { process, wait, ..ProcessRead::default() };
        let output = read_output(call, &session, read)?;
        Ok(in_words(output, false))
    }
}

impl ToolAction for KillProcess {
    type Answer = ProcessReport;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<ProcessReport>, Refusal> {
        let session = call.session()?;
        let signal = self.signal.as_deref().map(signal_number).transpose()?;
        let kill = ProcessKill { process: self.process, signal, wait: signal.map(|_| 1.0) };
        let report = process_of(ask(call, &session, ProcessRequest::Kill(kill))?)?;
        let text = status_words(&report);
        Ok(ToolResult::new(report, text))
    }
}

impl ToolAction for ListProcesses {
    type Answer = ProcessesAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<ProcessesAnswer>, Refusal> {
        let session = call.session()?;
        let Answer::Processes(processes) = ask(call, &session, ProcessRequest::List)? else {
            return Err(Refusal::mismatch());
        };
        let ports = session.ports()?;
        let mut text = String::new();
        for report in &processes {
            let _ = writeln!(text, "{}: {}", status_words(report), report.command);
        }
        for open in &ports {
            let command = open.command.as_deref().unwrap_or("a call");
            let _ = writeln!(text, "port {}: {command} (pid {})", open.port, open.pid);
        }
        if text.is_empty() {
            text.push_str("no processes");
        }
        Ok(ToolResult::new(ProcessesAnswer { processes, ports }, text))
    }
}

/// Returns the number of a signal that is given by name or number.
fn signal_number(text: &str) -> Result<u8, Refusal> {
    let name = text.trim().to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    let known = SIGNALS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
    known.or_else(|| name.parse().ok()).ok_or_else(|| {
        Refusal::invalid_request(format!("signal: '{text}' is neither a known name nor a number"))
    })
}

fn status_words(report: &ProcessReport) -> String {
    let number = report.process;
    let code = report.exit_code.unwrap_or_default();
    match report.status {
        ProcessStatus::Running => format!("process {number} runs"),
        ProcessStatus::Exited => format!("process {number} has exited with {code}"),
        ProcessStatus::Signaled => format!("process {number} was ended by a signal ({code})"),
        ProcessStatus::Limited => format!("process {number} was ended by a limit ({code})"),
        ProcessStatus::Lost => {
            format!("process {number} has ended: the session slept or was moved to another state")
        }
    }
}

fn in_words(output: ProcessOutput, is_waiting: bool) -> ToolResult<ProcessOutput> {
    let mut text = String::new();
    if output.dropped > 0 {
        let _ = writeln!(text, "[{} earlier bytes are no longer kept]", output.dropped);
    }
    text.push_str(&output.output);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let more = output.report.written > output.next;
    let more = if more { format!("; more output from {}", output.next) } else { String::new() };
    let found = if is_waiting && !output.found { "; what was waited for has not come" } else { "" };
    let _ = write!(text, "[{}{more}{found}]", status_words(&output.report));
    ToolResult::new(output, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names_and_numbers() {
        for (text, number) in [("INT", 2), ("sigterm", 15), ("9", 9), (" SIGUSR1 ", 10)] {
            assert_eq!(signal_number(text).unwrap(), number);
        }
        assert!(signal_number("FROB").is_err() && signal_number("").is_err());
    }
}
