//! Lists: `$@`, `$*`, `${a[@]}`, `${a[*]}`, what operators make of them, and words that hold them
//! (bash manual 3.4.2, 3.5.3). What the manual leaves open was found by experiment with bash 5.2.

use sh_syntax::ast::{Param, ParamName, ParamOp, Subscript, Word, WordPart};

use crate::env::Env;
use crate::error::ExpandError;
use crate::fields::{Field, Fields, Joint, Mode};
use crate::param::{str_of, whole_value};
use crate::split::{self, Ifs};
use crate::value::Str;
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

/// The pattern of an operator; within double quotes the elements of lists in it are text.
pub(crate) fn operator_field(
    env: &mut dyn Env,
    word: &Word,
    tilde: Tilde,
    quoted: bool,
) -> Result<Field> {
    if becomes_words(env, word) {
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
    let mut one = Fields::new(Mode::Join);
    for (at, field) in x.fields.finish().into_iter().take(count).enumerate() {
        if at > 0 {
            one.push_literal(b" ");
        }
        one.append(&field);
    }
    Ok(one.finish_one())
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
    let positional = matches!(param.name, ParamName::Special(_));
    if x.fields.mode == Mode::HereDoc
        && x.beside_lists > 0
        && matches!(param.name, ParamName::Special(b'*'))
        && matches!(param.op, ParamOp::Plain)
    {
        // Beside an `@` list bash splits it, and joins the words by spaces.
        let ifs = Ifs::of(x.env);
        let words: Vec<Str> =
            items.iter().flat_map(|item| split::split_fields(item, &ifs)).collect();
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_slice()).collect();
        let mut text = words.join(&b' ');
        let end = items.last().and_then(|item| item.last());
        if end.is_some_and(|b| ifs.is_blank(*b)) {
            text.push(b' ');
        }
        x.value(str_of(text), quoted)?;
        return Ok(false);
    }
    let removal = matches!(param.op, ParamOp::RemovePrefix { .. } | ParamOp::RemoveSuffix { .. });
    if removal && !positional && !quoted && Ifs::of(x.env).is_null() {
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
    let parted = star && made && !is_star(x, star, quoted);
    if parted {
        return rejoined(x, items);
    }
    let spaced = matches!(param.op, ParamOp::Substring { .. } | ParamOp::Transform(_));
    let star = star && !(x.fields.mode == Mode::HereDoc && (removal || spaced));
    let joint = match &param.op {
        ParamOp::RemovePrefix { .. } | ParamOp::RemoveSuffix { .. } => {
            joint(x.fields.mode, star, positional, quoted, true)
        }
        ParamOp::Replace { .. } | ParamOp::Substring { .. } | ParamOp::Case { .. } => {
            joint(x.fields.mode, star, positional, quoted, false)
        }
        ParamOp::Transform(_) => joint(x.fields.mode, star, positional, quoted, true),
        _ => joint(x.fields.mode, star, positional, false, false),
    };
    let by_ifs = x.by_ifs || x.in_assigned && made && quoted;
    let joint = if by_ifs && joint == Joint::At { Joint::AtByIfs } else { joint };
    let null = crate::split::Ifs::of(x.env).is_null();
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
    x.list_of(items, joint, quoted, Traits { plain: !made, text, glued })
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

/// A `*` list beside an `@` list: one string that is taken apart again, so that empty elements at
/// its end vanish, and between blanks, too.
fn rejoined(x: &mut Expander<'_>, items: Vec<Str>) -> Result<bool> {
    x.load_ifs();
    let separator = x.fields.ifs().map(|ifs| ifs.separator().to_vec()).unwrap_or_default();
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            x.fields.part(&separator);
        }
        x.value(item, true)?;
    }
    Ok(false)
}

/// How many `@` lists are among the parts: bash then makes several words of them, also where an
/// operator on a `*` list left separators.
pub(crate) fn count_lists(env: &mut dyn Env, parts: &[WordPart]) -> usize {
    let mut count = |part: &WordPart| match part {
        WordPart::Param(p) => {
            let word = match &p.op {
                ParamOp::Default { word, .. }
                | ParamOp::Assign { word, .. }
                | ParamOp::Alternate { word, .. } => match count_lists(env, &word.parts) {
                    0 => 0,
                    lists if uses_word(env, p) => lists,
                    _ => 0,
                },
                _ => 0,
            };
            usize::from(is_list(p)) + word
        }
        WordPart::DoubleQuoted(parts) => count_lists(env, parts),
        _ => 0,
    };
    parts.iter().map(&mut count).sum()
}

/// Whether there is an `@` list outside double quotes, also one that an operand brings in.
pub(crate) fn has_bare_list(env: &mut dyn Env, parts: &[WordPart]) -> bool {
    parts.iter().any(|part| match part {
        WordPart::Param(p) => match &p.op {
            _ if is_list(p) => true,
            ParamOp::Default { word, .. }
            | ParamOp::Assign { word, .. }
            | ParamOp::Alternate { word, .. } => {
                has_bare_list(env, &word.parts) && uses_word(env, p)
            }
            _ => false,
        },
        _ => false,
    })
}

/// Whether there is an `@` list in double quotes, also one that an operand brings in.
pub(crate) fn has_quoted_list(env: &mut dyn Env, parts: &[WordPart]) -> bool {
    parts.iter().any(|part| match part {
        WordPart::DoubleQuoted(inside) => count_lists(env, inside) > 0,
        WordPart::Param(p) => match &p.op {
            ParamOp::Default { word, .. }
            | ParamOp::Assign { word, .. }
            | ParamOp::Alternate { word, .. } => {
                has_quoted_list(env, &word.parts) && uses_word(env, p)
            }
            _ => false,
        },
        _ => false,
    })
}

/// Whether `${x-word}` and the like will be their word, as far as that is easily told.
fn uses_word(env: &mut dyn Env, p: &Param) -> bool {
    if p.indirect || p.subscript.is_some() {
        return true;
    }
    let value = match &p.name {
        ParamName::Positional(n) => env.positional().get(*n as usize - 1).cloned(),
        ParamName::Variable(name) if env.nameref(name).is_none() => whole_value(env, name),
        _ => return true,
    };
    let there = |colon: bool| value.as_ref().is_some_and(|text| !(colon && text.is_empty()));
    match p.op {
        ParamOp::Alternate { colon, .. } => there(colon),
        ParamOp::Default { colon, .. } | ParamOp::Assign { colon, .. } => !there(colon),
        _ => true,
    }
}

pub(crate) fn is_list(p: &Param) -> bool {
    match &p.op {
        ParamOp::Length | ParamOp::Bad { .. } => false,
        ParamOp::Keys { at } | ParamOp::NamesWithPrefix { at } => *at,
        _ => {
            matches!(p.name, ParamName::Special(b'@')) && !p.indirect
                || p.subscript == Some(Subscript::At)
        }
    }
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
}

impl Expander<'_> {
    /// The elements of `$@`, `$*`, `${a[@]}`, `${a[*]}`. Whether there were none of an `@` list.
    pub(crate) fn list(&mut self, items: Vec<Str>, joint: Joint, quoted: bool) -> Result<bool> {
        self.list_of(items, joint, quoted, Traits::default())
    }

    /// As [`Expander::list`].
    fn list_of(
        &mut self,
        items: Vec<Str>,
        joint: Joint,
        quoted: bool,
        Traits { plain, text, glued }: Traits,
    ) -> Result<bool> {
        let star = joint == Joint::Star;
        if items.is_empty() {
            return Ok(!star);
        }
        self.load_ifs();
        let split = self.fields.mode == Mode::Split;
        let first = self.fields.ifs().map(|ifs| ifs.separator().to_vec()).unwrap_or_default();
        let separator = match joint {
            _ if split => first,
            // The word of an operator is made of words, which are joined by spaces.
            Joint::Star if first.is_empty() && self.in_operand && !quoted && !glued => {
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
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.fields.push_split(&separator);
                    }
                    match plain {
                        true => self.fields.push_quoted(item),
                        false => self.fields.push_split(item),
                    }
                }
                return Ok(false);
            }
        }
        // A first element of blanks takes the separator behind it along.
        let blank = |item: &Str| match self.fields.ifs() {
            Some(ifs) => !item.is_empty() && item.iter().all(|b| ifs.is_blank(*b)),
            None => false,
        };
        let skip = plain
            && split
            && !quoted
            && !self.fields.is_started()
            && items.first().is_some_and(blank);
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 && !(at == 1 && skip) {
                match (split, quoted) {
                    (true, true) if star => self.fields.push_joint(&separator, true),
                    (true, true) => self.fields.end_field(),
                    // Joined by the first of IFS and split again: with blanks in front empty
                    // elements vanish, with a delimiter they stay, as in bash.
                    (true, false) if separator.is_empty() => self.fields.end_field_if_any(),
                    (true, false) => self.fields.push_split(&separator),
                    // Traces show the blanks between the elements of `"$@"` unquoted.
                    (false, _) => self.fields.push_joint(&separator, quoted && star),
                }
            }
            self.value(item, quoted || text)?;
        }
        if quoted {
            self.fields.start();
        }
        Ok(false)
    }
}
