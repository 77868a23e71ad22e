//! Associative arrays.
//!
//! Elements are kept in a hash map, apart from a dense part for counting subscripts. Integer
//! subscripts are stored as integers, whether they are given as numbers or as strings in canonical
//! form, so `a[1]` and `a["1"]` are one element. The order of `for (k in a)` is computed only when
//! it is needed; see `array/order`.

mod order;

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use crate::text::AwkText;
use crate::value::{AwkValue, NumberFormat, append_int};

/// A subscript.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AwkKey {
    Int(i64),
    Str(AwkText),
}

/// Integers below this bound are exact as floating-point numbers, so their decimal form is
/// canonical.
const MAX_INT: f64 = 9_007_199_254_740_992.0;

impl AwkKey {
    /// Converts a value to a subscript, with `convfmt` for numbers that are not integers.
    #[inline]
    pub fn from_value(v: &AwkValue, convfmt: &NumberFormat) -> AwkKey {
        match v {
            AwkValue::Num(n) if n.fract() == 0.0 && n.abs() < MAX_INT => AwkKey::Int(*n as i64),
            AwkValue::Num(_) => AwkKey::Str(v.text(convfmt)),
            AwkValue::Uninit | AwkValue::NoField => AwkKey::Str(AwkText::EMPTY),
            AwkValue::Str(t) | AwkValue::Input(t) | AwkValue::Regex(t) => {
                AwkKey::from_text(t.clone())
            }
        }
    }

    /// Converts a string to a subscript.
    #[inline]
    pub fn from_text(t: AwkText) -> AwkKey {
        match canonical_int(&t) {
            Some(n) => AwkKey::Int(n),
            None => AwkKey::Str(t),
        }
    }

    /// Converts bytes to a subscript.
    pub fn from_bytes(t: &[u8]) -> AwkKey {
        AwkKey::from_text(AwkText::new(t))
    }

    /// Returns the subscript as a string.
    pub fn text(&self) -> AwkText {
        match self {
            AwkKey::Str(t) => t.clone(),
            AwkKey::Int(n) => {
                let mut out = Vec::with_capacity(20);
                append_int(&mut out, *n);
                AwkText::from_vec(out)
            }
        }
    }
}

/// Parses an integer in canonical form, such as `0`, `7` or `-12`.
#[inline]
fn canonical_int(t: &[u8]) -> Option<i64> {
    let digits = match t {
        [b'-', rest @ ..] => rest,
        _ => t,
    };
    let canonical = match digits {
        [b'0'] => digits.len() == t.len(),
        [b'1'..=b'9', ..] => digits.len() <= 15,
        _ => false,
    };
    if !canonical {
        return None;
    }
    let mut n = 0i64;
    for d in digits {
        if !d.is_ascii_digit() {
            return None;
        }
        n = n * 10 + i64::from(d - b'0');
    }
    Some(if digits.len() < t.len() { -n } else { n })
}

/// A shared array: parameters are passed by reference.
pub type ArrayRef = Rc<RefCell<Array>>;

/// An element: a value, or an array of its own (gawk).
#[derive(Clone, Debug)]
pub enum ElementSlot {
    Value(AwkValue),
    Array(ArrayRef),
}

#[derive(Clone, Debug)]
struct ArrayEntry {
    /// The count of births when the element was created, for the order of iteration.
    born: u64,
    slot: ElementSlot,
}

/// The kind of table in which gawk would keep an array, which determines the order of its elements.
/// The first subscript determines the kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ArrayKind {
    #[default]
    Empty,
    /// The first subscript was a whole number from 0 on; such subscripts are kept in numeric order.
    Counting,
    Hashed,
}

/// The largest gap between the dense part and a subscript that still extends it.
const GAP: usize = 8;

/// An associative array.
#[derive(Debug, Default)]
pub struct Array {
    kind: ArrayKind,
    /// The depth at which it is nested in other arrays.
    pub depth: usize,
    /// Whether it was made for an unset variable passed to a function and has not been used as an
    /// array since. `isarray` returns 0 for it, and as a scalar it is unset.
    pub untyped: bool,
    /// Elements 0 to n-1 of a counting array that is filled roughly in order. None of these
    /// subscripts is in `map`.
    dense: Vec<Option<ElementSlot>>,
    dense_count: usize,
    map: HashMap<AwkKey, ArrayEntry, BuildHasherDefault<AwkFastHasher>>,
    births: u64,
    /// For each growth of gawk's table since the array was empty, the number of births before it.
    /// Tables do not shrink when elements are deleted.
    growths: Vec<u64>,
}

impl Array {
    /// Creates a new empty array, shared.
    pub fn new_shared() -> ArrayRef {
        Rc::new(RefCell::new(Array::default()))
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.dense_count + self.map.len()
    }

    /// Returns the index of a subscript in the dense part, if it lies there.
    #[inline]
    fn place_in_dense(&self, key: &AwkKey) -> Option<usize> {
        match key {
            AwkKey::Int(n) => usize::try_from(*n).ok().filter(|n| *n < self.dense.len()),
            AwkKey::Str(_) => None,
        }
    }

    /// Returns the element, if it exists.
    #[inline]
    pub fn get(&self, key: &AwkKey) -> Option<&ElementSlot> {
        match self.place_in_dense(key) {
            Some(n) => self.dense[n].as_ref(),
            None => self.map.get(key).map(|e| &e.slot),
        }
    }

    /// Returns whether the element exists.
    #[inline]
    pub fn contains_key(&self, key: &AwkKey) -> bool {
        self.get(key).is_some()
    }

    /// Returns the element; creates it, unassigned, if it does not exist.
    #[inline]
    pub fn slot_or_insert(&mut self, key: AwkKey) -> &mut ElementSlot {
        if let Some(n) = self.dense_place(&key) {
            let count = &mut self.dense_count;
            return self.dense[n].get_or_insert_with(|| {
                *count += 1;
                ElementSlot::Value(AwkValue::Uninit)
            });
        }
        let (births, growths, len) = (&mut self.births, &mut self.growths, self.map.len());
        let entry = self.map.entry(key).or_insert_with(|| {
            if order::is_outgrown(len, growths.len()) {
                growths.push(*births);
            }
            *births += 1;
            ArrayEntry { born: *births, slot: ElementSlot::Value(AwkValue::Uninit) }
        });
        &mut entry.slot
    }

    /// Returns the index of a subscript in the dense part, which is extended if the subscript lies
    /// close to it.
    #[inline]
    fn dense_place(&mut self, key: &AwkKey) -> Option<usize> {
        let AwkKey::Int(n) = key else {
            if self.kind == ArrayKind::Empty {
                self.kind = ArrayKind::Hashed;
                self.untyped = false;
            }
            return None;
        };
        let n = usize::try_from(*n).ok().filter(|n| *n <= 0x7fff_ffff);
        if self.kind == ArrayKind::Empty {
            self.kind = if n.is_some() { ArrayKind::Counting } else { ArrayKind::Hashed };
            self.untyped = false;
        }
        let n = n?;
        if n < self.dense.len() {
            return Some(n);
        }
        if self.kind != ArrayKind::Counting || n > self.dense.len() + GAP {
            return None;
        }
        let from = self.dense.len();
        self.dense.resize(n + 1, None);
        if !self.map.is_empty() {
            // Elements that were added earlier, out of order, move from the map to the dense part.
            for i in from..=n {
                if let Some(e) = self.map.remove(&AwkKey::Int(i as i64)) {
                    self.dense[i] = Some(e.slot);
                    self.dense_count += 1;
                }
            }
        }
        Some(n)
    }

    /// Sets an element; one that was an array is replaced.
    pub fn set(&mut self, key: AwkKey, value: AwkValue) {
        *self.slot_or_insert(key) = ElementSlot::Value(value);
    }

    /// Removes an element (`delete a[k]`).
    pub fn remove(&mut self, key: &AwkKey) {
        match self.place_in_dense(key) {
            Some(n) => {
                if self.dense[n].take().is_some() {
                    self.dense_count -= 1;
                }
            }
            None => {
                self.map.remove(key);
            }
        }
        if self.len() == 0 {
            self.clear_all();
        }
    }

    /// Removes all elements (`delete a`).
    pub fn clear_all(&mut self) {
        self.dense.clear();
        self.dense_count = 0;
        self.map.clear();
        self.growths.clear();
        self.kind = ArrayKind::Empty;
        self.untyped = false;
    }

    /// Returns all subscripts in gawk's order.
    pub fn keys(&self) -> Vec<AwkKey> {
        let mut list: Vec<(u64, AwkKey)> =
            self.map.iter().map(|(k, e)| (e.born, k.clone())).collect();
        list.sort_unstable_by_key(|(born, _)| *born);
        if self.kind != ArrayKind::Counting {
            return order::hashed_order(list, &self.growths);
        }
        let (counting, others): (Vec<_>, Vec<_>) =
            list.into_iter().partition(|(_, k)| matches!(k, AwkKey::Int(0..=0x7fff_ffff)));
        // `growths` records how gawk's own table grew, so it applies only when the elements are in
        // such a table.
        let growths: &[u64] = if counting.is_empty() { &self.growths } else { &[] };
        let mut all = order::hashed_order(others, growths);
        let dense = self.dense.iter().enumerate().filter(|(_, slot)| slot.is_some());
        all.extend(dense.map(|(n, _)| AwkKey::Int(n as i64)));
        let rest = all.len();
        all.extend(counting.into_iter().map(|(_, k)| k));
        all[rest..].sort_unstable_by_key(|k| if let AwkKey::Int(n) = k { *n } else { 0 });
        all
    }

    /// Returns all elements, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (AwkKey, &ElementSlot)> {
        let dense = self.dense.iter().enumerate();
        let dense = dense.filter_map(|(n, s)| s.as_ref().map(|s| (AwkKey::Int(n as i64), s)));
        dense.chain(self.map.iter().map(|(k, e)| (k.clone(), &e.slot)))
    }
}

/// A fast multiplicative hash like FxHash. Deliberate collisions slow down only the script that
/// causes them.
#[derive(Default)]
pub struct AwkFastHasher(u64);

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

impl AwkFastHasher {
    #[inline]
    fn add_word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(SEED);
    }
}

impl Hasher for AwkFastHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for c in &mut chunks {
            self.add_word(u64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]));
        }
        let mut last = [0u8; 8];
        let rest = chunks.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.add_word(u64::from_le_bytes(last) ^ (rest.len() as u64) << 56);
    }

    #[inline]
    fn write_u64(&mut self, n: u64) {
        self.add_word(n);
    }

    #[inline]
    fn write_i64(&mut self, n: i64) {
        self.add_word(n as u64);
    }

    #[inline]
    fn write_usize(&mut self, n: usize) {
        self.add_word(n as u64);
    }

    #[inline]
    fn write_isize(&mut self, n: isize) {
        self.add_word(n as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The hash table takes tags from the top bits and places from the low bits.
        self.0 ^ (self.0 >> 29)
    }
}
