//! `/dev/tcp/HOST/PORT` and `/dev/udp/HOST/PORT` in redirections (bash's manual, "Redirections"): a
//! connection on the session's own loopback. For other programs these files do not exist.

use std::fs::File;
use std::io;

use box_sys::net::{self, NetSocketKind};

/// The reason for a failed connection: a message that is printed before the redirection's own, and
/// the error.
pub(crate) struct NoConnection {
    pub(crate) first: String,
    pub(crate) error: io::Error,
}

/// Opens a connection if the name refers to one.
pub(crate) fn open_network(name: &[u8]) -> Option<Result<File, NoConnection>> {
    let (kind, rest) = match (name.strip_prefix(b"/dev/tcp/"), name.strip_prefix(b"/dev/udp/")) {
        (Some(rest), _) => (NetSocketKind::Stream, rest),
        (_, Some(rest)) => (NetSocketKind::Datagram, rest),
        _ => return None,
    };
    let rest = std::str::from_utf8(rest).ok()?;
    let (host, port) = rest.split_once('/')?;
    Some(connect_host(host, port, kind))
}

fn connect_host(host: &str, port: &str, kind: NetSocketKind) -> Result<File, NoConnection> {
    // bash reports both an unknown port and an unknown host as an invalid argument.
    let unknown = |what: &str, why: &str| NoConnection {
        first: format!("{what}: {why}"),
        error: io::ErrorKind::InvalidInput.into(),
    };
    let Ok(number) = port.parse() else {
        return Err(unknown(port, "Servname not supported for ai_socktype"));
    };
    if net::resolve_name(host).is_none() {
        return Err(unknown(host, "Name or service not known"));
    }
    net::connect_to(host, number, kind, None).map_err(|error| {
        let first = format!("connect: {}", box_sys::error_text(&error));
        NoConnection { first, error }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(name: &str) -> Option<(String, io::ErrorKind)> {
        open_network(name.as_bytes()).map(|opened| {
            let no = opened.err().unwrap();
            (no.first, no.error.kind())
        })
    }

    #[test]
    fn only_names_of_connections_open_one() {
        for file in ["/dev/tcp", "/dev/tcp/localhost", "/dev/tty", "dev/tcp/localhost/1"] {
            assert!(open_network(file.as_bytes()).is_none(), "{file}");
        }
        // The message of bash 5.2.
        let refused = ("connect: Connection refused".to_owned(), io::ErrorKind::ConnectionRefused);
        assert_eq!(why("/dev/tcp/127.0.0.1/1"), Some(refused));
        let unknown = "nohost.invalid: Name or service not known".to_owned();
        let invalid = io::ErrorKind::InvalidInput;
        assert_eq!(why("/dev/tcp/nohost.invalid/1"), Some((unknown, invalid)));
        let service = "x: Servname not supported for ai_socktype".to_owned();
        assert_eq!(why("/dev/udp/localhost/x"), Some((service, invalid)));
    }
}
