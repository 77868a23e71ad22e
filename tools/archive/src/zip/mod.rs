//! `zip`, `unzip` and `zipinfo` (Info-ZIP's zip 3.0 and unzip 6.00 manuals).
//!
//! | file | contents |
//! |---|---|
//! | `format` | the container: directory, headers, times |
//! | `data` | unpacking and checking a member |
//! | `unzip` | the members that `unzip` selects, and the work on each; `unzip/options` its command line |
//! | `extract` | members back into files; defences against hostile archives |
//! | `list` | the tables of `unzip -l`, `-v` and `zipinfo` |
//! | `create` | `zip`: files into an archive, members out of it; `create/options` its command line |
//!
//! Deliberately absent: encryption, archives in several parts, names in other character sets.

mod create;
mod data;
mod extract;
mod format;
mod list;
mod unzip;

use std::io::Write;

use box_applet::Ctx;
use box_text::glob::{GlobOptions, GlobPattern};

pub use create::run as zip;
pub use unzip::{run_unzip, run_zipinfo};

/// Returns a pattern for names of members: `*` matches slashes, too.
fn member_pattern(text: &[u8], ignore_case: bool) -> GlobPattern {
    GlobPattern::new(text, GlobOptions { ignore_case, ..GlobOptions::default() })
}

/// Returns a name as text for a message.
fn lossy_name(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Writes a message to standard error, after the text already written to standard output.
fn print_message(ctx: &mut Ctx<'_>, text: &str) {
    let _ = ctx.stdout.flush();
    let _ = ctx.stderr.write_all(text.as_bytes());
}

/// Returns the saved share in per cent, rounded, as both tools print it.
fn saved_percent(size: u64, packed: u64) -> i64 {
    let (size, packed) = (size as f64, packed as f64);
    if size == 0.0 { 0 } else { (100.0 * (size - packed) / size).round() as i64 }
}
