//! `[[ expr ]]` (bash manual 3.2.5.2, 6.4).

use crate::ast::{CommandKind, Cond, CondOp, Text, Word};
use crate::error::{SyntaxCause, SyntaxError};
use crate::lex::token::{Lexeme, SyntaxToken, Tk, TokenContext};
use crate::lex::{CommandParser, Res};

/// The context for operands, which are read as ordinary words: digits before `<` are not a word,
/// which is an error in bash, too.
const OPERAND: TokenContext = TokenContext::ARG;

impl CommandParser<'_, '_> {
    /// Parses `[[ ... ]]`, with its opening read ahead.
    #[inline(never)]
    pub fn cond_command(&mut self, out: &mut CommandKind) -> Res<()> {
        self.skip_token();
        let line = self.line;
        let cond = self.cond_or()?;
        let mut e = match self.next_kind(OPERAND)? {
            Tk::Eof => {
                let mut e = self.make_error(line, SyntaxCause::OpenCondition);
                e.incomplete = true;
                return Err(e);
            }
            Tk::Word if self.at_cond_end()? => {
                self.skip_token();
                *out = CommandKind::Cond(cond);
                return Ok(());
            }
            Tk::Word | Tk::IoNumber(_) => self.cond_error("syntax error in conditional expression"),
            _ => self.cond_error("syntax error in conditional expression: unexpected token `X'"),
        };
        e.line = line;
        Err(e)
    }

    /// Returns whether `]]` is next.
    fn at_cond_end(&mut self) -> Res<bool> {
        if self.next_kind(OPERAND)? != Tk::Word {
            return Ok(false);
        }
        Ok(self.is_cond_end())
    }

    /// Returns whether the word read ahead is `]]`.
    fn is_cond_end(&self) -> bool {
        let word = self.look.as_ref().map(|t| &t.lexeme);
        matches!(word, Some(Lexeme::Word(w)) if *w.raw == *b"]]")
    }

    #[inline(never)]
    fn cond_or(&mut self) -> Res<Cond> {
        let mut terms = vec![self.cond_and()?];
        while self.next_kind(OPERAND)? == Tk::OrOr {
            self.skip_token();
            terms.push(self.cond_and()?);
        }
        Ok(balanced_tree(flatten_terms(terms, true), Cond::Or))
    }

    #[inline(never)]
    fn cond_and(&mut self) -> Res<Cond> {
        let mut terms = vec![self.cond_term()?];
        while self.next_kind(OPERAND)? == Tk::AndAnd {
            self.skip_token();
            terms.push(self.cond_term()?);
        }
        Ok(balanced_tree(flatten_terms(terms, false), Cond::And))
    }

    /// Parses a term and the newlines around it.
    #[inline(never)]
    fn cond_term(&mut self) -> Res<Cond> {
        self.enter_nested(4)?;
        self.skip_newlines(OPERAND)?;
        let term = match self.next_kind(OPERAND)? {
            Tk::LParen => self.cond_parens()?,
            Tk::Word if self.at_cond_end()? => {
                return Err(self.cond_error("unexpected token `X' in conditional command"));
            }
            Tk::Word => {
                let word = self.expect_word(OPERAND)?;
                self.cond_from_word(word)?
            }
            Tk::IoNumber(_) => {
                // This is bash's message; 284 is the number of its token for digits before a
                // redirection.
                return Err(self.cond_error("unexpected token 284 in conditional command"));
            }
            Tk::Eof => return Err(self.cond_error("unexpected token `EOF' in conditional command")),
            _ => return Err(self.cond_error("unexpected token `X' in conditional command")),
        };
        self.leave_nested(4);
        self.skip_newlines(OPERAND)?;
        Ok(term)
    }

    /// Parses `( expr )`, with the parenthesis read ahead.
    #[inline(never)]
    fn cond_parens(&mut self) -> Res<Cond> {
        self.skip_token();
        let inner = self.cond_or()?;
        if self.next_kind(OPERAND)? == Tk::RParen {
            self.skip_token();
            return Ok(Cond::Group(Box::new(inner)));
        }
        if self.next_kind(OPERAND)? == Tk::Word && !self.at_cond_end()? {
            return Err(self.cond_error("expected `)'"));
        }
        Err(self.cond_error("unexpected token `X', expected `)'"))
    }

    /// Parses a term that starts with `word`.
    #[inline(never)]
    fn cond_from_word(&mut self, word: Word) -> Res<Cond> {
        match &*word.raw {
            b"!" => Ok(match self.cond_term()? {
                // Two negations cancel each other, as in bash.
                Cond::Not(inner) => *inner,
                term => Cond::Not(Box::new(term)),
            }),
            [b'-', op] if UNARY.contains(op) => {
                const EXPECTED: &str = "unexpected argument to conditional unary operator";
                match self.next_kind(OPERAND)? {
                    Tk::Word if !self.at_cond_end()? => {}
                    Tk::IoNumber(_) => return Err(self.cond_error(EXPECTED)),
                    _ => {
                        return Err(self
                            .cond_error("unexpected argument `X' to conditional unary operator"));
                    }
                }
                Ok(Cond::Unary(*op, self.expect_word(OPERAND)?))
            }
            _ => self.cond_binary(word),
        }
    }

    /// Parses `word`, or `word OP word`.
    #[inline(never)]
    fn cond_binary(&mut self, left: Word) -> Res<Cond> {
        const EXPECTED: &str = "conditional binary operator expected";
        let op = match self.next_kind(OPERAND)? {
            Tk::Less => CondOp::Before,
            Tk::Great => CondOp::After,
            Tk::Word if self.at_cond_end()? => return Ok(lone_word(left)),
            Tk::Word => {
                let found = match &self.look {
                    Some(SyntaxToken { lexeme: Lexeme::Word(w), .. }) => binary_op(&w.raw),
                    _ => None,
                };
                match found {
                    Some(op) => op,
                    None => return Err(self.cond_error(EXPECTED)),
                }
            }
            Tk::AndAnd | Tk::OrOr | Tk::RParen => return Ok(lone_word(left)),
            Tk::IoNumber(_) => return Err(self.cond_error(EXPECTED)),
            _ => {
                return Err(
                    self.cond_error("unexpected token `X', conditional binary operator expected")
                );
            }
        };
        self.skip_token();
        let ctx = match op {
            CondOp::Regex => OPERAND.with_both(TokenContext::REGEX),
            CondOp::Match | CondOp::MatchPosix | CondOp::NotMatch => {
                OPERAND.with_both(TokenContext::EXTGLOB)
            }
            _ => OPERAND,
        };
        match self.next_kind(ctx)? {
            Tk::Word if !self.at_cond_end()? => {}
            kind if op == CondOp::Regex
                && !matches!(kind, Tk::Word | Tk::Newline | Tk::IoNumber(_)) =>
            {
                return Err(
                    self.cond_error("syntax error in conditional expression: unexpected token `X'")
                );
            }
            Tk::IoNumber(_) => {
                return Err(self.cond_error("unexpected argument to conditional binary operator"));
            }
            _ => {
                return Err(
                    self.cond_error("unexpected argument `X' to conditional binary operator")
                );
            }
        }
        let right = self.expect_word(ctx)?;
        Ok(Cond::Binary(op, left, right))
    }

    /// Returns an error at the token read ahead, whose text replaces the `X` in `sentence`.
    #[cold]
    fn cond_error(&mut self, sentence: &'static str) -> Box<SyntaxError> {
        let Some(t) = self.st.look.take() else {
            let (sentence, token) = (sentence.into(), Text::default());
            return self.make_error(self.line, SyntaxCause::Condition { sentence, token });
        };
        let newline = matches!(t.kind, Tk::Newline | Tk::Eof);
        let token = if newline { b"newline"[..].into() } else { self.token_text(&t).into() };
        let line = if newline { t.line } else { self.line };
        let cause = SyntaxCause::Condition { sentence: sentence.into(), token };
        let mut e = self.make_error(line, cause);
        e.incomplete = t.kind == Tk::Eof;
        e
    }
}

/// Returns a lone word as `-n word`, in which form bash also shows it.
fn lone_word(word: Word) -> Cond {
    Cond::Unary(b'n', word)
}

/// Letters of the unary operators (bash manual 6.4).
const UNARY: &[u8] = b"abcdefghkprstuwxzGLNOSRnov";

fn binary_op(text: &[u8]) -> Option<CondOp> {
    Some(match text {
        b"==" => CondOp::Match,
        b"=" => CondOp::MatchPosix,
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

/// Returns the terms, in which each nested chain of the same operator (`a && (b && c)`) is replaced
/// by its own terms.
#[inline(never)]
fn flatten_terms(terms: Vec<Cond>, or: bool) -> Vec<Cond> {
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
#[inline(never)]
fn balanced_tree(mut terms: Vec<Cond>, join: fn(Box<Cond>, Box<Cond>) -> Cond) -> Cond {
    if terms.len() == 1
        && let Some(only) = terms.pop()
    {
        return only;
    }
    let right = terms.split_off(terms.len() / 2);
    if terms.is_empty() || right.is_empty() {
        return Cond::Word(Word::default());
    }
    join(Box::new(balanced_tree(terms, join)), Box::new(balanced_tree(right, join)))
}
