//! Instructions of the machine.

use crate::ast::{AwkComparison, OutputRedirect, SourceLine};
use crate::builtin::AwkBuiltin;
use crate::special::Special;
use crate::token::AwkArith;
use crate::value::AwkValue;

/// An address in the code.
pub type Pc = u32;

/// The place of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayPlace {
    Global(u32),
    Local(u32),
    /// The top of the stack of arrays, for an inner array (`a[i][...]`).
    Inner,
}

/// Something assignable. Fields and elements take their number or subscript from the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignableTarget {
    Global(u32),
    Special(Special),
    Local(u32),
    /// `$0`.
    Record,
    /// `$n`, the number on the stack.
    Field,
    /// `a[i]`, the subscript on the stack.
    Element(ArrayPlace),
    /// `SYMTAB[name]`, the name on the stack.
    Symbol,
}

/// The value that an update leaves on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateResult {
    Nothing,
    Old,
    New,
}

/// The source from which `getline` reads; its name is on the stack, except for `Main`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetlineInput {
    Main,
    File,
    Command,
    Coprocess,
}

/// One instruction. Operands come from the value stack, the last one on top.
#[derive(Clone, Copy, Debug)]
pub enum AwkOp {
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
    /// An element of an array, which is created if it is missing.
    Element(ArrayPlace),
    /// `SYMTAB[name]`.
    Symbol,
    /// Makes an inner array (subscript on the stack) the top of the stack of arrays.
    Inner(ArrayPlace),
    /// Pushes an array onto the stack of arrays, for a built-in function.
    Array(ArrayPlace),
    /// Joins n subscripts by SUBSEP.
    Subscript(u32),
    Set(AssignableTarget),
    /// Assigns as `Set` does, and leaves the value on the stack.
    SetKeep(AssignableTarget),
    Update(AwkArith, AssignableTarget, UpdateResult),
    Step(f32, AssignableTarget, UpdateResult),
    /// `v = v x`: appends the top of the stack to a variable.
    Append(AssignableTarget, UpdateResult),
    In(ArrayPlace),
    Delete(ArrayPlace),
    DeleteAll(ArrayPlace),
    Dup,
    Pop,
    Arith(AwkArith),
    Neg,
    Plus,
    Not,
    Concat(u32),
    Compare(AwkComparison),
    /// Matches the text on the stack with the pattern of this number; `true` negates.
    Match(u32, bool),
    /// Matches a text with a pattern, both on the stack.
    MatchDynamic(bool),
    /// Matches `$0` with the pattern of this number.
    MatchRecord(u32),
    Jump(Pc),
    JumpIf(Pc),
    JumpUnless(Pc),
    /// Compares and jumps if the comparison does not hold.
    JumpUnlessCmp(AwkComparison, Pc),
    /// Stores a pattern for the next built-in function: by number, or from the stack.
    Pattern(u32),
    PatternDynamic,
    /// Makes an argument for the next call: a value, a variable or an array.
    ArgValue,
    ArgVar(ArrayPlace),
    ArgArray(ArrayPlace),
    /// Makes an argument of an inner array, whose subscript is on the stack.
    ArgElement(ArrayPlace),
    Call(u32, u32),
    /// The function's name lies below the arguments.
    CallIndirect(u32),
    /// The body of a function that the program calls but does not define.
    Missing(u32),
    Return,
    Builtin(AwkBuiltin, u32),
    /// Length of a variable that may turn out to be an array.
    LengthOf(ArrayPlace),
    /// `isarray` (false) or `typeof` (true) of a variable, which may be an array or unassigned.
    TypeOf(ArrayPlace, bool),
    TypeOfElement(ArrayPlace, bool),
    TypeOfValue(bool),
    /// Length of `$0`.
    LengthRecord,
    /// Length of an element that may be an inner array.
    LengthOfElement(ArrayPlace),
    /// `split` by the pattern stored before.
    SplitPattern(u32),
    /// An argument that should be an array is not one.
    NotArray,
    /// `sub` and `gsub` of a value that cannot be assigned to.
    SubstValue(bool),
    /// `sub` and `gsub`, with the pattern stored before. The replacement is on the stack, and above
    /// it the target's address if it has one.
    Subst(bool, AssignableTarget),
    Getline(GetlineInput, Option<AssignableTarget>),
    Print(u32, Option<OutputRedirect>),
    Printf(u32, Option<OutputRedirect>),
    /// Starts `for (k in a)`: collects the subscripts.
    ForIn(ArrayPlace),
    /// Assigns the next subscript to the target, or jumps if there are no more.
    ForNext(AssignableTarget, Pc),
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
    /// Whether the function is called but not defined, which is an error when the call runs.
    pub missing: bool,
}

/// A compiled program.
#[derive(Debug, Default)]
pub struct AwkCode {
    pub ops: Vec<AwkOp>,
    /// Source line of each instruction, for messages.
    pub lines: Vec<SourceLine>,
    /// Names of the sources' files; `None` for text of the command line.
    pub sources: Vec<Option<Vec<u8>>>,
    pub consts: Vec<AwkValue>,
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
