//! Copies between standard input, standard output and a connection.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use box_applet::{Ctx, InputSource};
use box_sys::net::{self, Wait};

use crate::options::NcOptions;

/// The maximum number of bytes that one read returns.
const PART: usize = 64 << 10;
/// The maximum number of bytes of one write. A connection that is ready for writing has room for
/// them, so no write blocks while there is something to read.
const WRITE: usize = 16 << 10;

/// The reason why copying ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CopyEnd {
    /// The other side has closed the connection.
    Peer,
    /// Nothing arrived for the time of `-w`, or for the time of `-q` after the input's end.
    Time,
    /// The reader of our output has closed it.
    Output,
}

/// The bytes for the other side.
struct Outgoing {
    source: InputSource,
    pending: Vec<u8>,
    is_ended: bool,
    /// The time at which the input had ended and everything was sent.
    done: Option<Instant>,
    /// Whether anything was sent.
    has_sent: bool,
}

impl Outgoing {
    fn new(ctx: &mut Ctx<'_>, reads_input: bool) -> Outgoing {
        ctx.stdin.give_back();
        let source = if reads_input { ctx.stdin.source().clone() } else { InputSource::Closed };
        let mut out =
            Outgoing { source, pending: Vec::new(), is_ended: false, done: None, has_sent: false };
        if !matches!(out.source, InputSource::File(_)) {
            // The input is in memory or empty, so reading it does not block.
            let mut all = Vec::new();
            if reads_input && ctx.stdin.read_to_end(&mut all).is_ok() {
                out.pending = all;
            }
            out.is_ended = true;
        }
        out
    }

    fn file(&self) -> Option<Rc<File>> {
        match &self.source {
            InputSource::File(f) if !self.is_ended && self.pending.is_empty() => Some(f.clone()),
            _ => None,
        }
    }

    /// Reads a part of the input.
    fn fill(&mut self, file: &File) -> io::Result<()> {
        let mut part = vec![0; PART];
        let n = retry_interrupted(|| (&mut { file }).read(&mut part))?;
        part.truncate(n);
        self.is_ended = n == 0;
        self.pending = part;
        Ok(())
    }

    /// Sends as much as the connection has room for.
    fn send(&mut self, mut socket: &File, at_most: usize) -> io::Result<()> {
        let n = self.pending.len().min(at_most);
        let sent = retry_interrupted(|| socket.write(&self.pending[..n]))?;
        self.pending.drain(..sent);
        self.has_sent |= sent > 0;
        Ok(())
    }
}

fn retry_interrupted<T>(mut what: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match what() {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Copies in both directions until one of the reasons in [`CopyEnd`] occurs.
pub(crate) fn copy_both_ways(
    ctx: &mut Ctx<'_>,
    socket: &File,
    options: &NcOptions,
) -> io::Result<CopyEnd> {
    let mut out = Outgoing::new(ctx, options.reads_input);
    let mut part = vec![0; PART];
    let mut peer_ended = false;
    loop {
        if out.is_ended && out.pending.is_empty() && out.done.is_none() {
            out.done = Some(Instant::now());
            // Datagrams have no end. A listener that sent nothing keeps the connection open, so
            // that the other side has time to send.
            if !options.datagrams && (!options.listen || options.tells_end || out.has_sent) {
                // The peer may be gone already.
                let _ = net::finish(socket);
            }
        }
        let file = out.file();
        let mut files = Vec::new();
        if !out.pending.is_empty() {
            files.push((socket, Wait::Write));
        } else if let Some(file) = &file {
            files.push((&**file, Wait::Read));
        }
        let outgoing = files.len();
        if !peer_ended {
            files.push((socket, Wait::Read));
        } else if outgoing == 0 {
            return Ok(CopyEnd::Peer);
        }
        // A peer that has stopped sending may still want the input that has already arrived.
        let time = if peer_ended && file.is_some() {
            Some(Duration::ZERO)
        } else {
            time_left(&out, options)
        };
        let ready = net::wait(&files, time)?;
        if !ready.iter().any(|r| *r) {
            return Ok(if peer_ended { CopyEnd::Peer } else { CopyEnd::Time });
        }
        if outgoing == 1 && ready[0] {
            match &file {
                Some(file) => out.fill(file)?,
                None => {
                    // A datagram must be sent in one write.
                    let most = if options.datagrams { PART } else { WRITE };
                    match out.send(socket, most) {
                        Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(CopyEnd::Peer),
                        sent => sent?,
                    }
                }
            }
        }
        if ready.get(outgoing) == Some(&true) {
            let n = match retry_interrupted(|| (&mut { socket }).read(&mut part)) {
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::ConnectionReset => return Ok(CopyEnd::Peer),
                Err(e) => return Err(e),
            };
            peer_ended = n == 0 && !options.datagrams;
            if ctx.stdout.write_all(&part[..n]).and_then(|()| ctx.stdout.flush()).is_err() {
                return Ok(CopyEnd::Output);
            }
        }
    }
}

fn time_left(out: &Outgoing, options: &NcOptions) -> Option<Duration> {
    let linger =
        options.linger.zip(out.done).map(|(time, since)| time.saturating_sub(since.elapsed()));
    match (linger, options.patience) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
