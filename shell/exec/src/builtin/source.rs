//! `.` and `source` (POSIX XCU, bash manual 4.1).

use std::io;
use std::rc::Rc;

use box_sys::error_text;
use sh_expand::Str;

use super::BuiltinCall;
use crate::Shell;
use crate::run::{SourceText, TextKind};
use crate::shell::{Flow, Unwind};
use crate::state::calls::CallFrame;
use crate::state::options::{SetOpt, ShOpt};
use crate::state::traps::Trap;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "p:")?;
    let Some((name, args)) = p.operands.split_first() else {
        shell.builtin_error(call.name(), &[b"filename argument required"]);
        return Err(shell.print_usage(call.name()));
    };
    shell.about_to_look();
    let posix = shell.state.options.has_set(SetOpt::Posix);
    let file = find_source(shell, name, posix);
    let text = match read(shell, &file) {
        Ok(text) => text,
        Err(e) => return report_unreadable(shell, call, name, &e),
    };
    if memchr::memchr(0, text.get(..80.min(text.len())).unwrap_or_default()).is_some() {
        shell.print_error(&[name, b": cannot execute binary file"]);
        return Ok(126);
    }
    shell.check_depth()?;
    run_file(shell, name, file, &text, args)
}

/// Reads the whole of a file, which may be a descriptor of the script.
fn read(shell: &Shell<'_>, file: &[u8]) -> io::Result<Vec<u8>> {
    match shell.open_virtual(file) {
        Some(Some(desc)) => {
            let mut out = Vec::new();
            desc.read_to_end(&mut out).map(|()| out)
        }
        Some(None) => Err(crate::io::bad_fd()),
        None => shell.read_file(&shell.absolute_path(file)),
    }
}

/// Reports a file that cannot be read. With `set -e` that ends a script; in a POSIX shell, too,
/// unless the file is a directory.
fn report_unreadable(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    name: &[u8],
    e: &io::Error,
) -> Flow {
    let posix = shell.state.options.has_set(SetOpt::Posix);
    let is_directory = e.raw_os_error() == Some(box_sys::errno::code::EISDIR);
    if is_directory {
        shell.builtin_error(call.name(), &[name, b": is a directory"]);
    } else if posix && !name.contains(&b'/') {
        shell.builtin_error(call.name(), &[name, b": file not found"]);
    } else {
        shell.print_error(&[name, b": ", error_text(e).as_bytes()]);
    }
    let traced = shell.state.options.has_set(SetOpt::FuncTrace);
    if traced && shell.state.traps.sees_trap(Trap::Return) {
        shell.run_return_trap()?;
    }
    if shell.exits_on_errors() {
        return Err(shell.exit_here(1));
    }
    let ends = posix && !is_directory && !shell.state.options.is_interactive();
    if ends && !shell.state.here.command_builtin { Err(shell.ends_with(1)) } else { Ok(1) }
}

/// Runs the text of a file like a function call, with `args` as positional parameters if there are
/// any.
fn run_file(shell: &mut Shell<'_>, name: &Str, file: Vec<u8>, text: &[u8], args: &[Str]) -> Flow {
    let line = shell.state.line;
    let debugged = shell.state.options.has_shopt(ShOpt::ExtDebug);
    let shown = || match args {
        [] => vec![name.clone()],
        args => args.to_vec(),
    };
    shell.state.calls.push(CallFrame {
        name: Rc::new(b"source".to_vec()),
        source: Rc::new(file),
        call_line: line,
        is_function: false,
        args: debugged.then(|| shown().into()),
    });
    let around = (!args.is_empty()).then(|| shell.state.params.enter_file(args));
    // The DEBUG trap does not run in the file, unless `functrace` is set (bash manual, `.`).
    let traced = shell.state.options.has_set(SetOpt::FuncTrace);
    let debug = if traced { None } else { shell.state.traps.take_debug() };
    let r = shell
        .keeping_command(|s| s.run_text(SourceText { text, line: 1, kind: TextKind::Commands }));
    let mut r = match r {
        Err(Unwind::Return(s)) => Ok(s),
        other => other,
    };
    // The action sees the file's parameters but runs outside of it.
    shell.state.calls.pop();
    shell.state.line = line;
    let ends = |r: &Flow| matches!(r, Err(Unwind::Exit(_) | Unwind::GiveUp(_)));
    if shell.state.traps.sees_trap(Trap::Return)
        && !ends(&r)
        && let Err(u) = shell.run_return_trap()
    {
        r = Err(u);
    }
    if let Some(debug) = debug
        && !ends(&r)
    {
        shell.state.traps.put_debug_back(debug);
    }
    if let Some(around) = around {
        let in_function = shell.state.vars.function_level().is_some();
        shell.state.params.leave_file(around, in_function);
    }
    r
}

/// Returns the file that a name means. A name without a slash is searched in PATH, then in the
/// working directory; `.` and `..` are directories everywhere.
fn find_source(shell: &mut Shell<'_>, name: &[u8], posix: bool) -> Vec<u8> {
    let is_path = name.contains(&b'/') || matches!(name, b"." | b"..");
    if is_path || !shell.state.options.has_shopt(ShOpt::SourcePath) {
        return name.to_vec();
    }
    let search = shell.variable_text(b"PATH").unwrap_or_default();
    for dir in search.split(|c| *c == b':') {
        let dir = if dir.is_empty() { b".".as_slice() } else { dir };
        let candidate = [dir, b"/", name].concat();
        if shell.absolute_path(&candidate).is_file() {
            return candidate;
        }
    }
    if posix {
        return [b"/nonexistent/", name].concat();
    }
    name.to_vec()
}
