//! Watching directories. Sessions do not report changes as they happen, so a watcher compares the
//! present listing with its last one: changes between two looks become one, and a file that came
//! and went between them is not seen.

use super::ServiceCall;
use super::filesystem::{check_directory, describe, list_entries};
use crate::fault::{Fault, RpcCode, run_blocking};
use crate::record::random_text;
use crate::rpc::filesystem::{
    EVENT_CHMOD, EVENT_CREATE, EVENT_REMOVE, EVENT_WRITE, FilesystemEvent, WatchDirResponse,
    WatchEvent, WatchRequest, WatcherEvents, WatcherId,
};
use crate::rpc::process::Empty;
use crate::rpc::{self, AnswerSender, answer_stream};
use crate::sandbox::RunningBox;
use axum::body::Body;
use axum::http::Response;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wasibox::files::{FileEntry, FileEntryKind};
use wasibox::lock_mutex;
use wasibox_actions::ToolScope;

/// The maximum number of watchers of a sandbox.
const WATCHERS: usize = 64;
/// The interval at which a stream looks for changes.
const LOOK: Duration = Duration::from_millis(250);
/// The number of levels below a directory that is watched recursively.
const DEPTH: u32 = 20;
/// The maximum number of entries of a directory that is watched.
const ENTRIES: usize = 20_000;

/// The watchers of a sandbox whose events are fetched, by number.
#[derive(Default)]
pub struct WatcherTable(Mutex<BTreeMap<String, Arc<Mutex<DirWatcher>>>>);

/// A directory with its last listing.
struct DirWatcher {
    path: String,
    depth: u32,
    has_entries: bool,
    last: BTreeMap<String, FileEntry>,
}

impl DirWatcher {
    fn begin(
        running: &RunningBox,
        path: String,
        asked: &WatchRequest,
    ) -> Result<DirWatcher, Fault> {
        check_directory(running, &path)?;
        let depth = if asked.recursive { DEPTH } else { 1 };
        let mut watcher =
            DirWatcher { path, depth, has_entries: asked.include_entry, last: BTreeMap::new() };
        watcher.last = watcher.look(running)?;
        Ok(watcher)
    }

    fn look(&self, running: &RunningBox) -> Result<BTreeMap<String, FileEntry>, Fault> {
        let entries = list_entries(running, &self.path, self.depth)?;
        if entries.len() > ENTRIES {
            let text = format!("more than {ENTRIES} entries cannot be watched");
            return Err(Fault::new(RpcCode::ResourceExhausted, text));
        }
        Ok(entries.into_iter().collect())
    }

    /// Returns the changes since the last look.
    fn changes(&mut self, running: &RunningBox) -> Result<Vec<FilesystemEvent>, Fault> {
        let now = match self.look(running) {
            Ok(now) => now,
            // The directory itself was removed.
            Err(fault) if fault.code == RpcCode::NotFound => BTreeMap::new(),
            Err(fault) => return Err(fault),
        };
        let before = std::mem::replace(&mut self.last, now);
        let mut events = Vec::new();
        for (name, kind) in compare(&before, &self.last) {
            let entry = match self.last.get(&name).filter(|_| self.has_entries) {
                Some(entry) => describe(running, &format!("{}/{name}", self.path), entry).ok(),
                None => None,
            };
            events.push(FilesystemEvent { name, kind, entry });
        }
        Ok(events)
    }
}

/// Returns the events that lead from one listing to the next: a new file is created, gets its mode
/// and is written, as by an upload.
fn compare(
    before: &BTreeMap<String, FileEntry>,
    now: &BTreeMap<String, FileEntry>,
) -> Vec<(String, i32)> {
    let removed = before.keys().filter(|name| !now.contains_key(*name));
    let mut events: Vec<(String, i32)> = removed.map(|name| (name.clone(), EVENT_REMOVE)).collect();
    for (name, entry) in now {
        let mut add = |kind| events.push((name.clone(), kind));
        match before.get(name) {
            None => {
                add(EVENT_CREATE);
                if entry.kind == FileEntryKind::File && entry.size > 0 {
                    add(EVENT_CHMOD);
                    add(EVENT_WRITE);
                }
            }
            Some(old) if old.kind != entry.kind => {
                add(EVENT_REMOVE);
                add(EVENT_CREATE);
            }
            Some(old) => {
                if old.mode != entry.mode {
                    add(EVENT_CHMOD);
                }
                let is_file = entry.kind == FileEntryKind::File;
                if is_file && (old.size, old.modified) != (entry.size, entry.modified) {
                    add(EVENT_WRITE);
                }
            }
        }
    }
    events
}

async fn begin(call: &ServiceCall, body: Body) -> Result<DirWatcher, Fault> {
    call.check_scope(ToolScope::Read)?;
    let asked: WatchRequest = rpc::read_message(call.form, body).await?;
    let path = call.user.absolute_path(&asked.path)?;
    let running = call.running.clone();
    run_blocking(move || DirWatcher::begin(&running, path, &asked)).await
}

/// `CreateWatcher`.
pub async fn create_watcher(call: &ServiceCall, body: Body) -> Result<WatcherId, Fault> {
    let watcher = begin(call, body).await?;
    let watcher_id = format!("w{}", random_text(16)?);
    let mut all = lock_mutex(&call.running.watchers.0);
    if all.len() >= WATCHERS {
        let text = format!("there are {WATCHERS} watchers already");
        return Err(Fault::new(RpcCode::ResourceExhausted, text));
    }
    all.insert(watcher_id.clone(), Arc::new(Mutex::new(watcher)));
    Ok(WatcherId { watcher_id })
}

/// `GetWatcherEvents`.
pub async fn watcher_events(call: &ServiceCall, body: Body) -> Result<WatcherEvents, Fault> {
    let asked: WatcherId = rpc::read_message(call.form, body).await?;
    let watcher = lock_mutex(&call.running.watchers.0).get(&asked.watcher_id).cloned();
    let watcher = watcher.ok_or_else(|| Fault::missing("there is no such watcher"))?;
    let running = call.running.clone();
    let events = run_blocking(move || lock_mutex(&watcher).changes(&running)).await?;
    Ok(WatcherEvents { events })
}

/// `RemoveWatcher`.
pub async fn remove_watcher(call: &ServiceCall, body: Body) -> Result<Empty, Fault> {
    let asked: WatcherId = rpc::read_message(call.form, body).await?;
    let removed = lock_mutex(&call.running.watchers.0).remove(&asked.watcher_id);
    removed.map(|_| Empty {}).ok_or_else(|| Fault::missing("there is no such watcher"))
}

/// `WatchDir`: streams events until the client disconnects.
pub async fn stream_events(call: ServiceCall, body: Body) -> Response<Body> {
    let form = call.form;
    let timeout = rpc::call_timeout(&call.headers);
    let watcher = match timeout.map(|timeout| (timeout, begin(&call, body))) {
        Ok((timeout, begun)) => begun.await.map(|watcher| (timeout, watcher)),
        Err(fault) => Err(fault),
    };
    let (timeout, watcher) = match watcher {
        Ok(watcher) => watcher,
        Err(fault) => return rpc::answer::<Empty>(form, Err(fault)),
    };
    let (to, response) = answer_stream(form);
    tokio::spawn(async move {
        let gone = call.running.gone.clone();
        let limit = async {
            match timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        let result = tokio::select! {
            result = send_changes(&to, &call, watcher) => result,
            () = to.closed() => return,
            () = gone.cancelled() => return to.break_off().await,
            () = limit => Err(Fault::new(RpcCode::DeadlineExceeded, "the time of watching is over")),
        };
        to.end(result).await;
    });
    response
}

async fn send_changes(
    to: &AnswerSender,
    call: &ServiceCall,
    watcher: DirWatcher,
) -> Result<(), Fault> {
    let event = |event| WatchDirResponse { event: Some(event) };
    to.send(&event(WatchEvent::Start(Empty {}))).await;
    let watcher = Arc::new(Mutex::new(watcher));
    let (keepalive, mut said) = (call.keepalive(), Instant::now());
    loop {
        tokio::time::sleep(LOOK).await;
        let (watcher, running) = (watcher.clone(), call.running.clone());
        let events = run_blocking(move || lock_mutex(&watcher).changes(&running)).await?;
        for change in events {
            said = Instant::now();
            to.send(&event(WatchEvent::Filesystem(Box::new(change)))).await;
        }
        if said.elapsed() >= keepalive {
            said = Instant::now();
            to.send(&event(WatchEvent::Keepalive(Empty {}))).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: FileEntryKind, size: u64, modified: u64) -> FileEntry {
        FileEntry { path: String::new(), kind, size, mode: 0o644, modified, target: None }
    }

    #[test]
    fn listings_become_events() {
        let file = |size, modified| entry(FileEntryKind::File, size, modified);
        let map = |pairs: &[(&str, FileEntry)]| {
            pairs.iter().map(|(name, entry)| ((*name).to_owned(), entry.clone())).collect()
        };
        let before = map(&[("gone", file(1, 1)), ("same", file(1, 1)), ("written", file(1, 1))]);
        let dir = entry(FileEntryKind::Directory, 0, 1);
        let now = map(&[
            ("dir", dir),
            ("new", file(2, 2)),
            ("same", file(1, 1)),
            ("written", file(1, 2)),
        ]);
        let events = compare(&before, &now);
        let events: Vec<(&str, i32)> = events.iter().map(|(name, kind)| (&**name, *kind)).collect();
        let expected = [
            ("gone", EVENT_REMOVE),
            ("dir", EVENT_CREATE),
            ("new", EVENT_CREATE),
            ("new", EVENT_CHMOD),
            ("new", EVENT_WRITE),
            ("written", EVENT_WRITE),
        ];
        assert_eq!(events, expected);
    }
}
