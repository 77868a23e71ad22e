//! Elementary functions, from musl's own sources.
//!
//! The compiler wheel's libc has musl's for most of `<math.h>`, and its own for these: its
//! exp(1) is not e, its log2 loses half of the digits of numbers below 2^-1022. musl's exp, log and
//! pow are the algorithms that glibc has. What differs from glibc is in `docs/deviations.md`.

use anyhow::Result;

use super::pins::Pins;
use super::toolchain::{Tools, find, unpack_tar};
use super::workshop::{Done, Key, Leftover, Workshop, sorted};
use super::{fetch, host};

const CODE: &str = include_str!("libm.rs");

/// Files of `src/math`: what the wheel replaces, but for what is one instruction of the machine;
/// and sinh, since the wheel's has a helper of an older kind than cosh.
const FUNCTIONS: &[&str] = &[
    "__expo2",
    "__expo2f",
    "acos",
    "acosf",
    "acoshf",
    "asin",
    "atan",
    "atanf",
    "cbrt",
    "cbrtf",
    "cos",
    "cosf",
    "cosh",
    "coshf",
    "exp",
    "exp10",
    "exp10f",
    "exp2",
    "exp2f",
    "expf",
    "hypot",
    "hypotf",
    "log",
    "log10",
    "log10f",
    "log1p",
    "log1pf",
    "log2",
    "log2_data",
    "log2f",
    "log2f_data",
    "log_data",
    "logf",
    "logf_data",
    "sin",
    "sincos",
    "sincosf",
    "sinf",
    "sinh",
    "sinhf",
    "tan",
    "tanf",
    "tanh",
    "tanhf",
];

/// As musl's makefile has them, for the compiler's headers.
const FLAGS: &[&str] =
    &["-O2", "-g0", "-w", "-D_GNU_SOURCE", "-Dhidden=", "-Dweak_alias(old,new)="];

/// Compiles them; the objects are linked before libc.
pub fn build(shop: &mut Workshop, pins: &Pins, tools: &Tools) -> Result<Done> {
    let source = pins.source("musl")?;
    let file = fetch::fetch(shop, source)?;
    let mut key = Key::new("libm");
    for part in [&tools.key, &source.sha256] {
        key.text(part);
    }
    key.text(CODE);
    shop.step("libm", key, Leftover::Discard, |bench| {
        unpack_tar(bench, &file)?;
        let musl = find(&bench.dir, "musl-")?;
        let mut clang = host::tool(tools.path("clang"), &bench.dir);
        clang.args(FLAGS).arg("-I").arg(musl.join("src/internal"));
        clang.arg("-I").arg(musl.join("arch/generic")).arg("-c");
        for name in FUNCTIONS {
            clang.arg(musl.join(format!("src/math/{name}.c")));
        }
        bench.run(&mut clang)
    })
}

/// The objects of a finished step.
pub fn objects(libm: &Done) -> Result<Vec<std::path::PathBuf>> {
    let names = sorted(&libm.dir)?;
    Ok(names.iter().filter(|name| name.ends_with(".o")).map(|name| libm.dir.join(name)).collect())
}
