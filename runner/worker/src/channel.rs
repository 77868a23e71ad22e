//! Typed messages, with descriptors, over a socket pair.
//!
//! A message consists of its length in four bytes, the number of descriptors sent with it, and its
//! `postcard` bytes. The receiver allocates memory only for bytes that have arrived, not for the
//! announced length.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::Pid;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longest message, in bytes. Senders split longer data.
pub const MAX_MESSAGE: usize = 4 << 20;
/// The maximum number of descriptors with one message.
pub const MAX_FDS: usize = 8;
/// The time within which the other end must have read a message, on the parent's side.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum number of reads after a deadline, which may still complete a message.
const LATE_READS: usize = 64;
/// Bytes before a message: its length, and the number of its descriptors.
const HEAD: usize = 5;

/// The reason why the channel cannot send or receive any more.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The other end is closed.
    #[error("the other process has ended")]
    Closed,
    /// The other end did not read a message in time. A part of it may have been sent, so nothing
    /// can be sent after it.
    #[error("the other process does not read")]
    Stuck,
    #[error("a message of {0} bytes is too long")]
    TooLong(usize),
    #[error("a malformed message: {0}")]
    Format(#[from] postcard::Error),
    #[error("the socket between the processes: {0}")]
    Io(#[from] rustix::io::Errno),
    #[error("too many descriptors came with a message")]
    Descriptors,
    /// A process other than the one that the channel is bound to has sent something.
    #[error("another process has sent a message")]
    Foreign,
}

/// One end of a channel.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    /// The bytes that have arrived but were not decoded yet, from `begin` on.
    buffer: Vec<u8>,
    begin: usize,
    fds: VecDeque<OwnedFd>,
    sending: SendRules,
    /// The only process whose messages are accepted.
    peer: Option<Pid>,
}

/// A sender on the same socket as a [`Channel`], for another thread.
#[derive(Debug)]
pub struct ChannelSender {
    socket: OwnedFd,
    sending: SendRules,
}

/// The rules for sending messages on a socket.
#[derive(Clone, Debug)]
struct SendRules {
    /// Held while a message is sent, because several threads may send.
    turn: Arc<Mutex<()>>,
    /// The maximum time for sending a message.
    patience: Option<Duration>,
}

impl Channel {
    /// Creates two connected ends; the second one is for another process, which must read each
    /// message within [`PATIENCE`].
    ///
    /// # Errors
    /// Returns an error if the system has no more descriptors.
    pub fn pair() -> std::io::Result<(Channel, OwnedFd)> {
        let (a, b) = UnixStream::pair()?;
        // This comes before the first message, so that the kernel names the sender of every
        // message.
        rustix::net::sockopt::set_socket_passcred(&a, true)?;
        let mut own = Channel::new(a.into());
        own.sending.patience = Some(PATIENCE);
        Ok((own, b.into()))
    }

    /// Creates a channel from an inherited socket, on which sending waits as long as necessary.
    pub fn new(socket: OwnedFd) -> Channel {
        let sending = SendRules { turn: Arc::default(), patience: None };
        Channel { socket, buffer: Vec::new(), begin: 0, fds: VecDeque::new(), sending, peer: None }
    }

    /// Accepts only messages that the process `pid` has sent according to the kernel (unix(7),
    /// `SCM_CREDENTIALS`). The channel must be an end of [`Channel::pair`].
    pub fn bind_peer(&mut self, pid: Pid) {
        self.peer = Some(pid);
    }

    /// Sends a message; waits while the other end does not read.
    ///
    /// # Errors
    /// Returns a [`ChannelError`]; a message that is too long is not sent.
    pub fn send(
        &self,
        message: &impl Serialize,
        fds: &[BorrowedFd<'_>],
    ) -> Result<(), ChannelError> {
        send_message(self.socket.as_fd(), &self.sending, message, fds, None)
    }

    /// Sends a message that the other end must have read by `deadline`, even if the channel allows
    /// more time.
    ///
    /// # Errors
    /// The same as [`Channel::send`], and [`ChannelError::Stuck`] after the deadline.
    pub fn send_by(
        &self,
        message: &impl Serialize,
        fds: &[BorrowedFd<'_>],
        deadline: Option<Instant>,
    ) -> Result<(), ChannelError> {
        send_message(self.socket.as_fd(), &self.sending, message, fds, deadline)
    }

    /// Creates a sender for another thread.
    ///
    /// # Errors
    /// Returns an error if the system has no more descriptors.
    pub fn sender(&self) -> std::io::Result<ChannelSender> {
        Ok(ChannelSender { socket: self.socket.try_clone()?, sending: self.sending.clone() })
    }

    /// Receives a message and the descriptors sent with it; returns `None` after `deadline`.
    ///
    /// # Errors
    /// Returns a [`ChannelError`], after which nothing can be received.
    pub fn receive<T: DeserializeOwned>(
        &mut self,
        deadline: Option<Instant>,
    ) -> Result<Option<(T, Vec<OwnedFd>)>, ChannelError> {
        let mut late = 0;
        loop {
            if let Some(message) = self.take_message()? {
                return Ok(Some(message));
            }
            if late == LATE_READS || !self.wait_readable(deadline)? {
                return Ok(None);
            }
            self.fill_buffer()?;
            // Without this count, an end that always has another byte ready would never reach the
            // deadline.
            late += usize::from(deadline.is_some_and(|d| Instant::now() >= d));
        }
    }

    /// Decodes the next whole message of the buffer.
    fn take_message<T: DeserializeOwned>(
        &mut self,
    ) -> Result<Option<(T, Vec<OwnedFd>)>, ChannelError> {
        let rest = &self.buffer[self.begin..];
        let Some((head, rest)) = rest.split_first_chunk::<HEAD>() else { return Ok(None) };
        let [a, b, c, d, fds] = *head;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        if length > MAX_MESSAGE {
            return Err(ChannelError::TooLong(length));
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let message = postcard::from_bytes(body)?;
        // The system delivers descriptors no later than the first byte they were sent with.
        let fds = self.fds.drain(..usize::from(fds).min(self.fds.len())).collect();
        self.begin += HEAD + length;
        if self.begin == self.buffer.len() {
            self.buffer.clear();
            self.begin = 0;
        }
        Ok(Some((message, fds)))
    }

    fn wait_readable(&self, deadline: Option<Instant>) -> Result<bool, ChannelError> {
        loop {
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
            match poll(&mut fds, left.map(to_timespec).as_ref()) {
                Ok(0) if left.is_some_and(|l| l.is_zero()) => return Ok(false),
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(true),
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn fill_buffer(&mut self) -> Result<(), ChannelError> {
        const PART: usize = 256 << 10;
        if self.begin > 0 {
            self.buffer.drain(..self.begin);
            self.begin = 0;
        }
        let at = self.buffer.len();
        self.buffer.resize(at + PART, 0);
        const SPACE: usize = rustix::cmsg_space!(ScmRights(MAX_FDS), ScmCredentials(1));
        let mut space = [MaybeUninit::uninit(); SPACE];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = {
            let mut into = [IoSliceMut::new(&mut self.buffer[at..])];
            recvmsg(&self.socket, &mut into, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        };
        self.buffer.truncate(at + got.as_ref().map_or(0, |g| g.bytes));
        let mut sender = None;
        for message in ancillary.drain() {
            match message {
                RecvAncillaryMessage::ScmRights(fds) => self.fds.extend(fds),
                RecvAncillaryMessage::ScmCredentials(of) => sender = Some(of.pid),
                _ => {}
            }
        }
        if self.peer.is_some() && self.peer != sender && got.as_ref().is_ok_and(|g| g.bytes > 0) {
            return Err(ChannelError::Foreign);
        }
        // Descriptors of one message may still be queued when those of the next one arrive.
        if self.fds.len() > 2 * MAX_FDS {
            return Err(ChannelError::Descriptors);
        }
        match got {
            Ok(got) if got.bytes == 0 => Err(ChannelError::Closed),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(rustix::io::Errno::CONNRESET) => Err(ChannelError::Closed),
            Err(e) => Err(e.into()),
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl ChannelSender {
    /// Sends a message, as [`Channel::send`] does.
    ///
    /// # Errors
    /// The same as [`Channel::send`].
    pub fn send(&self, message: &impl Serialize) -> Result<(), ChannelError> {
        send_message(self.socket.as_fd(), &self.sending, message, &[], None)
    }

    /// Sends a message with descriptors.
    ///
    /// # Errors
    /// The same as [`Channel::send`].
    pub fn send_with(
        &self,
        message: &impl Serialize,
        fds: &[BorrowedFd<'_>],
    ) -> Result<(), ChannelError> {
        send_message(self.socket.as_fd(), &self.sending, message, fds, None)
    }
}

/// Waits until the socket takes bytes; returns false after the deadline.
fn wait_writable(socket: BorrowedFd<'_>, deadline: Option<Instant>) -> Result<bool, ChannelError> {
    let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
    if left.is_some_and(|left| left.is_zero()) {
        return Ok(false);
    }
    let mut fds = [PollFd::from_borrowed_fd(socket, PollFlags::OUT)];
    match poll(&mut fds, left.map(to_timespec).as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(true),
        Err(e) => Err(e.into()),
    }
}

fn to_timespec(d: Duration) -> Timespec {
    let secs = i64::try_from(d.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec: secs, tv_nsec: d.subsec_nanos().into() }
}

fn send_message(
    socket: BorrowedFd<'_>,
    sending: &SendRules,
    message: &impl Serialize,
    fds: &[BorrowedFd<'_>],
    deadline: Option<Instant>,
) -> Result<(), ChannelError> {
    let mut bytes = postcard::to_extend(message, vec![0; HEAD])?;
    let length = bytes.len() - HEAD;
    if length > MAX_MESSAGE {
        return Err(ChannelError::TooLong(length));
    }
    if fds.len() > MAX_FDS {
        return Err(ChannelError::Descriptors);
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    bytes[4] = fds.len() as u8;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut done = 0;
    let _held = sending.turn.lock().unwrap_or_else(|e| e.into_inner());
    let patience = sending.patience.map(|patience| Instant::now() + patience);
    let deadline = [deadline, patience].into_iter().flatten().min();
    while done < bytes.len() {
        // The descriptors go with the first byte.
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if done == 0 && !fds.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(fds));
        }
        let part = [IoSlice::new(&bytes[done..])];
        match sendmsg(socket, &part, &mut ancillary, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(n) => done += n,
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                if !wait_writable(socket, deadline)? {
                    return Err(ChannelError::Stuck);
                }
            }
            Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => {
                return Err(ChannelError::Closed);
            }
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn messages_and_descriptors_arrive_in_order() {
        let (mut a, b) = Channel::pair().unwrap();
        let b = Channel::new(b);
        let (mut reader, writer) = std::io::pipe().unwrap();
        let long = vec![7u8; 3 << 20];
        let sent = long.clone();
        let sender = std::thread::spawn(move || {
            b.send(&(1u32, "one"), &[]).unwrap();
            b.send(&(2u32, "two"), &[writer.as_fd()]).unwrap();
            b.send(&sent, &[]).unwrap();
        });
        let (one, fds) = a.receive::<(u32, String)>(None).unwrap().unwrap();
        assert_eq!((one, fds.len()), ((1, "one".to_owned()), 0));
        let (two, fds) = a.receive::<(u32, String)>(None).unwrap().unwrap();
        assert_eq!(two.0, 2);
        let mut file = std::fs::File::from(fds.into_iter().next().unwrap());
        assert_eq!(a.receive::<Vec<u8>>(None).unwrap().unwrap().0, long);
        sender.join().unwrap();
        file.write_all(b"x").unwrap();
        drop(file);
        let mut got = String::new();
        reader.read_to_string(&mut got).unwrap();
        assert_eq!(got, "x");
        assert!(matches!(a.receive::<u32>(None), Err(ChannelError::Closed)));
    }

    #[test]
    fn waits_no_longer_than_asked() {
        let (mut a, _b) = Channel::pair().unwrap();
        let soon = Instant::now() + Duration::from_millis(20);
        assert!(a.receive::<u32>(Some(soon)).unwrap().is_none());
    }

    #[test]
    fn only_the_bound_process_is_heard() {
        let own = rustix::process::getpid();
        let (mut a, b) = Channel::pair().unwrap();
        a.bind_peer(own);
        Channel::new(b.try_clone().unwrap()).send(&7u32, &[]).unwrap();
        assert_eq!(a.receive::<u32>(None).unwrap().unwrap().0, 7);
        // The same bytes from another process that has the socket.
        let status = std::process::Command::new("printf")
            .arg("\\001\\000\\000\\000\\000\\007")
            .stdout(b)
            .status();
        assert!(status.unwrap().success());
        let got = a.receive::<u32>(None);
        assert!(matches!(got, Err(ChannelError::Foreign)), "{got:?}");
    }

    #[test]
    fn an_end_that_does_not_read_is_given_up() {
        let (a, _b) = Channel::pair().unwrap();
        let begun = Instant::now();
        let soon = Some(begun + Duration::from_millis(50));
        let sent = a.send_by(&vec![0u8; 3 << 20], &[], soon);
        assert!(matches!(sent, Err(ChannelError::Stuck)), "{sent:?}");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn an_end_that_sends_without_end_is_late() {
        let (mut a, b) = Channel::pair().unwrap();
        let mut file = std::fs::File::from(b);
        // A message of 4 MiB that comes byte by byte.
        let sender = std::thread::spawn(move || {
            let mut n = file.write(&(MAX_MESSAGE as u32).to_le_bytes()).unwrap();
            while n < MAX_MESSAGE && file.write(&[0]).is_ok() {
                n += 1;
            }
            n
        });
        let begun = Instant::now();
        assert!(a.receive::<Vec<u8>>(Some(begun + Duration::from_millis(20))).unwrap().is_none());
        drop(a);
        assert!(sender.join().unwrap() < MAX_MESSAGE);
    }

    #[test]
    fn lies_about_lengths_and_nonsense_are_errors() {
        let (mut a, b) = Channel::pair().unwrap();
        std::fs::File::from(b).write_all(&[255; 8]).unwrap();
        assert!(matches!(a.receive::<u32>(None), Err(ChannelError::TooLong(_))));
        let (mut a, b) = Channel::pair().unwrap();
        let mut file = std::fs::File::from(b);
        // A list of a billion numbers in five bytes.
        file.write_all(&[5, 0, 0, 0, 0, 0x80, 0x94, 0xeb, 0xdc, 0x03]).unwrap();
        assert!(matches!(a.receive::<Vec<u64>>(None), Err(ChannelError::Format(_))));
        let (a, _b) = Channel::pair().unwrap();
        assert!(matches!(a.send(&vec![0u8; MAX_MESSAGE], &[]), Err(ChannelError::TooLong(_))));
    }
}
