//! `link` and `unlink` (POSIX XCU), which only make the system calls.

use box_applet::opts::Spec;
use box_applet::{Ctx, Ended, Exit};

use crate::common::{input, quote};

const LINK: Spec = Spec::new("FILE1 FILE2", "Make FILE2 a hard link to FILE1.", &[]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = LINK.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let (from, to) = match p.operands.as_slice() {
        [] => {
            return Err(input::missing_operand(ctx, None));
        }
        [a] => {
            return Err(input::missing_operand(ctx, Some(a)));
        }
        [_, _, extra, ..] => {
            return Err(input::extra_operand(ctx, extra));
        }
        [a, b] => (a, b),
    };
    if let Err(e) = std::fs::hard_link(ctx.path(from), ctx.path(to)) {
        let (to, from) = (quote::quote_in_sentence(to), quote::quote_in_sentence(from));
        let text = box_sys::error_text(&e);
        return Err(input::report_failure(
            ctx,
            &[b"cannot create link ", &to, b" to ", &from, b": ", text.as_bytes()],
        ));
    }
    Ok(Exit::SUCCESS)
}

const UNLINK: Spec = Spec::new("FILE", "Remove FILE, which is no directory.", &[]);

pub(crate) fn run_unlink(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = UNLINK.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let file = match p.operands.as_slice() {
        [] => {
            return Err(input::missing_operand(ctx, None));
        }
        [_, extra, ..] => {
            return Err(input::extra_operand(ctx, extra));
        }
        [f] => f,
    };
    if let Err(e) = std::fs::remove_file(ctx.path(file)) {
        return Err(input::report_cannot(ctx, "cannot unlink", file, &e));
    }
    Ok(Exit::SUCCESS)
}
