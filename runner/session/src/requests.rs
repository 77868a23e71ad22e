//! Guests' requests to the outside: the node `/.box/http`, served by the bridge.
//!
//! Everything here is in the embedder's process, never in a worker: rules, resolver, TLS, secrets
//! and the log. A guest's request is a sequence of steps (`box_abi::http`). Each open request has a
//! thread, because the bridge's calls block, and is aborted when its call ends.

use crate::error::Error;
use crate::tools::ToolCalls;
use crate::values::Values;
use box_abi::http::{HttpAnswer as Reply, HttpRequest, HttpStep, PART, Response};
use serde_json::json;
use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use wasibox_bridge::{
    Bridge, BridgeExchange, BridgeLimits, BridgeNetwork, HttpVersion, LogEntry, LogSink,
    NetworkOptions, ProxySettings, RequestHead, RequestRule, RequestRules, ResponseHead,
    SecretRule,
};
use wasibox_sandbox::NetworkPolicy;
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{AnswerSlot, Errno, Service};

/// Maximum number of open requests of a session; an exchange beyond that is refused. The bridge
/// limits the requests in progress by itself.
const OPEN: usize = 64;
/// The time after which a request that the guest no longer asks about is aborted.
const IDLE: Duration = Duration::from_secs(120);
/// Maximum number of log entries that are kept until the call ends.
const ENTRIES: usize = 10_000;
/// Maximum bytes of these entries; the last one says how many were left out.
const ENTRY_BYTES: usize = 1 << 20;
/// Maximum bytes of entries about pushes, which other requests cannot use up.
const PUSH_BYTES: usize = 4 << 20;

/// The thread of the bridges, started on first use.
#[derive(Default)]
pub struct BridgeThread(OnceLock<BridgeNetwork>);

impl BridgeThread {
    fn get(&self) -> Result<&BridgeNetwork, Error> {
        if let Some(network) = self.0.get() {
            return Ok(network);
        }
        let made = BridgeNetwork::new(NetworkOptions::default())?;
        Ok(self.0.get_or_init(|| made))
    }
}

/// Parses a policy's rules.
///
/// # Errors
/// [`Error::Network`] with the invalid text and the reason.
pub fn parse_policy(policy: &NetworkPolicy) -> Result<wasibox_bridge::BridgePolicy, Error> {
    let rules = |all: &[String]| -> Result<Vec<RequestRule>, Error> {
        all.iter()
            .map(|r| r.parse::<RequestRule>().map_err(|e| Error::Network(e.to_string())))
            .collect()
    };
    let secret = |text: &String| {
        text.parse::<SecretRule>().map_err(|e| Error::Network(format!("a secret: {e}")))
    };
    let proxy =
        |text: &str| text.parse::<ProxySettings>().map_err(|e| Error::Network(e.to_string()));
    let (own, limits) = (BridgeLimits::default(), policy.limits);
    let limits = BridgeLimits {
        requests: limits.requests.unwrap_or(own.requests),
        requests_per_call: limits.requests_per_call.unwrap_or(own.requests_per_call),
        concurrent: limits.concurrent.unwrap_or(own.concurrent),
        upload: limits.upload.unwrap_or(own.upload),
        download: limits.download.unwrap_or(own.download),
        session_upload: limits.session_upload.unwrap_or(own.session_upload),
        session_download: limits.session_download.unwrap_or(own.session_download),
        total: limits.timeout.unwrap_or(own.total),
        ..own
    };
    Ok(wasibox_bridge::BridgePolicy {
        limits,
        rules: RequestRules { allow: rules(&policy.allow)?, deny: rules(&policy.deny)? },
        secrets: policy.secrets.iter().map(secret).collect::<Result<_, _>>()?,
        proxy: policy.proxy.as_deref().map(proxy).transpose()?,
        ..wasibox_bridge::BridgePolicy::default()
    })
}

/// The service for a session's requests.
pub struct BridgeRequests {
    bridge: Bridge,
    open: Arc<Mutex<OpenRequests>>,
    log: Arc<RequestLog>,
}

#[derive(Default)]
struct OpenRequests {
    next: u64,
    all: HashMap<u64, OpenRequest>,
}

/// An open request.
struct OpenRequest {
    steps: Sender<(HttpStep, AnswerSlot)>,
    /// The exchange, once the rules have allowed the request. It is kept here because the request's
    /// thread may be waiting for the server when the request has to end.
    exchange: Option<Arc<BridgeExchange>>,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let Some(exchange) = &self.exchange {
            exchange.give_up();
        }
    }
}

/// Entries that are not in the session's log yet.
#[derive(Default)]
struct RequestLog(Mutex<WaitingEntries>);

#[derive(Default)]
struct WaitingEntries {
    all: Vec<String>,
    bytes: usize,
    push_bytes: usize,
    left_out: u64,
}

impl WaitingEntries {
    fn add(&mut self, entry: String, is_push: bool) {
        let (bytes, limit) = if is_push {
            (&mut self.push_bytes, PUSH_BYTES)
        } else {
            (&mut self.bytes, ENTRY_BYTES)
        };
        // Pushes are limited by their bytes alone, because many short entries of other requests would
        // leave them no room.
        if (is_push || self.all.len() < ENTRIES) && *bytes + entry.len() <= limit {
            *bytes += entry.len();
            self.all.push(entry);
        } else {
            self.left_out += 1;
        }
    }

    /// Returns the entries, and one about those that were left out.
    fn finish(self) -> Vec<String> {
        let mut all = self.all;
        if self.left_out > 0 {
            let left_out = json!({ "event": "requests left out", "entries": self.left_out });
            all.push(left_out.to_string());
        }
        all
    }
}

impl LogSink for RequestLog {
    fn take_entry(&self, e: &LogEntry) {
        let mut entry = json!({
            "event": "request",
            "method": e.method,
            "url": e.url,
            "hop": e.hop,
            "rule": e.rule,
            "status": e.status,
            "sent": e.sent,
            "received": e.received,
            "took_ms": (e.took.as_secs_f64() * 1e6).round() / 1e3,
        });
        if !e.secrets.is_empty() {
            entry["secrets"] = json!(e.secrets);
        }
        if let Some(address) = e.address {
            entry["address"] = address.to_string().into();
        }
        if !e.push.is_empty() {
            entry["push"] = json!(e.push);
        }
        if let Some(error) = &e.error {
            entry["error"] = error.to_string().into();
        }
        lock_mutex(&self.0).add(entry.to_string(), !e.push.is_empty());
    }
}

impl BridgeRequests {
    /// Makes the service for the requests that a policy allows; `None` if it allows none.
    ///
    /// # Errors
    /// [`Error::Network`] for rules that cannot be parsed or secrets that cannot be read; if the
    /// thread cannot be started.
    pub fn new(
        policy: &NetworkPolicy,
        outside: &BridgeThread,
    ) -> Result<Option<BridgeRequests>, Error> {
        if policy.allow.is_empty() {
            return Ok(None);
        }
        let log = Arc::<RequestLog>::default();
        let bridge = Bridge::with_log(outside.get()?, parse_policy(policy)?, log.clone());
        let bridge = bridge.map_err(|e| Error::Network(e.to_string()))?;
        Ok(Some(BridgeRequests { bridge, open: Arc::default(), log }))
    }

    /// Starts a call.
    pub fn begin_call(&self) {
        self.bridge.begin_call();
    }

    /// Ends a call, which aborts its requests. Returns the entries for the log.
    pub fn end_call(&self) -> Vec<String> {
        let left = std::mem::take(&mut lock_mutex(&self.open).all);
        drop(left);
        self.take_log()
    }

    /// Returns the entries for the log so far.
    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut *lock_mutex(&self.log.0)).finish()
    }

    fn open_request(&self, request: HttpRequest, answer: AnswerSlot) {
        let (sender, steps) = mpsc::channel();
        let number = {
            let mut open = lock_mutex(&self.open);
            if open.all.len() >= OPEN {
                drop(open);
                return send_reply(answer, &failure_reply(7, "too many requests are open"));
            }
            open.next += 1;
            let number = open.next;
            open.all.insert(number, OpenRequest { steps: sender, exchange: None });
            number
        };
        let (bridge, open) = (self.bridge.clone(), self.open.clone());
        let work = move || {
            serve_request(&bridge, &request, answer, number, &steps, &open);
            let ended = lock_mutex(&open).all.remove(&number);
            drop(ended);
        };
        if std::thread::Builder::new().stack_size(256 << 10).spawn(work).is_err() {
            // The answer slot was dropped together with the step.
            lock_mutex(&self.open).all.remove(&number);
        }
    }
}

fn send_reply(answer: AnswerSlot, reply: &Reply) {
    answer.give(Ok(reply.encode()));
}

fn failure_reply(code: u8, why: &str) -> Reply {
    Reply::Failed { code, why: why.into() }
}

fn error_reply(e: &wasibox_bridge::RequestError) -> Reply {
    failure_reply(e.curl_code(), &e.to_string())
}

/// Runs the thread of a request, until the request is closed or idle for too long, or its call
/// ends.
fn serve_request(
    bridge: &Bridge,
    request: &HttpRequest,
    answer: AnswerSlot,
    number: u64,
    steps: &Receiver<(HttpStep, AnswerSlot)>,
    open: &Mutex<OpenRequests>,
) {
    let exchange = match RequestHead::from_guest(request) {
        Some(head) if bridge.is_for_guest(&head) => return send_reply(answer, &Reply::Own),
        Some(head) => bridge.begin_request(&head).map_err(|e| error_reply(&e)),
        None => Err(failure_reply(3, "URL rejected: it is not text")),
    };
    let exchange = match exchange {
        Ok(exchange) => Arc::new(exchange),
        Err(why) => return send_reply(answer, &why),
    };
    match lock_mutex(open).all.get_mut(&number) {
        Some(underway) => underway.exchange = Some(exchange.clone()),
        // The call has ended.
        None => return,
    }
    send_reply(answer, &Reply::Opened(number));
    let mut left = Vec::new();
    loop {
        let (step, answer) = match steps.recv_timeout(IDLE) {
            Ok(next) => next,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        };
        send_reply(answer, &act_on_step(&exchange, step, &mut left));
    }
}

fn act_on_step(exchange: &BridgeExchange, step: HttpStep, left: &mut Vec<u8>) -> Reply {
    match step {
        HttpStep::Open(_) | HttpStep::Close(_) | HttpStep::Names(..) => Reply::Done,
        HttpStep::Body(_, bytes) => match exchange.write(&bytes) {
            Ok(()) => Reply::Done,
            Err(e) => error_reply(&e),
        },
        HttpStep::End(_) => {
            exchange.finish_body();
            match exchange.wait_response() {
                Ok(head) => Reply::Head(make_response(head)),
                Err(e) => error_reply(&e),
            }
        }
        HttpStep::Read(_) => {
            if left.is_empty() {
                match exchange.read() {
                    Ok(piece) => left.extend_from_slice(&piece.unwrap_or_default()),
                    Err(e) => return error_reply(&e),
                }
            }
            let n = left.len().min(PART);
            Reply::Body(left.drain(..n).collect())
        }
    }
}

fn make_response(head: ResponseHead) -> Response {
    Response {
        status: head.status,
        version: match head.version {
            HttpVersion::Http10 => 10,
            HttpVersion::Http11 => 11,
            HttpVersion::Http2 => 20,
        },
        url: head.url.into_bytes(),
        redirects: head.redirects,
        headers: head.headers.into_iter().map(|h| (h.name.into_bytes(), h.value)).collect(),
    }
}

impl Service for BridgeRequests {
    fn serves_node(&self, name: &str) -> bool {
        name == "http"
    }

    fn take_request(&self, _: &str, request: Vec<u8>, answer: AnswerSlot) {
        let Some(step) = HttpStep::decode(&request) else {
            return send_reply(answer, &failure_reply(2, "not a request"));
        };
        let number = match step {
            HttpStep::Open(request) => return self.open_request(request, answer),
            HttpStep::Names(port, host) => {
                let is_named =
                    std::str::from_utf8(&host).is_ok_and(|h| self.bridge.names_host(h, port));
                let no = || failure_reply(7, "no rule of the sandbox's policy names it");
                return send_reply(answer, &if is_named { Reply::Done } else { no() });
            }
            HttpStep::Close(n) => {
                // Handled outside the sequence of steps, because the step before it may be waiting
                // for the server.
                let ended = lock_mutex(&self.open).all.remove(&n);
                drop(ended);
                return send_reply(answer, &Reply::Done);
            }
            HttpStep::Body(n, _) | HttpStep::End(n) | HttpStep::Read(n) => n,
        };
        let to = lock_mutex(&self.open).all.get(&number).map(|underway| underway.steps.clone());
        match to {
            Some(to) => {
                // If the thread has ended meanwhile, the answer slot is dropped, which answers EIO.
                let _ = to.send((step, answer));
            }
            None => send_reply(answer, &failure_reply(42, "there is no such request")),
        }
    }
}

/// All services that a session's guests can use.
pub struct Services {
    pub values: Option<Arc<Values>>,
    pub requests: Option<Arc<BridgeRequests>>,
    pub tools: Option<ToolCalls>,
}

impl Services {
    fn service_named(&self, name: &str) -> Option<&dyn Service> {
        match name {
            "kv" => self.values.as_deref().map(|s| s as &dyn Service),
            "http" => self.requests.as_deref().map(|s| s as &dyn Service),
            "tools" => self.tools.as_ref().map(|s| s as &dyn Service),
            _ => None,
        }
    }
}

impl Service for Services {
    fn serves_node(&self, name: &str) -> bool {
        self.service_named(name).is_some()
    }

    fn take_request(&self, name: &str, request: Vec<u8>, answer: AnswerSlot) {
        match self.service_named(name) {
            Some(service) => service.take_request(name, request, answer),
            None => answer.give(Err(Errno::NOENT)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A guest cannot make its pushes disappear from the log by other requests.
    #[test]
    fn pushes_have_room_of_their_own_in_the_log() {
        let mut waiting = WaitingEntries::default();
        for _ in 0..100 {
            waiting.add("x".repeat(ENTRY_BYTES / 50), false);
        }
        assert_eq!((waiting.all.len(), waiting.left_out), (50, 50));
        for _ in 0..100 {
            waiting.add("p".repeat(PUSH_BYTES / 50), true);
        }
        assert_eq!((waiting.all.len(), waiting.left_out), (100, 100));
        let all = waiting.finish();
        assert_eq!(all.iter().filter(|entry| entry.starts_with('p')).count(), 50);
        assert!(
            all.last().is_some_and(|last| last.contains("\"entries\":100")),
            "{:?}",
            all.last()
        );
    }

    #[test]
    fn many_short_requests_leave_room_for_pushes() {
        let mut waiting = WaitingEntries::default();
        for _ in 0..=ENTRIES {
            waiting.add("x".into(), false);
        }
        waiting.add("p".into(), true);
        assert_eq!((waiting.all.len(), waiting.left_out), (ENTRIES + 1, 1));
    }
}
