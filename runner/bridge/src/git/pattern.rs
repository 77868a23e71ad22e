//! Names of refs (git-check-ref-format(1)), and patterns of them as in git's refspecs (git-fetch(1)).

/// Maximum length of a ref's name in bytes.
const MAX_REF: usize = 1024;

/// Characters that file systems of macOS ignore in names. git refuses to check out names in which
/// they hide a `.git`; here they could hide a `..` from this check.
const IGNORED: &[std::ops::RangeInclusive<char>] = &[
    '\u{200b}'..='\u{200f}',
    '\u{202a}'..='\u{202e}',
    '\u{2066}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
];

/// A name of a ref, or a pattern in which one `*` stands for any characters, `/` among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RefPattern {
    before: String,
    /// The text after the `*`; `None` for a name.
    after: Option<String>,
}

impl RefPattern {
    /// Parses a name or a pattern; `None` if no ref can be called so.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // A pattern may be a part of the names' hierarchy, as `refs/*` is.
        if !has_ref_form(&text.replacen('*', "x", 1)) {
            return None;
        }
        Some(match text.split_once('*') {
            Some((before, after)) => Self { before: before.into(), after: Some(after.into()) },
            None => Self { before: text.into(), after: None },
        })
    }

    /// Returns whether the pattern matches a name exactly.
    pub(crate) fn matches(&self, name: &str) -> bool {
        match &self.after {
            None => self.before == name,
            Some(after) => name
                .strip_prefix(self.before.as_str())
                .is_some_and(|rest| rest.ends_with(after.as_str())),
        }
    }

    /// Returns whether the pattern matches a name or one that servers may take for the same,
    /// because their files' names ignore case.
    pub(crate) fn matches_widely(&self, name: &str) -> bool {
        let lower = Self {
            before: self.before.to_lowercase(),
            after: self.after.as_deref().map(str::to_lowercase),
        };
        lower.matches(&name.to_lowercase()) || self.matches(name)
    }
}

impl std::fmt::Display for RefPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.before)?;
        match &self.after {
            Some(after) => write!(f, "*{after}"),
            None => Ok(()),
        }
    }
}

/// Returns whether a push may name this ref: one that git accepts, below a folder of `refs/`, and
/// without characters that file systems ignore.
#[must_use]
pub fn is_ref_name(name: &str) -> bool {
    name.split('/').count() > 2 && has_ref_form(name)
}

/// Applies the rules of git-check-ref-format(1) to a name that begins with `refs/`.
fn has_ref_form(name: &str) -> bool {
    let component = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.to_ascii_lowercase().ends_with(".lock")
    };
    let character = |c: char| {
        !c.is_control()
            && !" ~^:?*[\\".contains(c)
            && !IGNORED.iter().any(|ignored| ignored.contains(&c))
    };
    name.len() <= MAX_REF
        && name.starts_with("refs/")
        && name.chars().all(character)
        && name.split('/').all(component)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of git-check-ref-format(1), and names that hide others.
    #[test]
    fn names_are_those_of_git() {
        for good in [
            "refs/heads/main",
            "refs/heads/agent/a",
            "refs/heads/agent/a/b.c",
            "refs/tags/v1.0",
            "refs/heads/@",
            "refs/heads/é",
            "refs/heads/a@b",
            "refs/for/main%submit",
            "refs/heads/a,b",
        ] {
            assert!(is_ref_name(good), "{good}");
        }
        for bad in [
            "",
            "HEAD",
            "main",
            "heads/main",
            "refs",
            "refs/",
            "refs/heads",
            "refs/heads/",
            "Refs/heads/main",
            "/refs/heads/main",
            "refs//heads/main",
            "refs/heads/agent/",
            "refs/heads/agent//x",
            "refs/heads/agent/../main",
            "refs/heads/agent/./x",
            "refs/heads/agent/.x",
            "refs/heads/agent/x..y",
            "refs/heads/agent/x.",
            "refs/heads/agent/x.lock",
            "refs/heads/agent.LOCK/x",
            "refs/heads/agent/x y",
            "refs/heads/agent/x\ny",
            "refs/heads/agent/x\0y",
            "refs/heads/agent/x\u{7f}",
            "refs/heads/agent/x\u{85}",
            "refs/heads/agent/x~1",
            "refs/heads/agent/x^",
            "refs/heads/agent/x:y",
            "refs/heads/agent/x?",
            "refs/heads/agent/*",
            "refs/heads/agent/[x]",
            "refs/heads/agent\\x",
            "refs/heads/agent/@{1}",
            "refs/heads/agent/\u{200c}.\u{200c}./main",
            "refs/heads/\u{202e}niam",
            "refs/heads/ma\u{feff}in",
        ] {
            assert!(!is_ref_name(bad), "{bad:?}");
        }
        assert!(!is_ref_name(&format!("refs/heads/{}", "x".repeat(MAX_REF))));
    }

    /// As `match_refname_with_pattern` of git does it: the star stands for any characters.
    #[test]
    fn patterns_are_those_of_refspecs() {
        let matches =
            |pattern: &str, name: &str| RefPattern::parse(pattern).expect(pattern).matches(name);
        for (pattern, name) in [
            ("refs/heads/agent/*", "refs/heads/agent/x"),
            ("refs/heads/agent/*", "refs/heads/agent/x/y"),
            ("refs/heads/*", "refs/heads/main"),
            ("refs/*", "refs/tags/v1"),
            ("refs/heads/a*", "refs/heads/a"),
            ("refs/heads/*/wip", "refs/heads/a/b/wip"),
            ("refs/heads/v*-rc", "refs/heads/v1-rc"),
            ("refs/heads/main", "refs/heads/main"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("refs/heads/agent/*", "refs/heads/agent"),
            ("refs/heads/agent/*", "refs/heads/agents/x"),
            ("refs/heads/agent/*", "refs/heads/Agent/x"),
            ("refs/heads/agent/*", "refs/heads/main"),
            ("refs/heads/agent/*", "refs/tags/agent/x"),
            ("refs/heads/main", "refs/heads/main2"),
            ("refs/heads/main", "refs/heads/mai"),
            ("refs/heads/*/wip", "refs/heads/wip"),
            ("refs/heads/ab*ba", "refs/heads/aba"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        for bad in ["", "*", "main", "heads/*", "refs/heads/*/*", "refs/heads/../*", "refs/heads/"]
        {
            assert_eq!(RefPattern::parse(bad), None, "{bad}");
        }
        let main = RefPattern::parse("refs/heads/main").expect("a name");
        assert!(main.matches_widely("refs/heads/MAIN"));
        assert!(!main.matches_widely("refs/heads/main2"));
        let agents = RefPattern::parse("refs/heads/Agent/*").expect("a pattern");
        assert!(agents.matches_widely("refs/heads/aGENT/x"));
        assert_eq!(agents.to_string(), "refs/heads/Agent/*");
    }
}
