//! Tests `runner serve`: tools, files, snapshots, events, a terminal, limits, and the end of the
//! server.
//!
//! Expected values are from RFC 9110, 9457 and 6455, bash and CPython.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use wasibox::policy::ToolSettings;
use wasibox_sessions::http::{TestServer, serve};
use wasibox_sessions::mcp::Connection;

const A: &str = "alice-alice-alice";
const TOKENS: &str = "
[[token]]
name = 'alice'
token = 'alice-alice-alice'
limits = { sessions = 4, requests = 4, bytes = 100000000 }
[[token]]
name = 'reader'
token = 'reader-reader-reader'
scopes = ['read']
";

fn served() -> TestServer {
    let server = serve(Some(TOKENS), None, ToolSettings::default());
    assert_eq!(server.json(A, "PUT", "/v1/sessions/w", &Value::Null).status, 201);
    server
}

#[test]
fn a_session_without_its_directory_is_no_fault_of_the_server() {
    let s = served();
    s.tool(A, "w", "sandbox_exec", &json!({"command": "mkdir /tmp/d; cd /tmp/d"}));
    s.tool(A, "w", "delete_file", &json!({"path": "/tmp/d", "recursive": true}));
    let path = "/v1/sessions/w/tools/execute_python";
    let answer = s.json(A, "POST", path, &json!({"code": "1"}));
    assert_eq!(answer.status, 409, "{}", answer.text());
    assert_eq!(answer.value()["detail"], "/tmp/d: No such file or directory");
    s.tool(A, "w", "sandbox_exec", &json!({"command": "cd /tmp"}));
    assert_eq!(s.tool(A, "w", "execute_python", &json!({"code": "1"}))["value"], "1");
}

#[test]
fn tools_are_called_and_refusals_are_problems() {
    let s = served();
    assert_eq!(s.json(A, "PUT", "/v1/sessions/w", &Value::Null).status, 200);
    let ran = s.tool(A, "w", "sandbox_exec", &json!({"command": "cd /tmp; n=1; echo hi | wc -c"}));
    assert_eq!((&ran["stdout"], &ran["exit_code"]), (&json!("3\n"), &json!(0)));
    assert_eq!(s.tool(A, "w", "execute_python", &json!({"code": "6 * 7"}))["value"], "42");
    assert_eq!(
        s.tool(A, "w", "sandbox_exec", &json!({"command": "pwd; echo $n"}))["stdout"],
        "/tmp\n1\n"
    );
    let listed = s.json(A, "GET", "/v1/sessions", &Value::Null).value();
    assert_eq!(listed["sessions"][0]["name"], "w");
    assert_eq!(s.json(A, "GET", "/v1/sessions/w", &Value::Null).value()["open"], true);
    let tools = s.json(A, "GET", "/v1/tools", &Value::Null).value();
    let names: Vec<_> =
        tools["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"sandbox_exec") && !names.contains(&"use_session"));
    for (method, path, body, status, kind) in [
        ("POST", "/v1/sessions/w/tools/frob", json!({}), 404, "missing"),
        (
            "POST",
            "/v1/sessions/nobody/tools/sandbox_exec",
            json!({"command": "true"}),
            404,
            "missing",
        ),
        ("POST", "/v1/sessions/w/tools/sandbox_exec", json!({"cmd": "true"}), 422, "invalid"),
        ("POST", "/v1/sessions/w/tools/sandbox_exec", json!([]), 400, "invalid"),
        ("POST", "/v1/sessions/w/tools/read_file", json!({"path": "/no"}), 404, "missing"),
        ("POST", "/v1/sessions/w/tools/fork", json!({"name": "w"}), 409, "conflict"),
        ("PUT", "/v1/sessions/a%20b", Value::Null, 422, "invalid"),
        ("PATCH", "/v1/sessions/w", Value::Null, 405, "method"),
        ("GET", "/v2", Value::Null, 404, "missing"),
    ] {
        let answer = s.json(A, method, path, &body);
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{path}");
        let problem = answer.value();
        assert_eq!(problem["type"], format!("urn:wasibox:problem:{kind}"), "{path}");
        assert_eq!(problem["status"], status, "{path}");
    }
    let answer = s.request(
        "POST",
        "/v1/sessions/w/tools/undo",
        &format!("Authorization: Bearer {A}\nContent-Type: text/plain"),
        b"{}",
    );
    assert_eq!(answer.status, 415);
    assert!(answer.header("x-request-id").is_some());
    for n in 0..3 {
        assert_eq!(s.json(A, "PUT", &format!("/v1/sessions/n{n}"), &Value::Null).status, 201);
    }
    assert_eq!(s.json(A, "PUT", "/v1/sessions/n4", &Value::Null).status, 413);
    assert_eq!(s.json(A, "DELETE", "/v1/sessions/n0", &Value::Null).status, 204);
    assert_eq!(s.json(A, "DELETE", "/v1/sessions/n0", &Value::Null).status, 404);
}

#[test]
fn files_and_snapshots_go_in_and_out_as_streams() {
    let s = served();
    let auth = format!("Authorization: Bearer {A}");
    // The file takes several pieces and contains every byte.
    let bytes: Vec<u8> =
        (0..9_000_001_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let put = s.request("PUT", "/v1/sessions/w/files/output/big%20one", &auth, &bytes);
    assert_eq!((put.status, put.value()), (201, json!({"size": bytes.len(), "created": true})));
    let sum = s.tool(
        A,
        "w",
        "sandbox_exec",
        &json!({"command": "ls /output; wc -c < '/output/big one'"}),
    );
    assert_eq!(sum["stdout"], format!("big one\n{}\n", bytes.len()));
    let got = s.request("GET", "/v1/sessions/w/files/output/big%20one", &auth, b"");
    assert_eq!((got.status, got.body.len()), (200, bytes.len()));
    assert!(got.body == bytes);
    assert_eq!(
        s.request("PUT", "/v1/sessions/w/files/output/big%20one", &auth, b"<b>").status,
        200
    );
    let got = s.request("GET", "/v1/sessions/w/files/output/big%20one", &auth, b"");
    // A guest's file must not act as a page of the server.
    assert_eq!(got.header("content-disposition"), Some("attachment"));
    assert_eq!(got.header("content-security-policy"), Some("sandbox"));
    assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
    for path in ["no", "tmp", "dev/null", ""] {
        let answer = s.request("GET", &format!("/v1/sessions/w/files/{path}"), &auth, b"");
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
    }
    // A body that breaks off leaves no file.
    let host = s.address;
    let cut = format!(
        "PUT /v1/sessions/w/files/tmp/cut HTTP/1.1\r\nHost: {host}\r\n{auth}\r\nContent-Length: 9000000\r\n\r\nabc"
    );
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(cut.as_bytes()).unwrap();
    drop(stream);
    s.tool(A, "w", "sandbox_exec", &json!({"command": "v=kept"}));
    let snapshot = s.request("GET", "/v1/sessions/w/snapshot?history=true", &auth, b"");
    assert_eq!(&snapshot.body[..8], b"\x89WBS\r\n\x1a\n");
    assert_eq!(s.request("PUT", "/v1/sessions/copy/snapshot", &auth, &snapshot.body).status, 201);
    let seen = s.tool(
        A,
        "copy",
        "sandbox_exec",
        &json!({"command": "echo $v; ls /tmp; cat '/output/big one'"}),
    );
    assert_eq!(seen["stdout"], "kept\n<b>");
    let half = &snapshot.body[..snapshot.body.len() / 2];
    assert_eq!(s.request("PUT", "/v1/sessions/half/snapshot", &auth, half).status, 422);
}

/// Tests that a snapshot that arrives slowly or is not read does not hold the store, which other
/// sessions use.
#[test]
fn a_slow_client_stops_no_session() {
    let s = served();
    let (auth, host) = (format!("Authorization: Bearer {A}"), s.address);
    let fill = json!({"command": "head -c 20000000 /dev/urandom > /tmp/big"});
    s.tool(A, "w", "sandbox_exec", &fill);
    let begin = |head: &str, body: &[u8]| {
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!("{head} HTTP/1.1\r\nHost: {host}\r\n{auth}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        stream
    };
    let put =
        begin("PUT /v1/sessions/slow/snapshot", b"Content-Length: 5000\r\n\r\n\x89WBS\r\n\x1a\n");
    let get = begin("GET /v1/sessions/w/snapshot", b"\r\n");
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    for n in 0..5 {
        let command = json!({"command": format!("echo {n} > /tmp/n; cat /tmp/n")});
        let ran = s.tool(A, "w", "sandbox_exec", &command);
        assert_eq!(ran["stdout"], format!("{n}\n"));
    }
    assert_eq!(s.json(A, "PUT", "/v1/sessions/other", &Value::Null).status, 201);
    // The server waits at least 30 seconds for a slow client.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    drop((put, get));
}

#[test]
fn output_comes_as_events_while_a_call_runs() {
    let s = served();
    let body =
        json!({"command": "echo a; echo b >&2; until [ -e /tmp/go ]; do sleep 0.01; done; echo ä"})
            .to_string();
    let mut stream = TcpStream::connect(s.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let head = format!(
        "POST /v1/sessions/w/tools/sandbox_exec HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {A}\r\n\
         Accept: text/event-stream\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        s.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains(r#""stdout","text":"a\n""#) {
        let n = stream.read(&mut piece).unwrap();
        assert!(n > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&piece[..n]);
    }
    assert!(!String::from_utf8_lossy(&seen).contains("event: result"));
    // The call still runs and holds its session. The end of the connection ends it.
    drop(stream);
    assert_eq!(
        s.tool(A, "w", "sandbox_exec", &json!({"command": "echo next"}))["stdout"],
        "next\n"
    );
    let headers = format!(
        "Authorization: Bearer {A}\nContent-Type: application/json\nAccept: text/event-stream"
    );
    let all = s.request(
        "POST",
        "/v1/sessions/w/tools/sandbox_exec",
        &headers,
        br#"{"command": "printf '\\303'; sleep 0.1; printf '\\244'"}"#,
    );
    let text = all.text();
    assert!(text.contains("\"text\":\"ä\"") && text.contains("event: result"), "{text}");
    let all = s.request("POST", "/v1/sessions/w/tools/sandbox_exec", &headers, br#"{"cmd": 1}"#);
    assert!(all.text().contains("event: problem"));
}

#[test]
fn a_terminal_speaks_while_a_script_runs() {
    let s = served();
    let mut t = Terminal::open(&s, A);
    t.say(json!({"run": "cd /tmp; read x; echo got $x; cat; exit 3"}));
    t.say(json!({"stdin": "a\n"}));
    t.until(|m| m["text"] == "got a\n");
    t.say(json!({"stdin": "b\n"}));
    t.until(|m| m["text"] == "b\n");
    t.say(json!({"end": true}));
    let end = t.until(|m| !m["exit_code"].is_null());
    assert_eq!((&end["exit_code"], &end["cwd"]), (&json!(3), &json!("/tmp")));
    t.say(json!({"run": "echo begun; sleep 100000"}));
    t.until(|m| m["text"] == "begun\n");
    t.say(json!({"run": "echo second"}));
    t.until(|m| m["problem"]["detail"] == "a script runs already");
    t.say(json!({"interrupt": true}));
    assert_eq!(t.until(|m| !m["exit_code"].is_null())["exit_code"], 130);
    t.say(json!({"frob": 1}));
    t.until(|m| !m["problem"].is_null());
}

/// A WebSocket (RFC 6455), with only the parts that these tests need.
struct Terminal(TcpStream);

impl Terminal {
    fn open(s: &TestServer, token: &str) -> Terminal {
        let mut stream = TcpStream::connect(s.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        // A browser cannot set the header, so the token is among the protocols.
        let head = format!(
            "GET /v1/sessions/w/terminal HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: wasibox, bearer.{token}\r\n\r\n",
            s.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut byte = [0];
        while !answer.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        let text = String::from_utf8_lossy(&answer).to_ascii_lowercase();
        assert!(
            text.starts_with("http/1.1 101")
                && text.contains("sec-websocket-protocol: wasibox\r\n"),
            "{text}"
        );
        // This is the accept value of the RFC's own example.
        assert!(text.contains("s3pplmbitxaq9kygzzhzrbk+xoo="), "{text}");
        Terminal(stream)
    }

    fn say(&mut self, message: Value) {
        self.try_say(message).unwrap();
    }

    fn try_say(&mut self, message: Value) -> std::io::Result<()> {
        let text = message.to_string();
        // The frame is masked with zeros.
        let len = u8::try_from(text.len()).unwrap();
        assert!(len < 126);
        self.0.write_all(&[&[0x81, 0x80 | len, 0, 0, 0, 0], text.as_bytes()].concat())
    }

    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (kind, body) = self.hear();
            assert_eq!(kind, 0x81, "{}", String::from_utf8_lossy(&body));
            let message = serde_json::from_slice(&body).unwrap();
            if is_it(&message) {
                return message;
            }
        }
    }

    /// Reads output of a terminal that stays, until it has this text; returns all of it.
    fn output_until(&mut self, text: &str) -> String {
        let mut all = Vec::new();
        loop {
            let (kind, body) = self.hear();
            assert_eq!(kind, 0x82, "{}", String::from_utf8_lossy(&body));
            all.extend(body);
            let seen = String::from_utf8_lossy(&all);
            if seen.contains(text) {
                return seen.into_owned();
            }
        }
    }

    /// Returns the next frame that is no ping: its kind and content.
    fn hear(&mut self) -> (u8, Vec<u8>) {
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head).unwrap();
            let mut len = usize::from(head[1]);
            if len == 126 {
                let mut long = [0; 2];
                self.0.read_exact(&mut long).unwrap();
                len = usize::from(u16::from_be_bytes(long));
            }
            let mut body = vec![0; len];
            self.0.read_exact(&mut body).unwrap();
            if head[0] != 0x89 {
                return (head[0], body);
            }
        }
    }
}

#[test]
fn a_terminal_that_stays_is_found_again() {
    let s = served();
    let mut t = Terminal::open(&s, A);
    let size = json!({"command": ["bash"], "rows": 30, "columns": 100, "keep": true});
    t.say(json!({"start": size}));
    let begun = t.until(|m| !m["terminal"].is_null());
    assert_eq!((&begun["position"], &begun["command"]), (&json!(0), &json!("bash")));
    t.say(json!({"keys": "v=kept; stty size; echo beg''un\r"}));
    let mut shown = t.output_until("begun\r\n");
    assert!(shown.contains("30 100\r\n"), "{shown}");
    t.say(json!({"keys": "sleep 1; echo mean''while\r"}));
    shown += &t.output_until("while\r\n");
    // The connection is cut. The next one gets the output since then, and nothing twice.
    drop(t);
    std::thread::sleep(Duration::from_secs(2));
    let mut t = Terminal::open(&s, A);
    let number = &begun["terminal"];
    t.say(json!({"attach": {"terminal": number, "after": shown.len(), "rows": 20, "columns": 90}}));
    assert_eq!(t.until(|m| !m["terminal"].is_null())["position"], shown.len());
    let rest = t.output_until("meanwhile\r\n");
    assert!(!rest.contains("begun"), "{rest}");
    // One that names no position gets the last lines again.
    let mut other = Terminal::open(&s, A);
    other.say(json!({"attach": {"terminal": number}}));
    other.until(|m| !m["terminal"].is_null());
    assert!(other.output_until("meanwhile\r\n").contains("\nbegun\r\n"));
    t.say(json!({"keys": "stty size; echo it is $v\r"}));
    let seen = t.output_until("it is kept\r\n");
    assert!(seen.contains("20 90\r\n"), "{seen}");
    other.output_until("it is kept\r\n");
    t.say(json!({"frob": 1}));
    let mut problem = t.hear();
    while problem.0 != 0x81 {
        problem = t.hear();
    }
    assert!(String::from_utf8_lossy(&problem.1).contains("unknown variant"));
    t.say(json!({"keys": "exit 3\r"}));
    let ended = loop {
        if let (0x81, body) = other.hear() {
            break serde_json::from_slice::<Value>(&body).unwrap();
        }
    };
    assert_eq!(
        (&ended["ended"]["status"], &ended["ended"]["exit_code"]),
        (&json!("exited"), &json!(3))
    );
    let mut t = Terminal::open(&s, A);
    t.say(json!({"attach": {"terminal": 77}}));
    assert_eq!(t.until(|m| !m["problem"].is_null())["problem"]["status"], 404);
    // The socket can still be used.
    t.say(json!({"attach": {"terminal": number}}));
    t.until(|m| !m["terminal"].is_null());
}

#[test]
fn a_program_waits_for_a_client_that_does_not_read() {
    let s = served();
    let mut t = Terminal::open(&s, A);
    let script = "while :; do echo line; done & sleep 3; kill $!; echo end";
    t.say(json!({"start": {"command": ["sh", "-c", script], "keep": true}}));
    let number = t.until(|m| !m["terminal"].is_null())["terminal"].clone();
    std::thread::sleep(Duration::from_secs(5));
    let list = s.tool(A, "w", "list_processes", &json!({}));
    let report = list["processes"].as_array().unwrap().iter().find(|p| p["process"] == number);
    // 256 KiB that are not confirmed, and as much ahead; not the megabytes of three seconds.
    let written = report.unwrap()["written"].as_u64().unwrap();
    assert!((256 << 10..600 << 10).contains(&written), "{written}");
    let mut got = 0;
    loop {
        let (kind, body) = t.hear();
        if kind == 0x81 {
            break;
        }
        got += body.len();
        // The server may have sent the end, and closed the connection.
        let _ = t.try_say(json!({ "shown": got }));
    }
    let list = s.tool(A, "w", "list_processes", &json!({}));
    assert_eq!(list["processes"][0]["written"], got);
}

#[test]
fn the_description_of_the_server_is_complete() {
    let s = served();
    let open = |path: &str| s.request("GET", path, "", b"");
    assert_eq!((open("/healthz").status, open("/readyz").status), (200, 200));
    let document = open("/openapi.json").value();
    assert_eq!(document["openapi"], "3.1.0");
    let post = &document["paths"]["/v1/sessions/{session}/tools/sandbox_exec"]["post"];
    assert_eq!(
        post["requestBody"]["content"]["application/json"]["schema"]["required"],
        json!(["command"])
    );
    // Answers that are not tools' are described by the types that are sent.
    let schemas = &document["components"]["schemas"];
    let listed = s.json(A, "GET", "/v1/tools", &Value::Null).value();
    for (name, answer) in [
        ("Problem", &s.request("GET", "/v1/sessions", "", b"").value()),
        ("ToolList", &listed),
        ("ToolDescription", &listed["tools"][0]),
    ] {
        let fields: Vec<&String> = answer.as_object().unwrap().keys().collect();
        let described = schemas[name]["properties"].as_object().unwrap();
        assert_eq!(described.keys().collect::<Vec<_>>(), fields, "{name}");
    }
    for path in ["/", "/docs", "/page.js", "/settings.js", "/terminals.js", "/docs.js"] {
        let page = open(path);
        assert_eq!(page.status, 200, "{path}");
        // The page fetches nothing from elsewhere.
        assert!(!page.text().contains("https://") && !page.text().contains("http://"), "{path}");
    }
    assert!(
        open("/").header("content-security-policy").unwrap().contains("frame-ancestors 'none'")
    );
    s.tool(A, "w", "sandbox_exec", &json!({"command": "true"}));
    let text = s.json(A, "GET", "/metrics", &Value::Null).text();
    assert!(
        text.contains("wasibox_tool_calls_total{tool=\"sandbox_exec\",done=\"true\"} 1"),
        "{text}"
    );
    assert!(text.contains("wasibox_sessions_held 1"));
    assert_eq!(s.request("GET", "/metrics", "", b"").status, 401);
}

#[test]
fn a_server_that_ends_lets_calls_end_first() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("w.wbx");
    let s = serve(Some(TOKENS), Some(&store), ToolSettings::default());
    s.json(A, "PUT", "/v1/sessions/w", &Value::Null);
    let s = std::sync::Arc::new(s);
    let theirs = s.clone();
    let call = std::thread::spawn(move || {
        theirs.tool(
            A,
            "w",
            "sandbox_exec",
            &json!({"command": "echo x > f; sleep 1; echo done; v=3"}),
        )
    });
    let begun = Instant::now();
    let runs = || s.json(A, "GET", "/metrics", &Value::Null).text().contains("requests_running 2");
    while !runs() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    s.request_end();
    assert_eq!(call.join().unwrap()["stdout"], "done\n");
    drop(s);
    let s = serve(Some(TOKENS), Some(&store), ToolSettings::default());
    assert_eq!(
        s.tool(A, "w", "sandbox_exec", &json!({"command": "cat f; echo $v"}))["stdout"],
        "x\n3\n"
    );
    // The same server also speaks the Model Context Protocol, with the same tokens and sessions.
    let mut c = Connection::begin(&s, A, "/mcp?session=w");
    let ran = c.call("sandbox_exec", json!({"command": "echo $v"}));
    assert_eq!(ran["structuredContent"]["stdout"], "3\n");
    let mut c = Connection::begin(&s, "reader-reader-reader", "/mcp");
    let tools = c.ask("tools/list", json!({})).unwrap();
    assert!(
        tools["tools"].as_array().unwrap().iter().all(|t| t["annotations"]["readOnlyHint"] == true)
    );
}
