//! Time zones from `TZ`: POSIX rules (XBD 8.3), and `Area/City` names, by the files of a zone
//! database if there is one, and otherwise by the current rules of the best-known zones.

use super::civil;

/// One change of a year: `M3.2.0/2`, `J60`, `59`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransitionDay {
    Month {
        month: i64,
        week: i64,
        day: i64,
    },
    /// 1 to 365; February 29 is never counted.
    Julian(i64),
    /// 0 to 365.
    Day(i64),
}

/// A rule for daylight saving time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Dst {
    name: String,
    offset: i64,
    start: (TransitionDay, i64),
    end: (TransitionDay, i64),
}

/// A function that reads a whole file; `None` if there is none. The crate itself does no input.
pub type Read = fn(&str) -> Option<Vec<u8>>;

/// A time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    /// Seconds east of UTC.
    offset: i64,
    dst: Option<Dst>,
    /// The recorded changes before the rule applies: time, offset and name of each.
    history: Vec<(i64, i64, String)>,
}

/// The current rules (IANA time zone database 2024a and later) of the zones that people name most.
const KNOWN: &[(&str, &str)] = &[
    ("Africa/Cairo", "EET-2EEST,M4.5.5/0,M10.5.4/24"),
    ("Africa/Johannesburg", "SAST-2"),
    ("Africa/Lagos", "WAT-1"),
    ("Africa/Nairobi", "EAT-3"),
    ("America/Anchorage", "AKST9AKDT,M3.2.0,M11.1.0"),
    ("America/Argentina/Buenos_Aires", "<-03>3"),
    ("America/Bogota", "<-05>5"),
    ("America/Chicago", "CST6CDT,M3.2.0,M11.1.0"),
    ("America/Denver", "MST7MDT,M3.2.0,M11.1.0"),
    ("America/Halifax", "AST4ADT,M3.2.0,M11.1.0"),
    ("America/Los_Angeles", "PST8PDT,M3.2.0,M11.1.0"),
    ("America/Mexico_City", "CST6"),
    ("America/New_York", "EST5EDT,M3.2.0,M11.1.0"),
    ("America/Phoenix", "MST7"),
    ("America/Santiago", "<-04>4<-03>,M9.1.6/24,M4.1.6/24"),
    ("America/Sao_Paulo", "<-03>3"),
    ("America/St_Johns", "NST3:30NDT,M3.2.0,M11.1.0"),
    ("America/Toronto", "EST5EDT,M3.2.0,M11.1.0"),
    ("America/Vancouver", "PST8PDT,M3.2.0,M11.1.0"),
    ("Asia/Bangkok", "<+07>-7"),
    ("Asia/Calcutta", "IST-5:30"),
    ("Asia/Dhaka", "<+06>-6"),
    ("Asia/Dubai", "<+04>-4"),
    ("Asia/Ho_Chi_Minh", "<+07>-7"),
    ("Asia/Hong_Kong", "HKT-8"),
    ("Asia/Istanbul", "<+03>-3"),
    ("Asia/Jakarta", "WIB-7"),
    ("Asia/Jerusalem", "IST-2IDT,M3.4.4/26,M10.5.0"),
    ("Asia/Karachi", "PKT-5"),
    ("Asia/Kathmandu", "<+0545>-5:45"),
    ("Asia/Kolkata", "IST-5:30"),
    ("Asia/Manila", "PST-8"),
    ("Asia/Riyadh", "<+03>-3"),
    ("Asia/Seoul", "KST-9"),
    ("Asia/Shanghai", "CST-8"),
    ("Asia/Singapore", "<+08>-8"),
    ("Asia/Taipei", "CST-8"),
    ("Asia/Tehran", "<+0330>-3:30"),
    ("Asia/Tokyo", "JST-9"),
    ("Atlantic/Reykjavik", "GMT0"),
    ("Australia/Adelaide", "ACST-9:30ACDT,M10.1.0,M4.1.0/3"),
    ("Australia/Brisbane", "AEST-10"),
    ("Australia/Darwin", "ACST-9:30"),
    ("Australia/Melbourne", "AEST-10AEDT,M10.1.0,M4.1.0/3"),
    ("Australia/Perth", "AWST-8"),
    ("Australia/Sydney", "AEST-10AEDT,M10.1.0,M4.1.0/3"),
    ("CET", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("CST6CDT", "CST6CDT,M3.2.0,M11.1.0"),
    ("EET", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("EST", "EST5"),
    ("EST5EDT", "EST5EDT,M3.2.0,M11.1.0"),
    ("Etc/GMT", "GMT0"),
    ("Etc/UTC", "UTC0"),
    ("Europe/Amsterdam", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Athens", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("Europe/Belgrade", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Brussels", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Bucharest", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("Europe/Budapest", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Copenhagen", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Dublin", "IST-1GMT0,M10.5.0,M3.5.0/1"),
    ("Europe/Helsinki", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("Europe/Istanbul", "<+03>-3"),
    ("Europe/Kiev", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("Europe/Kyiv", "EET-2EEST,M3.5.0/3,M10.5.0/4"),
    ("Europe/Lisbon", "WET0WEST,M3.5.0/1,M10.5.0"),
    ("Europe/London", "GMT0BST,M3.5.0/1,M10.5.0"),
    ("Europe/Madrid", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Moscow", "MSK-3"),
    ("Europe/Oslo", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Paris", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Prague", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Rome", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Stockholm", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Vienna", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Warsaw", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("Europe/Zurich", "CET-1CEST,M3.5.0,M10.5.0/3"),
    ("GMT", "GMT0"),
    ("HST", "HST10"),
    ("Japan", "JST-9"),
    ("MET", "MET-1MEST,M3.5.0,M10.5.0/3"),
    ("MST", "MST7"),
    ("MST7MDT", "MST7MDT,M3.2.0,M11.1.0"),
    ("PST8PDT", "PST8PDT,M3.2.0,M11.1.0"),
    ("Pacific/Auckland", "NZST-12NZDT,M9.5.0,M4.1.0/3"),
    ("Pacific/Honolulu", "HST10"),
    ("US/Central", "CST6CDT,M3.2.0,M11.1.0"),
    ("US/Eastern", "EST5EDT,M3.2.0,M11.1.0"),
    ("US/Mountain", "MST7MDT,M3.2.0,M11.1.0"),
    ("US/Pacific", "PST8PDT,M3.2.0,M11.1.0"),
    ("UTC", "UTC0"),
    ("WET", "WET0WEST,M3.5.0/1,M10.5.0"),
    ("Zulu", "UTC0"),
];

impl Zone {
    /// Returns a fixed offset in seconds east of UTC.
    pub fn fixed(offset: i64, name: &str) -> Zone {
        Zone { name: name.to_string(), offset, dst: None, history: Vec::new() }
    }

    /// Returns universal time.
    pub fn utc() -> Zone {
        Zone::fixed(0, "UTC")
    }

    /// Returns the zone that a `TZ` value means; without one, UTC. Values that mean nothing are UTC
    /// under their own name, as in glibc.
    ///
    /// `read` reads a file of the zone data base.
    pub fn from_env(tz: Option<&[u8]>, read: Read) -> Zone {
        let Some(tz) = tz else { return Zone::utc() };
        let text = String::from_utf8_lossy(tz);
        let text = text.strip_prefix(':').unwrap_or(&text);
        if matches!(text, "" | "UTC" | "UTC0") {
            return Zone::utc();
        }
        if let Some(z) = from_file(text, read) {
            return z;
        }
        if let Ok(i) = KNOWN.binary_search_by(|(n, _)| (*n).cmp(text))
            && let Some(z) = parse(KNOWN[i].1)
        {
            return z;
        }
        if let Some(z) = parse(text) {
            return z;
        }
        let name: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
        let name = if name.len() >= 3 && name.len() == text.len() {
            name
        } else {
            name.chars().take(6).collect()
        };
        Zone { name: if name.is_empty() { "UTC".to_string() } else { name }, ..Zone::utc() }
    }

    /// Returns the offset and name at a point in time.
    pub fn offset_at(&self, epoch: i64) -> (i64, &str) {
        if self.history.last().is_some_and(|h| epoch < h.0 || self.dst.is_none()) {
            let n = self.history.partition_point(|h| h.0 <= epoch);
            if let Some(h) = n.checked_sub(1).and_then(|i| self.history.get(i)) {
                return (h.1, &h.2);
            }
        }
        let Some(dst) = &self.dst else { return (self.offset, &self.name) };
        let (year, _, _) =
            civil::date_from_days((epoch.saturating_add(self.offset)).div_euclid(86_400));
        let start = self.transition_time(dst.start, year, self.offset);
        let end = self.transition_time(dst.end, year, dst.offset);
        let summer = if start < end {
            start <= epoch && epoch < end
        } else {
            !(end <= epoch && epoch < start)
        };
        if summer { (dst.offset, &dst.name) } else { (self.offset, &self.name) }
    }

    fn transition_time(&self, (when, time): (TransitionDay, i64), year: i64, offset: i64) -> i64 {
        let first = civil::days_from_date(year, 1, 1);
        let day = match when {
            TransitionDay::Day(n) => first + n,
            TransitionDay::Julian(n) => first + n - 1 + i64::from(civil::is_leap(year) && n >= 60),
            TransitionDay::Month { month, week, day } => {
                let start = civil::days_from_date(year, month, 1);
                let mut d = start + (day - civil::weekday_of(start)).rem_euclid(7) + 7 * (week - 1);
                while d >= start + civil::month_len(year, month) {
                    d -= 7;
                }
                d
            }
        };
        day * 86_400 + time - offset
    }

    /// Converts a point in time to a date and a time of day.
    pub fn to_civil(&self, epoch: i64, nanos: u32) -> civil::CivilTime {
        let (offset, name) = self.offset_at(epoch);
        civil::CivilTime::new(epoch, nanos, offset, name)
    }

    /// Returns the seconds since the epoch of a local time given as seconds since 1970 *local*, as
    /// `mktime(3)` with `tm_isdst` -1. Of two candidates the first is taken; a time that a change
    /// skips is moved forward by the length of the gap.
    pub fn to_epoch(&self, local: i64) -> i64 {
        let early = self.offset_at(local.saturating_sub(86_400)).0;
        let late = self.offset_at(local.saturating_add(86_400)).0;
        for offset in [early, late] {
            let t = local.saturating_sub(offset);
            if self.offset_at(t).0 == offset {
                return t;
            }
        }
        local.saturating_sub(early)
    }
}

/// Parses a POSIX `TZ` rule.
fn parse(text: &str) -> Option<Zone> {
    let mut p = TzParser { b: text.as_bytes(), at: 0 };
    let name = p.name()?;
    let offset = -p.take_time(24)?;
    if p.is_done() {
        return Some(Zone { name, offset, dst: None, history: Vec::new() });
    }
    let dst_name = p.name()?;
    let dst_offset = match p.peek_byte() {
        Some(b',') | None => offset + 3600,
        _ => -p.take_time(24)?,
    };
    let (start, end) = if p.is_done() {
        // This is glibc's default rule, that of the United States since 2007.
        let m = |month, week| TransitionDay::Month { month, week, day: 0 };
        ((m(3, 2), 7200), (m(11, 1), 7200))
    } else {
        (p.take_rule()?, p.take_rule()?)
    };
    let dst = Some(Dst { name: dst_name, offset: dst_offset, start, end });
    p.is_done().then_some(Zone { name, offset, dst, history: Vec::new() })
}

struct TzParser<'a> {
    b: &'a [u8],
    at: usize,
}

impl TzParser<'_> {
    fn peek_byte(&self) -> Option<u8> {
        self.b.get(self.at).copied()
    }

    fn is_done(&self) -> bool {
        self.at >= self.b.len()
    }

    fn take_byte(&mut self, c: u8) -> bool {
        let yes = self.peek_byte() == Some(c);
        self.at += usize::from(yes);
        yes
    }

    fn name(&mut self) -> Option<String> {
        let from;
        let to;
        if self.take_byte(b'<') {
            from = self.at;
            while self
                .peek_byte()
                .is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-'))
            {
                self.at += 1;
            }
            to = self.at;
            if !self.take_byte(b'>') {
                return None;
            }
        } else {
            from = self.at;
            while self.peek_byte().is_some_and(|c| c.is_ascii_alphabetic()) {
                self.at += 1;
            }
            to = self.at;
        }
        if to - from < 3 {
            return None;
        }
        String::from_utf8(self.b[from..to].to_vec()).ok()
    }

    fn take_number(&mut self, max: i64) -> Option<i64> {
        let from = self.at;
        let mut n = 0i64;
        while let Some(d) = self.peek_byte().filter(u8::is_ascii_digit) {
            n = n * 10 + i64::from(d - b'0');
            self.at += 1;
            if n > max {
                return None;
            }
        }
        (self.at > from).then_some(n)
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    fn take_time(&mut self, max_hours: i64) -> Option<i64> {
        let sign = if self.take_byte(b'-') {
            -1
        } else {
            self.take_byte(b'+');
            1
        };
        let mut t = self.take_number(max_hours)? * 3600;
        if self.take_byte(b':') {
            t += self.take_number(59)? * 60;
            if self.take_byte(b':') {
                t += self.take_number(59)?;
            }
        }
        Some(sign * t)
    }

    fn take_rule(&mut self) -> Option<(TransitionDay, i64)> {
        if !self.take_byte(b',') {
            return None;
        }
        let when = if self.take_byte(b'M') {
            let month = self.take_number(12).filter(|n| *n >= 1)?;
            let week =
                self.take_byte(b'.').then(|| self.take_number(5)).flatten().filter(|n| *n >= 1)?;
            let day = self.take_byte(b'.').then(|| self.take_number(6)).flatten()?;
            TransitionDay::Month { month, week, day }
        } else if self.take_byte(b'J') {
            TransitionDay::Julian(self.take_number(365).filter(|n| *n >= 1)?)
        } else {
            TransitionDay::Day(self.take_number(365)?)
        };
        let time = if self.take_byte(b'/') { self.take_time(167)? } else { 7200 };
        Some((when, time))
    }
}

/// Returns a zone of the database (`tzfile(5)`, version 2 or later), if its file exists.
fn from_file(name: &str, read: Read) -> Option<Zone> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '+' | '-');
    if name.starts_with('/') || !name.chars().all(plain) {
        return None;
    }
    parse_tzfile(&read(&format!("/usr/share/zoneinfo/{name}"))?)
}

fn parse_tzfile(data: &[u8]) -> Option<Zone> {
    let counts = |at: usize| -> Option<[usize; 6]> {
        let h = data.get(at..at + 44)?;
        if !h.starts_with(b"TZif") {
            return None;
        }
        let mut out = [0; 6];
        for (o, c) in out.iter_mut().zip(h[20..].chunks_exact(4)) {
            *o = usize::try_from(u32::from_be_bytes([c[0], c[1], c[2], c[3]])).ok()?;
            if *o > 1 << 20 {
                return None;
            }
        }
        Some(out)
    };
    let [isut, isstd, leap, times, types, chars] = counts(0)?;
    let second = 44 + times * 5 + types * 6 + chars + leap * 8 + isstd + isut;
    let [isut, isstd, leap, times, types, chars] = counts(second)?;
    let mut at = second + 44;
    let mut take = |n: usize| {
        let part = data.get(at..at + n);
        at += n;
        part
    };
    let stamps = take(times * 8)?;
    let indexes = take(times)?;
    let kinds = take(types * 6)?;
    let names = take(chars)?;
    take(leap * 12 + isstd + isut + 1)?;
    let footer = data.get(at..)?.split(|c| *c == b'\n').next()?;
    let kind = |i: usize| -> Option<(i64, String)> {
        let k = kinds.get(i * 6..i * 6 + 6)?;
        let name = names.get(usize::from(k[5])..)?.split(|c| *c == 0).next()?;
        let offset = i64::from(i32::from_be_bytes([k[0], k[1], k[2], k[3]]));
        Some((offset, String::from_utf8_lossy(name).into_owned()))
    };
    let first = kind(0)?;
    let mut history = vec![(i64::MIN, first.0, first.1)];
    for (s, i) in stamps.chunks_exact(8).zip(indexes) {
        let t = i64::from_be_bytes(s.try_into().ok()?);
        let (offset, name) = kind(usize::from(*i))?;
        history.push((t, offset, name));
    }
    let last = history.last()?.clone();
    let rule = parse(std::str::from_utf8(footer).ok()?);
    let zone =
        rule.unwrap_or(Zone { name: last.2, offset: last.1, dst: None, history: Vec::new() });
    Some(Zone { history, ..zone })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_are_sorted_and_parse() {
        assert!(KNOWN.windows(2).all(|w| w[0].0 < w[1].0));
        for (name, rule) in KNOWN {
            assert!(parse(rule).is_some(), "{name}");
        }
    }

    #[test]
    fn rules() {
        let z = parse("EST5EDT,M3.2.0,M11.1.0").unwrap();
        // New York's clocks went forward at 2024-03-10 07:00:00Z.
        assert_eq!(z.offset_at(1_710_054_000 - 1), (-18_000, "EST"));
        assert_eq!(z.offset_at(1_710_054_000), (-14_400, "EDT"));
        assert_eq!(z.offset_at(1_730_613_600 - 1), (-14_400, "EDT"));
        assert_eq!(z.offset_at(1_730_613_600), (-18_000, "EST"));
        let south = parse("AEST-10AEDT,M10.1.0,M4.1.0/3").unwrap();
        assert_eq!(south.offset_at(1_704_067_200).1, "AEDT");
        assert_eq!(south.offset_at(1_719_792_000).1, "AEST");
        assert_eq!(parse("UTC+3").unwrap().offset, -10_800);
        assert_eq!(parse("nonsense!"), None);
    }
}
