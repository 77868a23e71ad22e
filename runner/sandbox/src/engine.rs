//! The engine's configuration: everything that determines the machine code.
//!
//! # The CPU that code is for
//! Code is compiled for x86-64-v2, which every x86 CPU since 2009 has, and not for the CPU on which
//! it is compiled. So code in a package runs wherever the package is installed, and the same
//! program computes the same bits everywhere. The cost is small. These are medians of three runs in
//! seconds, on a CPU with AVX-512, of code for v2, for v3 and for all features of that CPU: NumPy
//! (products of matrices, sorting, sines) 1.31, 1.24 and 1.21 s; a loop of Python 0.93, 0.98 and
//! 0.91; of JavaScript 1.54, 1.53 and 1.56; of awk 1.06, 1.05 and 1.04. A CPU that lacks some of v2
//! gets code without those features.
//!
//! Loaded code may use more: any code whose features this CPU has ([`missing_features`]).

use crate::memory::BudgetTunables;
use wasmer::Engine;
use wasmer::sys::{CpuFeature, Cranelift, CraneliftOptLevel, EngineBuilder, Target};

/// The engine's version and the format of stored code; part of every artifact's key.
const ENGINE: &str = "wasmer-7.5.0 cranelift speed elf-3";

/// The features of x86-64-v2 that the compiler uses, and NEON, which every aarch64 CPU has.
const BASELINE: &[CpuFeature] = &[
    CpuFeature::SSE2,
    CpuFeature::SSE3,
    CpuFeature::SSSE3,
    CpuFeature::SSE41,
    CpuFeature::SSE42,
    CpuFeature::POPCNT,
    CpuFeature::NEON,
];

/// Creates an engine that loads code, with the stack size of its processes in bytes.
pub fn new(stack: usize) -> Engine {
    crate::interrupt::install_handlers();
    // Code that uses any features of this CPU may be loaded.
    with_target(stack, Target::default())
}

/// Returns the CPU that code is compiled for here.
pub fn baseline_target() -> Target {
    Target::new(Target::default().triple().clone(), cpu_features().collect())
}

/// Creates an engine that compiles for the CPU of `target`. The engine of [`new`] loads the code.
pub fn compiling_engine(target: Target) -> Engine {
    // Machine code does not depend on the stack size.
    with_target(crate::stack::LEAST, target)
}

fn with_target(stack: usize, target: Target) -> Engine {
    let mut engine = EngineBuilder::new(cranelift_compiler()).set_target(Some(target)).engine();
    let stack = stack.max(crate::stack::LEAST);
    engine.set_tunables(BudgetTunables::new(stack));
    engine.into()
}

fn cranelift_compiler() -> Cranelift {
    let mut c = Cranelift::default();
    c.opt_level(CraneliftOptLevel::Speed);
    // The ELF form is mapped from its file and paged in on demand; the older form is parsed and
    // copied whole. The whole process of `echo` in a 13 MB program takes 12 ms of CPU time and 23
    // MB of resident memory instead of 21 ms and 88 MB, and its code takes 34 MB on disk instead of
    // 53 MB.
    c.experimental_artifact(true);
    c
}

/// Returns the features that code compiled here uses.
fn cpu_features() -> impl Iterator<Item = CpuFeature> {
    let host = CpuFeature::for_host();
    BASELINE.iter().copied().filter(move |f| host.contains(*f))
}

/// Returns the names of the features that code compiled here uses, such as `sse4.1`.
pub fn feature_names() -> Vec<String> {
    cpu_features().map(|f| f.to_string()).collect()
}

/// Returns those of the named features that this CPU lacks, or that are unknown.
pub fn missing_features(names: &[String]) -> Vec<String> {
    let host = CpuFeature::for_host();
    let has = |name: &String| name.parse().is_ok_and(|f: CpuFeature| host.contains(f));
    names.iter().filter(|name| !has(name)).cloned().collect()
}

/// Returns the engine, and the kind of machine that it makes code for.
pub fn engine_kind() -> String {
    format!("{ENGINE} {}", Target::default().triple())
}

/// Returns everything except the module that determines the machine code: engine, target, CPU
/// features.
pub fn engine_identity() -> String {
    format!("{} {}", engine_kind(), feature_names().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_this_cpu_are_no_obstacle() {
        let all: Vec<String> = CpuFeature::for_host().iter().map(|f| f.to_string()).collect();
        assert!(missing_features(&all).is_empty(), "{all:?}");
        assert!(missing_features(&feature_names()).is_empty());
        // No machine has a feature of another architecture, or an unknown feature.
        let foreign = if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" };
        let names = [foreign, "sse9"].map(str::to_owned);
        assert_eq!(missing_features(&names), names);
    }
}
