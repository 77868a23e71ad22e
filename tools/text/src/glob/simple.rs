//! Matching of patterns without groups with a whole text, by two cursors and the last star.

use memchr::memmem;

use super::{GlobNode, GlobOptions, char_at, fold_case};

/// Returns whether anything but itself may match the character at `at`.
pub(super) fn may_wildcard(text: &[u8], at: usize, options: GlobOptions) -> bool {
    match text.get(at) {
        Some(b'.') if options.period => at != 0 && !(options.no_slash && text[at - 1] == b'/'),
        Some(b'/') => !options.no_slash,
        Some(_) => true,
        None => false,
    }
}

/// Returns whether the character at `at` is a period that only a period matches: not even an empty
/// `*` may come before it (`*.x` does not match `.x`).
pub(super) fn is_guarded_period(text: &[u8], at: usize, options: GlobOptions) -> bool {
    text.get(at) == Some(&b'.') && !may_wildcard(text, at, options)
}

/// Returns the end of the match of one node without `*` or group at `at`.
pub(super) fn match_node(
    node: &GlobNode,
    text: &[u8],
    at: usize,
    options: GlobOptions,
) -> Option<usize> {
    match node {
        GlobNode::Literal(literal) => {
            text.get(at..)?.starts_with(literal).then(|| at + literal.len())
        }
        GlobNode::Folded(chars) => {
            let mut at = at;
            for &c in chars {
                let (code, width) = char_at(text, at, options.utf8)?;
                if fold_case(code) != u32::from(c) {
                    return None;
                }
                at += width;
            }
            Some(at)
        }
        GlobNode::Any => {
            let (_, width) = char_at(text, at, options.utf8)?;
            may_wildcard(text, at, options).then_some(at + width)
        }
        GlobNode::Bracket(bracket) => {
            let (code, width) = char_at(text, at, options.utf8)?;
            (may_wildcard(text, at, options) && bracket.matches(code)).then_some(at + width)
        }
        GlobNode::Star | GlobNode::Group(..) | GlobNode::Held(_) => None,
    }
}

/// Returns the end of a match of nodes without star and group at `at`.
pub(super) fn match_fixed(
    nodes: &[GlobNode],
    text: &[u8],
    mut at: usize,
    options: GlobOptions,
) -> Option<usize> {
    for node in nodes {
        at = match_node(node, text, at, options)?;
    }
    Some(at)
}

pub(super) fn is_match(nodes: &[GlobNode], text: &[u8], options: GlobOptions) -> bool {
    let (mut node, mut at) = (0, 0);
    // The index of the node after the last star, and the current end of that star's text.
    let mut star: Option<(usize, usize)> = None;
    loop {
        match nodes.get(node) {
            Some(GlobNode::Star) if is_guarded_period(text, at, options) => {}
            Some(GlobNode::Star) => {
                node += 1;
                star = Some((node, at));
                if node == nodes.len() {
                    return !options.no_slash && !options.period || takes_rest(text, at, options);
                }
                continue;
            }
            Some(other) => {
                if let Some(next) = match_node(other, text, at, options) {
                    node += 1;
                    at = next;
                    continue;
                }
            }
            None if at == text.len() => return true,
            None => {}
        }
        let Some((behind, end)) = star else { return false };
        // Only the last star needs to grow, because it does not matter how much it leaves to the
        // nodes before it.
        let Some(grown) = grow_star(nodes, behind, text, end, options) else { return false };
        star = Some((behind, grown));
        node = behind;
        at = grown;
    }
}

/// Lengthens the star's text by at least one character, straight to the next place where the
/// literal after it occurs.
fn grow_star(
    nodes: &[GlobNode],
    behind: usize,
    text: &[u8],
    end: usize,
    options: GlobOptions,
) -> Option<usize> {
    let (_, width) = char_at(text, end, options.utf8)?;
    if !may_wildcard(text, end, options) {
        return None;
    }
    let next = end + width;
    if options.no_slash || options.period {
        return Some(next);
    }
    match nodes.get(behind) {
        Some(GlobNode::Literal(literal)) => {
            if behind + 1 == nodes.len() {
                // Nothing follows, so the literal must be at the very end.
                let last = text.len().checked_sub(literal.len())?;
                return (last >= next).then_some(last);
            }
            memmem::find(&text[next..], literal).map(|offset| next + offset)
        }
        _ => Some(next),
    }
}

fn takes_rest(text: &[u8], at: usize, options: GlobOptions) -> bool {
    (at..text.len()).all(|i| may_wildcard(text, i, options))
}
