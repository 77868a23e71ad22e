//! Builds command lines from items, and collects the statuses of the commands.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use box_applet::Ctx;
use box_applet::command::{Child, ChildCommand, ChildStream};
use box_sys::WaitStatus;

/// The limits of a command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct XargsLimits {
    pub args: Option<u64>,
    pub lines: Option<u64>,
    /// The maximum number of bytes, in which each argument counts with its NUL.
    pub chars: usize,
    /// Whether a command line that is too long is an error, and is not split.
    pub exit_if_large: bool,
}

/// Collects items and runs a command with them.
#[derive(Default)]
pub struct XargsRunner {
    command: Vec<Vec<u8>>,
    limits: XargsLimits,
    /// `-I`: replaced by each item.
    pub replace: Option<Vec<u8>>,
    pub stdin: ChildStream,
    /// The number of commands that may run at once; 0 for no limit.
    pub procs: usize,
    pub verbose: bool,
    pub prompt: Option<BufReader<File>>,
    pub slot_var: Option<Vec<u8>>,
    pending: Vec<Vec<u8>>,
    pending_chars: usize,
    /// The number of lines that were read when the pending command line was begun.
    lines_before: u64,
    started: bool,
    /// The running commands with their slots, oldest first.
    running: VecDeque<(usize, Child)>,
    status: u8,
}

impl XargsRunner {
    /// Creates a runner that runs one command at a time and does not prompt.
    pub fn new(command: Vec<Vec<u8>>, limits: XargsLimits) -> XargsRunner {
        XargsRunner {
            command,
            limits,
            stdin: ChildStream::Null,
            procs: 1,
            ..XargsRunner::default()
        }
    }

    /// Adds an item; `lines` is the number of lines that have been read with it.
    pub fn push(&mut self, ctx: &mut Ctx<'_>, item: Vec<u8>, lines: u64) -> Result<(), u8> {
        if let Some(pattern) = &self.replace {
            let argv = self.command.iter().enumerate().map(|(i, word)| match i {
                0 => word.clone(),
                _ => replace_pattern(word, pattern, &item),
            });
            let argv: Vec<Vec<u8>> = argv.collect();
            if argv_chars(&argv) > self.limits.chars {
                ctx.error("argument list too long");
                return Err(1);
            }
            return self.start_command(ctx, argv);
        }
        let fixed = argv_chars(&self.command);
        let size = item.len() + 1;
        if fixed + self.pending_chars + size > self.limits.chars {
            if self.limits.exit_if_large && !self.pending.is_empty() {
                ctx.error("argument list too long");
                return Err(1);
            }
            self.flush(ctx, false)?;
            if fixed + size > self.limits.chars {
                ctx.error("argument line too long");
                return Err(1);
            }
        }
        self.pending.push(item);
        self.pending_chars += size;
        let full = self.limits.args.is_some_and(|n| self.pending.len() as u64 >= n)
            || self.limits.lines.is_some_and(|n| lines - self.lines_before >= n);
        if full {
            self.lines_before = lines;
            self.flush(ctx, false)?;
        }
        Ok(())
    }

    /// Runs the pending command line; with `even_empty`, even if there were no items at all.
    pub fn flush(&mut self, ctx: &mut Ctx<'_>, even_empty: bool) -> Result<(), u8> {
        if self.pending.is_empty() && (self.started || !even_empty) {
            return Ok(());
        }
        let mut argv = self.command.clone();
        argv.append(&mut self.pending);
        self.pending_chars = 0;
        self.start_command(ctx, argv)
    }

    /// Waits for all commands and returns the exit status.
    pub fn wait_all(&mut self, ctx: &mut Ctx<'_>) -> u8 {
        while !self.running.is_empty() {
            if let Err(status) = self.wait_oldest(ctx) {
                self.status = status;
            }
        }
        self.status
    }

    fn start_command(&mut self, ctx: &mut Ctx<'_>, argv: Vec<Vec<u8>>) -> Result<(), u8> {
        self.started = true;
        if self.verbose && !self.announce_command(ctx, &argv) {
            return Ok(());
        }
        while self.procs != 0 && self.running.len() >= self.procs {
            self.wait_oldest(ctx)?;
        }
        let slot = (0..).find(|n| self.running.iter().all(|(s, _)| s != n)).unwrap_or(0);
        let env = self.slot_var.as_ref().map(|name| {
            let mut env = ctx.env.clone();
            env.set(name, slot.to_string().as_bytes());
            env
        });
        let command =
            ChildCommand { argv, env, stdin: self.stdin.clone(), ..ChildCommand::default() };
        match command.start(ctx) {
            Ok(child) => self.running.push_back((slot, child)),
            Err(e) => {
                let name = command.argv.first().map(Vec::as_slice).unwrap_or_default();
                ctx.error_bytes(&[name, b": ", e.message.as_bytes()]);
                ctx.advise_missing(name, e.status);
                return Err(e.status);
            }
        }
        if self.procs == 1 {
            self.wait_oldest(ctx)?;
        }
        Ok(())
    }

    /// Waits for the oldest command; the error is the status to exit with at once.
    fn wait_oldest(&mut self, ctx: &mut Ctx<'_>) -> Result<(), u8> {
        let Some((_, child)) = self.running.pop_front() else { return Ok(()) };
        let name = self.command.first().map(|n| String::from_utf8_lossy(n).into_owned());
        let name = name.unwrap_or_default();
        match child.wait(ctx) {
            Ok(WaitStatus::Exited(0)) => Ok(()),
            Ok(WaitStatus::Exited(255)) => {
                ctx.error(format_args!("{name}: exited with status 255; aborting"));
                Err(124)
            }
            // Our tools end with this status, which a shell reports for SIGPIPE.
            Ok(WaitStatus::Exited(141)) => {
                ctx.error(format_args!("{name}: terminated by signal 13"));
                Err(125)
            }
            Ok(WaitStatus::Exited(_)) => {
                self.status = 123;
                Ok(())
            }
            Ok(WaitStatus::Signaled(signal)) => {
                ctx.error(format_args!("{name}: terminated by signal {signal}"));
                Err(125)
            }
            Err(e) => {
                let text = box_sys::error_text(&e);
                ctx.error(format_args!("error waiting for child process: {text}"));
                Err(1)
            }
        }
    }

    /// Shows the command for `-t` and `-p`; returns `false` if the user declines it.
    fn announce_command(&mut self, ctx: &mut Ctx<'_>, argv: &[Vec<u8>]) -> bool {
        let _ = ctx.stdout.flush();
        let mut line = Vec::new();
        for (i, word) in argv.iter().enumerate() {
            if i > 0 {
                line.push(b' ');
            }
            line.extend_from_slice(&quote_word(word));
        }
        let Some(tty) = &mut self.prompt else {
            line.push(b'\n');
            let _ = ctx.stderr.write_all(&line);
            return true;
        };
        line.extend_from_slice(b"?...");
        let _ = ctx.stderr.write_all(&line);
        let mut answer = Vec::new();
        let _ = tty.read_until(b'\n', &mut answer);
        matches!(answer.first(), Some(b'y' | b'Y'))
    }
}

/// Returns a word as a shell would read it back, in GNU's `shell-escape` quoting style.
fn quote_word(word: &[u8]) -> Vec<u8> {
    if word.iter().any(u8::is_ascii_control) {
        return quote_controls(word);
    }
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"_-./:+@%,{}]#~".contains(b) || *b >= 0x80;
    let first_plain = !matches!(word.first(), Some(b'#' | b'~'));
    if !word.is_empty() && first_plain && word.iter().all(plain) {
        return word.to_vec();
    }
    if word.contains(&b'\'') && !word.iter().any(|b| b"\"\\`$!".contains(b)) {
        return [b"\"", word, b"\""].concat();
    }
    box_text::escape::single_quote(word)
}

/// Quotes a word with control characters, which get quotes of their own, for example `$'\n'`.
fn quote_controls(word: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    let mut escapes = false;
    for byte in word {
        if byte.is_ascii_control() != escapes {
            escapes = !escapes;
            out.extend_from_slice(if escapes { b"'$'" } else { b"''" });
        }
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            _ if escapes => box_text::escape::push_escaped(*byte, &mut out),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
    out
}

fn argv_chars(argv: &[Vec<u8>]) -> usize {
    argv.iter().map(|a| a.len() + 1).sum()
}

fn replace_pattern(word: &[u8], pattern: &[u8], item: &[u8]) -> Vec<u8> {
    if pattern.is_empty() {
        return word.to_vec();
    }
    let mut out = Vec::with_capacity(word.len() + item.len());
    let mut rest = word;
    while let Some(at) = memchr::memmem::find(rest, pattern) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(item);
        rest = &rest[at + pattern.len()..];
    }
    out.extend_from_slice(rest);
    out
}
