//! The values of shell variables (bash manual 3.4, 6.7).
//!
//! Invariant: a clone only increments a reference count, because a subshell copies the whole table
//! of variables. Writes copy only a value that is shared (`Rc::make_mut`), so appending to an
//! unshared string or array takes amortised constant time.

use std::rc::Rc;

use bitflags::bitflags;

/// A byte string value.
pub type Str = Rc<Vec<u8>>;

/// The value of a set variable.
#[derive(Clone, Debug, PartialEq)]
pub enum VarValue {
    Scalar(Str),
    Indexed(Rc<crate::array::IndexedArray>),
    Assoc(Rc<crate::array::AssocArray>),
}

bitflags! {
    /// A set of attributes of a variable or function: `declare`'s options.
    ///
    /// Serialized as a number, not by the names that the `bitflags` crate would write.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[serde(from = "u16", into = "u16")]
    pub struct Attributes: u16 {
        /// `-a`, also on a variable that has no value yet
        const INDEXED = 1;
        /// `-A`, also on a variable that has no value yet
        const ASSOC = 1 << 1;
        /// `-i`
        const INTEGER = 1 << 2;
        /// `-n`
        const NAMEREF = 1 << 3;
        /// `-r`
        const READONLY = 1 << 4;
        /// `-t`
        const TRACE = 1 << 5;
        /// `-x`
        const EXPORT = 1 << 6;
        /// `-c`
        const CAPITALIZE = 1 << 7;
        /// `-l`
        const LOWERCASE = 1 << 8;
        /// `-u`
        const UPPERCASE = 1 << 9;
        /// An array of either kind.
        const ARRAY = Self::INDEXED.bits() | Self::ASSOC.bits();
        /// The attributes that change the case of values.
        const CASES =
            Self::CAPITALIZE.bits() | Self::LOWERCASE.bits() | Self::UPPERCASE.bits();
        /// The attributes that convert an assigned value to another text.
        const CONVERTING = Self::CASES.bits() | Self::INTEGER.bits();
        /// The attributes that functions can have.
        const OF_FUNCTIONS =
            Self::READONLY.bits() | Self::TRACE.bits() | Self::EXPORT.bits();
    }
}

/// The letters of the attributes from the lowest bit on, in the order in which bash lists them.
const LETTERS: &[u8; 10] = b"aAinrtxclu";

impl From<u16> for Attributes {
    fn from(bits: u16) -> Attributes {
        Attributes::from_bits_truncate(bits)
    }
}

impl From<Attributes> for u16 {
    fn from(attributes: Attributes) -> u16 {
        attributes.bits()
    }
}

impl Attributes {
    /// Returns the letters of `declare`'s options, in the order bash lists them.
    pub fn letters(self) -> Vec<u8> {
        let on = |bit: &usize| self.bits() & 1 << bit != 0;
        (0..LETTERS.len()).filter(on).map(|bit| LETTERS[bit]).collect()
    }

    /// Returns the attributes of these letters; other letters are ignored.
    pub fn from_letters(letters: &[u8]) -> Attributes {
        let bit = |letter: &u8| LETTERS.iter().position(|l| l == letter);
        let bits = letters.iter().filter_map(bit).fold(0, |all, bit| all | 1 << bit);
        Attributes::from_bits_truncate(bits)
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
