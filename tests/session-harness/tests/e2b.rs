//! E2B's interface, byte by byte: requests as its packages send them, and hostile ones.

use serde_json::{Value, json};
use std::io::{Read, Write};
use wasibox_sessions::http::{Answer, TestServer, serve_e2b};
use wasibox_sessions::wheels::download_wheels;

const KEY: &str = "e2b_0123456789abcdef";
const OTHER: &str = "e2b_fedcba9876543210";
const READER: &str = "e2b_reader0123456789";

const TOKENS: &str = r#"
[[token]]
name = "one"
token = "e2b_0123456789abcdef"
limits = { requests = 64 }
[[token]]
name = "two"
token = "e2b_fedcba9876543210"
[[token]]
name = "reader"
token = "e2b_reader0123456789"
scopes = ["read"]
"#;

const JSON: &str = "Content-Type: application/json";
const PROTO: &str = "Content-Type: application/proto";
const BYTES: &str = "Content-Type: application/octet-stream";

/// A sandbox of a server.
struct WireBox<'a> {
    server: &'a TestServer,
    id: String,
    token: String,
}

fn control(server: &TestServer, key: &str, method: &str, path: &str, body: &Value) -> Answer {
    let headers = format!("X-API-KEY: {key}\n{JSON}");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    server.request(method, path, &headers, body.as_bytes())
}

fn create(server: &TestServer) -> WireBox<'_> {
    let made = control(server, KEY, "POST", "/sandboxes", &json!({ "templateID": "base" }));
    assert_eq!(made.status, 201, "{}", made.text());
    let made = made.value();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    WireBox { server, id: text("sandboxID"), token: text("envdAccessToken") }
}

impl WireBox<'_> {
    fn request(&self, port: u16, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let own = format!(
            "E2b-Sandbox-Id: {}\nE2b-Sandbox-Port: {port}\nX-Access-Token: {}\n{headers}",
            self.id, self.token
        );
        self.server.request(method, path, &own, body)
    }

    fn envd(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        self.request(49983, method, path, headers, body)
    }

    fn call(&self, method: &str, message: &Value) -> Answer {
        self.envd("POST", &format!("/{method}"), JSON, message.to_string().as_bytes())
    }

    /// Calls a method with a stream of answers. Returns its messages, and the document at its end.
    fn stream(&self, codec: &str, method: &str, message: &[u8]) -> (Vec<Vec<u8>>, Value) {
        let kind = format!("Content-Type: application/connect+{codec}");
        let answer = self.envd("POST", &format!("/{method}"), &kind, &envelope(0, message));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let mut messages = envelopes(&answer.body);
        let (flags, end) = messages.pop().expect("an end");
        assert_eq!(flags, 2);
        let messages = messages.into_iter().map(|(_, message)| message).collect();
        (messages, serde_json::from_slice(&end).unwrap())
    }
}

fn envelope(flags: u8, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[flags], &length[..], message].concat()
}

fn envelopes(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut all = Vec::new();
    while let [flags, a, b, c, d, rest @ ..] = bytes {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        all.push((*flags, rest[..length].to_vec()));
        bytes = &rest[length..];
    }
    all
}

#[test]
fn a_sandbox_lives_and_dies() {
    let server = serve_e2b(TOKENS, None);
    let sandbox = create(&server);
    assert_eq!(sandbox.envd("GET", "/health", "", b"").status, 204);
    let path = format!("/sandboxes/{}", sandbox.id);
    let detail = control(&server, KEY, "GET", &path, &Value::Null).value();
    assert_eq!((&detail["state"], &detail["templateID"]), (&json!("running"), &json!("base")));

    // Files: JSON, a form, a whole body, protobuf.
    let made = sandbox.call("filesystem.Filesystem/MakeDir", &json!({ "path": "d" }));
    assert_eq!(made.value()["entry"]["type"], "FILE_TYPE_DIRECTORY");
    let again = sandbox.call("filesystem.Filesystem/MakeDir", &json!({ "path": "d" }));
    assert_eq!((again.status, &again.value()["code"]), (409, &json!("already_exists")));
    let form =
        b"--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"d/a.txt\"\r\n\r\n\
        hello\r\n--B--\r\n";
    let kind = "Content-Type: multipart/form-data; boundary=B";
    let written = sandbox.envd("POST", "/files", kind, form).value();
    assert_eq!(written[0]["path"], "/home/user/d/a.txt");
    let written = sandbox.envd("POST", "/files?path=d/b.bin", BYTES, b"\0\xff");
    assert_eq!(written.status, 200, "{}", written.text());
    assert_eq!(sandbox.envd("GET", "/files?path=d/b.bin", "", b"").body, b"\0\xff");
    // Field 1 is the path, and in the answer field 1 an entry, whose field 1 is its name.
    let stat = sandbox.envd("POST", "/filesystem.Filesystem/Stat", PROTO, b"\x0a\x07d/a.txt");
    assert_eq!((stat.status, stat.header("content-type")), (200, Some("application/proto")));
    let name = b"\x0a\x05a.txt";
    assert!(stat.body.windows(name.len()).any(|part| part == name), "{:?}", stat.body);

    // Processes, in both forms of streams.
    let run = json!({ "process": { "cmd": "sh", "args": ["-c", "echo hi; exit 3"] } });
    let (messages, end) =
        sandbox.stream("json", "process.Process/Start", run.to_string().as_bytes());
    let messages: Vec<Value> =
        messages.iter().map(|message| serde_json::from_slice(message).unwrap()).collect();
    assert!(messages[0]["event"]["start"]["pid"].as_u64().unwrap() > 2);
    assert_eq!(messages[1]["event"]["data"]["stdout"], "aGkK");
    assert_eq!(messages[2]["event"]["end"]["exitCode"], 3);
    assert_eq!(end, json!({}));
    // Field 1 has field 1, the command, and field 2, an argument. In the answer: event, data,
    // standard output.
    let message = b"\x0a\x0a\x0a\x04echo\x12\x02ho";
    let (messages, end) = sandbox.stream("proto", "process.Process/Start", message);
    assert_eq!(messages[1], b"\x0a\x07\x12\x05\x0a\x03ho\n");
    assert_eq!((messages.len(), end), (3, json!({})));

    // Code.
    let body = json!({ "code": "print(1)\n2" }).to_string();
    let answer = sandbox.request(49999, "POST", "/execute", JSON, body.as_bytes());
    let events: Vec<Value> =
        answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["number_of_executions", "stdout", "result", "end_of_execution"]);
    assert_eq!((&events[1]["text"], &events[2]["text"]), (&json!("1\n"), &json!("2")));

    // A pause, and the end.
    let paused = control(&server, KEY, "POST", &format!("{path}/pause"), &Value::Null);
    assert_eq!((paused.status, sandbox.envd("GET", "/health", "", b"").status), (204, 502));
    let woken = control(&server, KEY, "POST", &format!("{path}/connect"), &json!({}));
    assert_eq!((woken.status, sandbox.envd("GET", "/health", "", b"").status), (201, 204));
    assert_eq!(sandbox.envd("GET", "/files?path=d/a.txt", "", b"").body, b"hello");
    assert_eq!(control(&server, KEY, "DELETE", &path, &Value::Null).status, 204);
    assert_eq!(control(&server, KEY, "DELETE", &path, &Value::Null).status, 404);
    let gone = sandbox.envd("GET", "/health", "", b"");
    assert!(gone.status == 502 && gone.text().contains("was not found"), "{}", gone.text());
}

#[test]
fn sandboxes_outlive_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("w.wbx");
    let server = serve_e2b(TOKENS, Some(&store));
    let sandbox = create(&server);
    let written = sandbox.envd("POST", "/files?path=kept", BYTES, b"kept");
    assert_eq!(written.status, 200, "{}", written.text());
    let id = sandbox.id.clone();
    server.end();
    let server = serve_e2b(TOKENS, Some(&store));
    let listed = control(&server, KEY, "GET", "/v2/sandboxes?state=paused", &Value::Null).value();
    assert_eq!(listed[0]["sandboxID"], *id);
    let woken = control(&server, KEY, "POST", &format!("/sandboxes/{id}/connect"), &json!({}));
    let token = woken.value()["envdAccessToken"].as_str().unwrap().to_owned();
    let sandbox = WireBox { server: &server, id, token };
    assert_eq!(sandbox.envd("GET", "/files?path=kept", "", b"").body, b"kept");
}

#[test]
fn servers_in_a_sandbox_are_reached_by_host() {
    let server = serve_e2b(TOKENS, None);
    let sandbox = create(&server);
    // The end of the standard input is that of the server.
    let run = json!({ "code": "import http.server, threading\n\
        s = http.server.HTTPServer(('', 8000), http.server.SimpleHTTPRequestHandler)\n\
        print('begun', flush=True)\ns.handle_request()", "context_id": null });
    sandbox.envd("POST", "/files?path=served.txt", BYTES, b"served");
    let host = format!("8000-{}.example.org", sandbox.id);
    let answer = std::thread::scope(|scope| {
        let serve = scope
            .spawn(|| sandbox.request(49999, "POST", "/execute", JSON, run.to_string().as_bytes()));
        let begun = std::time::Instant::now();
        let answer = loop {
            let text =
                format!("GET /served.txt HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            let answer = server.raw(text.as_bytes());
            if answer.status != 502 || begun.elapsed().as_secs() > 60 {
                break answer;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        };
        assert_eq!(serve.join().unwrap().status, 200);
        answer
    });
    assert_eq!((answer.status, &*answer.body), (200, &b"served"[..]));
}

/// As an agent does it with E2B's packages: `commands.run("pip install ...")`, a server in the
/// background, `get_host(8000)`.
#[test]
fn fastapi_is_reached_by_host() {
    let server = serve_e2b(TOKENS, None);
    let sandbox = create(&server);
    for (name, bytes) in download_wheels("dev_servers.txt") {
        let path = format!("/files?path=wheels/{name}");
        assert_eq!(sandbox.envd("POST", &path, BYTES, &bytes).status, 200);
    }
    let app = "from fastapi import FastAPI\napp = FastAPI()\n\
        @app.get('/items/{n}')\nasync def item(n: int): return {'n': n}\n";
    sandbox.envd("POST", "/files?path=api.py", BYTES, app.as_bytes());
    let script =
        "pip install -q --no-index --find-links wheels fastapi uvicorn && exec uvicorn api:app";
    let start = json!({ "process": { "cmd": "bash", "args": ["-lc", script] }, "tag": "api" });
    std::thread::scope(|scope| {
        let stream = scope.spawn(|| {
            sandbox.stream("json", "process.Process/Start", start.to_string().as_bytes())
        });
        let host = format!("8000-{}.example.org", sandbox.id);
        let request = format!("GET /items/7 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let begun = std::time::Instant::now();
        let answer = loop {
            let answer = server.raw(request.as_bytes());
            if answer.status != 502 || begun.elapsed().as_secs() > 60 {
                break answer;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        };
        assert_eq!((answer.status, answer.text().as_str()), (200, "{\"n\":7}"));
        let signal = json!({ "process": { "tag": "api" }, "signal": "SIGNAL_SIGTERM" });
        assert_eq!(sandbox.call("process.Process/SendSignal", &signal).status, 200);
        stream.join().unwrap();
    });
}

/// A server whose answer to the request for a WebSocket is followed by what it gets.
const SOCKET: &str = "import socket\n\
    s = socket.create_server(('', 8001)); print('begun', flush=True)\n\
    while True:\n  c, _ = s.accept(); head = b''\n  \
    while not head.endswith(b'\\r\\n\\r\\n'):\n    part = c.recv(1)\n    if not part: break\n    head += part\n  \
    if not head: continue\n  \
    c.sendall(b'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: upgrade\\r\\n\\r\\n')\n  \
    c.sendall(c.recv(100).upper()); c.close(); break";

#[test]
fn websockets_reach_servers_in_a_sandbox() {
    let server = serve_e2b(TOKENS, None);
    let sandbox = create(&server);
    let run = json!({ "code": SOCKET, "context_id": null });
    std::thread::scope(|scope| {
        let serve = scope
            .spawn(|| sandbox.request(49999, "POST", "/execute", JSON, run.to_string().as_bytes()));
        let head = format!(
            "GET /ws HTTP/1.1\r\nHost: 8001-{}.example.org\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            sandbox.id
        );
        let begun = std::time::Instant::now();
        let (mut stream, answer) = loop {
            let mut stream = std::net::TcpStream::connect(server.address).unwrap();
            stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            let (mut answer, mut byte) = (Vec::new(), [0]);
            while !answer.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte).unwrap();
                answer.push(byte[0]);
            }
            let answer = String::from_utf8(answer).unwrap();
            if answer.starts_with("HTTP/1.1 101") || begun.elapsed().as_secs() > 60 {
                break (stream, answer);
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        };
        assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
        stream.write_all(b"frame").unwrap();
        let mut shown = String::new();
        stream.read_to_string(&mut shown).unwrap();
        assert_eq!(shown, "FRAME");
        assert_eq!(serve.join().unwrap().status, 200);
    });
}

#[test]
fn nobody_reaches_what_is_not_theirs() {
    let server = serve_e2b(TOKENS, None);
    let sandbox = create(&server);
    let path = format!("/sandboxes/{}", sandbox.id);
    for key in ["", "e2b_wrong0123456789", &KEY[1..]] {
        assert_eq!(control(&server, key, "GET", "/v2/sandboxes", &Value::Null).status, 401);
    }
    for (method, more) in [("GET", ""), ("DELETE", ""), ("POST", "/pause"), ("POST", "/connect")] {
        let path = format!("{path}{more}");
        assert_eq!(control(&server, OTHER, method, &path, &Value::Null).status, 404, "{path}");
    }
    assert_eq!(control(&server, OTHER, "GET", "/v2/sandboxes", &Value::Null).value(), json!([]));
    let refused = control(&server, READER, "POST", "/sandboxes", &json!({ "templateID": "base" }));
    assert_eq!(refused.status, 403);
    // The sandbox's own token is needed for everything but its health.
    let other = WireBox { token: "x".into(), id: sandbox.id.clone(), server: &server };
    let run = json!({ "process": { "cmd": "true" } });
    assert_eq!(other.call("process.Process/List", &json!({})).status, 401);
    let (messages, end) = other.stream("json", "process.Process/Start", run.to_string().as_bytes());
    assert_eq!((messages.len(), &end["error"]["code"]), (0, &json!("unauthenticated")));
    assert_eq!(other.envd("GET", "/files?path=/etc/passwd", "", b"").status, 401);
    assert_eq!(other.request(49999, "POST", "/execute", JSON, b"{\"code\":\"1\"}").status, 401);
    let named = format!("E2b-Sandbox-Id: {}\nE2b-Sandbox-Port: 49983", sandbox.id);
    assert_eq!(server.request("GET", "/files?path=/etc/passwd", &named, b"").status, 401);
    let signed = "/files?path=/etc/passwd&signature=v1_AAAA";
    assert_eq!(server.request("GET", signed, "", b"").status, 401);
}

/// Requests to a sandbox: port, method, path, headers, body, and the status of the answer.
const NONSENSE: &[(u16, &str, &str, &str, &str, u16)] = &[
    (49983, "POST", STAT, JSON, "{", 400),
    (49983, "POST", STAT, JSON, "[]", 400),
    (49983, "POST", STAT, JSON, "{\"path\":7}", 400),
    (49983, "POST", STAT, JSON, "{\"path\":\"a\\u0000b\"}", 400),
    (49983, "POST", STAT, PROTO, "\x0a\x7f", 400),
    (49983, "POST", STAT, PROTO, "\x0f\x0f\x0f", 400),
    (49983, "POST", STAT, "Content-Type: text/plain", "{}", 415),
    (49983, "POST", STAT, "Content-Type: application/json\nContent-Encoding: gzip", "{}", 501),
    (49983, "POST", STAT, "Content-Type: application/json\nAuthorization: Basic %%", "{}", 401),
    (49983, "GET", STAT, JSON, "", 405),
    (49983, "POST", "/filesystem.Filesystem/Nothing", JSON, "{}", 501),
    (49983, "POST", "/filesystem.Filesystem/RemoveWatcher", JSON, "{\"watcherId\":\"x\"}", 404),
    (49983, "POST", "/process.Process/SendInput", JSON, "{}", 400),
    (49983, "POST", "/process.Process/SendSignal", JSON, "{\"signal\":99}", 400),
    (49983, "POST", "/process.Process/CloseStdin", JSON, "{\"process\":{\"pid\":99}}", 404),
    (49983, "POST", "/process.Process/Update", JSON, "{}", 400),
    (49983, "POST", "/files", "Content-Type: multipart/form-data", "x", 400),
    (49983, "POST", "/files", "Content-Type: multipart/form-data; boundary=B", "--B\r\n", 400),
    (49983, "POST", "/files?path=a", "Content-Type: text/plain", "x", 400),
    (49983, "POST", "/files?path=a", GZIP, "this is not gzip", 400),
    (49983, "POST", "/files", BYTES, "x", 400),
    (49983, "POST", "/files?path=/home/user", BYTES, "x", 400),
    (49983, "GET", "/files?path=nothing", "", "", 404),
    (49983, "GET", "/files?path=%00", "", "", 400),
    (49983, "GET", "/files?path=a&username=nobody", "", "", 401),
    (49983, "GET", "/files?signature_expiration=x", "", "", 400),
    (49983, "PUT", "/files", "", "", 405),
    (49983, "GET", "/nothing", "", "", 404),
    (49999, "POST", "/execute", JSON, "{}", 400),
    (49999, "POST", "/execute", JSON, "{\"code\":\"1\",\"language\":\"cobol\"}", 400),
    (49999, "POST", "/execute", JSON, "{\"code\":\"1\",\"context_id\":\"x\"}", 404),
    (49999, "POST", "/execute", JSON, "{\"code\":\"1\",\"env_vars\":{\"A=\":\"b\"}}", 400),
    (49999, "POST", "/contexts", JSON, "{\"cwd\":\"/nothing/here\"}", 400),
    (49999, "DELETE", "/contexts/x", "", "", 404),
    (8000, "GET", "/", "", "", 502),
];
const STAT: &str = "/filesystem.Filesystem/Stat";
const GZIP: &str = "Content-Type: application/octet-stream\nContent-Encoding: gzip";

/// Requests to the control plane: method, path, body, and the status of the answer. `ID` is a
/// sandbox.
const CONTROL_NONSENSE: &[(&str, &str, &str, u16)] = &[
    ("POST", "/sandboxes", "{", 400),
    ("POST", "/sandboxes", "{\"templateID\":\"nothing\"}", 404),
    ("POST", "/sandboxes", "{\"templateID\":\"base\",\"timeout\":-1}", 400),
    ("POST", "/sandboxes", "{\"templateID\":\"base\",\"timeout\":99999999999}", 400),
    ("POST", "/sandboxes", "{\"templateID\":\"base\",\"envVars\":{\"A=B\":\"c\"}}", 400),
    ("POST", "/sandboxes", "{\"templateID\":\"base\",\"volumeMounts\":[{}]}", 400),
    ("POST", "/sandboxes/ID/timeout", "{}", 400),
    ("POST", "/sandboxes/ID/fork", "{\"count\":0}", 400),
    ("POST", "/sandboxes/ID/fork", "{\"count\":18446744073709551616}", 400),
    ("GET", "/v2/sandboxes?limit=0", "", 400),
    ("GET", "/v2/sandboxes?limit=x", "", 400),
    ("GET", "/v2/sandboxes?nextToken=x", "", 400),
    ("GET", "/v2/sandboxes?state=odd", "", 400),
    ("GET", "/v2/sandboxes?startedAfter=x", "", 400),
    ("GET", "/sandboxes/%2e%2e%2f", "", 404),
    ("GET", "/nothing", "", 404),
    ("DELETE", "/templates/base", "", 404),
];

#[test]
fn nonsense_is_refused() {
    let server = serve_e2b(TOKENS, None);
    let sandbox = create(&server);
    for (port, method, path, headers, body, status) in NONSENSE {
        let answer = sandbox.request(*port, method, path, headers, body.as_bytes());
        let shown: String = answer.text().chars().take(200).collect();
        assert_eq!(answer.status, *status, "{method} {path} {body}: {shown}");
    }
    let deep = "[".repeat(100_000);
    let long = format!("{{\"path\":\"/{}\"}}", "x".repeat(1 << 20));
    for body in [deep.as_bytes(), long.as_bytes(), b"\xff\xfe"] {
        assert_eq!(sandbox.envd("POST", STAT, JSON, body).status, 400);
    }
    for (method, path, body, status) in CONTROL_NONSENSE {
        let headers = format!("X-API-KEY: {KEY}\n{JSON}");
        let path = path.replace("ID", &sandbox.id);
        let answer = server.request(method, &path, &headers, body.as_bytes());
        assert_eq!(answer.status, *status, "{method} {path} {body}: {}", answer.text());
    }
    // Everything still works.
    let listed = sandbox.call("process.Process/List", &json!({}));
    assert_eq!((listed.status, listed.value()), (200, json!({ "processes": [] })));
}

#[test]
fn streams_tell_their_errors_at_their_end() {
    let server = serve_e2b(TOKENS, None);
    let sandbox = create(&server);
    for (message, code) in [
        ("{}", "invalid_argument"),
        ("{\"process\":{}}", "invalid_argument"),
        ("{\"process\":{\"cmd\":\"a\\u0000\"}}", "invalid_argument"),
        ("{\"process\":{\"cmd\":\"true\",\"envs\":{\"\":\"x\"}}}", "invalid_argument"),
        ("{\"process\":{\"cmd\":\"true\",\"cwd\":\"/nothing\"}}", "invalid_argument"),
        ("{\"process\":{\"cmd\":\"no-such-program\"}}", "invalid_argument"),
    ] {
        let (messages, end) = sandbox.stream("json", "process.Process/Start", message.as_bytes());
        assert_eq!((messages.len(), &end["error"]["code"]), (0, &json!(code)), "{message}");
    }
    let (start, kind) = ("/process.Process/Start", "Content-Type: application/connect+json");
    for (body, code) in [
        (&b""[..], "invalid_argument"),
        (b"\0\0\0\0", "invalid_argument"),
        (b"\0\0\0\0\x09{}", "invalid_argument"),
        (b"\0\xff\xff\xff\xff{}", "resource_exhausted"),
        (b"\x01\0\0\0\x02{}", "invalid_argument"),
        (b"\0\0\0\0\x02{]", "invalid_argument"),
    ] {
        let answer = sandbox.envd("POST", start, kind, body);
        let (_, end) = envelopes(&answer.body).pop().expect("an end");
        let end: Value = serde_json::from_slice(&end).unwrap();
        assert_eq!(end["error"]["code"], code, "{body:?}");
    }
    for ms in ["x", "-1", "99999999999"] {
        let headers = format!("{kind}\nConnect-Timeout-Ms: {ms}");
        let run = envelope(0, b"{\"process\":{\"cmd\":\"true\"}}");
        let answer = sandbox.envd("POST", start, &headers, &run);
        assert!(answer.text().contains("invalid_argument"), "{ms}");
    }
    // A process that runs too long is ended, and the stream says so.
    let headers = format!("{kind}\nConnect-Timeout-Ms: 300");
    let run = envelope(0, b"{\"process\":{\"cmd\":\"sleep\",\"args\":[\"60\"]}}");
    let answer = sandbox.envd("POST", start, &headers, &run);
    assert!(answer.text().contains("deadline_exceeded"), "{}", answer.text());
}

fn decode_base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = bits << 6 | LETTERS.iter().position(|l| *l == c).expect("base64") as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

/// Returns the output in a terminal's events, and the exit code of its process.
fn screen_of(messages: &[Vec<u8>]) -> (String, Value) {
    let (mut shown, mut exit) = (String::new(), Value::Null);
    for message in messages {
        let event: Value = serde_json::from_slice(message).unwrap();
        if let Some(bytes) = event["event"]["data"]["pty"].as_str() {
            shown += &String::from_utf8(decode_base64(bytes)).unwrap();
        }
        if let Some(code) = event["event"]["end"].get("exitCode") {
            exit = code.clone();
        }
    }
    (shown, exit)
}

/// Waits until the first process of a sandbox has a tag.
fn wait_for_process(sandbox: &WireBox, tag: &str) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let listed = sandbox.call("process.Process/List", &json!({})).value();
        if listed["processes"][0]["tag"] == tag {
            return;
        }
        assert!(std::time::Instant::now() < until, "{listed}");
    }
}

#[test]
fn a_process_has_a_terminal_if_it_asks_for_one() {
    let server = serve_e2b(TOKENS, None);
    let sandbox = create(&server);
    let size = json!({ "size": { "cols": 77, "rows": 33 } });
    let script = "stty size; read line; echo \"got $line\"; stty size; exit 5";
    let start = json!({
        "process": { "cmd": "/bin/bash", "args": ["-c", script] },
        "pty": size,
        "tag": "t",
    });
    let process = json!({ "tag": "t" });
    let (messages, end) = std::thread::scope(|scope| {
        let stream = scope.spawn(|| {
            sandbox.stream("json", "process.Process/Start", start.to_string().as_bytes())
        });
        wait_for_process(&sandbox, "t");
        let new = json!({ "process": process, "pty": { "size": { "cols": 99, "rows": 44 } } });
        assert_eq!(sandbox.call("process.Process/Update", &new).status, 200);
        // "hi" and a return, as a keyboard sends it.
        let input = json!({ "process": process, "input": { "pty": "aGkN" } });
        assert_eq!(sandbox.call("process.Process/SendInput", &input).status, 200);
        stream.join().unwrap()
    });
    let (shown, exit) = screen_of(&messages);
    assert_eq!((exit, end), (json!(5), json!({})), "{shown:?}");
    // The echo of what is typed may come before the program's first line.
    let sizes = ["33 77\r\n", "44 99\r\n"];
    let either = |size: &str| [[size, "hi\r\n"].concat(), ["hi\r\n", size].concat()];
    let mut begins = sizes.iter().flat_map(|size| either(size));
    let rest = begins.find_map(|begin| shown.strip_prefix(begin.as_str()));
    assert_eq!(rest, Some("got hi\r\n44 99\r\n"), "{shown:?}");
    // A process without a terminal takes no size.
    let start = json!({ "process": { "cmd": "cat" }, "tag": "plain" });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            sandbox.stream("json", "process.Process/Start", start.to_string().as_bytes())
        });
        let process = json!({ "tag": "plain" });
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let answer = loop {
            let new = json!({ "process": process, "pty": size });
            let answer = sandbox.call("process.Process/Update", &new);
            if answer.status != 404 || std::time::Instant::now() > until {
                break answer;
            }
        };
        assert!(answer.text().contains("failed_precondition"), "{}", answer.text());
        let signal = json!({ "process": process, "signal": "SIGNAL_SIGKILL" });
        assert_eq!(sandbox.call("process.Process/SendSignal", &signal).status, 200);
    });
}

#[test]
fn a_terminal_is_typed_to_by_a_stream_and_ends_with_its_time() {
    let server = serve_e2b(TOKENS, None);
    let sandbox = create(&server);
    let script = "echo $A $PWD $TERM; read a; read b; echo \"$a-$b\"; exec sleep 60";
    let start = json!({
        "process": {
            "cmd": "bash", "args": ["-c", script], "envs": { "A": "b c" }, "cwd": "/tmp",
        },
        "pty": { "size": { "cols": 80, "rows": 24 } },
        "tag": "t",
    });
    let kind = "Content-Type: application/connect+json";
    let (first, again) = std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            sandbox.stream("json", "process.Process/Start", start.to_string().as_bytes())
        });
        wait_for_process(&sandbox, "t");
        let process = json!({ "process": { "tag": "t" } });
        let again = scope.spawn(|| {
            let process = json!({ "process": { "tag": "t" } }).to_string();
            sandbox.stream("json", "process.Process/Connect", process.as_bytes())
        });
        // Lines, as a keyboard sends them.
        let mut body = envelope(0, json!({ "start": process }).to_string().as_bytes());
        for keys in ["b25lDQ==", "dHdvDQ=="] {
            let data = json!({ "data": { "input": { "pty": keys } } });
            body.extend(envelope(0, data.to_string().as_bytes()));
        }
        let sent = sandbox.envd("POST", "/process.Process/StreamInput", kind, &body);
        assert_eq!(sent.status, 200, "{}", sent.text());
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !sandbox_runs(&sandbox, "sleep") {
            assert!(std::time::Instant::now() < until, "no sleep");
        }
        // Ctrl-C.
        let key = json!({ "process": { "tag": "t" }, "input": { "pty": "Aw==" } });
        assert_eq!(sandbox.call("process.Process/SendInput", &key).status, 200);
        (first.join().unwrap(), again.join().unwrap())
    });
    let ((shown, exit), (rest, same)) = (screen_of(&first.0), screen_of(&again.0));
    // Go's exit code of a process that a signal has ended.
    assert_eq!((&exit, &first.1, &same), (&json!(-1), &json!({}), &json!(-1)), "{shown:?}");
    assert!(shown.contains("b c /tmp xterm-256color\r\n"), "{shown:?}");
    assert!(shown.ends_with("one-two\r\n^C"), "{shown:?}");
    assert!(shown.ends_with(&rest), "{rest:?} is no end of {shown:?}");

    let limited = json!({
        "process": { "cmd": "sh", "args": ["-c", "echo begun; exec sleep 60"] },
        "pty": {},
    });
    let headers = format!("{kind}\nConnect-Timeout-Ms: 1500");
    let body = envelope(0, limited.to_string().as_bytes());
    let answer = sandbox.envd("POST", "/process.Process/Start", &headers, &body);
    assert!(answer.text().contains("deadline_exceeded"), "{}", answer.text());
    let messages: Vec<_> =
        envelopes(&answer.body).into_iter().map(|(_, message)| message).collect();
    assert_eq!(screen_of(&messages).0, "begun\r\n");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while sandbox_runs(&sandbox, "sleep") {
        assert!(std::time::Instant::now() < until, "the process still runs");
    }
}

/// Returns whether a program of that name runs in a sandbox.
fn sandbox_runs(sandbox: &WireBox, name: &str) -> bool {
    let look = json!({ "process": { "cmd": "pgrep", "args": ["-x", name] } });
    let (messages, _) =
        sandbox.stream("json", "process.Process/Start", look.to_string().as_bytes());
    screen_of(&messages).1 == json!(0)
}
