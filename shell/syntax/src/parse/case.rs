//! `case` (POSIX XCU 2.9.4.3; bash manual 3.2.5.2).

use crate::ast::{CaseArm, CaseCommand, CaseEnd, CommandKind, Word};
use crate::lex::token::{Kw, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses `case ... esac`, with the `case` read ahead.
    #[inline(never)]
    pub fn case_command(&mut self, out: &mut CommandKind) -> Res<()> {
        self.skip_token();
        let subject = self.expect_word(TokenContext::ARG)?;
        self.skip_newlines(TokenContext::RESERVED)?;
        self.expect_kw(Kw::In)?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines(TokenContext::RESERVED)?;
            if self.next_kind(TokenContext::RESERVED)? == Tk::Kw(Kw::Esac) {
                self.skip_token();
                break;
            }
            let (arm, ended) = self.case_arm()?;
            arms.push(arm);
            if !ended {
                // Without `;;` only `esac` may follow.
                self.expect_kw(Kw::Esac)?;
                break;
            }
        }
        *out = CommandKind::Case(CaseCommand { subject, arms });
        Ok(())
    }

    /// Parses one arm, with its first token read ahead, and returns whether `;;`, `;&` or `;;&`
    /// ended it.
    #[inline(never)]
    fn case_arm(&mut self) -> Res<(CaseArm, bool)> {
        let patterns = self.case_patterns()?;
        let body = self.compound_list(true)?;
        let (end, ended) = match self.next_kind(TokenContext::RESERVED)? {
            Tk::SemiSemi => (CaseEnd::Break, true),
            Tk::SemiAmp => (CaseEnd::FallThrough, true),
            Tk::SemiSemiAmp => (CaseEnd::Continue, true),
            _ => (CaseEnd::Break, false),
        };
        if ended {
            self.skip_token();
        }
        Ok((CaseArm { patterns, body, end }, ended))
    }

    /// Parses `[(] pattern | pattern )`, with the first token read ahead.
    #[inline(never)]
    fn case_patterns(&mut self) -> Res<Vec<Word>> {
        if self.next_kind(TokenContext::RESERVED)? == Tk::LParen {
            self.skip_token();
            // `esac` after the parenthesis is a pattern.
            self.next_kind(TokenContext::ARG)?;
        }
        let mut patterns = Vec::new();
        loop {
            if matches!(self.next_kind(TokenContext::ARG)?, Tk::Kw(_)) {
                self.reserved_as_word();
            }
            patterns.push(self.expect_word(TokenContext::ARG)?);
            match self.next_kind(TokenContext::ARG)? {
                Tk::Pipe => self.skip_token(),
                Tk::RParen => {
                    self.skip_token();
                    break;
                }
                _ => return Err(self.unexpected_token_error()),
            }
        }
        Ok(patterns)
    }
}
