//! Backslash escapes and shell quoting (bash manual 3.1.2.4, 4.2 `echo` and `printf`).
//!
//! | file | contents |
//! |---|---|
//! | `decode` | `$'...'`, `echo -e`, `printf %b`, `printf` formats to bytes |
//! | `quote` | bytes to shell source: `printf %q`, `${x@Q}`, `declare -p`, `set` |
//!
//! Each dialect is a value of [`EscapeDialect`], not a function of its own: the dialects differ in
//! a few details.

mod decode;
mod quote;

pub use decode::{
    DecodedText, EscapeDialect, EscapeWarning, ansi_c, control_char, decode_escapes,
    push_code_point, push_escaped,
};
pub use quote::{
    alias_quote, ansi_c_quote, at_q, declare_quote, double_quote, needs_ansi_c, needs_quotes,
    printf_q, set_quote, single_quote,
};
