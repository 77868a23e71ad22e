//! `rm` (POSIX XCU rm; GNU `-I -d -v --preserve-root --one-file-system`).

use std::io::{self, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, Stat, meta};

use crate::common::{input, paths, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [FILE]...",
    about: "Remove (unlink) the FILE(s).",
    options: &[
        Opt::flag('f', "force", "ignore nonexistent files and arguments, never prompt"),
        Opt::flag('i', "", "prompt before every removal"),
        Opt::flag(
            'I',
            "",
            "prompt once before removing more than three files, or when removing recursively",
        ),
        Opt::optional(
            '\u{1}',
            "interactive",
            "WHEN",
            "prompt according to WHEN: never, once (-I), or always (-i)",
        )
        .long_only(),
        Opt::flag('\u{2}', "one-file-system", "skip directories on other file systems").long_only(),
        Opt::flag('\u{3}', "no-preserve-root", "do not treat '/' specially").long_only(),
        Opt::optional('\u{4}', "preserve-root", "all", "do not remove '/' (default)").long_only(),
        Opt::flag('r', "recursive", "remove directories and their contents recursively"),
        Opt::flag('R', "", "the same as -r"),
        Opt::flag('d', "dir", "remove empty directories"),
        Opt::flag('v', "verbose", "explain what is being done"),
    ],
    after: "By default, rm does not remove directories.  Use the --recursive (-r or -R)\noption to remove each listed directory, too, along with all of its contents.",
    posix_order: false,
};

#[derive(Clone, Copy, PartialEq)]
enum Ask {
    Never,
    Once,
    Always,
    /// Without an option: write-protected files, if standard input is a terminal.
    Protected,
}

struct Options {
    force: bool,
    ask: Ask,
    recursive: bool,
    dir: bool,
    verbose: bool,
    one_file_system: bool,
    terminal: bool,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut ask = Ask::Protected;
    let mut force = false;
    for (id, value) in &p.options {
        match id {
            'f' => (ask, force) = (Ask::Never, true),
            'i' => (ask, force) = (Ask::Always, false),
            'I' => (ask, force) = (Ask::Once, false),
            '\u{1}' => match value.as_deref() {
                None | Some(b"always" | b"yes") => ask = Ask::Always,
                Some(b"once") => ask = Ask::Once,
                Some(b"never" | b"no" | b"none") => ask = Ask::Never,
                Some(other) => {
                    let shown = quote::always(other);
                    input::usage_error(
                        ctx,
                        &[b"invalid argument ", &shown, b" for '--interactive'"],
                    );
                    return Exit::FAILURE;
                }
            },
            _ => {}
        }
    }
    let terminal =
        matches!(ctx.stdin.source(), box_applet::Source::File(f) if box_sys::is_terminal(f));
    let o = Options {
        force,
        ask,
        recursive: p.has('r') || p.has('R'),
        dir: p.has('d'),
        verbose: p.has('v'),
        one_file_system: p.has('\u{2}'),
        terminal,
    };
    if p.operands.is_empty() {
        if force {
            return Exit::SUCCESS;
        }
        input::missing_operand(ctx, None);
        return Exit::FAILURE;
    }
    if ask == Ask::Once && (o.recursive || p.operands.len() > 3) {
        let n = p.operands.len();
        let things = if n == 1 { "argument" } else { "arguments" };
        let how = if o.recursive { " recursively" } else { "" };
        if !paths::confirm(ctx, format!("remove {n} {things}{how}?").as_bytes()) {
            return Exit::SUCCESS;
        }
    }
    let mut ok = true;
    for operand in &p.operands {
        let base = paths::base_name(operand);
        if matches!(base, b"." | b"..") {
            let shown = quote::always(operand);
            ctx.error_bytes(&[b"refusing to remove '.' or '..' directory: skipping ", &shown]);
            ok = false;
            continue;
        }
        if o.recursive && !p.has('\u{3}') && is_root(ctx, operand) {
            let shown = quote::always(operand);
            let same: &[u8] = if operand == b"/" { b"" } else { b" (same as '/')" };
            ctx.error_bytes(&[b"it is dangerous to operate recursively on ", &shown, same]);
            ctx.error("use --no-preserve-root to override this failsafe");
            ok = false;
            continue;
        }
        ok &= operand_tree(ctx, operand, &o);
    }
    if ok { Exit::SUCCESS } else { Exit::FAILURE }
}

fn is_root(ctx: &Ctx<'_>, operand: &[u8]) -> bool {
    operand.starts_with(b"/") && operand.iter().all(|c| *c == b'/')
        || operand.ends_with(b"/")
            && paths::canonical(&ctx.path(operand), paths::Missing::None)
                .is_ok_and(|p| p == std::path::Path::new("/"))
}

/// A directory being emptied: its name, its entries still to go, whether all went well.
struct Open {
    name: Vec<u8>,
    entries: Vec<Vec<u8>>,
    ok: bool,
}

/// Removes one operand with all below it, without recursion: trees may be deep.
fn operand_tree(ctx: &mut Ctx<'_>, operand: &[u8], o: &Options) -> bool {
    let mut stack: Vec<Open> = Vec::new();
    let mut root_dev = None;
    let mut result = enter(ctx, operand.to_vec(), o, &mut stack, &mut root_dev);
    while let Some(top) = stack.last_mut() {
        if let Some(entry) = top.entries.pop() {
            let name = paths::join(&top.name, &entry);
            let ok = enter(ctx, name, o, &mut stack, &mut root_dev);
            if !ok {
                result = false;
                stack.iter_mut().for_each(|d| d.ok = false);
            }
            continue;
        }
        let Some(done) = stack.pop() else { break };
        let keep =
            !done.ok || o.ask == Ask::Always && !question(ctx, "remove directory", &done.name);
        if keep {
            continue;
        }
        result &= remove_dir(ctx, &done.name, o);
    }
    result
}

/// Removes a file, or opens a directory for emptying. Returns false after a failure.
fn enter(
    ctx: &mut Ctx<'_>,
    name: Vec<u8>,
    o: &Options,
    stack: &mut Vec<Open>,
    root_dev: &mut Option<u64>,
) -> bool {
    let path = ctx.path(&name);
    let stat = match meta::stat(&path, false) {
        Ok(s) => s,
        Err(e) => {
            let absent = matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
            if o.force && absent {
                return true;
            }
            input::cannot(ctx, "cannot remove", &name, &e);
            return false;
        }
    };
    if stat.kind != Kind::Dir {
        if name.ends_with(b"/") && stat.kind != Kind::Symlink {
            let e = io::Error::from_raw_os_error(box_sys::errno::code::ENOTDIR);
            input::cannot(ctx, "cannot remove", &name, &e);
            return false;
        }
        return remove_file(ctx, &name, &stat, o);
    }
    if !o.recursive {
        if o.dir {
            if o.ask == Ask::Always && !question(ctx, "remove directory", &name) {
                return true;
            }
            return remove_dir(ctx, &name, o);
        }
        let e = io::Error::from_raw_os_error(box_sys::errno::code::EISDIR);
        input::cannot(ctx, "cannot remove", &name, &e);
        return false;
    }
    let dev = *root_dev.get_or_insert(stat.dev);
    if o.one_file_system && dev != stat.dev {
        let shown = quote::always(&name);
        ctx.error_bytes(&[b"skipping ", &shown, b", since it's on a different device"]);
        return false;
    }
    let entries = match std::fs::read_dir(&path) {
        Ok(d) => d
            .flatten()
            .map(|e| box_sys::path::os_into_bytes(e.file_name()))
            .filter(|n| n != b"." && n != b"..")
            .collect::<Vec<_>>(),
        Err(e) => {
            input::cannot(ctx, "cannot remove", &name, &e);
            return false;
        }
    };
    if o.ask == Ask::Always
        && !entries.is_empty()
        && !question(ctx, "descend into directory", &name)
    {
        return true;
    }
    stack.push(Open { name, entries, ok: true });
    true
}

fn question(ctx: &mut Ctx<'_>, what: &str, name: &[u8]) -> bool {
    let q = [what.as_bytes(), b" ", &quote::always(name), b"?"].concat();
    paths::confirm(ctx, &q)
}

fn describe(s: &Stat) -> &'static str {
    match s.kind {
        Kind::File if s.size == 0 => "regular empty file",
        Kind::File => "regular file",
        Kind::Dir => "directory",
        Kind::Symlink => "symbolic link",
        Kind::Fifo => "fifo",
        Kind::Socket => "socket",
        Kind::CharDevice => "character special file",
        Kind::BlockDevice => "block special file",
    }
}

fn remove_file(ctx: &mut Ctx<'_>, name: &[u8], stat: &Stat, o: &Options) -> bool {
    let protected = stat.kind != Kind::Symlink && !meta::may(stat, 2);
    let ask = match o.ask {
        Ask::Always => true,
        Ask::Never => false,
        Ask::Once | Ask::Protected => protected && o.terminal,
    };
    if ask {
        let what =
            format!("remove {}{}", if protected { "write-protected " } else { "" }, describe(stat));
        if !question(ctx, &what, name) {
            return true;
        }
    }
    match std::fs::remove_file(ctx.path(name)) {
        Ok(()) => {
            if o.verbose {
                let line = [b"removed ", quote::always(name).as_slice(), b"\n"].concat();
                let _ = ctx.stdout.write_all(&line);
            }
            true
        }
        Err(e) if o.force && e.kind() == io::ErrorKind::NotFound => true,
        Err(e) => {
            input::cannot(ctx, "cannot remove", name, &e);
            false
        }
    }
}

fn remove_dir(ctx: &mut Ctx<'_>, name: &[u8], o: &Options) -> bool {
    match std::fs::remove_dir(ctx.path(name)) {
        Ok(()) => {
            if o.verbose {
                let line = [b"removed directory ", quote::always(name).as_slice(), b"\n"].concat();
                let _ = ctx.stdout.write_all(&line);
            }
            true
        }
        Err(e) => {
            input::cannot(ctx, "cannot remove", name, &e);
            false
        }
    }
}
