//! A program that can be run: machine code, and the memory that it begins with.

use crate::memory;
use crate::stack;
use crate::template::MemoryTemplate;
use std::sync::Arc;
use wasibox_kernel::EntryPoint;
use wasmer::Module;

/// A program's machine code, and its memory before it begins.
#[derive(Clone)]
pub struct LoadedProgram {
    pub module: Module,
    pub template: Arc<MemoryTemplate>,
    /// Its memory after it was prepared, see [`crate::snapshot`].
    pub snapshot: Option<Arc<MemoryTemplate>>,
}

/// Bytes that the engine keeps of an exception in addition to its values: 24 bytes, in a list that
/// grows by doubling.
const RECORD: u64 = 48;

impl LoadedProgram {
    /// Returns the initial memory of a process with this entry point.
    pub fn memory_of(&self, entry: EntryPoint) -> &Arc<MemoryTemplate> {
        match (entry, &self.snapshot) {
            (EntryPoint::Resume | EntryPoint::Cell { is_prepared: true }, Some(s)) => s,
            _ => &self.template,
        }
    }

    /// Returns the number of bytes that a process with this entry point needs at its start.
    pub fn needs(&self, entry: EntryPoint) -> u64 {
        let info = self.module.info();
        let memory: usize = info.memories.values().map(|m| m.minimum.bytes().0).sum();
        memory.max(self.memory_of(entry).size) as u64 + self.besides_memory()
    }

    /// Returns the bytes that each of its threads needs in addition to memory: tables and the first
    /// part of a stack.
    pub fn besides_memory(&self) -> u64 {
        let tables: u64 = self.module.info().tables.values().map(memory::table_bytes).sum();
        tables + stack::FIRST as u64
    }

    /// Returns the bytes that the host keeps for each exception that the program throws, until the
    /// process has ended: the engine's record with the slack of a growing list, and the thrown
    /// values, of 16 bytes each, rounded as the allocator does. Programs with several kinds pay for
    /// the largest. Measured in `tests/engine.rs`.
    pub fn exception(&self) -> u64 {
        let info = self.module.info();
        let values = |s: &_| info.signatures.get(*s).map_or(0, |s| s.params().len());
        let most = info.tags.values().map(values).max().unwrap_or(0);
        RECORD + (16 * most + 8).next_multiple_of(16).max(32) as u64
    }
}
