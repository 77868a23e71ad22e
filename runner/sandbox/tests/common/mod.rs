//! Builds the guest once and runs its commands.
#![allow(dead_code)] // each test file uses some

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use wasibox_image::{Image, ImageSpec, pack_to};
use wasibox_sandbox::streams::{BytesInput, Capture, OutputMeter};
use wasibox_sandbox::{
    LimitHit, MountSpec, Policy, ProcessStatus, RunSpec, SandboxError, SessionSandbox,
};

pub const COMMANDS: &[&str] = &[
    "true",
    "exit",
    "echo",
    "args",
    "cwd",
    "cat",
    "wc",
    "gen",
    "yes",
    "head",
    "run",
    "pipeline",
    "early-end",
    "spin",
    "sleep",
    "recurse",
    "deep",
    "oob",
    "abort",
    "divide",
    "badcall",
    "alloc",
    "fill",
    "stain",
    "stains",
    "kill",
    "bomb",
    "fds",
    "badcalls",
    "poll",
    "devices",
    "meta",
    "files",
    "exec",
    "leave",
    "bench-spawn",
    "bench-pipe",
    "bench-files",
    "sockets",
    "serve",
    "echo-server",
    "kill-waiting",
    "wait-in",
    "many-sockets",
    "sink",
    "bench-sockets",
];

fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

static IMAGE: LazyLock<PathBuf> = LazyLock::new(|| {
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--target", "wasm32-wasip1", "--manifest-path"])
        .arg(guest.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(scratch().join("guest"))
        .env_remove("RUSTFLAGS")
        .status()
        .unwrap();
    assert!(built.success(), "the guest does not compile");
    let spec = ImageSpec {
        name: "test/guest".into(),
        version: "0.0.0".into(),
        atoms: vec![("guest".into(), guest_file())],
        commands: COMMANDS.iter().map(|c| ((*c).into(), "guest".into())).collect(),
        ..ImageSpec::default()
    };
    let path = scratch().join(format!("guest-{}.webc", std::process::id()));
    pack_to(&spec, &path).unwrap();
    path
});

fn guest_file() -> Vec<u8> {
    std::fs::read(scratch().join("guest/wasm32-wasip1/release/guest.wasm")).unwrap()
}

/// Returns the guest's module.
pub fn guest() -> Vec<u8> {
    LazyLock::force(&IMAGE);
    guest_file()
}

pub fn artifacts() -> PathBuf {
    scratch().join("aot")
}

pub fn sandbox(policy: Policy) -> SessionSandbox {
    let image = Arc::new(Image::open(&IMAGE).unwrap());
    SessionSandbox::new(image, policy, Some(artifacts()), Arc::new(|_| {})).unwrap()
}

pub fn ro(host: &Path, guest: &str) -> MountSpec {
    MountSpec { host: host.into(), guest: guest.into(), writable: false, quota: None }
}

pub fn spec(argv: &[&str], stdin: &[u8]) -> (RunSpec, Arc<Capture>, Arc<Capture>) {
    let meter = OutputMeter::new(None);
    let (out, err) = (Capture::new(meter.clone()), Capture::new(meter.clone()));
    let spec = RunSpec {
        argv: argv.iter().map(|a| a.as_bytes().to_vec()).collect(),
        env: vec![b"PATH=/bin".to_vec(), b"HOME=/home/user".to_vec()],
        cwd: b"/home/user".into(),
        stdin: Some(BytesInput::new(stdin.to_vec())),
        stdout: out.clone(),
        stderr: err.clone(),
        timeout: None,
        keep: false,
    };
    (spec, out, err)
}

pub struct Ran {
    pub status: ProcessStatus,
    pub limit: Option<LimitHit>,
    pub out: String,
    pub err: String,
    pub raw: Vec<u8>,
    pub peak: u64,
    pub ended: Vec<String>,
    pub took: Duration,
}

pub fn start(argv: &[&str], policy: Policy, stdin: &[u8]) -> Result<Ran, SandboxError> {
    let b = sandbox(policy);
    let (spec, out, err) = spec(argv, stdin);
    let t = Instant::now();
    let r = b.run(spec)?;
    let raw = out.take_output();
    Ok(Ran {
        status: r.status,
        limit: r.limit,
        out: String::from_utf8_lossy(&raw).into_owned(),
        err: String::from_utf8_lossy(&err.take_output()).into_owned(),
        raw,
        peak: r.peak_memory,
        ended: r.ended,
        took: t.elapsed(),
    })
}

pub fn run(argv: &[&str]) -> Ran {
    start(argv, Policy::default(), b"").unwrap()
}
