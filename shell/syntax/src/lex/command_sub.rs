//! `$(...)`, backquotes, `<(...)` and `>(...)` (POSIX XCU 2.6.3; bash manual 3.5.4, 3.5.6).

use std::rc::Rc;

use super::token::{Tk, TokenContext};
use super::{CommandParser, Res};
use crate::ast::{
    CommandKind, CommandList, CommandSub, ProcessSub, RedirectFd, RedirectOp, RedirectTarget,
    WordPart,
};
use crate::error::SyntaxError;
use crate::lex::mode::TextContext;

/// Returns a part that reports a syntax error when it is expanded.
pub(crate) fn failing_part(e: &SyntaxError) -> WordPart {
    WordPart::CommandSub(Rc::new(CommandSub {
        body: CommandList::default(),
        backquoted: false,
        is_file_read: false,
        line: e.line,
        error: Some(Box::new(e.clone())),
        source: None,
    }))
}

/// Nesting cost of a command in a word.
const COST: u32 = 8;

impl CommandParser<'_, '_> {
    /// Lexes `$(...)`, with `pos` after the parenthesis.
    #[inline(never)]
    pub fn command_sub(&mut self) -> Res<WordPart> {
        let line = self.line;
        let aliases = self.aliases_later();
        let lines = self.enter_substitution_lines();
        let body = self.lex_within(TextContext::Commands, Self::sub_list);
        self.leave_substitution_lines(lines);
        self.st.opts.expand_aliases = aliases;
        let body = body?;
        let is_file_read = is_file_read(&body);
        Ok(WordPart::CommandSub(Rc::new(CommandSub {
            body,
            backquoted: false,
            is_file_read,
            error: None,
            source: None,
            line,
        })))
    }

    /// Lexes `<(...)` or `>(...)`, with `pos` at the operator.
    #[inline(never)]
    pub fn process_sub(&mut self) -> Res<WordPart> {
        let op = self.peek_byte();
        self.pos += 2;
        let read = op == Some(b'<');
        let aliases = self.aliases_later();
        let body = self.lex_within(TextContext::ProcessSubstitution, Self::sub_list);
        self.st.opts.expand_aliases = aliases;
        Ok(WordPart::ProcessSub(Rc::new(ProcessSub { read, body: body? })))
    }

    /// Returns whether the `<` or `>` at `pos`, within braces or brackets, begins a process
    /// substitution.
    pub fn has_process_sub(&mut self) -> bool {
        self.peek_at(1) == Some(b'(') && !self.mode.heredoc && !self.mode.arith
    }

    /// Lexes a process substitution in a place where it is only text, and returns it as bash prints
    /// it. It must still parse.
    pub fn process_text(&mut self) -> Res<Box<[u8]>> {
        let start = self.pos;
        self.process_sub()?;
        Ok(self.raw_from(start))
    }

    /// Turns off aliases, except in POSIX mode, because bash expands them when the substitution
    /// runs. Returns the option's value to restore after the substitution.
    fn aliases_later(&mut self) -> bool {
        let aliases = self.opts.expand_aliases;
        self.st.opts.expand_aliases &= self.opts.posix;
        aliases
    }

    /// Lexes the list and its closing parenthesis.
    fn sub_list(&mut self) -> Res<CommandList> {
        self.enter_nested(COST)?;
        self.subs += 1;
        let outer_depth = std::mem::replace(&mut self.st.sub_depth, self.st.depth);
        // Lines inside the substitution belong to its own here-documents.
        let outer = self.docs.enter_substitution();
        let body = self.compound_list(true)?;
        if self.next_kind(TokenContext::RESERVED)? != Tk::RParen {
            return Err(self.unexpected_token_error());
        }
        self.skip_token();
        self.leave_docs(outer);
        self.subs -= 1;
        self.st.sub_depth = outer_depth;
        self.leave_nested(COST);
        Ok(body)
    }

    /// Lexes a backquoted command, with `pos` at the opening backquote. `quoted` says that it is
    /// within double quotes, where the backslash of `\"` is removed, too.
    #[inline(never)]
    pub fn lex_backquoted(&mut self, quoted: bool) -> Res<WordPart> {
        let line = self.line;
        self.pos += 1;
        let mut text = Vec::new();
        loop {
            let run = memchr::memchr3(b'`', b'\\', b'\n', self.rest_bytes())
                .unwrap_or(self.rest_bytes().len());
            if run > 0 {
                text.extend_from_slice(self.rest_bytes().get(..run).unwrap_or_default());
                self.pos += run;
            }
            match self.peek_byte() {
                None => return Err(self.unclosed_error(b'`', line)),
                Some(b'`') => {
                    self.pos += 1;
                    break;
                }
                Some(b'\n') => {
                    text.push(b'\n');
                    self.add_lines(1);
                    self.pos += 1;
                }
                Some(b'\\') => match self.peek_at(1) {
                    Some(b'\n') => self.cut_continuation(),
                    Some(c @ (b'$' | b'`' | b'\\')) => {
                        text.push(c);
                        self.pos += 2;
                    }
                    Some(b'"') if quoted => {
                        text.push(b'"');
                        self.pos += 2;
                    }
                    _ => {
                        text.push(b'\\');
                        self.pos += 1;
                    }
                },
                Some(_) => {}
            }
        }
        self.enter_nested(COST)?;
        // Aliases are expanded only when the command runs.
        let aliases = std::mem::replace(&mut self.st.opts.expand_aliases, false);
        let parsed = self.parse_inner(text.clone(), self.line_of_words(line));
        self.st.opts.expand_aliases = aliases;
        let (body, source) = match parsed {
            Ok(body) => (body, None),
            Err(e) if e.is_limit() => return Err(e),
            Err(_) => (CommandList::default(), Some(text.into())),
        };
        self.leave_nested(COST);
        let is_file_read = is_file_read(&body);
        let sub = CommandSub { body, backquoted: true, is_file_read, error: None, source, line };
        Ok(WordPart::CommandSub(Rc::new(sub)))
    }
}

/// Returns whether the body has the form of `$(< file)`.
fn is_file_read(body: &CommandList) -> bool {
    let [item] = body.items.as_slice() else { return false };
    let [stage] = item.and_or.first.stages.as_slice() else { return false };
    if item.background
        || !item.and_or.rest.is_empty()
        || item.and_or.first.negated
        || item.and_or.first.timed.is_some()
    {
        return false;
    }
    let CommandKind::Simple(simple) = &stage.command.kind else { return false };
    let [redirect] = stage.command.redirects.as_slice() else { return false };
    simple.assignments.is_empty()
        && simple.words.is_empty()
        && redirect.op == RedirectOp::Read
        && matches!(redirect.fd, RedirectFd::Default | RedirectFd::Number(0))
        && matches!(redirect.target, RedirectTarget::Word(_))
}
