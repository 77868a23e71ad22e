//! Input that is bytes in memory. Shared like an open file: what one reader takes is gone
//! for the next. When a child needs a descriptor, the rest moves into a pipe or spool file.

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

/// What a pipe takes without anyone reading.
const PIPE: usize = box_sys::PIPE_CAPACITY;

impl MemoryInput {
    /// All of the data is yet to be read.
    pub fn new(data: Rc<Vec<u8>>) -> MemoryInput {
        MemoryInput { data, pos: Cell::new(0), real: RefCell::new(None) }
    }

    /// The real file, once there is one.
    pub fn real_file(&self) -> Option<Rc<OpenFile>> {
        self.real.borrow().clone()
    }

    /// The unread bytes, if they are still in memory.
    pub fn rest_bytes(&self) -> &[u8] {
        self.data.get(self.pos.get()..).unwrap_or_default()
    }

    /// Passes over so many bytes.
    pub fn advance(&self, n: usize) {
        self.pos.set((self.pos.get() + n).min(self.data.len()));
    }

    /// A real file for a child: the rest of the bytes moves into it.
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
