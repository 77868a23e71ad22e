//! Matches of a part of a text: prefixes, suffixes, all occurrences.

use memchr::memmem;

use super::set::IntervalSet;
use super::sim::{Direction, Sim};
use super::simple;
use super::{GlobNode, GlobPattern, PatternShape};

impl GlobPattern {
    /// Returns the length of the shortest prefix that matches (`${x#p}`).
    pub fn shortest_prefix(&self, text: &[u8]) -> Option<usize> {
        match (self.shape, self.nodes.as_slice()) {
            (PatternShape::Literal | PatternShape::Fixed, nodes) => {
                simple::match_fixed(nodes, text, 0, self.options)
            }
            (_, [GlobNode::Star, GlobNode::Literal(l)]) if self.is_free() => {
                memmem::find(text, l).map(|at| at + l.len())
            }
            (_, [GlobNode::Literal(l), GlobNode::Star]) if self.is_free() => {
                text.starts_with(l).then_some(l.len())
            }
            _ => {
                let mut sim = Sim::new(text, self.options);
                let ends = sim.run(&self.nodes, IntervalSet::single(0), Direction::Forward);
                sim.first_member(&ends)
            }
        }
    }

    /// Returns the length of the longest prefix that matches (`${x##p}`).
    pub fn longest_prefix(&self, text: &[u8]) -> Option<usize> {
        match (self.shape, self.nodes.as_slice()) {
            (PatternShape::Literal | PatternShape::Fixed, nodes) => {
                simple::match_fixed(nodes, text, 0, self.options)
            }
            (_, [GlobNode::Star, GlobNode::Literal(l)]) if self.is_free() => {
                memmem::rfind(text, l).map(|at| at + l.len())
            }
            (_, [GlobNode::Literal(l), GlobNode::Star]) if self.is_free() => {
                text.starts_with(l).then_some(text.len())
            }
            _ => self.longest_from(&mut Sim::new(text, self.options), 0),
        }
    }

    /// Returns the start of the shortest suffix that matches (`${x%p}`).
    pub fn shortest_suffix(&self, text: &[u8]) -> Option<usize> {
        match (self.shape, self.nodes.as_slice()) {
            (PatternShape::Literal | PatternShape::Fixed, _) => self.fixed_suffix(text),
            (_, [GlobNode::Literal(l), GlobNode::Star]) if self.is_free() => memmem::rfind(text, l),
            (_, [GlobNode::Star, GlobNode::Literal(l)]) if self.is_free() => {
                text.ends_with(l).then(|| text.len() - l.len())
            }
            _ => {
                let mut sim = Sim::new(text, self.options);
                let starts =
                    sim.run(&self.nodes, IntervalSet::single(text.len()), Direction::Backward);
                sim.last_member(&starts)
            }
        }
    }

    /// Returns the start of the longest suffix that matches (`${x%%p}`).
    pub fn longest_suffix(&self, text: &[u8]) -> Option<usize> {
        match (self.shape, self.nodes.as_slice()) {
            (PatternShape::Literal | PatternShape::Fixed, _) => self.fixed_suffix(text),
            (_, [GlobNode::Literal(l), GlobNode::Star]) if self.is_free() => memmem::find(text, l),
            (_, [GlobNode::Star, GlobNode::Literal(l)]) if self.is_free() => {
                text.ends_with(l).then_some(0)
            }
            _ => {
                let mut sim = Sim::new(text, self.options);
                let starts =
                    sim.run(&self.nodes, IntervalSet::single(text.len()), Direction::Backward);
                sim.first_member(&starts)
            }
        }
    }

    /// Returns all matches from left to right, each the longest at its place, none overlapping
    /// (`${x//p/r}`). A match may be empty, except at the end of a text that is not empty, as in
    /// bash. An empty pattern has no matches.
    pub fn matches<'p, 't>(&'p self, text: &'t [u8]) -> GlobMatches<'p, 't> {
        GlobMatches { pattern: self, text, at: 0, general: None }
    }

    /// Returns whether wildcards match any character, so that literals can be found by their bytes.
    fn is_free(&self) -> bool {
        !self.options.no_slash && !self.options.period
    }

    fn fixed_suffix(&self, text: &[u8]) -> Option<usize> {
        if let Some(literal) = self.as_literal() {
            return text.ends_with(literal).then(|| text.len() - literal.len());
        }
        // Whether the end of the text is valid UTF-8 depends only on its last few characters.
        let tail = self.longest_fixed().min(text.len());
        let mut from = text.len() - tail;
        while from > 0 && text.len() - from < tail + 4 && text[from] & 0xC0 == 0x80 {
            from -= 1;
        }
        let sim = Sim::new(&text[from..], self.options);
        let mut at = text.len() - from;
        for node in self.nodes.iter().rev() {
            at = sim.step_back(node, at)?;
        }
        Some(from + at)
    }

    /// Returns an upper bound of the number of bytes that a pattern without stars and groups
    /// matches.
    fn longest_fixed(&self) -> usize {
        let width = |node: &GlobNode| match node {
            GlobNode::Literal(text) => text.len(),
            GlobNode::Folded(chars) => chars.len() * 4,
            _ => 4,
        };
        self.nodes.iter().map(width).sum()
    }

    fn longest_from(&self, sim: &mut Sim<'_>, start: usize) -> Option<usize> {
        let ends = sim.run(&self.nodes, IntervalSet::single(start), Direction::Forward);
        sim.last_member(&ends)
    }
}

/// An iterator over matches as `(start, end)`; see [`GlobPattern::matches`].
pub struct GlobMatches<'p, 't> {
    pattern: &'p GlobPattern,
    text: &'t [u8],
    at: usize,
    /// For patterns with stars or groups: the places where a match can begin, found in one backward
    /// pass, so that other places cost no time.
    general: Option<(Sim<'t>, IntervalSet)>,
}

impl Iterator for GlobMatches<'_, '_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let found = match self.pattern.shape {
            PatternShape::Literal => self.next_literal(),
            PatternShape::Fixed => self.next_fixed(),
            _ => self.next_general(),
        }?;
        self.at = found.1;
        if found.0 == found.1 {
            // Behind an empty match the search continues one character later.
            let width = super::char_at(self.text, found.1, self.pattern.options.utf8)
                .map_or(1, |(_, width)| width);
            self.at += width;
        }
        Some(found)
    }
}

impl GlobMatches<'_, '_> {
    fn next_literal(&mut self) -> Option<(usize, usize)> {
        let literal = self.pattern.as_literal().filter(|l| !l.is_empty())?;
        let start = self.at + memmem::find(self.text.get(self.at..)?, literal)?;
        Some((start, start + literal.len()))
    }

    fn next_fixed(&mut self) -> Option<(usize, usize)> {
        let options = self.pattern.options;
        let mut at = self.at;
        loop {
            if let Some(end) = simple::match_fixed(&self.pattern.nodes, self.text, at, options)
                && end > at
            {
                return Some((at, end));
            }
            let (_, width) = super::char_at(self.text, at, options.utf8)?;
            at += width;
        }
    }

    fn next_general(&mut self) -> Option<(usize, usize)> {
        let (pattern, text) = (self.pattern, self.text);
        let (sim, starts) = self.general.get_or_insert_with(|| {
            let mut sim = Sim::new(text, pattern.options);
            let anywhere = IntervalSet::range(0, text.len());
            let starts = sim.run(&pattern.nodes, anywhere, Direction::Backward);
            (sim, starts)
        });
        let start = sim.next_from(starts, self.at).filter(|&s| s < text.len().max(1))?;
        let end = pattern.longest_from(sim, start)?;
        Some((start, end))
    }
}
