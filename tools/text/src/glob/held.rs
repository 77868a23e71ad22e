//! A star before a group, as bash 5.2 matches it (found by experiment). The star gives way at every
//! place but the end of the text, so behind it `@(..)`, `+(..)` and `!(..)` with all that follows must
//! take something: `*@()` does not match `a`, nor `*!(b)` `b`. Groups `?(..)` and `*(..)` between the
//! two are passed over; with `?(..)` it is tried where the star begins only. And a star before `!(..)`
//! that begins at the end matches without looking further: `a*!(b)c` matches `a`.

use super::set::Set;
use super::sim::{Direction, Sim};
use super::{Group, Node};

/// How many stars of a sequence are held: each holds all behind it, and matching recurses.
const MAX_HELD: usize = 8;

/// A star and what is behind it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Held {
    /// The nodes behind the star.
    nodes: Vec<Node>,
    /// How many of them, in front, are passed over.
    passed: usize,
    /// The next one is `!(..)`.
    negated: bool,
}

impl Held {
    /// A star before the rest of a pattern that begins like `!(..)` and does not end.
    pub(super) fn unclosed(text: &[u8]) -> Held {
        Held { nodes: vec![Node::Literal(text.into())], passed: 0, negated: true }
    }
}

/// Puts stars for which it makes a difference together with what is behind them.
pub(super) fn hold(mut nodes: Vec<Node>) -> Vec<Node> {
    let mut count = 0;
    for at in (0..nodes.len()).rev() {
        if nodes[at] != Node::Star || count == MAX_HELD {
            continue;
        }
        let behind = &nodes[at + 1..];
        let passed = behind.iter().take_while(|node| is_passed_over(node)).count();
        let Some(Node::Group(kind, _)) = behind.get(passed) else { continue };
        let negated = *kind == Group::Not;
        if negated || all_empty(&behind[passed..]) {
            let behind = nodes.split_off(at + 1);
            nodes[at] = Node::Held(Box::new(Held { nodes: behind, passed, negated }));
            count += 1;
        }
    }
    nodes
}

fn is_passed_over(node: &Node) -> bool {
    matches!(node, Node::Group(Group::Optional | Group::Star, _))
}

/// Whether the nodes may match nothing at all.
fn all_empty(nodes: &[Node]) -> bool {
    let any = |alternatives: &[Vec<Node>]| alternatives.iter().any(|nodes| all_empty(nodes));
    nodes.iter().all(|node| match node {
        Node::Literal(text) => text.is_empty(),
        Node::Folded(chars) => chars.is_empty(),
        Node::Any | Node::Bracket(_) => false,
        Node::Star | Node::Group(Group::Optional | Group::Star, _) => true,
        Node::Group(Group::One | Group::Plus, alternatives) => any(alternatives),
        Node::Group(Group::Not, alternatives) => !any(alternatives),
        Node::Held(held) => held.negated || all_empty(&held.nodes),
    })
}

impl Sim<'_> {
    pub(super) fn held(&mut self, held: &Held, set: Set, direction: Direction) -> Set {
        let rest = &held.nodes[held.passed..];
        let mut out = self.anywhere(rest, &set, direction);
        for at in 0..held.passed {
            let nodes = &held.nodes[at..];
            let found = match &nodes[0] {
                Node::Group(Group::Optional, _) => self.run(nodes, set.clone(), direction),
                _ => self.anywhere(nodes, &set, direction),
            };
            out = out.union(found);
        }
        if held.negated { out.union(set) } else { out }
    }

    /// A star and these nodes, which take something.
    fn anywhere(&mut self, nodes: &[Node], set: &Set, direction: Direction) -> Set {
        match direction {
            Direction::Forward => {
                let from = self.star(set, direction);
                self.taking_something(nodes, from, direction)
            }
            Direction::Backward => {
                let starts = self.taking_something(nodes, set.clone(), direction);
                self.star(&starts, direction)
            }
        }
    }

    /// As [`Sim::run`] without the empty match.
    fn taking_something(&mut self, nodes: &[Node], set: Set, direction: Direction) -> Set {
        if !all_empty(nodes) {
            return self.run(nodes, set, direction);
        }
        let mut out = Vec::new();
        for &(first, last) in set.ranges() {
            for at in first..=last {
                if self.is_boundary(at) {
                    let place = Set::single(at);
                    let reached = self.run(nodes, place.clone(), direction).minus(&place);
                    out.extend_from_slice(reached.ranges());
                }
            }
            if out.len() > 4096 {
                out = Set::from_unsorted(out).ranges().to_vec();
            }
        }
        Set::from_unsorted(out)
    }
}
