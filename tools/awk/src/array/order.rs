//! The order in which gawk 5 visits an array's elements, found by measuring.
//!
//! POSIX leaves it open, but scripts' recorded outputs depend on it. What was found:
//! - The first subscript since the array was empty decides its kind.
//! - Not negative 32-bit integer: a *counting* array. All such integers come last, ascending.
//!   All other subscripts live in a nested array of one of the kinds below and come first.
//! - Negative 32-bit integer: a table of integers, hashed by shifts and adds (the final mix of
//!   Hsieh's hash); places hold chains of pairs. Other subscripts: a nested table, first.
//! - Anything else: a table of strings, hashed by sdbm's function; new ones at the chain's head.
//! - Tables have 13, 127, 1021, ... places and grow when they would hold more than two per place.

use super::Key;

/// Table sizes as they grow.
const SIZES: [usize; 8] = [13, 127, 1021, 8191, 131_071, 1_048_573, 8_388_593, 16_777_213];

fn is_int32(k: &Key) -> bool {
    matches!(k, Key::Int(n) if i32::try_from(*n).is_ok())
}

/// Subscripts of a nested array, or of one that did not begin with a counting subscript, in
/// gawk's order; given in order of creation. `peak`: most elements there were.
pub fn hashed(keys: Vec<Key>, peak: usize) -> Vec<Key> {
    if keys.first().is_some_and(is_int32) {
        let (ints, others): (Vec<Key>, Vec<Key>) = keys.into_iter().partition(is_int32);
        let mut all = strings(others, peak);
        all.extend(integers(ints, peak));
        return all;
    }
    strings(keys, peak)
}

/// Inserts in order of creation, growing as gawk does. Elements since deleted count as if
/// they had been there before the others.
fn replay<T>(
    items: Vec<T>,
    peak: usize,
    insert: impl Fn(&mut [Vec<T>], T),
    unload: impl Fn(Vec<T>) -> Vec<T>,
) -> Vec<T> {
    let table = |size: usize| -> Vec<Vec<T>> { (0..size).map(|_| Vec::new()).collect() };
    let mut level = 0;
    let deleted = peak.saturating_sub(items.len());
    let mut places = table(SIZES[0]);
    for (n, item) in items.into_iter().enumerate() {
        while (n + deleted + 1) / SIZES[level] > 2 && level + 1 < SIZES.len() {
            level += 1;
            let old = std::mem::replace(&mut places, table(SIZES[level]));
            for place in old {
                unload(place).into_iter().for_each(|x| insert(&mut places, x));
            }
        }
        insert(&mut places, item);
    }
    places.into_iter().flat_map(unload).collect()
}

/// Places hold chains with the newest first; kept here with the newest last.
fn strings(keys: Vec<Key>, peak: usize) -> Vec<Key> {
    let items: Vec<(u32, Key)> = keys.into_iter().map(|k| (sdbm(&k.text()), k)).collect();
    let insert = |places: &mut [Vec<(u32, Key)>], item: (u32, Key)| {
        let at = item.0 as usize % places.len();
        places[at].push(item);
    };
    let unload = |mut place: Vec<(u32, Key)>| {
        place.reverse();
        place
    };
    replay(items, peak, insert, unload).into_iter().map(|(_, k)| k).collect()
}

/// Places hold chains of pairs: the newest pair first, within a pair the oldest first.
fn integers(keys: Vec<Key>, peak: usize) -> Vec<Key> {
    let items: Vec<(u32, Key)> = keys.into_iter().map(|k| (mix(&k), k)).collect();
    let insert = |places: &mut [Vec<(u32, Key)>], item: (u32, Key)| {
        let at = item.0 as usize % places.len();
        places[at].push(item);
    };
    let unload = |place: Vec<(u32, Key)>| {
        let mut pairs: Vec<Vec<(u32, Key)>> = Vec::new();
        for item in place {
            match pairs.last_mut() {
                Some(p) if p.len() < 2 => p.push(item),
                _ => pairs.push(vec![item]),
            }
        }
        pairs.into_iter().rev().flatten().collect()
    };
    replay(items, peak, insert, unload).into_iter().map(|(_, k)| k).collect()
}

/// sdbm's string hash in 32 bits, characters signed.
fn sdbm(text: &[u8]) -> u32 {
    text.iter().fold(0u32, |h, c| {
        (*c as i8 as u32).wrapping_add(h << 6).wrapping_add(h << 16).wrapping_sub(h)
    })
}

/// The final mix of Hsieh's SuperFastHash.
fn mix(key: &Key) -> u32 {
    let Key::Int(n) = key else { return 0 };
    let mut k = *n as u32;
    k ^= k << 3;
    k = k.wrapping_add(k >> 5);
    k ^= k << 4;
    k = k.wrapping_add(k >> 17);
    k ^= k << 25;
    k.wrapping_add(k >> 6)
}
