//! `ln` (POSIX XCU ln; GNU `-b -d -f -i -n -r -s -t -T -v`).

use std::io::{self, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{FileKind, Stat, meta};

use crate::common::paths::{self, Backup};
use crate::common::{input, quote};

/// An option of `ln`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LnFlag {
    Backup,
    Directory,
    Force,
    Interactive,
    Logical,
    NoDereference,
    NoTargetDirectory,
    Physical,
    PlainBackup,
    Relative,
    Suffix,
    Symbolic,
    TargetDirectory,
    Verbose,
}

const SPEC: Spec<LnFlag> = Spec::new(
    "[OPTION]... TARGET [LINK]\n[OPTION]... TARGET... DIRECTORY\n[OPTION]... -t \
        DIRECTORY TARGET...",
    "Make links: hard ones, or symbolic ones with -s.",
    &[
        Opt::long(LnFlag::Backup, "backup").may_take("CONTROL", words::BACKUP),
        Opt::new(LnFlag::PlainBackup, 'b', "").with_help(words::BACKUP_PLAIN),
        Opt::new(LnFlag::Directory, 'd', "directory")
            .with_help("Try to make hard links to directories"),
        Opt::new(LnFlag::Directory, 'F', "").with_help(words::SAME),
        Opt::new(LnFlag::Force, 'f', "force").with_help("Replace a file that has the link's name"),
        Opt::new(LnFlag::Interactive, 'i', "interactive").with_help("Ask before replacing a file"),
        Opt::new(LnFlag::Logical, 'L', "logical")
            .with_help("Link to what a symbolic TARGET points to"),
        Opt::new(LnFlag::NoDereference, 'n', "no-dereference")
            .with_help("Replace LINK itself if it points to a directory"),
        Opt::new(LnFlag::Physical, 'P', "physical")
            .with_help("Make hard links to symbolic links themselves"),
        Opt::new(LnFlag::Relative, 'r', "relative")
            .with_help("With -s: write TARGET as a path relative to the link"),
        Opt::new(LnFlag::Symbolic, 's', "symbolic").with_help("Make symbolic links"),
        Opt::new(LnFlag::Suffix, 'S', "suffix").with_argument("SUFFIX", words::SUFFIX),
        Opt::new(LnFlag::TargetDirectory, 't', "target-directory")
            .with_argument("DIRECTORY", "Make the links in DIRECTORY"),
        Opt::new(LnFlag::NoTargetDirectory, 'T', "no-target-directory")
            .with_help(words::NO_TARGET_DIRECTORY),
        Opt::new(LnFlag::Verbose, 'v', "verbose").with_help("Print each link that is made"),
    ],
)
.with_examples(&[
    ("ln -s TARGET NAME", "Make a symbolic link"),
    ("ln -sfn TARGET NAME", "Point an existing link elsewhere"),
]);

struct LnOptions {
    symbolic: bool,
    relative: bool,
    force: bool,
    interactive: bool,
    verbose: bool,
    follow: bool,
    backup: Backup,
}

/// The rule for the names of the links.
enum LinkNames {
    /// Like their targets, in this directory.
    In(Vec<u8>),
    Named(Vec<u8>),
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let o = parse_options(ctx, &p)?;
    let (targets, links) = parse_operands(ctx, &p)?;
    let mut ok = true;
    let mut made: Vec<Vec<u8>> = Vec::new();
    for target in targets {
        let link = match &links {
            LinkNames::In(d) if d == b"." => paths::base_name(target).to_vec(),
            LinkNames::In(d) => paths::join_path(d, paths::base_name(target)),
            LinkNames::Named(name) => name.clone(),
        };
        if made.contains(&link) && !o.symbolic {
            let (link, target) =
                (quote::quote_in_sentence(&link), quote::quote_in_sentence(target));
            ctx.error_bytes(&[b"will not overwrite just-created ", &link, b" with ", &target]);
            ok = false;
            continue;
        }
        match make_link_or_ask(ctx, target, &link, &o) {
            Ok(true) => made.push(link),
            Ok(false) => {}
            Err(None) => ok = false,
            Err(Some(e)) => {
                report_failure(ctx, target, &link, &o, &e);
                ok = false;
            }
        }
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

fn parse_options(ctx: &mut Ctx<'_>, p: &ParsedOptions<LnFlag>) -> Result<LnOptions, Exit> {
    let backup =
        Backup::from_options(ctx, p, [LnFlag::Backup, LnFlag::PlainBackup, LnFlag::Suffix])?;
    let last = p.last_of(&[LnFlag::Force, LnFlag::Interactive]);
    let options = LnOptions {
        symbolic: p.has_option(LnFlag::Symbolic),
        relative: p.has_option(LnFlag::Relative),
        force: last == Some(LnFlag::Force),
        interactive: last == Some(LnFlag::Interactive),
        verbose: p.has_option(LnFlag::Verbose),
        follow: p.last_of(&[LnFlag::Logical, LnFlag::Physical]) == Some(LnFlag::Logical),
        backup,
    };
    if options.relative && !options.symbolic {
        return Err(input::report_failure(ctx, &[b"cannot do --relative without --symbolic"]));
    }
    Ok(options)
}

/// Returns the targets, and the rule for the names of the links.
fn parse_operands<'p>(
    ctx: &mut Ctx<'_>,
    p: &'p ParsedOptions<LnFlag>,
) -> Result<(&'p [Vec<u8>], LinkNames), Exit> {
    let is_dir = |ctx: &Ctx<'_>, name: &[u8]| {
        let path = ctx.path(name);
        let link = p.has_option(LnFlag::NoDereference)
            && meta::stat(&path, false).is_ok_and(|s| s.kind == FileKind::Symlink);
        !link && meta::stat(&path, true).is_ok_and(|s| s.kind == FileKind::Dir)
    };
    let no_dir = p.has_option(LnFlag::NoTargetDirectory);
    Ok(match (p.last_value(LnFlag::TargetDirectory), p.operands.as_slice()) {
        (_, []) => return Err(input::usage_error(ctx, &[b"missing file operand"])),
        (Some(_), _) if no_dir => {
            let text = b"cannot combine --target-directory and --no-target-directory";
            return Err(input::report_failure(ctx, &[text]));
        }
        (Some(dir), all) => {
            if !is_dir(ctx, dir) {
                let not_dir = || io::Error::from_raw_os_error(box_sys::errno::code::ENOTDIR);
                let e = meta::stat(&ctx.path(dir), true).err().unwrap_or_else(not_dir);
                return Err(input::report_cannot(ctx, "target directory", dir, &e));
            }
            (all, LinkNames::In(dir.to_vec()))
        }
        (None, [one]) if no_dir => {
            let what = b"missing destination file operand after ";
            return Err(input::usage_error(ctx, &[what, &quote::quote_in_sentence(one)]));
        }
        (None, all @ [_]) => (all, LinkNames::In(b".".to_vec())),
        (None, [target, name]) if no_dir || !is_dir(ctx, name) => {
            (std::slice::from_ref(target), LinkNames::Named(name.clone()))
        }
        (None, [_, _, extra, ..]) if no_dir => return Err(input::extra_operand(ctx, extra)),
        (None, [targets @ .., dir]) => {
            if !is_dir(ctx, dir) {
                let shown = quote::quote_in_sentence(dir);
                return Err(input::report_failure(
                    ctx,
                    &[b"target ", &shown, b" is not a directory"],
                ));
            }
            (targets, LinkNames::In(dir.clone()))
        }
    })
}

fn report_failure(ctx: &mut Ctx<'_>, target: &[u8], link: &[u8], o: &LnOptions, e: &io::Error) {
    let what = if o.symbolic { "symbolic" } else { "hard" };
    let mut text =
        [b"failed to create ", what.as_bytes(), b" link ", &quote::quote_in_sentence(link)]
            .concat();
    // The operand that causes the error is known only if the link's name exists.
    if !o.symbolic && e.kind() != io::ErrorKind::AlreadyExists {
        text.extend_from_slice(&[b" => ", &*quote::quote_in_sentence(target)].concat());
    }
    ctx.error_bytes(&[&text, b": ", box_sys::error_text(e).as_bytes()]);
}

/// Makes one link; `Ok(false)` means that the user declined, `Err(None)` that a message was
/// printed.
fn make_link_or_ask(
    ctx: &mut Ctx<'_>,
    target: &[u8],
    link: &[u8],
    o: &LnOptions,
) -> Result<bool, Option<io::Error>> {
    if !o.symbolic {
        let stat = meta::stat(&ctx.path(target), o.follow).map_err(|e| {
            input::report_cannot(ctx, "failed to access", target, &e);
            None
        })?;
        if stat.kind == FileKind::Dir {
            ctx.error_bytes(&[
                &quote::quote_with_colon(target),
                b": hard link not allowed for directory",
            ]);
            return Err(None);
        }
    }
    if let Ok(old) = meta::stat(&ctx.path(link), false)
        && let Some(done) = make_way(ctx, target, link, &old, o)?
    {
        return Ok(done);
    }
    make_link(ctx, target, link, o).map_err(Some)?;
    if o.verbose {
        let arrow: &[u8] = if o.symbolic { b" -> " } else { b" => " };
        let line =
            [&quote::quote_in_sentence(link), arrow, &quote::quote_in_sentence(target), b"\n"]
                .concat();
        let _ = ctx.stdout.write_all(&line);
    }
    Ok(true)
}

/// Removes or keeps the file that has the link's name; returns a result if there is nothing left to
/// do.
fn make_way(
    ctx: &mut Ctx<'_>,
    target: &[u8],
    link: &[u8],
    old: &Stat,
    o: &LnOptions,
) -> Result<Option<bool>, Option<io::Error>> {
    let replaces = o.force || o.interactive;
    if old.kind == FileKind::Dir && replaces {
        ctx.error_bytes(&[&quote::quote_with_colon(link), b": cannot overwrite directory"]);
        return Err(None);
    }
    if o.interactive {
        let question = [b"replace ", &*quote::quote_in_sentence(link), b"?"].concat();
        if !paths::confirm_question(ctx, &question) {
            return Ok(Some(false));
        }
    }
    let backed = o.backup.make(ctx, link).map_err(Some)?;
    if backed.is_some() || !replaces {
        return Ok(None);
    }
    let same = meta::stat(&ctx.path(target), false).is_ok_and(|t| paths::is_same_file(&t, old));
    if !o.symbolic && same {
        if ctx.path(target) == ctx.path(link) {
            let (t, l) = (quote::quote_in_sentence(target), quote::quote_in_sentence(link));
            ctx.error_bytes(&[&t, b" and ", &l, b" are the same file"]);
            return Err(None);
        }
        return Ok(Some(true));
    }
    std::fs::remove_file(ctx.path(link)).map_err(Some)?;
    Ok(None)
}

fn make_link(ctx: &Ctx<'_>, target: &[u8], link: &[u8], o: &LnOptions) -> io::Result<()> {
    let path = ctx.path(link);
    if o.symbolic {
        let text = if o.relative { relative_target(ctx, target, link)? } else { target.to_vec() };
        if text.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        return meta::symlink(&text, &path);
    }
    let mut target = ctx.path(target);
    if o.follow {
        target = paths::canonical_path(&target, paths::MissingComponents::None)?;
    }
    std::fs::hard_link(target, &path)
}

/// Returns the target relative to the link's directory (`-r`).
fn relative_target(ctx: &Ctx<'_>, target: &[u8], link: &[u8]) -> io::Result<Vec<u8>> {
    let dir =
        paths::canonical_path(&ctx.path(paths::dir_name(link)), paths::MissingComponents::All)?;
    let to = paths::canonical_path(&ctx.path(target), paths::MissingComponents::All)?;
    Ok(paths::relative_path(&to, &dir))
}
