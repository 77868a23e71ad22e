//! `zip`, `unzip` and `zipinfo` (Info-ZIP's zip 3.0 and unzip 6.00 manuals).
//!
//! | file | contents |
//! |---|---|
//! | `format` | the archive format: directory, headers, times |
//! | `data` | unpacking and checking of a member |
//! | `unzip` | `unzip` and `zipinfo`: selection and processing of members |
//! | `unzip/options` | the command lines of `unzip` and `zipinfo` |
//! | `extract` | extraction of members; defences against hostile archives |
//! | `list` | the tables of `unzip -l`, `-v` and `zipinfo` |
//! | `create` | `zip`: adding and deleting of members |
//! | `create/options` | the command line of `zip` |
//! | `create/pack` | writing of members to an archive |
//!
//! Deliberately absent: encryption, archives in several parts, and names in other character sets.

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

/// Returns a pattern for names of members, in which `*` also matches slashes.
fn member_pattern(text: &[u8], ignore_case: bool) -> GlobPattern {
    GlobPattern::new(text, GlobOptions { ignore_case, ..GlobOptions::default() })
}

/// Returns a name as text for a message.
fn lossy_name(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Writes a message to standard error after flushing standard output.
fn print_message(ctx: &mut Ctx<'_>, text: &str) {
    let _ = ctx.stdout.flush();
    let _ = ctx.stderr.write_all(text.as_bytes());
}

/// Returns the saved share in percent, rounded as both tools print it.
fn saved_percent(size: u64, packed: u64) -> i64 {
    let (size, packed) = (size as f64, packed as f64);
    if size == 0.0 { 0 } else { (100.0 * (size - packed) / size).round() as i64 }
}
