//! The native half of the package for Node. It gives the embedding API to the package's TypeScript
//! half, which defines the public interface.
//!
//! Options and answers are passed as JSON with the keys of `wasibox-sdk`, and bytes as buffers. The
//! TypeScript half declares the functions of this crate in `lib/native.cts`.
//!
//! # Invariants
//! - Nothing blocks the thread of Node's event loop or the four threads of libuv: each call runs on
//!   a thread of `wasibox-sdk`, and its promise is settled in the event loop.
//! - JavaScript functions are called in the event loop. Output waits for them, so a slow reader
//!   slows the guest down.
#![deny(unsafe_code)]

mod call;
mod engine;
mod session;
mod settle;
mod tools;

/// The memory of buffers is freed by JavaScript's garbage collector, dozens of megabytes at a time.
/// glibc's allocator then returns it to the system, and getting fresh pages takes five times as
/// long as the copy into them. mimalloc keeps the memory for a while.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;
