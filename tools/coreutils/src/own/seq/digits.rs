//! Whole numbers that are incremented as decimal digits. A division for each digit of each number
//! took most of `seq`'s time.

/// The number of digits of the largest number (`i128::MAX`), and one more.
const WIDTH: usize = 40;
/// The size of one copy, in bytes. Most numbers fit in it with their separator; surplus bytes are
/// cut off.
const SHORT: usize = 16;

/// A non-negative whole number as decimal digits.
pub(super) struct SeqDigits {
    /// The digits, right-aligned in the first `WIDTH` bytes, and then the separator if it is a
    /// single byte. The rest lets a copy of fixed size start at any digit.
    digits: [u8; WIDTH + SHORT],
    /// The position of the first digit.
    at: usize,
}

impl SeqDigits {
    pub(super) fn new(mut n: u128) -> SeqDigits {
        let (mut digits, mut at) = ([b'0'; WIDTH + SHORT], WIDTH);
        loop {
            at -= 1;
            digits[at] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                return SeqDigits { digits, at };
            }
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.digits[self.at..WIDTH]
    }

    /// Appends the digits and a separator to `out`. A separator of one byte is copied together with
    /// the digits.
    pub(super) fn push(&mut self, separator: &[u8], out: &mut Vec<u8>) {
        let [byte] = separator else {
            out.extend_from_slice(self.as_bytes());
            return out.extend_from_slice(separator);
        };
        self.digits[WIDTH] = *byte;
        let end = out.len() + WIDTH + 1 - self.at;
        match self.digits[self.at..].first_chunk::<SHORT>() {
            Some(chunk) if self.at >= WIDTH + 1 - SHORT => out.extend_from_slice(chunk),
            _ => out.extend_from_slice(&self.digits[self.at..=WIDTH]),
        }
        out.truncate(end);
    }

    /// Adds `n` to the number. The sum must not have more digits than fit.
    pub(super) fn add(&mut self, n: u32) {
        let (mut n, mut at) = (u64::from(n), WIDTH);
        while n > 0 && at > 0 {
            at -= 1;
            let sum = u64::from(self.digits[at] - b'0') + n;
            // There is rarely a carry, and the division would take as long as everything else.
            n = if sum < 10 { 0 } else { sum / 10 };
            self.digits[at] = b'0' + (sum - 10 * n) as u8;
        }
        self.at = self.at.min(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted() {
        for (from, step) in [
            (0, 1),
            (8, 1),
            (95, 7),
            (999_999, 1),
            (1, u32::MAX),
            (u128::from(u64::MAX), 3),
            (10u128.pow(14), 7),
            (10u128.pow(15), 7),
        ] {
            let mut digits = SeqDigits::new(from);
            for n in 0..1000 {
                let text = (from + n * u128::from(step)).to_string();
                assert_eq!(digits.as_bytes(), text.as_bytes());
                for separator in ["", ":", ", "] {
                    let mut out = b"a".to_vec();
                    digits.push(separator.as_bytes(), &mut out);
                    assert_eq!(out, format!("a{text}{separator}").as_bytes());
                }
                digits.add(step);
            }
        }
    }
}
