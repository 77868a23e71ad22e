//! Times in a format, in the C locale: glibc's `strftime(3)`, and GNU `date`'s superset of it.

use super::civil::{CivilTime, DAYS, MONTHS, name};

/// The program whose conversions are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrftimeDialect {
    /// glibc's `strftime(3)`: POSIX with the flags `- _ 0 ^ #` and widths.
    Libc,
    /// GNU `date` (coreutils manual, "date invocation"): also the flag `+`, `%N`, `%q`, `%:z` and
    /// years of four digits.
    Date,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    /// `-`, `_`, `0`, `+` or 0 for none given.
    pad: u8,
    upper: bool,
    swap: bool,
    width: usize,
    width_given: bool,
}

/// The maximum width, so that a format cannot request gigabytes.
const MAX_WIDTH: usize = 4096;

/// Appends the time in GNU `date`'s format. An unknown conversion stays as it is.
pub fn format_date(out: &mut Vec<u8>, format: &[u8], t: &CivilTime) {
    Formatter { t, dialect: StrftimeDialect::Date, depth: 0 }.expand_format(out, format);
}

/// Returns the time in a format of `strftime(3)`, as `printf %(...)T` of bash, gawk and jq give it.
/// An unknown conversion stays as it is.
pub fn format_strftime(format: &[u8], t: &CivilTime) -> Vec<u8> {
    let mut out = Vec::new();
    Formatter { t, dialect: StrftimeDialect::Libc, depth: 0 }.expand_format(&mut out, format);
    out
}

/// A formatter: the time and the dialect of the format.
struct Formatter<'t> {
    t: &'t CivilTime,
    dialect: StrftimeDialect,
    /// The number of formats that contain this one.
    depth: u8,
}

impl Formatter<'_> {
    fn is_date(&self) -> bool {
        self.dialect == StrftimeDialect::Date
    }

    fn expand_format(&self, out: &mut Vec<u8>, format: &[u8]) {
        let mut at = 0;
        while let Some(&c) = format.get(at) {
            if c != b'%' {
                out.push(c);
                at += 1;
                continue;
            }
            let start = at;
            at += 1;
            let mut f = Flags::default();
            while let Some(&c) = format.get(at) {
                match c {
                    b'-' | b'_' | b'0' => f.pad = c,
                    b'+' if self.is_date() => f.pad = c,
                    b'^' => f.upper = true,
                    b'#' => f.swap = true,
                    _ => break,
                }
                at += 1;
            }
            while let Some(d) = format.get(at).filter(|c| c.is_ascii_digit()) {
                f.width =
                    f.width.saturating_mul(10).saturating_add(usize::from(d - b'0')).min(MAX_WIDTH);
                f.width_given = true;
                at += 1;
            }
            if matches!(format.get(at), Some(b'E' | b'O')) {
                at += 1;
            }
            let mut colons = 0;
            while self.is_date() && format.get(at) == Some(&b':') {
                colons += 1;
                at += 1;
            }
            let Some(&conv) = format.get(at) else {
                out.extend_from_slice(&format[start..]);
                return;
            };
            at += 1;
            if colons > 0 && conv != b'z' || !self.put_conversion(out, conv, f, colons) {
                out.extend_from_slice(&format[start..at]);
            }
        }
    }

    /// Writes one conversion, and returns whether there is one with that letter.
    fn put_conversion(&self, out: &mut Vec<u8>, conv: u8, f: Flags, colons: usize) -> bool {
        let t = self.t;
        if let Some((value, digits, pad)) = self.numeric_value(conv) {
            put_number(out, value, digits, pad, f);
            return true;
        }
        match conv {
            b'%' => put_text(out, "%", f),
            b'n' => put_text(out, "\n", f),
            b't' => put_text(out, "\t", f),
            b'a' => put_text(out, &name(&DAYS, t.weekday)[..3], swap_to_upper(f)),
            b'A' => put_text(out, name(&DAYS, t.weekday), swap_to_upper(f)),
            b'b' | b'h' => put_text(out, &name(&MONTHS, t.month - 1)[..3], swap_to_upper(f)),
            b'B' => put_text(out, name(&MONTHS, t.month - 1), swap_to_upper(f)),
            b'p' => {
                let s = if t.hour < 12 { "AM" } else { "PM" };
                if f.swap { put_text(out, &s.to_lowercase(), f) } else { put_text(out, s, f) }
            }
            b'P' => put_text(out, if t.hour < 12 { "am" } else { "pm" }, f),
            b'Z' if f.swap => put_text(out, &t.zone.to_lowercase(), f),
            b'Z' => put_text(out, &t.zone, f),
            b'c' => self.put_composite(out, b"%a %b %e %H:%M:%S %Y", f),
            b'x' | b'D' => self.put_composite(out, b"%m/%d/%y", f),
            b'X' | b'T' => self.put_composite(out, b"%H:%M:%S", f),
            b'r' => self.put_composite(out, b"%I:%M:%S %p", f),
            b'R' => self.put_composite(out, b"%H:%M", f),
            b'F' if !self.is_date() => self.put_composite(out, b"%Y-%m-%d", f),
            b'F' => {
                // A width applies to the year, because the rest has a fixed width.
                let year = Flags { width: f.width.saturating_sub(6), ..f };
                let year = if f.pad == 0 && !f.width_given {
                    Flags { pad: b'+', width: 4, ..f }
                } else {
                    year
                };
                put_number(out, t.year, 4, b'0', year);
                self.expand_format(out, b"-%m-%d");
            }
            b'N' if self.is_date() => put_nanos(out, t.nanos, f),
            b'z' if !self.is_date() => {
                // glibc pads the sign and the digits separately.
                put_text(out, if t.offset < 0 { "-" } else { "+" }, f);
                let minutes = t.offset.abs() / 60;
                put_number(out, minutes / 60 * 100 + minutes % 60, 4, b'0', f);
            }
            b'z' => return put_zone(out, t.offset, colons, f),
            _ => return false,
        }
        true
    }

    /// Returns the value of a numeric conversion, its number of digits, and its padding byte.
    fn numeric_value(&self, conv: u8) -> Option<(i64, usize, u8)> {
        let t = self.t;
        let year_digits = if self.is_date() { 4 } else { 1 };
        let hour12 = if t.hour % 12 == 0 { 12 } else { t.hour % 12 };
        Some(match conv {
            b'Y' => (t.year, year_digits, b'0'),
            b'C' => (t.year.div_euclid(100), year_digits.min(2), b'0'),
            b'y' => (t.year.rem_euclid(100), 2, b'0'),
            b'G' => (t.iso_week().0, year_digits, b'0'),
            b'g' => (t.iso_week().0.rem_euclid(100), 2, b'0'),
            b'V' => (t.iso_week().1, 2, b'0'),
            b'U' => (t.week(0), 2, b'0'),
            b'W' => (t.week(1), 2, b'0'),
            b'm' => (t.month, 2, b'0'),
            b'd' => (t.day, 2, b'0'),
            b'e' => (t.day, 2, b'_'),
            b'H' => (t.hour, 2, b'0'),
            b'k' => (t.hour, 2, b'_'),
            b'I' => (hour12, 2, b'0'),
            b'l' => (hour12, 2, b'_'),
            b'M' => (t.minute, 2, b'0'),
            b'S' => (t.second, 2, b'0'),
            b'j' => (t.yearday + 1, 3, b'0'),
            b'q' if self.is_date() => ((t.month - 1) / 3 + 1, 1, b'0'),
            b'u' => (if t.weekday == 0 { 7 } else { t.weekday }, 1, b'0'),
            b'w' => (t.weekday, 1, b'0'),
            b's' => (t.epoch, 1, b'0'),
            _ => return None,
        })
    }

    /// Appends a conversion that stands for a format.
    fn put_composite(&self, out: &mut Vec<u8>, format: &[u8], f: Flags) {
        let mut inner = Vec::new();
        if self.depth < 2 {
            Formatter { depth: self.depth + 1, ..*self }.expand_format(&mut inner, format);
        }
        pad_to(out, inner.len(), f, b'_');
        if f.upper {
            inner.make_ascii_uppercase();
        }
        out.extend_from_slice(&inner);
    }
}

/// Returns flags in which `#` means upper case, for conversions without an opposite case.
fn swap_to_upper(f: Flags) -> Flags {
    Flags { upper: f.upper || f.swap, ..f }
}

fn pad_to(out: &mut Vec<u8>, len: usize, f: Flags, default: u8) {
    let fill = match if f.pad == 0 { default } else { f.pad } {
        b'0' | b'+' => b'0',
        _ => b' ',
    };
    if f.pad != b'-' {
        out.resize(out.len() + f.width.saturating_sub(len), fill);
    }
}

fn put_text(out: &mut Vec<u8>, s: &str, f: Flags) {
    pad_to(out, s.len(), f, b'_');
    if f.upper {
        out.extend(s.bytes().map(|b| b.to_ascii_uppercase()));
    } else {
        out.extend_from_slice(s.as_bytes());
    }
}

fn put_number(out: &mut Vec<u8>, value: i64, digits: usize, pad: u8, f: Flags) {
    let text = value.unsigned_abs().to_string();
    let pad = if f.pad == 0 { pad } else { f.pad };
    let width = if pad == b'-' {
        0
    } else if f.width_given || f.width > 0 {
        f.width
    } else {
        digits
    };
    // `+` adds a sign to years that need more digits than usual.
    let plus = pad == b'+' && value >= 0 && text.len().max(width) > digits && digits >= 2;
    let sign: &[u8] = match (value < 0, plus) {
        (true, _) => b"-",
        (_, true) => b"+",
        _ => b"",
    };
    let fill = width.saturating_sub(sign.len() + text.len());
    if pad == b'_' {
        out.resize(out.len() + fill, b' ');
        out.extend_from_slice(sign);
    } else {
        out.extend_from_slice(sign);
        out.resize(out.len() + fill, b'0');
    }
    out.extend_from_slice(text.as_bytes());
}

fn put_nanos(out: &mut Vec<u8>, nanos: u32, f: Flags) {
    let all = format!("{nanos:09}");
    let width = if f.width_given { f.width } else { 9 };
    let shown = &all[..width.min(9)];
    match f.pad {
        b'_' => {
            let kept = shown.trim_end_matches('0');
            out.extend_from_slice(kept.as_bytes());
            out.resize(out.len() + width.saturating_sub(kept.len()), b' ');
        }
        _ => {
            out.extend_from_slice(shown.as_bytes());
            out.resize(out.len() + width.saturating_sub(9), b'0');
        }
    }
}

/// Appends `%z` and its forms with colons. As in glibc, hour, minute and second are the digits of
/// one number, so that `%-z` of `+0530` is `+530`.
fn put_zone(out: &mut Vec<u8>, offset: i64, colons: usize, f: Flags) -> bool {
    let a = offset.abs();
    let (h, m, s) = (a / 3600, a / 60 % 60, a % 60);
    let (tail, digits) = match colons {
        0 => (vec![m], 5),
        1 => (vec![m], 6),
        2 => (vec![m, s], 9),
        3 if s != 0 => (vec![m, s], 9),
        3 if m != 0 => (vec![m], 6),
        3 => (vec![], 3),
        _ => return false,
    };
    let mut text = h.to_string();
    for part in tail {
        text.push_str(&format!("{}{part:02}", if colons > 0 { ":" } else { "" }));
    }
    if colons == 0 {
        text = (h * 100 + m).to_string();
    }
    let width = if f.width_given { f.width } else { digits };
    let width = if f.pad == b'-' { 0 } else { width };
    let fill = width.saturating_sub(text.len() + 1);
    let sign = if offset < 0 { b'-' } else { b'+' };
    if f.pad == b'_' {
        out.resize(out.len() + fill, b' ');
        out.push(sign);
    } else {
        out.push(sign);
        out.resize(out.len() + fill, b'0');
    }
    out.extend_from_slice(text.as_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(f: &str, epoch: i64) -> String {
        let mut out = Vec::new();
        format_date(&mut out, f.as_bytes(), &CivilTime::new(epoch, 123_456_789, 0, "UTC"));
        String::from_utf8(out).unwrap()
    }

    // The expected values are those of `TZ=UTC0 date -d @1704067205.123456789 +FORMAT` in coreutils
    // 9.1.
    #[test]
    fn like_gnu() {
        let t = 1_704_067_205;
        for (f, want) in [
            ("%F %T", "2024-01-01 00:00:05"),
            ("%c", "Mon Jan  1 00:00:05 2024"),
            ("%j %U %W %V %G %g %u %w", "001 00 01 01 2024 24 1 1"),
            ("%-d|%_d|%e|%3d|%_5d|%05d", "1| 1| 1|001|    1|00001"),
            ("%N %3N %6N %-N", "123456789 123 123456 123456789"),
            ("%s %z %:z %::z %:::z %Z", "1704067205 +0000 +00:00 +00:00:00 +00 UTC"),
            ("%^a %^B %#Z %#p %P", "MON JANUARY utc am am"),
            ("%I %l %k %p %r", "12 12  0 AM 12:00:05 AM"),
            ("%10Y|%_10Y|%-m|%C|%y|%q", "0000002024|      2024|1|20|24|1"),
            ("%D %x %X %R %h %n%t%%", "01/01/24 01/01/24 00:00:05 00:00 Jan \n\t%"),
            ("%10a|%^10b|%-10a", "       Mon|       JAN|Mon"),
            ("%Q %E %", "%Q %E %"),
            ("%10F|%+4Y|%+10F|%15F", "2024-01-01|2024|2024-01-01|000002024-01-01"),
            ("%_N|%_3N|%12N", "123456789|123|123456789000"),
            ("%5z|%_6z|%-z|%10:z", "+0000|    +0|+0|+000000:00"),
            ("%010c", "Mon Jan  1 00:00:05 2024"),
        ] {
            assert_eq!(show(f, t), want, "{f}");
        }
    }

    // The expected values are those of `TZ=UTC printf '%(FORMAT)T' N` in bash 5.2 with glibc 2.36.
    #[test]
    fn like_glibc() {
        for (t, f, want) in [
            (0, "%Y|%C|%G|%F|%D|%c", "1970|19|1970|1970-01-01|01/01/70|Thu Jan  1 00:00:00 1970"),
            (
                -60_000_000_000,
                "%Y|%C|%G|%F|%D|%c",
                "68|0|68|68-09-03|09/03/68|Mon Sep  3 13:20:00 68",
            ),
            (0, "%4Y|%+4Y|%N|%q|%:z|%5d", "1970|%+4Y|%N|%q|%:z|00001"),
            (0, "%#Z|%_5d|%-d|%010c", "utc|    1|1|Thu Jan  1 00:00:00 1970"),
            (
                -60_000_000_000,
                "%3S|%#p|%#b|%10F|%5z|%_z|%-z",
                "000|pm|SEP|  68-09-03|    +00000|+   0|+0",
            ),
        ] {
            let got = format_strftime(f.as_bytes(), &CivilTime::new(t, 0, 0, "UTC"));
            assert_eq!(String::from_utf8(got).unwrap(), want, "{f}");
        }
    }
}
