//! Guests' requests at nodes that the parent serves: the worker's half.
//!
//! A request goes to the parent as a [`Reply::Ask`] with a number, and its answer comes back over the control
//! socket, in any order.

use super::message::Reply;
use serde_bytes::ByteBuf;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use wasibox_vfs::{Answer, Errno, Service};
use wasibox_worker::channel::Sender;

/// Most requests without an answer at one time.
pub const MOST: usize = 64;

/// Passes requests on.
pub struct Asks {
    sender: Sender,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What the parent serves.
    names: Vec<String>,
    next: u64,
    waiting: HashMap<u64, Answer>,
}

impl Asks {
    pub fn new(sender: Sender) -> Asks {
        Asks { sender, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Says what the parent serves.
    pub fn serves(&self, names: Vec<String>) {
        self.lock().names = names;
    }

    /// An answer has come.
    pub fn answered(&self, number: u64, answer: Result<Vec<u8>, Errno>) {
        let waiting = self.lock().waiting.remove(&number);
        if let Some(waiting) = waiting {
            waiting.give(answer);
        }
    }

    /// Nobody waits any more.
    pub fn forget(&self) {
        drop(std::mem::take(&mut self.lock().waiting));
    }
}

impl Service for Asks {
    fn has(&self, name: &str) -> bool {
        self.lock().names.iter().any(|n| n == name)
    }

    fn ask(&self, name: &str, request: Vec<u8>, answer: Answer) {
        let number = {
            let mut state = self.lock();
            if state.waiting.len() >= MOST {
                drop(state);
                return answer.give(Err(Errno::NOMEM));
            }
            state.next += 1;
            let number = state.next;
            state.waiting.insert(number, answer);
            number
        };
        let (name, request) = (name.to_owned(), ByteBuf::from(request));
        if self.sender.send(&Reply::Ask { number, name, request }).is_err() {
            self.answered(number, Err(Errno::IO));
        }
    }
}
