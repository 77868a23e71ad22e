//! Calls of the guest that runs in this worker.

use crate::ffi::{self, Handled};
use crate::host::{Process, Web};
use crate::memory::GuestMemory;
use crate::slots;
use std::cell::RefCell;
use std::sync::Arc;
use wasibox_kernel::{Call, Guest, Halt, Sys};

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

struct Here;

impl Guest<Web> for Here {
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
            Handled::Done => Ok(true),
            Handled::None => Ok(false),
            Handled::Trap => Err(take_why().unwrap_or_else(|| Halt::Trap("a trap".into()))),
        }
    }
}

/// Serves a call. One that ends the guest does not return: nothing of it is left by then.
pub fn enter(call: impl FnOnce(&mut Call<'_, Web>) -> Sys) -> i32 {
    slots::to_kernel();
    match wasibox_kernel::enter(&mut Here, call) {
        Ok(errno) => {
            slots::to_guest();
            errno
        }
        Err(halt) => end(halt),
    }
}

/// Serves `proc_exit`.
pub fn exit(code: u8) -> ! {
    slots::to_kernel();
    end(Halt::Exit(code))
}

fn end(halt: Halt) -> ! {
    WHY.set(Some(halt));
    ffi::halt()
}
