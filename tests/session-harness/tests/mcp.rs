//! Tests `runner mcp` of the built image with messages as clients send them.
//!
//! Bash, CPython and the protocol's specification (2025-11-25) are the authorities for the tools'
//! answers.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use wasibox::policy::ToolSettings;
use wasibox_sessions::http::{Answer, serve};
use wasibox_sessions::mcp::{Connection, Stdio, hello};

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("text")
}

#[test]
fn state_of_commands_and_cells_lasts_from_call_to_call() {
    let mut c = Stdio::begin(&[]);
    let ran = c.done("sandbox_exec", json!({"command": "cd /tmp; n=41; echo hi | wc -c; ls /no"}));
    assert_eq!(
        (&ran["stdout"], &ran["exit_code"], &ran["truncated"]),
        (&json!("3\n"), &json!(2), &json!(false))
    );
    assert!(ran["stderr"].as_str().unwrap().contains("/no"));
    assert!(ran["duration_ms"].as_f64().unwrap() > 0.0);
    // The memory is at least one page of WebAssembly.
    assert!(ran["peak_memory"].as_u64().unwrap() >= 1 << 16);
    let ran = c.done("sandbox_exec", json!({"command": "echo $((n + 1)) > a; pwd", "stdin": "x"}));
    assert_eq!(ran["stdout"], "/tmp\n");
    assert_eq!(ran["files"][0]["path"], "/tmp/a");
    assert_eq!(ran["files"][0]["change"], "created");
    c.done("execute_python", json!({"code": "x = [1, 2]"}));
    let cell =
        c.done("execute_python", json!({"code": "print(open('/tmp/a').read(), end=''); x * 2"}));
    assert_eq!((&cell["stdout"], &cell["value"]), (&json!("42\n"), &json!("[1, 2, 1, 2]")));
    assert_eq!(cell["value_json"], json!([1, 2, 1, 2]));
    let wrong = c.done("execute_python", json!({"code": "1/0"}));
    assert_eq!(wrong["exit_code"], 1);
    assert!(wrong["stderr"].as_str().unwrap().contains("ZeroDivisionError"));
    c.done("reset", json!({}));
    assert!(text(&c.call("execute_python", json!({"code": "x"}))).contains("NameError"));
    // Of long output, the beginning and the end are kept.
    let long = c.done("sandbox_exec", json!({"command": "seq 100000", "max_output": 1000}));
    let out = long["stdout"].as_str().unwrap();
    assert!(out.starts_with("1\n2\n") && out.ends_with("100000\n") && out.len() < 1100);
    assert_eq!(long["truncated"], true);
    let late = c.done("sandbox_exec", json!({"command": "while :; do :; done", "timeout": 0.5}));
    assert_eq!((&late["exit_code"], &late["limit_hit"]), (&json!(124), &json!("timeout")));
    assert_eq!(c.close(), Some(0));
}

#[test]
fn files_are_read_written_edited_and_found() {
    let mut c = Stdio::begin(&[]);
    let made =
        c.done("write_file", json!({"path": "/tmp/d/a.txt", "content": "one\ntwo\nthree\n"}));
    assert_eq!((&made["created"], &made["size"]), (&json!(true), &json!(14)));
    let read = c.call("read_file", json!({"path": "/tmp/d/a.txt", "offset": 2, "limit": 1}));
    assert!(text(&read).contains("two") && !text(&read).contains("three"));
    c.done("edit_file", json!({"path": "/tmp/d/a.txt", "edits": [{"old": "two", "new": "2"}]}));
    c.done("patch_lines", json!({"path": "/tmp/d/a.txt", "first": 4, "last": 3, "text": "four\n"}));
    let patch = "--- a/tmp/d/a.txt\n+++ b/tmp/d/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n 2\n";
    c.done("sandbox_exec", json!({"command": "cd /"}));
    c.done("apply_patch", json!({"patch": patch}));
    assert_eq!(
        c.done("sandbox_exec", json!({"command": "cat /tmp/d/a.txt"}))["stdout"],
        "ONE\n2\nthree\nfour\n"
    );
    let found = c.done("grep", json!({"pattern": "^t", "path": "/tmp/d"}));
    assert_eq!(found["files"][0]["lines"][0]["text"], "three");
    assert_eq!(
        c.done("glob", json!({"pattern": "**/*.txt", "path": "/tmp"}))["paths"][0],
        "/tmp/d/a.txt"
    );
    assert_eq!(
        c.done("search", json!({"pattern": "three", "path": "/tmp/d"}))["places"][0]["unique"],
        true
    );
    let listed = c.done("list_files", json!({"path": "/tmp/d"}));
    assert_eq!(listed["entries"][0]["path"], "a.txt");
    c.done("move_file", json!({"from": "/tmp/d/a.txt", "to": "/tmp/d/b.txt"}));
    c.done("make_directory", json!({"path": "/tmp/e/f"}));
    assert_eq!(c.done("stat", json!({"path": "/tmp/e/f"}))["kind"], "directory");
    c.done("upload", json!({"path": "/tmp/bytes", "data": "AP8K"}));
    let got = c.call("download", json!({"path": "/tmp/bytes"}));
    // The bytes are in a separate block, and only there.
    assert_eq!(got["content"][1]["resource"]["blob"], "AP8K");
    assert_eq!(got["structuredContent"]["data"], "");
    c.done("delete_file", json!({"path": "/tmp/d", "recursive": true}));
    let gone = c.call("read_file", json!({"path": "/tmp/d/b.txt"}));
    assert_eq!(gone["isError"], true);
    assert!(text(&gone).contains("no such file"));
    c.done("kv_set", json!({"key": "k", "value": "v"}));
    assert_eq!(c.done("kv_get", json!({"key": "k"}))["value"], "v");
    assert_eq!(c.done("kv_get", json!({}))["keys"], json!(["k"]));
    c.done("kv_set", json!({"key": "k"}));
    assert_eq!(c.call("kv_get", json!({"key": "k"}))["isError"], true);
}

#[test]
fn history_is_listed_and_restored() {
    let mut c = Stdio::begin(&[]);
    let first = c.done("sandbox_exec", json!({"command": "echo 1 > /tmp/f"}));
    c.done("snapshot", json!({"name": "begin"}));
    c.done("sandbox_exec", json!({"command": "echo 2 > /tmp/f; v=2"}));
    let diff = c.done("history", json!({"commit": first["commit"].as_u64().unwrap() + 1}));
    let lines: Vec<&str> = diff["diff"].as_str().unwrap().lines().collect();
    assert!(lines.contains(&"-1") && lines.contains(&"+2"), "{lines:?}");
    c.done("undo", json!({}));
    let seen = "cat /tmp/f; echo $v";
    assert_eq!(c.done("sandbox_exec", json!({"command": seen}))["stdout"], "1\n\n");
    c.done("undo", json!({}));
    c.done("redo", json!({}));
    c.done("fork", json!({"name": "other"}));
    let many = c.done("fork", json!({"name": "try", "count": 3}));
    assert_eq!(many["sessions"], json!(["try-1", "try-2", "try-3"]));
    for refused in [json!({"name": "try", "count": 4}), json!({"name": "t", "count": 0})] {
        assert_eq!(c.call("fork", refused)["isError"], true);
    }
    c.done("sandbox_exec", json!({"command": "echo 3 > /tmp/f"}));
    let here = c.done("use_session", json!({}))["session"].as_str().unwrap().to_owned();
    assert_eq!(c.done("use_session", json!({"name": "other"}))["session"], "other");
    assert_eq!(c.done("sandbox_exec", json!({"command": "cat /tmp/f"}))["stdout"], "1\n");
    assert_eq!(c.call("use_session", json!({"name": "nobody"}))["isError"], true);
    // A connection's own session is removed when the connection leaves it.
    assert_eq!(c.call("use_session", json!({"name": here}))["isError"], true);
    // Each session has its own tags.
    c.done("snapshot", json!({"name": "begin"}));
    c.done("sandbox_exec", json!({"command": "echo 9 > /tmp/f"}));
    c.done("restore", json!({"commit": "begin"}));
    assert_eq!(c.done("sandbox_exec", json!({"command": "cat /tmp/f"}))["stdout"], "1\n");
    let entries = c.done("history", json!({}))["commits"].as_array().unwrap().len();
    assert!(entries >= 5, "{entries}");
}

#[test]
fn a_store_outlives_a_server_that_was_killed() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("w.wbx");
    let store = store.to_str().unwrap();
    let mut c = Stdio::begin(&["--store", store]);
    c.done("sandbox_exec", json!({"command": "cd /tmp; n=7; echo kept > f"}));
    c.done("execute_python", json!({"code": "x = 41"}));
    // The server is killed in the middle of a call, which then has no effect.
    c.begin_ask(
        "tools/call",
        json!({"name": "sandbox_exec", "arguments": {"command": "rm f; sleep 1000"}}),
    );
    c.kill();
    let mut c = Stdio::begin(&["--store", store]);
    assert_eq!(
        c.done("sandbox_exec", json!({"command": "cat f; echo $n; pwd"}))["stdout"],
        "kept\n7\n/tmp\n"
    );
    assert_eq!(c.done("execute_python", json!({"code": "x + 1"}))["value"], "42");
}

#[test]
fn pictures_results_and_notifications_are_sent() {
    let mut c = Stdio::begin(&[]);
    assert_eq!(c.ask("resources/list", json!({})).unwrap()["resources"], json!([]));
    let code = "from PIL import Image\nImage.new('RGB', (3, 2), 'red').save('/output/a b.png')";
    let made = c.call("execute_python", json!({"code": code}));
    let blocks = made["content"].as_array().unwrap();
    let image = blocks.iter().find(|b| b["type"] == "image").expect("a picture");
    assert_eq!(image["mimeType"], "image/png");
    assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    let uri = "sandbox:///output/a%20b.png";
    assert!(blocks.iter().any(|b| b["type"] == "resource_link" && b["uri"] == uri));
    let listed = c.ask("resources/list", json!({})).unwrap();
    assert_eq!(listed["resources"][0]["uri"], uri);
    assert!(c.notifications.iter().any(|m| m["method"] == "notifications/resources/list_changed"));
    let read = c.ask("resources/read", json!({"uri": uri})).unwrap();
    assert_eq!(read["contents"][0]["blob"], image["data"]);
    c.ask("resources/subscribe", json!({"uri": "sandbox:///output/n.txt"})).unwrap();
    c.notifications.clear();
    c.done("write_file", json!({"path": "/output/n.txt", "content": "ä"}));
    c.ask("ping", json!({})).unwrap();
    let news = json!({"uri": "sandbox:///output/n.txt"});
    assert!(
        c.notifications
            .iter()
            .any(|m| m["method"] == "notifications/resources/updated" && m["params"] == news)
    );
    let read = c.ask("resources/read", json!({"uri": "sandbox:///output/n.txt"})).unwrap();
    assert_eq!(read["contents"][0]["text"], "ä");
    for bad in ["sandbox:///no", "file:///etc/passwd", "x"] {
        let e = c.ask("resources/read", json!({"uri": bad})).unwrap_err();
        assert_eq!(e["code"], -32002, "{bad}");
    }
    let templates = c.ask("resources/templates/list", json!({})).unwrap();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "sandbox://{+path}");
    let prompt = c.ask("prompts/get", json!({"name": "machine"})).unwrap();
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("There is no network") && text.contains("2 min for a call"), "{text}");
    // It names what Python itself says is installed.
    let code = "from importlib.metadata import distributions\n\
        [f\"{d.name} {d.version}\".lower().replace('_', '-') for d in distributions()]";
    let installed = c.done("execute_python", json!({"code": code}));
    let text = text.to_lowercase();
    let installed = installed["value_json"].as_array().unwrap();
    assert!(installed.len() > 10, "{installed:?}");
    for package in installed {
        assert!(text.contains(package.as_str().unwrap()), "{package}: {text}");
    }
}

#[test]
fn progress_is_reported_and_a_call_can_be_cancelled() {
    let mut c = Stdio::begin(&[]);
    let call = |command: &str, token: u64| json!({"name": "sandbox_exec", "arguments": {"command": command}, "_meta": {"progressToken": token}});
    let id = c.begin_ask("tools/call", call("echo begun; sleep 100000", 1));
    let told = c.hear();
    assert_eq!(told["method"], "notifications/progress");
    assert_eq!(
        (&told["params"]["progressToken"], &told["params"]["message"]),
        (&json!(1), &json!("begun\n"))
    );
    c.notify("notifications/cancelled", json!({"requestId": id}));
    // The next call does not wait 100,000 seconds.
    let result = c.ask("tools/call", call("echo after", 2)).unwrap();
    assert_eq!(result["structuredContent"]["stdout"], "after\n");
}

#[test]
fn only_wanted_tools_are_there() {
    let names = |c: &mut Stdio| -> Vec<String> {
        let listed = c.ask("tools/list", json!({})).unwrap();
        listed["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t["name"].as_str().unwrap().into())
            .collect()
    };
    let mut c = Stdio::begin(&["--tools", "sandbox_exec,read_file"]);
    assert_eq!(names(&mut c), ["read_file", "sandbox_exec"]);
    let e = c.ask(
        "tools/call",
        json!({"name": "write_file", "arguments": {"path": "a", "content": ""}}),
    );
    assert_eq!(e.unwrap_err()["code"], -32602);
    let mut c = Stdio::begin(&["--tools", "small"]);
    assert_eq!(names(&mut c), ["execute_python", "read_file", "sandbox_exec", "write_file"]);
    let few = c.ask("tools/list", json!({})).unwrap()["tools"].to_string();
    // A token of a schema has three to five characters.
    assert!(few.len() < 4000 && !few.contains("outputSchema"), "{} bytes", few.len());
    let mut c = Stdio::begin(&["--read-only"]);
    let all = c.ask("tools/list", json!({})).unwrap();
    for tool in all["tools"].as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
    }
    assert!(!names(&mut c).iter().any(|n| n == "sandbox_exec"));
    let wrong = std::process::Command::new(wasibox_sessions::dist().join("runner"))
        .args(["mcp", "--tools", "frob", "--image"])
        .arg(wasibox_sessions::dist().join("image.webc"))
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn arguments_that_are_none_are_refused_in_words() {
    let mut c = Stdio::begin(&[]);
    for (tool, arguments) in [
        ("sandbox_exec", json!({})),
        ("sandbox_exec", json!({"command": 1})),
        ("sandbox_exec", json!({"command": "a\u{0}b"})),
        ("sandbox_exec", json!({"command": "true", "cmd": 1})),
        ("sandbox_exec", json!({"command": "true", "cwd": "rel"})),
        ("sandbox_exec", json!({"command": "true", "timeout": -1})),
        ("sandbox_exec", json!({"command": "true", "timeout": 1e300})),
        ("sandbox_exec", json!({"command": "true", "env": {"A=B": "c"}})),
        ("read_file", json!({"path": ""})),
        ("fork", json!({"name": "../x"})),
        ("snapshot", json!({"name": "7"})),
        ("kv_set", json!({"key": "wasibox.workspace", "value": "x"})),
        ("install_packages", json!({"packages": []})),
        ("restore", json!({"commit": 99})),
        ("undo", json!({"steps": -1})),
        ("execute_code", json!({"language": "cobol", "code": ""})),
        ("execute_code", json!({"language": "python", "code": "1", "memory": 4096})),
    ] {
        let result = c.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        assert!(!text(&result).is_empty());
    }
    assert_eq!(c.done("sandbox_exec", json!({"command": "echo ok"}))["stdout"], "ok\n");
}

/// Tests that values that are too long say so, and that no part of a value is taken for another
/// value. Python's `len(repr(list(range(100000))))` is 688890.
#[test]
fn values_are_bounded_like_output() {
    let mut c = Stdio::begin(&[]);
    let long = "list(range(100000))";
    for (arguments, most) in [
        (json!({"code": long, "max_output": 1000}), 1000),
        (json!({"code": long}), 32 << 10),
        (json!({"code": "'x' * 100000", "max_output": 10}), 10),
    ] {
        let result = c.call("execute_python", arguments.clone());
        assert!(result.to_string().len() < 2 * most + 2000, "{arguments}");
        let ran = &result["structuredContent"];
        assert!(ran.get("value_json").is_none() && ran["truncated"] == true, "{ran}");
        assert!(ran["value"].as_str().unwrap().contains(" bytes left out ...]"), "{ran}");
        let bytes = if most == 10 { 100_002 } else { 688_890 };
        assert_eq!(ran["value_bytes"], bytes);
        assert!(
            text(&result).contains(&format!("[the value was cut: it has at least {bytes} bytes]"))
        );
    }
    let whole = c.done("execute_python", json!({"code": "[1] * 9", "max_output": 27}));
    assert_eq!((&whole["value_json"], &whole["truncated"]), (&json!(vec![1; 9]), &json!(false)));
    assert!(whole.get("value_bytes").is_none());
    // The value is longer than an interpreter returns.
    let ran =
        c.done("execute_python", json!({"code": "list(range(300000))", "max_output": 4 << 20}));
    assert_eq!((&ran["truncated"], &ran["value_bytes"]), (&json!(true), &json!(65536)));
    for (language, code) in
        [("python", long), ("javascript", "Array.from({length: 200000}, (_, i) => i)")]
    {
        for more in [json!({}), json!({"max_output": 1000})] {
            let mut arguments = json!({"language": language, "code": code});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let result = c.call("execute_code", arguments);
            let done = &result["structuredContent"];
            assert_eq!((&done["returnValue"], &done["truncated"]), (&Value::Null, &json!(true)));
            assert!(done["returnValueBytes"].as_u64().unwrap() > 500_000);
            let preview = done["returnValuePreview"].as_str().unwrap();
            assert!(preview.starts_with("[0,") && preview.contains("left out"), "{preview}");
            let most = if more["max_output"].is_null() { 32 << 10 } else { 1000 };
            assert!(result.to_string().len() < 3 * most + 2000);
            // The text for models is still JSON.
            let told: Value = serde_json::from_str(text(&result)).unwrap();
            assert_eq!(told["returnValueBytes"], done["returnValueBytes"]);
        }
    }
    let files = "open('a', 'w').write('a' * 10); open('b', 'w').write('b' * 9000); 1";
    let arguments = json!({"language": "python", "code": files, "max_output": 100});
    let result = c.call("execute_code", arguments);
    let told: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(told["files"][0]["content"], "a".repeat(10));
    assert_eq!(told["files"][1]["contentBytesLeftOut"], 9000);
    assert_eq!(result["structuredContent"]["files"][1]["content"], "b".repeat(9000));
}

#[test]
fn code_is_executed_apart_from_the_session() {
    let mut c = Stdio::begin(&[]);
    c.done("sandbox_exec", json!({"command": "echo secret > /tmp/s"}));
    let code = "import sys, os\nprint(sys.stdin.read(), open('in.txt').read(), os.path.exists('/tmp/s'))\n\
        open('out.bin', 'wb').write(b'\\xff')\n{'a': [1, 2.5]}";
    let files = json!([{"path": "in.txt", "content": "aGk=", "encoding": "base64"}]);
    let done = c.done(
        "execute_code",
        json!({"language": "python", "code": code, "stdin": "typed", "files": files}),
    );
    assert_eq!((&done["success"], &done["stdout"]), (&json!(true), &json!("typed hi False\n")));
    assert_eq!(done["returnValue"], json!({"a": [1, 2.5]}));
    let out = &done["files"][0];
    assert_eq!((&out["content"], &out["encoding"]), (&json!("/w=="), &json!("base64")));
    assert!(
        done["memoryUsedMB"].as_f64().unwrap() > 1.0
            && done["executionTimeMs"].as_f64().unwrap() > 0.0
    );
    let done = c.done(
        "execute_code",
        json!({"language": "python", "code": "x = bytearray(600 << 20)", "memory": 64}),
    );
    assert_eq!(done["success"], false);
    let done = c.done(
        "execute_code",
        json!({"language": "python", "code": "while True: pass", "timeout": 5}),
    );
    assert_eq!((&done["success"], &done["limitHit"]), (&json!(false), &json!("timeout")));
}

/// Tests Node 24's output and its form of values.
#[test]
fn javascript_is_executed_apart_from_the_session() {
    let mut c = Stdio::begin(&[]);
    let mut run = |code: &str| {
        let files = json!([{"path": "in.txt", "content": "hi"}]);
        c.done(
            "execute_code",
            json!({"language": "javascript", "code": code, "stdin": "typed", "files": files}),
        )
    };
    let done = run("const fs = require('fs');\n\
        console.log(fs.readFileSync(0, 'utf8'), fs.readFileSync('in.txt', 'utf8'));\n\
        fs.writeFileSync('out.txt', 'left');\n({a: [1, 2.5], b: null})");
    assert_eq!((&done["success"], &done["stdout"]), (&json!(true), &json!("typed hi\n")));
    assert_eq!(done["returnValue"], json!({"a": [1, 2.5], "b": null}));
    let files: Vec<_> = done["files"].as_array().unwrap().iter().map(|f| &f["content"]).collect();
    assert_eq!(files, [&json!("left")]);
    for (code, value) in [
        ("new Map([[1, 'a']])", json!("Map(1) { 1 => 'a' }")),
        ("[NaN]", json!("[ NaN ]")),
        ("10n", json!("10n")),
        ("Promise.resolve(7)", json!(7)),
        ("let x = 1", json!(null)),
        (
            "import os from 'node:os'; export default await Promise.resolve(typeof os.EOL)",
            json!("string"),
        ),
        ("eval('1 + 1')", json!(2)),
    ] {
        let done = run(code);
        assert_eq!((&done["success"], &done["returnValue"]), (&json!(true), &value), "{code}");
    }
    for (code, says) in [
        ("null.x", "TypeError: "),
        ("let = ;", "SyntaxError"),
        ("Promise.reject(new RangeError('far'))", "RangeError: far"),
    ] {
        let done = run(code);
        assert_eq!(done["success"], false, "{code}");
        assert!(done["stderr"].as_str().unwrap().contains(says), "{code}: {done}");
    }
}

#[test]
fn by_http_each_client_has_a_session_of_its_own() {
    let server = serve(None, None, ToolSettings::default());
    let (mut a, mut b) =
        (Connection::begin(&server, "", "/mcp"), Connection::begin(&server, "", "/mcp"));
    let run = |c: &mut Connection<'_>, command: &str| {
        c.call("sandbox_exec", json!({"command": command}))["structuredContent"]["stdout"].clone()
    };
    run(&mut a, "echo a > /tmp/f; v=1");
    assert_eq!(run(&mut b, "cat /tmp/f 2>&1 | wc -l; echo $v"), "1\n\n");
    assert_eq!(run(&mut a, "cat /tmp/f; echo $v"), "a\n1\n");
    let (mut c, mut d) = (
        Connection::begin(&server, "", "/mcp?session=w"),
        Connection::begin(&server, "", "/mcp?session=w"),
    );
    run(&mut c, "v=2");
    assert_eq!(run(&mut d, "echo $v"), "2\n");
    // The transport's rules: DELETE ends a connection, and 404 reports its end.
    let headers = format!("Mcp-Session-Id: {}", a.id);
    assert_eq!(server.request("DELETE", "/mcp", &headers, b"").status, 204);
    assert_eq!(a.send(&a.message("tools/list", json!({}))).status, 404);
    // These are names by which a foreign page would reach the server, and origins of such pages.
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()}).to_string();
    let head = "Accept: application/json, text/event-stream\nContent-Type: application/json";
    let from = |origin: &str| {
        server.request("POST", "/mcp", &format!("{head}\nOrigin: {origin}"), body.as_bytes())
    };
    assert_eq!(from("http://evil.example").status, 403);
    assert_eq!(from("null").status, 403);
    let rebound = format!(
        "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n\r\n{body}",
        body.len(),
        head.replace('\n', "\r\n")
    );
    assert_eq!(server.raw(rebound.as_bytes()).status, 403);
    // Without tokens, no other path is served.
    for path in ["/v1/sessions", "/metrics", "/", "/openapi.json"] {
        assert_eq!(server.request("GET", path, "", b"").status, 404, "{path}");
    }
    server.end();
}

/// Begins a server of one file, `a`, at port 8000 of the session.
const FILES: &str =
    "mkdir d && cd d && printf 'from within\\n' > a && exec python3 -m http.server 8000";

/// Gets a path below an address that `expose_port` has given.
fn get_exposed(url: &Value, path: &str) -> Answer {
    let rest = url.as_str().and_then(|url| url.strip_prefix("http://")).expect("an address");
    let (host, prefix) = rest.split_at(rest.find('/').expect("a path"));
    let mut stream = TcpStream::connect(host).expect("a server");
    let request =
        format!("GET {prefix}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    Answer::of(&all)
}

#[test]
fn ports_are_exposed_at_the_loopback_if_that_is_granted() {
    let mut c = Stdio::begin(&[]);
    let refused = c.call("expose_port", json!({"port": 8000}));
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("--expose-ports"), "{refused}");
    assert_eq!(c.close(), Some(0));

    let mut c = Stdio::begin(&["--expose-ports"]);
    let early = c.call("expose_port", json!({"port": 8000}));
    assert_eq!(early["structuredContent"]["listening"], false);
    assert!(text(&early).contains("nothing listens there yet"), "{early}");
    let began = c.done("start_process", json!({"command": FILES, "port": 8000}));
    assert_eq!(began["found"], true, "{began}");
    let exposed = c.done("expose_port", json!({"port": 8000}));
    assert_eq!((&exposed["listening"], &exposed["expires"]), (&json!(true), &Value::Null));
    // The address of a port is always the same.
    assert_eq!(exposed["url"], early["structuredContent"]["url"]);
    let answer = get_exposed(&exposed["url"], "a");
    assert_eq!((answer.status, answer.text().as_str()), (200, "from within\n"));
    assert_eq!(get_exposed(&exposed["url"], "b").status, 404);
    assert_eq!(c.call("expose_port", json!({"port": 0}))["isError"], true);
    // The same port of another session is another address.
    c.done("use_session", json!({"name": "other", "create": true}));
    let other = c.done("expose_port", json!({"port": 8000}));
    assert_ne!(other["url"], exposed["url"]);
    assert_eq!(c.close(), Some(0));
}

#[test]
fn ports_are_exposed_by_links_of_the_server() {
    const TOKENS: &str = "
        [[token]]
        name = 'a'
        token = 'aaaaaaaaaaaaaaaa'
        [[token]]
        name = 'r'
        token = 'rrrrrrrrrrrrrrrr'
        scopes = ['read']
    ";
    const A: &str = "aaaaaaaaaaaaaaaa";
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    // A name that cannot be a part of a host's name has a link that is a path.
    let mut c = Connection::begin(&s, A, "/mcp?session=W");
    let began = c.call("start_process", json!({"command": FILES, "port": 8000}));
    assert_eq!(began["structuredContent"]["found"], true, "{began}");
    let made = c.call("expose_port", json!({"port": 8000, "seconds": 60}));
    let link = &made["structuredContent"];
    let left = link["expires"].as_u64().unwrap() as i64 - now();
    assert!((55..=60).contains(&left), "{left}");
    let answer = get_exposed(&link["url"], "a");
    assert_eq!((answer.status, answer.text().as_str()), (200, "from within\n"));
    // The same by HTTP; neither other tokens nor other times make links.
    let by_http = s.tool(A, "W", "expose_port", &json!({"port": 8000}));
    assert_eq!(get_exposed(&by_http["url"], "a").text(), "from within\n");
    let path = "/v1/sessions/W/tools/expose_port";
    assert_eq!(s.json("rrrrrrrrrrrrrrrr", "POST", path, &json!({"port": 8000})).status, 403);
    // Other names have hosts of their own; the link becomes a cookie there.
    let mut c = Connection::begin(&s, A, "/mcp?session=w");
    c.call("start_process", json!({"command": FILES, "port": 8000}));
    let made = c.call("expose_port", json!({"port": 8000}));
    let url = made["structuredContent"]["url"].as_str().unwrap();
    let (host, link) = url.strip_prefix("http://8000-w-").unwrap().split_once("/?").unwrap();
    let head = |path: &str, more: &str| {
        let host = format!("Host: 8000-w-{host}");
        s.raw(
            format!("GET {path} HTTP/1.1\r\n{host}\r\n{more}Connection: close\r\n\r\n").as_bytes(),
        )
    };
    assert_eq!(head(&format!("/?{link}"), "").status, 303);
    assert_eq!(head("/a", &format!("Cookie: {link}\r\n")).text(), "from within\n");
    assert_eq!(head("/a", "").status, 401);
    for seconds in [0, 604_801] {
        let input = json!({"port": 8000, "seconds": seconds});
        assert_eq!(s.json(A, "POST", path, &input).status, 422);
    }
    // A server without tokens has no links.
    let open = serve(None, None, ToolSettings::default());
    let mut c = Connection::begin(&open, "", "/mcp");
    let refused = c.call("expose_port", json!({"port": 8000}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(text(&refused).contains("runner serve"), "{refused}");
}

/// Returns the seconds since the epoch.
fn now() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_secs() as i64
}
