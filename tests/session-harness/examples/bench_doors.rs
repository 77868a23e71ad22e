//! Measures the cost of a door. `true` runs in turn through the crate, through `runner mcp` at
//! standard streams, through HTTP, and through MCP over HTTP. The last two use a connection that
//! stays open. `calculate` runs through the crate and through `runner mcp`, with an interpreter
//! that has already started. The image and the runner are those of `dist` (or `WASIBOX_DIST`).

use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasibox::policy::ToolSettings;
use wasibox::{Isolation, Session};
use wasibox_actions::{Machine, MachineOptions, calculate};
use wasibox_sessions::http::{TestServer, serve};
use wasibox_sessions::mcp::{Connection, Stdio};
use wasibox_sessions::{LONG, engine, policy};

/// The number of counted calls, and the number of calls before them that are not counted.
const RUNS: usize = 500;
const FIRST: usize = 20;
const TOKEN: &str = "a-token-for-the-bench";
const ROWS: [&str; 6] =
    ["crate", "MCP, stdio", "HTTP", "MCP, HTTP", "calculate, crate", "calculate, MCP, stdio"];

fn main() {
    let session = engine(Isolation::Process).session(policy()).expect("a session");
    let mut stdio = Stdio::begin(&[]);
    let tools = ToolSettings::default();
    let settings = Arc::default();
    let machine = MachineOptions { policy: policy(), store: None, timeout: LONG, tools, settings };
    let machine = Machine::new(&engine(Isolation::Process), machine).expect("a machine");
    // The first answer takes seconds, so it is not measured.
    calculate(&machine, "1 + 1").expect("a result");
    stdio.done("calculate", json!({"expression": "1 + 1"}));
    let tokens = format!("[[token]]\nname = 'a'\ntoken = '{TOKEN}'\n");
    let server = serve(Some(&tokens), None, ToolSettings::default());
    server.json(TOKEN, "PUT", "/v1/sessions/w", &json!(null));
    let call = json!({"command": "true"});
    let mut rest = Kept::open(&server, "/v1/sessions/w/tools/sandbox_exec", "", call.to_string());
    let connection = Connection::begin(&server, TOKEN, "/mcp?session=v");
    let message =
        connection.message("tools/call", json!({"name": "sandbox_exec", "arguments": call}));
    let id = format!(
        "Mcp-Session-Id: {}\r\nMCP-Protocol-Version: 2025-11-25\r\nAccept: application/json, text/event-stream\r\n",
        connection.id
    );
    let mut mcp = Kept::open(&server, "/mcp", &id, message.to_string());
    let mut times: [Vec<Duration>; 6] = Default::default();
    for n in 0..FIRST + RUNS {
        let mut took = [Duration::ZERO; 6];
        took[0] = timed(|| by_crate(&session));
        took[1] = timed(|| drop(stdio.done("sandbox_exec", call.clone())));
        took[2] = timed(|| rest.ask());
        took[3] = timed(|| mcp.ask());
        // The expression differs each time, so no earlier answer can be used.
        let expression = format!("{n}.5 km in miles");
        took[4] = timed(|| drop(calculate(&machine, &expression).expect("a result")));
        took[5] = timed(|| drop(stdio.done("calculate", json!({"expression": expression}))));
        if n >= FIRST {
            times.iter_mut().zip(took).for_each(|(all, one)| all.push(one));
        }
    }
    for (what, mut all) in ROWS.into_iter().zip(times) {
        all.sort_unstable();
        let at = |part: usize| all[all.len() * part / 100].as_secs_f64() * 1e3;
        println!("{what:<22} median {:.3} ms, p99 {:.3} ms", at(50), at(99));
    }
}

fn timed(act: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    act();
    begun.elapsed()
}

fn by_crate(session: &Session) {
    assert_eq!(session.exec("true").expect("a call").exit_code, 0);
}

/// A request that is sent repeatedly on one connection.
struct Kept {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
}

impl Kept {
    fn open(server: &TestServer, path: &str, headers: &str, body: String) -> Kept {
        let stream = TcpStream::connect(server.address).expect("a connection");
        stream.set_nodelay(true).expect("a connection");
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n{headers}\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            server.address,
            body.len()
        );
        Kept { stream: BufReader::new(stream), request: request.into_bytes() }
    }

    /// Sends the request, and reads the response to its end.
    fn ask(&mut self) {
        self.stream.get_mut().write_all(&self.request).expect("a request");
        let (mut len, mut is_chunked) = (0, false);
        loop {
            let line = self.line();
            let lower = line.to_ascii_lowercase();
            if let Some(n) = lower.strip_prefix("content-length: ") {
                len = n.parse().expect("a length");
            }
            is_chunked |= lower == "transfer-encoding: chunked";
            if line.is_empty() {
                break;
            }
        }
        if !is_chunked {
            return self.body(len);
        }
        loop {
            let size = usize::from_str_radix(&self.line(), 16).expect("a length");
            self.body(size);
            self.line();
            if size == 0 {
                return;
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("an answer");
        line.trim_end().to_owned()
    }

    fn body(&mut self, len: usize) {
        let mut body = vec![0; len];
        self.stream.read_exact(&mut body).expect("an answer");
    }
}
