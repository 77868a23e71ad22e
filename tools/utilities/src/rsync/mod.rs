//! `rsync` (rsync 3.2) between folders of this machine: copies files that differ.
//!
//! Deliberately absent: other hosts, the protocol with its differences of blocks (files are copied
//! whole), `--link-dest`, `--relative`, `--files-from`, per-directory filters.
//!
//! | file | contents |
//! |---|---|
//! | `options` | the command line |
//! | `filter` | `--exclude`, `--include`: which names take part |
//! | `list` | the entries of the sources |
//! | `transfer` | comparing, copying, deleting the rest |

mod filter;
mod list;
mod options;
mod transfer;

use std::io::Write;

use box_applet::{Ctx, Ended, Exit};

use options::{Flag, Plan, SPEC};

/// The status of a bad command line, and of sources that could not be copied.
const USAGE: Exit = Exit(1);
const PARTIAL: Exit = Exit(23);
/// The status if the destination cannot be created.
const NO_TARGET: Exit = Exit(3);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, USAGE)?;
    let fail = |ctx: &mut Ctx<'_>, message: &str| {
        ctx.error(message);
        Ok(USAGE)
    };
    if p.has_option(Flag::Refused) || p.has_option(Flag::RefusedValue) {
        let absent = "--link-dest, --compare-dest, --relative, --files-from, --daemon, --list-only";
        return fail(ctx, &format!("an option is not supported ({absent})"));
    }
    if let Some(remote) = p.operands.iter().find(|o| is_remote(o)) {
        let shown = String::from_utf8_lossy(remote).into_owned();
        return fail(
            ctx,
            &format!("{shown}: there are no other hosts here; both paths must be local"),
        );
    }
    let Some((target, sources)) = p.operands.split_last().filter(|(_, s)| !s.is_empty()) else {
        return fail(ctx, "a source and a destination are needed");
    };
    let plan = match Plan::new(ctx, &p) {
        Ok(plan) => plan,
        Err(message) => return fail(ctx, &message),
    };
    if plan.deletes && !plan.recursive {
        return fail(ctx, "--delete does not work without --recursive (-r)");
    }
    if plan.verbose && !plan.quiet {
        ctx.print("sending incremental file list\n");
    }
    let listing = list::list_sources(ctx, &plan, sources);
    let mut transfer = transfer::Transfer::new(&plan, ctx.path(target));
    if !transfer.run(ctx, &listing, target) {
        return Ok(NO_TARGET);
    }
    transfer.print_totals(ctx, &listing);
    if listing.failed || transfer.failed {
        let _ = ctx.stdout.flush();
        let text =
            "rsync error: some files/attrs were not transferred (see previous errors) (code 23)";
        let _ = writeln!(ctx.stderr, "{text}");
        return Ok(PARTIAL);
    }
    Ok(Exit::SUCCESS)
}

/// Returns whether an operand names another host: `HOST:PATH`, `HOST::MODULE`, `rsync://`.
fn is_remote(word: &[u8]) -> bool {
    let colon = word.iter().position(|c| *c == b':');
    let slash = word.iter().position(|c| *c == b'/');
    colon.is_some_and(|at| slash.is_none_or(|s| at < s))
}

/// Returns the number that rsync prints after an error's text: Linux's, whatever the system's is,
/// or nothing for a rare error.
fn error_number(e: &std::io::Error) -> String {
    use std::io::ErrorKind::*;
    let number = match e.kind() {
        NotFound => 2,
        PermissionDenied => 13,
        AlreadyExists => 17,
        CrossesDevices => 18,
        NotADirectory => 20,
        IsADirectory => 21,
        InvalidInput => 22,
        FileTooLarge => 27,
        StorageFull => 28,
        ReadOnlyFilesystem => 30,
        DirectoryNotEmpty => 39,
        _ => return String::new(),
    };
    format!(" ({number})")
}
