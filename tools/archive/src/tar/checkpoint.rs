//! `--checkpoint`: runs actions, such as printing a message, each time a number of records has been
//! read or written.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use box_applet::Ctx;
use box_text::number::human_size;

/// The length of a record, in bytes.
pub const RECORD: u64 = 20 * 512;

/// The action at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointAction {
    /// A dot on standard output.
    Dot,
    /// A bell on the terminal. It has no effect here.
    Bell,
    /// A message; without a text, the default one of `tar`.
    Echo(Option<Vec<u8>>),
    /// A text on the terminal, to which no newline is added.
    Print(Vec<u8>),
    Totals,
    Sleep(u64),
}

impl CheckpointAction {
    /// Parses the value of `--checkpoint-action`. The error is the message.
    pub fn parse(text: &[u8]) -> Result<CheckpointAction, String> {
        let (word, value) = match text.iter().position(|c| *c == b'=') {
            Some(i) => (&text[..i], Some(text[i + 1..].to_vec())),
            None => (text, None),
        };
        Ok(match (word, value) {
            (b"dot" | b".", None) => CheckpointAction::Dot,
            (b"bell", None) => CheckpointAction::Bell,
            (b"echo", value) => CheckpointAction::Echo(value),
            (b"ttyout", Some(value)) => CheckpointAction::Print(value),
            (b"totals", None) => CheckpointAction::Totals,
            (b"sleep", Some(value)) => {
                let seconds = std::str::from_utf8(&value).ok().and_then(|v| v.parse().ok());
                CheckpointAction::Sleep(seconds.ok_or_else(|| {
                    format!("{}: not a valid timeout", String::from_utf8_lossy(&value))
                })?)
            }
            _ => {
                return Err(format!(
                    "{}: unknown checkpoint action",
                    String::from_utf8_lossy(text)
                ));
            }
        })
    }
}

/// The direction in which the data of an archive goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointDirection {
    Write,
    Read,
}

/// The checkpoints of a run.
pub struct Checkpoints {
    /// The number of records between two checkpoints; `None` if there are no checkpoints.
    every: Option<u64>,
    actions: Vec<CheckpointAction>,
    direction: CheckpointDirection,
    /// The number of records so far.
    records: u64,
    start: Instant,
}

impl Checkpoints {
    /// Returns the checkpoints of a run that begins now.
    pub fn new(
        every: Option<u64>,
        actions: Vec<CheckpointAction>,
        direction: CheckpointDirection,
    ) -> Checkpoints {
        Checkpoints { every, actions, direction, records: 0, start: Instant::now() }
    }

    /// Runs the actions that are due after `bytes` bytes of the archive have been written or read.
    pub fn advance(&mut self, ctx: &mut Ctx<'_>, bytes: u64) {
        let Some(every) = self.every.filter(|n| *n > 0) else { return };
        while self.records < bytes / RECORD {
            self.records += 1;
            if self.records.is_multiple_of(every) {
                self.act(ctx);
            }
        }
    }

    fn act(&self, ctx: &mut Ctx<'_>) {
        let (number, bytes) = (self.records, self.records.saturating_sub(1) * RECORD);
        let default = CheckpointAction::Echo(None);
        let actions = if self.actions.is_empty() {
            std::slice::from_ref(&default)
        } else {
            &self.actions[..]
        };
        for action in actions {
            match action {
                CheckpointAction::Dot => {
                    let _ = ctx.stdout.write_all(b".");
                    let _ = ctx.stdout.flush();
                }
                CheckpointAction::Bell => {}
                CheckpointAction::Echo(None) => {
                    let verb = match self.direction {
                        CheckpointDirection::Write => "Write",
                        CheckpointDirection::Read => "Read",
                    };
                    ctx.error(format_args!("{verb} checkpoint {number}"));
                }
                CheckpointAction::Echo(Some(text)) => {
                    let text = self.expand_text(text, number, bytes);
                    ctx.error_bytes(&[&text]);
                }
                CheckpointAction::Print(text) => {
                    let text = self.expand_text(text, number, bytes);
                    // Without a terminal the text is dropped.
                    if let Ok(mut terminal) = File::options().write(true).open("/dev/tty") {
                        let _ = terminal.write_all(&text);
                    }
                }
                CheckpointAction::Totals => self.print_totals(ctx, bytes),
                CheckpointAction::Sleep(seconds) => {
                    std::thread::sleep(Duration::from_secs(*seconds));
                }
            }
        }
    }

    /// Prints the number of bytes that were written or read (`--totals`).
    pub fn print_totals(&self, ctx: &mut Ctx<'_>, bytes: u64) {
        let verb = match self.direction {
            CheckpointDirection::Write => "written",
            CheckpointDirection::Read => "read",
        };
        let line = format!("Total bytes {verb}: {bytes} {}\n", self.speed_text(bytes));
        let _ = ctx.stderr.write_all(line.as_bytes());
    }

    fn speed_text(&self, bytes: u64) -> String {
        let seconds = self.start.elapsed().as_secs_f64().max(1e-9);
        let speed = (bytes as f64 / seconds) as u64;
        format!("({}, {}/s)", size_text(bytes), size_text(speed))
    }

    /// Expands a text: replaces `%u` by the checkpoint's number, `%s` by `read` or `write`, `%d` by
    /// the seconds since the start, and `%T` by the totals. `%*` pads the line with spaces. A
    /// backslash begins an escape sequence.
    fn expand_text(&self, text: &[u8], number: u64, bytes: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = text.iter().copied();
        while let Some(c) = rest.next() {
            match c {
                b'%' => match rest.next() {
                    Some(b'u') => out.extend_from_slice(number.to_string().as_bytes()),
                    Some(b's') => out.extend_from_slice(match self.direction {
                        CheckpointDirection::Write => b"write",
                        CheckpointDirection::Read => b"read",
                    }),
                    Some(b'd') => {
                        let seconds = self.start.elapsed().as_secs();
                        out.extend_from_slice(seconds.to_string().as_bytes());
                    }
                    Some(b'T') => {
                        let letter = match self.direction {
                            CheckpointDirection::Write => "W",
                            CheckpointDirection::Read => "R",
                        };
                        let speed = self.speed_text(bytes);
                        out.extend_from_slice(format!("{letter}: {bytes} {speed}").as_bytes());
                    }
                    Some(b'*') => out.resize(out.len().max(79), b' '),
                    Some(other) => out.extend_from_slice(&[b'%', other]),
                    None => out.push(b'%'),
                },
                b'\\' => match rest.next() {
                    Some(b'n') => out.push(b'\n'),
                    Some(b't') => out.push(b'\t'),
                    Some(b'r') => out.push(b'\r'),
                    Some(b'a') => out.push(7),
                    Some(other) => out.push(other),
                    None => out.push(b'\\'),
                },
                other => out.push(other),
            }
        }
        out
    }
}

/// Returns a size as `--totals` prints it, such as `10KiB`.
fn size_text(bytes: u64) -> String {
    let text = human_size(bytes, 1024);
    match text.bytes().last() {
        Some(c) if c.is_ascii_digit() => format!("{text}B"),
        _ => format!("{text}iB"),
    }
}
