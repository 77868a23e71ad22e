//! Word expansion: from a word's tree to the fields of a command (POSIX XCU 2.6, bash manual 3.5).
//!
//! # Map
//! | step | file |
//! |---|---|
//! | brace expansion: one word becomes several, before anything else | `brace` |
//! | walking a word's parts; the entry points below | `word` |
//! | `~` | `tilde` |
//! | `$name`, `${...}` | `param/` |
//! | `$((...))`, `((...))`, subscripts | [`arith`] |
//! | fields under construction, `"$@"`, word splitting | `fields`, `split` |
//! | lists: `$@`, `${a[*]}` and what they do to the word around them | `lists` |
//! | pathname expansion | `pathname` |
//! | `case` and `[[` patterns, regular expressions | `pattern` |
//! | subscripts, `name=(...)` | `subscript`, `compound` |
//! | values, arrays | [`value`], [`array`] |
//! | the shell as seen from here | [`env`] |
//!
//! # Invariants
//! - Effects go through [`Env`] only.
//! - A word is walked once, from left to right, as bash does: `${x=1}$x` sees the assignment.
//! - Splitting happens while text arrives; quoted and literal text is never looked at.
//!   Quoting is remembered per field as the places where it changes, only where a pattern
//!   may need it. Quote removal is therefore nothing to do.
//! - A value that is a whole field (`"$x"`, the elements of `"$@"`) is shared, not copied.
//! - What grows beyond its input (braces, replacement, joins) is charged to [`Env::charge`] before it is kept.
#![forbid(unsafe_code)]

pub mod arith;
pub mod array;
mod brace;
mod compound;
pub mod env;
pub mod error;
mod fields;
mod lists;
mod param;
mod pathname;
mod pattern;
mod split;
mod subscript;
mod tilde;
pub mod value;
mod word;

pub use arith::closing_bracket;
pub use compound::{CompoundElement, brace_elements, compound_elements};
pub use env::{DirEntry, Env, ExpandOptions, Key, Lookup};
pub use error::{Asked, Cause, ExpandError, Reach, Site};
pub use param::chars::char_count;
pub use param::edit::in_case;
pub use param::push_subscript;
pub use pattern::{
    expand_arm_pattern, expand_pattern, expand_pattern_text, expand_pattern_traced, expand_regex,
};
pub use split::{Ifs, split_fields};
pub use subscript::{OwnedKey, element_index, expand_key, subscript_key, subscript_text_key};
pub use value::{Attributes, Str, Value};
pub use word::{
    Late, expand_argument_value, expand_assignment_value, expand_braces_into, expand_element_value,
    expand_heredoc, expand_redirect_target, expand_single, expand_word_into, expand_words,
};
