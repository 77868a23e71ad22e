//! Comparing directories: files in both are compared; others are reported or treated as empty
//! files.

use std::collections::BTreeMap;
use std::io::{self, Write};

use box_applet::Ctx;
use box_sys::{FileKind, Stat, meta, path};

use super::compare::TextComparison;
use super::{DiffForm, DiffOptions, Status, compare_files, compare_links, kinds_text};

/// The maximum depth of a tree, so that links that form a cycle are noticed.
const MAX_DEPTH: usize = 200;

/// Compares two directories; subdirectories only with `-r`.
pub fn compare_trees(
    ctx: &mut Ctx<'_>,
    options: &DiffOptions,
    a: &[u8],
    b: &[u8],
    depth: usize,
) -> io::Result<Status> {
    if depth > MAX_DEPTH {
        ctx.error_bytes(&[a, b": recursive directory loop"]);
        return Ok(2);
    }
    // The names of entries. Those of the second directory are mapped to their names in the first.
    let mut names: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for dir in [a, b] {
        let found = match path::names_in(&ctx.path(dir)) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => {
                ctx.io_error(dir, &e);
                return Ok(2);
            }
        };
        // If case is ignored, names that differ only in case are one entry, but a name that both
        // directories have keeps its own entry.
        let first: Vec<Vec<u8>> = names.keys().cloned().collect();
        let mut free = BTreeMap::new();
        if options.ignore_name_case && dir == b {
            let only_first = first.iter().filter(|name| !found.contains(name));
            free.extend(only_first.map(|name| (name.to_ascii_lowercase(), name.clone())));
        }
        for name in found {
            let other = free.remove(&name.to_ascii_lowercase()).unwrap_or_else(|| name.clone());
            names.insert(other, name);
        }
    }
    let mut status = 0;
    for (name, second) in names {
        let is_before = |start: &Vec<u8>| depth == 0 && name < *start;
        if options.excludes.iter().any(|p| p.is_match(&name))
            || options.starting_file.as_ref().is_some_and(is_before)
        {
            continue;
        }
        status = status.max(compare_entry(ctx, options, (a, &name), (b, &second), depth)?);
    }
    Ok(status)
}

fn compare_entry(
    ctx: &mut Ctx<'_>,
    options: &DiffOptions,
    (a, name): (&[u8], &[u8]),
    (b, second): (&[u8], &[u8]),
    depth: usize,
) -> io::Result<Status> {
    let (x, y) = (path::join_path(a, name), path::join_path(b, second));
    let stat = |ctx: &Ctx<'_>, p: &[u8]| meta::stat(&ctx.path(p), !options.no_dereference).ok();
    let (sx, sy) = (stat(ctx, &x), stat(ctx, &y));
    match (sx, sy) {
        (Some(p), Some(q)) if p.kind == FileKind::Dir && q.kind == FileKind::Dir => {
            if options.recursive {
                return compare_trees(ctx, options, &x, &y, depth + 1);
            }
            ctx.stdout
                .write_all(&[&b"Common subdirectories: "[..], &x, b" and ", &y, b"\n"].concat())?;
            Ok(0)
        }
        // The contents of pipes, sockets and devices are not compared, because reading them may
        // never end.
        (Some(p), Some(q))
            if (p.kind == FileKind::Dir) != (q.kind == FileKind::Dir)
                || is_special(&p)
                || is_special(&q) =>
        {
            ctx.stdout.write_all(&kinds_text((&x, &p), (&y, &q)))?;
            Ok(1)
        }
        (None, None) => {
            ctx.error_bytes(&[&x, b": No such file or directory"]);
            Ok(2)
        }
        (Some(_), None) if !options.new_file => report_only(ctx, a, name),
        (None, Some(_)) if !options.new_first => report_only(ctx, b, name),
        // The same applies to a file that exists on one side only.
        (Some(p), None) if is_special(&p) => report_only(ctx, a, name),
        (None, Some(q)) if is_special(&q) => report_only(ctx, b, name),
        (p, q) => {
            let dir = p.or(q).is_some_and(|s| s.kind == FileKind::Dir);
            if dir {
                return if options.recursive {
                    compare_trees(ctx, options, &x, &y, depth + 1)
                } else {
                    report_only(ctx, if p.is_some() { a } else { b }, name)
                };
            }
            compare_differing(ctx, options, (&x, p), (&y, q))
        }
    }
}

/// Returns whether a file is a pipe, a socket or a device.
fn is_special(stat: &Stat) -> bool {
    !matches!(stat.kind, FileKind::File | FileKind::Dir | FileKind::Symlink)
}

fn report_only(ctx: &mut Ctx<'_>, dir: &[u8], name: &[u8]) -> io::Result<Status> {
    ctx.stdout.write_all(&[b"Only in ", dir, b": ", name, b"\n"].concat())?;
    Ok(1)
}

/// Compares two files of a tree. The heading of their difference is the command that would show it.
fn compare_differing(
    ctx: &mut Ctx<'_>,
    options: &DiffOptions,
    x: (&[u8], Option<Stat>),
    y: (&[u8], Option<Stat>),
) -> io::Result<Status> {
    let read = |ctx: &Ctx<'_>, (name, stat): (&[u8], Option<Stat>)| match stat {
        Some(_) => std::fs::read(ctx.path(name)),
        None => Ok(Vec::new()),
    };
    let binary = |d: &[u8]| !options.text && d.contains(&0);
    if let Some(status) = compare_links(ctx, options, x, y)? {
        return Ok(status);
    }
    if options.form != DiffForm::Brief
        && !options.paginate
        && let (Ok(p), Ok(q)) = (read(ctx, x), read(ctx, y))
        && p != q
        && !binary(&p)
        && !binary(&q)
        && !TextComparison::new(options, &p, &q).changes.is_empty()
    {
        let given = options.given.as_bytes();
        ctx.stdout.write_all(&[b"diff", given, b" ", x.0, b" ", y.0, b"\n"].concat())?;
    }
    compare_files(ctx, options, x, y, x.1.is_none() || y.1.is_none())
}
