//! Open files of mounts, and their limit.

use super::{Handle, most_open};
use crate::errno::Errno;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An open file of a mount, counted in its session.
#[derive(Debug)]
pub struct OpenHostFile {
    fd: Handle,
    open: Arc<AtomicUsize>,
}

impl std::ops::Deref for OpenHostFile {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.fd
    }
}

impl Drop for OpenHostFile {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The number of open mount files of a session, and its limit.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    open: Arc<AtomicUsize>,
    most: usize,
}

impl OpenFiles {
    /// Allows at most `most`, and a quarter of the files that this process may have open.
    pub fn new(most: usize) -> OpenFiles {
        let share = most_open().map_or(usize::MAX, |n| n as usize / 4);
        OpenFiles { open: Arc::default(), most: most.min(share) }
    }

    /// Opens one more; ENFILE if there are too many.
    pub fn open_file(
        &self,
        open: impl FnOnce() -> Result<Handle, Errno>,
    ) -> Result<OpenHostFile, Errno> {
        let taken = OpenFileGuard(&self.open);
        if self.open.fetch_add(1, Ordering::Relaxed) >= self.most {
            return Err(Errno::NFILE);
        }
        let fd = open()?;
        std::mem::forget(taken);
        Ok(OpenHostFile { fd, open: self.open.clone() })
    }
}

/// A guard that gives a place back if no file was opened.
struct OpenFileGuard<'a>(&'a AtomicUsize);

impl Drop for OpenFileGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
