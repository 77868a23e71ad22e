//! `mapfile`, `readarray` (bash manual 4.2).

use std::rc::Rc;

use sh_expand::OwnedKey;

use super::Call;
use super::opts::integer;
use crate::Shell;
use crate::run::{Text, TextKind};
use crate::shell::Flow;
use crate::state::vars::decimal;

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "d:n:O:s:tu:C:c:") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let mut numbers = [0i64; 5];
    for (slot, (letter, what)) in numbers.iter_mut().zip([
        (b'n', "line count"),
        (b'O', "array origin"),
        (b's', "line count"),
        (b'u', "file descriptor specification"),
        (b'c', "callback quantum"),
    ]) {
        let Some(v) = p.value(letter).cloned() else { continue };
        match integer(&v).filter(|n| *n >= 0) {
            Some(n) => *slot = n,
            None => {
                shell.builtin_error(call.name(), &[&v, b": invalid ", what.as_bytes()]);
                return Ok(1);
            }
        }
    }
    let [count, origin, skip, fd, quantum] = numbers;
    let quantum = if p.value(b'c').is_some() { quantum.max(1) } else { 5000 };
    let fd = u32::try_from(fd).unwrap_or(u32::MAX);
    let delim = p.value(b'd').map_or(b'\n', |d| d.first().copied().unwrap_or(0));
    let name = p.operands.first().map_or_else(|| b"MAPFILE".to_vec(), |n| n.to_vec());
    if name.is_empty() {
        shell.builtin_error(call.name(), &[b"empty array variable name"]);
        return Ok(2);
    }
    if !crate::state::assign::is_name(&name) {
        shell.builtin_error(call.name(), &[b"`", &name, b"': not a valid identifier"]);
        return Ok(1);
    }
    if shell.state.fds.get(fd).is_none() {
        shell.builtin_error(
            call.name(),
            &[decimal(i64::from(fd)).as_slice(), b": invalid file descriptor: Bad file descriptor"],
        );
        return Ok(1);
    }
    let name = match shell.follow(&name) {
        Ok(t) => t.name.into_owned(),
        Err(e) => {
            shell.assignment_error(call.name(), &e);
            return shell.after_assignment_error(&e);
        }
    };
    if shell.state.vars.get(&name).is_some_and(|v| v.attrs.assoc) {
        shell.builtin_error(call.name(), &[&name, b": not an indexed array"]);
        return Ok(1);
    }
    if let Err(e) = shell.check_writable(&name) {
        shell.error(&[&e.message()]);
        return shell.refused();
    }
    if p.value(b'O').is_none() {
        let _ = shell.set_array(&name, Default::default());
    }
    let mut line = Vec::new();
    let mut index = origin;
    let mut skipped = 0;
    let mut read = 0i64;
    loop {
        if count > 0 && read >= count {
            break;
        }
        line.clear();
        let found = match shell.read_until(fd, Some(delim), usize::MAX, &mut line) {
            Ok(f) => f,
            Err(e) => {
                let text = box_sys::strerror(&e);
                shell.builtin_error(call.name(), &[b"read error: ", text.as_bytes()]);
                return Ok(1);
            }
        };
        if line.is_empty() {
            break;
        }
        shell.loop_tick()?;
        if skipped < skip {
            skipped += 1;
            continue;
        }
        if found && (p.has(b't') || delim == 0) {
            line.pop();
        }
        // bash's lines are C strings: they end at a NUL.
        if let Some(nul) = memchr::memchr(0, &line) {
            line.truncate(nul);
        }
        read += 1;
        if let Some(callback) = p.value(b'C').filter(|_| read % quantum == 0) {
            let quoted = box_text::escape::at_q(&line);
            let text = [callback.as_slice(), b" ", &decimal(index), b" ", &quoted].concat();
            let at = shell.state.line;
            shell.run_text(Text { text: &text, line: at, kind: TextKind::Commands })?;
        }
        let value = Rc::new(line.clone());
        if let Err(e) = shell.set_array_element(&name, &OwnedKey::Index(index), false, value) {
            shell.assignment_error(call.name(), &e);
            return shell.after_assignment_error(&e);
        }
        index += 1;
        if !found {
            break;
        }
    }
    Ok(0)
}
