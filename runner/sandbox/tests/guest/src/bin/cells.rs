//! A program with cells: an interpreter of one-word commands that keeps a list of lines.
//!
//! A cell's code is the second argument. Each command answers with a value; `keep TEXT` adds a
//! line, `all` lists them, `fill N` writes into N new pages. The function `command` has the others.

use std::cell::RefCell;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::time::Instant;

struct State {
    lines: Vec<String>,
    pages: Vec<Vec<u8>>,
    file: Option<File>,
    began: Instant,
    forks: u32,
    /// A random number that was drawn while the memory was prepared.
    chance: u64,
    answer: [u32; 5],
    value: String,
    json: String,
}

thread_local! {
    static STATE: RefCell<Option<State>> = const { RefCell::new(None) };
}

unsafe extern "C" {
    fn __wasm_call_ctors();
}

#[unsafe(no_mangle)]
pub extern "C" fn wasibox_prepare() {
    // SAFETY: called once, before all other code, as `_start` does.
    unsafe { __wasm_call_ctors() };
    begin("prepared");
    // Enough memory that preparing it is worthwhile.
    STATE.with_borrow_mut(|s| s.as_mut().unwrap().pages.push(vec![7; 1 << 20]));
    let chance = RandomState::new().hash_one(std::time::SystemTime::now());
    STATE.with_borrow_mut(|s| s.as_mut().unwrap().chance = chance);
}

#[unsafe(no_mangle)]
pub extern "C" fn wasibox_resume() -> i32 {
    1
}

fn begin(how: &str) {
    STATE.set(Some(State {
        lines: vec![how.into()],
        pages: Vec::new(),
        file: None,
        began: Instant::now(),
        forks: 0,
        chance: 0,
        answer: [0; 5],
        value: String::new(),
        json: String::new(),
    }));
}

#[unsafe(no_mangle)]
pub extern "C" fn wasibox_cell(kind: i32) -> *const u32 {
    if kind & 1 != 0 {
        if STATE.with_borrow(Option::is_none) {
            // SAFETY: no other code has run on the module's own memory.
            unsafe { __wasm_call_ctors() };
            begin("begun");
        } else if arguments()[1] == "decline" {
            return std::ptr::null();
        }
        STATE.with_borrow_mut(|s| s.as_mut().unwrap().began = Instant::now());
    }
    let code = arguments().get(1).cloned().unwrap_or_default();
    STATE.with_borrow_mut(|s| {
        let s = s.as_mut().unwrap();
        s.forks += u32::from(kind & 2 != 0);
        let (word, rest) = code.split_once(' ').unwrap_or((&code, ""));
        let (status, value) = command(s, word, rest);
        s.value = value;
        s.json = if s.value.is_empty() { String::new() } else { format!("\"{}\"", s.value) };
        let text =
            |t: &str| if t.is_empty() { [0, 0] } else { [t.as_ptr() as u32, t.len() as u32] };
        let ([v, vn], [j, jn]) = (text(&s.value), text(&s.json));
        s.answer = [status, v, vn, j, jn];
        match word {
            "lie" => s.answer = [0, 0xffff_fff0, 64, 0, 0],
            "lie-long" => s.answer = [0, 16, u32::MAX, 16, u32::MAX],
            "lie-status" => s.answer[0] = 256,
            "lie-address" => return 0xffff_fff8u32 as *const u32,
            _ => {}
        }
        s.answer.as_ptr()
    })
}

/// Returns the current cell's arguments. `std::env::args` does not, because it reads them only
/// once.
fn arguments() -> Vec<String> {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        fn args_sizes_get(count: *mut u32, size: *mut u32) -> i32;
        fn args_get(list: *mut u32, bytes: *mut u8) -> i32;
    }
    let (mut count, mut size) = (0, 0);
    // SAFETY: both live for the call; the lists are as long as `args_sizes_get` has returned.
    let bytes = unsafe {
        args_sizes_get(&mut count, &mut size);
        let (mut list, mut bytes) = (vec![0u32; count as usize], vec![0u8; size as usize]);
        args_get(list.as_mut_ptr(), bytes.as_mut_ptr());
        bytes
    };
    let mut all: Vec<String> =
        bytes.split(|b| *b == 0).map(|s| String::from_utf8_lossy(s).into_owned()).collect();
    all.pop();
    all
}

fn command(s: &mut State, word: &str, rest: &str) -> (u32, String) {
    let number = || rest.parse::<usize>().unwrap_or(0);
    let done = |text: String| (0, text);
    match word {
        "keep" => {
            s.lines.push(rest.into());
            done(String::new())
        }
        "all" => done(s.lines.join(",")),
        "say" => {
            println!("{rest}");
            eprintln!("err {rest}");
            done(String::new())
        }
        "input" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).unwrap();
            done(text)
        }
        "fail" => (number() as u32, String::new()),
        "exit" => std::process::exit(number() as i32),
        "trap" => std::process::abort(),
        "spin" => loop {
            std::hint::black_box(());
        },
        "fill" => {
            s.pages.extend((0..number()).map(|n| vec![n as u8 + 1; 64 << 10]));
            done(String::new())
        }
        "sum" => done(s.pages.iter().flatten().map(|b| u64::from(*b)).sum::<u64>().to_string()),
        "touch" => {
            let page = s.pages.get_mut(number()).unwrap();
            page[100] = page[100].wrapping_add(1);
            done(String::new())
        }
        "long" => done("v".repeat(number())),
        "open" => {
            s.file = Some(File::options().read(true).write(true).open(rest).unwrap());
            done(String::new())
        }
        "read" => {
            let mut b = vec![0; number()];
            match s.file.as_mut().unwrap().read(&mut b) {
                Ok(n) => done(String::from_utf8_lossy(&b[..n]).into_owned()),
                Err(e) => done(format!("errno {}", e.raw_os_error().unwrap_or(-1))),
            }
        }
        "write" => match s.file.as_mut().unwrap().write_all(rest.as_bytes()) {
            Ok(()) => done("written".into()),
            Err(e) => done(format!("errno {}", e.raw_os_error().unwrap_or(-1))),
        },
        "remove" => done(format!("{:?}", std::fs::remove_file(rest).is_ok())),
        "elapsed" => done(s.began.elapsed().as_nanos().to_string()),
        "forks" => done(s.forks.to_string()),
        "chance" => done(s.chance.to_string()),
        other => (1, format!("no command {other}")),
    }
}

fn main() {
    println!("run as a command");
}
