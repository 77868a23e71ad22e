//! Calls every import of the kernel with numbers at which mistakes are likely. Each call must soon
//! return an error number, and end neither the process nor the host. The list of imports is the
//! kernel's own, so that none can be forgotten.

mod common;

use common::spec;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use wasibox_image::{Image, ImageSpec, pack_to};
use wasibox_kernel::CALLS;
use wasibox_sandbox::{Limits, Policy, ProcessStatus, SessionSandbox, StdStream};
use wasibox_vfs::{Errno, Readiness};

/// The size in bytes of the smaller memory.
const END: u32 = 2 * 65536;
/// The number of calls of each import: every number at every place once, then mixtures.
const CALLS_EACH: usize = 300;
/// The time limit of one call, which leaves room for a busy machine.
const SOON: Duration = Duration::from_secs(1);
/// Largest error number of preview 1.
const LAST_ERRNO: u32 = 76;

const U32: &[u32] = &[
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    63,
    64,
    255,
    1024,
    1025,
    4095,
    4096,
    4097,
    16384,
    65535,
    65536,
    END - 8,
    END - 4,
    END - 1,
    END,
    END + 1,
    0x7fff_ffff,
    0x8000_0000,
    u32::MAX - 8,
    u32::MAX - 3,
    u32::MAX - 1,
    u32::MAX,
];
const U64: &[u64] = &[
    0,
    1,
    2,
    0xff,
    1 << 29,
    u32::MAX as u64,
    1 << 32,
    i64::MAX as u64 - 1,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Returns whether a call is left out, because it would work as intended and disturb the test: a
/// signal to itself, a sleep.
fn spared(name: &str, arguments: &[u64]) -> bool {
    match name {
        "proc_raise" | "proc_raise_interval" => (1..64).contains(&arguments[0]),
        "proc_signal" => (1..64).contains(&arguments[1]),
        "thread_sleep" => arguments[0] > 1000,
        // Such a call would touch gigabytes of the larger memory.
        "random_get" => arguments[1] > 1 << 20,
        _ => false,
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.next() % list.len() as u64) as usize]
    }
}

fn argument(ty: &str, r: &mut Random) -> u64 {
    if matches!(ty, "u64" | "i64") { r.of(U64) } else { u64::from(r.of(U32)) }
}

fn vectors(types: &[&str], r: &mut Random) -> Vec<Vec<u64>> {
    let mut out = Vec::new();
    for at in 0..types.len() {
        let wide = matches!(types[at], "u64" | "i64");
        for k in 0..if wide { U64.len() } else { U32.len() } {
            // The other arguments are small numbers: open descriptors, short lists.
            let mut v: Vec<u64> = types.iter().map(|_| r.next() % 6 * 64).collect();
            v[0] %= 6;
            v[at] = if wide { U64[k] } else { u64::from(U32[k]) };
            out.push(v);
        }
    }
    while out.len() < CALLS_EACH {
        out.push(types.iter().map(|t| argument(t, r)).collect());
    }
    out
}

/// Returns a program that makes the calls. It exits with 0, with 1 if an answer is not an error
/// number, or with 2 if an answer was late.
fn program(pages: u32, module: &str, name: &str, types: &[&str], r: &mut Random) -> String {
    let wide = |t: &&str| matches!(*t, "u64" | "i64");
    let kinds: Vec<_> = types.iter().map(|t| if wide(t) { "i64" } else { "i32" }).collect();
    let mut text = format!(
        r#"(module
          (import "{module}" "{name}" (func $f (param {}) (result i32)))
          (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
          (import "wasi_snapshot_preview1" "clock_time_get"
            (func $now (param i32 i64 i32) (result i32)))
          (memory (export "memory") {pages})
          (global $since (mut i64) (i64.const 0))
          (func $time (result i64)
            (drop (call $now (i32.const 1) (i64.const 0) (i32.const 65528)))
            (i64.load (i32.const 65528)))
          (func $check (param $e i32)
            (if (i32.gt_u (local.get $e) (i32.const {LAST_ERRNO})) (then (call $exit (i32.const 1))))
            (if (i64.gt_u (i64.sub (call $time) (global.get $since)) (i64.const {}))
              (then (call $exit (i32.const 2))))
            (global.set $since (call $time)))
          (func (export "_start")
            (global.set $since (call $time))"#,
        kinds.join(" "),
        SOON.as_nanos(),
    );
    for mut v in vectors(types, r).into_iter().filter(|v| !spared(name, v)) {
        if name == "futex_wait" {
            // The socket's peers do not exist, so the call would wait for ever.
            v[1] = 0x5a5a_5a5a;
        }
        // The memory has other values for each call: paths, vectors, subscriptions and actions.
        for at in [0u32, 64, 128, 192, 256, 320, 1024, END - 64] {
            let word = match r.next() % 4 {
                0 => u64::from(r.of(U32)),
                1 => u64::from_le_bytes(*b"/tmp/ab\0"),
                2 => (u64::from(r.of(U32)) << 32) | (r.next() % 1024),
                _ => r.next(),
            };
            // `poll_oneoff` would wait for a deadline in a subscription.
            if name != "poll_oneoff" {
                let _ = write!(text, "(i64.store (i32.const {at}) (i64.const {}))", word as i64);
            }
        }
        text.push_str("(call $check (call $f");
        for (value, kind) in v.iter().zip(&kinds) {
            let value =
                if *kind == "i64" { *value as i64 } else { i64::from(*value as u32 as i32) };
            let _ = write!(text, " ({kind}.const {value})");
        }
        text.push_str("))\n");
    }
    text.push_str("(call $exit (i32.const 0))))");
    text
}

/// A stream that takes every write and has nothing to read.
#[derive(Debug)]
struct Nothing;

impl StdStream for Nothing {
    fn read(&self, _: &mut [u8]) -> Result<usize, Errno> {
        Ok(0)
    }
    fn write(&self, data: &[u8]) -> Result<usize, Errno> {
        Ok(data.len())
    }
    fn readiness_of(&self, _: bool) -> Option<Readiness> {
        Some(Readiness { bytes: 1, hangup: false })
    }
    fn wait_ready(&self, _: bool, _: Duration) {}
}

#[test]
fn every_import_gives_error_numbers_soon() {
    all_imports(2);
}

/// In a memory that has every address, no number is beyond its end.
#[test]
fn every_import_gives_error_numbers_soon_in_the_largest_memory() {
    all_imports(65536);
}

fn all_imports(pages: u32) {
    let mut r = Random(1);
    let mut names: Vec<String> = Vec::new();
    let mut atoms: Vec<(String, Vec<u8>)> = Vec::new();
    for (module, name, types) in CALLS {
        if types.is_empty() {
            continue;
        }
        let text = program(pages, module, name, types, &mut r);
        let atom = format!("{}-{name}", if module.contains("wasix") { "x" } else { "p" });
        atoms.push((atom.clone(), wat::parse_str(&text).unwrap()));
        names.push(atom);
    }
    assert!(names.len() > 60, "{}", names.len());
    let image = ImageSpec {
        name: "test/boundaries".into(),
        version: "0.0.0".into(),
        commands: names.iter().map(|n| (n.clone(), n.clone())).collect(),
        atoms,
        ..ImageSpec::default()
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("image.webc");
    pack_to(&image, &path).unwrap();
    let image = Arc::new(Image::open(&path).unwrap());
    let timeout = Some(Duration::from_secs(60));
    let limits = Limits { timeout, memory: 5 << 30, ..Limits::default() };
    let policy = Policy { limits, ..Policy::default() };
    let mut wrong = Vec::new();
    for name in &names {
        // Each import is called in a session of its own.
        let b = SessionSandbox::new(image.clone(), policy.clone(), None, Arc::new(|_| {})).unwrap();
        let mut s = spec(&[name], b"").0;
        s.stdin = Some(Arc::new(Nothing));
        (s.stdout, s.stderr) = (Arc::new(Nothing), Arc::new(Nothing));
        let ran = b.run(s).unwrap();
        if (ran.status, ran.limit, ran.stuck) != (ProcessStatus::Exited(0), None, 0) {
            wrong.push((name, ran));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
