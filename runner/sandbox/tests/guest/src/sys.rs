//! The imports, as `tools/sys` declares them.

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct FdOp {
    cmd: u8,
    fd: u32,
    src: u32,
    name: u32,
    name_len: u32,
    dirflags: u32,
    oflags: u16,
    rights: u64,
    inheriting: u64,
    fdflags: u16,
    ext: u16,
}

#[repr(C)]
pub struct OptionPid {
    tag: u8,
    pid: u32,
}

#[repr(C, align(4))]
#[derive(Default)]
pub struct Join {
    pub tag: u8,
    _pad: u8,
    pub code: u16,
    pub signal: u8,
    _rest: [u8; 3],
}

#[link(wasm_import_module = "wasix_32v1")]
unsafe extern "C" {
    fn fd_pipe(r: *mut u32, w: *mut u32) -> i32;
    fn fd_dup(fd: u32, out: *mut u32) -> i32;
    #[allow(clippy::too_many_arguments)]
    fn proc_spawn3(
        name: u32, name_len: u32, args: u32, args_len: u32, envs: u32, envs_len: u32, ops: u32,
        ops_len: u32, sigs: u32, sigs_len: u32, search: u32, path: u32, path_len: u32, pid: u32,
    ) -> i32;
    fn proc_exec3(
        name: u32, name_len: u32, args: u32, args_len: u32, envs: u32, envs_len: u32, search: u32,
        path: u32, path_len: u32,
    ) -> i32;
    fn proc_join(pid: u32, flags: u32, status: u32) -> i32;
    fn proc_signal(pid: u32, sig: u32) -> i32;
    fn proc_id(out: u32) -> i32;
    fn getcwd(buf: u32, len: u32) -> i32;
    fn tty_get(out: u32) -> i32;
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn fd_close(fd: u32) -> i32;
    fn fd_read(fd: u32, iovs: u32, n: u32, out: u32) -> i32;
    fn fd_write(fd: u32, iovs: u32, n: u32, out: u32) -> i32;
    fn fd_readdir(fd: u32, buf: u32, len: u32, cookie: u64, out: u32) -> i32;
    fn fd_seek(fd: u32, delta: i64, whence: u32, out: u32) -> i32;
    fn fd_renumber(from: u32, to: u32) -> i32;
    fn path_open(
        fd: u32, lookup: u32, path: u32, len: u32, oflags: u32, base: u64, inh: u64, flags: u32,
        out: u32,
    ) -> i32;
    fn poll_oneoff(subs: u32, out: u32, n: u32, count: u32) -> i32;
    fn random_get(buf: u32, len: u32) -> i32;
    fn args_get(argv: u32, buf: u32) -> i32;
}

fn addr<T>(p: *const T) -> u32 {
    p as usize as u32
}

pub fn pipe() -> (u32, u32) {
    let (mut r, mut w) = (0, 0);
    assert_eq!(unsafe { fd_pipe(&mut r, &mut w) }, 0);
    (r, w)
}

pub fn close(fd: u32) {
    assert_eq!(unsafe { fd_close(fd) }, 0);
}

pub fn dup(fd: u32) -> Result<u32, i32> {
    let mut out = 0;
    match unsafe { fd_dup(fd, &mut out) } {
        0 => Ok(out),
        e => Err(e),
    }
}

pub fn spawn(name: &str, args: &[&str], stdio: &[(u32, u32)], close: &[u32]) -> Result<u32, i32> {
    let args: Vec<Vec<u8>> = args.iter().map(|a| [a.as_bytes(), b"\0"].concat()).collect();
    let ptrs: Vec<u32> = args.iter().map(|a| addr(a.as_ptr())).collect();
    let dup2 = |&(fd, src): &(u32, u32)| FdOp { cmd: 1, fd, src, ..FdOp::default() };
    let mut ops: Vec<FdOp> = stdio.iter().map(dup2).collect();
    ops.extend(close.iter().map(|fd| FdOp { cmd: 0, fd: *fd, ..FdOp::default() }));
    let mut pid = 0u32;
    let (n, ops_len) = (ptrs.len() as u32, ops.len() as u32);
    let e = unsafe {
        proc_spawn3(
            addr(name.as_ptr()), name.len() as u32, addr(ptrs.as_ptr()), n, 0, 0,
            addr(ops.as_ptr()), ops_len, 0, 0, 0, 0, 0, addr(&raw mut pid),
        )
    };
    if e == 0 { Ok(std::hint::black_box(pid)) } else { Err(e) }
}

pub fn join(pid: u32) -> (i32, Join) {
    let mut p = OptionPid { tag: 1, pid };
    let mut j = Join::default();
    let e = unsafe { proc_join(addr(&raw mut p), 0, addr(&raw mut j)) };
    std::hint::black_box(&mut j);
    (e, j)
}

pub fn kill(pid: u32, sig: u32) -> i32 {
    unsafe { proc_signal(pid, sig) }
}

pub fn exec(name: &str, args: &[&str]) -> i32 {
    let args = args.join("\n");
    unsafe {
        proc_exec3(
            addr(name.as_ptr()), name.len() as u32, addr(args.as_ptr()), args.len() as u32, 0, 0,
            0, 0, 0,
        )
    }
}

pub fn getcwd_string() -> String {
    let mut b = vec![0u8; 4096];
    let mut n = 4096u32;
    assert_eq!(unsafe { getcwd(addr(b.as_mut_ptr()), addr(&raw mut n)) }, 0);
    b.truncate(std::hint::black_box(n) as usize);
    String::from_utf8(b).unwrap()
}

fn poll(subs: &[[u64; 6]]) -> String {
    let mut events = vec![[0u64; 4]; subs.len()];
    let mut n = 0u32;
    let e = unsafe {
        poll_oneoff(
            addr(subs.as_ptr()), addr(events.as_mut_ptr()), subs.len() as u32, addr(&raw mut n),
        )
    };
    let n = std::hint::black_box(n);
    std::hint::black_box(&mut events);
    format!("{e} {:?}", events[..n as usize].iter().map(|e| e[0]).collect::<Vec<_>>())
}

fn clock(id: u64, ns: u64, abs: bool) -> [u64; 6] {
    [100, 0, id, ns, 0, u64::from(abs)]
}

pub fn poll_clock(id: u64, ns: u64, abs: bool) -> String {
    poll(&[clock(id, ns, abs)])
}

/// Waits for a descriptor (event 200) or the time (event 100).
pub fn poll_read(fd: u32, ns: u64) -> String {
    poll(&[[200, 1, u64::from(fd), 0, 0, 0], clock(1, ns, false), clock(1, ns * 9, false)])
}

/// Calls with a pointer that leads nowhere.
///
/// # Safety
/// The host must check it.
pub unsafe fn hostile(p: u32) -> Vec<i32> {
    unsafe {
        vec![
            fd_read(0, p, 1, p),
            fd_read(0, p, u32::MAX, p),
            fd_write(1, p, 1, p),
            fd_write(1, p, 1024, p),
            fd_readdir(3, p, u32::MAX, 0, p),
            fd_readdir(3, p, 100, u64::MAX, p),
            fd_seek(3, i64::MIN, 0, p),
            fd_renumber(1, u32::MAX),
            path_open(3, 0, p, u32::MAX, 0, 0, 0, 0, p),
            path_open(3, 0, p, 100, 0, 0, 0, 0, p),
            path_open(u32::MAX, 0, 0, 0, 0, 0, 0, 0, p),
            poll_oneoff(p, p, 1, p),
            poll_oneoff(p, p, u32::MAX, p),
            random_get(p, u32::MAX),
            args_get(p, p),
            getcwd(p, p),
            tty_get(p),
            proc_id(p),
            proc_join(p, 0, p),
            proc_signal(p, p),
            proc_exec3(p, 10, p, 10, p, 10, 0, p, 10),
            proc_spawn3(p, 10, p, 10, p, 10, p, 10, p, 10, 1, p, 10, p),
            proc_spawn3(0, 1, 0, u32::MAX, 0, 0, p, u32::MAX, 0, 0, 0, 0, 0, p),
        ]
    }
}
