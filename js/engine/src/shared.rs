//! `SharedArrayBuffer`s that grow, and `Atomics.wait`: the parts that the engine leaves to its
//! host.
//!
//! Node's main thread may wait, so ours may. A process has one thread, so no other thread can wake
//! it. A wait lasts until its timeout, or until the sandbox's time limit if it has none.

use rquickjs::{Ctx, qjs};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ptr::null_mut;

/// The header before the bytes of a buffer.
#[repr(C, align(16))]
struct SharedBufferHead {
    /// The number of objects that share the buffer.
    users: usize,
    /// The number of allocated bytes, this header included.
    size: usize,
}

const HEAD: usize = size_of::<SharedBufferHead>();

fn buffer_layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size, align_of::<SharedBufferHead>()).ok()
}

/// Allocates memory for a buffer's largest size, because the engine does not move it when a buffer
/// grows.
unsafe extern "C" fn allocate(_: *mut c_void, size: qjs::size_t) -> *mut c_void {
    #[allow(clippy::unnecessary_cast)] // The bindings' type of a size differs: u32 on the guest.
    let Some(size) = (size as usize).checked_add(HEAD) else { return null_mut() };
    let Some(layout) = buffer_layout(size) else { return null_mut() };
    // SAFETY: the layout has a size, and room and alignment for the head. JUSTIFICATION: the engine
    // asks for plain memory.
    unsafe {
        let head = alloc_zeroed(layout).cast::<SharedBufferHead>();
        if head.is_null() {
            return null_mut();
        }
        head.write(SharedBufferHead { users: 1, size });
        head.add(1).cast()
    }
}

/// Ends one object's share of a buffer, and frees the buffer if that was the last one.
unsafe extern "C" fn release(_: *mut c_void, bytes: *mut c_void) {
    // SAFETY: a pointer that `allocate` returned and whose last user has not released it yet.
    // JUSTIFICATION: as in `allocate`.
    unsafe {
        let head = bytes.cast::<SharedBufferHead>().sub(1);
        (*head).users -= 1;
        if (*head).users == 0
            && let Some(layout) = buffer_layout((*head).size)
        {
            dealloc(head.cast(), layout);
        }
    }
}

/// Shares the buffer with one more object.
unsafe extern "C" fn share(_: *mut c_void, bytes: *mut c_void) {
    // SAFETY: a pointer that `allocate` returned and that still has a user. JUSTIFICATION: as in
    // `allocate`.
    unsafe { (*bytes.cast::<SharedBufferHead>().sub(1)).users += 1 };
}

/// Enables shared buffers and waiting in a new engine, which must not have made a shared buffer
/// yet.
pub fn enable_shared_buffers(ctx: &Ctx<'_>) {
    let functions = qjs::JSSharedArrayBufferFunctions {
        sab_alloc: Some(allocate),
        sab_free: Some(release),
        sab_dup: Some(share),
        sab_opaque: null_mut(),
    };
    // SAFETY: the runtime is live, and the engine copies the table of functions. JUSTIFICATION:
    // rquickjs offers neither setting.
    unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        qjs::JS_SetSharedArrayBufferFunctions(runtime, &functions);
        qjs::JS_SetCanBlock(runtime, true);
    }
}

#[cfg(test)]
mod tests {
    use super::enable_shared_buffers;
    use rquickjs::{Context, Runtime};

    #[test]
    fn shared_buffers_grow_and_waits_end() {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            enable_shared_buffers(&ctx);
            let grown = "const b = new SharedArrayBuffer(4, { maxByteLength: 1 << 16 });
                const view = new Int32Array(b);
                Atomics.add(view, 0, 7);
                b.grow(1 << 16);
                [view.length, view[0], view.at(-1), b.growable].join()";
            assert_eq!(ctx.eval::<String, _>(grown).unwrap(), "16384,7,0,true");
            let waited = "[Atomics.wait(view, 0, 7, 1), Atomics.wait(view, 0, 8), Atomics.notify(view, 0)].join()";
            assert_eq!(ctx.eval::<String, _>(waited).unwrap(), "timed-out,not-equal,0");
            ctx.eval::<(), _>("for (let i = 0; i < 100; i++) new SharedArrayBuffer(1 << 20)").unwrap();
        });
    }
}
