//! `cargo xtask programs FOLDER`: runs test suites of real programs, natively and in the image.
//!
//! The suites are in a folder outside of the project; `tests/programs/suites.toml` lists them, with
//! the commands that run them and the formats of their results. Each run has a fresh copy of its
//! suite. A test that passes natively has to pass in the guest; a test that fails or is skipped
//! natively does not count. The tests of CPython, NumPy and pandas, which need no native run, are
//! another task (`suite.rs`).

mod list;
mod report;
mod results;
mod side;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::env;
use list::ProgramSuite;
use report::Score;
use side::{SuiteFolders, SuiteRun, SuiteSide};

/// Options of `cargo xtask programs`. docs/programs.md says what belongs into the folder.
#[derive(Debug, clap::Args)]
pub struct ProgramOptions {
    /// The folder of the suites.
    #[arg(value_parser = env::parse_folder)]
    folder: PathBuf,
    /// The suites; all by default.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Run the files with this text in their paths.
    #[arg(long, value_name = "PART")]
    file: Option<String>,
    /// Use the native results of an earlier run.
    #[arg(long = "guest")]
    guest_only: bool,
    /// The first folders in the PATH of native runs.
    #[arg(long, value_name = "DIR[:DIR...]")]
    path: Option<String>,
    /// The image.
    #[arg(long, value_name = "FILE", default_value_os_t = env::dist().join("image.webc"))]
    image: PathBuf,
}

/// Runs `cargo xtask programs`.
pub fn run(options: &ProgramOptions) -> Result<ExitCode> {
    let mut suites = list::read()?;
    suites.retain(|s| options.names.is_empty() || options.names.contains(&s.name));
    ensure!(!suites.is_empty(), "no such suite; they are in {}", list::PATH);
    let out = env::root().join("target/programs");
    let mut total = Score::default();
    println!("{}", report::HEAD);
    for suite in &suites {
        if !options.folder.join(suite.home()).is_dir() {
            println!("| {} | not in the folder | | | | |", suite.name);
            continue;
        }
        let score = run_suite(suite, options, &out.join(&suite.name))
            .with_context(|| format!("suite {}", suite.name))?;
        println!("{}", score.table_row(&suite.name));
        total.add(&score);
    }
    println!("{}", total.table_row("all"));
    println!("what differs, and why: {}/NAME/differences.tsv", out.display());
    Ok(if total.lost_tests() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one suite on both sides.
fn run_suite(suite: &ProgramSuite, options: &ProgramOptions, out: &Path) -> Result<Score> {
    let prepared = side::prepare_suite(suite, &options.folder, out, options.path.as_deref())?;
    let mut files = suite.files(&prepared)?;
    files.retain(|f| options.file.as_ref().is_none_or(|part| f.contains(part.as_str())));
    ensure!(!files.is_empty(), "no test file has such a name");
    let place = SuiteFolders { folder: &options.folder, prepared: &prepared, out };
    let guest = SuiteSide::Guest { image: &options.image };
    let mut score = Score::default();
    let mut differences = String::new();
    for file in &files {
        let native = if options.guest_only {
            SuiteRun::read_kept(&place, &SuiteSide::Native { path: None }, file)?
        } else {
            side::run(suite, &place, &SuiteSide::Native { path: options.path.as_deref() }, file)?
        };
        let here = side::run(suite, &place, &guest, file)?;
        let (native_tests, here_tests) =
            (suite.results.read(&native.text), suite.results.read(&here.text));
        let part = Score::compare_runs(&native_tests, &here_tests, &native, &here);
        eprintln!("{}", part.table_row(&format!("{} {file}", suite.name)));
        differences += &report::list_differences(file, &native_tests, &here_tests, &here);
        score.add(&part);
    }
    let list = out.join("differences.tsv");
    std::fs::write(&list, differences).with_context(|| list.display().to_string())?;
    Ok(score)
}
