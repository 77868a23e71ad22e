//! Simple commands (POSIX XCU 2.9.1; bash manual 3.2.2).

use super::command::assignment_word;
use crate::ast::{Command, CommandKind, CommandWord, Redirect, SimpleCommand, Text, Word};
use crate::lex::token::{Lexeme, SyntaxToken, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses a simple command, or a function definition that starts like one; its first token is
    /// read ahead.
    #[inline(never)]
    pub fn simple_command(&mut self, out: &mut Command) -> Res<()> {
        let line = self.look.as_ref().map_or(self.line, |t| t.line);
        out.line = self.first_command_line(line);
        let mut simple = SimpleCommand::default();
        let outer = self.set_line_of_words(None);
        let name = self.simple_words(
            &mut simple,
            &mut out.redirects,
            TokenContext::COMMAND,
            &mut out.line,
        )?;
        self.set_line_of_words(outer);
        if let Some(name) = name {
            return self.function_parens(name, out);
        }
        out.kind = CommandKind::Simple(simple);
        Ok(())
    }

    /// Parses a simple command whose first word is already read and names no function.
    pub fn simple_command_after(&mut self, first: SyntaxToken, out: &mut Command) -> Res<()> {
        let mut simple = SimpleCommand::default();
        out.line = self.first_command_line(first.line);
        let ctx = push_word(&mut simple, first.lexeme, TokenContext::COMMAND);
        let outer = self.set_line_of_words(None);
        self.simple_words(&mut simple, &mut out.redirects, ctx, &mut out.line)?;
        self.set_line_of_words(outer);
        out.kind = CommandKind::Simple(simple);
        Ok(())
    }

    /// Parses words, assignments and redirections up to the end of the command. If it turns out to
    /// be a function definition, returns its name, with the parenthesis read ahead.
    fn simple_words(
        &mut self,
        simple: &mut SimpleCommand,
        redirects: &mut Vec<Redirect>,
        mut ctx: TokenContext,
        line: &mut u32,
    ) -> Res<Option<Text>> {
        loop {
            let is_second = simple.words.len() + simple.assignments.len() + redirects.len() == 1;
            // For bash, the line of a command is the one where its second token ends, or its first
            // one if that is an assignment or a redirection.
            if is_second && simple.words.is_empty() {
                *line = self.command_line(self.line);
                self.set_line_of_words(Some(*line));
            }
            let kind = self.next_kind(ctx)?;
            if is_second && !simple.words.is_empty() {
                *line = match kind {
                    Tk::Newline | Tk::Eof => {
                        let end = self.look.as_ref().map_or(0, |t| t.line);
                        (*line).max(self.command_line(end))
                    }
                    _ => self.command_line(self.line),
                };
                self.set_line_of_words(Some(*line));
            }
            match kind {
                Tk::Word => ctx = push_word(simple, self.take_token().lexeme, ctx),
                Tk::LParen
                    if simple.words.len() == 1
                        && simple.assignments.is_empty()
                        && redirects.is_empty() =>
                {
                    let Some(CommandWord::Word(name)) = simple.words.pop() else {
                        return Err(self.unexpected_token_error());
                    };
                    return Ok(Some(name.raw));
                }
                kind if is_redirect(kind) => {
                    self.parse_redirect(redirects)?;
                    ctx = match ctx {
                        _ if simple.words.is_empty() => TokenContext::PREFIX,
                        TokenContext::DECL => TokenContext::DECL.with_both(TokenContext::SCALAR),
                        TokenContext::LET => TokenContext::ARG,
                        _ => ctx,
                    };
                }
                _ if simple.words.is_empty()
                    && simple.assignments.is_empty()
                    && redirects.is_empty() =>
                {
                    return Err(self.unexpected_token_error());
                }
                _ => return Ok(None),
            }
        }
    }
}

/// Adds a word read in context `ctx` and returns the context of the next one.
#[inline(never)]
pub(super) fn push_word(
    simple: &mut SimpleCommand,
    lexeme: Lexeme,
    ctx: TokenContext,
) -> TokenContext {
    // Reserves space for two words only, because words are big and commands are short.
    if simple.words.capacity() == 0 {
        simple.words.reserve_exact(2);
    }
    match lexeme {
        Lexeme::Assign(a) if simple.words.is_empty() => {
            simple.assignments.push(*a);
            return TokenContext::PREFIX;
        }
        Lexeme::Assign(a) if ctx.has_any(TokenContext::DECL) => {
            simple.words.push(CommandWord::Assignment(*a))
        }
        Lexeme::Assign(a) => simple.words.push(CommandWord::Word(assignment_word(*a))),
        Lexeme::Word(w) => {
            let next = if simple.words.is_empty() { after_name(&w) } else { ctx };
            simple.words.push(CommandWord::Word(w));
            return next;
        }
        Lexeme::None | Lexeme::Var(..) => {}
    }
    ctx
}

/// Returns the context in which the operands of the command called `name` are read.
fn after_name(name: &Word) -> TokenContext {
    match name.as_literal() {
        Some(b"alias" | b"declare" | b"typeset" | b"local" | b"export" | b"readonly") => {
            TokenContext::DECL
        }
        Some(b"let" | b"eval") => TokenContext::LET,
        _ => TokenContext::ARG,
    }
}

/// Returns whether a redirection starts with `kind`.
pub(super) fn is_redirect(kind: Tk) -> bool {
    matches!(
        kind,
        Tk::IoNumber(_)
            | Tk::IoVar
            | Tk::Less
            | Tk::Great
            | Tk::LessLess
            | Tk::LessLessDash
            | Tk::LessLessLess
            | Tk::GreatGreat
            | Tk::LessAmp
            | Tk::GreatAmp
            | Tk::LessGreat
            | Tk::GreatPipe
            | Tk::AmpGreat
            | Tk::AmpGreatGreat
    )
}
