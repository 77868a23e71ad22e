//! The metadata node `/.box/meta` (`box_abi` describes the exchange).

use crate::errno::Errno;
use crate::loc::{Loc, StatResult};
use crate::sync::lock_mutex;
use crate::tree::ROOT;
use crate::vfs::Vfs;
use box_abi::MetaRequest;
use std::sync::Mutex;

/// Longest request: a path and the fixed fields.
const MAX_REQUEST: usize = 4096 + 64;

/// One opening of the node: a request was written, its reply is being read.
#[derive(Debug)]
pub struct MetaExchange {
    vfs: Vfs,
    reply: Mutex<(Vec<u8>, usize)>,
}

impl MetaExchange {
    pub(crate) fn new(vfs: &Vfs) -> MetaExchange {
        MetaExchange { vfs: vfs.clone(), reply: Mutex::default() }
    }

    /// Takes one request and answers it; `own` returns the metadata of the caller's descriptors.
    pub fn take_request(
        &self,
        request: &[u8],
        own: &dyn Fn(u32) -> Result<box_abi::Stat, Errno>,
    ) -> Result<usize, Errno> {
        if request.len() > MAX_REQUEST {
            return Err(Errno::INVAL);
        }
        let mut reply = Vec::with_capacity(2 + box_abi::STAT_LEN);
        match self.answer_request(request, own) {
            Ok(stat) => {
                reply.extend_from_slice(&0u16.to_le_bytes());
                if let Some(s) = stat {
                    reply.extend_from_slice(&s.encode());
                }
            }
            Err(e) => reply.extend_from_slice(&e.0.to_le_bytes()),
        }
        *lock_mutex(&self.reply) = (reply, 0);
        Ok(request.len())
    }

    fn answer_request(
        &self,
        request: &[u8],
        own: &dyn Fn(u32) -> Result<box_abi::Stat, Errno>,
    ) -> Result<Option<box_abi::Stat>, Errno> {
        let root = Loc::Tree(ROOT);
        match MetaRequest::decode(request).ok_or(Errno::INVAL)? {
            MetaRequest::Stat { path, follow } => {
                match self.vfs.stat_or_descriptor(&root, path, follow)? {
                    StatResult::Stat(s) => Ok(Some(s)),
                    StatResult::Descriptor(n) => own(n).map(Some),
                }
            }
            MetaRequest::Chmod { path, mode } => self.vfs.chmod(&root, path, mode).map(|()| None),
            MetaRequest::Chown { path, uid, gid, follow } => {
                self.vfs.chown(&root, path, uid, gid, follow).map(|()| None)
            }
            MetaRequest::SetTimes { path, atime, mtime, follow } => {
                self.vfs.set_times(&root, path, atime, mtime, follow).map(|()| None)
            }
            MetaRequest::Mkfifo { path, mode } => self.vfs.mkfifo(&root, path, mode).map(|()| None),
        }
    }

    /// Reads from the rest of the reply; 0 at its end.
    pub(crate) fn read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        let mut reply = lock_mutex(&self.reply);
        let (bytes, pos) = &mut *reply;
        let rest = bytes.get(*pos..).unwrap_or(&[]);
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        *pos += n;
        Ok(n)
    }
}
