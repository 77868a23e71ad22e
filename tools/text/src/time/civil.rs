//! Calendar arithmetic: the proleptic Gregorian calendar as POSIX counts seconds (XBD 4.16).

/// The days of the week, Sunday first.
pub const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The months.
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

/// Returns the name at a position in one of these lists.
pub fn name(list: &'static [&'static str], index: i64) -> &'static str {
    usize::try_from(index).ok().and_then(|i| list.get(i)).copied().unwrap_or("???")
}

/// Returns the days from 1970-01-01 to a date, whose month and day may be out of range.
pub fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    // Years begin in March, so that the leap day is the last.
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468 + day - 1
}

/// Converts days since 1970-01-01 to a year, a month (1..=12) and a day (1..=31).
pub fn date_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns whether the year has 366 days.
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Returns the length of a month (1..=12).
pub fn month_len(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the day of the week; Sunday is 0.
pub fn weekday_of(days: i64) -> i64 {
    (days + 4).rem_euclid(7)
}

/// A point in time, as a date and a time of day in some zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CivilTime {
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub nanos: u32,
    /// Sunday is 0.
    pub weekday: i64,
    /// From 0.
    pub yearday: i64,
    /// Seconds east of UTC.
    pub offset: i64,
    pub zone: String,
    /// Seconds since the epoch.
    pub epoch: i64,
}

impl CivilTime {
    /// Returns the seconds since the epoch, seen at an offset.
    pub fn new(epoch: i64, nanos: u32, offset: i64, zone: &str) -> CivilTime {
        let local = epoch.saturating_add(offset);
        let day = local.div_euclid(86_400);
        let of_day = local.rem_euclid(86_400);
        let (y, m, d) = date_from_days(day);
        CivilTime {
            year: y,
            month: m,
            day: d,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
            nanos,
            weekday: weekday_of(day),
            yearday: day - days_from_date(y, 1, 1),
            offset,
            zone: zone.to_string(),
            epoch,
        }
    }

    /// Returns the name of the day of the week.
    pub fn day_name(&self) -> &'static str {
        name(&DAYS, self.weekday)
    }

    /// Returns the name of the month.
    pub fn month_name(&self) -> &'static str {
        name(&MONTHS, self.month - 1)
    }

    /// Returns the hour on a clock of twelve hours, 1 to 12.
    pub fn hour12(&self) -> i64 {
        (self.hour + 11).rem_euclid(12) + 1
    }

    /// Returns the week of the year, from 0; `first` is the day with which weeks begin (0 for `%U`,
    /// 1 for `%W`).
    pub fn week(&self, first: i64) -> i64 {
        (self.yearday + 7 - (self.weekday - first).rem_euclid(7)).div_euclid(7)
    }

    /// Returns the year and number of the ISO 8601 week; week 1 is the one with the year's first
    /// Thursday.
    pub fn iso_week(&self) -> (i64, i64) {
        let thursday = self.yearday - (self.weekday + 6).rem_euclid(7) + 3;
        let len = |year| 365 + i64::from(is_leap(year));
        if thursday < 0 {
            return (self.year - 1, (thursday + len(self.year - 1)) / 7 + 1);
        }
        if thursday >= len(self.year) {
            return (self.year + 1, (thursday - len(self.year)) / 7 + 1);
        }
        (self.year, thursday / 7 + 1)
    }
}

/// Splits nanoseconds since the epoch, as in file metadata, into seconds and nanoseconds.
pub fn split_nanos(t: u64) -> (i64, u32) {
    ((t / 1_000_000_000) as i64, (t % 1_000_000_000) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        assert_eq!(days_from_date(1970, 1, 1), 0);
        assert_eq!(days_from_date(2000, 3, 1), 11_017);
        assert_eq!(days_from_date(2024, 14, 1), days_from_date(2025, 2, 1));
        for d in [-1_000_000, -719_468, -1, 0, 59, 60, 11_016, 20_000, 3_000_000] {
            let (y, m, day) = date_from_days(d);
            assert_eq!(days_from_date(y, m, day), d);
        }
        assert_eq!(weekday_of(0), 4);
    }
}
