//! Compound array assignment: `name=(...)`, `name+=(...)` (bash manual 6.7).

use std::rc::Rc;

use sh_expand::array::{AssocArray, IndexedArray};
use sh_expand::{Attributes, CompoundElement, ExpandError, OwnedKey, Reach, Site, Str};
use sh_syntax::ast::{ArrayElement, Subscript};

use super::assign::{Result, bad_subscript};
use super::options::SetOpt;
use super::vars::{Dynamic, Slot, Var, decimal};
use crate::Shell;
use crate::xtrace::doubled;

/// `[]`
pub(super) fn is_empty_subscript(subscript: &Subscript) -> bool {
    matches!(subscript, Subscript::Expr(e) if e.word.raw.is_empty())
}

/// The elements of `name=(...)` after expansion.
pub struct Elements {
    assoc: bool,
    /// How many words there are, where they are keys and values in turn.
    words: Option<usize>,
    list: Vec<Element>,
}

struct Element {
    key: Option<ElementKey>,
    append: bool,
    value: Str,
}

enum ElementKey {
    /// Of an associative array.
    Known(OwnedKey),
    /// Of an indexed array, with its text where that needed expansion: evaluated with the
    /// elements before it already in place.
    Tree(Subscript, Option<Str>),
}

impl ElementKey {
    /// The element as it reads with its key expanded.
    fn written(self, append: bool, value: &[u8]) -> Vec<u8> {
        let key: Str = match self {
            ElementKey::Tree(_, Some(text)) => text,
            ElementKey::Tree(Subscript::At, None) => Rc::new(b"@".to_vec()),
            ElementKey::Tree(Subscript::Star, None) => Rc::new(b"*".to_vec()),
            ElementKey::Tree(Subscript::Expr(e), None) => Rc::new(e.word.raw.to_vec()),
            ElementKey::Known(OwnedKey::Name(name)) => Rc::new(name),
            ElementKey::Known(OwnedKey::Index(n)) => Rc::new(decimal(n)),
        };
        let sign: &[u8] = if append { b"]+=" } else { b"]=" };
        [b"[", key.as_slice(), sign, value].concat()
    }
}

/// `[key]=value` as bash reads it again once it was expanded.
struct Reread {
    /// `None`: no subscript any more, the whole is a value.
    key: Option<Vec<u8>>,
    append: bool,
    value: Str,
}

fn reread(whole: &[u8]) -> Reread {
    let plain = || Reread { key: None, append: false, value: Rc::new(whole.to_vec()) };
    let Some(inside) = whole.get(1..) else { return plain() };
    let Some(end) = sh_expand::closing_bracket(inside) else { return plain() };
    let (key, behind) = (&inside[..end], &inside[end + 1..]);
    let (append, value) = match behind.strip_prefix(b"+=") {
        Some(value) => (true, value),
        None => match behind.strip_prefix(b"=") {
            Some(value) => (false, value),
            None => return plain(),
        },
    };
    Reread { key: Some(key.to_vec()), append, value: Rc::new(value.to_vec()) }
}

/// How messages show elements that cannot be assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    AsWritten,
    /// `declare -A m=(...)`: in quotes.
    Quoted,
    /// `declare m=(...)`: the value in quotes.
    QuotedValue,
    /// Nothing is assigned at all, as the array is of the other kind.
    Never,
}

/// Whether the words of an associative array are keys and values in turn.
fn is_paired(elements: &[ArrayElement]) -> bool {
    elements.first().is_some_and(|e| e.key.is_none())
}

/// The words that begin the elements of an associative array.
fn written(elements: &[ArrayElement]) -> impl Iterator<Item = &ArrayElement> {
    elements.iter().step_by(if is_paired(elements) { 2 } else { 1 })
}

/// What is shown of an element whose key is null.
fn wrong_key(element: &ArrayElement, value: &Element, paired: bool, shown: Shown) -> Vec<u8> {
    if shown == Shown::AsWritten {
        return raw_element(element);
    }
    if paired {
        return b"''".to_vec();
    }
    let sign: &[u8] = if value.append { b"['']+=" } else { b"['']=" };
    [sign, &box_text::escape::single_quote(&value.value)].concat()
}

/// An element as it was written.
fn raw_element(element: &ArrayElement) -> Vec<u8> {
    let sign: &[u8] = if element.append { b"]+=" } else { b"]=" };
    let key: &[u8] = match &element.key {
        None => return element.value.raw.to_vec(),
        Some(Subscript::At) => b"@",
        Some(Subscript::Star) => b"*",
        Some(Subscript::Expr(key)) => &key.word.raw,
    };
    [b"[", key, sign, &element.value.raw].concat()
}

/// Whether expanding a subscript could give another text.
fn is_expanded(raw: &[u8]) -> bool {
    raw.iter().any(|b| matches!(b, b'$' | b'`' | b'"' | b'\'' | b'\\' | b'[' | b']'))
}

impl Shell<'_> {
    /// `name=(...)` and `name+=(...)` on the visible variable.
    pub fn set_compound(
        &mut self,
        name: &[u8],
        elements: &[ArrayElement],
        append: bool,
    ) -> Result<()> {
        self.check_writable(name)?;
        let assoc = self.is_assoc(name);
        let elements = self.expand_compound(name, assoc, elements, Shown::AsWritten)?;
        self.set_elements(name, elements, append)
    }

    pub(crate) fn is_assoc(&self, name: &[u8]) -> bool {
        self.state.vars.get(name).is_some_and(Var::is_assoc)
    }

    /// Expands the elements, for an associative array or another one.
    pub(crate) fn expand_compound(
        &mut self,
        name: &[u8],
        assoc: bool,
        elements: &[ArrayElement],
        shown: Shown,
    ) -> Result<Elements> {
        if !assoc && elements.iter().any(|e| e.key.is_some()) {
            return self.expand_indexed(name, elements);
        }
        let values = sh_expand::compound_elements(self, name, assoc, elements)?;
        let element = |e: CompoundElement| Element {
            key: e.key.map(ElementKey::Known),
            append: e.append,
            value: e.value,
        };
        let words = (assoc && is_paired(elements)).then_some(elements.len());
        let list = values.into_iter().map(element).collect();
        let mut made = Elements { assoc, words, list };
        if assoc && shown != Shown::Never {
            Self::show_keyless(elements, &mut made, shown);
            self.refuse_null_keys(elements, &mut made, shown)?;
        }
        Ok(made)
    }

    /// The words of `declare m=(...)` without `-A`: they are split as those of an indexed array, even
    /// if they turn out to be keys and values in turn.
    pub(crate) fn expand_declared(
        &mut self,
        name: &[u8],
        assoc: bool,
        elements: &[ArrayElement],
    ) -> Result<Elements> {
        if !assoc || elements.is_empty() || elements.iter().any(|e| e.key.is_some()) {
            return self.expand_compound(name, assoc, elements, Shown::QuotedValue);
        }
        let words = sh_expand::compound_elements(self, name, false, elements)?;
        let pair = |pair: &[CompoundElement]| Element {
            key: Some(ElementKey::Known(OwnedKey::Name(pair[0].value.to_vec()))),
            append: false,
            value: pair.get(1).map(|e| e.value.clone()).unwrap_or_default(),
        };
        let list = words.chunks(2).map(pair).collect();
        Ok(Elements { assoc, words: Some(words.len()), list })
    }

    /// Words without a key of an associative array cannot be assigned: bash shows them as they were
    /// written, after `declare` in quotes. They are complained of when their turn comes.
    pub(crate) fn show_keyless(elements: &[ArrayElement], made: &mut Elements, shown: Shown) {
        let quoted = box_text::escape::single_quote;
        for (value, element) in made.list.iter_mut().zip(written(elements)) {
            if value.key.is_some() {
                continue;
            }
            value.value = Rc::new(match shown {
                Shown::AsWritten => raw_element(element),
                Shown::Quoted => quoted(&raw_element(element)),
                Shown::QuotedValue | Shown::Never => quoted(&value.value),
            });
        }
    }

    /// `[$unset]=value` and `$unset value` cannot be assigned either.
    pub(crate) fn refuse_null_keys(
        &mut self,
        elements: &[ArrayElement],
        made: &mut Elements,
        shown: Shown,
    ) -> Result<()> {
        let paired = is_paired(elements);
        let mut failed = Ok(());
        let mut written = written(elements);
        made.list.retain(|value| {
            let element = written.next();
            let (Some(element), Some(ElementKey::Known(OwnedKey::Name(key)))) =
                (element, &value.key)
            else {
                return true;
            };
            if key.is_empty() && failed.is_ok() {
                let text = wrong_key(element, value, paired, shown);
                failed = self.element_error(&[&text, b": bad array subscript"]);
            }
            !key.is_empty()
        });
        failed
    }

    /// An indexed array with subscripts: all values are expanded before any subscript.
    fn expand_indexed(&mut self, name: &[u8], elements: &[ArrayElement]) -> Result<Elements> {
        let mut list = Vec::with_capacity(elements.len());
        for e in elements {
            if let Some(key) = &e.key {
                let text = match key {
                    Subscript::Expr(key) if is_expanded(&key.word.raw) => {
                        Some(sh_expand::expand_key(self, &key.word)?)
                    }
                    _ => None,
                };
                let value = sh_expand::expand_assignment_value(self, &e.value)?;
                let key = Some(ElementKey::Tree(key.clone(), text));
                list.push(Element { key, append: e.append, value });
                continue;
            }
            let one = std::slice::from_ref(e);
            for e in sh_expand::compound_elements(self, name, false, one)? {
                list.push(Element { key: None, append: false, value: e.value });
            }
        }
        Ok(Elements { assoc: false, words: None, list })
    }

    /// What the list is before a command: an array cannot be passed on, bash passes its text.
    ///
    /// # Errors
    /// Those of the expansions.
    pub(crate) fn compound_text(&mut self, list: &[ArrayElement]) -> Result<Str> {
        let mut out = b"(".to_vec();
        for (at, element) in list.iter().enumerate() {
            if at > 0 {
                out.push(b' ');
            }
            if let Some(key) = &element.key {
                out.push(b'[');
                out.extend_from_slice(&self.subscript_text(key)?);
                out.extend_from_slice(if element.append { b"]+=" } else { b"]=" });
            }
            out.extend_from_slice(&sh_expand::expand_key(self, &element.value)?);
        }
        out.push(b')');
        Ok(Rc::new(out))
    }

    /// The text of a subscript, expanded, whatever it will mean.
    pub(crate) fn subscript_text(&mut self, subscript: &Subscript) -> Result<Str> {
        Ok(match subscript {
            Subscript::At => Rc::new(b"@".to_vec()),
            Subscript::Star => Rc::new(b"*".to_vec()),
            Subscript::Expr(expr) => sh_expand::expand_key(self, &expr.word)?,
        })
    }

    /// Assigns what [`Shell::expand_compound`] gave.
    pub(crate) fn set_elements(
        &mut self,
        name: &[u8],
        elements: Elements,
        append: bool,
    ) -> Result<()> {
        let Elements { assoc, list, .. } = elements;
        let keyed = list.iter().any(|e| matches!(e.key, Some(ElementKey::Tree(..))));
        // Bash makes the array as it assigns the first element.
        let pair = assoc && list.len() == 2 && list.iter().all(|e| e.key.is_none());
        let first = list.len() == 1 || pair;
        let unset = first && self.state.vars.get(name).is_some_and(|v| !v.is_set());
        let done = match keyed {
            true => self.set_keyed(name, list, append),
            false => self.store_elements(name, assoc, list, append),
        };
        if done.is_err()
            && unset
            && (keyed || assoc)
            && let Some(v) = self.state.vars.get_mut(name)
        {
            let empty = match &v.slot {
                Slot::Indexed(array) => array.is_empty(),
                Slot::Assoc(array) => array.is_empty(),
                _ => false,
            };
            if empty {
                // Nothing was assigned.
                v.slot = Slot::Unset;
            }
        }
        done
    }

    fn store_elements(
        &mut self,
        name: &[u8],
        assoc: bool,
        list: Vec<Element>,
        append: bool,
    ) -> Result<()> {
        let value = |e: Element| CompoundElement {
            key: match e.key {
                Some(ElementKey::Known(key)) => Some(key),
                _ => None,
            },
            append: e.append,
            value: e.value,
        };
        self.store_compound(name, assoc, append, list.into_iter().map(value).collect())
    }

    /// `name=([key]=value ...)` of an indexed array: one element after another.
    fn set_keyed(&mut self, name: &[u8], list: Vec<Element>, append: bool) -> Result<()> {
        self.store_compound(name, false, append, Vec::new())?;
        let mut next = match self.state.vars.get(name).map(|v| &v.slot) {
            Some(Slot::Indexed(a)) => a.max_index().map_or(0, |m| m.saturating_add(1)),
            _ => 0,
        };
        for Element { key, append, value } in list {
            let last = match key {
                None => {
                    self.set_array_element(name, &OwnedKey::Index(next), append, value)?;
                    Some(next)
                }
                Some(key) => self.set_keyed_element(name, next, &key.written(append, &value))?,
            };
            if let Some(last) = last {
                next = last.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Assigns `[key]=value` as it reads after its expansions; an element that turns out to have no key goes to `next`.
    /// The index it got; `None` after a complaint about an element that cannot be.
    fn set_keyed_element(&mut self, name: &[u8], next: i64, whole: &[u8]) -> Result<Option<i64>> {
        let Reread { key, append, value } = reread(whole);
        let Some(key) = key else {
            self.set_array_element(name, &OwnedKey::Index(next), false, value)?;
            return Ok(Some(next));
        };
        // bash says what is wrong with an element and goes on.
        let wrong = match key.as_slice() {
            b"" => Some(": bad array subscript"),
            b"@" | b"*" => Some(": cannot assign to non-numeric index"),
            _ => None,
        };
        if let Some(message) = wrong {
            if !key.is_empty() {
                // This one leaves a status.
                self.state.status = 1;
                self.last_subst = self.last_subst.map(|_| 1);
            }
            self.element_error(&[whole, message.as_bytes()])?;
            return Ok(None);
        }
        let index = sh_expand::element_index(self, &key)?;
        let place = match self.state.vars.get(name).map(|v| &v.slot) {
            Some(Slot::Indexed(a)) => a.resolve(index).unwrap_or(index),
            _ => next,
        };
        if index < 0 && place < 0 {
            self.element_error(&[whole, b": bad array subscript"])?;
            return Ok(None);
        }
        self.set_array_element(name, &OwnedKey::Index(index), append, value)?;
        Ok(Some(place))
    }

    /// The elements as `set -x` shows them for `declare`: everything in single quotes.
    pub(crate) fn trace_elements(&mut self, name: &[u8], elements: &Elements, append: bool) {
        if !self.tracing() {
            return;
        }
        let quoted = box_text::escape::single_quote;
        let element = |e: &Element| {
            let key = match &e.key {
                None => return quoted(&e.value),
                Some(ElementKey::Known(OwnedKey::Name(key))) => key.clone(),
                Some(ElementKey::Known(OwnedKey::Index(n))) => decimal(*n),
                Some(ElementKey::Tree(Subscript::At, _)) => b"@".to_vec(),
                Some(ElementKey::Tree(Subscript::Star, _)) => b"*".to_vec(),
                Some(ElementKey::Tree(Subscript::Expr(e), text)) => match text {
                    Some(text) => text.to_vec(),
                    None => e.word.raw.to_vec(),
                },
            };
            let sign: &[u8] = if e.append { b"]+=" } else { b"]=" };
            [b"[", quoted(&key).as_slice(), sign, &quoted(&e.value)].concat()
        };
        let mut list: Vec<Vec<u8>> = elements.list.iter().map(element).collect();
        if let Some(words) = elements.words {
            let pair = |e: &Element| match &e.key {
                Some(ElementKey::Known(OwnedKey::Name(key))) => [quoted(key), quoted(&e.value)],
                _ => [Vec::new(), quoted(&e.value)],
            };
            list = elements.list.iter().flat_map(pair).take(words).collect();
        }
        let sign: &[u8] = if append { b"+=(" } else { b"=(" };
        let text = [name, sign, &list.join(&b' '), b")"].concat();
        self.trace_text(&doubled(&text));
    }

    pub(crate) fn store_compound(
        &mut self,
        name: &[u8],
        assoc: bool,
        append: bool,
        values: Vec<CompoundElement>,
    ) -> Result<()> {
        if let Some(Var { slot: Slot::Dynamic(d), .. }) = self.state.vars.get(name)
            && !matches!(d, Dynamic::BashAliases | Dynamic::BashCmds)
        {
            return Ok(());
        }
        let done = match assoc {
            true => self.store_assoc(name, append, values),
            false => self.store_indexed(name, append, values),
        };
        self.after_set(name);
        done
    }

    /// The elements of an associative array. Those before one that fails stay.
    fn store_assoc(
        &mut self,
        name: &[u8],
        append: bool,
        values: Vec<CompoundElement>,
    ) -> Result<()> {
        let attrs = self.attributes_of(name);
        // Without `+=` before the list, `[k]+=v` in it still adds to the old element.
        let (mut array, old) = match self.state.vars.get_mut(name).map(|v| &mut v.slot) {
            Some(Slot::Assoc(a)) if append => (std::mem::take(Rc::make_mut(a)), None),
            Some(Slot::Assoc(a)) => (AssocArray::new(), Some(a.clone())),
            _ => (AssocArray::new(), None),
        };
        let mut failed = Ok(());
        for e in values {
            // bash says what is wrong with an element and goes on.
            let Some(OwnedKey::Name(key)) = e.key else {
                let message = b": must use subscript when assigning associative array";
                self.element_error(&[name, b": ", &e.value, message])?;
                continue;
            };
            if key.is_empty() {
                self.element_error(&[b"'': bad array subscript"])?;
                continue;
            }
            let old = old.as_deref().unwrap_or(&array).get(&key).filter(|_| e.append).cloned();
            match self.element_value(attrs, old, e.value) {
                Ok(value) => array.set(&key, value),
                Err(e) => {
                    failed = Err(e);
                    break;
                }
            }
        }
        if let (Err(_), Some(old)) = (&failed, &old) {
            // Only here the old elements stay instead.
            array = (**old).clone();
        } else if failed.is_err() && !append {
            array = AssocArray::new();
        }
        let v = self.state.vars.entry(name);
        v.attrs.assoc = true;
        v.slot = Slot::Assoc(Rc::new(array));
        failed
    }

    /// The elements of an indexed array. Those before one that fails stay.
    fn store_indexed(
        &mut self,
        name: &[u8],
        append: bool,
        values: Vec<CompoundElement>,
    ) -> Result<()> {
        let attrs = self.attributes_of(name);
        let mut array = match self.state.vars.get_mut(name).map(|v| &mut v.slot) {
            Some(Slot::Indexed(a)) if append => std::mem::take(Rc::make_mut(a)),
            Some(slot @ (Slot::Scalar(_) | Slot::Int(_))) if append => {
                let old = std::mem::replace(slot, Slot::Unset);
                Var::global(old, attrs).text().into_iter().collect()
            }
            _ => IndexedArray::new(),
        };
        let unset = self.state.vars.get(name).is_none_or(|v| !v.is_set());
        let mut next = array.max_index().map_or(0, |m| m.saturating_add(1));
        let mut failed = Ok(());
        for e in values {
            let index = match e.key {
                Some(OwnedKey::Index(i)) => match array.resolve(i) {
                    Some(i) => i,
                    None => {
                        failed = Err(bad_subscript(name, i));
                        break;
                    }
                },
                _ => next,
            };
            let old = array.get(index).filter(|_| e.append).cloned();
            if attrs.integer {
                // An expression sees the elements so far.
                let so_far = Rc::new(std::mem::take(&mut array));
                self.state.vars.entry(name).slot = Slot::Indexed(so_far);
            }
            let value = self.element_value(attrs, old, e.value);
            if attrs.integer
                && let Slot::Indexed(a) = &mut self.state.vars.entry(name).slot
            {
                array = std::mem::take(Rc::make_mut(a));
            }
            match value {
                Ok(value) => array.set(index, value),
                Err(e) => {
                    failed = Err(e);
                    break;
                }
            }
            next = index.saturating_add(1);
        }
        let v = self.state.vars.entry(name);
        v.attrs.indexed = true;
        v.slot = match failed.is_ok() || !array.is_empty() || !unset {
            true => Slot::Indexed(Rc::new(array)),
            false => Slot::Unset,
        };
        failed
    }

    fn attributes_of(&self, name: &[u8]) -> Attributes {
        self.state.vars.get(name).map(|v| v.attrs).unwrap_or_default()
    }

    /// An element that cannot be: only a shell that exits on errors does not go on.
    fn element_error(&mut self, message: &[&[u8]]) -> Result<()> {
        self.error(message);
        match self.state.options.has(SetOpt::ErrExit) {
            true => Err(ExpandError::told(Reach::Readonly)),
            false => Ok(()),
        }
    }

    /// What an element gets: converted as the variable's attributes say, `old` before it.
    fn element_value(&mut self, attrs: Attributes, old: Option<Str>, value: Str) -> Result<Str> {
        let value = match old {
            Some(old) => self.joined(attrs, old, value)?,
            None => value,
        };
        self.converted(attrs, value)
    }

    fn joined(&mut self, attrs: Attributes, old: Str, add: Str) -> Result<Str> {
        if attrs.integer {
            let a = sh_expand::arith::eval_text(self, &old).map_err(|e| e.at(Site::Value))?;
            let b = sh_expand::arith::eval_text(self, &add).map_err(|e| e.at(Site::Value))?;
            return Ok(Rc::new(decimal(a.wrapping_add(b))));
        }
        let mut text = old.to_vec();
        text.extend_from_slice(&add);
        Ok(Rc::new(text))
    }
}
