//! The worker's end of guests' requests at nodes that the parent serves.
//!
//! A request is sent to the parent as a [`WorkerReply::Ask`] with a number; answers arrive over the
//! control socket in any order. [`WorkerReply::GaveUp`] says that the guest no longer waits for an
//! answer; the parent sends it nevertheless.

use super::message::WorkerReply;
use serde_bytes::ByteBuf;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{AnswerSlot, Errno, Service};
use wasibox_worker::channel::ChannelSender;

/// Maximum number of unanswered requests at a time.
pub const MOST: usize = 64;

/// A handle that passes requests on. Clones refer to the same state.
#[derive(Clone)]
pub struct HostAsks {
    sender: Arc<ChannelSender>,
    state: Arc<Mutex<AskState>>,
}

#[derive(Default)]
struct AskState {
    /// The nodes that the parent serves.
    names: Vec<String>,
    /// The number of calls and of processes beside them, because only while there are any does the
    /// parent accept requests.
    open: usize,
    next: u64,
    waiting: HashMap<u64, AnswerSlot>,
}

impl HostAsks {
    /// Makes a handle that sends requests through `sender`; the parent serves no nodes yet.
    pub fn new(sender: ChannelSender) -> HostAsks {
        HostAsks { sender: Arc::new(sender), state: Arc::default() }
    }

    fn lock_state(&self) -> MutexGuard<'_, AskState> {
        lock_mutex(&self.state)
    }

    /// Sets the nodes that the parent serves.
    pub fn set_served(&self, names: Vec<String>) {
        self.lock_state().names = names;
    }

    /// Passes an answer to the guest that waits for it.
    pub fn take_answer(&self, number: u64, answer: Result<Vec<u8>, Errno>) {
        let waiting = self.lock_state().waiting.remove(&number);
        if let Some(waiting) = waiting {
            waiting.give(answer);
        }
    }

    /// Reports that the guest no longer waits for an answer.
    fn gave_up(&self, number: u64) {
        let state = self.lock_state();
        if state.open > 0 && state.waiting.contains_key(&number) {
            // A failure is ignored, because the loss of the parent is noticed elsewhere.
            let _ = self.sender.send(&WorkerReply::GaveUp(number));
        }
    }

    /// Starts a call, or a process beside calls.
    pub fn begin_call(&self) {
        self.lock_state().open += 1;
    }

    /// Ends a call, or a process beside calls. After the last one no requests are sent to the
    /// parent.
    pub fn end_call(&self) {
        let mut state = self.lock_state();
        state.open = state.open.saturating_sub(1);
        if state.open > 0 {
            return;
        }
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(waiting);
    }
}

impl Service for HostAsks {
    fn serves_node(&self, name: &str) -> bool {
        self.lock_state().names.iter().any(|n| n == name)
    }

    fn take_request(&self, name: &str, request: Vec<u8>, answer: AnswerSlot) {
        let (name, request) = (name.to_owned(), ByteBuf::from(request));
        let mut state = self.lock_state();
        let refused = match state.waiting.len() {
            _ if state.open == 0 => Some(Errno::IO),
            n if n >= MOST => Some(Errno::NOMEM),
            _ => None,
        };
        if let Some(why) = refused {
            drop(state);
            return answer.give(Err(why));
        }
        state.next += 1;
        let number = state.next;
        let (asks, asker) = (self.clone(), answer.asker().clone());
        // The request is sent under the lock, because it must not be sent after the call has ended.
        if self.sender.send(&WorkerReply::Ask { number, name, request }).is_ok() {
            state.waiting.insert(number, answer);
        }
        drop(state);
        asker.when_gone(move || asks.gave_up(number));
    }
}
