//! Calls of the guest that runs in this worker.

use crate::ffi::{self, HandlerEnd};
use crate::host::{Process, Web};
use crate::memory::GuestMemory;
use crate::slots;
use std::cell::RefCell;
use std::sync::Arc;
use wasibox_kernel::{Guest, GuestCall, Halt, Sys};

thread_local! {
    /// The process whose guest runs here.
    static PROCESS: RefCell<Option<Arc<Process>>> = const { RefCell::new(None) };
    /// Why the guest's code was ended.
    static WHY: RefCell<Option<Halt>> = const { RefCell::new(None) };
}

/// Says whose guest runs in this worker.
pub fn set_process(process: Option<Arc<Process>>) {
    PROCESS.set(process);
}

/// Why the kernel has ended the guest's code, if it has.
pub fn take_why() -> Option<Halt> {
    WHY.take()
}

/// Whether the kernel has ended the guest's code.
pub fn has_why() -> bool {
    WHY.with_borrow(Option::is_some)
}

struct PageCaller;

impl Guest<Web> for PageCaller {
    fn process(&self) -> Option<Arc<Process>> {
        PROCESS.with_borrow(Clone::clone)
    }

    fn memory(&mut self) -> Option<GuestMemory> {
        Some(GuestMemory::new())
    }

    fn handle(&mut self, _: &Arc<Process>, signal: u8) -> Result<bool, Halt> {
        slots::to_guest();
        let handled = ffi::guest_signal(signal);
        slots::to_kernel();
        match handled {
            HandlerEnd::Done => Ok(true),
            HandlerEnd::None => Ok(false),
            HandlerEnd::Trap => Err(take_why().unwrap_or_else(|| Halt::Trap("a trap".into()))),
        }
    }
}

/// Frames that are tried out before a call: with the 64 bytes that each has at least, more than the kernel needs.
const FRAMES: u32 = 600;

/// Uses up and gives back the stack that a call may need. The engine's stack is the guest's and the kernel's: where it
/// overflows, this must be before the kernel has locked anything, and is the guest's end as if it had been in its own code.
#[inline(never)]
fn try_stack(frames: u32) -> u32 {
    // Hidden from the optimiser, which would make a loop of it.
    if frames == 0 { 0 } else { std::hint::black_box(try_stack(frames - 1)) + 1 }
}

/// Serves a call. One that ends the guest does not return: nothing of it is left by then.
pub fn serve_call(call: impl FnOnce(&mut GuestCall<'_, Web>) -> Sys) -> i32 {
    try_stack(FRAMES);
    slots::to_kernel();
    match wasibox_kernel::enter_call(&mut PageCaller, call) {
        Ok(errno) => {
            slots::to_guest();
            errno
        }
        Err(halt) => end_guest(halt),
    }
}

/// Serves `proc_exit`.
pub fn serve_exit(code: u8) -> ! {
    try_stack(FRAMES);
    slots::to_kernel();
    end_guest(Halt::Exit(code))
}

fn end_guest(halt: Halt) -> ! {
    WHY.set(Some(halt));
    ffi::halt()
}
