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
pub enum StringPart {
    Text(String),
    Expr(JqExpr),
}

/// An expression. Its numbers are offsets in the program's text.
#[derive(Debug)]
pub enum JqExpr {
    /// `.`
    Id,
    /// `..`
    Recurse,
    Const(Value),
    /// A string with interpolations, and the name of the format for each of them.
    Text(Option<String>, Vec<StringPart>),
    /// `@name`
    Format(String),
    /// `t[k]`; the flag says that errors are dropped (`?`).
    Index(Box<JqExpr>, Box<JqExpr>, bool),
    Slice(Box<JqExpr>, Option<Box<JqExpr>>, Option<Box<JqExpr>>, bool),
    Each(Box<JqExpr>, bool),
    Var(String, usize),
    Call(String, Vec<JqExpr>, usize),
    Array(Option<Box<JqExpr>>),
    Object(Vec<(JqExpr, JqExpr)>),
    Neg(Box<JqExpr>),
    Pipe(Vec<JqExpr>),
    Comma(Vec<JqExpr>),
    Binary(BinOp, Box<JqExpr>, Box<JqExpr>),
    And(Box<JqExpr>, Box<JqExpr>),
    Or(Box<JqExpr>, Box<JqExpr>),
    Alt(Box<JqExpr>, Box<JqExpr>),
    Assign(AssignOp, Box<JqExpr>, Box<JqExpr>),
    If(Box<JqExpr>, Box<JqExpr>, Option<Box<JqExpr>>),
    Try(Box<JqExpr>, Option<Box<JqExpr>>),
    Reduce(Box<ReduceLoop>),
    Foreach(Box<ReduceLoop>),
    Label(String, Box<JqExpr>),
    Break(String, usize),
    Def(Rc<Def>, Box<JqExpr>),
    As(Box<JqExpr>, Vec<JqPattern>, Box<JqExpr>),
}

/// `reduce` and `foreach`; only the latter has an extraction.
#[derive(Debug)]
pub struct ReduceLoop {
    pub source: JqExpr,
    pub patterns: Vec<JqPattern>,
    pub init: JqExpr,
    pub update: JqExpr,
    pub extract: Option<JqExpr>,
}

/// A destructuring pattern of `as`.
#[derive(Debug)]
pub enum JqPattern {
    Var(String),
    Array(Vec<JqPattern>),
    Object(Vec<(PatternKey, Option<JqPattern>)>),
}

/// A key of an object pattern of `as`.
#[derive(Debug)]
pub enum PatternKey {
    /// `$name`, which binds the field as well.
    Var(String),
    Expr(JqExpr),
}

/// A parameter of a definition.
#[derive(Debug)]
pub struct JqParam {
    pub name: String,
    /// Declared with `$`.
    pub is_var: bool,
}

/// A definition.
#[derive(Debug)]
pub struct Def {
    pub name: String,
    pub params: Vec<JqParam>,
    pub body: JqExpr,
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
pub struct JqModule {
    /// The object in the `module` directive.
    pub meta: Option<Value>,
    pub imports: Vec<Import>,
    pub defs: Vec<Rc<Def>>,
    pub body: Option<JqExpr>,
}

impl JqExpr {
    /// Returns the value of an expression that is a constant.
    pub fn constant(&self) -> Option<Value> {
        match self {
            JqExpr::Const(v) => Some(v.clone()),
            JqExpr::Array(None) => Some(Value::arr(Vec::new())),
            JqExpr::Array(Some(items)) => match &**items {
                JqExpr::Comma(items) => items.iter().map(JqExpr::constant).collect(),
                one => Some(Value::arr(vec![one.constant()?])),
            },
            JqExpr::Object(pairs) => {
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
