//! Redirections (POSIX XCU 2.7; bash manual 3.6).

use super::simple::is_redirect;
use crate::ast::{Redirect, RedirectFd, RedirectOp, RedirectTarget};
use crate::lex::token::{Ctx, Lexeme, Tk};
use crate::lex::{Machine, Res};

impl Machine<'_, '_> {
    /// The redirections after a compound command. An assignment right behind it is an error,
    /// but is read as one.
    pub fn redirects(&mut self, out: &mut Vec<Redirect>) -> Res<()> {
        self.next_kind(Ctx::RESERVED.with(Ctx::ASSIGN))?;
        while is_redirect(self.next_kind(Ctx::RESERVED)?) {
            self.redirect(out)?;
        }
        Ok(())
    }

    /// A redirection whose first token is read ahead.
    #[inline(never)]
    pub fn redirect(&mut self, out: &mut Vec<Redirect>) -> Res<()> {
        let token = self.take();
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
        let copies = matches!(kind, Tk::LessAmp | Tk::GreatAmp);
        let word = self.expect_word(if copies { Ctx::COPIED } else { Ctx::ARG })?;
        let target = if op == RedirectOp::HereDoc {
            RedirectTarget::HereDoc(self.announce_doc(&word.raw, kind == Tk::LessLessDash))
        } else {
            RedirectTarget::Word(word)
        };
        out.push(Redirect { fd, op, target, line });
        Ok(())
    }

    /// The operator after a descriptor; `&>` takes none.
    fn redirect_operator(&mut self) -> Res<Tk> {
        let kind = self.next_kind(Ctx::ARG)?;
        if !is_redirect(kind)
            || matches!(kind, Tk::AmpGreat | Tk::AmpGreatGreat | Tk::IoNumber(_) | Tk::IoVar)
        {
            return Err(self.unexpected());
        }
        self.skip_token();
        Ok(kind)
    }
}
