//! `mv` (POSIX XCU mv; GNU): renames, or copies and removes across file systems.

use std::io::{self, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, errno::code, meta};

use super::engine::{Copier, Existing, Follow, How, Plan, overwrite_question};
use super::targets;
use crate::common::paths::{self, Backup, BackupKind};
use crate::common::{input, quote, tree};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [-T] SOURCE DEST\n  or:  mv [OPTION]... SOURCE... DIRECTORY\n  or:  mv [OPTION]... -t DIRECTORY SOURCE...",
    about: "Rename SOURCE to DEST, or move SOURCE(s) to DIRECTORY.",
    options: &[
        Opt::optional(
            '\u{1}',
            "backup",
            "CONTROL",
            "make a backup of each existing destination file",
        )
        .long_only(),
        Opt::flag('b', "", "like --backup but does not accept an argument"),
        Opt::flag('f', "force", "do not prompt before overwriting"),
        Opt::flag('i', "interactive", "prompt before overwrite"),
        Opt::flag('n', "no-clobber", "do not overwrite an existing file"),
        Opt::flag('\u{2}', "no-copy", "do not copy if renaming fails").long_only(),
        Opt::flag(
            '\u{3}',
            "strip-trailing-slashes",
            "remove any trailing slashes from each SOURCE",
        )
        .long_only(),
        Opt::value('S', "suffix", "SUFFIX", "override the usual backup suffix"),
        Opt::value(
            't',
            "target-directory",
            "DIRECTORY",
            "move all SOURCE arguments into DIRECTORY",
        ),
        Opt::flag('T', "no-target-directory", "treat DEST as a normal file"),
        Opt::flag(
            'u',
            "update",
            "move only when the SOURCE file is newer than the\ndestination file or when the destination is missing",
        ),
        Opt::flag('v', "verbose", "explain what is being done"),
        Opt::flag('Z', "context", "(ignored)"),
    ],
    after: "",
    posix_order: false,
};

struct Options {
    existing: Existing,
    force: bool,
    update: bool,
    verbose: bool,
    no_copy: bool,
    backup: Backup,
    terminal: bool,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
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
    let last = p.last_of(&['f', 'i', 'n']);
    let terminal =
        matches!(ctx.stdin.source(), box_applet::Source::File(f) if box_sys::is_terminal(f));
    let o = Options {
        existing: match last {
            Some('i') => Existing::Ask,
            Some('n') => Existing::Keep,
            _ => Existing::Overwrite,
        },
        force: last == Some('f'),
        update: p.has('u'),
        verbose: p.has('v'),
        no_copy: p.has('\u{2}'),
        backup,
        terminal,
    };
    if o.existing == Existing::Keep && o.backup.kind != BackupKind::None {
        input::usage_error(ctx, &[b"options --backup and --no-clobber are mutually exclusive"]);
        return Exit::FAILURE;
    }
    let directory = p.last('t').map(<[u8]>::to_vec);
    let (mut sources, destination) =
        match targets::split(ctx, &p.operands, directory.as_deref(), p.has('T')) {
            Ok(x) => x,
            Err(e) => return e,
        };
    if p.has('\u{3}') {
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
        let moved = one(ctx, source, &to, &o);
        ok &= moved;
        if moved {
            made.push(to);
        }
    }
    if ok { Exit::SUCCESS } else { Exit::FAILURE }
}

fn one(ctx: &mut Ctx<'_>, from: &[u8], to: &[u8], o: &Options) -> bool {
    let (from_path, to_path) = (ctx.path(from), ctx.path(to));
    let (from_shown, to_shown) = (quote::always(from), quote::always(to));
    let stat = match meta::stat(&from_path, false) {
        Ok(s) => s,
        Err(e) => {
            input::cannot(ctx, "cannot stat", from, &e);
            return false;
        }
    };
    let mut backed = None;
    if let Ok(old) = meta::stat(&to_path, false) {
        // Two names of one file: renaming would do nothing, so the source name goes.
        let same = paths::same(&old, &stat);
        let same_name = paths::canonical(&from_path, paths::Missing::All).ok()
            == paths::canonical(&to_path, paths::Missing::All).ok();
        if same
            && (same_name || stat.kind == Kind::Dir)
            && o.existing != Existing::Keep
            && stat.kind != Kind::Symlink
            || from_path == to_path
        {
            ctx.error_bytes(&[&from_shown, b" and ", &to_shown, b" are the same file"]);
            return false;
        }
        if stat.kind == Kind::Dir
            && old.kind != Kind::Dir
            && o.backup.kind == BackupKind::None
            && o.existing != Existing::Keep
        {
            ctx.error_bytes(&[
                b"cannot overwrite non-directory ",
                &to_shown,
                b" with directory ",
                &from_shown,
            ]);
            return false;
        }
        if stat.kind != Kind::Dir && old.kind == Kind::Dir {
            ctx.error_bytes(&[b"cannot overwrite directory ", &to_shown, b" with non-directory"]);
            return false;
        }
        if o.update && stat.kind != Kind::Dir && old.mtime >= stat.mtime {
            return true;
        }
        let protected = !o.force && o.terminal && old.kind != Kind::Symlink && !meta::may(&old, 2);
        match o.existing {
            Existing::Keep => return true,
            Existing::Ask => {
                let q = overwrite_question(&to_shown, Some(&old), "overwrite");
                if !paths::confirm(ctx, &q) {
                    return true;
                }
            }
            Existing::Overwrite if protected => {
                let q = overwrite_question(&to_shown, Some(&old), "replace");
                if !paths::confirm(ctx, &q) {
                    return true;
                }
            }
            Existing::Overwrite => {}
        }
        match o.backup.make(ctx, to) {
            Ok(b) => backed = b,
            Err(e) => {
                input::cannot(ctx, "cannot backup", to, &e);
                return false;
            }
        }
        if same && backed.is_none() {
            return match std::fs::remove_file(&from_path) {
                Ok(()) => true,
                Err(e) => {
                    input::cannot(ctx, "cannot remove", from, &e);
                    false
                }
            };
        }
    }
    if stat.kind == Kind::Dir && is_inside(&to_path, &from_path) {
        ctx.error_bytes(&[
            b"cannot move ",
            &from_shown,
            b" to a subdirectory of itself, ",
            &to_shown,
        ]);
        return false;
    }
    let result = if to.ends_with(b"/") && stat.kind != Kind::Dir {
        Err(io::Error::from_raw_os_error(code::ENOTDIR))
    } else {
        std::fs::rename(&from_path, &to_path)
    };
    let result = match result {
        Err(e) if e.raw_os_error() == Some(code::EXDEV) && !o.no_copy => {
            if let Err(e) = make_way(&to_path, stat.kind) {
                ctx.error_bytes(&[
                    b"inter-device move failed: ",
                    &from_shown,
                    b" to ",
                    &to_shown,
                    b"; unable to remove target: ",
                    box_sys::strerror(&e).as_bytes(),
                ]);
                return false;
            }
            if !across(ctx, from, to, o) {
                return false;
            }
            if o.verbose {
                message(ctx, b"copied ", &from_shown, &to_shown, None);
                let line = [b"removed ", from_shown.as_slice(), b"\n"].concat();
                let _ = ctx.stdout.write_all(&line);
            }
            return true;
        }
        other => other,
    };
    match result {
        Ok(()) => {
            if o.verbose {
                message(ctx, b"renamed ", &from_shown, &to_shown, backed.as_deref());
            }
            true
        }
        Err(e) => {
            let text = box_sys::strerror(&e);
            ctx.error_bytes(&[
                b"cannot move ",
                &from_shown,
                b" to ",
                &to_shown,
                b": ",
                text.as_bytes(),
            ]);
            false
        }
    }
}

fn message(ctx: &mut Ctx<'_>, verb: &[u8], from: &[u8], to: &[u8], backup: Option<&[u8]>) {
    let mut line = [verb, from, b" -> ", to].concat();
    if let Some(b) = backup {
        line.extend_from_slice(&[b" (backup: ", quote::always(b).as_slice(), b")"].concat());
    }
    line.push(b'\n');
    let _ = ctx.stdout.write_all(&line);
}

fn is_inside(path: &std::path::Path, dir: &std::path::Path) -> bool {
    let canon = |p: &std::path::Path| paths::canonical(p, paths::Missing::All).ok();
    match (canon(path), canon(dir)) {
        (Some(p), Some(d)) => p.starts_with(&d) && p != d,
        _ => false,
    }
}

/// Removes what a copy is to replace, as rename(2) would: a directory only by another one, and if it is empty.
fn make_way(to: &std::path::Path, kind: Kind) -> io::Result<()> {
    let removed = match kind {
        Kind::Dir => std::fs::remove_dir(to),
        _ => std::fs::remove_file(to),
    };
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// To another file system: a copy with everything preserved, then the source is removed.
fn across(ctx: &mut Ctx<'_>, from: &[u8], to: &[u8], o: &Options) -> bool {
    let plan = Plan {
        recursive: true,
        follow: Follow::Never,
        preserve_mode: true,
        default_mode: false,
        preserve_owner: true,
        preserve_times: true,
        preserve_links: true,
        existing: Existing::Overwrite,
        force: true,
        remove_destination: true,
        update: false,
        verbose: false,
        backup: Backup { kind: BackupKind::None, suffix: o.backup.suffix.clone() },
        how: How::Copy,
        one_file_system: false,
        moving: true,
        copy_contents: false,
    };
    Copier::new(&plan).operand(ctx, from, to) && remove(ctx, from)
}

fn remove(ctx: &mut Ctx<'_>, from: &[u8]) -> bool {
    // Directories in the order met; their contents are gone when they are removed last first.
    let mut dirs: Vec<Vec<u8>> = Vec::new();
    let mut failed: Vec<(Vec<u8>, io::Error)> = Vec::new();
    tree::walk(ctx, from, true, tree::Links::Never, &mut |ctx, name, visit| match visit {
        tree::Visit::Entry(s) if s.kind == Kind::Dir => dirs.push(name.to_vec()),
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
