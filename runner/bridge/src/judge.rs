//! The bridge's checks without its sockets, for a host that leaves sending the requests to another
//! program, as a page leaves it to its browser.
//!
//! Such a host does not learn the address to which a name resolves. So a rule that restricts the
//! addresses of its host (`at`) cannot be enforced, and is refused; literal addresses and
//! `localhost` are judged as usual.

use crate::error::{BridgeLimit, RequestError};
use crate::git::{self, PushParser};
use crate::limits::{BridgeLimits, RequestCounters};
use crate::message::{Header, RedirectPolicy, RequestHead, ResponseHead};
use crate::request::GuestRequest;
use crate::rules::{Permit, PushRefusal, RequestRules, is_localhost};
use http::header::{HeaderMap, HeaderValue, LOCATION};
use http::{Method, StatusCode};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use url::{Host, Url};

/// The rules, limits and counts of a session.
#[derive(Debug)]
pub struct RequestJudge {
    rules: RequestRules,
    limits: BridgeLimits,
    counters: RequestCounters,
}

/// A request that may be made, in the form that was judged.
#[derive(Clone, Debug)]
pub struct JudgedRequest {
    request: GuestRequest,
    is_push: bool,
}

/// The error for a rule that restricts the addresses of its host, because addresses cannot be
/// checked here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}': where a host is (at) cannot be checked here; name its address instead")]
pub struct PlaceError(pub String);

impl RequestJudge {
    /// Makes a judge of these rules and limits.
    ///
    /// # Errors
    /// If a rule has `at`.
    pub fn new(rules: RequestRules, limits: BridgeLimits) -> Result<RequestJudge, PlaceError> {
        match rules.with_place() {
            Some(rule) => Err(PlaceError(rule.to_string())),
            None => Ok(RequestJudge { rules, limits, counters: RequestCounters::default() }),
        }
    }

    /// Begins a call, whose requests are counted from 0.
    pub fn begin_call(&self) {
        self.counters.begin_call();
    }

    /// Returns whether an allowing rule names the host and port; see [`RequestRules::names_host`].
    #[must_use]
    pub fn names_host(&self, host: &str, port: u16) -> bool {
        self.rules.names_host(host, port)
    }

    /// Returns whether the rules allow any request to any host, in which case the targets of
    /// redirects need not be judged.
    #[must_use]
    pub fn allows_everything(&self) -> bool {
        self.rules.allow_everything()
    }

    /// Returns whether a request is for the guest's own machine and no rule names its host.
    #[must_use]
    pub fn is_for_guest(&self, head: &RequestHead) -> bool {
        is_for_guest(&self.rules, &self.limits, head)
    }

    /// Judges a request.
    ///
    /// # Errors
    /// If it is malformed, not allowed, or exceeds a limit.
    pub fn request(&self, head: &RequestHead) -> Result<JudgedRequest, RequestError> {
        self.check_allowed(GuestRequest::new(head, &self.limits)?)
    }

    /// Returns the request to which a redirect response leads, after judging it as well; `None` if
    /// it is not a redirect, or the head of `judged` does not follow redirects.
    ///
    /// # Errors
    /// The same as [`RequestJudge::request`], and if `hop` redirects were followed already and no
    /// more are allowed.
    pub fn judge_redirect(
        &self,
        judged: &JudgedRequest,
        (status, headers): (u16, &[Header]),
        hop: u32,
    ) -> Result<Option<JudgedRequest>, RequestError> {
        let Some(limit) = judged.request.follow else { return Ok(None) };
        let mut locations = HeaderMap::new();
        for header in headers.iter().filter(|h| h.name.eq_ignore_ascii_case("location")) {
            let value = HeaderValue::from_bytes(&header.value);
            locations.append(LOCATION, value.map_err(|e| RequestError::Malformed(e.to_string()))?);
        }
        let status =
            StatusCode::from_u16(status).map_err(|e| RequestError::Malformed(e.to_string()))?;
        match judged.request.follow_redirect(status, &locations)? {
            None => Ok(None),
            Some(_) if hop >= limit => Err(RequestError::Redirects(limit)),
            Some(next) => {
                self.rules.check_redirect(&judged.request, &next)?;
                let next = self.check_allowed(next)?;
                // Its body is not judged a second time.
                if next.is_push {
                    return Err(RequestError::Repository(judged.url().to_owned()));
                }
                Ok(Some(next))
            }
        }
    }

    fn check_allowed(&self, request: GuestRequest) -> Result<JudgedRequest, RequestError> {
        let permit = self.rules.check_request(&request)?;
        check_literal_address(&permit, &request.url)?;
        self.counters.count_request(&self.limits)?;
        let is_push = permit.must_judge_push();
        Ok(JudgedRequest { request, is_push })
    }

    /// Judges the body of a push ([`JudgedRequest::is_push`]), which must not be sent before.
    /// Returns the response to one that is refused.
    ///
    /// # Errors
    /// If it cannot be judged, or is refused and its client reads no answer.
    pub fn judge_push(
        &self,
        judged: &JudgedRequest,
        body: &[u8],
    ) -> Result<Option<(ResponseHead, Vec<u8>)>, RequestError> {
        let mut permit = self.rules.check_request(&judged.request)?;
        let mut parser = PushParser::default();
        parser.push(body).map_err(RequestError::Push)?;
        let list = parser.finish().map_err(RequestError::Push)?;
        let Some(PushRefusal { first, report }) = permit.judge_push(&list).refusal else {
            check_literal_address(&permit, &judged.request.url)?;
            return Ok(None);
        };
        let report = report.ok_or(RequestError::Refused(first))?;
        Ok(Some((git::report_head(judged.url(), 0, report.len()), report)))
    }

    /// Counts bytes of a request's body, after `before` earlier ones.
    ///
    /// # Errors
    /// If they exceed a limit.
    pub fn count_sent(&self, before: u64, bytes: u64) -> Result<(), RequestError> {
        if before.saturating_add(bytes) > self.limits.upload {
            return Err(RequestError::Limit(BridgeLimit::Upload));
        }
        self.counters.count_sent(bytes, &self.limits)
    }

    /// Counts bytes of a response's body, after `before` earlier ones.
    ///
    /// # Errors
    /// The same as [`RequestJudge::count_sent`].
    pub fn count_received(&self, before: u64, bytes: u64) -> Result<(), RequestError> {
        if before.saturating_add(bytes) > self.limits.download {
            return Err(RequestError::Limit(BridgeLimit::Download));
        }
        self.counters.count_received(bytes, &self.limits)
    }

    /// Checks the size of a response's head.
    ///
    /// # Errors
    /// If it exceeds the limits.
    pub fn check_head(&self, headers: &[Header]) -> Result<(), RequestError> {
        let bytes: usize = headers.iter().map(|h| h.name.len() + h.value.len()).sum();
        let fits = headers.len() <= self.limits.headers as usize
            && bytes <= self.limits.header_bytes as usize;
        if fits { Ok(()) } else { Err(RequestError::Limit(BridgeLimit::Headers)) }
    }
}

impl JudgedRequest {
    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> &str {
        self.request.method.as_str()
    }

    /// Returns the full URL.
    #[must_use]
    pub fn url(&self) -> &str {
        self.request.url.as_str()
    }

    /// Returns the headers: names in lower case, and values.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.request.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
    }

    /// Returns whether the body must be judged before it is sent ([`RequestJudge::judge_push`]).
    #[must_use]
    pub fn is_push(&self) -> bool {
        self.is_push
    }

    /// Returns the time limit.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.request.total
    }

    /// Returns whether the body is sent: a redirect may have dropped it.
    #[must_use]
    pub fn has_body(&self) -> bool {
        self.request.body != crate::message::BodyLength::None
    }

    /// Returns whether the request may have a body at all, by the Fetch standard.
    #[must_use]
    pub fn may_have_body(&self) -> bool {
        self.request.method != Method::GET && self.request.method != Method::HEAD
    }

    /// Returns whether redirects are followed or passed to the guest.
    #[must_use]
    pub fn redirect(&self) -> RedirectPolicy {
        self.request.follow.map_or(RedirectPolicy::Manual, RedirectPolicy::Follow)
    }
}

/// Checks the address of a URL that has one, or a name of the machine itself.
fn check_literal_address(permit: &Permit<'_>, url: &Url) -> Result<(), RequestError> {
    let address = match url.host() {
        Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
        Some(Host::Domain(name)) if is_localhost(name) => Some(Ipv4Addr::LOCALHOST.into()),
        Some(Host::Domain(_)) | None => None,
    };
    let Some(address) = address else { return Ok(()) };
    let host = url.host_str().unwrap_or_default().to_owned();
    permit.check_address(address).map_err(|class| RequestError::Address { host, class })
}

/// Returns whether a request is for the guest's own machine: its host is a loopback address or
/// `localhost`, and no rule names it.
pub(crate) fn is_for_guest(
    rules: &RequestRules,
    limits: &BridgeLimits,
    head: &RequestHead,
) -> bool {
    let Ok(GuestRequest { url, .. }) = GuestRequest::new(head, limits) else { return false };
    is_own(&url)
        .is_some_and(|name| !rules.names_host(&name, url.port_or_known_default().unwrap_or(0)))
}

/// Returns the host of a URL if it is a name or an address of the machine itself.
fn is_own(url: &Url) -> Option<String> {
    let (own, name) = match url.host()? {
        Host::Domain(name) => (is_localhost(name), name.to_owned()),
        Host::Ipv4(ip) => (ip.is_loopback() || ip.is_unspecified(), ip.to_string()),
        Host::Ipv6(ip) => {
            let plain = IpAddr::V6(ip).to_canonical();
            (plain.is_loopback() || plain.is_unspecified(), ip.to_string())
        }
    };
    own.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::AddressClass;

    fn judge(allow: &[&str], deny: &[&str]) -> RequestJudge {
        let rules = |all: &[&str]| all.iter().map(|r| r.parse().expect("a rule")).collect();
        let rules = RequestRules { allow: rules(allow), deny: rules(deny) };
        RequestJudge::new(rules, BridgeLimits::default()).expect("no places")
    }

    #[test]
    fn a_place_is_refused() {
        let rule = "GET http://a.b/ at 10.0.0.0/8".parse().expect("a rule");
        let rules = RequestRules { allow: vec![rule], deny: vec![] };
        assert!(RequestJudge::new(rules, BridgeLimits::default()).is_err());
    }

    #[test]
    fn addresses_are_judged_and_names_are_not_resolved() {
        let all = judge(&["* *://*"], &[]);
        let of = |url: &str| all.request(&RequestHead::new("GET", url)).map(|j| j.url().to_owned());
        assert_eq!(of("http://a.invalid"), Ok("http://a.invalid/".to_owned()));
        let class = |url: &str| match of(url) {
            Err(RequestError::Address { class, .. }) => class,
            other => panic!("{url}: {other:?}"),
        };
        assert_eq!(class("http://10.0.0.1/"), AddressClass::Private);
        assert_eq!(class("http://169.254.169.254/latest"), AddressClass::Metadata);
        // A number in any notation is an address.
        assert_eq!(class("http://2130706433/"), AddressClass::Loopback);
        assert_eq!(class("http://0x7f.1/"), AddressClass::Loopback);
        assert_eq!(class("http://x.localhost/"), AddressClass::Loopback);
        let named = judge(&["GET http://127.0.0.1:8000/a/"], &[]);
        assert!(named.request(&RequestHead::new("GET", "http://127.0.0.1:8000/a/b")).is_ok());
        let refused = |url| matches!(named.request(&url), Err(RequestError::Refused(_)));
        assert!(refused(RequestHead::new("POST", "http://127.0.0.1:8000/a/b")));
        assert!(refused(RequestHead::new("GET", "http://127.0.0.1:8000/a/../b")));
        assert!(refused(RequestHead::new("GET", "http://127.0.0.1:8001/a/b")));
    }

    #[test]
    fn everything_is_what_nothing_denies() {
        assert!(judge(&["* *://*:*"], &[]).allows_everything());
        for (allow, deny) in [
            (&["* *://*:*"][..], &["GET http://a/"][..]),
            (&["* *://*"], &[]),
            (&["GET *://*:*"], &[]),
            (&["* https://*:*"], &[]),
            (&["* *://*:*/x/"], &[]),
            (&["* *://*.com:*"], &[]),
            (&[], &[]),
        ] {
            assert!(!judge(allow, deny).allows_everything(), "{allow:?} {deny:?}");
        }
    }

    #[test]
    fn each_hop_is_judged() {
        let judge = judge(&["* http://a.b/", "GET http://c.d/"], &[]);
        let mut head = RequestHead::new("POST", "http://a.b/x");
        head.redirect = RedirectPolicy::Follow(1);
        let judged = judge.request(&head).expect("allowed");
        let to = |place: &str| {
            vec![Header { name: "Location".into(), value: place.as_bytes().to_vec() }]
        };
        let go =
            |place: &str, status, hop| judge.judge_redirect(&judged, (status, &to(place)), hop);
        let next = go("http://c.d/", 303, 0).expect("allowed").expect("a redirect");
        assert_eq!((next.method(), next.url()), ("GET", "http://c.d/"));
        assert!(matches!(go("http://c.d/", 307, 0), Err(RequestError::Refused(_))));
        assert!(matches!(go("http://e.f/", 303, 0), Err(RequestError::Refused(_))));
        assert!(matches!(go("/y", 303, 1), Err(RequestError::Redirects(1))));
        assert!(matches!(go("/y", 200, 0), Ok(None)));
    }

    #[test]
    fn pushes_are_judged_when_their_body_is_whole() {
        let judge = judge(&["git-push https://h/r refs/heads/agent/*"], &[]);
        let mut head = RequestHead::new("POST", "https://h/r/git-receive-pack")
            .with_header("Content-Type", "application/x-git-receive-pack-request");
        head.body = crate::message::BodyLength::Unknown;
        head.redirect = RedirectPolicy::Follow(3);
        let judged = judge.request(&head).expect("a request");
        assert!(judged.is_push());
        let push = |name: &str| {
            let (a, b) = ("1".repeat(40), "2".repeat(40));
            let line = format!("{a} {b} {name}\0report-status");
            let body = format!("{:04x}{line}0000PACK", line.len() + 4);
            judge.judge_push(&judged, body.as_bytes())
        };
        assert_eq!(push("refs/heads/agent/x"), Ok(None));
        let (head, report) = push("refs/heads/main").expect("a push").expect("an answer");
        assert_eq!(head.status, 200);
        let report = String::from_utf8(report).expect("text");
        assert!(report.contains("ng refs/heads/main not allowed"), "{report}");
        assert!(judge.judge_push(&judged, b"0000PACK").is_err());
        // A redirect of a push is not followed, because its body would have to be judged again.
        for place in ["https://h/r/git-receive-pack", "https://h/s/git-receive-pack"] {
            let location = Header { name: "location".into(), value: place.into() };
            let next = judge.judge_redirect(&judged, (307, &[location]), 0);
            assert!(matches!(next, Err(RequestError::Repository(_))), "{place}");
        }
    }
}
