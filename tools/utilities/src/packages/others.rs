//! `yum`, `dnf` (status 1), `apk` and `brew`: the package managers of other systems, which people
//! try. They answer as `apt-get` does, with their own messages.

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use super::catalogue;
use super::request::{self, Wording};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Ignored,
    Quiet,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... install PACKAGE...\n[OPTION]... COMMAND [PACKAGE]...",
    "Say which packages are built in. Nothing can be installed or removed; to install what is \
        built in succeeds.",
    &[
        Opt::new(Flag::Quiet, 'q', "quiet").with_help("Print nothing on success"),
        Opt::new(Flag::Ignored, 'y', "assumeyes").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'U', "update-cache"),
        Opt::long(Flag::Ignored, "no-cache"),
        Opt::long(Flag::Ignored, "cask"),
        Opt::long(Flag::Ignored, "best"),
        Opt::long(Flag::Ignored, "allowerasing"),
        Opt::long(Flag::Ignored, "nogpgcheck"),
        Opt::long(Flag::Ignored, "refresh"),
    ],
)
.with_footer(
    "Commands: install, reinstall, add, update, upgrade, remove, uninstall, del, clean, list, \
        search, info.",
);

fn wording(applet: &str) -> Wording {
    let unknown: fn(&[String]) -> String = match applet {
        "apk" => |names| {
            let rows: String =
                names.iter().map(|n| format!("  {n} (no such package):\n")).collect();
            format!("ERROR: unable to select packages:\n{rows}")
        },
        "brew" => |names| {
            let row =
                |n: &String| format!("Warning: No available formula with the name \"{n}\".\n");
            names.iter().map(row).collect()
        },
        _ => |names| format!("Error: Unable to find a match: {}\n", names.join(" ")),
    };
    Wording { unknown, failure: Exit::FAILURE }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let Some((verb, words)) = p.operands.split_first() else {
        let text = SPEC.help_text(&ctx.name);
        return Ok(ctx.print(&text));
    };
    let quiet = p.has_option(Flag::Quiet);
    let how = wording(ctx.applet);
    Ok(match verb.as_slice() {
        b"install" | b"reinstall" | b"add" => request::install(ctx, words, quiet, &how),
        b"update" | b"upgrade" if !words.is_empty() => request::install(ctx, words, quiet, &how),
        b"update" | b"upgrade" | b"check-update" | b"makecache" | b"clean" | b"cleanup"
        | b"autoremove" | b"doctor" | b"tap" => request::refresh(ctx, quiet),
        b"remove" | b"erase" | b"uninstall" | b"del" | b"purge" => {
            request::remove(ctx, words, &how)
        }
        b"search" => request::search(ctx, words),
        b"list" | b"info" | b"show" => {
            let missing = words
                .iter()
                .map(|w| catalogue::plain_name(w))
                .any(|name| !catalogue::is_built_in(ctx, &name));
            request::search(ctx, words);
            if missing { Exit::FAILURE } else { Exit::SUCCESS }
        }
        other => {
            let shown = String::from_utf8_lossy(other).into_owned();
            ctx.error(format_args!("there is no command '{shown}'"));
            ctx.hint();
            Exit::FAILURE
        }
    })
}
