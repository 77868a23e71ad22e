//! The playground of `web/`, bundled by esbuild into `dist/web`: a page beside the package that it
//! uses.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{env, test};

/// Files that are copied unchanged.
const FILES: &[&str] = &["index.html", "sw.js"];

/// Returns a `node_modules` with the packages of the page and of its tests.
pub fn page_modules() -> Result<std::path::PathBuf> {
    test::node_modules("web", "web")
}

/// Bundles the page; returns its size in bytes.
pub fn build_page(out: &Path) -> Result<u64> {
    let (modules, source) = (page_modules()?, env::root().join("web/src"));
    let metafile = env::cache()?.join("web-bundle.json");
    let mut esbuild = Command::new(modules.join(".bin/esbuild"));
    esbuild.env("NODE_PATH", &modules).current_dir(&source);
    // The package is in the same folder as the bundle.
    esbuild.args(["playground=main.js", "--bundle", "--minify", "--format=esm", "--target=es2022"]);
    esbuild.args(["--external:./index.js", "--log-level=warning"]);
    esbuild.arg(format!("--outdir={}", out.display()));
    esbuild.arg(format!("--metafile={}", metafile.display()));
    env::run(&mut esbuild)?;
    for name in FILES {
        env::write(&out.join(name), &env::read(&source.join(name))?)?;
    }
    let licences = bundle_licences(&modules, &serde_json::from_slice(&env::read(&metafile)?)?)?;
    env::write(&out.join("playground-licences.txt"), licences.as_bytes())?;
    let mut size = 0;
    for name in ["playground.js", "playground.css"].iter().chain(FILES) {
        size += std::fs::metadata(out.join(name))?.len();
    }
    Ok(size)
}

/// Returns the licences of all packages with code in the bundle.
fn bundle_licences(modules: &Path, metafile: &serde_json::Value) -> Result<String> {
    let inputs = metafile["inputs"].as_object().context("esbuild reports no inputs")?;
    let packages: BTreeSet<String> = inputs.keys().filter_map(|path| file_package(path)).collect();
    ensure!(!packages.is_empty(), "the bundle has no packages");
    let mut out = String::from("The playground has parts of these packages.\n");
    for package in packages {
        let folder = modules.join(&package);
        let text = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE"]
            .iter()
            .find_map(|name| std::fs::read_to_string(folder.join(name)).ok())
            .with_context(|| format!("{package} has no licence"))?;
        out += &format!("\n{}\n{package}\n\n{}\n", "-".repeat(78), text.trim());
    }
    Ok(out)
}

/// Returns the package of a bundled file.
fn file_package(path: &str) -> Option<String> {
    let (_, rest) = path.rsplit_once("node_modules/")?;
    let mut parts = rest.split('/');
    let first = parts.next()?;
    Some(if first.starts_with('@') { format!("{first}/{}", parts.next()?) } else { first.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_one_name_or_two() {
        assert_eq!(
            file_package("../node_modules/@xterm/xterm/lib/x.mjs").as_deref(),
            Some("@xterm/xterm")
        );
        assert_eq!(file_package("a/node_modules/crelt/index.js").as_deref(), Some("crelt"));
        assert_eq!(file_package("main.js"), None);
    }
}
