//! Development servers in a session, as agents begin them: Flask, FastAPI with uvicorn, and a server
//! of static files and WebSockets by Node. They are reached through `runner serve` and through a port
//! of the host's loopback, which the packages for Python and Node open.
//!
//! Expected values are what the same programs answer natively, with CPython 3.11 and Node 20, and
//! those of RFC 6455.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use wasibox::ProcessStart;
use wasibox::policy::ToolSettings;
use wasibox_sessions::http::{Answer, TestServer, serve};
use wasibox_sessions::wheels::download_wheels;
use wasibox_sessions::{engine, policy};

const A: &str = "alice-alice-alice";
const TOKENS: &str = "
[[token]]
name = 'alice'
token = 'alice-alice-alice'
";

const FLASK: &str = "
import time
from flask import Flask, Response, jsonify, request
app = Flask(__name__)
@app.get('/')
def index(): return '<h1>hello</h1>'
@app.post('/echo')
def echo(): return jsonify(query=request.args, form=request.form, json=request.get_json(silent=True))
@app.get('/events')
def events():
    def parts():
        for n in range(3):
            yield f'data: {n}\\n\\n'
            time.sleep(0.05)
    return Response(parts(), mimetype='text/event-stream')
@app.get('/wrong')
def wrong(): return 1 / 0
";

const FASTAPI: &str = "
import asyncio, threading
from fastapi import FastAPI, WebSocket
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
app = FastAPI()
class Item(BaseModel):
    name: str
    price: float = 1.5
@app.get('/items/{n}')
async def item(n: int, q: str | None = None): return {'n': n, 'q': q}
@app.get('/thread')
def thread(): return threading.current_thread() is not threading.main_thread()
@app.post('/items')
async def add(item: Item): return {'name': item.name, 'total': item.price * 2}
@app.get('/events')
async def events():
    async def parts():
        for n in range(3):
            yield f'data: {n}\\n\\n'
            await asyncio.sleep(0.05)
    return StreamingResponse(parts(), media_type='text/event-stream')
@app.websocket('/ws')
async def ws(socket: WebSocket):
    await socket.accept()
    async for text in socket.iter_text():
        await socket.send_text('echo ' + text)
";

/// A server as `vite preview` is one: files with their types and tags, the page for all other paths,
/// and WebSockets.
const NODE: &str = r#"
const http = require('http'), fs = require('fs'), path = require('path'), crypto = require('crypto');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };
const server = http.createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
  let file = path.join('/tmp/site', path.normalize(name));
  if (!fs.existsSync(file) || fs.statSync(file).isDirectory()) file = '/tmp/site/index.html';
  const { size, mtimeMs } = fs.statSync(file);
  const tag = `W/"${size}-${mtimeMs}"`;
  const headers = { 'Content-Type': types[path.extname(file)] ?? 'application/octet-stream', ETag: tag };
  if (request.headers['if-none-match'] === tag) return response.writeHead(304, headers).end();
  response.writeHead(200, { ...headers, 'Content-Length': size });
  fs.createReadStream(file).pipe(response);
});
server.on('upgrade', (request, socket) => {
  const key = request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  const accept = crypto.createHash('sha1').update(key).digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    `Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
  socket.on('data', (frame) => {
    const size = frame[1] & 127, mask = frame.subarray(2, 6);
    const text = 'echo ' + frame.subarray(6, 6 + size).map((byte, at) => byte ^ mask[at % 4]).toString();
    socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]));
  });
});
server.listen(4173, () => console.log('ready'));
process.on('SIGTERM', () => { console.log('closing'); server.close(() => process.exit(0)); });
"#;

/// Serves a session `w` with files.
fn served(files: &[(&str, &str)]) -> TestServer {
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    assert_eq!(s.json(A, "PUT", "/v1/sessions/w", &Value::Null).status, 201);
    for (path, text) in files {
        put(&s, path, text.as_bytes());
    }
    s
}

fn put(s: &TestServer, path: &str, bytes: &[u8]) {
    let headers = format!("Authorization: Bearer {A}\nContent-Type: application/octet-stream");
    let answer = s.request("PUT", &format!("/v1/sessions/w/files{path}"), &headers, bytes);
    assert!([200, 201].contains(&answer.status), "{path}: {} {}", answer.status, answer.text());
}

fn install(s: &TestServer, names: &str) {
    for (name, bytes) in download_wheels("dev_servers.txt") {
        put(s, &format!("/tmp/wheels/{name}"), &bytes);
    }
    let command = format!("pip install -q --no-index --find-links /tmp/wheels {names}");
    let ran = s.tool(A, "w", "sandbox_exec", &json!({ "command": command }));
    assert_eq!(ran["exit_code"], 0, "{ran}");
}

/// Begins a server, and returns the number of its process.
fn begin(s: &TestServer, command: &str, port: u16, terminal: bool) -> u64 {
    let input = json!({
        "command": format!("exec {command}"), "cwd": "/tmp", "port": port, "wait": 60,
        "terminal": terminal,
    });
    let began = s.tool(A, "w", "start_process", &input);
    assert_eq!(began["found"], true, "{command}: {began}");
    began["report"]["process"].as_u64().expect("a number")
}

fn get(s: &TestServer, port: u16, path: &str) -> Answer {
    let headers = format!("Authorization: Bearer {A}");
    s.request("GET", &format!("/v1/sessions/w/ports/{port}{path}"), &headers, b"")
}

fn post(s: &TestServer, port: u16, path: &str, body: &Value) -> Answer {
    s.json(A, "POST", &format!("/v1/sessions/w/ports/{port}{path}"), body)
}

/// Asks until an answer has a text.
fn wait_for_text(s: &TestServer, port: u16, path: &str, text: &str) {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let answer = get(s, port, path);
        if answer.text().contains(text) {
            return;
        }
        assert!(Instant::now() < until, "{} {}", answer.status, answer.text());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Sends texts by a WebSocket (RFC 6455), and returns the answer to each.
fn say_by_socket(s: &TestServer, port: u16, path: &str, texts: &[&str]) -> Vec<String> {
    let mut stream = TcpStream::connect(s.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!(
        "GET /v1/sessions/w/ports/{port}{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {A}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        s.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (mut answer, mut byte) = (Vec::new(), [0]);
    while !answer.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
    let answer = String::from_utf8(answer).unwrap().to_lowercase();
    assert!(answer.starts_with("http/1.1 101"), "{answer}");
    // The answer to that key in RFC 6455, 1.3.
    assert!(answer.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="), "{answer}");
    let mut say = |text: &str| {
        let mask = [1, 2, 3, 4];
        let masked = text.bytes().zip(mask.into_iter().cycle()).map(|(byte, mask)| byte ^ mask);
        let mut frame = vec![0x81, 0x80 | text.len() as u8];
        frame.extend(mask);
        frame.extend(masked);
        stream.write_all(&frame).unwrap();
        let mut head = [0; 2];
        stream.read_exact(&mut head).unwrap();
        assert_eq!(head[0], 0x81);
        let mut said = vec![0; head[1].into()];
        stream.read_exact(&mut said).unwrap();
        String::from_utf8(said).unwrap()
    };
    texts.iter().map(|text| say(text)).collect()
}

#[test]
fn flask_serves_streams_and_reloads() {
    let s = served(&[("/tmp/app.py", FLASK)]);
    install(&s, "flask");
    let server = begin(&s, "python3 -m flask run -p 5000", 5000, false);
    let index = get(&s, 5000, "/");
    assert_eq!((index.status, index.text().as_str()), (200, "<h1>hello</h1>"));
    assert!(index.header("server").unwrap().starts_with("werkzeug/3"), "{}", index.head);
    let echo = post(&s, 5000, "/echo?a=b", &json!({ "c": [1, 2] }));
    assert_eq!(echo.value(), json!({ "query": { "a": "b" }, "form": {}, "json": { "c": [1, 2] } }));
    let events = get(&s, 5000, "/events");
    assert_eq!(events.text(), "data: 0\n\ndata: 1\n\ndata: 2\n\n");
    assert_eq!((get(&s, 5000, "/wrong").status, get(&s, 5000, "/none").status), (500, 404));
    let killed = s.tool(A, "w", "kill_process", &json!({ "process": server }));
    assert_eq!(killed["exit_code"], 143, "{killed}");

    // The debugger needs memory that processes share; without it, Flask reloads what has changed.
    begin(&s, "python3 -m flask run -p 5001 --debug --no-debugger", 5001, false);
    assert_eq!(get(&s, 5001, "/").text(), "<h1>hello</h1>");
    put(&s, "/tmp/app.py", FLASK.replace("hello", "good-bye").as_bytes());
    wait_for_text(&s, 5001, "/", "<h1>good-bye</h1>");
}

#[test]
fn fastapi_serves_sockets_reloads_and_ends_in_order() {
    let s = served(&[("/tmp/api.py", FASTAPI)]);
    install(&s, "fastapi uvicorn websockets");
    let server = begin(&s, "python3 -m uvicorn api:app", 8000, false);
    assert_eq!(get(&s, 8000, "/items/5?q=z").value(), json!({ "n": 5, "q": "z" }));
    assert_eq!(get(&s, 8000, "/items/five").status, 422);
    assert_eq!(get(&s, 8000, "/thread").value(), json!(true));
    let added = post(&s, 8000, "/items", &json!({ "name": "pen" }));
    assert_eq!(added.value(), json!({ "name": "pen", "total": 3.0 }));
    let wrong = post(&s, 8000, "/items", &json!({ "price": 1 }));
    assert_eq!((wrong.status, &wrong.value()["detail"][0]["loc"]), (422, &json!(["body", "name"])));
    assert_eq!(get(&s, 8000, "/events").text(), "data: 0\n\ndata: 1\n\ndata: 2\n\n");
    assert_eq!(get(&s, 8000, "/openapi.json").value()["openapi"], "3.1.0");
    assert_eq!(say_by_socket(&s, 8000, "/ws", &["one", "two"]), ["echo one", "echo two"]);
    // Requests side by side do not wait for each other.
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..20).map(|_| scope.spawn(|| get(&s, 8000, "/events").status)).collect();
        assert!(all.into_iter().all(|one| one.join().unwrap() == 200));
    });
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let killed = s.tool(A, "w", "kill_process", &json!({ "process": server }));
    assert_eq!(killed["exit_code"], 143, "{killed}");
    let last = s.tool(A, "w", "read_process", &json!({ "process": server, "after": 0 }));
    let last = last["output"].as_str().unwrap();
    assert!(last.contains("Application shutdown complete.\n"), "{last}");
    assert!(last.contains("Finished server process ["), "{last}");

    // On a terminal Ctrl-C ends the server and the one that watches its files.
    let server = begin(&s, "python3 -m uvicorn api:app --port 8001 --reload", 8001, true);
    assert_eq!(get(&s, 8001, "/items/5").value(), json!({ "n": 5, "q": null }));
    // It looks at its files for the first time a quarter of a second after it has begun.
    std::thread::sleep(Duration::from_secs(1));
    put(&s, "/tmp/api.py", FASTAPI.replace("{'n': n", "{'m': n").as_bytes());
    wait_for_text(&s, 8001, "/items/5", "{\"m\":5");
    let typed = json!({ "process": server, "text": "\u{3}" });
    s.tool(A, "w", "write_process", &typed);
    let until =
        json!({ "process": server, "until": "Stopping reloader process", "wait": 30, "after": 0 });
    let ended = s.tool(A, "w", "read_process", &until);
    assert_eq!(ended["found"], true, "{ended}");
}

#[test]
fn a_static_server_of_node_has_sockets() {
    let page = "<!doctype html><script src=main.js></script>";
    let files =
        [("/tmp/site/index.html", page), ("/tmp/site/main.js", "1"), ("/tmp/server.js", NODE)];
    let s = served(&files);
    let server = begin(&s, "node server.js", 4173, false);
    let index = get(&s, 4173, "/");
    assert_eq!((index.text().as_str(), index.header("content-type")), (page, Some("text/html")));
    let tag = index.header("etag").unwrap().replace("w/", "W/");
    let headers = format!("Authorization: Bearer {A}\nIf-None-Match: {tag}");
    let again = s.request("GET", "/v1/sessions/w/ports/4173/", &headers, b"");
    assert_eq!((again.status, again.body.len()), (304, 0));
    let script = get(&s, 4173, "/main.js?v=1");
    assert_eq!(
        (script.text().as_str(), script.header("content-type")),
        ("1", Some("text/javascript"))
    );
    assert_eq!(get(&s, 4173, "/some/route").text(), page);
    assert_eq!(say_by_socket(&s, 4173, "/", &["one", "two"]), ["echo one", "echo two"]);
    let killed = s.tool(A, "w", "kill_process", &json!({ "process": server }));
    assert_eq!(killed["exit_code"], 0, "{killed}");
    let last = s.tool(A, "w", "read_process", &json!({ "process": server, "after": 0 }));
    assert_eq!(last["output"], "ready\nclosing\n");
}

#[test]
fn a_server_is_reached_at_the_hosts_loopback() {
    let s = engine(wasibox::Isolation::Process).session(policy()).unwrap();
    let script = "mkdir /tmp/site; echo page > /tmp/site/index.html; cat > /tmp/server.js; ";
    let mut exec = wasibox::Exec::from(script);
    exec.input = wasibox::Input::Bytes(NODE.into());
    s.exec(exec).unwrap();
    let start = ProcessStart { script: Some("node /tmp/server.js".into()), ..Default::default() };
    let process = s.start_process(&start).unwrap().process;
    let read =
        wasibox::ProcessRead { process, port: Some(4173), wait: Some(60.0), ..Default::default() };
    assert!(s.read_process(&read, None).unwrap().found);
    let exposed = s.expose(4173, 0).unwrap();
    let mut stream = TcpStream::connect(exposed.address()).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    assert_eq!(Answer::of(&all).text(), "page\n");
}
