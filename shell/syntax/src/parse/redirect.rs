//! Redirections (POSIX XCU 2.7; bash manual 3.6).

use super::simple::is_redirect;
use crate::ast::{Redirect, RedirectFd, RedirectOp, RedirectTarget, Word, WordPart};
use crate::lex::token::{Lexeme, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Reads the redirections after a compound command. A word directly after the command is read
    /// as at the beginning of a command. So an alias is expanded, as in bash, and an assignment is
    /// an unexpected token.
    pub fn parse_redirects(&mut self, out: &mut Vec<Redirect>) -> Res<()> {
        self.next_kind(TokenContext::COMMAND)?;
        while is_redirect(self.next_kind(TokenContext::RESERVED)?) {
            self.parse_redirect(out)?;
        }
        Ok(())
    }

    /// Parses a redirection whose first token is read ahead.
    #[inline(never)]
    pub fn parse_redirect(&mut self, out: &mut Vec<Redirect>) -> Res<()> {
        let token = self.take_token();
        let line = token.line;
        let (fd, kind) = match (token.kind, token.lexeme) {
            (Tk::IoNumber(n), _) => (RedirectFd::Number(n), self.redirect_operator()?),
            (Tk::IoVar, Lexeme::Var(name, subscript)) => {
                let fd = RedirectFd::Var { name, subscript: subscript.map(|s| *s) };
                (fd, self.redirect_operator()?)
            }
            (kind, _) => (RedirectFd::Default, kind),
        };
        let op = match kind {
            Tk::Less => RedirectOp::Read,
            Tk::Great => RedirectOp::Write,
            Tk::GreatPipe => RedirectOp::Clobber,
            Tk::GreatGreat => RedirectOp::Append,
            Tk::LessGreat => RedirectOp::ReadWrite,
            Tk::LessAmp => RedirectOp::DupRead,
            Tk::GreatAmp => RedirectOp::DupWrite,
            Tk::AmpGreat => RedirectOp::WriteBoth,
            Tk::AmpGreatGreat => RedirectOp::AppendBoth,
            Tk::LessLess | Tk::LessLessDash => RedirectOp::HereDoc,
            _ => RedirectOp::HereString,
        };
        let word = if !matches!(kind, Tk::LessAmp | Tk::GreatAmp) {
            self.expect_word(TokenContext::ARG)?
        } else if self.closes_descriptor() {
            self.parse_dash()
        } else {
            self.expect_word(TokenContext::COPIED)?
        };
        let target = if op == RedirectOp::HereDoc {
            RedirectTarget::HereDoc(self.announce_doc(&word.raw, kind == Tk::LessLessDash))
        } else {
            RedirectTarget::Word(word)
        };
        out.push(Redirect { fd, op, target, line });
        Ok(())
    }

    /// Moves `pos` to a `-` that is next, after any blanks, and returns whether there is one.
    fn closes_descriptor(&mut self) -> bool {
        let mut blanks = 0;
        while matches!(self.peek_at(blanks), Some(b' ' | b'\t')) {
            blanks += 1;
        }
        let closes = self.peek_at(blanks) == Some(b'-')
            || blanks == 0 && self.peek_byte() == Some(b'\\') && self.peek_joined() == Some(b'-');
        if closes {
            self.pos += blanks;
        }
        closes
    }

    /// Parses the `-` of `>&-`, which is a separate token: `>&-x` is `>&- x`.
    fn parse_dash(&mut self) -> Word {
        self.pos += 1;
        Word { parts: vec![WordPart::Literal(b"-".to_vec().into())], raw: b"-"[..].into() }
    }

    /// Parses the operator after a descriptor; `&>` takes none.
    fn redirect_operator(&mut self) -> Res<Tk> {
        let kind = self.next_kind(TokenContext::ARG)?;
        if !is_redirect(kind)
            || matches!(kind, Tk::AmpGreat | Tk::AmpGreatGreat | Tk::IoNumber(_) | Tk::IoVar)
        {
            return Err(self.unexpected_token_error());
        }
        self.skip_token();
        Ok(kind)
    }
}
