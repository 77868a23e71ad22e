//! The interpreter that stands in this worker, as bytes and back: what its memory differs in from the one that it began as
//! ([`wasibox_kernel::parked`]).
//!
//! An engine tells nobody what was written to. So `sdk/web/dirty.js` hashes all parts of the memory after each cell: 1 ms for
//! about 10 MiB.

use crate::prepare::{self, PageTemplate};
use crate::{ffi, heap};
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;
use wasibox_kernel::EntryPoint;
use wasibox_kernel::layer::{self, PART};
use wasibox_kernel::parked::{self, Layers};
use wasibox_vfs::ProgramMark;

/// One that is parked: all of its memory.
pub struct ParkedMemory {
    pub program: ProgramMark,
    /// The prepared memory that it began as, if it did.
    pub prepared: Option<Arc<PageTemplate>>,
    /// Bytes of its memory.
    pub size: usize,
    /// The undermost first.
    pub layers: Vec<Vec<u8>>,
    pub told: Layers,
}

/// What has changed in one since it was last asked for.
#[derive(Debug, Default)]
pub struct ParkChange {
    /// How many of the layers that were told before stay.
    pub keep: usize,
    /// The layer upon them; empty if there is none.
    pub layer: Vec<u8>,
    /// Bytes of its memory.
    pub size: usize,
    pub is_prepared: bool,
}

struct MemorySource {
    template: Arc<PageTemplate>,
    is_prepared: bool,
    /// What was told of it.
    told: Layers,
}

thread_local! {
    static HERE: RefCell<Option<MemorySource>> = const { RefCell::new(None) };
}

/// Bytes that a memory may have grown by and is kept for the next process: no engine makes one smaller.
const GROWN: usize = 32 << 20;

/// A program begins in this worker, as it was prepared or as its module says. False if there is no room.
pub fn begin_program(
    program: ProgramMark,
    prepared: Option<&Arc<PageTemplate>>,
    entry: EntryPoint,
) -> bool {
    HERE.set(None);
    // A memory that is told of must be as it is everywhere: as large, too.
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
        HERE.set(Some(MemorySource { template, is_prepared, told: Layers::new() }));
        ffi::guest_settle();
    }
    true
}

/// Brings one back into this worker; false if it does not fit, or there is no room.
pub fn restore_parked(parked: ParkedMemory) -> bool {
    let ParkedMemory { program, prepared, size, layers, told } = parked;
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
    // What was put is no change.
    ffi::guest_settle();
    HERE.with_borrow_mut(|here| here.as_mut().map(|here| here.told = told)).is_some()
}

/// What has changed in the interpreter of this worker, if there is one and there is room for it.
pub fn take_change() -> Option<ParkChange> {
    HERE.with_borrow_mut(|here| {
        let MemorySource { template, is_prepared, told } = here.as_mut()?;
        let parts = ffi::guest_changed();
        // The layer grows by doubling, and is then packed.
        if 4 * (parts.len() * PART) as u64 > heap::free_room() {
            return None;
        }
        let mut now = [0; PART];
        let (keep, layer) = parked::layer_change(told, parts, false, |n, add| {
            ffi::guest_read(n * PART as u32, &mut now);
            add(&now, template.part(n));
        });
        Some(ParkChange { keep, layer, size: ffi::guest_size(), is_prepared: *is_prepared })
    })
}

/// What the guest of this worker, of that program, can be put back to when it has ended; `None` if it cannot.
pub fn reset_template(program: ProgramMark) -> Option<Arc<PageTemplate>> {
    let template =
        prepare::prepared_template(program).or_else(|| prepare::known_of_module(program))?;
    let fits = ffi::guest_size() <= template.size + GROWN;
    (fits && ffi::guest_can_begin_again()).then_some(template)
}

/// The guest of this worker has ended. It is put back to this, and the next process of its program begins with it: an
/// instance takes longer to make than a memory to fill.
pub fn guest_ended(again: Option<Arc<PageTemplate>>) {
    HERE.set(None);
    match again {
        Some(template) => ffi::guest_begin_again(template.content()),
        None => ffi::forget_guest(),
    }
}

/// The guest of this worker is no more.
pub fn forget_running_guest() {
    HERE.set(None);
    ffi::forget_guest();
}
