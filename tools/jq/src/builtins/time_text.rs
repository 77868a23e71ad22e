//! `strftime` and `strptime` in the C locale (POSIX; glibc's additions that jq users know).

use box_text::time::civil::{CivilTime, DAYS, MONTHS};
use box_text::time::strftime::format_strftime;

use super::time::Tm;

/// Formats a time; `zone` is the zone's offset in seconds and its name.
pub fn format_time(t: &Tm, format_text: &str, zone: (i64, &str)) -> String {
    let broken = CivilTime {
        year: t.year,
        month: t.month + 1,
        day: t.day,
        hour: t.hour,
        minute: t.minute,
        second: t.second,
        nanos: 0,
        weekday: t.weekday,
        yearday: t.yearday,
        offset: zone.0,
        zone: zone.1.to_string(),
        epoch: t.seconds() - zone.0,
    };
    String::from_utf8_lossy(&format_strftime(format_text.as_bytes(), &broken)).into_owned()
}

/// The state of `strptime`.
struct StrptimeReader<'s> {
    rest: &'s str,
    t: Tm,
    pm: Option<bool>,
    century: Option<i64>,
    epoch: Option<i64>,
    yearday: Option<i64>,
}

impl StrptimeReader<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
    }

    fn read_number(&mut self, digits: usize, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        self.skip_spaces();
        let end = self.rest.bytes().take(digits).take_while(u8::is_ascii_digit).count();
        let n = self.rest[..end].parse().ok()?;
        self.rest = &self.rest[end..];
        range.contains(&n).then_some(n)
    }

    fn read_literal(&mut self, c: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }

    /// Reads a full or three-letter name; returns its index.
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
        self.skip_spaces();
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

    fn read_all(&mut self, format_text: &str) -> Option<()> {
        let mut chars = format_text.chars();
        while let Some(c) = chars.next() {
            if c.is_ascii_whitespace() {
                self.skip_spaces();
                continue;
            }
            if c != '%' {
                self.read_literal(c)?;
                continue;
            }
            let mut spec = chars.next()?;
            while matches!(spec, 'E' | 'O' | '-' | '_' | '0' | '^' | '#') {
                spec = chars.next()?;
            }
            self.read_spec(spec)?;
        }
        Some(())
    }

    /// Reads `AM` or `PM` in upper or lower case (`%p`), and returns whether it is `PM`.
    fn half_of_day(&mut self) -> Option<bool> {
        if let Some(n) = self.name(&["AM ", "PM "]) {
            return Some(n == 1);
        }
        let head = self.rest.get(..2)?;
        let is_pm = head.eq_ignore_ascii_case("pm");
        if !is_pm && !head.eq_ignore_ascii_case("am") {
            return None;
        }
        self.rest = &self.rest[2..];
        Some(is_pm)
    }

    fn read_spec(&mut self, spec: char) -> Option<()> {
        match spec {
            'a' | 'A' => self.t.weekday = self.name(&DAYS)?,
            'b' | 'B' | 'h' => self.t.month = self.name(&MONTHS)?,
            'C' => self.century = Some(self.read_number(2, 0..=99)?),
            'd' | 'e' => self.t.day = self.read_number(2, 1..=31)?,
            'H' | 'k' => self.t.hour = self.read_number(2, 0..=23)?,
            'I' | 'l' => self.t.hour = self.read_number(2, 1..=12)? % 12,
            'j' => self.yearday = Some(self.read_number(3, 1..=366)? - 1),
            'm' => self.t.month = self.read_number(2, 1..=12)? - 1,
            'M' => self.t.minute = self.read_number(2, 0..=59)?,
            'S' => self.t.second = self.read_number(2, 0..=61)?,
            'p' | 'P' => self.pm = Some(self.half_of_day()?),
            's' => self.epoch = Some(self.read_number(18, 0..=i64::MAX)?),
            'u' => self.t.weekday = self.read_number(1, 1..=7)? % 7,
            'w' => self.t.weekday = self.read_number(1, 0..=6)?,
            'U' | 'W' | 'V' => {
                self.read_number(2, 0..=53)?;
            }
            'g' => {
                self.read_number(2, 0..=99)?;
            }
            'G' => {
                self.read_number(4, 0..=9999)?;
            }
            'y' => {
                let y = self.read_number(2, 0..=99)?;
                self.t.year = if y >= 69 { 1900 + y } else { 2000 + y };
            }
            'Y' => {
                self.skip_spaces();
                let negative = self.rest.starts_with('-');
                self.rest = self.rest.strip_prefix('-').unwrap_or(self.rest);
                let y = self.read_number(4, 0..=9999)?;
                self.t.year = if negative { -y } else { y };
            }
            'c' => self.read_all("%a %b %e %H:%M:%S %Y")?,
            'D' | 'x' => self.read_all("%m/%d/%y")?,
            'F' => self.read_all("%Y-%m-%d")?,
            'r' => self.read_all("%I:%M:%S %p")?,
            'R' => self.read_all("%H:%M")?,
            'T' | 'X' => self.read_all("%H:%M:%S")?,
            'n' | 't' => self.skip_spaces(),
            'z' => self.zone_offset()?,
            'Z' => {
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            }
            '%' => self.read_literal('%')?,
            _ => return None,
        }
        Some(())
    }
}

/// Reads a time in a format; `None` if the text does not have that format. Zone offsets are read
/// and ignored, as in jq.
pub fn parse(text: &str, format_text: &str) -> Option<Tm> {
    let t = Tm { year: 1900, ..Tm::default() };
    let mut r =
        StrptimeReader { rest: text, t, pm: None, century: None, epoch: None, yearday: None };
    r.read_all(format_text)?;
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

    /// The expected values are those of `LC_ALL=C date -u -d @N +FORMAT`.
    #[test]
    fn formats() {
        let t = Tm::from_seconds(1_425_599_621);
        let f = |s: &str| format_time(&t, s, (0, "UTC"));
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
            assert_eq!(format_time(&Tm::from_seconds(n), "%G-%V", (0, "UTC")), week, "{n}");
        }
    }

    /// The expected values are those of `jq -c 'strptime(...)'` in jq 1.6.
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
