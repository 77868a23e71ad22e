//! Parses statements to a tree. One call parses the statements of one complete line, or one
//! definition, so that they can run before the rest has been read.

use std::rc::Rc;

use super::lex::{self, BcToken, LexError};

/// Something that holds a value and can be assigned to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BcPlace {
    Name(String),
    Element(String, Box<BcExpr>),
    Scale,
    Ibase,
    Obase,
    Last,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum BcArg {
    Value(BcExpr),
    /// `a[]`
    Array(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum BcExpr {
    Number(Vec<u8>),
    Get(BcPlace),
    /// The operator (0 for plain assignment), the place and the value.
    Assign(u8, BcPlace, Box<BcExpr>),
    /// Prefix `++` or `--`; the flag says whether it increments.
    Before(bool, BcPlace),
    After(bool, BcPlace),
    Negate(Box<BcExpr>),
    Not(Box<BcExpr>),
    Binary(u8, Box<BcExpr>, Box<BcExpr>),
    Compare(&'static str, Box<BcExpr>, Box<BcExpr>),
    Logic(bool, Box<BcExpr>, Box<BcExpr>),
    Call(String, Vec<BcArg>),
    Length(Box<BcExpr>),
    ArrayLength(String),
    Scale(Box<BcExpr>),
    Sqrt(Box<BcExpr>),
    Read,
    /// An expression in parentheses. An assignment in parentheses is printed.
    Group(Box<BcExpr>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Statement {
    Expr(BcExpr),
    Text(Vec<u8>),
    Print(Vec<PrintItem>),
    Block(Vec<Statement>),
    If(BcExpr, Box<Statement>, Option<Box<Statement>>),
    /// A `for` loop, or a `while` loop, which only has a condition.
    For(Option<BcExpr>, Option<BcExpr>, Option<BcExpr>, Box<Statement>),
    Break,
    Continue,
    Return(Option<BcExpr>),
    Halt,
    Limits,
    Empty,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PrintItem {
    Text(Vec<u8>),
    Value(BcExpr),
}

/// A parameter or an `auto` variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameter {
    pub name: String,
    pub array: bool,
    pub reference: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct BcFunction {
    pub name: String,
    pub parameters: Vec<Parameter>,
    pub autos: Vec<Parameter>,
    pub void: bool,
    pub body: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum BcItem {
    Statement(Statement),
    Define(Rc<BcFunction>),
    /// `quit`, which takes effect when it is parsed.
    Quit,
}

/// The result of [`parse`]; the number is the number of bytes that it used.
pub(super) enum BcProgress {
    Done(Vec<BcItem>, usize),
    /// The text ends inside a construct.
    More,
    Error(String, usize),
}

enum BcFail {
    More,
    Syntax(String),
}

struct BcParser<'a> {
    text: &'a [u8],
    at: usize,
    token: BcToken,
    /// The start of the current token.
    start: usize,
    /// Whether the text is complete.
    end: bool,
    depth: usize,
}

/// The maximum nesting of expressions and blocks, because the stack is limited.
const MAX_DEPTH: usize = 200;

type Result<T> = std::result::Result<T, BcFail>;

/// Parses one line's statements, or a definition.
pub(super) fn parse(text: &[u8], end: bool) -> BcProgress {
    let mut p = BcParser { text, at: 0, token: BcToken::End, start: 0, end, depth: 0 };
    let result = p.advance_token().and_then(|()| p.parse_line());
    match result {
        Ok(items) => BcProgress::Done(items, p.start.max(1).min(text.len())),
        Err(BcFail::More) if !end => BcProgress::More,
        other => {
            let message = match other {
                Err(BcFail::Syntax(m)) => m,
                _ => "syntax error".to_string(),
            };
            // Skips the rest of the line.
            let from = p.start.min(text.len());
            let used = memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |i| from + i + 1);
            BcProgress::Error(message, used.max(1))
        }
    }
}

impl BcParser<'_> {
    fn advance_token(&mut self) -> Result<()> {
        match lex::next(self.text, self.at) {
            Ok((t, next)) => {
                self.start = self.at;
                self.at = next;
                self.token = t;
                Ok(())
            }
            Err(LexError::Incomplete) => Err(BcFail::More),
            Err(LexError::Illegal(c)) => {
                self.start = self.at + 1;
                Err(BcFail::Syntax(format!("illegal character: {}", char::from(c))))
            }
        }
    }

    fn is_operator(&self, op: &str) -> bool {
        matches!(self.token, BcToken::Op(o) if o == op)
    }

    fn is_word(&self, w: &str) -> bool {
        matches!(self.token, BcToken::Word(x) if x == w)
    }

    fn error_here<T>(&self) -> Result<T> {
        if self.token == BcToken::End && !self.end {
            Err(BcFail::More)
        } else {
            Err(BcFail::Syntax("syntax error".to_string()))
        }
    }

    fn expect_operator(&mut self, op: &str) -> Result<()> {
        if self.take_operator(op)? { Ok(()) } else { self.error_here() }
    }

    fn skip_newlines(&mut self) -> Result<()> {
        while self.token == BcToken::Newline {
            self.advance_token()?;
        }
        Ok(())
    }

    /// Takes an operator if it is next.
    fn take_operator(&mut self, op: &str) -> Result<bool> {
        let found = self.is_operator(op);
        if found {
            self.advance_token()?;
        }
        Ok(found)
    }

    /// Parses a construct one level deeper.
    fn parse_nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(BcFail::Syntax("nested too deeply".to_string()));
        }
        self.depth += 1;
        let out = read(self)?;
        self.depth -= 1;
        Ok(out)
    }

    /// Parses statements up to the end of the line.
    fn parse_line(&mut self) -> Result<Vec<BcItem>> {
        let mut items = Vec::new();
        loop {
            match &self.token {
                BcToken::Newline => {
                    // The newline itself is consumed, too.
                    self.start = self.at;
                    return Ok(items);
                }
                BcToken::End => {
                    if !self.end && !items.is_empty() {
                        return Err(BcFail::More);
                    }
                    self.start = self.at;
                    return Ok(items);
                }
                BcToken::Op(";") => self.advance_token()?,
                BcToken::Word("define") => {
                    items.push(BcItem::Define(Rc::new(self.parse_function()?)));
                    return Ok(items);
                }
                BcToken::Word("quit") => {
                    items.push(BcItem::Quit);
                    self.start = self.at;
                    return Ok(items);
                }
                _ => {
                    items.push(BcItem::Statement(self.parse_statement()?));
                    if !matches!(self.token, BcToken::Newline | BcToken::End | BcToken::Op(";")) {
                        return self.error_here();
                    }
                }
            }
        }
    }

    fn parse_function(&mut self) -> Result<BcFunction> {
        self.advance_token()?;
        let void = self.is_word("void");
        if void {
            self.advance_token()?;
        }
        let BcToken::Name(name) = self.token.clone() else { return self.error_here() };
        self.advance_token()?;
        self.expect_operator("(")?;
        let mut parameters = Vec::new();
        if !self.is_operator(")") {
            parameters = self.parse_parameters()?;
        }
        self.expect_operator(")")?;
        self.skip_newlines()?;
        self.expect_operator("{")?;
        self.skip_newlines()?;
        let mut autos = Vec::new();
        while self.is_word("auto") {
            self.advance_token()?;
            autos.extend(self.parse_parameters()?);
            self.take_operator(";")?;
            self.skip_newlines()?;
        }
        let body = self.block_rest()?;
        Ok(BcFunction { name, parameters, autos, void, body })
    }

    fn parse_parameters(&mut self) -> Result<Vec<Parameter>> {
        let mut out = Vec::new();
        loop {
            let reference = self.take_operator("*")? || self.take_operator("&")?;
            let BcToken::Name(name) = self.token.clone() else { return self.error_here() };
            self.advance_token()?;
            let array = self.take_operator("[")?;
            if array {
                self.expect_operator("]")?;
            }
            out.push(Parameter { name, array, reference });
            if !self.take_operator(",")? {
                return Ok(out);
            }
        }
    }

    /// Parses statements up to and including the closing brace.
    fn block_rest(&mut self) -> Result<Vec<Statement>> {
        let mut out = Vec::new();
        loop {
            match self.token {
                BcToken::Newline | BcToken::Op(";") => self.advance_token()?,
                BcToken::Op("}") => {
                    self.advance_token()?;
                    return Ok(out);
                }
                _ => {
                    out.push(self.parse_statement()?);
                    if !matches!(self.token, BcToken::Newline | BcToken::Op(";" | "}")) {
                        return self.error_here();
                    }
                }
            }
        }
    }

    fn parse_statement(&mut self) -> Result<Statement> {
        self.parse_nested(BcParser::statement_inner)
    }

    fn statement_inner(&mut self) -> Result<Statement> {
        Ok(match self.token.clone() {
            BcToken::Text(t) => {
                self.advance_token()?;
                Statement::Text(t)
            }
            BcToken::Op("{") => {
                self.advance_token()?;
                Statement::Block(self.block_rest()?)
            }
            BcToken::Op(";") | BcToken::Newline => Statement::Empty,
            BcToken::Word("if") => {
                let condition = self.parse_condition()?;
                let then = self.parse_statement()?;
                Statement::If(condition, Box::new(then), self.parse_otherwise()?)
            }
            BcToken::Word("while") => {
                let condition = self.parse_condition()?;
                Statement::For(None, Some(condition), None, Box::new(self.parse_statement()?))
            }
            BcToken::Word("for") => {
                self.advance_token()?;
                self.expect_operator("(")?;
                let mut parts = [None, None, None];
                for (i, end) in [";", ";", ")"].into_iter().enumerate() {
                    if !self.is_operator(end) {
                        parts[i] = Some(self.parse_expression()?);
                    }
                    self.expect_operator(end)?;
                }
                self.skip_newlines()?;
                let [init, condition, step] = parts;
                Statement::For(init, condition, step, Box::new(self.parse_statement()?))
            }
            BcToken::Word("print") => Statement::Print(self.print_items()?),
            BcToken::Word("return") => {
                self.advance_token()?;
                if matches!(self.token, BcToken::Newline | BcToken::Op(";" | "}") | BcToken::End) {
                    Statement::Return(None)
                } else {
                    let value = self.parse_expression()?;
                    // `return ()` returns 0.
                    Statement::Return(Some(value))
                }
            }
            BcToken::Word(w @ ("break" | "continue" | "halt" | "limits" | "quit")) => {
                self.advance_token()?;
                match w {
                    "break" => Statement::Break,
                    "continue" => Statement::Continue,
                    "limits" => Statement::Limits,
                    _ => Statement::Halt,
                }
            }
            _ => Statement::Expr(self.parse_expression()?),
        })
    }

    /// Parses the condition in parentheses after `if` and `while`.
    fn parse_condition(&mut self) -> Result<BcExpr> {
        self.advance_token()?;
        self.expect_operator("(")?;
        let condition = self.parse_expression()?;
        self.expect_operator(")")?;
        self.skip_newlines()?;
        Ok(condition)
    }

    /// Parses `else`, which must be on the same line, because a newline ends the statement.
    fn parse_otherwise(&mut self) -> Result<Option<Box<Statement>>> {
        let before = (self.at, self.start, self.token.clone());
        if self.take_operator(";")? && !self.is_word("else") {
            (self.at, self.start, self.token) = before;
        }
        if !self.is_word("else") {
            return Ok(None);
        }
        self.advance_token()?;
        self.skip_newlines()?;
        Ok(Some(Box::new(self.parse_statement()?)))
    }

    /// Parses the items after `print`.
    fn print_items(&mut self) -> Result<Vec<PrintItem>> {
        let mut items = Vec::new();
        loop {
            self.advance_token()?;
            if let BcToken::Text(t) = self.token.clone() {
                self.advance_token()?;
                items.push(PrintItem::Text(t));
            } else {
                items.push(PrintItem::Value(self.parse_expression()?));
            }
            if !self.is_operator(",") {
                return Ok(items);
            }
        }
    }

    /// Parses an expression, beginning with the weakest operator, `||`.
    fn parse_expression(&mut self) -> Result<BcExpr> {
        self.parse_nested(|p| {
            p.parse_chain(&["||"], BcParser::parse_and, |_, a, b| BcExpr::Logic(true, a, b))
        })
    }

    fn parse_and(&mut self) -> Result<BcExpr> {
        self.parse_chain(&["&&"], BcParser::parse_not, |_, a, b| BcExpr::Logic(false, a, b))
    }

    fn parse_not(&mut self) -> Result<BcExpr> {
        if !self.take_operator("!")? {
            return self.parse_chain(
                &["==", "<=", ">=", "!=", "<", ">"],
                BcParser::parse_assignment,
                BcExpr::Compare,
            );
        }
        Ok(BcExpr::Not(Box::new(self.parse_nested(BcParser::parse_not)?)))
    }

    fn parse_assignment(&mut self) -> Result<BcExpr> {
        let left = self.parse_sum()?;
        let op = match self.token {
            BcToken::Op("=") => 0,
            BcToken::Op(o @ ("+=" | "-=" | "*=" | "/=" | "%=" | "^=")) => o.as_bytes()[0],
            _ => return Ok(left),
        };
        let BcExpr::Get(place) = left else { return self.error_here() };
        self.advance_token()?;
        Ok(BcExpr::Assign(op, place, Box::new(self.parse_nested(BcParser::parse_assignment)?)))
    }

    fn parse_sum(&mut self) -> Result<BcExpr> {
        self.parse_chain(&["+", "-"], BcParser::parse_product, binary_expr)
    }

    fn parse_product(&mut self) -> Result<BcExpr> {
        self.parse_chain(&["*", "/", "%"], BcParser::parse_power, binary_expr)
    }

    fn parse_power(&mut self) -> Result<BcExpr> {
        let base = self.parse_unary()?;
        if !self.take_operator("^")? {
            return Ok(base);
        }
        Ok(binary_expr("^", Box::new(base), Box::new(self.parse_nested(BcParser::parse_power)?)))
    }

    /// Parses left-associative operators of one level.
    fn parse_chain(
        &mut self,
        ops: &[&'static str],
        operand: fn(&mut Self) -> Result<BcExpr>,
        build: fn(&'static str, Box<BcExpr>, Box<BcExpr>) -> BcExpr,
    ) -> Result<BcExpr> {
        let mut left = operand(self)?;
        while let BcToken::Op(op) = self.token
            && ops.contains(&op)
        {
            self.advance_token()?;
            left = build(op, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn parse_unary(&mut self) -> Result<BcExpr> {
        match self.token {
            BcToken::Op("-") => {
                self.advance_token()?;
                Ok(BcExpr::Negate(Box::new(self.parse_nested(BcParser::parse_unary)?)))
            }
            BcToken::Op(o @ ("++" | "--")) => {
                self.advance_token()?;
                match self.parse_primary()? {
                    BcExpr::Get(place) => Ok(BcExpr::Before(o == "++", place)),
                    _ => self.error_here(),
                }
            }
            _ => {
                let e = self.parse_primary()?;
                if let BcToken::Op(o @ ("++" | "--")) = self.token
                    && let BcExpr::Get(place) = e
                {
                    self.advance_token()?;
                    return Ok(BcExpr::After(o == "++", place));
                }
                Ok(e)
            }
        }
    }

    fn parse_primary(&mut self) -> Result<BcExpr> {
        match self.token.clone() {
            BcToken::Number(n) => {
                self.advance_token()?;
                Ok(BcExpr::Number(n))
            }
            BcToken::Op("(") => {
                self.advance_token()?;
                if self.take_operator(")")? {
                    return Ok(BcExpr::Number(b"0".to_vec()));
                }
                let e = self.parse_expression()?;
                self.expect_operator(")")?;
                Ok(BcExpr::Group(Box::new(e)))
            }
            BcToken::Op(".") => {
                self.advance_token()?;
                Ok(BcExpr::Get(BcPlace::Last))
            }
            BcToken::Name(name) => {
                self.advance_token()?;
                if self.take_operator("(")? {
                    let mut args = Vec::new();
                    while !self.is_operator(")") {
                        args.push(self.parse_argument()?);
                        if !self.take_operator(",")? {
                            break;
                        }
                    }
                    self.expect_operator(")")?;
                    return Ok(BcExpr::Call(name, args));
                }
                if self.take_operator("[")? {
                    let index = self.parse_expression()?;
                    self.expect_operator("]")?;
                    return Ok(BcExpr::Get(BcPlace::Element(name, Box::new(index))));
                }
                Ok(BcExpr::Get(BcPlace::Name(name)))
            }
            BcToken::Word(
                w @ ("scale" | "ibase" | "obase" | "last" | "length" | "sqrt" | "read"),
            ) => {
                self.advance_token()?;
                if matches!(w, "length" | "sqrt" | "read") || w == "scale" && self.is_operator("(")
                {
                    self.expect_operator("(")?;
                    if w == "read" {
                        self.expect_operator(")")?;
                        return Ok(BcExpr::Read);
                    }
                    let arg = self.parse_argument()?;
                    self.expect_operator(")")?;
                    return match (w, arg) {
                        ("length", BcArg::Array(a)) => Ok(BcExpr::ArrayLength(a)),
                        ("length", BcArg::Value(e)) => Ok(BcExpr::Length(Box::new(e))),
                        ("scale", BcArg::Value(e)) => Ok(BcExpr::Scale(Box::new(e))),
                        ("sqrt", BcArg::Value(e)) => Ok(BcExpr::Sqrt(Box::new(e))),
                        _ => self.error_here(),
                    };
                }
                Ok(BcExpr::Get(match w {
                    "scale" => BcPlace::Scale,
                    "ibase" => BcPlace::Ibase,
                    "obase" => BcPlace::Obase,
                    _ => BcPlace::Last,
                }))
            }
            _ => self.error_here(),
        }
    }

    /// Parses a value or `a[]`.
    fn parse_argument(&mut self) -> Result<BcArg> {
        if let BcToken::Name(name) = self.token.clone() {
            let saved = (self.at, self.start, self.token.clone());
            self.advance_token()?;
            if self.take_operator("[")? && self.take_operator("]")? {
                return Ok(BcArg::Array(name));
            }
            (self.at, self.start, self.token) = saved;
        }
        Ok(BcArg::Value(self.parse_expression()?))
    }
}

/// Returns the expression for an arithmetic operator.
fn binary_expr(op: &'static str, a: Box<BcExpr>, b: Box<BcExpr>) -> BcExpr {
    BcExpr::Binary(op.as_bytes()[0], a, b)
}
