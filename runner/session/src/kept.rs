//! The state that is kept of a session between its calls, and while it sleeps.

use crate::error::Error;
use crate::live::RunningSandbox;
use crate::local::{CallResult, CellHead, CellUpdate};
use crate::values::Values;
use crate::worker::link::state_limit;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use wasibox_protocol::{Command, LimitHit, Outcome};
use wasibox_sandbox::schedule::LongWork;
use wasibox_sandbox::{Limits, PlacedExec, command_text};
use wasibox_store::Store;
use wasibox_store::snapshot::{Blob, ChangedPath, CommitState, Digest, FileTree};
use wasibox_vfs::delta::{Delta, Layer};

/// Maximum size in bytes of a shell's state.
pub const MAX_SHELL: u64 = box_abi::session::STATE_MAX as u64;
/// Maximum size in bytes of an interpreter's state apart from its memory.
const MAX_REST: u64 = 16 << 20;
/// Maximum size in bytes of a layer of an interpreter's memory: all of the memory, and the numbers
/// and masks of its parts.
const MAX_LAYER: u64 = (4 << 30) + (16 << 20);
/// Size in bytes from which dropping a state frees enough memory to be worth returning to the
/// system.
const LARGE: u64 = 16 << 20;
/// Maximum bytes of a command that the history keeps.
const MAX_COMMAND: usize = 1 << 20;
/// Maximum bytes of a command that the log keeps.
const MAX_LOGGED: usize = 16 << 10;

/// The place where a session's state is kept.
pub enum StateLocation {
    /// In the running sandbox only.
    Nothing,
    /// In memory, without a history.
    Layer(Box<Layer>),
    /// In a store, with a commit for each call.
    Stored(Box<StoredState>),
}

/// A session of a store, and the parts of it that the running sandbox already has.
pub struct StoredState {
    pub session: Arc<wasibox_store::StoreSession>,
    /// The view that guests have of its key-values.
    values: Arc<Values>,
    /// Whether the session now runs with a different image than it began with.
    is_elsewhere: bool,
    /// The shell's state, and the blob of the commit that it belongs to.
    shell: Option<(Blob, Arc<[u8]>)>,
    /// Whether the running sandbox has that state of the shell.
    has_shell: bool,
    /// Removes the session from its store when this is dropped. The field is declared after
    /// `session`, so that the session is dropped first.
    temporary: Option<TemporarySession>,
    /// The interpreters that are alive in the running sandbox with the state of the last commit.
    cells: BTreeSet<String>,
}

/// A session that its store keeps only while it is in use.
pub struct TemporarySession {
    pub store: Store,
    pub name: String,
}

impl Drop for TemporarySession {
    fn drop(&mut self) {
        // A failure is ignored because nothing can use what remains in memory.
        let _ = self.store.remove(&self.name);
        if is_many(&REMOVED) {
            let _ = self.store.collect_garbage();
        }
    }
}

/// The number of sessions removed since the last garbage collection, over all stores in memory.
static REMOVED: AtomicUsize = AtomicUsize::new(0);

fn is_many(removed: &AtomicUsize) -> bool {
    const MANY: usize = 256;
    removed.fetch_add(1, Ordering::Relaxed) % MANY == MANY - 1
}

/// The note about a call for history and log: its start time and its command.
pub struct CallNote {
    begun: Instant,
    time: u64,
    command: Vec<u8>,
}

impl CallNote {
    /// Makes the note of a call that begins now.
    pub fn begin(command: &Command) -> CallNote {
        CallNote::from_command(command_text(command))
    }

    /// Makes the note of a command that begins now.
    pub fn from_command(mut command: Vec<u8>) -> CallNote {
        command.truncate(MAX_COMMAND);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = since.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX));
        CallNote { begun: Instant::now(), time, command }
    }

    /// Returns the command.
    pub fn command(&self) -> &[u8] {
        &self.command
    }

    /// Returns the log entry of a process that ran beside calls.
    pub fn process_entry(&self) -> String {
        let ms = self.begun.elapsed().as_secs_f64() * 1000.0;
        json!({ "event": "process", "command": self.log_text(), "duration_ms": ms.round() })
            .to_string()
    }

    fn log_text(&self) -> String {
        let end = self.command.len().min(MAX_LOGGED);
        String::from_utf8_lossy(&self.command[..end]).into_owned()
    }
}

impl StateLocation {
    /// Returns an empty state that is kept in memory only.
    pub fn in_layer() -> StateLocation {
        StateLocation::Layer(Box::default())
    }

    /// Returns the state of a stored session. `image` is the image that it continues with, `begun`
    /// the one that it began with, if known.
    pub fn from_store(
        session: wasibox_store::StoreSession,
        image: Digest,
        begun: Option<Digest>,
        temporary: Option<TemporarySession>,
    ) -> StateLocation {
        let is_elsewhere = begun.is_some_and(|begun| begun != image);
        let session = Arc::new(session);
        StateLocation::Stored(Box::new(StoredState {
            values: Arc::new(Values::new(session.clone())),
            session,
            is_elsewhere,
            shell: None,
            has_shell: false,
            temporary,
            cells: BTreeSet::new(),
        }))
    }

    /// Returns the session in its store, and whether it continues with another image.
    pub fn in_store(&self) -> Option<(&wasibox_store::StoreSession, bool)> {
        match self {
            StateLocation::Stored(stored) => Some((&stored.session, stored.is_elsewhere)),
            _ => None,
        }
    }

    /// Transfers the session's whole state to a new sandbox.
    ///
    /// # Errors
    /// If it cannot be read, or does not fit.
    pub fn give_to(&mut self, live: &mut RunningSandbox) -> Result<(), Error> {
        match self {
            StateLocation::Nothing => Ok(()),
            StateLocation::Layer(layer) => {
                layer.emit_parts(&mut |part| live.restore_delta(part, false))
            }
            StateLocation::Stored(stored) => {
                let files = stored.session.state().files;
                let is_elsewhere = stored.is_elsewhere;
                let mut give = |part: Delta| live.restore_delta(part, is_elsewhere);
                stored.session.changes(&FileTree::default(), &files, &mut give)?;
                stored.load_shell()?;
                stored.send_shell(live)
            }
        }
    }

    /// Returns the session's key-values, if it is in a store.
    pub fn values(&self) -> Option<Arc<Values>> {
        match self {
            StateLocation::Stored(stored) => Some(stored.values.clone()),
            _ => None,
        }
    }

    /// Adds entries to the log, if there is one.
    ///
    /// # Errors
    /// If they cannot be kept.
    pub fn add_to_log(&self, entries: &[String]) -> Result<(), Error> {
        match self {
            StateLocation::Stored(stored) if !entries.is_empty() => {
                Ok(stored.session.log_all(entries)?)
            }
            _ => Ok(()),
        }
    }

    /// Records that the running sandbox is gone.
    pub fn note_asleep(&mut self) {
        if let StateLocation::Stored(stored) = self {
            stored.has_shell = false;
            stored.shell = None;
            stored.cells.clear();
        }
    }

    /// Makes the session's shell start in the state in which the last shell ended. `exec` may ask
    /// for another directory and more variables, which act as if `cd` and `export` came before its
    /// script.
    ///
    /// # Errors
    /// If the worker is gone.
    pub fn give_shell(
        &mut self,
        live: &mut RunningSandbox,
        exec: &mut PlacedExec,
    ) -> Result<(), Error> {
        let StateLocation::Stored(stored) = self else { return Ok(()) };
        stored.values.begin_call();
        let own = stored.shell.as_ref().and_then(|(_, state)| exec.state_after(state));
        match own {
            Some(state) => {
                stored.has_shell = false;
                live.set_shell(&state.into())
            }
            None => stored.send_shell(live),
        }
    }

    /// Counts the bytes of key-values that guests write from zero again.
    pub fn begin_values(&self) {
        if let StateLocation::Stored(stored) = self {
            stored.values.begin_call();
        }
    }

    /// Returns the shell's state while the session is awake.
    pub fn shell(&self) -> Option<&[u8]> {
        match self {
            StateLocation::Stored(stored) => Some(&stored.shell.as_ref()?.1),
            _ => None,
        }
    }

    /// Restores the interpreter `name` to the state of the last commit.
    ///
    /// # Errors
    /// [`Error::Cell`] if it cannot be restored; if the worker is gone.
    pub fn give_cell(&mut self, live: &mut RunningSandbox, name: &str) -> Result<(), Error> {
        let StateLocation::Stored(stored) = self else { return Ok(()) };
        if stored.cells.contains(name) {
            return Ok(());
        }
        let CommitState { cells, .. } = stored.session.state();
        let Some(cell) = cells.iter().find(|cell| cell.name == name) else { return Ok(()) };
        let rest = stored.session.load(&cell.rest, MAX_REST)?;
        let head = CellHead {
            name: name.into(),
            module: cell.module.0,
            rest: rest.into(),
            is_fork: stored.session.is_fork()?,
        };
        let load = |layer| stored.session.load(layer, MAX_LAYER);
        let layers = cell.memory.iter().map(load).collect::<Result<Vec<_>, _>>()?;
        live.restore_cell(head, &layers)?;
        stored.cells.insert(name.into());
        Ok(())
    }

    /// Forgets interpreters; the next cell of each name starts a new one.
    ///
    /// # Errors
    /// If the change cannot be kept; if the worker is gone.
    pub fn reset_cells(
        &mut self,
        live: Option<&mut RunningSandbox>,
        names: &[&str],
    ) -> Result<(), Error> {
        if let StateLocation::Stored(stored) = self {
            let note = CallNote::from_command(b"reset".to_vec());
            stored.session.commit(|w| {
                for name in names {
                    stored.cells.remove(*name);
                    w.forget_cell(name);
                }
                w.set_command(&note.command)?;
                w.call.time = note.time;
                let text = json!({ "event": "reset", "interpreters": names }).to_string();
                w.add_to_log(text)?;
                Ok::<_, Error>(())
            })?;
        }
        let Some(live) = live else { return Ok(()) };
        names.iter().try_for_each(|name| live.forget_cell(name))
    }

    /// Keeps the changes of a call.
    ///
    /// # Errors
    /// The call's own error. An error if the changes cannot be kept: the session is then as it was
    /// before the call.
    pub fn keep_call(
        &mut self,
        called: CallResult,
        note: CallNote,
        limits: &Limits,
    ) -> Result<Outcome, Error> {
        match self {
            StateLocation::Nothing => called.result,
            StateLocation::Layer(layer) => {
                add_changes(layer, called.changed, limits)?;
                called.result
            }
            StateLocation::Stored(stored) => stored.keep_call(called, &note),
        }
    }

    /// Keeps the changes that the host has made to the files.
    ///
    /// # Errors
    /// If they cannot be kept: the session is then as it was before.
    pub fn keep_files(
        &mut self,
        changed: Vec<Delta>,
        note: &CallNote,
        error: Option<String>,
        limits: &Limits,
    ) -> Result<(), Error> {
        match self {
            StateLocation::Nothing => Ok(()),
            StateLocation::Layer(layer) => add_changes(layer, changed, limits),
            StateLocation::Stored(stored) => stored.keep_files(changed, note, error),
        }
    }

    /// Moves the session, and the running sandbox with it, to another state of its store. Also
    /// returns whether the sandbox could not follow. If so, it is unusable, and the next one begins
    /// with the new state.
    ///
    /// # Errors
    /// If there is no such state; nothing has changed then.
    pub fn turn_to<T>(
        &mut self,
        live: Option<&mut RunningSandbox>,
        act: impl FnOnce(&wasibox_store::StoreSession) -> Result<T, wasibox_store::StoreError>,
    ) -> Result<(T, bool), Error> {
        let StateLocation::Stored(stored) = self else { return Err(Error::NoHistory) };
        let before = stored.session.state();
        let done = act(&stored.session)?;
        let CommitState { files, shell, cells } = stored.session.state();
        let forgotten = if cells == before.cells {
            BTreeSet::new()
        } else {
            // The next cell of each interpreter restores it.
            std::mem::take(&mut stored.cells)
        };
        let shell_is_same = shell == before.shell;
        if !shell_is_same {
            (stored.shell, stored.has_shell) = (None, false);
        }
        let Some(live) = live else { return Ok((done, false)) };
        let is_elsewhere = stored.is_elsewhere;
        // Processes left running would continue with files that no longer exist.
        let moved = live.end_background().and_then(|()| {
            let mut give = |part: Delta| live.restore_delta(part, is_elsewhere);
            stored.session.changes(&before.files, &files, &mut give)?;
            forgotten.iter().try_for_each(|name| live.forget_cell(name))?;
            stored.load_shell()?;
            stored.send_shell(live)
        });
        Ok((done, moved.is_err()))
    }
}

/// The number of changed bytes from which a commit is long work.
const LONG_WORK: u64 = 1 << 20;

/// Adds the changes of a call to the session's state.
fn add_changes(layer: &mut Layer, changed: Vec<Delta>, limits: &Limits) -> Result<(), Error> {
    let limit = state_limit(limits);
    let more = changed.iter().map(Delta::memory_size).sum::<u64>();
    // A layer that does not fit is unusable as a whole, so the old one is kept until the new one
    // fits.
    if more.saturating_add(layer.size()) > limit.saturating_mul(2) {
        return Err(Error::Worker("reported more than the session may hold".into()));
    }
    for part in changed {
        layer.add_delta(part, limit);
    }
    Ok(())
}

impl Drop for StateLocation {
    fn drop(&mut self) {
        if let StateLocation::Layer(layer) = self {
            let is_large = layer.size() >= LARGE;
            drop(std::mem::take(layer));
            if is_large {
                wasibox_sandbox::heap::trim_heap();
            }
        }
    }
}

impl StoredState {
    /// Returns whether the session is in its store only while it is in use.
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    fn load_shell(&mut self) -> Result<(), Error> {
        let blob = self.session.state().shell;
        if self.shell.as_ref().is_none_or(|(of, _)| *of != blob) {
            let bytes = self.session.load(&blob, MAX_SHELL)?;
            (self.shell, self.has_shell) = (Some((blob, bytes.into())), false);
        }
        Ok(())
    }

    fn send_shell(&mut self, live: &mut RunningSandbox) -> Result<(), Error> {
        if let Some((_, bytes)) = self.shell.as_ref().filter(|_| !self.has_shell) {
            live.set_shell(bytes)?;
            self.has_shell = true;
        }
        Ok(())
    }

    fn keep_call(&mut self, called: CallResult, note: &CallNote) -> Result<Outcome, Error> {
        let CallResult { result, changed, shell, cell, is_gone, .. } = called;
        if is_gone {
            // Nothing else remains of the call.
            self.session.add_log_entry(&log_entry(note, &result, None))?;
            return result;
        }
        if let (Err(_), true, None) = (&result, changed.is_empty(), &shell) {
            self.session.add_log_entry(&log_entry(note, &result, None))?;
            return result;
        }
        match (&cell, &result) {
            (Some(update), _) => drop(self.cells.insert(update.tail.name.clone())),
            // The next cell continues from the state before this one.
            (None, Ok(outcome)) if outcome.put_back => self.cells.clear(),
            _ => {}
        }
        let duration = u64::try_from(note.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let _long = long_work(&changed);
        let shell = shell.filter(|s| s.len() as u64 <= MAX_SHELL);
        self.session.commit(|w| {
            changed.into_iter().try_for_each(|delta| w.add_delta(delta))?;
            if let Some(shell) = &shell {
                w.set_shell(shell)?;
            }
            if let Some(CellUpdate { tail, layer }) = &cell {
                w.set_cell(&tail.name, Digest(tail.module), tail.keep, layer, &tail.rest)?;
            }
            w.set_command(&note.command)?;
            (w.call.time, w.call.duration) = (note.time, duration);
            if let Ok(outcome) = &result {
                w.call.exit_code = Some(outcome.exit_code);
                let changed: Vec<ChangedPath> =
                    outcome.files.iter().map(ChangedPath::from).collect();
                if !changed.is_empty() || outcome.files_truncated {
                    w.set_changed(&changed, outcome.files_truncated)?;
                }
            }
            w.add_to_log(log_entry(note, &result, Some(self.session.head().number)))?;
            Ok::<_, Error>(())
        })?;
        if let Some(shell) = shell {
            (self.shell, self.has_shell) = (Some((self.session.state().shell, shell)), true);
        }
        let number = self.session.head().number;
        result.map(|outcome| Outcome { commit: Some(number), ..outcome })
    }

    fn keep_files(
        &mut self,
        changed: Vec<Delta>,
        note: &CallNote,
        error: Option<String>,
    ) -> Result<(), Error> {
        let entry =
            json!({ "event": "files", "command": note.log_text(), "error": error }).to_string();
        if changed.is_empty() {
            return Ok(self.session.add_log_entry(&entry)?);
        }
        let _long = long_work(&changed);
        self.session.commit(|w| {
            changed.into_iter().try_for_each(|delta| w.add_delta(delta))?;
            w.set_command(&note.command)?;
            w.call.time = note.time;
            w.add_to_log(entry)?;
            Ok::<_, Error>(())
        })?;
        Ok(())
    }
}

/// Begins long work if there are many bytes to be hashed and compressed.
fn long_work(changed: &[Delta]) -> Option<LongWork> {
    let bytes = changed.iter().map(Delta::memory_size).sum::<u64>();
    (bytes > LONG_WORK).then(LongWork::begin)
}

/// Returns the entry of a call in the log: one JSON object, for example with `event`, `command` and
/// `exit_code`.
fn log_entry(note: &CallNote, result: &Result<Outcome, Error>, after: Option<u64>) -> String {
    let mut entry = json!({ "event": "exec", "command": note.log_text() });
    match result {
        Ok(o) => {
            entry["exit_code"] = o.exit_code.into();
            entry["duration_ms"] = ((o.duration_ms * 1000.0).round() / 1000.0).into();
            entry["cpu_ms"] = ((o.cpu_ms * 1000.0).round() / 1000.0).into();
            entry["limit_hit"] = o.limit_hit.map(LimitHit::name).into();
            entry["changed_files"] = o.files.len().into();
        }
        Err(e) => entry["error"] = e.to_string().into(),
    }
    if let Some(before) = after {
        entry["before"] = before.into();
    }
    entry.to_string()
}
