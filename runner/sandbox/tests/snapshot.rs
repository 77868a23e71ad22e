//! Programs that are prepared once and continue from their prepared memory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};
use wasibox_image::{Image, ImageSpec, pack_to};
use wasibox_sandbox::streams::{Capture, OutputMeter};
use wasibox_sandbox::{Limits, Policy, ProcessStatus, RunSpec, SessionSandbox, compile_all};

static MODULE: LazyLock<Vec<u8>> = LazyLock::new(|| build(&[]));

fn build(features: &[&str]) -> Vec<u8> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("prepared{}", features.len()));
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest/Cargo.toml");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--target", "wasm32-wasip1", "--bin", "prepared"])
        .arg("--manifest-path")
        .arg(guest)
        .arg("--target-dir")
        .arg(&target)
        .args(features)
        .env_remove("RUSTFLAGS")
        .status()
        .unwrap();
    assert!(built.success(), "the guest does not compile");
    std::fs::read(target.join("wasm32-wasip1/release/prepared.wasm")).unwrap()
}

struct Place {
    dir: tempfile::TempDir,
    said: Arc<Mutex<Vec<String>>>,
}

impl Place {
    fn new() -> Place {
        Place { dir: tempfile::tempdir().unwrap(), said: Arc::default() }
    }

    fn artifacts(&self) -> PathBuf {
        self.dir.path().join("aot")
    }

    fn image(&self, motto: &str, module: &[u8]) -> Arc<Image> {
        let root = self.dir.path().join(format!("root-{motto}"));
        std::fs::create_dir_all(root.join("etc")).unwrap();
        std::fs::write(root.join("etc/motto"), motto).unwrap();
        let spec = ImageSpec {
            name: "test/prepared".into(),
            version: "0.0.0".into(),
            atoms: vec![("p".into(), module.to_vec())],
            commands: vec![("p".into(), "p".into())],
            rootfs: vec![root],
            ..ImageSpec::default()
        };
        let path = self.dir.path().join(format!("{motto}.webc"));
        pack_to(&spec, &path).unwrap();
        Arc::new(Image::open(&path).unwrap())
    }

    fn progress(&self) -> Arc<dyn Fn(&str) + Send + Sync> {
        let said = self.said.clone();
        Arc::new(move |l| said.lock().unwrap().push(l.into()))
    }

    fn said(&self) -> String {
        std::mem::take(&mut *self.said.lock().unwrap()).join("\n")
    }

    fn sandbox(&self, image: &Arc<Image>, memory: u64) -> SessionSandbox {
        let policy = Policy { limits: Limits { memory, ..Limits::default() }, ..Policy::default() };
        SessionSandbox::new(image.clone(), policy, Some(self.artifacts()), self.progress()).unwrap()
    }

    fn snapshots(&self) -> Vec<PathBuf> {
        let all = std::fs::read_dir(self.artifacts()).unwrap().map(|e| e.unwrap().path());
        all.filter(|p| p.extension().is_some_and(|e| e == "snap")).collect()
    }
}

fn run(sandbox: &SessionSandbox, args: &[&str]) -> (ProcessStatus, String) {
    let meter = OutputMeter::new(None);
    let (out, err) = (Capture::new(meter.clone()), Capture::new(meter.clone()));
    let argv = std::iter::once(&"p").chain(args).map(|a| a.as_bytes().to_vec()).collect();
    let spec = RunSpec {
        argv,
        env: Vec::new(),
        cwd: b"/".into(),
        stdin: None,
        stdout: out.clone(),
        stderr: err,
        timeout: None,
        keep: false,
    };
    let status = sandbox.run(spec).unwrap().status;
    (status, String::from_utf8(out.take_output()).unwrap())
}

const ROOMY: u64 = 1 << 30;

#[test]
fn every_process_goes_on_from_the_prepared_memory() {
    let place = Place::new();
    let image = place.image("care", &MODULE);
    let sandbox = place.sandbox(&image, ROOMY);
    let found = "prepared with care; [5242880]; ";
    assert_eq!(run(&sandbox, &["a"]), (ProcessStatus::Exited(0), format!("{found}[\"a\"]\n")));
    let said = place.said();
    assert!(said.contains("preparing p for quick starts, once\nprepared p in "), "{said}");
    // A process's writes are not visible to the next one, in the same instance or another.
    let (_, out) = run(&sandbox, &["write"]);
    assert_eq!(out, "prepared with care; [5242880, 7]; [\"write\"]\n");
    assert_eq!(
        run(&sandbox, &["fail"]),
        (ProcessStatus::Exited(4), format!("{found}[\"fail\"]\n"))
    );
    assert_eq!(run(&sandbox, &["b"]).1, format!("{found}[\"b\"]\n"));
    // The prepared memory is kept for later sessions.
    let other = place.sandbox(&image, ROOMY);
    assert_eq!(run(&other, &["c"]).1, format!("{found}[\"c\"]\n"));
    assert_eq!((place.said(), place.snapshots().len()), (String::new(), 1));
    // A caller that needs all of it before a jail closes asks for it.
    assert_eq!(other.is_compiled(), Some(true));
    place.snapshots().iter().for_each(|path| std::fs::remove_file(path).unwrap());
    assert_eq!(place.sandbox(&image, ROOMY).is_compiled(), Some(false));
}

#[test]
fn a_process_can_ask_for_its_beginning() {
    let place = Place::new();
    let sandbox = place.sandbox(&place.image("x", &MODULE), ROOMY);
    for _ in 0..2 {
        let anew = (ProcessStatus::Exited(0), "begun anew [\"anew\", \"1\"]\n".into());
        assert_eq!(run(&sandbox, &["anew", "1"]), anew);
        assert_eq!(run(&sandbox, &[]).1, "prepared with x; [5242880]; []\n");
    }
}

#[test]
fn where_memory_is_short_it_begins_at_the_beginning() {
    let place = Place::new();
    let image = place.image("x", &MODULE);
    assert_eq!(run(&place.sandbox(&image, 16 << 20), &[]).1, "begun anew []\n");
    assert_eq!(run(&place.sandbox(&image, 64 << 20), &[]).1, "prepared with x; [5242880]; []\n");
}

#[test]
fn another_root_file_system_is_another_snapshot() {
    let place = Place::new();
    for motto in ["one", "two"] {
        compile_all(place.image(motto, &MODULE), Some(place.artifacts()), place.progress())
            .unwrap();
        let sandbox = place.sandbox(&place.image(motto, &MODULE), ROOMY);
        assert!(run(&sandbox, &[]).1.starts_with(&format!("prepared with {motto};")));
    }
    assert_eq!(place.snapshots().len(), 2);
    // Only the latest prepared memories are kept.
    for n in 0..4 {
        let image = place.image(&format!("{n}"), &MODULE);
        compile_all(image, Some(place.artifacts()), place.progress()).unwrap();
    }
    assert_eq!(place.snapshots().len(), 4);
}

#[test]
fn a_damaged_snapshot_is_made_again() {
    let place = Place::new();
    let image = place.image("x", &MODULE);
    compile_all(image.clone(), Some(place.artifacts()), place.progress()).unwrap();
    let file = &place.snapshots()[0];
    let mut bytes = std::fs::read(file).unwrap();
    let at = bytes.windows(15).position(|w| w == b"prepared with x").unwrap();
    bytes[at] = b'P';
    std::fs::write(file, bytes).unwrap();
    place.said();
    assert_eq!(run(&place.sandbox(&image, ROOMY), &[]).1, "prepared with x; [5242880]; []\n");
    let said = place.said();
    assert!(said.starts_with("the snapshot of p was damaged\npreparing p"), "{said}");
}

#[test]
fn an_image_that_lies_about_its_files_is_not_prepared() {
    let place = Place::new();
    place.image("truth", &MODULE);
    let path = place.dir.path().join("truth.webc");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(5).rposition(|w| w == b"truth").unwrap();
    bytes[at..at + 5].copy_from_slice(b"lying");
    std::fs::write(&path, bytes).unwrap();
    let sandbox = place.sandbox(&Arc::new(Image::open(&path).unwrap()), ROOMY);
    assert_eq!(run(&sandbox, &[]).1, "begun anew []\n");
    assert!(place.said().contains("its files differ from their digest"));
}

#[test]
fn what_cannot_be_prepared_says_so_once_and_runs() {
    let place = Place::new();
    let image = place.image("x", &build(&["--features", "fails"]));
    for tries in 0..2 {
        assert_eq!(run(&place.sandbox(&image, ROOMY), &[]).1, "begun anew []\n");
        let said = place.said();
        assert_eq!(said.contains("no, I will not"), tries == 0, "{said}");
    }
}

/// The policy's memory also bounds the preparation of a program.
#[test]
fn preparing_keeps_to_the_memory_limit() {
    let place = Place::new();
    let image = place.image("x", &MODULE);
    assert_eq!(run(&place.sandbox(&image, 16 << 20), &[]).1, "begun anew []\n");
    assert!(place.said().contains("p cannot be prepared"));
    assert!(place.snapshots().is_empty());
    // The preparation is not tried again with as little memory, but with more.
    run(&place.sandbox(&image, 16 << 20), &[]);
    assert_eq!(place.said(), "");
    assert_eq!(run(&place.sandbox(&image, ROOMY), &[]).1, "prepared with x; [5242880]; []\n");
    assert_eq!(place.snapshots().len(), 1);
}

#[test]
fn a_policy_can_ask_for_fresh_programs() {
    let place = Place::new();
    let image = place.image("x", &MODULE);
    for fresh_programs in [true, false, true] {
        let policy = Policy { fresh_programs, ..Policy::default() };
        let sandbox =
            SessionSandbox::new(image.clone(), policy, Some(place.artifacts()), place.progress())
                .unwrap();
        let expected =
            if fresh_programs { "begun anew []\n" } else { "prepared with x; [5242880]; []\n" };
        assert_eq!(run(&sandbox, &[]).1, expected);
    }
}
