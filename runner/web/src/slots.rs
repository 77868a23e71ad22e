//! The slots of running guests: which worker runs which guest, and whether it is in the guest's
//! code, which the page must know to end it.
//!
//! Each running process has a slot, which is a word in this module's memory: its generation and, in
//! the lowest two bits, the state. The page ends a guest by changing [`GUEST`] to 3, taken, in the
//! word that it was given. If that succeeds, the worker is in guest code, holds none of the
//! kernel's locks, and can be terminated. It cannot enter a call any more, because it stops at
//! [`to_kernel`]. If the change fails, either the worker is in the kernel, which notices the signal
//! itself, or the generation has changed because the slot belongs to another process by now.

use crate::ffi;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum number of processes at once.
pub const SLOTS: usize = 64;

const FREE: u32 = 0;
const KERNEL: u32 = 1;
const GUEST: u32 = 2;
const STATE: u32 = 3;

static WORDS: [AtomicU32; SLOTS] = [const { AtomicU32::new(FREE) }; SLOTS];

thread_local! {
    /// The slot of the process that this worker runs, and the bits of its generation.
    static HERE: Cell<Option<(usize, u32)>> = const { Cell::new(None) };
}

/// Returns the address of the words.
pub fn slots_address() -> u32 {
    ffi::address_of(&WORDS)
}

/// Takes a slot for the calling worker, and returns its number and generation; `None` if all are in
/// use.
pub fn take_slot() -> Option<(u32, u32)> {
    for (n, word) in WORDS.iter().enumerate() {
        let old = word.load(Ordering::SeqCst);
        let new = (old & !STATE) | KERNEL;
        if old & STATE == FREE
            && word.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        {
            HERE.set(Some((n, old & !STATE)));
            return Some((n as u32, old >> 2));
        }
    }
    None
}

/// Releases a slot; its next use has a different generation. `None` stands for the calling worker's
/// slot.
pub fn give_slot(slot: Option<u32>) {
    let n = match slot {
        Some(n) => Some(n as usize),
        None => HERE.take().map(|(n, _)| n),
    };
    if let Some(word) = n.and_then(|n| WORDS.get(n)) {
        let old = word.load(Ordering::SeqCst);
        word.store((old & !STATE).wrapping_add(4) | FREE, Ordering::SeqCst);
    }
}

/// Marks that the calling worker enters its guest's code.
pub fn to_guest() {
    turn_slot(KERNEL, GUEST);
}

/// Returns whether the calling worker is in the kernel, as recorded by [`to_guest`] and
/// [`to_kernel`].
pub fn is_in_kernel() -> bool {
    HERE.get().is_some_and(|(n, generation)| WORDS[n].load(Ordering::SeqCst) == generation | KERNEL)
}

/// Marks that the calling worker has left its guest's code. Does not return if the page has taken
/// the slot.
pub fn to_kernel() {
    turn_slot(GUEST, KERNEL);
}

fn turn_slot(from: u32, to: u32) {
    let Some((n, generation)) = HERE.get() else { return };
    let (old, new) = (generation | from, generation | to);
    let changed = WORDS[n].compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst);
    // A guest that the kernel has ended left its code by a call, which has changed the word.
    if changed.is_err_and(|now| now != new) {
        // The guest was taken, and its worker is about to be terminated. A browser may be late, and
        // another process may have the slot by then.
        loop {
            std::thread::park();
        }
    }
}
