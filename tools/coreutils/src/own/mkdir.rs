//! `mkdir` and `rmdir` (POSIX XCU; GNU `-v`, `--ignore-fail-on-non-empty`).

use std::io::{self, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::meta::umask;
use box_sys::{FileKind, meta};
use box_text::mode::{self, FileModeChange};

use crate::common::{input, paths, quote};

/// An option of `mkdir`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MkdirFlag {
    Context,
    IgnoreFailOnNonEmpty,
    Ignored,
    Mode,
    Parents,
    Verbose,
}

const MKDIR: Spec<MkdirFlag> = Spec::new(
    "[OPTION]... DIRECTORY...",
    "Make directories.",
    &[
        Opt::new(MkdirFlag::Mode, 'm', "mode").with_argument(
            "MODE",
            "Set permissions as chmod does, instead of rwx without the umask",
        ),
        Opt::new(MkdirFlag::Parents, 'p', "parents")
            .with_help("Make missing parents; accept what exists"),
        Opt::new(MkdirFlag::Verbose, 'v', "verbose").with_help("Print each directory that is made"),
        Opt::new(MkdirFlag::Ignored, 'Z', "").with_help(words::IGNORED),
        Opt::long(MkdirFlag::Context, "context").may_take("CTX", words::IGNORED),
    ],
)
.with_examples(&[("mkdir -p a/b/c", "Make a directory and all that lead to it")]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = MKDIR.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    let mode = match p.last_value(MkdirFlag::Mode).map(|m| (m, mode::parse(m))) {
        Some((text, None)) => {
            return Err(input::report_failure(
                ctx,
                &[b"invalid mode ", &quote::quote_in_sentence(text)],
            ));
        }
        Some((_, Some(m))) => Some(m),
        None => None,
    };
    let mut exit = Exit::SUCCESS;
    for dir in &p.operands {
        let made = if p.has_option(MkdirFlag::Parents) {
            create_parents(ctx, dir, mode.as_ref(), p.has_option(MkdirFlag::Verbose))
        } else {
            make_dir(ctx, dir, mode.as_ref(), p.has_option(MkdirFlag::Verbose))
                .map_err(|e| (dir.clone(), e))
        };
        if let Err((at, e)) = made {
            input::report_cannot(ctx, "cannot create directory", &at, &e);
            exit = Exit::FAILURE;
        }
    }
    Ok(exit)
}

fn make_dir(
    ctx: &mut Ctx<'_>,
    dir: &[u8],
    mode: Option<&FileModeChange>,
    verbose: bool,
) -> io::Result<()> {
    if dir.is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    std::fs::create_dir(ctx.path(dir))?;
    if let Some(m) = mode {
        meta::chmod(&ctx.path(dir), m.apply(0o777, true, umask()))?;
    }
    if verbose {
        let shown = quote::quote_in_sentence(dir);
        let name = ctx.name.clone();
        let _ = ctx
            .stdout
            .write_all(&[name.as_bytes(), b": created directory ", &shown, b"\n"].concat());
    }
    Ok(())
}

/// Makes directories as `mkdir -p` does: parents get the default mode, the last one gets the
/// requested mode.
fn create_parents(
    ctx: &mut Ctx<'_>,
    dir: &[u8],
    mode: Option<&FileModeChange>,
    verbose: bool,
) -> Result<(), (Vec<u8>, io::Error)> {
    // In most cases the directory exists, or only its last component is missing.
    match meta::stat(&ctx.path(dir), true) {
        Ok(s) if s.kind == FileKind::Dir && !dir.is_empty() => return Ok(()),
        _ => {}
    }
    let mut end = 0;
    while end < dir.len() {
        let start = dir[end..].iter().position(|c| *c != b'/').map_or(dir.len(), |i| end + i);
        end = dir[start..].iter().position(|c| *c == b'/').map_or(dir.len(), |i| start + i);
        let rest = &dir[end..];
        let last = rest.iter().all(|c| *c == b'/');
        let part = &dir[..end];
        if start == end {
            break;
        }
        match make_dir(ctx, part, mode.filter(|_| last), verbose) {
            Ok(()) => {}
            Err(e) => match meta::stat(&ctx.path(part), true) {
                Ok(s) if s.kind == FileKind::Dir => {}
                Ok(_) if !last => {
                    return Err((
                        part.to_vec(),
                        io::Error::from_raw_os_error(box_sys::errno::code::ENOTDIR),
                    ));
                }
                _ => return Err((part.to_vec(), e)),
            },
        }
    }
    if dir.is_empty() { Err((Vec::new(), io::ErrorKind::NotFound.into())) } else { Ok(()) }
}

const RMDIR: Spec<MkdirFlag> = Spec::new(
    "[OPTION]... DIRECTORY...",
    "Remove directories that are empty.",
    &[
        Opt::long(MkdirFlag::IgnoreFailOnNonEmpty, "ignore-fail-on-non-empty")
            .with_help("Do not complain about directories that are not empty"),
        Opt::new(MkdirFlag::Parents, 'p', "parents")
            .with_help("Remove its parents, too: -p a/b removes a/b and a"),
        Opt::new(MkdirFlag::Verbose, 'v', "verbose")
            .with_help("Print each directory that is removed"),
    ],
);

pub(crate) fn run_rmdir(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = RMDIR.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    let mut exit = Exit::SUCCESS;
    for operand in &p.operands {
        let mut dir = operand.clone();
        loop {
            if p.has_option(MkdirFlag::Verbose) {
                let shown = quote::quote_in_sentence(&dir);
                let line = [ctx.name.as_bytes(), b": removing directory, ", &shown, b"\n"].concat();
                let _ = ctx.stdout.write_all(&line);
            }
            if let Err(e) = remove_dir(ctx, &dir) {
                if p.has_option(MkdirFlag::IgnoreFailOnNonEmpty) && not_empty(ctx, &dir, &e) {
                    break;
                }
                let what =
                    if dir == *operand { "failed to remove" } else { "failed to remove directory" };
                input::report_cannot(ctx, what, &dir, &e);
                exit = Exit::FAILURE;
                break;
            }
            if !p.has_option(MkdirFlag::Parents) {
                break;
            }
            let parent = paths::dir_name(&dir).to_vec();
            if parent == dir || parent == b"." || parent == b"/" {
                break;
            }
            dir = parent;
        }
    }
    Ok(exit)
}

fn remove_dir(ctx: &Ctx<'_>, dir: &[u8]) -> io::Result<()> {
    let path = ctx.path(dir);
    std::fs::remove_dir(&path).map_err(|e| match meta::stat(&path, false) {
        // For a file, some hosts report another error.
        Ok(s) if s.kind != FileKind::Dir => {
            io::Error::from_raw_os_error(box_sys::errno::code::ENOTDIR)
        }
        _ => e,
    })
}

fn not_empty(ctx: &Ctx<'_>, dir: &[u8], e: &io::Error) -> bool {
    e.raw_os_error() == Some(box_sys::errno::code::ENOTEMPTY)
        || std::fs::read_dir(ctx.path(dir)).is_ok_and(|mut d| d.next().is_some())
}
