//! The order in which gawk 5 visits an array's elements, found by measuring.
//!
//! POSIX does not specify the order, but scripts' recorded outputs depend on it. The findings:
//! - The first subscript that is stored in an empty array decides the array's kind:
//! - A 32-bit integer that is not negative makes a *counting* array. All such integers come last,
//!   in ascending order. All other subscripts are in a nested array of one of the kinds below and
//!   come first.
//! - A negative 32-bit integer makes a table of integers, hashed by shifts and adds (the final mix
//!   of Hsieh's hash); places hold chains of pairs. Other subscripts are in a nested table and come
//!   first.
//! - Any other subscript makes a table of strings, hashed by sdbm's function; new ones are at their
//!   chain's head.
//! - Tables have 13, 127, 1021, ... places and grow when they would hold more than two per place.

use super::AwkKey;

/// Table sizes as they grow.
const SIZES: [usize; 8] = [13, 127, 1021, 8191, 131_071, 1_048_573, 8_388_593, 16_777_213];

/// Returns whether a table of that level must grow before it takes another element.
pub fn is_outgrown(elements: usize, level: usize) -> bool {
    level + 1 < SIZES.len() && (elements + 1) / SIZES[level] > 2
}

fn is_int32(k: &AwkKey) -> bool {
    matches!(k, AwkKey::Int(n) if i32::try_from(*n).is_ok())
}

/// A subscript with its hash.
struct HashedKey {
    hash: u32,
    key: AwkKey,
}

/// Returns the subscripts of a nested array, or of one that did not begin with a counting
/// subscript, in gawk's order. `keys` are in order of creation, each with the number of its
/// creation. `growths` has, for each growth of the table that is known, the number of the last
/// creation before it.
pub fn hashed_order(keys: Vec<(u64, AwkKey)>, growths: &[u64]) -> Vec<AwkKey> {
    if keys.first().is_some_and(|(_, k)| is_int32(k)) {
        let (ints, others): (Vec<_>, Vec<_>) = keys.into_iter().partition(|(_, k)| is_int32(k));
        let growths = if others.is_empty() { growths } else { &[] };
        let mut all = table_order(others, &[], sdbm_of, newest_first);
        all.extend(table_order(ints, growths, mix_hash, pair_order));
        return all;
    }
    table_order(keys, growths, sdbm_of, newest_first)
}

/// Inserts the keys in order of creation into a table that grows as gawk's does, and returns them
/// place by place. `unload` puts a place's elements, given oldest first, into the order of its
/// chain.
fn table_order(
    keys: Vec<(u64, AwkKey)>,
    growths: &[u64],
    hash: fn(&AwkKey) -> u32,
    unload: fn(Vec<HashedKey>) -> Vec<HashedKey>,
) -> Vec<AwkKey> {
    let empty =
        |level: usize| -> Vec<Vec<HashedKey>> { (0..SIZES[level]).map(|_| Vec::new()).collect() };
    let mut level = 0;
    let mut places = empty(0);
    let insert = |places: &mut Vec<Vec<HashedKey>>, item: HashedKey| {
        let at = item.hash as usize % places.len();
        places[at].push(item);
    };
    let grow = |places: &mut Vec<Vec<HashedKey>>, level: &mut usize| {
        *level += 1;
        let old = std::mem::replace(places, empty((*level).min(SIZES.len() - 1)));
        for place in old {
            unload(place).into_iter().for_each(|x| insert(places, x));
        }
    };
    for (n, (born, key)) in keys.into_iter().enumerate() {
        while match growths.get(level) {
            Some(last) => born > *last,
            None => is_outgrown(n, level),
        } {
            grow(&mut places, &mut level);
        }
        insert(&mut places, HashedKey { hash: hash(&key), key });
    }
    // The table has also grown for elements that were deleted since.
    while level < growths.len() {
        grow(&mut places, &mut level);
    }
    places.into_iter().flat_map(unload).map(|i| i.key).collect()
}

/// Orders a chain of strings: the newest first.
fn newest_first(mut place: Vec<HashedKey>) -> Vec<HashedKey> {
    place.reverse();
    place
}

/// Orders a chain of integers, which consists of pairs: the newest pair first, and the older
/// element first within a pair.
fn pair_order(place: Vec<HashedKey>) -> Vec<HashedKey> {
    let mut chain: Vec<Vec<HashedKey>> = Vec::new();
    for item in place {
        match chain.last_mut() {
            Some(p) if p.len() < 2 => p.push(item),
            _ => chain.push(vec![item]),
        }
    }
    chain.into_iter().rev().flatten().collect()
}

fn sdbm_of(key: &AwkKey) -> u32 {
    sdbm_hash(&key.text())
}

/// Computes sdbm's string hash in 32 bits, with signed characters.
fn sdbm_hash(text: &[u8]) -> u32 {
    text.iter().fold(0u32, |h, c| {
        (*c as i8 as u32).wrapping_add(h << 6).wrapping_add(h << 16).wrapping_sub(h)
    })
}

/// Applies the final mix of Hsieh's SuperFastHash.
fn mix_hash(key: &AwkKey) -> u32 {
    let AwkKey::Int(n) = key else { return 0 };
    let mut k = *n as u32;
    k ^= k << 3;
    k = k.wrapping_add(k >> 5);
    k ^= k << 4;
    k = k.wrapping_add(k >> 17);
    k ^= k << 25;
    k.wrapping_add(k >> 6)
}
