//! The page's requests about the session's history.

use crate::changes;
use crate::history::{self, PageCallNote};
use crate::session;
use serde::Deserialize;
use wasibox_protocol::{Answer, Refusal, Request};
use wasibox_vfs::around::{HOME, ShellSurroundings};

/// A request of the page: one of its own, or one of the protocol.
#[derive(Deserialize)]
#[serde(untagged)]
enum PastRequest {
    Own(OwnRequest),
    Session(Request),
}

/// A request that only pages make.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum OwnRequest {
    /// Returns the shell's directory.
    Directory,
    /// Returns the changes of a commit.
    Changes(u64),
}

/// Performs a request in JSON, and returns its answer as JSON.
pub fn run_request(text: &[u8]) -> Result<Vec<u8>, Refusal> {
    let vfs = session::session_vfs()?;
    let request = serde_json::from_slice(text)?;
    if let PastRequest::Session(request) = &request {
        request.check()?;
    }
    history::with_history(|history| {
        Ok(match request {
            PastRequest::Own(OwnRequest::Changes(number)) => serde_json::to_vec(
                &changes::changes_of(&history.objects, &history.journal_state(), number)?,
            ),
            PastRequest::Own(OwnRequest::Directory) => {
                let cwd = vfs
                    .session_state()
                    .and_then(|state| ShellSurroundings::from_state(&state)?.cwd);
                let cwd = cwd.map_or(HOME.into(), |cwd| String::from_utf8_lossy(&cwd).into_owned());
                serde_json::to_vec(&cwd)
            }
            PastRequest::Session(Request::Reset) => {
                let (command, time) = (b"reset".to_vec(), wasibox_vfs::now_ns());
                let note = PageCallNote { command, time, ..PageCallNote::default() };
                history.reset_cells(vfs, &note)?;
                serde_json::to_vec(&Answer::Done)
            }
            PastRequest::Session(Request::History(request)) => {
                serde_json::to_vec(&history.apply_request(vfs, request)?)
            }
            PastRequest::Session(_) => {
                return Err(Refusal::invalid_request("a page has no such request"));
            }
        }?)
    })
}

/// Exports the session as a snapshot: its current state, or its whole history.
pub fn export_session(all: bool) -> Result<(), Refusal> {
    history::with_history(|history| history.export(all))
}

/// Imports a snapshot into the session, which must be new. With `is_fork` the session becomes a
/// copy of one that continues elsewhere.
pub fn import_session(bytes: &[u8], is_fork: bool) -> Result<(), Refusal> {
    let vfs = session::session_vfs()?;
    history::with_history(|history| history.import(vfs, bytes, is_fork))
}
