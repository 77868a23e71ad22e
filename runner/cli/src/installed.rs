//! The program as part of a package for Python or Node: its name, and the package's image.
//!
//! A package has the program as `wasibox/…/runner`, and its compressed image in the folder of
//! another package beside `wasibox`. On first use the image is unpacked into the folder that the
//! packages' libraries use as well.

use crate::{CliFailure, progress};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The environment variable that names the folder with the compressed image if it is not beside the
/// package.
const VARIABLE: &str = "WASIBOX_BUNDLE";
/// The image's folder in the package for Python, and in the package for Node.
const FOLDERS: [&str; 2] = ["wasibox_image/data", "wasibox-image/wasibox_image/data"];

/// Returns the name for messages and examples: `wasibox` if the user has called it by that name,
/// otherwise `runner`.
pub fn name() -> &'static str {
    static NAME: LazyLock<&str> = LazyLock::new(|| {
        let called = std::env::args_os().next().map(PathBuf::from);
        name_of(called.as_deref().unwrap_or(Path::new("")))
    });
    *NAME
}

fn name_of(called: &Path) -> &'static str {
    if called.file_name().is_some_and(|name| name == "wasibox") { "wasibox" } else { "runner" }
}

/// Returns a text in which the name `runner` is replaced by the name that the user knows.
pub fn with_program_name(text: &str) -> String {
    replace_word(text, "runner", name())
}

/// Replaces a word; `_` and `-` count as parts of words.
fn replace_word(text: &str, word: &str, with: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(word) {
        let end = at + word.len();
        if !text[..at].ends_with(is_part) && !text[end..].starts_with(is_part) {
            out.push_str(&text[done..at]);
            out.push_str(with);
            done = end;
        }
    }
    out + &text[done..]
}

/// Returns the package's image, unpacked; `None` if this program is not in a package.
///
/// # Errors
/// If it cannot be unpacked.
pub fn packaged_image() -> Result<Option<PathBuf>, CliFailure> {
    let named = std::env::var_os(VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from);
    let own = std::env::current_exe().ok();
    let Some(bundle) = named.or_else(|| bundle_beside(&own?)) else { return Ok(None) };
    let artifacts = wasibox::default_artifact_dir();
    let Some(cache) = artifacts.as_deref().and_then(Path::parent) else {
        let why = "the image cannot be unpacked: no home directory is known, and XDG_CACHE_HOME is not set";
        return Err(CliFailure::new(125, why));
    };
    let images = cache.join("images");
    progress::work_patiently(|progress| {
        let report = |step: wasibox::bundle::BundleStep| match step {
            wasibox::bundle::BundleStep::CodeNotTaken(_) => progress.print_now(&step),
            _ => progress.unless_quick(&step),
        };
        Ok(Some(wasibox::bundle::unpack_bundle(&bundle, &images, artifacts.as_deref(), &report)?))
    })
}

/// Returns the folder with the compressed image beside the package that contains `program`.
fn bundle_beside(program: &Path) -> Option<PathBuf> {
    // For example, `site-packages` of `site-packages/wasibox/bin/runner`, or `node_modules` of
    // `node_modules/wasibox/native/runner`.
    let package = program.parent()?.parent()?;
    let all = package.parent().filter(|_| package.file_name().is_some_and(|n| n == "wasibox"))?;
    FOLDERS.iter().map(|f| all.join(f)).find(|folder| folder.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_package_or_the_programs_own() {
        for called in ["wasibox", "/usr/bin/wasibox", "./node_modules/.bin/wasibox"] {
            assert_eq!(name_of(called.as_ref()), "wasibox");
        }
        for called in ["runner", "", "/a/wasibox/runner", "wasibox-cli"] {
            assert_eq!(name_of(called.as_ref()), "runner");
        }
    }

    #[test]
    fn words_are_replaced_and_parts_of_words_are_not() {
        let r = |text| replace_word(text, "runner", "wasibox");
        assert_eq!(r("Usage: runner exec\n  runner mcp"), "Usage: wasibox exec\n  wasibox mcp");
        assert_eq!(r("`runner`, runner."), "`wasibox`, wasibox.");
        assert_eq!(
            r("runners my-runner runnerrunner x_runner"),
            "runners my-runner runnerrunner x_runner"
        );
        assert_eq!(r(""), "");
    }

    #[test]
    fn the_bundle_lies_beside_the_package() {
        let tmp = tempfile::tempdir().unwrap();
        let all = tmp.path();
        for (bundle, program) in [
            ("site/wasibox_image/data", "site/wasibox/bin/runner"),
            ("node/wasibox-image/wasibox_image/data", "node/wasibox/native/runner"),
        ] {
            std::fs::create_dir_all(all.join(bundle)).unwrap();
            assert_eq!(bundle_beside(&all.join(program)), Some(all.join(bundle)));
        }
        // The surroundings of a program outside of packages are not searched.
        assert_eq!(bundle_beside(&all.join("site/other/bin/runner")), None);
        assert_eq!(bundle_beside(&all.join("site/runner")), None);
        assert_eq!(bundle_beside(Path::new("/runner")), None);
    }
}
