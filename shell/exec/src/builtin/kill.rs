//! `kill` (POSIX XCU).

use box_sys::{Pid, error_text, signal};
use sh_expand::Str;

use super::BuiltinCall;
use super::opts::parse_integer;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::traps;

fn list_signals(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, names: &[Str]) -> Flow {
    if names.is_empty() {
        let mut out = String::new();
        let mut column = 0;
        for n in (1..=64u8).filter(|n| *n != 32 && *n != 33) {
            let name = signal::name(n).unwrap_or_default();
            out.push_str(&format!("{n:2}) SIG{name}"));
            column += 1;
            if column % 5 == 0 {
                out.push('\n');
            } else {
                out.push('\t');
            }
        }
        if column % 5 != 0 {
            out.push('\n');
        }
        shell.write_out(out.as_bytes());
        return Ok(0);
    }
    let mut status = 0;
    for n in names {
        let shown = match parse_integer(n) {
            // An exit status is also accepted: 128 and the number of the signal that ended a
            // command.
            Some(v) => u8::try_from(if v > 128 { v - 128 } else { v })
                .ok()
                .and_then(signal::name)
                .map(|name| name.to_string()),
            None => traps::parse(n).filter(|c| *c < 65).map(|c| c.to_string()),
        };
        match shown {
            Some(shown) => shell.write_out(format!("{shown}\n").as_bytes()),
            None => {
                shell.builtin_error(call.name(), &[n, b": invalid signal specification"]);
                status = 1;
            }
        }
    }
    Ok(status)
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    if let Some(b"-l" | b"-L") = call.args().first().map(|a| a.as_slice()) {
        return list_signals(shell, call, &call.args()[1..]);
    }
    let (signal, operands) = signal_and_operands(shell, call)?;
    shell.sync_output();
    // A process that has ended no longer exists: `while kill -0 $!`.
    shell.reap_children();
    let mut status = 0;
    for operand in operands {
        status |= send_signal(shell, call, operand, signal)?;
    }
    // A signal to the shell itself takes effect at the end of this command.
    shell.state.status = status;
    shell.run_pending_traps()?;
    Ok(status)
}

/// Returns the signal to send and the operands to send it to. If the command line is invalid,
/// prints a message; the error says how the shell continues.
fn signal_and_operands<'c>(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'c>,
) -> Result<(u8, &'c [Str]), Unwind> {
    let mut args = call.args();
    let Some(first) = args.first() else { return Err(shell.print_usage(call.name())) };
    let given: Option<&[u8]> = match first.as_slice() {
        b"-s" | b"-n" => {
            let Some(name) = args.get(1) else {
                shell.builtin_error(call.name(), &[first, b": option requires an argument"]);
                return Err(Unwind::Builtin(1));
            };
            args = &args[2..];
            Some(name)
        }
        [b'-', name @ ..] if name != b"-" => {
            args = &args[1..];
            Some(name)
        }
        _ => None,
    };
    let signal = match given.map(|name| (name, traps::parse(name).filter(|n| *n < 65))) {
        None => signal::TERM,
        Some((_, Some(n))) => n,
        Some((name, None)) => {
            shell.builtin_error(call.name(), &[name, b": invalid signal specification"]);
            return Err(Unwind::Builtin(1));
        }
    };
    if args.first().is_some_and(|a| a.as_slice() == b"--") {
        args = &args[1..];
    }
    match args {
        [] => Err(shell.print_usage(call.name())),
        args => Ok((signal, args)),
    }
}

/// Sends a signal to the job, process group or process that one operand names, and returns the
/// status.
fn send_signal(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, operand: &Str, signal: u8) -> Flow {
    let mut status = 0;
    if operand.starts_with(b"%") {
        let pids = match shell.state.jobs.by_spec(operand) {
            Ok(job) if job.group().is_some() && !job.is_done() => {
                let id = job.id();
                shell.signal_job(id, signal);
                return Ok(0);
            }
            Ok(job) => job.pids().collect::<Vec<_>>(),
            Err(e) => {
                shell.builtin_error(call.name(), &[operand, b": ", e.as_bytes()]);
                return Ok(1);
            }
        };
        for pid in pids {
            status |= to_process(shell, call, pid, signal)?;
        }
        return Ok(status);
    }
    match parse_integer(operand) {
        Some(n) if n <= 0 => {
            let group = u32::try_from(n.unsigned_abs()).unwrap_or(u32::MAX);
            if let Err(e) = shell.signal_group(group, signal) {
                let text = error_text(&e);
                shell.builtin_error(call.name(), &[b"(", operand, b") - ", text.as_bytes()]);
                status = 1;
            }
            Ok(status)
        }
        Some(n) => match u32::try_from(n) {
            Ok(pid) => to_process(shell, call, pid, signal),
            Err(_) => Ok(0),
        },
        None if operand.is_empty() => {
            shell.builtin_error(call.name(), &[b"`': not a pid or valid job spec"]);
            Ok(1)
        }
        None => {
            let message = b": arguments must be process or job IDs";
            shell.builtin_error(call.name(), &[operand, message]);
            Ok(1)
        }
    }
}

/// Sends a signal to a process, which may be this shell or an outer one.
fn to_process(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, pid: Pid, signal: u8) -> Flow {
    let (own, process) = (shell.state.ids.own_pid(), shell.sys.pid());
    if pid != own && pid != process {
        if let Err(e) = shell.sys.kill(pid, signal) {
            let (pid, text) = (pid.to_string(), error_text(&e));
            shell.builtin_error(call.name(), &[b"(", pid.as_bytes(), b") - ", text.as_bytes()]);
            return Ok(1);
        }
        return Ok(0);
    }
    match signal {
        0 => {}
        signal::KILL => {
            if !shell.state.ids.is_subshell() {
                // A killed process does not save the session's state.
                shell.session = None;
            }
            return Err(Unwind::Exit(137));
        }
        // It gives its terminal to the shell that can continue it.
        signal::STOP if shell.controls_jobs() && !shell.leads_session() => shell.suspend_shell(),
        // The signal is for the shell around this subshell, and is delivered when that shell
        // continues.
        _ if pid != own && shell.state.ids.is_subshell() => {
            shell.signals.raise_outside(signal);
        }
        _ => shell.signals.raise_signal(signal),
    }
    Ok(0)
}

impl Shell<'_> {
    /// Sends a signal to a process group; 0 is this shell's.
    fn signal_group(&mut self, group: u32, number: u8) -> std::io::Result<()> {
        match self.sys.kill_group(group, number) {
            // On a system without groups, this shell stands for its own group.
            Err(e) if e.kind() == std::io::ErrorKind::Unsupported && group == 0 => {
                self.signals.raise_signal(number);
                Ok(())
            }
            r => r,
        }
    }
}
