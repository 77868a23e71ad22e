//! `mv` (POSIX XCU mv; GNU): renames, or copies and removes across file systems.

use std::io::{self, Write};

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{FileKind, Stat, errno::code, meta};

use super::engine::{Copier, CopyFollow, CopyPlan, ExistingPolicy, arrow, overwrite_question};
use super::targets;
use crate::common::paths::{self, Backup, BackupKind};
use crate::common::{input, quote, tree};

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MvFlag {
    Backup,
    Context,
    Force,
    Interactive,
    NoClobber,
    NoCopy,
    NoTargetDirectory,
    PlainBackup,
    StripTrailingSlashes,
    Suffix,
    TargetDirectory,
    Update,
    Verbose,
}

const SPEC: Spec<MvFlag> = Spec::new(
    "[OPTION]... [-T] SOURCE DEST\n  or:  mv [OPTION]... SOURCE... DIRECTORY\n  or:  mv [OPTION]... -t DIRECTORY SOURCE...",
    "Rename SOURCE to DEST, or move SOURCE(s) to DIRECTORY.",
    &[
        Opt::long(MvFlag::Backup, "backup").may_take("CONTROL", "make a backup of each existing destination file"),
        Opt::new(MvFlag::PlainBackup, 'b', "").says("like --backup but does not accept an argument"),
        Opt::new(MvFlag::Force, 'f', "force").says("do not prompt before overwriting"),
        Opt::new(MvFlag::Interactive, 'i', "interactive").says("prompt before overwrite"),
        Opt::new(MvFlag::NoClobber, 'n', "no-clobber").says("do not overwrite an existing file"),
        Opt::long(MvFlag::NoCopy, "no-copy").says("do not copy if renaming fails"),
        Opt::long(MvFlag::StripTrailingSlashes, "strip-trailing-slashes").says("remove any trailing slashes from each SOURCE"),
        Opt::new(MvFlag::Suffix, 'S', "suffix").takes("SUFFIX", "override the usual backup suffix"),
        Opt::new(MvFlag::TargetDirectory, 't', "target-directory").takes("DIRECTORY", "move all SOURCE arguments into DIRECTORY"),
        Opt::new(MvFlag::NoTargetDirectory, 'T', "no-target-directory").says("treat DEST as a normal file"),
        Opt::new(MvFlag::Update, 'u', "update").says("move only when the SOURCE file is newer than the\ndestination file or when the destination is missing"),
        Opt::new(MvFlag::Verbose, 'v', "verbose").says("explain what is being done"),
        Opt::new(MvFlag::Context, 'Z', "context").says("(ignored)"),
    ],
);

struct MvOptions {
    existing: ExistingPolicy,
    force: bool,
    update: bool,
    verbose: bool,
    no_copy: bool,
    backup: Backup,
    terminal: bool,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let options = options(ctx, &p)?;
    let (dir, no_dir) = (p.last(MvFlag::TargetDirectory), p.has(MvFlag::NoTargetDirectory));
    let (mut sources, destination) = targets::split(ctx, &p.operands, dir, no_dir)?;
    if p.has(MvFlag::StripTrailingSlashes) {
        sources.iter_mut().for_each(|s| *s = paths::strip_slashes(s).to_vec());
    }
    let mut ok = true;
    let mut made: Vec<Vec<u8>> = Vec::new();
    for source in &sources {
        let to = match &destination {
            targets::Destination::File(f) => f.clone(),
            targets::Destination::Directory(d) => paths::join(d, paths::base_name(source)),
        };
        if made.contains(&to) {
            let (t, s) = (quote::always(&to), quote::always(source));
            ctx.error_bytes(&[b"will not overwrite just-created ", &t, b" with ", &s]);
            ok = false;
            continue;
        }
        let moved = one(ctx, source, &to, &options).unwrap_or_else(|ok| ok);
        ok &= moved;
        if moved {
            made.push(to);
        }
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

fn options(ctx: &mut Ctx<'_>, p: &ParsedOptions<MvFlag>) -> Result<MvOptions, Exit> {
    let backup = Backup::of(ctx, p, [MvFlag::Backup, MvFlag::PlainBackup, MvFlag::Suffix])?;
    let last = p.last_of(&[MvFlag::Force, MvFlag::Interactive, MvFlag::NoClobber]);
    let terminal =
        matches!(ctx.stdin.source(), box_applet::InputSource::File(f) if box_sys::is_terminal(f));
    let options = MvOptions {
        existing: match last {
            Some(MvFlag::Interactive) => ExistingPolicy::Ask,
            Some(MvFlag::NoClobber) => ExistingPolicy::Keep,
            _ => ExistingPolicy::Overwrite,
        },
        force: last == Some(MvFlag::Force),
        update: p.has(MvFlag::Update),
        verbose: p.has(MvFlag::Verbose),
        no_copy: p.has(MvFlag::NoCopy),
        backup,
        terminal,
    };
    targets::refuse_kept_backup(ctx, options.existing, &options.backup)?;
    Ok(options)
}

/// One file to move.
struct MvEntry<'t> {
    from: &'t [u8],
    to: &'t [u8],
    stat: Stat,
}

/// A result that is known before the end: whether all went well.
type Step<T> = Result<T, bool>;

fn one(ctx: &mut Ctx<'_>, from: &[u8], to: &[u8], o: &MvOptions) -> Step<bool> {
    let stat = meta::stat(&ctx.path(from), false).map_err(|e| {
        input::cannot(ctx, "cannot stat", from, &e);
        false
    })?;
    let entry = MvEntry { from, to, stat };
    let mut backed = None;
    if let Ok(old) = meta::stat(&ctx.path(to), false) {
        refuse(ctx, &entry, &old, o)?;
        ask(ctx, &entry, &old, o)?;
        backed = o.backup.make(ctx, to).map_err(|e| {
            input::cannot(ctx, "cannot backup", to, &e);
            false
        })?;
        // Two names of one file: renaming would do nothing, so the source name goes.
        if paths::same(&old, &stat) && backed.is_none() {
            return Ok(removed(ctx, from));
        }
    }
    rename(ctx, &entry, backed.as_deref(), o)
}

fn removed(ctx: &mut Ctx<'_>, from: &[u8]) -> bool {
    let removed = std::fs::remove_file(ctx.path(from));
    removed.map_err(|e| input::cannot(ctx, "cannot remove", from, &e)).is_ok()
}

/// Refuses what cannot take the place of what is there.
fn refuse(ctx: &mut Ctx<'_>, e: &MvEntry<'_>, old: &Stat, o: &MvOptions) -> Step<()> {
    let (from_path, to_path) = (ctx.path(e.from), ctx.path(e.to));
    let (from, to) = (quote::always(e.from), quote::always(e.to));
    let same_name = || {
        paths::canonical(&from_path, paths::MissingComponents::All).ok()
            == paths::canonical(&to_path, paths::MissingComponents::All).ok()
    };
    let is_dir = e.stat.kind == FileKind::Dir;
    let is_itself = paths::same(old, &e.stat)
        && o.existing != ExistingPolicy::Keep
        && e.stat.kind != FileKind::Symlink
        && (is_dir || same_name());
    let over_file = is_dir
        && old.kind != FileKind::Dir
        && o.backup.kind == BackupKind::None
        && o.existing != ExistingPolicy::Keep;
    if is_itself || from_path == to_path {
        ctx.error_bytes(&[&from, b" and ", &to, b" are the same file"]);
    } else if over_file {
        ctx.error_bytes(&[b"cannot overwrite non-directory ", &to, b" with directory ", &from]);
    } else if !is_dir && old.kind == FileKind::Dir {
        ctx.error_bytes(&[b"cannot overwrite directory ", &to, b" with non-directory"]);
    } else {
        return Ok(());
    }
    Err(false)
}

/// Whether the file may be replaced: by its age, by the options, by the user.
fn ask(ctx: &mut Ctx<'_>, e: &MvEntry<'_>, old: &Stat, o: &MvOptions) -> Step<()> {
    if o.update && e.stat.kind != FileKind::Dir && old.mtime >= e.stat.mtime {
        return Err(true);
    }
    let protected = !o.force && o.terminal && old.kind != FileKind::Symlink && !meta::may(old, 2);
    let verb = match o.existing {
        ExistingPolicy::Keep => return Err(true),
        ExistingPolicy::Ask => "overwrite",
        ExistingPolicy::Overwrite if protected => "replace",
        ExistingPolicy::Overwrite => return Ok(()),
    };
    let question = overwrite_question(&quote::always(e.to), Some(old), verb);
    if paths::confirm(ctx, &question) { Ok(()) } else { Err(true) }
}

fn rename(ctx: &mut Ctx<'_>, e: &MvEntry<'_>, backup: Option<&[u8]>, o: &MvOptions) -> Step<bool> {
    let (from_path, to_path) = (ctx.path(e.from), ctx.path(e.to));
    let (from, to) = (quote::always(e.from), quote::always(e.to));
    let is_dir = e.stat.kind == FileKind::Dir;
    if is_dir && paths::is_inside(&to_path, &from_path) {
        ctx.error_bytes(&[b"cannot move ", &from, b" to a subdirectory of itself, ", &to]);
        return Err(false);
    }
    let renamed = match e.to.ends_with(b"/") && !is_dir {
        true => Err(io::Error::from_raw_os_error(code::ENOTDIR)),
        false => std::fs::rename(&from_path, &to_path),
    };
    match renamed {
        Ok(()) => {
            if o.verbose {
                let _ = ctx.stdout.write_all(b"renamed ");
                let _ = ctx.stdout.write_all(&arrow(e.from, e.to, backup));
            }
            Ok(true)
        }
        Err(error) if error.raw_os_error() == Some(code::EXDEV) && !o.no_copy => across(ctx, e, o),
        Err(error) => {
            let why = box_sys::strerror(&error);
            ctx.error_bytes(&[b"cannot move ", &from, b" to ", &to, b": ", why.as_bytes()]);
            Err(false)
        }
    }
}

/// Removes what a copy is to replace, as rename(2) would: a directory only by another one, and if it is empty.
fn make_way(to: &std::path::Path, kind: FileKind) -> io::Result<()> {
    let removed = match kind {
        FileKind::Dir => std::fs::remove_dir(to),
        _ => std::fs::remove_file(to),
    };
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// To another file system: a copy with everything preserved, then the source is removed.
fn across(ctx: &mut Ctx<'_>, e: &MvEntry<'_>, o: &MvOptions) -> Step<bool> {
    if let Err(error) = make_way(&ctx.path(e.to), e.stat.kind) {
        let (from, to) = (quote::always(e.from), quote::always(e.to));
        let why = box_sys::strerror(&error);
        let blame = b"; unable to remove target: ";
        let what = b"inter-device move failed: ";
        ctx.error_bytes(&[what, &from, b" to ", &to, blame, why.as_bytes()]);
        return Err(false);
    }
    let plan = CopyPlan {
        recursive: true,
        follow: CopyFollow::Never,
        preserve_mode: true,
        preserve_owner: true,
        preserve_times: true,
        preserve_links: true,
        force: true,
        remove_destination: true,
        moving: true,
        ..CopyPlan::new(Backup { kind: BackupKind::None, suffix: o.backup.suffix.clone() })
    };
    if !Copier::new(&plan).operand(ctx, e.from, e.to) || !remove(ctx, e.from) {
        return Err(false);
    }
    if o.verbose {
        let line = arrow(e.from, e.to, None);
        let removed = [b"removed ", &*quote::always(e.from), b"\n"].concat();
        let _ = ctx.stdout.write_all(&[b"copied ", &*line, &*removed].concat());
    }
    Ok(true)
}

fn remove(ctx: &mut Ctx<'_>, from: &[u8]) -> bool {
    // Directories in the order met; their contents are gone when they are removed last first.
    let mut dirs: Vec<Vec<u8>> = Vec::new();
    let mut failed: Vec<(Vec<u8>, io::Error)> = Vec::new();
    tree::walk(ctx, from, true, tree::LinkPolicy::Never, &mut |ctx, name, visit| match visit {
        tree::Visit::Entry(s) if s.kind == FileKind::Dir => dirs.push(name.to_vec()),
        tree::Visit::Entry(_) => {
            if let Err(e) = std::fs::remove_file(ctx.path(name)) {
                failed.push((name.to_vec(), e));
            }
        }
        tree::Visit::Unreadable(_) | tree::Visit::Unlistable(_) => {}
    });
    for d in dirs.iter().rev() {
        if let Err(e) = std::fs::remove_dir(ctx.path(d)) {
            failed.push((d.clone(), e));
        }
    }
    for (name, e) in &failed {
        input::cannot(ctx, "cannot remove", name, e);
    }
    failed.is_empty()
}
