//! `link` and `unlink` (POSIX XCU): the bare system calls.

use box_applet::opts::Spec;
use box_applet::{Ctx, Exit};

use crate::common::{input, quote};

const LINK: Spec = Spec {
    usage: "FILE1 FILE2",
    about: "Call the link function to create a link named FILE2 to an existing FILE1.",
    options: &[],
    after: "",
    posix_order: false,
};

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match LINK.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let (from, to) = match p.operands.as_slice() {
        [] => {
            input::missing_operand(ctx, None);
            return Exit::FAILURE;
        }
        [a] => {
            input::missing_operand(ctx, Some(a));
            return Exit::FAILURE;
        }
        [_, _, extra, ..] => {
            input::extra_operand(ctx, extra);
            return Exit::FAILURE;
        }
        [a, b] => (a, b),
    };
    if let Err(e) = std::fs::hard_link(ctx.path(from), ctx.path(to)) {
        let (to, from) = (quote::always(to), quote::always(from));
        let text = box_sys::strerror(&e);
        ctx.error_bytes(&[b"cannot create link ", &to, b" to ", &from, b": ", text.as_bytes()]);
        return Exit::FAILURE;
    }
    Exit::SUCCESS
}

const UNLINK: Spec = Spec {
    usage: "FILE",
    about: "Call the unlink function to remove the specified FILE.",
    options: &[],
    after: "",
    posix_order: false,
};

pub(crate) fn run_unlink(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match UNLINK.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let file = match p.operands.as_slice() {
        [] => {
            input::missing_operand(ctx, None);
            return Exit::FAILURE;
        }
        [_, extra, ..] => {
            input::extra_operand(ctx, extra);
            return Exit::FAILURE;
        }
        [f] => f,
    };
    if let Err(e) = std::fs::remove_file(ctx.path(file)) {
        input::cannot(ctx, "cannot unlink", file, &e);
        return Exit::FAILURE;
    }
    Exit::SUCCESS
}
