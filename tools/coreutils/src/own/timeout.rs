//! `timeout` (GNU): runs a command with a time limit.

use std::time::{Duration, Instant};

use box_applet::command::Command;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{WaitStatus, signal};

use super::sleep;
use crate::common::{input, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION] DURATION COMMAND [ARG]...\n  or:  timeout [OPTION]",
    about: "Start COMMAND, and kill it if still running after DURATION.",
    options: &[
        Opt::flag(
            '\u{1}',
            "preserve-status",
            "exit with the same status as COMMAND, even when the\ncommand times out",
        )
        .long_only(),
        Opt::flag('\u{2}', "foreground", "(no effect: there is no terminal)").long_only(),
        Opt::value(
            'k',
            "kill-after",
            "DURATION",
            "also send a KILL signal if COMMAND is still running\nthis long after the initial signal was sent",
        ),
        Opt::value('s', "signal", "SIGNAL", "specify the signal to be sent on timeout"),
        Opt::flag('v', "verbose", "diagnose to stderr any signal sent upon timeout"),
    ],
    after: "DURATION is a floating point number with an optional suffix: s, m, h or d.\nA duration of 0 disables the associated timeout.\n\nUpon timeout, send the TERM signal to COMMAND, if no other SIGNAL specified.\nExit status: 124 if COMMAND times out, 125 if timeout itself fails, 126 if COMMAND\nis found but cannot be invoked, 127 if it cannot be found, 137 if it is sent the\nKILL signal, else the status of COMMAND.",
    posix_order: true,
};

fn interval(ctx: &mut Ctx<'_>, text: &[u8]) -> Result<Duration, Exit> {
    match sleep::seconds(text) {
        Some(s) => Ok(sleep::duration(s)),
        None => {
            input::usage_error(ctx, &[b"invalid time interval ", &quote::always(text)]);
            Err(Exit(125))
        }
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit(125)) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let number = match p.last('s').map(|t| (t.to_vec(), signal::parse(t))) {
        Some((text, None)) => {
            input::usage_error(ctx, &[&quote::always(&text), b": invalid signal"]);
            return Exit(125);
        }
        Some((_, Some(n))) => n,
        None => signal::TERM,
    };
    let kill_after = match p.last('k').map(<[u8]>::to_vec) {
        Some(text) => match interval(ctx, &text) {
            Ok(d) => Some(d).filter(|d| !d.is_zero()),
            Err(e) => return e,
        },
        None => None,
    };
    let [limit, command @ ..] = p.operands.as_slice() else {
        input::usage_hint(ctx);
        return Exit(125);
    };
    if command.is_empty() {
        input::usage_hint(ctx);
        return Exit(125);
    }
    let limit = match interval(ctx, limit) {
        Ok(d) => d,
        Err(e) => return e,
    };
    let child = match Command::new(command.to_vec()).start(ctx) {
        Ok(c) => c,
        Err(e) => {
            let shown = quote::always(&command[0]);
            ctx.error_bytes(&[
                b"failed to run command ",
                &shown,
                b": ",
                super::env::exec_text(&e.message).as_bytes(),
            ]);
            return Exit(e.status);
        }
    };
    let pid = child.pid;
    if limit.is_zero() {
        return Exit(child.wait(ctx).map_or(125, WaitStatus::shell_status));
    }
    let name = command[0].clone();
    let send = |ctx: &mut Ctx<'_>, n: u8| {
        if p.has('v') {
            let signal_name = signal::name(n).unwrap_or_else(|| n.to_string());
            let shown = quote::always(&name);
            ctx.error_bytes(&[b"sending signal ", signal_name.as_bytes(), b" to command ", &shown]);
        }
        // GNU's runs the command in a process group and signals all of it.
        let _ = ctx.procs.kill_tree(pid, n);
    };
    // On other runtimes a guest process without a handler takes no notice of TERM.
    let deaf = cfg!(target_os = "wasi") && !std::path::Path::new(box_sys::PIPE_DIR).exists();
    let start = Instant::now();
    let mut sent: Option<(u8, Instant)> = None;
    let mut step = Duration::from_micros(200);
    let status = loop {
        match ctx.procs.try_wait(pid) {
            Ok(Some(s)) => break s,
            Ok(None) => {}
            Err(_) => return Exit(125),
        }
        match sent {
            None if start.elapsed() >= limit => {
                send(ctx, number);
                sent = Some((number, Instant::now()));
                step = Duration::from_micros(200);
            }
            Some((last, at))
                if last != signal::KILL && kill_after.is_some_and(|k| at.elapsed() >= k) =>
            {
                send(ctx, signal::KILL);
                sent = Some((signal::KILL, at));
                step = Duration::from_micros(200);
            }
            // As the default action of it is to end, it is ended.
            Some((last, at))
                if deaf
                    && last != signal::KILL
                    && kill_after.is_none()
                    && at.elapsed() >= Duration::from_millis(100) =>
            {
                let _ = ctx.procs.kill(pid, signal::KILL);
                sent = Some((last, at + Duration::from_secs(3600)));
            }
            _ => {}
        }
        // Short steps first: most commands end soon. Never past the limit.
        let left = if sent.is_none() { limit.saturating_sub(start.elapsed()) } else { step };
        std::thread::sleep(step.min(left).max(Duration::from_micros(100)));
        step = (step * 2).min(Duration::from_millis(10));
    };
    let own = Exit(status.shell_status());
    match sent {
        Some((n, _)) if !p.has('\u{1}') => {
            // A command that had to be killed reports so.
            if n == signal::KILL || number == signal::KILL { Exit(137) } else { Exit(124) }
        }
        _ => own,
    }
}
