//! `zip`: writes files to an archive. Members of an existing archive are replaced, deleted, or
//! copied as they are.

mod options;
mod pack;

use std::fs::{self, File};
use std::io::{self, Cursor, Write};
use std::path::Path;

use box_applet::{Ctx, Ended, Exit};
use box_sys::{FileKind, error_text, meta, path};
use box_text::glob::GlobPattern;
use box_text::time::Zone;

use self::options::{ZipAction, ZipJob};
use self::pack::{ArchiveTarget, Packer};
use super::format::{self, Directory};
use super::{lossy_name, member_pattern, print_message};

/// The exit status if there is nothing to do.
const NOTHING: u8 = 12;
/// The exit status if the existing file is not an archive.
const BAD_ARCHIVE: u8 = 3;
/// The exit status if some files could not be read.
const UNREADABLE: u8 = 18;

/// A file that becomes a member.
#[derive(Clone)]
struct ZipItem {
    /// The name of the file; `-` is standard input.
    source: Vec<u8>,
    /// The name in the archive.
    name: Vec<u8>,
    stat: meta::Stat,
}

/// Runs `zip`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let mut job = options::parse(ctx, args)?;
    if job.names_from_stdin {
        let mut all = Vec::new();
        let _ = io::Read::read_to_end(&mut ctx.stdin, &mut all);
        job.names.extend(all.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
    }
    let to_stdout = job.archive == b"-";
    let path = ctx.path(&job.archive);
    let mut old = None;
    if !to_stdout && path.exists() {
        let read = File::open(&path).and_then(|mut f| Ok((format::read(&mut f)?, f)));
        match read {
            Ok((Some(d), f)) => old = Some((d, f)),
            _ => {
                return Ok(report_error(ctx, &job, BAD_ARCHIVE, "Zip file structure invalid"));
            }
        }
    }
    if job.action == ZipAction::Delete {
        return Ok(delete_members(ctx, &job, &path, old));
    }
    if job.action == ZipAction::Freshen
        && job.names.is_empty()
        && let Some((directory, _)) = &old
    {
        job.names = directory.entries.iter().map(|e| e.name.clone()).collect();
    }
    let mut status = 0;
    let items = collect_items(ctx, &job, &path, &mut status);
    Ok(add_members(ctx, &job, &path, old, items, status))
}

/// Prints `zip error: ...`; returns the exit status.
fn report_error(ctx: &mut Ctx<'_>, job: &ZipJob, status: u8, why: &str) -> Exit {
    let shown = lossy_name(&job.archive);
    print_message(ctx, &format!("\nzip error: {why} ({shown})\n"));
    Exit(status)
}

fn print_warning(ctx: &mut Ctx<'_>, text: &str) {
    print_message(ctx, &format!("\tzip warning: {text}\n"));
}

/// Prints the action on a member. The text goes to standard error if the archive goes to standard
/// output.
fn print_action(ctx: &mut Ctx<'_>, job: &ZipJob, text: &str) {
    if job.quiet {
        return;
    }
    if job.archive == b"-" {
        let _ = ctx.stderr.write_all(text.as_bytes());
    } else {
        let _ = ctx.stdout.write_all(text.as_bytes());
    }
}

/// Returns the name of a file in the archive, which has no leading `/` and `./`.
fn stored_name(job: &ZipJob, source: &[u8]) -> Vec<u8> {
    let mut name = source;
    loop {
        match name {
            [b'/', rest @ ..] | [b'.', b'/', rest @ ..] => name = rest,
            b"." => name = b"",
            _ => break,
        }
    }
    if job.junk {
        name = name.rsplit(|c| *c == b'/').next().unwrap_or_default();
    }
    name.to_vec()
}

/// Collects the files that the operands select. Sets `status` if a directory cannot be read.
fn collect_items(ctx: &mut Ctx<'_>, job: &ZipJob, archive: &Path, status: &mut u8) -> Vec<ZipItem> {
    let compile =
        |l: &[Vec<u8>]| l.iter().map(|p| member_pattern(p, false)).collect::<Vec<GlobPattern>>();
    let (only, except) = (compile(&job.only), compile(&job.except));
    let own = meta::stat(archive, true).ok();
    let mut out: Vec<ZipItem> = Vec::new();
    // The names still to be examined, in reverse order. The flag marks those found in a directory.
    let mut rest: Vec<(Vec<u8>, bool)> =
        job.names.iter().rev().map(|n| (n.clone(), false)).collect();
    while let Some((source, found)) = rest.pop() {
        if source == b"-" && !found {
            let stat = no_stat();
            out.push(ZipItem { name: b"-".to_vec(), source, stat });
            continue;
        }
        let stat = match meta::stat(&ctx.path(&source), !job.links) {
            Ok(s) => s,
            Err(_) => {
                let shown = lossy_name(&source);
                print_warning(ctx, &format!("name not matched: {shown}"));
                continue;
            }
        };
        let mut name = stored_name(job, &source);
        if stat.kind == FileKind::Dir {
            if job.recurse {
                rest.extend(list_below(ctx, &source, status).into_iter().map(|n| (n, true)));
            }
            if job.junk || job.no_dirs || name.is_empty() {
                continue;
            }
            if !name.ends_with(b"/") {
                name.push(b'/');
            }
        } else if !matches!(stat.kind, FileKind::File | FileKind::Symlink) {
            continue;
        }
        let same = own.is_some_and(|o| o.ino != 0 && (o.dev, o.ino) == (stat.dev, stat.ino));
        let wanted = (only.is_empty() || only.iter().any(|p| p.is_match(&name)))
            && !except.iter().any(|p| p.is_match(&name));
        if same || !wanted || name.len() > usize::from(u16::MAX) {
            continue;
        }
        if !out.iter().any(|i| i.name == name) {
            out.push(ZipItem { source, name, stat });
        }
    }
    out
}

/// Returns the file status that a member from standard input gets.
fn no_stat() -> meta::Stat {
    meta::Stat {
        kind: FileKind::File,
        mode: 0o600,
        uid: 0,
        gid: 0,
        nlink: 1,
        dev: 0,
        ino: 0,
        size: 0,
        atime: 0,
        mtime: 0,
        ctime: 0,
    }
}

/// Returns the entries of a directory, the last name first.
fn list_below(ctx: &mut Ctx<'_>, dir: &[u8], status: &mut u8) -> Vec<Vec<u8>> {
    match path::names_in(&ctx.path(dir)) {
        Ok(names) => names.iter().rev().map(|name| path::join_path(dir, name)).collect(),
        Err(e) => {
            let text =
                format!("could not open for reading: {}: {}", lossy_name(dir), error_text(&e));
            print_warning(ctx, &text);
            *status = UNREADABLE;
            Vec::new()
        }
    }
}

type Old = Option<(Directory, File)>;

/// Writes a whole new archive: the old members in their order, with those of the given files
/// replaced, and then the other files. Returns the exit status.
fn add_members(
    ctx: &mut Ctx<'_>,
    job: &ZipJob,
    path: &Path,
    old: Old,
    mut items: Vec<ZipItem>,
    mut status: u8,
) -> Exit {
    let zone = ctx.zone();
    let known = |name: &[u8]| old.as_ref()?.0.entries.iter().find(|e| e.name == name);
    items.retain(|i| match (job.action, known(&i.name)) {
        (ZipAction::Freshen, None) => false,
        // An archived time may be rounded down to two seconds, so an unchanged file may be
        // replaced, too.
        (ZipAction::Freshen | ZipAction::Update, Some(e)) => {
            mtime_seconds(&i.stat) > e.modified_epoch(&zone)
        }
        _ => true,
    });
    if items.is_empty() {
        if matches!(job.action, ZipAction::Freshen | ZipAction::Update) && old.is_some() {
            return Exit(NOTHING);
        }
        return report_error(ctx, job, NOTHING, "Nothing to do!");
    }
    let result = replace_archive(ctx, job, path, |ctx, target| {
        let mut packer = Packer::new(target, job, &zone);
        let mut comment = Vec::new();
        let mut items: Vec<Option<ZipItem>> = items.iter().cloned().map(Some).collect();
        if let Some((directory, mut file)) = old {
            for e in &directory.entries {
                let new = items.iter_mut().find(|i| i.as_ref().is_some_and(|i| i.name == e.name));
                match new.and_then(Option::take) {
                    Some(item) => {
                        let verb = if job.action == ZipAction::Freshen {
                            "freshening"
                        } else {
                            "updating"
                        };
                        if !packer.add_item(ctx, verb, &item)? {
                            status = UNREADABLE;
                            packer.keep_member(&mut file, e)?;
                        }
                    }
                    None => packer.keep_member(&mut file, e)?,
                }
            }
            comment = directory.comment;
        }
        for item in items.into_iter().flatten() {
            if !packer.add_item(ctx, "  adding", &item)? {
                status = UNREADABLE;
            }
        }
        packer.write_end(&comment)
    });
    match result {
        Ok(()) => {}
        Err(e) => {
            return report_error(
                ctx,
                job,
                15,
                &format!("Could not create output file: {}", error_text(&e)),
            );
        }
    }
    if job.test {
        let name = lossy_name(&job.archive);
        print_action(ctx, job, &format!("test of {name} OK\n"));
    }
    if job.remove {
        for item in items.iter().rev().filter(|i| i.source != b"-") {
            let path = ctx.path(&item.source);
            let _ = if item.stat.kind == FileKind::Dir {
                fs::remove_dir(path)
            } else {
                fs::remove_file(path)
            };
        }
    }
    Exit(status)
}

fn delete_members(ctx: &mut Ctx<'_>, job: &ZipJob, path: &Path, old: Old) -> Exit {
    let Some((directory, mut file)) = old else {
        return report_error(ctx, job, 13, "Zip file not found");
    };
    let mut gone = vec![false; directory.entries.len()];
    for name in &job.names {
        let p = member_pattern(name, false);
        let mut hit = false;
        for (e, gone) in directory.entries.iter().zip(&mut gone) {
            if p.is_match(&e.name) {
                (hit, *gone) = (true, true);
            }
        }
        if !hit {
            let shown = lossy_name(name);
            print_warning(ctx, &format!("name not matched: {shown}"));
        }
    }
    if !gone.contains(&true) {
        return report_error(ctx, job, NOTHING, "Nothing to do!");
    }
    for (e, _) in directory.entries.iter().zip(&gone).filter(|(_, gone)| **gone) {
        let name = lossy_name(&e.name);
        print_action(ctx, job, &format!("deleting: {name}\n"));
    }
    if !gone.contains(&false) {
        print_warning(ctx, "zip file empty");
    }
    let zone = Zone::utc();
    let result = replace_archive(ctx, job, path, |_, target| {
        let mut packer = Packer::new(target, job, &zone);
        for (e, _) in directory.entries.iter().zip(&gone).filter(|(_, gone)| !**gone) {
            packer.keep_member(&mut file, e)?;
        }
        packer.write_end(&directory.comment)
    });
    match result {
        Ok(()) => Exit::SUCCESS,
        Err(e) => {
            report_error(ctx, job, 15, &format!("Could not create output file: {}", error_text(&e)))
        }
    }
}

/// Writes a new archive next to the old one, and renames it over the old one when it is complete.
/// If the archive is `-`, writes it to standard output instead.
fn replace_archive(
    ctx: &mut Ctx<'_>,
    job: &ZipJob,
    path: &Path,
    write: impl FnOnce(&mut Ctx<'_>, &mut dyn ArchiveTarget) -> io::Result<()>,
) -> io::Result<()> {
    if job.archive == b"-" {
        let mut memory = Cursor::new(Vec::new());
        write(ctx, &mut memory)?;
        let _ = ctx.stdout.write_all(memory.get_ref());
        return Ok(());
    }
    let (mut file, temporary) = box_applet::create_beside(ctx, path, "zi")?;
    let result = write(ctx, &mut file).and_then(|()| {
        drop(file);
        if let Ok(stat) = meta::stat(path, true) {
            box_applet::inherit_metadata(&stat, &temporary);
        }
        fs::rename(&temporary, path)
    });
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn mtime_seconds(stat: &meta::Stat) -> i64 {
    (stat.mtime / 1_000_000_000) as i64
}
