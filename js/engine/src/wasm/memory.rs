//! Memories as buffers of the engine. A buffer refers to the memory itself, so scripts and modules
//! see each other's writes.

use rquickjs::{ArrayBuffer, Ctx, Persistent, Result, Value, qjs};
use wasmi::{Extern, Memory};

use super::{SeenMemory, WasmState, throw, unknown};

pub(super) fn memory(state: &WasmState, ctx: &Ctx<'_>, number: usize) -> Result<Memory> {
    match state.externs.get(number) {
        Some(Extern::Memory(memory)) => Ok(*memory),
        _ => Err(unknown(ctx)),
    }
}

/// Returns the buffer of a memory, which is made at the first request.
pub(super) fn buffer<'js>(
    state: &mut WasmState,
    ctx: &Ctx<'js>,
    number: usize,
) -> Result<ArrayBuffer<'js>> {
    if let Some(seen) = state.seen.get(&number) {
        return seen.buffer.clone().restore(ctx);
    }
    let memory = memory(state, ctx, number)?;
    let (address, size) = (memory.data_ptr(&state.store), memory.data_size(&state.store));
    // SAFETY: the address and size are those of a memory in a store that lives as long as the
    // program. The memory moves only when it grows, which happens in functions of this module and
    // while code of the store runs; `refresh` detaches the buffer before JavaScript runs again, and
    // this thread has the only engine. A patch of the engine keeps scripts from transferring such a
    // buffer. JUSTIFICATION: rquickjs makes buffers only of memory that it may free.
    let buffer = unsafe {
        let raw = qjs::JS_NewArrayBuffer(
            ctx.as_raw().as_ptr(),
            address,
            size as _,
            0,
            None,
            std::ptr::null_mut(),
            false,
        );
        if qjs::JS_IsException(raw) {
            return Err(throw(ctx, "range", "out of memory"));
        }
        Value::from_raw(ctx.clone(), raw)
    };
    let buffer: ArrayBuffer<'js> = buffer.get()?;
    let kept = Persistent::save(ctx, buffer.clone());
    state.seen.insert(number, SeenMemory { memory, buffer: kept, address, size });
    Ok(buffer)
}

/// Detaches the buffer of a memory, so that the next request makes another one.
pub(super) fn replace(state: &mut WasmState, ctx: &Ctx<'_>, number: usize) -> Result<()> {
    if let Some(seen) = state.seen.remove(&number) {
        seen.buffer.restore(ctx)?.detach();
    }
    Ok(())
}

/// Detaches the buffers of memories that have grown or moved.
pub(super) fn refresh(state: &mut WasmState, ctx: &Ctx<'_>) -> Result<()> {
    let store = &state.store;
    let moved = |seen: &SeenMemory| {
        (seen.memory.data_ptr(store), seen.memory.data_size(store)) != (seen.address, seen.size)
    };
    let moved: Vec<usize> =
        state.seen.iter().filter(|(_, seen)| moved(seen)).map(|(number, _)| *number).collect();
    moved.into_iter().try_for_each(|number| replace(state, ctx, number))
}
