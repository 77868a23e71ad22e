//! The outgoing body of a request: read from the guest's pipe, counted, and kept while it is short,
//! for redirects that need it again.

use crate::error::{BridgeLimit, RequestError};
use crate::limits::{BridgeLimits, RequestCounters};
use crate::message::BodyLength;
use crate::transport::pipe::BodyPipe;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::sync::Notify;

/// The source of a body, independent of the number of times that it is sent.
pub(crate) struct BodySource {
    pipe: Arc<BodyPipe>,
    counters: Arc<RequestCounters>,
    limits: Arc<BridgeLimits>,
    state: Mutex<BodyState>,
}

#[derive(Default)]
struct BodyState {
    kept: Vec<Bytes>,
    /// Number of bytes received from the guest.
    taken: u64,
    ended: bool,
    /// Whether more was received than is kept.
    lost: bool,
    /// The number of the current sending. Earlier ones get no more bytes, even if their connection
    /// is still open.
    sending: u64,
}

/// One sending of a body.
pub(crate) struct BodySending {
    source: Arc<BodySource>,
    number: u64,
    length: BodyLength,
    at: usize,
    sent: Arc<AtomicU64>,
    /// Notified when the last byte has been given to the connection.
    done: Arc<Notify>,
}

/// A reading of a body's beginning, whose chunks are kept for the sendings.
pub(crate) struct BodyReading {
    source: Arc<BodySource>,
    at: usize,
}

impl BodyReading {
    /// Returns the next chunk; `None` at the end. The caller limits how much is read, because all
    /// of it is kept.
    pub(crate) fn poll_chunk(
        &mut self,
        length: BodyLength,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, RequestError>> {
        let mut state = self.source.lock_state();
        if self.at == state.kept.len() && !state.ended {
            let chunk = ready!(self.source.poll_pipe(&mut state, length, cx))?;
            state.kept.extend(chunk);
        }
        let chunk = state.kept.get(self.at).cloned();
        self.at += usize::from(chunk.is_some());
        Poll::Ready(Ok(chunk))
    }
}

impl BodySource {
    pub(crate) fn new(
        pipe: Arc<BodyPipe>,
        counters: Arc<RequestCounters>,
        limits: Arc<BridgeLimits>,
    ) -> Arc<Self> {
        Arc::new(Self { pipe, counters, limits, state: Mutex::default() })
    }

    fn lock_state(&self) -> MutexGuard<'_, BodyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts reading the body from its beginning without sending it, and cuts off the previous
    /// sending.
    pub(crate) fn begin_reading(self: &Arc<Self>) -> Result<BodyReading, RequestError> {
        let mut state = self.lock_state();
        if state.lost {
            return Err(RequestError::Rewind(self.limits.kept_body));
        }
        state.sending += 1;
        Ok(BodyReading { source: Arc::clone(self), at: 0 })
    }

    /// Takes the next chunk out of the guest's pipe, and counts it.
    fn poll_pipe(
        &self,
        state: &mut BodyState,
        length: BodyLength,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, RequestError>> {
        let Some(chunk) = ready!(self.pipe.poll_read(cx))? else {
            state.ended = true;
            let whole = match length {
                BodyLength::Bytes(n) => state.taken == n,
                _ => true,
            };
            return Poll::Ready(if whole { Ok(None) } else { Err(RequestError::Length) });
        };
        state.taken += chunk.len() as u64;
        if state.taken > self.limits.upload {
            return Poll::Ready(Err(RequestError::Limit(BridgeLimit::Upload)));
        }
        if matches!(length, BodyLength::Bytes(n) if state.taken > n) {
            return Poll::Ready(Err(RequestError::Length));
        }
        Poll::Ready(Ok(Some(chunk)))
    }

    /// Starts sending the body from its beginning, and cuts off the previous sending.
    pub(crate) fn begin_sending(
        self: &Arc<Self>,
        length: BodyLength,
        sent: Arc<AtomicU64>,
        done: Arc<Notify>,
    ) -> Result<BodySending, RequestError> {
        let mut state = self.lock_state();
        if length == BodyLength::None {
            done.notify_one();
        } else if state.lost {
            return Err(RequestError::Rewind(self.limits.kept_body));
        }
        state.sending += 1;
        Ok(BodySending {
            source: Arc::clone(self),
            number: state.sending,
            length,
            at: 0,
            sent,
            done,
        })
    }
}

impl BodySending {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, RequestError>> {
        let source = Arc::clone(&self.source);
        let mut state = source.lock_state();
        if state.sending != self.number {
            return Poll::Ready(Err(RequestError::Cancelled));
        }
        if let Some(chunk) = state.kept.get(self.at) {
            self.at += 1;
            return Poll::Ready(Ok(Some(chunk.clone())));
        }
        if state.ended {
            return Poll::Ready(Ok(None));
        }
        let Some(chunk) = ready!(source.poll_pipe(&mut state, self.length, cx))? else {
            return Poll::Ready(Ok(None));
        };
        if state.taken > source.limits.kept_body {
            state.lost = true;
            state.kept = Vec::new();
        }
        if !state.lost {
            state.kept.push(chunk.clone());
            self.at = state.kept.len();
        }
        Poll::Ready(Ok(Some(chunk)))
    }
}

impl http_body::Body for BodySending {
    type Data = Bytes;
    type Error = RequestError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, RequestError>>> {
        if self.length == BodyLength::None {
            return Poll::Ready(None);
        }
        let chunk = match ready!(self.poll_chunk(cx)) {
            Ok(Some(chunk)) => chunk,
            Ok(None) => {
                self.done.notify_one();
                return Poll::Ready(None);
            }
            Err(e) => return Poll::Ready(Some(Err(e))),
        };
        let length = chunk.len() as u64;
        if let Err(e) = self.source.counters.count_sent(length, &self.source.limits) {
            return Poll::Ready(Some(Err(e)));
        }
        let sent = self.sent.fetch_add(length, Relaxed) + length;
        // Hyper does not poll a body of known length for its end.
        if matches!(self.length, BodyLength::Bytes(n) if sent >= n) {
            self.done.notify_one();
        }
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.length, BodyLength::None | BodyLength::Bytes(0))
    }

    fn size_hint(&self) -> SizeHint {
        match self.length {
            BodyLength::None => SizeHint::with_exact(0),
            BodyLength::Bytes(n) => SizeHint::with_exact(n),
            BodyLength::Unknown => SizeHint::default(),
        }
    }
}
