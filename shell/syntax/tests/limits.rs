//! Hostile input: an error or a tree, in linear time and little stack, never a panic.

mod common;

use common::{Table, parse};
use sh_syntax::parse::ParseOptions;

fn survives(text: &str) -> bool {
    let options = ParseOptions { extglob: true, ..ParseOptions::default() };
    parse(text, &options, &Table::default()).is_ok()
}

#[test]
fn nesting() {
    let n = 200_000;
    for open in [
        "(",
        "( ",
        "{ ",
        "((",
        "if ",
        "while ",
        "case a in a) ",
        "f() {\n",
        "f() ",
        "! ",
        "time ",
        "$(",
        "$((",
        "${a:-",
        "\"${a:-",
        "`\\",
        "${a[",
        "a[",
        "a=(",
        "a=($(b=(",
        "<(",
        "[[ (",
        "[[ ! ",
        "coproc { ",
        "select x do ",
        "for ((;;)) { ",
        "\"$(",
        "echo `(",
        "function f ",
        "${. ",
        "@(",
        "x=${y/",
        "$[",
        "eval a=(",
        "case x in ((",
    ] {
        survives(&format!("echo {}", open.repeat(n)));
        survives(&format!("[[ {}", open.repeat(n)));
        assert!(!survives(&open.repeat(n)) || matches!(open, "! " | "time "), "{open}");
    }
}

/// The limit leaves room for any hand-written script.
#[test]
fn honest_nesting() {
    for (open, inside, close) in [
        ("( ", "a", " )"),
        ("{ ", "a;", " };"),
        ("if a; then ", "b;", " fi;"),
        ("$(echo ", "a", ")"),
        ("${a:-", "b", "}"),
        ("\"${a:-", "b", "}\""),
        ("$((1+", "2", "))"),
        ("$(( (", "1", ") ))"),
    ] {
        let n = 60;
        let text = format!("{}{inside}{}", open.repeat(n), close.repeat(n));
        assert!(
            survives(&format!(
                "echo; {}",
                if open.starts_with(['$', '"']) { format!("echo {text}") } else { text.clone() }
            )),
            "{text}"
        );
    }
}

#[test]
fn size() {
    let big = [
        format!("echo {}", "x".repeat(1_000_000)),
        format!("echo '{}'", "x\n".repeat(500_000)),
        format!("echo \"{}\"", "x $y\n".repeat(100_000)),
        "echo hello $x\n".repeat(100_000),
        "cat <<E\nbody $x\nE\n".repeat(10_000),
        format!("f() {{\n{}}}\n", "cat <<E\nbody $x\nE\n".repeat(10_000)),
        format!("cat {}\n{}", "<<E ".repeat(10_000), "b\nE\n".repeat(10_000)),
        format!("echo $((1{}))", "+1-2".repeat(100_000)),
        format!("echo $((1{}))", ",1".repeat(100_000)),
        format!("[[ a {} ]]", "|| b".repeat(50_000)),
        format!("a=({})", "[1]=2 ".repeat(100_000)),
        format!("echo {}", "$(a)".repeat(30_000)),
        format!("echo {}", "${a b}".repeat(50_000)),
        format!("if a; then b; {}fi", "elif c; then d; ".repeat(30_000)),
        format!("echo {}", "a\\\n".repeat(100_000)),
        "a;".repeat(100_000),
    ];
    for text in &big {
        assert!(survives(text), "{}", text.chars().take(40).collect::<String>());
    }
}

/// `$((` that is not arithmetic is tried once per place, not once per path to it.
#[test]
fn ambiguity_is_polynomial() {
    let n = 60;
    survives(&format!("echo {}a{}", "$((".repeat(n), ") )".repeat(n)));
    survives(&format!("{}a{}", "((".repeat(n), ") )".repeat(n)));
}

/// Bytes of all kinds, from a fixed generator.
#[test]
fn noise() {
    let pieces: Vec<&str> = "a b $ ${ } ( ) (( )) [ ] [[ ]] { ; & | < > << <<- \n \\ ' \" ` # ! = += $( $(( case esac in if fi then do done for x ;; ~ @( *( , : / % ^ - 1 <<E E\n \\\n =~ && || time coproc function".split(' ').collect();
    let mut seed = 1u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    let mut good = 0;
    for _ in 0..30_000 {
        let mut text = String::new();
        for _ in 0..random(25) {
            text.push_str(pieces[random(pieces.len())]);
            if random(2) == 0 {
                text.push(' ');
            }
        }
        good += usize::from(survives(&text));
    }
    assert!(good > 1000, "{good}");
}
