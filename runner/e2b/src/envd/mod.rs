//! The services of a sandbox: processes and files over Connect's protocol, uploads and downloads.
//!
//! | file | contents |
//! |---|---|
//! | `processes` | the table of processes, their output and input |
//! | `process` | the calls of the service for processes |
//! | `paths` | paths and users of requests |
//! | `filesystem` | the calls of the service for files |
//! | `watch` | watching directories, by comparing listings |
//! | `metadata` | metadata of uploaded files |
//! | `files` | uploads and downloads; `multipart` reads forms |

pub mod files;
mod filesystem;
pub mod metadata;
mod multipart;
pub mod paths;
mod process;
pub mod processes;
pub mod watch;

use crate::app::{E2bApp, begin_request, check_token};
use crate::fault::{Fault, RpcCode, json_response};
use crate::rpc::{self, CallForm};
use crate::sandbox::RunningBox;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, Response, StatusCode};
use axum::response::IntoResponse;
use paths::BoxUser;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use wasibox_actions::ToolScope;
use wasibox_http::RunningRequest;

/// The interval of messages that keep an idle stream alive, by default and at least.
const KEEPALIVE: Duration = Duration::from_secs(90);
const SHORTEST_KEEPALIVE: Duration = Duration::from_secs(1);

/// A call of a service.
pub struct ServiceCall {
    running: Arc<RunningBox>,
    user: BoxUser,
    form: CallForm,
    headers: HeaderMap,
    /// The call counts as running while this exists.
    counted: Arc<RunningRequest>,
}

impl ServiceCall {
    /// Returns the interval of messages that keep the stream alive.
    fn keepalive(&self) -> Duration {
        let asked = self.headers.get("keepalive-ping-interval").and_then(|v| v.to_str().ok());
        let asked = asked.and_then(|text| text.parse().ok()).map(Duration::from_secs);
        asked.unwrap_or(KEEPALIVE).max(SHORTEST_KEEPALIVE)
    }

    /// Checks that the sandbox's owner has a scope.
    fn check_scope(&self, scope: ToolScope) -> Result<(), Fault> {
        check_scope(&self.running, scope)
    }
}

/// Checks that a sandbox's owner has a scope.
///
/// # Errors
/// If its token lacks it.
pub fn check_scope(running: &RunningBox, scope: ToolScope) -> Result<(), Fault> {
    if running.owner.scopes.contains(&scope) {
        return Ok(());
    }
    let text = format!("the token of the sandbox's owner lacks the scope '{}'", scope.name());
    Err(Fault::new(RpcCode::PermissionDenied, text))
}

/// Answers a request to the services of a sandbox.
pub async fn answer_envd(
    app: &Arc<E2bApp>,
    running: Arc<RunningBox>,
    request: Request,
) -> Response<Body> {
    let path = request.uri().path().to_owned();
    if let Some(method) = path.strip_prefix("/process.Process/") {
        return answer_call(running, request, |call, body| process::answer(call, method, body))
            .await;
    }
    if let Some(method) = path.strip_prefix("/filesystem.Filesystem/") {
        return answer_call(running, request, |call, body| filesystem::answer(call, method, body))
            .await;
    }
    if path == files::PATH {
        return files::answer_files(running, request).await;
    }
    if request.method() == Method::GET && path == "/health" {
        return StatusCode::NO_CONTENT.into_response();
    }
    if let Err(fault) = check_token(&running, request.headers()) {
        return fault.into_response();
    }
    match (request.method().as_str(), &*path) {
        ("GET", "/envs") => {
            let known = app.registry.record_of(&running.id);
            json_response(
                StatusCode::OK,
                &json!(known.map(|record| record.envs).unwrap_or_default()),
            )
        }
        ("GET", "/metrics") => match app.registry.latest_sample(&running.id) {
            Some((sample, limits)) => json_response(
                StatusCode::OK,
                &json!({
                    "ts": sample.time / 1000,
                    "cpu_count": 1,
                    "cpu_used_pct": 0.0,
                    "mem_used": sample.memory,
                    "mem_total": limits.memory,
                    "mem_used_mib": sample.memory >> 20,
                    "mem_total_mib": limits.memory >> 20,
                    "disk_used": 0,
                    "disk_total": limits.disk.bytes,
                }),
            ),
            None => Fault::no_sandbox(&running.id).into_response(),
        },
        // Everything that it sets is set when the sandbox is created.
        ("POST", "/init") => StatusCode::NO_CONTENT.into_response(),
        _ => Fault::missing("the sandbox has nothing at this path").into_response(),
    }
}

async fn answer_call<F>(
    running: Arc<RunningBox>,
    request: Request,
    act: impl FnOnce(ServiceCall, Body) -> F,
) -> Response<Body>
where
    F: Future<Output = Response<Body>>,
{
    if request.method() != Method::POST {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        let fault = Fault::with_status(status, RpcCode::Unimplemented, "a call is a POST");
        return fault.into_response();
    }
    let form = match CallForm::of(request.headers()) {
        Ok(form) => form,
        Err(fault) => return fault.rpc_response(),
    };
    let (parts, body) = request.into_parts();
    let user = check_token(&running, &parts.headers).and_then(|()| BoxUser::of(&parts.headers));
    let counted = begin_request(&running.owner);
    match user.and_then(|user| Ok((user, counted?))) {
        Ok((user, counted)) => {
            let headers = parts.headers;
            act(ServiceCall { running, user, form, headers, counted }, body).await
        }
        Err(fault) if form.is_stream => rpc::failed_stream(form, fault),
        Err(fault) => fault.rpc_response(),
    }
}
