//! Large numbers for RSA, Diffie-Hellman and tests of primes, by `num-bigint`, which the program
//! contains in any case for JavaScript's constants. Arguments and results are bytes, the highest
//! first.
//!
//! The time of that crate's operations depends on the numbers. Decryption and signatures with a
//! private key of RSA are therefore blinded: an attacker does not know the number that is raised to
//! the secret power.

use super::super::{BufferArgument, throw_text};
use super::give;
use num_bigint::BigUint;
use rquickjs::function::Func;
use rquickjs::{ArrayBuffer, Ctx, Object, Result};

/// The number of bits of the longest modulus that OpenSSL accepts.
const MOST_BITS: u64 = 16384;

fn number(bytes: &BufferArgument) -> BigUint {
    BigUint::from_bytes_be(&bytes.0)
}

/// Returns a number as at least `length` bytes.
fn bytes_of(n: &BigUint, length: usize) -> Vec<u8> {
    let short = n.to_bytes_be();
    let mut out = vec![0; length.saturating_sub(short.len())];
    out.extend_from_slice(&short);
    out
}

/// Returns a random number below `2^bits`.
fn random(bits: u64) -> Option<BigUint> {
    let mut bytes = vec![0; usize::try_from(bits.div_ceil(8)).ok()?];
    getrandom::fill(&mut bytes).ok()?;
    if let (Some(first), over) = (bytes.first_mut(), bits % 8)
        && over != 0
    {
        *first &= (1 << over) - 1;
    }
    Some(BigUint::from_bytes_be(&bytes))
}

/// Returns a random number in `2..n`.
fn random_below(n: &BigUint) -> Option<BigUint> {
    loop {
        let r = random(n.bits())?;
        if r > BigUint::from(1u8) && r < *n {
            return Some(r);
        }
    }
}

/// Returns `base` to the power `exponent`, modulo `modulus`, in as many bytes as the modulus has.
fn mod_pow<'js>(
    ctx: Ctx<'js>,
    base: BufferArgument,
    exponent: BufferArgument,
    modulus: BufferArgument,
) -> Result<ArrayBuffer<'js>> {
    let (m, exponent) = (number(&modulus), number(&exponent));
    if m == BigUint::ZERO || m.bits().max(exponent.bits()) > MOST_BITS {
        return give(ctx, None);
    }
    let power = number(&base).modpow(&exponent, &m);
    give(ctx, Some(bytes_of(&power, m.to_bytes_be().len())))
}

/// Returns the odd primes below 4000: most composite numbers have one of them as a factor.
fn small_primes() -> Vec<u32> {
    let is_prime = |n: u32| (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    (3..4000).filter(|n| is_prime(*n)).collect()
}

/// Returns whether a number is prime, if the small primes decide that; `None` if none of them
/// divides the number.
fn by_small_primes(n: &BigUint, small: &[u32]) -> Option<bool> {
    let two = BigUint::from(2u8);
    if *n < two {
        return Some(false);
    }
    if !n.bit(0) {
        return Some(*n == two);
    }
    for p in small {
        if n % *p == BigUint::ZERO {
            return Some(*n == BigUint::from(*p));
        }
    }
    None
}

/// Runs the Miller-Rabin test with random bases. A composite number passes a round with a
/// probability of at most a quarter.
fn miller_rabin(n: &BigUint, rounds: u32) -> Option<bool> {
    let one = BigUint::from(1u8);
    let last = n - &one;
    let twos = last.trailing_zeros()?;
    let odd = &last >> twos;
    'rounds: for _ in 0..rounds {
        let mut x = random_below(&last)?.modpow(&odd, n);
        if x == one || x == last {
            continue;
        }
        for _ in 1..twos {
            x = &x * &x % n;
            if x == last {
                continue 'rounds;
            }
        }
        return Some(false);
    }
    Some(true)
}

fn is_prime(n: &BigUint, small: &[u32], rounds: u32) -> Option<bool> {
    by_small_primes(n, small).map_or_else(|| miller_rabin(n, rounds), Some)
}

/// The number of rounds for a random number (FIPS 186-5, table B.1, with a margin).
const ROUNDS: u32 = 8;
/// The number of rounds for a number that an attacker may have chosen, as in OpenSSL.
const CHECK_ROUNDS: u32 = 64;

/// Returns whether a number is prime. `rounds` is OpenSSL's number of "checks"; 0 means
/// [`CHECK_ROUNDS`].
fn check_prime(ctx: Ctx<'_>, n: BufferArgument, rounds: u32) -> Result<bool> {
    let rounds = if rounds == 0 { CHECK_ROUNDS } else { rounds.min(1024) };
    is_prime(&number(&n), &small_primes(), rounds).ok_or_else(|| throw_text(&ctx, "EIO"))
}

/// The conditions on a prime that is to be generated.
struct PrimeRequest {
    bits: u64,
    /// Whether `(p - 1) / 2` must be prime, too.
    safe: bool,
    /// The modulus of the condition `p mod add == rem`; 0 if there is no such condition.
    add: BigUint,
    rem: BigUint,
    /// The number of highest bits that must be set.
    top: u64,
}

impl PrimeRequest {
    /// Returns a random number from which a search begins. It meets all conditions but being prime.
    /// Returns `None` if it finds no such number of the requested length.
    fn begin(&self) -> Option<BigUint> {
        for _ in 0..BEGINNINGS {
            let mut p = random(self.bits)?;
            if self.add == BigUint::ZERO {
                for bit in 0..self.top {
                    p.set_bit(self.bits - 1 - bit, true);
                }
                p.set_bit(0, true);
                p.set_bit(1, self.safe || p.bit(1));
            } else {
                p = &p - &p % &self.add + &self.rem;
            }
            if p.bits() == self.bits {
                return Some(p);
            }
        }
        None
    }

    /// Returns the distance to the next number that meets all conditions but being prime.
    fn step(&self) -> BigUint {
        if self.add == BigUint::ZERO {
            BigUint::from(if self.safe { 4u8 } else { 2 })
        } else {
            self.add.clone()
        }
    }

    fn is_met(&self, p: &BigUint, small: &[u32]) -> Option<bool> {
        if p.bits() != self.bits {
            return Some(false);
        }
        let half = p >> 1u8;
        let rounds = if self.bits < 512 { CHECK_ROUNDS } else { ROUNDS };
        // One round rejects most candidates of either kind; the other rounds are for the few that
        // are left.
        for rounds in [1, rounds] {
            if !is_prime(p, small, rounds)? || self.safe && !is_prime(&half, small, rounds)? {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// The maximum number of times that a search begins. It is limited because there may be no prime
/// with the requested remainder.
const BEGINNINGS: u32 = 1 << 12;
/// The number of candidates that are tried before the search begins at another number.
const SPAN: u32 = 1 << 14;
/// The number of bits from which a search sieves by the small primes. Shorter candidates may be
/// small primes themselves.
const SIEVED: u64 = 32;

/// Returns a prime that meets the request; `None` if none is found.
fn find_prime(wanted: &PrimeRequest) -> Option<BigUint> {
    // A common factor of `add` and `rem` would divide all candidates.
    if wanted.add != BigUint::ZERO && wanted.rem.modinv(&wanted.add).is_none() {
        return None;
    }
    let small = small_primes();
    let step = wanted.step();
    for _ in 0..BEGINNINGS {
        let begin = wanted.begin()?;
        if wanted.bits < SIEVED {
            if wanted.is_met(&begin, &small)? {
                return Some(begin);
            }
            continue;
        }
        let rest = |n: &BigUint, p: u32| (n % p).iter_u32_digits().next().unwrap_or(0);
        let mut rests: Vec<[u32; 3]> =
            small.iter().map(|p| [*p, rest(&begin, *p), rest(&step, *p)]).collect();
        for n in 0..SPAN {
            let mut is_hopeless = false;
            for [p, rest, step] in &mut rests {
                // If `n` modulo an odd prime is 1, the prime divides `(n - 1) / 2`.
                is_hopeless |= *rest == 0 || wanted.safe && *rest == 1;
                *rest = (*rest + *step) % *p;
            }
            let p = || &begin + &step * n;
            if !is_hopeless && wanted.is_met(&p(), &small)? {
                return Some(p());
            }
        }
    }
    None
}

/// Returns a random prime of a given number of bits; throws `EINVAL` if none is found.
fn prime<'js>(
    ctx: Ctx<'js>,
    bits: u32,
    safe: bool,
    add: BufferArgument,
    rem: BufferArgument,
) -> Result<ArrayBuffer<'js>> {
    let bits = u64::from(bits);
    let (add, rem) = (number(&add), number(&rem));
    if !(2..=MOST_BITS).contains(&bits) {
        return give(ctx, None);
    }
    let wanted = PrimeRequest { bits, safe, add, rem, top: bits.min(2) };
    let found = if bits == 2 { Some(BigUint::from(3u8)) } else { find_prime(&wanted) };
    give(ctx, found.map(|p| bytes_of(&p, bits.div_ceil(8) as usize)))
}

/// Returns a key pair of RSA (RFC 8017): `n, e, d, p, q, d mod p-1, d mod q-1, 1/q mod p`.
fn rsa_pair<'js>(ctx: Ctx<'js>, bits: u32, exponent: u32) -> Result<Vec<ArrayBuffer<'js>>> {
    let made = rsa_numbers(u64::from(bits), exponent).ok_or_else(|| throw_text(&ctx, "EINVAL"))?;
    made.into_iter().map(|n| ArrayBuffer::new(ctx.clone(), n.to_bytes_be())).collect()
}

fn rsa_numbers(bits: u64, exponent: u32) -> Option<[BigUint; 8]> {
    if !(512..=MOST_BITS).contains(&bits) || exponent < 3 || exponent.is_multiple_of(2) {
        return None;
    }
    let (one, e) = (BigUint::from(1u8), BigUint::from(exponent));
    let part = |bits| -> Option<BigUint> {
        let zero = || BigUint::ZERO;
        let wanted = PrimeRequest { bits, safe: false, add: zero(), rem: zero(), top: 2 };
        loop {
            let p = find_prime(&wanted)?;
            if (&p - &one).modinv(&e).is_some() {
                return Some(p);
            }
        }
    };
    loop {
        let (mut p, mut q) = (part(bits.div_ceil(2))?, part(bits / 2)?);
        if p < q {
            std::mem::swap(&mut p, &mut q);
        }
        let n = &p * &q;
        // If the primes are close to each other, they can be computed from their product.
        if n.bits() != bits || (&p - &q).bits() < bits / 2 - 100 {
            continue;
        }
        let (below_p, below_q) = (&p - &one, &q - &one);
        let Some(d) = e.modinv(&(&below_p * &below_q)) else { continue };
        let (dp, dq, qi) = (&d % &below_p, &d % &below_q, q.modinv(&p)?);
        return Some([n, e, d, p, q, dp, dq, qi]);
    }
}

/// Performs the private operation of RSA with the numbers of [`rsa_pair`], blinded, by the Chinese
/// remainder theorem. Throws `EINVAL` if the numbers are not those of a key.
fn rsa_private<'js>(
    ctx: Ctx<'js>,
    key: Vec<BufferArgument>,
    data: BufferArgument,
) -> Result<ArrayBuffer<'js>> {
    let numbers: Vec<BigUint> = key.iter().map(number).collect();
    give(ctx, rsa_power(&numbers, &number(&data)))
}

fn rsa_power(key: &[BigUint], data: &BigUint) -> Option<Vec<u8>> {
    let [n, e, _, p, q, dp, dq, qi] = key else { return None };
    let is_odd = |n: &BigUint| n.bit(0) && n.bits() > 1;
    if !(is_odd(n) && is_odd(p) && is_odd(q)) || n.bits() > MOST_BITS || data >= n || p * q != *n {
        return None;
    }
    let (blind, back) = loop {
        let r = random_below(n)?;
        if let Some(back) = r.modinv(n) {
            break (r, back);
        }
    };
    let hidden = data * blind.modpow(e, n) % n;
    let (of_p, of_q) = (hidden.modpow(dp, p), hidden.modpow(dq, q));
    let difference = (&of_p + p - &of_q % p) % p;
    let power = (of_q + q * (difference * qi % p)) * back % n;
    // The result of a key with inconsistent parts is withheld, because a wrong result could reveal
    // its primes.
    (power.modpow(e, n) == *data).then(|| bytes_of(&power, n.to_bytes_be().len()))
}

pub fn install(native: &Object<'_>) -> Result<()> {
    native.set("modPow", Func::from(mod_pow))?;
    native.set("checkPrime", Func::from(check_prime))?;
    native.set("prime", Func::from(prime))?;
    native.set("rsaPair", Func::from(rsa_pair))?;
    native.set("rsaPrivate", Func::from(rsa_private))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_undoes_its_own_power() {
        let key = rsa_numbers(1024, 65537).expect("a key");
        let [n, e, ..] = &key;
        assert_eq!(n.bits(), 1024);
        let message = BigUint::from(0x1234_5678_9abc_def0_u64);
        let back = rsa_power(&key, &message.modpow(e, n)).expect("a power");
        assert_eq!(BigUint::from_bytes_be(&back), message);
        let mut wrong = key.clone();
        wrong[5] += 2u8;
        assert_eq!(rsa_power(&wrong, &message), None, "a fault must not tell the primes");
    }

    #[test]
    fn carmichael_numbers_are_not_prime() {
        let small = small_primes();
        // 2^127 - 1, and products of primes larger than the small ones. The second product passes
        // Fermat's test.
        let prime = (BigUint::from(1u8) << 127u8) - 1u8;
        assert_eq!(is_prime(&prime, &small, 20), Some(true));
        for n in [4003u64 * 4007, 4_261 * 8_521 * 12_781] {
            assert_eq!(is_prime(&BigUint::from(n), &small, 20), Some(false), "{n}");
        }
        for (n, is) in
            [(0u8, false), (1, false), (2, true), (3, true), (4, false), (9, false), (251, true)]
        {
            assert_eq!(is_prime(&BigUint::from(n), &small, 20), Some(is), "{n}");
        }
    }
}
