//! `exec`: replaces the process with another program.
//!
//! WASIX's call takes its lists as lines. So on other hosts it cannot be used if an argument or a
//! variable, such as an exported function, contains a line feed; the caller then spawns and waits.
//! Our own host also takes strings that end in NULs.

use std::io;
use std::os::fd::AsRawFd;

use super::{actual_fd, cvt, environment, open_fds};
use crate::path;
use crate::process::SpawnSpec;

#[link(wasm_import_module = "wasix_32v1")]
unsafe extern "C" {
    fn chdir(path: *const u8, len: usize) -> i32;
    fn fd_dup2(fd: u32, min: u32, cloexec: u32, out: *mut u32) -> i32;
    fn proc_exec3(
        name: *const u8,
        name_len: usize,
        args: *const u8,
        args_len: usize,
        envs: *const u8,
        envs_len: usize,
        search_path: u32,
        path: *const u8,
        path_len: usize,
    ) -> i32;
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn fd_renumber(from: u32, to: u32) -> i32;
    fn fd_close(fd: u32) -> i32;
}

/// The first of the numbers to which descriptors are moved until all their final numbers are free.
const HIGH: u32 = 4000;

pub(super) fn exec(spec: &SpawnSpec<'_>) -> io::Error {
    // On another host, the new program would not ignore the signals that the handler of this
    // process ignores.
    if crate::events::signal_dispositions().1 != 0 && !super::events::ours() {
        return io::ErrorKind::Unsupported.into();
    }
    let mut env = environment(spec);
    let has = |byte: u8| spec.argv.iter().chain(&env).any(|s| s.contains(&byte));
    if has(0) || has(b'\n') && !super::events::ours() {
        return io::ErrorKind::Unsupported.into();
    }
    // A null list would keep the old environment, so an empty environment is passed as one empty
    // line.
    if env.is_empty() {
        env.push(Vec::new());
    }
    if let Err(e) = std::fs::metadata(spec.program) {
        return e;
    }
    match replace(spec, &env) {
        Ok(()) => io::ErrorKind::Other.into(),
        Err(e) => e,
    }
}

fn replace(spec: &SpawnSpec<'_>, env: &[Vec<u8>]) -> io::Result<()> {
    let cwd = path::to_bytes(spec.cwd);
    let (args, env) = (list(spec.argv), list(env));
    let program = path::to_bytes(spec.program);
    let mut high = Vec::new();
    // JUSTIFICATION: descriptors must get exact numbers, which std cannot give, and no library
    // wraps the other host calls. SAFETY: pointers come with their lengths and outlive the calls.
    // The descriptors closed and replaced here belong to files of this program, none of which is
    // used again: after success the program is gone, and after a failure its caller ends the
    // process.
    unsafe {
        cvt(chdir(cwd.as_ptr(), cwd.len()))?;
        for (n, file) in spec.fds {
            let mut out = 0u32;
            cvt(fd_dup2(file.as_raw_fd() as u32, HIGH, 0, &mut out))?;
            high.push((actual_fd(*n), out));
        }
        for fd in (0..3).chain(open_fds()) {
            fd_close(fd);
        }
        for (n, from) in high {
            cvt(fd_renumber(from, n))?;
        }
        cvt(proc_exec3(
            program.as_ptr(),
            program.len(),
            args.as_ptr(),
            args.len(),
            env.as_ptr(),
            env.len(),
            0,
            std::ptr::null(),
            0,
        ))
    }
}

/// Returns the strings as lines, or with a NUL after each if one of them contains a line feed.
fn list(strings: &[Vec<u8>]) -> Vec<u8> {
    if strings.iter().any(|s| s.contains(&b'\n')) {
        return strings.iter().flat_map(|s| s.iter().copied().chain([0])).collect();
    }
    strings.join(&b'\n')
}
