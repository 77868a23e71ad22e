//! Requests to servers of the session itself: HTTP/1.1 (RFC 9112) over a socket of its loopback.
//!
//! It takes the same steps as the host's node, so that the rest of curl does not need to know which
//! of the two it talks to. Each request has its own connection, which the server is asked to close.
//! Body lengths follow curl: chunks before `Content-Length`, and without either the body lasts
//! until the connection closes.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use box_sys::http::{HttpAnswer, HttpRequest, HttpStep, MAX_HEADERS, PART, Response};
use box_sys::net::{self, NetSocketKind, Wait};

use crate::error::CurlError;
use crate::url::Url;

/// The first number for requests of this file; the host's numbers are lower.
const FIRST: u64 = 1 << 63;
/// The maximum size of a response's head.
const MAX_HEAD: usize = 256 << 10;
/// The maximum length of the line before a chunk.
const MAX_CHUNK_LINE: usize = 4096;

/// The requests that are in progress.
#[derive(Default)]
pub(crate) struct Loopback {
    open: HashMap<u64, LoopbackConnection>,
    made: u64,
}

/// The unread part of a response's body.
#[derive(Debug)]
enum BodyRest {
    Nothing,
    Bytes(u64),
    UntilEnd,
    /// The bytes that are left of the current chunk. A line end comes after it, unless it is the
    /// first one.
    Chunks {
        left: u64,
        is_first: bool,
    },
}

struct LoopbackConnection {
    socket: File,
    request: HttpRequest,
    is_chunked: bool,
    /// Bytes that were read but not yet consumed.
    buffer: Vec<u8>,
    rest: BodyRest,
    received: u64,
    begun: Instant,
}

fn failure_error(code: u8, why: impl Into<String>) -> CurlError {
    CurlError::Host { code, why: why.into() }
}

fn broken_connection(e: &std::io::Error) -> CurlError {
    failure_error(56, format!("Recv failure: {}", box_sys::error_text(e)))
}

/// Returns whether the URL's host is the local machine.
pub(crate) fn is_own(url: &[u8]) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let own = |ip: &std::net::IpAddr| ip.to_canonical().is_loopback() || ip.is_unspecified();
    std::str::from_utf8(&url.host)
        .ok()
        .and_then(net::resolve_name)
        .is_some_and(|all| all.iter().all(own))
}

impl Loopback {
    /// Returns whether a step belongs to a request that is sent over the loopback.
    pub(crate) fn has_request(&self, step: &HttpStep) -> bool {
        match step {
            HttpStep::Open(_) | HttpStep::Names(..) => false,
            HttpStep::Body(n, _) | HttpStep::End(n) | HttpStep::Read(n) | HttpStep::Close(n) => {
                *n >= FIRST
            }
        }
    }

    pub(crate) fn run_step(&mut self, step: &HttpStep) -> Result<HttpAnswer, CurlError> {
        let number = match step {
            HttpStep::Open(request) => {
                let connection = LoopbackConnection::open(request)?;
                let number = FIRST + self.made;
                self.made += 1;
                self.open.insert(number, connection);
                return Ok(HttpAnswer::Opened(number));
            }
            HttpStep::Close(n) => {
                self.open.remove(n);
                return Ok(HttpAnswer::Done);
            }
            // This step asks the host about names, which the loopback does not know.
            HttpStep::Names(..) => return Err(CurlError::Answer),
            HttpStep::Body(n, _) | HttpStep::End(n) | HttpStep::Read(n) => n,
        };
        let connection = self.open.get_mut(number).ok_or(CurlError::Answer)?;
        match step {
            HttpStep::Body(_, part) => connection.send_part(part).map(|()| HttpAnswer::Done),
            HttpStep::End(_) => connection.read_response().map(HttpAnswer::Head),
            _ => connection.read().map(HttpAnswer::Body),
        }
    }
}

impl LoopbackConnection {
    fn open(request: &HttpRequest) -> Result<LoopbackConnection, CurlError> {
        let begun = Instant::now();
        let url = Url::parse(&request.url)?;
        if url.https {
            return Err(failure_error(
                35,
                "there is no TLS inside the sandbox: its own servers speak http",
            ));
        }
        let host = String::from_utf8_lossy(&url.host).into_owned();
        let patience = [request.connect_time, request.time].into_iter().filter(|ms| *ms > 0).min();
        let patience = patience.map(Duration::from_millis);
        let socket =
            net::connect_to(&host, url.port(), NetSocketKind::Stream, patience).map_err(|e| {
                let (port, ms) = (url.port(), begun.elapsed().as_millis());
                let bare = host.trim_matches(['[', ']']);
                if e.kind() == ErrorKind::TimedOut {
                    return failure_error(
                        28,
                        format!("Connection timed out after {ms} milliseconds"),
                    );
                }
                let why = "Could not connect to server";
                failure_error(
                    7,
                    format!("Failed to connect to {bare} port {port} after {ms} ms: {why}"),
                )
            })?;
        let is_chunked = request.body.is_none();
        let mut connection = LoopbackConnection {
            socket,
            request: request.clone(),
            is_chunked,
            buffer: Vec::new(),
            rest: BodyRest::Nothing,
            received: 0,
            begun,
        };
        connection.write(&request_head(request, &url))?;
        Ok(connection)
    }

    /// Writes to the socket. A server that has closed the connection may already have answered, and
    /// then its answer counts, so a broken connection is not an error here.
    fn write(&mut self, bytes: &[u8]) -> Result<(), CurlError> {
        match self.socket.write_all(bytes) {
            Err(e) if !matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                Err(failure_error(55, format!("Send failure: {}", box_sys::error_text(&e))))
            }
            _ => Ok(()),
        }
    }

    fn send_part(&mut self, part: &[u8]) -> Result<(), CurlError> {
        if !self.is_chunked {
            return self.write(part);
        }
        if part.is_empty() {
            return Ok(());
        }
        let line = format!("{:x}\r\n", part.len());
        self.write(&[line.as_bytes(), part, b"\r\n"].concat())
    }

    /// Reads more bytes into the buffer; returns false at the end of input.
    fn fill_buffer(&mut self) -> Result<bool, CurlError> {
        if self.request.time > 0 {
            let most = Duration::from_millis(self.request.time);
            let left = most.saturating_sub(self.begun.elapsed());
            let ready = net::wait(&[(&self.socket, Wait::Read)], Some(left));
            if !ready.map_err(|e| broken_connection(&e))?.iter().any(|r| *r) {
                return Err(CurlError::Time(self.begun.elapsed().as_millis(), self.received));
            }
        }
        let mut part = vec![0; PART];
        loop {
            match self.socket.read(&mut part) {
                Ok(n) => {
                    self.buffer.extend_from_slice(&part[..n]);
                    return Ok(n > 0);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(broken_connection(&e)),
            }
        }
    }

    /// Ends the request and reads the response's head.
    fn read_response(&mut self) -> Result<Response, CurlError> {
        if self.is_chunked {
            self.write(b"0\r\n\r\n")?;
        }
        loop {
            match parse(&self.buffer)? {
                Some((used, _)) if (100..200).contains(&parse_status(&self.buffer)) => {
                    self.buffer.drain(..used);
                }
                Some((used, mut response)) => {
                    response.url.clone_from(&self.request.url);
                    self.buffer.drain(..used);
                    self.rest = body_rest(&self.request, &response)?;
                    return Ok(response);
                }
                None if self.buffer.len() > MAX_HEAD => {
                    return Err(failure_error(56, "Too large response headers"));
                }
                None => {
                    let had = !self.buffer.is_empty();
                    if !self.fill_buffer()? {
                        return Err(if had {
                            failure_error(56, "Recv failure: the response's head ends early")
                        } else {
                            failure_error(52, "Empty reply from server")
                        });
                    }
                }
            }
        }
    }

    /// Returns at most `most` bytes of the body from the buffer, which is filled if it is empty.
    fn take_part(&mut self, most: u64) -> Result<Vec<u8>, CurlError> {
        if self.buffer.is_empty() && !self.fill_buffer()? {
            return Ok(Vec::new());
        }
        let n = self.buffer.len().min(PART).min(usize::try_from(most).unwrap_or(PART));
        self.received += n as u64;
        Ok(self.buffer.drain(..n).collect())
    }

    /// Reads the next part of the body; returns an empty one at its end.
    fn read(&mut self) -> Result<Vec<u8>, CurlError> {
        match self.rest {
            BodyRest::Nothing | BodyRest::Bytes(0) => Ok(Vec::new()),
            BodyRest::UntilEnd => self.take_part(u64::MAX),
            BodyRest::Bytes(left) => {
                let part = self.take_part(left)?;
                if part.is_empty() {
                    let why = format!("end of response with {left} bytes missing");
                    return Err(failure_error(18, why));
                }
                self.rest = BodyRest::Bytes(left - part.len() as u64);
                Ok(part)
            }
            BodyRest::Chunks { left: 0, is_first } => {
                let left = self.next_chunk_len(is_first)?;
                if left == 0 {
                    self.rest = BodyRest::Nothing;
                    return Ok(Vec::new());
                }
                self.rest = BodyRest::Chunks { left, is_first: false };
                self.read()
            }
            BodyRest::Chunks { left, is_first } => {
                let part = self.take_part(left)?;
                if part.is_empty() {
                    return Err(failure_error(
                        18,
                        "transfer closed with outstanding read data remaining",
                    ));
                }
                self.rest = BodyRest::Chunks { left: left - part.len() as u64, is_first };
                Ok(part)
            }
        }
    }

    /// Returns the next chunk's length.
    fn next_chunk_len(&mut self, is_first: bool) -> Result<u64, CurlError> {
        let bad = || failure_error(56, "chunk hex-length char not a hex digit");
        // The line end of the previous chunk comes before the next length.
        let skip = if is_first { 0 } else { 2 };
        loop {
            if self.buffer.len() >= skip {
                if skip == 2 && !self.buffer.starts_with(b"\r\n") {
                    return Err(bad());
                }
                match httparse::parse_chunk_size(&self.buffer[skip..]).map_err(|_| bad())? {
                    httparse::Status::Complete((used, length)) => {
                        self.buffer.drain(..skip + used);
                        return Ok(length);
                    }
                    httparse::Status::Partial if self.buffer.len() > MAX_CHUNK_LINE => {
                        return Err(bad());
                    }
                    httparse::Status::Partial => {}
                }
            }
            if !self.fill_buffer()? {
                return Err(failure_error(
                    18,
                    "transfer closed with outstanding read data remaining",
                ));
            }
        }
    }
}

/// Returns a request's head in the form in which it is sent.
fn request_head(request: &HttpRequest, url: &Url) -> Vec<u8> {
    let has = |name: &[u8]| request.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
    let mut out = [&request.method, &b" "[..], &url.target(), b" HTTP/1.1\r\n"].concat();
    let mut line = |name: &[u8], value: &[u8]| {
        out.extend([name, b": ", value, b"\r\n"].concat());
    };
    if !has(b"host") {
        line(b"Host", &url.authority());
    }
    for (name, value) in &request.headers {
        // These headers are replaced: the body's length is written below, and the connection serves
        // only one request.
        let ours: [&[u8]; 3] = [b"content-length", b"transfer-encoding", b"connection"];
        if !ours.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            line(name, value);
        }
    }
    let may_be_empty = !matches!(request.method.as_slice(), b"POST" | b"PUT" | b"PATCH");
    match request.body {
        None => line(b"Transfer-Encoding", b"chunked"),
        Some(0) if may_be_empty => {}
        Some(n) => line(b"Content-Length", n.to_string().as_bytes()),
    }
    line(b"Connection", b"close");
    out.extend(b"\r\n");
    out
}

/// Parses the head at the beginning of these bytes and returns it with its length; `None` if it is
/// incomplete.
fn parse(bytes: &[u8]) -> Result<Option<(usize, Response)>, CurlError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let used = match response.parse(bytes) {
        Ok(httparse::Status::Complete(used)) => used,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::Version | httparse::Error::Token) if !bytes.starts_with(b"HTTP/") => {
            return Err(failure_error(1, "Received HTTP/0.9 when not allowed"));
        }
        Err(e) => return Err(failure_error(8, format!("Weird server reply: {e}"))),
    };
    let headers = response.headers.iter().map(|h| (h.name.as_bytes().to_vec(), h.value.to_vec()));
    let head = Response {
        status: response.code.unwrap_or(0),
        version: if response.version == Some(0) { 10 } else { 11 },
        url: Vec::new(),
        redirects: 0,
        headers: headers.collect(),
    };
    Ok(Some((used, head)))
}

fn parse_status(bytes: &[u8]) -> u16 {
    let code = bytes.get(9..12).and_then(|code| std::str::from_utf8(code).ok());
    code.and_then(|code| code.parse().ok()).unwrap_or(0)
}

/// Determines how the response's body is delimited (RFC 9112, 6.3).
fn body_rest(request: &HttpRequest, response: &Response) -> Result<BodyRest, CurlError> {
    let all = |name: &str| {
        let name = name.to_owned();
        let same = move |n: &[u8]| n.eq_ignore_ascii_case(name.as_bytes());
        response.headers.iter().filter(move |(n, _)| same(n)).map(|(_, v)| v.trim_ascii())
    };
    if request.method == b"HEAD" || matches!(response.status, 204 | 304) {
        return Ok(BodyRest::Nothing);
    }
    if all("transfer-encoding").any(|v| v.to_ascii_lowercase().ends_with(b"chunked")) {
        return Ok(BodyRest::Chunks { left: 0, is_first: true });
    }
    let mut length = None;
    for value in all("content-length") {
        let digits = value.iter().all(u8::is_ascii_digit);
        let n = std::str::from_utf8(value).ok().filter(|_| digits).and_then(|v| v.parse().ok());
        match (n, length) {
            (Some(n), None) => length = Some(n),
            (Some(n), Some(before)) if n == before => {}
            _ => return Err(failure_error(8, "Invalid Content-Length: value")),
        }
    }
    Ok(length.map_or(BodyRest::UntilEnd, BodyRest::Bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr};

    /// Starts a server that answers one request with these bytes; its thread returns the request.
    fn server(answer: &'static [u8]) -> (String, std::thread::JoinHandle<String>) {
        let any = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let listener = net::listen(any, NetSocketKind::Stream).unwrap();
        let port = net::local_address(&listener).unwrap().port();
        let work = move || {
            let (mut socket, _) = net::accept(&listener).unwrap();
            let mut got = Vec::new();
            let mut byte = [0];
            while !got.ends_with(b"\r\n\r\n") && socket.read(&mut byte).unwrap() > 0 {
                got.push(byte[0]);
            }
            socket.write_all(answer).unwrap();
            String::from_utf8(got).unwrap()
        };
        (format!("http://localhost:{port}/a?b"), std::thread::spawn(work))
    }

    fn fetch(url: &str) -> Result<(Response, Vec<u8>), CurlError> {
        let mut own = Loopback::default();
        let request = HttpRequest {
            method: b"GET".to_vec(),
            url: url.into(),
            headers: vec![(b"X-A".to_vec(), b"b".to_vec())],
            body: Some(0),
            ..HttpRequest::default()
        };
        let HttpAnswer::Opened(n) = own.run_step(&HttpStep::Open(request))? else { panic!() };
        assert!(own.has_request(&HttpStep::End(n)));
        let HttpAnswer::Head(head) = own.run_step(&HttpStep::End(n))? else { panic!() };
        let mut body = Vec::new();
        loop {
            match own.run_step(&HttpStep::Read(n))? {
                HttpAnswer::Body(part) if part.is_empty() => return Ok((head, body)),
                HttpAnswer::Body(part) => body.extend(part),
                _ => panic!(),
            }
        }
    }

    fn gets(answer: &'static [u8]) -> Result<(u16, String), u8> {
        let (url, thread) = server(answer);
        let got = fetch(&url);
        let asked = thread.join().unwrap();
        assert!(asked.starts_with("GET /a?b HTTP/1.1\r\nHost: localhost:"), "{asked}");
        assert!(asked.ends_with("X-A: b\r\nConnection: close\r\n\r\n"), "{asked}");
        got.map(|(head, body)| (head.status, String::from_utf8(body).unwrap()))
            .map_err(|e| e.code())
    }

    #[test]
    fn bodies_end_as_their_heads_say() {
        let ok = |text: &str| Ok((200, text.to_owned()));
        assert_eq!(gets(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"), ok("abc"));
        assert_eq!(gets(b"HTTP/1.0 200 OK\r\n\r\nall of it"), ok("all of it"));
        let chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n";
        assert_eq!(gets(chunks), ok("abc0123456789"));
        assert_eq!(
            gets(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\nx"),
            Ok((204, String::new()))
        );
    }

    #[test]
    fn servers_that_err_give_curls_statuses() {
        assert_eq!(gets(b""), Err(52));
        assert_eq!(gets(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), Err(18));
        assert_eq!(
            gets(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nabc"),
            Err(8)
        );
        assert_eq!(gets(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), Err(56));
        assert_eq!(gets(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"), Err(18));
        assert_eq!(gets(b"hello\r\n\r\n"), Err(1));
        let refused = fetch("http://127.0.0.1:1/").unwrap_err();
        assert_eq!(refused.code(), 7);
        let text = refused.to_string();
        assert!(text.starts_with("Failed to connect to 127.0.0.1 port 1 after "), "{text}");
    }

    #[test]
    fn the_own_machine_is_known_by_its_names() {
        for own in
            ["http://localhost/", "127.0.0.1:8000", "http://[::1]:1/x", "a.localhost", "0.0.0.0"]
        {
            assert!(is_own(own.as_bytes()), "{own}");
        }
        for other in ["http://example.org/", "10.0.0.1", "http://localhost.example/", "[fe80::1]"] {
            assert!(!is_own(other.as_bytes()), "{other}");
        }
    }
}
