//! The source of the allocator's memory: `sbrk`, which replaces wasi-libc's.
//!
//! wasi-libc's `sbrk` asks the engine to grow the memory for each piece. A host that runs one
//! program after another in one instance resets a memory to its first contents, but no engine makes
//! a memory smaller. So memory that already exists beyond the heap is taken first; it is zeroed,
//! like new memory.

use core::arch::wasm32::{memory_grow, memory_size};
use core::ffi::c_void;
use core::ptr::without_provenance_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

const PAGE: usize = 1 << 16;
/// The result of `sbrk` if no memory is left.
const NONE: *mut c_void = without_provenance_mut(usize::MAX);

/// The end of the heap; 0 until the first call.
static END: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    /// The end of the memory that the module begins with; the linker defines it.
    static __heap_end: u8;
}

/// Moves the end of the heap up by `increment` bytes, which are whole pages; returns the old end.
/// Dlmalloc, its only caller, makes no other requests.
// JUSTIFICATION: the C library's allocator calls the function by this name.
// SAFETY: no other function of the program has the name, because wasi-libc's own is not linked if
// this one exists.
#[unsafe(no_mangle)]
extern "C" fn sbrk(increment: isize) -> *mut c_void {
    let end = match END.load(Ordering::Relaxed) {
        0 => (&raw const __heap_end).addr(),
        end => end,
    };
    let wanted = usize::try_from(increment).ok().and_then(|more| end.checked_add(more));
    let Some(wanted) = wanted.filter(|wanted| wanted.is_multiple_of(PAGE)) else { return NONE };
    let missing = (wanted / PAGE).saturating_sub(memory_size(0));
    if missing > 0 && memory_grow(0, missing) == usize::MAX {
        return NONE;
    }
    END.store(wanted, Ordering::Relaxed);
    without_provenance_mut(end)
}
