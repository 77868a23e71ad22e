//! `cargo xtask python-suite`: runs CPython's own tests, and those of its packages, in the image.
//!
//! Each test file runs in a guest of its own. The scripts for the guest are in
//! `python-dist/suites`, with lists of excluded tests and the reasons. The tests come from the
//! pinned sources and are mounted over the image's library, which has none. A test that ends the
//! guest (a trap, a timeout) counts as failed, and the file is run again without it. The tests are
//! not part of the image.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};

use crate::{env, python};

const LIBRARY: &str = "/usr/lib/python3.13";

/// The maximum number of tests that may end their guest before the file is given up.
const MOST_CRASHES: usize = 12;

/// A package that can be tested: its name in the pins, its folder, and the parts whose tests are
/// run.
struct TestedPackage {
    name: &'static str,
    folder: &'static str,
    parts: &'static [&'static str],
}

const PACKAGES: &[TestedPackage] = &[
    TestedPackage {
        name: "numpy",
        folder: "numpy",
        parts: &["_core", "fft", "lib", "linalg", "ma", "polynomial", "random"],
    },
    TestedPackage { name: "pandas", folder: "pandas", parts: PANDAS },
    TestedPackage { name: "scipy", folder: "scipy", parts: SCIPY },
    TestedPackage { name: "scikit-learn", folder: "sklearn", parts: SKLEARN },
];

const SCIPY: &[&str] = &[
    "cluster",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
];

/// The tested parts of scikit-learn, without those that need a network or run all checks for each
/// estimator.
const SKLEARN: &[&str] = &[
    "cluster",
    "decomposition",
    "ensemble",
    "feature_extraction",
    "linear_model",
    "manifold",
    "metrics",
    "model_selection",
    "neighbors",
    "preprocessing",
    "svm",
    "tree",
    "utils",
];

/// The tested folders of pandas, which are all below `pandas/tests`.
const PANDAS: &[&str] = &[
    "frame",
    "series",
    "groupby",
    "io/parser",
    "io/json",
    "io/excel",
    "io/formats",
    "reshape",
    "indexing",
    "window",
    "resample",
    "indexes",
    "arrays",
];

/// A suite that is ready to run.
struct PythonSuite {
    /// The script in `python-dist/suites`, and the list of excluded tests.
    script: &'static str,
    skips: PathBuf,
    mounts: Vec<(PathBuf, String)>,
    /// Test files, with the names that the script expects.
    files: Vec<String>,
}

/// Options of `cargo xtask python-suite`.
#[derive(Debug, clap::Args)]
pub struct PythonSuiteOptions {
    /// The suite: cpython, numpy, pandas, scipy or scikit-learn.
    name: String,
    /// Parts of the names of the files to run.
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// The number of guests at a time.
    #[arg(long, value_name = "N", default_value = "2")]
    jobs: NonZeroUsize,
    #[command(flatten)]
    limits: FileTimeLimits,
}

/// The time limits for one file, in seconds.
#[derive(Debug, clap::Args)]
struct FileTimeLimits {
    /// The seconds after which a guest is ended; its current test then counts as failed.
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    timeout: usize,
    /// The seconds after which no further test of a pytest file starts.
    #[arg(long, value_name = "SECONDS")]
    budget: Option<usize>,
}

/// The result of one file.
#[derive(Default)]
struct FileOutcome {
    /// `passed`, `failed`, `skipped`, `expected`, `seconds` and `cut`.
    counts: BTreeMap<String, f64>,
    /// Kind, test, reason.
    lines: Vec<String>,
}

/// Runs `cargo xtask python-suite`. The tests that are left are counted separately, in the last
/// column.
pub fn run(options: &PythonSuiteOptions) -> Result<ExitCode> {
    let (name, patterns) = (&options.name, &options.patterns);
    let mut suite = find_suite(name)?;
    suite.files.retain(|f| patterns.is_empty() || patterns.iter().any(|p| f.contains(p.as_str())));
    ensure!(!suite.files.is_empty(), "no test file of {name} has such a name");
    let out = env::root().join("target/python-suites").join(name);
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;

    let outcomes: Mutex<BTreeMap<String, FileOutcome>> = Mutex::default();
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.get().min(suite.files.len()) {
            scope.spawn(|| {
                while let Some(file) = suite.files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match file_outcome(&suite, file, &options.limits, &out) {
                        Ok(outcome) => {
                            println!("{}", table_row(file, &outcome.counts));
                            lock_mutex(&outcomes).insert(file.clone(), outcome);
                        }
                        Err(why) => *lock_mutex(&failure) = Some(why),
                    }
                }
            });
        }
    });
    if let Some(why) = lock_mutex(&failure).take() {
        return Err(why);
    }
    let mut total = BTreeMap::new();
    let mut text = String::new();
    for outcome in lock_mutex(&outcomes).values() {
        for (kind, count) in &outcome.counts {
            *total.entry(kind.clone()).or_insert(0.0) += count;
        }
        outcome.lines.iter().for_each(|line| text += &format!("{line}\n"));
    }
    println!("{}", table_row(&format!("{} files", suite.files.len()), &total));
    let list = out.join("tests.tsv");
    std::fs::write(&list, text).with_context(|| list.display().to_string())?;
    println!("what did not simply pass, and why: {}", list.display());
    let failed = total.get("failed").is_some_and(|n| *n > 0.0);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns a row of a Markdown table.
fn table_row(file: &str, counts: &BTreeMap<String, f64>) -> String {
    let count = |kind: &str| counts.get(kind).copied().unwrap_or_default();
    format!(
        "| {file} | {} | {} | {} | {} | {:.0} s | {} |",
        count("passed"),
        count("failed"),
        count("skipped"),
        count("expected"),
        count("seconds"),
        count("cut")
    )
}

fn find_suite(name: &str) -> Result<PythonSuite> {
    let (cache, here) = (env::cache()?, env::root().join("python-dist/suites"));
    let mut say = |line: &str| eprintln!("{line}");
    if name == "cpython" {
        let tests = python::suite::cpython_tests(&cache, &mut say)?;
        let files = test_names(&tests)?
            .into_iter()
            .filter(|name| {
                name.starts_with("test_")
                    && (name.ends_with(".py") || tests.join(name).join("__init__.py").is_file())
            })
            .map(|name| name.trim_end_matches(".py").to_string())
            .collect();
        let mounts = vec![(tests, format!("{LIBRARY}/test"))];
        return Ok(PythonSuite {
            script: "regrtest.py",
            skips: here.join("cpython.skips"),
            mounts,
            files,
        });
    }
    let Some(TestedPackage { folder, parts, .. }) = PACKAGES.iter().find(|p| p.name == name) else {
        bail!("which suite? {}", names_of_suites());
    };
    let (source, pytest) = python::suite::package_tests(&cache, name, &mut say)?;
    let site = format!("{LIBRARY}/site-packages");
    let mut mounts = vec![
        (pytest, "/suite-pytest".to_string()),
        (source.join(folder).join("conftest.py"), format!("{site}/{folder}/conftest.py")),
    ];
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    if name == "pandas" {
        folders.push("pandas/tests".to_string());
        for part in *parts {
            test_files(&source, &format!("pandas/tests/{part}"), &mut files)?;
        }
    } else {
        // All folders are mounted, because some tests read data of other parts.
        test_folders(&source, folder, &mut folders)?;
        for part in *parts {
            let part = format!("{folder}/{part}/");
            for tests in folders.iter().filter(|tests| tests.starts_with(&part)) {
                test_files(&source, tests, &mut files)?;
            }
        }
    }
    mounts.extend(folders.iter().map(|tests| (source.join(tests), format!("{site}/{tests}"))));
    Ok(PythonSuite { script: "pytests.py", skips: here.join("packages.skips"), mounts, files })
}

fn names_of_suites() -> String {
    let packages: Vec<&str> = PACKAGES.iter().map(|package| package.name).collect();
    format!("cpython, {}", packages.join(", "))
}

/// Adds the folders named `tests` in a package and its subpackages, as paths from `root`.
fn test_folders(root: &Path, below: &str, folders: &mut Vec<String>) -> Result<()> {
    for name in test_names(&root.join(below))? {
        let path = format!("{below}/{name}");
        if name == "tests" {
            folders.push(path);
        } else if root.join(&path).join("__init__.py").is_file() {
            test_folders(root, &path, folders)?;
        }
    }
    Ok(())
}

/// Adds the test files in and below a folder, as paths from `root`.
fn test_files(root: &Path, below: &str, files: &mut Vec<String>) -> Result<()> {
    for name in test_names(&root.join(below))? {
        let path = format!("{below}/{name}");
        if root.join(&path).is_dir() {
            test_files(root, &path, files)?;
        } else if name.starts_with("test_") && name.ends_with(".py") {
            files.push(path);
        }
    }
    Ok(())
}

fn test_names(dir: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Runs one file until a run completes, each time without the tests that have ended the guest.
fn file_outcome(
    suite: &PythonSuite,
    file: &str,
    limits: &FileTimeLimits,
    out: &Path,
) -> Result<FileOutcome> {
    let known =
        std::fs::read_to_string(&suite.skips).with_context(|| suite.skips.display().to_string())?;
    let flat = file.replace('/', ".");
    let (skips, errors) = (out.join(format!("{flat}.skips")), out.join(format!("{flat}.err")));
    let mut crashes: Vec<(String, String)> = Vec::new();
    loop {
        let mut list = known.clone();
        crashes.iter().for_each(|(test, why)| list += &format!("{test}: {why}\n"));
        std::fs::write(&skips, list).with_context(|| skips.display().to_string())?;
        let (stdout, status) = run_guest(suite, file, limits, &skips, &errors)?;
        let mut outcome = FileOutcome::default();
        let mut whole = false;
        for line in stdout.lines() {
            match line.strip_prefix("done\t") {
                None => outcome.lines.push(line.to_string()),
                Some(done) => {
                    whole = true;
                    for part in done.split_whitespace() {
                        if let Some((kind, Ok(count))) =
                            part.split_once('=').map(|(kind, n)| (kind, n.parse::<f64>()))
                        {
                            outcome.counts.insert(kind.to_string(), count);
                        }
                    }
                }
            }
        }
        if !whole {
            let text = std::fs::read(&errors).with_context(|| errors.display().to_string())?;
            let text = String::from_utf8_lossy(&text);
            let last = text.lines().rfind(|l| l.starts_with(file) && l.len() > file.len());
            let test = last.unwrap_or(file).trim().to_string();
            let why = format!("ended the guest with status {status}");
            eprintln!("{test}: {why}");
            let gives_up = test == file || crashes.len() == MOST_CRASHES;
            crashes.push((test, why));
            if !gives_up {
                continue;
            }
        }
        // Those tests were counted as skipped.
        let ended = crashes.len() as f64;
        *outcome.counts.entry("failed".to_string()).or_insert(0.0) += ended;
        if whole {
            *outcome.counts.entry("skipped".to_string()).or_insert(0.0) -= ended;
        }
        return Ok(outcome);
    }
}

/// Runs one guest; returns its standard output and status. Standard error is written to a file.
fn run_guest(
    suite: &PythonSuite,
    file: &str,
    limits: &FileTimeLimits,
    skips: &Path,
    errors: &Path,
) -> Result<(String, i32)> {
    let dist = env::dist();
    let mut command = Command::new(dist.join("runner"));
    command.args(["exec", "--no-stdin", "--memory", "3G", "--env", "PYTHONPATH=/suite-pytest"]);
    command.args(["--timeout", &limits.timeout.to_string()]);
    let here = env::root().join("python-dist/suites");
    let ours = [(here, "/suite".to_string()), (skips.to_path_buf(), "/suite-skips".to_string())];
    for (host, guest) in suite.mounts.iter().chain(&ours) {
        command.arg("--mount").arg(format!("{}:{guest}:ro", host.display()));
    }
    command.arg(dist.join("image.webc")).args(["--", "python3"]);
    command.args([&format!("/suite/{}", suite.script), file, "/suite-skips"]);
    if let (Some(seconds), "pytests.py") = (limits.budget, suite.script) {
        command.arg(seconds.to_string());
    }
    let errors = std::fs::File::create(errors).with_context(|| errors.display().to_string())?;
    let done = command.stdin(Stdio::null()).stderr(errors).output();
    let done = done.context("no dist/runner; run cargo xtask dist --profile data first")?;
    Ok((String::from_utf8_lossy(&done.stdout).into_owned(), done.status.code().unwrap_or(-1)))
}
