//! Runs packages of npm and a project in TypeScript in the image. `packages/smoke.mjs` has cases,
//! with Node's output for them; `project/main.out` is the project's output under tsx. `cargo xtask
//! javascript` records both.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use wasibox_tests::{given, image, root, runner};

fn folder() -> PathBuf {
    root().join("tests/javascript")
}

/// Runs a script in the image, with the packages at `/node_modules` and a mount of `/w`. Returns
/// standard output, standard error and status.
fn sh(script: &str, mount: &str) -> (String, String, i32) {
    let modules = given("WASIBOX_PACKAGES", "target/packages/node_modules");
    let mut cmd = Command::new(runner());
    cmd.args(["exec", "--timeout", "300", "--cwd", "/w", "--mount"]);
    cmd.arg(format!("{}:/node_modules:ro", modules.display()));
    cmd.arg("--mount").arg(mount);
    let out = cmd.arg(image()).args(["--", "bash", "-c", script]).output().expect("runner");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&out.stdout), text(&out.stderr), out.status.code().unwrap_or(-1))
}

fn project(script: &str) -> (String, String, i32) {
    sh(script, &format!("{}:/w:ro", folder().join("project").display()))
}

fn recorded() -> String {
    fs::read_to_string(folder().join("project/main.out")).expect("main.out")
}

#[test]
fn packages_do_what_they_do_in_node() {
    let parts = |text: &str| -> Vec<(String, String)> {
        let split = text.split("//# ").skip(1).filter_map(|part| part.split_once('\n'));
        split.map(|(name, text)| (name.to_string(), text.to_string())).collect()
    };
    let file = folder().join("packages/smoke.mjs");
    let cases = parts(&fs::read_to_string(&file).expect("cases"));
    let wanted = parts(&fs::read_to_string(file.with_extension("mjs.out")).expect("outputs"));
    assert_eq!(cases.len(), wanted.len(), "record it again");
    let dir = tempfile::tempdir().expect("a folder");
    let mut script = String::from("export TZ=UTC\n");
    for (at, (_, text)) in cases.iter().enumerate() {
        fs::create_dir(dir.path().join(at.to_string())).expect("a folder");
        fs::write(dir.path().join(at.to_string()).join("case.mjs"), text).expect("a case");
        script += &format!("cd /w/{at}; node case.mjs; echo \"//# {at} = $?\"\n");
    }
    let (got, stderr, _) = sh(&script, &format!("{}:/w:rw", dir.path().display()));
    let mut rest = got.as_str();
    let mut wrong = Vec::new();
    for (at, (head, stdout)) in wanted.iter().enumerate() {
        let end = format!("//# {at} = ");
        let (printed, after) = rest.split_once(&end).expect("every case ends");
        let (status, after) = after.split_once('\n').expect("a line");
        rest = after;
        if printed != stdout || !head.ends_with(&format!(" = {status}")) {
            wrong.push(format!("{head}: status {status}\n{printed}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{stderr}", wrong.join("\n"));
}

#[test]
fn a_project_runs_as_under_tsx() {
    assert_eq!(project("tsx src/main.ts"), (recorded(), String::new(), 0));
    let (_, stderr, status) = project("node src/main.ts fail");
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.starts_with("file:///w/src/store/stock.ts:28\n"), "{stderr}");
    assert!(stderr.contains("main.ts:26:") && !stderr.contains(".js:"), "{stderr}");
}

#[test]
fn its_bundle_prints_the_same() {
    for options in ["--sourcemap", "--sourcemap=inline --external zod"] {
        let script = format!(
            "js --bundle src/main.ts {options} -o /tmp/b.mjs && node --enable-source-maps /tmp/b.mjs"
        );
        assert_eq!(project(&script), (recorded(), String::new(), 0), "{options}");
    }
    let small = "js --bundle src/main.ts --minify -o /tmp/b.mjs --sourcemap && node /tmp/b.mjs | head -n 6 &&
                 node --enable-source-maps /tmp/b.mjs fail";
    let (stdout, stderr, status) = project(small);
    let head: String = recorded().split_inclusive('\n').take(6).collect();
    assert!(stdout.starts_with(&head) && status == 1, "{stdout}{stderr}");
    assert!(stderr.contains("/w/src/store/stock.ts:28"), "{stderr}");
    let (_, stderr, status) = project("js --bundle /tmp/none.ts");
    assert!(status == 1 && stderr.starts_with("js: --bundle: "), "{status} {stderr}");
    let missing =
        "echo \"import './gone'; import { x } from './y'\" > /tmp/m.ts; js --bundle /tmp/m.ts";
    let (_, stderr, status) = project(missing);
    assert!(status == 1 && stderr.contains("/tmp/m.ts: cannot resolve './gone'"), "{stderr}");
}

#[test]
fn its_tests_run() {
    let (stdout, stderr, status) = project("tsx --test test/prices.test.ts");
    assert!(status == 0 && stdout.contains("pass 5"), "{stdout}{stderr}");
}

/// Tests that `npm` runs scripts of packages and finds the commands of packages by itself.
#[test]
fn npm_runs_scripts() {
    let (stdout, stderr, status) = project("npm run --silent start | tail -n 1; npm run nothing");
    assert_eq!(stdout, recorded().lines().last().unwrap_or_default().to_string() + "\n");
    assert!(status == 1 && stderr.contains("Missing script: \"nothing\""), "{stderr}");
}
