//! `script` (util-linux 2.38): runs a command, or the shell, and keeps its output in a file.
//!
//! There is no terminal to make a record of, so the input is not kept, and neither are times.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::rc::Rc;

use box_applet::command::{ChildCommand, ChildStream};
use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, clock};
use box_sys::error_text;
use box_text::time::strftime;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Append,
    Command,
    Ignored,
    IgnoredValue,
    Output,
    Quiet,
    Return,
    Timing,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... [FILE]",
    "Run a shell, or the command of -c, and copy its output and its errors to FILE, which is \
        typescript by default, as well as to standard output.",
    &[
        Opt::new(Flag::Append, 'a', "append").with_help("Add to the end of FILE"),
        Opt::new(Flag::Command, 'c', "command").with_argument("COMMAND", "Run COMMAND by sh"),
        Opt::new(Flag::Output, 'O', "log-out").with_argument("FILE", "Write to FILE"),
        Opt::new(Flag::Quiet, 'q', "quiet").with_help("Say nothing about start and end"),
        Opt::new(Flag::Return, 'e', "return").with_help("End with the status of the command"),
        Opt::new(Flag::Ignored, 'f', "flush").with_help(words::IGNORED),
        Opt::long(Flag::Ignored, "force").with_help(words::SAME),
        Opt::new(Flag::IgnoredValue, 'E', "echo").with_argument("WHEN", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'o', "output-limit").with_argument("SIZE", words::IGNORED),
        Opt::new(Flag::Timing, 't', "timing").may_take("FILE", "Refused: times are not kept"),
        Opt::new(Flag::Timing, 'T', "log-timing").with_argument("FILE", words::SAME),
        Opt::new(Flag::Timing, 'I', "log-in").with_argument("FILE", "Refused: input is not kept"),
        Opt::new(Flag::Timing, 'B', "log-io").with_argument("FILE", words::SAME),
    ],
)
.with_examples(&[("script -qec 'make test' log", "Keep the output and the status")]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has_option(Flag::Timing) {
        ctx.error("there is no terminal, so input and times cannot be kept");
        return Ok(Exit::FAILURE);
    }
    if let Some(extra) = p.operands.get(1) {
        ctx.error_bytes(&[b"unexpected argument '", extra, b"'"]);
        ctx.hint();
        return Ok(Exit::FAILURE);
    }
    let name = match (p.last_value(Flag::Output), p.operands.first()) {
        (Some(name), _) => name.to_vec(),
        (None, Some(name)) => name.clone(),
        (None, None) => b"typescript".to_vec(),
    };
    let append = p.has_option(Flag::Append);
    let mut how = OpenOptions::new();
    how.create(true).write(true).append(append).truncate(!append);
    let log = match how.open(ctx.path(&name)) {
        Ok(log) => log,
        Err(e) => {
            ctx.error_bytes(&[b"cannot open ", &name, b": ", error_text(&e).as_bytes()]);
            return Ok(Exit::FAILURE);
        }
    };
    let quiet = p.has_option(Flag::Quiet);
    if !quiet {
        let line = [b"Script started, output log file is '", name.as_slice(), b"'.\n"].concat();
        let _ = ctx.stdout.write_all(&line);
    }
    match record(ctx, &p, &log) {
        Ok(status) => {
            if !quiet {
                let _ = ctx.stdout.write_all(b"Script done.\n");
            }
            Ok(if p.has_option(Flag::Return) { Exit(status) } else { Exit::SUCCESS })
        }
        Err(e) => {
            ctx.io_error(&name, &e);
            Ok(Exit::FAILURE)
        }
    }
}

fn time_text(ctx: &Ctx<'_>) -> String {
    let (seconds, nanos) = clock::current_time();
    let civil = ctx.zone().to_civil(seconds, nanos);
    let time = strftime::format_strftime(b"%Y-%m-%d %H:%M:%S%z", &civil);
    let mut text = String::from_utf8_lossy(&time).into_owned();
    // ISO 8601 has a colon in the zone's offset.
    text.insert(text.len().saturating_sub(2), ':');
    text
}

/// Runs the command and copies its output; returns its status.
fn record(ctx: &mut Ctx<'_>, p: &ParsedOptions<Flag>, mut log: &File) -> std::io::Result<u8> {
    let command = p.last_value(Flag::Command);
    let shown =
        command.map_or(String::new(), |c| format!("COMMAND=\"{}\" ", String::from_utf8_lossy(c)));
    writeln!(log, "Script started on {} [{shown}<not executed on terminal>]", time_text(ctx))?;
    let child = match command {
        Some(text) => ChildCommand::shell(text),
        None => {
            let shell = ctx.env.get(b"SHELL").filter(|s| !s.is_empty()).unwrap_or(b"/bin/sh");
            ChildCommand::new(vec![shell.to_vec()])
        }
    };
    let (mut reader, writer) = ctx.procs.pipe()?;
    let writer = Rc::new(writer);
    let child = ChildCommand {
        stdout: ChildStream::File(writer.clone()),
        stderr: ChildStream::File(writer),
        ..child
    };
    let started = child.start(ctx);
    // The reader sees the end when only children have the other end.
    drop(child);
    let status = match started {
        Ok(started) => {
            let mut buffer = vec![0; 1 << 16];
            loop {
                let n = reader.read(&mut buffer)?;
                if n == 0 {
                    break;
                }
                log.write_all(&buffer[..n])?;
                ctx.stdout.write_all(&buffer[..n])?;
                ctx.stdout.flush()?;
            }
            started.wait(ctx)?.shell_status()
        }
        Err(e) => {
            ctx.error(&e.message);
            e.status
        }
    };
    writeln!(log, "\nScript done on {} [COMMAND_EXIT_CODE=\"{status}\"]", time_text(ctx))?;
    Ok(status)
}
