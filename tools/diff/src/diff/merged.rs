//! Merges both files into one text, by formats for groups of lines and for single lines (diffutils
//! manual, "Merging Files with If-then-else").

use std::io::{self, Write};
use std::ops::Range;

use super::compare::TextComparison;

/// The maximum number of columns or digits that a format may ask for.
const WIDEST: usize = 999_999;

/// Returns whether a number in a format asks for more columns or digits than [`WIDEST`].
pub fn is_too_wide(format: &[u8]) -> bool {
    let starts = format.iter().enumerate().filter(|(_, byte)| **byte == b'%');
    starts.map(|(at, _)| &format[at + 1..]).any(|text| {
        let flags = text.iter().take_while(|c| b"-'0".contains(c)).count();
        let digits = text[flags..].iter().take_while(|c| c.is_ascii_digit() || **c == b'.');
        let text = &text[flags..][..digits.count()];
        text.split(|c| *c == b'.').any(|digits| decimal(digits) > WIDEST)
    })
}

/// The formats of groups and lines.
#[derive(Clone, Debug)]
pub struct Formats {
    pub old_group: Vec<u8>,
    pub new_group: Vec<u8>,
    pub unchanged_group: Vec<u8>,
    pub changed_group: Vec<u8>,
    pub old_line: Vec<u8>,
    pub new_line: Vec<u8>,
    pub unchanged_line: Vec<u8>,
}

/// The formats that the command line gives; `None` for the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenFormats {
    pub old_group: Option<Vec<u8>>,
    pub new_group: Option<Vec<u8>>,
    pub unchanged_group: Option<Vec<u8>>,
    pub changed_group: Option<Vec<u8>>,
    pub old_line: Option<Vec<u8>>,
    pub new_line: Option<Vec<u8>>,
    pub unchanged_line: Option<Vec<u8>>,
}

impl WrittenFormats {
    /// Adds formats. Returns `false` if one of them was already given with a different value.
    pub fn add(&mut self, more: WrittenFormats) -> bool {
        let pairs = [
            (&mut self.old_group, more.old_group),
            (&mut self.new_group, more.new_group),
            (&mut self.unchanged_group, more.unchanged_group),
            (&mut self.changed_group, more.changed_group),
            (&mut self.old_line, more.old_line),
            (&mut self.new_line, more.new_line),
            (&mut self.unchanged_line, more.unchanged_line),
        ];
        let mut fits = true;
        for (place, value) in pairs {
            if let Some(value) = value {
                fits &= place.as_ref().is_none_or(|old| *old == value);
                *place = Some(value);
            }
        }
        fits
    }
}

impl Formats {
    /// Returns all formats, with defaults for those that are not given.
    pub fn new(written: WrittenFormats) -> Formats {
        let changed = written.changed_group.clone();
        let group = |own: Option<Vec<u8>>, all: &[u8]| {
            own.or_else(|| changed.clone()).unwrap_or_else(|| all.to_vec())
        };
        let line = |own: Option<Vec<u8>>| own.unwrap_or_else(|| b"%l\n".to_vec());
        let old_group = group(written.old_group, b"%<");
        let new_group = group(written.new_group, b"%>");
        Formats {
            changed_group: changed.clone().unwrap_or_else(|| [&old_group[..], &new_group].concat()),
            unchanged_group: written.unchanged_group.unwrap_or_else(|| b"%=".to_vec()),
            old_line: line(written.old_line),
            new_line: line(written.new_line),
            unchanged_line: line(written.unchanged_line),
            old_group,
            new_group,
        }
    }

    /// Returns the formats of `-D NAME`: old lines where NAME is not defined, new lines where it
    /// is.
    pub fn ifdef(name: &[u8]) -> WrittenFormats {
        let text = |parts: &[&[u8]]| Some(parts.concat());
        WrittenFormats {
            old_group: text(&[b"#ifndef ", name, b"\n%<#endif /* ! ", name, b" */\n"]),
            new_group: text(&[b"#ifdef ", name, b"\n%>#endif /* ", name, b" */\n"]),
            unchanged_group: text(&[b"%="]),
            changed_group: text(&[
                b"#ifndef ",
                name,
                b"\n%<#else /* ",
                name,
                b" */\n%>#endif /* ",
                name,
                b" */\n",
            ]),
            ..WrittenFormats::default()
        }
    }

    /// Returns whether identical files give no output.
    pub fn is_silent_of_same(&self) -> bool {
        self.unchanged_group.is_empty()
            || self.unchanged_group == b"%=" && self.unchanged_line.is_empty()
    }
}

/// Writes both texts by the formats. `expand` returns the text of a line with its tabs expanded, if
/// the options ask for that.
pub fn print(
    out: &mut dyn Write,
    formats: &Formats,
    lines: &TextComparison<'_>,
    expand: &dyn Fn(&[u8]) -> Vec<u8>,
) -> io::Result<()> {
    let mut printer = MergedPrinter { out, formats, lines, expand };
    let (mut old, mut new) = (0, 0);
    for change in lines.changes.iter().filter(|change| !change.ignored) {
        printer.same(old..change.old.start, new..change.new.start)?;
        let format = match (change.old.is_empty(), change.new.is_empty()) {
            (true, _) => &formats.new_group,
            (_, true) => &formats.old_group,
            _ => &formats.changed_group,
        };
        let group = DiffGroup { old: change.old.clone(), new: change.new.clone() };
        printer.group(format, &group, None)?;
        (old, new) = (change.old.end, change.new.end);
    }
    printer.same(old..lines.old.len(), new..lines.new.len())
}

/// The lines of both texts that form a group.
struct DiffGroup {
    old: Range<usize>,
    new: Range<usize>,
}

impl DiffGroup {
    /// Returns the number that a letter stands for: lowercase letters for the old text, uppercase
    /// ones for the new text.
    fn number(&self, letter: u8) -> Option<usize> {
        let range = if letter.is_ascii_lowercase() { &self.old } else { &self.new };
        Some(match letter.to_ascii_lowercase() {
            b'e' => range.start,
            b'f' => range.start + 1,
            b'l' => range.end,
            b'm' => range.end + 1,
            b'n' => range.len(),
            _ => return None,
        })
    }
}

struct MergedPrinter<'a, 'l> {
    out: &'a mut dyn Write,
    formats: &'a Formats,
    lines: &'a TextComparison<'l>,
    expand: &'a dyn Fn(&[u8]) -> Vec<u8>,
}

/// A format item after `%`, as far as groups and lines share its syntax.
enum Common<'f> {
    /// The byte of `%%` or `%c'C'`.
    Byte(u8),
    /// A number with its format and its letter.
    Number(DiffNumber, u8),
    /// Any other item; the text begins with its letter.
    Other(&'f [u8]),
}

impl MergedPrinter<'_, '_> {
    fn same(&mut self, old: Range<usize>, new: Range<usize>) -> io::Result<()> {
        if old.is_empty() && new.is_empty() {
            return Ok(());
        }
        self.group(&self.formats.unchanged_group, &DiffGroup { old, new }, None).map(|_| ())
    }

    /// Writes a group by its format, up to the byte `end` if there is one. Returns the rest of the
    /// format.
    fn group<'f>(
        &mut self,
        format: &'f [u8],
        group: &DiffGroup,
        end: Option<u8>,
    ) -> io::Result<&'f [u8]> {
        let mut rest = format;
        loop {
            rest = match rest {
                [] => return Ok(rest),
                [byte, after @ ..] if Some(*byte) == end => return Ok(after),
                [b'%', after @ ..] => match common(after) {
                    (Common::Byte(byte), after) => {
                        self.out.write_all(&[byte])?;
                        after
                    }
                    (Common::Number(number, letter), after_number) => match group.number(letter) {
                        Some(value) => {
                            number.write(self.out, value)?;
                            after_number
                        }
                        None => self.percent(after)?,
                    },
                    (Common::Other([b'(', condition @ ..]), _) => {
                        match self.conditional(condition, group)? {
                            Some(after) => after,
                            None => self.percent(after)?,
                        }
                    }
                    (Common::Other([b'<', after @ ..]), _) => {
                        self.all(&self.formats.old_line, &self.lines.old, &group.old)?;
                        after
                    }
                    (Common::Other([b'=', after @ ..]), _) => {
                        self.all(&self.formats.unchanged_line, &self.lines.old, &group.old)?;
                        after
                    }
                    (Common::Other([b'>', after @ ..]), _) => {
                        self.all(&self.formats.new_line, &self.lines.new, &group.new)?;
                        after
                    }
                    (Common::Other(_), _) => self.percent(after)?,
                },
                [byte, after @ ..] => {
                    self.out.write_all(&[*byte])?;
                    after
                }
            };
        }
    }

    /// Writes a `%` that begins no format item; the text after it is ordinary.
    fn percent<'f>(&mut self, after: &'f [u8]) -> io::Result<&'f [u8]> {
        self.out.write_all(b"%")?;
        Ok(after)
    }

    /// Writes one branch of `A=B?THEN:ELSE)`; returns `None` if the text has a different form.
    fn conditional<'f>(
        &mut self,
        text: &'f [u8],
        group: &DiffGroup,
    ) -> io::Result<Option<&'f [u8]>> {
        let value = |text: &'f [u8]| -> Option<(usize, &'f [u8])> {
            let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
            if digits > 0 {
                return Some((decimal(&text[..digits]), &text[digits..]));
            }
            let (letter, rest) = text.split_first()?;
            Some((group.number(*letter)?, rest))
        };
        let Some((a, rest)) = value(text) else { return Ok(None) };
        let Some((b, rest)) = rest.strip_prefix(b"=").and_then(value) else { return Ok(None) };
        let Some(rest) = rest.strip_prefix(b"?") else { return Ok(None) };
        let rest = self.branch(rest, group, b':', a == b)?;
        Ok(Some(self.branch(rest, group, b')', a != b)?))
    }

    /// Writes one branch of a condition, or skips it.
    fn branch<'f>(
        &mut self,
        format: &'f [u8],
        group: &DiffGroup,
        end: u8,
        is_taken: bool,
    ) -> io::Result<&'f [u8]> {
        if is_taken {
            return self.group(format, group, Some(end));
        }
        let mut nothing = io::sink();
        let (formats, lines, expand) = (self.formats, self.lines, self.expand);
        MergedPrinter { out: &mut nothing, formats, lines, expand }.group(format, group, Some(end))
    }

    /// Writes each line of a range by the format.
    fn all(&mut self, format: &[u8], lines: &[&[u8]], range: &Range<usize>) -> io::Result<()> {
        range.clone().try_for_each(|at| self.line(format, lines[at], at + 1))
    }

    fn line(&mut self, format: &[u8], line: &[u8], line_number: usize) -> io::Result<()> {
        let mut rest = format;
        while let Some((byte, after)) = rest.split_first() {
            if *byte != b'%' {
                self.out.write_all(&[*byte])?;
                rest = after;
                continue;
            }
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            rest = match common(after) {
                (Common::Byte(byte), after) => {
                    self.out.write_all(&[byte])?;
                    after
                }
                (Common::Number(number, b'n'), after) => {
                    number.write(self.out, line_number)?;
                    after
                }
                (Common::Other([b'l', after @ ..]), _) => {
                    self.out.write_all(&(self.expand)(text))?;
                    after
                }
                (Common::Other([b'L', after @ ..]), _) => {
                    self.out.write_all(&(self.expand)(text))?;
                    self.out.write_all(&line[text.len()..])?;
                    after
                }
                _ => self.percent(after)?,
            };
        }
        Ok(())
    }
}

/// Parses the format item after a `%`; returns it and the rest of the text.
fn common(text: &[u8]) -> (Common<'_>, &[u8]) {
    if let Some(rest) = text.strip_prefix(b"%") {
        return (Common::Byte(b'%'), rest);
    }
    if let Some(rest) = text.strip_prefix(b"c'") {
        let octal = rest.strip_prefix(b"\\").map(|digits| {
            let count = digits.iter().take(3).take_while(|c| (b'0'..=b'7').contains(c)).count();
            let value = digits[..count].iter().fold(0u32, |n, d| n * 8 + u32::from(d - b'0'));
            (value as u8, count, &digits[count..])
        });
        match (octal, rest) {
            (Some((byte, 1.., [b'\'', rest @ ..])), _) => return (Common::Byte(byte), rest),
            (None, [byte, b'\'', rest @ ..]) if *byte != b'\'' => {
                return (Common::Byte(*byte), rest);
            }
            _ => {}
        }
    }
    match DiffNumber::parse(text) {
        Some((number, [letter, rest @ ..])) => (Common::Number(number, *letter), rest),
        _ => (Common::Other(text), text),
    }
}

/// Parses a decimal number; one that is too large becomes the largest.
fn decimal(digits: &[u8]) -> usize {
    digits.iter().fold(0usize, |n, d| n.saturating_mul(10).saturating_add(usize::from(d - b'0')))
}

/// The format of a number: `printf`'s flags, width, precision and base.
struct DiffNumber {
    is_left: bool,
    is_filled: bool,
    width: usize,
    precision: Option<usize>,
    base: u8,
}

impl DiffNumber {
    /// Parses `[-'0][WIDTH][.[PREC]]{doxX}`, for example `-5.3d`; returns it and the rest of the
    /// text.
    fn parse(text: &[u8]) -> Option<(DiffNumber, &[u8])> {
        let flags = text.iter().take_while(|c| b"-'0".contains(c)).count();
        let (flags, rest) = text.split_at(flags);
        let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let (width, mut rest) = rest.split_at(digits);
        let mut precision = None;
        if let Some(after) = rest.strip_prefix(b".") {
            let digits = after.iter().take_while(|c| c.is_ascii_digit()).count();
            precision = Some(decimal(&after[..digits]).min(WIDEST));
            rest = &after[digits..];
        }
        let (base, rest) = rest.split_first().filter(|(base, _)| b"doxX".contains(base))?;
        let number = DiffNumber {
            is_left: flags.contains(&b'-'),
            is_filled: flags.contains(&b'0'),
            width: decimal(width).min(WIDEST),
            precision,
            base: *base,
        };
        Some((number, rest))
    }

    fn write(&self, out: &mut dyn Write, value: usize) -> io::Result<()> {
        let digits = match self.base {
            b'o' => format!("{value:o}"),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            _ => value.to_string(),
        };
        // Padding is made by hand, because Rust's formatting macros limit widths to 16 bits.
        let fill = |byte: u8, width: usize, len: usize| vec![byte; width.saturating_sub(len)];
        let digits = match self.precision {
            Some(0) if value == 0 => Vec::new(),
            Some(least) => [fill(b'0', least, digits.len()), digits.into_bytes()].concat(),
            None => digits.into_bytes(),
        };
        let is_filled = self.is_filled && !self.is_left && self.precision.is_none();
        let padding = fill(if is_filled { b'0' } else { b' ' }, self.width, digits.len());
        let cell = if self.is_left { [digits, padding] } else { [padding, digits] };
        out.write_all(&cell.concat())
    }
}
