//! `tee` (POSIX XCU tee; GNU `-p --output-error`): copies standard input to several outputs.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::{input, quote};

/// An option of `tee`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TeeFlag {
    Append,
    Diagnose,
    IgnoreInterrupts,
    OutputError,
}

const SPEC: Spec<TeeFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Copy standard input to standard output and to each FILE.",
    &[
        Opt::new(TeeFlag::Append, 'a', "append").with_help("Add to the end of the files"),
        Opt::new(TeeFlag::IgnoreInterrupts, 'i', "ignore-interrupts")
            .with_help("Ignore interrupts"),
        Opt::new(TeeFlag::Diagnose, 'p', "")
            .with_help("Complain about write errors, except of pipes"),
        Opt::long(TeeFlag::OutputError, "output-error")
            .may_take("MODE", "On a write error: warn, warn-nopipe, exit or exit-nopipe"),
    ],
)
.with_examples(&[("CMD | tee LOG", "See the output and keep it")]);

/// The effect of a failed write.
#[derive(Clone, Copy, PartialEq)]
enum TeeMode {
    /// A closed pipe at standard output ends tee, as SIGPIPE would.
    Signal,
    Warn,
    WarnNoPipe,
    Exit,
    ExitNoPipe,
}

impl TeeMode {
    /// Parses the argument of `--output-error`.
    fn parse(word: &[u8]) -> Option<TeeMode> {
        Some(match word {
            b"warn" => TeeMode::Warn,
            b"warn-nopipe" => TeeMode::WarnNoPipe,
            b"exit" => TeeMode::Exit,
            b"exit-nopipe" => TeeMode::ExitNoPipe,
            _ => return None,
        })
    }

    fn is_silent(self, e: &io::Error) -> bool {
        let no_pipe = matches!(self, TeeMode::WarnNoPipe | TeeMode::ExitNoPipe);
        e.kind() == io::ErrorKind::BrokenPipe && no_pipe
    }

    fn exits(self) -> bool {
        matches!(self, TeeMode::Exit | TeeMode::ExitNoPipe)
    }
}

struct TeePlan {
    mode: TeeMode,
    append: bool,
    files: Vec<Vec<u8>>,
}

/// The files that get a copy in addition to standard output.
type Outputs = Vec<(Vec<u8>, File)>;

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    parse_plan(ctx, args).and_then(|plan| {
        let (outputs, exit) = open_outputs(ctx, &plan)?;
        copy_input(ctx, plan.mode, outputs, exit)
    })
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<TeePlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mut mode = TeeMode::Signal;
    for (flag, value) in &p.options {
        mode = match (flag, value.as_deref()) {
            (TeeFlag::Diagnose, _) | (TeeFlag::OutputError, None) => TeeMode::WarnNoPipe,
            (TeeFlag::OutputError, Some(word)) => TeeMode::parse(word).ok_or_else(|| {
                let shown = quote::quote_in_sentence(word);
                input::usage_error(ctx, &[b"invalid argument ", &shown, b" for '--output-error'"])
            })?,
            (TeeFlag::Append | TeeFlag::IgnoreInterrupts, _) => mode,
        };
    }
    Ok(TeePlan { mode, append: p.has_option(TeeFlag::Append), files: p.operands })
}

/// Opens the files; returns those that could be opened, and the exit status so far.
fn open_outputs(ctx: &mut Ctx<'_>, plan: &TeePlan) -> Result<(Outputs, Exit), Exit> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).append(plan.append).truncate(!plan.append);
    let mut exit = Exit::SUCCESS;
    let mut outputs = Vec::new();
    for name in &plan.files {
        match options.open(ctx.path(name)) {
            Ok(f) => outputs.push((name.clone(), f)),
            Err(e) => {
                exit = input::file_error(ctx, name, &e);
                if plan.mode.exits() {
                    return Err(exit);
                }
            }
        }
    }
    Ok((outputs, exit))
}

/// Copies standard input until its end or until no output is left.
fn copy_input(ctx: &mut Ctx<'_>, mode: TeeMode, mut outputs: Outputs, exit: Exit) -> Ended {
    let mut exit = exit;
    let mut stdout_open = true;
    loop {
        let block = match ctx.stdin.fill_buf() {
            Ok(b) => b.to_vec(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => {
                ctx.error(format_args!("read error: {}", box_sys::error_text(&e)));
                return Err(Exit::FAILURE);
            }
        };
        if block.is_empty() {
            return Ok(exit);
        }
        ctx.stdin.consume(block.len());
        if stdout_open {
            // The block is flushed at once, because the reader may be waiting for it.
            let written = ctx.stdout.write_all(&block).and_then(|()| ctx.stdout.flush());
            if let Err(e) = written {
                stdout_open = false;
                exit = stdout_failed(ctx, mode, &e)?.unwrap_or(exit);
            }
        }
        exit = write_files(ctx, mode, &mut outputs, &block)?.unwrap_or(exit);
        if !stdout_open && outputs.is_empty() {
            return Ok(exit);
        }
    }
}

/// Handles a failed write to standard output. Returns the new exit status if it changes.
///
/// # Errors
/// The copy must end; the error is the exit status.
fn stdout_failed(ctx: &mut Ctx<'_>, mode: TeeMode, e: &io::Error) -> Result<Option<Exit>, Exit> {
    if e.kind() == io::ErrorKind::BrokenPipe && mode == TeeMode::Signal {
        return Err(Exit::SIGPIPE);
    }
    ctx.stdout.take_error();
    if mode.is_silent(e) {
        return Ok(None);
    }
    ctx.error(format_args!("'standard output': {}", box_sys::error_text(e)));
    if mode.exits() { Err(Exit::FAILURE) } else { Ok(Some(Exit::FAILURE)) }
}

/// Writes a block to each file, and removes the files whose writes fail. Returns the new exit
/// status if it changes.
///
/// # Errors
/// The copy must end; the error is the exit status.
fn write_files(
    ctx: &mut Ctx<'_>,
    mode: TeeMode,
    outputs: &mut Outputs,
    block: &[u8],
) -> Result<Option<Exit>, Exit> {
    let written = outputs.iter_mut().map(|(_, file)| file.write_all(block));
    let failed: Vec<(usize, io::Error)> =
        written.enumerate().filter_map(|(i, result)| Some((i, result.err()?))).collect();
    let mut exit = None;
    for (i, e) in failed.into_iter().rev() {
        let (name, _) = outputs.remove(i);
        if mode.is_silent(&e) {
            continue;
        }
        let failure = input::file_error(ctx, &name, &e);
        if mode.exits() {
            return Err(failure);
        }
        exit = Some(failure);
    }
    Ok(exit)
}
