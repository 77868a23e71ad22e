//! `$0` and the positional parameters, and how functions, sourced files and `set` change them.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use sh_expand::{PositionalList, Str};

/// The parameters of a shell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PositionalParams {
    arg0: Str,
    list: PositionalList,
    /// The parameters outside of all functions, while a function runs.
    outermost: Option<PositionalList>,
    /// Whether `set` replaced the parameters since the last function call.
    #[serde(skip)]
    is_replaced: bool,
}

/// The parameters of a function's caller.
pub struct CallerParams {
    list: PositionalList,
    is_outermost: bool,
}

impl PositionalParams {
    /// Returns the parameters that a shell starts with.
    pub fn new(arg0: Vec<u8>, list: Vec<Vec<u8>>) -> PositionalParams {
        let list = PositionalList::from(list.into_iter().map(Rc::new).collect::<Vec<_>>());
        PositionalParams { arg0: Rc::new(arg0), list, outermost: None, is_replaced: false }
    }

    /// Returns `$0`.
    pub fn arg0(&self) -> &Str {
        &self.arg0
    }

    /// Assigns to `BASH_ARGV0`.
    pub fn set_arg0(&mut self, text: &[u8]) {
        self.arg0 = Rc::new(text.to_vec());
    }

    /// Returns `$1` and the following parameters.
    pub fn list(&self) -> &PositionalList {
        &self.list
    }

    /// Returns the parameters outside of all functions.
    pub fn outermost_list(&self) -> &PositionalList {
        self.outermost.as_ref().unwrap_or(&self.list)
    }

    /// Performs `set -- ...`.
    pub fn replace(&mut self, list: Vec<Str>) {
        self.list = list.into();
        self.is_replaced = true;
    }

    /// Drops the first `count` parameters; there are at least that many.
    pub fn shift(&mut self, count: usize) {
        self.list.shift(count);
    }

    /// Replaces the parameters with the arguments of a function and returns the caller's.
    pub fn enter_function(&mut self, args: PositionalList) -> CallerParams {
        let list = std::mem::replace(&mut self.list, args);
        let is_outermost = self.outermost.is_none();
        if is_outermost {
            self.outermost = Some(list.clone());
        }
        CallerParams { list, is_outermost }
    }

    /// Restores the caller's parameters when a function returns.
    pub fn leave_function(&mut self, around: CallerParams) {
        if around.is_outermost {
            self.outermost = None;
        }
        self.list = around.list;
        self.is_replaced = false;
    }

    /// Replaces the parameters with the arguments of a sourced file and returns the caller's.
    #[must_use]
    pub fn enter_file(&mut self, args: &[Str]) -> PositionalList {
        self.is_replaced = false;
        std::mem::replace(&mut self.list, args.to_vec().into())
    }

    /// Restores the parameters when a sourced file ends. If `set` changed them in the file, the
    /// caller keeps the change, except in a function.
    pub fn leave_file(&mut self, around: PositionalList, in_function: bool) {
        let replaced = std::mem::take(&mut self.is_replaced);
        if !replaced || in_function {
            self.list = around;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<Str> {
        text.split(' ').map(|w| Rc::new(w.as_bytes().to_vec())).collect()
    }

    #[test]
    fn a_sourced_file_leaves_what_it_has_set() {
        let mut params = PositionalParams::new(Vec::new(), vec![b"a".to_vec()]);
        let around = params.enter_file(&list("x y"));
        params.replace(list("p q"));
        params.leave_file(around.clone(), false);
        assert_eq!(**params.list(), list("p q"));
        let around = params.enter_file(&list("x y"));
        params.replace(list("r"));
        params.leave_file(around, true);
        assert_eq!(**params.list(), list("p q"));
    }

    #[test]
    fn functions_within_each_other_have_one_outside() {
        let mut params = PositionalParams::new(Vec::new(), vec![b"a".to_vec()]);
        let outer = params.enter_function(list("f").into());
        let inner = params.enter_function(list("g").into());
        assert_eq!(**params.outermost_list(), list("a"));
        params.leave_function(inner);
        assert_eq!(**params.outermost_list(), list("a"));
        params.leave_function(outer);
        assert_eq!(**params.list(), list("a"));
    }
}
