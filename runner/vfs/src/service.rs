//! Device nodes by which guests send requests to the host: `/.box/kv`, `/.box/http`, `/.box/tools`.
//!
//! An open file is a sequence of *exchanges*: the written bytes are a request; the first read after
//! them sends it and waits for the answer, which reads then return until its end. A further write
//! begins the next exchange. Only the guest and the [`Service`] interpret requests.
//!
//! # Invariants
//! - A request and its answer count against the session's memory limit, and neither is longer than
//!   [`MAX_MESSAGE`].
//! - No call of this module blocks: a read before the answer fails with EAGAIN, as for an empty
//!   pipe, and the kernel lets the guest wait.
//! - A service that drops an [`AnswerSlot`] has failed: the read fails with EIO.
//! - The slot's [`Asker`] reports to the service that the guest has stopped waiting for the answer
//!   (because its descriptors are closed, or because it sends another request).

use crate::budget::{Budget, Reservation};
use crate::buffer::Readiness;
use crate::errno::Errno;
use crate::sync::lock_mutex;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::thread::Thread;

/// The maximum number of bytes of a request, and of an answer.
pub const MAX_MESSAGE: usize = (1 << 20) + (64 << 10);

/// The names of all nodes that may exist.
pub const SERVICES: [&str; 3] = ["kv", "http", "tools"];

/// Serves guests' requests.
pub trait Service: Send + Sync {
    /// Returns whether it serves that node; otherwise the node does not exist.
    fn serves_node(&self, name: &str) -> bool;
    /// Takes a request, which is not trusted, and answers it now or later, on any thread.
    fn take_request(&self, name: &str, request: Vec<u8>, answer: AnswerSlot);
}

type Give = Box<dyn FnOnce(Result<Vec<u8>, Errno>) + Send>;

/// The state of an answer's recipient: still waiting or gone. Clones share it.
#[derive(Clone, Default)]
pub struct Asker(Arc<Mutex<ServiceCall>>);

#[derive(Default)]
struct ServiceCall {
    is_gone: bool,
    notify: Option<Box<dyn FnOnce() + Send>>,
}

impl Asker {
    /// Records that the recipient no longer waits.
    pub fn is_gone(&self) {
        let notify = {
            let mut waits = lock_mutex(&self.0);
            waits.is_gone = true;
            waits.notify.take()
        };
        if let Some(notify) = notify {
            notify();
        }
    }

    /// Calls `notify` once the recipient is gone, which may be after the answer was given. If it is
    /// gone already, `notify` is called at once.
    pub fn when_gone(&self, notify: impl FnOnce() + Send + 'static) {
        {
            let mut waits = lock_mutex(&self.0);
            if !waits.is_gone {
                waits.notify = Some(Box::new(notify));
                return;
            }
        }
        notify();
    }
}

/// The slot into which a service puts its answer.
pub struct AnswerSlot {
    give: Option<Give>,
    asker: Asker,
}

impl AnswerSlot {
    /// Creates a slot whose answer goes to `give`.
    pub fn new(give: impl FnOnce(Result<Vec<u8>, Errno>) + Send + 'static) -> AnswerSlot {
        AnswerSlot::from_sender(give, Asker::default())
    }

    /// Returns a slot whose recipient may give up waiting.
    pub fn from_sender(
        give: impl FnOnce(Result<Vec<u8>, Errno>) + Send + 'static,
        asker: Asker,
    ) -> AnswerSlot {
        AnswerSlot { give: Some(Box::new(give)), asker }
    }

    /// Returns the state of its recipient.
    pub fn asker(&self) -> &Asker {
        &self.asker
    }

    /// Delivers the answer.
    pub fn give(mut self, answer: Result<Vec<u8>, Errno>) {
        if let Some(give) = self.give.take() {
            give(answer);
        }
    }
}

impl fmt::Debug for AnswerSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}

impl Drop for AnswerSlot {
    fn drop(&mut self) {
        if let Some(give) = self.give.take() {
            give(Err(Errno::IO));
        }
    }
}

/// The session's service.
#[derive(Default)]
pub(crate) struct ServedNodes(Mutex<Option<Arc<dyn Service>>>);

impl fmt::Debug for ServedNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Serves")
    }
}

impl ServedNodes {
    fn get(&self) -> Option<Arc<dyn Service>> {
        lock_mutex(&self.0).clone()
    }

    pub(crate) fn set(&self, service: Option<Arc<dyn Service>>) {
        *lock_mutex(&self.0) = service;
    }

    pub(crate) fn open(&self, n: usize, budget: &Arc<Budget>) -> Result<ServiceFile, Errno> {
        let name = SERVICES.get(n).ok_or(Errno::NOENT)?;
        let service = self.get().filter(|s| s.serves_node(name)).ok_or(Errno::NOENT)?;
        let held = budget.reserve_bytes(0).ok_or(Errno::NOMEM)?;
        let state = CallState { stage: CallStage::Asks(Vec::new()), held };
        Ok(ServiceFile { name, service, budget: budget.clone(), state: Mutex::new(state) })
    }

    /// Returns the number of an existing node.
    pub(crate) fn find_node(&self, name: &[u8]) -> Option<usize> {
        let n = SERVICES.iter().position(|s| s.as_bytes() == name)?;
        self.get()?.serves_node(SERVICES[n]).then_some(n)
    }
}

/// One opening of a node.
pub struct ServiceFile {
    name: &'static str,
    service: Arc<dyn Service>,
    budget: Arc<Budget>,
    state: Mutex<CallState>,
}

impl fmt::Debug for ServiceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServiceFile({})", self.name)
    }
}

struct CallState {
    stage: CallStage,
    /// The request's share of the memory limit.
    held: Reservation,
}

enum CallStage {
    /// The request is being written.
    Asks(Vec<u8>),
    /// The answer is awaited.
    Waits(AnswerWait),
    /// The answer is there, and was read up to `at`.
    Reads { bytes: Vec<u8>, at: usize, _held: Reservation },
}

/// A wait for an answer, which ends when this is dropped.
struct AnswerWait {
    slot: Arc<Mutex<PendingAnswer>>,
    asker: Asker,
}

impl Drop for AnswerWait {
    fn drop(&mut self) {
        self.asker.is_gone();
    }
}

/// The place of a pending answer.
#[derive(Default)]
struct PendingAnswer {
    answer: Option<Result<(Vec<u8>, Reservation), Errno>>,
    /// The threads to wake when the answer comes.
    waiting: Vec<Thread>,
}

impl ServiceFile {
    pub(crate) fn write(&self, data: &[u8]) -> Result<usize, Errno> {
        let mut state = lock_mutex(&self.state);
        if !matches!(state.stage, CallStage::Asks(_)) {
            // A write begins the next exchange; the rest of the answer is dropped.
            state.stage = CallStage::Asks(Vec::new());
            state.held.shrink_to(0);
        }
        let CallState { stage: CallStage::Asks(request), held } = &mut *state else {
            return Err(Errno::IO);
        };
        if data.len() > MAX_MESSAGE - request.len() {
            return Err(Errno::FBIG);
        }
        if !held.grow_by(data.len() as u64) {
            return Err(Errno::NOMEM);
        }
        request.extend_from_slice(data);
        Ok(data.len())
    }

    pub(crate) fn read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        let mut state = lock_mutex(&self.state);
        self.send_complete(&mut state);
        match &mut state.stage {
            // Without a request there is nothing to read.
            CallStage::Asks(_) => Ok(0),
            CallStage::Waits(AnswerWait { slot, .. }) => {
                let answer = lock_mutex(slot).answer.take();
                let (bytes, held) = match answer {
                    None => return Err(Errno::AGAIN),
                    Some(Ok(answer)) => answer,
                    Some(Err(e)) => {
                        state.stage = CallStage::Asks(Vec::new());
                        return Err(e);
                    }
                };
                let n = bytes.len().min(buf.len());
                buf[..n].copy_from_slice(&bytes[..n]);
                state.stage = CallStage::Reads { bytes, at: n, _held: held };
                Ok(n)
            }
            CallStage::Reads { bytes, at, .. } => {
                let n = (bytes.len() - *at).min(buf.len());
                buf[..n].copy_from_slice(&bytes[*at..*at + n]);
                *at += n;
                Ok(n)
            }
        }
    }

    pub(crate) fn ready(&self) -> Option<Readiness> {
        let mut state = lock_mutex(&self.state);
        self.send_complete(&mut state);
        let bytes = match &state.stage {
            CallStage::Asks(_) => 0,
            CallStage::Waits(AnswerWait { slot, .. }) => match &lock_mutex(slot).answer {
                None => return None,
                Some(Ok((bytes, _))) => bytes.len(),
                Some(Err(_)) => 0,
            },
            CallStage::Reads { bytes, at, .. } => bytes.len() - at,
        };
        Some(Readiness { bytes: bytes as u64, hangup: false })
    }

    pub(crate) fn watch(&self, who: &Thread) {
        let mut state = lock_mutex(&self.state);
        // Send the request first, because a thread cannot be woken for an answer without one.
        self.send_complete(&mut state);
        if let CallStage::Waits(AnswerWait { slot, .. }) = &state.stage {
            let mut slot = lock_mutex(slot);
            if slot.answer.is_none() {
                slot.waiting.retain(|t| t.id() != who.id());
                slot.waiting.push(who.clone());
            } else {
                who.unpark();
            }
        }
    }

    /// Sends a request that is complete.
    fn send_complete(&self, state: &mut CallState) {
        let CallStage::Asks(request) = &mut state.stage else { return };
        if request.is_empty() {
            return;
        }
        let request = std::mem::take(request);
        let slot = Arc::new(Mutex::new(PendingAnswer::default()));
        let asker = Asker::default();
        state.stage = CallStage::Waits(AnswerWait { slot: slot.clone(), asker: asker.clone() });
        let budget = self.budget.clone();
        let give = move |answer: Result<Vec<u8>, Errno>| {
            let answer = answer.and_then(|bytes| {
                let held = budget.reserve_bytes(bytes.len() as u64).ok_or(Errno::NOMEM)?;
                if bytes.len() > MAX_MESSAGE { Err(Errno::IO) } else { Ok((bytes, held)) }
            });
            let mut slot = lock_mutex(&slot);
            slot.answer = Some(answer);
            slot.waiting.drain(..).for_each(|t| t.unpark());
        };
        self.service.take_request(self.name, request, AnswerSlot::from_sender(give, asker));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DiskLimits, Loc, OpenFlags, OpenResult, ProtectedPaths, Vfs, VfsFile};
    use std::sync::mpsc::{Sender, channel};

    /// A service that keeps the answer slots for the test.
    struct Later(Mutex<Sender<(Vec<u8>, AnswerSlot)>>);

    impl Service for Later {
        fn serves_node(&self, name: &str) -> bool {
            name == "kv"
        }

        fn take_request(&self, name: &str, request: Vec<u8>, answer: AnswerSlot) {
            assert_eq!(name, "kv");
            lock_mutex(&self.0).send((request, answer)).unwrap();
        }
    }

    fn vfs(memory: u64) -> Vfs {
        let limits = DiskLimits::default();
        Vfs::new([], &[], limits, Budget::new(memory), &ProtectedPaths::default()).unwrap()
    }

    fn open(vfs: &Vfs) -> Result<VfsFile, Errno> {
        let how = OpenFlags { read: true, write: true, ..OpenFlags::default() };
        match vfs.open(&Loc::Tree(crate::tree::ROOT), b"/.box/kv", how, 0)? {
            OpenResult::File(file) => Ok(file),
            OpenResult::Descriptor(_) | OpenResult::ControllingTerminal => Err(Errno::BADF),
        }
    }

    #[test]
    fn a_recipient_that_gives_up_is_reported() {
        let vfs = vfs(1 << 30);
        let (sender, asked) = channel();
        vfs.set_service(Some(Arc::new(Later(Mutex::new(sender)))));
        let (gone, notices) = channel();
        let file = open(&vfs).unwrap();
        let ask = |n: u8| {
            file.write(0, false, &[n]).unwrap();
            assert_eq!(file.read(0, &mut [0]), Err(Errno::AGAIN));
            let (_, answer) = asked.try_recv().unwrap();
            let gone = gone.clone();
            answer.asker().when_gone(move || gone.send(n).unwrap());
            answer
        };
        let first = ask(1);
        assert!(notices.try_recv().is_err());
        // The guest sends another request.
        let second = ask(2);
        assert_eq!(notices.try_recv(), Ok(1));
        first.give(Ok(b"late".to_vec()));
        assert_eq!(file.read(0, &mut [0]), Err(Errno::AGAIN));
        drop(file);
        assert_eq!(notices.try_recv(), Ok(2));
        // A callback that is registered after that is called at once.
        let gone = gone.clone();
        second.asker().when_gone(move || gone.send(3).unwrap());
        assert_eq!(notices.try_recv(), Ok(3));
    }

    #[test]
    fn exchanges_follow_each_other() {
        let vfs = vfs(1 << 30);
        assert_eq!(open(&vfs).unwrap_err(), Errno::NOENT);
        let (sender, asked) = channel();
        vfs.set_service(Some(Arc::new(Later(Mutex::new(sender)))));
        let before = vfs.shared.budget.used_bytes();
        let file = open(&vfs).unwrap();
        let mut buf = [0; 4];
        assert_eq!(file.read(0, &mut buf), Ok(0));
        file.write(0, false, b"one").unwrap();
        file.write(0, false, b" two").unwrap();
        assert!(asked.try_recv().is_err() && file.ready(false).is_none());
        let (request, answer) = asked.try_recv().unwrap();
        assert_eq!(request, b"one two");
        assert_eq!(file.read(0, &mut buf), Err(Errno::AGAIN));
        let waiter = std::thread::spawn(move || {
            std::thread::park();
            file
        });
        // Giving the answer calls the callback, too.
        answer.give(Ok(b"answer".to_vec()));
        waiter.thread().unpark();
        let file = waiter.join().unwrap();
        assert_eq!(file.ready(false).map(|r| r.bytes), Some(6));
        assert_eq!((file.read(0, &mut buf), &buf), (Ok(4), b"answ"));
        assert_eq!((file.read(0, &mut buf), &buf[..2]), (Ok(2), &b"er"[..]));
        assert_eq!(file.read(0, &mut buf), Ok(0));
        // An answer without a recipient changes nothing; a dropped one is a failure.
        file.write(0, false, b"next").unwrap();
        assert_eq!(file.read(0, &mut buf), Err(Errno::AGAIN));
        let (_, late) = asked.try_recv().unwrap();
        file.write(0, false, b"last").unwrap();
        assert_eq!(file.read(0, &mut buf), Err(Errno::AGAIN));
        late.give(Ok(b"late".to_vec()));
        assert_eq!(file.read(0, &mut buf), Err(Errno::AGAIN));
        drop(asked.try_recv().unwrap());
        assert_eq!(file.read(0, &mut buf), Err(Errno::IO));
        assert_eq!(file.read(0, &mut buf), Ok(0));
        // A thread that first watches and then reads, as `poll` does, is woken, too.
        file.write(0, false, b"polled").unwrap();
        file.watch(&std::thread::current());
        assert!(file.ready(false).is_none());
        asked.try_recv().unwrap().1.give(Ok(b"x".to_vec()));
        std::thread::park_timeout(std::time::Duration::from_secs(60));
        assert_eq!(file.ready(false).map(|r| r.bytes), Some(1));
        drop(file);
        assert_eq!(vfs.shared.budget.used_bytes(), before);
    }

    #[test]
    fn messages_are_bounded() {
        let vfs = vfs(64 << 10);
        let (sender, asked) = channel();
        vfs.set_service(Some(Arc::new(Later(Mutex::new(sender)))));
        let file = open(&vfs).unwrap();
        assert_eq!(file.write(0, false, &vec![0; MAX_MESSAGE + 1]), Err(Errno::FBIG));
        assert_eq!(file.write(0, false, &vec![0; 1 << 20]), Err(Errno::NOMEM));
        file.write(0, false, b"x").unwrap();
        let mut buf = [0; 4];
        assert_eq!(file.read(0, &mut buf), Err(Errno::AGAIN));
        asked.try_recv().unwrap().1.give(Ok(vec![0; 1 << 20]));
        assert_eq!(file.read(0, &mut buf), Err(Errno::NOMEM));
    }
}
