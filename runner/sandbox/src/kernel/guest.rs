//! Guest memory, and what surrounds every call from the guest.

use super::process::Process;
use super::threads::current;
use crate::stack;
use std::marker::PhantomData;
use std::sync::Arc;
use wasibox_vfs::Errno;
use wasmer::{AsStoreMut, FunctionEnvMut, Memory, RuntimeError, TypedFunction};

/// What a store holds for the process that runs in it.
pub struct Env {
    /// `None` between two processes.
    pub process: Option<Arc<Process>>,
    pub memory: Option<Memory>,
    pub handler: Option<TypedFunction<i32, ()>>,
}

/// Why a call does not return a result.
#[derive(Debug)]
pub enum Halt {
    /// It returns this error number.
    Errno(Errno),
    /// The process exits with this code.
    Exit(u8),
    /// The process has a fatal signal.
    Killed,
    /// The process goes on as another program: its `start` was replaced.
    Exec,
    /// The thread ends; it is not the process's first.
    ThreadExit,
    /// Another thread has ended the process.
    Over,
    /// The guest's signal handler was ended by this.
    Trap(RuntimeError),
}

impl From<Errno> for Halt {
    fn from(e: Errno) -> Halt {
        Halt::Errno(e)
    }
}

impl std::fmt::Display for Halt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Halt {}

/// Result of a call.
pub type Sys = Result<(), Halt>;

/// The guest's linear memory during one call.
pub struct Mem<'a> {
    base: *mut u8,
    len: usize,
    _store: PhantomData<&'a mut ()>,
}

impl Mem<'_> {
    fn range(&self, at: u32, len: usize) -> Result<usize, Errno> {
        let end = (at as usize).checked_add(len).ok_or(Errno::FAULT)?;
        if end <= self.len { Ok(at as usize) } else { Err(Errno::FAULT) }
    }

    /// `len` bytes at `at`, or EFAULT.
    pub fn bytes(&self, at: u32, len: usize) -> Result<&[u8], Errno> {
        let at = self.range(at, len)?;
        // JUSTIFICATION: copying every buffer in and out through the engine's safe view costs
        // a pass over the data in each read and write.
        // SAFETY: `range` checked that the bytes lie in the memory, which `Mem::new` keeps
        // borrowed: it can neither grow nor run guest code meanwhile. It may be the memory of other
        // threads of the process, which run while this one waits only, when nobody holds a slice
        // (`threads`); afterwards it may be larger than `len`, never smaller or elsewhere.
        Ok(unsafe { std::slice::from_raw_parts(self.base.add(at), len) })
    }

    /// `len` bytes at `at` to write to, or EFAULT.
    pub fn bytes_mut(&mut self, at: u32, len: usize) -> Result<&mut [u8], Errno> {
        let at = self.range(at, len)?;
        // JUSTIFICATION and SAFETY: as for `bytes`; `&mut self` makes the slice the only one.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.base.add(at), len) })
    }

    pub fn array<const N: usize>(&self, at: u32) -> Result<[u8; N], Errno> {
        self.bytes(at, N)?.try_into().map_err(|_| Errno::FAULT)
    }

    pub fn u32(&self, at: u32) -> Result<u32, Errno> {
        self.array(at).map(u32::from_le_bytes)
    }

    pub fn put(&mut self, at: u32, bytes: &[u8]) -> Result<(), Errno> {
        self.bytes_mut(at, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    pub fn put_u32(&mut self, at: u32, v: u32) -> Result<(), Errno> {
        self.put(at, &v.to_le_bytes())
    }

    pub fn put_u64(&mut self, at: u32, v: u64) -> Result<(), Errno> {
        self.put(at, &v.to_le_bytes())
    }

    /// The next part of a buffer of `len` bytes at `at`, behind its first `done`, which are fewer:
    /// at most [`PART`] bytes.
    pub fn part(&self, at: u32, len: usize, done: usize) -> Result<&[u8], Errno> {
        let (at, n) = self.place_of_part(at, len, done)?;
        self.bytes(at, n)
    }

    /// The same to write to.
    pub fn part_mut(&mut self, at: u32, len: usize, done: usize) -> Result<&mut [u8], Errno> {
        let (at, n) = self.place_of_part(at, len, done)?;
        self.bytes_mut(at, n)
    }

    fn place_of_part(&self, at: u32, len: usize, done: usize) -> Result<(u32, usize), Errno> {
        self.range(at, len)?;
        let from = u32::try_from(at as usize + done).map_err(|_| Errno::FAULT)?;
        Ok((from, len.saturating_sub(done).min(PART)))
    }

    /// A path: bytes without NUL, at most 4096 of them plus a terminator.
    pub fn path(&self, at: u32, len: u32) -> Result<Vec<u8>, Errno> {
        if len > 4097 {
            return Err(Errno::NAMETOOLONG);
        }
        let p = self.bytes(at, len as usize)?;
        let p = p.strip_suffix(b"\0").unwrap_or(p);
        if p.contains(&0) { Err(Errno::INVAL) } else { Ok(p.to_vec()) }
    }

    /// A NUL-terminated string of at most `max` bytes.
    pub fn c_string(&self, at: u32, max: usize) -> Result<&[u8], Errno> {
        let start = self.range(at, 0)?;
        let window = self.bytes(at, (self.len - start).min(max + 1))?;
        match window.iter().position(|b| *b == 0) {
            Some(n) => Ok(&window[..n]),
            None if window.len() > max => Err(Errno::TOOBIG),
            None => Err(Errno::FAULT),
        }
    }
}

/// What a call works with.
pub struct Call<'a> {
    pub process: &'a Arc<Process>,
    pub mem: Mem<'a>,
}

/// Bytes that a call moves before it looks whether its process was ended: a few milliseconds of
/// work for the slowest file, the random device.
pub const PART: usize = 1 << 20;
/// Most bytes that one read or write moves, whatever it is asked for (Linux's `MAX_RW_COUNT`).
pub const MAX_MOVED: u64 = 0x7fff_f000;

/// Runs one call: stops here if the process was ended, runs the guest's signal handler
/// if a signal waits, and turns the result into what the guest expects.
pub fn enter(
    ctx: &mut FunctionEnvMut<'_, Env>,
    call: impl FnOnce(&mut Call<'_>) -> Sys,
) -> Result<i32, Halt> {
    let Some(process) = ctx.data().process.clone() else { return Err(Halt::Killed) };
    process.alive()?;
    let Some(memory) = ctx.data().memory.clone() else { return Ok(Errno::FAULT.0.into()) };
    let result = {
        let view = memory.view(ctx);
        let (base, len) = (view.data_ptr(), view.data_size() as usize);
        call(&mut Call { process: &process, mem: Mem { base, len, _store: PhantomData } })
    };
    process.alive()?;
    // Signals are the first thread's.
    if process.handles.load(std::sync::atomic::Ordering::SeqCst) && current() == 0 {
        run_handler(ctx, &process)?;
    }
    match result {
        Ok(()) => Ok(0),
        Err(Halt::Errno(e)) => Ok(e.0.into()),
        Err(other) => Err(other),
    }
}

/// Calls the guest's handler for each signal that waits. A signal is blocked while its handler
/// runs, so that one that raises itself waits instead of calling the handler within itself for ever.
fn run_handler(ctx: &mut FunctionEnvMut<'_, Env>, process: &Arc<Process>) -> Result<(), Halt> {
    while let Some((sig, before)) = process.take_pending() {
        let Some(handler) = ctx.data().handler.clone() else {
            process.unblock(before);
            return Ok(());
        };
        let Some(_stack) = stack::nested(&process.kernel.budget, process.kernel.limits.stack)
        else {
            process.watch.set_fatal(11);
            return Err(Halt::Killed);
        };
        let done = handler.call(&mut ctx.as_store_mut(), i32::from(sig));
        process.unblock(before);
        process.alive()?;
        if let Err(e) = done {
            return Err(e.downcast::<Halt>().unwrap_or_else(Halt::Trap));
        }
    }
    Ok(())
}
