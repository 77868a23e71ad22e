//! `--to-command`: the data of each file goes to a command.

use std::fs::File;
use std::io;
use std::rc::Rc;

use box_applet::command::{ChildCommand, ChildStream};
use box_applet::{Ctx, clock};
use box_sys::WaitStatus;

use super::extract::copy_data;
use super::member::{Member, MemberTime};
use super::options::TarOptions;
use super::read::ArchiveInput;
use super::{Outcome, TarFatal};

/// The version of GNU tar whose behaviour this is.
const VERSION: &[u8] = b"1.34";
/// The default number of blocks in a record.
const BLOCKING_FACTOR: &[u8] = b"20";

/// Runs the command for one member, whose data it reads from standard input. Returns false if the
/// command has failed. A command that a signal ends is reported, but does not count as failed.
pub fn run_command(
    ctx: &mut Ctx<'_>,
    options: &TarOptions,
    command: &[u8],
    name: &[u8],
    member: &Member,
    input: &mut ArchiveInput<'_>,
) -> Outcome {
    let (reader, writer) = ctx.procs.pipe()?;
    let mut shell = ChildCommand::shell(command);
    shell.stdin = ChildStream::File(Rc::new(reader));
    shell.env = Some(member_environment(ctx, options, name, member));
    let child = shell
        .start(ctx)
        .map_err(|e| TarFatal::Message(format!("/bin/sh: Cannot exec: {}", e.exec_message())))?;
    // Only the command may hold the end that it reads from, so that the pipe breaks with it.
    drop(shell);
    let pid = child.pid;
    send_data(ctx, input, member, writer)?;
    let status = child.wait(ctx)?;
    let ignores = options.extract.ignores_command_errors;
    match status {
        WaitStatus::Exited(0) => Ok(true),
        WaitStatus::Exited(_) | WaitStatus::Signaled(_) if ignores => Ok(true),
        WaitStatus::Exited(n) => {
            ctx.error(format_args!("{pid}: Child returned status {n}"));
            Ok(false)
        }
        WaitStatus::Signaled(n) => {
            ctx.error(format_args!("{pid}: Child terminated on signal {n}"));
            Ok(true)
        }
    }
}

/// Copies the data into the pipe and closes it. A command need not read everything.
fn send_data(
    ctx: &mut Ctx<'_>,
    input: &mut ArchiveInput<'_>,
    member: &Member,
    mut out: File,
) -> Result<(), TarFatal> {
    match copy_data(input, member, &mut out) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(input.io_fatal(ctx, e)),
        _ => Ok(()),
    }
}

/// Returns the environment of the command (GNU tar manual, "Writing to an External Program").
fn member_environment(
    ctx: &Ctx<'_>,
    options: &TarOptions,
    name: &[u8],
    member: &Member,
) -> box_applet::Env {
    let (seconds, nanos) = clock::current_time();
    let now = MemberTime { seconds, nanos }.to_decimal().into_bytes();
    let values: [(&str, Vec<u8>); 16] = [
        ("TAR_VERSION", VERSION.to_vec()),
        ("TAR_ARCHIVE", options.archive.clone()),
        ("TAR_VOLUME", b"1".to_vec()),
        ("TAR_BLOCKING_FACTOR", BLOCKING_FACTOR.to_vec()),
        ("TAR_FILETYPE", b"f".to_vec()),
        ("TAR_MODE", format!("0{:o}", member.mode).into_bytes()),
        ("TAR_FILENAME", name.to_vec()),
        ("TAR_REALNAME", name.to_vec()),
        ("TAR_UNAME", member.user.clone()),
        ("TAR_GNAME", member.group.clone()),
        ("TAR_ATIME", now.clone()),
        ("TAR_CTIME", now),
        ("TAR_MTIME", member.mtime.to_decimal().into_bytes()),
        ("TAR_SIZE", member.size.to_string().into_bytes()),
        ("TAR_UID", member.uid.to_string().into_bytes()),
        ("TAR_GID", member.gid.to_string().into_bytes()),
    ];
    let mut env = ctx.env.clone();
    for (key, value) in &values {
        env.set(key.as_bytes(), value);
    }
    env
}
