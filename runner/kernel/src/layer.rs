//! The differences between a memory and its initial content, as bytes: a *layer*.
//!
//! A guest that has run for a millisecond has written to a hundred parts of 4 KiB, and in each of
//! them only to a few reference counters. So a layer lists for each part: its number (four bytes),
//! which of its 64 lines of 64 bytes differ from the template (eight bytes, a bit for each, the
//! lowest for the first), and those lines, each as the exclusive or with the template's line. All
//! numbers are little-endian. A part without lines equals the template's. Measured for `x += 1` in
//! Python: 350 KiB of parts have 35 KiB of changed lines, 14 KiB compressed; compressing takes 0.2
//! ms instead of 1.2 ms.
//!
//! Layers are stacked: the topmost layer that lists a part decides its content.

/// Bytes of a part, the unit in which changes are reported.
pub const PART: usize = 4096;
/// Bytes of a line.
const LINE: usize = 64;
/// Bytes before a part's lines.
const HEAD: usize = 12;

/// Adds a part that may differ from `template`; both are of [`PART`] bytes.
pub fn add_part(layer: &mut Vec<u8>, number: u32, part: &[u8], template: &[u8]) {
    let at = layer.len();
    layer.extend_from_slice(&number.to_le_bytes());
    layer.extend_from_slice(&[0; 8]);
    let mut mask = 0_u64;
    let lines = part.chunks_exact(LINE).zip(template.chunks_exact(LINE));
    for (n, (now, then)) in lines.enumerate().filter(|(_, (now, then))| now != then) {
        mask |= 1 << n;
        layer.extend(now.iter().zip(then).map(|(now, then)| now ^ then));
    }
    layer[at + 4..at + HEAD].copy_from_slice(&mask.to_le_bytes());
}

/// A part as a layer stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerPart<'a> {
    pub number: u32,
    mask: u64,
    lines: &'a [u8],
}

impl LayerPart<'_> {
    /// Restores a part; on entry it equals the template's.
    pub fn apply_to(&self, part: &mut [u8]) {
        let mut lines = self.lines.chunks_exact(LINE);
        for (n, line) in part.chunks_exact_mut(LINE).enumerate() {
            if self.mask >> n & 1 == 1
                && let Some(with) = lines.next()
            {
                line.iter_mut().zip(with).for_each(|(byte, with)| *byte ^= with);
            }
        }
    }
}

/// Returns the parts of a layer, which is not trusted; `None` for bytes that are not a part.
pub fn layer_parts(mut layer: &[u8]) -> impl Iterator<Item = Option<LayerPart<'_>>> {
    const { assert!(PART / LINE == u64::BITS as usize) };
    std::iter::from_fn(move || {
        if layer.is_empty() {
            return None;
        }
        let part = (|| {
            let (number, rest) = layer.split_first_chunk()?;
            let (mask, rest) = rest.split_first_chunk()?;
            let (number, mask) = (u32::from_le_bytes(*number), u64::from_le_bytes(*mask));
            let (lines, rest) = rest.split_at_checked(mask.count_ones() as usize * LINE)?;
            layer = rest;
            Some(LayerPart { number, mask, lines })
        })();
        if part.is_none() {
            layer = &[];
        }
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns pseudo-random bytes (splitmix64).
    fn noise(seed: u64) -> impl Iterator<Item = u64> {
        (1..).map(move |n: u64| {
            let mut z = (seed ^ n << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z ^ (z >> 27)
        })
    }

    fn part(seed: u64) -> Vec<u8> {
        noise(seed).map(|n| n as u8).take(PART).collect()
    }

    #[test]
    fn what_differs_comes_back() {
        let template = part(1);
        let mut layer = Vec::new();
        let mut all = vec![template.clone(), part(2)];
        for n in 0..50 {
            let mut part = template.clone();
            for at in noise(n).take(n as usize) {
                part[at as usize % PART] ^= (at >> 32) as u8;
            }
            all.push(part);
        }
        for (n, part) in all.iter().enumerate() {
            add_part(&mut layer, n as u32, part, &template);
        }
        assert!(layer.len() < all.len() * PART / 2);
        let mut found = 0;
        for (n, differs) in layer_parts(&layer).enumerate() {
            let differs = differs.unwrap();
            assert_eq!(differs.number as usize, n);
            let mut part = template.clone();
            differs.apply_to(&mut part);
            assert!(part == all[n], "part {n}");
            found += 1;
        }
        assert_eq!(found, all.len());
    }

    #[test]
    fn what_is_no_layer_is_refused() {
        let (mut layer, zeros) = (Vec::new(), [0; PART]);
        let mut part = zeros;
        (part[70], part[4000]) = (1, 2);
        add_part(&mut layer, 5, &part, &zeros);
        assert_eq!(layer.len(), HEAD + 2 * LINE);
        assert!(layer_parts(&layer).all(|p| p.is_some()));
        for end in 1..layer.len() {
            assert_eq!(layer_parts(&layer[..end]).last(), Some(None), "{end}");
        }
        for at in 0..layer.len() {
            for bit in 0..8 {
                let mut other = layer.clone();
                other[at] ^= 1 << bit;
                // Whatever the damaged bytes mean, the iterator ends, and only the part is written
                // to.
                for differs in layer_parts(&other).flatten() {
                    differs.apply_to(&mut part);
                }
            }
        }
    }
}
