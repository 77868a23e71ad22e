//! Connects to, listens on, or scans ports.

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use box_applet::{Ctx, Ended, Exit};
use box_sys::error_text;
use box_sys::net::{self, NetSocketKind, Wait};

use crate::copy::{CopyEnd, copy_both_ways};
use crate::options::{AddressFamily, NcOptions, SPEC};

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let parsed = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let options = match NcOptions::new(&parsed) {
        Ok(o) => o,
        Err(why) => {
            ctx.error(why);
            return Ok(Exit::FAILURE);
        }
    };
    let exit =
        if options.listen { listen_and_copy(ctx, &options) } else { connect_all(ctx, &options) };
    Ok(ctx.finish(Ok(exit)))
}

fn socket_kind(options: &NcOptions) -> NetSocketKind {
    if options.datagrams { NetSocketKind::Datagram } else { NetSocketKind::Stream }
}

/// Returns the addresses of a host name, without those that `-4` or `-6` excludes; reports an error
/// if there are none.
fn resolve_addresses(ctx: &mut Ctx<'_>, host: &str, options: &NcOptions) -> Vec<IpAddr> {
    let mut all = net::resolve_name(host).unwrap_or_default();
    all.retain(|ip| match options.only {
        None => true,
        Some(AddressFamily::V4) => ip.is_ipv4(),
        Some(AddressFamily::V6) => ip.is_ipv6(),
    });
    if all.is_empty() {
        ctx.error(format_args!(
            "getaddrinfo for host \"{host}\" port {}: no network inside the sandbox",
            options.first
        ));
    }
    all
}

fn connect_all(ctx: &mut Ctx<'_>, options: &NcOptions) -> Exit {
    let host = options.host.clone().unwrap_or_default();
    let all = resolve_addresses(ctx, &host, options);
    let mut exit = Exit::FAILURE;
    for port in options.first..=options.last {
        let Some(socket) = connect_any(ctx, options, &host, &all, port) else { continue };
        exit = Exit::SUCCESS;
        if !options.scan {
            return use_socket(ctx, &socket, options);
        }
    }
    exit
}

/// Connects to the first of the addresses that accepts, and reports the result.
fn connect_any(
    ctx: &mut Ctx<'_>,
    options: &NcOptions,
    host: &str,
    all: &[IpAddr],
    port: u16,
) -> Option<File> {
    let name = if options.datagrams { "udp" } else { "tcp" };
    let mut failure = None;
    for ip in all {
        match net::connect(SocketAddr::new(*ip, port), socket_kind(options), options.patience) {
            Ok(socket) => {
                if options.verbose {
                    let line =
                        format!("Connection to {host} ({ip}) {port} port [{name}/*] succeeded!");
                    print_line(ctx, &line);
                }
                return Some(socket);
            }
            Err(e) => failure = failure.or(Some((*ip, e))),
        }
    }
    if let Some((ip, e)) = failure
        && (options.verbose || !options.scan)
    {
        let text = error_text(&e);
        ctx.error(format_args!("connect to {host} ({ip}) port {port} ({name}) failed: {text}"));
    }
    None
}

/// Writes a line to standard error, without the program's name before it, as netcat does for these
/// messages.
fn print_line(ctx: &mut Ctx<'_>, line: &str) {
    use std::io::Write;
    let _ = ctx.stderr.write_all(format!("{line}\n").as_bytes());
    let _ = ctx.stderr.flush();
}

fn use_socket(ctx: &mut Ctx<'_>, socket: &File, options: &NcOptions) -> Exit {
    match copy_both_ways(ctx, socket, options) {
        Ok(CopyEnd::Peer | CopyEnd::Time) => Exit::SUCCESS,
        Ok(CopyEnd::Output) => Exit::SIGPIPE,
        Err(e) => {
            let text = error_text(&e);
            ctx.error(text);
            Exit::FAILURE
        }
    }
}

fn listen_and_copy(ctx: &mut Ctx<'_>, options: &NcOptions) -> Exit {
    let at = match &options.host {
        Some(host) => resolve_addresses(ctx, host, options).first().copied(),
        None if options.only == Some(AddressFamily::V6) => Some(Ipv6Addr::UNSPECIFIED.into()),
        None => Some(Ipv4Addr::UNSPECIFIED.into()),
    };
    let Some(at) = at else { return Exit::FAILURE };
    let listener = match net::listen(SocketAddr::new(at, options.first), socket_kind(options)) {
        Ok(listener) => listener,
        Err(e) => {
            let text = error_text(&e);
            ctx.error(text);
            return Exit::FAILURE;
        }
    };
    if options.verbose {
        print_line(ctx, &format!("Listening on {at} {}", options.first));
    }
    loop {
        let (socket, from) = match next(&listener, options) {
            Ok(met) => met,
            Err(e) => {
                let text = error_text(&e);
                ctx.error(text);
                return Exit::FAILURE;
            }
        };
        if options.verbose {
            print_line(ctx, &format!("Connection received on {} {}", from.ip(), from.port()));
        }
        let exit = use_socket(ctx, socket.as_ref().unwrap_or(&listener), options);
        if !options.keep || exit != Exit::SUCCESS {
            return exit;
        }
    }
}

/// Waits for the next connection and returns its socket and its peer. For datagrams it returns the
/// next sender, and no socket, because the listener's is used.
fn next(listener: &File, options: &NcOptions) -> io::Result<(Option<File>, SocketAddr)> {
    if options.patience.is_some() && !net::wait(&[(listener, Wait::Read)], options.patience)?[0] {
        return Err(io::ErrorKind::TimedOut.into());
    }
    if options.datagrams {
        return net::meet(listener).map(|from| (None, from));
    }
    net::accept(listener).map(|(socket, from)| (Some(socket), from))
}
