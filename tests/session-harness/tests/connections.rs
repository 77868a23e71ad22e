//! Tests floods of connections of the Model Context Protocol. These tests are a process of their
//! own, because its memory is measured.

use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wasibox::policy::ToolSettings;
use wasibox_sessions::http::serve;
use wasibox_sessions::mcp::{Connection, hello};

const TOKENS: &str = "
[[token]]
name = 'a'
token = 'alice-alice-alice'
limits = { connections = 20000 }
[[token]]
name = 'b'
token = 'bobby-bobby-bobby'
[[token]]
name = 'r'
token = 'reader-reader-reader'
scopes = ['read', 'run']
";

/// Waits until no other test of this file runs, because one measures the memory of this process.
fn run_alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the resident memory of this process in bytes (proc(5), `statm`).
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages = text.split(' ').nth(1).expect("a number");
    pages.parse::<u64>().expect("a number") * 4096
}

#[test]
fn a_flood_takes_little_memory_and_ends_no_other_connection() {
    let _alone = run_alone();
    /// Enough connections that 4 KiB for each of them would show above the noise of a server.
    const FLOOD: u64 = 8000;
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    let begin = |token: &str| {
        let c = Connection {
            server: &s,
            token: token.into(),
            id: "".into(),
            path: "/mcp".into(),
            next: 0,
        };
        let answer = c.send(&c.message("initialize", hello()));
        assert_eq!(answer.status, 200, "{}", answer.text());
        Connection { id: answer.header("mcp-session-id").expect("an id").to_owned(), ..c }
    };
    let mut other = begin("bobby-bobby-bobby");
    let set = json!({"key": "k", "value": "of b"});
    assert_eq!(other.call("kv_set", set)["isError"], false);
    (0..200).for_each(|_| drop(begin("alice-alice-alice")));
    let before = resident();
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    for _ in 0..FLOOD {
        assert_eq!(begin("alice-alice-alice").send(&initialized).status, 202);
    }
    let each = resident().saturating_sub(before) / FLOOD;
    println!("{each} bytes for each connection");
    assert!(each < 4096, "{each} bytes for each connection");
    let got = other.call("kv_get", json!({"key": "k"}));
    assert_eq!(got["structuredContent"]["value"], "of b", "{got}");
    // The limit is the default, 100 connections. The oldest one that has used no session makes
    // room.
    let flood: Vec<String> = (0..250).map(|_| begin("bobby-bobby-bobby").id).collect();
    let answers = |id: &String| {
        let c = Connection { id: id.clone(), ..begin("alice-alice-alice") };
        let c = Connection { token: "bobby-bobby-bobby".into(), ..c };
        c.send(&c.message("tools/list", Value::Null)).status
    };
    assert_eq!((answers(&flood[0]), answers(&flood[249])), (404, 200));
    let got = other.call("kv_get", json!({"key": "k"}));
    assert_eq!(got["structuredContent"]["value"], "of b", "{got}");
    let metrics = s.json("bobby-bobby-bobby", "GET", "/metrics", &Value::Null).text();
    assert!(metrics.contains("\nwasibox_mcp_connections "), "{metrics}");
    assert!(metrics.contains("\nwasibox_token_history_bytes{owner=\"b\"} "), "{metrics}");
}

#[test]
fn a_connection_ends_when_its_client_says_so() {
    let _alone = run_alone();
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    let mut c = Connection::begin(&s, "bobby-bobby-bobby", "/mcp");
    for used in [false, true] {
        if used {
            c = Connection::begin(&s, "bobby-bobby-bobby", "/mcp");
            c.call("kv_set", json!({"key": "k", "value": "v"}));
        }
        let headers = format!(
            "Authorization: Bearer {}\nMcp-Session-Id: {}\nMCP-Protocol-Version: 2025-11-25",
            c.token, c.id
        );
        assert_eq!(s.request("DELETE", "/mcp", &headers, b"").status, 204);
        assert_eq!(c.send(&c.message("tools/list", Value::Null)).status, 404, "{used}");
    }
}

#[test]
fn a_connection_makes_no_session_without_that_scope() {
    let _alone = run_alone();
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    let mut c = Connection::begin(&s, "reader-reader-reader", "/mcp");
    let answer = c.call("sandbox_exec", json!({"command": "true"}));
    assert_eq!(answer["isError"], true, "{answer}");
    assert!(answer.to_string().contains("'manage'"), "{answer}");
    // A tool that needs no session works.
    let answer = c.call("calculate", json!({"expression": "1+1"}));
    assert_eq!(answer["isError"], false, "{answer}");
    let sessions = s.json("reader-reader-reader", "GET", "/v1/sessions", &Value::Null);
    assert_eq!(sessions.value()["sessions"], json!([]), "{}", sessions.text());
}

#[test]
fn silent_connections_delay_no_other() {
    let _alone = run_alone();
    let s = serve(Some(TOKENS), None, ToolSettings::default());
    // There are more connections than the server has places for, if this process may have that many
    // descriptors.
    let connect = |_| std::net::TcpStream::connect(s.address).ok();
    let silent: Vec<_> = (0..2100).map_while(connect).collect();
    let begun = std::time::Instant::now();
    assert_eq!(s.request("GET", "/healthz", "", b"").status, 200);
    let took = begun.elapsed();
    assert!(took < std::time::Duration::from_secs(5), "{took:?} beside {}", silent.len());
}
