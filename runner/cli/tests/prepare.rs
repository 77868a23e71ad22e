//! The limit of preparing an image's programs.

mod common;

use common::*;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wasibox::{Engine, EngineOptions, Policy, PoolOptions};
use wasibox_image::{ImageSpec, pack_to};

/// A program whose preparation never ends.
const ENDLESS: &str = r#"(module
    (memory (export "memory") 1)
    (func (export "_start"))
    (func (export "wasibox_prepare") (loop br 0))
    (func (export "wasibox_resume") (result i32) i32.const 1))"#;
const TEXT: &str = "were not compiled and prepared within 1 s";
/// Far less than the limits of preparing itself.
const SOON: Duration = Duration::from_secs(15);

fn endless_image(dir: &Path) -> PathBuf {
    let root = dir.join("root");
    std::fs::create_dir_all(root.join("etc")).unwrap();
    std::fs::write(root.join("etc/motto"), "text").unwrap();
    let spec = ImageSpec {
        name: "test/endless".into(),
        version: "0.0.0".into(),
        atoms: vec![("p".into(), wat::parse_str(ENDLESS).unwrap())],
        commands: vec![("p".into(), "p".into())],
        rootfs: vec![root],
        ..ImageSpec::default()
    };
    let path = dir.join("endless.webc");
    pack_to(&spec, &path).unwrap();
    path
}

#[test]
fn an_image_that_is_never_ready_is_given_up_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let image = endless_image(dir.path());
    let file = dir.path().join("p.toml");
    std::fs::write(&file, "prepare-timeout = 1\n").unwrap();
    let (image, file, store) = (image.to_str().unwrap(), file.to_str().unwrap(), dir.path());
    let store = store.join("w.wbx").to_str().unwrap().to_owned();
    let run = |args: &[&str]| {
        let begun = Instant::now();
        // Nothing is kept from one run to the next.
        let cache = tempfile::tempdir().unwrap();
        let out = runner().env("XDG_CACHE_HOME", cache.path()).args(args).output().unwrap();
        let errors = String::from_utf8_lossy(&out.stderr).into_owned();
        (out.status.code(), errors, begun.elapsed())
    };
    let create = ["session", "create", "--store", &store, "--image", image, "a"];
    assert_eq!(run(&create).0, Some(0));
    for (args, status) in [
        (&["exec", "--prepare-timeout", "1", image, "--", "p"][..], 125),
        (&["exec", "--policy", file, image, "--", "p"], 125),
        (&["compile", "--prepare-timeout", "1", image], 124),
        (
            &[
                "session",
                "exec",
                "--prepare-timeout",
                "1",
                "--store",
                &store,
                "--image",
                image,
                "a",
                "--",
                "p",
            ],
            125,
        ),
        (
            &[
                "session", "exec", "--policy", file, "--store", &store, "--image", image, "a",
                "--", "p",
            ],
            125,
        ),
    ] {
        let (code, errors, took) = run(args);
        assert!(code == Some(status) && errors.contains(TEXT), "{args:?}: {code:?} {errors}");
        assert!(took < SOON, "{args:?}: {took:?}");
    }
}

#[test]
fn an_embedder_sets_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let image = endless_image(dir.path());
    let pool = PoolOptions {
        program: Some(env!("CARGO_BIN_EXE_runner").into()),
        artifacts: Some(dir.path().join("aot")),
        prepare_timeout: Some(Duration::from_secs(1)),
        ..PoolOptions::new(&image)
    };
    let engine = Engine::new(EngineOptions { pool, ..EngineOptions::new(&image) }).unwrap();
    let begun = Instant::now();
    let error = engine.session(Policy::default()).unwrap().exec("p").unwrap_err().to_string();
    assert!(error.contains(TEXT), "{error}");
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}
