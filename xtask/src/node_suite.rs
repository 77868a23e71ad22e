//! `cargo xtask node-suite DIR`: runs Node's own `test/parallel` in the image.
//!
//! DIR is a checkout of Node's sources, or the folder `test` of one. Each file runs in a guest of
//! its own. A test of features that cannot apply (Node's C++ internals, addons, V8's
//! flags) is skipped and counted with the reason, as is a test that skips itself. The tests are
//! not part of the image; results are in `docs/javascript.md`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};

use crate::env;

/// Modules by the prefixes of their tests' names, after `test-`.
const MODULES: &[(&str, &[&str])] = &[
    ("assert", &["assert"]),
    ("buffer", &["buffer"]),
    ("child_process", &["child-process"]),
    ("console", &["console"]),
    ("crypto", &["crypto", "webcrypto"]),
    ("dns", &["dns"]),
    (
        "encoding",
        &[
            "whatwg-encoding",
            "global-encoder",
            "icu-transcode",
            "whatwg-webstreams-encoding",
            "webstream-encoding",
        ],
    ),
    ("events", &["event"]),
    ("fs", &["fs"]),
    ("http", &["http"]),
    ("https", &["https"]),
    ("intl", &["intl", "icu", "datetime", "tz"]),
    ("module", &["module", "require"]),
    ("net", &["net"]),
    ("os", &["os"]),
    ("path", &["path"]),
    ("process", &["process"]),
    ("querystring", &["querystring"]),
    ("readline", &["readline"]),
    ("stream", &["stream", "streams"]),
    ("string_decoder", &["string-decoder"]),
    ("test", &["runner"]),
    ("timers", &["timers"]),
    ("url", &["url", "whatwg-url"]),
    ("urlpattern", &["urlpattern"]),
    ("util", &["util"]),
    ("vm", &["vm"]),
    ("whatwg", &["whatwg"]),
    (
        "worker_threads",
        &["worker", "broadcastchannel", "messageport", "messagechannel", "messaging"],
    ),
    ("zlib", &["zlib"]),
];

/// The reasons why a test cannot apply, with the strings in its text that show it.
const LEFT_OUT: &[(&str, &[&str])] = &[
    (
        "internals",
        &[
            "--expose-internals",
            "--expose_internals",
            "internalBinding(",
            "require('internal/",
            "process.binding(",
        ],
    ),
    (
        "V8",
        &[
            "--allow-natives-syntax",
            "--expose-gc",
            "--expose_gc",
            "--max-old-space",
            "--trace-",
            "--harmony",
            "--stack-size",
            "require('v8')",
            "--no-opt",
            "externalize",
            "--prof",
            "--cpu-prof",
            "--heap-prof",
            "--jitless",
            "--abort-on-uncaught",
        ],
    ),
    ("cluster", &["require('cluster')"]),
    ("inspector", &["skipIfInspectorDisabled", "--inspect", "require('inspector"]),
    ("addons", &["addons/", "node-api/", "process.dlopen"]),
    ("http2, quic", &["require('http2')", "'node:http2'", "require('quic')"]),
    (
        "permissions, snapshots",
        &["--permission", "--build-snapshot", "--experimental-sea", "--experimental-policy"],
    ),
    ("TLS", &["https.createServer", "tls.createServer", "tls.Server", "https.Server"]),
    ("Unix sockets", &["common.PIPE"]),
    ("Windows", &["common.isWindows)\n  common.skip('this test is Windows"]),
    (
        "experiments",
        &["--experimental-vm-modules", "--js-source-phase-imports", "--experimental-network"],
    ),
    ("network outside", &["test/internet", "addresses.INET"]),
    (
        "coverage, watching",
        &["--experimental-test-coverage", "coverage: true", "--watch", "watch: true"],
    ),
];

/// Texts of tests that need TLS servers. Tests of `crypto` read the same keys and are not skipped.
const SERVERS_KEYS: &[&str] = &["fixtures.readKey", "agent1-key"];

#[derive(Clone, Debug, PartialEq, Eq)]
enum NodeTestResult {
    Passed,
    /// The last line that the test printed.
    Failed(String),
    LeftOut(String),
}

/// Options of `cargo xtask node-suite`.
#[derive(Debug, clap::Args)]
pub struct NodeSuiteOptions {
    /// The folder of Node's sources.
    dir: PathBuf,
    /// Parts of the names of the tests to run.
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// The number of guests at a time.
    #[arg(long, value_name = "N", default_value = "2")]
    jobs: NonZeroUsize,
    /// The time limit of a test in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    timeout: usize,
}

/// Runs `cargo xtask node-suite`.
pub fn run(options: &NodeSuiteOptions) -> Result<ExitCode> {
    let dir = &options.dir;
    let tests = [dir.join("test"), dir.clone()];
    let tests = tests.into_iter().find(|d| d.join("parallel").is_dir());
    let tests = tests.with_context(|| format!("{} has no test/parallel", dir.display()))?;
    let files = test_files(&tests.join("parallel"), &options.patterns)?;
    ensure!(!files.is_empty(), "no test has such a name");
    let came = run_all(&tests, &files, options.jobs.get(), options.timeout)?;
    print_report(&files, &came)
}

/// Returns the tests of the modules, each with the name of its module.
fn test_files(dir: &Path, patterns: &[String]) -> Result<Vec<(String, &'static str)>> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_script = [".js", ".mjs", ".cjs"].iter().any(|end| name.ends_with(end));
        let wanted = patterns.is_empty() || patterns.iter().any(|p| name.contains(p.as_str()));
        if let (true, true, Some(module)) = (is_script, wanted, module_of(&name)) {
            out.push((name, module));
        }
    }
    out.sort();
    Ok(out)
}

fn module_of(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix("test-")?;
    let fits = |begin: &str| {
        let tail = rest.strip_prefix(begin)?;
        let tail = tail.strip_prefix('s').unwrap_or(tail);
        tail.starts_with(['-', '.']).then_some(begin.len())
    };
    let found = MODULES.iter().filter_map(|(module, begins)| {
        Some((begins.iter().filter_map(|b| fits(b)).max()?, *module))
    });
    found.max().map(|(_, module)| module)
}

fn run_all(
    tests: &Path,
    files: &[(String, &'static str)],
    jobs: usize,
    timeout: usize,
) -> Result<BTreeMap<String, NodeTestResult>> {
    let (next, came) = (AtomicUsize::new(0), Mutex::new(Ok(BTreeMap::new())));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(files.len()) {
            scope.spawn(|| {
                while let Some((file, _)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let one = run_test(tests, file, timeout);
                    let mut all = came.lock().unwrap_or_else(PoisonError::into_inner);
                    match (one, all.as_mut()) {
                        (Ok(one), Ok(all)) => drop(all.insert(file.clone(), one)),
                        (Err(why), Ok(_)) => *all = Err(why),
                        _ => {}
                    }
                }
            });
        }
    });
    came.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one test in a guest.
fn run_test(tests: &Path, file: &str, timeout: usize) -> Result<NodeTestResult> {
    let text =
        String::from_utf8_lossy(&env::read(&tests.join("parallel").join(file))?).into_owned();
    let has = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    if let Some((why, _)) = LEFT_OUT.iter().find(|(_, marks)| has(marks)) {
        return Ok(NodeTestResult::LeftOut((*why).into()));
    }
    if module_of(file) != Some("crypto") && has(SERVERS_KEYS) {
        return Ok(NodeTestResult::LeftOut("TLS".into()));
    }
    let flags =
        text.lines().filter_map(|l| l.strip_prefix("// Flags: ")).flat_map(str::split_whitespace);
    let dist = env::dist();
    let mut command = Command::new(dist.join("runner"));
    command.args(["exec", "--no-stdin", "--timeout", &timeout.to_string(), "--memory", "1G"]);
    command.arg("--mount").arg(format!("{}:/test:ro", tests.display()));
    command.args([
        "--env",
        "NODE_TEST_DIR=/tmp",
        "--env",
        "NODE_SKIP_FLAG_CHECK=1",
        "--cwd",
        "/test",
    ]);
    command.arg(dist.join("image.webc")).args(["--", "node"]).args(flags);
    command.arg(format!("/test/parallel/{file}"));
    let done = command.stdin(Stdio::null()).output();
    let done = done.context("no dist/runner; run cargo xtask dist first")?;
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if let Some(line) = out.lines().find(|l| l.starts_with("1..0 # Skipped")) {
        return Ok(NodeTestResult::LeftOut(format!(
            "says so: {}",
            line.trim_start_matches("1..0 # Skipped: ")
        )));
    }
    if done.status.success() {
        return Ok(NodeTestResult::Passed);
    }
    let is_cause = |l: &&str| l.contains("Error") || l.contains("ERR_") || l.contains("not ");
    let why = err.lines().find(is_cause).or_else(|| err.lines().last()).unwrap_or_default();
    Ok(NodeTestResult::Failed(format!("[{}] {}", done.status.code().unwrap_or(-1), why.trim())))
}

/// Prints a table by module, and a list of the tests that did not pass.
fn print_report(
    files: &[(String, &'static str)],
    came: &BTreeMap<String, NodeTestResult>,
) -> Result<ExitCode> {
    let mut rows: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut list = String::new();
    for (file, module) in files {
        let row = rows.entry(module).or_default();
        match came.get(file) {
            Some(NodeTestResult::Passed) => row[0] += 1,
            Some(NodeTestResult::Failed(why)) => {
                row[1] += 1;
                list += &format!("failed\t{file}\t{why}\n");
            }
            Some(NodeTestResult::LeftOut(why)) => {
                row[2] += 1;
                let kind = if why.starts_with("says so") { "the test says so" } else { why };
                *reasons.entry(kind).or_default() += 1;
                list += &format!("left out\t{file}\t{why}\n");
            }
            None => {}
        }
    }
    let mut total = [0; 3];
    println!("| module | passed | failed | rate | left out |\n|---|---|---|---|---|");
    for (module, row) in &rows {
        print_line(module, row);
        total.iter_mut().zip(row).for_each(|(t, n)| *t += n);
    }
    print_line("all", &total);
    for (why, count) in reasons {
        println!("left out: {why}: {count}");
    }
    let out = env::root().join("target/javascript-suites");
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    env::write(&out.join("node.tsv"), list.as_bytes())?;
    println!("what did not simply pass, and why: {}", out.join("node.tsv").display());
    Ok(if total[1] > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print_line(name: &str, [passed, failed, left_out]: &[usize; 3]) {
    let rate = 100.0 * *passed as f64 / (passed + failed).max(1) as f64;
    println!("| {name} | {passed} | {failed} | {rate:.0} % | {left_out} |");
}

#[cfg(test)]
mod tests {
    use super::module_of;

    #[test]
    fn tests_belong_to_modules_by_their_names() {
        assert_eq!(module_of("test-fs-read.js"), Some("fs"));
        assert_eq!(module_of("test-https-agent.js"), Some("https"));
        assert_eq!(module_of("test-http-agent.js"), Some("http"));
        assert_eq!(module_of("test-events-once.js"), Some("events"));
        assert_eq!(module_of("test-event-target.js"), Some("events"));
        assert_eq!(module_of("test-path.js"), Some("path"));
        assert_eq!(module_of("test-whatwg-encoding-custom-fatal.js"), Some("encoding"));
        assert_eq!(module_of("test-whatwg-url-properties.js"), Some("url"));
        assert_eq!(module_of("test-worker-exit-code.js"), Some("worker_threads"));
        assert_eq!(module_of("test-http2-x.js"), None);
    }
}
