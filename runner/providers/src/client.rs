//! Requests to providers, by the bridge: to one address only, with the key in a header that the
//! bridge adds and looks for in answers.

use crate::error::ProviderError;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use url::Url;
use wasibox_bridge::{
    BodyLength, Bridge, BridgeExchange, BridgeLimits, BridgeNetwork, BridgePolicy, NetworkOptions,
    ProxySettings, RedirectPolicy, RequestHead, RequestRules, ResponseHead, SecretFn, Zeroizing,
};

/// The maximum number of characters of a server's reason that are shown.
const REASON: usize = 300;
/// The maximum number of bytes of an answer that is an error.
const ERROR: usize = 64 << 10;
/// The name by which servers know the program.
const AGENT: &str = concat!("wasibox/", env!("CARGO_PKG_VERSION"));

/// A handle that ends the request of a call from another thread.
#[derive(Debug, Default)]
pub struct RequestStop {
    is_stopped: AtomicBool,
    exchange: Mutex<Option<Arc<BridgeExchange>>>,
}

impl RequestStop {
    /// Ends the request in progress, and prevents further ones.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        if let Some(exchange) = self.lock().take() {
            exchange.give_up();
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    /// Keeps a request, so that it can be ended.
    fn hold(&self, exchange: &Arc<BridgeExchange>) {
        *self.lock() = Some(exchange.clone());
        if self.is_stopped() {
            exchange.give_up();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<BridgeExchange>>> {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread of the bridges, started on first use, and the proxy.
#[derive(Debug, Default)]
pub struct ProviderNetwork {
    network: OnceLock<BridgeNetwork>,
    proxy: Option<String>,
}

/// A key as a header: its name and the text before the key.
#[derive(Clone, Copy)]
pub struct KeyHeader<'a> {
    pub name: &'static str,
    pub prefix: &'static str,
    pub key: &'a Zeroizing<String>,
}

/// A request to a provider.
pub struct ProviderRequest<'a> {
    /// The provider's name in errors.
    pub provider: &'a str,
    pub url: Url,
    pub key: Option<KeyHeader<'a>>,
    /// JSON to post.
    pub body: Option<String>,
    /// The maximum number of bytes of the answer.
    pub most: usize,
    pub timeout: Duration,
}

impl ProviderNetwork {
    /// Makes a network that uses this proxy ([`ProxySettings`]).
    pub fn new(proxy: Option<String>) -> ProviderNetwork {
        ProviderNetwork { network: OnceLock::new(), proxy }
    }

    fn get(&self) -> io::Result<&BridgeNetwork> {
        if let Some(network) = self.network.get() {
            return Ok(network);
        }
        let made = BridgeNetwork::new(NetworkOptions::default())?;
        Ok(self.network.get_or_init(|| made))
    }

    /// Makes a bridge with a policy.
    pub(crate) fn bridge(&self, policy: BridgePolicy) -> Result<Bridge, ProviderError> {
        Bridge::new(self.get()?, policy)
            .map_err(|e| ProviderError::Invalid(format!("the network's policy: {e}")))
    }

    /// Sends a request to a provider, whose redirects are not followed, and returns the body of the
    /// answer.
    ///
    /// # Errors
    /// Returns an error if there is no answer, or its status is not 200.
    pub(crate) fn ask(
        &self,
        request: &ProviderRequest<'_>,
        stop: &RequestStop,
    ) -> Result<Vec<u8>, ProviderError> {
        let wrong = |e: &dyn std::fmt::Display| {
            ProviderError::Invalid(format!("the address of {}: {e}", request.provider))
        };
        let method = if request.body.is_some() { "POST" } else { "GET" };
        let mut place = request.url.clone();
        place.set_query(None);
        let rule = format!("{method} {place}").parse().map_err(|e| wrong(&e))?;
        let (mut secrets, mut functions) = (Vec::new(), BTreeMap::new());
        if let Some(KeyHeader { name, prefix, key }) = request.key {
            let secret = format!("{place}: {name}={prefix}${{call:key}}");
            secrets.push(secret.parse().map_err(|e| wrong(&e))?);
            let key = key.clone();
            let function: SecretFn = Arc::new(move || Ok(key.clone()));
            functions.insert("key".to_owned(), function);
        }
        let proxy = self.proxy.as_deref().map(str::parse::<ProxySettings>).transpose();
        let policy = BridgePolicy {
            rules: RequestRules { allow: vec![rule], deny: Vec::new() },
            limits: BridgeLimits {
                total: request.timeout,
                first_byte: request.timeout,
                download: request.most as u64,
                ..BridgeLimits::default()
            },
            secrets,
            functions,
            proxy: proxy.map_err(|e| wrong(&e))?,
            ..BridgePolicy::default()
        };
        let mut head = RequestHead::new(method, request.url.as_str())
            .with_header("Accept", "application/json")
            .with_header("User-Agent", AGENT);
        if let Some(body) = &request.body {
            head = head.with_header("Content-Type", "application/json");
            head.body = BodyLength::Bytes(body.len() as u64);
        }
        let body = request.body.as_deref().unwrap_or_default();
        let bridge = self.bridge(policy)?;
        let (head, body) = exchange(&bridge, &head, body.as_bytes(), request.most, stop)?;
        if head.status == 200 {
            return Ok(body);
        }
        let text = error_text(&body);
        let provider = request.provider.to_owned();
        Err(match head.status {
            401 | 403 => ProviderError::Key { provider, status: head.status, text },
            429 => ProviderError::Quota { provider, retry_after: retry_after(&head), text },
            status => ProviderError::Status { provider, status, text },
        })
    }
}

/// Makes a request that `stop` can end. Of an answer with another status than 200, only the
/// beginning is read.
pub(crate) fn exchange(
    bridge: &Bridge,
    head: &RequestHead,
    body: &[u8],
    most: usize,
    stop: &RequestStop,
) -> Result<(ResponseHead, Vec<u8>), ProviderError> {
    if stop.is_stopped() {
        return Err(ProviderError::Stopped);
    }
    let done = || {
        let exchange = Arc::new(bridge.begin_request(head)?);
        stop.hold(&exchange);
        exchange.write(body)?;
        exchange.finish_body();
        let response = exchange.wait_response()?;
        let body = match response.status {
            200 => exchange.read_to_end(most)?,
            _ => exchange.read_to_end(ERROR).unwrap_or_default(),
        };
        Ok((response, body))
    };
    let answered = done();
    stop.lock().take();
    match answered {
        Err(_) if stop.is_stopped() => Err(ProviderError::Stopped),
        answered => answered.map_err(ProviderError::Request),
    }
}

/// Makes the head of a request for a page or a file, which follows redirects.
pub(crate) fn page_head(url: &str, accept: &str, timeout: Duration) -> RequestHead {
    let mut head =
        RequestHead::new("GET", url).with_header("Accept", accept).with_header("User-Agent", AGENT);
    head.redirect = RedirectPolicy::Follow(5);
    head.max_time_ms = u64::try_from(timeout.as_millis()).ok();
    head
}

/// Returns the value of a header.
pub(crate) fn header<'a>(head: &'a ResponseHead, name: &str) -> Option<&'a str> {
    let header = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
    std::str::from_utf8(&header.value).ok()
}

/// Returns the seconds that a server asks to wait: `Retry-After`, or the first of
/// `X-RateLimit-Reset`, which is the shortest window.
fn retry_after(head: &ResponseHead) -> Option<u64> {
    let first = |text: &str| text.split(',').next().unwrap_or_default().trim().parse().ok();
    let after = header(head, "Retry-After").and_then(first);
    after.or_else(|| header(head, "X-RateLimit-Reset").and_then(first))
}

/// Returns the message of an error in JSON, or the beginning of another text.
pub(crate) fn error_text(body: &[u8]) -> String {
    let json: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let message = json.as_ref().and_then(|json| {
        let places = ["/error/message", "/error/detail", "/error", "/detail", "/message"];
        places.iter().find_map(|place| json.pointer(place)?.as_str())
    });
    let whole = String::from_utf8_lossy(body);
    let text = crate::text::clean_text(message.unwrap_or(&whole), REASON);
    if text.is_empty() { "without a reason".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_the_servers_own() {
        for (body, text) in [
            (r#"{"error":{"code":403,"message":"Quota exceeded"}}"#, "Quota exceeded"),
            (r#"{"error":"Invalid API key."}"#, "Invalid API key."),
            (
                r#"{"error":{"code":"RATE_LIMITED","detail":"Request rate limit exceeded"}}"#,
                "Request rate limit exceeded",
            ),
            ("<h1>Bad gateway</h1>\n", "Bad gateway"),
            ("", "without a reason"),
        ] {
            assert_eq!(error_text(body.as_bytes()), text);
        }
    }
}
