//! Connect's protocol: calls of services with one answer, and with a stream of answers.
//!
//! A call without streams has its message as the body. In streams each message is in an envelope:
//! a byte of flags, four bytes of length, the message; the last envelope has an error or nothing.
//! A message is JSON, as proto3 maps it, or protobuf.

pub mod filesystem;
pub mod json;
pub mod process;

use crate::fault::{Fault, RpcCode};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, HeaderValue, Response, header};
use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::BodyExt;
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The maximum bytes of a message.
pub const MESSAGE: usize = 16 << 20;
/// The bytes before a message in a stream.
const HEAD: usize = 5;
/// The flag of the last envelope.
const END: u8 = 2;
/// The flag of a compressed message.
const COMPRESSED: u8 = 1;
/// The number of envelopes that wait for a slow reader.
const WAITING: usize = 16;

/// How the messages of a call are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    Json,
    Protobuf,
}

/// The form of a call's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallForm {
    pub codec: Codec,
    pub is_stream: bool,
}

/// A message of a service.
pub trait RpcMessage: Message + Default + Serialize + DeserializeOwned {}
impl<M: Message + Default + Serialize + DeserializeOwned> RpcMessage for M {}

impl Codec {
    /// Reads a message.
    ///
    /// # Errors
    /// If the bytes are no such message.
    pub fn decode<M: RpcMessage>(self, bytes: &[u8]) -> Result<M, Fault> {
        let wrong = |why: String| Fault::invalid(format!("the message: {why}"));
        match self {
            Codec::Json if bytes.is_empty() => Ok(M::default()),
            // serde would also take a list of a message's fields.
            Codec::Json if bytes.trim_ascii_start().first() != Some(&b'{') => {
                Err(wrong("a message is an object".into()))
            }
            Codec::Json => serde_json::from_slice(bytes).map_err(|e| wrong(e.to_string())),
            Codec::Protobuf => M::decode(bytes).map_err(|e| wrong(e.to_string())),
        }
    }

    /// Writes a message.
    pub fn encode<M: RpcMessage>(self, message: &M) -> Bytes {
        match self {
            // These messages have no maps with keys other than strings, so writing cannot fail.
            Codec::Json => serde_json::to_vec(message).unwrap_or_default().into(),
            Codec::Protobuf => message.encode_to_vec().into(),
        }
    }
}

impl CallForm {
    /// Returns the form that a call's content type names.
    ///
    /// # Errors
    /// If it is none of the protocol.
    pub fn of(headers: &HeaderMap) -> Result<CallForm, Fault> {
        let kind =
            headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let (codec, is_stream) = match &*kind {
            "application/json" => (Codec::Json, false),
            "application/proto" => (Codec::Protobuf, false),
            "application/connect+json" => (Codec::Json, true),
            "application/connect+proto" => (Codec::Protobuf, true),
            _ => {
                let status = axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE;
                let text = "the content type is application/json, application/proto, \
                            application/connect+json or application/connect+proto";
                return Err(Fault::with_status(status, RpcCode::InvalidArgument, text));
            }
        };
        for name in ["content-encoding", "connect-content-encoding"] {
            let identity = headers.get(name).is_none_or(|v| v == "identity");
            if !identity {
                return Err(Fault::unimplemented("compressed messages are not read here"));
            }
        }
        Ok(CallForm { codec, is_stream })
    }

    /// Returns the content type.
    pub fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match (self.codec, self.is_stream) {
            (Codec::Json, false) => "application/json",
            (Codec::Protobuf, false) => "application/proto",
            (Codec::Json, true) => "application/connect+json",
            (Codec::Protobuf, true) => "application/connect+proto",
        })
    }
}

/// Returns the time limit that a call's headers name; 0 is none.
///
/// # Errors
/// If it is not a number of at most ten digits.
pub fn call_timeout(headers: &HeaderMap) -> Result<Option<Duration>, Fault> {
    let Some(value) = headers.get("connect-timeout-ms") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    let is_number = (1..=10).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let ms = text.parse::<u64>().ok().filter(|_| is_number);
    let ms = ms.ok_or_else(|| Fault::invalid("Connect-Timeout-Ms has at most ten digits"))?;
    Ok((ms > 0).then(|| Duration::from_millis(ms)))
}

/// Reads the message of a call with one request.
///
/// # Errors
/// If it is too long, malformed, or in a stream not alone.
pub async fn read_message<M: RpcMessage>(form: CallForm, body: Body) -> Result<M, Fault> {
    let most = MESSAGE + HEAD;
    let too_long = |_| Fault::new(RpcCode::ResourceExhausted, format!("more than {MESSAGE} bytes"));
    let bytes = to_bytes(body, most).await.map_err(too_long)?;
    if !form.is_stream {
        return form.codec.decode(&bytes);
    }
    let mut rest = EnvelopeBuffer { bytes: BytesMut::from(&bytes[..]) };
    let message = rest.take()?.ok_or_else(|| Fault::invalid("the stream has no message"))?;
    form.codec.decode(&message)
}

/// The bytes of a stream that were received.
#[derive(Default)]
pub struct EnvelopeBuffer {
    bytes: BytesMut,
}

impl EnvelopeBuffer {
    /// Takes the next whole message.
    ///
    /// # Errors
    /// If it is too long or compressed.
    pub fn take(&mut self) -> Result<Option<Bytes>, Fault> {
        let Some((head, _)) = self.bytes.split_first_chunk::<HEAD>() else { return Ok(None) };
        let [flags, a, b, c, d] = *head;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if flags & COMPRESSED != 0 {
            return Err(Fault::invalid("a compressed message without a compression"));
        }
        if length > MESSAGE {
            let text = format!("a message has more than {MESSAGE} bytes");
            return Err(Fault::new(RpcCode::ResourceExhausted, text));
        }
        if self.bytes.len() < HEAD + length {
            return Ok(None);
        }
        let mut message = self.bytes.split_to(HEAD + length);
        Ok(Some(message.split_off(HEAD).freeze()))
    }
}

/// A stream of requests.
pub struct MessageStream {
    form: CallForm,
    body: Body,
    buffer: EnvelopeBuffer,
}

impl MessageStream {
    /// Reads the messages of a body.
    pub fn new(form: CallForm, body: Body) -> MessageStream {
        MessageStream { form, body, buffer: EnvelopeBuffer::default() }
    }

    /// Returns the next message, and the number of its bytes; `None` after the last.
    ///
    /// # Errors
    /// If it is malformed or incomplete.
    pub async fn next<M: RpcMessage>(&mut self) -> Result<Option<(M, usize)>, Fault> {
        loop {
            if let Some(message) = self.buffer.take()? {
                return Ok(Some((self.form.codec.decode(&message)?, message.len())));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.bytes.extend_from_slice(&data);
                    }
                }
                None if self.buffer.bytes.is_empty() => return Ok(None),
                Some(Err(_)) | None => {
                    return Err(Fault::invalid("the stream ends within a message"));
                }
            }
        }
    }
}

/// Makes the response of a call with one answer.
pub fn answer<M: RpcMessage>(form: CallForm, result: Result<M, Fault>) -> Response<Body> {
    match result {
        Ok(message) if form.is_stream => {
            let mut bytes = envelope(0, &form.codec.encode(&message)).to_vec();
            bytes.extend_from_slice(&end_envelope(&Ok(())));
            stream_response(form, Body::from(bytes))
        }
        Err(fault) if form.is_stream => failed_stream(form, fault),
        Ok(message) => {
            let mut response = Response::new(Body::from(form.codec.encode(&message)));
            response.headers_mut().insert(header::CONTENT_TYPE, form.content_type());
            response
        }
        Err(fault) => fault.rpc_response(),
    }
}

/// Makes the response of a stream that fails before its first message.
pub fn failed_stream(form: CallForm, fault: Fault) -> Response<Body> {
    stream_response(form, Body::from(end_envelope(&Err(fault))))
}

/// A sender of a stream's answers.
pub struct AnswerSender {
    form: CallForm,
    to: Sender<std::io::Result<Bytes>>,
}

/// Makes the response of a stream, and its sender.
pub fn answer_stream(form: CallForm) -> (AnswerSender, Response<Body>) {
    let (to, from) = channel(WAITING);
    let body = Body::from_stream(envelope_stream(from));
    (AnswerSender { form, to }, stream_response(form, body))
}

fn envelope_stream(
    from: Receiver<std::io::Result<Bytes>>,
) -> impl futures_util::Stream<Item = std::io::Result<Bytes>> {
    futures_util::stream::unfold(from, |mut from| async move { Some((from.recv().await?, from)) })
}

impl AnswerSender {
    /// Sends a message; returns false if the client has disconnected.
    pub async fn send<M: RpcMessage>(&self, message: &M) -> bool {
        self.to.send(Ok(envelope(0, &self.form.codec.encode(message)))).await.is_ok()
    }

    /// Ends the stream.
    pub async fn end(self, result: Result<(), Fault>) {
        // A failure means that the client has disconnected.
        let _ = self.to.send(Ok(end_envelope(&result))).await;
    }

    /// Breaks the stream off: the connection ends within the response, as that of a machine that
    /// is gone.
    pub async fn break_off(self) {
        let _ = self.to.send(Err(std::io::ErrorKind::ConnectionAborted.into())).await;
    }

    /// Waits until the client has disconnected.
    pub async fn closed(&self) {
        self.to.closed().await;
    }
}

fn envelope(flags: u8, message: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(HEAD + message.len());
    out.put_u8(flags);
    out.put_u32(message.len() as u32);
    out.extend_from_slice(message);
    out.freeze()
}

fn end_envelope(result: &Result<(), Fault>) -> Bytes {
    let document = match result {
        Ok(()) => serde_json::json!({}),
        Err(fault) => serde_json::json!({ "error": fault.rpc_json() }),
    };
    envelope(END, document.to_string().as_bytes())
}

fn stream_response(form: CallForm, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let form = CallForm { is_stream: true, ..form };
    response.headers_mut().insert(header::CONTENT_TYPE, form.content_type());
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(bytes: &[u8]) -> EnvelopeBuffer {
        EnvelopeBuffer { bytes: BytesMut::from(bytes) }
    }

    #[test]
    fn envelopes_are_taken_whole() {
        // The form is that of connectrpc.com/docs/protocol: flags, length in network order, data.
        let mut all = buffer(b"\0\0\0\0\x02{}\0\0\0\0\x01x\0\0");
        assert_eq!(all.take().unwrap().unwrap(), &b"{}"[..]);
        assert_eq!(all.take().unwrap().unwrap(), &b"x"[..]);
        assert!(all.take().unwrap().is_none());
    }

    #[test]
    fn hostile_envelopes_are_refused_before_they_are_received() {
        let long = buffer(b"\0\xff\xff\xff\xff").take().unwrap_err();
        assert_eq!(long.code, RpcCode::ResourceExhausted);
        let compressed = buffer(b"\x01\0\0\0\x01x").take().unwrap_err();
        assert_eq!(compressed.code, RpcCode::InvalidArgument);
    }

    #[test]
    fn time_limits_have_ten_digits_at_most() {
        let of = |text: &'static str| {
            let value = HeaderValue::from_static(text);
            call_timeout(&HeaderMap::from_iter([("connect-timeout-ms".parse().unwrap(), value)]))
        };
        assert_eq!(of("1500").unwrap(), Some(Duration::from_millis(1500)));
        assert_eq!(of("0").unwrap(), None);
        for wrong in ["", "-1", "1.5", "99999999999", "1s"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
