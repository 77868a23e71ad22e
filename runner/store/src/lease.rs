//! Who has a session: one process, and one part of it.
//!
//! It is a lock of the operating system on a file beside the store, not a row with a process's
//! number and the time at which it began: the system lets go of it when the process ends,
//! however it ends, so that there is nothing to take over and no number that means another process by now
//! or none, as in another container that has the same file. The number in the file is for
//! messages.

use crate::StoreError;
use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// How often a lock is tried whose file others take away meanwhile.
const TRIES: usize = 100;

/// The sessions of a store without a file that are in use.
pub type InUse = Arc<Mutex<HashSet<i64>>>;

/// A session that is held, until it is dropped.
#[derive(Debug)]
pub enum Lease {
    File { file: File, path: PathBuf },
    Memory { id: i64, all: InUse },
}

impl Lease {
    /// Takes a session of the store in that file.
    pub fn take_in_file(store: &Path, id: i64, name: &str) -> Result<Lease, StoreError> {
        let mut path = store.as_os_str().to_owned();
        path.push(format!("-lock-{id}"));
        let path = PathBuf::from(path);
        for _ in 0..TRIES {
            let mut options = File::options();
            let file = options.read(true).write(true).create(true).truncate(false).open(&path);
            let mut file =
                file.map_err(|source| StoreError::Open { path: path.clone(), source })?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut text = String::new();
                    let _ = file.take(32).read_to_string(&mut text);
                    return Err(StoreError::Busy {
                        name: name.into(),
                        holder: text.trim().parse().ok(),
                    });
                }
                Err(TryLockError::Error(source)) => return Err(StoreError::Open { path, source }),
            }
            // Whoever had it before takes the file away: then this one is not the session's any more.
            let same = |there: std::fs::Metadata| {
                file.metadata()
                    .is_ok_and(|own| (own.dev(), own.ino()) == (there.dev(), there.ino()))
            };
            if std::fs::metadata(&path).is_ok_and(same) {
                let text = format!("{}\n", std::process::id());
                let written = file.set_len(0).and_then(|()| file.rewind());
                written.and_then(|()| file.write_all(text.as_bytes()))?;
                return Ok(Lease::File { file, path });
            }
        }
        Err(StoreError::Busy { name: name.into(), holder: None })
    }

    /// Takes a session of a store without a file.
    pub fn take_in_memory(all: &InUse, id: i64, name: &str) -> Result<Lease, StoreError> {
        if all.lock().unwrap_or_else(|e| e.into_inner()).insert(id) {
            return Ok(Lease::Memory { id, all: all.clone() });
        }
        Err(StoreError::Busy { name: name.into(), holder: Some(std::process::id()) })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        match self {
            Lease::File { file, path } => {
                // While it is locked, so that nobody else's is taken away.
                let _ = std::fs::remove_file(path);
                let _ = file.unlock();
            }
            Lease::Memory { id, all } => {
                all.lock().unwrap_or_else(|e| e.into_inner()).remove(id);
            }
        }
    }
}
