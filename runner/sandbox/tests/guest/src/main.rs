//! Commands for the sandbox's tests. Each does one thing and prints what it observes.

mod sockets;
mod sys;

use std::fs::{self, OpenOptions};
use std::hint::black_box;
use std::io::{Read, Write, stdin, stdout};
use std::os::fd::FromRawFd;
use std::time::{Duration, Instant};
use sys::*;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let name = args[0].rsplit('/').next().unwrap_or_default().to_owned();
    let a: Vec<&str> = args[1..].iter().map(String::as_str).collect();
    match name.as_str() {
        "true" => {}
        "exit" => std::process::exit(a[0].parse().unwrap()),
        "echo" => println!("{}", a.join(" ")),
        "args" => {
            println!("{args:?}");
            let mut env: Vec<_> = std::env::vars().collect();
            env.sort();
            println!("{env:?}");
        }
        "cwd" => println!("{}", getcwd_string()),
        "cat" => cat(&a),
        "wc" => println!("{}", count(&mut stdin())),
        "gen" => generate(a[0].parse().unwrap()),
        "yes" => generate(usize::MAX),
        "head" => {
            let mut b = vec![0; a[0].parse().unwrap()];
            stdin().read_exact(&mut b).unwrap();
            println!("{}", b.len());
        }
        "run" => report(run(&a)),
        "pipeline" => println!("{}", pipeline(a[0], a[1] == "bridge")),
        "early-end" => early_end(a[0] == "bridge"),
        "spin" => loop {
            black_box(());
        },
        "sleep" => std::thread::sleep(Duration::from_secs_f64(a[0].parse().unwrap())),
        "recurse" => println!("{}", recurse(0)),
        "oob" => unsafe { println!("{}", black_box(0xf000_0000 as *const u8).read_volatile()) },
        "deep" => println!("{}", deep(a.len() as u32)),
        "abort" => std::process::abort(),
        "divide" => divide(),
        "badcall" => badcall(),
        "leave" => {
            spawn("/bin/spin", &["spin"], &[], &[]).unwrap();
            spawn("/bin/sleep", &["sleep", "60"], &[], &[]).unwrap();
            println!("left");
            std::process::exit(7);
        }
        "alloc" => alloc(a[0].parse().unwrap(), a.get(1).is_some()),
        "stain" => stain(),
        "stains" => println!("{}", stains()),
        "fill" => fill(a[0], a[1].parse().unwrap()),
        "copy" => drop(std::fs::copy(a[0], a[1]).unwrap()),
        "unlink" => std::fs::remove_file(a[0]).unwrap(),
        "kill" => report_kill(a[0].parse().unwrap(), &a[1..]),
        "bomb" => bomb(a[0].parse().unwrap()),
        "fds" => fds(),
        "badcalls" => badcalls(),
        "poll" => poll(),
        "devices" => devices(),
        "meta" => meta(),
        "files" => files(),
        "exec" => println!("errno {}", exec(a[0], &a)),
        "bench-spawn" => bench_spawn(a[0].parse().unwrap()),
        "bench-pipe" => bench_pipe(a[0].parse().unwrap()),
        "sockets" => sockets::sockets(),
        "serve" => sockets::serve(a[0].parse().unwrap()),
        "echo-server" => sockets::echo_server(a[0].parse().unwrap()),
        "kill-waiting" => sockets::kill_waiting(a[0]),
        "wait-in" => sockets::wait_in(a[0]),
        "many-sockets" => sockets::many(),
        "sink" => sockets::sink(),
        "bench-sockets" => sockets::bench(a[0].parse().unwrap(), a[1].parse().unwrap()),
        "bench-files" => bench_files(a[0], a[1].parse().unwrap()),
        other => {
            eprintln!("guest: no command {other}");
            std::process::exit(127);
        }
    }
}

fn cat(files: &[&str]) {
    let mut out = stdout().lock();
    if files.is_empty() {
        std::io::copy(&mut stdin().lock(), &mut out).unwrap();
    }
    for f in files {
        match fs::File::open(f) {
            Ok(mut f) => drop(std::io::copy(&mut f, &mut out).unwrap()),
            Err(e) => println!("{f}: {}", e.raw_os_error().unwrap_or(-1)),
        }
    }
}

fn count(r: &mut impl Read) -> u64 {
    let mut b = vec![0; 65536];
    let mut n = 0;
    loop {
        match r.read(&mut b).unwrap() {
            0 => return n,
            k => n += k as u64,
        }
    }
}

fn generate(mut n: usize) {
    let b = vec![b'x'; 65536];
    let mut out = stdout().lock();
    while n > 0 {
        let k = n.min(b.len());
        if let Err(e) = out.write_all(&b[..k]) {
            eprintln!("gen: errno {}", e.raw_os_error().unwrap_or(-1));
            std::process::exit(3);
        }
        n -= k;
    }
}

fn run(a: &[&str]) -> Result<(i32, Join), i32> {
    spawn(a[0], a, &[], &[]).map(join)
}

fn report(r: Result<(i32, Join), i32>) {
    match r {
        Ok((e, j)) => println!("join {e} tag {} code {} signal {}", j.tag, j.code, j.signal),
        Err(e) => println!("spawn errno {e}"),
    }
}

fn make_pipe(bridge: bool, name: &str) -> (u32, u32) {
    use std::os::fd::IntoRawFd;
    if !bridge {
        return pipe();
    }
    let open = |end: &str, write: bool| {
        let path = format!("/.box/pipe/{name}/{end}");
        OpenOptions::new().read(!write).write(write).open(path).unwrap().into_raw_fd() as u32
    };
    (open("r", false), open("w", true))
}

/// Runs `gen N | cat | wc` and closes every descriptor, as a shell must.
fn pipeline(n: &str, bridge: bool) -> String {
    let (r1, w1) = make_pipe(bridge, "one");
    let (r2, w2) = make_pipe(bridge, "two");
    let (r3, w3) = make_pipe(bridge, "three");
    let all = [r1, w1, r2, w2, r3, w3];
    let stages = [
        spawn("/bin/gen", &["gen", n], &[(1, w1)], &all).unwrap(),
        spawn("/bin/cat", &["cat"], &[(0, r1), (1, w2)], &all).unwrap(),
        spawn("/bin/wc", &["wc"], &[(0, r2), (1, w3)], &all).unwrap(),
    ];
    for fd in [w1, r1, w2, r2, w3] {
        close(fd);
    }
    let mut out = String::new();
    let mut f = unsafe { fs::File::from_raw_fd(r3 as i32) };
    f.read_to_string(&mut out).unwrap();
    for pid in stages {
        let (e, j) = join(pid);
        assert_eq!((e, j.code), (0, 0));
    }
    out.trim().to_owned()
}

/// Runs `yes | head 100`; the writer must notice that its reader has ended.
fn early_end(bridge: bool) {
    let (r, w) = make_pipe(bridge, "p");
    let gen_pid = spawn("/bin/yes", &["yes"], &[(1, w)], &[r, w]).unwrap();
    let head = spawn("/bin/head", &["head", "100"], &[(0, r)], &[r, w]).unwrap();
    close(r);
    close(w);
    report(Ok(join(head)));
    report(Ok(join(gen_pid)));
}

#[inline(never)]
fn recurse(n: u64) -> u64 {
    let b = black_box([n; 8]);
    if n == u64::MAX { 0 } else { recurse(n + 1) + b[3] }
}

/// Divides by zero with the engine's instruction, without Rust's check.
fn divide() {
    let zero = unsafe { std::num::NonZeroU32::new_unchecked(black_box(0)) };
    println!("{}", black_box(7) / zero);
}

/// Recurses on the engine's call stack, without using the stack in linear memory.
#[inline(never)]
fn deep(n: u32) -> u32 {
    if n == u32::MAX { n } else { (deep(n + 1) ^ n).wrapping_mul(n | 1) }
}

fn badcall() {
    let f: extern "C" fn() = unsafe { std::mem::transmute(black_box(divide as *const () as usize)) };
    let f: extern "C" fn(f64, f64) -> f64 = unsafe { std::mem::transmute(f) };
    println!("{}", black_box(f)(1.0, 2.0));
}

/// The number of times that `stain` ran in this memory, and a variable that is not zero at the
/// start.
static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(41);

/// The complement of the mark that `stain` leaves, so that the mark is not among this program's own
/// constants.
const MARK: u64 = 0x5ec2_e75e_c2e7_0042;

/// Leaves marks on the stack, in the initial heap and in grown memory, and counts the run in a
/// static variable.
fn stain() {
    let mark = black_box(MARK) ^ u64::MAX;
    let runs = RUNS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
    for size in [1000, 100_000, 3 << 20] {
        let marks = vec![mark; size / 8];
        std::mem::forget(black_box(marks));
    }
    let stack = black_box([mark; 5000]);
    println!("run {runs} {}", stack[0] == stack[4999]);
}

/// Counts the marks in the whole memory, and its pages.
fn stains() -> String {
    let pages = core::arch::wasm32::memory_size(0);
    let found = (0..pages * 8192)
        .filter(|i| {
            let p = black_box((i * 8) as *const u64);
            // SAFETY: the address is within the memory.
            i > &0 && unsafe { p.read_volatile() } == black_box(MARK) ^ u64::MAX
        })
        .count();
    format!("{found} marks in {pages} pages")
}

fn alloc(mib: usize, keep: bool) {
    let mut all = Vec::new();
    for n in 0..mib {
        let mut v: Vec<u8> = Vec::new();
        if v.try_reserve_exact(1 << 20).is_err() {
            println!("refused after {n} MiB");
            break;
        }
        v.resize(1 << 20, 1);
        all.push(v);
    }
    println!("have {} MiB", all.len());
    if keep {
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn fill(path: &str, n: usize) {
    let mut f = fs::File::create(path).unwrap();
    let b = vec![7u8; 65536];
    let mut done = 0;
    while done < n {
        match f.write(&b[..b.len().min(n - done)]) {
            Ok(k) => done += k,
            Err(e) => {
                println!("errno {} after {done}", e.raw_os_error().unwrap_or(-1));
                return;
            }
        }
    }
    println!("wrote {done}");
}

fn report_kill(sig: u32, a: &[&str]) {
    let pid = spawn(a[0], a, &[], &[]).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    println!("exists {}", kill(pid, 0));
    println!("kill {}", kill(pid, sig));
    let t = Instant::now();
    report(Ok(join(pid)));
    println!("soon {}", t.elapsed() < Duration::from_millis(500));
    println!("gone {}", kill(pid, 0));
    println!("again {}", join(pid).0);
}

fn bomb(n: usize) {
    let mut pids = Vec::new();
    let mut errno = 0;
    for _ in 0..n {
        match spawn("/bin/sleep", &["sleep", "60"], &[], &[]) {
            Ok(p) => pids.push(p),
            Err(e) => {
                errno = e;
                break;
            }
        }
    }
    println!("started {} then errno {errno}", pids.len());
    for p in &pids {
        kill(*p, 9);
    }
    for p in &pids {
        assert_eq!(join(*p).1.signal, 9);
    }
    println!("all ended");
}

fn fds() {
    let (mut n, mut errno) = (0, 0);
    loop {
        match dup(1) {
            Ok(_) => n += 1,
            Err(e) => {
                errno = e;
                break;
            }
        }
        if n > 100_000 {
            break;
        }
    }
    println!("{n} then errno {errno}");
}

/// Makes system calls with invalid pointers and numbers, which must return errors and do nothing
/// worse.
fn badcalls() {
    let mut seen = Vec::new();
    for p in [u32::MAX, u32::MAX - 3, 0x7fff_fff0, 0xffff_0000] {
        seen.extend(unsafe { hostile(p) });
    }
    println!("{} calls, worst {}", seen.len(), seen.iter().max().unwrap());
}

fn poll() {
    let t = Instant::now();
    println!("zero {} {}", poll_clock(1, 0, false), t.elapsed() < Duration::from_millis(20));
    let t = Instant::now();
    println!("rel {} {}", poll_clock(1, 30_000_000, false), within(t, 30));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let t = Instant::now();
    println!("abs {} {}", poll_clock(0, now.as_nanos() as u64 + 30_000_000, true), within(t, 30));
    let (r, w) = pipe();
    let t = Instant::now();
    println!("empty {} {}", poll_read(r, 30_000_000), within(t, 30));
    let mut f = unsafe { fs::File::from_raw_fd(w as i32) };
    f.write_all(b"x").unwrap();
    let t = Instant::now();
    println!("full {} {}", poll_read(r, 500_000_000), t.elapsed() < Duration::from_millis(100));
}

fn within(t: Instant, ms: u64) -> bool {
    let e = t.elapsed();
    e >= Duration::from_millis(ms) && e < Duration::from_millis(ms + 200)
}

fn devices() {
    let read = |p: &str| {
        let mut b = [9u8; 8];
        match fs::File::open(p).and_then(|mut f| f.read(&mut b)) {
            Ok(n) => format!("{n} {}", b[..n].iter().all(|c| *c == 0)),
            Err(e) => format!("errno {}", e.raw_os_error().unwrap_or(-1)),
        }
    };
    for d in ["null", "zero", "full", "tty", "nothing"] {
        println!("{d} {}", read(&format!("/dev/{d}")));
    }
    println!("urandom {}", read("/dev/urandom") != "8 true");
    let w = OpenOptions::new().write(true).open("/dev/full").and_then(|mut f| f.write(b"x"));
    println!("full write {}", w.unwrap_err().raw_os_error().unwrap());
    OpenOptions::new().write(true).open("/dev/stdout").unwrap().write_all(b"by name\n").unwrap();
    OpenOptions::new().write(true).open("/dev/fd/1").unwrap().write_all(b"by number\n").unwrap();
    println!("fd 77 {}", read("/dev/fd/77"));
    let mut names: Vec<_> =
        fs::read_dir("/").unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    println!("{names:?}");
}

/// Makes requests at the metadata node, as `tools/sys` does.
fn meta() {
    let open = || OpenOptions::new().read(true).write(true).open("/.box/meta").unwrap();
    let ask = |f: &mut fs::File, req: &[u8]| {
        f.write_all(req).unwrap();
        let mut b = [0; 100];
        let n = f.read(&mut b).unwrap();
        b[..n].to_vec()
    };
    let (mut a, mut b) = (open(), open());
    // Each open descriptor has exchanges of its own.
    a.write_all(b"\x01\x01/bin/echo").unwrap();
    println!("b {:?}", ask(&mut b, b"\x01\x01/nowhere"));
    let mut reply = [0; 100];
    let n = a.read(&mut reply).unwrap();
    println!("a {n} errno {} kind {:o} mode {:o}", reply[0], reply[2], mode(&reply));
    fs::write("/tmp/f", "x").unwrap();
    println!("chmod {:?}", ask(&mut a, b"\x02\xc0\x01/tmp/f"));
    let r = ask(&mut a, b"\x01\x01/tmp/f");
    println!("mode {:o} uid {}", mode(&r), u32::from_le_bytes(r[6..10].try_into().unwrap()));
    println!("nonsense {:?}", ask(&mut a, b"\xff\xff"));
    println!("relative {:?}", ask(&mut a, b"\x01\x01tmp"));
}

fn mode(reply: &[u8]) -> u16 {
    u16::from_le_bytes([reply[4], reply[5]])
}

/// Exercises std's functions for files, also with names that are not UTF-8.
fn files() {
    use std::os::wasi::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"/tmp/\xff\xfe");
    fs::write(odd, "odd").unwrap();
    println!("{}", fs::read_to_string(odd).unwrap());
    fs::create_dir_all("/tmp/d/e").unwrap();
    fs::write("/tmp/d/e/f", "hello").unwrap();
    let mut f = OpenOptions::new().append(true).open("/tmp/d/e/f").unwrap();
    f.write_all(b" world").unwrap();
    println!("{}", fs::read_to_string("/tmp/d/e/f").unwrap());
    // An unlinked file exists while it is open, and its name is free for another file.
    let mut old = OpenOptions::new().read(true).write(true).open("/tmp/d/e/f").unwrap();
    fs::remove_file("/tmp/d/e/f").unwrap();
    fs::write("/tmp/d/e/f", "new").unwrap();
    let mut s = String::new();
    old.read_to_string(&mut s).unwrap();
    println!("{s} / {} / {}", fs::read_to_string("/tmp/d/e/f").unwrap(), old.metadata().unwrap().len());
    fs::rename("/tmp/d/e", "/tmp/d/g").unwrap();
    println!("{:?}", fs::read_dir("/tmp/d").unwrap().map(|e| e.unwrap().file_name()).collect::<Vec<_>>());
    fs::hard_link("/tmp/d/g/f", "/tmp/d/h").unwrap();
    println!("{}", fs::read_to_string("/tmp/d/h").unwrap());
    println!("{:?}", fs::remove_dir("/tmp/d").unwrap_err().raw_os_error());
    println!("{:?}", fs::create_dir("/tmp/d").unwrap_err().raw_os_error());
    fs::remove_dir_all("/tmp/d").unwrap();
    println!("{:?}", fs::metadata("/tmp/d").unwrap_err().raw_os_error());
    let mut many: Vec<_> = (0..3000).map(|i| format!("n{i}")).collect();
    fs::create_dir("/tmp/many").unwrap();
    for n in &many {
        fs::write(format!("/tmp/many/{n}"), "").unwrap();
    }
    let mut got: Vec<_> = fs::read_dir("/tmp/many")
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    got.sort();
    many.sort();
    println!("{}", got == many);
}

fn bench_spawn(n: usize) {
    let mut t: Vec<Duration> = (0..n)
        .map(|_| {
            let t = Instant::now();
            let (e, j) = run(&["/bin/true"]).unwrap();
            assert_eq!((e, j.code), (0, 0));
            t.elapsed()
        })
        .collect();
    t.sort();
    println!("spawn+join min {:?} median {:?} p95 {:?}", t[0], t[n / 2], t[n * 95 / 100]);
}

fn bench_pipe(n: usize) {
    let t = Instant::now();
    println!("{} bytes", pipeline(&n.to_string(), true));
    println!("in {:?}", t.elapsed());
}

fn bench_files(dir: &str, n: u32) {
    let t = Instant::now();
    for i in 0..n {
        fs::write(format!("{dir}/f{i}"), "hello").unwrap();
    }
    let made = t.elapsed() / n;
    let t = Instant::now();
    for i in 0..n {
        fs::read(format!("{dir}/f{i}")).unwrap();
    }
    println!("create {made:?} read {:?}", t.elapsed() / n);
}
