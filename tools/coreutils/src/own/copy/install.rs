//! `install` (GNU): copies with given mode and owner, and makes directories.

use std::io::Write;

use box_applet::opts::{Opt, Parsed, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, meta};

use super::engine::{Copier, Existing, Follow, How, Plan};
use super::targets::{self, Destination};
use crate::common::mode::{self, Mode};
use crate::common::names::Names;
use crate::common::paths::{self, Backup};
use crate::common::{input, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [-T] SOURCE DEST\n  or:  install [OPTION]... SOURCE... DIRECTORY\n  or:  install [OPTION]... -t DIRECTORY SOURCE...\n  or:  install [OPTION]... -d DIRECTORY...",
    about: "Copy files and set their attributes, or create directories.",
    options: &[
        Opt::optional(
            '\u{1}',
            "backup",
            "CONTROL",
            "make a backup of each existing destination file",
        )
        .long_only(),
        Opt::flag('b', "", "like --backup but does not accept an argument"),
        Opt::flag('c', "", "(ignored)"),
        Opt::flag(
            'C',
            "compare",
            "compare content of source and destination files, and\nif no change to content, ownership, and permissions,\ndo not modify the destination at all",
        ),
        Opt::flag(
            'd',
            "directory",
            "treat all arguments as directory names; create all\ncomponents of the specified directories",
        ),
        Opt::flag(
            'D',
            "",
            "create all leading components of DEST except the last,\nor all components of --target-directory",
        ),
        Opt::value('g', "group", "GROUP", "set group ownership"),
        Opt::value('m', "mode", "MODE", "set permission mode (as in chmod), instead of rwxr-xr-x"),
        Opt::value('o', "owner", "OWNER", "set ownership"),
        Opt::flag('p', "preserve-timestamps", "apply access/modification times of SOURCE files"),
        Opt::flag('s', "strip", "strip symbol tables (ignored)"),
        Opt::value('\u{2}', "strip-program", "PROGRAM", "(ignored)").long_only(),
        Opt::value('S', "suffix", "SUFFIX", "override the usual backup suffix"),
        Opt::value(
            't',
            "target-directory",
            "DIRECTORY",
            "copy all SOURCE arguments into DIRECTORY",
        ),
        Opt::flag('T', "no-target-directory", "treat DEST as a normal file"),
        Opt::flag('v', "verbose", "print the name of each created file or directory"),
        Opt::flag('Z', "", "(ignored)"),
        Opt::optional('\u{3}', "context", "CTX", "(ignored)").long_only(),
    ],
    after: "",
    posix_order: false,
};

struct Attributes {
    mode: Mode,
    owner: Option<u32>,
    group: Option<u32>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let attributes = match attributes(ctx, &p) {
        Ok(a) => a,
        Err(e) => return e,
    };
    if p.has('d') {
        if p.operands.is_empty() {
            input::usage_error(ctx, &[b"missing file operand"]);
            return Exit::FAILURE;
        }
        let mut ok = true;
        for dir in &p.operands {
            ok &= directories(ctx, dir, p.has('v')) && apply(ctx, dir, &attributes, true);
        }
        return if ok { Exit::SUCCESS } else { Exit::FAILURE };
    }
    files(ctx, &p, &attributes)
}

fn attributes(ctx: &mut Ctx<'_>, p: &Parsed) -> Result<Attributes, Exit> {
    let text = p.last('m').unwrap_or(b"755");
    let Some(mode) = mode::parse(text) else {
        ctx.error_bytes(&[b"invalid mode ", &quote::always(text)]);
        return Err(Exit::FAILURE);
    };
    let names = Names::load();
    let show = |t: &[u8]| String::from_utf8_lossy(t).into_owned();
    let owner = match p.last('o').map(show) {
        None => None,
        Some(o) => match names.user_id(&o).map(|u| u.0).or_else(|| o.parse().ok()) {
            Some(id) => Some(id),
            None => {
                ctx.error_bytes(&[b"invalid user ", &quote::always(o.as_bytes())]);
                return Err(Exit::FAILURE);
            }
        },
    };
    let group = match p.last('g').map(show) {
        None => None,
        Some(g) => match names.group_id(&g).or_else(|| g.parse().ok()) {
            Some(id) => Some(id),
            None => {
                ctx.error_bytes(&[b"invalid group ", &quote::always(g.as_bytes())]);
                return Err(Exit::FAILURE);
            }
        },
    };
    Ok(Attributes { mode, owner, group })
}

/// `mkdir -p`, telling of each directory made.
fn directories(ctx: &mut Ctx<'_>, dir: &[u8], verbose: bool) -> bool {
    let mut end = 0;
    while end < dir.len() {
        let start = dir[end..].iter().position(|c| *c != b'/').map_or(dir.len(), |i| end + i);
        end = dir[start..].iter().position(|c| *c == b'/').map_or(dir.len(), |i| start + i);
        let part = &dir[..end];
        if start == end || meta::stat(&ctx.path(part), true).is_ok_and(|s| s.kind == Kind::Dir) {
            continue;
        }
        if let Err(e) = std::fs::create_dir(ctx.path(part)) {
            input::cannot(ctx, "cannot create directory", part, &e);
            return false;
        }
        if verbose {
            let line = [ctx.name.as_bytes(), b": creating directory ", &quote::always(part), b"\n"]
                .concat();
            let _ = ctx.stdout.write_all(&line);
        }
    }
    true
}

fn apply(ctx: &mut Ctx<'_>, file: &[u8], a: &Attributes, dir: bool) -> bool {
    let path = ctx.path(file);
    if a.owner.is_some() || a.group.is_some() {
        let differs = meta::stat(&path, true).is_ok_and(|s| {
            a.owner.is_some_and(|o| o != s.uid) || a.group.is_some_and(|g| g != s.gid)
        });
        if differs && let Err(e) = meta::chown(&path, a.owner, a.group, true) {
            input::cannot(ctx, "cannot change ownership of", file, &e);
            return false;
        }
    }
    let mode = a.mode.apply(0, dir, 0);
    if meta::stat(&path, true).is_ok_and(|s| s.mode == mode) {
        return true;
    }
    if let Err(e) = meta::chmod(&path, mode) {
        input::cannot(ctx, "cannot change permissions of", file, &e);
        return false;
    }
    true
}

fn files(ctx: &mut Ctx<'_>, p: &Parsed, attributes: &Attributes) -> Exit {
    let control = if p.has('\u{1}') { Some(p.last('\u{1}')) } else { p.has('b').then_some(None) };
    let backup = match Backup::new(control, p.last('S'), &ctx.env) {
        Ok(b) => b,
        Err(word) => {
            input::usage_error(
                ctx,
                &[b"invalid argument ", &quote::always(&word), b" for 'backup type'"],
            );
            return Exit::FAILURE;
        }
    };
    if p.has('D') {
        let parent = match (p.last('t'), p.operands.as_slice()) {
            (Some(d), _) => Some(d.to_vec()),
            (None, [_, .., last]) => Some(paths::dir_name(last).to_vec()),
            _ => None,
        };
        if let Some(d) = parent
            && !directories(ctx, &d, p.has('v'))
        {
            return Exit::FAILURE;
        }
    }
    let directory = p.last('t').map(<[u8]>::to_vec);
    let (sources, destination) =
        match targets::split(ctx, &p.operands, directory.as_deref(), p.has('T')) {
            Ok(x) => x,
            Err(e) => return e,
        };
    let plan = Plan {
        recursive: false,
        follow: Follow::Always,
        preserve_mode: false,
        default_mode: true,
        preserve_owner: false,
        preserve_times: p.has('p'),
        preserve_links: false,
        existing: Existing::Overwrite,
        force: true,
        remove_destination: true,
        update: false,
        verbose: p.has('v'),
        backup,
        how: How::Copy,
        one_file_system: false,
        moving: false,
        copy_contents: true,
    };
    let mut copier = Copier::new(&plan);
    let mut ok = true;
    for source in &sources {
        let to = match &destination {
            Destination::File(f) => f.clone(),
            d => d.of(source),
        };
        if meta::stat(&ctx.path(source), true).is_ok_and(|s| s.kind == Kind::Dir) {
            ctx.error_bytes(&[b"omitting directory ", &quote::always(source)]);
            ok = false;
            continue;
        }
        if p.has('C') && unchanged(ctx, source, &to, attributes) {
            continue;
        }
        ok &= copier.operand(ctx, source, &to) && apply(ctx, &to, attributes, false);
    }
    if ok { Exit::SUCCESS } else { Exit::FAILURE }
}

/// Whether the destination is already what it would become.
fn unchanged(ctx: &Ctx<'_>, from: &[u8], to: &[u8], a: &Attributes) -> bool {
    let Ok(s) = meta::stat(&ctx.path(to), false) else { return false };
    s.kind == Kind::File
        && s.mode == a.mode.apply(0, false, 0)
        && a.owner.is_none_or(|o| o == s.uid)
        && a.group.is_none_or(|g| g == s.gid)
        && match (std::fs::read(ctx.path(from)), std::fs::read(ctx.path(to))) {
            (Ok(x), Ok(y)) => x == y,
            _ => false,
        }
}
