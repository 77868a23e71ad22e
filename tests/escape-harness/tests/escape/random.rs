//! Generates hostile programs: fragments of attacks in shell, Python and JavaScript, joined with
//! random parameters and limits, and modules that make random calls with random arguments.
//!
//! The seed alone determines a program, so `--seed N --seconds 1` generates a failing one again. A
//! failing program is also saved as a file that can be moved into `tests/escape` as it is.

use std::time::{Duration, Instant};

use crate::program::{Kind, Program};
use crate::target::Target;
use crate::trial::{Bench, Verdict};

/// Marsaglia's xorshift64*, which is small and gives the same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d);
        dice.0 = dice.0.max(1);
        for _ in 0..8 {
            dice.next();
        }
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

/// Runs programs until the time is over or one is not contained.
pub fn run(
    bench: &Bench,
    targets: &[Target],
    time: Duration,
    seed: Option<u64>,
) -> Result<u8, String> {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let first = seed.unwrap_or_else(|| clock.map_or(1, |t| t.as_secs() & 0xffff_ffff));
    println!("first seed {first}\n{}", Verdict::HEAD);
    let begun = Instant::now();
    let mut seed = first;
    while begun.elapsed() < time {
        let program = make(seed);
        for target in targets {
            let verdict = bench.judge(&program, *target);
            println!("{verdict}");
            if !verdict.failures.is_empty() {
                let path = save(&program)?;
                println!("\nseed {seed} is not contained; the program is {path}");
                return Ok(1);
            }
        }
        seed = seed.wrapping_add(1);
    }
    println!("\n{} programs on {} targets, all contained", seed.wrapping_sub(first), targets.len());
    Ok(0)
}

/// Writes a program as a file of the suite. Returns its path.
fn save(p: &Program) -> Result<String, String> {
    let mark = match p.kind {
        Kind::Shell | Kind::Python => "#:",
        Kind::JavaScript => "//:",
        Kind::Module => ";;:",
    };
    let mut text = format!("{mark} attacks = {}\n{mark} status = any\n", p.attacks);
    for (key, value) in [("timeout", p.timeout), ("seconds", p.seconds)] {
        text.push_str(&format!("{mark} {key} = {value}\n"));
    }
    for (key, value) in [
        ("memory", p.memory),
        ("disk", p.disk),
        ("output", p.output),
        ("processes", p.processes),
        ("grows", p.grows),
        ("descriptors", p.descriptors),
    ] {
        text.push_str(&format!("{mark} {key} = {value}\n"));
    }
    if p.json {
        text.push_str(&format!("{mark} json = yes\n"));
    }
    for m in &p.mounts {
        let mode = if m.writable { "rw" } else { "ro" };
        let quota = m.quota.map_or(String::new(), |q| format!(",quota={q}"));
        text.push_str(&format!("{mark} mount = {}:{}:{mode}{quota}\n", m.host, m.guest));
    }
    text.push_str(&p.text);
    let dir = wasibox_escape::root().join("target/escape");
    std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
    let path = dir.join(&p.name);
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    Ok(path.display().to_string())
}

/// Returns the program of a seed.
fn make(seed: u64) -> Program {
    let dice = &mut Dice::new(seed);
    let (kind, extension) = *dice.pick(&[
        (Kind::Shell, "sh"),
        (Kind::Python, "py"),
        (Kind::JavaScript, "js"),
        (Kind::Module, "wat"),
    ]);
    let text = match kind {
        Kind::Shell => script(dice, SHELL, "\n"),
        Kind::Python => python(dice),
        Kind::JavaScript => javascript(dice),
        Kind::Module => module(dice),
    };
    let mut p = Program::new(&format!("seed-{seed}.{extension}"), kind, text);
    p.attacks = format!("what seed {seed} makes");
    p.timeout = *dice.pick(&[0.2, 0.5, 1.0, 2.0]);
    p.memory = *dice.pick(&[32, 64, 128, 256]) << 20;
    p.disk = *dice.pick(&[1 << 16, 1 << 20, 8 << 20]);
    p.output = *dice.pick(&[1 << 10, 1 << 20, 4 << 20]);
    p.processes = *dice.pick(&[1, 4, 16, 64]);
    p.json = dice.below(3) == 0;
    if dice.below(2) == 0 {
        let writable = dice.below(2) == 0;
        let (host, guest) = ("work".into(), "/w".into());
        let mount =
            crate::program::Mount { host, guest, writable, quota: writable.then_some(8 << 20) };
        p.mounts.push(mount);
    }
    p.descriptors = 4096;
    p.complete()
}

/// Parameters of fragments: sizes and counts near which limits take effect and integers overflow.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "7",
    "64",
    "255",
    "256",
    "1000",
    "4096",
    "65535",
    "65536",
    "100000",
    "1048577",
    "16777216",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-1",
    "-9223372036854775808",
];
const PATHS: &[&str] = &[
    "/",
    "/tmp",
    "/tmp/a",
    "/tmp/a/../b",
    "/w",
    "/w/x",
    "/w/../outside/secret",
    "/dev/fd/0",
    "/dev/fd/3",
    "/dev/fd/99",
    "/dev/urandom",
    "/dev/full",
    "/dev/tty",
    "/.box",
    "/.box/meta",
    "/.box/pipe/1/r",
    "/.box/pipe/1/w",
    "/.box/pipe/..",
    "/proc/self/fd/1",
    "/etc/passwd",
    "/bin/sh",
    "/usr/lib",
    "//",
    "/tmp/\u{1b}[2J",
    "/w/../../../../etc/shadow",
];

/// Fragments of shell scripts: `N` is a number, `P` and `Q` are paths, and `{}` is another
/// fragment.
const SHELL: &[&str] = &[
    "while :; do {}; done",
    "for i in $(seq 1 $((N % 5000))); do {}; done",
    "( {} ) &",
    "{} | {}",
    "f() { {}; f; }; f",
    "x=$( {} )",
    "trap '{}' TERM INT CHLD EXIT; kill -TERM $$",
    "eval \"$(yes '{}' | head -n 50)\"",
    "exec 9<>P; {}",
    "mkfifo P; {} > P & cat P",
    "cat P > Q",
    "ln -s P Q",
    "ln P Q",
    "mv P Q",
    "cp -r P Q",
    "rm -rf P",
    "chmod N P",
    "touch P",
    "mkdir -p P/a/b/c",
    "truncate -s N P",
    "head -c N /dev/zero > P",
    "dd if=P of=Q bs=N count=3 seek=N 2>/dev/null",
    "printf '%*d' N 1",
    "printf '%.Nf' 1",
    "printf '%s' \"${x:N:N}\"",
    "x=$x$x$x$x",
    "a[N]=1",
    "a=({1..N})",
    "echo $((N ** N)) $((N << N)) $((N / -1))",
    "kill -9 N",
    "kill -STOP $$",
    "kill -N -1",
    "kill -TERM 1 2 3 4",
    "wait",
    "ulimit -n N",
    "head -c N /dev/urandom | gzip -c | gzip -dc | wc -c",
    "seq N | sort -R | uniq -c | tail -n 1",
    "find / -name '*' -newer P",
    "tar cf - P | tar xf - -C Q",
    "grep -E '(a*)*b' P",
    "sed ':a;s/^/x/;ta' P",
    "awk 'BEGIN{while(1)a[i++]=i}'",
    "jq -n '[range(N)]|length'",
    "sleep N",
    "timeout N {}",
    "cd P; pwd; ls -la",
    "exec {}",
    "sh -c '{}'",
    "env X=$x {}",
    "xargs --max-procs 8 {} < P",
    "find P -exec {} \\;",
    "printf '\\1\\0P' > /.box/meta",
    "cat <&0 >&9 2>&1",
    "printf '\\033]0;x\\007' >&2",
    "python3 -c 'import os; os.write(N % 64, bytes(N % 99999))'",
    "read -t 0.1 x < P",
    "echo x >> P",
];

/// Fragments of JavaScript programs. `N` is as above; `P` and `Q` are literals.
const JAVASCRIPT: &[&str] = &[
    "new Uint8Array(N * 64)",
    "'x'.repeat(N * 16).split('')",
    "new Array(N).fill([]).flat(N).sort()",
    "(function f(n) { return f(n + 1); })(N)",
    "let x = []; for (let i = 0; i < N; i++) x = [x]; JSON.stringify(x)",
    "/^(a+)+$/.test('a'.repeat(N % 99) + 'b')",
    "new RegExp('('.repeat(N % 9999) + ')'.repeat(N % 9999)).test('x')",
    "Promise.resolve().then(function f() { return Promise.resolve().then(f); })",
    "for (let i = 0; i < N; i++) new Promise(() => {}).then(() => i)",
    "setInterval(() => {}, N)",
    "Object.prototype.then = function(r) { r(N); }",
    "Array.prototype[Symbol.iterator] = undefined",
    "Object.setPrototypeOf(Object.prototype, new Proxy({}, {}))",
    "Buffer.prototype.slice = null; Buffer.alloc(N).toString('base64')",
    "delete globalThis.process; delete globalThis.Object",
    "process.binding('fs'); process.kill(N, N % 64)",
    "process.exitCode = N; process.emit('exit')",
    "fs.writeFileSync(P, Buffer.alloc(N * 9))",
    "fs.readSync(fs.openSync(P), Buffer.alloc(9), N, N, N)",
    "fs.writeSync(N % 64, 'x', N)",
    "fs.ftruncateSync(fs.openSync(P, 'w'), N)",
    "fs.symlinkSync(P, Q); fs.cpSync(P, Q, { recursive: true })",
    "fs.rmSync(P, { recursive: true, force: true })",
    "fs.createReadStream(P).pipe(fs.createWriteStream(Q))",
    "require('child_process').execSync('yes | head -c N')",
    "for (let i = 0; i < 99; i++) require('child_process').spawn('node', ['-e', '0'])",
    "require('zlib').inflateSync(Buffer.alloc(N), { maxOutputLength: N })",
    "require('zlib').gzipSync(Buffer.alloc(N))",
    "require('crypto').pbkdf2Sync('a', 'b', N, 64, 'sha512')",
    "require('crypto').scryptSync('a', 'b', 64, { N: 16384, maxmem: N * 1024 })",
    "require('vm').runInNewContext('this.constructor.constructor(\"return process\")()')",
    "eval('1+'.repeat(N) + '1')",
    "structuredClone(new Array(N))",
    "new DataView(new ArrayBuffer(8)).setFloat64(N, 1)",
    "BigInt(N) ** BigInt(N)",
    "new Intl.NumberFormat('x').format(N)",
    "new SharedArrayBuffer(N); Atomics.wait(new Int32Array(4), 0, 0, N)",
    "Error.prepareStackTrace = () => { throw N; }; new Error().stack",
    "import(P).catch(() => {}); require(Q)",
];

/// Fragments of Python programs; `N`, `P` and `Q` as above.
const PYTHON: &[&str] = &[
    "x = bytearray(N % (1 << 28))",
    "x = 'a' * (N % (1 << 30))",
    "x = 10 ** (N % 10**6)",
    "x = [[]]\nfor _ in range(N % 10**6): x = [x]",
    "sys.setrecursionlimit(max(N % 10**7, 9))",
    "(lambda f: f(f))(lambda f: f(f))",
    "os.kill(N % 99, N % 64)",
    "os.kill(os.getpid(), N % 64)",
    "os.open(P, N % (1 << 31))",
    "os.pread(os.open(P, os.O_RDONLY), N % (1 << 26), N)",
    "os.pwrite(os.open(P, os.O_CREAT | os.O_RDWR), b'x', N)",
    "os.lseek(os.open(P, os.O_RDWR), N, N % 5)",
    "os.truncate(P, N)",
    "os.symlink(P, Q)",
    "os.link(P, Q)",
    "os.rename(P, Q)",
    "os.mkfifo(P)",
    "os.utime(P, ns=(N, N))",
    "os.pipe()",
    "[os.dup(1) for _ in range(N % 3000)]",
    "os.dup2(N % 99, N % 5000)",
    "subprocess.run(['sh', '-c', 'cat &'])",
    "[subprocess.Popen(['sleep', '9']) for _ in range(N % 99)]",
    "subprocess.run(['x' * (N % 10**6)] * (N % 999))",
    "os.execv('/bin/sh', ['sh', '-c', 'exit 3'])",
    "time.sleep(N % 99)",
    "select.select([os.open(P, os.O_RDONLY)], [], [], N % 9)",
    "os.chdir(P)",
    "zlib.decompress(zlib.compress(bytes(N % (1 << 27))))",
    "pickle.loads(pickle.dumps(list(range(N % 10**6))))",
    "re.match(r'(a|a)*$', 'a' * (N % 40) + 'b')",
    "sys.stdout.write('x' * (N % 10**7))",
    "signal.signal(N % 64, lambda *a: os.kill(os.getpid(), N % 64))",
    "open(P, 'ab').write(b'x' * (N % 10**7))",
    "os.posix_fallocate(os.open(P, os.O_CREAT | os.O_RDWR, 0o600), N, N)",
    "os.getrandom(N % (1 << 27))",
    "gc.collect()",
    "mmap.mmap(os.open(P, os.O_RDWR), N % (1 << 30))",
    "ast.literal_eval('(' * (N % 10**5))",
    "os.makedirs('/'.join([P] + ['d' * 200] * (N % 200)))",
    "int('9' * (N % 10**5))",
    "os.walk(P)",
    "open('/.box/meta', 'r+b', 0).write(os.urandom(N % 5000))",
    "json.loads('[' * (N % 10**6))",
    "raise KeyboardInterrupt",
    "os.abort()",
    "os._exit(N % 256)",
    "sum(1 for _ in os.scandir(P))",
    "threading.Thread(target=print).start()",
    "asyncio.run(asyncio.sleep(N % 9))",
    "os.umask(N % 0o1000)",
];

/// Returns a few fragments with their placeholders filled.
fn script(dice: &mut Dice, from: &[&str], between: &str) -> String {
    let lines = 1 + dice.below(6);
    let all: Vec<String> = (0..lines).map(|_| filled(dice, from, 0)).collect();
    all.join(between) + "\n"
}

/// Returns fragments of JavaScript. Each is in a block of its own, so that the next one runs even
/// if it throws.
fn javascript(dice: &mut Dice) -> String {
    let body = script(dice, JAVASCRIPT, "\n} catch {}\ntry {\n");
    format!("const fs = require('fs');\ntry {{\n{body}}} catch {{}}\n")
}

/// Returns a fragment with its placeholders filled. Nesting ends at depth three.
fn filled(dice: &mut Dice, from: &[&str], depth: u32) -> String {
    let mut text = (*dice.pick(from)).to_owned();
    while let Some(at) = text.find("{}") {
        let inner = if depth > 2 { "echo x".into() } else { filled(dice, from, depth + 1) };
        // Quotes of an inner fragment would end those of the outer one.
        text.replace_range(at..at + 2, &inner.replace(['\'', '"'], ""));
    }
    let mut out = String::new();
    let bytes = text.as_bytes();
    for (i, c) in text.char_indices() {
        let beside = |j: Option<&u8>| j.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let alone =
            !beside(i.checked_sub(1).and_then(|j| bytes.get(j))) && !beside(bytes.get(i + 1));
        match c {
            'N' if alone => out.push_str(dice.pick(NUMBERS)),
            'P' | 'Q' if alone => out.push_str(dice.pick(PATHS)),
            _ => out.push(c),
        }
    }
    out
}

/// Returns a Python program that runs each fragment once or in a loop and catches its exceptions.
fn python(dice: &mut Dice) -> String {
    let mut out = "import ast, asyncio, gc, json, mmap, os, pickle, re, select, signal\n\
                   import subprocess, sys, threading, time, zlib\n"
        .to_owned();
    for _ in 0..1 + dice.below(8) {
        let fragment = filled_python(dice);
        let rounds = dice.pick(&["1", "1", "10", "1000", "10**9"]);
        out.push_str(&format!("for _ in range({rounds}):\n    try:\n"));
        fragment.lines().for_each(|l| out.push_str(&format!("        {l}\n")));
        let caught = dice.pick(&["Exception", "Exception", "BaseException"]);
        out.push_str(&format!("    except {caught}: pass\n"));
    }
    out
}

fn filled_python(dice: &mut Dice) -> String {
    let text = filled(dice, PYTHON, 0);
    // Paths become literals.
    let mut out = text;
    let mut paths: Vec<&str> = PATHS.to_vec();
    paths.sort_by_key(|p| std::cmp::Reverse(p.len()));
    for before in ["(", "[", ", "] {
        for path in &paths {
            for after in [",", ")", "]"] {
                let bare = format!("{before}{path}{after}");
                out = out.replace(
                    &bare,
                    &format!("{before}{path:?}{after}").replace("\\u{1b}", "\\x1b"),
                );
            }
        }
    }
    out
}

/// Calls of the guest's system interface, with the types of their arguments (`i`: 32 bits, `l`: 64
/// bits).
const CALLS: &[(&str, &str, &str)] = &[
    ("wasi_snapshot_preview1", "args_get", "ii"),
    ("wasi_snapshot_preview1", "args_sizes_get", "ii"),
    ("wasi_snapshot_preview1", "environ_get", "ii"),
    ("wasi_snapshot_preview1", "clock_time_get", "ili"),
    ("wasi_snapshot_preview1", "random_get", "ii"),
    ("wasi_snapshot_preview1", "proc_raise", "i"),
    ("wasi_snapshot_preview1", "fd_advise", "illi"),
    ("wasi_snapshot_preview1", "fd_allocate", "ill"),
    ("wasi_snapshot_preview1", "fd_close", "i"),
    ("wasi_snapshot_preview1", "fd_fdstat_set_flags", "ii"),
    ("wasi_snapshot_preview1", "fd_filestat_set_size", "il"),
    ("wasi_snapshot_preview1", "fd_filestat_set_times", "illi"),
    ("wasi_snapshot_preview1", "fd_pread", "iiili"),
    ("wasi_snapshot_preview1", "fd_pwrite", "iiili"),
    ("wasi_snapshot_preview1", "fd_read", "iiii"),
    ("wasi_snapshot_preview1", "fd_write", "iiii"),
    ("wasi_snapshot_preview1", "fd_readdir", "iiili"),
    ("wasi_snapshot_preview1", "fd_renumber", "ii"),
    ("wasi_snapshot_preview1", "fd_seek", "ilii"),
    ("wasi_snapshot_preview1", "path_create_directory", "iii"),
    ("wasi_snapshot_preview1", "path_filestat_get", "iiiii"),
    ("wasi_snapshot_preview1", "path_link", "iiiiiii"),
    ("wasi_snapshot_preview1", "path_open", "iiiiillii"),
    ("wasi_snapshot_preview1", "path_readlink", "iiiiii"),
    ("wasi_snapshot_preview1", "path_rename", "iiiiii"),
    ("wasi_snapshot_preview1", "path_symlink", "iiiii"),
    ("wasi_snapshot_preview1", "path_unlink_file", "iii"),
    ("wasi_snapshot_preview1", "poll_oneoff", "iiii"),
    ("wasi_snapshot_preview1", "sock_recv", "iiiiii"),
    ("wasix_32v1", "callback_signal", "ii"),
    ("wasix_32v1", "chdir", "ii"),
    ("wasix_32v1", "getcwd", "ii"),
    ("wasix_32v1", "fd_dup", "ii"),
    ("wasix_32v1", "fd_dup2", "iiiii"),
    ("wasix_32v1", "fd_pipe", "ii"),
    ("wasix_32v1", "proc_exec3", "iiiiiiiii"),
    ("wasix_32v1", "proc_join", "iii"),
    ("wasix_32v1", "proc_raise_interval", "ili"),
    ("wasix_32v1", "proc_signal", "ii"),
    ("wasix_32v1", "proc_spawn3", "iiiiiiiiiiiiii"),
    ("wasix_32v1", "thread_sleep", "l"),
    ("wasix_32v1", "sock_open", "iiii"),
    ("wasix_32v1", "sock_pair", "iiiii"),
    ("wasix_32v1", "sock_bind", "ii"),
    ("wasix_32v1", "sock_listen", "ii"),
    ("wasix_32v1", "sock_connect", "ii"),
    ("wasix_32v1", "sock_addr_local", "ii"),
    ("wasix_32v1", "sock_addr_peer", "ii"),
    ("wasix_32v1", "sock_recv_from", "iiiiiii"),
    ("wasix_32v1", "sock_send_to", "iiiiii"),
    ("wasix_32v1", "sock_set_opt_flag", "iii"),
    ("wasix_32v1", "sock_set_opt_size", "iil"),
    ("wasix_32v1", "sock_set_opt_time", "iii"),
    ("wasix_32v1", "sock_get_opt_size", "iii"),
    ("wasix_32v1", "resolve", "iiiiii"),
];

/// The numbers that calls get: small ones (descriptors and lengths), addresses of names and lists
/// in memory, and numbers near which integers overflow.
const WORDS: &[u64] = &[
    0,
    1,
    2,
    3,
    4,
    5,
    8,
    16,
    29,
    64,
    100,
    1024,
    4096,
    65535,
    65536,
    131071,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fff8,
    0xffff_ffff,
];

/// Returns a module that makes a few calls, once or in a loop.
fn module(dice: &mut Dice) -> String {
    let calls: Vec<_> = (0..1 + dice.below(12)).map(|_| *dice.pick(CALLS)).collect();
    let mut out = "(module\n".to_owned();
    for (i, (module, name, arguments)) in calls.iter().enumerate() {
        let types: Vec<&str> =
            arguments.chars().map(|c| if c == 'l' { "i64" } else { "i32" }).collect();
        out.push_str(&format!(
            "(import \"{module}\" \"{name}\" (func $f{i} (param {}) (result i32)))\n",
            types.join(" ")
        ));
    }
    out.push_str("(memory (export \"memory\") 2)\n");
    out.push_str("(data (i32.const 0) \"\\00\\01\\00\\00\\40\\00\\00\\00\\00\\01\\00\\00\\00\\00\\00\\40\")\n");
    out.push_str("(data (i32.const 64) \"/tmp/a\\00/bin/hostile\\00../../etc/passwd\\00.box/meta\\00__wasm_signal\")\n");
    out.push_str("(func (export \"__wasm_signal\") (param i32) nop)\n");
    out.push_str("(func (export \"_start\")\n");
    let forever = dice.below(2) == 0;
    out.push_str(if forever { "(loop $again\n" } else { "" });
    for _ in 0..1 + dice.below(24) {
        let i = dice.below(calls.len() as u64) as usize;
        let arguments: Vec<String> = (calls[i].2.chars())
            .map(|c| match c {
                'l' => format!(
                    "(i64.const {})",
                    dice.pick(WORDS).wrapping_mul(*dice.pick(WORDS)) as i64
                ),
                _ if dice.below(4) == 0 => format!("(i32.const {})", 64 + dice.below(64)),
                _ => format!("(i32.const {})", *dice.pick(WORDS) as u32),
            })
            .collect();
        out.push_str(&format!("(drop (call $f{i} {}))\n", arguments.join(" ")));
        if dice.below(8) == 0 {
            out.push_str("(drop (memory.grow (i32.const 1)))\n");
        }
    }
    out.push_str(if forever { "(br $again))\n" } else { "" });
    out.push_str("))\n");
    out
}
