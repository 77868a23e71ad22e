//! JSON text: reading incrementally, as values or as streaming events, and writing.

mod parser;
mod token;
mod write;

pub use parser::{JsonMode, JsonParser};
pub use write::{Indent, JsonColors, JsonStyle, to_text, write, write_compact};

use crate::value::Value;

/// Parses the only value of a text; the error is jq's, without a position.
pub fn parse_one(text: &[u8]) -> Result<Value, String> {
    match parse_many(text)?.as_mut_slice() {
        [one] => Ok(std::mem::replace(one, Value::Null)),
        [] => Err("Expected JSON value".to_string()),
        _ => Err("Unexpected extra JSON values".to_string()),
    }
}

/// Parses all values of a text. The error names its position as jq does.
pub fn parse_many(text: &[u8]) -> Result<Vec<Value>, String> {
    let mut parser = JsonParser::new(JsonMode::Values, false);
    let mut at = 0;
    let mut out = Vec::new();
    loop {
        match parser.next(text, &mut at, true) {
            Ok(Some(v)) => out.push(v),
            Ok(None) => return Ok(out),
            Err(message) => {
                let done = &text[..at.min(text.len())];
                let line = 1 + done.iter().filter(|c| **c == b'\n').count();
                let column = done.iter().rev().take_while(|c| **c != b'\n').count();
                let eof = if parser.at_end() { " at EOF" } else { "" };
                return Err(format!("{message}{eof} at line {line}, column {column}"));
            }
        }
    }
}
