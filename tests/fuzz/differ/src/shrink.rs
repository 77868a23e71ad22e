//! Makes a script smaller as long as the difference remains (delta debugging, Zeller and
//! Hildebrandt 2002): removes lines first, then words. A step is refused if it would turn the
//! difference into another one: a new syntax error, listings of all variables, process ids.

use std::time::Duration;

use anyhow::Result;

use crate::compare::{Difference, Kind, Pair, Verdict, contains};

/// The time limit of a run. It is short because a reduced script that hangs is useless.
const LIMIT: Duration = Duration::from_millis(1500);

/// Returns the smallest script found with at most `runs` runs of each shell.
pub fn shrink(pair: &Pair, script: &str, first: &Difference, runs: usize) -> Result<String> {
    let mut s = Shrink { pair, kind: first.kind, odd: odd(first), left: runs };
    let mut best = script.to_string();
    loop {
        let before = best.len();
        for cut in [lines, words] {
            best = s.pass(best, cut)?;
        }
        if best.len() == before || s.left == 0 {
            return Ok(best);
        }
    }
}

struct Shrink<'a> {
    pair: &'a Pair,
    kind: Kind,
    odd: [bool; 4],
    left: usize,
}

impl Shrink<'_> {
    /// Removes runs of pieces, long runs first.
    fn pass(&mut self, text: String, cut: fn(&str) -> Vec<&str>) -> Result<String> {
        let mut pieces: Vec<String> = cut(&text).into_iter().map(String::from).collect();
        let mut size = pieces.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < pieces.len() {
                let end = (at + size).min(pieces.len());
                let rest = [&pieces[..at], &pieces[end..]].concat();
                if self.still(&rest.concat())? {
                    pieces = rest;
                } else {
                    at += size;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        Ok(pieces.concat())
    }

    fn still(&mut self, text: &str) -> Result<bool> {
        if self.left == 0 || text.trim().is_empty() {
            return Ok(false);
        }
        if text.contains("$$") {
            return Ok(false);
        }
        self.left -= 1;
        Ok(match self.pair.judge(text.as_bytes(), LIMIT)? {
            Verdict::Differs(d) => d.kind == self.kind && odd(&d) == self.odd,
            _ => false,
        })
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Splits a text into names and numbers, runs of blanks, and single other characters.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' => 0,
        ' ' | '\t' => 1,
        _ => 2,
    };
    let mut out = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let this = class(c);
        if last.is_some_and(|l| l != this || this == 2) {
            out.push(&text[start..at]);
            start = at;
        }
        last = Some(this);
    }
    out.push(&text[start..]);
    out
}

/// Returns the features that must not change, so that the difference remains the same one.
fn odd(d: &Difference) -> [bool; 4] {
    let says = |what: &[u8]| contains(&d.bash.stderr, what) || contains(&d.bash.stdout, what);
    [
        says(b"unexpected EOF") || says(b"unexpected end of file"),
        says(b"syntax error near"),
        says(b"BASH_VERSINFO=("),
        says(b"PATH="),
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn pieces_make_the_text_again() {
        let text = "p() { echo \"$1\"; }\né=2  x\n";
        for cut in [super::lines, super::words] {
            assert_eq!(cut(text).concat(), text);
        }
    }
}
