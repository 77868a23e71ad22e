//! `install` (GNU): copies with given mode and owner, and makes directories.

use std::io::Write;

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{AccountNames, FileKind, meta};
use box_text::mode::{self, FileModeChange};

use super::engine::{Copier, CopyPlan};
use super::targets;
use crate::common::paths::{self, Backup};
use crate::common::{input, quote};

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InstallFlag {
    Backup,
    Compare,
    Context,
    Directory,
    Group,
    Ignored,
    MakeLeading,
    Mode,
    NoTargetDirectory,
    Owner,
    PlainBackup,
    PreserveTimestamps,
    Strip,
    StripProgram,
    Suffix,
    TargetDirectory,
    Verbose,
}

const SPEC: Spec<InstallFlag> = Spec::new(
    "[OPTION]... [-T] SOURCE DEST\n  or:  install [OPTION]... SOURCE... DIRECTORY\n  or:  install [OPTION]... -t DIRECTORY SOURCE...\n  or:  install [OPTION]... -d DIRECTORY...",
    "Copy files and set their attributes, or create directories.",
    &[
        Opt::long(InstallFlag::Backup, "backup").may_take("CONTROL", "make a backup of each existing destination file"),
        Opt::new(InstallFlag::PlainBackup, 'b', "").says("like --backup but does not accept an argument"),
        Opt::new(InstallFlag::Ignored, 'c', "").says("(ignored)"),
        Opt::new(InstallFlag::Compare, 'C', "compare").says("compare content of source and destination files, and\nif no change to content, ownership, and permissions,\ndo not modify the destination at all"),
        Opt::new(InstallFlag::Directory, 'd', "directory").says("treat all arguments as directory names; create all\ncomponents of the specified directories"),
        Opt::new(InstallFlag::MakeLeading, 'D', "").says("create all leading components of DEST except the last,\nor all components of --target-directory"),
        Opt::new(InstallFlag::Group, 'g', "group").takes("GROUP", "set group ownership"),
        Opt::new(InstallFlag::Mode, 'm', "mode").takes("MODE", "set permission mode (as in chmod), instead of rwxr-xr-x"),
        Opt::new(InstallFlag::Owner, 'o', "owner").takes("OWNER", "set ownership"),
        Opt::new(InstallFlag::PreserveTimestamps, 'p', "preserve-timestamps").says("apply access/modification times of SOURCE files"),
        Opt::new(InstallFlag::Strip, 's', "strip").says("strip symbol tables (ignored)"),
        Opt::long(InstallFlag::StripProgram, "strip-program").takes("PROGRAM", "(ignored)"),
        Opt::new(InstallFlag::Suffix, 'S', "suffix").takes("SUFFIX", "override the usual backup suffix"),
        Opt::new(InstallFlag::TargetDirectory, 't', "target-directory").takes("DIRECTORY", "copy all SOURCE arguments into DIRECTORY"),
        Opt::new(InstallFlag::NoTargetDirectory, 'T', "no-target-directory").says("treat DEST as a normal file"),
        Opt::new(InstallFlag::Verbose, 'v', "verbose").says("print the name of each created file or directory"),
        Opt::new(InstallFlag::Ignored, 'Z', "").says("(ignored)"),
        Opt::long(InstallFlag::Context, "context").may_take("CTX", "(ignored)"),
    ],
);

struct InstallAttributes {
    mode: FileModeChange,
    owner: Option<u32>,
    group: Option<u32>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let attributes = attributes(ctx, &p)?;
    if !p.has(InstallFlag::Directory) {
        return files(ctx, &p, &attributes);
    }
    if p.operands.is_empty() {
        return Err(input::usage_error(ctx, &[b"missing file operand"]));
    }
    let mut ok = true;
    for dir in &p.operands {
        ok &= directories(ctx, dir, p.has(InstallFlag::Verbose))
            && apply(ctx, dir, &attributes, true);
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

fn attributes(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<InstallFlag>,
) -> Result<InstallAttributes, Exit> {
    let mut invalid = |what: &str, text: &[u8]| {
        input::failure(ctx, &[b"invalid ", what.as_bytes(), b" ", &quote::always(text)])
    };
    let text = p.last(InstallFlag::Mode).unwrap_or(b"755");
    let mode = mode::parse(text).ok_or_else(|| invalid("mode", text))?;
    let names = AccountNames::load();
    let mut id = |flag: InstallFlag, what: &str, by_name: &dyn Fn(&str) -> Option<u32>| {
        let Some(text) = p.last(flag) else { return Ok(None) };
        let shown = String::from_utf8_lossy(text);
        let id = by_name(&shown).or_else(|| shown.parse().ok());
        id.map(Some).ok_or_else(|| invalid(what, text))
    };
    let owner = id(InstallFlag::Owner, "user", &|name| names.user_id(name).map(|u| u.0))?;
    let group = id(InstallFlag::Group, "group", &|name| names.group_id(name))?;
    Ok(InstallAttributes { mode, owner, group })
}

/// `mkdir -p`, telling of each directory made.
fn directories(ctx: &mut Ctx<'_>, dir: &[u8], verbose: bool) -> bool {
    let mut end = 0;
    while end < dir.len() {
        let start = dir[end..].iter().position(|c| *c != b'/').map_or(dir.len(), |i| end + i);
        end = dir[start..].iter().position(|c| *c == b'/').map_or(dir.len(), |i| start + i);
        let part = &dir[..end];
        if start == end || meta::stat(&ctx.path(part), true).is_ok_and(|s| s.kind == FileKind::Dir)
        {
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

fn apply(ctx: &mut Ctx<'_>, file: &[u8], a: &InstallAttributes, dir: bool) -> bool {
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

fn files(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<InstallFlag>,
    attributes: &InstallAttributes,
) -> Ended {
    let backup =
        Backup::of(ctx, p, [InstallFlag::Backup, InstallFlag::PlainBackup, InstallFlag::Suffix])?;
    let directory = p.last(InstallFlag::TargetDirectory);
    if p.has(InstallFlag::MakeLeading) {
        let parent = match (directory, p.operands.as_slice()) {
            (Some(d), _) => Some(d),
            (None, [_, .., last]) => Some(paths::dir_name(last)),
            _ => None,
        };
        if parent.is_some_and(|d| !directories(ctx, d, p.has(InstallFlag::Verbose))) {
            return Err(Exit::FAILURE);
        }
    }
    let no_directory = p.has(InstallFlag::NoTargetDirectory);
    let (sources, destination) = targets::split(ctx, &p.operands, directory, no_directory)?;
    let plan = CopyPlan {
        default_mode: true,
        preserve_times: p.has(InstallFlag::PreserveTimestamps),
        force: true,
        remove_destination: true,
        verbose: p.has(InstallFlag::Verbose),
        copy_contents: true,
        ..CopyPlan::new(backup)
    };
    let mut copier = Copier::new(&plan);
    let mut ok = true;
    for source in &sources {
        let to = destination.of(source);
        if meta::stat(&ctx.path(source), true).is_ok_and(|s| s.kind == FileKind::Dir) {
            ctx.error_bytes(&[b"omitting directory ", &quote::always(source)]);
            ok = false;
            continue;
        }
        if p.has(InstallFlag::Compare) && unchanged(ctx, source, &to, attributes) {
            continue;
        }
        ok &= copier.operand(ctx, source, &to) && apply(ctx, &to, attributes, false);
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

/// Whether the destination is already what it would become.
fn unchanged(ctx: &Ctx<'_>, from: &[u8], to: &[u8], a: &InstallAttributes) -> bool {
    let Ok(s) = meta::stat(&ctx.path(to), false) else { return false };
    s.kind == FileKind::File
        && s.mode == a.mode.apply(0, false, 0)
        && a.owner.is_none_or(|o| o == s.uid)
        && a.group.is_none_or(|g| g == s.gid)
        && match (std::fs::read(ctx.path(from)), std::fs::read(ctx.path(to))) {
            (Ok(x), Ok(y)) => x == y,
            _ => false,
        }
}
