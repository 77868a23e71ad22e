//! Prefix codes (RFC 7932, section 3).

use super::bits::Bits;

/// The maximum number of bits of a symbol's code.
const LONGEST: u8 = 15;
/// The maximum number of bits of the code of a length.
const LONGEST_OF_LENGTHS: u8 = 5;
/// The symbol for a row of zeros among the lengths.
const ZEROS: usize = 17;

/// A prefix code for the symbols from 0.
pub struct PrefixCode {
    /// For each symbol, the number of bits of its code; 0 if the symbol does not occur.
    lengths: Vec<u8>,
    /// For each symbol, its code with the bits in the order of the stream.
    codes: Vec<u16>,
}

impl PrefixCode {
    /// Returns the code for symbols that occur as often as `counts` says.
    pub fn from_counts(counts: &[u32]) -> PrefixCode {
        PrefixCode::with_longest(counts, LONGEST)
    }

    fn with_longest(counts: &[u32], longest: u8) -> PrefixCode {
        let lengths = code_lengths(counts, longest);
        let codes = prefix_codes(&lengths);
        PrefixCode { lengths, codes }
    }

    /// Returns the same code. If there is only one symbol, its code becomes empty.
    pub fn without_bits(mut self) -> PrefixCode {
        if self.lengths.iter().filter(|l| **l > 0).count() == 1 {
            self.lengths.fill(0);
        }
        self
    }

    /// Writes a symbol.
    pub fn put_symbol(&self, out: &mut Bits, symbol: usize) {
        out.put(u64::from(self.codes[symbol]), u32::from(self.lengths[symbol]));
    }

    /// Returns the number of bits of a symbol's code.
    pub fn symbol_cost(&self, symbol: usize) -> u32 {
        u32::from(self.lengths[symbol])
    }

    /// Writes the description of the code; `bits` is the number of bits of a symbol's number.
    pub fn write_code(&self, out: &mut Bits, bits: u32) {
        let used: Vec<usize> = (0..self.lengths.len()).filter(|s| self.lengths[*s] > 0).collect();
        match used[..] {
            // The only symbol has an empty code.
            [] | [_] => {
                out.put(0b00_01, 4);
                out.put(used.first().copied().unwrap_or(0) as u64, bits);
            }
            [a, b] => {
                out.put(0b01_01, 4);
                out.put(a as u64, bits);
                out.put(b as u64, bits);
            }
            _ => self.describe_lengths(out),
        }
    }

    /// Writes the lengths in the form for three or more symbols.
    fn describe_lengths(&self, out: &mut Bits) {
        const ORDER: [usize; 18] = [1, 2, 3, 4, 0, 5, 17, 6, 16, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        const CODE: [(u64, u32); 6] = [(0, 2), (7, 4), (3, 3), (2, 2), (1, 2), (15, 4)];
        let rows = length_rows(&self.lengths);
        let mut counts = [0; 18];
        rows.iter().for_each(|(symbol, _)| counts[*symbol] += 1);
        let lengths = PrefixCode::with_longest(&counts, LONGEST_OF_LENGTHS);
        let only = counts.iter().filter(|n| **n > 0).count() == 1;
        out.put(0, 2);
        let last = ORDER.iter().rposition(|s| counts[*s] > 0).unwrap_or(0);
        let mut space = 32;
        for symbol in &ORDER[..=last] {
            // A single symbol may have any length here, and then all lengths are written.
            let length = if only && counts[*symbol] > 0 { 1 } else { lengths.lengths[*symbol] };
            let (code, bits) = CODE[usize::from(length)];
            out.put(code, bits);
            if length > 0 {
                space -= 32 >> length;
            }
        }
        if space > 0 {
            for _ in last + 1..ORDER.len() {
                out.put(CODE[0].0, CODE[0].1);
            }
        }
        for (symbol, extra) in rows {
            if !only {
                lengths.put_symbol(out, symbol);
            }
            if symbol == ZEROS {
                out.put(extra, 3);
            }
        }
    }
}

/// Returns the lengths up to the last one that is not zero, as symbols with their extra bits. Two
/// rows of zeros are never adjacent, because the format multiplies the first by the second.
fn length_rows(lengths: &[u8]) -> Vec<(usize, u64)> {
    let end = lengths.iter().rposition(|l| *l > 0).map_or(0, |at| at + 1);
    let (mut out, mut at) = (Vec::new(), 0);
    while at < end {
        let zeros = lengths[at..end].iter().take(10).take_while(|l| **l == 0).count();
        let follows_row = out.last().is_some_and(|(symbol, _)| *symbol == ZEROS);
        if zeros >= 3 && !follows_row {
            out.push((ZEROS, zeros as u64 - 3));
            at += zeros;
        } else {
            out.push((usize::from(lengths[at]), 0));
            at += 1;
        }
    }
    out
}

/// Returns the lengths of a Huffman code of which no code is longer than `longest`.
fn code_lengths(counts: &[u32], longest: u8) -> Vec<u8> {
    let mut out = vec![0; counts.len()];
    let used = counts.iter().filter(|n| **n > 0).count();
    if used < 2 {
        // One bit marks the symbol as used; `PrefixCode::without_bits` removes it.
        if let Some(only) = counts.iter().position(|n| *n > 0) {
            out[only] = 1;
        }
        return out;
    }
    // Counts below `least` are raised to it, and `least` grows until no code is too long.
    for least in (0..).map(|n| 1u32 << n) {
        // Trees are numbered, leaves first. `parents` has the number of each tree's parent.
        let leaves: Vec<usize> = (0..counts.len()).filter(|s| counts[*s] > 0).collect();
        let mut parents = vec![0; 2 * leaves.len() - 1];
        let mut trees: std::collections::BinaryHeap<_> = leaves
            .iter()
            .enumerate()
            .map(|(n, s)| std::cmp::Reverse((u64::from(counts[*s].max(least)), n)))
            .collect();
        let mut next = leaves.len();
        while let (Some(std::cmp::Reverse((a, first))), Some(std::cmp::Reverse((b, second)))) =
            (trees.pop(), trees.pop())
        {
            parents[first] = next;
            parents[second] = next;
            trees.push(std::cmp::Reverse((a + b, next)));
            next += 1;
            if next == parents.len() {
                break;
            }
        }
        let mut depths = vec![0u8; parents.len()];
        for n in (0..parents.len() - 1).rev() {
            depths[n] = depths[parents[n]].saturating_add(1);
        }
        if depths[..leaves.len()].iter().all(|d| *d <= longest) {
            leaves.iter().zip(&depths).for_each(|(s, d)| out[*s] = *d);
            break;
        }
    }
    out
}

/// Returns the codes for lengths: in the order of length and then of symbol, as in deflate.
fn prefix_codes(lengths: &[u8]) -> Vec<u16> {
    let mut out = vec![0; lengths.len()];
    let mut code = 0u16;
    for length in 1..=LONGEST {
        for (symbol, _) in lengths.iter().enumerate().filter(|(_, l)| **l == length) {
            out[symbol] = code.reverse_bits() >> (16 - length);
            code = code.wrapping_add(1);
        }
        code = code.wrapping_shl(1);
    }
    out
}
