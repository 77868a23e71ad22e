//! The folder of a session that is a zip, or a host's folder that stays as it is ([`wasibox_sandbox::Workspace`]).
//!
//! # Who does what
//! What runs the session gets the folder as a part of what it begins with, and only reads: a zip by a descriptor, a
//! host's folder by its path, opened before the jail closes. All else is done here: the parent makes a tree of its own of
//! what the session's store has, and writes the zip or the host's folder from that. So a worker is asked for nothing,
//! and a session that sleeps can be saved, too.
//!
//! # What is kept
//! A session's changes fit what it began with. So its store knows by a value ([`KEY`]) which workspace that was: of a
//! zip a number, which is in the zip, too; of a host's folder what was there at each path that the session has changed
//! ([`OriginalEntry`]). If that is not so any more, the session is refused: what it has would be mixed with something else.
//!
//! A zip has the history, as a snapshot (`.wbs`): whoever has the zip has the session.

use crate::session::Error;
use serde::{Deserialize, Serialize};
use serde_bytes::{ByteBuf, Bytes};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use wasibox_image::Image;
use wasibox_sandbox::{MountSpec, Policy, Workspace, WorkspaceKind};
use wasibox_store::snapshot::FileTree;
use wasibox_vfs::delta::{Delta, Id, TreeVersion};
use wasibox_vfs::{BaseFile, Budget, ProtectedPaths, Vfs};
use wasibox_workspace::{
    ApplyReport, Archive, Diff, KeepBase, OriginalEntry, Overlay, WorkspaceError, ZipLimits,
    ZipWorkspace,
};

/// The session's value that says which workspace it has. Guests must not write values that begin with `wasibox.`.
pub const KEY: &[u8] = b"wasibox.workspace";
/// Files of a zip's hidden folder: the history, and the number of its session.
const HISTORY: &str = "history";
const NUMBER: &str = "session";
/// Most bytes of a history in a zip: with more, only what the session is now is kept, or nothing.
const MAX_HISTORY: u64 = 64 << 20;
/// Changed paths of a host's folder that are known, and bytes of them.
const MAX_PATHS: usize = 1_000_000;
const MAX_PATH_BYTES: usize = 32 << 20;
/// Paths that an error names.
const NAMED: usize = 5;
/// Most bytes of changes as text.
const MAX_DIFF: usize = 64 << 20;

/// Why a session and a workspace do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkspaceMismatch {
    #[error("the session works in a {0}, which is not given")]
    Missing(String),
    #[error("the session was begun without a workspace; make a new one")]
    Without,
    #[error("the session works in a {0}; this is another one")]
    Other(String),
    #[error("the zip carries a session of its own: make one of it (`session create --workspace`)")]
    CarriesOne,
    #[error(
        "the zip was changed by another program since the session worked in it; make a new one"
    )]
    Rewritten,
    #[error("the folder was changed since the session began, where that has changed it, too: {0}")]
    Changed(String),
    #[error("changes of the session were brought back to the folder; make a new one to go on")]
    Applied,
    #[error("what the session's store knows of its workspace makes no sense")]
    Damaged,
    #[error("a session with a workspace is not forked while it is used")]
    Fork,
    #[error("the session has no folder of the host's")]
    NoOverlay,
    #[error("only a session of an engine has a workspace")]
    NoEngine,
    #[error("a mount and the workspace overlap: {0}")]
    Overlap(String),
}

/// What a store knows of a session's workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    kind: WorkspaceKind,
    guest: String,
    /// Of a zip: which one.
    number: [u8; 16],
    /// Of a folder: what the host had where the session has changed something.
    was: BTreeMap<ByteBuf, OriginalEntry>,
    /// Of a folder: some of the changes are there.
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

/// What kind of workspace a session of a store has, if it has one.
///
/// # Errors
/// If the store cannot be read.
pub fn workspace_of(session: &wasibox_store::StoreSession) -> Result<Option<WorkspaceKind>, Error> {
    Ok(Marker::read_marker(session)?.map(|marker| marker.kind))
}

/// Refuses a session that has a workspace, for one who has none.
pub fn refuse_workspace(session: &wasibox_store::StoreSession) -> Result<(), Error> {
    match Marker::read_marker(session)? {
        Some(marker) => Err(WorkspaceMismatch::Missing(marker.marker_text()).into()),
        None => Ok(()),
    }
}

/// A workspace that a session has, on the parent's side.
pub struct WorkspaceHandle {
    spec: Workspace,
    mounts: Vec<MountSpec>,
    protected: ProtectedPaths,
    host: WorkspaceHost,
    state: Mutex<WorkspaceState>,
}

enum WorkspaceHost {
    /// Whether the session began with what the zip has kept of a first one.
    Zip {
        zip: Box<ZipWorkspace>,
        is_original: bool,
    },
    Overlay,
}

struct WorkspaceState {
    marker: Marker,
    /// The zip has this session's number.
    is_saved: bool,
    left_out: Vec<(String, String)>,
}

/// What a worker needs to open a workspace.
#[derive(Default)]
pub struct WorkspaceSource {
    pub zip: Option<File>,
    pub is_original: bool,
}

/// A workspace that is open where the session runs.
pub struct OpenWorkspace {
    pub base: BaseFile,
    pub overlay: Option<Overlay>,
}

impl OpenWorkspace {
    /// Opens what the policy says: in a worker, before its jail closes.
    ///
    /// # Errors
    /// If it is not there, or no good zip.
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
    match is_original {
        true => {
            archive.original_folder(at)?.ok_or(WorkspaceError::Operations("a zip without its base"))
        }
        false => archive.base_folder(at),
    }
}

/// What the host had where a part of a session's changes changes the folder, for the first of them.
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

impl WorkspaceHandle {
    /// Opens the workspace of a policy, if it has one.
    ///
    /// # Errors
    /// If it is not there, is no good zip, or another session has it.
    pub fn open(
        policy: &Policy,
        protected: ProtectedPaths,
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
                // Whether it can be opened is better known now than at the first call.
                Overlay::open(&spec.path, &spec.guest, &protected)?;
                WorkspaceHost::Overlay
            }
            WorkspaceKind::Zip => {
                // A folder's name with a mistake in it must not become a zip.
                let is_zip = spec.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("zip"));
                let limits = ZipLimits::default();
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
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Where the folder is in the session.
    pub fn guest_path(&self) -> &str {
        &self.spec.guest
    }

    /// The history that the zip carries, if nobody else has changed the zip since.
    ///
    /// # Errors
    /// None: what is damaged is as none.
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

    /// The number of the session that the zip carries.
    fn carried_number(&self) -> Option<[u8; 16]> {
        let WorkspaceHost::Zip { zip, .. } = &self.host else { return None };
        zip.original_folder().ok().flatten()?;
        zip.hidden_file(NUMBER, 16).ok().flatten()?.try_into().ok()
    }

    /// Takes a session that was made of the zip's history; whether it is of this zip.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn take_carried(&mut self, session: &wasibox_store::StoreSession) -> Result<bool, Error> {
        let number = self.carried_number();
        // What a stranger's zip says of itself is as a stranger's snapshot: if it makes no sense, it is none.
        let Ok(Some(marker)) = Marker::read_marker(session) else { return Ok(false) };
        if marker.kind != WorkspaceKind::Zip
            || marker.guest != self.spec.guest
            || Some(marker.number) != number
        {
            return Ok(false);
        }
        self.go_on(marker);
        Ok(true)
    }

    fn go_on(&mut self, marker: Marker) {
        if let WorkspaceHost::Zip { is_original, .. } = &mut self.host {
            *is_original = true;
        }
        let mut state = self.lock_state();
        (state.marker, state.is_saved) = (marker, true);
    }

    /// Takes a session in which nothing was done.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn take_new(&self, session: &wasibox_store::StoreSession) -> Result<(), Error> {
        self.lock_state().marker.keep(session)
    }

    /// Takes a session of a store.
    ///
    /// # Errors
    /// If the session was begun with another workspace, or this one is not any more what it was.
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
                // One that was never saved to is any zip.
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
        self.go_on(marker);
        Ok(())
    }

    /// Refuses to go on where the host's folder is not what the session has changed.
    ///
    /// # Errors
    /// If so, with some of the paths.
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
            match named.len() < NAMED {
                true => named.push(format!("{} ({why})", String::from_utf8_lossy(path))),
                false => more += 1,
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

    /// What a worker needs to open it.
    ///
    /// # Errors
    /// If the system has no more descriptors.
    pub fn worker_source(&self) -> Result<WorkspaceSource, Error> {
        match &self.host {
            WorkspaceHost::Overlay => Ok(WorkspaceSource::default()),
            WorkspaceHost::Zip { zip, is_original } => Ok(WorkspaceSource {
                zip: Some(zip.archive().reopen_file()?),
                is_original: *is_original,
            }),
        }
    }

    /// The workspace for a sandbox in this process.
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

    /// Keeps in mind what the host had where a call has changed something, before that is kept.
    ///
    /// # Errors
    /// If it is too much, or the store cannot be written.
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

    /// The session's files as its store has them.
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
            let done = match is_elsewhere {
                true => vfs.restore_elsewhere(part, &mut Vec::new()),
                false => vfs.restore_delta(part),
            };
            done.map_err(|e| Error::Refused(format!("the session's state does not fit: {e}")))
        })?;
        Ok((vfs.tree_version(), overlay))
    }

    /// Whether the zip has the session's number.
    pub fn is_saved(&self) -> bool {
        matches!(self.host, WorkspaceHost::Overlay) || self.lock_state().is_saved
    }

    /// Replaces a zip by what the folder is now.
    ///
    /// # Errors
    /// If it cannot be written, or another program has changed it: it is as it was.
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
        // Without one, a later session begins with what the zip has.
        hidden.push((HISTORY, history.as_deref().unwrap_or_default()));
        let keep = match is_original {
            true => KeepBase::Original,
            false => KeepBase::Present,
        };
        let saved = zip.save_snapshot(&snapshot, &hidden, keep)?;
        let mut state = self.lock_state();
        state.is_saved = true;
        state.left_out =
            saved.left_out.into_iter().map(|(path, why)| (path, why.to_owned())).collect();
        Ok(())
    }

    /// Paths that the zip has no words for, and why, as it was saved last.
    pub fn left_out(&self) -> Vec<(String, String)> {
        self.lock_state().left_out.clone()
    }

    /// What the session has changed of the host's folder, as git writes it.
    ///
    /// # Errors
    /// If it is none, or is not any more what it was.
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

    /// Brings what the session has changed back to the host's folder.
    ///
    /// # Errors
    /// As [`Held::diff`]; if something cannot be written, and then nothing has changed.
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
        // Said first: a session that goes on by mistake is worse than one that does not.
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
                // What was removed there cannot be named any more.
                Error::Refused(_) if self.lock_state().marker.is_applied => {
                    WorkspaceMismatch::Applied.into()
                }
                e => e,
            })?;
        Ok((snapshot, overlay.ok_or(WorkspaceMismatch::NoOverlay)?))
    }
}

/// Whether one path of the guest is the other one, or lies in it.
fn paths_overlap(a: &str, b: &str) -> bool {
    let parts = |p: &str| -> Vec<String> {
        p.split('/').filter(|n| !n.is_empty()).map(str::to_owned).collect()
    };
    let (a, b) = (parts(a), parts(b));
    a.starts_with(&b) || b.starts_with(&a)
}

/// The session as a snapshot: with all its history, else what it is now, if that is short enough.
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

/// Bytes up to [`MAX_HISTORY`].
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
