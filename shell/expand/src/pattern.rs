//! Words as patterns: `case`, `[[ == ]]`, `${x#p}`, and as regular expressions, `[[ =~ ]]`.

use box_text::glob::{Options, Pattern};
use sh_syntax::ast::{Word, WordPart};

use crate::env::Env;
use crate::error::ExpandError;
use crate::lists;
use crate::word::{self, Tilde};

/// The pattern of a `case` arm: as [`expand_pattern`], but groups count with `extglob` only, and of
/// the words that `"$@"` makes bash takes the first.
pub fn expand_arm_pattern(env: &mut dyn Env, word: &Word) -> Result<Pattern, ExpandError> {
    let options = match_options(env, env.options().extglob, env.options().nocasematch);
    let is_list = |part: &WordPart| matches!(part, WordPart::Param(_) | WordPart::DoubleQuoted(_));
    if !word.parts.iter().any(is_list) {
        return tested_pattern(env, word, options);
    }
    let field = lists::tested(env, word, true)?;
    Ok(Pattern::new(&field.escaped(), options))
}

/// The pattern of `[[ x == word ]]`: quoted parts match literally,
/// `extglob` is on, `nocasematch` is honoured.
pub fn expand_pattern(env: &mut dyn Env, word: &Word) -> Result<Pattern, ExpandError> {
    let options = match_options(env, true, env.options().nocasematch);
    tested_pattern(env, word, options)
}

fn tested_pattern(
    env: &mut dyn Env,
    word: &Word,
    options: Options,
) -> Result<Pattern, ExpandError> {
    match word.parts.as_slice() {
        [WordPart::Literal(_) | WordPart::Quoted(_)] => compile(env, word, Tilde::Start, options),
        _ => Ok(Pattern::new(&lists::tested(env, word, false)?.escaped(), options)),
    }
}

/// As [`expand_pattern`], with the text that `set -x` shows: a backslash before every quoted character.
pub fn expand_pattern_traced(
    env: &mut dyn Env,
    word: &Word,
) -> Result<(Pattern, Vec<u8>), ExpandError> {
    let options = match_options(env, true, env.options().nocasematch);
    let field = lists::tested(env, word, false)?;
    let mut shown = Vec::new();
    field.stretches(|text, quoted| {
        for &byte in text {
            // Not between the bytes of a character.
            if quoted && byte & 0xC0 != 0x80 {
                shown.push(b'\\');
            }
            shown.push(byte);
        }
    });
    Ok((Pattern::new(&field.escaped(), options), shown))
}

/// The pattern of `${x^p}` and relatives, in which groups count without `extglob`, too; `None`
/// if nothing is left of the word, as if it were not there.
pub(crate) fn case_pattern(env: &mut dyn Env, word: &Word) -> Result<Option<Pattern>, ExpandError> {
    let options = match_options(env, true, false);
    let field = word::joined_if_any(env, word, Tilde::Start)?;
    Ok(field.map(|field| Pattern::new(&field.escaped(), options)))
}

/// The pattern of an operator of `${...}`; `quoted`: of a quoted one.
pub(crate) fn operator_pattern(
    env: &mut dyn Env,
    word: &Word,
    quoted: bool,
) -> Result<Pattern, ExpandError> {
    let options = match_options(env, env.options().extglob, false);
    match word.parts.as_slice() {
        [WordPart::Literal(_) | WordPart::Quoted(_)] => compile(env, word, Tilde::Start, options),
        _ => {
            let field = lists::operator_field(env, word, Tilde::Start, quoted)?;
            Ok(Pattern::new(&field.escaped(), options))
        }
    }
}

pub(crate) fn match_options(env: &dyn Env, extglob: bool, ignore_case: bool) -> Options {
    Options { extglob, ignore_case, utf8: !env.options().c_locale, ..Options::default() }
}

fn compile(
    env: &mut dyn Env,
    word: &Word,
    tilde: Tilde,
    options: Options,
) -> Result<Pattern, ExpandError> {
    match word.parts.as_slice() {
        [WordPart::Literal(text)] if !text.contains(&b'~') => Ok(Pattern::new(text, options)),
        [WordPart::Quoted(text)] => Ok(Pattern::literal(text, options)),
        _ => Ok(Pattern::new(&word::joined(env, word, tilde, false)?.escaped(), options)),
    }
}

/// The pattern as text, quoted characters behind backslashes.
pub fn expand_pattern_text(env: &mut dyn Env, word: &Word) -> Result<Vec<u8>, ExpandError> {
    Ok(word::joined(env, word, Tilde::Start, false)?.escaped())
}

/// An extended regular expression; characters of quoted parts are escaped where they
/// would be special.
pub fn expand_regex(env: &mut dyn Env, word: &Word) -> Result<Vec<u8>, ExpandError> {
    let field = lists::tested(env, word, false)?;
    let mut out = Vec::new();
    // In a bracket expression a backslash is an ordinary character: nothing is escaped there.
    let mut bracket = Bracket::Outside;
    field.stretches(|text, quoted| {
        for &byte in text {
            let inside = bracket != Bracket::Outside;
            if quoted && !inside {
                if is_special(byte) {
                    out.push(b'\\');
                }
            } else if !quoted || inside {
                bracket = bracket.after(byte, quoted);
            }
            out.push(byte);
        }
    });
    Ok(out)
}

/// What bash escapes; closing brackets and braces mean nothing without their openings.
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'\\' | b'.' | b'[' | b'*' | b'^' | b'$' | b'+' | b'?' | b'(' | b')' | b'{' | b'|'
    )
}

/// Where a regular expression stands with respect to its bracket expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Outside,
    /// Behind an unquoted backslash.
    Escaped,
    /// Behind `[`: `^` may follow, and `]` is ordinary.
    Opened,
    /// Behind `[^`: `]` is ordinary.
    Negated,
    Inside,
    /// Behind `[` inside: `:`, `=` or `.` may follow.
    InsideOpen,
    /// In `[:name:]` and the like, with the delimiter.
    Class(u8),
    /// As `Class`, behind its closing delimiter.
    ClassEnd(u8),
}

impl Bracket {
    fn after(self, byte: u8, quoted: bool) -> Bracket {
        match (self, byte) {
            (Bracket::Outside, b'[') if !quoted => Bracket::Opened,
            (Bracket::Outside, b'\\') if !quoted => Bracket::Escaped,
            (Bracket::Outside | Bracket::Escaped, _) => Bracket::Outside,
            (Bracket::Opened, b'^') => Bracket::Negated,
            (Bracket::Opened | Bracket::Negated, b']') => Bracket::Inside,
            (Bracket::InsideOpen, b':' | b'=' | b'.') => Bracket::Class(byte),
            (Bracket::Class(delimiter), byte) if byte == delimiter => Bracket::ClassEnd(delimiter),
            (Bracket::ClassEnd(_), b']') => Bracket::Inside,
            (Bracket::Class(delimiter) | Bracket::ClassEnd(delimiter), _) => {
                Bracket::Class(delimiter)
            }
            (_, b']') => Bracket::Outside,
            (_, b'[') => Bracket::InsideOpen,
            _ => Bracket::Inside,
        }
    }
}
