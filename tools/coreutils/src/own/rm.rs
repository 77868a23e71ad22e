//! `rm` (POSIX XCU rm; GNU `-I -d -v --preserve-root --one-file-system`).

use std::io::{self, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{FileKind, Stat, errno::code, meta};

use crate::common::{input, paths, quote, tree};

/// An option of `rm`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RmFlag {
    Always,
    Dir,
    Force,
    Interactive,
    NoPreserveRoot,
    Once,
    OneFileSystem,
    PreserveRoot,
    Recursive,
    Verbose,
}

const SPEC: Spec<RmFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Remove files, and directories with -r.",
    &[
        Opt::new(RmFlag::Force, 'f', "force")
            .with_help("Do not ask, and do not complain about missing files"),
        Opt::new(RmFlag::Always, 'i', "").with_help("Ask before each file"),
        Opt::new(RmFlag::Once, 'I', "")
            .with_help("Ask once before removing more than three files, or with -r"),
        Opt::long(RmFlag::Interactive, "interactive")
            .may_take("WHEN", "Ask never, once (-I) or always (-i)"),
        Opt::long(RmFlag::OneFileSystem, "one-file-system").with_help(words::ONE_FILE_SYSTEM),
        Opt::long(RmFlag::NoPreserveRoot, "no-preserve-root")
            .with_help("Treat / as any other directory"),
        Opt::long(RmFlag::PreserveRoot, "preserve-root")
            .may_take("all", "Refuse to remove / (default); with =all any mount point"),
        Opt::new(RmFlag::Recursive, 'r', "recursive")
            .with_help("Remove directories and all in them"),
        Opt::new(RmFlag::Recursive, 'R', "").with_help(words::SAME),
        Opt::new(RmFlag::Dir, 'd', "dir").with_help("Remove directories that are empty"),
        Opt::new(RmFlag::Verbose, 'v', "verbose").with_help(words::VERBOSE),
    ],
);

#[derive(Clone, Copy, PartialEq)]
enum RmPrompt {
    Never,
    Once,
    Always,
    /// Ask about write-protected files if standard input is a terminal. This is the default.
    Protected,
}

struct RmOptions {
    force: bool,
    ask: RmPrompt,
    recursive: bool,
    dir: bool,
    verbose: bool,
    one_file_system: bool,
    terminal: bool,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let o = parse_options(ctx, &p)?;
    if p.operands.is_empty() {
        return Err(if o.force { Exit::SUCCESS } else { input::missing_operand(ctx, None) });
    }
    if o.ask == RmPrompt::Once && (o.recursive || p.operands.len() > 3) {
        let n = p.operands.len();
        let things = if n == 1 { "argument" } else { "arguments" };
        let how = if o.recursive { " recursively" } else { "" };
        if !paths::confirm_question(ctx, format!("remove {n} {things}{how}?").as_bytes()) {
            return Ok(Exit::SUCCESS);
        }
    }
    let mut ok = true;
    for operand in &p.operands {
        let shown = quote::quote_in_sentence(operand);
        if matches!(paths::base_name(operand), b"." | b"..") {
            ctx.error_bytes(&[b"refusing to remove '.' or '..' directory: skipping ", &shown]);
            ok = false;
        } else if o.recursive && !p.has_option(RmFlag::NoPreserveRoot) && is_root(ctx, operand) {
            let same: &[u8] = if operand == b"/" { b"" } else { b" (same as '/')" };
            tree::refuse_root(ctx, &shown, same);
            ok = false;
        } else {
            ok &= operand_tree(ctx, operand, &o);
        }
    }
    Ok(if ok { Exit::SUCCESS } else { Exit::FAILURE })
}

fn parse_options(ctx: &mut Ctx<'_>, p: &ParsedOptions<RmFlag>) -> Result<RmOptions, Exit> {
    let mut ask = RmPrompt::Protected;
    let mut force = false;
    for (flag, value) in &p.options {
        match (flag, value.as_deref()) {
            (RmFlag::Force, _) => (ask, force) = (RmPrompt::Never, true),
            (RmFlag::Always, _) => (ask, force) = (RmPrompt::Always, false),
            (RmFlag::Once, _) => (ask, force) = (RmPrompt::Once, false),
            (RmFlag::Interactive, None | Some(b"always" | b"yes")) => ask = RmPrompt::Always,
            (RmFlag::Interactive, Some(b"once")) => ask = RmPrompt::Once,
            (RmFlag::Interactive, Some(b"never" | b"no" | b"none")) => ask = RmPrompt::Never,
            (RmFlag::Interactive, Some(other)) => {
                let shown = quote::quote_in_sentence(other);
                let parts: &[&[u8]] = &[b"invalid argument ", &shown, b" for '--interactive'"];
                return Err(input::usage_error(ctx, parts));
            }
            _ => {}
        }
    }
    let terminal =
        matches!(ctx.stdin.source(), box_applet::InputSource::File(f) if box_sys::is_terminal(f));
    Ok(RmOptions {
        force,
        ask,
        recursive: p.has_option(RmFlag::Recursive),
        dir: p.has_option(RmFlag::Dir),
        verbose: p.has_option(RmFlag::Verbose),
        one_file_system: p.has_option(RmFlag::OneFileSystem),
        terminal,
    })
}

fn is_root(ctx: &Ctx<'_>, operand: &[u8]) -> bool {
    operand.starts_with(b"/") && operand.iter().all(|c| *c == b'/')
        || operand.ends_with(b"/")
            && paths::canonical_path(&ctx.path(operand), paths::MissingComponents::None)
                .is_ok_and(|p| p == std::path::Path::new("/"))
}

/// A directory that is being emptied.
struct EmptiedDir {
    name: Vec<u8>,
    /// The entries still to be removed.
    entries: Vec<Vec<u8>>,
    /// Whether everything below has been removed without a failure.
    ok: bool,
}

/// Removes one operand with everything below it. Does not recurse, because trees may be deep.
fn operand_tree(ctx: &mut Ctx<'_>, operand: &[u8], o: &RmOptions) -> bool {
    let mut stack: Vec<EmptiedDir> = Vec::new();
    let mut root_dev = None;
    let mut result = remove_or_enter(ctx, operand.to_vec(), o, &mut stack, &mut root_dev);
    while let Some(top) = stack.last_mut() {
        if let Some(entry) = top.entries.pop() {
            let name = paths::join_path(&top.name, &entry);
            let ok = remove_or_enter(ctx, name, o, &mut stack, &mut root_dev);
            if !ok {
                result = false;
                stack.iter_mut().for_each(|d| d.ok = false);
            }
            continue;
        }
        let Some(done) = stack.pop() else { break };
        let keep = !done.ok
            || o.ask == RmPrompt::Always && !ask_question(ctx, "remove directory", &done.name);
        if keep {
            continue;
        }
        result &= remove_dir(ctx, &done.name, o);
    }
    result
}

/// Removes a file, or pushes a directory on the stack of those to be emptied. Returns false after a
/// failure.
fn remove_or_enter(
    ctx: &mut Ctx<'_>,
    name: Vec<u8>,
    o: &RmOptions,
    stack: &mut Vec<EmptiedDir>,
    root_dev: &mut Option<u64>,
) -> bool {
    let stat = match meta::stat(&ctx.path(&name), false) {
        Ok(s) => s,
        Err(e) => {
            let absent = matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
            return o.force && absent || cannot_remove(ctx, &name, &e);
        }
    };
    if stat.kind != FileKind::Dir {
        if name.ends_with(b"/") && stat.kind != FileKind::Symlink {
            return cannot_remove(ctx, &name, &io::Error::from_raw_os_error(code::ENOTDIR));
        }
        return remove_file(ctx, &name, &stat, o);
    }
    if !o.recursive {
        if !o.dir {
            return cannot_remove(ctx, &name, &io::Error::from_raw_os_error(code::EISDIR));
        }
        let declined = o.ask == RmPrompt::Always && !ask_question(ctx, "remove directory", &name);
        return declined || remove_dir(ctx, &name, o);
    }
    let dev = *root_dev.get_or_insert(stat.dev);
    if o.one_file_system && dev != stat.dev {
        let shown = quote::quote_in_sentence(&name);
        ctx.error_bytes(&[b"skipping ", &shown, b", since it's on a different device"]);
        return false;
    }
    let entries = match std::fs::read_dir(ctx.path(&name)) {
        Ok(d) => d
            .flatten()
            .map(|e| box_sys::path::os_into_bytes(e.file_name()))
            .filter(|n| n != b"." && n != b"..")
            .collect::<Vec<_>>(),
        Err(e) => return cannot_remove(ctx, &name, &e),
    };
    let asks = o.ask == RmPrompt::Always && !entries.is_empty();
    if !asks || ask_question(ctx, "descend into directory", &name) {
        stack.push(EmptiedDir { name, entries, ok: true });
    }
    true
}

/// Prints GNU's message `cannot remove`; returns false.
fn cannot_remove(ctx: &mut Ctx<'_>, name: &[u8], e: &io::Error) -> bool {
    input::report_cannot(ctx, "cannot remove", name, e);
    false
}

fn ask_question(ctx: &mut Ctx<'_>, what: &str, name: &[u8]) -> bool {
    let q = [what.as_bytes(), b" ", &quote::quote_in_sentence(name), b"?"].concat();
    paths::confirm_question(ctx, &q)
}

fn remove_file(ctx: &mut Ctx<'_>, name: &[u8], stat: &Stat, o: &RmOptions) -> bool {
    let protected = stat.kind != FileKind::Symlink && !meta::may_access(stat, 2);
    let ask = match o.ask {
        RmPrompt::Always => true,
        RmPrompt::Never => false,
        RmPrompt::Once | RmPrompt::Protected => protected && o.terminal,
    };
    if ask {
        let what = format!(
            "remove {}{}",
            if protected { "write-protected " } else { "" },
            stat.kind_name()
        );
        if !ask_question(ctx, &what, name) {
            return true;
        }
    }
    match std::fs::remove_file(ctx.path(name)) {
        Ok(()) => {
            if o.verbose {
                let line = [b"removed ", quote::quote_in_sentence(name).as_slice(), b"\n"].concat();
                let _ = ctx.stdout.write_all(&line);
            }
            true
        }
        Err(e) if o.force && e.kind() == io::ErrorKind::NotFound => true,
        Err(e) => cannot_remove(ctx, name, &e),
    }
}

fn remove_dir(ctx: &mut Ctx<'_>, name: &[u8], o: &RmOptions) -> bool {
    match std::fs::remove_dir(ctx.path(name)) {
        Ok(()) => {
            if o.verbose {
                let line =
                    [b"removed directory ", quote::quote_in_sentence(name).as_slice(), b"\n"]
                        .concat();
                let _ = ctx.stdout.write_all(&line);
            }
            true
        }
        Err(e) => cannot_remove(ctx, name, &e),
    }
}
