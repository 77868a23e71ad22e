//! Tests ports of sessions through `runner serve`: paths with a token, signed links, hosts of their
//! own; real servers in the session; and attempts to reach what a client may not reach.
//!
//! Expected values are from RFC 9110, 9112 and 6455, and from the servers' own source.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasibox::policy::ToolSettings;
use wasibox_sessions::http::{Answer, TestServer, serve};

const A: &str = "alice-alice-alice";
const B: &str = "bob-bob-bob-bob-bob";
const READER: &str = "reader-reader-reader";
const TOKENS: &str = "
[[token]]
name = 'alice'
token = 'alice-alice-alice'
[[token]]
name = 'bob'
token = 'bob-bob-bob-bob-bob'
[[token]]
name = 'reader'
token = 'reader-reader-reader'
scopes = ['read']
";

/// A server that shows what it gets. It answers some paths as a hostile one would.
const ECHO: &str = r#"
import json, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *args): pass
    def answer(self):
        length = int(self.headers.get('Content-Length') or 0)
        body = self.rfile.read(length)
        if self.headers.get('Transfer-Encoding') == 'chunked':
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size); self.rfile.readline()
            self.rfile.readline()
        if self.path == '/events':
            self.send_response(200); self.send_header('Content-Type', 'text/event-stream')
            self.send_header('Connection', 'close'); self.end_headers(); self.close_connection = True
            for n in range(3):
                self.wfile.write(b'data: %d\n\n' % n); self.wfile.flush(); time.sleep(0.3)
            return
        if self.path.startswith('/go?'):
            self.send_response(302); self.send_header('Location', self.path[4:])
            self.send_header('Content-Length', '0'); self.end_headers(); return
        if self.path == '/unasked':
            self.send_response(101); self.send_header('Upgrade', 'websocket')
            self.send_header('Connection', 'upgrade'); self.end_headers(); return
        seen = [[k.lower(), v] for k, v in self.headers.items()]
        out = json.dumps({'secret': 'alice-secret', 'method': self.command, 'path': self.path,
            'headers': seen, 'body': body.decode('latin-1')}).encode()
        self.send_response(200)
        for name, value in [('Set-Cookie', 'a=b; Domain=ports.test; Path=/'), ('Clear-Site-Data', '"*"'),
            ('Set-Cookie', 'wasibox-link=evil'), ('Strict-Transport-Security', 'max-age=1'),
            ('Service-Worker-Allowed', '/'), ('X-Own', 'yes'), ('Connection', 'x-drop'), ('X-Drop', '1'),
            ('Content-Length', str(len(out)))]:
            self.send_header(name, value)
        self.end_headers()
        if self.command != 'HEAD': self.wfile.write(out)
    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = do_PATCH = answer
class Server(ThreadingHTTPServer):
    request_queue_size = 128
Server(('127.0.0.1', 8000), Handler).serve_forever()
"#;

/// A WebSocket (RFC 6455) that sends frames back, and a port that speaks no HTTP.
const SOCKETS: &str = r#"
import asyncio, base64, hashlib
async def socket(r, w):
    head = (await r.readuntil(b'\r\n\r\n')).decode()
    lines = dict(l.split(': ', 1) for l in head.split('\r\n')[1:] if l)
    lines = {k.lower(): v for k, v in lines.items()}
    key = lines['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    w.write(b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
        b'Sec-WebSocket-Accept: ' + accept.encode() + b'\r\n\r\n')
    first = lines.get('authorization', '') + '|' + lines.get('sec-websocket-protocol', '')
    w.write(bytes([0x81, len(first)]) + first.encode())
    try:
        while True:
            a, b = await r.readexactly(2)
            n = b & 127
            if n == 126: n = int.from_bytes(await r.readexactly(2), 'big')
            mask = await r.readexactly(4) if b & 128 else bytes(4)
            data = bytes(c ^ mask[i % 4] for i, c in enumerate(await r.readexactly(n)))
            w.write(bytes([a, n]) + data if n < 126 else bytes([a, 126]) + n.to_bytes(2, 'big') + data)
            await w.drain()
    except asyncio.IncompleteReadError:
        w.close()
async def garbage(r, w):
    await r.readuntil(b'\r\n\r\n'); w.write(b'hello alice-secret\r\n\r\n'); w.close()
async def main():
    await asyncio.start_server(socket, '127.0.0.1', 8001, backlog=128)
    await (await asyncio.start_server(garbage, '127.0.0.1', 8002)).serve_forever()
asyncio.run(main())
"#;

const NODE: &str = "
const http = require('http');
http.createServer((q, r) => {
  let body = '';
  q.on('data', (part) => body += part).on('end', () => {
    r.setHeader('X-Engine', 'node');
    r.end(JSON.stringify({ method: q.method, url: q.url, host: q.headers.host, body }));
  });
}).listen(8003);
";

const WSGI: &str = "
from wsgiref.simple_server import make_server
def app(env, start):
    body = env['wsgi.input'].read(int(env.get('CONTENT_LENGTH') or 0))
    start('200 OK', [('Content-Type', 'text/plain')])
    return [b'%s %s %s' % (env['REQUEST_METHOD'].encode(), env['PATH_INFO'].encode(), body)]
make_server('', 8004, app).serve_forever()
";

/// Serves a session `w` of Alice with those programs, and an empty session `w` of Bob.
fn served(programs: &[(&str, &str, u16)]) -> TestServer {
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    for token in [A, B] {
        assert_eq!(s.json(token, "PUT", "/v1/sessions/w", &Value::Null).status, 201);
    }
    for (runtime, program, port) in programs {
        let run = format!(
            "{runtime} - <<'END' >/tmp/log-{port} 2>&1 &\n{program}\nEND\n\
             until nc -z localhost {port}; do sleep 0.05; done"
        );
        let ran = s.tool(A, "w", "sandbox_exec", &json!({"command": run, "background": true}));
        assert_eq!(ran["exit_code"], 0, "{ran}");
    }
    s
}

fn auth(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

fn get(s: &TestServer, path: &str) -> Answer {
    s.request("GET", &format!("/v1/sessions/w/ports/{path}"), &auth(A), b"")
}

fn link(s: &TestServer, port: u16, seconds: u64) -> Value {
    let asked = json!({"port": port, "seconds": seconds});
    let made = s.json(A, "POST", "/v1/sessions/w/links", &asked);
    assert_eq!(made.status, 201, "{}", made.text());
    made.value()
}

/// Returns a header that the server in the session has seen.
fn seen(answer: &Value, name: &str) -> Vec<String> {
    let all = answer["headers"].as_array().expect("headers").iter();
    let its = all.filter(|pair| pair[0] == name);
    its.map(|pair| pair[1].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn requests_and_bodies_pass_both_ways() {
    let s = served(&[("python3", ECHO, 8000), ("node", NODE, 8003), ("python3", WSGI, 8004)]);
    let listed = s.json(A, "GET", "/v1/sessions/w/ports", &Value::Null).value();
    let ports: Vec<&Value> = listed["ports"].as_array().unwrap().iter().collect();
    assert_eq!(ports.iter().map(|p| &p["port"]).collect::<Vec<_>>(), [8000, 8003, 8004]);
    assert_eq!(ports[0]["address"], "127.0.0.1");
    assert_eq!(ports[0]["command"], "python3 -");
    // The path, the query and the body are those that were sent.
    let body = vec![b'x'; 3_000_000];
    let path = "/v1/sessions/w/ports/8000/a%2Fb/../c//d?e=%20&f";
    let answer = s.request("POST", path, &auth(A), &body);
    let shown = answer.value();
    assert_eq!(
        (&shown["method"], &shown["path"]),
        (&json!("POST"), &json!("/a%2Fb/../c//d?e=%20&f"))
    );
    assert_eq!(shown["body"].as_str().unwrap().len(), body.len());
    assert_eq!(answer.header("x-own"), Some("yes"));
    let forwarded = |name: &str| seen(&shown, name);
    assert_eq!(forwarded("host"), ["localhost:8000"]);
    assert_eq!(forwarded("content-length"), ["3000000"]);
    assert_eq!(forwarded("x-forwarded-host"), [s.address.to_string()]);
    assert_eq!(forwarded("x-forwarded-for"), ["127.0.0.1"]);
    assert_eq!(forwarded("x-forwarded-proto"), ["http"]);
    assert_eq!(forwarded("x-forwarded-prefix"), ["/v1/sessions/w/ports/8000"]);
    for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let path = "/v1/sessions/w/ports/8000/";
        assert_eq!(s.request(method, path, &auth(A), b"b").value()["method"], method);
    }
    assert_eq!(s.request("HEAD", "/v1/sessions/w/ports/8000/", &auth(A), b"").body, b"");
    // A path without a slash at its end leads to the one with it.
    let bare = get(&s, "8000?x=1");
    assert_eq!((bare.status, bare.header("location")), (308, Some("8000/?x=1")));
    // Addresses of the guest's server become addresses of this one.
    for (inner, outer) in [
        ("/login", "/v1/sessions/w/ports/8000/login"),
        ("http://localhost:8000/x?y", "/v1/sessions/w/ports/8000/x?y"),
        ("http://127.0.0.1:8000", "/v1/sessions/w/ports/8000/"),
        ("next", "next"),
        ("//example.org/", "//example.org/"),
        ("https://example.org/", "https://example.org/"),
        ("http://localhost:8000.example.org/", "http://localhost:8000.example.org/"),
    ] {
        let answer = get(&s, &format!("8000/go?{inner}"));
        assert_eq!((answer.status, answer.header("location")), (302, Some(outer)), "{inner}");
    }
    let node = s.request("POST", "/v1/sessions/w/ports/8003/q?r=1", &auth(A), b"text");
    assert_eq!(node.header("x-engine"), Some("node"));
    let shown =
        json!({"method": "POST", "url": "/q?r=1", "host": "localhost:8003", "body": "text"});
    assert_eq!(node.value(), shown);
    let wsgi = s.request("PUT", "/v1/sessions/w/ports/8004/app", &auth(A), b"body");
    assert_eq!(wsgi.text(), "PUT /app body");
    // Nothing listens.
    let none = get(&s, "8009/");
    assert_eq!((none.status, &none.value()["type"]), (502, &json!("urn:wasibox:problem:port")));
    assert_eq!(none.value()["detail"], "no program of the session listens at port 8009");
}

#[test]
fn events_come_as_they_are_sent() {
    let s = served(&[("python3", ECHO, 8000)]);
    let mut stream = TcpStream::connect(s.address).unwrap();
    let head = format!(
        "GET /v1/sessions/w/ports/8000/events HTTP/1.1\r\nHost: {}\r\n{}\r\n\r\n",
        s.address,
        auth(A)
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (mut all, mut part, mut times) = (String::new(), [0; 4096], Vec::new());
    let begun = Instant::now();
    while times.len() < 3 {
        let n = stream.read(&mut part).unwrap();
        assert!(n > 0, "{all}");
        all += &String::from_utf8_lossy(&part[..n]);
        while all.contains(&format!("data: {}\n\n", times.len())) {
            times.push(begun.elapsed());
        }
    }
    assert!(all.to_ascii_lowercase().contains("content-type: text/event-stream"), "{all}");
    // Each event came before the next one was made.
    assert!(times[2] - times[0] >= Duration::from_millis(400), "{times:?}");
}

/// Opens a WebSocket, and returns it after the head of the answer.
fn open_socket(s: &TestServer, path: &str, headers: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(s.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n",
        s.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (mut answer, mut byte) = (Vec::new(), [0]);
    while !answer.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
    (stream, String::from_utf8_lossy(&answer).to_ascii_lowercase())
}

fn read_frame(stream: &mut TcpStream) -> String {
    let mut head = [0; 2];
    stream.read_exact(&mut head).unwrap();
    let mut len = usize::from(head[1]);
    if len == 126 {
        let mut long = [0; 2];
        stream.read_exact(&mut long).unwrap();
        len = u16::from_be_bytes(long).into();
    }
    let mut body = vec![0; len];
    stream.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

#[test]
fn fifty_websockets_echo_at_once() {
    let s = Arc::new(served(&[("python3", SOCKETS, 8001)]));
    let path = link(&s, 8001, 600)["path"].as_str().unwrap().to_owned();
    let all: Vec<_> = (0..50)
        .map(|n: u32| {
            let (s, path) = (s.clone(), path.clone());
            std::thread::spawn(move || {
                // By a link, by a header, and as pages do it.
                let own = "/v1/sessions/w/ports/8001/";
                let (path, headers) = match n % 3 {
                    0 => (path.as_str(), String::new()),
                    1 => (own, auth(A) + "\r\n"),
                    _ => (own, format!("Sec-WebSocket-Protocol: wasibox, bearer.{A}\r\n")),
                };
                let (mut stream, head) = open_socket(&s, path, &headers);
                assert!(head.starts_with("http/1.1 101"), "{head}");
                assert!(head.contains("s3pplmbitxaq9kygzzhzrbk+xoo="), "{head}");
                assert_eq!(head.contains("sec-websocket-protocol: wasibox"), n % 3 == 2, "{head}");
                // The guest saw no token.
                assert_eq!(read_frame(&mut stream), "|");
                for k in 0..20 {
                    let text = format!("{n} {k} ").repeat(30);
                    let len = u16::try_from(text.len()).unwrap().to_be_bytes();
                    let mut frame = vec![0x81, 0x80 | 126, len[0], len[1], 0, 0, 0, 0];
                    if text.len() < 126 {
                        frame = vec![0x81, 0x80 | len[1], 0, 0, 0, 0];
                    }
                    frame.extend(text.as_bytes());
                    stream.write_all(&frame).unwrap();
                    assert_eq!(read_frame(&mut stream), text);
                }
            })
        })
        .collect();
    all.into_iter().for_each(|one| one.join().unwrap());
}

#[test]
fn fifty_requests_are_answered_at_once() {
    let s = Arc::new(served(&[("python3", ECHO, 8000)]));
    let all: Vec<_> = (0..50)
        .map(|n| {
            let s = s.clone();
            std::thread::spawn(move || {
                for k in 0..4 {
                    let answer = get(&s, &format!("8000/{n}/{k}"));
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    assert_eq!(answer.value()["path"], format!("/{n}/{k}"));
                }
            })
        })
        .collect();
    all.into_iter().for_each(|one| one.join().unwrap());
}

#[test]
fn links_lead_to_one_port_for_a_time() {
    let s = served(&[("python3", ECHO, 8000), ("python3", SOCKETS, 8002)]);
    let made = link(&s, 8000, 600);
    let path = made["path"].as_str().unwrap();
    let answer = s.request("GET", &format!("{path}x?y"), "Cookie: a=b\nOrigin: null", b"");
    let shown = answer.value();
    assert_eq!((answer.status, &shown["path"]), (200, &json!("/x?y")));
    assert!(seen(&shown, "cookie").is_empty());
    assert_eq!(seen(&shown, "origin"), ["http://localhost:8000"]);
    assert_eq!(seen(&shown, "x-forwarded-prefix"), [path.trim_end_matches('/')]);
    // A page that came by a link has no origin, and may load from it nevertheless.
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    let asks =
        "Origin: null\nAccess-Control-Request-Method: PUT\nAccess-Control-Request-Headers: x-a";
    let preflight = s.request("OPTIONS", path, asks, b"");
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-headers"), Some("x-a"));
    // The application's own credentials pass; the server's do not.
    let own = s.request("GET", path, "Authorization: Basic YTpi", b"").value();
    assert_eq!(seen(&own, "authorization"), ["Basic YTpi"]);
    assert!(seen(&s.request("GET", path, &auth(B), b"").value(), "authorization").is_empty());
    // The same by a host of its own.
    let url = made["url"].as_str().unwrap();
    let rest = url.strip_prefix("http://").unwrap();
    let (host, query) = rest.split_once('/').unwrap();
    assert!(host.starts_with("8000-w-") && host.contains(".ports.test:"), "{host}");
    let at = |path: &str, headers: &str| {
        s.raw(
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n")
                .as_bytes(),
        )
    };
    let first = at(&format!("/a{query}&b=1"), "");
    assert_eq!((first.status, first.header("location")), (303, Some("/a?b=1")));
    let cookie = first.header("set-cookie").unwrap();
    assert!(cookie.contains("; httponly; samesite=lax; max-age="), "{cookie}");
    let kept = query.strip_prefix('?').unwrap();
    let answer = at("/a?b=1", &format!("Cookie: z=1; {kept}\r\nOrigin: http://{host}\r\n"));
    let shown = answer.value();
    assert_eq!((answer.status, &shown["path"]), (200, &json!("/a?b=1")));
    assert_eq!(seen(&shown, "cookie"), ["z=1"]);
    assert_eq!(seen(&shown, "origin"), ["http://localhost:8000"]);
    // Cookies of the guest are for its own host.
    assert_eq!(answer.header("set-cookie"), Some("a=b; path=/"));
    assert!(!answer.head.contains("wasibox-link"), "{}", answer.head);
    assert!(!answer.head.contains("content-security-policy"), "{}", answer.head);
    let plain = format!(
        "GET /t HTTP/1.1\r\nHost: 8000-w.ports.test\r\nConnection: close\r\n{}\r\n\r\n",
        auth(A)
    );
    assert_eq!(s.raw(plain.as_bytes()).value()["path"], "/t");
    // An expired one leads nowhere.
    let short = link(&s, 8000, 1)["path"].as_str().unwrap().to_owned();
    std::thread::sleep(Duration::from_millis(2100));
    assert_eq!(s.request("GET", &short, "", b"").status, 401);
    for (port, seconds) in [(0, 60), (8000, 0), (8000, 8 * 24 * 3600)] {
        let asked = json!({"port": port, "seconds": seconds});
        assert_eq!(s.json(A, "POST", "/v1/sessions/w/links", &asked).status, 400);
    }
    let asked = json!({"port": 8000});
    assert_eq!(s.json(READER, "POST", "/v1/sessions/w/links", &asked).status, 403);
    assert_eq!(s.json(A, "POST", "/v1/sessions/none/links", &asked).status, 404);
}

#[test]
fn a_guest_has_no_hold_on_the_servers_origin() {
    let s = served(&[("python3", ECHO, 8000), ("python3", SOCKETS, 8002)]);
    let headers = format!("{}\nCookie: a=b\nReferer: http://x/\nX-Forwarded-For: 9.9.9.9", auth(A));
    let answer = s.request("GET", "/v1/sessions/w/ports/8000/", &headers, b"");
    let shown = answer.value();
    for name in ["cookie", "authorization", "referer", "connection"] {
        assert!(seen(&shown, name).is_empty(), "{name}: {shown}");
    }
    assert_eq!(seen(&shown, "x-forwarded-for"), ["127.0.0.1"]);
    for name in [
        "set-cookie",
        "clear-site-data",
        "strict-transport-security",
        "service-worker-allowed",
        "x-drop",
    ] {
        assert_eq!(answer.header(name), None, "{name}");
    }
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("sandbox ") && !policy.contains("allow-same-origin"), "{policy}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    for path in ["8000/unasked", "8002/"] {
        let broken = get(&s, path);
        assert_eq!(broken.status, 502, "{path}: {}", broken.text());
        assert!(!broken.text().contains("alice-secret"));
    }
}

/// Requests of Bob, or of nobody, for what is Alice's, and requests that a proxy must not pass on as
/// they are. `HOST`, `LINK`, `MARK` and `OUTSIDE` stand for the server's address, Alice's link, the
/// label of its host, and a port of the host's loopback. A request has the statuses of its answer.
const TRICKS: &[(&str, &[u16])] = &[
    // Other owners' sessions.
    ("GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer BOB", &[502]),
    (
        "GET /v1/sessions/alice.w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer BOB",
        &[404],
    ),
    (
        "GET /v1/sessions/..%2Falice.w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer BOB",
        &[404, 422],
    ),
    (
        "GET /v1/sessions/%2e%2e/alice.w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer BOB",
        &[404],
    ),
    ("GET /v1/sessions/x/../w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer BOB", &[404]),
    (
        "GET /v1/sessions/w%00/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer BOB",
        &[404, 422],
    ),
    (
        "GET /v1/sessions/w/ports/8000%2F..%2F/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer BOB",
        &[400],
    ),
    ("GET //v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer BOB", &[404]),
    ("GET /v1/sessions//ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer BOB", &[404]),
    // Without a token, or with one in another place.
    ("GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST", &[401]),
    ("GET /v1/sessions/w/ports/8000/?token=ALICE HTTP/1.1\nHost: HOST", &[401]),
    (
        "GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nCookie: token=ALICE; Authorization=Bearer ALICE",
        &[401],
    ),
    (
        "GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nSec-WebSocket-Protocol: wasibox, bearer.ALICE",
        &[401],
    ),
    (
        "GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer BOB\nAuthorization: Bearer ALICE",
        &[401],
    ),
    ("GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer READER", &[403]),
    (
        "GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nProxy-Authorization: Bearer ALICE",
        &[401],
    ),
    (
        "GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer ALICE\nOrigin: http://evil.example",
        &[403],
    ),
    (
        "GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer ALICE\nOrigin: null",
        &[403],
    ),
    // Links.
    ("GET /v1/links/LINK HTTP/1.1\nHost: HOST\nAuthorization: Bearer LINK", &[308]),
    ("GET /v1/links/LINKA/ HTTP/1.1\nHost: HOST", &[401]),
    ("GET /v1/links/ALINK/ HTTP/1.1\nHost: HOST", &[401]),
    ("GET /v1/links/./ HTTP/1.1\nHost: HOST", &[401]),
    ("GET /v1/links/%4cINK/ HTTP/1.1\nHost: HOST", &[401]),
    ("GET /v1/sessions HTTP/1.1\nHost: HOST\nAuthorization: Bearer LINK", &[401]),
    ("GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer LINK", &[401]),
    ("GET /v1/sessions/w/ports/8000/ HTTP/1.1\nHost: HOST\nCookie: wasibox-link=LINK", &[401]),
    // Ports that are none, and the host's loopback.
    ("GET /v1/sessions/w/ports/OUTSIDE/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer ALICE", &[502]),
    ("GET /v1/sessions/w/ports/0/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer ALICE", &[400]),
    ("GET /v1/sessions/w/ports/+8000/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer ALICE", &[400]),
    ("GET /v1/sessions/w/ports/73536/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer ALICE", &[400]),
    (
        "GET /v1/sessions/w/ports/8000@127.0.0.1:OUTSIDE/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer ALICE",
        &[400],
    ),
    (
        "GET /v1/sessions/w/ports/127.0.0.1:OUTSIDE/ HTTP/1.1\nHost: HOST\nAuthorization: Bearer ALICE",
        &[400],
    ),
    (
        "GET http://127.0.0.1:OUTSIDE/v1/sessions/w/ports/OUTSIDE/ HTTP/1.1\nHost: 127.0.0.1:OUTSIDE\nAuthorization: Bearer ALICE",
        &[502],
    ),
    (
        "CONNECT 127.0.0.1:OUTSIDE HTTP/1.1\nHost: 127.0.0.1:OUTSIDE\nAuthorization: Bearer ALICE",
        &[400, 404, 405],
    ),
    // Hosts.
    ("GET / HTTP/1.1\nHost: 8000-w.ports.test", &[401]),
    ("GET / HTTP/1.1\nHost: 8000-w.ports.test\nAuthorization: Bearer BOB", &[502]),
    ("GET / HTTP/1.1\nHost: OUTSIDE-w.ports.test\nAuthorization: Bearer ALICE", &[502]),
    ("GET / HTTP/1.1\nHost: 8000-alice.w.ports.test\nAuthorization: Bearer BOB", &[200]),
    ("GET / HTTP/1.1\nHost: 8000-w.ports.test.evil.example\nAuthorization: Bearer BOB", &[200]),
    (
        "GET http://8000-w.ports.test/ HTTP/1.1\nHost: MARK.ports.test\nCookie: wasibox-link=LINK",
        &[400],
    ),
    (
        "GET / HTTP/1.1\nHost: MARK.ports.test\nHost: 8000-w.ports.test\nCookie: wasibox-link=LINK",
        &[400],
    ),
    ("GET / HTTP/1.1\nHost: 8000-w.ports.test\nCookie: wasibox-link=LINK", &[401]),
    ("GET /?wasibox-link=LINK HTTP/1.1\nHost: 8000-w.ports.test", &[401]),
    ("GET / HTTP/1.1\nHost: MARK.ports.test\nCookie: wasibox-link=LINKA", &[401]),
    (
        "GET / HTTP/1.1\nHost: MARK.ports.test\nCookie: wasibox-link=LINK\nOrigin: http://8001-w.ports.test",
        &[403],
    ),
    (
        "POST / HTTP/1.1\nHost: MARK.ports.test\nCookie: wasibox-link=LINK\nOrigin: null\nContent-Length: 0",
        &[403],
    ),
    (
        "GET / HTTP/1.1\nHost: MARK.ports.test\nCookie: wasibox-link=LINK\nSec-Fetch-Site: same-site\nSec-Fetch-Mode: no-cors",
        &[403],
    ),
    ("GET /v1/sessions HTTP/1.1\nHost: MARK.ports.test\nCookie: wasibox-link=x", &[401]),
    // Framing.
    (
        "POST /v1/links/LINK/ HTTP/1.1\nHost: HOST\nContent-Length: 4\nContent-Length: 5\n\nabcde",
        &[400],
    ),
    ("POST /v1/links/LINK/ HTTP/1.1\nHost: HOST\nTransfer-Encoding: xchunked\n\n0\n\n", &[400]),
    (
        "POST /v1/links/LINK/ HTTP/1.1\nHost: HOST\nTransfer-Encoding: chunked, identity\n\n0\n\n",
        &[400],
    ),
    ("POST /v1/links/LINK/ HTTP/1.1\nHost: HOST\nContent-Length: +4\n\nabcd", &[400]),
    ("POST /v1/links/LINK/ HTTP/1.1\nHost: HOST\nContent-Length : 4\n\nabcd", &[400]),
    ("GET /v1/links/LINK/ HTTP/1.1\nHost: HOST\nX-A: b\n folded", &[400]),
    (
        "GET /v1/links/LINK/ HTTP/1.1\nHost: HOST\nUpgrade: websocket\nConnection: upgrade, close\nContent-Length: 3\n\nGET",
        &[400],
    ),
    ("TRACE /v1/links/LINK/ HTTP/1.1\nHost: HOST", &[400, 405]),
    ("GET /v1/links/LINK/ HTTP/1.1\nHost: HOST\nX-A: b\rc", &[400]),
];

#[test]
fn no_trick_leads_to_what_is_anothers() {
    let s = served(&[("python3", ECHO, 8000)]);
    // A server at the host's loopback, which nobody may reach.
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    outside.set_nonblocking(true).unwrap();
    let port = outside.local_addr().unwrap().port().to_string();
    let made = link(&s, 8000, 600);
    let text = made["path"].as_str().unwrap().strip_prefix("/v1/links/").unwrap();
    let text = text.trim_end_matches('/').to_owned();
    let mark = made["url"].as_str().unwrap().strip_prefix("http://").unwrap();
    let mark = mark.split('.').next().unwrap().to_owned();
    let fill = |text_of: &str| {
        text_of
            .replace("LINK", &text)
            .replace("HOST", &s.address.to_string())
            .replace("OUTSIDE", &port)
            .replace("MARK", &mark)
            .replace("ALICE", A)
            .replace("BOB", B)
            .replace("READER", READER)
    };
    assert!(TRICKS.len() >= 40);
    for (trick, statuses) in TRICKS {
        let (head, body) = trick.split_once("\n\n").unwrap_or((trick, ""));
        let head =
            fill(&head.replace('\n', "\r\n")).replacen("\r\n", "\r\nConnection: close\r\n", 1);
        let head = if trick.contains("Connection: upgrade") {
            head.replace("Connection: close\r\n", "")
        } else {
            head
        };
        let answer = s.raw(format!("{head}\r\n\r\n{}", body.replace('\n', "\r\n")).as_bytes());
        assert!(statuses.contains(&answer.status), "{trick}: {} {}", answer.status, answer.text());
        assert!(!answer.text().contains("alice-secret"), "{trick}");
    }
    assert!(outside.accept().is_err(), "the host's loopback was reached");
}

#[test]
fn one_request_stays_one() {
    let s = served(&[("python3", ECHO, 8000)]);
    let path = link(&s, 8000, 600)["path"].as_str().unwrap().to_owned();
    let send = |headers: &str, body: &str| {
        let head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close", s.address);
        s.raw(format!("{head}{headers}\r\n\r\n{body}").as_bytes())
    };
    // What looks like a request in a body stays in the body.
    let inner = "0\r\n\r\nGET /admin HTTP/1.1\r\nHost: x\r\n\r\n";
    let chunk = format!("{:x}\r\n{inner}\r\n0\r\n\r\n", inner.len());
    let answer = send("\r\nTransfer-Encoding: chunked", &chunk);
    assert_eq!((answer.status, &answer.value()["body"]), (200, &json!(inner)));
    // A length and chunks together are refused, or read as chunks.
    for headers in [
        "\r\nContent-Length: 4\r\nTransfer-Encoding: chunked",
        "\r\nTransfer-Encoding: chunked\r\nContent-Length: 4",
    ] {
        let answer = send(headers, &chunk);
        let is_right = match answer.status {
            200 => {
                answer.value()["body"] == inner
                    && seen(&answer.value(), "content-length").is_empty()
            }
            status => status == 400,
        };
        assert!(is_right, "{}", answer.text());
    }
    // The client's names of headers to drop do not change the framing or the host.
    let named = ", content-length, host, x-forwarded-for, transfer-encoding";
    let answer =
        send(&format!("{named}\r\nContent-Length: 5\r\nTE: trailers\r\nUpgrade: h2c"), "abcde");
    let shown = answer.value();
    assert_eq!(
        (&shown["body"], seen(&shown, "host")),
        (&json!("abcde"), vec!["localhost:8000".into()])
    );
    for name in ["te", "upgrade", "connection"] {
        assert!(seen(&shown, name).is_empty(), "{name}: {shown}");
    }
    let expect = send("\r\nExpect: 100-continue\r\nContent-Length: 2", "ab");
    assert!(expect.head.starts_with("http/1.1 100") || expect.status == 200);
}
