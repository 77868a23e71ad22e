//! The output of `--debug`: each line with its keys underlined, and warnings about options that may
//! not have the intended effect.

use std::io::{self, Write};

use box_applet::{Ctx, Env};
use box_text::number::parse_float;

use super::key::{LineKey, Ordering, SortKind};
use super::number;
use super::options::SortOptions;
use crate::common::locale::text_width;

/// An output that underlines the keys of the lines written to it.
pub(super) struct DebugWriter<'o> {
    out: &'o mut dyn Write,
    options: &'o SortOptions,
    /// Whether characters are UTF-8 sequences; otherwise each byte takes a column.
    utf8: bool,
    /// The beginning of a line whose end has not been written yet.
    line: Vec<u8>,
}

impl<'o> DebugWriter<'o> {
    pub(super) fn new(
        out: &'o mut dyn Write,
        options: &'o SortOptions,
        utf8: bool,
    ) -> DebugWriter<'o> {
        DebugWriter { out, options, utf8, line: Vec::new() }
    }

    fn width(&self, text: &[u8]) -> usize {
        if self.utf8 { text_width(text) } else { text.len() }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let shown: Vec<u8> =
            line.iter().map(|byte| if *byte == b'\t' { b'>' } else { *byte }).collect();
        self.out.write_all(&[&shown[..], b"\n"].concat())?;
        let o = self.options;
        // Without keys and ordering options, the line itself is the only key.
        let is_line_alone = !o.keyed && o.global.is_default();
        if !is_line_alone {
            for key in &o.keys {
                let (start, end) = marked_range(key, &line);
                self.underline(&shown, start, end)?;
            }
        }
        if is_line_alone || !o.stable {
            self.underline(&shown, 0, shown.len())?;
        }
        Ok(())
    }

    fn underline(&mut self, shown: &[u8], start: usize, end: usize) -> io::Result<()> {
        let mark = match self.width(&shown[start..end]) {
            0 => "^ no match for key".to_string(),
            width => "_".repeat(width),
        };
        let indent = " ".repeat(self.width(&shown[..start]));
        self.out.write_all(format!("{indent}{mark}\n").as_bytes())
    }
}

impl Write for DebugWriter<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        for part in data.split_inclusive(|byte| *byte == self.options.delimiter) {
            match part.strip_suffix(&[self.options.delimiter]) {
                Some(end) => {
                    self.line.extend_from_slice(end);
                    self.write_line()?;
                }
                None => self.line.extend_from_slice(part),
            }
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the start and end of the part of a line that a key compares. If the key is a number or a
/// month, only the number or month itself is marked.
fn marked_range(key: &LineKey, line: &[u8]) -> (usize, usize) {
    let (start, end) = key.range(line);
    let text = line.get(start..end).unwrap_or_default();
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count();
    let rest = &text[blanks..];
    let length = match key.order.kind {
        SortKind::Text | SortKind::Version | SortKind::Random => return (start, end),
        SortKind::Numeric => numeric_length(rest),
        SortKind::Human => match numeric_length(rest) {
            0 => 0,
            n => n + usize::from(rest.get(n).is_some_and(|byte| b"kKMGTPEZY".contains(byte))),
        },
        SortKind::General => parse_float(rest).1,
        SortKind::Month if number::month_number(rest) > 0 => 3,
        SortKind::Month => 0,
    };
    (start + blanks, start + blanks + length)
}

/// Returns the length of the decimal number at the start of a text; 0 if there is none.
fn numeric_length(text: &[u8]) -> usize {
    let digits = |from: usize| {
        text.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let sign = usize::from(text.first() == Some(&b'-'));
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut count = whole;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        count += fraction;
        end += 1 + fraction;
    }
    if count > 0 { end } else { 0 }
}

/// Prints GNU's warnings about the options.
pub(super) fn warn_about_options(ctx: &mut Ctx<'_>, o: &SortOptions) {
    let locale = match locale_name(&ctx.env) {
        None => "text ordering performed using simple byte comparison".to_string(),
        Some(name) => format!("text ordering performed using \u{2018}{name}\u{2019} sorting rules"),
    };
    ctx.error(locale);
    let is_number = |key: &LineKey| {
        matches!(key.order.kind, SortKind::Numeric | SortKind::General | SortKind::Human)
    };
    for (at, key) in o.keys.iter().enumerate().filter(|_| o.keyed) {
        let number = at + 1;
        let has_no_width = key.end_field.is_some_and(|end| end < key.start_field);
        if has_no_width {
            ctx.error(format_args!("key {number} has zero width and will be ignored"));
            continue;
        }
        if has_significant_blanks(key) {
            ctx.error(format_args!(
                "leading blanks are significant in key {number}; consider also specifying 'b'"
            ));
        }
        if is_number(key) && key.end_field != Some(key.start_field) {
            ctx.error(format_args!("key {number} is numeric and spans multiple fields"));
        }
    }
    if o.keys.iter().any(is_number) {
        let is_separator = o.keys.iter().any(|key| key.tab == Some(b'.'));
        let note = if is_separator { "" } else { "note " };
        ctx.error(format_args!("{note}numbers use '.' as a decimal point in this locale"));
    }
    warn_about_ignored(ctx, o);
}

/// Returns the name of the locale that selects the collation; `None` if it is the C locale.
fn locale_name(env: &Env) -> Option<String> {
    let names: [&[u8]; 3] = [b"LC_ALL", b"LC_COLLATE", b"LANG"];
    let name = names.iter().find_map(|name| env.get(name).filter(|value| !value.is_empty()))?;
    (!matches!(name, b"C" | b"POSIX")).then(|| String::from_utf8_lossy(name).into_owned())
}

/// Returns whether a key includes blanks before a field, which is often not intended.
fn has_significant_blanks(key: &LineKey) -> bool {
    let order = &key.order;
    // Characters of the first field are counted from the start of the line.
    let is_of_line = key.end_field == Some(0) && key.end_char > 0;
    let skips_blanks = matches!(
        order.kind,
        SortKind::Numeric | SortKind::General | SortKind::Human | SortKind::Month
    );
    key.tab.is_none()
        && !is_of_line
        && (!order.skip_start && (!skips_blanks || key.start_char > 0)
            || !order.skip_end && key.end_char > 0)
}

/// Warns about global ordering options that no key uses, because each key has its own options.
fn warn_about_ignored(ctx: &mut Ctx<'_>, o: &SortOptions) {
    if !o.keyed {
        return;
    }
    let has = |order: &Ordering, letter| order.letters().contains(&letter);
    let mut unused = o.global.letters();
    unused.retain(|letter| !o.keys.iter().any(|key| has(&key.order, *letter)));
    let is_last_resort = unused.contains(&b'r') && !o.stable;
    if is_last_resort {
        unused.retain(|letter| *letter != b'r');
    }
    let letters = String::from_utf8_lossy(&unused).into_owned();
    match unused.len() {
        0 => {}
        1 => ctx.error(format_args!("option '-{letters}' is ignored")),
        _ => ctx.error(format_args!("options '-{letters}' are ignored")),
    }
    if is_last_resort {
        ctx.error("option '-r' only applies to last-resort comparison");
    }
}

#[cfg(test)]
mod tests {
    use super::numeric_length;

    // Expected values: the underlines of GNU sort 9.1.
    #[test]
    fn numbers() {
        for (text, length) in
            [("-1.5e3x", 4), ("1.", 2), (".5", 2), ("-.", 0), ("-", 0), ("+5", 0), ("0x1F", 1)]
        {
            assert_eq!(numeric_length(text.as_bytes()), length, "{text}");
        }
    }
}
