//! Performs operations in a folder of the host.
//!
//! New files are first written to a temporary folder inside it. Once all of them are there, names
//! are removed, and then the new ones are put in place. So a file that was moved in the session is
//! read before it is removed, and a full disk changes nothing. Entries that have changed since the
//! session began are left alone and reported.

use crate::archive::HIDDEN;
use crate::changes::{Operation, OriginalEntry};
use crate::error::WorkspaceError;
use crate::overlay::{Overlay, is_still, mount_folder};
use crate::{leads_out, lossy_path, split_path};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use wasibox_vfs::delta::TreeVersion;
use wasibox_vfs::host::HostMount;
use wasibox_vfs::walk::MAX_NAME;
use wasibox_vfs::{Errno, FileKind, OpenFlags, ProtectedPaths};

/// Maximum number of operations, and of bytes in all of their paths together.
const OPERATIONS: usize = 1_000_000;
const PATHS: usize = 128 << 20;

/// The report of the applied changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApplyReport {
    /// Paths that now match the session.
    pub done: Vec<String>,
    /// Paths that were left unchanged, with the reason.
    pub left: Vec<(String, String)>,
}

/// A step to perform once all files are there.
enum ApplyStep {
    Remove {
        path: Vec<u8>,
        was: OriginalEntry,
    },
    MakeDir {
        path: Vec<u8>,
        mode: u16,
    },
    Link {
        path: Vec<u8>,
        target: Vec<u8>,
        was: OriginalEntry,
    },
    /// Puts the file with that number in place.
    Place {
        path: Vec<u8>,
        file: usize,
        was: OriginalEntry,
    },
    Mode {
        path: Vec<u8>,
        mode: u16,
        was: OriginalEntry,
    },
}

/// A receiver of operations for a folder of the host.
pub struct Applier {
    mount: HostMount,
    steps: Vec<ApplyStep>,
    paths: usize,
    left: u64,
    /// The temporary folder, and the number of files in it.
    staging: Option<Vec<u8>>,
    staged: usize,
    /// The file that receives bytes: its target and its length so far.
    open: Option<(File, Vec<u8>, OriginalEntry, u64)>,
}

impl Overlay {
    /// Applies changes to the host's folder `dir`, which the overlay shows, in one process: all
    /// changes, or those of the `chosen` paths and everything below them.
    ///
    /// # Errors
    /// If files cannot be read or the folder cannot be written. Nothing has changed then.
    pub fn apply_to_folder(
        &self,
        snapshot: &TreeVersion,
        chosen: &[&str],
        dir: &Path,
        protected: &ProtectedPaths,
        most: u64,
    ) -> Result<ApplyReport, WorkspaceError> {
        let mut applier = Applier::new(dir, protected, most)?;
        let left =
            self.emit_operations(snapshot, chosen, most, &mut |op| applier.take_operation(op))?;
        let mut done = applier.finish_steps()?;
        done.left.extend(left.into_iter().map(|(path, why)| (path, why.to_owned())));
        Ok(done)
    }
}

impl Applier {
    /// Makes an applier for the folder `dir`, which writes at most `most` bytes.
    ///
    /// # Errors
    /// If it is not a folder that may be mounted.
    pub fn new(
        dir: &Path,
        protected: &ProtectedPaths,
        most: u64,
    ) -> Result<Applier, WorkspaceError> {
        Ok(Applier {
            mount: mount_folder(dir, true, protected)?,
            steps: Vec::new(),
            paths: 0,
            left: most,
            staging: None,
            staged: 0,
            open: None,
        })
    }

    /// Takes the next operation. Before [`Applier::finish_steps`] only new files are written, in
    /// the temporary folder.
    ///
    /// # Errors
    /// If the operation is invalid, or a file cannot be written. Nothing has changed then.
    pub fn take_operation(&mut self, op: Operation) -> Result<(), WorkspaceError> {
        if self.open.is_some() && !matches!(op, Operation::Bytes(_) | Operation::End) {
            return Err(WorkspaceError::Operations("a file without an end"));
        }
        let step = match op {
            Operation::Remove { path, was } => {
                ApplyStep::Remove { path: self.check_path(path.into_vec())?, was }
            }
            Operation::MakeDir { path, mode } => {
                ApplyStep::MakeDir { path: self.check_path(path.into_vec())?, mode: mode & 0o777 }
            }
            Operation::Mode { path, mode, was } => {
                ApplyStep::Mode { path: self.check_path(path.into_vec())?, mode: mode & 0o777, was }
            }
            Operation::Link { path, target, was } => {
                let (path, target) = (self.check_path(path.into_vec())?, target.into_vec());
                if target.is_empty()
                    || target.contains(&0)
                    || leads_out(split_path(&path).0, &target)
                {
                    return Err(WorkspaceError::Operations("a link that leads out of the folder"));
                }
                ApplyStep::Link { path, target, was }
            }
            Operation::File { path, mode, was } => {
                let path = self.check_path(path.into_vec())?;
                let file = self.stage_file(mode & 0o777)?;
                self.open = Some((file, path, was, 0));
                return Ok(());
            }
            Operation::Bytes(bytes) => {
                self.left = self
                    .left
                    .checked_sub(bytes.len() as u64)
                    .ok_or(WorkspaceError::Operations("more bytes than are allowed"))?;
                let Some((file, path, _, len)) = &mut self.open else {
                    return Err(WorkspaceError::Operations("bytes of no file"));
                };
                *len += bytes.len() as u64;
                let wrong = |e: std::io::Error| WorkspaceError::Host {
                    path: lossy_path(path),
                    errno: e.into(),
                };
                return file.write_all(&bytes).map_err(wrong);
            }
            Operation::End => {
                let Some((file, path, was, _)) = self.open.take() else {
                    return Err(WorkspaceError::Operations("the end of no file"));
                };
                let wrong = |e: std::io::Error| WorkspaceError::Host {
                    path: lossy_path(&path),
                    errno: e.into(),
                };
                file.sync_all().map_err(wrong)?;
                ApplyStep::Place { path, file: self.staged - 1, was }
            }
        };
        self.steps.push(step);
        Ok(())
    }

    /// Checks that a path lies inside the folder, and returns it.
    fn check_path(&mut self, path: Vec<u8>) -> Result<Vec<u8>, WorkspaceError> {
        self.paths += path.len();
        if self.steps.len() >= OPERATIONS || self.paths > PATHS {
            return Err(WorkspaceError::Operations("too many"));
        }
        let plain =
            |p: &[u8]| !matches!(p, b"" | b"." | b"..") && p.len() <= MAX_NAME && !p.contains(&0);
        if path.len() <= 4096 && path.split(|b| *b == b'/').all(plain) {
            Ok(path)
        } else {
            Err(WorkspaceError::Operations("a path outside the folder"))
        }
    }

    /// Makes a new file in the temporary folder.
    fn stage_file(&mut self, mode: u16) -> Result<File, WorkspaceError> {
        let wrong = |errno| WorkspaceError::Host { path: "a temporary file".into(), errno };
        let dir = match &self.staging {
            Some(dir) => dir.clone(),
            None => {
                let mut random = [0; 8];
                getrandom::fill(&mut random).map_err(|_| wrong(Errno::IO))?;
                let name = format!("{HIDDEN}-{:016x}", u64::from_le_bytes(random)).into_bytes();
                self.mount.mkdir(b"", &name, 0o700).map_err(wrong)?;
                self.staging.insert(name).clone()
            }
        };
        let name = self.staged.to_string();
        let how = OpenFlags { write: true, ..OpenFlags::default() };
        let fd = self.mount.create(&dir, name.as_bytes(), how, mode).map_err(wrong)?;
        self.staged += 1;
        Ok(File::from(fd))
    }

    /// Performs the steps: removes names, and puts the new ones in place.
    ///
    /// # Errors
    /// If a file has no end. A step that fails for a path is reported, and the others are done.
    pub fn finish_steps(mut self) -> Result<ApplyReport, WorkspaceError> {
        if self.open.is_some() {
            return Err(WorkspaceError::Operations("a file without an end"));
        }
        let mut out = ApplyReport::default();
        let steps = std::mem::take(&mut self.steps);
        let removals = steps.iter().rev().filter(|s| matches!(s, ApplyStep::Remove { .. }));
        let others = steps
            .iter()
            .filter(|s| !matches!(s, ApplyStep::Remove { .. } | ApplyStep::Mode { .. }));
        let modes = steps.iter().rev().filter(|s| matches!(s, ApplyStep::Mode { .. }));
        for step in removals.chain(others).chain(modes) {
            let (path, done) = self.run_step(step);
            match done {
                Ok(()) => out.done.push(lossy_path(path)),
                Err(why) => out.left.push((lossy_path(path), why)),
            }
        }
        Ok(out)
    }

    fn run_step<'a>(&self, step: &'a ApplyStep) -> (&'a [u8], Result<(), String>) {
        let run = |path: &[u8],
                   was: Option<&OriginalEntry>,
                   act: &dyn Fn(&[u8], &[u8]) -> Result<(), Errno>| {
            if let Some(was) = was {
                is_still(&self.mount, path, was)?;
            }
            let (dir, name) = split_path(path);
            act(dir, name).map_err(|e| errno_words(e).to_owned())
        };
        match step {
            ApplyStep::Remove { path, was } => {
                let act = |dir: &[u8], name: &[u8]| {
                    self.mount.remove(dir, name, *was == OriginalEntry::Dir)
                };
                (path, run(path, Some(was), &act))
            }
            ApplyStep::MakeDir { path, mode } => {
                let act = |dir: &[u8], name: &[u8]| match self.mount.mkdir(dir, name, *mode) {
                    Err(Errno::EXIST) if self.kind_at(path) == Some(FileKind::Dir) => Ok(()),
                    done => done,
                };
                (path, run(path, None, &act))
            }
            ApplyStep::Link { path, target, was } => {
                let act = |dir: &[u8], name: &[u8]| {
                    if *was != OriginalEntry::Nothing {
                        self.mount.remove(dir, name, false)?;
                    }
                    self.mount.symlink(target, dir, name)
                };
                (path, run(path, Some(was), &act))
            }
            ApplyStep::Place { path, file, was } => {
                let act = |dir: &[u8], name: &[u8]| {
                    let staging = self.staging.as_deref().ok_or(Errno::NOENT)?;
                    let number = file.to_string();
                    self.mount.rename((staging, number.as_bytes()), (dir, name))
                };
                (path, run(path, Some(was), &act))
            }
            ApplyStep::Mode { path, mode, was } => {
                let act = |_: &[u8], _: &[u8]| self.mount.chmod(path, *mode);
                (path, run(path, Some(was), &act))
            }
        }
    }

    fn kind_at(&self, path: &[u8]) -> Option<FileKind> {
        self.mount.stat(path).ok().map(|s| s.kind)
    }
}

/// Returns the reason why a step fails for a path.
pub(crate) fn errno_words(e: Errno) -> &'static str {
    match e {
        Errno::NOTEMPTY => "it has files that are not the session's",
        Errno::LOOP => "a symbolic link is on the way",
        e => e.text(),
    }
}

impl Drop for Applier {
    fn drop(&mut self) {
        let Some(dir) = &self.staging else { return };
        for n in 0..self.staged {
            // Files that were put in place are no longer here.
            let _ = self.mount.remove(dir, n.to_string().as_bytes(), false);
        }
        let _ = self.mount.remove(b"", dir, true);
    }
}
