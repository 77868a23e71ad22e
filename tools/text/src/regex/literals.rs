//! A choice of a few plain texts (`ERROR|WARN`), found by `memmem` for each of them.
//!
//! An automaton looks at every byte in Wasm: its own search for several texts at once is written
//! for the vector instructions of x86 and ARM only, while `memmem` has one for Wasm's. Texts are
//! searched for in steps, so that the search for a rare text does not read far beyond the match of
//! a frequent one.

use memchr::memmem::Finder;

/// The maximum number of texts. More are left to the automaton, which takes no longer for them.
const MOST: usize = 6;
/// The number of bytes of the first step. Each step is twice as long as the previous one, up to
/// [`LAST_STEP`].
const FIRST_STEP: usize = 512;
const LAST_STEP: usize = 64 << 10;

/// The texts, longest first, so that of two at one place the first is the longest.
#[derive(Clone, Debug)]
pub(super) struct Literals(Vec<Finder<'static>>);

impl Literals {
    /// Prepares a search for texts; `None` if there are too many, or if one is empty, which would
    /// be found anywhere.
    pub(super) fn new(mut texts: Vec<Vec<u8>>) -> Option<Literals> {
        if texts.len() > MOST || texts.iter().any(Vec::is_empty) {
            return None;
        }
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Some(Literals(texts.iter().map(|text| Finder::new(text).into_owned()).collect()))
    }

    /// Returns the number of texts.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the leftmost longest match that starts at `start` or later.
    pub(super) fn find(&self, hay: &[u8], start: usize) -> Option<(usize, usize)> {
        let (mut from, mut step) = (start, FIRST_STEP);
        while from < hay.len() {
            let to = from.saturating_add(step).min(hay.len());
            if let Some(found) = self.begins_within(hay, from, to) {
                return Some(found);
            }
            (from, step) = (to, (step * 2).min(LAST_STEP));
        }
        None
    }

    /// Returns the leftmost longest match that begins from `from` on and before `to`.
    fn begins_within(&self, hay: &[u8], from: usize, mut to: usize) -> Option<(usize, usize)> {
        let mut best = None;
        for finder in &self.0 {
            let length = finder.needle().len();
            // A text that begins before `to` ends before `to` plus its length.
            let window = hay.get(from..hay.len().min(to - 1 + length))?;
            if let Some(at) = finder.find(window) {
                to = from + at;
                best = Some((to, to + length));
                if at == 0 {
                    break;
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(texts: &[&str], hay: &str, start: usize) -> Option<(usize, usize)> {
        let texts = texts.iter().map(|t| t.as_bytes().to_vec()).collect();
        Literals::new(texts).unwrap().find(hay.as_bytes(), start)
    }

    #[test]
    fn the_leftmost_is_found_then_the_longest() {
        assert_eq!(find(&["b", "ab", "abc"], "xxabcd", 0), Some((2, 5)));
        assert_eq!(find(&["b", "ab", "abc"], "xxabcd", 3), Some((3, 4)));
        assert_eq!(find(&["cd", "b"], "abcd", 0), Some((1, 2)));
        assert_eq!(find(&["x", "y"], "abcd", 0), None);
        assert_eq!(find(&["a", "d"], "abcd", 4), None);
        assert_eq!(find(&["a", "d"], "abcd", 3), Some((3, 4)));
    }

    #[test]
    fn matches_are_found_across_steps() {
        for at in [0, 1, 510, 511, 512, 513, 1535, 1536, 5000, 200_000] {
            let hay = format!("{}warning {}", "-".repeat(at), "-".repeat(at));
            assert_eq!(find(&["error", "warning"], &hay, 0), Some((at, at + 7)), "{at}");
            assert_eq!(find(&["error", "warning"], &hay, at + 1), None, "{at}");
        }
    }

    #[test]
    fn many_or_empty_texts_are_refused() {
        assert!(Literals::new(vec![b"a".to_vec(), Vec::new()]).is_none());
        assert!(Literals::new(vec![b"a".to_vec(); MOST + 1]).is_none());
    }
}
