//! `ln` (POSIX XCU ln; GNU `-b -d -f -i -n -r -s -t -T -v`).

use std::io::{self, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, meta};

use crate::common::{input, paths, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [-T] TARGET LINK_NAME\n  or:  ln [OPTION]... TARGET\n  or:  ln [OPTION]... TARGET... DIRECTORY\n  or:  ln [OPTION]... -t DIRECTORY TARGET...",
    about: "Create hard links by default, symbolic links with --symbolic.",
    options: &[
        Opt::optional(
            '\u{1}',
            "backup",
            "CONTROL",
            "make a backup of each existing destination file",
        )
        .long_only(),
        Opt::flag('b', "", "like --backup but does not accept an argument"),
        Opt::flag('d', "directory", "allow the superuser to attempt to hard link directories"),
        Opt::flag('F', "", "the same as -d"),
        Opt::flag('f', "force", "remove existing destination files"),
        Opt::flag('i', "interactive", "prompt whether to remove destinations"),
        Opt::flag('L', "logical", "dereference TARGETs that are symbolic links"),
        Opt::flag(
            'n',
            "no-dereference",
            "treat LINK_NAME as a normal file if it is a symbolic link to a directory",
        ),
        Opt::flag('P', "physical", "make hard links directly to symbolic links"),
        Opt::flag('r', "relative", "with -s, create links relative to link location"),
        Opt::flag('s', "symbolic", "make symbolic links instead of hard links"),
        Opt::value('S', "suffix", "SUFFIX", "override the usual backup suffix"),
        Opt::value(
            't',
            "target-directory",
            "DIRECTORY",
            "specify the DIRECTORY in which to create the links",
        ),
        Opt::flag('T', "no-target-directory", "treat LINK_NAME as a normal file always"),
        Opt::flag('v', "verbose", "print name of each linked file"),
    ],
    after: "",
    posix_order: false,
};

struct Options {
    symbolic: bool,
    relative: bool,
    force: bool,
    interactive: bool,
    verbose: bool,
    follow: bool,
    backup: paths::Backup,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let control = if p.has('\u{1}') { Some(p.last('\u{1}')) } else { p.has('b').then_some(None) };
    let backup = match paths::Backup::new(control, p.last('S'), &ctx.env) {
        Ok(b) => b,
        Err(word) => {
            input::usage_error(
                ctx,
                &[b"invalid argument ", &quote::always(&word), b" for 'backup type'"],
            );
            return Exit::FAILURE;
        }
    };
    let last = p.last_of(&['f', 'i']);
    let o = Options {
        symbolic: p.has('s'),
        relative: p.has('r'),
        force: last == Some('f'),
        interactive: last == Some('i'),
        verbose: p.has('v'),
        follow: p.last_of(&['L', 'P']) == Some('L'),
        backup,
    };
    if o.relative && !o.symbolic {
        ctx.error("cannot do --relative without --symbolic");
        return Exit::FAILURE;
    }
    let is_dir = |ctx: &Ctx<'_>, name: &[u8]| {
        let path = ctx.path(name);
        let link = p.has('n') && meta::stat(&path, false).is_ok_and(|s| s.kind == Kind::Symlink);
        !link && meta::stat(&path, true).is_ok_and(|s| s.kind == Kind::Dir)
    };
    let ops = &p.operands;
    let (targets, dir, name): (&[Vec<u8>], Option<Vec<u8>>, Option<Vec<u8>>) =
        match (p.last('t'), ops.as_slice()) {
            (_, []) => {
                input::usage_error(ctx, &[b"missing file operand"]);
                return Exit::FAILURE;
            }
            (Some(_), _) if p.has('T') => {
                ctx.error("cannot combine --target-directory and --no-target-directory");
                return Exit::FAILURE;
            }
            (Some(dir), all) => {
                if !is_dir(ctx, dir) {
                    let e = meta::stat(&ctx.path(dir), true).err().unwrap_or_else(|| {
                        io::Error::from_raw_os_error(box_sys::errno::code::ENOTDIR)
                    });
                    input::cannot(ctx, "target directory", dir, &e);
                    return Exit::FAILURE;
                }
                (all, Some(dir.to_vec()), None)
            }
            (None, [one]) if p.has('T') => {
                input::usage_error(
                    ctx,
                    &[b"missing destination file operand after ", &quote::always(one)],
                );
                return Exit::FAILURE;
            }
            (None, [_]) => (ops, Some(b".".to_vec()), None),
            (None, [_, name]) if p.has('T') || !is_dir(ctx, name) => {
                (&ops[..1], None, Some(name.clone()))
            }
            (None, [_, _, extra, ..]) if p.has('T') => {
                input::extra_operand(ctx, extra);
                return Exit::FAILURE;
            }
            (None, [targets @ .., dir]) => {
                if !is_dir(ctx, dir) {
                    ctx.error_bytes(&[b"target ", &quote::always(dir), b" is not a directory"]);
                    return Exit::FAILURE;
                }
                (targets, Some(dir.clone()), None)
            }
        };
    let mut ok = true;
    let mut made: Vec<Vec<u8>> = Vec::new();
    for target in targets {
        let link = match (&dir, &name) {
            (Some(d), _) => {
                let base = paths::base_name(target);
                if d == b"." { base.to_vec() } else { paths::join(d, base) }
            }
            (None, n) => n.clone().unwrap_or_default(),
        };
        if made.contains(&link) && !o.symbolic {
            let shown = quote::always(&link);
            ctx.error_bytes(&[
                b"will not overwrite just-created ",
                &shown,
                b" with ",
                &quote::always(target),
            ]);
            ok = false;
            continue;
        }
        match one(ctx, target, &link, &o) {
            Ok(true) => made.push(link),
            Ok(false) => {}
            Err(None) => ok = false,
            Err(Some(e)) => {
                let what = if o.symbolic { "symbolic" } else { "hard" };
                let shown = quote::always(&link);
                let mut parts = [b"failed to create ", what.as_bytes(), b" link ", &shown].concat();
                // Which of the two is to blame is clear when the link's name is taken.
                if !o.symbolic && e.kind() != io::ErrorKind::AlreadyExists {
                    parts.extend_from_slice(&[b" => ", quote::always(target).as_slice()].concat());
                }
                ctx.error_bytes(&[&parts, b": ", box_sys::strerror(&e).as_bytes()]);
                ok = false;
            }
        }
    }
    if ok { Exit::SUCCESS } else { Exit::FAILURE }
}

/// Makes one link; `Ok(false)` if the user declined, `Err(None)` if a message was given.
fn one(
    ctx: &mut Ctx<'_>,
    target: &[u8],
    link: &[u8],
    o: &Options,
) -> Result<bool, Option<io::Error>> {
    let link_path = ctx.path(link);
    if !o.symbolic {
        let s = match meta::stat(&ctx.path(target), o.follow) {
            Ok(s) => s,
            Err(e) => {
                input::cannot(ctx, "failed to access", target, &e);
                return Err(None);
            }
        };
        if s.kind == Kind::Dir {
            ctx.error_bytes(&[&quote::colon(target), b": hard link not allowed for directory"]);
            return Err(None);
        }
    }
    if let Ok(old) = meta::stat(&link_path, false) {
        if old.kind == Kind::Dir && (o.force || o.interactive) {
            ctx.error_bytes(&[&quote::colon(link), b": cannot overwrite directory"]);
            return Err(None);
        }
        if o.interactive {
            let q = [b"replace ", quote::always(link).as_slice(), b"?"].concat();
            if !paths::confirm(ctx, &q) {
                return Ok(false);
            }
        }
        let backed = o.backup.make(ctx, link).map_err(Some)?;
        if backed.is_none() && (o.force || o.interactive) {
            let same = meta::stat(&ctx.path(target), false).is_ok_and(|t| paths::same(&t, &old));
            if !o.symbolic && same {
                if ctx.path(target) == link_path {
                    let (t, l) = (quote::always(target), quote::always(link));
                    ctx.error_bytes(&[&t, b" and ", &l, b" are the same file"]);
                    return Err(None);
                }
                return Ok(true);
            }
            std::fs::remove_file(&link_path).map_err(Some)?;
        }
    }
    if o.symbolic {
        let text = if o.relative {
            relative_target(ctx, target, link).map_err(Some)?
        } else {
            target.to_vec()
        };
        if text.is_empty() {
            return Err(Some(io::ErrorKind::NotFound.into()));
        }
        meta::symlink(&text, &link_path).map_err(Some)?;
    } else if o.follow {
        let real = paths::canonical(&ctx.path(target), paths::Missing::None).map_err(Some)?;
        std::fs::hard_link(real, &link_path).map_err(Some)?;
    } else {
        std::fs::hard_link(ctx.path(target), &link_path).map_err(Some)?;
    }
    if o.verbose {
        let arrow: &[u8] = if o.symbolic { b" -> " } else { b" => " };
        let line = [&quote::always(link), arrow, &quote::always(target), b"\n"].concat();
        let _ = ctx.stdout.write_all(&line);
    }
    Ok(true)
}

/// The target as seen from the link's directory (`-r`).
fn relative_target(ctx: &Ctx<'_>, target: &[u8], link: &[u8]) -> io::Result<Vec<u8>> {
    let dir = paths::canonical(&ctx.path(paths::dir_name(link)), paths::Missing::All)?;
    let to = paths::canonical(&ctx.path(target), paths::Missing::All)?;
    Ok(paths::relative(&to, &dir))
}
