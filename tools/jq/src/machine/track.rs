//! The path of the current value, inside `path(...)`.
//!
//! A path is a linked list that forks share, so that returning to a fork only takes its older list.

use std::rc::Rc;

use crate::value::Value;

/// A path, last key first.
#[derive(Debug)]
pub struct PathNode {
    key: Value,
    parent: Option<Rc<PathNode>>,
}

impl Drop for PathNode {
    // The nodes are dropped in a loop, because a path may be a million keys long.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(node) = next {
            next = Rc::try_unwrap(node).ok().and_then(|mut n| n.parent.take());
        }
    }
}

/// The state of `path(...)`.
#[derive(Clone, Debug)]
pub struct Track {
    path: Option<Rc<PathNode>>,
    /// The value at that path, which is the only one that may be accessed.
    pub at: Value,
    /// The number of argument evaluations around the current instruction; inside them nothing is
    /// tracked.
    pub nest: u32,
    /// The surrounding `path(...)`.
    pub outer: Option<Rc<Track>>,
}

impl Track {
    /// Creates the empty path, at this value.
    pub fn new(at: Value, outer: Option<Rc<Track>>) -> Track {
        Track { path: None, at, nest: 0, outer }
    }

    /// Extends the path by a key to a child.
    pub fn append_key(&mut self, key: Value, at: Value) {
        self.path = Some(Rc::new(PathNode { key, parent: self.path.take() }));
        self.at = at;
    }

    /// Returns the path as an array.
    pub fn to_value(&self) -> Value {
        let mut keys = Vec::new();
        let mut node = &self.path;
        while let Some(n) = node {
            keys.push(n.key.clone());
            node = &n.parent;
        }
        keys.reverse();
        Value::arr(keys)
    }
}

impl Drop for Track {
    fn drop(&mut self) {
        let mut next = self.outer.take();
        while let Some(track) = next {
            next = Rc::try_unwrap(track).ok().and_then(|mut t| t.outer.take());
        }
    }
}
