//! `mv` (POSIX XCU mv; GNU): renames, or copies and removes across file systems.

use std::io::{self, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{FileKind, Stat, errno::code, meta};

use super::engine::{
    Copier, CopyFollow, CopyPlan, CopyStop, ExistingPolicy, Step, arrow_line, overwrite_question,
};
use super::targets;
use crate::common::paths::{self, Backup, BackupKind};
use crate::common::{input, quote, tree};

/// An option of `mv`.
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
    "[OPTION]... SOURCE DEST\n[OPTION]... SOURCE... DIRECTORY\n[OPTION]... -t DIRECTORY \
        SOURCE...",
    "Rename a file or directory, or move several into DIRECTORY.",
    &[
        Opt::long(MvFlag::Backup, "backup").may_take("CONTROL", words::BACKUP),
        Opt::new(MvFlag::PlainBackup, 'b', "").with_help(words::BACKUP_PLAIN),
        Opt::new(MvFlag::Force, 'f', "force").with_help("Replace files without asking"),
        Opt::new(MvFlag::Interactive, 'i', "interactive").with_help("Ask before replacing a file"),
        Opt::new(MvFlag::NoClobber, 'n', "no-clobber").with_help("Keep files that exist already"),
        Opt::long(MvFlag::NoCopy, "no-copy")
            .with_help("Fail instead of copying if a file cannot be renamed"),
        Opt::long(MvFlag::StripTrailingSlashes, "strip-trailing-slashes")
            .with_help(words::STRIP_SLASHES),
        Opt::new(MvFlag::Suffix, 'S', "suffix").with_argument("SUFFIX", words::SUFFIX),
        Opt::new(MvFlag::TargetDirectory, 't', "target-directory")
            .with_argument("DIRECTORY", words::TARGET_DIRECTORY),
        Opt::new(MvFlag::NoTargetDirectory, 'T', "no-target-directory")
            .with_help(words::NO_TARGET_DIRECTORY),
        Opt::new(MvFlag::Update, 'u', "update")
            .with_help("Move only what is missing, or newer than DEST"),
        Opt::new(MvFlag::Verbose, 'v', "verbose").with_help(words::VERBOSE),
        Opt::new(MvFlag::Context, 'Z', "context").with_help(words::IGNORED),
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
    let options = parse_options(ctx, &p)?;
    let (dir, no_dir) =
        (p.last_value(MvFlag::TargetDirectory), p.has_option(MvFlag::NoTargetDirectory));
    let (mut sources, destination) = targets::split_operands(ctx, &p.operands, dir, no_dir)?;
    if p.has_option(MvFlag::StripTrailingSlashes) {
        sources.iter_mut().for_each(|s| *s = paths::strip_slashes(s).to_vec());
    }
    let mut ok = true;
    let mut made: Vec<Vec<u8>> = Vec::new();
    for source in &sources {
        let to = match &destination {
            targets::Destination::File(f) => f.clone(),
            targets::Destination::Directory(d) => paths::join_path(d, paths::base_name(source)),
        };
        if made.contains(&to) {
            let (t, s) = (quote::quote_in_sentence(&to), quote::quote_in_sentence(source));
            ctx.error_bytes(&[b"will not overwrite just-created ", &t, b" with ", &s]);
            ok = false;
            continue;
        }
        match move_operand(ctx, source, &to, &options) {
            Ok(()) => made.push(to),
            Err(stop) => ok &= stop.is_success(),
        }
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

fn parse_options(ctx: &mut Ctx<'_>, p: &ParsedOptions<MvFlag>) -> Result<MvOptions, Exit> {
    let backup =
        Backup::from_options(ctx, p, [MvFlag::Backup, MvFlag::PlainBackup, MvFlag::Suffix])?;
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
        update: p.has_option(MvFlag::Update),
        verbose: p.has_option(MvFlag::Verbose),
        no_copy: p.has_option(MvFlag::NoCopy),
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

fn move_operand(ctx: &mut Ctx<'_>, from: &[u8], to: &[u8], o: &MvOptions) -> Step<()> {
    let stat = meta::stat(&ctx.path(from), false).map_err(|e| {
        input::report_cannot(ctx, "cannot stat", from, &e);
        CopyStop::Failed
    })?;
    let entry = MvEntry { from, to, stat };
    let mut backed = None;
    if let Ok(old) = meta::stat(&ctx.path(to), false) {
        refuse_replacement(ctx, &entry, &old, o)?;
        ask_replacement(ctx, &entry, &old, o)?;
        backed = o.backup.make(ctx, to).map_err(|e| {
            input::report_cannot(ctx, "cannot backup", to, &e);
            CopyStop::Failed
        })?;
        // For two names of one file, renaming would do nothing, so the source's name is removed.
        if paths::is_same_file(&old, &stat) && backed.is_none() {
            return remove_name(ctx, from);
        }
    }
    rename_entry(ctx, &entry, backed.as_deref(), o)
}

fn remove_name(ctx: &mut Ctx<'_>, from: &[u8]) -> Step<()> {
    std::fs::remove_file(ctx.path(from)).map_err(|e| {
        input::report_cannot(ctx, "cannot remove", from, &e);
        CopyStop::Failed
    })
}

/// Refuses to replace a file of a kind that the source cannot replace.
fn refuse_replacement(ctx: &mut Ctx<'_>, e: &MvEntry<'_>, old: &Stat, o: &MvOptions) -> Step<()> {
    let (from_path, to_path) = (ctx.path(e.from), ctx.path(e.to));
    let (from, to) = (quote::quote_in_sentence(e.from), quote::quote_in_sentence(e.to));
    let same_name = || {
        paths::canonical_path(&from_path, paths::MissingComponents::All).ok()
            == paths::canonical_path(&to_path, paths::MissingComponents::All).ok()
    };
    let is_dir = e.stat.kind == FileKind::Dir;
    let is_itself = paths::is_same_file(old, &e.stat)
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
    Err(CopyStop::Failed)
}

/// Decides whether the file may be replaced, by its age, the options and the user's answer.
fn ask_replacement(ctx: &mut Ctx<'_>, e: &MvEntry<'_>, old: &Stat, o: &MvOptions) -> Step<()> {
    if o.update && e.stat.kind != FileKind::Dir && old.mtime >= e.stat.mtime {
        return Err(CopyStop::Skipped);
    }
    let protected =
        !o.force && o.terminal && old.kind != FileKind::Symlink && !meta::may_access(old, 2);
    let verb = match o.existing {
        ExistingPolicy::Keep => return Err(CopyStop::Skipped),
        ExistingPolicy::Ask => "overwrite",
        ExistingPolicy::Overwrite if protected => "replace",
        ExistingPolicy::Overwrite => return Ok(()),
    };
    let question = overwrite_question(&quote::quote_in_sentence(e.to), Some(old), verb);
    if paths::confirm_question(ctx, &question) { Ok(()) } else { Err(CopyStop::Skipped) }
}

fn rename_entry(
    ctx: &mut Ctx<'_>,
    e: &MvEntry<'_>,
    backup: Option<&[u8]>,
    o: &MvOptions,
) -> Step<()> {
    let (from_path, to_path) = (ctx.path(e.from), ctx.path(e.to));
    let (from, to) = (quote::quote_in_sentence(e.from), quote::quote_in_sentence(e.to));
    let is_dir = e.stat.kind == FileKind::Dir;
    if is_dir && paths::is_inside(&to_path, &from_path) {
        ctx.error_bytes(&[b"cannot move ", &from, b" to a subdirectory of itself, ", &to]);
        return Err(CopyStop::Failed);
    }
    let renamed = if e.to.ends_with(b"/") && !is_dir {
        Err(io::Error::from_raw_os_error(code::ENOTDIR))
    } else {
        std::fs::rename(&from_path, &to_path)
    };
    match renamed {
        Ok(()) => {
            if o.verbose {
                let _ = ctx.stdout.write_all(b"renamed ");
                let _ = ctx.stdout.write_all(&arrow_line(e.from, e.to, backup));
            }
            Ok(())
        }
        Err(error) if error.raw_os_error() == Some(code::EXDEV) && !o.no_copy => {
            move_across(ctx, e, o)
        }
        Err(error) => {
            let why = box_sys::error_text(&error);
            ctx.error_bytes(&[b"cannot move ", &from, b" to ", &to, b": ", why.as_bytes()]);
            Err(CopyStop::Failed)
        }
    }
}

/// Removes the file that a copy replaces. By the rules of rename(2), a directory is replaced only
/// by another directory, and only if it is empty.
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

/// Moves a file to another file system: makes a copy with all attributes preserved, then removes the source.
fn move_across(ctx: &mut Ctx<'_>, e: &MvEntry<'_>, o: &MvOptions) -> Step<()> {
    if let Err(error) = make_way(&ctx.path(e.to), e.stat.kind) {
        let (from, to) = (quote::quote_in_sentence(e.from), quote::quote_in_sentence(e.to));
        let why = box_sys::error_text(&error);
        let blame = b"; unable to remove target: ";
        let what = b"inter-device move failed: ";
        ctx.error_bytes(&[what, &from, b" to ", &to, blame, why.as_bytes()]);
        return Err(CopyStop::Failed);
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
    if !Copier::new(&plan).copy_operand(ctx, e.from, e.to) || !remove_source(ctx, e.from) {
        return Err(CopyStop::Failed);
    }
    if o.verbose {
        let line = arrow_line(e.from, e.to, None);
        let removed = [b"removed ", &*quote::quote_in_sentence(e.from), b"\n"].concat();
        let _ = ctx.stdout.write_all(&[b"copied ", &*line, &*removed].concat());
    }
    Ok(())
}

fn remove_source(ctx: &mut Ctx<'_>, from: &[u8]) -> bool {
    // The directories in the order of the walk. They are removed in reverse order, when their
    // contents are gone.
    let mut dirs: Vec<Vec<u8>> = Vec::new();
    let mut failed: Vec<(Vec<u8>, io::Error)> = Vec::new();
    tree::walk_tree(
        ctx,
        from,
        true,
        tree::LinkPolicy::Never,
        &mut |ctx, name, visit| match visit {
            tree::Visit::Entry(s) if s.kind == FileKind::Dir => dirs.push(name.to_vec()),
            tree::Visit::Entry(_) => {
                if let Err(e) = std::fs::remove_file(ctx.path(name)) {
                    failed.push((name.to_vec(), e));
                }
            }
            tree::Visit::Unreadable(_) | tree::Visit::Unlistable(_) => {}
        },
    );
    for d in dirs.iter().rev() {
        if let Err(e) = std::fs::remove_dir(ctx.path(d)) {
            failed.push((d.clone(), e));
        }
    }
    for (name, e) in &failed {
        input::report_cannot(ctx, "cannot remove", name, e);
    }
    failed.is_empty()
}
