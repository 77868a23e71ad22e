//! A server of the built image within the test, and requests to it byte by byte, so that a test can
//! send requests that a client library would not.

use crate::{options, policy};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wasibox::policy::ToolSettings;
use wasibox::{Engine, Isolation};
use wasibox_actions::{Machine, MachineOptions, Registry};
use wasibox_http::{BesideDoor, Door, HttpServer, Serve, Tokens};

/// The maximum wait for an answer.
const WAIT: Duration = Duration::from_secs(120);

/// A server, which ends when the value is dropped.
pub struct TestServer {
    pub address: SocketAddr,
    end: Box<dyn Fn() + Send + Sync>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Serves sessions if there are tokens (TOML), otherwise the Model Context Protocol for everyone.
pub fn serve(tokens: Option<&str>, store: Option<&Path>, tools: ToolSettings) -> TestServer {
    begin_server(make_machine(store, tools), tokens.map(read_tokens), false)
}

/// Serves the sessions of a machine to tokens (TOML).
pub fn serve_machine(machine: Machine, tokens: &str) -> TestServer {
    begin_server(machine, Some(read_tokens(tokens)), false)
}

/// Serves E2B's interface; its API keys are the tokens (TOML).
pub fn serve_e2b(tokens: &str, store: Option<&Path>) -> TestServer {
    begin_server(make_machine(store, ToolSettings::default()), Some(read_tokens(tokens)), true)
}

fn make_machine(store: Option<&Path>, tools: ToolSettings) -> Machine {
    let engine = Engine::new(options(Isolation::Process)).expect("an engine");
    let settings = Arc::default();
    let machine = MachineOptions { policy: policy(), store, timeout: WAIT, tools, settings };
    Machine::new(&engine, machine).expect("a machine")
}

fn read_tokens(text: &str) -> Tokens {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("tokens");
    Tokens::read(file.path()).expect("tokens")
}

/// Begins a server. With `is_e2b` the address is that of E2B's interface.
fn begin_server(machine: Machine, tokens: Option<Tokens>, is_e2b: bool) -> TestServer {
    let listen: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let beside = tokens.iter().filter(|_| is_e2b).map(|tokens| {
        let router = wasibox_e2b::e2b_router(machine.clone(), tokens.clone());
        BesideDoor { name: "e2b", listen, router }
    });
    let beside = beside.collect();
    let registry = Registry::new(&machine).expect("tools").into();
    let door = Door {
        machine,
        registry,
        hosts: Vec::new(),
        origins: Vec::new(),
        ports_host: Some("ports.test".into()),
    };
    let idle = wasibox_http::IDLE;
    let serve = Serve { listen, tokens, drain: WAIT, idle, log: None, beside };
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.expect("threads").block_on(async {
            let server = HttpServer::bind(door, serve).await.expect("a server");
            let beside = server.beside_addresses().first().map(|(_, address)| *address);
            let address = beside.unwrap_or(server.address());
            sender.send((address, server.ending_token())).expect("a test");
            server.run().await;
        });
    });
    let (address, ending) = receiver.recv().expect("a server");
    TestServer { address, end: Box::new(move || ending.cancel()), thread: Some(thread) }
}

impl TestServer {
    /// Makes the server end, and waits until it has ended.
    pub fn end(mut self) {
        self.finish();
    }

    /// Makes the server end.
    pub fn request_end(&self) {
        (self.end)();
    }

    fn finish(&mut self) {
        self.request_end();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server");
        }
    }

    /// Sends bytes as they are. Reads the answer to its end and returns it.
    pub fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(WAIT)).expect("a time");
        stream.write_all(request).expect("a request");
        let mut all = Vec::new();
        // The server may close the connection of a refused request while the request is still being
        // sent.
        let _ = stream.read_to_end(&mut all);
        Answer::of(&all)
    }

    /// Sends a request with headers, one per line. Returns the answer.
    pub fn request(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let (host, len) = (self.address, body.len());
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        for line in headers.lines().filter(|line| !line.is_empty()) {
            text += &format!("{line}\r\n");
        }
        text += &format!("Content-Length: {len}\r\n\r\n");
        self.raw(&[text.as_bytes(), body].concat())
    }

    /// Sends a request of JSON with a token. Returns the answer.
    pub fn json(&self, token: &str, method: &str, path: &str, body: &Value) -> Answer {
        let headers = format!("Authorization: Bearer {token}\nContent-Type: application/json");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.request(method, path, &headers, body.as_bytes())
    }

    /// Calls a tool in a session. Returns its answer.
    pub fn tool(&self, token: &str, session: &str, tool: &str, input: &Value) -> Value {
        let path = format!("/v1/sessions/{session}/tools/{tool}");
        let answer = self.json(token, "POST", &path, input);
        assert_eq!(answer.status, 200, "{tool}: {}", answer.text());
        answer.value()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// Reads an answer from the bytes of a connection.
    pub fn of(all: &[u8]) -> Answer {
        let cut = all.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(all.len());
        let head = String::from_utf8_lossy(&all[..cut]).to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        let mut body = all.get(cut + 4..).unwrap_or_default().to_vec();
        if head.contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Answer { status, head, body }
    }

    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(cut) = body.windows(2).position(|w| w == b"\r\n") {
        let len =
            std::str::from_utf8(&body[..cut]).ok().and_then(|n| usize::from_str_radix(n, 16).ok());
        let Some(len @ 1..) = len.filter(|len| cut + 4 + len <= body.len()) else { break };
        out.extend_from_slice(&body[cut + 2..cut + 2 + len]);
        body = &body[cut + 4 + len..];
    }
    out
}

/// Sends a request of JSON with a token to a server that may be gone, and returns its whole answer.
///
/// # Errors
/// If the connection or a part of the answer is lost, or nothing arrives for the time `wait`.
pub fn try_request(
    address: SocketAddr,
    token: &str,
    method: &str,
    path: &str,
    body: &Value,
    wait: Duration,
) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&address, wait)?;
    stream.set_read_timeout(Some(wait))?;
    stream.set_write_timeout(Some(wait))?;
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes())?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    let answer = Answer::of(&all);
    let length = answer.header("content-length").and_then(|n| n.parse::<usize>().ok());
    if answer.status == 0 || length.is_some_and(|length| length > answer.body.len()) {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(answer)
}
