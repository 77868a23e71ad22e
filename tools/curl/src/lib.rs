//! `curl` and `wget`: HTTP transfers through the host. `curl` follows curl 8 (manual page curl(1)).
//!
//! This crate contains no TLS. It passes a request to the host through the node `/.box/http`; the
//! host checks the request against the policy's rules and sends it. A request to the local machine
//! goes to the session's own servers by a socket of its loopback, unless a rule lets the host send
//! it. Files:
//!
//! | file | contents |
//! |---|---|
//! | `options`, `options/table` | the command line, as written: groups of settings, URLs and outputs |
//! | `config` | the same options from config files |
//! | `data`, `form` | bodies: `-d` and similar options, `-F` |
//! | `glob` | one pattern that stands for many URLs |
//! | `url` | URLs taken apart and joined |
//! | `request` | method and headers of one hop |
//! | `cookies` | the jar: Netscape files, `Set-Cookie` |
//! | `world` | the host, as a trait, so that tests need none |
//! | `loopback` | requests to the session's own servers |
//! | `exchange` | one request and its response |
//! | `transfer` | one URL: redirects, retries, the exit status |
//! | `output`, `decode`, `head` | where a body goes, decoded; a response's head as text |
//! | `write_out`, `progress` | `-w`; the meter |
//! | `run` | all of it |
//! | `wget` | GNU's wget, over the same requests |
//!
//! # Invariants
//! - The guest follows redirects, never the host, so that `-i`, `-v`, `-X`, cookies and long bodies
//!   work as in curl. The host checks each hop as a separate request.
//! - A received body is never held in memory as a whole, and neither is a body that is sent from a
//!   file.
//! - No protection depends on decisions of the guest: the host checks names, addresses and headers.
//!
//! Not supported: other protocols, proxies, client certificates, digest and NTLM, `-z`,
//! `--limit-rate`.
#![forbid(unsafe_code)]

mod config;
mod cookies;
mod data;
mod decode;
mod error;
mod exchange;
mod form;
mod glob;
mod head;
mod loopback;
mod options;
mod output;
mod progress;
mod request;
mod run;
mod transfer;
mod url;
mod wget;
mod world;
mod write_out;

#[cfg(test)]
mod tests;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::new("curl", run::run, "fetch URLs, or send data to them"),
    Applet::new("wget", wget::run, "fetch files"),
];
