//! `touch` (POSIX XCU touch; GNU `-d -h -r -t --time`).

use std::fs::OpenOptions;
use std::io;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit, Sink};
use box_sys::meta;

use super::date;
use crate::common::{clock, input, quote};
use box_text::time::civil;
use box_text::time::parse::parse;

const SPEC: Spec = Spec {
    usage: "[OPTION]... FILE...",
    about: "Update the access and modification times of each FILE to the current time.\nA FILE argument that does not exist is created empty, unless -c or -h is supplied.",
    options: &[
        Opt::flag('a', "", "change only the access time"),
        Opt::flag('c', "no-create", "do not create any files"),
        Opt::value('d', "date", "STRING", "parse STRING and use it instead of current time"),
        Opt::flag('f', "", "(ignored)"),
        Opt::flag(
            'h',
            "no-dereference",
            "affect each symbolic link instead of any referenced file",
        ),
        Opt::flag('m', "", "change only the modification time"),
        Opt::value('r', "reference", "FILE", "use this file's times instead of current time"),
        Opt::value('t', "", "STAMP", "use [[CC]YY]MMDDhhmm[.ss] instead of current time"),
        Opt::value(
            '\u{1}',
            "time",
            "WORD",
            "change the specified time: access, atime, use (like -a),\nmodify, mtime (like -m)",
        )
        .long_only(),
    ],
    after: "",
    posix_order: false,
};

fn nanos((seconds, nanos): (i64, u32)) -> u64 {
    // Times before the epoch cannot be stored; the epoch is the nearest.
    u64::try_from(seconds)
        .unwrap_or(0)
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::from(nanos))
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let (mut access, mut modify) = (p.has('a'), p.has('m'));
    for word in p.all('\u{1}') {
        match word {
            b"access" | b"atime" | b"use" => access = true,
            b"modify" | b"mtime" => modify = true,
            other => {
                input::usage_error(
                    ctx,
                    &[b"invalid argument ", &quote::always(other), b" for '--time'"],
                );
                return Exit::FAILURE;
            }
        }
    }
    if !access && !modify {
        (access, modify) = (true, true);
    }
    let zone = clock::zone(ctx.env.get(b"TZ"));
    let sources = ['t'].iter().chain(['r'].iter()).filter(|c| p.has(**c)).count()
        + usize::from(p.has('d') && p.has('t'));
    if sources > 1 {
        input::usage_error(ctx, &[b"cannot specify times from more than one source"]);
        return Exit::FAILURE;
    }
    let now = clock::now();
    let mut times = (nanos(now), nanos(now));
    let mut given = false;
    let mut base = (now, now);
    if let Some(file) = p.last('r') {
        match meta::stat(&ctx.path(file), !p.has('h')) {
            Ok(s) => {
                times = (s.atime, s.mtime);
                base = (civil::split_nanos(s.atime), civil::split_nanos(s.mtime));
                given = true;
            }
            Err(e) => {
                input::cannot(ctx, "failed to get attributes of", file, &e);
                return Exit::FAILURE;
            }
        }
    }
    if let Some(text) = p.last('d') {
        let parsed =
            (parse(text, base.0, &zone, clock::read), parse(text, base.1, &zone, clock::read));
        let (Some(a), Some(m)) = parsed else {
            ctx.error_bytes(&[b"invalid date format ", &quote::always(text)]);
            return Exit::FAILURE;
        };
        times = (nanos(a), nanos(m));
        given = true;
    }
    if let Some(text) = p.last('t') {
        let Some(t) = date::touch_time(text, &zone) else {
            ctx.error_bytes(&[b"invalid date format ", &quote::always(text)]);
            return Exit::FAILURE;
        };
        times = (nanos(t), nanos(t));
        given = true;
    }
    if p.operands.is_empty() {
        input::usage_error(ctx, &[b"missing file operand"]);
        return Exit::FAILURE;
    }
    let mut exit = Exit::SUCCESS;
    for file in &p.operands {
        if file == b"-" {
            if let Sink::File(f) = ctx.stdout.sink() {
                let t =
                    std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_nanos(times.1);
                let _ = f.set_modified(t);
            }
            continue;
        }
        let path = ctx.path(file);
        let follow = !p.has('h');
        if meta::stat(&path, follow).is_err() {
            if p.has('c') || p.has('h') {
                continue;
            }
            if let Err(e) = create(&path, file) {
                input::cannot(ctx, "cannot touch", file, &e);
                exit = Exit::FAILURE;
                continue;
            }
            // A new file has the current times already.
            if !given && access && modify {
                continue;
            }
        }
        let (a, m) = (access.then_some(times.0), modify.then_some(times.1));
        if let Err(e) = meta::set_times(&path, a, m, follow) {
            let text: &str = if given { "setting times of" } else { "cannot touch" };
            input::cannot(ctx, text, file, &e);
            exit = Exit::FAILURE;
        }
    }
    exit
}

fn create(path: &std::path::Path, name: &[u8]) -> io::Result<()> {
    if name.is_empty() || name.ends_with(b"/") {
        return Err(io::ErrorKind::NotFound.into());
    }
    OpenOptions::new().write(true).create(true).truncate(false).open(path).map(drop)
}
