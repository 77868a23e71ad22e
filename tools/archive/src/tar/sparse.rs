//! Parses the maps of sparse files: GNU's old format in the header, and the pax formats 0.0, 0.1
//! and 1.0 (GNU tar manual, "Storing Sparse Files").

use super::decode::{BLOCK, number_field};
use super::member::SparsePiece;
use super::pax::PaxRecord;

/// The map of a sparse file in a pax archive.
pub enum PaxMap {
    /// The map was in the records.
    Pieces(Vec<SparsePiece>),
    /// The map precedes the file's data.
    InData,
}

/// Adds the pieces in a table of GNU's old format. The table has pairs of twelve-byte fields and
/// ends at an empty field.
pub fn add_pieces(table: &[u8], pieces: &mut Vec<SparsePiece>) {
    for pair in table.chunks_exact(24) {
        if pair[0] == 0 {
            return;
        }
        if let (Some(at), Some(length)) = (number_field(&pair[..12]), number_field(&pair[12..])) {
            pieces.push((at, length));
        }
    }
}

/// Returns the pieces if they are in order and within the file, and `None` otherwise.
pub fn check(pieces: Vec<SparsePiece>, size: u64) -> Option<Vec<SparsePiece>> {
    let mut end = 0;
    for (at, length) in &pieces {
        if *at < end {
            return None;
        }
        end = at.checked_add(*length)?;
    }
    (end <= size).then_some(pieces)
}

fn last_value<'r>(records: &'r [PaxRecord], key: &[u8]) -> Option<&'r [u8]> {
    records.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.as_slice())
}

fn parse_number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Returns the map of a member by its records. Returns `None` if the file is not sparse or the map
/// is malformed.
pub fn pax_map(records: &[PaxRecord]) -> Option<PaxMap> {
    if last_value(records, b"GNU.sparse.major") == Some(b"1") {
        return Some(PaxMap::InData);
    }
    let numbers: Option<Vec<u64>> = match last_value(records, b"GNU.sparse.map") {
        Some([]) => Some(Vec::new()),
        Some(map) => map.split(|c| *c == b',').map(parse_number).collect(),
        None => {
            last_value(records, b"GNU.sparse.numblocks")?;
            let keys: [&[u8]; 2] = [b"GNU.sparse.offset", b"GNU.sparse.numbytes"];
            let all = records.iter().filter(|(k, _)| keys.contains(&k.as_slice()));
            all.map(|(_, v)| parse_number(v)).collect()
        }
    };
    Some(PaxMap::Pieces(numbers?.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()))
}

/// Returns the length of the file including its holes.
pub fn pax_size(records: &[PaxRecord]) -> Option<u64> {
    let size = last_value(records, b"GNU.sparse.realsize");
    parse_number(size.or_else(|| last_value(records, b"GNU.sparse.size"))?)
}

/// Returns the name of the file, which is not in the header.
pub fn pax_name(records: &[PaxRecord]) -> Option<Vec<u8>> {
    last_value(records, b"GNU.sparse.name").map(<[u8]>::to_vec)
}

/// A map that is read block by block. It consists of decimal numbers, one in each line. The first
/// one is the number of pieces.
#[derive(Default)]
pub struct DataMap {
    count: Option<u64>,
    numbers: Vec<u64>,
    digits: Vec<u8>,
}

impl DataMap {
    /// Adds a block. Returns `None` if it is malformed.
    pub fn add_block(&mut self, block: &[u8; BLOCK]) -> Option<()> {
        for c in block {
            match c {
                _ if self.is_whole() => return Some(()),
                b'\n' => {
                    let number = parse_number(&self.digits)?;
                    self.digits.clear();
                    match self.count {
                        None => self.count = Some(number),
                        Some(_) => self.numbers.push(number),
                    }
                }
                b'0'..=b'9' if self.digits.len() < 20 => self.digits.push(*c),
                _ => return None,
            }
        }
        Some(())
    }

    /// Returns whether all pieces have been read.
    pub fn is_whole(&self) -> bool {
        self.count.is_some_and(|n| self.numbers.len() as u64 >= n.saturating_mul(2))
    }

    /// Returns the pieces.
    pub fn into_pieces(self) -> Vec<SparsePiece> {
        self.numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_must_be_in_order_and_within_the_file() {
        assert!(check(vec![(0, 5), (5, 5)], 10).is_some());
        assert!(check(vec![(0, 6), (5, 5)], 10).is_none());
        assert!(check(vec![(0, 5), (5, 6)], 10).is_none());
        assert!(check(vec![(u64::MAX, 2)], u64::MAX).is_none());
    }
}
