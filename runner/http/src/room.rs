//! Room for connections: one that is idle makes room for a new one.

use http_body::{Frame, SizeHint};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// All connections, up to a maximum number.
pub struct ConnectionRoom {
    most: usize,
    places: Mutex<RoomPlaces>,
    /// Notified when a connection has ended, or has no request any more.
    changed: Notify,
}

#[derive(Default)]
struct RoomPlaces {
    next: u64,
    all: HashMap<u64, Arc<PlaceState>>,
}

struct PlaceState {
    /// Requests whose responses are not sent yet.
    requests: AtomicUsize,
    used: Mutex<Instant>,
    end: CancellationToken,
}

/// The place of a connection, released when it is dropped.
pub struct ConnectionPlace {
    room: Arc<ConnectionRoom>,
    number: u64,
    state: Arc<PlaceState>,
}

impl ConnectionRoom {
    /// Makes room for at most `most` connections.
    pub fn new(most: usize) -> Arc<ConnectionRoom> {
        Arc::new(ConnectionRoom { most, places: Mutex::default(), changed: Notify::new() })
    }

    /// Takes a place. If there is none, ends the least recently used of the connections without a
    /// request; if all have requests, waits.
    pub async fn enter(self: &Arc<ConnectionRoom>) -> ConnectionPlace {
        loop {
            let changed = self.changed.notified();
            if let Some(place) = self.try_enter() {
                return place;
            }
            changed.await;
        }
    }

    fn try_enter(self: &Arc<ConnectionRoom>) -> Option<ConnectionPlace> {
        let mut places = self.lock_places();
        if places.all.len() >= self.most {
            let idle = places.all.iter().filter(|(_, p)| p.requests.load(Ordering::Acquire) == 0);
            let (number, state) = idle.min_by_key(|(_, p)| p.last_used())?;
            let number = *number;
            state.end.cancel();
            places.all.remove(&number);
        }
        places.next += 1;
        let number = places.next;
        let state = Arc::new(PlaceState {
            requests: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
            end: CancellationToken::new(),
        });
        places.all.insert(number, state.clone());
        Some(ConnectionPlace { room: self.clone(), number, state })
    }

    fn lock_places(&self) -> MutexGuard<'_, RoomPlaces> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlaceState {
    fn last_used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionPlace {
    /// Returns the token that ends the connection.
    pub fn ending_token(&self) -> CancellationToken {
        self.state.end.clone()
    }

    /// Counts a request until its response is sent.
    pub fn begin_request(&self) -> PlaceRequest {
        self.state.requests.fetch_add(1, Ordering::AcqRel);
        PlaceRequest { room: self.room.clone(), state: self.state.clone() }
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.room.lock_places().all.remove(&self.number);
        self.room.changed.notify_one();
    }
}

/// A request of a connection.
pub struct PlaceRequest {
    room: Arc<ConnectionRoom>,
    state: Arc<PlaceState>,
}

impl Drop for PlaceRequest {
    fn drop(&mut self) {
        *self.state.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.state.requests.fetch_sub(1, Ordering::AcqRel);
        self.room.changed.notify_one();
    }
}

/// A response's body; its request is counted until it is sent.
pub struct CountedBody {
    body: axum::body::Body,
    _request: PlaceRequest,
}

impl CountedBody {
    /// Makes the body of a request's response.
    pub fn new(body: axum::body::Body, request: PlaceRequest) -> CountedBody {
        CountedBody { body, _request: request }
    }
}

impl http_body::Body for CountedBody {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<bytes::Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn the_connection_that_is_idle_longest_makes_room() {
        let room = ConnectionRoom::new(2);
        let (a, b) = (room.enter().await, room.enter().await);
        // This connection was used later than the other one.
        drop(a.begin_request());
        let c = room.enter().await;
        assert!(b.ending_token().is_cancelled() && !a.ending_token().is_cancelled());
        // A connection that was ended does not release its place a second time.
        drop(b);
        let (asks_a, asks_c) = (a.begin_request(), c.begin_request());
        let soon = Duration::from_millis(50);
        assert!(tokio::time::timeout(soon, room.enter()).await.is_err());
        drop(asks_c);
        let d = tokio::time::timeout(Duration::from_secs(60), room.enter()).await.unwrap();
        assert!(c.ending_token().is_cancelled() && !a.ending_token().is_cancelled());
        drop((asks_a, d));
    }
}
