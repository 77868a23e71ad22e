//! Associative arrays that list their elements in bash's order.
//!
//! Scripts show that order (`${!a[@]}`, `declare -p`), so it is part of the behaviour. It was found
//! by experiments with bash 5.2 (see the test): a chained hash table of 1024 buckets, with FNV-1
//! over the key's bytes as signed numbers, and the newest key first in its bucket. If there are
//! twice as many keys as buckets before an insertion, the number of buckets is multiplied by four,
//! and the keys of each old bucket are inserted before those of the new bucket, in their old order.

use serde::{Deserialize, Serialize};

use crate::value::Str;

const FIRST_BUCKETS: usize = 1024;
const NONE: u32 = u32::MAX;

/// An associative array.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "AssocList", from = "AssocList")]
pub struct AssocArray {
    /// First entry of each bucket; empty while there are no elements.
    buckets: Vec<u32>,
    entries: Vec<AssocEntry>,
    /// The indices of removed entries, for reuse.
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct AssocEntry {
    key: Box<[u8]>,
    hash: u32,
    next: u32,
    /// The value; `None` in the free list.
    value: Option<Str>,
}

/// The array in serialized form.
#[derive(Serialize, Deserialize)]
struct AssocList {
    /// The number of buckets, which determines the order.
    buckets: u32,
    /// The elements from last to first, because each insertion puts an element before the others of
    /// its bucket.
    elements: Vec<(Box<[u8]>, Str)>,
}

/// The maximum number of buckets in a serialized array.
const MOST_BUCKETS: u32 = 1 << 24;

impl From<AssocArray> for AssocList {
    fn from(array: AssocArray) -> AssocList {
        let elements = array.iter().map(|(key, value)| (key.into(), value.clone()));
        let mut elements: Vec<_> = elements.collect();
        elements.reverse();
        AssocList { buckets: array.buckets.len() as u32, elements }
    }
}

impl From<AssocList> for AssocArray {
    fn from(listed: AssocList) -> AssocArray {
        let mut array = AssocArray::new();
        if listed.buckets.is_power_of_two() && listed.buckets <= MOST_BUCKETS {
            array.buckets = vec![NONE; listed.buckets as usize];
        }
        for (key, value) in listed.elements {
            array.set(&key, value);
        }
        array
    }
}

fn hash(key: &[u8]) -> u32 {
    key.iter().fold(2_166_136_261, |hash: u32, &byte| {
        hash.wrapping_mul(16_777_619) ^ (byte as i8 as i32 as u32)
    })
}

impl AssocArray {
    /// Returns an array without elements.
    pub fn new() -> AssocArray {
        AssocArray::default()
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bucket_index(&self, hash: u32) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    fn find_entry(&self, key: &[u8]) -> Option<usize> {
        if self.buckets.is_empty() {
            return None;
        }
        let hash = hash(key);
        let mut at = self.buckets[self.bucket_index(hash)];
        while at != NONE {
            let entry = &self.entries[at as usize];
            if entry.hash == hash && *entry.key == *key {
                return Some(at as usize);
            }
            at = entry.next;
        }
        None
    }

    /// Returns the element with this key.
    pub fn get(&self, key: &[u8]) -> Option<&Str> {
        self.entries[self.find_entry(key)?].value.as_ref()
    }

    /// Returns the element mutably, for `a[k]+=text` without copying an unshared string.
    pub fn get_mut(&mut self, key: &[u8]) -> Option<&mut Str> {
        let at = self.find_entry(key)?;
        self.entries[at].value.as_mut()
    }

    /// Sets an element; an existing key keeps its place.
    pub fn set(&mut self, key: &[u8], value: Str) {
        if let Some(at) = self.find_entry(key) {
            self.entries[at].value = Some(value);
            return;
        }
        if self.buckets.is_empty() {
            self.buckets = vec![NONE; FIRST_BUCKETS];
        } else if self.len() >= self.buckets.len() * 2 {
            self.grow_table();
        }
        let hash = hash(key);
        let bucket = self.bucket_index(hash);
        let entry =
            AssocEntry { key: key.into(), hash, next: self.buckets[bucket], value: Some(value) };
        let at = match self.free.pop() {
            Some(at) => {
                self.entries[at as usize] = entry;
                at
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        };
        self.buckets[bucket] = at;
    }

    fn grow_table(&mut self) {
        let old = std::mem::take(&mut self.buckets);
        self.buckets = vec![NONE; old.len() * 4];
        for first in old {
            let mut at = first;
            while at != NONE {
                let next = self.entries[at as usize].next;
                let bucket = self.bucket_index(self.entries[at as usize].hash);
                self.entries[at as usize].next = self.buckets[bucket];
                self.buckets[bucket] = at;
                at = next;
            }
        }
    }

    /// Removes an element and returns whether there was one.
    pub fn unset(&mut self, key: &[u8]) -> bool {
        let Some(found) = self.find_entry(key) else { return false };
        let next = self.entries[found].next;
        let bucket = self.bucket_index(self.entries[found].hash);
        let mut at = self.buckets[bucket];
        if at as usize == found {
            self.buckets[bucket] = next;
        } else {
            while self.entries[at as usize].next as usize != found {
                at = self.entries[at as usize].next;
            }
            self.entries[at as usize].next = next;
        }
        self.entries[found].value = None;
        self.entries[found].key = Box::default();
        self.free.push(found as u32);
        true
    }

    /// Returns keys and elements in bash's order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &Str)> {
        let chain = |first: u32| {
            let entry = |at: u32| self.entries.get(at as usize);
            std::iter::successors(entry(first), move |e| entry(e.next))
        };
        self.buckets
            .iter()
            .flat_map(move |&first| chain(first))
            .filter_map(|e| Some((&*e.key, e.value.as_ref()?)))
    }

    /// Returns the elements in bash's order.
    pub fn values(&self) -> impl Iterator<Item = &Str> {
        self.iter().map(|(_, value)| value)
    }
}

impl PartialEq for AssocArray {
    fn eq(&self, other: &AssocArray) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::rc::Rc;

    fn ours(count: usize) -> String {
        let mut array = AssocArray::new();
        for i in 0..count {
            array.set(format!("k\u{e9}{i}").as_bytes(), Rc::default());
        }
        for i in (0..count).step_by(7) {
            assert!(array.unset(format!("k\u{e9}{i}").as_bytes()));
        }
        array.set(b"again", Rc::default());
        array.iter().map(|(key, _)| format!("{}\n", String::from_utf8_lossy(key))).collect()
    }

    /// The expected orders are those of bash for the same keys, at sizes around those at which its
    /// table grows.
    #[test]
    fn order_as_bash() {
        for count in [10, 1000, 2049, 3000, 9000] {
            let script = format!(
                "declare -A a; for ((i=0;i<{count};i++)); do a[k\u{e9}$i]=1; done
                 for ((i=0;i<{count};i+=7)); do unset \"a[k\u{e9}$i]\"; done; a[again]=1; printf '%s\\n' \"${{!a[@]}}\""
            );
            let output = Command::new("bash")
                .args(["-c", &script])
                .output()
                .expect("bash is needed for this test");
            assert_eq!(String::from_utf8_lossy(&output.stdout), ours(count), "{count} keys");
        }
    }
}
