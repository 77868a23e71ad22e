//! Programs that run beside the session's calls, and the thread that serves them between calls.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use wasibox_protocol::{Command, Exec, Input, Output, RequestFault};
use wasibox_sandbox::PlacedExec;
use wasibox_vfs::lock_mutex;

use super::{Error, RunningSandbox, Session, SessionInner, SessionRuntime};
use crate::error::ProcessFault;
use crate::kept::{CallNote, StateLocation};
use crate::local::FilesResult;
use crate::spawned::{self, Pipes, SpawnEnds, SpawnedProcess, TerminalProcess, TerminalSize};

/// The interval at which the thread checks the session's processes.
const LOOK: Duration = Duration::from_millis(50);
/// The maximum number of programs of a session beside its calls.
const MOST: usize = 64;

/// The programs of a session's sandbox that run beside calls.
#[derive(Default)]
pub struct SpawnedTable {
    alive: Vec<SpawnedEntry>,
}

struct SpawnedEntry {
    /// Becomes readable when the process has ended.
    report: OwnedFd,
    is_over: Arc<AtomicBool>,
    note: CallNote,
    begun: Instant,
}

/// A process that is to be begun, with both ends of its pipes.
struct ProcessStart {
    exec: Exec,
    terminal: Option<TerminalSize>,
    ends: SpawnEnds,
    pipes: Pipes,
}

impl SpawnedTable {
    /// Returns whether there are any.
    pub fn is_empty(&self) -> bool {
        self.alive.is_empty()
    }

    /// Returns the note for changes that a request about files has found without making them: they are
    /// of a program that runs.
    pub fn note_of_changes(&self, request: &wasibox_files::Request) -> Option<CallNote> {
        let entry = self.alive.first().filter(|_| request.is_reading())?;
        Some(CallNote::from_command(entry.note.command().to_vec()))
    }

    /// Removes those that have ended, and returns their notes.
    fn take_ended(&mut self) -> Vec<CallNote> {
        let (ended, alive) =
            std::mem::take(&mut self.alive).into_iter().partition(SpawnedEntry::has_ended);
        self.alive = alive;
        let ended: Vec<SpawnedEntry> = ended;
        ended.into_iter().map(|entry| entry.note).collect()
    }
}

impl SpawnedEntry {
    fn has_ended(&self) -> bool {
        if self.is_over.load(Ordering::Acquire) {
            return true;
        }
        let mut fds = [PollFd::new(&self.report, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        matches!(poll(&mut fds, Some(&now)), Ok(n) if n > 0)
    }
}

impl Session {
    /// Begins a program that runs beside the session's calls: calls, requests about files and other
    /// such programs go on meanwhile. It begins as [`Session::call`] would begin it, but of the
    /// limits of time only its own applies. It ends with the session's process, and when the
    /// session moves to another of its states. The changes that it makes to files are kept with the
    /// next call, and when it ends.
    ///
    /// Output goes to the process's pipes whatever [`Exec::output`] says. With
    /// [`Input::Inherit`] it has a standard input, without it has none.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use std::io::Read;
    /// use wasibox::{End, Exec};
    ///
    /// let mut process = session.spawn(Exec::new(["sh", "-c", "sleep 1; echo done"]))?;
    /// assert_eq!(session.exec("echo meanwhile")?.stdout, b"meanwhile\n");
    /// let mut text = String::new();
    /// process.stdout.read_to_string(&mut text).expect("its output");
    /// assert_eq!((text.as_str(), process.end.wait().end), ("done\n", End::Exited(0)));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Request`] if the command is no program; if it cannot be started; if 64 of them run.
    pub fn spawn(&self, exec: impl Into<Exec>) -> Result<SpawnedProcess, Error> {
        let mut exec = exec.into();
        exec.check()?;
        if !matches!(exec.command, Command::Program(_)) {
            return Err(RequestFault::NoCommand.into());
        }
        let has_input = exec.input == Input::Inherit;
        exec.input = Input::Inherit;
        exec.output = Output::Inherit;
        let note = CallNote::begin(&exec.command);
        let mut inner = lock_mutex(&self.0.inner);
        let (ends, pipes) = spawned::make_pipes(has_input)?;
        let start = ProcessStart { exec, terminal: None, ends, pipes };
        let (pid, pipes, is_over) = self.0.spawn_process(&mut inner, start, note)?;
        Ok(pipes.into_process(pid, is_over))
    }

    /// Begins a program on a terminal of its own, which it controls; otherwise as
    /// [`Session::spawn`]. `TERM` is `xterm-256color` unless the command sets it. The limit of
    /// output does not apply: the terminal keeps 64 KiB, and programs wait until the screen is
    /// read.
    ///
    /// The terminal hangs up when the keyboard is dropped, and when its first process ends. It is
    /// no part of the session's state: after sleep, undo or a fork there is none.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use std::io::Read;
    /// use wasibox::{Exec, TerminalSize};
    ///
    /// let size = TerminalSize { rows: 30, columns: 100 };
    /// let mut process = session.spawn_terminal(Exec::new(["sh"]), size)?;
    /// process.keyboard.type_bytes(b"test -t 0 && echo a terminal; exit\n").expect("typed");
    /// let mut screen = String::new();
    /// process.screen.read_to_string(&mut screen).expect("its screen");
    /// assert!(screen.contains("\r\na terminal\r\n"));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Session::spawn`]; also if the session has 64 terminals.
    pub fn spawn_terminal(
        &self,
        exec: impl Into<Exec>,
        size: TerminalSize,
    ) -> Result<TerminalProcess, Error> {
        let mut exec = exec.into();
        exec.check()?;
        if !matches!(exec.command, Command::Program(_)) {
            return Err(RequestFault::NoCommand.into());
        }
        exec.input = Input::Inherit;
        exec.output = Output::Inherit;
        if !exec.env.iter().any(|(name, _)| name == b"TERM") {
            exec.env.push((b"TERM".to_vec(), b"xterm-256color".to_vec()));
        }
        let note = CallNote::begin(&exec.command);
        let mut inner = lock_mutex(&self.0.inner);
        let (ends, pipes) = spawned::make_terminal_pipes()?;
        let start = ProcessStart { exec, terminal: Some(size), ends, pipes };
        let (pid, pipes, is_over) = self.0.spawn_process(&mut inner, start, note)?;
        pipes.into_terminal(pid, is_over).ok_or(Error::NoWorker)
    }

    /// Sends a signal to a process that [`Session::spawn`] has begun, and to those that it began;
    /// or to any other process that runs beside calls. Works while a call runs. A process that has
    /// ended gets none.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{End, Exec};
    ///
    /// let process = session.spawn(Exec::new(["sleep", "60"]))?;
    /// session.signal(process.pid, 9);
    /// assert_eq!(process.end.wait().end, End::Signaled(9));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn signal(&self, pid: u32, signal: u8) {
        self.0.interrupt.send_signal(pid, signal);
    }
}

impl SessionInner {
    fn spawn_process(
        self: &Arc<SessionInner>,
        inner: &mut SessionRuntime,
        start: ProcessStart,
        note: CallNote,
    ) -> Result<(u32, Pipes, Arc<AtomicBool>), Error> {
        let ProcessStart { mut exec, terminal, ends, pipes } = start;
        self.live_or_begin(inner)?;
        self.keep_ended(inner)?;
        if inner.spawned.alive.len() >= MOST {
            return Err(ProcessFault::TooMany(MOST).into());
        }
        if self.workspace.is_some() {
            exec.cwd.get_or_insert_with(|| self.home_dir().to_owned());
        }
        let placed = PlacedExec::new(exec, inner.kept.shell());
        if inner.spawned.is_empty() {
            if let Some(requests) = self.requests.get().cloned().flatten() {
                requests.begin_call();
            }
            self.tools.begin_call();
            inner.kept.begin_values();
        }
        let Some(live) = &mut inner.live else { return Err(Error::NoWorker) };
        let pid = match live.spawn_process(placed, terminal, ends) {
            Ok(pid) => pid,
            Err(e) => {
                if matches!(e, Error::Worker(_)) {
                    self.drop_live(inner);
                }
                return Err(e);
            }
        };
        let wake = match live {
            RunningSandbox::Threads(_) => None,
            RunningSandbox::Process(link) => Some(link.wake_fd()?),
        };
        let is_first = inner.spawned.is_empty();
        let is_over = Arc::<AtomicBool>::default();
        let report = pipes.report.try_clone()?.into();
        let entry = SpawnedEntry { report, is_over: is_over.clone(), note, begun: Instant::now() };
        inner.spawned.alive.push(entry);
        if is_first {
            let weak = Arc::downgrade(self);
            let serve = move || serve_processes(&weak, wake);
            std::thread::Builder::new().name("wasibox-beside".into()).spawn(serve)?;
        }
        Ok((pid, pipes, is_over))
    }

    /// Keeps the changes of processes that have ended, and ends their requests.
    pub(super) fn keep_ended(&self, inner: &mut SessionRuntime) -> Result<(), Error> {
        let ended = inner.spawned.take_ended();
        if ended.is_empty() {
            return Ok(());
        }
        let requests = self.requests.get().cloned().flatten();
        let mut entries: Vec<String> = ended.iter().map(CallNote::process_entry).collect();
        if inner.spawned.is_empty() {
            entries.extend(requests.map(|requests| requests.end_call()).unwrap_or_default());
            entries.extend(self.tools.end_call());
        } else {
            entries.extend(requests.map(|requests| requests.take_log()).unwrap_or_default());
            entries.extend(self.tools.take_log());
        }
        inner.kept.add_to_log(&entries)?;
        ended.iter().try_for_each(|note| self.keep_changes(inner, note))
    }

    /// Keeps the changes of all processes that run beside calls.
    pub(super) fn keep_all(&self, inner: &mut SessionRuntime) -> Result<(), Error> {
        self.keep_ended(inner)?;
        let alive = std::mem::take(&mut inner.spawned.alive);
        let kept = alive.iter().try_for_each(|entry| self.keep_changes(inner, &entry.note));
        inner.spawned.alive = alive;
        kept
    }

    /// Keeps the changes to files since the last report, in the name of a command.
    fn keep_changes(&self, inner: &mut SessionRuntime, note: &CallNote) -> Result<(), Error> {
        if matches!(inner.kept, StateLocation::Nothing) {
            return Ok(());
        }
        let Some(live) = &mut inner.live else { return Ok(()) };
        // The answer does not matter, because the changes come with any.
        let look = wasibox_files::Request::Stat { path: "/".into(), follow: true };
        let FilesResult { changed, touched, .. } = live.run_files(("/".into(), look))?;
        self.note_touched(inner, touched)?;
        if changed.is_empty() {
            return Ok(());
        }
        inner.kept.keep_files(changed, note, None, &self.policy.limits)?;
        self.save_workspace(inner)
    }
}

/// Serves the processes of a session until all have ended or their sandbox is gone.
fn serve_processes(session: &Weak<SessionInner>, wake: Option<OwnedFd>) {
    loop {
        let pause = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
        match &wake {
            // The result does not matter, because everything is checked again.
            Some(wake) => drop(poll(&mut [PollFd::new(wake, PollFlags::IN)], Some(&pause))),
            None => std::thread::sleep(LOOK),
        }
        let Some(session) = session.upgrade() else { return };
        let mut inner = lock_mutex(&session.inner);
        let Some(first) = inner.spawned.alive.first() else { return };
        let time = first.begun.elapsed();
        if let Some(slot) = &inner.slot {
            slot.mark_used();
        }
        let served = match &mut inner.live {
            Some(live) => live.serve_between(time),
            None => return,
        };
        let kept = served.and_then(|()| session.keep_ended(&mut inner));
        if kept.is_err() {
            session.drop_live(&mut inner);
        }
        if inner.spawned.is_empty() {
            return;
        }
    }
}
