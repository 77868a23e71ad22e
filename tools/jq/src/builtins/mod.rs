//! Built-in functions.
//!
//! Most are native. Those that take filters are written in jq (`defs.jq`) and expanded where they
//! are called. A few that control the machine are instructions (see `machine::calls`).

mod arith;
mod arrays;
mod convert;
mod format;
mod host;
mod library;
mod math;
mod objects;
mod regex;
mod strings;
mod time;
mod time_text;

pub use arith::{apply_binary, negate_value};
pub use format::format_into;
pub use host::{JqHost, JqInputs, JqStreams};
pub use library::BuiltinLibrary;

use crate::value::{Result, Value};

/// A native function of the input and the arguments.
pub type Run = fn(&mut JqHost<'_>, Value, &mut [Value]) -> Result<Value>;

/// A native function with its name and number of parameters.
#[derive(Clone, Copy, Debug)]
pub struct Native {
    pub name: &'static str,
    pub arity: usize,
    pub run: Run,
}

/// Declares native functions: `name/arity => function`.
macro_rules! natives {
    ($($name:literal / $arity:literal => $run:expr),* $(,)?) => {
        &[$($crate::builtins::Native { name: $name, arity: $arity, run: $run }),*]
    };
}
pub(crate) use natives;

/// Moves an argument out.
pub fn take_argument(args: &mut [Value], i: usize) -> Value {
    args.get_mut(i).map_or(Value::Null, |v| std::mem::replace(v, Value::Null))
}

/// Returns an error with a text.
pub fn fail_with<T>(text: impl Into<String>) -> Result<T> {
    Err(Value::str(text))
}
