//! `mkfifo` and `mknod` (POSIX XCU mkfifo; GNU): named pipes. Device nodes cannot be made.

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::meta;
use box_sys::meta::umask;
use box_text::mode;

use crate::common::{input, quote};

/// An option of `mkfifo`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MkfifoFlag {
    Context,
    Ignored,
    Mode,
}

const OPTIONS: &[Opt<MkfifoFlag>] = &[
    Opt::new(MkfifoFlag::Mode, 'm', "mode")
        .with_argument("MODE", "Set permissions as chmod does, instead of rw without the umask"),
    Opt::new(MkfifoFlag::Ignored, 'Z', "").with_help(words::IGNORED),
    Opt::long(MkfifoFlag::Context, "context").may_take("CTX", words::IGNORED),
];
const MKFIFO: Spec<MkfifoFlag> = Spec::new("[OPTION]... NAME...", "Make named pipes.", OPTIONS);
const MKNOD: Spec<MkfifoFlag> = Spec::new(
    "[OPTION]... NAME TYPE [MAJOR MINOR]",
    "Make a special file of TYPE p, a named pipe; b, c and u are refused.",
    OPTIONS,
);

fn parse_permissions(ctx: &mut Ctx<'_>, text: Option<&[u8]>) -> Result<u16, Exit> {
    let Some(text) = text else { return Ok(0o666 & !umask()) };
    match mode::parse(text) {
        Some(m) => Ok(m.apply(0o666, false, umask()) & 0o777),
        None => {
            ctx.error("invalid mode");
            Err(Exit::FAILURE)
        }
    }
}

fn make_fifo(ctx: &mut Ctx<'_>, name: &[u8], bits: u16, exact: bool) -> bool {
    let path = ctx.path(name);
    let made = meta::mkfifo(&path, bits);
    let made = if exact { made.and_then(|()| meta::chmod(&path, bits)) } else { made };
    match made {
        Ok(()) => true,
        Err(e) => {
            input::report_cannot(ctx, "cannot create fifo", name, &e);
            false
        }
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = MKFIFO.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    let bits = parse_permissions(ctx, p.last_value(MkfifoFlag::Mode))?;
    let mut ok = true;
    for name in &p.operands {
        ok &= make_fifo(ctx, name, bits, p.has_option(MkfifoFlag::Mode));
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

pub(crate) fn run_mknod(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = MKNOD.parse_or_exit(ctx, args, Exit::FAILURE)?;
    Ok(match p.operands.as_slice() {
        [] => {
            input::missing_operand(ctx, None);
            Exit::FAILURE
        }
        [a] => {
            input::missing_operand(ctx, Some(a));
            Exit::FAILURE
        }
        [name, kind] if kind == b"p" => {
            let name = name.clone();
            match parse_permissions(ctx, p.last_value(MkfifoFlag::Mode)) {
                Ok(bits) if make_fifo(ctx, &name, bits, p.has_option(MkfifoFlag::Mode)) => {
                    Exit::SUCCESS
                }
                _ => Exit::FAILURE,
            }
        }
        [_, kind, extra, ..] if kind == b"p" => {
            input::extra_operand(ctx, extra);
            Exit::FAILURE
        }
        [name, kind, ..] if matches!(kind.as_slice(), b"b" | b"c" | b"u") => {
            let shown = quote::quote_with_colon(name);
            ctx.error_bytes(&[&shown, b": Operation not permitted"]);
            Exit::FAILURE
        }
        [_, kind, ..] => {
            let shown = quote::quote_in_sentence(kind);
            input::usage_error(ctx, &[b"invalid device type ", &shown]);
            Exit::FAILURE
        }
    })
}
