//! The positional parameters (bash manual 3.4.1).

use std::ops::Deref;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Str;

/// A list of positional parameters. Clones share it, and [`PositionalList::shift`] takes constant
/// time, so that a loop over all parameters with `shift` is linear.
#[derive(Clone, Debug, Default)]
pub struct PositionalList {
    all: Rc<Vec<Str>>,
    /// The number of parameters at the beginning of `all` that were shifted away.
    shifted: usize,
}

impl PositionalList {
    /// Drops the first `count` parameters, or all if there are fewer.
    pub fn shift(&mut self, count: usize) {
        self.shifted = self.all.len().min(self.shifted.saturating_add(count));
        // A list with one owner frees the memory of shifted parameters once they are more than
        // half.
        if self.shifted > self.all.len() / 2
            && let Some(all) = Rc::get_mut(&mut self.all)
        {
            all.drain(..self.shifted);
            self.shifted = 0;
        }
    }
}

impl Deref for PositionalList {
    type Target = [Str];

    fn deref(&self) -> &[Str] {
        &self.all[self.shifted..]
    }
}

impl From<Vec<Str>> for PositionalList {
    fn from(all: Vec<Str>) -> PositionalList {
        PositionalList { all: Rc::new(all), shifted: 0 }
    }
}

impl PartialEq for PositionalList {
    fn eq(&self, other: &PositionalList) -> bool {
        **self == **other
    }
}

impl Serialize for PositionalList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PositionalList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PositionalList, D::Error> {
        Vec::deserialize(deserializer).map(PositionalList::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifting_does_not_change_clones() {
        let all: Vec<Str> = (0..5_u8).map(|n| Rc::new(vec![n])).collect();
        let mut list = PositionalList::from(all.clone());
        let before = list.clone();
        list.shift(2);
        assert_eq!(*list, all[2..]);
        list.shift(2);
        assert_eq!(*list, all[4..]);
        list.shift(9);
        assert!(list.is_empty());
        assert_eq!(*before, all[..]);
    }
}
