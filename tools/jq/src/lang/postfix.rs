//! Terms: what operators combine, with what may follow them (`.a`, `[0]`, `?`).

use super::ast::{Expr, Loop, Part};
use super::lexer::Token;
use super::parser::{Parser, Result, is_keyword, negated};
use crate::value::{Map, Value, parse_number};

/// Longest chain of suffixes, which becomes a tree of that depth.
const MAX_SUFFIXES: usize = 1000;

impl<'a> Parser<'a> {
    /// A term with all that is behind it: fields, subscripts, `?`, `as`.
    pub fn term(&mut self) -> Result<Expr> {
        let mut t = self.nested(Parser::primary)?;
        for _ in 0..MAX_SUFFIXES {
            t = match self.peek()? {
                Token::Field(name) => {
                    self.next()?;
                    self.field_of(t, Expr::Const(name.into()))?
                }
                Token::Op(".") => {
                    let before = self.at;
                    self.next()?;
                    match self.peek()? {
                        Token::Quote => {
                            let key = self.string(None)?;
                            self.field_of(t, key)?
                        }
                        Token::Op("[") => {
                            self.next()?;
                            self.bracket(t)?
                        }
                        _ => {
                            self.at = before;
                            return Err(self.unexpected());
                        }
                    }
                }
                Token::Op("[") => {
                    self.next()?;
                    self.bracket(t)?
                }
                Token::Op("?" | "?//") => {
                    self.question()?;
                    Expr::Try(Box::new(t), None)
                }
                _ => return Ok(t),
            };
        }
        Err(self.error_at("syntax error, program nested too deeply", self.at))
    }

    fn field_of(&mut self, t: Expr, key: Expr) -> Result<Expr> {
        let optional = self.question()?;
        Ok(Expr::Index(Box::new(t), Box::new(key), optional))
    }

    /// Takes a `?`, also the one that begins `?//` where no pattern can be.
    fn question(&mut self) -> Result<bool> {
        let found = matches!(self.peek()?, Token::Op("?" | "?//"));
        if found {
            self.at = self.start()? + 1;
        }
        Ok(found)
    }

    /// What follows `t[`.
    fn bracket(&mut self, t: Expr) -> Result<Expr> {
        let t = Box::new(t);
        if self.take_op("]")? {
            return Ok(Expr::Each(t, self.question()?));
        }
        if self.take_op(":")? {
            let end = self.pipe()?;
            self.expect("]")?;
            return Ok(Expr::Slice(t, None, Some(Box::new(end)), self.question()?));
        }
        let first = Box::new(self.pipe()?);
        if self.take_op("]")? {
            return Ok(Expr::Index(t, first, self.question()?));
        }
        self.expect(":")?;
        if self.take_op("]")? {
            return Ok(Expr::Slice(t, Some(first), None, self.question()?));
        }
        let end = Box::new(self.pipe()?);
        self.expect("]")?;
        Ok(Expr::Slice(t, Some(first), Some(end), self.question()?))
    }

    fn primary(&mut self) -> Result<Expr> {
        let at = self.start()?;
        Ok(match self.peek()? {
            Token::Number(text) => {
                self.next()?;
                Expr::Const(parse_number(text).unwrap_or(Value::Null))
            }
            Token::Quote => self.string(None)?,
            Token::Format(name) => {
                self.next()?;
                if self.peek()? == Token::Quote {
                    self.string(Some(name))?
                } else {
                    Expr::Format(name.to_string())
                }
            }
            Token::Field(name) => {
                self.next()?;
                self.field_of(Expr::Id, Expr::Const(name.into()))?
            }
            Token::Op(".") => {
                self.next()?;
                if self.peek()? != Token::Quote {
                    return Ok(Expr::Id);
                }
                let key = self.string(None)?;
                self.field_of(Expr::Id, key)?
            }
            Token::Op("..") => {
                self.next()?;
                Expr::Recurse
            }
            Token::Op("$") => {
                self.next()?;
                match self.any_name()? {
                    "__loc__" => self.location(at),
                    name => Expr::Var(name.to_string(), at),
                }
            }
            Token::Op("(") => {
                self.next()?;
                let e = self.pipe()?;
                self.expect(")")?;
                e
            }
            Token::Op("[") => {
                self.next()?;
                if self.take_op("]")? {
                    return Ok(Expr::Array(None));
                }
                let e = self.pipe()?;
                self.expect("]")?;
                Expr::Array(Some(Box::new(e)))
            }
            Token::Op("{") => self.object()?,
            Token::Ident(word) => return self.word(word, at),
            _ => return Err(self.unexpected()),
        })
    }

    /// `$__loc__` at an offset.
    pub fn location(&self, at: usize) -> Expr {
        let line = self.code.as_bytes()[..at].iter().filter(|c| **c == b'\n').count() + 1;
        let mut m = Map::default();
        m.insert(std::rc::Rc::new("file".to_string()), "<top-level>".into());
        m.insert(std::rc::Rc::new("line".to_string()), Value::int(line));
        Expr::Const(Value::obj(m))
    }

    fn word(&mut self, word: &'a str, at: usize) -> Result<Expr> {
        match word {
            "if" => {
                self.next()?;
                self.conditional()
            }
            "try" => {
                self.next()?;
                let body = Box::new(self.try_part()?);
                let handler =
                    if self.take_word("catch")? { Some(Box::new(self.try_part()?)) } else { None };
                Ok(Expr::Try(body, handler))
            }
            "reduce" | "foreach" => {
                self.next()?;
                self.fold(word == "foreach")
            }
            "break" => {
                self.next()?;
                if !self.take_op("$")? {
                    return Err(self.error_at("break requires a label to break to", at));
                }
                Ok(Expr::Break(self.any_name()?.to_string(), at))
            }
            w if is_keyword(w) => Err(self.unexpected()),
            name => {
                self.next()?;
                let mut args = Vec::new();
                if self.take_op("(")? {
                    args.push(self.pipe()?);
                    while self.take_op(";")? {
                        args.push(self.pipe()?);
                    }
                    self.expect(")")?;
                }
                Ok(match (name, args.len()) {
                    ("null", 0) => Expr::Const(Value::Null),
                    ("true", 0) => Expr::Const(Value::Bool(true)),
                    ("false", 0) => Expr::Const(Value::Bool(false)),
                    _ => Expr::Call(name.to_string(), args, at),
                })
            }
        }
    }

    /// What `try` and `catch` apply to: a term, or a negation.
    fn try_part(&mut self) -> Result<Expr> {
        if self.take_op("-")? {
            let e = self.nested(|p| p.binary(8))?;
            return Ok(negated(e));
        }
        self.term()
    }

    /// What follows `if` or `elif`.
    fn conditional(&mut self) -> Result<Expr> {
        self.nested(|p| {
            let cond = Box::new(p.pipe()?);
            p.expect_word("then")?;
            let then = Box::new(p.pipe()?);
            let otherwise = if p.take_word("elif")? {
                return Ok(Expr::If(cond, then, Some(Box::new(p.conditional()?))));
            } else if p.take_word("else")? {
                Some(Box::new(p.pipe()?))
            } else {
                None
            };
            p.expect_word("end")?;
            Ok(Expr::If(cond, then, otherwise))
        })
    }

    fn fold(&mut self, foreach: bool) -> Result<Expr> {
        let source = self.binary(2)?;
        self.expect_word("as")?;
        let patterns = self.patterns()?;
        self.expect("(")?;
        let init = self.pipe()?;
        self.expect(";")?;
        let update = self.pipe()?;
        let extract = if foreach && self.take_op(";")? { Some(self.pipe()?) } else { None };
        self.expect(")")?;
        let all = Box::new(Loop { source, patterns, init, update, extract });
        Ok(if foreach { Expr::Foreach(all) } else { Expr::Reduce(all) })
    }

    /// A string, from its quote on. Interpolations are formatted by `format`.
    pub fn string(&mut self, format: Option<&str>) -> Result<Expr> {
        self.next()?;
        let open = self.at;
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            let rest = &self.code[self.at..];
            let Some(end) = rest.find(['"', '\\']) else {
                return Err(self.error_at("syntax error, unexpected end of file", open));
            };
            text.push_str(&rest[..end]);
            self.at += end + 1;
            if rest.as_bytes()[end] == b'"' {
                break;
            }
            let escape = self.code[self.at..].chars().next();
            self.at += escape.map_or(0, char::len_utf8);
            match escape {
                Some(c @ ('"' | '\\' | '/')) => text.push(c),
                Some('b') => text.push('\u{8}'),
                Some('f') => text.push('\u{c}'),
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some('t') => text.push('\t'),
                Some('u') => {
                    let c = self.unicode_escape()?;
                    text.push(c);
                }
                Some('(') => {
                    if !text.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut text)));
                    }
                    parts.push(Part::Expr(self.pipe()?));
                    // The string goes on right behind the parenthesis.
                    self.expect(")")?;
                }
                _ => return Err(self.error_at("syntax error, invalid escape", self.at)),
            }
        }
        if parts.is_empty() {
            return Ok(Expr::Const(text.into()));
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Expr::Text(format.map(str::to_string), parts))
    }

    /// `XXXX` and maybe a second escape for the low surrogate.
    fn unicode_escape(&mut self) -> Result<char> {
        let hex = |at: usize| {
            let digits = self.code.as_bytes().get(at..at + 4)?;
            digits.iter().try_fold(0u32, |n, c| Some(n * 16 + (*c as char).to_digit(16)?))
        };
        let Some(high) = hex(self.at) else {
            return Err(self.error_at("syntax error, invalid \\uXXXX escape", self.at));
        };
        let mut end = self.at + 4;
        let mut c = high;
        if (0xd800..=0xdbff).contains(&high)
            && self.code.as_bytes().get(end..end + 2) == Some(b"\\u")
            && let Some(low @ 0xdc00..=0xdfff) = hex(end + 2)
        {
            c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            end += 6;
        }
        self.at = end;
        Ok(char::from_u32(c).unwrap_or('\u{fffd}'))
    }
}
