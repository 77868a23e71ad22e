//! The heap: the source of the allocator's memory, with an `sbrk` in place of wasi-libc's, and a
//! count of the bytes in use.
//!
//! Wasi-libc's `sbrk` makes the engine grow the memory. V8 informs the other threads' instances,
//! but an instance notices only when its code checks for interrupts; until then its `memory.copy`
//! and `memory.fill` treat the new part as out of bounds, and `Memory.buffer` is too short. A
//! thread that has just received such an address would trap through no fault of the program. So the
//! page makes the memory as large as it will ever be, which costs address space but no memory, and
//! the heap ends somewhere inside it.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::memory_size;
use core::ffi::c_void;
use core::ptr::without_provenance_mut;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::alloc::System;

const PAGE: usize = 1 << 16;
/// The result of `sbrk` if there is no memory.
const NONE: *mut c_void = without_provenance_mut(usize::MAX);

/// Bytes that were handed out: the distance of the heap's end from the end of the linked memory.
static HANDED_OUT: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    /// The end of the memory that the module was linked with, from the linker.
    static __heap_end: u8;
}

/// Number of allocated bytes.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// Returns the address of the count of allocated bytes.
pub fn counter_address() -> u32 {
    ALLOCATED.as_ptr() as u32
}

/// Returns the size of the memory in bytes.
fn memory_bytes() -> usize {
    memory_size(0).saturating_mul(PAGE)
}

/// Returns the bytes that may still be allocated. A sixteenth of the memory is excluded, for
/// allocations that are not checked and for fragmentation.
pub fn free_room() -> u64 {
    let size = memory_bytes();
    size.saturating_sub(size / 16 + ALLOCATED.load(Ordering::Relaxed)) as u64
}

/// The room in bytes that must remain free.
static FLOOR: AtomicUsize = AtomicUsize::new(0);

/// A guard for an operation that may add to the session. While it exists, guests may use only a
/// third of the free room, because new file contents are written as objects afterwards, and then
/// once more for the page's store.
pub struct HeapGuard(());

/// Begins an operation that may add to the session.
pub fn begin_guard() -> HeapGuard {
    let room = free_room();
    FLOOR.store((room - room / 3) as usize, Ordering::Relaxed);
    HeapGuard(())
}

/// Returns whether almost no room is left.
pub fn is_full() -> bool {
    free_room() < memory_bytes() as u64 / 32
}

impl Drop for HeapGuard {
    fn drop(&mut self) {
        FLOOR.store(0, Ordering::Relaxed);
    }
}

/// Returns whether guests may add kept data.
pub fn has_room() -> bool {
    free_room() > FLOOR.load(Ordering::Relaxed) as u64
}

/// The C library's allocator, with a count of allocated bytes.
struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// JUSTIFICATION: there is no other way to count allocated bytes. SAFETY: every call is passed
// unchanged to the system's allocator; the count does not affect it.
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

/// Moves the heap's end up by `increment` bytes, a whole number of pages, and returns its old
/// address. Dlmalloc, its only caller, asks for nothing else.
// JUSTIFICATION: the C library's allocator calls it by this name. SAFETY: no other part of the
// module defines it, because wasi-libc's own is then not linked.
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
