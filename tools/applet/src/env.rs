//! An environment as a value.

use std::collections::BTreeMap;

/// Environment variables by name, in byte order of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env(BTreeMap<Vec<u8>, Vec<u8>>);

impl Env {
    /// The value of a variable.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
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

    /// All variables in byte order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().map(|(k, v)| (k.as_slice(), v.as_slice()))
    }

    /// As a list of pairs, the form spawning takes.
    pub fn to_vec(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.0.iter().map(|(k, v)| (k.clone(), v.clone())).collect()
    }
}

impl FromIterator<(Vec<u8>, Vec<u8>)> for Env {
    fn from_iter<T: IntoIterator<Item = (Vec<u8>, Vec<u8>)>>(items: T) -> Env {
        Env(items.into_iter().collect())
    }
}
