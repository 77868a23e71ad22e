//! Path patterns: `*`, `?`, `[...]`, `{a,b}`, and `**` for any number of directories.

use box_text::glob::{GlobOptions, GlobPattern};
use wasibox_protocol::files::FilesError;

/// The maximum number of alternatives that braces may produce, and the maximum number of parts of a
/// pattern.
const ALTERNATIVES: usize = 256;
const PARTS: usize = 64;

/// A part of a path.
#[derive(Clone, Debug)]
enum PathPart {
    /// `**`
    Any,
    One {
        pattern: GlobPattern,
        dot: bool,
    },
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct PathPattern {
    alternatives: Vec<Vec<PathPart>>,
    /// Whether the pattern applies to names, in any directory.
    names: bool,
}

impl PathPattern {
    /// Compiles a path pattern.
    pub fn new(text: &str) -> Result<PathPattern, FilesError> {
        let bad = |why: &str| FilesError::Pattern { pattern: text.to_owned(), why: why.to_owned() };
        if text.is_empty() {
            return Err(bad("it is empty"));
        }
        let mut alternatives = Vec::new();
        for one in
            expand_braces(text).ok_or_else(|| bad("its braces have too many alternatives"))?
        {
            let mut parts = Vec::new();
            for part in one.split('/').filter(|p| !matches!(*p, "" | ".")) {
                if part == ".." {
                    return Err(bad("'..' is not understood; give the folder as path"));
                }
                match part {
                    "**" if matches!(parts.last(), Some(PathPart::Any)) => {}
                    "**" => parts.push(PathPart::Any),
                    _ => parts.push(PathPart::One {
                        pattern: GlobPattern::new(part.as_bytes(), GlobOptions::default()),
                        dot: part.starts_with('.') || part.starts_with("[.]"),
                    }),
                }
                if parts.len() > PARTS {
                    return Err(bad("it has too many parts"));
                }
            }
            alternatives.push(parts);
        }
        Ok(PathPattern { alternatives, names: false })
    }

    /// Compiles a rule like those of grep's `--include`. It applies to names, or to paths if it has
    /// a slash.
    pub fn from_rule(text: &str) -> Result<PathPattern, FilesError> {
        Ok(PathPattern { names: !text.contains('/'), ..PathPattern::new(text)? })
    }

    /// Returns whether a path, relative to the start of the search, matches. Without `hidden`, a
    /// part that begins with a dot is matched only by a pattern part that begins with a dot, too.
    pub fn fits(&self, path: &[u8], hidden: bool) -> bool {
        let parts: Vec<&[u8]> = path.split(|b| *b == b'/').collect();
        let parts = if self.names { &parts[parts.len() - 1..] } else { &parts[..] };
        self.alternatives.iter().any(|a| {
            let mut states = vec![false; a.len() + 1];
            states[0] = true;
            open_states(a, &mut states);
            for part in parts {
                states = step_states(a, &states, part, hidden);
            }
            states[a.len()]
        })
    }

    /// Returns whether a path below a directory may match.
    pub fn may_fit_below(&self, dir: &[u8], hidden: bool) -> bool {
        if self.names || dir.is_empty() {
            return true;
        }
        self.alternatives.iter().any(|a| {
            let mut states = vec![false; a.len() + 1];
            states[0] = true;
            open_states(a, &mut states);
            for part in dir.split(|b| *b == b'/') {
                states = step_states(a, &states, part, hidden);
            }
            states[..a.len()].contains(&true)
        })
    }
}

/// Marks the states that are reachable because `**` may match no directory.
fn open_states(parts: &[PathPart], states: &mut [bool]) {
    for i in 0..parts.len() {
        if states[i] && matches!(parts[i], PathPart::Any) {
            states[i + 1] = true;
        }
    }
}

/// Returns the states of the pattern after one more part of the path.
fn step_states(parts: &[PathPart], states: &[bool], name: &[u8], hidden: bool) -> Vec<bool> {
    let mut next = vec![false; states.len()];
    let shown = hidden || !name.starts_with(b".");
    for (i, part) in parts.iter().enumerate().filter(|(i, _)| states[*i]) {
        match part {
            PathPart::Any => next[i] |= shown,
            PathPart::One { pattern, dot } => {
                next[i + 1] |= (shown || *dot) && pattern.is_match(name);
            }
        }
    }
    open_states(parts, &mut next);
    next
}

/// Returns the expansions of a text, for example `a1` and `a2` for `a{1,2}`; `None` if there are
/// too many.
fn expand_braces(text: &str) -> Option<Vec<String>> {
    let mut todo = vec![text.to_owned()];
    let mut out = Vec::new();
    while let Some(one) = todo.pop() {
        match split_braces(&one) {
            None => out.push(one),
            Some((before, inner, after)) => {
                for part in inner.iter().rev() {
                    todo.push(format!("{before}{part}{after}"));
                }
            }
        }
        if todo.len() + out.len() > ALTERNATIVES {
            return None;
        }
    }
    Some(out)
}

/// Returns the first braces that contain a comma, with the text before and after them.
fn split_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|i| i + from) {
        let (mut depth, mut commas, mut i) = (0, vec![open], open);
        while i < bytes.len() {
            match bytes[i] {
                b'\\' => i += 1,
                b'{' => depth += 1,
                b',' if depth == 1 => commas.push(i),
                b'}' if depth == 1 => {
                    if commas.len() > 1 {
                        commas.push(i);
                        let parts = commas.windows(2).map(|w| &text[w[0] + 1..w[1]]).collect();
                        return Some((&text[..open], parts, &text[i + 1..]));
                    }
                    break;
                }
                b'}' => depth -= 1,
                _ => {}
            }
            i += 1;
        }
        from = open + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fit() {
        let fits = |pattern: &str, path: &str| {
            PathPattern::new(pattern).unwrap().fits(path.as_bytes(), false)
        };
        for (pattern, path, want) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "src/a.rs", false),
            ("**/*.rs", "a.rs", true),
            ("**/*.rs", "src/deep/a.rs", true),
            ("src/**", "src/a/b", true),
            ("src/**", "srcs/a", false),
            ("src/**/test/*.py", "src/test/a.py", true),
            ("src/**/test/*.py", "src/a/b/test/a.py", true),
            ("**/*.{ts,tsx}", "a/b.tsx", true),
            ("**/*.{ts,tsx}", "a/b.tsy", false),
            ("{a,b{c,d}}", "bd", true),
            ("**/*", ".git/config", false),
            ("**/*", "a/.hidden", false),
            (".git/**", ".git/config", true),
            ("**/.env", "a/.env", true),
            ("a{b}", "a{b}", true),
            ("[ab].c", "b.c", true),
            ("./a", "a", true),
        ] {
            assert_eq!(fits(pattern, path), want, "{pattern} {path}");
        }
        assert!(PathPattern::new("**/*").unwrap().fits(b".git/config", true));
        assert!(PathPattern::from_rule("*.c").unwrap().fits(b"a/b.c", false));
        assert!(!PathPattern::from_rule("x/*.c").unwrap().fits(b"a/b.c", false));
    }

    #[test]
    fn braces_and_stars_are_bounded() {
        assert!(PathPattern::new(&"{a,b}".repeat(12)).is_err());
        assert!(PathPattern::new(&"a/".repeat(100)).is_err());
        let many = PathPattern::new(&"**/a/".repeat(30)).unwrap();
        assert!(!many.fits("a/".repeat(2000).as_bytes(), false));
    }

    #[test]
    fn directories_that_cannot_hold_anything_are_left_out() {
        let p = PathPattern::new("src/*.rs").unwrap();
        assert!(p.may_fit_below(b"src", false) && !p.may_fit_below(b"docs", false));
        assert!(!p.may_fit_below(b"src/deep", false));
    }
}
