//! The values of shell variables (bash manual 3.4, 6.7).
//!
//! Invariant: a clone costs a reference count. A subshell copies the whole variable
//! table, and writes copy only what they touch (`Rc::make_mut`), so appending to a
//! string or array that nobody shares is amortised constant time.

use std::rc::Rc;

/// A byte string value.
pub type Str = Rc<Vec<u8>>;

/// The value of a set variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Scalar(Str),
    Indexed(Rc<crate::array::IndexedArray>),
    Assoc(Rc<crate::array::AssocArray>),
}

/// Attributes of a variable (`declare` options of the same letters).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Attributes {
    /// `-x`
    pub export: bool,
    /// `-r`
    pub readonly: bool,
    /// `-i`
    pub integer: bool,
    /// `-l`
    pub lowercase: bool,
    /// `-u`
    pub uppercase: bool,
    /// `-c`
    pub capitalize: bool,
    /// `-n`
    pub nameref: bool,
    /// `-t`
    pub trace: bool,
    /// `-a`, also on a variable that has no value yet
    pub indexed: bool,
    /// `-A`, also on a variable that has no value yet
    pub assoc: bool,
}

impl Attributes {
    /// The letters of `declare`'s options, in the order bash lists them.
    pub fn letters(self) -> Vec<u8> {
        let all = [
            (self.indexed, b'a'),
            (self.assoc, b'A'),
            (self.integer, b'i'),
            (self.nameref, b'n'),
            (self.readonly, b'r'),
            (self.trace, b't'),
            (self.export, b'x'),
            (self.capitalize, b'c'),
            (self.lowercase, b'l'),
            (self.uppercase, b'u'),
        ];
        all.iter().filter(|(set, _)| *set).map(|&(_, letter)| letter).collect()
    }

    /// The attributes of both.
    pub fn with(self, other: Attributes) -> Attributes {
        Attributes {
            export: self.export || other.export,
            readonly: self.readonly || other.readonly,
            integer: self.integer || other.integer,
            lowercase: self.lowercase || other.lowercase,
            uppercase: self.uppercase || other.uppercase,
            capitalize: self.capitalize || other.capitalize,
            nameref: self.nameref || other.nameref,
            trace: self.trace || other.trace,
            indexed: self.indexed || other.indexed,
            assoc: self.assoc || other.assoc,
        }
    }
}
