//! The notation for sizes and times.

use std::time::Duration;

/// Parses a size in bytes: a number with an optional `K`, `M`, `G` or `T` (powers of 1024),
/// optionally followed by `B` or `iB`, for example `64M` or `1GiB`.
pub fn parse_size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.strip_suffix("iB").or(unit.strip_suffix('B')).unwrap_or(unit);
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Parses seconds, with fractions allowed; 0 means no limit, as does a time of more than 30 years.
pub fn parse_seconds(text: &str) -> Option<Option<Duration>> {
    limit_of(text.parse().ok()?)
}

/// Converts a number of seconds to a limit. `Some(None)` means no limit; this includes times beyond
/// 30 years, because clocks cannot represent every time that a number of seconds can.
pub fn limit_of(seconds: f64) -> Option<Option<Duration>> {
    const FOR_EVER: f64 = 1e9;
    if !seconds.is_finite() || seconds < 0.0 {
        return None;
    }
    if seconds == 0.0 || seconds >= FOR_EVER {
        return Some(None);
    }
    Duration::try_from_secs_f64(seconds).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("0"), Some(0));
        assert_eq!(parse_size("512M"), Some(512 << 20));
        assert_eq!(parse_size("1g"), Some(1 << 30));
        assert_eq!(parse_size("64KiB"), Some(65536));
        assert_eq!(parse_size("5B"), Some(5));
        for bad in ["", "M", "1.5G", "-1", "1X", "99999999999T"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(parse_seconds("0.25"), Some(Some(Duration::from_millis(250))));
        assert_eq!(parse_seconds("0"), Some(None));
        for long in ["1e9", "1e19", "1e300"] {
            assert_eq!(parse_seconds(long), Some(None), "{long}");
        }
        for bad in ["", "x", "-1", "nan", "inf", "1e400"] {
            assert_eq!(parse_seconds(bad), None, "{bad}");
        }
    }
}
