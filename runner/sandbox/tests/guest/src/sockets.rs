//! The imports for sockets, and commands that use them.

use crate::sys::{close, dup, join, kill, pipe, spawn};
use std::hint::black_box;

#[link(wasm_import_module = "wasix_32v1")]
unsafe extern "C" {
    fn sock_open(family: u32, kind: u32, protocol: u32, out: *mut u32) -> i32;
    fn sock_pair(family: u32, kind: u32, protocol: u32, one: *mut u32, other: *mut u32) -> i32;
    fn sock_bind(fd: u32, address: *const Address) -> i32;
    fn sock_listen(fd: u32, backlog: u32) -> i32;
    fn sock_accept_v2(fd: u32, flags: u32, out: *mut u32, from: *mut Address) -> i32;
    fn sock_connect(fd: u32, address: *const Address) -> i32;
    fn sock_addr_local(fd: u32, out: *mut Address) -> i32;
    fn sock_addr_peer(fd: u32, out: *mut Address) -> i32;
    fn sock_send_to(
        fd: u32, iovs: *const [u32; 2], n: u32, flags: u32, to: *const Address, out: *mut u32,
    ) -> i32;
    fn sock_recv_from(
        fd: u32, iovs: *const [u32; 2], n: u32, flags: u32, out: *mut u32, flags: *mut u16,
        from: *mut Address,
    ) -> i32;
    fn sock_set_opt_time(fd: u32, option: u32, time: *const [u64; 2]) -> i32;
    fn sock_get_opt_size(fd: u32, option: u32, out: *mut u64) -> i32;
    fn resolve(name: *const u8, len: u32, port: u32, list: *mut [u8; 18], most: u32, out: *mut u32)
    -> i32;
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn fd_read(fd: u32, iovs: *const [u32; 2], n: u32, out: *mut u32) -> i32;
    fn fd_write(fd: u32, iovs: *const [u32; 2], n: u32, out: *mut u32) -> i32;
    fn fd_fdstat_get(fd: u32, out: *mut [u8; 24]) -> i32;
    fn fd_fdstat_set_flags(fd: u32, flags: u32) -> i32;
    fn sock_shutdown(fd: u32, how: u32) -> i32;
    fn sock_recv(
        fd: u32, iovs: *const [u32; 2], n: u32, flags: u32, out: *mut u32, flags: *mut u16,
    ) -> i32;
}

const V4: u32 = 1;
const STREAM: u32 = 1;
const DATAGRAM: u32 = 2;
const AGAIN: i32 = 6;
const CONNREFUSED: i32 = 14;

/// `__wasi_addr_port_t`
#[repr(C, align(2))]
#[derive(Clone, Copy)]
struct Address([u8; 110]);

impl Address {
    fn local(port: u16) -> Address {
        let mut b = [0; 110];
        b[0] = 1;
        b[2..4].copy_from_slice(&port.to_le_bytes());
        b[4..8].copy_from_slice(&[127, 0, 0, 1]);
        Address(b)
    }

    fn port(&self) -> u16 {
        u16::from_le_bytes([self.0[2], self.0[3]])
    }

    fn text(&self) -> String {
        format!("{} {:?}", self.0[0], &self.0[4..8])
    }
}

type Result<T> = std::result::Result<T, i32>;

fn checked<T>(errno: i32, value: T) -> Result<T> {
    if errno == 0 { Ok(black_box(value)) } else { Err(errno) }
}

fn open(kind: u32) -> Result<u32> {
    let mut fd = 0;
    checked(unsafe { sock_open(V4, kind, 0, &mut fd) }, ()).map(|()| black_box(fd))
}

fn accept(fd: u32) -> Result<(u32, Address)> {
    let (mut new, mut from) = (0, Address::local(0));
    let e = unsafe { sock_accept_v2(fd, 0, &mut new, &mut from) };
    checked(e, (new, from))
}

fn connect(fd: u32, port: u16) -> Result<()> {
    checked(unsafe { sock_connect(fd, &Address::local(port)) }, ())
}

fn name(fd: u32, peer: bool) -> Result<Address> {
    let mut a = Address::local(0);
    let e = unsafe { if peer { sock_addr_peer(fd, &mut a) } else { sock_addr_local(fd, &mut a) } };
    checked(e, a)
}

fn listen(port: u16, backlog: u32) -> u32 {
    let fd = open(STREAM).unwrap();
    checked(unsafe { sock_bind(fd, &Address::local(port)) }, ()).unwrap();
    checked(unsafe { sock_listen(fd, backlog) }, ()).unwrap();
    fd
}

fn read(fd: u32, buf: &mut [u8]) -> Result<usize> {
    let mut n = 0;
    let list = [buf.as_mut_ptr() as u32, buf.len() as u32];
    let e = unsafe { fd_read(fd, &list, 1, &mut n) };
    black_box(buf);
    checked(e, n as usize)
}

fn write(fd: u32, data: &[u8]) -> Result<usize> {
    let mut n = 0;
    let list = [black_box(data).as_ptr() as u32, data.len() as u32];
    checked(unsafe { fd_write(fd, &list, 1, &mut n) }, n as usize)
        .map(|_| black_box(n) as usize)
}

fn nonblocking(fd: u32) {
    checked(unsafe { fd_fdstat_set_flags(fd, 4) }, ()).unwrap();
}

/// Exercises the calls on sockets in turn, in one process.
pub fn sockets() {
    let listener = listen(0, 4);
    let at = name(listener, false).unwrap();
    println!("at {}", at.text());
    let c = open(STREAM).unwrap();
    println!("peer {:?}", name(c, true).err());
    connect(c, at.port()).unwrap();
    let (a, from) = accept(listener).unwrap();
    println!("same {}", from.port() == name(c, false).unwrap().port());
    let mut stat = [0u8; 24];
    checked(unsafe { fd_fdstat_get(a, &mut stat) }, ()).unwrap();
    println!("type {}", black_box(stat)[0]);
    write(c, b"hello").unwrap();
    let mut buf = [0; 16];
    let (mut n, mut flags) = (0, 0);
    let list = [buf.as_mut_ptr() as u32, 3];
    checked(unsafe { sock_recv(a, &list, 1, 1, &mut n, &mut flags) }, ()).unwrap();
    println!("peek {n} {:?}", String::from_utf8_lossy(&black_box(buf)[..3]));
    let copy = dup(a).unwrap();
    close(a);
    let n = read(copy, &mut buf).unwrap();
    println!("read {:?}", String::from_utf8_lossy(&buf[..n]));
    nonblocking(copy);
    println!("empty {:?}", read(copy, &mut buf).err());
    println!("nobody {:?}", accept_now(listener).err());
    checked(unsafe { sock_shutdown(c, 2) }, ()).unwrap();
    println!("end {:?} then {:?}", read(copy, &mut buf), write(c, b"x").err());
    close(copy);
    let (mut one, mut other) = (0, 0);
    checked(unsafe { sock_pair(3, STREAM, 0, &mut one, &mut other) }, ()).unwrap();
    write(one, b"pair").unwrap();
    println!("pair {:?}", read(other, &mut buf));
    let time = [1u64, 30_000_000];
    checked(unsafe { sock_set_opt_time(other, 19, &time) }, ()).unwrap();
    println!("late {:?}", read(other, &mut buf).err());
    datagrams(&mut buf);
    let refused = open(STREAM).unwrap();
    println!("refused {:?}", connect(refused, 1).err());
    nonblocking(refused);
    println!("started {:?}", connect(refused, 1).err());
    let mut error = 0;
    checked(unsafe { sock_get_opt_size(refused, 11, &mut error) }, ()).unwrap();
    println!("error {}", black_box(error) == CONNREFUSED as u64);
    let mut list = [[0u8; 18]; 4];
    let mut found = 0;
    let host = b"localhost";
    let e = unsafe { resolve(host.as_ptr(), 9, 0, list.as_mut_ptr(), 4, &mut found) };
    println!("localhost {e} {found} {:?}", &black_box(list)[0][..6]);
    let e = unsafe { resolve(b"example.org".as_ptr(), 11, 0, list.as_mut_ptr(), 4, &mut found) };
    println!("example {e}");
}

fn accept_now(listener: u32) -> Result<(u32, Address)> {
    nonblocking(listener);
    accept(listener)
}

fn datagrams(buf: &mut [u8; 16]) {
    let (a, b) = (open(DATAGRAM).unwrap(), open(DATAGRAM).unwrap());
    checked(unsafe { sock_bind(a, &Address::local(0)) }, ()).unwrap();
    let to = name(a, false).unwrap();
    let mut n = 0;
    for text in ["one", "two"] {
        let list = [text.as_ptr() as u32, 3];
        checked(unsafe { sock_send_to(b, &list, 1, 0, &to, &mut n) }, ()).unwrap();
    }
    let (mut flags, mut from) = (0, to);
    // Two buffers, one datagram.
    let at = buf.as_mut_ptr() as u32;
    let lists = [[at, 2], [at + 8, 8]];
    checked(
        unsafe { sock_recv_from(a, lists.as_ptr(), 2, 0, &mut n, &mut flags, &mut from) },
        (),
    )
    .unwrap();
    let from_b = black_box(from).port() == name(b, false).unwrap().port();
    let buf = black_box(*buf);
    let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
    println!("datagram {n} {} {} {from_b}", text(&buf[..2]), text(&buf[8..9]));
}

/// Serves one client after another and sends their bytes back, until a client sends nothing.
pub fn serve(port: u16) {
    let listener = listen(port, 16);
    println!("serving");
    let mut buf = vec![0; 1 << 16];
    loop {
        let (a, _) = accept(listener).unwrap();
        let mut got = 0;
        loop {
            match read(a, &mut buf) {
                Ok(0) => break,
                Ok(n) => {
                    got += n;
                    let mut rest = &buf[..n];
                    while !rest.is_empty() {
                        rest = &rest[write(a, rest).unwrap()..];
                    }
                }
                Err(e) => panic!("errno {e}"),
            }
        }
        close(a);
        if got == 0 {
            return;
        }
    }
}

/// Connects to a port, and retries until something listens there.
fn reach(port: u16) -> u32 {
    loop {
        let c = open(STREAM).unwrap();
        match connect(c, port) {
            Ok(()) => return c,
            Err(CONNREFUSED) => close(c),
            Err(e) => panic!("errno {e}"),
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Starts a server in a separate process and counts its right answers.
pub fn echo_server(rounds: usize) {
    let server = spawn("/bin/serve", &["serve", "700"], &[], &[]).unwrap();
    let mut right = 0;
    for round in 0..rounds {
        let c = reach(700);
        let text = format!("round {round}");
        write(c, text.as_bytes()).unwrap();
        checked(unsafe { sock_shutdown(c, 2) }, ()).unwrap();
        let (mut all, mut buf) = (Vec::new(), [0; 64]);
        while let Ok(n @ 1..) = read(c, &mut buf) {
            all.extend_from_slice(&buf[..n]);
        }
        right += usize::from(all == text.as_bytes());
        close(c);
    }
    close(reach(700));
    let (e, j) = join(server);
    println!("{right} right, server {e} {} {}", j.code, j.signal);
}

/// Kills a process that waits in a call of that kind.
pub fn kill_waiting(what: &str) {
    let (r, w) = pipe();
    let pid = spawn("/bin/wait-in", &["wait-in", what], &[(1, w)], &[r, w]).unwrap();
    close(w);
    // The process prints a line when it is about to wait.
    read(r, &mut [0; 8]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    println!("kill {}", kill(pid, 15));
    println!("signal {}", join(pid).1.signal);
}

pub fn wait_in(what: &str) {
    let listener = listen(0, 0);
    let port = name(listener, false).unwrap().port();
    let c = open(STREAM).unwrap();
    let report = || println!("now");
    let result = match what {
        "accept" => {
            report();
            accept(listener).map(drop)
        }
        "recv" => {
            connect(c, port).unwrap();
            report();
            read(c, &mut [0; 4]).map(drop)
        }
        "send" => {
            connect(c, port).unwrap();
            report();
            let data = vec![0; 1 << 22];
            write(c, &data).map(drop)
        }
        "connect" => {
            connect(c, port).unwrap();
            report();
            connect(open(STREAM).unwrap(), port)
        }
        _ => Ok(()),
    };
    println!("went on: {result:?}");
}

/// Opens as many sockets as it can.
pub fn many() {
    let (mut n, mut errno) = (0, 0);
    while errno == 0 {
        match open(STREAM) {
            Ok(_) => n += 1,
            Err(e) => errno = e,
        }
    }
    println!("{n} then errno {errno}");
    // A connection that cannot be accepted for lack of descriptors stays in the queue.
    let (mut fds, mut refused) = (0, 0);
    for fd in 10..13 {
        close(fd);
        fds += 1;
    }
    let listener = listen(0, 8);
    let port = name(listener, false).unwrap().port();
    let c = open(STREAM).unwrap();
    connect(c, port).unwrap();
    open(STREAM).unwrap();
    refused += i32::from(accept_now(listener).is_err_and(|e| e != AGAIN));
    close(20);
    println!("{fds} {refused} {:?}", accept_now(listener).map(drop));
}

/// Measures the bytes per second through a connection, and the time of connections one after
/// another.
pub fn bench(megabytes: usize, connections: usize) {
    let sink = spawn("/bin/sink", &["sink"], &[], &[]).unwrap();
    let c = reach(701);
    let data = vec![1; 1 << 18];
    let t = std::time::Instant::now();
    for _ in 0..megabytes * 4 {
        let mut rest = &data[..];
        while !rest.is_empty() {
            rest = &rest[write(c, rest).unwrap()..];
        }
    }
    checked(unsafe { sock_shutdown(c, 2) }, ()).unwrap();
    let mut buf = [0; 8];
    read(c, &mut buf).unwrap();
    let took = t.elapsed();
    println!("{megabytes} MB in {took:?}: {:.0} MB/s", megabytes as f64 * 1.048576 / took.as_secs_f64());
    close(c);
    let t = std::time::Instant::now();
    for _ in 0..connections {
        let c = reach(701);
        write(c, b"x").unwrap();
        checked(unsafe { sock_shutdown(c, 2) }, ()).unwrap();
        while let Ok(1..) = read(c, &mut buf) {}
        close(c);
    }
    println!("{connections} connections in {:?}, {:?} each", t.elapsed(), t.elapsed() / connections.max(1) as u32);
    println!("kill {} {}", kill(sink, 9), join(sink).0);
}

/// Reads each connection to its end, and answers with the number of bytes.
pub fn sink() {
    let listener = listen(701, 16);
    let mut buf = vec![0; 1 << 18];
    loop {
        let (a, _) = accept(listener).unwrap();
        let mut all = 0u64;
        while let Ok(n @ 1..) = read(a, &mut buf) {
            all += n as u64;
        }
        let _ = write(a, &all.to_le_bytes());
        close(a);
    }
}
