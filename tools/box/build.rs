//! Makes the linker replace two functions of libc with those of `box-sys`
//! (`tools/sys/src/empty_path.rs`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("wasi") {
        return;
    }
    for name in ["__wasilibc_find_relpath", "__wasilibc_find_relpath_alloc"] {
        println!("cargo::rustc-link-arg-bins=--wrap={name}");
    }
}
