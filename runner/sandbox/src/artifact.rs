//! Machine code kept on disk: compiled once per module, engine and kind of CPU.
//!
//! A program's code is `KEY.aot` beside its memory's template `KEY.mem` and `KEY.sum`, in a
//! directory that only its owner can write. `KEY` covers the module's SHA-256, the engine and the
//! CPU's features that are used; `KEY.sum` has the BLAKE3 digest of code and template and the
//! *stamp* (device, inode, size, modification and change times) that each had when it was last
//! hashed, all authenticated for this `KEY` by a key that lies elsewhere ([`crate::key`]).
//!
//! *Prepared memory* (`crate::snapshot`) is stored in the same way, as `KEY.snap` and
//! `KEY.snapsum`; if it cannot be made, `KEY.nosnap` holds the reason. Adding a program or a
//! prepared memory removes all others of its kind except the most recently used ones.
//!
//! # Why a stamp
//! The code that is mapped and run must be the code that we wrote, because the engine accepts a
//! flipped byte. The file is hashed only when its stamp differs, because hashing 28 MB at every
//! start costs milliseconds. Any write through the file system changes the stamp, and no other user
//! can write here. A failing disk changes bytes without the stamp, but hashing would not help there
//! either, because the file is paged in lazily afterwards.
//!
//! A file with a different stamp was copied, or another process writes to it and may still write
//! after the hash. So the file is read once, and the very bytes that were hashed are written to a
//! new file under its name, which is then mapped. Where no file can be written, the bytes stay in
//! memory.
//!
//! # Why a key
//! A digest detects damage but not forgery: a guest with a writable mount over this directory could
//! replace both code and digest. Mounts hide the directory ([`protected_paths`]); if one showed it
//! after all, files that a guest wrote there would lack our signature.
//!
//! # Invariants
//! - A file is opened once; its stamp and its mapping are of that descriptor.
//! - Nothing here waits for ever: names are opened without blocking, another process's work is
//!   waited for at most [`MAX_WAIT`].

pub mod carry;

use crate::compile::{CannotCompile, CompiledModule, compile_module, one_line};
use crate::engine;
use crate::heap;
use crate::key::{self, ArtifactKey};
use crate::loaded::LoadedProgram;
use crate::template::MemoryTemplate;
use crate::trusted;
use rustix::fs::{FlockOperation, MemfdFlags, SealFlags, fcntl_add_seals, flock, memfd_create};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wasmer::{Engine, Module};

/// The store of compiled programs and prepared memories, with its progress callback.
pub struct ArtifactStore<'a> {
    /// The directory; `None` compiles in memory each time.
    pub dir: Option<PathBuf>,
    /// The callback that gets a line before and after each slow step.
    pub progress: &'a (dyn Fn(&str) + Sync),
    /// Whether another process is compiling what is missing, or will begin to within
    /// [`BEGINNING`].
    pub waits: bool,
}

/// The reason why a program's code is not available.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Compile(#[from] CannotCompile),
}

/// Returns the default directory: `$XDG_CACHE_HOME/wasibox/aot` or `~/.cache/wasibox/aot`.
pub fn default_dir() -> Option<PathBuf> {
    let absolute = |v: &str| std::env::var_os(v).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("wasibox").join("aot"))
}

/// Returns the host paths that no mount may show: a store's directory and the key's.
pub fn protected_paths(dir: Option<&Path>) -> Vec<PathBuf> {
    dir.map(Path::to_path_buf).into_iter().chain(key::default_dir()).collect()
}

/// Computes the key of a module's code on this machine.
pub fn artifact_key(module_sha256: &[u8; 32]) -> String {
    let mut h = Sha256::new();
    h.update(module_sha256);
    h.update(engine::engine_identity());
    hex_text(&h.finalize())
}

/// Files that belong together, and the file with their sums.
struct ChecksummedFiles<const N: usize> {
    parts: [PathBuf; N],
    sum: PathBuf,
}

/// Returns the files of a program's code and its memory's template.
fn program_files(dir: &Path, key: &str) -> ChecksummedFiles<2> {
    let file = |ext: &str| dir.join(format!("{key}.{ext}"));
    ChecksummedFiles { parts: [file("aot"), file("mem")], sum: file("sum") }
}

/// Returns the file of a prepared memory.
fn snapshot_files(dir: &Path, key: &str) -> ChecksummedFiles<1> {
    let file = |ext: &str| dir.join(format!("{key}.{ext}"));
    ChecksummedFiles { parts: [file("snap")], sum: file("snapsum") }
}

/// Returns the file that records why there is no prepared memory.
fn no_snapshot(dir: &Path, key: &str) -> PathBuf {
    dir.join(format!("{key}.nosnap"))
}

/// The first line of a file with sums.
const SUMS: &str = "wasibox sums 2";
/// The maximum size in bytes of a file with sums.
const MAX_SUMS: u64 = 4096;

impl<const N: usize> ChecksummedFiles<N> {
    /// Writes the files and their signed record.
    fn put(&self, key: &ArtifactKey, contents: [&[u8]; N]) -> std::io::Result<()> {
        let mut seen = Vec::with_capacity(N);
        for (path, bytes) in self.parts.iter().zip(contents) {
            let file = trusted::put_file(path, bytes, false)?;
            seen.push((blake3::hash(bytes).to_string(), stamp_of(&file)?));
        }
        self.record(key, &seen)
    }

    /// Writes digests and stamps.
    fn record(&self, key: &ArtifactKey, seen: &[(String, String)]) -> std::io::Result<()> {
        let mut text = format!("{SUMS}\n");
        for (digest, stamp) in seen {
            text.push_str(&format!("{digest}\n{stamp}\n"));
        }
        let signature = key.sign(&self.name(), &text);
        trusted::put_file(&self.sum, format!("{text}{signature}\n").as_bytes(), false).map(drop)
    }

    /// Returns the name that is signed along with the sums, so that they hold for these files only.
    fn name(&self) -> String {
        self.sum.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Opens the files if all exist and are as we wrote them; reports damage to `tell`.
    fn open(&self, key: &ArtifactKey, report: &dyn Fn(&str)) -> Option<[File; N]> {
        let mut recorded = String::new();
        trusted::open_trusted(&self.sum).ok()?.take(MAX_SUMS).read_to_string(&mut recorded).ok()?;
        let (text, signature) = recorded.trim_end_matches('\n').rsplit_once('\n')?;
        let lines: Vec<&str> = text.lines().collect();
        if lines.first() != Some(&SUMS) || lines.len() != 1 + 2 * N {
            return None;
        }
        let signature = blake3::Hash::from_hex(signature).ok()?;
        if key.sign(&self.name(), &format!("{text}\n")) != signature {
            report("was not written by us, or with another key");
            return None;
        }
        let mut files = Vec::with_capacity(N);
        let mut seen = Vec::with_capacity(N);
        let mut is_moved = false;
        for (path, pair) in self.parts.iter().zip(lines[1..].chunks(2)) {
            let file = trusted::open_trusted(path).ok()?;
            let stamp = stamp_of(&file).ok()?;
            if stamp == *pair[1] {
                files.push(file);
                seen.push((pair[0].to_owned(), stamp));
                continue;
            }
            let Some(bytes) = read_whole(&file, pair[0], pair[1]) else {
                report("was damaged");
                return None;
            };
            is_moved = true;
            let file = rewrite_file(path, &bytes).or_else(|_| in_memory(&bytes)).ok()?;
            seen.push((pair[0].to_owned(), stamp_of(&file).ok()?));
            files.push(file);
        }
        if is_moved {
            let _ = self.record(key, &seen);
        }
        files.try_into().ok()
    }
}

impl CompiledModule {
    fn in_memory(self, engine: &Engine, name: &str) -> Result<LoadedProgram, ArtifactError> {
        let cannot =
            |e: &dyn std::fmt::Display| CannotCompile { name: name.into(), why: one_line(e) };
        let template = MemoryTemplate::in_memory(&self.template).map_err(|e| cannot(&e))?;
        let module = load_bytes(engine, self.code).map_err(|e| cannot(&e))?;
        Ok(LoadedProgram { module, template: Arc::new(template), snapshot: None })
    }
}

impl ArtifactStore<'_> {
    /// Returns the program whose digest is `digest`: from the store, or compiled and stored. `wasm`
    /// returns its bytes, checked against the digest.
    pub fn load<E: From<ArtifactError>>(
        &self,
        engine: &Engine,
        name: &str,
        digest: &[u8; 32],
        wasm: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<LoadedProgram, E> {
        let Some((dir, secret)) = self.place(true) else {
            return Ok(self.compile(name, wasm()?)?.in_memory(engine, name)?);
        };
        let key = artifact_key(digest);
        let files = program_files(dir, &key);
        if let Some(l) = self.open(engine, &files, &secret, &|_| {}) {
            return Ok(l);
        }
        // One process compiles, the others wait for it and find the result.
        let lock = dir.join(format!("{key}.lock"));
        if self.waits {
            self.wait_for(&lock, &files.sum);
        }
        let _held = self.hold(&lock, &format!("compiles {name}"));
        let report = |what: &str| (self.progress)(&format!("the compiled code of {name} {what}"));
        if let Some(l) = self.open(engine, &files, &secret, &report) {
            return Ok(l);
        }
        let compiled = self.compile(name, wasm()?)?;
        if let Err(e) = files.put(&secret, [&compiled.code, &compiled.template]) {
            (self.progress)(&format!("not keeping the compiled code of {name}: {e}"));
            return Ok(compiled.in_memory(engine, name)?);
        }
        let _ = std::fs::remove_file(&lock);
        forget_old(dir, PROGRAMS, "aot", &["sum", "mem"]);
        // The new file is mapped at once, as at every later start.
        match self.open(engine, &files, &secret, &report) {
            Some(l) => Ok(l),
            None => Ok(compiled.in_memory(engine, name)?),
        }
    }

    /// Returns whether the machine code of all these modules is stored and unchanged; `None` if
    /// nothing can be stored.
    pub fn has<'d>(&self, digests: impl IntoIterator<Item = &'d [u8; 32]>) -> Option<bool> {
        let (dir, secret) = self.place(false)?;
        let is_there = |d| program_files(dir, &artifact_key(d)).open(&secret, &|_| {}).is_some();
        Some(digests.into_iter().all(is_there))
    }

    /// Returns whether the prepared memory with that key is stored, or is known to be impossible.
    pub fn knows_snapshot(&self, key: &str) -> bool {
        let Some((dir, _)) = self.place(false) else { return false };
        let [snapshot] = &snapshot_files(dir, key).parts;
        snapshot.exists() || no_snapshot(dir, key).exists()
    }

    /// Returns the directory and the key, if the directory can be trusted.
    fn place(&self, reports: bool) -> Option<(&Path, ArtifactKey)> {
        let dir = self.dir.as_deref()?;
        let report = |what: &str| {
            if reports {
                (self.progress)(what);
            }
        };
        let found = trusted::private_dir(dir)
            .and_then(|()| ArtifactKey::load(key::default_dir().as_deref(), dir, &report));
        match found {
            Ok(key) => Some((dir, key)),
            Err(why) => {
                report(&format!("not keeping compiled code in {}: {why}", dir.display()));
                None
            }
        }
    }

    /// Waits a limited time for another process that does the same work. Without the lock the work
    /// is done twice, which is harmless.
    fn hold(&self, lock: &Path, does: &str) -> Option<File> {
        // In a jail no file can be created, but an existing one can be waited for.
        let file = trusted::open_lock(lock).or_else(|_| trusted::open_trusted(lock)).ok()?;
        let begin = Instant::now();
        let mut has_reported = false;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(file),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
            let waited = begin.elapsed();
            if waited > MAX_WAIT {
                (self.progress)(&format!("no longer waiting for the process that {does}"));
                return None;
            }
            if !has_reported && waited > Duration::from_secs(1) {
                has_reported = true;
                let shown = lock.display();
                (self.progress)(&format!("waiting for another process that {does} ({shown})"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until another process has written the file `sum`. Gives up when no process has held
    /// the lock for [`BEGINNING`].
    fn wait_for(&self, lock: &Path, sum: &Path) {
        let begin = Instant::now();
        let mut last_held = begin;
        while !sum.exists() && last_held.elapsed() < BEGINNING && begin.elapsed() < MAX_WAIT {
            if is_locked(lock) {
                last_held = Instant::now();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn compile(&self, name: &str, wasm: Vec<u8>) -> Result<CompiledModule, ArtifactError> {
        (self.progress)(&format!(
            "compiling {name} ({} MB) for this machine, once",
            wasm.len().div_ceil(1_000_000)
        ));
        let start = Instant::now();
        let compiled = compile_module(name, wasm)?;
        // The heap is trimmed, because the compiler uses several times the memory of its result.
        heap::trim_heap();
        (self.progress)(&format!("compiled {name} in {:.1} s", start.elapsed().as_secs_f64()));
        Ok(compiled)
    }

    /// Opens the stored program if it exists, is complete and usable.
    fn open(
        &self,
        engine: &Engine,
        files: &ChecksummedFiles<2>,
        key: &ArtifactKey,
        report: &dyn Fn(&str),
    ) -> Option<LoadedProgram> {
        let [code, template] = files.open(key, report)?;
        let template = MemoryTemplate::open(template).map(Arc::new).ok()?;
        match map_code(engine, &code) {
            Ok(module) => Some(LoadedProgram { module, template, snapshot: None }),
            Err(e) => {
                report(&format!("is unusable: {}", one_line(&e)));
                None
            }
        }
    }

    /// Returns the prepared memory with that key. If the store lacks it, it is made (in a given
    /// amount of `memory`) and stored. Returns `None` if there is no store or if the prepared
    /// memory cannot be made: the program then starts from its beginning. If `later` is given and
    /// the store has no such memory yet, sets `later` to true and makes nothing.
    pub fn snapshot(
        &self,
        name: &str,
        key: &str,
        memory: u64,
        later: Option<&AtomicBool>,
        make: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Option<Arc<MemoryTemplate>> {
        let (dir, secret) = self.place(false)?;
        let files = snapshot_files(dir, key);
        let open = |report: &dyn Fn(&str)| {
            let [file] = files.open(&secret, report)?;
            MemoryTemplate::open(file).map(Arc::new).ok()
        };
        if let Some(t) = open(&|_| {}) {
            return Some(t);
        }
        let failed = no_snapshot(dir, key);
        if is_hopeless(&failed, memory) {
            return None;
        }
        if let Some(later) = later {
            later.store(true, Ordering::Relaxed);
            return None;
        }
        let lock = dir.join(format!("{key}.lock"));
        let _held = self.hold(&lock, &format!("prepares {name}"));
        if let Some(t) = open(&|what| (self.progress)(&format!("the snapshot of {name} {what}"))) {
            return Some(t);
        }
        if is_hopeless(&failed, memory) {
            return None;
        }
        (self.progress)(&format!("preparing {name} for quick starts, once"));
        let start = Instant::now();
        let content = match make() {
            Ok(content) => content,
            Err(why) => {
                (self.progress)(&format!("{name} cannot be prepared and starts slowly: {why}"));
                // Preparing is not tried again until there is more memory or a part of the key
                // changes.
                let _ = trusted::put_file(&failed, format!("{memory}\n{why}\n").as_bytes(), false);
                let _ = std::fs::remove_file(&lock);
                return None;
            }
        };
        let stored = files.put(&secret, [&content]);
        let _ = std::fs::remove_file(&lock);
        if let Err(e) = stored {
            (self.progress)(&format!("not keeping the snapshot of {name}: {e}"));
            return MemoryTemplate::in_memory(&content).map(Arc::new).ok();
        }
        (self.progress)(&format!("prepared {name} in {:.1} s", start.elapsed().as_secs_f64()));
        forget_old(dir, SNAPSHOTS, "snap", &["snapsum"]);
        open(&|_| {})
    }
}

/// Returns whether a process holds the lock.
fn is_locked(lock: &Path) -> bool {
    let Ok(file) = trusted::open_trusted(lock) else { return false };
    flock(&file, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
}

/// Returns whether preparing failed with at least as much memory as there is now.
fn is_hopeless(failed: &Path, memory: u64) -> bool {
    let mut text = String::new();
    let read =
        trusted::open_trusted(failed).and_then(|f| f.take(MAX_SUMS).read_to_string(&mut text));
    let had = text.lines().next().and_then(|l| l.parse::<u64>().ok());
    read.is_ok() && had.is_some_and(|had| had >= memory)
}

/// Maps machine code.
fn map_code(engine: &Engine, code: &File) -> Result<Module, wasmer::DeserializeError> {
    // The engine takes a path. This path names the descriptor, so it stays valid if the file is
    // renamed or removed.
    let path = format!("/proc/self/fd/{}", code.as_raw_fd());
    // JUSTIFICATION: machine code can only be loaded by the engine's unsafe call. SAFETY: this
    // program wrote the file for this engine, target and CPU: the stamp that was compared on this
    // descriptor is authenticated with our key, or we have just written the file from bytes with
    // the authenticated digest. It lies in a directory that only its owner can write (or in memory
    // alone), has no second name, and is replaced by rename only, never written in place.
    match unsafe { Module::deserialize_from_file(engine, &path) } {
        Err(_) if !Path::new(&path).exists() => {}
        done => return done,
    }
    // Without /proc: a copy, read from the same descriptor.
    let mut bytes = Vec::new();
    let mut from = code;
    from.read_to_end(&mut bytes)?;
    load_bytes(engine, bytes)
}

/// Loads machine code that was compiled here, or comes from a file as in [`map_code`].
fn load_bytes(engine: &Engine, code: Vec<u8>) -> Result<Module, wasmer::DeserializeError> {
    // JUSTIFICATION: as in `map_code`. SAFETY: the bytes come from the compiler itself, or from a
    // file to which the argument in `map_code` applies.
    unsafe { Module::deserialize(engine, code) }
}

/// The longest wait for another process to begin work that it was started for.
const BEGINNING: Duration = Duration::from_secs(10);
/// The longest wait for another process that does the same work.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// The numbers of prepared memories and programs that are kept. They are limited because a prepared
/// memory is as large as a process's memory and a program several times its module, so that
/// frequent builds of images would fill the disk.
const SNAPSHOTS: usize = 4;
const PROGRAMS: usize = 16;

/// Removes all but the `kept` most recently used or made files with the extension `what`, together
/// with the files of the same name and the extensions `with`. A file in use stays mapped.
fn forget_old(dir: &Path, kept: usize, what: &str, with: &[&str]) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let last_use = |path: &Path| {
        let m = path.symlink_metadata().ok()?;
        Some(m.modified().ok()?.max(m.accessed().unwrap_or(std::time::UNIX_EPOCH)))
    };
    let mut all: Vec<(std::time::SystemTime, PathBuf)> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == what))
        .filter_map(|p| Some((last_use(&p)?, p)))
        .collect();
    all.sort();
    let surplus = all.len().saturating_sub(kept);
    for (_, path) in all.into_iter().take(surplus) {
        for extension in with {
            let _ = std::fs::remove_file(path.with_extension(extension));
        }
        let _ = std::fs::remove_file(path);
    }
}

/// Returns the stamp of a file, which changes with every change of the file.
fn stamp_of(file: &File) -> std::io::Result<String> {
    let m = file.metadata()?;
    Ok(format!(
        "{} {} {} {}.{:09} {}.{:09}",
        m.dev(),
        m.ino(),
        m.len(),
        m.mtime(),
        m.mtime_nsec(),
        m.ctime(),
        m.ctime_nsec()
    ))
}

/// Reads a file that was written to or moved since its stamp was `recorded`; `None` unless it still
/// has the digest.
fn read_whole(file: &File, digest: &str, recorded: &str) -> Option<Vec<u8>> {
    let len: u64 = recorded.split(' ').nth(2)?.parse().ok()?;
    if file.metadata().ok()?.len() != len {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(len).ok()?);
    file.take(len).read_to_end(&mut bytes).ok()?;
    (blake3::hash(&bytes).to_string() == digest).then_some(bytes)
}

/// Writes these bytes to a new file in place of the old one and returns it.
fn rewrite_file(path: &Path, bytes: &[u8]) -> std::io::Result<File> {
    let written = trusted::put_file(path, bytes, false)?;
    let file = trusted::open_trusted(path)?;
    if stamp_of(&file)? == stamp_of(&written)? {
        Ok(file)
    } else {
        Err(std::io::Error::other("somebody else has written it"))
    }
}

/// Creates a sealed file without a name that has these bytes.
fn in_memory(bytes: &[u8]) -> std::io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("wasibox", flags)?);
    file.write_all(bytes)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK)?;
    Ok(file)
}

fn hex_text(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn what_was_used_last_is_kept() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let dir = dir.path();
        let hours_ago = |hours: u64| SystemTime::now() - Duration::from_secs(hours * 3600);
        for n in 0..5 {
            for extension in ["aot", "sum", "mem"] {
                let file = std::fs::File::create(dir.join(format!("{n}.{extension}")))?;
                // The files were created in the order of their names, and the first was used since
                // then.
                let used = if n == 0 { 1 } else { 9 - n };
                let times = std::fs::FileTimes::new()
                    .set_modified(hours_ago(9 - n))
                    .set_accessed(hours_ago(used));
                file.set_times(times)?;
            }
        }
        std::fs::write(dir.join("other.lock"), "")?;
        forget_old(dir, 3, "aot", &["sum", "mem"]);
        let mut left: Vec<_> = std::fs::read_dir(dir)?
            .map(|e| Ok(e?.file_name().to_string_lossy().into_owned()))
            .collect::<std::io::Result<_>>()?;
        left.sort();
        let of = |n| ["aot", "mem", "sum"].map(|e| format!("{n}.{e}"));
        let expected: Vec<String> =
            [0, 3, 4].into_iter().flat_map(of).chain(["other.lock".to_string()]).collect();
        assert_eq!(left, expected);
        Ok(())
    }
}
