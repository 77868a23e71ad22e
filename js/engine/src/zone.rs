//! The time zone of the engine's local times.
//!
//! QuickJS calls the C library's `localtime_r` for the offset of local time from UTC. The guest's C
//! library has no time zones, so this module defines `localtime_r` for the guest; other builds use
//! the system's.

use std::sync::atomic::{AtomicPtr, Ordering};

/// A function that returns the offset of local time from UTC in seconds, positive east of UTC, at a
/// time given in seconds since the epoch.
pub type OffsetAt = fn(i64) -> i64;

/// The address of the function that was passed to [`set_offset`]; null before the first call.
static OFFSET: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Sets the function that defines local time.
pub fn set_offset(offset: OffsetAt) {
    OFFSET.store(offset as *mut (), Ordering::Relaxed);
}

/// Returns the offset that the function passed to [`set_offset`] computes, or 0 if there is none.
#[cfg(any(target_os = "wasi", test))]
fn offset_at(time: i64) -> i64 {
    let address = OFFSET.load(Ordering::Relaxed);
    if address.is_null() {
        return 0;
    }
    // JUSTIFICATION: C passes no context to `localtime_r`, so the function is kept in a static, as
    // an address. SAFETY: only `set_offset` stores here, and only functions of this type.
    let offset = unsafe { std::mem::transmute::<*mut (), OffsetAt>(address) };
    offset(time)
}

#[cfg(target_os = "wasi")]
mod guest {
    use std::ffi::{c_char, c_int};

    /// wasi-libc's `struct tm`.
    #[repr(C)]
    pub struct BrokenTime {
        fields: [c_int; 9],
        offset: c_int,
        zone: *const c_char,
        nanoseconds: c_int,
    }

    unsafe extern "C" {
        fn gmtime_r(time: *const i64, out: *mut BrokenTime) -> *mut BrokenTime;
    }

    /// POSIX `localtime_r`, for the C code of the engine.
    ///
    /// # Safety
    /// Both pointers must be valid, as for the C library's function.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn localtime_r(
        time: *const i64,
        out: *mut BrokenTime,
    ) -> *mut BrokenTime {
        // JUSTIFICATION: the engine has no other hook for its time zone. SAFETY: the caller's
        // promise; `local` lives for the call, and `out` is filled by libc before it is changed.
        unsafe {
            let offset = super::offset_at(*time);
            let local = (*time).saturating_add(offset);
            let made = gmtime_r(&raw const local, out);
            if !made.is_null() {
                (*made).offset = offset as c_int;
            }
            made
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_at_calls_the_function_that_was_set() {
        assert_eq!(offset_at(0), 0);
        set_offset(|time| time / 2);
        assert_eq!(offset_at(7200), 3600);
    }
}
