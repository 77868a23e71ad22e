//! The options of `nc`: as written ([`NcFlag`]) and as meant ([`NcOptions`]).

use std::time::Duration;

use box_applet::opts::{Opt, ParsedOptions, Spec};
use thiserror::Error;

/// An option of `nc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NcFlag {
    V4,
    V6,
    NoInput,
    Keep,
    Listen,
    SendEnd,
    Numeric,
    Port,
    Linger,
    Datagrams,
    Verbose,
    Patience,
    Scan,
}

pub(crate) const SPEC: Spec<NcFlag> = Spec::new(
    "[-46dNnuvz] [-q SECONDS] [-w SECONDS] HOST PORT[-PORT]\n-l [-46dkNnuv] [-w SECONDS] \
        [HOST] PORT",
    "Copy standard input to a connection, and the data it receives to standard output.",
    &[
        Opt::new(NcFlag::V4, '4', "").with_help("Use IPv4 only"),
        Opt::new(NcFlag::V6, '6', "").with_help("Use IPv6 only"),
        Opt::new(NcFlag::NoInput, 'd', "").with_help("Do not read standard input"),
        Opt::new(NcFlag::Keep, 'k', "").with_help("With -l: listen again after each connection"),
        Opt::new(NcFlag::Listen, 'l', "").with_help("Listen for a connection"),
        Opt::new(NcFlag::SendEnd, 'N', "")
            .with_help("Report the end of the input to the peer, even if there was no input"),
        Opt::new(NcFlag::Numeric, 'n', "")
            .with_help("Accepted, without effect: names are never looked up"),
        Opt::new(NcFlag::Port, 'p', "").with_argument("PORT", "With -l: the port to listen on"),
        Opt::new(NcFlag::Linger, 'q', "")
            .with_argument("SECONDS", "Quit SECONDS after the end of the input"),
        Opt::new(NcFlag::Datagrams, 'u', "").with_help("Use UDP"),
        Opt::new(NcFlag::Verbose, 'v', "").with_help("Report connections on standard error"),
        Opt::new(NcFlag::Patience, 'w', "")
            .with_argument("SECONDS", "Give up connecting, or an idle connection, after SECONDS"),
        Opt::new(NcFlag::Scan, 'z', "")
            .with_help("Only check whether the ports accept connections"),
    ],
)
.with_footer(
    "Only the session's own ports can be reached, on localhost, 127.0.0.0/8 and ::1.\n\n\
        Exit status: 0 on success, 1 on failure.",
);

/// The reason why a command line is refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum NcUsageError {
    #[error("missing host and port")]
    Missing,
    #[error("too many operands")]
    Extra,
    #[error("port number invalid: {0}")]
    Port(String),
    #[error("invalid time: {0}")]
    Time(String),
    #[error("cannot use -l and -z")]
    ListenAndScan,
    #[error("must use -l with -k")]
    KeepWithoutListen,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NcOptions {
    pub(crate) listen: bool,
    pub(crate) keep: bool,
    pub(crate) scan: bool,
    pub(crate) verbose: bool,
    pub(crate) datagrams: bool,
    pub(crate) reads_input: bool,
    pub(crate) tells_end: bool,
    pub(crate) only: Option<AddressFamily>,
    pub(crate) patience: Option<Duration>,
    /// The time to wait after the end of the input.
    pub(crate) linger: Option<Duration>,
    /// The host; `None` for a listener on all addresses.
    pub(crate) host: Option<String>,
    pub(crate) first: u16,
    pub(crate) last: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressFamily {
    V4,
    V6,
}

fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn parse_port(word: &[u8]) -> Result<u16, NcUsageError> {
    let n = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
    n.filter(|n| *n > 0).ok_or_else(|| NcUsageError::Port(lossy_text(word)))
}

fn parse_seconds(word: Option<&[u8]>) -> Result<Option<Duration>, NcUsageError> {
    let Some(word) = word else { return Ok(None) };
    // A negative time means for ever, as in the traditional netcat.
    let n = std::str::from_utf8(word).ok().and_then(|w| w.parse::<f64>().ok());
    let n = n.filter(|n| n.is_finite()).ok_or_else(|| NcUsageError::Time(lossy_text(word)))?;
    Ok(Duration::try_from_secs_f64(n).ok())
}

impl NcOptions {
    pub(crate) fn new(p: &ParsedOptions<NcFlag>) -> Result<NcOptions, NcUsageError> {
        let listen = p.has_option(NcFlag::Listen);
        let (host, ports) = match (p.operands.as_slice(), p.last_value(NcFlag::Port)) {
            ([], Some(port)) if listen => (None, port),
            ([host], Some(port)) if listen => (Some(lossy_text(host)), port),
            ([port], None) if listen => (None, port.as_slice()),
            // Without -l, the value of -p is the source port, which is ignored.
            ([host, port], _) => (Some(lossy_text(host)), port.as_slice()),
            ([] | [_], _) => return Err(NcUsageError::Missing),
            _ => return Err(NcUsageError::Extra),
        };
        let (first, last) = match ports.iter().position(|b| *b == b'-') {
            Some(at) if !listen => (parse_port(&ports[..at])?, parse_port(&ports[at + 1..])?),
            _ => (parse_port(ports)?, parse_port(ports)?),
        };
        let only = p
            .last_of(&[NcFlag::V4, NcFlag::V6])
            .map(|id| if id == NcFlag::V4 { AddressFamily::V4 } else { AddressFamily::V6 });
        let options = NcOptions {
            listen,
            keep: p.has_option(NcFlag::Keep),
            scan: p.has_option(NcFlag::Scan),
            verbose: p.has_option(NcFlag::Verbose),
            datagrams: p.has_option(NcFlag::Datagrams),
            reads_input: !p.has_option(NcFlag::NoInput),
            tells_end: p.has_option(NcFlag::SendEnd),
            only,
            patience: parse_seconds(p.last_value(NcFlag::Patience))?,
            linger: parse_seconds(p.last_value(NcFlag::Linger))?,
            host,
            first: first.min(last),
            last: first.max(last),
        };
        match () {
            () if listen && options.scan => Err(NcUsageError::ListenAndScan),
            () if options.keep && !listen => Err(NcUsageError::KeepWithoutListen),
            () => Ok(options),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<NcOptions, NcUsageError> {
        let words: Vec<Vec<u8>> = line.split_whitespace().map(|w| w.as_bytes().to_vec()).collect();
        NcOptions::new(&SPEC.parse(&words).unwrap())
    }

    #[test]
    fn ports_to_listen_on_are_given_in_several_ways() {
        for line in ["-l 8000", "-lp 8000", "-l -p 8000", "-lp8000"] {
            let o = parse(line).unwrap();
            assert_eq!((o.listen, o.host, o.first), (true, None, 8000), "{line}");
        }
        for line in ["-l localhost 8000", "-l -p 8000 localhost"] {
            assert_eq!(parse(line).unwrap().host.as_deref(), Some("localhost"), "{line}");
        }
    }

    #[test]
    fn ranges_times_and_mistakes_are_recognised() {
        let o = parse("-zv -w 1.5 localhost 20-10").unwrap();
        assert_eq!((o.first, o.last, o.patience), (10, 20, Some(Duration::from_millis(1500))));
        assert_eq!(parse("-q -1 h 1").unwrap().linger, None);
        assert_eq!(parse("-q 0 h 1").unwrap().linger, Some(Duration::ZERO));
        assert_eq!(parse("localhost"), Err(NcUsageError::Missing));
        assert_eq!(parse("localhost 0"), Err(NcUsageError::Port("0".into())));
        assert_eq!(parse("localhost 65536"), Err(NcUsageError::Port("65536".into())));
        assert_eq!(parse("localhost 1 2"), Err(NcUsageError::Extra));
        assert_eq!(parse("-lz 1"), Err(NcUsageError::ListenAndScan));
        assert_eq!(parse("-k localhost 1"), Err(NcUsageError::KeepWithoutListen));
    }
}
