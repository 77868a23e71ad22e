//! Bounded pipes: anonymous ones, named ones below `/.box`, and FIFOs.
//!
//! No call blocks. A reader or writer that must wait registers its thread ([`Pipe::watch`]), tries
//! again, and parks; every change of state unparks all registered threads. Wake-ups may be
//! spurious, never lost.
//!
//! A pipe, or a FIFO even without a name, holds its buffer from the session's budget as long as it
//! exists; a write for which the budget has no room fails with ENOMEM.

use crate::budget::{Budget, Reservation};
use crate::buffer::{ByteQueue, WaitingThreads};
use crate::errno::Errno;
use crate::sync::lock_mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::Thread;

pub use box_abi::PIPE_CAPACITY;

/// Writes up to this many bytes are atomic (POSIX `PIPE_BUF`, Linux's value).
pub const PIPE_BUF: usize = 4096;

/// The maximum number of pipes at once in a session, unless its limits say otherwise; bounds host
/// memory to this times [`PIPE_CAPACITY`].
pub const MAX_PIPES: usize = 1024;

/// The maximum number of named pipes below `/.box` among them, so that named pipes with one end
/// open do not prevent other processes from creating pipes.
pub const MAX_NAMED: usize = MAX_PIPES / 2;

/// Host memory of a pipe without its buffer.
const COST: u64 = size_of::<Pipe>() as u64 + 64;

#[derive(Debug, Default)]
struct PipeInner {
    buf: ByteQueue,
    readers: usize,
    writers: usize,
    had_reader: bool,
    had_writer: bool,
    waiting: WaitingThreads,
}

/// A pipe; its two kinds of ends keep it alive.
#[derive(Debug, Default)]
pub struct Pipe {
    inner: Mutex<PipeInner>,
    budget: Arc<Budget>,
    _held: Option<Reservation>,
    _counted: Option<PipeCountGuard>,
    /// Whether it is a FIFO, which is reset when all ends are closed (POSIX `mkfifo`).
    reusable: bool,
}

/// The reading end. Dropping the last one makes writers fail with EPIPE.
#[derive(Debug)]
pub struct ReadEnd {
    pipe: Arc<Pipe>,
    _guard: Option<FifoGuard>,
}

/// The writing end. Dropping the last one gives readers end of file.
#[derive(Debug)]
pub struct WriteEnd {
    pipe: Arc<Pipe>,
    _guard: Option<FifoGuard>,
}

impl Pipe {
    /// Creates a pipe whose memory is counted; ENOMEM if there is no room.
    fn new(budget: &Arc<Budget>) -> Result<Pipe, Errno> {
        let held = budget.reserve_bytes(COST).ok_or(Errno::NOMEM)?;
        Ok(Pipe { budget: budget.clone(), _held: Some(held), ..Pipe::default() })
    }

    /// Creates a pipe that is reset after use, for a FIFO node.
    pub fn new_fifo(budget: &Arc<Budget>) -> Result<Arc<Pipe>, Errno> {
        Ok(Arc::new(Pipe { reusable: true, ..Pipe::new(budget)? }))
    }

    /// Returns both ends of a new pipe that is not counted.
    pub fn pair() -> (ReadEnd, WriteEnd) {
        let p = Arc::new(Pipe::default());
        (p.reader(None), p.writer(None))
    }

    fn lock_inner(&self) -> MutexGuard<'_, PipeInner> {
        lock_mutex(&self.inner)
    }

    pub(crate) fn reader(self: &Arc<Pipe>, guard: Option<FifoGuard>) -> ReadEnd {
        let mut p = self.lock_inner();
        p.readers += 1;
        p.had_reader = true;
        p.waiting.wake_all();
        ReadEnd { pipe: self.clone(), _guard: guard }
    }

    pub(crate) fn writer(self: &Arc<Pipe>, guard: Option<FifoGuard>) -> WriteEnd {
        let mut p = self.lock_inner();
        p.writers += 1;
        p.had_writer = true;
        p.waiting.wake_all();
        WriteEnd { pipe: self.clone(), _guard: guard }
    }

    fn end_closed(&self, p: &mut PipeInner) {
        p.waiting.wake_all();
        // Written bytes wait for the first reader.
        if p.readers == 0 && p.had_reader {
            p.buf.clear_all();
        }
        // On Linux a writer would wait for the first reader. A writer that was closed before a
        // reader came is remembered, so that the reader finds end of file.
        if self.reusable && p.readers == 0 && p.writers == 0 && p.had_reader {
            (p.had_reader, p.had_writer) = (false, false);
        }
    }

    /// Unparks `who` at the next change of state.
    pub fn watch(&self, who: &Thread) {
        self.lock_inner().waiting.add_thread(who);
    }
}

impl ReadEnd {
    /// Returns the pipe.
    pub fn pipe(&self) -> &Arc<Pipe> {
        &self.pipe
    }

    /// Reads the available bytes; 0 is end of file, AGAIN means wait.
    pub fn try_read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        let mut p = self.pipe.lock_inner();
        if buf.is_empty() {
            return Ok(0);
        }
        if p.buf.is_empty() {
            return if p.writers == 0 && p.had_writer { Ok(0) } else { Err(Errno::AGAIN) };
        }
        let n = p.buf.take_bytes(buf);
        p.waiting.wake_all();
        Ok(n)
    }

    /// Returns the bytes that a read would give now; `Some(0)` is end of file.
    pub fn readable_bytes(&self) -> Option<usize> {
        let p = self.pipe.lock_inner();
        (!p.buf.is_empty() || p.writers == 0 && p.had_writer).then(|| p.buf.len())
    }
}

impl WriteEnd {
    /// Returns the pipe.
    pub fn pipe(&self) -> &Arc<Pipe> {
        &self.pipe
    }

    /// Writes as many bytes as fit; AGAIN means wait, PIPE that there is no reader any more.
    pub fn try_write(&self, data: &[u8]) -> Result<usize, Errno> {
        let mut p = self.pipe.lock_inner();
        if p.readers == 0 && p.had_reader {
            return Err(Errno::PIPE);
        }
        let free = PIPE_CAPACITY - p.buf.len();
        if free == 0 || data.len() <= PIPE_BUF && data.len() > free {
            return if data.is_empty() { Ok(0) } else { Err(Errno::AGAIN) };
        }
        let n = free.min(data.len());
        p.buf.push(&data[..n], PIPE_CAPACITY, &self.pipe.budget)?;
        p.waiting.wake_all();
        Ok(n)
    }

    /// Returns the room for a write now; `Some(0)` means that it would fail with EPIPE.
    pub fn writable_room(&self) -> Option<usize> {
        let p = self.pipe.lock_inner();
        if p.readers == 0 && p.had_reader {
            return Some(0);
        }
        let free = PIPE_CAPACITY - p.buf.len();
        (free >= PIPE_BUF).then_some(free)
    }
}

impl Drop for ReadEnd {
    fn drop(&mut self) {
        let mut p = self.pipe.lock_inner();
        p.readers -= 1;
        self.pipe.end_closed(&mut p);
    }
}

impl Drop for WriteEnd {
    fn drop(&mut self) {
        let mut p = self.pipe.lock_inner();
        p.writers -= 1;
        self.pipe.end_closed(&mut p);
    }
}

/// A pipe's place in its session's count.
#[derive(Debug)]
struct PipeCountGuard(Arc<AtomicUsize>);

impl Drop for PipeCountGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A session's pipes: all are counted; those below `/.box` have names.
#[derive(Debug, Default)]
pub struct Pipes {
    budget: Arc<Budget>,
    names: Arc<Mutex<HashMap<Vec<u8>, Arc<Pipe>>>>,
    count: Arc<AtomicUsize>,
    most: usize,
    was_full: AtomicBool,
}

/// A guard that removes a named pipe once both kinds of end were opened and all are closed.
#[derive(Debug)]
pub(crate) struct FifoGuard {
    names: Arc<Mutex<HashMap<Vec<u8>, Arc<Pipe>>>>,
    name: Vec<u8>,
}

impl Drop for FifoGuard {
    fn drop(&mut self) {
        // The end's own `drop` runs before its fields are dropped, so the counts are current.
        let mut names = lock_mutex(&self.names);
        let done = names.get(&self.name).is_some_and(|p| {
            let p = p.lock_inner();
            p.readers == 0 && p.writers == 0 && p.had_reader && p.had_writer
        });
        if done {
            names.remove(&self.name);
        }
    }
}

impl Pipes {
    /// Creates a set without pipes, and at most `most` at once; their memory is counted in
    /// `budget`.
    pub fn new(budget: Arc<Budget>, most: usize) -> Pipes {
        Pipes { budget, most, ..Pipes::default() }
    }

    /// Returns whether a pipe was refused since the last call.
    pub fn was_full(&self) -> bool {
        self.was_full.swap(false, Ordering::Relaxed)
    }

    fn too_many(&self) -> Errno {
        self.was_full.store(true, Ordering::Relaxed);
        Errno::NFILE
    }

    fn make_pipe(&self) -> Result<Arc<Pipe>, Errno> {
        let counted = PipeCountGuard(self.count.clone());
        if self.count.fetch_add(1, Ordering::Relaxed) >= self.most {
            return Err(self.too_many());
        }
        Ok(Arc::new(Pipe { _counted: Some(counted), ..Pipe::new(&self.budget)? }))
    }

    /// Returns both ends of a new pipe without name; ENFILE if there are too many pipes.
    pub fn pair(&self) -> Result<(ReadEnd, WriteEnd), Errno> {
        let p = self.make_pipe()?;
        Ok((p.reader(None), p.writer(None)))
    }

    /// Opens an end while the table is locked, so that a closing end cannot remove the name between
    /// finding the pipe and counting the new end.
    fn open_named<T>(
        &self,
        name: &[u8],
        end: impl FnOnce(&Arc<Pipe>, FifoGuard) -> T,
    ) -> Result<T, Errno> {
        let mut names = lock_mutex(&self.names);
        if name.len() > 64 {
            return Err(Errno::NAMETOOLONG);
        }
        let pipe = match names.get(name) {
            Some(p) => p.clone(),
            None if names.len() >= self.most / 2 => return Err(self.too_many()),
            None => {
                let p = self.make_pipe()?;
                names.insert(name.to_vec(), p.clone());
                p
            }
        };
        let guard = FifoGuard { names: self.names.clone(), name: name.to_vec() };
        Ok(end(&pipe, guard))
    }

    /// Opens the reading end of `name`.
    pub fn open_read(&self, name: &[u8]) -> Result<ReadEnd, Errno> {
        self.open_named(name, |pipe, guard| pipe.reader(Some(guard)))
    }

    /// Opens the writing end of `name`.
    pub fn open_write(&self, name: &[u8]) -> Result<WriteEnd, Errno> {
        self.open_named(name, |pipe, guard| pipe.writer(Some(guard)))
    }

    /// Removes the named pipes without open ends. These are pipes of which only one kind of end was
    /// ever opened; after the command that used them the other kind is not opened any more.
    pub fn release_unused(&self) {
        let mut names = lock_mutex(&self.names);
        names.retain(|_, pipe| {
            let p = pipe.lock_inner();
            p.readers > 0 || p.writers > 0
        });
    }

    /// Returns the number of named pipes.
    pub fn len(&self) -> usize {
        lock_mutex(&self.names).len()
    }

    /// Returns whether no named pipe exists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::MAX_WAITING;
    use std::time::Duration;

    #[test]
    fn a_full_pipe_pushes_back_and_an_empty_one_waits() {
        let (r, w) = Pipe::pair();
        assert_eq!(r.try_read(&mut [0; 8]), Err(Errno::AGAIN));
        let data = vec![1; PIPE_CAPACITY + 1];
        assert_eq!(w.try_write(&data), Ok(PIPE_CAPACITY));
        assert_eq!(w.try_write(&data), Err(Errno::AGAIN));
        assert_eq!(w.writable_room(), None);
        assert_eq!(r.try_read(&mut [0; 100]), Ok(100));
        assert_eq!(w.try_write(&[2; 101]), Err(Errno::AGAIN), "small writes are atomic");
        assert_eq!(w.try_write(&[2; 100]), Ok(100));
    }

    #[test]
    fn closing_one_side_ends_the_other() {
        let (r, w) = Pipe::pair();
        w.try_write(b"ab").unwrap();
        drop(w);
        assert_eq!(r.try_read(&mut [0; 8]), Ok(2));
        assert_eq!(r.try_read(&mut [0; 8]), Ok(0));
        let (r, w) = Pipe::pair();
        drop(r);
        assert_eq!(w.try_write(b"x"), Err(Errno::PIPE));
    }

    #[test]
    fn a_parked_reader_is_woken_by_data_and_by_closing() {
        let (r, w) = Pipe::pair();
        let reader = std::thread::spawn(move || {
            let mut got = Vec::new();
            let mut b = [0; 16];
            loop {
                match r.try_read(&mut b) {
                    Ok(0) => return got,
                    Ok(n) => got.extend_from_slice(&b[..n]),
                    Err(_) => {
                        r.pipe().watch(&std::thread::current());
                        if r.readable_bytes().is_none() {
                            std::thread::park();
                        }
                    }
                }
            }
        });
        for part in [b"one ", b"two "] {
            std::thread::sleep(Duration::from_millis(20));
            w.try_write(part).unwrap();
        }
        drop(w);
        assert_eq!(reader.join().unwrap(), b"one two ");
    }

    #[test]
    fn threads_that_looked_and_ended_are_forgotten() {
        let (r, _w) = Pipe::pair();
        for _ in 0..MAX_WAITING + 10 {
            let gone = std::thread::spawn(std::thread::current).join().unwrap();
            r.pipe().watch(&gone);
        }
        assert_eq!(r.pipe().lock_inner().waiting.len(), 10);
    }

    #[test]
    fn named_pipes_wait_for_their_first_writer_and_vanish_after_use() {
        let names = Pipes::new(Arc::default(), MAX_PIPES);
        let r = names.open_read(b"p1").unwrap();
        assert_eq!(r.try_read(&mut [0; 4]), Err(Errno::AGAIN), "no writer was opened yet");
        let w = names.open_write(b"p1").unwrap();
        w.try_write(b"hi").unwrap();
        drop(w);
        assert_eq!(r.try_read(&mut [0; 4]), Ok(2));
        assert_eq!(r.try_read(&mut [0; 4]), Ok(0));
        assert_eq!(names.len(), 1);
        drop(r);
        assert_eq!(names.len(), 0);
    }

    #[test]
    fn a_late_reader_gets_what_a_gone_writer_wrote() {
        let pipes = Pipes::new(Arc::default(), MAX_PIPES);
        let w = pipes.open_write(b"late").unwrap();
        assert_eq!(w.try_write(b"kept").unwrap(), 4);
        drop(w);
        let r = pipes.open_read(b"late").unwrap();
        let mut buf = [0; 8];
        assert_eq!(r.try_read(&mut buf).unwrap(), 4);
        assert_eq!(r.try_read(&mut buf).unwrap(), 0);
    }

    #[test]
    fn the_number_of_pipes_is_capped() {
        let pipes = Pipes::new(Arc::default(), MAX_PIPES);
        let half = MAX_PIPES / 2;
        let named: Vec<_> = (0..half)
            .map(|i| {
                let name = i.to_string();
                (pipes.open_read(name.as_bytes()).unwrap(), pipes.open_write(name.as_bytes()))
            })
            .collect();
        let plain: Vec<_> = (0..half).map(|_| pipes.pair().unwrap()).collect();
        assert_eq!(pipes.open_read(b"one more").err(), Some(Errno::NFILE));
        assert_eq!(pipes.pair().err(), Some(Errno::NFILE));
        assert!(pipes.open_read(b"1").is_ok(), "one that exists");
        drop((named, plain));
        assert!(pipes.pair().is_ok() && pipes.open_read(b"new").is_ok());
    }

    #[test]
    fn a_fifo_starts_afresh() {
        let p = Pipe::new_fifo(&Arc::default()).unwrap();
        let (r, w) = (p.reader(None), p.writer(None));
        w.try_write(b"x").unwrap();
        drop((r, w));
        let r = p.reader(None);
        assert_eq!(r.try_read(&mut [0; 4]), Err(Errno::AGAIN));
        drop(r);
        // A writer that is closed before any reader comes leaves its bytes and an end of file.
        p.writer(None).try_write(b"y").unwrap();
        let r = p.reader(None);
        assert_eq!(r.try_read(&mut [0; 4]), Ok(1));
        assert_eq!(r.try_read(&mut [0; 4]), Ok(0));
    }

    #[test]
    fn half_open_names_are_bounded_and_released() {
        let pipes = Pipes::new(Arc::default(), MAX_PIPES);
        for i in 0..MAX_NAMED {
            drop(pipes.open_write(i.to_string().as_bytes()).unwrap());
        }
        assert_eq!(pipes.open_read(b"new").err(), Some(Errno::NFILE));
        assert!(pipes.pair().is_ok(), "the bridge's pipes leave room for others");
        let open = pipes.open_read(b"7").unwrap();
        pipes.release_unused();
        assert_eq!(pipes.len(), 1);
        assert!(pipes.open_read(b"new").is_ok());
        drop(open);
    }

    #[test]
    fn buffers_are_held_from_the_budget() {
        let budget = Budget::new(100_000);
        let pipes = Pipes::new(budget.clone(), MAX_PIPES);
        let (r, w) = pipes.pair().unwrap();
        let before = budget.used_bytes();
        w.try_write(b"x").unwrap();
        assert_eq!(budget.used_bytes(), before + PIPE_BUF as u64);
        assert_eq!(w.try_write(&[1; 100_000]), Ok(PIPE_CAPACITY - 1));
        assert_eq!(budget.used_bytes(), before + PIPE_CAPACITY as u64);
        // A FIFO counts as long as it has an owner.
        let fifo = Pipe::new_fifo(&budget).unwrap();
        let (fr, fw) = (fifo.reader(None), fifo.writer(None));
        drop(fifo);
        assert_eq!(fw.try_write(&[1; 60_000]), Err(Errno::NOMEM));
        assert_eq!(fw.try_write(&[1; 3000]), Ok(3000));
        drop(r);
        assert_eq!(fw.try_write(&[1; 60_000]), Ok(60_000));
        drop((w, fr, fw));
        assert_eq!(budget.used_bytes(), 0);
    }
}
