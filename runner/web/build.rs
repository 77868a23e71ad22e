//! Linker arguments for the kernel's module: shared memory that the page makes, and the start code
//! of a reactor, because rustc links only the start code of commands on this target.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("TARGET").as_deref() != Ok("wasm32-wasip1-threads") {
        return;
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let out = Command::new(rustc).args(["--print", "sysroot"]).output();
    let sysroot = match out {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout).trim().to_owned(),
        _ => panic!("rustc does not tell its folder"),
    };
    let crt = Path::new(&sysroot)
        .join("lib/rustlib/wasm32-wasip1-threads/lib/self-contained/crt1-reactor.o");
    let args = [
        crt.display().to_string(),
        "--export=_initialize".into(),
        "--export=__stack_pointer".into(),
        "--initial-memory=16777216".into(),
        // The page grows the memory (`src/heap.rs`).
        "--max-memory=2147483648".into(),
        // This is the stack of the first thread; the others get theirs from std.
        "-zstack-size=1048576".into(),
    ];
    for arg in args {
        println!("cargo:rustc-link-arg-cdylib={arg}");
    }
}
