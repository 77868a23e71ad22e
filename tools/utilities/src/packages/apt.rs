//! `apt`, `apt-get` and `apt-cache` (apt 2.6): their messages, and status 100 for failures.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec, UsageError};
use box_applet::{Ctx, Ended, Exit};
use box_text::glob::{GlobOptions, GlobPattern};

use super::catalogue::{self, Package};
use super::request::{self, Wording};

/// The status of a failure.
const FAILURE: Exit = Exit(100);

const WORDING: Wording = Wording {
    unknown: |names| names.iter().map(|n| format!("E: Unable to locate package {n}\n")).collect(),
    failure: FAILURE,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Ignored,
    IgnoredValue,
    Installed,
    Quiet,
    Upgradable,
    Usage,
    Version,
}

const OPTIONS: &[Opt<Flag>] = &[
    Opt::new(Flag::Quiet, 'q', "quiet").may_take("LEVEL", "With -qq: print nothing on success"),
    Opt::new(Flag::Ignored, 'y', "yes").with_help(words::IGNORED),
    Opt::long(Flag::Ignored, "assume-yes").with_help(words::SAME),
    Opt::long(Flag::Ignored, "no-install-recommends").with_help(words::SAME),
    Opt::long(Flag::Installed, "installed")
        .with_help("With list: only built-in packages, as always"),
    Opt::long(Flag::Upgradable, "upgradable").with_help("With list: print no package"),
    Opt::long(Flag::Upgradable, "upgradeable"),
    Opt::new(Flag::Version, 'v', "").with_help(words::VERSION),
    Opt::new(Flag::Usage, 'h', ""),
    Opt::new(Flag::Ignored, 'f', "fix-broken"),
    Opt::new(Flag::Ignored, 'm', "fix-missing"),
    Opt::new(Flag::Ignored, 's', "simulate"),
    Opt::new(Flag::Ignored, 'd', "download-only"),
    Opt::new(Flag::Ignored, 'u', "show-upgraded"),
    Opt::new(Flag::Ignored, 'V', "verbose-versions"),
    Opt::new(Flag::Ignored, 'n', "names-only"),
    Opt::new(Flag::Ignored, 'a', "all-versions"),
    Opt::long(Flag::Ignored, "ignore-missing"),
    Opt::long(Flag::Ignored, "dry-run"),
    Opt::long(Flag::Ignored, "just-print"),
    Opt::long(Flag::Ignored, "assume-no"),
    Opt::long(Flag::Ignored, "install-recommends"),
    Opt::long(Flag::Ignored, "install-suggests"),
    Opt::long(Flag::Ignored, "no-install-suggests"),
    Opt::long(Flag::Ignored, "allow-unauthenticated"),
    Opt::long(Flag::Ignored, "allow-downgrades"),
    Opt::long(Flag::Ignored, "allow-remove-essential"),
    Opt::long(Flag::Ignored, "allow-change-held-packages"),
    Opt::long(Flag::Ignored, "allow-insecure-repositories"),
    Opt::long(Flag::Ignored, "allow-releaseinfo-change"),
    Opt::long(Flag::Ignored, "force-yes"),
    Opt::long(Flag::Ignored, "only-upgrade"),
    Opt::long(Flag::Ignored, "no-upgrade"),
    Opt::long(Flag::Ignored, "reinstall"),
    Opt::long(Flag::Ignored, "purge"),
    Opt::long(Flag::Ignored, "auto-remove"),
    Opt::long(Flag::Ignored, "autoremove"),
    Opt::long(Flag::Ignored, "show-progress"),
    Opt::long(Flag::Ignored, "no-show-upgraded"),
    Opt::long(Flag::Ignored, "no-download"),
    Opt::long(Flag::Ignored, "print-uris"),
    Opt::long(Flag::Ignored, "trivial-only"),
    Opt::long(Flag::Ignored, "with-new-pkgs"),
    Opt::new(Flag::IgnoredValue, 'o', "option").with_argument("KEY=VALUE", words::IGNORED),
    Opt::new(Flag::IgnoredValue, 't', "target-release").with_argument("NAME", words::IGNORED),
    Opt::new(Flag::IgnoredValue, 'c', "config-file").with_argument("FILE", words::IGNORED),
];

const FOOTER: &str = "Commands: install, reinstall, update, upgrade, full-upgrade, remove, purge, \
        autoremove, clean, list, search, show, policy, depends.\n\
        What else may serve instead of a missing package is said by the message about it.";

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... install PACKAGE...\n[OPTION]... COMMAND [PACKAGE]...",
    "Say which packages are built in. Nothing can be installed or removed; to install what is \
        built in succeeds, any other package fails with status 100.",
    OPTIONS,
)
.with_footer(FOOTER)
.with_examples(&[("apt-get install -y jq curl", "Succeeds, because both are built in")]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = parse(ctx, args)?;
    let Some((verb, words)) = p.operands.split_first() else {
        let text = SPEC.help_text(&ctx.name);
        ctx.print(&text);
        return Ok(Exit::FAILURE);
    };
    let quiet = is_quiet(&p);
    Ok(match verb.as_slice() {
        b"install" | b"reinstall" => install(ctx, words, quiet),
        b"update" | b"upgrade" | b"dist-upgrade" | b"full-upgrade" | b"dselect-upgrade"
        | b"clean" | b"autoclean" | b"auto-clean" | b"distclean" | b"check" | b"autoremove"
        | b"auto-remove" | b"autopurge" => request::refresh(ctx, quiet),
        b"remove" | b"purge" => request::remove(ctx, words, &WORDING),
        b"download" | b"source" | b"build-dep" | b"changelog" => {
            say(ctx, "E: there are no archives here, so nothing can be fetched from one");
            FAILURE
        }
        _ => look_up(ctx, verb, words, p.has_option(Flag::Upgradable)),
    })
}

pub(crate) fn run_cache(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = parse(ctx, args)?;
    let Some((verb, words)) = p.operands.split_first() else {
        let text = SPEC.help_text(&ctx.name);
        ctx.print(&text);
        return Ok(Exit::FAILURE);
    };
    Ok(look_up(ctx, verb, words, false))
}

fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<ParsedOptions<Flag>, Exit> {
    let parsed = match SPEC.parse(args) {
        Ok(p) => p,
        Err(UsageError::Message(m)) => {
            say(ctx, &format!("E: {m}"));
            return Err(FAILURE);
        }
        Err(e) => return Err(SPEC.answer_usage(ctx, e, FAILURE)),
    };
    if parsed.has_option(Flag::Usage) {
        let text = SPEC.help_text(&ctx.name);
        return Err(ctx.print(&text));
    }
    if parsed.has_option(Flag::Version) {
        let text = ctx.version();
        return Err(ctx.print(&text));
    }
    Ok(parsed)
}

/// Returns whether `-qq` or `-q=2` was given. The second letter is the first one's attached text.
fn is_quiet(p: &ParsedOptions<Flag>) -> bool {
    p.count_of(Flag::Quiet) > 1
        || p.all_values(Flag::Quiet)
            .any(|v| v.starts_with(b"q") || v.starts_with(b"=2") || v == b"2")
}

/// Writes a line to standard error that does not begin with the tool's name.
fn say(ctx: &mut Ctx<'_>, line: &str) {
    let _ = ctx.stdout.flush();
    let _ = writeln!(ctx.stderr, "{line}");
}

fn install(ctx: &mut Ctx<'_>, words: &[Vec<u8>], quiet: bool) -> Exit {
    if let Some(file) = words.iter().find(|w| w.contains(&b'/') && w.ends_with(b".deb")) {
        let file = String::from_utf8_lossy(file).into_owned();
        say(ctx, &format!("E: Unsupported file {file} given on commandline"));
        say(ctx, "E: packages hold programs for other machines, which cannot run here");
        return FAILURE;
    }
    request::install(ctx, words, quiet, &WORDING)
}

/// Runs the commands that print facts.
fn look_up(ctx: &mut Ctx<'_>, verb: &[u8], words: &[Vec<u8>], none: bool) -> Exit {
    match verb {
        b"list" => list(ctx, words, none),
        b"search" => request::search(ctx, words),
        b"pkgnames" => {
            for p in catalogue::list_packages(ctx) {
                let _ = writeln!(ctx.stdout, "{}", p.name);
            }
            Exit::SUCCESS
        }
        b"policy" | b"madison" | b"show" | b"showpkg" | b"depends" | b"rdepends" => {
            show(ctx, words, verb)
        }
        _ => {
            let verb = String::from_utf8_lossy(verb).into_owned();
            say(ctx, &format!("E: Invalid operation {verb}"));
            FAILURE
        }
    }
}

fn list(ctx: &mut Ctx<'_>, words: &[Vec<u8>], none: bool) -> Exit {
    let _ = ctx.stdout.write_all(b"Listing...\n");
    let patterns: Vec<GlobPattern> =
        words.iter().map(|w| GlobPattern::new(w, GlobOptions::default())).collect();
    for p in catalogue::list_packages(ctx) {
        let wanted = patterns.is_empty() || patterns.iter().any(|x| x.is_match(p.name.as_bytes()));
        if wanted && !none {
            let _ = writeln!(ctx.stdout, "{}/now {} wasm32 [installed,local]", p.name, p.version);
        }
    }
    Exit::SUCCESS
}

fn show(ctx: &mut Ctx<'_>, words: &[Vec<u8>], verb: &[u8]) -> Exit {
    let mut exit = Exit::SUCCESS;
    for (n, word) in words.iter().enumerate() {
        let name = catalogue::plain_name(word);
        match catalogue::find_package(ctx, &name) {
            Some(p) if verb == b"policy" => {
                let _ =
                    writeln!(ctx.stdout, "{name}:\n  Installed: {0}\n  Candidate: {0}", p.version);
            }
            Some(p) if verb == b"show" => {
                let lead = if n > 0 { "\n" } else { "" };
                let text = format!("{lead}{}", describe(&p));
                let _ = ctx.stdout.write_all(text.as_bytes());
            }
            Some(p) => {
                let _ = writeln!(ctx.stdout, "{name} | {} | built in", p.version);
            }
            None => {
                say(ctx, &format!("N: Unable to locate package {name}"));
                if verb == b"show" {
                    exit = FAILURE;
                }
            }
        }
    }
    if exit == FAILURE {
        say(ctx, "E: No packages found");
    }
    exit
}

/// Returns the fields of a package, in the format of `dpkg -s`.
pub(super) fn describe(p: &Package) -> String {
    let commands = p.commands.join(" ");
    format!(
        "Package: {}\nStatus: install ok installed\nArchitecture: wasm32\nVersion: {}\n\
         Commands: {commands}\nDescription: {}\n",
        p.name, p.version, p.summary
    )
}
