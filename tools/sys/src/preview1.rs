//! Substitutes for plain WASI preview 1: spool files instead of pipes, and moving descriptors so
//! that an applet that uses `std`'s global streams can run in-process.

use std::fs::{File, OpenOptions};
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns two descriptors for one unlinked temporary file: data written through the second is read
/// through the first. They replace a pipe where stages run one after another.
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

/// Runs `f` while descriptors 0, 1 and 2 refer to the given files (`None` leaves a descriptor as it
/// is), then restores the descriptors.
#[cfg(target_os = "wasi")]
pub fn with_stdio<R>(files: [Option<Rc<File>>; 3], f: impl FnOnce() -> R) -> io::Result<R> {
    use std::os::fd::AsRawFd;
    let mut moved = [None; 3];
    for (n, file) in (0u32..).zip(&files) {
        let Some(file) = file else { continue };
        let own = file.as_raw_fd() as u32;
        if own != n {
            let parked = park(n)?;
            renumber(own, n)?;
            moved[n as usize] = Some((own, parked));
        }
    }
    let result = f();
    for (n, slot) in (0u32..).zip(moved) {
        if let Some((own, parked)) = slot {
            occupy(own)?;
            renumber(n, own)?;
            occupy(n)?;
            renumber(parked, n)?;
        }
    }
    Ok(result)
}

#[cfg(target_os = "wasi")]
fn renumber(from: u32, to: u32) -> io::Result<()> {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        fn fd_renumber(from: u32, to: u32) -> i32;
    }
    // JUSTIFICATION: preview 1 has no dup; renumbering is the only way to redirect.
    // SAFETY: plain integers. `with_stdio` gives every number back to its owner before
    // it returns, and holds the files' `Rc`s meanwhile, so no owner closes a borrowed number.
    match unsafe { fd_renumber(from, to) } {
        0 => Ok(()),
        e => Err(io::Error::from_raw_os_error(e)),
    }
}

/// Moves the file at descriptor `n` aside and leaves a placeholder at `n`; returns the new number.
#[cfg(target_os = "wasi")]
fn park(n: u32) -> io::Result<u32> {
    use std::os::fd::IntoRawFd;
    let place = spool()?.0.into_raw_fd() as u32;
    renumber(n, place)?;
    occupy(n)?;
    Ok(place)
}

/// Makes sure that `n` is open, because runtimes only renumber onto open descriptors. Opens
/// placeholders until the allocator returns `n`.
#[cfg(target_os = "wasi")]
fn occupy(n: u32) -> io::Result<()> {
    use std::os::fd::{AsRawFd, IntoRawFd};
    let mut others = Vec::new();
    for _ in 0..256 {
        let (file, spare) = spool()?;
        for f in [file, spare] {
            if f.as_raw_fd() as u32 == n {
                let _ = f.into_raw_fd();
                return Ok(());
            }
            others.push(f);
        }
    }
    // `n` was never returned: it is open already, or this runtime does not reuse numbers.
    Ok(())
}

/// Does the same as the WASI version, with `dup2` on a POSIX host.
#[cfg(unix)]
pub fn with_stdio<R>(files: [Option<Rc<File>>; 3], f: impl FnOnce() -> R) -> io::Result<R> {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    let mut saved: [Option<OwnedFd>; 3] = [const { None }; 3];
    for (n, file) in (0i32..).zip(&files) {
        let Some(file) = file else { continue };
        // JUSTIFICATION: std cannot replace a standard descriptor.
        // SAFETY: dup and dup2 take open descriptors and touch no memory; the duplicate is ours
        // alone.
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
