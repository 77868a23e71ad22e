//! `chown` and `chgrp` (POSIX XCU; GNU `-c -f -v -h -R -H -L -P --from --reference`).

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, meta};

use crate::common::names::Names;
use crate::common::tree::{self, Links, Visit};
use crate::common::{input, quote};

const OPTIONS: &[Opt] = &[
    Opt::flag('c', "changes", "like verbose but report only when a change is made"),
    Opt::flag('f', "silent", "suppress most error messages"),
    Opt::flag('\u{1}', "quiet", "the same").long_only(),
    Opt::flag('v', "verbose", "output a diagnostic for every file processed"),
    Opt::flag(
        '\u{2}',
        "dereference",
        "affect the referent of each symbolic link (this is\nthe default)",
    )
    .long_only(),
    Opt::flag('h', "no-dereference", "affect symbolic links instead of any referenced file"),
    Opt::value(
        '\u{3}',
        "from",
        "CURRENT_OWNER:CURRENT_GROUP",
        "change only files that have this owner and group",
    )
    .long_only(),
    Opt::flag('\u{4}', "no-preserve-root", "do not treat '/' specially (the default)").long_only(),
    Opt::flag('\u{5}', "preserve-root", "fail to operate recursively on '/'").long_only(),
    Opt::value('\u{6}', "reference", "RFILE", "use RFILE's owner and group").long_only(),
    Opt::flag('R', "recursive", "operate on files and directories recursively"),
    Opt::flag('H', "", "if a command line argument is a symbolic link to a directory, traverse it"),
    Opt::flag('L', "", "traverse every symbolic link to a directory encountered"),
    Opt::flag('P', "", "do not traverse any symbolic links (default)"),
];

const CHOWN: Spec = Spec {
    usage: "[OPTION]... [OWNER][:[GROUP]] FILE...\n  or:  chown [OPTION]... --reference=RFILE FILE...",
    about: "Change the owner and/or group of each FILE to OWNER and/or GROUP.",
    options: OPTIONS,
    after: "",
    posix_order: false,
};

const CHGRP: Spec = Spec {
    usage: "[OPTION]... GROUP FILE...\n  or:  chgrp [OPTION]... --reference=RFILE FILE...",
    about: "Change the group of each FILE to GROUP.",
    options: OPTIONS,
    after: "",
    posix_order: false,
};

pub(crate) fn chown(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    run(ctx, args, &CHOWN, false)
}

pub(crate) fn chgrp(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    run(ctx, args, &CHGRP, true)
}

/// Owner and group; `None` leaves one as it is.
type Ids = (Option<u32>, Option<u32>);

fn group_id(names: &Names, text: &str) -> Option<u32> {
    names.group_id(text).or_else(|| text.strip_prefix('+').unwrap_or(text).parse().ok())
}

/// `OWNER`, `OWNER:`, `OWNER:GROUP`, `:GROUP`; also with a dot.
fn owner_spec(names: &Names, text: &[u8]) -> Result<Ids, Vec<u8>> {
    let s = String::from_utf8_lossy(text);
    let bad = |what: &str| [b"invalid ", what.as_bytes(), b": ", &quote::always(text)].concat();
    let user = |u: &str| -> Option<(u32, Option<u32>)> {
        if let Some((id, gid)) = names.user_id(u) {
            return Some((id, Some(gid)));
        }
        u.strip_prefix('+').unwrap_or(u).parse().ok().map(|id| (id, None))
    };
    let split =
        s.split_once(':').or_else(|| if user(&s).is_some() { None } else { s.split_once('.') });
    match split {
        None if s.is_empty() => Ok((None, None)),
        None => user(&s).map(|(u, _)| (Some(u), None)).ok_or_else(|| bad("user")),
        Some((u, g)) => {
            let owner = if u.is_empty() { None } else { Some(user(u).ok_or_else(|| bad("user"))?) };
            let group = match (g, owner) {
                // `OWNER:` means the owner's login group.
                ("", Some((_, login))) => Some(login.ok_or_else(|| bad("spec"))?),
                ("", None) => None,
                (g, _) => Some(group_id(names, g).ok_or_else(|| bad("group"))?),
            };
            Ok((owner.map(|o| o.0), group))
        }
    }
}

fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>], spec: &Spec, group_only: bool) -> Exit {
    let p = match spec.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let names = Names::load();
    let mut files = p.operands.clone();
    let ids: Ids = if let Some(reference) = p.last('\u{6}') {
        match meta::stat(&ctx.path(reference), true) {
            Ok(s) => (if group_only { None } else { Some(s.uid) }, Some(s.gid)),
            Err(e) => {
                input::cannot(ctx, "failed to get attributes of", reference, &e);
                return Exit::FAILURE;
            }
        }
    } else {
        if files.is_empty() {
            input::missing_operand(ctx, None);
            return Exit::FAILURE;
        }
        let text = files.remove(0);
        if files.is_empty() {
            input::missing_operand(ctx, Some(&text));
            return Exit::FAILURE;
        }
        let parsed = if group_only {
            let s = String::from_utf8_lossy(&text);
            if text.is_empty() {
                Ok((None, None))
            } else {
                match group_id(&names, &s) {
                    Some(g) => Ok((None, Some(g))),
                    None => Err([b"invalid group: ", quote::always(&text).as_slice()].concat()),
                }
            }
        } else {
            owner_spec(&names, &text)
        };
        match parsed {
            Ok(i) => i,
            Err(m) => {
                ctx.error_bytes(&[&m]);
                return Exit::FAILURE;
            }
        }
    };
    let from = match p.last('\u{3}').map(|t| owner_spec(&names, t)) {
        Some(Err(m)) => {
            ctx.error_bytes(&[&m]);
            return Exit::FAILURE;
        }
        Some(Ok(i)) => i,
        None => (None, None),
    };
    if files.is_empty() {
        input::missing_operand(ctx, None);
        return Exit::FAILURE;
    }
    let recursive = p.has('R');
    let links = match p.last_of(&['H', 'L', 'P']) {
        Some('H') => Links::Operands,
        Some('L') => Links::Always,
        _ => Links::Never,
    };
    let follow = !p.has('h') && (!recursive || links != Links::Never);
    let quiet = p.has('f') || p.has('\u{1}');
    let mut ok = true;
    let mut shown_names = Names::load();
    for file in &files {
        if recursive && file == b"/" && p.last_of(&['\u{4}', '\u{5}']) == Some('\u{5}') {
            ctx.error("it is dangerous to operate recursively on '/'");
            ctx.error("use --no-preserve-root to override this failsafe");
            ok = false;
            continue;
        }
        tree::walk(ctx, file, recursive, links, &mut |ctx, name, visit| {
            let stat = match visit {
                Visit::Entry(s) => *s,
                Visit::Unreadable(e) => {
                    match meta::stat(&ctx.path(name), false) {
                        // A link that points nowhere can be changed itself.
                        Ok(s) if p.has('h') => s,
                        _ => {
                            if !quiet {
                                input::cannot(ctx, "cannot access", name, e);
                            }
                            ok = false;
                            return;
                        }
                    }
                }
                Visit::Unlistable(e) => {
                    if !quiet {
                        input::cannot(ctx, "cannot read directory", name, e);
                    }
                    ok = false;
                    return;
                }
            };
            if from.0.is_some_and(|u| u != stat.uid) || from.1.is_some_and(|g| g != stat.gid) {
                return;
            }
            let changes =
                ids.0.is_some_and(|u| u != stat.uid) || ids.1.is_some_and(|g| g != stat.gid);
            let follow =
                follow && (stat.kind != Kind::Symlink || links == Links::Always || !recursive);
            // What is so already needs no right to be changed.
            let result =
                if changes { meta::chown(&ctx.path(name), ids.0, ids.1, follow) } else { Ok(()) };
            let what = if group_only || ids.0.is_none() { "group" } else { "ownership" };
            if let Err(e) = &result {
                if !quiet {
                    input::cannot(ctx, &format!("changing {what} of"), name, e);
                }
                ok = false;
            }
            if p.has('v') || p.has('c') && changes && result.is_ok() {
                let mut show = |u: Option<u32>, g: Option<u32>| -> String {
                    let u = u.filter(|_| !group_only).map(|u| shown_names.show_user(u));
                    let g = g.map(|g| shown_names.show_group(g));
                    match (u, g) {
                        (Some(u), Some(g)) => format!("{u}:{g}"),
                        (Some(u), None) => u,
                        (None, Some(g)) => g,
                        (None, None) => String::new(),
                    }
                };
                let old = show(ids.0.map(|_| stat.uid), ids.1.map(|_| stat.gid));
                let new = show(ids.0, ids.1);
                let (before, after) = match (&result, changes) {
                    (Err(_), _) => {
                        (format!("failed to change {what} of "), format!(" from {old} to {new}"))
                    }
                    (_, true) => (format!("changed {what} of "), format!(" from {old} to {new}")),
                    (_, false) => (format!("{what} of "), format!(" retained as {old}")),
                };
                let shown = quote::always(name);
                let _ = ctx
                    .stdout
                    .write_all(&[before.as_bytes(), &shown, after.as_bytes(), b"\n"].concat());
            }
        });
    }
    if ok { Exit::SUCCESS } else { Exit::FAILURE }
}
