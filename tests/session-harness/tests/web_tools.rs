//! Tests the tools that use servers of others, and the settings of tools, by all doors: with local
//! servers that answer as Brave's reference of the Web Search API and OpenAI's reference of the
//! images endpoint describe.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use wasibox::policy::ToolSettings;
use wasibox::{Engine, Isolation};
use wasibox_actions::{
    AnswerPart, CallStop, Client, ClientCall, Machine, MachineOptions, RefusalKind, Registry,
    ToolState,
};
use wasibox_providers::settings::SettingsStore;
use wasibox_sessions::http::serve_machine;
use wasibox_sessions::{LONG, options, policy};

const KEY: &str = "key-of-the-test-0123456789";
const ADMIN: &str = "token-of-the-admin";
const USER: &str = "token-of-the-user0";
/// The smallest picture: a pixel of PNG.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Serves searches, pictures and a page, each connection one request.
fn provider() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
                head.push(byte[0]);
            }
            let head = String::from_utf8_lossy(&head).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.map_or(0, |n| n.parse().expect("a length"))];
            let _ = stream.read_exact(&mut body);
            let is_known = head.contains(KEY);
            let (status, kind, body) = match head.split(' ').nth(1).unwrap_or_default() {
                path if path.starts_with("/search") && is_known => (
                    200,
                    "application/json",
                    json!({"type": "search", "web": {"results": [{"title": "Tide &amp; time",
                        "url": "https://tides.example/", "description": "<b>High</b> water"}]}})
                    .to_string(),
                ),
                "/v1/images/generations" if is_known => (
                    200,
                    "application/json",
                    json!({"data": [{"b64_json": PNG, "revised_prompt": "A pixel"}]}).to_string(),
                ),
                "/page" => (200, "text/html", "<title>Hours</title><p>Open daily</p>".to_owned()),
                _ => (401, "application/json", json!({"error": {"detail": "no key"}}).to_string()),
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    address
}

fn machine(settings: &Path, rules: &[String], tools: ToolSettings) -> Machine {
    let engine = Engine::new(options(Isolation::Process)).expect("an engine");
    let mut policy = policy();
    policy.network.allow = rules.to_vec();
    let settings = Arc::new(SettingsStore::new(settings));
    let options = MachineOptions { policy, store: None, timeout: LONG, tools, settings };
    Machine::new(&engine, options).expect("a machine")
}

/// Returns the settings of a search and of pictures at that server.
fn set_up(settings: &Path, address: SocketAddr) {
    let store = SettingsStore::new(settings);
    let set = |tool: &str, all: &[(&str, String)]| {
        let changes: Vec<_> =
            all.iter().map(|(name, value)| ((*name).to_owned(), Some(value.clone()))).collect();
        store.set(tool, &changes).expect("settings");
        store.enable(tool, true).expect("a switch");
    };
    set(
        "web_search",
        &[
            ("provider", "brave".into()),
            ("key", KEY.into()),
            ("address", format!("http://{address}/search")),
            ("interval", "0".into()),
        ],
    );
    set("generate_image", &[("key", KEY.into()), ("address", format!("http://{address}/v1"))]);
    store.enable("fetch_page", true).expect("a switch");
}

fn names(registry: &Registry) -> Vec<&'static str> {
    registry.tools().map(|listed| listed.tool.name).collect()
}

#[test]
fn tools_of_the_web_are_off_until_they_are_set_up() {
    let dir = tempfile::tempdir().expect("a folder");
    let settings = dir.path().join("tools.toml");
    let web = ["fetch_page", "generate_image", "web_search"];
    let machine = machine(&settings, &[], ToolSettings::default());
    let registry = Registry::new(&machine).expect("tools");
    let all = names(&registry);
    assert!(web.iter().all(|name| !all.contains(name)), "{all:?}");
    // A change holds at once. A page needs rules of the policy.
    set_up(&settings, provider());
    let now = names(&registry);
    assert!(now.contains(&"web_search") && now.contains(&"generate_image"));
    assert!(!now.contains(&"fetch_page") && now.len() == all.len() + 2);
    let fetch = wasibox_actions::TOOLS.iter().find(|tool| tool.name == "fetch_page").expect("it");
    assert_eq!(registry.state_of(fetch), ToolState::Unready);
    machine.web_tools().settings().enable("kv_set", false).expect("a switch");
    assert!(registry.get("kv_set").is_none() && registry.get("kv_get").is_some());
}

#[test]
fn a_policy_leaves_tools_out_in_spite_of_the_settings() {
    let dir = tempfile::tempdir().expect("a folder");
    let settings = dir.path().join("tools.toml");
    set_up(&settings, provider());
    let off = ToolSettings { off: vec!["web_search".into()], ..ToolSettings::default() };
    let registry = Registry::new(&machine(&settings, &[], off)).expect("tools");
    let now = names(&registry);
    assert!(!now.contains(&"web_search") && now.contains(&"generate_image"));
    let read_only = ToolSettings { read_only: true, ..ToolSettings::default() };
    let registry = Registry::new(&machine(&settings, &[], read_only)).expect("tools");
    let now = names(&registry);
    assert!(now.contains(&"web_search") && !now.contains(&"generate_image"));
}

#[test]
fn searches_pages_and_pictures_reach_the_session() {
    let dir = tempfile::tempdir().expect("a folder");
    let settings = dir.path().join("tools.toml");
    let address = provider();
    set_up(&settings, address);
    let rules = [format!("GET http://{address}/")];
    let machine = machine(&settings, &rules, ToolSettings::default());
    let registry = Registry::new(&machine).expect("tools");
    let client = Client::new(machine.space()).expect("a client");
    let run = |name: &str, arguments: Value| {
        let listed = registry.get(name).expect(name);
        let Value::Object(arguments) = arguments else { panic!("{name}") };
        let call = ClientCall { client: &client, stop: &CallStop::default(), emit: None };
        listed.tool.run(arguments, &call)
    };
    let found = run("web_search", json!({"query": "tide"})).expect("results");
    assert_eq!(
        found.answer["results"],
        json!([{"title": "Tide & time",
        "url": "https://tides.example/", "snippet": "High water", "publishedDate": null}])
    );
    assert_eq!(found.answer["cached"], false);
    let again = run("web_search", json!({"query": "tide", "freshness": "any"})).expect("results");
    assert_eq!(again.answer["cached"], true);
    let page = run("fetch_page", json!({"url": format!("http://{address}/page")})).expect("a page");
    assert_eq!(
        (page.answer["title"].as_str(), page.answer["markdown"].as_str()),
        (Some("Hours"), Some("Open daily"))
    );
    let denied = run("fetch_page", json!({"url": "https://example.com/"})).expect_err("no rule");
    assert_eq!(denied.kind, RefusalKind::Denied, "{denied}");
    let made =
        run("generate_image", json!({"prompt": "a pixel", "size": "1024x1024"})).expect("it");
    let url = made.answer["url"].as_str().expect("an address");
    let path = url.strip_prefix("sandbox://").expect("a resource");
    assert!(path.starts_with("/output/image-") && path.ends_with(".png"), "{path}");
    assert_eq!(made.answer["revisedPrompt"], "A pixel");
    assert!(
        made.parts
            .iter()
            .any(|p| matches!(p, AnswerPart::Image { mime, .. } if mime == "image/png"))
    );
    let file = run("sandbox_exec", json!({"command": format!("head -c 8 {path} | od -An -tx1")}));
    assert_eq!(file.expect("a file").answer["stdout"], " 89 50 4e 47 0d 0a 1a 0a\n");
}

#[test]
fn settings_change_by_http_for_tokens_that_may() {
    let dir = tempfile::tempdir().expect("a folder");
    let address = provider();
    let machine = machine(&dir.path().join("tools.toml"), &[], ToolSettings::default());
    let server = serve_machine(
        machine,
        &format!(
            "[[token]]\nname = 'a'\ntoken = '{ADMIN}'\ntool-settings = true\n\
         [[token]]\nname = 'b'\ntoken = '{USER}'\n"
        ),
    );
    let ask = |token: &str, method: &str, path: &str, body: Value| {
        let answer = server.json(token, method, path, &body);
        (answer.status, answer.value())
    };
    for (method, path) in [("GET", ""), ("PUT", "/web_search"), ("POST", "/web_search/test")] {
        let path = format!("/v1/tools/settings{path}");
        assert_eq!(ask(USER, method, &path, json!({})).0, 403, "{method} {path}");
    }
    let put = |body| ask(ADMIN, "PUT", "/v1/tools/settings/web_search", body);
    assert_eq!(put(json!({"settings": {"frob": 1}})).0, 422);
    assert_eq!(put(json!({"settings": {"provider": "bing"}})).0, 422);
    assert_eq!(ask(ADMIN, "PUT", "/v1/tools/settings/frob", json!({})).0, 404);
    let (status, on) = put(json!({"enabled": true}));
    assert_eq!((status, &on["tool"]["state"]), (200, &json!("unready")));
    assert_eq!(on["tool"]["problem"], "web_search is not set up: set a provider");
    let (_, set) = put(json!({"settings": {"provider": "brave", "key": KEY, "interval": 0,
        "address": format!("http://{address}/search")}}));
    assert_eq!(
        (&set["tool"]["state"], &set["tool"]["settings"]["key"]),
        (&json!("on"), &json!(true))
    );
    let (_, listed) = ask(ADMIN, "GET", "/v1/tools/settings", Value::Null);
    assert!(!listed.to_string().contains(KEY), "a key never comes back");
    let tools = listed["tools"].as_array().expect("tools");
    assert_eq!(tools.len(), wasibox_actions::TOOLS.len());
    let (status, tested) =
        ask(ADMIN, "POST", "/v1/tools/settings/web_search/test", json!({"input": "tide"}));
    assert_eq!(
        (status, tested["answer"]["results"][0]["title"].as_str()),
        (200, Some("Tide & time"))
    );
    // Everybody has the tool now, and a request that moves it to another server loses the key.
    let (_, offered) = ask(USER, "GET", "/v1/tools", Value::Null);
    assert!(offered["tools"].as_array().expect("tools").iter().any(|t| t["name"] == "web_search"));
    let (_, moved) = put(json!({"settings": {"address": "https://evil.example/"}}));
    assert_eq!((&moved["keyRemoved"], &moved["tool"]["state"]), (&json!(true), &json!("unready")));
    let (_, offered) = ask(USER, "GET", "/v1/tools", Value::Null);
    assert!(offered["tools"].as_array().expect("tools").iter().all(|t| t["name"] != "web_search"));
}

/// Runs `runner tools`.
fn tools(settings: &Path, args: &[&str], input: &str) -> Output {
    let mut command = Command::new(wasibox_sessions::dist().join("runner"));
    command.arg("tools").args(args).env("WASIBOX_TOOL_SETTINGS", settings);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("runner");
    child.stdin.take().expect("input").write_all(input.as_bytes()).expect("input");
    child.wait_with_output().expect("an end")
}

#[test]
fn the_command_line_switches_sets_shows_and_tests() {
    let dir = tempfile::tempdir().expect("a folder");
    let settings = dir.path().join("deep/tools.toml");
    let address = format!("address=http://{}/search", provider());
    let run = |args: &[&str], input: &str| {
        let done = tools(&settings, args, input);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (done.status.code().expect("a status"), text(done.stdout), text(done.stderr))
    };
    let (status, out, _) = run(&["list"], "");
    let row =
        |out: &str| out.lines().find(|line| line.starts_with("web_search ")).map(str::to_owned);
    assert_eq!(status, 0);
    assert!(row(&out).expect("a row").contains(" off"), "{out}");
    let (status, _, err) = run(&["test", "web_search"], "");
    assert_eq!(status, 1);
    assert!(err.contains("web_search is not set up: set a provider"), "{err}");
    let (status, _, err) = run(&["set", "web_search", "key=abc"], "");
    assert_eq!(status, 2);
    assert!(err.contains("--key-from"), "{err}");
    for wrong in [
        &["enable", "frob"][..],
        &["set", "web_search"],
        &["set", "web_search", "daily"],
        &["set", "web_search", "daily=x"],
        &["set", "kv_get", "x=1"],
    ] {
        assert_eq!(run(wrong, "").0, 2, "{wrong:?}");
    }
    let set = ["set", "web_search", "provider=brave", "interval=0", &address, "--key-from", "-"];
    let (status, out, err) = run(&set, &format!("{KEY}\n"));
    assert_eq!((status, out.as_str(), err.as_str()), (0, "", ""));
    assert_eq!(run(&["enable", "web_search"], "").0, 0);
    let (_, out, _) = run(&["list"], "");
    let row = row(&out).expect("a row");
    assert!(row.contains(" on ") && row.contains("key=***") && !out.contains(KEY), "{out}");
    let (_, out, _) = run(&["show", "web_search", "--json"], "");
    let shown: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&shown["enabled"], &shown["settings"]["key"]), (&json!(true), &json!(true)));
    assert_eq!(shown["schema"]["properties"]["key"]["writeOnly"], true);
    let (status, out, err) = run(&["test", "web_search", "tide"], "");
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("Tide & time") && err.contains("web_search works"), "{out} {err}");
    let text = std::fs::read_to_string(&settings).expect("settings");
    assert!(!text.contains(KEY) && text.contains("BEGIN AGE ENCRYPTED FILE"), "{text}");
    let (_, _, err) = run(&["set", "web_search", "provider=serpapi"], "");
    assert!(err.contains("the key was removed"), "{err}");
    assert_eq!(run(&["disable", "web_search"], "").0, 0);
    let (status, out, err) = run(
        &[
            "test",
            "calculate",
            "--image",
            wasibox_sessions::dist().join("image.webc").to_str().expect("a path"),
            r#"{"expression": "6 * 7"}"#,
        ],
        "",
    );
    assert_eq!((status, out.trim()), (0, "42"), "{err}");
}
