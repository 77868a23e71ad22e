//! `strftime` and `strptime` in the C locale (POSIX; glibc's additions that jq users know).

use super::time::Tm;

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

fn name<'n>(names: &'n [&'n str], i: i64) -> &'n str {
    usize::try_from(i).ok().and_then(|i| names.get(i)).copied().unwrap_or("?")
}

/// ISO 8601 year and week.
fn iso_week(t: &Tm) -> (i64, i64) {
    let monday_based = (t.weekday + 6).rem_euclid(7);
    let week = (t.yearday - monday_based + 10).div_euclid(7);
    let leap = |y: i64| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
    // A year has 53 weeks if it begins, or as a leap year ends, on a Thursday.
    let weeks = |y: i64, first: i64| if first == 3 || (first == 2 && leap(y)) { 53 } else { 52 };
    let first = (monday_based - t.yearday).rem_euclid(7);
    if week < 1 {
        let length = if leap(t.year - 1) { 366 } else { 365 };
        (t.year - 1, weeks(t.year - 1, (first - length).rem_euclid(7)))
    } else if week > weeks(t.year, first) {
        (t.year + 1, 1)
    } else {
        (t.year, week)
    }
}

/// A time in a format. The zone is its offset in seconds and its name.
pub fn format(t: &Tm, format_text: &str, zone: (i64, &str)) -> String {
    let mut out = String::new();
    let mut chars = format_text.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let (mut pad, mut spec) = (None, chars.next());
        while let Some(flag @ ('-' | '_' | '0' | '^' | '#')) = spec {
            pad = Some(flag);
            spec = chars.next();
        }
        // The alternative forms are the plain ones in the C locale.
        if let Some('E' | 'O') = spec {
            spec = chars.next();
        }
        let Some(spec) = spec else {
            out.push('%');
            break;
        };
        let mut number = |n: i64, width: usize, fill: char| {
            let fill = match pad {
                Some('_') => ' ',
                Some('0') => '0',
                _ => fill,
            };
            out.push_str(&match (pad, fill) {
                (Some('-'), _) => n.to_string(),
                (_, ' ') => format!("{n:width$}"),
                _ => format!("{n:0width$}"),
            });
        };
        let hour12 = (t.hour + 11).rem_euclid(12) + 1;
        match spec {
            'd' => number(t.day, 2, '0'),
            'e' => number(t.day, 2, ' '),
            'H' => number(t.hour, 2, '0'),
            'k' => number(t.hour, 2, ' '),
            'I' => number(hour12, 2, '0'),
            'l' => number(hour12, 2, ' '),
            'j' => number(t.yearday + 1, 3, '0'),
            'm' => number(t.month + 1, 2, '0'),
            'M' => number(t.minute, 2, '0'),
            'S' => number(t.second, 2, '0'),
            'y' => number(t.year.rem_euclid(100), 2, '0'),
            'C' => number(t.year.div_euclid(100), 2, '0'),
            'Y' => number(t.year, 1, '0'),
            'G' => number(iso_week(t).0, 1, '0'),
            'g' => number(iso_week(t).0.rem_euclid(100), 2, '0'),
            'V' => number(iso_week(t).1, 2, '0'),
            'U' => number((t.yearday + 7 - t.weekday).div_euclid(7), 2, '0'),
            'W' => number((t.yearday + 7 - (t.weekday + 6).rem_euclid(7)).div_euclid(7), 2, '0'),
            'u' => number((t.weekday + 6).rem_euclid(7) + 1, 1, '0'),
            'w' => number(t.weekday, 1, '0'),
            's' => number(t.seconds() - zone.0, 1, '0'),
            other => out.push_str(&words(t, other, pad, zone)),
        }
    }
    out
}

/// Conversions that give text.
fn words(t: &Tm, spec: char, flag: Option<char>, zone: (i64, &str)) -> String {
    let again = |f: &str| format(t, f, zone);
    let text = match spec {
        'a' => name(&DAYS, t.weekday).chars().take(3).collect(),
        'A' => name(&DAYS, t.weekday).to_string(),
        'b' | 'h' => name(&MONTHS, t.month).chars().take(3).collect(),
        'B' => name(&MONTHS, t.month).to_string(),
        'p' => if t.hour < 12 { "AM" } else { "PM" }.to_string(),
        'P' => if t.hour < 12 { "am" } else { "pm" }.to_string(),
        'c' => again("%a %b %e %H:%M:%S %Y"),
        'D' | 'x' => again("%m/%d/%y"),
        'F' => again("%Y-%m-%d"),
        'r' => again("%I:%M:%S %p"),
        'R' => again("%H:%M"),
        'T' | 'X' => again("%H:%M:%S"),
        'z' => {
            let minutes = zone.0.abs() / 60;
            let sign = if zone.0 < 0 { '-' } else { '+' };
            format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
        }
        'Z' => zone.1.to_string(),
        'n' => "\n".to_string(),
        't' => "\t".to_string(),
        '%' => "%".to_string(),
        other => format!("%{other}"),
    };
    match flag {
        Some('^') => text.to_uppercase(),
        _ => text,
    }
}

/// What `strptime` is reading.
struct Reader<'s> {
    rest: &'s str,
    t: Tm,
    pm: Option<bool>,
    century: Option<i64>,
    epoch: Option<i64>,
    yearday: Option<i64>,
}

impl Reader<'_> {
    fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
    }

    fn number(&mut self, digits: usize, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        self.spaces();
        let end = self.rest.bytes().take(digits).take_while(u8::is_ascii_digit).count();
        let n = self.rest[..end].parse().ok()?;
        self.rest = &self.rest[end..];
        range.contains(&n).then_some(n)
    }

    fn literal(&mut self, c: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }

    /// A full or three-letter name; its position.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        for (i, n) in names.iter().enumerate() {
            for n in [*n, &n[..3]] {
                if self.rest.get(..n.len()).is_some_and(|s| s.eq_ignore_ascii_case(n)) {
                    self.rest = &self.rest[n.len()..];
                    return Some(i as i64);
                }
            }
        }
        None
    }

    fn zone_offset(&mut self) -> Option<()> {
        self.spaces();
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Some(());
        }
        let sign = self.rest.strip_prefix(['+', '-'])?;
        let hours = sign.get(..2).filter(|h| h.bytes().all(|c| c.is_ascii_digit()))?;
        self.rest = &sign[hours.len()..];
        let minutes = self.rest.strip_prefix(':').unwrap_or(self.rest);
        if minutes.len() >= 2 && minutes.bytes().take(2).all(|c| c.is_ascii_digit()) {
            self.rest = &minutes[2..];
        }
        Some(())
    }

    fn all(&mut self, format_text: &str) -> Option<()> {
        let mut chars = format_text.chars();
        while let Some(c) = chars.next() {
            if c.is_ascii_whitespace() {
                self.spaces();
                continue;
            }
            if c != '%' {
                self.literal(c)?;
                continue;
            }
            let mut spec = chars.next()?;
            while matches!(spec, 'E' | 'O' | '-' | '_' | '0' | '^' | '#') {
                spec = chars.next()?;
            }
            self.one(spec)?;
        }
        Some(())
    }

    fn one(&mut self, spec: char) -> Option<()> {
        match spec {
            'a' | 'A' => self.t.weekday = self.name(&DAYS)?,
            'b' | 'B' | 'h' => self.t.month = self.name(&MONTHS)?,
            'C' => self.century = Some(self.number(2, 0..=99)?),
            'd' | 'e' => self.t.day = self.number(2, 1..=31)?,
            'H' | 'k' => self.t.hour = self.number(2, 0..=23)?,
            'I' | 'l' => self.t.hour = self.number(2, 1..=12)? % 12,
            'j' => self.yearday = Some(self.number(3, 1..=366)? - 1),
            'm' => self.t.month = self.number(2, 1..=12)? - 1,
            'M' => self.t.minute = self.number(2, 0..=59)?,
            'S' => self.t.second = self.number(2, 0..=61)?,
            'p' | 'P' => {
                self.pm = Some(self.name(&["AM ", "PM "]).map_or_else(
                    || {
                        let head = self.rest.get(..2)?;
                        let pm = head.eq_ignore_ascii_case("pm");
                        (pm || head.eq_ignore_ascii_case("am")).then(|| {
                            self.rest = &self.rest[2..];
                            pm
                        })
                    },
                    |i| Some(i == 1),
                )?);
            }
            's' => self.epoch = Some(self.number(18, 0..=i64::MAX)?),
            'u' => self.t.weekday = self.number(1, 1..=7)? % 7,
            'w' => self.t.weekday = self.number(1, 0..=6)?,
            'U' | 'W' | 'V' => {
                self.number(2, 0..=53)?;
            }
            'g' => {
                self.number(2, 0..=99)?;
            }
            'G' => {
                self.number(4, 0..=9999)?;
            }
            'y' => {
                let y = self.number(2, 0..=99)?;
                self.t.year = if y >= 69 { 1900 + y } else { 2000 + y };
            }
            'Y' => {
                self.spaces();
                let negative = self.rest.starts_with('-');
                self.rest = self.rest.strip_prefix('-').unwrap_or(self.rest);
                let y = self.number(4, 0..=9999)?;
                self.t.year = if negative { -y } else { y };
            }
            'c' => self.all("%a %b %e %H:%M:%S %Y")?,
            'D' | 'x' => self.all("%m/%d/%y")?,
            'F' => self.all("%Y-%m-%d")?,
            'r' => self.all("%I:%M:%S %p")?,
            'R' => self.all("%H:%M")?,
            'T' | 'X' => self.all("%H:%M:%S")?,
            'n' | 't' => self.spaces(),
            'z' => self.zone_offset()?,
            'Z' => {
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            }
            '%' => self.literal('%')?,
            _ => return None,
        }
        Some(())
    }
}

/// Reads a time in a format; `None` if the text is not in it. Zone offsets are read and ignored,
/// as in jq.
pub fn parse(text: &str, format_text: &str) -> Option<Tm> {
    let t = Tm { year: 1900, ..Tm::default() };
    let mut r = Reader { rest: text, t, pm: None, century: None, epoch: None, yearday: None };
    r.all(format_text)?;
    if !r.rest.is_empty() {
        return None;
    }
    if let Some(n) = r.epoch {
        return Some(Tm::from_seconds(n.min(1 << 50)));
    }
    let mut t = r.t;
    if let Some(c) = r.century {
        t.year = c * 100 + t.year.rem_euclid(100);
    }
    if r.pm == Some(true) {
        t.hour += 12;
    }
    if let (Some(yearday), 0) = (r.yearday, t.day) {
        let date = Tm::from_seconds(Tm { month: 0, day: 1 + yearday, ..t }.seconds());
        (t.month, t.day) = (date.month, date.day);
    }
    t.set_days();
    Some(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `LC_ALL=C date -u -d @N +FORMAT`.
    #[test]
    fn formats() {
        let t = Tm::from_seconds(1_425_599_621);
        let f = |s: &str| format(&t, s, (0, "UTC"));
        assert_eq!(f("%A, %B %d, %Y"), "Thursday, March 05, 2015");
        assert_eq!(
            f("%a %b %e %k %l %j %U %W %V %G %g %u %w"),
            "Thu Mar  5 23 11 064 09 09 10 2015 15 4 4"
        );
        assert_eq!(
            f("%c|%D|%F|%T|%R|%r|%p|%s|%z|%Z|%%"),
            "Thu Mar  5 23:53:41 2015|03/05/15|2015-03-05|23:53:41|23:53|11:53:41 PM|PM|1425599621|+0000|UTC|%"
        );
        for (n, week) in [
            (1_104_537_600, "2004-53"),
            (1_230_768_000, "2009-01"),
            (1_293_840_000, "2010-52"),
            (1_609_459_200, "2020-53"),
            (1_388_361_600, "2014-01"),
        ] {
            assert_eq!(format(&Tm::from_seconds(n), "%G-%V", (0, "UTC")), week, "{n}");
        }
    }

    /// Expected values: `jq -c 'strptime(...)'` of jq 1.6.
    #[test]
    fn parsing() {
        let t = parse("2015-03-05T23:51:47Z", "%Y-%m-%dT%H:%M:%SZ").expect("matches");
        assert_eq!((t.seconds(), t.weekday, t.yearday), (1_425_599_507, 4, 63));
        let t = parse("Thu, 05 Mar 2015 11:51:47 PM +0100", "%a, %d %b %Y %I:%M:%S %p %z");
        assert_eq!(t.expect("matches").seconds(), 1_425_599_507);
        assert!(parse("2015-13-05", "%Y-%m-%d").is_none());
        assert!(parse("2015-03-05x", "%Y-%m-%d").is_none());
    }
}
