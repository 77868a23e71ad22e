//! Cutting a text into fields: FS, FPAT, FIELDWIDTHS, and `split`.

use std::rc::Rc;

use box_text::number::utf8_len;
use box_text::regex::Regex;
use memchr::memchr;

/// Start and end of a field within its text.
pub type Span = (u32, u32);

/// The rule by which records are split into fields.
#[derive(Clone, Debug)]
pub enum AwkFieldSplitter {
    /// At runs of blanks and newlines, of which leading and trailing ones are ignored.
    Blanks,
    Byte(u8),
    /// At each match of the expression.
    Regex(Rc<Regex>),
    /// Each character is a field (`FS = ""`).
    Chars,
    /// The number of characters to skip, and of those that make the field; `None` for the rest of
    /// the text.
    Widths(Vec<(usize, Option<usize>)>),
    /// Each match is a field (FPAT).
    Pattern(Rc<Regex>),
    /// By the inner rule, and also at newlines (paragraph mode).
    OrNewline(Box<AwkFieldSplitter>),
}

#[inline]
fn is_blank(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n')
}

#[inline]
fn make_span(a: usize, b: usize) -> Span {
    (a as u32, b as u32)
}

impl AwkFieldSplitter {
    /// Splits from `pos` until there are `want` fields. Returns the offset to continue at, or
    /// `None` at the end of the text. The first call has `pos` 0 and no fields. Only
    /// [`AwkFieldSplitter::Blanks`] and [`AwkFieldSplitter::Byte`] ever stop early.
    #[inline]
    pub fn cut_on(
        &self,
        text: &[u8],
        pos: usize,
        want: usize,
        fields: &mut Vec<Span>,
        utf8: bool,
    ) -> Option<usize> {
        match self {
            AwkFieldSplitter::Blanks => {
                let mut at = pos;
                loop {
                    while at < text.len() && is_blank(text[at]) {
                        at += 1;
                    }
                    if at >= text.len() {
                        return None;
                    }
                    if fields.len() >= want {
                        return Some(at);
                    }
                    let from = at;
                    while at < text.len() && !is_blank(text[at]) {
                        at += 1;
                    }
                    fields.push(make_span(from, at));
                }
            }
            AwkFieldSplitter::Byte(sep) => {
                let mut at = pos;
                if text.is_empty() {
                    return None;
                }
                while fields.len() < want {
                    match memchr(*sep, &text[at..]) {
                        Some(n) => {
                            fields.push(make_span(at, at + n));
                            at += n + 1;
                        }
                        None => {
                            fields.push(make_span(at, text.len()));
                            return None;
                        }
                    }
                }
                Some(at)
            }
            _ => {
                self.cut_text(text, fields, None, utf8);
                None
            }
        }
    }

    /// Splits a whole text, and adds the separators to `seps` if given.
    pub fn cut_text(
        &self,
        text: &[u8],
        fields: &mut Vec<Span>,
        mut seps: Option<&mut Vec<Span>>,
        utf8: bool,
    ) {
        match self {
            AwkFieldSplitter::Blanks => {
                self.cut_on(text, 0, usize::MAX, fields, utf8);
                if let Some(seps) = seps {
                    // The separators are the blanks before, between and after the fields.
                    let mut end = 0;
                    for f in fields.iter() {
                        seps.push((end, f.0));
                        end = f.1;
                    }
                    seps.push(make_span(end as usize, text.len()));
                }
            }
            AwkFieldSplitter::Byte(_) => {
                self.cut_on(text, 0, usize::MAX, fields, utf8);
                if let Some(seps) = seps {
                    seps.extend(fields.windows(2).map(|w| (w[0].1, w[1].0)));
                }
            }
            AwkFieldSplitter::Chars => {
                let mut at = 0;
                while at < text.len() {
                    let len = if utf8 { utf8_len(&text[at..]) } else { 1 };
                    fields.push(make_span(at, at + len));
                    at += len;
                    if at < text.len()
                        && let Some(seps) = &mut seps
                    {
                        seps.push(make_span(at, at));
                    }
                }
            }
            AwkFieldSplitter::Regex(re) => {
                let find = |at| re.find_at(text, at);
                by_matches(text, fields, seps, find);
            }
            AwkFieldSplitter::OrNewline(inner) => match &**inner {
                AwkFieldSplitter::Blanks => inner.cut_text(text, fields, seps, utf8),
                AwkFieldSplitter::Byte(b) => {
                    let find = |at: usize| {
                        let n = memchr::memchr2(*b, b'\n', &text[at..])?;
                        Some((at + n, at + n + 1))
                    };
                    by_matches(text, fields, seps, find);
                }
                AwkFieldSplitter::Regex(re) => {
                    by_matches(text, fields, seps, |at| match_or_newline(re, text, at));
                }
                other => other.cut_text(text, fields, seps, utf8),
            },
            AwkFieldSplitter::Pattern(re) => by_content(re, text, fields, seps),
            AwkFieldSplitter::Widths(list) => by_widths(list, text, fields, utf8),
        }
    }
}

/// Returns the first match that is not empty, or newline, from `at` on.
fn match_or_newline(re: &Regex, text: &[u8], at: usize) -> Option<(usize, usize)> {
    let line = memchr(b'\n', &text[at..]).map(|n| (at + n, at + n + 1));
    let mut from = at;
    let hit = loop {
        match re.find_at(text, from) {
            Some((s, e)) if s == e && e < text.len() => from = e + 1,
            Some((s, e)) if s == e => break None,
            other => break other,
        }
    };
    match (line, hit) {
        (Some(l), Some(h)) if h.0 <= l.0 => Some(h),
        (None, hit) => hit,
        (line, _) => line,
    }
}

/// Splits a text into fields of fixed numbers of characters, each after a number of skipped
/// characters.
fn by_widths(list: &[(usize, Option<usize>)], text: &[u8], fields: &mut Vec<Span>, utf8: bool) {
    let chars = |from: usize, n: usize| {
        let mut at = from;
        for _ in 0..n {
            if at >= text.len() {
                break;
            }
            at += if utf8 { utf8_len(&text[at..]) } else { 1 };
        }
        at
    };
    let mut at = 0;
    for (skip, width) in list {
        // If the text ends right after the skipped characters, there still is a field, which is
        // empty.
        if at >= text.len() {
            break;
        }
        at = chars(at, *skip);
        let end = width.map_or(text.len(), |w| chars(at, w));
        fields.push(make_span(at, end));
        at = end;
    }
}

/// Splits a text at the matches that are not empty.
fn by_matches(
    text: &[u8],
    fields: &mut Vec<Span>,
    mut seps: Option<&mut Vec<Span>>,
    find: impl Fn(usize) -> Option<(usize, usize)>,
) {
    if text.is_empty() {
        return;
    }
    let (mut from, mut search) = (0, 0);
    while search <= text.len() {
        match find(search) {
            Some((s, e)) if e > s => {
                fields.push(make_span(from, s));
                if let Some(seps) = &mut seps {
                    seps.push(make_span(s, e));
                }
                from = e;
                search = e;
            }
            Some((_, e)) => search = e + 1,
            None => break,
        }
    }
    fields.push(make_span(from, text.len()));
}

/// Makes a field of each match. An empty match right after a field is not a field.
fn by_content(re: &Regex, text: &[u8], fields: &mut Vec<Span>, mut seps: Option<&mut Vec<Span>>) {
    if text.is_empty() {
        return;
    }
    let (mut pos, mut last_end, mut sep_from) = (0, None, 0);
    while pos <= text.len() {
        let Some((s, e)) = re.find_at(text, pos) else { break };
        if s == e && last_end == Some(s) {
            if s >= text.len() {
                break;
            }
            pos = s + utf8_len(&text[s..]).max(1);
            last_end = None;
            continue;
        }
        if let Some(seps) = &mut seps {
            seps.push(make_span(sep_from, s));
        }
        sep_from = e;
        fields.push(make_span(s, e));
        if s == e {
            pos = e + 1;
            last_end = None;
        } else {
            pos = e;
            last_end = Some(e);
        }
    }
    if let Some(seps) = &mut seps {
        seps.push(make_span(sep_from, text.len()));
    }
}
