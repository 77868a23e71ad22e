//! `rev` (util-linux): prints the characters of each line in reverse order.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::input::{self, write_output};

/// An option of `rev`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RevFlag {
    Zero,
}

const SPEC: Spec<RevFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Print each line backwards.",
    &[Opt::new(RevFlag::Zero, '0', "zero").with_help(words::NUL_LINES)],
);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let end = if p.has_option(RevFlag::Zero) { 0 } else { b'\n' };
    let utf8 = ctx.env.is_utf8();
    let failed = |ctx: &mut Ctx<'_>, file: &[u8], e: &std::io::Error| {
        let why = box_sys::error_text(e);
        input::report_failure(ctx, &[b"cannot open ", file, b": ", why.as_bytes()])
    };
    let files = input::or_stdin(p.operands);
    let exit = input::for_each_file_or(ctx, &files, failed, |reader, out| {
        let mut reversed = Vec::new();
        input::for_each_line(reader, end, |line, ended| {
            reversed.clear();
            if utf8 && !line.is_ascii() {
                reverse_characters(line, &mut reversed);
            } else {
                reversed.extend(line.iter().rev());
            }
            if ended {
                reversed.push(end);
            }
            write_output(out, &reversed)?;
            Ok(true)
        })
    });
    let _ = ctx.stdout.flush();
    Ok(exit)
}

fn reverse_characters(line: &[u8], out: &mut Vec<u8>) {
    let mut at = line.len();
    while at > 0 {
        // A character begins at most four bytes back. An invalid byte counts as a character.
        let start = (1..=4.min(at))
            .find(|n| {
                box_text::number::utf8_len(&line[at - n..at]) == *n
                    && std::str::from_utf8(&line[at - n..at]).is_ok()
            })
            .map_or(at - 1, |n| at - n);
        out.extend_from_slice(&line[start..at]);
        at = start;
    }
}
