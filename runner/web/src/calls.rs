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
    /// The reason why the guest's code was ended.
    static WHY: RefCell<Option<Halt>> = const { RefCell::new(None) };
}

/// Sets the process whose guest runs in this worker.
pub fn set_process(process: Option<Arc<Process>>) {
    PROCESS.set(process);
}

/// Takes the reason why the kernel has ended the guest's code, if it has.
pub fn take_why() -> Option<Halt> {
    WHY.take()
}

/// Returns whether the kernel has ended the guest's code.
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

/// Number of stack frames that are tried before a call. With 64 bytes or more each, they are more
/// than the kernel needs.
const FRAMES: u32 = 600;

/// Uses and releases the stack that a call may need. Guest and kernel share the engine's stack. An
/// overflow must happen here, before the kernel has locked anything. It then ends the guest like an
/// overflow in the guest's own code.
#[inline(never)]
fn try_stack(frames: u32) -> u32 {
    // `black_box` hides the recursion from the optimiser, which would turn it into a loop.
    if frames == 0 { 0 } else { std::hint::black_box(try_stack(frames - 1)) + 1 }
}

/// Serves a call. A call that ends the guest does not return; all its values have been dropped by
/// then.
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
