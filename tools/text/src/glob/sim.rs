//! Matching by sets of positions: each node maps the set of places that a match may have reached to
//! the set of places where it may continue. This works in both directions, so that finding suffixes
//! and the beginnings of matches takes no more time than finding prefixes.

use std::collections::HashMap;

use memchr::memmem;

use super::set::IntervalSet;
use super::simple::{is_guarded_period, may_wildcard};
use super::{ExtGroup, GlobNode, GlobOptions, char_at, fold_case};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    /// Goes from the ends of matches to their beginnings.
    Backward,
}

/// The maximum number of ranges in the cached results for `!(...)`; beyond it, results are computed
/// again.
const MEMO_RANGES: usize = 1 << 20;

/// A text, with cached facts about it.
pub(super) struct Sim<'t> {
    text: &'t [u8],
    options: GlobOptions,
    /// Whether the text has characters of several bytes.
    wide: bool,
    /// Whether wildcards may match any character.
    free: bool,
    /// The positions of the complement by `(group, start)`, for `!(..)` within repetitions.
    memo: HashMap<(usize, usize, bool), IntervalSet>,
    memo_ranges: usize,
}

impl<'t> Sim<'t> {
    pub(super) fn new(text: &'t [u8], mut options: GlobOptions) -> Sim<'t> {
        let wide = options.utf8 && !text.is_ascii() && std::str::from_utf8(text).is_ok();
        // In an invalid text, each byte is a character.
        options.utf8 = wide;
        let leading_period = options.period && text.first() == Some(&b'.');
        let free = !options.no_slash && !leading_period;
        Sim { text, options, wide, free, memo: HashMap::new(), memo_ranges: 0 }
    }

    /// Returns whether a character begins (or the text ends) at `at`.
    pub(super) fn is_boundary(&self, at: usize) -> bool {
        !self.wide || self.text.get(at).is_none_or(|b| b & 0xC0 != 0x80)
    }

    fn char_before(&self, at: usize) -> Option<usize> {
        let mut previous = at.checked_sub(1)?;
        while previous > 0 && !self.is_boundary(previous) {
            previous -= 1;
        }
        Some(previous)
    }

    /// Returns the largest member.
    pub(super) fn last_member(&self, set: &IntervalSet) -> Option<usize> {
        // The end of a range is a boundary, unless a difference has cut the range off.
        let mut limit = set.last()?;
        loop {
            while limit > 0 && !self.is_boundary(limit) {
                limit -= 1;
            }
            if set.contains(limit) {
                return Some(limit);
            }
            let index = set.ranges().partition_point(|r| r.0 <= limit);
            limit = set.ranges().get(index.checked_sub(1)?)?.1.min(limit.checked_sub(1)?);
        }
    }

    /// Returns the smallest member.
    pub(super) fn first_member(&self, set: &IntervalSet) -> Option<usize> {
        self.next_from(set, 0)
    }

    /// Returns the smallest member at or after `from`.
    pub(super) fn next_from(&self, set: &IntervalSet, from: usize) -> Option<usize> {
        let mut at = set.next_from(from)?;
        while !self.is_boundary(at) {
            at = set.next_from(at + 1)?;
        }
        Some(at)
    }

    /// Returns where a match of the nodes may end (begin), given where it may begin (end).
    pub(super) fn run(
        &mut self,
        nodes: &[GlobNode],
        start: IntervalSet,
        direction: Direction,
    ) -> IntervalSet {
        let mut set = start;
        let count = nodes.len();
        for k in 0..count {
            if set.is_empty() {
                break;
            }
            let node = match direction {
                Direction::Forward => &nodes[k],
                Direction::Backward => &nodes[count - 1 - k],
            };
            set = self.step_node(node, set, direction);
        }
        set
    }

    fn step_node(
        &mut self,
        node: &GlobNode,
        set: IntervalSet,
        direction: Direction,
    ) -> IntervalSet {
        match node {
            GlobNode::Literal(literal) => self.step_literal(literal, &set, direction),
            GlobNode::Star => self.step_star(&set, direction),
            GlobNode::Any if !self.wide && self.free => self.shift_set(&set, direction),
            GlobNode::Folded(_) | GlobNode::Any | GlobNode::Bracket(_) => {
                self.step_each(node, &set, direction)
            }
            GlobNode::Group(kind, alternatives) => {
                self.step_group(*kind, alternatives, set, direction)
            }
            GlobNode::Held(held) => self.step_held(held, set, direction),
        }
    }

    /// Finds a literal at each place of the set, by substring search within a range.
    fn step_literal(&self, literal: &[u8], set: &IntervalSet, direction: Direction) -> IntervalSet {
        let mut out = Vec::new();
        let (length, size) = (literal.len(), self.text.len());
        for &(first, last) in set.ranges() {
            let (low, high) = match direction {
                Direction::Forward => (first, last.saturating_add(length).min(size)),
                Direction::Backward => (first.saturating_sub(length), last),
            };
            let Some(window) = self.text.get(low..high) else { continue };
            if first == last {
                if window == literal {
                    out.push(next_edge(low, length, direction));
                }
                continue;
            }
            // Overlapping occurrences count, so the search continues one byte later.
            let finder = memmem::Finder::new(literal);
            let mut from = 0;
            while let Some(offset) = window.get(from..).and_then(|w| finder.find(w)) {
                out.push(next_edge(low + from + offset, length, direction));
                from += offset + 1;
            }
        }
        IntervalSet::from_unsorted(out)
    }

    /// Matches `?` where every byte is a character.
    fn shift_set(&self, set: &IntervalSet, direction: Direction) -> IntervalSet {
        let size = self.text.len();
        let shifted = set.ranges().iter().filter_map(|&(first, last)| match direction {
            Direction::Forward => (first < size).then(|| (first + 1, (last + 1).min(size))),
            Direction::Backward => (last > 0).then(|| (first.saturating_sub(1), last - 1)),
        });
        IntervalSet::from_unsorted(shifted.collect())
    }

    /// Matches a node that examines one place after another.
    fn step_each(&self, node: &GlobNode, set: &IntervalSet, direction: Direction) -> IntervalSet {
        let mut out = Vec::new();
        for &(first, last) in set.ranges() {
            for at in first..=last {
                if !self.is_boundary(at) {
                    continue;
                }
                let next = match direction {
                    Direction::Forward => {
                        super::simple::match_node(node, self.text, at, self.options)
                    }
                    Direction::Backward => self.step_back(node, at),
                };
                if let Some(next) = next {
                    out.push((next, next));
                }
            }
        }
        IntervalSet::from_unsorted(out)
    }

    pub(super) fn step_back(&self, node: &GlobNode, at: usize) -> Option<usize> {
        match node {
            GlobNode::Literal(literal) => {
                let start = at.checked_sub(literal.len())?;
                self.text[start..at].eq(&**literal).then_some(start)
            }
            GlobNode::Folded(chars) => {
                let mut at = at;
                for &c in chars.iter().rev() {
                    let previous = self.char_before(at)?;
                    let (code, _) = char_at(self.text, previous, self.options.utf8)?;
                    if fold_case(code) != u32::from(c) {
                        return None;
                    }
                    at = previous;
                }
                Some(at)
            }
            _ => {
                let previous = self.char_before(at)?;
                super::simple::match_node(node, self.text, previous, self.options).map(|_| previous)
            }
        }
    }

    pub(super) fn step_star(&self, set: &IntervalSet, direction: Direction) -> IntervalSet {
        let size = self.text.len();
        if self.free {
            let range = match direction {
                Direction::Forward => set.first().map(|first| IntervalSet::range(first, size)),
                Direction::Backward => set.last().map(|last| IntervalSet::range(0, last)),
            };
            return range.unwrap_or_default();
        }
        let set = &self.without_guarded(set);
        let mut out: Vec<(usize, usize)> = Vec::new();
        match direction {
            Direction::Forward => {
                for &(first, last) in set.ranges() {
                    // If an earlier range has already grown over these positions, they need no
                    // second walk.
                    if out.last().is_some_and(|r| last <= r.1) {
                        continue;
                    }
                    let mut end = last;
                    while self.may_start(end) {
                        end += 1;
                    }
                    out.push((first, end));
                }
            }
            Direction::Backward => {
                for &(first, last) in set.ranges().iter().rev() {
                    if out.last().is_some_and(|r| first >= r.0) {
                        continue;
                    }
                    let mut start = first;
                    while start > 0 && self.may_start(start - 1) {
                        start -= 1;
                    }
                    out.push((start, last));
                }
            }
        }
        IntervalSet::from_unsorted(out)
    }

    /// Returns the places where `*`, `@(..)`, `+(..)` and `!(..)` may be empty.
    fn without_guarded(&self, set: &IntervalSet) -> IntervalSet {
        if self.free {
            return set.clone();
        }
        let guarded = |at: &usize| is_guarded_period(self.text, *at, self.options);
        let all = set.ranges().iter().flat_map(|&(first, last)| first..=last);
        set.minus(&IntervalSet::from_unsorted(all.filter(guarded).map(|at| (at, at)).collect()))
    }

    fn may_start(&self, at: usize) -> bool {
        may_wildcard(self.text, at, self.options)
    }

    fn step_group(
        &mut self,
        kind: ExtGroup,
        alternatives: &[Vec<GlobNode>],
        set: IntervalSet,
        direction: Direction,
    ) -> IntervalSet {
        match kind {
            ExtGroup::One => self.step_once(alternatives, set, direction),
            ExtGroup::Optional => {
                let taken = self.any_of(alternatives, set.clone(), direction);
                set.union(taken)
            }
            ExtGroup::Plus => {
                let once = self.step_once(alternatives, set, direction);
                self.step_closure(alternatives, once, direction)
            }
            ExtGroup::Star => self.step_closure(alternatives, set, direction),
            ExtGroup::Not => self.none_of(alternatives, &set, direction),
        }
    }

    /// Matches one alternative, which may be empty except before a guarded period.
    fn step_once(
        &mut self,
        alternatives: &[Vec<GlobNode>],
        set: IntervalSet,
        direction: Direction,
    ) -> IntervalSet {
        if self.free {
            return self.any_of(alternatives, set, direction);
        }
        let kept = self.without_guarded(&set);
        let guarded = set.minus(&kept);
        let ends = self.any_of(alternatives, guarded.clone(), direction).minus(&guarded);
        self.any_of(alternatives, kept, direction).union(ends)
    }

    fn any_of(
        &mut self,
        alternatives: &[Vec<GlobNode>],
        set: IntervalSet,
        direction: Direction,
    ) -> IntervalSet {
        let mut out = IntervalSet::default();
        for nodes in alternatives {
            let ends = self.run(nodes, set.clone(), direction);
            out = out.union(ends);
        }
        out
    }

    fn step_closure(
        &mut self,
        alternatives: &[Vec<GlobNode>],
        start: IntervalSet,
        direction: Direction,
    ) -> IntervalSet {
        let mut seen = start.clone();
        let mut frontier = start;
        while !frontier.is_empty() {
            let next = self.any_of(alternatives, frontier, direction);
            frontier = next.minus(&seen);
            seen = seen.union(frontier.clone());
        }
        seen
    }

    /// Matches `!(..)`: from each place separately, up to every place to which no alternative
    /// leads.
    fn none_of(
        &mut self,
        alternatives: &[Vec<GlobNode>],
        set: &IntervalSet,
        direction: Direction,
    ) -> IntervalSet {
        let mut out = Vec::new();
        for &(first, last) in set.ranges() {
            for at in first..=last {
                if !self.is_boundary(at) {
                    continue;
                }
                let key = (alternatives.as_ptr() as usize, at, direction == Direction::Forward);
                if let Some(known) = self.memo.get(&key) {
                    out.extend_from_slice(known.ranges());
                    continue;
                }
                let reached = self.any_of(alternatives, IntervalSet::single(at), direction);
                let complement =
                    self.step_star(&IntervalSet::single(at), direction).minus(&reached);
                out.extend_from_slice(complement.ranges());
                if out.len() > 4096 {
                    out = IntervalSet::from_unsorted(out).ranges().to_vec();
                }
                if self.memo_ranges < MEMO_RANGES {
                    self.memo_ranges += 1 + complement.ranges().len();
                    self.memo.insert(key, complement);
                }
            }
        }
        IntervalSet::from_unsorted(out)
    }
}

fn next_edge(at: usize, length: usize, direction: Direction) -> (usize, usize) {
    match direction {
        Direction::Forward => (at + length, at + length),
        Direction::Backward => (at, at),
    }
}
