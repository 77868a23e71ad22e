//! Dates as `-newermt` and its kin take them: what people and `date` write.
//!
//! `@SECONDS`, `YYYY-MM-DD`, `YYYY/MM/DD`, `MM/DD/YYYY`, `D Month YYYY`, `HH:MM[:SS[.frac]]`, `T`
//! between date and time, zones (`Z`, `UTC`, `+0200`), `now`, `today`, `yesterday`, `tomorrow`,
//! `N units [ago]`, `last week`, `next month`.

use super::clock::{MONTHS, WEEKDAYS, Zone, to_days};

/// Nanoseconds since the epoch; `None` if the text is no date.
pub fn parse(text: &[u8], now: i128, zone: &Zone) -> Option<i128> {
    let text = std::str::from_utf8(text).ok()?.trim().to_ascii_lowercase();
    if let Some(seconds) = text.strip_prefix('@') {
        return nanos(seconds);
    }
    let mut d = Draft::new(now, zone);
    let words = tokens(&text);
    let mut words = words.as_slice();
    while let [word, rest @ ..] = words {
        words = d.word(word, rest)?;
    }
    d.finish()
}

/// Words; `2020-01-02t03:04:05z` is taken apart at the `t` and before the zone.
fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || c == ',') {
        let bytes = word.as_bytes();
        let split = (1..bytes.len().saturating_sub(1)).find(|&i| {
            bytes[i] == b't' && bytes[i - 1].is_ascii_digit() && bytes[i + 1].is_ascii_digit()
        });
        match split {
            Some(i) => {
                out.push(word[..i].to_string());
                push_time(&word[i + 1..], &mut out);
            }
            None if word.contains(':') => push_time(word, &mut out),
            None if word.is_empty() => {}
            None => out.push(word.to_string()),
        }
    }
    out
}

/// A time with a zone attached: two words.
fn push_time(word: &str, out: &mut Vec<String>) {
    let end = word
        .char_indices()
        .find(|&(i, c)| i > 0 && (c.is_ascii_alphabetic() || c == '+' || c == '-'))
        .map_or(word.len(), |(i, _)| i);
    let (time, zone) = word.split_at(end);
    out.push(time.to_string());
    if !zone.is_empty() {
        out.push(zone.to_string());
    }
}

struct Draft<'z> {
    now: i128,
    zone: &'z Zone,
    date: Option<(i64, i64, i64)>,
    /// Seconds and nanoseconds of the day.
    time: Option<(i64, i128)>,
    offset: Option<i64>,
    months: i64,
    days: i64,
    relative: i128,
    weekday: Option<usize>,
    seen: bool,
}

impl Draft<'_> {
    fn new(now: i128, zone: &Zone) -> Draft<'_> {
        Draft {
            now,
            zone,
            date: None,
            time: None,
            offset: None,
            months: 0,
            days: 0,
            relative: 0,
            weekday: None,
            seen: false,
        }
    }

    fn word<'w>(&mut self, word: &str, rest: &'w [String]) -> Option<&'w [String]> {
        self.seen = true;
        match word {
            "now" | "and" | "at" | "on" | "the" => return Some(rest),
            "today" => return Some(rest),
            "yesterday" => self.days -= 1,
            "tomorrow" => self.days += 1,
            "midnight" => self.time = Some((0, 0)),
            "noon" => self.time = Some((43200, 0)),
            "z" | "utc" | "gmt" => self.offset = Some(0),
            "am" | "pm" => {
                let (seconds, nanos) = self.time?;
                let hour = seconds / 3600 % 12 + if word == "pm" { 12 } else { 0 };
                self.time = Some((hour * 3600 + seconds % 3600, nanos));
            }
            "last" | "next" => {
                let (unit, rest) = rest.split_first()?;
                self.shift(if word == "last" { -1 } else { 1 }, unit)?;
                return Some(rest);
            }
            _ if word.contains(':') => self.time = Some(clock(word)?),
            _ if calendar(word).is_some() => self.date = calendar(word),
            _ => return self.other(word, rest),
        }
        Some(rest)
    }

    fn other<'w>(&mut self, word: &str, rest: &'w [String]) -> Option<&'w [String]> {
        if let Some(month) = month(word) {
            // Month D[,] YYYY
            let day = rest.first()?.parse().ok()?;
            let year = rest.get(1).and_then(|y| y.parse().ok()).filter(|y| *y > 31);
            let used = if year.is_some() { 2 } else { 1 };
            self.date = Some((year.unwrap_or(self.this_year()), month, day));
            return rest.get(used..);
        }
        if let Some(day) = WEEKDAYS.iter().position(|d| abbreviates(word, d)) {
            self.weekday = Some(day);
            return Some(rest);
        }
        if (word.starts_with('+') || word.starts_with('-')) && self.time.is_some() {
            let digits: String = word[1..].chars().filter(char::is_ascii_digit).collect();
            if matches!(digits.len(), 2 | 4) && self.offset.is_none() {
                let hours: i64 = digits[..2].parse().ok()?;
                let minutes: i64 = digits
                    .get(2..)
                    .filter(|d| !d.is_empty())
                    .map_or(Some(0), |d| d.parse().ok())?;
                let sign = if word.starts_with('-') { -1 } else { 1 };
                self.offset = Some(sign * (hours * 3600 + minutes * 60));
                return Some(rest);
            }
        }
        // A number with a unit, apart or attached, or a day before a month's name.
        let digits = word.trim_start_matches(['+', '-']);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let (count, unit) = if digits.is_empty() {
            return None;
        } else if end == 0 {
            (1, digits)
        } else {
            (digits[..end].parse::<i64>().ok()?, &digits[end..])
        };
        let sign = if word.starts_with('-') { -1 } else { 1 };
        if unit.is_empty() {
            let (next, rest) = match rest.split_first() {
                Some(found) => found,
                None if digits.len() == 8 => {
                    self.date = compact(digits);
                    return Some(rest);
                }
                None => return None,
            };
            if let Some(month) = month(next) {
                let year = rest.first().and_then(|y| y.parse().ok()).filter(|y| *y > 31);
                let used = usize::from(year.is_some());
                self.date = Some((year.unwrap_or(self.this_year()), month, count));
                return rest.get(used..);
            }
            if digits.len() == 8 {
                self.date = compact(digits);
                return self.word(next, rest);
            }
            return self.ago(sign * count, next, rest);
        }
        self.ago(sign * count, unit, rest)
    }

    fn ago<'w>(&mut self, count: i64, unit: &str, rest: &'w [String]) -> Option<&'w [String]> {
        match rest.split_first() {
            Some((word, rest)) if word == "ago" => {
                self.shift(count.checked_neg()?, unit)?;
                Some(rest)
            }
            _ => {
                self.shift(count, unit)?;
                Some(rest)
            }
        }
    }

    fn shift(&mut self, count: i64, unit: &str) -> Option<()> {
        let unit = unit.strip_suffix('s').filter(|u| !u.is_empty()).unwrap_or(unit);
        let second = 1_000_000_000;
        let count = count.clamp(-1_000_000_000_000, 1_000_000_000_000);
        match unit {
            "year" => self.months += count * 12,
            "month" => self.months += count,
            "fortnight" => self.days += count * 14,
            "week" => self.days += count * 7,
            "day" => self.days += count,
            "hour" => self.relative += i128::from(count) * 3600 * second,
            "minute" | "min" => self.relative += i128::from(count) * 60 * second,
            "second" | "sec" => self.relative += i128::from(count) * second,
            _ => return None,
        }
        Some(())
    }

    fn this_year(&self) -> i64 {
        self.zone.civil(self.now).year
    }

    fn finish(self) -> Option<i128> {
        let zone = match self.offset {
            Some(offset) => Zone { name: String::new(), offset },
            None => self.zone.clone(),
        };
        let now = zone.civil(self.now);
        let (year, month, mut day) =
            self.date.unwrap_or((now.year, i64::from(now.month), i64::from(now.day)));
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || year.abs() > 1_000_000 {
            return None;
        }
        let dated = self.date.is_some() || self.weekday.is_some();
        let (seconds, nanos) = match self.time {
            Some(time) => time,
            None if dated || !self.seen => (0, 0),
            None => {
                let of_day = now.hour * 3600 + now.minute * 60 + now.second;
                (i64::from(of_day), i128::from(now.nanos))
            }
        };
        if let Some(weekday) = self.weekday
            && self.date.is_none()
        {
            let today = (to_days(year, month, day) + 4).rem_euclid(7);
            day += (weekday as i64 - today).rem_euclid(7);
        }
        let days = to_days(year, month + self.months, day) + self.days;
        let local = i128::from(days) * 86400 + i128::from(seconds - zone.offset);
        Some(local * 1_000_000_000 + nanos + self.relative)
    }
}

/// Seconds with decimals, as nanoseconds.
fn nanos(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let value = i128::from(whole) * 1_000_000_000 + fraction.parse::<i128>().ok()?;
    Some(if negative { -value } else { value })
}

/// `HH:MM[:SS[.frac]]`: seconds of the day and nanoseconds.
fn clock(word: &str) -> Option<(i64, i128)> {
    let mut parts = word.splitn(3, ':');
    let hour: i64 = parts.next()?.parse().ok().filter(|h| (0..=24).contains(h))?;
    let minute: i64 = parts.next()?.parse().ok().filter(|m| (0..60).contains(m))?;
    let seconds = parts.next().map_or(Some(0), nanos)?;
    let whole = i64::try_from(seconds / 1_000_000_000).ok().filter(|s| *s <= 60)?;
    Some((hour * 3600 + minute * 60 + whole, seconds % 1_000_000_000))
}

/// `YYYY-MM-DD`, `YYYY/MM/DD`, `MM/DD/YYYY`, `MM/DD`.
fn calendar(word: &str) -> Option<(i64, i64, i64)> {
    let separator = if word.contains('/') { '/' } else { '-' };
    let parts: Vec<&str> = word.split(separator).collect();
    let [a, b, c] = parts.as_slice() else { return None };
    let number = |t: &str| t.parse::<i64>().ok().filter(|_| t.bytes().all(|b| b.is_ascii_digit()));
    if separator == '/' && a.len() <= 2 {
        return Some((number(c)?, number(a)?, number(b)?));
    }
    Some((number(a)?, number(b)?, number(c)?))
}

/// `YYYYMMDD`.
fn compact(digits: &str) -> Option<(i64, i64, i64)> {
    Some((
        digits.get(..4)?.parse().ok()?,
        digits.get(4..6)?.parse().ok()?,
        digits.get(6..)?.parse().ok()?,
    ))
}

fn month(word: &str) -> Option<i64> {
    MONTHS.iter().position(|m| abbreviates(word, m)).map(|i| i as i64 + 1)
}

/// Whether a word is a name or its first three letters.
fn abbreviates(word: &str, name: &str) -> bool {
    let word = word.strip_suffix('.').unwrap_or(word);
    word.eq_ignore_ascii_case(name) || word.len() == 3 && name[..3].eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<i128> {
        // The "now" of these cases: date -u -d @1577934245 is 2020-01-02 03:04:05.
        parse(text.as_bytes(), 1_577_934_245_000_000_000, &Zone::new(None))
            .map(|n| n / 1_000_000_000)
    }

    /// Expected: `date -u -d TEXT +%s` with faketime-like arithmetic where relative.
    #[test]
    fn dates() {
        assert_eq!(seconds("2020-01-02 03:04:05"), Some(1_577_934_245));
        assert_eq!(seconds("2020-01-02T03:04:05Z"), Some(1_577_934_245));
        assert_eq!(seconds("2020-01-02 03:04:05 +0200"), Some(1_577_927_045));
        assert_eq!(seconds("2020-01-02"), Some(1_577_923_200));
        assert_eq!(seconds("jan 2 2020"), Some(1_577_923_200));
        assert_eq!(seconds("2 January 2020 03:04"), Some(1_577_934_240));
        assert_eq!(seconds("01/02/2020"), Some(1_577_923_200));
        assert_eq!(seconds("20200102"), Some(1_577_923_200));
        assert_eq!(seconds("@12.5"), Some(12));
        assert_eq!(seconds("now"), Some(1_577_934_245));
        assert_eq!(seconds("yesterday"), Some(1_577_934_245 - 86400));
        assert_eq!(seconds("2 hours ago"), Some(1_577_934_245 - 7200));
        assert_eq!(seconds("1 month ago"), Some(1_575_255_845));
        assert_eq!(seconds("last week"), Some(1_577_934_245 - 7 * 86400));
        assert_eq!(seconds("foo"), None);
        assert_eq!(seconds("2020-13-01"), None);
    }
}
