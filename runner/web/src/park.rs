//! The interpreter that stands in this worker, as bytes and back: what its memory differs in from the one that it began as
//! ([`wasibox_kernel::parked`]).
//!
//! An engine tells nobody what was written to. So `sdk/web/dirty.js` hashes all parts of the memory after each cell: 1 ms for
//! about 10 MiB.

use crate::ffi;
use crate::prepare::{self, Template};
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;
use wasibox_kernel::layer::{self, PART};
use wasibox_kernel::parked::{self, Layers};
use wasibox_vfs::Program;

/// One that is parked: all of its memory.
pub struct Parked {
    pub program: Program,
    /// The prepared memory that it began as, if it did.
    pub prepared: Option<Arc<Template>>,
    /// Bytes of its memory.
    pub size: usize,
    /// The undermost first.
    pub layers: Vec<Vec<u8>>,
    pub told: Layers,
}

/// What has changed in one since it was last asked for.
#[derive(Debug, Default)]
pub struct Change {
    /// How many of the layers that were told before stay.
    pub keep: usize,
    /// The layer upon them; empty if there is none.
    pub layer: Vec<u8>,
    /// Bytes of its memory.
    pub size: usize,
    pub is_prepared: bool,
}

struct Here {
    template: Arc<Template>,
    is_prepared: bool,
    /// What was told of it.
    told: Layers,
}

thread_local! {
    static HERE: RefCell<Option<Here>> = const { RefCell::new(None) };
}

/// A program begins in this worker, as it was prepared or as its module says; with `stays` as an interpreter. False if there
/// is no room.
pub fn begin(program: Program, prepared: Option<&Arc<Template>>, stays: bool) -> bool {
    HERE.set(None);
    let memory = prepared.map(|t| (&*t.content, t.start as u32, t.size));
    if !ffi::guest_begin(program.0, memory) {
        return false;
    }
    let whole = || {
        let mut memory = vec![0; ffi::guest_size()];
        ffi::guest_read(0, &mut memory);
        memory
    };
    let of_module = || prepare::of_module(program, whole);
    if prepared.is_none() && ffi::guest_can_begin_again() {
        of_module();
    }
    if stays {
        let template = prepared.cloned().unwrap_or_else(of_module);
        let is_prepared = prepared.is_some();
        HERE.set(Some(Here { template, is_prepared, told: Layers::new() }));
        ffi::guest_settle();
    }
    true
}

/// Brings one back into this worker; false if it does not fit, or there is no room.
pub fn restore(parked: Parked) -> bool {
    let Parked { program, prepared, size, layers, told } = parked;
    if !begin(program, prepared.as_ref(), true) {
        return false;
    }
    if !ffi::guest_grow(size) || ffi::guest_size() != size {
        return false;
    }
    let mut seen = HashSet::new();
    let mut bytes = [0; PART];
    for differs in layers.iter().rev().flat_map(|layer| layer::parts(layer)) {
        let Some(differs) = differs else { return false };
        let at = differs.number as usize * PART;
        if at + PART > size {
            return false;
        }
        if seen.insert(differs.number) {
            ffi::guest_read(at as u32, &mut bytes);
            differs.apply(&mut bytes);
            ffi::guest_write(at as u32, &bytes);
        }
    }
    // What was put is no change.
    ffi::guest_settle();
    HERE.with_borrow_mut(|here| here.as_mut().map(|here| here.told = told)).is_some()
}

/// What has changed in the interpreter of this worker, if there is one.
pub fn change() -> Option<Change> {
    HERE.with_borrow_mut(|here| {
        let Here { template, is_prepared, told } = here.as_mut()?;
        let parts = ffi::guest_changed();
        let mut now = [0; PART];
        let (keep, layer) = parked::change(told, parts, false, |n, add| {
            ffi::guest_read(n * PART as u32, &mut now);
            add(&now, template.part(n));
        });
        Some(Change { keep, layer, size: ffi::guest_size(), is_prepared: *is_prepared })
    })
}

/// The guest of this worker, of that program, has ended. If its program allows it, it is put back to what it began as, and
/// the next one of that program begins with it: an instance takes longer to make than a memory to fill.
pub fn ended(program: Program) {
    HERE.set(None);
    let template = prepare::known_of_module(program).filter(|_| ffi::guest_can_begin_again());
    match template {
        Some(template) => ffi::guest_begin_again((&template.content, template.start as u32)),
        None => ffi::forget_guest(),
    }
}

/// The guest of this worker is no more.
pub fn forget() {
    HERE.set(None);
    ffi::forget_guest();
}
