//! `strftime(3)` in the C locale and UTC, for `printf %(...)T` and prompts.

/// Days since 1970-01-01 to year, month (1..), day (1..). Algorithm: H. Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", civil_from_days.
fn civil(days: i64) -> (i64, u32, u32) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = (doy - (153 * mp + 2) / 5 + 1) as u32;
    let month = if mp < 10 { mp + 3 } else { mp - 9 } as u32;
    (yoe + era * 400 + i64::from(month <= 2), month, day)
}

const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
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

fn is_leap(y: i64) -> bool {
    y % 4 == 0 && (y % 100 != 0 || y % 400 == 0)
}

/// Formats seconds since the epoch.
pub fn strftime(format: &[u8], time: i64) -> Vec<u8> {
    let mut out = Vec::new();
    render(format, time, &mut out);
    out
}

fn render(format: &[u8], time: i64, out: &mut Vec<u8>) {
    let days = time.div_euclid(86_400);
    let secs = time.rem_euclid(86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (secs / 3600, secs / 60 % 60, secs % 60);
    let weekday = (days + 4).rem_euclid(7);
    let before: i64 = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month as usize - 1];
    let yday = before + i64::from(day) - 1 + i64::from(month > 2 && is_leap(year));
    let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
    let mut at = 0;
    while let Some(&c) = format.get(at) {
        at += 1;
        if c != b'%' {
            out.push(c);
            continue;
        }
        let start = at;
        let mut flag = 0u8;
        while let Some(f @ (b'-' | b'_' | b'0' | b'^' | b'#')) = format.get(at) {
            flag = *f;
            at += 1;
        }
        let mut width = 0usize;
        while let Some(d) = format.get(at).filter(|c| c.is_ascii_digit()) {
            width = (width * 10 + usize::from(d - b'0')).min(1024);
            at += 1;
        }
        while let Some(b'E' | b'O') = format.get(at) {
            at += 1;
        }
        let Some(&conversion) = format.get(at) else {
            out.extend_from_slice(&format[start - 1..]);
            return;
        };
        at += 1;
        let number = |out: &mut Vec<u8>, n: i64, digits: usize, pad: u8| {
            let pad = match flag {
                b'-' => 0,
                b'_' => b' ',
                b'0' => b'0',
                _ => pad,
            };
            let digits = if width > 0 { width } else { digits };
            let text = n.to_string();
            if pad != 0 {
                out.resize(out.len() + digits.saturating_sub(text.len()), pad);
            }
            out.extend_from_slice(text.as_bytes());
        };
        let text = |out: &mut Vec<u8>, s: &str| {
            out.resize(out.len() + width.saturating_sub(s.len()), b' ');
            match flag {
                b'^' => out.extend_from_slice(s.to_uppercase().as_bytes()),
                _ => out.extend_from_slice(s.as_bytes()),
            }
        };
        let (name, month_name) = (DAYS[weekday as usize], MONTHS[month as usize - 1]);
        match conversion {
            b'a' => text(out, &name[..3]),
            b'A' => text(out, name),
            b'b' | b'h' => text(out, &month_name[..3]),
            b'B' => text(out, month_name),
            b'c' => render(b"%a %b %e %H:%M:%S %Y", time, out),
            b'C' => number(out, year.div_euclid(100), 2, b'0'),
            b'd' => number(out, i64::from(day), 2, b'0'),
            b'D' | b'x' => render(b"%m/%d/%y", time, out),
            b'e' => number(out, i64::from(day), 2, b' '),
            b'F' => render(b"%Y-%m-%d", time, out),
            b'g' => number(out, iso_week(year, yday, weekday).0.rem_euclid(100), 2, b'0'),
            b'G' => number(out, iso_week(year, yday, weekday).0, 4, b'0'),
            b'H' => number(out, hour, 2, b'0'),
            b'I' => number(out, hour12, 2, b'0'),
            b'j' => number(out, yday + 1, 3, b'0'),
            b'k' => number(out, hour, 2, b' '),
            b'l' => number(out, hour12, 2, b' '),
            b'm' => number(out, i64::from(month), 2, b'0'),
            b'M' => number(out, minute, 2, b'0'),
            b'n' => out.push(b'\n'),
            b'p' => text(out, if hour < 12 { "AM" } else { "PM" }),
            b'P' => text(out, if hour < 12 { "am" } else { "pm" }),
            b'r' => render(b"%I:%M:%S %p", time, out),
            b'R' => render(b"%H:%M", time, out),
            b's' => number(out, time, 1, b'0'),
            b'S' => number(out, second, 2, b'0'),
            b't' => out.push(b'\t'),
            b'T' | b'X' => render(b"%H:%M:%S", time, out),
            b'u' => number(out, if weekday == 0 { 7 } else { weekday }, 1, b'0'),
            b'U' => number(out, (yday + 7 - weekday) / 7, 2, b'0'),
            b'V' => number(out, iso_week(year, yday, weekday).1, 2, b'0'),
            b'w' => number(out, weekday, 1, b'0'),
            b'W' => number(out, (yday + 7 - (weekday + 6) % 7) / 7, 2, b'0'),
            b'y' => number(out, year.rem_euclid(100), 2, b'0'),
            b'Y' => number(out, year, 1, b'0'),
            b'z' => text(out, "+0000"),
            b'Z' => text(out, "UTC"),
            b'%' => out.push(b'%'),
            _ => out.extend_from_slice(&format[start - 1..at]),
        }
    }
}

/// ISO 8601 year and week.
fn iso_week(year: i64, yday: i64, weekday: i64) -> (i64, i64) {
    let monday_based = (weekday + 6) % 7;
    let week = (yday - monday_based + 10) / 7;
    let weeks_in = |y: i64| {
        let p =
            |y: i64| (y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400)).rem_euclid(7);
        if p(y) == 4 || p(y - 1) == 3 { 53 } else { 52 }
    };
    if week < 1 {
        (year - 1, weeks_in(year - 1))
    } else if week > weeks_in(year) {
        (year + 1, 1)
    } else {
        (year, week)
    }
}

#[cfg(test)]
mod tests {
    use super::strftime;

    /// Expected: GNU date 9.1, `TZ=UTC LC_ALL=C date -d @N +FORMAT`.
    #[test]
    fn as_gnu_date() {
        for (t, f, want) in [
            (0, "%F %T %a %j %U %W %V %G %u", "1970-01-01 00:00:00 Thu 001 00 00 01 1970 4"),
            (951_782_400, "%c|%x|%e|%y", "Tue Feb 29 00:00:00 2000|02/29/00|29|00"),
            (1_230_768_000, "%G-W%V %-d %_m %^b", "2009-W01 1  1 JAN"),
            (-1, "%s %Y-%m-%d %I %p", "-1 1969-12-31 11 PM"),
        ] {
            assert_eq!(String::from_utf8(strftime(f.as_bytes(), t)).unwrap(), want, "{t} {f}");
        }
    }
}
