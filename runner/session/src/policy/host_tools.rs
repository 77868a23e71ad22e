//! The section `[host-tools]` of a policy file.

use super::file::{WrittenCount, WrittenSize, WrittenTime};
use serde::Deserialize;
use wasibox_sandbox::HostToolPolicy;

/// The section `[host-tools]` as written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct WrittenHostTools {
    allow: Option<Vec<String>>,
    deny: Vec<String>,
    calls: Option<u64>,
    at_once: Option<WrittenCount>,
    timeout: Option<WrittenTime>,
    arguments: Option<WrittenSize>,
    result: Option<WrittenSize>,
    bytes: Option<WrittenSize>,
    pub from: Vec<String>,
}

impl WrittenHostTools {
    /// Returns the policy, with defaults for missing entries.
    pub fn policy(self) -> HostToolPolicy {
        let usual = HostToolPolicy::default();
        let size = |size: Option<WrittenSize>, usual: u64| size.map_or(usual, |n| n.0);
        HostToolPolicy {
            allow: self.allow,
            deny: self.deny,
            calls: self.calls.unwrap_or(usual.calls),
            at_once: self.at_once.map_or(usual.at_once, |n| n.0),
            timeout: self.timeout.map_or(usual.timeout, |t| t.0),
            arguments: size(self.arguments, usual.arguments),
            result: size(self.result, usual.result),
            bytes: size(self.bytes, usual.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::PolicyFile;
    use std::path::Path;
    use std::time::Duration;
    use wasibox_sandbox::HostToolPolicy;

    #[test]
    fn everything_can_be_said() {
        let text = "[host-tools]\nallow = ['weather', 'github.*']\ndeny = ['github.delete_*']\ncalls = 5\n\
                    at-once = 2\ntimeout = 1.5\narguments = '4K'\nresult = '1M'\nbytes = 100\n\
                    from = ['stdio:weather-server --fast']\n";
        let file = PolicyFile::parse(text, Path::new("/")).unwrap();
        assert_eq!(file.tools_from, ["stdio:weather-server --fast"]);
        let said = file.policy().host_tools;
        let expected = HostToolPolicy {
            allow: Some(vec!["weather".into(), "github.*".into()]),
            deny: vec!["github.delete_*".into()],
            calls: 5,
            at_once: 2,
            timeout: Some(Duration::from_millis(1500)),
            arguments: 4096,
            result: 1 << 20,
            bytes: 100,
        };
        assert_eq!(said, expected);
        let nothing = PolicyFile::parse("[host-tools]", Path::new("/")).unwrap();
        assert_eq!(nothing.policy().host_tools, HostToolPolicy::default());
        for (text, words) in [
            ("[host-tools]\nat-once = 0", "more than 0"),
            ("[host-tools]\nallowed = []", "unknown field `allowed`"),
            ("[host-tools]\nallow = 'x'", "expected a sequence"),
        ] {
            let wrong = PolicyFile::parse(text, Path::new("/")).unwrap_err();
            assert!(wrong.message.contains(words), "{wrong}");
        }
    }
}
