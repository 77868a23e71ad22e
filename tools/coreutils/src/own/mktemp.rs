//! `mktemp` (GNU).

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::meta;

use crate::common::{input, paths, quote};

/// An option of `mktemp`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MktempFlag {
    Directory,
    DryRun,
    InDirectory,
    InTmpdir,
    Quiet,
    Suffix,
    Tmpdir,
}

const SPEC: Spec<MktempFlag> = Spec::new(
    "[OPTION]... [TEMPLATE]",
    "Make an empty file of a new name, and print the name.",
    &[
        Opt::new(MktempFlag::Directory, 'd', "directory").with_help("Make a directory instead"),
        Opt::new(MktempFlag::DryRun, 'u', "dry-run").with_help("Only print a name that is free"),
        Opt::new(MktempFlag::Quiet, 'q', "quiet").with_help("Print no message if it fails"),
        Opt::long(MktempFlag::Suffix, "suffix")
            .with_argument("SUFF", "Add SUFF after the random part"),
        Opt::new(MktempFlag::InDirectory, 'p', "").with_argument("DIR", "Make it in DIR"),
        Opt::long(MktempFlag::Tmpdir, "tmpdir")
            .may_take("DIR", "Make it in DIR, or else in $TMPDIR, or else in /tmp"),
        Opt::new(MktempFlag::InTmpdir, 't', "")
            .with_help("Make it in $TMPDIR, in the directory of -p or in /tmp"),
    ],
)
.with_footer(
    "TEMPLATE has at least three X in a row, which become random characters; it is \
        tmp.XXXXXXXXXX in the temporary directory if none is given.",
)
.with_examples(&[("dir=$(mktemp -d)", "Make a temporary directory")]);

fn random_letters(n: usize) -> Vec<u8> {
    use std::hash::{BuildHasher, Hasher};
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    // The seed of std's hash maps comes from the system's random numbers.
    let state = std::collections::hash_map::RandomState::new();
    let mut out = Vec::with_capacity(n);
    let mut round = 0u64;
    while out.len() < n {
        let mut h = state.build_hasher();
        h.write_u64(round);
        let mut bits = h.finish();
        for _ in 0..8 {
            out.push(LETTERS[(bits % 62) as usize]);
            bits /= 62;
        }
        round += 1;
    }
    out.truncate(n);
    out
}

/// The kind of file to make, and its name template.
struct MktempPlan {
    directory: bool,
    dry_run: bool,
    quiet: bool,
    template: MktempTemplate,
}

/// A name with a given number of random letters.
struct MktempTemplate {
    prefix: Vec<u8>,
    letters: usize,
    suffix: Vec<u8>,
}

impl MktempTemplate {
    fn with_letters(&self, letters: &[u8]) -> Vec<u8> {
        [self.prefix.as_slice(), letters, &self.suffix].concat()
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    parse_plan(ctx, args).map(|plan| make_temporary(ctx, &plan))
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<MktempPlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.len() > 1 {
        return Err(input::usage_error(ctx, &[b"too many templates"]));
    }
    let written = p.operands.first().map_or(&b"tmp.XXXXXXXXXX"[..], Vec::as_slice);
    let refused = |ctx: &mut Ctx<'_>, before: &str, text: &[u8], after: &str| {
        input::report_failure(
            ctx,
            &[before.as_bytes(), &quote::quote_in_sentence(text), after.as_bytes()],
        )
    };
    let mut template = split_template(written, p.last_value(MktempFlag::Suffix))
        .map_err(|(before, text, after)| refused(ctx, before, &text, after))?;
    let in_tmpdir = p.has_option(MktempFlag::InTmpdir);
    if p.operands.is_empty()
        || in_tmpdir
        || p.has_option(MktempFlag::InDirectory)
        || p.has_option(MktempFlag::Tmpdir)
    {
        let after = if in_tmpdir && written.contains(&b'/') {
            Some(", contains directory separator")
        } else {
            written.starts_with(b"/").then_some("; with --tmpdir, it may not be absolute")
        };
        if let Some(after) = after {
            return Err(refused(ctx, "invalid template, ", written, after));
        }
        let variable = ctx.env.get(b"TMPDIR").filter(|d| !d.is_empty());
        let option = p
            .last_value(MktempFlag::InDirectory)
            .or(p.last_value(MktempFlag::Tmpdir))
            .filter(|d| !d.is_empty());
        let dir = if in_tmpdir { variable.or(option) } else { option.or(variable) };
        template.prefix = paths::join_path(dir.unwrap_or(b"/tmp"), &template.prefix);
    }
    Ok(MktempPlan {
        directory: p.has_option(MktempFlag::Directory),
        dry_run: p.has_option(MktempFlag::DryRun),
        quiet: p.has_option(MktempFlag::Quiet),
        template,
    })
}

/// Splits a template into its parts. The error is the message in three pieces, the second of which
/// is the text to quote.
fn split_template(
    written: &[u8],
    suffix: Option<&[u8]>,
) -> Result<MktempTemplate, (&'static str, Vec<u8>, &'static str)> {
    if suffix.is_some() && !written.ends_with(b"X") {
        return Err(("with --suffix, template ", written.to_vec(), " must end in X"));
    }
    let end = written.iter().rposition(|c| *c == b'X').map_or(0, |i| i + 1);
    let (stem, rest) = written.split_at(end);
    let suffix = suffix.unwrap_or(rest).to_vec();
    if suffix.contains(&b'/') {
        return Err(("invalid suffix ", suffix, ", contains directory separator"));
    }
    let letters = stem.iter().rev().take_while(|c| **c == b'X').count();
    if letters < 3 {
        return Err(("too few X's in template ", written.to_vec(), ""));
    }
    Ok(MktempTemplate { prefix: stem[..stem.len() - letters].to_vec(), letters, suffix })
}

/// Creates the file or directory under the first free name, and prints the name.
fn make_temporary(ctx: &mut Ctx<'_>, plan: &MktempPlan) -> Exit {
    let mut last: io::Error = io::ErrorKind::AlreadyExists.into();
    for _ in 0..1000 {
        let name = plan.template.with_letters(&random_letters(plan.template.letters));
        match make_one(&ctx.path(&name), plan) {
            Ok(()) => {
                let _ = ctx.stdout.write_all(&[name.as_slice(), b"\n"].concat());
                return Exit::SUCCESS;
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => {
                last = e;
                break;
            }
        }
    }
    if !plan.quiet {
        let what = if plan.directory {
            "failed to create directory via template"
        } else {
            "failed to create file via template"
        };
        let template = plan.template.with_letters(&vec![b'X'; plan.template.letters]);
        input::report_cannot(ctx, what, &template, &last);
    }
    Exit::FAILURE
}

/// Creates a file or directory that only its owner may use.
fn make_one(path: &Path, plan: &MktempPlan) -> io::Result<()> {
    if plan.dry_run {
        return match meta::stat(path, false) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => Ok(()),
        };
    }
    let mode = if plan.directory {
        std::fs::create_dir(path)?;
        0o700
    } else {
        OpenOptions::new().write(true).create_new(true).open(path)?;
        0o600
    };
    let _ = meta::chmod(path, mode);
    Ok(())
}
