//! `basename` (POSIX XCU basename; GNU `-a -s -z`).

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::{input, paths};

/// An option of `basename`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BasenameFlag {
    Multiple,
    Suffix,
    Zero,
}

const SPEC: Spec<BasenameFlag> = Spec::new(
    "NAME [SUFFIX]\nOPTION... NAME...",
    "Print the last part of a path, without SUFFIX if it ends in it.",
    &[
        Opt::new(BasenameFlag::Multiple, 'a', "multiple").with_help("Take every operand as a NAME"),
        Opt::new(BasenameFlag::Suffix, 's', "suffix")
            .with_argument("SUFFIX", "Drop SUFFIX from the end; implies -a"),
        Opt::new(BasenameFlag::Zero, 'z', "zero").with_help(words::NUL_OUT),
    ],
)
.with_examples(&[("basename /tmp/notes.txt .txt", "Prints notes")])
.posix_order();

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let multiple = p.has_option(BasenameFlag::Multiple) || p.has_option(BasenameFlag::Suffix);
    let end: &[u8] = if p.has_option(BasenameFlag::Zero) { b"\0" } else { b"\n" };
    if p.operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    if !multiple && p.operands.len() > 2 {
        return Err(input::extra_operand(ctx, &p.operands[2]));
    }
    let (names, suffix) = if multiple {
        (&p.operands[..], p.last_value(BasenameFlag::Suffix).unwrap_or_default())
    } else {
        (&p.operands[..1], p.operands.get(1).map(Vec::as_slice).unwrap_or_default())
    };
    for name in names {
        let base = paths::base_name(name);
        let short = base.strip_suffix(suffix).filter(|s| !s.is_empty()).unwrap_or(base);
        if ctx.stdout.write_all(short).and_then(|()| ctx.stdout.write_all(end)).is_err() {
            return Ok(Exit::FAILURE);
        }
    }
    Ok(Exit::SUCCESS)
}
