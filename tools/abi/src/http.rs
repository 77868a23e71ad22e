//! Requests to the world outside, by exchanges with the node [`HTTP`]: the host resolves names, speaks TLS, judges
//! by the policy's rules, and adds secrets that guests do not see. One `write` is one [`Step`], what reads give
//! then is one [`Answer`].
//!
//! ```text
//! Open -> Opened(n)     Body(n)... -> Done     End(n) -> Head     Read(n)... -> Body, an empty one at the end
//! any step -> Failed    Close(n) -> Done     Names -> Done     Open -> Own
//! ```
//!
//! # Format
//! A byte that says what it is, then fields: numbers are little-endian, of eight bytes unless something else is said; a text or a
//! list of bytes has its length (`u32`) before it, the last field of a message takes the rest.

use alloc::vec::Vec;

/// The node. It is there where a policy allows requests.
pub const HTTP: &str = "/.box/http";
/// Most bytes of a body in one step or answer.
pub const PART: usize = 256 << 10;
/// Most headers of a request, and of a response.
pub const MAX_HEADERS: usize = 256;

/// Longest name of a host (RFC 1035, 2.3.4), in bytes.
const MAX_HOST: usize = 255;

/// A header field.
pub type Header = (Vec<u8>, Vec<u8>);

/// A request but for its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub method: Vec<u8>,
    /// Absolute: `https://example.com/x?y`.
    pub url: Vec<u8>,
    pub headers: Vec<Header>,
    /// Bytes of the body; `None`: as many as come.
    pub body: Option<u64>,
    /// Redirects that the host follows, judging each; 0 gives them to the guest.
    pub redirects: u32,
    /// In milliseconds, for all of it and for connecting; 0 is as the policy says.
    pub time: u64,
    pub connect_time: u64,
}

/// What a guest asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Open(Request),
    Body(u64, Vec<u8>),
    End(u64),
    Read(u64),
    Close(u64),
    /// Whether a rule that allows something names this host, by itself, and port: `Done`, else `Failed` with 7. The
    /// session has a loopback of its own; this tells which servers there are the host's.
    Names(u16, Vec<u8>),
}

/// What the host answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The number that the other steps name.
    Opened(u64),
    Done,
    Head(Response),
    Body(Vec<u8>),
    /// The host of the request is the machine itself, and no rule says that the host's own is meant: it
    /// is the session's, whose servers the guest reaches by its own sockets.
    Own,
    /// The exit status that curl(1) has for it, and why, for people. Nothing comes after it.
    Failed {
        code: u8,
        why: Vec<u8>,
    },
}

/// A response but for its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// 10, 11 or 20.
    pub version: u8,
    /// Where it came from, after redirects, and how many those were.
    pub url: Vec<u8>,
    pub redirects: u32,
    pub headers: Vec<Header>,
}

/// Takes fields out of bytes.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn long(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn int(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let len = usize::try_from(self.int()?).ok()?;
        let (field, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(field.to_vec())
    }

    fn headers(&mut self) -> Option<Vec<Header>> {
        let many = usize::try_from(self.int()?).ok().filter(|n| *n <= MAX_HEADERS)?;
        (0..many).map(|_| Some((self.bytes()?, self.bytes()?))).collect()
    }

    fn rest(self) -> Vec<u8> {
        self.0.to_vec()
    }

    fn end<T>(self, value: T) -> Option<T> {
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

impl Step {
    /// In bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let numbered = |out: &mut Vec<u8>, kind: u8, n: &u64| {
            out.push(kind);
            out.extend(n.to_le_bytes());
        };
        match self {
            Step::Open(r) => {
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
            Step::Body(n, bytes) => {
                numbered(&mut out, 2, n);
                out.extend(bytes);
            }
            Step::End(n) => numbered(&mut out, 3, n),
            Step::Read(n) => numbered(&mut out, 4, n),
            Step::Close(n) => numbered(&mut out, 5, n),
            Step::Names(port, host) => {
                out.push(6);
                out.extend(port.to_le_bytes());
                out.extend(host);
            }
        }
        out
    }

    /// `None` for what is no step.
    pub fn decode(bytes: &[u8]) -> Option<Step> {
        let (kind, rest) = bytes.split_first()?;
        let mut f = Fields(rest);
        if *kind == 1 {
            let (method, url, headers) = (f.bytes()?, f.bytes()?, f.headers()?);
            let (has_length, body) = (f.array::<1>()?, f.long()?);
            let body = match has_length {
                [0] => None,
                [1] => Some(body),
                _ => return None,
            };
            let (redirects, time, connect_time) = (f.int()?, f.long()?, f.long()?);
            let request = Request { method, url, headers, body, redirects, time, connect_time };
            return f.end(Step::Open(request));
        }
        if *kind == 6 {
            let port = u16::from_le_bytes(f.array()?);
            return (f.0.len() <= MAX_HOST).then(|| Step::Names(port, f.rest()));
        }
        let n = f.long()?;
        match kind {
            2 if f.0.len() <= PART => Some(Step::Body(n, f.rest())),
            3 => f.end(Step::End(n)),
            4 => f.end(Step::Read(n)),
            5 => f.end(Step::Close(n)),
            _ => None,
        }
    }
}

impl Answer {
    /// In bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Answer::Opened(n) => {
                out.push(1);
                out.extend(n.to_le_bytes());
            }
            Answer::Done => out.push(2),
            Answer::Head(r) => {
                out.push(3);
                out.extend(r.status.to_le_bytes());
                out.push(r.version);
                put_bytes(&mut out, &r.url);
                out.extend(r.redirects.to_le_bytes());
                put_headers(&mut out, &r.headers);
            }
            Answer::Body(bytes) => {
                out.push(4);
                out.extend(bytes);
            }
            Answer::Failed { code, why } => {
                out.extend([5, *code]);
                out.extend(why);
            }
            Answer::Own => out.push(6),
        }
        out
    }

    /// `None` for what is no answer.
    pub fn decode(bytes: &[u8]) -> Option<Answer> {
        let (kind, rest) = bytes.split_first()?;
        let mut f = Fields(rest);
        match kind {
            1 => {
                let n = f.long()?;
                f.end(Answer::Opened(n))
            }
            2 => f.end(Answer::Done),
            3 => {
                let (status, [version]) = (u16::from_le_bytes(f.array()?), f.array()?);
                let (url, redirects, headers) = (f.bytes()?, f.int()?, f.headers()?);
                f.end(Answer::Head(Response { status, version, url, redirects, headers }))
            }
            4 => Some(Answer::Body(f.rest())),
            5 => {
                let [code] = f.array()?;
                Some(Answer::Failed { code, why: f.rest() })
            }
            6 => f.end(Answer::Own),
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

    fn steps() -> Vec<Step> {
        vec![
            Step::Open(Request {
                method: b"POST".to_vec(),
                url: b"https://a.b/c?d".to_vec(),
                headers: vec![header("A", "b"), header("C", "")],
                body: Some(7),
                redirects: 5,
                time: 9,
                connect_time: 1 << 40,
            }),
            Step::Open(Request::default()),
            Step::Body(3, b"x\0y".to_vec()),
            Step::Body(3, vec![]),
            Step::End(4),
            Step::Read(u64::MAX),
            Step::Close(0),
            Step::Names(8000, b"localhost".to_vec()),
        ]
    }

    fn answers() -> Vec<Answer> {
        let headers = vec![header("Content-Type", "text/plain"), header("Set-Cookie", "a=b")];
        let (status, version, url, redirects) = (404, 20, b"https://a.b/".to_vec(), 2);
        vec![
            Answer::Opened(7),
            Answer::Done,
            Answer::Head(Response { status, version, url, redirects, headers }),
            Answer::Body(vec![0; 1000]),
            Answer::Body(vec![]),
            Answer::Failed { code: 7, why: b"not allowed".to_vec() },
            Answer::Own,
        ]
    }

    #[test]
    fn messages_come_back() {
        for step in steps() {
            assert_eq!(Step::decode(&step.encode()), Some(step));
        }
        for answer in answers() {
            assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        }
    }

    #[test]
    fn hostile_bytes_are_refused_or_mean_something_else() {
        for whole in steps().iter().map(Step::encode).chain(answers().iter().map(Answer::encode)) {
            for end in 0..whole.len() {
                let _ = (Step::decode(&whole[..end]), Answer::decode(&whole[..end]));
            }
            for at in 0..whole.len() {
                for bit in 0..8 {
                    let mut other = whole.clone();
                    other[at] ^= 1 << bit;
                    let _ = (Step::decode(&other), Answer::decode(&other));
                }
            }
        }
        assert_eq!(Step::decode(&steps()[0].encode()[..20]), None);
        assert_eq!(Step::decode(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None);
        // Many headers that are announced and not there.
        assert_eq!(Answer::decode(&[3, 200, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0]), None);
        assert_eq!(Step::decode(&[&[6, 80, 0][..], &[b'a'; 256]].concat()), None);
        assert_eq!(Step::decode(&[&[2; 9][..], &vec![0; PART + 1]].concat()), None);
    }
}
