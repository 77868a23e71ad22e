//! Times in the form of RFC 3339.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

/// Returns the number of the day (UTC) since 1970.
pub(crate) fn day_of(time: SystemTime) -> u64 {
    seconds(time) / DAY
}

/// Returns a time in seconds, such as `2026-01-31T08:15:00Z`.
///
/// ```
/// let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(951_782_400);
/// assert_eq!(wasibox_providers::rfc3339(time), "2000-02-29T00:00:00Z");
/// ```
pub fn rfc3339(time: SystemTime) -> String {
    let (mut days, rest) = (seconds(time) / DAY, seconds(time) % DAY);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `date -u -d @N +%FT%TZ` of GNU coreutils.
    #[test]
    fn times_are_those_of_date() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
