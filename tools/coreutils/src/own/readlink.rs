//! `readlink` and `realpath` (GNU).

use std::io::{self, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::path::to_bytes;

use crate::common::paths::{Missing, canonical, relative};
use crate::common::{input, quote};

const READLINK: Spec = Spec {
    usage: "[OPTION]... FILE...",
    about: "Print value of a symbolic link or canonical file name",
    options: &[
        Opt::flag(
            'f',
            "canonicalize",
            "canonicalize by following every symlink in every component;\nall but the last component must exist",
        ),
        Opt::flag('e', "canonicalize-existing", "the same, all components must exist"),
        Opt::flag('m', "canonicalize-missing", "the same, without requirements on existence"),
        Opt::flag('n', "no-newline", "do not output the trailing delimiter"),
        Opt::flag('q', "quiet", "suppress most error messages (the default)"),
        Opt::flag('s', "silent", "suppress most error messages (the default)"),
        Opt::flag('v', "verbose", "report error messages"),
        Opt::flag('z', "zero", "end each output line with NUL, not newline"),
    ],
    after: "",
    posix_order: false,
};

pub(crate) fn readlink(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match READLINK.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    if p.operands.is_empty() {
        input::missing_operand(ctx, None);
        return Exit::FAILURE;
    }
    let mut newline = !p.has('n');
    if p.operands.len() > 1 && !newline {
        ctx.error("ignoring --no-newline with multiple arguments");
        newline = true;
    }
    let verbose = p.last_of(&['v', 'q', 's']) == Some('v');
    let mut exit = Exit::SUCCESS;
    for file in &p.operands {
        let path = ctx.path(file);
        let result = match p.last_of(&['f', 'e', 'm']) {
            _ if file.is_empty() => Err(io::ErrorKind::NotFound.into()),
            Some('f') => canonical(&path, Missing::Last),
            Some('e') => canonical(&path, Missing::None),
            Some(_) => canonical(&path, Missing::All),
            None => std::fs::read_link(&path),
        };
        match result {
            Ok(target) => {
                let mut line = to_bytes(&target).to_vec();
                if newline {
                    line.push(if p.has('z') { 0 } else { b'\n' });
                }
                if ctx.stdout.write_all(&line).is_err() {
                    return Exit::FAILURE;
                }
            }
            Err(e) => {
                exit = Exit::FAILURE;
                if verbose {
                    input::file_error(ctx, file, &e);
                }
            }
        }
    }
    exit
}

const REALPATH: Spec = Spec {
    usage: "[OPTION]... FILE...",
    about: "Print the resolved absolute file name;\nall but the last component must exist",
    options: &[
        Opt::flag('e', "canonicalize-existing", "all components of the path must exist"),
        Opt::flag('m', "canonicalize-missing", "no path components need exist or be a directory"),
        Opt::flag('L', "logical", "resolve '..' components before symlinks"),
        Opt::flag('P', "physical", "resolve symlinks as encountered (default)"),
        Opt::flag('q', "quiet", "suppress most error messages"),
        Opt::value('\u{1}', "relative-to", "DIR", "print the resolved path relative to DIR")
            .long_only(),
        Opt::value('\u{2}', "relative-base", "DIR", "print absolute paths unless paths below DIR")
            .long_only(),
        Opt::flag('s', "strip", "don't expand symlinks"),
        Opt::flag('\u{3}', "no-symlinks", "don't expand symlinks").long_only(),
        Opt::flag('z', "zero", "end each output line with NUL, not newline"),
    ],
    after: "",
    posix_order: false,
};

/// `.`, `..` and doubled slashes removed by text alone.
fn lexical(path: &std::path::Path) -> std::path::PathBuf {
    let mut parts: Vec<&[u8]> = Vec::new();
    for c in to_bytes(path).split(|c| *c == b'/') {
        match c {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    let text = [b"/", parts.join(&b'/').as_slice()].concat();
    std::path::PathBuf::from(box_sys::path::os_string(text))
}

pub(crate) fn realpath(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match REALPATH.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    if p.operands.is_empty() {
        input::missing_operand(ctx, None);
        return Exit::FAILURE;
    }
    let missing = match p.last_of(&['e', 'm']) {
        Some('e') => Missing::None,
        Some(_) => Missing::All,
        None => Missing::Last,
    };
    let literal = matches!(p.last_of(&['s', '\u{3}', 'P']), Some('s' | '\u{3}'));
    let logical = p.last_of(&['L', 'P']) == Some('L');
    let resolve = |ctx: &Ctx<'_>, file: &[u8]| -> io::Result<std::path::PathBuf> {
        if file.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let path = ctx.path(file);
        if literal {
            let plain = lexical(&path);
            if missing != Missing::All {
                canonical(&path, missing)?;
            }
            return Ok(plain);
        }
        canonical(&if logical { lexical(&path) } else { path }, missing)
    };
    let mut dirs = [None, None];
    for (slot, id) in dirs.iter_mut().zip(['\u{1}', '\u{2}']) {
        if let Some(d) = p.last(id) {
            match resolve(ctx, d) {
                Ok(d) => *slot = Some(d),
                Err(e) => {
                    input::file_error(ctx, d, &e);
                    return Exit::FAILURE;
                }
            }
        }
    }
    let [to, base] = dirs;
    // A base that the start is not below has no effect on it.
    let to = match (to, &base) {
        (Some(t), Some(b)) if !t.starts_with(b) => {
            let _ = t;
            None
        }
        (None, Some(b)) => Some(b.clone()),
        (t, _) => t,
    };
    let mut exit = Exit::SUCCESS;
    for file in &p.operands {
        match resolve(ctx, file) {
            Ok(full) => {
                let inside = base.as_ref().is_none_or(|b| full.starts_with(b));
                let mut line = match &to {
                    Some(t) if inside => relative(&full, t),
                    _ => to_bytes(&full).to_vec(),
                };
                line.push(if p.has('z') { 0 } else { b'\n' });
                if ctx.stdout.write_all(&line).is_err() {
                    return Exit::FAILURE;
                }
            }
            Err(e) => {
                exit = Exit::FAILURE;
                if !p.has('q') {
                    let shown = if file.is_empty() { b"''".to_vec() } else { quote::colon(file) };
                    ctx.error_bytes(&[&shown, b": ", box_sys::strerror(&e).as_bytes()]);
                }
            }
        }
    }
    exit
}
