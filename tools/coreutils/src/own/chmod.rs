//! `chmod` (POSIX XCU chmod; GNU `-c -f -v -R --reference --preserve-root`).

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, meta};

use crate::common::mode::{self, Mode, umask};
use crate::common::tree::{self, Links, Visit};
use crate::common::{input, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... MODE[,MODE]... FILE...\n  or:  chmod [OPTION]... OCTAL-MODE FILE...\n  or:  chmod [OPTION]... --reference=RFILE FILE...",
    about: "Change the mode of each FILE to MODE.\nWith --reference, change the mode of each FILE to that of RFILE.",
    options: &[
        Opt::flag('c', "changes", "like verbose but report only when a change is made"),
        Opt::flag('f', "silent", "suppress most error messages"),
        Opt::flag('\u{1}', "quiet", "the same").long_only(),
        Opt::flag('v', "verbose", "output a diagnostic for every file processed"),
        Opt::flag('\u{2}', "no-preserve-root", "do not treat '/' specially (the default)")
            .long_only(),
        Opt::flag('\u{3}', "preserve-root", "fail to operate recursively on '/'").long_only(),
        Opt::value('\u{4}', "reference", "RFILE", "use RFILE's mode instead of MODE values")
            .long_only(),
        Opt::flag('R', "recursive", "change files and directories recursively"),
    ],
    after: "Each MODE is of the form '[ugoa]*([-+=]([rwxXst]*|[ugo]))+|[-+=]?[0-7]+'.",
    posix_order: false,
};

/// `-w` or `-x`, `-rwx` are modes, not options: they are set apart with `--`-like care.
fn split_modes(args: &[Vec<u8>]) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
    let mut rest = Vec::new();
    let mut mode: Option<Vec<u8>> = None;
    let mut ended = false;
    for a in args {
        let is_mode = !ended
            && matches!(a.as_slice(), [b'-', c, ..] if b"rwxXstugoa,=+0123456789".contains(c))
            && a != b"-R";
        if a == b"--" {
            ended = true;
        }
        if is_mode {
            match &mut mode {
                Some(m) => {
                    m.push(b',');
                    m.extend_from_slice(a);
                }
                None => mode = Some(a.clone()),
            }
        } else {
            rest.push(a.clone());
        }
    }
    (rest, mode)
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let (args, dashed) = split_modes(args);
    let p = match SPEC.parse_or_exit(ctx, &args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut files = p.operands.clone();
    let mode = if let Some(reference) = p.last('\u{4}') {
        match meta::stat(&ctx.path(reference), true) {
            Ok(s) => Mode::Octal { bits: s.mode, exact: true },
            Err(e) => {
                input::cannot(ctx, "failed to get attributes of", reference, &e);
                return Exit::FAILURE;
            }
        }
    } else {
        let text = match dashed.clone() {
            Some(m) => m,
            None if files.is_empty() => {
                input::missing_operand(ctx, None);
                return Exit::FAILURE;
            }
            None => files.remove(0),
        };
        if files.is_empty() {
            input::missing_operand(ctx, Some(&text));
            return Exit::FAILURE;
        }
        match mode::parse(&text) {
            Some(m) => m,
            None => {
                input::usage_error(ctx, &[b"invalid mode: ", &quote::always(&text)]);
                return Exit::FAILURE;
            }
        }
    };
    if files.is_empty() {
        input::missing_operand(ctx, None);
        return Exit::FAILURE;
    }
    let quiet = p.has('f') || p.has('\u{1}');
    let (verbose, changes) = (p.has('v'), p.has('c'));
    let recursive = p.has('R');
    let mut ok = true;
    for file in &files {
        if recursive && p.last_of(&['\u{2}', '\u{3}']) == Some('\u{3}') && file == b"/" {
            ctx.error("it is dangerous to operate recursively on '/'");
            ctx.error("use --no-preserve-root to override this failsafe");
            ok = false;
            continue;
        }
        tree::walk(ctx, file, recursive, Links::Operands, &mut |ctx, name, visit| {
            let stat = match visit {
                Visit::Entry(s) => s,
                Visit::Unreadable(e) => {
                    if !quiet {
                        let dangling = meta::stat(&ctx.path(name), false).is_ok();
                        if dangling {
                            let shown = quote::always(name);
                            ctx.error_bytes(&[b"cannot operate on dangling symlink ", &shown]);
                        } else {
                            input::cannot(ctx, "cannot access", name, e);
                        }
                    }
                    ok = false;
                    return;
                }
                Visit::Unlistable(e) => {
                    if !quiet {
                        input::cannot(ctx, "cannot read directory", name, e);
                    }
                    ok = false;
                    return;
                }
            };
            if stat.kind == Kind::Symlink {
                if verbose {
                    let shown = quote::always(name);
                    let line = [
                        b"neither symbolic link ",
                        shown.as_slice(),
                        b" nor referent has been changed\n",
                    ]
                    .concat();
                    let _ = ctx.stdout.write_all(&line);
                }
                return;
            }
            let dir = stat.kind == Kind::Dir;
            let new = mode.apply(stat.mode, dir, umask());
            let result = if new == stat.mode { Ok(()) } else { meta::chmod(&ctx.path(name), new) };
            if let Err(e) = &result {
                if !quiet {
                    input::cannot(ctx, "changing permissions of", name, e);
                }
                ok = false;
            } else if dashed.is_some() {
                // `chmod -w` does not take what the umask protects: GNU says so.
                let naive = mode.apply(stat.mode, dir, 0);
                if naive & !new != new & !naive && new & !naive != 0 {
                    let shown = quote::colon(name);
                    let text = format!(
                        ": new permissions are {}, not {}",
                        mode::letters(new),
                        mode::letters(naive)
                    );
                    ctx.error_bytes(&[&shown, text.as_bytes()]);
                    ok = false;
                }
            }
            let changed = new != stat.mode;
            if verbose || changes && changed {
                let shown = quote::always(name);
                let show = |m: u16| format!("{m:04o} ({})", mode::letters(m));
                let text = match (&result, changed) {
                    (Err(_), _) => format!(
                        "failed to change mode of {{}} from {} to {}",
                        show(stat.mode),
                        show(new)
                    ),
                    (_, true) => {
                        format!("mode of {{}} changed from {} to {}", show(stat.mode), show(new))
                    }
                    (_, false) => format!("mode of {{}} retained as {}", show(stat.mode)),
                };
                let (before, after) = text.split_once("{}").unwrap_or((&text, ""));
                let line = [before.as_bytes(), &shown, after.as_bytes(), b"\n"].concat();
                let _ = ctx.stdout.write_all(&line);
            }
        });
    }
    if ok { Exit::SUCCESS } else { Exit::FAILURE }
}
