//! `who`, `users` (GNU coreutils 9.1) and `w` (procps 4.0): the list of users is empty, because
//! there are no terminals and no logins.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, clock};
use box_text::time::strftime;

use super::system;
use crate::common::input;

#[derive(Clone, Copy, PartialEq, Eq)]
enum WhoFlag {
    All,
    Boot,
    Count,
    Heading,
    Other,
}

const WHO: Spec<WhoFlag> = Spec::new(
    "[OPTION]... [FILE|am i]",
    "Print who is logged in. Nobody is here, because there are no logins.",
    &[
        Opt::new(WhoFlag::All, 'a', "all").with_help("Print everything: -b and -H"),
        Opt::new(WhoFlag::Boot, 'b', "boot").with_help("Print when the machine started"),
        Opt::new(WhoFlag::Heading, 'H', "heading").with_help("Print a line of headings"),
        Opt::new(WhoFlag::Count, 'q', "count").with_help("Print the number of users"),
        Opt::new(WhoFlag::Other, 'd', "dead").with_help("Print nothing: there are no such entries"),
        Opt::new(WhoFlag::Other, 'l', "login"),
        Opt::new(WhoFlag::Other, 'm', ""),
        Opt::new(WhoFlag::Other, 'p', "process"),
        Opt::new(WhoFlag::Other, 'r', "runlevel"),
        Opt::new(WhoFlag::Other, 's', "short"),
        Opt::new(WhoFlag::Other, 't', "time"),
        Opt::new(WhoFlag::Other, 'T', "mesg"),
        Opt::new(WhoFlag::Other, 'u', "users"),
        Opt::new(WhoFlag::Other, 'w', "writable"),
        Opt::long(WhoFlag::Other, "message"),
        Opt::long(WhoFlag::Other, "ips"),
        Opt::long(WhoFlag::Other, "lookup"),
    ],
);

pub(crate) fn run_who(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = WHO.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(extra) = p.operands.get(2) {
        return Err(input::extra_operand(ctx, extra));
    }
    if p.has_option(WhoFlag::Count) {
        return Ok(ctx.print("\n# users=0\n"));
    }
    if p.has_option(WhoFlag::Heading) {
        ctx.print("NAME     LINE         TIME             COMMENT\n");
    }
    if p.has_option(WhoFlag::Boot) || p.has_option(WhoFlag::All) {
        let (now, _) = clock::current_time();
        let began = now.saturating_sub(i64::try_from(system::up_seconds()).unwrap_or(0));
        let zone = ctx.zone();
        let time = strftime::format_strftime(b"%Y-%m-%d %H:%M", &zone.to_civil(began, 0));
        let _ = ctx.stdout.write_all(&[b"         system boot  ", time.as_slice(), b"\n"].concat());
    }
    Ok(Exit::SUCCESS)
}

const USERS: Spec =
    Spec::new("[FILE]", "Print the names of the users who are logged in. Nobody is here.", &[]);

pub(crate) fn run_users(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = USERS.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(extra) = p.operands.get(1) {
        return Err(input::extra_operand(ctx, extra));
    }
    Ok(Exit::SUCCESS)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WFlag {
    NoHeader,
    Other,
    Short,
    Version,
}

const W: Spec<WFlag> = Spec::new(
    "[OPTION]... [USER]",
    "Print who is logged in and what they do, after the line of uptime. Nobody is here.",
    &[
        Opt::new(WFlag::NoHeader, 'h', "no-header").with_help("Print no headings"),
        Opt::new(WFlag::Short, 's', "short").with_help("Print fewer columns"),
        Opt::new(WFlag::Version, 'V', "").with_help("Show the version"),
        Opt::new(WFlag::Other, 'f', "from"),
        Opt::new(WFlag::Other, 'i', "ip-addr"),
        Opt::new(WFlag::Other, 'o', "old-style"),
        Opt::new(WFlag::Other, 'u', "no-current"),
    ],
);

pub(crate) fn run_w(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = W.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has_option(WFlag::Version) {
        let text = ctx.version();
        return Ok(ctx.print(&text));
    }
    if p.has_option(WFlag::NoHeader) {
        return Ok(Exit::SUCCESS);
    }
    let columns = if p.has_option(WFlag::Short) {
        "USER     TTY      FROM              IDLE WHAT"
    } else {
        "USER     TTY      FROM             LOGIN@   IDLE   JCPU   PCPU WHAT"
    };
    let text = format!("{}\n{columns}\n", system::uptime_line(ctx));
    Ok(ctx.print(&text))
}
