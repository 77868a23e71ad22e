//! What filters see of the world.

use box_text::time::Zone;
use std::collections::HashMap;
use std::rc::Rc;

use super::regex::Regex;
use super::{Native, fail, natives};
use crate::json;
use crate::value::{Value, type_error};

/// The documents a program reads.
pub trait Inputs {
    /// The next one; the error is a message.
    fn next(&mut self) -> Option<std::result::Result<Value, String>>;
    /// Name of the file that the last one came from, or null.
    fn filename(&self) -> Value;
    /// Number of lines read.
    fn line(&self) -> u64;
    /// Where the last one ended, for messages.
    fn position(&self) -> String;
}

/// What filters see of the world.
pub struct Host<'h> {
    pub inputs: &'h mut dyn Inputs,
    /// `env`
    pub env: Value,
    /// Module directories.
    pub library: Value,
    /// What `debug` and `stderr` wrote.
    pub stderr: Vec<u8>,
    /// Set by `halt`: the status.
    pub halted: Option<i32>,
    /// The local time zone.
    pub zone: Rc<Zone>,
    /// Compiled patterns by text and flags.
    pub patterns: HashMap<(String, String, bool), Rc<Regex>>,
}

pub const NATIVES: &[Native] = natives! {
    "env"/0 => |h, _, _| Ok(h.env.clone()),
    "get_search_list"/0 => |h, _, _| Ok(h.library.clone()),
    "input_filename"/0 => |h, _, _| Ok(h.inputs.filename()),
    "input_line_number"/0 => |h, _, _| Ok(Value::Num(h.inputs.line() as f64)),
    "input"/0 => |h, _, _| match h.inputs.next() {
        Some(v) => v.map_err(Value::str),
        None => fail("No more inputs"),
    },
    // The next input in an array, which is empty at the end.
    "_input"/0 => |h, _, _| match h.inputs.next() {
        Some(v) => Ok(Value::arr(vec![v.map_err(Value::str)?])),
        None => Ok(Value::arr(Vec::new())),
    },
    "debug"/0 => |h, v, _| {
        h.stderr.extend_from_slice(b"[\"DEBUG:\",");
        json::write_compact(&mut h.stderr, &v);
        h.stderr.extend_from_slice(b"]\n");
        Ok(v)
    },
    "stderr"/0 => |h, v, _| {
        match &v {
            Value::Str(s) => h.stderr.extend_from_slice(s.as_bytes()),
            other => json::write_compact(&mut h.stderr, other),
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
            Value::Str(s) => h.stderr.extend_from_slice(s.as_bytes()),
            Value::Null => {}
            other => {
                json::write_compact(&mut h.stderr, other);
                h.stderr.push(b'\n');
            }
        }
        h.halted = Some(status as i32);
        Err(Value::Null)
    },
};
