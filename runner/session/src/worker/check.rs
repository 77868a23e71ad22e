//! Reads zips and snapshots from elsewhere in a jailed process before this process believes them.
//!
//! A file of a few kilobytes can be made to take gigabytes or minutes of whoever reads it. The
//! formats' own bounds prevent that ([`wasibox_workspace::ZipLimits`], [`SnapshotLimits`]); this is
//! the wall behind them. A process without any file reads the whole file with the code that reads
//! it here later, within bounds of memory and time that the host's kernel enforces. Only if it ends
//! well does this process read the file, which it needs as data.

use super::message::{ErrorMessage, WorkerReply, WorkerRequest};
use super::pool::start_worker;
use crate::error::Error;
use crate::workspace::read_zip;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use signal_hook::consts::SIGABRT;
use std::fs::File;
use std::io::BufReader;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};
use wasibox_store::SnapshotLimits;
use wasibox_store::snapshot::MemoryObjects;
use wasibox_store::snapshot::wbs;
use wasibox_worker::child::WorkerEnd;
use wasibox_worker::filter::NewCode;
use wasibox_worker::jail::Jail;

/// Bytes of memory of the process, in addition to twice the length of a snapshot, whose objects it
/// holds.
const MEMORY: u64 = 384 << 20;
/// The time that it may take: for any file, and in addition for each megabyte.
const TIME: Duration = Duration::from_secs(30);
const TIME_PER_MB: Duration = Duration::from_millis(200);

/// The kind of a file from elsewhere.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum ForeignFile {
    /// A zip for a workspace, with the history that it may carry.
    Zip,
    /// A snapshot, with its limits: bytes, items and bytes of the manifest.
    Snapshot(u64, usize, usize),
}

impl ForeignFile {
    /// Returns the kind of a snapshot with these limits.
    pub fn snapshot(limits: &SnapshotLimits) -> ForeignFile {
        ForeignFile::Snapshot(limits.bytes, limits.items, limits.manifest)
    }

    fn memory(self, len: u64) -> u64 {
        match self {
            ForeignFile::Zip => MEMORY,
            ForeignFile::Snapshot(..) => MEMORY.saturating_add(len.saturating_mul(2)),
        }
    }
}

/// Reads a snapshot in a jailed process of `program`, `runner` or one like it, before it is
/// imported. [`Engine::check_snapshot`](crate::Engine::check_snapshot) does it with an engine's own.
///
/// ```no_run
/// let file = std::fs::File::open("a.wbs").expect("a snapshot");
/// let limits = wasibox::store::SnapshotLimits::default();
/// wasibox::check_snapshot("/usr/bin/runner".as_ref(), &file, &limits)?;
/// # Ok::<(), wasibox::Error>(())
/// ```
///
/// # Errors
/// If it is not a snapshot, exceeds the limits, or takes too much memory or time.
pub fn check_snapshot(program: &Path, file: &File, limits: &SnapshotLimits) -> Result<(), Error> {
    check_file(program, file, ForeignFile::snapshot(limits))
}

/// Reads a file in a jailed process of `program`.
///
/// # Errors
/// If the file is refused or takes more memory or time than it may, or the process cannot be
/// started.
pub fn check_file(program: &Path, file: &File, kind: ForeignFile) -> Result<(), Error> {
    let len = file.metadata()?.len();
    let memory = kind.memory(len);
    let mut worker = start_worker(program)?;
    worker.limit_memory(memory);
    worker.channel.send(&WorkerRequest::Check(kind, memory), &[file.as_fd()])?;
    let time = TIME + TIME_PER_MB.saturating_mul(u32::try_from(len >> 20).unwrap_or(u32::MAX));
    let too_much = |what: String| Err(Error::Foreign(format!("reading it takes more than {what}")));
    match worker.channel.receive(Some(Instant::now() + time)) {
        Ok(Some((WorkerReply::Checked(None), _))) => Ok(()),
        Ok(Some((WorkerReply::Checked(Some(why)), _))) => {
            Err(Error::Foreign(super::bounds::cut_text(why)))
        }
        Ok(Some((WorkerReply::Failed(fault), _))) => Err(ErrorMessage::cut_texts(fault).into()),
        Ok(Some(_)) => Err(Error::Worker("answered out of order".into())),
        Ok(None) => too_much(format!("{} s", time.as_secs())),
        Err(_) => match worker.end() {
            // The allocator aborts where the limit of the process is reached.
            WorkerEnd::OutOfMemory | WorkerEnd::Signaled(SIGABRT) => {
                too_much(format!("{} MiB of memory", memory >> 20))
            }
            end => Err(Error::Worker(end.to_string())),
        },
    }
}

/// Closes the jail and reads the file, in the process that was started for it. Returns the reason
/// why the file is refused, if it is.
///
/// # Errors
/// If the jail cannot be closed.
pub fn read_in_jail(file: File, kind: ForeignFile, memory: u64) -> Result<Option<String>, Error> {
    let limit = Rlimit { current: Some(memory), maximum: Some(memory) };
    setrlimit(Resource::Data, limit).map_err(std::io::Error::from)?;
    let jail = Jail { read: Vec::new(), write: Vec::new(), code: NewCode::Known(Vec::new()) };
    jail.close().map_err(|e| Error::Refused(e.to_string()))?;
    Ok(match kind {
        ForeignFile::Zip => read_zip(file).err().map(|e| e.to_string()),
        ForeignFile::Snapshot(bytes, items, manifest) => {
            let limits = SnapshotLimits { bytes, items, manifest };
            let objects = MemoryObjects::default();
            wbs::read(BufReader::new(file), &limits, &objects).err().map(|e| e.to_string())
        }
    })
}
