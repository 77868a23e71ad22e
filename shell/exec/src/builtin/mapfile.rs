//! `mapfile`, `readarray` (bash manual 4.2).

use std::rc::Rc;

use sh_expand::{Attributes, OwnedKey, Str};

use super::opts::parse_integer;
use super::{BuiltinArguments, BuiltinCall};
use crate::Shell;
use crate::run::{SourceText, TextKind};
use crate::shell::{Flow, Unwind};
use crate::state::assign::is_name;
use crate::state::vars::decimal_digits;

/// The request of a call.
struct MapfileRequest {
    /// Maximum number of lines to read; 0 for all.
    count: i64,
    /// Index of the first line.
    origin: i64,
    /// Number of lines to skip.
    skip: i64,
    fd: u32,
    delimiter: u8,
    /// Whether the delimiter is removed.
    trims: bool,
    /// A command to run, and the number of lines between its calls.
    callback: Option<(Str, i64)>,
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "d:n:O:s:tu:C:c:")?;
    let Some(request) = parse_request(shell, call, &p) else { return Ok(1) };
    let name = p.operands.first().map_or_else(|| b"MAPFILE".to_vec(), |n| n.to_vec());
    if name.is_empty() {
        shell.builtin_error(call.name(), &[b"empty array variable name"]);
        return Ok(2);
    }
    if !is_name(&name) {
        shell.builtin_error(call.name(), &[b"`", &name, b"': not a valid identifier"]);
        return Ok(1);
    }
    if p.last_value(b'u').is_some() && shell.state.fds.get(request.fd).is_none() {
        let fd = decimal_digits(i64::from(request.fd));
        let message = b": invalid file descriptor: Bad file descriptor";
        shell.builtin_error(call.name(), &[&fd, message]);
        return Ok(1);
    }
    let name = match shell.follow_nameref(&name) {
        Ok(t) => t.name.into_owned(),
        Err(e) => {
            return shell.assignment_refused(call.name(), &e);
        }
    };
    if shell.state.vars.get(&name).is_some_and(|v| v.attrs.intersects(Attributes::ASSOC)) {
        shell.builtin_error(call.name(), &[&name, b": not an indexed array"]);
        return Ok(1);
    }
    if let Err(e) = shell.check_writable(&name) {
        shell.print_error(&[&e.message()]);
        return shell.refused();
    }
    if p.last_value(b'O').is_none() {
        let _ = shell.set_array(&name, Default::default());
    }
    fill_array(shell, call, &name, &request)
}

/// Parses the options. If a number is invalid, prints a message and returns `None`.
fn parse_request(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    p: &BuiltinArguments<'_>,
) -> Option<MapfileRequest> {
    let mut number = |letter: u8, what: &str| {
        let Some(text) = p.last_value(letter) else { return Some(0) };
        let n = parse_integer(text).filter(|n| *n >= 0);
        if n.is_none() {
            shell.builtin_error(call.name(), &[text, b": invalid ", what.as_bytes()]);
        }
        n
    };
    let count = number(b'n', "line count")?;
    let origin = number(b'O', "array origin")?;
    let skip = number(b's', "line count")?;
    let fd = number(b'u', "file descriptor specification")?;
    let quantum = number(b'c', "callback quantum")?;
    let quantum = if p.last_value(b'c').is_some() { quantum.max(1) } else { 5000 };
    Some(MapfileRequest {
        count,
        origin,
        skip,
        fd: u32::try_from(fd).unwrap_or(u32::MAX),
        delimiter: p.last_value(b'd').map_or(b'\n', |d| d.first().copied().unwrap_or(0)),
        trims: p.has_letter(b't'),
        callback: p.last_value(b'C').map(|command| (command.clone(), quantum)),
    })
}

/// Reads the lines into the array.
fn fill_array(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    name: &[u8],
    r: &MapfileRequest,
) -> Flow {
    let mut line = Vec::new();
    let mut index = r.origin;
    let (mut skipped, mut read) = (0, 0i64);
    while r.count == 0 || read < r.count {
        line.clear();
        // An error ends the input, as in bash: a callback may close the descriptor for that.
        let found =
            shell.read_until(r.fd, Some(r.delimiter), usize::MAX, &mut line).unwrap_or_default();
        if line.is_empty() {
            break;
        }
        shell.loop_tick()?;
        if skipped < r.skip {
            skipped += 1;
            continue;
        }
        if found && (r.trims || r.delimiter == 0) {
            line.pop();
        }
        // bash's lines are C strings: they end at a NUL.
        if let Some(nul) = memchr::memchr(0, &line) {
            line.truncate(nul);
        }
        read += 1;
        if let Some((command, quantum)) = &r.callback
            && read % quantum == 0
        {
            call_back(shell, command, index, &line)?;
        }
        let value = Rc::new(line.clone());
        if let Err(e) = shell.set_array_element(name, &OwnedKey::Index(index), false, value) {
            return shell.assignment_refused(call.name(), &e);
        }
        index += 1;
        if !found {
            break;
        }
    }
    Ok(0)
}

/// Runs the command of `-C` with the index and the line that will be assigned next.
fn call_back(shell: &mut Shell<'_>, command: &[u8], index: i64, line: &[u8]) -> Result<(), Unwind> {
    let quoted = box_text::escape::at_q(line);
    let text = [command, b" ", &decimal_digits(index), b" ", &quoted].concat();
    let at = shell.state.line;
    shell.run_text(SourceText { text: &text, line: at, kind: TextKind::Commands }).map(drop)
}
