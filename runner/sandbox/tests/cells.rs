//! Interpreters that stay between cells, are parked and are restored.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use wasibox_image::{Image, ImageSpec, pack_to};
use wasibox_sandbox::streams::{BytesInput, Capture, OutputMeter};
use wasibox_sandbox::{
    CellChange, CellError, CellRun, LimitHit, Limits, Policy, ProcessStatus, RunSpec, SandboxError,
    SessionSandbox,
};

static MODULES: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cells");
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest/Cargo.toml");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--target", "wasm32-wasip1"])
        .args(["--bin", "cells", "--bin", "prepared", "--manifest-path"])
        .arg(guest)
        .arg("--target-dir")
        .arg(&target)
        .env_remove("RUSTFLAGS")
        .status()
        .unwrap();
    assert!(built.success(), "the guest does not compile");
    let read = |name: &str| {
        std::fs::read(target.join(format!("wasm32-wasip1/release/{name}.wasm"))).unwrap()
    };
    (read("cells"), read("prepared"))
});

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn image(&self, motto: &str) -> Arc<Image> {
        let root = self.0.path().join(format!("root-{motto}"));
        std::fs::create_dir_all(root.join("etc")).unwrap();
        std::fs::write(root.join("etc/motto"), motto).unwrap();
        let spec = ImageSpec {
            name: "test/cells".into(),
            version: "0.0.0".into(),
            atoms: vec![("c".into(), MODULES.0.clone()), ("p".into(), MODULES.1.clone())],
            commands: vec![("c".into(), "c".into()), ("p".into(), "p".into())],
            rootfs: vec![root],
            ..ImageSpec::default()
        };
        let path = self.0.path().join(format!("{motto}.webc"));
        pack_to(&spec, &path).unwrap();
        Arc::new(Image::open(&path).unwrap())
    }

    fn aot(&self) -> PathBuf {
        self.0.path().join("aot")
    }

    fn open(&self, policy: Policy) -> SessionSandbox {
        SessionSandbox::new(self.image("a"), policy, Some(self.aot()), Arc::new(|_| {})).unwrap()
    }

    fn sandbox(&self) -> SessionSandbox {
        self.open(Policy::default())
    }
}

fn spec(program: &str, stdin: &str) -> (RunSpec, Arc<Capture>, Arc<Capture>) {
    let meter = OutputMeter::new(None);
    let (out, err) = (Capture::new(meter.clone()), Capture::new(meter.clone()));
    let spec = RunSpec {
        argv: vec![program.into()],
        env: Vec::new(),
        cwd: b"/".into(),
        stdin: Some(BytesInput::new(stdin.into())),
        stdout: out.clone(),
        stderr: err.clone(),
        timeout: None,
        keep: false,
    };
    (spec, out, err)
}

fn try_cell(sandbox: &SessionSandbox, code: &str) -> Result<CellRun, SandboxError> {
    sandbox.cell("one", spec("c", "").0, code.as_bytes())
}

/// Runs a cell that stays. Returns its status and its value.
fn cell(sandbox: &SessionSandbox, code: &str) -> (u8, String) {
    let ran = try_cell(sandbox, code).unwrap();
    assert!(!ran.is_gone, "{code}: {ran:?}");
    (ran.run.status.code(), String::from_utf8(ran.value.unwrap_or_default()).unwrap())
}

fn value(sandbox: &SessionSandbox, code: &str) -> String {
    let (status, value) = cell(sandbox, code);
    assert_eq!(status, 0, "{code}: {value}");
    value
}

fn write(sandbox: &SessionSandbox, path: &str, text: &str) {
    let how = wasibox_vfs::OpenFlags { write: true, create: true, ..Default::default() };
    let root = wasibox_vfs::Loc::Tree(wasibox_vfs::tree::ROOT);
    match sandbox.vfs().open(&root, path.as_bytes(), how, 0o644).unwrap() {
        wasibox_vfs::OpenResult::File(f) => {
            assert_eq!(f.write(0, false, text.as_bytes()).unwrap().0, text.len())
        }
        _ => panic!("{path}"),
    }
}

/// Parks the interpreter of one sandbox and restores it in another.
fn move_over(from: &SessionSandbox, to: &SessionSandbox, fork: bool) -> CellChange {
    let change = from.cell_changes("one", true).unwrap();
    to.restore_cell("one", &change.module, &[&change.layer], &change.rest, fork).unwrap();
    change
}

#[test]
fn an_interpreter_stays_from_cell_to_cell() {
    let place = Place::new();
    let sandbox = place.sandbox();
    assert_eq!(value(&sandbox, "keep first"), "");
    assert_eq!(value(&sandbox, "keep second"), "");
    assert_eq!(value(&sandbox, "all"), "prepared,first,second");
    let (spec, out, err) = spec("c", "typed");
    let ran = sandbox.cell("one", spec, b"say hello").unwrap();
    assert_eq!(
        (out.take_output(), err.take_output()),
        (b"hello\n".to_vec(), b"err hello\n".to_vec())
    );
    assert_eq!((ran.value, ran.json, ran.run.status), (None, None, ProcessStatus::Exited(0)));
    let (spec, ..) = self::spec("c", "typed");
    let ran = sandbox.cell("one", spec, b"input").unwrap();
    assert_eq!(ran.json.as_deref(), Some(b"\"typed\"".as_slice()));
    assert_eq!(cell(&sandbox, "fail 7").0, 7);
    // Another name is another interpreter, and a command runs in none of them.
    let ran = sandbox.cell("two", self::spec("c", "").0, b"all").unwrap();
    assert_eq!(ran.value.as_deref(), Some(b"prepared".as_slice()));
    assert_eq!(sandbox.cells(), ["one", "two"]);
    let (spec, out, _) = self::spec("c", "");
    assert_eq!(sandbox.run(spec).unwrap().status, ProcessStatus::Exited(0));
    assert_eq!(out.take_output(), b"run as a command\n");
    assert!(sandbox.forget_cell("one") && !sandbox.forget_cell("one"));
    assert_eq!(value(&sandbox, "all"), "prepared");
}

#[test]
fn a_parked_interpreter_comes_back_in_another_sandbox() {
    let place = Place::new();
    let (one, two) = (place.sandbox(), place.sandbox());
    for sandbox in [&one, &two] {
        write(sandbox, "/tmp/text", "0123456789");
    }
    cell(&one, "keep x");
    cell(&one, "fill 40");
    cell(&one, "open /tmp/text");
    assert_eq!(value(&one, "read 4"), "0123");
    let (sum, before) = (value(&one, "sum"), value(&one, "elapsed").parse::<u64>().unwrap());
    let change = move_over(&one, &two, false);
    assert!(change.keep == 0 && change.layer.len() >= 40 << 16);
    assert_eq!((value(&two, "all"), value(&two, "sum")), ("prepared,x".into(), sum));
    assert_eq!(value(&two, "read 4"), "4567");
    assert!(value(&two, "elapsed").parse::<u64>().unwrap() > before);
    assert_eq!(value(&two, "forks"), "0");
    // The first interpreter continues where it is.
    assert_eq!(value(&one, "read 2"), "45");
    assert_eq!(value(&one, "write z"), "written");
    // The fork is reported to the interpreter once.
    move_over(&one, &two, true);
    assert_eq!((value(&two, "forks"), value(&two, "forks")), ("1".into(), "1".into()));
    assert_eq!(value(&one, "forks"), "0");
}

#[test]
fn only_changed_parts_are_reported() {
    let place = Place::new();
    let sandbox = place.sandbox();
    cell(&sandbox, "fill 100");
    let whole = sandbox.cell_changes("one", false).unwrap();
    assert!(whole.keep == 0 && whole.layer.len() >= 100 << 16);
    cell(&sandbox, "sum");
    let mut layers = vec![whole.layer];
    let (mut rest, mut joined) = (Vec::new(), 0);
    for n in 0..100 {
        cell(&sandbox, &format!("touch {}", n * 7 % 100));
        let change = sandbox.cell_changes("one", false).unwrap();
        // The whole memory is never written again.
        assert!(change.keep > 0 && change.layer.len() < 2 << 20, "{}", change.layer.len());
        joined += usize::from(change.keep < layers.len());
        layers.truncate(change.keep);
        layers.push(change.layer);
        assert!(layers.len() <= 40);
        rest = change.rest;
    }
    assert!(joined > 3);
    // Together, the layers are the present state.
    let sum = value(&sandbox, "sum");
    let all = sandbox.cell_changes("one", true).unwrap();
    let module = all.module;
    let other = place.sandbox();
    other.restore_cell("one", &module, &layers, &rest, false).unwrap();
    assert_eq!(value(&other, "sum"), sum);
    // Later layers are stacked on restored ones, too.
    cell(&other, "touch 3");
    let change = other.cell_changes("one", false).unwrap();
    assert!(change.keep > 0 && change.layer.len() < 2 << 20, "{}", change.layer.len());
    layers.truncate(change.keep);
    layers.push(change.layer);
    let third = place.sandbox();
    third.restore_cell("one", &module, &layers, &change.rest, false).unwrap();
    assert_eq!(value(&third, "sum"), value(&other, "sum"));
    assert!(sandbox.cell_changes("none", false).is_none());
}

#[test]
fn a_file_that_is_not_there_any_more_is_closed() {
    let place = Place::new();
    let (one, two) = (place.sandbox(), place.sandbox());
    for sandbox in [&one, &two] {
        write(sandbox, "/tmp/text", "0123456789");
    }
    cell(&one, "open /tmp/text");
    assert_eq!(value(&one, "remove /tmp/text"), "true");
    assert_eq!(value(&one, "read 3"), "012");
    move_over(&one, &two, false);
    // The answer is EBADF, because the number is not reused for another file.
    assert_eq!(value(&two, "read 3"), "errno 8");
    assert_eq!(value(&two, "write x"), "errno 8");
    write(&two, "/tmp/other", "abc");
    cell(&two, "open /tmp/other");
    assert_eq!(value(&two, "read 3"), "abc");
}

#[test]
fn what_ends_in_the_middle_is_gone() {
    let place = Place::new();
    let sandbox = place.sandbox();
    for (code, status) in
        [("exit 5", ProcessStatus::Exited(5)), ("trap", ProcessStatus::Signaled(6))]
    {
        cell(&sandbox, "keep x");
        let parked = sandbox.cell_changes("one", true).unwrap();
        let ran = try_cell(&sandbox, code).unwrap();
        assert_eq!((ran.is_gone, ran.run.status), (true, status), "{code}");
        assert!(sandbox.cells().is_empty());
        sandbox.restore_cell("one", &parked.module, &[parked.layer], &parked.rest, false).unwrap();
        assert_eq!(value(&sandbox, "all"), "prepared,x");
        sandbox.forget_cell("one");
        assert_eq!(value(&sandbox, "all"), "prepared");
        sandbox.forget_cell("one");
    }
    cell(&sandbox, "keep x");
    let (spec, ..) = spec("c", "");
    let begin = Instant::now();
    let spec = RunSpec { timeout: Some(Duration::from_millis(200)), ..spec };
    let ran = sandbox.cell("one", spec, b"spin").unwrap();
    assert!(ran.is_gone && ran.run.limit == Some(LimitHit::Timeout));
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!(value(&sandbox, "all"), "prepared");
}

#[test]
fn answers_are_not_believed() {
    let place = Place::new();
    let sandbox = place.sandbox();
    for lie in ["lie", "lie-long", "lie-status", "lie-address"] {
        let ran = try_cell(&sandbox, lie).unwrap();
        match lie {
            // This value lies within the memory, so it is cut to its limit.
            "lie-long" => assert_eq!((ran.value.unwrap().len(), ran.json), (64 << 10, None)),
            _ => assert_eq!(
                (ran.is_gone, ran.run.status),
                (true, ProcessStatus::Signaled(6)),
                "{lie}"
            ),
        }
    }
    let (_, long) = cell(&sandbox, "long 100000");
    assert_eq!(long.len(), 64 << 10);
}

#[test]
fn an_interpreter_may_want_the_modules_own_memory() {
    let place = Place::new();
    let sandbox = place.sandbox();
    assert_eq!(cell(&sandbox, "decline").0, 1);
    assert_eq!(value(&sandbox, "all"), "begun");
    let other = place.sandbox();
    let change = move_over(&sandbox, &other, false);
    assert_eq!(value(&other, "all"), "begun");
    cell(&other, "keep x");
    // A parked interpreter fits that memory only.
    other.forget_cell("one");
    cell(&other, "keep x");
    assert_ne!(other.cell_changes("one", true).unwrap().module, change.module);
}

/// An interpreter parked on one machine can be restored on another, because prepared memory is the
/// same everywhere.
#[test]
fn a_parked_interpreter_can_be_restored_on_another_machine() {
    let (one, two) = (Place::new(), Place::new());
    let (a, b) = (one.sandbox(), two.sandbox());
    cell(&a, "keep x");
    move_over(&a, &b, false);
    assert_eq!(value(&b, "all"), "prepared,x");
    assert_eq!(value(&a, "chance"), value(&b, "chance"));
}

#[test]
fn another_image_is_refused() {
    let place = Place::new();
    let sandbox = place.sandbox();
    cell(&sandbox, "keep x");
    let CellChange { mut module, layer, rest, .. } = sandbox.cell_changes("one", true).unwrap();
    module[0] ^= 1;
    let refused = sandbox.restore_cell("one", &module, &[layer], &rest, false);
    assert!(matches!(refused, Err(CellError::OtherModule)), "{refused:?}");
}

#[test]
fn what_is_restored_is_hostile() {
    let place = Place::new();
    let sandbox = place.sandbox();
    cell(&sandbox, "keep x");
    let CellChange { module, layer, rest, .. } = sandbox.cell_changes("one", true).unwrap();
    let restore =
        |layers: &[&[u8]], rest: &[u8]| sandbox.restore_cell("one", &module, layers, rest, false);
    // A part without lines.
    let part = |number: u32| [&number.to_le_bytes()[..], &[0; 8]].concat();
    for number in [1 << 20, u32::MAX] {
        let refused = restore(&[&part(number)], &rest);
        assert!(matches!(refused, Err(CellError::Part)), "{number}: {refused:?}");
    }
    let twice = [part(3), part(3)].concat();
    for bad in [&layer[..layer.len() - 1], &[0; 7], &twice] {
        assert!(matches!(restore(&[&layer, bad], &rest), Err(CellError::Unreadable(_))));
    }
    assert!(sandbox.cells().is_empty());
    // If the rest is damaged in any way, it is refused, or the interpreter misbehaves as any guest
    // may.
    let mut restored = 0;
    for at in 0..rest.len() {
        let mut bad = rest.clone();
        bad[at] ^= 1 << (at % 8);
        if restore(&[&layer], &bad).is_ok() {
            restored += 1;
            let (spec, ..) = spec("c", "");
            let spec = RunSpec { timeout: Some(Duration::from_millis(100)), ..spec };
            let _ = sandbox.cell("one", spec, b"all");
        }
    }
    assert!(restored > 0);
    // Memory that is nonsense.
    let junk: Vec<u8> = (0..16)
        .flat_map(|n: u32| [&n.to_le_bytes()[..], &[0xff; 8], &[0xa5; 4096]].concat())
        .collect();
    restore(&[&layer, &junk], &rest).unwrap();
    let (spec, ..) = spec("c", "");
    let spec = RunSpec { timeout: Some(Duration::from_millis(500)), ..spec };
    let _ = sandbox.cell("one", spec, b"all");
    sandbox.forget_cell("one");
    assert_eq!(value(&sandbox, "all"), "prepared");
}

#[test]
fn living_interpreters_count_against_the_memory_limit() {
    let place = Place::new();
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let sandbox = place.open(Policy { limits, ..Policy::default() });
    assert_eq!(value(&sandbox, "all"), "prepared");
    cell(&sandbox, "fill 400");
    let ran = sandbox.cell("two", spec("c", "").0, b"fill 600").unwrap();
    assert!(ran.is_gone && ran.run.limit == Some(LimitHit::Memory), "{ran:?}");
    sandbox.forget_cell("one");
    let ran = sandbox.cell("two", spec("c", "").0, b"fill 600").unwrap();
    assert!(!ran.is_gone, "{ran:?}");
    let parked = sandbox.cell_changes("two", true).unwrap();
    let refused = sandbox.restore_cell("one", &parked.module, &[parked.layer], &parked.rest, false);
    assert!(matches!(refused, Err(CellError::Memory)), "{refused:?}");
}

#[test]
fn programs_without_cells_say_so() {
    let place = Place::new();
    let sandbox = place.sandbox();
    let no = |e: SandboxError| e.to_string();
    let ran = sandbox.cell("one", spec("p", "").0, b"x").map_err(no);
    assert_eq!(ran.unwrap_err(), "one: the program runs no cells");
    let ran = sandbox.cell("one", spec("nope", "").0, b"x").map_err(no);
    assert_eq!(ran.unwrap_err(), "nope: command not found");
    for n in 0..wasibox_sandbox::MAX_CELLS {
        sandbox.cell(&format!("{n}"), spec("c", "").0, b"all").unwrap();
    }
    let ran = sandbox.cell("one", spec("c", "").0, b"x").map_err(no);
    assert_eq!(ran.unwrap_err(), "one: there are too many interpreters");
    // A refused cell has not ended the interpreter.
    cell_named(&sandbox, "3", "keep y");
    let ran = sandbox.cell("3", spec("p", "").0, b"x").map_err(no);
    assert_eq!(ran.unwrap_err(), "3: the program runs no cells");
    assert_eq!(cell_named(&sandbox, "3", "all"), "prepared,y");
}

fn cell_named(sandbox: &SessionSandbox, name: &str, code: &str) -> String {
    let ran = sandbox.cell(name, spec("c", "").0, code.as_bytes()).unwrap();
    String::from_utf8(ran.value.unwrap_or_default()).unwrap()
}

/// Figures for docs/performance.md: `cargo test --release -p wasibox-sandbox --test cells --
/// --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn figures() {
    let place = Place::new();
    let sandbox = place.sandbox();
    cell(&sandbox, "fill 400");
    sandbox.cell_changes("one", false).unwrap();
    let mut times = [Duration::ZERO; 2];
    for _ in 0..200 {
        let t = Instant::now();
        cell(&sandbox, "touch 3");
        times[0] += t.elapsed();
        let t = Instant::now();
        sandbox.cell_changes("one", false).unwrap();
        times[1] += t.elapsed();
    }
    println!("a cell {:?}, its changes {:?}", times[0] / 200, times[1] / 200);
}
