//! The machine: pattern space, hold space, the cycle.
//!
//! | file | contents |
//! |---|---|
//! | `machine/select` | whether a command is for the current line |
//! | `machine/substitute` | `s` |
//! | `machine/input` | lines from the files, the last one, in-place editing |
//! | `machine/output` | standard output and `w` files, newline at the end of file |
//! | `machine/command` | running commands for `e` |

mod command;
mod input;
mod output;
mod select;
mod substitute;

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::rc::Rc;

use box_applet::Ctx;
use box_sys::error_text;
use box_text::escape::push_escaped;
use box_text::regex::{Captures, Regex};

use crate::error::SedRunError;
use crate::script::{SedAction, SedScript, Translate};
use input::SedInput;
use output::SedOutputs;

type Result<T> = std::result::Result<T, SedRunError>;

/// Settings from the command line.
#[derive(Clone, Debug, Default)]
pub struct SedSettings {
    pub quiet: bool,
    pub separate: bool,
    /// `-i`, with the backup suffix.
    pub in_place: Option<Vec<u8>>,
    /// `-i` edits the target of a symbolic link instead of replacing the link.
    pub follow: bool,
    pub unbuffered: bool,
    pub null_data: bool,
    pub posix: bool,
    pub utf8: bool,
    /// `-l`.
    pub line_length: usize,
    pub files: Vec<Vec<u8>>,
}

/// Output that is written at the end of the cycle.
enum QueuedOutput {
    Text(usize),
    File(Vec<u8>),
    /// A line of `R`, and whether it had a newline.
    Line(Vec<u8>, bool),
}

/// The end of a cycle.
enum SedFlow {
    /// The cycle ends, with or without printing the pattern space.
    Next(bool),
    /// `D`: the next cycle begins without reading a line.
    Again,
    Quit(u8, bool),
}

/// The machine.
pub struct SedMachine<'c, 'a> {
    ctx: &'c mut Ctx<'a>,
    script: Rc<SedScript>,
    settings: SedSettings,
    input: SedInput,
    outputs: SedOutputs,
    /// The pattern space, and whether its last line ended in a newline.
    space: Vec<u8>,
    newline: bool,
    hold: Vec<u8>,
    /// Whether the last line of the hold space ended in a newline.
    hold_newline: bool,
    /// A buffer that `s` reuses.
    scratch: Vec<u8>,
    captures: Captures,
    /// The state of each range: the line on which it ends, while it is open.
    ranges: Vec<Option<u64>>,
    /// Whether the range has begun before.
    started: Vec<bool>,
    last_regex: Option<Rc<Regex>>,
    /// Whether `s` has replaced something since the last line was read or the last `t` ran.
    substituted: bool,
    queue: Vec<QueuedOutput>,
    /// The files that `R` reads.
    line_files: Vec<(Vec<u8>, Option<BufReader<File>>)>,
    status: u8,
}

impl<'c, 'a> SedMachine<'c, 'a> {
    /// Creates a machine before its first cycle.
    pub fn new(
        ctx: &'c mut Ctx<'a>,
        script: SedScript,
        settings: SedSettings,
    ) -> SedMachine<'c, 'a> {
        let mut ranges = vec![None; script.ranges];
        for n in &script.active {
            ranges[*n] = Some(u64::MAX);
        }
        let input = SedInput::new(settings.files.clone());
        SedMachine {
            ctx,
            settings,
            input,
            outputs: SedOutputs::default(),
            space: Vec::new(),
            newline: true,
            hold: Vec::new(),
            hold_newline: true,
            scratch: Vec::new(),
            captures: Captures::default(),
            started: vec![false; ranges.len()],
            ranges,
            last_regex: None,
            substituted: false,
            queue: Vec::new(),
            line_files: Vec::new(),
            status: 0,
            script: Rc::new(script),
        }
    }

    /// Runs the script over all input and returns the exit status.
    pub fn run(mut self) -> u8 {
        let ended = self.run_all();
        let finished = self.flush_all();
        match ended.and(finished) {
            Ok(()) => self.status,
            Err(SedRunError::BrokenPipe) => 141,
            Err(SedRunError::Fatal(status, message)) => {
                self.ctx.error(&message);
                status
            }
        }
    }

    fn run_all(&mut self) -> Result<()> {
        self.open_outputs()?;
        let script = self.script.clone();
        let mut again = false;
        loop {
            if !again && !self.read_line()? {
                return Ok(());
            }
            again = false;
            match self.run_cycle(&script)? {
                SedFlow::Next(print) => self.end_cycle(print)?,
                SedFlow::Again => {
                    self.flush_queue()?;
                    again = true;
                }
                SedFlow::Quit(status, print) => {
                    self.end_cycle(print)?;
                    self.status = status;
                    return self.close_input();
                }
            }
        }
    }

    fn end_cycle(&mut self, print: bool) -> Result<()> {
        if print && !self.settings.quiet {
            self.print_space()?;
        }
        self.flush_queue()
    }

    fn line_delimiter(&self) -> u8 {
        if self.settings.null_data { 0 } else { b'\n' }
    }

    fn run_cycle(&mut self, script: &SedScript) -> Result<SedFlow> {
        let mut pc = 0;
        while let Some(command) = script.commands.get(pc) {
            pc += 1;
            if self.is_selected(&command.select)? == command.negate {
                if let SedAction::Block(end) = command.action {
                    pc = end;
                }
                continue;
            }
            match &command.action {
                SedAction::Block(_) => {}
                SedAction::Substitute(s) => self.run_substitute(s)?,
                SedAction::Print => self.print_space()?,
                SedAction::Delete => return Ok(SedFlow::Next(false)),
                SedAction::DeleteFirst => {
                    match memchr::memchr(self.line_delimiter(), &self.space) {
                        None => return Ok(SedFlow::Next(false)),
                        Some(n) => {
                            self.space.drain(..=n);
                            return Ok(SedFlow::Again);
                        }
                    }
                }
                SedAction::Branch(to) => pc = *to,
                SedAction::BranchIf(to) => {
                    if std::mem::take(&mut self.substituted) {
                        pc = *to;
                    }
                }
                SedAction::BranchUnless(to) => {
                    if !std::mem::take(&mut self.substituted) {
                        pc = *to;
                    }
                }
                SedAction::Next => {
                    if !self.has_next()? {
                        // Without a next line, POSIX quits without printing, and GNU prints first.
                        return Ok(SedFlow::Next(!self.settings.posix));
                    }
                    if !self.settings.quiet {
                        self.print_space()?;
                    }
                    self.flush_queue()?;
                    if !self.read_line()? {
                        return Ok(SedFlow::Quit(self.status, false));
                    }
                }
                SedAction::NextAppend => {
                    if !self.has_next()? {
                        return Ok(SedFlow::Next(!self.settings.posix));
                    }
                    self.flush_queue()?;
                    let mut before = std::mem::take(&mut self.space);
                    before.push(self.line_delimiter());
                    if !self.read_line()? {
                        return Ok(SedFlow::Quit(self.status, false));
                    }
                    before.extend_from_slice(&self.space);
                    self.space = before;
                }
                SedAction::Get => {
                    self.space.clear();
                    self.space.extend_from_slice(&self.hold);
                    self.newline = self.hold_newline;
                }
                SedAction::GetAppend => {
                    self.space.push(self.line_delimiter());
                    self.space.extend_from_slice(&self.hold);
                    self.newline = self.hold_newline;
                }
                SedAction::Hold => {
                    self.hold.clear();
                    self.hold.extend_from_slice(&self.space);
                    self.hold_newline = self.newline;
                }
                SedAction::HoldAppend => {
                    self.hold.push(self.line_delimiter());
                    self.hold.extend_from_slice(&self.space);
                    self.hold_newline = self.newline;
                }
                SedAction::Exchange => {
                    std::mem::swap(&mut self.hold, &mut self.space);
                    std::mem::swap(&mut self.hold_newline, &mut self.newline);
                }
                SedAction::Append(_) => self.queue.push(QueuedOutput::Text(pc - 1)),
                SedAction::Insert(text) => self.write_text(text)?,
                SedAction::Change(text) => {
                    if self.range_ended(command) {
                        self.write_text(text)?;
                    }
                    return Ok(SedFlow::Next(false));
                }
                SedAction::PrintFirst => {
                    let end = memchr::memchr(self.line_delimiter(), &self.space);
                    let end = end.unwrap_or(self.space.len());
                    self.print_line(end)?;
                }
                SedAction::Quit(status) => return Ok(SedFlow::Quit(*status, true)),
                SedAction::QuitSilent(status) => return Ok(SedFlow::Quit(*status, false)),
                SedAction::ReadFile(name) => self.queue.push(QueuedOutput::File(name.clone())),
                SedAction::ReadLine(name) => self.queue_line(name)?,
                SedAction::Write(n) => self.write_file(*n, self.space.len())?,
                SedAction::WriteFirst(n) => {
                    let end = memchr::memchr(self.line_delimiter(), &self.space);
                    self.write_file(*n, end.unwrap_or(self.space.len()))?;
                }
                SedAction::LineNumber => {
                    let text = format!("{}\n", self.input.line);
                    self.write_text(text.as_bytes())?;
                }
                SedAction::FileName => {
                    let mut name = self.input.name.clone();
                    name.push(b'\n');
                    self.write_text(&name)?;
                }
                SedAction::List(width) => {
                    // `l 1` folds at each character, `-l 1` at none.
                    let each = *width == Some(1);
                    let width = width.unwrap_or(self.settings.line_length);
                    let text = unambiguous_text(&self.space, b"\\", width, each);
                    self.write_text(&text)?;
                }
                SedAction::Translate(table) => self.translate_space(table),
                SedAction::Zap => self.space.clear(),
                SedAction::Execute(command) => self.execute_command(command.as_deref())?,
            }
        }
        Ok(SedFlow::Next(true))
    }

    fn translate_space(&mut self, table: &Translate) {
        match table {
            Translate::Bytes(t) => self.space.iter_mut().for_each(|c| *c = t[usize::from(*c)]),
            Translate::Characters(map) => {
                let mut out = Vec::with_capacity(self.space.len());
                let mut at = 0;
                while at < self.space.len() {
                    let len = if self.settings.utf8 {
                        box_text::number::utf8_len(&self.space[at..])
                    } else {
                        1
                    };
                    let c = &self.space[at..at + len];
                    out.extend_from_slice(map.get(c).map_or(c, Vec::as_slice));
                    at += len;
                }
                self.space = out;
            }
        }
    }

    /// Writes a text of `i` or `c`, or the text of a command such as `l`. With `-z`, it ends in a
    /// NUL, as lines do.
    fn write_text(&mut self, text: &[u8]) -> Result<()> {
        match text.strip_suffix(b"\n") {
            Some(text) if self.settings.null_data => self.write_out(&[text, b"\0"].concat()),
            _ => self.write_out(text),
        }
    }

    /// Writes the text that `a`, `r` and `R` queued for the end of the cycle.
    fn flush_queue(&mut self) -> Result<()> {
        if self.queue.is_empty() {
            return Ok(());
        }
        let script = self.script.clone();
        for item in std::mem::take(&mut self.queue) {
            match item {
                QueuedOutput::Text(n) => {
                    if let Some(SedAction::Append(text)) = script.commands.get(n).map(|c| &c.action)
                    {
                        self.write_out(text)?;
                    }
                }
                QueuedOutput::File(name) => {
                    let mut text = Vec::new();
                    if name == b"/dev/stdin" {
                        let _ = self.ctx.stdin.read_to_end(&mut text);
                    } else {
                        // A file that cannot be read counts as empty (POSIX).
                        match File::open(self.ctx.path(&name)) {
                            Ok(mut f) => {
                                f.read_to_end(&mut text).map_err(|e| read_error(&name, &e))?;
                            }
                            Err(e) if e.kind() == ErrorKind::IsADirectory => {
                                return Err(read_error(&name, &e));
                            }
                            Err(_) => continue,
                        }
                    }
                    self.write_newline()?;
                    self.write_out(&text)?;
                }
                QueuedOutput::Line(mut line, newline) => {
                    if newline {
                        line.push(self.line_delimiter());
                    }
                    self.write_out(&line)?;
                    if !newline {
                        self.outputs_mut().missing_newline();
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs `R`: queues the next line of a file, if there is one.
    fn queue_line(&mut self, name: &[u8]) -> Result<()> {
        let delimiter = self.line_delimiter();
        if !self.line_files.iter().any(|(n, _)| n == name) {
            let file = if name == b"/dev/stdin" {
                None
            } else {
                File::open(self.ctx.path(name)).ok().map(BufReader::new)
            };
            self.line_files.push((name.to_vec(), file));
        }
        let mut line = Vec::new();
        if name == b"/dev/stdin" {
            let _ = self.ctx.stdin.read_until(delimiter, &mut line);
        } else if let Some((_, Some(f))) = self.line_files.iter_mut().find(|(n, _)| n == name) {
            f.read_until(delimiter, &mut line).map_err(|e| read_error(name, &e))?;
        }
        if !line.is_empty() {
            let newline = line.last() == Some(&delimiter);
            if newline {
                line.pop();
            }
            self.queue.push(QueuedOutput::Line(line, newline));
        }
        Ok(())
    }
}

/// Returns the error that ends a run if a file that `r` or `R` names cannot be read.
fn read_error(name: &[u8], e: &std::io::Error) -> SedRunError {
    let shown = String::from_utf8_lossy(name);
    SedRunError::Fatal(4, format!("read error on {shown}: {}", error_text(e)))
}

/// Returns a text in the unambiguous form of `l`: with escapes, a backslash before the bytes in
/// `also`, and `$` at the end. It is folded at `width`, unless that is 0 or 1; if `each` is set,
/// before each character.
pub(crate) fn unambiguous_text(text: &[u8], also: &[u8], width: usize, each: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    let mut column = 0;
    let mut item = Vec::with_capacity(4);
    for &c in text {
        item.clear();
        match c {
            _ if also.contains(&c) => item.extend([b'\\', c]),
            b' '..=b'~' => item.push(c),
            _ => push_escaped(c, &mut item),
        }
        if width > 1 && column + item.len() > width - 1 || each {
            out.extend(b"\\\n");
            column = 0;
        }
        column += item.len();
        out.extend_from_slice(&item);
    }
    out.extend(b"$\n");
    out
}
