//! The coreutils of the box, and small tools people expect beside them.
#![forbid(unsafe_code)]

mod table;
mod uutils;

pub use table::APPLETS;
