//! Patterns and regular expressions of `[[ ]]` compared with the output of bash 5.2 under `set -x`.

mod support;

use std::process::Command;

use sh_syntax::ast::{CommandKind, Cond, CondOp};
use sh_syntax::parse::{ParseOptions, parse_all};
use support::Shell;

const SETUP: &str = "x=a.b; q='[';";

const OPERANDS: &[&str] = &[
    "=~ $x",
    "=~ \"$x\"",
    "=~ a\".\"b",
    "=~ 'a b'.*\\.",
    "=~ [\"$x\"]c",
    "=~ [a\"]\"b]",
    "=~ ^\"^\"$",
    "=~ \"a-b/c,d\"",
    "=~ \\[x\\]",
    "=~ [[:alpha:]\".\"]+",
    "=~ \\d\\\\",
    "=~ \"é(\"",
    "=~ a\\ b",
    "=~ \"{}|\"",
    "=~ [\\.]",
    "=~ [\"-\"a]",
    "=~ (a|\"(b\")",
    "=~ \"$q\"$x",
    "=~ 'a\"b#~!%=@:`'",
    "=~ [^]\"*\"]*\"*\"",
    "== a\"*\"*\\?",
    "== \"$x\"[a\"-\"b]",
    "== \"a b\"$x",
    "== 'é'?",
    "== $q\"$q\"",
];

fn in_bash(operand: &str) -> String {
    let script = format!("{SETUP} set -x; [[ z {operand} ]]");
    let output = Command::new("bash")
        .args(["-c", &script])
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("bash is needed for this test");
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = shown.lines().find(|l| l.starts_with("+ [[")).unwrap_or_default().to_owned();
    line.trim_start_matches("+ [[ z ").trim_end_matches(" ]]").to_owned()
}

fn ours(operand: &str) -> String {
    let mut shell = Shell::new(std::env::temp_dir());
    shell.run(SETUP).expect("the setup is plain");
    let list = parse_all(format!("[[ z {operand} ]]").as_bytes(), &ParseOptions::default())
        .expect("the operand parses");
    let CommandKind::Cond(Cond::Binary(op, _, word)) =
        &list.items[0].and_or.first.stages[0].command.kind
    else {
        return "no condition".into();
    };
    let text = match op {
        CondOp::Regex => sh_expand::expand_regex(&mut shell, word),
        _ => sh_expand::expand_pattern_traced(&mut shell, word).map(|(_, text)| text),
    };
    let text = text.expect("nothing in it can fail");
    format!("{} {}", operand.split(' ').next().unwrap_or_default(), String::from_utf8_lossy(&text))
}

#[test]
fn quoting_as_bash() {
    for operand in OPERANDS {
        assert_eq!(ours(operand), in_bash(operand), "[[ z {operand} ]]");
    }
}
