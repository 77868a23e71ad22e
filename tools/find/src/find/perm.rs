//! `-perm`: octal and symbolic modes (POSIX chmod, "EXTENDED DESCRIPTION").

use box_text::mode;

/// The rule by which permission bits are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermTest {
    Exact(u16),
    /// `-MODE`
    All(u16),
    /// `/MODE`; a mode without bits matches every file.
    Any(u16),
}

impl PermTest {
    /// Returns whether permission bits pass.
    pub fn holds(self, mode: u16) -> bool {
        match self {
            PermTest::Exact(bits) => mode == bits,
            PermTest::All(bits) => mode & bits == bits,
            PermTest::Any(bits) => bits == 0 || mode & bits != 0,
        }
    }
}

/// Parses the argument of `-perm`.
pub fn parse(text: &[u8]) -> Option<PermTest> {
    match text {
        [b'-', rest @ ..] => parse_bits(rest).map(PermTest::All),
        [b'/', rest @ ..] => parse_bits(rest).map(PermTest::Any),
        // GNU find rejects an octal `+MODE`, the obsolete way to write `/MODE`.
        [b'+', b'0'..=b'7', ..] => None,
        _ => parse_bits(text).map(PermTest::Exact),
    }
}

/// Parses the bits of a mode; a symbolic one is applied to 0.
fn parse_bits(text: &[u8]) -> Option<u16> {
    mode::parse(text).map(|mode| mode.apply(0, false, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes() {
        assert_eq!(parse(b"-4000"), Some(PermTest::All(0o4000)));
        assert_eq!(parse(b"u=rw,g+x"), Some(PermTest::Exact(0o610)));
        assert_eq!(parse(b"/a+x"), Some(PermTest::Any(0o111)));
        assert_eq!(parse(b"-u+s,+t"), Some(PermTest::All(0o5000)));
        assert_eq!(parse(b"u=rwx,go=u-w"), Some(PermTest::Exact(0o755)));
        assert_eq!(parse(b"9"), None);
        assert_eq!(parse(b"+1"), None);
        assert_eq!(parse(b"u+z"), None);
        assert_eq!(parse(b"17777"), None);
    }
}
