//! The node `/.box/terminal` (`box_abi::terminal` describes the exchange). Its requests are about
//! descriptors and processes, so the kernel answers them.

use crate::errno::Errno;
use crate::sync::lock_mutex;
use std::sync::Mutex;

/// One opening of the node: a request was written, its reply is being read.
#[derive(Debug, Default)]
pub struct TerminalExchange {
    reply: Mutex<(Vec<u8>, usize)>,
}

impl TerminalExchange {
    /// Stores the reply to a request.
    pub fn put_reply(&self, answer: Result<&[u8], Errno>) {
        let mut reply = vec![0; 4];
        match answer {
            Ok(bytes) => reply.extend_from_slice(bytes),
            Err(e) => reply[..2].copy_from_slice(&e.0.to_le_bytes()),
        }
        *lock_mutex(&self.reply) = (reply, 0);
    }

    /// Reads from the rest of the reply; 0 at its end.
    pub(crate) fn read(&self, buf: &mut [u8]) -> usize {
        let mut reply = lock_mutex(&self.reply);
        let (bytes, pos) = &mut *reply;
        let rest = bytes.get(*pos..).unwrap_or(&[]);
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        *pos += n;
        n
    }
}
