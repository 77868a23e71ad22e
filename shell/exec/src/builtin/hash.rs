//! `hash` (POSIX XCU).

use std::rc::Rc;

use box_sys::path;

use super::Call;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::SetOpt;

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "dlp:rt") {
        Ok(p) => p,
        Err(r) => return r,
    };
    if !shell.state.options.has(SetOpt::HashAll) {
        shell.builtin_error(call.name(), &[b"hashing disabled"]);
        return Ok(1);
    }
    if p.has(b'r') {
        shell.state.hashed = Rc::default();
    }
    if p.operands.is_empty() {
        if p.has(b'r') {
            return Ok(0);
        }
        let hashed = shell.state.hashed.clone();
        if hashed.is_empty() {
            // POSIX leaves no room for that.
            if !shell.state.options.has(SetOpt::Posix) {
                shell.out(b"hash: hash table empty\n");
            }
            return Ok(0);
        }
        let mut out = Vec::new();
        if !p.has(b'l') {
            out.extend_from_slice(b"hits\tcommand\n");
        }
        for (name, (file, hits)) in hashed.iter() {
            let file = path::to_bytes(file);
            if p.has(b'l') {
                out.extend_from_slice(&[b"builtin hash -p ", file, b" ", name, b"\n"].concat());
            } else {
                out.extend_from_slice(format!("{hits:4}\t").as_bytes());
                out.extend_from_slice(file);
                out.push(b'\n');
            }
        }
        shell.out(&out);
        return Ok(0);
    }
    let mut status = 0;
    for name in p.operands {
        if let Some(file) = p.value(b'p') {
            let file = path::from_bytes(file).to_path_buf();
            Rc::make_mut(&mut shell.state.hashed).insert(name.to_vec(), (file, 0));
        } else if p.has(b'd') {
            let empty = shell.state.hashed.is_empty();
            if Rc::make_mut(&mut shell.state.hashed).remove(name.as_slice()).is_none() && !empty {
                shell.builtin_error(call.name(), &[name, b": not found"]);
                status = 1;
            }
        } else if p.has(b't') {
            match shell.state.hashed.get(name.as_slice()).cloned() {
                Some((file, _)) => {
                    let file = path::to_bytes(&file).to_vec();
                    if p.has(b'l') {
                        shell.out(
                            &[b"builtin hash -p ", file.as_slice(), b" ", name, b"\n"].concat(),
                        );
                    } else if p.operands.len() > 1 {
                        shell.out(&[name.as_slice(), b"\t", &file, b"\n"].concat());
                    } else {
                        shell.out(&[file.as_slice(), b"\n"].concat());
                    }
                }
                None => {
                    shell.builtin_error(call.name(), &[name, b": not found"]);
                    status = 1;
                }
            }
        } else if name.contains(&b'/')
            || shell.builtin(name).is_some()
            || shell.state.functions.contains_key(name.as_slice())
        {
            continue;
        } else {
            Rc::make_mut(&mut shell.state.hashed).remove(name.as_slice());
            // Only what can be run is remembered.
            let located = shell.locate(name).is_ok();
            match Rc::make_mut(&mut shell.state.hashed).get_mut(name.as_slice()) {
                Some((_, hits)) if located => *hits = 0,
                _ => {
                    shell.builtin_error(call.name(), &[name, b": not found"]);
                    status = 1;
                }
            }
        }
    }
    Ok(status)
}
