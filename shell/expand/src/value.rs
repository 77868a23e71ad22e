//! The values of shell variables (bash manual 3.4, 6.7).
//!
//! Invariant: a clone costs a reference count. A subshell copies the whole variable table, and
//! writes copy only the values they change (`Rc::make_mut`), so appending to an unshared string or
//! array is amortised constant time.

use std::ops::{BitAnd, BitOr, BitOrAssign, Sub, SubAssign};
use std::rc::Rc;

/// A byte string value.
pub type Str = Rc<Vec<u8>>;

/// The value of a set variable.
#[derive(Clone, Debug, PartialEq)]
pub enum VarValue {
    Scalar(Str),
    Indexed(Rc<crate::array::IndexedArray>),
    Assoc(Rc<crate::array::AssocArray>),
}

/// A set of attributes of a variable or function: `declare`'s options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Attributes(u16);

/// The letters of the attributes from the lowest bit on, in the order in which bash lists them.
const LETTERS: &[u8; 10] = b"aAinrtxclu";

impl Attributes {
    /// No attributes.
    pub const NONE: Attributes = Attributes(0);
    /// `-a`, also on a variable that has no value yet
    pub const INDEXED: Attributes = Attributes(1);
    /// `-A`, also on a variable that has no value yet
    pub const ASSOC: Attributes = Attributes(1 << 1);
    /// `-i`
    pub const INTEGER: Attributes = Attributes(1 << 2);
    /// `-n`
    pub const NAMEREF: Attributes = Attributes(1 << 3);
    /// `-r`
    pub const READONLY: Attributes = Attributes(1 << 4);
    /// `-t`
    pub const TRACE: Attributes = Attributes(1 << 5);
    /// `-x`
    pub const EXPORT: Attributes = Attributes(1 << 6);
    /// `-c`
    pub const CAPITALIZE: Attributes = Attributes(1 << 7);
    /// `-l`
    pub const LOWERCASE: Attributes = Attributes(1 << 8);
    /// `-u`
    pub const UPPERCASE: Attributes = Attributes(1 << 9);
    /// An array of either kind.
    pub const ARRAY: Attributes = Attributes(0b11);
    /// The attributes that change the case of values.
    pub const CASES: Attributes = Attributes(0b111 << 7);
    /// The attributes that convert an assigned value to another text.
    pub const CONVERTING: Attributes = Attributes(0b111 << 7 | 1 << 2);
    /// The attributes that functions can have.
    pub const OF_FUNCTIONS: Attributes = Attributes(0b111 << 4);

    /// Returns whether one of these attributes is set.
    #[inline]
    pub const fn has_any(self, these: Attributes) -> bool {
        self.0 & these.0 != 0
    }

    /// Returns whether no attribute is set.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds or removes these attributes.
    pub fn put_bits(&mut self, these: Attributes, on: bool) {
        if on { *self |= these } else { *self -= these }
    }

    /// Returns the letters of `declare`'s options, in the order bash lists them.
    pub fn letters(self) -> Vec<u8> {
        let on = |bit: &usize| self.0 & 1 << bit != 0;
        (0..LETTERS.len()).filter(on).map(|bit| LETTERS[bit]).collect()
    }

    /// Returns the attributes of these letters; others mean nothing.
    pub fn from_letters(letters: &[u8]) -> Attributes {
        let bit = |letter: &u8| LETTERS.iter().position(|l| l == letter);
        Attributes(letters.iter().filter_map(bit).fold(0, |all, bit| all | 1 << bit))
    }
}

impl BitOr for Attributes {
    type Output = Attributes;

    fn bitor(self, other: Attributes) -> Attributes {
        Attributes(self.0 | other.0)
    }
}

impl BitOrAssign for Attributes {
    fn bitor_assign(&mut self, other: Attributes) {
        self.0 |= other.0;
    }
}

impl BitAnd for Attributes {
    type Output = Attributes;

    fn bitand(self, other: Attributes) -> Attributes {
        Attributes(self.0 & other.0)
    }
}

/// Subtraction returns the attributes without the given ones.
impl Sub for Attributes {
    type Output = Attributes;

    fn sub(self, other: Attributes) -> Attributes {
        Attributes(self.0 & !other.0)
    }
}

impl SubAssign for Attributes {
    fn sub_assign(&mut self, other: Attributes) {
        self.0 &= !other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::Attributes;

    #[test]
    fn letters_are_those_of_declare() {
        let some = Attributes::READONLY | Attributes::ASSOC | Attributes::UPPERCASE;
        assert_eq!(some.letters(), b"Aru");
        assert_eq!(Attributes::from_letters(b"u?rA"), some);
        assert_eq!(Attributes::from_letters(b"tx") - Attributes::TRACE, Attributes::EXPORT);
        assert_eq!(
            Attributes::from_letters(b"ilcu"),
            Attributes::CONVERTING | some & Attributes::CASES
        );
        assert_eq!(Attributes::OF_FUNCTIONS.letters(), b"rtx");
    }
}
