//! Fields under construction.
//!
//! Parts of a word arrive as quoted text, literal text or text to be split; `"$@"` ends a field
//! on its own account. A field that is one shared value stays shared.

use std::rc::Rc;

use box_text::glob;

use crate::split::{Class, Ifs};
use crate::value::Str;

/// What becomes of text that may be split, and of the seams of `"$@"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Command words: several fields.
    Split,
    /// `case`, `[[`, patterns: one field, seams become spaces (`$*`: first of `IFS`).
    Join,
    /// Values of assignments, here-strings: as `Join`, with its own idea of `"${a[@]#x}"`.
    Assign,
    /// Here-documents: as `Join`, with its own idea of `$*`.
    HereDoc,
}

/// How a list becomes one string where it must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    /// `$@`: by spaces.
    At,
    /// `$*`: by the first character of `IFS`; if that is null, by nothing.
    Star,
    /// By the first character of `IFS`, else by spaces. Not one string in command words.
    AtByIfs,
}

/// A finished field.
#[derive(Clone, Debug)]
pub(crate) enum Field {
    /// All quoted.
    Shared(Str),
    Built(Built),
}

/// Text with the places where quoting begins and ends, starting unquoted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Built {
    text: Vec<u8>,
    toggles: Vec<usize>,
}

impl Field {
    /// The field after quote removal.
    pub(crate) fn into_text(self) -> Str {
        match self {
            Field::Shared(text) => text,
            Field::Built(built) => Rc::new(built.text),
        }
    }

    /// The pattern the field stands for, if it holds an active pattern character. `ifs`: its word
    /// was split, so that a character of `IFS` still in it stands for itself, as in bash.
    pub(crate) fn pattern(&self, extglob: bool, ifs: Option<&Ifs>) -> Option<Vec<u8>> {
        let Field::Built(built) = self else { return None };
        if !built.text.iter().any(|b| matches!(b, b'*' | b'?' | b'[' | b'(')) {
            return None;
        }
        let pattern = match ifs {
            Some(ifs) => built.without_separators(ifs).escaped(),
            None => built.escaped(),
        };
        // An extended pattern counts as one to bash even if it may not be one: it is looked for.
        let extended = pattern.windows(2).any(|w| matches!(w, b"+(" | b"@(" | b"!("));
        (extended || glob::has_magic(&pattern, extglob)).then_some(pattern)
    }

    /// The text with quoted characters escaped for [`glob`].
    pub(crate) fn escaped(&self) -> Vec<u8> {
        match self {
            Field::Shared(text) => glob::escape(text),
            Field::Built(built) => built.escaped(),
        }
    }

    /// Calls `f` for each stretch of text, with whether it is quoted.
    pub(crate) fn stretches(&self, mut f: impl FnMut(&[u8], bool)) {
        match self {
            Field::Shared(text) => f(text, true),
            Field::Built(built) => built.stretches(f),
        }
    }
}

impl Built {
    /// The same with unquoted characters of `IFS` quoted.
    fn without_separators(&self, ifs: &Ifs) -> Built {
        let mut fields = Fields::new(Mode::Join);
        self.stretches(|text, quoted| {
            for byte in text {
                let separates = *byte != b'/' && ifs.ordinary_run(&[*byte]) == 0;
                fields.add(&[*byte], quoted || separates);
            }
        });
        fields.current
    }

    fn escaped(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.text.len() + 8);
        // A backslash that came out of an expansion does not quote what is quoted already.
        let mut open = false;
        self.stretches(|text, quoted| {
            if quoted {
                if open && !text.is_empty() {
                    out.push(b'\\');
                    open = false;
                }
                glob::escape_into(text, &mut out);
            } else if !text.is_empty() {
                out.extend_from_slice(text);
                open = text.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1;
            }
        });
        out
    }

    fn stretches(&self, mut f: impl FnMut(&[u8], bool)) {
        let mut from = 0;
        let mut quoted = false;
        for &at in &self.toggles {
            f(&self.text[from..at], quoted);
            from = at;
            quoted = !quoted;
        }
        f(&self.text[from..], quoted);
    }
}

/// What was split off at the beginning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    None,
    Blank,
    /// Blanks, then a delimiter that made an empty field.
    Delimiter,
    /// Of one piece with a delimiter that may follow.
    Merging,
    Merged,
}

/// The fields of one word.
pub(crate) struct Fields {
    pub(crate) mode: Mode,
    ifs: Option<Ifs>,
    done: Vec<Field>,
    current: Built,
    /// The current field is this value alone, so far.
    shared: Option<Str>,
    /// The current field exists even if it is empty.
    started: bool,
    /// Blanks ended the field before: a delimiter that follows belongs to them.
    after_blank: bool,
    /// What [`Fields::part`] ended goes on if nothing follows.
    parted: bool,
    lead: Lead,
    /// Bytes since the last look at [`Fields::take_volume`].
    volume: usize,
}

impl Fields {
    pub(crate) fn new(mode: Mode) -> Fields {
        Fields {
            mode,
            ifs: None,
            done: Vec::new(),
            current: Built::default(),
            shared: None,
            started: false,
            after_blank: false,
            parted: false,
            lead: Lead::None,
            volume: 0,
        }
    }

    pub(crate) fn splitting(ifs: Ifs) -> Fields {
        Fields { ifs: Some(ifs), ..Fields::new(Mode::Split) }
    }

    /// Whether [`Fields::set_ifs`] must be called before text is split.
    pub(crate) fn needs_ifs(&self) -> bool {
        self.ifs.is_none()
    }

    pub(crate) fn set_ifs(&mut self, ifs: Ifs) {
        self.ifs = Some(ifs);
    }

    pub(crate) fn forget_ifs(&mut self) {
        self.ifs = None;
    }

    pub(crate) fn ifs(&self) -> Option<&Ifs> {
        self.ifs.as_ref()
    }

    /// Bytes added since the last call, for the budget.
    pub(crate) fn take_volume(&mut self) -> usize {
        std::mem::take(&mut self.volume)
    }

    /// Length of the current field and number of finished ones: changes when anything is added.
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.done.len(), self.current.text.len() + self.shared.as_ref().map_or(0, |s| s.len()))
    }

    /// The current field exists from now on (`""`).
    pub(crate) fn start(&mut self) {
        self.started = true;
        self.after_blank = false;
        self.parted = false;
    }

    fn unshare(&mut self) {
        if let Some(text) = self.shared.take() {
            self.set_quoted(true);
            self.current.text.extend_from_slice(&text);
        }
    }

    fn set_quoted(&mut self, quoted: bool) {
        if (self.current.toggles.len() % 2 == 1) != quoted {
            self.current.toggles.push(self.current.text.len());
        }
    }

    /// The word has an unquoted list: as in bash, blanks at its beginning are then of one piece with
    /// a delimiter behind them.
    pub(crate) fn note_list(&mut self) {
        self.lead = match self.lead {
            Lead::None => Lead::Merging,
            Lead::Blank => {
                self.after_blank |= self.done.is_empty() && !self.started;
                Lead::Merging
            }
            Lead::Delimiter => {
                self.done.remove(0);
                Lead::Merged
            }
            lead => lead,
        };
    }

    /// Adds all of a field, quoted as it is.
    pub(crate) fn append(&mut self, field: &Field) {
        field.stretches(|text, quoted| match quoted {
            true => self.push_quoted(text),
            false => self.push_literal(text),
        });
    }

    fn add(&mut self, text: &[u8], quoted: bool) {
        self.unshare();
        self.set_quoted(quoted);
        self.current.text.extend_from_slice(text);
        self.volume += text.len();
        self.started = true;
        self.after_blank = false;
        self.parted = false;
    }

    pub(crate) fn push_quoted(&mut self, text: &[u8]) {
        if text.is_empty() {
            self.start();
        } else {
            self.add(text, true);
        }
    }

    /// Text between elements that are joined.
    pub(crate) fn push_joint(&mut self, text: &[u8], quoted: bool) {
        if !text.is_empty() {
            self.add(text, quoted);
        }
    }

    /// As [`Fields::push_quoted`], sharing the value if the field consists of nothing else.
    pub(crate) fn push_shared(&mut self, text: Str) {
        if self.current.text.is_empty() && self.shared.is_none() {
            self.start();
            self.volume += text.len();
            self.shared = Some(text);
        } else {
            self.push_quoted(&text);
        }
    }

    /// Unquoted text of the source: patterns are active, nothing is split.
    pub(crate) fn push_literal(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.add(text, false);
        }
    }

    /// Whether there is a field under construction.
    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    /// The result of an unquoted expansion.
    pub(crate) fn push_split(&mut self, text: &[u8]) {
        if self.mode != Mode::Split {
            self.push_literal(text);
            return;
        }
        // Taken out for the borrow; put back below.
        let Some(ifs) = self.ifs.take() else {
            self.push_literal(text);
            return;
        };
        let mut rest = text;
        while !rest.is_empty() {
            let run = ifs.ordinary_run(rest);
            if run > 0 {
                self.add(&rest[..run], false);
                rest = &rest[run..];
                continue;
            }
            let (class, width) = ifs.classify(rest);
            self.volume += width;
            rest = &rest[width..];
            match class {
                Class::Ordinary => {}
                Class::Blank => {
                    if self.started {
                        self.end_field();
                        self.after_blank = true;
                    } else if self.done.is_empty() {
                        match self.lead {
                            Lead::None => self.lead = Lead::Blank,
                            Lead::Merging => self.after_blank = true,
                            _ => {}
                        }
                    }
                }
                Class::Delimiter => {
                    if self.after_blank {
                        self.after_blank = false;
                        if self.done.is_empty() {
                            self.lead = Lead::Merged;
                        }
                    } else {
                        if self.lead == Lead::Blank && self.done.is_empty() && !self.started {
                            self.lead = Lead::Delimiter;
                        }
                        self.end_field();
                    }
                }
            }
        }
        self.ifs = Some(ifs);
    }

    /// Ends the current field, even an empty one.
    pub(crate) fn end_field(&mut self) {
        let field = match self.shared.take() {
            Some(text) => Field::Shared(text),
            None => Field::Built(std::mem::take(&mut self.current)),
        };
        self.done.push(field);
        // A field costs memory even if it is empty.
        self.volume += 32;
        self.started = false;
        self.after_blank = false;
        self.parted = false;
    }

    /// Ends the current field as a blank does.
    pub(crate) fn seam(&mut self) {
        self.end_field();
        self.after_blank = true;
    }

    /// Splits at a separator; a field that a delimiter ended goes on if nothing follows.
    pub(crate) fn part(&mut self, separator: &[u8]) {
        self.push_split(separator);
        self.parted = self.has_ended();
    }

    /// Whether there are fields, and a separator ended the last one.
    pub(crate) fn has_ended(&self) -> bool {
        !self.started && !self.done.is_empty()
    }

    /// Whether [`Fields::part`] or [`Fields::end_parted`] came last.
    pub(crate) fn is_parted(&self) -> bool {
        self.parted
    }

    /// Ends the current field, which goes on if nothing follows.
    pub(crate) fn end_parted(&mut self) {
        self.end_field();
        self.parted = true;
    }

    /// At the end of double quotes or of an operand in them: where a separator ended the last field
    /// and nothing came since, that field goes on. Whether it was so.
    pub(crate) fn rejoin(&mut self) -> bool {
        if !(self.after_blank || self.parted) || self.started {
            return false;
        }
        self.after_blank = false;
        self.parted = false;
        match self.done.pop() {
            Some(Field::Shared(text)) => self.shared = Some(text),
            Some(Field::Built(built)) => self.current = built,
            None => return false,
        }
        self.started = true;
        true
    }

    /// Ends the current field if there is one (between elements of `$*` where nothing splits).
    pub(crate) fn end_field_if_any(&mut self) {
        if self.started {
            self.end_field();
        }
    }

    /// All fields.
    pub(crate) fn finish(mut self) -> Vec<Field> {
        self.end_field_if_any();
        self.done
    }

    /// The one field of the modes that do not split.
    pub(crate) fn finish_one(mut self) -> Field {
        match self.shared.take() {
            Some(text) => Field::Shared(text),
            None => Field::Built(self.current),
        }
    }
}
