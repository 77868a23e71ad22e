//! Instructions. The input of an expression is the top of the stack; its output replaces it.

use crate::builtins::Native;
use crate::lang::ast::BinOp;
use crate::value::{Str, Value};

/// A variable: in the frame `level` definitions further out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub level: u16,
    pub at: u16,
}

/// An argument that is at hand, or was computed and left on the stack below the input.
#[derive(Clone, Debug)]
pub enum Operand {
    Stack,
    Input,
    Const(Value),
    Var(Slot),
    /// A field of the input.
    Field(Value),
}

/// An instruction. What it works on is on the stack unless it says otherwise.
#[derive(Debug)]
pub enum Op {
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

    /// `t[k]`: input is `t`, the key below it.
    Index(bool),
    IndexBy(Operand, bool),
    /// Makes the key of a slice of the bounds below the input.
    SliceKey,
    Each(bool),
    Recurse,

    LoadVar(Slot),
    /// Like `LoadVar`, leaving null in the variable.
    TakeVar(Slot),
    /// Pushes the variable's value, which stays in it.
    PushVar(Slot),
    /// Pushes the variable's value, leaving null in it.
    PushTake(Slot),
    StoreVar(Slot),
    /// Sets a variable to null, an empty array.
    ClearVar(Slot),
    InitArray(Slot),
    /// Moves the input to the end of the array in a variable and backtracks.
    Append(Slot),

    Jump(u32),
    /// Takes the input; jumps if it is false or null.
    JumpFalse(u32),
    Backtrack,
    /// Takes the input; backtracks if it is false or null.
    BacktrackFalse,
    Fork(u32),
    TryBegin(u32),
    TryEnd(u32),
    /// `a // b`: where `b` begins, and the variable that says whether `a` gave anything.
    AltBegin(u32, Slot),
    AltFound(u32, Slot),
    /// Goes to the next pattern on any error.
    PatternAlt(u32),
    Label(Slot),
    Break(Slot),
    /// Remembers the forks there are; drops those made since.
    Mark(Slot),
    Cut(Slot),

    NewObject,
    Insert(Operand, Operand),
    Binary(BinOp, Operand, Operand),
    Negate,
    /// Index into `Program::texts`.
    Text(u32),
    /// Index into `Program::natives`.
    Native(u32),
    Range(bool),

    /// Index into `Program::calls`.
    Call(u32),
    TailCall(u32),
    Ret,

    PathBegin,
    PathEnd,
    GetPath(Operand),
    /// Sets the path in the second variable, in the value of the first, to the third.
    SetPath(Slot, Slot, Slot),
    /// Pushes what is at the path in the second variable, taken out of the first.
    TakePath(Slot, Slot),
    /// Puts the input at the path.
    PutPath(Slot, Slot),
    /// Adds the second variable's value to the array in the first and backtracks.
    AddTo(Slot, Slot),
    /// Pushes the first variable's value, taken out of it, without the paths in the second.
    DeletePaths(Slot, Slot),

    /// The program's output.
    Emit,
}

impl Op {
    /// Where it may jump to.
    pub fn target(&mut self) -> Option<&mut u32> {
        match self {
            Op::Jump(t)
            | Op::JumpFalse(t)
            | Op::Fork(t)
            | Op::TryBegin(t)
            | Op::TryEnd(t)
            | Op::AltBegin(t, _)
            | Op::AltFound(t, _)
            | Op::PatternAlt(t) => Some(t),
            _ => None,
        }
    }
}

/// A function whose frame's definition is `level` definitions further out, or a parameter.
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
    /// The function's number, if it is known.
    pub fn id(&self) -> Option<u32> {
        match self {
            Callee::Func { id, .. } | Callee::Global { id } => Some(*id),
            Callee::Param { .. } => None,
        }
    }
}

/// Who is called, with which arguments.
#[derive(Debug)]
pub struct CallSite {
    pub callee: Callee,
    pub args: Vec<Callee>,
}

impl CallSite {
    /// Whether the call needs nothing of the frame it is made in.
    pub fn leaves_frame(&self) -> bool {
        let free = |c: &Callee| !matches!(c, Callee::Func { level: 0, .. });
        free(&self.callee) && self.args.iter().all(free)
    }
}

/// Which native function is called, with which arguments.
#[derive(Debug)]
pub struct NativeSite {
    pub native: Native,
    pub args: Vec<Operand>,
}

/// A string with interpolations: `None` where the next value from the stack goes.
#[derive(Debug)]
pub struct TextSite {
    pub format: Option<String>,
    pub parts: Vec<Option<Str>>,
}

/// A compiled function.
#[derive(Debug, Default)]
pub struct Func {
    pub code: Vec<Op>,
    /// Where the code begins in `Program::code`.
    pub entry: u32,
    pub locals: u32,
}

/// A compiled program. Function 0 is the main one.
#[derive(Debug, Default)]
pub struct Program {
    pub code: Vec<Op>,
    pub funcs: Vec<Func>,
    pub calls: Vec<CallSite>,
    pub natives: Vec<NativeSite>,
    pub texts: Vec<TextSite>,
}

impl Program {
    /// Joins the functions' code, and makes calls at their ends tail calls.
    pub fn link(&mut self) {
        for func in &mut self.funcs {
            let base = self.code.len() as u32;
            func.entry = base;
            for at in 0..func.code.len() {
                if let Some(Op::Call(site)) = func.code.get(at)
                    && self.calls.get(*site as usize).is_some_and(CallSite::leaves_frame)
                    && returns(&func.code, at + 1)
                {
                    func.code[at] = Op::TailCall(*site);
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

/// Whether the code at `at` only returns.
fn returns(code: &[Op], mut at: usize) -> bool {
    // Jumps go forward only, so this ends.
    loop {
        match code.get(at) {
            Some(Op::Ret) => return true,
            Some(Op::Jump(t)) if *t as usize > at => at = *t as usize,
            _ => return false,
        }
    }
}
