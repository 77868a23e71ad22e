//! `.` and `source` (POSIX XCU, bash manual 4.1).

use std::rc::Rc;

use box_sys::strerror;

use super::Call;
use crate::Shell;
use crate::run::{Text, TextKind};
use crate::shell::{Flow, Unwind};
use crate::state::Frame;
use crate::state::options::{SetOpt, ShOpt};

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "p:") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let Some(name) = p.operands.first() else {
        shell.builtin_error(call.name(), &[b"filename argument required"]);
        return shell.usage(call.name());
    };
    shell.about_to_look();
    let posix = shell.state.options.has(SetOpt::Posix);
    let file = find(shell, name, posix);
    let read = match shell.open_virtual(&file) {
        Some(Some(desc)) => {
            let mut out = Vec::new();
            desc.read_to_end(&mut out).map(|()| out)
        }
        Some(None) => Err(crate::io::bad_fd()),
        None => shell.read_file(&shell.path(&file)),
    };
    let text = match read {
        Ok(t) => t,
        Err(e) => {
            let text = strerror(&e);
            if e.raw_os_error() == Some(box_sys::errno::code::EISDIR) {
                shell.builtin_error(call.name(), &[name, b": is a directory"]);
            } else if posix && !name.contains(&b'/') {
                shell.builtin_error(call.name(), &[name, b": file not found"]);
            } else {
                shell.error(&[name, b": ", text.as_bytes()]);
            }
            let traced = shell.state.options.has(SetOpt::FuncTrace);
            if traced && shell.state.traps.has_return {
                shell.run_return_trap()?;
            }
            return match shell.exits_on_errors() {
                true => Err(shell.exit_here(shell.status_after_failure())),
                false
                    if posix
                        && !shell.state.options.interactive
                        && !shell.state.here.command_builtin =>
                {
                    Err(shell.ends_with(1))
                }
                false => Ok(1),
            };
        }
    };
    if memchr::memchr(0, text.get(..80.min(text.len())).unwrap_or_default()).is_some() {
        shell.error(&[name, b": cannot execute binary file"]);
        return Ok(126);
    }
    shell.check_depth()?;
    let line = shell.state.line;
    Rc::make_mut(&mut shell.state.frames).push(Frame {
        name: Rc::new(b"source".to_vec()),
        source: Rc::new(file),
        call_line: line,
        is_function: false,
    });
    let args = &p.operands[1..];
    let old = (!args.is_empty()).then(|| {
        shell.state.positional_set = false;
        std::mem::replace(&mut shell.state.positional, Rc::new(args.to_vec()))
    });
    // The file does not see the DEBUG trap, unless it is to be inherited (bash manual, `.`).
    let traced = shell.state.options.has(SetOpt::FuncTrace);
    let debug = if traced { None } else { shell.state.traps.take_debug() };
    let debugged = shell.state.options.shopt(ShOpt::ExtDebug);
    if debugged {
        let given = match args {
            [] => vec![name.clone()],
            args => args.to_vec(),
        };
        Rc::make_mut(&mut shell.state.call_args).push(Rc::new(given));
    }
    let text = Text { text: &text, line: 1, kind: TextKind::Commands };
    shell.state.text_begun = true;
    let r = shell.keeping_command(|s| s.run_text(text));
    if shell.leaves_text(&r) {
        return r;
    }
    let mut r = match (r, shell.syntax_failed.take()) {
        (Ok(_), Some(failed)) if shell.ends_shell(&failed) => Err(shell.ends_with(2)),
        (Ok(status), Some(failed)) => {
            shell.state.status = failed.seen;
            Ok(status)
        }
        (Err(Unwind::Return(s)), _) => Ok(s),
        (other, _) => other,
    };
    // The action sees the file's parameters, but stands outside of it.
    Rc::make_mut(&mut shell.state.frames).pop();
    if debugged {
        Rc::make_mut(&mut shell.state.call_args).pop();
    }
    shell.state.line = line;
    if shell.state.traps.has_return
        && !matches!(r, Err(Unwind::Exit(_) | Unwind::GiveUp(_)))
        && let Err(u) = shell.run_return_trap()
    {
        r = Err(u);
    }
    if let Some(debug) = debug
        && !matches!(r, Err(Unwind::Exit(_) | Unwind::GiveUp(_)))
    {
        shell.state.traps.put_debug_back(debug);
    }
    if let Some(old) = old {
        // In a function, a `set --` in the file changes its own parameters only.
        let set = std::mem::take(&mut shell.state.positional_set);
        if !set || shell.state.vars.function_level().is_some() {
            shell.state.positional = old;
        }
    }
    r
}

/// The file a name means: PATH is searched for one without a slash, then the working directory.
fn find(shell: &mut Shell<'_>, name: &[u8], posix: bool) -> Vec<u8> {
    if name.contains(&b'/') || !shell.state.options.shopt(ShOpt::SourcePath) {
        return name.to_vec();
    }
    let search = shell.var(b"PATH").unwrap_or_default();
    for dir in search.split(|c| *c == b':') {
        let dir = if dir.is_empty() { b".".as_slice() } else { dir };
        let candidate = [dir, b"/", name].concat();
        if shell.path(&candidate).is_file() {
            return candidate;
        }
    }
    if posix {
        return [b"/nonexistent/", name].concat();
    }
    name.to_vec()
}
