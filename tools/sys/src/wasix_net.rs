//! Sockets by WASIX's calls, with its layouts (`wasi/api_wasix.h` of wasix-libc).

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd};
use std::time::Duration;

use super::cvt;
use super::events::poll_files;
use crate::net::{NetSocketKind, Wait};

#[link(wasm_import_module = "wasix_32v1")]
unsafe extern "C" {
    fn sock_open(family: u32, kind: u32, protocol: u32, out: *mut u32) -> i32;
    fn sock_bind(fd: u32, address: *const WasiAddress) -> i32;
    fn sock_listen(fd: u32, backlog: u32) -> i32;
    fn sock_accept_v2(fd: u32, flags: u32, out: *mut u32, from: *mut WasiAddress) -> i32;
    fn sock_connect(fd: u32, address: *const WasiAddress) -> i32;
    fn sock_addr_local(fd: u32, out: *mut WasiAddress) -> i32;
    fn sock_recv_from(
        fd: u32,
        list: *const [u32; 2],
        count: u32,
        flags: u32,
        got: *mut u32,
        about: *mut u16,
        from: *mut WasiAddress,
    ) -> i32;
    fn sock_set_opt_time(fd: u32, option: u32, time: *const [u64; 2]) -> i32;
    fn sock_set_opt_flag(fd: u32, option: u32, on: u32) -> i32;
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn sock_shutdown(fd: u32, how: u32) -> i32;
}

const REUSE_ADDRESS: u32 = 2;
const CONNECT_TIMEOUT: u32 = 21;
const PEEK: u32 = 1;
const SHUT_WRITE: u32 = 2;
const IN_PROGRESS: i32 = 26;
const TIMED_OUT: i32 = 73;
const BACKLOG: u32 = 128;

/// `__wasi_addr_port_t`: the port in the machine's byte order, the address in the network's.
#[repr(C, align(2))]
#[derive(Clone, Copy)]
struct WasiAddress([u8; 110]);

impl WasiAddress {
    fn new(at: SocketAddr) -> WasiAddress {
        let mut b = [0; 110];
        b[2..4].copy_from_slice(&at.port().to_le_bytes());
        match at.ip() {
            IpAddr::V4(ip) => {
                b[0] = 1;
                b[4..8].copy_from_slice(&ip.octets());
            }
            IpAddr::V6(ip) => {
                b[0] = 2;
                b[4..20].copy_from_slice(&ip.octets());
            }
        }
        WasiAddress(b)
    }

    fn family(&self) -> u32 {
        self.0[0].into()
    }

    fn get(&self) -> io::Result<SocketAddr> {
        let b = &self.0;
        let part: [u8; 16] = b[4..20].try_into().unwrap_or_default();
        let ip: IpAddr = match b[0] {
            1 => Ipv4Addr::new(b[4], b[5], b[6], b[7]).into(),
            2 => Ipv6Addr::from(part).to_canonical(),
            _ => return Err(io::ErrorKind::Unsupported.into()),
        };
        Ok(SocketAddr::new(ip, u16::from_le_bytes([b[2], b[3]])))
    }
}

const NOWHERE: WasiAddress = WasiAddress([0; 110]);

fn open(family: u32, kind: NetSocketKind) -> io::Result<File> {
    let kind = match kind {
        NetSocketKind::Stream => 1,
        NetSocketKind::Datagram => 2,
    };
    let mut fd = 0;
    // JUSTIFICATION: no library wraps this host call.
    // SAFETY: `fd` is live for the call, which stores a new descriptor in it that has no other
    // owner.
    unsafe {
        cvt(sock_open(family, kind, 0, &mut fd))?;
        Ok(File::from_raw_fd(fd as i32))
    }
}

fn number(socket: &File) -> u32 {
    socket.as_raw_fd() as u32
}

pub(crate) fn connect(
    to: SocketAddr,
    kind: NetSocketKind,
    patience: Option<Duration>,
) -> io::Result<File> {
    let to = WasiAddress::new(to);
    let socket = open(to.family(), kind)?;
    let ns = patience.map_or(0, |t| u64::try_from(t.as_nanos()).unwrap_or(u64::MAX));
    let time = [u64::from(patience.is_some()), ns];
    // JUSTIFICATION: no library wraps these host calls.
    // SAFETY: both structures are live for the calls and have WASIX's layout.
    unsafe {
        cvt(sock_set_opt_time(number(&socket), CONNECT_TIMEOUT, &time))?;
        match sock_connect(number(&socket), &to) {
            IN_PROGRESS => Err(io::Error::from_raw_os_error(TIMED_OUT)),
            done => cvt(done).map(|()| socket),
        }
    }
}

pub(crate) fn listen(at: SocketAddr, kind: NetSocketKind) -> io::Result<File> {
    let at = WasiAddress::new(at);
    let socket = open(at.family(), kind)?;
    // JUSTIFICATION: no library wraps these host calls.
    // SAFETY: the address is live for the call and has WASIX's layout; the rest is numbers.
    unsafe {
        cvt(sock_set_opt_flag(number(&socket), REUSE_ADDRESS, 1))?;
        cvt(sock_bind(number(&socket), &at))?;
        if kind == NetSocketKind::Stream {
            cvt(sock_listen(number(&socket), BACKLOG))?;
        }
    }
    Ok(socket)
}

pub(crate) fn accept(listener: &File) -> io::Result<(File, SocketAddr)> {
    let (mut fd, mut from) = (0, NOWHERE);
    // JUSTIFICATION: no library wraps this host call.
    // SAFETY: both pointers are live for the call, which stores a new descriptor in `fd` that has
    // no other owner.
    let socket = unsafe {
        cvt(sock_accept_v2(number(listener), 0, &mut fd, &mut from))?;
        File::from_raw_fd(fd as i32)
    };
    Ok((socket, from.get()?))
}

pub(crate) fn local_address(socket: &File) -> io::Result<SocketAddr> {
    let mut own = NOWHERE;
    // JUSTIFICATION: no library wraps this host call.
    // SAFETY: `own` is live for the call and has WASIX's layout.
    cvt(unsafe { sock_addr_local(number(socket), &mut own) })?;
    own.get()
}

pub(crate) fn meet(socket: &File) -> io::Result<SocketAddr> {
    let (mut byte, mut got, mut about, mut from) = ([0u8; 1], 0, 0, NOWHERE);
    let list = [byte.as_mut_ptr() as usize as u32, 1];
    // JUSTIFICATION: no library wraps these host calls.
    // SAFETY: all are live for the calls; the list names one byte of ours.
    unsafe {
        cvt(sock_recv_from(number(socket), &list, 1, PEEK, &mut got, &mut about, &mut from))?;
        cvt(sock_connect(number(socket), &from))?;
    }
    from.get()
}

pub(crate) fn finish(socket: &File) -> io::Result<()> {
    // JUSTIFICATION: no library wraps this host call.
    // SAFETY: numbers only.
    cvt(unsafe { sock_shutdown(number(socket), SHUT_WRITE) })
}

pub(crate) fn wait(files: &[(&File, Wait)], time: Duration) -> io::Result<Vec<bool>> {
    poll_files(files, time)
}
