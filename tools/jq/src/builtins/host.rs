//! The environment that filters can access.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::rc::Rc;

use box_applet::{Ctx, OutStream, OutputSink};
use box_text::time::Zone;

use super::regex::Regex;
use super::{Native, fail_with, natives};
use crate::json;
use crate::value::{Value, type_error};

/// The documents a program reads.
pub trait JqInputs {
    /// Returns the next input; the error is a message.
    fn next(&mut self) -> Option<std::result::Result<Value, String>>;
    /// Returns the name of the file that the last input came from, or null.
    fn filename(&self) -> Value;
    /// Returns the number of lines read.
    fn line(&self) -> u64;
    /// Returns the position at which the last input ended, for messages.
    fn position(&self) -> String;
}

/// Standard output and error, shared by writers and readers: all output is flushed before the
/// program blocks on input, so that a process at both ends of two pipes gets its answer.
pub struct JqStreams {
    pub out: RefCell<OutStream>,
    err: RefCell<OutStream>,
}

impl JqStreams {
    /// Takes over the applet's standard output until [`JqStreams::give_back`].
    pub fn take(ctx: &mut Ctx<'_>) -> JqStreams {
        let closed = OutStream::unbuffered(OutputSink::Closed);
        JqStreams {
            out: RefCell::new(std::mem::replace(&mut ctx.stdout, closed)),
            err: RefCell::new(OutStream::unbuffered(ctx.stderr.sink().clone())),
        }
    }

    /// Gives the applet its standard output back.
    pub fn give_back(&self, ctx: &mut Ctx<'_>) {
        std::mem::swap(&mut ctx.stdout, &mut self.out.borrow_mut());
    }

    /// Flushes standard output. An error is kept for the end.
    pub fn flush(&self) {
        let _ = self.out.borrow_mut().flush();
    }

    /// Writes to standard error at once, after flushing standard output.
    pub fn write_stderr(&self, text: &[u8]) {
        self.flush();
        let _ = self.err.borrow_mut().write_all(text);
    }
}

/// A function that returns the metadata of a module; see `program::describe`.
pub type Modules<'a> =
    dyn Fn(&str) -> std::result::Result<std::result::Result<Value, String>, String> + 'a;

/// The environment that filters can access.
pub struct JqHost<'h> {
    pub inputs: &'h mut dyn JqInputs,
    /// `env`
    pub env: Value,
    /// Module directories.
    pub library: Value,
    /// The streams to which `debug` and `stderr` write.
    pub streams: &'h JqStreams,
    /// `modulemeta`.
    pub modules: &'h Modules<'h>,
    /// The exit status that `halt` has set.
    pub halted: Option<i32>,
    /// The local time zone.
    pub zone: Rc<Zone>,
    /// Compiled patterns, by text and flags.
    pub patterns: HashMap<(String, String, bool), Rc<Regex>>,
}

/// The functions of this file.
pub const NATIVES: &[Native] = natives! {
    "env"/0 => |h, _, _| Ok(h.env.clone()),
    "get_search_list"/0 => |h, _, _| Ok(h.library.clone()),
    "input_filename"/0 => |h, _, _| Ok(h.inputs.filename()),
    "input_line_number"/0 => |h, _, _| Ok(Value::Num(h.inputs.line() as f64)),
    "input"/0 => |h, _, _| match h.inputs.next() {
        Some(v) => v.map_err(Value::str),
        None => fail_with("No more inputs"),
    },
    // Returns the next input in an array, which is empty at the end.
    "_input"/0 => |h, _, _| match h.inputs.next() {
        Some(v) => Ok(Value::arr(vec![v.map_err(Value::str)?])),
        None => Ok(Value::arr(Vec::new())),
    },
    "modulemeta"/0 => |h, v, _| {
        let Value::Str(name) = &v else {
            return fail_with("modulemeta input module name must be a string");
        };
        match (h.modules)(name) {
            Ok(Ok(meta)) => Ok(meta),
            Ok(Err(broken)) => {
                h.streams.write_stderr(format!("jq: error: {broken}\n").as_bytes());
                Ok(Value::Null)
            }
            Err(message) => fail_with(message),
        }
    },
    "debug"/0 => |h, v, _| {
        let mut line = b"[\"DEBUG:\",".to_vec();
        json::write_compact(&mut line, &v);
        line.extend_from_slice(b"]\n");
        h.streams.write_stderr(&line);
        Ok(v)
    },
    "stderr"/0 => |h, v, _| {
        match &v {
            Value::Str(s) => h.streams.write_stderr(s.as_bytes()),
            other => {
                let mut text = Vec::new();
                json::write_compact(&mut text, other);
                h.streams.write_stderr(&text);
            }
        }
        Ok(v)
    },
    "error"/0 => |_, v, _| Err(v),
    "halt"/0 => |h, _, _| {
        h.halted = Some(0);
        Err(Value::Null)
    },
    "halt_error"/1 => |h, v, a| {
        let Some(status) = a.first().and_then(Value::as_num) else {
            return Err(type_error(&v, "halt_error/1: number required"));
        };
        match &v {
            Value::Str(s) => h.streams.write_stderr(s.as_bytes()),
            Value::Null => {}
            other => {
                let mut line = Vec::new();
                json::write_compact(&mut line, other);
                line.push(b'\n');
                h.streams.write_stderr(&line);
            }
        }
        h.halted = Some(status as i32);
        Err(Value::Null)
    },
};
