//! What plain WASI preview 1 leaves us: spool files instead of pipes, and moving
//! descriptors so that an applet that uses `std`'s global streams can run in-process.

use std::fs::{File, OpenOptions};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// A pair of descriptors on one unlinked temporary file: what is written through the
/// second is read through the first. Stands in for a pipe where stages run one after another.
pub fn spool() -> io::Result<(File, File)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    let tmp = std::env::var("TMPDIR").unwrap_or_default();
    for dir in [tmp.as_str(), "/tmp", "."] {
        if dir.is_empty() {
            continue;
        }
        for _ in 0..64 {
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{dir}/.box-spool-{n}");
            match OpenOptions::new().write(true).create_new(true).open(&name) {
                Ok(w) => {
                    let r = File::open(&name)?;
                    std::fs::remove_file(&name)?;
                    return Ok((r, w));
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => {
                    last = e;
                    break;
                }
            }
        }
    }
    Err(last)
}

/// Runs `f` while descriptors 0, 1 and 2 refer to the given files (`None` leaves one as it
/// is), then puts the original descriptors back. The files are closed.
#[cfg(target_os = "wasi")]
pub fn with_stdio<R>(files: [Option<File>; 3], f: impl FnOnce() -> R) -> io::Result<R> {
    use std::os::fd::IntoRawFd;
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        fn fd_renumber(from: u32, to: u32) -> i32;
    }
    let renumber = |from: u32, to: u32| {
        // JUSTIFICATION: preview 1 has no dup; renumbering is the only way to redirect.
        // SAFETY: plain integers; ownership is tracked below: each number has one owner at a time.
        match unsafe { fd_renumber(from, to) } {
            0 => Ok(()),
            e => Err(io::Error::from_raw_os_error(e)),
        }
    };
    let mut saved = [None; 3];
    for (n, file) in (0u32..).zip(files) {
        let Some(file) = file else { continue };
        // A placeholder's number becomes the parking place of the original descriptor.
        let (place, _w) = spool()?;
        let place = place.into_raw_fd() as u32;
        renumber(n, place)?;
        // On runtimes where `to` must be open, `n` is free now; a fresh open reclaims nothing, so move directly.
        renumber(file.into_raw_fd() as u32, n)?;
        saved[n as usize] = Some(place);
    }
    let result = f();
    for (n, place) in (0u32..).zip(saved) {
        if let Some(place) = place {
            renumber(place, n)?;
        }
    }
    Ok(result)
}

/// See the WASI version; on a POSIX host by `dup2`.
#[cfg(unix)]
pub fn with_stdio<R>(files: [Option<File>; 3], f: impl FnOnce() -> R) -> io::Result<R> {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    let mut saved: [Option<OwnedFd>; 3] = [const { None }; 3];
    for (n, file) in (0i32..).zip(&files) {
        let Some(file) = file else { continue };
        // JUSTIFICATION: std cannot replace a standard descriptor.
        // SAFETY: dup and dup2 take open descriptors and touch no memory; the duplicate is ours alone.
        unsafe {
            let copy = libc::dup(n);
            if copy < 0 || libc::dup2(file.as_raw_fd(), n) < 0 {
                return Err(io::Error::last_os_error());
            }
            saved[n as usize] = Some(OwnedFd::from_raw_fd(copy));
        }
    }
    let result = f();
    for (n, copy) in (0i32..).zip(&saved) {
        if let Some(copy) = copy {
            // SAFETY: as above.
            unsafe { libc::dup2(copy.as_raw_fd(), n) };
        }
    }
    Ok(result)
}
