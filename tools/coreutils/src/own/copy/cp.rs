//! `cp` (POSIX XCU cp; GNU).

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};

use super::engine::{Copier, CopyFollow, CopyMethod, CopyPlan, ExistingPolicy};
use super::targets::{self, Destination};
use crate::common::paths::{self, Backup};
use crate::common::{input, quote};

/// What may be asked for.
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
    "[OPTION]... [-T] SOURCE DEST\n  or:  cp [OPTION]... SOURCE... DIRECTORY\n  or:  cp [OPTION]... -t DIRECTORY SOURCE...",
    "Copy SOURCE to DEST, or multiple SOURCE(s) to DIRECTORY.",
    &[
        Opt::new(CpFlag::Archive, 'a', "archive").says("same as -dR --preserve=all"),
        Opt::long(CpFlag::AttributesOnly, "attributes-only").says("don't copy the file data, just the attributes"),
        Opt::long(CpFlag::Backup, "backup").may_take("CONTROL", "make a backup of each existing destination file"),
        Opt::new(CpFlag::PlainBackup, 'b', "").says("like --backup but does not accept an argument"),
        Opt::long(CpFlag::CopyContents, "copy-contents").says("copy contents of special files when recursive"),
        Opt::new(CpFlag::NoDereferenceLinks, 'd', "").says("same as --no-dereference --preserve=links"),
        Opt::new(CpFlag::Force, 'f', "force").says("if an existing destination file cannot be opened,\nremove it and try again"),
        Opt::new(CpFlag::Interactive, 'i', "interactive").says("prompt before overwrite (overrides a previous -n)"),
        Opt::new(CpFlag::LinksOfOperands, 'H', "").says("follow command-line symbolic links in SOURCE"),
        Opt::new(CpFlag::Link, 'l', "link").says("hard link files instead of copying"),
        Opt::new(CpFlag::Dereference, 'L', "dereference").says("always follow symbolic links in SOURCE"),
        Opt::new(CpFlag::NoClobber, 'n', "no-clobber").says("do not overwrite an existing file (overrides a\nprevious -i)"),
        Opt::new(CpFlag::NoDereference, 'P', "no-dereference").says("never follow symbolic links in SOURCE"),
        Opt::new(CpFlag::PreservePlain, 'p', "").says("same as --preserve=mode,ownership,timestamps"),
        Opt::long(CpFlag::Preserve, "preserve").may_take("ATTR_LIST", "preserve the specified attributes: mode, ownership,\ntimestamps, links, context, xattr, all"),
        Opt::long(CpFlag::NoPreserve, "no-preserve").takes("ATTR_LIST", "don't preserve the specified attributes"),
        Opt::long(CpFlag::Parents, "parents").says("use full source file name under DIRECTORY"),
        Opt::new(CpFlag::Recursive, 'R', "recursive").says("copy directories recursively"),
        Opt::new(CpFlag::Recursive, 'r', "").says("the same"),
        Opt::long(CpFlag::Reflink, "reflink").may_take("WHEN", "(ignored)"),
        Opt::long(CpFlag::RemoveDestination, "remove-destination").says("remove each existing destination file before\nattempting to open it"),
        Opt::long(CpFlag::Sparse, "sparse").takes("WHEN", "(ignored)"),
        Opt::long(CpFlag::StripTrailingSlashes, "strip-trailing-slashes").says("remove any trailing slashes from each SOURCE"),
        Opt::new(CpFlag::SymbolicLink, 's', "symbolic-link").says("make symbolic links instead of copying"),
        Opt::new(CpFlag::Suffix, 'S', "suffix").takes("SUFFIX", "override the usual backup suffix"),
        Opt::new(CpFlag::TargetDirectory, 't', "target-directory").takes("DIRECTORY", "copy all SOURCE arguments into DIRECTORY"),
        Opt::new(CpFlag::NoTargetDirectory, 'T', "no-target-directory").says("treat DEST as a normal file"),
        Opt::new(CpFlag::Update, 'u', "update").says("copy only when the SOURCE file is newer than the\ndestination file or when the destination is missing"),
        Opt::new(CpFlag::Verbose, 'v', "verbose").says("explain what is being done"),
        Opt::new(CpFlag::OneFileSystem, 'x', "one-file-system").says("stay on this file system"),
        Opt::new(CpFlag::Ignored, 'Z', "").says("(ignored)"),
        Opt::long(CpFlag::Context, "context").may_take("CTX", "(ignored)"),
    ],
);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let plan = plan(ctx, &p)?;
    let (dir, no_dir) = (p.last(CpFlag::TargetDirectory), p.has(CpFlag::NoTargetDirectory));
    let (mut sources, destination) = targets::split(ctx, &p.operands, dir, no_dir)?;
    if p.has(CpFlag::StripTrailingSlashes) {
        sources.iter_mut().for_each(|s| *s = paths::strip_slashes(s).to_vec());
    }
    let mut copier = Copier::new(&plan);
    let mut ok = true;
    for source in &sources {
        let to = match &destination {
            Destination::Directory(d) if p.has(CpFlag::Parents) => {
                make_parents(ctx, d, source, &plan)
            }
            Destination::File(_) if p.has(CpFlag::Parents) => {
                let text = b"with --parents, the destination must be a directory";
                return Err(input::usage_error(ctx, &[text]));
            }
            d => Some(d.of(source)),
        };
        // `cp -f a a` with a backup: the backup is the copy.
        ok &= to.is_some_and(|to| copier.operand(ctx, source, &to));
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

fn plan(ctx: &mut Ctx<'_>, p: &ParsedOptions<CpFlag>) -> Result<CopyPlan, Exit> {
    let backup = Backup::of(ctx, p, [CpFlag::Backup, CpFlag::PlainBackup, CpFlag::Suffix])?;
    let recursive = p.has(CpFlag::Recursive) || p.has(CpFlag::Archive);
    let mut plan = CopyPlan {
        recursive,
        force: p.has(CpFlag::Force),
        remove_destination: p.has(CpFlag::RemoveDestination),
        update: p.has(CpFlag::Update),
        verbose: p.has(CpFlag::Verbose),
        one_file_system: p.has(CpFlag::OneFileSystem),
        copy_contents: p.has(CpFlag::CopyContents),
        ..CopyPlan::new(backup)
    };
    for (flag, value) in &p.options {
        match (flag, value) {
            (CpFlag::Archive, _) => {
                preserve(&mut plan, b"all", true);
            }
            (CpFlag::NoDereferenceLinks, _) => plan.preserve_links = true,
            (CpFlag::PreservePlain, _) | (CpFlag::Preserve, None) => {
                preserve(&mut plan, b"mode", true);
                preserve(&mut plan, b"ownership", true);
                preserve(&mut plan, b"timestamps", true);
            }
            (CpFlag::Preserve, Some(list)) => attributes(ctx, &mut plan, list, true)?,
            (CpFlag::NoPreserve, list) => {
                attributes(ctx, &mut plan, list.as_deref().unwrap_or_default(), false)?;
            }
            (CpFlag::Interactive, _) => plan.existing = ExistingPolicy::Ask,
            (CpFlag::NoClobber, _) => plan.existing = ExistingPolicy::Keep,
            (CpFlag::Link, _) => plan.how = CopyMethod::HardLink,
            (CpFlag::SymbolicLink, _) => plan.how = CopyMethod::SymbolicLink,
            (CpFlag::AttributesOnly, _) => plan.how = CopyMethod::Attributes,
            _ => {}
        }
    }
    if p.has(CpFlag::Link) && p.has(CpFlag::SymbolicLink) {
        return Err(input::failure(ctx, &[b"cannot make both hard and symbolic links"]));
    }
    targets::refuse_kept_backup(ctx, plan.existing, &plan.backup)?;
    let follow = p.choice(&[
        (CpFlag::Archive, CopyFollow::Never),
        (CpFlag::NoDereferenceLinks, CopyFollow::Never),
        (CpFlag::NoDereference, CopyFollow::Never),
        (CpFlag::Dereference, CopyFollow::Always),
        (CpFlag::LinksOfOperands, CopyFollow::Operands),
    ]);
    let by_default = match recursive || plan.how == CopyMethod::HardLink {
        true => CopyFollow::Never,
        false => CopyFollow::Always,
    };
    plan.follow = follow.unwrap_or(by_default);
    Ok(plan)
}

/// A list of attributes to preserve, or not to.
fn attributes(ctx: &mut Ctx<'_>, plan: &mut CopyPlan, list: &[u8], on: bool) -> Result<(), Exit> {
    for word in list.split(|c| *c == b',') {
        if !preserve(plan, word, on) {
            let shown = quote::always(word);
            let option: &[u8] = if on { b"--preserve" } else { b"--no-preserve" };
            let parts: &[&[u8]] = &[b"invalid argument ", &shown, b" for '", option, b"'"];
            return Err(input::usage_error(ctx, parts));
        }
    }
    Ok(())
}

/// Turns an attribute of `--preserve` on or off; false if there is no such.
fn preserve(plan: &mut CopyPlan, word: &[u8], on: bool) -> bool {
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

/// `--parents`: makes the source's directories under the destination.
fn make_parents(ctx: &mut Ctx<'_>, dir: &[u8], source: &[u8], plan: &CopyPlan) -> Option<Vec<u8>> {
    let relative: Vec<u8> =
        paths::strip_slashes(source).iter().copied().skip_while(|c| *c == b'/').collect();
    let parts: Vec<&[u8]> = relative.split(|c| *c == b'/').filter(|c| !c.is_empty()).collect();
    let mut to = dir.to_vec();
    let mut from: Vec<u8> = if source.starts_with(b"/") { b"/".to_vec() } else { Vec::new() };
    for part in parts.iter().take(parts.len().saturating_sub(1)) {
        to = paths::join(&to, part);
        from = paths::join(&from, part);
        let path = ctx.path(&to);
        if box_sys::meta::stat(&path, true).is_ok() {
            continue;
        }
        if let Err(e) = std::fs::create_dir(&path) {
            input::cannot(ctx, "cannot make directory", &to, &e);
            return None;
        }
        if let Ok(s) = box_sys::meta::stat(&ctx.path(&from), true) {
            let _ = box_sys::meta::chmod(&path, s.mode);
        }
        if plan.verbose {
            let line =
                [&quote::colon(&from), b" -> ".as_slice(), &quote::colon(&to), b"\n"].concat();
            let _ = std::io::Write::write_all(&mut ctx.stdout, &line);
        }
    }
    Some(match parts.last() {
        Some(last) => paths::join(&to, last),
        None => to,
    })
}
