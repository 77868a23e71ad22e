//! The messages of a request, between guest and host and between worker and parent.
//!
//! A frame is its length in four bytes, little-endian, followed by that many bytes of `postcard`:
//! [`ToHost`] in one direction, [`ToGuest`] in the other. One stream of frames is one request:
//!
//! ```text
//! guest: Head, Body..., End        (or GiveUp at any time)
//! host:  Head, Body..., End        or Failed, at any time, and nothing after it
//! ```
//!
//! [`Frames`] takes bytes in pieces of any size and keeps at most one frame. Hostile bytes cause an
//! error: memory is allocated for received bytes, never for an announced length, and bytes after a
//! value within its frame are an error as well.

use crate::error::RequestError;
use box_abi::http::HttpRequest;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Maximum length of a frame in bytes. Heads are limited further by
/// [`crate::BridgeLimits::header_bytes`], bodies by [`MAX_BODY`].
pub const MAX_FRAME: usize = 256 << 10;
/// Maximum length of a piece of a body in one frame.
pub const MAX_BODY: usize = 64 << 10;
const LENGTH: usize = 4;

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestHead {
    pub method: String,
    /// The absolute URL, for example `https://example.com/x?y`.
    pub url: String,
    /// Names and values, except for headers that the bridge adds.
    pub headers: Vec<Header>,
    pub body: BodyLength,
    pub redirect: RedirectPolicy,
    /// Time limits shorter than the policy's: for the whole request, and for connecting.
    pub max_time_ms: Option<u64>,
    pub connect_time_ms: Option<u64>,
}

impl RequestHead {
    /// Creates a request without headers or body, whose redirects are not followed.
    #[must_use]
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_string(),
            url: url.to_string(),
            headers: Vec::new(),
            body: BodyLength::None,
            redirect: RedirectPolicy::Manual,
            max_time_ms: None,
            connect_time_ms: None,
        }
    }

    /// Returns the head of a guest's request; `None` if its method, its URL or a header's name is
    /// not UTF-8.
    #[must_use]
    pub fn from_guest(request: &HttpRequest) -> Option<Self> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let header = |(name, value): &(Vec<u8>, Vec<u8>)| {
            Some(Header { name: text(name)?, value: value.clone() })
        };
        let limit = |ms: u64| (ms > 0).then_some(ms);
        Some(Self {
            method: text(&request.method)?,
            url: text(&request.url)?,
            headers: request.headers.iter().map(header).collect::<Option<_>>()?,
            body: match request.body {
                Some(0) => BodyLength::None,
                Some(n) => BodyLength::Bytes(n),
                None => BodyLength::Unknown,
            },
            redirect: match request.redirects {
                0 => RedirectPolicy::Manual,
                n => RedirectPolicy::Follow(n),
            },
            max_time_ms: limit(request.time),
            connect_time_ms: limit(request.connect_time),
        })
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push(Header { name: name.to_string(), value: value.as_bytes().to_vec() });
        self
    }
}

/// A header field. Values are bytes, as in RFC 9110.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub name: String,
    #[serde(with = "serde_bytes")]
    pub value: Vec<u8>,
}

/// The length of the body that follows a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BodyLength {
    None,
    Bytes(u64),
    /// Unknown in advance; the body is sent in chunks.
    Unknown,
}

/// The treatment of redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RedirectPolicy {
    /// Redirects are passed to the guest.
    Manual,
    /// Up to this many redirects are followed, each judged as a request of its own.
    Follow(u32),
}

/// The head of a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseHead {
    pub status: u16,
    pub version: HttpVersion,
    /// The URL of the response, after redirects.
    pub url: String,
    pub redirects: u32,
    pub headers: Vec<Header>,
}

/// The version of HTTP that the server used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HttpVersion {
    Http10,
    Http11,
    Http2,
}

/// A frame from the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToHost {
    Head(RequestHead),
    Body(#[serde(with = "serde_bytes")] Vec<u8>),
    End,
    GiveUp,
}

/// A frame from the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToGuest {
    Head(ResponseHead),
    Body(#[serde(with = "serde_bytes")] Vec<u8>),
    End,
    Failed(RequestError),
}

/// The reason why bytes are not a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {0} bytes is too long")]
    Long(usize),
    #[error("a malformed frame")]
    Format,
}

/// Encodes a message as a frame.
///
/// # Errors
/// If it is longer than a frame may be.
pub fn encode_frame<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let out = postcard::to_extend(message, vec![0; LENGTH]).map_err(|_| FrameError::Format)?;
    let mut out: Vec<u8> = out;
    let length = out.len() - LENGTH;
    if length > MAX_FRAME {
        return Err(FrameError::Long(length));
    }
    out[..LENGTH].copy_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    Ok(out)
}

/// A decoder of messages from bytes that arrive in pieces of any size.
#[derive(Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    begin: usize,
}

impl Frames {
    /// Takes received bytes, at most as many as one frame needs, and returns the number of bytes
    /// taken.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        self.bytes.drain(..self.begin);
        self.begin = 0;
        let taken = bytes.len().min((LENGTH + MAX_FRAME).saturating_sub(self.bytes.len()));
        self.bytes.extend_from_slice(&bytes[..taken]);
        taken
    }

    /// Returns the next message, if it has arrived completely.
    ///
    /// # Errors
    /// If it is malformed. Nothing after it can be read either.
    pub fn next_message<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let rest = &self.bytes[self.begin..];
        let Some((length, rest)) = rest.split_first_chunk::<LENGTH>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_FRAME {
            return Err(FrameError::Long(length));
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let (message, left) = postcard::take_from_bytes(body).map_err(|_| FrameError::Format)?;
        if !left.is_empty() {
            return Err(FrameError::Format);
        }
        self.begin += LENGTH + length;
        Ok(Some(message))
    }

    /// Returns whether a frame was begun and is incomplete.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.begin < self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages() -> Vec<ToHost> {
        let mut head = RequestHead::new("POST", "https://a.com/x").with_header("X-A", "b");
        head.body = BodyLength::Bytes(5);
        head.redirect = RedirectPolicy::Follow(3);
        head.max_time_ms = Some(7);
        vec![ToHost::Head(head), ToHost::Body(vec![0; MAX_BODY]), ToHost::End, ToHost::GiveUp]
    }

    #[test]
    fn the_head_of_a_guests_request_is_text() {
        let request = HttpRequest {
            method: b"PUT".to_vec(),
            url: b"https://a.com/x".to_vec(),
            headers: vec![(b"X-A".to_vec(), vec![0xff])],
            body: None,
            redirects: 2,
            time: 0,
            connect_time: 9,
        };
        let head = RequestHead::from_guest(&request).unwrap();
        assert_eq!((head.body, head.redirect), (BodyLength::Unknown, RedirectPolicy::Follow(2)));
        assert_eq!((head.max_time_ms, head.connect_time_ms), (None, Some(9)));
        assert_eq!(head.headers[0].value, [0xff]);
        let wrong = HttpRequest { url: vec![0xff], ..request };
        assert!(RequestHead::from_guest(&wrong).is_none());
    }

    #[test]
    fn frames_come_in_any_pieces() {
        let all: Vec<u8> = messages().iter().flat_map(|m| encode_frame(m).unwrap()).collect();
        for piece in [1, 3, 1000, all.len()] {
            let mut frames = Frames::default();
            let mut got = Vec::new();
            for mut bytes in all.chunks(piece) {
                while !bytes.is_empty() {
                    bytes = &bytes[frames.push(bytes)..];
                    while let Some(m) = frames.next_message::<ToHost>().unwrap() {
                        got.push(m);
                    }
                }
            }
            assert_eq!(got, messages());
            assert!(!frames.is_partial());
        }
    }

    /// Every truncated, changed or random frame yields a message, nothing or an error; memory is
    /// bounded by the pushed bytes.
    #[test]
    fn hostile_bytes_are_bounded() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let heads: Vec<Vec<u8>> = messages().iter().map(|m| encode_frame(m).unwrap()).collect();
        for round in 0..20_000_usize {
            let mut bytes = match round % 3 {
                0 => (0..random() % 64).map(|_| random() as u8).collect(),
                _ => heads[round % 2 * 2].clone(),
            };
            for _ in 0..random() % 4 {
                let at = (random() as usize) % bytes.len().max(1);
                if let Some(b) = bytes.get_mut(at) {
                    *b = random() as u8;
                }
            }
            bytes.truncate((random() as usize) % (bytes.len() + 1));
            if bytes.len() >= 4 && round % 2 == 0 {
                let n = (bytes.len() - 4) as u32;
                bytes[..4].copy_from_slice(&n.to_le_bytes());
            }
            let mut frames = Frames::default();
            frames.push(&bytes);
            let _ = frames.next_message::<ToHost>();
            let mut frames = Frames::default();
            frames.push(&bytes);
            let _ = frames.next_message::<ToGuest>();
        }
    }

    #[test]
    fn lengths_and_trailing_bytes_are_checked() {
        let mut frames = Frames::default();
        frames.push(&u32::MAX.to_le_bytes());
        assert_eq!(frames.next_message::<ToHost>(), Err(FrameError::Long(u32::MAX as usize)));
        let mut long = encode_frame(&ToHost::End).unwrap();
        long.push(0);
        long[0] += 1;
        let mut frames = Frames::default();
        frames.push(&long);
        assert_eq!(frames.next_message::<ToHost>(), Err(FrameError::Format));
        assert!(encode_frame(&ToHost::Body(vec![0; MAX_FRAME])).is_err());
        // A vector of headers whose announced length exceeds the bytes that follow.
        let mut frames = Frames::default();
        frames.push(&[9, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
        assert_eq!(frames.next_message::<ToHost>(), Err(FrameError::Format));
    }
}
