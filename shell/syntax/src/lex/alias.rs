//! Alias substitution (POSIX XCU 2.3.1; bash manual 6.6).
//!
//! The alias text takes the place of the word in the source buffer, and lexing continues at its
//! start. A span records where the text ends. Within it the alias is not expanded again, and after
//! a text that ends in a blank the next word is looked up, too.
//!
//! Substitution takes time for the length of the alias, not of the source: the text overwrites
//! bytes that were already consumed if there are enough of them and none is still needed.

use std::rc::Rc;

use super::table::{BLANK, has_class};
use super::{CommandParser, ParseState};

#[derive(Default)]
pub(crate) struct AliasState {
    spans: Vec<Span>,
    /// Whether the next word is looked up even if it is not a command name.
    pub next: bool,
    /// The last line that contained an alias, as it was, and its number.
    line: Option<(u32, Vec<u8>)>,
}

struct Span {
    name: Box<[u8]>,
    /// Position after the alias text.
    end: usize,
    /// Whether the text ends in a blank.
    chain: bool,
}

/// The maximum depth of aliases within aliases.
const MAX_SPANS: usize = 256;

impl ParseState<'_> {
    /// Forgets the aliases whose text ends before `start`, and returns whether the last of them
    /// requests a look-up of the word at `start`.
    pub fn alias_position(&mut self, start: usize) -> bool {
        while let Some(top) = self.alias.spans.last() {
            if top.end > start {
                break;
            }
            self.alias.next = top.chain;
            self.alias.spans.pop();
        }
        self.alias.next
    }

    /// Returns the current line as it was before substitutions.
    pub fn line_before_aliases(&self) -> Option<&[u8]> {
        self.alias.line.as_ref().filter(|(line, _)| *line == self.line).map(|(_, text)| &text[..])
    }

    /// Forgets all substitutions in progress.
    pub fn reset_aliases(&mut self) {
        self.alias.spans.clear();
        self.alias.next = false;
    }
}

impl CommandParser<'_, '_> {
    /// Substitutes the word `start..end` if it names an alias, and moves to the start of the alias
    /// text.
    pub fn substitute_alias(&mut self, start: usize, end: usize) -> bool {
        let name: Box<[u8]> = self.src.get(start..end).unwrap_or_default().into();
        self.substitute_alias_named(&name, start, end)
    }

    /// Substitutes an alias for a word that line continuations may interrupt; `name` is the word
    /// without them.
    pub fn substitute_alias_named(&mut self, name: &[u8], start: usize, end: usize) -> bool {
        if self.alias.spans.len() >= MAX_SPANS || self.alias.spans.iter().any(|s| *s.name == *name)
        {
            return false;
        }
        let Some(text) = self.aliases.get(name) else { return false };
        let chain = text.last().is_some_and(|&b| has_class(b, BLANK));
        let text = delimit_alias(text);
        if self.line_before_aliases().is_none() {
            let line = self.line_at(start).to_vec();
            self.st.alias.line = Some((self.line, line));
        }
        let end = self.splice_text(start, end, &text);
        let name = name.into();
        // `alias.next` does not change, because the first word of the text is looked up like the
        // word it replaces.
        self.alias.spans.push(Span { name, end, chain });
        true
    }

    /// Replaces `start..end` by `text`, moves to the start of the text and returns its end.
    pub fn splice_text(&mut self, start: usize, end: usize, text: &[u8]) -> usize {
        self.not_arith.clear();
        let st = &mut self.st;
        if st.words == 0
            && let Some(from) = end.checked_sub(text.len())
            && let Some(room) = st.src.get_mut(from..end)
        {
            room.copy_from_slice(text);
            st.pos = from;
            return end;
        }
        // This leaves room for the next texts, so that not every alias near the start moves the
        // whole source.
        let gap = if st.words == 0 { 4096 } else { 0 };
        let new = std::iter::repeat_n(b' ', gap).chain(text.iter().copied());
        let end = end.min(st.src.len());
        st.src.splice(start..end, new);
        let delta = (gap + text.len()) as isize - (end - start) as isize;
        for span in &mut st.alias.spans {
            span.end = span.end.saturating_add_signed(delta);
        }
        st.shift += delta;
        st.pos = start + gap;
        start + gap + text.len()
    }
}

/// Returns the alias text, with a blank added if it could run into the text after it: bash ends
/// the last word of an alias where the alias ends, unless that is inside quotes.
fn delimit_alias(text: Rc<[u8]>) -> Rc<[u8]> {
    if text.is_empty()
        || text.last().is_some_and(|&b| has_class(b, BLANK) || b == b'\n')
        || ends_quoted(&text)
    {
        return text;
    }
    let mut t = text.to_vec();
    t.push(b' ');
    t.into()
}

/// Returns whether `text` ends inside quotes or after an unquoted backslash.
fn ends_quoted(text: &[u8]) -> bool {
    let mut quote = 0u8;
    let mut bytes = text.iter();
    while let Some(&b) = bytes.next() {
        match b {
            b'\\' if quote != b'\'' => {
                if bytes.next().is_none() {
                    return true;
                }
            }
            b'\'' | b'"' if quote == 0 => quote = b,
            _ if b == quote => quote = 0,
            _ => {}
        }
    }
    quote != 0
}
