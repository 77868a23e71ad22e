//! `--expose`: forwards ports of the host to ports of the session's loopback.

use crate::CliFailure;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::str::FromStr;
use wasibox::Session;

const PART: usize = 64 << 10;

/// A port of the session, and the port of the host that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExposedPort {
    port: u16,
    host: u16,
}

/// The error for a text that is not an [`ExposedPort`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("it is PORT or PORT:HOSTPORT, each from 1 to 65535")]
pub struct ExposeTextError;

impl FromStr for ExposedPort {
    type Err = ExposeTextError;

    fn from_str(text: &str) -> Result<ExposedPort, ExposeTextError> {
        let number = |t: &str| t.parse().ok().filter(|n| *n > 0).ok_or(ExposeTextError);
        let (port, host) = text.split_once(':').unwrap_or((text, text));
        Ok(ExposedPort { port: number(port)?, host: number(host)? })
    }
}

/// Listens on all ports until this process ends.
///
/// # Errors
/// If a port of the host is not available.
pub fn listen_all(session: &Session, all: &[ExposedPort]) -> Result<(), CliFailure> {
    for exposed in all {
        let at = (Ipv4Addr::LOCALHOST, exposed.host);
        let cannot =
            |e| CliFailure::new(125, format!("--expose: port {} of 127.0.0.1: {e}", exposed.host));
        let listener = TcpListener::bind(at).map_err(cannot)?;
        let (session, port) = (session.clone(), exposed.port);
        let serve = move || {
            // A connection that was closed before it was accepted is skipped.
            for outside in listener.incoming().flatten() {
                let session = session.clone();
                let one = move || forward_connection(&session, port, outside);
                drop(port_thread().spawn(one));
            }
        };
        port_thread().spawn(serve).map_err(cannot)?;
    }
    Ok(())
}

fn port_thread() -> std::thread::Builder {
    std::thread::Builder::new().stack_size(256 << 10)
}

/// Forwards a connection. If no server listens inside, the connection is closed.
fn forward_connection(session: &Session, port: u16, outside: TcpStream) {
    let Ok(inside) = session.connect(port) else { return };
    let (Ok(from), Ok(to)) = (outside.try_clone(), inside.try_clone()) else { return };
    let inwards = move || {
        copy_stream(&from, &to);
        // The other side may have closed the connection already.
        let _ = to.shutdown(Shutdown::Write);
    };
    if port_thread().spawn(inwards).is_ok() {
        copy_stream(&inside, &outside);
        let _ = outside.shutdown(Shutdown::Write);
    }
}

fn copy_stream(mut from: impl Read, mut to: impl Write) {
    let mut part = vec![0; PART];
    loop {
        match from.read(&mut part) {
            Ok(0) => return,
            Ok(n) if to.write_all(&part[..n]).is_err() => return,
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read() {
        assert_eq!("8000".parse(), Ok(ExposedPort { port: 8000, host: 8000 }));
        assert_eq!("80:8080".parse(), Ok(ExposedPort { port: 80, host: 8080 }));
        for wrong in ["", "0", "80:", ":80", "65536", "80:0", "1:2:3", "http"] {
            assert_eq!(wrong.parse::<ExposedPort>(), Err(ExposeTextError), "{wrong}");
        }
    }
}
