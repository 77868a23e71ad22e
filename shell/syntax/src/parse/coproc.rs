//! `coproc` (bash manual 3.2.6).

use std::rc::Rc;

use crate::ast::{Command, CommandKind, Coproc};
use crate::lex::token::{Ctx, Lexeme, Tk};
use crate::lex::{Machine, Res};

impl Machine<'_, '_> {
    /// `coproc [NAME] command`, the `coproc` read ahead. Only a compound command takes a name.
    pub fn coproc(&mut self) -> Res<Command> {
        let line = self.look.as_ref().map_or(self.line, |t| t.line);
        self.skip_token();
        let kind = self.next_kind(Ctx::COMMAND)?;
        if Self::starts_compound(kind) {
            let body = self.compound()?;
            return Ok(Self::coproc_node(None, body, line));
        }
        if kind != Tk::Word {
            if matches!(kind, Tk::Kw(_)) || !super::list::starts_command(kind) {
                return Err(self.unexpected());
            }
            let body = self.simple_command()?;
            return Ok(Self::coproc_node(None, body, line));
        }
        // A word: a name if a compound command follows it.
        let word = self.take();
        let next = self.next_kind(Ctx::COMMAND)?;
        if Self::starts_compound(next)
            && let Lexeme::Word(name) = &word.lexeme
        {
            let name = name.raw.clone();
            let body = self.compound()?;
            return Ok(Self::coproc_node(Some(name), body, line));
        }
        if matches!(next, Tk::Kw(_)) {
            self.reserved_as_word();
        }
        let body = self.simple_command_after(word)?;
        Ok(Self::coproc_node(None, body, line))
    }

    fn coproc_node(name: Option<Box<[u8]>>, body: Command, line: u32) -> Command {
        Self::bare(CommandKind::Coproc(Coproc { name, body: Rc::new(body) }), line)
    }
}
