//! The engine's configuration: everything that decides what machine code looks like.

use crate::memory::BudgetTunables;
use wasmer::Engine;
use wasmer::sys::{Cranelift, CraneliftOptLevel, EngineBuilder, Target};

/// The engine's version and the form of what is stored; part of every artifact's key.
const ENGINE: &str = "wasmer-7.5.0 cranelift speed elf-3";

/// An engine whose processes have such a stack.
pub fn new(stack: usize) -> Engine {
    crate::interrupt::install();
    let mut engine = EngineBuilder::new(compiler()).engine();
    let stack = stack.max(crate::stack::LEAST);
    engine.set_tunables(BudgetTunables::new(stack));
    engine.into()
}

fn compiler() -> Cranelift {
    let mut c = Cranelift::default();
    c.opt_level(CraneliftOptLevel::Speed);
    // The ELF form is mapped from its file and paged in on demand; the older form is
    // parsed and copied whole. `echo` of a 13 MB program, whole process: 12 ms of CPU
    // and 23 MB resident against 21 ms and 88 MB; on disk 34 MB against 53.
    c.experimental_artifact(true);
    c
}

/// What besides the module decides the machine code: engine, target, CPU features.
pub fn identity() -> String {
    let target = Target::default();
    format!("{ENGINE} {} {:?}", target.triple(), target.cpu_features())
}
