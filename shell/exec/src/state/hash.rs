//! A fast hash for short keys (variable, function and command names). It need not resist chosen
//! collisions: the keys come from the script, whose author can only slow down his own shell.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hash for short keys, with which no guest can slow down others.
#[derive(Clone, Copy, Default)]
pub struct FastHasher(u64);

const K: u64 = 0x517c_c1b7_2722_0a95;

impl FastHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(K);
    }
}

impl Hasher for FastHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((head, tail)) = rest.split_first_chunk::<8>() {
            self.add(u64::from_le_bytes(*head));
            rest = tail;
        }
        let mut last = [0u8; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    #[inline]
    fn write_usize(&mut self, _: usize) {
        // This is the length of a slice, which `write` mixes in.
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The table takes the top bits; spread the product into them.
        self.0 ^ (self.0 >> 29)
    }
}

/// A map with that hash.
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;
