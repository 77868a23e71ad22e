//! `exec` (POSIX XCU). Where the process cannot go on as another program (output is captured, the
//! shell is a subshell within its process, or the system has no exec), the program is spawned and
//! waited for, and its status ends the shell.

use std::rc::Rc;

use super::Call;
use crate::Shell;
use crate::command::{Found, Pumps};
use crate::shell::{Flow, Unwind};
use crate::state::options::ShOpt;
use crate::state::traps;

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "cla:") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let Some(name) = p.operands.first() else {
        shell.keep_redirects = true;
        return Ok(0);
    };
    let fail = |shell: &mut Shell<'_>, status: i32| {
        let keep = shell.state.options.shopt(ShOpt::ExecFail) || shell.state.options.interactive;
        if keep { Ok(status) } else { Err(Unwind::Exit(status)) }
    };
    let mut found = match shell.find_program(name) {
        Found::Program(f) => f,
        Found::Nothing(m) => {
            let message = match m.message.as_str() {
                "command not found" => "not found".to_string(),
                other if name.contains(&b'/') && m.status == 126 => {
                    format!("cannot execute: {other}")
                }
                other => other.to_string(),
            };
            shell.builtin_error(call.name(), &[name, b": ", message.as_bytes()]);
            return fail(shell, m.status);
        }
        _ => return Ok(0),
    };
    let mut argv = p.operands.to_vec();
    if let Some(a0) = p.value(b'a') {
        argv[0] = a0.clone();
    }
    if p.has(b'l') {
        argv[0] = Rc::new([b"-", argv[0].as_slice()].concat());
    }
    if p.has(b'c') {
        for name in shell.state.vars.sorted_names() {
            if let Some(v) = shell.state.vars.get_mut(&name) {
                v.attrs.export = false;
            }
        }
        shell.state.vars.touch_env();
    }
    // The EXIT trap is gone with the shell's code.
    shell.state.traps.set(traps::EXIT, None);
    // A script keeps its interpreter's words; argv[0] is then the interpreter's.
    if found.leading.is_none() && found.program.as_os_str().is_empty() {
        found.program.clone_from(&found.file);
    }
    let alone = shell.state.own_pid == shell.sys.pid() && shell.sys.concurrent();
    if alone && let Some(m) = shell.exec_program(&found, &argv) {
        shell.builtin_error(call.name(), &[name, b": ", m.message.as_bytes()]);
        // Descriptors may be gone: nothing can go on.
        return Err(Unwind::Exit(m.status));
    }
    let mut pumps = Pumps::default();
    match shell.start_program(&found, &argv, &mut pumps) {
        Ok(pid) => {
            pumps.drain(shell);
            let status = shell.wait_for(pid);
            Err(Unwind::Exit(status))
        }
        Err(m) => {
            shell.builtin_error(call.name(), &[name, b": ", m.message.as_bytes()]);
            fail(shell, m.status)
        }
    }
}
