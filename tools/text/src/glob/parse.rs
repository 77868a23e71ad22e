//! Parses the text of a pattern to nodes.

use super::bracket::{self, Bracket};
use super::held::{self, HeldStar};
use super::{ExtGroup, GlobNode, GlobOptions, char_at, fold_case};

/// The maximum nesting of groups, over which the matcher recurses. Deeper ones are text.
const MAX_DEPTH: usize = 100;

pub(super) fn parse(text: &[u8], options: GlobOptions) -> Vec<GlobNode> {
    let closes = if options.extglob { group_ends(text, options) } else { Vec::new() };
    let last_close = memchr::memrchr(b']', text).unwrap_or(0);
    let breaks_off = options.escape && text.ends_with(b"\\") || text.ends_with(b"-");
    let mut parser = GlobParser { text, options, closes, last_close, breaks_off, at: 0 };
    parser.parse_sequence(text.len(), 0)
}

struct GlobParser<'t> {
    text: &'t [u8],
    options: GlobOptions,
    /// The places of the opening and closing parentheses of each group, sorted.
    closes: Vec<(usize, usize)>,
    /// The place of the last `]`, after which no bracket expression opens.
    last_close: usize,
    /// Whether a bracket expression may break off at the end of the text.
    breaks_off: bool,
    at: usize,
}

impl GlobParser<'_> {
    /// Parses nodes up to `end`; within a group (`depth` > 0), at most up to a bar.
    fn parse_sequence(&mut self, end: usize, depth: usize) -> Vec<GlobNode> {
        let mut nodes = NodeBuilder { nodes: Vec::new(), text: Vec::new(), options: self.options };
        // The number of open plain parentheses inside a group; bars in them are text.
        let mut plain = 0usize;
        while self.at < end {
            let byte = self.text[self.at];
            if let Some(node) = self.parse_group(byte, depth) {
                nodes.push(node);
                continue;
            }
            if depth == 0 && self.opens_nothing(byte, end, nodes.at_star()) {
                let rest = &self.text[self.at..end];
                self.at = end;
                match (nodes.at_star(), byte) {
                    // The star before it matches this, too.
                    (true, b'?' | b'*') => {}
                    (true, b'!') => {
                        nodes.nodes.pop();
                        nodes.push(GlobNode::Held(Box::new(HeldStar::unclosed_group(rest))));
                    }
                    _ => nodes.text.extend_from_slice(rest),
                }
                break;
            }
            match byte {
                b'|' if depth > 0 && plain == 0 => break,
                b'*' => {
                    self.at += 1;
                    nodes.push(GlobNode::Star);
                }
                b'?' => {
                    self.at += 1;
                    nodes.push(GlobNode::Any);
                }
                b'[' => match self.parse_bracket(end) {
                    Some((bracket, next)) => {
                        self.at = next;
                        nodes.push(GlobNode::Bracket(Box::new(bracket)));
                    }
                    None => {
                        self.at += 1;
                        nodes.text.push(byte);
                    }
                },
                b'\\' if self.options.escape && self.at + 1 < end => {
                    nodes.text.push(self.text[self.at + 1]);
                    self.at += 2;
                }
                b'\\' if self.options.escape && self.at + 1 == end && nodes.at_star() => {
                    // The character that such a backslash would quote is parsed as if it came after
                    // the star.
                    self.at += 1;
                    nodes.push(GlobNode::Bracket(Box::new(Bracket::nothing())));
                }
                _ => {
                    match byte {
                        b'(' => plain += 1,
                        b')' => plain = plain.saturating_sub(1),
                        _ => {}
                    }
                    nodes.text.push(byte);
                    self.at += 1;
                }
            }
        }
        nodes.finish()
    }

    /// Parses the bracket expression at this place; returns it and its end. One that breaks off
    /// after a backslash or a range's dash matches nothing in bash; others that do not end are
    /// text.
    fn parse_bracket(&self, end: usize) -> Option<(Bracket, usize)> {
        let text = &self.text[..end];
        if self.at < self.last_close
            && let Some(found) = bracket::parse(text, self.at, self.options)
        {
            return Some(found);
        }
        let broken = self.breaks_off && bracket::breaks_off(text, self.at, self.options);
        broken.then(|| (Bracket::nothing(), end))
    }

    /// Returns whether the rest is compared literally, as bash does after the opening of a group
    /// that is never closed.
    fn opens_nothing(&self, byte: u8, end: usize, at_star: bool) -> bool {
        self.options.extglob
            && group_kind(byte).is_some()
            && self.text.get(self.at + 1) == Some(&b'(')
            && (self.at + 2 < end || byte != b'*' || at_star)
            && self.close_of(self.at + 1).is_none()
    }

    fn close_of(&self, open: usize) -> Option<usize> {
        let index = self.closes.binary_search_by_key(&open, |&(open, _)| open).ok()?;
        Some(self.closes[index].1)
    }

    fn parse_group(&mut self, byte: u8, depth: usize) -> Option<GlobNode> {
        let kind = group_kind(byte)?;
        if depth >= MAX_DEPTH || self.text.get(self.at + 1) != Some(&b'(') {
            return None;
        }
        let close = self.close_of(self.at + 1)?;
        self.at += 2;
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.parse_sequence(close, depth + 1));
            if self.at >= close {
                break;
            }
            self.at += 1; // the bar
        }
        self.at = close + 1;
        Some(GlobNode::Group(kind, alternatives))
    }
}

fn group_kind(byte: u8) -> Option<ExtGroup> {
    Some(match byte {
        b'?' => ExtGroup::Optional,
        b'*' => ExtGroup::Star,
        b'+' => ExtGroup::Plus,
        b'@' => ExtGroup::One,
        b'!' => ExtGroup::Not,
        _ => return None,
    })
}

/// Finds the closing parenthesis for each one that may open a group, in one pass with a stack, so
/// that many unclosed groups take linear time. Plain parentheses count only inside a group.
fn group_ends(text: &[u8], options: GlobOptions) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut stack: Vec<usize> = Vec::new();
    let last_close = memchr::memrchr(b']', text).unwrap_or(0);
    let mut i = 0;
    while i < text.len() {
        match text[i] {
            b'\\' if options.escape => i += 1,
            b'[' if i < last_close => {
                if let Some((_, next)) = bracket::parse(text, i, options) {
                    i = next;
                    continue;
                }
            }
            b'(' if !stack.is_empty() || (i > 0 && group_kind(text[i - 1]).is_some()) => {
                stack.push(i)
            }
            b')' => {
                if let Some(open) = stack.pop() {
                    pairs.push((open, i));
                }
            }
            _ => {}
        }
        i += 1;
    }
    pairs.sort_unstable();
    pairs
}

/// A builder of a list of nodes, which joins adjacent texts and stars.
struct NodeBuilder {
    nodes: Vec<GlobNode>,
    text: Vec<u8>,
    options: GlobOptions,
}

impl NodeBuilder {
    fn push(&mut self, node: GlobNode) {
        self.flush();
        match node {
            GlobNode::Star if self.nodes.last() == Some(&GlobNode::Star) => {}
            // `*?` becomes `?*`.
            GlobNode::Any if self.nodes.last() == Some(&GlobNode::Star) => {
                let star = self.nodes.len() - 1;
                self.nodes.insert(star, GlobNode::Any);
            }
            node => self.nodes.push(node),
        }
    }

    fn flush(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        // Case matters only where some character has two cases.
        let foldable = text.iter().any(|&b| b.is_ascii_alphabetic() || b >= 0x80);
        if self.options.ignore_case && foldable {
            self.nodes.push(folded_node(&text, self.options.utf8));
        } else {
            self.nodes.push(GlobNode::Literal(text.into_boxed_slice()));
        }
    }

    /// Returns whether a star came last.
    fn at_star(&self) -> bool {
        self.text.is_empty() && self.nodes.last() == Some(&GlobNode::Star)
    }

    fn finish(mut self) -> Vec<GlobNode> {
        self.flush();
        held::hold_stars(self.nodes)
    }
}

fn folded_node(text: &[u8], utf8: bool) -> GlobNode {
    let mut chars = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some((code, width)) = char_at(text, at, utf8) {
        match char::from_u32(fold_case(code)) {
            Some(c) => chars.push(c),
            // An invalid byte has no case, so the whole text is compared unchanged.
            None => return GlobNode::Literal(text.into()),
        }
        at += width;
    }
    GlobNode::Folded(chars.into_boxed_slice())
}
