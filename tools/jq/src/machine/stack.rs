//! Values, frames and forks.
//!
//! Values form a linked stack inside a growing array. A value that a fork can still need stays in
//! its place: popping it only moves the top, and new values go after it. Values that no fork needs
//! are moved out when popped, so that they have no second owner and can be changed in place. Frames
//! work the same way.

use std::rc::Rc;

use super::track::Track;
use crate::value::{JqItems, Map, Value};

/// The index that means no value or no frame.
pub const NONE: u32 = u32::MAX;

/// A function with the frame of its surrounding definition.
#[derive(Clone, Copy, Debug)]
pub struct JqClosure {
    pub func: u32,
    /// The frame of the definition around it.
    pub env: u32,
}

/// A call that is being run.
#[derive(Clone, Copy, Debug)]
pub struct JqFrame {
    /// The frame of the surrounding definition.
    pub env: u32,
    pub ret_pc: u32,
    pub ret_frame: u32,
    /// The index at which its variables and parameters begin.
    pub locals: u32,
    pub closures: u32,
}

/// The way to continue from a fork.
#[derive(Debug)]
pub enum ForkKind {
    Alt(u32),
    Try(u32),
    /// A `try` body had an output; it does not catch errors of the code after it.
    TryDone,
    /// `a // b`, while `a` runs: the address of `b`, and the variable's place among all variables.
    Or(u32, usize),
    PatternAlt(u32),
    Label(u32),
    Array {
        items: Rc<JqItems>,
        next: usize,
        pc: u32,
    },
    Object {
        map: Rc<Map>,
        next: usize,
        pc: u32,
    },
    Range {
        next: f64,
        end: f64,
        step: f64,
        pc: u32,
    },
    Recurse {
        walk: Box<ContainerWalk>,
        pc: u32,
    },
}

/// A recursion into containers: those that it is in, each with the position of the next child, and
/// the value that was returned last, whose children come next.
#[derive(Debug, Default)]
pub struct ContainerWalk {
    pub open: Vec<(Value, usize)>,
    pub keys: Vec<Value>,
    pub last: Option<Value>,
}

/// A state to return to.
#[derive(Debug)]
pub struct JqFork {
    pub kind: ForkKind,
    top: u32,
    values: u32,
    frame: u32,
    frames: u32,
    locals: u32,
    closures: u32,
    pub track: Option<Rc<Track>>,
}

/// Everything that changes while a program runs.
#[derive(Debug)]
pub struct Stacks {
    values: Vec<(Value, u32)>,
    top: u32,
    pub frames: Vec<JqFrame>,
    pub locals: Vec<Value>,
    pub closures: Vec<JqClosure>,
    pub frame: u32,
    pub forks: Vec<JqFork>,
    pub track: Option<Rc<Track>>,
    /// The lengths of the stacks that the latest fork needs.
    value_limit: u32,
    frame_limit: u32,
}

impl Stacks {
    /// Creates empty stacks.
    pub fn new() -> Stacks {
        Stacks {
            values: Vec::new(),
            top: NONE,
            frames: Vec::new(),
            locals: Vec::new(),
            closures: Vec::new(),
            frame: NONE,
            forks: Vec::new(),
            track: None,
            value_limit: 0,
            frame_limit: 0,
        }
    }

    /// Puts a value on top.
    pub fn push(&mut self, v: Value) {
        self.values.push((v, self.top));
        self.top = self.values.len() as u32 - 1;
    }

    /// Pops a value. The compiler keeps pushes and pops in balance; an empty stack, which cannot
    /// occur, gives null.
    pub fn pop(&mut self) -> Value {
        let at = self.top;
        if at >= self.value_limit {
            // All values above it are left over from paths that were abandoned.
            self.values.truncate(at as usize + 1);
            return match self.values.pop() {
                Some((v, below)) => {
                    self.top = below;
                    v
                }
                None => Value::Null,
            };
        }
        match self.values.get(at as usize) {
            Some((v, below)) => {
                self.top = *below;
                v.clone()
            }
            None => Value::Null,
        }
    }

    /// Returns the value on top; null if there is none.
    pub fn peek_value(&self) -> &Value {
        self.values.get(self.top as usize).map_or(&Value::Null, |(v, _)| v)
    }

    /// Returns the frame `level` definitions out.
    pub fn env_frame(&self, level: u16) -> u32 {
        let mut at = self.frame;
        for _ in 0..level {
            at = self.frames.get(at as usize).map_or(NONE, |f| f.env);
        }
        at
    }

    /// Returns a variable's place among all variables.
    pub fn variable_place(&self, slot: super::code::VarAddress) -> usize {
        let frame = self.env_frame(slot.level) as usize;
        self.frames.get(frame).map_or(0, |f| f.locals as usize) + slot.at as usize
    }

    /// Returns a variable.
    pub fn variable_value(&mut self, slot: super::code::VarAddress) -> &mut Value {
        let at = self.variable_place(slot);
        &mut self.locals[at]
    }

    /// Returns whether no fork needs the current frame.
    pub fn frame_is_free(&self) -> bool {
        self.frame >= self.frame_limit
    }

    /// Enters a frame. The closures of its parameters are already pushed, from `frame.closures` on.
    pub fn enter_frame(&mut self, frame: JqFrame, locals: u32) {
        self.frames.push(frame);
        self.frame = self.frames.len() as u32 - 1;
        self.locals.resize(self.locals.len() + locals as usize, Value::Null);
    }

    /// Drops the current frame if no fork needs it.
    pub fn leave_frame(&mut self, frame: JqFrame) {
        if self.frame_is_free() {
            self.frames.truncate(self.frame as usize);
            self.locals.truncate(frame.locals as usize);
            self.closures.truncate(frame.closures as usize);
        }
    }

    /// Stores the state, so that the machine can return to it.
    pub fn push_fork(&mut self, kind: ForkKind) {
        let fork = JqFork {
            kind,
            top: self.top,
            values: self.values.len() as u32,
            frame: self.frame,
            frames: self.frames.len() as u32,
            locals: self.locals.len() as u32,
            closures: self.closures.len() as u32,
            track: self.track.clone(),
        };
        self.value_limit = fork.values;
        self.frame_limit = fork.frames;
        self.forks.push(fork);
    }

    fn update_limits(&mut self) {
        (self.value_limit, self.frame_limit) =
            self.forks.last().map_or((0, 0), |f| (f.values, f.frames));
    }

    /// Drops the forks from `len` on, without restoring a state.
    pub fn cut_forks(&mut self, len: usize) {
        self.forks.truncate(len);
        self.update_limits();
    }

    /// Restores the latest fork's state and keeps the fork.
    pub fn restore_fork(&mut self) {
        let Some(f) = self.forks.last() else { return };
        self.values.truncate(f.values as usize);
        self.top = f.top;
        self.frame = f.frame;
        self.frames.truncate(f.frames as usize);
        self.locals.truncate(f.locals as usize);
        self.closures.truncate(f.closures as usize);
        self.track.clone_from(&f.track);
    }

    /// Drops the latest fork without restoring its state.
    pub fn drop_fork(&mut self) {
        self.forks.pop();
        self.update_limits();
    }

    /// Restores the latest fork's state and drops the fork.
    pub fn resume_fork(&mut self) {
        self.restore_fork();
        self.drop_fork();
    }

    /// Returns whether `path(...)` allows access to `v`.
    pub fn is_intact(&self, v: &Value) -> bool {
        match &self.track {
            Some(t) if t.nest == 0 => t.at.is_identical(v),
            _ => true,
        }
    }

    /// Returns whether paths are being followed.
    pub fn is_tracking(&self) -> bool {
        self.track.as_ref().is_some_and(|t| t.nest == 0)
    }

    /// Extends the path by a key to a child, if paths are being followed.
    pub fn follow_key(&mut self, key: &Value, v: &Value) {
        if let Some(t) = &mut self.track
            && t.nest == 0
        {
            Rc::make_mut(t).append_key(key.clone(), v.clone());
        }
    }

    /// Enters the evaluation of an argument, where paths are not followed, or leaves it.
    pub fn nest_tracking(&mut self, deeper: bool) {
        if let Some(t) = &mut self.track {
            let t = Rc::make_mut(t);
            t.nest = if deeper { t.nest + 1 } else { t.nest.saturating_sub(1) };
        }
    }
}
