//! `date` (POSIX XCU date; GNU manual "date invocation", "Date input formats").
//!
//! | file | contents |
//! |---|---|

use std::io::{BufRead, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, clock};
use box_sys::meta;
use box_text::time::Zone;
use box_text::time::parse::{self, parse};
use box_text::time::{civil, strftime};

use crate::common::{input, quote};

/// An option of `date`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DateFlag {
    Date,
    Debug,
    File,
    Iso8601,
    Reference,
    Resolution,
    Rfc3339,
    RfcEmail,
    Set,
    Utc,
}

const SPEC: Spec<DateFlag> = Spec::new(
    "[OPTION]... [+FORMAT]\n[OPTION]... [MMDDhhmm[[CC]YY][.ss]]",
    "Print the time now, or another one, as FORMAT says.",
    &[
        Opt::new(DateFlag::Date, 'd', "date").with_argument(
            "STRING",
            "Take the time that STRING says: 2024-05-17 12:00, yesterday, @SECONDS",
        ),
        Opt::long(DateFlag::Debug, "debug").with_help(words::IGNORED),
        Opt::new(DateFlag::File, 'f', "file")
            .with_argument("DATEFILE", "Print the time of each line of DATEFILE"),
        Opt::new(DateFlag::Iso8601, 'I', "iso-8601").may_take(
            "FMT",
            "Print as ISO 8601 up to date (default), hours, minutes, seconds or ns",
        ),
        Opt::new(DateFlag::RfcEmail, 'R', "rfc-email")
            .with_help("Print as mail headers do: Fri, 17 May 2024 12:00:00 +0000"),
        Opt::long(DateFlag::RfcEmail, "rfc-2822").with_help(words::SAME),
        Opt::long(DateFlag::RfcEmail, "rfc-822").with_help(words::SAME),
        Opt::long(DateFlag::Rfc3339, "rfc-3339")
            .with_argument("FMT", "Print as RFC 3339 up to date, seconds or ns"),
        Opt::new(DateFlag::Reference, 'r', "reference")
            .with_argument("FILE", "Print when FILE was modified last"),
        Opt::new(DateFlag::Set, 's', "set")
            .with_argument("STRING", "Refused: the clock cannot be set here"),
        Opt::new(DateFlag::Utc, 'u', "utc").with_help("Use UTC instead of the zone of TZ"),
        Opt::long(DateFlag::Utc, "universal").with_help(words::SAME),
        Opt::long(DateFlag::Resolution, "resolution")
            .with_help("Print the resolution of the clock"),
    ],
)
.with_examples(&[
    ("date +%F", "Today as 2024-05-17"),
    ("date -d '3 days ago' +%F", "Three days back"),
    ("date -u -d @1700000000", "A Unix time in words"),
])
.with_footer(
    "FORMAT is that of strftime: %Y %m %d %H %M %S %F %T %s %N %a %b %Z %z and more. \
        The % may be followed by - (no padding), _ (spaces), 0 (zeros), + (zeros, a sign \
        before far years), ^ (upper case) or # (other case), then a width.",
);

/// Returns the output format for an option; `Err` holds the option whose argument is invalid.
fn option_format(
    flag: DateFlag,
    value: Option<&[u8]>,
) -> Result<Option<&'static [u8]>, &'static [u8]> {
    let is = |name: &[u8]| value.is_some_and(|v| !v.is_empty() && name.starts_with(v));
    Ok(Some(match flag {
        DateFlag::RfcEmail => b"%a, %d %b %Y %H:%M:%S %z",
        DateFlag::Iso8601 => match value {
            None => b"%Y-%m-%d",
            _ if is(b"date") => b"%Y-%m-%d",
            _ if is(b"hours") => b"%Y-%m-%dT%H%:z",
            _ if is(b"minutes") => b"%Y-%m-%dT%H:%M%:z",
            _ if is(b"seconds") => b"%Y-%m-%dT%H:%M:%S%:z",
            _ if is(b"ns") => b"%Y-%m-%dT%H:%M:%S,%N%:z",
            _ => return Err(b"--iso-8601"),
        },
        DateFlag::Rfc3339 => match value {
            _ if is(b"date") => b"%Y-%m-%d",
            _ if is(b"seconds") => b"%Y-%m-%d %H:%M:%S%:z",
            _ if is(b"ns") => b"%Y-%m-%d %H:%M:%S.%N%:z",
            _ => return Err(b"--rfc-3339"),
        },
        _ => return Ok(None),
    }))
}

/// The time to show.
enum DateWhen {
    Now,
    /// `-d`
    Described(Vec<u8>),
    /// `-r`
    Modified(Vec<u8>),
    /// `-f`: one for each line.
    EachLine(Vec<u8>),
    /// `-s`, or an operand.
    ToSet(Vec<u8>),
    Resolution,
}

struct DatePlan {
    when: DateWhen,
    zone: Zone,
    format: Option<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    let zone = &plan.zone;
    if let DateWhen::Resolution = plan.when {
        return Ok(print_time(ctx, zone, plan.format.as_deref().unwrap_or(b"%s.%N"), (0, 1)));
    }
    let format = plan.format.as_deref().unwrap_or(b"%a %b %e %H:%M:%S %Z %Y");
    let when = match &plan.when {
        DateWhen::ToSet(text) => return Ok(refuse_to_set(ctx, text, zone, format)),
        DateWhen::EachLine(file) => return Ok(from_file(ctx, file, zone, format)),
        DateWhen::Described(text) => match parse(text, clock::current_time(), zone, clock::read) {
            Some(t) => t,
            None => return Ok(report_invalid(ctx, text)),
        },
        DateWhen::Modified(file) => match meta::stat(&ctx.path(file), true) {
            Ok(s) => civil::split_nanos(s.mtime),
            Err(e) => return Ok(input::file_error(ctx, file, &e)),
        },
        DateWhen::Now | DateWhen::Resolution => clock::current_time(),
    };
    Ok(print_time(ctx, zone, format, when))
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<DatePlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mut formats: Vec<&[u8]> = Vec::new();
    for (flag, value) in &p.options {
        let format = option_format(*flag, value.as_deref()).map_err(|option| {
            let shown = quote::quote_in_sentence(value.as_deref().unwrap_or_default());
            input::usage_error(ctx, &[b"invalid argument ", &shown, b" for '", option, b"'"])
        })?;
        formats.extend(format);
    }
    let sources = [DateFlag::Date, DateFlag::File, DateFlag::Reference, DateFlag::Resolution];
    if sources.iter().filter(|flag| p.has_option(**flag)).count() > 1 {
        let text = b"the options to specify dates for printing are mutually exclusive";
        return Err(input::usage_error(ctx, &[text]));
    }
    let dates = [DateFlag::Date, DateFlag::File, DateFlag::Reference, DateFlag::Set];
    let may_set = p.operands.len() == 1 && !dates.iter().any(|flag| p.has_option(*flag));
    let mut set = p.last_value(DateFlag::Set);
    for (at, operand) in p.operands.iter().enumerate() {
        match operand.strip_prefix(b"+") {
            Some(format) => formats.push(format),
            None if may_set => set = Some(operand),
            None if at > 0 && *operand != p.operands[0] => {
                return Err(input::extra_operand(ctx, operand));
            }
            None => return Err(no_format(ctx, operand)),
        }
    }
    if formats.len() > 1 {
        return Err(input::report_failure(ctx, &[b"multiple output formats specified"]));
    }
    let given = |flag: DateFlag| p.last_value(flag).map(<[u8]>::to_vec);
    let when = if p.has_option(DateFlag::Resolution) {
        DateWhen::Resolution
    } else if let Some(text) = set {
        DateWhen::ToSet(text.to_vec())
    } else if let Some(file) = given(DateFlag::File) {
        DateWhen::EachLine(file)
    } else if let Some(text) = given(DateFlag::Date) {
        DateWhen::Described(text)
    } else {
        given(DateFlag::Reference).map_or(DateWhen::Now, DateWhen::Modified)
    };
    let zone = if p.has_option(DateFlag::Utc) { Zone::utc() } else { ctx.zone() };
    Ok(DatePlan { when, zone, format: formats.pop().map(<[u8]>::to_vec) })
}

/// Reports an operand that is neither a format nor a date to set.
fn no_format(ctx: &mut Ctx<'_>, operand: &[u8]) -> Exit {
    let shown = quote::quote_in_sentence(operand);
    let hint = b" lacks a leading '+';\nwhen using an option to specify date(s), any non-option\nargument must be a format string beginning with '+'";
    input::usage_error(ctx, &[b"the argument ", &shown, hint])
}

fn report_invalid(ctx: &mut Ctx<'_>, date: &[u8]) -> Exit {
    input::report_failure(ctx, &[b"invalid date ", &quote::quote_in_sentence(date)])
}

fn print_time(ctx: &mut Ctx<'_>, zone: &Zone, format: &[u8], (epoch, nanos): (i64, u32)) -> Exit {
    let mut out = Vec::with_capacity(64);
    strftime::format_date(&mut out, format, &zone.to_civil(epoch, nanos));
    out.push(b'\n');
    if ctx.stdout.write_all(&out).is_ok() { Exit::SUCCESS } else { Exit::FAILURE }
}

fn from_file(ctx: &mut Ctx<'_>, file: &[u8], zone: &Zone, format: &[u8]) -> Exit {
    let now = clock::current_time();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let read = input::open_operand(&mut ctx.stdin, &ctx.cwd, file).and_then(|mut r| {
        let mut line = Vec::new();
        while r.read_until(b'\n', &mut line)? > 0 {
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            lines.push(std::mem::take(&mut line));
        }
        Ok(())
    });
    if let Err(e) = read {
        return input::file_error(ctx, file, &e);
    }
    let mut exit = Exit::SUCCESS;
    for line in lines {
        match parse(&line, now, zone, clock::read) {
            Some(t) => {
                if print_time(ctx, zone, format, t) != Exit::SUCCESS {
                    return Exit::FAILURE;
                }
            }
            None => exit = report_invalid(ctx, &line),
        }
    }
    exit
}

/// Refuses to set the clock, because no process may do so. The date is still checked and shown, as
/// it is for any user who is not root.
fn refuse_to_set(ctx: &mut Ctx<'_>, text: &[u8], zone: &Zone, format: &[u8]) -> Exit {
    let when = parse(text, clock::current_time(), zone, clock::read)
        .or_else(|| parse::parse_posix(text, clock::current_time(), zone));
    let Some(when) = when else { return report_invalid(ctx, text) };
    ctx.error("cannot set date: Operation not permitted");
    print_time(ctx, zone, format, when);
    Exit::FAILURE
}

/// Parses a time of `touch -t`: `[[CC]YY]MMDDhhmm[.ss]`, for example `202601311200.30`.
pub(crate) fn touch_time(text: &[u8], zone: &Zone) -> Option<(i64, u32)> {
    parse::parse_touch(text, clock::current_time(), zone)
}
