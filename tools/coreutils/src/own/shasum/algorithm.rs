//! The hash functions of FIPS 180-4, by their numbers in options and their names in tags.

use sha2::digest::DynDigest;

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShaAlgorithm {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Sha512To224,
    Sha512To256,
}

/// All functions, each with its number in options and its name in tags.
const TABLE: [(ShaAlgorithm, u64, &str); 7] = [
    (ShaAlgorithm::Sha1, 1, "SHA1"),
    (ShaAlgorithm::Sha224, 224, "SHA224"),
    (ShaAlgorithm::Sha256, 256, "SHA256"),
    (ShaAlgorithm::Sha384, 384, "SHA384"),
    (ShaAlgorithm::Sha512, 512, "SHA512"),
    (ShaAlgorithm::Sha512To224, 512_224, "SHA512/224"),
    (ShaAlgorithm::Sha512To256, 512_256, "SHA512/256"),
];

impl ShaAlgorithm {
    /// Returns the function with a number in options, such as 512224.
    pub(super) fn from_number(number: u64) -> Option<ShaAlgorithm> {
        TABLE.iter().find(|(_, n, _)| *n == number).map(|(algorithm, ..)| *algorithm)
    }

    /// Returns the function with a name in tags, such as `SHA512/224`.
    pub(super) fn from_tag(name: &[u8]) -> Option<ShaAlgorithm> {
        TABLE.iter().find(|(_, _, tag)| tag.as_bytes() == name).map(|(algorithm, ..)| *algorithm)
    }

    /// Returns the function whose sums have a given number of hexadecimal digits. If two functions
    /// have it and `asked` is one of them, returns `asked`.
    pub(super) fn from_digits(digits: usize, asked: ShaAlgorithm) -> Option<ShaAlgorithm> {
        if asked.digits() == digits {
            return Some(asked);
        }
        TABLE.iter().map(|(algorithm, ..)| *algorithm).find(|one| one.digits() == digits)
    }

    /// Returns the name in tags.
    pub(super) fn tag(self) -> &'static str {
        TABLE.iter().find(|(algorithm, ..)| *algorithm == self).map_or("", |(_, _, tag)| tag)
    }

    /// Returns the number of hexadecimal digits of a sum.
    pub(super) fn digits(self) -> usize {
        match self {
            ShaAlgorithm::Sha1 => 40,
            ShaAlgorithm::Sha224 | ShaAlgorithm::Sha512To224 => 56,
            ShaAlgorithm::Sha256 | ShaAlgorithm::Sha512To256 => 64,
            ShaAlgorithm::Sha384 => 96,
            ShaAlgorithm::Sha512 => 128,
        }
    }

    /// Returns the initial state of a computation.
    pub(super) fn begin(self) -> Box<dyn DynDigest> {
        match self {
            ShaAlgorithm::Sha1 => Box::new(sha1::Sha1::default()),
            ShaAlgorithm::Sha224 => Box::new(sha2::Sha224::default()),
            ShaAlgorithm::Sha256 => Box::new(sha2::Sha256::default()),
            ShaAlgorithm::Sha384 => Box::new(sha2::Sha384::default()),
            ShaAlgorithm::Sha512 => Box::new(sha2::Sha512::default()),
            ShaAlgorithm::Sha512To224 => Box::new(sha2::Sha512_224::default()),
            ShaAlgorithm::Sha512To256 => Box::new(sha2::Sha512_256::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ShaAlgorithm, TABLE};

    #[test]
    fn tables_agree() {
        for (algorithm, number, tag) in TABLE {
            assert_eq!(ShaAlgorithm::from_number(number), Some(algorithm));
            assert_eq!(ShaAlgorithm::from_tag(tag.as_bytes()), Some(algorithm));
            assert_eq!(ShaAlgorithm::from_digits(algorithm.digits(), algorithm), Some(algorithm));
            assert_eq!(algorithm.begin().output_size() * 2, algorithm.digits());
        }
        let asked = ShaAlgorithm::Sha1;
        assert_eq!(ShaAlgorithm::from_digits(56, asked), Some(ShaAlgorithm::Sha224));
        assert_eq!(ShaAlgorithm::from_digits(55, asked), None);
    }
}
