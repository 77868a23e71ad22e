//! The empty path, which names no file (POSIX XBD 4.16). In every call that takes a path, wasi-libc
//! turns an empty path into `.` before the host sees it. The linker wraps the two functions of
//! wasi-libc that split a path into a directory's descriptor and a relative path (`--wrap`, from
//! the build script of the program `box`), so that an empty path stays empty and the kernel answers
//! ENOENT.

use core::ffi::{c_char, c_int};

/// The root, for which a descriptor is always found.
const ROOT: *const c_char = c"/".as_ptr();

// JUSTIFICATION: these are libc's own functions, under the names that `--wrap` gives them; their
// types are those of wasi-libc's `wasi/libc-find-relpath.h`.
unsafe extern "C" {
    #[link_name = "__real___wasilibc_find_relpath"]
    fn find_relpath(
        path: *const c_char,
        prefix: *mut *const c_char,
        relative: *mut *mut c_char,
        room: usize,
    ) -> c_int;
    #[link_name = "__real___wasilibc_find_relpath_alloc"]
    fn find_relpath_alloc(
        path: *const c_char,
        prefix: *mut *const c_char,
        relative: *mut *mut c_char,
        room: *mut usize,
        can_grow: c_int,
    ) -> c_int;
}

/// Finds the descriptor for `path` and points `relative` at the rest, which is empty for an empty
/// path.
// JUSTIFICATION: the linker replaces libc's function with the one of this name.
// SAFETY: no other function of the program has the name; callers pass the pointers that
// `wasi/libc-find-relpath.h` asks for. `relative` may point at a constant, because libc itself
// does that for `.`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap___wasilibc_find_relpath(
    path: *const c_char,
    prefix: *mut *const c_char,
    relative: *mut *mut c_char,
    room: usize,
) -> c_int {
    unsafe {
        if *path != 0 {
            return find_relpath(path, prefix, relative, room);
        }
        let fd = find_relpath(ROOT, prefix, relative, room);
        if fd >= 0 {
            *relative = c"".as_ptr().cast_mut();
        }
        fd
    }
}

/// Finds the descriptor for `path` and writes the rest into the buffer at `relative`, which libc
/// grows; the rest of an empty path is empty.
// JUSTIFICATION: as above.
// SAFETY: as above; if a descriptor was found, the buffer holds the rest of `/` and its
// terminator.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap___wasilibc_find_relpath_alloc(
    path: *const c_char,
    prefix: *mut *const c_char,
    relative: *mut *mut c_char,
    room: *mut usize,
    can_grow: c_int,
) -> c_int {
    unsafe {
        if *path != 0 {
            return find_relpath_alloc(path, prefix, relative, room, can_grow);
        }
        let fd = find_relpath_alloc(ROOT, prefix, relative, room, can_grow);
        if fd >= 0 {
            **relative = 0;
        }
        fd
    }
}
