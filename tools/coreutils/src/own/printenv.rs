//! `printenv` (GNU): prints environment variables.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

/// An option of `printenv`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrintenvFlag {
    Null,
}

const SPEC: Spec<PrintenvFlag> = Spec::new(
    "[OPTION]... [VARIABLE]...",
    "Print the values of variables, or all as NAME=VALUE.",
    &[Opt::new(PrintenvFlag::Null, '0', "null").with_help(words::NUL_OUT)],
)
.posix_order();

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit(2))?;
    let end = if p.has_option(PrintenvFlag::Null) { 0 } else { b'\n' };
    let mut out = Vec::new();
    let mut missing = false;
    if p.operands.is_empty() {
        for (k, v) in ctx.env.iter() {
            out.extend_from_slice(&[k, b"=", v].concat());
            out.push(end);
        }
    }
    for name in &p.operands {
        match ctx.env.get(name).filter(|_| !name.contains(&b'=')) {
            Some(v) => {
                out.extend_from_slice(v);
                out.push(end);
            }
            None => missing = true,
        }
    }
    let _ = ctx.stdout.write_all(&out);
    Ok(if missing { Exit::FAILURE } else { Exit::SUCCESS })
}
