//! `hash` (POSIX XCU).

use std::path::Path;

use box_sys::path;
use sh_expand::Str;

use super::{BuiltinArguments, BuiltinCall};
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::SetOpt;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "dlp:rt")?;
    if !shell.state.options.has_set(SetOpt::HashAll) {
        shell.builtin_error(call.name(), &[b"hashing disabled"]);
        return Ok(1);
    }
    if p.has_letter(b'r') {
        shell.state.commands.forget_all();
    }
    if p.operands.is_empty() {
        if !p.has_letter(b'r') {
            list_hashed(shell, p.has_letter(b'l'));
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in p.operands {
        if !hash_operand(shell, &p, name) {
            shell.builtin_error(call.name(), &[name, b": not found"]);
            status = 1;
        }
    }
    Ok(status)
}

/// Returns a remembered location as a command that can be read back.
fn reusable_command(name: &[u8], file: &Path) -> Vec<u8> {
    [b"builtin hash -p ", path::to_bytes(file), b" ", name, b"\n"].concat()
}

/// Performs `hash` and `hash -l`.
fn list_hashed(shell: &mut Shell<'_>, reusably: bool) {
    let commands = shell.state.commands.clone();
    let locations = commands.locations();
    if locations.len() == 0 {
        // POSIX allows no message here.
        if !shell.state.options.has_set(SetOpt::Posix) {
            shell.write_out(b"hash: hash table empty\n");
        }
        return;
    }
    let mut out = if reusably { Vec::new() } else { b"hits\tcommand\n".to_vec() };
    for (name, file, hits) in locations {
        if reusably {
            out.extend(reusable_command(name, file))
        } else {
            out.extend_from_slice(format!("{hits:4}\t").as_bytes());
            out.extend_from_slice(path::to_bytes(file));
            out.push(b'\n');
        }
    }
    shell.write_out(&out);
}

/// Applies the options to one name; returns false if there is no such command.
fn hash_operand(shell: &mut Shell<'_>, p: &BuiltinArguments<'_>, name: &Str) -> bool {
    if let Some(file) = p.last_value(b'p') {
        let file = path::from_bytes(file).to_path_buf();
        shell.state.commands.remember_location(name, file, 0);
        return true;
    }
    if p.has_letter(b'd') {
        let empty = shell.state.commands.locations().len() == 0;
        return shell.state.commands.forget_location(name) || empty;
    }
    if p.has_letter(b't') {
        let Some(file) = shell.state.commands.location(name) else { return false };
        let line = match (p.has_letter(b'l'), p.operands.len()) {
            (true, _) => reusable_command(name, file),
            (false, 1) => [path::to_bytes(file), b"\n"].concat(),
            (false, _) => [name.as_slice(), b"\t", path::to_bytes(file), b"\n"].concat(),
        };
        shell.write_out(&line);
        return true;
    }
    if name.contains(&b'/')
        || shell.enabled_builtin(name).is_some()
        || shell.state.functions.contains_key(name.as_slice())
    {
        return true;
    }
    shell.state.commands.forget_location(name);
    // Only an executable file is remembered.
    let located = shell.locate_command(name).is_ok();
    let found = shell.state.commands.location(name).filter(|_| located).map(Path::to_path_buf);
    match found {
        Some(file) => {
            shell.state.commands.remember_location(name, file, 0);
            true
        }
        None => false,
    }
}
