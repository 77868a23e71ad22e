//! `true` and `false` (POSIX XCU). They read only `--help` and `--version`, and only if that is the
//! sole argument.

use box_applet::{Ctx, Ended, Exit};

fn print_help_or_version(ctx: &mut Ctx<'_>, args: &[Vec<u8>], what: &str) {
    let text = match args {
        [one] if one == b"--help" => format!(
            "Usage: {0} [ignored command line arguments]\n  or:  {0} OPTION\nExit with a status code indicating {what}.\n\n      --help     display this help and exit\n      --version  output version information and exit\n",
            ctx.name
        ),
        [one] if one == b"--version" => ctx.version(),
        _ => return,
    };
    ctx.print(&text);
}

pub(crate) fn run_true(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    print_help_or_version(ctx, args, "success");
    Ok(Exit::SUCCESS)
}

pub(crate) fn run_false(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    print_help_or_version(ctx, args, "failure");
    Ok(Exit::FAILURE)
}
