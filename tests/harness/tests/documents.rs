//! Tests the documents: every command in them runs, every link has a target, and the book has every
//! page.
//!
//! The blocks of `README.md` and of each page of `docs/` run in order, in one folder per document.
//! The folder has `dist` and `image.webc`, `runner` is in PATH, and the network is only the
//! loopback interface:
//!
//! | block | what is checked |
//! |---|---|
//! | ` ```sh ` | `bash -e` runs it with status 0 |
//! | ` ```console ` | lines after `$ ` are commands, and print the lines below them, on either stream |
//! | ` ```python ` | nothing here: the package's tests run it (`sdk/python/tests/test_docs.py`) |
//! | ` ```js `, ` ```ts ` | nothing here: the package's tests run it (`sdk/node/tests/docs.test.mjs`) |
//! | ` ```rust ` | nothing here: all such blocks are tests of `tests/session-harness` |
//!
//! This file also checks that the packages' tests include all documents with such blocks.
//!
//! `<!-- before: COMMANDS -->` runs without being shown, and creates files that a reader is assumed
//! to have. `<!-- not run: REASON -->` precedes a block that cannot run here.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use wasibox_tests::{given, root};

/// The time limit of a block in seconds.
const TIME: &str = "120";
/// The number of documents that run at the same time.
const AT_ONCE: usize = 3;

/// A step of a document.
#[derive(Debug, PartialEq)]
enum Step {
    /// A script, and the number of the line where it begins.
    Run(usize, String),
    /// A script with its line number, and the output that it must print.
    Prints(usize, String, String),
}

/// Returns the documents with commands.
fn documents() -> Vec<PathBuf> {
    let mut all = vec![root().join("README.md")];
    all.extend(pages().into_iter().map(|name| root().join("docs").join(name)));
    all
}

/// Returns the names of the pages in `docs`.
fn pages() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("docs")).expect("docs");
    let names = entries.map(|e| e.expect("entry").file_name().into_string().expect("UTF-8"));
    let mut all: Vec<String> = names.filter(|n| n.ends_with(".md") && n != "SUMMARY.md").collect();
    all.sort();
    all
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns the steps of a document. An error names the line of a block that is not closed, or that
/// is skipped without a reason.
fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut out = Vec::new();
    let mut is_left_out = false;
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let line_number = at + 1;
        if let Some(reason) = line.strip_prefix("<!-- not run:") {
            let reason = reason.trim_end_matches("-->").trim();
            if reason.is_empty() {
                return Err(format!("line {line_number}: no reason"));
            }
            is_left_out = true;
        } else if let Some(first) = line.strip_prefix("<!-- before:") {
            let mut script = String::new();
            let mut rest = first;
            while !rest.ends_with("-->") {
                let _ = writeln!(script, "{rest}");
                rest = lines.next().ok_or(format!("line {line_number}: the comment goes on"))?.1;
            }
            let _ = writeln!(script, "{}", rest.trim_end_matches("-->"));
            out.push(Step::Run(line_number, script));
        } else if let Some(language) = line.strip_prefix("```") {
            let mut block = String::new();
            loop {
                let (_, line) =
                    lines.next().ok_or(format!("line {line_number}: the block goes on"))?;
                if line == "```" {
                    break;
                }
                let _ = writeln!(block, "{line}");
            }
            match (std::mem::take(&mut is_left_out), language) {
                (true, _) => {}
                (false, "sh") => out.push(Step::Run(line_number, block)),
                (false, "console") => out.extend(commands(line_number, &block)),
                _ => {}
            }
        }
    }
    Ok(out)
}

/// Returns the commands of a console session.
fn commands(line_number: usize, block: &str) -> Vec<Step> {
    let mut out: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        let to = match (line.strip_prefix("$ "), line.strip_prefix("> "), out.last_mut()) {
            (Some(command), _, _) => {
                out.push((format!("{command}\n"), String::new()));
                continue;
            }
            // A command continues over lines until something is printed.
            (_, Some(more), Some((command, printed))) if printed.is_empty() => {
                let _ = writeln!(command, "{more}");
                continue;
            }
            (_, _, to) => to,
        };
        if let Some((_, printed)) = to {
            let _ = writeln!(printed, "{line}");
        }
    }
    out.into_iter().map(|(script, printed)| Step::Prints(line_number, script, printed)).collect()
}

/// Runs a script in a folder. Returns whether its status was 0, and all that it printed.
fn bash(script: &str, folder: &Path) -> (bool, String) {
    let dist = given("WASIBOX_DIST", "dist");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut c = Command::new("timeout");
    c.args(["--kill-after=5", TIME, "bash", "-ec", &format!("exec 2>&1\n{script}")]);
    // This is not a pipe, because a background process would hold it open.
    let printed = tempfile::tempfile().expect("file");
    c.current_dir(folder).stdin(Stdio::null()).stdout(printed.try_clone().expect("file"));
    c.env("PATH", format!("{}:{path}", dist.display()));
    // Machine code and its key stay in the user's folders; all other files that are written below
    // the home folder belong to the document.
    c.env("XDG_CACHE_HOME", folder_of("XDG_CACHE_HOME", ".cache"));
    c.env("XDG_STATE_HOME", folder_of("XDG_STATE_HOME", ".local/state")).env("HOME", folder);
    let status = c.status().expect("bash");
    let mut out = Vec::new();
    let mut from = printed;
    from.seek(SeekFrom::Start(0))
        .and_then(|_| from.read_to_end(&mut out))
        .expect("what it printed");
    (status.success(), String::from_utf8_lossy(&out).into_owned())
}

/// Returns the folder of a variable, or its default below the home.
fn folder_of(variable: &str, default: &str) -> PathBuf {
    let given = std::env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute());
    given.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(default))
}

/// Runs a document. Returns the failures and the number of steps.
fn document(path: &Path) -> (Vec<String>, usize) {
    let dist = given("WASIBOX_DIST", "dist");
    let folder = tempfile::tempdir().expect("folder");
    for (name, to) in [("dist", dist.clone()), ("image.webc", dist.join("image.webc"))] {
        std::os::unix::fs::symlink(to, folder.path().join(name)).expect("link");
    }
    let all = match steps(&text(path)) {
        Ok(all) => all,
        Err(why) => return (vec![format!("{}: {why}", path.display())], 0),
    };
    let mut failures = Vec::new();
    for step in &all {
        let (line, script, wanted) = match step {
            Step::Run(line, script) => (line, script, None),
            Step::Prints(line, script, printed) => (line, script, Some(printed)),
        };
        let begun = std::time::Instant::now();
        let (is_well, printed) = bash(script, folder.path());
        // This is shown with `--nocapture`.
        println!("{}:{line} {:.1} s", path.display(), begun.elapsed().as_secs_f64());
        let place = format!("{}:{line}", path.display());
        match wanted {
            None if !is_well => failures.push(format!("{place}: {script}{printed}")),
            Some(wanted) if *wanted != printed => {
                failures.push(format!("{place}: {script}prints\n{printed}instead of\n{wanted}"));
            }
            _ => {}
        }
    }
    (failures, all.len())
}

#[test]
fn commands_run() {
    let waiting = Mutex::new(documents());
    let told = Mutex::new((Vec::new(), 0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("list").pop();
                    let Some(path) = next else { return };
                    let (failures, count) = document(&path);
                    let mut told = told.lock().expect("list");
                    told.0.extend(failures);
                    told.1 += count;
                }
            });
        }
    });
    let (failures, count) = told.into_inner().expect("list");
    assert!(failures.is_empty(), "{} of {count} failed\n{}", failures.len(), failures.join("\n"));
    assert!(count >= 30, "{count} steps: what has become of the documents?");
}

/// Returns the targets of links in a text, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let ends = line.match_indices("](").map(|(at, _)| &line[at + 2..]);
            out.extend(ends.filter_map(|rest| rest.split_once(')')).map(|(to, _)| to.to_owned()));
        }
    }
    out
}

/// Returns the anchors of a page's headings as GitHub and mdBook generate them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let name = |heading: &str| -> String {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(name).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut all = documents();
    all.extend(["ARCHITECTURE.md", "docs/SUMMARY.md", "llms.txt"].map(|name| root().join(name)));
    for page in all {
        for link in links(&text(&page)) {
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let to = match path {
                "" => page.clone(),
                path => page.parent().expect("folder").join(path),
            };
            let is_there = to.exists()
                && (anchor.is_empty() || to.is_dir() || anchors(&text(&to)).contains(anchor));
            if !is_there {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the languages of a document's blocks, except those that are skipped.
fn languages(text: &str) -> BTreeSet<&str> {
    let mut out = BTreeSet::new();
    let (mut is_code, mut is_left_out) = (false, false);
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            let language = info.split(',').next().unwrap_or_default();
            if !is_code && !std::mem::take(&mut is_left_out) {
                out.insert(language);
            }
            is_code = !is_code;
        } else if !is_code {
            is_left_out |= line.starts_with("<!-- not run:");
        }
    }
    out
}

#[test]
fn blocks_of_code_have_a_test() {
    let tests = [
        ("python", "sdk/python/tests/test_docs.py"),
        ("js", "xtask/src/sdk/node.rs"),
        ("ts", "xtask/src/sdk/node.rs"),
    ];
    let mut wrong = Vec::new();
    for page in documents() {
        let name = page.strip_prefix(root()).expect("a document of ours").display().to_string();
        let text = text(&page);
        let here = languages(&text);
        // rustdoc takes a block without a language for Rust, and readers see it without colours.
        if here.contains("") {
            wrong.push(format!("{name}: a block without a language"));
        }
        for (language, test) in tests {
            if here.contains(language) && !self::text(&root().join(test)).contains(&name) {
                wrong.push(format!("{name}: blocks of {language} that {test} does not know"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(
        languages("```rust,no_run\nx\n```\n<!-- not run: a -->\n```js\n```\n```\n"),
        BTreeSet::from(["", "rust"])
    );
}

#[test]
fn the_book_and_the_list_for_models_have_every_page() {
    let listed: BTreeSet<String> =
        links(&text(&root().join("docs/SUMMARY.md"))).into_iter().collect();
    let missing: Vec<String> = pages().into_iter().filter(|p| !listed.contains(p)).collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
    let listed: BTreeSet<String> = links(&text(&root().join("llms.txt"))).into_iter().collect();
    let missing: Vec<String> =
        pages().into_iter().filter(|p| !listed.contains(&format!("docs/{p}"))).collect();
    assert!(missing.is_empty(), "not in llms.txt: {missing:?}");
}

#[test]
fn documents_are_read_as_they_are_written() {
    let text = "a\n<!-- before: echo 1 > f\ncat f -->\n```sh\nls\n```\n\n<!-- not run: why -->\n```sh\nrm\n```\n\
                ```console\n$ a\n> b\n1\n$ c\n```\n```python\nx\n```\n";
    let wanted = vec![
        Step::Run(2, " echo 1 > f\ncat f \n".into()),
        Step::Run(4, "ls\n".into()),
        Step::Prints(12, "a\nb\n".into(), "1\n".into()),
        Step::Prints(12, "c\n".into(), String::new()),
    ];
    assert_eq!(steps(text).expect("steps"), wanted);
    assert!(steps("<!-- not run: -->\n").is_err());
    assert!(steps("```sh\nls\n").is_err());
    assert_eq!(links("[a](b.md#c) and\n```\n[x](y)\n```\n"), ["b.md#c"]);
    assert!(anchors("## OpenAI Agents SDK\n").contains("openai-agents-sdk"));
}
