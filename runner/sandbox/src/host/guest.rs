//! A guest as the kernel sees it: its process, its memory, its signal handler.

use super::{Process, Programs};
use crate::stack;
use std::marker::PhantomData;
use std::sync::Arc;
use wasibox_kernel::{CallMemory, Guest, Halt, HostWatch};
use wasibox_vfs::Errno;
use wasmer::{AsStoreMut, FunctionEnvMut, TypedFunction};

/// The data that a store has about the process that runs in it.
pub struct StoreEnv {
    /// `None` between two processes.
    pub process: Option<Arc<Process>>,
    pub memory: Option<wasmer::Memory>,
    pub handler: Option<TypedFunction<i32, ()>>,
}

/// The guest's linear memory during one call.
pub struct CallMemoryView<'a> {
    base: *mut u8,
    len: usize,
    _store: PhantomData<&'a mut ()>,
}

impl CallMemoryView<'_> {
    /// Returns the address of the byte at `at` on the host.
    pub fn host_address(&self, at: u32) -> usize {
        self.base as usize + at as usize
    }
}

impl CallMemory for CallMemoryView<'_> {
    fn size(&self) -> usize {
        self.len
    }

    #[inline]
    fn lend_bytes<T>(
        &self,
        at: u32,
        len: usize,
        look: impl FnOnce(&[u8]) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.check_range(at, len)?;
        // JUSTIFICATION: copying every buffer in and out through the engine's safe view costs a
        // pass over the data in each read and write. SAFETY: `check_range` has checked that the
        // bytes lie in the memory. `FunctionEnvMut` keeps the instance borrowed, so that this
        // thread can neither grow the memory nor run guest code meanwhile. Other threads of the
        // process may share the memory, but they run only while this thread waits, when no thread
        // is within such a closure (`wasibox_kernel`'s `threads`). Afterwards the memory may be
        // larger than `len`, but never smaller or at another address.
        look(unsafe { std::slice::from_raw_parts(self.base.add(at as usize), len) })
    }

    #[inline]
    fn fill_bytes(
        &mut self,
        at: u32,
        len: usize,
        make: impl FnOnce(&mut [u8]) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        self.check_range(at, len)?;
        // JUSTIFICATION and SAFETY: as for `lend_bytes`; `&mut self` makes the slice the only one.
        make(unsafe { std::slice::from_raw_parts_mut(self.base.add(at as usize), len) })
    }
}

impl Guest<Programs> for FunctionEnvMut<'_, StoreEnv> {
    fn process(&self) -> Option<Arc<Process>> {
        self.data().process.clone()
    }

    fn memory(&mut self) -> Option<CallMemoryView<'_>> {
        let memory = self.data().memory.clone()?;
        let view = memory.view(self);
        Some(CallMemoryView {
            base: view.data_ptr(),
            len: view.data_size() as usize,
            _store: PhantomData,
        })
    }

    fn handle(&mut self, process: &Arc<Process>, signal: u8) -> Result<bool, Halt> {
        let Some(handler) = self.data().handler.clone() else { return Ok(false) };
        let Some(_stack) = stack::nested_stack(&process.kernel.budget, process.kernel.limits.stack)
        else {
            process.watch.set_fatal(11);
            return Err(Halt::Killed);
        };
        match handler.call(&mut self.as_store_mut(), i32::from(signal)) {
            Ok(()) => Ok(true),
            Err(e) => Err(e.downcast::<Halt>().unwrap_or_else(|e| Halt::Trap(Box::new(e)))),
        }
    }
}
