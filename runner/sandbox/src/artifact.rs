//! Machine code kept on disk: compiled once per module, engine and CPU.
//!
//! A program's code is `KEY.aot` beside its memory's template `KEY.mem` and `KEY.sum`, in a
//! directory that only its owner can write. `KEY` covers the module's SHA-256, the engine
//! and the CPU's features; `KEY.sum` has the SHA-256 of code and template and the *stamp*
//! (device, inode, size, modification and change times) that each had when it was last hashed.
//!
//! A *snapshot* (`crate::snapshot`) is kept likewise, as `KEY.snap` beside `KEY.snapsum`; one that
//! cannot be made leaves `KEY.nosnap` with the reason. The programs and snapshots that were used
//! last are kept, the others removed when one is added.
//!
//! # Why a stamp
//! Code that is mapped and run must be what we wrote: the engine accepts a flipped byte.
//! Hashing 34 MB at every start costs 20 ms (SHA-256 with CPU support), so it is
//! hashed only when the stamp differs. Any write through the file system changes the
//! stamp; nobody else can write here; and against a failing disk, which changes
//! bytes alone, hashing a file that is then paged in lazily would not help either.

use crate::engine;
use crate::programs::Loaded;
use crate::template::{self, Template};
use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasmer::{Engine, Module};

/// Where artifacts are kept and how progress is told.
pub struct Store<'a> {
    /// The directory; `None` compiles in memory each time.
    pub dir: Option<PathBuf>,
    /// Told before and after something slow, one line each.
    pub progress: &'a (dyn Fn(&str) + Sync),
}

/// Why a program's code cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("cannot compile {name}: {why}")]
    Compile { name: String, why: String },
}

/// The default directory: `$XDG_CACHE_HOME/wasibox/aot` or `~/.cache/wasibox/aot`.
pub fn default_dir() -> Option<PathBuf> {
    let absolute = |v: &str| std::env::var_os(v).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("wasibox").join("aot"))
}

/// The key of a module's code on this machine.
pub fn key(module_sha256: &[u8; 32]) -> String {
    let mut h = Sha256::new();
    h.update(module_sha256);
    h.update(engine::identity());
    hex(&h.finalize())
}

/// Files that belong together, and the file with their sums.
struct Files<const N: usize> {
    parts: [PathBuf; N],
    sum: PathBuf,
}

/// A program's code and its memory's template.
fn program_files(dir: &Path, key: &str) -> Files<2> {
    let file = |ext: &str| dir.join(format!("{key}.{ext}"));
    Files { parts: [file("aot"), file("mem")], sum: file("sum") }
}

/// A snapshot.
fn snapshot_files(dir: &Path, key: &str) -> Files<1> {
    let file = |ext: &str| dir.join(format!("{key}.{ext}"));
    Files { parts: [file("snap")], sum: file("snapsum") }
}

impl<const N: usize> Files<N> {
    /// Writes down digests and present stamps.
    fn record(&self, digests: [&str; N]) -> std::io::Result<()> {
        let mut text = String::new();
        for (path, digest) in self.parts.iter().zip(digests) {
            let stamp = stamp_of(path).ok_or(std::io::ErrorKind::NotFound)?;
            text.push_str(&format!("{digest}\n{stamp}\n"));
        }
        write_atomically(&self.sum, text.as_bytes())
    }

    /// Whether all are there and what was written; `tell` hears of damage.
    fn whole(&self, tell: &dyn Fn(&str)) -> Option<()> {
        let recorded = std::fs::read_to_string(&self.sum).ok()?;
        let lines: Vec<&str> = recorded.lines().collect();
        if lines.len() != 2 * N {
            return None;
        }
        let mut digests = [""; N];
        let mut moved = false;
        for ((path, pair), kept) in self.parts.iter().zip(lines.chunks(2)).zip(&mut digests) {
            *kept = pair[0];
            if stamp_of(path)? != *pair[1] {
                if file_digest(path).ok()? != *pair[0] {
                    tell("was damaged");
                    return None;
                }
                moved = true;
            }
        }
        if moved {
            let _ = self.record(digests);
        }
        Some(())
    }
}

/// A compiled module with the memory it begins with, not yet mapped from files.
struct Compiled {
    module: Module,
    template: Vec<u8>,
}

impl Compiled {
    fn in_memory(self, name: &str) -> Result<Loaded, ArtifactError> {
        let template = Template::in_memory(&self.template)
            .map_err(|e| ArtifactError::Compile { name: name.into(), why: one_line(&e) })?;
        Ok(Loaded { module: self.module, template: Arc::new(template), snapshot: None })
    }
}

impl Store<'_> {
    /// The program whose digest is `digest`: from the store, or compiled and stored.
    /// `wasm` gives its bytes, checked against the digest.
    pub fn load<E: From<ArtifactError>>(
        &self,
        engine: &Engine,
        name: &str,
        digest: &[u8; 32],
        wasm: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Loaded, E> {
        let dir = match &self.dir {
            Some(dir) => match private_dir(dir) {
                Ok(()) => dir,
                Err(why) => {
                    (self.progress)(&format!(
                        "not keeping compiled code in {}: {why}",
                        dir.display()
                    ));
                    return Ok(self.compile(engine, name, wasm()?)?.in_memory(name)?);
                }
            },
            None => return Ok(self.compile(engine, name, wasm()?)?.in_memory(name)?),
        };
        let key = key(digest);
        let files = program_files(dir, &key);
        if let Some(l) = self.open(engine, &files, &|_| {}) {
            return Ok(l);
        }
        // One process compiles, the others wait for it and find the result.
        let lock = dir.join(format!("{key}.lock"));
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |source| ArtifactError::Io { path, source }
        };
        let held = open_private(&lock).map_err(io(&lock))?;
        let _ = flock(&held, FlockOperation::LockExclusive);
        let tell = |what: &str| (self.progress)(&format!("the compiled code of {name} {what}"));
        if let Some(l) = self.open(engine, &files, &tell) {
            return Ok(l);
        }
        let compiled = self.compile(engine, name, wasm()?)?;
        if let Err(e) = store(&compiled, dir, &key, &files) {
            (self.progress)(&format!("not keeping the compiled code of {name}: {e}"));
            return Ok(compiled.in_memory(name)?);
        }
        let _ = std::fs::remove_file(&lock);
        forget_old(dir, PROGRAMS, "aot", &["sum", "mem"]);
        // The mapped form is what every later start uses; use it now as well.
        match self.open(engine, &files, &tell) {
            Some(l) => Ok(l),
            None => Ok(compiled.in_memory(name)?),
        }
    }

    fn compile(
        &self,
        engine: &Engine,
        name: &str,
        wasm: Vec<u8>,
    ) -> Result<Compiled, ArtifactError> {
        (self.progress)(&format!(
            "compiling {name} ({} MB) for this machine, once",
            wasm.len().div_ceil(1_000_000)
        ));
        let start = std::time::Instant::now();
        let split = template::split(wasm);
        let module = Module::new(engine, &split.wasm)
            .map_err(|e| ArtifactError::Compile { name: name.into(), why: one_line(&e) })?;
        (self.progress)(&format!("compiled {name} in {:.1} s", start.elapsed().as_secs_f64()));
        Ok(Compiled { module, template: split.template })
    }

    /// The stored program if it is there, whole and usable.
    fn open(&self, engine: &Engine, files: &Files<2>, tell: &dyn Fn(&str)) -> Option<Loaded> {
        files.whole(tell)?;
        let [code, template] = &files.parts;
        let template = std::fs::File::open(template).ok()?;
        let template = Template::open(template).map(Arc::new).ok()?;
        // JUSTIFICATION: machine code can only be loaded by the engine's unsafe call.
        // SAFETY: the file is what this program wrote for this engine, target and CPU (the key)
        // and has not changed since it was hashed (the stamp), in a directory that only
        // its owner can write; it is replaced by rename only, never written in place.
        match unsafe { Module::deserialize_from_file(engine, code) } {
            Ok(module) => Some(Loaded { module, template, snapshot: None }),
            Err(e) => {
                tell(&format!("is unusable: {}", one_line(&e)));
                None
            }
        }
    }

    /// The snapshot with that key: from the store, or made and stored. `None` if there is no
    /// store to keep it in, or if it cannot be made: its program then begins at its beginning.
    pub fn snapshot(
        &self,
        name: &str,
        key: &str,
        make: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Option<Arc<Template>> {
        let dir = self.dir.as_ref().filter(|d| private_dir(d).is_ok())?;
        let files = snapshot_files(dir, key);
        let open = |tell: &dyn Fn(&str)| {
            files.whole(tell)?;
            let file = std::fs::File::open(&files.parts[0]).ok()?;
            Template::open(file).map(Arc::new).ok()
        };
        if let Some(t) = open(&|_| {}) {
            return Some(t);
        }
        let failed = dir.join(format!("{key}.nosnap"));
        if failed.exists() {
            return None;
        }
        let lock = dir.join(format!("{key}.lock"));
        let held = open_private(&lock).ok()?;
        let _ = flock(&held, FlockOperation::LockExclusive);
        if let Some(t) = open(&|what| (self.progress)(&format!("the snapshot of {name} {what}"))) {
            return Some(t);
        }
        (self.progress)(&format!("preparing {name} for quick starts, once"));
        let start = std::time::Instant::now();
        let content = match make() {
            Ok(content) => content,
            Err(why) => {
                (self.progress)(&format!("{name} cannot be prepared and starts slowly: {why}"));
                // Not tried again before something in the key changes.
                let _ = write_atomically(&failed, why.as_bytes());
                return None;
            }
        };
        let stored = put(dir, key, &files.parts[0], &content).and_then(|d| files.record([&d]));
        let _ = std::fs::remove_file(&lock);
        if let Err(e) = stored {
            (self.progress)(&format!("not keeping the snapshot of {name}: {e}"));
            return Template::in_memory(&content).map(Arc::new).ok();
        }
        (self.progress)(&format!("prepared {name} in {:.1} s", start.elapsed().as_secs_f64()));
        forget_old(dir, SNAPSHOTS, "snap", &["snapsum"]);
        open(&|_| {})
    }
}

/// Snapshots and programs that are kept. Each is as large as a process's memory, or several times
/// its module: whoever builds images often would fill the disk.
const SNAPSHOTS: usize = 4;
const PROGRAMS: usize = 16;

/// Removes all but the `kept` files with the extension `what` that were used or made last, and
/// what has the same name and the extensions `with`. One in use stays mapped.
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

fn store(compiled: &Compiled, dir: &Path, key: &str, files: &Files<2>) -> std::io::Result<()> {
    let code = compiled.module.serialize().map_err(std::io::Error::other)?;
    let code = put(dir, key, &files.parts[0], &code)?;
    let template = put(dir, key, &files.parts[1], &compiled.template)?;
    files.record([&code, &template])
}

/// Writes a file that is whole or not there; its digest.
fn put(dir: &Path, key: &str, to: &Path, bytes: &[u8]) -> std::io::Result<String> {
    let part = dir.join(format!("{key}.{}.part", std::process::id()));
    let result = (|| {
        let _ = std::fs::remove_file(&part);
        let mut f = open_private(&part)?;
        f.write_all(bytes)?;
        f.sync_all()?;
        std::fs::rename(&part, to)?;
        Ok(hex(&Sha256::digest(bytes)))
    })();
    let _ = std::fs::remove_file(&part);
    result
}

/// Makes the directory if needed; says why it cannot be trusted.
fn private_dir(dir: &Path) -> Result<(), String> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|e| e.to_string())?;
    let m = dir.symlink_metadata().map_err(|e| e.to_string())?;
    if !m.is_dir() {
        return Err("it is not a directory".into());
    }
    if m.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to someone else".into());
    }
    if m.mode() & 0o022 != 0 {
        return Err("others can write to it".into());
    }
    Ok(())
}

fn open_private(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let part = path.with_extension(format!("{}.sumpart", std::process::id()));
    std::fs::write(&part, bytes)?;
    std::fs::rename(&part, path)
}

fn stamp_of(path: &Path) -> Option<String> {
    let m = path.symlink_metadata().ok().filter(|m| m.is_file())?;
    Some(format!(
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

fn file_digest(path: &Path) -> std::io::Result<String> {
    let mut f = std::fs::File::open(path)?;
    let mut h = Sha256::new();
    let mut buf = vec![0; 1 << 20];
    loop {
        match f.read(&mut buf)? {
            0 => return Ok(hex(&h.finalize())),
            n => h.update(&buf[..n]),
        }
    }
}

fn one_line(e: &dyn std::fmt::Display) -> String {
    e.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn hex(bytes: &[u8]) -> String {
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
                // Made in the order of their names, but the first was used since.
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
