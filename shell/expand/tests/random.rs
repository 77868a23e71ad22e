//! Random snippets compared with bash 5.2. The seed is fixed, so a failure repeats;
//! `EXPAND_RANDOM_COUNT` and `EXPAND_RANDOM_SEED` widen the search.

mod oracle;
mod support;

use oracle::{fixture, here, in_bash};

/// A small generator of numbers (SplitMix64, Steele and others 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Returns up to `most` picks, joined.
    fn text(&mut self, from: &[&str], most: usize) -> String {
        (0..self.below(most + 1)).map(|_| self.pick(from)).collect()
    }
}

/// Puts `'...'` around text without single quotes.
fn quoted(text: &str) -> String {
    format!("'{text}'")
}

const VALUE: &[&str] = &[
    "a", "b", "c", "ab", " ", "  ", ":", "::", "*", "?", ".", "/", "é", "\\", "-", "[", "]", "&",
    "A",
];
const PATTERN: &[&str] = &[
    "a",
    "b",
    "c",
    "*",
    "?",
    "[ab]",
    "[!a]",
    "[a-c]",
    "\\*",
    "\\a",
    "\"*\"",
    "'?'",
    "é",
    ".",
    ":",
    "@(a|b)",
    "*(a)",
    "+(b|c)",
    "?(ab)",
    "!(a)",
    "!(*b)",
    "+(a|*(b))",
    "[[:alpha:]]",
    "[[:upper:]]",
    "[",
    "]",
    "$q",
    "\"$q\"",
    "[^b]",
    "[]a]",
    "\\\\",
];

fn splitting(r: &mut Random) -> String {
    let ifs = r.pick(&[
        "",
        "unset IFS;",
        "IFS=;",
        "IFS=:;",
        "IFS=' :';",
        "IFS=a;",
        "IFS=': ';",
        "IFS='b:';",
    ]);
    let mut setup =
        format!("{ifs} x={}; y={};", quoted(&r.text(VALUE, 5)), quoted(&r.text(VALUE, 3)));
    let items: Vec<String> = (0..r.below(4)).map(|_| quoted(&r.text(VALUE, 2))).collect();
    setup.push_str(&format!(" set -f -- {0}; set -f; set -- {0}; a=({0});", items.join(" ")));
    let setup = setup.replacen("set -f -- ", "set -- ", 1);
    const PART: &[&str] = &[
        "$x",
        "$y",
        "\"$x\"",
        "\"$y\"",
        "a",
        "\"\"",
        "''",
        "$@",
        "\"$@\"",
        "$*",
        "\"$*\"",
        "${a[@]}",
        "\"${a[@]}\"",
        "${a[*]}",
        "\"${a[*]}\"",
        "$u",
        "\"$u\"",
        "${u-$x}",
        "${u-\"$x\"}",
        "\"${u-$x}\"",
        "${u:-a b}",
        "${x:+$y}",
        "\"${x:-$@}\"",
        "\"${u-$@}\"",
        "\"a$@b\"",
        "${x#a}",
        "\"${@#a}\"",
        "${@/a/b}",
        "${#x}",
        "${x:1}",
        "\"${x:1:2}\"",
        "${@:2}",
        "\"${@:2}\"",
        "b\\ c",
        "${u+x}",
        "${x+\"a b\"}",
        "\"${a[@]:1}\"",
        "\"$@$x\"",
        "\"$x$@\"",
        "\"${*}x\"",
        "\"${u-a$*b}\"",
        "\"${a[@]/#/-}\"",
    ];
    // bash joins the result of an operator on a quoted `@` list by `IFS` where it is not split.
    let is_made = |part: &&&str| ["{@#", "/#/", "{@:2", "[@]:1"].iter().any(|op| part.contains(op));
    let plain: Vec<&str> = PART.iter().filter(|part| !is_made(part)).copied().collect();
    let word = |r: &mut Random, from: &[&str]| {
        (0..1 + r.below(3)).map(|_| r.pick(from)).collect::<String>()
    };
    let words = [word(r, PART), word(r, PART)].join(" ");
    let value = word(r, &plain);
    format!("{setup} p {words}; v={value}; p \"$v\"; cat <<<{value}")
}

fn editing(r: &mut Random) -> String {
    let x = quoted(&r.text(VALUE, 6));
    let q = quoted(&r.text(&["*", "?", "a", "[b]", "\\", "&"], 2));
    let pattern = r.text(PATTERN, 3);
    let replacement = r.text(&["x", "&", "\\&", "\"&\"", "$q", "\"$q\"", "\\\\", "'&'", "-"], 3);
    // An empty pattern before a slash would have a different meaning: `${x///y}` replaces slashes.
    let pattern = if pattern.is_empty() { "b".into() } else { pattern.replace('/', "\\/") };
    let op = match r.below(10) {
        0 => format!("#{pattern}"),
        1 => format!("##{pattern}"),
        2 => format!("%{pattern}"),
        3 => format!("%%{pattern}"),
        4 => format!("/{pattern}/{replacement}"),
        5 => format!("//{pattern}/{replacement}"),
        6 => format!("/#{pattern}/{replacement}"),
        7 => format!("/%{pattern}/{replacement}"),
        8 => format!("{}{pattern}", r.pick(&["^", "^^", ",", ","])),
        _ => format!("//{pattern}"),
    };
    format!(
        "set -f; x={x}; q={q}; p \"${{x{op}}}\"; p ${{x{op}}}; set -- \"$x\" b; p \"${{@{op}}}\""
    )
}

fn matching(r: &mut Random) -> String {
    let x = quoted(&r.text(VALUE, 5));
    let q = quoted(&r.text(&["*", "?", "a", "[b]", "\\"], 2));
    let pattern = r.text(PATTERN, 4);
    format!(
        "x={x}; q={q}; [[ $x == {pattern} ]] && p yes || p no; [[ $x != \"$q\"{pattern}* ]] && p yes || p no"
    )
}

fn arithmetic(r: &mut Random) -> String {
    const TOKEN: &[&str] = &[
        "1", "2", "3", "0", "7", "010", "0x1f", "x", "y", "z", "u", "a[1]", "a[x]", "$x", "$y",
        "(", ")", "+", "-", "*", "/", "%", "**", "<<", ">>", "<", ">", "<=", "==", "!=", "&", "|",
        "^", "&&", "||", "!", "~", "?", ":", ",", "=", "+=", "-=", "*=", "++", "--", " ", "2#11",
        "08", "a[0]", "A[k]",
    ];
    let expr = if r.below(3) == 0 { r.text(TOKEN, 6) } else { expression(r, 3) };
    // The expression has no `((`, because bash may read a subshell. For `let` it has no `$`, which
    // is a syntax error there, because bash evaluates the text before it.
    let names = expr.replace('$', "");
    format!(
        "x=3 y=-2 z='x+1'; a=(4 5 6); declare -A A; A[k]=9; p $(({expr})) $x $y $z \"${{a[@]}}\"; let '{names}'; p $x $y $z \"${{a[@]}}\""
    )
}

fn expression(r: &mut Random, depth: usize) -> String {
    let leaf = [
        "1", "2", "0", "x", "y", "z", "$x", "$y", "a[1]", "a[x-2]", "u", "x++", "--y", "17", "-1",
        "A[k]",
    ];
    if depth == 0 {
        return r.pick(&leaf).to_string();
    }
    match r.below(9) {
        0 => r.pick(&leaf).to_string(),
        1 => format!("({})", expression(r, depth - 1)),
        2 => format!("{}{}", r.pick(&["-", "!", "~", "+", "- "]), expression(r, depth - 1)),
        3 => {
            let (c, a, b) =
                (expression(r, depth - 1), expression(r, depth - 1), expression(r, depth - 1));
            format!("{c} ? {a} : {b}")
        }
        4 => {
            let op = r.pick(&["=", "+=", "-=", "*=", "/=", "%=", "<<=", "|="]);
            format!(
                "({} {op} {})",
                r.pick(&["x", "y", "a[1]", "a[2]", "u"]),
                expression(r, depth - 1)
            )
        }
        _ => {
            let op = r.pick(&[
                "+", "-", "*", "/", "%", "<<", "<", ">", "==", "&", "|", "^", "&&", "||", ",",
            ]);
            format!("{} {op} {}", expression(r, depth - 1), expression(r, depth - 1))
        }
    }
}

fn braces(r: &mut Random) -> String {
    const TOKEN: &[&str] = &[
        "{", "}", "{", "}", ",", ",", "..", "a", "b", "1", "3", "05", "-2", "$x", "\"q,\"", "\\,",
        "\\}", "c", "{}", "{a,b}", "{1..3}", "''", "~",
    ];
    let words: Vec<String> = (0..3).map(|_| r.text(TOKEN, 8)).collect();
    format!("x=X xa=Y; p {}", words.join(" "))
}

fn paths(r: &mut Random) -> String {
    const TOKEN: &[&str] = &[
        "*",
        "?",
        "a",
        ".",
        "c",
        "/",
        "d",
        "e",
        "[a-d]",
        "[!a]",
        "**",
        "\\*",
        "\"*\"",
        "@(a|b)",
        "!(a*)",
        "*(?)",
        "x[1]",
        "\\[",
        "link",
        ".hid",
        "g",
        "k/",
        "{a,b}",
        "é",
        "[[:alpha:]]",
    ];
    const OPTION: &[&str] = &[
        "",
        "",
        "shopt -s globstar;",
        "shopt -s dotglob;",
        "shopt -s nullglob;",
        "shopt -s nocaseglob;",
    ];
    let (first, second) = (r.text(TOKEN, 4), r.text(TOKEN, 5));
    // A pattern that begins at the root would show the machine's own files.
    format!(
        "{}p ./{first} x{second}; v='{}'; p $v",
        r.pick(OPTION),
        r.text(&["*", "?", "a", "\\", ".c", "[", "]"], 4)
    )
}

fn compare(name: &str, make: impl Fn(&mut Random) -> String) {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
    };
    let dir = fixture();
    let mut random = Random(number("EXPAND_RANDOM_SEED", 2));
    let mut failures = 0;
    for _ in 0..number("EXPAND_RANDOM_COUNT", 150) {
        let snippet = make(&mut random);
        let (expected, got) = (in_bash(&dir, &snippet), here(&dir, &snippet));
        // The message for a script that bash cannot even parse is the parser's concern.
        if expected.1.contains("-c: line")
            || expected.1.contains("syntax error near")
            || got.1.contains("NOT RUN")
        {
            continue;
        }
        if expected != got {
            failures += 1;
            println!("--- {snippet}\nbash: {}{}ours: {}{}", expected.0, expected.1, got.0, got.1);
        }
    }
    assert_eq!(failures, 0, "{failures} random snippets ({name}) differ from bash");
}

macro_rules! kinds {
    ($($kind:ident,)*) => {
        mod test {
            $(#[test] fn $kind() { super::compare(stringify!($kind), super::$kind); })*
        }
    };
}

kinds! { splitting, editing, matching, arithmetic, braces, paths, }
