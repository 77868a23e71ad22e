//! Serves the fixtures that the protocol's conformance suite requires of a server: `conformance
//! ADDRESS`. It uses the transport of `runner mcp --http` and shows results in the same way.
//! `conformance list` and the suite's scenarios describe what the suite expects.
// The suite tests sampling and logging, which later versions of the protocol no longer have.
#![expect(deprecated)]

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::IntoResponse;
use rmcp::model::*;
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wasibox_actions::{AnswerPart, Refusal, ToolResult};
use wasibox_mcp::{
    StreamableOptions, call_result, handler_service, refusal_result, resource_contents,
};

/// The pause between two steps of tools that report their progress.
const STEP: Duration = Duration::from_millis(50);
/// A picture of one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\
    \x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";
/// A sound without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

type Context = RequestContext<RoleServer>;
type Answer<T> = Result<T, ErrorData>;

#[tokio::main]
async fn main() {
    let address = std::env::args().nth(1).expect("usage: conformance ADDRESS");
    let options = StreamableOptions {
        connections: std::sync::Arc::default(),
        body: 1 << 20,
        end: CancellationToken::new(),
    };
    let listener = tokio::net::TcpListener::bind(&address).await.expect("the address");
    // The embedder of the service checks the header `Host`; the runner's own check is tested with
    // the runner.
    let own = middleware::from_fn(move |request: Request, next: Next| {
        let host = request.headers().get("host").and_then(|host| host.to_str().ok());
        let is_own = host == Some(&address);
        async move {
            if is_own { next.run(request).await } else { StatusCode::FORBIDDEN.into_response() }
        }
    });
    let app =
        axum::Router::new().route_service("/mcp", handler_service(|| Fixtures, options)).layer(own);
    axum::serve(listener, app).await.expect("a server");
}

struct Fixtures;

fn typed<T: DeserializeOwned>(value: Value) -> Answer<T> {
    serde_json::from_value(value).map_err(internal)
}

fn internal(e: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(e.to_string(), None)
}

fn shown(parts: Vec<AnswerPart>) -> CallToolResult {
    let mut result = call_result(ToolResult { answer: Value::Null, parts, doubled: Vec::new() });
    result.structured_content = None;
    result
}

fn said(text: impl Into<String>) -> CallToolResult {
    shown(vec![AnswerPart::Text(text.into())])
}

fn picture() -> AnswerPart {
    AnswerPart::Image { mime: "image/png".into(), data: PNG.to_vec() }
}

fn embedded(uri: &str, mime: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(resource_contents(uri, mime, text.into()))
}

fn tool(name: &str, properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "name": name, "description": "A fixture of the suite's.", "inputSchema": schema })
}

fn tools() -> Value {
    let plain = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_error_handling",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
    ];
    let mut all: Vec<Value> = plain.map(|name| tool(name, json!({}))).into();
    all.push(tool("test_sampling", json!({ "prompt": { "type": "string" } })));
    all.push(tool("test_elicitation", json!({ "message": { "type": "string" } })));
    let address = json!({
        "type": "object",
        "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
    });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": address },
        "properties": { "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" } },
        "additionalProperties": false,
    });
    all.push(json!({
        "name": "json_schema_2020_12_tool",
        "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": schema,
    }));
    json!({ "tools": all })
}

/// Returns the form with default values.
fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
        "required": [],
    })
}

/// Returns the form with choices.
fn choices() -> Value {
    let plain = ["option1", "option2", "option3"];
    let titled = |titles: [&str; 3]| {
        let each = |(n, title): (usize, &str)| json!({ "const": format!("value{}", n + 1), "title": title });
        titles.into_iter().enumerate().map(each).collect::<Vec<Value>>()
    };
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": plain },
            "titledSingle": { "type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"]) },
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
            "titledMulti": {
                "type": "array",
                "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
            },
        },
        "required": [],
    })
}

async fn asked(
    peer: &Peer<RoleServer>,
    message: &str,
    form: Value,
    what: &str,
) -> Answer<CallToolResult> {
    let request = json!({ "mode": "form", "message": message, "requestedSchema": form });
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(typed(request)?));
    let ClientResult::ElicitResult(result) = peer.send_request(request).await.map_err(internal)?
    else {
        return Err(internal("another result than was asked for"));
    };
    let action = serde_json::to_value(&result.action).map_err(internal)?;
    let content = result.content.unwrap_or_default();
    Ok(said(format!("{what}: action={}, content={content}", action.as_str().unwrap_or_default())))
}

async fn sampled(peer: &Peer<RoleServer>, prompt: &str) -> Answer<CallToolResult> {
    let request = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    let result = peer.create_message(request).await.map_err(internal)?;
    let answer = serde_json::to_value(&result.message).map_err(internal)?;
    let text = answer.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
    Ok(said(format!("LLM response: {text}")))
}

async fn logged(peer: &Peer<RoleServer>) -> Answer<CallToolResult> {
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let told = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text));
        peer.notify_logging_message(told).await.map_err(internal)?;
        tokio::time::sleep(STEP).await;
    }
    Ok(said("three messages were logged"))
}

async fn progressed(context: &Context) -> Answer<CallToolResult> {
    for percent in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let told = ProgressNotificationParam::new(token, percent).with_total(100.0);
            context.peer.notify_progress(told).await.map_err(internal)?;
        }
        tokio::time::sleep(STEP).await;
    }
    Ok(said("three steps were made"))
}

fn mixed() -> CallToolResult {
    let text = AnswerPart::Text("Multiple content types test:".into());
    let mut result = shown(vec![text, picture()]);
    let json = r#"{"test":"data","value":123}"#;
    result.content.push(embedded("test://mixed-content-resource", "application/json", json));
    result
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_logging()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Answer<()> {
        Ok(())
    }

    async fn complete(&self, _: CompleteRequestParams, _: Context) -> Answer<CompleteResult> {
        typed(
            json!({ "completion": { "values": ["paris", "park", "party"], "total": 3, "hasMore": false } }),
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListToolsResult> {
        typed(tools())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answer<CallToolResponse> {
        let argument = |name: &str| {
            let given = request.arguments.as_ref().and_then(|all| all.get(name));
            given.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let person = json!({
            "type": "object",
            "properties": {
                "username": { "type": "string", "description": "User's response" },
                "email": { "type": "string", "description": "User's email address" },
            },
            "required": ["username", "email"],
        });
        let peer = &context.peer;
        let result = match &*request.name {
            "test_simple_text" => said("This is a simple text response for testing."),
            "test_image_content" => shown(vec![picture()]),
            "test_audio_content" => {
                CallToolResult::success(vec![ContentBlock::audio(WAV, "audio/wav")])
            }
            "test_embedded_resource" => {
                let text = "This is an embedded resource content.";
                CallToolResult::success(vec![embedded(
                    "test://embedded-resource",
                    "text/plain",
                    text,
                )])
            }
            "test_multiple_content_types" => mixed(),
            "test_tool_with_logging" => logged(peer).await?,
            "test_error_handling" => refusal_result(&Refusal::invalid_request(
                "This tool intentionally returns an error for testing",
            )),
            "test_tool_with_progress" => progressed(&context).await?,
            "test_sampling" => sampled(peer, &argument("prompt")).await?,
            "test_elicitation" => {
                asked(peer, &argument("message"), person, "User response").await?
            }
            "test_elicitation_sep1034_defaults" => {
                asked(peer, "Defaults", defaults(), "Elicitation completed").await?
            }
            "test_elicitation_sep1330_enums" => {
                asked(peer, "Choices", choices(), "Elicitation completed").await?
            }
            name => {
                return Err(ErrorData::invalid_params(format!("there is no tool '{name}'"), None));
            }
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListResourcesResult> {
        typed(json!({ "resources": [
            { "uri": "test://static-text", "name": "text", "mimeType": "text/plain" },
            { "uri": "test://static-binary", "name": "binary", "mimeType": "image/png" },
            { "uri": "test://watched-resource", "name": "watched", "mimeType": "text/plain" },
        ] }))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListResourceTemplatesResult> {
        typed(
            json!({ "resourceTemplates": [{ "uriTemplate": "test://template/{id}/data", "name": "data" }] }),
        )
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Answer<ReadResourceResponse> {
        let uri = request.uri;
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let (mime, data) = match (&*uri, id) {
            ("test://static-text", _) => {
                ("text/plain", "This is the content of the static text resource.".into())
            }
            ("test://static-binary", _) => ("image/png", PNG.to_vec()),
            ("test://watched-resource", _) => ("text/plain", "watched".into()),
            (_, Some(id)) => {
                let data =
                    json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                ("application/json", data.to_string().into_bytes())
            }
            _ => {
                return Err(ErrorData::resource_not_found(
                    format!("{uri}: no such resource"),
                    None,
                ));
            }
        };
        Ok(ReadResourceResult::new(vec![resource_contents(&uri, mime, data)]).into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Answer<()> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Answer<()> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListPromptsResult> {
        let wants =
            |name: &str| json!({ "name": name, "description": "An argument.", "required": true });
        let prompt = |name: &str, arguments: Value| json!({ "name": name, "description": "A prompt of the suite's.", "arguments": arguments });
        typed(json!({ "prompts": [
            prompt("test_simple_prompt", json!([])),
            prompt("test_prompt_with_arguments", json!([wants("arg1"), wants("arg2")])),
            prompt("test_prompt_with_embedded_resource", json!([wants("resourceUri")])),
            prompt("test_prompt_with_image", json!([])),
        ] }))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Answer<GetPromptResponse> {
        let argument = |name: &str| {
            let given = request.arguments.as_ref().and_then(|all| all.get(name));
            given.and_then(|v| v.as_str()).unwrap_or_default().to_owned()
        };
        let text = |text: &str| PromptMessage::new_text(Role::User, text);
        let messages = match &*request.name {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (a, b) = (argument("arg1"), argument("arg2"));
                vec![text(&format!("Prompt with arguments: arg1='{a}', arg2='{b}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                let content = "Embedded resource content for testing.";
                let block = embedded(&argument("resourceUri"), "text/plain", content);
                let after = text("Please process the embedded resource above.");
                vec![PromptMessage::new(Role::User, block), after]
            }
            "test_prompt_with_image" => {
                let block = shown(vec![picture()]).content.remove(0);
                vec![PromptMessage::new(Role::User, block), text("Please analyze the image above.")]
            }
            name => {
                return Err(ErrorData::invalid_params(
                    format!("there is no prompt '{name}'"),
                    None,
                ));
            }
        };
        Ok(GetPromptResult::new(messages).into())
    }
}
