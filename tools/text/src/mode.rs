//! Permission bits: octal and symbolic modes (POSIX `chmod`, "EXTENDED DESCRIPTION"; GNU
//! manual, "File permissions"), and `rwxr-xr-x`.

/// A parsed mode operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileModeChange {
    /// Set-id bits of directories are kept unless the number has five or more digits.
    Octal {
        bits: u16,
        exact: bool,
    },
    Symbolic(Vec<Clause>),
}

/// One action such as `u+rwx`, with the classes of users it applies to; several actions may follow
/// one list of classes (`u+r-w`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// 0o4700 for `u`, 0o2070 for `g`, 0o1007 for `o`; 0 if none was given (umask applies).
    who: u16,
    op: u8,
    perms: Perms,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Perms {
    /// The bits for all three classes of users, and whether `X` was given.
    Bits(u16, bool),
    /// The bits of `u`, `g` or `o`, given as the number of places to shift them to the right.
    Copy(u16),
    /// An octal number after an operator (`u=644` is a GNU extension).
    Octal(u16),
}

/// Parses a mode; `None` if it is invalid.
pub fn parse(text: &[u8]) -> Option<FileModeChange> {
    if text.first().is_some_and(u8::is_ascii_digit) {
        let bits = parse_octal(text)?;
        return Some(FileModeChange::Octal { bits, exact: text.len() > 4 });
    }
    let is_op = |c: &u8| matches!(c, b'+' | b'-' | b'=');
    let mut clauses = Vec::new();
    for part in text.split(|c| *c == b',') {
        let (letters, mut actions) = part.split_at(part.iter().position(is_op)?);
        let who = parse_who(letters)?;
        while let Some((&op, rest)) = actions.split_first() {
            let (perms, rest) = rest.split_at(rest.iter().position(is_op).unwrap_or(rest.len()));
            let perms = parse_permissions(perms)?;
            if who != 0 && matches!(perms, Perms::Octal(_)) {
                return None;
            }
            clauses.push(Clause { who, op, perms });
            actions = rest;
        }
    }
    Some(FileModeChange::Symbolic(clauses))
}

/// Parses an octal number of at most twelve bits.
fn parse_octal(text: &[u8]) -> Option<u16> {
    let digit = |n: u16, c: &u8| match c {
        b'0'..=b'7' => Some(n.checked_mul(8)? + u16::from(c - b'0')),
        _ => None,
    };
    text.iter().try_fold(0, digit).filter(|n| *n <= 0o7777)
}

/// Parses the letters before an operator (`ugoa`); returns the bits of these users.
fn parse_who(letters: &[u8]) -> Option<u16> {
    letters.iter().try_fold(0, |who, c| {
        Some(
            who | match c {
                b'u' => 0o4700,
                b'g' => 0o2070,
                b'o' => 0o1007,
                b'a' => 0o7777,
                _ => return None,
            },
        )
    })
}

/// Parses the permissions after an operator.
fn parse_permissions(text: &[u8]) -> Option<Perms> {
    match text {
        b"u" => return Some(Perms::Copy(6)),
        b"g" => return Some(Perms::Copy(3)),
        b"o" => return Some(Perms::Copy(0)),
        [b'0'..=b'9', ..] => {
            return Some(Perms::Octal(parse_octal(text)?));
        }
        _ => {}
    }
    let (mut bits, mut execute) = (0, false);
    for c in text {
        match c {
            b'r' => bits |= 0o444,
            b'w' => bits |= 0o222,
            b'x' => bits |= 0o111,
            b's' => bits |= 0o6000,
            b't' => bits |= 0o1000,
            b'X' => execute = true,
            _ => return None,
        }
    }
    Some(Perms::Bits(bits, execute))
}

impl FileModeChange {
    /// Returns the new permission bits of a file that has `old`. An action without `u`, `g`, `o` or
    /// `a` applies to all, except for the bits that `umask` masks.
    pub fn apply(&self, old: u16, dir: bool, umask: u16) -> u16 {
        let clauses = match self {
            FileModeChange::Octal { bits, exact } => {
                let kept = if dir && !exact { old & 0o6000 } else { 0 };
                return bits | kept;
            }
            FileModeChange::Symbolic(c) => c,
        };
        let mut mode = old;
        for c in clauses {
            let (mut value, octal) = match c.perms {
                Perms::Octal(v) => (v, true),
                Perms::Copy(shift) => {
                    let b = mode >> shift & 7;
                    (b << 6 | b << 3 | b, false)
                }
                Perms::Bits(bits, x) => {
                    let x = x && (dir || mode & 0o111 != 0);
                    (bits | if x { 0o111 } else { 0 }, false)
                }
            };
            let who = if octal { 0o7777 } else { c.who };
            let affected = if who == 0 { 0o7777 } else { who };
            // The set-id bits of directories change only if they are named.
            let kept = if dir && !octal {
                let named = match c.perms {
                    Perms::Bits(b, _) => b & 0o6000,
                    _ => 0,
                };
                0o6000 & !named
            } else {
                0
            };
            value &= affected & !kept;
            if who == 0 {
                value &= !umask;
            }
            match c.op {
                b'+' => mode |= value,
                b'-' => mode &= !value,
                _ => {
                    let keep = !affected | kept;
                    mode = mode & keep | value;
                }
            }
        }
        mode & 0o7777
    }
}

/// Returns nine letters as in `ls -l`.
pub fn mode_letters(mode: u16) -> String {
    let mut s = String::with_capacity(9);
    for (shift, special, yes, no) in
        [(6, 0o4000, 's', 'S'), (3, 0o2000, 's', 'S'), (0, 0o1000, 't', 'T')]
    {
        s.push(if mode >> shift & 4 != 0 { 'r' } else { '-' });
        s.push(if mode >> shift & 2 != 0 { 'w' } else { '-' });
        s.push(match (mode & special != 0, mode >> shift & 1 != 0) {
            (true, true) => yes,
            (true, false) => no,
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected values are those of GNU chmod 9.1 with umask 022, read by `stat -c %a`.
    #[test]
    fn like_gnu() {
        let cases: [(&[u8], u16, bool, u16); 16] = [
            (b"644", 0o777, false, 0o644),
            (b"u+x", 0o644, false, 0o744),
            (b"+x", 0o644, false, 0o755),
            (b"+w", 0o444, false, 0o644),
            (b"a+w", 0o444, false, 0o666),
            (b"go-rwx", 0o777, false, 0o700),
            (b"u=rw,go=r", 0o777, false, 0o644),
            (b"a+X", 0o644, false, 0o644),
            (b"a+X", 0o644, true, 0o755),
            (b"g=u", 0o750, false, 0o770),
            (b"u+s", 0o755, false, 0o4755),
            (b"755", 0o2777, true, 0o2755),
            (b"00755", 0o2777, true, 0o755),
            (b"+t", 0o755, true, 0o1755),
            (b"u=rwx+s-w", 0o600, false, 0o4500),
            (b"=", 0o777, false, 0o0),
        ];
        for (text, old, dir, want) in cases {
            let mode = parse(text).unwrap();
            let got = mode.apply(old, dir, 0o022);
            assert_eq!(got, want, "{} {old:o}: {got:o}", String::from_utf8_lossy(text));
        }
        for bad in [&b"9"[..], b"", b"u", b"z+x", b"u+q", b"77777"] {
            assert_eq!(parse(bad), None, "{}", String::from_utf8_lossy(bad));
        }
        assert_eq!(mode_letters(0o4755), "rwsr-xr-x");
        assert_eq!(mode_letters(0o4654), "rwSr-xr--");
        assert_eq!(mode_letters(0o1777), "rwxrwxrwt");
    }
}
