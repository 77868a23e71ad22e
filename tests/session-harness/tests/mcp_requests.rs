//! Tests requests of the Model Context Protocol that stand alone, over HTTP.
//!
//! The authority is the protocol's specification of 2026-07-28: transports, versioning, discovery
//! and caching.

use serde_json::{Value, json};
use wasibox::policy::ToolSettings;
use wasibox_sessions::http::{Answer, TestServer, serve};
use wasibox_sessions::mcp::Connection;

const TOKENS: &str = "
[[token]]
name = 'a'
token = 'alice-alice-alice'
[[token]]
name = 'b'
token = 'bobby-bobby-bobby'
[[token]]
name = 'r'
token = 'reader-reader-reader'
scopes = ['read', 'run']
";

const ALICE: &str = "alice-alice-alice";
const VERSION: &str = "2026-07-28";

/// Sends a request with the headers that the protocol demands. `version` is that of the header and
/// of the message.
fn send(
    server: &TestServer,
    (token, path): (&str, &str),
    version: &str,
    method: &str,
    params: Value,
) -> Answer {
    send_able(server, (token, path), version, method, params, &json!({}))
}

/// Sends a request of a client with these capabilities.
fn send_able(
    server: &TestServer,
    (token, path): (&str, &str),
    version: &str,
    method: &str,
    mut params: Value,
    capabilities: &Value,
) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let mut headers = format!(
        "Accept: application/json, text/event-stream\nContent-Type: application/json\n\
         Authorization: Bearer {token}\nMCP-Protocol-Version: {version}\nMcp-Method: {method}\n"
    );
    if let Some(name) = params["name"].as_str().or(params["taskId"].as_str()) {
        headers += &format!("Mcp-Name: {name}\n");
    }
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    server.request("POST", path, &headers, message.to_string().as_bytes())
}

/// Returns the message of an answer, which is JSON or the last event with data.
fn message_of(answer: &Answer) -> Value {
    let text = answer.text();
    let mut data = text.lines().filter_map(|l| l.strip_prefix("data:")).map(str::trim);
    let last = data.rfind(|d| !d.is_empty()).unwrap_or(&text);
    serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn ask(server: &TestServer, from: (&str, &str), method: &str, params: Value) -> Value {
    let answer = send(server, from, VERSION, method, params);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("mcp-session-id"), None);
    message_of(&answer)["result"].take()
}

fn exec(server: &TestServer, from: (&str, &str), command: &str) -> Value {
    let arguments = json!({ "command": command });
    ask(server, from, "tools/call", json!({ "name": "sandbox_exec", "arguments": arguments }))
}

fn stdout(result: &Value) -> &str {
    result["structuredContent"]["stdout"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[test]
fn each_request_stands_alone_and_its_session_is_in_the_address() {
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    let shared = (ALICE, "/mcp");
    let found = ask(&s, shared, "server/discover", json!({}));
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!(VERSION)));
    assert_eq!(
        (&found["resultType"], &found["cacheScope"]),
        (&json!("complete"), &json!("private"))
    );
    assert!(found["capabilities"]["tools"].is_object());
    let listed = ask(&s, shared, "tools/list", json!({}));
    assert!(listed["ttlMs"].as_u64().unwrap() > 0, "{listed}");
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"sandbox_exec") && names.contains(&"fork"));
    // It would have no effect on the next request.
    assert!(!names.contains(&"use_session"));

    let first = exec(&s, shared, "cd /tmp; n=7; echo here > f");
    assert_eq!(first["resultType"], "complete");
    assert_eq!(stdout(&exec(&s, shared, "pwd; echo $n; cat f")), "/tmp\n7\nhere\n");
    // The address names another session, and another token has sessions of its own.
    let work = (ALICE, "/mcp?session=work");
    assert_eq!(stdout(&exec(&s, work, "ls /tmp; echo $n")), "\n");
    assert_eq!(stdout(&exec(&s, ("bobby-bobby-bobby", "/mcp"), "ls /tmp; echo $n")), "\n");
    let read = ask(&s, shared, "resources/list", json!({}));
    assert!(read["resources"].is_array());
    // Clients with a handshake have sessions of their own beside them.
    let mut with_handshake = Connection::begin(&s, ALICE, "/mcp");
    let ran = with_handshake.call("sandbox_exec", json!({ "command": "echo ${n-none}" }));
    assert_eq!(stdout(&ran), "none\n");
}

#[test]
fn a_token_without_manage_makes_no_session() {
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    let reader = ("reader-reader-reader", "/mcp");
    let listed = ask(&s, reader, "tools/list", json!({}));
    assert!(!listed["tools"].as_array().unwrap().is_empty());
    let refused = exec(&s, reader, "echo hi");
    assert_eq!(refused["isError"], true, "{refused}");
    let named = send(&s, (reader.0, "/mcp?session=work"), VERSION, "tools/list", json!({}));
    assert!(message_of(&named)["error"].is_object());
}

#[test]
fn requests_that_contradict_themselves_are_refused() {
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    let from = (ALICE, "/mcp");
    // Versioning: the error lists the versions that are spoken.
    let future = send(&s, from, "2031-01-01", "tools/list", json!({}));
    assert_eq!(future.status, 400);
    let error = message_of(&future)["error"].take();
    assert_eq!(error["code"], -32022, "{error}");
    assert!(error["data"]["supported"].as_array().unwrap().contains(&json!(VERSION)));
    // Transports: a header that differs from the message is an error.
    let headers = format!(
        "Accept: application/json, text/event-stream\nContent-Type: application/json\n\
         Authorization: Bearer {ALICE}\nMCP-Protocol-Version: {VERSION}\nMcp-Method: tools/list\n"
    );
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "sandbox_exec", "arguments": { "command": "echo hi" }, "_meta": meta,
    } });
    let answer = s.request("POST", "/mcp", &headers, message.to_string().as_bytes());
    assert_eq!(answer.status, 400);
    assert_eq!(message_of(&answer)["error"]["code"], -32020);
    // Nothing ran, so nothing was made.
    let info = s.request("GET", "/v1/sessions", &format!("Authorization: Bearer {ALICE}\n"), b"");
    assert!(!info.text().contains("\"mcp\""), "{}", info.text());
}

/// Asks as a client that knows the extension for tasks (SEP-2663).
fn ask_with_tasks(server: &TestServer, from: (&str, &str), method: &str, params: Value) -> Value {
    let able = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    message_of(&send_able(server, from, VERSION, method, params, &able))
}

fn call_of(command: &str) -> Value {
    json!({ "name": "sandbox_exec", "arguments": { "command": command } })
}

/// Asks for a task until it has ended.
fn end_of_task(server: &TestServer, from: (&str, &str), id: &str) -> Value {
    for _ in 0..300 {
        let mut found = ask_with_tasks(server, from, "tasks/get", json!({ "taskId": id }));
        let found = found["result"].take();
        assert_eq!((&found["resultType"], &found["taskId"]), (&json!("complete"), &json!(id)));
        if found["status"] != "working" {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("the task {id} does not end");
}

#[test]
fn long_calls_become_tasks_for_clients_that_know_them() {
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    let alice = (ALICE, "/mcp");
    let found = ask(&s, alice, "server/discover", json!({}));
    assert!(found["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object());

    // A short call answers its request, and so does a long one of other clients.
    let short = ask_with_tasks(&s, alice, "tools/call", call_of("echo hi"));
    assert_eq!(short["result"]["resultType"], "complete");
    assert_eq!(stdout(&exec(&s, (ALICE, "/mcp?session=slow"), "sleep 6; echo slow")), "slow\n");

    let made = ask_with_tasks(&s, alice, "tools/call", call_of("n=5; sleep 7; echo end"));
    let task = &made["result"];
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
    for time in ["createdAt", "lastUpdatedAt"] {
        assert!(task[time].as_str().unwrap().contains('T'), "{task}");
    }
    assert!(task["pollIntervalMs"].as_u64().unwrap() > 0 && task["ttlMs"].is_null(), "{task}");
    let id = task["taskId"].as_str().unwrap();
    // Other sessions and other owners do not find it, and neither do clients without tasks.
    for other in [(ALICE, "/mcp?session=work"), ("bobby-bobby-bobby", "/mcp")] {
        for method in ["tasks/get", "tasks/cancel"] {
            let refused = ask_with_tasks(&s, other, method, json!({ "taskId": id }));
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
        }
    }
    let unable = message_of(&send(&s, alice, VERSION, "tasks/get", json!({ "taskId": id })));
    assert_eq!(unable["error"]["code"], -32021, "{unable}");
    let done = end_of_task(&s, alice, id);
    assert_eq!((&done["status"], stdout(&done["result"])), (&json!("completed"), "end\n"));
    assert_eq!(done["result"]["isError"], false);
    assert!(done["ttlMs"].as_u64().unwrap() >= 600_000, "{done}");
    // The session has what the call has done, and the result is there again.
    assert_eq!(stdout(&exec(&s, alice, "echo $n")), "5\n");
    assert_eq!(stdout(&end_of_task(&s, alice, id)["result"]), "end\n");

    // A cancelled call ends, and has no effect.
    let made = ask_with_tasks(&s, alice, "tools/call", call_of("n=6; sleep 1000"));
    let id = made["result"]["taskId"].as_str().unwrap();
    let update = json!({ "taskId": id, "inputResponses": {} });
    assert_eq!(
        ask_with_tasks(&s, alice, "tasks/update", update)["result"]["resultType"],
        "complete"
    );
    let cancelled = ask_with_tasks(&s, alice, "tasks/cancel", json!({ "taskId": id }));
    assert_eq!(cancelled["result"]["resultType"], "complete", "{cancelled}");
    assert_eq!(end_of_task(&s, alice, id)["status"], "cancelled");
    let none = ask_with_tasks(&s, alice, "tasks/get", json!({ "taskId": "none" }));
    assert_eq!(none["error"]["code"], -32602);
}

#[test]
fn calls_are_counted_for_the_token() {
    let tokens =
        "[[token]]\nname = 'a'\ntoken = 'alice-alice-alice'\n[token.limits]\ncpu-seconds = 1\n";
    let s = serve(Some(tokens), None, ToolSettings::default());
    let spin = "timeout 1.5 python3 -c 'while True: pass'; echo spent";
    assert_eq!(stdout(&exec(&s, (ALICE, "/mcp"), spin)), "spent\n");
    let refused = send(&s, (ALICE, "/mcp"), VERSION, "tools/call", call_of("echo hi"));
    assert_eq!(refused.status, 429, "{}", refused.text());
}
