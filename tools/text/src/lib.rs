//! Pure functions over bytes that tools and shell share. No I/O, no globals.
//!
//! | module | contents |
//! |---|---|
//! | `base64` | encoding of bytes in base64 |
//! | `glob` | shell patterns (POSIX XCU 2.13) with bash's extglob; one compiled matcher for `case`, `[[`, `${x#p}`, pathname expansion, `find -name` |
//! | `escape` | backslash escapes of `$'...'`, `echo -e`, `printf`, `tr`, and shell quoting (`printf %q`, `${x@Q}`, `ls --quoting-style`) |
//! | `mode` | permission bits: octal and symbolic modes, `rwxr-xr-x` |
//! | `number` | parsing and formatting of integers and sizes |
//! | `perl` | patterns of PCRE2 and Oniguruma, rewritten for `fancy-regex` |
//! | `printf` | one conversion (`%-08.3f`) over integers, floats and strings, C semantics |
//! | `regex` | POSIX BRE and ERE with GNU extensions, leftmost-longest |
//! | `time` | calendar, `strftime` formats, time zones |
#![forbid(unsafe_code)]

pub mod base64;
pub mod escape;
pub mod glob;
pub mod mode;
pub mod number;
pub mod perl;
pub mod printf;
pub mod regex;
pub mod time;

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
