//! One request from its first hop to the last byte of its response: the task on the bridge's
//! thread.
//!
//! Each hop has these steps: rules, counts, secrets, addresses, connection, head. A redirect then
//! leads to the next hop; any other response goes to the guest, with its body decoded and scrubbed
//! if there are secrets.
//!
//! Where rules for git allow a push, the beginning of its body is read and judged before the steps
//! after the rules. One that is refused is answered here, and no byte of it is sent.

use crate::error::{BridgeLimit, RequestError, RequestPhase};
use crate::git::PushList;
use crate::message::{BodyLength, Header, HttpVersion, ResponseHead};
use crate::request::{GuestRequest, hop_by_hop};
use crate::rules::Permit;
use crate::transport::body::BodySource;
use crate::transport::bridge::BridgeInner;
use crate::transport::connect::{HttpConnection, Route, SendFailed, TargetForm, find_route};
use crate::transport::decode::{BodyDecoder, PIECE};
use crate::transport::log::{self, OpenLogEntry};
use crate::transport::pipe::{BodyPipe, OnceSlot};
use crate::transport::proxy::ProxyServer;
use crate::transport::scrub::{Scrubber, SecretForms};
use crate::transport::secret::plain_allowed;
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode, response};
use http_body::Body as _;
use hyper::body::Incoming;
use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::sync::Notify;
use url::Url;

mod push;

/// Number of decoded bytes up to which the ratio of decoded to received bytes is not limited.
const FREE: u64 = 8 << 20;

/// The channel for the answer. If the task ends without one, the waiting threads get an error.
pub(crate) struct ReplySender {
    pub(crate) head: Arc<OnceSlot<Result<ResponseHead, RequestError>>>,
    pub(crate) body: Arc<BodyPipe>,
    pub(crate) upload: Arc<BodyPipe>,
}

impl ReplySender {
    fn end_body(&self, how: Result<(), RequestError>) {
        self.body.end_writing(how.clone());
        self.head.put_value(Err(how.err().unwrap_or(RequestError::Cancelled)));
        self.upload.close_reading();
    }
}

impl Drop for ReplySender {
    fn drop(&mut self) {
        self.end_body(Err(RequestError::Cancelled));
    }
}

pub(crate) struct RequestJob {
    pub(crate) bridge: Arc<BridgeInner>,
    pub(crate) number: u64,
    pub(crate) request: GuestRequest,
    pub(crate) reply: ReplySender,
    pub(crate) source: Arc<BodySource>,
    /// The commands that the body pushes, once they were read.
    pub(crate) push: Option<PushList>,
    /// The log entry of the current hop.
    pub(crate) log: Option<OpenLogEntry>,
    pub(crate) _active: Arc<crate::limits::ActiveRequest>,
}

/// A response whose head was checked.
struct CheckedResponse {
    connection: HttpConnection,
    parts: response::Parts,
    body: Incoming,
    sent: Arc<AtomicU64>,
}

/// The end of a hop.
enum HopEnd {
    Response(Box<CheckedResponse>),
    /// The push was refused before it was sent; this is the body of its answer.
    Refused(Vec<u8>),
}

impl RequestJob {
    pub(crate) async fn run(mut self) {
        let total = self.request.total;
        let how = match tokio::time::timeout(total, self.run_hops()).await {
            Ok(how) => how,
            Err(_) => Err(RequestError::Timeout(RequestPhase::Total)),
        };
        if let Some(log) = self.log.take() {
            log.end(how.as_ref().err().cloned());
        }
        self.reply.end_body(how);
    }

    async fn run_hops(&mut self) -> Result<(), RequestError> {
        let mut hop = 0;
        loop {
            let arrived = match self.run_hop(hop).await? {
                HopEnd::Response(arrived) => *arrived,
                HopEnd::Refused(report) => return self.deliver_report(report, hop).await,
            };
            let Some(limit) = self.request.follow else {
                return self.deliver_body(arrived, hop).await;
            };
            let next =
                self.request.follow_redirect(arrived.parts.status, &arrived.parts.headers)?;
            let Some(next) = next else { return self.deliver_body(arrived, hop).await };
            if hop >= limit {
                return Err(RequestError::Redirects(limit));
            }
            self.bridge.rules.check_redirect(&self.request, &next)?;
            if next.body == BodyLength::None {
                self.reply.upload.close_reading();
            }
            if let Some(log) = self.log.take() {
                log.end(None);
            }
            // A short body is read, so that the connection can be reused.
            self.skip_body(arrived).await;
            self.request = next;
            hop += 1;
        }
    }

    /// Sends the request in its current form, and checks the head of the response.
    async fn run_hop(&mut self, hop: u32) -> Result<HopEnd, RequestError> {
        let bridge = Arc::clone(&self.bridge);
        let url = self.request.url.clone();
        let mut log =
            OpenLogEntry::new(&bridge.sink, self.number, hop, self.request.method.as_str());
        log.entry.url = bridge.url_for_log(&url);
        self.log = Some(log);
        let mut permit = bridge.rules.check_request(&self.request)?;
        bridge.counters.count_request(&bridge.limits)?;
        if permit.must_judge_push()
            && let Some(report) = self.judge_push(&mut permit).await?
        {
            return Ok(HopEnd::Refused(report));
        }
        if let Some(log) = &mut self.log {
            log.entry.rule = Some(permit.rule());
        }
        let secrets = secret_headers(&bridge, &url).await;
        if let Some(log) = &mut self.log {
            let names = secrets.iter().flatten().map(|(name, _)| name.to_string());
            log.entry.secrets = names.collect();
            log.entry.detail = secrets.as_ref().err().cloned();
        }
        let secrets = secrets.map_err(|_| RequestError::Secret)?;
        let mut fresh = false;
        loop {
            let (connection, arrived) = self.attempt_hop(&permit, &secrets, fresh).await?;
            match arrived {
                Ok((parts, body, sent)) => {
                    if let Some(log) = &mut self.log {
                        log.entry.status = Some(parts.status.as_u16());
                        log.entry.sent = sent.load(Relaxed);
                    }
                    let arrived = CheckedResponse { connection, parts, body, sent };
                    let checked = self.check_response(arrived)?;
                    return Ok(HopEnd::Response(Box::new(checked)));
                }
                // The server has closed a kept connection in the meantime.
                Err(failed) if connection.reused && !fresh && self.may_repeat(&failed) => {
                    fresh = true;
                }
                Err(failed) => return Err(no_response(&failed)),
            }
        }
    }

    async fn attempt_hop(
        &mut self,
        permit: &Permit<'_>,
        secrets: &[(HeaderName, HeaderValue)],
        fresh: bool,
    ) -> Result<
        (HttpConnection, Result<(response::Parts, Incoming, Arc<AtomicU64>), SendFailed>),
        RequestError,
    > {
        let (bridge, request) = (&self.bridge, &self.request);
        let proxy = bridge.proxy.as_ref();
        let route = find_route(proxy, &bridge.network, &request.url, permit).await?;
        let kept = if fresh { None } else { bridge.pool.take_idle(&request.url, &route, permit) };
        let mut connection = match kept {
            Some(kept) => kept,
            None => {
                let (way, time) = ((&request.url, &route), request.connect);
                bridge.pool.connect_new(&bridge.network, way, permit, &bridge.limits, time).await?
            }
        };
        if let Some(log) = &mut self.log {
            log.entry.address = Some(connection.address);
        }
        let plain = request.url.scheme() == "http";
        // A proxy would read the secrets of a request that is not encrypted.
        let is_read = connection.target_form() == TargetForm::Proxied
            || !plain_allowed(connection.address.ip());
        if plain && !secrets.is_empty() && is_read {
            return Err(RequestError::Secret);
        }
        let (sent, done) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
        let body = self.source.begin_sending(request.body, Arc::clone(&sent), Arc::clone(&done))?;
        let form = connection.target_form();
        let mut whole = write_request(request, form, secrets, !bridge.secrets.is_empty())?;
        if let Route::Proxy(ProxyServer { authorization: Some(value), .. }) = &route
            && form == TargetForm::Proxied
        {
            whole = whole.header(header::PROXY_AUTHORIZATION, value);
        }
        let whole =
            whole.body(body).map_err(|_| RequestError::Url(crate::error::UrlFault::Syntax))?;
        let late = async {
            done.notified().await;
            tokio::time::sleep(bridge.limits.first_byte).await;
        };
        let answer = tokio::select! {
            answer = connection.send_request(whole) => answer,
            () = late => return Err(RequestError::Timeout(RequestPhase::FirstByte)),
        };
        if let Some(log) = &mut self.log {
            log.entry.sent = sent.load(Relaxed);
        }
        let answer = answer.map(|response| {
            let (parts, body) = response.into_parts();
            (parts, body, sent)
        });
        Ok((connection, answer))
    }

    /// Returns whether a request can be sent again without the risk that it is acted upon twice.
    fn may_repeat(&self, failed: &SendFailed) -> bool {
        let safe = [Method::GET, Method::HEAD, Method::OPTIONS].contains(&self.request.method);
        failed.unsent || (safe && failed.silent && !failed.error.is_user())
    }

    /// Judges a head, and replaces secrets in it by stars.
    fn check_response(
        &self,
        mut arrived: CheckedResponse,
    ) -> Result<CheckedResponse, RequestError> {
        let limits = &self.bridge.limits;
        let parts = &mut arrived.parts;
        check_framing(parts)?;
        let bytes: usize = parts.headers.iter().map(|(n, v)| n.as_str().len() + v.len() + 4).sum();
        if parts.headers.len() > limits.headers as usize || bytes > limits.header_bytes as usize {
            return Err(RequestError::Limit(BridgeLimit::Headers));
        }
        let forms = self.bridge.secrets.forms();
        if !forms.is_empty() {
            parts.headers = scrub_headers(&parts.headers, &forms);
        }
        Ok(arrived)
    }

    async fn deliver_body(
        &mut self,
        arrived: CheckedResponse,
        hop: u32,
    ) -> Result<(), RequestError> {
        let CheckedResponse { connection, mut parts, mut body, sent } = arrived;
        let bridge = Arc::clone(&self.bridge);
        let forms = bridge.secrets.forms();
        let mut decoder = BodyDecoder::Plain;
        if !forms.is_empty() && !body.is_end_stream() {
            decoder = BodyDecoder::from_headers(&parts.headers)?;
        }
        if !decoder.is_plain() {
            parts.headers.remove(header::CONTENT_ENCODING);
            parts.headers.remove(header::CONTENT_LENGTH);
        }
        if body.size_hint().lower() > bridge.limits.download {
            return Err(RequestError::Limit(BridgeLimit::Download));
        }
        self.reply.head.put_value(Ok(self.response_head(&parts, hop, &forms)));
        let mut flow = BodyFlow { bridge: &bridge, forms: &forms, scrubber: Scrubber::default() };
        let (mut received, mut decoded) = (0_u64, 0_u64);
        while let Some(data) = next(&mut body).await? {
            received += data.len() as u64;
            if let Some(log) = &mut self.log {
                log.entry.received = received;
                log.entry.sent = sent.load(Relaxed);
            }
            if received > bridge.limits.download {
                return Err(RequestError::Limit(BridgeLimit::Download));
            }
            bridge.counters.count_received(data.len() as u64, &bridge.limits)?;
            if decoder.is_plain() {
                flow.give_data(&self.reply.body, data).await?;
                continue;
            }
            for piece in data.chunks(PIECE) {
                let plain = decoder.push(piece)?;
                decoded += plain.len() as u64;
                flow.check_bounds(received, decoded)?;
                flow.give_data(&self.reply.body, plain.into()).await?;
            }
        }
        let rest = decoder.finish()?;
        flow.check_bounds(received, decoded + rest.len() as u64)?;
        flow.give_data(&self.reply.body, rest.into()).await?;
        let held = flow.scrubber.finish_stream(&forms);
        self.reply.body.write(held.into()).await?;
        let pool = Arc::clone(&bridge.pool);
        pool.give_back(connection).await;
        Ok(())
    }

    fn response_head(
        &self,
        parts: &response::Parts,
        hop: u32,
        forms: &SecretForms,
    ) -> ResponseHead {
        let headers = parts.headers.iter().filter(|(name, _)| !hop_by_hop(name));
        let url = forms.scrub_bytes(self.request.url.as_str().as_bytes());
        ResponseHead {
            status: parts.status.as_u16(),
            version: match parts.version {
                http::Version::HTTP_10 => HttpVersion::Http10,
                http::Version::HTTP_2 => HttpVersion::Http2,
                _ => HttpVersion::Http11,
            },
            url: String::from_utf8_lossy(&url).into_owned(),
            redirects: hop,
            headers: headers
                .map(|(name, value)| Header {
                    name: name.to_string(),
                    value: value.as_bytes().to_vec(),
                })
                .collect(),
        }
    }

    /// Reads the rest of a redirect's response if it is short and available, and counts its bytes.
    async fn skip_body(&self, arrived: CheckedResponse) {
        const SHORT: u64 = 16 << 10;
        let CheckedResponse { connection, mut body, .. } = arrived;
        if body.size_hint().upper().is_none_or(|n| n > SHORT) {
            return;
        }
        let counters = &self.bridge.counters;
        let whole = async {
            while let Some(data) = next(&mut body).await? {
                counters.count_received(data.len() as u64, &self.bridge.limits)?;
            }
            Ok::<(), RequestError>(())
        };
        let soon = std::time::Duration::from_millis(50);
        if matches!(tokio::time::timeout(soon, whole).await, Ok(Ok(()))) {
            self.bridge.pool.give_back(connection).await;
        }
    }
}

/// The last steps of a body on its way to the guest.
struct BodyFlow<'a> {
    bridge: &'a BridgeInner,
    forms: &'a SecretForms,
    scrubber: Scrubber,
}

impl BodyFlow<'_> {
    async fn give_data(&mut self, to: &BodyPipe, data: Bytes) -> Result<(), RequestError> {
        if self.forms.is_empty() {
            return to.write(data).await;
        }
        let clean = self.scrubber.push(self.forms, &data);
        to.write(clean.into()).await
    }

    fn check_bounds(&self, received: u64, decoded: u64) -> Result<(), RequestError> {
        let limits = &self.bridge.limits;
        if decoded > limits.download {
            return Err(RequestError::Limit(BridgeLimit::Download));
        }
        if decoded > FREE && decoded / received.max(1) > u64::from(limits.ratio) {
            return Err(RequestError::Limit(BridgeLimit::Ratio));
        }
        Ok(())
    }
}

/// Returns the headers that the policy adds; the error is for the log.
async fn secret_headers(
    bridge: &Arc<BridgeInner>,
    url: &Url,
) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    if !bridge.secrets.concern_url(url) {
        return Ok(Vec::new());
    }
    let (bridge, url) = (Arc::clone(bridge), url.clone());
    let made = tokio::task::spawn_blocking(move || bridge.secrets.headers(&url)).await;
    made.map_err(|_| "a function has panicked".to_string())?.map_err(|e| e.to_string())
}

/// Builds the outgoing request.
fn write_request(
    request: &GuestRequest,
    form: TargetForm,
    secrets: &[(HeaderName, HeaderValue)],
    searched: bool,
) -> Result<http::request::Builder, RequestError> {
    let url = &request.url;
    let target = if form == TargetForm::Path {
        let query = url.query().map(|q| format!("?{q}")).unwrap_or_default();
        format!("{}{query}", url.path())
    } else {
        url.as_str().to_string()
    };
    let mut headers = request.headers.clone();
    if form != TargetForm::Http2 {
        let port = url.port().map(|p| format!(":{p}")).unwrap_or_default();
        let host = format!("{}{port}", url.host_str().unwrap_or_default());
        let host = HeaderValue::from_str(&host)
            .map_err(|_| RequestError::Url(crate::error::UrlFault::Host))?;
        headers.insert(header::HOST, host);
    }
    if searched {
        // A body that is searched for secrets must not be compressed.
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
    for (name, _) in secrets {
        headers.remove(name);
    }
    for (name, value) in secrets {
        headers.append(name, value.clone());
    }
    let mut builder = http::Request::builder().method(request.method.clone()).uri(target);
    if let Some(map) = builder.headers_mut() {
        *map = headers;
    }
    Ok(builder)
}

/// Rejects responses that readers of HTTP/1.1 may interpret as different messages (RFC 9112, 6.3),
/// and heads that cannot answer a request of ours.
fn check_framing(parts: &response::Parts) -> Result<(), RequestError> {
    let malformed = |text: &str| Err(RequestError::Malformed(text.to_string()));
    let lengths: Vec<&HeaderValue> = parts.headers.get_all(header::CONTENT_LENGTH).iter().collect();
    let codings: Vec<&HeaderValue> =
        parts.headers.get_all(header::TRANSFER_ENCODING).iter().collect();
    if lengths.len() > 1 {
        return malformed("several Content-Length headers");
    }
    if lengths.iter().any(|v| v.is_empty() || !v.as_bytes().iter().all(u8::is_ascii_digit)) {
        return malformed("a Content-Length that is no number");
    }
    if !codings.is_empty() && !lengths.is_empty() {
        return malformed("both Content-Length and Transfer-Encoding");
    }
    match codings.as_slice() {
        [] => {}
        [one] if one.as_bytes().eq_ignore_ascii_case(b"chunked") => {
            if parts.version != http::Version::HTTP_11 {
                return malformed("Transfer-Encoding with another version than HTTP/1.1");
            }
        }
        _ => return malformed("a Transfer-Encoding that is not chunked"),
    }
    if parts.status == StatusCode::SWITCHING_PROTOCOLS || parts.status.is_informational() {
        return malformed("another protocol, which nobody has asked for");
    }
    Ok(())
}

fn scrub_headers(headers: &HeaderMap, forms: &SecretForms) -> HeaderMap {
    let mut out = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        if forms.in_name(name.as_str().as_bytes()) {
            continue;
        }
        // Stars are as valid in a header as the bytes that they replace.
        if let Ok(value) = HeaderValue::from_bytes(&forms.scrub_bytes(value.as_bytes())) {
            out.append(name.clone(), value);
        }
    }
    out
}

/// Returns the next bytes of a body, and skips trailers.
async fn next(body: &mut Incoming) -> Result<Option<Bytes>, RequestError> {
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
        match frame {
            None => return Ok(None),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
            Some(Err(e)) => return Err(in_body(&e)),
        }
    }
}

fn in_body(e: &hyper::Error) -> RequestError {
    let ended = |e: &std::io::Error| e.kind() == std::io::ErrorKind::UnexpectedEof;
    if e.is_incomplete_message() || find_cause(e).is_some_and(ended) {
        return RequestError::Partial;
    }
    if e.is_parse() || find_cause::<std::io::Error>(e).is_some_and(is_invalid) {
        return RequestError::Malformed("its body is not framed as HTTP has it".into());
    }
    RequestError::Receive("the connection failed within the body".into())
}

fn is_invalid(e: &std::io::Error) -> bool {
    matches!(e.kind(), std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData)
}

fn no_response(failed: &SendFailed) -> RequestError {
    let e = &failed.error;
    if let Some(ours) = find_cause::<RequestError>(e) {
        return ours.clone();
    }
    if e.is_parse_too_large() {
        return RequestError::Limit(BridgeLimit::Headers);
    }
    if e.is_parse() {
        return RequestError::Malformed("its head is not HTTP".into());
    }
    if failed.silent {
        return RequestError::Empty;
    }
    RequestError::Receive("the connection failed before the response's head".into())
}

/// Returns the first error of a type in the chain of causes.
fn find_cause<T: StdError + 'static>(e: &hyper::Error) -> Option<&T> {
    let mut at: Option<&(dyn StdError + 'static)> = e.source();
    while let Some(e) = at {
        if let Some(found) = e.downcast_ref::<T>() {
            return Some(found);
        }
        at = e.source();
    }
    None
}

impl BridgeInner {
    /// Returns a URL in the form for the log.
    fn url_for_log(&self, url: &Url) -> String {
        let text = log::url_for_log(url, self.log_query);
        String::from_utf8_lossy(&self.secrets.forms().scrub_bytes(text.as_bytes())).into_owned()
    }

    /// Logs a request that was refused before its first hop.
    pub(crate) fn log_refusal(
        &self,
        number: u64,
        method: &str,
        url: Option<&Url>,
        error: &RequestError,
    ) {
        let mut log = OpenLogEntry::new(&self.sink, number, 0, method);
        log.entry.url = url.map(|u| self.url_for_log(u)).unwrap_or_default();
        log.end(Some(error.clone()));
    }
}
