//! Tests of messages against bash, and of the shapes of trees.

use super::parse;
use crate::ast::{ArithBinary, ArithExpr, ArithPlace};

/// `messages.txt` was made with real bash.
#[test]
fn messages() {
    let mut failed = Vec::new();
    for line in include_str!("messages.txt").lines().filter(|l| !l.starts_with("# ")) {
        let (text, want) = line.split_once("\t|").expect("a tab and a bar");
        let got = match parse(text.as_bytes()) {
            Ok(_) => String::new(),
            Err(e) => e.to_string(),
        };
        // Bash leaves a blank after the token where the input had none.
        if got.trim_end() != want.trim_end() {
            failed.push(format!("{text:?}\n  bash {want:?}\n  ours {got:?}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Returns the prefix notation of an expression.
fn shape(text: &str) -> String {
    fn show(e: &ArithExpr, out: &mut String) {
        match e {
            ArithExpr::Number(n) => out.push_str(&n.to_string()),
            ArithExpr::Variable(place) => variable(place, out),
            ArithExpr::Operand(number) => out.push_str(&format!("${number}")),
            ArithExpr::Unary(op, a) => group(out, &format!("{op:?}"), &[a]),
            ArithExpr::Binary(op, a, b, _) => group(out, &format!("{op:?}"), &[a, b]),
            ArithExpr::LogicalAnd(a, b) => group(out, "And", &[a, b]),
            ArithExpr::LogicalOr(a, b) => group(out, "Or", &[a, b]),
            ArithExpr::Ternary(a, b, c) => group(out, "If", &[a, b, c]),
            ArithExpr::Assign(op, a, b) => {
                let target = ArithExpr::Variable(a.clone());
                group(out, &format!("Set{:?}", op.map(|(op, _)| op)), &[&target, b])
            }
            ArithExpr::Step { increment, prefix, target } => {
                let name = format!(
                    "{}{}",
                    if *prefix { "Pre" } else { "Post" },
                    if *increment { "Inc" } else { "Dec" }
                );
                group(out, &name, &[&ArithExpr::Variable(target.clone())]);
            }
            ArithExpr::Comma(a, b) => group(out, "Comma", &[a, b]),
        }
    }
    fn variable(place: &ArithPlace, out: &mut String) {
        out.push_str(&String::from_utf8_lossy(&place.name));
        if let Some(index) = &place.index {
            out.push_str(&format!("[{}]", String::from_utf8_lossy(&index.raw)));
        }
    }
    fn group(out: &mut String, name: &str, operands: &[&ArithExpr]) {
        out.push('(');
        out.push_str(name);
        for o in operands {
            out.push(' ');
            show(o, out);
        }
        out.push(')');
    }
    let mut out = String::new();
    if let Ok(Some(e)) = parse(text.as_bytes()) {
        show(&e, &mut out);
    }
    out
}

/// Precedence as in bash manual 6.5.
#[test]
fn shapes() {
    for (text, want) in [
        ("1+2*3", "(Add 1 (Mul 2 3))"),
        ("1-2-3", "(Sub (Sub 1 2) 3)"),
        ("2**3**2", "(Pow 2 (Pow 3 2))"),
        ("-2**2", "(Pow (Minus 2) 2)"),
        ("a=b=1", "(SetNone a (SetNone b 1))"),
        ("a+=1,b", "(Comma (SetSome(Add) a 1) b)"),
        ("a?b:c?d:e", "(If a b (If c d e))"),
        ("a&&b||c", "(Or (And a b) c)"),
        ("a|b^c&d==e<f<<g", "(BitOr a (BitXor b (BitAnd c (Equal d (Less e (ShiftLeft f g))))))"),
        ("x+++y", "(Add (PostInc x) y)"),
        ("x---y", "(Sub (PostDec x) y)"),
        ("--x", "(PreDec x)"),
        ("1--2", "(Sub 1 (Minus 2))"),
        ("!~-+a", "(Not (Complement (Minus (Plus a))))"),
        ("a[i+1]++", "(PostInc a[i+1])"),
        ("(1,2)*3", "(Mul (Comma 1 2) 3)"),
        ("0x1F + 010 + 2#101 + 64#_", "(Add (Add (Add 31 8) 5) 63)"),
        ("9223372036854775808", "-9223372036854775808"),
    ] {
        assert_eq!(shape(text), want, "{text}");
    }
    assert_eq!(parse(b" \t\n"), Ok(None));
}

/// A long chain becomes a tree of small depth.
#[test]
fn long_chains_are_shallow() {
    fn depth(e: &ArithExpr) -> usize {
        match e {
            ArithExpr::Binary(_, a, b, _) | ArithExpr::Comma(a, b) => 1 + depth(a).max(depth(b)),
            ArithExpr::Unary(_, a) => 1 + depth(a),
            _ => 0,
        }
    }
    for text in [format!("1{}", "+2-3".repeat(5000)), format!("1{}", ",2".repeat(5000))] {
        let e = parse(text.as_bytes()).expect("parses").expect("not empty");
        assert!(depth(&e) < 128, "{}", depth(&e));
    }
    // The value is the same: 1 + 5000 * (2 - 3).
    fn value(e: &ArithExpr) -> i64 {
        match e {
            ArithExpr::Number(n) => *n,
            ArithExpr::Unary(_, a) => value(a).wrapping_neg(),
            ArithExpr::Binary(ArithBinary::Add, a, b, _) => value(a).wrapping_add(value(b)),
            ArithExpr::Binary(_, a, b, _) => value(a).wrapping_sub(value(b)),
            _ => 0,
        }
    }
    let e =
        parse(format!("1{}", "+2-3".repeat(5000)).as_bytes()).expect("parses").expect("not empty");
    assert_eq!(value(&e), -4999);
}
