//! `yes` (GNU): prints a line for ever, in large writes.

use std::io::Write;

use box_applet::opts::Spec;
use box_applet::{Ctx, Ended, Exit};

const SPEC: Spec =
    Spec::new("[STRING]...", "Print a line with the STRINGs, or y, again and again.", &[])
        .posix_order();

/// The maximum number of bytes per write, which is the capacity of a pipe. A longer line is written
/// whole.
const CHUNK: usize = 64 * 1024;

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mut line = if p.operands.is_empty() { b"y".to_vec() } else { p.operands.join(&b' ') };
    line.push(b'\n');
    let block = line.repeat((CHUNK / line.len()).max(1));
    loop {
        if ctx.stdout.write_all(&block).is_err() {
            return Ok(Exit::FAILURE);
        }
    }
}
