//! The names of the pieces: a prefix, a suffix that counts up, and an additional fixed suffix.

/// The alphabet in which suffixes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitDigits {
    Letters,
    Decimal,
    Hexadecimal,
}

impl SplitDigits {
    pub(super) fn alphabet(self) -> &'static [u8] {
        match self {
            SplitDigits::Letters => b"abcdefghijklmnopqrstuvwxyz",
            SplitDigits::Decimal => b"0123456789",
            SplitDigits::Hexadecimal => b"0123456789abcdef",
        }
    }
}

/// The error that all names of the given length are used up.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SplitExhausted;

/// A generator of the pieces' names.
pub(super) struct SplitNames {
    prefix: Vec<u8>,
    digits: SplitDigits,
    /// The digits of the next suffix, as indexes in the alphabet; `None` after the last one.
    next: Option<Vec<usize>>,
    /// Whether suffixes become longer when those of one length are used up.
    grows: bool,
    /// The additional suffix.
    more: Vec<u8>,
}

impl SplitNames {
    /// Returns a generator of names whose suffixes have `length` digits. The first suffix is
    /// `start`, which must not be longer, with leading zero digits.
    pub(super) fn new(
        prefix: &[u8],
        digits: SplitDigits,
        (length, start): (usize, &[u8]),
        grows: bool,
        more: &[u8],
    ) -> SplitNames {
        let place = |digit: &u8| digits.alphabet().iter().position(|known| known == digit);
        let mut next = vec![0; length.saturating_sub(start.len())];
        next.extend(start.iter().map(|digit| place(digit).unwrap_or(0)));
        SplitNames { prefix: prefix.to_vec(), digits, next: Some(next), grows, more: more.to_vec() }
    }

    /// Returns the next name.
    pub(super) fn next_name(&mut self) -> Result<Vec<u8>, SplitExhausted> {
        let alphabet = self.digits.alphabet();
        let now = self.next.take().ok_or(SplitExhausted)?;
        let suffix = now.iter().map(|place| alphabet[*place]);
        let name = self.prefix.iter().copied().chain(suffix).chain(self.more.iter().copied());
        let name = name.collect();
        self.next = self.after(now);
        Ok(name)
    }

    fn after(&mut self, mut places: Vec<usize>) -> Option<Vec<usize>> {
        let last = self.digits.alphabet().len() - 1;
        for at in (0..places.len()).rev() {
            if places[at] < last {
                places[at] += 1;
                if self.grows && at == 0 && places[0] == last {
                    // The last digit as the first one of a suffix announces longer suffixes, so
                    // that the names stay sorted.
                    self.prefix.push(self.digits.alphabet()[last]);
                    return Some(vec![0; places.len() + 1]);
                }
                return Some(places);
            }
            places[at] = 0;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{SplitDigits, SplitExhausted, SplitNames};

    // Expected values: the names of GNU split 9.1.
    #[test]
    fn names_in_order() {
        let mut names = SplitNames::new(b"x", SplitDigits::Decimal, (2, b""), true, b".t");
        let all: Vec<String> =
            (0..92).map(|_| String::from_utf8(names.next_name().unwrap()).unwrap()).collect();
        assert_eq!((all[0].as_str(), all[89].as_str()), ("x00.t", "x89.t"));
        assert_eq!((all[90].as_str(), all[91].as_str()), ("x9000.t", "x9001.t"));
        let mut names = SplitNames::new(b"", SplitDigits::Hexadecimal, (2, b"fe"), false, b"");
        assert_eq!(names.next_name(), Ok(b"fe".to_vec()));
        assert_eq!(names.next_name(), Ok(b"ff".to_vec()));
        assert_eq!(names.next_name(), Err(SplitExhausted));
        let mut names = SplitNames::new(b"x", SplitDigits::Letters, (1, b""), true, b"");
        let last = (0..26).map(|_| names.next_name().unwrap()).last().unwrap();
        assert_eq!(last, b"xzaa");
    }
}
