//! Makes the linker replace two functions of libc with those of `box-sys`
//! (`tools/sys/src/empty_path.rs`), and gives the program's memory its initial size.

/// The initial size of the memory in bytes: the stack (8 MiB), the data, and some heap. Without heap
/// left in it, each process would grow its memory, and the host would shrink it again before the
/// next process: two `mprotect(2)` and a flush of all cores' TLBs, 20 microseconds of the 100 that
/// `true` takes. The linker refuses a size that is too small.
const INITIAL_MEMORY: u32 = 12 << 20;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("wasi") {
        return;
    }
    for name in ["__wasilibc_find_relpath", "__wasilibc_find_relpath_alloc"] {
        println!("cargo::rustc-link-arg-bins=--wrap={name}");
    }
    println!("cargo::rustc-link-arg-bins=--initial-memory={INITIAL_MEMORY}");
}
