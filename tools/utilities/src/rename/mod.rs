//! `rename` in both of its forms: `rename FROM TO FILE...` (util-linux 2.38), and
//! `rename 's/OLD/NEW/' FILE...` (File::Rename 2.01). The first operand decides which it is.
//!
//! | file | contents |
//! |---|---|
//! | `expression` | `s/OLD/NEW/FLAGS` and `y/FROM/TO/` |

mod expression;

use std::io::{BufRead, Write};

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{FileKind, error_text, meta, path};

use expression::Expression;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    All,
    Force,
    Interactive,
    Last,
    NoAct,
    NoOverwrite,
    Symlink,
    Verbose,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... FROM TO FILE...\n[-f] [-n] [-v] 's/OLD/NEW/FLAGS' [FILE]...\n\
     [-f] [-n] [-v] 'y/FROM/TO/' [FILE]...",
    "Rename files: replace the text FROM in each name by TO, or apply an expression of Perl.",
    &[
        Opt::new(Flag::Verbose, 'v', "verbose").with_help("Print each file that is renamed"),
        Opt::new(Flag::NoAct, 'n', "no-act").with_help("Change nothing"),
        Opt::new(Flag::All, 'a', "all").with_help("Replace all occurrences of FROM"),
        Opt::new(Flag::Last, 'l', "last").with_help("Replace the last occurrence of FROM"),
        Opt::new(Flag::Symlink, 's', "symlink").with_help("Change the targets of symbolic links"),
        Opt::new(Flag::NoOverwrite, 'o', "no-overwrite").with_help("Keep files that exist"),
        Opt::new(Flag::Force, 'f', "force")
            .with_help("With an expression: replace files that exist"),
        Opt::new(Flag::Interactive, 'i', "interactive"),
    ],
)
.with_footer(
    "FLAGS are g (all matches), i (ignore case) and x. OLD has Perl's syntax; NEW may \
        contain $1, \\1, $&, \\U, \\L, \\u, \\l and \\E. No other Perl code is run. With an \
        expression and without FILE, names are read from standard input.\n\
        The status with FROM and TO is 0 if all went well, 1 if all failed, 2 if some failed, 4 if \
        no name contains FROM.",
)
.with_examples(&[
    ("rename .htm .html *.htm", "Give files another suffix"),
    ("rename -n 's/(\\d+)/n$1/' *", "See what an expression would do"),
]);

/// The end of an attempt to rename one file.
#[derive(PartialEq)]
enum Attempt {
    Renamed,
    /// The name or the file stays as it is, as it should.
    Unchanged,
    Failed,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some((first, files)) = p.operands.split_first()
        && expression::looks_like_expression(first)
    {
        return match Expression::parse(first) {
            Ok(expression) => run_expression(ctx, &p, &expression, files),
            Err(message) => {
                ctx.error(message);
                Ok(Exit::FAILURE)
            }
        };
    }
    let [from, to, files @ ..] = p.operands.as_slice() else { return Err(too_few(ctx)) };
    if p.has_option(Flag::Interactive) {
        ctx.error("-i asks on a terminal, and there is none; -o keeps files that exist");
        return Ok(Exit::FAILURE);
    }
    if files.is_empty() {
        return Err(too_few(ctx));
    }
    let (mut renamed, mut failed) = (0, 0);
    for file in files {
        let attempt = if p.has_option(Flag::Symlink) {
            change_target(ctx, &p, from, to, file)
        } else {
            replace_name(ctx, &p, from, to, file)
        };
        match attempt {
            Attempt::Renamed => renamed += 1,
            Attempt::Failed => failed += 1,
            Attempt::Unchanged => {}
        }
    }
    Ok(match (renamed, failed) {
        (0, 0) => Exit(4),
        (_, 0) => Exit::SUCCESS,
        (0, _) => Exit::FAILURE,
        _ => Exit::USAGE,
    })
}

fn too_few(ctx: &mut Ctx<'_>) -> Exit {
    ctx.error("not enough arguments");
    ctx.hint();
    Exit::FAILURE
}

/// Returns the text with one occurrence of `from` replaced, or all; `None` if there is none.
fn replace_text(p: &ParsedOptions<Flag>, from: &[u8], to: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    if from.is_empty() {
        return Some(if p.has_option(Flag::Last) {
            [text, to].concat()
        } else {
            [to, text].concat()
        });
    }
    let mut places: Vec<usize> = Vec::new();
    let mut at = 0;
    while at + from.len() <= text.len() {
        if text[at..].starts_with(from) {
            places.push(at);
            at += from.len();
        } else {
            at += 1;
        }
    }
    if p.has_option(Flag::Last) {
        places = places.pop().into_iter().collect();
    } else if !p.has_option(Flag::All) {
        places.truncate(1);
    }
    let mut out = Vec::new();
    let mut copied = 0;
    for place in &places {
        out.extend_from_slice(&text[copied..*place]);
        out.extend_from_slice(to);
        copied = place + from.len();
    }
    out.extend_from_slice(&text[copied..]);
    (!places.is_empty()).then_some(out)
}

fn replace_name(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<Flag>,
    from: &[u8],
    to: &[u8],
    file: &[u8],
) -> Attempt {
    if let Err(e) = meta::stat(&ctx.path(file), false) {
        ctx.error_bytes(&[file, b": not accessible: ", error_text(&e).as_bytes()]);
        return Attempt::Failed;
    }
    // Directories are not changed unless a text has a slash.
    let has_slash = from.contains(&b'/') || to.contains(&b'/');
    let start =
        if has_slash { 0 } else { file.iter().rposition(|c| *c == b'/').map_or(0, |n| n + 1) };
    let Some(base) = replace_text(p, from, to, &file[start..]) else { return Attempt::Unchanged };
    let new = [&file[..start], &base].concat();
    if new == file {
        return Attempt::Unchanged;
    }
    let target = ctx.path(&new);
    if p.has_option(Flag::NoOverwrite) && meta::stat(&target, false).is_ok() {
        if p.has_option(Flag::Verbose) {
            let _ = ctx
                .stdout
                .write_all(&[b"Skipping existing file: `", new.as_slice(), b"'\n"].concat());
        }
        return Attempt::Unchanged;
    }
    if !p.has_option(Flag::NoAct)
        && let Err(e) = std::fs::rename(ctx.path(file), target)
    {
        let reason = error_text(&e);
        ctx.error_bytes(&[file, b": rename to ", &new, b" failed: ", reason.as_bytes()]);
        return Attempt::Failed;
    }
    show_change(ctx, p, file, &new);
    Attempt::Renamed
}

fn show_change(ctx: &mut Ctx<'_>, p: &ParsedOptions<Flag>, old: &[u8], new: &[u8]) {
    if p.has_option(Flag::Verbose) {
        let _ = ctx.stdout.write_all(&[b"`", old, b"' -> `", new, b"'\n"].concat());
    }
}

/// Replaces text in the target of a symbolic link (`-s`).
fn change_target(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<Flag>,
    from: &[u8],
    to: &[u8],
    file: &[u8],
) -> Attempt {
    let link = ctx.path(file);
    match meta::stat(&link, false) {
        Err(e) => {
            ctx.error_bytes(&[file, b": not accessible: ", error_text(&e).as_bytes()]);
            return Attempt::Failed;
        }
        Ok(s) if s.kind != FileKind::Symlink => {
            ctx.error_bytes(&[file, b": not a symbolic link"]);
            return Attempt::Failed;
        }
        Ok(_) => {}
    }
    let old = match std::fs::read_link(&link) {
        Ok(old) => path::to_bytes(&old).to_vec(),
        Err(e) => {
            ctx.io_error(file, &e);
            return Attempt::Failed;
        }
    };
    let Some(new) = replace_text(p, from, to, &old) else { return Attempt::Unchanged };
    if !p.has_option(Flag::NoAct) {
        let made = std::fs::remove_file(&link).and_then(|()| meta::symlink(&new, &link));
        if let Err(e) = made {
            ctx.io_error(file, &e);
            return Attempt::Failed;
        }
    }
    if p.has_option(Flag::Verbose) {
        let parts = [file, b": `", &old, b"' -> `", &new, b"'\n"].concat();
        let _ = ctx.stdout.write_all(&parts);
    }
    Attempt::Renamed
}

/// Renames files by an expression. As in the original, a file that cannot be renamed does not
/// change the status.
fn run_expression(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<Flag>,
    expression: &Expression,
    files: &[Vec<u8>],
) -> Ended {
    let mut files = files.to_vec();
    if files.is_empty() {
        let mut line = Vec::new();
        while ctx.stdin.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            files.push(line.strip_suffix(b"\n").unwrap_or(&line).to_vec());
            line.clear();
        }
    }
    for old in files {
        let Some(new) = expression.apply(&old) else {
            ctx.error_bytes(&[&old, b": the name is not UTF-8 text"]);
            continue;
        };
        if new == old {
            continue;
        }
        let target = ctx.path(&new);
        if !p.has_option(Flag::Force) && meta::stat(&target, false).is_ok() {
            let _ = ctx.stderr.write_all(
                &[&old, b" not renamed: ".as_slice(), &new, b" already exists\n"].concat(),
            );
            continue;
        }
        if p.has_option(Flag::NoAct) {
            let _ =
                ctx.stdout.write_all(&[b"rename(", old.as_slice(), b", ", &new, b")\n"].concat());
            continue;
        }
        match std::fs::rename(ctx.path(&old), target) {
            Ok(()) if p.has_option(Flag::Verbose) => {
                let _ =
                    ctx.stdout.write_all(&[&old, b" renamed as ".as_slice(), &new, b"\n"].concat());
            }
            Ok(()) => {}
            Err(e) => {
                let reason = error_text(&e);
                let _ = ctx.stderr.write_all(
                    &[
                        b"Can't rename ",
                        old.as_slice(),
                        b" ",
                        &new,
                        b": ",
                        reason.as_bytes(),
                        b"\n",
                    ]
                    .concat(),
                );
            }
        }
    }
    Ok(Exit::SUCCESS)
}
