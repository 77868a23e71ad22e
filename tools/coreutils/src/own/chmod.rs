//! `chmod` (POSIX XCU chmod; GNU `-c -f -v -R --reference --preserve-root`).

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::meta::umask;
use box_sys::{FileKind, Stat, meta};
use box_text::mode::{self, FileModeChange};

use crate::common::tree::{self, LinkPolicy, Visit};
use crate::common::{input, quote};

/// An option of `chmod`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChmodFlag {
    Changes,
    NoPreserveRoot,
    PreserveRoot,
    Recursive,
    Reference,
    Silent,
    Verbose,
}

const SPEC: Spec<ChmodFlag> = Spec::new(
    "[OPTION]... MODE[,MODE]... FILE...\n[OPTION]... --reference=RFILE FILE...",
    "Change the permissions of each FILE to MODE, or to those of RFILE.",
    &[
        Opt::new(ChmodFlag::Changes, 'c', "changes").with_help(words::CHANGES),
        Opt::new(ChmodFlag::Silent, 'f', "silent").with_help(words::NO_ERRORS),
        Opt::long(ChmodFlag::Silent, "quiet").with_help(words::SAME),
        Opt::new(ChmodFlag::Verbose, 'v', "verbose").with_help(words::VERBOSE),
        Opt::long(ChmodFlag::NoPreserveRoot, "no-preserve-root").with_help(words::NO_PRESERVE_ROOT),
        Opt::long(ChmodFlag::PreserveRoot, "preserve-root").with_help(words::PRESERVE_ROOT),
        Opt::long(ChmodFlag::Reference, "reference")
            .with_argument("RFILE", "Take the mode of RFILE instead of MODE"),
        Opt::new(ChmodFlag::Recursive, 'R', "recursive")
            .with_help("Change directories and all in them"),
    ],
)
.with_examples(&[
    ("chmod +x run.sh", "Let everybody run a script"),
    ("chmod -R u=rwX,go=rX DIR", "Usual permissions for a whole tree"),
])
.with_footer("MODE is octal (755) or [ugoa][-+=][rwxXst], several joined by commas: g-w,o=.");

/// Separates modes such as `-w`, `-x` and `-rwx` from the options, because they look alike.
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

/// The changes to make, and the files to change.
struct ChmodPlan {
    mode: FileModeChange,
    /// Whether the mode looks like an option (`-w`).
    dashed: bool,
    recursive: bool,
    preserve_root: bool,
    quiet: bool,
    verbose: bool,
    changes: bool,
    files: Vec<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    let mut ok = true;
    for file in &plan.files {
        if plan.recursive && plan.preserve_root && file == b"/" {
            tree::refuse_root(ctx, b"'/'", b"");
            ok = false;
            continue;
        }
        tree::walk_tree(
            ctx,
            file,
            plan.recursive,
            LinkPolicy::Operands,
            &mut |ctx, name, visit| {
                ok &= match visit {
                    Visit::Entry(stat) => change_mode(ctx, &plan, name, stat),
                    unseen => cannot_see(ctx, &plan, name, &unseen),
                };
            },
        );
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<ChmodPlan, Exit> {
    let (args, dashed) = split_modes(args);
    let mut p = SPEC.parse_or_exit(ctx, &args, Exit::FAILURE)?;
    let is_dashed = dashed.is_some();
    let mode = match p.last_value(ChmodFlag::Reference) {
        Some(reference) => match meta::stat(&ctx.path(reference), true) {
            Ok(s) => FileModeChange::Octal { bits: s.mode, exact: true },
            Err(e) => {
                return Err(input::report_cannot(
                    ctx,
                    "failed to get attributes of",
                    reference,
                    &e,
                ));
            }
        },
        None => {
            let text = match dashed {
                Some(m) => m,
                None if p.operands.is_empty() => return Err(input::missing_operand(ctx, None)),
                None => p.operands.remove(0),
            };
            if p.operands.is_empty() {
                return Err(input::missing_operand(ctx, Some(&text)));
            }
            mode::parse(&text).ok_or_else(|| {
                input::usage_error(ctx, &[b"invalid mode: ", &quote::quote_in_sentence(&text)])
            })?
        }
    };
    if p.operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    let report = p.last_of(&[ChmodFlag::Verbose, ChmodFlag::Changes]);
    Ok(ChmodPlan {
        mode,
        dashed: is_dashed,
        recursive: p.has_option(ChmodFlag::Recursive),
        preserve_root: p.last_of(&[ChmodFlag::NoPreserveRoot, ChmodFlag::PreserveRoot])
            == Some(ChmodFlag::PreserveRoot),
        quiet: p.has_option(ChmodFlag::Silent),
        verbose: report == Some(ChmodFlag::Verbose),
        changes: report == Some(ChmodFlag::Changes),
        files: p.operands,
    })
}

/// Reports that a file or directory cannot be read; returns false.
fn cannot_see(ctx: &mut Ctx<'_>, plan: &ChmodPlan, name: &[u8], visit: &Visit<'_>) -> bool {
    match visit {
        _ if plan.quiet => {}
        Visit::Unreadable(_) if meta::stat(&ctx.path(name), false).is_ok() => {
            let shown = quote::quote_in_sentence(name);
            ctx.error_bytes(&[b"cannot operate on dangling symlink ", &shown]);
        }
        Visit::Unlistable(e) => {
            input::report_cannot(ctx, "cannot read directory", name, e);
        }
        Visit::Unreadable(e) => {
            input::report_cannot(ctx, "cannot access", name, e);
        }
        Visit::Entry(_) => {}
    }
    false
}

/// Changes one file and reports the change; returns whether it succeeded.
fn change_mode(ctx: &mut Ctx<'_>, plan: &ChmodPlan, name: &[u8], stat: &Stat) -> bool {
    if stat.kind == FileKind::Symlink {
        if plan.verbose {
            let shown = quote::quote_in_sentence(name);
            let rest = b" nor referent has been changed\n";
            let _ = ctx.stdout.write_all(&[b"neither symbolic link ", &*shown, rest].concat());
        }
        return true;
    }
    let dir = stat.kind == FileKind::Dir;
    let new = plan.mode.apply(stat.mode, dir, umask());
    let result = if new == stat.mode { Ok(()) } else { meta::chmod(&ctx.path(name), new) };
    let mut ok = result.is_ok();
    match &result {
        Err(e) if !plan.quiet => {
            input::report_cannot(ctx, "changing permissions of", name, e);
        }
        Err(_) => {}
        Ok(()) if plan.dashed => {
            ok = !is_masked(ctx, name, new, plan.mode.apply(stat.mode, dir, 0));
        }
        Ok(()) => {}
    }
    if plan.verbose || plan.changes && new != stat.mode {
        report_change(ctx, name, stat.mode, new, result.is_ok());
    }
    ok
}

/// Returns whether the umask prevented a mode such as `-w` from being applied in full; GNU reports
/// that.
fn is_masked(ctx: &mut Ctx<'_>, name: &[u8], new: u16, naive: u16) -> bool {
    let masked = naive & !new != new & !naive && new & !naive != 0;
    if masked {
        let (is, wanted) = (mode::mode_letters(new), mode::mode_letters(naive));
        let text = format!(": new permissions are {is}, not {wanted}");
        ctx.error_bytes(&[&quote::quote_with_colon(name), text.as_bytes()]);
    }
    masked
}

/// Prints the line of `-v` about a file.
fn report_change(ctx: &mut Ctx<'_>, name: &[u8], old: u16, new: u16, done: bool) {
    let show = |m: u16| format!("{m:04o} ({})", mode::mode_letters(m));
    let (before, after) = match (done, new != old) {
        (false, _) => {
            ("failed to change mode of ", format!(" from {} to {}", show(old), show(new)))
        }
        (true, true) => ("mode of ", format!(" changed from {} to {}", show(old), show(new))),
        (true, false) => ("mode of ", format!(" retained as {}", show(old))),
    };
    let shown = quote::quote_in_sentence(name);
    let _ = ctx.stdout.write_all(&[before.as_bytes(), &shown, after.as_bytes(), b"\n"].concat());
}
