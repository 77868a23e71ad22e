//! `nc`: connections and listeners by hand, with the options that OpenBSD's, the traditional and
//! Busybox's netcat have in common (manual page nc(1)). Connections are of the session's own
//! loopback.
//!
//! | file | content |
//! |---|---|
//! | `options` | the command line as it is meant |
//! | `copy` | between the streams and a connection, until it is over |
//! | `run` | connecting, listening, scanning |
//!
//! Deviations: the end of the input is sent to the other side, as by `-N` and by Busybox, so that
//! two of them do not wait for each other; not by a listener without input. When the other side has
//! ended, so has `nc`. Not here: proxies, Unix-domain sockets, TLS, `-e` and `-c`, `-s`.
#![forbid(unsafe_code)]

mod copy;
mod options;
mod run;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] =
    &[Applet::new("nc", run::run, "connect to a port, or listen on one")];
