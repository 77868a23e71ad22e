//! s
#![forbid(unsafe_code)]
