//! Documents from files and standard input, read piece by piece.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::rc::Rc;

use box_applet::{Ctx, StdInput};
use box_sys::error_text;

use crate::builtins::{JqInputs, JqStreams};
use crate::json::{JsonMode, JsonParser};
use crate::options::JqOptions;
use crate::value::Value;

/// The minimum number of bytes to read at once.
const CHUNK: usize = 64 * 1024;

enum JqInputSource {
    Stdin(StdInput),
    File { name: Vec<u8>, path: PathBuf },
}

/// All files as one stream of documents. A file that cannot be opened is reported and skipped;
/// input that does not parse ends the stream.
pub struct Documents {
    waiting: VecDeque<JqInputSource>,
    current: Option<Box<dyn Read>>,
    name: Value,
    buf: Vec<u8>,
    pos: usize,
    /// The number of newlines before `buf`.
    lines: u64,
    column: usize,
    eof: bool,
    parser: JsonParser,
    raw: bool,
    slurp: bool,
    seq: bool,
    stream_errors: bool,
    done: bool,
    streams: Rc<JqStreams>,
    /// Messages about files that could not be read; if there are any, the run ends with status 2.
    pub failures: Vec<String>,
}

impl Documents {
    /// Creates the inputs that the options name.
    pub fn new(ctx: &mut Ctx<'_>, options: &JqOptions, streams: Rc<JqStreams>) -> Documents {
        let mut waiting: VecDeque<JqInputSource> = options
            .files
            .iter()
            .map(|name| match name.as_slice() {
                b"-" => JqInputSource::Stdin(ctx.stdin.detach_stream()),
                _ => JqInputSource::File { name: name.clone(), path: ctx.path(name) },
            })
            .collect();
        if waiting.is_empty() {
            waiting.push_back(JqInputSource::Stdin(ctx.stdin.detach_stream()));
        }
        let mode = if options.stream { JsonMode::Stream } else { JsonMode::Values };
        Documents {
            waiting,
            current: None,
            name: Value::Null,
            buf: Vec::new(),
            pos: 0,
            lines: 0,
            column: 0,
            eof: false,
            parser: JsonParser::new(mode, options.seq),
            raw: options.raw_input,
            slurp: options.slurp,
            seq: options.seq,
            stream_errors: options.stream_errors,
            done: false,
            streams,
            failures: Vec::new(),
        }
    }

    /// Opens the next source; false at the end.
    fn open_next(&mut self) -> bool {
        while let Some(source) = self.waiting.pop_front() {
            match source {
                JqInputSource::Stdin(input) => {
                    self.current = Some(Box::new(input));
                    self.name = Value::Null;
                    return true;
                }
                JqInputSource::File { name, path } => match File::open(path) {
                    Ok(f) => {
                        self.current = Some(Box::new(f));
                        self.name = Value::bytes(name);
                        return true;
                    }
                    Err(e) => self.failures.push(format!(
                        "error: Could not open {}: {}",
                        String::from_utf8_lossy(&name),
                        error_text(&e)
                    )),
                },
            }
        }
        false
    }

    /// Discards the consumed bytes and reads more. Returns false at the end of all input.
    fn fill_buffer(&mut self) -> bool {
        let used = &self.buf[..self.pos];
        self.lines += memchr::memchr_iter(b'\n', used).count() as u64;
        self.column = match memchr::memrchr(b'\n', used) {
            Some(at) => used.len() - at - 1,
            None => self.column + used.len(),
        };
        self.buf.drain(..self.pos);
        self.pos = 0;
        // A token longer than the buffer is scanned again each time, so the buffer doubles.
        let size = CHUNK.max(self.buf.len());
        loop {
            if self.current.is_none() && !self.open_next() {
                self.eof = true;
                return false;
            }
            let Some(input) = &mut self.current else { return false };
            if matches!(self.name, Value::Null) {
                // The writer of the input may be waiting for our output.
                self.streams.flush();
            }
            let from = self.buf.len();
            self.buf.resize(from + size, 0);
            let read = input.read(&mut self.buf[from..]);
            match read {
                Ok(n) if n > 0 => {
                    self.buf.truncate(from + n);
                    return true;
                }
                Ok(_) => {
                    self.buf.truncate(from);
                    self.current = None;
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => self.buf.truncate(from),
                Err(e) => {
                    self.buf.truncate(from);
                    self.current = None;
                    let name = self.name.as_str().unwrap_or("<stdin>").to_string();
                    self.failures.push(format!("error: Could not read {name}: {}", error_text(&e)));
                }
            }
        }
    }

    fn next_value(&mut self) -> Option<Result<Value, String>> {
        if self.raw {
            return self.next_line().map(Ok);
        }
        loop {
            if self.lines == 0 && self.column == 0 && self.pos == 0 {
                // A byte order mark is not part of the text.
                if self.buf.starts_with(b"\xef\xbb\xbf") {
                    self.pos = 3;
                }
            }
            match self.parser.next(&self.buf, &mut self.pos, self.eof) {
                Ok(Some(v)) => return Some(Ok(v)),
                Ok(None) if self.eof => return None,
                Ok(None) => {
                    self.fill_buffer();
                }
                Err(problem) => return Some(self.report_problem(problem)),
            }
        }
    }

    fn report_problem(&mut self, problem: &str) -> Result<Value, String> {
        let used = &self.buf[..self.pos];
        let newlines = memchr::memchr_iter(b'\n', used).count() as u64;
        let line = 1 + self.lines + newlines;
        let column = match memchr::memrchr(b'\n', used) {
            Some(at) => used.len() - at - 1,
            None => self.column + used.len(),
        };
        let eof = if self.parser.at_end() { " at EOF" } else { "" };
        let message = format!("{problem}{eof} at line {line}, column {column}");
        if self.stream_errors {
            self.done = true;
            return Ok(Value::arr(vec![message.into(), self.parser.current_path()]));
        }
        if self.seq {
            // The next record may be valid.
            self.parser.reset_value();
            while !self.eof {
                if let Some(at) = memchr::memchr(0x1e, &self.buf[self.pos..]) {
                    self.pos += at;
                    break;
                }
                self.pos = self.buf.len();
                self.fill_buffer();
            }
        } else {
            self.done = true;
        }
        Err(message)
    }

    fn next_line(&mut self) -> Option<Value> {
        let mut from = self.pos;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buf[from..]) {
                let line = self.buf[self.pos..from + at].to_vec();
                self.pos = from + at + 1;
                return Some(Value::bytes(line));
            }
            let searched = self.buf.len() - self.pos;
            if !self.fill_buffer() {
                if self.pos == self.buf.len() {
                    return None;
                }
                let line = self.buf.split_off(self.pos);
                self.pos = self.buf.len();
                return Some(Value::bytes(line));
            }
            from = self.pos + searched;
        }
    }

    fn slurp_all(&mut self) -> Result<Value, String> {
        self.done = true;
        if self.raw {
            // Nothing is consumed before the end, so the buffer keeps all of the input.
            while self.fill_buffer() {}
            self.pos = self.buf.len();
            return Ok(Value::bytes(self.buf.clone()));
        }
        let mut all = Vec::new();
        while let Some(v) = self.next_value() {
            all.push(v?);
        }
        Ok(Value::arr(all))
    }
}

impl JqInputs for Documents {
    fn next(&mut self) -> Option<Result<Value, String>> {
        if self.done {
            return None;
        }
        if self.slurp {
            return Some(self.slurp_all());
        }
        self.next_value()
    }

    fn filename(&self) -> Value {
        self.name.clone()
    }

    fn position(&self) -> String {
        match (&self.name, self.current.is_some() || self.eof) {
            (Value::Str(name), _) => format!("{name}:{}", self.line()),
            (_, true) => format!("<stdin>:{}", self.line()),
            _ => "<unknown>".to_string(),
        }
    }

    fn line(&self) -> u64 {
        let (used, rest) = self.buf.split_at(self.pos);
        // jq reads whole lines, so the line in which the last value ended counts.
        let this = memchr::memchr(b'\n', rest).is_some();
        self.lines + memchr::memchr_iter(b'\n', used).count() as u64 + u64::from(this)
    }
}
