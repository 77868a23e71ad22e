//! Tests processes that continue from call to call: through the session, and by the tools.

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use wasibox::policy::ToolSettings;
use wasibox::{
    Answer, Engine, Error, HistoryRequest, Isolation, ProcessFault, ProcessKill, ProcessRead,
    ProcessStart, ProcessStatus, ProcessWrite, Refusal, RefusalKind, Request, ScreenSize, Session,
    Streams,
};
use wasibox_sessions::http::serve;
use wasibox_sessions::*;

fn both() -> [Engine; 2] {
    [Isolation::Process, Isolation::Threads].map(engine)
}

fn start(s: &Session, script: &str) -> u64 {
    let script = Some(script.into());
    s.start_process(&ProcessStart { script, ..ProcessStart::default() }).unwrap().process
}

fn read(process: u64) -> ProcessRead {
    ProcessRead { process, ..ProcessRead::default() }
}

fn until(process: u64, pattern: &str) -> ProcessRead {
    ProcessRead { until: Some(pattern.into()), wait: Some(60.0), ..read(process) }
}

fn write(process: u64, text: &str) -> ProcessWrite {
    ProcessWrite { process, text: text.into(), ..ProcessWrite::default() }
}

#[test]
fn output_input_and_ends_are_those_of_the_process() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        sh(&s, "cd /tmp; export A=1");
        // It begins where the session's shell is, with its exported variables.
        let p = start(&s, "pwd; echo $A; while read line; do echo \"<$line>\"; done; exit 3");
        let first = s.read_process(&until(p, "^1$"), None).unwrap();
        assert!(first.found && first.output == "/tmp\n1\n", "{first:?}");
        // Calls go on meanwhile, and see it.
        assert_eq!(sh(&s, "echo call"), "call\n");
        s.write_process(&write(p, "one\ntwo\n")).unwrap();
        let second = s.read_process(&until(p, "two"), None).unwrap();
        assert_eq!((second.output.as_str(), second.dropped), ("<one>\n<two>\n", 0));
        assert_eq!(second.report.status, ProcessStatus::Running);
        let again = ProcessRead { after: Some(0), max_output: Some(5), ..read(p) };
        assert_eq!(s.read_process(&again, None).unwrap().output, "/tmp\n");
        s.write_process(&ProcessWrite { end: true, ..write(p, "last") }).unwrap();
        // The end of a process ends a wait.
        let last = s.read_process(&until(p, "never"), None).unwrap();
        assert_eq!((last.found, last.output.as_str()), (false, ""));
        assert_eq!((last.report.status, last.report.exit_code), (ProcessStatus::Exited, Some(3)));
        let refused = s.write_process(&write(p, "x")).unwrap_err();
        assert!(matches!(refused, Error::Process(ProcessFault::Ended(_))), "{refused}");
        assert_eq!(Refusal::from(refused).kind, RefusalKind::Conflict);
        assert!(matches!(s.read_process(&read(99), None), Err(Error::NoProcess(99))));
        assert!(!s.has_processes());
    }
}

#[test]
fn a_megabyte_of_output_is_kept() {
    let s = engine(Isolation::Process).session(policy()).unwrap();
    let p = start(&s, "head -c 3000000 /dev/zero | tr '\\0' x; echo end");
    let mut output = s.read_process(&until(p, "end"), None).unwrap();
    assert_eq!((output.report.written, output.dropped), (3_000_004, 3_000_004 - (1 << 20)));
    let mut all = output.output.len() as u64 + output.dropped;
    assert_eq!(output.output.len(), 32 << 10);
    while output.next < output.report.written {
        let more = ProcessRead { max_output: Some(1 << 20), ..read(p) };
        output = s.read_process(&more, None).unwrap();
        all += output.output.len() as u64;
    }
    assert!(all == 3_000_004 && output.output.ends_with("xend\n"));
}

#[test]
fn a_terminal_is_typed_at() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        let size = Some(ScreenSize { rows: 30, columns: 100 });
        let argv = Some(vec!["bash".into(), "--norc".into()]);
        let begun = ProcessStart { argv, terminal: true, size, ..ProcessStart::default() };
        let p = s.start_process(&begun).unwrap().process;
        s.write_process(&write(p, "tty; stty size; echo $((6*7))\r")).unwrap();
        let shown = s.read_process(&until(p, "\r\n42\r\n"), None).unwrap();
        assert!(shown.output.contains("/dev/pts/0\r\n30 100\r\n42\r\n"), "{shown:?}");
        let size = Some(ScreenSize { rows: 20, columns: 50 });
        s.write_process(&ProcessWrite { size, ..write(p, "stty size\r") }).unwrap();
        assert!(s.read_process(&until(p, "20 50"), None).unwrap().found);
        // Ctrl-C ends what runs, not the shell.
        s.write_process(&write(p, "sleep 60\r")).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        s.write_process(&write(p, "\u{3}")).unwrap();
        s.write_process(&write(p, "echo st$((1))ll\r")).unwrap();
        assert!(s.read_process(&until(p, "st1ll"), None).unwrap().found);
        s.write_process(&write(p, "exit 5\r")).unwrap();
        let end = s.read_process(&until(p, "never"), None).unwrap();
        assert_eq!(end.report.exit_code, Some(5));
    }
}

#[test]
fn ports_and_signals() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        let p = start(&s, "sleep 0.5; exec python3 -m http.server 8000");
        let port = ProcessRead { port: Some(8000), wait: Some(60.0), ..read(p) };
        assert!(s.read_process(&port, None).unwrap().found);
        let open = s.ports().unwrap();
        assert_eq!((open.len(), open[0].port, open[0].address.as_str()), (1, 8000, "0.0.0.0"));
        assert_eq!(open[0].command.as_deref(), Some("python3 -m http.server 8000"));
        assert_eq!(open[0].pid, s.processes()[0].pid);
        // An address of the host leads there while it exists.
        let exposed = s.expose(8000, 0).unwrap();
        let ask = |at| {
            use std::io::{Read, Write};
            let mut stream = std::net::TcpStream::connect(at)?;
            stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).map(|_| answer)
        };
        let at = exposed.address();
        assert!(at.ip().is_loopback() && ask(at).unwrap().starts_with("HTTP/1.0 200 OK"));
        drop(exposed);
        let begun = Instant::now();
        while ask(at).is_ok() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(ask(at).is_err());
        let killed = s.kill_process(&ProcessKill { process: p, ..ProcessKill::default() }).unwrap();
        assert_eq!((killed.status, killed.exit_code), (ProcessStatus::Signaled, Some(143)));
        assert!(s.ports().unwrap().is_empty());
        // What ignores SIGTERM gets SIGKILL.
        let p = start(&s, "trap '' TERM; echo ready; while :; do sleep 0.1; done");
        s.read_process(&until(p, "ready"), None).unwrap();
        let kill = ProcessKill { process: p, signal: None, wait: Some(0.5) };
        let killed = s.kill_process(&kill).unwrap();
        assert_eq!((killed.status, killed.exit_code), (ProcessStatus::Signaled, Some(137)));
        let p = start(&s, "trap 'echo caught' USR1; echo ready; while :; do sleep 0.1; done");
        s.read_process(&until(p, "ready"), None).unwrap();
        let signal = ProcessKill { process: p, signal: Some(10), wait: Some(0.0) };
        assert_eq!(s.kill_process(&signal).unwrap().status, ProcessStatus::Running);
        assert!(s.read_process(&until(p, "caught"), None).unwrap().found);
    }
}

#[test]
fn moves_and_sleep_say_what_they_end() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        sh(&s, "touch a");
        let p = start(&s, "sleep 1000");
        let undo = s.apply(Request::History(HistoryRequest::Undo), Streams::default()).unwrap();
        let Answer::Commit(commit) = undo else { panic!("{undo:?}") };
        assert_eq!(commit.ended, [format!("{p}: sleep 1000")]);
        let redo = s.apply(Request::History(HistoryRequest::Redo), Streams::default()).unwrap();
        assert!(matches!(redo, Answer::Commit(commit) if commit.ended.is_empty()));
        let ended = s.read_process(&until(p, "x"), None).unwrap();
        assert_eq!(ended.report.status, ProcessStatus::Lost);
        // A fork has no processes; those of the session go on.
        let p = start(&s, "sleep 1000");
        let fork = s.fork("fork").unwrap();
        assert!(fork.processes().is_empty() && s.has_processes());
        s.park();
        let ended = s.read_process(&until(p, "x"), None).unwrap();
        assert_eq!(ended.report.status, ProcessStatus::Lost);
        assert!(s.ports().unwrap().is_empty());
    }
}

#[test]
fn a_process_keeps_its_session_awake_and_there_are_bounds() {
    let mut options = options(Isolation::Process);
    options.idle = Some(Duration::from_millis(300));
    let s = Engine::new(options).unwrap().session(policy()).unwrap();
    let p = start(&s, "sleep 2; touch /tmp/done");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(s.is_awake());
    let ended = s.read_process(&until(p, "never"), None).unwrap();
    assert_eq!(ended.report.status, ProcessStatus::Exited);
    assert_eq!(sh(&s, "ls /tmp/done"), "/tmp/done\n");
    // Without one it goes to sleep.
    let begun = Instant::now();
    while s.is_awake() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!s.is_awake());
    // Ended ones are forgotten.
    for _ in 0..40 {
        let p = start(&s, "exit 0");
        s.read_process(&until(p, "never"), None).unwrap();
    }
    assert!(s.processes().len() <= 33, "{}", s.processes().len());
    // What is not read is refused at some point, and nothing waits.
    let p = start(&s, "exec sleep 100");
    let part = "x".repeat(1 << 20);
    let refused = (0..10).find(|_| s.write_process(&write(p, &part)).is_err());
    assert!(matches!(refused, Some(3..=5)), "{refused:?}");
}

#[test]
fn the_tools_do_the_same() {
    let tokens = "[[token]]\nname = 'a'\ntoken = 'alice-alice-alice'\n\
                  [[token]]\nname = 'r'\ntoken = 'reader-reader-reader'\nscopes = ['read']\n";
    let s = serve(Some(tokens), None, ToolSettings::default());
    let token = "alice-alice-alice";
    s.json(token, "PUT", "/v1/sessions/w", &Value::Null);
    let tool = |name: &str, input: Value| s.tool(token, "w", name, &input);
    let begun = tool(
        "start_process",
        json!({"command": "echo begins; exec python3 -m http.server 8000", "port": 8000}),
    );
    assert_eq!((&begun["found"], &begun["output"]), (&json!(true), &json!("begins\n")), "{begun}");
    let page = s.request(
        "GET",
        "/v1/sessions/w/ports/8000/",
        &format!("Authorization: Bearer {token}"),
        b"",
    );
    assert!(page.text().contains("Directory listing"), "{}", page.text());
    let log = tool("read_process", json!({"process": 1, "until": "GET / HTTP", "wait": 30}));
    assert_eq!(log["found"], true, "{log}");
    let listed = tool("list_processes", json!({}));
    assert_eq!(listed["processes"][0]["status"], "running");
    assert_eq!(listed["ports"][0]["port"], 8000);
    let undone = tool("sandbox_exec", json!({"command": "touch x"}));
    assert_eq!(undone["exit_code"], 0);
    let undone = tool("undo", json!({}));
    assert_eq!(undone["ended"][0], "1: echo begins; exec python3 -m http.server 8000");
    let begun = tool(
        "start_process",
        json!({"command": "read -p 'name? ' n; echo hi $n", "terminal": true, "until": "name"}),
    );
    assert_eq!(begun["found"], true, "{begun}");
    let number = begun["report"]["process"].clone();
    let written = tool("write_process", json!({"process": number, "text": "you\r", "wait": 10}));
    let rest = tool("read_process", json!({"process": number, "wait": 10, "until": "never"}));
    let text =
        format!("{}{}", written["output"].as_str().unwrap(), rest["output"].as_str().unwrap());
    assert!(text.contains("hi you\r\n"), "{text}");
    assert_eq!(rest["report"]["exit_code"], 0);
    let begun = tool("start_process", json!({"command": "sleep 100"}));
    let number = begun["report"]["process"].clone();
    assert_eq!(tool("kill_process", json!({"process": number}))["exit_code"], 143);
    for (name, input, status) in [
        ("read_process", json!({"process": 99}), 404),
        ("write_process", json!({"process": number, "text": "x"}), 409),
        ("kill_process", json!({"process": number, "signal": "FROB"}), 422),
        ("start_process", json!({"command": "a\u{0}"}), 422),
        ("read_process", json!({"process": number, "until": "("}), 422),
    ] {
        let path = format!("/v1/sessions/w/tools/{name}");
        assert_eq!(s.json(token, "POST", &path, &input).status, status, "{name} {input}");
    }
    let path = "/v1/sessions/w/tools/start_process";
    let denied = s.json("reader-reader-reader", "POST", path, &json!({"command": "ls"}));
    assert_eq!(denied.status, 403);
}
