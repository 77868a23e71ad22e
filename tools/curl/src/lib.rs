//! `curl`: transfers by HTTP as curl 8 makes them (manual page curl(1)), through the host; and
//! `wget`.
//!
//! There is no TLS here. A request is handed to the host by the node `/.box/http`
//! (`box_sys::http`); the host judges it by the policy's rules and sends it. A request to the local
//! machine that no rule gives to the host, goes to the session's own servers, by a socket of its
//! loopback. Stages:
//!
//! | file | contents |
//! |---|---|
//! | `options`, `options/table` | the command line, as written: groups of settings, URLs and outputs |
//! | `config` | the same from config files |
//! | `data`, `form` | bodies: `-d` and its relatives, `-F` |
//! | `glob` | one URL that stands for many |
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
//! - Redirects are followed here and never by the host: so `-i`, `-v`, `-X`, cookies and long
//!   bodies are as with curl. The host judges each hop as a request of its own.
//! - A body is never whole in memory on its way in, nor on its way out of a file.
//! - No protection depends on decisions of the guest: the host checks names, addresses and headers.
//!
//! Not here: other protocols, proxies, client certificates, digest and NTLM, `-z`, `--limit-rate`.
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
