//! The program as typed nodes, in which names are resolved to places.
//!
//! Operators that people chain by the hundred (`a b c`, `x + y + z`, `else if`) are lists, so
//! that no pass over the tree recurses deeper than the source nests.

use crate::builtin::AwkBuiltin;
use crate::token::AwkArith;

/// The storage of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AwkVar {
    Global(u32),
    /// A parameter of the current function.
    Local(u32),
}

/// A line of a source, packed: the source's number in the upper 8 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceLine(u32);

impl SourceLine {
    const BITS: u32 = 24;

    /// Packs a source's number and a line's. A number that is too large for its bits becomes the
    /// maximum.
    pub fn new(source: usize, line: usize) -> SourceLine {
        let most = (1 << SourceLine::BITS) - 1;
        SourceLine((source.min(255) as u32) << SourceLine::BITS | line.min(most) as u32)
    }

    /// Returns the number of the source.
    pub fn source(self) -> usize {
        (self.0 >> SourceLine::BITS) as usize
    }

    /// Returns the number of the line, from 1.
    pub fn number(self) -> u32 {
        self.0 & ((1 << SourceLine::BITS) - 1)
    }
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwkComparison {
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
}

/// Subscript lists: `a[i, j][k]` has two, the first with two expressions.
pub type Subscripts = Vec<Vec<AwkExpr>>;

/// An expression.
#[derive(Clone, Debug)]
pub enum AwkExpr {
    Num(f64),
    Str(Vec<u8>),
    /// `/re/`: matched against `$0` unless used as a pattern.
    Regex(Vec<u8>),
    TypedRegex(Vec<u8>),
    Var(AwkVar),
    Index(AwkVar, Subscripts),
    Field(Box<AwkExpr>),
    Group(Box<AwkExpr>),
    /// `(a, b)`: only before `in` and as arguments of `print`.
    List(Vec<AwkExpr>),
    Neg(Box<AwkExpr>),
    Plus(Box<AwkExpr>),
    Not(Box<AwkExpr>),
    /// Left to right, one precedence.
    Chain(Box<AwkExpr>, Vec<(AwkArith, AwkExpr)>),
    Concat(Vec<AwkExpr>),
    Compare(AwkComparison, Box<AwkExpr>, Box<AwkExpr>),
    Match {
        negate: bool,
        text: Box<AwkExpr>,
        pattern: Box<AwkExpr>,
    },
    In(Vec<AwkExpr>, AwkVar, Subscripts),
    And(Vec<AwkExpr>),
    Or(Vec<AwkExpr>),
    /// `c ? x : d ? y : z`.
    Cond(Vec<(AwkExpr, AwkExpr)>, Box<AwkExpr>),
    Assign(Box<AwkExpr>, Box<AwkExpr>),
    Update(Box<AwkExpr>, AwkArith, Box<AwkExpr>),
    /// `++x`, `x--`.
    Step {
        target: Box<AwkExpr>,
        delta: f64,
        prefix: bool,
    },
    Call(u32, Vec<AwkExpr>),
    Indirect(AwkVar, Vec<AwkExpr>),
    Builtin(AwkBuiltin, Vec<AwkExpr>),
    Getline(GetlineSource, Option<Box<AwkExpr>>),
}

/// The source from which `getline` reads.
#[derive(Clone, Debug)]
pub enum GetlineSource {
    Main,
    File(Box<AwkExpr>),
    Command(Box<AwkExpr>),
    Coprocess(Box<AwkExpr>),
}

/// The kind of a redirection of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputRedirect {
    Truncate,
    Append,
    Pipe,
    Coprocess,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    pub line: SourceLine,
    pub kind: StmtKind,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    Block(Vec<Stmt>),
    Expr(AwkExpr),
    Print(Vec<AwkExpr>, Option<(OutputRedirect, AwkExpr)>),
    Printf(Vec<AwkExpr>, Option<(OutputRedirect, AwkExpr)>),
    /// `if`, any number of `else if`, `else`.
    If(Vec<(AwkExpr, Stmt)>, Option<Box<Stmt>>),
    While(AwkExpr, Box<Stmt>),
    DoWhile(Box<Stmt>, AwkExpr),
    For(Option<Box<Stmt>>, Option<AwkExpr>, Option<Box<Stmt>>, Box<Stmt>),
    ForIn(AwkVar, AwkVar, Subscripts, Box<Stmt>),
    Switch(AwkExpr, Vec<AwkCase>),
    Break,
    Continue,
    Next,
    NextFile,
    Exit(Option<AwkExpr>),
    Return(Option<AwkExpr>),
    /// An element, or the whole array if the last list is empty.
    Delete(AwkVar, Subscripts),
    DeleteAll(AwkVar),
}

/// A `case` or `default` of a `switch`.
#[derive(Clone, Debug)]
pub struct AwkCase {
    pub label: Label,
    pub body: Vec<Stmt>,
}

/// The label of a `case`: the value or the expression that the subject is compared with.
#[derive(Clone, Debug)]
pub enum Label {
    Default,
    Num(f64),
    Str(Vec<u8>),
    Regex(Vec<u8>),
}

/// The condition under which a rule acts.
#[derive(Clone, Debug)]
pub enum AwkPattern {
    Always,
    When(AwkExpr),
    Range(AwkExpr, AwkExpr),
}

/// A pattern with its action.
#[derive(Clone, Debug)]
pub struct AwkRule {
    pub line: SourceLine,
    pub pattern: AwkPattern,
    /// `None`: print the record.
    pub action: Option<Vec<Stmt>>,
}

/// A function. If it is called before its definition, at first only its name is known.
#[derive(Clone, Debug)]
pub struct AwkFunction {
    pub name: Vec<u8>,
    pub params: usize,
    pub body: Vec<Stmt>,
    pub defined: bool,
    pub line: SourceLine,
}

/// A parsed program.
#[derive(Clone, Debug, Default)]
pub struct AwkProgram {
    pub begin: Vec<Vec<Stmt>>,
    pub end: Vec<Vec<Stmt>>,
    pub begin_file: Vec<Vec<Stmt>>,
    pub end_file: Vec<Vec<Stmt>>,
    pub rules: Vec<AwkRule>,
    pub functions: Vec<AwkFunction>,
    /// Names of global variables by number; the special ones come first.
    pub globals: Vec<Vec<u8>>,
}
