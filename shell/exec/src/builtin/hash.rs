//! `hash` (POSIX XCU).

use std::path::Path;

use box_sys::path;
use sh_expand::Str;

use super::{BuiltinArguments, BuiltinCall};
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::SetOpt;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.options(call, "dlp:rt")?;
    if !shell.state.options.has(SetOpt::HashAll) {
        shell.builtin_error(call.name(), &[b"hashing disabled"]);
        return Ok(1);
    }
    if p.has(b'r') {
        shell.state.commands.forget_all();
    }
    if p.operands.is_empty() {
        if !p.has(b'r') {
            list(shell, p.has(b'l'));
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in p.operands {
        if !operand(shell, &p, name) {
            shell.builtin_error(call.name(), &[name, b": not found"]);
            status = 1;
        }
    }
    Ok(status)
}

/// A remembered location as a command that reads back.
fn reusable(name: &[u8], file: &Path) -> Vec<u8> {
    [b"builtin hash -p ", path::to_bytes(file), b" ", name, b"\n"].concat()
}

/// `hash` and `hash -l`
fn list(shell: &mut Shell<'_>, reusably: bool) {
    let commands = shell.state.commands.clone();
    let locations = commands.locations();
    if locations.len() == 0 {
        // POSIX leaves no room for that.
        if !shell.state.options.has(SetOpt::Posix) {
            shell.out(b"hash: hash table empty\n");
        }
        return;
    }
    let mut out = if reusably { Vec::new() } else { b"hits\tcommand\n".to_vec() };
    for (name, file, hits) in locations {
        match reusably {
            true => out.extend(reusable(name, file)),
            false => {
                out.extend_from_slice(format!("{hits:4}\t").as_bytes());
                out.extend_from_slice(path::to_bytes(file));
                out.push(b'\n');
            }
        }
    }
    shell.out(&out);
}

/// Does with one name what the options say; false if it is nowhere.
fn operand(shell: &mut Shell<'_>, p: &BuiltinArguments<'_>, name: &Str) -> bool {
    if let Some(file) = p.value(b'p') {
        let file = path::from_bytes(file).to_path_buf();
        shell.state.commands.remember(name, file, 0);
        return true;
    }
    if p.has(b'd') {
        let empty = shell.state.commands.locations().len() == 0;
        return shell.state.commands.forget(name) || empty;
    }
    if p.has(b't') {
        let Some(file) = shell.state.commands.location(name) else { return false };
        let line = match (p.has(b'l'), p.operands.len()) {
            (true, _) => reusable(name, file),
            (false, 1) => [path::to_bytes(file), b"\n"].concat(),
            (false, _) => [name.as_slice(), b"\t", path::to_bytes(file), b"\n"].concat(),
        };
        shell.out(&line);
        return true;
    }
    if name.contains(&b'/')
        || shell.builtin(name).is_some()
        || shell.state.functions.contains_key(name.as_slice())
    {
        return true;
    }
    shell.state.commands.forget(name);
    // Only what can be run is remembered.
    let located = shell.locate(name).is_ok();
    let found = shell.state.commands.location(name).filter(|_| located).map(Path::to_path_buf);
    match found {
        Some(file) => {
            shell.state.commands.remember(name, file, 0);
            true
        }
        None => false,
    }
}
