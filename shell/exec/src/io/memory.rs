//! Input from bytes in memory. It is shared like an open file: a reader does not see the bytes that
//! another one has taken. When a child needs a descriptor, the rest moves into a pipe or spool
//! file.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

use box_sys::Processes;

use super::OpenFile;

/// Input from memory.
#[derive(Debug)]
pub struct MemoryInput {
    data: Rc<Vec<u8>>,
    pos: Cell<usize>,
    real: RefCell<Option<Rc<OpenFile>>>,
}

/// The number of bytes that a pipe takes without a reader.
const PIPE: usize = box_sys::PIPE_CAPACITY;

impl MemoryInput {
    /// Returns an input with all of the data unread.
    pub fn new(data: Rc<Vec<u8>>) -> MemoryInput {
        MemoryInput { data, pos: Cell::new(0), real: RefCell::new(None) }
    }

    /// Returns the real file, once there is one.
    pub fn real_file(&self) -> Option<Rc<OpenFile>> {
        self.real.borrow().clone()
    }

    /// Returns the unread bytes, if they are still in memory.
    pub fn rest_bytes(&self) -> &[u8] {
        self.data.get(self.pos.get()..).unwrap_or_default()
    }

    /// Skips `n` bytes.
    pub fn advance(&self, n: usize) {
        self.pos.set((self.pos.get() + n).min(self.data.len()));
    }

    /// Moves the rest of the bytes into a real file for a child and returns it.
    pub fn make_real(&self, procs: &dyn Processes) -> io::Result<Rc<OpenFile>> {
        if let Some(f) = self.real_file() {
            return Ok(f);
        }
        let rest = self.rest_bytes();
        let (read, mut write) =
            if rest.len() <= PIPE { procs.pipe()? } else { box_sys::preview1::spool()? };
        write.write_all(rest)?;
        drop(write);
        self.pos.set(self.data.len());
        let file = Rc::new(OpenFile::new(Rc::new(read), false));
        *self.real.borrow_mut() = Some(file.clone());
        Ok(file)
    }
}
