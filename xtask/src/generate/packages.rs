//! The version, the licence and the repository's address in the packages' own descriptions, from
//! Cargo.toml.

use anyhow::{Result, ensure};

/// The version of everything here, from Cargo.toml.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const ADDRESS: &str = env!("CARGO_PKG_REPOSITORY");

/// The files that this module completes.
pub const FILES: &[&str] = &[
    "sdk/image/package.json",
    "sdk/image/pyproject.toml",
    "sdk/image/wasibox_image/__init__.py",
    "sdk/node/package.json",
    "sdk/python/pyproject.toml",
    "sdk/python/python/wasibox/__init__.py",
    "sdk/web/package.json",
];

/// Returns a file's text with the lines that state the version or the address made true.
///
/// # Errors
/// Returns an error if a description has no such line, or several.
pub fn completed(path: &str, text: &str) -> Result<String> {
    let mut facts = Vec::new();
    if path.ends_with("package.json") {
        facts.push(("  \"version\": ", format!("  \"version\": \"{VERSION}\",")));
        facts.push((
            "  \"repository\": ",
            format!("  \"repository\": {{ \"type\": \"git\", \"url\": \"git+{ADDRESS}.git\" }},"),
        ));
        if text.contains("\"wasibox-image\":") {
            let line = format!("  \"dependencies\": {{ \"wasibox-image\": \"{VERSION}\" }}");
            facts.push(("  \"dependencies\": ", line));
        }
    } else if path.ends_with("pyproject.toml") {
        facts.push(("version = ", format!("version = \"{VERSION}\"")));
        facts.push(("Repository = ", format!("Repository = \"{ADDRESS}\"")));
        if text.contains("\"wasibox-image==") {
            let line = format!("dependencies = [\"wasibox-image=={VERSION}\"]");
            facts.push(("dependencies = ", line));
        }
    } else {
        facts.push(("__version__ = ", format!("__version__ = \"{VERSION}\"")));
    }
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for (begin, fact) in facts {
        let found: Vec<&mut String> =
            lines.iter_mut().filter(|line| line.starts_with(begin)).collect();
        ensure!(found.len() == 1, "{path}: not one line begins with {begin}");
        found.into_iter().for_each(|line| line.clone_from(&fact));
    }
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_gets_version_and_address() {
        let text = "[project]\nversion = \"0\"\n[project.urls]\nRepository = \"x\"\n";
        let whole = completed("sdk/a/pyproject.toml", text).unwrap();
        let expected = format!(
            "[project]\nversion = \"{VERSION}\"\n[project.urls]\nRepository = \"{ADDRESS}\"\n"
        );
        assert_eq!(whole, expected);
        assert_eq!(completed("sdk/a/pyproject.toml", &whole).unwrap(), whole);
    }

    #[test]
    fn a_description_without_the_line_is_an_error() {
        let wrong = completed("sdk/a/package.json", "{\n}\n").unwrap_err().to_string();
        assert_eq!(wrong, "sdk/a/package.json: not one line begins with   \"version\": ");
    }
}
