//! The session's past: a commit after each call, in memory, as the store of the native runner keeps them
//! (`runner/store`), and snapshots (`.wbs`) out of it and into it.
//!
//! Interpreters are parked after each cell. Where history goes to a commit that has others, those that live end, and the next
//! cell brings back what the commit has.

use crate::cell::{self, CellChange};
use crate::outcome::{Failure, Kind, Outcome};
use crate::{ffi, lock};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex};
use wasibox_files::{FileChange, FileChangeKind};
use wasibox_snapshot::commit::ChangeKind;
use wasibox_snapshot::files::{self, Writer};
use wasibox_snapshot::journal::Now;
use wasibox_snapshot::wbs::{self, Contents, Limits};
use wasibox_snapshot::{Blob, Call, Cell, Changed, Commit, Digest, Error, Files, Memory, State};
use wasibox_vfs::delta::{Delta, Snapshot, between};
use wasibox_vfs::{Errno, Vfs};

/// Bytes of a command that are kept, and that are shown.
const MAX_COMMAND: usize = 1 << 20;
const SHOWN: usize = 64 << 10;
/// Most bytes of a shell's state.
const MAX_SHELL: u64 = box_abi::session::STATE_MAX as u64;

/// Longest name of a commit, as `runner/store` has it.
const MAX_NAME: usize = 128;

/// The commits of the session.
pub struct History {
    pub objects: Memory,
    commits: BTreeMap<u64, Commit>,
    head: u64,
    /// The last commit of the line, to which `redo` leads.
    tip: u64,
    next: u64,
    tags: BTreeMap<String, u64>,
    /// The key-values of a snapshot that was taken up: they go on with the next one.
    values: Vec<(serde_bytes::ByteBuf, Blob)>,
    image: Digest,
    /// The one that the session began with is another one.
    is_elsewhere: bool,
    /// Files and shell as the head has them.
    known: Snapshot,
    shell: Option<Arc<[u8]>>,
    /// Interpreters that live, as the head has them.
    alive: BTreeSet<String>,
    /// The session is a copy of one that goes on; that one's last commit.
    forked_at: Option<u64>,
}

/// An interpreter as a commit has it.
pub struct ParkedCell {
    pub module: [u8; 32],
    /// The undermost first.
    pub layers: Vec<Vec<u8>>,
    pub rest: Vec<u8>,
}

/// As `runner/session/src/kept.rs` has them: most bytes of what an interpreter is beside its memory, and of a layer of that.
const MAX_REST: u64 = 16 << 20;
const MAX_LAYER: u64 = (4 << 30) + (16 << 20);

static HISTORY: Mutex<Option<History>> = Mutex::new(None);

/// What is told of a call.
#[derive(Default)]
pub struct Note {
    pub command: Vec<u8>,
    /// Nanoseconds since the epoch, and how long it took.
    pub time: u64,
    pub duration: u64,
    /// The interpreter whose cell it was.
    pub cell: Option<&'static str>,
}

impl From<Error> for Failure {
    fn from(e: Error) -> Failure {
        let kind = match e {
            Error::Store(_) | Error::Io(_) => Kind::Internal,
            _ => Kind::Invalid,
        };
        Failure::new(kind, e)
    }
}

/// Either of a snapshot's errors, or the tree's.
enum Unfit {
    Snapshot(Error),
    Tree(Errno),
}

impl From<Error> for Unfit {
    fn from(e: Error) -> Unfit {
        Unfit::Snapshot(e)
    }
}

impl From<Unfit> for Failure {
    fn from(e: Unfit) -> Failure {
        match e {
            Unfit::Snapshot(e) => e.into(),
            Unfit::Tree(e) => {
                let text = format!("the session's state does not fit: {}", e.text());
                Failure::new(Kind::Conflict, text)
            }
        }
    }
}

/// Begins the history of a session that is new.
pub fn begin(vfs: &Vfs, image: [u8; 32]) {
    let call = Call { time: wasibox_vfs::now_ns(), ..Call::default() };
    let first = Commit { number: 1, call, ..Commit::default() };
    *lock(&HISTORY) = Some(History {
        objects: Memory::default(),
        commits: BTreeMap::from([(1, first)]),
        head: 1,
        tip: 1,
        next: 2,
        tags: BTreeMap::new(),
        values: Vec::new(),
        image: Digest(image),
        is_elsewhere: false,
        known: vfs.snapshot(),
        shell: vfs.state(),
        alive: BTreeSet::new(),
        forked_at: None,
    });
}

/// Does something with the history.
pub fn with<T>(act: impl FnOnce(&mut History) -> Result<T, Failure>) -> Result<T, Failure> {
    let mut history = lock(&HISTORY);
    act(history.as_mut().ok_or_else(|| Failure::new(Kind::Internal, "there is no session"))?)
}

impl History {
    fn head(&self) -> &Commit {
        // It is always there.
        &self.commits[&self.head]
    }

    /// Adds a commit of what a call has left; its number.
    pub fn keep(
        &mut self,
        vfs: &Vfs,
        note: &Note,
        outcome: Option<&Outcome>,
        cell: Option<CellChange>,
    ) -> Result<u64, Failure> {
        let now = vfs.snapshot();
        let mut state = self.head().state.clone();
        let mut writer = Writer::new(&self.objects, state.files);
        between(&self.known, &now, &mut |part| writer.add(part))?;
        state.files = writer.finish()?;
        let shell = vfs.state();
        if shell.as_deref() != self.shell.as_deref() {
            let bytes = shell.as_deref().unwrap_or_default();
            state.shell = Blob::save(&self.objects, bytes)?;
        }
        if let Some(name) = note.cell {
            match cell {
                Some(change) => {
                    self.park(&mut state, name, change)?;
                    self.alive.insert(name.into());
                }
                // The next cell goes on from before this one.
                None => drop(self.alive.remove(name)),
            }
        }
        let call = self.call(note, outcome)?;
        (self.known, self.shell) = (now, shell);
        Ok(self.add(call, state))
    }

    /// Writes an interpreter down as it is after a cell.
    fn park(&self, state: &mut State, name: &str, change: CellChange) -> Result<(), Failure> {
        let module = Digest(change.module);
        let before = state.cells.iter().find(|c| c.name == name && c.module == module);
        let mut memory = before.map_or(Vec::new(), |c| c.memory.clone());
        memory.truncate(change.keep);
        if !change.layer.is_empty() {
            memory.push(Blob::save(&self.objects, &change.layer)?);
        }
        let rest = Blob::save(&self.objects, &change.rest)?;
        state.cells.retain(|cell| cell.name != name);
        state.cells.push(Cell { name: name.into(), module, memory, rest });
        Ok(())
    }

    /// The interpreter of that name, if it is to come back from the head; and whether as a copy.
    pub fn parked(&self, name: &str) -> Result<Option<(ParkedCell, bool)>, Failure> {
        let cell = self.head().state.cells.iter().find(|cell| cell.name == name);
        let Some(cell) = cell.filter(|_| !self.alive.contains(name)) else { return Ok(None) };
        let load = |layer: &Blob| layer.load(&self.objects, MAX_LAYER);
        let layers = cell.memory.iter().map(load).collect::<Result<_, _>>()?;
        let rest = cell.rest.load(&self.objects, MAX_REST)?;
        let is_fork = self.forked_at.is_some_and(|last| self.head <= last);
        Ok(Some((ParkedCell { module: cell.module.0, layers, rest }, is_fork)))
    }

    fn call(&self, note: &Note, outcome: Option<&Outcome>) -> Result<Call, Failure> {
        let command = &note.command[..note.command.len().min(MAX_COMMAND)];
        let mut call = Call {
            command: Blob::save(&self.objects, command)?,
            exit_code: outcome.map(|o| o.exit_code),
            time: note.time,
            duration: note.duration,
            ..Call::default()
        };
        if let Some(o) = outcome.filter(|o| !o.files.is_empty() || o.files_truncated) {
            let changed: Vec<Changed> = o.files.iter().map(changed_file).collect();
            call.set_changed(&self.objects, &changed, o.files_truncated)?;
        }
        Ok(call)
    }

    /// Adds a commit after the head. There is nothing to redo then.
    fn add(&mut self, call: Call, state: State) -> u64 {
        let number = self.next;
        self.commits.insert(number, Commit { number, parent: Some(self.head), call, state });
        (self.head, self.tip, self.next) = (number, number, number + 1);
        number
    }

    /// Adds a commit of what the page has changed of the files, if it has.
    pub fn keep_files(&mut self, vfs: &Vfs, command: String) -> Result<(), Failure> {
        let (mut has_changed, now) = (false, vfs.snapshot());
        let Ok(()) = between(&self.known, &now, &mut |_| {
            has_changed = true;
            Ok::<_, std::convert::Infallible>(())
        });
        if has_changed {
            let (command, time) = (command.into_bytes(), wasibox_vfs::now_ns());
            self.keep(vfs, &Note { command, time, ..Note::default() }, None, None)?;
        }
        Ok(())
    }

    /// Ends the interpreters, by a commit.
    pub fn reset(&mut self, vfs: &Vfs, note: &Note) -> Result<u64, Failure> {
        let number = self.keep(vfs, note, None, None)?;
        if let Some(commit) = self.commits.get_mut(&number) {
            commit.state.cells.clear();
        }
        self.forget_cells();
        Ok(number)
    }

    /// Makes files, shell and interpreters what they were at a commit.
    fn turn(&mut self, vfs: &Vfs, number: u64) -> Result<(), Failure> {
        let (before, after) = (self.head().state.clone(), self.commits[&number].state.clone());
        self.give(vfs, &before.files, &after.files)?;
        if before.shell != after.shell {
            let bytes: Arc<[u8]> = after.shell.load(&self.objects, MAX_SHELL)?.into();
            vfs.set_state(Some(bytes));
        }
        if before.cells != after.cells {
            self.forget_cells();
        }
        (self.known, self.shell, self.head) = (vfs.snapshot(), vfs.state(), number);
        Ok(())
    }

    /// Ends the interpreters that live.
    fn forget_cells(&mut self) {
        for name in std::mem::take(&mut self.alive) {
            cell::forget(&name);
        }
    }

    fn give(&self, vfs: &Vfs, old: &Files, new: &Files) -> Result<(), Failure> {
        let mut emit = |part: Delta| {
            let fit = match self.is_elsewhere {
                true => vfs.restore_elsewhere(part, &mut Vec::new()),
                false => vfs.restore(part),
            };
            fit.map_err(Unfit::Tree)
        };
        Ok(files::changes::<Unfit>(&self.objects, old, new, &mut emit)?)
    }

    /// Goes back to the commit before this one; its number.
    pub fn undo(&mut self, vfs: &Vfs) -> Result<u64, Failure> {
        let nothing = || Failure::new(Kind::Conflict, "there is nothing to undo");
        let parent = self.head().parent.ok_or_else(nothing)?;
        self.turn(vfs, parent)?;
        Ok(parent)
    }

    /// Goes forward again; the number of the commit.
    pub fn redo(&mut self, vfs: &Vfs) -> Result<u64, Failure> {
        let mut at = self.tip;
        while at != self.head {
            match self.commits.get(&at).and_then(|commit| commit.parent) {
                Some(parent) if parent == self.head => {
                    self.turn(vfs, at)?;
                    return Ok(at);
                }
                Some(parent) => at = parent,
                None => break,
            }
        }
        Err(Failure::new(Kind::Conflict, "there is nothing to redo"))
    }

    /// Makes everything as it was at a commit, by a new one; its number.
    pub fn restore(&mut self, vfs: &Vfs, number: u64) -> Result<u64, Failure> {
        let none = || Failure::new(Kind::Missing, format!("there is no commit {number}"));
        let state = self.commits.get(&number).ok_or_else(none)?.state.clone();
        let command = Blob::save(&self.objects, format!("restore {number}").as_bytes())?;
        self.turn_with(vfs, number)?;
        let call = Call { command, time: wasibox_vfs::now_ns(), ..Call::default() };
        Ok(self.add(call, state))
    }

    /// [`History::turn`] for a commit after which another one is made: that comes after the head as it was.
    fn turn_with(&mut self, vfs: &Vfs, number: u64) -> Result<(), Failure> {
        let head = self.head;
        self.turn(vfs, number)?;
        self.head = head;
        Ok(())
    }

    /// Names a commit.
    pub fn tag(&mut self, name: &str, number: u64) -> Result<(), Failure> {
        let is_name = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_name) {
            return Err(Failure::new(Kind::Invalid, format!("'{name}' cannot be a name")));
        }
        if !self.commits.contains_key(&number) {
            return Err(Failure::new(Kind::Missing, format!("there is no commit {number}")));
        }
        self.tags.insert(name.into(), number);
        Ok(())
    }

    /// The names of commits, and the head.
    pub fn tags(&self) -> Value {
        json!({ "head": self.head, "tags": self.tags })
    }

    /// All commits, the oldest first, as `sdk/core/src/past.rs` tells of them.
    pub fn told(&self) -> Result<Value, Failure> {
        let shown = |commit: &Commit| {
            let call = &commit.call;
            // Of a command that is longer nothing is shown.
            let mut command =
                call.command.load(&self.objects, MAX_COMMAND as u64).unwrap_or_default();
            command.truncate(SHOWN);
            let tags = self.tags.iter().filter(|(_, n)| **n == commit.number);
            json!({
                "number": commit.number,
                "parent": commit.parent,
                "command": String::from_utf8_lossy(&command),
                "exit_code": call.exit_code,
                "time": call.time as f64 / 1e9,
                "duration": call.duration as f64 / 1e9,
                "changed_files": call.changed_count,
                "tags": tags.map(|(name, _)| name).collect::<Vec<_>>(),
            })
        };
        Ok(self.commits.values().map(shown).collect())
    }

    /// All that there is, for a journal.
    pub fn now(&self) -> Now<'_> {
        let History { commits, head, tip, tags, values, .. } = self;
        Now { image: Some(self.image), commits, head: *head, tip: *tip, tags, values }
    }

    /// Hands the page the session as a snapshot, piece by piece: as it is, or with all its history.
    pub fn export(&self, all: bool) -> Result<(), Failure> {
        let is_there = |n: &u64| all || *n == self.head;
        let commits = self.commits.values().filter(|commit| is_there(&commit.number)).cloned();
        let commits = commits.map(|c| Commit { parent: c.parent.filter(is_there), ..c }).collect();
        let tags = self.tags.iter().filter(|(_, n)| is_there(n)).map(|(t, n)| (t.clone(), *n));
        let contents = Contents {
            image: Some(self.image),
            commits,
            head: self.head,
            tags: tags.collect(),
            values: self.values.clone(),
        };
        let mut out = BufWriter::with_capacity(PIECE, Pieces);
        wbs::write(&self.objects, &contents, &mut out)?;
        Ok(out.flush().map_err(Error::Io)?)
    }

    /// Makes the session, which is new, what a snapshot says; with `is_fork` it is a copy of one that goes on.
    pub fn import(&mut self, vfs: &Vfs, bytes: &[u8], is_fork: bool) -> Result<(), Failure> {
        let objects = Memory::default();
        let contents = wbs::read(bytes, &Limits::default(), &objects)?;
        let tip = contents.head;
        self.take_up(vfs, contents, tip, objects)?;
        self.forked_at = is_fork.then_some(self.head);
        Ok(())
    }

    /// Makes the session, which is new, what was read with those objects.
    pub fn take_up(
        &mut self,
        vfs: &Vfs,
        contents: Contents,
        tip: u64,
        objects: Memory,
    ) -> Result<(), Failure> {
        let too_many = || Failure::new(Kind::Invalid, "a commit's number is too large");
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
        self.give(vfs, &Files::default(), &state.files)?;
        let shell: Arc<[u8]> = state.shell.load(&self.objects, MAX_SHELL)?.into();
        vfs.set_state(Some(shell));
        (self.known, self.shell) = (vfs.snapshot(), vfs.state());
        Ok(())
    }
}

/// Bytes that are handed over at once.
const PIECE: usize = 1 << 20;

/// Where a snapshot goes to.
struct Pieces;

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        ffi::exported(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn changed_file(f: &FileChange) -> Changed {
    let kind = match f.change {
        FileChangeKind::Created => ChangeKind::Created,
        FileChangeKind::Modified => ChangeKind::Modified,
        FileChangeKind::Deleted => ChangeKind::Deleted,
    };
    Changed { path: f.path.clone().into_bytes().into(), kind, size: f.size }
}
