//! `id`, `whoami`, `groups` (POSIX XCU id; GNU).

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::AccountNames;

use crate::common::{input, quote};

/// An option of `id`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IdFlag {
    Context,
    Group,
    Groups,
    Ignored,
    Name,
    Real,
    User,
    Zero,
}

const ID: Spec<IdFlag> = Spec::new(
    "[OPTION]... [USER]...",
    "Print the user and group numbers and names of this process, or of USERs.",
    &[
        Opt::new(IdFlag::Ignored, 'a', "").with_help(words::IGNORED),
        Opt::new(IdFlag::Context, 'Z', "context")
            .with_help("Fail: there are no security contexts here"),
        Opt::new(IdFlag::Group, 'g', "group").with_help("Print the number of the group"),
        Opt::new(IdFlag::Groups, 'G', "groups").with_help("Print the numbers of all groups"),
        Opt::new(IdFlag::Name, 'n', "name")
            .with_help("With -u, -g, -G: print names instead of numbers"),
        Opt::new(IdFlag::Real, 'r', "real")
            .with_help("With -u, -g, -G: print the real id, not the effective one"),
        Opt::new(IdFlag::User, 'u', "user").with_help("Print the number of the user"),
        Opt::new(IdFlag::Zero, 'z', "zero").with_help("With -u, -g, -G: separate by NUL bytes"),
    ],
);

/// A user with its ids.
struct UserIds {
    uid: u32,
    gid: u32,
    groups: Vec<u32>,
}

fn current_user(names: &AccountNames) -> UserIds {
    let (uid, gid) = box_sys::meta::ids();
    UserIds { uid, gid, groups: names.groups_of(names.user(uid), gid) }
}

fn find_user(names: &AccountNames, operand: &[u8]) -> Option<UserIds> {
    let name = String::from_utf8_lossy(operand);
    let (uid, gid) = match names.user_id(&name) {
        Some(found) => found,
        None => {
            let uid: u32 = name.strip_prefix('+').unwrap_or(&name).parse().ok()?;
            names.user_id(names.user(uid)?)?
        }
    };
    Some(UserIds { uid, gid, groups: names.groups_of(names.user(uid), gid) })
}

pub(crate) fn run_id(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = ID.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let choices = [IdFlag::User, IdFlag::Group, IdFlag::Groups, IdFlag::Context]
        .iter()
        .filter(|c| p.has_option(**c))
        .count();
    if p.has_option(IdFlag::Context) {
        ctx.error("--context (-Z) works only on an SELinux-enabled kernel");
        return Ok(Exit::FAILURE);
    }
    if choices > 1 {
        ctx.error("cannot print \"only\" of more than one choice");
        return Ok(Exit::FAILURE);
    }
    if choices == 0 && (p.has_option(IdFlag::Name) || p.has_option(IdFlag::Real)) {
        ctx.error("cannot print only names or real IDs in default format");
        return Ok(Exit::FAILURE);
    }
    if choices == 0 && p.has_option(IdFlag::Zero) {
        ctx.error("option --zero not permitted in default format");
        return Ok(Exit::FAILURE);
    }
    let names = AccountNames::load();
    let mut exit = Exit::SUCCESS;
    if p.operands.is_empty() {
        let who = current_user(&names);
        print_ids(ctx, &p, &names, &who);
    }
    for operand in &p.operands {
        match find_user(&names, operand) {
            Some(who) => print_ids(ctx, &p, &names, &who),
            None => {
                ctx.error_bytes(&[&quote::quote_in_sentence(operand), b": no such user"]);
                exit = Exit::FAILURE;
            }
        }
    }
    Ok(exit)
}

fn print_ids(ctx: &mut Ctx<'_>, p: &ParsedOptions<IdFlag>, names: &AccountNames, who: &UserIds) {
    let user = |id: u32| match names.user(id).filter(|_| p.has_option(IdFlag::Name)) {
        Some(n) => n.to_string(),
        None => id.to_string(),
    };
    let group = |id: u32| match names.group(id).filter(|_| p.has_option(IdFlag::Name)) {
        Some(n) => n.to_string(),
        None => id.to_string(),
    };
    let (between, end) = if p.has_option(IdFlag::Zero) { ("\0", "\0") } else { (" ", "\n") };
    let text = if p.has_option(IdFlag::User) {
        user(who.uid)
    } else if p.has_option(IdFlag::Group) {
        group(who.gid)
    } else if p.has_option(IdFlag::Groups) {
        who.groups.iter().map(|g| group(*g)).collect::<Vec<_>>().join(between)
    } else {
        let named = |id: u32, name: Option<&str>| match name {
            Some(n) => format!("{id}({n})"),
            None => id.to_string(),
        };
        let groups: Vec<String> = who.groups.iter().map(|g| named(*g, names.group(*g))).collect();
        format!(
            "uid={} gid={} groups={}",
            named(who.uid, names.user(who.uid)),
            named(who.gid, names.group(who.gid)),
            groups.join(",")
        )
    };
    let _ = ctx.stdout.write_all(format!("{text}{end}").as_bytes());
}

const WHOAMI: Spec<IdFlag> =
    Spec::new("[OPTION]...", "Print the name of the current user, as id -un does.", &[]);

pub(crate) fn run_whoami(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = WHOAMI.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(extra) = p.operands.first() {
        return Err(input::extra_operand(ctx, extra));
    }
    let (uid, _) = box_sys::meta::ids();
    let names = AccountNames::load();
    Ok(match names.user(uid) {
        Some(n) => {
            let _ = ctx.stdout.write_all(format!("{n}\n").as_bytes());
            Exit::SUCCESS
        }
        None => {
            ctx.error(format_args!("cannot find name for user ID {uid}"));
            Exit::FAILURE
        }
    })
}

const GROUPS: Spec<IdFlag> =
    Spec::new("[USER]...", "Print the groups of USERs, or of this process.", &[]);

pub(crate) fn run_groups(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = GROUPS.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let names = AccountNames::load();
    let mut exit = Exit::SUCCESS;
    let list = |who: &UserIds| -> String {
        who.groups.iter().map(|g| names.show_group(*g)).collect::<Vec<_>>().join(" ")
    };
    let known = AccountNames::load();
    if p.operands.is_empty() {
        let text = list(&current_user(&known));
        let _ = ctx.stdout.write_all(format!("{text}\n").as_bytes());
    }
    for operand in &p.operands {
        match find_user(&known, operand) {
            Some(who) => {
                let text = list(&who);
                let line = [operand, b" : ".as_slice(), text.as_bytes(), b"\n"].concat();
                let _ = ctx.stdout.write_all(&line);
            }
            None => {
                ctx.error_bytes(&[&quote::quote_in_sentence(operand), b": no such user"]);
                exit = Exit::FAILURE;
            }
        }
    }
    Ok(exit)
}
