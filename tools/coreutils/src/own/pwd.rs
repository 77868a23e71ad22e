//! `pwd` (POSIX XCU pwd). `-L` prints `$PWD` if it names the working directory. `-P`, which is
//! the default of GNU's program, resolves symbolic links.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::path::{from_bytes, to_bytes};

use crate::common::{input, paths};

/// An option of `pwd`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PwdFlag {
    Logical,
    Physical,
}

const SPEC: Spec<PwdFlag> = Spec::new(
    "[OPTION]...",
    "Print the working directory.",
    &[
        Opt::new(PwdFlag::Logical, 'L', "logical")
            .with_help("Print $PWD, with the symbolic links that led here"),
        Opt::new(PwdFlag::Physical, 'P', "physical")
            .with_help("Print the path without symbolic links (default)"),
    ],
);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if !p.operands.is_empty() {
        ctx.error("ignoring non-option arguments");
    }
    let posix = ctx.env.get(b"POSIXLY_CORRECT").is_some();
    let logical =
        p.last_of(&[PwdFlag::Logical, PwdFlag::Physical]).map_or(posix, |o| o == PwdFlag::Logical);
    let mut dir = None;
    if logical {
        let fits = |v: &&[u8]| {
            let clean = !v.split(|c| *c == b'/').any(|c| matches!(c, b"." | b".."));
            v.starts_with(b"/") && clean && paths::same_file(from_bytes(v), &ctx.cwd)
        };
        dir = ctx.env.get(b"PWD").filter(fits).map(<[u8]>::to_vec);
    }
    let dir = match dir {
        Some(d) => d,
        None => match paths::canonical_path(&ctx.cwd, paths::MissingComponents::None) {
            Ok(d) => to_bytes(&d).to_vec(),
            Err(e) => {
                return Err(input::file_error(ctx, b".", &e));
            }
        },
    };
    let _ = ctx.stdout.write_all(&[&dir, b"\n".as_slice()].concat());
    Ok(Exit::SUCCESS)
}
