//! A pool of workers that are started ahead of need.

use super::message::{ImageCode, MissingCode, WorkerHello, WorkerReply, WorkerRequest};
use crate::error::Error;
use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use wasibox_sandbox::Limits;
use wasibox_vfs::lock_mutex;
use wasibox_worker::channel::Channel;
use wasibox_worker::child::Worker;
use wasibox_worker::jail::Walls;

/// The environment variable that names the worker program.
pub const VARIABLE: &str = "WASIBOX_WORKER";

/// The default of [`PoolOptions::prepare_timeout`].
const PREPARING: Duration = Duration::from_secs(1800);

/// The time that a warm worker may take to make another one on a busy machine.
const COPYING: Duration = Duration::from_secs(30);

/// The time during which no worker is made after a session has begun, so that the session has the
/// processor to itself.
const PAUSE: Duration = Duration::from_millis(10);

/// The options of a pool.
#[derive(Clone)]
pub struct PoolOptions {
    /// The image that all sessions of the pool use.
    pub image: PathBuf,
    /// The folder in which machine code is kept. It is required, because workers do not compile.
    pub artifacts: Option<PathBuf>,
    /// The program that serves as a worker: `runner`, or one that calls
    /// [`worker_main`](crate::worker_main) when its first argument is `worker`. The default is
    /// `$WASIBOX_WORKER`, otherwise this process's own program if it is named `runner`, otherwise a
    /// `runner` beside it or beside the image.
    pub program: Option<PathBuf>,
    /// The number of workers that are kept ready. Each session takes one.
    pub warm: usize,
    /// Receives a line of text for each operation that takes time.
    pub progress: Arc<dyn Fn(&str) + Send + Sync>,
    /// Whether sessions are refused on a host that lacks a wall.
    pub require_walls: bool,
    /// The longest time that making the image's programs ready may take: compiling them and
    /// preparing their memory, which is done once for each image. `None` means no limit.
    pub prepare_timeout: Option<Duration>,
}

impl PoolOptions {
    /// Returns the defaults: two warm workers, machine code in [`crate::default_artifact_dir`], no
    /// progress, the walls that the host has, and half an hour for preparing.
    pub fn new(image: impl Into<PathBuf>) -> PoolOptions {
        PoolOptions {
            image: image.into(),
            artifacts: crate::default_artifact_dir(),
            program: None,
            warm: 2,
            progress: Arc::new(|_| {}),
            require_walls: false,
            prepare_timeout: Some(PREPARING),
        }
    }
}

/// Warm workers for the sessions of one image.
///
/// A thread of the pool starts them, because a worker ends with the thread that started it. So
/// workers also end with the pool, and therefore each session holds the pool.
pub struct WorkerPool {
    shared: Arc<PoolInner>,
    options: PoolOptions,
}

struct PoolInner {
    state: Mutex<PoolState>,
    changed: Condvar,
}

#[derive(Default)]
struct PoolState {
    ready: VecDeque<Worker>,
    /// The process ID of the worker of which the others are copies.
    first: Option<u32>,
    /// The time at which the last session began.
    begun: Option<Instant>,
    /// The number of sessions that are waiting for a worker.
    waiting: usize,
    failure: Option<Arc<str>>,
    /// Whether the workers have the code of all programs.
    is_complete: bool,
    /// Whether the code that the workers lack has been compiled since.
    is_rest_compiled: bool,
    closed: bool,
}

impl PoolInner {
    fn lock_state(&self) -> MutexGuard<'_, PoolState> {
        lock_mutex(&self.state)
    }
}

impl WorkerPool {
    /// Starts making workers.
    ///
    /// # Errors
    /// If the image or the worker program cannot be found.
    pub fn new(mut options: PoolOptions) -> Result<Arc<WorkerPool>, Error> {
        let here = |path: &Path| {
            path.canonicalize().map_err(|e| Error::Refused(format!("{}: {e}", path.display())))
        };
        options.image = here(&options.image)?;
        let program = match &options.program {
            Some(program) => here(program)?,
            None => find_program(&options.image).ok_or(Error::NoWorker)?,
        };
        options.program = Some(program.clone());
        let shared = Arc::new(PoolInner { state: Mutex::default(), changed: Condvar::new() });
        let (theirs, made) = (shared.clone(), options.clone());
        std::thread::Builder::new()
            .name("wasibox-workers".into())
            .spawn(move || keep_pool(&theirs, &made, &program))?;
        Ok(Arc::new(WorkerPool { shared, options }))
    }

    /// Returns the pool's options.
    pub fn options(&self) -> &PoolOptions {
        &self.options
    }

    /// Takes a warm worker; waits for one if necessary. If `with_all_code` is set, waits for one
    /// that has the code of all programs. Other workers may lack code that is still being compiled.
    pub(super) fn take(&self, with_all_code: bool) -> Result<Worker, Error> {
        let mut state = self.shared.lock_state();
        state.waiting += 1;
        state.failure = None;
        self.shared.changed.notify_all();
        let taken = loop {
            if (state.is_complete || !with_all_code)
                && let Some(worker) = state.ready.pop_front()
            {
                break Ok(worker);
            }
            if let Some(why) = &state.failure {
                break Err(Error::Refused(why.to_string()));
            }
            state = self.shared.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        };
        state.waiting -= 1;
        state.begun = Some(Instant::now());
        self.shared.changed.notify_all();
        taken
    }

    /// Returns the process ID of the worker of which the others are copies, once it exists.
    pub fn first_pid(&self) -> Option<u32> {
        self.shared.lock_state().first
    }

    /// Returns the number of workers that are ready now.
    pub fn ready_count(&self) -> usize {
        self.shared.lock_state().ready.len()
    }

    /// Waits until the configured number of workers is ready, or making one failed.
    pub fn warm_up(&self) {
        let mut state = self.shared.lock_state();
        while state.ready.len() < self.options.warm && state.failure.is_none() {
            state = self.shared.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        let mut state = self.shared.lock_state();
        state.closed = true;
        state.ready.clear();
        self.shared.changed.notify_all();
    }
}

/// Runs the pool's thread, which keeps workers ready until the pool is dropped.
fn keep_pool(shared: &Arc<PoolInner>, options: &PoolOptions, program: &Path) {
    let mut first: Option<FirstWorker> = None;
    let mut may_lack_code = true;
    loop {
        let mut state = shared.lock_state();
        while !state.closed
            && !state.is_rest_compiled
            && (state.failure.is_some() || state.ready.len() >= options.warm + state.waiting)
        {
            state = shared.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        if state.closed {
            // Workers of running sessions would end with this thread. There are none, because a
            // session holds the pool, and the pool is gone.
            return;
        }
        if std::mem::take(&mut state.is_rest_compiled) {
            // Workers made from now on have all of the code. If compiling it failed, they report
            // the failure, because it is tried only once.
            (first, may_lack_code) = (None, false);
            state.ready.clear();
        }
        // The session that got a worker is starting now, so making the next one can wait, unless
        // another session waits.
        let pause = state.begun.and_then(|at| PAUSE.checked_sub(at.elapsed()));
        let is_needed = state.waiting > state.ready.len();
        if let Some(pause) = pause.filter(|pause| !pause.is_zero() && !is_needed) {
            let waited = shared.changed.wait_timeout(state, pause);
            drop(waited.unwrap_or_else(|e| e.into_inner()));
            continue;
        }
        drop(state);
        let made = match &mut first {
            Some(first) => copy_worker(&mut first.worker),
            None => Err(Error::NoWorker),
        };
        // The first worker is started, for the first time or because it is gone.
        let mut made = made.or_else(|_| {
            let rest = may_lack_code.then_some(shared);
            let first = first.insert(warm_worker(options, program, rest)?);
            copy_worker(&mut first.worker)
        });
        let mut state = shared.lock_state();
        state.first = first.as_ref().map(|first| first.worker.pid());
        state.is_complete = first.as_ref().is_some_and(|first| first.is_complete);
        if state.waiting > state.ready.len() {
            // The session moves the worker to its own cgroup while the worker starts.
            state.begun = Some(Instant::now());
        } else {
            drop(state);
            if let Ok(worker) = &mut made {
                worker.enter_cgroup();
            }
            state = shared.lock_state();
        }
        match made {
            Ok(worker) => state.ready.push_back(worker),
            Err(e) => state.failure = Some(e.to_string().into()),
        }
        shared.changed.notify_all();
    }
}

/// Makes a copy of a warm worker.
fn copy_worker(first: &mut Worker) -> Result<Worker, Error> {
    let (channel, theirs) = Channel::pair()?;
    let (control, their_control) = Channel::pair()?;
    first.channel.send(&WorkerRequest::Copy, &[theirs.as_fd(), their_control.as_fd()])?;
    match first.channel.receive(Some(Instant::now() + COPYING)) {
        Ok(Some((WorkerReply::Copied(pid), _))) => Ok(Worker::adopt(pid, channel, control)?),
        Ok(Some((WorkerReply::Failed(fault), _))) => Err(fault.into()),
        Ok(Some(_)) => Err(Error::Worker("answered out of order".into())),
        Ok(None) => Err(Error::Worker("did not make another one".into())),
        Err(_) => Err(Error::Worker(first.end().to_string())),
    }
}

/// The worker of which the others are copies. It never has a session, so that the memory that it
/// shares with its copies stays unchanged.
struct FirstWorker {
    worker: Worker,
    /// Whether it has the code of all programs. Otherwise the rest is being compiled.
    is_complete: bool,
}

/// Starts a worker that has mapped the image's code.
///
/// If code is missing, it is compiled first. If `shared` is given, only the shell's code is
/// compiled here, so that the first session begins in seconds, while separate processes compile the
/// rest.
fn warm_worker(
    options: &PoolOptions,
    program: &Path,
    shared: Option<&Arc<PoolInner>>,
) -> Result<FirstWorker, Error> {
    let artifacts = options.artifacts.clone().ok_or_else(|| {
        Error::Refused("workers need a folder in which machine code is kept".into())
    })?;
    let (image, key) = (options.image.clone(), wasibox_sandbox::key::default_dir());
    let all = ImageCode { image, artifacts, key, program: None };
    let stack = Limits::default().stack;
    let deadline = options.prepare_timeout.map(|timeout| Instant::now() + timeout);
    let ask = |request: &WorkerRequest| ask_worker(options, program, request, deadline);
    let MissingCode { mut programs, shell } = match ask(&WorkerRequest::Warm(all.clone(), stack))? {
        Ok(worker) => return Ok(FirstWorker { worker, is_complete: true }),
        Err(missing) => missing,
    };
    if let (Some(shell), Some(shared)) = (shell, shared) {
        let code = ImageCode { program: Some(shell.clone()), ..all.clone() };
        if programs.contains(&shell) {
            ask(&WorkerRequest::Keep(code.clone(), false))?.ok();
            programs.retain(|name| *name != shell);
        }
        if let Ok(worker) = ask(&WorkerRequest::Warm(code, stack))? {
            compile_rest(options, program, shared, &all, programs)?;
            return Ok(FirstWorker { worker, is_complete: false });
        }
    }
    ask(&WorkerRequest::Keep(all.clone(), false))?.ok();
    match ask(&WorkerRequest::Warm(all, stack))? {
        Ok(worker) => Ok(FirstWorker { worker, is_complete: true }),
        Err(_) => Err(Error::Refused("machine code cannot be kept for workers".into())),
    }
}

/// Compiles these programs, each in a process of its own, and sets [`PoolState::is_rest_compiled`]
/// when all have ended. The compiling processes outlive this process, because later processes use
/// the code that they keep.
fn compile_rest(
    options: &PoolOptions,
    program: &Path,
    shared: &Arc<PoolInner>,
    all: &ImageCode,
    missing: Vec<String>,
) -> Result<(), Error> {
    let mut compilers = Vec::with_capacity(missing.len());
    for name in missing {
        let worker = start_worker(program)?;
        let code = ImageCode { program: Some(name), ..all.clone() };
        worker.channel.send(&WorkerRequest::Keep(code, true), &[])?;
        compilers.push(worker);
    }
    let (shared, progress) = (shared.clone(), options.progress.clone());
    let deadline = options.prepare_timeout.map(|timeout| Instant::now() + timeout);
    std::thread::Builder::new().name("wasibox-compilers".into()).spawn(move || {
        for mut worker in compilers {
            while let Ok(Some((WorkerReply::Progress(line), _))) = worker.channel.receive(deadline)
            {
                progress(&line);
            }
        }
        // A failure shows when the first worker is made again, which needs all of the code.
        shared.lock_state().is_rest_compiled = true;
        shared.changed.notify_all();
    })?;
    Ok(())
}

/// Starts a process for a worker, and says which messages this program sends.
pub(super) fn start_worker(program: &Path) -> Result<Worker, Error> {
    let worker = Worker::start(program)?;
    worker.channel.send(&WorkerHello::own(), &[])?;
    Ok(worker)
}

/// Starts a process and sends it a request for code. The inner error names the code that is not
/// kept yet.
fn ask_worker(
    options: &PoolOptions,
    program: &Path,
    request: &WorkerRequest,
    deadline: Option<Instant>,
) -> Result<Result<Worker, MissingCode>, Error> {
    let mut worker = start_worker(program)?;
    worker.channel.send(request, &[])?;
    // This worker runs no guest, so it does not need a cgroup. But the first move to a cgroup after
    // a while takes ten milliseconds, which would otherwise delay the first copy.
    worker.enter_cgroup();
    loop {
        match worker.channel.receive(deadline) {
            Ok(Some((WorkerReply::Progress(line), _))) => (options.progress)(&line),
            Ok(Some((WorkerReply::Warm, _))) => return Ok(Ok(worker)),
            Ok(Some((WorkerReply::NotKept(missing), _))) => return Ok(Err(missing)),
            Ok(Some((WorkerReply::Failed(fault), _))) => return Err(fault.into()),
            Ok(Some(_)) => return Err(Error::Worker("answered out of order".into())),
            Ok(None) => {
                return Err(Error::Unready(options.prepare_timeout.unwrap_or_default()));
            }
            Err(_) => return Err(Error::Worker(worker.end().to_string())),
        }
    }
}

/// Determines the walls that this host has, by closing a jail around a process of `program`.
///
/// # Errors
/// If the process cannot be started.
pub fn probe_walls(program: &Path) -> Result<Walls, Error> {
    let mut worker = start_worker(program)?;
    worker.channel.send(&WorkerRequest::Probe, &[])?;
    let soon = Instant::now() + Duration::from_secs(30);
    match worker.channel.receive(Some(soon)) {
        Ok(Some((WorkerReply::Ready(walls), _))) => {
            Ok(Walls { memory: worker.limit_memory(1 << 30), ..walls })
        }
        Ok(Some((WorkerReply::Failed(fault), _))) => Err(fault.into()),
        Ok(_) => Err(Error::Worker("did not answer".into())),
        Err(_) => Err(Error::Worker(worker.end().to_string())),
    }
}

/// Returns the default worker program.
fn find_program(image: &Path) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|v| !v.is_empty()) {
        return PathBuf::from(named).canonicalize().ok();
    }
    let own = std::env::current_exe().ok();
    let name = Path::new("runner");
    if let Some(own) = own.as_ref().filter(|own| own.file_name() == Some(name.as_os_str())) {
        return Some(own.clone());
    }
    let places = [own.as_deref().and_then(Path::parent), image.parent()];
    places.into_iter().flatten().map(|dir| dir.join(name)).find(|path| path.is_file())
}
