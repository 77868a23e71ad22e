//! `coproc` (bash manual 3.2.6).

use std::rc::Rc;

use super::command::empty_command;
use crate::ast::{Command, CommandKind, Coproc, Text};
use crate::lex::token::{Lexeme, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses `coproc [NAME] command`, with the `coproc` read ahead. Only a compound command takes
    /// a name.
    #[inline(never)]
    pub fn parse_coproc(&mut self, out: &mut Command) -> Res<()> {
        let line = self.look.as_ref().map_or(self.line, |t| t.line);
        out.line = self.first_command_line(line);
        self.skip_token();
        let mut body = empty_command();
        let name = self.coproc_body(&mut body)?;
        out.kind = CommandKind::Coproc(Coproc { name, body: Rc::from(body) });
        Ok(())
    }

    /// Parses the rest after the `coproc` and returns the name.
    #[inline(never)]
    fn coproc_body(&mut self, body: &mut Command) -> Res<Option<Text>> {
        let kind = self.next_kind(TokenContext::COMMAND)?;
        if Self::starts_compound(kind) {
            self.parse_compound(body)?;
            return Ok(None);
        }
        if kind != Tk::Word {
            if matches!(kind, Tk::Kw(_)) || !super::list::starts_command(kind) {
                return Err(self.unexpected_token_error());
            }
            self.simple_command(body)?;
            return Ok(None);
        }
        // A word is the name if a compound command follows it.
        let word = self.take_token();
        let next = self.next_kind(TokenContext::COMMAND)?;
        if Self::starts_compound(next)
            && let Lexeme::Word(name) = word.lexeme
        {
            self.parse_compound(body)?;
            return Ok(Some(name.raw));
        }
        if matches!(next, Tk::Kw(_)) {
            self.reserved_as_word();
        }
        self.simple_command_after(word, body)?;
        Ok(None)
    }
}
