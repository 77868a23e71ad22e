//! Uploads and downloads, in pieces.

use crate::bridge;
use crate::gate::Caller;
use crate::problem::HttpProblem;
use crate::sessions::run_blocking;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Request};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{Read, Write};
use std::sync::Arc;
use wasibox::Session;
use wasibox::files::{Answer, FileBytes, Request as Asked, UploadOf};
use wasibox_actions::{Refusal, RefusalKind, ToolScope};

/// The number of bytes that one request to the session asks for.
pub const PIECE: u64 = 4 << 20;

/// `GET /v1/sessions/{session}/files/{*path}`: returns the bytes of a file, by its absolute path.
pub async fn get_file(
    Extension(caller): Extension<Caller>,
    Path((name, path)): Path<(String, String)>,
) -> Result<Response<Body>, HttpProblem> {
    caller.check_scope(ToolScope::Read)?;
    let path = format!("/{path}");
    let (space, of) = (caller.space.clone(), path.clone());
    let first = run_blocking(move || {
        let session = space.open(&name)?;
        let piece = read_piece(&session, &of, 0)?;
        Ok((session, piece))
    });
    let (session, first) = first.await?;
    let (size, mime) = (first.size, first.mime.clone());
    let (to, body) = bridge::writer_body(caller);
    tokio::task::spawn_blocking(move || send_file(&session, &path, first, to));
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, size.into());
    if let Ok(mime) = HeaderValue::from_str(&mime) {
        headers.insert(header::CONTENT_TYPE, mime);
    }
    // Because a guest has written the file, it must not be shown as a page of this server.
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    Ok(response)
}

/// A part of a file.
pub struct FilePiece {
    pub data: Vec<u8>,
    /// The size of the whole file.
    pub size: u64,
    /// The file's media type.
    pub mime: String,
    /// The offset of the next part.
    pub next: Option<u64>,
}

/// Reads a part of a file, from an offset.
///
/// # Errors
/// If it cannot be read.
pub fn read_piece(session: &Session, path: &str, offset: u64) -> Result<FilePiece, Refusal> {
    let asked = Asked::Download { path: path.into(), offset, limit: Some(PIECE) };
    match session.files(&asked)? {
        Answer::Data { data, size, mime, next_offset, .. } => {
            Ok(FilePiece { data: data.0, size, mime, next: next_offset })
        }
        _ => Err(Refusal::new(RefusalKind::Internal, "a download without data")),
    }
}

/// Sends a file to a body, after its first part was read.
pub fn send_file(session: &Session, path: &str, first: FilePiece, mut to: bridge::BodyWriter) {
    let (size, mut at) = (first.size, first);
    loop {
        if to.write_all(&at.data).is_err() {
            return;
        }
        let Some(next) = at.next else { return };
        match read_piece(session, path, next) {
            Ok(more) if more.size == size => at = more,
            _ => return to.fail("the file has changed"),
        }
    }
}

/// A file that was written.
#[derive(Serialize, JsonSchema)]
pub struct UploadedFile {
    /// Size in bytes.
    size: u64,
    /// Whether there was no such file before.
    created: bool,
}

/// `PUT /v1/sessions/{session}/files/{*path}`: writes a file, by its absolute path, completely or
/// not at all.
pub async fn put_file(
    Extension(caller): Extension<Caller>,
    Path((name, path)): Path<(String, String)>,
    request: Request,
) -> Result<Response<Body>, HttpProblem> {
    caller.check_scope(ToolScope::Write)?;
    let owner = caller.owner.clone();
    let reader = bridge::read(request.into_body(), move |bytes| {
        if owner.spend_bytes(bytes) {
            Ok(())
        } else {
            Err(std::io::Error::other("too many bytes within an hour"))
        }
    });
    let done = run_blocking(move || {
        let session = caller.space.open(&name)?;
        let done = receive_file(&session, &format!("/{path}"), reader);
        drop(caller);
        done
    });
    let (size, created) = done.await?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, axum::Json(UploadedFile { size, created })).into_response())
}

/// Writes the received bytes: at once if they are few, otherwise to a file beside the target that
/// is renamed at the end. Returns their number, and whether the file is new.
///
/// # Errors
/// If the bytes do not come whole, or cannot be written.
pub fn receive_file(
    session: &Arc<Session>,
    path: &str,
    mut from: impl Read,
) -> Result<(u64, bool), Refusal> {
    let first = next(&mut from)?;
    if (first.len() as u64) < PIECE {
        return write_part(session, path, first, None);
    }
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|e| Refusal::new(RefusalKind::Internal, e))?;
    let beside = format!("{path}.{:016x}.part", u64::from_le_bytes(random));
    let stat = Asked::Stat { path: path.into(), follow: true };
    let created = session.files(&stat).is_err();
    let write = || {
        let (mut size, mut data) = (0, first);
        while !data.is_empty() {
            let len = data.len() as u64;
            write_part(session, &beside, data, Some(size))?;
            size += len;
            data = next(&mut from)?;
        }
        let moved = Asked::Move { from: beside.clone(), to: path.into() };
        session.files(&moved)?;
        Ok((size, created))
    };
    let done = write();
    if done.is_err() {
        let _ = session.files(&Asked::Delete { path: beside.clone(), recursive: false });
    }
    done
}

fn write_part(
    session: &Session,
    path: &str,
    data: Vec<u8>,
    offset: Option<u64>,
) -> Result<(u64, bool), Refusal> {
    let upload = UploadOf { path: path.into(), data: FileBytes(data), offset, mode: None };
    match session.files(&Asked::Upload(upload))? {
        Answer::Written { size, created, .. } => Ok((size, created)),
        _ => Err(Refusal::new(RefusalKind::Internal, "an upload that has not written")),
    }
}

/// Reads the bytes of one write.
fn next(from: &mut impl Read) -> Result<Vec<u8>, Refusal> {
    let mut piece = Vec::new();
    from.take(PIECE).read_to_end(&mut piece).map_err(|e| {
        Refusal::new(RefusalKind::Invalid, format!("the body has not come whole: {e}"))
    })?;
    Ok(piece)
}
