//! The program as typed nodes, names resolved to places.
//!
//! Operators that people chain by the hundred (`a b c`, `x + y + z`, `else if`) are lists, so
//! that no pass over the tree recurses deeper than the source nests.

use crate::builtin::Builtin;
use crate::token::Arith;

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Var {
    Global(u32),
    /// A parameter of the current function.
    Local(u32),
}

/// A line of a source, packed: the source's number in the upper 8 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line(u32);

impl Line {
    const BITS: u32 = 24;

    /// Numbers that are too large for their bits become the largest.
    pub fn new(source: usize, line: usize) -> Line {
        let most = (1 << Line::BITS) - 1;
        Line((source.min(255) as u32) << Line::BITS | line.min(most) as u32)
    }

    /// The number of the source.
    pub fn source(self) -> usize {
        (self.0 >> Line::BITS) as usize
    }

    /// The number of the line, from 1.
    pub fn number(self) -> u32 {
        self.0 & ((1 << Line::BITS) - 1)
    }
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cmp {
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
}

/// Subscript lists: `a[i, j][k]` has two, the first with two expressions.
pub type Subscripts = Vec<Vec<Expr>>;

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    Num(f64),
    Str(Vec<u8>),
    /// `/re/`: matched against `$0` unless used as a pattern.
    Regex(Vec<u8>),
    TypedRegex(Vec<u8>),
    Var(Var),
    Index(Var, Subscripts),
    Field(Box<Expr>),
    Group(Box<Expr>),
    /// `(a, b)`: only before `in` and as arguments of `print`.
    List(Vec<Expr>),
    Neg(Box<Expr>),
    Plus(Box<Expr>),
    Not(Box<Expr>),
    /// Left to right, one precedence.
    Chain(Box<Expr>, Vec<(Arith, Expr)>),
    Concat(Vec<Expr>),
    Compare(Cmp, Box<Expr>, Box<Expr>),
    Match {
        negate: bool,
        text: Box<Expr>,
        pattern: Box<Expr>,
    },
    In(Vec<Expr>, Var, Subscripts),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// `c ? x : d ? y : z`.
    Cond(Vec<(Expr, Expr)>, Box<Expr>),
    Assign(Box<Expr>, Box<Expr>),
    Update(Box<Expr>, Arith, Box<Expr>),
    /// `++x`, `x--`.
    Step {
        target: Box<Expr>,
        delta: f64,
        prefix: bool,
    },
    Call(u32, Vec<Expr>),
    Indirect(Var, Vec<Expr>),
    Builtin(Builtin, Vec<Expr>),
    Getline(Input, Option<Box<Expr>>),
}

/// Where `getline` reads.
#[derive(Clone, Debug)]
pub enum Input {
    Main,
    File(Box<Expr>),
    Command(Box<Expr>),
    Coprocess(Box<Expr>),
}

/// How output is redirected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Redirect {
    Truncate,
    Append,
    Pipe,
    Coprocess,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    pub line: Line,
    pub kind: StmtKind,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    Block(Vec<Stmt>),
    Expr(Expr),
    Print(Vec<Expr>, Option<(Redirect, Expr)>),
    Printf(Vec<Expr>, Option<(Redirect, Expr)>),
    /// `if`, any number of `else if`, `else`.
    If(Vec<(Expr, Stmt)>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    For(Option<Box<Stmt>>, Option<Expr>, Option<Box<Stmt>>, Box<Stmt>),
    ForIn(Var, Var, Subscripts, Box<Stmt>),
    Switch(Expr, Vec<Case>),
    Break,
    Continue,
    Next,
    NextFile,
    Exit(Option<Expr>),
    Return(Option<Expr>),
    /// An element, or with the last list empty the whole array.
    Delete(Var, Subscripts),
    DeleteAll(Var),
}

/// A `case` or `default` of a `switch`.
#[derive(Clone, Debug)]
pub struct Case {
    pub label: Label,
    pub body: Vec<Stmt>,
}

/// What a `case` is compared with.
#[derive(Clone, Debug)]
pub enum Label {
    Default,
    Num(f64),
    Str(Vec<u8>),
    Regex(Vec<u8>),
}

/// When a rule acts.
#[derive(Clone, Debug)]
pub enum Pattern {
    Always,
    When(Expr),
    Range(Expr, Expr),
}

/// A pattern with its action.
#[derive(Clone, Debug)]
pub struct Rule {
    pub line: Line,
    pub pattern: Pattern,
    /// `None`: print the record.
    pub action: Option<Vec<Stmt>>,
}

/// A function; one that is called before its definition is known by name only at first.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: Vec<u8>,
    pub params: usize,
    pub body: Vec<Stmt>,
    pub defined: bool,
    pub line: Line,
}

/// A parsed program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub begin: Vec<Vec<Stmt>>,
    pub end: Vec<Vec<Stmt>>,
    pub begin_file: Vec<Vec<Stmt>>,
    pub end_file: Vec<Vec<Stmt>>,
    pub rules: Vec<Rule>,
    pub functions: Vec<Function>,
    /// Names of global variables by number; the special ones come first.
    pub globals: Vec<Vec<u8>>,
}
