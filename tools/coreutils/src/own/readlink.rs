//! `readlink` and `realpath` (GNU), which print the targets of symbolic links and absolute paths.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::path::to_bytes;

use crate::common::paths::{MissingComponents, canonical_path, relative_path};
use crate::common::{input, quote};

/// An option of `readlink` or `realpath`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadlinkFlag {
    Canonicalize,
    CanonicalizeExisting,
    CanonicalizeMissing,
    Logical,
    NoNewline,
    NoSymlinks,
    Physical,
    Quiet,
    RelativeBase,
    RelativeTo,
    Silent,
    Strip,
    Verbose,
    Zero,
}

const READLINK: Spec<ReadlinkFlag> = Spec::new(
    "[OPTION]... FILE...",
    "Print what symbolic links point to.",
    &[
        Opt::new(ReadlinkFlag::Canonicalize, 'f', "canonicalize")
            .with_help("Print the absolute path without links; its last part may be missing"),
        Opt::new(ReadlinkFlag::CanonicalizeExisting, 'e', "canonicalize-existing")
            .with_help("Like -f, and all parts must exist"),
        Opt::new(ReadlinkFlag::CanonicalizeMissing, 'm', "canonicalize-missing")
            .with_help("Like -f, and any part may be missing"),
        Opt::new(ReadlinkFlag::NoNewline, 'n', "no-newline")
            .with_help("Print no newline at the end"),
        Opt::new(ReadlinkFlag::Quiet, 'q', "quiet").with_help("Print no error messages (default)"),
        Opt::new(ReadlinkFlag::Silent, 's', "silent")
            .with_help("Print no error messages (default)"),
        Opt::new(ReadlinkFlag::Verbose, 'v', "verbose").with_help("Print error messages"),
        Opt::new(ReadlinkFlag::Zero, 'z', "zero").with_help(words::NUL_OUT),
    ],
)
.with_examples(&[("readlink -f FILE", "The absolute path, without symbolic links")]);

pub(crate) fn run_readlink(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = READLINK.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    let mut newline = !p.has_option(ReadlinkFlag::NoNewline);
    if p.operands.len() > 1 && !newline {
        ctx.error("ignoring --no-newline with multiple arguments");
        newline = true;
    }
    let verbose = p.last_of(&[ReadlinkFlag::Verbose, ReadlinkFlag::Quiet, ReadlinkFlag::Silent])
        == Some(ReadlinkFlag::Verbose);
    let canonicalize = p.last_choice(&[
        (ReadlinkFlag::Canonicalize, MissingComponents::Last),
        (ReadlinkFlag::CanonicalizeExisting, MissingComponents::None),
        (ReadlinkFlag::CanonicalizeMissing, MissingComponents::All),
    ]);
    let mut exit = Exit::SUCCESS;
    for file in &p.operands {
        let path = ctx.path(file);
        let result = match canonicalize {
            _ if file.is_empty() => Err(io::ErrorKind::NotFound.into()),
            Some(missing) => canonical_path(&path, missing),
            None => std::fs::read_link(&path),
        };
        match result {
            Ok(target) => {
                let mut line = to_bytes(&target).to_vec();
                if newline {
                    line.push(if p.has_option(ReadlinkFlag::Zero) { 0 } else { b'\n' });
                }
                if ctx.stdout.write_all(&line).is_err() {
                    return Ok(Exit::FAILURE);
                }
            }
            Err(e) => {
                exit = Exit::FAILURE;
                if verbose {
                    input::file_error(ctx, file, &e);
                }
            }
        }
    }
    Ok(exit)
}

const REALPATH: Spec<ReadlinkFlag> = Spec::new(
    "[OPTION]... FILE...",
    "Print absolute paths without symbolic links, . and .. parts; the last part may be \
        missing.",
    &[
        Opt::new(ReadlinkFlag::CanonicalizeExisting, 'e', "canonicalize-existing")
            .with_help("Fail if any part is missing"),
        Opt::new(ReadlinkFlag::CanonicalizeMissing, 'm', "canonicalize-missing")
            .with_help("Accept missing parts anywhere"),
        Opt::new(ReadlinkFlag::Logical, 'L', "logical")
            .with_help("Resolve .. by name, before links"),
        Opt::new(ReadlinkFlag::Physical, 'P', "physical")
            .with_help("Resolve links first (default)"),
        Opt::new(ReadlinkFlag::Quiet, 'q', "quiet").with_help("Print no error messages"),
        Opt::long(ReadlinkFlag::RelativeTo, "relative-to")
            .with_argument("DIR", "Print paths relative to DIR"),
        Opt::long(ReadlinkFlag::RelativeBase, "relative-base")
            .with_argument("DIR", "Print paths below DIR relative to it, and other paths absolute"),
        Opt::new(ReadlinkFlag::Strip, 's', "strip").with_help("Keep symbolic links"),
        Opt::long(ReadlinkFlag::NoSymlinks, "no-symlinks").with_help("Keep symbolic links"),
        Opt::new(ReadlinkFlag::Zero, 'z', "zero").with_help(words::NUL_OUT),
    ],
)
.with_examples(&[("realpath --relative-to=DIR FILE", "The way from DIR to FILE")]);

/// Removes `.`, `..` and repeated slashes from an absolute path without looking at the file system.
fn lexical_path(path: &Path) -> PathBuf {
    let mut parts: Vec<&[u8]> = Vec::new();
    for c in to_bytes(path).split(|c| *c == b'/') {
        match c {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    let text = [b"/", parts.join(&b'/').as_slice()].concat();
    PathBuf::from(box_sys::path::os_string(text))
}

/// The way paths are resolved.
struct Resolver {
    missing: MissingComponents,
    /// Whether symbolic links are kept.
    literal: bool,
    /// Whether `..` is resolved before symbolic links.
    logical: bool,
}

impl Resolver {
    fn resolve(&self, ctx: &Ctx<'_>, file: &[u8]) -> io::Result<PathBuf> {
        if file.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let path = ctx.path(file);
        if !self.literal {
            let path = if self.logical { lexical_path(&path) } else { path };
            return canonical_path(&path, self.missing);
        }
        if self.missing != MissingComponents::All {
            canonical_path(&path, self.missing)?;
        }
        Ok(lexical_path(&path))
    }
}

/// The directory at which relative paths begin (`--relative-to`), and the directory below which
/// paths are shown as relative (`--relative-base`).
struct RelativeRoot {
    to: Option<PathBuf>,
    base: Option<PathBuf>,
}

impl RelativeRoot {
    fn from_options(
        ctx: &mut Ctx<'_>,
        p: &ParsedOptions<ReadlinkFlag>,
        resolver: &Resolver,
    ) -> Result<RelativeRoot, Exit> {
        let mut directory = |flag: ReadlinkFlag| match p.last_value(flag) {
            None => Ok(None),
            Some(d) => match resolver.resolve(ctx, d) {
                Ok(path) => Ok(Some(path)),
                Err(e) => Err(input::file_error(ctx, d, &e)),
            },
        };
        let to = directory(ReadlinkFlag::RelativeTo)?;
        let base = directory(ReadlinkFlag::RelativeBase)?;
        // Paths are relative only if the start is in or below the base.
        let to = match (to, &base) {
            (Some(to), Some(base)) => Some(to).filter(|to| to.starts_with(base)),
            (to, base) => to.or(base.clone()),
        };
        Ok(RelativeRoot { to, base })
    }

    fn show_path(&self, full: &Path) -> Vec<u8> {
        let inside = self.base.as_ref().is_none_or(|base| full.starts_with(base));
        match &self.to {
            Some(to) if inside => relative_path(full, to),
            _ => to_bytes(full).to_vec(),
        }
    }
}

pub(crate) fn run_realpath(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = REALPATH.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.is_empty() {
        return Ok(input::missing_operand(ctx, None));
    }
    let missing = p.last_choice(&[
        (ReadlinkFlag::CanonicalizeExisting, MissingComponents::None),
        (ReadlinkFlag::CanonicalizeMissing, MissingComponents::All),
    ]);
    let links = [
        (ReadlinkFlag::Strip, true),
        (ReadlinkFlag::NoSymlinks, true),
        (ReadlinkFlag::Physical, false),
    ];
    let resolver = Resolver {
        missing: missing.unwrap_or(MissingComponents::Last),
        literal: p.last_choice(&links).unwrap_or(false),
        logical: p.last_of(&[ReadlinkFlag::Logical, ReadlinkFlag::Physical])
            == Some(ReadlinkFlag::Logical),
    };
    let start = RelativeRoot::from_options(ctx, &p, &resolver)?;
    let mut exit = Exit::SUCCESS;
    for file in &p.operands {
        match resolver.resolve(ctx, file) {
            Ok(full) => {
                let mut line = start.show_path(&full);
                line.push(if p.has_option(ReadlinkFlag::Zero) { 0 } else { b'\n' });
                if ctx.stdout.write_all(&line).is_err() {
                    return Ok(Exit::FAILURE);
                }
            }
            Err(e) => {
                exit = Exit::FAILURE;
                if !p.has_option(ReadlinkFlag::Quiet) {
                    let shown = if file.is_empty() {
                        b"''".to_vec()
                    } else {
                        quote::quote_with_colon(file)
                    };
                    ctx.error_bytes(&[&shown, b": ", box_sys::error_text(&e).as_bytes()]);
                }
            }
        }
    }
    Ok(exit)
}
