//! Comparing directories: names in both are compared, others reported or taken as empty files.

use std::collections::BTreeSet;
use std::io::{self, Write};

use box_applet::Ctx;
use box_sys::{Kind, Stat, meta, path};

use super::compare::Compared;
use super::{Form, Options, Status, files};

/// Deeper trees are refused; links cannot lead in circles unnoticed.
const MAX_DEPTH: usize = 200;

/// Compares two directories; subdirectories only with `-r`.
pub fn compare(
    ctx: &mut Ctx<'_>,
    options: &Options,
    a: &[u8],
    b: &[u8],
    depth: usize,
) -> io::Result<Status> {
    if depth > MAX_DEPTH {
        ctx.error_bytes(&[a, b": recursive directory loop"]);
        return Ok(2);
    }
    let mut names = BTreeSet::new();
    for dir in [a, b] {
        match path::names_in(&ctx.path(dir)) {
            Ok(found) => names.extend(found),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => {
                ctx.io_error(dir, &e);
                return Ok(2);
            }
        }
    }
    let mut status = 0;
    for name in names {
        if options.excludes.iter().any(|p| p.is_match(&name)) {
            continue;
        }
        status = status.max(entry(ctx, options, a, b, &name, depth)?);
    }
    Ok(status)
}

fn entry(
    ctx: &mut Ctx<'_>,
    options: &Options,
    a: &[u8],
    b: &[u8],
    name: &[u8],
    depth: usize,
) -> io::Result<Status> {
    let (x, y) = (path::join(a, name), path::join(b, name));
    let stat = |ctx: &Ctx<'_>, p: &[u8]| meta::stat(&ctx.path(p), !options.no_dereference).ok();
    let (sx, sy) = (stat(ctx, &x), stat(ctx, &y));
    match (sx, sy) {
        (Some(p), Some(q)) if p.kind == Kind::Dir && q.kind == Kind::Dir => {
            if options.recursive {
                return compare(ctx, options, &x, &y, depth + 1);
            }
            ctx.stdout
                .write_all(&[&b"Common subdirectories: "[..], &x, b" and ", &y, b"\n"].concat())?;
            Ok(0)
        }
        (Some(p), Some(q)) if (p.kind == Kind::Dir) != (q.kind == Kind::Dir) => {
            let (p, q) = (p.kind_name().as_bytes(), q.kind_name().as_bytes());
            let text = [b"File ", &x[..], b" is a ", p, b" while file ", &y, b" is a ", q, b"\n"];
            ctx.stdout.write_all(&text.concat())?;
            Ok(1)
        }
        (None, None) => {
            ctx.error_bytes(&[&x, b": No such file or directory"]);
            Ok(2)
        }
        (Some(_), None) if !options.new_file => only(ctx, a, name),
        (None, Some(_)) if !options.new_first => only(ctx, b, name),
        (p, q) => {
            let dir = p.or(q).is_some_and(|s| s.kind == Kind::Dir);
            if dir {
                return if options.recursive {
                    compare(ctx, options, &x, &y, depth + 1)
                } else {
                    only(ctx, if p.is_some() { a } else { b }, name)
                };
            }
            differing(ctx, options, (&x, p), (&y, q))
        }
    }
}

fn only(ctx: &mut Ctx<'_>, dir: &[u8], name: &[u8]) -> io::Result<Status> {
    ctx.stdout.write_all(&[b"Only in ", dir, b": ", name, b"\n"].concat())?;
    Ok(1)
}

/// Two files of a tree: their difference is headed by the command that would show it.
fn differing(
    ctx: &mut Ctx<'_>,
    options: &Options,
    x: (&[u8], Option<Stat>),
    y: (&[u8], Option<Stat>),
) -> io::Result<Status> {
    let read = |ctx: &Ctx<'_>, (name, stat): (&[u8], Option<Stat>)| match stat {
        Some(_) => std::fs::read(ctx.path(name)),
        None => Ok(Vec::new()),
    };
    let binary = |d: &[u8]| !options.text && d.contains(&0);
    if options.form != Form::Brief
        && let (Ok(p), Ok(q)) = (read(ctx, x), read(ctx, y))
        && p != q
        && !binary(&p)
        && !binary(&q)
        && !Compared::new(options, &p, &q).changes.is_empty()
    {
        let given = options.given.as_bytes();
        ctx.stdout.write_all(&[b"diff", given, b" ", x.0, b" ", y.0, b"\n"].concat())?;
    }
    files(ctx, options, x, y, x.1.is_none() || y.1.is_none())
}
