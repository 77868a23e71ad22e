//! Completion for the Tab key, and the check whether a command is complete.

use crate::CliFailure;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use sh_syntax::parse::is_complete;
use std::collections::BTreeSet;
use std::sync::Arc;
use wasibox::diff::{ImageFiles, list_names};
use wasibox::{Image, MountSpec, Session};

/// Maximum number of offered names.
const MOST: usize = 1000;

/// The shell's builtins and reserved words that people type.
const BUILTINS: &[&str] = &[
    "alias", "bg", "break", "case", "cd", "command", "continue", "declare", "dirs", "do", "done",
    "echo", "elif", "else", "esac", "eval", "exec", "exit", "export", "false", "fg", "fi", "for",
    "function", "getopts", "hash", "help", "if", "in", "jobs", "kill", "let", "local", "mapfile",
    "popd", "printf", "pushd", "pwd", "read", "readonly", "return", "select", "set", "shift",
    "shopt", "source", "test", "then", "time", "times", "trap", "true", "type", "ulimit", "umask",
    "unalias", "unset", "until", "wait", "while",
];

/// A completer for commands of the image and paths of the session.
pub struct Completions {
    session: Session,
    files: ImageFiles,
    mounts: Vec<MountSpec>,
    commands: BTreeSet<String>,
    dir: String,
}

/// A word that is being typed.
struct WordToComplete<'a> {
    /// The offset in the line at which it begins.
    start: usize,
    /// The word as typed.
    text: &'a str,
    quote: Option<char>,
    is_command: bool,
}

impl Completions {
    /// Makes the completer of a session.
    pub fn new(
        session: &Session,
        image: &Arc<Image>,
        mounts: Vec<MountSpec>,
    ) -> Result<Completions, CliFailure> {
        let commands = image.commands().iter().map(|c| c.name.clone());
        let commands = commands.chain(BUILTINS.iter().map(|b| (*b).to_owned())).collect();
        let files = ImageFiles::new(image.clone())?;
        Ok(Completions { session: session.clone(), files, mounts, commands, dir: "/".into() })
    }

    /// Sets the directory from which relative paths start.
    pub fn set_directory(&mut self, dir: &str) {
        dir.clone_into(&mut self.dir);
    }

    fn find_candidates(&self, word: &WordToComplete<'_>) -> Vec<Pair> {
        let plain = unescape_word(word.text, word.quote);
        let mut out = Vec::new();
        if word.is_command && !plain.contains('/') {
            let fitting = self.commands.iter().filter(|c| c.starts_with(&plain));
            out.extend(fitting.map(|c| completion_pair(c.clone(), c, "", word)));
        } else {
            let (dir, begun) = plain.rsplit_once('/').map_or(("", &*plain), |(d, b)| (d, b));
            let prefix = if plain.contains('/') { format!("{dir}/") } else { String::new() };
            for (name, is_dir) in self.dir_names(&prefix) {
                let is_hidden = name.starts_with('.') && !begun.starts_with('.');
                if name.starts_with(begun) && !is_hidden {
                    let end = if is_dir { "/" } else { "" };
                    out.push(completion_pair(
                        format!("{name}{end}"),
                        &format!("{prefix}{name}"),
                        end,
                        word,
                    ));
                }
            }
        }
        out.truncate(MOST);
        if let [only] = out.as_mut_slice()
            && !only.replacement.ends_with('/')
        {
            only.replacement.extend(word.quote);
            only.replacement.push(' ');
        }
        out
    }

    /// Returns the names in the directory `prefix`, and for each whether it is a directory itself.
    fn dir_names(&self, prefix: &str) -> Vec<(String, bool)> {
        let path = match prefix {
            home if home.starts_with("~/") => format!("{}{}", wasibox::HOME, &home[1..]),
            absolute if absolute.starts_with('/') => absolute.to_owned(),
            relative => format!("{}/{relative}", self.dir),
        };
        if let Some(names) = self.mounted_names(&path) {
            return names;
        }
        // If the history cannot be read, nothing is offered.
        let Ok(head) = self.session.head() else { return Vec::new() };
        let Ok(store) = self.session.store() else { return Vec::new() };
        let listed = list_names(&store, &head.state.files, Some(&self.files), path.as_bytes());
        let listed = listed.ok().flatten().unwrap_or_default();
        let text = |(name, is_dir): (Vec<u8>, bool)| Some((String::from_utf8(name).ok()?, is_dir));
        let is_shown = |(name, _): &(String, bool)| !name.contains(char::is_control);
        listed.into_iter().filter_map(text).filter(is_shown).collect()
    }

    /// Returns the names in a directory of the host, if a mount shows it.
    fn mounted_names(&self, path: &str) -> Option<Vec<(String, bool)>> {
        let mount = self.mounts.iter().find_map(|m| {
            let below = path.strip_prefix(m.guest.trim_end_matches('/'))?;
            let is_below = below.is_empty() || below.starts_with('/');
            let is_plain = below.split('/').all(|word| word != "..");
            (is_below && is_plain).then(|| m.host.join(below.trim_start_matches('/')))
        })?;
        let mut out = Vec::new();
        for entry in std::fs::read_dir(mount).ok()?.flatten() {
            let is_dir = entry.file_type().is_ok_and(|t| t.is_dir());
            out.extend(entry.file_name().into_string().ok().map(|name| (name, is_dir)));
        }
        out.retain(|(name, _)| !name.contains(char::is_control));
        out.sort();
        Some(out)
    }
}

fn completion_pair(display: String, text: &str, end: &str, word: &WordToComplete<'_>) -> Pair {
    let mut replacement = String::new();
    match word.quote {
        Some(quote) => {
            replacement.push(quote);
            replacement += &quote_word(text, quote);
        }
        None => replacement += &escape_word(text),
    }
    Pair { display, replacement: replacement + end }
}

/// Removes quotes and backslashes from a word.
fn unescape_word(text: &str, quote: Option<char>) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

/// Escapes a word so that the shell reads it back unchanged.
fn escape_word(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if " \t\"'`$&|;<>()[]{}*?!#\\".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn quote_word(text: &str, quote: char) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match (quote, c) {
            ('"', '"' | '$' | '`' | '\\') => out.extend(['\\', c]),
            ('\'', '\'') => out.push_str("'\\''"),
            _ => out.push(c),
        }
    }
    out
}

/// Returns the word at the end of the typed text.
fn word_at_end(typed: &str) -> WordToComplete<'_> {
    // The state of the scan: the word's start, its quote, whether a command is expected.
    let (mut start, mut quote, mut is_command, mut begun) = (0, None, true, false);
    let mut quote_at = 0;
    let mut chars = typed.char_indices();
    while let Some((at, c)) = chars.next() {
        if let Some(q) = quote {
            if c == '\\' && q == '"' {
                chars.next();
            } else if c == q {
                quote = None;
            }
            continue;
        }
        if !begun {
            start = at;
        }
        match c {
            ' ' | '\t' | '\n' => {
                let done = &typed[start..at];
                // Another command begins after these words.
                let goes_on = matches!(
                    done,
                    "if" | "then" | "else" | "elif" | "do" | "while" | "until" | "time" | "!" | "{"
                );
                is_command =
                    if begun { is_command && (goes_on || done.contains('=')) } else { is_command };
                is_command |= c == '\n';
                begun = false;
            }
            ';' | '|' | '&' | '(' | '`' => (is_command, begun) = (true, false),
            '<' | '>' => (is_command, begun) = (false, false),
            '\\' => {
                chars.next();
                begun = true;
            }
            '\'' | '"' => {
                (quote, quote_at) = (Some(c), at);
                begun = true;
            }
            _ => begun = true,
        }
    }
    if !begun {
        start = typed.len();
    }
    match quote {
        // A quote in the middle of a word: the text inside it is completed.
        Some(_) => {
            WordToComplete { start: quote_at, text: &typed[quote_at + 1..], quote, is_command }
        }
        None => WordToComplete { start, text: &typed[start..], quote, is_command },
    }
}

impl Completer for Completions {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let word = word_at_end(&line[..at]);
        Ok((word.start, self.find_candidates(&word)))
    }
}

impl Validator for Completions {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_complete(context.input().as_bytes()) {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}

impl Hinter for Completions {
    type Hint = String;
}

impl Highlighter for Completions {}
impl Helper for Completions {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_at_the_end_is_found() {
        let is = |typed: &str| {
            let w = word_at_end(typed);
            (w.start, w.text.to_owned(), w.quote, w.is_command)
        };
        assert_eq!(is(""), (0, "".into(), None, true));
        assert_eq!(is("ec"), (0, "ec".into(), None, true));
        assert_eq!(is("cat a"), (4, "a".into(), None, false));
        assert_eq!(is("cat "), (4, "".into(), None, false));
        assert_eq!(is("cat x; l"), (7, "l".into(), None, true));
        assert_eq!(is("a | b"), (4, "b".into(), None, true));
        assert_eq!(is("A=1 gr"), (4, "gr".into(), None, true));
        assert_eq!(is("if tr"), (3, "tr".into(), None, true));
        assert_eq!(is("cat a\\ b"), (4, "a\\ b".into(), None, false));
        assert_eq!(is("cat 'a b"), (4, "a b".into(), Some('\''), false));
        assert_eq!(is("cat > o"), (6, "o".into(), None, false));
        assert_eq!(is("echo é/ü"), (5, "é/ü".into(), None, false));
    }

    #[test]
    fn words_are_read_back() {
        assert_eq!(escape_word("a b$"), "a\\ b\\$");
        assert_eq!(unescape_word("a\\ b", None), "a b");
        assert_eq!(unescape_word("a\\ b", Some('\'')), "a\\ b");
        assert_eq!(quote_word("it's", '\''), "it'\\''s");
        assert_eq!(quote_word("a\"$", '"'), "a\\\"\\$");
    }
}
