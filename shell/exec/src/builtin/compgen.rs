//! `compgen` (bash manual 8.7): the words that programmable completion offers.

use std::path::Path;
use std::rc::Rc;

use box_text::glob;
use sh_expand::{Attributes, ExpandEnv as _, Str, VarValue};

use super::completion::{CompletionSpec, SPEC_OPTIONS};
use super::{BuiltinCall, TABLE, type_};
use crate::Shell;
use crate::run::{SourceText, TextKind};
use crate::shell::{Flow, Unwind};
use crate::state::options::{SET_OPTIONS, SHOPT_OPTIONS};
use crate::state::traps;

/// Maximum size in bytes of a file that lists users, groups, hosts or services.
const LIST_MAX: u64 = 1 << 20;

/// The candidates for a completion.
type Words = Vec<Vec<u8>>;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, SPEC_OPTIONS)?;
    if p.options.is_empty() {
        // Nothing was asked for.
        return Ok(0);
    }
    let spec = CompletionSpec::from_options(shell, call, &p)?;
    let word = p.operands.first().cloned().unwrap_or_default();
    let found = generate_words(shell, call, &spec, &word)?;
    let around = |end: &Option<Str>| end.as_ref().map(|e| e.to_vec()).unwrap_or_default();
    let (prefix, suffix) = (around(&spec.prefix), around(&spec.suffix));
    let line = |f: &Vec<u8>| [&prefix, f.as_slice(), &suffix, b"\n"].concat();
    shell.write_out(&found.iter().flat_map(line).collect::<Vec<u8>>());
    Ok(i32::from(found.is_empty()))
}

/// Returns the words of a specification that complete `word`, in bash's order.
fn generate_words(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    spec: &CompletionSpec,
    word: &Str,
) -> Result<Words, Unwind> {
    let mut found = Words::new();
    for action in spec.actions() {
        let mut words = match action {
            "file" => complete_files(shell, word, false),
            "directory" => complete_files(shell, word, true),
            action => of_action(shell, action, word),
        };
        words.retain(|w| w.starts_with(word));
        found.append(&mut words);
    }
    if let Some(pattern) = &spec.pathnames
        && let Ok(w) = sh_syntax::parse::parse_word(pattern, &shell.parse_options())
        && let Ok(list) = sh_expand::expand_words(shell, &[w])
    {
        found.extend(list.iter().map(|f| f.to_vec()));
    }
    if let Some(list) = &spec.words {
        found.extend(split_word_list(shell, list).into_iter().filter(|w| w.starts_with(word)));
    }
    if let Some(name) = &spec.function {
        found.extend(by_function(shell, call, name, word)?);
    }
    if let Some(command) = &spec.command {
        found.extend(by_command(shell, call, command, word)?);
    }
    if let Some(filter) = &spec.filter {
        let (keeps, pattern) = match filter.strip_prefix(b"!") {
            Some(pattern) => (true, pattern),
            None => (false, filter.as_slice()),
        };
        let pattern = with_word(pattern, word);
        let pattern = glob::GlobPattern::new(&pattern, glob::GlobOptions::default());
        found.retain(|f| pattern.is_match(f) == keeps);
    }
    if spec.has_behaviour("plusdirs") || found.is_empty() && spec.has_behaviour("dirnames") {
        found.extend(complete_files(shell, word, true));
    }
    if found.is_empty() && (spec.has_behaviour("default") || spec.has_behaviour("bashdefault")) {
        found.extend(complete_files(shell, word, false));
    }
    Ok(found)
}

/// Returns the pattern of `-X` with the word in place of each unquoted `&`.
fn with_word(pattern: &[u8], word: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'&' => out.extend_from_slice(word),
            b'\\' => match bytes.next() {
                Some(b'&') => out.push(b'&'),
                next => out.extend([b'\\'].into_iter().chain(next.copied())),
            },
            byte => out.push(*byte),
        }
    }
    out
}

/// Returns the words of `-W`: split at IFS outside of quotes, then expanded, except for pathnames.
fn split_word_list(shell: &mut Shell<'_>, list: &[u8]) -> Words {
    let ifs = shell.variable_text(b"IFS").unwrap_or_else(|| Rc::new(b" \t\n".to_vec()));
    let mut words = vec![Vec::new()];
    let mut quote = None;
    let mut bytes = list.iter().copied();
    while let Some(byte) = bytes.next() {
        if quote.is_none() && ifs.contains(&byte) {
            words.push(Vec::new());
            continue;
        }
        let mut escaped = None;
        match byte {
            b'\\' if quote != Some(b'\'') => escaped = bytes.next(),
            b'"' | b'\'' if quote == Some(byte) => quote = None,
            b'"' | b'\'' if quote.is_none() => quote = Some(byte),
            _ => {}
        }
        if let Some(word) = words.last_mut() {
            word.extend([byte].into_iter().chain(escaped));
        }
    }
    words.retain(|w| !w.is_empty());
    let expand = |w: Vec<u8>| {
        let parsed = sh_syntax::parse::parse_word(&w, &shell.parse_options());
        match parsed.map(|parsed| sh_expand::expand_single(shell, &parsed)) {
            Ok(Ok(text)) => text.to_vec(),
            _ => w,
        }
    };
    words.into_iter().map(expand).collect()
}

/// Returns the words that the function of `-F` leaves in COMPREPLY.
fn by_function(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    name: &Str,
    word: &Str,
) -> Result<Words, Unwind> {
    shell.builtin_error(call.name(), &[b"warning: -F option may not work as you expect"]);
    let Some(f) = shell.state.functions.get(name.as_slice()).cloned() else {
        shell.print_error(&[b"completion: function `", name, b"' not found"]);
        return Ok(Words::new());
    };
    let _ = shell.set_array(b"COMPREPLY", Default::default());
    let argv = [name.clone(), Rc::new(b"compgen".to_vec()), word.clone(), Str::default()];
    shell.call_function(&f, &argv, false)?;
    Ok(match shell.get(b"COMPREPLY") {
        Some(VarValue::Indexed(a)) => a.iter().map(|(_, v)| v.to_vec()).collect(),
        Some(VarValue::Scalar(text)) => vec![text.to_vec()],
        _ => Words::new(),
    })
}

/// Returns the lines that the command of `-C` prints.
fn by_command(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    command: &[u8],
    word: &[u8],
) -> Result<Words, Unwind> {
    shell.builtin_error(call.name(), &[b"warning: -C option may not work as you expect"]);
    let word = box_text::escape::single_quote(word);
    let text = [command, b" compgen ", word.as_slice(), b" ''"].concat();
    let line = shell.state.line;
    let out = shell.capture_output(|s| {
        s.run_text(SourceText { text: &text, line, kind: TextKind::Commands })
    })?;
    Ok(out.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec).collect())
}

/// Returns files, or directories only, that begin with the word.
fn complete_files(shell: &Shell<'_>, word: &[u8], directories: bool) -> Words {
    let at = memchr::memrchr(b'/', word).map_or(0, |at| at + 1);
    let (dir, base) = word.split_at(at);
    let mut names: Words =
        shell.read_dir(dir).unwrap_or_default().into_iter().map(|e| e.name).collect();
    if base.starts_with(b".") {
        names.extend([b".".to_vec(), b"..".to_vec()]);
    }
    names.retain(|name| name.starts_with(base));
    names.sort();
    let paths = names.iter().map(|name| [dir, name].concat());
    paths.filter(|path| !directories || shell.is_dir(path)).collect()
}

/// Returns the words of an action that does not depend on the word.
fn of_action(shell: &mut Shell<'_>, action: &str, word: &[u8]) -> Words {
    if action == "variable" {
        return shell.without_own_scope(|shell| shell.names_with_prefix(word));
    }
    let s = &shell.state;
    let bytes = |name: &str| name.as_bytes().to_vec();
    let builtins = || TABLE.iter().map(|b| b.name);
    match action {
        "alias" => s.aliases.keys().cloned().collect(),
        "builtin" | "helptopic" => builtins().map(bytes).collect(),
        "enabled" => builtins().filter(|b| !s.commands.is_disabled(b)).map(bytes).collect(),
        "disabled" => s.commands.disabled_builtins().map(bytes).collect(),
        "keyword" => type_::reserved_words().iter().map(|k| k.to_vec()).collect(),
        "function" => shell.function_names().iter().map(|n| n.to_vec()).collect(),
        "export" => complete_variables(shell, Attributes::EXPORT),
        "arrayvar" => complete_variables(shell, Attributes::ARRAY),
        "setopt" => SET_OPTIONS.iter().map(|(n, _)| bytes(n)).collect(),
        "shopt" => SHOPT_OPTIONS.iter().map(|(n, _)| bytes(n)).collect(),
        "signal" => {
            let signals = (1..=64u8).filter(|n| *n != 32 && *n != 33);
            signals.map(|n| traps::name(n).into_bytes()).collect()
        }
        // No job is ever stopped here.
        "job" => s.jobs.list().iter().map(|j| first_word(j.text())).collect(),
        "running" => {
            let running = s.jobs.list().iter().filter(|j| !j.is_done());
            running.map(|j| first_word(j.text())).collect()
        }
        "command" => complete_commands(shell),
        "user" => words_from_file(shell, "/etc/passwd", 0),
        "group" => words_from_file(shell, "/etc/group", 0),
        "service" => words_from_file(shell, "/etc/services", 0),
        "hostname" => words_from_file(shell, "/etc/hosts", 1),
        _ => Words::new(),
    }
}

fn first_word(text: &[u8]) -> Vec<u8> {
    text.split(u8::is_ascii_whitespace).next().unwrap_or_default().to_vec()
}

/// Returns the variables that have one of the attributes.
fn complete_variables(shell: &Shell<'_>, wanted: Attributes) -> Words {
    let vars = &shell.state.vars;
    let names = vars.sorted_names().into_iter();
    names
        .filter(|n| vars.get(n).is_some_and(|v| v.attrs.intersects(wanted)))
        .map(|n| n.to_vec())
        .collect()
}

/// Returns every possible command name.
fn complete_commands(shell: &mut Shell<'_>) -> Words {
    let mut names = Words::new();
    for action in ["builtin", "keyword", "function", "alias"] {
        names.extend(of_action(shell, action, b""));
    }
    names.extend(shell.table.applets().iter().map(|a| a.name.as_bytes().to_vec()));
    names.sort();
    names.dedup();
    names
}

/// Returns names from a system file: the first field of each line, or all of its fields from `from`
/// on.
fn words_from_file(shell: &Shell<'_>, file: &str, from: usize) -> Words {
    let text = shell.sys.read(Path::new(file), LIST_MAX).unwrap_or_default();
    let mut names = Words::new();
    for line in text.split(|c| *c == b'\n') {
        let line = line.split(|c| *c == b'#').next().unwrap_or_default();
        let fields = line.split(|c| matches!(c, b':' | b' ' | b'\t')).filter(|f| !f.is_empty());
        let count = if from == 0 { 1 } else { usize::MAX };
        names.extend(fields.skip(from).take(count).map(<[u8]>::to_vec));
    }
    names
}
