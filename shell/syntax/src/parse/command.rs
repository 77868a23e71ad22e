//! Commands: choosing the construct by the first token, and the redirections after a compound
//! command.

use crate::ast::{Command, CommandKind, SimpleCommand, Word, WordPart};
use crate::lex::token::{Kw, Lexeme, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

/// Nesting cost of a compound command.
const COST: u32 = 5;

impl CommandParser<'_, '_> {
    /// Parses a command whose first token is read ahead. Commands are written to a reference rather
    /// than returned, because they are big, and returning them would put many on the stack at once.
    pub fn parse_command(&mut self, out: &mut Command) -> Res<()> {
        match self.next_kind(TokenContext::COMMAND)? {
            Tk::Kw(Kw::Function) => self.function_keyword(out),
            Tk::Kw(Kw::Coproc) => self.parse_coproc(out),
            Tk::LParen | Tk::Kw(_) => self.parse_compound(out),
            _ => self.simple_command(out),
        }
    }

    /// Parses a compound command with its redirections; its first token is read ahead.
    #[inline(never)]
    pub fn parse_compound(&mut self, out: &mut Command) -> Res<()> {
        self.enter_nested(COST)?;
        let line = self.look.as_ref().map_or(self.line, |t| t.line);
        out.line = self.first_command_line(line);
        let outer = self.set_line_of_words(Some(out.line));
        let kind = &mut out.kind;
        match self.next_kind(TokenContext::COMMAND)? {
            Tk::LParen => self.parse_paren(kind)?,
            Tk::Kw(kw) => match kw {
                Kw::LBrace => self.brace_group(kind)?,
                Kw::If => self.if_command(kind)?,
                Kw::While => self.while_command(false, kind)?,
                Kw::Until => self.while_command(true, kind)?,
                Kw::For => self.for_command(kind)?,
                Kw::Select => self.select_command(kind)?,
                Kw::Case => self.case_command(kind)?,
                Kw::LCond => self.cond_command(kind)?,
                _ => return Err(self.unexpected_token_error()),
            },
            _ => return Err(self.unexpected_token_error()),
        }
        if matches!(out.kind, CommandKind::Arith(_) | CommandKind::Cond(_)) {
            // As in bash, the line is that of the command's end, because bash reads all its lines
            // before it creates the command.
            out.line = self.command_line(self.line);
        }
        self.leave_nested(COST);
        self.parse_redirects(&mut out.redirects)?;
        self.set_line_of_words(outer);
        Ok(())
    }

    /// Returns whether a compound command may start with `kind`.
    pub fn starts_compound(kind: Tk) -> bool {
        matches!(
            kind,
            Tk::LParen
                | Tk::Kw(
                    Kw::LBrace
                        | Kw::If
                        | Kw::While
                        | Kw::Until
                        | Kw::For
                        | Kw::Select
                        | Kw::Case
                        | Kw::LCond
                )
        )
    }

    /// Turns the reserved word read ahead into an ordinary word.
    pub fn reserved_as_word(&mut self) {
        let Some(t) = &self.st.look else { return };
        let text = self.raw_spelling(t.start, t.end);
        let word = Word { parts: vec![WordPart::Literal(text.to_vec().into())], raw: text };
        if let Some(t) = &mut self.st.look {
            t.kind = Tk::Word;
            t.lexeme = Lexeme::Word(word);
        }
    }

    /// Returns whether the next token is a word spelled `text`.
    pub fn next_is_text(&mut self, text: &[u8]) -> Res<bool> {
        if self.next_kind(TokenContext::COMMAND)? != Tk::Word {
            return Ok(false);
        }
        Ok(matches!(&self.look, Some(t) if matches!(&t.lexeme, Lexeme::Word(w) if *w.raw == *text)))
    }

    /// Returns the next token, which has to be a word, read in context `ctx`; reserved words, if
    /// the context recognises them, are unexpected.
    pub fn expect_word(&mut self, ctx: TokenContext) -> Res<Word> {
        if self.next_kind(ctx)? != Tk::Word {
            return Err(self.unexpected_token_error());
        }
        match self.take_token().lexeme {
            Lexeme::Word(w) => Ok(w),
            Lexeme::Assign(a) => Ok(assignment_word(*a)),
            _ => Ok(Word::default()),
        }
    }
}

/// Returns a command to be filled in.
#[inline(never)]
pub(super) fn empty_command() -> Box<Command> {
    Box::new(Command {
        kind: CommandKind::Simple(SimpleCommand::default()),
        redirects: Vec::new(),
        line: 0,
    })
}

/// Returns an assignment as a word, for a place where only a word is allowed.
pub(super) fn assignment_word(a: crate::ast::Assignment) -> Word {
    Word { parts: vec![WordPart::Literal(a.raw.to_vec().into())], raw: a.raw }
}
