//! The session's history: a commit after each call, in memory, in the form of the native runner's
//! store (`runner/store`), and snapshots (`.wbs`) exported from it and imported into it.
//!
//! Interpreters are parked after each cell. Moving to a commit with other interpreters ends the
//! live ones, and the next cell restores those of the commit.

use crate::cell::{self, PageCellChange};
use crate::{ffi, lock_mutex};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex};
use wasibox_protocol::{Answer, CommitSummary, HistoryRequest, Outcome, Refusal, RefusalKind};
use wasibox_snapshot::files::{self, TreeWriter};
use wasibox_snapshot::journal::JournalState;
use wasibox_snapshot::wbs::{self, SnapshotContents, SnapshotLimits};
use wasibox_snapshot::{
    Blob, CallRecord, CellRecord, ChangedPath, Commit, CommitState, Digest, FileTree,
    MemoryObjects, SnapshotError,
};
use wasibox_vfs::delta::{Delta, TreeVersion, emit_between};
use wasibox_vfs::{Errno, Vfs};

/// Maximum bytes of a command that are kept.
const MAX_COMMAND: usize = 1 << 20;
/// Maximum size in bytes of a shell's state.
const MAX_SHELL: u64 = box_abi::session::STATE_MAX as u64;

/// Maximum length of a tag, as in `runner/store`.
const MAX_NAME: usize = 128;

/// The commits of the session.
pub struct PageHistory {
    pub objects: MemoryObjects,
    commits: BTreeMap<u64, Commit>,
    head: u64,
    /// The last commit of the line, to which `redo` leads.
    tip: u64,
    next: u64,
    tags: BTreeMap<String, u64>,
    /// The key-values of an imported snapshot, which are passed on to the next one.
    values: Vec<(serde_bytes::ByteBuf, Blob)>,
    image: Digest,
    /// Whether the session began with another image.
    is_elsewhere: bool,
    /// The files at the head, to which changes are compared.
    known: TreeVersion,
    shell: Option<Arc<[u8]>>,
    /// Live interpreters in the state of the head.
    alive: BTreeSet<String>,
    /// The last commit of the original, if the session is a copy of one that continues elsewhere.
    forked_at: Option<u64>,
}

/// An interpreter as a commit stores it.
pub struct ParkedCell {
    pub module: [u8; 32],
    /// The layers of its memory, the lowest first.
    pub layers: Vec<Vec<u8>>,
    pub rest: Vec<u8>,
}

/// Maximum bytes of an interpreter's state apart from its memory, and of a layer of its memory, as
/// in `runner/session/src/kept.rs`.
const MAX_REST: u64 = 16 << 20;
const MAX_LAYER: u64 = (4 << 30) + (16 << 20);

static HISTORY: Mutex<Option<PageHistory>> = Mutex::new(None);

/// The note about a call for the history.
#[derive(Default)]
pub struct PageCallNote {
    pub command: Vec<u8>,
    /// The start in nanoseconds since the epoch, and the duration.
    pub time: u64,
    pub duration: u64,
    /// The interpreter, if the call was a cell.
    pub cell: Option<&'static str>,
}

/// A snapshot's error, or the tree's.
enum HistoryError {
    Snapshot(SnapshotError),
    Tree(Errno),
}

impl From<SnapshotError> for HistoryError {
    fn from(e: SnapshotError) -> HistoryError {
        HistoryError::Snapshot(e)
    }
}

impl From<HistoryError> for Refusal {
    fn from(e: HistoryError) -> Refusal {
        match e {
            HistoryError::Snapshot(e) => e.into(),
            HistoryError::Tree(e) => {
                let text = format!("the session's state does not fit: {}", e.text());
                Refusal::new(RefusalKind::Conflict, text)
            }
        }
    }
}

/// Begins the history of a new session.
pub fn begin_history(vfs: &Vfs, image: [u8; 32]) {
    let call = CallRecord { time: wasibox_vfs::now_ns(), ..CallRecord::default() };
    let first = Commit { number: 1, call, ..Commit::default() };
    *lock_mutex(&HISTORY) = Some(PageHistory {
        objects: MemoryObjects::default(),
        commits: BTreeMap::from([(1, first)]),
        head: 1,
        tip: 1,
        next: 2,
        tags: BTreeMap::new(),
        values: Vec::new(),
        image: Digest(image),
        is_elsewhere: false,
        known: vfs.tree_version(),
        shell: vfs.session_state(),
        alive: BTreeSet::new(),
        forked_at: None,
    });
}

/// Runs `act` with the history.
pub fn with_history<T>(
    act: impl FnOnce(&mut PageHistory) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let mut history = lock_mutex(&HISTORY);
    act(history
        .as_mut()
        .ok_or_else(|| Refusal::new(RefusalKind::Internal, "there is no session"))?)
}

impl PageHistory {
    fn head(&self) -> &Commit {
        // The head always exists.
        &self.commits[&self.head]
    }

    /// Adds a commit with the state that a call has left, and returns its number.
    pub fn keep_call(
        &mut self,
        vfs: &Vfs,
        note: &PageCallNote,
        outcome: Option<&Outcome>,
        cell: Option<PageCellChange>,
    ) -> Result<u64, Refusal> {
        let now = vfs.tree_version();
        let mut state = self.head().state.clone();
        let mut writer = TreeWriter::new(&self.objects, state.files);
        emit_between(&self.known, &now, &mut |part| writer.add_delta(part))?;
        state.files = writer.finish()?;
        let shell = vfs.session_state();
        if shell.as_deref() != self.shell.as_deref() {
            let bytes = shell.as_deref().unwrap_or_default();
            state.shell = Blob::save_bytes(&self.objects, bytes)?;
        }
        if let Some(name) = note.cell {
            match cell {
                Some(change) => {
                    self.park_interpreter(&mut state, name, change)?;
                    self.alive.insert(name.into());
                }
                // The next cell continues from the state before this one.
                None => drop(self.alive.remove(name)),
            }
        }
        let call = self.call_record(note, outcome)?;
        (self.known, self.shell) = (now, shell);
        Ok(self.add_commit(call, state))
    }

    /// Stores an interpreter in its state after a cell.
    fn park_interpreter(
        &self,
        state: &mut CommitState,
        name: &str,
        change: PageCellChange,
    ) -> Result<(), Refusal> {
        let module = Digest(change.module);
        let before = state.cells.iter().find(|c| c.name == name && c.module == module);
        let mut memory = before.map_or(Vec::new(), |c| c.memory.clone());
        memory.truncate(change.keep);
        if !change.layer.is_empty() {
            memory.push(Blob::save_bytes(&self.objects, &change.layer)?);
        }
        let rest = Blob::save_bytes(&self.objects, &change.rest)?;
        state.cells.retain(|cell| cell.name != name);
        state.cells.push(CellRecord { name: name.into(), module, memory, rest });
        Ok(())
    }

    /// Returns the interpreter of that name if it must be restored from the head, and whether it is
    /// a copy of one that continues elsewhere.
    pub fn parked_cell(&self, name: &str) -> Result<Option<(ParkedCell, bool)>, Refusal> {
        let cell = self.head().state.cells.iter().find(|cell| cell.name == name);
        let Some(cell) = cell.filter(|_| !self.alive.contains(name)) else { return Ok(None) };
        let load = |layer: &Blob| layer.load_bytes(&self.objects, MAX_LAYER);
        let layers = cell.memory.iter().map(load).collect::<Result<_, _>>()?;
        let rest = cell.rest.load_bytes(&self.objects, MAX_REST)?;
        let is_fork = self.forked_at.is_some_and(|last| self.head <= last);
        Ok(Some((ParkedCell { module: cell.module.0, layers, rest }, is_fork)))
    }

    fn call_record(
        &self,
        note: &PageCallNote,
        outcome: Option<&Outcome>,
    ) -> Result<CallRecord, Refusal> {
        let command = &note.command[..note.command.len().min(MAX_COMMAND)];
        let mut call = CallRecord {
            command: Blob::save_bytes(&self.objects, command)?,
            exit_code: outcome.map(|o| o.exit_code),
            time: note.time,
            duration: note.duration,
            ..CallRecord::default()
        };
        if let Some(o) = outcome.filter(|o| !o.files.is_empty() || o.files_truncated) {
            let changed: Vec<ChangedPath> = o.files.iter().map(ChangedPath::from).collect();
            call.set_changed(&self.objects, &changed, o.files_truncated)?;
        }
        Ok(call)
    }

    /// Adds a commit after the head. Nothing can be redone then.
    fn add_commit(&mut self, call: CallRecord, state: CommitState) -> u64 {
        let number = self.next;
        self.commits.insert(number, Commit { number, parent: Some(self.head), call, state });
        (self.head, self.tip, self.next) = (number, number, number + 1);
        number
    }

    /// Adds a commit of the page's own changes to the files, if there are any.
    pub fn keep_files(&mut self, vfs: &Vfs, command: String) -> Result<(), Refusal> {
        let (mut has_changed, now) = (false, vfs.tree_version());
        let Ok(()) = emit_between(&self.known, &now, &mut |_| {
            has_changed = true;
            Ok::<_, std::convert::Infallible>(())
        });
        if has_changed {
            let (command, time) = (command.into_bytes(), wasibox_vfs::now_ns());
            self.keep_call(
                vfs,
                &PageCallNote { command, time, ..PageCallNote::default() },
                None,
                None,
            )?;
        }
        Ok(())
    }

    /// Ends the interpreters by a commit.
    pub fn reset_cells(&mut self, vfs: &Vfs, note: &PageCallNote) -> Result<u64, Refusal> {
        let number = self.keep_call(vfs, note, None, None)?;
        if let Some(commit) = self.commits.get_mut(&number) {
            commit.state.cells.clear();
        }
        self.forget_cells();
        Ok(number)
    }

    /// Restores files, shell and interpreters to the state of a commit.
    fn turn_to(&mut self, vfs: &Vfs, number: u64) -> Result<(), Refusal> {
        let (before, after) = (self.head().state.clone(), self.commits[&number].state.clone());
        self.give_files(vfs, &before.files, &after.files)?;
        if before.shell != after.shell {
            let bytes: Arc<[u8]> = after.shell.load_bytes(&self.objects, MAX_SHELL)?.into();
            vfs.set_state(Some(bytes));
        }
        if before.cells != after.cells {
            self.forget_cells();
        }
        (self.known, self.shell, self.head) = (vfs.tree_version(), vfs.session_state(), number);
        Ok(())
    }

    /// Ends the live interpreters.
    fn forget_cells(&mut self) {
        for name in std::mem::take(&mut self.alive) {
            cell::forget_interpreter(&name);
        }
    }

    fn give_files(&self, vfs: &Vfs, old: &FileTree, new: &FileTree) -> Result<(), Refusal> {
        let mut emit = |part: Delta| {
            let fit = if self.is_elsewhere {
                vfs.restore_elsewhere(part, &mut Vec::new())
            } else {
                vfs.restore_delta(part)
            };
            fit.map_err(HistoryError::Tree)
        };
        Ok(files::emit_changes::<HistoryError>(&self.objects, old, new, &mut emit)?)
    }

    /// Goes back to the parent of the head, and returns its number.
    pub fn undo(&mut self, vfs: &Vfs) -> Result<u64, Refusal> {
        let nothing = || Refusal::new(RefusalKind::Conflict, "there is nothing to undo");
        let parent = self.head().parent.ok_or_else(nothing)?;
        self.turn_to(vfs, parent)?;
        Ok(parent)
    }

    /// Reverts an undo, and returns the number of the commit.
    pub fn redo(&mut self, vfs: &Vfs) -> Result<u64, Refusal> {
        let mut at = self.tip;
        while at != self.head {
            match self.commits.get(&at).and_then(|commit| commit.parent) {
                Some(parent) if parent == self.head => {
                    self.turn_to(vfs, at)?;
                    return Ok(at);
                }
                Some(parent) => at = parent,
                None => break,
            }
        }
        Err(Refusal::new(RefusalKind::Conflict, "there is nothing to redo"))
    }

    /// Restores the state of a commit by a new commit, and returns its number.
    pub fn restore(&mut self, vfs: &Vfs, number: u64) -> Result<u64, Refusal> {
        let none = || Refusal::new(RefusalKind::Missing, format!("there is no commit {number}"));
        let state = self.commits.get(&number).ok_or_else(none)?.state.clone();
        let command = Blob::save_bytes(&self.objects, format!("restore {number}").as_bytes())?;
        self.turn_with(vfs, number)?;
        let call = CallRecord { command, time: wasibox_vfs::now_ns(), ..CallRecord::default() };
        Ok(self.add_commit(call, state))
    }

    /// Restores the state of a commit as [`PageHistory::turn_to`] does, but keeps the head. The
    /// next commit then comes after the old head.
    fn turn_with(&mut self, vfs: &Vfs, number: u64) -> Result<(), Refusal> {
        let head = self.head;
        self.turn_to(vfs, number)?;
        self.head = head;
        Ok(())
    }

    /// Tags a commit.
    pub fn tag(&mut self, name: &str, number: u64) -> Result<(), Refusal> {
        let is_name = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_name) {
            return Err(Refusal::new(RefusalKind::Invalid, format!("'{name}' cannot be a name")));
        }
        if !self.commits.contains_key(&number) {
            return Err(Refusal::new(RefusalKind::Missing, format!("there is no commit {number}")));
        }
        self.tags.insert(name.into(), number);
        Ok(())
    }

    /// Carries out a request about the history.
    pub fn apply_request(&mut self, vfs: &Vfs, request: HistoryRequest) -> Result<Answer, Refusal> {
        let number = match request {
            HistoryRequest::List { last } => {
                let first = last.map_or(0, |last| self.commits.len().saturating_sub(last));
                let commits = self.commits.values().skip(first);
                return Ok(Answer::Commits(commits.map(|commit| self.summarize(commit)).collect()));
            }
            HistoryRequest::Tags => return Ok(Answer::Tags(self.tags.clone())),
            HistoryRequest::Tag { name, number } => {
                self.tag(&name, number)?;
                return Ok(Answer::Done);
            }
            HistoryRequest::Head => self.head,
            HistoryRequest::Undo => self.undo(vfs)?,
            HistoryRequest::Redo => self.redo(vfs)?,
            HistoryRequest::Restore(number) => self.restore(vfs, number)?,
            HistoryRequest::RollBack(_) | HistoryRequest::Untag(_) => {
                return Err(Refusal::invalid_request("a page has no such request"));
            }
        };
        Ok(Answer::Commit(self.summarize(&self.commits[&number])))
    }

    /// Returns a commit in the form in which clients get it.
    fn summarize(&self, commit: &Commit) -> CommitSummary {
        let call = &commit.call;
        let tags = self.tags.iter().filter(|(_, n)| **n == commit.number);
        CommitSummary {
            number: commit.number,
            parent: commit.parent,
            // A longer command is not shown at all.
            command: call.command.load_bytes(&self.objects, MAX_COMMAND as u64).ok(),
            exit_code: call.exit_code,
            time: call.time,
            duration: call.duration,
            changed_files: call.changed_count,
            tags: tags.map(|(name, _)| name.clone()).collect(),
            // A page has no processes beside calls.
            ended: Vec::new(),
        }
    }

    /// Returns the whole state for a journal.
    pub fn journal_state(&self) -> JournalState<'_> {
        let PageHistory { commits, head, tip, tags, values, .. } = self;
        JournalState { image: Some(self.image), commits, head: *head, tip: *tip, tags, values }
    }

    /// Sends the session to the page as a snapshot, piece by piece: its current state, or its whole
    /// history.
    pub fn export(&self, all: bool) -> Result<(), Refusal> {
        let is_there = |n: &u64| all || *n == self.head;
        let commits = self.commits.values().filter(|commit| is_there(&commit.number)).cloned();
        let commits = commits.map(|c| Commit { parent: c.parent.filter(is_there), ..c }).collect();
        let tags = self.tags.iter().filter(|(_, n)| is_there(n)).map(|(t, n)| (t.clone(), *n));
        let contents = SnapshotContents {
            image: Some(self.image),
            commits,
            head: self.head,
            tags: tags.collect(),
            values: self.values.clone(),
        };
        let mut out = BufWriter::with_capacity(PIECE, Pieces);
        wbs::write(&self.objects, &contents, &mut out)?;
        Ok(out.flush().map_err(SnapshotError::Io)?)
    }

    /// Imports a snapshot into the session, which must be new; with `is_fork` it is a copy of one
    /// that continues elsewhere.
    pub fn import(&mut self, vfs: &Vfs, bytes: &[u8], is_fork: bool) -> Result<(), Refusal> {
        let objects = MemoryObjects::default();
        let contents = wbs::read(bytes, &SnapshotLimits::default(), &objects)?;
        let tip = contents.head;
        self.take_up(vfs, contents, tip, objects)?;
        self.forked_at = is_fork.then_some(self.head);
        Ok(())
    }

    /// Restores the session, which must be new, from snapshot contents and their objects.
    pub fn take_up(
        &mut self,
        vfs: &Vfs,
        contents: SnapshotContents,
        tip: u64,
        objects: MemoryObjects,
    ) -> Result<(), Refusal> {
        let too_many = || Refusal::invalid_request("a commit's number is too large");
        let last = contents.commits.iter().map(|c| c.number).max().unwrap_or(0);
        self.next = last.checked_add(1).ok_or_else(too_many)?;
        self.is_elsewhere = contents.image.is_some_and(|image| image != self.image);
        self.image = contents.image.unwrap_or(self.image);
        self.objects = objects;
        self.commits = contents.commits.into_iter().map(|c| (c.number, c)).collect();
        (self.head, self.tip) = (contents.head, tip);
        self.tags = contents.tags.into_iter().collect();
        self.values = contents.values;
        let state = self.head().state.clone();
        self.give_files(vfs, &FileTree::default(), &state.files)?;
        let shell: Arc<[u8]> = state.shell.load_bytes(&self.objects, MAX_SHELL)?.into();
        vfs.set_state(Some(shell));
        (self.known, self.shell) = (vfs.tree_version(), vfs.session_state());
        Ok(())
    }
}

/// Number of bytes that are sent at once.
const PIECE: usize = 1 << 20;

/// A writer that sends a snapshot to the page.
struct Pieces;

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        ffi::send_exported(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
