//! Sockets: WASIX, and the four calls of preview 1.
//!
//! All sockets belong to the session's own network (`wasibox_vfs::net`). Layouts are WASIX's
//! (`wasi/api_wasix.h` of wasix-libc): an address has 110 bytes: the family at 0; from 2 on the
//! port in the machine's byte order and the address in the network's, or a path. Times are options
//! of 64 bits. One extension: `sock_get_opt_size` of `LAST_ERROR` returns `SO_ERROR`, which WASIX
//! leaves to libc.

use super::border::{
    CloseOnExec, Domain, Fd, FdFlags, GuestList, GuestStr, ReceiveResult, SocketTransfer,
};
use super::call_fd::{install_file, open_file, put_count, read_iovs};
use super::descriptors::OpenDescription;
use super::guest::{GuestCall, Halt, MAX_MOVED, Sys};
use super::host::Host;
use super::memory::CallMemory;
use crate::lock_mutex;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wasibox_vfs::net::{
    self, Family, ReceiveOptions, Socket, SocketAddress, SocketFlag, SocketKind, SocketSize,
    SocketStatus, SocketTime,
};
use wasibox_vfs::{Errno, VfsFile};

/// Bytes of `__wasi_addr_port_t`.
const ADDRESS: usize = 110;
/// Bytes of `__wasi_addr_ip_t`.
const IP: u32 = 18;
const STREAM: u32 = 1;
const DATAGRAM: u32 = 2;
const TCP: u32 = 6;
const UDP: u32 = 17;
const PEEK: u32 = 1;
const WAIT_ALL: u32 = 2;
/// The flag to report a datagram's whole length, even if fewer bytes were requested.
const TRUNCATED: u32 = 4;
const DONT_WAIT: u32 = 8;
const SEND_DONT_WAIT: u32 = 1;
const SHUT_READ: u32 = 1;
const SHUT_WRITE: u32 = 2;
/// Options whose values are numbers.
const LAST_ERROR: u32 = 11;
const LISTENING: u32 = 10;
const TYPE: u32 = 25;
const PROTOCOL: u32 = 26;
/// Longest host name that is looked up (RFC 1035, and a dot).
const MAX_NAME: u32 = 256;

/// An open socket of the process.
struct OpenSocket(Arc<OpenDescription>);

impl OpenSocket {
    fn socket_of<H: Host>(c: &GuestCall<'_, H>, fd: Fd) -> Result<OpenSocket, Errno> {
        let open = open_file(c, fd)?;
        if matches!(open.file, VfsFile::Socket(_)) {
            Ok(OpenSocket(open))
        } else {
            Err(Errno::NOTSOCK)
        }
    }

    fn socket(&self) -> Result<&Socket, Errno> {
        match &self.0.file {
            VfsFile::Socket(socket) => Ok(socket),
            _ => Err(Errno::NOTSOCK),
        }
    }
}

fn parse_family(n: u32) -> Result<Family, Errno> {
    match n {
        1 => Ok(Family::V4),
        2 => Ok(Family::V6),
        3 => Ok(Family::Unix),
        _ => Err(Errno::AFNOSUPPORT),
    }
}

/// Converts the kind and protocol of `socket(2)` as wasix-libc passes them: the kind's own
/// protocol, or none.
fn parse_kind(kind: u32, protocol: u32) -> Result<SocketKind, Errno> {
    match (kind, protocol) {
        (STREAM, 0 | TCP) => Ok(SocketKind::Stream),
        (DATAGRAM, 0 | UDP) => Ok(SocketKind::Datagram),
        (STREAM | DATAGRAM, _) => Err(Errno::PROTONOSUPPORT),
        _ => Err(Errno::PROTOTYPE),
    }
}

fn read_address<H: Host>(c: &GuestCall<'_, H>, at: u32) -> Result<SocketAddress, Errno> {
    let b: [u8; ADDRESS] = c.mem.read_array(at)?;
    let port = u16::from_le_bytes([b[2], b[3]]);
    let part = |from: usize| <[u8; 16]>::try_from(&b[from..from + 16]).unwrap_or_default();
    let ip: IpAddr = match parse_family(b[0].into())? {
        Family::V4 => Ipv4Addr::new(b[4], b[5], b[6], b[7]).into(),
        Family::V6 => Ipv6Addr::from(part(4)).into(),
        Family::Unix => return unix_name(&b[2..]).map(SocketAddress::Unix),
    };
    Ok(SocketAddress::Ip(SocketAddr::new(ip, port)))
}

/// Converts a name in WASIX's layout. A name that begins with a NUL belongs to the session and ends
/// before its trailing NULs; all others are paths, which sockets cannot have here.
fn unix_name(bytes: &[u8]) -> Result<Vec<u8>, Errno> {
    match bytes.split_first() {
        Some((0, name)) => {
            let end = name.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
            Ok(name[..end].to_vec())
        }
        _ => Err(Errno::NOTSUP),
    }
}

fn put_address<H: Host>(c: &mut GuestCall<'_, H>, at: u32, address: &SocketAddress) -> Sys {
    let mut b = [0u8; ADDRESS];
    match address {
        SocketAddress::Ip(SocketAddr::V4(a)) => {
            b[0] = 1;
            b[2..4].copy_from_slice(&a.port().to_le_bytes());
            b[4..8].copy_from_slice(&a.ip().octets());
        }
        SocketAddress::Ip(SocketAddr::V6(a)) => {
            b[0] = 2;
            b[2..4].copy_from_slice(&a.port().to_le_bytes());
            b[4..20].copy_from_slice(&a.ip().octets());
        }
        SocketAddress::Unix(name) => {
            b[0] = 3;
            let name = &name[..name.len().min(ADDRESS - 3)];
            b[3..3 + name.len()].copy_from_slice(name);
        }
    }
    Ok(c.mem.put_bytes(at, &b)?)
}

/// Gives the process a descriptor for a socket.
fn give_socket<H: Host>(c: &GuestCall<'_, H>, socket: Socket, nonblock: bool) -> Result<Fd, Errno> {
    let open = OpenDescription::new_charged(
        VfsFile::Socket(Box::new(socket)),
        true,
        true,
        &c.process.kernel.budget,
    )?;
    open.nonblock.store(nonblock, Ordering::Relaxed);
    install_file(c, open, CloseOnExec(false))
}

/// `socket(2)`: IPv4, IPv6 or Unix; streams or datagrams.
///
/// # Errors
/// EAFNOSUPPORT, EPROTOTYPE, EPROTONOSUPPORT, EMFILE, ENFILE for too many in the session, ENOBUFS.
pub fn sock_open<H: Host>(c: &mut GuestCall<'_, H>, domain: Domain, out: u32) -> Sys {
    let family = parse_family(domain.family)?;
    let kind = parse_kind(domain.kind, domain.protocol)?;
    let socket = Socket::new(c.process.kernel.vfs.network(), family, kind)?;
    let fd = give_socket(c, socket, false)?;
    Ok(c.mem.put_u32(out, fd.0)?)
}

/// `socketpair(2)`: stores the two numbers at `a` and `b`.
///
/// # Errors
/// Those of [`sock_open`].
pub fn sock_pair<H: Host>(c: &mut GuestCall<'_, H>, domain: Domain, a: u32, b: u32) -> Sys {
    let family = parse_family(domain.family)?;
    let kind = parse_kind(domain.kind, domain.protocol)?;
    let [one, other] = Socket::pair(c.process.kernel.vfs.network(), family, kind)?;
    let one = give_socket(c, one, false)?;
    let other = match give_socket(c, other, false) {
        Ok(fd) => fd,
        Err(e) => {
            let closed = lock_mutex(&c.process.fds).remove(one);
            drop(closed);
            return Err(e.into());
        }
    };
    c.mem.put_u32(a, one.0)?;
    Ok(c.mem.put_u32(b, other.0)?)
}

/// `bind(2)`.
///
/// # Errors
/// EADDRINUSE, EADDRNOTAVAIL outside of the loopback, EINVAL if it is bound, ENOTSUP for a path in
/// the file system.
pub fn sock_bind<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, address: u32) -> Sys {
    let open = OpenSocket::socket_of(c, fd)?;
    Ok(open.socket()?.bind(read_address(c, address)?)?)
}

/// `listen(2)`.
///
/// # Errors
/// ENOTSUP for datagrams, EINVAL for a connection.
pub fn sock_listen<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, backlog: u32) -> Sys {
    let open = OpenSocket::socket_of(c, fd)?;
    // A negative number means the maximum, as in Linux.
    Ok(open.socket()?.listen(backlog as usize, c.process.pid)?)
}

/// `connect(2)`: only to sockets of this session.
///
/// # Errors
/// ECONNREFUSED without a listener, ENETUNREACH outside of the loopback, EINPROGRESS if the
/// descriptor is non-blocking or the time limit for connecting has passed.
pub fn sock_connect<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, address: u32) -> Sys {
    let open = OpenSocket::socket_of(c, fd)?;
    let to = read_address(c, address)?;
    let at_once = open.0.is_nonblocking();
    loop {
        match open.socket()?.connect(to.clone(), at_once) {
            Err(Errno::AGAIN) if !at_once => match c.process.wait_for(&open.0.file, true) {
                Err(Halt::Errno(Errno::AGAIN)) => return Err(Errno::INPROGRESS.into()),
                waited => waited?,
            },
            done => return Ok(done?),
        }
    }
}

fn accept_socket<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    flags: FdFlags,
    out: u32,
) -> Result<SocketAddress, Halt> {
    let open = OpenSocket::socket_of(c, fd)?;
    // Checked first, because otherwise a connection would be accepted and lost.
    lock_mutex(&c.process.fds).check_room()?;
    let socket = loop {
        match open.socket()?.accept() {
            Err(Errno::AGAIN) if !open.0.is_nonblocking() => {
                c.process.wait_for(&open.0.file, false)?
            }
            accepted => break accepted?,
        }
    };
    let peer = socket.peer_address();
    let fd = give_socket(c, socket, flags.is_nonblock())?;
    c.mem.put_u32(out, fd.0)?;
    // A peer that is gone already has no address.
    Ok(peer.unwrap_or_else(|_| SocketAddress::unbound_address(Family::V4)))
}

/// `accept(2)`; stores the new descriptor at `out`.
///
/// # Errors
/// EAGAIN, EINVAL if it does not listen, ENOTSUP for datagrams; EMFILE, which loses no connection.
pub fn sock_accept<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, flags: FdFlags, out: u32) -> Sys {
    accept_socket(c, fd, flags, out).map(drop)
}

/// Does the same as [`sock_accept`], and stores the peer's address at `from`.
pub fn sock_accept_v2<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    flags: FdFlags,
    out: u32,
    from: u32,
) -> Sys {
    let peer = accept_socket(c, fd, flags, out)?;
    put_address(c, from, &peer)
}

/// `getsockname(2)`.
pub fn sock_addr_local<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, out: u32) -> Sys {
    let address = OpenSocket::socket_of(c, fd)?.socket()?.local_address();
    put_address(c, out, &address)
}

/// `getpeername(2)`.
///
/// # Errors
/// ENOTCONN.
pub fn sock_addr_peer<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, out: u32) -> Sys {
    let address = OpenSocket::socket_of(c, fd)?.socket()?.peer_address()?;
    put_address(c, out, &address)
}

/// Stores the state of a connection (`sockstatus`): 0 opening, 1 open, 2 closed, 3 failed.
pub fn sock_status<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, out: u32) -> Sys {
    let status = match OpenSocket::socket_of(c, fd)?.socket()?.status() {
        SocketStatus::Opening => 0,
        SocketStatus::Opened => 1,
        SocketStatus::Closed => 2,
        SocketStatus::Failed => 3,
    };
    Ok(c.mem.put_bytes(out, &[status])?)
}

/// `shutdown(2)`: bit 1 of `how` ends reading, bit 2 writing.
///
/// # Errors
/// EINVAL for other bits or none, ENOTCONN.
pub fn sock_shutdown<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, how: u32) -> Sys {
    let open = OpenSocket::socket_of(c, fd)?;
    if how == 0 || how & !(SHUT_READ | SHUT_WRITE) != 0 {
        return Err(Errno::INVAL.into());
    }
    Ok(open.socket()?.shutdown(how & SHUT_READ != 0, how & SHUT_WRITE != 0)?)
}

/// Receives into a list of buffers; returns the number of bytes and the sender's address.
pub fn receive<H: Host>(
    c: &mut GuestCall<'_, H>,
    open: &OpenDescription,
    list: &[(u32, u32)],
    flags: u32,
) -> Result<(u64, SocketAddress), Halt> {
    let VfsFile::Socket(socket) = &open.file else { return Err(Errno::NOTSOCK.into()) };
    if flags & !(PEEK | WAIT_ALL | TRUNCATED | DONT_WAIT) != 0 {
        return Err(Errno::NOTSUP.into());
    }
    c.process.threads.share_baton();
    if socket.kind() == SocketKind::Datagram {
        return receive_message(c, open, socket, list, flags);
    }
    let waits = !open.is_nonblocking() && flags & DONT_WAIT == 0;
    let all = flags & WAIT_ALL != 0 && flags & PEEK == 0;
    let mut total = 0u64;
    for &(ptr, len) in list.iter().filter(|(_, len)| *len > 0) {
        let mut done = 0;
        while done < len as usize && total < MAX_MOVED {
            let peek = (flags & PEEK != 0).then_some(total as usize);
            let (at, n) = match c.mem.buffer_part(ptr, len as usize, done) {
                Ok(part) => part,
                Err(_) if total > 0 => return receive_bytes(socket, total),
                Err(e) => return Err(e.into()),
            };
            match c.mem.fill_bytes(at, n, |buf| socket.receive(buf, ReceiveOptions { peek })) {
                Ok(0) => return receive_bytes(socket, total),
                Ok(n) => {
                    done += n;
                    total += n as u64;
                    c.process.check_alive()?;
                }
                Err(Errno::AGAIN) if waits && (total == 0 || all) => {
                    match c.process.wait_for(&open.file, false) {
                        Err(Halt::Errno(_)) if total > 0 => return receive_bytes(socket, total),
                        waited => waited?,
                    }
                }
                Err(_) if total > 0 => return receive_bytes(socket, total),
                Err(e) => return Err(e.into()),
            }
        }
    }
    receive_bytes(socket, total)
}

fn receive_bytes(socket: &Socket, total: u64) -> Result<(u64, SocketAddress), Halt> {
    // Callers do not use the peer's address once a connection is over.
    Ok((
        total,
        socket.peer_address().unwrap_or_else(|_| SocketAddress::unbound_address(socket.family())),
    ))
}

/// Receives one datagram and spreads it over the buffers.
fn receive_message<H: Host>(
    c: &mut GuestCall<'_, H>,
    open: &OpenDescription,
    socket: &Socket,
    list: &[(u32, u32)],
    flags: u32,
) -> Result<(u64, SocketAddress), Halt> {
    let room: u64 = list.iter().map(|(_, len)| u64::from(*len)).sum();
    let most = usize::try_from(room).unwrap_or(usize::MAX).min(net::MAX_DATAGRAM);
    let how = ReceiveOptions { peek: (flags & PEEK != 0).then_some(0) };
    let message = loop {
        match socket.receive_message(most, how) {
            Err(Errno::AGAIN) if !open.is_nonblocking() && flags & DONT_WAIT == 0 => {
                c.process.wait_for(&open.file, false)?;
            }
            got => break got?,
        }
    };
    let mut rest = message.bytes.as_slice();
    for &(ptr, len) in list {
        let (part, after) = rest.split_at(rest.len().min(len as usize));
        c.mem.put_bytes(ptr, part)?;
        rest = after;
    }
    let reported = if flags & TRUNCATED != 0 { message.length } else { message.bytes.len() };
    Ok((reported as u64, message.from))
}

/// Sends a list of buffers; returns the number of bytes.
pub fn send<H: Host>(
    c: &mut GuestCall<'_, H>,
    open: &OpenDescription,
    list: &[(u32, u32)],
    flags: u32,
    to: Option<SocketAddress>,
) -> Result<u64, Halt> {
    let VfsFile::Socket(socket) = &open.file else { return Err(Errno::NOTSOCK.into()) };
    if flags & !SEND_DONT_WAIT != 0 {
        return Err(Errno::NOTSUP.into());
    }
    c.process.threads.share_baton();
    let waits = !open.is_nonblocking() && flags & SEND_DONT_WAIT == 0;
    if socket.kind() == SocketKind::Datagram {
        let mut message = Vec::new();
        for &(ptr, len) in list {
            if message.len() + len as usize > net::MAX_DATAGRAM {
                return Err(Errno::MSGSIZE.into());
            }
            c.mem.lend_bytes(ptr, len as usize, |bytes| {
                message.extend_from_slice(bytes);
                Ok(())
            })?;
        }
        return Ok(socket.send(&message, to)? as u64);
    }
    let mut total = 0u64;
    for &(ptr, len) in list.iter().filter(|(_, len)| *len > 0) {
        let mut done = 0;
        while done < len as usize && total < MAX_MOVED {
            let (at, n) = match c.mem.buffer_part(ptr, len as usize, done) {
                Ok(part) => part,
                Err(_) if total > 0 => return Ok(total),
                Err(e) => return Err(e.into()),
            };
            match c.mem.lend_bytes(at, n, |data| socket.send(data, None)) {
                Ok(n) => {
                    done += n;
                    total += n as u64;
                    c.process.check_alive()?;
                }
                Err(Errno::AGAIN) if waits => match c.process.wait_for(&open.file, true) {
                    Err(Halt::Errno(_)) if total > 0 => return Ok(total),
                    waited => waited?,
                },
                Err(_) if total > 0 => return Ok(total),
                Err(e) => return Err(e.into()),
            }
        }
    }
    Ok(total)
}

/// `recv(2)`. Always stores 0 for WASIX's output flags.
///
/// # Errors
/// ENOTSUP for a flag that is unknown; EAGAIN, ECONNRESET, ENOTCONN.
pub fn sock_recv<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    what: SocketTransfer,
    result: ReceiveResult,
) -> Sys {
    let (open, list) = (OpenSocket::socket_of(c, fd)?, read_iovs(c, what.vectors)?);
    let (n, _) = receive(c, &open.0, &list, what.flags)?;
    c.mem.put_bytes(result.flags, &0u16.to_le_bytes())?;
    put_count(c, result.count, n)
}

/// `recvfrom(2)`: [`sock_recv`]; also stores the sender's address at `from`.
pub fn sock_recv_from<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    what: SocketTransfer,
    result: ReceiveResult,
    from: u32,
) -> Sys {
    let (open, list) = (OpenSocket::socket_of(c, fd)?, read_iovs(c, what.vectors)?);
    let (n, sender) = receive(c, &open.0, &list, what.flags)?;
    c.mem.put_bytes(result.flags, &0u16.to_le_bytes())?;
    put_address(c, from, &sender)?;
    put_count(c, result.count, n)
}

/// `send(2)`.
///
/// # Errors
/// ENOTSUP for a flag that is unknown; EMSGSIZE, EAGAIN, ENOTCONN, EDESTADDRREQ, EPIPE, ENOBUFS.
pub fn sock_send<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, what: SocketTransfer, out: u32) -> Sys {
    let (open, list) = (OpenSocket::socket_of(c, fd)?, read_iovs(c, what.vectors)?);
    let n = send(c, &open.0, &list, what.flags, None)?;
    put_count(c, out, n)
}

/// `sendto(2)`: [`sock_send`], of a datagram to the address at `to`.
pub fn sock_send_to<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    what: SocketTransfer,
    to: u32,
    out: u32,
) -> Sys {
    let (open, list) = (OpenSocket::socket_of(c, fd)?, read_iovs(c, what.vectors)?);
    // The bytes of a connection go to its peer; the given address is ignored.
    let to = match open.socket()?.kind() {
        SocketKind::Stream => None,
        SocketKind::Datagram => Some(read_address(c, to)?),
    };
    let n = send(c, &open.0, &list, what.flags, to)?;
    put_count(c, out, n)
}

fn parse_flag(option: u32) -> Result<SocketFlag, Errno> {
    Ok(match option {
        1 => SocketFlag::ReusePort,
        2 => SocketFlag::ReuseAddress,
        3 => SocketFlag::NoDelay,
        4 => SocketFlag::DontRoute,
        5 => SocketFlag::OnlyV6,
        6 => SocketFlag::Broadcast,
        7 => SocketFlag::MulticastLoopV4,
        8 => SocketFlag::MulticastLoopV6,
        12 => SocketFlag::KeepAlive,
        14 => SocketFlag::OutOfBandInline,
        _ => return Err(Errno::NOPROTOOPT),
    })
}

/// `setsockopt(2)` of a switch. Stores options that have no effect within a session, so that
/// [`sock_get_opt_flag`] can return them.
///
/// # Errors
/// ENOPROTOOPT.
pub fn sock_set_opt_flag<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, option: u32, on: u32) -> Sys {
    let open = OpenSocket::socket_of(c, fd)?;
    open.socket()?.options().set_flag(parse_flag(option)?, on & 0xff != 0);
    Ok(())
}

/// `getsockopt(2)` of a switch, and of SO_ACCEPTCONN.
///
/// # Errors
/// ENOPROTOOPT.
pub fn sock_get_opt_flag<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, option: u32, out: u32) -> Sys {
    let open = OpenSocket::socket_of(c, fd)?;
    let socket = open.socket()?;
    let on = match option {
        LISTENING => socket.is_listening(),
        other => socket.options().flag(parse_flag(other)?),
    };
    Ok(c.mem.put_bytes(out, &[u8::from(on)])?)
}

fn parse_time(option: u32) -> Result<SocketTime, Errno> {
    Ok(match option {
        13 => SocketTime::Linger,
        19 => SocketTime::Receive,
        20 => SocketTime::Send,
        21 => SocketTime::Connect,
        22 => SocketTime::Accept,
        _ => return Err(Errno::NOPROTOOPT),
    })
}

/// `setsockopt(2)` of a time: at `value` a tag (0 for none) and nanoseconds.
///
/// # Errors
/// ENOPROTOOPT.
pub fn sock_set_opt_time<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    option: u32,
    value: u32,
) -> Sys {
    let open = OpenSocket::socket_of(c, fd)?;
    let b: [u8; 16] = c.mem.read_array(value)?;
    let ns = u64::from_le_bytes(<[u8; 8]>::try_from(&b[8..]).unwrap_or_default());
    let value = (b[0] != 0).then(|| Duration::from_nanos(ns));
    open.socket()?.options().set_time(parse_time(option)?, value);
    Ok(())
}

/// `getsockopt(2)` of a time, in the layout of [`sock_set_opt_time`].
///
/// # Errors
/// ENOPROTOOPT.
pub fn sock_get_opt_time<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, option: u32, out: u32) -> Sys {
    let open = OpenSocket::socket_of(c, fd)?;
    let value = open.socket()?.options().time(parse_time(option)?);
    let ns = value.map_or(0, |t| u64::try_from(t.as_nanos()).unwrap_or(u64::MAX));
    let mut b = [0u8; 16];
    b[0] = u8::from(value.is_some());
    b[8..].copy_from_slice(&ns.to_le_bytes());
    Ok(c.mem.put_bytes(out, &b)?)
}

fn parse_size(option: u32) -> Result<SocketSize, Errno> {
    Ok(match option {
        15 => SocketSize::Receive,
        16 => SocketSize::Send,
        17 => SocketSize::ReceiveLow,
        18 => SocketSize::SendLow,
        23 => SocketSize::TimeToLive,
        24 => SocketSize::MulticastTimeToLive,
        _ => return Err(Errno::NOPROTOOPT),
    })
}

/// `setsockopt(2)` of a number.
///
/// # Errors
/// ENOPROTOOPT.
pub fn sock_set_opt_size<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    option: u32,
    value: u64,
) -> Sys {
    let open = OpenSocket::socket_of(c, fd)?;
    open.socket()?.set_size(parse_size(option)?, value);
    Ok(())
}

/// `getsockopt(2)` of a number, and of SO_TYPE, SO_PROTOCOL and SO_ERROR, which it clears.
///
/// # Errors
/// ENOPROTOOPT.
pub fn sock_get_opt_size<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, option: u32, out: u32) -> Sys {
    let open = OpenSocket::socket_of(c, fd)?;
    let socket = open.socket()?;
    let value = match (option, socket.kind()) {
        (LAST_ERROR, _) => socket.take_error().map_or(0, |e| e.0.into()),
        (TYPE, SocketKind::Stream) => STREAM.into(),
        (TYPE, SocketKind::Datagram) => DATAGRAM.into(),
        (PROTOCOL, _) if socket.family() == Family::Unix => 0,
        (PROTOCOL, SocketKind::Stream) => TCP.into(),
        (PROTOCOL, SocketKind::Datagram) => UDP.into(),
        (other, _) => socket.options().size(parse_size(other)?),
    };
    Ok(c.mem.put_u64(out, value)?)
}

/// Stores the addresses of `localhost` and of numeric names; ENOENT for other names.
pub fn resolve<H: Host>(
    c: &mut GuestCall<'_, H>,
    name: GuestStr,
    list: GuestList,
    out: u32,
) -> Sys {
    if name.len > MAX_NAME {
        return Err(Errno::NAMETOOLONG.into());
    }
    let found = c.mem.lend_bytes(name.at, name.len as usize, |name| {
        let name = std::str::from_utf8(name).map_err(|_| Errno::INVAL)?;
        net::resolve_name(name).ok_or(Errno::NOENT)
    })?;
    let mut n = 0;
    for ip in found.into_iter().take(list.n as usize) {
        let mut b = [0u8; IP as usize];
        match ip {
            IpAddr::V4(ip) => {
                b[0] = 1;
                b[2..6].copy_from_slice(&ip.octets());
            }
            IpAddr::V6(ip) => {
                b[0] = 2;
                b[2..].copy_from_slice(&ip.octets());
            }
        }
        let at = list.at.checked_add(n * IP).ok_or(Errno::FAULT)?;
        c.mem.put_bytes(at, &b)?;
        n += 1;
    }
    Ok(c.mem.put_u32(out, n)?)
}
