//! Tests host tools: the command `tool`, the modules of Python and JavaScript, limits, and guests
//! that lie.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use wasibox::{HostTool, HostToolPolicy, Isolation, Policy, Session, ToolError};
use wasibox_sessions::*;

const BOTH: [Isolation; 2] = [Isolation::Process, Isolation::Threads];

/// The number of calls of tools, of calls that began to wait, and of calls that stopped waiting.
#[derive(Default)]
struct Counts {
    calls: AtomicUsize,
    waits: AtomicUsize,
    dropped: AtomicUsize,
}

struct Waits(Arc<Counts>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

fn weather() -> HostTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "the name of a city"},
            "max_days": {"type": "integer", "minimum": 1, "default": 1},
            "metric": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["city"],
        "additionalProperties": false,
    });
    HostTool::new("weather", "The weather of a city.\nFor some days.", schema, |a, _| async move {
        match a["city"].as_str() {
            Some("Atlantis") => Err(ToolError::new("no station there")),
            Some("panic") => panic!("on purpose"),
            _ => Ok(json!({"asked": a, "degrees": 21.5})),
        }
    })
    .unwrap()
}

fn any() -> Value {
    json!({})
}

/// Returns tools of many kinds.
fn tools(counts: &Arc<Counts>) -> Vec<HostTool> {
    let (calls, waits) = (counts.clone(), counts.clone());
    vec![
        weather(),
        HostTool::new_blocking("count", "Counts.", any(), move |_, _| {
            Ok(calls.calls.fetch_add(1, Ordering::SeqCst).into())
        })
        .unwrap(),
        HostTool::new("wait", "Waits for ever.", any(), move |_, _| {
            let counts = waits.clone();
            async move {
                let _waits = Waits(counts.clone());
                counts.waits.fetch_add(1, Ordering::SeqCst);
                std::future::pending().await
            }
        })
        .unwrap(),
        HostTool::new_blocking("nap", "Waits a while.", any(), |_, _| {
            std::thread::sleep(Duration::from_millis(300));
            Ok(json!("slept"))
        })
        .unwrap(),
        HostTool::new_blocking("big", "Gives much.", any(), |a, _| {
            Ok(Value::String("x".repeat(a["n"].as_u64().unwrap_or(0) as usize)))
        })
        .unwrap(),
        HostTool::new_blocking("get-user.name", "Has another name in Python.", any(), |a, _| Ok(a))
            .unwrap(),
        HostTool::new_blocking("wrong", "Does not keep its word.", any(), |_, _| Ok(json!("text")))
            .unwrap()
            .with_output(json!({"type": "integer"}))
            .unwrap(),
    ]
}

fn session(isolation: Isolation, tools: Vec<HostTool>, host_tools: HostToolPolicy) -> Session {
    let s = engine(isolation).session(Policy { host_tools, ..policy() }).unwrap();
    s.set_tools(tools).unwrap();
    s
}

fn usual(isolation: Isolation) -> (Session, Arc<Counts>) {
    let counts = Arc::<Counts>::default();
    (session(isolation, tools(&counts), HostToolPolicy::default()), counts)
}

fn eventually(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn commands_call_tools() {
    for isolation in BOTH {
        let (s, _) = usual(isolation);
        let listed = sh(&s, "tool");
        assert!(listed.contains("\nweather        The weather of a city.\n"), "{listed}");
        assert_eq!(sh(&s, "tool --list"), listed);
        assert_eq!(
            sh(&s, "tool --json | jq -r '.[].name' | head -3"),
            "big\ncount\nget-user.name\n"
        );
        let called = r#"{"asked":{"city":"Bern","max_days":3,"metric":true,"tags":["a","b"]},"degrees":21.5}"#;
        for words in [
            "--city Bern --max-days 3 --metric --tags a --tags b",
            "Bern --max_days=3 --metric --tags '[\"a\", \"b\"]'",
            "'{\"city\": \"Bern\", \"max_days\": 3, \"metric\": true, \"tags\": [\"a\", \"b\"]}'",
        ] {
            assert_eq!(sh(&s, &format!("tool weather {words}")), format!("{called}\n"), "{words}");
        }
        assert_eq!(sh(&s, r#"echo '{"city": "Thun"}' | tool weather - | jq .degrees"#), "21.5\n");
        assert_eq!(sh(&s, "tool big --n 3; tool -r big --n 3"), "\"xxx\"\nxxx\n");
        // These are errors of the tool, of the arguments and of the name.
        assert_eq!(sh(&s, "tool weather Atlantis"), "tool: weather: no station there\n[1]");
        assert_eq!(sh(&s, "tool weather panic"), "tool: weather: the tool has panicked\n[1]");
        assert_eq!(
            sh(&s, "tool weather --city Bern --max-days soon"),
            "tool: weather: max_days: want integer, but got string\n[2]"
        );
        assert_eq!(sh(&s, "tool weather"), "tool: weather: missing properties 'city'\n[2]");
        assert!(
            sh(&s, "tool weather --town x")
                .starts_with("tool: weather: unrecognized option '--town'\nTry")
        );
        assert_eq!(sh(&s, "tool nope"), "tool: there is no tool 'nope'\n[127]");
        let wrong = sh(&s, "tool wrong");
        assert!(wrong.contains("does not fit its schema: want integer, but got string"), "{wrong}");
        let help = sh(&s, "tool weather --help");
        assert!(help.starts_with("Usage: tool weather --city CITY [OPTION]...\n"), "{help}");
        let is_row =
            |line: &str| line.contains("--max-days=number ") && line.ends_with(" (default 1)");
        assert!(help.lines().any(is_row), "{help}");
        // The result is longer than an answer and than a pipe's buffer.
        assert_eq!(sh(&s, "tool big --n 3000000 | wc -c"), "3000003\n");
        // Several calls run at the same time.
        let begun = Instant::now();
        assert_eq!(
            sh(&s, "for i in 1 2 3 4 5 6; do tool nap & done; wait"),
            "\"slept\"\n".repeat(6)
        );
        assert!(begun.elapsed() < Duration::from_millis(6 * 300), "{:?}", begun.elapsed());
    }
}

#[test]
fn python_calls_tools() {
    for isolation in BOTH {
        let (s, _) = usual(isolation);
        let code = "import tools\nfrom tools import weather\n\
                    weather('Bern', max_days=2)['asked'], dir(tools)[:3], tools.get_user_name(a=[1])";
        assert_eq!(
            py(&s, code),
            "({'city': 'Bern', 'max_days': 2}, ['big', 'count', 'get_user_name'], {'a': [1]})"
        );
        let code =
            "import inspect\nstr(inspect.signature(weather)), weather.__doc__, weather.__name__";
        assert_eq!(
            py(&s, code),
            "('(city: str, *, max_days: int = 1, metric: bool = ..., tags: list[str] = ...) -> Any', \
             'The weather of a city.\\nFor some days.\\n\\nArgs:\\n    city: the name of a city', 'weather')"
        );
        let said = |code: &str| {
            py(
                &s,
                &format!(
                    "try:\n    {code}\nexcept Exception as e:\n    print(type(e).__mro__[:-2], e)"
                ),
            )
        };
        let told = said("weather('Atlantis')");
        assert!(told.contains("ToolError") && told.ends_with("no station there\n"), "{told}");
        let told = said("weather('Bern', max_days=0)");
        assert!(
            told.contains("ToolArgumentsError") && told.contains("max_days: must be >=1"),
            "{told}"
        );
        assert!(said("weather(town='Bern')").contains("TypeError"));
        let told = said("tools.nope");
        assert!(
            told.contains("AttributeError") && told.contains("no tool 'nope'; it has big"),
            "{told}"
        );
        assert!(said("from tools import nope").contains("ImportError"));
        assert!(said("tools.call('nope')").contains("ToolNotFoundError"));
        assert!(said("weather(float('nan'))").contains("ValueError"));
        assert_eq!(py(&s, "len(tools.big(n=3_000_000))"), "3000000");
        // Coroutines wait at the same time.
        let code = "import asyncio, time\nfrom tools.aio import nap, weather as w\n\
                    async def all():\n    return await asyncio.gather(*[nap() for _ in range(6)], w('Bern'))\n\
                    begun = time.monotonic()\nn = len(asyncio.run(all()))\nn, time.monotonic() - begun < 1.5";
        assert_eq!(py(&s, code), "(7, True)");
        // So do threads and processes.
        let code = "from concurrent.futures import ThreadPoolExecutor as P\n\
                    begun = time.monotonic()\nlen(list(P(6).map(lambda _: tools.nap(), range(6)))), time.monotonic() - begun < 1.5";
        assert_eq!(py(&s, code), "(6, True)");
        assert_eq!(
            sh(&s, "python3 -c 'from tools import *; print(weather(\"Bern\")[\"degrees\"])'"),
            "21.5\n"
        );
        // Programs see the present tools, not the earlier ones.
        s.set_tools([HostTool::new_blocking("other", "", any(), |_, _| Ok(json!(1))).unwrap()])
            .unwrap();
        assert_eq!(py(&s, "tools.other(), dir(tools)"), "(1, ['other'])");
        let told = said("tools.weather");
        assert!(told.contains("no tool 'weather'; it has other"), "{told}");
        let told = said("weather('Bern')");
        assert!(told.contains("the tool 'weather' is missing"), "{told}");
    }
    // A project's own module named `tools` takes precedence.
    let (s, _) = usual(Isolation::Threads);
    let own = "mkdir tools; echo 'x = 1' > tools/a.py; python3 -c 'import tools.a; print(tools.a.x)'; \
               python3 -c 'import host_tools; print(host_tools.weather(\"Bern\")[\"degrees\"])'";
    assert_eq!(sh(&s, own), "1\n21.5\n");
    let s = engine(Isolation::Threads).session(policy()).unwrap();
    assert!(
        sh(&s, "python3 -c 'import tools'")
            .contains("ModuleNotFoundError: No module named 'tools'")
    );
    assert_eq!(sh(&s, "tool; tool x"), "tool: this session's host has no tools\n[127]");
}

#[test]
fn javascript_calls_tools() {
    for isolation in BOTH {
        let (s, _) = usual(isolation);
        let code = "const tools = require('tools'); const { weather } = tools;\n\
                    (async () => { console.log((await weather({ city: 'Bern' })).degrees, Object.keys(tools).includes('big'));\n\
                    console.log((await tools.big({ n: 3000000 })).length, (await tools['get-user.name']({ a: 1 })).a);\n\
                    await weather({ city: 'Atlantis' }).catch((e) => console.log(e.name, e.code, e.message)); })()";
        let run = format!("cat > /tmp/a.js <<'E'\n{code}\nE\nnode /tmp/a.js");
        assert_eq!(
            sh(&s, &run),
            "21.5 true\n3000000 1\nToolError ERR_TOOL_FAILED no station there\n"
        );
    }
}

#[test]
fn a_caller_that_gives_up_ends_the_tool() {
    for isolation in BOTH {
        let (s, counts) = usual(isolation);
        let dropped = |n: usize| {
            eventually("the future is dropped", || counts.dropped.load(Ordering::SeqCst) == n);
        };
        // The guest ends, while its session's call still runs.
        assert_eq!(sh(&s, "timeout 0.5 tool wait; echo $?"), "124\n");
        dropped(1);
        let code = "import asyncio\nfrom tools.aio import wait\n\
                    async def f():\n    try:\n        await asyncio.wait_for(wait(), 0.3)\n    except TimeoutError:\n        return 'late'\n\
                    asyncio.run(f())";
        assert_eq!(py(&s, code), "'late'");
        dropped(2);
        // The call ends while tools are running, first by itself and then by an interrupt.
        assert_eq!(sh(&s, "tool wait & sleep 0.3; kill -9 $!; echo over"), "over\n");
        dropped(3);
        let handle = s.interrupter();
        let waits = counts.clone();
        let ending = std::thread::spawn(move || {
            eventually("it waits", || waits.waits.load(Ordering::SeqCst) == 4);
            handle.interrupt();
        });
        assert_eq!(s.exec("tool wait").unwrap().exit_code, 130);
        ending.join().unwrap();
        dropped(4);
        // The session works as before.
        assert_eq!(sh(&s, "tool count"), "0\n");
    }
}

#[test]
fn limits_are_kept() {
    for isolation in BOTH {
        let counts = Arc::<Counts>::default();
        let limits = HostToolPolicy {
            allow: Some(vec!["w*".into(), "big".into(), "count".into()]),
            deny: vec!["wrong".into()],
            calls: 5,
            timeout: Some(Duration::from_millis(300)),
            arguments: 100,
            result: 1000,
            ..HostToolPolicy::default()
        };
        let s = session(isolation, tools(&counts), limits);
        assert_eq!(
            sh(&s, "tool --json | jq -c '[.[].name]'"),
            "[\"big\",\"count\",\"wait\",\"weather\"]\n"
        );
        assert_eq!(sh(&s, "tool wrong"), "tool: the policy does not allow the tool 'wrong'\n[126]");
        assert_eq!(sh(&s, "tool nap"), "tool: the policy does not allow the tool 'nap'\n[126]");
        assert_eq!(sh(&s, "tool wait"), "tool: wait: the tool took longer than 0.3 s\n[1]");
        eventually("it is dropped", || counts.dropped.load(Ordering::SeqCst) == 1);
        assert_eq!(sh(&s, "tool big --n 998 | wc -c"), "1001\n");
        assert_eq!(
            sh(&s, "tool big --n 999"),
            "tool: big: the result has 1001 bytes, of 1000 at most\n[1]"
        );
        let long = "tool weather $(printf %0200d 1)";
        assert_eq!(
            sh(&s, long),
            "tool: weather: the arguments have 211 bytes, of 100 at most\n[1]"
        );
        let many = "for i in 1 2 3 4 5 6; do tool count; done";
        assert_eq!(
            sh(&s, many),
            "0\n1\n2\n3\n4\ntool: count: more than 5 calls of tools in one call of the session\n[1]"
        );
        // The limit of the next call is separate.
        assert_eq!(sh(&s, "tool count"), "5\n");
        let s = session(
            isolation,
            tools(&counts),
            HostToolPolicy { bytes: 50, ..HostToolPolicy::default() },
        );
        assert!(sh(&s, "tool big --n 60").contains("more than 50 bytes of arguments and results"));
        let s = session(
            isolation,
            tools(&counts),
            HostToolPolicy { at_once: 1, ..HostToolPolicy::default() },
        );
        let begun = Instant::now();
        assert_eq!(sh(&s, "for i in 1 2 3; do tool nap & done; wait").lines().count(), 3);
        assert!(begun.elapsed() >= Duration::from_millis(900), "one after another");
    }
}

/// Tests messages, written byte by byte, that none of our tools sends.
#[test]
fn guests_that_lie_harm_nobody() {
    for isolation in BOTH {
        let (s, counts) = usual(isolation);
        py(
            &s,
            "import os, json\n\
             def ask(message):\n\
             \x20   fd = os.open('/.box/tools', os.O_RDWR)\n\
             \x20   try:\n\
             \x20       while message:\n\
             \x20           message = message[os.write(fd, message):]\n\
             \x20       out = b''\n\
             \x20       while piece := os.read(fd, 1 << 16):\n\
             \x20           out += piece\n\
             \x20       return out\n\
             \x20   finally:\n\
             \x20       os.close(fd)\n\
             def call(name, text):\n\
             \x20   return ask(bytes([2]) + len(name).to_bytes(2, 'little') + name + text)",
        );
        for (asked, answer) in [
            ("ask(b'zz')", "b'\\x03\\x07not a request'"),
            ("ask(b'\\x01')", "b'\\x03\\x07not a request'"),
            ("ask(b'\\x01' + b'\\xff' * 4)", "b'\\x01\\x00'"),
            ("ask(b'\\x03' + bytes(16))", "b'\\x03\\x07there is no such result'"),
            ("ask(b'\\x02\\xff\\xffname')", "b'\\x03\\x07not a request'"),
            ("call(b'\\xff\\xfe', b'{}')[:2]", "b'\\x03\\x01'"),
            ("call(b'n' * 129, b'{}')", "b'\\x03\\x07not a request'"),
            ("call(b'weather', b'[1]')", "b'\\x03\\x02the arguments are no object of JSON'"),
            ("call(b'weather', b'\\xff')[:2]", "b'\\x03\\x02'"),
            (
                "call(b'count', b'{\"a\":' * 50000)",
                "b'\\x03\\x02the arguments are deeper than 64 levels'",
            ),
            (
                "call(b'count', b'[' * 1000000)",
                "b'\\x03\\x02the arguments are deeper than 64 levels'",
            ),
            (
                "call(b'count', b'{\"a\":[' + b'1,' * 500000 + b'1]}')",
                "b'\\x03\\x02the arguments have more than 100000 values'",
            ),
            ("call(b'count', b' ' * (1 << 20))[-1:]", "b'0'"),
            ("call(b'count', b' ' * ((1 << 20) + 1))", "b'\\x03\\x07not a request'"),
        ] {
            assert_eq!(py(&s, asked), answer, "{asked}");
        }
        let long = "import errno\ntry:\n    ask(bytes(2 << 20))\nexcept OSError as e:\n    print(e.errno == errno.EFBIG or e)";
        assert_eq!(py(&s, long).trim(), "True");
        // A result that is not read to its end is released. Then come thousands of calls, and calls
        // whose results are not read.
        let code =
            "for _ in range(300): call(b'big', b'{\"n\": 400000}')[:1] == b'\\x02' or print('no')";
        let told = py(&s, code);
        assert!(told.contains("no"), "64 MiB are kept at most: {told:.100}");
        let code = "sum(call(b'count', b'')[:1] == b'\\x02' for _ in range(1500))";
        assert_eq!(py(&s, code), "1000", "the policy's limit");
        let code = "fds = [os.open('/.box/tools', os.O_RDWR) for _ in range(90)]\n\
                    import select\np = select.poll()\n\
                    for fd in fds: os.write(fd, b'\\x02\\x04\\x00wait{}'), p.register(fd, select.POLLIN)\n\
                    p.poll(300)\n[os.close(fd) for fd in fds]; 'closed'";
        assert_eq!(py(&s, code), "'closed'");
        eventually("all are dropped", || {
            counts.waits.load(Ordering::SeqCst) == counts.dropped.load(Ordering::SeqCst)
        });
        assert_eq!(sh(&s, "tool weather Bern | jq .degrees"), "21.5\n");
    }
}

#[test]
fn calls_are_logged_and_missing_tools_are_reported() {
    let engine = engine(Isolation::Process);
    let dir = tempfile::tempdir().unwrap();
    let store = engine.store(&dir.path().join("w.wbx")).unwrap();
    let s = store.create("a", policy()).unwrap();
    let counts = Arc::default();
    s.set_tools(tools(&counts)).unwrap();
    sh(&s, "tool weather Bern; tool weather Atlantis; tool nope");
    let mut log: Vec<Value> = Vec::new();
    s.audit(&mut |_, entry| log.push(serde_json::from_str(entry).unwrap())).unwrap();
    log.retain(|e| e["event"] == "tool");
    let told: Vec<_> = log.iter().map(|e| (&e["tool"], &e["arguments"], &e["failure"])).collect();
    assert_eq!(
        json!(told),
        json!([
            ["weather", "{\"city\":\"Bern\"}", null],
            ["weather", "{\"city\":\"Atlantis\"}", "tool"],
            ["nope", "{}", "unknown"],
        ])
    );
    assert_eq!(
        (log[0]["received"].clone(), log[1]["error"].clone()),
        (json!(40), json!("no station there"))
    );
    // A fork has the tools; a snapshot does not.
    let fork = s.fork("b").unwrap();
    assert_eq!(sh(&fork, "tool weather Bern | jq .degrees"), "21.5\n");
    let mut snapshot = Vec::new();
    s.snapshot(false, &mut snapshot).unwrap();
    let there = store.import("c", &*snapshot, policy()).unwrap();
    let missing = "the tool 'weather' is missing: the session had it where it ran before, and its host has not registered it here";
    assert_eq!(sh(&there, "tool; tool weather Bern"), format!("tool: {missing}\n[127]"));
    assert_eq!(
        py(
            &there,
            "import host_tools\ntry: host_tools.call('weather')\nexcept LookupError as e: print(e)"
        ),
        format!("{missing}\n")
    );
    there.set_tools([weather()]).unwrap();
    assert_eq!(sh(&there, "tool weather Bern | jq .degrees"), "21.5\n");
    assert!(matches!(s.set_tools([weather(), weather()]), Err(wasibox::Error::Tool(_))));
}

/// Tests the tools of a server of the Model Context Protocol, which is our own at its standard
/// streams.
#[test]
fn servers_are_sources_of_tools() {
    let run = |from: &str, script: &str| {
        let image = dist().join("image.webc");
        let mut command = std::process::Command::new(dist().join("runner"));
        command.args(["exec", "--tools-from", from]).arg(&image).args(["--", "sh", "-c", script]);
        let done = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    let (runner, image) = (dist().join("runner"), dist().join("image.webc"));
    let from = format!("box=stdio:'{}' mcp --image '{}'", runner.display(), image.display());
    let script = "tool --list | grep -c '^box.'; tool box.calculate '6*7' | grep -o 42 | head -1\n\
                  python3 -c 'import tools; print(len(tools.box_write_file(path=\"a\", content=\"x\")) > 0)'\n\
                  tool box.read_file no-such-file; echo $?; tool box.calculate; echo $?";
    let (status, out, err) = run(&from, script);
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(status, Some(0), "{out}{err}");
    assert!(lines[0].parse::<usize>().is_ok_and(|n| n > 20), "{out}{err}");
    assert_eq!(lines[1..], ["42", "True", "1", "2"], "{out}{err}");
    assert!(
        err.contains("tool: box.read_file: ") && err.contains("tool: box.calculate: "),
        "{err}"
    );
    let (status, _, err) = run("stdio:/no/such/program", "true");
    assert_eq!(status, Some(125));
    assert!(err.contains("/no/such/program"), "{err}");
    assert_eq!(run("ftp://x", "true").0, Some(2));
}
