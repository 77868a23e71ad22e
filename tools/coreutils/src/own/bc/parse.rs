//! Statements to a tree. One call reads one complete line's statements or one definition, so
//! that they can run before the rest is there.

use std::rc::Rc;

use super::lex::{self, LexError, Token};

/// Where a value is kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    Name(String),
    Element(String, Box<Expr>),
    Scale,
    Ibase,
    Obase,
    Last,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Arg {
    Value(Expr),
    /// `a[]`
    Array(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Number(Vec<u8>),
    Get(Place),
    /// Operator (0 for plain), place, value.
    Assign(u8, Place, Box<Expr>),
    /// `++`/`--` before: whether it adds.
    Before(bool, Place),
    After(bool, Place),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Binary(u8, Box<Expr>, Box<Expr>),
    Compare(&'static str, Box<Expr>, Box<Expr>),
    Logic(bool, Box<Expr>, Box<Expr>),
    Call(String, Vec<Arg>),
    Length(Box<Expr>),
    ArrayLength(String),
    Scale(Box<Expr>),
    Sqrt(Box<Expr>),
    Read,
    /// In parentheses: an assignment in them is printed.
    Group(Box<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Statement {
    Expr(Expr),
    Text(Vec<u8>),
    Print(Vec<PrintItem>),
    Block(Vec<Statement>),
    If(Expr, Box<Statement>, Option<Box<Statement>>),
    /// Also `while`, which has a condition only.
    For(Option<Expr>, Option<Expr>, Option<Expr>, Box<Statement>),
    Break,
    Continue,
    Return(Option<Expr>),
    Halt,
    Limits,
    Empty,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum PrintItem {
    Text(Vec<u8>),
    Value(Expr),
}

/// A parameter or auto variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameter {
    pub name: String,
    pub array: bool,
    pub reference: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Function {
    pub name: String,
    pub parameters: Vec<Parameter>,
    pub autos: Vec<Parameter>,
    pub void: bool,
    pub body: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Statement(Statement),
    Define(Rc<Function>),
    /// `quit`: acts when it is read.
    Quit,
}

/// What a call to [`parse`] came to; the number is how many bytes it used.
pub(super) enum Progress {
    Done(Vec<Item>, usize),
    /// The text ends inside a construct.
    More,
    Error(String, usize),
}

enum Fail {
    More,
    Syntax(String),
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    token: Token,
    /// Where the current token begins.
    start: usize,
    /// Whether no more text will come.
    end: bool,
    depth: usize,
}

/// Expressions and blocks nest no deeper: the stack is not the user's.
const MAX_DEPTH: usize = 200;

type Result<T> = std::result::Result<T, Fail>;

/// Reads one line's statements, or a definition.
pub(super) fn parse(text: &[u8], end: bool) -> Progress {
    let mut p = Parser { text, at: 0, token: Token::End, start: 0, end, depth: 0 };
    let result = p.advance().and_then(|()| p.line());
    match result {
        Ok(items) => Progress::Done(items, p.start.max(1).min(text.len())),
        Err(Fail::More) if !end => Progress::More,
        other => {
            let message = match other {
                Err(Fail::Syntax(m)) => m,
                _ => "syntax error".to_string(),
            };
            // What is left of the line is skipped.
            let from = p.start.min(text.len());
            let used = memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |i| from + i + 1);
            Progress::Error(message, used.max(1))
        }
    }
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<()> {
        match lex::next(self.text, self.at) {
            Ok((t, next)) => {
                self.start = self.at;
                self.at = next;
                self.token = t;
                Ok(())
            }
            Err(LexError::Incomplete) => Err(Fail::More),
            Err(LexError::Illegal(c)) => {
                self.start = self.at + 1;
                Err(Fail::Syntax(format!("illegal character: {}", char::from(c))))
            }
        }
    }

    fn is(&self, op: &str) -> bool {
        matches!(self.token, Token::Op(o) if o == op)
    }

    fn word(&self, w: &str) -> bool {
        matches!(self.token, Token::Word(x) if x == w)
    }

    fn error<T>(&self) -> Result<T> {
        if self.token == Token::End && !self.end {
            Err(Fail::More)
        } else {
            Err(Fail::Syntax("syntax error".to_string()))
        }
    }

    fn expect(&mut self, op: &str) -> Result<()> {
        if self.take(op)? { Ok(()) } else { self.error() }
    }

    fn newlines(&mut self) -> Result<()> {
        while self.token == Token::Newline {
            self.advance()?;
        }
        Ok(())
    }

    /// Takes an operator if it is next.
    fn take(&mut self, op: &str) -> Result<bool> {
        let found = self.is(op);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Reads something one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Fail::Syntax("nested too deeply".to_string()));
        }
        self.depth += 1;
        let out = read(self)?;
        self.depth -= 1;
        Ok(out)
    }

    /// Statements up to the end of the line.
    fn line(&mut self) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        loop {
            match &self.token {
                Token::Newline => {
                    // The newline itself is used too.
                    self.start = self.at;
                    return Ok(items);
                }
                Token::End => {
                    if !self.end && !items.is_empty() {
                        return Err(Fail::More);
                    }
                    self.start = self.at;
                    return Ok(items);
                }
                Token::Op(";") => self.advance()?,
                Token::Word("define") => {
                    items.push(Item::Define(Rc::new(self.function()?)));
                    return Ok(items);
                }
                Token::Word("quit") => {
                    items.push(Item::Quit);
                    self.start = self.at;
                    return Ok(items);
                }
                _ => {
                    items.push(Item::Statement(self.statement()?));
                    if !matches!(self.token, Token::Newline | Token::End | Token::Op(";")) {
                        return self.error();
                    }
                }
            }
        }
    }

    fn function(&mut self) -> Result<Function> {
        self.advance()?;
        let void = self.word("void");
        if void {
            self.advance()?;
        }
        let Token::Name(name) = self.token.clone() else { return self.error() };
        self.advance()?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        if !self.is(")") {
            parameters = self.parameters()?;
        }
        self.expect(")")?;
        self.newlines()?;
        self.expect("{")?;
        self.newlines()?;
        let mut autos = Vec::new();
        while self.word("auto") {
            self.advance()?;
            autos.extend(self.parameters()?);
            self.take(";")?;
            self.newlines()?;
        }
        let body = self.block_rest()?;
        Ok(Function { name, parameters, autos, void, body })
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>> {
        let mut out = Vec::new();
        loop {
            let reference = self.take("*")? || self.take("&")?;
            let Token::Name(name) = self.token.clone() else { return self.error() };
            self.advance()?;
            let array = self.take("[")?;
            if array {
                self.expect("]")?;
            }
            out.push(Parameter { name, array, reference });
            if !self.take(",")? {
                return Ok(out);
            }
        }
    }

    /// Statements up to the closing brace, which is used.
    fn block_rest(&mut self) -> Result<Vec<Statement>> {
        let mut out = Vec::new();
        loop {
            match self.token {
                Token::Newline | Token::Op(";") => self.advance()?,
                Token::Op("}") => {
                    self.advance()?;
                    return Ok(out);
                }
                _ => {
                    out.push(self.statement()?);
                    if !matches!(self.token, Token::Newline | Token::Op(";" | "}")) {
                        return self.error();
                    }
                }
            }
        }
    }

    fn statement(&mut self) -> Result<Statement> {
        self.nested(Parser::statement_inner)
    }

    fn statement_inner(&mut self) -> Result<Statement> {
        Ok(match self.token.clone() {
            Token::Text(t) => {
                self.advance()?;
                Statement::Text(t)
            }
            Token::Op("{") => {
                self.advance()?;
                Statement::Block(self.block_rest()?)
            }
            Token::Op(";") | Token::Newline => Statement::Empty,
            Token::Word("if") => {
                let condition = self.condition()?;
                let then = self.statement()?;
                Statement::If(condition, Box::new(then), self.otherwise()?)
            }
            Token::Word("while") => {
                let condition = self.condition()?;
                Statement::For(None, Some(condition), None, Box::new(self.statement()?))
            }
            Token::Word("for") => {
                self.advance()?;
                self.expect("(")?;
                let mut parts = [None, None, None];
                for (i, end) in [";", ";", ")"].into_iter().enumerate() {
                    if !self.is(end) {
                        parts[i] = Some(self.expression()?);
                    }
                    self.expect(end)?;
                }
                self.newlines()?;
                let [init, condition, step] = parts;
                Statement::For(init, condition, step, Box::new(self.statement()?))
            }
            Token::Word("print") => Statement::Print(self.print_items()?),
            Token::Word("return") => {
                self.advance()?;
                if matches!(self.token, Token::Newline | Token::Op(";" | "}") | Token::End) {
                    Statement::Return(None)
                } else {
                    let value = self.expression()?;
                    // `return ()` gives nothing.
                    Statement::Return(Some(value))
                }
            }
            Token::Word(w @ ("break" | "continue" | "halt" | "limits" | "quit")) => {
                self.advance()?;
                match w {
                    "break" => Statement::Break,
                    "continue" => Statement::Continue,
                    "limits" => Statement::Limits,
                    _ => Statement::Halt,
                }
            }
            _ => Statement::Expr(self.expression()?),
        })
    }

    /// The condition in parentheses behind `if` and `while`.
    fn condition(&mut self) -> Result<Expr> {
        self.advance()?;
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        self.newlines()?;
        Ok(condition)
    }

    /// `else`, which may follow on the same line only: after a newline the statement is over.
    fn otherwise(&mut self) -> Result<Option<Box<Statement>>> {
        let before = (self.at, self.start, self.token.clone());
        if self.take(";")? && !self.word("else") {
            (self.at, self.start, self.token) = before;
        }
        if !self.word("else") {
            return Ok(None);
        }
        self.advance()?;
        self.newlines()?;
        Ok(Some(Box::new(self.statement()?)))
    }

    /// What follows `print`.
    fn print_items(&mut self) -> Result<Vec<PrintItem>> {
        let mut items = Vec::new();
        loop {
            self.advance()?;
            if let Token::Text(t) = self.token.clone() {
                self.advance()?;
                items.push(PrintItem::Text(t));
            } else {
                items.push(PrintItem::Value(self.expression()?));
            }
            if !self.is(",") {
                return Ok(items);
            }
        }
    }

    /// `||`, the loosest operator.
    fn expression(&mut self) -> Result<Expr> {
        self.nested(|p| p.chain(&["||"], Parser::and, |_, a, b| Expr::Logic(true, a, b)))
    }

    fn and(&mut self) -> Result<Expr> {
        self.chain(&["&&"], Parser::not, |_, a, b| Expr::Logic(false, a, b))
    }

    fn not(&mut self) -> Result<Expr> {
        if !self.take("!")? {
            return self.chain(
                &["==", "<=", ">=", "!=", "<", ">"],
                Parser::assignment,
                Expr::Compare,
            );
        }
        Ok(Expr::Not(Box::new(self.nested(Parser::not)?)))
    }

    fn assignment(&mut self) -> Result<Expr> {
        let left = self.sum()?;
        let op = match self.token {
            Token::Op("=") => 0,
            Token::Op(o @ ("+=" | "-=" | "*=" | "/=" | "%=" | "^=")) => o.as_bytes()[0],
            _ => return Ok(left),
        };
        let Expr::Get(place) = left else { return self.error() };
        self.advance()?;
        Ok(Expr::Assign(op, place, Box::new(self.nested(Parser::assignment)?)))
    }

    fn sum(&mut self) -> Result<Expr> {
        self.chain(&["+", "-"], Parser::product, binary)
    }

    fn product(&mut self) -> Result<Expr> {
        self.chain(&["*", "/", "%"], Parser::power, binary)
    }

    fn power(&mut self) -> Result<Expr> {
        let base = self.unary()?;
        if !self.take("^")? {
            return Ok(base);
        }
        Ok(binary("^", Box::new(base), Box::new(self.nested(Parser::power)?)))
    }

    /// Operators of one level, which group to the left.
    fn chain(
        &mut self,
        ops: &[&'static str],
        operand: fn(&mut Self) -> Result<Expr>,
        build: fn(&'static str, Box<Expr>, Box<Expr>) -> Expr,
    ) -> Result<Expr> {
        let mut left = operand(self)?;
        while let Token::Op(op) = self.token
            && ops.contains(&op)
        {
            self.advance()?;
            left = build(op, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr> {
        match self.token {
            Token::Op("-") => {
                self.advance()?;
                Ok(Expr::Negate(Box::new(self.nested(Parser::unary)?)))
            }
            Token::Op(o @ ("++" | "--")) => {
                self.advance()?;
                match self.primary()? {
                    Expr::Get(place) => Ok(Expr::Before(o == "++", place)),
                    _ => self.error(),
                }
            }
            _ => {
                let e = self.primary()?;
                if let Token::Op(o @ ("++" | "--")) = self.token
                    && let Expr::Get(place) = e
                {
                    self.advance()?;
                    return Ok(Expr::After(o == "++", place));
                }
                Ok(e)
            }
        }
    }

    fn primary(&mut self) -> Result<Expr> {
        match self.token.clone() {
            Token::Number(n) => {
                self.advance()?;
                Ok(Expr::Number(n))
            }
            Token::Op("(") => {
                self.advance()?;
                if self.take(")")? {
                    return Ok(Expr::Number(b"0".to_vec()));
                }
                let e = self.expression()?;
                self.expect(")")?;
                Ok(Expr::Group(Box::new(e)))
            }
            Token::Op(".") => {
                self.advance()?;
                Ok(Expr::Get(Place::Last))
            }
            Token::Name(name) => {
                self.advance()?;
                if self.take("(")? {
                    let mut args = Vec::new();
                    while !self.is(")") {
                        args.push(self.argument()?);
                        if !self.take(",")? {
                            break;
                        }
                    }
                    self.expect(")")?;
                    return Ok(Expr::Call(name, args));
                }
                if self.take("[")? {
                    let index = self.expression()?;
                    self.expect("]")?;
                    return Ok(Expr::Get(Place::Element(name, Box::new(index))));
                }
                Ok(Expr::Get(Place::Name(name)))
            }
            Token::Word(
                w @ ("scale" | "ibase" | "obase" | "last" | "length" | "sqrt" | "read"),
            ) => {
                self.advance()?;
                if matches!(w, "length" | "sqrt" | "read") || w == "scale" && self.is("(") {
                    self.expect("(")?;
                    if w == "read" {
                        self.expect(")")?;
                        return Ok(Expr::Read);
                    }
                    let arg = self.argument()?;
                    self.expect(")")?;
                    return match (w, arg) {
                        ("length", Arg::Array(a)) => Ok(Expr::ArrayLength(a)),
                        ("length", Arg::Value(e)) => Ok(Expr::Length(Box::new(e))),
                        ("scale", Arg::Value(e)) => Ok(Expr::Scale(Box::new(e))),
                        ("sqrt", Arg::Value(e)) => Ok(Expr::Sqrt(Box::new(e))),
                        _ => self.error(),
                    };
                }
                Ok(Expr::Get(match w {
                    "scale" => Place::Scale,
                    "ibase" => Place::Ibase,
                    "obase" => Place::Obase,
                    _ => Place::Last,
                }))
            }
            _ => self.error(),
        }
    }

    /// A value or `a[]`.
    fn argument(&mut self) -> Result<Arg> {
        if let Token::Name(name) = self.token.clone() {
            let saved = (self.at, self.start, self.token.clone());
            self.advance()?;
            if self.take("[")? && self.take("]")? {
                return Ok(Arg::Array(name));
            }
            (self.at, self.start, self.token) = saved;
        }
        Ok(Arg::Value(self.expression()?))
    }
}

/// One of the operators that calculate.
fn binary(op: &'static str, a: Box<Expr>, b: Box<Expr>) -> Expr {
    Expr::Binary(op.as_bytes()[0], a, b)
}
