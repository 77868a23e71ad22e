//! Measures tools over a log, a CSV and JSON lines. The image's tools, in WebAssembly through
//! `runner exec`, take turns with GNU's and jq of this machine.
//!
//! The commands are `tests/bench/tools/commands`. The data are generated here, are the same each
//! time, and are mounted read-only in the sandbox. Both sides write to a pipe, because GNU's grep
//! stops at its first match if its output is `/dev/null`. The time of an empty command is
//! subtracted. Both sides must print the same.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::tools_data::BenchData;
use super::{exec_argv, median_of, to_words};
use crate::env;

/// The minimum and the maximum number of counted rounds of each command.
const ROUNDS: (usize, usize) = (3, 9);
/// No further round of a command starts after this time.
const ENOUGH: Duration = Duration::from_secs(5);
/// The minimum time in milliseconds: a shorter one is only noise from subtracting the start.
const NOISE: f64 = 0.2;
/// The number of the slowest commands that are repeated at the end.
const WORST: usize = 8;

/// One of the two sides that take turns.
pub struct BenchSide {
    pub argv: Vec<String>,
    /// The command's working directory; for the sandbox it is passed as `--cwd`.
    pub cwd: PathBuf,
    /// The command's `PATH`. GNU's side begins with a folder in which `awk` is GNU's, whatever this
    /// machine's `awk` is.
    pub path: String,
    /// Milliseconds of an empty command.
    pub empty: f64,
}

impl BenchSide {
    /// Runs a command in bash. Returns its milliseconds, and the digest of its output if `digest`
    /// is true.
    fn run_once(&self, command: &str, digest: bool) -> Result<(f64, Option<Vec<u8>>)> {
        let (program, args) = self.argv.split_first().context("empty command")?;
        let start = Instant::now();
        let mut child = Command::new(program)
            .args(args)
            .arg(command)
            .current_dir(&self.cwd)
            .env("LANG", "C.UTF-8")
            .env("PATH", &self.path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let mut output = child.stdout.take().context("no output")?;
        let (mut buffer, mut hash) = (vec![0; 1 << 16], Sha256::new());
        loop {
            match output.read(&mut buffer)? {
                0 => break,
                n if digest => hash.update(&buffer[..n]),
                _ => {}
            }
        }
        let status = child.wait()?;
        let took = start.elapsed().as_secs_f64() * 1e3;
        if !matches!(status.code(), Some(0 | 1)) {
            bail!("{program}: {status}");
        }
        Ok((took, digest.then(|| hash.finalize().to_vec())))
    }
}

/// Runs `cargo xtask bench tools`.
pub fn run() -> Result<()> {
    let data = BenchData::make(&env::root().join("target/bench-tools"))?;
    let mut sides = [our_side(&data.dir), gnu_side(&data.bin, &data.dir)?];
    for side in &mut sides {
        let mut times = Vec::new();
        for _ in 0..2 * ROUNDS.1 {
            times.push(side.run_once(":", false)?.0);
        }
        side.empty = median_of(&mut times);
    }
    println!(
        "Milliseconds without start-up (ours {:.1}, bash {:.1}); medians of alternating runs.\n",
        sides[0].empty, sides[1].empty
    );
    println!("| command | ours | GNU | ours / GNU |");
    println!("|---|---|---|---|");
    let list = env::root().join("tests/bench/tools/commands");
    let list = String::from_utf8(env::read(&list)?).context("not UTF-8")?;
    let mut ratios = Vec::new();
    for command in list.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let [ours, gnu] = measure_command(command, &sides).with_context(|| command.to_string())?;
        println!(
            "| `{}` | {ours:.1} | {gnu:.1} | {:.2} |",
            command.replace('|', "\\|"),
            ours / gnu
        );
        ratios.push((ours / gnu, command));
    }
    let mean = (ratios.iter().map(|(r, _)| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
    println!(
        "\nGeometric mean of ours / GNU over {} commands: {mean:.2}; the slowest:\n",
        ratios.len()
    );
    ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (ratio, command) in ratios.iter().take(WORST) {
        println!("{ratio:6.2}  {command}");
    }
    Ok(())
}

/// Returns the side of the sandbox, with the data mounted.
fn our_side(data: &Path) -> BenchSide {
    let mut argv = exec_argv(&["bash", "-c"]);
    let options = to_words(&["--mount", &format!("{}:/data", data.display()), "--cwd", "/data"]);
    argv.splice(2..2, options);
    BenchSide {
        argv,
        cwd: env::root(),
        path: std::env::var("PATH").unwrap_or_default(),
        empty: 0.0,
    }
}

/// Returns the side of this machine's tools. `bin` is the folder for a link named `awk` to GNU's.
pub fn gnu_side(bin: &Path, cwd: &Path) -> Result<BenchSide> {
    let path = std::env::var("PATH").unwrap_or_default();
    let found =
        |name: &str| std::env::split_paths(&path).map(|d| d.join(name)).find(|p| p.is_file());
    let gawk = found("gawk").context("this machine has no gawk to compare with")?;
    found("jq").context("this machine has no jq to compare with")?;
    std::fs::create_dir_all(bin).with_context(|| bin.display().to_string())?;
    let awk = bin.join("awk");
    if !awk.exists() {
        std::os::unix::fs::symlink(gawk, &awk).with_context(|| awk.display().to_string())?;
    }
    let path = format!("{}:{path}", bin.display());
    Ok(BenchSide { argv: to_words(&["bash", "-c"]), cwd: cwd.to_path_buf(), path, empty: 0.0 })
}

/// Returns the median times of both sides in milliseconds.
fn measure_command(command: &str, sides: &[BenchSide; 2]) -> Result<[f64; 2]> {
    // The first round warms up and compares the outputs.
    let printed = [sides[0].run_once(command, true)?.1, sides[1].run_once(command, true)?.1];
    if printed[0] != printed[1] {
        bail!("the two print different things");
    }
    let mut times = [Vec::new(), Vec::new()];
    let start = Instant::now();
    for round in 0..ROUNDS.1 {
        if round >= ROUNDS.0 && start.elapsed() > ENOUGH {
            break;
        }
        for (side, times) in sides.iter().zip(&mut times) {
            times.push((side.run_once(command, false)?.0 - side.empty).max(NOISE));
        }
    }
    Ok(times.map(|mut t| median_of(&mut t)))
}
