//! Hashes, message authentication, key derivation and AES, of the RustCrypto crates.
//!
//! What chains from call to call (padding, counters, additional data) is in `lib/crypto.js`; here are
//! the primitives. Only a hash has a state of its own.

use super::{Bytes, Text, throw};
use aes::cipher::{BlockDecryptMut, BlockEncryptMut, KeyIvInit, StreamCipher, StreamCipherSeek};
use aes_gcm::aead::{AeadInPlace, KeyInit};
use digest::{Digest, DynDigest};
use rquickjs::function::{Func, Opt};
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Result};
use std::cell::RefCell;

/// Names as OpenSSL lists them, without dashes, in lower case.
const HASHES: &[&str] = &[
    "md5",
    "ripemd160",
    "rmd160",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha512224",
    "sha512256",
    "sha3224",
    "sha3256",
    "sha3384",
    "sha3512",
    "blake2b512",
    "blake2s256",
];

/// Runs code with the type of a hash as `$H`, or gives `None` for an unknown name.
macro_rules! with_hash {
    ($name:expr, $H:ident => $body:expr) => {
        match $name {
            "md5" => {
                type $H = md5::Md5;
                Some($body)
            }
            "ripemd160" | "rmd160" => {
                type $H = ripemd::Ripemd160;
                Some($body)
            }
            "sha1" => {
                type $H = sha1::Sha1;
                Some($body)
            }
            "sha224" => {
                type $H = sha2::Sha224;
                Some($body)
            }
            "sha256" => {
                type $H = sha2::Sha256;
                Some($body)
            }
            "sha384" => {
                type $H = sha2::Sha384;
                Some($body)
            }
            "sha512" => {
                type $H = sha2::Sha512;
                Some($body)
            }
            "sha512224" => {
                type $H = sha2::Sha512_224;
                Some($body)
            }
            "sha512256" => {
                type $H = sha2::Sha512_256;
                Some($body)
            }
            "sha3224" => {
                type $H = sha3::Sha3_224;
                Some($body)
            }
            "sha3256" => {
                type $H = sha3::Sha3_256;
                Some($body)
            }
            "sha3384" => {
                type $H = sha3::Sha3_384;
                Some($body)
            }
            "sha3512" => {
                type $H = sha3::Sha3_512;
                Some($body)
            }
            "blake2b512" => {
                type $H = blake2::Blake2b512;
                Some($body)
            }
            "blake2s256" => {
                type $H = blake2::Blake2s256;
                Some($body)
            }
            _ => None,
        }
    };
}

/// A name as the macro has it: `RSA-SHA256` and `SHA-256` are `sha256`.
fn plain(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    name.strip_prefix("rsa-").unwrap_or(&name).replace(['-', '/', '_'], "")
}

fn state(name: &str) -> Option<Box<dyn DynDigest>> {
    with_hash!(name, H => Box::new(H::new()) as Box<dyn DynDigest>)
}

/// A hash as a function: with bytes it takes them in, without it gives the digest of what it took.
/// Nothing for an unknown name.
fn hash<'js>(ctx: Ctx<'js>, name: Text) -> Result<Option<Function<'js>>> {
    state(&plain(&name.0)).map(|state| hash_function(&ctx, state)).transpose()
}

fn hash_function<'js>(ctx: &Ctx<'js>, state: Box<dyn DynDigest>) -> Result<Function<'js>> {
    let state = RefCell::new(state);
    Function::new(
        ctx.clone(),
        move |ctx: Ctx<'js>, data: Opt<Bytes>| -> Result<Option<ArrayBuffer<'js>>> {
            match data.0 {
                Some(Bytes(data)) => {
                    state.borrow_mut().update(&data);
                    Ok(None)
                }
                None => {
                    let digest = state.borrow().box_clone().finalize();
                    ArrayBuffer::new(ctx, digest.into_vec()).map(Some)
                }
            }
        },
    )
}

/// The digest's length in bytes; nothing for an unknown name.
fn hash_size(name: Text) -> Option<usize> {
    with_hash!(plain(&name.0).as_str(), H => <H as Digest>::output_size())
}

fn hash_names() -> Vec<String> {
    HASHES.iter().map(|n| (*n).to_string()).collect()
}

/// HMAC (RFC 2104) of what is given at once.
fn hmac<'js>(ctx: Ctx<'js>, name: Text, key: Bytes, data: Bytes) -> Result<ArrayBuffer<'js>> {
    use hmac::Mac;
    let made = with_hash!(plain(&name.0).as_str(), H => {
        let mac = <hmac::SimpleHmac<H> as Mac>::new_from_slice(&key.0);
        mac.map(|m| m.chain_update(&data.0).finalize().into_bytes().to_vec())
    });
    give(ctx, made.and_then(std::result::Result::ok))
}

/// PBKDF2 (RFC 8018).
fn pbkdf2<'js>(
    ctx: Ctx<'js>,
    name: Text,
    password: Bytes,
    salt: Bytes,
    iterations: u32,
    length: usize,
) -> Result<ArrayBuffer<'js>> {
    let mut out = vec![0; bounded(&ctx, length)?];
    let made = with_hash!(plain(&name.0).as_str(), H => {
        pbkdf2::pbkdf2::<hmac::SimpleHmac<H>>(&password.0, &salt.0, iterations, &mut out).is_ok()
    });
    give(ctx, (made == Some(true)).then_some(out))
}

/// HKDF (RFC 5869).
fn hkdf<'js>(
    ctx: Ctx<'js>,
    name: Text,
    key: Bytes,
    salt: Bytes,
    info: Bytes,
    length: usize,
) -> Result<ArrayBuffer<'js>> {
    let mut out = vec![0; bounded(&ctx, length)?];
    let made = with_hash!(plain(&name.0).as_str(), H => {
        hkdf::SimpleHkdf::<H>::new(Some(&salt.0), &key.0).expand(&info.0, &mut out).is_ok()
    });
    give(ctx, (made == Some(true)).then_some(out))
}

/// scrypt (RFC 7914); `log_n` is the binary logarithm of its cost.
fn scrypt<'js>(
    ctx: Ctx<'js>,
    password: Bytes,
    salt: Bytes,
    log_n: u8,
    r: u32,
    p: u32,
    length: usize,
) -> Result<ArrayBuffer<'js>> {
    let mut out = vec![0; bounded(&ctx, length)?];
    // The length in the parameters is for hashes in the PHC format only; that of `out` counts.
    let made = scrypt::Params::new(log_n, r, p, 32)
        .ok()
        .and_then(|params| scrypt::scrypt(&password.0, &salt.0, &params, &mut out).ok());
    give(ctx, made.map(|()| out))
}

/// Whole blocks of AES-CBC, without padding.
fn aes_cbc<'js>(
    ctx: Ctx<'js>,
    encrypt: bool,
    key: Bytes,
    iv: Bytes,
    data: Bytes,
) -> Result<ArrayBuffer<'js>> {
    use aes::cipher::block_padding::NoPadding;
    fn run<E, D>(encrypt: bool, key: &[u8], iv: &[u8], data: &[u8]) -> Option<Vec<u8>>
    where
        E: BlockEncryptMut + KeyIvInit,
        D: BlockDecryptMut + KeyIvInit,
    {
        if encrypt {
            Some(E::new_from_slices(key, iv).ok()?.encrypt_padded_vec_mut::<NoPadding>(data))
        } else {
            D::new_from_slices(key, iv).ok()?.decrypt_padded_vec_mut::<NoPadding>(data).ok()
        }
    }
    use aes::{Aes128, Aes192, Aes256};
    use cbc::{Decryptor, Encryptor};
    if !data.0.len().is_multiple_of(16) {
        return give(ctx, None);
    }
    let (key, iv, data) = (&key.0, &iv.0, &data.0);
    let made = match key.len() {
        16 => run::<Encryptor<Aes128>, Decryptor<Aes128>>(encrypt, key, iv, data),
        24 => run::<Encryptor<Aes192>, Decryptor<Aes192>>(encrypt, key, iv, data),
        32 => run::<Encryptor<Aes256>, Decryptor<Aes256>>(encrypt, key, iv, data),
        _ => None,
    };
    give(ctx, made)
}

/// AES-CTR from the byte `offset` of the key stream on; the counter is big endian, of `bits` 32 or 128.
fn aes_ctr<'js>(
    ctx: Ctx<'js>,
    key: Bytes,
    counter: Bytes,
    offset: f64,
    bits: u32,
    data: Bytes,
) -> Result<ArrayBuffer<'js>> {
    fn run<C: KeyIvInit + StreamCipher + StreamCipherSeek>(
        key: &[u8],
        iv: &[u8],
        at: u64,
        mut data: Vec<u8>,
    ) -> Option<Vec<u8>> {
        let mut cipher = C::new_from_slices(key, iv).ok()?;
        cipher.try_seek(at).ok()?;
        cipher.try_apply_keystream(&mut data).ok()?;
        Some(data)
    }
    use aes::{Aes128, Aes192, Aes256};
    use ctr::{Ctr32BE, Ctr128BE};
    let (key, iv, at, data) = (&key.0, &counter.0, offset as u64, data.0);
    let made = match (key.len(), bits) {
        (16, 32) => run::<Ctr32BE<Aes128>>(key, iv, at, data),
        (24, 32) => run::<Ctr32BE<Aes192>>(key, iv, at, data),
        (32, 32) => run::<Ctr32BE<Aes256>>(key, iv, at, data),
        (16, _) => run::<Ctr128BE<Aes128>>(key, iv, at, data),
        (24, _) => run::<Ctr128BE<Aes192>>(key, iv, at, data),
        (32, _) => run::<Ctr128BE<Aes256>>(key, iv, at, data),
        _ => None,
    };
    give(ctx, made)
}

/// AES-GCM (NIST SP 800-38D) with a nonce of 12 bytes: the ciphertext and its tag of 16 bytes.
fn aes_gcm<'js>(
    ctx: Ctx<'js>,
    key: Bytes,
    nonce: Bytes,
    aad: Bytes,
    data: Bytes,
) -> Result<ArrayBuffer<'js>> {
    use aes_gcm::aead::consts::U12;
    fn run<C>(key: &[u8], nonce: &[u8], aad: &[u8], mut data: Vec<u8>) -> Option<Vec<u8>>
    where
        C: AeadInPlace<NonceSize = U12> + KeyInit,
    {
        let tag = C::new_from_slice(key)
            .ok()?
            .encrypt_in_place_detached(nonce.into(), aad, &mut data)
            .ok()?;
        data.extend_from_slice(&tag);
        Some(data)
    }
    if nonce.0.len() != 12 {
        return give(ctx, None);
    }
    let (key, nonce, aad, data) = (&key.0, &nonce.0, &aad.0, data.0);
    let made = match key.len() {
        16 => run::<aes_gcm::Aes128Gcm>(key, nonce, aad, data),
        24 => run::<aes_gcm::AesGcm<aes::Aes192, U12>>(key, nonce, aad, data),
        32 => run::<aes_gcm::Aes256Gcm>(key, nonce, aad, data),
        _ => None,
    };
    give(ctx, made)
}

/// A length that a script asks for, if memory may be taken for it.
fn bounded(ctx: &Ctx<'_>, length: usize) -> Result<usize> {
    const MOST: usize = 1 << 26;
    if length <= MOST { Ok(length) } else { Err(throw(ctx, "ENOMEM")) }
}

/// The result, or `EINVAL`.
fn give(ctx: Ctx<'_>, made: Option<Vec<u8>>) -> Result<ArrayBuffer<'_>> {
    match made {
        Some(bytes) => ArrayBuffer::new(ctx, bytes),
        None => Err(throw(&ctx, "EINVAL")),
    }
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("hash", Func::from(hash))?;
    native.set("hashSize", Func::from(hash_size))?;
    native.set("hashNames", Func::from(hash_names))?;
    native.set("hmac", Func::from(hmac))?;
    native.set("pbkdf2", Func::from(pbkdf2))?;
    native.set("hkdf", Func::from(hkdf))?;
    native.set("scrypt", Func::from(scrypt))?;
    native.set("aesCbc", Func::from(aes_cbc))?;
    native.set("aesCtr", Func::from(aes_ctr))?;
    native.set("aesGcm", Func::from(aes_gcm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_hash_is_there() {
        for name in HASHES {
            assert!(state(name).is_some(), "{name}");
        }
        assert_eq!(plain("RSA-SHA512/256"), "sha512256");
        assert!(state("whirlpool").is_none());
    }
}
