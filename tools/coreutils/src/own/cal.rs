//! `cal` (BSD, Debian's ncal package): calendars of a month or a year, weeks from Sunday.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, clock};
use box_text::time::civil;

use crate::common::{input, number};

/// An option of `cal`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CalFlag {
    After,
    Before,
    Ignored,
    Monday,
    Month,
    Months,
    NoHighlight,
    One,
    Sunday,
    Three,
    Year,
}

const SPEC: Spec<CalFlag> = Spec::new(
    "[OPTION]... [[[DAY] MONTH] YEAR]",
    "Print a calendar of this month, or of another month or year.",
    &[
        Opt::new(CalFlag::One, '1', "one").with_help("Print a single month (default)"),
        Opt::new(CalFlag::Three, '3', "three").with_help("Print last, this and next month"),
        Opt::new(CalFlag::Months, 'n', "months")
            .with_argument("num", "Print NUM months, starting with this one"),
        Opt::new(CalFlag::After, 'A', "").with_argument("num", "Add NUM months after it"),
        Opt::new(CalFlag::Before, 'B', "").with_argument("num", "Add NUM months before it"),
        Opt::new(CalFlag::Sunday, 'S', "sunday").with_help("Begin weeks on Sunday (default)"),
        Opt::new(CalFlag::Monday, 'M', "monday").with_help("Begin weeks on Monday"),
        Opt::new(CalFlag::Month, 'm', "").with_argument("month", "Print MONTH: a number or a name"),
        Opt::new(CalFlag::Year, 'y', "year").with_help("Print a whole year"),
        Opt::new(CalFlag::NoHighlight, 'h', "").with_help("Do not mark today (never done)"),
        Opt::new(CalFlag::Ignored, 'b', "").with_help(words::IGNORED),
        Opt::new(CalFlag::Ignored, 'C', "").with_help(words::IGNORED),
    ],
);

/// The number of columns of a month.
const WIDTH: usize = 20;

/// The first day of the Gregorian calendar in Britain and its colonies. The day before it was the
/// 2nd (cal(1)).
const REFORM: (i64, i64, i64) = (1752, 9, 14);

/// Returns the number of days from 1970-01-01 to a date of the calendar that was in force.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    if (year, month, day) >= REFORM {
        return civil::days_from_date(year, month, day);
    }
    // The year is counted from March, so that it ends with the leap day.
    let january = i64::from(month < 3);
    let (years, months) = (year + 4800 - january, month + 12 * january - 3);
    day + (153 * months + 2) / 5 + 365 * years + years / 4 - 32_083 - 2_440_588
}

/// Returns the days of a month.
fn days_of(year: i64, month: i64) -> impl Iterator<Item = i64> {
    let leaps = (year, month) < (REFORM.0, REFORM.1) && month == 2 && year % 4 == 0;
    let last = if leaps { 29 } else { civil::month_len(year, month) };
    let is_gap =
        move |day: &i64| (year, month) == (REFORM.0, REFORM.1) && (3..REFORM.2).contains(day);
    (1..=last).filter(move |day| !is_gap(day))
}

/// Returns the lines of a month: title, days of the week, six weeks.
fn month_lines(year: i64, month: i64, monday: bool, with_year: bool) -> Vec<String> {
    let name = usize::try_from(month - 1)
        .ok()
        .and_then(|i| civil::MONTHS.get(i))
        .copied()
        .unwrap_or_default();
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
    let first = civil::weekday_of(days_since_epoch(year, month, 1));
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

/// Returns the lines of months side by side.
fn months_row(months: &[(i64, i64)], monday: bool, with_year: bool) -> String {
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
    if let Some(n) = number::parse_decimal(text) {
        return i64::try_from(n).ok().filter(|n| (1..=12).contains(n));
    }
    let found = civil::MONTHS
        .iter()
        .position(|m| name.len() >= 3 && m.to_lowercase().starts_with(&name))?;
    Some(found as i64 + 1)
}

/// The months to show, as pairs of a year and a month from 1.
struct CalPlan {
    months: Vec<(i64, i64)>,
    /// The year, if its title is printed once above all months.
    year: Option<i64>,
    monday: bool,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    let mut out = String::new();
    if let Some(year) = plan.year {
        let title = year.to_string();
        let left = (3 * WIDTH).saturating_sub(title.len()) / 2;
        out.push_str(&format!("{:left$}{title}\n", ""));
    }
    let rows =
        plan.months.chunks(3).map(|months| months_row(months, plan.monday, plan.year.is_none()));
    out.push_str(&rows.collect::<Vec<_>>().join("\n"));
    let _ = ctx.stdout.write_all(out.as_bytes());
    Ok(Exit::SUCCESS)
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<CalPlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let zone = ctx.zone();
    let today = zone.to_civil(clock::current_time().0, 0);
    let mut chosen = CalendarChoice {
        year: today.year,
        month: today.month,
        whole_year: p.has_option(CalFlag::Year),
    };
    chosen.read_operands(ctx, &p.operands)?;
    if let Some(text) = p.last_value(CalFlag::Month) {
        chosen.month = parse_month(ctx, text)?;
        chosen.whole_year = false;
    }
    let CalendarChoice { year, month, whole_year } = chosen;
    let monday = p.last_of(&[CalFlag::Monday, CalFlag::Sunday]) == Some(CalFlag::Monday);
    if whole_year {
        let months = (1..=12).map(|month| (year, month)).collect();
        return Ok(CalPlan { months, year: Some(year), monday });
    }
    let (before, after) = neighbour_months(&p);
    let first = year * 12 + month - 1 - before;
    let months = (first..=first + before + after)
        .map(|i| (i.div_euclid(12), i.rem_euclid(12) + 1))
        .collect();
    Ok(CalPlan { months, year: None, monday })
}

/// Returns the numbers of months to show before and after the chosen one.
fn neighbour_months(p: &ParsedOptions<CalFlag>) -> (i64, i64) {
    let count = |flag: CalFlag| {
        let n =
            p.last_value(flag).and_then(number::parse_decimal).and_then(|n| i64::try_from(n).ok());
        n.filter(|n| *n <= 1200)
    };
    if p.has_option(CalFlag::Three) {
        (1, 1)
    } else if let Some(n) = count(CalFlag::Months) {
        (0, n.max(1) - 1)
    } else {
        (count(CalFlag::Before).unwrap_or(0), count(CalFlag::After).unwrap_or(0))
    }
}

struct CalendarChoice {
    year: i64,
    month: i64,
    whole_year: bool,
}

impl CalendarChoice {
    /// Interprets the operands `YEAR`, `MONTH`, `MONTH YEAR` or `DAY MONTH YEAR`.
    fn read_operands(&mut self, ctx: &mut Ctx<'_>, operands: &[Vec<u8>]) -> Result<(), Exit> {
        match operands {
            [] => {}
            // A single number is a year, and a single name is a month.
            [one] if one.first().is_some_and(u8::is_ascii_digit) => {
                (self.year, self.whole_year) = (parse_year(ctx, one)?, true);
            }
            [one] => self.month = month_number(one).ok_or_else(|| no_year(ctx, one))?,
            [rest @ .., m, y] if rest.len() < 2 => {
                self.month = parse_month(ctx, m)?;
                self.year = parse_year(ctx, y)?;
            }
            [.., extra] => return Err(input::extra_operand(ctx, extra)),
        }
        Ok(())
    }
}

fn parse_year(ctx: &mut Ctx<'_>, text: &[u8]) -> Result<i64, Exit> {
    let n = number::parse_decimal(text).and_then(|n| i64::try_from(n).ok());
    n.filter(|n| (1..=9999).contains(n)).ok_or_else(|| no_year(ctx, text))
}

fn no_year(ctx: &mut Ctx<'_>, text: &[u8]) -> Exit {
    input::report_failure(ctx, &[b"not a valid year ", text])
}

fn parse_month(ctx: &mut Ctx<'_>, text: &[u8]) -> Result<i64, Exit> {
    let neither = b" is neither a month number (1..12) nor a name";
    month_number(text).ok_or_else(|| input::report_failure(ctx, &[text, neither]))
}
