//! `{ list; }`, `( list )` and the choice between `((` and two subshells
//! (POSIX XCU 2.9.4.1; bash manual 3.2.5.3).

use std::rc::Rc;

use crate::ast::{CommandKind, CommandList};
use crate::lex::token::{Kw, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses `{ list; }`, with its brace read ahead.
    #[inline(never)]
    pub fn brace_group(&mut self, out: &mut CommandKind) -> Res<()> {
        *out = CommandKind::Brace(self.brace_body()?);
        Ok(())
    }

    /// Parses the list in braces, with the opening brace read ahead.
    pub fn brace_body(&mut self) -> Res<CommandList> {
        self.skip_token();
        let body = self.compound_list(false)?;
        self.expect_kw(Kw::RBrace)?;
        Ok(body)
    }

    /// Parses `( list )` or `(( expr ))`, with the parenthesis read ahead.
    #[inline(never)]
    pub fn parse_paren(&mut self, out: &mut CommandKind) -> Res<()> {
        let start = self.pos;
        if self.peek_byte() == Some(b'(')
            && !self.not_arith.contains(&start)
            && self.arith_command(out)?
        {
            return Ok(());
        }
        self.skip_token();
        let body = self.compound_list(false)?;
        if self.next_kind(TokenContext::RESERVED)? != Tk::RParen {
            return Err(self.unexpected_token_error());
        }
        self.skip_token();
        *out = CommandKind::Subshell(Rc::new(body));
        Ok(())
    }
}
