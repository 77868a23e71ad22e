//! Dates as RFC 3339 writes them, in UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the time in milliseconds since the epoch.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Writes a time, given in nanoseconds since the epoch.
pub fn format_ns(ns: u64) -> String {
    let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_date(days as i64);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{rest:09}Z")
}

/// Writes a time, given in milliseconds since the epoch.
pub fn format_ms(ms: u64) -> String {
    format_ns(ms.saturating_mul(1_000_000))
}

/// Reads a date and time with an offset; returns milliseconds since the epoch. Dates before 1970
/// are 0.
pub fn parse_ms(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let part = text.get(from..to)?;
        part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let at = |place: usize, wanted: &[u8]| {
        text.as_bytes().get(place).is_some_and(|b| wanted.contains(b))
    };
    if !(at(4, b"-") && at(7, b"-") && at(10, b"Tt ") && at(13, b":") && at(16, b":")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let rest = text.get(19..)?;
    let digits =
        rest.strip_prefix('.').map_or(0, |r| r.bytes().take_while(u8::is_ascii_digit).count());
    let (fraction, offset) = match rest.strip_prefix('.') {
        Some(_) if digits == 0 => return None,
        Some(r) => (&r[..digits], &r[digits..]),
        None => ("", rest),
    };
    let ms: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let away = match offset {
        "Z" | "z" => 0,
        _ => {
            let sign = if offset.starts_with('-') { -1 } else { 1 };
            let offset = offset.strip_prefix(['+', '-'])?;
            let (hours, minutes) = offset.split_once(':')?;
            if hours.len() != 2 || minutes.len() != 2 {
                return None;
            }
            sign * (hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?) * 60
        }
    };
    let seconds =
        days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - away;
    Some(u64::try_from(seconds * 1000 + ms).unwrap_or(0))
}

/// Returns year, month and day of a day since the epoch, in the proleptic Gregorian calendar: eras
/// of 400 years, each beginning in March.
fn civil_date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    // date -u -d @N +%FT%TZ
    const KNOWN: &[(u64, &str)] = &[
        (0, "1970-01-01T00:00:00"),
        (951_782_400, "2000-02-29T00:00:00"),
        (1_709_251_199, "2024-02-29T23:59:59"),
        (1_795_927_429, "2026-11-29T04:43:49"),
        (4_102_444_800, "2100-01-01T00:00:00"),
    ];

    #[test]
    fn dates_are_written_and_read() {
        for (seconds, text) in KNOWN {
            assert_eq!(format_ms(seconds * 1000 + 5), format!("{text}.005000000Z"));
            assert_eq!(parse_ms(&format!("{text}Z")), Some(seconds * 1000), "{text}");
        }
        assert_eq!(parse_ms("2026-11-29T06:43:49.123456+02:00"), Some(1_795_927_429_123));
        assert_eq!(parse_ms("2026-11-28 23:43:49-05:00"), Some(1_795_927_429_000));
        for wrong in [
            "",
            "2026",
            "2026-13-01T00:00:00Z",
            "2026-11-29T04:43:49",
            "2026-11-29T04:43:49.Z",
            "x",
        ] {
            assert_eq!(parse_ms(wrong), None, "{wrong}");
        }
    }
}
