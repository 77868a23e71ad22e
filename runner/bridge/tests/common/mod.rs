//! Servers on 127.0.0.1 that send exactly the bytes of a test, a resolver with fixed answers, and a
//! log that is kept.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wasibox_bridge::{
    Bridge, BridgeExchange, BridgeLimits, BridgeNetwork, BridgePolicy, LogEntry, LogSink,
    NameResolver, NetworkOptions, RequestError, RequestHead, RequestRules, ResponseHead, TlsRoots,
};

/// A server that runs `serve` for each connection, in a thread of its own.
pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
}

/// One connection, as `serve` sees it.
pub struct Peer {
    pub stream: TcpStream,
    /// The number of the connection, from 0.
    pub number: usize,
    rest: Vec<u8>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn new(serve: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", serve)
    }

    pub fn at(address: &str, serve: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, heads) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let (count, kept) = (Arc::clone(&connections), Arc::clone(&heads));
        let serve = Arc::new(serve);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let number = count.fetch_add(1, SeqCst);
                let heads = Arc::clone(&kept);
                let serve = Arc::clone(&serve);
                std::thread::spawn(move || {
                    serve(&mut Peer { stream, number, rest: Vec::new(), heads });
                });
            }
        });
        Self { address, connections, heads }
    }

    /// Makes a server that sends the same answer to every request, and closes.
    pub fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::new(move |peer| {
            if peer.head().is_some() {
                peer.say(&answer);
            }
        })
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn connections(&self) -> usize {
        self.connections.load(SeqCst)
    }

    /// Returns the heads of the received requests, in order.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Peer {
    /// Returns the next request's head; `None` if there is no further one.
    pub fn head(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.rest.windows(4).position(|w| w == b"\r\n\r\n") {
                let head: Vec<u8> = self.rest.drain(..end + 4).collect();
                let head = String::from_utf8_lossy(&head).into_owned();
                self.heads.lock().unwrap().push(head.clone());
                return Some(head);
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) | Err(_) => return None,
                Ok(n) => self.rest.extend_from_slice(&buffer[..n]),
            }
        }
    }

    /// Reads the body that a head announces.
    pub fn body(&mut self, head: &str) -> Vec<u8> {
        if let Some(length) = field(head, "content-length") {
            return self.bytes(length.parse().unwrap());
        }
        let mut out = Vec::new();
        while field(head, "transfer-encoding").is_some() {
            let line = self.line();
            let length = usize::from_str_radix(line.trim(), 16).unwrap();
            out.extend(self.bytes(length));
            self.bytes(2);
            if length == 0 {
                break;
            }
        }
        out
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        while self.rest.len() < count {
            let mut buffer = [0; 4096];
            let n = self.stream.read(&mut buffer).unwrap();
            assert!(n > 0, "the body is shorter than its head says");
            self.rest.extend_from_slice(&buffer[..n]);
        }
        self.rest.drain(..count).collect()
    }

    fn line(&mut self) -> String {
        let mut out = Vec::new();
        while !out.ends_with(b"\r\n") {
            out.extend(self.bytes(1));
        }
        String::from_utf8(out).unwrap()
    }

    /// Sends bytes; returns false once the peer no longer reads.
    pub fn say(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Sends a complete response, and leaves the connection open.
    pub fn ok(&mut self, body: &[u8]) -> bool {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        self.say(&[head.as_bytes(), body].concat())
    }

    /// Waits until the other side closes, for up to a minute.
    pub fn wait(&mut self) {
        let _ = self.stream.set_read_timeout(Some(Duration::from_secs(60)));
        let _ = io::copy(&mut self.stream, &mut io::sink());
    }
}

/// Returns the value of a header in a head.
pub fn field(head: &str, name: &str) -> Option<String> {
    head.lines().find_map(|line| {
        let (n, value) = line.split_once(':')?;
        n.eq_ignore_ascii_case(name).then(|| value.trim().to_string())
    })
}

/// A resolver with fixed answers: each is given once, the last one forever.
#[derive(Default)]
pub struct Names {
    answers: Mutex<BTreeMap<String, VecDeque<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub fn set(&self, name: &str, answers: &[&[&str]]) {
        let parse = |a: &&[&str]| a.iter().map(|ip| ip.parse().unwrap()).collect();
        let answers = answers.iter().map(parse).collect();
        self.answers.lock().unwrap().insert(name.to_string(), answers);
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl NameResolver for Names {
    fn resolve_host(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(host.to_string());
        let mut all = self.answers.lock().unwrap();
        let answers = all.get_mut(host).ok_or(io::ErrorKind::NotFound)?;
        if answers.len() > 1 {
            return Ok(answers.pop_front().unwrap());
        }
        Ok(answers.front().cloned().unwrap_or_default())
    }
}

/// A sink that keeps all entries.
#[derive(Default)]
pub struct Kept(Mutex<Vec<LogEntry>>);

impl Kept {
    pub fn entries(&self) -> Vec<LogEntry> {
        self.0.lock().unwrap().clone()
    }
}

impl LogSink for Kept {
    fn take_entry(&self, entry: &LogEntry) {
        self.0.lock().unwrap().push(entry.clone());
    }
}

/// A bridge with its test environment.
pub struct Box {
    pub bridge: Bridge,
    pub names: Arc<Names>,
    pub log: Arc<Kept>,
}

impl Box {
    pub fn new(allow: &[&str]) -> Self {
        Self::with(policy(allow), TlsRoots::default())
    }

    pub fn with(policy: BridgePolicy, roots: TlsRoots) -> Self {
        let (names, log) = (Arc::new(Names::default()), Arc::new(Kept::default()));
        let resolver: Arc<dyn NameResolver> = Arc::clone(&names) as Arc<dyn NameResolver>;
        let network =
            BridgeNetwork::new(NetworkOptions { resolver: Some(resolver), roots }).unwrap();
        let sink = Arc::clone(&log) as Arc<dyn LogSink>;
        let bridge = Bridge::with_log(&network, policy, sink).unwrap();
        Self { bridge, names, log }
    }

    pub fn get(&self, url: &str) -> Result<(ResponseHead, Vec<u8>), RequestError> {
        self.ask(&RequestHead::new("GET", url))
    }

    pub fn ask(&self, head: &RequestHead) -> Result<(ResponseHead, Vec<u8>), RequestError> {
        answer(&self.bridge.begin_request(head)?)
    }

    /// Returns the body of a response as text.
    pub fn text(&self, url: &str) -> Result<String, RequestError> {
        Ok(String::from_utf8(self.get(url)?.1).unwrap())
    }
}

pub fn answer(exchange: &BridgeExchange) -> Result<(ResponseHead, Vec<u8>), RequestError> {
    let head = exchange.wait_response()?;
    Ok((head, exchange.read_to_end(64 << 20)?))
}

pub fn policy(allow: &[&str]) -> BridgePolicy {
    let allow = allow.iter().map(|r| r.parse().unwrap()).collect();
    BridgePolicy { rules: RequestRules { allow, deny: Vec::new() }, ..BridgePolicy::default() }
}

/// Returns time limits that end a test which hangs, but are not reached on a busy machine.
pub fn short() -> BridgeLimits {
    BridgeLimits {
        connect: Duration::from_secs(20),
        first_byte: Duration::from_secs(25),
        total: Duration::from_secs(30),
        ..BridgeLimits::default()
    }
}

/// Returns the value of a response's header.
pub fn header(head: &ResponseHead, name: &str) -> Option<String> {
    let found = head.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name))?;
    Some(String::from_utf8_lossy(&found.value).into_owned())
}
