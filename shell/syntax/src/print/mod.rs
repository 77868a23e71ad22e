//! The tree as shell text, in the layout of bash's `declare -f`.

use crate::ast::{ArrayElement, Command, Function, List};

/// A list as commands that parse to the same tree (used to ship code to a spawned shell).
pub fn list(list: &List) -> Vec<u8> {
    let _ = list;
    Vec::new()
}

/// One command.
pub fn command(command: &Command) -> Vec<u8> {
    let _ = command;
    Vec::new()
}

/// A function as `declare -f name` and `type name` show it, without a final newline.
pub fn function(function: &Function) -> Vec<u8> {
    let _ = function;
    Vec::new()
}
pub(crate) fn substitution(out: &mut Vec<u8>, list: &List) {
    let _ = (out, list);
}
pub(crate) fn array_element(out: &mut Vec<u8>, e: &ArrayElement) {
    let _ = (out, e);
}
