//! `nc` connects to ports and listens on them, with the options that OpenBSD's, the traditional and
//! Busybox's netcat have in common (manual page nc(1)). It reaches only the session's own loopback.
//!
//! | file | content |
//! |---|---|
//! | `options` | the options, as written and as meant |
//! | `copy` | copies data between the standard streams and a connection |
//! | `run` | connects, listens and scans |
//!
//! Deviations: at the end of its input `nc` shuts down its side of the connection, as with `-N` and
//! as Busybox does, so that two of them do not wait for each other. A listener that never had input
//! does not shut down its side. When the other side ends, `nc` ends, too. Deliberately absent:
//! proxies, Unix-domain sockets, TLS, `-e`, `-c` and `-s`.
#![forbid(unsafe_code)]

mod copy;
mod options;
mod run;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] =
    &[Applet::new("nc", run::run, "connect to a port, or listen on one")];
