//! Tests attacks with tokens, scopes, paths and headers: no client reaches another client's
//! session, and no request ends the server.

use serde_json::{Value, json};
use wasibox::policy::ToolSettings;
use wasibox_sessions::http::{TestServer, serve};
use wasibox_sessions::mcp::Connection;

const A: &str = "alice-alice-alice";
const B: &str = "bobby-bobby-bobby";
const R: &str = "reader-reader-reader";
const TOKENS: &str = "
[[token]]
name = 'a'
token = 'alice-alice-alice'
[[token]]
name = 'a-b'
token = 'bobby-bobby-bobby'
[[token]]
name = 'reader'
token = 'reader-reader-reader'
scopes = ['read']
[[token]]
name = 'writer'
token = 'writer-writer-writer'
scopes = ['read', 'write']
";
/// A text that only the owner of the session may see.
const SECRET: &str = "kept-for-alice-only";

fn served() -> TestServer {
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    for (token, name) in [(A, "w"), (A, "b.w"), (B, "mine")] {
        assert_eq!(s.json(token, "PUT", &format!("/v1/sessions/{name}"), &Value::Null).status, 201);
    }
    let write = json!({"command": format!("echo {SECRET} > /tmp/s")});
    s.tool(A, "w", "sandbox_exec", &write);
    s
}

#[test]
fn requests_without_a_valid_token_are_refused() {
    let s = served();
    let body = json!({"command": "cat /tmp/s"}).to_string();
    let cases = [
        "",
        "Authorization:",
        "Authorization: Bearer",
        "Authorization: Bearer ",
        "Authorization: Bearer  alice-alice-alice",
        "Authorization: Bearer alice-alice-alice ,x",
        "Authorization: Bearer alice-alice-alicE",
        "Authorization: Bearer alice-alice-alic",
        "Authorization: Bearer alice-alice-alice\0",
        "Authorization: Bearer alice-alice-alice, Bearer alice-alice-alice",
        "Authorization: Basic YTphbGljZS1hbGljZS1hbGljZQ==",
        "Authorization: alice-alice-alice",
        "Authorization: Token alice-alice-alice",
        "Authorization: Bearer bobby\nAuthorization: Bearer alice-alice-alice",
        "Authorization: Bearer alice-alice-alice\nAuthorization: Bearer alice-alice-alice",
        "X-Authorization: Bearer alice-alice-alice",
        "Proxy-Authorization: Bearer alice-alice-alice",
        "Cookie: token=alice-alice-alice; Authorization=alice-alice-alice",
        "Sec-WebSocket-Protocol: wasibox, bearer.alice-alice-alice",
        "Authorization: Bearer a.w",
        "Authorization: Bearer 6a2e62ab4a7e5dd7a4a1b1bcd2c4ae6f5e0f8e3f3a7d4f6d1fa2c9a5d4e8b7c1",
    ];
    for headers in cases {
        let all = format!("{headers}\nContent-Type: application/json");
        let path = "/v1/sessions/w/tools/sandbox_exec";
        let answer = s.request("POST", path, &all, body.as_bytes());
        assert!(matches!(answer.status, 400 | 401), "{headers:?}: {}", answer.status);
        assert!(!answer.text().contains(SECRET), "{headers:?}");
    }
    for path in
        ["/v1/sessions?token=alice-alice-alice", "/v1/sessions?access_token=alice-alice-alice"]
    {
        assert_eq!(s.request("GET", path, "", b"").status, 401, "{path}");
    }
}

#[test]
fn no_name_reaches_the_session_of_another_client() {
    let s = served();
    let auth = format!("Authorization: Bearer {B}");
    // The session is `a.w` in the store; one of this token's client would be `a-b.NAME`.
    for name in [
        "w",
        "a.w",
        ".w",
        "..w",
        "../a.w",
        "a-b.w",
        "..%2Fa.w",
        "%2e%2e%2fa.w",
        "..%5Ca.w",
        "a%2Ew",
        "w%00",
        "w%0a",
        "%77",
        "w/",
        "./w",
        "w%20",
        "W",
        "*",
        "%25",
        "a.w%00mine",
        "mine%2F..%2Fw",
        "client-",
        "%ff",
        "-",
        "mine;a.w",
        "mine?x=/w",
        "mine%3Fsession=w",
    ] {
        for (method, rest, body) in [
            ("POST", "/tools/sandbox_exec", r#"{"command": "cat /tmp/s"}"#),
            ("GET", "/files/tmp/s", ""),
            ("GET", "/snapshot", ""),
        ] {
            let headers = format!("{auth}\nContent-Type: application/json");
            let answer =
                s.request(method, &format!("/v1/sessions/{name}{rest}"), &headers, body.as_bytes());
            assert!(!answer.text().contains(SECRET), "{method} {name}{rest}");
            let is_refused = (400..500).contains(&answer.status);
            // A request for the caller's own session may succeed; it must not reveal the secret.
            assert!(
                is_refused || name.starts_with("mine"),
                "{method} {name}{rest}: {}",
                answer.status
            );
        }
        let answer = s.request("DELETE", &format!("/v1/sessions/{name}"), &auth, b"");
        assert!(
            (400..500).contains(&answer.status) || name.starts_with("mine"),
            "DELETE {name}: {}",
            answer.status
        );
        s.json(B, "PUT", "/v1/sessions/mine", &Value::Null);
    }
    let sessions = s.json(B, "GET", "/v1/sessions", &Value::Null).text();
    assert!(!sessions.contains("\"w\"") && !sessions.contains("b.w"), "{sessions}");
    // A fork gets its name in the space of its owner.
    s.tool(B, "mine", "fork", &json!({"name": "w"}));
    assert_eq!(s.tool(B, "w", "sandbox_exec", &json!({"command": "cat /tmp/s"}))["stdout"], "");
    assert_eq!(
        s.tool(A, "w", "sandbox_exec", &json!({"command": "cat /tmp/s"}))["stdout"],
        format!("{SECRET}\n")
    );
}

#[test]
fn every_request_checks_the_scope() {
    let s = served();
    let w = "writer-writer-writer";
    for (token, method, path, body) in [
        (R, "PUT", "/v1/sessions/x", ""),
        (R, "DELETE", "/v1/sessions/x", ""),
        (R, "PUT", "/v1/sessions/x/files/tmp/a", "a"),
        (R, "PUT", "/v1/sessions/x/snapshot", "a"),
        (R, "POST", "/v1/sessions/x/tools/sandbox_exec", r#"{"command": "true"}"#),
        (R, "POST", "/v1/sessions/x/tools/execute_code", r#"{"language": "python", "code": "1"}"#),
        (R, "POST", "/v1/sessions/x/tools/write_file", r#"{"path": "a", "content": ""}"#),
        (R, "POST", "/v1/sessions/x/tools/undo", "{}"),
        (w, "PUT", "/v1/sessions/x", ""),
        (w, "POST", "/v1/sessions/x/tools/sandbox_exec", r#"{"command": "true"}"#),
        (w, "POST", "/v1/sessions/x/tools/restore", r#"{"commit": 1}"#),
    ] {
        let headers = format!("Authorization: Bearer {token}\nContent-Type: application/json");
        let answer = s.request(method, path, &headers, body.as_bytes());
        assert_eq!(answer.status, 403, "{method} {path}: {}", answer.text());
    }
    let upgrade = "Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\nSec-WebSocket-Protocol: wasibox, bearer.reader-reader-reader";
    let answer = s.request("GET", "/v1/sessions/x/terminal", upgrade, b"");
    // The token may not run commands, and there are two Connection headers; the request must not be
    // upgraded.
    assert!((400..500).contains(&answer.status), "{}", answer.status);
    // A client that may not create sessions creates none by naming one.
    let mut c = Connection { path: "/mcp?session=new".into(), ..Connection::begin(&s, A, "/mcp") };
    (c.token, c.id) = (R.into(), String::new());
    let answer = c.send(&c.message("initialize", wasibox_sessions::mcp::hello()));
    assert!(answer.text().contains("error"), "{}", answer.text());
}

#[test]
fn a_connection_belongs_to_the_token_that_opened_it() {
    let s = served();
    let mut a = Connection::begin(&s, A, "/mcp?session=w");
    let read = json!({"command": "cat /tmp/s"});
    assert!(a.call("sandbox_exec", read.clone()).to_string().contains(SECRET));
    let call = a.message("tools/call", json!({"name": "sandbox_exec", "arguments": read}));
    let stolen = Connection {
        token: B.into(),
        id: a.id.clone(),
        path: a.path.clone(),
        ..Connection::begin(&s, B, "/mcp")
    };
    let answer = stolen.send(&call);
    assert_eq!(answer.status, 404, "{}", answer.text());
    let headers = |token: &str| {
        format!(
            "Authorization: Bearer {token}\nMcp-Session-Id: {}\nAccept: text/event-stream",
            a.id
        )
    };
    assert_eq!(s.request("GET", "/mcp", &headers(B), b"").status, 404);
    assert_eq!(s.request("DELETE", "/mcp", &headers(B), b"").status, 404);
    assert!(a.call("sandbox_exec", json!({"command": "cat /tmp/s"})).to_string().contains(SECRET));
    // Another client's session cannot be reached by its name, nor by its name in the store.
    for name in ["w", "a.w", "../a.w", "a.w%00", "%61.w"] {
        let mut b = Connection::begin_any(&s, B, &format!("/mcp?session={name}"));
        if let Some(b) = &mut b {
            let text = b.call("sandbox_exec", json!({"command": "cat /tmp/s"})).to_string();
            assert!(!text.contains(SECRET), "{name}");
            // If a session of that name exists, it was created just now, for the caller.
            b.call("use_session", json!({"name": "a.w"}));
            let text = b.call("sandbox_exec", json!({"command": "cat /tmp/s"})).to_string();
            assert!(!text.contains(SECRET), "{name}: {text}");
        }
    }
}

#[test]
fn malformed_requests_are_refused_and_the_server_continues() {
    let s = served();
    let host = s.address;
    let auth = format!("Authorization: Bearer {A}");
    let line = |first: &str, more: &str| {
        format!("{first}\r\nHost: {host}\r\n{auth}\r\nConnection: close\r\n{more}\r\n")
    };
    let long = "x".repeat(400_000);
    for request in [
        format!("GET /v1/sessions HTTP/1.1\r\n{auth}\r\nConnection: close\r\n\r\n"),
        format!(
            "GET /v1/sessions HTTP/1.1\r\nHost: a\r\nHost: b\r\n{auth}\r\nConnection: close\r\n\r\n"
        ),
        line("GET http://evil.example/v1/sessions HTTP/1.1", ""),
        line("GET /v1/sessions HTTP/1.1", "Origin: http://evil.example\r\n"),
        line("GET /v1/sessions HTTP/1.1", "Origin: null\r\n"),
        line("GET /v1/sessions HTTP/1.1", "Origin: \r\n"),
        line(
            "POST /v1/sessions/w/tools/undo HTTP/1.1",
            "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        ),
        line("POST /v1/sessions/w/tools/undo HTTP/1.1", "Content-Length: -1\r\n"),
        line(
            "POST /v1/sessions/w/tools/undo HTTP/1.1",
            "Transfer-Encoding: gzip, chunked, identity\r\n",
        ),
        line(
            "POST /v1/sessions/w/tools/undo HTTP/1.1",
            "Content-Type: application/json\r\nContent-Length: 4\r\n\r\n\u{0}\u{0}\u{0}\u{0}",
        ),
        line(&format!("GET /{long} HTTP/1.1"), ""),
        line("GET /v1/sessions HTTP/1.1", &format!("X: {long}\r\n")),
        line("TRACE / HTTP/1.1", ""),
        line("CONNECT evil.example:80 HTTP/1.1", ""),
        line("GET /v1/sessions HTTP/3.0", ""),
        line("GET /../../etc/passwd HTTP/1.1", ""),
        line("GET /v1/../metrics/../../x HTTP/1.1", ""),
        line("GET //v1/sessions HTTP/1.1", ""),
        "\u{1}\u{2}\u{3}\r\n\r\n".to_owned(),
        "GET / HTTP/1.1\nConnection: close\n\n".to_owned(),
    ] {
        let answer = s.raw(request.as_bytes());
        let shown = &request[..request.len().min(80)];
        assert!(
            (400..500).contains(&answer.status) || answer.status == 0,
            "{shown:?}: {}",
            answer.status
        );
        assert!(!answer.text().contains("\"w\""), "{shown:?}");
    }
    // If a request has both lengths, the chunks count, and what follows is not a second request
    // (RFC 9112, 6.1).
    let both = format!(
        "POST /v1/sessions/w/tools/stat HTTP/1.1\r\nHost: {host}\r\n{auth}\r\nContent-Length: 5\r\n\
         Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    );
    let answer =
        s.raw(&[both.as_bytes(), line("GET /v1/sessions HTTP/1.1", "").as_bytes()].concat());
    assert!((400..500).contains(&answer.status), "{}", answer.status);
    assert!(!answer.text().contains("HTTP/1.1") && !answer.text().contains("\"w\""));
    let deep = "[".repeat(200_000);
    let answer = s.json(A, "POST", "/v1/sessions/w/tools/read_file", &Value::Null);
    assert_eq!(answer.status, 422);
    let headers = format!("{auth}\nContent-Type: application/json");
    let answer = s.request("POST", "/v1/sessions/w/tools/read_file", &headers, deep.as_bytes());
    assert_eq!(answer.status, 400);
    // The order of headers, their case and a proxy's additions change nothing.
    for headers in [
        "authorization: bearer alice-alice-alice",
        "AUTHORIZATION: BEARER alice-alice-alice\nX-Forwarded-For: 127.0.0.1\nX-Original-URL: /metrics",
    ] {
        assert_eq!(s.request("GET", "/v1/sessions/w", headers, b"").status, 200, "{headers}");
    }
}
