//! The request of one hop: its method, its headers in wget's order, its body.

use std::path::PathBuf;

use box_applet::Ctx;
use box_sys::http::{Header, HttpRequest};
use box_text::base64::encode_base64;

use super::VERSION;
use super::options::WgetOptions;
use crate::data::{BodyPiece, RequestBody};
use crate::request::is_the_hosts;
use crate::url::Url;

/// The request that is sent next.
#[derive(Clone, Debug)]
pub(super) struct WgetHop {
    pub(super) url: Url,
    pub(super) method: Vec<u8>,
    pub(super) body: RequestBody,
    /// Whether user and password are sent with it.
    pub(super) authorized: bool,
    first: Url,
}

/// The parts of a request that differ from try to try.
#[derive(Debug, Default)]
pub(super) struct TryExtras {
    pub(super) start: u64,
    pub(super) since: Option<String>,
    pub(super) cookie: Option<Vec<u8>>,
}

/// The name of a file of `--post-file` that does not exist.
pub(super) struct MissingPostFile(pub(super) Vec<u8>);

impl WgetHop {
    pub(super) fn first(
        ctx: &Ctx<'_>,
        asked: &WgetOptions,
        url: Url,
    ) -> Result<WgetHop, MissingPostFile> {
        let posts = asked.post.is_some() || asked.post_file.is_some();
        let method = match &asked.method {
            Some(method) => method.to_ascii_uppercase(),
            None if posts => b"POST".to_vec(),
            None if asked.spider => b"HEAD".to_vec(),
            None => b"GET".to_vec(),
        };
        let text = asked.post.as_ref().or(asked.body.as_ref());
        let file = asked.post_file.as_ref().or(asked.body_file.as_ref());
        let body = match (text, file) {
            (Some(text), _) => RequestBody::Pieces(vec![BodyPiece::Bytes(text.clone())]),
            (None, Some(name)) => {
                file_body(ctx.path(name)).ok_or_else(|| MissingPostFile(name.clone()))?
            }
            (None, None) => RequestBody::None,
        };
        let authorized = asked.no_challenge;
        Ok(WgetHop { first: url.clone(), url, method, body, authorized })
    }

    /// Returns the request that follows a redirect. Only 307 and 308 keep method and body.
    pub(super) fn follow_redirect(&self, status: u16, url: Url) -> WgetHop {
        let mut next = WgetHop { url, ..self.clone() };
        if !matches!(status, 307 | 308) && self.method != b"HEAD" {
            next.method = b"GET".to_vec();
            next.body = RequestBody::None;
        }
        if !next.is_at_home() {
            next.authorized = false;
        }
        next
    }

    /// Returns whether the request goes to the origin that the command line names.
    pub(super) fn is_at_home(&self) -> bool {
        self.url.same_origin(&self.first)
    }

    /// Returns user and password, from the URL or the options.
    pub(super) fn user_and_password(&self, asked: &WgetOptions) -> Option<Vec<u8>> {
        let (user, password) = match &self.url.user {
            Some((user, password)) => (user.clone(), password.clone()),
            None if self.is_at_home() => {
                (asked.user.clone()?, asked.password.clone().unwrap_or_default())
            }
            None => return None,
        };
        Some([user, b":".to_vec(), password].concat())
    }

    pub(super) fn to_request(&self, asked: &WgetOptions, extra: &TryExtras) -> HttpRequest {
        let mut headers: Vec<Header> = Vec::new();
        let mut set = |name: &str, value: &[u8]| headers.push((name.into(), value.to_vec()));
        if let Some(referer) = &asked.referer {
            set("Referer", referer);
        }
        if let Some(since) = &extra.since {
            set("If-Modified-Since", since.as_bytes());
        }
        if extra.start > 0 {
            set("Range", format!("bytes={}-", extra.start).as_bytes());
        }
        let agent = format!("Wget/{VERSION}").into_bytes();
        match asked.agent.as_ref().unwrap_or(&agent) {
            none if none.is_empty() => {}
            agent => set("User-Agent", agent),
        }
        set("Accept", b"*/*");
        set("Accept-Encoding", b"identity");
        if let Some(user) = self.user_and_password(asked).filter(|_| self.authorized) {
            set("Authorization", &[b"Basic ", encode_base64(&user).as_bytes()].concat());
        }
        if self.body != RequestBody::None {
            set("Content-Type", b"application/x-www-form-urlencoded");
        }
        if let Some(cookie) = &extra.cookie {
            set("Cookie", cookie);
        }
        for line in &asked.headers {
            add_custom_header(&mut headers, line, self.is_at_home());
        }
        HttpRequest {
            method: self.method.clone(),
            url: self.url.text(),
            headers,
            body: self.body.len(),
            redirects: 0,
            time: 0,
            connect_time: (asked.timeout.max(asked.connect_timeout) * 1000.0) as u64,
        }
    }
}

/// Adds a header of `--header`, which replaces one of the same name. Secrets are sent only to the
/// origin that the command line names.
fn add_custom_header(headers: &mut Vec<Header>, line: &[u8], at_home: bool) {
    let Some(at) = line.iter().position(|b| *b == b':') else { return };
    let (name, value) = (line[..at].trim_ascii(), line[at + 1..].trim_ascii());
    let is_secret =
        name.eq_ignore_ascii_case(b"authorization") || name.eq_ignore_ascii_case(b"cookie");
    if is_the_hosts(name) || name.eq_ignore_ascii_case(b"host") || (is_secret && !at_home) {
        return;
    }
    headers.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
    headers.push((name.to_vec(), value.to_vec()));
}

fn file_body(path: PathBuf) -> Option<RequestBody> {
    let meta = std::fs::metadata(&path).ok()?;
    if meta.is_file() {
        return Some(RequestBody::Pieces(vec![BodyPiece::File(path, meta.len())]));
    }
    (!meta.is_dir()).then_some(RequestBody::Stream(path))
}
