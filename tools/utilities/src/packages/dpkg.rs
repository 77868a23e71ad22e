//! `dpkg` (dpkg 1.21): lists built-in packages (`-l`, `-s`, `-L`, `-S`); installs nothing.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_text::glob::{GlobOptions, GlobPattern};

use super::{apt, catalogue};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Architecture,
    Change,
    Files,
    Ignored,
    List,
    Search,
    Selections,
    Status,
}

const SPEC: Spec<Flag> = Spec::new(
    "-l [PATTERN]...\n-s PACKAGE...\n-L PACKAGE...\n-S PATTERN...",
    "List the packages that are built in. Nothing can be installed or removed.",
    &[
        Opt::new(Flag::List, 'l', "list").with_help("List packages, or those that match"),
        Opt::new(Flag::Status, 's', "status").with_help("Print facts about packages"),
        Opt::new(Flag::Files, 'L', "listfiles").with_help("Print the commands of packages"),
        Opt::new(Flag::Search, 'S', "search").with_help("Find the package of a file"),
        Opt::long(Flag::Selections, "get-selections").with_help("Print the names of packages"),
        Opt::long(Flag::Architecture, "print-architecture").with_help("Print the machine: wasm32"),
        Opt::new(Flag::Change, 'i', "install"),
        Opt::new(Flag::Change, 'r', "remove"),
        Opt::new(Flag::Change, 'P', "purge"),
        Opt::long(Flag::Change, "unpack"),
        Opt::new(Flag::Ignored, 'a', "pending"),
        Opt::long(Flag::Ignored, "configure"),
        Opt::long(Flag::Ignored, "audit"),
        Opt::long(Flag::Architecture, "print-foreign-architectures"),
    ],
);

/// The program that answers questions in dpkg, whose name is in the messages.
const QUERY: &str = "dpkg-query";

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::USAGE)?;
    let words = &p.operands;
    Ok(match p.options.first().map(|(id, _)| *id) {
        Some(Flag::List) => list(ctx, words),
        Some(Flag::Status) => for_each_package(ctx, words, |ctx, p| {
            let text = format!("{}\n", apt::describe(&p));
            let _ = ctx.stdout.write_all(text.as_bytes());
        }),
        Some(Flag::Files) => for_each_package(ctx, words, |ctx, p| {
            for command in p.commands {
                let _ = writeln!(ctx.stdout, "/usr/bin/{command}");
            }
        }),
        Some(Flag::Search) => search(ctx, words),
        Some(Flag::Selections) => {
            for p in catalogue::list_packages(ctx) {
                let _ = writeln!(ctx.stdout, "{}\tinstall", p.name);
            }
            Exit::SUCCESS
        }
        Some(Flag::Architecture) => ctx.print("wasm32\n"),
        Some(Flag::Ignored) => Exit::SUCCESS,
        Some(Flag::Change) => {
            ctx.error(
                "error: the image cannot be changed, and other machines' programs do not run",
            );
            ctx.error("apt-get install NAME says whether a package is built in, or what serves");
            Exit::FAILURE
        }
        None => {
            ctx.error("error: need an action option");
            ctx.hint();
            Exit::USAGE
        }
    })
}

fn query_error(ctx: &mut Ctx<'_>, text: &str) {
    let _ = ctx.stdout.flush();
    let _ = writeln!(ctx.stderr, "{QUERY}: {text}");
}

fn list(ctx: &mut Ctx<'_>, words: &[Vec<u8>]) -> Exit {
    let mut packages = catalogue::list_packages(ctx);
    let mut exit = Exit::SUCCESS;
    if !words.is_empty() {
        let mut found = Vec::new();
        for word in words {
            let pattern = GlobPattern::new(word, GlobOptions::default());
            let before = found.len();
            found.extend(
                packages
                    .iter()
                    .map(|p| &p.name)
                    .filter(|n| pattern.is_match(n.as_bytes()))
                    .cloned(),
            );
            let name = catalogue::plain_name(word);
            if found.len() == before {
                match catalogue::find_package(ctx, &name) {
                    Some(p) => {
                        found.push(p.name.clone());
                        packages.push(p);
                    }
                    None => {
                        let shown = String::from_utf8_lossy(word).into_owned();
                        query_error(ctx, &format!("no packages found matching {shown}"));
                        exit = Exit::FAILURE;
                    }
                }
            }
        }
        packages.retain(|p| found.contains(&p.name));
        packages.sort_by(|a, b| a.name.cmp(&b.name));
    }
    if packages.is_empty() {
        return exit;
    }
    let name = packages.iter().map(|p| p.name.len()).max().unwrap_or(0).max(14);
    let version = packages.iter().map(|p| p.version.len()).max().unwrap_or(0).max(12);
    let _ = writeln!(
        ctx.stdout,
        "||/ {:name$} {:version$} {:12} Description\n+++-{}-{}-{}-{}",
        "Name",
        "Version",
        "Architecture",
        "=".repeat(name),
        "=".repeat(version),
        "=".repeat(12),
        "=".repeat(33),
    );
    for p in packages {
        let (n, v) = (p.name, p.version);
        let _ = writeln!(ctx.stdout, "ii  {n:name$} {v:version$} {:12} {}", "wasm32", p.summary);
    }
    exit
}

/// Calls `f` for each package that is built in; fails if one is not.
fn for_each_package(
    ctx: &mut Ctx<'_>,
    words: &[Vec<u8>],
    f: impl Fn(&mut Ctx<'_>, catalogue::Package),
) -> Exit {
    let mut exit = Exit::SUCCESS;
    if words.is_empty() {
        ctx.error("error: the action needs the name of a package");
        return Exit::USAGE;
    }
    for word in words {
        let name = catalogue::plain_name(word);
        match catalogue::find_package(ctx, &name) {
            Some(p) => f(ctx, p),
            None => {
                query_error(
                    ctx,
                    &format!("package '{name}' is not installed and no information is available"),
                );
                exit = Exit::FAILURE;
            }
        }
    }
    exit
}

fn search(ctx: &mut Ctx<'_>, words: &[Vec<u8>]) -> Exit {
    let packages = catalogue::list_packages(ctx);
    let mut exit = Exit::SUCCESS;
    for word in words {
        let wanted = String::from_utf8_lossy(word).into_owned();
        let mut found = false;
        for p in &packages {
            for command in &p.commands {
                let file = format!("/usr/bin/{command}");
                if file == wanted || (!wanted.starts_with('/') && file.contains(&wanted)) {
                    found = true;
                    let _ = writeln!(ctx.stdout, "{}: {file}", p.name);
                }
            }
        }
        if !found {
            query_error(ctx, &format!("no path found matching pattern {wanted}"));
            exit = Exit::FAILURE;
        }
    }
    exit
}
