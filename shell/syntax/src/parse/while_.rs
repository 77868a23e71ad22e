//! `while` and `until` (POSIX XCU 2.9.4.5, 2.9.4.6), and the `do ... done` of all loops.

use crate::ast::{CommandKind, CommandList, While};
use crate::lex::token::Kw;
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses `while ... done`, with its first word read ahead.
    #[inline(never)]
    pub fn while_command(&mut self, until: bool, out: &mut CommandKind) -> Res<()> {
        self.skip_token();
        let condition = self.compound_list(false)?;
        let body = self.do_group()?;
        *out = CommandKind::While(While { until, condition, body });
        Ok(())
    }

    /// Parses `do list done`.
    #[inline(never)]
    pub fn do_group(&mut self) -> Res<CommandList> {
        self.expect_kw(Kw::Do)?;
        let body = self.compound_list(false)?;
        self.expect_kw(Kw::Done)?;
        Ok(body)
    }
}
