//! `cp` (POSIX XCU cp; GNU).

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};

use super::engine::{Copier, Existing, Follow, How, Plan};
use super::targets::{self, Destination};
use crate::common::paths::{self, Backup};
use crate::common::{input, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [-T] SOURCE DEST\n  or:  cp [OPTION]... SOURCE... DIRECTORY\n  or:  cp [OPTION]... -t DIRECTORY SOURCE...",
    about: "Copy SOURCE to DEST, or multiple SOURCE(s) to DIRECTORY.",
    options: &[
        Opt::flag('a', "archive", "same as -dR --preserve=all"),
        Opt::flag('\u{1}', "attributes-only", "don't copy the file data, just the attributes").long_only(),
        Opt::optional('\u{2}', "backup", "CONTROL", "make a backup of each existing destination file").long_only(),
        Opt::flag('b', "", "like --backup but does not accept an argument"),
        Opt::flag('\u{3}', "copy-contents", "copy contents of special files when recursive").long_only(),
        Opt::flag('d', "", "same as --no-dereference --preserve=links"),
        Opt::flag('f', "force", "if an existing destination file cannot be opened,\nremove it and try again"),
        Opt::flag('i', "interactive", "prompt before overwrite (overrides a previous -n)"),
        Opt::flag('H', "", "follow command-line symbolic links in SOURCE"),
        Opt::flag('l', "link", "hard link files instead of copying"),
        Opt::flag('L', "dereference", "always follow symbolic links in SOURCE"),
        Opt::flag('n', "no-clobber", "do not overwrite an existing file (overrides a\nprevious -i)"),
        Opt::flag('P', "no-dereference", "never follow symbolic links in SOURCE"),
        Opt::flag('p', "", "same as --preserve=mode,ownership,timestamps"),
        Opt::optional('\u{4}', "preserve", "ATTR_LIST", "preserve the specified attributes: mode, ownership,\ntimestamps, links, context, xattr, all").long_only(),
        Opt::value('\u{5}', "no-preserve", "ATTR_LIST", "don't preserve the specified attributes").long_only(),
        Opt::flag('\u{6}', "parents", "use full source file name under DIRECTORY").long_only(),
        Opt::flag('R', "recursive", "copy directories recursively"),
        Opt::flag('r', "", "the same"),
        Opt::optional('\u{7}', "reflink", "WHEN", "(ignored)").long_only(),
        Opt::flag('\u{e}', "remove-destination", "remove each existing destination file before\nattempting to open it").long_only(),
        Opt::value('\u{f}', "sparse", "WHEN", "(ignored)").long_only(),
        Opt::flag('\u{10}', "strip-trailing-slashes", "remove any trailing slashes from each SOURCE").long_only(),
        Opt::flag('s', "symbolic-link", "make symbolic links instead of copying"),
        Opt::value('S', "suffix", "SUFFIX", "override the usual backup suffix"),
        Opt::value('t', "target-directory", "DIRECTORY", "copy all SOURCE arguments into DIRECTORY"),
        Opt::flag('T', "no-target-directory", "treat DEST as a normal file"),
        Opt::flag('u', "update", "copy only when the SOURCE file is newer than the\ndestination file or when the destination is missing"),
        Opt::flag('v', "verbose", "explain what is being done"),
        Opt::flag('x', "one-file-system", "stay on this file system"),
        Opt::flag('Z', "", "(ignored)"),
        Opt::optional('\u{11}', "context", "CTX", "(ignored)").long_only(),
    ],
    after: "",
    posix_order: false,
};

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let control = if p.has('\u{2}') { Some(p.last('\u{2}')) } else { p.has('b').then_some(None) };
    let backup = match Backup::new(control, p.last('S'), &ctx.env) {
        Ok(b) => b,
        Err(word) => {
            input::usage_error(
                ctx,
                &[b"invalid argument ", &quote::always(&word), b" for 'backup type'"],
            );
            return Exit::FAILURE;
        }
    };
    let recursive = p.has('R') || p.has('r') || p.has('a');
    let mut plan = Plan {
        recursive,
        follow: if recursive { Follow::Never } else { Follow::Always },
        preserve_mode: false,
        default_mode: false,
        preserve_owner: false,
        preserve_times: false,
        preserve_links: false,
        existing: Existing::Overwrite,
        force: p.has('f'),
        remove_destination: p.has('\u{e}'),
        update: p.has('u'),
        verbose: p.has('v'),
        backup,
        how: How::Copy,
        one_file_system: p.has('x'),
        moving: false,
        copy_contents: p.has('\u{3}'),
    };
    let mut follow = None;
    for (id, value) in &p.options {
        match id {
            'a' => {
                follow = Some(Follow::Never);
                preserve(&mut plan, b"all", true);
            }
            'd' => {
                follow = Some(Follow::Never);
                plan.preserve_links = true;
            }
            'P' => follow = Some(Follow::Never),
            'L' => follow = Some(Follow::Always),
            'H' => follow = Some(Follow::Operands),
            'p' | '\u{4}' if value.is_none() => {
                preserve(&mut plan, b"mode", true);
                preserve(&mut plan, b"ownership", true);
                preserve(&mut plan, b"timestamps", true);
            }
            '\u{4}' | '\u{5}' => {
                for word in value.as_deref().unwrap_or_default().split(|c| *c == b',') {
                    if !preserve(&mut plan, word, *id == '\u{4}') {
                        let shown = quote::always(word);
                        let name: &[u8] =
                            if *id == '\u{4}' { b"--preserve" } else { b"--no-preserve" };
                        input::usage_error(
                            ctx,
                            &[b"invalid argument ", &shown, b" for '", name, b"'"],
                        );
                        return Exit::FAILURE;
                    }
                }
            }
            'i' => plan.existing = Existing::Ask,
            'n' => plan.existing = Existing::Keep,
            'l' => plan.how = How::HardLink,
            's' => plan.how = How::SymbolicLink,
            '\u{1}' => plan.how = How::Attributes,
            _ => {}
        }
    }
    if p.has('l') && p.has('s') {
        ctx.error("cannot make both hard and symbolic links");
        return Exit::FAILURE;
    }
    if plan.existing == Existing::Keep && plan.backup.kind != paths::BackupKind::None {
        input::usage_error(ctx, &[b"options --backup and --no-clobber are mutually exclusive"]);
        return Exit::FAILURE;
    }
    if let Some(f) = follow {
        plan.follow = f;
    } else if plan.how == How::HardLink {
        plan.follow = Follow::Never;
    }
    let directory = p.last('t').map(<[u8]>::to_vec);
    let (mut sources, destination) =
        match targets::split(ctx, &p.operands, directory.as_deref(), p.has('T')) {
            Ok(x) => x,
            Err(e) => return e,
        };
    if p.has('\u{10}') {
        sources.iter_mut().for_each(|s| *s = paths::strip_slashes(s).to_vec());
    }
    let mut copier = Copier::new(&plan);
    let mut ok = true;
    for source in &sources {
        let to = match &destination {
            Destination::Directory(d) if p.has('\u{6}') => {
                match make_parents(ctx, d, source, &plan) {
                    Some(to) => to,
                    None => {
                        ok = false;
                        continue;
                    }
                }
            }
            Destination::File(_) if p.has('\u{6}') => {
                input::usage_error(ctx, &[b"with --parents, the destination must be a directory"]);
                return Exit::FAILURE;
            }
            d => d.of(source),
        };
        // `cp -f a a` with a backup: the backup is the copy.
        ok &= copier.operand(ctx, source, &to);
    }
    if ok { Exit::SUCCESS } else { Exit::FAILURE }
}

/// Turns an attribute of `--preserve` on or off; false if there is no such.
fn preserve(plan: &mut Plan, word: &[u8], on: bool) -> bool {
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
fn make_parents(ctx: &mut Ctx<'_>, dir: &[u8], source: &[u8], plan: &Plan) -> Option<Vec<u8>> {
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
