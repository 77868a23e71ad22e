//! Dates (jq manual, "Dates"): "broken down" times are arrays of year, month from 0, day, hours,
//! minutes, seconds, day of the week, day of the year.

use box_applet::clock;
use box_text::time::{CivilTime, civil};

use super::time_text::{format_time, parse};
use super::{Native, fail_with, natives, take_argument};
use crate::value::{Result, Value};

/// The functions of this file.
pub const NATIVES: &[Native] = natives! {
    "now"/0 => |_, _, _| {
        let (seconds, nanos) = clock::current_time();
        Ok(Value::Num(seconds as f64 + f64::from(nanos) / 1e9))
    },
    "gmtime"/0 => |_, v, _| match v.as_num() {
        Some(n) => Ok(broken_down(n, 0)),
        None => fail_with("gmtime() requires numeric inputs"),
    },
    "localtime"/0 => |h, v, _| match v.as_num() {
        Some(n) => Ok(broken_down(n, h.zone.offset_at(n.floor() as i64).0)),
        None => fail_with("localtime() requires numeric inputs"),
    },
    "mktime"/0 => |_, v, _| {
        let Value::Arr(_) = &v else { return fail_with("mktime requires array of 6 numbers") };
        let t = Tm::from_value(&v, "mktime requires parsed datetime inputs")?;
        Ok(Value::Num(t.seconds() as f64))
    },
    "strftime"/1 => |_, v, a| format_value(v, &take_argument(a, 0), "strftime/1", (0, "UTC")),
    "strflocaltime"/1 => |h, v, a| {
        let at = match v.as_num() {
            Some(n) => n.floor() as i64,
            // A broken-down time is local, so the offset is the one at that local time.
            None => Tm::from_value(&v, "").map_or(0, |t| h.zone.to_epoch(t.seconds())),
        };
        let (offset, name) = h.zone.offset_at(at);
        format_value(v, &take_argument(a, 0), "strflocaltime/1", (offset, name))
    },
    "strptime"/1 => |_, v, a| match (&v, &take_argument(a, 0)) {
        (Value::Str(s), Value::Str(f)) => match parse(s, f) {
            Some(t) => Ok(t.to_value(0.0)),
            None => fail_with(format!("date \"{s}\" does not match format \"{f}\"")),
        },
        _ => fail_with("strptime/1 requires string inputs and arguments"),
    },
};

/// C's `struct tm`, with the full year.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tm {
    pub year: i64,
    /// January is 0.
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    /// Sunday is 0.
    pub weekday: i64,
    /// 1 January is 0.
    pub yearday: i64,
}

impl Tm {
    /// Returns the time that is a number of seconds after the beginning of 1970.
    pub fn from_seconds(seconds: i64) -> Tm {
        let b = CivilTime::new(seconds, 0, 0, "UTC");
        Tm {
            year: b.year,
            month: b.month - 1,
            day: b.day,
            hour: b.hour,
            minute: b.minute,
            second: b.second,
            weekday: b.weekday,
            yearday: b.yearday,
        }
    }

    /// Returns the seconds since 1970. Fields out of their ranges carry over, as with `timegm`.
    pub fn seconds(&self) -> i64 {
        let year = self.year.saturating_add(self.month.div_euclid(12)).clamp(-1 << 40, 1 << 40);
        let days = civil::days_from_date(year, self.month.rem_euclid(12) + 1, 1)
            .saturating_add(self.day.saturating_sub(1));
        days.saturating_mul(86_400)
            .saturating_add(self.hour.saturating_mul(3600))
            .saturating_add(self.minute.saturating_mul(60))
            .saturating_add(self.second)
    }

    /// Sets the day of the week and of the year from the date.
    pub fn set_days(&mut self) {
        let days = civil::days_from_date(self.year, self.month + 1, self.day);
        self.weekday = civil::weekday_of(days);
        self.yearday = days - civil::days_from_date(self.year, 1, 1);
    }

    fn from_value(v: &Value, message: &str) -> Result<Tm> {
        let items = v.as_arr().unwrap_or_default();
        let mut fields = [0i64; 8];
        for (item, field) in items.iter().zip(&mut fields) {
            let Some(n) = item.as_num() else { return fail_with(message) };
            *field = (n as i64).clamp(-1 << 40, 1 << 40);
        }
        let [year, month, day, hour, minute, second, weekday, yearday] = fields;
        let mut t = Tm { year, month, day, hour, minute, second, weekday, yearday };
        if items.len() < 8 && (0..12).contains(&month) {
            t.set_days();
        }
        Ok(t)
    }

    /// Returns the time as an array; `fraction` is added to the seconds.
    fn to_value(self, fraction: f64) -> Value {
        let n = |i: i64| Value::Num(i as f64);
        Value::arr(vec![
            n(self.year),
            n(self.month),
            n(self.day),
            n(self.hour),
            n(self.minute),
            Value::Num(self.second as f64 + fraction),
            n(self.weekday),
            n(self.yearday),
        ])
    }
}

fn broken_down(n: f64, offset: i64) -> Value {
    let whole = n.floor();
    Tm::from_seconds((whole as i64).saturating_add(offset).clamp(-1 << 50, 1 << 50))
        .to_value(n - whole)
}

fn format_value(v: Value, format_text: &Value, name: &str, zone: (i64, &str)) -> Result<Value> {
    let v = match v.as_num() {
        Some(n) => broken_down(n, zone.0),
        None => v,
    };
    let message = format!("{name} requires parsed datetime inputs");
    if !matches!(v, Value::Arr(_)) {
        return fail_with(message);
    }
    let Value::Str(f) = format_text else {
        return fail_with(format!("{name} requires a string format"));
    };
    let t = Tm::from_value(&v, &message)?;
    Ok(format_time(&t, f, zone).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `date -u -d @N`.
    #[test]
    fn seconds_and_back() {
        for (n, y, m, d, w, yd) in [
            (0, 1970, 0, 1, 4, 0),
            (951_782_400, 2000, 1, 29, 2, 59),
            (-1, 1969, 11, 31, 3, 364),
            (1_425_599_621, 2015, 2, 5, 4, 63),
            (4_107_542_400, 2100, 2, 1, 1, 59),
        ] {
            let t = Tm::from_seconds(n);
            assert_eq!((t.year, t.month, t.day, t.weekday, t.yearday), (y, m, d, w, yd), "{n}");
            assert_eq!(t.seconds(), n);
        }
    }
}
