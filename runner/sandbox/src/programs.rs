//! The image's programs: loaded when first run.

use crate::artifact::{self, ArtifactError, ArtifactStore};
use crate::codemap::CodeMap;
use crate::compile::CannotCompile;
use crate::host::IdleThreads;
use crate::loaded::LoadedProgram;
use crate::policy::Limits;
use crate::snapshot;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use wasibox_image::{Image, ImageError};
use wasibox_kernel::{EntryPoint, SNAPSHOT_SHARE};
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{BaseFile, ProgramMark, ProtectedPaths};
use wasmer::{Engine, Module};

/// The reason why a program cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// Returns the export that is called at an entry point.
pub fn function_of(entry: EntryPoint) -> &'static str {
    match entry {
        EntryPoint::Start => "_start",
        EntryPoint::Resume => snapshot::RESUME,
        EntryPoint::Prepare => snapshot::PREPARE,
        EntryPoint::Cell { .. } => snapshot::CELL,
    }
}

/// A callback for progress lines.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

/// Held while machine code is mapped or unmapped. The engine has one table of code addresses for
/// the whole process, and it unmaps code before it removes the table's entry: another engine that
/// mapped code at the same address in between would find the entry taken.
static MAPPING: Mutex<()> = Mutex::new(());

/// An engine and its modules. Users of the modules also keep this value and drop it last, so that
/// the code is unmapped by the drop of this type.
pub struct CodeHolder {
    engine: Option<Engine>,
    modules: Mutex<Vec<Module>>,
    /// The addresses of the machine code.
    pub map: CodeMap,
}

impl Drop for CodeHolder {
    fn drop(&mut self) {
        let _held = lock_mutex(&MAPPING);
        self.map.clear();
        lock_mutex(&self.modules).clear();
        self.engine = None;
    }
}

/// The machine code of an image's programs, for any number of sessions.
pub struct ProgramLibrary {
    image: Arc<Image>,
    engine: Engine,
    names: Vec<String>,
    loaded: Vec<Mutex<ProgramSlot>>,
    artifacts: Option<PathBuf>,
    progress: Progress,
    /// Whether other processes compile programs and prepare their memory (`waits`), and whether a
    /// prepared memory was missing (`lacks`).
    waits: AtomicBool,
    lacks: AtomicBool,
    /// The last field, because fields are dropped in order and the code must outlive the programs.
    code: Arc<CodeHolder>,
}

/// The state of a program in the library.
#[derive(Default)]
struct ProgramSlot {
    /// The loaded program, with its prepared memory if there is one.
    loaded: Option<LoadedProgram>,
    /// The bytes of memory with which preparing was last tried.
    tried: Option<u64>,
}

impl ProgramLibrary {
    /// Creates a library that has loaded nothing yet. `stack` is the stack size of all processes.
    pub fn new(
        image: Arc<Image>,
        stack: usize,
        artifacts: Option<PathBuf>,
        progress: Progress,
    ) -> ProgramLibrary {
        let engine = crate::engine::new(stack);
        let names: Vec<String> = image.atoms().keys().cloned().collect();
        let loaded = names.iter().map(|_| Mutex::default()).collect();
        let map = CodeMap::new(names.len());
        let code = CodeHolder { engine: Some(engine.clone()), modules: Mutex::default(), map };
        ProgramLibrary {
            image,
            engine,
            names,
            loaded,
            artifacts,
            progress,
            waits: AtomicBool::new(false),
            lacks: AtomicBool::new(false),
            code: Arc::new(code),
        }
    }

    /// Returns the image.
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// Returns the addresses of the machine code.
    pub fn code_map(&self) -> &CodeMap {
        &self.code.map
    }

    /// Returns the library's files and folders on the host: the image, the machine code and the key
    /// that authenticates it.
    pub fn own_files(&self) -> ProtectedPaths {
        let mut paths = artifact::protected_paths(self.artifacts.as_deref());
        paths.push(self.image.path().to_path_buf());
        ProtectedPaths { paths }
    }

    /// Returns whether the machine code of all programs is stored already; `None` if nothing can be
    /// stored.
    pub fn are_kept(&self) -> Option<bool> {
        self.artifact_store().has(self.image.atoms().values())
    }

    /// Returns the names of programs whose machine code is not stored, or whose prepared memory is
    /// not, if they can be prepared; `None` if nothing can be stored.
    pub fn unready(&self) -> Option<Vec<String>> {
        let is_prepared = |(name, digest): (&String, &[u8; 32])| {
            let facts = self.image.atom(name).and_then(wasibox_image::module::module_facts);
            let can_be = facts.is_some_and(|f| f.can_be_prepared) && !self.image.tree().is_empty();
            !can_be
                || self
                    .artifact_store()
                    .knows_snapshot(&snapshot::snapshot_key(digest, self.image.tree()))
        };
        let are_all_kept = self.are_kept()?;
        let is_kept = |digest| are_all_kept || self.artifact_store().has([digest]) == Some(true);
        let unready =
            self.image.atoms().iter().filter(|(n, d)| !is_kept(*d) || !is_prepared((n, d)));
        Some(unready.map(|(name, _)| name.clone()).collect())
    }

    /// Loads all programs, or only the one of that name, without running or compiling anything;
    /// returns false if some part is not stored yet.
    ///
    /// From then on this process leaves compiling and preparing to others, and waits for them.
    pub fn get_kept(&self, only: Option<&str>) -> Result<bool, ProgramError> {
        let is_kept = match only.and_then(|name| self.image.atoms().get(name)) {
            Some(digest) => self.artifact_store().has([digest]),
            None => self.are_kept(),
        };
        if is_kept != Some(true) {
            return Ok(false);
        }
        self.waits.store(true, Ordering::Relaxed);
        match only {
            Some(name) => self.get_named(name)?,
            None => self.get_all()?,
        }
        Ok(!self.lacks.swap(false, Ordering::Relaxed))
    }

    /// Loads or compiles the program of that name.
    pub fn get_named(&self, name: &str) -> Result<(), ProgramError> {
        let place = self.names.iter().position(|n| n == name).ok_or_else(|| {
            let why = "the image has no such program".to_owned();
            ArtifactError::from(CannotCompile { name: name.to_owned(), why })
        })?;
        self.get_prepared(place)
    }

    /// Returns whether the code of all programs is loaded.
    pub fn are_loaded(&self) -> bool {
        self.loaded.iter().all(|slot| lock_mutex(slot).loaded.is_some())
    }

    /// Loads or compiles all programs.
    pub fn get_all(&self) -> Result<(), ProgramError> {
        (0..self.names.len()).try_for_each(|i| self.get_prepared(i))
    }

    /// Loads or compiles the program at that index of the names.
    fn get_prepared(&self, place: usize) -> Result<(), ProgramError> {
        self.get(ProgramMark(place as u32), Some(Limits::default().memory)).map(drop)
    }

    fn artifact_store(&self) -> ArtifactStore<'_> {
        ArtifactStore {
            dir: self.artifacts.clone(),
            progress: &*self.progress,
            waits: self.waits.load(Ordering::Relaxed),
        }
    }

    /// Returns the program's code, loaded or compiled at the first call. Given `memory`, the bytes
    /// of a session's memory, also returns its prepared memory, and makes it if necessary. The
    /// program is prepared in that part of the memory in which its prepared memory would be used,
    /// see [`wasibox_kernel::Kernel::entry_of`].
    fn get(&self, p: ProgramMark, memory: Option<u64>) -> Result<LoadedProgram, ProgramError> {
        let (Some(name), Some(slot)) =
            (self.names.get(p.0 as usize), self.loaded.get(p.0 as usize))
        else {
            return Err(ArtifactError::from(CannotCompile {
                name: "?".into(),
                why: "no such program".into(),
            })
            .into());
        };
        let digest = self.image.atoms().get(name).copied().unwrap_or_default();
        let mut slot = lock_mutex(slot);
        let mut loaded = match &slot.loaded {
            Some(loaded) => loaded.clone(),
            None => {
                let _held = lock_mutex(&MAPPING);
                let loaded = self.artifact_store().load(
                    &self.engine,
                    name,
                    &digest,
                    || -> Result<_, ProgramError> { Ok(self.image.checked_atom(name)?) },
                )?;
                lock_mutex(&self.code.modules).push(loaded.module.clone());
                self.code.map.add(p.0 as usize, &loaded.module);
                slot.loaded.insert(loaded).clone()
            }
        };
        let Some(memory) = memory.map(|all| (all / SNAPSHOT_SHARE).min(snapshot::MEMORY)) else {
            return Ok(LoadedProgram { snapshot: None, ..loaded });
        };
        if loaded.snapshot.is_none()
            && slot.tried.is_none_or(|tried| tried < memory)
            && snapshot::can_be_made(&loaded.module)
            && !self.image.tree().is_empty()
        {
            let key = snapshot::snapshot_key(&digest, self.image.tree());
            let later = self.waits.load(Ordering::Relaxed).then_some(&self.lacks);
            loaded.snapshot = self.artifact_store().snapshot(name, &key, memory, later, || {
                snapshot::make_snapshot(&self.image, self.artifacts.clone(), p, memory)
                    .map_err(|e| e.to_string())
            });
            // A prepared memory that another process is still making is looked for again at the
            // next start.
            let is_to_come = later.is_some_and(|lacks| lacks.load(Ordering::Relaxed));
            let tried = (!is_to_come).then_some(memory).or(slot.tried);
            *slot = ProgramSlot { loaded: Some(loaded.clone()), tried };
        }
        Ok(loaded)
    }
}

/// A session's view of its image's programs, by the number in [`ProgramMark`].
pub struct Programs {
    library: Arc<ProgramLibrary>,
    /// The maximum number of bytes of memory of a process (`memory`), and whether processes begin
    /// without prepared memory (`fresh`).
    memory: u64,
    fresh: bool,
    /// Threads with instances that wait for another process.
    pub idle: IdleThreads,
    /// The last field, because fields are dropped in order and the code must outlive its users.
    pub code: Arc<CodeHolder>,
}

impl Programs {
    /// Returns a session's programs, with at most `memory` bytes for each process; with `fresh`
    /// none begins from a prepared memory.
    pub fn new(library: Arc<ProgramLibrary>, memory: u64, fresh: bool) -> Programs {
        let code = library.code.clone();
        Programs { library, memory, fresh, idle: IdleThreads::default(), code }
    }

    /// Returns the part that it shares with other sessions.
    pub fn library(&self) -> &ProgramLibrary {
        &self.library
    }

    /// Returns whether no process starts from prepared memory.
    pub fn are_fresh(&self) -> bool {
        self.fresh
    }

    /// Returns the name of a program's atom, and its digest.
    pub fn program_identity(&self, p: ProgramMark) -> Option<(&str, [u8; 32])> {
        let name = self.library.names.get(p.0 as usize)?;
        Some((name, *self.library.image.atoms().get(name)?))
    }

    /// Returns the number of the atom of that name.
    pub fn program_number(&self, atom: &str) -> Option<ProgramMark> {
        let found = self.library.names.iter().position(|n| n == atom)?;
        Some(ProgramMark(u32::try_from(found).ok()?))
    }

    /// Returns the engine that compiled the code.
    pub fn engine(&self) -> &Engine {
        &self.library.engine
    }

    /// Returns the program's code, loaded or compiled at the first call.
    pub fn get(&self, p: ProgramMark) -> Result<LoadedProgram, ProgramError> {
        self.library.get(p, (!self.fresh).then_some(self.memory))
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
    ProgramLibrary::new(image, Limits::default().stack, artifacts, progress).get_all()
}

/// Compiles one program of `image`, if the store does not have it yet.
///
/// # Errors
/// The same as [`compile_all`]; a program that the image does not have.
pub fn compile_program(
    image: Arc<Image>,
    name: &str,
    artifacts: Option<PathBuf>,
    progress: Progress,
) -> Result<(), ProgramError> {
    ProgramLibrary::new(image, Limits::default().stack, artifacts, progress).get_named(name)
}

/// Returns the image's files, and its commands as executable files of these programs.
pub fn base_files(image: &Arc<Image>, programs: &Programs) -> Result<Vec<BaseFile>, ImageError> {
    wasibox_kernel::image_files(image, Some(&|atom| programs.program_number(atom)))
}
