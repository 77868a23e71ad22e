//! See the crate documentation.
#![forbid(unsafe_code)]

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[];
