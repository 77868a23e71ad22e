//! Completion: the candidates for the word at the cursor.

use std::collections::BTreeSet;
use std::path::Path;

use box_sys::path;
use sh_exec::interactive::CompletionNames;
use sh_syntax::word::WordToComplete;

/// Commands whose operands are directories.
const FOR_DIRECTORIES: &[&str] = &["cd", "pushd", "rmdir"];

/// A text that a word may become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The text as lists show it.
    pub shown: String,
    /// The text as it stands in the line.
    pub text: String,
    /// The text that follows if this is the only one: a blank, a closed quote, or nothing after a directory.
    pub end: String,
}

/// Returns the candidates for a word, in order.
pub fn find_candidates(word: &WordToComplete<'_>, names: &CompletionNames) -> Vec<Candidate> {
    if word.quote != Some('\'')
        && let Some(at) = word.text.rfind('$')
    {
        let begun = &word.text[at + 1..];
        let (open, name, close) = match begun.strip_prefix('{') {
            Some(name) => ("${", name, "}"),
            None => ("$", begun, ""),
        };
        if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            let fitting = names.variables.iter().filter(|v| v.starts_with(name));
            let head = &word.text[..at];
            let make = |v: &String| Candidate {
                shown: v.clone(),
                text: format!("{}{head}{open}{v}{close}", quote_mark(word.quote)),
                end: end_of(word.quote),
            };
            return fitting.map(make).collect();
        }
    }
    let plain = word.plain_text();
    if word.is_command && !plain.contains('/') {
        return command_names(&plain, names)
            .into_iter()
            .map(|name| make_candidate(&name, "", &name, word, false))
            .collect();
    }
    let (prefix, begun) = match plain.rfind('/') {
        Some(at) => plain.split_at(at + 1),
        None => ("", plain.as_str()),
    };
    let only_dirs = FOR_DIRECTORIES.contains(&word.command);
    let mut found: Vec<(String, bool)> = names_in(&directory_of(prefix, names))
        .into_iter()
        .filter(|(name, is_dir)| {
            name.starts_with(begun)
                && (!name.starts_with('.') || begun.starts_with('.'))
                && (*is_dir || !only_dirs)
        })
        .collect();
    found.sort();
    found.iter().map(|(name, is_dir)| make_candidate(name, prefix, name, word, *is_dir)).collect()
}

fn command_names(begun: &str, names: &CompletionNames) -> BTreeSet<String> {
    let mut found: BTreeSet<String> =
        names.commands.iter().filter(|c| c.starts_with(begun)).cloned().collect();
    for dir in names.path.split(|b| *b == b':').filter(|dir| !dir.is_empty()) {
        let all = names_in(path::from_bytes(dir));
        found.extend(all.into_iter().filter(|(n, d)| !d && n.starts_with(begun)).map(|(n, _)| n));
    }
    found
}

fn directory_of(prefix: &str, names: &CompletionNames) -> std::path::PathBuf {
    match prefix.strip_prefix("~/") {
        Some(rest) => path::from_bytes(&names.home).join(rest),
        None => names.cwd.join(prefix),
    }
}

/// Returns the names in a directory, and for each whether it is a directory.
fn names_in(dir: &Path) -> Vec<(String, bool)> {
    let Ok(list) = std::fs::read_dir(dir) else { return Vec::new() };
    list.flatten()
        .filter_map(|found| {
            let name = found.file_name().into_string().ok()?;
            let is_link = found.file_type().is_ok_and(|t| t.is_symlink());
            let is_dir = if is_link {
                found.path().is_dir()
            } else {
                found.file_type().is_ok_and(|t| t.is_dir())
            };
            (!name.contains(char::is_control)).then_some((name, is_dir))
        })
        .collect()
}

fn quote_mark(quote: Option<char>) -> String {
    quote.map(String::from).unwrap_or_default()
}

fn end_of(quote: Option<char>) -> String {
    format!("{} ", quote_mark(quote))
}

fn make_candidate(
    name: &str,
    prefix: &str,
    shown: &str,
    word: &WordToComplete<'_>,
    is_dir: bool,
) -> Candidate {
    let whole = format!("{prefix}{name}");
    let (slash, end) = if is_dir { ("/", String::new()) } else { ("", end_of(word.quote)) };
    let text = word.replacement(&whole);
    Candidate { shown: format!("{shown}{slash}"), text: format!("{text}{slash}"), end }
}

/// Returns the longest text that all candidates begin with.
pub fn common_start(all: &[Candidate]) -> String {
    let Some((first, rest)) = all.split_first() else { return String::new() };
    let mut common = first.text.as_str();
    for candidate in rest {
        let same = common.chars().zip(candidate.text.chars()).take_while(|(a, b)| a == b);
        let len = same.map(|(c, _)| c.len_utf8()).sum();
        common = &common[..len];
    }
    common.to_owned()
}

/// Formats a list of candidates in columns, down and then right.
pub fn list_candidates(all: &[Candidate], columns: usize) -> String {
    use unicode_width::UnicodeWidthStr;
    let width = all.iter().map(|c| c.shown.width()).max().unwrap_or(0) + 2;
    let across = (columns / width).max(1);
    let rows = all.len().div_ceil(across);
    let mut out = String::new();
    for row in 0..rows {
        let line: Vec<&Candidate> = all.iter().skip(row).step_by(rows).collect();
        for (at, candidate) in line.iter().enumerate() {
            out.push_str(&candidate.shown);
            if at + 1 < line.len() {
                out.push_str(&" ".repeat(width - candidate.shown.width()));
            }
        }
        out.push_str("\r\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sh_syntax::word::word_at_end;

    #[test]
    fn files_variables_and_commands_are_found() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["one file", "only", ".hidden"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::fs::create_dir(dir.path().join("on")).unwrap();
        let names = CompletionNames {
            commands: vec!["echo".into(), "export".into()],
            variables: vec!["HOME".into(), "HOSTNAME".into()],
            cwd: dir.path().to_path_buf(),
            ..CompletionNames::default()
        };
        let texts = |typed: &str| -> Vec<String> {
            let found = find_candidates(&word_at_end(typed), &names);
            found.into_iter().map(|c| c.text + &c.end).collect()
        };
        assert_eq!(texts("cat o"), ["on/", "one\\ file ", "only "]);
        assert_eq!(texts("cat 'one"), ["'one file' "]);
        assert_eq!(texts("cd o"), ["on/"]);
        assert_eq!(texts("cat .h"), [".hidden "]);
        assert_eq!(texts("cat $HOM"), ["$HOME "]);
        assert_eq!(texts("cat \"${HOS"), ["\"${HOSTNAME}\" "]);
        assert_eq!(texts("e"), ["echo ", "export "]);
        let all = find_candidates(&word_at_end("cat o"), &names);
        assert_eq!(common_start(&all), "on");
        assert_eq!(list_candidates(&all, 20), "on/       only\r\none file\r\n");
        assert_eq!(list_candidates(&all, 10), "on/\r\none file\r\nonly\r\n");
    }
}
