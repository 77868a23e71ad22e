//! A bounded pipe of byte chunks between a thread that may block and a task that may not, and a
//! slot for one value for which a thread waits.
//!
//! Tokio's channels are not used because their blocking ends panic inside an embedder's runtime.

use crate::error::RequestError;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Number of buffered bytes at which a pipe's writer has to wait.
const CAPACITY: usize = 256 << 10;
/// Maximum length of a chunk.
pub(crate) const CHUNK: usize = 64 << 10;

#[derive(Debug, Default)]
struct BodyPipeState {
    chunks: VecDeque<Bytes>,
    held: usize,
    /// The result, once the writer has ended.
    end: Option<Result<(), RequestError>>,
    /// Whether the reader takes no more.
    closed: bool,
    waker: Option<Waker>,
}

/// One direction. Each end is used by one thread or task at a time.
#[derive(Debug, Default)]
pub(crate) struct BodyPipe {
    state: Mutex<BodyPipeState>,
    changed: Condvar,
}

impl BodyPipe {
    fn lock_state(&self) -> MutexGuard<'_, BodyPipeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_change(&self, mut state: MutexGuard<'_, BodyPipeState>) {
        let waker = state.waker.take();
        drop(state);
        self.changed.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ends the writing with a result. Later calls have no effect.
    pub(crate) fn end_writing(&self, how: Result<(), RequestError>) {
        let mut state = self.lock_state();
        if state.end.is_none() {
            state.end = Some(how);
        }
        self.notify_change(state);
    }

    /// Ends the reading, which releases waiting writers at once.
    pub(crate) fn close_reading(&self) {
        let mut state = self.lock_state();
        state.closed = true;
        state.chunks.clear();
        state.held = 0;
        self.notify_change(state);
    }

    /// Writes a chunk after waiting for room. Returns false if the reader takes no more.
    pub(crate) fn write_blocking(&self, bytes: &[u8]) -> bool {
        for chunk in bytes.chunks(CHUNK) {
            let mut state = self.lock_state();
            while state.held >= CAPACITY && !state.closed {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.closed {
                return false;
            }
            state.held += chunk.len();
            state.chunks.push_back(Bytes::copy_from_slice(chunk));
            self.notify_change(state);
        }
        true
    }

    /// Returns the next chunk; `None` at the end.
    pub(crate) fn read_blocking(&self) -> Result<Option<Bytes>, RequestError> {
        let mut state = self.lock_state();
        loop {
            if let Some(chunk) = state.chunks.pop_front() {
                state.held -= chunk.len();
                self.notify_change(state);
                return Ok(Some(chunk));
            }
            match &state.end {
                Some(Ok(())) => return Ok(None),
                Some(Err(e)) => return Err(e.clone()),
                None if state.closed => return Err(RequestError::Cancelled),
                None => {}
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads like [`BodyPipe::read_blocking`], for a task.
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, RequestError>> {
        let mut state = self.lock_state();
        if let Some(chunk) = state.chunks.pop_front() {
            state.held -= chunk.len();
            self.notify_change(state);
            return Poll::Ready(Ok(Some(chunk)));
        }
        match &state.end {
            Some(Ok(())) => Poll::Ready(Ok(None)),
            Some(Err(e)) => Poll::Ready(Err(e.clone())),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Writes from a task, and waits for room before each chunk.
    pub(crate) async fn write(&self, mut bytes: Bytes) -> Result<(), RequestError> {
        while !bytes.is_empty() {
            std::future::poll_fn(|cx| self.poll_room(cx)).await?;
            let chunk = bytes.split_to(bytes.len().min(CHUNK));
            let mut state = self.lock_state();
            state.held += chunk.len();
            state.chunks.push_back(chunk);
            self.notify_change(state);
        }
        Ok(())
    }

    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<Result<(), RequestError>> {
        let mut state = self.lock_state();
        if state.closed {
            return Poll::Ready(Err(RequestError::Cancelled));
        }
        if state.held < CAPACITY {
            return Poll::Ready(Ok(()));
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// A slot for a value that is set once and for which threads wait.
#[derive(Debug)]
pub(crate) struct OnceSlot<T> {
    value: Mutex<Option<T>>,
    put: Condvar,
}

impl<T> Default for OnceSlot<T> {
    fn default() -> Self {
        Self { value: Mutex::new(None), put: Condvar::new() }
    }
}

impl<T: Clone> OnceSlot<T> {
    /// Sets the value; the first one stays.
    pub(crate) fn put_value(&self, value: T) {
        let mut place = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() {
            *place = Some(value);
        }
        drop(place);
        self.put.notify_all();
    }

    pub(crate) fn wait_value(&self) -> T {
        let mut place = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(value) = &*place {
                return value.clone();
            }
            place = self.put.wait(place).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn get(&self) -> Option<T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_writer_waits_for_its_reader() {
        let pipe = Arc::new(BodyPipe::default());
        let writer = {
            let pipe = Arc::clone(&pipe);
            std::thread::spawn(move || {
                let all = pipe.write_blocking(&vec![7; 4 << 20]);
                pipe.end_writing(Ok(()));
                all
            })
        };
        let mut total = 0;
        while let Some(chunk) = pipe.read_blocking().unwrap() {
            assert!(pipe.lock_state().held <= CAPACITY + CHUNK);
            total += chunk.len();
        }
        assert_eq!(total, 4 << 20);
        assert!(writer.join().unwrap());
    }

    #[test]
    fn a_closed_pipe_lets_its_writer_go() {
        let pipe = Arc::new(BodyPipe::default());
        let writer = {
            let pipe = Arc::clone(&pipe);
            std::thread::spawn(move || pipe.write_blocking(&vec![7; 4 << 20]))
        };
        pipe.read_blocking().unwrap();
        pipe.close_reading();
        assert!(!writer.join().unwrap());
        assert_eq!(pipe.read_blocking(), Err(RequestError::Cancelled));
    }

    #[test]
    fn what_was_written_is_read_before_the_error() {
        let pipe = BodyPipe::default();
        assert!(pipe.write_blocking(b"x"));
        pipe.end_writing(Err(RequestError::Partial));
        pipe.end_writing(Ok(()));
        assert_eq!(pipe.read_blocking(), Ok(Some(Bytes::from_static(b"x"))));
        assert_eq!(pipe.read_blocking(), Err(RequestError::Partial));
    }
}
