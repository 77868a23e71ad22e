//! The system's clock and time zone; file times in seconds and nanoseconds.

use box_text::time::Zone;

/// Reads a file of the time zone database.
pub fn read(path: &str) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

/// Parses the value of `TZ`.
pub fn parse_zone(tz: Option<&[u8]>) -> Zone {
    Zone::from_env(tz, read)
}

/// Returns the current time in seconds and nanoseconds since the epoch.
pub fn current_time() -> (i64, u32) {
    split_time(std::time::SystemTime::now())
}

/// Converts a time to seconds and nanoseconds since the epoch.
pub fn split_time(t: std::time::SystemTime) -> (i64, u32) {
    match t.duration_since(std::time::UNIX_EPOCH) {
        Ok(d) => (i64::try_from(d.as_secs()).unwrap_or(i64::MAX), d.subsec_nanos()),
        Err(e) => {
            let d = e.duration();
            let s = i64::try_from(d.as_secs()).unwrap_or(i64::MAX);
            if d.subsec_nanos() == 0 { (-s, 0) } else { (-s - 1, 1_000_000_000 - d.subsec_nanos()) }
        }
    }
}
