//! The calls of the service for files.

use super::ServiceCall;
use super::paths::{clean_path, name_of, parent_of};
use super::watch;
use crate::fault::{Fault, RpcCode, run_blocking};
use crate::rpc;
use crate::rpc::filesystem::{
    EntryInfo, EntryResponse, ListDirRequest, ListDirResponse, MoveRequest, PathRequest,
    TYPE_DIRECTORY, TYPE_FILE, TYPE_SYMLINK, Timestamp,
};
use crate::rpc::process::Empty;
use crate::sandbox::RunningBox;
use axum::body::Body;
use axum::http::Response;
use std::sync::Arc;
use wasibox::files::{Answer, FileEntry, FileEntryKind, LsOf, Request};
use wasibox_actions::{Refusal, RefusalKind, ToolScope};

/// The maximum number of entries of a listing.
const ENTRIES: u64 = 100_000;
/// The longest chain of symbolic links.
const LINKS: usize = 40;
/// The size that a directory is said to have, as that of ext4.
const DIRECTORY_SIZE: i64 = 4096;

/// Answers a call of the service.
pub async fn answer(call: ServiceCall, method: &str, body: Body) -> Response<Body> {
    let form = call.form;
    match method {
        "Stat" => rpc::answer(form, stat(&call, body).await),
        "ListDir" => rpc::answer(form, list_dir(&call, body).await),
        "MakeDir" => rpc::answer(form, make_dir(&call, body).await),
        "Move" => rpc::answer(form, move_path(&call, body).await),
        "Remove" => rpc::answer(form, remove(&call, body).await),
        "WatchDir" => watch::stream_events(call, body).await,
        "CreateWatcher" => rpc::answer(form, watch::create_watcher(&call, body).await),
        "GetWatcherEvents" => rpc::answer(form, watch::watcher_events(&call, body).await),
        "RemoveWatcher" => rpc::answer(form, watch::remove_watcher(&call, body).await),
        _ => {
            rpc::answer::<Empty>(form, Err(Fault::unimplemented("the service has no such method")))
        }
    }
}

/// Returns the entry of a path, or `None` if there is nothing.
pub fn look_at(running: &RunningBox, path: &str, follow: bool) -> Result<Option<FileEntry>, Fault> {
    let asked = Request::Stat { path: path.to_owned(), follow };
    match running.session.files(&asked) {
        Ok(Answer::Stat(entry)) => Ok(Some(entry)),
        Ok(_) => Err(Fault::internal()),
        Err(e) => {
            let refusal = Refusal::from(e);
            let missing = refusal.kind == RefusalKind::Missing
                || matches!(refusal.code.as_deref(), Some("ENOENT" | "ENOTDIR"));
            if missing { Ok(None) } else { Err(refusal.into()) }
        }
    }
}

/// Describes an entry. A symbolic link is described as its target.
pub fn describe(running: &RunningBox, path: &str, entry: &FileEntry) -> Result<EntryInfo, Fault> {
    let mut target = None;
    let mut last = entry.clone();
    if entry.kind == FileEntryKind::Symlink {
        let mut at = path.to_owned();
        for _ in 0..LINKS {
            let Some(to) = &last.target else { break };
            at = clean_path(&if to.starts_with('/') {
                to.clone()
            } else {
                format!("{}/{to}", parent_of(&at))
            });
            match look_at(running, &at, false)? {
                Some(next) => last = next,
                None => break,
            }
            if last.kind != FileEntryKind::Symlink {
                break;
            }
        }
        target = Some(at);
    }
    let kind = match last.kind {
        FileEntryKind::Directory => TYPE_DIRECTORY,
        FileEntryKind::File => TYPE_FILE,
        FileEntryKind::Symlink => TYPE_SYMLINK,
        FileEntryKind::Fifo | FileEntryKind::Socket | FileEntryKind::Device => 0,
    };
    Ok(EntryInfo {
        name: name_of(path).to_owned(),
        kind,
        path: path.to_owned(),
        size: if kind == TYPE_DIRECTORY { DIRECTORY_SIZE } else { last.size as i64 },
        mode: u32::from(last.mode),
        permissions: permission_text(entry.kind, last.mode),
        owner: "user".into(),
        group: "user".into(),
        modified_time: Some(Timestamp::from_ns(last.modified)),
        symlink_target: target,
        metadata: running.file_metadata.of(path),
    })
}

/// Writes a mode as `ls -l` does.
fn permission_text(kind: FileEntryKind, mode: u16) -> String {
    let first = match kind {
        FileEntryKind::Directory => 'd',
        FileEntryKind::Symlink => 'L',
        FileEntryKind::Fifo => 'p',
        FileEntryKind::Socket => 'S',
        FileEntryKind::Device => 'D',
        FileEntryKind::File => '-',
    };
    let bit =
        |n: u16| if mode & (1 << (8 - n)) != 0 { ['r', 'w', 'x'][usize::from(n % 3)] } else { '-' };
    std::iter::once(first).chain((0..9).map(bit)).collect()
}

/// Describes the entry of a path that must exist.
pub fn describe_path(running: &RunningBox, path: &str) -> Result<EntryInfo, Fault> {
    let entry = look_at(running, path, false)?;
    let entry = entry.ok_or_else(|| Fault::missing(format!("file not found: {path}")))?;
    describe(running, path, &entry)
}

async fn stat(call: &ServiceCall, body: Body) -> Result<EntryResponse, Fault> {
    call.check_scope(ToolScope::Read)?;
    let asked: PathRequest = rpc::read_message(call.form, body).await?;
    let path = call.user.absolute_path(&asked.path)?;
    let running = call.running.clone();
    let entry = run_blocking(move || describe_path(&running, &path)).await?;
    Ok(EntryResponse { entry: Some(entry) })
}

/// Lists a directory, the entries of each directory after it, sorted by name.
pub fn list_entries(
    running: &RunningBox,
    path: &str,
    depth: u32,
) -> Result<Vec<(String, FileEntry)>, Fault> {
    let asked = LsOf {
        path: path.to_owned(),
        depth: Some(depth),
        hidden: true,
        offset: 0,
        limit: Some(ENTRIES),
    };
    let Answer::Entries { entries, .. } = running.session.files(&Request::Ls(asked))? else {
        return Err(Fault::internal());
    };
    Ok(entries.into_iter().map(|entry| (entry.path.clone(), entry)).collect())
}

/// Checks that a path is a directory.
pub fn check_directory(running: &RunningBox, path: &str) -> Result<(), Fault> {
    match look_at(running, path, true)? {
        None => Err(Fault::missing(format!("directory not found: {path}"))),
        Some(entry) if entry.kind == FileEntryKind::Directory => Ok(()),
        Some(_) => Err(Fault::invalid(format!("path is not a directory: {path}"))),
    }
}

async fn list_dir(call: &ServiceCall, body: Body) -> Result<ListDirResponse, Fault> {
    call.check_scope(ToolScope::Read)?;
    let asked: ListDirRequest = rpc::read_message(call.form, body).await?;
    let path = call.user.absolute_path(&asked.path)?;
    let running = call.running.clone();
    let entries = run_blocking(move || {
        check_directory(&running, &path)?;
        let above = if path == "/" { "" } else { &*path };
        let entries = list_entries(&running, &path, asked.depth.max(1))?;
        let describe = |(name, entry): &(String, FileEntry)| {
            describe(&running, &format!("{above}/{name}"), entry)
        };
        entries.iter().map(describe).collect::<Result<Vec<_>, _>>()
    });
    Ok(ListDirResponse { entries: entries.await? })
}

/// Makes a directory and those above it.
pub fn make_all(running: &RunningBox, path: &str) -> Result<(), Fault> {
    running.session.files(&Request::MakeDir { path: path.to_owned() })?;
    Ok(())
}

async fn make_dir(call: &ServiceCall, body: Body) -> Result<EntryResponse, Fault> {
    call.check_scope(ToolScope::Write)?;
    let asked: PathRequest = rpc::read_message(call.form, body).await?;
    let path = call.user.absolute_path(&asked.path)?;
    let running = call.running.clone();
    let entry = run_blocking(move || {
        match look_at(&running, &path, true)? {
            Some(entry) if entry.kind == FileEntryKind::Directory => {
                let text = format!("directory already exists: {path}");
                return Err(Fault::new(RpcCode::AlreadyExists, text));
            }
            Some(_) => {
                let text = format!("path already exists but it is not a directory: {path}");
                return Err(Fault::invalid(text));
            }
            None => make_all(&running, &path)?,
        }
        describe_path(&running, &path)
    });
    Ok(EntryResponse { entry: Some(entry.await?) })
}

async fn move_path(call: &ServiceCall, body: Body) -> Result<EntryResponse, Fault> {
    call.check_scope(ToolScope::Write)?;
    let asked: MoveRequest = rpc::read_message(call.form, body).await?;
    let from = call.user.absolute_path(&asked.source)?;
    let to = call.user.absolute_path(&asked.destination)?;
    let running = call.running.clone();
    let entry = run_blocking(move || {
        if look_at(&running, &from, false)?.is_none() {
            return Err(Fault::missing(format!("source file not found: {from}")));
        }
        make_all(&running, parent_of(&to))?;
        running.session.files(&Request::Move { from: from.clone(), to: to.clone() })?;
        running.file_metadata.move_path(&running.session, &from, &to)?;
        describe_path(&running, &to)
    });
    Ok(EntryResponse { entry: Some(entry.await?) })
}

async fn remove(call: &ServiceCall, body: Body) -> Result<Empty, Fault> {
    call.check_scope(ToolScope::Write)?;
    let asked: PathRequest = rpc::read_message(call.form, body).await?;
    let path = call.user.absolute_path(&asked.path)?;
    let running: Arc<RunningBox> = call.running.clone();
    run_blocking(move || {
        // A missing entry need not be removed.
        if look_at(&running, &path, false)?.is_some() {
            running.session.files(&Request::Delete { path: path.clone(), recursive: true })?;
            running.file_metadata.forget_path(&running.session, &path)?;
        }
        Ok(())
    })
    .await?;
    Ok(Empty {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_written_as_go_does() {
        assert_eq!(permission_text(FileEntryKind::File, 0o644), "-rw-r--r--");
        assert_eq!(permission_text(FileEntryKind::Directory, 0o755), "drwxr-xr-x");
        assert_eq!(permission_text(FileEntryKind::File, 0o007), "-------rwx");
    }
}
