//! Objects: keys in the order of their first insertion, as jq prints them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use super::{Str, Value};

/// The maximum number of slots in which keys are searched one by one, which is faster than hashing
/// and keeps small objects small.
const LINEAR: usize = 8;

/// An object.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// The entries in order. A deleted one leaves a hole; holes are removed when they are the
    /// majority.
    slots: Vec<Option<(Str, Value)>>,
    live: usize,
    index: Option<Box<Index>>,
}

type Index = HashMap<Str, u32, BuildHasherDefault<KeyHasher>>;

/// FNV-1a over eight bytes at a time with a final mix. No keyed hash is needed, because an author
/// of data with colliding keys only slows down his own session.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut h = self.0 ^ 0xcbf2_9ce4_8422_2325;
        let mut chunks = bytes.chunks_exact(8);
        for c in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(c);
            h = (h ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
        for &b in chunks.remainder() {
            h = (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.0 = h;
    }

    fn finish(&self) -> u64 {
        let h = self.0;
        (h ^ (h >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Map {
    /// Returns an empty object with room for `n` entries.
    pub fn with_capacity(n: usize) -> Map {
        Map { slots: Vec::with_capacity(n), live: 0, index: None }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    fn find_index(&self, key: &str) -> Option<usize> {
        match &self.index {
            // `Rc<String>` only borrows as `String`, so a lookup by hash needs an owned key. This
            // copies the key only if the object is large.
            Some(index) => index.get(&Rc::new(key.to_string())).map(|i| *i as usize),
            None => {
                self.slots.iter().position(|s| s.as_ref().is_some_and(|(k, _)| k.as_str() == key))
            }
        }
    }

    fn find_shared(&self, key: &Str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(key).map(|i| *i as usize),
            None => self.find_index(key),
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let at = self.find_index(key)?;
        self.slots.get(at)?.as_ref().map(|(_, v)| v)
    }

    /// Returns the value of a shared key, without copying the key.
    pub fn get_shared(&self, key: &Str) -> Option<&Value> {
        let at = self.find_shared(key)?;
        self.slots.get(at)?.as_ref().map(|(_, v)| v)
    }

    /// Returns the value of a key, to be changed.
    pub fn get_mut(&mut self, key: &Str) -> Option<&mut Value> {
        let at = self.find_shared(key)?;
        self.slots.get_mut(at)?.as_mut().map(|(_, v)| v)
    }

    /// Sets a key; one that exists keeps its place.
    pub fn insert(&mut self, key: Str, value: Value) {
        if let Some(slot) = self.get_mut(&key) {
            *slot = value;
            return;
        }
        let at = self.slots.len();
        if let Some(index) = &mut self.index {
            index.insert(key.clone(), at as u32);
        }
        self.slots.push(Some((key, value)));
        self.live += 1;
        if self.index.is_none() && self.slots.len() > LINEAR {
            self.rebuild_index();
        }
    }

    /// Removes an entry and returns its value; the order of the others does not change.
    pub fn remove(&mut self, key: &Str) -> Option<Value> {
        let at = self.find_shared(key)?;
        let (key, value) = self.slots.get_mut(at)?.take()?;
        self.live -= 1;
        if let Some(index) = &mut self.index {
            index.remove(&key);
        }
        if self.slots.len() > 2 * self.live + LINEAR {
            self.slots.retain(Option::is_some);
            self.rebuild_index();
        }
        Some(value)
    }

    fn rebuild_index(&mut self) {
        self.index = (self.slots.len() > LINEAR).then(|| {
            Box::new(
                self.slots
                    .iter()
                    .enumerate()
                    .filter_map(|(i, s)| s.as_ref().map(|(k, _)| (k.clone(), i as u32)))
                    .collect(),
            )
        });
    }

    /// Returns all entries, in the order in which they were set.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Str, &Value)> {
        self.slots.iter().flatten().map(|(k, v)| (k, v))
    }

    /// Returns the first entry at or after `slot`, with its slot, for iterations that are
    /// interrupted.
    pub fn entry_from(&self, slot: usize) -> Option<(usize, &Str, &Value)> {
        self.slots
            .get(slot..)?
            .iter()
            .enumerate()
            .find_map(|(i, s)| s.as_ref().map(|(k, v)| (slot + i, k, v)))
    }

    /// Returns the entries in the order of their keys' bytes, which is also the order by
    /// codepoints.
    pub fn sorted_entries(&self) -> Vec<(&Str, &Value)> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
        all
    }
}

impl FromIterator<(Str, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Str, Value)>>(iter: I) -> Map {
        let mut m = Map::default();
        for (k, v) in iter {
            m.insert(k, v);
        }
        m
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        let nested = |s: &Option<(Str, Value)>| {
            s.as_ref().is_some_and(|(_, v)| matches!(v, Value::Arr(_) | Value::Obj(_)))
        };
        if self.slots.iter().any(nested) {
            super::items::drop_nested(self.slots.drain(..).flatten().map(|(_, v)| v).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(i: usize) -> Str {
        Rc::new(format!("k{i}"))
    }

    #[test]
    fn order_survives_deletion_and_growth() {
        let mut m = Map::default();
        for i in 0..1000 {
            m.insert(key(i), Value::int(i));
        }
        for i in (0..1000).filter(|i| i % 3 != 0) {
            assert!(m.remove(&key(i)).is_some());
        }
        assert!(m.remove(&key(1)).is_none());
        m.insert(key(1), Value::Null);
        let names: Vec<String> = m.iter().map(|(k, _)| k.to_string()).collect();
        let mut expected: Vec<String> = (0..1000).step_by(3).map(|i| format!("k{i}")).collect();
        expected.push("k1".to_string());
        assert_eq!(names, expected);
        assert_eq!(m.len(), expected.len());
        assert_eq!(m.get("k999").and_then(Value::as_num), Some(999.0));
        assert!(m.get("k998").is_none());
    }
}
