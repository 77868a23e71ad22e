//! `${x/pattern/replacement}`.

use box_text::glob::GlobPattern;
use sh_syntax::ast::{ReplaceKind, Word, WordPart};

use super::Result;
use super::target::ParamValue;
use crate::attributed::str_of;
use crate::env::ExpandEnv;
use crate::pattern::match_options;
use crate::tilde::Tilde;
use crate::value::Str;
use crate::word;

/// The number of bytes by which a result grows before the budget is charged again.
const CHARGE_STEP: usize = 1 << 20;

/// The replacement of a match.
struct MatchReplacement {
    /// Text between the places where the match itself is inserted; at least one piece.
    pieces: Vec<Vec<u8>>,
}

pub(super) fn replace_content(
    env: &mut dyn ExpandEnv,
    content: ParamValue,
    kind: ReplaceKind,
    pattern: &Word,
    replacement: Option<&Word>,
) -> Result<ParamValue> {
    let sought = Sought::from_word(env, pattern, kind)?;
    let replacement = match replacement {
        Some(word) => MatchReplacement::from_word(env, word)?,
        None => MatchReplacement { pieces: vec![Vec::new()] },
    };
    if sought.is_nothing() {
        return Ok(content);
    }
    content.map_values(|text| replace_text(env, text, &sought, &replacement))
}

/// The pattern to search for, and its anchor.
struct Sought {
    kind: ReplaceKind,
    pattern: GlobPattern,
}

impl Sought {
    fn from_word(env: &mut dyn ExpandEnv, word: &Word, kind: ReplaceKind) -> Result<Sought> {
        let shell = env.options();
        let options = match_options(env, shell.extglob, shell.nocasematch);
        match word.parts.as_slice() {
            [WordPart::Literal(text)] if !text.contains(&b'~') => {
                return Ok(Sought { kind, pattern: GlobPattern::new(text, options) });
            }
            [WordPart::Quoted(text)] => {
                return Ok(Sought { kind, pattern: GlobPattern::literal(text, options) });
            }
            _ => {}
        }
        // The pattern of an anchored form is not at the beginning of the word, so it has no tilde.
        let anchored = matches!(kind, ReplaceKind::Prefix | ReplaceKind::Suffix);
        let tilde = if anchored { Tilde::Never } else { Tilde::Start };
        let field = word::one_field(env, &word.parts, tilde)?;
        let text = field.escaped_pattern();
        // An anchor may come from an expansion, `p='#a'; ${x/$p/b}`, but not from quotes.
        let (kind, text) = match (kind, field.first_unquoted()) {
            (ReplaceKind::First, Some(b'#')) => (ReplaceKind::Prefix, &text[1..]),
            (ReplaceKind::First, Some(b'%')) => (ReplaceKind::Suffix, &text[1..]),
            _ => (kind, text.as_slice()),
        };
        Ok(Sought { kind, pattern: GlobPattern::new(text, options) })
    }

    /// Returns whether the pattern is empty. An empty pattern matches only if it is anchored.
    fn is_nothing(&self) -> bool {
        self.pattern.as_literal() == Some(b"")
            && matches!(self.kind, ReplaceKind::First | ReplaceKind::All)
    }
}

impl MatchReplacement {
    /// Parses a replacement. With `patsub_replacement`, an unquoted `&` stands for the match; a
    /// backslash quotes `&` and itself.
    fn from_word(env: &mut dyn ExpandEnv, word: &Word) -> Result<MatchReplacement> {
        let field = word::one_field(env, &word.parts, Tilde::Start)?;
        if !env.options().patsub_replacement {
            return Ok(MatchReplacement { pieces: vec![field.strip_quotes().to_vec()] });
        }
        let mut plain = true;
        field.for_each_stretch(|text, _| plain &= !text.iter().any(|c| matches!(c, b'&' | b'\\')));
        if plain {
            return Ok(MatchReplacement { pieces: vec![field.strip_quotes().to_vec()] });
        }
        // Quoted characters are escaped first, and then all parts are parsed as one text, so that a
        // backslash from a variable affects the text after it, as in bash.
        let mut source = Vec::new();
        field.for_each_stretch(|text, quoted| {
            for &byte in text {
                if quoted && matches!(byte, b'&' | b'\\') {
                    source.push(b'\\');
                }
                source.push(byte);
            }
        });
        let mut pieces = Vec::new();
        let mut piece = Vec::new();
        let mut bytes = source.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'&' => pieces.push(std::mem::take(&mut piece)),
                b'\\' => piece.push(bytes.next_if(|b| matches!(b, b'&' | b'\\')).unwrap_or(byte)),
                byte => piece.push(byte),
            }
        }
        pieces.push(piece);
        Ok(MatchReplacement { pieces })
    }

    /// Returns the number of bytes that replace a match of `matched` bytes.
    fn len(&self, matched: usize) -> usize {
        let text: usize = self.pieces.iter().map(Vec::len).sum();
        text.saturating_add(matched.saturating_mul(self.pieces.len() - 1))
    }

    fn push(&self, matched: &[u8], out: &mut Vec<u8>) {
        for (at, piece) in self.pieces.iter().enumerate() {
            if at > 0 {
                out.extend_from_slice(matched);
            }
            out.extend_from_slice(piece);
        }
    }
}

/// Returns one value with its matches replaced.
fn replace_text(
    env: &mut dyn ExpandEnv,
    text: Str,
    sought: &Sought,
    replacement: &MatchReplacement,
) -> Result<Str> {
    let mut out = Vec::new();
    match sought.kind {
        ReplaceKind::Prefix => {
            let Some(end) = sought.pattern.longest_prefix(&text) else { return Ok(text) };
            replacement.push(&text[..end], &mut out);
            out.extend_from_slice(&text[end..]);
        }
        ReplaceKind::Suffix => {
            let Some(start) = sought.pattern.longest_suffix(&text) else { return Ok(text) };
            out.extend_from_slice(&text[..start]);
            replacement.push(&text[start..], &mut out);
        }
        ReplaceKind::First | ReplaceKind::All => {
            let mut from = 0;
            let mut found = false;
            let mut charged = text.len();
            let limit = if sought.kind == ReplaceKind::First { 1 } else { usize::MAX };
            for (start, end) in sought.pattern.matches(&text).take(limit) {
                found = true;
                out.extend_from_slice(&text[from..start]);
                // The budget is charged before the result grows, because one replacement may be as
                // long as the whole budget.
                let grown = out.len().saturating_add(replacement.len(end - start));
                if grown > charged + CHARGE_STEP {
                    env.charge(grown - charged)?;
                    charged = grown;
                }
                replacement.push(&text[start..end], &mut out);
                from = end;
            }
            if !found {
                return Ok(text);
            }
            out.extend_from_slice(&text[from..]);
        }
    }
    Ok(str_of(out))
}
