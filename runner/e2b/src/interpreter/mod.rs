//! The code interpreter: contexts, and executions whose output is a stream of lines of JSON.
//!
//! | file | contents |
//! |---|---|
//! | `contexts` | the contexts of a sandbox |
//! | `execute` | an execution, and its events |
//! | `child` | contexts that are programs of their own |
//! | `output` | text and reports in the output |
//! | `driver.py` | runs code in the interpreter of Python; rich results |
//! | `charts.py` | charts as data |

mod child;
pub mod contexts;
mod execute;
mod output;

use crate::app::{E2bApp, begin_request, check_token};
use crate::envd::check_scope;
use crate::envd::paths::{BoxUser, ensure_home};
use crate::fault::{Fault, RpcCode, json_response, run_blocking};
use crate::ports::check_traffic;
use crate::sandbox::RunningBox;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Response, StatusCode, header};
use axum::response::IntoResponse;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use child::ChildContext;
use contexts::{CodeContext, CodeLanguage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use wasibox_actions::ToolScope;

/// The maximum bytes of a request.
const BODY: usize = 16 << 20;

/// A request to execute code.
#[derive(Deserialize)]
pub struct ExecuteRequest {
    code: String,
    #[serde(default)]
    context_id: Option<String>,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    env_vars: Option<BTreeMap<String, String>>,
}

#[derive(Default, Deserialize)]
struct ContextRequest {
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
}

/// Returns a program of Python that makes the driver a module, unless it is one, and then runs
/// `act` in it.
fn driver_module(act: &str) -> String {
    let [driver, charts] =
        [include_str!("driver.py"), include_str!("charts.py")].map(|text| STANDARD.encode(text));
    // The names of the program are those of one expression, so none of them stays.
    format!(
        "(lambda s, b: ('_wasibox_e2b' in s.modules or (lambda m: (m.__dict__.update(\
         CHARTS=b.b64decode('{charts}').decode()), s.modules.__setitem__('_wasibox_e2b', m), \
         exec(compile(b.b64decode('{driver}'), '<driver>', 'exec'), m.__dict__)))(\
         type(s)('_wasibox_e2b')), eval(compile({act:?}, '<driver>', 'eval'), \
         s.modules['_wasibox_e2b'].__dict__), None)[-1])(__import__('sys'), __import__('base64'))"
    )
}

/// Answers a request to the code interpreter of a sandbox.
pub async fn answer_interpreter(
    app: &Arc<E2bApp>,
    running: Arc<RunningBox>,
    request: Request,
) -> Response<Body> {
    act(app, running, request).await.unwrap_or_else(|fault| {
        // The packages show the body of a refusal as it is.
        let status = fault.status();
        if status == StatusCode::BAD_GATEWAY {
            fault.into_response()
        } else {
            (status, fault.message).into_response()
        }
    })
}

async fn act(
    app: &Arc<E2bApp>,
    running: Arc<RunningBox>,
    request: Request,
) -> Result<Response<Body>, Fault> {
    check_traffic(&running, request.headers())?;
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    if let ("GET", ["health"]) = (method.as_str(), &*parts) {
        return Ok(json_response(StatusCode::OK, &json!("OK")));
    }
    check_scope(&running, ToolScope::Run)?;
    let counted = begin_request(&running.owner)?;
    match (method.as_str(), &*parts) {
        ("POST", ["execute"]) => {
            check_token(&running, request.headers())?;
            let asked = read_body(&running, request).await?;
            execute::begin(app, running, asked, counted)
        }
        ("GET", ["contexts"]) => {
            let all = running.contexts.list()?;
            let all = all.iter().map(|context| context.describe()).collect();
            Ok(json_response(StatusCode::OK, &Value::Array(all)))
        }
        ("POST", ["contexts"]) => {
            let asked: ContextRequest = read_body(&running, request).await?;
            let context = run_blocking(move || create_context(&running, &asked)).await?;
            Ok(json_response(StatusCode::OK, &context.describe()))
        }
        ("DELETE", ["contexts", id]) => {
            running.contexts.remove(id)?;
            Ok(json_response(StatusCode::OK, &Value::Null))
        }
        ("POST", ["contexts", id, "restart"]) => {
            let id = (*id).to_owned();
            run_blocking(move || restart_context(&running, &id)).await?;
            Ok(json_response(StatusCode::OK, &Value::Null))
        }
        _ => Err(Fault::missing("the code interpreter has nothing at this path")),
    }
}

async fn read_body<T: DeserializeOwned>(
    running: &RunningBox,
    request: Request,
) -> Result<T, Fault> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let is_json =
        kind.and_then(|v| v.to_str().ok()).is_none_or(|v| v.starts_with("application/json"));
    if !is_json {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        let text = "the body is application/json";
        return Err(Fault::with_status(status, RpcCode::InvalidArgument, text));
    }
    let bytes = to_bytes(request.into_body(), BODY).await.map_err(|_| {
        let text = format!("the body has more than {BODY} bytes");
        Fault::with_status(StatusCode::PAYLOAD_TOO_LARGE, RpcCode::ResourceExhausted, text)
    })?;
    if !running.owner.spend_bytes(bytes.len() as u64) {
        return Err(Fault::new(RpcCode::ResourceExhausted, "too many bytes within an hour"));
    }
    let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
    serde_json::from_slice(bytes).map_err(|e| Fault::invalid(format!("the body: {e}")))
}

fn create_context(running: &RunningBox, asked: &ContextRequest) -> Result<Arc<CodeContext>, Fault> {
    let language = CodeLanguage::named(asked.language.as_deref())?;
    if language != CodeLanguage::Python {
        return Err(Fault::invalid(
            "contexts are created for python only; javascript, typescript and bash have one each",
        ));
    }
    let cwd = BoxUser::User.absolute_path(asked.cwd.as_deref().unwrap_or_default())?;
    ensure_home(running, &cwd)?;
    let child = ChildContext::begin(running, &cwd)?;
    running.contexts.add(CodeContext::new(language, cwd, Some(child))?)
}

/// Forgets the variables of a context.
fn restart_context(running: &RunningBox, id: &str) -> Result<(), Fault> {
    let context = running.contexts.find(id)?;
    match &context.child {
        Some(child) => child.restart(running, &context.cwd),
        // The session's interpreters are reset together.
        None => Ok(running.session.reset()?),
    }
}
