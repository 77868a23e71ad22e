//! The parent's end of a worker that has a session.

use super::asks::MOST;
use super::bounds::{self, ReportBounds};
use super::message::{ControlMessage, PART, WorkerReply, WorkerRequest};
use super::pool::WorkerPool;
use super::pump::OutputPump;
use crate::error::Error;
use crate::local::{Asked, CallResult, CellHead, CellTail, CellUpdate, FilesResult, Touched};
use crate::run::InheritedStreams;
use crate::spawned::{SpawnEnds, TerminalSize};
use crate::tenant::{Tenant, TenantWorker};
use crate::workspace::WorkspaceSource;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_bytes::ByteBuf;
use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use wasibox_protocol::{End, Exec, Input, LimitHit, Outcome, Output};
use wasibox_sandbox::streams::is_null_device;
use wasibox_sandbox::{HostToolPolicy, Limits, NetworkPolicy, PlacedExec, Policy};
use wasibox_vfs::delta::Delta;
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{AnswerSlot, Asker, Errno, MAX_MESSAGE, SERVICES, Service};
use wasibox_worker::channel::ChannelSender;
use wasibox_worker::child::{Worker, WorkerEnd as How};
use wasibox_worker::jail::Walls;

/// The time that a worker may take to end a call at its deadline, or to begin a session.
const GRACE: Duration = Duration::from_secs(2);
const BEGIN: Duration = Duration::from_secs(30);
/// A time limit of calls that leaves enough time to compile programs. All programs of the image
/// take a minute on two idle cores.
const AMPLE: Duration = Duration::from_secs(600);
/// The time limit of a request about files, which normally ends long before.
const FILES: Duration = Duration::from_secs(60);
/// Maximum size in bytes of the answer to a request about files.
const ANSWER: u64 = 64 << 20;
/// The interval at which the parent checks a worker's memory while a call runs.
const LOOK: Duration = Duration::from_millis(50);
/// The memory that a worker may use beyond its counted limits, for the engine, threads and buffers.
const OWN: u64 = 96 << 20;
/// Maximum number of progress lines that are passed on in one call.
const LINES: usize = 1000;

/// A worker with a session.
pub struct WorkerLink {
    worker: Worker,
    walls: Walls,
    limits: Limits,
    progress: Arc<dyn Fn(&str) + Send + Sync>,
    interrupt: Arc<Mutex<Option<Instant>>>,
    /// The worker as part of its tenant's budget.
    tenant: Option<TenantWorker>,
    /// The service that answers guests' requests, and the channel for the answers. A thread sends
    /// them, because a worker may fail to read them.
    service: Option<Arc<dyn Service>>,
    answers: Option<mpsc::Sender<ControlMessage>>,
    /// The number of unanswered requests, and the callers that wait for the answers.
    asked: Arc<AtomicUsize>,
    askers: Arc<Mutex<HashMap<u64, Asker>>>,
    /// The number of progress lines that were passed on outside of calls.
    lines: usize,
}

/// A handle that ends a worker's call from another thread.
pub struct WorkerInterrupt {
    requested: Arc<Mutex<Option<Instant>>>,
    control: ChannelSender,
}

impl WorkerInterrupt {
    /// Ends the call.
    pub fn interrupt(&self) {
        lock_mutex(&self.requested).get_or_insert_with(Instant::now);
        // A failure is ignored, because the thread that waits for the worker notices when it is
        // gone.
        let _ = self.control.send(&ControlMessage::Interrupt);
    }
}

impl WorkerInterrupt {
    /// Connects the stream to a port of the session's loopback.
    pub fn connect(&self, port: u16, stream: &UnixStream) {
        // A failure is ignored, because a dropped stream is noticed at its other end.
        let _ = self.control.send_with(&ControlMessage::Connect(port), &[stream.as_fd()]);
    }

    /// Asks for the list of listening sockets, which the worker writes to the stream.
    pub fn list_ports(&self, stream: &UnixStream) {
        // A failure is ignored, because a dropped stream is noticed at its other end.
        let _ = self.control.send_with(&ControlMessage::Ports, &[stream.as_fd()]);
    }

    /// Sends a signal to a process that runs beside calls.
    pub fn send_signal(&self, pid: u32, signal: u8) {
        // A failure is ignored, because a worker that is gone has ended its processes.
        let _ = self.control.send(&ControlMessage::Signal { pid, signal });
    }
}

/// The messages of a call that have arrived so far.
#[derive(Default)]
struct CallCollector {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    cap: u64,
    changed: Vec<Delta>,
    touched: Touched,
    shell: Option<Arc<[u8]>>,
    layer: Vec<u8>,
    cell: Option<CellTail>,
    /// The name of the interpreter that runs the call.
    cell_name: Option<String>,
    bounds: Option<ReportBounds>,
    lines: usize,
}

impl CallCollector {
    fn bounds(&mut self, limits: &Limits) -> &mut ReportBounds {
        self.bounds.get_or_insert_with(|| ReportBounds::new(limits))
    }
}

/// The reason why the parent ended a worker.
enum KillReason {
    Deadline,
    Memory,
    Interrupted,
}

impl WorkerLink {
    /// Takes a worker from the pool for a session.
    ///
    /// # Errors
    /// If no worker is available, a mount cannot be made, or walls are required and missing.
    pub fn begin_session(
        pool: &WorkerPool,
        policy: &Policy,
        given: WorkspaceSource,
    ) -> Result<WorkerLink, Error> {
        if policy.limits.stack != Limits::default().stack {
            return Err(Error::Refused("workers have the default stack".into()));
        }
        // A short time limit is meant for the commands alone, not for compiling the programs that
        // they run.
        let with_all_code = policy.limits.timeout.is_some_and(|timeout| timeout < AMPLE);
        let mut worker = pool.take(with_all_code)?;
        let mut theirs = policy.clone();
        // Only the parent has access to the network and to host tools.
        theirs.network = NetworkPolicy::default();
        theirs.host_tools = HostToolPolicy::none();
        for mount in &mut theirs.mounts {
            // The path is made absolute because a worker has a working directory of its own.
            mount.host = std::path::absolute(&mount.host)?;
        }
        if let Some(workspace) = &mut theirs.workspace {
            workspace.path = std::path::absolute(&workspace.path)?;
        }
        let zip: Vec<_> = given.zip.iter().map(AsFd::as_fd).collect();
        worker.channel.send(&WorkerRequest::Begin(Box::new(theirs), given.is_original), &zip)?;
        // The memory is limited while the worker starts, because no guest runs before the first
        // call.
        let memory = worker.limit_memory(memory_limit(&policy.limits));
        let walls = loop {
            match worker.channel.receive(Some(Instant::now() + BEGIN)) {
                Ok(Some((WorkerReply::Ready(walls), _))) => break Walls { memory, ..walls },
                Ok(Some((WorkerReply::Progress(_), _))) => {}
                Ok(Some((WorkerReply::Failed(fault), _))) => return Err(fault.into()),
                Ok(Some(_)) => return Err(Error::Worker("answered out of order".into())),
                Ok(None) => return Err(Error::Worker("did not begin".into())),
                Err(_) => return Err(Error::Worker(worker.end().to_string())),
            }
        };
        let missing = walls.missing_walls();
        if pool.options().require_walls && !missing.is_empty() {
            return Err(Error::Walls(missing.join(", ")));
        }
        crate::walls::note_missing_walls(&walls, true);
        let progress = pool.options().progress.clone();
        let (limits, interrupt) = (policy.limits, Arc::default());
        let (tenant, service, answers, asked, askers, lines) = Default::default();
        Ok(WorkerLink {
            worker,
            walls,
            limits,
            progress,
            interrupt,
            tenant,
            service,
            answers,
            asked,
            askers,
            lines,
        })
    }

    /// Returns a handle that ends calls.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn interrupter(&self) -> Result<WorkerInterrupt, Error> {
        let control = self.worker.control.sender()?;
        Ok(WorkerInterrupt { requested: self.interrupt.clone(), control })
    }

    /// Counts the worker's memory and calls for a tenant.
    pub fn count_for(&mut self, tenant: &Arc<Tenant>) {
        self.tenant = Some(TenantWorker::new(tenant.clone(), self.pid()));
    }

    /// Returns the walls around the worker.
    pub fn walls(&self) -> Walls {
        self.walls
    }

    /// Returns the worker's process ID.
    pub fn pid(&self) -> u32 {
        self.worker.pid()
    }

    /// Sends a part of the session's state.
    ///
    /// # Errors
    /// If the worker is gone.
    pub fn restore_delta(&mut self, delta: Delta, is_elsewhere: bool) -> Result<(), Error> {
        self.send_request(&WorkerRequest::Restore(delta, is_elsewhere))
    }

    /// Sends the shell's state.
    ///
    /// # Errors
    /// If the worker is gone.
    pub fn set_shell(&mut self, state: &[u8]) -> Result<(), Error> {
        self.send_request(&WorkerRequest::Shell(ByteBuf::from(state)))
    }

    /// Reads or changes files.
    ///
    /// # Errors
    /// If the worker is gone, or its answer is malformed.
    pub fn run_files(&mut self, asked: &Asked) -> Result<FilesResult, Error> {
        let bytes = postcard::to_stdvec(asked).map_err(|e| Error::Refused(e.to_string()))?;
        let count = bytes.len().div_ceil(PART).max(1);
        for n in 0..count {
            let part = &bytes[n * PART..bytes.len().min((n + 1) * PART)];
            let bytes = ByteBuf::from(part);
            self.send_request(&WorkerRequest::Files { is_last: n + 1 == count, bytes })?;
        }
        let deadline = Instant::now() + FILES;
        let (mut answer, mut changed, mut touched) = (Vec::new(), Vec::new(), Vec::new());
        let mut bounds = ReportBounds::new(&self.limits);
        loop {
            match self.receive_reply(deadline)? {
                Some(WorkerReply::Changed(part)) => {
                    bounds.add_delta(&part)?;
                    changed.push(part);
                }
                Some(WorkerReply::Touched(part)) => {
                    bounds.add_touched(&part)?;
                    touched.extend(part);
                }
                Some(WorkerReply::Answer { is_last, bytes }) => {
                    bounds.add_bytes(bytes.len(), ANSWER)?;
                    answer.extend_from_slice(&bytes);
                    if is_last {
                        break;
                    }
                }
                Some(_) => return Err(Error::Worker("answered out of order".into())),
                None => return Err(Error::Worker("did not answer in time".into())),
            }
        }
        let answer = postcard::from_bytes(&answer);
        let answer = answer.map_err(|_| Error::Worker("gave no answer".into()))?;
        Ok(FilesResult { answer, changed, touched })
    }

    /// Restores an interpreter from the layers of its memory.
    ///
    /// # Errors
    /// [`Error::Cell`] if it cannot be restored, or another error if the worker is gone.
    pub fn restore_cell(&mut self, head: CellHead, layers: &[Vec<u8>]) -> Result<(), Error> {
        for layer in layers {
            for (n, part) in layer.chunks(PART).enumerate() {
                self.send_request(&WorkerRequest::Layer {
                    begins: n == 0,
                    bytes: ByteBuf::from(part),
                })?;
            }
        }
        self.send_request(&WorkerRequest::RestoreCell(head))?;
        match self.receive_reply(Instant::now() + BEGIN)? {
            Some(WorkerReply::Restored(None)) => Ok(()),
            Some(WorkerReply::Restored(Some(why))) => Err(Error::Cell(bounds::cut_text(why))),
            Some(_) => Err(Error::Worker("answered out of order".into())),
            None => Err(Error::Worker("did not bring an interpreter back".into())),
        }
    }

    /// Receives the next answer; serves the requests of processes beside calls meanwhile. Returns
    /// `None` after the deadline, even if a worker sends requests without end.
    fn receive_reply(&mut self, deadline: Instant) -> Result<Option<WorkerReply>, Error> {
        loop {
            let reply = match self.worker.channel.receive(Some(deadline)) {
                Ok(Some((reply, _))) => reply,
                Ok(None) => return Ok(None),
                Err(_) => return Err(Error::Worker(self.worker.end().to_string())),
            };
            match reply {
                WorkerReply::Ask { number, name, request } => {
                    self.pass_request(number, &name, request.into_vec())?;
                }
                WorkerReply::GaveUp(number) => self.forget_asker(number),
                WorkerReply::Progress(line) => {
                    self.lines += 1;
                    if self.lines < LINES {
                        (self.progress)(&bounds::cut_text(line));
                    }
                }
                other => return Ok(Some(other)),
            }
            if deadline <= Instant::now() {
                return Ok(None);
            }
        }
    }

    fn forget_asker(&self, number: u64) {
        let asker = lock_mutex(&self.askers).remove(&number);
        if let Some(asker) = asker {
            asker.is_gone();
        }
    }

    /// Begins a program that runs beside calls. Returns the number of its process.
    ///
    /// # Errors
    /// If it cannot be started, or the worker is gone.
    pub fn spawn_process(
        &mut self,
        placed: PlacedExec,
        terminal: Option<TerminalSize>,
        ends: &SpawnEnds,
    ) -> Result<u32, Error> {
        let SpawnEnds { stdin, stdout, stderr, report } = ends;
        let fds = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd(), report.as_fd()];
        // Compiling programs counts, too.
        let deadline = Instant::now() + AMPLE;
        let sent = self.worker.channel.send(&WorkerRequest::Spawn(placed, terminal), &fds);
        sent.map_err(|_| Error::Worker(self.worker.end().to_string()))?;
        match self.receive_reply(deadline)? {
            Some(WorkerReply::Spawned(pid)) => Ok(pid),
            Some(WorkerReply::Failed(fault)) => Err(fault.cut_texts().into()),
            Some(_) => Err(Error::Worker("answered out of order".into())),
            None => Err(Error::Worker("did not begin a process in time".into())),
        }
    }

    /// Returns a descriptor that is readable when the worker has sent something.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn wake_fd(&self) -> std::io::Result<OwnedFd> {
        self.worker.channel.as_fd().try_clone_to_owned()
    }

    /// Serves the requests of processes beside calls, between two calls, and checks the worker's
    /// memory. `time` is how long such processes have been running.
    ///
    /// # Errors
    /// If the worker is gone, or must end.
    pub fn serve_between(&mut self, time: Duration) -> Result<(), Error> {
        if let Some(memory) = self.worker.memory() {
            let tenant = self.tenant.as_mut();
            if memory > memory_limit(&self.limits) || tenant.is_some_and(|t| t.look(time, memory)) {
                return Err(Error::Worker("needs more memory than it may".into()));
            }
        }
        match self.receive_reply(Instant::now())? {
            None => Ok(()),
            Some(_) => Err(Error::Worker("answered out of order".into())),
        }
    }

    /// Sets the service that answers guests' requests from the next call on.
    pub fn set_service(&mut self, service: Arc<dyn Service>) {
        let names =
            SERVICES.iter().filter(|name| service.serves_node(name)).map(|n| (*n).to_owned());
        // A failure is ignored, because the next call notices that the worker is gone.
        let _ = self.send_request(&WorkerRequest::Serves(names.collect()));
        self.service = Some(service);
    }

    /// Passes a guest's request to the service, whose answer is sent to the worker.
    fn pass_request(&mut self, number: u64, name: &str, request: Vec<u8>) -> Result<(), Error> {
        let service =
            self.service.as_ref().filter(|s| SERVICES.contains(&name) && s.serves_node(name));
        let service = service.ok_or_else(|| Error::Worker("asked for what is not there".into()))?;
        if self.asked.fetch_add(1, Ordering::Relaxed) >= MOST || request.len() > MAX_MESSAGE {
            return Err(Error::Worker("asked for more than it may".into()));
        }
        let answers = match &self.answers {
            Some(answers) => answers,
            None => {
                let (sender, answers) = mpsc::channel();
                let (control, asked) = (self.worker.control.sender()?, self.asked.clone());
                std::thread::Builder::new().stack_size(128 << 10).spawn(move || {
                    // Runs until the session or the worker is gone.
                    while let Ok(answer) = answers.recv() {
                        if control.send(&answer).is_err() {
                            return;
                        }
                        // The number is reduced only after sending. So a worker that reads no
                        // answers cannot make more requests.
                        asked.fetch_sub(1, Ordering::Relaxed);
                    }
                })?;
                self.answers.insert(sender)
            }
        };
        let (answers, askers) = (answers.clone(), self.askers.clone());
        let asker = Asker::default();
        lock_mutex(&askers).insert(number, asker.clone());
        let give = move |answer: Result<Vec<u8>, Errno>| {
            lock_mutex(&askers).remove(&number);
            let answer = answer.map(ByteBuf::from).map_err(|e| e.0);
            // A failure is ignored, because a worker that is gone needs no answer.
            let _ = answers.send(ControlMessage::Answer(number, answer));
        };
        service.take_request(name, request, AnswerSlot::from_sender(give, asker));
        Ok(())
    }

    /// Ends the processes that earlier calls have left running.
    ///
    /// # Errors
    /// If the worker is gone.
    pub fn end_background(&mut self) -> Result<(), Error> {
        self.send_request(&WorkerRequest::EndBackground)
    }

    /// Ends an interpreter.
    ///
    /// # Errors
    /// If the worker is gone.
    pub fn forget_cell(&mut self, name: &str) -> Result<(), Error> {
        self.send_request(&WorkerRequest::ForgetCell(name.into()))
    }

    fn send_request(&mut self, request: &WorkerRequest) -> Result<(), Error> {
        let sent = self.worker.channel.send(request, &[]);
        // The reason why the worker has ended is more useful than the error of sending.
        sent.map_err(|_| Error::Worker(self.worker.end().to_string()))
    }

    /// Runs a command.
    pub fn run_call(&mut self, placed: PlacedExec, streams: &InheritedStreams<'_>) -> CallResult {
        self.tenant.iter_mut().for_each(TenantWorker::begin_call);
        let result = self.run_placed(placed, streams);
        self.tenant.iter_mut().for_each(TenantWorker::end_call);
        result
    }

    fn run_placed(&mut self, placed: PlacedExec, streams: &InheritedStreams<'_>) -> CallResult {
        let started = Instant::now();
        let mut pump = OutputPump::default();
        let exec = &placed.exec;
        let timeout = exec.timeout.or(self.limits.timeout);
        let deadline = timeout.and_then(|t| started.checked_add(t)?.checked_add(GRACE));
        let cell_name = crate::local::interpreter_of(exec).map(str::to_owned);
        let cap = exec.capture_limit();
        let mut got = CallCollector { cap, cell_name, ..CallCollector::default() };
        let fds = match pipe_streams(exec, streams, &mut pump) {
            Ok(fds) => fds,
            Err(e) => return CallResult::unchanged(Err(e.into())),
        };
        let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        let sent = self.worker.channel.send_by(&WorkerRequest::Call(placed), &borrowed, deadline);
        drop(fds);
        let ended = match sent {
            Err(_) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                Ok(WorkerCallEnd::Killed(KillReason::Deadline))
            }
            Ok(()) => self.wait_for_call(&mut pump, deadline, &mut got),
            Err(_) => Err(Error::Worker(self.worker.end().to_string())),
        };
        *lock_mutex(&self.interrupt) = None;
        let result = match ended {
            Ok(WorkerCallEnd::Done(done)) => {
                pump.drain_pipes(&mut |wants| {
                    let left = Timespec { tv_sec: GRACE.as_secs() as i64, tv_nsec: 0 };
                    matches!(poll(wants, Some(&left)), Ok(n) if n > 0)
                });
                // Only this process makes commits, so a number from the worker is dropped.
                Ok(Outcome { stdout: got.stdout, stderr: got.stderr, commit: None, ..*done })
            }
            // The command could not be run, which is the fault of the guest or the caller, not of
            // the worker.
            Ok(WorkerCallEnd::Failed(e)) => Err(e),
            Ok(WorkerCallEnd::Killed(why)) => {
                let end = match why {
                    KillReason::Deadline => End::Limit(LimitHit::Timeout),
                    KillReason::Memory => End::Limit(LimitHit::Memory),
                    KillReason::Interrupted => End::Interrupted,
                };
                return CallResult::lost(Ok(Outcome {
                    stdout: got.stdout,
                    stderr: got.stderr,
                    truncated: true,
                    duration_ms: started.elapsed().as_secs_f64() * 1000.0,
                    // The call's changes were lost together with the worker.
                    files_truncated: true,
                    ..Outcome::from_end(end)
                }));
            }
            Err(e) => return CallResult::lost(Err(e)),
        };
        let cell = got.cell.map(|tail| CellUpdate { tail, layer: got.layer });
        let CallCollector { changed, touched, shell, .. } = got;
        CallResult { changed, touched, shell, cell, ..CallResult::unchanged(result) }
    }

    fn wait_for_call(
        &mut self,
        pump: &mut OutputPump<'_>,
        deadline: Option<Instant>,
        got: &mut CallCollector,
    ) -> Result<WorkerCallEnd, Error> {
        let limit = memory_limit(&self.limits);
        let begun = Instant::now();
        let mut look = begun + LOOK;
        loop {
            // Limits are checked before any message of the worker.
            let now = Instant::now();
            if deadline.is_some_and(|d| now >= d) {
                return Ok(WorkerCallEnd::Killed(KillReason::Deadline));
            }
            if lock_mutex(&self.interrupt).is_some_and(|at| now >= at + GRACE) {
                return Ok(WorkerCallEnd::Killed(KillReason::Interrupted));
            }
            if now >= look {
                look = now + LOOK;
                if let Some(memory) = self.worker.memory() {
                    let tenant = self.tenant.as_mut();
                    if memory > limit || tenant.is_some_and(|t| t.look(now - begun, memory)) {
                        return Ok(WorkerCallEnd::Killed(KillReason::Memory));
                    }
                }
            }
            match self.worker.channel.receive(Some(now)) {
                Ok(Some((reply, _))) => match self.take_reply(reply, got)? {
                    Some(ended) => return Ok(ended),
                    None => continue,
                },
                Ok(None) => {}
                Err(_) => {
                    return match self.worker.end() {
                        How::OutOfMemory => Ok(WorkerCallEnd::Killed(KillReason::Memory)),
                        how => Err(Error::Worker(how.to_string())),
                    };
                }
            }
            pump.run();
            let until = deadline.map_or(look, |d| d.min(look));
            let left = until.saturating_duration_since(now);
            let left = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
            let mut wants = pump.poll_fds();
            wants.push(PollFd::new(&self.worker.channel, PollFlags::IN));
            // An interrupted poll is harmless, because everything is checked again.
            let _ = poll(&mut wants, Some(&left));
        }
    }

    fn take_reply(
        &mut self,
        reply: WorkerReply,
        got: &mut CallCollector,
    ) -> Result<Option<WorkerCallEnd>, Error> {
        match reply {
            WorkerReply::Output { error, bytes } => {
                if (got.stdout.len() + got.stderr.len() + bytes.len()) as u64 > got.cap {
                    return Err(Error::Worker("wrote more than it may".into()));
                }
                let stream = if error { &mut got.stderr } else { &mut got.stdout };
                stream.extend_from_slice(&bytes);
            }
            WorkerReply::Ask { number, name, request } => {
                self.pass_request(number, &name, request.into_vec())?
            }
            WorkerReply::GaveUp(number) => self.forget_asker(number),
            WorkerReply::Changed(part) => {
                got.bounds(&self.limits).add_delta(&part)?;
                got.changed.push(part);
            }
            WorkerReply::Touched(part) => {
                got.bounds(&self.limits).add_touched(&part)?;
                got.touched.extend(part);
            }
            WorkerReply::Layer(bytes) => {
                // The layers of a memory may take as many bytes as the memory itself.
                let memory = self.limits.memory;
                got.bounds(&self.limits).add_bytes(bytes.len(), memory)?;
                got.layer.extend_from_slice(&bytes);
            }
            WorkerReply::Cell(tail) => {
                if got.cell_name.as_ref() != Some(&tail.name) {
                    return Err(Error::Worker("reported an interpreter that did not run".into()));
                }
                got.cell = Some(tail);
            }
            WorkerReply::Shell(state) => got.shell = Some(state.into_vec().into()),
            WorkerReply::Progress(line) => {
                got.lines += 1;
                if got.lines < LINES {
                    (self.progress)(&bounds::cut_text(line));
                }
            }
            WorkerReply::Done(done) => {
                bounds::check_outcome(&done)?;
                return Ok(Some(WorkerCallEnd::Done(done)));
            }
            WorkerReply::Failed(fault) => {
                return Ok(Some(WorkerCallEnd::Failed(fault.cut_texts().into())));
            }
            WorkerReply::Warm
            | WorkerReply::NotKept(_)
            | WorkerReply::Copied(_)
            | WorkerReply::Checked(_)
            | WorkerReply::Ready(_)
            | WorkerReply::Restored(_)
            | WorkerReply::Spawned(_)
            | WorkerReply::Answer { .. } => {
                return Err(Error::Worker("answered out of order".into()));
            }
        }
        Ok(None)
    }
}

/// Returns the maximum memory in bytes that a worker may use for itself.
fn memory_limit(limits: &Limits) -> u64 {
    limits.memory.saturating_add(limits.output.unwrap_or(0)).saturating_add(OWN)
}

/// Returns the maximum size in bytes of the session's state that the parent keeps.
pub fn state_limit(limits: &Limits) -> u64 {
    let disk = &limits.disk;
    disk.bytes.saturating_mul(2).saturating_add(disk.entries.saturating_mul(1024))
}

/// Makes pipes for the worker in place of the caller's streams, if it needs any.
fn pipe_streams<'a>(
    exec: &Exec,
    streams: &'a InheritedStreams<'_>,
    pump: &mut OutputPump<'a>,
) -> std::io::Result<Vec<OwnedFd>> {
    let (input, output) = (exec.input == Input::Inherit, exec.output == Output::Inherit);
    if !input && !output {
        return Ok(Vec::new());
    }
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    let nothing = || null.as_fd().try_clone_to_owned();
    Ok(vec![
        // The worker, too, sees whether there is no input.
        if input && !is_null_device(streams.stdin) {
            pump.add_input(streams.stdin.as_fd())?
        } else {
            nothing()?
        },
        if output {
            pump.add_output(streams.stdout.as_fd(), exec.raw_terminal)?
        } else {
            nothing()?
        },
        if output {
            pump.add_output(streams.stderr.as_fd(), exec.raw_terminal)?
        } else {
            nothing()?
        },
    ])
}

/// The way a worker's call ended.
enum WorkerCallEnd {
    Done(Box<Outcome>),
    Failed(Error),
    Killed(KillReason),
}
