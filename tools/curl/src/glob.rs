//! URL globbing (curl(1), "GLOBBING"): `{a,b}`, `[1-10]`, `[001-100:2]`, `[a-z]`; `\` escapes a
//! character.

use crate::error::CurlError;

/// A part of a pattern.
#[derive(Debug, PartialEq, Eq)]
enum UrlPart {
    Text(Vec<u8>),
    Set(Vec<Vec<u8>>),
    Numbers { from: u64, to: u64, step: u64, width: usize },
    Letters { from: u8, to: u8, step: u8 },
}

/// A pattern for one or more URLs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UrlGlob(Vec<UrlPart>);

impl UrlPart {
    fn count(&self) -> u64 {
        match self {
            UrlPart::Text(_) => 1,
            UrlPart::Set(all) => all.len() as u64,
            UrlPart::Numbers { from, to, step, .. } => ((to - from) / step).saturating_add(1),
            UrlPart::Letters { from, to, step } => u64::from((to - from) / step) + 1,
        }
    }

    fn nth_text(&self, n: u64) -> Vec<u8> {
        match self {
            UrlPart::Text(text) => text.clone(),
            UrlPart::Set(all) => all[n as usize].clone(),
            UrlPart::Numbers { from, step, width, .. } => {
                format!("{:0width$}", from + n * step, width = *width).into_bytes()
            }
            UrlPart::Letters { from, step, .. } => vec![from + (n as u8) * step],
        }
    }
}

/// One of the URLs, with the text chosen for each glob, for `#1` in `-o`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) url: Vec<u8>,
    pub(crate) places: Vec<Vec<u8>>,
}

impl Match {
    /// Replaces each `#N` in the name of an output file.
    pub(crate) fn fill_numbers(&self, name: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = name;
        while let Some((first, behind)) = rest.split_first() {
            let digits = behind.iter().take_while(|b| b.is_ascii_digit()).count();
            let n =
                std::str::from_utf8(&behind[..digits]).ok().and_then(|d| d.parse::<usize>().ok());
            let place = n.and_then(|n| self.places.get(n.checked_sub(1)?));
            match place {
                Some(place) if *first == b'#' => {
                    out.extend(place);
                    rest = &behind[digits..];
                }
                _ => {
                    out.push(*first);
                    rest = behind;
                }
            }
        }
        out
    }
}

impl UrlGlob {
    /// Returns a pattern for one literal URL (`-g`).
    pub(crate) fn literal(url: &[u8]) -> UrlGlob {
        UrlGlob(vec![UrlPart::Text(url.to_vec())])
    }

    pub(crate) fn parse(url: &[u8]) -> Result<UrlGlob, CurlError> {
        UrlGlobReader { url, at: 0 }.read_pattern().map_err(|(what, at)| CurlError::Glob {
            what,
            at: at + 1,
            url: String::from_utf8_lossy(url).into_owned(),
        })
    }

    /// Returns all URLs one after another; the last glob changes fastest.
    pub(crate) fn all_matches(&self) -> impl Iterator<Item = Match> + '_ {
        let total = self.0.iter().fold(1_u64, |n, part| n.saturating_mul(part.count()));
        (0..total).map(|n| self.nth_match(n))
    }

    fn nth_match(&self, mut n: u64) -> Match {
        let mut chosen = vec![0; self.0.len()];
        for (i, part) in self.0.iter().enumerate().rev() {
            chosen[i] = n % part.count();
            n /= part.count();
        }
        let mut out = Match::default();
        for (part, n) in self.0.iter().zip(chosen) {
            let text = part.nth_text(n);
            out.url.extend(&text);
            if !matches!(part, UrlPart::Text(_)) {
                out.places.push(text);
            }
        }
        out
    }
}

type Wrong = (&'static str, usize);

struct UrlGlobReader<'a> {
    url: &'a [u8],
    at: usize,
}

impl UrlGlobReader<'_> {
    fn read_pattern(mut self) -> Result<UrlGlob, Wrong> {
        let mut parts = Vec::new();
        let mut text = Vec::new();
        while let Some(b) = self.next() {
            let part = match b {
                b'[' if self.is_address() => {
                    text.push(b);
                    continue;
                }
                b'{' => self.set()?,
                b'[' => self.read_range()?,
                b'}' => return Err(("unmatched close brace/bracket", self.at - 1)),
                b'\\' if self.url.get(self.at).is_some_and(|b| b"{}[]".contains(b)) => {
                    text.extend(self.next());
                    continue;
                }
                _ => {
                    text.push(b);
                    continue;
                }
            };
            parts.push(UrlPart::Text(std::mem::take(&mut text)));
            parts.push(part);
        }
        parts.push(UrlPart::Text(text));
        Ok(UrlGlob(parts))
    }

    fn next(&mut self) -> Option<u8> {
        let b = self.url.get(self.at)?;
        self.at += 1;
        Some(*b)
    }

    /// Returns whether a bracket begins an IPv6 address: `[::1]` is not a range.
    fn is_address(&self) -> bool {
        let rest = &self.url[self.at..];
        let Some(end) = rest.iter().position(|b| *b == b']') else { return false };
        let inside = &rest[..end];
        let inside = inside.split(|b| *b == b'%').next().unwrap_or(inside);
        std::str::from_utf8(inside).is_ok_and(|t| t.parse::<std::net::Ipv6Addr>().is_ok())
    }

    fn set(&mut self) -> Result<UrlPart, Wrong> {
        let opened = self.at;
        let (mut all, mut one) = (Vec::new(), Vec::new());
        loop {
            match self.next() {
                None => return Err(("unmatched brace", opened - 1)),
                Some(b'{' | b'[') => return Err(("nested brace", self.at - 1)),
                Some(b']') => return Err(("unexpected close bracket", self.at - 1)),
                Some(b',') => all.push(std::mem::take(&mut one)),
                Some(b'}') => break,
                Some(b'\\') => one.extend(self.next()),
                Some(b) => one.push(b),
            }
        }
        if all.is_empty() && one.is_empty() {
            return Err(("empty string within braces", self.at - 1));
        }
        all.push(one);
        Ok(UrlPart::Set(all))
    }

    fn read_range(&mut self) -> Result<UrlPart, Wrong> {
        let opened = self.at;
        let wrong = ("bad range", opened);
        let len = self.url[opened..].iter().position(|b| *b == b']').ok_or(wrong)?;
        let inside = std::str::from_utf8(&self.url[opened..opened + len]).map_err(|_| wrong)?;
        self.at = opened + len + 1;
        let (range, step) = inside.split_once(':').unwrap_or((inside, "1"));
        let (from, to) = range.split_once('-').ok_or(wrong)?;
        let part = match (from.as_bytes(), to.as_bytes()) {
            ([a], [b]) if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                UrlPart::Letters { from: *a, to: *b, step: step.parse().map_err(|_| wrong)? }
            }
            _ if from.len() > 20 => return Err(wrong),
            _ => UrlPart::Numbers {
                from: from.parse().map_err(|_| wrong)?,
                to: to.parse().map_err(|_| wrong)?,
                step: step.parse().map_err(|_| wrong)?,
                width: if from.starts_with('0') { from.len() } else { 0 },
            },
        };
        let fits = match &part {
            UrlPart::Numbers { from, to, step, .. } => {
                from <= to && *step > 0 && from.checked_add(*step).is_some()
            }
            UrlPart::Letters { from, to, step } => from <= to && *step > 0,
            _ => true,
        };
        if fits { Ok(part) } else { Err(wrong) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(url: &str) -> Vec<String> {
        let pattern = UrlGlob::parse(url.as_bytes()).unwrap();
        pattern.all_matches().map(|m| String::from_utf8(m.url).unwrap()).collect()
    }

    #[test]
    fn patterns_of_the_manual() {
        assert_eq!(all("http://{one,two}.x"), ["http://one.x", "http://two.x"]);
        assert_eq!(all("f/[098-100].t"), ["f/098.t", "f/099.t", "f/100.t"]);
        assert_eq!(all("f[1-10:4]"), ["f1", "f5", "f9"]);
        assert_eq!(all("f[a-e:2]"), ["fa", "fc", "fe"]);
        assert_eq!(all("{a,b}[1-2]"), ["a1", "a2", "b1", "b2"]);
        assert_eq!(all("http://[::1]/x"), ["http://[::1]/x"]);
        assert_eq!(all(r"x\{a,b\}"), ["x{a,b}"]);
        assert_eq!(all("{a}x"), ["ax"]);
    }

    /// The expected messages are those of curl 7.88.
    #[test]
    fn mistakes() {
        for (url, message) in [
            (
                "http://127.0.0.1:8971/{a",
                "unmatched brace in URL position 23:\nhttp://127.0.0.1:8971/{a\n                      ^",
            ),
            (
                "http://127.0.0.1:8971/[a]",
                "bad range in URL position 24:\nhttp://127.0.0.1:8971/[a]\n                       ^",
            ),
        ] {
            let e = UrlGlob::parse(url.as_bytes()).unwrap_err();
            assert_eq!((e.code(), e.to_string().as_str()), (3, message));
        }
        for bad in [
            "[",
            "[]",
            "[1-",
            "[2-1]",
            "[1-2:0]",
            "{",
            "{}",
            "{a{b}}",
            "}",
            "[a-5]",
            "[1-99999999999999999999]",
        ] {
            assert!(UrlGlob::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        // These numbers are padded to a width that is too large to print.
        let long = "0".repeat(100_000);
        for bad in [format!("[{long}-1]"), format!("{long}[")] {
            let e = UrlGlob::parse(bad.as_bytes()).unwrap_err();
            assert!(e.to_string().contains("bad range"));
        }
    }

    /// A huge range takes no time before it is used.
    #[test]
    fn ranges_are_lazy() {
        let pattern = UrlGlob::parse(b"[0-18446744073709551614][0-18446744073709551614]").unwrap();
        assert_eq!(pattern.all_matches().nth(1).unwrap().url, b"01");
    }

    #[test]
    fn places_fill_names() {
        let m = Match { url: vec![], places: vec![b"a".to_vec(), b"b".to_vec()] };
        assert_eq!(m.fill_numbers(b"#1_#2.txt#3#"), b"a_b.txt#3#");
        assert_eq!(m.fill_numbers(b"1#99999999999999999999999"), b"1#99999999999999999999999");
    }
}
