//! `cargo xtask dist --web`: builds the package for pages and Node and the playground, in
//! `dist/web/`; `cargo xtask web` runs its tests, too.
//!
//! The package has the image in parts, which are made from `dist/image.webc` (`web/image.rs`).

mod guest;
mod image;
pub mod page;
mod suites;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use wasmparser::{Operator, Parser, Payload};

use crate::progress::Steps;
use crate::{env, kept, sdk};

pub use suites::{CHROMIUM, node_command};
use suites::{ReloadStore, WebSuite};

/// The kernel as a module.
const KERNEL: kept::GuestProgram = kept::GuestProgram {
    package: "wasibox-web",
    profile: "guest",
    target: Some("wasm32-wasip1-threads"),
    file: "wasibox_web.wasm",
    with: &[],
};

/// Returns the files of the package in addition to the kernel, as its `package.json` lists them.
fn package_files() -> Result<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct PackageJson {
        files: Vec<String>,
    }
    let text = env::read(&env::root().join("sdk/web/package.json"))?;
    let PackageJson { mut files } =
        serde_json::from_slice(&text).context("sdk/web/package.json")?;
    files.push("package.json".into());
    Ok(files)
}

/// Bundles modules with their imports by esbuild, because a page that fetches a file for each
/// import, one after another, starts its shell some 20 ms later even from this machine.
fn bundle_modules(out: &Path, modules: &[&str], options: &[&str]) -> Result<()> {
    let mut esbuild = Command::new(page::page_modules()?.join(".bin/esbuild"));
    esbuild.current_dir(env::root().join("sdk/web")).args(modules);
    esbuild.args(["--bundle", "--format=esm", "--target=es2022", "--external:node:*"]);
    esbuild.args(options);
    esbuild.arg("--log-level=warning").arg(format!("--outdir={}", out.display()));
    env::run(&mut esbuild)
}

/// The modules of the package.
const MODULES: &[&str] = &["index.ts", "worker.js", "store-worker.js", "fetch-worker.js"];

/// Builds the package once more for tests, with its inner modules `store` and `store-database`, and
/// returns the folder.
fn build_source() -> Result<PathBuf> {
    let out = env::cache()?.join("web-source");
    // Chunks of earlier builds have other names.
    let _ = std::fs::remove_dir_all(&out);
    let modules = [MODULES, &["store.js", "store-database.js"]].concat();
    bundle_modules(&out, &modules, &["--splitting"])?;
    Ok(out)
}

/// Returns whether a module grows its memory by itself.
fn grows_memory(wasm: &[u8]) -> Result<bool> {
    for payload in Parser::new(0).parse_all(wasm) {
        let Payload::CodeSectionEntry(body) = payload.context("not a WebAssembly module")? else {
            continue;
        };
        for operator in body.get_operators_reader()? {
            if matches!(operator?, Operator::MemoryGrow { .. }) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Builds the package; `dist/` must exist.
pub fn build_package() -> Result<()> {
    let out = env::dist().join("web");
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let mut steps = Steps::new(3);
    steps.begin_step("wasibox-web: the kernel's module");
    let kernel = kept::build_program(&KERNEL)?.bytes;
    ensure!(!grows_memory(&kernel)?, "the kernel's memory grows: see runner/web/src/heap.rs");
    env::write(&out.join("wasibox.wasm"), &kernel)?;
    bundle_modules(&out, MODULES, &[])?;
    sdk::copy_licences(&out)?;
    sdk::write_notices(&out, &["wasibox-web"])?;
    // The modules are bundled, and other files are made by the build.
    let source = env::root().join("sdk/web");
    for name in package_files()?.iter().filter(|name| !name.ends_with(".js")) {
        if source.join(name).is_file() {
            env::write(&out.join(name), &env::read(&source.join(name))?)?;
        }
    }
    let mut types = sdk::node::tsc_command(&sdk::node::node_tools()?, &env::root().join("sdk/web"));
    env::run(types.arg("--outDir").arg(out.join("types")))?;
    steps.end_step(&format!("{:.2} MB", kernel.len() as f64 / 1e6));
    steps.begin_step("wasibox-web: the image in parts");
    steps.end_step(&format!("{:.1} MB", image::build_image(&out, &kernel)? as f64 / 1e6));
    steps.begin_step("the playground");
    steps.end_step(&format!("{:.2} MB", page::build_page(&out)? as f64 / 1e6));
    steps.finish_task("dist/web is complete");
    Ok(())
}

/// Runs the package's tests in Node and, where Chromium is installed, those of the page of `runner
/// serve`.
pub fn test_package() -> Result<()> {
    WebSuite::Node.run()?;
    if Path::new(CHROMIUM).exists() {
        WebSuite::ServedPage.run()?;
    }
    Ok(())
}

/// Options of `cargo xtask web`. By default the tests run in Node.
#[derive(Debug, clap::Args)]
pub struct WebOptions {
    /// Run all suites, each within its time.
    #[arg(long, exclusive = true)]
    all: bool,
    /// Run the playground in Chromium.
    #[arg(long, exclusive = true)]
    page: bool,
    /// Run the page of `runner serve` in Chromium, with dist/ as it is.
    #[arg(long, exclusive = true)]
    served: bool,
    /// Bundle xterm.js for the page of `runner serve`, and run nothing.
    #[arg(long, exclusive = true)]
    keep_terminal: bool,
    /// Run the cases of tests/cases.
    #[arg(long)]
    cases: bool,
    /// Run in a page: chromium, firefox or KIND=PROGRAM.
    #[arg(long)]
    browser: Option<String>,
    /// Leave a page this many times while it writes.
    #[arg(long, value_name = "ROUNDS", requires = "browser", conflicts_with = "cases")]
    reload: Option<u32>,
}

impl WebOptions {
    /// Returns the suites that the options select.
    fn suites(&self) -> Vec<WebSuite> {
        if self.all {
            return WebSuite::all_suites();
        }
        if self.page {
            return vec![WebSuite::Playground];
        }
        if self.served {
            return vec![WebSuite::ServedPage];
        }
        match (self.browser.clone(), self.reload) {
            (None, _) if self.cases => vec![WebSuite::CasesInNode],
            (None, _) => vec![WebSuite::Node],
            (Some(browser), _) if self.cases => vec![WebSuite::CasesInPage(browser)],
            (Some(browser), Some(rounds)) => [ReloadStore::Files, ReloadStore::Database]
                .map(|store| WebSuite::Reload(browser.clone(), rounds, store))
                .to_vec(),
            (Some(browser), None) => vec![WebSuite::Page(browser)],
        }
    }
}

/// Builds the package and runs its tests, or those of the page of `runner serve`.
pub fn run(options: &WebOptions) -> Result<ExitCode> {
    if options.keep_terminal {
        page::keep_terminal()?;
        return Ok(ExitCode::SUCCESS);
    }
    if !options.served {
        build_package()?;
    }
    suites::run(&options.suites())?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;

    fn asked_suites(words: &[&str]) -> Option<Vec<WebSuite>> {
        let command = WebOptions::augment_args(clap::Command::new("web").no_binary_name(true));
        let matches = command.try_get_matches_from(words).ok()?;
        Some(WebOptions::from_arg_matches(&matches).ok()?.suites())
    }

    #[test]
    fn all_suites_are_those_that_can_be_asked_for_one_by_one() {
        let mut by_one = Vec::new();
        for line in ["", "--cases", "--page", "--served"] {
            by_one.extend(asked_suites(&line.split_whitespace().collect::<Vec<_>>()).unwrap());
        }
        for browser in ["chromium", "firefox"] {
            by_one.extend(asked_suites(&["--browser", browser]).unwrap());
            by_one.extend(asked_suites(&["--cases", "--browser", browser]).unwrap());
            by_one.extend(asked_suites(&["--browser", browser, "--reload", "50"]).unwrap());
        }
        let all = asked_suites(&["--all"]).unwrap();
        assert_eq!(all.len(), by_one.len());
        assert!(all.iter().all(|suite| by_one.contains(suite)));
    }

    #[test]
    fn what_is_no_suite_is_not_run() {
        assert_eq!(asked_suites(&["--browser"]), None);
        assert_eq!(asked_suites(&["--browser", "chromium", "--reload", "often"]), None);
        assert_eq!(asked_suites(&["--all", "--cases"]), None);
    }
}
