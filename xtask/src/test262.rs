//! `cargo xtask test262 DIR [PATTERN...]`: runs the language's own tests in the image's `node` and
//! in QuickJS-NG itself.
//!
//! DIR is a checkout of tc39/test262. QuickJS-NG's `test262.conf` selects the tests for the engine;
//! its program `run-test262`, built for this machine from the same sources, determines which of
//! them it passes (`engine`). `test262/host.cjs` runs the tests of `node`, many to a process, in
//! the image or, with `--native`, in the program built for this machine. Failed tests are repeated
//! in smaller groups and finally alone in a process; the last result counts. PATTERNs are
//! beginnings of paths below `test/`. `--sample N` takes every Nth case. Results are in
//! `docs/javascript.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};

use crate::env;

pub mod engine;
mod suite;

use suite::{Configuration, TestMode, TestRun};

/// The number of cases in one process: in the first run, in the run of those that failed, and in
/// the run of those that failed again. A case that another one has affected, or that was lost when
/// another one ended the process, usually passes in a small group.
const TOGETHER: [usize; 3] = [48, 6, 1];

/// The number of processes of one guest.
const PROCESSES: usize = 64;

/// Runs each list in a process of its own, with a limit of four minutes.
const LOOP: &str = "for list in \"$3\"/*; do timeout 240 \"$1\" --expose-internals --preserve-symlinks --no-warnings \"$2\" \"$list\" \"$4\"; done; :";

/// Options of `cargo xtask test262`.
#[derive(Debug, clap::Args)]
pub struct Test262Options {
    /// The folder of test262.
    #[arg(value_parser = env::parse_folder)]
    dir: PathBuf,
    /// Parts of the paths of the cases to run.
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// The number of processes.
    #[arg(long, value_name = "N", default_value = "2")]
    jobs: NonZeroUsize,
    /// Run each Nth case only.
    #[arg(long, value_name = "N", default_value = "1")]
    sample: NonZeroUsize,
    /// Run our node natively.
    #[arg(long)]
    native: bool,
}

/// Runs `cargo xtask test262`.
pub fn run(options: &Test262Options) -> Result<ExitCode> {
    ensure!(options.dir.join("harness").is_dir(), "{}: no test262", options.dir.display());
    let conf = String::from_utf8(env::read(&engine::engine_sources()?.join("test262.conf"))?)?;
    let configuration = Configuration::parse(&conf);
    let (all, left_out) = suite::find_cases(&options.dir, &options.patterns, &configuration)?;
    let cases: Vec<TestRun> = all.into_iter().step_by(options.sample.get()).collect();
    ensure!(!cases.is_empty(), "no test has such a path");
    let out = env::root().join("target/javascript-suites/test262");
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let runner = Test262Runner::new(options, &out)?;
    let (mut failed, mut left) = (BTreeMap::new(), cases.clone());
    for together in TOGETHER {
        if left.is_empty() {
            break;
        }
        failed = runner.run_all(&left, together)?;
        left = failed.keys().cloned().collect();
    }
    let theirs = engine::engine_failures(&options.dir, &options.patterns, &out)?;
    print_report(&cases, &failed, &theirs, &left_out, &out)
}

/// The suite, and how lists of its cases are run: in guests, or by a native program.
struct Test262Runner<'a> {
    suite: PathBuf,
    out: &'a Path,
    jobs: usize,
    native: Option<(PathBuf, PathBuf)>,
}

impl<'a> Test262Runner<'a> {
    fn new(options: &'a Test262Options, out: &'a Path) -> Result<Test262Runner<'a>> {
        env::write(&out.join("host.cjs"), include_bytes!("test262/host.cjs"))?;
        // Modules of test262 have the extension `.js`, so a file beside the suite's folders
        // declares them as modules.
        let suite = out.join("suite");
        std::fs::create_dir_all(&suite).with_context(|| suite.display().to_string())?;
        env::write(&suite.join("package.json"), b"{\"type\":\"module\"}")?;
        for part in ["test", "harness"] {
            let link = suite.join(part);
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(options.dir.join(part), &link)
                .with_context(|| link.display().to_string())?;
        }
        let native = if options.native {
            env::run(env::cached_cargo()?.args(["build", "--release", "--locked", "-p", "js"]))?;
            let library = crate::js::node_library(&mut |line| eprintln!("      {line}"))?;
            Some((env::cache()?.join("target/release/js"), library))
        } else {
            None
        };
        let suite = if options.native { suite } else { options.dir.clone() };
        Ok(Test262Runner { suite, out, jobs: options.jobs.get(), native })
    }

    /// Runs cases, `together` of them in each process. Returns the failed ones with the reasons.
    fn run_all(&self, cases: &[TestRun], together: usize) -> Result<BTreeMap<TestRun, String>> {
        // A guest has many processes, because its start takes longer than theirs.
        let guests: Vec<&[TestRun]> = cases.chunks(together * PROCESSES).collect();
        let (next, came) = (AtomicUsize::new(0), Mutex::new(Ok(BTreeMap::new())));
        std::thread::scope(|scope| {
            for job in 0..self.jobs.min(guests.len()) {
                let (next, came, guests) = (&next, &came, &guests);
                scope.spawn(move || {
                    while let Some(cases) = guests.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let one = self.run_guest(cases, together, job);
                        let mut all = came.lock().unwrap_or_else(PoisonError::into_inner);
                        match (one, all.as_mut()) {
                            (Ok(one), Ok(all)) => all.extend(one),
                            (Err(why), Ok(_)) => *all = Err(why),
                            _ => {}
                        }
                    }
                });
            }
        });
        came.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the cases of one guest.
    fn run_guest(
        &self,
        cases: &[TestRun],
        together: usize,
        job: usize,
    ) -> Result<BTreeMap<TestRun, String>> {
        let lists = self.out.join(format!("lists-{job}"));
        let _ = std::fs::remove_dir_all(&lists);
        std::fs::create_dir_all(&lists).with_context(|| lists.display().to_string())?;
        for (number, list) in cases.chunks(together).enumerate() {
            let line = |c: &TestRun| format!("{}\t{}\n", c.file, c.mode.name());
            let text: String = list.iter().map(line).collect();
            env::write(&lists.join(format!("{number}.txt")), text.as_bytes())?;
        }
        let done = self.guest_command(&lists).stdin(Stdio::null()).output();
        let done = done.context("no dist/runner; run cargo xtask dist first")?;
        let mut failed: BTreeMap<TestRun, String> = BTreeMap::new();
        failed.extend(cases.iter().map(|c| (c.clone(), "ended the process".to_string())));
        for line in String::from_utf8_lossy(&done.stdout).lines() {
            let mut parts = line.splitn(3, '\t');
            let (Some(file), Some(mode), Some(what)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let Some(mode) = TestMode::from_name(mode) else { continue };
            let case = TestRun { file: file.into(), mode };
            match what {
                "pass" => drop(failed.remove(&case)),
                why => drop(failed.insert(case, why.to_string())),
            }
        }
        Ok(failed)
    }

    fn guest_command(&self, lists: &Path) -> Command {
        let (host, suite) = (self.out.join("host.cjs"), &self.suite);
        if let Some((program, library)) = &self.native {
            let mut command = Command::new("sh");
            command.args(["-c", LOOP, "sh"]).arg(program).arg(host).arg(lists).arg(suite);
            command.env("WASIBOX_NODE_LIB", library);
            return command;
        }
        let dist = env::dist();
        let mut command = Command::new(dist.join("runner"));
        command.args(["exec", "--no-stdin", "--memory", "2G"]);
        command.arg("--mount").arg(format!("{}:/t:ro", self.out.display()));
        for part in ["test", "harness"] {
            command.arg("--mount").arg(format!("{0}/{part}:/suite/{part}:ro", suite.display()));
        }
        let package = self.out.join("suite/package.json");
        command.arg("--mount").arg(format!("{}:/suite/package.json:ro", package.display()));
        command.arg(dist.join("image.webc"));
        let lists = lists.file_name().unwrap_or_default().to_string_lossy();
        command.args(["--", "sh", "-c", LOOP, "sh", "node", "/t/host.cjs"]);
        command.args([format!("/t/{lists}"), "/suite".into()]);
        command
    }
}

/// Prints the counts, and writes the list of cases that failed or were left out. Returns a failure
/// if there are cases that only ours fails.
fn print_report(
    cases: &[TestRun],
    failed: &BTreeMap<TestRun, String>,
    theirs: &BTreeSet<TestRun>,
    left_out: &BTreeMap<String, usize>,
    out: &Path,
) -> Result<ExitCode> {
    let rate = |failed: usize| 100.0 * (cases.len() - failed) as f64 / cases.len() as f64;
    let run: BTreeSet<&TestRun> = cases.iter().collect();
    let engine = theirs.iter().filter(|c| run.contains(c)).count();
    println!("| | passed | failed | rate |\n|---|---|---|---|");
    for (name, failed) in [("ours", failed.len()), ("QuickJS-NG", engine)] {
        println!("| {name} | {} | {failed} | {:.2} % |", cases.len() - failed, rate(failed));
    }
    let ours: Vec<_> = failed.iter().filter(|(case, _)| !theirs.contains(case)).collect();
    let better = theirs.iter().filter(|c| run.contains(c) && !failed.contains_key(c)).count();
    println!("failed by ours alone: {}; by QuickJS-NG alone: {better}", ours.len());
    println!("files left out: {}", left_out.values().sum::<usize>());
    let mut list = String::new();
    for (case, why) in failed {
        let who = if theirs.contains(case) { "both" } else { "ours" };
        list += &format!("{who}\t{}\t{}\t{why}\n", case.file, case.mode.name());
    }
    for (why, count) in left_out {
        list += &format!("left out\t{count}\t{why}\n");
    }
    env::write(&out.join("test262.tsv"), list.as_bytes())?;
    println!("failed and left-out cases with their reasons: {}", out.join("test262.tsv").display());
    Ok(if ours.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
