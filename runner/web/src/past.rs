//! The page's requests about the session's history.

use crate::changes;
use crate::history::{self, PageCallNote};
use crate::outcome::{FailureKind, PageFailure};
use crate::session;
use serde::Deserialize;
use serde_json::{Value, json};
use wasibox_vfs::around::{HOME, ShellSurroundings};

/// A request of the page about the history, as JSON.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PastRequest {
    History,
    Tags,
    Directory,
    Undo,
    Redo,
    Restore(u64),
    Tag(String, u64),
    /// Returns the changes of a commit.
    Changes(u64),
    /// Ends the interpreters.
    Reset,
}

/// Performs a request, and returns its answer as JSON.
pub fn run_request(text: &[u8]) -> Result<Vec<u8>, PageFailure> {
    let asked =
        serde_json::from_slice(text).map_err(|e| PageFailure::new(FailureKind::Invalid, e))?;
    let vfs = session::session_vfs()?;
    let answer: Value = history::with_history(|history| {
        Ok(match asked {
            PastRequest::History => history.history_json()?,
            PastRequest::Tags => history.tags(),
            PastRequest::Undo => history.undo(vfs)?.into(),
            PastRequest::Redo => history.redo(vfs)?.into(),
            PastRequest::Restore(number) => history.restore(vfs, number)?.into(),
            PastRequest::Tag(name, number) => {
                history.tag(&name, number)?;
                Value::Null
            }
            PastRequest::Changes(number) => {
                let shown =
                    changes::changes_of(&history.objects, &history.journal_state(), number)?;
                serde_json::to_value(shown)
                    .map_err(|e| PageFailure::new(FailureKind::Internal, e))?
            }
            PastRequest::Directory => {
                let cwd = vfs
                    .session_state()
                    .and_then(|state| ShellSurroundings::from_state(&state)?.cwd);
                json!(cwd.map_or(HOME.into(), |cwd| String::from_utf8_lossy(&cwd).into_owned()))
            }
            PastRequest::Reset => {
                let (command, time) = (b"reset".to_vec(), wasibox_vfs::now_ns());
                history
                    .reset_cells(vfs, &PageCallNote { command, time, ..PageCallNote::default() })?
                    .into()
            }
        })
    })?;
    Ok(answer.to_string().into_bytes())
}

/// Exports the session as a snapshot: its current state, or its whole history.
pub fn export_session(all: bool) -> Result<(), PageFailure> {
    history::with_history(|history| history.export(all))
}

/// Imports a snapshot into the session, which must be new. If `is_fork` is set, the session becomes
/// a copy of one that continues elsewhere.
pub fn import_session(bytes: &[u8], is_fork: bool) -> Result<(), PageFailure> {
    let vfs = session::session_vfs()?;
    history::with_history(|history| history.import(vfs, bytes, is_fork))
}
