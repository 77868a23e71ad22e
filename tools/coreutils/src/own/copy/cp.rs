//! `cp` (POSIX XCU cp; GNU).

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};

use super::engine::{Copier, CopyFollow, CopyMethod, CopyPlan, ExistingPolicy};
use super::targets::{self, Destination};
use crate::common::choice::choice;
use crate::common::paths::{self, Backup};
use crate::common::{input, quote};

/// An option of `cp`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CpFlag {
    Archive,
    AttributesOnly,
    Backup,
    Context,
    CopyContents,
    Dereference,
    Force,
    Ignored,
    Interactive,
    Link,
    LinksOfOperands,
    NoClobber,
    NoDereference,
    NoDereferenceLinks,
    NoPreserve,
    NoTargetDirectory,
    OneFileSystem,
    Parents,
    PlainBackup,
    Preserve,
    PreservePlain,
    Recursive,
    Reflink,
    RemoveDestination,
    Sparse,
    StripTrailingSlashes,
    Suffix,
    SymbolicLink,
    TargetDirectory,
    Update,
    Verbose,
}

const SPEC: Spec<CpFlag> = Spec::new(
    "[OPTION]... SOURCE DEST\n[OPTION]... SOURCE... DIRECTORY\n[OPTION]... -t DIRECTORY \
        SOURCE...",
    "Copy a file to DEST, or files into DIRECTORY.",
    &[
        Opt::new(CpFlag::Archive, 'a', "archive")
            .with_help("Copy trees as they are: -R, -d and --preserve=all"),
        Opt::long(CpFlag::AttributesOnly, "attributes-only")
            .with_help("Copy mode, owner and times, but no contents"),
        Opt::long(CpFlag::Backup, "backup").may_take("CONTROL", words::BACKUP),
        Opt::new(CpFlag::PlainBackup, 'b', "").with_help(words::BACKUP_PLAIN),
        Opt::long(CpFlag::CopyContents, "copy-contents")
            .with_help("With -R: read special files instead of making them again"),
        Opt::new(CpFlag::NoDereferenceLinks, 'd', "")
            .with_help("Keep symbolic links, and hard links among the copies"),
        Opt::new(CpFlag::Force, 'f', "force")
            .with_help("If DEST cannot be written, remove it first"),
        Opt::new(CpFlag::Interactive, 'i', "interactive")
            .with_help("Ask before replacing a file; undoes -n"),
        Opt::new(CpFlag::LinksOfOperands, 'H', "")
            .with_help("Follow symbolic links that are operands"),
        Opt::new(CpFlag::Link, 'l', "link").with_help("Make hard links instead of copies"),
        Opt::new(CpFlag::Dereference, 'L', "dereference").with_help("Follow all symbolic links"),
        Opt::new(CpFlag::NoClobber, 'n', "no-clobber")
            .with_help("Keep files that exist already; undoes -i"),
        Opt::new(CpFlag::NoDereference, 'P', "no-dereference")
            .with_help("Copy symbolic links as links"),
        Opt::new(CpFlag::PreservePlain, 'p', "").with_help("Keep mode, owner and times"),
        Opt::long(CpFlag::Preserve, "preserve").may_take(
            "ATTR_LIST",
            "Keep what the list names: mode, ownership, timestamps, links, xattr, all",
        ),
        Opt::long(CpFlag::NoPreserve, "no-preserve")
            .with_argument("ATTR_LIST", "Do not keep what the list names"),
        Opt::long(CpFlag::Parents, "parents")
            .with_help("Make the whole path of SOURCE below DIRECTORY"),
        Opt::new(CpFlag::Recursive, 'R', "recursive").with_help("Copy directories and all in them"),
        Opt::new(CpFlag::Recursive, 'r', "").with_help(words::SAME),
        Opt::long(CpFlag::Reflink, "reflink").may_take("WHEN", words::IGNORED),
        Opt::long(CpFlag::RemoveDestination, "remove-destination")
            .with_help("Remove DEST before it is opened"),
        Opt::long(CpFlag::Sparse, "sparse").with_argument("WHEN", words::IGNORED),
        Opt::long(CpFlag::StripTrailingSlashes, "strip-trailing-slashes")
            .with_help(words::STRIP_SLASHES),
        Opt::new(CpFlag::SymbolicLink, 's', "symbolic-link")
            .with_help("Make symbolic links instead of copies"),
        Opt::new(CpFlag::Suffix, 'S', "suffix").with_argument("SUFFIX", words::SUFFIX),
        Opt::new(CpFlag::TargetDirectory, 't', "target-directory")
            .with_argument("DIRECTORY", words::TARGET_DIRECTORY),
        Opt::new(CpFlag::NoTargetDirectory, 'T', "no-target-directory")
            .with_help(words::NO_TARGET_DIRECTORY),
        Opt::new(CpFlag::Update, 'u', "update")
            .with_help("Copy only what is missing, or older than SOURCE"),
        Opt::new(CpFlag::Verbose, 'v', "verbose").with_help(words::VERBOSE),
        Opt::new(CpFlag::OneFileSystem, 'x', "one-file-system").with_help(words::ONE_FILE_SYSTEM),
        Opt::new(CpFlag::Ignored, 'Z', "").with_help(words::IGNORED),
        Opt::long(CpFlag::Context, "context").may_take("CTX", words::IGNORED),
    ],
)
.with_examples(&[("cp -a DIR COPY", "Copy a tree with modes, times and links")]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let plan = parse_plan(ctx, &p)?;
    let (dir, no_dir) =
        (p.last_value(CpFlag::TargetDirectory), p.has_option(CpFlag::NoTargetDirectory));
    let (mut sources, destination) = targets::split_operands(ctx, &p.operands, dir, no_dir)?;
    if p.has_option(CpFlag::StripTrailingSlashes) {
        sources.iter_mut().for_each(|s| *s = paths::strip_slashes(s).to_vec());
    }
    let mut copier = Copier::new(&plan);
    let mut ok = true;
    for source in &sources {
        let to = match &destination {
            Destination::Directory(d) if p.has_option(CpFlag::Parents) => {
                make_parents(ctx, d, source, &plan)
            }
            Destination::File(_) if p.has_option(CpFlag::Parents) => {
                let text = b"with --parents, the destination must be a directory";
                return Err(input::usage_error(ctx, &[text]));
            }
            d => Some(d.path_for(source)),
        };
        // For `cp -f a a` with a backup, the backup is the copy.
        ok &= to.is_some_and(|to| copier.copy_operand(ctx, source, &to));
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

fn parse_plan(ctx: &mut Ctx<'_>, p: &ParsedOptions<CpFlag>) -> Result<CopyPlan, Exit> {
    let backup =
        Backup::from_options(ctx, p, [CpFlag::Backup, CpFlag::PlainBackup, CpFlag::Suffix])?;
    let recursive = p.has_option(CpFlag::Recursive) || p.has_option(CpFlag::Archive);
    let mut plan = CopyPlan {
        recursive,
        force: p.has_option(CpFlag::Force),
        remove_destination: p.has_option(CpFlag::RemoveDestination),
        update: p.has_option(CpFlag::Update),
        verbose: p.has_option(CpFlag::Verbose),
        one_file_system: p.has_option(CpFlag::OneFileSystem),
        copy_contents: p.has_option(CpFlag::CopyContents),
        ..CopyPlan::new(backup)
    };
    for (flag, value) in &p.options {
        match (flag, value) {
            (CpFlag::Archive, _) => {
                set_preserved(&mut plan, b"all", true);
            }
            (CpFlag::NoDereferenceLinks, _) => plan.preserve_links = true,
            (CpFlag::PreservePlain, _) | (CpFlag::Preserve, None) => {
                set_preserved(&mut plan, b"mode", true);
                set_preserved(&mut plan, b"ownership", true);
                set_preserved(&mut plan, b"timestamps", true);
            }
            (CpFlag::Sparse | CpFlag::Reflink, Some(word)) => check_when(ctx, *flag, word)?,
            (CpFlag::Preserve, Some(list)) => parse_attributes(ctx, &mut plan, list, true)?,
            (CpFlag::NoPreserve, list) => {
                parse_attributes(ctx, &mut plan, list.as_deref().unwrap_or_default(), false)?;
            }
            (CpFlag::Interactive, _) => plan.existing = ExistingPolicy::Ask,
            (CpFlag::NoClobber, _) => plan.existing = ExistingPolicy::Keep,
            (CpFlag::Link, _) => plan.how = CopyMethod::HardLink,
            (CpFlag::SymbolicLink, _) => plan.how = CopyMethod::SymbolicLink,
            (CpFlag::AttributesOnly, _) => plan.how = CopyMethod::Attributes,
            _ => {}
        }
    }
    if p.has_option(CpFlag::Link) && p.has_option(CpFlag::SymbolicLink) {
        return Err(input::report_failure(ctx, &[b"cannot make both hard and symbolic links"]));
    }
    targets::refuse_kept_backup(ctx, plan.existing, &plan.backup)?;
    let follow = p.last_choice(&[
        (CpFlag::Archive, CopyFollow::Never),
        (CpFlag::NoDereferenceLinks, CopyFollow::Never),
        (CpFlag::NoDereference, CopyFollow::Never),
        (CpFlag::Dereference, CopyFollow::Always),
        (CpFlag::LinksOfOperands, CopyFollow::Operands),
    ]);
    let by_default = if recursive || plan.how == CopyMethod::HardLink {
        CopyFollow::Never
    } else {
        CopyFollow::Always
    };
    plan.follow = follow.unwrap_or(by_default);
    Ok(plan)
}

/// Applies a list of attributes that are to be preserved or not.
/// Checks the word of an option that changes nothing here.
fn check_when(ctx: &mut Ctx<'_>, flag: CpFlag, word: &[u8]) -> Result<(), Exit> {
    let (option, words): (_, &[(&str, u8)]) = match flag {
        CpFlag::Sparse => ("--sparse", &[("never", 0), ("auto", 1), ("always", 2)]),
        _ => ("--reflink", &[("auto", 0), ("always", 1), ("never", 2)]),
    };
    choice(words, word, option).map(|_| ()).map_err(|m| input::usage_error(ctx, &[&m]))
}

fn parse_attributes(
    ctx: &mut Ctx<'_>,
    plan: &mut CopyPlan,
    list: &[u8],
    on: bool,
) -> Result<(), Exit> {
    for word in list.split(|c| *c == b',') {
        if !set_preserved(plan, word, on) {
            let shown = quote::quote_in_sentence(word);
            let option: &[u8] = if on { b"--preserve" } else { b"--no-preserve" };
            let parts: &[&[u8]] = &[b"invalid argument ", &shown, b" for '", option, b"'"];
            return Err(input::usage_error(ctx, parts));
        }
    }
    Ok(())
}

/// Turns an attribute of `--preserve` on or off; returns false for an unknown name.
fn set_preserved(plan: &mut CopyPlan, word: &[u8], on: bool) -> bool {
    match word {
        b"mode" => {
            plan.preserve_mode = on;
            plan.default_mode = !on;
        }
        b"ownership" => plan.preserve_owner = on,
        b"timestamps" => plan.preserve_times = on,
        b"links" => plan.preserve_links = on,
        b"context" | b"xattr" => {}
        b"all" => {
            plan.preserve_mode = on;
            plan.default_mode = !on;
            plan.preserve_owner = on;
            plan.preserve_times = on;
            plan.preserve_links = on;
        }
        _ => return false,
    }
    true
}

/// Creates the source's directories below the destination (`--parents`).
fn make_parents(ctx: &mut Ctx<'_>, dir: &[u8], source: &[u8], plan: &CopyPlan) -> Option<Vec<u8>> {
    let relative: Vec<u8> =
        paths::strip_slashes(source).iter().copied().skip_while(|c| *c == b'/').collect();
    let parts: Vec<&[u8]> = relative.split(|c| *c == b'/').filter(|c| !c.is_empty()).collect();
    let mut to = dir.to_vec();
    let mut from: Vec<u8> = if source.starts_with(b"/") { b"/".to_vec() } else { Vec::new() };
    for part in parts.iter().take(parts.len().saturating_sub(1)) {
        to = paths::join_path(&to, part);
        from = paths::join_path(&from, part);
        let path = ctx.path(&to);
        if box_sys::meta::stat(&path, true).is_ok() {
            continue;
        }
        if let Err(e) = std::fs::create_dir(&path) {
            input::report_cannot(ctx, "cannot make directory", &to, &e);
            return None;
        }
        if let Ok(s) = box_sys::meta::stat(&ctx.path(&from), true) {
            let _ = box_sys::meta::chmod(&path, s.mode);
        }
        if plan.verbose {
            let line = [
                &quote::quote_with_colon(&from),
                b" -> ".as_slice(),
                &quote::quote_with_colon(&to),
                b"\n",
            ]
            .concat();
            let _ = std::io::Write::write_all(&mut ctx.stdout, &line);
        }
    }
    Some(match parts.last() {
        Some(last) => paths::join_path(&to, last),
        None => to,
    })
}
