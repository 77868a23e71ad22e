//! The OpenAPI 3.1 document of the interface, generated when it is asked for: tools from their
//! table, other answers from the types that are sent.

use crate::files::UploadedFile;
use crate::ports::{LinkAnswer, LinkRequest, PortList};
use crate::problem::ProblemDocument;
use crate::sessions::{SessionList, SessionName};
use crate::sheets::{ChangedSheet, SheetChange, SheetList, TestAnswer, TestRequest};
use crate::tools::{NOT_HERE, ToolList};
use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};
use wasibox_actions::{ListedTool, Registry, SessionInfo};

/// Returns the document of a server with these tools.
pub fn openapi_document(registry: &Registry) -> Value {
    let mut schemas = AnswerSchemas::new();
    let mut paths = fixed_paths(&mut schemas);
    schemas.refer::<ProblemDocument<'_>>();
    for listed in registry.tools().filter(|t| t.tool.name != NOT_HERE) {
        let path = format!("/v1/sessions/{{session}}/tools/{}", listed.tool.name);
        paths.insert(path, tool_operation(listed));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Wasibox",
            "version": env!("CARGO_PKG_VERSION"),
            "description": registry.summary(),
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas.generator.take_definitions(true),
        },
    })
}

/// The schemas of the types that answers have.
struct AnswerSchemas {
    generator: SchemaGenerator,
}

impl AnswerSchemas {
    fn new() -> AnswerSchemas {
        let mut settings = SchemaSettings::draft2020_12().for_serialize();
        settings.definitions_path = "/components/schemas".into();
        AnswerSchemas { generator: settings.into_generator() }
    }

    /// Returns a reference to the schema of a type.
    fn refer<T: JsonSchema>(&mut self) -> Value {
        Value::from(self.generator.subschema_for::<T>())
    }

    /// Returns the content of an answer in JSON.
    fn content_of<T: JsonSchema>(&mut self) -> Value {
        json!({ "application/json": { "schema": self.refer::<T>() } })
    }
}

fn tool_operation(listed: &ListedTool) -> Value {
    let tool = listed.tool;
    let mut responses = Map::new();
    responses.insert(
        "200".into(),
        json!({
            "description": "The result. With `Accept: text/event-stream`: events `output` while the tool runs, then one event `result` or `problem`.",
            "content": {
                "application/json": { "schema": *listed.output },
                "text/event-stream": { "schema": { "type": "string" } },
            },
        }),
    );
    responses.extend(problem_responses(&[400, 401, 403, 404, 409, 413, 415, 422, 423, 429, 503]));
    json!({
        "parameters": [name_parameter()],
        "post": {
            "operationId": tool.name,
            "summary": tool.title,
            "description": format!("{} Scope: {}.", tool.text, tool.scope.name()),
            "tags": [tool.scope.name()],
            "requestBody": {
                "required": true,
                "content": { "application/json": { "schema": *listed.input } },
            },
            "responses": responses,
        },
    })
}

fn name_parameter() -> Value {
    json!({
        "name": "session", "in": "path", "required": true,
        "schema": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,60}$" },
    })
}

fn tool_parameter() -> Value {
    json!({ "name": "tool", "in": "path", "required": true, "schema": { "type": "string" } })
}

fn problem_responses(statuses: &[u16]) -> Map<String, Value> {
    let one = |status: &u16| {
        let content = json!({
            "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } },
        });
        (
            status.to_string(),
            json!({ "description": "The reason why the request was refused.", "content": content }),
        )
    };
    statuses.iter().map(one).collect()
}

/// Returns the response of a successful operation.
fn done_response(status: u16, text: &str, content: Value) -> Map<String, Value> {
    let mut all = problem_responses(&[400, 401, 403, 404, 409, 413, 422, 423, 429, 503]);
    let mut answer = json!({ "description": text });
    if !content.is_null() {
        answer["content"] = content;
    }
    all.insert(status.to_string(), answer);
    all
}

fn fixed_paths(schemas: &mut AnswerSchemas) -> Map<String, Value> {
    let name = schemas.content_of::<SessionName>();
    let file = schemas.content_of::<UploadedFile>();
    let bytes =
        |kind: &str| json!({ kind: { "schema": { "type": "string", "format": "binary" } } });
    let path = json!({
        "name": "path", "in": "path", "required": true, "schema": { "type": "string" },
        "description": "An absolute path without its first slash. Other slashes need not be encoded.",
    });
    let history = json!({ "name": "history", "in": "query", "schema": { "type": "boolean" } });
    let mut made = done_response(201, "The session was created.", name.clone());
    made.insert(
        "200".into(),
        json!({ "description": "The session existed already.", "content": name.clone() }),
    );
    let mut uploaded = done_response(201, "A new file.", file.clone());
    uploaded
        .insert("200".into(), json!({ "description": "The file is replaced.", "content": file }));
    let all = json!({
        "/v1/tools": { "get": {
            "operationId": "list_tools", "summary": "The tools and their schemas", "tags": ["read"],
            "responses": done_response(200, "The tools that the token may use.", schemas.content_of::<ToolList<'_>>()),
        } },
        "/v1/tools/settings": { "get": {
            "operationId": "list_tool_settings", "summary": "All tools with their settings", "tags": ["manage"],
            "responses": done_response(200, "The tools.", schemas.content_of::<SheetList>()),
        } },
        "/v1/tools/settings/{tool}": {
            "parameters": [tool_parameter()],
            "put": {
                "operationId": "set_tool", "summary": "Switch a tool and change its settings", "tags": ["manage"],
                "requestBody": { "required": true, "content": schemas.content_of::<SheetChange>() },
                "responses": done_response(200, "The tool.", schemas.content_of::<ChangedSheet>()),
            },
        },
        "/v1/tools/settings/{tool}/test": {
            "parameters": [tool_parameter()],
            "post": {
                "operationId": "test_tool", "summary": "Call a tool that uses a server of others", "tags": ["manage"],
                "requestBody": { "content": schemas.content_of::<TestRequest>() },
                "responses": done_response(200, "The tool's answer.", schemas.content_of::<TestAnswer>()),
            },
        },
        "/v1/sessions": { "get": {
            "operationId": "list_sessions", "summary": "The sessions", "tags": ["read"],
            "responses": done_response(200, "The sessions.", schemas.content_of::<SessionList>()),
        } },
        "/v1/sessions/{session}": {
            "parameters": [name_parameter()],
            "get": {
                "operationId": "show_session", "summary": "A session", "tags": ["read"],
                "responses": done_response(200, "The session.", schemas.content_of::<SessionInfo>()),
            },
            "put": {
                "operationId": "make_session", "summary": "Create a session", "tags": ["manage"],
                "responses": made,
            },
            "delete": {
                "operationId": "remove_session", "summary": "Remove a session", "tags": ["manage"],
                "responses": done_response(204, "The session was removed.", Value::Null),
            },
        },
        "/v1/sessions/{session}/files/{path}": {
            "parameters": [name_parameter(), path],
            "get": {
                "operationId": "get_file", "summary": "A file's bytes", "tags": ["read"],
                "responses": done_response(200, "The bytes.", bytes("*/*")),
            },
            "put": {
                "operationId": "put_file", "summary": "Write a file", "tags": ["write"],
                "requestBody": { "content": bytes("application/octet-stream") },
                "responses": uploaded,
            },
        },
        "/v1/sessions/{session}/ports": {
            "parameters": [name_parameter()],
            "get": {
                "operationId": "list_ports", "summary": "The ports at which programs listen", "tags": ["read"],
                "responses": done_response(200, "The ports.", schemas.content_of::<PortList>()),
            },
        },
        "/v1/sessions/{session}/links": {
            "parameters": [name_parameter()],
            "post": {
                "operationId": "make_link", "summary": "A signed link to a port", "tags": ["run"],
                "requestBody": { "required": true, "content": schemas.content_of::<LinkRequest>() },
                "responses": done_response(201, "The link.", schemas.content_of::<LinkAnswer>()),
            },
        },
        "/v1/sessions/{session}/snapshot": {
            "parameters": [name_parameter()],
            "get": {
                "operationId": "get_snapshot", "summary": "The session as one file", "tags": ["read"],
                "parameters": [history],
                "responses": done_response(200, "The snapshot, a .wbs file.", bytes("application/vnd.wasibox.snapshot")),
            },
            "put": {
                "operationId": "put_snapshot", "summary": "Create a session from a snapshot",
                "tags": ["manage"],
                "requestBody": { "content": bytes("application/vnd.wasibox.snapshot") },
                "responses": done_response(201, "The session was created.", name),
            },
        },
    });
    match all {
        Value::Object(all) => all,
        _ => Map::new(),
    }
}
