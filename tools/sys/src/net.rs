//! Connections on the loopback, for `nc`, `curl` and the shell's `/dev/tcp`.
//!
//! A socket is a [`File`]: it is read, written and passed to a child like any other. On the guest,
//! sockets are WASIX's and reach only the session's own loopback; on a host they are the host's,
//! for tests. Under plain preview 1 every call fails with ENOSYS.

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use crate::{backend, events};

/// The kind of traffic of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetSocketKind {
    /// TCP.
    Stream,
    /// UDP.
    Datagram,
}

/// The condition that ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Read,
    Write,
}

/// The file of host names that are known without asking a server (hosts(5)).
const HOSTS: &str = "/etc/hosts";
/// The maximum number of bytes to read from it, because a guest may write any content there.
const MAX_HOSTS: u64 = 1 << 20;

/// Returns the addresses of a name, if they are known without a server: for numeric addresses,
/// `localhost` and names below it (RFC 6761, 6.3), and names in `/etc/hosts`.
pub fn resolve_name(name: &str) -> Option<Vec<IpAddr>> {
    let bare = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    if bare == "localhost" || bare.ends_with(".localhost") {
        return Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    let name = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    if let Ok(ip) = name.parse() {
        return Some(vec![ip]);
    }
    let mut hosts = Vec::new();
    File::open(HOSTS).ok()?.take(MAX_HOSTS).read_to_end(&mut hosts).ok()?;
    let addresses = find_addresses(&String::from_utf8_lossy(&hosts), &bare);
    (!addresses.is_empty()).then_some(addresses)
}

/// Returns the addresses of a name according to the text of a hosts file: each line has an address
/// and its names, and `#` begins a comment. The name must be in lower case.
fn find_addresses(hosts: &str, name: &str) -> Vec<IpAddr> {
    let lines = hosts.lines().map(|line| line.split('#').next().unwrap_or_default());
    let address_of = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name)).then_some(address)
    };
    lines.filter_map(address_of).collect()
}

/// Connects to an address; ETIMEDOUT if that takes longer than `patience`.
///
/// # Errors
/// ECONNREFUSED if no process listens, ENETUNREACH beyond the loopback.
pub fn connect(
    to: SocketAddr,
    kind: NetSocketKind,
    patience: Option<Duration>,
) -> io::Result<File> {
    backend::net::connect(to, kind, patience)
}

/// Connects to the first of a host's addresses on which a process listens.
///
/// # Errors
///
/// The error of the last address; NotFound for an unknown name.
pub fn connect_to(
    host: &str,
    port: u16,
    kind: NetSocketKind,
    patience: Option<Duration>,
) -> io::Result<File> {
    let addresses = resolve_name(host).ok_or(io::ErrorKind::NotFound)?;
    let mut last = io::ErrorKind::NotFound.into();
    for ip in addresses {
        match connect(SocketAddr::new(ip, port), kind, patience) {
            Ok(socket) => return Ok(socket),
            Err(e) => last = e,
        }
    }
    Err(last)
}

/// Opens a socket that accepts connections, or receives datagrams; port 0 stands for any free port.
///
/// # Errors
/// EADDRINUSE, EADDRNOTAVAIL.
pub fn listen(at: SocketAddr, kind: NetSocketKind) -> io::Result<File> {
    backend::net::listen(at, kind)
}

/// Accepts the next connection; returns the connection and the peer's address.
///
/// # Errors
/// EINTR if a signal arrived.
pub fn accept(listener: &File) -> io::Result<(File, SocketAddr)> {
    backend::net::accept(listener)
}

/// Returns a socket's own address.
///
/// # Errors
/// ENOTSOCK.
pub fn local_address(socket: &File) -> io::Result<SocketAddr> {
    backend::net::local_address(socket)
}

/// Waits for the next datagram, connects the socket to its sender and returns the sender's address;
/// the datagram stays unread.
///
/// # Errors
///
/// EINTR if a signal arrived.
pub fn meet(socket: &File) -> io::Result<SocketAddr> {
    backend::net::meet(socket)
}

/// Ends sending: the other side reads the end of input.
///
/// # Errors
/// ENOTCONN.
pub fn finish(socket: &File) -> io::Result<()> {
    backend::net::finish(socket)
}

/// Waits until one of the files can be read, or written, without blocking; returns which ones. A
/// file at the end of input counts as readable; a pipe with room takes `PIPE_BUF` bytes (4096). If
/// the time runs out, the result names none of them.
///
/// # Errors
/// EINTR if a caught signal arrived first.
pub fn wait(files: &[(&File, Wait)], time: Option<Duration>) -> io::Result<Vec<bool>> {
    let end = time.and_then(|t| Instant::now().checked_add(t));
    loop {
        let left = end.map_or(Duration::MAX, |e| e.saturating_duration_since(Instant::now()));
        // A signal that arrived earlier would not end the wait.
        let step =
            if events::has_pending() { Duration::ZERO } else { left.min(backend::LONGEST_PAUSE) };
        match backend::net::wait(files, step) {
            Ok(ready) if ready.iter().any(|r| *r) || end.is_some_and(|e| Instant::now() >= e) => {
                return Ok(ready);
            }
            Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(e),
            _ if events::has_pending() => return Err(io::ErrorKind::Interrupted.into()),
            _ => {}
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    fn localhost_at(port: u16) -> SocketAddr {
        SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)
    }

    #[test]
    fn a_connection_carries_bytes_and_ends() {
        let listener = listen(localhost_at(0), NetSocketKind::Stream).unwrap();
        let at = local_address(&listener).unwrap();
        let mut client = connect(at, NetSocketKind::Stream, None).unwrap();
        assert_eq!(wait(&[(&listener, Wait::Read)], None).unwrap(), [true]);
        let (mut server, from) = accept(&listener).unwrap();
        assert_eq!(from, local_address(&client).unwrap());
        assert_eq!(wait(&[(&server, Wait::Read)], Some(Duration::ZERO)).unwrap(), [false]);
        client.write_all(b"hello").unwrap();
        finish(&client).unwrap();
        let mut got = Vec::new();
        server.read_to_end(&mut got).unwrap();
        assert_eq!(got, b"hello");
        drop(listener);
        let refused =
            connect(at, NetSocketKind::Stream, Some(Duration::from_secs(60))).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn datagrams_are_answered_to_who_sent_them() {
        let socket = listen(localhost_at(0), NetSocketKind::Datagram).unwrap();
        let mut other =
            connect(local_address(&socket).unwrap(), NetSocketKind::Datagram, None).unwrap();
        other.write_all(b"ping").unwrap();
        assert_eq!(meet(&socket).unwrap(), local_address(&other).unwrap());
        let mut buf = [0; 16];
        let n = (&socket).read(&mut buf).unwrap();
        assert_eq!(&buf[..n], b"ping");
        (&socket).write_all(b"pong").unwrap();
        let n = other.read(&mut buf).unwrap();
        assert_eq!(&buf[..n], b"pong");
    }

    #[test]
    fn few_names_are_known() {
        assert_eq!(resolve_name("LocalHost.").unwrap().len(), 2);
        assert_eq!(resolve_name("a.localhost").unwrap().len(), 2);
        assert_eq!(resolve_name("[::1]"), Some(vec![Ipv6Addr::LOCALHOST.into()]));
        assert_eq!(resolve_name("10.1.2.3"), Some(vec![Ipv4Addr::new(10, 1, 2, 3).into()]));
        assert_eq!((resolve_name("example.org"), resolve_name("notlocalhost")), (None, None));
    }

    #[test]
    fn names_of_the_hosts_file_are_known() {
        let hosts =
            "# 127.0.0.9 db\n127.0.0.2\tdb Db.Local # cache\n::1 db\n\n1.2 bad\n10.0.0.1 api";
        let find = |name| find_addresses(hosts, name);
        assert_eq!(find("db"), [IpAddr::from([127, 0, 0, 2]), Ipv6Addr::LOCALHOST.into()]);
        assert_eq!(find("db.local"), [IpAddr::from([127, 0, 0, 2])]);
        assert_eq!(find("api"), [IpAddr::from([10, 0, 0, 1])]);
        for other in ["cache", "bad", "127.0.0.2", "", "d"] {
            assert_eq!(find(other), [] as [IpAddr; 0], "{other}");
        }
    }
}
