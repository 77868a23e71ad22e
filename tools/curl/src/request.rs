//! One hop: its method, its headers in curl's order, and the next hop after a redirect.

use box_sys::http::{Header, HttpRequest};
use box_text::base64::encode_base64;

use crate::data::RequestBody;
use crate::options::CurlOperation;
use crate::run::VERSION;
use crate::url::Url;

/// A request that is sent next.
#[derive(Clone, Debug)]
pub(crate) struct CurlHop {
    pub(crate) method: Vec<u8>,
    pub(crate) url: Url,
    pub(crate) body: RequestBody,
    /// The `Content-Type` that goes with the kind of body.
    kind: Option<Vec<u8>>,
    referer: Option<Vec<u8>>,
    /// The URL whose host may receive the secrets of the command line.
    first: Url,
}

/// An `-H`, with its meaning resolved.
enum CustomHeader<'a> {
    Remove(&'a [u8]),
    Set(&'a [u8], &'a [u8]),
}

impl<'a> CustomHeader<'a> {
    fn parse(line: &'a [u8]) -> Option<CustomHeader<'a>> {
        if let Some(at) = line.iter().position(|b| *b == b':') {
            let (name, value) = (line[..at].trim_ascii(), line[at + 1..].trim_ascii());
            return Some(if value.is_empty() {
                CustomHeader::Remove(name)
            } else {
                CustomHeader::Set(name, value)
            });
        }
        let name = line.trim_ascii().strip_suffix(b";")?;
        Some(CustomHeader::Set(name, b""))
    }

    fn name(&self) -> &'a [u8] {
        match self {
            CustomHeader::Remove(name) | CustomHeader::Set(name, _) => name,
        }
    }
}

/// Returns whether the host writes this header itself and refuses it from guests, although curl
/// lets users set it.
pub(crate) fn is_the_hosts(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let names = [
        "connection",
        "content-length",
        "expect",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    names.iter().any(|n| n.as_bytes() == name) || name.starts_with(b"proxy-")
}

impl CurlHop {
    pub(crate) fn first(
        op: &CurlOperation,
        url: Url,
        body: RequestBody,
        kind: Option<Vec<u8>>,
    ) -> CurlHop {
        // With several URLs, only those that have a file to upload get it.
        let uploads = !op.uploads.is_empty() && body != RequestBody::None;
        let method = match &op.method {
            Some(method) => method.clone(),
            None if op.head => b"HEAD".to_vec(),
            None if uploads => b"PUT".to_vec(),
            None if (op.data.is_some() && !op.get) || !op.form.is_empty() => b"POST".to_vec(),
            None => b"GET".to_vec(),
        };
        let referer = op.referer.as_ref().map(|r| r.strip_suffix(b";auto").unwrap_or(r).to_vec());
        let referer = referer.filter(|r| !r.is_empty());
        CurlHop { method, first: url.clone(), url, body, kind, referer }
    }

    /// Returns the hop that follows a redirect. curl keeps the method of `-X`, and changes only
    /// POST to GET.
    pub(crate) fn follow_redirect(&self, op: &CurlOperation, status: u16, url: Url) -> CurlHop {
        let is_post = op.method.is_none() && self.method == b"POST";
        let (changes, loses) = match status {
            301 if !op.keep_post[0] => (is_post, true),
            302 if !op.keep_post[1] => (is_post, true),
            303 if !op.keep_post[2] => (op.method.is_none() && !op.head, true),
            _ => (false, false),
        };
        let mut next = CurlHop { url, ..self.clone() };
        if changes {
            next.method = b"GET".to_vec();
        }
        // PUT keeps its body unless the status is 303.
        if loses && (op.uploads.is_empty() || status == 303) {
            next.body = RequestBody::None;
            next.kind = next.kind.filter(|_| op.json);
        }
        if op.referer.as_ref().is_some_and(|r| r.ends_with(b";auto")) {
            next.referer = Some(self.url.text());
        }
        next
    }

    /// Returns whether the hop goes to the host of the first URL.
    pub(crate) fn is_at_home(&self) -> bool {
        self.url.same_origin(&self.first)
    }

    /// Returns the request for the host; the caller sets the time limits.
    pub(crate) fn to_request(
        &self,
        op: &CurlOperation,
        cookie: Option<Vec<u8>>,
        range: Option<&[u8]>,
    ) -> HttpRequest {
        let lines: Vec<CustomHeader<'_>> =
            op.headers.iter().filter_map(|l| CustomHeader::parse(l)).collect();
        let same = op.trusted || self.is_at_home();
        let mut headers: Vec<Header> = Vec::new();
        let mut put = |name: &str, value: Option<Vec<u8>>| {
            let named = |c: &CustomHeader<'_>| c.name().eq_ignore_ascii_case(name.as_bytes());
            if let Some(value) = value.filter(|_| !lines.iter().any(named)) {
                headers.push((name.as_bytes().to_vec(), value));
            }
        };
        let json = |text: &[u8]| op.json.then(|| text.to_vec());
        put("Authorization", self.authorization_header(op, same));
        put("Range", range.map(|r| [b"bytes=", r].concat()));
        let agent = op.agent.clone().unwrap_or_else(|| format!("curl/{VERSION}").into_bytes());
        put("User-Agent", Some(agent).filter(|a| !a.is_empty()));
        put("Accept", json(b"application/json").or(Some(b"*/*".to_vec())));
        put("Accept-Encoding", op.compressed.then(|| b"deflate, gzip".to_vec()));
        put("Referer", self.referer.clone());
        put("Cookie", cookie);
        put("Content-Type", self.kind.clone());
        let mut chunked = false;
        for line in &lines {
            let CustomHeader::Set(name, value) = line else { continue };
            chunked |= name.eq_ignore_ascii_case(b"transfer-encoding");
            let secret =
                [&b"authorization"[..], b"cookie"].iter().any(|s| name.eq_ignore_ascii_case(s));
            let own_host = name.eq_ignore_ascii_case(b"host") && **value == *self.url.authority();
            if !is_the_hosts(name) && !own_host && (same || !secret) {
                headers.push((name.to_vec(), value.to_vec()));
            }
        }
        let body = if chunked && self.body != RequestBody::None { None } else { self.body.len() };
        let (method, url) = (self.method.clone(), self.url.text());
        HttpRequest { method, url, headers, body, redirects: 0, time: 0, connect_time: 0 }
    }

    fn authorization_header(&self, op: &CurlOperation, same: bool) -> Option<Vec<u8>> {
        if let Some(token) = op.bearer.as_ref().filter(|_| same) {
            return Some([b"Bearer ", token.as_slice()].concat());
        }
        let in_url =
            self.url.user.as_ref().map(|(user, password)| [user, &b":"[..], password].concat());
        let given = op.user.as_ref().filter(|_| same).map(|user| {
            if user.contains(&b':') { user.clone() } else { [user, &b":"[..]].concat() }
        });
        let kept = self.first.user.as_ref().filter(|_| same);
        let kept = kept.map(|(user, password)| [user, &b":"[..], password].concat());
        let user = given.or(in_url).or(kept)?;
        Some([&b"Basic "[..], encode_base64(&user).as_bytes()].concat())
    }

    /// Returns the head as it is sent, for display (`-v`).
    pub(crate) fn head_text(&self, request: &HttpRequest) -> Vec<u8> {
        let mut out =
            [&request.method, &b" "[..], &self.url.target(), b" HTTP/1.1\r\nHost: "].concat();
        out.extend(self.url.authority());
        out.extend(b"\r\n");
        for (name, value) in &request.headers {
            out.extend([name, &b": "[..], value, b"\r\n"].concat());
        }
        match request.body {
            Some(n) if self.body != RequestBody::None => {
                out.extend(format!("Content-Length: {n}\r\n").as_bytes());
            }
            None => out.extend(b"Transfer-Encoding: chunked\r\n"),
            Some(_) => {}
        }
        out.extend(b"\r\n");
        out
    }
}
