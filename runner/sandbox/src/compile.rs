//! Compiles modules within bounds, because an image is trusted as little as the programs in it.
//!
//! The compiler works in this process, function by function, and asks after each function whether
//! it may continue. So the size of a module is limited. The size of a function is limited too,
//! because the compiler's time and memory grow faster than that size. A whole compilation has
//! limits of time and memory that depend on the module's size and are several times the needs of
//! real programs. Measured on CPython with its packages, 38 MB in 42,000 functions, the largest of
//! 144 KB: 25 s of one core.
//!
//! Deliberately absent: a separate process with limits by the system, because an embedder of the
//! library may have no program of ours to start. A session's worker is such a process anyway.

use crate::template::{self, SplitModule};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use wasmer::sys::{NativeEngineExt, Target};
use wasmer::{Engine, Module};
use wasmer_types::{CompilationProgressCallback, UserAbort};
use wasmparser::{Chunk, Parser, Payload};

/// The maximum number of bytes of a module, of bytes of a function, and of functions.
const MAX_MODULE: usize = 256 << 20;
const MAX_FUNCTION: usize = 1 << 20;
const MAX_FUNCTIONS: u32 = 400_000;
/// Wall-clock time of a compilation: for any module, and in addition for each megabyte.
const TIME: Duration = Duration::from_secs(30);
const TIME_PER_MB: Duration = Duration::from_secs(20);
/// Bytes by which this process may grow: for any module, and in addition for each byte of the
/// module.
const MEMORY: usize = 512 << 20;
const MEMORY_PER_BYTE: usize = 64;
/// The number of functions between two checks of the process's size.
const LOOK: u32 = 32;

/// The reason why a module could not be compiled.
#[derive(Debug, thiserror::Error)]
#[error("cannot compile {name}: {why}")]
pub struct CannotCompile {
    pub name: String,
    pub why: String,
}

/// Separates a module from its data and compiles the rest, with an engine of its own
/// ([`crate::engine::compiling_engine`]).
pub fn compile_module(name: &str, wasm: Vec<u8>) -> Result<CompiledModule, CannotCompile> {
    compile_for(crate::engine::baseline_target(), name, wasm)
}

/// Compiles as [`compile_module`] does, for the CPU of `target`.
pub fn compile_for(
    target: Target,
    name: &str,
    wasm: Vec<u8>,
) -> Result<CompiledModule, CannotCompile> {
    let cannot = |why: String| CannotCompile { name: name.into(), why };
    check_sizes(&wasm).map_err(cannot)?;
    let bounds = CompileBounds::of(wasm.len());
    let split = template::split_module(wasm);
    let engine = crate::engine::compiling_engine(target);
    let module = compile_bounded(&engine, &split, bounds, resident_bytes).map_err(cannot)?;
    let code = module.serialize().map_err(|e| cannot(one_line(&e)))?.into();
    Ok(CompiledModule { code, template: split.template })
}

/// A module's machine code and the initial content of its memory, as they are stored.
pub struct CompiledModule {
    pub code: Vec<u8>,
    pub template: Vec<u8>,
}

/// The resources that a compilation may take.
#[derive(Clone, Copy)]
struct CompileBounds {
    time: Duration,
    memory: usize,
}

impl CompileBounds {
    fn of(len: usize) -> CompileBounds {
        let time = TIME + TIME_PER_MB * len.div_ceil(1_000_000) as u32;
        CompileBounds { time, memory: MEMORY + MEMORY_PER_BYTE * len }
    }
}

/// Compiles within bounds. `held` returns the bytes that this process holds.
fn compile_bounded(
    engine: &Engine,
    split: &SplitModule,
    bounds: CompileBounds,
    held: impl Fn() -> usize + Send + Sync + 'static,
) -> Result<Module, String> {
    let end = Instant::now() + bounds.time;
    let largest = held().saturating_add(bounds.memory);
    let calls = AtomicU32::new(0);
    let may_go_on = move |_| {
        if Instant::now() > end {
            let s = bounds.time.as_secs();
            return Err(UserAbort::new(format!("it takes longer than {s} s")));
        }
        let look = calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOK);
        if look && held() > largest {
            let mb = bounds.memory >> 20;
            return Err(UserAbort::new(format!("it takes more than {mb} MiB of memory")));
        }
        Ok(())
    };
    let callback = CompilationProgressCallback::new(may_go_on);
    engine.new_module_with_progress(&split.wasm, callback).map_err(|e| one_line(&e))
}

/// Returns a message on one line.
pub(crate) fn one_line(e: &dyn std::fmt::Display) -> String {
    e.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks sizes only; the engine reports modules that do not parse.
fn check_sizes(wasm: &[u8]) -> Result<(), String> {
    if wasm.len() > MAX_MODULE {
        return Err(format!("it is larger than {} MiB", MAX_MODULE >> 20));
    }
    let mut parser = Parser::new(0);
    let mut rest = wasm;
    while let Ok(Chunk::Parsed { consumed, payload }) = parser.parse(rest, true) {
        match payload {
            Payload::CodeSectionStart { count, .. } if count > MAX_FUNCTIONS => {
                return Err(format!("it has more than {MAX_FUNCTIONS} functions"));
            }
            Payload::CodeSectionEntry(body) if body.as_bytes().len() > MAX_FUNCTION => {
                return Err(format!("one of its functions is larger than {MAX_FUNCTION} bytes"));
            }
            Payload::End(_) => return Ok(()),
            _ => {}
        }
        rest = &rest[consumed..];
    }
    Ok(())
}

/// Returns the resident memory of this process in bytes; 0 if the system does not report it.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = text.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages.saturating_mul(rustix::param::page_size())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn leb(mut n: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while n >= 0x80 {
            out.push(n as u8 | 0x80);
            n >>= 7;
        }
        out.push(n as u8);
        out
    }

    /// Returns a module with `functions` functions of `size` bytes.
    fn module(functions: usize, size: usize) -> Vec<u8> {
        let section = |id: u8, body: Vec<u8>| [vec![id], leb(body.len()), body].concat();
        let body = [vec![0], vec![1; size - 2], vec![0x0b]].concat();
        let code = [leb(size), body].concat().repeat(functions);
        [
            b"\0asm\x01\0\0\0".to_vec(),
            section(1, b"\x01\x60\0\0".to_vec()),
            section(3, [leb(functions), vec![0; functions]].concat()),
            section(10, [leb(functions), code].concat()),
        ]
        .concat()
    }

    fn why(e: CannotCompile) -> String {
        e.to_string()
    }

    #[test]
    fn sizes_are_bounded() {
        assert!(compile_module("m", module(3, 100)).is_ok());
        let e = compile_module("m", module(1, MAX_FUNCTION + 1)).map(|_| ()).unwrap_err();
        assert!(why(e).contains("larger than 1048576 bytes"));
        let e = compile_module("m", module(400_001, 2)).map(|_| ()).unwrap_err();
        assert!(why(e).contains("more than 400000 functions"));
    }

    #[test]
    fn time_and_memory_are_bounded() {
        let split = template::split_module(module(2000, 100));
        // The process's own size also falls while other tests end, so a growing number takes its
        // place.
        let bounds = |time, memory| {
            let size = AtomicUsize::new(0);
            let grows = move || size.fetch_add(1 << 20, Ordering::Relaxed);
            compile_bounded(
                &crate::engine::compiling_engine(crate::engine::baseline_target()),
                &split,
                CompileBounds { time, memory },
                grows,
            )
            .map(|_| ())
        };
        let long = Duration::from_secs(3600);
        assert!(bounds(long, 1 << 40).is_ok());
        let e = bounds(Duration::ZERO, 1 << 40).unwrap_err();
        assert!(e.contains("it takes longer than 0 s"), "{e}");
        let e = bounds(long, 4 << 20).unwrap_err();
        assert!(e.contains("it takes more than 4 MiB of memory"), "{e}");
    }

    #[test]
    fn the_size_of_this_process_is_known() {
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(resident_bytes() >= block.len());
    }
}
