//! `setsid` (util-linux): runs a command in a new session.
//!
//! Deviation: there is no controlling terminal, so `-c` has no effect.

use box_applet::command::{ChildCommand, StartError};
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::WaitStatus;

use crate::common::input;

/// An option of `setsid`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SetsidFlag {
    Ctty,
    Fork,
    Wait,
}

const SPEC: Spec<SetsidFlag> = Spec::new(
    "[OPTION]... PROGRAM [ARG]...",
    "Run PROGRAM in a session of its own.",
    &[
        Opt::new(SetsidFlag::Ctty, 'c', "ctty").with_help("Accepted: there is no terminal"),
        Opt::new(SetsidFlag::Fork, 'f', "fork").with_help("Always run it in a new process"),
        Opt::new(SetsidFlag::Wait, 'w', "wait").with_help("Wait for it, and end with its status"),
    ],
)
.posix_order();

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.is_empty() {
        return Err(input::usage_error(ctx, &[b"no command specified"]));
    }
    // The leader of a process group cannot begin a session, so a child process does.
    if p.has_option(SetsidFlag::Fork) || ctx.procs.begin_session().is_err() {
        let mut argv = vec![b"setsid".to_vec()];
        argv.extend(p.operands.iter().cloned());
        return Ok(match ChildCommand::new(argv).start(ctx) {
            Ok(_) if !p.has_option(SetsidFlag::Wait) => Exit::SUCCESS,
            Ok(child) => Exit(child.wait(ctx).map_or(1, WaitStatus::shell_status)),
            Err(e) => report_failure(ctx, b"setsid", &e),
        });
    }
    Ok(match ChildCommand::new(p.operands.clone()).replace(ctx) {
        Ok(status) => Exit(status),
        Err(e) => report_failure(ctx, &p.operands[0], &e),
    })
}

fn report_failure(ctx: &mut Ctx<'_>, command: &[u8], e: &StartError) -> Exit {
    ctx.error_bytes(&[b"failed to execute ", command, b": ", e.message.as_bytes()]);
    Exit(e.status)
}
