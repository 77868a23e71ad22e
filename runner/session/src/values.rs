//! The session's key-values for guests, which the command `kv` reads and writes.

use box_abi::kv::{KvAnswer as Reply, KvRequest, MAX_VALUE, PART};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wasibox_protocol::is_own_key;
use wasibox_store::{StoreError, StoreSession};
use wasibox_vfs::{AnswerSlot, Service};

/// Maximum number of keys of a session, and maximum bytes of keys and values. Both are checked when
/// a guest sets a value.
const KEYS: usize = 1000;
const BYTES: u64 = 64 << 20;

/// Maximum bytes that guests may write in one call, because old values stay in the store until it
/// is collected.
const WRITTEN: u64 = 64 << 20;

/// The service for the key-values of one session.
pub struct Values {
    session: Arc<StoreSession>,
    /// Bytes written in this call.
    written: AtomicU64,
}

impl Values {
    /// Makes the service for a session, with nothing written in this call.
    pub fn new(session: Arc<StoreSession>) -> Values {
        Values { session, written: AtomicU64::new(0) }
    }

    /// Starts a call.
    pub fn begin_call(&self) {
        self.written.store(0, Ordering::Relaxed);
    }

    fn reply_to(&self, request: &KvRequest<'_>) -> Result<Reply, StoreError> {
        let refused = |why: &str| Ok(Reply::Refused(why.into()));
        match *request {
            KvRequest::Get { key, .. } | KvRequest::Delete { key } if is_own_key(key) => {
                Ok(Reply::Missing)
            }
            KvRequest::Set { key, .. } if is_own_key(key) => {
                refused("keys that begin with wasibox. are the host's")
            }
            KvRequest::Get { key, from } => Ok(match self.session.value(key)? {
                None => Reply::Missing,
                Some(value) => {
                    let rest = usize::try_from(from).ok().and_then(|from| value.get(from..));
                    let rest = rest.unwrap_or_default();
                    let bytes = rest[..rest.len().min(PART)].to_vec();
                    Reply::Value { len: value.len() as u64, bytes }
                }
            }),
            KvRequest::Set { key, value } => {
                if key.is_empty() {
                    return refused("a key has at least one byte");
                }
                if value.len() > MAX_VALUE {
                    return refused("the value is longer than 1 MiB");
                }
                let more = (key.len() + value.len()) as u64;
                if self.written.fetch_add(more, Ordering::Relaxed) + more > WRITTEN {
                    return refused("more than 64 MiB were written in one call");
                }
                if self.session.set_value_within(key, value, KEYS, BYTES)? {
                    Ok(Reply::Done)
                } else {
                    refused("there would be more than 1000 keys or 64 MiB")
                }
            }
            KvRequest::Delete { key } => {
                Ok(if self.session.remove_value(key)? { Reply::Done } else { Reply::Missing })
            }
            KvRequest::List { after } => {
                let all = self.session.keys()?;
                let (mut keys, mut bytes) = (Vec::new(), 0);
                let is_seen = |key: &Vec<u8>| key.as_slice() > after && !is_own_key(key);
                let mut rest = all.into_iter().filter(is_seen).peekable();
                while let Some(key) = rest.next_if(|key| bytes + key.len() + 2 <= PART) {
                    bytes += key.len() + 2;
                    keys.push(key);
                }
                Ok(Reply::Keys { keys, more: rest.peek().is_some() })
            }
        }
    }
}

impl Service for Values {
    fn serves_node(&self, name: &str) -> bool {
        name == "kv"
    }

    fn take_request(&self, _: &str, request: Vec<u8>, answer: AnswerSlot) {
        let reply = match KvRequest::decode(&request) {
            None => Reply::Refused(b"not a request".to_vec()),
            Some(request) => self.reply_to(&request).unwrap_or_else(|e| {
                // The guest must not learn the path of the store.
                let why = match e {
                    StoreError::TooLong => "the key or the value is too long",
                    _ => "the session's store failed",
                };
                Reply::Refused(why.into())
            }),
        };
        answer.give(Ok(reply.encode()));
    }
}
