//! Translates nodes to the intermediate form of `regex-syntax`, without captures.

use regex_syntax::hir::{Hir, Look as HirLook, Repetition};

use super::ast::{Look, RegexNode};
use super::class::CharSet;
use super::options::RegexOptions;

/// Translates a node. A back-reference becomes "any text", so that the result matches wherever the
/// pattern does and possibly elsewhere. With `ascii` the result is for ASCII texts only.
pub(super) fn translate_node(node: &RegexNode, options: &RegexOptions, ascii: bool) -> Hir {
    match node {
        RegexNode::Empty => Hir::empty(),
        RegexNode::Char(bytes) => Hir::literal(bytes.clone()),
        RegexNode::Class(set) if ascii => set.to_ascii_hir(),
        RegexNode::Class(set) => set.to_hir(),
        RegexNode::Look(look) => Hir::look(translate_look(*look, options, ascii)),
        RegexNode::Group(_, inner) => translate_node(inner, options, ascii),
        RegexNode::Repeat { min, max, node } => Hir::repetition(Repetition {
            min: *min,
            max: *max,
            greedy: true,
            sub: Box::new(translate_node(node, options, ascii)),
        }),
        RegexNode::Concat(all) => {
            Hir::concat(all.iter().map(|n| translate_node(n, options, ascii)).collect())
        }
        RegexNode::Alternate(all) => {
            Hir::alternation(all.iter().map(|n| translate_node(n, options, ascii)).collect())
        }
        RegexNode::Backref(_) => {
            let mut any = CharSet::any(false);
            if let Some(byte) = options.lines {
                any.remove_byte(byte);
            }
            Hir::repetition(Repetition {
                min: 0,
                max: None,
                greedy: true,
                sub: Box::new(any.to_hir()),
            })
        }
    }
}

fn translate_look(look: Look, options: &RegexOptions, ascii: bool) -> HirLook {
    let lines = options.lines.is_some();
    match (look, options.utf8 && !ascii) {
        (Look::LineStart, _) if lines || options.multiline => HirLook::StartLF,
        (Look::LineEnd, _) if lines || options.multiline => HirLook::EndLF,
        (Look::TextStart, _) if lines => HirLook::StartLF,
        (Look::TextEnd, _) if lines => HirLook::EndLF,
        (Look::LineStart | Look::TextStart, _) => HirLook::Start,
        (Look::LineEnd | Look::TextEnd, _) => HirLook::End,
        (Look::WordEdge, true) => HirLook::WordUnicode,
        (Look::WordEdge, false) => HirLook::WordAscii,
        (Look::NotWordEdge, true) => HirLook::WordUnicodeNegate,
        (Look::NotWordEdge, false) => HirLook::WordAsciiNegate,
        (Look::WordStart, true) => HirLook::WordStartUnicode,
        (Look::WordStart, false) => HirLook::WordStartAscii,
        (Look::WordEnd, true) => HirLook::WordEndUnicode,
        (Look::WordEnd, false) => HirLook::WordEndAscii,
        (Look::NoWordBefore, true) => HirLook::WordStartHalfUnicode,
        (Look::NoWordBefore, false) => HirLook::WordStartHalfAscii,
        (Look::NoWordAfter, true) => HirLook::WordEndHalfUnicode,
        (Look::NoWordAfter, false) => HirLook::WordEndHalfAscii,
    }
}
