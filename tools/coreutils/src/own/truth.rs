//! `true` and `false` (POSIX XCU). They ignore their arguments, except for a single `--help` or
//! `--version`.

use box_applet::help::HelpPage;
use box_applet::{Ctx, Ended, Exit};

const TRUE: HelpPage = HelpPage::new("[ANYTHING]...", "Do nothing, and end with status 0.", &[]);

const FALSE: HelpPage = HelpPage::new("[ANYTHING]...", "Do nothing, and end with status 1.", &[]);

fn print_help_or_version(ctx: &mut Ctx<'_>, args: &[Vec<u8>], help: &HelpPage<'_>) {
    let text = match args {
        [one] if one == b"--help" => help.text(&ctx.name),
        [one] if one == b"--version" => ctx.version(),
        _ => return,
    };
    ctx.print(&text);
}

pub(crate) fn run_true(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    print_help_or_version(ctx, args, &TRUE);
    Ok(Exit::SUCCESS)
}

pub(crate) fn run_false(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    print_help_or_version(ctx, args, &FALSE);
    Ok(Exit::FAILURE)
}
