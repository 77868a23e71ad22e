//! The session's files, for the page.

use crate::session;
use crate::{heap, history};
use wasibox_files::{Request, apply_request, read_whole, write_whole};
use wasibox_protocol::Refusal;
use wasibox_vfs::Vfs;
use wasibox_vfs::around::{HOME, ShellSurroundings};

/// Returns the files, and the directory from which relative paths start: the shell's.
fn session_files() -> Result<(&'static Vfs, String), Refusal> {
    let vfs = session::session_vfs()?;
    let cwd = vfs.session_state().and_then(|state| ShellSurroundings::from_state(&state)?.cwd);
    let cwd = cwd.map_or_else(|| HOME.to_owned(), |cwd| String::from_utf8_lossy(&cwd).into_owned());
    Ok((vfs, cwd))
}

/// Performs a request in JSON and returns its answer, in the format of `docs/files.md`.
pub fn run_request(text: &[u8]) -> Result<Vec<u8>, Refusal> {
    let request: Request = serde_json::from_slice(text)?;
    let _bounded = heap::begin_guard();
    let (vfs, cwd) = session_files()?;
    let answer = apply_request(vfs, &cwd, &request);
    history::with_history(|history| history.keep_files(vfs, request.summary()))?;
    let answer = answer?;
    Ok(serde_json::to_vec(&answer)?)
}

/// Writes a file. One of up to 8 MiB is replaced at once, a longer one is written in parts. Makes a
/// commit if `commits`; otherwise the commit of the next call includes the change.
pub fn write(path: &str, bytes: &[u8], commits: bool) -> Result<(), Refusal> {
    let _bounded = heap::begin_guard();
    let (vfs, cwd) = session_files()?;
    let written = write_whole(path, bytes, None, |part| Ok(apply_request(vfs, &cwd, part)?));
    if commits {
        history::with_history(|history| history.keep_files(vfs, format!("upload {path}")))?;
    }
    written
}

/// Returns the bytes of a file.
pub fn read(path: &str) -> Result<Vec<u8>, Refusal> {
    let (vfs, cwd) = session_files()?;
    read_whole(path, |part| Ok(apply_request(vfs, &cwd, part)?))
}
