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

use anyhow::{Context, Result, bail, ensure};

use crate::env;
use list::ProgramSuite;
use report::Score;
use side::{SuiteFolders, SuiteRun, SuiteSide};

/// The parsed arguments.
struct ProgramOptions {
    /// The folder of the suites.
    folder: PathBuf,
    /// Names of suites; empty for all.
    names: Vec<String>,
    /// A part of the paths of the files to run.
    file: Option<String>,
    /// Whether to use the native results of an earlier run.
    guest_only: bool,
    /// The first folders in the PATH of native runs.
    path: Option<String>,
    /// The image, by default `dist/image.webc`.
    image: PathBuf,
}

/// Runs `cargo xtask programs FOLDER [NAME...] [--file PART] [--guest] [--path DIR[:DIR...]]
/// [--image FILE]`.
pub fn run(args: &[String]) -> Result<ExitCode> {
    let options = parse_options(args)?;
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
        let score = run_suite(suite, &options, &out.join(&suite.name))
            .with_context(|| format!("suite {}", suite.name))?;
        println!("{}", score.table_row(&suite.name));
        total.add(&score);
    }
    println!("{}", total.table_row("all"));
    println!("what differs, and why: {}/NAME/differences.tsv", out.display());
    Ok(if total.lost_tests() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn parse_options(args: &[String]) -> Result<ProgramOptions> {
    let mut words = Vec::new();
    let (mut file, mut path, mut guest_only) = (None, None, false);
    let mut image = env::dist().join("image.webc");
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().cloned().with_context(|| format!("{arg} wants a value"));
        match arg.as_str() {
            "--file" => file = Some(value()?),
            "--path" => path = Some(value()?),
            "--image" => image = PathBuf::from(value()?),
            "--guest" => guest_only = true,
            word if word.starts_with("--") => bail!("no option {word}"),
            word => words.push(word.to_string()),
        }
    }
    let Some((folder, names)) = words.split_first() else {
        bail!("which folder? docs/programs.md says what belongs there");
    };
    let folder = std::fs::canonicalize(folder).with_context(|| folder.clone())?;
    Ok(ProgramOptions { folder, names: names.to_vec(), file, guest_only, path, image })
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
