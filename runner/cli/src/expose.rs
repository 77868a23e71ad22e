//! `--expose`: forwards ports of the host to ports of the session's loopback.

use crate::CliFailure;
use std::str::FromStr;
use wasibox::Session;

/// A port of the session, and the port of the host that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortMapping {
    port: u16,
    host: u16,
}

/// The error for a text that is not an [`PortMapping`].
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("it is PORT or PORT:HOSTPORT, each from 1 to 65535")]
pub struct ExposeTextError;

impl FromStr for PortMapping {
    type Err = ExposeTextError;

    fn from_str(text: &str) -> Result<PortMapping, ExposeTextError> {
        let number = |t: &str| t.parse().ok().filter(|n| *n > 0).ok_or(ExposeTextError);
        let (port, host) = text.split_once(':').unwrap_or((text, text));
        Ok(PortMapping { port: number(port)?, host: number(host)? })
    }
}

/// Listens on all ports. The ports are closed when the result is dropped.
///
/// # Errors
/// If a port of the host is not available.
pub fn listen_all(
    session: &Session,
    all: &[PortMapping],
) -> Result<Vec<wasibox::ExposedPort>, CliFailure> {
    let listen = |one: &PortMapping| {
        session.expose(one.port, one.host).map_err(|e| {
            CliFailure::new(125, format!("--expose: port {} of 127.0.0.1: {e}", one.host))
        })
    };
    all.iter().map(listen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read() {
        assert_eq!("8000".parse(), Ok(PortMapping { port: 8000, host: 8000 }));
        assert_eq!("80:8080".parse(), Ok(PortMapping { port: 80, host: 8080 }));
        for wrong in ["", "0", "80:", ":80", "65536", "80:0", "1:2:3", "http"] {
            assert_eq!(wrong.parse::<PortMapping>(), Err(ExposeTextError), "{wrong}");
        }
    }
}
