//! An HTTP/1.1 server on the host's loopback interface that sessions send requests to.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// A received request.
#[derive(Debug, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// The request line and the headers as they were received.
    pub head: String,
    pub body: Vec<u8>,
}

impl Request {
    /// Returns a header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|l| l.split_once(':'));
        lines.filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.trim()).next()
    }

    /// Returns the request as text, for servers that show it in the response.
    #[must_use]
    pub fn echo(&self) -> Vec<u8> {
        [self.head.as_bytes(), b"--\n", &self.body].concat()
    }
}

/// The response to a request.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Body,
}

/// A response's body.
#[derive(Debug)]
pub enum Body {
    Whole(Vec<u8>),
    /// The body is sent in chunks.
    Chunks(Vec<Vec<u8>>),
    /// The body is this number of zeros.
    Zeros(u64),
    /// The body is shorter than announced; then the connection is closed.
    Short(Vec<u8>, usize),
    /// Nothing is sent, and the connection stays open.
    Nothing,
}

impl Reply {
    /// Returns a reply with status 200 and a whole body.
    #[must_use]
    pub fn ok(body: impl Into<Vec<u8>>) -> Reply {
        Reply { status: 200, headers: Vec::new(), body: Body::Whole(body.into()) }
    }

    /// Returns the reply with a different status.
    #[must_use]
    pub fn status(self, status: u16) -> Reply {
        Reply { status, ..self }
    }

    /// Returns the reply with one more header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }
}

/// Serves on a free port, with a thread for each connection, until the process ends. Returns the
/// address.
pub fn serve(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let answer: Arc<dyn Fn(&Request) -> Reply + Send + Sync> = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || drop(connection(&stream, &*answer)));
        }
    });
    address
}

fn connection(stream: &TcpStream, answer: &dyn Fn(&Request) -> Reply) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = request(&mut reader)? {
        if !reply(stream, &request, answer(&request))? {
            return Ok(());
        }
    }
    Ok(())
}

fn request(reader: &mut BufReader<&TcpStream>) -> Result<Option<Request>> {
    let mut request = Request::default();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if line.trim().is_empty() {
            break;
        }
        request.head += &line;
    }
    let mut words = request.head.split(' ');
    request.method = words.next().unwrap_or_default().to_owned();
    request.path = words.next().unwrap_or_default().to_owned();
    if request.header("transfer-encoding") == Some("chunked") {
        request.body = chunks(reader)?;
    } else if let Some(length) = request.header("content-length") {
        request.body = vec![0; length.parse().unwrap_or(0)];
        reader.read_exact(&mut request.body)?;
    }
    Ok(Some(request))
}

fn chunks(reader: &mut BufReader<&TcpStream>) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk)?;
        body.extend_from_slice(&chunk[..size]);
        if size == 0 {
            return Ok(body);
        }
    }
}

/// Sends a reply. Returns whether the connection stays open.
fn reply(mut stream: &TcpStream, request: &Request, reply: Reply) -> Result<bool> {
    let mut head = format!("HTTP/1.1 {} -\r\n", reply.status);
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &match &reply.body {
        Body::Whole(bytes) => format!("Content-Length: {}\r\n\r\n", bytes.len()),
        Body::Short(_, length) => format!("Content-Length: {length}\r\n\r\n"),
        Body::Zeros(n) => format!("Content-Length: {n}\r\n\r\n"),
        Body::Chunks(_) => "Transfer-Encoding: chunked\r\n\r\n".to_owned(),
        Body::Nothing => {
            // Waits until the other end has closed the connection.
            let _ = stream.read(&mut [0; 1])?;
            return Ok(false);
        }
    };
    stream.write_all(head.as_bytes())?;
    if request.method == "HEAD" {
        return Ok(true);
    }
    match reply.body {
        Body::Whole(bytes) => stream.write_all(&bytes)?,
        Body::Short(bytes, _) => {
            stream.write_all(&bytes)?;
            return Ok(false);
        }
        Body::Chunks(chunks) => {
            for chunk in chunks {
                write!(stream, "{:x}\r\n", chunk.len())?;
                stream.write_all(&[chunk.as_slice(), b"\r\n"].concat())?;
            }
            stream.write_all(b"0\r\n\r\n")?;
        }
        Body::Zeros(mut left) => {
            let zeros = vec![0; 1 << 16];
            while left > 0 {
                let n = left.min(1 << 16);
                stream.write_all(&zeros[..usize::try_from(n).unwrap_or(0)])?;
                left -= n;
            }
        }
        Body::Nothing => {}
    }
    Ok(true)
}
