//! Guests' requests at nodes that the parent serves: the worker's half.
//!
//! A request goes to the parent as a [`Reply::Ask`] with a number, and its answer comes back over the control
//! socket, in any order. [`Reply::GaveUp`] tells that no guest waits for it any more; it comes all the same.

use super::message::WorkerReply;
use serde_bytes::ByteBuf;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use wasibox_vfs::{AnswerSlot, Errno, Service};
use wasibox_worker::channel::ChannelSender;

/// Most requests without an answer at one time.
pub const MOST: usize = 64;

/// Passes requests on. Clones are the same.
#[derive(Clone)]
pub struct HostAsks {
    sender: Arc<ChannelSender>,
    state: Arc<Mutex<AskState>>,
}

#[derive(Default)]
struct AskState {
    /// What the parent serves.
    names: Vec<String>,
    /// A call runs: the parent hears nothing else meanwhile, and nothing of this at other times.
    is_open: bool,
    next: u64,
    waiting: HashMap<u64, AnswerSlot>,
}

impl HostAsks {
    /// Questions that are sent by `sender`; the parent serves none yet.
    pub fn new(sender: ChannelSender) -> HostAsks {
        HostAsks { sender: Arc::new(sender), state: Arc::default() }
    }

    fn lock_state(&self) -> MutexGuard<'_, AskState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Says what the parent serves.
    pub fn set_served(&self, names: Vec<String>) {
        self.lock_state().names = names;
    }

    /// An answer has come.
    pub fn take_answer(&self, number: u64, answer: Result<Vec<u8>, Errno>) {
        let waiting = self.lock_state().waiting.remove(&number);
        if let Some(waiting) = waiting {
            waiting.give(answer);
        }
    }

    /// Nobody waits for an answer any more.
    fn gave_up(&self, number: u64) {
        let state = self.lock_state();
        if state.is_open && state.waiting.contains_key(&number) {
            // A parent that is gone is noticed elsewhere.
            let _ = self.sender.send(&WorkerReply::GaveUp(number));
        }
    }

    /// A call begins.
    pub fn begin_call(&self) {
        self.lock_state().is_open = true;
    }

    /// A call has ended: nobody is asked any more.
    pub fn end_call(&self) {
        let mut state = self.lock_state();
        state.is_open = false;
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
            _ if !state.is_open => Some(Errno::IO),
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
        // Sent under the lock: not after the call has ended.
        if self.sender.send(&WorkerReply::Ask { number, name, request }).is_ok() {
            state.waiting.insert(number, answer);
        }
        drop(state);
        asker.when_gone(move || asks.gave_up(number));
    }
}
