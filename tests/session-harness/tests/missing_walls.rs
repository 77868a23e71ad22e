//! Hosts that lack a wall: each door tells its user so, once. A filter of system calls stands in
//! for a host's kernel without Landlock.

use seccompiler::{SeccompAction, SeccompFilter};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use wasibox_sessions::*;

/// The call that begins a Landlock ruleset (landlock_create_ruleset(2)).
const LANDLOCK_CREATE_RULESET: i64 = 444;
const ENOSYS: u32 = 38;

/// Runs the runner without Landlock, with these arguments, input and variables. Returns its
/// standard error.
fn run(args: &[&str], input: &str, vars: &[(&str, &str)]) -> String {
    let mut runner = Command::new(dist().join("runner"));
    runner.args(args).envs(vars.iter().copied()).env("WASIBOX_IMAGE", dist().join("image.webc"));
    runner.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The filter is that of the thread and of the processes that it starts.
    let mut child = std::thread::spawn(move || {
        let arch = std::env::consts::ARCH.try_into().expect("a known processor");
        let rules = [(LANDLOCK_CREATE_RULESET, Vec::new())].into();
        let filter =
            SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(ENOSYS), arch);
        let program: seccompiler::BpfProgram = filter.unwrap().try_into().unwrap();
        seccompiler::apply_filter(&program).expect("a filter");
        runner.spawn().expect("a runner")
    })
    .join()
    .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{args:?}: {errors}");
    errors
}

/// Returns messages of MCP that call a tool twice.
fn mcp_calls() -> String {
    let hello = serde_json::json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": mcp::hello(),
    });
    let call = |id: u32| {
        let params = serde_json::json!({
            "name": "sandbox_exec", "arguments": { "command": "true" },
        });
        serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    let begun = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    format!("{hello}\n{begun}\n{}\n{}\n", call(1), call(2))
}

#[test]
fn each_door_tells_once_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (store, zip, image) = (path("w.wbx"), path("w.zip"), dist().join("image.webc"));
    let image = image.to_str().unwrap();
    let doors: [(&[&str], &str); 7] = [
        (&["exec", image, "--", "true"], ""),
        (&["exec", "--workspace", &zip, image, "--", "true"], ""),
        (&["session", "exec", "--store", &store, "a", "true"], ""),
        (&["shell", "--store", &store, "a"], "true\ntrue\n"),
        (&["fs", "ls", "--store", &store, "a", "/"], ""),
        (&["run-json"], r#"{"entryPath":"a.sh","zipBase64":"ZIP"}"#),
        (&["mcp"], ""),
    ];
    run(&["session", "create", "--store", &store, "a"], "", &[]);
    for (args, input) in doors {
        let input = match args[0] {
            "mcp" => mcp_calls(),
            "run-json" => input.replace("ZIP", ZIP),
            _ => input.to_owned(),
        };
        let errors = run(args, &input, &[]);
        let count = errors.matches("this host lacks walls around guests: landlock").count();
        assert_eq!(count, 1, "{args:?}: {errors}");
        assert!(errors.contains("WASIBOX_MISSING_WALLS=accept"), "{errors}");
        let silent = run(args, &input, &[("WASIBOX_MISSING_WALLS", "accept")]);
        assert!(!silent.contains("walls"), "{args:?}: {silent}");
    }
    assert!(Path::new(&zip).exists());
}

/// A zip with an empty `a.sh`, written by Python's zipfile.
const ZIP: &str = "UEsDBBQAAAAAAAAAIQAAAAAAAAAAAAAAAAAEAAAAYS5zaFBLAQIUAxQAAAAAAAAAIQAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAACAAQAAAABhLnNoUEsFBgAAAAABAAEAMgAAACIAAAAAAA==";
