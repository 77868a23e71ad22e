//! Terms: the operands of operators, with their suffixes (`.a`, `[0]`, `?`).

use super::JqSyntaxError;
use super::ast::{JqExpr, ReduceLoop, StringPart};
use super::lexer::JqToken;
use super::parser::{JqParser, Result, is_keyword, negate_expr};
use crate::value::{Map, Value, parse_number};

/// The maximum length of a chain of suffixes, which becomes a tree of that depth.
const MAX_SUFFIXES: usize = 1000;

impl<'a> JqParser<'a> {
    /// Parses a term and the suffixes after it: fields, subscripts, `?`, `as`.
    pub fn parse_term(&mut self) -> Result<JqExpr> {
        let mut t = self.parse_nested(JqParser::parse_primary)?;
        for _ in 0..MAX_SUFFIXES {
            t = match self.peek_token()? {
                JqToken::Field(name) => {
                    self.next()?;
                    self.field_of(t, JqExpr::Const(name.into()))?
                }
                JqToken::Op(".") => {
                    let before = self.at;
                    self.next()?;
                    match self.peek_token()? {
                        JqToken::Quote => {
                            let key = self.parse_string(None)?;
                            self.field_of(t, key)?
                        }
                        JqToken::Op("[") => {
                            self.next()?;
                            self.parse_bracket(t)?
                        }
                        _ => {
                            self.at = before;
                            return Err(self.unexpected_token());
                        }
                    }
                }
                JqToken::Op("[") => {
                    self.next()?;
                    self.parse_bracket(t)?
                }
                JqToken::Op("?" | "?//") => {
                    self.take_question()?;
                    JqExpr::Try(Box::new(t), None)
                }
                _ => return Ok(t),
            };
        }
        Err(self.error_at("syntax error, program nested too deeply", self.at))
    }

    fn field_of(&mut self, t: JqExpr, key: JqExpr) -> Result<JqExpr> {
        let optional = self.take_question()?;
        Ok(JqExpr::Index(Box::new(t), Box::new(key), optional))
    }

    /// Consumes a `?` if it is next, even one that begins `?//`, because no pattern can follow
    /// here.
    fn take_question(&mut self) -> Result<bool> {
        let found = matches!(self.peek_token()?, JqToken::Op("?" | "?//"));
        if found {
            self.at = self.token_start()? + 1;
        }
        Ok(found)
    }

    /// Parses the rest of a suffix after `t[`.
    fn parse_bracket(&mut self, t: JqExpr) -> Result<JqExpr> {
        let t = Box::new(t);
        if self.take_op("]")? {
            return Ok(JqExpr::Each(t, self.take_question()?));
        }
        if self.take_op(":")? {
            let end = self.parse_pipe()?;
            self.expect_operator("]")?;
            return Ok(JqExpr::Slice(t, None, Some(Box::new(end)), self.take_question()?));
        }
        let first = Box::new(self.parse_pipe()?);
        if self.take_op("]")? {
            return Ok(JqExpr::Index(t, first, self.take_question()?));
        }
        self.expect_operator(":")?;
        if self.take_op("]")? {
            return Ok(JqExpr::Slice(t, Some(first), None, self.take_question()?));
        }
        let end = Box::new(self.parse_pipe()?);
        self.expect_operator("]")?;
        Ok(JqExpr::Slice(t, Some(first), Some(end), self.take_question()?))
    }

    fn parse_primary(&mut self) -> Result<JqExpr> {
        let at = self.token_start()?;
        Ok(match self.peek_token()? {
            JqToken::Number(text) => {
                self.next()?;
                JqExpr::Const(parse_number(text).unwrap_or(Value::Null))
            }
            JqToken::Quote => self.parse_string(None)?,
            JqToken::Format(name) => {
                self.next()?;
                if self.peek_token()? == JqToken::Quote {
                    self.parse_string(Some(name))?
                } else {
                    JqExpr::Format(name.to_string())
                }
            }
            JqToken::Field(name) => {
                self.next()?;
                self.field_of(JqExpr::Id, JqExpr::Const(name.into()))?
            }
            JqToken::Op(".") => {
                self.next()?;
                if self.peek_token()? != JqToken::Quote {
                    return Ok(JqExpr::Id);
                }
                let key = self.parse_string(None)?;
                self.field_of(JqExpr::Id, key)?
            }
            JqToken::Op("..") => {
                self.next()?;
                JqExpr::Recurse
            }
            JqToken::Op("$") => {
                self.next()?;
                match self.any_name()? {
                    "__loc__" => self.location_expr(at),
                    name => JqExpr::Var(name.to_string(), at),
                }
            }
            JqToken::Op("(") => {
                self.next()?;
                let e = self.parse_pipe()?;
                self.expect_operator(")")?;
                e
            }
            JqToken::Op("[") => {
                self.next()?;
                if self.take_op("]")? {
                    return Ok(JqExpr::Array(None));
                }
                let e = self.parse_pipe()?;
                self.expect_operator("]")?;
                JqExpr::Array(Some(Box::new(e)))
            }
            JqToken::Op("{") => self.parse_object()?,
            JqToken::Ident(word) => return self.parse_word(word, at),
            _ => return Err(self.unexpected_token()),
        })
    }

    /// Returns `$__loc__` at an offset.
    pub fn location_expr(&self, at: usize) -> JqExpr {
        let line = self.code.as_bytes()[..at].iter().filter(|c| **c == b'\n').count() + 1;
        let mut m = Map::default();
        m.insert(std::rc::Rc::new("file".to_string()), "<top-level>".into());
        m.insert(std::rc::Rc::new("line".to_string()), Value::int(line));
        JqExpr::Const(Value::obj(m))
    }

    fn parse_word(&mut self, word: &'a str, at: usize) -> Result<JqExpr> {
        match word {
            "if" => {
                self.next()?;
                self.parse_conditional()
            }
            "try" => {
                self.next()?;
                let body = Box::new(self.try_part()?);
                let handler =
                    if self.take_word("catch")? { Some(Box::new(self.try_part()?)) } else { None };
                Ok(JqExpr::Try(body, handler))
            }
            "reduce" | "foreach" => {
                self.next()?;
                self.parse_fold(word == "foreach")
            }
            "break" => {
                self.next()?;
                if !self.take_op("$")? {
                    return Err(self.error_at("break requires a label to break to", at));
                }
                Ok(JqExpr::Break(self.any_name()?.to_string(), at))
            }
            w if is_keyword(w) => Err(self.unexpected_token()),
            name => {
                self.next()?;
                let mut args = Vec::new();
                if self.take_op("(")? {
                    args.push(self.parse_pipe()?);
                    while self.take_op(";")? {
                        args.push(self.parse_pipe()?);
                    }
                    self.expect_operator(")")?;
                }
                Ok(match (name, args.len()) {
                    ("null", 0) => JqExpr::Const(Value::Null),
                    ("true", 0) => JqExpr::Const(Value::Bool(true)),
                    ("false", 0) => JqExpr::Const(Value::Bool(false)),
                    _ => JqExpr::Call(name.to_string(), args, at),
                })
            }
        }
    }

    /// Parses the operand of `try` or `catch`: a term, or a negation.
    fn try_part(&mut self) -> Result<JqExpr> {
        if self.take_op("-")? {
            let e = self.parse_nested(|p| p.parse_binary(8))?;
            return Ok(negate_expr(e));
        }
        self.parse_term()
    }

    /// Parses a conditional after its `if` or `elif`.
    fn parse_conditional(&mut self) -> Result<JqExpr> {
        self.parse_nested(|p| {
            let cond = Box::new(p.parse_pipe()?);
            p.expect_word("then")?;
            let then = Box::new(p.parse_pipe()?);
            let otherwise = if p.take_word("elif")? {
                return Ok(JqExpr::If(cond, then, Some(Box::new(p.parse_conditional()?))));
            } else if p.take_word("else")? {
                Some(Box::new(p.parse_pipe()?))
            } else {
                None
            };
            p.expect_word("end")?;
            Ok(JqExpr::If(cond, then, otherwise))
        })
    }

    fn parse_fold(&mut self, foreach: bool) -> Result<JqExpr> {
        let source = self.parse_binary(2)?;
        self.expect_word("as")?;
        let patterns = self.parse_patterns()?;
        self.expect_operator("(")?;
        let init = self.parse_pipe()?;
        self.expect_operator(";")?;
        let update = self.parse_pipe()?;
        let extract = if foreach && self.take_op(";")? { Some(self.parse_pipe()?) } else { None };
        self.expect_operator(")")?;
        let all = Box::new(ReduceLoop { source, patterns, init, update, extract });
        Ok(if foreach { JqExpr::Foreach(all) } else { JqExpr::Reduce(all) })
    }

    /// Parses a string, from its quote on. Interpolations are formatted by `format`.
    pub fn parse_string(&mut self, format: Option<&str>) -> Result<JqExpr> {
        self.next()?;
        let open = self.at;
        let mut parts = Vec::new();
        let mut text = String::new();
        // The start of the consecutive escapes that end at the current place.
        let mut escapes = self.at;
        loop {
            let rest = &self.code[self.at..];
            let Some(end) = rest.find(['"', '\\']) else {
                return Err(self.error_at("syntax error, unexpected end of file", open));
            };
            text.push_str(&rest[..end]);
            if end > 0 {
                escapes = self.at + end;
            }
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
                    let c = self.unicode_escape(escapes)?;
                    text.push(c);
                }
                Some('(') => {
                    if !text.is_empty() {
                        parts.push(StringPart::Text(std::mem::take(&mut text)));
                    }
                    parts.push(StringPart::Expr(self.parse_pipe()?));
                    // The string continues right after the parenthesis.
                    self.expect_operator(")")?;
                    escapes = self.at;
                }
                _ => return Err(self.bad_escape("Invalid escape", escapes)),
            }
        }
        if parts.is_empty() {
            return Ok(JqExpr::Const(text.into()));
        }
        if !text.is_empty() {
            parts.push(StringPart::Text(text));
        }
        Ok(JqExpr::Text(format.map(str::to_string), parts))
    }

    /// Returns the error of an invalid escape. jq parses consecutive escapes as a JSON string and
    /// shows the error of that parse, whose column is that of the closing quote.
    fn bad_escape(&self, problem: &str, from: usize) -> JqSyntaxError {
        let mut rest = &self.code[from..];
        while let Some(after) = rest.strip_prefix('\\').filter(|r| !r.starts_with('(')) {
            let Some(c) = after.chars().next() else { break };
            rest = &after[c.len_utf8()..];
            if c == 'u' {
                let digits = rest.bytes().take(4).take_while(u8::is_ascii_alphanumeric).count();
                rest = &rest[digits..];
            }
        }
        let run = &self.code[from..self.code.len() - rest.len()];
        let column = run.len() + 2;
        let message = format!("{problem} at line 1, column {column} (while parsing '\"{run}\"')");
        self.error_at(message, from)
    }

    /// Parses `XXXX`, and a second escape for the low surrogate if there is one.
    fn unicode_escape(&mut self, escapes: usize) -> Result<char> {
        let hex = |at: usize| {
            let digits = self.code.as_bytes().get(at..at + 4)?;
            digits.iter().try_fold(0u32, |n, c| Some(n * 16 + (*c as char).to_digit(16)?))
        };
        let Some(high) = hex(self.at) else {
            let digits = self.code.as_bytes().get(self.at..self.at + 4).unwrap_or_default();
            let whole = digits.len() == 4 && digits.iter().all(u8::is_ascii_alphanumeric);
            let problem = if whole {
                "Invalid characters in \\uXXXX escape"
            } else {
                "Invalid \\uXXXX escape"
            };
            return Err(self.bad_escape(problem, escapes));
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

#[cfg(test)]
mod tests {
    use crate::lang::parse_module;

    fn error_of(program: &str) -> (String, usize) {
        let error = parse_module(program).expect_err(program);
        (error.message, error.at)
    }

    /// The expected values are those of libjq 1.8.
    #[test]
    fn escapes_are_shown_with_their_neighbours() {
        let shown = |problem: &str, column: usize, run: &str| {
            format!("{problem} at line 1, column {column} (while parsing '\"{run}\"')")
        };
        let invalid = "Invalid escape";
        assert_eq!(error_of(r#""ab\q""#), (shown(invalid, 4, r"\q"), 3));
        assert_eq!(error_of(r#"["a\n\t\q"]"#), (shown(invalid, 8, r"\n\t\q"), 3));
        assert_eq!(error_of(r#""\(1)\q""#), (shown(invalid, 4, r"\q"), 5));
        let short = "Invalid \\uXXXX escape";
        assert_eq!(error_of(r#""\n\u12""#), (shown(short, 8, r"\n\u12"), 1));
        let letters = "Invalid characters in \\uXXXX escape";
        assert_eq!(error_of(r#""\u123g""#), (shown(letters, 8, r"\u123g"), 1));
    }

    #[test]
    fn an_unexpected_end_is_at_the_last_token() {
        for (program, at) in [("{a", 1), ("1 + ", 2), ("if . then", 5), ("(((1))", 5), (".a[ ", 2)]
        {
            let end = "syntax error, unexpected end of file".to_string();
            assert_eq!(error_of(program), (end, at), "{program}");
        }
    }
}
