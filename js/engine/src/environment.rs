//! The current environment.
//!
//! The C library reads the host's variables once and keeps its copy. In a process that starts from
//! prepared memory, that copy dates from the preparation. In an interpreter that runs cells, it
//! dates from the first cell.

/// Returns the names and values of all variables.
#[cfg(not(target_os = "wasi"))]
pub fn environment_variables() -> Vec<(String, String)> {
    let text = |s: std::ffi::OsString| s.to_string_lossy().into_owned();
    std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
}

#[cfg(target_os = "wasi")]
pub use guest::{environment_variables, refresh_environment};

/// Parses `NAME=value` strings, each of which ends with a NUL. Strings without `=` are skipped.
#[cfg(any(target_os = "wasi", test))]
fn parse_pairs(bytes: &[u8]) -> Vec<(String, String)> {
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    bytes
        .split(|b| *b == 0)
        .filter_map(|entry| {
            let at = entry.iter().position(|b| *b == b'=')?;
            Some((text(&entry[..at]), text(&entry[at + 1..])))
        })
        .collect()
}

#[cfg(target_os = "wasi")]
mod guest {
    // JUSTIFICATION: the standard library returns libc's copy of the environment, not the host's.
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        fn environ_sizes_get(count: *mut usize, size: *mut usize) -> u16;
        fn environ_get(list: *mut *mut u8, bytes: *mut u8) -> u16;
    }

    unsafe extern "C" {
        fn __wasilibc_initialize_environ();
    }

    /// Makes libc read the environment again. Call it at most once in a process, because libc does
    /// not free the old copy.
    pub fn refresh_environment() {
        // JUSTIFICATION: some code reads the environment through libc, for a new process's
        // descriptors and for time zones. SAFETY: this is libc's own function and has no arguments;
        // it is called while there is one thread, and nothing refers to a variable of the old copy.
        unsafe { __wasilibc_initialize_environ() };
    }

    /// Returns the names and values of all variables.
    pub fn environment_variables() -> Vec<(String, String)> {
        let (mut count, mut size) = (0, 0);
        // SAFETY: both pointers are to numbers that live for the call.
        if unsafe { environ_sizes_get(&mut count, &mut size) } != 0 {
            return Vec::new();
        }
        let mut list = vec![std::ptr::null_mut(); count];
        let mut bytes = vec![0; size];
        // SAFETY: both buffers have the sizes that the host has just reported, and nothing changes
        // the environment in between.
        match unsafe { environ_get(list.as_mut_ptr(), bytes.as_mut_ptr()) } {
            0 => super::parse_pairs(&bytes),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse_pairs;

    #[test]
    fn an_environment_is_read() {
        let both = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(parse_pairs(b"A=b=c\0B=\0broken\0"), [both("A", "b=c"), both("B", "")]);
        assert!(parse_pairs(b"").is_empty());
    }
}
