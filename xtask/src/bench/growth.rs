//! Measures loops that touch one value in each step, with n steps and with ten times as many. A
//! linear loop then takes ten times as long, a quadratic one a hundred times. The benchmark
//! compares how the time grows here with how it grows in this machine's bash, gawk, GNU sed and jq.
//!
//! Each line of `tests/bench/growth/*` is a loop: n, and a bash command that reads n from `$N`. Our
//! side is the image, or the multicall binary that `WASIBOX_NATIVE_BOX` names. `WASIBOX_LOOPS`
//! selects the loops that contain its text, and those in files whose names contain it. Both sides
//! must print the same. A loop that fails is reported, and the others are still run.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::shell::read_scripts;
use super::tools::{BenchSide, gnu_side};
use super::{exec_argv, to_words};
use crate::env;

/// The number of runs with n steps, of which the fastest counts. With ten times as many steps there
/// is one run.
const RUNS: usize = 3;
/// The minimum time of a run in milliseconds. A shorter time counts as this one, because it is
/// mostly noise from subtracting the start.
const NOISE: f64 = 3.0;
/// The maximum growth that counts as linear. It is more than 10 because caches and noise add to it.
const LINEAR: f64 = 20.0;
/// The seconds after which a run is killed; its time then counts as infinite.
const TIME_LIMIT: &str = "40";
/// The status of `timeout` after it has killed the command.
const KILLED: i32 = 137;
/// Makes bash write a command's seconds of user and system time as the last line of standard error.
/// Other programs that run at the same time disturb these less than they disturb elapsed time.
const CLOCK: &str = "TIMEFORMAT='%U %S'; time timeout -s KILL \"$0\" \"$@\"";

/// Runs `cargo xtask bench growth`.
pub fn run() -> Result<()> {
    let root = env::root().join("target/bench-growth");
    let mut sides = [our_side(&root)?, gnu_side(&root.join("peers"), &env::root())?];
    for side in &mut sides {
        side.empty = f64::INFINITY;
        for _ in 0..2 * RUNS {
            side.empty = side.empty.min(run_loop(side, ":", 1)?.0);
        }
    }
    println!("Milliseconds without start-up, for n steps and for 10 n; growth is their ratio.\n");
    let only = std::env::var("WASIBOX_LOOPS").unwrap_or_default();
    let (mut slow, mut failed) = (Vec::new(), 0);
    for (file, text) in read_scripts("growth")? {
        println!("| {file} | n | ours | peer | growth, ours | peer's | |");
        println!("|---|---|---|---|---|---|---|");
        for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            if !file.contains(&only) && !line.contains(&only) {
                continue;
            }
            let (n, command) = line.split_once(' ').context("a line without a count")?;
            let n: u64 = n.parse().with_context(|| line.to_string())?;
            match measure_growth(command, n, &sides) {
                Ok(false) => {}
                Ok(true) => slow.push(command.to_string()),
                Err(e) => {
                    println!("| `{}` | {n} | {e:#} | | | | |", command.replace('|', "\\|"));
                    failed += 1;
                }
            }
        }
        println!();
    }
    println!("{} loops grow faster than the peer's.", slow.len());
    for command in slow {
        println!("    {command}");
    }
    ensure!(failed == 0, "{failed} loops failed");
    Ok(())
}

/// Prints the row of a loop. Returns whether its growth here is more than linear and more than
/// twice the peer's.
fn measure_growth(command: &str, n: u64, sides: &[BenchSide; 2]) -> Result<bool> {
    let mut times = [[f64::INFINITY; 2]; 2];
    for (size, (n, rounds)) in [(n, RUNS), (10 * n, 1)].into_iter().enumerate() {
        for _ in 0..rounds {
            let mut printed = Vec::new();
            for (side, times) in sides.iter().zip(&mut times) {
                let (took, output) = run_loop(side, command, n)?;
                times[size] = times[size].min((took - side.empty).max(NOISE));
                printed.push(output);
            }
            let ended = times.iter().all(|t| t[size].is_finite());
            ensure!(
                !ended || printed[0] == printed[1],
                "the two print different things for n = {n}"
            );
            if !ended {
                break;
            }
        }
    }
    let [ours, peer] = times;
    let growth = [ours[1] / ours[0], peer[1] / peer[0]];
    let fast = !(growth[0] <= LINEAR || growth[0] <= 2.0 * growth[1]);
    println!(
        "| `{}` | {n} | {:.0}, {:.0} | {:.0}, {:.0} | {:.0} | {:.0} | {} |",
        command.replace('|', "\\|"),
        ours[0],
        ours[1],
        peer[0],
        peer[1],
        growth[0],
        growth[1],
        if fast { "**grows**" } else { "" }
    );
    Ok(fast)
}

/// Runs a loop in an empty folder. Returns its CPU time in milliseconds, and its output.
fn run_loop(side: &BenchSide, command: &str, n: u64) -> Result<(f64, Vec<u8>)> {
    let script = format!("d=$(mktemp -d); cd \"$d\"\nN={n}\n{command}\ncd /; rm -rf \"$d\"");
    let out = Command::new("/bin/bash")
        .args(["-c", CLOCK, TIME_LIMIT])
        .args(&side.argv)
        .arg(script)
        .current_dir(&side.cwd)
        .env("LANG", "C.UTF-8")
        .env("PATH", &side.path)
        .stdin(Stdio::null())
        .output()
        .context("cannot start /bin/bash")?;
    if out.status.code() == Some(KILLED) {
        return Ok((f64::INFINITY, Vec::new()));
    }
    let said = String::from_utf8_lossy(&out.stderr);
    let (errors, clock) = said.trim_end().rsplit_once('\n').unwrap_or(("", said.trim_end()));
    if !out.status.success() || !errors.is_empty() {
        bail!("{}: {errors}", out.status);
    }
    let mut seconds = 0.0;
    for part in clock.split(' ') {
        seconds += part.parse::<f64>().with_context(|| clock.to_string())?;
    }
    Ok((seconds * 1e3, out.stdout))
}

/// Returns the side of the image or of the native binary. The binary gets a folder below `root`
/// with a link for each of its applets.
fn our_side(root: &Path) -> Result<BenchSide> {
    let path = std::env::var("PATH").unwrap_or_default();
    let Some(program) = std::env::var_os("WASIBOX_NATIVE_BOX") else {
        return Ok(BenchSide {
            argv: exec_argv(&["bash", "-c"]),
            cwd: env::root(),
            path,
            empty: 0.0,
        });
    };
    let program = Path::new(&program).canonicalize().context("WASIBOX_NATIVE_BOX")?;
    let applets = root.join("applets");
    if applets.exists() {
        std::fs::remove_dir_all(&applets).context("folder of applets")?;
    }
    std::fs::create_dir_all(&applets).context("folder of applets")?;
    let list = env::command_output(Command::new(&program).arg("--list"))?;
    for name in list.lines().filter_map(|line| line.split_whitespace().next()) {
        std::os::unix::fs::symlink(&program, applets.join(name)).context("link to an applet")?;
    }
    Ok(BenchSide {
        argv: to_words(&[&program.display().to_string(), "bash", "-c"]),
        cwd: env::root(),
        path: applets.display().to_string(),
        empty: 0.0,
    })
}
