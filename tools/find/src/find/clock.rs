//! Calendar dates of instants, for output formats and `-newermt`.

/// A zone with a fixed offset: `TZ` as POSIX writes it without daylight saving time
/// (`UTC`, `EST5`, `<+03>-3`); anything else counts as UTC.
#[derive(Clone, Debug)]
pub struct Zone {
    pub name: String,
    /// Seconds east of UTC.
    pub offset: i64,
}

impl Zone {
    pub fn new(tz: Option<&[u8]>) -> Zone {
        tz.and_then(parse).unwrap_or(Zone { name: "UTC".into(), offset: 0 })
    }

    /// The local calendar date and time of an instant in nanoseconds.
    pub fn civil(&self, nanos: i128) -> Civil {
        let seconds = nanos.div_euclid(1_000_000_000) as i64;
        let local = seconds.saturating_add(self.offset);
        let (days, of_day) = (local.div_euclid(86400), local.rem_euclid(86400));
        let (year, month, day) = from_days(days);
        Civil {
            year,
            month,
            day,
            hour: (of_day / 3600) as u32,
            minute: (of_day / 60 % 60) as u32,
            second: (of_day % 60) as u32,
            nanos: nanos.rem_euclid(1_000_000_000) as u32,
            weekday: (days + 4).rem_euclid(7) as u32,
            yearday: (days - to_days(year, 1, 1)) as u32,
            epoch: seconds,
        }
    }
}

/// A broken-down time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    pub year: i64,
    /// 1 to 12
    pub month: u32,
    /// 1 to 31
    pub day: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
    pub nanos: u32,
    /// 0 is Sunday.
    pub weekday: u32,
    /// From 0.
    pub yearday: u32,
    pub epoch: i64,
}

pub const MONTHS: [&str; 12] = [
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
pub const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl Civil {
    pub fn month_name(&self) -> &'static str {
        MONTHS.get(self.month.wrapping_sub(1) as usize).copied().unwrap_or("?")
    }

    pub fn weekday_name(&self) -> &'static str {
        WEEKDAYS.get(self.weekday as usize).copied().unwrap_or("?")
    }

    /// Year and week by ISO 8601.
    pub fn iso_week(&self) -> (i64, i64) {
        let weekday = i64::from((self.weekday + 6) % 7);
        let week = (i64::from(self.yearday) - weekday + 10) / 7;
        let weeks = |year: i64| {
            let first = (to_days(year, 1, 1) + 4).rem_euclid(7);
            let leap = to_days(year + 1, 1, 1) - to_days(year, 1, 1) == 366;
            if first == 4 || leap && first == 3 { 53 } else { 52 }
        };
        if week < 1 {
            (self.year - 1, weeks(self.year - 1))
        } else if week > weeks(self.year) {
            (self.year + 1, 1)
        } else {
            (self.year, week)
        }
    }

    /// Week of the year; `first` is the weekday weeks begin with.
    pub fn week(&self, first: u32) -> u32 {
        (self.yearday + 7 - (self.weekday + 7 - first) % 7) / 7
    }
}

/// Days since the epoch of a date of the Gregorian calendar (Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms").
pub fn to_days(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn from_days(days: i64) -> (i64, u32, u32) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month as u32, day as u32)
}

fn parse(tz: &[u8]) -> Option<Zone> {
    let text = std::str::from_utf8(tz).ok()?;
    let text = text.strip_prefix(':').unwrap_or(text);
    let (name, rest) = match text.strip_prefix('<') {
        Some(quoted) => quoted.split_once('>')?,
        None => {
            let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
            text.split_at(end)
        }
    };
    if name.len() < 3 {
        return None;
    }
    let (sign, rest) = match rest.strip_prefix('-') {
        Some(r) => (1, r),
        None => (-1, rest.strip_prefix('+').unwrap_or(rest)),
    };
    let mut seconds = 0;
    let mut unit = 3600;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(rest.len());
    if end < rest.len() {
        return None;
    }
    for part in rest.split(':').filter(|p| !p.is_empty()) {
        seconds += part.parse::<i64>().ok().filter(|n| *n < 168)? * unit;
        unit /= 60;
    }
    Some(Zone { name: name.to_string(), offset: sign * seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_date_gives_them() {
        // date -u -d @1577934245 '+%F %T %j %U %W %V %G %u'
        let c = Zone::new(None).civil(1_577_934_245_123_000_000);
        assert_eq!((c.year, c.month, c.day, c.hour, c.minute, c.second), (2020, 1, 2, 3, 4, 5));
        assert_eq!((c.yearday, c.weekday, c.week(0), c.week(1)), (1, 4, 0, 0));
        assert_eq!(c.iso_week(), (2020, 1));
        // date -u -d @1609459200 '+%F %G-%V %U'
        let c = Zone::new(None).civil(1_609_459_200_000_000_000);
        assert_eq!((c.iso_week(), c.week(0)), ((2020, 53), 0));
        assert_eq!(Zone::new(Some(b"EST5")).civil(0).hour, 19);
        assert_eq!(Zone::new(Some(b"<+0530>-5:30")).civil(0).minute, 30);
        assert_eq!(to_days(1969, 12, 31), -1);
    }
}
