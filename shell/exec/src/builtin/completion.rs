//! Specifications of completions (bash manual 8.6), which `compgen` generates words from and
//! `complete` keeps.

use std::collections::BTreeSet;

use box_text::escape::single_quote;
use sh_expand::Str;

use super::{BuiltinArguments, BuiltinCall};
use crate::Shell;
use crate::shell::Unwind;

/// The options of `complete` and `compgen` that make a specification.
pub(super) const SPEC_OPTIONS: &str = "abcdefgjksuvo:A:G:W:F:C:X:P:S:";

/// The arguments of `-o`, in the order of listings.
pub(super) const BEHAVIOURS: [&str; 8] =
    ["bashdefault", "default", "dirnames", "filenames", "noquote", "nosort", "nospace", "plusdirs"];

/// The actions, each with its letter if it has one, in the order of listings.
pub(super) const ACTIONS: [(&str, Option<u8>); 24] = [
    ("alias", Some(b'a')),
    ("builtin", Some(b'b')),
    ("command", Some(b'c')),
    ("directory", Some(b'd')),
    ("export", Some(b'e')),
    ("file", Some(b'f')),
    ("group", Some(b'g')),
    ("job", Some(b'j')),
    ("keyword", Some(b'k')),
    ("service", Some(b's')),
    ("user", Some(b'u')),
    ("variable", Some(b'v')),
    ("arrayvar", None),
    ("binding", None),
    ("disabled", None),
    ("enabled", None),
    ("function", None),
    ("helptopic", None),
    ("hostname", None),
    ("running", None),
    ("setopt", None),
    ("shopt", None),
    ("signal", None),
    ("stopped", None),
];

/// A specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompletionSpec {
    /// Indices into [`BEHAVIOURS`].
    behaviours: BTreeSet<usize>,
    /// Indices into [`ACTIONS`].
    actions: BTreeSet<usize>,
    /// `-G`: a pattern for pathnames.
    pub(super) pathnames: Option<Str>,
    /// `-W`: words.
    pub(super) words: Option<Str>,
    pub(super) prefix: Option<Str>,
    pub(super) suffix: Option<Str>,
    /// `-X`: a pattern of words to leave out.
    pub(super) filter: Option<Str>,
    /// The function of `-F`.
    pub(super) function: Option<Str>,
    /// The command of `-C`.
    pub(super) command: Option<Str>,
}

impl CompletionSpec {
    /// Returns the specification that options make. If they are invalid, prints a message; the
    /// error says how the shell continues.
    pub(super) fn from_options(
        shell: &mut Shell<'_>,
        call: &BuiltinCall<'_>,
        p: &BuiltinArguments<'_>,
    ) -> Result<CompletionSpec, Unwind> {
        let mut spec = CompletionSpec::default();
        let value = |letter| p.last_value(letter).cloned();
        spec.pathnames = value(b'G');
        spec.words = value(b'W');
        spec.prefix = value(b'P');
        spec.suffix = value(b'S');
        spec.filter = value(b'X');
        spec.function = value(b'F');
        spec.command = value(b'C');
        for o in &p.options {
            let name = o.value.as_ref().map_or(&b""[..], |v| v);
            match o.letter {
                b'o' => spec.set(shell, call, name, true)?,
                b'A' => match ACTIONS.iter().position(|(a, _)| a.as_bytes() == name) {
                    Some(action) => drop(spec.actions.insert(action)),
                    None => {
                        shell.builtin_error(call.name(), &[name, b": invalid action name"]);
                        return Err(Unwind::Builtin(2));
                    }
                },
                letter => {
                    spec.actions.extend(ACTIONS.iter().position(|(_, l)| *l == Some(letter)));
                }
            }
        }
        Ok(spec)
    }

    /// Switches the behaviour that `-o` calls `name`.
    pub(super) fn set(
        &mut self,
        shell: &mut Shell<'_>,
        call: &BuiltinCall<'_>,
        name: &[u8],
        on: bool,
    ) -> Result<(), Unwind> {
        let Some(at) = BEHAVIOURS.iter().position(|b| b.as_bytes() == name) else {
            shell.builtin_error(call.name(), &[name, b": invalid option name"]);
            return Err(Unwind::Builtin(2));
        };
        if on {
            self.behaviours.insert(at)
        } else {
            self.behaviours.remove(&at)
        };
        Ok(())
    }

    /// Returns whether `-o name` was given.
    pub(super) fn has_behaviour(&self, name: &str) -> bool {
        self.behaviours.iter().any(|at| BEHAVIOURS[*at] == name)
    }

    /// Returns the actions by name.
    pub(super) fn actions(&self) -> impl Iterator<Item = &'static str> {
        self.actions.iter().map(|at| ACTIONS[*at].0)
    }

    /// Returns the command `complete ... name` that makes the same specification.
    pub(super) fn command_line(&self, name: &[u8]) -> Vec<u8> {
        let mut words = vec![b"complete".to_vec()];
        let option = |at: &usize| format!("-o {}", BEHAVIOURS[*at]).into_bytes();
        words.extend(self.behaviours.iter().map(option));
        words.extend(self.actions.iter().map(|at| match ACTIONS[*at] {
            (_, Some(letter)) => vec![b'-', letter],
            (name, None) => format!("-A {name}").into_bytes(),
        }));
        for (letter, value) in [
            (b'G', &self.pathnames),
            (b'W', &self.words),
            (b'P', &self.prefix),
            (b'S', &self.suffix),
            (b'X', &self.filter),
            (b'C', &self.command),
        ] {
            words.extend(
                value.as_ref().map(|v| [&[b'-', letter, b' '], &*single_quote(v)].concat()),
            );
        }
        words.extend(self.function.as_ref().map(|f| [b"-F ", f.as_slice()].concat()));
        words.push(name.to_vec());
        [words.join(&b' '), b"\n".to_vec()].concat()
    }
}
