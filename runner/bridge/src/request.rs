//! Checks of a guest's request by itself, before the rules decide whether it may be made.

use crate::error::{HeaderFault, RequestError, UrlFault};
use crate::limits::{BridgeLimits, MAX_URL};
use crate::message::{BodyLength, Header, RedirectPolicy, RequestHead};
use crate::rules::plain_name;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use std::time::Duration;
use url::{Host, Url};

const MAX_METHOD: usize = 32;

/// Headers that replace the method, the host or the path of a request: those of web frameworks
/// (method override), of IIS and its modules (original and rewritten URL), and of reverse proxies
/// (RFC 7239 and what preceded it).
const OVERRIDES: &[&str] = &[
    "forwarded",
    "x-envoy-original-path",
    "x-forwarded-host",
    "x-forwarded-path",
    "x-forwarded-prefix",
    "x-forwarded-server",
    "x-forwarded-uri",
    "x-host",
    "x-http-host-override",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-host",
    "x-original-method",
    "x-original-uri",
    "x-original-url",
    "x-override-url",
    "x-rewrite-url",
];

/// A request without the headers that the policy adds.
#[derive(Clone, Debug)]
pub(crate) struct GuestRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: BodyLength,
    /// Maximum number of redirects that are followed.
    pub(crate) follow: Option<u32>,
    pub(crate) total: Duration,
    pub(crate) connect: Duration,
}

impl GuestRequest {
    pub(crate) fn new(head: &RequestHead, limits: &BridgeLimits) -> Result<Self, RequestError> {
        let shorter = |asked: Option<u64>, limit: Duration| {
            asked.map_or(limit, |ms| Duration::from_millis(ms).min(limit))
        };
        Ok(Self {
            method: parse_method(&head.method)?,
            url: parse_url(&head.url)?,
            headers: parse_headers(&head.headers, limits)?,
            body: head.body,
            follow: match head.redirect {
                RedirectPolicy::Manual => None,
                RedirectPolicy::Follow(n) => Some(n.min(limits.redirects)),
            },
            total: shorter(head.max_time_ms, limits.total),
            connect: shorter(head.connect_time_ms, limits.connect),
        })
    }

    /// Returns the request to which a redirect leads, or `None` if the response is not a redirect.
    /// Follows the Fetch standard, section "HTTP-redirect fetch", and also drops Cookie if the
    /// redirect leads to another origin.
    pub(crate) fn follow_redirect(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, RequestError> {
        if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let mut locations = headers.get_all(header::LOCATION).iter();
        let Some(location) = locations.next() else { return Ok(None) };
        if locations.any(|other| other != location) {
            return Err(RequestError::Malformed("several Location headers".into()));
        }
        let text = std::str::from_utf8(location.as_bytes())
            .map_err(|_| RequestError::Url(UrlFault::Character))?;
        let joined = self.url.join(text).map_err(|_| RequestError::Url(UrlFault::Syntax))?;
        let mut next = self.clone();
        next.url = parse_url(joined.as_str())?;
        let rewrite = match status.as_u16() {
            301 | 302 => self.method == Method::POST,
            303 => self.method != Method::GET && self.method != Method::HEAD,
            _ => false,
        };
        if rewrite {
            next.method = Method::GET;
            next.body = BodyLength::None;
            for name in [
                header::CONTENT_ENCODING,
                header::CONTENT_LANGUAGE,
                header::CONTENT_LOCATION,
                header::CONTENT_TYPE,
            ] {
                next.headers.remove(name);
            }
        }
        if self.url.origin() != next.url.origin() {
            next.headers.remove(header::AUTHORIZATION);
            next.headers.remove(header::COOKIE);
        }
        Ok(Some(next))
    }
}

fn parse_method(text: &str) -> Result<Method, RequestError> {
    let refused = || RequestError::Method(text.chars().take(MAX_METHOD).collect());
    // CONNECT would open a tunnel; TRACE would send the policy's headers back.
    let never = ["CONNECT", "TRACE", "TRACK", "PRI"];
    if text.len() > MAX_METHOD || never.iter().any(|n| n.eq_ignore_ascii_case(text)) {
        return Err(refused());
    }
    Method::from_bytes(text.as_bytes()).map_err(|_| refused())
}

/// Parses a URL into the one form that is judged, resolved, sent and logged.
pub(crate) fn parse_url(text: &str) -> Result<Url, RequestError> {
    let fault = |fault| RequestError::Url(fault);
    if text.len() > MAX_URL {
        return Err(fault(UrlFault::Long));
    }
    // The parser of this crate would skip these bytes, but another one might not.
    if text.bytes().any(|b| b <= b' ' || b == 0x7f) {
        return Err(fault(UrlFault::Character));
    }
    let mut url = Url::parse(text).map_err(|_| fault(UrlFault::Syntax))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(RequestError::Scheme(url.scheme().chars().take(40).collect()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(fault(UrlFault::User));
    }
    match url.host() {
        None => return Err(fault(UrlFault::Host)),
        Some(Host::Domain(_)) => {
            let name = plain_name(&url).ok_or_else(|| fault(UrlFault::Host))?;
            url.set_host(Some(&name)).map_err(|_| fault(UrlFault::Host))?;
        }
        Some(_) => {}
    }
    if url.port() == Some(0) {
        return Err(fault(UrlFault::Host));
    }
    url.set_fragment(None);
    // The only character that a URL may keep but a request line must not contain.
    if let Some(query) = url.query().filter(|q| q.contains('`')) {
        let query = query.replace('`', "%60");
        url.set_query(Some(&query));
    }
    if url.as_str().len() > MAX_URL {
        return Err(fault(UrlFault::Long));
    }
    crate::path::PathReadings::from_path(url.path()).ok_or_else(|| fault(UrlFault::Path))?;
    Ok(url)
}

fn parse_headers(all: &[Header], limits: &BridgeLimits) -> Result<HeaderMap, RequestError> {
    let refused =
        |name: &str, fault| RequestError::Header { name: name.chars().take(80).collect(), fault };
    let bytes: usize = all.iter().map(|h| h.name.len() + h.value.len() + 4).sum();
    if all.len() > limits.headers as usize || bytes > limits.header_bytes as usize {
        return Err(refused("", HeaderFault::Size));
    }
    let mut out = HeaderMap::with_capacity(all.len());
    for one in all {
        let name = HeaderName::from_bytes(one.name.as_bytes())
            .map_err(|_| refused(&one.name, HeaderFault::Name))?;
        if is_reserved_header(&name) || overrides_request(&name) {
            return Err(refused(&one.name, HeaderFault::Ours));
        }
        let value = HeaderValue::from_bytes(&one.value)
            .map_err(|_| refused(&one.name, HeaderFault::Value))?;
        out.append(name, value);
    }
    Ok(out)
}

/// Returns whether a header determines where a message ends or which host it is for, or concerns
/// one connection only.
pub(crate) fn is_reserved_header(name: &HeaderName) -> bool {
    hop_by_hop(name)
        || *name == header::HOST
        || *name == header::CONTENT_LENGTH
        || *name == header::EXPECT
        || name.as_str() == "http2-settings"
}

/// Returns whether frameworks or proxies take the method, the host or the path from this header and
/// not from the request that the rules have judged.
fn overrides_request(name: &HeaderName) -> bool {
    // Gateways that pass headers on as variables (RFC 3875, 4.1.18) do not distinguish `_` from
    // `-`.
    let name = name.as_str().replace('_', "-");
    OVERRIDES.contains(&name.as_str())
}

/// Returns whether a header concerns one connection (RFC 9110, 7.6.1).
pub(crate) fn hop_by_hop(name: &HeaderName) -> bool {
    [header::CONNECTION, header::TE, header::TRAILER, header::TRANSFER_ENCODING, header::UPGRADE]
        .contains(name)
        || name.as_str() == "keep-alive"
        || name.as_str().starts_with("proxy-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(head: &RequestHead) -> Result<GuestRequest, RequestError> {
        GuestRequest::new(head, &BridgeLimits::default())
    }

    #[test]
    fn urls_have_one_form() {
        for (text, form) in [
            ("http://EXAMPLE.com", "http://example.com/"),
            ("https://example.com.:443/a/../b#f", "https://example.com/b"),
            ("http://a.com\\@b.com/", "http://a.com/@b.com/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("http://017700000001/", "http://127.0.0.1/"),
            ("http://127.1/", "http://127.0.0.1/"),
            ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
            ("http://a.com/?q=`", "http://a.com/?q=%60"),
            ("http://%61.com/", "http://a.com/"),
        ] {
            assert_eq!(parse_url(text).map(String::from).as_deref(), Ok(form), "{text}");
            let request: Result<http::Uri, _> = form.parse();
            assert!(request.is_ok(), "{form}");
        }
        let long = format!("http://a.com/{}", "x".repeat(MAX_URL));
        for (text, code) in [
            ("", 3),
            ("/path", 3),
            ("http://", 3),
            ("http://a b/", 3),
            ("http://a.com/\r\nX: y", 3),
            ("http://a.com/\tx", 3),
            (" http://a.com/", 3),
            ("http://u@a.com/", 3),
            ("http://u:p@a.com/", 3),
            ("http://a..com/", 3),
            ("http://../", 3),
            ("http://a.com../", 3),
            ("http://1.2.3.4.5/", 3),
            ("http://256.1.1.1/", 3),
            ("http://a.com:0/", 3),
            ("http://a.com:99999/", 3),
            ("http://a%00b/", 3),
            ("http://a.com/%00", 3),
            (&long, 3),
            ("file:///etc/passwd", 1),
            ("ftp://a.com/", 1),
            ("gopher://a.com/", 1),
            ("data:text/plain,x", 1),
        ] {
            assert_eq!(parse_url(text).map_err(|e| e.curl_code()).err(), Some(code), "{text:?}");
        }
    }

    /// All printable characters in a path and a query can be sent.
    #[test]
    fn every_url_is_a_request_line() {
        let printable: String = (0x21..0x7f).map(|b| b as u8 as char).collect();
        for b in printable.chars().chain(['é', '\u{1f600}', '\u{202e}']) {
            let one = parse_url(&format!("http://a.com/x{b}y?x{b}y"));
            let one = one.unwrap();
            assert!(one.as_str().parse::<http::Uri>().is_ok(), "{b:?} {one}");
        }
    }

    #[test]
    fn headers_cannot_be_injected() {
        use HeaderFault as F;
        for (name, value, fault) in [
            ("X", "a\r\nHost: evil", F::Value),
            ("X", "a\nb", F::Value),
            ("X", "a\rb", F::Value),
            ("X", "a\0b", F::Value),
            ("X", "a\x7fb", F::Value),
            ("X: y\r\nZ", "a", F::Name),
            ("", "a", F::Name),
            ("X ", "a", F::Name),
            ("X\tY", "a", F::Name),
            (":authority", "a", F::Name),
            ("Host", "evil", F::Ours),
            ("hOST", "evil", F::Ours),
            ("Content-Length", "5", F::Ours),
            ("Transfer-Encoding", "chunked", F::Ours),
            ("Connection", "X-Key", F::Ours),
            ("X-HTTP-Method-Override", "DELETE", F::Ours),
            ("x_http_method_override", "DELETE", F::Ours),
            ("X-Original-URL", "/admin", F::Ours),
            ("X-Rewrite-URL", "/admin", F::Ours),
            ("X-Forwarded-Host", "internal", F::Ours),
            ("Forwarded", "host=internal", F::Ours),
            ("Keep-Alive", "x", F::Ours),
            ("Proxy-Authorization", "x", F::Ours),
            ("Proxy-Connection", "x", F::Ours),
            ("TE", "trailers", F::Ours),
            ("Trailer", "x", F::Ours),
            ("Upgrade", "h2c", F::Ours),
            ("HTTP2-Settings", "x", F::Ours),
            ("Expect", "100-continue", F::Ours),
        ] {
            let head = RequestHead::new("GET", "http://a.com/").with_header(name, value);
            let expected = RequestError::Header { name: name.into(), fault };
            assert_eq!(request(&head).err(), Some(expected), "{name:?}: {value:?}");
        }
        let good = RequestHead::new("GET", "http://a.com/").with_header("X", "a\tb");
        assert!(request(&good).is_ok());
        let mut many = RequestHead::new("GET", "http://a.com/");
        for _ in 0..101 {
            many = many.with_header("X", "a");
        }
        assert!(request(&many).is_err());
        let long = RequestHead::new("GET", "http://a.com/").with_header("X", &"a".repeat(70_000));
        assert!(request(&long).is_err());
    }

    #[test]
    fn methods() {
        for good in ["GET", "PROPFIND", "purge", "M-SEARCH"] {
            assert!(request(&RequestHead::new(good, "http://a.com/")).is_ok(), "{good}");
        }
        for bad in ["", "GET /", "G\r\nET", "CONNECT", "connect", "TRACE", "Trace", "PRI"] {
            assert!(request(&RequestHead::new(bad, "http://a.com/")).is_err(), "{bad:?}");
        }
    }

    /// The tables of the Fetch standard.
    #[test]
    fn redirects_are_rewritten_as_browsers_do() {
        for (method, status, becomes) in [
            ("GET", 301, "GET"),
            ("POST", 301, "GET"),
            ("PUT", 301, "PUT"),
            ("HEAD", 302, "HEAD"),
            ("POST", 302, "GET"),
            ("DELETE", 302, "DELETE"),
            ("POST", 303, "GET"),
            ("PUT", 303, "GET"),
            ("HEAD", 303, "HEAD"),
            ("POST", 307, "POST"),
            ("POST", 308, "POST"),
        ] {
            let mut head = RequestHead::new(method, "https://a.com/x")
                .with_header("Content-Type", "text/plain")
                .with_header("Authorization", "mine")
                .with_header("Cookie", "mine");
            head.body = BodyLength::Bytes(3);
            let to = |location: &'static str| {
                let location =
                    HeaderMap::from_iter([(header::LOCATION, HeaderValue::from_static(location))]);
                let status = StatusCode::from_u16(status).unwrap();
                request(&head).unwrap().follow_redirect(status, &location).unwrap().unwrap()
            };
            let next = to("/y");
            assert_eq!(next.method.as_str(), becomes, "{method} {status}");
            assert_eq!(next.url.as_str(), "https://a.com/y");
            let kept = becomes == method;
            assert_eq!(next.headers.contains_key("content-type"), kept, "{method} {status}");
            assert_eq!(next.body == BodyLength::Bytes(3), kept);
            assert!(next.headers.contains_key("authorization"));
            for elsewhere in
                ["https://b.com/", "http://a.com/", "https://a.com:8443/", "//x.a.com/"]
            {
                let next = to(elsewhere);
                assert!(!next.headers.contains_key("authorization"), "{elsewhere}");
                assert!(!next.headers.contains_key("cookie"), "{elsewhere}");
            }
        }
    }
}
