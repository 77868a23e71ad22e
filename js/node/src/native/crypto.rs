//! Cryptography by the RustCrypto crates: hashes and functions built on them, ciphers, public keys.
//!
//! | file | contents |
//! |---|---|
//! | `hash` | hashes, HMAC, and the derivation of keys by them |
//! | `cipher` | AES in its modes, ChaCha20, both with authentication: states that take bytes piece by piece |
//! | `number` | RSA, Diffie-Hellman, primes: arithmetic of large numbers |
//! | `curve` | ECDSA and ECDH, Ed25519, X25519 |
//!
//! Names, encodings, padding of messages for RSA and the errors that scripts see are in
//! `lib/crypto*.js`.

mod cipher;
mod curve;
mod hash;
mod number;

use super::throw_text;
use rquickjs::{ArrayBuffer, Ctx, Object, Result};

/// Returns a length that a script requests, if memory may be taken for it.
fn bounded(ctx: &Ctx<'_>, length: usize) -> Result<usize> {
    const MOST: usize = 1 << 26;
    if length <= MOST { Ok(length) } else { Err(throw_text(ctx, "ENOMEM")) }
}

/// Returns the result, or `EINVAL`.
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
