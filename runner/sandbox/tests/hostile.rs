//! Guests that try to outlive their limits, or to take resources that are not counted. Each is a
//! module of a few lines, because its behaviour must be exact.

mod common;

use common::spec;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasibox_image::{Image, ImageSpec, pack_to};
use wasibox_sandbox::streams::{HostStream, OutputMeter};
use wasibox_sandbox::{
    LimitHit, Limits, Policy, ProcessStatus, RunResult, SandboxError, SessionSandbox, StdStream,
};
use wasibox_vfs::{Errno, Readiness};

/// The beginning of every module.
const IMPORTS: &str = r#"
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "proc_raise" (func $raise (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_create_directory"
    (func $mkdir (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasix_32v1" "callback_signal" (func $handle (param i32 i32) (result i32)))
  (import "wasix_32v1" "proc_signal" (func $signal (param i32 i32) (result i32)))
  (import "wasix_32v1" "chdir" (func $chdir (param i32 i32) (result i32)))
  (import "wasix_32v1" "fd_dup2" (func $dup (param i32 i32 i32 i32) (result i32)))
  (import "wasix_32v1" "fd_pipe" (func $pipe (param i32 i32) (result i32)))
  (import "wasix_32v1" "proc_exec3"
    (func $exec (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasix_32v1" "proc_spawn3"
    (func $spawn (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (data (i32.const 0) "__wasm_signal")
  (data (i32.const 16) "/bin/it")
  (data (i32.const 32) "/dev/urandom")
  (global $depth (mut i32) (i32.const 0))
  (global $most (mut i32) (i32.const 0))
  (global $count (mut i32) (i32.const 0))
  (func $enter
    (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
    (if (i32.gt_u (global.get $depth) (global.get $most))
      (then (global.set $most (global.get $depth)))))
  (func $leave (global.set $depth (i32.sub (global.get $depth) (i32.const 1))))
"#;

/// Returns a sandbox whose only program, `/bin/it`, consists of `IMPORTS`, a memory of `pages`
/// pages, and `text`.
fn sandbox(pages: u32, text: &str, limits: Limits) -> SessionSandbox {
    let memory = format!("(memory (export \"memory\") {pages})");
    module(&format!("(module {IMPORTS} {memory} {text})"), limits)
}

fn module(text: &str, limits: Limits) -> SessionSandbox {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("image.webc");
    let spec = ImageSpec {
        name: "test/hostile".into(),
        version: "0.0.0".into(),
        atoms: vec![("it".into(), wat::parse_str(text).unwrap())],
        commands: vec![("it".into(), "it".into())],
        ..ImageSpec::default()
    };
    pack_to(&spec, &path).unwrap();
    let image = Arc::new(Image::open(&path).unwrap());
    SessionSandbox::new(image, Policy { limits, ..Policy::default() }, None, Arc::new(|_| {}))
        .unwrap()
}

fn run(b: &SessionSandbox) -> RunResult {
    b.run(spec(&["it"], b"").0).unwrap()
}

/// Runs `text` as the program and returns how it ends.
fn status(pages: u32, text: &str, limits: Limits) -> ProcessStatus {
    run(&sandbox(pages, text, limits)).status
}

fn timeout(ms: u64) -> Limits {
    Limits { timeout: Some(Duration::from_millis(ms)), ..Limits::default() }
}

fn memory(bytes: u64) -> Limits {
    Limits { memory: bytes, ..Limits::default() }
}

/// POSIX: a signal is blocked while its handler runs (`sigaction`, `sa_mask`).
#[test]
fn a_handler_that_raises_its_signal_is_not_called_within_itself() {
    let text = r#"
      (func (export "__wasm_signal") (param $sig i32)
        (call $enter)
        (if (i32.lt_u (global.get $count) (i32.const 100000))
          (then (drop (call $raise (local.get $sig)))))
        (call $leave))
      (func (export "_start")
        (drop (call $handle (i32.const 0) (i32.const 13)))
        (drop (call $raise (i32.const 10)))
        (if (i32.ne (global.get $count) (i32.const 100000)) (then (call $exit (i32.const 99))))
        (call $exit (global.get $most)))"#;
    assert_eq!(status(1, text, Limits::default()), ProcessStatus::Exited(1));
}

#[test]
fn handlers_of_different_signals_nest_a_little_and_none_is_lost() {
    let text = r#"
      (func (export "__wasm_signal") (param $sig i32)
        (call $enter)
        (if (i32.lt_u (local.get $sig) (i32.const 8)) ;; 9 cannot be caught
          (then (drop (call $raise (i32.add (local.get $sig) (i32.const 1))))))
        (call $leave))
      (func (export "_start")
        (drop (call $handle (i32.const 0) (i32.const 13)))
        (drop (call $raise (i32.const 1)))
        (if (i32.ne (global.get $count) (i32.const 8)) (then (call $exit (global.get $count))))
        (call $exit (i32.add (i32.const 100) (global.get $most))))"#;
    assert_eq!(status(1, text, Limits::default()), ProcessStatus::Exited(104));
}

/// The end of a process within its handler is reported like any other.
#[test]
fn a_process_may_end_in_its_handler() {
    let with = |body: &str| {
        format!(
            r#"(func (export "__wasm_signal") (param $sig i32) {body})
               (func (export "_start")
                 (drop (call $handle (i32.const 0) (i32.const 13)))
                 (drop (call $raise (i32.const 10))))"#
        )
    };
    assert_eq!(status(1, &with("unreachable"), Limits::default()), ProcessStatus::Signaled(6));
    assert_eq!(
        status(1, &with("(call $exit (i32.const 3))"), timeout(5000)),
        ProcessStatus::Exited(3)
    );
    let r = run(&sandbox(1, &with("(loop (br 0))"), timeout(200)));
    assert_eq!(
        (r.status, r.limit, r.stuck),
        (ProcessStatus::Signaled(9), Some(LimitHit::Timeout), 0)
    );
    // A handler that removes itself and raises the signal again: the default action follows at
    // once.
    let itself = "(drop (call $handle (i32.const 0) (i32.const 0)))
        (drop (call $raise (local.get $sig))) (call $exit (i32.const 4))";
    assert_eq!(status(1, &with(itself), Limits::default()), ProcessStatus::Signaled(10));
}

/// The guest's handler takes USR1 alone, so that TERM ends the guest (`box_abi::control::CATCH`). A
/// pending signal that the handler no longer takes has its default action, too.
#[test]
fn signals_that_the_handler_does_not_take_have_their_default_action() {
    let with = |handler: &str, body: &str| {
        format!(
            r#"(func (export "__wasm_signal") (param $sig i32) (call $enter) {handler})
               (func (export "_start")
                 (drop (call $signal (i32.const 1024) (i32.const 0x2000)))
                 (drop (call $handle (i32.const 0) (i32.const 13)))
                 (drop (call $raise (i32.const 10)))
                 (if (i32.ne (global.get $count) (i32.const 1)) (then (call $exit (i32.const 99))))
                 {body}
                 (call $exit (i32.const 3)))"#
        )
    };
    let raise = |signal: u32| format!("(drop (call $raise (i32.const {signal})))");
    let end = |text: &str| status(1, text, timeout(5000));
    assert_eq!(end(&with("", "")), ProcessStatus::Exited(3));
    assert_eq!(end(&with("", &raise(15))), ProcessStatus::Signaled(15));
    // Urgent data is ignored by default, and signals from 32 on always reach the handler.
    assert_eq!(end(&with("", &raise(23))), ProcessStatus::Exited(3));
    assert_eq!(end(&with("", &raise(40))), ProcessStatus::Exited(3));
    // While the handler runs, its signal is blocked.
    let gives_up = "(drop (call $raise (i32.const 10)))
        (drop (call $signal (i32.const 0) (i32.const 0x2000)))";
    assert_eq!(end(&with(gives_up, "")), ProcessStatus::Signaled(10));
}

/// The guest reads into 1,024 vectors of 16 MiB each, which are all the same memory.
#[test]
fn a_kill_ends_a_read_of_random_bytes() {
    let text = r#"
      (func (export "_start") (local $i i32)
        (drop (call $open (i32.const 3) (i32.const 0) (i32.const 32) (i32.const 12) (i32.const 0)
          (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 64)))
        (loop $next
          (i32.store (i32.add (i32.const 1024) (i32.shl (local.get $i) (i32.const 3)))
            (i32.const 65536))
          (i32.store (i32.add (i32.const 1028) (i32.shl (local.get $i) (i32.const 3)))
            (i32.const 16777216))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $next (i32.lt_u (local.get $i) (i32.const 1024))))
        (loop $again
          (drop (call $read (i32.load (i32.const 64)) (i32.const 1024) (i32.const 1024)
            (i32.const 72)))
          (br $again)))"#;
    let r = run(&sandbox(260, text, timeout(200)));
    assert_eq!((r.limit, r.stuck), (Some(LimitHit::Timeout), 0));
    // CPU time is compared because it does not depend on the load of the machine.
    assert!(r.cpu < Duration::from_millis(700), "{:?}", r.cpu);
}

#[test]
fn a_kill_ends_a_request_for_half_a_gigabyte_of_randomness() {
    let text =
        r#"(func (export "_start") (drop (call $random (i32.const 0) (i32.const 536870912))))"#;
    let r = run(&sandbox(8192, text, timeout(50)));
    assert_eq!((r.limit, r.stuck), (Some(LimitHit::Timeout), 0));
    assert!(r.cpu < Duration::from_millis(400), "{:?}", r.cpu);
}

/// As on Linux, one call transfers at most 2 GiB less a page.
#[test]
fn the_size_of_a_read_is_bounded() {
    let text = r#"
      (data (i32.const 48) "/dev/zero")
      (func (export "_start") (local $i i32)
        (drop (call $open (i32.const 3) (i32.const 0) (i32.const 48) (i32.const 9) (i32.const 0)
          (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 64)))
        (loop $next
          (i32.store (i32.add (i32.const 1024) (i32.shl (local.get $i) (i32.const 3)))
            (i32.const 65536))
          (i32.store (i32.add (i32.const 1028) (i32.shl (local.get $i) (i32.const 3)))
            (i32.const 8388608))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $next (i32.lt_u (local.get $i) (i32.const 1024))))
        (drop (call $read (i32.load (i32.const 64)) (i32.const 1024) (i32.const 1024)
          (i32.const 72)))
        (call $exit (i32.ne (i32.load (i32.const 72)) (i32.const 0x7ffff000))))"#;
    assert_eq!(status(132, text, Limits::default()), ProcessStatus::Exited(0));
}

/// Returns a program that executes itself by `exec`, with `args` bytes of arguments and `env` bytes
/// of environment. Both lists begin at address 65536, where every byte is `byte`.
fn exec(args: u32, env: u32, byte: u8) -> String {
    format!(
        r#"(func (export "_start")
             (drop (call $args (i32.const 64) (i32.const 68)))
             (if (i32.gt_u (i32.load (i32.const 68)) (i32.const 1000))
               (then (call $exit (i32.const 99))))
             (memory.fill (i32.const 65536) (i32.const {byte}) (i32.const 4194304))
             (call $exit (call $exec (i32.const 16) (i32.const 7) (i32.const 65536)
               (i32.const {args}) (i32.const 65536) (i32.const {env}) (i32.const 0) (i32.const 0)
               (i32.const 0))))"#
    )
}

#[test]
fn argument_lists_are_bounded_and_charged() {
    let (a, lf) = (b'a', b'\n');
    assert_eq!(status(66, &exec(1_500_000, 1, a), Limits::default()), ProcessStatus::Exited(99));
    // E2BIG: both lists count together, and each string costs more than its bytes.
    assert_eq!(
        status(66, &exec(1_500_000, 1_500_000, a), Limits::default()),
        ProcessStatus::Exited(1)
    );
    assert_eq!(status(66, &exec(1_500_000, 1, lf), Limits::default()), ProcessStatus::Exited(1));
    // ENOMEM: there is room for the memory and not much more.
    let limits = memory(66 * 65536 + 500_000);
    assert_eq!(status(66, &exec(1_500_000, 1, a), limits), ProcessStatus::Exited(48));
}

/// A `PATH` of 131,072 colons; in an earlier version each of them cost a copy of a megabyte of
/// arguments.
#[test]
fn a_long_path_is_searched_in_reasonable_time() {
    let with = |len: u32| {
        format!(
            r#"(data (i32.const 48) "nope")
               (func (export "_start")
                 (memory.fill (i32.const 65536) (i32.const 97) (i32.const 1048576))
                 (memory.fill (i32.const 2097152) (i32.const 58) (i32.const 131073))
                 (i32.store (i32.const 80) (i32.const 65536))
                 (call $exit (call $spawn (i32.const 48) (i32.const 4) (i32.const 80) (i32.const 1)
                   (i32.const 84) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
                   (i32.const 0) (i32.const 1) (i32.const 2097152) (i32.const {len})
                   (i32.const 96))))"#
        )
    };
    let r = run(&sandbox(40, &with(131_072), timeout(20_000)));
    assert_eq!((r.status, r.limit), (ProcessStatus::Exited(44), None));
    assert!(r.cpu < Duration::from_secs(2), "{:?}", r.cpu);
    assert_eq!(status(40, &with(131_073), timeout(20_000)), ProcessStatus::Exited(1));
}

#[test]
fn the_table_of_descriptors_is_charged() {
    let text = r#"(func (export "_start")
        (call $exit (call $dup (i32.const 0) (i32.const 8000) (i32.const 0) (i32.const 64))))"#;
    // The guest takes a page, the first part of a stack, and the cost of a process; what is left is
    // enough for the table, or not.
    let begin = 65536 + (256 << 10);
    assert_eq!(status(1, text, memory(begin + 300_000)), ProcessStatus::Exited(0));
    assert_eq!(status(1, text, memory(begin + 80_000)), ProcessStatus::Exited(48));
}

#[test]
fn open_files_are_charged() {
    let text = r#"(func (export "_start") (local $e i32)
        (loop $more
          (local.set $e (call $open (i32.const 3) (i32.const 0) (i32.const 32) (i32.const 12)
            (i32.const 0) (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 64)))
          (br_if $more (i32.eqz (local.get $e))))
        (call $exit (local.get $e)))"#;
    assert_eq!(status(1, text, Limits::default()), ProcessStatus::Exited(33));
    assert_eq!(status(1, text, memory(65536 + (256 << 10) + 300_000)), ProcessStatus::Exited(48));
}

#[test]
fn working_directories_are_bounded() {
    let text = r#"(func (export "_start") (local $e i32) (local $n i32)
        (memory.fill (i32.const 1024) (i32.const 97) (i32.const 255))
        (loop $more
          (drop (call $mkdir (i32.const 4) (i32.const 1024) (i32.const 255)))
          (local.set $e (call $chdir (i32.const 1024) (i32.const 255)))
          (drop (call $open (i32.const 4) (i32.const 0) (i32.const 1024) (i32.const 255)
            (i32.const 2) (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 64)))
          (drop (call $renumber (i32.load (i32.const 64)) (i32.const 4)))
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (br_if $more (i32.and (i32.eqz (local.get $e)) (i32.lt_u (local.get $n) (i32.const 400)))))
        (call $exit (local.get $e)))"#;
    let start = r#"(import "wasi_snapshot_preview1" "fd_renumber"
        (func $renumber (param i32 i32) (result i32)))"#;
    let home = r#"(drop (call $open (i32.const 3) (i32.const 0) (i32.const 48) (i32.const 10)
        (i32.const 2) (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 64)))"#;
    let text = text.replacen("(memory.fill", &format!("{home} (memory.fill"), 1);
    let data = r#"(data (i32.const 48) "/home/user")"#;
    let memory = "(memory (export \"memory\") 1)";
    let all = format!("(module {start} {IMPORTS} {memory} {data} {text})");
    assert_eq!(run(&module(&all, Limits::default())).status, ProcessStatus::Exited(37));
}

/// Every process starts two more and ends; the first ends at once.
#[test]
fn nothing_starts_after_the_end_of_the_first_process() {
    let spawn = "(drop (call $spawn (i32.const 16) (i32.const 7) (i32.const 80) (i32.const 0)
        (i32.const 84) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
        (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 96)))";
    let text = format!(r#"(func (export "_start") {spawn} {spawn})"#);
    let b = sandbox(1, &text, Limits { processes: 40, ..Limits::default() });
    for _ in 0..20 {
        let r = run(&b);
        assert_eq!((r.status, r.stuck), (ProcessStatus::Exited(0), 0));
    }
}

#[test]
fn cpu_time_is_limited_and_waiting_does_not_count() {
    let cpu = |ms| Limits { cpu: Some(Duration::from_millis(ms)), ..Limits::default() };
    let r = run(&sandbox(1, r#"(func (export "_start") (loop (br 0)))"#, cpu(200)));
    assert_eq!((r.limit, r.stuck), (Some(LimitHit::Cpu), 0));
    assert!((200..600).contains(&r.cpu.as_millis()), "{:?}", r.cpu);
    // A child that computes while its parent waits counts, too.
    let b = common::sandbox(Policy { limits: cpu(300), ..Policy::default() });
    let r = b.run(spec(&["run", "/bin/spin"], b"").0).unwrap();
    assert_eq!(r.limit, Some(LimitHit::Cpu));
    let r = b.run(spec(&["sleep", "0.5"], b"").0).unwrap();
    assert_eq!((r.limit, r.status), (None, ProcessStatus::Exited(0)));
    // Each run has a CPU limit of its own.
    let r = b.run(spec(&["sleep", "0.1"], b"").0).unwrap();
    assert_eq!((r.limit, r.status), (None, ProcessStatus::Exited(0)));
}

/// A stream whose reads do not return for a while, even after a kill.
#[derive(Debug)]
struct SlowStream(Duration);

impl StdStream for SlowStream {
    fn read(&self, _: &mut [u8]) -> Result<usize, Errno> {
        let until = Instant::now() + self.0;
        while let left = until.saturating_duration_since(Instant::now())
            && !left.is_zero()
        {
            std::thread::sleep(left);
        }
        Ok(0)
    }
    fn write(&self, _: &[u8]) -> Result<usize, Errno> {
        Err(Errno::BADF)
    }
    fn readiness_of(&self, _: bool) -> Option<Readiness> {
        None
    }
    fn wait_ready(&self, _: bool, _: Duration) {}
}

#[test]
fn a_process_that_cannot_be_ended_is_reported() {
    let b = common::sandbox(Policy { limits: timeout(100), ..Policy::default() });
    let mut s = spec(&["cat"], b"").0;
    s.stdin = Some(Arc::new(SlowStream(Duration::from_secs(5))));
    let begun = Instant::now();
    let r = b.run(s).unwrap();
    assert_eq!((r.limit, r.stuck), (Some(LimitHit::Timeout), 1));
    // The session refuses to run anything else until the process has ended.
    assert!(matches!(b.run(spec(&["true"], b"").0), Err(SandboxError::Stuck(1))));
    while begun.elapsed() < Duration::from_secs(60) {
        match b.run(spec(&["true"], b"").0) {
            Ok(r) => {
                assert_eq!(r.stuck, 0);
                return;
            }
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
    panic!("the session still refuses to run, although the process has ended");
}

/// A host's pipe without a reader: the write waits, and a kill ends it.
#[test]
fn a_kill_ends_a_write_to_a_full_pipe_of_the_host() {
    let (reader, writer) = std::io::pipe().unwrap();
    let b = common::sandbox(Policy { limits: timeout(200), ..Policy::default() });
    let mut s = spec(&["gen", "1000000"], b"").0;
    s.stdout = HostStream::output(&writer, OutputMeter::new(None), false).unwrap();
    s.stderr = s.stdout.clone();
    let r = b.run(s).unwrap();
    assert_eq!((r.limit, r.stuck), (Some(LimitHit::Timeout), 0));
    drop(reader);
}

/// A host's pipe that is read slowly: no byte is lost or duplicated.
#[test]
fn a_slow_reader_of_the_host_gets_everything() {
    use std::io::Read;
    let (mut reader, writer) = std::io::pipe().unwrap();
    let b = common::sandbox(Policy::default());
    let mut s = spec(&["gen", "1000000"], b"").0;
    s.stdout = HostStream::output(&writer, OutputMeter::new(None), false).unwrap();
    let got = std::thread::spawn(move || {
        let (mut all, mut part) = (0, vec![0; 30_000]);
        loop {
            match reader.read(&mut part).unwrap() {
                0 => return all,
                n => all += n,
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let r = b.run(s).unwrap();
    drop((b, writer));
    assert_eq!((r.status, got.join().unwrap()), (ProcessStatus::Exited(0), 1_000_000));
}
