//! The items of a date string and the time they mean (GNU manual, "Date input formats").
//!
//! Items may come in any order; each kind except relative ones at most once. Parts that are not
//! given are taken from the current time, except that a date alone means midnight.

mod lex;
mod words;

use super::civil::{self, CivilTime};
use super::zone::{Read, Zone};
use lex::{DateNumber, DateToken};
use words::{DateUnit, DateWord};

#[derive(Clone, Copy, PartialEq)]
enum Meridian {
    Am,
    Pm,
    None,
}

/// Amounts to add.
#[derive(Clone, Copy, Default)]
struct Relative {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: i64,
}

struct DateParser<'a> {
    tokens: &'a [DateToken],
    at: usize,
    /// The names of the local zone, over the year.
    names: &'a [String],
    /// The index of the name that was given.
    local_zone: Option<usize>,
    dates: u32,
    days: u32,
    times: u32,
    zones: u32,
    local_zones: u32,
    relatives: u32,
    /// The year with its number of digits; 0 digits if it is the current year.
    year: (i64, usize),
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: u32,
    meridian: Meridian,
    ordinal: i64,
    weekday: i64,
    /// Seconds east of UTC.
    offset: i64,
    rel: Relative,
}

/// Parses the time that `text` describes, in seconds and nanoseconds since the epoch; `None` if it
/// is not a date. `read` reads the zone of a `TZ="..."` in the text.
pub fn parse(text: &[u8], now: (i64, u32), zone: &Zone, read: Read) -> Option<(i64, u32)> {
    let text = text.trim_ascii();
    if let Some(rest) = text.strip_prefix(b"TZ=\"") {
        let mut name = Vec::new();
        let mut at = 0;
        loop {
            match rest.get(at)? {
                b'"' => break,
                b'\\' => {
                    at += 1;
                    name.push(*rest.get(at)?);
                }
                c => name.push(*c),
            }
            at += 1;
        }
        return parse(&rest[at + 1..], now, &Zone::from_env(Some(&name), read), read);
    }
    let here = zone.to_civil(now.0, now.1);
    // Both names of the zone, that of standard time and that of daylight saving time, count as
    // local.
    let mut names = vec![here.zone.clone()];
    for t in [now.0 - 182 * 86_400, now.0 + 91 * 86_400, now.0 + 182 * 86_400] {
        names.push(zone.offset_at(t).1.to_string());
    }
    let tokens = lex::split_tokens(text, &names)?;
    if let [DateToken::Char(b'@'), DateToken::Number(n)] = tokens.as_slice() {
        return Some((n.value, n.nanos));
    }
    let mut s = DateParser {
        tokens: &tokens,
        at: 0,
        names: &names,
        local_zone: None,
        dates: 0,
        days: 0,
        times: 0,
        zones: 0,
        local_zones: 0,
        relatives: 0,
        year: (here.year, 0),
        month: here.month,
        day: here.day,
        hour: here.hour,
        minute: here.minute,
        second: here.second,
        nanos: here.nanos,
        meridian: Meridian::None,
        ordinal: 0,
        weekday: 0,
        offset: 0,
        rel: Relative::default(),
    };
    while s.at < tokens.len() {
        s.parse_item()?;
    }
    s.resolve_time(zone, &here)
}

impl<'a> DateParser<'a> {
    fn peek_token(&self, ahead: usize) -> Option<&'a DateToken> {
        self.tokens.get(self.at + ahead)
    }

    fn peek_number(&self, ahead: usize) -> Option<DateNumber> {
        match self.peek_token(ahead) {
            Some(DateToken::Number(n)) => Some(*n),
            _ => None,
        }
    }

    /// Returns an unsigned whole number.
    fn peek_unsigned(&self, ahead: usize) -> Option<DateNumber> {
        self.peek_number(ahead).filter(|n| !n.signed && !n.fraction)
    }

    fn peek_signed(&self, ahead: usize) -> Option<DateNumber> {
        self.peek_number(ahead).filter(|n| n.signed && !n.fraction)
    }

    fn peek_word(&self, ahead: usize) -> Option<DateWord> {
        match self.peek_token(ahead) {
            Some(DateToken::Word(w)) => Some(*w),
            _ => None,
        }
    }

    fn is_char(&self, ahead: usize, c: u8) -> bool {
        self.peek_token(ahead) == Some(&DateToken::Char(c))
    }

    fn peek_unit(&self, ahead: usize) -> Option<DateUnit> {
        match self.peek_word(ahead) {
            Some(DateWord::Unit(u)) => Some(u),
            _ => None,
        }
    }

    /// Reads one item.
    fn parse_item(&mut self) -> Option<()> {
        match self.peek_token(0)? {
            DateToken::Number(n) if n.signed => self.signed_item(*n),
            DateToken::Number(n) => self.unsigned_item(*n),
            DateToken::Word(w) => self.word_item(*w),
            DateToken::Char(b',') => {
                // A comma is allowed only after the name of a day; elsewhere it is consumed with
                // its item.
                None
            }
            DateToken::Char(_) => None,
        }
    }

    /// Parses `-1 day`, `+2.5 seconds`.
    fn signed_item(&mut self, n: DateNumber) -> Option<()> {
        let unit = self.peek_unit(1)?;
        self.parse_relative(n, unit, 2)
    }

    fn unsigned_item(&mut self, n: DateNumber) -> Option<()> {
        if let Some(unit) = self.peek_unit(1) {
            return self.parse_relative(n, unit, 2);
        }
        if n.fraction {
            return None;
        }
        if self.is_char(1, b':') {
            return self.parse_clock();
        }
        if self.is_char(1, b'/') {
            return self.parse_slashed(n);
        }
        match self.peek_word(1) {
            Some(w @ (DateWord::Am | DateWord::Pm)) => {
                self.set_time(n.value, 0, 0, 0, word_meridian(w));
                self.at += 2;
                return Some(());
            }
            Some(DateWord::Month(m)) => return self.day_month(n, m),
            Some(DateWord::Day(d)) => {
                self.set_day(n.value, d);
                self.at += 2;
                return Some(());
            }
            _ => {}
        }
        if let Some(month) = self.peek_signed(1) {
            if let Some(day) = self.peek_signed(2).filter(|_| month.negative) {
                // 2024-01-15
                self.set_date(
                    (n.value, n.digits),
                    month.value.checked_neg()?,
                    day.value.checked_neg()?,
                );
                self.at += 3;
                // This is the T of ISO 8601.
                let clock = self.is_char(2, b':') || self.peek_signed(2).is_some();
                if self.peek_word(0) == Some(DateWord::T) && self.peek_unsigned(1).is_some() {
                    if !clock {
                        return None;
                    }
                    self.at += 1;
                }
                return Some(());
            }
            if let Some(unit) = self.peek_unit(2) {
                // `20240115 -1 day`
                self.parse_bare(n);
                self.at += 1;
                return self.parse_relative(month, unit, 2);
            }
            // `10 +0200`: hours with a zone.
            self.set_time(n.value, 0, 0, 0, Meridian::None);
            self.at += 1;
            return self.zone_offset();
        }
        self.parse_bare(n);
        self.at += 1;
        Some(())
    }

    /// Parses `10:30`, `10:30:15.5`, perhaps with `pm` or an offset.
    fn parse_clock(&mut self) -> Option<()> {
        let hour = self.peek_unsigned(0)?;
        let minute = self.peek_unsigned(2)?;
        let (mut second, mut nanos) = (0, 0);
        self.at += 3;
        if self.is_char(0, b':') {
            let s = self.peek_number(1).filter(|n| !n.signed)?;
            (second, nanos) = (s.value, s.nanos);
            self.at += 2;
        }
        if let Some(w @ (DateWord::Am | DateWord::Pm)) = self.peek_word(0) {
            self.at += 1;
            self.set_time(hour.value, minute.value, second, nanos, word_meridian(w));
            return Some(());
        }
        self.set_time(hour.value, minute.value, second, nanos, Meridian::None);
        // A signed number after the time is its zone, even if a unit follows it: GNU reads
        // `12:00 +1 day` as "12:00 in the zone +01, and a day".
        if self.peek_signed(0).is_some() {
            return self.zone_offset();
        }
        Some(())
    }

    /// Parses `+02`, `-0530`, `+05:30`.
    fn zone_offset(&mut self) -> Option<()> {
        let n = self.peek_signed(0)?;
        self.at += 1;
        self.offset = self.offset_value(n)?;
        self.zones += 1;
        Some(())
    }

    fn offset_value(&mut self, n: DateNumber) -> Option<i64> {
        let a = n.value.checked_abs()?;
        let minutes = if self.is_char(0, b':') {
            let m = self.peek_unsigned(1)?.value;
            self.at += 2;
            if m > 59 {
                return None;
            }
            a.checked_mul(60)? + m
        } else if n.digits <= 2 {
            a * 60
        } else {
            a / 100 * 60 + a % 100
        };
        if minutes > 24 * 60 {
            return None;
        }
        Some(if n.negative { -minutes * 60 } else { minutes * 60 })
    }

    /// Parses `1/15`, `1/15/2024`, `2024/1/15`.
    fn parse_slashed(&mut self, first: DateNumber) -> Option<()> {
        let second = self.peek_unsigned(2)?;
        if !self.is_char(3, b'/') {
            self.set_date(self.year, first.value, second.value);
            self.at += 3;
            return Some(());
        }
        let third = self.peek_unsigned(4)?;
        self.at += 5;
        if first.digits >= 4 {
            self.set_date((first.value, first.digits), second.value, third.value);
        } else {
            self.set_date((third.value, third.digits), first.value, second.value);
        }
        Some(())
    }

    /// Parses `15 January`, `15 Jan 2024`, `15-Jan-2024`.
    fn day_month(&mut self, day: DateNumber, month: i64) -> Option<()> {
        if let Some(y) = self.peek_signed(2).filter(|y| y.negative && self.peek_unit(3).is_none()) {
            self.set_date((y.value.checked_neg()?, y.digits), month, day.value);
            self.at += 3;
            return Some(());
        }
        // A number after the month is the year, unless it begins another item.
        if let Some(y) = self.peek_unsigned(2).filter(|_| !self.begins_item(2)) {
            self.set_date((y.value, y.digits), month, day.value);
            self.at += 3;
            return Some(());
        }
        self.set_date(self.year, month, day.value);
        self.at += 2;
        Some(())
    }

    /// Returns whether a number begins a time or an amount.
    fn begins_item(&self, ahead: usize) -> bool {
        self.is_char(ahead + 1, b':')
            || matches!(
                self.peek_word(ahead + 1),
                Some(DateWord::Am | DateWord::Pm | DateWord::Unit(_))
            )
    }

    fn word_item(&mut self, w: DateWord) -> Option<()> {
        match w {
            DateWord::Month(m) => self.month_day(m),
            DateWord::Day(d) => {
                self.set_day(0, d);
                self.at += 1;
                if self.is_char(0, b',') {
                    self.at += 1;
                }
                Some(())
            }
            DateWord::Ordinal(n) => {
                if let Some(DateWord::Day(d)) = self.peek_word(1) {
                    self.set_day(n, d);
                    self.at += 2;
                    return Some(());
                }
                let unit = self.peek_unit(1)?;
                let n = DateNumber {
                    signed: true,
                    negative: n < 0,
                    value: n,
                    nanos: 0,
                    digits: 1,
                    fraction: false,
                };
                self.parse_relative(n, unit, 2)
            }
            DateWord::Unit(u) => {
                let one = DateNumber {
                    signed: false,
                    negative: false,
                    value: 1,
                    nanos: 0,
                    digits: 1,
                    fraction: false,
                };
                self.parse_relative(one, u, 1)
            }
            DateWord::DayShift(n) => {
                self.relatives += 1;
                self.rel.day = self.rel.day.checked_add(n)?;
                self.at += 1;
                Some(())
            }
            DateWord::Zone(m) => self.zone_word(m * 60),
            DateWord::T => self.zone_word(-7 * 3600),
            DateWord::DayZone(m) => {
                self.offset = (m + 60) * 60;
                self.zones += 1;
                self.at += 1;
                Some(())
            }
            DateWord::LocalZone(i) => {
                self.local_zones += 1;
                self.local_zone = Some(i);
                self.at += 1;
                if self.peek_word(0) == Some(DateWord::Dst) {
                    self.at += 1;
                }
                Some(())
            }
            DateWord::Am | DateWord::Pm | DateWord::Ago(_) | DateWord::Dst => None,
        }
    }

    /// Parses a zone's name, perhaps with an offset (`UTC+3`) or `DST`.
    fn zone_word(&mut self, offset: i64) -> Option<()> {
        self.at += 1;
        self.zones += 1;
        self.offset = offset;
        if self.peek_word(0) == Some(DateWord::Dst) {
            self.offset += 3600;
            self.at += 1;
        } else if let Some(n) = self.peek_signed(0)
            && self.peek_unit(1).is_none()
        {
            self.at += 1;
            self.offset += self.offset_value(n)?;
        }
        Some(())
    }

    /// Parses `January 15`, `Jan 15, 2024`, `Jan-15-2024`.
    fn month_day(&mut self, month: i64) -> Option<()> {
        if let (Some(d), Some(y)) = (self.peek_signed(1), self.peek_signed(2)) {
            self.set_date((y.value.checked_neg()?, y.digits), month, d.value.checked_neg()?);
            self.at += 3;
            return Some(());
        }
        let d = self.peek_unsigned(1)?;
        if self.is_char(2, b',') {
            let y = self.peek_unsigned(3)?;
            self.set_date((y.value, y.digits), month, d.value);
            self.at += 4;
            return Some(());
        }
        self.set_date(self.year, month, d.value);
        self.at += 2;
        Some(())
    }

    /// Parses digits alone: a year, YYYYMMDD, or hours and minutes.
    fn parse_bare(&mut self, n: DateNumber) {
        let v = n.value;
        if self.dates > 0
            && self.year.1 == 0
            && self.relatives == 0
            && (self.times > 0 || n.digits > 2)
        {
            self.year = (v, n.digits);
        } else if n.digits > 4 {
            self.dates += 1;
            self.day = v % 100;
            self.month = v / 100 % 100;
            self.year = (v / 10_000, n.digits - 4);
        } else if n.digits <= 2 {
            self.set_time(v, 0, 0, 0, Meridian::None);
        } else {
            self.set_time(v / 100, v % 100, 0, 0, Meridian::None);
        }
    }

    fn set_time(&mut self, hour: i64, minute: i64, second: i64, nanos: u32, meridian: Meridian) {
        self.times += 1;
        (self.hour, self.minute, self.second, self.nanos) = (hour, minute, second, nanos);
        self.meridian = meridian;
    }

    fn set_date(&mut self, year: (i64, usize), month: i64, day: i64) {
        self.dates += 1;
        (self.year, self.month, self.day) = (year, month, day);
    }

    fn set_day(&mut self, ordinal: i64, weekday: i64) {
        self.days += 1;
        (self.ordinal, self.weekday) = (ordinal, weekday);
    }

    /// Adds an amount of a unit; `ago` after it changes its sign.
    fn parse_relative(&mut self, n: DateNumber, unit: DateUnit, used: usize) -> Option<()> {
        self.at += used;
        let mut sign = 1;
        if let Some(DateWord::Ago(s)) = self.peek_word(0) {
            self.at += 1;
            sign = s;
        }
        if n.fraction && unit != DateUnit::Second {
            return None;
        }
        self.relatives += 1;
        let v = n.value.checked_mul(sign)?;
        let r = &mut self.rel;
        let add = |slot: &mut i64, v: i64| -> Option<()> {
            *slot = slot.checked_add(v)?;
            Some(())
        };
        match unit {
            DateUnit::Year => add(&mut r.year, v),
            DateUnit::Month => add(&mut r.month, v),
            DateUnit::Day(d) => add(&mut r.day, v.checked_mul(d)?),
            DateUnit::Hour => add(&mut r.hour, v),
            DateUnit::Minute => add(&mut r.minute, v),
            DateUnit::Second => {
                add(&mut r.nanos, i64::from(n.nanos) * sign)?;
                add(&mut r.second, v)
            }
        }
    }

    /// Returns the time that all items together mean.
    fn resolve_time(&self, zone: &Zone, now: &CivilTime) -> Option<(i64, u32)> {
        if self.times > 1 || self.dates > 1 || self.days > 1 || self.zones + self.local_zones > 1 {
            return None;
        }
        let year = match self.year {
            (y, 2) if y < 69 => y + 2000,
            (y, 2) => y + 1900,
            (y, _) => y,
        };
        let keep_time = self.times > 0 || self.relatives > 0 && self.dates == 0 && self.days == 0;
        let (hour, minute, second, mut nanos) = if keep_time {
            let hour = match self.meridian {
                Meridian::None => Some(self.hour).filter(|h| (0..24).contains(h))?,
                m => {
                    let h = Some(self.hour).filter(|h| (1..=12).contains(h))? % 12;
                    if m == Meridian::Pm { h + 12 } else { h }
                }
            };
            (hour, self.minute, self.second, i64::from(self.nanos))
        } else {
            (0, 0, 0, 0)
        };
        let valid = (1..=12).contains(&self.month)
            && (1..=civil::month_len(year, self.month)).contains(&self.day)
            && (0..60).contains(&minute)
            && (0..60).contains(&second)
            && (-2_147_483_648..2_147_485_547).contains(&year);
        if !valid {
            return None;
        }
        let of_day = hour * 3600 + minute * 60 + second;
        let mut day = civil::days_from_date(year, self.month, self.day);
        if self.days > 0 && self.dates == 0 {
            let today = civil::weekday_of(day);
            let weeks = self.ordinal - i64::from(self.ordinal > 0 && today != self.weekday);
            day = day.checked_add(
                (self.weekday - today).rem_euclid(7).checked_add(weeks.checked_mul(7)?)?,
            )?;
        }
        if self.rel.year != 0 || self.rel.month != 0 || self.rel.day != 0 {
            let (y, m, d) = civil::date_from_days(day);
            let limit = 1i64 << 40;
            let (ry, rm, rd) = (self.rel.year, self.rel.month, self.rel.day);
            if [ry, rm, rd].iter().any(|v| !(-limit..limit).contains(v)) {
                return None;
            }
            let y = y.checked_add(ry).filter(|y| (-(1 << 31)..1 << 31).contains(y))?;
            day = civil::days_from_date(y, m + rm, d).checked_add(rd)?;
        }
        let local = day.checked_mul(86_400)?.checked_add(of_day)?;
        let mut epoch = if self.zones > 0 {
            local.checked_sub(self.offset)?
        } else {
            // If there are only amounts, the current offset is kept, as `mktime` does with a known
            // `tm_isdst`.
            let t = if self.times + self.dates + self.days == 0 {
                local.checked_sub(now.offset)?
            } else {
                zone.to_epoch(local)
            };
            if self
                .local_zone
                .is_some_and(|i| self.names.get(i).is_none_or(|n| *n != zone.offset_at(t).1))
            {
                return None;
            }
            // A time of day that a change of clocks skips does not exist.
            if (self.times > 0 || self.dates > 0)
                && self.relatives == 0
                && t + zone.offset_at(t).0 != local
            {
                return None;
            }
            t
        };
        let seconds =
            self.rel.hour.checked_mul(3600)?.checked_add(self.rel.minute.checked_mul(60)?)?;
        epoch = epoch.checked_add(seconds)?.checked_add(self.rel.second)?;
        nanos += self.rel.nanos;
        epoch = epoch.checked_add(nanos.div_euclid(1_000_000_000))?;
        Some((epoch, nanos.rem_euclid(1_000_000_000) as u32))
    }
}

fn word_meridian(w: DateWord) -> Meridian {
    if w == DateWord::Am { Meridian::Am } else { Meridian::Pm }
}

/// Returns the number of the two digits at a position.
fn two_digits(text: &[u8], at: usize) -> Option<i64> {
    let d = text.get(at..at + 2)?;
    if !d.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(i64::from(d[0] - b'0') * 10 + i64::from(d[1] - b'0'))
}

fn from_parts(year: i64, parts: [i64; 5], zone: &Zone) -> Option<(i64, u32)> {
    let [month, day, hour, minute, second] = parts;
    let valid = (1..=12).contains(&month)
        && (1..=civil::month_len(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    let local =
        civil::days_from_date(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    valid.then(|| (zone.to_epoch(local), 0))
}

fn split_seconds(text: &[u8]) -> Option<(&[u8], i64)> {
    match text.iter().position(|c| *c == b'.') {
        Some(i) if text.len() == i + 3 => Some((&text[..i], two_digits(text, i + 1)?)),
        Some(_) => None,
        None => Some((text, 0)),
    }
}

fn year_of(digits: &[u8], now: i64) -> Option<i64> {
    Some(match digits.len() {
        0 => now,
        2 => {
            let y = two_digits(digits, 0)?;
            if y < 69 { 2000 + y } else { 1900 + y }
        }
        4 => two_digits(digits, 0)? * 100 + two_digits(digits, 2)?,
        _ => return None,
    })
}

/// Parses the operand of `date` that sets the clock: `MMDDhhmm[[CC]YY][.ss]`.
pub fn parse_posix(text: &[u8], now: (i64, u32), zone: &Zone) -> Option<(i64, u32)> {
    let (digits, second) = split_seconds(text)?;
    let (fixed, year) = digits.split_at_checked(8)?;
    let year = year_of(year, zone.to_civil(now.0, 0).year)?;
    from_parts(
        year,
        [
            two_digits(fixed, 0)?,
            two_digits(fixed, 2)?,
            two_digits(fixed, 4)?,
            two_digits(fixed, 6)?,
            second,
        ],
        zone,
    )
}

/// Parses the argument of `touch -t`: `[[CC]YY]MMDDhhmm[.ss]`.
pub fn parse_touch(text: &[u8], now: (i64, u32), zone: &Zone) -> Option<(i64, u32)> {
    let (digits, second) = split_seconds(text)?;
    let (year, fixed) = digits.split_at_checked(digits.len().checked_sub(8)?)?;
    let year = year_of(year, zone.to_civil(now.0, 0).year)?;
    from_parts(
        year,
        [
            two_digits(fixed, 0)?,
            two_digits(fixed, 2)?,
            two_digits(fixed, 4)?,
            two_digits(fixed, 6)?,
            second,
        ],
        zone,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected values are those of `date -u -d "TEXT" +%s` in coreutils 9.1, with absolute
    // bases, so that they are right on any day.
    #[test]
    fn like_gnu() {
        let now = (1_700_000_000, 0);
        for (text, want) in [
            ("@1700000000", 1_700_000_000),
            ("2024-01-15", 1_705_276_800),
            ("2024-01-15 10:30", 1_705_314_600),
            ("2024-01-15T10:30:00Z", 1_705_314_600),
            ("2024-01-15T10:30:00+02:00", 1_705_307_400),
            ("2024-01-15 10:30:15 -0530", 1_705_334_415),
            ("Jan 15 2024", 1_705_276_800),
            ("15 Jan 2024 10:30", 1_705_314_600),
            ("January 15, 2024", 1_705_276_800),
            ("1/15/2024", 1_705_276_800),
            ("2024/1/15", 1_705_276_800),
            ("20240115", 1_705_276_800),
            ("20240115 1030", 1_705_314_600),
            ("15-Jan-2024", 1_705_276_800),
            ("Mon, 15 Jan 2024 10:30:00 GMT", 1_705_314_600),
            ("Mon Jan 15 10:30:00 UTC 2024", 1_705_314_600),
            ("2024-01-15 + 1 day", 1_705_363_200),
            ("2024-01-15 1 day ago", 1_705_190_400),
            ("2024-01-31 +1 month", 1_709_337_600),
            ("2024-01-15 3 hours ago", 1_705_266_000),
            ("2024-01-15 next week", 1_705_881_600),
            ("2024-01-15 last month", 1_702_598_400),
            ("2024-01-15 10:30 EST", 1_705_332_600),
            ("2024-01-15 10:30 pm", 1_705_357_800),
            ("2024-01-15 -1 year", 1_673_740_800),
            ("yesterday", 1_699_913_600),
            ("tomorrow 10:00", 1_700_042_400),
            ("1 week ago", 1_699_395_200),
            ("10pm", 1_699_999_200),
        ] {
            let got = parse(text.as_bytes(), now, &Zone::utc(), |_| None).map(|t| t.0);
            assert_eq!(got, Some(want), "{text}");
        }
        for bad in ["2024-02-30", "garbage", "2024-13-01", "25:00", "10:61", "1 2 3 4 5 6", "noon"]
        {
            assert_eq!(parse(bad.as_bytes(), now, &Zone::utc(), |_| None), None, "{bad}");
        }
    }
}
