//! The two pipes by which a client types into a terminal of the session and sees its screen.
//!
//! Typed bytes come in frames, because the client also sends the window's size: a byte for the kind,
//! the length (2 bytes, little-endian), the content. The screen's bytes come as they are. Nothing
//! is kept beyond the terminal's own buffers: a client that does not read makes programs wait, and
//! programs that do not read make the client wait.
//!
//! The terminal hangs up, as if its window had been closed, when the client closes the keyboard or
//! the screen cannot be written any more.

use box_abi::terminal::WindowSize;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wasibox_vfs::terminal::{MasterEnd, SlaveEnd};
use wasibox_vfs::{Errno, Vfs};

/// The most bytes of a frame's content, so that a frame is written at once (`PIPE_BUF`).
const MAX_CONTENT: usize = 4000;
const HEAD: usize = 3;
const BYTES: u8 = 0;
const SIZE: u8 = 1;
/// The interval at which a keyboard without input checks whether the terminal is still used.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
const STACK: usize = 64 << 10;

/// Encodes typed bytes as frames.
pub fn key_frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.chunks(MAX_CONTENT).map(|part| frame(BYTES, part)).collect()
}

/// Encodes a size as a frame.
pub fn size_frame(size: WindowSize) -> Vec<u8> {
    frame(SIZE, &size.encode())
}

fn frame(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend_from_slice(&(content.len() as u16).to_le_bytes());
    out.extend_from_slice(content);
    out
}

/// A new terminal and the pipes of its client.
pub struct TerminalStart {
    pub size: WindowSize,
    /// Frames of the client.
    pub keyboard: OwnedFd,
    pub screen: OwnedFd,
}

impl TerminalStart {
    /// Opens the terminal and begins to relay. The slave end is for the first process.
    ///
    /// # Errors
    /// ENOSPC if the session has too many terminals, ENOMEM, EAGAIN if there are no threads left.
    pub(crate) fn open(self, vfs: &Vfs) -> Result<SlaveEnd, Errno> {
        let master = Arc::new(vfs.terminals().open_master()?);
        master.terminal().set_size(self.size);
        let slave = master.terminal().slave()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (keys, over) = (master.clone(), is_over.clone());
        let keyboard = File::from(self.keyboard);
        let type_all = move || {
            // Any end of the keyboard is its end.
            let _ = relay_keyboard(&keys, keyboard, &over);
            keys.hang_up();
        };
        let screen = File::from(self.screen);
        let show_all = move || {
            relay_screen(&master, screen);
            is_over.store(true, Ordering::Relaxed);
            master.hang_up();
        };
        let start = |work: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().stack_size(STACK).spawn(work).map_err(|_| Errno::AGAIN)
        };
        start(Box::new(type_all))?;
        start(Box::new(show_all))?;
        Ok(slave)
    }
}

/// Types what comes from the client, until it closes the pipe.
fn relay_keyboard(master: &MasterEnd, mut from: File, is_over: &AtomicBool) -> std::io::Result<()> {
    let mut content = [0; MAX_CONTENT];
    loop {
        let mut fds = [PollFd::new(&from, PollFlags::IN)];
        let ready = poll(&mut fds, Some(&LOOK)).is_ok_and(|n| n > 0);
        if is_over.load(Ordering::Relaxed) {
            return Ok(());
        }
        if !ready {
            continue;
        }
        let mut head = [0; HEAD];
        from.read_exact(&mut head)?;
        let len = usize::from(u16::from_le_bytes([head[1], head[2]]));
        let content = content.get_mut(..len).ok_or(std::io::ErrorKind::InvalidData)?;
        from.read_exact(content)?;
        match head[0] {
            BYTES => type_bytes(master, content, is_over),
            SIZE => {
                if let Some(size) = WindowSize::decode(content) {
                    master.terminal().set_size(size);
                }
            }
            _ => return Err(std::io::ErrorKind::InvalidData.into()),
        }
    }
}

fn type_bytes(master: &MasterEnd, mut bytes: &[u8], is_over: &AtomicBool) {
    while !bytes.is_empty() && !is_over.load(Ordering::Relaxed) {
        master.terminal().watch(&std::thread::current());
        match master.try_write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(_) => std::thread::park_timeout(std::time::Duration::from_millis(500)),
        }
    }
}

/// The time after which a terminal without programs is looked at again.
const AGAIN: std::time::Duration = std::time::Duration::from_millis(50);

/// Passes the screen on until no program has the terminal and its session has ended, or the client is
/// gone. A program closes its descriptors before its end is recorded, so a hang-up at that moment
/// would replace its status by SIGHUP.
fn relay_screen(master: &MasterEnd, mut to: File) {
    let mut buf = vec![0; 32 << 10];
    loop {
        master.terminal().watch(&std::thread::current());
        match master.try_read(&mut buf) {
            Ok(n) => {
                if to.write_all(&buf[..n]).is_err() {
                    return;
                }
            }
            Err(Errno::AGAIN) => std::thread::park(),
            Err(_) if master.terminal().session() != 0 => std::thread::park_timeout(AGAIN),
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::time::Duration;
    use wasibox_vfs::terminal::{GroupSignal, TerminalSignals, Terminals};

    #[derive(Default)]
    struct Received(Mutex<Vec<GroupSignal>>);

    impl TerminalSignals for Received {
        fn deliver(&self, signal: GroupSignal) {
            self.0.lock().unwrap().push(signal);
        }
    }

    #[test]
    fn keys_sizes_and_the_screen_are_relayed_until_the_client_leaves() {
        let terminals = Terminals::new(wasibox_vfs::Budget::new(1 << 20));
        let signals = Arc::new(Received::default());
        let receiver: Arc<dyn TerminalSignals> = signals.clone();
        terminals.add_receiver(Arc::downgrade(&receiver));
        let master = Arc::new(terminals.open_master().unwrap());
        let slave = master.terminal().slave().unwrap();
        master.terminal().control_session(7, 7).unwrap();
        let (keys_in, keys) = std::io::pipe().unwrap();
        let (screen, screen_out) = std::io::pipe().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let (theirs, over) = (master.clone(), is_over.clone());
        let typing = std::thread::spawn(move || {
            relay_keyboard(&theirs, File::from(OwnedFd::from(keys_in)), &over).is_err()
        });
        let theirs = master.clone();
        let showing = std::thread::spawn(move || {
            relay_screen(&theirs, File::from(OwnedFd::from(screen_out)));
        });
        let (mut keys, mut screen) = (keys, screen);
        keys.write_all(&size_frame(WindowSize { rows: 30, columns: 90, ..Default::default() }))
            .unwrap();
        for part in key_frames(b"hi\n") {
            keys.write_all(&part).unwrap();
        }
        let mut shown = [0; 4];
        screen.read_exact(&mut shown).unwrap();
        assert_eq!(&shown, b"hi\r\n");
        let mut line = [0; 8];
        assert_eq!((slave.try_read(&mut line), &line[..3]), (Ok(3), b"hi\n".as_slice()));
        assert_eq!(master.terminal().size().columns, 90);
        let winch = GroupSignal::Group { group: 7, signal: box_abi::signal::WINCH };
        assert_eq!(*signals.0.lock().unwrap(), [winch]);
        drop(keys);
        assert!(typing.join().unwrap(), "the end of the pipe");
        drop(slave);
        // The screen ends with the session, whose leader may still run without the terminal.
        assert!(!showing.is_finished());
        terminals.session_ended(7);
        showing.join().unwrap();
        let mut rest = Vec::new();
        assert_eq!(screen.read_to_end(&mut rest).unwrap(), 0);
    }

    #[test]
    fn a_keyboard_ends_with_its_terminal_and_by_a_wrong_frame() {
        let terminals = Terminals::new(wasibox_vfs::Budget::new(1 << 20));
        let master = terminals.open_master().unwrap();
        for wrong in [[9, 0, 0], [0, 0xff, 0xff]] {
            let (from, mut to) = std::io::pipe().unwrap();
            to.write_all(&wrong).unwrap();
            let from = File::from(OwnedFd::from(from));
            assert!(relay_keyboard(&master, from, &AtomicBool::new(false)).is_err());
        }
        let (from, _to) = std::io::pipe().unwrap();
        let begun = std::time::Instant::now();
        let from = File::from(OwnedFd::from(from));
        assert!(relay_keyboard(&master, from, &AtomicBool::new(true)).is_ok());
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
