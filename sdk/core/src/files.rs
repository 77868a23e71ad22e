//! Requests as JSON, and whole files.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use wasibox::files::{read_whole, write_whole};
use wasibox::{Refusal, Request, Session, Streams};

/// Carries out a request in JSON and returns its answer in JSON. Calls have streams and are run by
/// [`crate::run`].
///
/// # Errors
/// Returns an error for an invalid request, and the errors of the operation.
pub fn apply_request(session: &Session, text: &str) -> Result<String, Refusal> {
    match serde_json::from_str(text)? {
        Request::Exec(_) => Err(Refusal::invalid_request("a call needs streams")),
        request => Ok(serde_json::to_string(&session.apply(request, Streams::default())?)?),
    }
}

/// Returns a file's bytes.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn read_file(session: &Session, path: &str) -> Result<Vec<u8>, Refusal> {
    read_whole(path, |request| Ok(session.files(request)?))
}

/// Replaces a file's contents. Up to 8 MiB are replaced atomically; a longer file is written in
/// parts.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write_file(
    session: &Session,
    path: &str,
    bytes: &[u8],
    mode: Option<u16>,
) -> Result<(), Refusal> {
    write_whole(path, bytes, mode, |request| Ok(session.files(request)?))
}

/// Writes a snapshot of the session to a file (`.wbs`), completely or not at all. With `all`, the
/// snapshot has the session's whole history.
///
/// # Errors
/// Returns an error if the store is damaged, or the file cannot be written.
pub fn export_file(session: &Session, path: &Path, all: bool) -> Result<(), Refusal> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = Path::new(&name);
    let refusal = |e: std::io::Error| Refusal::invalid_request(format!("{}: {e}", path.display()));
    let done = (|| {
        let mut out = BufWriter::new(File::create(part).map_err(refusal)?);
        session.snapshot(all, &mut out)?;
        out.flush().map_err(refusal)?;
        std::fs::rename(part, path).map_err(refusal)
    })();
    if done.is_err() {
        let _ = std::fs::remove_file(part);
    }
    done
}
