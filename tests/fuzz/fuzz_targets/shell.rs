//! A shell that has only variables: expansion's [`ExpandEnv`] without files or processes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use sh_expand::array::{AssocArray, IndexedArray};
use sh_expand::{
    Attributes, ElementKey, ExpandCause, ExpandEnv, ExpandError, ExpandOptions, PathnameEntry,
    PositionalList, Str, VarValue,
};
use sh_syntax::ast::{CommandSub, ProcessSub};

/// The maximum number of bytes that one expansion may produce.
pub const BUDGET: usize = 1 << 20;

/// The shell, with the variables that each run begins with.
pub struct Shell {
    variables: BTreeMap<Vec<u8>, VarValue>,
    positional: PositionalList,
    options: ExpandOptions,
    budget: usize,
}

fn text(bytes: &[u8]) -> Str {
    Rc::new(bytes.to_vec())
}

impl Shell {
    pub fn new() -> Shell {
        let scalar = |t: &[u8]| VarValue::Scalar(text(t));
        let mut assoc = AssocArray::new();
        assoc.set(b"k", text(b"v 1"));
        assoc.set(b"a b", text(b"*"));
        let list: IndexedArray = [text(b"x y"), text(b""), text(b"7")].into_iter().collect();
        let variables = [
            (&b"IFS"[..], scalar(b" \t\n")),
            (b"HOME", scalar(b"/h")),
            (b"a", scalar(b"a b*c")),
            (b"b", scalar("é\u{301}\\x".as_bytes())),
            (b"n", scalar(b"3")),
            (b"x", scalar(b"n+1")),
            (b"e", scalar(b"")),
            (b"l", VarValue::Indexed(Rc::new(list))),
            (b"m", VarValue::Assoc(Rc::new(assoc))),
        ];
        Shell {
            variables: variables.into_iter().map(|(k, v)| (k.to_vec(), v)).collect(),
            positional: vec![text(b"1 2"), text(b""), text(b"c")].into(),
            options: ExpandOptions {
                braceexpand: true,
                extglob: true,
                patsub_replacement: true,
                ..ExpandOptions::default()
            },
            budget: BUDGET,
        }
    }

    /// Returns the current values of the variables.
    #[allow(dead_code)]
    pub fn variables(&self) -> &BTreeMap<Vec<u8>, VarValue> {
        &self.variables
    }
}

impl ExpandEnv for Shell {
    fn resolve<'a>(&self, name: &'a [u8]) -> Result<(Cow<'a, [u8]>, Option<Str>), ExpandError> {
        Ok((Cow::Borrowed(name), None))
    }

    fn nameref(&self, _: &[u8]) -> Option<Str> {
        None
    }

    fn get(&mut self, name: &[u8]) -> Option<VarValue> {
        self.variables.get(name).cloned()
    }

    fn attributes(&self, _: &[u8]) -> Attributes {
        Attributes::default()
    }

    fn set(&mut self, name: &[u8], value: Str) -> Result<(), ExpandError> {
        match self.variables.get(name) {
            Some(VarValue::Indexed(_)) => self.set_element(name, ElementKey::Index(0), value),
            Some(VarValue::Assoc(_)) => self.set_element(name, ElementKey::Name(b"0"), value),
            _ => {
                self.variables.insert(name.to_vec(), VarValue::Scalar(value));
                Ok(())
            }
        }
    }

    fn set_element(
        &mut self,
        name: &[u8],
        key: ElementKey<'_>,
        value: Str,
    ) -> Result<(), ExpandError> {
        let bad = || ExpandCause::BadSubscript { name: name.to_vec(), subscript: None }.into();
        let old = self.variables.remove(name);
        let (new, done) = match (old, key) {
            (Some(VarValue::Assoc(mut array)), ElementKey::Name(key)) => {
                Rc::make_mut(&mut array).set(key, value);
                (VarValue::Assoc(array), true)
            }
            (Some(VarValue::Assoc(array)), ElementKey::Index(_)) => (VarValue::Assoc(array), false),
            (old, ElementKey::Index(index)) => {
                let mut array = match old {
                    Some(VarValue::Indexed(array)) => array,
                    Some(VarValue::Scalar(first)) => Rc::new([first].into_iter().collect()),
                    _ => Rc::new(IndexedArray::new()),
                };
                let at = array.resolve(index);
                if let Some(at) = at {
                    Rc::make_mut(&mut array).set(at, value);
                }
                (VarValue::Indexed(array), at.is_some())
            }
            (Some(old), ElementKey::Name(_)) => (old, false),
            (None, ElementKey::Name(_)) => return Err(bad()),
        };
        self.variables.insert(name.to_vec(), new);
        if done { Ok(()) } else { Err(bad()) }
    }

    fn names_with_prefix(&self, prefix: &[u8]) -> Vec<Vec<u8>> {
        self.variables.keys().filter(|name| name.starts_with(prefix)).cloned().collect()
    }

    fn positional(&self) -> PositionalList {
        self.positional.clone()
    }

    fn special(&mut self, name: u8) -> Option<Str> {
        match name {
            b'#' => Some(text(b"3")),
            b'?' => Some(text(b"0")),
            b'-' => Some(text(b"hB")),
            b'$' => Some(text(b"42")),
            b'0' => Some(text(b"sh")),
            _ => None,
        }
    }

    fn options(&self) -> &ExpandOptions {
        &self.options
    }

    fn command_sub(&mut self, _: &Rc<CommandSub>) -> Result<Vec<u8>, ExpandError> {
        Ok(b"out put".to_vec())
    }

    fn process_sub(&mut self, _: &Rc<ProcessSub>) -> Result<Vec<u8>, ExpandError> {
        Ok(b"/dev/fd/63".to_vec())
    }

    fn prompt(&mut self, text: &[u8]) -> Result<Vec<u8>, ExpandError> {
        Ok(text.to_vec())
    }

    fn home_dir(&self, _: Option<&[u8]>) -> Option<Vec<u8>> {
        None
    }

    fn read_dir(&self, _: &[u8]) -> Option<Vec<PathnameEntry>> {
        let entry =
            |name: &[u8], is_dir| PathnameEntry { name: name.to_vec(), is_dir: Some(is_dir) };
        Some(vec![entry(b"f1", false), entry(b"a b", false), entry(b".h", false)])
    }

    fn path_exists(&self, _: &[u8]) -> bool {
        true
    }

    fn is_dir(&self, _: &[u8]) -> bool {
        false
    }

    fn warn(&mut self, _: &[u8]) -> Result<(), ExpandError> {
        Ok(())
    }

    fn charge(&mut self, bytes: usize) -> Result<(), ExpandError> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(ExpandCause::TooLarge.into()),
        }
    }
}
