//! Error texts as `strerror(3)` gives them on Linux, because users and models know those.
//!
//! `std`'s own `Display` adds ` (os error N)`, and WASI's numbers differ from Linux's.

use std::io;

/// Returns the text of an I/O error, for example `No such file or directory`.
pub fn error_text(e: &io::Error) -> String {
    if let Some(code) = e.raw_os_error() {
        if let Some(text) = from_raw(code) {
            return text.to_string();
        }
        let full = e.to_string();
        return full.split(" (os error").next().unwrap_or(&full).to_string();
    }
    match e.kind() {
        io::ErrorKind::NotFound => "No such file or directory".into(),
        io::ErrorKind::PermissionDenied => "Permission denied".into(),
        io::ErrorKind::BrokenPipe => "Broken pipe".into(),
        io::ErrorKind::AlreadyExists => "File exists".into(),
        io::ErrorKind::IsADirectory => "Is a directory".into(),
        io::ErrorKind::NotADirectory => "Not a directory".into(),
        io::ErrorKind::InvalidInput => "Invalid argument".into(),
        io::ErrorKind::TimedOut => "Connection timed out".into(),
        io::ErrorKind::StorageFull => "No space left on device".into(),
        _ => e.to_string(),
    }
}

/// Returns the text for an errno of WASI preview 1 (`wasi/api.h`).
#[cfg(target_os = "wasi")]
fn from_raw(code: i32) -> Option<&'static str> {
    Some(match code {
        1 => "Argument list too long",
        2 => "Permission denied",
        3 => "Address already in use",
        4 => "Cannot assign requested address",
        5 => "Address family not supported by protocol",
        6 => "Resource temporarily unavailable",
        8 => "Bad file descriptor",
        10 => "Device or resource busy",
        12 => "No child processes",
        14 => "Connection refused",
        15 => "Connection reset by peer",
        16 => "Resource deadlock avoided",
        20 => "File exists",
        21 => "Bad address",
        22 => "File too large",
        26 => "Operation now in progress",
        27 => "Interrupted system call",
        28 => "Invalid argument",
        29 => "Input/output error",
        30 => "Transport endpoint is already connected",
        31 => "Is a directory",
        32 => "Too many levels of symbolic links",
        33 => "Too many open files",
        34 => "Too many links",
        35 => "Message too long",
        37 => "File name too long",
        40 => "Network is unreachable",
        41 => "Too many open files in system",
        42 => "No buffer space available",
        43 => "No such device",
        44 => "No such file or directory",
        45 => "Exec format error",
        48 => "Cannot allocate memory",
        51 => "No space left on device",
        52 => "Function not implemented",
        53 => "Transport endpoint is not connected",
        54 => "Not a directory",
        55 => "Directory not empty",
        57 => "Socket operation on non-socket",
        58 => "Operation not supported",
        59 => "Inappropriate ioctl for device",
        60 => "No such device or address",
        61 => "Value too large for defined data type",
        63 => "Operation not permitted",
        64 => "Broken pipe",
        68 => "Numerical result out of range",
        69 => "Read-only file system",
        70 => "Illegal seek",
        71 => "No such process",
        73 => "Connection timed out",
        74 => "Text file busy",
        75 => "Invalid cross-device link",
        76 => "Permission denied",
        _ => return None,
    })
}

#[cfg(unix)]
fn from_raw(_: i32) -> Option<&'static str> {
    None
}

/// The error numbers of POSIX errors on this system.
pub mod code {
    macro_rules! codes { ($($name:ident = $wasi:expr;)*) => { $(
        /// The error that POSIX gives this name.
        #[cfg(target_os = "wasi")]
        pub const $name: i32 = $wasi;
        /// The error that POSIX gives this name.
        #[cfg(unix)]
        pub const $name: i32 = libc::$name;
    )* } }
    codes! {
        EBADF = 8; ECHILD = 12; EEXIST = 20; EINVAL = 28; EISDIR = 31; ELOOP = 32;
        ENOENT = 44; ENOEXEC = 45; ENOSPC = 51; ENOSYS = 52; ENOTDIR = 54; ENOTEMPTY = 55; ENOTSUP = 58;
        EPERM = 63; EPIPE = 64; EROFS = 69; ESPIPE = 70; ESRCH = 71; EXDEV = 75; EACCES = 2; EAGAIN = 6;
    }
}
