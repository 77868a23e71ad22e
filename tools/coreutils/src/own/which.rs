//! `which` (Debian's): prints the files in PATH that commands run.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, program};
use box_sys::path::to_bytes;

/// An option of `which`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhichFlag {
    All,
    Silent,
}

const SPEC: Spec<WhichFlag> = Spec::new(
    "[-as] COMMAND...",
    "Print the file that each COMMAND runs, searched in PATH.",
    &[
        Opt::new(WhichFlag::All, 'a', "all").with_help("Print all of its files in PATH"),
        Opt::new(WhichFlag::Silent, 's', "").with_help("Print nothing; only end with a status"),
    ],
)
.posix_order();

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::USAGE)?;
    let mut missing = p.operands.is_empty();
    for name in &p.operands {
        let mut found: Vec<Vec<u8>> = Vec::new();
        if name.contains(&b'/') {
            if program::is_executable(&ctx.path(name)) {
                found.push(name.clone());
            }
        } else {
            let search = ctx.env.get(b"PATH").unwrap_or(program::DEFAULT_PATH);
            let limit = if p.has_option(WhichFlag::All) { usize::MAX } else { 1 };
            let all = program::find_candidates(name, search, &ctx.cwd, ctx.table);
            found.extend(all.take(limit).map(|f| to_bytes(&f).to_vec()));
        }
        missing |= found.is_empty();
        if !p.has_option(WhichFlag::Silent) {
            for f in found {
                let _ = ctx.stdout.write_all(&[f.as_slice(), b"\n"].concat());
            }
        }
    }
    Ok(if missing { Exit::FAILURE } else { Exit::SUCCESS })
}
