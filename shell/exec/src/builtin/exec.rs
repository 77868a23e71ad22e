//! `exec` (POSIX XCU). Where the process cannot become another program (output is captured, the
//! shell is a subshell within its process, or the system has no exec), the program is spawned and
//! waited for, and its status ends the shell.

use std::rc::Rc;

use sh_expand::{Attributes, Str};

use super::{BuiltinArguments, BuiltinCall};
use crate::Shell;
use crate::command::{MissingCommand, MissingReason, Pumps, ResolvedCommand};
use crate::shell::Flow;
use crate::state::options::ShOpt;
use crate::state::traps;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "cla:")?;
    let Some(name) = p.operands.first() else {
        shell.leaving.keeps_redirects = true;
        return Ok(0);
    };
    let fail = |shell: &mut Shell<'_>, status: i32| {
        let keep =
            shell.state.options.has_shopt(ShOpt::ExecFail) || shell.state.options.is_interactive();
        if keep { Ok(status) } else { Err(shell.exit_here(status)) }
    };
    let mut found = match shell.find_program(name) {
        ResolvedCommand::Program(f) => f,
        ResolvedCommand::Nothing(m) => {
            let status = report_missing(shell, call.name(), name, &m);
            return fail(shell, status);
        }
        _ => return Ok(0),
    };
    shell.leave_session(0);
    let argv = argv_of(&p);
    if p.has_letter(b'c') {
        for name in shell.state.vars.sorted_names() {
            if let Some(v) = shell.state.vars.get_mut(&name) {
                v.attrs -= Attributes::EXPORT;
            }
        }
        shell.state.vars.touch_env();
    }
    // The EXIT trap does not survive, because the new program replaces the shell's code.
    shell.state.traps.set(traps::EXIT, None);
    // A script is started by its interpreter, whose words replace argv[0].
    if found.leading.is_none() && found.program.as_os_str().is_empty() {
        found.program.clone_from(&found.file);
    }
    if shell.is_process()
        && shell.sys.concurrent()
        && let Some(m) = shell.exec_program(&found, &argv)
    {
        shell.builtin_error(call.name(), &[name, b": ", m.why.to_string().as_bytes()]);
        // Descriptors may already be closed, so the shell cannot continue.
        return Err(shell.ends_with(m.exit_status()));
    }
    let mut pumps = Pumps::default();
    match shell.start_program(&found, &argv, &mut pumps) {
        Ok(pid) => {
            pumps.drain_all(shell);
            let status = shell.wait_for(pid);
            Err(shell.ends_with(status))
        }
        Err(m) => {
            shell.builtin_error(call.name(), &[name, b": ", m.why.to_string().as_bytes()]);
            fail(shell, m.exit_status())
        }
    }
}

/// Returns the program's words: `-a` names it, `-l` makes it a login shell.
fn argv_of(p: &BuiltinArguments<'_>) -> Vec<Str> {
    let mut argv = p.operands.to_vec();
    if let Some(a0) = p.last_value(b'a') {
        argv[0] = a0.clone();
    }
    if p.has_letter(b'l') {
        argv[0] = Rc::new([b"-", argv[0].as_slice()].concat());
    }
    argv
}

/// Reports why a command cannot be run and returns the status. As in bash, which tries a command
/// with a slash before it inspects the file, the message has the full path and the EXIT trap is
/// removed.
fn report_missing(shell: &mut Shell<'_>, command: &[u8], name: &[u8], m: &MissingCommand) -> i32 {
    let directory = !name.is_empty() && shell.absolute_path(name).is_dir();
    let reason = m.why.to_string();
    match m.why {
        MissingReason::NotFound if directory => {
            shell.builtin_error(command, &[name, b": cannot execute: Is a directory"]);
            return 126;
        }
        MissingReason::NotFound => shell.builtin_error(command, &[name, b": not found"]),
        MissingReason::NoPath | MissingReason::System { .. }
            if m.file.is_some() || name.contains(&b'/') =>
        {
            let mut full = name.to_vec();
            if let Some(file) = &m.file {
                full = box_sys::path::to_bytes(file).to_vec();
            } else if !name.starts_with(b"/") {
                let mut at = shell.state.dirs.cwd_bytes().to_vec();
                if !at.ends_with(b"/") {
                    at.push(b'/');
                }
                full = [at.as_slice(), name.strip_prefix(b"./").unwrap_or(name)].concat();
            }
            shell.print_error(&[&full, b": ", reason.as_bytes()]);
            if m.exit_status() == 126 {
                shell.builtin_error(command, &[&full, b": cannot execute: ", reason.as_bytes()]);
            }
            shell.state.traps.set(traps::EXIT, None);
        }
        _ => shell.builtin_error(command, &[name, b": ", reason.as_bytes()]),
    }
    m.exit_status()
}
