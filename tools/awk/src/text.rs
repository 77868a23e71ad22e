//! Byte strings as awk values: short ones inline, long ones shared.
//!
//! Most fields fit inline, so that reading and storing them allocates nothing; long strings
//! grow in place when they are not shared (`s = s x` in a loop stays linear).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

/// Longest inline string.
const INLINE: usize = 22;

/// An immutable byte string, cheap to clone.
#[derive(Clone)]
pub struct Text(Repr);

#[derive(Clone)]
enum Repr {
    Inline { len: u8, bytes: [u8; INLINE] },
    Shared(Rc<Vec<u8>>),
}

impl Text {
    /// No bytes.
    pub const EMPTY: Text = Text(Repr::Inline { len: 0, bytes: [0; INLINE] });

    /// A copy of the bytes.
    #[inline]
    pub fn new(text: &[u8]) -> Text {
        if text.len() <= INLINE {
            let mut bytes = [0; INLINE];
            bytes[..text.len()].copy_from_slice(text);
            return Text(Repr::Inline { len: text.len() as u8, bytes });
        }
        Text(Repr::Shared(Rc::new(text.to_vec())))
    }

    /// Takes a buffer over.
    pub fn from_vec(text: Vec<u8>) -> Text {
        if text.len() <= INLINE { Text::new(&text) } else { Text(Repr::Shared(Rc::new(text))) }
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Repr::Shared(v) => v,
        }
    }

    /// Appends in place if nobody else holds the string.
    pub fn push(&mut self, more: &[u8]) {
        if let Repr::Shared(rc) = &mut self.0
            && let Some(v) = Rc::get_mut(rc)
        {
            v.extend_from_slice(more);
            return;
        }
        let old = self.as_bytes();
        let len = old.len() + more.len();
        if len <= INLINE {
            let mut bytes = [0; INLINE];
            bytes[..old.len()].copy_from_slice(old);
            bytes[old.len()..len].copy_from_slice(more);
            self.0 = Repr::Inline { len: len as u8, bytes };
            return;
        }
        let mut v = Vec::with_capacity(len * 2);
        v.extend_from_slice(old);
        v.extend_from_slice(more);
        self.0 = Repr::Shared(Rc::new(v));
    }
}

impl Deref for Text {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}
