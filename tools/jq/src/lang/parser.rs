//! Expressions, definitions, modules.
//!
//! Precedence, loosest first: `|`, `,`, `//` (right), assignments (none), `or`, `and`, comparisons
//! (none), `+ -`, `* / %`. The bodies of `def`, `label` and `as` extend to the end of the pipe; the
//! expression before `as` is an operand of a comma (jq 1.8; a term in 1.7).

use std::rc::Rc;

use super::JqSyntaxError;
use super::ast::{AssignOp, BinOp, Def, Import, JqExpr, JqModule, JqParam, JqPattern, PatternKey};
use super::lexer::{self, JqToken};
use crate::value::Value;

/// The result of a parsing function.
pub type Result<T> = std::result::Result<T, JqSyntaxError>;

/// The maximum nesting of a program, so that the parser and the compiler do not overflow the stack.
const MAX_DEPTH: usize = 500;

/// The maximum length of a chain of operators of one level, which becomes a tree of that depth.
const MAX_CHAIN: usize = 1000;

/// A recursive-descent parser over the text.
pub struct JqParser<'a> {
    pub code: &'a str,
    pub at: usize,
    /// The offset at which the last consumed token begins, where an unexpected end is reported.
    last: usize,
    depth: usize,
}

/// Parses a program or module.
pub fn parse_module(code: &str) -> Result<JqModule> {
    let mut p = JqParser { code, at: 0, last: 0, depth: 0 };
    let mut meta = None;
    if p.take_word("module")? {
        let at = p.token_start()?;
        let expr = p.parse_pipe()?;
        p.expect_operator(";")?;
        meta = Some(p.parse_metadata(&expr, at)?);
    }
    let mut imports = Vec::new();
    while let Some(import) = p.parse_import()? {
        imports.push(import);
    }
    let mut defs = Vec::new();
    while p.is_word("def")? {
        defs.push(Rc::new(p.parse_def()?));
    }
    let body = if p.peek_token()? == JqToken::End { None } else { Some(p.parse_pipe()?) };
    if p.peek_token()? != JqToken::End {
        return Err(p.unexpected_token());
    }
    Ok(JqModule { meta, imports, defs, body })
}

/// Parses a list of definitions.
pub fn parse_defs(code: &str) -> Result<Vec<Rc<Def>>> {
    Ok(parse_module(code)?.defs)
}

impl<'a> JqParser<'a> {
    /// Returns the next token without consuming it.
    pub fn peek_token(&self) -> Result<JqToken<'a>> {
        Ok(lexer::next_token(self.code, self.at)?.0)
    }

    /// Consumes and returns the next token.
    pub fn next(&mut self) -> Result<JqToken<'a>> {
        let (t, start, end) = lexer::next_token(self.code, self.at)?;
        (self.last, self.at) = (start, end);
        Ok(t)
    }

    /// Returns the offset at which the next token begins.
    pub fn token_start(&self) -> Result<usize> {
        Ok(lexer::next_token(self.code, self.at)?.1)
    }

    /// Returns whether this operator is next.
    pub fn is_op(&self, op: &str) -> Result<bool> {
        Ok(matches!(self.peek_token()?, JqToken::Op(o) if o == op))
    }

    /// Consumes an operator if it is next, and returns whether it was.
    pub fn take_op(&mut self, op: &str) -> Result<bool> {
        let found = self.is_op(op)?;
        if found {
            self.next()?;
        }
        Ok(found)
    }

    /// Returns whether this word is next.
    pub fn is_word(&self, word: &str) -> Result<bool> {
        Ok(matches!(self.peek_token()?, JqToken::Ident(w) if w == word))
    }

    /// Consumes a word if it is next, and returns whether it was.
    pub fn take_word(&mut self, word: &str) -> Result<bool> {
        let found = self.is_word(word)?;
        if found {
            self.next()?;
        }
        Ok(found)
    }

    /// Consumes an operator, which must be next.
    pub fn expect_operator(&mut self, op: &str) -> Result<()> {
        if self.take_op(op)? { Ok(()) } else { Err(self.unexpected_token()) }
    }

    /// Consumes a word, which must be next.
    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word)? { Ok(()) } else { Err(self.unexpected_token()) }
    }

    /// Returns an error at an offset of the text.
    pub fn error_at(&self, message: impl Into<String>, at: usize) -> JqSyntaxError {
        JqSyntaxError { message: message.into(), at }
    }

    /// Returns the error for the next token, in the words of jq's parser.
    pub fn unexpected_token(&self) -> JqSyntaxError {
        let (token, at) = match lexer::next_token(self.code, self.at) {
            Ok((JqToken::End, ..)) => (JqToken::End, self.last),
            Ok((t, at, _)) => (t, at),
            Err(e) => return e,
        };
        let what = match token {
            JqToken::End => "end of file".to_string(),
            JqToken::Op(o) if o.len() == 1 => format!("'{o}'"),
            JqToken::Op(o) => o.to_string(),
            JqToken::Ident(w) if is_keyword(w) => w.to_string(),
            JqToken::Ident(_) => "IDENT".to_string(),
            JqToken::Field(_) => "FIELD".to_string(),
            JqToken::Format(_) => "FORMAT".to_string(),
            JqToken::Number(_) => "LITERAL".to_string(),
            JqToken::Quote => "QQSTRING_START".to_string(),
        };
        self.error_at(format!("syntax error, unexpected {what}"), at)
    }

    fn parse_metadata(&self, meta: &JqExpr, at: usize) -> Result<Value> {
        match meta.constant() {
            Some(v @ Value::Obj(_)) => Ok(v),
            Some(_) => Err(self.error_at("Module metadata must be an object", at)),
            None => Err(self.error_at("Module metadata must be constant", at)),
        }
    }

    fn parse_import(&mut self) -> Result<Option<Import>> {
        let at = self.token_start()?;
        let include = self.is_word("include")?;
        if !include && !self.is_word("import")? {
            return Ok(None);
        }
        self.next()?;
        if self.peek_token()? != JqToken::Quote {
            return Err(self.unexpected_token());
        }
        let JqExpr::Const(Value::Str(path)) = self.parse_string(None)? else {
            return Err(self.error_at("Import path must be constant", at));
        };
        let (mut alias, mut is_data) = (None, false);
        if !include {
            self.expect_word("as")?;
            is_data = self.take_op("$")?;
            alias = Some(self.parse_ident()?.to_string());
        }
        let mut meta = None;
        if !self.is_op(";")? {
            let expr = self.parse_pipe()?;
            meta = Some(self.parse_metadata(&expr, at)?);
        }
        self.expect_operator(";")?;
        Ok(Some(Import { path: path.to_string(), alias, is_data, meta }))
    }

    /// Parses a name that is not a keyword.
    fn parse_ident(&mut self) -> Result<&'a str> {
        match self.peek_token()? {
            JqToken::Ident(w) if !is_keyword(w) => {
                self.next()?;
                Ok(w)
            }
            _ => Err(self.unexpected_token()),
        }
    }

    /// Parses a name after `$`, where keywords are names, too.
    pub fn any_name(&mut self) -> Result<&'a str> {
        match self.peek_token()? {
            JqToken::Ident(w) => {
                self.next()?;
                Ok(w)
            }
            _ => Err(self.unexpected_token()),
        }
    }

    /// Parses a definition.
    pub fn parse_def(&mut self) -> Result<Def> {
        self.expect_word("def")?;
        let name = self.parse_ident()?.to_string();
        let mut params = Vec::new();
        if self.take_op("(")? {
            loop {
                let is_var = self.take_op("$")?;
                let name = if is_var { self.any_name()? } else { self.parse_ident()? };
                params.push(JqParam { name: name.to_string(), is_var });
                if !self.take_op(";")? {
                    break;
                }
            }
            self.expect_operator(")")?;
        }
        self.expect_operator(":")?;
        let body = self.parse_pipe()?;
        self.expect_operator(";")?;
        Ok(Def { name, params, body })
    }

    /// Runs `f` one level deeper.
    pub fn parse_nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error_at("syntax error, program nested too deeply", self.at));
        }
        self.depth += 1;
        let out = f(self);
        self.depth -= 1;
        out
    }

    /// Parses a whole expression.
    pub fn parse_pipe(&mut self) -> Result<JqExpr> {
        self.parse_nested(|p| {
            let mut stages = vec![p.parse_comma()?];
            while p.take_op("|")? {
                stages.push(p.parse_comma()?);
            }
            Ok(join_stages(stages))
        })
    }

    fn parse_comma(&mut self) -> Result<JqExpr> {
        let first = self.parse_item()?;
        if !self.is_op(",")? {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.take_op(",")? {
            all.push(self.parse_item()?);
        }
        Ok(JqExpr::Comma(all))
    }

    /// Parses an operand of a comma: an expression of operators, perhaps with `as`, which binds its
    /// result.
    fn parse_item(&mut self) -> Result<JqExpr> {
        let source = self.parse_binary(2)?;
        if !self.take_word("as")? {
            return Ok(source);
        }
        let patterns = self.parse_patterns()?;
        self.expect_operator("|")?;
        let body = self.parse_pipe()?;
        Ok(JqExpr::As(Box::new(source), patterns, Box::new(body)))
    }

    /// Parses an expression with operators of level `min` and higher.
    pub fn parse_binary(&mut self, min: u8) -> Result<JqExpr> {
        let mut left = self.parse_operand()?;
        // The level of the last operator, if operators of that level cannot be chained.
        let mut closed = None;
        let mut chain = 0;
        while let Some((level, op)) = self.parse_operator()? {
            if level < min {
                break;
            }
            if closed == Some(level) {
                return Err(self.unexpected_token());
            }
            chain += 1;
            if chain > MAX_CHAIN {
                return Err(self.error_at("syntax error, program nested too deeply", self.at));
            }
            self.next()?;
            // `//` groups to the right.
            let right_min = if level == 2 { 2 } else { level + 1 };
            let right = self.parse_nested(|p| p.parse_binary(right_min))?;
            closed = matches!(level, 3 | 6).then_some(level);
            left = op.build_expr(left, right);
        }
        Ok(left)
    }

    fn parse_operator(&self) -> Result<Option<(u8, InfixOp)>> {
        let op = match self.peek_token()? {
            JqToken::Op(o) => o,
            JqToken::Ident("and") => return Ok(Some((5, InfixOp::And))),
            JqToken::Ident("or") => return Ok(Some((4, InfixOp::Or))),
            _ => return Ok(None),
        };
        let assign = |op| (3, InfixOp::Assign(op));
        let bin = |level, op| (level, InfixOp::Binary(op));
        Ok(Some(match op {
            "//" => (2, InfixOp::Alt),
            "=" => assign(AssignOp::Set),
            "|=" => assign(AssignOp::Update),
            "//=" => assign(AssignOp::Alt),
            "+=" => assign(AssignOp::Arith(BinOp::Add)),
            "-=" => assign(AssignOp::Arith(BinOp::Sub)),
            "*=" => assign(AssignOp::Arith(BinOp::Mul)),
            "/=" => assign(AssignOp::Arith(BinOp::Div)),
            "%=" => assign(AssignOp::Arith(BinOp::Mod)),
            "==" => bin(6, BinOp::Eq),
            "!=" => bin(6, BinOp::Ne),
            "<" => bin(6, BinOp::Lt),
            "<=" => bin(6, BinOp::Le),
            ">" => bin(6, BinOp::Gt),
            ">=" => bin(6, BinOp::Ge),
            "+" => bin(7, BinOp::Add),
            "-" => bin(7, BinOp::Sub),
            "*" => bin(8, BinOp::Mul),
            "/" => bin(8, BinOp::Div),
            "%" => bin(8, BinOp::Mod),
            _ => return Ok(None),
        }))
    }

    fn parse_operand(&mut self) -> Result<JqExpr> {
        match self.peek_token()? {
            JqToken::Op("-") => {
                self.next()?;
                let e = self.parse_nested(|p| p.parse_binary(8))?;
                Ok(negate_expr(e))
            }
            JqToken::Ident("def") => {
                let def = self.parse_nested(JqParser::parse_def)?;
                let rest = self.parse_pipe()?;
                Ok(JqExpr::Def(Rc::new(def), Box::new(rest)))
            }
            JqToken::Ident("label") => {
                self.next()?;
                self.expect_operator("$")?;
                let name = self.any_name()?.to_string();
                self.expect_operator("|")?;
                Ok(JqExpr::Label(name, Box::new(self.parse_pipe()?)))
            }
            _ => self.parse_term(),
        }
    }

    /// Parses patterns that are separated by `?//`.
    pub fn parse_patterns(&mut self) -> Result<Vec<JqPattern>> {
        let mut all = vec![self.parse_pattern()?];
        while self.take_op("?//")? {
            all.push(self.parse_pattern()?);
        }
        Ok(all)
    }

    fn parse_pattern(&mut self) -> Result<JqPattern> {
        if self.take_op("$")? {
            return Ok(JqPattern::Var(self.any_name()?.to_string()));
        }
        if self.take_op("[")? {
            let mut items = Vec::new();
            loop {
                items.push(self.parse_nested(JqParser::parse_pattern)?);
                if !self.take_op(",")? {
                    break;
                }
            }
            self.expect_operator("]")?;
            return Ok(JqPattern::Array(items));
        }
        self.expect_operator("{")?;
        let mut fields = Vec::new();
        loop {
            fields.push(self.field_pattern()?);
            if !self.take_op(",")? {
                break;
            }
        }
        self.expect_operator("}")?;
        Ok(JqPattern::Object(fields))
    }

    fn field_pattern(&mut self) -> Result<(PatternKey, Option<JqPattern>)> {
        let key = match self.peek_token()? {
            JqToken::Op("$") => {
                self.next()?;
                let name = self.any_name()?.to_string();
                if !self.is_op(":")? {
                    return Ok((PatternKey::Var(name), None));
                }
                PatternKey::Var(name)
            }
            JqToken::Ident(w) => {
                self.next()?;
                PatternKey::Expr(JqExpr::Const(w.into()))
            }
            JqToken::Quote => PatternKey::Expr(self.parse_string(None)?),
            JqToken::Format(f) => {
                self.next()?;
                if self.peek_token()? != JqToken::Quote {
                    return Err(self.unexpected_token());
                }
                PatternKey::Expr(self.parse_string(Some(f))?)
            }
            JqToken::Op("(") => {
                let at = self.token_start()?;
                self.next()?;
                let e = self.parse_pipe()?;
                self.expect_operator(")")?;
                self.check_key(&e, at)?;
                PatternKey::Expr(e)
            }
            _ => return Err(self.unexpected_token()),
        };
        self.expect_operator(":")?;
        Ok((key, Some(self.parse_nested(JqParser::parse_pattern)?)))
    }
}

/// Joins the stages of a pipe into one expression.
pub fn join_stages(mut stages: Vec<JqExpr>) -> JqExpr {
    if stages.len() > 1 {
        return JqExpr::Pipe(stages);
    }
    stages.pop().unwrap_or(JqExpr::Id)
}

enum InfixOp {
    Alt,
    And,
    Or,
    Assign(AssignOp),
    Binary(BinOp),
}

impl InfixOp {
    fn build_expr(self, left: JqExpr, right: JqExpr) -> JqExpr {
        let (l, r) = (Box::new(left), Box::new(right));
        match self {
            InfixOp::Alt => JqExpr::Alt(l, r),
            InfixOp::And => JqExpr::And(l, r),
            InfixOp::Or => JqExpr::Or(l, r),
            InfixOp::Assign(op) => JqExpr::Assign(op, l, r),
            InfixOp::Binary(op) => JqExpr::Binary(op, l, r),
        }
    }
}

/// Returns `-e`, computed at once for a number literal.
pub fn negate_expr(e: JqExpr) -> JqExpr {
    match e {
        JqExpr::Const(Value::Num(n)) => JqExpr::Const(Value::Num(-n)),
        JqExpr::Const(Value::Lit(l)) => JqExpr::Const(Value::Lit(Rc::new(l.negate_literal()))),
        other => JqExpr::Neg(Box::new(other)),
    }
}

/// Returns whether a word is reserved.
pub fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "as" | "import"
            | "include"
            | "module"
            | "def"
            | "if"
            | "then"
            | "else"
            | "elif"
            | "end"
            | "reduce"
            | "foreach"
            | "try"
            | "catch"
            | "label"
            | "and"
            | "or"
            | "__loc__"
    )
}
