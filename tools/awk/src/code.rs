//! Instructions of the machine.

use crate::ast::{Cmp, Line, Redirect};
use crate::builtin::Builtin;
use crate::special::Special;
use crate::token::Arith;
use crate::value::Value;

/// An address in the code.
pub type Pc = u32;

/// Where an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Global(u32),
    Local(u32),
    /// On top of the stack of arrays (an inner array, `a[i][...]`).
    Inner,
}

/// Something assignable. Fields and elements take their number or subscript from the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Global(u32),
    Special(Special),
    Local(u32),
    /// `$0`.
    Record,
    /// `$n`, the number on the stack.
    Field,
    /// `a[i]`, the subscript on the stack.
    Element(Place),
    /// `SYMTAB[name]`, the name on the stack.
    Symbol,
}

/// What an update leaves on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Nothing,
    Old,
    New,
}

/// Where `getline` reads; a name is on the stack except for `Main`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    Main,
    File,
    Command,
    Coprocess,
}

/// One instruction. Operands come from the value stack, the last one on top.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Num(f64),
    Const(u32),
    Uninit,
    Global(u32),
    Special(Special),
    Local(u32),
    /// `$n` with n on the stack.
    Field,
    /// `$n`, n constant.
    FieldAt(u32),
    /// Element of an array; created if missing.
    Element(Place),
    /// `SYMTAB[name]`.
    Symbol,
    /// Makes an inner array (subscript on the stack) the top of the stack of arrays.
    Inner(Place),
    /// Pushes an array onto the stack of arrays, for a built-in function.
    Array(Place),
    /// Joins n subscripts by SUBSEP.
    Subscript(u32),
    Set(Target),
    /// As `Set`, the value stays.
    SetKeep(Target),
    Update(Arith, Target, Keep),
    Step(f32, Target, Keep),
    /// `v = v x`: appends the top to a variable.
    Append(Target, Keep),
    In(Place),
    Delete(Place),
    DeleteAll(Place),
    Dup,
    Pop,
    Arith(Arith),
    Neg,
    Plus,
    Not,
    Concat(u32),
    Compare(Cmp),
    /// Text on the stack, pattern by number; `true` negates.
    Match(u32, bool),
    /// Text and pattern on the stack.
    MatchDynamic(bool),
    /// `$0` against a pattern.
    MatchRecord(u32),
    Jump(Pc),
    JumpIf(Pc),
    JumpUnless(Pc),
    /// Compares and jumps if the comparison does not hold.
    JumpUnlessCmp(Cmp, Pc),
    /// A pattern for the next built-in: by number, or from the stack.
    Pattern(u32),
    PatternDynamic,
    /// Arguments for the next call.
    ArgValue,
    ArgVar(Place),
    ArgArray(Place),
    /// An inner array as argument, subscript on the stack.
    ArgElement(Place),
    Call(u32, u32),
    /// The function's name lies below the arguments.
    CallIndirect(u32),
    /// The body of a function that the program calls and does not define.
    Missing(u32),
    Return,
    Builtin(Builtin, u32),
    /// Length of a variable that may turn out to be an array.
    LengthOf(Place),
    /// `isarray` (false) or `typeof` (true) of a variable as it is.
    TypeOf(Place, bool),
    TypeOfElement(Place, bool),
    TypeOfValue(bool),
    /// Length of `$0`.
    LengthRecord,
    /// Length of an element that may be an inner array.
    LengthOfElement(Place),
    /// `split` by the waiting pattern.
    SplitPattern(u32),
    /// An argument that should be an array is none.
    NotArray,
    /// `sub` and `gsub` of a value that cannot be assigned to.
    SubstValue(bool),
    /// `sub` and `gsub`: replacement, then address if any; the pattern waits.
    Subst(bool, Target),
    Getline(From, Option<Target>),
    Print(u32, Option<Redirect>),
    Printf(u32, Option<Redirect>),
    /// Starts `for (k in a)`: collects the subscripts.
    ForIn(Place),
    /// Next subscript into the target, or jump out.
    ForNext(Target, Pc),
    ForEnd,
    /// Jumps if range n is open.
    InRange(u32, Pc),
    SetRange(u32, bool),
    Next,
    NextFile,
    Exit,
    /// `exit` without a value.
    ExitPlain,
    /// End of a piece of code.
    Done,
}

/// A function's entry.
#[derive(Clone, Debug)]
pub struct FunctionCode {
    pub name: Vec<u8>,
    pub params: u32,
    pub entry: Pc,
    /// Called, but nowhere defined: an error when it comes to that.
    pub missing: bool,
}

/// A compiled program.
#[derive(Debug, Default)]
pub struct Code {
    pub ops: Vec<Op>,
    /// Source line of each instruction, for messages.
    pub lines: Vec<Line>,
    /// Names of the sources' files; `None` for text of the command line.
    pub sources: Vec<Option<Vec<u8>>>,
    pub consts: Vec<Value>,
    /// Texts of static patterns.
    pub patterns: Vec<Vec<u8>>,
    pub functions: Vec<FunctionCode>,
    pub globals: Vec<Vec<u8>>,
    pub begin: Option<Pc>,
    pub rules: Option<Pc>,
    pub end: Option<Pc>,
    pub begin_file: Option<Pc>,
    pub end_file: Option<Pc>,
    pub ranges: u32,
}
