//! Groups in parentheses: those of extended patterns and of regular expressions.

use super::table::{BREAK, QUOTE, is};
use super::word::WordBuilder;
use super::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// `( ... )` as text of an extglob or regular expression, expansions and quotes inside it
    /// parsed; blanks and operators are ordinary in it.
    #[inline(never)]
    pub fn paren_group(&mut self, b: &mut WordBuilder) -> Res<()> {
        let line = self.line;
        let mut depth = 0usize;
        loop {
            b.literal(self.run(|c| is(c, BREAK | QUOTE)));
            let Some(c) = self.peek() else { return Err(self.unclosed(b')', line)) };
            match c {
                b'(' => depth += 1,
                b')' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        b.literal(b")");
                        self.pos += 1;
                        return Ok(());
                    }
                }
                b'\n' => self.add_lines(1),
                _ if is(c, QUOTE) => {
                    self.quoting(b, c)?;
                    continue;
                }
                _ if !is(c, BREAK) => continue,
                _ => {}
            }
            b.literal(&[c]);
            self.pos += 1;
        }
    }
}
