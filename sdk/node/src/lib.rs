//! The native half of the package for Node: the embedding API for the package's TypeScript, which
//! defines its interface.
//!
//! Options and answers are passed as JSON, in the words of `wasibox-sdk`; bytes as buffers. The
//! TypeScript half declares in `lib/native.cts` the functions that it calls here.
//!
//! # Invariants
//! - Nothing waits on the loop's thread, nor on libuv's four: each call has a thread of
//!   `wasibox-sdk`'s, and its promise is settled in the loop.
//! - Functions of JavaScript's are called in the loop. Output waits for them: a reader that is slow
//!   slows the guest.
#![deny(unsafe_code)]

mod call;
mod engine;
mod session;
mod settle;
mod tools;

/// A buffer's memory waits for JavaScript's collector, which comes by the dozen megabytes. glibc
/// gives it back to the system then, and fresh pages take five times as long as the copy into them;
/// this one keeps it for a while.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;
