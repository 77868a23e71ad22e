//! Measures constructs of the shell in WebAssembly, through `runner exec`, against native bash and
//! dash.
//!
//! The scripts are `tests/bench/shell/*.sh`: comments, a set-up, the line `#-- measured`, and the
//! measured part. Each round runs every shell twice, with the whole script and with the set-up
//! alone; the difference of the medians is the time of the measured part. All shells must print the
//! same.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::{exec_argv, median_of, to_words};
use crate::env;

const MARK: &str = "#-- measured\n";
/// The minimum and the maximum number of rounds of each script.
const ROUNDS: (usize, usize) = (3, 15);
/// No further round of a script starts after this time.
const ENOUGH: Duration = Duration::from_secs(12);

struct BenchScript {
    name: String,
    title: String,
    setup: String,
    whole: String,
    /// Shells that lack the construct.
    not: Vec<String>,
}

impl BenchScript {
    fn parse(name: &str, text: &str) -> Result<BenchScript> {
        let (setup, _) = text.split_once(MARK).context("no line '#-- measured'")?;
        let comment = |prefix: &str| text.lines().find_map(|l| l.strip_prefix(prefix));
        let not = comment("# not: ").unwrap_or_default();
        Ok(BenchScript {
            name: name.to_string(),
            title: comment("# ").unwrap_or_default().to_string(),
            setup: setup.to_string(),
            whole: text.to_string(),
            not: not.split_whitespace().map(str::to_string).collect(),
        })
    }
}

/// Returns every script of a folder below `tests/bench`, sorted by name.
pub fn read_scripts(folder: &str) -> Result<Vec<(String, String)>> {
    let dir = env::root().join("tests/bench").join(folder);
    let mut out = Vec::new();
    for entry in std::fs::read_dir(&dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        out.push((name, String::from_utf8(env::read(&path)?).context("not UTF-8")?));
    }
    out.sort();
    Ok(out)
}

/// A shell, with the measured times of whole scripts and of their set-ups in milliseconds.
struct ShellSubject {
    name: &'static str,
    argv: Vec<String>,
    whole: Vec<f64>,
    setup: Vec<f64>,
}

impl ShellSubject {
    fn work_time(&mut self) -> f64 {
        median_of(&mut self.whole) - median_of(&mut self.setup)
    }
}

/// The folder in which native shells run, created for each run and removed afterwards.
struct ScratchDir(PathBuf);

impl ScratchDir {
    fn renew_folder(&self) -> Result<()> {
        let _ = std::fs::remove_dir_all(&self.0);
        std::fs::create_dir_all(&self.0).with_context(|| self.0.display().to_string())
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a script; returns its time in milliseconds and its output.
fn run_once(argv: &[String], script: &str, scratch: &ScratchDir) -> Result<(f64, Vec<u8>)> {
    scratch.renew_folder()?;
    let (program, args) = argv.split_first().context("empty command")?;
    let mut cmd = Command::new(program);
    cmd.args(args).arg(script).current_dir(&scratch.0).stdin(Stdio::null());
    let start = Instant::now();
    let out = cmd.output().with_context(|| format!("cannot start {program}"))?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    if !out.status.success() || !out.stderr.is_empty() {
        bail!("{argv:?}: {}: {}", out.status, String::from_utf8_lossy(&out.stderr));
    }
    Ok((took, out.stdout))
}

/// Runs `cargo xtask bench shell`.
pub fn run() -> Result<()> {
    let scratch =
        ScratchDir(std::env::temp_dir().join(format!("bench-shell-{}", std::process::id())));
    println!("Milliseconds without start-up and set-up; medians of alternating runs.\n");
    println!("| script | ours | bash | dash | ours / bash | ours / dash |");
    println!("|---|---|---|---|---|---|");
    let mut ratios = Vec::new();
    for (name, text) in read_scripts("shell")? {
        let script = BenchScript::parse(&name, &text).with_context(|| name.clone())?;
        let times = measure_script(&script, &scratch).with_context(|| script.title.clone())?;
        let [ours, bash, dash] = times;
        let show = |t: Option<f64>| t.map_or("-".into(), |t| format!("{t:.2}"));
        println!(
            "| {} | {} | {} | {} | {} | {} |",
            script.name,
            show(ours),
            show(bash),
            show(dash),
            show(ours.zip(bash).map(|(o, b)| o / b)),
            show(ours.zip(dash).map(|(o, d)| o / d)),
        );
        ratios.extend(ours.zip(bash).map(|(o, b)| o / b));
    }
    let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    println!("\nGeometric mean of ours / bash: {mean:.2}; the largest: {worst:.2}");
    Ok(())
}

fn measure_script(script: &BenchScript, scratch: &ScratchDir) -> Result<[Option<f64>; 3]> {
    let all = [
        ("ours", exec_argv(&["bash", "-c"])),
        ("bash", to_words(&["bash", "-c"])),
        ("dash", to_words(&["dash", "-c"])),
    ];
    let mut subjects: Vec<ShellSubject> = all
        .into_iter()
        .filter(|(name, _)| !script.not.iter().any(|n| n == name))
        .map(|(name, argv)| ShellSubject { name, argv, whole: Vec::new(), setup: Vec::new() })
        .collect();
    let mut expected: Option<Vec<u8>> = None;
    let start = Instant::now();
    for round in 0..=ROUNDS.1 {
        if round > ROUNDS.0 && start.elapsed() > ENOUGH {
            break;
        }
        for s in &mut subjects {
            let (setup, _) = run_once(&s.argv, &script.setup, scratch)?;
            let (whole, printed) = run_once(&s.argv, &script.whole, scratch)?;
            if expected.get_or_insert_with(|| printed.clone()) != &printed {
                bail!("{} prints {:?}", s.name, String::from_utf8_lossy(&printed));
            }
            // The first round only warms up.
            if round > 0 {
                s.setup.push(setup);
                s.whole.push(whole);
            }
        }
    }
    let mut work =
        |name: &str| subjects.iter_mut().find(|s| s.name == name).map(ShellSubject::work_time);
    Ok([work("ours"), work("bash"), work("dash")])
}
