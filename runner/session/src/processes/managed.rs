//! One process: the threads that serve it, and its end.

use super::follower::{BACKLOG, FollowedOutput, FollowerTable, FollowerTurn};
use super::ring::{OutputPart, OutputRing};
use crate::error::{Error, ProcessFault};
use crate::spawned::{
    ProcessEnd, ProcessEndReader, SpawnedProcess, TerminalKeyboard, TerminalProcess, TerminalSize,
};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wasibox_protocol::{KEPT_OUTPUT, ProcessReport, ProcessStatus, ProcessWrite};
use wasibox_vfs::lock_mutex;

/// Bytes of input that wait until the process reads them.
pub const QUEUED: usize = 4 << 20;
/// The time for which the end of a process waits for the rest of its output, which processes that it
/// has begun may hold open.
const LATE: Duration = Duration::from_millis(200);
/// The longest wait of a follower before it looks again.
const LONG: Duration = Duration::from_secs(3600);
const PART: usize = 16 << 10;
const STACK: usize = 128 << 10;

/// A process that was begun by [`Session::start_process`](crate::Session::start_process).
pub struct ManagedProcess {
    pub number: u64,
    pub pid: u32,
    pub command: String,
    is_terminal: bool,
    begun: Instant,
    shared: Arc<SharedState>,
    input: Mutex<Option<Sender<InputPart>>>,
    queued: Arc<AtomicUsize>,
}

/// The part that the threads share.
struct SharedState {
    /// Receives the CPU time when it has ended, in microseconds.
    cpu: Arc<AtomicU64>,
    state: Mutex<ProcessState>,
    changed: Condvar,
}

struct ProcessState {
    output: OutputRing,
    /// The position at which the next read begins.
    cursor: u64,
    /// The pipes that are still read.
    open: usize,
    end: Option<(ProcessEnd, Instant)>,
    is_lost: bool,
    followers: FollowerTable,
}

impl ProcessState {
    /// Returns how long to wait for the followers.
    fn hold_time(&mut self) -> Option<Duration> {
        self.followers.hold_time(self.output.written())
    }
}

enum InputPart {
    Bytes(Vec<u8>),
    Size(TerminalSize),
}

impl InputPart {
    /// Returns the bytes that it counts in the queue.
    fn len(&self) -> usize {
        match self {
            InputPart::Bytes(bytes) => bytes.len(),
            InputPart::Size(_) => size_of::<InputPart>(),
        }
    }
}

/// The way to a process's input.
enum InputTarget {
    Pipe(PipeWriter),
    Terminal(TerminalKeyboard),
}

impl InputTarget {
    fn put(&mut self, part: &InputPart) -> std::io::Result<()> {
        match (self, part) {
            (InputTarget::Pipe(pipe), InputPart::Bytes(bytes)) => pipe.write_all(bytes),
            (InputTarget::Pipe(_), InputPart::Size(_)) => Ok(()),
            (InputTarget::Terminal(keyboard), InputPart::Bytes(bytes)) => {
                keyboard.type_bytes(bytes)
            }
            (InputTarget::Terminal(keyboard), InputPart::Size(size)) => keyboard.resize(*size),
        }
    }
}

impl ManagedProcess {
    /// Serves a process with pipes.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn on_pipes(
        number: u64,
        command: String,
        begun: SpawnedProcess,
        cpu: Arc<AtomicU64>,
    ) -> Result<ManagedProcess, Error> {
        let SpawnedProcess { pid, stdin, stdout, stderr, end } = begun;
        let input = stdin.map(InputTarget::Pipe);
        let process = ManagedProcess::new(number, pid, command, false, cpu);
        process.serve(input, vec![stdout, stderr], end)
    }

    /// Serves a process on a terminal.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn on_terminal(
        number: u64,
        command: String,
        begun: TerminalProcess,
        cpu: Arc<AtomicU64>,
    ) -> Result<ManagedProcess, Error> {
        let TerminalProcess { pid, keyboard, screen, end } = begun;
        let input = Some(InputTarget::Terminal(keyboard));
        let process = ManagedProcess::new(number, pid, command, true, cpu);
        process.serve(input, vec![screen], end)
    }

    fn new(
        number: u64,
        pid: u32,
        command: String,
        is_terminal: bool,
        cpu: Arc<AtomicU64>,
    ) -> ManagedProcess {
        let state = ProcessState {
            output: OutputRing::new(KEPT_OUTPUT),
            cursor: 0,
            open: 0,
            end: None,
            is_lost: false,
            followers: FollowerTable::new(),
        };
        ManagedProcess {
            number,
            pid,
            command,
            is_terminal,
            begun: Instant::now(),
            shared: Arc::new(SharedState {
                cpu,
                state: Mutex::new(state),
                changed: Condvar::new(),
            }),
            input: Mutex::default(),
            queued: Arc::default(),
        }
    }

    fn serve(
        self,
        input: Option<InputTarget>,
        outputs: Vec<PipeReader>,
        end: ProcessEndReader,
    ) -> Result<ManagedProcess, Error> {
        let thread = || std::thread::Builder::new().stack_size(STACK);
        lock_mutex(&self.shared.state).open = outputs.len();
        for pipe in outputs {
            let shared = self.shared.clone();
            thread().spawn(move || shared.keep_output(pipe))?;
        }
        if let Some(mut target) = input {
            let (to, from) = channel::<InputPart>();
            let queued = self.queued.clone();
            let feed = move || {
                for part in from {
                    let done = target.put(&part);
                    queued.fetch_sub(part.len(), Ordering::AcqRel);
                    if done.is_err() {
                        return;
                    }
                }
            };
            thread().spawn(feed)?;
            *lock_mutex(&self.input) = Some(to);
        }
        let shared = self.shared.clone();
        thread().spawn(move || shared.keep_end(end.wait()))?;
        Ok(self)
    }

    /// Returns whether it has not ended.
    pub fn is_running(&self) -> bool {
        lock_mutex(&self.shared.state).end.is_none()
    }

    /// Returns the position at which the next read begins.
    pub fn cursor(&self) -> u64 {
        lock_mutex(&self.shared.state).cursor
    }

    /// Returns the bytes of output so far.
    pub fn written(&self) -> u64 {
        lock_mutex(&self.shared.state).output.written()
    }

    /// Returns whether the output from a position on has a match.
    pub fn is_match(&self, after: u64, pattern: &regex::bytes::Regex) -> bool {
        let part = lock_mutex(&self.shared.state).output.read(after, KEPT_OUTPUT, true);
        pattern.is_match(&part.bytes)
    }

    /// Returns output from a position on; with `moves` the next read begins behind it.
    pub fn read(&self, after: u64, most: usize, moves: bool) -> OutputPart {
        let mut state = lock_mutex(&self.shared.state);
        let part = state.output.read(after, most, state.end.is_some());
        if moves {
            state.cursor = part.next;
        }
        part
    }

    /// Waits until the process has written something or has ended.
    pub fn wait_change(&self, time: Duration) {
        let state = lock_mutex(&self.shared.state);
        if state.end.is_none() {
            drop(self.shared.changed.wait_timeout(state, time));
        }
    }

    /// Waits until the process has ended; returns whether it has.
    pub fn wait_end(&self, time: Duration) -> bool {
        let state = lock_mutex(&self.shared.state);
        let is_running = |state: &mut ProcessState| state.end.is_none();
        let waited = self.shared.changed.wait_timeout_while(state, time, is_running);
        waited.unwrap_or_else(|e| e.into_inner()).0.end.is_some()
    }

    /// Puts input into the queue.
    ///
    /// # Errors
    /// If it has ended, its input has ended, or too much waits.
    pub fn write(&self, write: &ProcessWrite) -> Result<(), ProcessFault> {
        if !self.is_running() {
            return Err(ProcessFault::Ended(self.number));
        }
        let mut input = lock_mutex(&self.input);
        let gone = ProcessFault::InputEnded(self.number);
        let to = input.as_ref().ok_or(gone)?;
        let size = write.size.filter(|_| self.is_terminal).map(|s| InputPart::Size(s.into()));
        let bytes = Some(write.text.as_bytes()).filter(|bytes| !bytes.is_empty());
        for part in size.into_iter().chain(bytes.map(|bytes| InputPart::Bytes(bytes.to_vec()))) {
            let len = part.len();
            if self.queued.load(Ordering::Acquire) + len > QUEUED {
                return Err(ProcessFault::InputFull(self.number));
            }
            self.queued.fetch_add(len, Ordering::AcqRel);
            to.send(part).map_err(|_| gone)?;
        }
        if write.end {
            *input = None;
        }
        Ok(())
    }

    /// Adds a follower of the output from a position on; without one, from the last lines on. Returns
    /// its number and the position.
    pub fn add_follower(&self, after: Option<u64>) -> (u64, u64) {
        let mut state = lock_mutex(&self.shared.state);
        let written = state.output.written();
        let from = match after {
            Some(after) => after.min(written),
            None => state.output.line_start(written.saturating_sub(BACKLOG)),
        };
        (state.followers.add(from), from)
    }

    /// Removes a follower.
    pub fn remove_follower(&self, id: u64) {
        lock_mutex(&self.shared.state).followers.remove(id);
        self.shared.changed.notify_all();
    }

    /// Makes a follower get nothing any more.
    pub fn stop_follower(&self, id: u64) {
        lock_mutex(&self.shared.state).followers.stop(id);
        self.shared.changed.notify_all();
    }

    /// Records that a follower has shown the output up to a position.
    pub fn confirm(&self, id: u64, position: u64) {
        lock_mutex(&self.shared.state).followers.confirm(id, position);
        self.shared.changed.notify_all();
    }

    /// Returns the time for which nobody has followed it.
    pub fn lonely_time(&self) -> Option<Duration> {
        lock_mutex(&self.shared.state).followers.lonely_time()
    }

    /// Waits for output, and returns at most `most` bytes.
    pub fn follow(&self, id: u64, most: usize) -> FollowedOutput {
        let mut state = lock_mutex(&self.shared.state);
        loop {
            let from = match state.followers.turn(id) {
                FollowerTurn::From(from) => Some(from),
                FollowerTurn::Wait => None,
                FollowerTurn::Stopped => return FollowedOutput::Stopped,
            };
            if let Some(from) = from {
                let OutputPart { bytes, next, dropped } = state.output.read(from, most, true);
                if !bytes.is_empty() {
                    state.followers.advance(id, next);
                    self.shared.changed.notify_all();
                    return FollowedOutput::Bytes { bytes, dropped };
                }
                // Processes that it has begun may hold its output open.
                let is_over = |at: Instant| state.open == 0 || at.elapsed() >= LATE;
                if state.end.is_some_and(|(_, at)| is_over(at)) {
                    drop(state);
                    return FollowedOutput::Ended(self.report());
                }
            }
            let time = if state.end.is_some() { LATE } else { LONG };
            let waited = self.shared.changed.wait_timeout(state, time);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Records whether it ends with the session's process, or with the session's present state.
    pub fn set_lost(&self, is_lost: bool) {
        lock_mutex(&self.shared.state).is_lost = is_lost;
    }

    /// Returns whether the session's process has ended it.
    pub fn is_lost(&self) -> bool {
        lock_mutex(&self.shared.state).is_lost
    }

    /// Returns its state.
    pub fn report(&self) -> ProcessReport {
        let state = lock_mutex(&self.shared.state);
        let status = match state.end {
            None => ProcessStatus::Running,
            Some(_) if state.is_lost => ProcessStatus::Lost,
            Some((end, _)) => ProcessStatus::of_end(end.end),
        };
        let until = state.end.map_or_else(Instant::now, |(_, at)| at);
        ProcessReport {
            process: self.number,
            pid: self.pid,
            command: self.command.clone(),
            terminal: self.is_terminal,
            status,
            exit_code: state.end.map(|(end, _)| end.end.exit_code()),
            seconds: until.duration_since(self.begun).as_secs_f64(),
            written: state.output.written(),
        }
    }
}

impl SharedState {
    fn keep_output(&self, mut pipe: PipeReader) {
        let mut part = vec![0; PART];
        loop {
            let n = match pipe.read(&mut part) {
                Ok(n) => n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let mut state = lock_mutex(&self.state);
            if n == 0 {
                state.open -= 1;
            } else {
                state.output.push(&part[..n]);
                // The process waits for its followers, because nothing is read meanwhile.
                while let Some(time) = state.hold_time() {
                    self.changed.notify_all();
                    let waited = self.changed.wait_timeout(state, time);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
            self.changed.notify_all();
            if n == 0 {
                return;
            }
        }
    }

    fn keep_end(&self, end: ProcessEnd) {
        let at = Instant::now();
        let cpu = u64::try_from(end.cpu.as_micros()).unwrap_or(u64::MAX);
        self.cpu.fetch_add(cpu, Ordering::AcqRel);
        let state = lock_mutex(&self.state);
        let is_open = |state: &mut ProcessState| state.open > 0;
        let waited = self.changed.wait_timeout_while(state, LATE, is_open);
        waited.unwrap_or_else(|e| e.into_inner()).0.end = Some((end, at));
        self.changed.notify_all();
    }
}
