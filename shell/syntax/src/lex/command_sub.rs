//! `$(...)`, backquotes, `<(...)` and `>(...)` (POSIX XCU 2.6.3; bash manual 3.5.4, 3.5.6).

use std::rc::Rc;

use super::token::{Ctx, Tk};
use super::{Machine, Res};
use crate::ast::{
    CommandKind, CommandSub, List, ProcessSub, RedirectFd, RedirectOp, RedirectTarget, Text,
    WordPart,
};
use crate::error::{Cause, ErrorKind, SyntaxError};
use crate::lex::mode::Inside;

/// A part that reports a syntax error when it is expanded; without its line if that is 0.
pub(crate) fn failing(e: &SyntaxError) -> WordPart {
    let mut e = e.clone();
    if let (0, Cause::NoClosing { text, .. }) = (e.line, &mut e.cause)
        && let Some(kept) = text.strip_suffix(b"\n")
    {
        *text = kept.into();
    }
    WordPart::CommandSub(Rc::new(CommandSub {
        body: List::default(),
        backquoted: false,
        is_file_read: false,
        line: e.line,
        error: Some(Box::new(e)),
        source: None,
        reread: false,
    }))
}

/// Marks an error as one within a substitution.
fn within(e: &mut SyntaxError) {
    match e.kind {
        ErrorKind::Conditional => e.kind = ErrorKind::Substitution,
        ErrorKind::Grammar if !e.incomplete && !e.is_limit() => e.kind = ErrorKind::Nested,
        _ => {}
    }
}

/// Nesting cost of a command in a word.
const COST: u32 = 8;

impl Machine<'_, '_> {
    /// `$(...)`, with `pos` after the parenthesis and `start` at the `$`.
    #[inline(never)]
    pub fn command_sub(&mut self, start: usize) -> Res<WordPart> {
        let line = self.line;
        let aliases = self.aliases_later();
        let mark = self.mark();
        // What stands in it stands in no here-document any more.
        let outer = self.mode;
        let lone_prefix = std::mem::take(&mut self.st.lone_prefix);
        let mut body = self.within(Inside::Commands, |m| m.sub_list(start, b"$("));
        let mut source = None;
        if outer.pattern
            && !self.opts.extglob
            && body.as_ref().is_err_and(|e| !e.incomplete && !e.is_limit())
        {
            // Here bash takes `@(a|b)` for a pattern; it reads the printed text again when it
            // runs, and then it may be an error.
            self.rewind(&mark);
            self.st.opts.extglob = true;
            body = self.within(Inside::Commands, |m| m.sub_list(start, b"$("));
            self.st.opts.extglob = false;
            if let Ok(list) = &mut body {
                let mut text = Vec::new();
                crate::print::substitution(&mut text, &std::mem::take(list));
                source = Some(text.into());
            }
        }
        self.st.opts.expand_aliases = aliases;
        let body = body?;
        // The text of a here-document is read as it stands.
        if self.lone_prefix && !outer.heredoc {
            source = source.or_else(|| self.unreadable(&body));
        }
        self.st.lone_prefix |= lone_prefix;
        let is_file_read = is_file_read(&body);
        Ok(WordPart::CommandSub(Rc::new(CommandSub {
            body,
            backquoted: false,
            is_file_read,
            error: None,
            reread: source.is_some(),
            source,
            line,
        })))
    }

    /// `<(...)` or `>(...)`, with `pos` at the operator.
    #[inline(never)]
    pub fn process_sub(&mut self) -> Res<WordPart> {
        let start = self.pos;
        let op = self.peek();
        self.pos += 2;
        let read = op == Some(b'<');
        let aliases = self.aliases_later();
        let kept = self.peek() == Some(b'(');
        let lone_prefix = std::mem::take(&mut self.st.lone_prefix);
        let open = if read { b"<(" } else { b">(" };
        let body = self.within(Inside::ProcessSubstitution, |m| m.sub_list(start, open));
        self.st.opts.expand_aliases = aliases;
        let body = body?;
        let source = match self.lone_prefix && !kept {
            true => self.unreadable(&body),
            false => None,
        };
        self.st.lone_prefix |= lone_prefix;
        Ok(WordPart::ProcessSub(Rc::new(ProcessSub { read, body, source })))
    }

    /// Whether the `<` or `>` at `pos`, within braces or brackets, begins one.
    pub fn has_process_sub(&mut self) -> bool {
        self.peek_at(1) == Some(b'(') && !self.mode.heredoc && !self.mode.arith
    }

    /// The same where it is text: it must parse, and is spelled as bash prints it.
    pub fn process_text(&mut self) -> Res<Box<[u8]>> {
        let start = self.pos;
        self.process_sub()?;
        Ok(self.raw_from(start))
    }

    /// The text of a list with a lone `!` or `time`, as bash prints it to read it again when it
    /// runs, if that is an error then: of `$(! ` newline `)` there is left `$(! )`.
    fn unreadable(&self, body: &List) -> Option<Text> {
        if self.trial {
            return None;
        }
        let mut text = b"$(".to_vec();
        crate::print::substitution_as_run(&mut text, body);
        text.push(b')');
        let mut inner = self.inner(text, self.line);
        inner.st.mode.heredoc = false;
        inner.st.trial = true;
        inner.begin_word();
        let read = inner.dollar(false);
        let text = inner.st.src.get(2..inner.st.src.len() - 1)?;
        read.is_err_and(|e| !e.is_limit()).then(|| text.into())
    }

    /// Bash expands aliases in a substitution when it runs; in POSIX mode now. Gives what to put
    /// back behind it.
    fn aliases_later(&mut self) -> bool {
        let aliases = self.opts.expand_aliases;
        self.st.opts.expand_aliases &= self.opts.posix;
        aliases
    }

    /// The list up to the closing parenthesis, which is used up. The whole is spelled anew from
    /// `start` on, after `open`; bash keeps the spelling of `<((`.
    fn sub_list(&mut self, start: usize, open: &[u8]) -> Res<List> {
        let kept = open != b"$(" && self.peek() == Some(b'(');
        self.enter(COST)?;
        self.subs += 1;
        let outer_depth = std::mem::replace(&mut self.st.sub_depth, self.st.depth);
        let docs = self.docs.begin();
        // Lines inside belong to the here-documents inside.
        let outer = self.docs.enter();
        let mut body = self.compound_list(true).map_err(|mut e| {
            within(&mut e);
            e
        })?;
        if self.next_kind(Ctx::RESERVED)? != Tk::RParen {
            let mut e = self.unexpected();
            within(&mut e);
            return Err(e);
        }
        self.skip_token();
        self.close_docs(docs, &mut body);
        if !kept {
            let mut text = open.to_vec();
            match self.mode.function_in_sub {
                true => crate::print::nested_substitution(&mut text, &body),
                false if self.opts.posix => crate::print::substitution_posix(&mut text, &body),
                false => crate::print::substitution(&mut text, &body),
            }
            text.push(b')');
            self.edit_from(start, text);
        }
        self.docs.base = outer;
        self.subs -= 1;
        self.st.sub_depth = outer_depth;
        self.leave(COST);
        Ok(body)
    }

    /// A backquoted command, with `pos` at the opening backquote. `quoted`: within double quotes,
    /// where `\"` loses its backslash, too.
    #[inline(never)]
    pub fn backquoted(&mut self, quoted: bool) -> Res<WordPart> {
        let line = self.line;
        self.pos += 1;
        let mut text = Vec::new();
        loop {
            let run = memchr::memchr3(b'`', b'\\', b'\n', self.rest()).unwrap_or(self.rest().len());
            if run > 0 {
                text.extend_from_slice(self.rest().get(..run).unwrap_or_default());
                self.pos += run;
            }
            match self.peek() {
                None => return Err(self.unclosed(b'`', line)),
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
        self.enter(COST)?;
        // Aliases are expanded when it runs.
        let aliases = std::mem::replace(&mut self.st.opts.expand_aliases, false);
        let parsed = self.parse_inner(text.clone(), line);
        self.st.opts.expand_aliases = aliases;
        let (body, source) = match parsed {
            Ok(body) => (body, None),
            Err(e) if e.is_limit() => return Err(e),
            Err(_) => (List::default(), Some(text.into())),
        };
        self.leave(COST);
        let is_file_read = is_file_read(&body);
        // Bash looks there for the name of a file to read, in the shell itself.
        let reread = source.as_deref().is_some_and(begins_with_input);
        let sub =
            CommandSub { body, backquoted: true, is_file_read, error: None, source, reread, line };
        Ok(WordPart::CommandSub(Rc::new(sub)))
    }
}

/// Whether a text begins with `<` of its own.
fn begins_with_input(text: &[u8]) -> bool {
    let behind = text.trim_ascii_start().strip_prefix(b"<");
    behind.is_some_and(|text| !matches!(text.first(), Some(b'<' | b'>' | b'&')))
}

/// `$(< file)`
fn is_file_read(body: &List) -> bool {
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
