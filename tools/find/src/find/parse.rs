//! Operators of the expression, by increasing precedence: `,`, `-o`, `-a`, `!`; and parentheses.

use box_applet::Ctx;

use super::expr::{FindAction, FindExpr, FindSettings, Test};
use super::primary::{self, Primaries};
use super::sinks::SinkId;

/// The maximum nesting of parentheses, which bounds the recursion of parser and evaluation.
const MAX_DEPTH: u32 = 200;

/// A message, without the `find: ` prefix.
pub type Message = Vec<u8>;

/// The words, read one after another.
pub struct WordCursor<'w> {
    list: &'w [Vec<u8>],
    at: usize,
}

impl<'w> WordCursor<'w> {
    /// Returns the next word without consuming it.
    pub fn peek(&self) -> Option<&'w [u8]> {
        self.list.get(self.at).map(Vec::as_slice)
    }

    /// Consumes and returns the next word.
    pub fn next(&mut self) -> Option<&'w [u8]> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }
}

/// Parses the expression. `-print` is added unless there is an action that makes it unnecessary.
pub fn parse(
    ctx: &mut Ctx<'_>,
    list: &[Vec<u8>],
    settings: &mut FindSettings,
) -> Result<FindExpr, Message> {
    let mut words = WordCursor { list, at: 0 };
    let mut parser = FindParser { primaries: Primaries::new(ctx, settings) };
    let expr = match words.peek() {
        None => FindExpr::Test(Test::Const(true)),
        Some(_) => parser.parse_list(&mut words, 0)?,
    };
    if words.peek().is_some() {
        return Err(b"you have too many ')'".to_vec());
    }
    let acts = parser.primaries.acts;
    if let Some(message) = primary::find_contradiction(&parser.primaries) {
        return Err(message);
    }
    Ok(if acts {
        expr
    } else {
        let print = FindExpr::Action(FindAction::Print(SinkId::Stdout, b'\n'));
        match expr {
            FindExpr::Test(Test::Const(true)) => print,
            expr => FindExpr::And(vec![expr, print]),
        }
    })
}

struct FindParser<'p, 'c> {
    primaries: Primaries<'p, 'c>,
}

impl FindParser<'_, '_> {
    fn parse_list(&mut self, words: &mut WordCursor<'_>, depth: u32) -> Result<FindExpr, Message> {
        let mut all = vec![self.parse_or(words, depth)?];
        while words.peek() == Some(b",") {
            words.next();
            require_operand(words, ",")?;
            all.push(self.parse_or(words, depth)?);
        }
        Ok(one_or(all, FindExpr::List))
    }

    fn parse_or(&mut self, words: &mut WordCursor<'_>, depth: u32) -> Result<FindExpr, Message> {
        let mut all = vec![self.parse_and(words, depth)?];
        while let Some(op @ (b"-o" | b"-or")) = words.peek() {
            words.next();
            require_operand(words, &String::from_utf8_lossy(op))?;
            all.push(self.parse_and(words, depth)?);
        }
        Ok(one_or(all, FindExpr::Or))
    }

    fn parse_and(&mut self, words: &mut WordCursor<'_>, depth: u32) -> Result<FindExpr, Message> {
        let mut all = vec![self.parse_not(words, depth)?];
        loop {
            match words.peek() {
                Some(op @ (b"-a" | b"-and")) => {
                    words.next();
                    require_operand(words, &String::from_utf8_lossy(op))?;
                }
                None | Some(b"," | b"-o" | b"-or" | b")") => break,
                Some(_) => {}
            }
            all.push(self.parse_not(words, depth)?);
        }
        Ok(one_or(all, FindExpr::And))
    }

    fn parse_not(&mut self, words: &mut WordCursor<'_>, depth: u32) -> Result<FindExpr, Message> {
        let mut negated = false;
        while let Some(op @ (b"!" | b"-not")) = words.peek() {
            words.next();
            require_operand(words, &String::from_utf8_lossy(op))?;
            negated = !negated;
        }
        let expr = self.parse_primary(words, depth)?;
        Ok(if negated { FindExpr::Not(Box::new(expr)) } else { expr })
    }

    fn parse_primary(
        &mut self,
        words: &mut WordCursor<'_>,
        depth: u32,
    ) -> Result<FindExpr, Message> {
        let word = words.next().unwrap_or_default();
        match word {
            b"(" => {
                if depth >= MAX_DEPTH {
                    return Err(b"invalid expression; parentheses are nested too deeply".to_vec());
                }
                match words.peek() {
                    None => return Err(UNCLOSED.to_vec()),
                    Some(b")") => {
                        return Err(
                            b"invalid expression; empty parentheses are not allowed.".to_vec()
                        );
                    }
                    Some(_) => {}
                }
                let expr = self.parse_list(words, depth + 1)?;
                match words.next() {
                    Some(b")") => Ok(expr),
                    _ => Err(UNCLOSED.to_vec()),
                }
            }
            b")" => Err(b"invalid expression; expected to find a ')' but didn't see one. \
                          Perhaps you need an extra predicate after '('"
                .to_vec()),
            b"-a" | b"-and" | b"-o" | b"-or" | b"," => Err([
                b"invalid expression; you have used a binary operator '".as_slice(),
                word,
                b"' with nothing before it.",
            ]
            .concat()),
            _ => self.primaries.parse(word, words),
        }
    }
}

const UNCLOSED: &[u8] =
    b"invalid expression; I was expecting to find a ')' somewhere but did not see one.";

/// Fails if nothing can follow an operator.
fn require_operand(words: &WordCursor<'_>, op: &str) -> Result<(), Message> {
    match words.peek() {
        None => Err(format!("expected an expression after '{op}'").into_bytes()),
        Some(b")") => Err(format!("expected an expression between '{op}' and ')'").into_bytes()),
        Some(_) => Ok(()),
    }
}

fn one_or(mut all: Vec<FindExpr>, wrap: fn(Vec<FindExpr>) -> FindExpr) -> FindExpr {
    if all.len() == 1 { all.remove(0) } else { wrap(all) }
}
