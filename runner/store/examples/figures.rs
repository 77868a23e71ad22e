//! Prints the store's figures: `cargo run --release -p wasibox-store --example figures [FOLDER]`.
//! FOLDER holds the store; by default it is the temporary folder. The choice matters because the
//! cost of a durable commit depends on the folder's disk.

#[path = "../tests/common/mod.rs"]
mod common;

use common::*;
use std::path::Path;
use std::time::{Duration, Instant};
use wasibox_store::{SnapshotLimits, Store, StoreSession};
use wasibox_vfs::Vfs;

/// The wall-clock time of an operation, and the processor time that this thread spent on it.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Took {
    wall: Duration,
    cpu: Duration,
}

impl std::fmt::Display for Took {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |d: Duration| d.as_secs_f64() * 1000.0;
        write!(f, "{:.3} ms, computing {:.3} ms", ms(self.wall), ms(self.cpu))
    }
}

fn time(act: impl FnOnce()) -> Took {
    let cpu = || {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
    };
    let (wall, before) = (Instant::now(), cpu());
    act();
    Took { wall: wall.elapsed(), cpu: cpu() - before }
}

/// Returns the median of the times that `n` runs of `act` take.
fn median(n: usize, mut act: impl FnMut(usize)) -> Took {
    let mut times: Vec<Took> = (0..n).map(|i| time(|| act(i))).collect();
    times.sort_by_key(|t| t.wall);
    times[n / 2]
}

fn say(what: &str, value: impl std::fmt::Display) {
    println!("{what:60} {value}");
}

/// Returns the number of bytes that this process has written to disk.
fn written() -> u64 {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("write_bytes: "));
    line.and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) << 10
}

fn noise(n: usize, seed: u64) -> Vec<u8> {
    let mut r = Random(seed);
    // Half of each byte can be compressed away.
    (0..n).map(|_| b'a' + r.below(16) as u8).collect()
}

fn commits(store: &Store, kind: &str) {
    let (s, v) = (store.create("commits", None).unwrap(), session());
    let mut known = v.tree_version();
    for n in 0..10_000 {
        write(&v, &format!("/tmp/{n}"), format!("text of {n}").as_bytes()).unwrap();
    }
    commit(&s, &v, &mut known);
    say(
        &format!("{kind}: commit, nothing changed"),
        median(200, |_| {
            commit(&s, &v, &mut known);
        }),
    );
    let before = written();
    say(
        &format!("{kind}: commit, 1 of 10,000 files of one directory"),
        median(200, |i| {
            write(&v, &format!("/tmp/{i}"), b"changed").unwrap();
            commit(&s, &v, &mut known);
        }),
    );
    if kind != "memory" {
        say("  bytes written for it", format!("{} KiB", (written() - before) / (200 << 10)));
    }
    write(&v, "/tmp/large", &noise(100 << 20, 3)).unwrap();
    let took = time(|| drop(commit(&s, &v, &mut known)));
    say(&format!("{kind}: commit, 100 MiB written"), took);
    let before = written();
    say(
        &format!("{kind}: commit, 1 byte of 100 MiB"),
        median(100, |i| {
            let f = open(&v, "/tmp/large", wasibox_vfs::OpenFlags { truncate: false, ..WRITE })
                .unwrap();
            f.write((i * 1_000_003) as u64, false, b"x").unwrap();
            commit(&s, &v, &mut known);
        }),
    );
    if kind != "memory" {
        say("  bytes written for it", format!("{} KiB", (written() - before) / (100 << 10)));
    }
}

fn go(s: &StoreSession, v: &Vfs, step: impl FnOnce() -> wasibox_store::snapshot::Commit) -> Took {
    let old = s.state().files;
    time(|| apply(s, v, &old, &step().state.files))
}

fn history(store: &Store, kind: &str) {
    let (s, v) = (store.create("history", None).unwrap(), session());
    let mut known = v.tree_version();
    for n in 0..10_000 {
        write(&v, &format!("/tmp/{n}"), format!("text of {n}").repeat(10).as_bytes()).unwrap();
    }
    commit(&s, &v, &mut known);
    let undo = median(9, |_| {
        go(&s, &v, || s.undo().unwrap());
        go(&s, &v, || s.redo().unwrap());
    });
    say(&format!("{kind}: undo and redo of 10,000 new files"), undo);
    known = v.tree_version();
    for n in 0..10_000 {
        write(&v, &format!("/tmp/{n}"), format!("other of {n}").repeat(10).as_bytes()).unwrap();
    }
    commit(&s, &v, &mut known);
    let mut times: Vec<_> = (0..9)
        .map(|_| {
            let undo = go(&s, &v, || s.undo().unwrap());
            go(&s, &v, || s.redo().unwrap());
            undo
        })
        .collect();
    times.sort_by_key(|t| t.wall);
    say(&format!("{kind}: undo of 10,000 changed files"), times[4]);
    let restore = median(9, |_| drop(restored(&s)));
    let report = median(9, |_| {
        s.changes(&Default::default(), &s.state().files, &mut |_| Ok::<_, Failed>(())).unwrap()
    });
    say(&format!("{kind}: telling of 10,000 files"), report);
    say(&format!("{kind}: a new session of 10,000 files"), restore);
}

fn large(store: &Store, kind: &str) {
    let (s, v) = (store.create("large", None).unwrap(), session());
    let mut known = v.tree_version();
    for n in 0..1000 {
        write(&v, &format!("/tmp/{n}"), &noise(1 << 20, n)).unwrap();
    }
    let took = time(|| drop(commit(&s, &v, &mut known)));
    say(&format!("{kind}: commit of 1 GiB in 1,000 files"), took);
    drop(v);
    let fork = median(20, |n| drop(store.fork("large", None, &format!("fork{n}")).unwrap()));
    say(&format!("{kind}: fork of it"), fork);
}

fn transfer(store: &Store, folder: &Path, kind: &str) {
    let (s, v) = (store.create("transfer", None).unwrap(), session());
    let mut known = v.tree_version();
    for n in 0..100 {
        write(&v, &format!("/tmp/{n}"), &noise(1 << 20, n + 5000)).unwrap();
    }
    commit(&s, &v, &mut known);
    let file = folder.join("figures.wbs");
    let before = resident();
    let rate = |t: Took| {
        let rate = |d: Duration| 104.8576 / d.as_secs_f64();
        format!("{:.0} MB/s, {:.0} of computing", rate(t.wall), rate(t.cpu))
    };
    let took = time(|| {
        let to = std::io::BufWriter::new(std::fs::File::create(&file).unwrap());
        store.export("transfer", false, to).unwrap();
    });
    say(&format!("{kind}: export of 100 MiB"), rate(took));
    let path = folder.join("figures-import.wbx");
    let other = Store::open(&path).unwrap();
    let took = time(|| {
        let from = std::io::BufReader::new(std::fs::File::open(&file).unwrap());
        other.import("a", from, &SnapshotLimits::default()).unwrap();
    });
    say(&format!("{kind}: import of 100 MiB into a file"), rate(took));
    say("  memory more after both", format!("{} MiB", resident().saturating_sub(before) >> 20));
    let size = std::fs::metadata(&file).map_or(0, |m| m.len());
    say("  size of the snapshot", format!("{} MiB", size >> 20));
    std::fs::remove_file(&file).unwrap();
}

fn idle(store: &Store) {
    let before = resident();
    let sessions: Vec<StoreSession> = (0..1000)
        .map(|n| {
            let s = store.create(&format!("idle{n}"), None).unwrap();
            s.commit(|w| w.set_shell(&[7; 500])).unwrap();
            s
        })
        .collect();
    let each = resident().saturating_sub(before) / sessions.len() as u64;
    say("memory: an idle session", format!("{each} bytes"));
}

fn main() {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let dir = tempfile::tempdir_in(folder).unwrap();
    idle(&Store::in_memory().unwrap());
    for kind in ["memory", "file"] {
        let n = std::cell::Cell::new(0);
        let store = || match kind {
            "memory" => Store::in_memory().unwrap(),
            _ => {
                n.set(n.get() + 1);
                Store::open(&dir.path().join(format!("{}.wbx", n.get()))).unwrap()
            }
        };
        commits(&store(), kind);
        history(&store(), kind);
        transfer(&store(), dir.path(), kind);
        let _ = std::fs::remove_file(dir.path().join("figures-import.wbx"));
        large(&store(), kind);
    }
}
