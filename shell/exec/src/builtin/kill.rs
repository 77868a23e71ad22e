//! `kill` (POSIX XCU).

use box_sys::{signal, strerror};

use super::Call;
use super::opts::integer;
use crate::Shell;
use crate::shell::Flow;
use crate::state::traps;

fn list(shell: &mut Shell<'_>, call: &Call<'_>, names: &[sh_expand::Str]) -> Flow {
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
        shell.out(out.as_bytes());
        return Ok(0);
    }
    let mut status = 0;
    for n in names {
        if let Some(v) = integer(n) {
            // A status of a command that a signal ended is accepted, too.
            let number = if v > 128 { v - 128 } else { v };
            match u8::try_from(number).ok().and_then(signal::name) {
                Some(name) => shell.out(format!("{name}\n").as_bytes()),
                None => {
                    shell.builtin_error(call.name(), &[n, b": invalid signal specification"]);
                    status = 1;
                }
            }
        } else {
            match traps::parse(n) {
                Some(c) if c < 65 => shell.out(format!("{c}\n").as_bytes()),
                _ => {
                    shell.builtin_error(call.name(), &[n, b": invalid signal specification"]);
                    status = 1;
                }
            }
        }
    }
    Ok(status)
}

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let mut args = call.args();
    let mut number = signal::TERM;
    let Some(first) = args.first() else { return shell.usage(call.name()) };
    match first.as_slice() {
        b"-l" | b"-L" => return list(shell, call, &args[1..]),
        b"-s" | b"-n" => {
            let Some(name) = args.get(1) else {
                shell.builtin_error(call.name(), &[first, b": option requires an argument"]);
                return Ok(1);
            };
            match traps::parse(name).filter(|n| *n < 65) {
                Some(n) => number = n,
                None => {
                    shell.builtin_error(call.name(), &[name, b": invalid signal specification"]);
                    return Ok(1);
                }
            }
            args = &args[2..];
        }
        b"--" => args = &args[1..],
        s if s.len() > 1 && s[0] == b'-' => {
            match traps::parse(&s[1..]).filter(|n| *n < 65) {
                Some(n) => number = n,
                None => {
                    shell.builtin_error(call.name(), &[&s[1..], b": invalid signal specification"]);
                    return Ok(1);
                }
            }
            args = &args[1..];
        }
        _ => {}
    }
    if args.first().is_some_and(|a| a.as_slice() == b"--") {
        args = &args[1..];
    }
    if args.is_empty() {
        return shell.usage(call.name());
    }
    shell.sync_output();
    // What has ended is no process any more: `while kill -0 $!`.
    shell.reap();
    let mut status = 0;
    for a in args {
        let mut pids = Vec::new();
        if a.starts_with(b"%") {
            match shell.state.jobs.by_spec(a) {
                Ok(id) => {
                    if let Some(j) = shell.state.jobs.find(id) {
                        pids.extend(j.processes.iter().map(|p| p.pid));
                    }
                }
                Err(e) => {
                    shell.builtin_error(call.name(), &[a, b": ", e.as_bytes()]);
                    status = 1;
                    continue;
                }
            }
        } else {
            match integer(a) {
                Some(n) if n <= 0 => {
                    let group = u32::try_from(n.unsigned_abs()).unwrap_or(u32::MAX);
                    if let Err(e) = shell.signal_group(group, number) {
                        let text = strerror(&e);
                        shell.builtin_error(call.name(), &[b"(", a, b") - ", text.as_bytes()]);
                        status = 1;
                    }
                    continue;
                }
                Some(n) => match u32::try_from(n) {
                    Ok(p) => pids.push(p),
                    Err(_) => continue,
                },
                None => {
                    shell.builtin_error(
                        call.name(),
                        &[a, b": arguments must be process or job IDs"],
                    );
                    status = 1;
                    continue;
                }
            }
        }
        for pid in pids {
            let own = pid == shell.state.own_pid
                || pid == shell.sys.pid()
                || pid == shell.state.shell_pid && shell.state.shell_pid == shell.sys.pid();
            if own {
                if number != 0 {
                    if matches!(number, signal::KILL) {
                        if shell.state.subshell == 0 {
                            // Whoever is killed leaves nothing behind.
                            shell.session = None;
                        }
                        return Err(crate::Unwind::Exit(137));
                    }
                    let outer = pid != shell.state.own_pid && shell.state.subshell > 0;
                    if outer {
                        // For the shell around this subshell: delivered when it goes on.
                        shell.outer_signals |= 1 << (number & 63);
                    } else {
                        shell.signal_self(number);
                    }
                }
                continue;
            }
            if let Err(e) = shell.sys.kill(pid, number) {
                let text = strerror(&e);
                shell.builtin_error(
                    call.name(),
                    &[b"(", pid.to_string().as_bytes(), b") - ", text.as_bytes()],
                );
                status = 1;
            }
        }
    }
    // What a signal to the shell itself interrupts is this command's end.
    shell.state.status = status;
    shell.run_pending_traps()?;
    Ok(status)
}

impl Shell<'_> {
    /// A signal to a process group; 0 is this shell's.
    fn signal_group(&mut self, group: u32, number: u8) -> std::io::Result<()> {
        match self.sys.kill_group(group, number) {
            // Where there are no groups, this shell stands for its own.
            Err(e) if e.kind() == std::io::ErrorKind::Unsupported && group == 0 => {
                self.signal_self(number);
                Ok(())
            }
            r => r,
        }
    }
}
