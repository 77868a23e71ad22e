//! `tee` (POSIX XCU tee; GNU `-p --output-error`).

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};

use crate::common::{input, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [FILE]...",
    about: "Copy standard input to each FILE, and also to standard output.",
    options: &[
        Opt::flag('a', "append", "append to the given FILEs, do not overwrite"),
        Opt::flag('i', "ignore-interrupts", "ignore interrupt signals"),
        Opt::flag('p', "", "diagnose errors writing to non pipes"),
        Opt::optional(
            '\u{1}',
            "output-error",
            "MODE",
            "set behavior on write error:\nwarn, warn-nopipe, exit, exit-nopipe",
        )
        .long_only(),
    ],
    after: "",
    posix_order: false,
};

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// A closed pipe ends tee, as SIGPIPE would.
    Signal,
    Warn,
    WarnNoPipe,
    Exit,
    ExitNoPipe,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut mode = Mode::Signal;
    for (id, value) in &p.options {
        match (id, value.as_deref()) {
            ('p', _) | ('\u{1}', None) => mode = Mode::WarnNoPipe,
            ('\u{1}', Some(b"warn")) => mode = Mode::Warn,
            ('\u{1}', Some(b"warn-nopipe")) => mode = Mode::WarnNoPipe,
            ('\u{1}', Some(b"exit")) => mode = Mode::Exit,
            ('\u{1}', Some(b"exit-nopipe")) => mode = Mode::ExitNoPipe,
            ('\u{1}', Some(other)) => {
                input::usage_error(
                    ctx,
                    &[b"invalid argument ", &quote::always(other), b" for '--output-error'"],
                );
                return Exit::FAILURE;
            }
            _ => {}
        }
    }
    let mut exit = Exit::SUCCESS;
    let mut outputs: Vec<(Vec<u8>, File)> = Vec::new();
    for name in &p.operands {
        let append = p.has('a');
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .append(append)
            .truncate(!append)
            .open(ctx.path(name));
        match opened {
            Ok(f) => outputs.push((name.clone(), f)),
            Err(e) => {
                input::file_error(ctx, name, &e);
                exit = Exit::FAILURE;
                if matches!(mode, Mode::Exit | Mode::ExitNoPipe) {
                    return exit;
                }
            }
        }
    }
    let mut stdout_open = true;
    loop {
        let block = match ctx.stdin.fill_buf() {
            Ok(b) => b.to_vec(),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => {
                ctx.error(format_args!("read error: {}", box_sys::strerror(&e)));
                return Exit::FAILURE;
            }
        };
        if block.is_empty() {
            return exit;
        }
        ctx.stdin.consume(block.len());
        if stdout_open {
            // At once, not when a buffer is full: whoever reads may be waiting.
            let written = ctx.stdout.write_all(&block).and_then(|()| ctx.stdout.flush());
            if let Err(e) = written {
                let closed = e.kind() == io::ErrorKind::BrokenPipe;
                if closed && mode == Mode::Signal {
                    return Exit::SIGPIPE;
                }
                let silent = closed && matches!(mode, Mode::WarnNoPipe | Mode::ExitNoPipe);
                ctx.stdout.take_error();
                if !silent {
                    ctx.error(format_args!("'standard output': {}", box_sys::strerror(&e)));
                    exit = Exit::FAILURE;
                    if matches!(mode, Mode::Exit | Mode::ExitNoPipe) {
                        return exit;
                    }
                }
                stdout_open = false;
            }
        }
        let mut failed = Vec::new();
        for (i, (_, file)) in outputs.iter_mut().enumerate() {
            if let Err(e) = file.write_all(&block) {
                failed.push((i, e));
            }
        }
        for (i, e) in failed.into_iter().rev() {
            let (name, _) = outputs.remove(i);
            let silent = e.kind() == io::ErrorKind::BrokenPipe
                && matches!(mode, Mode::WarnNoPipe | Mode::ExitNoPipe);
            if !silent {
                input::file_error(ctx, &name, &e);
                exit = Exit::FAILURE;
                if matches!(mode, Mode::Exit | Mode::ExitNoPipe) {
                    return exit;
                }
            }
        }
        if !stdout_open && outputs.is_empty() {
            return exit;
        }
    }
}
