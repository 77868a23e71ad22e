//! Between the streams and a connection.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use box_applet::{Ctx, Source};
use box_sys::net::{self, Wait};

use crate::options::Options;

/// Bytes that are read at once.
const PART: usize = 64 << 10;
/// Bytes that are written at once: a connection that can be written has room for these, so that no write
/// waits while there is something to be read.
const WRITE: usize = 16 << 10;

/// How it has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The other side has ended.
    Peer,
    /// Nothing came for as long as `-w` says, or `-q` after the input's end.
    Time,
    /// Whoever read the output has gone.
    Output,
}

/// What goes to the other side.
struct Outgoing {
    source: Source,
    pending: Vec<u8>,
    is_ended: bool,
    /// When it had ended and everything was sent.
    done: Option<Instant>,
}

impl Outgoing {
    fn new(ctx: &mut Ctx<'_>, reads_input: bool) -> Outgoing {
        ctx.stdin.give_back();
        let source = if reads_input { ctx.stdin.source().clone() } else { Source::Closed };
        let mut out = Outgoing { source, pending: Vec::new(), is_ended: false, done: None };
        if !matches!(out.source, Source::File(_)) {
            // In memory, or nothing: there is nothing to wait for.
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
            Source::File(f) if !self.is_ended && self.pending.is_empty() => Some(f.clone()),
            _ => None,
        }
    }

    /// Reads a part of the input.
    fn fill(&mut self, file: &File) -> io::Result<()> {
        let mut part = vec![0; PART];
        let n = again(|| (&mut { file }).read(&mut part))?;
        part.truncate(n);
        self.is_ended = n == 0;
        self.pending = part;
        Ok(())
    }

    /// Sends what fits.
    fn send(&mut self, mut socket: &File, at_most: usize) -> io::Result<()> {
        let n = self.pending.len().min(at_most);
        let sent = again(|| socket.write(&self.pending[..n]))?;
        self.pending.drain(..sent);
        Ok(())
    }
}

fn again<T>(mut what: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match what() {
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Copies both ways until one of the ends of [`End`].
pub(crate) fn copy(ctx: &mut Ctx<'_>, socket: &File, options: &Options) -> io::Result<End> {
    let mut out = Outgoing::new(ctx, options.reads_input);
    let mut part = vec![0; PART];
    loop {
        if out.is_ended && out.pending.is_empty() && out.done.is_none() {
            out.done = Some(Instant::now());
            // Datagrams have no end, and one that is gone already needs none.
            if !options.datagrams {
                let _ = net::finish(socket);
            }
        }
        let file = out.file();
        let mut files = vec![(socket, Wait::Read)];
        if !out.pending.is_empty() {
            files.push((socket, Wait::Write));
        } else if let Some(file) = &file {
            files.push((&**file, Wait::Read));
        }
        let ready = net::wait(&files, time_left(&out, options))?;
        if !ready.iter().any(|r| *r) {
            return Ok(End::Time);
        }
        if ready[0] {
            let n = match again(|| (&mut { socket }).read(&mut part)) {
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::ConnectionReset => 0,
                Err(e) => return Err(e),
            };
            if n == 0 && !options.datagrams {
                return Ok(End::Peer);
            }
            if ctx.stdout.write_all(&part[..n]).and_then(|()| ctx.stdout.flush()).is_err() {
                return Ok(End::Output);
            }
        }
        if ready.get(1) == Some(&true) {
            match &file {
                Some(file) => out.fill(file)?,
                None => {
                    // A datagram is one write.
                    let most = if options.datagrams { PART } else { WRITE };
                    match out.send(socket, most) {
                        Err(e) if e.kind() == ErrorKind::BrokenPipe => out.pending.clear(),
                        sent => sent?,
                    }
                }
            }
        }
    }
}

fn time_left(out: &Outgoing, options: &Options) -> Option<Duration> {
    let linger =
        options.linger.zip(out.done).map(|(time, since)| time.saturating_sub(since.elapsed()));
    match (linger, options.patience) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
