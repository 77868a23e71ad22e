//! `-perm`: octal and symbolic modes (POSIX chmod, "EXTENDED DESCRIPTION").

/// How permission bits are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermTest {
    Exact(u16),
    /// `-MODE`
    All(u16),
    /// `/MODE`; no bits at all match everything.
    Any(u16),
}

impl PermTest {
    /// Whether permission bits pass.
    pub fn holds(self, mode: u16) -> bool {
        match self {
            PermTest::Exact(bits) => mode == bits,
            PermTest::All(bits) => mode & bits == bits,
            PermTest::Any(bits) => bits == 0 || mode & bits != 0,
        }
    }
}

/// The argument of `-perm`.
pub fn parse(text: &[u8]) -> Option<PermTest> {
    match text {
        [b'-', rest @ ..] => mode(rest).map(PermTest::All),
        [b'/', rest @ ..] => mode(rest).map(PermTest::Any),
        _ => mode(text).map(PermTest::Exact),
    }
}

/// Bits of a mode, symbolic ones applied to no bits at all.
fn mode(text: &[u8]) -> Option<u16> {
    if text.first()?.is_ascii_digit() {
        if !text.iter().all(|b| (b'0'..=b'7').contains(b)) {
            return None;
        }
        let bits = text
            .iter()
            .try_fold(0u16, |n, d| n.checked_mul(8)?.checked_add(u16::from(d - b'0')))?;
        return (bits <= 0o7777).then_some(bits);
    }
    let mut bits = 0;
    for clause in text.split(|&b| b == b',') {
        bits = symbolic(clause, bits)?;
    }
    Some(bits)
}

fn symbolic(clause: &[u8], mut bits: u16) -> Option<u16> {
    let mut at = 0;
    let mut who = 0u16;
    while let Some(c) = clause.get(at) {
        who |= match c {
            b'u' => 0o4700,
            b'g' => 0o2070,
            b'o' => 0o0007,
            b'a' => 0o6777,
            _ => break,
        };
        at += 1;
    }
    // Without a class all are meant, sticky bit included.
    let all = who == 0 || who & 0o777 == 0o777;
    let who = if who == 0 { 0o6777 } else { who };
    clause.get(at)?;
    while let Some(&op) = clause.get(at) {
        if !matches!(op, b'+' | b'-' | b'=') {
            return None;
        }
        at += 1;
        let mut set = 0u16;
        while let Some(c) = clause.get(at) {
            set |= match c {
                b'r' => 0o444 & who,
                b'w' => 0o222 & who,
                b'x' => 0o111 & who,
                b'X' if bits & 0o111 != 0 => 0o111 & who,
                b'X' => 0,
                b's' => 0o6000 & who,
                b't' => {
                    if all {
                        0o1000
                    } else {
                        0
                    }
                }
                b'u' => copies(bits >> 6, who),
                b'g' => copies(bits >> 3, who),
                b'o' => copies(bits, who),
                _ => break,
            };
            at += 1;
        }
        match op {
            b'+' => bits |= set,
            b'-' => bits &= !set,
            _ => bits = bits & !(who | if all { 0o1000 } else { 0 }) | set,
        }
    }
    Some(bits)
}

/// One class's `rwx` for all classes in `who`.
fn copies(bits: u16, who: u16) -> u16 {
    let rwx = bits & 7;
    (rwx << 6 | rwx << 3 | rwx) & who
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
        assert_eq!(parse(b"u+z"), None);
        assert_eq!(parse(b"17777"), None);
    }
}
