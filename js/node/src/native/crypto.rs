//! Cryptography by the RustCrypto crates: hashes and functions built on them, ciphers, public keys.
//!
//! | file | contents |
//! |---|---|
//! | `hash` | hashes, HMAC, and the derivation of keys by them |
//! | `cipher` | AES in its modes and ChaCha20, each also with authentication |
//! | `number` | RSA, Diffie-Hellman and primes, by arithmetic of large numbers |
//! | `curve` | ECDSA and ECDH, Ed25519, X25519 |
//!
//! Names, encodings, the padding of RSA's messages, and the errors that scripts see are in
//! `lib/crypto*.js`.

mod cipher;
mod curve;
mod hash;
mod number;

use super::throw_text;
use rquickjs::{ArrayBuffer, Ctx, Object, Result};

/// Returns a length that a script requests, or throws `ENOMEM` if it is too large.
fn bounded(ctx: &Ctx<'_>, length: usize) -> Result<usize> {
    const MOST: usize = 1 << 26;
    if length <= MOST { Ok(length) } else { Err(throw_text(ctx, "ENOMEM")) }
}

/// Returns the result as a buffer, or throws `EINVAL` if there is none.
fn give(ctx: Ctx<'_>, made: Option<Vec<u8>>) -> Result<ArrayBuffer<'_>> {
    match made {
        Some(bytes) => ArrayBuffer::new(ctx, bytes),
        None => Err(throw_text(&ctx, "EINVAL")),
    }
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    hash::install(native)?;
    cipher::install(native)?;
    number::install(native)?;
    curve::install(native)
}
