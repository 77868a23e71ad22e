//! The playground of `web/`, bundled by esbuild into `dist/web`: a page beside the package that it
//! uses. Also the bundle of xterm.js that the page of `runner serve` has: it is kept in
//! `runner/http`, so that a build of the runner needs no packages of Node, and every build of the
//! playground checks that it is what the pinned packages give.

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
    check_kept_terminal(&modules)?;
    let licences = bundle_licences(&modules, &serde_json::from_slice(&env::read(&metafile)?)?)?;
    env::write(&out.join("playground-licences.txt"), licences.as_bytes())?;
    let mut size = 0;
    for name in ["playground.js", "playground.css"].iter().chain(FILES) {
        size += std::fs::metadata(out.join(name))?.len();
    }
    Ok(size)
}

/// The folder of the page of `runner serve`.
const SERVED: &str = "runner/http/src/pages";

/// Returns the files that the page of `runner serve` has of xterm.js.
fn terminal_files(modules: &Path) -> Result<[(&'static str, Vec<u8>); 2]> {
    let licence = env::read(&modules.join("@xterm/xterm/LICENSE"))?;
    let mut banner = String::from("/*!\nxterm.js, bundled by `cargo xtask web --keep-terminal`:\n");
    for package in ["@xterm/xterm", "@xterm/addon-fit"] {
        let described = env::read(&modules.join(package).join("package.json"))?;
        let described: serde_json::Value = serde_json::from_slice(&described)?;
        banner += &format!("{package} {}\n", described["version"].as_str().unwrap_or_default());
    }
    banner += &format!("\n{}\n*/", String::from_utf8_lossy(&licence).trim());
    let out = env::cache()?.join("web-xterm.js");
    let mut esbuild = Command::new(modules.join(".bin/esbuild"));
    esbuild.env("NODE_PATH", modules).current_dir(env::root().join("web/src"));
    esbuild.args(["xterm.js", "--bundle", "--minify", "--format=esm", "--target=es2022"]);
    esbuild.args(["--legal-comments=none", "--log-level=warning"]);
    esbuild.arg(format!("--banner:js={banner}")).arg(format!("--outfile={}", out.display()));
    env::run(&mut esbuild)?;
    let style = env::read(&modules.join("@xterm/xterm/css/xterm.css"))?;
    Ok([("xterm.js", env::read(&out)?), ("xterm.css", style)])
}

/// Writes these files.
pub fn keep_terminal() -> Result<()> {
    for (name, bytes) in terminal_files(&page_modules()?)? {
        env::write(&env::root().join(SERVED).join(name), &bytes)?;
    }
    Ok(())
}

/// Returns the packages in these files and their versions.
pub fn kept_packages() -> Result<Vec<(String, String)>> {
    let bundle = env::read(&env::root().join(SERVED).join("xterm.js"))?;
    let packages = banner_packages(&String::from_utf8_lossy(&bundle));
    ensure!(!packages.is_empty(), "{SERVED}/xterm.js names no packages");
    Ok(packages)
}

/// Returns the packages that the first lines of a bundle name.
fn banner_packages(bundle: &str) -> Vec<(String, String)> {
    let banner = bundle.lines().take_while(|line| !line.is_empty());
    let pairs = banner.filter(|line| line.starts_with('@')).filter_map(|line| line.split_once(' '));
    pairs.map(|(name, version)| (name.to_owned(), version.to_owned())).collect()
}

fn check_kept_terminal(modules: &Path) -> Result<()> {
    for (name, bytes) in terminal_files(modules)? {
        ensure!(
            env::read(&env::root().join(SERVED).join(name))? == bytes,
            "{SERVED}/{name} is stale: run cargo xtask web --keep-terminal"
        );
    }
    Ok(())
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
    fn a_bundle_names_its_packages() {
        let bundle = "/*!\nxterm.js, bundled:\n@xterm/xterm 6.0.0\n@a/b 1.2.3\n\n@c/d 1\n*/";
        let pair = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        assert_eq!(banner_packages(bundle), [pair("@xterm/xterm", "6.0.0"), pair("@a/b", "1.2.3")]);
    }

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
