//! `install` (GNU): copies files with a given mode and owner, and makes directories.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{AccountNames, FileKind, meta};
use box_text::mode::{self, FileModeChange};

use super::engine::{Copier, CopyPlan};
use super::targets;
use crate::common::paths::{self, Backup};
use crate::common::{input, quote};

/// An option of `install`.
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
    "[OPTION]... SOURCE DEST\n[OPTION]... SOURCE... DIRECTORY\n[OPTION]... -t DIRECTORY \
        SOURCE...\n[OPTION]... -d DIRECTORY...",
    "Copy files and set their mode and owner, or make directories.",
    &[
        Opt::long(InstallFlag::Backup, "backup").may_take("CONTROL", words::BACKUP),
        Opt::new(InstallFlag::PlainBackup, 'b', "").with_help(words::BACKUP_PLAIN),
        Opt::new(InstallFlag::Ignored, 'c', "").with_help(words::IGNORED),
        Opt::new(InstallFlag::Compare, 'C', "compare")
            .with_help("Leave DEST alone if it would not change"),
        Opt::new(InstallFlag::Directory, 'd', "directory")
            .with_help("Make directories and their parents"),
        Opt::new(InstallFlag::MakeLeading, 'D', "")
            .with_help("Make the directories that DEST needs"),
        Opt::new(InstallFlag::Group, 'g', "group").with_argument("GROUP", "Set the group"),
        Opt::new(InstallFlag::Mode, 'm', "mode")
            .with_argument("MODE", "Set permissions as chmod does (default 755)"),
        Opt::new(InstallFlag::Owner, 'o', "owner").with_argument("OWNER", "Set the owner"),
        Opt::new(InstallFlag::PreserveTimestamps, 'p', "preserve-timestamps")
            .with_help("Keep the times of SOURCE"),
        Opt::new(InstallFlag::Strip, 's', "strip").with_help(words::IGNORED),
        Opt::long(InstallFlag::StripProgram, "strip-program")
            .with_argument("PROGRAM", words::IGNORED),
        Opt::new(InstallFlag::Suffix, 'S', "suffix").with_argument("SUFFIX", words::SUFFIX),
        Opt::new(InstallFlag::TargetDirectory, 't', "target-directory")
            .with_argument("DIRECTORY", words::TARGET_DIRECTORY),
        Opt::new(InstallFlag::NoTargetDirectory, 'T', "no-target-directory")
            .with_help(words::NO_TARGET_DIRECTORY),
        Opt::new(InstallFlag::Verbose, 'v', "verbose").with_help(words::VERBOSE),
        Opt::new(InstallFlag::Ignored, 'Z', "").with_help(words::IGNORED),
        Opt::long(InstallFlag::Context, "context").may_take("CTX", words::IGNORED),
    ],
)
.with_examples(&[("install -Dm755 tool ~/bin/tool", "Copy a program and make its directory")]);

struct InstallAttributes {
    mode: FileModeChange,
    owner: Option<u32>,
    group: Option<u32>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let attributes = parse_attributes(ctx, &p)?;
    if !p.has_option(InstallFlag::Directory) {
        return install_files(ctx, &p, &attributes);
    }
    if p.operands.is_empty() {
        return Err(input::usage_error(ctx, &[b"missing file operand"]));
    }
    let mut ok = true;
    for dir in &p.operands {
        ok &= create_directories(ctx, dir, p.has_option(InstallFlag::Verbose))
            && apply_attributes(ctx, dir, &attributes, true);
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

fn parse_attributes(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<InstallFlag>,
) -> Result<InstallAttributes, Exit> {
    let mut invalid = |what: &str, text: &[u8]| {
        input::report_failure(
            ctx,
            &[b"invalid ", what.as_bytes(), b" ", &quote::quote_in_sentence(text)],
        )
    };
    let text = p.last_value(InstallFlag::Mode).unwrap_or(b"755");
    let mode = mode::parse(text).ok_or_else(|| invalid("mode", text))?;
    let names = AccountNames::load();
    let mut id = |flag: InstallFlag, what: &str, by_name: &dyn Fn(&str) -> Option<u32>| {
        let Some(text) = p.last_value(flag) else { return Ok(None) };
        let shown = String::from_utf8_lossy(text);
        let id = by_name(&shown).or_else(|| shown.parse().ok());
        id.map(Some).ok_or_else(|| invalid(what, text))
    };
    let owner = id(InstallFlag::Owner, "user", &|name| names.user_id(name).map(|u| u.0))?;
    let group = id(InstallFlag::Group, "group", &|name| names.group_id(name))?;
    Ok(InstallAttributes { mode, owner, group })
}

/// Makes directories as `mkdir -p` does; with `verbose` prints each directory made.
fn create_directories(ctx: &mut Ctx<'_>, dir: &[u8], verbose: bool) -> bool {
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
            input::report_cannot(ctx, "cannot create directory", part, &e);
            return false;
        }
        if verbose {
            let line = [
                ctx.name.as_bytes(),
                b": creating directory ",
                &quote::quote_in_sentence(part),
                b"\n",
            ]
            .concat();
            let _ = ctx.stdout.write_all(&line);
        }
    }
    true
}

fn apply_attributes(ctx: &mut Ctx<'_>, file: &[u8], a: &InstallAttributes, dir: bool) -> bool {
    let path = ctx.path(file);
    if a.owner.is_some() || a.group.is_some() {
        let differs = meta::stat(&path, true).is_ok_and(|s| {
            a.owner.is_some_and(|o| o != s.uid) || a.group.is_some_and(|g| g != s.gid)
        });
        if differs && let Err(e) = meta::chown(&path, a.owner, a.group, true) {
            input::report_cannot(ctx, "cannot change ownership of", file, &e);
            return false;
        }
    }
    let mode = a.mode.apply(0, dir, 0);
    if meta::stat(&path, true).is_ok_and(|s| s.mode == mode) {
        return true;
    }
    if let Err(e) = meta::chmod(&path, mode) {
        input::report_cannot(ctx, "cannot change permissions of", file, &e);
        return false;
    }
    true
}

fn install_files(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<InstallFlag>,
    attributes: &InstallAttributes,
) -> Ended {
    let backup = Backup::from_options(
        ctx,
        p,
        [InstallFlag::Backup, InstallFlag::PlainBackup, InstallFlag::Suffix],
    )?;
    let directory = p.last_value(InstallFlag::TargetDirectory);
    if p.has_option(InstallFlag::MakeLeading) {
        let parent = match (directory, p.operands.as_slice()) {
            (Some(d), _) => Some(d),
            (None, [_, .., last]) => Some(paths::dir_name(last)),
            _ => None,
        };
        if parent.is_some_and(|d| !create_directories(ctx, d, p.has_option(InstallFlag::Verbose))) {
            return Err(Exit::FAILURE);
        }
    }
    let no_directory = p.has_option(InstallFlag::NoTargetDirectory);
    let (sources, destination) =
        targets::split_operands(ctx, &p.operands, directory, no_directory)?;
    let plan = CopyPlan {
        default_mode: true,
        preserve_times: p.has_option(InstallFlag::PreserveTimestamps),
        force: true,
        remove_destination: true,
        verbose: p.has_option(InstallFlag::Verbose),
        copy_contents: true,
        ..CopyPlan::new(backup)
    };
    let mut copier = Copier::new(&plan);
    let mut ok = true;
    for source in &sources {
        let to = destination.path_for(source);
        if meta::stat(&ctx.path(source), true).is_ok_and(|s| s.kind == FileKind::Dir) {
            ctx.error_bytes(&[b"omitting directory ", &quote::quote_in_sentence(source)]);
            ok = false;
            continue;
        }
        if p.has_option(InstallFlag::Compare) && is_unchanged(ctx, source, &to, attributes) {
            continue;
        }
        ok &=
            copier.copy_operand(ctx, source, &to) && apply_attributes(ctx, &to, attributes, false);
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

/// Returns whether the destination already has the contents and attributes that it would get.
fn is_unchanged(ctx: &Ctx<'_>, from: &[u8], to: &[u8], a: &InstallAttributes) -> bool {
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
