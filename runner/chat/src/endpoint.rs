//! A server with the chat completions API.

use crate::message::{ChatMessage, ChatRole, ModelCall, TokenCounts};
use crate::stream::{AnswerBuilder, StreamError};
use crate::turn::TurnStop;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use wasibox_bridge::{
    BodyLength, Bridge, BridgeLimits, BridgeNetwork, BridgePolicy, NetworkOptions, ProxySettings,
    RequestError, RequestHead, RequestRules,
};

/// The maximum time of a request, and the maximum time until its answer begins. Models on a
/// machine without a graphics card are slow.
const TOTAL: Duration = Duration::from_secs(3600);
const FIRST_BYTE: Duration = Duration::from_secs(600);
/// The maximum number of bytes of an error's text that are read and shown.
const MAX_ERROR: usize = 64 << 10;
const SHOWN_ERROR: usize = 500;

/// The place and the key of a server.
#[derive(Clone, Debug, Default)]
pub struct EndpointOptions {
    /// The address to which `/chat/completions` is added, such as `http://127.0.0.1:11434/v1`.
    pub base: String,
    /// The name of the environment variable that has the key.
    pub key_variable: Option<String>,
    /// The proxy ([`ProxySettings`]).
    pub proxy: Option<String>,
}

/// The reason why a model has not answered.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("the address of the endpoint: {0}")]
    Address(String),
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("{url} answers with status {status}: {text}")]
    Status { url: String, status: u16, text: String },
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error("the turn was stopped")]
    Stopped,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A server, and the bridge by which it is reached.
pub struct Endpoint {
    bridge: Bridge,
    url: String,
}

/// An answer of a model.
#[derive(Debug)]
pub(crate) struct ModelAnswer {
    pub message: ChatMessage,
    pub tokens: TokenCounts,
}

impl Endpoint {
    /// Prepares requests to a server; no connection is opened.
    ///
    /// # Errors
    /// Returns an error if the address is not one, or the key cannot be sent to it.
    pub fn new(options: &EndpointOptions) -> Result<Endpoint, EndpointError> {
        let wrong = |why: &dyn std::fmt::Display| {
            EndpointError::Address(format!("{}: {why}", options.base))
        };
        let base = options.base.trim_end_matches('/');
        let url = format!("{base}/chat/completions");
        let rule = format!("POST {url}").parse().map_err(|why| wrong(&why))?;
        let mut secrets = Vec::new();
        if let Some(variable) = &options.key_variable {
            let secret = format!("{url}: Authorization=Bearer ${{env:{variable}}}");
            secrets.push(secret.parse().map_err(|why| wrong(&why))?);
        }
        let proxy = options.proxy.as_deref().map(str::parse::<ProxySettings>).transpose();
        let policy = BridgePolicy {
            rules: RequestRules { allow: vec![rule], deny: Vec::new() },
            limits: BridgeLimits {
                requests: u64::MAX,
                requests_per_call: u64::MAX,
                session_upload: u64::MAX,
                session_download: u64::MAX,
                first_byte: FIRST_BYTE,
                total: TOTAL,
                ..BridgeLimits::default()
            },
            secrets,
            proxy: proxy.map_err(|why| wrong(&why))?,
            ..BridgePolicy::default()
        };
        let network = BridgeNetwork::new(NetworkOptions::default())?;
        let bridge = Bridge::new(&network, policy).map_err(|why| wrong(&why))?;
        Ok(Endpoint { bridge, url })
    }

    /// Asks the model for the next message, and passes its text to `emit` as it comes.
    ///
    /// # Errors
    /// Returns an error if the server does not answer as the API does, or the turn is stopped.
    pub(crate) fn ask(
        &self,
        model: &str,
        messages: &[ChatMessage],
        tools: &[Value],
        stop: &TurnStop,
        emit: &mut dyn FnMut(&str),
    ) -> Result<ModelAnswer, EndpointError> {
        let mut body = json!({
            "model": model,
            "messages": messages,
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        if !tools.is_empty() {
            body["tools"] = tools.into();
        }
        let answered = self.exchange(&body.to_string(), stop, emit);
        stop.forget_request();
        match answered {
            Err(_) if stop.is_stopped() => Err(EndpointError::Stopped),
            answered => answered,
        }
    }

    fn exchange(
        &self,
        body: &str,
        stop: &TurnStop,
        emit: &mut dyn FnMut(&str),
    ) -> Result<ModelAnswer, EndpointError> {
        let mut head = RequestHead::new("POST", &self.url)
            .with_header("Content-Type", "application/json")
            .with_header("Accept", "text/event-stream, application/json");
        head.body = BodyLength::Bytes(body.len() as u64);
        let exchange = Arc::new(self.bridge.begin_request(&head)?);
        stop.hold_request(&exchange);
        exchange.write(body.as_bytes())?;
        exchange.finish_body();
        let response = exchange.wait_response()?;
        if response.status != 200 {
            let text = exchange.read_to_end(MAX_ERROR).unwrap_or_default();
            return Err(EndpointError::Status {
                url: self.url.clone(),
                status: response.status,
                text: error_text(&text),
            });
        }
        let is_stream = response.headers.iter().any(|header| {
            header.name.eq_ignore_ascii_case("content-type")
                && header.value.to_ascii_lowercase().starts_with(b"text/event-stream")
        });
        let mut made = AnswerBuilder::default();
        if is_stream {
            while let Some(bytes) = exchange.read()? {
                made.push(&bytes, emit)?;
            }
            made.finish(emit)?;
        } else {
            // A server that does not stream.
            let whole = exchange.read_to_end(BridgeLimits::default().download as usize)?;
            made.take_chunk(&whole, emit)?;
        }
        let AnswerBuilder { text, calls, tokens, .. } = made;
        let calls: Vec<ModelCall> =
            calls.into_iter().filter(|call| !call.function.name.is_empty()).collect();
        let content = (!text.is_empty() || calls.is_empty()).then_some(text);
        let message = ChatMessage {
            role: ChatRole::Assistant,
            content,
            tool_calls: calls,
            tool_call_id: None,
        };
        Ok(ModelAnswer { message, tokens })
    }
}

/// Returns the message of an error in JSON, or the beginning of another text.
fn error_text(body: &[u8]) -> String {
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let message = json.as_ref().and_then(|json| {
        json["error"]["message"].as_str().or(json["error"].as_str()).or(json["detail"].as_str())
    });
    let text = message.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned);
    let text = text.trim();
    if text.is_empty() {
        "without a reason".into()
    } else {
        text.chars().take(SHOWN_ERROR).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_shown_in_the_servers_words() {
        for (body, text) in [
            (r#"{"error":{"message":"Incorrect API key","type":"x"}}"#, "Incorrect API key"),
            (r#"{"error":"model not found"}"#, "model not found"),
            ("<h1>Bad gateway</h1>\n", "<h1>Bad gateway</h1>"),
            ("", "without a reason"),
        ] {
            assert_eq!(error_text(body.as_bytes()), text);
        }
    }

    #[test]
    fn a_key_is_not_sent_in_the_clear() {
        let options = |base: &str| EndpointOptions {
            base: base.into(),
            key_variable: Some("PATH".into()),
            proxy: None,
        };
        assert!(Endpoint::new(&options("https://api.example.com/v1")).is_ok());
        assert!(Endpoint::new(&options("http://127.0.0.1:11434/v1/")).is_ok());
        for wrong in ["http://api.example.com/v1", "api.example.com", "ftp://127.0.0.1/"] {
            assert!(Endpoint::new(&options(wrong)).is_err(), "{wrong}");
        }
    }
}
