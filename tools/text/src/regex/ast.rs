//! The parsed pattern: the input of all later stages.

use super::class::CharSet;

/// The maximum number of levels of nesting; bounds the recursion of every stage.
pub(super) const MAX_DEPTH: u32 = 250;

/// A node of the pattern. Repetitions are greedy.
#[derive(Clone, Debug)]
pub(super) enum RegexNode {
    Empty,
    /// The bytes of one character.
    Char(Vec<u8>),
    Class(CharSet),
    Look(Look),
    /// A capturing group; numbers start at 1.
    Group(u32, Box<RegexNode>),
    Repeat {
        min: u32,
        max: Option<u32>,
        node: Box<RegexNode>,
    },
    Concat(Vec<RegexNode>),
    Alternate(Vec<RegexNode>),
    Backref(u32),
}

/// Zero-width conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// `^`
    LineStart,
    /// `$`
    LineEnd,
    /// Backslash and grave accent.
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

impl RegexNode {
    /// Returns whether back-references occur.
    pub(super) fn has_backref(&self) -> bool {
        match self {
            RegexNode::Backref(_) => true,
            RegexNode::Group(_, n) | RegexNode::Repeat { node: n, .. } => n.has_backref(),
            RegexNode::Concat(ns) | RegexNode::Alternate(ns) => {
                ns.iter().any(RegexNode::has_backref)
            }
            _ => false,
        }
    }

    /// Returns whether it can match the empty string (back-references may).
    pub(super) fn nullable(&self) -> bool {
        match self {
            RegexNode::Empty | RegexNode::Look(_) | RegexNode::Backref(_) => true,
            RegexNode::Char(_) | RegexNode::Class(_) => false,
            RegexNode::Group(_, n) => n.nullable(),
            RegexNode::Repeat { min, node, .. } => *min == 0 || node.nullable(),
            RegexNode::Concat(ns) => ns.iter().all(RegexNode::nullable),
            RegexNode::Alternate(ns) => ns.iter().any(RegexNode::nullable),
        }
    }

    /// Returns an estimate of the automaton's states, repetitions unrolled.
    pub(super) fn weight(&self) -> u64 {
        match self {
            RegexNode::Empty | RegexNode::Look(_) => 1,
            RegexNode::Char(b) => b.len() as u64,
            RegexNode::Class(set) => set.weight(),
            RegexNode::Backref(_) => 8,
            RegexNode::Group(_, n) => n.weight().saturating_add(2),
            RegexNode::Repeat { min, max, node } => {
                let times = u64::from(max.unwrap_or(*min).max(1));
                node.weight().saturating_add(1).saturating_mul(times)
            }
            RegexNode::Concat(ns) | RegexNode::Alternate(ns) => {
                ns.iter().fold(1, |sum: u64, n| sum.saturating_add(n.weight()))
            }
        }
    }

    /// Adds `by` to all group numbers, for joining patterns.
    pub(super) fn shift_groups(&mut self, by: u32) {
        match self {
            RegexNode::Backref(n) => *n += by,
            RegexNode::Group(n, inner) => {
                *n += by;
                inner.shift_groups(by);
            }
            RegexNode::Repeat { node, .. } => node.shift_groups(by),
            RegexNode::Concat(ns) | RegexNode::Alternate(ns) => {
                ns.iter_mut().for_each(|n| n.shift_groups(by));
            }
            _ => {}
        }
    }
}
