//! The processes that clients have begun in a sandbox: their output and its receivers.

use crate::fault::{Fault, RpcCode};
use crate::rpc::process::{
    EndEvent, EventKind, OutputBytes, OutputData, ProcessConfig, ProcessInfo, Selector,
};
use crate::sandbox::RunningBox;
use crate::time::now_ms;
use std::collections::{BTreeMap, VecDeque};
use std::io::{PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver as PipeReceiver;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use wasibox::{
    End, LimitHit, ProcessEnd, SpawnedProcess, TerminalKeyboard, TerminalProcess, TerminalSize,
    lock_mutex,
};
use wasibox_http::Owner;

/// The maximum bytes of output in one event.
const CHUNK: usize = 32 << 10;
/// The number of events that wait for a slow reader; beyond that the process waits, too.
const WAITING: usize = 64;
/// The time for which output of a process's own processes is passed on after its end.
const LATE: Duration = Duration::from_millis(50);
/// The number of ended processes that are remembered.
const ENDED: usize = 64;
/// The number of lines that are kept for the log.
const LINES: usize = 1000;
/// The most bytes of a command in a line of the log.
const LINE: usize = 256;

/// The processes of a sandbox, by number.
#[derive(Default)]
pub struct ProcessTable {
    all: Mutex<BTreeMap<u32, Arc<BoxProcess>>>,
    log: Mutex<VecDeque<(u64, String)>>,
}

/// A process as the session has begun it.
pub enum BegunProcess {
    Piped(SpawnedProcess),
    OnTerminal(TerminalProcess),
}

/// The way to a process's standard input.
enum ProcessInput {
    Pipe(PipeWriter),
    Terminal(TerminalKeyboard),
}

/// A process that a client has begun.
pub struct BoxProcess {
    pub pid: u32,
    pub tag: Option<String>,
    pub config: ProcessConfig,
    input: Mutex<Option<Arc<ProcessInput>>>,
    readers: Mutex<Vec<Sender<EventKind>>>,
    end: OnceLock<EndEvent>,
}

impl ProcessTable {
    /// Adds a process that has begun, and passes its output on until it has ended. Returns it with
    /// a receiver of its events.
    ///
    /// # Errors
    /// If its pipes cannot be read.
    pub fn add(
        &self,
        holder: &Arc<RunningBox>,
        begun: BegunProcess,
        config: ProcessConfig,
        tag: Option<String>,
    ) -> Result<(Arc<BoxProcess>, Receiver<EventKind>), Fault> {
        let cannot = |_| Fault::internal();
        let open = |pipe| PipeReceiver::from_owned_fd(OwnedFd::from(pipe)).map_err(cannot);
        let (pid, input, output, end) = match begun {
            BegunProcess::Piped(SpawnedProcess { pid, stdin, stdout, stderr, end }) => {
                let output = OutputPipes {
                    first: open(stdout)?,
                    second: Some(open(stderr)?),
                    wrap: OutputBytes::Stdout,
                };
                (pid, stdin.map(ProcessInput::Pipe), output, end)
            }
            BegunProcess::OnTerminal(TerminalProcess { pid, keyboard, screen, end }) => {
                let output =
                    OutputPipes { first: open(screen)?, second: None, wrap: OutputBytes::Pty };
                (pid, Some(ProcessInput::Terminal(keyboard)), output, end)
            }
        };
        let (to, from) = channel(WAITING);
        let process = Arc::new(BoxProcess {
            pid,
            tag,
            config,
            input: Mutex::new(input.map(Arc::new)),
            readers: Mutex::new(vec![to]),
            end: OnceLock::new(),
        });
        let (said, ended) = oneshot::channel();
        let wait = move || {
            // A failure means that the server ends.
            let _ = said.send(end.wait());
        };
        std::thread::Builder::new()
            .stack_size(64 << 10)
            .spawn(wait)
            .map_err(|_| Fault::internal())?;
        self.note(&format!("process {pid} begins: {}", process.shown_command()));
        lock_mutex(&self.all).insert(pid, process.clone());
        let (theirs, holder) = (process.clone(), holder.clone());
        tokio::spawn(async move {
            let end = pass_output(&theirs, output, ended).await;
            spend_cpu(&holder.owner, &end);
            holder.processes.end(&theirs, &end);
        });
        Ok((process, from))
    }

    /// Records the end of a process, and sends it to its readers.
    fn end(&self, process: &Arc<BoxProcess>, end: &ProcessEnd) {
        let event = end_event(end.end);
        self.note(&format!("process {}: {}", process.pid, event.status));
        let _ = process.end.set(event);
        // The readers see the end of their channels, and find the event.
        lock_mutex(&process.readers).clear();
        *lock_mutex(&process.input) = None;
        let mut all = lock_mutex(&self.all);
        let ended: Vec<u32> =
            all.values().filter(|p| p.end.get().is_some()).map(|p| p.pid).collect();
        for pid in ended.iter().take(ended.len().saturating_sub(ENDED)) {
            all.remove(pid);
        }
    }

    /// Returns the processes that run.
    pub fn list(&self) -> Vec<ProcessInfo> {
        let all = lock_mutex(&self.all);
        let running = all.values().filter(|p| p.end.get().is_none());
        let info = |p: &Arc<BoxProcess>| ProcessInfo {
            config: Some(p.config.clone()),
            pid: p.pid,
            tag: p.tag.clone(),
        };
        running.map(info).collect()
    }

    /// Returns a process that a request selects, running or ended.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(&self, selector: Option<Selector>) -> Result<Arc<BoxProcess>, Fault> {
        let all = lock_mutex(&self.all);
        let (found, shown) = match selector {
            Some(Selector::Pid(pid)) => (all.get(&pid).cloned(), format!("pid {pid}")),
            Some(Selector::Tag(tag)) => {
                let is_it = |p: &&Arc<BoxProcess>| p.tag.as_ref() == Some(&tag);
                let running = all.values().filter(is_it).find(|p| p.end.get().is_none());
                let shown: String = tag.chars().take(64).collect();
                (running.or(all.values().find(is_it)).cloned(), format!("tag {shown}"))
            }
            None => return Err(Fault::invalid("the request selects no process")),
        };
        found.ok_or_else(|| Fault::missing(format!("process with {shown} not found")))
    }

    /// Returns a process that runs.
    ///
    /// # Errors
    /// If there is none, or it has ended.
    pub fn find_running(&self, selector: Option<Selector>) -> Result<Arc<BoxProcess>, Fault> {
        let process = self.find(selector)?;
        if process.end.get().is_none() {
            return Ok(process);
        }
        Err(Fault::missing(format!("process with pid {} not found", process.pid)))
    }

    /// Adds a line to the log.
    fn note(&self, line: &str) {
        let mut log = lock_mutex(&self.log);
        if log.len() >= LINES {
            log.pop_front();
        }
        log.push_back((now_ms(), line.to_owned()));
    }

    /// Returns the lines of the log with their times.
    pub fn log(&self) -> Vec<(u64, String)> {
        lock_mutex(&self.log).iter().cloned().collect()
    }
}

impl BoxProcess {
    fn shown_command(&self) -> String {
        let words = std::iter::once(&self.config.cmd).chain(&self.config.args);
        words
            .flat_map(|word| word.chars().chain([' ']))
            .take(LINE)
            .collect::<String>()
            .trim_end()
            .into()
    }

    /// Returns a receiver of the process's output from now on.
    pub fn subscribe(&self) -> Receiver<EventKind> {
        let (to, from) = channel(WAITING);
        let mut readers = lock_mutex(&self.readers);
        // A process that has ended has no more output; the channel is closed at once.
        if self.end.get().is_none() {
            readers.push(to);
        }
        from
    }

    /// Returns how the process has ended, if it has.
    pub fn end(&self) -> Option<EndEvent> {
        self.end.get().cloned()
    }

    /// Writes to the standard input; waits while the process does not read.
    ///
    /// # Errors
    /// If it has no input, or has closed it.
    pub fn write_input(&self, bytes: &[u8]) -> Result<(), Fault> {
        let input = lock_mutex(&self.input).clone();
        let written = match input.as_deref() {
            Some(ProcessInput::Pipe(pipe)) => {
                let mut pipe: &PipeWriter = pipe;
                pipe.write_all(bytes)
            }
            Some(ProcessInput::Terminal(keyboard)) => keyboard.type_bytes(bytes),
            None => {
                let text = "the process has no standard input: begin it with stdin";
                return Err(Fault::new(RpcCode::FailedPrecondition, text));
            }
        };
        let closed = "the process has closed its standard input";
        written.map_err(|_| Fault::new(RpcCode::FailedPrecondition, closed))
    }

    /// Returns whether the process has a terminal.
    pub fn has_terminal(&self) -> bool {
        matches!(lock_mutex(&self.input).as_deref(), Some(ProcessInput::Terminal(_)))
    }

    /// Sets the size of its terminal.
    ///
    /// # Errors
    /// If it has none.
    pub fn resize(&self, size: TerminalSize) -> Result<(), Fault> {
        let input = lock_mutex(&self.input).clone();
        match input.as_deref() {
            Some(ProcessInput::Terminal(keyboard)) => {
                // A failure means that the terminal has just ended.
                let _ = keyboard.resize(size);
                Ok(())
            }
            _ => {
                let text = "the process has no terminal: begin it with pty";
                Err(Fault::new(RpcCode::FailedPrecondition, text))
            }
        }
    }

    /// Waits a while for the end of the process.
    pub async fn wait_end(&self) {
        for _ in 0..200 {
            if self.end.get().is_some() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Ends the standard input.
    pub fn close_input(&self) {
        *lock_mutex(&self.input) = None;
    }

    async fn send(&self, event: EventKind) {
        let readers = lock_mutex(&self.readers).clone();
        for reader in readers {
            // A failure means that this reader has disconnected.
            let _ = reader.send(event.clone()).await;
        }
        lock_mutex(&self.readers).retain(|reader| !reader.is_closed());
    }
}

fn spend_cpu(owner: &Owner, end: &ProcessEnd) {
    owner.spend_cpu(end.cpu);
}

/// The pipes of a process's output: standard output and error, or the screen of a terminal.
struct OutputPipes {
    first: PipeReceiver,
    second: Option<PipeReceiver>,
    /// Makes the bytes of the first pipe a part of an event.
    wrap: fn(Vec<u8>) -> OutputBytes,
}

/// Reads from a pipe, if there is one.
async fn read_some(pipe: &mut Option<PipeReceiver>, buf: &mut [u8]) -> std::io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.read(buf).await,
        None => std::future::pending().await,
    }
}

/// Passes a process's output to its readers until it has ended.
async fn pass_output(
    process: &BoxProcess,
    output: OutputPipes,
    ended: oneshot::Receiver<ProcessEnd>,
) -> ProcessEnd {
    let (mut out, mut err) = (vec![0; CHUNK], vec![0; CHUNK]);
    let OutputPipes { mut first, mut second, wrap } = output;
    let (mut out_open, mut err_open) = (true, second.is_some());
    tokio::pin!(ended);
    let mut end = None;
    loop {
        let late = async {
            match end {
                Some(_) => tokio::time::sleep(LATE).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            read = first.read(&mut out), if out_open => match read {
                Ok(n) if n > 0 => {
                    let output = Some(wrap(out[..n].to_vec()));
                    process.send(EventKind::Data(OutputData { output })).await;
                }
                _ => out_open = false,
            },
            read = read_some(&mut second, &mut err), if err_open => match read {
                Ok(n) if n > 0 => {
                    let output = Some(OutputBytes::Stderr(err[..n].to_vec()));
                    process.send(EventKind::Data(OutputData { output })).await;
                }
                _ => err_open = false,
            },
            said = &mut ended, if end.is_none() => {
                let killed = ProcessEnd { end: End::Signaled(9), cpu: Duration::ZERO };
                end = Some(said.unwrap_or(killed));
            }
            () = late => break,
        }
        if !out_open && !err_open && end.is_some() {
            break;
        }
    }
    end.unwrap_or(ProcessEnd { end: End::Signaled(9), cpu: Duration::ZERO })
}

/// Describes an end as Go's `os.ProcessState` does, whose texts clients see.
fn end_event(end: End) -> EndEvent {
    let (exit_code, exited, status) = match end {
        End::Exited(code) => (i32::from(code), true, format!("exit status {code}")),
        End::Signaled(9) | End::Interrupted => (-1, false, "signal: killed".to_owned()),
        End::Signaled(15) => (-1, false, "signal: terminated".to_owned()),
        End::Signaled(signal) => (-1, false, format!("signal: {signal}")),
        End::Limit(LimitHit::Timeout) => (-1, false, "signal: killed".to_owned()),
        End::Limit(limit) => (-1, false, format!("signal: killed (limit of {})", limit.name())),
    };
    let error = (end != End::Exited(0)).then(|| status.clone());
    EndEvent { exit_code, exited, status, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_have_the_texts_of_go() {
        let of = |end| {
            let event = end_event(end);
            (event.exit_code, event.exited, event.status, event.error.is_some())
        };
        assert_eq!(of(End::Exited(0)), (0, true, "exit status 0".into(), false));
        assert_eq!(of(End::Exited(3)), (3, true, "exit status 3".into(), true));
        assert_eq!(of(End::Signaled(9)), (-1, false, "signal: killed".into(), true));
    }
}
