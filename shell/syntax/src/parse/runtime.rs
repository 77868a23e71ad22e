//! Parsing of texts that are known only at run time: `eval`-like input, `PS4`, here-documents,
//! subscripts, operands of `declare`. The parser itself also uses these functions, for texts inside
//! other texts.

use std::rc::Rc;

use super::{NoAliases, ParseOptions};
use crate::ast::*;
use crate::error::{SyntaxCause, SyntaxError};
use crate::lex::arith_text::ArithEnd;
use crate::lex::assign::quoted_word;
use crate::lex::mode::LexMode;
use crate::lex::table::{self, DQUOTE, NAME, has_class};
use crate::lex::token::TokenContext;
use crate::lex::word::WordBuilder;
use crate::lex::{CommandParser, ParseState, Res, param};

static NO_ALIASES: NoAliases = NoAliases;

fn runtime_parser(text: &[u8], options: &ParseOptions) -> CommandParser<'static, 'static> {
    let st = ParseState {
        src: text.to_vec(),
        line: options.first_line,
        opts: options.clone(),
        ..ParseState::default()
    };
    CommandParser { st, aliases: &NO_ALIASES }
}

/// Parses a whole text without aliases, for example a stored function.
pub fn parse_all(src: &[u8], options: &ParseOptions) -> Result<CommandList, SyntaxError> {
    let mut m = runtime_parser(src, options);
    crate::lex::end_line(&mut m.st.src);
    m.parse_all().map_err(|e| *e)
}

/// Parses all of `text` as one word: blanks and metacharacters outside quotes are literal.
pub fn parse_word(text: &[u8], options: &ParseOptions) -> Result<Word, SyntaxError> {
    let mut m = runtime_parser(text, options);
    m.begin_word();
    let mut b = WordBuilder::default();
    let keep_until = text.len();
    m.word_parts(&mut b, TokenContext::ARG, keep_until).map_err(|e| *e)?;
    Ok(b.into_word(m.raw_from(0)))
}

/// Parses `text` as if within double quotes; a `"` is an ordinary character (`PS4`, `@P`).
pub fn parse_dquoted(text: &[u8], options: &ParseOptions) -> Result<Word, SyntaxError> {
    if memchr::memchr3(b'$', b'`', b'\\', text).is_none() {
        return Ok(quoted_word(text));
    }
    let mut m = runtime_parser(text, options);
    m.st.mode.heredoc = true;
    m.begin_word();
    let mut b = WordBuilder::default();
    m.dquoted_text(&mut b).map_err(|e| *e)?;
    Ok(Word { parts: non_empty(b.finish_parts()), raw: text.into() })
}

/// Parses the body of an unquoted here-document. Never fails, because text that does not parse
/// becomes a part that reports its error when it is expanded.
pub fn parse_heredoc_body(text: &[u8], options: &ParseOptions) -> Word {
    if memchr::memchr3(b'$', b'`', b'\\', text).is_none() {
        return quoted_word(text);
    }
    runtime_parser(text, options).doc_body_word()
}

/// Parses the text between `[` and `]` (`unset 'a[i]'`, `read 'a[1]'`, namerefs).
pub fn parse_subscript(text: &[u8], options: &ParseOptions) -> Result<Subscript, SyntaxError> {
    match text {
        b"@" => return Ok(Subscript::At),
        b"*" => return Ok(Subscript::Star),
        _ => {}
    }
    let mut m = runtime_parser(text, options);
    m.st.mode.run_time = true;
    m.begin_word();
    let word = m.subscript_word(false, false).map_err(|e| *e)?.unwrap_or_default();
    Ok(Subscript::Expr(crate::arith::from_word(word)))
}

/// Parses a parameter reference, for example `x`, `x[1]`, `@`, `10` (the values of indirect
/// expansions and namerefs). Returns `None` for any other text.
pub fn parse_parameter(
    text: &[u8],
    options: &ParseOptions,
) -> Option<(ParamName, Option<Subscript>)> {
    if let Some(name) = param::parse_reference(text) {
        return Some((name, None));
    }
    let n = table::run_with(text, NAME);
    let name = text.get(..n).filter(|n| table::is_name(n))?;
    let inside = text.get(n..)?.strip_prefix(b"[")?.strip_suffix(b"]")?;
    if inside.is_empty() {
        return None;
    }
    let subscript = parse_subscript(inside, options).ok()?;
    Some((ParamName::Variable(name.into()), Some(subscript)))
}

/// Splits a run-time operand of `declare` and similar builtins that has the form `name=value`,
/// `name+=value` or `name[sub]=value`. The value is literal text. Returns `None` for any other
/// form.
pub fn parse_assignment(text: &[u8], options: &ParseOptions) -> Option<Assignment> {
    let n = table::run_with(text, NAME);
    let name: Text = text.get(..n).filter(|n| table::is_name(n))?.into();
    let mut rest = text.get(n..)?;
    let mut subscript = None;
    if rest.first() == Some(&b'[') {
        let mut m = runtime_parser(rest, options);
        m.st.mode.run_time = true;
        m.begin_word();
        subscript = Some(m.lex_subscript().ok()?);
        rest = rest.get(m.pos..)?;
    }
    let append = rest.starts_with(b"+=");
    let value = rest.strip_prefix(b"+").unwrap_or(rest).strip_prefix(b"=")?;
    let value = AssignValue::Scalar(quoted_word(value));
    Some(Assignment { name, subscript, append, value, raw: text.into(), line: options.first_line })
}

/// Parses the text of a compound array value, `(a b [k]=v)`, including the parentheses, as
/// `declare -a "x=(...)"` does.
pub fn parse_array(text: &[u8], options: &ParseOptions) -> Result<Vec<ArrayElement>, SyntaxError> {
    let mut m = runtime_parser(text, options);
    m.begin_word();
    if m.peek_byte() != Some(b'(') {
        return Err(*m.make_error(options.first_line, SyntaxCause::NoToken));
    }
    let elements = m.lex_array().map_err(|e| *e)?;
    Ok(elements)
}

/// Parses arithmetic text that may contain expansions (`let`, the inside of a subscript).
pub fn parse_arith(text: &[u8], options: &ParseOptions) -> Result<ArithText, SyntaxError> {
    let mut m = runtime_parser(text, options);
    m.st.mode.run_time = true;
    m.arith_input().map(own_arith).map_err(|e| *e)
}

fn own_arith(arith: Rc<ArithText>) -> ArithText {
    Rc::try_unwrap(arith).unwrap_or_else(|shared| (*shared).clone())
}

fn non_empty(mut parts: Vec<WordPart>) -> Vec<WordPart> {
    if parts.is_empty() {
        parts.push(WordPart::Quoted(Rc::default()));
    }
    parts
}

impl CommandParser<'_, '_> {
    /// Returns a parser of `text`, which is part of this parser's text at `line`.
    pub(crate) fn inner(&self, text: Vec<u8>, line: u32) -> CommandParser<'_, 'static> {
        let st = ParseState {
            src: text,
            line,
            opts: self.opts.clone(),
            depth: self.depth,
            mode: LexMode {
                heredoc: self.mode.heredoc,
                doc_operand: self.mode.doc_operand,
                ..LexMode::default()
            },
            ..ParseState::default()
        };
        CommandParser { st, aliases: self.aliases }
    }

    /// Parses every command up to the end.
    fn parse_all(&mut self) -> Res<CommandList> {
        let mut list = CommandList::default();
        while let Some(l) = self.complete_command()? {
            list.items.extend(l.items);
        }
        Ok(list)
    }

    /// Parses the commands in a backquoted text.
    pub fn parse_inner(&mut self, text: Vec<u8>, line: u32) -> Res<CommandList> {
        let mut m = self.inner(text, line);
        // bash expands aliases in the text only when the text runs.
        m.st.opts.expand_aliases = false;
        m.st.mode.heredoc = false;
        crate::lex::end_line(&mut m.st.src);
        let result = m.parse_all();
        let warnings = std::mem::take(&mut m.st.warnings);
        self.st.warnings.extend(warnings);
        result
    }

    /// Parses the expression in the text of `((...))`.
    pub fn parse_arith_inner(&mut self, text: Vec<u8>, line: u32) -> Res<ArithText> {
        self.enter_nested(2)?;
        // A substitution in the text may have a here-document whose body comes after the text.
        let docs = std::mem::take(&mut self.st.docs);
        let mut m = self.inner(text, line);
        m.st.docs = docs;
        m.st.lines = self.st.lines;
        let arith = m.arith_input();
        let (docs, warnings) = (std::mem::take(&mut m.st.docs), std::mem::take(&mut m.st.warnings));
        self.st.docs = docs;
        self.st.warnings.extend(warnings);
        let arith = arith?;
        self.leave_nested(2);
        Ok(own_arith(arith))
    }

    fn arith_input(&mut self) -> Res<Rc<ArithText>> {
        let line = self.line;
        self.arith_until(ArithEnd::Input, line, false)
    }

    /// Parses the body of a here-document of the command on `command_line`.
    pub fn parse_doc_body(&mut self, text: Vec<u8>, line: u32, command_line: u32) -> Word {
        let mut m = self.inner(text, line);
        m.set_line_of_words(Some(command_line));
        m.doc_body_word()
    }

    fn doc_body_word(&mut self) -> Word {
        self.st.mode.heredoc = true;
        self.begin_word();
        let mut b = WordBuilder::default();
        if let Err(e) = self.dquoted_text(&mut b) {
            // Text that cannot be parsed is an error only when the document is expanded.
            b.push_part(crate::lex::command_sub::failing_part(&e));
        }
        let mut word = b.into_word(self.src.as_slice().into());
        word.parts = non_empty(word.parts);
        word
    }

    /// Lexes text up to the end of the input as if within double quotes, but with `"` as an
    /// ordinary character.
    pub(crate) fn dquoted_text(&mut self, b: &mut WordBuilder) -> Res<()> {
        loop {
            b.quoted_run(self.run_of_lines(|c| has_class(c, DQUOTE) && c != b'"'));
            let Some(c) = self.peek_byte() else { return Ok(()) };
            self.dquote_special(b, c, false)?;
        }
    }
}
