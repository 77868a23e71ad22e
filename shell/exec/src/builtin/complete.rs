//! Programmable completion without an editor: `compgen` generates, `complete` and
//! `compopt` keep specifications that can be listed (bash manual 8.7).

use std::rc::Rc;

use box_text::escape::single_quote;
use box_text::glob;
use sh_expand::Env as _;

use super::{Call, TABLE};
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::{SET_OPTIONS, SHOPT_OPTIONS};

fn action_of(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'a' => "alias",
        b'b' => "builtin",
        b'c' => "command",
        b'd' => "directory",
        b'e' => "export",
        b'f' => "file",
        b'g' => "group",
        b'j' => "job",
        b'k' => "keyword",
        b's' => "service",
        b'u' => "user",
        b'v' => "variable",
        _ => return None,
    })
}

const ACTIONS: &[&str] = &[
    "alias",
    "arrayvar",
    "binding",
    "builtin",
    "command",
    "directory",
    "disabled",
    "enabled",
    "export",
    "file",
    "function",
    "group",
    "helptopic",
    "hostname",
    "job",
    "keyword",
    "running",
    "service",
    "setopt",
    "shopt",
    "signal",
    "stopped",
    "user",
    "variable",
];

pub fn compgen(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "abcdefgjksuvo:A:G:W:F:C:X:P:S:V:") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let word = p.operands.first().map(|w| w.to_vec()).unwrap_or_default();
    let mut found: Vec<Vec<u8>> = Vec::new();
    for o in &p.options {
        let value = o.value.as_ref().map(|v| v.to_vec()).unwrap_or_default();
        match o.letter {
            b'A' => {
                let Some(a) = ACTIONS.iter().find(|a| a.as_bytes() == value) else {
                    shell.builtin_error(call.name(), &[&value, b": invalid action name"]);
                    return Ok(2);
                };
                generate(shell, a, &word, &mut found);
            }
            b'W' => words(shell, &value, &word, &mut found),
            b'G' => {
                let text = [value.as_slice()].concat();
                if let Ok(w) = sh_syntax::parse::parse_word(&text, &shell.parse_options())
                    && let Ok(list) = sh_expand::expand_words(shell, &[w])
                {
                    found.extend(list.iter().map(|f| f.to_vec()).filter(|f| f.starts_with(&word)));
                }
            }
            b'F' => {
                let argv = [value.clone(), b"compgen".to_vec(), word.clone(), Vec::new()];
                let argv: Vec<_> = argv.into_iter().map(Rc::new).collect();
                if let Some(f) = shell.state.functions.get(value.as_slice()).cloned() {
                    let _ = shell.set_array(b"COMPREPLY", Default::default());
                    shell.call_function(&f, &argv, false)?;
                    if let Some(sh_expand::Value::Indexed(a)) = shell.get(b"COMPREPLY") {
                        found.extend(a.iter().map(|(_, v)| v.to_vec()));
                    }
                }
            }
            l => {
                if let Some(a) = action_of(l) {
                    generate(shell, a, &word, &mut found);
                }
            }
        }
    }
    if let Some(x) = p.value(b'X') {
        let (negate, pattern) = match x.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, x.as_slice()),
        };
        let pattern = glob::Pattern::new(pattern, glob::Options::default());
        found.retain(|f| pattern.is_match(f) == negate);
    }
    let prefix = p.value(b'P').map(|v| v.to_vec()).unwrap_or_default();
    let suffix = p.value(b'S').map(|v| v.to_vec()).unwrap_or_default();
    let mut out = Vec::new();
    for f in &found {
        out.extend_from_slice(&[&prefix, f.as_slice(), &suffix, b"\n"].concat());
    }
    shell.out(&out);
    Ok(i32::from(found.is_empty()))
}

fn words(shell: &mut Shell<'_>, list: &[u8], word: &[u8], found: &mut Vec<Vec<u8>>) {
    // The list undergoes all expansions, then splitting at IFS.
    let parsed = sh_syntax::parse::parse_dquoted(list, &shell.parse_options());
    let text = match parsed.map(|w| sh_expand::expand_single(shell, &w)) {
        Ok(Ok(t)) => t.to_vec(),
        _ => list.to_vec(),
    };
    let ifs = shell.var(b"IFS").unwrap_or_else(|| Rc::new(b" \t\n".to_vec()));
    for w in text.split(|c| ifs.contains(c)).filter(|w| !w.is_empty() && w.starts_with(word)) {
        found.push(w.to_vec());
    }
}

fn generate(shell: &mut Shell<'_>, action: &str, word: &[u8], found: &mut Vec<Vec<u8>>) {
    let mut all: Vec<Vec<u8>> = match action {
        "alias" => shell.state.aliases.keys().cloned().collect(),
        "builtin" | "helptopic" => TABLE.iter().map(|b| b.name.as_bytes().to_vec()).collect(),
        "enabled" => TABLE
            .iter()
            .filter(|b| !shell.state.disabled_builtins.contains(&b.name))
            .map(|b| b.name.as_bytes().to_vec())
            .collect(),
        "disabled" => shell.state.disabled_builtins.iter().map(|b| b.as_bytes().to_vec()).collect(),
        "keyword" => super::type_::reserved().iter().map(|k| k.to_vec()).collect(),
        "function" => shell.function_names().iter().map(|n| n.to_vec()).collect(),
        "variable" => shell.without_own_scope(|shell| shell.names_with_prefix(word)),
        "arrayvar" | "export" => {
            let wanted = |a: &sh_expand::Attributes| {
                if action == "export" { a.export } else { a.indexed || a.assoc }
            };
            let mut names: Vec<Vec<u8>> = shell
                .state
                .vars
                .iter()
                .filter(|(_, v)| wanted(&v.attrs))
                .map(|(n, _)| n.to_vec())
                .collect();
            names.sort();
            names
        }
        "setopt" => SET_OPTIONS.iter().map(|(n, _)| n.as_bytes().to_vec()).collect(),
        "shopt" => SHOPT_OPTIONS.iter().map(|(n, _)| n.as_bytes().to_vec()).collect(),
        "signal" => (1..=64u8)
            .filter(|n| *n != 32 && *n != 33)
            .map(crate::state::traps::name)
            .map(String::into_bytes)
            .collect(),
        "job" => shell.state.jobs.list.iter().map(|j| j.text.clone()).collect(),
        "file" | "directory" => {
            let (dir, base) = match memchr::memrchr(b'/', word) {
                Some(at) => (&word[..=at], &word[at + 1..]),
                None => (&word[..0], word),
            };
            let mut names = Vec::new();
            for e in shell.read_dir(dir).unwrap_or_default() {
                let path = [dir, e.name.as_slice()].concat();
                if e.name.starts_with(base)
                    && (!e.name.starts_with(b".") || base.starts_with(b"."))
                    && (action == "file" || shell.is_dir(&path))
                {
                    names.push(path);
                }
            }
            names.sort();
            names
        }
        "command" => {
            let mut names: Vec<Vec<u8>> =
                TABLE.iter().map(|b| b.name.as_bytes().to_vec()).collect();
            names.extend(super::type_::reserved().iter().map(|k| k.to_vec()));
            names.extend(shell.function_names().iter().map(|n| n.to_vec()));
            names.extend(shell.state.aliases.keys().cloned());
            names.extend(shell.table.applets().iter().map(|a| a.name.as_bytes().to_vec()));
            names.sort();
            names.dedup();
            names
        }
        "user" => vec![b"root".to_vec(), b"user".to_vec()],
        _ => Vec::new(),
    };
    all.retain(|n| n.starts_with(word));
    found.append(&mut all);
}

pub fn complete(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "abcdefgjksuvprDEIo:A:G:W:F:C:X:P:S:") {
        Ok(p) => p,
        Err(r) => return r,
    };
    if p.has(b'r') {
        let specs = Rc::make_mut(&mut shell.state.completions);
        if p.operands.is_empty() {
            specs.clear();
        }
        for name in p.operands {
            specs.remove(name.as_slice());
        }
        return Ok(0);
    }
    let show = p.has(b'p') || p.options.is_empty();
    if show {
        let specs = shell.state.completions.clone();
        let mut status = 0;
        let mut out = Vec::new();
        if p.operands.is_empty() {
            for (name, spec) in specs.iter() {
                out.extend_from_slice(&[b"complete ", spec.as_slice(), b" ", name, b"\n"].concat());
            }
        }
        for name in p.operands {
            match specs.get(name.as_slice()) {
                Some(spec) => out.extend_from_slice(
                    &[b"complete ", spec.as_slice(), b" ", name, b"\n"].concat(),
                ),
                None => {
                    shell.builtin_error(call.name(), &[name, b": no completion specification"]);
                    status = 1;
                }
            }
        }
        shell.out(&out);
        return Ok(status);
    }
    let mut spec = Vec::new();
    for o in &p.options {
        if !spec.is_empty() {
            spec.push(b' ');
        }
        spec.extend_from_slice(&[b'-', o.letter]);
        if let Some(v) = &o.value {
            spec.push(b' ');
            let plain = matches!(o.letter, b'F' | b'A' | b'o');
            spec.extend_from_slice(&if plain { v.to_vec() } else { single_quote(v) });
        }
    }
    for name in p.operands {
        Rc::make_mut(&mut shell.state.completions).insert(name.to_vec(), spec.clone());
    }
    Ok(0)
}

pub fn compopt(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "+o:DEI") {
        Ok(p) => p,
        Err(r) => return r,
    };
    if p.operands.is_empty() {
        shell.builtin_error(call.name(), &[b"not currently executing completion function"]);
        return Ok(1);
    }
    for name in p.operands {
        if !shell.state.completions.contains_key(name.as_slice()) {
            shell.builtin_error(call.name(), &[name, b": no completion specification"]);
            return Ok(1);
        }
    }
    Ok(0)
}
