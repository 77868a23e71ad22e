//! Elliptic curves: the NIST's of 256, 384 and 521 bits and secp256k1 by their crates of RustCrypto, Ed25519 and X25519
//! by dalek's. Points come and go as SEC 1 encodes them, private keys as numbers of the field's length, signatures as
//! `r` and `s` one behind the other.

use super::super::{Bytes, Text};
use super::give;
use ed25519_dalek::Signer;
use p256::ecdsa::signature::hazmat::{PrehashVerifier, RandomizedPrehashSigner};
use p256::elliptic_curve::rand_core;
use p256::elliptic_curve::sec1::ToEncodedPoint;
use rquickjs::function::Func;
use rquickjs::{ArrayBuffer, Ctx, Object, Result};

/// Runs code with the crate of a curve as `$c`; `None` for an unknown name.
macro_rules! with_curve {
    ($name:expr, $c:ident => $body:expr) => {
        match $name {
            "prime256v1" => {
                use p256 as $c;
                $body
            }
            "secp384r1" => {
                use p384 as $c;
                $body
            }
            "secp521r1" => {
                use p521 as $c;
                $body
            }
            "secp256k1" => {
                use k256 as $c;
                $body
            }
            _ => None,
        }
    };
}

/// The public point of a private number, not compressed; nothing if the number is not a key of the curve.
fn public<'js>(ctx: Ctx<'js>, curve: Text, key: Bytes) -> Result<Option<ArrayBuffer<'js>>> {
    let made = with_curve!(curve.0.as_str(), c => {
        let key = c::SecretKey::from_slice(&key.0).ok();
        key.map(|k| k.public_key().to_encoded_point(false).as_bytes().to_vec())
    });
    made.map(|point| ArrayBuffer::new(ctx, point)).transpose()
}

/// A point in the other form; nothing if it is not one of the curve.
fn point<'js>(
    ctx: Ctx<'js>,
    curve: Text,
    point: Bytes,
    compress: bool,
) -> Result<Option<ArrayBuffer<'js>>> {
    let made = with_curve!(curve.0.as_str(), c => {
        let point = c::PublicKey::from_sec1_bytes(&point.0).ok();
        point.map(|p| p.to_encoded_point(compress).as_bytes().to_vec())
    });
    made.map(|point| ArrayBuffer::new(ctx, point)).transpose()
}

/// The first coordinate of what two keys have in common.
fn shared<'js>(ctx: Ctx<'js>, curve: Text, key: Bytes, point: Bytes) -> Result<ArrayBuffer<'js>> {
    let made = with_curve!(curve.0.as_str(), c => {
        let (key, point) = (c::SecretKey::from_slice(&key.0), c::PublicKey::from_sec1_bytes(&point.0));
        match (key, point) {
            (Ok(key), Ok(point)) => {
                let shared = c::ecdh::diffie_hellman(key.to_nonzero_scalar(), point.as_affine());
                Some(shared.raw_secret_bytes().to_vec())
            }
            _ => None,
        }
    });
    give(ctx, made)
}

/// A digest as long as ECDSA's crates want it, half of the field at least; zeros in front do not change the number.
fn long_enough(mut digest: Vec<u8>, field: usize) -> Vec<u8> {
    let half = field.div_ceil(2);
    if digest.len() < half {
        digest.splice(..0, std::iter::repeat_n(0, half - digest.len()));
    }
    digest
}

/// The system's random bytes, as the crates ask for them.
struct Random;

impl rand_core::CryptoRng for Random {}
impl rand_core::RngCore for Random {
    fn next_u32(&mut self) -> u32 {
        rand_core::impls::next_u32_via_fill(self)
    }
    fn next_u64(&mut self) -> u64 {
        rand_core::impls::next_u64_via_fill(self)
    }
    fn fill_bytes(&mut self, out: &mut [u8]) {
        if self.try_fill_bytes(out).is_err() {
            // Without them nothing may be signed.
            std::process::abort();
        }
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> std::result::Result<(), rand_core::Error> {
        let code = std::num::NonZeroU32::new(rand_core::Error::CUSTOM_START);
        getrandom::fill(out).map_err(|_| code.unwrap_or(std::num::NonZeroU32::MIN).into())
    }
}

/// ECDSA of a digest, by a random number.
fn sign<'js>(ctx: Ctx<'js>, curve: Text, key: Bytes, digest: Bytes) -> Result<ArrayBuffer<'js>> {
    let digest = long_enough(digest.0, key.0.len());
    let made = with_curve!(curve.0.as_str(), c => {
        let key = c::ecdsa::SigningKey::from_slice(&key.0).ok();
        let made: Option<c::ecdsa::Signature> = key.and_then(|k| k.sign_prehash_with_rng(&mut Random, &digest).ok());
        made.map(|s| s.to_bytes().to_vec())
    });
    give(ctx, made)
}

fn verify(curve: Text, point: Bytes, digest: Bytes, signature: Bytes) -> bool {
    let digest = long_enough(digest.0, signature.0.len() / 2);
    let came = with_curve!(curve.0.as_str(), c => {
        let key = c::ecdsa::VerifyingKey::from_sec1_bytes(&point.0).ok();
        let signature = c::ecdsa::Signature::from_slice(&signature.0).ok();
        // Of the two numbers that are as good, secp256k1's crate takes the lower one only.
        key.zip(signature).map(|(k, s)| k.verify_prehash(&digest, &s.normalize_s().unwrap_or(s)).is_ok())
    });
    came == Some(true)
}

/// 32 bytes, or nothing.
fn fixed(bytes: &Bytes) -> Option<[u8; 32]> {
    bytes.0.as_slice().try_into().ok()
}

fn ed_public<'js>(ctx: Ctx<'js>, seed: Bytes) -> Result<ArrayBuffer<'js>> {
    let key = fixed(&seed).map(|seed| ed25519_dalek::SigningKey::from_bytes(&seed));
    give(ctx, key.map(|k| k.verifying_key().to_bytes().to_vec()))
}

fn ed_sign<'js>(ctx: Ctx<'js>, seed: Bytes, data: Bytes) -> Result<ArrayBuffer<'js>> {
    let key = fixed(&seed).map(|seed| ed25519_dalek::SigningKey::from_bytes(&seed));
    give(ctx, key.map(|k| k.sign(&data.0).to_bytes().to_vec()))
}

fn ed_verify(public: Bytes, data: Bytes, signature: Bytes) -> bool {
    let key = fixed(&public).and_then(|p| ed25519_dalek::VerifyingKey::from_bytes(&p).ok());
    let signature = ed25519_dalek::Signature::from_slice(&signature.0).ok();
    let both = key.zip(signature);
    both.is_some_and(|(k, s)| ed25519_dalek::Verifier::verify(&k, &data.0, &s).is_ok())
}

/// X25519 (RFC 7748) of a private number and another side's point; nothing if it came out zero.
fn x25519<'js>(ctx: Ctx<'js>, key: Bytes, point: Bytes) -> Result<ArrayBuffer<'js>> {
    let made = fixed(&key).zip(fixed(&point)).map(|(key, point)| {
        curve25519_dalek::MontgomeryPoint(point).mul_clamped(key).to_bytes().to_vec()
    });
    give(ctx, made.filter(|shared| shared.iter().any(|b| *b != 0)))
}

pub fn install(native: &Object<'_>) -> Result<()> {
    native.set("ecPublic", Func::from(public))?;
    native.set("ecPoint", Func::from(point))?;
    native.set("ecShared", Func::from(shared))?;
    native.set("ecSign", Func::from(sign))?;
    native.set("ecVerify", Func::from(verify))?;
    native.set("edPublic", Func::from(ed_public))?;
    native.set("edSign", Func::from(ed_sign))?;
    native.set("edVerify", Func::from(ed_verify))?;
    native.set("x25519", Func::from(x25519))
}
