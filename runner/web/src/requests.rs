//! Guests' requests to hosts outside: the node `/.box/http`, served by the page's `fetch`.
//!
//! This module checks the rules, and the page sends the requests that they allow. The page receives
//! one request at a time, in the form that was judged, and never a guest's own text. It passes
//! results to the kernel's first worker, which answers the waiting guest.
//!
//! # Invariants
//! - The page never receives a request that no rule allows; a redirect counts as another request.
//! - A request's body is kept until its response has arrived, and counts against the session's
//!   memory limit.
//! - The requests of a call are aborted when it ends, and the page is notified.

use crate::ffi;
use crate::lock_mutex;
use crate::outcome::to_json;
use box_abi::http::{HttpAnswer as Reply, HttpRequest, HttpStep, PART, Response};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use wasibox_bridge::{
    BridgeLimits, Header, JudgedRequest, RequestError, RequestHead, RequestJudge, RequestRule,
    RequestRules,
};
use wasibox_protocol::{Refusal, RefusalKind};
use wasibox_vfs::{AnswerSlot, Budget, Reservation, Service, Vfs};

/// Maximum number of open requests, as natively.
const OPEN: usize = 64;

/// The page's rules for guests' requests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PagePolicy {
    #[serde(default)]
    allow: Vec<RequestRule>,
    #[serde(default)]
    deny: Vec<RequestRule>,
}

/// A request to the page.
#[derive(Serialize)]
struct PageRequest<'a> {
    method: &'a str,
    url: &'a str,
    headers: Vec<(&'a str, String)>,
    /// The time limit in milliseconds.
    time: u64,
    /// Whether the page may follow redirects, which the kernel then does not see.
    follow: bool,
}

/// A reply of the page.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PageReply {
    Head {
        status: u16,
        url: String,
        headers: Vec<(String, String)>,
    },
    /// The exit status that curl(1) uses for the failure, and the reason.
    Failed {
        code: u8,
        why: String,
    },
}

/// The stage of a request.
enum RequestStage {
    /// The guest is writing its body.
    Body,
    /// The page has sent it; the guest waits for the head.
    Asked(AnswerSlot),
    /// The response has arrived; the guest may be waiting for the next part.
    Reads(Option<AnswerSlot>),
    /// The push was refused and never sent; this is the rest of its answer.
    Refused(Vec<u8>),
}

struct PageExchange {
    judged: JudgedRequest,
    stage: RequestStage,
    /// The length of the body, if it was announced.
    length: Option<u64>,
    body: Vec<u8>,
    held: Reservation,
    redirects: u32,
    received: u64,
}

#[derive(Default)]
struct OpenExchanges {
    next: u32,
    all: HashMap<u32, PageExchange>,
}

/// The service for the session's requests.
struct PageRequests {
    judge: RequestJudge,
    budget: Arc<Budget>,
    open: Mutex<OpenExchanges>,
}

static REQUESTS: OnceLock<Arc<PageRequests>> = OnceLock::new();

/// Allows guests to make requests from now on, by rules in JSON.
pub fn allow_requests(policy: &[u8], vfs: &Vfs, budget: &Arc<Budget>) -> Result<(), Refusal> {
    let invalid = |why: &dyn std::fmt::Display| Refusal::invalid_request(format!("network: {why}"));
    let PagePolicy { allow, deny } = serde_json::from_slice(policy).map_err(|e| invalid(&e))?;
    if allow.is_empty() {
        return Ok(());
    }
    let judge = RequestJudge::new(RequestRules { allow, deny }, BridgeLimits::default())
        .map_err(|e| invalid(&e))?;
    let requests = Arc::new(PageRequests { judge, budget: budget.clone(), open: Mutex::default() });
    if REQUESTS.set(requests.clone()).is_err() {
        return Err(Refusal::new(RefusalKind::Conflict, "network: it was said already"));
    }
    vfs.set_service(Some(requests));
    Ok(())
}

/// Starts a call.
pub fn start_call() {
    if let Some(requests) = REQUESTS.get() {
        requests.judge.begin_call();
    }
}

/// Ends a call, and aborts its requests.
pub fn end_call() {
    let Some(requests) = REQUESTS.get() else { return };
    let left = std::mem::take(&mut lock_mutex(&requests.open).all);
    left.keys().for_each(|n| ffi::request_close(*n));
}

/// Takes the head of a response or a failure from the page, as JSON, and returns whether it is
/// still wanted.
pub fn take_response(number: u32, got: &[u8]) -> bool {
    let Some(requests) = REQUESTS.get() else { return false };
    let got = serde_json::from_slice(got)
        .unwrap_or_else(|e| PageReply::Failed { code: 56, why: e.to_string() });
    requests.take_head(number, got)
}

/// Takes a part of a response's body from the page, an empty one at its end, and returns whether it
/// is still wanted.
pub fn take_body_part(number: u32, part: Vec<u8>) -> bool {
    REQUESTS.get().is_some_and(|requests| requests.take_body_bytes(number, part))
}

fn send_reply(answer: AnswerSlot, reply: &Reply) {
    answer.give(Ok(reply.encode()));
}

fn failure_reply(code: u8, why: &str) -> Reply {
    Reply::Failed { code, why: why.into() }
}

fn error_reply(e: &RequestError) -> Reply {
    failure_reply(e.curl_code(), &e.to_string())
}

/// Returns the bytes of a header in JavaScript's form: one character per byte.
fn header_text(bytes: &[u8]) -> String {
    bytes.iter().map(|b| char::from(*b)).collect()
}

fn header_bytes(characters: &str) -> Vec<u8> {
    characters.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect()
}

impl PageRequests {
    fn open_request(&self, request: &HttpRequest) -> Reply {
        let Some(head) = RequestHead::from_guest(request) else {
            return failure_reply(3, "URL rejected: it is not text");
        };
        if self.judge.is_for_guest(&head) {
            return Reply::Own;
        }
        let mut open = lock_mutex(&self.open);
        if open.all.len() >= OPEN {
            return failure_reply(7, "too many requests are open");
        }
        let judged = match self.judge.request(&head) {
            Ok(judged) => judged,
            Err(e) => return error_reply(&e),
        };
        if !judged.may_have_body() && request.body != Some(0) {
            let why = format!("a page sends no body with {}", judged.method());
            return failure_reply(55, &why);
        }
        let Some(held) = self.budget.reserve_bytes(0) else {
            return failure_reply(27, "out of memory");
        };
        open.next = open.next.wrapping_add(1);
        let number = open.next;
        let (stage, body) = (RequestStage::Body, Vec::new());
        let length = request.body;
        let exchange =
            PageExchange { judged, stage, length, body, held, redirects: 0, received: 0 };
        open.all.insert(number, exchange);
        Reply::Opened(number.into())
    }

    fn write(&self, exchange: &mut PageExchange, part: &[u8]) -> Reply {
        if !matches!(exchange.stage, RequestStage::Body) {
            return failure_reply(2, "the body has ended");
        }
        let (before, more) = (exchange.body.len() as u64, part.len() as u64);
        if exchange.length.is_some_and(|length| before + more > length) {
            return error_reply(&RequestError::Length);
        }
        if let Err(e) = self.judge.count_sent(before, more) {
            return error_reply(&e);
        }
        if !exchange.held.grow_by(more) {
            return failure_reply(27, "out of memory");
        }
        exchange.body.extend_from_slice(part);
        Reply::Done
    }

    /// Judges a body that is whole. Returns the head of the answer to a push that is refused.
    fn judge_body(&self, exchange: &mut PageExchange) -> Result<Option<Response>, RequestError> {
        if exchange.length.is_some_and(|n| n != exchange.body.len() as u64) {
            return Err(RequestError::Length);
        }
        if !exchange.judged.is_push() {
            return Ok(None);
        }
        let refused = self.judge.judge_push(&exchange.judged, &exchange.body)?;
        let Some((head, report)) = refused else { return Ok(None) };
        exchange.stage = RequestStage::Refused(report);
        exchange.body = Vec::new();
        exchange.held.shrink_to(0);
        let headers = head.headers.into_iter().map(|h| (h.name.into_bytes(), h.value)).collect();
        let (url, redirects) = (head.url.into_bytes(), head.redirects);
        Ok(Some(Response { status: head.status, version: 11, url, redirects, headers }))
    }

    fn make_request(&self, number: u32, exchange: &PageExchange) {
        let judged = &exchange.judged;
        let headers = judged.headers().map(|(name, value)| (name, header_text(value))).collect();
        let asked = PageRequest {
            method: judged.method(),
            url: judged.url(),
            headers,
            time: u64::try_from(judged.time().as_millis()).unwrap_or(u64::MAX),
            follow: self.judge.allows_everything(),
        };
        let body = if judged.has_body() { exchange.body.as_slice() } else { &[] };
        ffi::request(number, &to_json(&asked), body);
    }

    fn take_head(&self, number: u32, got: PageReply) -> bool {
        let mut open = lock_mutex(&self.open);
        let Some(exchange) = open.all.get_mut(&number) else { return false };
        let (answer, is_head) =
            match std::mem::replace(&mut exchange.stage, RequestStage::Reads(None)) {
                RequestStage::Asked(answer) => (answer, true),
                RequestStage::Reads(Some(answer)) => (answer, false),
                stage => {
                    exchange.stage = stage;
                    return false;
                }
            };
        let got = match got {
            PageReply::Head { status, url, headers } if is_head => {
                self.response_or_redirect(exchange, status, url, headers)
            }
            PageReply::Head { .. } => Err(failure_reply(56, "the page has told a head twice")),
            PageReply::Failed { code, why } => Err(failure_reply(code, &why)),
        };
        match got {
            // The redirect is followed.
            Ok(None) => {
                exchange.stage = RequestStage::Asked(answer);
                self.make_request(number, exchange);
                true
            }
            Ok(Some(response)) => {
                exchange.body = Vec::new();
                exchange.held.shrink_to(0);
                drop(open);
                send_reply(answer, &Reply::Head(response));
                true
            }
            Err(why) => {
                open.all.remove(&number);
                drop(open);
                send_reply(answer, &why);
                false
            }
        }
    }

    /// Returns the response, or `None` for a redirect that is followed.
    fn response_or_redirect(
        &self,
        exchange: &mut PageExchange,
        status: u16,
        url: String,
        headers: Vec<(String, String)>,
    ) -> Result<Option<Response>, Reply> {
        let header = |(name, value): (String, String)| Header { name, value: header_bytes(&value) };
        let headers: Vec<Header> = headers.into_iter().map(header).collect();
        self.judge.check_head(&headers).map_err(|e| error_reply(&e))?;
        let hop = exchange.redirects;
        let next = self.judge.judge_redirect(&exchange.judged, (status, &headers), hop);
        if let Some(next) = next.map_err(|e| error_reply(&e))? {
            exchange.redirects += 1;
            exchange.judged = next;
            return Ok(None);
        }
        let headers = headers.into_iter().map(|h| (header_bytes(&h.name), h.value)).collect();
        let (url, redirects) = (url.into_bytes(), exchange.redirects);
        // HTTP/1.1 is assumed, because a page cannot find out the version.
        Ok(Some(Response { status, version: 11, url, redirects, headers }))
    }

    fn take_body_bytes(&self, number: u32, part: Vec<u8>) -> bool {
        let mut open = lock_mutex(&self.open);
        let Some(exchange) = open.all.get_mut(&number) else { return false };
        let RequestStage::Reads(waits) = &mut exchange.stage else { return false };
        let Some(answer) = waits.take() else { return false };
        let more = part.len() as u64;
        let counted = self.judge.count_received(exchange.received, more);
        exchange.received += more;
        if counted.is_err() || part.len() > PART {
            open.all.remove(&number);
        }
        drop(open);
        match counted {
            Ok(()) => send_reply(answer, &Reply::Body(part)),
            Err(e) => {
                send_reply(answer, &error_reply(&e));
                return false;
            }
        }
        true
    }

    /// Performs a step of an open request.
    fn act_on_step(&self, step: HttpStep, answer: AnswerSlot) {
        let number = match &step {
            HttpStep::Body(n, _) | HttpStep::End(n) | HttpStep::Read(n) | HttpStep::Close(n) => *n,
            HttpStep::Open(_) | HttpStep::Names(..) => 0,
        };
        let none = || failure_reply(42, "there is no such request");
        let Ok(number) = u32::try_from(number) else { return send_reply(answer, &none()) };
        let mut open = lock_mutex(&self.open);
        if let HttpStep::Close(_) = step {
            let was_there = open.all.remove(&number).is_some();
            drop(open);
            if was_there {
                ffi::request_close(number);
            }
            return send_reply(answer, &Reply::Done);
        }
        let Some(exchange) = open.all.get_mut(&number) else {
            drop(open);
            return send_reply(answer, &none());
        };
        let said = match (step, &mut exchange.stage) {
            (HttpStep::Body(_, part), _) => self.write(exchange, &part),
            (HttpStep::End(_), RequestStage::Body) => match self.judge_body(exchange) {
                Ok(None) => {
                    exchange.stage = RequestStage::Asked(answer);
                    return self.make_request(number, exchange);
                }
                Ok(Some(head)) => Reply::Head(head),
                Err(e) => error_reply(&e),
            },
            (HttpStep::Read(_), RequestStage::Refused(rest)) => {
                Reply::Body(rest.drain(..rest.len().min(PART)).collect())
            }
            (HttpStep::Read(_), RequestStage::Reads(waits @ None)) => {
                *waits = Some(answer);
                return ffi::request_read(number);
            }
            _ => failure_reply(2, "that is no step that can be next"),
        };
        drop(open);
        send_reply(answer, &said);
    }
}

impl Service for PageRequests {
    fn serves_node(&self, name: &str) -> bool {
        name == "http"
    }

    fn take_request(&self, _: &str, request: Vec<u8>, answer: AnswerSlot) {
        match HttpStep::decode(&request) {
            None => send_reply(answer, &failure_reply(2, "not a request")),
            Some(HttpStep::Open(request)) => {
                let opened = self.open_request(&request);
                send_reply(answer, &opened);
            }
            Some(HttpStep::Names(port, host)) => {
                let is_named =
                    std::str::from_utf8(&host).is_ok_and(|h| self.judge.names_host(h, port));
                let no = || failure_reply(7, "no rule of the sandbox's policy names it");
                send_reply(answer, &if is_named { Reply::Done } else { no() });
            }
            Some(step) => self.act_on_step(step, answer),
        }
    }
}
