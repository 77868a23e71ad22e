//! Passes bytes between blocking threads and asynchronous tasks.

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures_util::StreamExt;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The most pieces in a channel.
const WAITING: usize = 4;

/// Returns a body and a writer for a thread. Writing fails when the body is no longer read.
pub fn writer_body<G: Send + 'static>(guard: G) -> (BodyWriter, Body) {
    let (to, from) = channel::<Result<Bytes>>(WAITING);
    (BodyWriter(to), Body::from_stream(channel_stream(from, guard)))
}

/// Returns the items of a channel as a stream, which holds `guard` until it is dropped.
pub fn channel_stream<T, G>(from: Receiver<T>, guard: G) -> impl futures_util::Stream<Item = T> {
    futures_util::stream::unfold((from, guard), |(mut from, guard)| async move {
        Some((from.recv().await?, (from, guard)))
    })
}

/// A writer to a body.
pub struct BodyWriter(Sender<Result<Bytes>>);

impl BodyWriter {
    /// Aborts the body, so that the reader knows that it is incomplete.
    pub fn fail(self, why: impl std::fmt::Display) {
        let _ = self.0.blocking_send(Err(Error::other(why.to_string())));
    }
}

impl Write for BodyWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let sent = self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map(|()| bytes.len()).map_err(|_| ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A body that a thread reads.
pub struct BodyReader {
    from: Receiver<Result<Bytes>>,
    rest: Bytes,
}

/// Returns a reader of a body. `take` is called with the number of received bytes, and its error
/// ends the body.
pub fn read(body: Body, take: impl Fn(u64) -> Result<()> + Send + Sync + 'static) -> BodyReader {
    let (to, from) = channel(WAITING);
    tokio::spawn(feed_body(body.into_data_stream(), to, Arc::new(take)));
    BodyReader { from, rest: Bytes::new() }
}

async fn feed_body(
    mut body: BodyDataStream,
    to: Sender<Result<Bytes>>,
    take: Arc<dyn Fn(u64) -> Result<()> + Send + Sync>,
) {
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(Error::other);
        let piece = piece.and_then(|piece| take(piece.len() as u64).map(|()| piece));
        let is_end = piece.is_err();
        if to.send(piece).await.is_err() || is_end {
            return;
        }
    }
}

impl Read for BodyReader {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        while self.rest.is_empty() {
            match self.from.blocking_recv() {
                None => return Ok(0),
                Some(piece) => self.rest = piece?,
            }
        }
        let n = self.rest.len().min(out.len());
        out[..n].copy_from_slice(&self.rest.split_to(n));
        Ok(n)
    }
}
