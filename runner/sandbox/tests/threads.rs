//! Threads of a process: guests of a few lines, each of which does exactly one thing. The calls are
//! defined by WASIX; that one thread runs at a time is a rule of this sandbox.

mod common;

use common::spec;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use wasibox_image::{Image, ImageSpec, pack_to};
use wasibox_sandbox::{LimitHit, Limits, Policy, ProcessStatus, RunResult, SessionSandbox};

/// The beginning of every module. Addresses below 4096 are the helpers'.
const PRELUDE: &str = r#"
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasix_32v1" "thread_spawn_v2" (func $thread (param i32 i32) (result i32)))
  (import "wasix_32v1" "thread_join" (func $thread_join (param i32) (result i32)))
  (import "wasix_32v1" "thread_exit" (func $thread_exit (param i32)))
  (import "wasix_32v1" "thread_id" (func $thread_id (param i32) (result i32)))
  (import "wasix_32v1" "thread_sleep" (func $thread_sleep (param i64) (result i32)))
  (import "wasix_32v1" "sched_yield" (func $yield (result i32)))
  (import "wasix_32v1" "futex_wait" (func $futex_wait (param i32 i32 i32 i32) (result i32)))
  (import "wasix_32v1" "futex_wake" (func $futex_wake (param i32 i32) (result i32)))
  (import "wasix_32v1" "futex_wake_all" (func $futex_wake_all (param i32 i32) (result i32)))
  (import "wasix_32v1" "fd_pipe" (func $pipe (param i32 i32) (result i32)))
  (import "wasix_32v1" "callback_signal" (func $handle (param i32 i32) (result i32)))
  (import "wasix_32v1" "proc_signal" (func $signal (param i32 i32) (result i32)))
  (import "wasix_32v1" "proc_exec3"
    (func $exec (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (data (i32.const 0) "__wasm_signal")
  (data (i32.const 16) "/bin/other")
  ;; WASIX's optional times: none, and 20 ms.
  (data (i32.const 64) "\00")
  (data (i32.const 80) "\01\00\00\00\00\00\00\00\00\2d\31\01\00\00\00\00")
  (func $ok (param $errno i32)
    (if (local.get $errno) (then (call $exit (i32.add (i32.const 100) (local.get $errno))))))
  ;; Begins a thread that gets the argument; its number.
  (func $spawn (param $argument i32) (result i32)
    (call $ok (call $thread (local.get $argument) (i32.const 100)))
    (i32.load (i32.const 100)))
  (func $join (param $tid i32) (call $ok (call $thread_join (local.get $tid))))
  ;; Waits until the word is not 0 any more.
  (func $until (param $at i32)
    (loop $again
      (if (i32.eqz (i32.load (local.get $at))) (then
        (call $ok (call $futex_wait (local.get $at) (i32.const 0) (i32.const 64) (i32.const 104)))
        (br $again)))))
  ;; Sets the word and wakes all who wait for it.
  (func $set (param $at i32) (param $to i32)
    (i32.store (local.get $at) (local.get $to))
    (call $ok (call $futex_wake_all (local.get $at) (i32.const 104))))
"#;

/// Returns a sandbox whose program `/bin/it` is `PRELUDE`, a memory of two pages and `text`;
/// `/bin/other` exits with 9.
fn sandbox(text: &str, limits: Limits) -> SessionSandbox {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("image.webc");
    let it = format!("(module {PRELUDE} (memory (export \"memory\") 2) {text})");
    let other = r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
      (memory (export "memory") 1) (func (export "_start") (call $exit (i32.const 9))))"#;
    let spec = ImageSpec {
        name: "test/threads".into(),
        version: "0.0.0".into(),
        atoms: vec![
            ("it".into(), wat::parse_str(&it).unwrap()),
            ("other".into(), wat::parse_str(other).unwrap()),
        ],
        commands: vec![("it".into(), "it".into()), ("other".into(), "other".into())],
        ..ImageSpec::default()
    };
    pack_to(&spec, &path).unwrap();
    let image = Arc::new(Image::open(&path).unwrap());
    SessionSandbox::new(image, Policy { limits, ..Policy::default() }, None, Arc::new(|_| {}))
        .unwrap()
}

fn run(text: &str, limits: Limits) -> RunResult {
    let ran = sandbox(text, limits).run(spec(&["it"], b"").0).unwrap();
    assert_eq!(ran.stuck, 0, "{ran:?}");
    ran
}

/// Returns the status that the program exits with.
fn exits(text: &str) -> u8 {
    let limits = Limits { timeout: Some(Duration::from_secs(60)), ..Limits::default() };
    let ran = run(text, limits);
    match (ran.status, ran.limit) {
        (ProcessStatus::Exited(n), None) => n,
        _ => panic!("{ran:?}"),
    }
}

#[test]
fn a_thread_has_the_memory_and_its_own_globals() {
    let text = r#"
      (global $mine (mut i32) (i32.const 5))
      (func (export "wasi_thread_start") (param $tid i32) (param $argument i32)
        (if (i32.ne (global.get $mine) (i32.const 5)) (then (call $exit (i32.const 90))))
        (global.set $mine (i32.const 77))
        (i32.store (i32.const 4100) (local.get $argument))
        (i32.store (i32.const 4104) (local.get $tid))
        (call $set (i32.const 4096) (i32.const 1)))
      (func (export "_start") (local $tid i32)
        (local.set $tid (call $spawn (i32.const 8000)))
        (global.set $mine (i32.const 6))
        (call $until (i32.const 4096))
        (if (i32.ne (i32.load (i32.const 4100)) (i32.const 8000)) (then (call $exit (i32.const 91))))
        (if (i32.ne (i32.load (i32.const 4104)) (local.get $tid)) (then (call $exit (i32.const 92))))
        (call $exit (global.get $mine)))"#;
    assert_eq!(exits(text), 6);
}

/// At most one thread runs between two waits, so that accesses there need no atomic operations.
#[test]
fn one_runs_at_a_time() {
    let text = r#"
      (func (export "wasi_thread_start") (param $tid i32) (param $argument i32)
        (local $n i32) (local $m i32)
        (local.set $n (i32.const 200))
        (loop $outer
          (if (i32.load (i32.const 4096)) (then (call $exit (i32.const 91))))
          (i32.store (i32.const 4096) (i32.const 1))
          (local.set $m (i32.const 2000))
          (loop $inner
            (i32.store (i32.const 4100) (i32.add (i32.load (i32.const 4100)) (i32.const 1)))
            (br_if $inner (local.tee $m (i32.sub (local.get $m) (i32.const 1)))))
          (i32.store (i32.const 4096) (i32.const 0))
          (call $ok (call $yield))
          (br_if $outer (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
      (func (export "_start") (local $n i32)
        (loop $begin
          (i32.store (i32.add (i32.const 4200) (i32.shl (local.get $n) (i32.const 2)))
            (call $spawn (i32.const 0)))
          (br_if $begin
            (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 8))))
        (loop $end
          (local.set $n (i32.sub (local.get $n) (i32.const 1)))
          (call $join (i32.load (i32.add (i32.const 4200) (i32.shl (local.get $n) (i32.const 2)))))
          (br_if $end (local.get $n)))
        (call $exit (i32.eq (i32.load (i32.const 4100)) (i32.const 3200000))))"#;
    assert_eq!(exits(text), 1);
}

#[test]
fn a_wait_ends_with_its_time() {
    let wait = r#"
      (call $ok (call $futex_wait (i32.const 4096) (i32.const 0) (i32.const 80) (i32.const 104)))
      (if (i32.load8_u (i32.const 104)) (then (call $exit (i32.const 90))))
      ;; Another value than expected is no wait, however long.
      (call $ok (call $futex_wait (i32.const 4096) (i32.const 7) (i32.const 64) (i32.const 104)))
      (if (i32.eqz (i32.load8_u (i32.const 104))) (then (call $exit (i32.const 91))))"#;
    let sleeper = r#"(func (export "wasi_thread_start") (param i32 i32)
      (call $ok (call $thread_sleep (i64.const 100000000000))))"#;
    assert_eq!(
        exits(&format!(r#"{sleeper} (func (export "_start") {wait} (call $exit (i32.const 3)))"#)),
        3
    );
    let begin = "(drop (call $spawn (i32.const 0)))";
    assert_eq!(
        exits(&format!(
            r#"{sleeper} (func (export "_start") {begin} {wait} (call $exit (i32.const 3)))"#
        )),
        3
    );
}

#[test]
fn a_wake_up_is_for_one_or_for_all() {
    let text = r#"
      (func (export "wasi_thread_start") (param i32 i32)
        (i32.store (i32.const 4100) (i32.add (i32.load (i32.const 4100)) (i32.const 1)))
        (call $ok (call $futex_wait (i32.const 4096) (i32.const 0) (i32.const 64) (i32.const 108)))
        (i32.store (i32.const 4104) (i32.add (i32.load (i32.const 4104)) (i32.const 1))))
      (func $all_wait
        (loop $again
          (call $ok (call $yield))
          (br_if $again (i32.lt_u (i32.load (i32.const 4100)) (i32.const 5)))))
      (func (export "_start") (local $n i32)
        (loop $begin
          (drop (call $spawn (i32.const 0)))
          (br_if $begin
            (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 5))))
        (call $all_wait)
        (call $ok (call $futex_wake (i32.const 4096) (i32.const 104)))
        (if (i32.eqz (i32.load8_u (i32.const 104))) (then (call $exit (i32.const 90))))
        (call $ok (call $futex_wait (i32.const 4096) (i32.const 0) (i32.const 80) (i32.const 104)))
        (if (i32.ne (i32.load (i32.const 4104)) (i32.const 1)) (then (call $exit (i32.const 91))))
        (call $ok (call $futex_wake_all (i32.const 4096) (i32.const 104)))
        (call $ok (call $futex_wait (i32.const 4096) (i32.const 0) (i32.const 80) (i32.const 104)))
        (call $ok (call $futex_wake (i32.const 4096) (i32.const 104)))
        (if (i32.load8_u (i32.const 104)) (then (call $exit (i32.const 92))))
        (call $exit (i32.load (i32.const 4104))))"#;
    assert_eq!(exits(text), 5);
}

#[test]
fn all_see_memory_that_one_has_grown() {
    let text = r#"
      (func (export "wasi_thread_start") (param i32 i32)
        (if (i32.ne (memory.grow (i32.const 10)) (i32.const 2)) (then (call $exit (i32.const 90))))
        (i32.store (i32.const 786000) (i32.const 11))
        (call $set (i32.const 4096) (i32.const 1))
        (call $until (i32.const 4100))
        (if (i32.ne (memory.size) (i32.const 112)) (then (call $exit (i32.const 91))))
        (i32.store (i32.const 7000000) (i32.const 22)))
      (func (export "_start") (local $tid i32)
        (local.set $tid (call $spawn (i32.const 0)))
        (call $until (i32.const 4096))
        (if (i32.ne (memory.size) (i32.const 12)) (then (call $exit (i32.const 92))))
        (if (i32.ne (i32.load (i32.const 786000)) (i32.const 11)) (then (call $exit (i32.const 93))))
        (if (i32.ne (memory.grow (i32.const 100)) (i32.const 12)) (then (call $exit (i32.const 94))))
        (call $set (i32.const 4100) (i32.const 1))
        (call $join (local.get $tid))
        (call $exit (i32.load (i32.const 7000000))))"#;
    assert_eq!(exits(text), 22);
}

/// The variables that the module lists as thread-local have a value for each thread.
#[test]
fn variables_of_threads() {
    let text = r#"
      (global (export "wasibox_thread_locals") i32 (i32.const 4200))
      (data (i32.const 4200) "\02\00\00\00\00\14\00\00\04\00\00\00\10\14\00\00\01\00\00\00")
      (func $work (param $mine i32) (local $n i32)
        (local.set $n (i32.const 500))
        (loop $again
          (i32.store (i32.const 5120) (local.get $mine))
          (i32.store8 (i32.const 5136) (local.get $mine))
          (call $ok (call $yield))
          (if (i32.ne (i32.load (i32.const 5120)) (local.get $mine)) (then (call $exit (i32.const 91))))
          (if (i32.ne (i32.load8_u (i32.const 5136)) (local.get $mine)) (then (call $exit (i32.const 92))))
          (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
      (func (export "wasi_thread_start") (param $tid i32) (param $argument i32)
        (if (i32.load (i32.const 5120)) (then (call $exit (i32.const 90))))
        (call $work (local.get $argument)))
      (func (export "_start") (local $a i32) (local $b i32)
        (i32.store (i32.const 5120) (i32.const 1))
        (local.set $a (call $spawn (i32.const 2)))
        (local.set $b (call $spawn (i32.const 3)))
        (call $work (i32.const 1))
        (call $join (local.get $a))
        (call $join (local.get $b))
        (call $exit (i32.load (i32.const 5120))))"#;
    assert_eq!(exits(text), 1);
}

#[test]
fn lists_of_variables_that_are_none() {
    for (list, errno) in [
        // Beyond the memory, too many, too long, overlapping the end.
        (131_070, 21),
        (u32::MAX, 21),
        (4200, 28),
        (4300, 28),
        (4400, 21),
    ] {
        let text = format!(
            r#"(global (export "wasibox_thread_locals") i32 (i32.const {list}))
              (data (i32.const 4200) "\41\00\00\00")
              (data (i32.const 4300) "\01\00\00\00\00\10\00\00\01\10\00\00")
              (data (i32.const 4400) "\01\00\00\00\f0\ff\01\00\20\00\00\00")
              (func (export "wasi_thread_start") (param i32 i32))
              (func (export "_start")
                (call $exit (call $thread (i32.const 0) (i32.const 100))))"#,
            list = list as i32
        );
        assert_eq!(exits(&text), errno, "{list}");
    }
}

/// A thread waits for ever, and another one computes, until the end of the run's time.
#[test]
fn limits_end_those_that_wait_and_those_that_compute() {
    let wait = r#"(drop (call $futex_wait (i32.const 4096) (i32.const 0) (i32.const 64) (i32.const 104)))"#;
    let spin = "(loop $for_ever (br $for_ever))";
    let politely = "(loop $for_ever (drop (call $yield)) (br $for_ever))";
    let sleep = "(drop (call $thread_sleep (i64.const 1000000000000)))";
    let read = r#"(call $ok (call $pipe (i32.const 4100) (i32.const 4104)))
      (i32.store (i32.const 4112) (i32.const 1))
      (drop (call $read (i32.load (i32.const 4100)) (i32.const 4108) (i32.const 1) (i32.const 4116)))"#;
    for (first, second) in [
        (wait, wait),
        (wait, spin),
        (spin, wait),
        (sleep, spin),
        (politely, politely),
        (spin, sleep),
        (read, spin),
        (sleep, read),
    ] {
        let text = format!(
            r#"(func (export "wasi_thread_start") (param i32 i32) {second})
              (func (export "_start")
                (drop (call $spawn (i32.const 0)))
                (drop (call $spawn (i32.const 0)))
                (drop (call $thread_sleep (i64.const 10000000)))
                {first})"#
        );
        let limits = Limits { timeout: Some(Duration::from_millis(300)), ..Limits::default() };
        let ran = run(&text, limits);
        assert_eq!(ran.limit, Some(LimitHit::Timeout), "{first} {second}: {ran:?}");
        if [first, second].contains(&spin) {
            // Time of all threads counts.
            let limits = Limits { cpu: Some(Duration::from_millis(200)), ..Limits::default() };
            let ran = run(&text, limits);
            assert_eq!(ran.limit, Some(LimitHit::Cpu), "{first} {second}: {ran:?}");
        }
    }
}

#[test]
fn whatever_ends_a_thread_by_force_ends_the_process() {
    for (end, status) in [
        ("(call $exit (i32.const 7))", ProcessStatus::Exited(7)),
        ("(unreachable)", ProcessStatus::Signaled(6)),
        ("(drop (i32.load (i32.const 2000000000)))", ProcessStatus::Signaled(11)),
        ("(drop (i32.div_u (i32.const 1) (i32.load (i32.const 4096))))", ProcessStatus::Signaled(8)),
        ("(call $deep)", ProcessStatus::Signaled(11)),
        ("(drop (call $signal (i32.const 2) (i32.const 9)))", ProcessStatus::Signaled(9)),
        (
            "(drop (call $exec (i32.const 16) (i32.const 10) (i32.const 16) (i32.const 10) (i32.const 0)
               (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))",
            ProcessStatus::Exited(9),
        ),
    ] {
        let text = format!(
            r#"(func $deep (call $deep) (call $deep))
              (func (export "wasi_thread_start") (param $tid i32) (param $argument i32)
                (if (local.get $argument) (then
                  (drop (call $thread_sleep (i64.const 5000000)))
                  {end}))
                (call $until (i32.const 4096)))
              (func (export "_start")
                (drop (call $spawn (i32.const 0)))
                (drop (call $spawn (i32.const 1)))
                (call $until (i32.const 4096)))"#
        );
        let ran = run(&text, Limits::default());
        assert_eq!((ran.status, ran.limit), (status, None), "{end}: {ran:?}");
    }
}

/// The process ends with its first thread, as in C.
#[test]
fn the_first_thread_ends_all() {
    let text = r#"
      (func (export "wasi_thread_start") (param i32 i32)
        (loop $for_ever (call $ok (call $yield)) (br $for_ever)))
      (func (export "_start")
        (drop (call $spawn (i32.const 0)))
        (drop (call $spawn (i32.const 0)))
        (call $ok (call $thread_sleep (i64.const 5000000))))"#;
    assert_eq!(exits(text), 0);
}

#[test]
fn a_thread_may_leave_from_within() {
    let text = r#"
      (func $within (call $thread_exit (i32.const 5)) (unreachable))
      (func (export "wasi_thread_start") (param i32 i32) (call $within))
      (func (export "_start")
        (call $join (call $spawn (i32.const 0)))
        (call $join (i32.const 12345))
        (call $exit (i32.const 4)))"#;
    assert_eq!(exits(text), 4);
}

#[test]
fn threads_count_as_processes_do() {
    let text = r#"
      (func (export "wasi_thread_start") (param i32 i32) (call $until (i32.const 4096)))
      (func (export "_start") (local $n i32)
        (loop $more
          (if (i32.eqz (call $thread (i32.const 0) (i32.const 100))) (then
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br $more))))
        (call $exit (local.get $n)))"#;
    let limits = Limits { processes: 12, ..Limits::default() };
    let ran = run(text, limits);
    assert_eq!((ran.status, ran.limit), (ProcessStatus::Exited(11), Some(LimitHit::Processes)));
    // Memory is a limit, too: 16 MiB have room for some stacks.
    let ran = run(text, Limits { memory: 16 << 20, ..Limits::default() });
    let ProcessStatus::Exited(n) = ran.status else { panic!("{ran:?}") };
    assert!((1..127).contains(&n), "{ran:?}");
}

#[test]
fn threads_that_begin_threads_for_ever() {
    let text = r#"
      (func (export "wasi_thread_start") (param i32 i32)
        (loop $more
          (drop (call $thread (i32.const 0) (i32.const 100)))
          (drop (call $yield))
          (br $more)))
      (func (export "_start")
        (drop (call $spawn (i32.const 0)))
        (call $until (i32.const 4096)))"#;
    let limits = Limits { timeout: Some(Duration::from_millis(500)), ..Limits::default() };
    assert_eq!(run(text, limits).limit, Some(LimitHit::Timeout));
    // Each thread ends at once, so only the time limits their number.
    let text = r#"
      (func (export "wasi_thread_start") (param i32 i32)
        (drop (call $thread (i32.const 0) (i32.const 100))))
      (func (export "_start")
        (drop (call $spawn (i32.const 0)))
        (call $until (i32.const 4096)))"#;
    assert_eq!(run(text, limits).limit, Some(LimitHit::Timeout));
}

#[test]
fn a_thousand_one_after_another_keep_nothing() {
    let text = |n: u32| {
        format!(
            r#"(func (export "wasi_thread_start") (param i32 i32)
                (i32.store (i32.const 4096) (i32.add (i32.load (i32.const 4096)) (i32.const 1))))
              (func (export "_start") (local $n i32)
                (local.set $n (i32.const {n}))
                (loop $again
                  (call $join (call $spawn (i32.const 0)))
                  (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
                (call $exit (i32.ne (i32.load (i32.const 4096)) (i32.const {n}))))"#
        )
    };
    let (few, many) = (run(&text(10), Limits::default()), run(&text(1000), Limits::default()));
    assert_eq!((few.status, many.status), (ProcessStatus::Exited(0), ProcessStatus::Exited(0)));
    // A thread that ends and one that begins may overlap.
    assert!(many.peak_memory <= few.peak_memory + (4 << 20), "{few:?} {many:?}");
}

/// The first thread handles signals, whichever thread runs when they arrive.
#[test]
fn signals_interrupt_the_first_thread() {
    let text = r#"
      (func (export "__wasm_signal") (param $number i32)
        (call $ok (call $thread_id (i32.const 4104)))
        (i32.store (i32.const 4100) (local.get $number)))
      (func (export "wasi_thread_start") (param i32 i32)
        (call $ok (call $signal (i32.const 2) (i32.const 10)))
        (if (i32.load (i32.const 4100)) (then (call $exit (i32.const 90))))
        (call $until (i32.const 4108)))
      (func (export "_start")
        (call $ok (call $handle (i32.const 0) (i32.const 13)))
        (drop (call $spawn (i32.const 0)))
        ;; 27 is EINTR.
        (if (i32.ne (i32.const 27)
              (call $futex_wait (i32.const 4096) (i32.const 0) (i32.const 64) (i32.const 104)))
          (then (call $exit (i32.const 91))))
        (if (i32.ne (i32.load (i32.const 4104)) (i32.const 2)) (then (call $exit (i32.const 92))))
        (call $exit (i32.load (i32.const 4100))))"#;
    assert_eq!(exits(text), 10);
}

#[test]
fn others_run_while_one_reads() {
    let text = r#"
      (func (export "wasi_thread_start") (param i32 i32)
        (i32.store (i32.const 4108) (i32.const 5000))
        (i32.store (i32.const 4112) (i32.const 4))
        (call $set (i32.const 4096) (i32.const 1))
        (call $ok (call $read (i32.load (i32.const 4100)) (i32.const 4108) (i32.const 1) (i32.const 4116)))
        (call $set (i32.const 4120) (i32.load (i32.const 5000))))
      (func (export "_start")
        (call $ok (call $pipe (i32.const 4100) (i32.const 4104)))
        (drop (call $spawn (i32.const 0)))
        (call $until (i32.const 4096))
        (i32.store (i32.const 6000) (i32.const 33))
        (i32.store (i32.const 6004) (i32.const 6000))
        (i32.store (i32.const 6008) (i32.const 4))
        (call $ok (call $write (i32.load (i32.const 4104)) (i32.const 6004) (i32.const 1) (i32.const 6012)))
        (call $until (i32.const 4120))
        (call $exit (i32.load (i32.const 4120))))"#;
    assert_eq!(exits(text), 33);
}

/// A thread makes calls that could wait but never need to. They still let another thread run after
/// its sleep.
#[test]
fn others_run_while_one_need_not_wait() {
    // A subscription to the pipe's reading end at 5000: tag 1 at 8, the descriptor at 16.
    let poll = r#"(call $ok (call $poll (i32.const 5000) (i32.const 5100) (i32.const 1) (i32.const 5200)))"#;
    let write = r#"(call $ok (call $write (i32.load (i32.const 4104)) (i32.const 6004) (i32.const 1) (i32.const 6012)))"#;
    let read = r#"(call $ok (call $read (i32.load (i32.const 4100)) (i32.const 6004) (i32.const 1) (i32.const 6012)))"#;
    for step in [poll.to_string(), format!("{write}{read}")] {
        let text = format!(
            r#"
      (func (export "wasi_thread_start") (param i32 i32)
        (call $ok (call $thread_sleep (i64.const 20000000)))
        (i32.store (i32.const 4096) (i32.const 44)))
      (func (export "_start")
        (call $ok (call $pipe (i32.const 4100) (i32.const 4104)))
        (i32.store (i32.const 6004) (i32.const 6000))
        (i32.store (i32.const 6008) (i32.const 4))
        {write}
        (i32.store8 (i32.const 5008) (i32.const 1))
        (i32.store (i32.const 5016) (i32.load (i32.const 4100)))
        (drop (call $spawn (i32.const 0)))
        (loop $again
          {step}
          (br_if $again (i32.eqz (i32.load (i32.const 4096)))))
        (call $exit (i32.load (i32.const 4096))))"#
        );
        assert_eq!(exits(&text), 44, "{step}");
    }
}

/// As after a fork, the other threads have ended in their waits. Their writes remain, and new
/// threads can begin.
#[test]
fn the_first_thread_can_be_alone_again() {
    let mut text = String::from(
        r#"(func (export "wasi_thread_start") (param $tid i32) (param $argument i32)
            (i32.store (i32.const 4096) (i32.add (i32.load (i32.const 4096)) (i32.const 1)))
            (if (i32.eqz (local.get $argument)) (then (call $until (i32.const 4100))))
            (if (i32.eq (local.get $argument) (i32.const 1))
              (then (loop $for_ever (call $ok (call $yield)) (br $for_ever))))
            (if (i32.eq (local.get $argument) (i32.const 2))
              (then (call $ok (call $signal (i32.const 0) (i32.const 0x400)))))
            (i32.store (i32.const 4096) (i32.add (i32.load (i32.const 4096)) (i32.const 100))))
          (func (export "_start")"#,
    );
    for _ in 0..3 {
        let _ = write!(
            text,
            r#"(drop (call $spawn (i32.const 0)))
              (drop (call $spawn (i32.const 1)))
              (call $ok (call $thread_sleep (i64.const 5000000)))
              (call $ok (call $signal (i32.const 0) (i32.const 0x400)))"#
        );
    }
    text.push_str(
        r#"(call $join (call $spawn (i32.const 3)))
          (call $exit (i32.load (i32.const 4096))))"#,
    );
    // At least the last thread has run to its end; the earlier ones may not have begun.
    assert!((101..=107).contains(&exits(&text)));
    // 63 is EPERM.
    let text = text.replace("(call $spawn (i32.const 3))", "(call $spawn (i32.const 2))");
    assert_eq!(exits(&text), 163);
}

/// A program whose first thread changes tables or segments has no other threads, because they would
/// have unchanged copies.
#[test]
fn programs_that_change_their_tables_have_no_threads() {
    let text = r#"
      (table $t 2 funcref) (elem (i32.const 0) $f) (func $f)
      (func (export "wasi_thread_start") (param i32 i32))
      (func (export "_start")
        (table.set $t (i32.const 1) (table.get $t (i32.const 0)))
        (call $exit (call $thread (i32.const 0) (i32.const 100))))"#;
    assert_eq!(exits(text), 58);
    let without =
        r#"(func (export "_start") (call $exit (call $thread (i32.const 0) (i32.const 100))))"#;
    assert_eq!(exits(without), 58);
}
