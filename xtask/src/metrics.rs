//! `cargo xtask metrics`: prints figures about the code, counted over the source.
//!
//! The source is read as text without comments and literals, in the form that `cargo fmt` produces:
//! a function ends at the first `}` with the indentation of its head. That is exact for formatted
//! code and needs no parser. Calls are matched by name, and only if exactly one function of the
//! crate has that name, so that circles of calls are never overestimated.

mod source;
mod words;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;

use self::source::{SourceFile, read};
use crate::env;

/// The areas whose size and shape are counted. Each is the name of its folder.
const AREAS: &[&str] = &["shell", "tools", "runner", "xtask"];

/// The maximum number of lines of a short function, and the minimum number of parameters that
/// counts as many.
const LONG: usize = 60;
const MANY: usize = 6;

/// Code that examines the text of a message if it directly follows the message.
const SNIFFING: &[&str] = &[
    ".starts_with(",
    ".ends_with(",
    ".contains(",
    ".windows(",
    ".as_ref()",
    ".split_at",
    ".strip_",
    " == \"",
    " == b",
];
/// The names that the shell has for the texts of messages.
const MESSAGES: &[&str] = &[".message", ".message()", "error_text", " message"];

struct FunctionMetrics {
    name: String,
    lines: usize,
    parameters: usize,
    body: String,
}

pub fn run() -> Result<ExitCode> {
    let mut sources = Vec::new();
    for area in AREAS {
        read(area, &env::root().join(area), &mut sources)?;
    }
    println!(
        "{:<7} {:>7} {:>9} {:>13} {:>13} {:>15}",
        "area", "lines", "functions", "> 60 lines", ">= 6 params", "undocumented"
    );
    for area in AREAS {
        let of: Vec<&SourceFile> = sources.iter().filter(|s| s.area == *area).collect();
        let lines: usize = of.iter().map(|s| s.text.lines().count()).sum();
        let all: Vec<FunctionMetrics> = of.iter().flat_map(|s| find_functions(&s.code)).collect();
        let share =
            |n: usize| format!("{n} ({:.1}\u{2030})", n as f64 * 1000.0 / all.len().max(1) as f64);
        let long = all.iter().filter(|f| f.lines > LONG).count();
        let many = all.iter().filter(|f| f.parameters >= MANY).count();
        let (bare, public) = of
            .iter()
            .map(|s| count_documented(&s.text))
            .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        println!(
            "{area:<7} {lines:>7} {:>9} {:>13} {:>13} {:>15}",
            all.len(),
            share(long),
            share(many),
            format!("{bare} of {public}")
        );
    }
    let shell =
        |part: &str| sources.iter().filter(move |s| s.path.starts_with(part)).collect::<Vec<_>>();
    for (part, names) in [("shell/exec", ["Shell", "State"])] {
        for name in names {
            let fields: Vec<String> =
                shell(part).iter().flat_map(|s| struct_fields(&s.code, Some(name))).collect();
            let public = fields.iter().filter(|f| f.starts_with("pub")).count();
            let bools = fields.iter().filter(|f| f.ends_with(": bool,")).count();
            println!("{name}: {} fields, {public} of them public, {bools} bools", fields.len());
        }
    }
    for part in ["shell/syntax/src/lex", "shell/expand", "shell/exec"] {
        let all: Vec<String> =
            shell(part).iter().flat_map(|s| struct_fields(&s.code, None)).collect();
        println!(
            "{part}: {} bools in structs",
            all.iter().filter(|f| f.ends_with(": bool,")).count()
        );
    }
    let mut crates: BTreeMap<&str, Vec<FunctionMetrics>> = BTreeMap::new();
    for source in &sources {
        crates.entry(&source.owner).or_default().extend(find_functions(&source.code));
    }
    for (owner, functions) in
        crates.iter().filter(|(o, _)| o.starts_with("shell") || o.starts_with("tools"))
    {
        let circle = largest_circle(functions);
        if circle > 10 {
            println!("{owner}: largest circle of calls has {circle} functions");
        }
    }
    let sites = find_sniffing(&shell("shell"));
    println!("decisions by the text of a message in shell/: {}", sites.len());
    sites.iter().for_each(|site| println!("    {site}"));
    for area in ["js", "sdk"] {
        read(area, &env::root().join(area), &mut sources)?;
    }
    words::print_words(&sources.iter().collect::<Vec<_>>());
    Ok(ExitCode::SUCCESS)
}

/// Returns every function with a body.
fn find_functions(code: &str) -> Vec<FunctionMetrics> {
    let lines: Vec<&str> = code.lines().collect();
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function_head(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let rest = lines[at..].iter().position(|l| *l == end).map_or(at, |n| at + n);
        let rest = if line.ends_with('}') || line.ends_with(';') { at } else { rest };
        let body = lines[at..=rest].join("\n");
        if !line.ends_with(';') {
            out.push(FunctionMetrics {
                parameters: count_parameters(&body),
                lines: rest - at + 1,
                name,
                body,
            });
        }
    }
    out
}

/// Returns the name of the function whose head begins on this line.
fn function_head(line: &str) -> Option<String> {
    let (before, rest) = line.trim_start().split_once("fn ")?;
    let words = |w: &str| {
        ["pub", "const", "async", "unsafe", "extern", "\"\""].contains(&w) || w.starts_with("pub(")
    };
    if !before.split_whitespace().all(|w| words(w) || w.ends_with(')')) {
        return None;
    }
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty() && rest[name.len()..].starts_with(['(', '<'])).then_some(name)
}

/// Returns the number of parameters in a head, including `self`.
fn count_parameters(body: &str) -> usize {
    let Some(from) = body.find("fn ") else { return 0 };
    let (mut round, mut angle, mut commas, mut any) = (0, 0, 0, false);
    let mut before = ' ';
    for c in body[from..].chars() {
        match c {
            '(' | '[' | '{' if round > 0 || c == '(' && angle == 0 => round += 1,
            ')' | ']' | '}' => {
                round -= 1;
                if round == 0 {
                    break;
                }
            }
            '<' => angle += 1,
            '>' if before != '-' && before != '=' => angle -= 1,
            ',' if round == 1 && angle == 0 => {
                commas += 1;
                any = false;
            }
            c if round > 0 && !c.is_whitespace() => any = true,
            _ => {}
        }
        before = c;
    }
    commas + usize::from(any)
}

/// Returns the number of public items without a comment above them, and of all public items.
fn count_documented(text: &str) -> (usize, usize) {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let items = [
        "fn ",
        "struct ",
        "enum ",
        "const ",
        "static ",
        "type ",
        "trait ",
        "unsafe fn ",
        "const fn ",
    ];
    let (mut bare, mut all) = (0, 0);
    for (at, line) in lines.iter().enumerate() {
        let Some(item) = line.strip_prefix("pub ") else { continue };
        if !items.iter().any(|kind| item.starts_with(kind)) {
            continue;
        }
        all += 1;
        let above = lines[..at].iter().rev().find(|l| !l.starts_with("#[") && !l.ends_with(")]"));
        bare += usize::from(!above.is_some_and(|l| l.starts_with("///")));
    }
    (bare, all)
}

fn is_field(line: &str) -> bool {
    let field =
        line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
    let name = field.trim_start_matches("pub ").split(':').next().unwrap_or_default();
    line.starts_with("    ")
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns the fields of a struct, or of all structs.
fn struct_fields(code: &str, name: Option<&str>) -> Vec<String> {
    let mut out = Vec::new();
    let mut within: Option<String> = None;
    for line in code.lines() {
        let text = line.trim_start();
        if let Some(end) = &within {
            if line == end {
                within = None;
            } else if is_field(line) && line.contains(": ") {
                out.push(text.to_string());
            }
        } else if let Some((_, rest)) = text.split_once("struct ")
            && line.ends_with('{')
            && name.is_none_or(|n| rest.strip_prefix(n).is_some_and(|r| r.starts_with([' ', '<'])))
        {
            within = Some(format!("{}}}", &line[..line.len() - text.len()]));
        }
    }
    out
}

/// Returns the places (`FILE:LINE`) where code decides by the text of a message.
fn find_sniffing(sources: &[&SourceFile]) -> Vec<String> {
    let mut out = Vec::new();
    for source in sources {
        for (number, line) in source.text.lines().enumerate() {
            let line = line.split("//").next().unwrap_or_default();
            let behind = |what: &str| line.find(what).map(|at| &line[at + what.len()..]);
            let asked = |rest: &str| SNIFFING.iter().any(|s| rest.starts_with(s));
            let found = line.contains("memmem::find(") && line.contains("message");
            let whole = line.contains("match ") && line.contains(".message.as_");
            if found || whole || MESSAGES.iter().any(|m| behind(m).is_some_and(asked)) {
                out.push(format!("{}:{}", source.path.display(), number + 1));
            }
        }
    }
    out
}

/// Returns the size of the largest set of functions that can all reach each other (Tarjan, without
/// recursion).
fn largest_circle(functions: &[FunctionMetrics]) -> usize {
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, f) in functions.iter().enumerate() {
        named.entry(&f.name).or_default().push(at);
    }
    let calls: Vec<Vec<usize>> = functions
        .iter()
        .map(|f| {
            let words =
                f.body.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '(')).skip(2);
            let called =
                words.flat_map(|w| w.split_inclusive('(')).filter_map(|w| w.strip_suffix('('));
            called
                .filter_map(|w| match named.get(w).map(Vec::as_slice) {
                    Some([only]) => Some(*only),
                    _ => None,
                })
                .collect()
        })
        .collect();
    const NEW: usize = usize::MAX;
    let (mut index, mut low) = (vec![NEW; calls.len()], vec![0; calls.len()]);
    let (mut open, mut on, mut next, mut best) = (Vec::new(), vec![false; calls.len()], 0, 0);
    for start in 0..calls.len() {
        if index[start] != NEW {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((at, edge)) = path.pop() {
            if edge == 0 {
                (index[at], low[at], on[at]) = (next, next, true);
                next += 1;
                open.push(at);
            } else {
                low[at] = low[at].min(low[calls[at][edge - 1]]);
            }
            let ahead = calls[at].iter().enumerate().skip(edge).find(|(_, to)| {
                if on[**to] {
                    low[at] = low[at].min(index[**to]);
                }
                index[**to] == NEW
            });
            if let Some((edge, to)) = ahead {
                path.extend([(at, edge + 1), (*to, 0)]);
            } else if low[at] == index[at] {
                let from = open.iter().rposition(|n| *n == at).unwrap_or(0);
                best = best.max(open.len() - from);
                open.drain(from..).for_each(|n| on[n] = false);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::source::strip_source;
    use super::*;

    #[test]
    fn functions_are_measured() {
        let code = strip_source(
            "fn a(x: &'static str, y: BTreeMap<u8, u8>) -> bool {\n    // fn b() {}\n    x == \"}\" && '{' > ' '\n}\n",
        );
        let all = find_functions(&code);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].name.as_str(), all[0].lines, all[0].parameters), ("a", 4, 2));
    }

    #[test]
    fn circles_of_calls() {
        let code = "fn a() {\n    b();\n}\nfn b() {\n    c(d());\n}\nfn c() {\n    a()\n}\nfn d() {\n    e()\n}\nfn e() {}\n";
        assert_eq!(largest_circle(&find_functions(code)), 3);
    }
}
