//! The analysis of small scripts, read from its JSON as a caller would.

use serde_json::Value;
use sh_analyze::{AnalyzeOptions, CommandNames, analyze_script};

struct Image;

impl CommandNames for Image {
    fn is_builtin(&self, name: &[u8]) -> bool {
        [&b"echo"[..], b"eval", b"trap", b"cd", b"command", b"exec", b"read", b"declare", b"local"]
            .contains(&name)
    }

    fn is_program(&self, name: &[u8]) -> bool {
        [
            &b"rm"[..],
            b"cat",
            b"echo",
            b"sh",
            b"bash",
            b"xargs",
            b"find",
            b"env",
            b"cp",
            b"sed",
            b"sort",
            b"tee",
        ]
        .contains(&name)
    }
}

fn report(script: &str) -> Value {
    let json = analyze_script(script.as_bytes(), AnalyzeOptions::default(), &Image).to_json();
    serde_json::from_str(&json).unwrap_or_else(|e| panic!("{script}: {e}\n{json}"))
}

fn text(v: &Value, key: &str) -> String {
    let dynamic = if v["dynamic"] == true { "?" } else { "" };
    format!("{}{dynamic}", v[key].as_str().unwrap_or_default())
}

/// Returns `name:kind arg arg` for each command, with `?` after a word that is not static.
fn commands(script: &str) -> Vec<String> {
    let list = report(script)["commands"].clone();
    list.as_array()
        .unwrap()
        .iter()
        .map(|c| {
            let args =
                c["args"].as_array().unwrap().iter().map(|a| format!(" {}", text(a, "text")));
            let more = if c["more_args"] == true { " ..." } else { "" };
            let args: String = args.collect();
            format!("{}:{}{args}{more}", text(c, "name"), c["kind"].as_str().unwrap())
        })
        .collect()
}

fn files(script: &str) -> Vec<String> {
    let list = report(script)["files"].clone();
    let show = |f: &Value| format!("{} {}", f["access"].as_str().unwrap(), text(f, "path"));
    list.as_array().unwrap().iter().map(show).collect()
}

fn unknowns(script: &str) -> Vec<String> {
    let list = report(script)["unknowns"].clone();
    let show =
        |u: &Value| format!("{}: {}", u["what"].as_str().unwrap(), u["text"].as_str().unwrap());
    list.as_array().unwrap().iter().map(show).collect()
}

fn variables(script: &str) -> Vec<String> {
    let list = report(script)["variables"].clone();
    let show = |v: &Value| format!("{} {}", v["by"].as_str().unwrap(), text(v, "name"));
    list.as_array().unwrap().iter().map(show).collect()
}

#[test]
fn names_and_arguments() {
    assert_eq!(
        commands("f() { rm \"$1\"; }; f x; ./run 'a b' *.c; nope; $x y"),
        [
            "rm:applet \"$1\"?",
            "f:function x",
            "./run:path a b *.c",
            "nope:unknown",
            "$x?:unknown y"
        ]
    );
    let r = report("ls *.c ~/x 'a*'");
    let expands = |i: usize| r["commands"][0]["args"][i]["expands"] == true;
    assert_eq!([expands(0), expands(1), expands(2)], [true, true, false]);
    assert_eq!(report("a\nb\n\n if c; then d; fi")["commands"][3]["line"], 4);
}

#[test]
fn nested_code() {
    for (script, want) in [
        ("eval 'rm a'", "eval"),
        ("trap 'rm a' EXIT", "trap EXIT"),
        ("bash -c 'rm a'", "bash -c"),
        ("sh <<'E'\nrm a\nE", "sh <<"),
        ("sh <<< 'rm a'", "sh <<"),
        ("x=$(rm a)", "substitution"),
        ("x=\"${y:-`rm a`}\"", "substitution"),
        (": $((1 + $(rm a)))", "substitution"),
        ("a[$(rm a)]=1", "substitution"),
        ("cat <<E\n$(rm a)\nE", "substitution"),
        ("cat <(rm a)", "process substitution"),
        ("(rm a)", "subshell"),
        ("rm a | cat", "pipeline"),
        ("rm a &", "background"),
        ("f() { rm a; }", "function f"),
        ("while rm a; do :; done", "loop"),
        ("coproc rm a", "coproc"),
        ("env -i A=1 rm a", "env"),
        ("timeout -s KILL 5 rm a", "timeout"),
        ("find . -exec rm a ';'", "find -exec"),
        ("nice -n 5 rm a", "nice"),
        ("command rm a", "command"),
        ("exec rm a", "exec"),
        ("sed '1e rm a'", "sed e"),
        ("[[ $(rm a) ]]", "substitution"),
        ("case $(rm a) in x) ;; esac", "substitution"),
        ("for ((i=$(rm a);;)); do :; done", "substitution"),
        ("x=(1 $(rm a))", "substitution"),
        ("> $(rm a)", "substitution"),
    ] {
        let r = report(script);
        let found = r["commands"].as_array().unwrap().iter().find(|c| c["name"] == "rm");
        let found = found.unwrap_or_else(|| panic!("{script}: {r:#}"));
        assert_eq!(found["args"][0]["text"], "a", "{script}");
        let context = found["context"].as_array().unwrap();
        assert_eq!(context.last().unwrap(), want, "{script}");
    }
    // A name that another program looks up is not a function or builtin of this shell.
    assert_eq!(
        commands("rm() { :; }; xargs rm -f; rm")[1..],
        ["xargs:applet rm -f", "rm:applet -f ...", "rm:function"]
    );
}

#[test]
fn unknown_code() {
    for (script, want) in [
        ("eval \"$x\"", "eval: \"$x\""),
        ("bash -c \"$x\"", "code: \"$x\""),
        (". ./lib.sh", "script file: ./lib.sh"),
        ("bash run.sh a", "script file: run.sh"),
        ("curl x | sh", "standard input as script: sh"),
        ("trap \"$x\" EXIT", "code: \"$x\""),
        ("awk 'BEGIN { system(\"ls\") }'", "program text: BEGIN { system(\"ls\") }"),
        ("python3 -c 'import os'", "program text: import os"),
        ("python3 run.py", "script file: run.py"),
        ("sed s/a/b/e", "program text: s/a/b/e"),
        ("echo ${x@P}", "prompt expansion: ${x@P}"),
    ] {
        assert_eq!(unknowns(script), [want], "{script}");
        assert_eq!(report(script)["complete"], false);
    }
    for script in
        ["echo a", "bash --version; python3 --version", "sed -n '/e/,$p;s/w/e/g'", "trap - EXIT"]
    {
        assert_eq!(unknowns(script), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn file_uses() {
    for (script, want) in [
        ("cat < in > out", &["read in", "write out"][..]),
        ("echo x >> log 2>/dev/null >&2", &["write log"]),
        ("x=$(< in)", &["read in"]),
        ("cp -r a b dir/", &["write dir/", "read a", "read b"]),
        ("mv a b", &["write b", "delete a"]),
        ("cp -t dir a", &["write dir", "read a"]),
        ("rm -rf \"$d\" x", &["delete \"$d\"?", "delete x"]),
        ("grep -n pat f1 f2", &["read f1", "read f2"]),
        ("grep -e pat -f pats f1", &["read pats", "read f1"]),
        ("head -n 3 f", &["read f"]),
        ("sed -i s/a/b/ f", &["read f", "write f"]),
        ("sed -n -e 's/a/b/w out' f", &["write out", "read f"]),
        ("tar czf x.tgz dir", &["write x.tgz", "read dir"]),
        ("tar -xf x.tgz -C /opt", &["read x.tgz", "write /opt"]),
        ("dd if=a of=b bs=1", &["read a", "write b"]),
        ("find src -delete", &["read src", "delete src"]),
        ("uniq a b", &["read a", "write b"]),
        ("gzip a", &["read a", "delete a"]),
        ("gzip -c a", &["read a"]),
        ("cat <(echo a)", &["read <(echo a)?"]),
        ("cat() { :; }; cat f", &[]),
        ("echo a >&out", &["write out"]),
        ("xargs -a list rm", &["read list", "delete ?"]),
    ] {
        assert_eq!(files(script), want, "{script}");
    }
}

#[test]
fn assigned_variables() {
    assert_eq!(
        variables("a=1 b+=2; c[3]=4; d=(5)"),
        ["assignment a", "assignment b", "assignment c", "assignment d"]
    );
    assert_eq!(
        variables("PATH=/x cat; declare -i n=1 m; local l=$1; read -r x y"),
        ["environment PATH", "declare n", "declare m", "local l", "read x", "read y"]
    );
    assert_eq!(
        variables("for i in 1; do :; done; ((j = 1, k++)); : ${v:=w}; exec {fd}>f"),
        ["for i", "arithmetic j", "arithmetic k", "expansion v", "redirection fd"]
    );
}

#[test]
fn syntax_errors() {
    let r = report("echo a\nif true; then )\n");
    assert_eq!(r["errors"][0]["message"], "syntax error near unexpected token `)'");
    assert_eq!(r["errors"][0]["line"], 2);
    // The commands before it would have run.
    assert_eq!(r["commands"][0]["name"], "echo");
    let r = report("bash -c 'fi'");
    assert_eq!(r["errors"][0]["context"][0], "bash -c");
}

#[test]
fn reading_as_the_shell_does() {
    assert_eq!(commands("shopt -s extglob\ncat @(a|b)")[1], "cat:applet @(a|b)");
    assert_eq!(commands("shopt -s expand_aliases\nalias del='rm -f'\ndel x")[2], "rm:applet -f x");
    assert_eq!(commands("alias del='rm -f'\ndel x")[1], "del:unknown x");
}

/// Every text takes only bounded time and stack.
#[test]
fn hostile() {
    let deep = format!("{}rm a{}", "$(".repeat(100), ")".repeat(100));
    report(&deep);
    for open in ["(", "$(", "[[ ( ", "{ ", "$((", "${a:-", "a=(", "eval '", "bash -c \""] {
        report(&open.repeat(20_000));
    }
    let mut text = String::from("rm a");
    for _ in 0..12 {
        text = format!("eval {}", shell_quote(&text));
    }
    assert!(unknowns(&text).iter().any(|u| u.starts_with("nesting:")));
    report(&format!("[[ a {} ]]", "&& a".repeat(20_000)));
    report(&format!("(( 1 {} ))", "+ 1".repeat(20_000)));
    analyze_script(b"echo \xff\xfe '\x01' \"$(\xff)\"", AnalyzeOptions::default(), &Image)
        .to_json();
}

fn shell_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The example in the documentation equals the output.
#[test]
fn documented() {
    let doc = include_str!("../../../docs/analyze.md");
    let block = doc.split("```console\n").nth(1).and_then(|b| b.split("```").next()).unwrap();
    let (command, json) = block.split_once('\n').unwrap();
    let script = command
        .strip_prefix("$ runner exec image.webc -- bash --analyze -c '")
        .and_then(|c| c.strip_suffix('\''));
    assert_eq!(
        analyze_script(script.unwrap().as_bytes(), AnalyzeOptions::default(), &Image).to_json(),
        json
    );
}
