//! Function definitions (POSIX XCU 2.9.5; bash manual 3.3).

use std::rc::Rc;

use crate::ast::{Command, CommandKind, Function, Word};
use crate::lex::token::{Ctx, Tk};
use crate::lex::{Machine, Res};

impl Machine<'_, '_> {
    /// `name () body`, with the opening parenthesis read ahead.
    pub fn function_parens(&mut self, name: Word, line: u32) -> Res<Command> {
        self.skip_token();
        if self.next_kind(Ctx::ARG)? != Tk::RParen {
            return Err(self.unexpected());
        }
        self.skip_token();
        self.function_body(name, false, line)
    }

    /// `function name [()] body`, the `function` read ahead.
    pub fn function_keyword(&mut self) -> Res<Command> {
        let line = self.look.as_ref().map_or(self.line, |t| t.line);
        self.skip_token();
        let name = self.expect_word(Ctx::ARG)?;
        // `((` after the name starts an arithmetic body.
        if self.next_kind(Ctx::COMMAND)? == Tk::LParen && self.peek() != Some(b'(') {
            let mark = self.mark();
            let paren = self.take();
            if self.next_kind(Ctx::COMMAND)? == Tk::RParen {
                self.skip_token();
            } else {
                // A subshell body.
                self.rewind(&mark);
                self.st.look = Some(paren);
            }
        }
        self.function_body(name, true, line)
    }

    fn function_body(&mut self, name: Word, keyword: bool, line: u32) -> Res<Command> {
        self.skip_newlines(Ctx::COMMAND)?;
        let kind = self.next_kind(Ctx::COMMAND)?;
        if !Self::starts_compound(kind) {
            return Err(self.unexpected());
        }
        let body = self.compound()?;
        let function = Function { name: name.raw, body, keyword };
        Ok(Self::bare(CommandKind::Function(Rc::new(function)), line))
    }
}
