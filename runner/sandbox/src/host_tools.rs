//! The policy for host tools: functions of the embedder that guests may call.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The registered host tools that a guest may call, and the limits of their calls. A tool must also
/// be registered. The sandbox itself calls no tools; its owner serves them
/// ([`wasibox_vfs::Service`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostToolPolicy {
    /// Names that may be called; `*` in one stands for any characters. `None`: all registered ones.
    pub allow: Option<Vec<String>>,
    /// Names that may not be called; these take precedence.
    pub deny: Vec<String>,
    /// The maximum number of tool calls in one call of the session.
    pub calls: u64,
    /// The maximum number of tool calls that run at the same time; others wait for their turn.
    pub at_once: usize,
    /// The time limit of a tool call, unless the tool has its own; `None`: only the session's call
    /// limits it.
    pub timeout: Option<Duration>,
    /// The maximum number of bytes of a call's arguments, at most 1 MiB.
    pub arguments: u64,
    /// The maximum number of bytes of a result.
    pub result: u64,
    /// The maximum number of bytes of all arguments and results in one call of the session.
    pub bytes: u64,
}

impl Default for HostToolPolicy {
    /// Allows all registered tools: 1000 calls of at most five minutes, 16 at once, 16 MiB per
    /// result, 256 MiB in all.
    fn default() -> HostToolPolicy {
        HostToolPolicy {
            allow: None,
            deny: Vec::new(),
            calls: 1000,
            at_once: 16,
            timeout: Some(Duration::from_secs(300)),
            arguments: 1 << 20,
            result: 16 << 20,
            bytes: 256 << 20,
        }
    }
}

impl HostToolPolicy {
    /// Allows no tool.
    pub fn none() -> HostToolPolicy {
        HostToolPolicy { allow: Some(Vec::new()), ..HostToolPolicy::default() }
    }

    /// Returns whether a tool of that name may be called, if there is one.
    pub fn allows(&self, name: &str) -> bool {
        let is_in = |list: &[String]| list.iter().any(|pattern| name_fits(pattern, name));
        !is_in(&self.deny) && self.allow.as_deref().is_none_or(is_in)
    }
}

/// Returns whether a name fits a pattern, in which `*` stands for any characters.
fn name_fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        // The earliest match leaves the most text for the other parts.
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_of_whole_names() {
        for (pattern, name, does) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "anything", true),
            ("github.*", "github.search", true),
            ("github.*", "xgithub.search", false),
            ("*_read", "file_read", true),
            ("*_read", "file_reader", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(name_fits(pattern, name), does, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_denied_is_denied() {
        let all = HostToolPolicy::default();
        assert!(all.allows("a"));
        let some =
            HostToolPolicy { allow: Some(vec!["a*".into()]), deny: vec!["ab".into()], ..all };
        assert!(some.allows("aa") && !some.allows("ab") && !some.allows("b"));
        assert!(!HostToolPolicy::none().allows("a"));
    }
}
