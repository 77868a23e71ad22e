//! Converts the interpreter in this worker to bytes and back: the differences of its memory from
//! the one that it began with ([`wasibox_kernel::parked`]).
//!
//! An engine does not report which parts of a memory were written to. So `sdk/web/dirty.js` hashes
//! all parts of the memory after each cell: 1 ms for about 10 MiB.

use crate::prepare::{self, PageTemplate};
use crate::{ffi, heap};
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;
use wasibox_kernel::EntryPoint;
use wasibox_kernel::layer::{self, PART};
use wasibox_kernel::parked::{self, Layers};
use wasibox_vfs::ProgramMark;

/// The whole memory of a parked interpreter.
pub struct ParkedMemory {
    pub program: ProgramMark,
    /// The prepared memory with which it began, if it did.
    pub prepared: Option<Arc<PageTemplate>>,
    /// The size of its memory in bytes.
    pub size: usize,
    /// The layers of its memory, the lowest first.
    pub layers: Vec<Vec<u8>>,
    pub reported: Layers,
}

/// The changes of an interpreter since the last query.
#[derive(Debug, Default)]
pub struct ParkChange {
    /// The number of earlier layers that remain valid.
    pub keep: usize,
    /// The layer on top of them; empty if there is none.
    pub layer: Vec<u8>,
    /// The size of its memory in bytes.
    pub size: usize,
    pub is_prepared: bool,
}

struct MemorySource {
    template: Arc<PageTemplate>,
    is_prepared: bool,
    /// The layers that were reported.
    reported: Layers,
}

thread_local! {
    static HERE: RefCell<Option<MemorySource>> = const { RefCell::new(None) };
}

/// The maximum growth in bytes of a memory that is kept for the next process. A memory that has
/// grown more is dropped, because no engine can shrink it.
const GROWN: usize = 32 << 20;

/// Starts a program in this worker, from its prepared memory or as its module describes. Returns
/// false if there is no room.
pub fn begin_program(
    program: ProgramMark,
    prepared: Option<&Arc<PageTemplate>>,
    entry: EntryPoint,
) -> bool {
    HERE.set(None);
    // A memory that is stored in layers must be the same everywhere, including its size.
    let may_be_spare = matches!(entry, EntryPoint::Start | EntryPoint::Resume);
    if !ffi::guest_begin(program.0, prepared.map(|t| t.content()), may_be_spare) {
        return false;
    }
    let of_module = || prepare::of_module(program);
    if prepared.is_none() {
        if ffi::guest_can_be_prepared() {
            prepare::program_begins(program);
        }
        if ffi::guest_can_begin_again() {
            of_module();
        }
    }
    if matches!(entry, EntryPoint::Cell { .. }) {
        let template = prepared.cloned().unwrap_or_else(of_module);
        let is_prepared = prepared.is_some();
        HERE.set(Some(MemorySource { template, is_prepared, reported: Layers::new() }));
        ffi::guest_settle();
    }
    true
}

/// Restores an interpreter into this worker; returns false if it does not fit, or there is no room.
pub fn restore_parked(parked: ParkedMemory) -> bool {
    let ParkedMemory { program, prepared, size, layers, reported } = parked;
    if !begin_program(
        program,
        prepared.as_ref(),
        EntryPoint::Cell { is_prepared: prepared.is_some() },
    ) {
        return false;
    }
    if !ffi::guest_grow(size) || ffi::guest_size() != size {
        return false;
    }
    let mut seen = HashSet::new();
    let mut bytes = [0; PART];
    for differs in layers.iter().rev().flat_map(|layer| layer::layer_parts(layer)) {
        let Some(differs) = differs else { return false };
        let at = differs.number as usize * PART;
        if at + PART > size {
            return false;
        }
        if seen.insert(differs.number) {
            ffi::guest_read(at as u32, &mut bytes);
            differs.apply_to(&mut bytes);
            ffi::guest_write(at as u32, &bytes);
        }
    }
    // The restored content is not a change.
    ffi::guest_settle();
    HERE.with_borrow_mut(|here| here.as_mut().map(|here| here.reported = reported)).is_some()
}

/// Returns the changes of this worker's interpreter, if there is one and there is room for them.
pub fn take_change() -> Option<ParkChange> {
    HERE.with_borrow_mut(|here| {
        let MemorySource { template, is_prepared, reported } = here.as_mut()?;
        let parts = ffi::guest_changed();
        // The layer grows by doubling, and is then compressed.
        if 4 * (parts.len() * PART) as u64 > heap::free_room() {
            return None;
        }
        let mut now = [0; PART];
        let (keep, layer) = parked::layer_change(reported, parts, false, |n, add| {
            ffi::guest_read(n * PART as u32, &mut now);
            add(&now, template.part(n));
        });
        Some(ParkChange { keep, layer, size: ffi::guest_size(), is_prepared: *is_prepared })
    })
}

/// Returns the memory to which this worker's guest, which runs `program`, can be reset when it has
/// ended; `None` if it cannot be reset.
pub fn reset_template(program: ProgramMark) -> Option<Arc<PageTemplate>> {
    let template =
        prepare::prepared_template(program).or_else(|| prepare::known_of_module(program))?;
    let fits = ffi::guest_size() <= template.size + GROWN;
    (fits && ffi::guest_can_begin_again()).then_some(template)
}

/// Handles the end of this worker's guest. It is reset to `again`, and the next process of its
/// program starts with it, because making an instance takes longer than filling a memory.
pub fn guest_ended(again: Option<Arc<PageTemplate>>) {
    HERE.set(None);
    match again {
        Some(template) => ffi::guest_begin_again(template.content()),
        None => ffi::forget_guest(),
    }
}

/// Drops this worker's guest.
pub fn forget_running_guest() {
    HERE.set(None);
    ffi::forget_guest();
}
