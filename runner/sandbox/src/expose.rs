//! Connections from outside to a port of the session's loopback: only for the owner of the session.
//!
//! The outside is a stream whose other end belongs to the embedder, or to the parent of a worker,
//! which passes it by its control socket. The first byte of the reply says whether there is a
//! listener ([`ACCEPTED`], [`REFUSED`]); then bytes go both ways until both sides have ended.

use crate::host::Background;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use wasibox_vfs::Errno;
use wasibox_vfs::net::{
    Family, ListeningSocket, LoopbackNetwork, ReceiveOptions, Socket, SocketAddress, SocketKind,
};

/// The reply that there is a listener at the port.
pub const ACCEPTED: u8 = 1;
/// The reply that there is no listener, or that there are too many connections.
pub const REFUSED: u8 = 0;

/// The maximum number of connections at once; each has two threads.
const MOST: usize = 256;
/// The longest wait for a listener with a full backlog.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait of a thread before it checks again; a change wakes it earlier.
const LOOK: Duration = Duration::from_secs(60);
const PART: usize = 64 << 10;
/// The maximum number of sockets in a list of those that listen.
pub const MAX_PORTS: usize = 256;
/// The maximum bytes of a command in that list.
pub const MAX_COMMAND: usize = 200;

/// The way into a session's loopback.
#[derive(Clone)]
pub struct LoopbackGate {
    network: LoopbackNetwork,
    open: Arc<AtomicUsize>,
    processes: Option<Arc<Background>>,
}

/// A socket that listens, and the command of its process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPort {
    pub address: SocketAddr,
    pub pid: u32,
    /// The beginning of the command; `None` while the process belongs to a call that runs.
    pub command: Option<Vec<u8>>,
}

/// A connection's place in the count.
#[derive(Debug)]
struct ConnectionPlace(Arc<AtomicUsize>);

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl LoopbackGate {
    /// Creates a gate to that network.
    pub fn new(network: &LoopbackNetwork) -> LoopbackGate {
        LoopbackGate { network: network.clone(), open: Arc::default(), processes: None }
    }

    /// Returns the gate with the processes whose commands it finds.
    #[must_use]
    pub fn with_processes(self, processes: Arc<Background>) -> LoopbackGate {
        LoopbackGate { processes: Some(processes), ..self }
    }

    /// Returns the sockets that listen for connections, by port, [`MAX_PORTS`] at most.
    pub fn open_ports(&self) -> Vec<OpenPort> {
        let all = self.network.listening_sockets().into_iter().take(MAX_PORTS);
        let command = |pid| {
            let mut command = self.processes.as_ref()?.command_of(pid)?;
            command.truncate(MAX_COMMAND);
            Some(command)
        };
        all.map(|ListeningSocket { address, pid }| OpenPort { address, pid, command: command(pid) })
            .collect()
    }

    /// Connects `stream` to the port; does not wait.
    pub fn connect(&self, port: u16, mut stream: UnixStream) {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        let place = ConnectionPlace(self.open.clone());
        if before >= MOST {
            // The other end may be gone already.
            let _ = stream.write_all(&[REFUSED]);
            return;
        }
        let network = self.network.clone();
        let serve = move || serve_connection(&network, port, stream, place);
        // Without a thread the stream is dropped, which is also a refusal.
        drop(std::thread::Builder::new().stack_size(256 << 10).spawn(serve));
    }
}

/// Waits until the socket can be read, or written.
fn wait_socket(socket: &Socket, write: bool, time: Duration) {
    socket.watch(&std::thread::current());
    if socket.ready(write).is_none() {
        std::thread::park_timeout(time);
    }
}

/// Connects to the port, over IPv4 or IPv6.
fn reach_port(network: &LoopbackNetwork, port: u16) -> Result<Socket, Errno> {
    let mut refused = Errno::CONNREFUSED;
    let both = [
        (Family::V4, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)),
        (Family::V6, SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port)),
    ];
    for (family, at) in both {
        let socket = Socket::new(network, family, SocketKind::Stream)?;
        let end = Instant::now() + CONNECT_TIMEOUT;
        loop {
            match socket.connect(SocketAddress::Ip(at), false) {
                Ok(()) => return Ok(socket),
                Err(Errno::AGAIN) if Instant::now() < end => {
                    wait_socket(&socket, true, CONNECT_TIMEOUT)
                }
                Err(e) => {
                    refused = e;
                    break;
                }
            }
        }
    }
    Err(refused)
}

fn serve_connection(
    network: &LoopbackNetwork,
    port: u16,
    mut stream: UnixStream,
    place: ConnectionPlace,
) {
    let socket = match reach_port(network, port) {
        Ok(socket) => Arc::new(socket),
        Err(_) => {
            let _ = stream.write_all(&[REFUSED]);
            return;
        }
    };
    if stream.write_all(&[ACCEPTED]).is_err() {
        return;
    }
    let Ok(outside) = stream.try_clone() else { return };
    let inside = socket.clone();
    let place = Arc::new(place);
    let kept = place.clone();
    let inwards = move || {
        let _kept = kept;
        push(outside, &inside);
    };
    if std::thread::Builder::new().stack_size(256 << 10).spawn(inwards).is_ok() {
        pull_bytes(stream, &socket);
    }
    drop(place);
}

/// Copies bytes from outside into the session.
fn push(mut from: UnixStream, to: &Socket) {
    let mut part = vec![0; PART];
    loop {
        let n = match from.read(&mut part) {
            Ok(0) => {
                // The guest may have closed its end already.
                let _ = to.shutdown(false, true);
                return;
            }
            Ok(n) => n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let mut rest = &part[..n];
        while !rest.is_empty() {
            match to.send(rest, None) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::AGAIN) => wait_socket(to, true, LOOK),
                Err(_) => {
                    // There is no reader any more, so nothing more is taken.
                    let _ = from.shutdown(Shutdown::Read);
                    return;
                }
            }
        }
    }
}

/// Copies bytes out of the session.
fn pull_bytes(mut to: UnixStream, from: &Socket) {
    let mut part = vec![0; PART];
    loop {
        match from.receive(&mut part, ReceiveOptions::default()) {
            Ok(0) => {
                let _ = to.shutdown(Shutdown::Write);
                return;
            }
            Ok(n) => {
                if to.write_all(&part[..n]).is_err() {
                    let _ = from.shutdown(true, true);
                    return;
                }
            }
            Err(Errno::AGAIN) => wait_socket(from, false, LOOK),
            Err(_) => {
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasibox_vfs::Budget;

    fn listener(network: &LoopbackNetwork, family: Family, port: u16) -> Socket {
        let s = Socket::new(network, family, SocketKind::Stream).unwrap();
        let ip = match family {
            Family::V6 => Ipv6Addr::LOCALHOST.into(),
            _ => Ipv4Addr::LOCALHOST.into(),
        };
        s.bind(SocketAddress::Ip(SocketAddr::new(ip, port))).unwrap();
        s.listen(1, 9).unwrap();
        s
    }

    fn accept(listener: &Socket) -> Socket {
        loop {
            match listener.accept() {
                Ok(s) => return s,
                Err(_) => wait_socket(listener, false, LOOK),
            }
        }
    }

    #[test]
    fn bytes_go_both_ways_and_so_do_ends() {
        let network = LoopbackNetwork::new(Budget::new(64 << 20));
        let doors = LoopbackGate::new(&network);
        for family in [Family::V4, Family::V6] {
            let server = listener(&network, family, 80);
            let (mut mine, theirs) = UnixStream::pair().unwrap();
            doors.connect(80, theirs);
            let mut said = [9];
            mine.read_exact(&mut said).unwrap();
            assert_eq!(said, [ACCEPTED]);
            let long = vec![5; 2 << 20];
            let sent = long.clone();
            let mut writer = mine.try_clone().unwrap();
            let writing = std::thread::spawn(move || {
                writer.write_all(&sent).unwrap();
                writer.shutdown(Shutdown::Write).unwrap();
            });
            let inner = accept(&server);
            let (mut got, mut part) = (Vec::new(), [0; 5000]);
            loop {
                match inner.receive(&mut part, ReceiveOptions::default()) {
                    Ok(0) => break,
                    Ok(n) => got.extend_from_slice(&part[..n]),
                    Err(_) => wait_socket(&inner, false, LOOK),
                }
            }
            assert!(got == long);
            inner.send(b"answer", None).unwrap();
            drop(inner);
            let mut answer = Vec::new();
            mine.read_to_end(&mut answer).unwrap();
            assert_eq!(answer, b"answer");
            writing.join().unwrap();
        }
    }

    #[test]
    fn sockets_that_listen_are_listed_by_port() {
        let network = LoopbackNetwork::new(Budget::new(64 << 20));
        let gate = LoopbackGate::new(&network);
        let _open = (listener(&network, Family::V6, 8000), listener(&network, Family::V4, 80));
        let port =
            |address: &str| OpenPort { address: address.parse().unwrap(), pid: 9, command: None };
        assert_eq!(gate.open_ports(), [port("127.0.0.1:80"), port("[::1]:8000")]);
    }

    #[test]
    fn clients_without_a_listener_get_an_error() {
        let network = LoopbackNetwork::new(Budget::new(64 << 20));
        let (mut mine, theirs) = UnixStream::pair().unwrap();
        LoopbackGate::new(&network).connect(81, theirs);
        let mut said = Vec::new();
        mine.read_to_end(&mut said).unwrap();
        assert_eq!(said, [REFUSED]);
    }
}
