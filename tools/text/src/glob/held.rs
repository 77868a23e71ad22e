//! A star before a group, as bash 5.2 matches it (found by experiment). The star may end at every
//! place but the end of the text, so that `@(..)`, `+(..)` or `!(..)` after it, with all that
//! follows, must match at least one character: `*@()` does not match `a`, nor does `*!(b)` match
//! `b`. Groups `?(..)` and `*(..)` between the two are skipped; with `?(..)`, only the place where
//! the star begins is tried. A star before `!(..)` that begins at the end of the text matches
//! without a check of the rest: `a*!(b)c` matches `a`.

use super::set::IntervalSet;
use super::sim::{Direction, Sim};
use super::{ExtGroup, GlobNode};

/// The maximum number of [`HeldStar`]s in a sequence. Each contains all nodes after it, and
/// matching recurses.
const MAX_HELD: usize = 8;

/// A star and the nodes after it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HeldStar {
    /// The nodes after the star.
    nodes: Vec<GlobNode>,
    /// The number of leading nodes that are skipped.
    passed: usize,
    /// Whether the node after these is `!(..)`.
    negated: bool,
}

impl HeldStar {
    /// Returns a star before the rest of a pattern that begins like `!(..)` and does not end.
    pub(super) fn unclosed_group(text: &[u8]) -> HeldStar {
        HeldStar { nodes: vec![GlobNode::Literal(text.into())], passed: 0, negated: true }
    }
}

/// Joins each star with the nodes after it, if that changes the result.
pub(super) fn hold_stars(mut nodes: Vec<GlobNode>) -> Vec<GlobNode> {
    let mut count = 0;
    for at in (0..nodes.len()).rev() {
        if nodes[at] != GlobNode::Star || count == MAX_HELD {
            continue;
        }
        let behind = &nodes[at + 1..];
        let passed = behind.iter().take_while(|node| is_passed_over(node)).count();
        let Some(GlobNode::Group(kind, _)) = behind.get(passed) else { continue };
        let negated = *kind == ExtGroup::Not;
        if negated || all_empty(&behind[passed..]) {
            let behind = nodes.split_off(at + 1);
            nodes[at] = GlobNode::Held(Box::new(HeldStar { nodes: behind, passed, negated }));
            count += 1;
        }
    }
    nodes
}

fn is_passed_over(node: &GlobNode) -> bool {
    matches!(node, GlobNode::Group(ExtGroup::Optional | ExtGroup::Star, _))
}

/// Returns whether the nodes may match nothing at all.
fn all_empty(nodes: &[GlobNode]) -> bool {
    let any = |alternatives: &[Vec<GlobNode>]| alternatives.iter().any(|nodes| all_empty(nodes));
    nodes.iter().all(|node| match node {
        GlobNode::Literal(text) => text.is_empty(),
        GlobNode::Folded(chars) => chars.is_empty(),
        GlobNode::Any | GlobNode::Bracket(_) => false,
        GlobNode::Star | GlobNode::Group(ExtGroup::Optional | ExtGroup::Star, _) => true,
        GlobNode::Group(ExtGroup::One | ExtGroup::Plus, alternatives) => any(alternatives),
        GlobNode::Group(ExtGroup::Not, alternatives) => !any(alternatives),
        GlobNode::Held(held) => held.negated || all_empty(&held.nodes),
    })
}

impl Sim<'_> {
    pub(super) fn step_held(
        &mut self,
        held: &HeldStar,
        set: IntervalSet,
        direction: Direction,
    ) -> IntervalSet {
        let rest = &held.nodes[held.passed..];
        let mut out = self.step_anywhere(rest, &set, direction);
        for at in 0..held.passed {
            let nodes = &held.nodes[at..];
            let found = match &nodes[0] {
                GlobNode::Group(ExtGroup::Optional, _) => self.run(nodes, set.clone(), direction),
                _ => self.step_anywhere(nodes, &set, direction),
            };
            out = out.union(found);
        }
        if held.negated { out.union(set) } else { out }
    }

    /// Matches a star and these nodes, which must match at least one character.
    fn step_anywhere(
        &mut self,
        nodes: &[GlobNode],
        set: &IntervalSet,
        direction: Direction,
    ) -> IntervalSet {
        match direction {
            Direction::Forward => {
                let from = self.step_star(set, direction);
                self.taking_something(nodes, from, direction)
            }
            Direction::Backward => {
                let starts = self.taking_something(nodes, set.clone(), direction);
                self.step_star(&starts, direction)
            }
        }
    }

    /// Works as [`Sim::run`] without the empty match.
    fn taking_something(
        &mut self,
        nodes: &[GlobNode],
        set: IntervalSet,
        direction: Direction,
    ) -> IntervalSet {
        if !all_empty(nodes) {
            return self.run(nodes, set, direction);
        }
        let mut out = Vec::new();
        for &(first, last) in set.ranges() {
            for at in first..=last {
                if self.is_boundary(at) {
                    let place = IntervalSet::single(at);
                    let reached = self.run(nodes, place.clone(), direction).minus(&place);
                    out.extend_from_slice(reached.ranges());
                }
            }
            if out.len() > 4096 {
                out = IntervalSet::from_unsorted(out).ranges().to_vec();
            }
        }
        IntervalSet::from_unsorted(out)
    }
}
