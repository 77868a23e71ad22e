//! Requests as JSON, and whole files.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use wasibox::files::{read_whole, write_whole};
use wasibox::{Cancel, Refusal, Request, Session, Streams};

/// Carries out a request in JSON and returns its answer in JSON. Calls have streams and are run by
/// [`crate::run`].
///
/// # Errors
/// Returns an error for an invalid request, and the errors of the operation.
pub fn apply_request(session: &Session, text: &str) -> Result<String, Refusal> {
    apply_until(session, text, &Cancel::default())
}

/// Does the same for a request that may wait, until it is cancelled.
///
/// # Errors
/// Returns the same errors, and one for a cancelled request.
pub fn apply_until(session: &Session, text: &str, cancel: &Cancel) -> Result<String, Refusal> {
    let streams = Streams { cancel: Some(cancel), ..Streams::default() };
    match serde_json::from_str(text)? {
        Request::Exec(_) => Err(Refusal::invalid_request("a call needs streams")),
        request => Ok(serde_json::to_string(&session.apply(request, streams)?)?),
    }
}

/// Listens at a port of the host's 127.0.0.1 that leads to a port of the session.
///
/// # Errors
/// Returns an error if a port is 0, or the host's port is taken.
pub fn expose_port(
    session: &Session,
    port: u16,
    host_port: u16,
) -> Result<wasibox::ExposedPort, Refusal> {
    if port == 0 {
        return Err(Refusal::invalid_request("a port is a number from 1 to 65535"));
    }
    let refusal = |e: std::io::Error| {
        let kind = match e.kind() {
            std::io::ErrorKind::AddrInUse => wasibox::RefusalKind::Conflict,
            _ => wasibox::RefusalKind::Internal,
        };
        Refusal::new(kind, format!("port {host_port} of 127.0.0.1: {e}"))
    };
    session.expose(port, host_port).map_err(refusal)
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
