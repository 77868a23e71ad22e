//! Requests to servers outside of the session, by exchanges with the device node [`HTTP`]. The host
//! judges them by the policy's rules, resolves names, speaks TLS, and adds secrets that guests do
//! not see. One `write` is one [`HttpStep`]; the reads after it return one [`HttpAnswer`].
//!
//! ```text
//! Open -> Opened(n)     Body(n)... -> Done     End(n) -> Head     Read(n)... -> Body, an empty one at the end
//! any step -> Failed    Close(n) -> Done     Names -> Done     Open -> Own
//! ```
//!
//! # Format
//! A message is a tag byte followed by fields. Numbers are little-endian, of eight bytes unless
//! stated otherwise. Text and bytes are preceded by their length (`u32`); only a body, host name or
//! reason at the end of a message has no length and takes the rest.

use alloc::vec::Vec;

/// The path of the node. It exists if the policy allows requests.
pub const HTTP: &str = "/.box/http";
/// The maximum size of a body in one step or answer, in bytes.
pub const PART: usize = 256 << 10;
/// The maximum number of headers of a request, and of a response.
pub const MAX_HEADERS: usize = 256;

/// Longest name of a host (RFC 1035, 2.3.4), in bytes.
const MAX_HOST: usize = 255;

/// A header field: its name and value.
pub type Header = (Vec<u8>, Vec<u8>);

/// A request without its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    pub method: Vec<u8>,
    /// Absolute: `https://example.com/x?y`.
    pub url: Vec<u8>,
    pub headers: Vec<Header>,
    /// The length of the body in bytes; `None` if it is unknown.
    pub body: Option<u64>,
    /// The maximum number of redirects that the host follows, judging each; with 0 they are
    /// returned to the guest.
    pub redirects: u32,
    /// The time limit in milliseconds, for the whole request and for connecting; 0 means the
    /// policy's.
    pub time: u64,
    pub connect_time: u64,
}

/// A request of the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpStep {
    Open(HttpRequest),
    Body(u64, Vec<u8>),
    End(u64),
    Read(u64),
    Close(u64),
    /// Asks whether a rule that allows requests names exactly this host and this port. The answer
    /// is `Done`, or `Failed` with code 7. Because a session has a loopback of its own, a guest
    /// learns by this step for which ports the host's loopback is meant instead.
    Names(u16, Vec<u8>),
}

/// An answer of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpAnswer {
    /// The number that the other steps name.
    Opened(u64),
    Done,
    Head(Response),
    Body(Vec<u8>),
    /// The request goes to the loopback, and no rule names the host's. It is therefore meant for
    /// the session's loopback, whose servers the guest reaches by its own sockets.
    Own,
    /// The exit status that curl(1) has for the failure, and a message for people. The request is
    /// over.
    Failed {
        code: u8,
        why: Vec<u8>,
    },
}

/// A response without its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// The HTTP version: 10, 11 or 20.
    pub version: u8,
    /// The URL that the response came from, after redirects, and the number of redirects.
    pub url: Vec<u8>,
    pub redirects: u32,
    pub headers: Vec<Header>,
}

/// A reader of the fields in a message.
struct HttpFields<'a>(&'a [u8]);

impl<'a> HttpFields<'a> {
    fn take_array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn take_long(&mut self) -> Option<u64> {
        self.take_array().map(u64::from_le_bytes)
    }

    fn take_int(&mut self) -> Option<u32> {
        self.take_array().map(u32::from_le_bytes)
    }

    fn take_bytes(&mut self) -> Option<Vec<u8>> {
        let len = usize::try_from(self.take_int()?).ok()?;
        let (field, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(field.to_vec())
    }

    fn take_headers(&mut self) -> Option<Vec<Header>> {
        let count = usize::try_from(self.take_int()?).ok().filter(|n| *n <= MAX_HEADERS)?;
        (0..count).map(|_| Some((self.take_bytes()?, self.take_bytes()?))).collect()
    }

    fn take_rest(self) -> Vec<u8> {
        self.0.to_vec()
    }

    fn take_end<T>(self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
}

fn put_headers(out: &mut Vec<u8>, headers: &[Header]) {
    out.extend((headers.len() as u32).to_le_bytes());
    for (name, value) in headers {
        put_bytes(out, name);
        put_bytes(out, value);
    }
}

impl HttpStep {
    /// Encodes the step.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let numbered = |out: &mut Vec<u8>, kind: u8, n: &u64| {
            out.push(kind);
            out.extend(n.to_le_bytes());
        };
        match self {
            HttpStep::Open(r) => {
                out.push(1);
                put_bytes(&mut out, &r.method);
                put_bytes(&mut out, &r.url);
                put_headers(&mut out, &r.headers);
                out.push(u8::from(r.body.is_some()));
                out.extend(r.body.unwrap_or(0).to_le_bytes());
                out.extend(r.redirects.to_le_bytes());
                out.extend(r.time.to_le_bytes());
                out.extend(r.connect_time.to_le_bytes());
            }
            HttpStep::Body(n, bytes) => {
                numbered(&mut out, 2, n);
                out.extend(bytes);
            }
            HttpStep::End(n) => numbered(&mut out, 3, n),
            HttpStep::Read(n) => numbered(&mut out, 4, n),
            HttpStep::Close(n) => numbered(&mut out, 5, n),
            HttpStep::Names(port, host) => {
                out.push(6);
                out.extend(port.to_le_bytes());
                out.extend(host);
            }
        }
        out
    }

    /// Decodes a step; `None` for bytes that are not one.
    pub fn decode(bytes: &[u8]) -> Option<HttpStep> {
        let (kind, rest) = bytes.split_first()?;
        let mut f = HttpFields(rest);
        if *kind == 1 {
            let (method, url, headers) = (f.take_bytes()?, f.take_bytes()?, f.take_headers()?);
            let (has_length, body) = (f.take_array::<1>()?, f.take_long()?);
            let body = match has_length {
                [0] => None,
                [1] => Some(body),
                _ => return None,
            };
            let (redirects, time, connect_time) = (f.take_int()?, f.take_long()?, f.take_long()?);
            let request = HttpRequest { method, url, headers, body, redirects, time, connect_time };
            return f.take_end(HttpStep::Open(request));
        }
        if *kind == 6 {
            let port = u16::from_le_bytes(f.take_array()?);
            return (f.0.len() <= MAX_HOST).then(|| HttpStep::Names(port, f.take_rest()));
        }
        let n = f.take_long()?;
        match kind {
            2 if f.0.len() <= PART => Some(HttpStep::Body(n, f.take_rest())),
            3 => f.take_end(HttpStep::End(n)),
            4 => f.take_end(HttpStep::Read(n)),
            5 => f.take_end(HttpStep::Close(n)),
            _ => None,
        }
    }
}

impl HttpAnswer {
    /// Encodes the answer.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            HttpAnswer::Opened(n) => {
                out.push(1);
                out.extend(n.to_le_bytes());
            }
            HttpAnswer::Done => out.push(2),
            HttpAnswer::Head(r) => {
                out.push(3);
                out.extend(r.status.to_le_bytes());
                out.push(r.version);
                put_bytes(&mut out, &r.url);
                out.extend(r.redirects.to_le_bytes());
                put_headers(&mut out, &r.headers);
            }
            HttpAnswer::Body(bytes) => {
                out.push(4);
                out.extend(bytes);
            }
            HttpAnswer::Failed { code, why } => {
                out.extend([5, *code]);
                out.extend(why);
            }
            HttpAnswer::Own => out.push(6),
        }
        out
    }

    /// Decodes an answer; `None` for bytes that are not one.
    pub fn decode(bytes: &[u8]) -> Option<HttpAnswer> {
        let (kind, rest) = bytes.split_first()?;
        let mut f = HttpFields(rest);
        match kind {
            1 => {
                let n = f.take_long()?;
                f.take_end(HttpAnswer::Opened(n))
            }
            2 => f.take_end(HttpAnswer::Done),
            3 => {
                let (status, [version]) = (u16::from_le_bytes(f.take_array()?), f.take_array()?);
                let (url, redirects, headers) = (f.take_bytes()?, f.take_int()?, f.take_headers()?);
                f.take_end(HttpAnswer::Head(Response { status, version, url, redirects, headers }))
            }
            4 => Some(HttpAnswer::Body(f.take_rest())),
            5 => {
                let [code] = f.take_array()?;
                Some(HttpAnswer::Failed { code, why: f.take_rest() })
            }
            6 => f.take_end(HttpAnswer::Own),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn header(name: &str, value: &str) -> Header {
        (name.as_bytes().to_vec(), value.as_bytes().to_vec())
    }

    fn steps() -> Vec<HttpStep> {
        vec![
            HttpStep::Open(HttpRequest {
                method: b"POST".to_vec(),
                url: b"https://a.b/c?d".to_vec(),
                headers: vec![header("A", "b"), header("C", "")],
                body: Some(7),
                redirects: 5,
                time: 9,
                connect_time: 1 << 40,
            }),
            HttpStep::Open(HttpRequest::default()),
            HttpStep::Body(3, b"x\0y".to_vec()),
            HttpStep::Body(3, vec![]),
            HttpStep::End(4),
            HttpStep::Read(u64::MAX),
            HttpStep::Close(0),
            HttpStep::Names(8000, b"localhost".to_vec()),
        ]
    }

    fn answers() -> Vec<HttpAnswer> {
        let headers = vec![header("Content-Type", "text/plain"), header("Set-Cookie", "a=b")];
        let (status, version, url, redirects) = (404, 20, b"https://a.b/".to_vec(), 2);
        vec![
            HttpAnswer::Opened(7),
            HttpAnswer::Done,
            HttpAnswer::Head(Response { status, version, url, redirects, headers }),
            HttpAnswer::Body(vec![0; 1000]),
            HttpAnswer::Body(vec![]),
            HttpAnswer::Failed { code: 7, why: b"not allowed".to_vec() },
            HttpAnswer::Own,
        ]
    }

    #[test]
    fn messages_round_trip() {
        for step in steps() {
            assert_eq!(HttpStep::decode(&step.encode()), Some(step));
        }
        for answer in answers() {
            assert_eq!(HttpAnswer::decode(&answer.encode()), Some(answer));
        }
    }

    #[test]
    fn hostile_bytes_are_refused_or_mean_something_else() {
        for whole in
            steps().iter().map(HttpStep::encode).chain(answers().iter().map(HttpAnswer::encode))
        {
            for end in 0..whole.len() {
                let _ = (HttpStep::decode(&whole[..end]), HttpAnswer::decode(&whole[..end]));
            }
            for at in 0..whole.len() {
                for bit in 0..8 {
                    let mut other = whole.clone();
                    other[at] ^= 1 << bit;
                    let _ = (HttpStep::decode(&other), HttpAnswer::decode(&other));
                }
            }
        }
        assert_eq!(HttpStep::decode(&steps()[0].encode()[..20]), None);
        assert_eq!(HttpStep::decode(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None);
        // A number of headers that are not there.
        assert_eq!(
            HttpAnswer::decode(&[3, 200, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0]),
            None
        );
        assert_eq!(HttpStep::decode(&[&[6, 80, 0][..], &[b'a'; 256]].concat()), None);
        assert_eq!(HttpStep::decode(&[&[2; 9][..], &vec![0; PART + 1]].concat()), None);
    }
}
