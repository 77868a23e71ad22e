//! Tokens to tree.

use super::token::{ArithLexer, ArithToken};
use super::{MARKER, MAX_DEPTH};
use crate::ast::{ArithBinary, ArithExpr, ArithIndex, ArithPlace, ArithUnary};
use crate::error::ArithError;

pub(super) struct ArithParser<'a> {
    lexer: ArithLexer<'a>,
    current: ArithToken,
    /// The token before the current one.
    previous: ArithToken,
    depth: u32,
    /// The number of subscripts around this text. A nested subscript is parsed again for each
    /// level.
    nested: u32,
}

type Res<T> = Result<T, &'static str>;

const TOO_DEEP: &str = "expression recursion level exceeded";
const OPERAND: &str = "syntax error: operand expected";

/// Chains up to this length keep the shape of the source.
const CHAIN: usize = 64;

impl<'a> ArithParser<'a> {
    /// Returns a parser at the beginning of an expression's text.
    pub fn new(text: &'a [u8]) -> Self {
        ArithParser {
            lexer: ArithLexer::new(text, 0),
            current: ArithToken::End,
            previous: ArithToken::End,
            depth: 0,
            nested: 0,
        }
    }

    /// Parses the whole text as an expression whose expansions are operands; `None` if it has to be
    /// expanded before it is parsed.
    pub fn in_place(mut self) -> Option<ArithExpr> {
        self.parse_start().ok().flatten()
    }

    /// Parses the whole text as one expression.
    pub fn parse_whole(mut self) -> Result<Option<ArithExpr>, ArithError> {
        match self.parse_start() {
            Ok(expr) => Ok(expr),
            Err(message) => {
                // bash truncates the text after an invalid number.
                let end =
                    if self.lexer.bad_number { self.lexer.pos } else { self.lexer.text.len() };
                let text = self.lexer.text.get(..end).unwrap_or_default();
                let lead = text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
                Err(ArithError {
                    expression: text.get(lead..).unwrap_or_default().into(),
                    message,
                    token: text.get(self.lexer.last_start..).unwrap_or_default().into(),
                })
            }
        }
    }

    fn parse_start(&mut self) -> Res<Option<ArithExpr>> {
        self.advance_token()?;
        if self.current == ArithToken::End {
            return Ok(None);
        }
        let expr = self.parse_comma()?;
        if self.current != ArithToken::End {
            return Err("syntax error in expression");
        }
        Ok(Some(expr))
    }

    fn advance_token(&mut self) -> Res<()> {
        let next = self.lexer.next(self.current)?;
        self.previous = std::mem::replace(&mut self.current, next);
        Ok(())
    }

    /// Returns the place from which messages about an operator quote the text.
    fn quoted_from(&self) -> u32 {
        u32::try_from(self.lexer.last_start).unwrap_or(u32::MAX)
    }

    fn source_slice(&self, (start, end): (usize, usize)) -> &'a [u8] {
        self.lexer.text.get(start..end).unwrap_or_default()
    }

    fn enter_level(&mut self) -> Res<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(TOO_DEEP) } else { Ok(()) }
    }

    fn parse_comma(&mut self) -> Res<ArithExpr> {
        let first = self.parse_assign()?;
        if self.current != ArithToken::Comma {
            return Ok(first);
        }
        let mut terms = vec![first];
        while self.current == ArithToken::Comma {
            self.advance_token()?;
            terms.push(self.parse_assign()?);
        }
        Ok(chain_terms(terms, &|a, b| ArithExpr::Comma(a, b)))
    }

    fn parse_assign(&mut self) -> Res<ArithExpr> {
        let target = self.parse_ternary()?;
        let op = match self.current {
            ArithToken::Assign => None,
            ArithToken::AssignOp(op) => Some(op),
            _ => return Ok(target),
        };
        let target = match target {
            ArithExpr::Variable(place) if self.previous != ArithToken::RParen => place,
            _ => return Err("attempted assignment to non-variable"),
        };
        self.advance_token()?;
        self.enter_level()?;
        let value = self.parse_assign()?;
        self.depth -= 1;
        let op = op.map(|op| (op, self.quoted_from()));
        Ok(ArithExpr::Assign(op, target, Box::new(value)))
    }

    fn parse_ternary(&mut self) -> Res<ArithExpr> {
        let condition = self.logical_or()?;
        if self.current != ArithToken::Question {
            return Ok(condition);
        }
        self.advance_token()?;
        if matches!(self.current, ArithToken::End | ArithToken::Colon) {
            return Err("expression expected");
        }
        self.enter_level()?;
        let yes = self.parse_comma()?;
        if self.current != ArithToken::Colon {
            return Err("`:' expected for conditional expression");
        }
        self.advance_token()?;
        if self.current == ArithToken::End {
            return Err("expression expected");
        }
        let no = self.parse_ternary()?;
        self.depth -= 1;
        Ok(ArithExpr::Ternary(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    fn logical_or(&mut self) -> Res<ArithExpr> {
        let first = self.logical_and()?;
        if self.current != ArithToken::OrOr {
            return Ok(first);
        }
        let mut terms = vec![first];
        while self.current == ArithToken::OrOr {
            self.advance_token()?;
            terms.push(self.logical_and()?);
        }
        Ok(chain_terms(terms, &|a, b| ArithExpr::LogicalOr(a, b)))
    }

    fn logical_and(&mut self) -> Res<ArithExpr> {
        let first = self.parse_binary(0)?;
        if self.current != ArithToken::AndAnd {
            return Ok(first);
        }
        let mut terms = vec![first];
        while self.current == ArithToken::AndAnd {
            self.advance_token()?;
            terms.push(self.parse_binary(0)?);
        }
        Ok(chain_terms(terms, &|a, b| ArithExpr::LogicalAnd(a, b)))
    }

    /// Parses binary operators that bind at least as tightly as `level`, all left-associative
    /// except `**`.
    fn parse_binary(&mut self, level: u8) -> Res<ArithExpr> {
        self.enter_level()?;
        let mut left = self.parse_unary()?;
        let mut length = 0usize;
        while let ArithToken::Binary(op) = self.current {
            let bind = binding_power(op);
            if bind < level {
                break;
            }
            self.advance_token()?;
            let operand = self.quoted_from();
            if op == ArithBinary::Pow {
                let right = self.parse_binary(bind)?;
                let at = self.quoted_from();
                left = ArithExpr::Binary(op, Box::new(left), Box::new(right), at);
                continue;
            }
            let right = self.parse_binary(bind + 1)?;
            length += 1;
            if length > CHAIN && matches!(op, ArithBinary::Add | ArithBinary::Sub) {
                left = self.long_sum(left, op, right, bind)?;
                continue;
            }
            if length > MAX_DEPTH as usize {
                return Err(TOO_DEEP);
            }
            left = ArithExpr::Binary(op, Box::new(left), Box::new(right), operand);
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Parses the rest of a long sum as a balanced tree: subtraction adds the negated operand,
    /// which is the same with wrapping integers.
    #[inline(never)]
    fn long_sum(
        &mut self,
        left: ArithExpr,
        op: ArithBinary,
        right: ArithExpr,
        bind: u8,
    ) -> Res<ArithExpr> {
        let signed = |op, e| match op {
            ArithBinary::Sub => ArithExpr::Unary(ArithUnary::Minus, Box::new(e)),
            _ => e,
        };
        let mut terms = vec![left, signed(op, right)];
        while let ArithToken::Binary(op @ (ArithBinary::Add | ArithBinary::Sub)) = self.current {
            self.advance_token()?;
            let term = self.parse_binary(bind + 1)?;
            terms.push(signed(op, term));
        }
        Ok(chain_terms(terms, &|a, b| ArithExpr::Binary(ArithBinary::Add, a, b, 0)))
    }

    fn parse_unary(&mut self) -> Res<ArithExpr> {
        let op = match self.current {
            ArithToken::Not => ArithUnary::Not,
            ArithToken::Complement => ArithUnary::Complement,
            ArithToken::Binary(ArithBinary::Sub) => ArithUnary::Minus,
            ArithToken::Binary(ArithBinary::Add) => ArithUnary::Plus,
            _ => return self.parse_operand(),
        };
        self.advance_token()?;
        self.enter_level()?;
        let inner = self.parse_unary()?;
        self.depth -= 1;
        Ok(ArithExpr::Unary(op, Box::new(inner)))
    }

    #[inline(never)]
    fn parse_operand(&mut self) -> Res<ArithExpr> {
        match self.current {
            ArithToken::PreIncrement => self.parse_prefix(true),
            ArithToken::PreDecrement => self.parse_prefix(false),
            ArithToken::LParen => {
                self.advance_token()?;
                self.enter_level()?;
                let inner = self.parse_comma()?;
                self.depth -= 1;
                if self.current != ArithToken::RParen {
                    return Err("missing `)'");
                }
                self.advance_token()?;
                Ok(inner)
            }
            ArithToken::Number(n) => {
                self.advance_token()?;
                Ok(ArithExpr::Number(n))
            }
            ArithToken::Operand(i) => {
                self.advance_token()?;
                Ok(ArithExpr::Operand(i))
            }
            ArithToken::Name(..) | ArithToken::Element(..) => self.parse_postfix(),
            _ => Err(OPERAND),
        }
    }

    #[inline(never)]
    fn parse_prefix(&mut self, increment: bool) -> Res<ArithExpr> {
        self.advance_token()?;
        if !matches!(self.current, ArithToken::Name(..) | ArithToken::Element(..)) {
            return Err("identifier expected after pre-increment or pre-decrement");
        }
        let target = self.parse_variable()?;
        self.advance_token()?;
        if matches!(self.current, ArithToken::PostIncrement) {
            return Err("++: assignment requires lvalue");
        }
        if matches!(self.current, ArithToken::PostDecrement) {
            return Err("--: assignment requires lvalue");
        }
        Ok(ArithExpr::Step { increment, prefix: true, target })
    }

    #[inline(never)]
    fn parse_postfix(&mut self) -> Res<ArithExpr> {
        let target = self.parse_variable()?;
        self.advance_token()?;
        let increment = match self.current {
            ArithToken::PostIncrement => true,
            ArithToken::PostDecrement => false,
            _ => return Ok(ArithExpr::Variable(target)),
        };
        self.advance_token()?;
        Ok(ArithExpr::Step { increment, prefix: false, target })
    }

    /// Parses the variable that is the current token.
    #[inline(never)]
    fn parse_variable(&mut self) -> Res<ArithPlace> {
        let (name, index) = match self.current {
            ArithToken::Name(start, end) => (self.source_slice((start, end)), None),
            ArithToken::Element(name, subscript) => {
                (self.source_slice(name), Some(self.index(self.source_slice(subscript))?))
            }
            _ => return Err(OPERAND),
        };
        Ok(ArithPlace { name: name.into(), index })
    }

    /// Parses the subscript of the current token.
    #[inline(never)]
    fn index(&mut self, subscript: &[u8]) -> Res<Box<ArithIndex>> {
        let operands = self.lexer.subscript_operands;
        let mut expr = None;
        if self.nested < 8 {
            let mut inner = ArithParser::new(subscript);
            inner.lexer = ArithLexer::new(subscript, operands);
            inner.depth = self.depth;
            inner.nested = self.nested + 1;
            expr = inner.parse_start().ok().flatten();
        }
        let active = |b: &u8| matches!(b, b'$' | b'`' | b'\\' | b'"' | b'\'');
        if subscript.contains(&MARKER) && (expr.is_none() || subscript.iter().any(active)) {
            // The expression is known only after expansion.
            return Err(OPERAND);
        }
        Ok(Box::new(ArithIndex { raw: subscript.into(), operands, expr }))
    }
}

/// Returns the precedence of an operator.
fn binding_power(op: ArithBinary) -> u8 {
    use ArithBinary as B;
    match op {
        B::BitOr => 1,
        B::BitXor => 2,
        B::BitAnd => 3,
        B::Equal | B::NotEqual => 4,
        B::Less | B::LessEq | B::Greater | B::GreaterEq => 5,
        B::ShiftLeft | B::ShiftRight => 6,
        B::Add | B::Sub => 7,
        B::Mul | B::Div | B::Rem => 8,
        B::Pow => 9,
    }
}

/// Joins the terms of an associative operator: to the left while they are few, in a balanced tree
/// when they are many.
fn chain_terms(
    mut terms: Vec<ArithExpr>,
    join: &dyn Fn(Box<ArithExpr>, Box<ArithExpr>) -> ArithExpr,
) -> ArithExpr {
    if terms.len() <= CHAIN {
        let mut terms = terms.into_iter();
        let first = terms.next().unwrap_or(ArithExpr::Number(0));
        return terms.fold(first, |a, b| join(Box::new(a), Box::new(b)));
    }
    let right = terms.split_off(terms.len() / 2);
    join(Box::new(chain_terms(terms, join)), Box::new(chain_terms(right, join)))
}
