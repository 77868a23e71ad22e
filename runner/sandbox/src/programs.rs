//! The image's programs: loaded when first run.

use crate::Limits;
use crate::artifact::{self, ArtifactError, Store};
use crate::codemap::CodeMap;
use crate::kernel::{Idle, SNAPSHOT_SHARE};
use crate::template::Template;
use crate::{heap, memory, snapshot, stack};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use wasibox_image::{Image, ImageError};
use wasibox_vfs::{Program, Protected};
use wasmer::{Engine, Module};

/// Why a program cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// A callback for progress lines.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// A program's machine code, and its memory before it begins.
#[derive(Clone)]
pub struct Loaded {
    pub module: Module,
    pub template: Arc<Template>,
    /// Its memory after it was prepared, see [`crate::snapshot`].
    pub snapshot: Option<Arc<Template>>,
}

/// What the engine keeps of an exception besides its values: 24 bytes, in a list that doubles.
const RECORD: u64 = 48;

/// Where a process begins: the function that is called, and what its memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// At its beginning.
    Start,
    /// On the snapshot's memory.
    Resume,
    /// At its beginning, to make the snapshot.
    Prepare,
    /// To run a cell; the memory begins as the snapshot, or as the module says.
    Cell { is_prepared: bool },
}

impl Entry {
    /// The name of the export.
    pub fn function(self) -> &'static str {
        match self {
            Entry::Start => "_start",
            Entry::Resume => snapshot::RESUME,
            Entry::Prepare => snapshot::PREPARE,
            Entry::Cell { .. } => snapshot::CELL,
        }
    }
}

impl Loaded {
    /// What the memory of a process holds that begins there.
    pub fn memory_of(&self, entry: Entry) -> &Arc<Template> {
        match (entry, &self.snapshot) {
            (Entry::Resume | Entry::Cell { is_prepared: true }, Some(s)) => s,
            _ => &self.template,
        }
    }

    /// Bytes that such a process has from the beginning.
    pub fn needs(&self, entry: Entry) -> u64 {
        let info = self.module.info();
        let memory: usize = info.memories.values().map(|m| m.minimum.bytes().0).sum();
        let tables: u64 = info.tables.values().map(memory::table_bytes).sum();
        memory.max(self.memory_of(entry).size) as u64 + tables + stack::FIRST as u64
    }

    /// Bytes that the host keeps for each exception that the program throws, until the process has
    /// ended: the engine's record with the slack of a growing list, and what is thrown, of 16
    /// bytes each, as the allocator rounds it. Programs with several kinds pay for the largest.
    /// Measured in `tests/engine.rs`.
    pub fn exception(&self) -> u64 {
        let info = self.module.info();
        let values = |s: &_| info.signatures.get(*s).map_or(0, |s| s.params().len());
        let most = info.tags.values().map(values).max().unwrap_or(0);
        RECORD + (16 * most + 8).next_multiple_of(16).max(32) as u64
    }
}

/// Held while machine code is mapped or unmapped. The engine's table of code addresses is one for
/// the whole process, and unmapping comes before leaving the table: another engine that mapped code
/// at the same address in between would find it taken.
static MAPPING: Mutex<()> = Mutex::new(());

/// An engine and its modules. Whoever uses them keeps this, too, and lets go of it last, so that
/// the code is unmapped here.
pub struct Code {
    engine: Option<Engine>,
    modules: Mutex<Vec<Module>>,
    /// Where the machine code lies.
    pub map: CodeMap,
}

impl Drop for Code {
    fn drop(&mut self) {
        let _held = crate::lock(&MAPPING);
        self.map.clear();
        crate::lock(&self.modules).clear();
        self.engine = None;
        // Nothing is left of the session by now but what the allocator keeps, which can be as much as it had:
        // each of its threads had a heap.
        heap::trim();
    }
}

/// All programs of an image, by the number that [`Program`] holds.
pub struct Programs {
    image: Arc<Image>,
    engine: Engine,
    names: Vec<String>,
    loaded: Vec<Mutex<Option<Loaded>>>,
    artifacts: Option<PathBuf>,
    progress: Progress,
    /// What the policy says, see [`Programs::set_policy`].
    memory: AtomicU64,
    fresh: AtomicBool,
    /// No snapshots are made here, and whether one was missing.
    waits: AtomicBool,
    lacks: AtomicBool,
    /// Threads with instances that wait for another process.
    pub idle: Idle,
    /// The last field, since fields are dropped in order.
    pub code: Arc<Code>,
}

impl Programs {
    pub fn new(
        image: Arc<Image>,
        engine: Engine,
        artifacts: Option<PathBuf>,
        progress: Progress,
    ) -> Programs {
        let names: Vec<String> = image.atoms().keys().cloned().collect();
        let loaded = names.iter().map(|_| Mutex::new(None)).collect();
        let map = CodeMap::new(names.len());
        let code = Code { engine: Some(engine.clone()), modules: Mutex::default(), map };
        let (idle, code) = (Idle::default(), Arc::new(code));
        Programs {
            image,
            engine,
            names,
            loaded,
            artifacts,
            progress,
            memory: AtomicU64::new(Limits::default().memory),
            fresh: AtomicBool::new(false),
            waits: AtomicBool::new(false),
            lacks: AtomicBool::new(false),
            idle,
            code,
        }
    }

    /// Files and folders that are the host's side of them: the image, the machine code and the key
    /// that authenticates it.
    pub fn own_files(&self) -> Protected {
        let mut paths = artifact::protected(self.artifacts.as_deref());
        paths.push(self.image.path().to_path_buf());
        Protected { paths }
    }

    /// Takes what a policy says about programs: how many bytes of memory they have (one is prepared
    /// in the part of them in which its snapshot would be used, see [`crate::kernel::Kernel::entry`]),
    /// and whether they begin without snapshots. Some may be loaded already.
    pub fn set_policy(&self, memory: u64, is_fresh: bool) {
        self.memory.store(memory, Ordering::Relaxed);
        self.fresh.store(is_fresh, Ordering::Relaxed);
    }

    /// Whether every process begins at its program's beginning.
    pub fn are_fresh(&self) -> bool {
        self.fresh.load(Ordering::Relaxed)
    }

    /// The name of a program's atom, and its digest.
    pub fn identity(&self, p: Program) -> Option<(&str, [u8; 32])> {
        let name = self.names.get(p.0 as usize)?;
        Some((name, *self.image.atoms().get(name)?))
    }

    /// The number of the atom of that name.
    pub fn number(&self, atom: &str) -> Option<Program> {
        Some(Program(u32::try_from(self.names.iter().position(|n| n == atom)?).ok()?))
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether the machine code of all programs is kept already; `None` if nothing can be kept.
    pub fn are_kept(&self) -> Option<bool> {
        let store = Store { dir: self.artifacts.clone(), progress: &*self.progress };
        store.has(self.image.atoms().values())
    }

    /// Loads all programs without running or compiling anything; false if something is not kept yet.
    pub fn get_kept(&self) -> Result<bool, ProgramError> {
        if self.are_kept() != Some(true) {
            return Ok(false);
        }
        self.waits.store(true, Ordering::Relaxed);
        self.get_all()?;
        Ok(!self.lacks.load(Ordering::Relaxed))
    }

    /// Loads or compiles all programs.
    pub fn get_all(&self) -> Result<(), ProgramError> {
        for i in 0..self.names.len() {
            self.get(Program(i as u32))?;
        }
        Ok(())
    }

    /// The program's code, loaded or compiled at the first call.
    pub fn get(&self, p: Program) -> Result<Loaded, ProgramError> {
        let (Some(name), Some(slot)) =
            (self.names.get(p.0 as usize), self.loaded.get(p.0 as usize))
        else {
            return Err(
                ArtifactError::Compile { name: "?".into(), why: "no such program".into() }.into()
            );
        };
        let mut slot = crate::lock(slot);
        if let Some(m) = &*slot {
            return Ok(m.clone());
        }
        let digest = self.image.atoms().get(name).copied().unwrap_or_default();
        let store = Store { dir: self.artifacts.clone(), progress: &*self.progress };
        let held = crate::lock(&MAPPING);
        let mut loaded =
            store.load(&self.engine, name, &digest, || -> Result<_, ProgramError> {
                Ok(self.image.checked_atom(name)?)
            })?;
        crate::lock(&self.code.modules).push(loaded.module.clone());
        self.code.map.add(p.0 as usize, &loaded.module);
        drop(held);
        if !self.are_fresh()
            && snapshot::can_be_made(&loaded.module)
            && !self.image.tree().is_empty()
        {
            let key = snapshot::key(&digest, self.image.tree());
            let memory =
                (self.memory.load(Ordering::Relaxed) / SNAPSHOT_SHARE).min(snapshot::MEMORY);
            let later = self.waits.load(Ordering::Relaxed).then_some(&self.lacks);
            loaded.snapshot = store.snapshot(name, &key, memory, later, || {
                snapshot::make(&self.image, self.artifacts.clone(), p, memory)
                    .map_err(|e| e.to_string())
            });
        }
        *slot = Some(loaded.clone());
        Ok(loaded)
    }
}

/// Compiles every program of `image` that the store does not have yet.
///
/// # Errors
/// A damaged image, a module that the engine refuses, a store that cannot be used.
pub fn compile_all(
    image: Arc<Image>,
    artifacts: Option<PathBuf>,
    progress: Progress,
) -> Result<(), ProgramError> {
    let limits = Limits::default();
    let engine = crate::engine::new(wasibox_vfs::Budget::new(limits.memory), limits.stack);
    let programs = Programs::new(image, engine, artifacts, progress);
    programs.get_all()
}
