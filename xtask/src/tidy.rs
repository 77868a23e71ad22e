//! Structural rules that a compiler does not check: which crates may depend on which, where
//! `unsafe` may be used, the requirements of every applet, help in words of our own, names of
//! types, and the truth of ARCHITECTURE.md and the glossary.

mod architecture;
mod documents;
mod help;
pub mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::env::{self, WorkspaceCrate};

/// Allowed arrows between workspace crates, as in ARCHITECTURE.md. A crate that is not listed here
/// fails.
const ARROWS: &[(&str, &[&str])] = &[
    ("box-abi", &[]),
    ("box-advice", &[]),
    ("box-sys", &["box-abi"]),
    ("box-text", &[]),
    ("box-applet", &["box-advice", "box-sys", "box-text"]),
    ("box-coreutils", TOOL),
    ("box-grep", TOOL),
    ("box-sed", TOOL),
    ("box-awk", TOOL),
    ("box-jq", TOOL),
    ("box-curl", TOOL),
    ("box-nc", TOOL),
    ("box-utilities", TOOL),
    ("box-find", TOOL),
    ("box-diff", TOOL),
    ("box-archive", TOOL),
    ("box-cases", &["box-applet", "box-sys"]),
    ("sh-syntax", &["box-text"]),
    ("sh-expand", &["sh-syntax", "box-text"]),
    ("sh-exec", &["sh-syntax", "sh-expand", "box-applet", "box-sys", "box-text"]),
    ("sh-analyze", &["sh-syntax"]),
    ("sh-cli", &["sh-exec", "sh-analyze", "sh-syntax", "box-applet", "box-sys", "box-text"]),
    (
        "box",
        &[
            "sh-cli",
            "box-applet",
            "box-sys",
            "box-coreutils",
            "box-grep",
            "box-sed",
            "box-awk",
            "box-jq",
            "box-curl",
            "box-nc",
            "box-utilities",
            "box-find",
            "box-diff",
            "box-archive",
        ],
    ),
    ("js-curves", &[]),
    ("js-engine", &[]),
    ("js-transform", &[]),
    ("js", &["box-sys", "box-text", "js-curves", "js-engine", "js-transform"]),
    ("backtrace", &[]),
    ("wasibox-protocol", &[]),
    ("wasibox-image", &[]),
    ("wasibox-snapshot", &["wasibox-protocol"]),
    ("wasibox-bucket", &[]),
    ("wasibox-store", &["wasibox-bucket", "wasibox-protocol", "wasibox-snapshot"]),
    ("wasibox-vfs", &["box-abi", "wasibox-image", "wasibox-snapshot"]),
    ("wasibox-files", &["wasibox-protocol", "wasibox-vfs", "box-text"]),
    ("wasibox-workspace", &["wasibox-files", "wasibox-snapshot", "wasibox-vfs"]),
    ("wasibox-kernel", &["wasibox-image", "wasibox-protocol", "wasibox-vfs", "box-abi"]),
    (
        "wasibox-sandbox",
        &["wasibox-image", "wasibox-kernel", "wasibox-vfs", "box-abi", "box-advice", "backtrace"],
    ),
    (
        "wasibox-web",
        &[
            "box-abi",
            "sh-syntax",
            "wasibox-bridge",
            "wasibox-files",
            "wasibox-image",
            "wasibox-kernel",
            "wasibox-protocol",
            "wasibox-snapshot",
            "wasibox-vfs",
        ],
    ),
    ("wasibox-worker", &[]),
    ("wasibox-bridge", &["box-abi"]),
    (
        "wasibox",
        &[
            "box-abi",
            "wasibox-bridge",
            "wasibox-files",
            "wasibox-sandbox",
            "wasibox-image",
            "wasibox-protocol",
            "wasibox-store",
            "wasibox-vfs",
            "wasibox-worker",
            "wasibox-workspace",
        ],
    ),
    ("wasibox-calculator", &[]),
    ("wasibox-providers", &["wasibox-bridge"]),
    ("wasibox-actions", &["wasibox", "wasibox-calculator", "wasibox-providers"]),
    ("wasibox-mcp", &["wasibox", "wasibox-actions"]),
    ("wasibox-http", &["wasibox", "wasibox-actions", "wasibox-mcp", "wasibox-providers"]),
    ("wasibox-e2b", &["wasibox", "wasibox-actions", "wasibox-http"]),
    ("wasibox-chat", &["wasibox-actions", "wasibox-bridge"]),
    (
        "wasibox-cli",
        &[
            "sh-syntax",
            "wasibox",
            "wasibox-actions",
            "wasibox-image",
            "wasibox-chat",
            "wasibox-e2b",
            "wasibox-http",
            "wasibox-mcp",
            "wasibox-providers",
        ],
    ),
    ("wasibox-sdk", &["wasibox"]),
    ("wasibox-python", &["wasibox", "wasibox-sdk"]),
    ("wasibox-node", &["wasibox", "wasibox-sdk"]),
    ("wasibox-escape", &["wasibox", "wasibox-image", "wasibox-vfs"]),
    (
        "wasibox-sessions",
        &[
            "wasibox",
            "wasibox-actions",
            "wasibox-e2b",
            "wasibox-http",
            "wasibox-mcp",
            "wasibox-providers",
        ],
    ),
    ("wasibox-tests", &[]),
    ("wasibox-differ", &[]),
    ("xtask", &["wasibox-image", "wasibox-protocol"]),
];
const TOOL: &[&str] = &["box-applet", "box-sys", "box-text"];

/// The crates that may use `unsafe`. In `runner/web` these are `ffi.rs`, the interface to
/// JavaScript, and `heap.rs`, the allocator.
const UNSAFE: &[&str] = &["tools/sys", "js/engine", "runner/sandbox", "runner/web"];

/// The crates of bindings, in which foreign macros generate `unsafe` and allow it. `forbid` would
/// not let them; `deny` covers the code written here.
const MACROS: &[&str] = &["sdk/node", "sdk/python"];

/// The browser's kernel, which has to build for [`BROWSER`]. It includes crates that the server
/// uses, too: image, file system, kernel.
const PORTABLE: &[&str] = &["wasibox-web"];
/// The target of the browser's kernel.
const BROWSER: &str = "wasm32-wasip1-threads";

/// The maximum length of a line in a file of cases, in characters. A reader cannot compare longer
/// ones.
const WIDE: usize = 400;

/// The maximum length of a source file in lines. A longer one gets a note but does not fail.
const LONG: usize = 700;

/// Options of `cargo xtask tidy`.
#[derive(Debug, Default, clap::Args)]
pub struct TidyOptions {
    /// Print digests of the help of this machine's GNU tools instead.
    #[arg(long)]
    gnu_help: bool,
}

/// Prints every violation; returns a failure if there is one.
pub fn run(options: &TidyOptions) -> Result<ExitCode> {
    if options.gnu_help {
        let (binary, list) = build_applets()?;
        help::print_gnu_help(&binary, &applet_names(&list))?;
        return Ok(ExitCode::SUCCESS);
    }
    let crates = env::workspace_crates()?;
    let mut breaches = check_arrows(&crates);
    for package in &crates {
        check_sources(package.dir(), &mut breaches)?;
    }
    check_applets(&mut breaches)?;
    check_portable(&mut breaches)?;
    check_cases(&env::root().join("tests/cases"), &mut breaches)?;
    architecture::check_architecture(&crates, &mut breaches)?;
    documents::check_documents(&mut breaches)?;
    crate::generate::check_generated(&mut breaches)?;
    names::check_names(&crates, &mut breaches)?;
    for b in &breaches {
        eprintln!("tidy: {b}");
    }
    if breaches.is_empty() {
        eprintln!("tidy: {} crates, all rules hold", crates.len());
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

/// Returns the dependencies that the list does not allow, and the crates that it does not name.
/// Dev-dependencies are not checked.
fn check_arrows(packages: &[WorkspaceCrate]) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let ours: BTreeSet<&str> = packages.iter().map(|p| p.name.as_str()).collect();
    let mut out = Vec::new();
    for p in packages {
        let Some(allowed) = allowed.get(p.name.as_str()) else {
            out.push(format!("{}: not in the list of crates (xtask/src/tidy.rs)", p.name));
            continue;
        };
        for d in &p.dependencies {
            let normal = d.kind.is_none();
            if normal && ours.contains(d.name.as_str()) && !allowed.contains(&d.name.as_str()) {
                out.push(format!("{} must not use {}", p.name, d.name));
            }
        }
    }
    out
}

/// Finds `unsafe` outside its crates, a missing `forbid`, a crate without module documentation, and
/// an unsafe block without a comment. Prints a note about each long file.
fn check_sources(dir: &Path, out: &mut Vec<String>) -> Result<()> {
    let rel = dir.strip_prefix(env::root()).unwrap_or(dir).to_path_buf();
    let may = UNSAFE.iter().any(|u| rel == Path::new(u));
    let mut roots = vec![dir.join("src/lib.rs"), dir.join("src/main.rs")];
    roots.retain(|r| r.is_file());
    for root in &roots {
        let text = String::from_utf8_lossy(&env::read(root)?).into_owned();
        let denies = if MACROS.iter().any(|m| rel == Path::new(m)) {
            text.contains("#![deny(unsafe_code)]")
        } else {
            text.contains("#![forbid(unsafe_code)]")
        };
        if !may && !denies {
            out.push(format!("{}: no #![forbid(unsafe_code)]", path_text(root)));
        }
        if !text.starts_with("//!") {
            out.push(format!("{}: no module documentation", path_text(root)));
        }
    }
    let mut files = vec![dir.join("src")];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                files.push(entry?.path());
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = String::from_utf8_lossy(&env::read(&path)?).into_owned();
            let lines = text.lines().count();
            if lines > LONG {
                eprintln!("tidy: note: {} has {lines} lines", path_text(&path));
            }
            if may {
                find_unexplained(&path, &text, out);
            }
        }
    }
    Ok(())
}

/// Finds lines of cases that are too long to read.
fn check_cases(dir: &Path, out: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            check_cases(&path, out)?;
            continue;
        }
        let text = String::from_utf8_lossy(&env::read(&path)?).into_owned();
        for (n, line) in text.lines().enumerate().filter(|(_, l)| l.chars().count() > WIDE) {
            let wide = line.chars().count();
            out.push(format!("{}:{}: {wide} characters in a line", path_text(&path), n + 1));
        }
    }
    Ok(())
}

/// Finds every `unsafe {` without a `SAFETY:` comment in the lines above it.
fn find_unexplained(path: &Path, text: &str, out: &mut Vec<String>) {
    const ABOVE: usize = 12;
    let lines: Vec<&str> = text.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let from = i.saturating_sub(ABOVE);
        if code.contains("unsafe {") && !lines[from..=i].iter().any(|l| l.contains("SAFETY:")) {
            out.push(format!("{}:{}: unsafe without SAFETY comment", path_text(path), i + 1));
        }
    }
}

/// Builds the crates that must also build for a browser.
fn check_portable(out: &mut Vec<String>) -> Result<()> {
    // The profile is that of the kernel's module (`web`), so that its build can reuse the results.
    let mut build = env::cached_cargo()?;
    build.args(["build", "--quiet", "--locked", "--profile", "guest", "--target", BROWSER]);
    for name in PORTABLE {
        build.args(["-p", name]);
    }
    if !build.status()?.success() {
        out.push(format!(
            "{} do not build for {BROWSER} (`rustup target add {BROWSER}` if it is not installed)",
            PORTABLE.join(", ")
        ));
    }
    Ok(())
}

fn path_text(path: &Path) -> String {
    path.strip_prefix(env::root()).unwrap_or(path).display().to_string()
}

/// Builds the native binary; returns its path, and its list of applets.
fn build_applets() -> Result<(PathBuf, String)> {
    let mut build = env::cargo();
    env::run(build.args(["build", "--quiet", "--locked", "-p", "box"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| env::root().join("target"), PathBuf::from);
    let binary = target.join("debug/box");
    let list = env::command_output(Command::new(&binary).arg("--list"))?;
    Ok((binary, list))
}

fn applet_names(list: &str) -> Vec<&str> {
    list.lines().filter_map(|line| line.split_whitespace().next()).collect()
}

/// Runs `--help` of every applet of the native binary. Each must print to standard output with
/// status 0, except those whose standard forbids options, and in words of our own. Also checks that
/// each has a file of cases.
fn check_applets(out: &mut Vec<String>) -> Result<()> {
    /// Applets without options by POSIX or as builtins of bash.
    const NO_OPTIONS: &[&str] = &["[", "echo", "false", "test", "true", ":", "yes"];
    const SHELLS: &[&str] = &["bash", "sh"];
    let (binary, list) = build_applets()?;
    let names = applet_names(&list);
    if names.windows(2).any(|w| w[0] >= w[1]) {
        out.push("the applet table is not sorted".to_string());
    }
    for name in names {
        let cases = env::root().join(format!("tests/cases/tools/{name}.toml"));
        if !SHELLS.contains(&name) && !cases.is_file() {
            out.push(format!("{} is not there", path_text(&cases)));
        }
        let got = Command::new(&binary).args([name, "--help"]).output()?;
        help::find_copies(name, &String::from_utf8_lossy(&got.stdout), out);
        if NO_OPTIONS.contains(&name) {
            continue;
        }
        if !got.status.success() || got.stdout.is_empty() {
            out.push(format!("{name} --help: {}, {} bytes", got.status, got.stdout.len()));
        }
    }
    let builtins = help::builtin_help(Command::new(&binary).arg("bash"))?;
    help::find_copies("bash", &builtins, out);
    Ok(())
}
