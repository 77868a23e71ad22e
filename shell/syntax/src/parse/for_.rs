//! `for`, `for ((...))` and `select` (POSIX XCU 2.9.4.2; bash manual 3.2.5.1, 3.2.5.2).

use crate::ast::{ArithFor, ArithText, CommandKind, CommandList, For, Text, Word};
use crate::error::{SyntaxCause, SyntaxError};
use crate::lex::token::{Kw, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses `for ...`, with the `for` read ahead.
    #[inline(never)]
    pub fn for_command(&mut self, out: &mut CommandKind) -> Res<()> {
        self.skip_token();
        if self.next_kind(TokenContext::ARG)? == Tk::LParen && self.peek_byte() == Some(b'(') {
            return self.arith_for(out);
        }
        *out = CommandKind::For(self.for_words()?);
        Ok(())
    }

    /// Parses `select ...`, with the `select` read ahead.
    #[inline(never)]
    pub fn select_command(&mut self, out: &mut CommandKind) -> Res<()> {
        self.skip_token();
        *out = CommandKind::Select(self.for_words()?);
        Ok(())
    }

    /// Parses `name [in words] ; do list done`. The name is checked when the loop runs, as in bash.
    #[inline(never)]
    fn for_words(&mut self) -> Res<For> {
        let (name, words) = self.for_head()?;
        let body = self.loop_body()?;
        Ok(For { name, words, body })
    }

    #[inline(never)]
    fn for_head(&mut self) -> Res<(Text, Option<Vec<Word>>)> {
        let name = self.expect_word(TokenContext::ARG)?.raw;
        let mut words = None;
        if self.next_kind(TokenContext::RESERVED)? == Tk::Semi {
            self.skip_token();
            self.skip_newlines(TokenContext::RESERVED.with_both(TokenContext::ALIAS))?;
        } else {
            if self.next_kind(TokenContext::RESERVED)? == Tk::Kw(Kw::LBrace) {
                return Err(self.unexpected_token_error());
            }
            self.skip_newlines(TokenContext::RESERVED)?;
            if self.next_kind(TokenContext::RESERVED)? == Tk::Kw(Kw::In) {
                self.skip_token();
                let mut list = Vec::new();
                while self.next_kind(TokenContext::ARG)? == Tk::Word {
                    list.push(self.expect_word(TokenContext::ARG)?);
                }
                words = Some(list);
                if !matches!(self.next_kind(TokenContext::ARG)?, Tk::Semi | Tk::Newline) {
                    return Err(self.unexpected_token_error());
                }
                self.skip_token();
                self.skip_newlines(TokenContext::RESERVED.with_both(TokenContext::ALIAS))?;
            }
        }
        Ok((name, words))
    }

    /// Parses `do list done` or `{ list; }`.
    fn loop_body(&mut self) -> Res<CommandList> {
        if self.next_kind(TokenContext::RESERVED.with_both(TokenContext::ALIAS))?
            == Tk::Kw(Kw::LBrace)
        {
            return self.brace_body();
        }
        self.do_group()
    }

    /// Parses `((init; cond; step))` with the first parenthesis read ahead.
    #[inline(never)]
    fn arith_for(&mut self, out: &mut CommandKind) -> Res<()> {
        self.arith_for_head(out)?;
        let body = self.loop_body()?;
        if let CommandKind::ArithFor(f) = out {
            f.body = body;
        }
        Ok(())
    }

    /// Parses the head `((init; cond; step))`.
    #[inline(never)]
    fn arith_for_head(&mut self, out: &mut CommandKind) -> Res<()> {
        let line = self.line;
        self.skip_token();
        self.pos += 1;
        let Some((start, end)) = self.skip_double_paren()? else {
            return Err(self.make_error(line, SyntaxCause::OpenFor));
        };
        let Some([init, condition, step]) = self.split_semicolons(start, end) else {
            return Err(self.arith_for_error(line, start, end));
        };
        let init = self.for_part(init, line)?;
        let condition = self.for_part(condition, line)?;
        let step = self.for_part(step, line)?;
        if self.next_kind(TokenContext::RESERVED.with_both(TokenContext::ALIAS))? == Tk::Semi {
            self.skip_token();
        }
        self.skip_newlines(TokenContext::RESERVED.with_both(TokenContext::ALIAS))?;
        *out =
            CommandKind::ArithFor(ArithFor { init, condition, step, body: CommandList::default() });
        Ok(())
    }

    fn for_part(&mut self, (start, end): (usize, usize), line: u32) -> Res<Option<ArithText>> {
        let text = self.src.get(start..end).unwrap_or_default();
        if text.iter().all(|b| matches!(b, b' ' | b'\t')) {
            // Traces and traps also show this value for an empty part.
            let word = crate::lex::assign::quoted_word(b"1");
            return Ok(Some(crate::arith::from_word(word)));
        }
        // bash removes the blanks before each part.
        let lead = text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        self.arith_slice(start + lead, end, line).map(Some)
    }

    /// Splits `src[start..end]` into exactly three parts, at semicolons outside parentheses and
    /// quotes.
    fn split_semicolons(&self, start: usize, end: usize) -> Option<[(usize, usize); 3]> {
        let mut cuts = Vec::new();
        let mut depth = 0usize;
        // The open quote: `'` or `"`, or `$` within `$'...'`.
        let mut quote = 0u8;
        let mut i = start;
        while i < end {
            match *self.src.get(i)? {
                b'\\' if quote != b'\'' => i += 1,
                b'(' if quote == 0 => depth += 1,
                b')' if quote == 0 => depth = depth.saturating_sub(1),
                b';' if quote == 0 && depth == 0 => cuts.push(i),
                b'$' if quote == 0 => {
                    while self.src.get(i + 1..i + 3) == Some(b"\\\n") {
                        i += 2;
                    }
                    if self.src.get(i + 1) == Some(&b'\'') {
                        quote = b'$';
                        i += 1;
                    }
                }
                b'\'' if quote == b'$' => quote = 0,
                c @ (b'"' | b'\'') if quote == 0 => quote = c,
                c if c == quote && c != b'$' => quote = 0,
                _ => {}
            }
            i += 1;
        }
        match cuts.as_slice() {
            &[a, b] => Some([(start, a), (a + 1, b), (b + 1, end)]),
            _ => None,
        }
    }

    #[cold]
    fn arith_for_error(&self, line: u32, start: usize, end: usize) -> Box<SyntaxError> {
        let text = self.src.get(start..end).unwrap_or_default();
        let few = text.iter().filter(|&&b| b == b';').count() < 2;
        let cause = if few { SyntaxCause::FewExpressions } else { SyntaxCause::ManyExpressions };
        let mut e = self.make_error(line, cause);
        let mut second = b"syntax error: `((".to_vec();
        second.extend_from_slice(text);
        second.extend_from_slice(b"))'");
        e.more.push((line, second.into()));
        e
    }
}
