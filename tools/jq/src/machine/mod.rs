//! The machine that runs programs: compiled code with backtracking.
//!
//! Each output of a filter is one path through its code. Where there is more than one path, the
//! code leaves a *fork*, which records the place to continue at and the state to restore. A request
//! for the next output backtracks to the latest fork; an error unwinds forks until one catches it.
//! All state is on stacks in the heap, so that only memory limits recursion in a program, and calls
//! in tail position take no space.
//!
//! | file | contents |
//! |---|---|
//! | `code` | the instructions |
//! | `compile` | from syntax tree to instructions: scopes, control flow |
//! | `calls` | the part of it about functions, and the expansion of built-in ones |
//! | `update` | the part of it about assignments |
//! | `stack` | values, frames and forks |
//! | `track` | the path of the current value, inside `path(...)` |
//! | `run` | the loop over instructions |
//! | `unwind` | backtracking: to the next path, or to a handler |

mod calls;
mod code;
mod compile;
mod run;
mod stack;
mod track;
mod unwind;
mod update;

pub use code::JqProgram;
pub use compile::{CompileError, JqCompiler, NameBinding, NameScope};
pub use run::JqMachine;

use crate::value::Value;

/// The reason why a program stopped without an output.
#[derive(Debug)]
pub enum JqStop {
    /// An error that nothing caught.
    Error(Value),
    /// `break` without its label.
    Break,
    /// `halt`, `halt_error`: the host knows the status.
    Halt,
}
