//! An image of the sandbox's test guest, and the program under test.
#![allow(dead_code)] // each test file uses some

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use wasibox_image::{ImageSpec, pack_to};

pub fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// An image of the sandbox's test guest.
pub static IMAGE: LazyLock<PathBuf> = LazyLock::new(|| {
    let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sandbox/tests/guest");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--target", "wasm32-wasip1", "--manifest-path"])
        .arg(guest.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(scratch().join("guest"))
        .env_remove("RUSTFLAGS")
        .status()
        .unwrap();
    assert!(built.success(), "the guest does not compile");
    let commands = [
        "echo", "cat", "wc", "gen", "yes", "exit", "spin", "sleep", "run", "fill", "args", "cwd",
        "alloc", "recurse", "abort", "copy", "unlink",
    ];
    let spec = ImageSpec {
        name: "test/cli".into(),
        version: "1.2.3".into(),
        atoms: vec![(
            "guest".into(),
            std::fs::read(scratch().join("guest/wasm32-wasip1/release/guest.wasm")).unwrap(),
        )],
        commands: commands.iter().map(|c| ((*c).into(), "guest".into())).collect(),
        entrypoint: Some("echo".into()),
        ..ImageSpec::default()
    };
    let path = scratch().join(format!("cli-{}.webc", std::process::id()));
    pack_to(&spec, &path).unwrap();
    // Compiled once, so that no test sees a message about it.
    assert!(runner().arg("compile").arg(&path).output().unwrap().status.success());
    path
});

pub fn cache() -> PathBuf {
    scratch().join("cache")
}

pub fn runner() -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_runner"));
    c.env("XDG_CACHE_HOME", cache()).env("XDG_STATE_HOME", scratch().join("state"));
    c.stdin(Stdio::null());
    c
}
