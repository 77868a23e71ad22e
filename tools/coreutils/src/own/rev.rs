//! `rev` (util-linux): each line's characters in reverse order.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::input::{self, Stop, put};
use crate::common::locale;

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Zero,
}

const SPEC: Spec<Flag> = Spec::new(
    "[options] [file ...]",
    "Reverse lines characterwise.",
    &[Opt::new(Flag::Zero, '0', "zero").says("use NUL as the line separator")],
);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let end = if p.has(Flag::Zero) { 0 } else { b'\n' };
    let utf8 = locale::utf8(&ctx.env);
    let stdin = [b"-".to_vec()];
    let files = if p.operands.is_empty() { &stdin[..] } else { &p.operands };
    let mut exit = Exit::SUCCESS;
    for file in files {
        let out = &mut ctx.stdout;
        let result =
            input::open(&mut ctx.stdin, &ctx.cwd, file).map_err(Stop::Read).and_then(|mut r| {
                let mut line_out = Vec::new();
                input::for_each_line(&mut r, end, |line, ended| {
                    line_out.clear();
                    if utf8 && !line.is_ascii() {
                        let mut at = line.len();
                        while at > 0 {
                            // A character begins at most four bytes back; invalid bytes stand alone.
                            let start = (1..=4.min(at))
                                .find(|n| {
                                    box_text::number::utf8_len(&line[at - n..at]) == *n
                                        && std::str::from_utf8(&line[at - n..at]).is_ok()
                                })
                                .map_or(at - 1, |n| at - n);
                            line_out.extend_from_slice(&line[start..at]);
                            at = start;
                        }
                    } else {
                        line_out.extend(line.iter().rev());
                    }
                    if ended {
                        line_out.push(end);
                    }
                    put(out, &line_out)?;
                    Ok(true)
                })
            });
        match result {
            Ok(()) => {}
            Err(Stop::Read(e)) => {
                ctx.error_bytes(&[b"cannot open ", file, b": ", box_sys::strerror(&e).as_bytes()]);
                exit = Exit::FAILURE;
            }
            Err(Stop::Write) => return Ok(Exit::FAILURE),
        }
    }
    let _ = ctx.stdout.flush();
    Ok(exit)
}
