//! Passes bytes between blocking threads and asynchronous tasks.
//!
//! There is a fixed number of threads that wait for clients, so a client that neither sends nor
//! reads must not occupy one: [`ClientPatience`] bounds the time for which a transfer waits.

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures_util::StreamExt;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The maximum number of pieces in a channel.
const WAITING: usize = 4;

/// The total time for which a transfer waits for its client, in addition to the time that its bytes
/// earn.
const GRACE: Duration = Duration::from_secs(30);
/// The number of transferred bytes that earn another second. A transfer that stays slower is ended.
const SLOWEST: u64 = 1024;

/// The time for which a transfer waits for its client.
#[derive(Debug)]
struct ClientPatience {
    grace: Duration,
    waited: Duration,
    bytes: u64,
}

impl ClientPatience {
    fn new(grace: Duration) -> ClientPatience {
        ClientPatience { grace, waited: Duration::ZERO, bytes: 0 }
    }

    fn time_left(&self) -> Duration {
        let earned = Duration::from_millis(self.bytes.saturating_mul(1000) / SLOWEST);
        self.grace.saturating_add(earned).saturating_sub(self.waited)
    }

    /// Waits for the client on a blocking thread of the runtime.
    ///
    /// # Errors
    /// TimedOut if the client was too slow.
    fn wait_for<T>(&mut self, step: impl Future<Output = T>) -> Result<T> {
        let (start, left) = (Instant::now(), self.time_left());
        let done = Handle::current().block_on(async { tokio::time::timeout(left, step).await });
        self.waited += start.elapsed();
        done.map_err(|_| Error::new(ErrorKind::TimedOut, "the client is too slow"))
    }
}

/// Returns a body and a writer for a thread. Writing fails when the body is no longer read.
pub fn writer_body<G: Send + 'static>(guard: G) -> (BodyWriter, Body) {
    let (to, from) = channel::<Result<Bytes>>(WAITING);
    let writer = BodyWriter { to, patience: ClientPatience::new(GRACE) };
    (writer, Body::from_stream(channel_stream(from, guard)))
}

/// Returns the items of a channel as a stream, which holds `guard` until it is dropped.
pub fn channel_stream<T, G>(from: Receiver<T>, guard: G) -> impl futures_util::Stream<Item = T> {
    futures_util::stream::unfold((from, guard), |(mut from, guard)| async move {
        Some((from.recv().await?, (from, guard)))
    })
}

/// A writer to a body.
pub struct BodyWriter {
    to: Sender<Result<Bytes>>,
    patience: ClientPatience,
}

impl BodyWriter {
    /// Aborts the body, so that the reader knows that it is incomplete.
    pub fn fail(mut self, why: impl std::fmt::Display) {
        let end = self.to.send(Err(Error::other(why.to_string())));
        let _ = self.patience.wait_for(end);
    }
}

impl Write for BodyWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let piece = self.to.send(Ok(Bytes::copy_from_slice(bytes)));
        self.patience.wait_for(piece)?.map_err(|_| Error::from(ErrorKind::BrokenPipe))?;
        self.patience.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A body that a thread reads.
pub struct BodyReader {
    from: Receiver<Result<Bytes>>,
    rest: Bytes,
    patience: ClientPatience,
}

/// Returns a reader of a body. `take` is called with the number of received bytes, and its error
/// ends the body.
pub fn read(body: Body, take: impl Fn(u64) -> Result<()> + Send + Sync + 'static) -> BodyReader {
    let (to, from) = channel(WAITING);
    tokio::spawn(feed_body(body.into_data_stream(), to, Arc::new(take)));
    BodyReader { from, rest: Bytes::new(), patience: ClientPatience::new(GRACE) }
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
            let Some(piece) = self.patience.wait_for(self.from.recv())? else { return Ok(0) };
            self.rest = piece?;
            self.patience.bytes += self.rest.len() as u64;
        }
        let n = self.rest.len().min(out.len());
        out[..n].copy_from_slice(&self.rest.split_to(n));
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_earn_time() {
        let mut patience = ClientPatience::new(Duration::from_secs(30));
        patience.waited = Duration::from_secs(40);
        assert_eq!(patience.time_left(), Duration::ZERO);
        patience.bytes = 20 * SLOWEST;
        assert_eq!(patience.time_left(), Duration::from_secs(10));
    }

    #[tokio::test]
    async fn a_client_that_sends_no_more_ends_its_transfer() {
        let (to, from) = channel(WAITING);
        let sent: Result<Bytes> = Ok(Bytes::from_static(b"begun"));
        to.send(sent).await.unwrap();
        let patience = ClientPatience::new(Duration::from_millis(20));
        let mut reader = BodyReader { from, rest: Bytes::new(), patience };
        let read = tokio::task::spawn_blocking(move || {
            let mut all = Vec::new();
            let end = reader.read_to_end(&mut all);
            (all, end.map_err(|e| e.kind()))
        });
        // The sender stays open.
        assert_eq!(read.await.unwrap(), (b"begun".to_vec(), Err(ErrorKind::TimedOut)));
        drop(to);
    }

    #[tokio::test]
    async fn a_client_that_reads_no_more_ends_its_transfer() {
        let (to, from) = channel(WAITING);
        let mut writer =
            BodyWriter { to, patience: ClientPatience::new(Duration::from_millis(20)) };
        let written = tokio::task::spawn_blocking(move || {
            (0..=WAITING).try_for_each(|_| writer.write(b"x").map(drop)).map_err(|e| e.kind())
        });
        assert_eq!(written.await.unwrap(), Err(ErrorKind::TimedOut));
        drop(from);
    }
}
