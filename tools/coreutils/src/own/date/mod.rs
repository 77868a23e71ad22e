//! `date` (POSIX XCU date; GNU manual "date invocation", "Date input formats").
//!
//! | file | what |
//! |---|---|

use std::io::{BufRead, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::meta;

use crate::common::clock;
use crate::common::{input, quote};
use box_text::time::Zone;
use box_text::time::{civil, strftime};

use box_text::time::parse::{self, parse};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [+FORMAT]\n  or:  date [-u|--utc|--universal] [MMDDhhmm[[CC]YY][.ss]]",
    about: "Display date and time in the given FORMAT.",
    options: &[
        Opt::value('d', "date", "STRING", "display time described by STRING, not 'now'"),
        Opt::flag('\u{1}', "debug", "annotate the parsed date (no effect)").long_only(),
        Opt::value('f', "file", "DATEFILE", "like --date; once for each line of DATEFILE"),
        Opt::optional(
            'I',
            "iso-8601",
            "FMT",
            "output date/time in ISO 8601 format;\nFMT='date' (default), 'hours', 'minutes', 'seconds', or 'ns'",
        ),
        Opt::flag('R', "rfc-email", "output date and time in RFC 5322 format"),
        Opt::flag('\u{5}', "rfc-2822", "the same").long_only(),
        Opt::flag('\u{6}', "rfc-822", "the same").long_only(),
        Opt::value(
            '\u{2}',
            "rfc-3339",
            "FMT",
            "output date/time in RFC 3339 format;\nFMT='date', 'seconds', or 'ns'",
        )
        .long_only(),
        Opt::value('r', "reference", "FILE", "display the last modification time of FILE"),
        Opt::value('s', "set", "STRING", "set time described by STRING (not permitted here)"),
        Opt::flag('u', "utc", "print or set Coordinated Universal Time (UTC)"),
        Opt::flag('\u{3}', "universal", "the same").long_only(),
        Opt::flag('\u{7}', "resolution", "output the available resolution of timestamps")
            .long_only(),
    ],
    after: "FORMAT controls the output as strftime does: %Y %m %d %H %M %S %F %T %s %N %a %b %Z %z ...\nFlags after %: - (do not pad), _ (spaces), 0 (zeros), + (zeros, and + before future years),\n^ (upper case), # (opposite case); then a width.",
    posix_order: false,
};

/// The output format that an option stands for; `Err` holds an argument that is none.
fn option_format(id: char, value: Option<&[u8]>) -> Option<&'static [u8]> {
    let is = |name: &[u8]| value.is_some_and(|v| !v.is_empty() && name.starts_with(v));
    Some(match id {
        'R' | '\u{5}' | '\u{6}' => b"%a, %d %b %Y %H:%M:%S %z",
        'I' => match value {
            None => b"%Y-%m-%d",
            _ if is(b"date") => b"%Y-%m-%d",
            _ if is(b"hours") => b"%Y-%m-%dT%H%:z",
            _ if is(b"minutes") => b"%Y-%m-%dT%H:%M%:z",
            _ if is(b"seconds") => b"%Y-%m-%dT%H:%M:%S%:z",
            _ if is(b"ns") => b"%Y-%m-%dT%H:%M:%S,%N%:z",
            _ => return None,
        },
        _ if is(b"date") => b"%Y-%m-%d",
        _ if is(b"seconds") => b"%Y-%m-%d %H:%M:%S%:z",
        _ if is(b"ns") => b"%Y-%m-%d %H:%M:%S.%N%:z",
        _ => return None,
    })
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut format: Option<Vec<u8>> = None;
    let mut several = false;
    for (id, value) in &p.options {
        if matches!(id, 'R' | 'I' | '\u{2}' | '\u{5}' | '\u{6}') {
            let Some(f) = option_format(*id, value.as_deref()) else {
                let long = if *id == 'I' { "--iso-8601" } else { "--rfc-3339" };
                let shown = quote::always(value.as_deref().unwrap_or_default());
                input::usage_error(
                    ctx,
                    &[b"invalid argument ", &shown, b" for '", long.as_bytes(), b"'"],
                );
                return Exit::FAILURE;
            };
            several |= format.is_some();
            format = Some(f.to_vec());
        }
    }
    if ['d', 'f', 'r', '\u{7}'].iter().filter(|c| p.has(**c)).count() > 1 {
        input::usage_error(
            ctx,
            &[b"the options to specify dates for printing are mutually exclusive"],
        );
        return Exit::FAILURE;
    }
    let mut set = p.last('s').map(<[u8]>::to_vec);
    for o in &p.operands {
        match o.strip_prefix(b"+") {
            Some(f) => {
                several |= format.is_some();
                format = Some(f.to_vec());
            }
            None if p.operands.len() == 1
                && set.is_none()
                && !p.has('d')
                && !p.has('r')
                && !p.has('f') =>
            {
                set = Some(o.clone());
            }
            None => {
                let shown = quote::always(o);
                if p.operands.len() > 1 && o != &p.operands[0] {
                    input::usage_error(ctx, &[b"extra operand ", &shown]);
                } else {
                    let hint = b" lacks a leading '+';\nwhen using an option to specify date(s), any non-option\nargument must be a format string beginning with '+'";
                    input::usage_error(ctx, &[b"the argument ", &shown, hint]);
                }
                return Exit::FAILURE;
            }
        }
    }
    if several {
        ctx.error("multiple output formats specified");
        return Exit::FAILURE;
    }
    let zone =
        if p.has('u') || p.has('\u{3}') { Zone::utc() } else { clock::zone(ctx.env.get(b"TZ")) };
    if p.has('\u{7}') {
        return show(ctx, &zone, &format.unwrap_or_else(|| b"%s.%N".to_vec()), (0, 1));
    }
    let format = format.unwrap_or_else(|| b"%a %b %e %H:%M:%S %Z %Y".to_vec());
    if let Some(text) = set {
        return refuse_to_set(ctx, &text, &zone, &format);
    }
    if let Some(file) = p.last('f') {
        let file = file.to_vec();
        return from_file(ctx, &file, &zone, &format);
    }
    let when = if let Some(text) = p.last('d') {
        match parse(text, clock::now(), &zone, clock::read) {
            Some(t) => t,
            None => {
                ctx.error_bytes(&[b"invalid date ", &quote::always(text)]);
                return Exit::FAILURE;
            }
        }
    } else if let Some(file) = p.last('r') {
        match meta::stat(&ctx.path(file), true) {
            Ok(s) => civil::split_nanos(s.mtime),
            Err(e) => {
                input::file_error(ctx, file, &e);
                return Exit::FAILURE;
            }
        }
    } else {
        clock::now()
    };
    show(ctx, &zone, &format, when)
}

fn show(ctx: &mut Ctx<'_>, zone: &Zone, format: &[u8], (epoch, nanos): (i64, u32)) -> Exit {
    let mut out = Vec::with_capacity(64);
    strftime::format(&mut out, format, &zone.broken(epoch, nanos));
    out.push(b'\n');
    if ctx.stdout.write_all(&out).is_ok() { Exit::SUCCESS } else { Exit::FAILURE }
}

fn from_file(ctx: &mut Ctx<'_>, file: &[u8], zone: &Zone, format: &[u8]) -> Exit {
    let now = clock::now();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let read = input::open(&mut ctx.stdin, &ctx.cwd, file).and_then(|mut r| {
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
        input::file_error(ctx, file, &e);
        return Exit::FAILURE;
    }
    let mut exit = Exit::SUCCESS;
    for line in lines {
        match parse(&line, now, zone, clock::read) {
            Some(t) => {
                if show(ctx, zone, format, t) != Exit::SUCCESS {
                    return Exit::FAILURE;
                }
            }
            None => {
                ctx.error_bytes(&[b"invalid date ", &quote::always(&line)]);
                exit = Exit::FAILURE;
            }
        }
    }
    exit
}

/// Setting the clock is nobody's right here; as for any user who is not root, the
/// date is still checked and shown.
fn refuse_to_set(ctx: &mut Ctx<'_>, text: &[u8], zone: &Zone, format: &[u8]) -> Exit {
    let when = parse(text, clock::now(), zone, clock::read)
        .or_else(|| parse::posix(text, clock::now(), zone));
    let Some(when) = when else {
        ctx.error_bytes(&[b"invalid date ", &quote::always(text)]);
        return Exit::FAILURE;
    };
    ctx.error("cannot set date: Operation not permitted");
    show(ctx, zone, format, when);
    Exit::FAILURE
}

/// `touch -t` times: `[[CC]YY]MMDDhhmm[.ss]`.
pub(crate) fn touch_time(text: &[u8], zone: &Zone) -> Option<(i64, u32)> {
    parse::touch(text, clock::now(), zone)
}
