//! The ways in which servers may read a path, and the checks of all these readings against a
//! prefix.
//!
//! Servers disagree on the meaning of `%2f`, `%252e`, `\`, `//` and `;x`, and a rule cannot know
//! which server it guards. So a path has several readings: not decoded, decoded once, decoded twice
//! and so on, and each of these as strict servers and as the most lenient servers read it. An
//! allowing rule requires that **all** of them lie below its prefix; for a denying rule **one** is
//! enough.

/// Characters whose encoding no server treats as equivalent. All other bytes are decoded in every
/// reading.
const SPECIAL: &str = "/\\%;\0";
/// The maximum number of times that a path is decoded; no legitimate path needs more.
const MAX_DECODINGS: usize = 4;

/// All readings of one path.
#[derive(Debug)]
pub(crate) struct PathReadings(Vec<Vec<u8>>);

/// The beginning of a path in whole segments, in decoded form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PathPrefix(Vec<u8>);

impl PathPrefix {
    /// Returns the prefix that `path` names; `None` unless it has a single reading.
    pub(crate) fn new(path: &str) -> Option<Self> {
        let all = PathReadings::from_path(path)?;
        let decoded = decode_percent(path.as_bytes(), "");
        let plain = all.0.iter().all(|r| *r == decoded) && !decoded.contains(&b'%');
        plain.then_some(Self(decoded))
    }

    /// Returns the prefix of every path.
    pub(crate) fn every_path() -> Self {
        Self(b"/".to_vec())
    }

    /// Returns the decoded path.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn covers(&self, path: &[u8]) -> bool {
        let Some(rest) = path.strip_prefix(self.0.as_slice()) else { return false };
        self.0.ends_with(b"/") || rest.is_empty() || rest.starts_with(b"/")
    }
}

impl PathReadings {
    /// Returns the readings of the path of a parsed URL; `None` if it needs too many decodings.
    pub(crate) fn from_path(path: &str) -> Option<Self> {
        let mut out: Vec<Vec<u8>> = Vec::new();
        let mut level = decode_percent(path.as_bytes(), SPECIAL);
        for _ in 0..=MAX_DECODINGS {
            if level.contains(&0) {
                return None;
            }
            for reading in [resolve_dots(&level, false), resolve_dots(&lenient_form(&level), true)]
            {
                if !out.contains(&reading) {
                    out.push(reading);
                }
            }
            let next = decode_percent(&level, "");
            if next == level {
                return Some(Self(out));
            }
            level = next;
        }
        None
    }

    /// Returns the reading of a path that no server can read differently.
    pub(crate) fn single(&self) -> Option<&[u8]> {
        match self.0.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns all readings.
    pub(crate) fn all(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// Returns whether every reading lies below the prefix.
    pub(crate) fn is_within(&self, prefix: &PathPrefix) -> bool {
        self.0.iter().all(|r| prefix.covers(r))
    }

    /// Returns whether any reading lies below the prefix, ignoring case; `/x` also counts for a
    /// prefix `/x/`.
    pub(crate) fn touches_prefix(&self, prefix: &PathPrefix) -> bool {
        let folded = PathPrefix(prefix.0.to_ascii_lowercase());
        let bare = PathPrefix(folded.0.strip_suffix(b"/").unwrap_or(&folded.0).to_vec());
        self.0.iter().map(|r| r.to_ascii_lowercase()).any(|r| folded.covers(&r) || bare.0 == r)
    }
}

/// Decodes every `%XX` except those of bytes in `special`; other `%` stay.
pub(crate) fn decode_percent(path: &[u8], special: &str) -> Vec<u8> {
    let hex = |b: Option<&u8>| b.and_then(|b| char::from(*b).to_digit(16));
    let mut out = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(&b) = path.get(at) {
        match (b, hex(path.get(at + 1)), hex(path.get(at + 2))) {
            (b'%', Some(high), Some(low))
                if !special.as_bytes().contains(&((high * 16 + low) as u8)) =>
            {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(b);
                at += 1;
            }
        }
    }
    out
}

/// Converts a path as the most lenient servers do: backslashes are slashes, overlong UTF-8 is
/// decoded, and parameters after `;` are not part of a segment's name.
fn lenient_form(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    let mut parameters = false;
    let mut at = 0;
    while let Some(&b) = path.get(at) {
        let (b, width) = match (b, path.get(at + 1)) {
            (b'\\', _) => (b'/', 1),
            (0xc0, Some(0xaf)) | (0xc1, Some(0x9c)) => (b'/', 2),
            (0xc0, Some(0xae)) => (b'.', 2),
            _ => (b, 1),
        };
        at += width;
        parameters = b == b';' || (parameters && b != b'/');
        if !parameters {
            out.push(b);
        }
    }
    out
}

/// Removes dot segments (RFC 3986, 5.2.4), and with `merge` empty segments as well.
fn resolve_dots(path: &[u8], merge: bool) -> Vec<u8> {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut segments = path.split(|b| *b == b'/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            b"." | b".." => {
                if segment == b".." {
                    kept.pop();
                }
                if last {
                    kept.push(b"");
                }
            }
            b"" if merge && !last => {}
            _ => kept.push(segment),
        }
    }
    let mut out = Vec::with_capacity(path.len() + 1);
    for segment in kept {
        out.push(b'/');
        out.extend_from_slice(segment);
    }
    if out.is_empty() { b"/".to_vec() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> PathPrefix {
        PathPrefix::new(text).unwrap_or_else(|| panic!("{text} is a prefix"))
    }
    fn within(path: &str, beneath: &str) -> bool {
        PathReadings::from_path(path).is_some_and(|r| r.is_within(&prefix(beneath)))
    }
    fn touches(path: &str, beneath: &str) -> bool {
        PathReadings::from_path(path).is_none_or(|r| r.touches_prefix(&prefix(beneath)))
    }

    #[test]
    fn paths_beneath_a_prefix() {
        for (path, beneath) in [
            ("/api/", "/api/"),
            ("/api/x", "/api/"),
            ("/api/x/../y", "/api/"),
            ("/api", "/api"),
            ("/api/x", "/api"),
            ("/api/a%20b", "/api/"),
            ("/api/a%2fb", "/api/"),
            ("/api/100%", "/api/"),
            ("/%61pi/x", "/"),
            ("/anything//at;all", "/"),
            ("/a%c3%a9/x", "/a%c3%a9/"),
        ] {
            assert!(within(path, beneath), "{path} in {beneath}");
        }
    }

    #[test]
    fn paths_that_slip_out() {
        for path in [
            "/apix",
            "/api",
            "/x",
            "/api/../x",
            "/api/..",
            "/api%2f..",
            "/api%2f../x",
            "/api/%2e%2e/x",
            "/api/.%2e/x",
            "/api/%252e%252e/x",
            "/api/%25252e%25252e/x",
            "/api/..%2fx",
            "/api/..%5cx",
            "/api/..\\x",
            "/api/..;a=b/x",
            "/api/;/../../x",
            "/api/%c0%ae%c0%ae/x",
            "/api/..%c0%afx",
            "/api/x%00/",
            "/api//../../x",
            "//api/",
            "/API/x",
            "/api/%2525252525252e",
        ] {
            assert!(!within(path, "/api/"), "{path}");
        }
    }

    #[test]
    fn one_reading_is_enough_to_deny() {
        for path in [
            "/admin/",
            "/admin",
            "/admin/x",
            "//admin/x",
            "/./admin/x",
            "/x/../admin/",
            "/x/..%2fadmin/",
            "/%61dmin/",
            "/%2561dmin/",
            "/ADMIN/x",
            "/admin;a/x",
            "/\\admin\\x",
            "/admin%2fx",
            "/%2fadmin/",
        ] {
            assert!(touches(path, "/admin/"), "{path}");
        }
        assert!(!touches("/administrator/", "/admin/"));
        assert!(!touches("/public/admin/", "/admin/"));
    }

    #[test]
    fn prefixes_have_one_reading() {
        for bad in ["/a%2fb", "/a/../b", "/a//b", "/a;b/", "/a\\b", "/%25", "/%00"] {
            assert!(PathPrefix::new(bad).is_none(), "{bad}");
        }
    }
}
