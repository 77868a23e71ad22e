//! The session's workspace: a zip, or a host's folder that is left unchanged
//! ([`wasibox_sandbox::Workspace`]).
//!
//! # Division of work
//! The sandbox gets the folder as part of its initial state and only reads it: a zip through a
//! descriptor, a host's folder through its path, opened before the jail closes. The rest happens
//! here: the parent builds its own tree from the session's store, and writes the zip or the host's
//! folder from that tree. So saving needs no worker, and a session that sleeps can be saved as
//! well.
//!
//! # Kept state
//! A session's changes fit only the workspace that it began with. So its store records that
//! workspace in a value ([`KEY`]). For a zip, this is a number that the zip has as well; for a
//! host's folder, it is the original entry at each path that the session has changed
//! ([`OriginalEntry`]). If the workspace no longer matches, the session is refused, because its
//! changes would be mixed with other contents.
//!
//! A zip carries the history as a snapshot (`.wbs`), so the zip alone is enough to continue the
//! session.

use crate::error::{Error, WorkspaceMismatch};
use serde::{Deserialize, Serialize};
use serde_bytes::{ByteBuf, Bytes};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use wasibox_image::Image;
use wasibox_sandbox::{MountSpec, Policy, Workspace, WorkspaceKind};
use wasibox_store::SnapshotLimits;
use wasibox_store::snapshot::{FileTree, MemoryObjects, wbs};
use wasibox_vfs::delta::{Delta, Id, TreeVersion};
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{BaseFile, Budget, ProtectedPaths, Vfs};
use wasibox_workspace::{
    ApplyReport, Archive, Diff, KeepBase, OriginalEntry, Overlay, WorkspaceError, ZipLimits,
    ZipWorkspace, open_zip_file,
};

/// The key of the session's value that identifies its workspace. Guests must not write values that
/// begin with `wasibox.`.
pub const KEY: &[u8] = b"wasibox.workspace";
/// The files of a zip's hidden folder: the history, and the number of its session.
const HISTORY: &str = "history";
const NUMBER: &str = "session";
/// Maximum size in bytes of a history in a zip. Beyond it, only the session's current state is
/// kept, or nothing.
const MAX_HISTORY: u64 = 64 << 20;
/// Maximum size in bytes of the objects of that history, unpacked.
const CARRIED: u64 = 2 << 30;
/// Maximum number of changed paths of a host's folder that are recorded, and their bytes.
const MAX_PATHS: usize = 1_000_000;
const MAX_PATH_BYTES: usize = 32 << 20;
/// Maximum number of paths that an error names.
const NAMED: usize = 5;
/// Maximum size in bytes of the changes as text.
const MAX_DIFF: usize = 64 << 20;

/// The store's record of a session's workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    kind: WorkspaceKind,
    guest: String,
    /// For a zip: the number that identifies it.
    number: [u8; 16],
    /// For a folder: the host's original entries at the paths that the session has changed.
    was: BTreeMap<ByteBuf, OriginalEntry>,
    /// For a folder: whether some of the changes have been applied to it.
    is_applied: bool,
}

impl Marker {
    fn marker_text(&self) -> String {
        let kind = match self.kind {
            WorkspaceKind::Zip => "zip",
            WorkspaceKind::Overlay => "folder of the host",
        };
        format!("{kind} at {}", self.guest)
    }

    fn read_marker(session: &wasibox_store::StoreSession) -> Result<Option<Marker>, Error> {
        let Some(bytes) = session.value(KEY)? else { return Ok(None) };
        Ok(Some(postcard::from_bytes(&bytes).map_err(|_| WorkspaceMismatch::Damaged)?))
    }

    fn keep(&self, session: &wasibox_store::StoreSession) -> Result<(), Error> {
        let bytes = postcard::to_stdvec(self).map_err(|_| WorkspaceMismatch::Damaged)?;
        Ok(session.set_value(KEY, &bytes)?)
    }
}

/// Returns the kind of a stored session's workspace, or `None` if it has none.
///
/// # Errors
/// If the store cannot be read.
pub fn workspace_of(session: &wasibox_store::StoreSession) -> Result<Option<WorkspaceKind>, Error> {
    Ok(Marker::read_marker(session)?.map(|marker| marker.kind))
}

/// Rejects a stored session that has a workspace, for a caller that has none.
pub fn refuse_workspace(session: &wasibox_store::StoreSession) -> Result<(), Error> {
    match Marker::read_marker(session)? {
        Some(marker) => Err(WorkspaceMismatch::Missing(marker.marker_text()).into()),
        None => Ok(()),
    }
}

/// A session's workspace on the parent's side.
pub struct WorkspaceHandle {
    spec: Workspace,
    mounts: Vec<MountSpec>,
    protected: ProtectedPaths,
    host: WorkspaceHost,
    state: Mutex<WorkspaceState>,
}

enum WorkspaceHost {
    /// A zip. The flag says whether the session began with the original folder, which the zip
    /// keeps.
    Zip {
        zip: Box<ZipWorkspace>,
        is_original: bool,
    },
    Overlay,
}

struct WorkspaceState {
    marker: Marker,
    /// Whether the zip has this session's number.
    is_saved: bool,
    left_out: Vec<(String, String)>,
}

/// The descriptors that a worker needs to open a workspace.
#[derive(Default)]
pub struct WorkspaceSource {
    pub zip: Option<File>,
    pub is_original: bool,
}

/// An open workspace on the side where the session runs.
pub struct OpenWorkspace {
    pub base: BaseFile,
    pub overlay: Option<Overlay>,
}

impl OpenWorkspace {
    /// Opens the workspace that the policy names; in a worker, this happens before its jail closes.
    ///
    /// # Errors
    /// If it does not exist, or is not a valid zip.
    pub fn new(
        spec: &Workspace,
        given: WorkspaceSource,
        protected: &ProtectedPaths,
    ) -> Result<OpenWorkspace, WorkspaceError> {
        match (spec.kind, given.zip) {
            (WorkspaceKind::Zip, Some(file)) => {
                let archive = Archive::open(file, &ZipLimits::default())?;
                Ok(OpenWorkspace {
                    base: base_of(&archive, given.is_original, &spec.guest)?,
                    overlay: None,
                })
            }
            (WorkspaceKind::Zip, None) => Err(WorkspaceError::Operations("a zip without a file")),
            (WorkspaceKind::Overlay, _) => OpenWorkspace::overlay(spec, protected),
        }
    }

    fn overlay(
        spec: &Workspace,
        protected: &ProtectedPaths,
    ) -> Result<OpenWorkspace, WorkspaceError> {
        let overlay = Overlay::open(&spec.path, &spec.guest, protected)?;
        Ok(OpenWorkspace { base: overlay.base_folder()?, overlay: Some(overlay) })
    }
}

fn base_of(
    archive: &Arc<Archive>,
    is_original: bool,
    at: &str,
) -> Result<BaseFile, WorkspaceError> {
    if is_original {
        archive.original_folder(at)?.ok_or(WorkspaceError::Operations("a zip without its base"))
    } else {
        archive.base_folder(at)
    }
}

/// Returns the host's original entries at the paths that a delta changes for the first time.
pub fn touched_originals(
    overlay: &Overlay,
    at: &str,
    part: &Delta,
    snapshot: &TreeVersion,
) -> Vec<(ByteBuf, OriginalEntry)> {
    let place: Vec<&[u8]> = at.split('/').filter(|n| !n.is_empty()).map(str::as_bytes).collect();
    let below = |id: &Id| match id {
        Id::Given(names) if names.len() > place.len() => {
            let (top, rest) = names.split_at(place.len());
            let is_below = top.iter().zip(&place).all(|(a, b)| a.as_slice() == *b);
            let rest: Vec<&[u8]> = rest.iter().map(|n| n.as_slice()).collect();
            is_below.then(|| rest.join(&b'/'))
        }
        _ => None,
    };
    let paths = part.nodes.iter().filter_map(|(id, _)| below(id));
    paths.map(|path| (ByteBuf::from(&*path), overlay.original_at(snapshot, &path))).collect()
}

/// Reads all of a zip that its session needs: the directory, the hidden files, and the history.
///
/// # Errors
/// If it is not a valid zip. A damaged history is ignored, because the zip has the files without it.
pub fn read_zip(file: File) -> Result<(), WorkspaceError> {
    let archive = Archive::open(file, &ZipLimits::default())?;
    archive.original_folder(Workspace::GUEST)?;
    let _ = archive.hidden_file(NUMBER, 16);
    if let Ok(Some(history)) = archive.hidden_file(HISTORY, MAX_HISTORY) {
        let _ = wbs::read(&*history, &carried_limits(), &MemoryObjects::default());
    }
    Ok(())
}

/// Returns the limits of a history that a zip carries.
pub fn carried_limits() -> SnapshotLimits {
    SnapshotLimits { bytes: CARRIED, manifest: 32 << 20, ..Default::default() }
}

/// A check of a zip from elsewhere, before this process reads it.
pub type CheckZip<'a> = dyn Fn(&File) -> Result<(), Error> + 'a;

impl WorkspaceHandle {
    /// Opens the workspace of a policy, if it has one. A zip is first passed to `check`.
    ///
    /// # Errors
    /// If it does not exist, is not a valid zip, or is in use by another session.
    pub fn open(
        policy: &Policy,
        protected: ProtectedPaths,
        check: Option<&CheckZip<'_>>,
    ) -> Result<Option<WorkspaceHandle>, Error> {
        let Some(spec) = &policy.workspace else { return Ok(None) };
        let spec = Workspace { path: std::path::absolute(&spec.path)?, ..spec.clone() };
        if let Some(mount) = policy.mounts.iter().find(|m| paths_overlap(&m.guest, &spec.guest)) {
            return Err(WorkspaceMismatch::Overlap(mount.guest.clone()).into());
        }
        let mut number = [0; 16];
        getrandom::fill(&mut number).map_err(|e| io::Error::other(e.to_string()))?;
        let host = match spec.kind {
            WorkspaceKind::Overlay => {
                // The folder is opened once here, so that a failure is reported now and not by the
                // first call.
                Overlay::open(&spec.path, &spec.guest, &protected)?;
                WorkspaceHost::Overlay
            }
            WorkspaceKind::Zip => {
                // A misspelt folder name must not create a zip.
                let is_zip = spec.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("zip"));
                let limits = ZipLimits::default();
                if let Some(check) = check.filter(|_| spec.path.exists()) {
                    check(&open_zip_file(&spec.path)?)?;
                }
                let zip = ZipWorkspace::open(&spec.path, &spec.guest, is_zip, &limits)?;
                WorkspaceHost::Zip { zip: Box::new(zip), is_original: false }
            }
        };
        let marker = Marker {
            kind: spec.kind,
            guest: spec.guest.clone(),
            number,
            was: BTreeMap::new(),
            is_applied: false,
        };
        let state = WorkspaceState { marker, is_saved: false, left_out: Vec::new() };
        let (mounts, state) = (policy.mounts.clone(), Mutex::new(state));
        Ok(Some(WorkspaceHandle { spec, mounts, protected, host, state }))
    }

    fn lock_state(&self) -> MutexGuard<'_, WorkspaceState> {
        lock_mutex(&self.state)
    }

    /// Returns the folder's path in the session.
    pub fn guest_path(&self) -> &str {
        &self.spec.guest
    }

    /// Returns the history that the zip carries, unless another program has changed the zip since.
    ///
    /// # Errors
    /// It never fails: a damaged history counts as missing.
    pub fn carried_history(&self) -> Option<Vec<u8>> {
        self.carried_number()?;
        match &self.host {
            WorkspaceHost::Zip { zip, .. } => zip
                .hidden_file(HISTORY, MAX_HISTORY)
                .ok()
                .flatten()
                .filter(|bytes| !bytes.is_empty()),
            WorkspaceHost::Overlay => None,
        }
    }

    /// Returns the number of the session that the zip carries.
    fn carried_number(&self) -> Option<[u8; 16]> {
        let WorkspaceHost::Zip { zip, .. } = &self.host else { return None };
        zip.original_folder().ok().flatten()?;
        zip.hidden_file(NUMBER, 16).ok().flatten()?.try_into().ok()
    }

    /// Takes a session that was made from the zip's history, and returns whether it belongs to this
    /// zip.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn take_carried(&mut self, session: &wasibox_store::StoreSession) -> Result<bool, Error> {
        let number = self.carried_number();
        // The marker in a zip is as untrusted as any snapshot: an invalid one counts as missing.
        let Ok(Some(marker)) = Marker::read_marker(session) else { return Ok(false) };
        if marker.kind != WorkspaceKind::Zip
            || marker.guest != self.spec.guest
            || Some(marker.number) != number
        {
            return Ok(false);
        }
        self.continue_from(marker);
        Ok(true)
    }

    fn continue_from(&mut self, marker: Marker) {
        if let WorkspaceHost::Zip { is_original, .. } = &mut self.host {
            *is_original = true;
        }
        let mut state = self.lock_state();
        (state.marker, state.is_saved) = (marker, true);
    }

    /// Takes a session in which nothing was done yet.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn take_new(&self, session: &wasibox_store::StoreSession) -> Result<(), Error> {
        self.lock_state().marker.keep(session)
    }

    /// Takes a session of a store.
    ///
    /// # Errors
    /// If the session began with another workspace, or this one no longer matches.
    pub fn take_session(&mut self, session: &wasibox_store::StoreSession) -> Result<(), Error> {
        let Some(marker) = Marker::read_marker(session)? else {
            if session.store().history(session.name())?.len() > 1 {
                return Err(WorkspaceMismatch::Without.into());
            }
            if self.carried_history().is_some() {
                return Err(WorkspaceMismatch::CarriesOne.into());
            }
            return self.take_new(session);
        };
        if marker.kind != self.spec.kind || marker.guest != self.spec.guest {
            return Err(WorkspaceMismatch::Other(marker.marker_text()).into());
        }
        if let WorkspaceHost::Zip { zip, .. } = &self.host {
            let theirs: Option<[u8; 16]> =
                zip.hidden_file(NUMBER, 16).ok().flatten().and_then(|n| n.try_into().ok());
            if theirs != Some(marker.number) {
                // A session that was never saved fits any zip.
                if theirs.is_none() && session.store().history(session.name())?.len() == 1 {
                    self.lock_state().marker = marker;
                    return Ok(());
                }
                return Err(WorkspaceMismatch::Other(marker.marker_text()).into());
            }
            if zip.original_folder()?.is_none() {
                return Err(WorkspaceMismatch::Rewritten.into());
            }
        }
        self.continue_from(marker);
        Ok(())
    }

    /// Checks that the host's folder still has its original entries at the paths that the session
    /// has changed.
    ///
    /// # Errors
    /// If it is not; the error names some of the paths.
    pub fn check_host(&self) -> Result<(), Error> {
        if self.lock_state().marker.is_applied {
            return Err(WorkspaceMismatch::Applied.into());
        }
        self.check_others()
    }

    fn check_others(&self) -> Result<(), Error> {
        if !matches!(self.host, WorkspaceHost::Overlay) {
            return Ok(());
        }
        let overlay = Overlay::open(&self.spec.path, &self.spec.guest, &self.protected)?;
        let state = self.lock_state();
        let (mut named, mut more) = (Vec::new(), 0);
        for (path, was) in &state.marker.was {
            let Some(why) = overlay.changed_since(path, was) else { continue };
            if named.len() < NAMED {
                named.push(format!("{} ({why})", String::from_utf8_lossy(path)))
            } else {
                more += 1
            }
        }
        if named.is_empty() {
            return Ok(());
        }
        if more > 0 {
            named.push(format!("and {more} more"));
        }
        Err(WorkspaceMismatch::Changed(named.join(", ")).into())
    }

    /// Returns the descriptors that a worker needs to open the workspace.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn worker_source(&self) -> Result<WorkspaceSource, Error> {
        match &self.host {
            WorkspaceHost::Overlay => Ok(WorkspaceSource::default()),
            WorkspaceHost::Zip { zip, is_original } => Ok(WorkspaceSource {
                zip: Some(zip.archive().reopen_file()?),
                is_original: *is_original,
            }),
        }
    }

    /// Opens the workspace for a sandbox in this process.
    ///
    /// # Errors
    /// If the folder is gone.
    pub fn open_here(&self) -> Result<OpenWorkspace, Error> {
        Ok(match &self.host {
            WorkspaceHost::Overlay => OpenWorkspace::overlay(&self.spec, &self.protected)?,
            WorkspaceHost::Zip { zip, is_original } => OpenWorkspace {
                base: base_of(zip.archive(), *is_original, &self.spec.guest)?,
                overlay: None,
            },
        })
    }

    /// Records the host's original entries that a call has touched, before the call's changes are
    /// kept.
    ///
    /// # Errors
    /// If there are too many, or the store cannot be written.
    pub fn note_originals(
        &self,
        session: &wasibox_store::StoreSession,
        touched: Vec<(ByteBuf, OriginalEntry)>,
    ) -> Result<(), Error> {
        let mut state = self.lock_state();
        let before = state.marker.was.len();
        for (path, was) in touched {
            state.marker.was.entry(path).or_insert(was);
        }
        let all = &state.marker.was;
        if all.len() == before {
            return Ok(());
        }
        if all.len() > MAX_PATHS || all.keys().map(|p| p.len()).sum::<usize>() > MAX_PATH_BYTES {
            return Err(Error::Worker("changed more of the folder than can be kept".into()));
        }
        state.marker.keep(session)
    }

    /// Returns the session's file tree as its store keeps it.
    fn session_tree(
        &self,
        image: &Arc<Image>,
        policy: &Policy,
        session: &wasibox_store::StoreSession,
        is_elsewhere: bool,
    ) -> Result<(TreeVersion, Option<Overlay>), Error> {
        let OpenWorkspace { base, overlay } = self.open_here()?;
        let base = wasibox_sandbox::image_files(image)?.into_iter().chain([base]);
        let disk = policy.limits.disk;
        let budget = Budget::new(policy.limits.memory.saturating_add(disk.bytes));
        let vfs = Vfs::new(base, &self.mounts, disk, budget, &self.protected)
            .map_err(WorkspaceError::from)?;
        let files = session.state().files;
        session.changes(&FileTree::default(), &files, &mut |part| {
            let done = if is_elsewhere {
                vfs.restore_elsewhere(part, &mut Vec::new())
            } else {
                vfs.restore_delta(part)
            };
            done.map_err(|e| Error::Refused(format!("the session's state does not fit: {e}")))
        })?;
        Ok((vfs.tree_version(), overlay))
    }

    /// Returns whether the zip has the session's number.
    pub fn is_saved(&self) -> bool {
        matches!(self.host, WorkspaceHost::Overlay) || self.lock_state().is_saved
    }

    /// Replaces a zip by the folder's current contents.
    ///
    /// # Errors
    /// If it cannot be written, or another program has changed it; the zip is then unchanged.
    pub fn save_zip(
        &self,
        image: &Arc<Image>,
        policy: &Policy,
        session: &wasibox_store::StoreSession,
        is_elsewhere: bool,
    ) -> Result<(), Error> {
        let WorkspaceHost::Zip { zip, is_original } = &self.host else { return Ok(()) };
        let (snapshot, _none) = self.session_tree(image, policy, session, is_elsewhere)?;
        let number = self.lock_state().marker.number;
        let mut hidden: Vec<(&str, &[u8])> = vec![(NUMBER, &number)];
        let history = history_of(session)?;
        // Without a history, a later session begins with the zip's files.
        hidden.push((HISTORY, history.as_deref().unwrap_or_default()));
        let keep = if *is_original { KeepBase::Original } else { KeepBase::Present };
        let saved = zip.save_snapshot(&snapshot, &hidden, keep)?;
        let mut state = self.lock_state();
        state.is_saved = true;
        state.left_out =
            saved.left_out.into_iter().map(|(path, why)| (path, why.to_owned())).collect();
        Ok(())
    }

    /// Returns the paths that the zip format could not represent at the last save, each with the
    /// reason.
    pub fn left_out(&self) -> Vec<(String, String)> {
        self.lock_state().left_out.clone()
    }

    /// Returns the session's changes to the host's folder in git's diff format.
    ///
    /// # Errors
    /// If the workspace is not a folder, or the folder no longer matches.
    pub fn diff_text(
        &self,
        image: &Arc<Image>,
        policy: &Policy,
        session: &wasibox_store::StoreSession,
        chosen: &[&str],
    ) -> Result<Diff, Error> {
        let (snapshot, overlay) = self.overlay_parts(image, policy, session)?;
        Ok(overlay.diff_text(&snapshot, chosen, MAX_DIFF)?)
    }

    /// Applies the session's changes to the host's folder.
    ///
    /// # Errors
    /// The same as [`WorkspaceHandle::diff_text`]. If something cannot be written, nothing is
    /// changed.
    pub fn apply_changes(
        &self,
        image: &Arc<Image>,
        policy: &Policy,
        session: &wasibox_store::StoreSession,
        chosen: &[&str],
    ) -> Result<ApplyReport, Error> {
        let (snapshot, overlay) = self.overlay_parts(image, policy, session)?;
        let most = policy.limits.disk.bytes;
        let before = self.lock_state().marker.clone();
        // This is recorded before the changes are made, because a session that continues by mistake
        // does more harm than one that is refused by mistake.
        let begun = Marker { is_applied: true, ..before.clone() };
        begun.keep(session)?;
        let done =
            overlay.apply_to_folder(&snapshot, chosen, &self.spec.path, &self.protected, most);
        let mut after = begun;
        match &done {
            Ok(done) if !done.done.is_empty() => {
                done.done
                    .iter()
                    .for_each(|path| drop(after.was.remove(Bytes::new(path.as_bytes()))));
            }
            _ => after = before,
        }
        after.keep(session)?;
        self.lock_state().marker = after;
        Ok(done?)
    }

    fn overlay_parts(
        &self,
        image: &Arc<Image>,
        policy: &Policy,
        session: &wasibox_store::StoreSession,
    ) -> Result<(TreeVersion, Overlay), Error> {
        if !matches!(self.host, WorkspaceHost::Overlay) {
            return Err(WorkspaceMismatch::NoOverlay.into());
        }
        self.check_others()?;
        let (snapshot, overlay) =
            self.session_tree(image, policy, session, false).map_err(|e| match e {
                // The removed original entries no longer have names in the host's folder.
                Error::Refused(_) if self.lock_state().marker.is_applied => {
                    WorkspaceMismatch::Applied.into()
                }
                e => e,
            })?;
        Ok((snapshot, overlay.ok_or(WorkspaceMismatch::NoOverlay)?))
    }
}

/// Returns whether one guest path equals the other, or lies inside it.
fn paths_overlap(a: &str, b: &str) -> bool {
    let parts = |p: &str| -> Vec<String> {
        p.split('/').filter(|n| !n.is_empty()).map(str::to_owned).collect()
    };
    let (a, b) = (parts(a), parts(b));
    a.starts_with(&b) || b.starts_with(&a)
}

/// Returns the session as a snapshot: with its whole history or, if that is too long, with its
/// current state only. `None` if both are too long.
fn history_of(session: &wasibox_store::StoreSession) -> Result<Option<Vec<u8>>, Error> {
    for all in [true, false] {
        let mut out = HistoryBuffer { bytes: Vec::new(), is_over: false };
        match session.store().export(session.name(), all, &mut out) {
            Ok(()) => return Ok(Some(out.bytes)),
            Err(_) if out.is_over => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(None)
}

/// A buffer of up to [`MAX_HISTORY`] bytes.
struct HistoryBuffer {
    bytes: Vec<u8>,
    is_over: bool,
}

impl Write for HistoryBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + bytes.len()) as u64 > MAX_HISTORY {
            self.is_over = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::paths_overlap;

    #[test]
    fn places_that_overlap() {
        for (a, b, is) in [
            ("/work", "/work", true),
            ("/work/", "/work", true),
            ("/work/a", "/work", true),
            ("/work", "/work/a", true),
            ("/workshop", "/work", false),
            ("/data", "/work", false),
        ] {
            assert_eq!(paths_overlap(a, b), is, "{a} {b}");
        }
    }
}
