//! The first phase: from a word's parts to attributed text, by the expansion of parameters,
//! commands, arithmetic and tildes (POSIX XCU 2.6). One walk from left to right, so that `${x=1}$x`
//! sees the assignment.

use sh_syntax::ast::WordPart;

use crate::attributed::{AttributedFields, CharOrigin, str_of};
use crate::env::ExpandEnv;
use crate::error::ExpandError;
use crate::split::Ifs;
use crate::tilde::{self, Tilde, TildePosition};
use crate::value::Str;
use crate::{arith, param};

type Result<T> = std::result::Result<T, ExpandError>;

/// The number of bytes that the budget is charged for a field in addition to its text.
const FIELD_COST: usize = 32;

/// The purpose that a word is expanded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Expansion to fields: words of commands, elements of arrays.
    Fields,
    /// Expansion to one text: values, patterns, here-documents. `*` lists are joined by `IFS`, `@`
    /// lists by spaces.
    Text,
}

/// The expansion of one word.
pub(crate) struct Expander<'e> {
    pub(crate) env: &'e mut dyn ExpandEnv,
    pub(crate) phrase: AttributedFields,
    purpose: Purpose,
    /// The places in which tildes are expanded, including those in operands such as `${x-~}`.
    tilde: Tilde,
}

impl<'e> Expander<'e> {
    pub(crate) fn new(env: &'e mut dyn ExpandEnv, purpose: Purpose) -> Expander<'e> {
        Expander { env, phrase: AttributedFields::default(), purpose, tilde: Tilde::Start }
    }

    /// Expands a whole word that is not within quotes.
    pub(crate) fn expand_word(&mut self, parts: &[WordPart], tilde: Tilde) -> Result<()> {
        self.tilde = tilde;
        let mut tilde = tilde;
        let last = parts.len().wrapping_sub(1);
        for (at, part) in parts.iter().enumerate() {
            let WordPart::Literal(text) = part else {
                self.expand_part(part, false)?;
                continue;
            };
            let mut text: &[u8] = text;
            if at == 0
                && tilde == Tilde::Word
                && let Some(value) = tilde::looks_like_assignment(text)
            {
                tilde = Tilde::Assignment;
                self.phrase.push(&text[..value], CharOrigin::Literal);
                text = &text[value..];
            }
            let spot = TildePosition { begins: at == 0, ends: at == last };
            self.append_text(text, tilde, spot, CharOrigin::Literal)?;
        }
        Ok(())
    }

    /// Expands an operator's word that takes the place of the parameter. Its text then counts as
    /// the result of an expansion, and is split.
    pub(crate) fn expand_operand(&mut self, parts: &[WordPart], quoted: bool) -> Result<()> {
        if quoted {
            return self.expand_quoted(parts).map(drop);
        }
        let last = parts.len().wrapping_sub(1);
        for (at, part) in parts.iter().enumerate() {
            match part {
                WordPart::Literal(text) => {
                    let spot = TildePosition { begins: at == 0, ends: at == last };
                    self.append_text(text, self.tilde, spot, CharOrigin::Expansion)?;
                }
                part => self.expand_part(part, false)?,
            }
        }
        Ok(())
    }

    /// Expands parts within double quotes or a here-document. Returns true if a list without
    /// elements was among them.
    pub(crate) fn expand_quoted(&mut self, parts: &[WordPart]) -> Result<bool> {
        let mut empty_list = false;
        for part in parts {
            match part {
                WordPart::Param(param) => empty_list |= param::expand_param(self, param, true)?,
                part => self.expand_part(part, true)?,
            }
        }
        Ok(empty_list)
    }

    fn expand_part(&mut self, part: &WordPart, quoted: bool) -> Result<()> {
        match part {
            WordPart::Literal(text) if !quoted => self.phrase.push(text, CharOrigin::Literal),
            WordPart::Literal(text) | WordPart::Quoted(text) if quoted => {
                if !text.is_empty() {
                    self.phrase.push(text, CharOrigin::Quoted);
                }
            }
            WordPart::Literal(text) | WordPart::Quoted(text) => {
                self.phrase.push(text, CharOrigin::Quoted);
            }
            WordPart::DoubleQuoted(parts) => {
                let before = self.phrase.current_extent();
                let empty_list = self.expand_quoted(parts)?;
                // Quotes make a field even if it is empty, unless `"$@"` without elements is the
                // only part.
                if !empty_list || self.phrase.current_extent() != before {
                    self.phrase.push(b"", CharOrigin::Quoted);
                }
            }
            WordPart::Param(param) => drop(param::expand_param(self, param, quoted)?),
            WordPart::CommandSub(sub) => {
                let output = self.env.command_sub(sub)?;
                self.env.charge(output.len())?;
                if !quoted {
                    self.phrase.push_owned(output, CharOrigin::Expansion);
                } else if !output.is_empty() {
                    self.phrase.push_shared(str_of(output));
                }
            }
            WordPart::Arith(expr) => {
                let number = arith::eval_arith(self.env, expr)?;
                self.append_value(str_of(number.to_string().into_bytes()), quoted)?;
            }
            // A process substitution without a command expands to nothing.
            WordPart::ProcessSub(sub) if sub.body.items.is_empty() => {}
            WordPart::ProcessSub(sub) => {
                let path = self.env.process_sub(sub)?;
                self.phrase.push(&path, CharOrigin::Quoted);
            }
        }
        Ok(())
    }

    /// Appends unquoted text of the source, with its tildes.
    fn append_text(
        &mut self,
        text: &[u8],
        tilde: Tilde,
        spot: TildePosition,
        origin: CharOrigin,
    ) -> Result<()> {
        if tilde == Tilde::Never || !text.contains(&b'~') {
            self.phrase.push(text, origin);
            return Ok(());
        }
        let mut from = 0;
        for (range, home) in tilde::tilde_prefixes(self.env, text, tilde, spot) {
            self.phrase.push(&text[from..range.start], origin);
            self.env.charge(home.len())?;
            self.phrase.push(&home, CharOrigin::Quoted);
            from = range.end;
        }
        self.phrase.push(&text[from..], origin);
        Ok(())
    }

    /// Appends the value of an expansion. If it is empty and quoted, the quotes around it make the
    /// field.
    pub(crate) fn append_value(&mut self, text: Str, quoted: bool) -> Result<()> {
        self.env.charge(text.len())?;
        if !quoted {
            self.phrase.push(&text, CharOrigin::Expansion);
        } else if !text.is_empty() {
            self.phrase.push_shared(text);
        }
        Ok(())
    }

    /// Appends the elements of `$@` and `${a[@]}`, of `$*` and `${a[*]}` (`star`), or the values
    /// that an operator made of them. Returns true for an `@` list without elements, because `"$@"`
    /// alone is then not a field.
    ///
    /// In a word that is split, unquoted elements are joined by the first character of `IFS` and
    /// split again with the rest, so that empty elements stay between delimiters, as in bash.
    pub(crate) fn append_list(
        &mut self,
        items: Vec<Str>,
        star: bool,
        quoted: bool,
    ) -> Result<bool> {
        if items.is_empty() {
            return Ok(!star);
        }
        if star && (quoted || self.purpose == Purpose::Text) {
            let text = join_items(self.env, &items, true);
            return self.append_value(text, quoted).map(|()| false);
        }
        let separator = if quoted || self.purpose == Purpose::Text {
            Vec::new()
        } else {
            Ifs::from_env(self.env).separator().to_vec()
        };
        let volume = items.iter().map(|item| item.len() + FIELD_COST).sum();
        self.env.charge(volume)?;
        for (at, item) in items.into_iter().enumerate() {
            match separator.as_slice() {
                _ if at == 0 => {}
                b"" => self.phrase.end_field(),
                separator => self.phrase.push(separator, CharOrigin::Expansion),
            }
            if quoted {
                self.phrase.push_shared(item)
            } else {
                self.phrase.push(&item, CharOrigin::Expansion)
            }
        }
        Ok(false)
    }
}

/// Returns a list as one string: `*` lists are joined by the first character of `IFS`, `@` lists by
/// spaces.
pub(crate) fn join_items(env: &mut dyn ExpandEnv, items: &[Str], star: bool) -> Str {
    let ifs = star.then(|| Ifs::from_env(env));
    let separator = ifs.as_ref().map_or(b" ".as_slice(), Ifs::separator);
    let parts: Vec<&[u8]> = items.iter().map(|item| item.as_slice()).collect();
    str_of(parts.join(separator))
}
