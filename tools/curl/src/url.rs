//! URLs: parsed, assembled, joined with a `Location` (RFC 3986, 5.2). The host parses them again
//! with its own parser and checks the result.

use crate::error::CurlError;

/// An absolute URL of http or https, without its fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) https: bool,
    /// User and password, decoded.
    pub(crate) user: Option<(Vec<u8>, Vec<u8>)>,
    pub(crate) host: Vec<u8>,
    pub(crate) port: Option<u16>,
    /// The path, which begins with a slash.
    pub(crate) path: Vec<u8>,
    /// The query, without its `?`.
    pub(crate) query: Option<Vec<u8>>,
}

impl Url {
    /// Parses a URL as users type it: `http://` may be missing.
    pub(crate) fn parse(text: &[u8]) -> Result<Url, CurlError> {
        if text.iter().any(|b| *b <= b' ' || *b == 0x7f) {
            return Err(CurlError::Url);
        }
        let (scheme, rest) = split_scheme(text);
        let https = match scheme.to_ascii_lowercase().as_slice() {
            b"http" | b"" => false,
            b"https" => true,
            other => return Err(CurlError::Protocol(String::from_utf8_lossy(other).into_owned())),
        };
        let end = rest.iter().position(|b| b"/?#".contains(b)).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (user, place) = match authority.iter().rposition(|b| *b == b'@') {
            Some(at) => (Some(split_user(&authority[..at])), &authority[at + 1..]),
            None => (None, authority),
        };
        let (host, port) = parse_host(place)?;
        let (path, query) = split_path(rest);
        Ok(Url { https, user, host, port, path, query })
    }

    /// Resolves a `Location` against this URL.
    pub(crate) fn join(&self, location: &[u8]) -> Result<Url, CurlError> {
        let to: Vec<u8> = escape_blanks(location.trim_ascii());
        if has_scheme(&to) {
            return Url::parse(&to);
        }
        if to.starts_with(b"//") {
            let scheme: &[u8] = if self.https { b"https:" } else { b"http:" };
            return Url::parse(&[scheme, &to].concat());
        }
        let mut next = Url { user: None, ..self.clone() };
        let (raw, query) = split_query(&to);
        next.query = if raw.is_empty() && query.is_none() { self.query.clone() } else { query };
        if raw.starts_with(b"/") {
            next.path = without_dots(raw);
        } else if !raw.is_empty() {
            let folder = self.path.iter().rposition(|b| *b == b'/').map_or(0, |at| at + 1);
            next.path = without_dots(&[&self.path[..folder], raw].concat());
        }
        Ok(next)
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.https { "https" } else { "http" }
    }

    /// Returns the port of the connection.
    pub(crate) fn port(&self) -> u16 {
        self.port.unwrap_or(if self.https { 443 } else { 80 })
    }

    /// Returns `HOST`, or `HOST:PORT` if the port is not the scheme's.
    pub(crate) fn authority(&self) -> Vec<u8> {
        let mut out = self.host.clone();
        if let Some(port) = self.port.filter(|p| *p != if self.https { 443 } else { 80 }) {
            out.extend(format!(":{port}").as_bytes());
        }
        out
    }

    /// Returns path and query, as in a request line.
    pub(crate) fn target(&self) -> Vec<u8> {
        let mut out = self.path.clone();
        if let Some(query) = &self.query {
            out.push(b'?');
            out.extend(query);
        }
        out
    }

    /// Returns the URL for the host, without user and password.
    pub(crate) fn text(&self) -> Vec<u8> {
        let mut out = format!("{}://", self.scheme()).into_bytes();
        out.extend(self.authority());
        out.extend(self.target());
        out
    }

    /// Returns whether the other has the same scheme, host and port.
    pub(crate) fn same_origin(&self, other: &Url) -> bool {
        self.https == other.https
            && self.host.eq_ignore_ascii_case(&other.host)
            && self.port() == other.port()
    }

    /// Appends to the query.
    pub(crate) fn add_query(&mut self, more: &[u8]) {
        let query = self.query.get_or_insert_default();
        if !query.is_empty() {
            query.push(b'&');
        }
        query.extend(more);
    }

    /// Returns the text after the path's last slash.
    pub(crate) fn file_name(&self) -> &[u8] {
        let at = self.path.iter().rposition(|b| *b == b'/').map_or(0, |at| at + 1);
        &self.path[at..]
    }
}

fn scheme_end(text: &[u8]) -> Option<usize> {
    let end = text.iter().position(|b| !b.is_ascii_alphanumeric() && !b"+-.".contains(b))?;
    (end > 0 && text[0].is_ascii_alphabetic() && text[end..].starts_with(b":")).then_some(end)
}

fn has_scheme(text: &[u8]) -> bool {
    scheme_end(text).is_some_and(|end| text[end..].starts_with(b"://"))
}

/// Splits off the scheme, which is empty if there is none, and returns it with the text after its
/// slashes. curl accepts one to three slashes.
fn split_scheme(text: &[u8]) -> (&[u8], &[u8]) {
    let Some(end) = scheme_end(text) else { return (b"", text) };
    let rest = &text[end + 1..];
    let slashes = rest.iter().take_while(|b| **b == b'/').count();
    match slashes {
        0 => (b"", text),
        n => (&text[..end], &rest[n.min(3)..]),
    }
}

fn split_user(text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (user, password) = match text.iter().position(|b| *b == b':') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &b""[..]),
    };
    (percent_decode(user), percent_decode(password))
}

fn parse_host(place: &[u8]) -> Result<(Vec<u8>, Option<u16>), CurlError> {
    let end = match place.iter().position(|b| *b == b']') {
        Some(at) if place[0] == b'[' => at + 1,
        Some(_) => return Err(CurlError::Url),
        None => place.iter().position(|b| *b == b':').unwrap_or(place.len()),
    };
    let (host, port) = place.split_at(end);
    if host.is_empty() {
        return Err(CurlError::Url);
    }
    let port = match port {
        b"" | b":" => None,
        [b':', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            Some(parse_port(digits).ok_or(CurlError::Url)?)
        }
        _ => return Err(CurlError::Url),
    };
    Ok((host.to_vec(), port))
}

fn parse_port(digits: &[u8]) -> Option<u16> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Splits the text after the host into path and query.
fn split_path(rest: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
    let rest = escape_high(rest);
    let (path, query) = split_query(&rest);
    (without_dots(path), query)
}

fn split_query(text: &[u8]) -> (&[u8], Option<Vec<u8>>) {
    let end = text.iter().position(|b| *b == b'#').unwrap_or(text.len());
    let text = &text[..end];
    match text.iter().position(|b| *b == b'?') {
        Some(at) => (&text[..at], Some(text[at + 1..].to_vec())),
        None => (text, None),
    }
}

/// Removes dot segments (RFC 3986, 5.2.4); the result always begins with a slash.
fn without_dots(path: &[u8]) -> Vec<u8> {
    let mut out: Vec<&[u8]> = Vec::new();
    let mut parts = path.strip_prefix(b"/").unwrap_or(path).split(|b| *b == b'/').peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match part {
            b"." => {}
            b".." => {
                out.pop();
            }
            _ => {
                out.push(part);
                continue;
            }
        }
        if last {
            out.push(b"");
        }
    }
    [b"/", out.join(&b'/').as_slice()].concat()
}

fn escape_high(text: &[u8]) -> Vec<u8> {
    escape_where(text, |b| b >= 0x80)
}

fn escape_blanks(text: &[u8]) -> Vec<u8> {
    escape_where(text, |b| b >= 0x80 || b == b' ')
}

fn escape_where(text: &[u8], which: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for b in text {
        if which(*b) {
            out.extend(format!("%{b:02X}").as_bytes());
        } else {
            out.push(*b);
        }
    }
    out
}

/// Percent-encodes everything except letters, digits and `-._~`.
pub(crate) fn percent_encode(text: &[u8]) -> Vec<u8> {
    escape_where(text, |b| !b.is_ascii_alphanumeric() && !b"-._~".contains(&b))
}

/// Decodes each percent sign with two hexadecimal digits, for example `%20` to a space.
pub(crate) fn percent_decode(text: &[u8]) -> Vec<u8> {
    let hex = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match (first, behind) {
            (b'%', [a, b, after @ ..]) if hex(*a).is_some() && hex(*b).is_some() => {
                out.push(hex(*a).unwrap_or(0) << 4 | hex(*b).unwrap_or(0));
                rest = after;
            }
            _ => out.push(*first),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(url: &str) -> String {
        match Url::parse(url.as_bytes()) {
            Ok(url) => String::from_utf8(url.text()).unwrap(),
            Err(e) => format!("{}", e.code()),
        }
    }

    /// Expected values: `curl -w '%{url_effective}'` and its statuses.
    #[test]
    fn urls_as_curl_reads_them() {
        for (given, read) in [
            ("127.0.0.1:8971/../x/./y/../z#frag", "http://127.0.0.1:8971/x/z"),
            ("localhost:80", "http://localhost/"),
            ("HTTPS://a.b", "https://a.b/"),
            ("http://u:p@a.b:81?q", "http://a.b:81/?q"),
            ("http://[::1]:8/", "http://[::1]:8/"),
            ("http:/a.b/c", "http://a.b/c"),
            ("http://a/é", "http://a/%C3%A9"),
            ("http://a/x/..", "http://a/"),
            ("http://a//b//", "http://a//b//"),
            ("", "3"),
            ("http://", "3"),
            ("http://a b/", "3"),
            ("http://a:b/", "3"),
            ("http://a:99999/", "3"),
            ("ftp:/", "1"),
            ("foo://x/", "1"),
            ("file:///etc/passwd", "1"),
        ] {
            assert_eq!(text(given), read, "{given}");
        }
        let user = Url::parse(b"http://a%40b:c%2@h/").unwrap().user;
        assert_eq!(user, Some((b"a@b".to_vec(), b"c%2".to_vec())));
    }

    /// Expected values: RFC 3986, 5.4.
    #[test]
    fn references_are_resolved() {
        let base = Url::parse(b"http://a/b/c/d;p?q").unwrap();
        for (reference, to) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../g", "http://a/g"),
            ("https://x/y z", "https://x/y%20z"),
        ] {
            let to_text = base.join(reference.as_bytes()).unwrap().text();
            assert_eq!(String::from_utf8(to_text).unwrap(), to, "{reference}");
        }
        assert_eq!(base.join(b"ftp://x/").unwrap_err().code(), 1);
    }
}
