//! `sponge` (moreutils): reads all of its input before it writes, so that a pipeline may write to a
//! file that it reads.

use std::fs::OpenOptions;
use std::io::{Read, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::error_text;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Append,
}

const SPEC: Spec<Flag> = Spec::new(
    "[-a] [FILE]",
    "Read standard input to its end, then write it to FILE, or to standard output.",
    &[Opt::new(Flag::Append, 'a', "append").with_help("Add to the end of FILE")],
)
.with_examples(&[("sort FILE | sponge FILE", "Sort a file in place")]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mut text = Vec::new();
    if let Err(e) = ctx.stdin.read_to_end(&mut text) {
        ctx.io_error(b"standard input", &e);
        return Ok(Exit::FAILURE);
    }
    let Some(name) = p.operands.first() else {
        let _ = ctx.stdout.write_all(&text);
        return Ok(Exit::SUCCESS);
    };
    // The file is written in place, so that its mode and links stay.
    let append = p.has_option(Flag::Append);
    let mut how = OpenOptions::new();
    how.create(true).write(true).append(append).truncate(!append);
    match how.open(ctx.path(name)).and_then(|mut f| f.write_all(&text)) {
        Ok(()) => Ok(Exit::SUCCESS),
        Err(e) => {
            let reason = error_text(&e);
            let _ = writeln!(ctx.stderr, "error opening output file: {reason}");
            Ok(Exit::FAILURE)
        }
    }
}
