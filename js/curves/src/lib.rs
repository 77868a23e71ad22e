//! Elliptic curves: NIST's curves of 256, 384 and 521 bits and secp256k1, as RustCrypto's crates
//! implement them, and Ed25519 and X25519, as the dalek crates do. Points are in the encoding of
//! SEC 1, private keys are numbers of the field's length, signatures are `r` followed by `s`.
//!
//! This is a crate of its own so that it is compiled for size instead of speed, because the generic
//! code of those crates is compiled with the crate that uses it.

#![forbid(unsafe_code)]

use ed25519_dalek::Signer;
use p256::ecdsa::signature::hazmat::{PrehashVerifier, RandomizedPrehashSigner};
use p256::elliptic_curve::rand_core;
use p256::elliptic_curve::sec1::ToEncodedPoint;

/// Evaluates `$body` with the crate of the named curve imported as `$c`; `None` for an unknown
/// name.
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

/// Returns the public point of a private key, uncompressed; `None` if the number is not a private
/// key of the curve.
#[must_use]
pub fn public_point(curve: &str, key: &[u8]) -> Option<Vec<u8>> {
    with_curve!(curve, c => {
        let key = c::SecretKey::from_slice(key).ok();
        key.map(|k| k.public_key().to_encoded_point(false).as_bytes().to_vec())
    })
}

/// Encodes a point in compressed or uncompressed form; `None` if it is not on the curve.
#[must_use]
pub fn convert_point(curve: &str, point: &[u8], compress: bool) -> Option<Vec<u8>> {
    with_curve!(curve, c => {
        let point = c::PublicKey::from_sec1_bytes(point).ok();
        point.map(|p| p.to_encoded_point(compress).as_bytes().to_vec())
    })
}

/// Computes the ECDH secret that a private key shares with the other side's point: the x coordinate
/// of their product. Returns `None` if either is invalid.
#[must_use]
pub fn shared_secret(curve: &str, key: &[u8], point: &[u8]) -> Option<Vec<u8>> {
    with_curve!(curve, c => {
        let (key, point) = (c::SecretKey::from_slice(key), c::PublicKey::from_sec1_bytes(point));
        let shared = |(key, point): (c::SecretKey, c::PublicKey)| {
            c::ecdh::diffie_hellman(key.to_nonzero_scalar(), point.as_affine())
        };
        key.ok().zip(point.ok()).map(shared).map(|s| s.raw_secret_bytes().to_vec())
    })
}

/// Pads a digest to half of the field's length, the least that the ECDSA crates accept. Leading
/// zeros do not change the number that they sign.
fn pad_digest(mut digest: Vec<u8>, field: usize) -> Vec<u8> {
    let half = field.div_ceil(2);
    if digest.len() < half {
        digest.splice(..0, std::iter::repeat_n(0, half - digest.len()));
    }
    digest
}

/// The system's source of random bytes, with the interface that the crates require.
struct CurveRandom;

impl rand_core::CryptoRng for CurveRandom {}
impl rand_core::RngCore for CurveRandom {
    fn next_u32(&mut self) -> u32 {
        rand_core::impls::next_u32_via_fill(self)
    }
    fn next_u64(&mut self) -> u64 {
        rand_core::impls::next_u64_via_fill(self)
    }
    fn fill_bytes(&mut self, out: &mut [u8]) {
        if self.try_fill_bytes(out).is_err() {
            // Nothing may be signed without random bytes, and this function cannot return an error.
            std::process::abort();
        }
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> std::result::Result<(), rand_core::Error> {
        let code = std::num::NonZeroU32::new(rand_core::Error::CUSTOM_START);
        getrandom::fill(out).map_err(|_| code.unwrap_or(std::num::NonZeroU32::MIN).into())
    }
}

/// Signs a digest by ECDSA, with random bytes in the nonce; `None` for an invalid key.
#[must_use]
pub fn sign_digest(curve: &str, key: &[u8], digest: &[u8]) -> Option<Vec<u8>> {
    let digest = pad_digest(digest.to_vec(), key.len());
    with_curve!(curve, c => {
        let key = c::ecdsa::SigningKey::from_slice(key).ok();
        let made: Option<c::ecdsa::Signature> =
            key.and_then(|k| k.sign_prehash_with_rng(&mut CurveRandom, &digest).ok());
        made.map(|s| s.to_bytes().to_vec())
    })
}

/// Returns whether a signature by [`sign_digest`] is valid for a digest and a public point.
#[must_use]
pub fn verify_signature(curve: &str, point: &[u8], digest: &[u8], signature: &[u8]) -> bool {
    let digest = pad_digest(digest.to_vec(), signature.len() / 2);
    let verified = with_curve!(curve, c => {
        let key = c::ecdsa::VerifyingKey::from_sec1_bytes(point).ok();
        let signature = c::ecdsa::Signature::from_slice(signature).ok();
        // A signature is valid with `s` and with its negation; secp256k1's crate accepts only the
        // lower of the two.
        let is_valid = |(k, s): (c::ecdsa::VerifyingKey, c::ecdsa::Signature)| {
            k.verify_prehash(&digest, &s.normalize_s().unwrap_or(s)).is_ok()
        };
        key.zip(signature).map(is_valid)
    });
    verified == Some(true)
}

/// Returns the Ed25519 public key of a seed (RFC 8032).
#[must_use]
pub fn ed_public(seed: &[u8]) -> Option<Vec<u8>> {
    let key = seed.try_into().ok().map(|seed| ed25519_dalek::SigningKey::from_bytes(&seed));
    key.map(|k| k.verifying_key().to_bytes().to_vec())
}

/// Signs data by Ed25519 with the key of a seed.
#[must_use]
pub fn ed_sign(seed: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let key = seed.try_into().ok().map(|seed| ed25519_dalek::SigningKey::from_bytes(&seed));
    key.map(|k| k.sign(data).to_bytes().to_vec())
}

/// Returns whether an Ed25519 signature of data is valid.
#[must_use]
pub fn ed_verify(public: &[u8], data: &[u8], signature: &[u8]) -> bool {
    let key = public.try_into().ok().and_then(|p| ed25519_dalek::VerifyingKey::from_bytes(p).ok());
    let both = key.zip(ed25519_dalek::Signature::from_slice(signature).ok());
    both.is_some_and(|(k, s)| ed25519_dalek::Verifier::verify(&k, data, &s).is_ok())
}

/// Computes the X25519 secret (RFC 7748) that a private key shares with the other side's point;
/// `None` if it is zero.
#[must_use]
pub fn x25519_shared(key: &[u8], point: &[u8]) -> Option<Vec<u8>> {
    let point = curve25519_dalek::MontgomeryPoint(point.try_into().ok()?);
    let shared = point.mul_clamped(key.try_into().ok()?).to_bytes();
    shared.iter().any(|b| *b != 0).then(|| shared.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
        digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
    }

    /// Section 6.1 of RFC 7748, and the first case of section 7.1 of RFC 8032.
    #[test]
    fn curve_25519_matches_the_rfcs() {
        let alice = hex("77076d0a7318a57d3c16c17251b26645df4c2f92ebc099b0d9f0f2f1c6c9d9e4");
        let bob = hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
        assert_eq!(x25519_shared(&alice[..31], &bob), None);
        let base = [&[9][..], &[0; 31]].concat();
        assert_eq!(
            x25519_shared(
                &hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"),
                &base
            ),
            Some(bob)
        );
        assert_eq!(x25519_shared(&base, &[0; 32]), None, "a point of low order");
        let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let public = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        assert_eq!(ed_public(&seed).as_ref(), Some(&public));
        let signature = ed_sign(&seed, b"").expect("a signature");
        assert!(ed_verify(&public, b"", &signature));
        assert!(!ed_verify(&public, b"x", &signature));
    }

    #[test]
    fn each_curve_verifies_its_signatures_of_short_and_long_digests() {
        for (curve, size) in
            [("prime256v1", 32), ("secp384r1", 48), ("secp521r1", 66), ("secp256k1", 32)]
        {
            let mut key = vec![0; size];
            key[size - 1] = 7;
            let point = public_point(curve, &key).expect("a key");
            for digest in [&[1u8; 4][..], &[2; 20], &[3; 32], &[4; 64]] {
                let signature = sign_digest(curve, &key, digest).expect("a signature");
                assert!(verify_signature(curve, &point, digest, &signature), "{curve}");
                let mut other = digest.to_vec();
                other[3] ^= 1;
                assert!(!verify_signature(curve, &point, &other, &signature), "{curve}");
            }
            assert_eq!(public_point(curve, &vec![0; size]), None, "{curve}");
        }
    }
}
