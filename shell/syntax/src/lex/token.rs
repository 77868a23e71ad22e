//! Lexes tokens: operators, reserved words and words; keeps the one token read ahead.

use std::ops::Range;

use super::table::{self, BLANK, BREAK, DIGIT, QUOTE, has_class};
use super::{CommandParser, Res};
use crate::ast::{Assignment, Subscript, Text, Word};

/// A reserved word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kw {
    Bang,
    Case,
    Coproc,
    Do,
    Done,
    Elif,
    Else,
    Esac,
    Fi,
    For,
    Function,
    If,
    In,
    Select,
    Then,
    Time,
    Until,
    While,
    LBrace,
    RBrace,
    LCond,
    RCond,
}

impl Kw {
    /// Returns the reserved word with this spelling.
    pub fn from_bytes(s: &[u8]) -> Option<Kw> {
        Some(match s {
            b"!" => Kw::Bang,
            b"case" => Kw::Case,
            b"coproc" => Kw::Coproc,
            b"do" => Kw::Do,
            b"done" => Kw::Done,
            b"elif" => Kw::Elif,
            b"else" => Kw::Else,
            b"esac" => Kw::Esac,
            b"fi" => Kw::Fi,
            b"for" => Kw::For,
            b"function" => Kw::Function,
            b"if" => Kw::If,
            b"in" => Kw::In,
            b"select" => Kw::Select,
            b"then" => Kw::Then,
            b"time" => Kw::Time,
            b"until" => Kw::Until,
            b"while" => Kw::While,
            b"{" => Kw::LBrace,
            b"}" => Kw::RBrace,
            b"[[" => Kw::LCond,
            b"]]" => Kw::RCond,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tk {
    Eof,
    Newline,
    Word,
    Kw(Kw),
    /// Digits directly before a redirection operator.
    IoNumber(u32),
    /// `{name}` directly before a redirection operator.
    IoVar,
    Semi,
    SemiSemi,
    SemiAmp,
    SemiSemiAmp,
    Amp,
    AndAnd,
    Pipe,
    PipeAmp,
    OrOr,
    LParen,
    RParen,
    Less,
    Great,
    LessLess,
    LessLessDash,
    LessLessLess,
    GreatGreat,
    LessAmp,
    GreatAmp,
    LessGreat,
    GreatPipe,
    AmpGreat,
    AmpGreatGreat,
}

/// The content of a word token.
#[derive(Debug)]
pub(crate) enum Lexeme {
    None,
    Word(Word),
    Assign(Box<Assignment>),
    Var(Text, Option<Box<Subscript>>),
}

#[derive(Debug)]
pub(crate) struct SyntaxToken {
    pub kind: Tk,
    pub start: usize,
    pub end: usize,
    /// Line of the token's first byte.
    pub line: u32,
    pub lexeme: Lexeme,
}

/// The context in which a token is lexed: a set of flags.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenContext(u16);

impl TokenContext {
    /// An ordinary word.
    pub const ARG: TokenContext = TokenContext(0);
    /// Reserved words are recognised.
    pub const RESERVED: TokenContext = TokenContext(1);
    /// Aliases are looked up.
    pub const ALIAS: TokenContext = TokenContext(2);
    /// `name=value` and `name[...]=value` are assignments.
    pub const ASSIGN: TokenContext = TokenContext(4);
    /// An operand of a declaration builtin.
    pub const DECL: TokenContext = TokenContext(8);
    /// `@(a|b)` is part of a word regardless of the options.
    pub const EXTGLOB: TokenContext = TokenContext(16);
    /// The right side of `=~`.
    pub const REGEX: TokenContext = TokenContext(32);
    /// An operand of `let` or `eval`: `name=(...)` is one word.
    pub const LET: TokenContext = TokenContext(64);
    /// The operand of a redirection: `name=(...)` is not an assignment there, whatever the command.
    pub const SCALAR: TokenContext = TokenContext(128);
    /// The operand of `>&` or `<&`: digits there are a word, as the `1` in `2>&1>f`.
    pub const COPIED: TokenContext = TokenContext(256);
    /// Start of a command.
    pub const COMMAND: TokenContext = TokenContext(1 | 2 | 4);
    /// After an assignment at the start of a command.
    pub const PREFIX: TokenContext = TokenContext(2 | 4);

    /// Returns whether the two have a flag in common.
    #[inline(always)]
    pub const fn has_any(self, other: TokenContext) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the flags of both.
    pub const fn with_both(self, other: TokenContext) -> TokenContext {
        TokenContext(self.0 | other.0)
    }
}

impl CommandParser<'_, '_> {
    /// Returns the kind of the next token, which is read in context `ctx` unless it was read
    /// before.
    #[inline]
    pub fn next_kind(&mut self, ctx: TokenContext) -> Res<Tk> {
        if let Some(t) = &self.st.look {
            return Ok(t.kind);
        }
        let t = self.lex_token(ctx)?;
        let kind = t.kind;
        self.st.look = Some(t);
        Ok(kind)
    }

    /// Consumes the token read ahead.
    #[inline]
    pub fn take_token(&mut self) -> SyntaxToken {
        match self.st.look.take() {
            Some(t) => t,
            // Never reached, because all callers call `next_kind` first.
            None => self.simple_token(Tk::Eof, self.pos, self.line),
        }
    }

    /// Drops the token read ahead.
    #[inline]
    pub fn skip_token(&mut self) {
        self.st.look = None;
    }

    /// Consumes the next token if it is the reserved word `kw` and reports it as unexpected
    /// otherwise.
    pub fn expect_kw(&mut self, kw: Kw) -> Res<()> {
        if self.next_kind(TokenContext::RESERVED.with_both(TokenContext::ALIAS))? == Tk::Kw(kw) {
            self.skip_token();
            return Ok(());
        }
        Err(self.unexpected_token_error())
    }

    /// Consumes newlines.
    pub fn skip_newlines(&mut self, ctx: TokenContext) -> Res<()> {
        while self.next_kind(ctx)? == Tk::Newline {
            self.skip_token();
        }
        Ok(())
    }

    fn simple_token(&self, kind: Tk, start: usize, line: u32) -> SyntaxToken {
        SyntaxToken { kind, start, end: self.pos, line, lexeme: Lexeme::None }
    }

    /// Skips blanks, line continuations and a comment.
    pub fn skip_blanks(&mut self) {
        loop {
            match self.peek_byte() {
                Some(b) if has_class(b, BLANK) => self.st.pos += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.cut_continuation(),
                Some(b'#') => {
                    self.skip_comment();
                    return;
                }
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        loop {
            if let Some(i) = memchr::memchr(b'\n', self.rest_bytes()) {
                self.pos += i;
                return;
            }
            self.pos = self.src.len();
            if self.peek_byte().is_none() {
                return;
            }
        }
    }

    fn lex_token(&mut self, ctx: TokenContext) -> Res<SyntaxToken> {
        loop {
            self.skip_blanks();
            let (start, line) = (self.pos, self.line);
            let Some(b) = self.peek_byte() else {
                if self.docs.is_due() {
                    self.read_heredocs()?;
                }
                return Ok(self.simple_token(Tk::Eof, start, line));
            };
            let starts_word = match b {
                b'<' | b'>' => self.peek_at(1) == Some(b'('),
                b'(' | b'|' => ctx.has_any(TokenContext::REGEX),
                b => !has_class(b, BREAK),
            };
            if starts_word {
                if let Some(t) = self.lex_word_token(ctx, start, line)? {
                    return Ok(t);
                }
                // An alias was substituted: continue in its text.
                continue;
            }
            self.pos += 1;
            let kind = self.lex_operator(b)?;
            self.alias.next = false;
            return Ok(self.simple_token(kind, start, line));
        }
    }

    /// Lexes the operator that starts with `b`, whose first byte is consumed.
    fn lex_operator(&mut self, b: u8) -> Res<Tk> {
        Ok(match b {
            b'\n' => {
                self.add_lines(1);
                if self.docs.is_due() {
                    self.read_heredocs()?;
                }
                Tk::Newline
            }
            b'(' => Tk::LParen,
            b')' => Tk::RParen,
            b';' => match self.peek_joined() {
                Some(b';') => match self.take_second() {
                    Some(b'&') => self.take_op(Tk::SemiSemiAmp),
                    _ => Tk::SemiSemi,
                },
                Some(b'&') => self.take_op(Tk::SemiAmp),
                _ => Tk::Semi,
            },
            b'&' => match self.peek_joined() {
                Some(b'&') => self.take_op(Tk::AndAnd),
                Some(b'>') => match self.take_second() {
                    Some(b'>') => self.take_op(Tk::AmpGreatGreat),
                    _ => Tk::AmpGreat,
                },
                _ => Tk::Amp,
            },
            b'|' => match self.peek_joined() {
                Some(b'|') => self.take_op(Tk::OrOr),
                Some(b'&') => self.take_op(Tk::PipeAmp),
                _ => Tk::Pipe,
            },
            b'<' => match self.peek_joined() {
                Some(b'<') => match self.take_second() {
                    Some(b'<') => self.take_op(Tk::LessLessLess),
                    Some(b'-') => self.take_op(Tk::LessLessDash),
                    _ => Tk::LessLess,
                },
                Some(b'&') => self.take_op(Tk::LessAmp),
                Some(b'>') => self.take_op(Tk::LessGreat),
                _ => Tk::Less,
            },
            _ => match self.peek_joined() {
                Some(b'>') => self.take_op(Tk::GreatGreat),
                Some(b'&') => self.take_op(Tk::GreatAmp),
                Some(b'|') => self.take_op(Tk::GreatPipe),
                _ => Tk::Great,
            },
        })
    }

    /// Consumes the second byte of an operator and returns the byte after it.
    fn take_second(&mut self) -> Option<u8> {
        self.pos += 1;
        self.peek_joined()
    }

    #[inline]
    fn take_op(&mut self, kind: Tk) -> Tk {
        self.pos += 1;
        kind
    }

    /// Lexes a token that starts with a word. Returns `None` if an alias was substituted for the
    /// word.
    fn lex_word_token(
        &mut self,
        ctx: TokenContext,
        start: usize,
        line: u32,
    ) -> Res<Option<SyntaxToken>> {
        let alias_here = self.alias_position(start) || ctx.has_any(TokenContext::ALIAS);
        // Most words are a single run of ordinary characters.
        let run = table::run_without(self.rest_bytes(), BREAK | QUOTE);
        let end = start + run;
        self.pos = end;
        let next = self.peek_joined();
        if self.pos == end && run > 0 && self.ends_plain_word(ctx, next) {
            let token = |kind, lexeme| SyntaxToken { kind, start, end, line, lexeme };
            if let Some((kind, lexeme)) = self.more_than_word(ctx, start..end, next) {
                return Ok(Some(token(kind, lexeme)));
            }
            if alias_here && self.opts.expand_aliases && self.substitute_alias(start, end) {
                return Ok(None);
            }
            if !ctx.has_any(
                TokenContext::ASSIGN.with_both(TokenContext::DECL).with_both(TokenContext::LET),
            ) || !self.may_assign(start, end)
            {
                self.alias.next = false;
                let text: Text = self.src.get(start..end).unwrap_or_default().into();
                let parts = vec![crate::ast::WordPart::Literal(text.to_vec().into())];
                return Ok(Some(token(Tk::Word, Lexeme::Word(Word { parts, raw: text }))));
            }
        }
        if self.pos != end {
            // Line continuations were consumed; the word is lexed again so that they are recorded.
            self.line = line;
        }
        self.pos = start;
        self.composed_token(ctx, start, line, alias_here)
    }

    /// Returns whether a run of ordinary characters before `next` is a whole word.
    fn ends_plain_word(&mut self, ctx: TokenContext, next: Option<u8>) -> bool {
        match next {
            // `<(` and `>(` continue a word, and so may the `(` of an extended pattern.
            Some(b'<' | b'>') => self.peek_at(1) != Some(b'('),
            Some(b'(') if ctx.has_any(TokenContext::REGEX) => false,
            Some(b'(') if self.extglob_on(ctx) => {
                let before = self.pos.checked_sub(1).and_then(|at| self.src.get(at));
                !before.is_some_and(|b| b"?*+@!".contains(b))
            }
            Some(b'|') => !ctx.has_any(TokenContext::REGEX),
            next => next.is_none_or(|b| has_class(b, BREAK)),
        }
    }

    /// Lexes a token that starts with a word of several parts, or with an assignment.
    fn composed_token(
        &mut self,
        ctx: TokenContext,
        start: usize,
        line: u32,
        alias_here: bool,
    ) -> Res<Option<SyntaxToken>> {
        let lexeme = self.lex_word(ctx)?;
        let end = self.pos;
        // After a quoted word the next word is still checked for an alias, as in bash.
        let quoted = matches!(&lexeme, Lexeme::Word(w) if w.raw.iter().any(|b| matches!(b, b'\\' | b'\'' | b'"')));
        if !quoted {
            self.alias.next = false;
        }
        // `{name[subscript]}>` with an expansion or quotes in the subscript.
        if let Lexeme::Word(w) = &lexeme
            && matches!(self.peek_byte(), Some(b'<' | b'>'))
            && let Some(inside) = w.raw.strip_prefix(b"{").and_then(|r| r.strip_suffix(b"}"))
            && let Some((name, subscript)) = self.io_var(inside)
        {
            let lexeme = Lexeme::Var(name, subscript.map(Box::new));
            return Ok(Some(SyntaxToken { kind: Tk::IoVar, start, end, line, lexeme }));
        }
        // A word with a line continuation in it may still be a reserved word or an alias.
        if let Lexeme::Word(w) = &lexeme
            && let Some(text) = w.as_literal()
            && *text == *w.raw
        {
            let number = match self.peek_byte() {
                Some(b'<' | b'>') if !ctx.has_any(TokenContext::COPIED) => io_number(text),
                _ => None,
            };
            let reserved = Kw::from_bytes(text).filter(|_| ctx.has_any(TokenContext::RESERVED));
            if let Some(kind) = reserved.map(Tk::Kw).or(number.map(Tk::IoNumber)) {
                return Ok(Some(SyntaxToken { kind, start, end, line, lexeme: Lexeme::None }));
            }
            if alias_here && self.opts.expand_aliases && end - start != text.len() {
                let name = text.to_vec();
                if self.substitute_alias_named(&name, start, end) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(SyntaxToken { kind: Tk::Word, start, end, line, lexeme }))
    }

    /// Returns the token for a run of ordinary characters before `next` if it is a reserved word, a
    /// number or a `{name}` before a redirection.
    fn more_than_word(
        &mut self,
        ctx: TokenContext,
        at: Range<usize>,
        next: Option<u8>,
    ) -> Option<(Tk, Lexeme)> {
        let run = self.src.get(at)?;
        if ctx.has_any(TokenContext::RESERVED)
            && run.len() <= 8
            && let Some(kw) = Kw::from_bytes(run)
        {
            self.alias.next = false;
            return Some((Tk::Kw(kw), Lexeme::None));
        }
        if !matches!(next, Some(b'<' | b'>')) {
            return None;
        }
        if let Some(n) = io_number(run).filter(|_| !ctx.has_any(TokenContext::COPIED)) {
            return Some((Tk::IoNumber(n), Lexeme::None));
        }
        let inside = run.strip_prefix(b"{")?.strip_suffix(b"}")?;
        let (name, subscript) = self.io_var(inside)?;
        Some((Tk::IoVar, Lexeme::Var(name, subscript.map(Box::new))))
    }

    /// Returns the name and subscript in `{name}>` or `{name[sub]}>`.
    fn io_var(&self, inside: &[u8]) -> Option<(Text, Option<Subscript>)> {
        let n = table::run_with(inside, table::NAME);
        let name = inside.get(..n)?;
        if !table::is_name(name) {
            return None;
        }
        match inside.get(n..)? {
            [] => Some((name.into(), None)),
            [b'[', sub @ .., b']'] if !sub.is_empty() => {
                let sub = crate::parse::parse_subscript(sub, &self.opts).ok()?;
                Some((name.into(), Some(sub)))
            }
            _ => None,
        }
    }

    /// Returns whether extended patterns such as `@(a|b)` are parts of words in this context.
    #[inline]
    pub fn extglob_on(&self, ctx: TokenContext) -> bool {
        self.opts.extglob || ctx.has_any(TokenContext::EXTGLOB)
    }
}

/// Returns the value of a word of digits if it can be the number of a descriptor.
fn io_number(run: &[u8]) -> Option<u32> {
    if run.is_empty() || run.len() > 10 || !run.iter().all(|&b| has_class(b, DIGIT)) {
        return None;
    }
    let n = run.iter().fold(0u64, |n, &b| n * 10 + u64::from(b - b'0'));
    u32::try_from(n).ok().filter(|&n| n <= i32::MAX as u32)
}
