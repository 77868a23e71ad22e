//! `[[ expr ]]` (bash manual 3.2.5.2, 6.4).

use crate::ast::{Cond, CondOp, CommandKind, Word};
use crate::error::SyntaxError;
use crate::lex::token::{Ctx, Lexeme, Tk, Token};
use crate::lex::{Machine, Res};

const OPERAND: Ctx = Ctx::COND;

impl Machine<'_, '_> {
    /// `[[ ... ]]`, its opening read ahead.
    pub fn cond_command(&mut self) -> Res<CommandKind> {
        self.skip_token();
        let cond = self.cond_or()?;
        if !self.at_cond_end()? {
            return Err(self.cond_unexpected(&b"syntax error in conditional expression"[..], true));
        }
        self.skip_token();
        Ok(CommandKind::Cond(cond))
    }

    /// Whether `]]` is next.
    fn at_cond_end(&mut self) -> Res<bool> {
        self.cond_word_is(b"]]")
    }

    fn cond_word_is(&mut self, text: &[u8]) -> Res<bool> {
        if self.next_kind(OPERAND)? != Tk::Word {
            return Ok(false);
        }
        Ok(matches!(&self.look, Some(t) if matches!(&t.lexeme, Lexeme::Word(w) if *w.raw == *text)))
    }

    fn cond_or(&mut self) -> Res<Cond> {
        let mut terms = vec![self.cond_and()?];
        while self.next_kind(OPERAND)? == Tk::OrOr {
            self.skip_token();
            terms.push(self.cond_and()?);
        }
        Ok(balanced(flatten(terms, true), Cond::Or))
    }

    fn cond_and(&mut self) -> Res<Cond> {
        let mut terms = vec![self.cond_term()?];
        while self.next_kind(OPERAND)? == Tk::AndAnd {
            self.skip_token();
            terms.push(self.cond_term()?);
        }
        Ok(balanced(flatten(terms, false), Cond::And))
    }

    fn cond_term(&mut self) -> Res<Cond> {
        self.enter(2)?;
        let term = self.cond_term_inner();
        self.leave(2);
        let term = term?;
        self.skip_newlines(OPERAND)?;
        Ok(term)
    }

    fn cond_term_inner(&mut self) -> Res<Cond> {
        self.skip_newlines(OPERAND)?;
        match self.next_kind(OPERAND)? {
            Tk::LParen => {
                self.skip_token();
                let inner = self.cond_or()?;
                if self.next_kind(OPERAND)? != Tk::RParen {
                    return Err(self.cond_error_expecting_paren());
                }
                self.skip_token();
                Ok(inner)
            }
            Tk::Word => {
                let token = self.take();
                let Lexeme::Word(word) = token.lexeme else {
                    return Err(self.error(token.line, &b"syntax error in conditional expression"[..]));
                };
                self.cond_from_word(word, token.start, token.end, token.line)
            }
            _ => Err(self.cond_unexpected(&b"syntax error in conditional expression"[..], true)),
        }
    }

    /// A term that starts with `word`.
    fn cond_from_word(&mut self, word: Word, start: usize, end: usize, line: u32) -> Res<Cond> {
        match &*word.raw {
            b"]]" => {
                let token = Token { kind: Tk::Word, start, end, line, lexeme: Lexeme::Word(word) };
                self.st.look = Some(token);
                Err(self.cond_unexpected(&b"syntax error in conditional expression"[..], true))
            }
            b"!" => Ok(Cond::Not(Box::new(self.cond_term()?))),
            [b'-', op] if UNARY.contains(op) => {
                let op = *op;
                // `[[ -f ]]` is not the word `-f`, but `[[ -f == x ]]` compares it.
                self.cond_unary(op, word)
            }
            _ => self.cond_binary(word),
        }
    }

    fn cond_unary(&mut self, op: u8, word: Word) -> Res<Cond> {
        if self.next_kind(OPERAND)? == Tk::Word && !self.at_cond_end()? {
            let operand = self.expect_word(OPERAND)?;
            return Ok(Cond::Unary(op, operand));
        }
        let _ = word;
        Err(self.cond_unexpected(&b"unexpected argument `X' to conditional unary operator"[..], false))
    }

    /// `word`, or `word OP word`.
    fn cond_binary(&mut self, left: Word) -> Res<Cond> {
        let op = match self.next_kind(OPERAND)? {
            Tk::Less => CondOp::Before,
            Tk::Great => CondOp::After,
            Tk::Word => {
                if self.at_cond_end()? {
                    return Ok(lone(left));
                }
                let found = match &self.look {
                    Some(Token { lexeme: Lexeme::Word(w), .. }) => binary_op(&w.raw),
                    _ => None,
                };
                match found {
                    Some(op) => op,
                    None => {
                        return Err(self.cond_unexpected(&b"conditional binary operator expected"[..], false));
                    }
                }
            }
            Tk::AndAnd | Tk::OrOr | Tk::RParen => return Ok(lone(left)),
            _ => {
                return Err(self.cond_unexpected(
                    &b"unexpected token `X', conditional binary operator expected"[..],
                    false,
                ));
            }
        };
        self.skip_token();
        let ctx = match op {
            CondOp::Regex => OPERAND.with(Ctx::REGEX),
            CondOp::Match | CondOp::NotMatch => OPERAND.with(Ctx::EXTGLOB),
            _ => OPERAND,
        };
        if self.next_kind(ctx)? != Tk::Word || self.at_cond_end()? {
            return Err(self.cond_unexpected(&b"unexpected argument `X' to conditional binary operator"[..], false));
        }
        let right = self.expect_word(ctx)?;
        Ok(Cond::Binary(op, left, right))
    }

    fn cond_error_expecting_paren(&mut self) -> Box<SyntaxError> {
        self.cond_unexpected(&b"unexpected token `X', expected `)'"[..], false)
    }

    /// An error at the token read ahead, whose text takes the place of `X`.
    #[cold]
    fn cond_unexpected(&mut self, template: &[u8], near: bool) -> Box<SyntaxError> {
        let _ = near;
        let Some(t) = self.st.look.take() else { return self.error(self.line, template) };
        let text: Box<[u8]> = match t.kind {
            Tk::Newline | Tk::Eof => b"newline"[..].into(),
            _ => self.raw(t.start, t.end),
        };
        let mut message = Vec::new();
        for (i, piece) in template.split(|&b| b == b'X').enumerate() {
            if i > 0 {
                message.extend_from_slice(&text);
            }
            message.extend_from_slice(piece);
        }
        let mut e = self.error(self.line, message);
        e.incomplete = t.kind == Tk::Eof;
        let mut near = b"syntax error near `".to_vec();
        near.extend_from_slice(&text);
        near.push(b'\'');
        e.more.push((self.line, near.into()));
        e.more.push(self.source_line(t.end.saturating_sub(1)));
        e
    }
}

/// A lone word, which is `-n word`; bash shows it that way, too.
fn lone(word: Word) -> Cond {
    Cond::Unary(b'n', word)
}

/// Letters of the unary operators (bash manual 6.4).
const UNARY: &[u8] = b"abcdefghkprstuwxzGLNOSRnov";

fn binary_op(text: &[u8]) -> Option<CondOp> {
    Some(match text {
        b"=" | b"==" => CondOp::Match,
        b"!=" => CondOp::NotMatch,
        b"=~" => CondOp::Regex,
        b"-eq" => CondOp::Eq,
        b"-ne" => CondOp::Ne,
        b"-lt" => CondOp::Lt,
        b"-le" => CondOp::Le,
        b"-gt" => CondOp::Gt,
        b"-ge" => CondOp::Ge,
        b"-nt" => CondOp::NewerThan,
        b"-ot" => CondOp::OlderThan,
        b"-ef" => CondOp::SameFile,
        _ => return None,
    })
}

/// The terms, with those of a nested chain of the same operator (`a && (b && c)`) in place.
fn flatten(terms: Vec<Cond>, or: bool) -> Vec<Cond> {
    if !terms.iter().any(|t| matches!((t, or), (Cond::Or(..), true) | (Cond::And(..), false))) {
        return terms;
    }
    let mut flat = Vec::with_capacity(terms.len() + 1);
    let mut todo: Vec<Cond> = terms.into_iter().rev().collect();
    while let Some(term) = todo.pop() {
        match (term, or) {
            (Cond::Or(a, b), true) | (Cond::And(a, b), false) => {
                todo.push(*b);
                todo.push(*a);
            }
            (term, _) => flat.push(term),
        }
    }
    flat
}

/// Joins terms of an associative operator into a tree of logarithmic depth.
fn balanced(mut terms: Vec<Cond>, join: fn(Box<Cond>, Box<Cond>) -> Cond) -> Cond {
    if terms.len() == 1
        && let Some(only) = terms.pop()
    {
        return only;
    }
    let right = terms.split_off(terms.len() / 2);
    if terms.is_empty() || right.is_empty() {
        return Cond::Word(Word::default());
    }
    join(Box::new(balanced(terms, join)), Box::new(balanced(right, join)))
}
