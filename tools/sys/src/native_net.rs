//! Sockets of the host's loopback, for tests of the tools.

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use crate::net::{NetSocketKind, Wait};

fn file(socket: impl Into<OwnedFd>) -> File {
    File::from(socket.into())
}

/// Returns the same socket as a type that has std's methods.
fn again<S: From<OwnedFd>>(file: &File) -> io::Result<S> {
    Ok(S::from(file.as_fd().try_clone_to_owned()?))
}

pub(crate) fn connect(
    to: SocketAddr,
    kind: NetSocketKind,
    patience: Option<Duration>,
) -> io::Result<File> {
    match (kind, patience) {
        (NetSocketKind::Stream, None) => TcpStream::connect(to).map(file),
        (NetSocketKind::Stream, Some(time)) => TcpStream::connect_timeout(&to, time).map(file),
        (NetSocketKind::Datagram, _) => {
            let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
            let socket = UdpSocket::bind(any)?;
            socket.connect(to)?;
            Ok(file(socket))
        }
    }
}

pub(crate) fn listen(at: SocketAddr, kind: NetSocketKind) -> io::Result<File> {
    match kind {
        NetSocketKind::Stream => TcpListener::bind(at).map(file),
        NetSocketKind::Datagram => UdpSocket::bind(at).map(file),
    }
}

pub(crate) fn accept(listener: &File) -> io::Result<(File, SocketAddr)> {
    let (socket, from) = again::<TcpListener>(listener)?.accept()?;
    Ok((file(socket), from))
}

pub(crate) fn local_address(socket: &File) -> io::Result<SocketAddr> {
    again::<UdpSocket>(socket)?.local_addr()
}

pub(crate) fn meet(socket: &File) -> io::Result<SocketAddr> {
    let socket = again::<UdpSocket>(socket)?;
    let (_, from) = socket.peek_from(&mut [0])?;
    socket.connect(from)?;
    Ok(from)
}

pub(crate) fn finish(socket: &File) -> io::Result<()> {
    again::<TcpStream>(socket)?.shutdown(std::net::Shutdown::Write)
}

pub(crate) fn wait(files: &[(&File, Wait)], time: Duration) -> io::Result<Vec<bool>> {
    let mut list: Vec<libc::pollfd> = files
        .iter()
        .map(|(file, wait)| libc::pollfd {
            fd: file.as_raw_fd(),
            events: if *wait == Wait::Read { libc::POLLIN } else { libc::POLLOUT },
            revents: 0,
        })
        .collect();
    let ms = i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
    // JUSTIFICATION: std cannot wait for several files.
    // SAFETY: the list is live for the call, and its length is the one that is passed.
    let ready = unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, ms) };
    if ready < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(list.iter().map(|one| one.revents != 0).collect())
}
