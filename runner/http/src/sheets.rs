//! Settings of tools by HTTP, for tokens whose entry has `tool-settings`. They hold for everybody
//! who uses the server, so the scope `manage`, which is about an owner's own sessions, does not
//! suffice.

use crate::app::HttpApp;
use crate::gate::Caller;
use crate::problem::HttpProblem;
use crate::sessions::run_blocking;
use crate::tools::{CallStopGuard, read_arguments};
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::Response;
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use wasibox_actions::{
    CallStop, Refusal, TOOLS, ToolEntry, ToolScope, ToolSheet, provider_refusal, test_web_tool,
};
use wasibox_providers::settings::{SettingChange, SettingsError};

/// All tools with their settings.
#[derive(Serialize, JsonSchema)]
pub struct SheetList {
    tools: Vec<ToolSheet>,
}

/// A change of a tool's settings. What is left out stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SheetChange {
    /// Whether the tool is on.
    enabled: Option<bool>,
    /// New values by name; null sets the default.
    #[serde(default)]
    settings: BTreeMap<String, Value>,
}

/// A tool after a change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedSheet {
    tool: ToolSheet,
    /// Whether a key was removed because it was meant for another server.
    key_removed: bool,
}

/// A call to try a tool.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestRequest {
    /// The query, address or prompt; an example by default.
    input: Option<String>,
}

/// The answer of a tool that was tried.
#[derive(Serialize, JsonSchema)]
pub struct TestAnswer {
    /// The answer in words.
    text: String,
    answer: Value,
}

fn check_caller(caller: &Caller) -> Result<(), HttpProblem> {
    caller.check_scope(ToolScope::Manage)?;
    if caller.owner.may_set_tools {
        return Ok(());
    }
    let text =
        "the token may not change settings of tools: its entry has no 'tool-settings = true'";
    Err(HttpProblem::forbidden(text))
}

fn find(name: &str) -> Result<&'static ToolEntry, HttpProblem> {
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    tool.ok_or_else(|| HttpProblem::missing(format!("there is no tool '{name}'")))
}

fn sheet(app: &HttpApp, tool: &ToolEntry) -> Result<ToolSheet, SettingsError> {
    let state = app.registry.state_of(tool);
    ToolSheet::new(tool, app.machine.web_tools(), Some(state))
}

/// `GET /v1/tools/settings`: lists all tools with their settings.
pub async fn list_sheets(
    State(app): State<Arc<HttpApp>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response<Body>, HttpProblem> {
    check_caller(&caller)?;
    let listed = run_blocking(move || {
        let tools = TOOLS.iter().map(|tool| sheet(&app, tool)).collect::<Result<_, _>>();
        Ok(SheetList { tools: tools.map_err(settings_refusal)? })
    });
    Ok(axum::Json(listed.await?).into_response())
}

/// `PUT /v1/tools/settings/{tool}`: switches a tool and changes its settings.
pub async fn put_sheet(
    State(app): State<Arc<HttpApp>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response<Body>, HttpProblem> {
    check_caller(&caller)?;
    let tool = find(&name)?;
    let body = Value::Object(read_arguments(&caller, request).await?);
    let change: SheetChange =
        serde_json::from_value(body).map_err(|e| HttpProblem::invalid(format!("the body: {e}")))?;
    let changed = run_blocking(move || {
        let settings = app.machine.web_tools().settings();
        let mut key_removed = false;
        if !change.settings.is_empty() {
            let changes: Vec<SettingChange> = change.settings.into_iter().map(text_of).collect();
            let report = settings.set(tool.name, &changes).map_err(settings_refusal)?;
            key_removed = report.key_removed;
        }
        if let Some(enabled) = change.enabled {
            settings.enable(tool.name, enabled).map_err(settings_refusal)?;
        }
        tracing::info!(tool = tool.name, owner = caller.owner.name, "settings were changed");
        Ok(ChangedSheet { tool: sheet(&app, tool).map_err(settings_refusal)?, key_removed })
    });
    Ok(axum::Json(changed.await?).into_response())
}

/// Returns a change with its value as text.
fn text_of((name, value): (String, Value)) -> SettingChange {
    let value = match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    (name, value)
}

/// `POST /v1/tools/settings/{tool}/test`: calls a tool of the web.
pub async fn test_sheet(
    State(app): State<Arc<HttpApp>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response<Body>, HttpProblem> {
    check_caller(&caller)?;
    let tool = find(&name)?;
    if !tool.is_off {
        return Err(HttpProblem::invalid(format!("{name} uses no server, so there is no test")));
    }
    let body = Value::Object(read_arguments(&caller, request).await?);
    let asked: TestRequest =
        serde_json::from_value(body).map_err(|e| HttpProblem::invalid(format!("the body: {e}")))?;
    let stop = Arc::new(CallStop::default());
    let _ended = CallStopGuard(stop.clone());
    let tested = run_blocking(move || {
        let network = wasibox::bridge_policy(&app.machine.policy().network)?;
        let web = app.machine.web_tools();
        let tested =
            test_web_tool(web, network, tool.name, asked.input.as_deref(), stop.requests());
        let tested = tested.map_err(provider_refusal)?;
        Ok(TestAnswer { text: tested.text, answer: tested.answer })
    });
    Ok(axum::Json(tested.await?).into_response())
}

fn settings_refusal(error: SettingsError) -> Refusal {
    match error {
        SettingsError::Unknown { .. } | SettingsError::Value { .. } => {
            Refusal::invalid_request(error)
        }
        error => provider_refusal(error.into()),
    }
}
