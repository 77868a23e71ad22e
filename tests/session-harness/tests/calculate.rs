//! Tests `calculate` of the built image: known answers (tests/calculate/table.toml), refusals, and
//! attempts of clients to affect one another.
//!
//! `check.py` checks the table's answers; it computes them with mpmath, fractions and Python's
//! statistics.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasibox::files::{FileBytes, Request, UploadOf};
use wasibox::policy::ToolSettings;
use wasibox::{Engine, Isolation};
use wasibox_actions::{CalculateAnswer, Machine, MachineOptions, Refusal, RefusalKind, calculate};
use wasibox_sessions::http::serve;
use wasibox_sessions::mcp::Stdio;
use wasibox_sessions::{LONG, options, policy};

fn machine() -> Machine {
    let engine = Engine::new(options(Isolation::Process)).expect("an engine");
    let options = MachineOptions {
        policy: policy(),
        store: None,
        timeout: LONG,
        tools: ToolSettings::default(),
        settings: Arc::default(),
    };
    Machine::new(&engine, options).expect("a machine")
}

fn folder() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../calculate").into()
}

fn table(name: &str) -> toml::Table {
    let text = std::fs::read_to_string(folder().join(name)).expect("a table");
    text.parse().expect("TOML")
}

/// Returns the cases of an array of arrays of strings.
fn cases(part: &toml::Table) -> Vec<Vec<String>> {
    part["cases"].clone().try_into().expect("cases")
}

fn known() -> Vec<[String; 2]> {
    let table = table("table.toml");
    let parts: Vec<toml::Table> = table["class"].clone().try_into().expect("classes");
    let pair = |case: Vec<String>| [case[0].clone(), case[1].clone()];
    parts.iter().flat_map(cases).map(pair).collect()
}

fn result(machine: &Machine, expression: &str) -> String {
    match calculate(machine, expression) {
        Ok(CalculateAnswer { result, .. }) => result,
        Err(Refusal { text, .. }) => format!("refused: {text}"),
    }
}

#[test]
fn known_answers_are_given_in_any_order() {
    let machine = machine();
    let known = known();
    assert!(known.len() >= 200, "{}", known.len());
    let begun = Instant::now();
    // Both directions are run, because earlier questions must make no difference.
    let both = known.iter().chain(known.iter().rev());
    let wrong: Vec<String> = both
        .map(|[expression, expected]| (expression, expected, result(&machine, expression)))
        .filter(|(_, expected, given)| *expected != given)
        .map(|(expression, expected, given)| format!("{expression}: {given}, not {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    println!("{} answers in {:?}", known.len() * 2, begun.elapsed());
}

#[test]
fn known_answers_are_right() {
    let engine = Engine::new(options(Isolation::Process)).expect("an engine");
    let session = engine.session(policy()).expect("a session");
    for name in ["check.py", "table.toml"] {
        let data = FileBytes(std::fs::read(folder().join(name)).expect("a file"));
        let path = format!("/tmp/{name}");
        let upload = UploadOf { path, data, offset: None, mode: None };
        session.files(&Request::Upload(upload)).expect("room");
    }
    let outcome = session.exec("python3 /tmp/check.py /tmp/table.toml").expect("a call");
    let out = String::from_utf8_lossy(&outcome.stdout);
    assert_eq!(outcome.exit_code, 0, "{out}{}", String::from_utf8_lossy(&outcome.stderr));
    assert!(out.contains(" 0 wrong"), "{out}");
}

#[test]
fn what_is_refused_says_why_and_leaves_the_calculator_working() {
    let machine = machine();
    let deep = format!("{}1{}", "(".repeat(400), ")".repeat(400));
    let long = "1+".repeat(500) + "1";
    let more = [[deep.as_str(), "deep"], [long.as_str(), "1001 characters"]];
    let listed = cases(&table("refusals.toml"));
    let listed = listed.iter().map(|case| [case[0].as_str(), case[1].as_str()]);
    for [expression, why] in listed.chain(more) {
        let refusal = calculate(&machine, expression).expect_err(expression);
        assert!(refusal.text.contains(why), "{expression}: {}", refusal.text);
        assert_eq!(refusal.kind, RefusalKind::Invalid, "{expression}");
        assert_eq!(result(&machine, "1 + 1"), "2", "after {expression}");
    }
}

#[test]
fn what_takes_too_long_is_ended() {
    let machine = machine();
    assert_eq!(result(&machine, "1 + 1"), "2");
    let begun = Instant::now();
    // This is a product of two primes of 30 digits.
    let hard = "factor 671998030559713968361666935769 * 282174488599599500573849980909";
    let refusal = calculate(&machine, hard).expect_err("a long time");
    assert_eq!(refusal.kind, RefusalKind::Limit, "{refusal}");
    assert!(refusal.text.contains("longer than 10 seconds"), "{refusal}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(result(&machine, "d/dx x^3"), "3x^2");
}

#[test]
fn every_door_has_it_and_no_session_can_change_it() {
    let mut c = Stdio::begin(&["--read-only"]);
    let asked = json!({"expression": "derivative of x^3 + 2x^2"});
    let told = c.done("calculate", asked.clone());
    assert_eq!(told["expression"], asked["expression"]);
    assert_eq!(told["result"], "3x^2 + 4x");
    assert_eq!(told["steps"].as_array().map(Vec::len), Some(2));
    let refused = c.call("calculate", json!({"expression": "1/0"}));
    assert_eq!(refused["isError"], true);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("division by zero"));
    assert_eq!(c.close(), Some(0));

    let token = "someone-someone-someone";
    let tokens = format!("[[token]]\nname = 'a'\ntoken = '{token}'\n");
    let server = serve(Some(&tokens), None, ToolSettings::default());
    server.json(token, "PUT", "/v1/sessions/w", &Value::Null);
    let spoil = "import sympy; sympy.sin = sympy.cos; sympy.sqrt = None; x = 5; del sympy.Symbol";
    server.tool(token, "w", "execute_python", &json!({"code": spoil}));
    let ask = |expression: &str| {
        server.tool(token, "w", "calculate", &json!({"expression": expression}))["result"].clone()
    };
    assert_eq!(ask("sin(pi/6) + sqrt(4)"), "5/2");
    assert_eq!(ask("x + x"), "2x");
    // A calculation is not a call of the session.
    let history = server.tool(token, "w", "history", &json!({}));
    assert!(!history.to_string().contains("sqrt(4)"), "{history}");
}

#[test]
fn a_second_answer_takes_moments() {
    let machine = machine();
    result(&machine, "1 + 1");
    let mut times: Vec<Duration> = (0..20)
        .map(|n| {
            let begun = Instant::now();
            assert_eq!(result(&machine, &format!("{n} + 1")), (n + 1).to_string());
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    // Even on a busy machine, this is a tenth of the time of a new interpreter.
    assert!(times[10] < Duration::from_millis(200), "{times:?}");
    println!("median {:?}", times[10]);
}
