//! `systime`, `mktime`, `strftime`.
//!
//! The zone is TZ's: `UTC0`, `EST5`, `<+03>-3` (a fixed offset, POSIX XBD 8.3). Rules for summer
//! time and named zones are not known here; they count as UTC under their name's abbreviation.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{Machine, Result};
use crate::array::{Key, Slot};
use crate::special::Special;
use crate::text::Text;
use crate::value::Value;

/// A broken-down time.
#[derive(Clone, Copy, Debug)]
struct Civil {
    year: i64,
    /// 1 to 12.
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    /// 0 is Sunday.
    weekday: i64,
    /// From 0.
    yearday: i64,
}

/// Days since 1970-01-01 of a proleptic Gregorian date (month from 1).
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last.
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

fn civil(seconds: i64) -> Civil {
    let (day_number, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let z = day_number + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    Civil {
        year,
        month,
        day,
        hour: rest / 3600,
        minute: rest / 60 % 60,
        second: rest % 60,
        weekday: (day_number + 4).rem_euclid(7),
        yearday: day_number - days(year, 1, 1),
    }
}

/// Abbreviation and seconds east of Greenwich.
struct Zone {
    name: Vec<u8>,
    east: i64,
}

impl Zone {
    fn utc(name: &[u8]) -> Zone {
        Zone { name: name.to_vec(), east: 0 }
    }

    fn from_tz(tz: &[u8]) -> Zone {
        let (name, rest) = match tz {
            [b'<', rest @ ..] => match rest.iter().position(|c| *c == b'>') {
                Some(n) => (&rest[..n], &rest[n + 1..]),
                None => return Zone::utc(b"UTC"),
            },
            _ => tz.split_at(tz.iter().take_while(|c| c.is_ascii_alphabetic()).count()),
        };
        if name.len() < 3 {
            return Zone::utc(b"UTC");
        }
        let (west, rest) = match rest {
            [b'-', r @ ..] => (-1, r),
            [b'+', r @ ..] => (1, r),
            r => (1, r),
        };
        let mut parts = rest.split(|c| *c == b':').map(|p| {
            let digits = p.iter().take_while(|c| c.is_ascii_digit()).take(4);
            digits.fold(0i64, |n, c| n * 10 + i64::from(c - b'0'))
        });
        let mut part = || parts.next().unwrap_or(0);
        let offset = part() * 3600 + part() * 60 + part();
        Zone { name: name.to_vec(), east: -west * offset }
    }
}

const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// ISO 8601 year and week.
fn iso_week(t: &Civil) -> (i64, i64) {
    let weekday = (t.weekday + 6) % 7;
    let week = (t.yearday - weekday + 10).div_euclid(7);
    if week < 1 {
        let last = civil(days(t.year - 1, 12, 31) * 86_400);
        return iso_week(&last);
    }
    if week == 53 && (t.day - weekday) > 28 {
        return (t.year + 1, 1);
    }
    (t.year, week)
}

/// Conversions of strftime(3) in the C locale.
fn strftime(out: &mut Vec<u8>, format: &[u8], t: &Civil, seconds: i64, zone: &Zone) {
    let mut rest = format;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let mut flag = None;
        while let Some(c @ (b'-' | b'_' | b'0' | b'^' | b'E' | b'O')) = rest.first().copied() {
            flag = Some(c);
            rest = &rest[1..];
        }
        let Some((&c, after)) = rest.split_first() else {
            out.push(b'%');
            return;
        };
        rest = after;
        let pad = |n: i64, width: usize, fill: u8| -> Vec<u8> {
            let digits = n.to_string().into_bytes();
            let fill = match flag {
                Some(b'-') => return digits,
                Some(b'_') => b' ',
                Some(b'0') => b'0',
                _ => fill,
            };
            let mut text = vec![fill; width.saturating_sub(digits.len())];
            text.extend_from_slice(&digits);
            text
        };
        let hour12 = if t.hour % 12 == 0 { 12 } else { t.hour % 12 };
        let day_name = DAYS[t.weekday as usize % 7];
        let month_name = MONTHS[(t.month - 1) as usize % 12];
        let nested = |f: &[u8]| {
            let mut text = Vec::new();
            strftime(&mut text, f, t, seconds, zone);
            text
        };
        let mut text = match c {
            b'a' => day_name.as_bytes()[..3].to_vec(),
            b'A' => day_name.into(),
            b'b' | b'h' => month_name.as_bytes()[..3].to_vec(),
            b'B' => month_name.into(),
            b'c' => nested(b"%a %b %e %H:%M:%S %Y"),
            b'C' => pad(t.year.div_euclid(100), 2, b'0'),
            b'd' => pad(t.day, 2, b'0'),
            b'D' | b'x' => nested(b"%m/%d/%y"),
            b'e' => pad(t.day, 2, b' '),
            b'F' => nested(b"%Y-%m-%d"),
            b'g' => pad(iso_week(t).0.rem_euclid(100), 2, b'0'),
            b'G' => pad(iso_week(t).0, 1, b'0'),
            b'H' => pad(t.hour, 2, b'0'),
            b'I' => pad(hour12, 2, b'0'),
            b'j' => pad(t.yearday + 1, 3, b'0'),
            b'k' => pad(t.hour, 2, b' '),
            b'l' => pad(hour12, 2, b' '),
            b'm' => pad(t.month, 2, b'0'),
            b'M' => pad(t.minute, 2, b'0'),
            b'n' => b"\n".to_vec(),
            b'p' => (if t.hour < 12 { "AM" } else { "PM" }).into(),
            b'P' => (if t.hour < 12 { "am" } else { "pm" }).into(),
            b'r' => nested(b"%I:%M:%S %p"),
            b'R' => nested(b"%H:%M"),
            b's' => pad(seconds, 1, b'0'),
            b'S' => pad(t.second, 2, b'0'),
            b't' => b"\t".to_vec(),
            b'T' | b'X' => nested(b"%H:%M:%S"),
            b'u' => pad(if t.weekday == 0 { 7 } else { t.weekday }, 1, b'0'),
            b'U' => pad((t.yearday + 7 - t.weekday) / 7, 2, b'0'),
            b'V' => pad(iso_week(t).1, 2, b'0'),
            b'w' => pad(t.weekday, 1, b'0'),
            b'W' => pad((t.yearday + 7 - (t.weekday + 6) % 7) / 7, 2, b'0'),
            b'y' => pad(t.year.rem_euclid(100), 2, b'0'),
            b'Y' => pad(t.year, 1, b'0'),
            b'z' => {
                let (sign, n) = if zone.east < 0 { ('-', -zone.east) } else { ('+', zone.east) };
                format!("{sign}{:02}{:02}", n / 3600, n / 60 % 60).into_bytes()
            }
            b'Z' => zone.name.clone(),
            b'%' => b"%".to_vec(),
            other => vec![b'%', other],
        };
        if flag == Some(b'^') {
            text.make_ascii_uppercase();
        }
        out.extend_from_slice(&text);
    }
    out.extend_from_slice(rest);
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| i64::try_from(d.as_secs()).unwrap_or(i64::MAX))
}

impl Machine<'_, '_> {
    fn zone(&self, utc: bool) -> Zone {
        if utc {
            return Zone::utc(b"GMT");
        }
        let environ = self.globals.get(Special::Environ as usize);
        if let Some(super::Cell::Array(a)) = environ
            && let Some(Slot::Value(v)) = a.borrow().get(&Key::Str(Text::new(b"TZ")))
        {
            return Zone::from_tz(&v.text(&self.convfmt));
        }
        Zone::utc(b"UTC")
    }

    pub(super) fn systime(&self) -> f64 {
        now() as f64
    }

    /// `mktime("YYYY MM DD HH MM SS [DST]" [, utc])`; -1 if that is no time.
    pub(super) fn mktime(&mut self, args: usize) -> Result<f64> {
        let utc = args > 1 && self.pop().truth();
        let text = self.pop_text();
        let words = text.split(|c| c.is_ascii_whitespace()).filter(|w| !w.is_empty());
        let numbers: Option<Vec<i64>> = words
            .map(|w| std::str::from_utf8(w).ok().and_then(|w| w.parse::<i64>().ok()))
            .map(|n| n.filter(|n| n.abs() < 1_000_000_000_000))
            .collect();
        let Some(n) = numbers.filter(|n| n.len() >= 6) else { return Ok(-1.0) };
        let months = n[0] * 12 + n[1] - 1;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        let day_number = days(year, month, 1) + n[2] - 1;
        let zone = self.zone(utc);
        Ok((day_number * 86_400 + n[3] * 3600 + n[4] * 60 + n[5] - zone.east) as f64)
    }

    /// `strftime([format [, time [, utc]]])`.
    pub(super) fn strftime(&mut self, args: usize) -> Result<Text> {
        let utc = args > 2 && self.pop().truth();
        let seconds =
            if args > 1 { self.pop_num().floor().clamp(-6e16, 6e16) as i64 } else { now() };
        let format = if args > 0 {
            self.pop_text()
        } else {
            let procinfo = self.globals.get(Special::Procinfo as usize);
            let mut format = Text::new(b"%a %b %e %H:%M:%S %Z %Y");
            if let Some(super::Cell::Array(a)) = procinfo
                && let Some(Slot::Value(v)) = a.borrow().get(&Key::Str(Text::new(b"strftime")))
            {
                format = v.text(&self.convfmt);
            }
            format
        };
        let zone = self.zone(utc);
        let mut out = Vec::new();
        strftime(&mut out, &format, &civil(seconds + zone.east), seconds, &zone);
        Ok(Value::str(&out).text(&self.convfmt))
    }
}
