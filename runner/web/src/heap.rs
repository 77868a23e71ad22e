//! The heap: where the allocator gets memory from, `sbrk` in the place of wasi-libc's, and how much of it is in use.
//!
//! Wasi-libc's has the engine grow the memory. V8 tells the other threads' instances of it, but an instance hears only when its
//! code looks for interrupts; until then its `memory.copy` and `memory.fill` take what lies beyond for out of bounds, and
//! `Memory.buffer` is too short. A thread that was handed such an address a moment ago would end by a trap that no
//! program deserves. So the page makes the memory as large as it will ever be, which costs addresses and no memory, and
//! the heap ends somewhere within.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::memory_size;
use core::ffi::c_void;
use core::ptr::without_provenance_mut;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::alloc::System;

const PAGE: usize = 1 << 16;
/// What `sbrk` gives if there is no memory.
const NONE: *mut c_void = without_provenance_mut(usize::MAX);

/// Bytes that were handed out: the heap ends so far behind the memory that the module was linked with.
static HANDED_OUT: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    /// The end of the memory that the module was linked with, from the linker.
    static __heap_end: u8;
}

/// Bytes that are allocated.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// Where the count of allocated bytes lies.
pub fn counter_address() -> u32 {
    ALLOCATED.as_ptr() as u32
}

/// Bytes of the memory.
fn memory_bytes() -> usize {
    memory_size(0).saturating_mul(PAGE)
}

/// Bytes that may still be allocated, but for a sixteenth of the memory: for what is not asked about, and for holes.
pub fn free_room() -> u64 {
    let size = memory_bytes();
    size.saturating_sub(size / 16 + ALLOCATED.load(Ordering::Relaxed)) as u64
}

/// Room that is to be left.
static FLOOR: AtomicUsize = AtomicUsize::new(0);

/// Something that may add to the session. Until it is dropped guests get a third of the room that there was, since what is new
/// in files is written down as objects afterwards, and then once more for the page's store.
pub struct HeapGuard(());

/// Such a thing begins.
pub fn begin_guard() -> HeapGuard {
    let room = free_room();
    FLOOR.store((room - room / 3) as usize, Ordering::Relaxed);
    HeapGuard(())
}

/// Whether there is next to no room.
pub fn is_full() -> bool {
    free_room() < memory_bytes() as u64 / 32
}

impl Drop for HeapGuard {
    fn drop(&mut self) {
        FLOOR.store(0, Ordering::Relaxed);
    }
}

/// Whether guests may have something kept.
pub fn has_room() -> bool {
    free_room() > FLOOR.load(Ordering::Relaxed) as u64
}

/// The C library's allocator, and the count.
struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// JUSTIFICATION: there is no other way to learn what is allocated.
// SAFETY: all of it is the system's allocator's, called as this is; the count changes nothing of it.
unsafe impl GlobalAlloc for CountingAllocator {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // JUSTIFICATION and SAFETY: as above.
        let at = unsafe { System.alloc(layout) };
        if !at.is_null() {
            ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        }
        at
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // JUSTIFICATION and SAFETY: as above.
        let at = unsafe { System.alloc_zeroed(layout) };
        if !at.is_null() {
            ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        }
        at
    }

    #[inline(never)]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // JUSTIFICATION and SAFETY: as above.
        unsafe { System.dealloc(at, layout) };
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
    }

    #[inline(never)]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // JUSTIFICATION and SAFETY: as above.
        let to = unsafe { System.realloc(at, layout, size) };
        if !to.is_null() {
            ALLOCATED.fetch_add(size, Ordering::Relaxed);
            ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        }
        to
    }
}

/// Moves the end of the heap up by that many bytes, whole pages; gives where it was. Dlmalloc, its only caller, asks for
/// nothing else.
// JUSTIFICATION: the C library's allocator calls it by this name.
// SAFETY: nothing else of the module has it, as wasi-libc's own is not linked then.
#[unsafe(no_mangle)]
extern "C" fn sbrk(increment: isize) -> *mut c_void {
    let first = (&raw const __heap_end).addr();
    let Ok(more) = usize::try_from(increment) else { return NONE };
    let most = memory_bytes() - first;
    let after = |handed_out: usize| {
        handed_out.checked_add(more).filter(|n| n.is_multiple_of(PAGE) && *n <= most)
    };
    match HANDED_OUT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after) {
        Ok(before) => without_provenance_mut(first + before),
        Err(_) => NONE,
    }
}
