//! Lexes groups in parentheses, as extended patterns and regular expressions have them.

use super::table::{BREAK, QUOTE, has_class};
use super::word::WordBuilder;
use super::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Lexes `( ... )` as a part of an extended pattern or a regular expression. Expansions and
    /// quotes inside are parsed; blanks and operators are ordinary characters there.
    #[inline(never)]
    pub fn paren_group(&mut self, b: &mut WordBuilder) -> Res<()> {
        let line = self.line;
        let mut depth = 0usize;
        loop {
            b.push_literal(self.run(|c| has_class(c, BREAK | QUOTE)));
            let Some(c) = self.peek_byte() else { return Err(self.unclosed_error(b')', line)) };
            match c {
                b'(' => depth += 1,
                b')' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        b.push_literal(b")");
                        self.pos += 1;
                        return Ok(());
                    }
                }
                b'\n' => self.add_lines(1),
                _ if has_class(c, QUOTE) => {
                    self.lex_quoting(b, c)?;
                    continue;
                }
                _ if !has_class(c, BREAK) => continue,
                _ => {}
            }
            b.push_literal(&[c]);
            self.pos += 1;
        }
    }
}
