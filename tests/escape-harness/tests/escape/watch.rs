//! Observes host processes from outside: memory, threads, descriptors and descendants.
//!
//! Only a process's own memory counts (`RssAnon` and `RssShmem`). Machine code and images are
//! mapped from files, and the system can take their pages back at any time.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

/// The interval at which memory and threads are sampled. Descriptors and descendants are sampled
/// every `RARE`th time.
const SAMPLE: Duration = Duration::from_millis(5);
const RARE: u32 = 10;
/// The time in which processes must end after their parent.
const GONE: Duration = Duration::from_secs(1);

/// The peak usage of a process together with its descendants.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peak {
    pub memory: u64,
    pub threads: u64,
    pub descriptors: u64,
}

/// A process that is watched until it ends.
pub struct Watch {
    pid: u32,
    /// The process and every descendant that was seen, with their start times.
    family: BTreeSet<(u32, u64)>,
    pub peak: Peak,
}

/// The measurements of one process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub memory: u64,
    pub threads: u64,
    pub descriptors: u64,
    /// CPU time in clock ticks (1/100 s).
    pub ticks: u64,
}

/// Returns the fields of `/proc/PID/stat` after the name: state, parent, ..., CPU times, start.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

fn field(stat: &[String], i: usize) -> u64 {
    stat.get(i).and_then(|s| s.parse().ok()).unwrap_or(0)
}

const PARENT: usize = 1;
const UTIME: usize = 11;
const STIME: usize = 12;
const START: usize = 19;

/// Returns the memory and the number of threads of a process, or zeros if it has ended.
fn status(pid: u32) -> Usage {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let number = |key: &str| {
        let line = text.lines().find_map(|l| l.strip_prefix(key));
        line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
    };
    let memory = (number("RssAnon:") + number("RssShmem:")) << 10;
    Usage { memory, threads: number("Threads:"), ..Usage::default() }
}

fn descriptors(pid: u32) -> u64 {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |d| d.count() as u64)
}

/// Returns the resources of this process.
pub fn own() -> Usage {
    let pid = std::process::id();
    let ticks = stat(pid).map_or(0, |s| field(&s, UTIME) + field(&s, STIME));
    Usage { descriptors: descriptors(pid), ticks, ..status(pid) }
}

impl Watch {
    pub fn new(pid: u32) -> Watch {
        let family = stat(pid).map(|s| (pid, field(&s, START))).into_iter().collect();
        Watch { pid, family, peak: Peak::default() }
    }

    /// Samples until `ended` returns true or the deadline has passed. Returns whether the process
    /// ended.
    pub fn until(&mut self, deadline: Instant, mut ended: impl FnMut() -> bool) -> bool {
        let mut round = 0;
        while !ended() {
            if Instant::now() >= deadline {
                return false;
            }
            round += 1;
            self.sample(round % RARE == 0);
            std::thread::sleep(SAMPLE);
        }
        true
    }

    fn sample(&mut self, all: bool) {
        if all {
            self.look_for_descendants();
        }
        let mut now = Peak::default();
        for (pid, _) in &self.family {
            let seen = status(*pid);
            now.memory += seen.memory;
            now.threads += seen.threads;
            now.descriptors += if all { descriptors(*pid) } else { 0 };
        }
        self.peak.memory = self.peak.memory.max(now.memory);
        self.peak.threads = self.peak.threads.max(now.threads);
        self.peak.descriptors = self.peak.descriptors.max(now.descriptors);
    }

    fn look_for_descendants(&mut self) {
        let all: Vec<(u32, u64, u64)> = std::fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|pid| stat(pid).map(|s| (pid, field(&s, PARENT), field(&s, START))))
            .collect();
        let mut family: BTreeSet<u32> = self.family.iter().map(|f| f.0).collect();
        family.insert(self.pid);
        loop {
            let before = family.len();
            for (pid, parent, _) in &all {
                if family.contains(&(*parent as u32)) {
                    family.insert(*pid);
                }
            }
            if family.len() == before {
                break;
            }
        }
        self.family.extend(all.iter().filter(|a| family.contains(&a.0)).map(|a| (a.0, a.2)));
    }

    /// Returns the descendants that still run a moment after the process itself has ended, and
    /// kills them.
    pub fn left_over(&mut self) -> Vec<u32> {
        let until = Instant::now() + GONE;
        loop {
            let left: Vec<u32> = self.alive();
            if left.is_empty() || Instant::now() >= until {
                left.iter().for_each(|pid| end(*pid));
                return left;
            }
            std::thread::sleep(SAMPLE);
        }
    }

    /// Kills the process and all its descendants by their numbers.
    pub fn kill(&mut self) {
        self.look_for_descendants();
        self.alive().into_iter().chain([self.pid]).for_each(end);
    }

    /// Returns the descendants that still run.
    fn alive(&self) -> Vec<u32> {
        self.family.iter().filter(|f| f.0 != self.pid && alive(f)).map(|f| f.0).collect()
    }
}

/// Returns whether the process with that number and start time still runs. A descendant that has
/// ended becomes a child of this process if its parent is gone, and is then waited for here.
fn alive((pid, start): &(u32, u64)) -> bool {
    let Some(stat) = stat(*pid).filter(|s| field(s, START) == *start) else { return false };
    let ended = stat.first().is_some_and(|s| s == "Z");
    if ended && field(&stat, PARENT) == u64::from(std::process::id()) {
        let pid = Pid::from_raw(*pid as i32);
        let _ = rustix::process::waitpid(pid, WaitOptions::NOHANG);
    }
    !ended
}

fn end(pid: u32) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}
