//! A client of the Model Context Protocol that sends and receives single messages.

use crate::dist;
use crate::http::{Answer, TestServer};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The maximum wait for a message.
const WAIT: Duration = Duration::from_secs(120);

/// Returns the parameters of the first message, `initialize`.
pub fn hello() -> Value {
    json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

/// `runner mcp` of the built image, at its standard streams.
pub struct Stdio {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    next: u64,
    /// The notifications received so far.
    pub notifications: Vec<Value>,
    /// The server's description of itself.
    pub hello: Value,
    /// The client's roots, if it has any.
    pub roots: Vec<Value>,
}

fn pipe() -> std::process::Stdio {
    std::process::Stdio::piped()
}

impl Stdio {
    /// Starts the runner and initializes the connection.
    pub fn begin(args: &[&str]) -> Stdio {
        Stdio::with_roots(args, Vec::new())
    }

    /// Does the same as [`Stdio::begin`] for a client that has roots.
    pub fn with_roots(args: &[&str], roots: Vec<Value>) -> Stdio {
        let mut command = Command::new(dist().join("runner"));
        command.arg("mcp").arg("--image").arg(dist().join("image.webc")).args(args);
        let mut child = command.stdin(pipe()).stdout(pipe()).spawn().expect("a runner");
        let (to, out) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let (sender, from) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).expect("JSON, and nothing else");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut hello = hello();
        if !roots.is_empty() {
            hello["capabilities"] = json!({ "roots": { "listChanged": true } });
        }
        let (notifications, hello_to_us) = (Vec::new(), Value::Null);
        let mut client =
            Stdio { child, to, from, next: 0, notifications, hello: hello_to_us, roots };
        client.hello = client.ask("initialize", hello).expect("an answer");
        client.notify("notifications/initialized", json!({}));
        client
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.to.as_mut().expect("a pipe").write_all(line.as_bytes()).expect("a reader");
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for its answer. Returns its number.
    pub fn begin_ask(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Reads and returns the next message.
    pub fn hear(&mut self) -> Value {
        self.from.recv_timeout(WAIT).expect("a message")
    }

    /// Sends a request. Returns the result or the error.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.begin_ask(method, params);
        loop {
            let mut message = self.hear();
            if message["method"] == "roots/list" {
                let (id, roots) = (&message["id"], &self.roots);
                let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": roots } });
                self.send(&answer);
            } else if message["id"] != id {
                self.notifications.push(message);
            } else if message.get("error").is_some() {
                return Err(message["error"].take());
            } else {
                return Ok(message["result"].take());
            }
        }
    }

    /// Calls a tool. Returns the whole result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", params).unwrap_or_else(|e| panic!("{tool}: {e}"))
    }

    /// Calls a tool. Returns the structured content of its result.
    pub fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let mut result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].take()
    }

    /// Kills the runner, as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().expect("a process");
        self.child.wait().expect("a process");
    }

    /// Closes the runner's input, and waits for its status.
    pub fn close(mut self) -> Option<i32> {
        drop(self.to.take());
        self.child.wait().expect("a process").code()
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection of the protocol over HTTP.
pub struct Connection<'a> {
    pub server: &'a TestServer,
    pub token: String,
    pub id: String,
    /// The path and query of the URL.
    pub path: String,
    /// The number of the last request.
    pub next: u64,
}

impl Connection<'_> {
    /// Initializes a connection.
    pub fn begin<'a>(server: &'a TestServer, token: &str, path: &str) -> Connection<'a> {
        Connection::begin_any(server, token, path).expect("a connection")
    }

    /// Does the same as [`Connection::begin`], but returns `None` if the server refuses the
    /// connection.
    pub fn begin_any<'a>(
        server: &'a TestServer,
        token: &str,
        path: &str,
    ) -> Option<Connection<'a>> {
        let (token, path) = (token.to_owned(), path.to_owned());
        let mut made = Connection { server, token, id: String::new(), path, next: 0 };
        let answer = made.send(&made.message("initialize", hello()));
        if answer.status != 200 || answer.text().contains("\"error\"") {
            return None;
        }
        made.id = answer.header("mcp-session-id").expect("an id").to_owned();
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(made.send(&message).status, 202);
        Some(made)
    }

    /// Returns a request as a message.
    pub fn message(&self, method: &str, params: Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params })
    }

    /// Sends a message.
    pub fn send(&self, message: &Value) -> Answer {
        let mut headers = "Accept: application/json, text/event-stream\n\
            Content-Type: application/json\n"
            .to_owned();
        if !self.token.is_empty() {
            headers += &format!("Authorization: Bearer {}\n", self.token);
        }
        if !self.id.is_empty() {
            headers += &format!("Mcp-Session-Id: {}\nMCP-Protocol-Version: 2025-11-25\n", self.id);
        }
        self.server.request("POST", &self.path, &headers, message.to_string().as_bytes())
    }

    /// Sends a request. Returns the result or the error.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.next += 1;
        let answer = self.send(&self.message(method, params));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let text = answer.text();
        // The answer is the last event that has data.
        let mut data = text.lines().filter_map(|l| l.strip_prefix("data:")).map(str::trim);
        let last = data.rfind(|d| !d.is_empty()).unwrap_or(&text);
        let mut message: Value = serde_json::from_str(last).expect("JSON");
        match message.get("error") {
            Some(_) => Err(message["error"].take()),
            None => Ok(message["result"].take()),
        }
    }

    /// Calls a tool. Returns the whole result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", params).unwrap_or_else(|e| panic!("{tool}: {e}"))
    }
}
