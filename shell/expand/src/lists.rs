//! Lists: `$@`, `$*`, `${a[@]}`, `${a[*]}`, what operators make of them, and words that hold them
//! (bash manual 3.4.2, 3.5.3). What the manual leaves open was found by experiment with bash 5.2.

use sh_syntax::ast::{Arith, HereDoc, Param, ParamName, ParamOp, Subscript, Word, WordPart};
use sh_syntax::parse::{ParseOptions, parse_parameter};

use crate::env::{Env, Lookup};
use crate::error::ExpandError;
use crate::fields::{Field, Fields, Joint, Mode};
use crate::param::{str_of, whole_value};
use crate::split::Ifs;
use crate::subscript::closes_at_end;
use crate::value::{Str, Value};
use crate::word::{self, Expander, Tilde};

type Result<T> = std::result::Result<T, ExpandError>;

/// Whether bash splits a word of `case` or `[[`, because of an `@` list in it: a quoted one, or one
/// where `IFS` does not begin with a space.
pub(crate) fn becomes_words(env: &mut dyn Env, word: &Word) -> bool {
    let quoted = has_quoted_list(env, &word.parts);
    if !quoted && !has_bare_list(env, &word.parts) {
        return false;
    }
    let ifs = Ifs::of(env);
    !ifs.is_null() && (quoted || ifs.separator() != b" ")
}

/// Whether bash splits the pattern of an operator within double quotes, because of an unquoted `@`
/// list in it, also where `IFS` begins with a space.
fn is_split_in_quotes(env: &mut dyn Env, word: &Word) -> bool {
    has_bare_list(env, &word.parts) && !Ifs::of(env).is_null()
}

/// A word of `case` or `[[` as one field; `first`: the pattern of a `case` arm, of which bash takes the
/// first of the words that a quoted list makes. Otherwise they are joined by spaces.
pub(crate) fn tested(env: &mut dyn Env, word: &Word, first: bool) -> Result<Field> {
    if !becomes_words(env, word) {
        return word::joined(env, word, Tilde::Start, false);
    }
    as_words(env, word, Tilde::Start, first)
}

/// A word as text: as [`word::single`], but with the words that an `@` list makes joined by spaces.
pub(crate) fn text(env: &mut dyn Env, word: &Word, tilde: Tilde) -> Result<Str> {
    match becomes_words(env, word) {
        false => word::single(env, word, tilde),
        true => Ok(as_words(env, word, tilde, false)?.into_text()),
    }
}

/// The body of a here-document that holds `@` lists: bash makes words of it, which are joined by spaces.
pub(crate) fn heredoc(env: &mut dyn Env, doc: &HereDoc, lists: usize) -> Result<Str> {
    let mut x = Expander::new(env, Mode::Split);
    x.in_heredoc = true;
    x.beside_lists = lists;
    x.parts(&doc.body.parts, true)?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(by_spaces(x.fields.finish().into_iter()).into_text())
}

/// Fields as one.
fn by_spaces(fields: impl Iterator<Item = Field>) -> Field {
    let mut one = Fields::new(Mode::Join);
    for (at, field) in fields.enumerate() {
        if at > 0 {
            one.push_literal(b" ");
        }
        one.append(&field);
    }
    one.finish_one()
}

/// The pattern of an operator; within double quotes the elements of lists in it are text.
pub(crate) fn operator_field(
    env: &mut dyn Env,
    word: &Word,
    tilde: Tilde,
    quoted: bool,
) -> Result<Field> {
    if becomes_words(env, word) || quoted && is_split_in_quotes(env, word) {
        let mut x = Expander::new(env, Mode::Split);
        x.quotes_lists = quoted;
        return words_of(x, word, tilde, usize::MAX);
    }
    let mut x = Expander::new(env, Mode::Join);
    x.quotes_lists = quoted;
    x.word(&word.parts, tilde)?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(x.fields.finish_one())
}

fn as_words(env: &mut dyn Env, word: &Word, tilde: Tilde, first: bool) -> Result<Field> {
    let count = if first && has_quoted_list(env, &word.parts) { 1 } else { usize::MAX };
    words_of(Expander::new(env, Mode::Split), word, tilde, count)
}

fn words_of(mut x: Expander<'_>, word: &Word, tilde: Tilde, count: usize) -> Result<Field> {
    x.in_operand = true;
    x.splits_text = true;
    x.word(&word.parts, tilde)?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(by_spaces(x.fields.finish().into_iter().take(count)))
}

/// The elements of a list, after what the operator of `param` made of them. True as for
/// [`super::param::expand`].
pub(crate) fn emit(
    x: &mut Expander<'_>,
    param: &Param,
    items: Vec<Str>,
    star: bool,
    quoted: bool,
) -> Result<bool> {
    let led = if param.indirect { led_to(x.env, param) } else { None };
    let name = led.as_ref().map_or(&param.name, |(name, _)| name);
    let positional = matches!(name, ParamName::Special(_));
    let removal = matches!(param.op, ParamOp::RemovePrefix { .. } | ParamOp::RemoveSuffix { .. });
    let split = x.fields.mode == Mode::Split || x.in_operand;
    if removal && !positional && !quoted && split && Ifs::of(x.env).is_null() {
        // One string to bash, which has nothing to split it at.
        let items: Vec<&[u8]> = items.iter().map(|item| item.as_slice()).collect();
        x.value(str_of(items.join(&b' ')), quoted)?;
        return Ok(false);
    }
    let made = !matches!(
        param.op,
        ParamOp::Plain
            | ParamOp::Default { .. }
            | ParamOp::Assign { .. }
            | ParamOp::Alternate { .. }
            | ParamOp::Error { .. }
    );
    // In a here-document with an `@` list `$*` is split as if it were not quoted.
    let unquoted = x.in_heredoc && !made && matches!(name, ParamName::Special(b'*'));
    let quoted = quoted && !unquoted;
    let spaced = removal || matches!(param.op, ParamOp::Substring { .. } | ParamOp::Transform(_));
    if star && made && x.in_heredoc {
        return in_heredoc(x, items, spaced, true);
    }
    if star && made && quoted && x.beside_lists > 0 && x.fields.mode == Mode::Split {
        // Empty, it is a field only if it is made of a scalar.
        let nothing = items.iter().all(|item| item.is_empty());
        if nothing && is_scalar(x, param) {
            if !matches!(param.op, ParamOp::Substring { .. }) {
                x.fields.start();
            }
            return Ok(false);
        }
        if !is_star(x, star, quoted) || nothing {
            return rejoined(x, items);
        }
    }
    let heredoc = x.fields.mode == Mode::HereDoc;
    let by_ifs = x.by_ifs && (!heredoc || made && !star);
    let star = star && !(heredoc && spaced);
    let mode = assigned_mode(x);
    let joint = match &param.op {
        ParamOp::Replace { .. } | ParamOp::Case { .. } if star => Joint::Star,
        ParamOp::RemovePrefix { .. } | ParamOp::RemoveSuffix { .. } => {
            joint(mode, star, positional, quoted, true)
        }
        ParamOp::Replace { .. } | ParamOp::Substring { .. } | ParamOp::Case { .. } => {
            joint(mode, star, positional, quoted, false)
        }
        ParamOp::Transform(_) => joint(mode, star, positional, quoted, true),
        _ => joint(mode, star, positional, false, false),
    };
    let joint = if by_ifs && joint == Joint::At { Joint::AtByIfs } else { joint };
    let null = Ifs::of(x.env).is_null();
    let joined = x.fields.mode == Mode::Join || x.by_ifs;
    let mut items = items;
    if null && star && positional && !quoted && x.in_operand && joined {
        items.retain(|item| !item.is_empty());
    }
    let whole_array = star && !positional;
    let text = !made
        && (x.quotes_lists && (whole_array || !star)
            || null && whole_array && !x.in_operand && x.fields.mode == Mode::Join);
    let glued = x.fields.mode == Mode::Assign
        && !x.by_ifs
        && match param.op {
            ParamOp::Case { .. } => true,
            ParamOp::Replace { .. } => whole_array,
            _ => whole_array && !made,
        };
    let replaced = matches!(param.op, ParamOp::Replace { .. } | ParamOp::Case { .. });
    let scalar = replaced && star && positional;
    x.list_of(items, joint, quoted, Traits { plain: !made, text, glued, scalar, positional })
}

/// Whether `${x[*]}` is of a scalar.
fn is_scalar(x: &mut Expander<'_>, param: &Param) -> bool {
    let ParamName::Variable(name) = &param.name else { return false };
    matches!(x.env.lookup(name), Lookup::Value(Value::Scalar(_)))
}

/// What is assigned by `${x=word}` is joined as in an assignment, wherever that stands.
pub(crate) fn assigned_mode(x: &Expander<'_>) -> Mode {
    match x.fields.mode {
        Mode::Join if x.in_assigned => Mode::Assign,
        mode => mode,
    }
}

/// How a list that an operator made is joined where it must become one string. Found by
/// experiment with bash 5.2: in assignments by `IFS` if it is quoted, and `${@#p}` even
/// unquoted; in a here-document `$*` never is.
pub(crate) fn joint(
    mode: Mode,
    star: bool,
    positional: bool,
    quoted: bool,
    removal: bool,
) -> Joint {
    match mode {
        Mode::HereDoc if positional => Joint::At,
        _ if star => Joint::Star,
        Mode::Assign if quoted || removal => Joint::AtByIfs,
        _ => Joint::At,
    }
}

/// Text in the word of `${x-word}` in a here-document with an `@` list: bash splits it at the
/// characters that matter to tildes.
pub(crate) fn operand_text(x: &mut Expander<'_>, text: &[u8]) {
    x.load_ifs();
    for piece in text.chunk_by(|a, b| is_of_tildes(*a) == is_of_tildes(*b)) {
        match is_of_tildes(piece[0]) {
            true => x.fields.push_split(piece),
            false => x.fields.push_quoted(piece),
        }
    }
}

fn is_of_tildes(byte: u8) -> bool {
    matches!(byte, b':' | b'=' | b'~')
}

/// What an operator made of a `*` list in a here-document with an `@` list: joined by spaces, or else
/// by `IFS`, and split there; what is not `quoted` is split, too.
pub(crate) fn in_heredoc(
    x: &mut Expander<'_>,
    items: Vec<Str>,
    spaced: bool,
    quoted: bool,
) -> Result<bool> {
    let ifs = Ifs::of(x.env);
    x.load_ifs();
    for (at, item) in items.into_iter().enumerate() {
        match spaced {
            _ if at == 0 => {}
            true if ifs.is_null() => x.fields.end_field_if_any(),
            true => x.fields.push_split(b" "),
            false => x.fields.push_split(ifs.separator()),
        }
        x.value(item, quoted)?;
    }
    Ok(false)
}

fn is_blank(separator: &[u8]) -> bool {
    matches!(separator, b" " | b"\t" | b"\n")
}

/// A `*` list beside an `@` list: one string that is taken apart again, so that empty elements at
/// its end vanish, and between blanks, too.
fn rejoined(x: &mut Expander<'_>, items: Vec<Str>) -> Result<bool> {
    x.load_ifs();
    let separator = x.fields.ifs().map(|ifs| ifs.separator().to_vec()).unwrap_or_default();
    for (at, item) in items.into_iter().enumerate() {
        // Blanks at the beginning of double quotes are none to bash as it splits.
        let nothing_yet = x.quotes_began == Some(x.fields.mark());
        if at > 0 && !(nothing_yet && is_blank(&separator)) {
            x.fields.part(&separator);
        }
        x.value(item, true)?;
    }
    Ok(false)
}

/// How many `@` lists are among the parts: bash then makes several words of them, also where an
/// operator on a `*` list left separators. A list in whose place a word stands is none.
pub(crate) fn count_lists(env: &mut dyn Env, parts: &[WordPart]) -> usize {
    let mut count = |part: &WordPart| match part {
        WordPart::Param(p) => {
            let inside = operand(p).map_or(0, |word| count_lists(env, &word.parts));
            match is_list(env, p) || inside > 0 {
                true if operand(p).is_some() && uses_word(env, p) => inside,
                own => usize::from(own && is_list(env, p)),
            }
        }
        WordPart::DoubleQuoted(parts) => count_lists(env, parts),
        _ => 0,
    };
    parts.iter().map(&mut count).sum()
}

/// Whether there is an `@` list outside double quotes, also one that an operand brings in.
pub(crate) fn has_bare_list(env: &mut dyn Env, parts: &[WordPart]) -> bool {
    parts.iter().any(|part| match part {
        WordPart::Param(p) => {
            let inside = operand(p).is_some_and(|word| {
                has_bare_list(env, &word.parts)
                    || is_assignment(p) && has_quoted_elements(env, &word.parts)
            });
            match is_list(env, p) || inside {
                true if operand(p).is_some() && bare_uses_word(env, p) => inside,
                own => own && is_list(env, p),
            }
        }
        _ => false,
    })
}

/// Whether there is an `@` list in double quotes, also one that an operand brings in.
pub(crate) fn has_quoted_list(env: &mut dyn Env, parts: &[WordPart]) -> bool {
    parts.iter().any(|part| match part {
        WordPart::DoubleQuoted(inside) => count_lists(env, inside) > 0,
        WordPart::Param(p) if !is_assignment(p) => operand(p).is_some_and(|word| {
            has_quoted_list(env, &word.parts) && !is_empty_list(env, word) && uses_word(env, p)
        }),
        _ => false,
    })
}

/// As [`has_quoted_list`], lists without elements left aside.
fn has_quoted_elements(env: &mut dyn Env, parts: &[WordPart]) -> bool {
    has_quoted_list(env, parts)
        && parts.iter().any(|part| match part {
            WordPart::DoubleQuoted(inside) => inside.iter().any(|part| match part {
                WordPart::Param(p) if is_list(env, p) => list_length(env, p) > 0,
                _ => count_lists(env, std::slice::from_ref(part)) > 0,
            }),
            part => has_quoted_list(env, std::slice::from_ref(part)),
        })
}

/// Whether there is an `@` list in double quotes for which bash splits the word of an operator: one
/// that a nested operand brings in only if it has several elements.
pub(crate) fn has_splitting_list(env: &mut dyn Env, parts: &[WordPart], nested: bool) -> bool {
    parts.iter().any(|part| match part {
        WordPart::DoubleQuoted(inside) => {
            count_lists(env, inside) > 0 && (!nested || has_several(env, inside))
        }
        WordPart::Param(p) if !is_assignment(p) => operand(p)
            .is_some_and(|word| has_splitting_list(env, &word.parts, true) && uses_word(env, p)),
        _ => false,
    })
}

/// Whether there is an `@` list of several elements, slices left aside.
fn has_several(env: &mut dyn Env, parts: &[WordPart]) -> bool {
    parts.iter().any(|part| match part {
        WordPart::Param(p) if is_list(env, p) => list_length(env, p) > 1,
        WordPart::Param(p) => operand(p).is_some_and(|word| has_several(env, &word.parts)),
        WordPart::DoubleQuoted(parts) => has_several(env, parts),
        _ => false,
    })
}

/// How many elements the list has, slices left aside; a scalar is one at most.
fn list_length(env: &mut dyn Env, p: &Param) -> usize {
    let led = if p.indirect { led_to(env, p) } else { None };
    match led.as_ref().map_or(&p.name, |(name, _)| name) {
        ParamName::Variable(name) => match env.lookup(name) {
            Lookup::Value(Value::Indexed(array)) => array.len(),
            Lookup::Value(Value::Assoc(array)) => array.len(),
            Lookup::Value(_) => 1,
            Lookup::Unset | Lookup::Nameref => 0,
        },
        _ => env.positional().len(),
    }
}

/// Whether the word is quoted `@` lists without elements and nothing else.
fn is_empty_list(env: &mut dyn Env, word: &Word) -> bool {
    word.parts.iter().all(|part| {
        let WordPart::DoubleQuoted(inside) = part else { return false };
        let [WordPart::Param(p)] = inside.as_slice() else { return false };
        is_list(env, p) && list_length(env, p) == 0
    })
}

/// `${x=word}`: what it assigns is one string, whatever lists are in it.
fn is_assignment(p: &Param) -> bool {
    matches!(p.op, ParamOp::Assign { .. })
}

/// The word that may stand in the place of a parameter.
fn operand(p: &Param) -> Option<&Word> {
    match &p.op {
        ParamOp::Default { word, .. }
        | ParamOp::Assign { word, .. }
        | ParamOp::Alternate { word, .. } => Some(word),
        _ => None,
    }
}

/// Whether `${x-word}` and the like will be their word, as far as that is easily told.
fn uses_word(env: &mut dyn Env, p: &Param) -> bool {
    uses_word_of(env, p, true)
}

/// As [`uses_word`], without quotes.
fn bare_uses_word(env: &mut dyn Env, p: &Param) -> bool {
    let nullable = !(is_list(env, p) && is_never_null(env));
    uses_word_of(env, p, nullable)
}

/// Whether the `IFS` is one with which an unquoted `@` list of one empty element is not null where
/// it is joined by spaces.
pub(crate) fn is_never_null(env: &mut dyn Env) -> bool {
    !matches!(Ifs::of(env).separator(), b"" | b" ")
}

/// `nullable`: a null value may count as none.
fn uses_word_of(env: &mut dyn Env, p: &Param, nullable: bool) -> bool {
    match p.op {
        ParamOp::Alternate { colon, .. } => is_there(env, p, colon && nullable).unwrap_or(true),
        ParamOp::Default { colon, .. } | ParamOp::Assign { colon, .. } => {
            !is_there(env, p, colon && nullable).unwrap_or(false)
        }
        _ => true,
    }
}

/// Whether a parameter is set, with `colon` also not null, if that is easily told.
fn is_there(env: &mut dyn Env, p: &Param, colon: bool) -> Option<bool> {
    let led;
    let (name, subscript) = match p.indirect {
        false => (&p.name, &p.subscript),
        true => {
            led = led_to(env, p)?;
            (&led.0, &led.1)
        }
    };
    let there = |text: Option<&Str>| text.is_some_and(|text| !(colon && text.is_empty()));
    let many = |count: usize, first: Option<&Str>| count > 1 || there(first);
    Some(match (name, subscript) {
        (ParamName::Positional(n), None) => there(env.positional().get(*n as usize - 1)),
        (ParamName::Special(b'@' | b'*'), None) => {
            let items = env.positional();
            many(items.len(), items.first())
        }
        (ParamName::Variable(name), _) if env.nameref(name).is_some() => return None,
        (ParamName::Variable(name), None) if is_used_up(name) => env.is_declared(name),
        (ParamName::Variable(name), None) => there(whole_value(env, name).as_ref()),
        (ParamName::Variable(name), Some(Subscript::Expr(key))) => {
            let text = simple_text(env, &key.word.parts)?;
            let value = env.get(name);
            if let Some(Value::Assoc(array)) = &value {
                return Some(there(array.get(&text)));
            }
            let index = simple_index(env, key, &text)?;
            match value {
                Some(Value::Scalar(text)) => index == 0 && there(Some(&text)),
                Some(Value::Indexed(array)) => there(array.get(array.resolve(index)?)),
                _ => false,
            }
        }
        (ParamName::Variable(name), Some(Subscript::At | Subscript::Star)) => match env.get(name) {
            None => false,
            Some(Value::Scalar(text)) => there(Some(&text)),
            Some(Value::Indexed(array)) => many(array.len(), array.values().next()),
            Some(Value::Assoc(array)) => many(array.len(), array.values().next()),
        },
        _ => return None,
    })
}

/// Whether to look at a variable takes a number from it, which is not to be done before its time.
fn is_used_up(name: &[u8]) -> bool {
    matches!(name, b"RANDOM" | b"SRANDOM")
}

/// The text of a subscript made of text and plain variables.
fn simple_text(env: &mut dyn Env, parts: &[WordPart]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for part in parts {
        match part {
            WordPart::Literal(part) | WordPart::Quoted(part) => text.extend_from_slice(part),
            WordPart::DoubleQuoted(parts) => text.extend(simple_text(env, parts)?),
            WordPart::Param(p) => {
                let name = crate::param::plain_name(p).filter(|name| !is_used_up(name))?;
                match env.lookup(name) {
                    Lookup::Value(Value::Scalar(value)) => text.extend_from_slice(&value),
                    Lookup::Unset if !env.options().nounset => {}
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    Some(text)
}

/// The index that a subscript is whose text is `text`, if that is a sum of numbers and of variables
/// that hold numbers: nothing that has an effect.
fn simple_index(env: &mut dyn Env, key: &Arith, text: &[u8]) -> Option<i64> {
    let is_name = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_';
    let number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    for word in text.chunk_by(|a, b| is_name(a) == is_name(b)) {
        let fine = match word {
            [b' ' | b'+' | b'-'] => true,
            [b'0', _, ..] => false,
            word if number(word) => true,
            word if is_used_up(word) => false,
            word if is_name(&word[0]) => match env.lookup(word) {
                Lookup::Value(Value::Scalar(value)) => {
                    !value.starts_with(b"0") && number(&value) && value.len() < 10
                }
                Lookup::Unset => !env.options().nounset,
                _ => false,
            },
            _ => false,
        };
        if !fine {
            return None;
        }
    }
    crate::arith::eval(env, key).ok()
}

fn is_list(env: &mut dyn Env, p: &Param) -> bool {
    match &p.op {
        ParamOp::Length => false,
        ParamOp::Bad { .. } => is_bad_list(p),
        ParamOp::Keys { at } | ParamOp::NamesWithPrefix { at } => *at,
        _ if p.indirect => led_to(env, p).is_some_and(|(name, sub)| is_at(&name, sub.as_ref())),
        _ => is_at(&p.name, p.subscript.as_ref()),
    }
}

/// Whether a bad substitution, which may pass as nothing where there are no elements, is one of an
/// `@` list.
pub(crate) fn is_bad_list(p: &Param) -> bool {
    p.raw.starts_with(b"${@") || p.raw.windows(3).any(|part| part == b"[@]")
}

fn is_at(name: &ParamName, subscript: Option<&Subscript>) -> bool {
    matches!(name, ParamName::Special(b'@')) || subscript == Some(&Subscript::At)
}

/// The parameter that `${!p}` stands for, if that is easily told.
fn led_to(env: &mut dyn Env, p: &Param) -> Option<(ParamName, Option<Subscript>)> {
    let text = match (&p.name, &p.subscript) {
        (ParamName::Positional(n), None) => {
            env.positional().get((*n as usize).wrapping_sub(1)).cloned()?
        }
        (ParamName::Variable(name), None) if env.nameref(name).is_none() && !is_used_up(name) => {
            whole_value(env, name)?
        }
        _ => return None,
    };
    parse_parameter(&text, &ParseOptions::default()).filter(|_| closes_at_end(&text))
}

/// A `*` list that an operator made, which counts as an `@` list beside another one.
pub(crate) fn is_star(x: &mut Expander<'_>, star: bool, quoted: bool) -> bool {
    star && !(quoted
        && x.beside_lists > 0
        && x.fields.mode == Mode::Split
        && !Ifs::of(x.env).is_null())
}

/// What else is to be known about a list.
#[derive(Clone, Copy, Debug, Default)]
struct Traits {
    /// No operator had a part in it.
    plain: bool,
    /// As a pattern, the elements match themselves.
    text: bool,
    /// A `*` list that is joined by `IFS`, even if that is null, in the word of an operator, too.
    glued: bool,
    /// What it makes is split as the value of a scalar is.
    scalar: bool,
    /// `$@` or `$*`.
    positional: bool,
}

impl Expander<'_> {
    /// The elements of `$@`, `$*`, `${a[@]}`, `${a[*]}`. Whether there were none of an `@` list.
    /// `scalar`: what it makes is split as the value of a scalar is.
    pub(crate) fn list(
        &mut self,
        items: Vec<Str>,
        joint: Joint,
        quoted: bool,
        scalar: bool,
    ) -> Result<bool> {
        let joint = if self.by_ifs && joint == Joint::At { Joint::AtByIfs } else { joint };
        self.list_of(items, joint, quoted, Traits { scalar, ..Traits::default() })
    }

    /// As [`Expander::list`].
    fn list_of(
        &mut self,
        items: Vec<Str>,
        joint: Joint,
        quoted: bool,
        Traits { plain, text, glued, scalar, positional }: Traits,
    ) -> Result<bool> {
        let star = joint == Joint::Star;
        let split = self.fields.mode == Mode::Split;
        if split && !scalar && !(star && (quoted || self.in_operand)) {
            self.fields.note_list();
        }
        if items.is_empty() {
            return Ok(!star);
        }
        self.load_ifs();
        let first = self.fields.ifs().map(|ifs| ifs.separator().to_vec()).unwrap_or_default();
        let separator = match joint {
            // Joined by spaces, and split then.
            Joint::Star if split && self.in_heredoc && !quoted && !first.is_empty() => {
                b" ".to_vec()
            }
            _ if split => first,
            // The word of an operator is made of words, which are joined by spaces.
            Joint::Star
                if first.is_empty() && !quoted && !glued && (self.in_operand || self.by_ifs) =>
            {
                b" ".to_vec()
            }
            Joint::Star => first,
            Joint::AtByIfs if !first.is_empty() => first,
            Joint::At | Joint::AtByIfs => b" ".to_vec(),
        };
        let one_string = split && self.in_operand || self.fields.mode == Mode::Join;
        if joint == Joint::At && one_string && !quoted {
            let first = self.fields.ifs().map(|ifs| ifs.separator()).unwrap_or_default();
            if !matches!(first, b"" | b" ") {
                // In `${x-$@}` only the blanks between the elements are split then, if at all;
                // and as a pattern, the elements are text.
                // What an operator made is split like anything else.
                let separator = if plain { b" ".to_vec() } else { separator };
                let ends = plain && positional && self.beside_quoted_list;
                for (at, item) in items.iter().enumerate() {
                    match ends {
                        _ if at == 0 => {}
                        true => self.fields.end_field(),
                        false => self.fields.push_split(&separator),
                    }
                    match plain {
                        true => self.fields.push_quoted(item),
                        false => self.fields.push_split(item),
                    }
                }
                return Ok(false);
            }
        }
        // An empty element alone is nothing behind what a delimiter ended.
        let starts = quoted && !(self.fields.is_parted() && items.len() == 1);
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                match (split, quoted) {
                    (true, true) if star => self.fields.push_joint(&separator, true),
                    (true, true) => self.fields.end_field(),
                    // Joined by the first of IFS and split again: with blanks in front empty
                    // elements vanish, with a delimiter they stay, as in bash.
                    (true, false) if separator.is_empty() => self.fields.end_field_if_any(),
                    (true, false) if text => self.fields.push_quoted(&separator),
                    (true, false) => self.fields.push_split(&separator),
                    // Traces show the blanks between the elements of `"$@"` unquoted.
                    (false, _) => self.fields.push_joint(&separator, quoted && star),
                }
            }
            self.value(item, quoted || text)?;
        }
        if starts {
            self.fields.start();
        }
        Ok(false)
    }
}
