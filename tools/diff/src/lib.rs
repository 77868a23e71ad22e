//! Tools that compare files, `diff`, `diff3` and `cmp`, and `patch`, which applies the output of
//! `diff`.
//!
//! | file | contents |
//! |---|---|
//! | `diff/mod` | `diff`'s command line, pairs of files, statuses |
//! | `diff/compare` | lines, the rules by which they are equal, the list of changes |
//! | `diff/format` | normal, unified, context, ed and side-by-side output |
//! | `diff/tree` | directories |
//! | `diff3` | three files: listing, ed script, merge |
//! | `cmp` | byte-wise comparison |
//! | `patch` | applies unified and normal diffs, with fuzz |
//!
//! The line algorithm is imara-diff's Myers; forms, messages and statuses follow GNU diffutils 3.8
//! and GNU patch 2.7.
#![forbid(unsafe_code)]

mod cmp;
mod diff;
mod diff3;
mod patch;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::new("cmp", cmp::run, "find where two files differ"),
    Applet::new("diff", diff::run, "show how files differ"),
    Applet::new("diff3", diff3::run, "compare or merge three files line by line"),
    Applet::new("patch", patch::run, "change files as a diff says"),
];
