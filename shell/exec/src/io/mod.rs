//! Descriptors as the script sees them: numbers map to open files, capture buffers or bytes in
//! memory. The process's own descriptors stay untouched; children get the exact numbers through
//! their spawn specification.
//!
//! | file | contents |
//! |---|---|
//! | `file` | [`OpenFile`]: read-ahead and write buffering of one open file |
//! | `memory` | [`MemoryInput`]: a here-document, turned into a real pipe when a child needs one |
//! | `network` | `/dev/tcp/HOST/PORT` |
//! | `output` | writing by builtins, order between streams (on [`crate::Shell`]) |
//! | `input` | reading bytes and lines by builtins (on [`crate::Shell`]) |

mod file;
mod input;
mod memory;
pub(crate) mod network;
mod output;
mod terminal_mode;

use std::cell::RefCell;
use std::rc::Rc;

pub use file::OpenFile;
pub use memory::MemoryInput;
pub(crate) use output::CollectedOutput;
pub(crate) use terminal_mode::{ReadingGuard, ReadingMode};

/// Highest descriptor number plus one, as `ulimit -n` of a typical system.
pub const MAX_FD: u32 = 1024;

/// A buffer that captures output.
pub type Buffer = Rc<RefCell<Vec<u8>>>;

/// The target of a descriptor; a clone is a `dup`.
#[derive(Clone, Debug)]
pub enum DescriptorTarget {
    File(Rc<OpenFile>),
    /// Output is captured (`$(...)`).
    Capture(Buffer),
    /// Input from memory (here-documents, output of a stage that already ran).
    Memory(Rc<MemoryInput>),
}

/// The table of descriptors; cloning it is cheap.
#[derive(Clone, Debug, Default)]
pub struct FdTable {
    slots: Rc<Vec<Option<DescriptorTarget>>>,
}

impl FdTable {
    /// Returns the target of a number; `None` if it is closed.
    #[inline]
    pub fn get(&self, n: u32) -> Option<&DescriptorTarget> {
        self.slots.get(n as usize)?.as_ref()
    }

    /// Sets a descriptor, or closes it for `None`, and returns its previous target. Numbers from
    /// [`MAX_FD`] on are ignored.
    pub fn set(&mut self, n: u32, desc: Option<DescriptorTarget>) -> Option<DescriptorTarget> {
        if n >= MAX_FD {
            return None;
        }
        let slots = Rc::make_mut(&mut self.slots);
        let n = n as usize;
        if slots.len() <= n {
            desc.as_ref()?;
            slots.resize(n + 1, None);
        }
        std::mem::replace(&mut slots[n], desc)
    }

    /// Returns the lowest free number from `from` on.
    pub fn free_from(&self, from: u32) -> Option<u32> {
        (from..MAX_FD).find(|n| self.get(*n).is_none())
    }

    /// Returns all open descriptors, ordered by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &DescriptorTarget)> {
        (0u32..).zip(self.slots.iter()).filter_map(|(n, d)| d.as_ref().map(|d| (n, d)))
    }
}

pub(crate) fn bad_fd() -> std::io::Error {
    std::io::Error::from_raw_os_error(box_sys::errno::code::EBADF)
}
