//! `dirname` (POSIX XCU dirname; GNU: several names, `-z`).

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::{input, paths};

/// An option of `dirname`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DirnameFlag {
    Zero,
}

const SPEC: Spec<DirnameFlag> = Spec::new(
    "[OPTION] NAME...",
    "Print the directory part of each NAME; `.' if it has none.",
    &[Opt::new(DirnameFlag::Zero, 'z', "zero").with_help(words::NUL_OUT)],
)
.posix_order();

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    let end: &[u8] = if p.has_option(DirnameFlag::Zero) { b"\0" } else { b"\n" };
    for name in &p.operands {
        let dir = paths::dir_name(name);
        if ctx.stdout.write_all(dir).and_then(|()| ctx.stdout.write_all(end)).is_err() {
            return Ok(Exit::FAILURE);
        }
    }
    Ok(Exit::SUCCESS)
}
