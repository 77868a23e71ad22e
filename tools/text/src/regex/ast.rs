//! The parsed pattern: what all later stages read.

use super::class::Set;

/// Most levels of nesting; bounds the recursion of every stage.
pub(super) const MAX_DEPTH: u32 = 250;

/// A node of the pattern. Repetitions are greedy.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Empty,
    /// Bytes of one character.
    Char(Vec<u8>),
    Class(Set),
    Look(Look),
    /// A capturing group; numbers start at 1.
    Group(u32, Box<Node>),
    Repeat {
        min: u32,
        max: Option<u32>,
        node: Box<Node>,
    },
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Backref(u32),
}

/// Zero-width conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// `^`
    LineStart,
    /// `$`
    LineEnd,
    /// `` \` ``
    TextStart,
    /// `\'`
    TextEnd,
    /// `\b`
    WordEdge,
    /// `\B`
    NotWordEdge,
    /// `\<`
    WordStart,
    /// `\>`
    WordEnd,
    /// No word character before (`grep -w`).
    NoWordBefore,
    /// No word character after.
    NoWordAfter,
}

impl Node {
    /// Whether back-references occur.
    pub(super) fn has_backref(&self) -> bool {
        match self {
            Node::Backref(_) => true,
            Node::Group(_, n) | Node::Repeat { node: n, .. } => n.has_backref(),
            Node::Concat(ns) | Node::Alternate(ns) => ns.iter().any(Node::has_backref),
            _ => false,
        }
    }

    /// Whether it can match the empty string (back-references may).
    pub(super) fn nullable(&self) -> bool {
        match self {
            Node::Empty | Node::Look(_) | Node::Backref(_) => true,
            Node::Char(_) | Node::Class(_) => false,
            Node::Group(_, n) => n.nullable(),
            Node::Repeat { min, node, .. } => *min == 0 || node.nullable(),
            Node::Concat(ns) => ns.iter().all(Node::nullable),
            Node::Alternate(ns) => ns.iter().any(Node::nullable),
        }
    }

    /// An estimate of the automaton's states, repetitions unrolled.
    pub(super) fn weight(&self) -> u64 {
        match self {
            Node::Empty | Node::Look(_) => 1,
            Node::Char(b) => b.len() as u64,
            Node::Class(set) => set.weight(),
            Node::Backref(_) => 8,
            Node::Group(_, n) => n.weight().saturating_add(2),
            Node::Repeat { min, max, node } => {
                let times = u64::from(max.unwrap_or(*min).max(1));
                node.weight().saturating_add(1).saturating_mul(times)
            }
            Node::Concat(ns) | Node::Alternate(ns) => {
                ns.iter().fold(1, |sum: u64, n| sum.saturating_add(n.weight()))
            }
        }
    }

    /// Adds `by` to all group numbers, for joining patterns.
    pub(super) fn shift_groups(&mut self, by: u32) {
        match self {
            Node::Backref(n) => *n += by,
            Node::Group(n, inner) => {
                *n += by;
                inner.shift_groups(by);
            }
            Node::Repeat { node, .. } => node.shift_groups(by),
            Node::Concat(ns) | Node::Alternate(ns) => {
                ns.iter_mut().for_each(|n| n.shift_groups(by));
            }
            _ => {}
        }
    }
}
