//! Hashes, and the functions built on them: HMAC, PBKDF2, HKDF, scrypt.
//!
//! HMAC, PBKDF2 and HKDF work on [`DynDigest`], so there is one copy of their code for all hashes.
//! The crates of these names would have one copy for each hash.

use super::super::{BufferArgument, TextArgument};
use super::{bounded, give};
use digest::core_api::BlockSizeUser;
use digest::{Digest, DynDigest, ExtendableOutput, Update, XofReader};
use rquickjs::function::{Func, Opt};
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Result, Value};
use std::cell::RefCell;

/// Returns a hash with digests of a fixed length, and its block size in bytes, by the name that
/// [`plain`] returns.
fn fixed(name: &str) -> Option<(Box<dyn DynDigest>, usize)> {
    fn of<H: Digest + BlockSizeUser + DynDigest + 'static>() -> (Box<dyn DynDigest>, usize) {
        (Box::new(<H as Digest>::new()), H::block_size())
    }
    Some(match name {
        "md5" => of::<md5::Md5>(),
        "md5sha1" => (Box::new(Md5Sha1::default()), 64),
        "ripemd160" => of::<ripemd::Ripemd160>(),
        "sha1" => of::<sha1::Sha1>(),
        "sha224" => of::<sha2::Sha224>(),
        "sha256" => of::<sha2::Sha256>(),
        "sha384" => of::<sha2::Sha384>(),
        "sha512" => of::<sha2::Sha512>(),
        "sha512224" => of::<sha2::Sha512_224>(),
        "sha512256" => of::<sha2::Sha512_256>(),
        "sha3224" => of::<sha3::Sha3_224>(),
        "sha3256" => of::<sha3::Sha3_256>(),
        "sha3384" => of::<sha3::Sha3_384>(),
        "sha3512" => of::<sha3::Sha3_512>(),
        "sm3" => of::<sm3::Sm3>(),
        "blake2b512" => (Box::new(blake2::Blake2b512::new()), 128),
        "blake2s256" => (Box::new(blake2::Blake2s256::new()), 64),
        _ => return None,
    })
}

/// The hash of TLS before 1.2: MD5's digest, then SHA-1's.
#[derive(Clone, Default)]
struct Md5Sha1(md5::Md5, sha1::Sha1);

impl digest::HashMarker for Md5Sha1 {}
impl digest::OutputSizeUser for Md5Sha1 {
    type OutputSize = digest::consts::U36;
}
impl Update for Md5Sha1 {
    fn update(&mut self, data: &[u8]) {
        Update::update(&mut self.0, data);
        Update::update(&mut self.1, data);
    }
}
impl digest::FixedOutput for Md5Sha1 {
    fn finalize_into(self, out: &mut digest::Output<Self>) {
        out[..16].copy_from_slice(&self.0.finalize());
        out[16..].copy_from_slice(&self.1.finalize());
    }
}
impl digest::Reset for Md5Sha1 {
    fn reset(&mut self) {
        *self = Self::default();
    }
}
impl digest::FixedOutputReset for Md5Sha1 {
    fn finalize_into_reset(&mut self, out: &mut digest::Output<Self>) {
        digest::FixedOutput::finalize_into(std::mem::take(self), out);
    }
}

/// Returns one name for a hash that OpenSSL knows by many: `RSA-SHA256`, `SHA-256` and
/// `sha256WithRSAEncryption` become `sha256`.
fn plain(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    if name == "rsa-sha1-2" {
        return "sha1".into();
    }
    let bare = ["rsa-", "ssl3-", "id-rsassa-pkcs1-v1_5-with-"]
        .iter()
        .find_map(|begin| name.strip_prefix(begin))
        .or_else(|| name.strip_suffix("withrsaencryption").or_else(|| name.strip_suffix("withrsa")))
        .unwrap_or(&name);
    match bare {
        "ripemd" | "rmd160" => "ripemd160".into(),
        _ => bare.replace(['-', '/', '_'], ""),
    }
}

/// A hash of the bytes so far.
#[derive(Clone)]
enum HashState {
    Fixed(Box<dyn DynDigest>),
    Shake128(sha3::Shake128),
    Shake256(sha3::Shake256),
}

impl HashState {
    fn by_name(name: &str) -> Option<HashState> {
        Some(match name {
            "shake128" => HashState::Shake128(sha3::Shake128::default()),
            "shake256" => HashState::Shake256(sha3::Shake256::default()),
            _ => HashState::Fixed(fixed(name)?.0),
        })
    }

    /// Returns the digest's default length in bytes.
    fn size(&self) -> usize {
        match self {
            HashState::Fixed(digest) => digest.output_size(),
            HashState::Shake128(_) => 16,
            HashState::Shake256(_) => 32,
        }
    }

    fn update(&mut self, data: &[u8]) {
        match self {
            HashState::Fixed(digest) => digest.update(data),
            HashState::Shake128(shake) => shake.update(data),
            HashState::Shake256(shake) => shake.update(data),
        }
    }

    /// Returns the digest of the bytes so far; `None` if the hash has no digest of that length.
    /// Only the extendable hashes (SHAKE) have digests of any length.
    fn digest(&self, length: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; length];
        match self {
            HashState::Fixed(digest) if length == digest.output_size() => {
                out = digest.box_clone().finalize().into_vec();
            }
            HashState::Fixed(_) => return None,
            HashState::Shake128(shake) => shake.clone().finalize_xof().read(&mut out),
            HashState::Shake256(shake) => shake.clone().finalize_xof().read(&mut out),
        }
        Some(out)
    }
}

/// Returns a hash as a function, or nothing for an unknown name. The function's argument decides
/// what it does: bytes are added to the hash, a number requests a digest of that length, and `true`
/// requests a copy, which is another such function.
fn hash<'js>(ctx: Ctx<'js>, name: TextArgument) -> Result<Option<Function<'js>>> {
    HashState::by_name(&plain(&name.0)).map(|state| hash_function(&ctx, state)).transpose()
}

fn hash_function<'js>(ctx: &Ctx<'js>, state: HashState) -> Result<Function<'js>> {
    let state = RefCell::new(state);
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, what: Value<'js>| -> Result<Value<'js>> {
        if let Some(length) = what.as_number() {
            let length = bounded(&ctx, length as usize)?;
            return Ok(give(ctx, state.borrow().digest(length))?.into_value());
        }
        if what.as_bool() == Some(true) {
            let copy = state.borrow().clone();
            return Ok(hash_function(&ctx, copy)?.into_value());
        }
        let BufferArgument(data) = what.get()?;
        state.borrow_mut().update(&data);
        Ok(Value::new_undefined(ctx))
    })
}

/// Returns the length of a hash's digest in bytes; nothing for an unknown name.
fn hash_size(name: TextArgument) -> Option<usize> {
    HashState::by_name(&plain(&name.0)).map(|state| state.size())
}

/// Returns the name of a hash that [`plain`] returns; nothing for an unknown name.
fn hash_name(name: TextArgument) -> Option<String> {
    let name = plain(&name.0);
    HashState::by_name(&name).map(|_| name)
}

/// HMAC (RFC 2104) over any hash, as the two states of the hash after the key's blocks.
#[derive(Clone)]
struct Hmac {
    inner: Box<dyn DynDigest>,
    outer: Box<dyn DynDigest>,
}

impl Hmac {
    /// Creates an HMAC; `None` for an unknown name, and for the extendable hashes, which have no
    /// HMAC.
    fn new(name: &str, key: &[u8]) -> Option<Hmac> {
        let (mut inner, block) = fixed(name)?;
        let mut outer = inner.box_clone();
        let mut padded = vec![0; block];
        if key.len() > block {
            let mut digest = inner.box_clone();
            digest.update(key);
            let short = digest.finalize();
            padded[..short.len()].copy_from_slice(&short);
        } else {
            padded[..key.len()].copy_from_slice(key);
        }
        inner.update(&padded.iter().map(|b| b ^ 0x36).collect::<Vec<u8>>());
        outer.update(&padded.iter().map(|b| b ^ 0x5c).collect::<Vec<u8>>());
        Some(Hmac { inner, outer })
    }

    fn size(&self) -> usize {
        self.inner.output_size()
    }

    /// Returns the authentication code of the bytes so far followed by `parts`. The state does not
    /// change.
    fn code_of(&self, parts: &[&[u8]]) -> Box<[u8]> {
        let mut inner = self.inner.clone();
        parts.iter().for_each(|part| inner.update(part));
        let mut outer = self.outer.clone();
        outer.update(&inner.finalize());
        outer.finalize()
    }
}

/// Returns HMAC as a function, or nothing for an unknown hash. The function adds its argument to
/// the text; without an argument it returns the authentication code.
fn hmac<'js>(
    ctx: Ctx<'js>,
    name: TextArgument,
    key: BufferArgument,
) -> Result<Option<Function<'js>>> {
    let Some(state) = Hmac::new(&plain(&name.0), &key.0) else { return Ok(None) };
    let state = RefCell::new(state);
    Function::new(
        ctx,
        move |ctx: Ctx<'js>, data: Opt<BufferArgument>| -> Result<Option<ArrayBuffer<'js>>> {
            match data.0 {
                Some(BufferArgument(data)) => {
                    state.borrow_mut().inner.update(&data);
                    Ok(None)
                }
                None => ArrayBuffer::new(ctx, state.borrow().code_of(&[]).into_vec()).map(Some),
            }
        },
    )
    .map(Some)
}

/// Computes PBKDF2 (RFC 8018).
fn pbkdf2<'js>(
    ctx: Ctx<'js>,
    name: TextArgument,
    password: BufferArgument,
    salt: BufferArgument,
    iterations: u32,
    length: usize,
) -> Result<ArrayBuffer<'js>> {
    let mut out = vec![0; bounded(&ctx, length)?];
    let Some(hmac) = Hmac::new(&plain(&name.0), &password.0) else { return give(ctx, None) };
    for (block, number) in out.chunks_mut(hmac.size()).zip(1u32..) {
        let mut last = hmac.code_of(&[&salt.0, &number.to_be_bytes()]);
        let mut sum = last.clone();
        for _ in 1..iterations {
            last = hmac.code_of(&[&last]);
            sum.iter_mut().zip(&last).for_each(|(s, l)| *s ^= l);
        }
        block.copy_from_slice(&sum[..block.len()]);
    }
    give(ctx, Some(out))
}

/// Computes HKDF (RFC 5869).
fn hkdf<'js>(
    ctx: Ctx<'js>,
    name: TextArgument,
    key: BufferArgument,
    salt: BufferArgument,
    info: BufferArgument,
    length: usize,
) -> Result<ArrayBuffer<'js>> {
    let mut out = vec![0; bounded(&ctx, length)?];
    let name = plain(&name.0);
    let made =
        Hmac::new(&name, &salt.0).and_then(|extract| Hmac::new(&name, &extract.code_of(&[&key.0])));
    let Some(expand) = made.filter(|h| length <= 255 * h.size()) else { return give(ctx, None) };
    let mut last: Box<[u8]> = Box::default();
    for (block, number) in out.chunks_mut(expand.size()).zip(1u8..) {
        last = expand.code_of(&[&last, &info.0, &[number]]);
        block.copy_from_slice(&last[..block.len()]);
    }
    give(ctx, Some(out))
}

/// Computes scrypt (RFC 7914); `log_n` is the binary logarithm of its cost.
fn scrypt<'js>(
    ctx: Ctx<'js>,
    password: BufferArgument,
    salt: BufferArgument,
    log_n: u8,
    r: u32,
    p: u32,
    length: usize,
) -> Result<ArrayBuffer<'js>> {
    let mut out = vec![0; bounded(&ctx, length)?];
    // The length in the parameters matters only for hashes in the PHC format. The function fills
    // all of `out`.
    let made = scrypt::Params::new(log_n, r, p, 32)
        .ok()
        .and_then(|params| scrypt::scrypt(&password.0, &salt.0, &params, &mut out).ok());
    give(ctx, made.map(|()| out))
}

pub fn install(native: &Object<'_>) -> Result<()> {
    native.set("hash", Func::from(hash))?;
    native.set("hashSize", Func::from(hash_size))?;
    native.set("hashName", Func::from(hash_name))?;
    native.set("hmac", Func::from(hmac))?;
    native.set("pbkdf2", Func::from(pbkdf2))?;
    native.set("hkdf", Func::from(hkdf))?;
    native.set("scrypt", Func::from(scrypt))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn names_of_openssl_are_known() {
        for (name, bare) in [
            ("RSA-SHA512/256", "sha512256"),
            ("sha3-224", "sha3224"),
            ("id-rsassa-pkcs1-v1_5-with-sha3-384", "sha3384"),
            ("md5WithRSAEncryption", "md5"),
            ("ripemd160WithRSA", "ripemd160"),
            ("ssl3-sha1", "sha1"),
            ("RSA-SHA1-2", "sha1"),
            ("md5-sha1", "md5sha1"),
        ] {
            assert_eq!(plain(name), bare);
            assert!(HashState::by_name(bare).is_some(), "{bare}");
        }
        assert!(HashState::by_name("whirlpool").is_none());
    }

    /// Cases 2 and 6 of RFC 4231: a short key, and one that is longer than a block.
    #[test]
    fn codes_are_those_of_rfc_4231() {
        let short = Hmac::new("sha256", b"Jefe")
            .map(|h| h.code_of(&[b"what do ya want ", b"for nothing?"]));
        assert_eq!(
            short.as_deref().map(hex).as_deref(),
            Some("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        );
        let long = Hmac::new("sha256", &[0xaa; 131]);
        let long =
            long.map(|h| h.code_of(&[b"Test Using Larger Than Block-Size Key - Hash Key First"]));
        assert_eq!(
            long.as_deref().map(hex).as_deref(),
            Some("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
        );
        assert!(Hmac::new("shake128", b"").is_none());
    }
}
