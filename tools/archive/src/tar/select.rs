//! Which members, under which names: exclusion patterns, member operands, stripped
//! components, `--transform`, and the leading slash that is always removed.

use box_sys::path::strip_slashes;
use box_text::glob::{GlobOptions, GlobPattern};
use box_text::regex::{Captures, Regex, RegexOptions, RegexSyntax};

/// Patterns that exclude files (GNU tar manual 6.4; unanchored, `*` matches slashes).
#[derive(Default)]
pub struct Excludes(Vec<GlobPattern>);

impl Excludes {
    /// Adds a pattern; a trailing slash is dropped.
    pub fn add_pattern(&mut self, pattern: &[u8]) {
        let pattern = pattern.strip_suffix(b"/").filter(|p| !p.is_empty()).unwrap_or(pattern);
        self.0.push(GlobPattern::new(pattern, GlobOptions::default()));
    }

    /// Returns whether the name, a part of it from some slash on, or a directory above it matches.
    pub fn matches_name(&self, name: &[u8]) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let name = name.strip_suffix(b"/").unwrap_or(name);
        let starts = std::iter::once(0)
            .chain(name.iter().enumerate().filter(|(_, c)| **c == b'/').map(|(i, _)| i + 1));
        starts.into_iter().any(|from| {
            let tail = &name[from..];
            let ends = tail.iter().enumerate().filter(|(_, c)| **c == b'/').map(|(i, _)| i);
            ends.chain(std::iter::once(tail.len()))
                .any(|to| to > 0 && self.0.iter().any(|p| p.is_match(&tail[..to])))
        })
    }
}

/// The changes of member names.
#[derive(Default)]
pub struct MemberNames {
    pub strip: usize,
    pub absolute: bool,
    pub wildcards: bool,
    transforms: Vec<Transform>,
}

/// One `s/regex/replacement/flags` of `--transform`.
struct Transform {
    regex: Regex,
    replacement: Vec<u8>,
    global: bool,
}

impl MemberNames {
    /// Adds a `--transform` expression; the error is GNU's text.
    pub fn add_transform(&mut self, expression: &[u8]) -> Result<(), String> {
        let bad = || "Invalid transform expression".to_string();
        let [b's', delimiter, rest @ ..] = expression else { return Err(bad()) };
        let mut parts = vec![Vec::new()];
        let mut bytes = rest.iter();
        while let Some(&c) = bytes.next() {
            let last = parts.last_mut().ok_or_else(bad)?;
            if c == b'\\' {
                let next = *bytes.next().ok_or_else(bad)?;
                if next != *delimiter {
                    last.push(c);
                }
                last.push(next);
            } else if c == *delimiter {
                parts.push(Vec::new());
            } else {
                last.push(c);
            }
        }
        let [pattern, replacement, flags] = parts.try_into().map_err(|_| bad())?;
        let mut options = RegexOptions::new(RegexSyntax::Bre);
        let mut global = false;
        for f in flags {
            match f {
                b'g' => global = true,
                b'i' => options.icase = true,
                b'x' => options.syntax = RegexSyntax::Ere,
                // Which kinds of names are meant: all of ours are.
                b'r' | b'R' | b's' | b'S' | b'h' | b'H' => {}
                _ => return Err(bad()),
            }
        }
        let regex = Regex::new(&pattern, &options).map_err(|e| e.to_string())?;
        self.transforms.push(Transform { regex, replacement, global });
        Ok(())
    }

    /// Returns the name a member gets; `None` if nothing is left of it. A trailing slash stays.
    pub fn apply_to(&self, name: &[u8]) -> Option<Vec<u8>> {
        let mut name = name.to_vec();
        for t in &self.transforms {
            name = t.apply_to(&name);
        }
        if self.strip > 0 {
            let mut rest = &name[..];
            for _ in 0..self.strip {
                rest = rest.trim_ascii_start_slash();
                let at = rest.iter().position(|&c| c == b'/')?;
                rest = &rest[at + 1..];
            }
            name = rest.to_vec();
        }
        (!name.is_empty()).then_some(name)
    }
}

trait TrimSlash {
    /// Returns the name without leading slashes.
    fn trim_ascii_start_slash(&self) -> &Self;
}

impl TrimSlash for [u8] {
    fn trim_ascii_start_slash(&self) -> &[u8] {
        let at = self.iter().position(|&c| c != b'/').unwrap_or(self.len());
        &self[at..]
    }
}

impl Transform {
    fn apply_to(&self, name: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = 0;
        let mut captures = Captures::default();
        while at <= name.len() && self.regex.captures_at(name, at, &mut captures) {
            let Some((from, to)) = captures.get(0) else { break };
            out.extend_from_slice(&name[at..from]);
            let mut bytes = self.replacement.iter();
            while let Some(&c) = bytes.next() {
                let group = match c {
                    b'&' => Some(0),
                    b'\\' => match bytes.next() {
                        Some(d) if d.is_ascii_digit() => Some(usize::from(d - b'0')),
                        Some(&other) => {
                            out.push(other);
                            None
                        }
                        None => None,
                    },
                    other => {
                        out.push(other);
                        None
                    }
                };
                if let Some((a, b)) = group.and_then(|g| captures.get(g)) {
                    out.extend_from_slice(&name[a..b]);
                }
            }
            at = to;
            if from == to {
                match name.get(to) {
                    Some(&c) => out.push(c),
                    None => return out,
                }
                at = to + 1;
            }
            if !self.global {
                break;
            }
        }
        out.extend_from_slice(name.get(at..).unwrap_or_default());
        out
    }
}

/// The member operands of `-t` and `-x`, with those that were found so far.
pub struct WantedMembers {
    names: Vec<(Vec<u8>, Option<GlobPattern>, bool)>,
}

impl WantedMembers {
    /// Collects member operands; with `wildcards` they are patterns.
    pub fn new(operands: impl Iterator<Item = Vec<u8>>, wildcards: bool) -> WantedMembers {
        let names = operands.map(|name| {
            let name = strip_slashes(&name).to_vec();
            let pattern = wildcards.then(|| GlobPattern::new(&name, GlobOptions::default()));
            (name, pattern, false)
        });
        WantedMembers { names: names.collect() }
    }

    /// Returns whether the member is selected: there are no operands, or one equals its name or
    /// names a directory above it.
    pub fn take_member(&mut self, member: &[u8]) -> bool {
        if self.names.is_empty() {
            return true;
        }
        let member = member.strip_suffix(b"/").unwrap_or(member);
        let mut taken = false;
        for (name, pattern, found) in &mut self.names {
            let hit = match pattern {
                Some(p) => {
                    let ends =
                        member.iter().enumerate().filter(|(_, c)| **c == b'/').map(|(i, _)| i);
                    ends.chain(std::iter::once(member.len())).any(|to| p.is_match(&member[..to]))
                }
                None => {
                    member.strip_prefix(&name[..]).is_some_and(|r| r.is_empty() || r[0] == b'/')
                }
            };
            if hit {
                *found = true;
                taken = true;
            }
        }
        taken
    }

    /// Returns the operands that no member matched.
    pub fn missing_operands(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().filter(|(_, _, found)| !found).map(|(n, _, _)| n.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `tar --exclude` and `--transform` of GNU tar 1.34.
    #[test]
    fn exclusion_is_unanchored() {
        let mut e = Excludes::default();
        e.add_pattern(b"*.o");
        e.add_pattern(b"build/");
        for name in ["a.o", "./x/b.o", "src/build", "build/x", "a/build/deep/y"] {
            assert!(e.matches_name(name.as_bytes()), "{name}");
        }
        for name in ["a.c", "builds", "o"] {
            assert!(!e.matches_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn names_are_stripped_and_transformed() {
        let mut n = MemberNames { strip: 1, ..MemberNames::default() };
        assert_eq!(n.apply_to(b"a/b/c"), Some(b"b/c".to_vec()));
        assert_eq!(n.apply_to(b"a/"), None);
        assert_eq!(n.apply_to(b"a"), None);
        n.strip = 0;
        n.add_transform(b"s,^,prefix/,").expect("valid");
        n.add_transform(b"s/\\(x\\)y/[\\1]/g").expect("valid");
        assert_eq!(n.apply_to(b"xyxy"), Some(b"prefix/[x][x]".to_vec()));
        assert!(n.add_transform(b"y/a/b/").is_err());
    }
}
