//! The actions of package managers, which differ in their names and messages only.

use std::io::Write;

use box_applet::{Ctx, Exit};

use super::catalogue;

/// The words of a manager about packages that it does not know.
pub(super) struct Wording {
    /// Returns the message about the packages that are not there.
    pub unknown: fn(&[String]) -> String,
    /// The status of a request that failed.
    pub failure: Exit,
}

/// Answers a request to install packages: succeeds with one line if all of them are built in.
pub(super) fn install(ctx: &mut Ctx<'_>, words: &[Vec<u8>], quiet: bool, how: &Wording) -> Exit {
    let names: Vec<String> = words.iter().map(|w| catalogue::plain_name(w)).collect();
    let (there, missing): (Vec<_>, Vec<_>) =
        names.into_iter().partition(|name| catalogue::is_built_in(ctx, name));
    if !missing.is_empty() {
        report_missing(ctx, &missing, how);
        return how.failure;
    }
    if !quiet {
        let verb = if there.len() == 1 { "is" } else { "are" };
        let what = if there.is_empty() {
            "nothing to install".to_string()
        } else {
            format!("{} {verb} built in; nothing to install", there.join(", "))
        };
        let _ = writeln!(ctx.stdout, "{}: {what}", ctx.name);
    }
    Exit::SUCCESS
}

/// Prints the manager's message, and a replacement for each package.
fn report_missing(ctx: &mut Ctx<'_>, missing: &[String], how: &Wording) {
    let _ = ctx.stdout.flush();
    let _ = ctx.stderr.write_all((how.unknown)(missing).as_bytes());
    for name in missing {
        let advice = catalogue::find_advice(ctx, name);
        ctx.error(format_args!("{name}: {advice}"));
    }
}

/// Answers a request to fetch lists, to upgrade or to clean up, for which there is nothing to do.
pub(super) fn refresh(ctx: &mut Ctx<'_>, quiet: bool) -> Exit {
    if !quiet {
        let line = format!("{}: all packages are built in; there is nothing to do\n", ctx.name);
        let _ = ctx.stdout.write_all(line.as_bytes());
    }
    Exit::SUCCESS
}

/// Answers a request to remove packages. A package that is not there needs no removal;
/// built-in ones stay.
pub(super) fn remove(ctx: &mut Ctx<'_>, words: &[Vec<u8>], how: &Wording) -> Exit {
    let mut exit = Exit::SUCCESS;
    for word in words {
        let name = catalogue::plain_name(word);
        if catalogue::is_built_in(ctx, &name) {
            ctx.error(format_args!("{name}: part of the image, which cannot be changed"));
            exit = how.failure;
        } else {
            let _ = writeln!(ctx.stdout, "Package '{name}' is not installed, so not removed");
        }
    }
    exit
}

/// Prints the built-in packages whose name or summary contains all words.
pub(super) fn search(ctx: &mut Ctx<'_>, words: &[Vec<u8>]) -> Exit {
    let words: Vec<String> =
        words.iter().map(|w| String::from_utf8_lossy(w).to_lowercase()).collect();
    for p in catalogue::list_packages(ctx) {
        let commands = p.commands.join(" ");
        let text = format!("{} {} {commands}", p.name, p.summary).to_lowercase();
        if words.iter().all(|w| text.contains(w.as_str())) {
            let _ = writeln!(ctx.stdout, "{} - {}", p.name, p.summary);
        }
    }
    Exit::SUCCESS
}
