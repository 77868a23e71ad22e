//! Words as patterns (`case`, `[[ == ]]`, `${x#p}`) and as regular expressions (`[[ =~ ]]`).

use box_text::glob::{GlobOptions, GlobPattern};
use sh_syntax::ast::{Word, WordPart};

use crate::env::ExpandEnv;
use crate::error::ExpandError;
use crate::tilde::Tilde;
use crate::word;

/// Returns the pattern of a `case` arm as [`expand_pattern`] does, but with groups such as `@(a|b)`
/// only under `extglob`.
///
/// # Errors
/// Returns the errors of the expansions.
pub fn expand_arm_pattern(
    env: &mut dyn ExpandEnv,
    word: &Word,
) -> Result<GlobPattern, ExpandError> {
    let options = match_options(env, env.options().extglob, env.options().nocasematch);
    compile_pattern(env, word, options)
}

/// Returns the pattern of `[[ x == word ]]`: quoted parts match literally, `extglob` is on, and
/// `nocasematch` applies.
///
/// # Errors
/// Returns the errors of the expansions.
pub fn expand_pattern(env: &mut dyn ExpandEnv, word: &Word) -> Result<GlobPattern, ExpandError> {
    let options = match_options(env, true, env.options().nocasematch);
    compile_pattern(env, word, options)
}

/// Returns the pattern as [`expand_pattern`] does, with the text that `set -x` shows: a backslash
/// before every quoted character.
///
/// # Errors
/// Returns the errors of the expansions.
pub fn expand_pattern_traced(
    env: &mut dyn ExpandEnv,
    word: &Word,
) -> Result<(GlobPattern, Vec<u8>), ExpandError> {
    let options = match_options(env, true, env.options().nocasematch);
    let field = word::one_field(env, &word.parts, Tilde::Start)?;
    let mut shown = Vec::new();
    field.for_each_stretch(|text, quoted| {
        for &byte in text {
            // A backslash must not come between the bytes of a character.
            if quoted && byte & 0xC0 != 0x80 {
                shown.push(b'\\');
            }
            shown.push(byte);
        }
    });
    Ok((GlobPattern::new(&field.escaped_pattern(), options), shown))
}

/// Returns the pattern of `${x^p}` and similar operators, which may have groups even without
/// `extglob`; `None` if the word expands to nothing, which has the same effect as no word. In bash,
/// a quoted empty text is a pattern that matches no character.
pub(crate) fn case_pattern(
    env: &mut dyn ExpandEnv,
    word: &Word,
) -> Result<Option<GlobPattern>, ExpandError> {
    let options = match_options(env, true, false);
    let text = word::one_field(env, &word.parts, Tilde::Start)?.escaped_pattern();
    let has_quotes =
        word.parts.iter().any(|p| matches!(p, WordPart::Quoted(_) | WordPart::DoubleQuoted(_)));
    Ok((!text.is_empty() || has_quotes).then(|| GlobPattern::new(&text, options)))
}

/// Returns the pattern of `${x#p}` and similar operators.
pub(crate) fn operator_pattern(
    env: &mut dyn ExpandEnv,
    word: &Word,
) -> Result<GlobPattern, ExpandError> {
    let options = match_options(env, env.options().extglob, false);
    compile_pattern(env, word, options)
}

pub(crate) fn match_options(env: &dyn ExpandEnv, extglob: bool, ignore_case: bool) -> GlobOptions {
    GlobOptions { extglob, ignore_case, utf8: !env.options().c_locale, ..GlobOptions::default() }
}

fn compile_pattern(
    env: &mut dyn ExpandEnv,
    word: &Word,
    options: GlobOptions,
) -> Result<GlobPattern, ExpandError> {
    match word.parts.as_slice() {
        [WordPart::Literal(text)] if !text.contains(&b'~') => Ok(GlobPattern::new(text, options)),
        [WordPart::Quoted(text)] => Ok(GlobPattern::literal(text, options)),
        parts => {
            let field = word::one_field(env, parts, Tilde::Start)?;
            Ok(GlobPattern::new(&field.escaped_pattern(), options))
        }
    }
}

/// Returns the pattern as text, with quoted characters after backslashes.
///
/// # Errors
/// Returns the errors of the expansions.
pub fn expand_pattern_text(env: &mut dyn ExpandEnv, word: &Word) -> Result<Vec<u8>, ExpandError> {
    Ok(word::one_field(env, &word.parts, Tilde::Start)?.escaped_pattern())
}

/// Returns an extended regular expression; characters of quoted parts are escaped where they would
/// be special.
///
/// # Errors
/// Returns the errors of the expansions.
pub fn expand_regex(env: &mut dyn ExpandEnv, word: &Word) -> Result<Vec<u8>, ExpandError> {
    let field = word::one_field(env, &word.parts, Tilde::Start)?;
    let mut out = Vec::new();
    // In a bracket expression a backslash is an ordinary character, so nothing is escaped there.
    let mut bracket = BracketState::Outside;
    field.for_each_stretch(|text, quoted| {
        for &byte in text {
            let inside = bracket != BracketState::Outside;
            if quoted && !inside {
                if is_special(byte) {
                    out.push(b'\\');
                }
            } else if !quoted || inside {
                bracket = bracket.next_state(byte, quoted);
            }
            out.push(byte);
        }
    });
    Ok(out)
}

/// Returns whether bash escapes a byte. Closing brackets and braces are not escaped, because they
/// have no meaning without an opening one.
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'\\' | b'.' | b'[' | b'*' | b'^' | b'$' | b'+' | b'?' | b'(' | b')' | b'{' | b'|'
    )
}

/// The state of a scan over a regular expression with respect to its bracket expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BracketState {
    Outside,
    /// Behind an unquoted backslash.
    Escaped,
    /// Behind `[`: `^` may follow, and `]` is ordinary.
    Opened,
    /// Behind `[^`: `]` is ordinary.
    Negated,
    Inside,
    /// After a `[` inside the brackets: `:`, `=` or `.` may follow.
    InsideOpen,
    /// In a class such as `[:name:]`, with the delimiter.
    Class(u8),
    /// In a class, after its closing delimiter.
    ClassEnd(u8),
}

impl BracketState {
    fn next_state(self, byte: u8, quoted: bool) -> BracketState {
        match (self, byte) {
            (BracketState::Outside, b'[') if !quoted => BracketState::Opened,
            (BracketState::Outside, b'\\') if !quoted => BracketState::Escaped,
            (BracketState::Outside | BracketState::Escaped, _) => BracketState::Outside,
            (BracketState::Opened, b'^') => BracketState::Negated,
            (BracketState::Opened | BracketState::Negated, b']') => BracketState::Inside,
            (BracketState::InsideOpen, b':' | b'=' | b'.') => BracketState::Class(byte),
            (BracketState::Class(delimiter), byte) if byte == delimiter => {
                BracketState::ClassEnd(delimiter)
            }
            (BracketState::ClassEnd(_), b']') => BracketState::Inside,
            (BracketState::Class(delimiter) | BracketState::ClassEnd(delimiter), _) => {
                BracketState::Class(delimiter)
            }
            (_, b']') => BracketState::Outside,
            (_, b'[') => BracketState::InsideOpen,
            _ => BracketState::Inside,
        }
    }
}
