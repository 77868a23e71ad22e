//! An environment as a value.

use std::collections::BTreeMap;

/// Environment variables by name, in byte order of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env(BTreeMap<Vec<u8>, Vec<u8>>);

impl Env {
    /// Returns the value of a variable.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Returns whether characters are UTF-8 sequences (`LC_ALL`, `LC_CTYPE`, `LANG`; POSIX XBD
    /// 8.2). The image's own locale is `C.UTF-8`, so the result is false only for an explicit `C`
    /// or `POSIX`.
    pub fn is_utf8(&self) -> bool {
        let names: [&[u8]; 3] = [b"LC_ALL", b"LC_CTYPE", b"LANG"];
        let locale = names.iter().find_map(|n| self.get(n).filter(|v| !v.is_empty()));
        !matches!(locale, Some(b"C" | b"POSIX"))
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &[u8], value: &[u8]) {
        self.0.insert(name.to_vec(), value.to_vec());
    }

    /// Removes a variable.
    pub fn unset(&mut self, name: &[u8]) {
        self.0.remove(name);
    }

    /// Removes all variables.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns all variables in byte order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().map(|(k, v)| (k.as_slice(), v.as_slice()))
    }

    /// Returns the variables as a list of pairs, the form that spawning takes.
    pub fn to_vec(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.0.iter().map(|(k, v)| (k.clone(), v.clone())).collect()
    }
}

impl FromIterator<(Vec<u8>, Vec<u8>)> for Env {
    fn from_iter<T: IntoIterator<Item = (Vec<u8>, Vec<u8>)>>(items: T) -> Env {
        Env(items.into_iter().collect())
    }
}
