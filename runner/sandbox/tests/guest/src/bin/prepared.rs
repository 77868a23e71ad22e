//! A program that is prepared: it prints the memory that it finds.
//!
//! Its memory after `wasibox_prepare` is the memory that `wasibox_resume` finds in every process.
//! Arguments: `show` prints the memory, `anew` asks for a start from the beginning, `write` changes
//! memory.

use std::cell::RefCell;

thread_local! {
    static KEPT: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" {
    fn __wasm_call_ctors();
}

fn keep(line: String) {
    KEPT.with_borrow_mut(|k| k.push(line));
}

#[unsafe(no_mangle)]
pub extern "C" fn wasibox_prepare() {
    // SAFETY: called once, before all other code, as `_start` does.
    unsafe { __wasm_call_ctors() };
    if cfg!(feature = "fails") {
        eprintln!("no, I will not");
        std::process::exit(3);
    }
    let text = std::fs::read_to_string("/etc/motto").unwrap_or_default();
    keep(format!("prepared with {}", text.trim()));
    // This needs more than the module's initial memory.
    keep("x".repeat(5 << 20));
    // A folder that the session has created has the same fixed time as all others, which is not
    // later than the beginning of 2026.
    let made = std::fs::metadata("/tmp").and_then(|m| m.modified());
    if made.is_ok_and(|t| t > std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_767_225_600)) {
        keep("now".into());
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn wasibox_resume() -> i32 {
    if std::env::args().nth(1).is_some_and(|a| a == "anew") {
        return 1;
    }
    main();
    0
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|a| a == "write") {
        keep("written".into());
    }
    KEPT.with_borrow(|k| match k.split_first() {
        None => println!("begun anew {args:?}"),
        Some((first, rest)) => {
            let sizes: Vec<usize> = rest.iter().map(String::len).collect();
            println!("{first}; {sizes:?}; {args:?}");
        }
    });
    if args.first().is_some_and(|a| a == "fail") {
        std::process::exit(4);
    }
}
