//! `cal` (BSD, Debian's ncal package): calendars of a month or a year, weeks from Sunday.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};

use crate::common::{clock, input, number};
use box_text::time::civil;

const SPEC: Spec = Spec {
    usage: "[options] [[[day] month] year]",
    about: "Display a calendar, or some part of it.",
    options: &[
        Opt::flag('1', "one", "show only a single month (default)"),
        Opt::flag('3', "three", "show three months spanning the date"),
        Opt::value('n', "months", "num", "show num months starting with date's month"),
        Opt::value('A', "", "num", "display num months after the current one"),
        Opt::value('B', "", "num", "display num months before the current one"),
        Opt::flag('S', "sunday", "Sunday as first day of week (default)"),
        Opt::flag('M', "monday", "Monday as first day of week"),
        Opt::value('m', "", "month", "display the specified month"),
        Opt::flag('y', "year", "show the whole year"),
        Opt::flag('h', "", "do not highlight today (never done)"),
        Opt::flag('b', "", "(no effect)"),
        Opt::flag('C', "", "(no effect)"),
    ],
    after: "",
    posix_order: false,
};

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
/// Columns of a month.
const WIDTH: usize = 20;

/// The first day of the Gregorian calendar in Britain and its colonies; the day before it was the 2nd (cal(1)).
const REFORM: (i64, i64, i64) = (1752, 9, 14);

/// Days since 1970-01-01 of a date in the calendar that was in force.
fn days(year: i64, month: i64, day: i64) -> i64 {
    if (year, month, day) >= REFORM {
        return civil::days(year, month, day);
    }
    // March is the first month of a year that ends with the leap day.
    let january = i64::from(month < 3);
    let (years, months) = (year + 4800 - january, month + 12 * january - 3);
    day + (153 * months + 2) / 5 + 365 * years + years / 4 - 32_083 - 2_440_588
}

/// The days that a month has.
fn days_of(year: i64, month: i64) -> impl Iterator<Item = i64> {
    let leaps = (year, month) < (REFORM.0, REFORM.1) && month == 2 && year % 4 == 0;
    let last = if leaps { 29 } else { civil::month_len(year, month) };
    let is_gap =
        move |day: &i64| (year, month) == (REFORM.0, REFORM.1) && (3..REFORM.2).contains(day);
    (1..=last).filter(move |day| !is_gap(day))
}

/// Lines of a month: title, days of the week, six weeks.
fn month_lines(year: i64, month: i64, monday: bool, with_year: bool) -> Vec<String> {
    let name =
        usize::try_from(month - 1).ok().and_then(|i| MONTHS.get(i)).copied().unwrap_or_default();
    let title = if with_year { format!("{name} {year}") } else { name.to_string() };
    let left = (WIDTH.saturating_sub(title.len())) / 2;
    let mut lines = vec![
        format!("{:left$}{title}", ""),
        if monday {
            "Mo Tu We Th Fr Sa Su".to_string()
        } else {
            "Su Mo Tu We Th Fr Sa".to_string()
        },
    ];
    let first = civil::weekday(days(year, month, 1));
    let skip = if monday { (first + 6) % 7 } else { first };
    let mut line = "   ".repeat(usize::try_from(skip).unwrap_or(0));
    let mut column = skip;
    for day in days_of(year, month) {
        line.push_str(&format!("{day:2}"));
        column += 1;
        if column == 7 {
            lines.push(std::mem::take(&mut line));
            column = 0;
        } else {
            line.push(' ');
        }
    }
    if column > 0 {
        lines.push(line);
    }
    lines.resize(8, String::new());
    lines
}

/// Months side by side.
fn row(months: &[(i64, i64)], monday: bool, with_year: bool) -> String {
    let blocks: Vec<Vec<String>> =
        months.iter().map(|(y, m)| month_lines(*y, *m, monday, with_year)).collect();
    let mut out = String::new();
    for i in 0..8 {
        let cells: Vec<String> = blocks.iter().map(|b| format!("{:<WIDTH$}", b[i])).collect();
        out.push_str(&cells.join("  "));
        out.push_str("  \n");
    }
    out
}

fn month_number(text: &[u8]) -> Option<i64> {
    let name = String::from_utf8_lossy(text).to_lowercase();
    if let Some(n) = number::decimal(text) {
        return i64::try_from(n).ok().filter(|n| (1..=12).contains(n));
    }
    let found =
        MONTHS.iter().position(|m| name.len() >= 3 && m.to_lowercase().starts_with(&name))?;
    Some(found as i64 + 1)
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let zone = clock::zone(ctx.env.get(b"TZ"));
    let (now, _) = clock::now();
    let today = zone.broken(now, 0);
    let year_of = |t: &[u8]| {
        number::decimal(t).and_then(|n| i64::try_from(n).ok()).filter(|n| (1..=9999).contains(n))
    };
    let (mut year, mut month, mut whole) = (today.year, today.month, p.has('y'));
    let no_year = |ctx: &mut Ctx<'_>, t: &[u8]| {
        ctx.error_bytes(&[b"not a valid year ", t]);
        Exit::FAILURE
    };
    let no_month = |ctx: &mut Ctx<'_>, t: &[u8]| {
        ctx.error_bytes(&[t, b" is neither a month number (1..12) nor a name"]);
        Exit::FAILURE
    };
    let operands = p.operands.clone();
    match operands.as_slice() {
        [] => {}
        // One number is a year, one name a month.
        [one] if one.first().is_some_and(u8::is_ascii_digit) => match year_of(one) {
            Some(y) => (year, whole) = (y, true),
            None => return no_year(ctx, one),
        },
        [one] => match month_number(one) {
            Some(m) => month = m,
            None => return no_year(ctx, one),
        },
        [rest @ .., m, y] if rest.len() < 2 => {
            match month_number(m) {
                Some(n) => month = n,
                None => return no_month(ctx, m),
            }
            match year_of(y) {
                Some(n) => year = n,
                None => return no_year(ctx, y),
            }
        }
        [.., extra] => {
            input::extra_operand(ctx, extra);
            return Exit::FAILURE;
        }
    }
    if let Some(m) = p.last('m') {
        match month_number(m) {
            Some(n) => (month, whole) = (n, false),
            None => return no_month(ctx, m),
        }
    }
    let monday = p.last_of(&['M', 'S']) == Some('M');
    let mut out = String::new();
    if whole {
        let title = year.to_string();
        out.push_str(&format!(
            "{:left$}{title}\n",
            "",
            left = (3 * WIDTH).saturating_sub(title.len()) / 2
        ));
        for q in 0..4 {
            let months: Vec<(i64, i64)> = (1..=3).map(|k| (year, q * 3 + k)).collect();
            out.push_str(&row(&months, monday, false));
            if q < 3 {
                out.push('\n');
            }
        }
    } else {
        let count = |id: char| {
            p.last(id)
                .and_then(number::decimal)
                .and_then(|n| i64::try_from(n).ok())
                .filter(|n| *n <= 1200)
        };
        let (before, after) = if p.has('3') {
            (1, 1)
        } else if let Some(n) = count('n') {
            (0, n.max(1) - 1)
        } else {
            (count('B').unwrap_or(0), count('A').unwrap_or(0))
        };
        let start = year * 12 + month - 1 - before;
        let all: Vec<(i64, i64)> = (0..=before + after)
            .map(|i| ((start + i).div_euclid(12), (start + i).rem_euclid(12) + 1))
            .collect();
        for (i, chunk) in all.chunks(3).enumerate() {
            if i > 0 {
                out.push('\n');
            }
            out.push_str(&row(chunk, monday, true));
        }
    }
    let _ = ctx.stdout.write_all(out.as_bytes());
    Exit::SUCCESS
}
