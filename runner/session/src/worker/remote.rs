//! A session whose commands run in a worker: the parent's half.

use super::message::{Control, Reply, Request};
use super::pool::Pool;
use super::pump::Pump;
use crate::action::{Exec, Input, Output};
use crate::outcome::Outcome;
use crate::session::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use wasibox_sandbox::{LimitHit, Policy};
use wasibox_vfs::delta::{Delta, Layer};
use wasibox_worker::channel::Sender;
use wasibox_worker::child::{Ended as How, Worker};
use wasibox_worker::jail::Walls;

/// How long a worker may take to end a call at its deadline, or to begin a session.
const GRACE: Duration = Duration::from_secs(2);
const BEGIN: Duration = Duration::from_secs(30);
/// How often the parent looks at a worker's memory while a call runs.
const LOOK: Duration = Duration::from_millis(50);
/// What a worker may have beside what its limits count: the engine, threads, buffers.
const OWN: u64 = 96 << 20;
/// State of so many bytes leaves memory to the allocator that is worth giving back.
const LARGE: u64 = 16 << 20;
/// Lines about progress that are passed on in one call.
const LINES: usize = 1000;

/// A session's state, and its worker while it has one.
pub struct Remote {
    pool: Arc<Pool>,
    policy: Policy,
    inner: Mutex<Inner>,
    interrupt: Interrupt,
    /// The worker's process, 0 for none: what can be told of a session that is busy.
    pid: AtomicU32,
}

struct Inner {
    worker: Option<Worker>,
    layer: Layer,
    walls: Walls,
}

/// Ends a call from another thread.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Mutex<Target>>);

#[derive(Default)]
struct Target {
    requested: Option<Instant>,
    control: Option<Sender>,
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}

impl Interrupt {
    /// Ends the call, or the next one if none runs.
    pub fn interrupt(&self) {
        let mut target = lock(&self.0);
        target.requested.get_or_insert_with(Instant::now);
        if let Some(control) = &target.control {
            // A worker that is gone is noticed by who waits for it.
            let _ = control.send(&Control::Interrupt);
        }
    }
}

/// What a call has brought so far.
#[derive(Default)]
struct Collected {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    changed: Vec<Delta>,
    size: u64,
    lines: usize,
}

/// Why the parent ended a worker.
enum Killed {
    Deadline,
    Memory,
    Interrupted,
}

impl Remote {
    /// A session on a worker of the pool.
    ///
    /// # Errors
    /// If no worker can be had, a mount cannot be made, or walls are required and missing.
    pub fn open(pool: Arc<Pool>, policy: Policy) -> Result<Remote, Error> {
        let inner = Inner { worker: None, layer: Layer::default(), walls: Walls::default() };
        let (inner, interrupt) = (Mutex::new(inner), Interrupt::default());
        let remote = Remote { pool, policy, inner, interrupt, pid: AtomicU32::new(0) };
        remote.begin(&mut lock(&remote.inner))?;
        Ok(remote)
    }

    /// A handle that ends calls.
    pub fn interrupter(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// The walls around the session's worker.
    pub fn walls(&self) -> Walls {
        lock(&self.inner).walls
    }

    /// The worker's process, if the session has one now.
    pub fn pid(&self) -> Option<u32> {
        Some(self.pid.load(Ordering::Relaxed)).filter(|pid| *pid != 0)
    }

    /// Gives the worker up. The session's state is kept; the next call takes another worker.
    pub fn park(&self) {
        self.drop_worker(&mut lock(&self.inner));
    }

    fn drop_worker(&self, inner: &mut Inner) {
        lock(&self.interrupt.0).control = None;
        self.pid.store(0, Ordering::Relaxed);
        inner.worker = None;
    }

    /// Takes a worker and makes it what the session was.
    fn begin(&self, inner: &mut Inner) -> Result<(), Error> {
        if self.policy.limits.stack != wasibox_sandbox::Limits::default().stack {
            return Err(Error::Refused("workers have the default stack".into()));
        }
        let mut worker = self.pool.take()?;
        let memory = worker.limit_memory(self.memory_limit());
        worker.channel.send(&Request::Begin(self.policy.clone()), &[])?;
        let walls = loop {
            match worker.channel.receive(Some(Instant::now() + BEGIN)) {
                Ok(Some((Reply::Ready(walls), _))) => break Walls { memory, ..walls },
                Ok(Some((Reply::Progress(_), _))) => {}
                Ok(Some((Reply::Failed(fault), _))) => return Err(fault.into()),
                Ok(Some(_)) => return Err(Error::Worker("answered out of order".into())),
                Ok(None) => return Err(Error::Worker("did not begin".into())),
                Err(_) => return Err(Error::Worker(worker.end().to_string())),
            }
        };
        let missing = walls.missing();
        if self.pool.options().require_walls && !missing.is_empty() {
            return Err(Error::Walls(missing.join(", ")));
        }
        inner.layer.parts(&mut |part| worker.channel.send(&Request::Restore(part), &[]))?;
        let control = worker.control.sender()?;
        lock(&self.interrupt.0).control = Some(control);
        self.pid.store(worker.pid(), Ordering::Relaxed);
        (inner.walls, inner.worker) = (walls, Some(worker));
        Ok(())
    }

    /// Bytes of its own that a worker may have.
    fn memory_limit(&self) -> u64 {
        let limits = &self.policy.limits;
        limits.memory.saturating_add(self.policy.limits.output.unwrap_or(0)).saturating_add(OWN)
    }

    /// Bytes of the session's state that the parent keeps at most.
    fn state_limit(&self) -> u64 {
        let disk = &self.policy.limits.disk;
        disk.bytes.saturating_mul(2).saturating_add(disk.entries.saturating_mul(1024))
    }

    /// Runs a command. A call waits for the one before it.
    ///
    /// # Errors
    /// If it could not be begun, or if the worker died of it; the session is as before the call then.
    pub fn exec(&self, exec: Exec) -> Result<Outcome, Error> {
        let mut inner = lock(&self.inner);
        if inner.worker.is_none() {
            self.begin(&mut inner)?;
        }
        let result = self.call(&mut inner, exec);
        lock(&self.interrupt.0).requested = None;
        result
    }

    fn call(&self, inner: &mut Inner, exec: Exec) -> Result<Outcome, Error> {
        let started = Instant::now();
        let timeout = exec.timeout.or(self.policy.limits.timeout);
        let deadline = timeout.and_then(|t| started.checked_add(t)?.checked_add(GRACE));
        let cap = match exec.output {
            Output::Capture { limit } => limit,
            Output::Inherit => 0,
        };
        let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let mut pump = Pump::default();
        let mut fds: Vec<OwnedFd> = Vec::new();
        if exec.input == Input::Inherit || exec.output == Output::Inherit {
            let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
            let nothing = || null.as_fd().try_clone_to_owned();
            let (input, output) = (exec.input == Input::Inherit, exec.output == Output::Inherit);
            fds.push(if input { pump.input(stdin.as_fd())? } else { nothing()? });
            fds.push(if output { pump.output(stdout.as_fd())? } else { nothing()? });
            fds.push(if output { pump.output(stderr.as_fd())? } else { nothing()? });
        }
        let Some(worker) = &mut inner.worker else { return Err(Error::NoWorker) };
        let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        let sent = worker.channel.send(&Request::Call(exec), &borrowed);
        drop(fds);
        let mut got = Collected::default();
        let ended = match sent {
            Ok(()) => self.wait(worker, &mut pump, deadline, cap, &mut got),
            Err(_) => Err(Error::Worker(worker.end().to_string())),
        };
        let outcome = match ended {
            Ok(Ended::Done(done)) => {
                pump.drain(&mut |wants| {
                    let left = Timespec { tv_sec: GRACE.as_secs() as i64, tv_nsec: 0 };
                    matches!(poll(wants, Some(&left)), Ok(n) if n > 0)
                });
                self.keep(inner, got.changed)?;
                return Ok(done.with(got.stdout, got.stderr));
            }
            // The command could not be run. That is the guest's or the caller's fault, not
            // the worker's.
            Ok(Ended::Failed(e)) => {
                self.keep(inner, got.changed)?;
                return Err(e);
            }
            Ok(Ended::Killed(why)) => {
                let (exit_code, limit_hit) = match why {
                    Killed::Deadline => (124, Some(LimitHit::Timeout)),
                    Killed::Memory => (137, Some(LimitHit::Memory)),
                    Killed::Interrupted => (130, None),
                };
                Ok(Outcome {
                    exit_code,
                    stdout: got.stdout,
                    stderr: got.stderr,
                    truncated: true,
                    duration_ms: started.elapsed().as_secs_f64() * 1000.0,
                    cpu_ms: 0.0,
                    peak_memory: 0,
                    limit_hit,
                    files: Vec::new(),
                    // What it did was lost with it.
                    files_truncated: true,
                })
            }
            Err(e) => Err(e),
        };
        self.drop_worker(inner);
        outcome
    }

    /// Adds what a call has changed to the session's state.
    fn keep(&self, inner: &mut Inner, changed: Vec<Delta>) -> Result<(), Error> {
        let limit = self.state_limit();
        // Of a layer that does not fit nothing can be used, so the old one stays until it does.
        let mut layer = std::mem::take(&mut inner.layer);
        let size = layer.size();
        if changed.iter().map(Delta::size).sum::<u64>().saturating_add(size)
            > limit.saturating_mul(2)
        {
            inner.layer = layer;
            self.drop_worker(inner);
            return Err(Error::Worker("told of more than the session may hold".into()));
        }
        for part in changed {
            layer.add(part, limit);
        }
        inner.layer = layer;
        Ok(())
    }

    fn wait(
        &self,
        worker: &mut Worker,
        pump: &mut Pump<'_>,
        deadline: Option<Instant>,
        cap: u64,
        got: &mut Collected,
    ) -> Result<Ended, Error> {
        let limit = self.memory_limit();
        let mut look = Instant::now() + LOOK;
        loop {
            // First of all, whatever the worker sends.
            let now = Instant::now();
            if deadline.is_some_and(|d| now >= d) {
                return Ok(Ended::Killed(Killed::Deadline));
            }
            if lock(&self.interrupt.0).requested.is_some_and(|at| now >= at + GRACE) {
                return Ok(Ended::Killed(Killed::Interrupted));
            }
            if now >= look {
                look = now + LOOK;
                if worker.memory().is_some_and(|m| m > limit) {
                    return Ok(Ended::Killed(Killed::Memory));
                }
            }
            match worker.channel.receive(Some(now)) {
                Ok(Some((reply, _))) => match self.take(reply, cap, got)? {
                    Some(ended) => return Ok(ended),
                    None => continue,
                },
                Ok(None) => {}
                Err(_) => {
                    return match worker.end() {
                        How::OutOfMemory => Ok(Ended::Killed(Killed::Memory)),
                        how => Err(Error::Worker(how.to_string())),
                    };
                }
            }
            pump.run();
            let until = deadline.map_or(look, |d| d.min(look));
            let left = until.saturating_duration_since(now);
            let left = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
            let mut wants = pump.wants();
            wants.push(PollFd::new(&worker.channel, PollFlags::IN));
            // An interrupted wait is followed by another look at everything.
            let _ = poll(&mut wants, Some(&left));
        }
    }

    fn take(&self, reply: Reply, cap: u64, got: &mut Collected) -> Result<Option<Ended>, Error> {
        match reply {
            Reply::Output { error, bytes } => {
                if (got.stdout.len() + got.stderr.len() + bytes.len()) as u64 > cap {
                    return Err(Error::Worker("wrote more than it may".into()));
                }
                let stream = if error { &mut got.stderr } else { &mut got.stdout };
                stream.extend_from_slice(&bytes);
            }
            Reply::Changed(part) => {
                got.size += part.size();
                got.changed.push(part);
                if got.size > self.state_limit().saturating_mul(2) {
                    return Err(Error::Worker("told of more than the session may hold".into()));
                }
            }
            Reply::Progress(line) => {
                got.lines += 1;
                if got.lines < LINES {
                    (self.pool.options().progress)(&line);
                }
            }
            Reply::Done(done) => return Ok(Some(Ended::Done(done))),
            Reply::Failed(fault) => return Ok(Some(Ended::Failed(fault.into()))),
            Reply::Warm | Reply::NotKept | Reply::Copied(_) | Reply::Ready(_) => {
                return Err(Error::Worker("answered out of order".into()));
            }
        }
        Ok(None)
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let mut inner = lock(&self.inner);
        let layer = std::mem::take(&mut inner.layer);
        let is_large = layer.size() >= LARGE;
        drop(layer);
        if is_large {
            wasibox_sandbox::heap::trim();
        }
    }
}

/// How a call ended, as far as the worker is concerned.
enum Ended {
    Done(super::message::Done),
    Failed(Error),
    Killed(Killed),
}
