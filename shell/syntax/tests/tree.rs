//! Shapes of words and commands. The values follow from the named sections of the bash manual.

mod common;

use common::plain;
use sh_syntax::ast::*;
use sh_syntax::parse::{self, ParseOptions};

/// Returns a compact notation of a word: `L(..)` literal, `Q(..)` quoted, `D[..]` double quotes,
/// `P(..)` parameter, `C` command substitution, `A` arithmetic, `S` process substitution.
fn show(w: &Word) -> String {
    parts(&w.parts)
}

fn text(t: &[u8]) -> String {
    String::from_utf8_lossy(t).into_owned()
}

fn parts(parts_: &[WordPart]) -> String {
    let mut out = String::new();
    for p in parts_ {
        out += &match p {
            WordPart::Literal(t) => format!("L({})", text(t)),
            WordPart::Quoted(t) => format!("Q({})", text(t)),
            WordPart::DoubleQuoted(inner) => format!("D[{}]", parts(inner)),
            WordPart::Param(p) => format!("P({})", param(p)),
            WordPart::CommandSub(c) => match (&c.source, &c.error) {
                (Some(source), _) => format!("C!{}", text(source)),
                (None, Some(e)) => format!("C!{}", text(&e.cause.message())),
                (None, None) => format!("C{}", c.body.items.len()),
            },
            WordPart::Arith(a) => format!("A{}", if a.expr.is_some() { "+" } else { "-" }),
            WordPart::ProcessSub(p) => format!("S{}", if p.read { "<" } else { ">" }),
        };
    }
    out
}

fn param(p: &Param) -> String {
    let mut s = match &p.name {
        ParamName::Variable(v) => text(v),
        ParamName::Positional(n) => n.to_string(),
        ParamName::Special(c) => (*c as char).to_string(),
    };
    if p.indirect {
        s.insert(0, '!');
    }
    match &p.subscript {
        None => {}
        Some(Subscript::At) => s += "[@]",
        Some(Subscript::Star) => s += "[*]",
        Some(Subscript::Expr(a)) => s += &format!("[{}]", show(&a.word)),
    }
    s + &match &p.op {
        ParamOp::Plain => String::new(),
        ParamOp::Length => " len".into(),
        ParamOp::Default { colon, word } => {
            format!(" {}- {}", if *colon { ":" } else { "" }, show(word))
        }
        ParamOp::Assign { colon, word } => {
            format!(" {}= {}", if *colon { ":" } else { "" }, show(word))
        }
        ParamOp::Error { colon, word } => {
            format!(" {}? {}", if *colon { ":" } else { "" }, show(word))
        }
        ParamOp::Alternate { colon, word } => {
            format!(" {}+ {}", if *colon { ":" } else { "" }, show(word))
        }
        ParamOp::RemovePrefix { longest, pattern } => {
            format!(" {} {}", if *longest { "##" } else { "#" }, show(pattern))
        }
        ParamOp::RemoveSuffix { longest, pattern } => {
            format!(" {} {}", if *longest { "%%" } else { "%" }, show(pattern))
        }
        ParamOp::Replace { kind, pattern, replacement } => {
            format!(
                " {kind:?} {} / {}",
                show(pattern),
                replacement.as_ref().map_or("-".into(), show)
            )
        }
        ParamOp::Substring { offset, length } => {
            format!(
                " sub {} {}",
                text(&offset.word.raw),
                length.as_ref().map_or("-".into(), |l| text(&l.word.raw))
            )
        }
        ParamOp::Case { kind, all, pattern } => {
            format!(
                " {kind:?}{} {}",
                if *all { "All" } else { "" },
                pattern.as_ref().map_or("-".into(), show)
            )
        }
        ParamOp::Transform(c) => format!(" @{}", *c as char),
        ParamOp::UnknownTransform => " @?".into(),
        ParamOp::NamesWithPrefix { at } => format!(" names{}", if *at { "@" } else { "*" }),
        ParamOp::Keys { at } => format!(" keys{}", if *at { "@" } else { "*" }),
        ParamOp::Bad => " bad".into(),
    }
}

/// Returns the words after the command name in `: text`.
fn words(source: &str) -> String {
    let list = plain(&format!(": {source}\n"));
    let CommandKind::Simple(s) = &list.items[0].and_or.first.stages[0].command.kind else {
        panic!("{source}")
    };
    let shown = s.words[1..].iter().map(|w| match w {
        CommandWord::Word(w) => show(w),
        CommandWord::Assignment(a) => format!("={}", text(&a.raw)),
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Bash manual 3.1.2.
#[test]
fn quoting() {
    for (source, want) in [
        ("a", "L(a)"),
        ("a\\ b", "L(a)Q( )L(b)"),
        ("'a b'\"c\"d", "Q(a b)D[Q(c)]L(d)"),
        ("''", "Q()"),
        ("\"\"", "D[]"),
        ("\\a\\b", "Q(ab)"),
        ("$'a\\n'", "Q(a\n)"),
        ("$\"a\"", "D[Q(a)]"),
        ("\"\\a\\$\\\"\\`\\\\'\"", "D[Q(\\a$\"`\\')]"),
        ("a\\\nb", "L(ab)"),
        ("\"a\\\nb\"", "D[Q(ab)]"),
        ("'a\\\nb'", "Q(a\\\nb)"),
        ("$ a$ \"$\"", "L($) L(a$) D[Q($)]"),
        ("{a,b}~*?[x]", "L({a,b}~*?[x])"),
    ] {
        assert_eq!(words(source), want, "{source}");
    }
}

/// Bash manual 3.5.3.
#[test]
fn parameters() {
    for (source, want) in [
        ("$a$1$10${10}$@$?$", "P(a)P(1)P(1)L(0)P(10)P(@)P(?)L($)"),
        ("${a}b $a_b \"$a\"", "P(a)L(b) P(a_b) D[P(a)]"),
        ("${a:-b c} \"${a:-b c}\"", "P(a :- L(b c)) D[P(a :- Q(b c))]"),
        ("${a-'b}'\"c}\"} \"${a-'b}'}\"", "P(a - Q(b})D[Q(c})]) D[P(a - Q('b}'))]"),
        ("${a:=b} ${a?} ${a:+$b}", "P(a := L(b)) P(a ? ) P(a :+ P(b))"),
        (
            "${a#*b} ${a##\"*\"} ${a%c} \"${a%%'d'}\"",
            "P(a # L(*b)) P(a ## D[Q(*)]) P(a % L(c)) D[P(a %% Q(d))]",
        ),
        (
            "${a/b/c} ${a//\\//x} ${a/#b} ${a/%b/} ${a/$b/$c}",
            "P(a First L(b) / L(c)) P(a All Q(/) / L(x)) P(a Prefix L(b) / -) P(a Suffix L(b) / ) P(a First P(b) / P(c))",
        ),
        ("${a:1} ${a: -1:2} ${a:b?c:d:e}", "P(a sub 1 -) P(a sub  -1 2) P(a sub b?c:d e)"),
        (
            "${a^} ${a^^b} ${a,} ${a,,} ${a~}",
            "P(a Upper -) P(a UpperAll L(b)) P(a Lower -) P(a LowerAll -) P(a Toggle -)",
        ),
        (
            "${a[1]} ${a[@]} ${a[*]:1} ${a[$i+1]}",
            "P(a[L(1)]) P(a[@]) P(a[*] sub 1 -) P(a[P(i)L(+1)])",
        ),
        ("${a['b c']} ${a[b[1]]}", "P(a[Q(b c)]) P(a[L(b[1])])"),
        (
            "${#} ${##} ${#a} ${#a[@]} ${#@} ${#-} ${#:-a}",
            "P(#) P(# len) P(a len) P(a[@] len) P(@ len) P(- len) P(# :- L(a))",
        ),
        (
            "${!} ${!a} ${!a*} ${!a@} ${!a[@]} ${!1} ${!#} ${!a:-b}",
            "P(!) P(!a) P(a names*) P(a names@) P(a keys@) P(!1) P(!#) P(!a :- L(b))",
        ),
        (
            "${a@Q} ${a[@]@A} ${a@} ${a b} ${} ${a.b} ${a[}",
            "P(a @Q) P(a[@] @A) P(a @?) P(@ bad) P(@ bad) P(@ bad) P(@ bad)",
        ),
        ("\"${a:-\"b\\n\"}\"", "D[P(a :- D[Q(bn)])]"),
    ] {
        assert_eq!(words(source), want, "{source}");
    }
}

/// Bash manual 3.5.4 to 3.5.6.
#[test]
fn substitutions() {
    for (source, want) in [
        ("$(a; b)`c`", "C2C1"),
        ("$(case x in x) a;; esac)", "C1"),
        ("$(echo \")\" # )\n)", "C1"),
        ("\"$(a \"b\")\"", "D[C1]"),
        ("`a \\`b\\``", "C1"),
        ("`a; if`", "C!a; if"),
        ("$((1+2)) $((a[$i])) $(($(a))) $((${x:-1}0)) $[1]", "A+ A+ A+ A- A+"),
        ("$((a); (b)) $( (a) )", "C2 C1"),
        ("<(a) b>(c)d", "S< L(b)S>L(d)"),
    ] {
        assert_eq!(words(source), want, "{source}");
    }
}

/// Bash manual 3.4, 6.7.
#[test]
fn assignments() {
    let show = |source: &str| {
        let list = plain(source);
        let CommandKind::Simple(s) = &list.items[0].and_or.first.stages[0].command.kind else {
            panic!("{source}")
        };
        let one = |a: &Assignment| {
            let sub = match &a.subscript {
                Some(Subscript::Expr(e)) => format!("[{}]", show(&e.word)),
                _ => String::new(),
            };
            let value = match &a.value {
                AssignValue::Scalar(w) => show(w),
                AssignValue::Array(e) => {
                    let elements = e.iter().map(|e| match &e.key {
                        Some(Subscript::Expr(k)) => format!("{}:{}", show(&k.word), show(&e.value)),
                        _ => show(&e.value),
                    });
                    format!("({})", elements.collect::<Vec<_>>().join(" "))
                }
            };
            format!("{}{sub}{}{value}", text(&a.name), if a.append { "+=" } else { "=" })
        };
        let mut out: Vec<String> = s.assignments.iter().map(one).collect();
        for w in &s.words {
            out.push(match w {
                CommandWord::Word(w) => show(w),
                CommandWord::Assignment(a) => format!("@{}", one(a)),
            });
        }
        out.join(" ")
    };
    for (source, want) in [
        ("a=1 b+=$c d", "a=L(1) b+=P(c) L(d)"),
        ("a=", "a="),
        ("a[1 + 2]=3", "a[L(1 + 2)]=L(3)"),
        ("a[$i]+=x", "a[P(i)]+=L(x)"),
        ("a=(1 \"2 3\" [k]=v\n# c\n$x)", "a=(L(1) D[Q(2 3)] L(k):L(v) P(x))"),
        ("declare a=$b c", "L(declare) @a=P(b) L(c)"),
        ("export a=(1) b", "L(export) @a=(L(1)) L(b)"),
        ("echo a=$b", "L(echo) L(a=)P(b)"),
        ("eval a=(1)", "L(eval) Q(a=(1))"),
        ("1a=b", "L(1a=b)"),
        ("a[1]b", "L(a[1]b)"),
        ("\"a\"=b", "D[Q(a)]L(=b)"),
    ] {
        assert_eq!(show(source), want, "{source}");
    }
}

/// Bash manual 3.6.6.
#[test]
fn here_documents() {
    let bodies = |source: &str| {
        let list = plain(source);
        let mut out = Vec::new();
        for item in &list.items {
            for stage in &item.and_or.first.stages {
                for r in &stage.command.redirects {
                    if let RedirectTarget::HereDoc(d) = &r.target {
                        out.push(format!(
                            "{}{} {}",
                            text(&d.delimiter),
                            if d.quoted { "!" } else { "" },
                            show(&d.body)
                        ));
                    }
                }
            }
        }
        out.join(" ")
    };
    for (source, want) in [
        ("a <<E\nx $y \"z\" \\$ \\a `b`\nE\n", "E Q(x )P(y)Q( \"z\" $ \\a )C1Q(\n)"),
        ("a <<'E'\n$x\\\n\nE\n", "E! Q($x\\\n\n)"),
        ("a <<\\E <<-F\n1\nE\n\t2\n\tF\n", "E! Q(1\n) F Q(2\n)"),
        ("a <<E | b <<F\n1\nE\n2\nF\n", "E Q(1\n) F Q(2\n)"),
        ("a <<E\nx\\\ny\nE\n", "E Q(xy\n)"),
        ("a <<E\nE\n", "E Q()"),
        ("a <<E\n${x:-\"y\"}'\nE\n", "E P(x :- D[Q(y)])Q('\n)"),
    ] {
        assert_eq!(bodies(source), want, "{source}");
    }
    // An error in a body is an error when the body is expanded.
    assert!(bodies("a <<E\nx ${\nE\n").starts_with("E Q(x )C!"));
}

#[test]
fn run_time_text() {
    let options = ParseOptions::default();
    let word = parse::parse_word(b"a b'c'$d", &options).expect("a word");
    assert_eq!(show(&word), "L(a b)Q(c)P(d)");
    let word = parse::parse_dquoted(b"a \"$b\" \\$", &options).expect("text");
    assert_eq!(show(&word), "Q(a \")P(b)Q(\" $)");
    let a = parse::parse_assignment(b"a[x y]+=b $c", &options).expect("an assignment");
    assert!(
        a.append
            && a.value
                == AssignValue::Scalar(Word {
                    parts: vec![WordPart::Quoted(b"b $c".to_vec().into())],
                    raw: b"b $c"[..].into()
                })
    );
    assert!(parse::parse_assignment(b"1a=b", &options).is_none());
    assert!(parse::parse_assignment(b"a", &options).is_none());
    assert_eq!(parse::parse_array(b"(a [b]=c \"d e\")", &options).expect("an array").len(), 3);
    assert!(matches!(
        parse::parse_parameter(b"a[@]", &options),
        Some((ParamName::Variable(_), Some(Subscript::At)))
    ));
    assert!(matches!(
        parse::parse_parameter(b"12", &options),
        Some((ParamName::Positional(12), None))
    ));
    assert!(parse::parse_parameter(b"a b", &options).is_none());
    assert!(parse::parse_parameter(b"", &options).is_none());
}

/// Lines are counted through quotes, here-documents, continuations and substitutions.
#[test]
fn lines() {
    let list = plain("a 'x\ny' \\\nb\nc <<E\n1\n2\nE\nd $(\ne\n)\nf\n");
    let lines: Vec<u32> =
        list.items.iter().map(|i| i.and_or.first.stages[0].command.line).collect();
    // For bash, the line of a command is the one where its second token ends.
    assert_eq!(lines, [2, 4, 10, 11]);
}
