//! The prerequisites of every later stage: sources, this machine's interpreter, the target's
//! compiler and libraries.

use anyhow::Result;

use super::libs::Libs;
use super::pins::{Pins, Profile};
use super::toolchain::Tools;
use super::workshop::{Done, Workshop};
use super::{cpython, libs, native, toolchain};

/// The results of the first steps, with the pins and the profile of the build.
pub struct Bootstrap<'p> {
    pub pins: &'p Pins,
    pub profile: Profile,
    /// The compiler's wheel, unpacked.
    pub zig: Done,
    /// CPython's sources, patched.
    pub source: Done,
    /// The interpreter that runs on this machine.
    pub native: Done,
    /// The compiler for our target.
    pub tools: Tools,
    pub libs: Libs,
}

/// Builds the prerequisites of the later stages.
pub fn build_bootstrap<'p>(
    shop: &mut Workshop,
    pins: &'p Pins,
    profile: Profile,
) -> Result<Bootstrap<'p>> {
    let zig = toolchain::unpack(shop, pins)?;
    let source = cpython::source(shop, pins)?;
    let native = native::build(shop, &source)?;
    let tools = toolchain::sysroot(shop, pins, &zig)?;
    let libs = libs::build(shop, pins, &tools)?;
    Ok(Bootstrap { pins, profile, zig, source, native, tools, libs })
}
