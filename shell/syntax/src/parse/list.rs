//! Lists (POSIX XCU 2.9.3; bash manual 3.2.4).

use super::simple::is_redirect;
use crate::ast::{AndOr, CommandList, Connector, ListItem};
use crate::lex::token::{Kw, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses one complete command, up to and including its newline; `None` at the end of input.
    pub fn complete_command(&mut self) -> Res<Option<CommandList>> {
        self.st.started = false;
        self.st.not_arith.clear();
        // Skips empty lines and comments.
        loop {
            match self.next_kind(TokenContext::COMMAND)? {
                Tk::Eof => {
                    self.skip_token();
                    return Ok(None);
                }
                Tk::Newline => self.skip_token(),
                _ => break,
            }
        }
        self.st.started = true;
        let mut list = CommandList::default();
        loop {
            let and_or = self.and_or()?;
            let mut item = ListItem { and_or, background: false, newline: false };
            let kind = self.next_kind(TokenContext::RESERVED)?;
            if matches!(kind, Tk::Semi | Tk::Amp) {
                self.skip_token();
                item.background = kind == Tk::Amp;
            }
            list.items.push(item);
            match kind {
                Tk::Newline | Tk::Eof => break,
                Tk::Semi | Tk::Amp => match self.next_kind(TokenContext::COMMAND)? {
                    Tk::Newline | Tk::Eof => break,
                    _ => {}
                },
                _ => return Err(self.unexpected_behind_docs()),
            }
        }
        self.skip_token();
        self.st.docs.clear_all();
        Ok(Some(list))
    }

    /// Parses the list inside a compound command, up to a token that cannot start a command. The
    /// caller checks that token, which stays read ahead. An empty list is an error unless
    /// `may_be_empty`.
    pub fn compound_list(&mut self, may_be_empty: bool) -> Res<CommandList> {
        let outer = self.set_line_of_words(None);
        let list = self.commands_of_list()?;
        self.set_line_of_words(outer);
        if list.items.is_empty() && !may_be_empty {
            return Err(self.unexpected_token_error());
        }
        Ok(list)
    }

    fn commands_of_list(&mut self) -> Res<CommandList> {
        let mut list = CommandList::default();
        loop {
            self.skip_newlines(TokenContext::COMMAND)?;
            let kind = self.next_kind(TokenContext::COMMAND)?;
            if !starts_command(kind) {
                break;
            }
            let and_or = self.and_or()?;
            let mut item = ListItem { and_or, background: false, newline: false };
            let kind = self.next_kind(TokenContext::RESERVED)?;
            if matches!(kind, Tk::Semi | Tk::Amp | Tk::Newline) {
                self.skip_token();
                item.background = kind == Tk::Amp;
                item.newline = kind == Tk::Newline;
                list.items.push(item);
            } else {
                list.items.push(item);
                return Ok(list);
            }
        }
        Ok(list)
    }

    /// Parses pipelines joined by `&&` and `||`, with the first token read ahead.
    fn and_or(&mut self) -> Res<AndOr> {
        let first = self.parse_pipeline()?;
        let mut rest = Vec::new();
        loop {
            let connector = match self.next_kind(TokenContext::RESERVED)? {
                Tk::AndAnd => Connector::And,
                Tk::OrOr => Connector::Or,
                _ => return Ok(AndOr { first, rest }),
            };
            self.skip_token();
            self.skip_newlines(TokenContext::COMMAND)?;
            rest.push((connector, self.parse_pipeline()?));
        }
    }
}

/// Returns whether a command, or a pipeline's `!` or `time`, may start with `kind`.
pub(super) fn starts_command(kind: Tk) -> bool {
    match kind {
        Tk::Word | Tk::LParen => true,
        kind if is_redirect(kind) => true,
        Tk::Kw(kw) => !matches!(
            kw,
            Kw::Do | Kw::Done | Kw::Elif | Kw::Else | Kw::Esac | Kw::Fi | Kw::Then | Kw::RBrace
        ),
        _ => false,
    }
}
