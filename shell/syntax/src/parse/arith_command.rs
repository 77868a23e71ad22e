//! `(( expr ))` (bash manual 3.2.5.2).

use crate::ast::{ArithText, CommandKind, Word};
use crate::lex::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Parses the expression of `((...))`, with the first parenthesis read ahead and `pos` at the
    /// second. If these are nested subshells, consumes nothing and returns `false`.
    #[inline(never)]
    pub fn arith_command(&mut self, out: &mut CommandKind) -> Res<bool> {
        let look = self.st.look.take();
        let line = self.line;
        let at = self.pos;
        self.pos += 1;
        // `skip_double_paren` remembers the place if this is not arithmetic.
        let Some((start, end)) = self.skip_double_paren()? else {
            self.pos = at;
            self.st.look = look;
            return Ok(false);
        };
        *out = CommandKind::Arith(self.arith_slice(start, end, line)?);
        Ok(true)
    }

    /// Parses the expression in `src[start..end]`, which has been skipped already and began at
    /// `line`.
    pub fn arith_slice(&mut self, start: usize, end: usize, line: u32) -> Res<ArithText> {
        let text = self.src.get(start..end).unwrap_or_default();
        if text.iter().all(|b| matches!(b, b' ' | b'\t' | b'\n')) {
            return Ok(ArithText {
                word: Word { parts: Vec::new(), raw: text.into() },
                expr: None,
            });
        }
        let text = text.to_vec();
        self.parse_arith_inner(text, line)
    }
}
