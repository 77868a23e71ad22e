//! The syntax tree.

use std::rc::Rc;

use crate::value::Value;

/// Operators of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignOp {
    /// `=`
    Set,
    /// `|=`
    Update,
    /// `+=` and the like
    Arith(BinOp),
    /// `//=`
    Alt,
}

/// A part of a string with interpolations.
#[derive(Debug)]
pub enum Part {
    Text(String),
    Expr(Expr),
}

/// An expression. Numbers are places in the program's text.
#[derive(Debug)]
pub enum Expr {
    /// `.`
    Id,
    /// `..`
    Recurse,
    Const(Value),
    /// A string with interpolations, each formatted by the format of that name.
    Text(Option<String>, Vec<Part>),
    /// `@name`
    Format(String),
    /// `t[k]`; the flag says that errors are dropped (`?`).
    Index(Box<Expr>, Box<Expr>, bool),
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>, bool),
    Each(Box<Expr>, bool),
    Var(String, usize),
    Call(String, Vec<Expr>, usize),
    Array(Option<Box<Expr>>),
    Object(Vec<(Expr, Expr)>),
    Neg(Box<Expr>),
    Pipe(Vec<Expr>),
    Comma(Vec<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Alt(Box<Expr>, Box<Expr>),
    Assign(AssignOp, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    Try(Box<Expr>, Option<Box<Expr>>),
    Reduce(Box<Loop>),
    Foreach(Box<Loop>),
    Label(String, Box<Expr>),
    Break(String, usize),
    Def(Rc<Def>, Box<Expr>),
    As(Box<Expr>, Vec<Pattern>, Box<Expr>),
}

/// `reduce` and `foreach`; only the latter has an extraction.
#[derive(Debug)]
pub struct Loop {
    pub source: Expr,
    pub patterns: Vec<Pattern>,
    pub init: Expr,
    pub update: Expr,
    pub extract: Option<Expr>,
}

/// What `as` takes apart.
#[derive(Debug)]
pub enum Pattern {
    Var(String),
    Array(Vec<Pattern>),
    Object(Vec<(PatternKey, Option<Pattern>)>),
}

/// What `as` takes apart.
#[derive(Debug)]
pub enum PatternKey {
    /// `$name`, which binds the field as well.
    Var(String),
    Expr(Expr),
}

/// A parameter of a definition.
#[derive(Debug)]
pub struct Param {
    pub name: String,
    /// Declared with `$`.
    pub is_var: bool,
}

/// A definition.
#[derive(Debug)]
pub struct Def {
    pub name: String,
    pub params: Vec<Param>,
    pub body: Expr,
}

/// `import` or `include`.
#[derive(Debug)]
pub struct Import {
    pub path: String,
    /// Name given by `as`; none for `include`.
    pub alias: Option<String>,
    /// `import "x" as $x`.
    pub is_data: bool,
    pub meta: Option<Value>,
}

/// A program or module.
#[derive(Debug)]
pub struct Module {
    /// What `module` says, an object.
    pub meta: Option<Value>,
    pub imports: Vec<Import>,
    pub defs: Vec<Rc<Def>>,
    pub body: Option<Expr>,
}

impl Expr {
    /// The value of an expression that is one without running it.
    pub fn constant(&self) -> Option<Value> {
        match self {
            Expr::Const(v) => Some(v.clone()),
            Expr::Array(None) => Some(Value::arr(Vec::new())),
            Expr::Array(Some(items)) => match &**items {
                Expr::Comma(items) => items.iter().map(Expr::constant).collect(),
                one => Some(Value::arr(vec![one.constant()?])),
            },
            Expr::Object(pairs) => {
                let mut m = crate::value::Map::default();
                for (k, v) in pairs {
                    let Value::Str(k) = k.constant()? else { return None };
                    m.insert(k, v.constant()?);
                }
                Some(Value::obj(m))
            }
            _ => None,
        }
    }
}
