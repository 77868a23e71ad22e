//! Finds the lines of a file that are most similar to a text that was not found.

use crate::text::{LineIndex, line_without_end, number_lines};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use wasibox_protocol::files::Nearest;

/// The maximum number of lines that are compared, of the wanted text and of the file.
const WANTED: usize = 50;
const LINES: usize = 400_000;
/// The maximum size in bytes of a file in which single lines are searched for.
const BYTES: usize = 4 << 20;
/// The maximum number of comparisons of lines.
const STEPS: usize = 20_000_000;
/// The maximum number of lines that are shown, and the maximum number of bytes of each.
const SHOWN: usize = 25;
const WIDTH: usize = 300;

/// Returns a hash of a line's words; 0 if it has none.
fn hash_words(line: &[u8]) -> u64 {
    let mut hash = DefaultHasher::new();
    let mut any = false;
    for word in line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()) {
        word.hash(&mut hash);
        any = true;
    }
    if any { hash.finish().max(1) } else { 0 }
}

/// Returns the pairs of adjacent letters.
fn letter_pairs(line: &[u8]) -> HashSet<(u8, u8)> {
    let line = line.trim_ascii();
    line.windows(2).take(1000).map(|w| (w[0], w[1])).collect()
}

/// Returns the lines that are most similar to `wanted`; `None` if no lines are similar.
pub fn find_nearest(text: &LineIndex<'_>, wanted: &[u8]) -> Option<Nearest> {
    let all: Vec<&[u8]> = wanted.split(|b| *b == b'\n').collect();
    let blank = |l: &&[u8]| l.trim_ascii().is_empty();
    let skip = all.iter().take_while(|l| blank(l)).count();
    let end = all.len() - all.iter().rev().take_while(|l| blank(l)).count();
    let wanted = all.get(skip..end.max(skip))?;
    let wanted = &wanted[..wanted.len().min(WANTED)];
    let hashes: Vec<u64> = wanted.iter().map(|l| hash_words(l)).collect();
    if hashes.is_empty() {
        return None;
    }
    let count = text.len().min(LINES);
    let have: Vec<u64> = (0..count).map(|i| hash_words(text.get(i))).collect();
    let known: HashSet<u64> = hashes.iter().copied().filter(|h| *h != 0).collect();
    let (mut best, mut steps) = ((0, 0), 0);
    // Only starts that align one of the wanted lines with an equal line of the file are tried.
    for (i, hash) in have.iter().enumerate().filter(|(_, h)| known.contains(h)) {
        for at in hashes.iter().enumerate().filter(|(_, h)| *h == hash).map(|(j, _)| j) {
            let Some(start) = i.checked_sub(at) else { continue };
            steps += hashes.len();
            let same = hashes.iter().zip(&have[start..]).filter(|(a, b)| a == b && **a != 0);
            let score = same.count();
            if score > best.0 {
                best = (score, start);
            }
        }
        if best.0 == hashes.iter().filter(|h| **h != 0).count() || steps > STEPS {
            break;
        }
    }
    let space_only = best.0 == hashes.iter().filter(|h| **h != 0).count()
        && hashes.iter().zip(&have[best.1..]).all(|(a, b)| a == b)
        && best.1 + hashes.len() <= have.len();
    let first = match best {
        (0, _) => similar_line(text, wanted, count)?,
        (_, start) => start,
    };
    let last = (first + wanted.len().min(SHOWN)).min(text.len());
    let shown = number_lines(&text.range(first, last), first as u64 + 1, WIDTH);
    Some(Nearest { first: first as u64 + 1, last: last as u64, shown, space_only })
}

/// Returns the start of the text, estimated from the line that is most similar to its longest line.
fn similar_line(text: &LineIndex<'_>, wanted: &[&[u8]], count: usize) -> Option<usize> {
    let (at, longest) = wanted.iter().enumerate().max_by_key(|(_, l)| l.trim_ascii().len())?;
    let target = letter_pairs(longest);
    if target.is_empty() {
        return None;
    }
    let (mut best, mut bytes) = ((0.5, None), 0);
    for i in 0..count {
        let line = line_without_end(text.get(i));
        bytes += line.len().min(1000) + 1;
        if bytes > BYTES {
            break;
        }
        let mut have = HashSet::new();
        let mut both = 0;
        for w in line.trim_ascii().windows(2).take(1000) {
            if have.insert((w[0], w[1])) && target.contains(&(w[0], w[1])) {
                both += 1;
            }
        }
        let like = 2.0 * f64::from(both) / (have.len() + target.len()) as f64;
        if like > best.0 {
            best = (like, Some(i));
        }
    }
    best.1.map(|i: usize| i.saturating_sub(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] =
        b"fn main() {\n    let x = 1;\n    println!(\"{x}\");\n}\n\nfn other() {}\n";

    fn found(wanted: &str) -> Option<(u64, u64, bool)> {
        find_nearest(&LineIndex::new(TEXT), wanted.as_bytes())
            .map(|n| (n.first, n.last, n.space_only))
    }

    #[test]
    fn a_difference_in_white_space_is_reported() {
        assert_eq!(found("\tlet x = 1;\n\tprintln!(\"{x}\");"), Some((2, 3, true)));
        assert_eq!(found("let x = 1;\nprintln!(\"{y}\");"), Some((2, 3, false)));
    }

    #[test]
    fn a_line_that_is_like_it() {
        assert_eq!(found("    printn!(\"{x}\")"), Some((3, 3, false)));
        assert_eq!(found("something quite unlike it"), None);
        assert_eq!(found("\n\n"), None);
    }
}
