//! Source text to tokens (POSIX awk, "Lexical Conventions"; gawk's extensions).
//!
//! Several sources (`-f a -f b`) are read one after the other; each ends with a newline.

use box_text::escape::control_char;
use box_text::number::{decimal_prefix, utf8_len};

use crate::builtin::AwkBuiltin;
use crate::error::AwkSyntaxError;
use crate::token::{AwkArith, AwkTok, find_keyword};

/// One program text.
#[derive(Clone, Debug)]
pub struct AwkSource {
    /// File name; `None` for text of the command line.
    pub name: Option<Vec<u8>>,
    pub text: Vec<u8>,
    /// The namespace that the last `@namespace` set; empty for `awk`.
    pub namespace: Vec<u8>,
}

/// A position: source, line, and offsets for error messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub source: usize,
    pub line: usize,
    pub offset: usize,
}

/// The lexer: one token at a time, with the position where it begins.
pub struct AwkLexer<'a> {
    sources: &'a [AwkSource],
    source: usize,
    at: usize,
    line: usize,
    /// The position at which the last token began.
    pub start: Position,
    /// Warnings in gawk's words, with their position.
    pub warnings: Vec<(Position, String)>,
    /// Whether gawk's extensions are off (`--traditional`, `--posix`).
    traditional: bool,
}

impl<'a> AwkLexer<'a> {
    /// Returns a lexer that reads the sources one after another.
    pub fn new(sources: &'a [AwkSource], traditional: bool) -> AwkLexer<'a> {
        AwkLexer {
            sources,
            source: 0,
            at: 0,
            line: 1,
            start: Position::default(),
            warnings: Vec::new(),
            traditional,
        }
    }

    fn source_text(&self) -> &'a [u8] {
        self.sources.get(self.source).map_or(&[], |s| &s.text)
    }

    fn peek_byte(&self, ahead: usize) -> u8 {
        self.source_text().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn current_position(&self) -> Position {
        Position { source: self.source, line: self.line, offset: self.at }
    }

    /// Returns an error at the start of the last token.
    pub fn error_here(&self, message: impl Into<String>) -> AwkSyntaxError {
        self.error_at(self.start, message)
    }

    /// Returns an error at a position.
    pub fn error_at(&self, p: Position, message: impl Into<String>) -> AwkSyntaxError {
        let text = self.sources.get(p.source).map_or(&[][..], |s| &s.text);
        let before = &text[..p.offset.min(text.len())];
        let column = before.len() - before.iter().rposition(|c| *c == b'\n').map_or(0, |i| i + 1);
        AwkSyntaxError {
            source_index: p.source,
            line: p.line,
            column,
            message: message.into(),
            status: 1,
        }
    }

    /// Returns the next token.
    pub fn next(&mut self) -> Result<AwkTok, AwkSyntaxError> {
        self.skip_blanks();
        self.start = self.current_position();
        if self.at >= self.source_text().len() {
            if self.source < self.sources.len() {
                self.source += 1;
                self.at = 0;
                self.line = 1;
            }
            return Ok(if self.source >= self.sources.len() {
                AwkTok::Eof
            } else {
                AwkTok::Newline
            });
        }
        let c = self.peek_byte(0);
        self.at += 1;
        Ok(match c {
            b'\n' => {
                self.line += 1;
                AwkTok::Newline
            }
            b'"' => AwkTok::Str(self.lex_string()?),
            b'0'..=b'9' => self.lex_number(),
            b'.' if self.peek_byte(0).is_ascii_digit() => self.lex_number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.lex_word(),
            b'@' => self.at_sign()?,
            _ => match self.lex_operator(c) {
                Some(t) => t,
                None => {
                    let shown = String::from_utf8_lossy(&[c]).into_owned();
                    return Err(self.error_here(format!("invalid char '{shown}' in expression")));
                }
            },
        })
    }

    /// Skips blanks, comments and continued lines.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek_byte(0) {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\\' if self.peek_byte(1) == b'\n' => {
                    self.at += 2;
                    self.line += 1;
                }
                b'\\' if self.peek_byte(1) == b'\r' && self.peek_byte(2) == b'\n' => {
                    self.at += 3;
                    self.line += 1;
                }
                b'#' => {
                    let rest = &self.source_text()[self.at..];
                    self.at += rest.iter().position(|c| *c == b'\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    fn lex_operator(&mut self, c: u8) -> Option<AwkTok> {
        let next = self.peek_byte(0);
        let mut two = |t: AwkTok| {
            self.at += 1;
            t
        };
        Some(match (c, next) {
            (b';', _) => AwkTok::Semi,
            (b',', _) => AwkTok::Comma,
            (b'{', _) => AwkTok::LBrace,
            (b'}', _) => AwkTok::RBrace,
            (b'(', _) => AwkTok::LParen,
            (b')', _) => AwkTok::RParen,
            (b'[', _) => AwkTok::LBracket,
            (b']', _) => AwkTok::RBracket,
            (b'$', _) => AwkTok::Dollar,
            (b'?', _) => AwkTok::Question,
            (b':', _) => AwkTok::Colon,
            (b'~', _) => AwkTok::Match,
            (b'+', b'+') => two(AwkTok::Incr),
            (b'-', b'-') => two(AwkTok::Decr),
            (b'+', b'=') => two(AwkTok::OpAssign(AwkArith::Add)),
            (b'-', b'=') => two(AwkTok::OpAssign(AwkArith::Sub)),
            (b'*', b'=') => two(AwkTok::OpAssign(AwkArith::Mul)),
            (b'/', b'=') => two(AwkTok::OpAssign(AwkArith::Div)),
            (b'%', b'=') => two(AwkTok::OpAssign(AwkArith::Mod)),
            (b'^', b'=') => two(AwkTok::OpAssign(AwkArith::Pow)),
            (b'*', b'*') => {
                self.at += 1;
                if self.peek_byte(0) == b'=' {
                    self.at += 1;
                    return Some(AwkTok::OpAssign(AwkArith::Pow));
                }
                AwkTok::Caret
            }
            (b'=', b'=') => two(AwkTok::Eq),
            (b'!', b'=') => two(AwkTok::Ne),
            (b'!', b'~') => two(AwkTok::NoMatch),
            (b'<', b'=') => two(AwkTok::Le),
            (b'>', b'=') => two(AwkTok::Ge),
            (b'>', b'>') => two(AwkTok::Append),
            (b'&', b'&') => two(AwkTok::And),
            (b'|', b'|') => two(AwkTok::Or),
            (b'|', b'&') => two(AwkTok::Coproc),
            (b'+', _) => AwkTok::Plus,
            (b'-', _) => AwkTok::Minus,
            (b'*', _) => AwkTok::Star,
            (b'/', _) => AwkTok::Slash,
            (b'%', _) => AwkTok::Percent,
            (b'^', _) => AwkTok::Caret,
            (b'=', _) => AwkTok::Assign,
            (b'!', _) => AwkTok::Not,
            (b'<', _) => AwkTok::Lt,
            (b'>', _) => AwkTok::Gt,
            (b'|', _) => AwkTok::Pipe,
            _ => return None,
        })
    }

    fn name_end(&self, mut at: usize) -> usize {
        let text = self.source_text();
        while text.get(at).is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_') {
            at += 1;
        }
        // A name may have a namespace: `ns::name`.
        if !self.traditional
            && text.get(at..at + 2) == Some(b"::")
            && text.get(at + 2).is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_')
        {
            return self.name_end(at + 2);
        }
        at
    }

    fn lex_word(&mut self) -> AwkTok {
        let from = self.at - 1;
        self.at = self.name_end(from);
        let written = &self.source_text()[from..self.at];
        let name = written.strip_prefix(b"awk::").unwrap_or(written);
        if let Some(k) = find_keyword(name) {
            return AwkTok::Key(k);
        }
        let call = self.peek_byte(0) == b'(';
        if let Some(b) = AwkBuiltin::by_name(name)
            && (b.standard() || name != written || !self.shadows_builtin(name, call))
        {
            return AwkTok::Builtin(b);
        }
        let name = self.qualified_name(written);
        if call { AwkTok::FuncName(name) } else { AwkTok::Name(name) }
    }

    fn current_namespace(&self) -> &'a [u8] {
        self.sources.get(self.source).map_or(&[], |s| &s.namespace)
    }

    /// Returns whether the name of one of gawk's own functions means something else here: in a
    /// namespace, it may be a variable, or a function that the program defines.
    fn shadows_builtin(&self, name: &[u8], call: bool) -> bool {
        let space = self.current_namespace();
        let defines = |s: &AwkSource| {
            let after = |word: &[u8]| {
                let definition = [word, b" ", name, b"("].concat();
                s.namespace == space && s.text.windows(definition.len()).any(|w| w == definition)
            };
            after(b"function") || after(b"func")
        };
        !space.is_empty() && (!call || self.sources.iter().any(defines))
    }

    /// Returns a name with its namespace (gawk manual 17, "Namespaces"). Names of capital letters
    /// only belong to the namespace `awk`, which is not written before names.
    fn qualified_name(&self, name: &[u8]) -> Vec<u8> {
        if let Some(plain) = name.strip_prefix(b"awk::") {
            return plain.to_vec();
        }
        let space = self.current_namespace();
        let common = name.iter().all(u8::is_ascii_uppercase);
        if space.is_empty() || common || name.windows(2).any(|w| w == b"::") {
            return name.to_vec();
        }
        [space, b"::", name].concat()
    }

    /// Reads `@/re/` and `@name(...)`.
    fn at_sign(&mut self) -> Result<AwkTok, AwkSyntaxError> {
        if self.peek_byte(0) == b'/' {
            self.at += 1;
            return Ok(AwkTok::TypedRegex(self.regex_body()?));
        }
        let from = self.at;
        let end = self.name_end(from);
        if end > from && self.source_text().get(end) == Some(&b'(') {
            self.at = end;
            return Ok(AwkTok::Indirect(self.qualified_name(&self.source_text()[from..end])));
        }
        Err(self.error_here("syntax error"))
    }

    /// Lexes a number; gawk also reads `0x1F` and octal `017` in program text.
    fn lex_number(&mut self) -> AwkTok {
        let from = self.at - 1;
        let text = &self.source_text()[from..];
        if !self.traditional && text[0] == b'0' {
            let hex = matches!(text.get(1), Some(b'x' | b'X'));
            let (base, skip) = if hex { (16, 2) } else { (8, 1) };
            let digits = text[skip..]
                .iter()
                .position(|c| !char::from(*c).is_digit(if hex { 16 } else { 10 }))
                .map_or(text.len(), |n| n + skip);
            let body = &text[skip..digits];
            let whole = hex || !matches!(text.get(digits), Some(b'.' | b'e' | b'E'));
            if !body.is_empty() && whole && body.iter().all(|c| char::from(*c).is_digit(base)) {
                let fold = |n: f64, c: &u8| {
                    n * f64::from(base) + f64::from(char::from(*c).to_digit(base).unwrap_or(0))
                };
                self.at = from + digits;
                return AwkTok::Num(body.iter().fold(0.0, fold));
            }
        }
        let (n, len) = decimal_prefix(text);
        self.at = from + len.max(1);
        AwkTok::Num(n)
    }

    /// Lexes a string's content after the opening quote, and resolves its escapes.
    fn lex_string(&mut self) -> Result<Vec<u8>, AwkSyntaxError> {
        let mut out = Vec::new();
        loop {
            let text = self.source_text();
            let Some(&c) = text.get(self.at) else {
                return Err(self.error_here("unterminated string"));
            };
            self.at += 1;
            match c {
                b'"' => return Ok(out),
                b'\n' => return Err(self.error_here("unterminated string")),
                b'\\' => {
                    if self.at >= text.len() {
                        return Err(self.error_here("unterminated string"));
                    }
                    if self.peek_byte(0) == b'\n' {
                        self.line += 1;
                    }
                    let (used, warning) = resolve_escape(&text[self.at..], &mut out);
                    if let Some(w) = warning {
                        self.warnings.push((self.current_position(), w));
                    }
                    self.at += used;
                }
                _ => out.push(c),
            }
        }
    }

    /// Reads a regular expression after its opening `/` was taken as [`AwkTok::Slash`] or as
    /// the start of `/=`.
    pub fn lex_regex(&mut self, after: &AwkTok) -> Result<Vec<u8>, AwkSyntaxError> {
        let mut body = self.regex_body()?;
        if *after == AwkTok::OpAssign(AwkArith::Div) {
            body.insert(0, b'=');
        }
        Ok(body)
    }

    fn regex_body(&mut self) -> Result<Vec<u8>, AwkSyntaxError> {
        let mut out = Vec::new();
        // The place in `out` at which a bracket expression begins; `None` outside of one.
        let mut bracket: Option<usize> = None;
        loop {
            let c = self.peek_byte(0);
            if self.at >= self.source_text().len() || c == b'\n' {
                return Err(self.error_here("unterminated regexp"));
            }
            self.at += 1;
            match c {
                b'\\' if self.at < self.source_text().len() => {
                    let next = self.peek_byte(0);
                    self.at += 1;
                    if next == b'\n' {
                        self.line += 1;
                        continue;
                    }
                    if next != b'/' {
                        out.push(b'\\');
                    }
                    if next.is_ascii_graphic() && !REGEX_ESCAPES.contains(&next) {
                        let shown = char::from(next);
                        self.warnings.push((
                            self.current_position(),
                            format!(
                                "regexp escape sequence `\\{shown}' is not a known regexp operator"
                            ),
                        ));
                    }
                    out.push(next);
                }
                b'/' if bracket.is_none() => return Ok(out),
                b'/' if !self.closes_bracket() => return Ok(out),
                b'[' => {
                    out.push(c);
                    if bracket.is_none() {
                        bracket = Some(out.len());
                        if self.peek_byte(0) == b'^' {
                            out.push(b'^');
                            self.at += 1;
                        }
                        // A `]` that comes first is an ordinary character.
                        if self.peek_byte(0) == b']' && self.closes_bracket_after(1) {
                            out.push(b']');
                            self.at += 1;
                        }
                    } else if matches!(self.peek_byte(0), b':' | b'.' | b'=') {
                        self.copy_class(&mut out);
                    }
                }
                b']' => {
                    bracket = None;
                    out.push(c);
                }
                _ => out.push(c),
            }
        }
    }

    /// Copies `:alpha:]` after a `[` within brackets.
    fn copy_class(&mut self, out: &mut Vec<u8>) {
        let rest = &self.source_text()[self.at..];
        let kind = rest[0];
        let end = rest.windows(2).skip(1).position(|w| w == [kind, b']']);
        if let Some(n) = end.filter(|n| rest[..n + 1].iter().all(|c| *c != b'\n')) {
            out.extend_from_slice(&rest[..n + 3]);
            self.at += n + 3;
        }
    }

    /// Returns whether a `]` follows on this line, so that a `/` may be part of the brackets.
    fn closes_bracket(&self) -> bool {
        self.closes_bracket_after(0)
    }

    fn closes_bracket_after(&self, ahead: usize) -> bool {
        let rest = self.source_text().get(self.at + ahead..).unwrap_or_default();
        rest.iter().take_while(|c| **c != b'\n').any(|c| *c == b']')
    }
}

/// The bytes that may follow a backslash in a regular expression.
const REGEX_ESCAPES: &[u8] = b"$'()*+-./0123456789<>?BSW[\\]^`abfnrstuvwxy{|}";

/// Appends the character of an escape sequence, given without its backslash, to `out`. Returns the
/// number of bytes used, and a warning if this is not an escape. Assignments on the command line
/// use it, too.
pub fn resolve_escape(text: &[u8], out: &mut Vec<u8>) -> (usize, Option<String>) {
    let Some(&c) = text.first() else {
        out.push(b'\\');
        return (0, None);
    };
    let simple = match c {
        b'\\' | b'"' => c,
        // The backslash continues the line.
        b'\n' => return (1, None),
        b'0'..=b'7' => {
            let digits = text.iter().take(3).take_while(|c| (b'0'..=b'7').contains(c)).count();
            let value = text[..digits].iter().fold(0u32, |n, c| n * 8 + u32::from(c - b'0'));
            out.push(value as u8);
            return (digits, None);
        }
        b'x' => {
            let digits = text[1..].iter().take(2).take_while(|c| c.is_ascii_hexdigit()).count();
            if digits == 0 {
                out.push(b'x');
                return (1, Some("no hex digits in `\\x' escape sequence".into()));
            }
            let digit = |c: &u8| char::from(*c).to_digit(16).unwrap_or(0);
            out.push(text[1..=digits].iter().fold(0, |n, c| n * 16 + digit(c)) as u8);
            return (digits + 1, None);
        }
        b'u' => {
            let digits = text[1..].iter().take(8).take_while(|c| c.is_ascii_hexdigit()).count();
            let digit = |c: &u8| char::from(*c).to_digit(16).unwrap_or(0);
            let code = text[1..=digits].iter().fold(0u32, |n, c| n << 4 | digit(c));
            if let Some(ch) = char::from_u32(code).filter(|_| digits > 0) {
                out.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
                return (digits + 1, None);
            }
            out.push(b'u');
            return (1, None);
        }
        _ if control_char(c).is_some() => control_char(c).unwrap_or(c),
        _ => {
            // The whole character is used, so that a warning shows all of it.
            let len = utf8_len(text).max(1);
            out.extend_from_slice(&text[..len]);
            let shown = String::from_utf8_lossy(&text[..len]);
            let warning = format!("escape sequence `\\{shown}' treated as plain `{shown}'");
            return (len, Some(warning));
        }
    };
    out.push(simple);
    (1, None)
}
