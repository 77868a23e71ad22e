//! Tests a client's roots as mounts.

use serde_json::{Value, json};
use wasibox_sessions::mcp::Stdio;

fn uri(dir: &tempfile::TempDir) -> Value {
    json!({ "uri": format!("file://{}", dir.path().display()), "name": "project" })
}

#[test]
fn roots_are_mounted_as_far_as_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "theirs\n").unwrap();
    let run = |c: &mut Stdio, command: &str| c.done("sandbox_exec", json!({ "command": command }));

    let mut c = Stdio::with_roots(&["--roots", "ro"], vec![uri(&dir)]);
    assert!(c.hello["instructions"].as_str().unwrap().contains("below /roots/ (read-only)"));
    assert_eq!(run(&mut c, "cat /roots/project/a.txt")["stdout"], "theirs\n");
    let refused = run(&mut c, "echo x > /roots/project/b.txt");
    assert!(refused["stderr"].as_str().unwrap().contains("Read-only file system"), "{refused}");

    // The client now has other roots, for the same session.
    let other = tempfile::tempdir().unwrap();
    run(&mut c, "cd /tmp; v=kept");
    c.roots = vec![uri(&other)];
    c.notify("notifications/roots/list_changed", json!({}));
    // Notifications are processed while calls run.
    let seen = (0..100).map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        run(&mut c, "ls /roots/project; echo $v")
    });
    assert!(seen.into_iter().any(|seen| seen["stdout"] == "kept\n"), "the old roots stay");

    let mut c = Stdio::with_roots(&["--roots", "rw"], vec![uri(&dir)]);
    run(&mut c, "echo ours >> /roots/project/a.txt");
    assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), "theirs\nours\n");

    // Without `--roots`, roots are not mounted.
    let mut c = Stdio::with_roots(&[], vec![uri(&dir)]);
    assert_ne!(run(&mut c, "ls /roots")["exit_code"], 0);
    assert!(c.notifications.is_empty(), "{:?}", c.notifications);
}
