//! Commands that were probably meant by a name that does not exist.

/// The maximum number of suggestions.
const SHOWN: usize = 3;

/// The suggestions for a name, collected from candidates in any order.
#[derive(Debug)]
pub struct NeighbourNames<'a> {
    name: &'a [u8],
    found: Vec<String>,
}

impl<'a> NeighbourNames<'a> {
    /// Begins a search for names that differ from `name` by one letter that is missing, added, wrong
    /// or in the other order. Nothing is found for a path, or for a name of less than three bytes,
    /// which has too many neighbours.
    #[must_use]
    pub fn new(name: &'a [u8]) -> NeighbourNames<'a> {
        NeighbourNames { name, found: Vec::new() }
    }

    /// Returns whether a candidate would be a suggestion.
    #[must_use]
    pub fn is_match(&self, candidate: &[u8]) -> bool {
        self.name.len() >= 3
            && !self.name.contains(&b'/')
            && candidate.len() > 1
            && is_neighbour(self.name, candidate)
    }

    /// Takes in a command's name.
    pub fn consider(&mut self, candidate: &[u8]) {
        if self.is_match(candidate)
            && let Ok(text) = std::str::from_utf8(candidate)
        {
            self.found.push(text.to_string());
        }
    }

    /// Returns the first suggestions in order.
    #[must_use]
    pub fn into_names(mut self) -> Vec<String> {
        self.found.sort();
        self.found.dedup();
        self.found.truncate(SHOWN);
        self.found
    }
}

/// Returns whether one change makes `a` to `b`: a byte more, less or different, or two neighbours
/// in the other order.
fn is_neighbour(a: &[u8], b: &[u8]) -> bool {
    if a == b || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..], &b[start..]);
    match (a, b) {
        ([_, rest_a @ ..], [_, rest_b @ ..]) if a.len() == b.len() => {
            rest_a == rest_b
                || matches!((a, b), ([x, y, ..], [v, w, ..]) if x == w && y == v)
                    && a.get(2..) == b.get(2..)
        }
        _ if a.len() < b.len() => b.get(1..) == Some(a),
        _ => a.get(1..) == Some(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours() {
        for (a, b, expected) in [
            ("gti", "git", true),
            ("gt", "git", true),
            ("giit", "git", true),
            ("gat", "git", true),
            ("git", "git", false),
            ("tig", "git", false),
            ("sl", "ls", true),
            ("pyton3", "python3", true),
            ("phyton3", "python3", false),
            ("cat", "cattle", false),
        ] {
            assert_eq!(is_neighbour(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
        }
    }

    #[test]
    fn names_come_in_order_and_once() {
        let find = |name: &str| {
            let mut names = NeighbourNames::new(name.as_bytes());
            ["gits", "git", "git", "gut"].iter().for_each(|c| names.consider(c.as_bytes()));
            names.into_names()
        };
        assert_eq!(find("gat"), ["git", "gut"]);
        assert_eq!(find("gits_"), ["gits"]);
        assert!(find("gi").is_empty() && find("./gat").is_empty());
    }
}
