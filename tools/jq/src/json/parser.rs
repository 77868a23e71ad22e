//! Parses tokens to values or to streaming events (jq manual, "Streaming").
//!
//! The parser keeps its state between buffers, so that input can be read in pieces, and a value is
//! returned as soon as its last token was read.

use std::rc::Rc;

use super::token::{self, JsonToken, Problem};
use crate::value::{Map, Str, Value};

/// The maximum nesting of input, as in jq.
const MAX_DEPTH: usize = 10_000;

/// The kind of items that the parser returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonMode {
    Values,
    /// `[path, leaf]` and closing `[path]` events.
    Stream,
}

/// A container that is not closed yet.
enum OpenContainer {
    Arr(Vec<Value>),
    Obj(Map, Option<Str>),
    /// With `Stream`: an array at this index, or an object at this key.
    ArrAt(usize),
    ObjAt(Option<Str>),
}

/// The last token inside the current container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastToken {
    /// The container's opening.
    Open,
    Value,
    Comma,
    /// A key, to be followed by a colon.
    Key,
    Colon,
}

/// An incremental parser.
pub struct JsonParser {
    mode: JsonMode,
    seq: bool,
    stack: Vec<OpenContainer>,
    last: LastToken,
    /// A second event of the token just read.
    queued: Option<Value>,
    ended: bool,
}

impl JsonParser {
    /// Creates a parser. With `seq`, texts are separated as in RFC 7464.
    pub fn new(mode: JsonMode, seq: bool) -> JsonParser {
        JsonParser {
            mode,
            seq,
            stack: Vec::new(),
            last: LastToken::Open,
            queued: None,
            ended: false,
        }
    }

    /// Returns whether the last problem was the end of the input.
    pub fn at_end(&self) -> bool {
        self.ended
    }

    /// Discards an unfinished value.
    pub fn reset_value(&mut self) {
        *self = JsonParser::new(self.mode, self.seq);
    }

    /// Returns the next value or event from `data` at `at`, and advances `at`. Returns `None` if
    /// the input has ended, or if the buffer ends before the value; then all of it is consumed
    /// except a partial token.
    pub fn next(
        &mut self,
        data: &[u8],
        at: &mut usize,
        eof: bool,
    ) -> Result<Option<Value>, Problem> {
        if let Some(v) = self.queued.take() {
            return Ok(Some(v));
        }
        loop {
            let token = token::next(data, at, eof, self.seq);
            self.ended = eof && *at >= data.len();
            let done = match token? {
                JsonToken::Mark(c) => {
                    self.ended = false;
                    self.take_mark(c)?
                }
                JsonToken::Value(v) => self.take_scalar(v)?,
                JsonToken::Separator => {
                    if !self.stack.is_empty() {
                        return Err("Unfinished abandoned text");
                    }
                    None
                }
                JsonToken::Partial => return Ok(None),
                JsonToken::End => {
                    if eof && !self.stack.is_empty() {
                        return Err("Unfinished JSON term");
                    }
                    return Ok(None);
                }
            };
            if done.is_some() {
                return Ok(done);
            }
        }
    }

    /// Consumes a scalar.
    fn take_scalar(&mut self, v: Value) -> Result<Option<Value>, Problem> {
        match (self.stack.last_mut(), self.last) {
            (None, _) => Ok(Some(match self.mode {
                JsonMode::Values => v,
                JsonMode::Stream => Value::arr(vec![Value::arr(Vec::new()), v]),
            })),
            (
                Some(OpenContainer::Obj(_, key) | OpenContainer::ObjAt(key)),
                LastToken::Open | LastToken::Comma,
            ) => {
                let Value::Str(s) = v else { return Err("Object keys must be strings") };
                *key = Some(s);
                self.last = LastToken::Key;
                Ok(None)
            }
            (_, LastToken::Key | LastToken::Value) => Err("Expected separator between values"),
            (Some(OpenContainer::ArrAt(_) | OpenContainer::ObjAt(_)), _) => {
                self.last = LastToken::Value;
                Ok(Some(Value::arr(vec![self.current_path(), v])))
            }
            (Some(_), _) => {
                self.add_value(v);
                Ok(None)
            }
        }
    }

    /// Adds a finished value to the container around it.
    fn add_value(&mut self, v: Value) {
        match self.stack.last_mut() {
            Some(OpenContainer::Arr(items)) => items.push(v),
            Some(OpenContainer::Obj(map, key)) => {
                if let Some(key) = key.take() {
                    map.insert(key, v);
                }
            }
            _ => {}
        }
        self.last = LastToken::Value;
    }

    fn take_mark(&mut self, c: u8) -> Result<Option<Value>, Problem> {
        match c {
            b'[' | b'{' => {
                if self.stack.len() >= MAX_DEPTH {
                    return Err("Exceeds depth limit for parsing");
                }
                if !self.stack.is_empty() {
                    match (self.stack.last(), self.last) {
                        (_, LastToken::Value | LastToken::Key) => {
                            return Err("Expected separator between values");
                        }
                        (
                            Some(OpenContainer::Obj(..) | OpenContainer::ObjAt(_)),
                            LastToken::Open | LastToken::Comma,
                        ) => {
                            return Err("Object keys must be strings");
                        }
                        _ => {}
                    }
                }
                self.stack.push(match (self.mode, c) {
                    (JsonMode::Values, b'[') => OpenContainer::Arr(Vec::new()),
                    (JsonMode::Values, _) => OpenContainer::Obj(Map::default(), None),
                    (JsonMode::Stream, b'[') => OpenContainer::ArrAt(0),
                    (JsonMode::Stream, _) => OpenContainer::ObjAt(None),
                });
                self.last = LastToken::Open;
                Ok(None)
            }
            b':' => match (self.stack.last(), self.last) {
                (Some(OpenContainer::Obj(..) | OpenContainer::ObjAt(_)), LastToken::Key) => {
                    self.last = LastToken::Colon;
                    Ok(None)
                }
                (Some(OpenContainer::Obj(..) | OpenContainer::ObjAt(_)), LastToken::Value) => {
                    Err("Objects must consist of key:value pairs")
                }
                (Some(OpenContainer::Obj(..) | OpenContainer::ObjAt(_)), _) => {
                    Err("Expected string key before ':'")
                }
                _ => Err("':' not as part of an object"),
            },
            b',' => match (self.stack.last_mut(), self.last) {
                (None, _) => Err("Expected value before ','"),
                (_, LastToken::Key) => Err("Objects must consist of key:value pairs"),
                (_, LastToken::Open | LastToken::Comma | LastToken::Colon) => {
                    Err("Expected value before ','")
                }
                (Some(open), LastToken::Value) => {
                    match open {
                        OpenContainer::ArrAt(i) => *i += 1,
                        OpenContainer::ObjAt(key) => *key = None,
                        OpenContainer::Arr(_) | OpenContainer::Obj(..) => {}
                    }
                    self.last = LastToken::Comma;
                    Ok(None)
                }
            },
            b']' => match (self.stack.last(), self.last) {
                (Some(OpenContainer::Arr(_) | OpenContainer::ArrAt(_)), LastToken::Comma) => {
                    Err("Expected another array element")
                }
                (Some(OpenContainer::Arr(_) | OpenContainer::ArrAt(_)), _) => {
                    Ok(self.close_container())
                }
                _ => Err("Unmatched ']'"),
            },
            _ => match (self.stack.last(), self.last) {
                (Some(OpenContainer::Obj(..) | OpenContainer::ObjAt(_)), LastToken::Comma) => {
                    Err("Expected another key-value pair")
                }
                (Some(OpenContainer::Obj(..) | OpenContainer::ObjAt(_)), LastToken::Key) => {
                    Err("Objects must consist of key:value pairs")
                }
                (Some(OpenContainer::Obj(..) | OpenContainer::ObjAt(_)), LastToken::Colon) => {
                    Err("Unmatched '}'")
                }
                (Some(OpenContainer::Obj(..) | OpenContainer::ObjAt(_)), _) => {
                    Ok(self.close_container())
                }
                _ => Err("Unmatched '}'"),
            },
        }
    }

    fn close_container(&mut self) -> Option<Value> {
        let empty = self.last == LastToken::Open;
        if self.mode == JsonMode::Stream {
            let ended = self.current_path();
            let is_array = matches!(self.stack.pop(), Some(OpenContainer::ArrAt(_)));
            self.last = LastToken::Value;
            return Some(if !empty {
                Value::arr(vec![ended])
            } else {
                let leaf =
                    if is_array { Value::arr(Vec::new()) } else { Value::obj(Map::default()) };
                Value::arr(vec![self.current_path(), leaf])
            });
        }
        let v = match self.stack.pop()? {
            OpenContainer::Arr(items) => Value::arr(items),
            OpenContainer::Obj(map, _) => Value::obj(map),
            OpenContainer::ArrAt(_) | OpenContainer::ObjAt(_) => return None,
        };
        if self.stack.is_empty() {
            self.last = LastToken::Open;
            return Some(v);
        }
        self.add_value(v);
        None
    }

    /// Returns the path of the parser's position.
    pub fn current_path(&self) -> Value {
        self.stack
            .iter()
            .map(|open| match open {
                OpenContainer::ArrAt(i) => Value::int(*i),
                OpenContainer::ObjAt(Some(key)) => Value::Str(Rc::clone(key)),
                _ => Value::Null,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mode: JsonMode, text: &str, piece: usize) -> Vec<String> {
        let mut parser = JsonParser::new(mode, false);
        let (mut at, mut out) = (0, Vec::new());
        let data = text.as_bytes();
        let mut seen = 0;
        loop {
            let eof = seen == data.len();
            match parser.next(&data[..seen], &mut at, eof) {
                Ok(Some(v)) => out.push(super::super::to_text(&v)),
                Ok(None) if eof => return out,
                Ok(None) => seen = (seen + piece).min(data.len()),
                Err(e) => {
                    out.push(e.to_string());
                    return out;
                }
            }
        }
    }

    /// The expected values are those of `jq -c .` in jq 1.6, whatever pieces the input comes in.
    #[test]
    fn values_in_pieces() {
        let text = r#" 1 "a\u00e9\ud83d\ude00" [1,{"a":[],"b":{}}][] true{"a":1,"a":2}-0.5 "#;
        let expected =
            ["1", "\"aé😀\"", r#"[1,{"a":[],"b":{}}]"#, "[]", "true", r#"{"a":2}"#, "-0.5"];
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(all(JsonMode::Values, text, piece), expected, "{piece}");
        }
    }

    /// The expected values are those of `jq -c --stream .` in jq 1.6.
    #[test]
    fn events() {
        let text = r#"{"a":[1,{"b":2}],"c":[]} 3 [] ["x","#;
        let expected = [
            r#"[["a",0],1]"#,
            r#"[["a",1,"b"],2]"#,
            r#"[["a",1,"b"]]"#,
            r#"[["a",1]]"#,
            r#"[["c"],[]]"#,
            r#"[["c"]]"#,
            "[[],3]",
            "[[],[]]",
            r#"[[0],"x"]"#,
            "Unfinished JSON term",
        ];
        for piece in [1, 4, 1000] {
            assert_eq!(all(JsonMode::Stream, text, piece), expected, "{piece}");
        }
    }

    /// The expected texts are the messages of jq 1.6 about the same input.
    #[test]
    fn problems() {
        for (text, message) in [
            ("[1,]", "Expected another array element"),
            ("{\"a\"}", "Objects must consist of key:value pairs"),
            ("]", "Unmatched ']'"),
            ("[1 2]", "Expected separator between values"),
            ("nope", "Invalid literal"),
            ("{a:1}", "Invalid numeric literal"),
            ("\"abc", "Unfinished string"),
        ] {
            assert_eq!(all(JsonMode::Values, text, 1000), [message], "{text}");
        }
    }
}
