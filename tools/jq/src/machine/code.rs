//! Instructions. The input of an expression is the top of the stack; its output replaces it.

use crate::builtins::Native;
use crate::lang::ast::BinOp;
use crate::value::{Str, Value};

/// A variable in the frame of the definition that is `level` levels further out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VarAddress {
    pub level: u16,
    pub at: u16,
}

/// An argument that is available without code, or that was computed and left on the stack below the
/// input.
#[derive(Clone, Debug)]
pub enum OpOperand {
    Stack,
    Input,
    Const(Value),
    Var(VarAddress),
    /// A field of the input.
    Field(Value),
}

/// An instruction. Its operands are on the stack unless its comment says otherwise.
#[derive(Debug)]
pub enum JqOp {
    /// Replaces the input.
    Const(Value),
    Dup,
    Pop,
    /// Duplicates the input; paths are not tracked until `SubEnd`.
    SubBegin,
    /// Puts the result below the input.
    SubEnd,
    NestInc,
    NestDec,

    /// `t[k]`: the input is `t`, and the key is below it.
    Index(bool),
    IndexBy(OpOperand, bool),
    /// Makes the key of a slice from the bounds below the input.
    SliceKey,
    Each(bool),
    Recurse,

    LoadVar(VarAddress),
    /// Like `LoadVar`, leaving null in the variable.
    TakeVar(VarAddress),
    /// Pushes the variable's value, which stays in it.
    PushVar(VarAddress),
    /// Pushes the variable's value, leaving null in it.
    PushTake(VarAddress),
    StoreVar(VarAddress),
    /// Sets a variable to null, an empty array.
    ClearVar(VarAddress),
    InitArray(VarAddress),
    /// Appends the input to the array in a variable, and backtracks.
    Append(VarAddress),

    Jump(u32),
    /// Pops the input, and jumps if it is false or null.
    JumpFalse(u32),
    Backtrack,
    /// Pops the input, and backtracks if it is false or null.
    BacktrackFalse,
    Fork(u32),
    TryBegin(u32),
    TryEnd(u32),
    /// `a // b`: the address of `b`, and the variable that says whether `a` had a true output.
    AltBegin(u32, VarAddress),
    AltFound(u32, VarAddress),
    /// Continues with the next pattern after any error.
    PatternAlt(u32),
    Label(VarAddress),
    Break(VarAddress),
    /// Stores the number of forks in a variable; `Cut` drops those made since.
    Mark(VarAddress),
    Cut(VarAddress),

    NewObject,
    Insert(OpOperand, OpOperand),
    Binary(BinOp, OpOperand, OpOperand),
    Negate,
    /// Index into `JqProgram::texts`.
    Text(u32),
    /// Index into `JqProgram::natives`.
    Native(u32),
    Range(bool),

    /// Index into `JqProgram::calls`.
    Call(u32),
    TailCall(u32),
    Ret,

    PathBegin,
    PathEnd,
    GetPath(OpOperand),
    /// Sets the path in the second variable, in the value of the first, to the third.
    SetPath(VarAddress, VarAddress, VarAddress),
    /// Takes the value at the path in the second variable out of the first variable, and pushes it.
    TakePath(VarAddress, VarAddress),
    /// Puts the input at that path.
    PutPath(VarAddress, VarAddress),
    /// Adds the second variable's value to the array in the first and backtracks.
    AddTo(VarAddress, VarAddress),
    /// Takes the first variable's value, deletes the paths in the second variable from it, and
    /// pushes the result.
    DeletePaths(VarAddress, VarAddress),

    /// Returns the input as the program's output.
    Emit,
}

impl JqOp {
    /// Returns the target if this is a jump.
    pub fn target(&mut self) -> Option<&mut u32> {
        match self {
            JqOp::Jump(t)
            | JqOp::JumpFalse(t)
            | JqOp::Fork(t)
            | JqOp::TryBegin(t)
            | JqOp::TryEnd(t)
            | JqOp::AltBegin(t, _)
            | JqOp::AltFound(t, _)
            | JqOp::PatternAlt(t) => Some(t),
            _ => None,
        }
    }
}

/// A function whose surrounding definition is `level` levels further out, or a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    Func {
        id: u32,
        level: u16,
    },
    /// A function of a module, which needs no surrounding frame.
    Global {
        id: u32,
    },
    Param {
        level: u16,
        at: u16,
    },
}

impl Callee {
    /// Returns the function's number, if it is known.
    pub fn id(&self) -> Option<u32> {
        match self {
            Callee::Func { id, .. } | Callee::Global { id } => Some(*id),
            Callee::Param { .. } => None,
        }
    }
}

/// The callee and the arguments of a call.
#[derive(Debug)]
pub struct CallSite {
    pub callee: Callee,
    pub args: Vec<Callee>,
}

impl CallSite {
    /// Returns whether the call needs nothing from the frame in which it is made.
    pub fn leaves_frame(&self) -> bool {
        let free = |c: &Callee| !matches!(c, Callee::Func { level: 0, .. });
        free(&self.callee) && self.args.iter().all(free)
    }
}

/// The native function that is called, and its arguments.
#[derive(Debug)]
pub struct NativeSite {
    pub native: Native,
    pub args: Vec<OpOperand>,
}

/// A string with interpolations; `None` stands for the next value from the stack.
#[derive(Debug)]
pub struct TextSite {
    pub format: Option<String>,
    pub parts: Vec<Option<Str>>,
}

/// A compiled function.
#[derive(Debug, Default)]
pub struct Func {
    pub code: Vec<JqOp>,
    /// The index at which the code begins in `JqProgram::code`.
    pub entry: u32,
    pub locals: u32,
}

/// A compiled program. Function 0 is the main one.
#[derive(Debug, Default)]
pub struct JqProgram {
    pub code: Vec<JqOp>,
    pub funcs: Vec<Func>,
    pub calls: Vec<CallSite>,
    pub natives: Vec<NativeSite>,
    pub texts: Vec<TextSite>,
}

impl JqProgram {
    /// Joins the functions' code, and makes calls at their ends tail calls.
    pub fn link(&mut self) {
        for func in &mut self.funcs {
            let base = self.code.len() as u32;
            func.entry = base;
            for at in 0..func.code.len() {
                if let Some(JqOp::Call(site)) = func.code.get(at)
                    && self.calls.get(*site as usize).is_some_and(CallSite::leaves_frame)
                    && only_returns(&func.code, at + 1)
                {
                    func.code[at] = JqOp::TailCall(*site);
                }
            }
            for mut op in func.code.drain(..) {
                if let Some(t) = op.target() {
                    *t += base;
                }
                self.code.push(op);
            }
        }
    }
}

/// Returns whether the code at `at` does nothing but return.
fn only_returns(code: &[JqOp], mut at: usize) -> bool {
    // All jumps are forward, so this loop ends.
    loop {
        match code.get(at) {
            Some(JqOp::Ret) => return true,
            Some(JqOp::Jump(t)) if *t as usize > at => at = *t as usize,
            _ => return false,
        }
    }
}
