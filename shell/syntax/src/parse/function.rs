//! Function definitions (POSIX XCU 2.9.5; bash manual 3.3).

use std::rc::Rc;

use super::command::empty_command;
use crate::ast::{Command, CommandKind, FunctionCommand, Text};
use crate::lex::token::{Tk, TokenContext};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses `name () body`, with the opening parenthesis read ahead.
    #[inline(never)]
    pub fn function_parens(&mut self, name: Text, out: &mut Command) -> Res<()> {
        self.skip_token();
        if self.next_kind(TokenContext::ARG)? != Tk::RParen {
            return Err(self.unexpected_token_error());
        }
        self.skip_token();
        self.function_body(name, false, out)
    }

    /// Parses `function name [()] body`, with the `function` read ahead.
    #[inline(never)]
    pub fn function_keyword(&mut self, out: &mut Command) -> Res<()> {
        let line = self.look.as_ref().map_or(self.line, |t| t.line);
        out.line = self.first_command_line(line);
        self.skip_token();
        let name = self.expect_word(TokenContext::ARG)?.raw;
        // `((` after the name starts an arithmetic body.
        if self.next_kind(TokenContext::COMMAND)? == Tk::LParen && self.peek_byte() != Some(b'(') {
            let mark = self.mark_place();
            let paren = self.take_token();
            if self.next_kind(TokenContext::COMMAND)? == Tk::RParen {
                self.skip_token();
            } else {
                // The parenthesis begins a body that is a subshell.
                self.rewind_to(&mark);
                self.st.look = Some(paren);
            }
        }
        self.function_body(name, true, out)
    }

    #[inline(never)]
    fn function_body(&mut self, name: Text, keyword: bool, out: &mut Command) -> Res<()> {
        self.skip_newlines(TokenContext::COMMAND)?;
        let kind = self.next_kind(TokenContext::COMMAND)?;
        if !Self::starts_compound(kind) {
            return Err(self.unexpected_token_error());
        }
        let mut body = empty_command();
        self.parse_compound(&mut body)?;
        out.kind = CommandKind::Function(Rc::new(FunctionCommand { name, body: *body, keyword }));
        Ok(())
    }
}
