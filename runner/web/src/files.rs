//! The session's files, for the page.

use crate::outcome::{FailureKind, PageFailure};
use crate::session;
use crate::{heap, history};
use wasibox_files::{Answer, FileBytes, FilesError, Request, UploadOf, apply_request};
use wasibox_vfs::Vfs;
use wasibox_vfs::around::{HOME, ShellSurroundings};

/// Maximum bytes of a file in one request.
const PART: u64 = 8 << 20;

impl From<FilesError> for PageFailure {
    fn from(e: FilesError) -> PageFailure {
        let code = match &e {
            FilesError::System { code, .. } => Some(code.clone()),
            // The variant's name is the only key of its object, or its whole text.
            e => match serde_json::to_value(e) {
                Ok(serde_json::Value::Object(o)) => o.keys().next().cloned(),
                Ok(serde_json::Value::String(s)) => Some(s),
                _ => None,
            },
        };
        PageFailure { code, ..PageFailure::new(FailureKind::File, e) }
    }
}

/// Returns the files, and the directory from which relative paths start: the shell's.
fn session_files() -> Result<(&'static Vfs, String), PageFailure> {
    let vfs = session::session_vfs()?;
    let cwd = vfs.session_state().and_then(|state| ShellSurroundings::from_state(&state)?.cwd);
    let cwd = cwd.map_or_else(|| HOME.to_owned(), |cwd| String::from_utf8_lossy(&cwd).into_owned());
    Ok((vfs, cwd))
}

/// Performs a request in JSON and returns its answer, in the format of `docs/files.md`.
pub fn run_request(text: &[u8]) -> Result<Vec<u8>, PageFailure> {
    let request: Request =
        serde_json::from_slice(text).map_err(|e| PageFailure::new(FailureKind::Invalid, e))?;
    let _bounded = heap::begin_guard();
    let (vfs, cwd) = session_files()?;
    let answer = apply_request(vfs, &cwd, &request);
    history::with_history(|history| history.keep_files(vfs, request.summary()))?;
    let answer = answer?;
    serde_json::to_vec(&answer).map_err(|e| PageFailure::new(FailureKind::Internal, e))
}

/// Writes a file. One of up to 8 MiB is replaced at once, a longer one is written in parts. Makes a
/// commit if `commits`; otherwise the commit of the next call includes the change.
pub fn write(path: &str, bytes: &[u8], commits: bool) -> Result<(), PageFailure> {
    let _bounded = heap::begin_guard();
    let (vfs, cwd) = session_files()?;
    let is_whole = bytes.len() as u64 <= PART;
    let mut offset = 0;
    loop {
        let part = &bytes[offset..bytes.len().min(offset + PART as usize)];
        let request = Request::Upload(UploadOf {
            path: path.to_owned(),
            data: FileBytes(part.to_vec()),
            offset: (!is_whole).then_some(offset as u64),
            mode: None,
        });
        let summary = request.summary();
        let written = apply_request(vfs, &cwd, &request);
        offset += part.len();
        if offset >= bytes.len() || written.is_err() {
            if commits {
                history::with_history(|history| history.keep_files(vfs, summary))?;
            }
            return Ok(written.map(drop)?);
        }
    }
}

/// Returns the bytes of a file.
pub fn read(path: &str) -> Result<Vec<u8>, PageFailure> {
    let (vfs, cwd) = session_files()?;
    let mut all = Vec::new();
    loop {
        let offset = all.len() as u64;
        let part = Request::Download { path: path.to_owned(), offset, limit: Some(PART) };
        let Answer::Data { data, next_offset, .. } = apply_request(vfs, &cwd, &part)? else {
            return Err(PageFailure::new(
                FailureKind::Internal,
                "another answer than was asked for",
            ));
        };
        let no_room =
            |_| PageFailure::new(FailureKind::Conflict, "there is no memory for the file's bytes");
        all.try_reserve(data.0.len()).map_err(no_room)?;
        all.extend(data.0);
        match next_offset {
            // The loop also ends if the file shrinks meanwhile.
            Some(next) if next > offset => {}
            _ => return Ok(all),
        }
    }
}
