//! Ten minutes of load on a server while faults happen ([`wasibox_sessions::faults`]); prints the
//! figures. The status is 3 if a call was lost or doubled.
//!
//! ```text
//! faults [SESSIONS [SECONDS [SEED]]]
//! ```
//!
//! The defaults are 50 sessions, 600 seconds and a seed of the clock. The store is on a small file
//! system in a mount namespace where the host allows that; elsewhere the disk is never full.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wasibox_sessions::faults::{FaultPlan, FaultReport, run_faults};

/// The folder of the small file system.
const FOLDER: &str = "WASIBOX_SMALL_DISK";
/// The status if a call was lost or doubled.
const WRONG: i32 = 3;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let dir = tempfile::tempdir().expect("a folder");
    if std::env::var_os(FOLDER).is_none() {
        let script = "mount -t tmpfs -o size=2g,mode=700 none \"$0\" || exit 77; exec \"$@\"";
        let mut inside = Command::new("unshare");
        inside.args(["-m", "sh", "-c", script]).arg(dir.path());
        inside.arg(std::env::current_exe().expect("this program")).args(&words);
        let status = inside.env(FOLDER, dir.path()).status();
        match status.ok().and_then(|s| s.code()) {
            Some(0) => return ExitCode::SUCCESS,
            Some(WRONG) => return ExitCode::from(WRONG as u8),
            _ => println!("no small file system here: the disk is never full"),
        }
    }
    let own = std::env::var_os(FOLDER).map(PathBuf::from);
    let number = |n: usize, or: u64| words.get(n).map_or(or, |w| w.parse().expect("a number"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let plan = FaultPlan {
        sessions: number(0, 50) as usize,
        time: Duration::from_secs(number(1, 600)),
        seed: number(2, now.as_nanos() as u64),
        pause: Duration::from_secs(2),
        server_kills: 8,
        fills_disk: own.is_some(),
        folder: own.unwrap_or_else(|| dir.path().to_owned()),
    };
    println!("{} sessions, {:?}, seed {}", plan.sessions, plan.time, plan.seed);
    let report = run_faults(&plan);
    println!(
        "calls: {} acknowledged, {} refused, {} without an answer",
        report.acknowledged, report.refused, report.unknown
    );
    for (fault, count) in &report.faults {
        println!("{count:4} {fault}");
    }
    for (name, times) in
        [("all calls", &report.times), ("with a server and a disk", &report.calm_times)]
    {
        let [half, most, last] = [0.5, 0.99, 1.0].map(|share| FaultReport::quantile(times, share));
        println!(
            "{name}: {} calls, p50 {half:.1?}, p99 {most:.1?}, longest {last:.1?}",
            times.len()
        );
    }
    let at = |part: f64| {
        let place = (report.memory.len() as f64 * part) as usize;
        report.memory.get(place.min(report.memory.len().saturating_sub(1))).map_or(0, |n| n >> 20)
    };
    println!(
        "memory of the last server ({} s): {} MiB after a tenth, {} in the middle, {} at the end, at most {}",
        report.memory.len(),
        at(0.1),
        at(0.5),
        at(1.0),
        report.memory.iter().max().map_or(0, |n| n >> 20)
    );
    for line in &report.wrong {
        println!("WRONG: {line}");
    }
    println!("{} wrong", report.wrong.len());
    ExitCode::from(if report.wrong.is_empty() { 0 } else { WRONG as u8 })
}
