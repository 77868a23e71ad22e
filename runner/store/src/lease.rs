//! Exclusive use of a session by one process, and by one part of it.
//!
//! A lease is a lock of the operating system on a file beside the store, rather than a row with a
//! process's number and start time. The system releases the lock however the process ends, so there
//! is nothing to take over. A process number, by contrast, may mean another process by now, or
//! none, for example in another container that shares the file. The number in the file is only for
//! messages.

use crate::{Store, StoreError};
use rustix::fs::OFlags;
use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The number of attempts to take a lock whose file other processes remove meanwhile.
const TRIES: usize = 100;

/// The sessions in use, of a store without a file.
pub type InUse = Arc<Mutex<HashSet<i64>>>;

/// A lock on a session that lasts until it is dropped.
#[derive(Debug)]
pub enum Lease {
    File { file: File, path: PathBuf },
    Memory { id: i64, all: InUse },
}

impl Lease {
    /// Locks a session of a store.
    pub fn take(store: &Store, id: i64, name: &str) -> Result<Lease, StoreError> {
        match &store.shared.path {
            Some(path) => Lease::take_in_file(path, id, name),
            None => Lease::take_in_memory(&store.shared.in_use, id, name),
        }
    }

    /// Locks a session of the store in that file.
    fn take_in_file(store: &Path, id: i64, name: &str) -> Result<Lease, StoreError> {
        let mut path = store.as_os_str().to_owned();
        path.push(format!("-lock-{id}"));
        let path = PathBuf::from(path);
        for _ in 0..TRIES {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            // A link with this name was created by another program, perhaps a hostile one.
            let file = options.custom_flags(OFlags::NOFOLLOW.bits() as i32).open(&path);
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
            // The previous holder may have removed the file; then this one is no longer the
            // session's lock file.
            let same = |there: std::fs::Metadata| {
                file.metadata()
                    .is_ok_and(|own| (own.dev(), own.ino()) == (there.dev(), there.ino()))
            };
            if std::fs::symlink_metadata(&path).is_ok_and(same) {
                let text = format!("{}\n", std::process::id());
                // A failure is ignored, for example on a full disk, because the number is only for
                // messages.
                let written = file.set_len(0).and_then(|()| file.rewind());
                let _ = written.and_then(|()| file.write_all(text.as_bytes()));
                return Ok(Lease::File { file, path });
            }
        }
        Err(StoreError::Busy { name: name.into(), holder: None })
    }

    /// Locks a session of a store without a file.
    fn take_in_memory(all: &InUse, id: i64, name: &str) -> Result<Lease, StoreError> {
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
                // The file is removed while it is still locked. After that its name could belong to
                // another process's lock.
                let _ = std::fs::remove_file(path);
                let _ = file.unlock();
            }
            Lease::Memory { id, all } => {
                all.lock().unwrap_or_else(|e| e.into_inner()).remove(id);
            }
        }
    }
}
