//! Completion for the Tab key, and the check whether a command is complete.

use crate::CliFailure;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use sh_syntax::parse::is_complete;
use sh_syntax::word::{WordToComplete, word_at_end};
use std::collections::BTreeSet;
use std::sync::Arc;
use wasibox::diff::{ImageFiles, list_names};
use wasibox::{Image, MountSpec, Session};

/// Maximum number of offered names.
const MOST: usize = 1000;

/// The shell's builtins and reserved words that people type.
pub const BUILTINS: &[&str] = &[
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
        let plain = word.plain_text();
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
    Pair { display, replacement: word.replacement(text) + end }
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
