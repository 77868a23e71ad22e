//! `(( expr ))` (bash manual 3.2.5.2).

use crate::ast::{Arith, Word};
use crate::lex::{Machine, Res};

impl Machine<'_, '_> {
    /// The expression of `((...))`, with the first parenthesis read ahead and `pos` at the second.
    /// `None`: these are nested subshells; nothing was used up.
    pub fn arith_command(&mut self) -> Res<Option<Arith>> {
        let look = self.st.look.take();
        let line = self.line;
        let at = self.pos;
        self.pos += 1;
        let Some((start, end)) = self.skip_double_paren()? else {
            self.pos = at;
            self.not_arith.insert(at);
            self.st.look = look;
            return Ok(None);
        };
        self.arith_slice(start, end, line).map(Some)
    }

    /// The expression in `src[start..end]`, which has been skipped already and began at `line`.
    pub fn arith_slice(&mut self, start: usize, end: usize, line: u32) -> Res<Arith> {
        let text = self.src.get(start..end).unwrap_or_default();
        if text.iter().all(|b| b.is_ascii_whitespace()) {
            return Ok(Arith { word: Word { parts: Vec::new(), raw: text.into() }, expr: None });
        }
        let text = text.to_vec();
        self.parse_arith_inner(text, line)
    }
}
