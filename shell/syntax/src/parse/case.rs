//! `case` (POSIX XCU 2.9.4.3; bash manual 3.2.5.2).

use crate::ast::{Case, CaseArm, CaseEnd, CommandKind, Word};
use crate::lex::token::{Ctx, Kw, Tk};
use crate::lex::{Machine, Res};

impl Machine<'_, '_> {
    /// `case ... esac`, the `case` read ahead.
    #[inline(never)]
    pub fn case_command(&mut self, out: &mut CommandKind) -> Res<()> {
        self.skip_token();
        let subject = self.expect_word(Ctx::ARG)?;
        self.skip_newlines(Ctx::RESERVED)?;
        self.expect_kw(Kw::In)?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines(Ctx::RESERVED)?;
            if self.next_kind(Ctx::RESERVED)? == Tk::Kw(Kw::Esac) {
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
        *out = CommandKind::Case(Case { subject, arms });
        Ok(())
    }

    /// One arm, its first token read ahead; whether `;;`, `;&` or `;;&` ended it.
    #[inline(never)]
    fn case_arm(&mut self) -> Res<(CaseArm, bool)> {
        let patterns = self.case_patterns()?;
        let body = self.compound_list(true)?;
        let (end, ended) = match self.next_kind(Ctx::RESERVED)? {
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

    /// `[(] pattern | pattern )`, the first token read ahead.
    #[inline(never)]
    fn case_patterns(&mut self) -> Res<Vec<Word>> {
        if self.next_kind(Ctx::RESERVED)? == Tk::LParen {
            self.skip_token();
            // `esac` after the parenthesis is a pattern.
            self.next_kind(Ctx::ARG)?;
        }
        let mut patterns = Vec::new();
        loop {
            if matches!(self.next_kind(Ctx::ARG)?, Tk::Kw(_)) {
                self.reserved_as_word();
            }
            patterns.push(self.expect_word(Ctx::ARG)?);
            match self.next_kind(Ctx::ARG)? {
                Tk::Pipe => self.skip_token(),
                Tk::RParen => {
                    self.skip_token();
                    break;
                }
                _ => return Err(self.unexpected()),
            }
        }
        Ok(patterns)
    }
}
