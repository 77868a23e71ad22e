//! s
#![forbid(unsafe_code)]
pub mod delta;
