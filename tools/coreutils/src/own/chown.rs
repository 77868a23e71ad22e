//! `chown` and `chgrp` (POSIX XCU; GNU `-c -f -v -h -R -H -L -P --from --reference`).

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{AccountNames, FileKind, Stat, meta};

use crate::common::tree::{self, LinkPolicy, Visit};
use crate::common::{input, quote};

/// An option of `chown`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChownFlag {
    Changes,
    Dereference,
    From,
    LinksAlways,
    LinksNever,
    LinksOfOperands,
    NoDereference,
    NoPreserveRoot,
    PreserveRoot,
    Recursive,
    Reference,
    Silent,
    Verbose,
}

const OPTIONS: &[Opt<ChownFlag>] = &[
    Opt::new(ChownFlag::Changes, 'c', "changes").with_help(words::CHANGES),
    Opt::new(ChownFlag::Silent, 'f', "silent").with_help(words::NO_ERRORS),
    Opt::long(ChownFlag::Silent, "quiet").with_help(words::SAME),
    Opt::new(ChownFlag::Verbose, 'v', "verbose").with_help(words::VERBOSE),
    Opt::long(ChownFlag::Dereference, "dereference")
        .with_help("Change what a symbolic link points to (default)"),
    Opt::new(ChownFlag::NoDereference, 'h', "no-dereference")
        .with_help("Change symbolic links themselves"),
    Opt::long(ChownFlag::From, "from")
        .with_argument("CURRENT_OWNER:CURRENT_GROUP", "Change only files of this owner and group"),
    Opt::long(ChownFlag::NoPreserveRoot, "no-preserve-root").with_help(words::NO_PRESERVE_ROOT),
    Opt::long(ChownFlag::PreserveRoot, "preserve-root").with_help(words::PRESERVE_ROOT),
    Opt::long(ChownFlag::Reference, "reference")
        .with_argument("RFILE", "Take owner and group of RFILE"),
    Opt::new(ChownFlag::Recursive, 'R', "recursive")
        .with_help("Change directories and all in them"),
    Opt::new(ChownFlag::LinksOfOperands, 'H', "")
        .with_help("With -R: follow links to directories that are operands"),
    Opt::new(ChownFlag::LinksAlways, 'L', "").with_help("With -R: follow all links to directories"),
    Opt::new(ChownFlag::LinksNever, 'P', "").with_help("With -R: follow no links (default)"),
];

const CHOWN: Spec<ChownFlag> = Spec::new(
    "[OPTION]... [OWNER][:[GROUP]] FILE...\n[OPTION]... --reference=RFILE FILE...",
    "Change the owner of each FILE, its group, or both.",
    OPTIONS,
);

const CHGRP: Spec<ChownFlag> = Spec::new(
    "[OPTION]... GROUP FILE...\n[OPTION]... --reference=RFILE FILE...",
    "Change the group of each FILE.",
    OPTIONS,
);

pub(crate) fn run_chown(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    run(ctx, args, &CHOWN, false)
}

pub(crate) fn run_chgrp(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    run(ctx, args, &CHGRP, true)
}

/// Owner and group; `None` leaves the id as it is.
type Ids = (Option<u32>, Option<u32>);

/// Parses the operand of `chgrp`; an empty operand changes nothing.
fn group_spec(names: &AccountNames, text: &[u8]) -> Result<Ids, Vec<u8>> {
    if text.is_empty() {
        return Ok((None, None));
    }
    match group_id(names, &String::from_utf8_lossy(text)) {
        Some(id) => Ok((None, Some(id))),
        None => Err([b"invalid group: ", quote::quote_in_sentence(text).as_slice()].concat()),
    }
}

fn group_id(names: &AccountNames, text: &str) -> Option<u32> {
    names.group_id(text).or_else(|| text.strip_prefix('+').unwrap_or(text).parse().ok())
}

/// Parses `OWNER`, `OWNER:`, `OWNER:GROUP` or `:GROUP`; a dot may replace the colon.
fn owner_spec(names: &AccountNames, text: &[u8]) -> Result<Ids, Vec<u8>> {
    let s = String::from_utf8_lossy(text);
    let bad = |what: &str| {
        [b"invalid ", what.as_bytes(), b": ", &quote::quote_in_sentence(text)].concat()
    };
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

/// The changes to make, and the files to change.
struct ChownPlan {
    ids: Ids,
    /// The required owner and group; other files are left alone.
    from: Ids,
    group_only: bool,
    recursive: bool,
    links: LinkPolicy,
    no_dereference: bool,
    preserve_root: bool,
    quiet: bool,
    verbose: bool,
    changes: bool,
    files: Vec<Vec<u8>>,
}

fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>], spec: &Spec<ChownFlag>, group_only: bool) -> Ended {
    let plan = parse_plan(ctx, args, spec, group_only)?;
    let names = AccountNames::load();
    let mut ok = true;
    for file in &plan.files {
        if plan.recursive && plan.preserve_root && file == b"/" {
            tree::refuse_root(ctx, b"'/'", b"");
            ok = false;
            continue;
        }
        tree::walk_tree(ctx, file, plan.recursive, plan.links, &mut |ctx, name, visit| {
            ok &= match visited_stat(ctx, &plan, name, visit) {
                Some(stat) => change_owner(ctx, &plan, &names, name, &stat),
                None => false,
            };
        });
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

fn parse_plan(
    ctx: &mut Ctx<'_>,
    args: &[Vec<u8>],
    spec: &Spec<ChownFlag>,
    group_only: bool,
) -> Result<ChownPlan, Exit> {
    let mut p = spec.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let names = AccountNames::load();
    let ids = match p.last_value(ChownFlag::Reference) {
        Some(reference) => match meta::stat(&ctx.path(reference), true) {
            Ok(s) => (if group_only { None } else { Some(s.uid) }, Some(s.gid)),
            Err(e) => {
                return Err(input::report_cannot(
                    ctx,
                    "failed to get attributes of",
                    reference,
                    &e,
                ));
            }
        },
        None => {
            if p.operands.is_empty() {
                return Err(input::missing_operand(ctx, None));
            }
            let text = p.operands.remove(0);
            if p.operands.is_empty() {
                return Err(input::missing_operand(ctx, Some(&text)));
            }
            let ids =
                if group_only { group_spec(&names, &text) } else { owner_spec(&names, &text) };
            ids.map_err(|m| input::report_failure(ctx, &[&m]))?
        }
    };
    let from = match p.last_value(ChownFlag::From) {
        Some(text) => owner_spec(&names, text).map_err(|m| input::report_failure(ctx, &[&m]))?,
        None => (None, None),
    };
    if p.operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    let links = p.last_choice(&[
        (ChownFlag::LinksOfOperands, LinkPolicy::Operands),
        (ChownFlag::LinksAlways, LinkPolicy::Always),
        (ChownFlag::LinksNever, LinkPolicy::Never),
    ]);
    let roots = [(ChownFlag::NoPreserveRoot, false), (ChownFlag::PreserveRoot, true)];
    let report = p.last_of(&[ChownFlag::Verbose, ChownFlag::Changes]);
    Ok(ChownPlan {
        ids,
        from,
        group_only,
        recursive: p.has_option(ChownFlag::Recursive),
        links: links.unwrap_or(LinkPolicy::Never),
        no_dereference: p.has_option(ChownFlag::NoDereference),
        preserve_root: p.last_choice(&roots).unwrap_or(false),
        quiet: p.has_option(ChownFlag::Silent),
        verbose: report == Some(ChownFlag::Verbose),
        changes: report == Some(ChownFlag::Changes),
        files: p.operands,
    })
}

/// Returns the status of the visited file, or reports that it cannot be read.
fn visited_stat(
    ctx: &mut Ctx<'_>,
    plan: &ChownPlan,
    name: &[u8],
    visit: Visit<'_>,
) -> Option<Stat> {
    let (what, e) = match visit {
        Visit::Entry(stat) => return Some(*stat),
        Visit::Unreadable(e) => match meta::stat(&ctx.path(name), false) {
            // A link whose target does not exist can be changed itself.
            Ok(stat) if plan.no_dereference => return Some(stat),
            _ => ("cannot access", e),
        },
        Visit::Unlistable(e) => ("cannot read directory", e),
    };
    if !plan.quiet {
        input::report_cannot(ctx, what, name, e);
    }
    None
}

/// Changes one file and reports the change; returns whether it succeeded.
fn change_owner(
    ctx: &mut Ctx<'_>,
    plan: &ChownPlan,
    names: &AccountNames,
    name: &[u8],
    stat: &Stat,
) -> bool {
    let differs =
        |ids: Ids| ids.0.is_some_and(|u| u != stat.uid) || ids.1.is_some_and(|g| g != stat.gid);
    if differs(plan.from) {
        return true;
    }
    let changes = differs(plan.ids);
    let through_links = !plan.recursive || plan.links == LinkPolicy::Always;
    let follow = !plan.no_dereference
        && (!plan.recursive || plan.links != LinkPolicy::Never)
        && (stat.kind != FileKind::Symlink || through_links);
    // A file that already has the requested owner can be changed without permission.
    let result =
        if changes { meta::chown(&ctx.path(name), plan.ids.0, plan.ids.1, follow) } else { Ok(()) };
    let what = if plan.group_only || plan.ids.0.is_none() { "group" } else { "ownership" };
    if let Err(e) = &result
        && !plan.quiet
    {
        input::report_cannot(ctx, &format!("changing {what} of"), name, e);
    }
    let done = result.is_ok();
    if plan.verbose || plan.changes && changes && done {
        let owner = |id: u32| Some(id).filter(|_| !plan.group_only);
        let old = (plan.ids.0.and_then(|_| owner(stat.uid)), plan.ids.1.map(|_| stat.gid));
        let old = owner_text(names, old);
        let new = owner_text(names, (plan.ids.0.and_then(owner), plan.ids.1));
        let (before, after) = match (done, changes) {
            (false, _) => (format!("failed to change {what}"), format!("from {old} to {new}")),
            (true, true) => (format!("changed {what}"), format!("from {old} to {new}")),
            (true, false) => (what.to_string(), format!("retained as {old}")),
        };
        let name = quote::quote_in_sentence(name);
        let line = [before.as_bytes(), b" of ", &name, b" ", after.as_bytes(), b"\n"].concat();
        let _ = ctx.stdout.write_all(&line);
    }
    done
}

/// Returns `OWNER:GROUP` with names, without the part that is not shown.
fn owner_text(names: &AccountNames, (user, group): Ids) -> String {
    let user = user.map(|u| names.show_user(u));
    let group = group.map(|g| names.show_group(g));
    user.into_iter().chain(group).collect::<Vec<_>>().join(":")
}
