//! Single quotes within `"${...}"` in POSIX mode, where only the pattern of an operator has any
//! (POSIX XCU 2.6.2). bash looks for the closing brace with nested `${` taken the same way, though
//! it reads those in a pattern as unquoted once it expands them.

use super::again::MAX_AGAIN;
use super::{Machine, Mark, Res};
use crate::ast::WordPart;

/// What is open before `pos`.
enum Open {
    /// A quote, or `$[`.
    Until(u8),
    /// `${`, and whether its operator, if there has been one, takes a pattern.
    Brace { begun: usize, pattern: Option<bool> },
}

impl Machine<'_, '_> {
    /// `"${...}"` with `pos` at the brace and `start` at the `$`. Where bash finds another end than
    /// the grammar, or none, that counts; what the text up to there is then it is not asked.
    #[inline(never)]
    pub fn param_in_posix(&mut self, start: usize) -> Res<WordPart> {
        let mark = self.mark();
        let read = self.braced_param_by_grammar(start, true);
        let length = self.pos.saturating_sub(mark.pos + 1);
        let again = self.read_again < MAX_AGAIN;
        match read {
            Ok(part) if !again || self.ends_in_posix(&mark)? => return Ok(part),
            Err(e) if !again || e.is_limit() => return Err(e),
            Ok(_) => self.st.read_again += length,
            Err(_) => self.st.read_again += MAX_AGAIN / 16,
        }
        self.rewind(&mark);
        self.pos += 1;
        self.skip_posix(mark.line)?;
        Ok(super::arith_end::no_brace())
    }

    /// Whether the `${`, from `start` (its brace) to `pos`, ends there to bash, too.
    fn ends_in_posix(&mut self, start: &Mark) -> Res<bool> {
        let text = self.src.get(start.pos + 1..self.pos).unwrap_or_default();
        if !text.contains(&b'\'') {
            return Ok(true);
        }
        let text = text.to_vec();
        let length = text.len();
        self.st.read_again += length;
        let mut inner = self.inner(text, start.line);
        inner.begin_word();
        inner.st.read_again = MAX_AGAIN;
        match inner.skip_posix(start.line) {
            // What lies between the ends stands within the double quotes in any case, and to expand
            // it bash looks for the end by the grammar.
            Ok(()) => Ok(!inner.rest().iter().any(|c| b"\"$`\\".contains(c))),
            Err(e) if e.is_limit() => Err(e),
            Err(_) => Ok(false),
        }
    }

    /// From after the brace of a `${`, which stands within double quotes, to after its end.
    fn skip_posix(&mut self, line: u32) -> Res<()> {
        let mut open = vec![Open::Brace { begun: self.pos, pattern: None }];
        while let Some(inside) = open.last_mut() {
            let Some(c) = self.peek() else {
                let close = match inside {
                    Open::Until(close) => *close,
                    Open::Brace { .. } => b'}',
                };
                return Err(self.unclosed(close, line));
            };
            if let Open::Brace { begun, pattern } = inside
                && pattern.is_none()
                && b"#%^,/~:-=?+".contains(&c)
            {
                *pattern = Some(self.pos > *begun && b"#%^,/".contains(&c));
            }
            let (quotes, close) = match inside {
                Open::Until(close) => (false, *close),
                Open::Brace { pattern, .. } => (*pattern == Some(true), b'}'),
            };
            // Nothing but a backslash counts there.
            let in_backquotes = close == b'`';
            match (c, self.peek_at(1)) {
                (b'$', Some(b'(')) if !in_backquotes => {
                    self.dollar(true)?;
                    continue;
                }
                (b'\\', Some(next)) => {
                    self.add_lines(u32::from(next == b'\n'));
                    self.pos += 2;
                    continue;
                }
                (b'$', Some(b'{')) if !in_backquotes => {
                    self.pos += 2;
                    open.push(Open::Brace { begun: self.pos, pattern: None });
                    continue;
                }
                (b'$', Some(b'$')) => {
                    self.pos += 2;
                    continue;
                }
                (b'$', Some(b'\'')) if quotes => {
                    self.ansi_quoted()?;
                    continue;
                }
                (b'$', Some(b'[')) if !in_backquotes => {
                    self.pos += 2;
                    open.push(Open::Until(b']'));
                    continue;
                }
                _ => self.pos += 1,
            }
            match c {
                _ if c == close => drop(open.pop()),
                b'\n' => self.add_lines(1),
                b'\'' if quotes => {
                    let Some(end) = self.find_single_quote(self.pos) else {
                        return Err(self.unclosed(b'\'', self.line));
                    };
                    self.advance_to(end + 1);
                }
                b'"' | b'`' if !in_backquotes => open.push(Open::Until(c)),
                _ => {}
            }
        }
        Ok(())
    }
}
