//! The time zone of the engine's local times.
//!
//! QuickJS asks the C library's `localtime_r` how far local time is from UTC. The guest's C library
//! knows no zones, so [`localtime_r`] takes its place there; elsewhere the system's own serves.

use std::sync::atomic::{AtomicPtr, Ordering};

/// Returns the seconds that local time is east of UTC at a point in time, in seconds since the
/// epoch.
pub type OffsetAt = fn(i64) -> i64;

/// The function of [`set_offset`], as an address; null before the first call.
static OFFSET: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Sets the function that defines local time.
pub fn set_offset(offset: OffsetAt) {
    OFFSET.store(offset as *mut (), Ordering::Relaxed);
}

/// Returns the offset by [`set_offset`]'s function; 0 without one.
#[cfg(any(target_os = "wasi", test))]
fn offset_at(time: i64) -> i64 {
    let address = OFFSET.load(Ordering::Relaxed);
    if address.is_null() {
        return 0;
    }
    // JUSTIFICATION: a function that C calls has no other way to state of ours.
    // SAFETY: only `set_offset` stores here, and only functions of this type.
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
    /// Both addresses are valid, as for the C library's function.
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
    fn the_function_that_was_set_is_asked() {
        assert_eq!(offset_at(0), 0);
        set_offset(|time| time / 2);
        assert_eq!(offset_at(7200), 3600);
    }
}
