//! Creates, lists and removes sessions; reads and writes snapshots of them.

use crate::bridge;
use crate::gate::Caller;
use crate::problem::HttpProblem;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Query, Request};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::BufWriter;
use wasibox_actions::{Refusal, RefusalKind, SessionInfo, ToolScope};

/// Bytes of a snapshot that are sent at once.
const PIECE: usize = 256 << 10;
/// The media type of a snapshot.
const WBS: HeaderValue = HeaderValue::from_static("application/vnd.wasibox.snapshot");

/// The owner's sessions.
#[derive(Serialize, JsonSchema)]
pub struct SessionList {
    sessions: Vec<SessionInfo>,
}

/// A session that exists now.
#[derive(Serialize, JsonSchema)]
pub struct SessionName {
    name: String,
}

/// Runs a blocking function on a thread for such functions.
pub async fn run_blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, HttpProblem> {
    let done = tokio::task::spawn_blocking(act).await.map_err(|_| HttpProblem::internal())?;
    Ok(done?)
}

/// `GET /v1/sessions`: lists the owner's sessions.
pub async fn list_sessions(
    Extension(caller): Extension<Caller>,
) -> Result<Response<Body>, HttpProblem> {
    caller.check_scope(ToolScope::Read)?;
    let sessions = run_blocking(move || caller.space.list_sessions()).await?;
    Ok(axum::Json(SessionList { sessions }).into_response())
}

/// `GET /v1/sessions/{session}`: describes a session.
pub async fn get_session(
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<Response<Body>, HttpProblem> {
    caller.check_scope(ToolScope::Read)?;
    let found = run_blocking(move || {
        let all = caller.space.list_sessions()?;
        let found = all.into_iter().find(|s| s.name == name);
        found.ok_or_else(|| Refusal::new(RefusalKind::Missing, format!("no session '{name}'")))
    });
    Ok(axum::Json(found.await?).into_response())
}

/// `PUT /v1/sessions/{session}`: creates the session if it does not exist.
pub async fn put_session(
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<Response<Body>, HttpProblem> {
    caller.check_scope(ToolScope::Manage)?;
    let made = run_blocking(move || match caller.space.make(&name) {
        Ok(_) => Ok((StatusCode::CREATED, name)),
        Err(e) if e.kind == RefusalKind::Conflict => {
            caller.space.open(&name).map(|_| (StatusCode::OK, name))
        }
        Err(e) => Err(e),
    });
    let (status, name) = made.await?;
    Ok((status, axum::Json(SessionName { name })).into_response())
}

/// `DELETE /v1/sessions/{session}`: removes a session.
pub async fn delete_session(
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<StatusCode, HttpProblem> {
    caller.check_scope(ToolScope::Manage)?;
    run_blocking(move || caller.space.remove(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The options of an export.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// Whether the file contains all commits, and not only the current state.
    #[serde(default)]
    history: bool,
}

/// `GET /v1/sessions/{session}/snapshot`: returns the session as one file.
pub async fn get_snapshot(
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    Query(which): Query<ExportQuery>,
) -> Result<Response<Body>, HttpProblem> {
    caller.check_scope(ToolScope::Read)?;
    let (space, file) = (caller.space.clone(), format!("attachment; filename=\"{name}.wbs\""));
    let session = run_blocking(move || space.open(&name)).await?;
    let (to, body) = bridge::writer_body(caller);
    tokio::task::spawn_blocking(move || {
        let mut to = BufWriter::with_capacity(PIECE, to);
        let done = session.snapshot(which.history, &mut to);
        let (to, rest) = to.into_parts();
        match (done, rest) {
            (Ok(()), Ok(rest)) => drop(std::io::Write::write_all(&mut { to }, &rest)),
            // The body is aborted, so that the client does not take the file for complete.
            _ => to.fail("the snapshot cannot be written"),
        }
    });
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, WBS);
    if let Ok(file) = HeaderValue::from_str(&file) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, file);
    }
    Ok(response)
}

/// `PUT /v1/sessions/{session}/snapshot`: creates a session from a snapshot.
pub async fn put_snapshot(
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response<Body>, HttpProblem> {
    caller.check_scope(ToolScope::Manage)?;
    let (owner, running) = (caller.owner.clone(), caller.running.clone());
    let reader = bridge::read(request.into_body(), move |bytes| {
        if owner.spend_bytes(bytes) {
            Ok(())
        } else {
            Err(std::io::Error::other("too many bytes within an hour"))
        }
    });
    let name = run_blocking(move || {
        let _running = running;
        caller.space.import(&name, reader).map(|()| name)
    });
    Ok((StatusCode::CREATED, axum::Json(SessionName { name: name.await? })).into_response())
}
