//! `if` (POSIX XCU 2.9.4.4).

use crate::ast::{CommandKind, If};
use crate::lex::token::{Kw, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses `if ... fi`, with the `if` read ahead.
    #[inline(never)]
    pub fn if_command(&mut self, out: &mut CommandKind) -> Res<()> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            // `if` or `elif`
            self.skip_token();
            let condition = self.compound_list(false)?;
            self.expect_kw(Kw::Then)?;
            let body = self.compound_list(false)?;
            branches.push((condition, body));
            match self.next_kind(TokenContext::RESERVED)? {
                Tk::Kw(Kw::Elif) => continue,
                Tk::Kw(Kw::Else) => {
                    self.skip_token();
                    otherwise = Some(self.compound_list(false)?);
                }
                _ => {}
            }
            self.expect_kw(Kw::Fi)?;
            *out = CommandKind::If(If { branches, otherwise });
            return Ok(());
        }
    }
}
