//! The active calls of functions and sourced files, which `FUNCNAME`, `BASH_SOURCE`, `BASH_LINENO`,
//! `BASH_ARGV` and `caller` show.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use sh_expand::{PositionalList, Str};

/// One active call: a function or a sourced file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallFrame {
    /// Function name, `source` for a file, `main` at the bottom.
    pub name: Str,
    /// The file whose code runs.
    pub source: Str,
    /// Line of the call.
    pub call_line: u32,
    /// A function call, not a sourced file.
    pub is_function: bool,
    /// The arguments, if the call began in debugging mode. They are not sent to other processes.
    #[serde(skip)]
    pub args: Option<PositionalList>,
}

/// The stack of calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Calls {
    frames: Rc<Vec<CallFrame>>,
    /// The parameters at the time when debugging mode was switched on.
    #[serde(skip)]
    debugged: Option<PositionalList>,
}

impl Calls {
    /// Returns the calls, outermost first.
    pub fn frames(&self) -> &[CallFrame] {
        &self.frames
    }

    /// Returns the number of active calls.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Pushes a call.
    pub fn push(&mut self, frame: CallFrame) {
        Rc::make_mut(&mut self.frames).push(frame);
    }

    /// Pops the innermost call.
    pub fn pop(&mut self) {
        Rc::make_mut(&mut self.frames).pop();
    }

    /// Returns whether a function is active.
    pub fn in_function(&self) -> bool {
        self.frames.iter().any(|f| f.is_function)
    }

    /// Returns whether `return` is allowed, because a function or a sourced file is active.
    pub fn can_return(&self) -> bool {
        self.frames.iter().any(|f| f.is_function || f.name.as_slice() == b"source")
    }

    /// Returns the file whose code runs; `None` outside of files and functions.
    pub fn current_source(&self) -> Option<&Str> {
        self.frames.last().map(|f| &f.source)
    }

    /// Returns the name of the innermost call; empty outside of calls.
    pub fn innermost_name(&self) -> Str {
        self.frames.last().map(|f| f.name.clone()).unwrap_or_default()
    }

    /// Returns the calls that `FUNCNAME` names, innermost first; `None` if `FUNCNAME` is unset.
    pub fn named_frames(&self) -> Option<impl Iterator<Item = &CallFrame>> {
        self.in_function().then(|| self.frames.iter().rev())
    }

    /// Records that debugging mode was switched on with these positional parameters.
    pub fn begin_debugging(&mut self, positional: &PositionalList) {
        if self.debug_arguments().next().is_none() {
            self.debugged = Some(positional.clone());
        }
    }

    /// Returns the arguments of the calls that began in debugging mode, innermost first.
    pub fn debug_arguments(&self) -> impl Iterator<Item = &PositionalList> {
        self.frames.iter().rev().filter_map(|f| f.args.as_ref()).chain(&self.debugged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(is_function: bool, args: Option<&[u8]>) -> CallFrame {
        let args = args.map(|a| vec![Rc::new(a.to_vec())].into());
        CallFrame { name: Str::default(), source: Str::default(), call_line: 0, is_function, args }
    }

    #[test]
    fn arguments_end_with_those_before_debugging() {
        let mut calls = Calls::default();
        calls.begin_debugging(&vec![Rc::new(b"script".to_vec())].into());
        calls.push(call(true, Some(b"call")));
        // A second call has no effect.
        calls.begin_debugging(&PositionalList::default());
        let all: Vec<_> = calls.debug_arguments().map(|a| a[0].to_vec()).collect();
        assert_eq!(all, [b"call".to_vec(), b"script".to_vec()]);
    }
}
