//! gawk's integer functions: `and`, `or`, `xor`, `compl`, `lshift`, `rshift`, `strtonum`.

use super::{AwkMachine, Result};
use crate::builtin::AwkBuiltin as B;
use crate::error::AwkRunError;
use crate::value::to_number;

/// The largest integer up to which a double holds every integer exactly.
const MAX_EXACT: u64 = (1 << 53) - 1;

impl AwkMachine<'_, '_> {
    /// Returns the operands as unsigned integers; negative ones are fatal as in gawk.
    fn pop_integers(&mut self, b: B, n: usize) -> Result<Vec<u64>> {
        self.pop_all(n)
            .iter()
            .map(|v| {
                let n = self.to_number(v);
                if n < 0.0 {
                    let name = b.name();
                    return Err(AwkRunError::fatal(format!(
                        "{name}: negative values are not allowed"
                    )));
                }
                Ok(n as u64)
            })
            .collect()
    }

    pub(super) fn call_bitwise(&mut self, b: B, n: usize) -> Result<f64> {
        let list = self.pop_integers(b, n)?;
        let arg = |i: usize| list.get(i).copied().unwrap_or(0);
        let shift = u32::try_from(arg(1)).unwrap_or(u32::MAX);
        let all = |f: fn(u64, u64) -> u64| list.iter().copied().reduce(f).unwrap_or(0);
        let result = match b {
            B::And => all(|a, b| a & b),
            B::Or => all(|a, b| a | b),
            B::Xor => all(|a, b| a ^ b),
            B::Compl => !arg(0),
            B::Lshift => arg(0).checked_shl(shift).unwrap_or(0),
            _ => arg(0).checked_shr(shift).unwrap_or(0),
        };
        Ok(exact_bits(result) as f64)
    }
}

/// Clears high bits that a double cannot hold together with the low ones.
fn exact_bits(n: u64) -> u64 {
    if n <= MAX_EXACT {
        return n;
    }
    let low = n.trailing_zeros();
    n & MAX_EXACT.checked_shl(low).unwrap_or(0)
}

/// Returns whether a text is a hexadecimal or octal number, apart from blanks around it.
pub(super) fn is_non_decimal(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    match text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text) {
        [b'0', b'x' | b'X', digits @ ..] => {
            !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit)
        }
        [b'0', digits @ ..] => {
            !digits.is_empty() && digits.iter().all(|c| matches!(c, b'0'..=b'7'))
        }
        _ => false,
    }
}

/// Parses a number for `strtonum`: decimal, `0x` hexadecimal, leading-`0` octal.
pub(super) fn parse_strtonum(text: &[u8]) -> f64 {
    let text = text.trim_ascii_start();
    let (negative, body) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let sign = if negative { -1.0 } else { 1.0 };
    let digits = |t: &[u8], base: u32| {
        let mut n = 0.0;
        for d in t.iter().map_while(|c| char::from(*c).to_digit(base)) {
            n = n * f64::from(base) + f64::from(d);
        }
        sign * n
    };
    match body {
        [b'0', b'x' | b'X', rest @ ..] => digits(rest, 16),
        [b'0', rest @ ..] if rest.first().is_some_and(u8::is_ascii_digit) => {
            let run = rest.iter().take_while(|c| c.is_ascii_digit()).count();
            let decimal = rest[..run].iter().any(|c| *c > b'7')
                || matches!(rest.get(run), Some(b'.' | b'e' | b'E'));
            if decimal { to_number(text) } else { digits(rest, 8) }
        }
        _ => to_number(text),
    }
}
