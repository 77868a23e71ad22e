//! From tokens to values or to streaming events (jq manual, "Streaming").
//!
//! The parser keeps its state between buffers, so input is read in pieces and a value is handed
//! out as soon as its last token is seen.

use std::rc::Rc;

use super::token::{self, Problem, Token};
use crate::value::{Map, Str, Value};

/// Deepest nesting of input, as in jq.
const MAX_DEPTH: usize = 10_000;

/// What the parser hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Values,
    /// `[path, leaf]` and closing `[path]` events.
    Stream,
}

/// A container that is not closed yet.
enum Open {
    Arr(Vec<Value>),
    Obj(Map, Option<Str>),
    /// `Stream`: an array at this index, an object at this key.
    ArrAt(usize),
    ObjAt(Option<Str>),
}

/// What came last inside the current container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The container's opening.
    Open,
    Value,
    Comma,
    /// A key, to be followed by a colon.
    Key,
    Colon,
}

/// An incremental parser.
pub struct Parser {
    mode: Mode,
    seq: bool,
    stack: Vec<Open>,
    last: Last,
    /// A second event of the token just read.
    queued: Option<Value>,
    ended: bool,
}

impl Parser {
    /// A parser that has read nothing; with `seq` of texts that are separated as in RFC 7464.
    pub fn new(mode: Mode, seq: bool) -> Parser {
        Parser { mode, seq, stack: Vec::new(), last: Last::Open, queued: None, ended: false }
    }

    /// Whether the last problem was the end of the input.
    pub fn at_end(&self) -> bool {
        self.ended
    }

    /// Forgets an unfinished value.
    pub fn reset(&mut self) {
        *self = Parser::new(self.mode, self.seq);
    }

    /// The next value or event from `data` at `at`, which moves on; `None` where the buffer
    /// does not hold one (all of it is used but a partial token), or the input ended.
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
                Token::Mark(c) => {
                    self.ended = false;
                    self.mark(c)?
                }
                Token::Value(v) => self.value(v)?,
                Token::Separator => {
                    if !self.stack.is_empty() {
                        return Err("Unfinished abandoned text");
                    }
                    None
                }
                Token::Partial => return Ok(None),
                Token::End => {
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

    /// Takes a scalar.
    fn value(&mut self, v: Value) -> Result<Option<Value>, Problem> {
        match (self.stack.last_mut(), self.last) {
            (None, _) => Ok(Some(match self.mode {
                Mode::Values => v,
                Mode::Stream => Value::arr(vec![Value::arr(Vec::new()), v]),
            })),
            (Some(Open::Obj(_, key) | Open::ObjAt(key)), Last::Open | Last::Comma) => {
                let Value::Str(s) = v else { return Err("Object keys must be strings") };
                *key = Some(s);
                self.last = Last::Key;
                Ok(None)
            }
            (_, Last::Key | Last::Value) => Err("Expected separator between values"),
            (Some(Open::ArrAt(_) | Open::ObjAt(_)), _) => {
                self.last = Last::Value;
                Ok(Some(Value::arr(vec![self.path(), v])))
            }
            (Some(_), _) => {
                self.add(v);
                Ok(None)
            }
        }
    }

    /// Puts a finished value into the container around it.
    fn add(&mut self, v: Value) {
        match self.stack.last_mut() {
            Some(Open::Arr(items)) => items.push(v),
            Some(Open::Obj(map, key)) => {
                if let Some(key) = key.take() {
                    map.insert(key, v);
                }
            }
            _ => {}
        }
        self.last = Last::Value;
    }

    fn mark(&mut self, c: u8) -> Result<Option<Value>, Problem> {
        match c {
            b'[' | b'{' => {
                if self.stack.len() >= MAX_DEPTH {
                    return Err("Exceeds depth limit for parsing");
                }
                if !self.stack.is_empty() {
                    match (self.stack.last(), self.last) {
                        (_, Last::Value | Last::Key) => {
                            return Err("Expected separator between values");
                        }
                        (Some(Open::Obj(..) | Open::ObjAt(_)), Last::Open | Last::Comma) => {
                            return Err("Object keys must be strings");
                        }
                        _ => {}
                    }
                }
                self.stack.push(match (self.mode, c) {
                    (Mode::Values, b'[') => Open::Arr(Vec::new()),
                    (Mode::Values, _) => Open::Obj(Map::default(), None),
                    (Mode::Stream, b'[') => Open::ArrAt(0),
                    (Mode::Stream, _) => Open::ObjAt(None),
                });
                self.last = Last::Open;
                Ok(None)
            }
            b':' => match (self.stack.last(), self.last) {
                (Some(Open::Obj(..) | Open::ObjAt(_)), Last::Key) => {
                    self.last = Last::Colon;
                    Ok(None)
                }
                (Some(Open::Obj(..) | Open::ObjAt(_)), Last::Value) => {
                    Err("Objects must consist of key:value pairs")
                }
                (Some(Open::Obj(..) | Open::ObjAt(_)), _) => Err("Expected string key before ':'"),
                _ => Err("':' not as part of an object"),
            },
            b',' => match (self.stack.last_mut(), self.last) {
                (None, _) => Err("Expected value before ','"),
                (_, Last::Key) => Err("Objects must consist of key:value pairs"),
                (_, Last::Open | Last::Comma | Last::Colon) => Err("Expected value before ','"),
                (Some(open), Last::Value) => {
                    match open {
                        Open::ArrAt(i) => *i += 1,
                        Open::ObjAt(key) => *key = None,
                        Open::Arr(_) | Open::Obj(..) => {}
                    }
                    self.last = Last::Comma;
                    Ok(None)
                }
            },
            b']' => match (self.stack.last(), self.last) {
                (Some(Open::Arr(_) | Open::ArrAt(_)), Last::Comma) => {
                    Err("Expected another array element")
                }
                (Some(Open::Arr(_) | Open::ArrAt(_)), _) => Ok(self.close()),
                _ => Err("Unmatched ']'"),
            },
            _ => match (self.stack.last(), self.last) {
                (Some(Open::Obj(..) | Open::ObjAt(_)), Last::Comma) => {
                    Err("Expected another key-value pair")
                }
                (Some(Open::Obj(..) | Open::ObjAt(_)), Last::Key) => {
                    Err("Objects must consist of key:value pairs")
                }
                (Some(Open::Obj(..) | Open::ObjAt(_)), Last::Colon) => Err("Unmatched '}'"),
                (Some(Open::Obj(..) | Open::ObjAt(_)), _) => Ok(self.close()),
                _ => Err("Unmatched '}'"),
            },
        }
    }

    fn close(&mut self) -> Option<Value> {
        let empty = self.last == Last::Open;
        if self.mode == Mode::Stream {
            let ended = self.path();
            let is_array = matches!(self.stack.pop(), Some(Open::ArrAt(_)));
            self.last = Last::Value;
            return Some(if !empty {
                Value::arr(vec![ended])
            } else {
                let leaf =
                    if is_array { Value::arr(Vec::new()) } else { Value::obj(Map::default()) };
                Value::arr(vec![self.path(), leaf])
            });
        }
        let v = match self.stack.pop()? {
            Open::Arr(items) => Value::arr(items),
            Open::Obj(map, _) => Value::obj(map),
            Open::ArrAt(_) | Open::ObjAt(_) => return None,
        };
        if self.stack.is_empty() {
            self.last = Last::Open;
            return Some(v);
        }
        self.add(v);
        None
    }

    /// Where the parser is, as a path.
    pub fn path(&self) -> Value {
        self.stack
            .iter()
            .map(|open| match open {
                Open::ArrAt(i) => Value::int(*i),
                Open::ObjAt(Some(key)) => Value::Str(Rc::clone(key)),
                _ => Value::Null,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mode: Mode, text: &str, piece: usize) -> Vec<String> {
        let mut parser = Parser::new(mode, false);
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

    /// Expected values: `jq -c .` of jq 1.6; the pieces must not matter.
    #[test]
    fn values_in_pieces() {
        let text = r#" 1 "a\u00e9\ud83d\ude00" [1,{"a":[],"b":{}}][] true{"a":1,"a":2}-0.5 "#;
        let expected =
            ["1", "\"aé😀\"", r#"[1,{"a":[],"b":{}}]"#, "[]", "true", r#"{"a":2}"#, "-0.5"];
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(all(Mode::Values, text, piece), expected, "{piece}");
        }
    }

    /// Expected values: `jq -c --stream .` of jq 1.6.
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
            assert_eq!(all(Mode::Stream, text, piece), expected, "{piece}");
        }
    }

    /// Expected texts: messages of jq 1.6 on the same input.
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
            assert_eq!(all(Mode::Values, text, 1000), [message], "{text}");
        }
    }
}
