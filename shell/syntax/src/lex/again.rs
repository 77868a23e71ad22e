//! Operands within double quotes that mean something else once their own quotes are gone.
//!
//! To bash the word in `"${x:-word}"` is text: it looks for its end, takes the double quotes out
//! that are in it (and, between them, the backslashes that quote), and reads what is left as if
//! that stood within the double quotes itself. Nearly always that is what reading the word as it
//! stands gives. Where it is not, as in `"$v"x` (`$vx`) or `"$"$` (`$$`), the word is read again
//! in bash's way.

use super::table::{NAME, is};
use super::word::Builder;
use super::{Machine, Mark, Res};
use crate::ast::{ParamName, ParamOp, Word, WordPart};
use crate::lex::mode::Inside;

/// What reading an operand as it stands has shown.
#[derive(Default)]
pub(crate) struct Noticed {
    /// There is an operand.
    pub inside: bool,
    /// Without its quotes it is something else.
    pub again: bool,
    /// Its end may be another one, too: bash takes no notice of `$$` as it looks for it.
    pub end: bool,
    /// Where a `$'...'` that makes a closing brace begins and ends, and its text, and those behind it.
    pub closing: Vec<(usize, usize, Vec<u8>)>,
    /// The edits that are text to bash, but have to be printed as the source has them.
    pub kept: Vec<usize>,
}

/// How many bytes are read again in a word, that nested operands take no time that grows
/// exponentially; what comes behind is read as it stands.
pub(super) const MAX_AGAIN: usize = 1 << 20;

impl Machine<'_, '_> {
    /// The operand that begins at `pos`, within double quotes, up to its `}`.
    pub fn operand_in_quotes(&mut self) -> Res<Word> {
        let mark = self.mark();
        let here = Noticed { inside: true, ..Noticed::default() };
        let outer = std::mem::replace(&mut self.st.operand, here);
        let mut b = Builder::default();
        let read = self.within(Inside::QuotedOperand, |m| m.quoted_operand(&mut b));
        let noticed = std::mem::replace(&mut self.st.operand, outer);
        let again = noticed.again && self.read_again < MAX_AGAIN;
        read?;
        if let Some((_, end, _)) = noticed.closing.first()
            && self.read_again < MAX_AGAIN
            && !self.src.get(*end..self.pos).is_some_and(|rest| rest.contains(&b'"'))
        {
            // What comes behind the brace stands within the double quotes around.
            self.st.read_again += self.pos - mark.pos;
            self.rewind(&mark);
            for (start, end, text) in noticed.closing.into_iter().rev() {
                self.splice(start, end, &text);
                let lines = memchr::memchr_iter(b'\n', &text).count();
                self.take_lines(lines as u32);
            }
            self.pos = mark.pos;
            return self.operand_in_quotes();
        }
        if again && noticed.end {
            let found = self.find_operand_end(&mark)?;
            self.st.hidden_end |= !found;
        }
        let text = if again { self.raw_from(mark.pos) } else { Box::default() };
        for at in noticed.kept {
            if let Some(edit) = self.st.edits.get_mut(at) {
                edit.text = self.st.src.get(edit.start..edit.end).unwrap_or_default().to_vec();
            }
        }
        if again {
            return self.operand_again(&mark, &text, b.finish());
        }
        let raw = self.raw_from(mark.pos);
        let whole = outside_quotes(&raw);
        Ok(named(b.finish(), &whole, raw))
    }

    /// Goes from where an operand has been read to, which began at `start`, to the `}` that ends it
    /// to bash. False, and nothing has changed, if there is none.
    fn find_operand_end(&mut self, start: &Mark) -> Res<bool> {
        // What lies behind the quotes around it bash does not see.
        let rest = self.rest();
        let length = match self.mode.heredoc {
            true => rest.len(),
            false => memchr::memchr(b'"', rest).unwrap_or(rest.len()),
        };
        let text = self.src.get(start.pos..self.pos + length).unwrap_or_default().to_vec();
        self.st.read_again += text.len();
        let mut inner = self.inner(text, start.line);
        inner.st.read_again = MAX_AGAIN;
        inner.begin_word();
        match inner.skip_braces(start.line, !self.mode.heredoc, !self.opts.posix) {
            Ok(()) => {}
            Err(e) if e.is_limit() => return Err(e),
            Err(_) => return Ok(false),
        }
        let (end, edits) = (start.pos + inner.pos - 1, std::mem::take(&mut inner.st.edits));
        let before = self.pos;
        self.rewind(&Mark { edits: self.edits.len(), ..*start });
        self.advance_to(end);
        self.st.edits.retain(|edit| edit.end <= end);
        for mut edit in edits {
            edit.start += start.pos;
            edit.end += start.pos;
            if edit.start >= before && edit.end <= end {
                self.st.edits.push(edit);
            }
        }
        Ok(true)
    }

    /// The operand from its beginning to `pos`, spelled `text`: read without its quotes; as it
    /// stands it has those `parts`.
    fn operand_again(&mut self, start: &Mark, text: &[u8], parts: Vec<WordPart>) -> Res<Word> {
        let raw = self.raw_from(start.pos);
        self.st.read_again += text.len();
        let mut inner = self.inner(text.to_vec(), start.line);
        inner.st.read_again = MAX_AGAIN;
        inner.begin_word();
        let text = match inner.without_quotes() {
            Ok(text) => text,
            Err(e) if e.is_limit() => return Err(e),
            Err(_) => return Ok(named(parts, &outside_quotes(&raw), raw)),
        };
        let mut inner = self.inner(text.clone(), start.line);
        inner.st.read_again = self.read_again + text.len();
        inner.begin_word();
        let mut b = Builder::default();
        let result = inner.text_in_quotes(&mut b);
        self.st.read_again = inner.read_again;
        match result {
            Ok(()) => {}
            Err(e) if e.is_limit() => return Err(e),
            Err(_) => b.part(super::param::bad_part()),
        }
        Ok(named(b.finish(), &text, raw))
    }

    /// All of the text without the double quotes in it, and without backslashes between them that
    /// quote nothing there. What stands in expansions stays as it is.
    fn without_quotes(&mut self) -> Res<Vec<u8>> {
        let mut text = Vec::new();
        let mut quoted = false;
        while let Some(c) = self.peek() {
            let start = self.pos;
            match (c, self.peek_at(1)) {
                (b'"', _) => {
                    quoted = !quoted;
                    self.pos += 1;
                    continue;
                }
                (b'\\', Some(next)) => {
                    self.pos += 2;
                    if quoted && !matches!(next, b'$' | b'`' | b'"' | b'\\' | b'\n') {
                        text.push(next);
                        continue;
                    }
                }
                (b'`', _) => drop(self.backquoted(true)?),
                (b'$', Some(b'{' | b'(')) => drop(self.dollar(true)?),
                _ => self.pos += 1,
            }
            text.extend_from_slice(self.src.get(start..self.pos).unwrap_or_default());
        }
        Ok(text)
    }

    /// Notices `$$` before `pos` if a brace or parenthesis follows, which bash takes for the
    /// beginning of an expansion as it looks for the operand's end.
    pub fn after_process_number(&mut self) {
        if matches!(self.peek(), Some(b'{' | b'('))
            && self.src.get(..self.pos).is_some_and(|before| before.ends_with(b"$$"))
        {
            self.st.operand.again = true;
            self.st.operand.end = true;
        }
    }

    /// Notices what the quote at `pos`, which closes, keeps apart.
    pub fn before_closing_quote(&mut self, b: &mut Builder) {
        let next = self.peek_at(1);
        let named = || next.is_some_and(|c| is(c, NAME) || matches!(c, b'"' | b'$'));
        self.st.operand.again |= match ends_in_name(b) {
            true => named(),
            false => b.ends_in_dollar() && next != Some(b'}'),
        };
    }

    /// Notices what the backslash at `pos`, which stands between quotes, keeps apart.
    pub fn before_backslash(&mut self, b: &mut Builder) {
        self.st.operand.again |= b.ends_in_dollar() || ends_in_name(b);
    }
}

/// Whether `$name` comes last.
pub(super) fn ends_in_name(b: &mut Builder) -> bool {
    let Some(WordPart::Param(param)) = b.last_part() else { return false };
    matches!((&param.name, &param.op), (ParamName::Variable(_), ParamOp::Plain))
        && param.raw.get(1) != Some(&b'{')
}

/// The word, its messages showing `whole`.
fn named(mut parts: Vec<WordPart>, whole: &[u8], raw: Box<[u8]>) -> Word {
    parts.iter_mut().any(|part| match part {
        WordPart::DoubleQuoted(inside) => super::param::name_bad(inside, whole),
        part => super::param::name_bad(std::slice::from_mut(part), whole),
    });
    super::arith_end::name_lost(&mut parts, &raw);
    Word { parts, raw }
}

/// The spelling of a text without its double quotes.
pub(crate) fn outside_quotes(raw: &[u8]) -> Vec<u8> {
    let mut escaped = false;
    let kept = raw.iter().filter(|c| {
        let quote = **c == b'"' && !escaped;
        escaped = **c == b'\\' && !escaped;
        !quote
    });
    kept.copied().collect()
}
