//! Indexed arrays: a vector for the elements from 0 on, and an ordered map for the rest.
//!
//! The elements 0, 1, 2 ... up to the first gap are a vector: appending is amortised constant time
//! and lookup is an index. Elements after a gap are in a map, and move to the vector when the gap
//! is filled.

use std::collections::BTreeMap;

use crate::value::Str;

/// An indexed array. Subscripts are 0 to `i64::MAX`; negative ones are resolved by
/// [`IndexedArray::resolve`] first.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct IndexedArray {
    dense: Vec<Str>,
    /// The elements with subscripts greater than `dense.len()`.
    sparse: BTreeMap<i64, Str>,
}

impl IndexedArray {
    /// Returns an array without elements.
    pub fn new() -> IndexedArray {
        IndexedArray::default()
    }

    /// Returns the number of elements that are set (`${#a[@]}`).
    pub fn len(&self) -> usize {
        self.dense.len() + self.sparse.len()
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.dense.is_empty() && self.sparse.is_empty()
    }

    /// Returns the element with this index, which is not negative.
    pub fn get(&self, index: i64) -> Option<&Str> {
        match usize::try_from(index).ok().and_then(|i| self.dense.get(i)) {
            Some(value) => Some(value),
            None if self.sparse.is_empty() => None,
            None => self.sparse.get(&index),
        }
    }

    /// Returns the element mutably, for `a[i]+=text` without copying an unshared string.
    pub fn get_mut(&mut self, index: i64) -> Option<&mut Str> {
        match usize::try_from(index) {
            Ok(i) if i < self.dense.len() => self.dense.get_mut(i),
            _ => self.sparse.get_mut(&index),
        }
    }

    /// Sets an element. A negative subscript (not resolved) is ignored.
    pub fn set(&mut self, index: i64, value: Str) {
        if index < 0 {
            return;
        }
        // A subscript that is greater than any address of this machine is never dense.
        let i = usize::try_from(index).unwrap_or(usize::MAX);
        if i < self.dense.len() {
            self.dense[i] = value;
        } else if i == self.dense.len() {
            self.dense.push(value);
            self.close_gap();
        } else {
            self.sparse.insert(index, value);
        }
    }

    /// Moves the elements that directly follow the dense part into it.
    fn close_gap(&mut self) {
        while let Some(entry) = self.sparse.first_entry() {
            if *entry.key() != self.dense.len() as i64 {
                break;
            }
            self.dense.push(entry.remove());
        }
    }

    /// Appends after the greatest subscript (`a+=(x)`).
    pub fn push(&mut self, value: Str) {
        match self.sparse.last_key_value() {
            None => self.dense.push(value),
            Some((&last, _)) => {
                if let Some(next) = last.checked_add(1) {
                    self.sparse.insert(next, value);
                }
            }
        }
    }

    /// Removes an element and returns whether there was one.
    pub fn unset(&mut self, index: i64) -> bool {
        let i = usize::try_from(index).unwrap_or(usize::MAX);
        if i >= self.dense.len() {
            return self.sparse.remove(&index).is_some();
        }
        // All elements after the removed one become sparse. Removing elements from the front one by
        // one moves the others only once, because they are in the map afterwards.
        for (k, value) in self.dense.drain(i..).enumerate().skip(1) {
            self.sparse.insert((i + k) as i64, value);
        }
        true
    }

    /// Returns the greatest subscript.
    pub fn max_index(&self) -> Option<i64> {
        match self.sparse.last_key_value() {
            Some((&last, _)) => Some(last),
            None => (self.dense.len() as i64).checked_sub(1).filter(|&i| i >= 0),
        }
    }

    /// Resolves a subscript as written: negative ones count back from one past the greatest.
    /// Returns `None` if it lies before the array.
    pub fn resolve(&self, index: i64) -> Option<i64> {
        if index >= 0 {
            return Some(index);
        }
        let end = self.max_index().map_or(0, |last| last.saturating_add(1));
        end.checked_add(index).filter(|&i| i >= 0)
    }

    /// Returns subscripts and elements in order.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &Str)> {
        let dense = self.dense.iter().enumerate().map(|(i, v)| (i as i64, v));
        dense.chain(self.sparse.iter().map(|(&i, v)| (i, v)))
    }

    /// Returns the elements in order.
    pub fn values(&self) -> impl Iterator<Item = &Str> {
        self.dense.iter().chain(self.sparse.values())
    }

    /// Returns the elements with a subscript of at least `from`.
    pub fn values_from(&self, from: i64) -> impl Iterator<Item = &Str> {
        let start = usize::try_from(from).unwrap_or(0).min(self.dense.len());
        self.dense[start..].iter().chain(self.sparse.range(from.max(0)..).map(|(_, v)| v))
    }
}

impl FromIterator<Str> for IndexedArray {
    fn from_iter<I: IntoIterator<Item = Str>>(iter: I) -> IndexedArray {
        IndexedArray { dense: iter.into_iter().collect(), sparse: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    fn s(text: &str) -> Str {
        Rc::new(text.as_bytes().to_vec())
    }

    fn shown(array: &IndexedArray) -> Vec<(i64, String)> {
        array.iter().map(|(i, v)| (i, String::from_utf8_lossy(v).into_owned())).collect()
    }

    #[test]
    fn gaps_open_and_close() {
        let mut a: IndexedArray = ["a", "b", "c"].map(s).into_iter().collect();
        assert!(a.unset(1));
        assert!(!a.unset(1));
        assert_eq!(shown(&a), [(0, "a".into()), (2, "c".into())]);
        a.push(s("d"));
        a.set(i64::MAX, s("z"));
        assert_eq!(a.len(), 4);
        assert_eq!(a.max_index(), Some(i64::MAX));
        a.set(1, s("B"));
        assert_eq!(a.dense.len(), 4);
        a.unset(i64::MAX);
        assert_eq!(a.resolve(-1), Some(3));
        assert_eq!(a.resolve(-4), Some(0));
        assert_eq!(a.resolve(-5), None);
        assert_eq!(shown(&a)[3], (3, "d".into()));
    }

    #[test]
    fn values_from_a_subscript() {
        let mut a: IndexedArray = ["a", "b"].map(s).into_iter().collect();
        a.set(10, s("x"));
        let tail = |from| {
            a.values_from(from).map(|v| String::from_utf8_lossy(v).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(tail(1), ["b", "x"]);
        assert_eq!(tail(5), ["x"]);
        assert_eq!(tail(11), [""; 0]);
    }
}
