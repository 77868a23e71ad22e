//! `runner session workspace ...`, and the workspace functions of `runner exec`.

use crate::args::grants::PoolSettings;
use crate::args::session::WorkspaceSessionArgs;
use crate::{CliFailure, call, message, print_bytes};
use std::io::IsTerminal;
use wasibox::{ApplyReport, Session, terminal};

/// Maximum number of paths that are listed.
const LISTED: usize = 100;

/// Prints the session's changes to its workspace.
pub fn print_workspace_diff(over: &WorkspaceSessionArgs) -> Result<u8, CliFailure> {
    let paths: Vec<&str> = over.paths.iter().map(String::as_str).collect();
    print_diff(&open_session(over)?, &paths)
}

/// Applies changes to the host's folder; the status is 1 if some were skipped.
pub fn apply_changes(over: &WorkspaceSessionArgs) -> Result<u8, CliFailure> {
    let paths: Vec<&str> = over.paths.iter().map(String::as_str).collect();
    let done = open_session(over)?.workspace_apply(&paths)?;
    Ok(u8::from(!print_applied(&done)))
}

fn open_session(over: &WorkspaceSessionArgs) -> Result<Session, CliFailure> {
    if over.workspace.workspace.is_none() {
        return Err(CliFailure::usage("a folder is missing: name it with --workspace"));
    }
    let sessions =
        call::open_engine(&over.image, PoolSettings::default())?.sessions(over.named.store.open()?);
    Ok(sessions.session(&over.named.name, over.workspace.policy())?)
}

/// Prints a session's changes.
pub fn print_diff(session: &Session, paths: &[&str]) -> Result<u8, CliFailure> {
    let mut diff = session.workspace_diff(paths)?;
    if std::io::stdout().is_terminal() {
        // Files come from guests, so a terminal gets text and colours only.
        diff.text = terminal::Filter::default().filter_bytes(&diff.text);
    }
    print_bytes(&diff.text)?;
    if diff.truncated {
        message::say_message("there is more: name some of the paths");
    }
    Ok(0)
}

/// Reports the applied changes, and returns whether those were all.
pub fn print_applied(done: &ApplyReport) -> bool {
    message::say_message(&format!("{} of the folder's paths were changed", done.done.len()));
    for (path, why) in done.left.iter().take(LISTED) {
        message::say_message(&format!("{path} is left as it is: {why}"));
    }
    if let Some(more) = done.left.len().checked_sub(LISTED).filter(|n| *n > 0) {
        message::say_message(&format!("{more} more paths are left as they are"));
    }
    done.left.is_empty()
}
