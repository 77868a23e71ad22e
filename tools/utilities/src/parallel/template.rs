//! Replacement strings: a command with `{}`, `{2/.}` and similar, and its text for some arguments.

use super::input::ArgumentTuple;

/// A command line with replacement strings.
pub(super) struct Template {
    /// The words of the command; a word with pieces is repeated for `-X`.
    words: Vec<Vec<Piece>>,
}

enum Piece {
    Text(Vec<u8>),
    /// All arguments, or one of them, counted from 1 or, if negative, from the end.
    Argument {
        index: Option<i64>,
        view: View,
    },
    JobNumber,
    Slot,
}

/// The part of an argument that is inserted.
#[derive(Clone, Copy, PartialEq)]
enum View {
    Whole,
    NoSuffix,
    Base,
    Folder,
    BaseNoSuffix,
}

impl View {
    fn parse(text: &[u8]) -> Option<View> {
        Some(match text {
            b"" => View::Whole,
            b"." => View::NoSuffix,
            b"/" => View::Base,
            b"//" => View::Folder,
            b"/." => View::BaseNoSuffix,
            _ => return None,
        })
    }

    fn of(self, value: &[u8]) -> &[u8] {
        match self {
            View::Whole => value,
            View::NoSuffix => without_suffix(value),
            View::Base => base_name(value),
            View::Folder => folder(value),
            View::BaseNoSuffix => without_suffix(base_name(value)),
        }
    }
}

fn base_name(value: &[u8]) -> &[u8] {
    value.iter().rposition(|c| *c == b'/').map_or(value, |at| &value[at + 1..])
}

fn without_suffix(value: &[u8]) -> &[u8] {
    match value.iter().rposition(|c| matches!(c, b'.' | b'/')) {
        Some(at) if value[at] == b'.' && at + 1 < value.len() => &value[..at],
        _ => value,
    }
}

fn folder(value: &[u8]) -> &[u8] {
    let trimmed = value.trim_ascii_end();
    let end = trimmed.iter().rposition(|c| *c != b'/').map_or(0, |at| at + 1);
    match trimmed[..end].iter().rposition(|c| *c == b'/') {
        None if end == 0 && !value.is_empty() => b"/",
        None => b".",
        Some(at) => match trimmed[..at].iter().rposition(|c| *c != b'/') {
            Some(last) => &trimmed[..=last],
            None => b"/",
        },
    }
}

/// Quotes a value for the shell if it has a character that could mean something there.
pub(super) fn quote(value: &[u8]) -> Vec<u8> {
    let is_plain =
        |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b'+' | b'/');
    if !value.is_empty() && value.iter().all(is_plain) {
        return value.to_vec();
    }
    let mut out = b"'".to_vec();
    for &c in value {
        if c == b'\'' {
            out.extend_from_slice(b"'\"'\"'");
        } else {
            out.push(c);
        }
    }
    out.push(b'\'');
    out
}

impl Template {
    /// Parses the words of a command. `all` is the replacement string for all arguments; `names`
    /// are those of lists with a header.
    pub(super) fn parse(
        words: &[Vec<u8>],
        all: &[u8],
        names: &[Vec<u8>],
        quotes: bool,
    ) -> Template {
        let parse = |word: &Vec<u8>| {
            let word = if quotes { quote(word) } else { word.clone() };
            parse_pieces(&word, all, names)
        };
        // A word of the command line may be a command of several words.
        let split = |word: &Vec<u8>| -> Vec<Vec<u8>> {
            if quotes {
                vec![word.clone()]
            } else {
                word.split(|c| *c == b' ').map(<[u8]>::to_vec).collect()
            }
        };
        Template { words: words.iter().flat_map(split).map(|w| parse(&w)).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns whether there is a replacement string for arguments.
    pub(super) fn has_arguments(&self) -> bool {
        self.words.iter().flatten().any(|p| matches!(p, Piece::Argument { .. }))
    }

    /// Adds ` {}` at the end.
    pub(super) fn append_all(&mut self) {
        self.words.push(vec![Piece::Argument { index: None, view: View::Whole }]);
    }

    /// Returns the command line for some arguments, which are quoted for the shell if `quotes` is
    /// true. Without a command, it is the arguments themselves.
    pub(super) fn expand(
        &self,
        tuple: &ArgumentTuple,
        number: usize,
        slot: usize,
        quotes: bool,
    ) -> Vec<u8> {
        if self.words.is_empty() {
            return tuple.values.join(&b' ');
        }
        let mut out: Vec<Vec<u8>> = Vec::new();
        for word in &self.words {
            let repeats = tuple.context
                && word.iter().any(|p| matches!(p, Piece::Argument { index: None, .. }));
            if repeats {
                for value in &tuple.values {
                    out.push(expand_word(word, std::slice::from_ref(value), number, slot, quotes));
                }
            } else {
                out.push(expand_word(word, &tuple.values, number, slot, quotes));
            }
        }
        out.join(&b' ')
    }
}

fn expand_word(
    word: &[Piece],
    values: &[Vec<u8>],
    number: usize,
    slot: usize,
    quotes: bool,
) -> Vec<u8> {
    let show = |value: &[u8]| if quotes { quote(value) } else { value.to_vec() };
    let mut out = Vec::new();
    for piece in word {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text),
            Piece::JobNumber => out.extend_from_slice(number.to_string().as_bytes()),
            Piece::Slot => out.extend_from_slice(slot.to_string().as_bytes()),
            Piece::Argument { index: None, view } => {
                let shown: Vec<Vec<u8>> = values.iter().map(|v| show(view.of(v))).collect();
                out.extend_from_slice(&shown.join(&b' '));
            }
            Piece::Argument { index: Some(index), view } => {
                let at = usize::try_from(if *index < 0 {
                    values.len() as i64 + index
                } else {
                    index - 1
                });
                if let Some(value) = at.ok().and_then(|at| values.get(at)) {
                    out.extend_from_slice(&show(view.of(value)));
                }
            }
        }
    }
    out
}

fn parse_pieces(word: &[u8], all: &[u8], names: &[Vec<u8>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    let mut at = 0;
    while at < word.len() {
        let rest = &word[at..];
        let found = if !all.is_empty() && rest.starts_with(all) {
            Some((Piece::Argument { index: None, view: View::Whole }, all.len()))
        } else if rest.starts_with(b"{") {
            let end = rest.iter().position(|c| *c == b'}');
            end.and_then(|end| {
                let inside = &rest[1..end];
                // `-I` takes the meaning of {} only.
                let is_plain = inside.is_empty() && all != b"{}";
                (!is_plain).then(|| parse_inside(inside, names)).flatten().map(|p| (p, end + 1))
            })
        } else {
            None
        };
        match found {
            Some((piece, length)) => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(piece);
                at += length;
            }
            None => {
                text.push(word[at]);
                at += 1;
            }
        }
    }
    if !text.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// Parses the text between braces.
fn parse_inside(inside: &[u8], names: &[Vec<u8>]) -> Option<Piece> {
    match inside {
        b"#" => return Some(Piece::JobNumber),
        b"%" => return Some(Piece::Slot),
        _ => {}
    }
    if let Some(view) = View::parse(inside) {
        return Some(Piece::Argument { index: None, view });
    }
    for (n, name) in names.iter().enumerate() {
        if let Some(view) = inside.strip_prefix(name.as_slice()).and_then(View::parse) {
            return Some(Piece::Argument { index: Some(n as i64 + 1), view });
        }
    }
    let sign = usize::from(inside.starts_with(b"-"));
    let digits = inside[sign..].iter().take_while(|c| c.is_ascii_digit()).count();
    let index: i64 = std::str::from_utf8(&inside[..sign + digits]).ok()?.parse().ok()?;
    let view = View::parse(&inside[sign + digits..])?;
    (index != 0).then_some(Piece::Argument { index: Some(index), view })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those of GNU parallel 20221122.
    #[test]
    fn replacement_strings() {
        let text = |command: &str, values: &[&str]| {
            let words = [command.as_bytes().to_vec()];
            let values = values.iter().map(|v| v.as_bytes().to_vec()).collect();
            let tuple = ArgumentTuple { values, context: false };
            let line = Template::parse(&words, b"{}", &[], false).expand(&tuple, 3, 2, true);
            String::from_utf8(line).expect("text")
        };
        for (command, value, expected) in [
            ("{} {.} {/} {//} {/.}", "d/e.tar.gz", "d/e.tar.gz d/e.tar e.tar.gz d e.tar"),
            ("{.} {//}", "f", "f ."),
            ("{/} {//}", "/a", "a /"),
            ("{} {//}", "a b/c", "'a b/c' 'a b'"),
            ("{#}of{%}", "x", "3of2"),
            ("{1}{2}-{-1}", "x", "x-x"),
            ("{x} {", "y", "{x} {"),
            ("{}", "c'd", "'c'\"'\"'d'"),
            ("{}", "", "''"),
        ] {
            assert_eq!(text(command, &[value]), expected, "{command}");
        }
        assert_eq!(text("{2}+{1}", &["a", "b"]), "b+a");
    }
}
