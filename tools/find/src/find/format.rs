//! `-printf` formats (findutils manual, "Format Directives").

use box_sys::{FileKind, Stat, meta};
use box_text::escape::control_char;
use box_text::time::CivilTime;
use box_text::time::strftime::format_strftime;

use super::entry::FindEntry;
use super::expr::{FindSettings, TimeOf};
use super::list;
use super::parse::Message;
use super::primary::file_time;

/// A parsed format.
#[derive(Debug, Default)]
pub struct FindFormat {
    pieces: Vec<FindPiece>,
}

#[derive(Debug)]
enum FindPiece {
    Text(Vec<u8>),
    Field(Layout, FindField),
    /// `\c`: nothing more of this format is printed.
    Stop,
}

#[derive(Clone, Copy, Debug, Default)]
struct Layout {
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

#[derive(Debug)]
enum FindField {
    /// One letter of the manual's list.
    Letter(u8),
    /// `%Ak`, `%Ck`, `%Tk`.
    Time(TimeOf, u8),
}

/// Widths beyond this are refused, because each takes as much memory.
const MAX_WIDTH: usize = 1 << 20;

impl FindFormat {
    /// Parses a format, and also returns warnings.
    pub fn parse(text: &[u8]) -> Result<(FindFormat, Vec<Message>), Message> {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let mut warnings = Vec::new();
        let mut rest = text;
        while let [c, tail @ ..] = rest {
            rest = tail;
            match c {
                b'\\' => match parse_escape(rest) {
                    Escape::Byte(byte, used) => {
                        literal.push(byte);
                        rest = &rest[used..];
                    }
                    Escape::Stop => {
                        pieces.push(FindPiece::Text(std::mem::take(&mut literal)));
                        pieces.push(FindPiece::Stop);
                        rest = &rest[1..];
                    }
                    Escape::Unknown(byte) => {
                        warnings
                            .push([b"unrecognized escape `\\".as_slice(), &[byte], b"'"].concat());
                        literal.extend_from_slice(&[b'\\', byte]);
                        rest = &rest[1..];
                    }
                    Escape::End => {
                        warnings.push(b"escape `\\' followed by nothing at all".to_vec());
                        literal.push(b'\\');
                    }
                },
                b'%' => {
                    if let [b'%', tail @ ..] = rest {
                        literal.push(b'%');
                        rest = tail;
                        continue;
                    }
                    let (layout, used) = parse_layout(rest);
                    if layout.width.max(layout.precision.unwrap_or(0)) > MAX_WIDTH {
                        return Err([b"too large a width in `%", &rest[..used], b"'"].concat());
                    }
                    match parse_directive(&rest[used..]) {
                        FindDirective::Field(field, more) => {
                            if !literal.is_empty() {
                                pieces.push(FindPiece::Text(std::mem::take(&mut literal)));
                            }
                            pieces.push(FindPiece::Field(layout, field));
                            rest = &rest[used + more..];
                        }
                        FindDirective::Unknown(letter) => {
                            warnings.push(
                                [b"unrecognized format directive `%".as_slice(), &[letter], b"'"]
                                    .concat(),
                            );
                            literal.push(b'%');
                            literal.extend_from_slice(&rest[..used + 1]);
                            rest = &rest[used + 1..];
                        }
                        FindDirective::End => {
                            return Err(b"error: % at end of format string".to_vec());
                        }
                    }
                }
                _ => literal.push(*c),
            }
        }
        if !literal.is_empty() {
            pieces.push(FindPiece::Text(literal));
        }
        Ok((FindFormat { pieces }, warnings))
    }

    /// Appends the format's output for an entry.
    pub fn write(&self, entry: &FindEntry, settings: &FindSettings, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                FindPiece::Text(text) => out.extend_from_slice(text),
                FindPiece::Stop => return,
                FindPiece::Field(layout, field) => {
                    let (value, numeric) = field_value(field, entry, settings, layout.alternate);
                    layout.lay_out(&value, numeric, out);
                }
            }
        }
    }
}

enum Escape {
    Byte(u8, usize),
    Stop,
    Unknown(u8),
    End,
}

fn parse_escape(rest: &[u8]) -> Escape {
    let Some(&c) = rest.first() else { return Escape::End };
    let byte = match c {
        b'\\' => b'\\',
        b'c' => return Escape::Stop,
        b'0'..=b'7' => {
            let digits = rest.iter().take(3).take_while(|d| (b'0'..=b'7').contains(d)).count();
            let value = rest[..digits].iter().fold(0u32, |n, d| n * 8 + u32::from(d - b'0'));
            return Escape::Byte((value & 0xFF) as u8, digits);
        }
        _ => match control_char(c) {
            Some(control) => control,
            None => return Escape::Unknown(c),
        },
    };
    Escape::Byte(byte, 1)
}

fn parse_layout(rest: &[u8]) -> (Layout, usize) {
    let mut l = Layout::default();
    let mut at = 0;
    loop {
        match rest.get(at) {
            Some(b'-') => l.left = true,
            Some(b'0') => l.zeros = true,
            Some(b'+') => l.plus = true,
            Some(b' ') => l.space = true,
            Some(b'#') => l.alternate = true,
            _ => break,
        }
        at += 1;
    }
    let number = |at: &mut usize| {
        let mut n = 0usize;
        while let Some(d @ b'0'..=b'9') = rest.get(*at) {
            n = (n * 10 + usize::from(d - b'0')).min(MAX_WIDTH + 1);
            *at += 1;
        }
        n
    };
    l.width = number(&mut at);
    if rest.get(at) == Some(&b'.') {
        at += 1;
        l.precision = Some(number(&mut at));
    }
    (l, at)
}

enum FindDirective {
    Field(FindField, usize),
    Unknown(u8),
    End,
}

fn parse_directive(rest: &[u8]) -> FindDirective {
    match rest {
        [] => FindDirective::End,
        [letter @ (b'A' | b'C' | b'T'), k, ..] => {
            let of = match letter {
                b'A' => TimeOf::Access,
                b'C' => TimeOf::Change,
                _ => TimeOf::Modify,
            };
            FindDirective::Field(FindField::Time(of, *k), 2)
        }
        [letter, ..] if b"abcdDfFgGhHiklmMnpPsStuUyYZ".contains(letter) => {
            FindDirective::Field(FindField::Letter(*letter), 1)
        }
        [letter, ..] => FindDirective::Unknown(*letter),
    }
}

impl Layout {
    fn lay_out(&self, value: &[u8], numeric: bool, out: &mut Vec<u8>) {
        let value = match self.precision {
            Some(n) if !numeric => &value[..n.min(value.len())],
            _ => value,
        };
        let mut signed = Vec::new();
        let value = if numeric && (self.plus || self.space) {
            signed.push(if self.plus { b'+' } else { b' ' });
            signed.extend_from_slice(value);
            &signed
        } else {
            value
        };
        let fill = self.width.saturating_sub(value.len());
        if self.left {
            out.extend_from_slice(value);
            out.resize(out.len() + fill, b' ');
        } else {
            let pad = if self.zeros && numeric { b'0' } else { b' ' };
            out.resize(out.len() + fill, pad);
            out.extend_from_slice(value);
        }
    }
}

/// Returns the text of a field and whether it is a number.
fn field_value(
    field: &FindField,
    entry: &FindEntry,
    settings: &FindSettings,
    alternate: bool,
) -> (Vec<u8>, bool) {
    let letter = match field {
        FindField::Time(of, k) => {
            let text =
                entry.stat().ok().map(|s| time_stamp(&settings.local_time(file_time(s, *of)), *k));
            return (text.unwrap_or_default(), false);
        }
        FindField::Letter(letter) => *letter,
    };
    let stat = || entry.stat().ok();
    let number = |f: fn(&Stat) -> u64| {
        let text = stat().map(|s| f(s).to_string()).unwrap_or_default();
        // GNU formats these as strings: no zero padding.
        (text.into_bytes(), false)
    };
    let text = |t: Vec<u8>| (t, false);
    match letter {
        b'p' => text(entry.shown.clone()),
        b'f' => text(entry.base_with_slashes().to_vec()),
        b'h' => text(entry.dir().to_vec()),
        b'P' => text(entry.below().to_vec()),
        b'H' => text(entry.shown.get(..entry.point_len).unwrap_or_default().to_vec()),
        b'd' => (entry.depth.to_string().into_bytes(), true),
        b'l' => {
            let is_link = entry.kind().is_ok_and(|k| k == FileKind::Symlink);
            text(if is_link { entry.target().unwrap_or_default().to_vec() } else { Vec::new() })
        }
        b'y' => text(vec![entry.kind().map_or(b'?', kind_letter)]),
        b'Y' => text(vec![target_letter(entry)]),
        b's' => number(|s| s.size),
        b'b' => number(list::block_count),
        b'k' => number(|s| list::block_count(s).div_ceil(2)),
        b'i' => number(|s| s.ino),
        b'n' => number(|s| u64::from(s.nlink)),
        b'D' => number(|s| s.dev),
        b'U' => number(|s| u64::from(s.uid)),
        b'G' => number(|s| u64::from(s.gid)),
        b'm' => {
            let mode = stat().map_or(0, |s| s.mode);
            let prefix = if alternate && mode != 0 { "0" } else { "" };
            (format!("{prefix}{mode:o}").into_bytes(), true)
        }
        b'M' => text(stat().map(|s| list::mode_text(s).into_bytes()).unwrap_or_default()),
        b'u' => {
            text(stat().map(|s| settings.names.show_user(s.uid).into_bytes()).unwrap_or_default())
        }
        b'g' => {
            text(stat().map(|s| settings.names.show_group(s.gid).into_bytes()).unwrap_or_default())
        }
        b'a' | b'c' | b't' => {
            let of = match letter {
                b'a' => TimeOf::Access,
                b'c' => TimeOf::Change,
                _ => TimeOf::Modify,
            };
            text(
                stat()
                    .map(|s| ctime_text(&settings.local_time(file_time(s, of))))
                    .unwrap_or_default()
                    .into_bytes(),
            )
        }
        b'S' => {
            let ratio = stat().map_or(0.0, |s| match s.size {
                0 => 1.0,
                size => list::block_count(s) as f64 * 512.0 / size as f64,
            });
            text(general_number(ratio).into_bytes())
        }
        b'F' => text(b"unknown".to_vec()),
        // %Z: no security context.
        _ => text(Vec::new()),
    }
}

/// Formats a ratio as C's `%g`.
fn general_number(value: f64) -> String {
    let digits = if value >= 1.0 { value.log10().floor() as usize + 1 } else { 1 };
    let text = format!("{value:.*}", 6usize.saturating_sub(digits));
    match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        None => text,
    }
}

/// Returns the letter of `-type` and `%y`.
fn kind_letter(kind: FileKind) -> u8 {
    match kind {
        FileKind::File => b'f',
        other => other.letter() as u8,
    }
}

/// Returns the letter of `%Y`: the kind of a link's target, `N` if it is missing, `L` for a loop,
/// `?` for another error.
fn target_letter(entry: &FindEntry) -> u8 {
    match entry.kind() {
        Ok(FileKind::Symlink) => match meta::stat(&entry.path, true) {
            Ok(stat) => kind_letter(stat.kind),
            Err(e) => match e.raw_os_error() {
                Some(c) if c == box_sys::errno::code::ENOENT => b'N',
                Some(c) if c == box_sys::errno::code::ENOTDIR => b'N',
                Some(c) if c == box_sys::errno::code::ELOOP => b'L',
                _ => b'?',
            },
        },
        Ok(kind) => kind_letter(kind),
        Err(_) => b'?',
    }
}

/// Formats a time, for example `Thu Jan 2 03:04:05.1230000000 2020`.
fn ctime_text(c: &CivilTime) -> String {
    format!(
        "{} {} {:2} {:02}:{:02}:{} {}",
        &c.day_name()[..3],
        &c.month_name()[..3],
        c.day,
        c.hour,
        c.minute,
        seconds_text(c),
        c.year
    )
}

/// Formats the seconds with the ten decimals that findutils prints.
fn seconds_text(c: &CivilTime) -> String {
    format!("{:02}.{:09}0", c.second, c.nanos)
}

/// Formats a time by the letter `k` of `%Tk`, as strftime(3) does, but with fractions of seconds
/// where findutils prints them.
fn time_stamp(t: &CivilTime, k: u8) -> Vec<u8> {
    match k {
        b'@' => format!("{}.{:09}0", t.epoch, t.nanos).into_bytes(),
        b'S' => seconds_text(t).into_bytes(),
        b'T' | b'X' => format!("{:02}:{:02}:{}", t.hour, t.minute, seconds_text(t)).into_bytes(),
        b'+' => [&format_strftime(b"%Y-%m-%d+%H:%M:", t)[..], seconds_text(t).as_bytes()].concat(),
        _ if STRFTIME.contains(&k) => format_strftime(&[b'%', k], t),
        _ => Vec::new(),
    }
}

/// Letters of strftime(3) that `%Tk` takes (findutils manual, "Time Formats").
const STRFTIME: &[u8] = b"HIklMprRZzaAbhBcCdDxeFGgVjmsuUwWyYnt%";
