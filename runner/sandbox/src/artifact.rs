//! Machine code kept on disk: compiled once per module, engine and CPU.
//!
//! A program's code is `KEY.aot` beside `KEY.sum`, in a directory that only its
//! owner can write. `KEY` covers the module's SHA-256, the engine and the CPU's
//! features; `KEY.sum` has the SHA-256 of the code and the *stamp* (device, inode,
//! size, modification and change times) that the code had when it was last hashed.
//!
//! # Why a stamp
//! Code that is mapped and run must be what we wrote: the engine accepts a flipped byte.
//! Hashing 34 MB at every start costs 20 ms (SHA-256 with CPU support), so it is
//! hashed only when the stamp differs. Any write through the file system changes the
//! stamp; nobody else can write here; and against a failing disk, which changes
//! bytes alone, hashing a file that is then paged in lazily would not help either.

use crate::engine;
use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
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

impl Store<'_> {
    /// The module whose digest is `digest`: from the store, or compiled and stored.
    /// `wasm` gives its bytes, checked against the digest.
    pub fn load<E: From<ArtifactError>>(
        &self,
        engine: &Engine,
        name: &str,
        digest: &[u8; 32],
        wasm: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Module, E> {
        let dir = match &self.dir {
            Some(dir) => match private_dir(dir) {
                Ok(()) => dir,
                Err(why) => {
                    (self.progress)(&format!(
                        "not keeping compiled code in {}: {why}",
                        dir.display()
                    ));
                    return Ok(self.compile(engine, name, &wasm()?)?);
                }
            },
            None => return Ok(self.compile(engine, name, &wasm()?)?),
        };
        let key = key(digest);
        let (code, sum) = (dir.join(format!("{key}.aot")), dir.join(format!("{key}.sum")));
        if let Some(m) = self.open(engine, &code, &sum, &|_| {}) {
            return Ok(m);
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
        if let Some(m) = self.open(engine, &code, &sum, &tell) {
            return Ok(m);
        }
        let module = self.compile(engine, name, &wasm()?)?;
        if let Err(e) = store(&module, dir, &key, &code, &sum) {
            (self.progress)(&format!("not keeping the compiled code of {name}: {e}"));
            return Ok(module);
        }
        let _ = std::fs::remove_file(&lock);
        // The mapped form is what every later start uses; use it now as well.
        Ok(self.open(engine, &code, &sum, &tell).unwrap_or(module))
    }

    fn compile(&self, engine: &Engine, name: &str, wasm: &[u8]) -> Result<Module, ArtifactError> {
        (self.progress)(&format!(
            "compiling {name} ({} MB) for this machine, once",
            wasm.len().div_ceil(1_000_000)
        ));
        let start = std::time::Instant::now();
        let module = Module::new(engine, wasm)
            .map_err(|e| ArtifactError::Compile { name: name.into(), why: one_line(&e) })?;
        (self.progress)(&format!("compiled {name} in {:.1} s", start.elapsed().as_secs_f64()));
        Ok(module)
    }

    /// The stored module if it is there, whole and usable.
    fn open(
        &self,
        engine: &Engine,
        code: &Path,
        sum: &Path,
        tell: &dyn Fn(&str),
    ) -> Option<Module> {
        let recorded = std::fs::read_to_string(sum).ok()?;
        let (digest, stamp) = recorded.trim_end().split_once('\n')?;
        let now = stamp_of(code)?;
        if stamp != now {
            if file_digest(code).ok()? != digest {
                tell("was damaged");
                return None;
            }
            let _ = write_atomically(sum, format!("{digest}\n{now}\n").as_bytes());
        }
        // JUSTIFICATION: machine code can only be loaded by the engine's unsafe call.
        // SAFETY: the file is what this program wrote for this engine, target and CPU (the key)
        // and has not changed since it was hashed (the stamp), in a directory that only
        // its owner can write; it is replaced by rename only, never written in place.
        match unsafe { Module::deserialize_from_file(engine, code) } {
            Ok(m) => Some(m),
            Err(e) => {
                tell(&format!("is unusable: {}", one_line(&e)));
                None
            }
        }
    }
}

fn store(module: &Module, dir: &Path, key: &str, code: &Path, sum: &Path) -> std::io::Result<()> {
    let part = dir.join(format!("{key}.{}.part", std::process::id()));
    let result = (|| {
        let bytes = module.serialize().map_err(std::io::Error::other)?;
        let _ = std::fs::remove_file(&part);
        let mut f = open_private(&part)?;
        f.write_all(&bytes)?;
        f.sync_all()?;
        let digest = hex(&Sha256::digest(&bytes));
        std::fs::rename(&part, code)?;
        let stamp = stamp_of(code).ok_or(std::io::ErrorKind::NotFound)?;
        write_atomically(sum, format!("{digest}\n{stamp}\n").as_bytes())
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
