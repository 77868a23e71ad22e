//! Calls of tools, with a single answer or with events while they run.

use crate::app::HttpApp;
use crate::body::parse_object;
use crate::bridge;
use crate::gate::Caller;
use crate::ports::LinkDoor;
use crate::problem::HttpProblem;
use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::response::sse::{Event as Sse, KeepAlive};
use axum::response::{IntoResponse, Sse as Events};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{Sender, channel};
use wasibox_actions::{CallEvent, CallStop, Client, ClientCall, ToolEntry, ToolResult};

/// The maximum number of bytes of arguments, which is enough for a file of 16 MiB in base64.
pub const BODY: usize = 24 << 20;
/// The tool that switches sessions, which is left out because each address names its session.
pub const NOT_HERE: &str = "use_session";
/// The maximum number of events that wait for a slow reader; beyond that the call waits, too.
const WAITING: usize = 64;

/// A guard that stops a call when its client has disconnected, which drops the guard.
pub struct CallStopGuard(pub Arc<CallStop>);

impl Drop for CallStopGuard {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// The tools that a token may use.
#[derive(Serialize, JsonSchema)]
pub struct ToolList<'a> {
    /// The machine on which they act, in words.
    machine: &'a str,
    tools: Vec<ToolDescription<'a>>,
}

/// A tool.
#[derive(Serialize, JsonSchema)]
struct ToolDescription<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    /// The actions that a token must be allowed.
    scope: &'a str,
    /// JSON Schema of the arguments.
    input: &'a Map<String, Value>,
    /// JSON Schema of the answer.
    output: &'a Map<String, Value>,
}

/// `GET /v1/tools`: lists the tools that the caller may use.
pub async fn list_tools(
    State(app): State<Arc<HttpApp>>,
    Extension(caller): Extension<Caller>,
) -> Response<Body> {
    let tools = app
        .registry
        .tools()
        .filter(|t| t.tool.name != NOT_HERE && caller.owner.scopes.contains(&t.tool.scope))
        .map(|t| ToolDescription {
            name: t.tool.name,
            title: t.tool.title,
            description: t.tool.text,
            scope: t.tool.scope.name(),
            input: &t.input,
            output: &t.output,
        })
        .collect();
    axum::Json(ToolList { machine: app.registry.summary(), tools }).into_response()
}

/// `POST /v1/sessions/{session}/tools/{tool}`: calls a tool in a session.
pub async fn call_tool(
    State(app): State<Arc<HttpApp>>,
    Extension(caller): Extension<Caller>,
    Path((session, name)): Path<(String, String)>,
    request: Request,
) -> Result<Response<Body>, HttpProblem> {
    let listed = app.registry.get(&name).filter(|_| name != NOT_HERE);
    let tool =
        listed.ok_or_else(|| HttpProblem::missing(format!("there is no tool '{name}'")))?.tool;
    caller.check_scope(tool.scope)?;
    let wants_events = accepts_type(request.headers(), "text/event-stream");
    let door = Arc::new(LinkDoor::new(&app, &caller.owner, request.headers()));
    let arguments = read_arguments(&caller, request).await?;
    let job = ToolCallJob { app, caller, session, door, tool, arguments, stop: Arc::default() };
    if wants_events { Ok(job.answer_events()) } else { job.answer_once().await }
}

/// Returns whether a request accepts a media type by name.
fn accepts_type(headers: &HeaderMap, kind: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|v| v.to_str().ok());
    accepted.flat_map(|v| v.split(',')).any(|v| v.trim().split(';').next() == Some(kind))
}

/// Returns the object in a request's body, or an empty object for an empty body.
pub async fn read_arguments(
    caller: &Caller,
    request: Request,
) -> Result<Map<String, Value>, HttpProblem> {
    let kind = request.headers().get(header::CONTENT_TYPE).map(|v| v.to_str().unwrap_or_default());
    let kind = kind.map(|k| k.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    let bytes = to_bytes(request.into_body(), BODY).await.map_err(|_| {
        HttpProblem::new(StatusCode::PAYLOAD_TOO_LARGE, "limit", format!("more than {BODY} bytes"))
    })?;
    if !caller.owner.spend_bytes(bytes.len() as u64) {
        return Err(HttpProblem::limit("too many bytes within an hour"));
    }
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    if kind.as_deref() != Some("application/json") {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(HttpProblem::new(status, "invalid", "the body is application/json"));
    }
    parse_object(&bytes).map_err(|e| HttpProblem::invalid(format!("the body: {e}")))
}

struct ToolCallJob {
    app: Arc<HttpApp>,
    caller: Caller,
    session: String,
    door: Arc<LinkDoor>,
    tool: &'static ToolEntry,
    arguments: Map<String, Value>,
    stop: Arc<CallStop>,
}

impl ToolCallJob {
    /// Runs the call, and blocks until it has ended.
    fn run(self, emit: Option<&(dyn Fn(CallEvent<'_>) + Sync)>) -> Result<ToolResult, HttpProblem> {
        let ToolCallJob { app, caller, session, door, tool, arguments, stop } = self;
        // A session that does not exist is not created.
        let _held = caller.space.open(&session)?;
        let span =
            tracing::info_span!("tool", name = tool.name, session, owner = caller.owner.name);
        let _in = span.entered();
        let client = Client::for_session(caller.space.clone(), session).with_port_door(door);
        let done = tool.run(arguments, &ClientCall { client: &client, stop: &stop, emit });
        caller.owner.spend_cpu(stop.cpu_time());
        app.metrics.count_call(tool.name, done.is_ok(), stop.cpu_time());
        Ok(done?)
    }

    async fn answer_once(self) -> Result<Response<Body>, HttpProblem> {
        let _ended = CallStopGuard(self.stop.clone());
        let request = tracing::Span::current();
        let done = tokio::task::spawn_blocking(move || request.in_scope(|| self.run(None))).await;
        let done = done.map_err(|_| HttpProblem::internal())??;
        Ok(axum::Json(done.answer).into_response())
    }

    fn answer_events(self) -> Response<Body> {
        let (to, from) = channel::<Result<Sse, Infallible>>(WAITING);
        let ended = CallStopGuard(self.stop.clone());
        let request = tracing::Span::current();
        tokio::task::spawn_blocking(move || {
            let _in = request.entered();
            let rests = Mutex::new([Vec::new(), Vec::new()]);
            let emit = |event: CallEvent<'_>| {
                let CallEvent::Output { is_error, bytes } = event;
                let mut rests = rests.lock().unwrap_or_else(PoisonError::into_inner);
                let text = whole_characters(&mut rests[usize::from(is_error)], bytes);
                let stream = if is_error { "stderr" } else { "stdout" };
                send_event(&to, "output", &json!({ "stream": stream, "text": text }));
            };
            match self.run(Some(&emit)) {
                Ok(done) => send_event(&to, "result", &done.answer),
                Err(problem) => send_event(&to, "problem", &problem.document()),
            }
        });
        let events = Events::new(bridge::channel_stream(from, ended));
        events.keep_alive(KeepAlive::default()).into_response()
    }
}

fn send_event(to: &Sender<Result<Sse, Infallible>>, name: &str, data: &impl Serialize) {
    // Neither map keys nor numbers of an event can fail to be JSON.
    let Ok(event) = Sse::default().event(name).json_data(data) else { return };
    // A failure means that the client has disconnected, which has stopped the call.
    let _ = to.blocking_send(Ok(event));
}

/// Returns the text received so far, without an incomplete last character, which stays in `rest`.
pub fn whole_characters(rest: &mut Vec<u8>, bytes: &[u8]) -> String {
    rest.extend_from_slice(bytes);
    let is_begun = |from: &usize| {
        std::str::from_utf8(&rest[*from..])
            .is_err_and(|e| e.valid_up_to() == 0 && e.error_len().is_none())
    };
    let cut = (rest.len().saturating_sub(3)..rest.len()).find(is_begun).unwrap_or(rest.len());
    let text = String::from_utf8_lossy(&rest[..cut]).into_owned();
    rest.drain(..cut);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_not_cut() {
        let mut rest = Vec::new();
        let all = "aä€😀z".as_bytes();
        let text: String = all.chunks(1).map(|b| whole_characters(&mut rest, b)).collect();
        assert_eq!(text, "aä€😀z");
        assert_eq!(whole_characters(&mut rest, b"\xff\xc3"), "\u{fffd}");
        assert_eq!(whole_characters(&mut rest, b"("), "\u{fffd}(");
    }
}
