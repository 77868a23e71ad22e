//! Facts about a pattern that are known before it is compiled: whether it is a plain text, and
//! whether the first match in priority order is always the longest.

use super::ast::{Look, RegexNode};
use super::class::{CharSet, decode_char};

/// Returns the pattern as plain bytes, if it has no operators.
pub(super) fn literal_bytes(node: &RegexNode) -> Option<Vec<u8>> {
    match node {
        RegexNode::Empty => Some(Vec::new()),
        RegexNode::Char(bytes) => Some(bytes.clone()),
        RegexNode::Concat(nodes) => {
            let mut all = Vec::new();
            for node in nodes {
                let RegexNode::Char(bytes) = node else { return None };
                all.extend_from_slice(bytes);
            }
            Some(all)
        }
        _ => None,
    }
}

/// Returns the texts of which the pattern is a choice, if it has no other parts (`abc|de`).
pub(super) fn literal_choice(node: &RegexNode) -> Option<Vec<Vec<u8>>> {
    match node {
        RegexNode::Group(_, inner) => literal_choice(inner),
        RegexNode::Alternate(all) => all.iter().map(literal_bytes).collect(),
        _ => None,
    }
}

/// Sorts a choice of texts, the longer ones first, so that the first that matches is the longest;
/// returns whether the pattern is such a choice.
pub(super) fn sort_literals(node: &mut RegexNode) -> bool {
    let RegexNode::Alternate(all) = node else { return false };
    if !all.iter().all(|n| literal_bytes(n).is_some()) {
        return false;
    }
    let mut keyed: Vec<_> =
        all.drain(..).map(|n| (literal_bytes(&n).map_or(0, |l| l.len()), n)).collect();
    keyed.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    all.extend(keyed.into_iter().map(|(_, n)| n));
    true
}

/// Returns whether a leftmost-first search gives the longest match from its start. Returns `false`
/// in doubt; the end is then searched for separately.
///
/// This is so if at most one greedy repetition of pieces of one length decides the length, and all
/// other parts have a fixed number of characters or can stop at only one place. With `ends_given`,
/// a `$` at the end leaves only one possible end.
pub(super) fn first_is_longest(node: &RegexNode, utf8: bool, ends_given: bool) -> bool {
    let mut flat = Vec::new();
    flatten_node(node, &mut flat);
    if ends_given && matches!(flat.last(), Some(RegexNode::Look(Look::LineEnd | Look::TextEnd))) {
        return true;
    }
    let mut free = 0;
    for (i, piece) in flat.iter().enumerate() {
        if char_count(piece).is_some() {
            continue;
        }
        let RegexNode::Repeat { node, max, .. } = piece else { return false };
        if char_count(node).is_none_or(|n| n == 0) {
            return false;
        }
        let next = flat[i + 1..].iter().find(|n| !matches!(n, RegexNode::Look(_)));
        let forced = max.is_none()
            && match (first_set(node, utf8), next.map(|n| (n.nullable(), first_set(n, utf8)))) {
                (Some(own), Some((false, Some(next)))) => !own.intersects(&next),
                _ => false,
            };
        if !forced {
            free += 1;
        }
    }
    free <= 1
}

fn flatten_node<'a>(node: &'a RegexNode, out: &mut Vec<&'a RegexNode>) {
    match node {
        RegexNode::Concat(nodes) => nodes.iter().for_each(|n| flatten_node(n, out)),
        RegexNode::Group(_, inner) => flatten_node(inner, out),
        _ => out.push(node),
    }
}

/// Returns the number of characters that every match has.
fn char_count(node: &RegexNode) -> Option<u32> {
    match node {
        RegexNode::Empty | RegexNode::Look(_) => Some(0),
        // A text node may hold several characters; stray bytes count as one each.
        RegexNode::Char(bytes) => {
            u32::try_from(bytes.iter().filter(|&&b| !(0x80..0xC0).contains(&b)).count().max(1)).ok()
        }
        RegexNode::Class(_) => Some(1),
        RegexNode::Group(_, n) => char_count(n),
        RegexNode::Repeat { min, max, node } if Some(*min) == *max => {
            char_count(node)?.checked_mul(*min)
        }
        RegexNode::Repeat { .. } | RegexNode::Backref(_) => None,
        RegexNode::Concat(all) => {
            all.iter().try_fold(0u32, |sum, n| sum.checked_add(char_count(n)?))
        }
        RegexNode::Alternate(all) => {
            let n = char_count(all.first()?)?;
            all.iter().all(|x| char_count(x) == Some(n)).then_some(n)
        }
    }
}

/// Returns the characters with which a match can begin; `None` if unknown.
fn first_set(node: &RegexNode, utf8: bool) -> Option<CharSet> {
    match node {
        RegexNode::Class(set) => Some(set.clone()),
        RegexNode::Char(bytes) => {
            let code = match decode_char(bytes) {
                Some((code, width)) if width == bytes.len() && utf8 => code,
                _ if utf8 => return None,
                _ => u32::from(*bytes.first()?),
            };
            let mut set = CharSet::empty(utf8);
            set.push(code, code);
            Some(set)
        }
        RegexNode::Group(_, n) => first_set(n, utf8),
        RegexNode::Repeat { min: 1.., node, .. } => first_set(node, utf8),
        RegexNode::Concat(all) => {
            let first = all.iter().find(|n| !matches!(n, RegexNode::Look(_)))?;
            if first.nullable() { None } else { first_set(first, utf8) }
        }
        _ => None,
    }
}

/// Returns whether an automaton for ASCII alone is much smaller, because of big Unicode sets, or of
/// word conditions, which lazy automata support only next to ASCII.
pub(super) fn is_heavy(node: &RegexNode) -> bool {
    match node {
        RegexNode::Class(set) => set.weight() > 40,
        RegexNode::Look(look) => {
            !matches!(look, Look::LineStart | Look::LineEnd | Look::TextStart | Look::TextEnd)
        }
        RegexNode::Group(_, n) | RegexNode::Repeat { node: n, .. } => is_heavy(n),
        RegexNode::Concat(all) | RegexNode::Alternate(all) => all.iter().any(is_heavy),
        RegexNode::Empty | RegexNode::Char(_) | RegexNode::Backref(_) => false,
    }
}
