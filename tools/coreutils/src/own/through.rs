//! Commands that run another command: `nice nohup stdbuf time`.
//!
//! The guest has one priority and no terminal that could hang up, so most of them only run the
//! command.

use std::fs::OpenOptions;
use std::io::Write;
use std::rc::Rc;
use std::time::Instant;

use box_applet::command::{ChildCommand, ChildStream, StartError};
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{WaitStatus, events, signal};

use crate::common::{input, quote};

/// Replaces this process with a command, so that signals to this process reach the command. Returns
/// the exit status.
fn replace_process(ctx: &mut Ctx<'_>, argv: &[Vec<u8>], stdout: ChildStream) -> Exit {
    let command = ChildCommand { argv: argv.to_vec(), stdout, ..ChildCommand::default() };
    let status = command.replace(ctx);
    status_of(ctx, argv, status)
}

/// Runs a command as a child of this process; returns the exit status.
fn run(ctx: &mut Ctx<'_>, argv: &[Vec<u8>]) -> Exit {
    let status = ChildCommand::new(argv.to_vec())
        .start(ctx)
        .map(|child| child.wait(ctx).map_or(126, WaitStatus::shell_status));
    status_of(ctx, argv, status)
}

fn status_of(ctx: &mut Ctx<'_>, argv: &[Vec<u8>], status: Result<u8, StartError>) -> Exit {
    match status {
        Ok(status) => Exit(status),
        Err(e) => {
            let shown =
                quote::quote_in_sentence(argv.first().map(Vec::as_slice).unwrap_or_default());
            if ctx.name == "nohup" || ctx.name == "stdbuf" {
                ctx.error_bytes(&[
                    b"failed to run command ",
                    &shown,
                    b": ",
                    e.exec_message().as_bytes(),
                ]);
            } else {
                ctx.error_bytes(&[&shown, b": ", e.exec_message().as_bytes()]);
            }
            if let Some(name) = argv.first() {
                ctx.advise_missing(name, e.status);
            }
            Exit(e.status)
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NiceFlag {
    Adjustment,
}

const NICE: Spec<NiceFlag> = Spec::new(
    "[OPTION] [COMMAND [ARG]...]",
    "Run COMMAND with a lower priority; without COMMAND print the niceness.",
    &[Opt::new(NiceFlag::Adjustment, 'n', "adjustment")
        .with_argument("N", "Add N to the niceness (10)")],
)
.posix_order();

pub(crate) fn run_nice(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    // `-10` and `--10` are obsolete forms of `-n 10` and `-n -10`.
    let mut args = args.to_vec();
    if let Some(first) = args.first_mut() {
        let digits = first.strip_prefix(b"-").unwrap_or_default();
        let number = digits.strip_prefix(b"-").or(digits.strip_prefix(b"+")).unwrap_or(digits);
        if !number.is_empty() && number.iter().all(u8::is_ascii_digit) {
            *first = [b"-n", digits].concat();
        }
    }
    let p = NICE.parse_or_exit(ctx, &args, Exit(125))?;
    if let Some(n) = p.last_value(NiceFlag::Adjustment) {
        let parsed = box_text::number::parse_integer(n, 10);
        if parsed.len == 0 || parsed.len != n.len() {
            ctx.error_bytes(&[b"invalid adjustment ", &quote::quote_in_sentence(n)]);
            return Ok(Exit(125));
        }
        if p.operands.is_empty() {
            input::usage_error(ctx, &[b"a command must be given with an adjustment"]);
            return Ok(Exit(125));
        }
    }
    if p.operands.is_empty() {
        let _ = ctx.stdout.write_all(b"0\n");
        return Ok(Exit::SUCCESS);
    }
    Ok(replace_process(ctx, &p.operands, ChildStream::Inherit))
}

const NOHUP: Spec =
    Spec::new("COMMAND [ARG]...", "Run COMMAND so that it survives the end of the terminal.", &[])
        .posix_order();

pub(crate) fn run_nohup(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = NOHUP.parse_or_exit(ctx, args, Exit(125))?;
    if p.operands.is_empty() {
        input::missing_operand(ctx, None);
        return Ok(Exit(125));
    }
    let terminal =
        matches!(ctx.stdout.sink(), box_applet::OutputSink::File(f) if box_sys::is_terminal(f));
    let mut stdout = ChildStream::Inherit;
    if terminal {
        match OpenOptions::new().append(true).create(true).open(ctx.path(b"nohup.out")) {
            Ok(f) => {
                ctx.error("ignoring input and appending output to 'nohup.out'");
                stdout = ChildStream::File(Rc::new(f));
            }
            Err(e) => {
                input::report_cannot(ctx, "failed to open", b"nohup.out", &e);
                return Ok(Exit(125));
            }
        }
    }
    let (caught, ignored) = events::signal_dispositions();
    events::catch_signals(caught, ignored | events::signal_bit(signal::HUP));
    Ok(replace_process(ctx, &p.operands, stdout))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StdbufFlag {
    Error,
    Input,
    Output,
}

const STDBUF: Spec<StdbufFlag> = Spec::new(
    "OPTION... COMMAND",
    "Run COMMAND with changed buffering of its standard streams.",
    &[
        Opt::new(StdbufFlag::Input, 'i', "input").with_argument("MODE", "Mode of standard input"),
        Opt::new(StdbufFlag::Output, 'o', "output")
            .with_argument("MODE", "Mode of standard output"),
        Opt::new(StdbufFlag::Error, 'e', "error").with_argument("MODE", "Mode of standard error"),
    ],
)
.with_footer(
    "MODE is L (lines), 0 (none) or a size. The tools here flush when they wait for \
        input, so that no mode needs an action.",
)
.posix_order();

pub(crate) fn run_stdbuf(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = STDBUF.parse_or_exit(ctx, args, Exit(125))?;
    for (id, value) in &p.options {
        let v = value.as_deref().unwrap_or_default();
        if v == b"L" && *id == StdbufFlag::Input {
            input::usage_error(ctx, &[b"line buffering stdin is meaningless"]);
            return Ok(Exit(125));
        }
        if v != b"L" && crate::common::number::parse_size(v).is_err() {
            ctx.error_bytes(&[b"invalid mode ", &quote::quote_in_sentence(v)]);
            return Ok(Exit(125));
        }
    }
    if p.operands.is_empty() {
        input::missing_operand(ctx, None);
        return Ok(Exit(125));
    }
    if p.options.is_empty() {
        input::usage_error(ctx, &[b"you must specify a buffering mode option"]);
        return Ok(Exit(125));
    }
    Ok(replace_process(ctx, &p.operands, ChildStream::Inherit))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeFlag {
    Append,
    Format,
    Output,
    Portability,
    Quiet,
    Verbose,
}

const TIME: Spec<TimeFlag> = Spec::new(
    "[OPTION]... COMMAND [ARG]...",
    "Run COMMAND, then print on standard error how long it took.",
    &[
        Opt::new(TimeFlag::Append, 'a', "append").with_help("With -o: add to the end of FILE"),
        Opt::new(TimeFlag::Format, 'f', "format")
            .with_argument("FORMAT", "Print by FORMAT: %e %E seconds, %U %S %P %M %x %C"),
        Opt::new(TimeFlag::Output, 'o', "output")
            .with_argument("FILE", "Write to FILE instead of standard error"),
        Opt::new(TimeFlag::Portability, 'p', "portability")
            .with_help("Print real, user and system time on separate lines"),
        Opt::new(TimeFlag::Quiet, 'q', "quiet").with_help("Do not report a status that is not 0"),
        Opt::new(TimeFlag::Verbose, 'v', "verbose").with_help("Print all figures"),
    ],
)
.posix_order();

pub(crate) fn run_time(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = TIME.parse_or_exit(ctx, args, Exit(125))?;
    if p.operands.is_empty() {
        input::usage_error(ctx, &[b"missing program to run"]);
        return Ok(Exit(125));
    }
    let start = Instant::now();
    let exit = run(ctx, &p.operands);
    let seconds = start.elapsed().as_secs_f64();
    // WASI has no call for the processor time of children, so the elapsed time is reported for it.
    let text = if p.has_option(TimeFlag::Portability) {
        format!("real {seconds:.2}\nuser {seconds:.2}\nsys 0.00\n").into_bytes()
    } else {
        let default = if p.has_option(TimeFlag::Verbose) { TIME_VERBOSE } else { TIME_DEFAULT };
        let format = p.last_value(TimeFlag::Format).unwrap_or(default);
        TimeReport { seconds, exit, command: &p.operands }.show(format)
    };
    let Some(name) = p.last_value(TimeFlag::Output) else {
        let _ = ctx.stderr.write_all(&text);
        return Ok(exit);
    };
    let append = p.has_option(TimeFlag::Append);
    let mut options = OpenOptions::new();
    options.write(true).create(true).append(append).truncate(!append);
    Ok(match options.open(ctx.path(name)).and_then(|mut f| f.write_all(&text)) {
        Ok(()) => exit,
        Err(e) => {
            input::file_error(ctx, name, &e);
            Exit(125)
        }
    })
}

const TIME_DEFAULT: &[u8] = b"%Uuser %Ssystem %Eelapsed %PCPU (0avgtext+0avgdata %Mmaxresident)k\n0inputs+0outputs (0major+0minor)pagefaults 0swaps";
const TIME_VERBOSE: &[u8] = b"\tCommand being timed: \"%C\"\n\tElapsed (wall clock) time (h:mm:ss or m:ss): %E\n\tExit status: %x";

/// The measurements that `time` reports about a command.
struct TimeReport<'a> {
    seconds: f64,
    exit: Exit,
    command: &'a [Vec<u8>],
}

impl TimeReport<'_> {
    /// Formats the measurements by a format of `time -f`, and appends a newline.
    fn show(&self, format: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut it = format.iter();
        while let Some(&c) = it.next() {
            match c {
                b'%' => self.convert(it.next().copied(), &mut out),
                b'\\' => match it.next() {
                    Some(b'n') => out.push(b'\n'),
                    Some(b't') => out.push(b'\t'),
                    Some(b'\\') => out.push(b'\\'),
                    Some(c) => out.extend_from_slice(&[b'?', b'\\', *c]),
                    None => out.extend_from_slice(b"?\\"),
                },
                c => out.push(c),
            }
        }
        out.push(b'\n');
        out
    }

    /// Appends the value of a conversion, which is `%` and a letter.
    fn convert(&self, letter: Option<u8>, out: &mut Vec<u8>) {
        let seconds = self.seconds;
        match letter {
            Some(b'e' | b'U') => out.extend_from_slice(format!("{seconds:.2}").as_bytes()),
            Some(b'S') => out.extend_from_slice(b"0.00"),
            Some(b'E') => {
                let minutes = (seconds / 60.0) as u64;
                let rest = seconds - minutes as f64 * 60.0;
                out.extend_from_slice(format!("{minutes}:{rest:05.2}").as_bytes());
            }
            Some(b'P') => out.extend_from_slice(b"100%"),
            Some(b'x') => out.extend_from_slice(self.exit.0.to_string().as_bytes()),
            Some(b'C') => out.extend_from_slice(&self.command.join(&b' ')),
            Some(b'%') => out.push(b'%'),
            Some(c) if c.is_ascii_alphabetic() => out.push(b'0'),
            Some(c) => out.extend_from_slice(&[b'?', c]),
            None => out.push(b'?'),
        }
    }
}
