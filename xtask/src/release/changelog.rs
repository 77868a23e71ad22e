//! Release notes: a section of CHANGELOG.md.

/// Returns the section of a version, or of `Unreleased`, without its heading.
pub fn section<'a>(changelog: &'a str, version: &str) -> Option<&'a str> {
    let heading = format!("\n## [{version}]");
    let begin = changelog.find(&heading)? + 1;
    let body = changelog[begin..].find('\n')? + begin + 1;
    let end = changelog[body..].find("\n## ").map_or(changelog.len(), |at| body + at + 1);
    Some(changelog[body..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- b\n\n## [0.1.0] - 2026-01-01\n\n- a\n";

    #[test]
    fn a_section_ends_at_the_next_one() {
        assert_eq!(section(TEXT, "Unreleased"), Some("### Added\n\n- b"));
        assert_eq!(section(TEXT, "0.1.0"), Some("- a"));
        assert_eq!(section(TEXT, "0.1"), None);
    }
}
