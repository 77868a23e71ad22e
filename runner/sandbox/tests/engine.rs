//! Attacks of guests on the engine: modules of a few instructions each, written by hand, which the
//! Rust guest of the other tests would never compile to.

mod common;

use common::{guest, spec};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use wasibox_image::{Image, ImageSpec, pack_to};
use wasibox_sandbox::{LimitHit, Limits, Policy, ProcessStatus, RunResult, SessionSandbox};

/// Programs by name. Those that loop never end by themselves.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "throw",
        "(tag $e (param i32))
         (func (export \"_start\")
           (loop $again
             (block $caught (result i32)
               (try_table (catch $e $caught) (throw $e (i32.const 1)))
               unreachable)
             drop
             (br $again)))",
    ),
    (
        // Throws through 200 frames.
        "throw-far",
        "(tag $e)
         (func $f (param i32)
           (if (i32.eqz (local.get 0)) (then (throw $e)))
           (call $f (i32.sub (local.get 0) (i32.const 1))))
         (func (export \"_start\")
           (loop $again
             (block $caught
               (try_table (catch $e $caught) (call $f (i32.const 200))))
             (br $again)))",
    ),
    (
        // An exception of 100 values.
        "throw-much",
        "(tag $e (param MUCH))
         (func (export \"_start\")
           (loop $again
             (block $caught
               (try_table (catch_all $caught) VALUES (throw $e)))
             (br $again)))",
    ),
    (
        // Throws at every depth until the stack ends.
        "throw-deep",
        "(tag $e)
         (func $f
           (block $caught (try_table (catch $e $caught) (throw $e)))
           (call $f)
           (call $f))
         (func (export \"_start\") (call $f))",
    ),
    (
        // Throws once, with as many frames below as its arguments have bytes. With an empty first
        // argument it does not throw.
        "throw-at",
        "(import \"wasi_snapshot_preview1\" \"args_sizes_get\"
           (func $args (param i32 i32) (result i32)))
         (tag $e)
         (func $f (param i32)
           (if (i32.eqz (local.get 0))
             (then
               (if (i32.ge_u (i32.load (i32.const 0)) (i32.const 3)) (then (return)))
               (throw $e)))
           (call $f (i32.sub (local.get 0) (i32.const 1))))
         (func (export \"_start\")
           (drop (call $args (i32.const 0) (i32.const 4)))
           (block $caught
             (try_table (catch $e $caught) (call $f (i32.load (i32.const 4))))))",
    ),
    (
        "recurse",
        "(func $f (param i64) (result i64)
           (i64.add (call $f (i64.add (local.get 0) (i64.const 1)))
             (call $f (i64.const 1))))
         (func (export \"_start\") (drop (call $f (i64.const 1))))",
    ),
    (
        "fill",
        "(func (export \"_start\")
           (loop $again
             (memory.fill (i32.const 0) (i32.const 1) (i32.const 0x4000000))
             (br $again)))",
    ),
    (
        "copy",
        "(func (export \"_start\")
           (loop $again
             (memory.copy (i32.const 0) (i32.const 0x2000000) (i32.const 0x2000000))
             (br $again)))",
    ),
    (
        "init",
        "(data $d \"DATA\")
         (func (export \"_start\")
           (loop $again
             (memory.init $d (i32.const 0) (i32.const 0) (i32.const 60000))
             (br $again)))",
    ),
    (
        "table",
        "(table $t 200000 200000 funcref)
         (func (export \"_start\")
           (loop $again
             (table.fill $t (i32.const 0) (ref.null func) (i32.const 200000))
             (table.copy $t $t (i32.const 0) (i32.const 100000) (i32.const 100000))
             (br $again)))",
    ),
    (
        // Grows a table as far as possible; its exit status is the number of steps.
        "table-grow",
        "(import \"wasi_snapshot_preview1\" \"proc_exit\" (func $exit (param i32)))
         (table $t 1 funcref)
         (global $n (mut i32) (i32.const 0))
         (func (export \"_start\")
           (loop $again
             (global.set $n (i32.add (global.get $n) (i32.const 1)))
             (br_if $again
               (i32.ne (i32.const -1)
                 (table.grow $t (ref.null func) (i32.const 1000)))))
           (call $exit (global.get $n)))",
    ),
    ("table-large", "(table $t 1000000 funcref) (func (export \"_start\"))"),
    ("spin", "(func (export \"_start\") (loop $again (br $again)))"),
];

fn wasm(text: &str) -> Vec<u8> {
    let text = text
        .replace("MUCH", &"i64 ".repeat(100))
        .replace("VALUES", &"(i64.const 1)".repeat(100))
        .replace("DATA", &"x".repeat(60000));
    let memory = "(memory (export \"memory\") 1025)";
    // Imports come first; here a table or a tag follows them.
    let end = if text.starts_with("(import") { text.find("\n         (t").unwrap() } else { 0 };
    let (imports, rest) = text.split_at(end);
    wat::parse_str(format!("(module {imports} {memory} {rest})")).unwrap()
}

static IMAGE: LazyLock<PathBuf> = LazyLock::new(|| {
    let mut atoms = vec![("guest".to_owned(), guest())];
    let mut commands: Vec<(String, String)> =
        common::COMMANDS.iter().map(|c| ((*c).into(), "guest".into())).collect();
    for (name, text) in PROGRAMS {
        atoms.push((format!("w-{name}"), wasm(text)));
        commands.push((format!("w-{name}"), format!("w-{name}")));
    }
    let spec = ImageSpec {
        name: "test/engine".into(),
        version: "0.0.0".into(),
        atoms,
        commands,
        ..ImageSpec::default()
    };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine.webc");
    pack_to(&spec, &path).unwrap();
    path
});

/// Lets one test run at a time, because some look at the memory of the whole process. If the engine
/// never released a lock, all tests would wait for ever; the process then ends by itself.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    static WATCHDOG: LazyLock<()> = LazyLock::new(|| {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(300));
            std::process::abort();
        });
    });
    LazyLock::force(&WATCHDOG);
    ONE.lock().unwrap_or_else(|e| e.into_inner())
}

fn sandbox(limits: Limits) -> SessionSandbox {
    let image = Arc::new(Image::open(&IMAGE).unwrap());
    let policy = Policy { limits, ..Policy::default() };
    SessionSandbox::new(image, policy, Some(common::artifacts()), Arc::new(|_| {})).unwrap()
}

fn run_in(b: &SessionSandbox, argv: &[&str], timeout: Option<Duration>) -> (RunResult, String) {
    let (mut spec, out, err) = spec(argv, b"");
    spec.timeout = timeout;
    let r = b.run(spec).unwrap();
    let both = [out.take_output(), err.take_output()].concat();
    (r, String::from_utf8_lossy(&both).into_owned())
}

fn run(argv: &[&str], limits: Limits) -> (RunResult, String) {
    run_in(&sandbox(limits), argv, limits.timeout)
}

const MS: Duration = Duration::from_millis(1);

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Lets a program that never ends run into its time limit again and again.
fn ends_in_time(program: &str, times: u32) {
    let _alone = alone();
    let b = sandbox(Limits::default());
    for i in 0..times {
        let begin = Instant::now();
        let (r, _) = run_in(&b, &[program], Some(MS * (1 + i % 7)));
        assert_eq!((r.status, r.limit), (ProcessStatus::Signaled(9), Some(LimitHit::Timeout)));
        assert!(begin.elapsed() < Duration::from_secs(5), "{program} {i} {:?}", begin.elapsed());
    }
    // No guest still runs, because its thread would use the processor.
    let cpu = || std::fs::read_to_string("/proc/self/stat").unwrap();
    let ticks = |s: String| s.rsplit(' ').nth(38).and_then(|t| t.parse::<u64>().ok()).unwrap();
    let before = ticks(cpu());
    std::thread::sleep(MS * 300);
    assert!(ticks(cpu()) - before < 10, "{program} goes on");
}

#[test]
fn exceptions_do_not_hold_up_a_kill() {
    ends_in_time("w-throw", 200);
    ends_in_time("w-throw-far", 60);
}

#[test]
fn long_functions_of_the_engine_do_not_hold_up_a_kill() {
    for program in ["w-fill", "w-copy", "w-init", "w-table"] {
        ends_in_time(program, 40);
    }
    ends_in_time("w-spin", 40);
}

#[test]
fn a_process_that_another_one_kills_is_interrupted_until_it_ends() {
    let _alone = alone();
    for program in ["w-fill", "w-table", "w-throw-far"] {
        let begin = Instant::now();
        let limits = Limits { timeout: Some(Duration::from_secs(20)), ..Limits::default() };
        let (r, out) = run(&["kill", "9", &format!("/bin/{program}")], limits);
        assert_eq!(r.limit, None, "{program}");
        assert!(out.contains("signal 9"), "{program} {out}");
        assert!(begin.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn exceptions_count_as_memory() {
    let _alone = alone();
    for (program, limit) in [("w-throw", 160 << 20), ("w-throw-much", 160 << 20)] {
        let before = resident();
        let most = Arc::new(Mutex::new((true, 0)));
        let watch = most.clone();
        let watcher = std::thread::spawn(move || {
            loop {
                let now = resident();
                let mut w = watch.lock().unwrap();
                w.1 = now.max(w.1);
                if !w.0 {
                    return;
                }
                drop(w);
                std::thread::sleep(MS * 5);
            }
        });
        let limits =
            Limits { memory: limit, timeout: Some(Duration::from_secs(100)), ..Limits::default() };
        let (r, out) = run(&[program], limits);
        most.lock().unwrap().0 = false;
        watcher.join().unwrap();
        assert_eq!((r.status, r.limit), (ProcessStatus::Signaled(9), Some(LimitHit::Memory)));
        assert_eq!(out, format!("{program}: ended: the memory limit is reached\n"));
        let grown = most.lock().unwrap().1.saturating_sub(before);
        println!("{program}: {} MiB of {} MiB", grown >> 20, limit >> 20);
        assert!(grown < limit + limit / 10, "{program} {grown}");
        assert!(r.peak_memory > limit - (1 << 20));
    }
}

#[test]
fn a_stack_that_ends_while_the_engine_uses_it_ends_one_process() {
    let _alone = alone();
    // The stack has 16 sizes, so that frames end at different places of its last page.
    for more in 0..16 {
        let stack = (1 << 20) + (more << 12);
        let limits = Limits { stack, timeout: Some(Duration::from_secs(60)), ..Limits::default() };
        let (r, out) = run(&["w-throw-deep"], limits);
        assert_eq!(r.status, ProcessStatus::Signaled(11), "{out}");
        assert_eq!(r.limit, None);
    }
}

#[test]
fn an_exception_at_any_place_near_the_stacks_end_ends_one_process() {
    let _alone = alone();
    let limits =
        Limits { stack: 1 << 20, timeout: Some(Duration::from_secs(60)), ..Limits::default() };
    let b = sandbox(limits);
    let at = |n: usize, throws: bool| {
        let depth = "x".repeat(n);
        let argv: &[&str] =
            if throws { &["w-throw-at", &depth] } else { &["w-throw-at", &depth, ""] };
        run_in(&b, argv, None).0
    };
    // The greatest depth for which the stack is large enough.
    let (mut low, mut high) = (0, 1 << 17);
    while high - low > 1 {
        let mid = (low + high) / 2;
        match at(mid, false).status {
            ProcessStatus::Exited(0) => low = mid,
            s => {
                assert_eq!(s, ProcessStatus::Signaled(11));
                high = mid;
            }
        }
    }
    let mut ends = [0, 0];
    for n in (low - 1000..low - 200).step_by(80).chain(low - 200..low + 10) {
        match at(n, true).status {
            ProcessStatus::Exited(0) => ends[0] += 1,
            s => {
                assert_eq!(s, ProcessStatus::Signaled(11));
                ends[1] += 1;
            }
        }
    }
    println!("deepest {low}: {ends:?}");
    assert!(ends[0] > 0 && ends[1] > 0, "{ends:?}");
}

#[test]
fn stacks_count_as_memory_and_are_given_back() {
    let _alone = alone();
    let b = sandbox(Limits { memory: 96 << 20, ..Limits::default() });
    let (r, out) = run_in(&b, &["w-recurse"], None);
    assert_eq!((r.status, r.limit), (ProcessStatus::Signaled(11), None), "{out}");
    assert!(r.peak_memory > 79 << 20, "{}", r.peak_memory);
    let b = sandbox(Limits { memory: 72 << 20, ..Limits::default() });
    let (r, _) = run_in(&b, &["w-recurse"], None);
    assert_eq!((r.status, r.limit), (ProcessStatus::Signaled(9), Some(LimitHit::Memory)));

    let b = sandbox(Limits::default());
    run_in(&b, &["w-recurse"], None);
    run_in(&b, &["deep", "1"], None);
    let before = resident();
    for _ in 0..8 {
        let threads: Vec<_> = (0..8).map(|_| ["recurse", "deep"]).collect();
        std::thread::scope(|s| {
            for pair in &threads {
                s.spawn(|| {
                    pair.iter().for_each(|c| drop(run_in(&sandbox(Limits::default()), &[c], None)))
                });
            }
        });
    }
    let kept = resident().saturating_sub(before);
    assert!(kept < 24 << 20, "{kept}");
}

#[test]
fn tables_are_bounded_and_count_as_memory() {
    let _alone = alone();
    let (r, _) = run(&["w-table-grow"], Limits::default());
    // 65 steps of 1,000, and the one that was refused.
    assert_eq!(r.status, ProcessStatus::Exited(66));
    assert!(r.peak_memory > (64 << 20) + (1 << 20), "{}", r.peak_memory);
    let limits = Limits { memory: 72 << 20, ..Limits::default() };
    let (spec, ..) = spec(&["w-table-large"], b"");
    assert!(sandbox(limits).run(spec).is_err());
}

#[test]
fn a_signal_from_outside_changes_nothing() {
    let _alone = alone();
    let b = sandbox(Limits::default());
    let stop = Arc::new(Mutex::new(false));
    let seen = stop.clone();
    let sender = std::thread::spawn(move || {
        while !*seen.lock().unwrap() {
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::USR1).unwrap();
            for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
                let id: libc::pid_t = task.file_name().into_string().unwrap().parse().unwrap();
                // JUSTIFICATION and SAFETY: the call takes three numbers.
                unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id, libc::SIGUSR1) };
            }
            std::thread::sleep(MS);
        }
    });
    let (r, _) = run_in(&b, &["w-spin"], Some(MS * 300));
    assert_eq!((r.limit, r.duration >= MS * 300), (Some(LimitHit::Timeout), true));
    for _ in 0..20 {
        let (r, out) = run_in(&b, &["pipeline", "100000", "pipe"], None);
        assert_eq!(r.status, ProcessStatus::Exited(0), "{out}");
    }
    *stop.lock().unwrap() = true;
    sender.join().unwrap();
}
