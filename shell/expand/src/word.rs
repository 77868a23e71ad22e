//! The entry points, one for each place that a word can stand in, which determines the phases that
//! the word goes through.

use sh_syntax::ast::{HereDoc, Word, WordPart};

use crate::attributed::str_of;
use crate::brace;
use crate::env::{ExpandEnv, VarLookup};
use crate::error::{ExpandCause, ExpandError};
use crate::field::SplitField;
use crate::param;
use crate::parts::{Expander, Purpose};
use crate::pathname::PendingPathnames;
use crate::split::{self, Ifs};
use crate::tilde::Tilde;
use crate::value::{Str, VarValue};

type Result<T> = std::result::Result<T, ExpandError>;

/// Performs all expansions on words: braces, tildes, parameters, commands, arithmetic, splitting,
/// pathnames, quote removal (bash manual 3.5).
///
/// # Errors
/// Returns the error of the first failing expansion, or a limit hit in [`ExpandEnv::charge`].
pub fn expand_words(env: &mut dyn ExpandEnv, words: &[Word]) -> Result<Vec<Str>> {
    let mut out = Vec::with_capacity(words.len());
    let mut late = PendingPathnames::default();
    for word in words {
        expand_word_into(env, word, &mut out, &mut late)?;
    }
    late.finish_paths(env, &mut out)?;
    Ok(out)
}

/// Expands one word as [`expand_words`] does and appends the fields to `out`.
///
/// # Errors
/// As there.
pub fn expand_word_into(
    env: &mut dyn ExpandEnv,
    word: &Word,
    out: &mut Vec<Str>,
    late: &mut PendingPathnames,
) -> Result<()> {
    expand_into(env, &word.parts, Tilde::Word, out, late)
}

/// Expands a word as [`expand_word_into`] does, with the given mode for tildes, because elements of
/// arrays never count as assignments.
pub(crate) fn expand_into(
    env: &mut dyn ExpandEnv,
    parts: &[WordPart],
    tilde: Tilde,
    out: &mut Vec<Str>,
    late: &mut PendingPathnames,
) -> Result<()> {
    if let Some(text) = plain_text(parts) {
        out.push(text);
        return Ok(());
    }
    if let Some(text) = plain_variable(env, parts)? {
        env.charge(text.len())?;
        out.push(text);
        return Ok(());
    }
    if env.options().braceexpand && expand_braces_into(env, parts, out, late)? {
        return Ok(());
    }
    expand_fields(env, parts, tilde, out, late)
}

/// Expands a word if it contains braces to expand, and returns whether it did.
///
/// # Errors
/// The same as [`expand_words`].
pub fn expand_braces_into(
    env: &mut dyn ExpandEnv,
    parts: &[WordPart],
    out: &mut Vec<Str>,
    late: &mut PendingPathnames,
) -> Result<bool> {
    let Some(words) = brace::expand_braces(env, parts)? else { return Ok(false) };
    for parts in &words {
        match plain_text(parts) {
            Some(text) => out.push(text),
            // In bash, the result of brace expansion is never an assignment, even if it looks like
            // one.
            None => expand_fields(env, parts, Tilde::Start, out, late)?,
        }
    }
    Ok(true)
}

/// Runs the phases after brace expansion. Fields that are patterns are added to `late`.
fn expand_fields(
    env: &mut dyn ExpandEnv,
    parts: &[WordPart],
    tilde: Tilde,
    out: &mut Vec<Str>,
    late: &mut PendingPathnames,
) -> Result<()> {
    let mut expander = Expander::new(env, Purpose::Fields);
    expander.expand_word(parts, tilde)?;
    let phrase = expander.phrase;
    for field in split::split_phrase(env, phrase) {
        late.add_field(env.options(), field, out);
    }
    Ok(())
}

/// Returns the text of a word without anything to expand.
fn plain_text(parts: &[WordPart]) -> Option<Str> {
    let text = match parts {
        [WordPart::Literal(text)] => {
            let active = |b: &u8| matches!(b, b'{' | b'~' | b'*' | b'?' | b'[' | b'(');
            // `[` alone is the most common word with a pattern character in it.
            if text.iter().any(active) && **text != *b"[" {
                return None;
            }
            text
        }
        [WordPart::Quoted(text)] => text,
        [WordPart::DoubleQuoted(parts)] => match parts.as_slice() {
            [WordPart::Quoted(text)] => text,
            _ => return None,
        },
        _ => return None,
    };
    Some(text.clone())
}

/// Returns the value of `"$x"`, or of `$x` if the value neither splits nor holds pattern
/// characters.
fn plain_variable(env: &mut dyn ExpandEnv, parts: &[WordPart]) -> Result<Option<Str>> {
    let (param, quoted) = match parts {
        [WordPart::DoubleQuoted(parts)] => match parts.as_slice() {
            [WordPart::Param(param)] => (param, true),
            _ => return Ok(None),
        },
        [WordPart::Param(param)] => (param, false),
        _ => return Ok(None),
    };
    let Some(name) = param::plain_name(param) else { return Ok(None) };
    let VarLookup::Value(VarValue::Scalar(text)) = env.lookup(name) else { return Ok(None) };
    if quoted {
        return Ok(Some(text));
    }
    let special = |b: &u8| matches!(b, b'*' | b'?' | b'[' | b'(' | b'\\');
    if text.is_empty() || text.iter().any(special) {
        return Ok(None);
    }
    let ifs = Ifs::from_env(env);
    Ok((ifs.ordinary_run(&text) == text.len()).then_some(text))
}

/// Expands a word to one string, without brace expansion, splitting or pathname expansion, for
/// example the subject of `case` or an operand of `[[`.
///
/// # Errors
/// The same as [`expand_words`].
pub fn expand_single(env: &mut dyn ExpandEnv, word: &Word) -> Result<Str> {
    expand_text(env, word, Tilde::Start)
}

/// Expands the value of an assignment or a here-string as [`expand_single`] does, and also tildes
/// after colons.
///
/// # Errors
/// The same as [`expand_words`].
pub fn expand_assignment_value(env: &mut dyn ExpandEnv, word: &Word) -> Result<Str> {
    expand_text(env, word, Tilde::Assignment)
}

/// Expands a word to one string.
pub(crate) fn expand_text(env: &mut dyn ExpandEnv, word: &Word, tilde: Tilde) -> Result<Str> {
    match word.parts.as_slice() {
        [] => return Ok(Str::default()),
        [WordPart::Literal(text)] if !text.contains(&b'~') => return Ok(text.clone()),
        [WordPart::Quoted(text)] => return Ok(text.clone()),
        [WordPart::Param(param)] => {
            if let Some(name) = param::plain_name(param)
                && let VarLookup::Value(VarValue::Scalar(text)) = env.lookup(name)
            {
                return Ok(text);
            }
        }
        [WordPart::CommandSub(sub)] => {
            let text = env.command_sub(sub)?;
            env.charge(text.len())?;
            return Ok(str_of(text));
        }
        _ => {}
    }
    Ok(one_field(env, &word.parts, tilde)?.strip_quotes())
}

/// Expands a word to one field, which records its quoted parts.
pub(crate) fn one_field(
    env: &mut dyn ExpandEnv,
    parts: &[WordPart],
    tilde: Tilde,
) -> Result<SplitField> {
    let mut expander = Expander::new(env, Purpose::Text);
    expander.expand_word(parts, tilde)?;
    Ok(expander.phrase.join())
}

/// Expands parts within double quotes to one string.
pub(crate) fn quoted_text(env: &mut dyn ExpandEnv, parts: &[WordPart]) -> Result<Str> {
    let mut expander = Expander::new(env, Purpose::Text);
    expander.expand_quoted(parts)?;
    Ok(expander.phrase.join().strip_quotes())
}

/// Expands the body of a here-document as if it were in double quotes, but with double quotes as
/// ordinary characters.
///
/// # Errors
/// The same as [`expand_words`].
pub fn expand_heredoc(env: &mut dyn ExpandEnv, doc: &HereDoc) -> Result<Str> {
    quoted_text(env, &doc.body.parts)
}

/// Expands the file name of a redirection.
///
/// # Errors
/// `word: ambiguous redirect` unless the word expands to exactly one field. In POSIX mode there is
/// neither splitting nor pathname expansion, so that only a word that expands to nothing is
/// ambiguous.
pub fn expand_redirect_target(env: &mut dyn ExpandEnv, word: &Word) -> Result<Str> {
    let ambiguous = || ExpandCause::Ambiguous(word.raw.to_vec()).into();
    if env.options().posix {
        let mut expander = Expander::new(env, Purpose::Text);
        expander.expand_word(&word.parts, Tilde::Start)?;
        return if expander.phrase.is_absent() {
            Err(ambiguous())
        } else {
            Ok(expander.phrase.join().strip_quotes())
        };
    }
    let mut out = expand_words(env, std::slice::from_ref(word))?;
    match (out.pop(), out.is_empty()) {
        (Some(field), true) => Ok(field),
        _ => Err(ambiguous()),
    }
}
