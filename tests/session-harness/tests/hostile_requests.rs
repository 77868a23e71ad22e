//! Requests of somebody who wants what is another's, or wants the server to fall: headers, paths,
//! tokens, sizes, odd JSON, protocols.
//!
//! None may be answered by a failure of the server (5xx), none may give what belongs to another
//! token, and the server works afterwards. The statuses are those that RFC 9110 and the protocols
//! demand.

use serde_json::{Value, json};
use wasibox::policy::ToolSettings;
use wasibox_sessions::http::{Answer, TestServer, serve, serve_e2b};

const TOKENS: &str = r#"
[[token]]
name = "alice"
token = "alice-0123456789abcdef"
[[token]]
name = "bob"
token = "bob-0123456789abcdef"
limits = { sessions = 3, requests = 64 }
[[token]]
name = "reader"
token = "reader-0123456789abcdef"
scopes = ["read"]
"#;
const ALICE: &str = "alice-0123456789abcdef";
const BOB: &str = "bob-0123456789abcdef";
const READER: &str = "reader-0123456789abcdef";
/// The text that nobody but Alice may read.
const SECRET: &str = "the-secret-of-alice";

/// A request (method, path, headers, body) and the status of its answer. `BOB`, `ALICE` and `READER`
/// stand for tokens, `LONG` for 64 KiB.
type Trick = (&'static str, &'static str, &'static str, &'static str, u16);

const TOKEN: &str = "Authorization: Bearer BOB\nContent-Type: application/json";
const EXEC: &str = "/v1/sessions/b/tools/sandbox_exec";
const FILE: &str = "/v1/sessions/b/tools/read_file";

#[rustfmt::skip]
const REST: &[Trick] = &[
    // Tokens.
    ("GET", "/v1/sessions", "Authorization: bearer", "", 401),
    ("GET", "/v1/sessions", "Authorization: Bearer", "", 401),
    ("GET", "/v1/sessions", "Authorization: Bearer BOB BOB", "", 401),
    ("GET", "/v1/sessions", "Authorization: Basic BOB", "", 401),
    ("GET", "/v1/sessions", "Authorization: Bearer bob-0123", "", 401),
    ("GET", "/v1/sessions", "Authorization: Bearer BOB, Bearer ALICE", "", 401),
    ("GET", "/v1/sessions?access_token=ALICE", "", "", 401),
    ("GET", "/v1/sessions", "Cookie: token=ALICE", "", 401),
    ("GET", "/v1/sessions", "X-Forwarded-User: alice", "", 401),
    ("GET", "/metrics", "", "", 401),
    ("POST", "/mcp", "Content-Type: application/json", "{}", 401),
    // Paths to another's session.
    ("GET", "/v1/sessions/secret", TOKEN, "", 404),
    ("GET", "/v1/sessions/alice.secret", TOKEN, "", 404),
    ("GET", "/v1/sessions/..%2falice.secret", TOKEN, "", 404),
    ("GET", "/v1/sessions/b/../../alice.secret", TOKEN, "", 404),
    ("GET", "/v1/sessions/%00", TOKEN, "", 404),
    ("GET", "/v1/sessions/secret/files/home/user/f", TOKEN, "", 404),
    ("GET", "/v1/sessions/alice.secret/files/home/user/f", TOKEN, "", 404),
    ("GET", "/v1/sessions/secret/snapshot?history=true", TOKEN, "", 404),
    ("DELETE", "/v1/sessions/secret", TOKEN, "", 404),
    ("PUT", "/v1/sessions/LONG", TOKEN, "", 414),
    ("POST", "/v1/sessions/secret/tools/fork", TOKEN, r#"{"name":"b2"}"#, 404),
    // Names that clients and proxies would remove from an address.
    ("PUT", "/v1/sessions/%2e", TOKEN, "", 422),
    ("PUT", "/v1/sessions/%2e%2e", TOKEN, "", 422),
    ("PUT", "/v1/sessions/..", TOKEN, "", 422),
    ("PUT", "/v1/sessions/%2e%2e/snapshot", TOKEN, "", 422),
    ("POST", "/v1/sessions/b/tools/fork", TOKEN, r#"{"name":".."}"#, 422),
    ("POST", "/v1/sessions/b/tools/fork", TOKEN, r#"{"name":""}"#, 422),
    ("GET", "//v1/sessions", TOKEN, "", 404),
    ("GET", "/v1/sessions/", TOKEN, "", 404),
    // What a scope does not allow.
    ("PUT", "/v1/sessions/r", "Authorization: Bearer READER", "", 403),
    ("POST", EXEC, "Authorization: Bearer READER\nContent-Type: application/json", "{}", 403),
    // Methods and protocols.
    ("PATCH", "/v1/sessions/b", TOKEN, "", 405),
    ("GET", EXEC, TOKEN, "", 405),
    ("BREW", "/v1/sessions", TOKEN, "", 405),
    ("GET", "/v1/sessions/b/terminal", TOKEN, "", 400),
    ("PRI", "*", "", "", 404),
    // Odd JSON.
    ("POST", EXEC, TOKEN, "", 422),
    ("POST", EXEC, TOKEN, "null", 400),
    ("POST", EXEC, TOKEN, "[{}]", 400),
    ("POST", EXEC, TOKEN, "{\"command\":1}", 422),
    ("POST", EXEC, TOKEN, "{\"command\":\"\\ud800\"}", 400),
    ("POST", EXEC, TOKEN, "{\"command\":\"a\\u0000b\"}", 422),
    ("POST", EXEC, TOKEN, "{\"command\":\"true\",\"command\":\"false\"}", 400),
    ("POST", EXEC, TOKEN, "{\"command\":\"true\",\"environment\":{\"A\":\"1\",\"A\":\"2\"}}", 400),
    ("POST", EXEC, TOKEN, "{\"command\":\"true\",\"timeout\":-1}", 422),
    ("POST", EXEC, TOKEN, "{\"command\":\"true\",\"timeout\":1e400}", 400),
    ("POST", EXEC, TOKEN, "{\"command\":\"true\",\"session\":\"secret\"}", 422),
    ("POST", EXEC, TOKEN, "{\"command\":\"true\"} {}", 400),
    ("POST", FILE, TOKEN, r#"{"path":"","limit":18446744073709551616}"#, 422),
    ("POST", "/v1/sessions/b/tools/../../secret/tools/history", TOKEN, "{}", 404),
    ("POST", "/v1/sessions/b/tools/sandbox_exec%00", TOKEN, "{}", 404),
    ("POST", "/v1/sessions/b/tools/use_session", TOKEN, r#"{"name":"secret"}"#, 404),
    ("POST", "/v1/sessions/b/tools/fork", TOKEN, r#"{"count":4000000000}"#, 422),
    ("POST", "/v1/sessions/b/tools/restore", TOKEN, r#"{"commit":18446744073709551615}"#, 404),
    // Bodies that say what they are not.
    ("POST", EXEC, "Authorization: Bearer BOB\nContent-Type: text/plain", "{}", 415),
    ("POST", EXEC, "Authorization: Bearer BOB", "{}", 415),
    ("PUT", "/v1/sessions/b2/snapshot", TOKEN, "not a snapshot", 422),
    ("PUT", "/v1/sessions/b/files/home/user/..%2f..%2f..%2fetc", TOKEN, "x", 422),
    ("GET", "/v1/sessions/b/files/home/user/%ff", TOKEN, "", 400),
    // Ports and links.
    ("GET", "/v1/sessions/b/ports/99999/", TOKEN, "", 400),
    ("POST", "/v1/sessions/b/links", TOKEN, r#"{"port":0}"#, 400),
    ("POST", "/v1/sessions/secret/links", TOKEN, r#"{"port":8000}"#, 404),
    // Pages of others.
    ("POST", EXEC, "Authorization: Bearer BOB\nContent-Type: application/json\nOrigin: http://evil.example", "{}", 403),
];

const RPC: &str = "Authorization: Bearer BOB\nContent-Type: application/json\nAccept: application/json, text/event-stream";

#[rustfmt::skip]
const MCP: &[Trick] = &[
    ("POST", "/mcp", RPC, "", 415),
    ("POST", "/mcp", RPC, "{", 415),
    ("POST", "/mcp", RPC, "[]", 415),
    ("POST", "/mcp", RPC, r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 415),
    ("POST", "/mcp", RPC, r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, 415),
    ("POST", "/mcp", "Authorization: Bearer BOB\nContent-Type: application/json", "{}", 406),
    ("POST", "/mcp", "Authorization: Bearer BOB\nContent-Type: text/plain\nAccept: application/json, text/event-stream", "{}", 415),
    ("GET", "/mcp", "Authorization: Bearer BOB\nAccept: text/html", "", 406),
    ("DELETE", "/mcp", "Authorization: Bearer BOB\nMcp-Session-Id: none", "", 404),
    ("POST", "/mcp", "Authorization: Bearer BOB\nContent-Type: application/json\nAccept: application/json, text/event-stream\nMcp-Session-Id: ../x", "{}", 404),
    ("PUT", "/mcp", RPC, "{}", 405),
    ("POST", "/mcp", "Authorization: Bearer BOB\nContent-Type: application/json\nAccept: application/json, text/event-stream\nOrigin: null", "{}", 403),
];

/// The parameters of requests that stand alone, with a method each. All are refused: by an error of
/// the protocol, or by a result that is one.
#[rustfmt::skip]
const STATELESS: &[(&str, &str)] = &[
    ("tasks/get", r#"{"taskId":""}"#),
    ("tasks/get", r#"{"taskId":"../../x"}"#),
    ("tasks/get", r#"{"taskId":7}"#),
    ("tasks/cancel", r#"{"taskId":"00000000-0000-0000-0000-000000000000"}"#),
    ("tasks/update", r#"{"taskId":"x","inputResponses":{"a":1}}"#),
    ("tasks/list", r"{}"),
    ("tools/call", r#"{"name":"sandbox_exec"}"#),
    ("tools/call", r#"{"name":"use_session","arguments":{"name":"secret"}}"#),
    ("tools/call", r#"{"name":"sandbox_exec","arguments":{"command":["a"]}}"#),
    ("tools/call", r#"{"name":"SANDBOX_EXEC","arguments":{}}"#),
    ("resources/read", r#"{"uri":"file:///etc/passwd"}"#),
    ("resources/read", r#"{"uri":"sandbox:///../../secret"}"#),
    ("prompts/get", r#"{"name":"../machine"}"#),
    ("nothing/here", r"{}"),
];

const KEY: &str = "X-API-KEY: BOB\nContent-Type: application/json";

#[rustfmt::skip]
const E2B: &[Trick] = &[
    ("GET", "/v2/sandboxes", "X-API-KEY: BOB\nX-API-KEY: ALICE", "", 400),
    ("GET", "/v2/sandboxes", "Authorization: Bearer BOB\nAuthorization: Bearer ALICE", "", 400),
    ("GET", "/v2/sandboxes", "X-API-KEY: no\nAuthorization: Bearer BOB", "", 401),
    ("GET", "/v2/sandboxes", "Authorization: Bearer bob-0123", "", 401),
    ("GET", "/v2/sandboxes?metadata=%ff", KEY, "", 200),
    ("GET", "/sandboxes/SANDBOX", KEY, "", 404),
    ("GET", "/sandboxes/SANDBOX/logs", KEY, "", 404),
    ("GET", "/sandboxes/SANDBOX/metrics", KEY, "", 404),
    ("POST", "/sandboxes/SANDBOX/fork", KEY, r#"{"count":1}"#, 404),
    ("POST", "/sandboxes/SANDBOX/snapshots", KEY, r"{}", 404),
    ("POST", "/sandboxes/SANDBOX/timeout", KEY, r#"{"timeout":1}"#, 404),
    ("POST", "/sandboxes", KEY, r#"{"templateID":"base","timeout":"1"}"#, 400),
    ("POST", "/sandboxes", KEY, r#"{"templateID":"base","metadata":{"a":1}}"#, 400),
    ("POST", "/sandboxes", KEY, r#"{"templateID":"SANDBOX"}"#, 404),
    ("POST", "/sandboxes", "X-API-KEY: BOB\nContent-Type: text/plain", "{}", 404),
    ("GET", "/files?path=/home/user/f", "E2b-Sandbox-Id: SANDBOX\nE2b-Sandbox-Port: 49983\nX-Access-Token: BOB", "", 401),
    ("GET", "/files?path=/home/user/f", "E2b-Sandbox-Id: SANDBOX\nE2b-Sandbox-Port: 49983\nX-API-KEY: BOB", "", 401),
    ("GET", "/files?path=/home/user/f", "E2b-Sandbox-Id: SANDBOX\nE2b-Sandbox-Id: other\nE2b-Sandbox-Port: 49983", "", 400),
    ("GET", "/files?path=/home/user/f", "E2b-Sandbox-Id: SANDBOX\nE2b-Sandbox-Port: 49983\nX-Access-Token: BOB\nX-Access-Token: ALICE", "", 400),
    ("POST", "/sandboxes", KEY, r#"{"templateID":"base","templateID":"other"}"#, 400),
    ("GET", "/", "E2b-Sandbox-Id: SANDBOX\nE2b-Sandbox-Port: -1", "", 400),
    ("GET", "/", "E2b-Sandbox-Id: SANDBOX\nE2b-Sandbox-Port: 70000", "", 400),
    ("POST", "/execute", "E2b-Sandbox-Id: SANDBOX\nE2b-Sandbox-Port: 49999\nContent-Type: application/json", r#"{"code":"1"}"#, 401),
    ("PATCH", "/sandboxes/SANDBOX", KEY, "{}", 404),
];

/// Sends a trick, with `fill` for further words.
fn send(server: &TestServer, trick: &Trick, fill: (&str, &str)) -> Answer {
    let (method, path, headers, body, _) = *trick;
    let long = "x".repeat(64 << 10);
    let filled = |text: &str| {
        text.replace("ALICE", ALICE)
            .replace("BOB", BOB)
            .replace("READER", READER)
            .replace("LONG", &long)
            .replace(fill.0, fill.1)
    };
    server.request(method, &filled(path), &filled(headers), filled(body).as_bytes())
}

/// Sends all tricks, and lists those whose answers are wrong.
fn send_all(server: &TestServer, tricks: &[Trick], fill: (&str, &str)) -> Vec<String> {
    let mut wrong = Vec::new();
    for trick in tricks {
        let answer = send(server, trick, fill);
        let text = answer.text();
        if answer.status != trick.4 || text.contains(SECRET) {
            let shown: String = text.chars().take(200).collect();
            let path: String = trick.1.chars().take(80).collect();
            let request = format!("{} {path} {:?} {}", trick.0, trick.2, trick.3);
            wrong.push(format!("{request}: {} instead of {}: {shown}", answer.status, trick.4));
        }
    }
    wrong
}

/// A server with a session of Alice and one of Bob.
fn served() -> TestServer {
    let server = serve(Some(TOKENS), None, ToolSettings::default());
    for (token, name) in [(ALICE, "secret"), (BOB, "b")] {
        let made = server.json(token, "PUT", &format!("/v1/sessions/{name}"), &Value::Null);
        assert!(made.status < 300, "{}", made.text());
    }
    let write = json!({ "command": format!("echo {SECRET} > f") });
    server.tool(ALICE, "secret", "sandbox_exec", &write);
    server
}

#[test]
fn no_request_gets_what_is_anothers_or_breaks_the_server() {
    let server = served();
    let wrong = send_all(&server, REST, ("\0", ""));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Sizes: a deep value, a long line of headers, many headers, a body that is too long.
    let deep = format!("{{\"command\":{}1{}}}", "[".repeat(50_000), "]".repeat(50_000));
    let empty = server.json(BOB, "POST", EXEC, &Value::Null).status;
    assert!((400..500).contains(&empty), "{empty}");
    let headers = format!("Authorization: Bearer {BOB}\nContent-Type: application/json");
    let nested = server.request("POST", EXEC, &headers, deep.as_bytes()).status;
    assert!((400..500).contains(&nested), "{nested}");
    for more in [format!("X-A: {}", "y".repeat(1 << 20)), "X-A: b\n".repeat(5000)] {
        let answer = server.request("GET", "/v1/sessions", &format!("{headers}\n{more}"), b"");
        assert!((400..500).contains(&answer.status), "{}", answer.status);
    }
    // Alice still has what she had, and Bob a session that works.
    let read = server.tool(ALICE, "secret", "sandbox_exec", &json!({ "command": "cat f" }));
    assert_eq!(read["stdout"], format!("{SECRET}\n"));
    let ran = server.tool(BOB, "b", "sandbox_exec", &json!({ "command": "echo $((6*7))" }));
    assert_eq!(ran["stdout"], "42\n");
}

#[test]
fn no_message_of_mcp_gets_what_is_anothers_or_breaks_the_server() {
    let server = served();
    let wrong = send_all(&server, MCP, ("\0", ""));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (method, params) in STATELESS {
        let mut params: Value = serde_json::from_str(params).unwrap();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":
                { "extensions": { "io.modelcontextprotocol/tasks": {} } },
        });
        let name = ["name", "uri", "taskId"].iter().find_map(|key| params[*key].as_str());
        let name = name.map(|name| format!("\nMcp-Name: {name}")).unwrap_or_default();
        let headers =
            format!("{RPC}\nMCP-Protocol-Version: 2026-07-28\nMcp-Method: {method}{name}");
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let headers = headers.replace("BOB", BOB);
        let answer = server.request("POST", "/mcp", &headers, message.to_string().as_bytes());
        let text = answer.text();
        assert!(answer.status < 500 && !text.contains(SECRET), "{method} {params}: {text}");
        assert!(
            text.contains("\"error\"") || text.contains("\"isError\":true"),
            "{method} {params}: {} {text}",
            answer.status
        );
    }
    let ran = server.tool(BOB, "b", "sandbox_exec", &json!({ "command": "echo $((6*7))" }));
    assert_eq!(ran["stdout"], "42\n");
}

#[test]
fn no_request_of_e2b_gets_what_is_anothers_or_breaks_the_server() {
    let server = serve_e2b(TOKENS, None);
    let key = format!("X-API-KEY: {ALICE}\nContent-Type: application/json");
    let made = server.request("POST", "/sandboxes", &key, br#"{"templateID":"base"}"#);
    assert_eq!(made.status, 201, "{}", made.text());
    let made = made.value();
    let id = made["sandboxID"].as_str().unwrap();
    let token = made["envdAccessToken"].as_str().unwrap();
    let own = format!("E2b-Sandbox-Id: {id}\nE2b-Sandbox-Port: 49983\nX-Access-Token: {token}");
    let bytes = format!("{own}\nContent-Type: application/octet-stream");
    let written = server.request("POST", "/files?path=/home/user/f", &bytes, SECRET.as_bytes());
    assert_eq!(written.status, 200, "{}", written.text());
    let wrong = send_all(&server, E2B, ("SANDBOX", id));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let read = server.request("GET", "/files?path=/home/user/f", &own, b"");
    assert_eq!((read.status, read.text()), (200, SECRET.to_owned()));
}
