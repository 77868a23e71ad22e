//! Settings of the host's heap for a process that ends soon, and for one that continues after a
//! large session.
//!
//! Loading a program's machine code fills a few megabytes of tables, and each page of a fresh heap
//! costs a page fault: 3,000 of them were a third of the time of `python3 -c pass` (2.4 us each on
//! the virtual machine of the measurement: 24 ms with them, 17 ms without). If the kernel gives
//! huge pages on request, the first megabytes of the heap ask for them; a fault then brings 2 MiB.

/// Bytes by which the heap grows at a time, and which are not given back to the system.
const STEP: usize = 32 << 20;

/// Lets the allocator take memory in large steps and asks for huge pages for the first of them. A
/// short-lived process calls this before anything else; the price is up to 2 MiB of memory that is
/// zeroed for nothing. Has no effect if the C library is not glibc.
pub fn use_huge_pages() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::use_huge_pages();
}

/// Gives freed memory back to the system, because the allocator keeps whole heaps of threads that
/// have ended: about 100 MB after a session of that size. Takes milliseconds if the heap is large.
/// Has no effect if the C library is not glibc.
pub fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // JUSTIFICATION: the allocator has no other interface for this than C's.
    // SAFETY: it locks the allocator's heaps and gives back pages that no allocation has.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use super::STEP;
    use rustix::mm::{Advice, madvise};
    use std::ffi::c_void;

    /// A huge page of x86-64 and, with pages of 4 KiB, of ARM64.
    const HUGE: usize = 2 << 20;
    /// The size of an allocation that is larger than the rest of the initial heap, and smaller than
    /// those that the allocator maps separately.
    const PROBE: usize = 1 << 20;
    const SEPARATE: i32 = 16 << 20;

    pub(super) fn use_huge_pages() {
        let options = [
            // One heap for all threads: it is the one with huge pages, and the host's side of a
            // guest's system call rarely allocates more than the thread's own cache has.
            (libc::M_ARENA_MAX, 1),
            (libc::M_MMAP_THRESHOLD, SEPARATE),
            (libc::M_TOP_PAD, STEP as i32),
            (libc::M_TRIM_THRESHOLD, 2 * STEP as i32),
        ];
        for (name, value) in options {
            // JUSTIFICATION: the allocator has no other interface for this than C's.
            // SAFETY: mallopt takes two numbers and locks the allocator; it keeps no pointers.
            unsafe { libc::mallopt(name, value) };
        }
        let at = |v: &Vec<u8>| v.as_ptr() as usize;
        let probe: Vec<u8> = Vec::with_capacity(PROBE);
        let begin = at(&probe).next_multiple_of(HUGE);
        let gap = begin - at(&probe);
        drop(probe);
        // The bytes before the first boundary are allocated and never touched, so that the tables
        // come after the boundary. The black box keeps the compiler from removing the unused
        // allocation.
        let before = Vec::<u8>::with_capacity(gap.saturating_sub(64));
        std::mem::forget(std::hint::black_box(before));
        // JUSTIFICATION: only the kernel knows where the heap ends. SAFETY: sbrk(0) changes
        // nothing.
        let end = unsafe { libc::sbrk(0) } as usize / HUGE * HUGE;
        // If the heap could not grow in place, it is elsewhere; then there is nothing to advise.
        if begin < end && end - begin <= 2 * STEP {
            // JUSTIFICATION: advice about addresses is a system call on raw memory.
            // SAFETY: MADV_HUGEPAGE changes no content and no mapping, only how the kernel backs
            // pages; the range is the allocator's heap, between an allocation of it and its end.
            let _ = unsafe { madvise(begin as *mut c_void, end - begin, Advice::LinuxHugepage) };
        }
    }
}
