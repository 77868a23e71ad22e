//! The parts of a context that fit on a line.
//!
//! A line has the keyword with the text after it on its right half, and the text before it on the
//! left. If there is room, text that continues the right half wraps round to the beginning of the
//! line (the tail), and text before the left half to its end (the head). Fields contain whole
//! words only, so that they may be shorter than their room.

use super::text::{Contexts, Occurrence, PtxText, skip_white, skip_white_back};
use super::{PtxOptions, ReferenceKind};

/// A part of the text, with whether text is missing at its outer end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineField {
    pub start: usize,
    pub end: usize,
    pub is_cut: bool,
}

impl LineField {
    /// Returns the number of bytes. An empty field before the keyword may begin after the blanks
    /// that it ends before; its length is then negative, which moves the rest of the line.
    pub(super) fn length(&self) -> isize {
        distance(self.start, self.end)
    }
}

/// The fields of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineFields {
    pub tail: LineField,
    pub before: LineField,
    /// The keyword and the text after it.
    pub keyword: LineField,
    pub head: LineField,
}

/// The room of fields. A width may be negative, in which case a field has no room.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldWidths {
    pub half_line: isize,
    pub before: isize,
    pub keyword: isize,
    pub gap: isize,
    /// The room of references, without a gap.
    pub reference: usize,
}

impl FieldWidths {
    pub(super) fn new(options: &PtxOptions, text: &PtxText) -> FieldWidths {
        let reference = match options.references {
            ReferenceKind::None => 0,
            ReferenceKind::FirstWord => text.longest_reference,
            ReferenceKind::Automatic => {
                let mut before = 0;
                let lengths = text.files.iter().map(|file| {
                    let line = file.lines + 1 - before;
                    before = file.lines;
                    line.to_string().len() + file.name.len()
                });
                // One more for the colon between the file and the line.
                lengths.max().unwrap_or(0) + 1
            }
        };
        let gap = options.gap.cast_signed();
        let mut line = options.width.cast_signed();
        if options.references != ReferenceKind::None && !options.references_on_right {
            line -= reference.cast_signed() + gap;
        }
        let half_line = line.max(0) / 2;
        let marks = 2 * options.truncation.len().cast_signed();
        let (before, keyword) = if options.is_traditional {
            (half_line - gap, half_line - marks - 1)
        } else {
            ((half_line - gap - marks).max(0), half_line - marks)
        };
        FieldWidths { half_line, before, keyword, gap, reference }
    }
}

fn distance(from: usize, to: usize) -> isize {
    to.cast_signed() - from.cast_signed()
}

/// Returns the fields of a keyword's line.
pub(super) fn define_fields(
    text: &[u8],
    longest_word: usize,
    occurrence: &Occurrence,
    contexts: &Contexts,
    widths: &FieldWidths,
) -> LineFields {
    let skip = |at: usize, end: usize| contexts.skip_something(text, at, end);
    let Occurrence { start: key, end: key_end, left, right, .. } = *occurrence;

    // The keyword may be longer than its field.
    let mut keyword = LineField { start: key, end: key_end, is_cut: false };
    let mut at = key_end;
    while at < right && distance(key, at) <= widths.keyword {
        keyword.end = at;
        at = skip(at, right);
    }
    if distance(key, at) <= widths.keyword {
        keyword.end = at;
    }
    keyword.is_cut = keyword.end < right;
    keyword.end = skip_white_back(text, keyword.end, key);

    // No field begins before this place, so that a long context costs no more than a short one.
    let reach = widths.half_line.cast_unsigned() + longest_word;
    let first = if key - left > reach { skip(key - reach, key) } else { left };

    let mut before = LineField { start: first, end: key, is_cut: false };
    before.end = skip_white_back(text, key, first);
    while before.start < before.end && distance(before.start, before.end) > widths.before {
        before.start = skip(before.start, before.end);
    }
    before.is_cut = skip_white_back(text, before.start, 0) > left;
    before.start = skip_white(text, before.start, text.len());

    let mut tail = LineField::default();
    let room = widths.before - distance(before.start, before.end) - widths.gap;
    if room > 0 {
        tail.start = skip_white(text, keyword.end, text.len());
        tail.end = tail.start;
        let mut at = tail.end;
        while at < right && distance(tail.start, at) < room {
            tail.end = at;
            at = skip(at, right);
        }
        if distance(tail.start, at) < room {
            tail.end = at;
        }
        if tail.end > tail.start {
            keyword.is_cut = false;
            tail.is_cut = tail.end < right;
        }
        tail.end = skip_white_back(text, tail.end, tail.start);
    }

    let mut head = LineField::default();
    let room = widths.keyword - distance(keyword.start, keyword.end) - widths.gap;
    if room > 0 {
        head.end = skip_white_back(text, before.start, 0);
        head.start = first;
        while head.start < head.end && distance(head.start, head.end) > room {
            head.start = skip(head.start, head.end);
        }
        if head.end > head.start {
            before.is_cut = false;
            head.is_cut = head.start > left;
        }
        head.start = skip_white(text, head.start, head.end);
    }
    LineFields { tail, before, keyword, head }
}
