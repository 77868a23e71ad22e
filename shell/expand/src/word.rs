//! Walking a word's parts; the entry points for each place a word can stand in.

use std::rc::Rc;

use sh_syntax::ast::{HereDoc, Word, WordPart};

use crate::brace;
use crate::env::{Env, Lookup};
use crate::error::{Cause, ExpandError, Site};
use crate::fields::{Field, Fields, Mode};
use crate::split::Ifs;
use crate::value::{Str, Value};
use crate::{arith, lists, param, pathname, tilde};

type Result<T> = std::result::Result<T, ExpandError>;

/// Where tildes are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tilde {
    Never,
    /// At the start only.
    Start,
    /// At the start; if the word looks like an assignment, also behind `=` and `:`.
    Word,
    /// At the start and behind each `:`.
    Assignment,
}

/// Expands words in full: braces, tilde, parameters, commands, arithmetic, splitting,
/// pathnames, quote removal (bash manual 3.5).
///
/// # Errors
/// The first failing expansion's; a limit hit in [`Env::charge`].
pub fn expand_words(env: &mut dyn Env, words: &[Word]) -> Result<Vec<Str>> {
    let mut out = Vec::with_capacity(words.len());
    let mut late = Late::default();
    for word in words {
        expand_word_into(env, word, &mut out, &mut late)?;
    }
    late.finish(env, &mut out)?;
    Ok(out)
}

/// Fields that are patterns: they become paths when all words of a command have been expanded,
/// so that `rm * $(make one)` finds what the command made.
#[derive(Debug, Default)]
pub struct Late {
    /// Place among the fields, pattern, and the field if nothing matches.
    patterns: Vec<(usize, Vec<u8>, Field)>,
}

impl Late {
    /// Puts paths in the place of the patterns; for each its place and how many fields were added.
    ///
    /// # Errors
    /// As for [`expand_words`].
    pub fn finish(self, env: &mut dyn Env, out: &mut Vec<Str>) -> Result<Vec<(usize, isize)>> {
        let Some((first, ..)) = self.patterns.first() else { return Ok(Vec::new()) };
        let mut rest = out.split_off((*first).min(out.len())).into_iter();
        let mut next = *first;
        let mut moved = Vec::with_capacity(self.patterns.len());
        for (at, pattern, field) in self.patterns {
            out.extend(rest.by_ref().take(at - next));
            rest.next();
            next = at + 1;
            let before = out.len();
            pathname::expand(env, &pattern, field, out)?;
            moved.push((at, out.len() as isize - before as isize - 1));
        }
        out.extend(rest);
        Ok(moved)
    }
}

/// As [`expand_words`] for one word, appended to `out`.
///
/// # Errors
/// As there.
pub fn expand_word_into(
    env: &mut dyn Env,
    word: &Word,
    out: &mut Vec<Str>,
    late: &mut Late,
) -> Result<()> {
    expand_into(env, word, Tilde::Word, out, late)
}

/// As [`expand_word_into`], with a say in tildes: elements of arrays never look like assignments.
pub(crate) fn expand_into(
    env: &mut dyn Env,
    word: &Word,
    tilde: Tilde,
    out: &mut Vec<Str>,
    late: &mut Late,
) -> Result<()> {
    if let Some(text) = plain_text(word) {
        out.push(text);
        return Ok(());
    }
    if let Some(text) = plain_variable(env, word)? {
        env.charge(text.len())?;
        out.push(text);
        return Ok(());
    }
    if env.options().braceexpand && expand_braces_into(env, word, out, late)? {
        return Ok(());
    }
    finish_word(env, &word.parts, tilde, out, late)
}

/// Expands a word if there are braces to expand in it.
///
/// # Errors
/// As for [`expand_words`].
pub fn expand_braces_into(
    env: &mut dyn Env,
    word: &Word,
    out: &mut Vec<Str>,
    late: &mut Late,
) -> Result<bool> {
    let Some(words) = brace::expand(env, word)? else { return Ok(false) };
    for parts in &words {
        // What braces made is no assignment to bash, whatever it looks like.
        finish_word(env, parts, Tilde::Start, out, late)?;
    }
    Ok(true)
}

/// Expansion behind the braces: one word's parts to fields, and to patterns for `late`.
fn finish_word(
    env: &mut dyn Env,
    parts: &[WordPart],
    tilde: Tilde,
    out: &mut Vec<Str>,
    late: &mut Late,
) -> Result<()> {
    let mut x = Expander::new(env, Mode::Split);
    x.word(parts, tilde)?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    let fields = x.fields.finish();
    let options = env.options();
    let (noglob, extglob) = (options.noglob, options.extglob);
    let ifs = splits(env, parts).then(|| Ifs::of(env)).filter(|ifs| !ifs.is_usual());
    for field in fields {
        match if noglob { None } else { field.pattern(extglob, ifs.as_ref()) } {
            Some(pattern) => {
                late.patterns.push((out.len(), pattern, field));
                out.push(Str::default());
            }
            None => out.push(field.into_text()),
        }
    }
    Ok(())
}

/// Whether the result of a word of these parts is split.
fn splits(env: &mut dyn Env, parts: &[WordPart]) -> bool {
    parts.iter().any(|part| match part {
        WordPart::Param(_) | WordPart::CommandSub(_) | WordPart::Arith(_) => true,
        WordPart::DoubleQuoted(parts) => lists::count_lists(env, parts) > 0,
        _ => false,
    })
}

/// A word without anything to expand.
fn plain_text(word: &Word) -> Option<Str> {
    let text = match word.parts.as_slice() {
        [WordPart::Literal(text)] => {
            let active = |b: &u8| matches!(b, b'{' | b'~' | b'*' | b'?' | b'[' | b'(');
            // `[` alone is the commonest word with a pattern character in it.
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

/// `"$x"`, and `$x` where the value neither splits nor holds pattern characters.
fn plain_variable(env: &mut dyn Env, word: &Word) -> Result<Option<Str>> {
    let (param, quoted) = match word.parts.as_slice() {
        [WordPart::DoubleQuoted(parts)] => match parts.as_slice() {
            [WordPart::Param(param)] => (param, true),
            _ => return Ok(None),
        },
        [WordPart::Param(param)] => (param, false),
        _ => return Ok(None),
    };
    let Some(name) = param::plain_name(param) else { return Ok(None) };
    let Lookup::Value(Value::Scalar(text)) = env.lookup(name) else { return Ok(None) };
    if quoted {
        return Ok(Some(text));
    }
    let special = |b: &u8| matches!(b, b'*' | b'?' | b'[' | b'(' | b'\\');
    if text.is_empty() || text.iter().any(special) {
        return Ok(None);
    }
    let ifs = Ifs::of(env);
    Ok((ifs.ordinary_run(&text) == text.len()).then_some(text))
}

/// Expands to one string without braces, splitting and pathnames: `case` subjects, operands
/// of `[[`.
pub fn expand_single(env: &mut dyn Env, word: &Word) -> Result<Str> {
    lists::text(env, word, Tilde::Start)
}

/// The value of an assignment or a here-string: as [`expand_single`], with tildes also behind colons.
pub fn expand_assignment_value(env: &mut dyn Env, word: &Word) -> Result<Str> {
    single(env, word, Tilde::Assignment)
}

/// The value in an argument like an assignment, `export x=value`: unlike that of an assignment, with
/// unquoted `*` lists joined by spaces where `IFS` is null.
///
/// # Errors
/// As for [`expand_words`].
pub fn expand_argument_value(env: &mut dyn Env, word: &Word) -> Result<Str> {
    if word.parts.iter().all(|part| !matches!(part, WordPart::Param(_))) {
        return expand_assignment_value(env, word);
    }
    let mut x = Expander::new(env, Mode::Assign);
    x.in_operand = true;
    x.word(&word.parts, Tilde::Assignment)?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(x.fields.finish_one().into_text())
}

/// A value of `name=([k]=value)` for an indexed array: as [`expand_assignment_value`], with every
/// list joined by `IFS`.
///
/// # Errors
/// As for [`expand_words`].
pub fn expand_element_value(env: &mut dyn Env, word: &Word) -> Result<Str> {
    let mut x = Expander::new(env, Mode::Assign);
    x.by_ifs = true;
    // In POSIX mode bash expands no tildes there.
    let tilde = if x.env.options().posix { Tilde::Never } else { Tilde::Assignment };
    x.word(&word.parts, tilde)?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(x.fields.finish_one().into_text())
}

pub(crate) fn single(env: &mut dyn Env, word: &Word, tilde: Tilde) -> Result<Str> {
    match word.parts.as_slice() {
        [] => return Ok(Str::default()),
        [WordPart::Literal(text)] if !text.contains(&b'~') => return Ok(text.clone()),
        [WordPart::Quoted(text)] => return Ok(text.clone()),
        [WordPart::Param(param)] => {
            if let Some(name) = param::plain_name(param)
                && let Lookup::Value(Value::Scalar(text)) = env.lookup(name)
            {
                return Ok(text);
            }
        }
        [WordPart::CommandSub(sub)] => {
            let text = env.command_sub(sub)?;
            env.charge(text.len())?;
            return Ok(Rc::new(text));
        }
        _ => {}
    }
    Ok(joined(env, word, tilde, false)?.into_text())
}

/// One field with its quoting, without splitting.
pub(crate) fn joined(env: &mut dyn Env, word: &Word, tilde: Tilde, quoted: bool) -> Result<Field> {
    let mode = if tilde == Tilde::Assignment { Mode::Assign } else { Mode::Join };
    joined_as(env, word, mode, tilde, quoted)
}

/// The value of `${x=word}`. `quoted`: within quotes, where lists are joined as in this mode.
pub(crate) fn default_text(env: &mut dyn Env, word: &Word, quoted: Option<Mode>) -> Result<Str> {
    if let Some(mode) = quoted {
        let mut x = Expander::new(env, mode);
        x.by_ifs = mode == Mode::HereDoc;
        x.parts(&word.parts, true)?;
        let volume = x.fields.take_volume();
        x.env.charge(volume)?;
        return Ok(x.fields.finish_one().into_text());
    }
    let mut x = Expander::new(env, Mode::Join);
    x.in_assigned = true;
    x.word(&word.parts, Tilde::Start)?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(x.fields.finish_one().into_text())
}

fn joined_as(
    env: &mut dyn Env,
    word: &Word,
    mode: Mode,
    tilde: Tilde,
    quoted: bool,
) -> Result<Field> {
    Ok(joined_or_none(env, word, mode, tilde, quoted)?.0)
}

/// As [`joined`], `None` for a word of which nothing is left, not even an empty field.
pub(crate) fn joined_if_any(env: &mut dyn Env, word: &Word, tilde: Tilde) -> Result<Option<Field>> {
    let (field, any) = joined_or_none(env, word, Mode::Join, tilde, false)?;
    Ok(any.then_some(field))
}

fn joined_or_none(
    env: &mut dyn Env,
    word: &Word,
    mode: Mode,
    tilde: Tilde,
    quoted: bool,
) -> Result<(Field, bool)> {
    let mut x = Expander::new(env, mode);
    if quoted {
        x.parts(&word.parts, true)?;
    } else {
        x.word(&word.parts, tilde)?;
    }
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    let any = x.fields.is_started();
    Ok((x.fields.finish_one(), any))
}

/// The body of a here-document.
pub fn expand_heredoc(env: &mut dyn Env, doc: &HereDoc) -> Result<Str> {
    let lists = lists::count_lists(env, &doc.body.parts);
    if lists > 0 {
        return lists::heredoc(env, doc, lists);
    }
    let mut x = Expander::new(env, Mode::HereDoc);
    x.parts(&doc.body.parts, true)?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(x.fields.finish_one().into_text())
}

/// The file name of a redirection.
///
/// # Errors
/// `word: ambiguous redirect` unless the word expands to exactly one field, which it does in POSIX mode.
pub fn expand_redirect_target(env: &mut dyn Env, word: &Word) -> Result<Str> {
    if env.options().posix {
        // There is no splitting and no pathname expansion then, but braces are expanded.
        if env.options().braceexpand
            && let Some(words) = brace::expand(env, word)?
        {
            let mut texts = Vec::new();
            for parts in words {
                texts.extend(target_text(env, &parts)?);
            }
            return match (texts.pop(), texts.is_empty()) {
                (Some(text), true) => Ok(text),
                _ => Err(ambiguous(word)),
            };
        }
        return target_text(env, &word.parts)?.ok_or_else(|| ambiguous(word));
    }
    let mut out = expand_words(env, std::slice::from_ref(word))?;
    match (out.pop(), out.is_empty()) {
        (Some(field), true) => Ok(field),
        _ => Err(ambiguous(word)),
    }
}

/// A word of a redirection in POSIX mode: lists are joined by `IFS` there.
fn target_text(env: &mut dyn Env, parts: &[WordPart]) -> Result<Option<Str>> {
    let mut x = Expander::new(env, Mode::Join);
    x.by_ifs = true;
    x.word(parts, Tilde::Start)?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(x.fields.is_started().then(|| x.fields.finish_one().into_text()))
}

fn ambiguous(word: &Word) -> ExpandError {
    Cause::Ambiguous(word.raw.to_vec()).into()
}

/// Expansion of one word in progress.
pub(crate) struct Expander<'e> {
    pub(crate) env: &'e mut dyn Env,
    pub(crate) fields: Fields,
    /// The word is an assignment's value: tildes count behind colons, also in `${x-~:~}`.
    pub(crate) colons: bool,
    /// Lists are joined by `IFS` whatever they are.
    pub(crate) by_ifs: bool,
    /// How many `@` lists the double quotes around hold.
    pub(crate) beside_lists: usize,
    /// Where the fields stood as the double quotes around began.
    pub(crate) quotes_began: Option<(usize, usize)>,
    /// Within a here-document that holds `@` lists.
    pub(crate) in_heredoc: bool,
    /// Within the word of an unquoted `${x=word}`.
    pub(crate) in_assigned: bool,
    /// Literal text is split, too.
    pub(crate) splits_text: bool,
    /// The same within the word of `"${x-word}"`, at some characters.
    pub(crate) splits_quoted: bool,
    /// The elements of `@` lists are text in a pattern.
    pub(crate) quotes_lists: bool,
    /// Within the unquoted word of `${x-word}`.
    pub(crate) in_operand: bool,
    /// A quoted `@` list in a nested operand made it several fields.
    pub(crate) made_fields: bool,
    /// Within such a word that holds a quoted `@` list, too.
    pub(crate) beside_quoted_list: bool,
}

impl<'e> Expander<'e> {
    /// The fields that a name outside double quotes is made in, `${!a[*]-x}`; its list is joined
    /// by spaces in arguments and elements, too.
    pub(crate) fn naming(&self, quoted: bool) -> Option<Mode> {
        (!quoted || self.fields.mode == Mode::HereDoc).then_some(
            match self.in_operand || self.by_ifs {
                true => Mode::Split,
                false => self.fields.mode,
            },
        )
    }

    pub(crate) fn new(env: &'e mut dyn Env, mode: Mode) -> Expander<'e> {
        Expander {
            env,
            fields: Fields::new(mode),
            colons: false,
            by_ifs: false,
            beside_lists: 0,
            quotes_began: None,
            in_heredoc: false,
            in_assigned: false,
            splits_text: false,
            splits_quoted: false,
            quotes_lists: false,
            in_operand: false,
            made_fields: false,
            beside_quoted_list: false,
        }
    }

    /// A whole word: pieces in an unquoted place, the first of which may begin with a tilde.
    pub(crate) fn word(&mut self, parts: &[WordPart], tilde: Tilde) -> Result<()> {
        let mut tilde = tilde;
        self.colons = tilde == Tilde::Assignment;
        let last = parts.len().wrapping_sub(1);
        for (at, part) in parts.iter().enumerate() {
            match part {
                WordPart::Literal(text) => {
                    let text: &[u8] = text;
                    if at == 0
                        && tilde == Tilde::Word
                        && tilde::looks_like_assignment(text).is_some()
                    {
                        tilde = Tilde::Assignment;
                        let value = tilde::looks_like_assignment(text).unwrap_or(0);
                        self.fields.push_literal(&text[..value]);
                        self.literal(&text[value..], tilde, true, at == last)?;
                        continue;
                    }
                    self.literal(text, tilde, at == 0, at == last)?;
                }
                part => self.part(part, false)?,
            }
        }
        Ok(())
    }

    /// Unquoted source text; `start`: a tilde may stand at its beginning.
    fn literal(&mut self, text: &[u8], tilde: Tilde, start: bool, last: bool) -> Result<()> {
        if self.splits_text {
            self.load_ifs();
            let tilde = start && tilde != Tilde::Never && text.starts_with(b"~");
            let end =
                if tilde { text.iter().position(|b| *b == b'/').unwrap_or(text.len()) } else { 0 };
            if tilde {
                tilde::expand(self, &text[..end], false, true, last || end < text.len());
            }
            for piece in text[end..].chunk_by(|a, b| (*a == b' ') == (*b == b' ')) {
                match piece[0] {
                    // bash splits at all but these.
                    b' ' => self.fields.push_literal(piece),
                    _ => self.fields.push_split(piece),
                }
            }
            return Ok(());
        }
        if tilde == Tilde::Never || !text.contains(&b'~') {
            self.fields.push_literal(text);
            return Ok(());
        }
        tilde::expand(self, text, tilde == Tilde::Assignment, start, last);
        Ok(())
    }

    /// Parts in a quoted (or, within `${x-word}`, unquoted) place.
    pub(crate) fn parts(&mut self, parts: &[WordPart], quoted: bool) -> Result<()> {
        for part in parts {
            self.part(part, quoted)?;
        }
        Ok(())
    }

    fn part(&mut self, part: &WordPart, quoted: bool) -> Result<()> {
        match part {
            WordPart::Literal(text) if quoted => self.escaped_text(text),
            WordPart::Literal(text) => self.fields.push_literal(text),
            WordPart::Quoted(text) if quoted => self.quoted_text(text),
            WordPart::Quoted(text) => self.fields.push_quoted(text),
            WordPart::DoubleQuoted(parts) if quoted => self.parts(parts, true)?,
            WordPart::DoubleQuoted(parts) => self.double_quoted(parts)?,
            WordPart::Param(param) => {
                param::expand(self, param, quoted)?;
            }
            WordPart::CommandSub(sub) => {
                let output = self.env.command_sub(sub)?;
                self.value(Rc::new(output), quoted)?;
            }
            WordPart::Arith(expr) => {
                let number = arith::eval(self.env, expr).map_err(|e| e.at(Site::Arithmetic))?;
                self.number(Rc::new(number.to_string().into_bytes()), quoted)?;
            }
            // Without a command there is nothing to read or write.
            WordPart::ProcessSub(sub) if sub.body.items.is_empty() => {}
            WordPart::ProcessSub(sub) => {
                let path = self.env.process_sub(sub)?;
                self.fields.push_quoted(&path);
            }
        }
        Ok(())
    }

    fn quoted_text(&mut self, text: &[u8]) {
        if self.in_heredoc && self.in_operand {
            lists::operand_text(self, text);
        } else if self.splits_quoted {
            param::split_at_marks(self, text);
        } else if !text.is_empty() {
            self.fields.push_quoted(text);
        }
    }

    /// What stood behind a backslash in the word of `"${x-word}"`: beside an `@` list bash splits
    /// there.
    fn escaped_text(&mut self, text: &[u8]) {
        if self.beside_lists > 0 && self.fields.mode == Mode::Split {
            self.load_ifs();
            let separates = self.fields.ifs().is_some_and(|ifs| match ifs.is_null() {
                true => text == b" ",
                false => ifs.ordinary_run(text) == 0,
            });
            if separates {
                return self.fields.seam();
            }
        }
        self.quoted_text(text);
    }

    /// `"..."`: a field even when empty, except where `"$@"` without elements is all there is.
    fn double_quoted(&mut self, parts: &[WordPart]) -> Result<()> {
        let before = self.fields.mark();
        let mut only_empty_list = false;
        let lists = lists::count_lists(self.env, parts);
        let outer = std::mem::replace(&mut self.beside_lists, lists);
        let outer_began = self.quotes_began.replace(before);
        for part in parts {
            match part {
                WordPart::Param(param) => only_empty_list |= param::expand(self, param, true)?,
                part => self.part(part, true)?,
            }
        }
        self.beside_lists = outer;
        self.quotes_began = outer_began;
        let added = self.fields.mark() != before;
        if added && self.fields.rejoin() {
            return Ok(());
        }
        if !only_empty_list || added {
            self.fields.start();
        }
        Ok(())
    }

    /// A number, or another text that bash does not protect from being split beside an `@` list.
    pub(crate) fn number(&mut self, text: Str, quoted: bool) -> Result<()> {
        if quoted && self.beside_lists > 0 && self.fields.mode == Mode::Split {
            self.load_ifs();
            if self.fields.ifs().is_some_and(|ifs| ifs.ordinary_run(&text) < text.len()) {
                self.fields.part(&text);
                return Ok(());
            }
        }
        self.value(text, quoted)
    }

    /// The result of an expansion. Empty and quoted: the surrounding quotes make the field.
    pub(crate) fn value(&mut self, text: Str, quoted: bool) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if quoted {
            self.fields.push_shared(text);
        } else {
            self.load_ifs();
            self.fields.push_split(&text);
        }
        let volume = self.fields.take_volume();
        self.env.charge(volume)
    }

    pub(crate) fn load_ifs(&mut self) {
        if self.fields.needs_ifs() {
            let ifs = Ifs::of(self.env);
            self.fields.set_ifs(ifs);
        }
    }
}
