//! `touch` (POSIX XCU touch; GNU `-d -h -r -t --time`): sets the times of files.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, OutputSink, clock};
use box_sys::meta;
use box_text::time::civil;
use box_text::time::parse::parse;

use super::date;
use crate::common::{input, quote};

/// An option of `touch`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TouchFlag {
    AccessOnly,
    Date,
    Ignored,
    ModificationOnly,
    NoCreate,
    NoDereference,
    Reference,
    Stamp,
    Time,
}

const SPEC: Spec<TouchFlag> = Spec::new(
    "[OPTION]... FILE...",
    "Set the times of each FILE to now; make it, empty, if it is missing.",
    &[
        Opt::new(TouchFlag::AccessOnly, 'a', "").with_help("Set the time of access only"),
        Opt::new(TouchFlag::NoCreate, 'c', "no-create").with_help("Do not make missing files"),
        Opt::new(TouchFlag::Date, 'd', "date")
            .with_argument("STRING", "Set the time STRING, which is read as by date -d"),
        Opt::new(TouchFlag::Ignored, 'f', "").with_help(words::IGNORED),
        Opt::new(TouchFlag::NoDereference, 'h', "no-dereference")
            .with_help("Set the times of symbolic links themselves"),
        Opt::new(TouchFlag::ModificationOnly, 'm', "")
            .with_help("Set the time of modification only"),
        Opt::new(TouchFlag::Reference, 'r', "reference")
            .with_argument("FILE", "Set the times of the file FILE"),
        Opt::new(TouchFlag::Stamp, 't', "")
            .with_argument("STAMP", "Set the time [[CC]YY]MMDDhhmm[.ss]"),
        Opt::long(TouchFlag::Time, "time")
            .with_argument("WORD", "Set one time: access, atime, use (-a) or modify, mtime (-m)"),
    ],
)
.with_examples(&[
    ("touch -d '2 days ago' FILE", "Set another time"),
    ("touch -r OTHER FILE", "Take the times of OTHER"),
]);

fn to_nanos((seconds, nanos): (i64, u32)) -> u64 {
    // Times before the epoch cannot be stored, so they become the epoch.
    u64::try_from(seconds)
        .unwrap_or(0)
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::from(nanos))
}

/// The files, and the times to set.
struct TouchPlan {
    access: bool,
    modify: bool,
    /// The access and modification times, in nanoseconds since the epoch.
    times: (u64, u64),
    /// Whether times other than the current ones were given.
    given: bool,
    create: bool,
    follow: bool,
    files: Vec<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    let mut exit = Exit::SUCCESS;
    for file in &plan.files {
        if file == b"-" {
            touch_stdout(ctx, &plan);
        } else if let Err((what, e)) = touch_file(&ctx.path(file), file, &plan) {
            exit = input::report_cannot(ctx, what, file, &e);
        }
    }
    Ok(exit)
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<TouchPlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let (mut access, mut modify) =
        (p.has_option(TouchFlag::AccessOnly), p.has_option(TouchFlag::ModificationOnly));
    for word in p.all_values(TouchFlag::Time) {
        match word {
            b"access" | b"atime" | b"use" => access = true,
            b"modify" | b"mtime" => modify = true,
            other => {
                let shown = quote::quote_in_sentence(other);
                let parts: &[&[u8]] = &[b"invalid argument ", &shown, b" for '--time'"];
                return Err(input::usage_error(ctx, parts));
            }
        }
    }
    if !access && !modify {
        (access, modify) = (true, true);
    }
    if p.has_option(TouchFlag::Stamp)
        && (p.has_option(TouchFlag::Reference) || p.has_option(TouchFlag::Date))
    {
        let parts: &[&[u8]] = &[b"cannot specify times from more than one source"];
        return Err(input::usage_error(ctx, parts));
    }
    let times = parse_times(ctx, &p)?;
    if p.operands.is_empty() {
        return Err(input::usage_error(ctx, &[b"missing file operand"]));
    }
    let now = to_nanos(clock::current_time());
    let follow = !p.has_option(TouchFlag::NoDereference);
    Ok(TouchPlan {
        access,
        modify,
        times: times.unwrap_or((now, now)),
        given: times.is_some(),
        create: follow && !p.has_option(TouchFlag::NoCreate),
        follow,
        files: p.operands,
    })
}

/// Parses the access and modification times that the options give; returns nanoseconds since the
/// epoch, or `None` if no option gives a time.
fn parse_times(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<TouchFlag>,
) -> Result<Option<(u64, u64)>, Exit> {
    let zone = ctx.zone();
    let invalid = |ctx: &mut Ctx<'_>, text: &[u8]| {
        input::report_failure(ctx, &[b"invalid date format ", &quote::quote_in_sentence(text)])
    };
    if let Some(text) = p.last_value(TouchFlag::Stamp) {
        let time = date::touch_time(text, &zone).ok_or_else(|| invalid(ctx, text))?;
        return Ok(Some((to_nanos(time), to_nanos(time))));
    }
    let mut times = None;
    let now = clock::current_time();
    // The times that `-d` is relative to.
    let mut base = (now, now);
    if let Some(file) = p.last_value(TouchFlag::Reference) {
        let stat = meta::stat(&ctx.path(file), !p.has_option(TouchFlag::NoDereference))
            .map_err(|e| input::report_cannot(ctx, "failed to get attributes of", file, &e))?;
        times = Some((stat.atime, stat.mtime));
        base = (civil::split_nanos(stat.atime), civil::split_nanos(stat.mtime));
    }
    if let Some(text) = p.last_value(TouchFlag::Date) {
        let at = |base| parse(text, base, &zone, clock::read);
        let (Some(access), Some(modify)) = (at(base.0), at(base.1)) else {
            return Err(invalid(ctx, text));
        };
        times = Some((to_nanos(access), to_nanos(modify)));
    }
    Ok(times)
}

fn touch_stdout(ctx: &Ctx<'_>, plan: &TouchPlan) {
    if let OutputSink::File(f) = ctx.stdout.sink() {
        let modified = Duration::from_nanos(plan.times.1);
        let _ = f.set_modified(SystemTime::UNIX_EPOCH + modified);
    }
}

/// Creates a file or sets its times. The error names the failed operation and its cause.
fn touch_file(path: &Path, name: &[u8], plan: &TouchPlan) -> Result<(), (&'static str, io::Error)> {
    if meta::stat(path, plan.follow).is_err() {
        if !plan.create {
            return Ok(());
        }
        create_file(path, name).map_err(|e| ("cannot touch", e))?;
        // A new file has the current times already.
        if !plan.given && plan.access && plan.modify {
            return Ok(());
        }
    }
    let access = plan.access.then_some(plan.times.0);
    let modify = plan.modify.then_some(plan.times.1);
    let what = if plan.given { "setting times of" } else { "cannot touch" };
    meta::set_times(path, access, modify, plan.follow).map_err(|e| (what, e))
}

fn create_file(path: &Path, name: &[u8]) -> io::Result<()> {
    if name.is_empty() || name.ends_with(b"/") {
        return Err(io::ErrorKind::NotFound.into());
    }
    OpenOptions::new().write(true).create(true).truncate(false).open(path).map(drop)
}
