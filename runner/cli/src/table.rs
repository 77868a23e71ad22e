//! Formatting of tables, times and sizes.

use crate::message::escape_text;
use std::time::Duration;

/// Formats rows under a header, with escapes for control characters, because names may come from
/// somebody else's file. All columns but the last are as wide as their content; those listed in
/// `right`, which hold numbers, are aligned to the right.
pub fn format_table(head: &[&str], right: &[usize], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| escape_text(cell)).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|c| c.chars().count()).max().unwrap_or(0).max(head[column].len())
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let head: Vec<String> = head.iter().map(|h| (*h).to_owned()).collect();
    let mut out = String::new();
    for row in std::iter::once(&head).chain(&rows) {
        let mut line = String::new();
        for (n, cell) in row.iter().enumerate() {
            let fill = " ".repeat(widths[n].saturating_sub(cell.chars().count()));
            if right.contains(&n) {
                line += &format!("{fill}{cell}  ")
            } else {
                line += &format!("{cell}{fill}  ")
            }
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// Formats nanoseconds since the epoch in UTC, for example `2026-11-23 01:20:42`.
pub fn format_time(ns: u64) -> String {
    let (year, month, day, seconds) = civil_date(ns / 1_000_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Formats nanoseconds since the epoch for JSON (RFC 3339), with milliseconds.
pub fn format_rfc3339(ns: u64) -> String {
    format!("{}.{:03}Z", format_time(ns).replace(' ', "T"), ns / 1_000_000 % 1000)
}

/// Returns year, month, day and the second of the day, by Howard Hinnant's `civil_from_days` for
/// days since the epoch.
fn civil_date(seconds: u64) -> (u64, u64, u64, u64) {
    let z = seconds / 86400 + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + u64::from(month <= 2);
    (year, month, doy - (153 * mp + 2) / 5 + 1, seconds % 86400)
}

/// Formats a duration.
pub fn format_duration(ns: u64) -> String {
    let d = Duration::from_nanos(ns);
    match d.as_secs() {
        0 => format!("{} ms", d.as_millis()),
        1..60 => format!("{:.1} s", d.as_secs_f64()),
        s => format!("{}:{:02} min", s / 60, s % 60),
    }
}

/// Returns the first line of a command, cut to `most` characters; `...` stands for the rest.
pub fn first_line(command: &[u8], most: usize) -> String {
    let all = String::from_utf8_lossy(command);
    let mut lines = all.lines();
    let line = escape_text(lines.next().unwrap_or_default());
    let is_whole = line.chars().count() <= most && lines.next().is_none();
    let cut: String = line.chars().take(most).collect();
    if is_whole { cut } else { cut + "..." }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_date() {
        // date -u -d @N '+%F %T'
        assert_eq!(format_time(0), "1970-01-01 00:00:00");
        assert_eq!(format_time(951_782_400 * 1_000_000_000), "2000-02-29 00:00:00");
        assert_eq!(format_time(1_795_396_842 * 1_000_000_000), "2026-11-23 01:20:42");
        assert_eq!(format_rfc3339(1_795_396_842_123_456_789), "2026-11-23T01:20:42.123Z");
    }

    #[test]
    fn columns_are_in_line() {
        let rows = [
            vec!["a".into(), "1".into(), "x y".into()],
            vec!["bbb".into(), "22".into(), String::new()],
        ];
        let text = format_table(&["N", "SIZE", "WHAT"], &[1], &rows);
        assert_eq!(text, "N    SIZE  WHAT\na       1  x y\nbbb    22\n");
    }

    #[test]
    fn names_of_foreign_files_do_nothing_to_a_terminal() {
        let rows = [vec!["a\x1b]0;x\x07".into()]];
        assert_eq!(format_table(&["N"], &[], &rows), "N\na\\u{1b}]0;x\\u{7}\n");
    }

    #[test]
    fn commands_are_cut() {
        assert_eq!(first_line(b"echo a\necho b", 20), "echo a...");
        assert_eq!(first_line(b"echo \x1b[2J", 20), "echo \\u{1b}[2J");
        assert_eq!(first_line(b"abcdef", 3), "abc...");
        assert_eq!(
            (format_duration(1_500_000), format_duration(61_000_000_000)),
            ("1 ms".into(), "1:01 min".into())
        );
    }
}
