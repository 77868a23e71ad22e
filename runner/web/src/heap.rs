//! Where the allocator gets memory from: `sbrk`, in the place of wasi-libc's.
//!
//! That one has the engine grow the memory. V8 tells the other threads' instances of it, but an instance hears only when its
//! code looks for interrupts; until then its `memory.copy` and `memory.fill` take what lies beyond for out of bounds, and
//! `Memory.buffer` is too short. A thread that was handed such an address a moment ago would end by a trap that no
//! program deserves. So the page makes the memory as large as it will ever be, which costs addresses and no memory, and
//! the heap ends somewhere within.

use core::arch::wasm32::memory_size;
use core::ffi::c_void;
use core::ptr::without_provenance_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

const PAGE: usize = 1 << 16;
/// What `sbrk` gives if there is no memory.
const NONE: *mut c_void = without_provenance_mut(usize::MAX);

/// Bytes that were handed out: the heap ends so far behind the memory that the module was linked with.
static HANDED_OUT: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    /// The end of the memory that the module was linked with, from the linker.
    static __heap_end: u8;
}

/// Where the count of bytes lies that were handed out.
pub fn address() -> u32 {
    HANDED_OUT.as_ptr() as u32
}

/// Moves the end of the heap up by that many bytes, whole pages; gives where it was. Dlmalloc, its only caller, asks for
/// nothing else.
// JUSTIFICATION: the C library's allocator calls it by this name.
// SAFETY: nothing else of the module has it, as wasi-libc's own is not linked then.
#[unsafe(no_mangle)]
extern "C" fn sbrk(increment: isize) -> *mut c_void {
    let first = (&raw const __heap_end).addr();
    let Ok(more) = usize::try_from(increment) else { return NONE };
    let most = memory_size(0).saturating_mul(PAGE) - first;
    let after = |handed_out: usize| {
        handed_out.checked_add(more).filter(|n| n.is_multiple_of(PAGE) && *n <= most)
    };
    match HANDED_OUT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after) {
        Ok(before) => without_provenance_mut(first + before),
        Err(_) => NONE,
    }
}
