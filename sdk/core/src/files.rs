//! Reads and writes whole files and snapshots, and carries out file requests in JSON.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use wasibox::Refusal;
use wasibox::Session;
use wasibox::files::{Answer, FileBytes, Request, UploadOf};

/// The maximum size of a file in one request, in bytes.
const PART: u64 = 8 << 20;

/// Carries out a request in JSON and returns its answer in JSON, as `docs/files.md` describes them.
///
/// # Errors
/// Returns an error for an invalid request, and the errors of the operation.
pub fn run_request(session: &Session, text: &str) -> Result<String, Refusal> {
    let request: Request = serde_json::from_str(text)?;
    Ok(serde_json::to_string(&session.files(&request)?)?)
}

/// Returns a file's bytes.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn read_file(session: &Session, path: &str) -> Result<Vec<u8>, Refusal> {
    let mut all = Vec::new();
    loop {
        let offset = all.len() as u64;
        let part = Request::Download { path: path.to_owned(), offset, limit: Some(PART) };
        let Answer::Data { data, next_offset, size, .. } = session.files(&part)? else {
            return Err(Refusal::mismatch());
        };
        if all.is_empty() {
            all = data.0;
            let rest = size.saturating_sub(all.len() as u64);
            all.reserve_exact(usize::try_from(rest).unwrap_or(0));
        } else {
            all.extend_from_slice(&data.0);
        }
        match next_offset {
            // A file that has become shorter meanwhile ends here, too.
            Some(next) if next > offset => {}
            _ => return Ok(all),
        }
    }
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
    let whole = bytes.len() as u64 <= PART;
    let mut offset = 0;
    loop {
        let part = &bytes[offset..bytes.len().min(offset + PART as usize)];
        let request = Request::Upload(UploadOf {
            path: path.to_owned(),
            data: FileBytes(part.to_vec()),
            offset: (!whole).then_some(offset as u64),
            mode,
        });
        session.files(&request)?;
        offset += part.len();
        if offset >= bytes.len() {
            return Ok(());
        }
    }
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
