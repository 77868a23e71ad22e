//! The stack of `pushd`: the working directory and the entries below it (bash manual 6.8).

use std::path::{Path, PathBuf};
use std::rc::Rc;

use box_sys::path;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The directory stack.
#[derive(Clone, Debug)]
pub struct Dirs {
    /// The logical, absolute path of the working directory.
    cwd: Rc<PathBuf>,
    /// The stack's entries below the working directory, top first.
    below: Rc<Vec<Vec<u8>>>,
}

impl Dirs {
    /// Returns a stack of one directory.
    pub fn new(cwd: PathBuf) -> Dirs {
        Dirs { cwd: Rc::new(cwd), below: Rc::default() }
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns the working directory as a shared pointer.
    pub fn shared_cwd(&self) -> Rc<PathBuf> {
        self.cwd.clone()
    }

    /// Returns the working directory as bytes.
    pub fn cwd_bytes(&self) -> &[u8] {
        path::to_bytes(&self.cwd)
    }

    /// Changes the working directory.
    pub fn set_cwd(&mut self, cwd: PathBuf) {
        self.cwd = Rc::new(cwd);
    }

    /// Returns the stack's entries below the working directory.
    pub fn stack_below(&self) -> &[Vec<u8>] {
        &self.below
    }

    /// Returns the stack's entries below the working directory, mutably.
    pub fn below_mut(&mut self) -> &mut Vec<Vec<u8>> {
        Rc::make_mut(&mut self.below)
    }

    /// Returns the whole stack from the top, which is the working directory.
    pub fn whole_stack(&self) -> Vec<Vec<u8>> {
        let mut all = vec![self.cwd_bytes().to_vec()];
        all.extend(self.below.iter().cloned());
        all
    }
}

impl Serialize for Dirs {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (self.cwd_bytes(), &*self.below).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Dirs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Dirs, D::Error> {
        let (cwd, below) = <(Vec<u8>, Vec<Vec<u8>>)>::deserialize(from)?;
        let cwd = PathBuf::from(path::from_bytes(&cwd));
        Ok(Dirs { cwd: Rc::new(cwd), below: Rc::new(below) })
    }
}
