//! The thread that runs a process.

use super::guest::{Env, Halt};
use super::link;
use super::process::Process;
use crate::memory::Reservation;
use crate::outcome::Status;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use wasmer::{FunctionEnv, Instance, InstantiationError, Module, RuntimeError, Store};

use wasmer_types::TrapCode;

enum End {
    Status(Status),
    Exec,
}

/// Runs `module` as `process` to its end, then reports the end. `memory` is reserved
/// for the module's first memory.
pub fn run(process: Arc<Process>, mut module: Module, memory: Reservation) {
    let mut memory = Some(memory);
    let status = loop {
        let memory = memory.take();
        let end = catch_unwind(AssertUnwindSafe(|| one(&process, &module, memory)));
        // The store is gone: nothing is left to interrupt.
        process.bind(None);
        match end {
            Ok(End::Status(s)) => break s,
            Ok(End::Exec) => {
                let program = crate::lock(&process.start).program;
                match process.kernel.programs.get(program) {
                    Ok(m) => module = m,
                    Err(e) => {
                        complain(&process, &e.to_string());
                        break Status::Exited(126);
                    }
                }
            }
            Err(_) => {
                complain(&process, "internal error of the sandbox");
                break Status::Signaled(6);
            }
        }
    };
    // Readers of its pipes must see the end before a waiting parent does.
    let limit = process.kernel.limits.descriptors;
    let fds = std::mem::replace(
        &mut *crate::lock(&process.fds),
        super::descriptors::Descriptors::new(limit),
    );
    drop(fds);
    process.kernel.add_cpu();
    process.kernel.ended(&process, status);
}

fn one(process: &Arc<Process>, module: &Module, memory: Option<Reservation>) -> End {
    let mut store = Store::new(process.kernel.programs.engine().clone());
    process.bind(Some(store.interrupter()));
    let env = Env { process: process.clone(), memory: None, handler: None };
    let env = FunctionEnv::new(&mut store, env);
    let imports = link::imports(&mut store, &env, module);
    // Dropped after instantiation: what the module did not need is given back.
    let reserved = memory.map(Reservation::put_here);
    let made = Instance::new(&mut store, module, &imports);
    drop(reserved);
    let instance = match made {
        Ok(i) => i,
        Err(InstantiationError::Start(e)) => return ended_by(process, e),
        Err(e) => {
            let why = e.to_string();
            let memory = why.contains("memory limit");
            complain(
                process,
                if memory { "cannot start: the memory limit is reached" } else { &why },
            );
            return End::Status(Status::Exited(if memory { 137 } else { 126 }));
        }
    };
    if let Ok(memory) = instance.exports.get_memory("memory") {
        env.as_mut(&mut store).memory = Some(memory.clone());
    }
    // What WASIX's libc exports as its signal handler; used once the guest asks for it.
    if let Ok(h) = instance.exports.get_typed_function::<i32, ()>(&store, "__wasm_signal") {
        env.as_mut(&mut store).handler = Some(h);
    }
    let start = match instance.exports.get_typed_function::<(), ()>(&store, "_start") {
        Ok(f) => f,
        Err(_) => {
            complain(process, "not a WASI command");
            return End::Status(Status::Exited(126));
        }
    };
    match process.fatal() {
        Some(sig) => End::Status(Status::Signaled(sig)),
        None => match start.call(&mut store) {
            Ok(()) => End::Status(Status::Exited(0)),
            Err(e) => ended_by(process, e),
        },
    }
}

/// What an error that ended the guest's code means.
fn ended_by(process: &Process, e: RuntimeError) -> End {
    let killed = || End::Status(Status::Signaled(process.fatal().unwrap_or(9)));
    match e.downcast_ref::<Halt>() {
        Some(Halt::Exit(code)) => return End::Status(Status::Exited(*code)),
        Some(Halt::Killed) => return killed(),
        Some(Halt::Exec) => return End::Exec,
        Some(Halt::Errno(_)) | None => {}
    }
    let (sig, text) = match e.clone().to_trap() {
        Some(TrapCode::HostInterrupt) => return killed(),
        Some(TrapCode::StackOverflow) => (11, "stack overflow"),
        Some(
            TrapCode::HeapAccessOutOfBounds | TrapCode::HeapMisaligned | TrapCode::UnalignedAtomic,
        ) => {
            // A guest's own stack grows down to address 0 and then out of its memory.
            (11, "memory access out of bounds (stack overflow or bad pointer)")
        }
        Some(TrapCode::IntegerDivisionByZero) => (8, "division by zero"),
        Some(TrapCode::IntegerOverflow | TrapCode::BadConversionToInteger) => {
            (8, "integer overflow")
        }
        Some(
            TrapCode::IndirectCallToNull
            | TrapCode::BadSignature
            | TrapCode::TableAccessOutOfBounds,
        ) => (4, "bad indirect call"),
        // What `abort` and a Rust panic compile to; they have said why themselves.
        Some(TrapCode::UnreachableCodeReached) => (6, "aborted"),
        Some(TrapCode::UncaughtException | TrapCode::UninitializedExnRef) => {
            (6, "uncaught exception")
        }
        _ if e.is_exception() => (6, "uncaught exception"),
        _ => (6, "ended by an error of the engine"),
    };
    complain(process, text);
    End::Status(Status::Signaled(sig))
}

/// Writes a line to the process's standard error, if that takes it at once.
fn complain(process: &Process, text: &str) {
    let name = crate::lock(&process.start).argv.first().cloned().unwrap_or_default();
    let name = name.rsplit(|b| *b == b'/').next().unwrap_or(&[]).to_vec();
    let line = [&name, b": ".as_slice(), text.as_bytes(), b"\n"].concat();
    let open = crate::lock(&process.fds).get(2).map(|d| d.open.clone());
    if let Ok(open) = open
        && open.write
    {
        let append = open.append.load(std::sync::atomic::Ordering::Relaxed);
        if let Ok((_, next)) = open.file.write(open.offset(), append, &line) {
            open.set_offset(next);
        }
    }
}
