//! Word expansion: from a word's tree to the fields of a command (POSIX XCU 2.6, bash manual 3.5).
//!
//! # Phases
//! A word goes through these phases, each a function from one type to the next:
//!
//! | phase | from | to | file |
//! |---|---|---|---|
//! | brace expansion | the word's parts | parts of several words | `brace` |
//! | expansion of tildes, parameters, commands, arithmetic | parts | `Phrase`: attributed text | `parts`, `tilde`, `param/`, [`arith`] |
//! | word splitting | `Phrase` | `Field`s: text that records its quoted parts | `split` |
//! | pathname expansion | `Field` | paths, or the field itself | `pathname` |
//! | quote removal | `Field` | [`Str`] | `field` |
//!
//! Attributed text (`attributed`) carries the origin of each character: source text, result of an
//! expansion, or quoted. No phase looks ahead to the work of a later one. Where there is no
//! splitting (values, patterns, here-documents), the texts of a phrase are joined into one field
//! instead. The place of a word decides which phases it goes through; `word` has an entry point for
//! each place.
//!
//! | other parts | file |
//! |---|---|
//! | `case` and `[[` patterns, regular expressions | `pattern` |
//! | subscripts, `name=(...)` | `subscript`, `compound` |
//! | values, arrays | [`value`], [`mod@array`] |
//! | the shell as seen from here | [`mod@env`] |
//! | causes of errors, and how far they reach | [`error`] |
//!
//! # Invariants
//! - Effects go through [`ExpandEnv`] only.
//! - A word is walked once, from left to right, as bash does: `${x=1}$x` sees the assignment.
//! - Only results of unquoted expansions are split, and only unquoted text is a pattern.
//! - A value that is a whole field (`"$x"`, the elements of `"$@"`) is shared, not copied.
//! - Data that grows beyond its input (values, braces, replacement) is charged to
//!   [`ExpandEnv::charge`] before it is kept.
//! - A plain word, `"$x"` and a `$x` with nothing to split take none of these steps (`word`).
#![forbid(unsafe_code)]

pub mod arith;
pub mod array;
mod attributed;
mod brace;
mod compound;
pub mod env;
pub mod error;
mod field;
mod param;
mod parts;
mod pathname;
mod pattern;
mod positional;
mod split;
mod subscript;
mod tilde;
pub mod value;
mod word;

pub use arith::closing_bracket;
pub use compound::{CompoundElement, compound_elements};
pub use env::{ElementKey, ExpandEnv, ExpandOptions, PathnameEntry, VarLookup};
pub use error::{ErrorReach, ExpandCause, ExpandError};
pub use param::chars::char_count;
pub use param::edit::in_case;
pub use param::push_subscript;
pub use pathname::PendingPathnames;
pub use pattern::{
    expand_arm_pattern, expand_pattern, expand_pattern_text, expand_pattern_traced, expand_regex,
};
pub use positional::PositionalList;
pub use split::{Ifs, split_fields};
pub use subscript::{
    OwnedKey, element_index, expand_key, subscript_key, subscript_text, subscript_text_key,
};
pub use value::{Attributes, Str, VarValue};
pub use word::{
    expand_assignment_value, expand_braces_into, expand_heredoc, expand_redirect_target,
    expand_single, expand_word_into, expand_words,
};
