//! Bracket expressions (POSIX XBD 9.3.5).

use super::ast::RegexNode;
use super::class::{CharSet, decode_char};
use super::error::RegexError;
use super::lex::RegexLexer;
use super::options::RegexOptions;

/// The maximum length of a name in `[: :]`, `[. .]` or `[= =]`, as in glibc.
const NAME_MAX: usize = 32;

enum Element {
    /// A character, or a byte that belongs to none.
    Char(u32),
    Byte(u8),
    Class(CharSet),
    /// `[=x=]`, which cannot be the end of a range.
    Equivalent(u32),
}

/// Parses after the opening bracket; leaves the position after the closing one.
pub(super) fn parse(
    lexer: &mut RegexLexer<'_>,
    options: &RegexOptions,
) -> Result<RegexNode, RegexError> {
    let negated = lexer.text.get(lexer.at) == Some(&b'^');
    if negated {
        lexer.at += 1;
    }
    let mut set = CharSet::empty(options.utf8);
    let mut strays = Vec::new();
    let start = lexer.at;
    let mut first = true;
    loop {
        match lexer.text.get(lexer.at) {
            None if first => return Err(RegexError::Invalid),
            None => return Err(RegexError::Bracket),
            Some(b']') if !first => {
                let text = lexer.text.get(start..lexer.at).unwrap_or_default();
                let is_name = matches!(text, [b':', _, .., b':']) && !text.contains(&b'[');
                if is_name && !text.contains(&b'-') && options.outer_brackets {
                    return Err(RegexError::ClassSyntax);
                }
                lexer.at += 1;
                break;
            }
            // A hyphen that does not make a range must be first or last.
            Some(b'-') if !first && !matches!(lexer.text.get(lexer.at + 1), Some(b']') | None) => {
                return Err(RegexError::RangeEnd);
            }
            _ => {}
        }
        first = false;
        let low = parse_element(lexer, options)?;
        let range = lexer.text.get(lexer.at) == Some(&b'-')
            && lexer.text.get(lexer.at + 1).is_some_and(|&c| c != b']');
        if range {
            lexer.at += 1;
            let end = parse_element(lexer, options)?;
            let (Element::Char(a), Element::Char(b)) = (low, end) else {
                return Err(RegexError::RangeEnd);
            };
            if a <= b {
                set.push(a, b);
            } else if !lexer.rules.empty_ranges {
                return Err(RegexError::RangeEnd);
            }
            continue;
        }
        match low {
            Element::Char(c) | Element::Equivalent(c) => set.push(c, c),
            Element::Byte(b) => strays.push(b),
            Element::Class(class) => set.union_with(&class),
        }
    }
    if options.icase {
        set.fold_case();
    }
    if negated {
        set.negate();
        if options.newline_apart {
            set.remove_byte(b'\n');
        }
    }
    if let Some(byte) = options.lines {
        set.remove_byte(byte);
    }
    if negated || strays.is_empty() {
        return Ok(RegexNode::Class(set));
    }
    // Bytes that are not characters are alternatives beside the set.
    let mut all = vec![RegexNode::Class(set)];
    all.extend(strays.into_iter().map(|b| RegexNode::Char(vec![b])));
    Ok(RegexNode::Alternate(all))
}

fn parse_element(
    lexer: &mut RegexLexer<'_>,
    options: &RegexOptions,
) -> Result<Element, RegexError> {
    let rest = lexer.text.get(lexer.at..).unwrap_or_default();
    match rest {
        [] => return Err(RegexError::Bracket),
        [b'[', b'.', ..] => {
            let code = single_char(name(lexer, b'.')?, options)?;
            return Ok(Element::Char(code));
        }
        [b'[', b'=', ..] => {
            let code = single_char(name(lexer, b'=')?, options)?;
            return Ok(Element::Equivalent(code));
        }
        [b'[', b':', ..] if lexer.rules.classes => {
            let name = name(lexer, b':')?;
            // If case is ignored, `upper` and `lower` mean all letters.
            let name = match name {
                b"upper" | b"lower" if options.icase => b"alpha",
                other => other,
            };
            let set = CharSet::posix_class(name, options.utf8).ok_or(RegexError::ClassName)?;
            return Ok(Element::Class(set));
        }
        [b'\\', c, ..] if lexer.rules.bracket_escapes => {
            lexer.at += 2;
            if lexer.rules.awk_escapes
                && let Some(byte) = lexer.awk_escape(*c)
            {
                return Ok(Element::Char(u32::from(byte)));
            }
            // No other letter is an operator in brackets: `[\w]` matches a `w`.
            lexer.at -= 1;
        }
        _ => {}
    }
    let rest = lexer.text.get(lexer.at..).unwrap_or_default();
    match decode_char(rest) {
        Some((code, width)) if options.utf8 => {
            lexer.at += width;
            Ok(Element::Char(code))
        }
        _ => {
            lexer.at += 1;
            let byte = rest[0];
            Ok(if options.utf8 { Element::Byte(byte) } else { Element::Char(u32::from(byte)) })
        }
    }
}

/// Returns the text between `[x` and `x]`.
fn name<'a>(lexer: &mut RegexLexer<'a>, delimiter: u8) -> Result<&'a [u8], RegexError> {
    let rest = lexer.text.get(lexer.at + 2..).unwrap_or_default();
    let close = [delimiter, b']'];
    let end = memchr::memmem::find(rest, &close).filter(|&n| n < NAME_MAX);
    let end = end.ok_or(RegexError::Bracket)?;
    lexer.at += 2 + end + 2;
    Ok(&rest[..end])
}

/// Returns the one character a collating symbol or equivalence class may hold in this locale.
fn single_char(name: &[u8], options: &RegexOptions) -> Result<u32, RegexError> {
    match (decode_char(name), name) {
        (Some((code, width)), _) if options.utf8 && width == name.len() => Ok(code),
        (_, [b]) if !options.utf8 => Ok(u32::from(*b)),
        _ => Err(RegexError::Collation),
    }
}
