//! Requests about terminals, in exchanges at the node [`TERMINAL`]: the guest writes one request,
//! then reads one reply; a further `write` starts the next exchange. The node takes the place of
//! `ioctl(2)`, which preview 1 lacks, of `getpgid`, `getsid` and `setpgid`, and of locks of files
//! ([`lock`](crate::lock)).
//!
//! A request is an operation (1 byte), 3 bytes that are ignored, the number of a descriptor or
//! process (4 bytes), and the operation's argument. A reply is an errno (WASI preview 1 numbering, 2
//! bytes, 0 for success), 2 bytes that are zero, and the answer, which only a success has.
//!
//! Attributes are Linux's `struct ktermios` ([`Termios::encode`]), with Linux's numbers.

use alloc::vec::Vec;

/// The node.
pub const TERMINAL: &str = "/.box/terminal";

/// The value of [`GROUP_VARIABLE`](crate::GROUP_VARIABLE) for a new session. If the child's
/// standard input is a terminal that no session has, it becomes the session's controlling terminal,
/// as after `login_tty(3)`.
pub const GROUP_SESSION: &str = "session";
/// The value of [`GROUP_VARIABLE`](crate::GROUP_VARIABLE) for a new group in the foreground: before
/// the child runs, its group is the foreground group of the parent's controlling terminal. A parent
/// that moved the terminal afterwards would be too late for a child that reads at once.
pub const GROUP_FOREGROUND: &str = "foreground";

/// The greatest length of a request or reply.
pub const MAX_MESSAGE: usize = 64;

/// An operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TerminalOperation {
    /// `tcgetattr(3)`: answers with a [`Termios`].
    GetAttributes = 1,
    /// `tcsetattr(3)`: the argument is 0 (at once), 1 (after the output) or 2 (and drops the
    /// input), as 4 bytes, and a [`Termios`].
    SetAttributes = 2,
    /// `TIOCGWINSZ`: answers with rows, columns, width and height, 2 bytes each.
    GetSize = 3,
    /// `TIOCSWINSZ`: the argument is such a size.
    SetSize = 4,
    /// `tcgetpgrp(3)`: answers with a group.
    GetForeground = 5,
    /// `tcsetpgrp(3)`: the argument is a group.
    SetForeground = 6,
    /// `tcgetsid(3)`: answers with a session.
    GetSession = 7,
    /// `ptsname(3)` and `ttyname(3)`: answers with N of `/dev/pts/N`, and with 1 if the descriptor
    /// is the master, otherwise 0.
    GetName = 8,
    /// `TIOCSCTTY`: the terminal becomes that of the caller's session.
    SetControlling = 9,
    /// `TIOCNOTTY`: the caller's session gives its terminal up.
    DropControlling = 10,
    /// `tcflush(3)`: the argument is 0 (input), 1 (output) or 2 (both).
    Flush = 11,
    /// `tcflow(3)`: the argument is 0 (stop output), 1 (start output), 2 (send the stop character)
    /// or 3 (send the start character).
    Flow = 12,
    /// `tcsendbreak(3)`.
    SendBreak = 13,
    /// `FIONREAD`: answers with the number of bytes that a read would give.
    InputCount = 14,
    /// `TIOCOUTQ`: answers with the number of bytes that are not yet written.
    OutputCount = 15,
    /// `getpgid(2)` and `getsid(2)`: answers with the group and the session of a process, 0 being
    /// the caller.
    GetMembership = 16,
    /// `setpgid(2)`: the argument is a group, 0 for a new one.
    SetGroup = 17,
    /// `flock(2)`: the argument is a [`WholeLock`](crate::lock::WholeLock).
    LockFile = 18,
    /// `fcntl(2)` with `F_GETLK`, `F_SETLK` or `F_SETLKW`: the argument is a
    /// [`RecordLock`](crate::lock::RecordLock), and so is the answer to the first.
    LockRange = 19,
}

impl TerminalOperation {
    /// Returns the operation of a number.
    pub fn from_number(number: u8) -> Option<TerminalOperation> {
        use TerminalOperation as Op;
        const ALL: [TerminalOperation; 19] = [
            Op::GetAttributes,
            Op::SetAttributes,
            Op::GetSize,
            Op::SetSize,
            Op::GetForeground,
            Op::SetForeground,
            Op::GetSession,
            Op::GetName,
            Op::SetControlling,
            Op::DropControlling,
            Op::Flush,
            Op::Flow,
            Op::SendBreak,
            Op::InputCount,
            Op::OutputCount,
            Op::GetMembership,
            Op::SetGroup,
            Op::LockFile,
            Op::LockRange,
        ];
        ALL.into_iter().find(|op| *op as u8 == number)
    }
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalRequest<'a> {
    pub operation: TerminalOperation,
    /// A descriptor; a process for the operations on groups.
    pub number: u32,
    pub argument: &'a [u8],
}

impl<'a> TerminalRequest<'a> {
    /// Encodes the request.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 + self.argument.len());
        out.extend_from_slice(&[self.operation as u8, 0, 0, 0]);
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(self.argument);
        out
    }

    /// Decodes a request; `None` for an unknown operation and for one that is too short or long.
    pub fn decode(b: &'a [u8]) -> Option<TerminalRequest<'a>> {
        if b.len() > MAX_MESSAGE {
            return None;
        }
        let (head, argument) = b.split_first_chunk::<8>()?;
        Some(TerminalRequest {
            operation: TerminalOperation::from_number(head[0])?,
            number: u32::from_le_bytes([head[4], head[5], head[6], head[7]]),
            argument,
        })
    }

    /// Returns the argument as a number; `None` if it is not a number.
    pub fn number_argument(&self) -> Option<u32> {
        Some(u32::from_le_bytes(self.argument.try_into().ok()?))
    }
}

/// Input modes.
pub mod iflag {
    pub const IGNBRK: u32 = 0o1;
    pub const BRKINT: u32 = 0o2;
    pub const IGNPAR: u32 = 0o4;
    pub const PARMRK: u32 = 0o10;
    pub const INPCK: u32 = 0o20;
    pub const ISTRIP: u32 = 0o40;
    pub const INLCR: u32 = 0o100;
    pub const IGNCR: u32 = 0o200;
    pub const ICRNL: u32 = 0o400;
    pub const IUCLC: u32 = 0o1000;
    pub const IXON: u32 = 0o2000;
    pub const IXANY: u32 = 0o4000;
    pub const IXOFF: u32 = 0o10000;
    pub const IMAXBEL: u32 = 0o20000;
    pub const IUTF8: u32 = 0o40000;
}

/// Output modes.
pub mod oflag {
    pub const OPOST: u32 = 0o1;
    pub const OLCUC: u32 = 0o2;
    pub const ONLCR: u32 = 0o4;
    pub const OCRNL: u32 = 0o10;
    pub const ONOCR: u32 = 0o20;
    pub const ONLRET: u32 = 0o40;
    pub const OFILL: u32 = 0o100;
    pub const OFDEL: u32 = 0o200;
    pub const NLDLY: u32 = 0o400;
    pub const CRDLY: u32 = 0o3000;
    pub const TABDLY: u32 = 0o14000;
    pub const BSDLY: u32 = 0o20000;
    pub const VTDLY: u32 = 0o40000;
    pub const FFDLY: u32 = 0o100000;
}

/// Control modes.
pub mod cflag {
    /// The speed.
    pub const CBAUD: u32 = 0o10017;
    pub const B38400: u32 = 0o17;
    pub const CSIZE: u32 = 0o60;
    pub const CS8: u32 = 0o60;
    pub const CSTOPB: u32 = 0o100;
    pub const CREAD: u32 = 0o200;
    pub const PARENB: u32 = 0o400;
    pub const PARODD: u32 = 0o1000;
    pub const HUPCL: u32 = 0o2000;
    pub const CLOCAL: u32 = 0o4000;
    pub const CMSPAR: u32 = 0o10000000000;
    pub const CRTSCTS: u32 = 0o20000000000;
}

/// Local modes.
pub mod lflag {
    pub const ISIG: u32 = 0o1;
    pub const ICANON: u32 = 0o2;
    pub const XCASE: u32 = 0o4;
    pub const ECHO: u32 = 0o10;
    pub const ECHOE: u32 = 0o20;
    pub const ECHOK: u32 = 0o40;
    pub const ECHONL: u32 = 0o100;
    pub const NOFLSH: u32 = 0o200;
    pub const TOSTOP: u32 = 0o400;
    pub const ECHOCTL: u32 = 0o1000;
    pub const ECHOPRT: u32 = 0o2000;
    pub const ECHOKE: u32 = 0o4000;
    pub const FLUSHO: u32 = 0o10000;
    pub const PENDIN: u32 = 0o40000;
    pub const IEXTEN: u32 = 0o100000;
    pub const EXTPROC: u32 = 0o200000;
}

/// Indices of special characters.
pub mod cc {
    pub const VINTR: usize = 0;
    pub const VQUIT: usize = 1;
    pub const VERASE: usize = 2;
    pub const VKILL: usize = 3;
    pub const VEOF: usize = 4;
    pub const VTIME: usize = 5;
    pub const VMIN: usize = 6;
    pub const VSWTC: usize = 7;
    pub const VSTART: usize = 8;
    pub const VSTOP: usize = 9;
    pub const VSUSP: usize = 10;
    pub const VEOL: usize = 11;
    pub const VREPRINT: usize = 12;
    pub const VDISCARD: usize = 13;
    pub const VWERASE: usize = 14;
    pub const VLNEXT: usize = 15;
    pub const VEOL2: usize = 16;
}

/// The number of special characters.
pub const CHARACTERS: usize = 19;
/// Encoded length of a [`Termios`].
pub const TERMIOS_LEN: usize = 36;

/// The attributes of a terminal (`termios(3)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Termios {
    pub iflag: u32,
    pub oflag: u32,
    pub cflag: u32,
    pub lflag: u32,
    pub line: u8,
    pub cc: [u8; CHARACTERS],
}

impl Default for Termios {
    /// Returns the attributes of a new pseudo-terminal.
    fn default() -> Termios {
        use lflag::*;
        let mut cc = [0; CHARACTERS];
        cc[..17].copy_from_slice(&[
            3, 0o34, 0o177, 0o25, 4, 0, 1, 0, 0o21, 0o23, 0o32, 0, 0o22, 0o17, 0o27, 0o26, 0,
        ]);
        Termios {
            iflag: iflag::ICRNL | iflag::IXON,
            oflag: oflag::OPOST | oflag::ONLCR,
            cflag: cflag::B38400 | cflag::CS8 | cflag::CREAD,
            lflag: ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
            line: 0,
            cc,
        }
    }
}

impl Termios {
    /// Encodes into [`TERMIOS_LEN`] bytes.
    pub fn encode(&self) -> [u8; TERMIOS_LEN] {
        let mut out = [0; TERMIOS_LEN];
        for (i, v) in [self.iflag, self.oflag, self.cflag, self.lflag].into_iter().enumerate() {
            out[4 * i..4 * i + 4].copy_from_slice(&v.to_le_bytes());
        }
        out[16] = self.line;
        out[17..].copy_from_slice(&self.cc);
        out
    }

    /// Decodes the output of [`Termios::encode`]; `None` for another length.
    pub fn decode(b: &[u8]) -> Option<Termios> {
        let b: &[u8; TERMIOS_LEN] = b.try_into().ok()?;
        let word = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let mut cc = [0; CHARACTERS];
        cc.copy_from_slice(&b[17..]);
        Some(Termios {
            iflag: word(0),
            oflag: word(4),
            cflag: word(8),
            lflag: word(12),
            line: b[16],
            cc,
        })
    }

    /// Sets what `cfmakeraw(3)` sets: bytes pass as they are.
    pub fn make_raw(&mut self) {
        use {iflag::*, lflag::*};
        self.iflag &= !(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
        self.oflag &= !oflag::OPOST;
        self.lflag &= !(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
        self.cflag = self.cflag & !(cflag::CSIZE | cflag::PARENB) | cflag::CS8;
        (self.cc[cc::VMIN], self.cc[cc::VTIME]) = (1, 0);
    }
}

/// The size of a terminal's window (`struct winsize`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowSize {
    pub rows: u16,
    pub columns: u16,
    /// Width and height in pixels, 0 if unknown.
    pub width: u16,
    pub height: u16,
}

impl WindowSize {
    /// Encodes into 8 bytes.
    pub fn encode(&self) -> [u8; 8] {
        let mut out = [0; 8];
        let all = [self.rows, self.columns, self.width, self.height];
        for (place, v) in out.chunks_exact_mut(2).zip(all) {
            place.copy_from_slice(&v.to_le_bytes());
        }
        out
    }

    /// Decodes the output of [`WindowSize::encode`]; `None` for another length.
    pub fn decode(b: &[u8]) -> Option<WindowSize> {
        let b: &[u8; 8] = b.try_into().ok()?;
        let at = |i: usize| u16::from_le_bytes([b[i], b[i + 1]]);
        Some(WindowSize { rows: at(0), columns: at(2), width: at(4), height: at(6) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_sizes_round_trip() {
        let mut t = Termios::default();
        t.cc[18] = 7;
        assert_eq!(Termios::decode(&t.encode()), Some(t));
        assert_eq!(Termios::decode(&[0; 35]), None);
        let size = WindowSize { rows: 24, columns: 80, width: 1, height: u16::MAX };
        assert_eq!(WindowSize::decode(&size.encode()), Some(size));
        assert_eq!(WindowSize::decode(&[0; 7]), None);
    }

    /// The numbers that `tcgetattr` gives for a new pseudo-terminal of Linux 6.18.
    #[test]
    fn a_new_terminal_is_as_linux_makes_it() {
        let t = Termios::default();
        assert_eq!((t.iflag, t.oflag, t.cflag, t.lflag), (1280, 5, 191, 35387));
        assert_eq!(&t.cc[..17], b"\x03\x1c\x7f\x15\x04\0\x01\0\x11\x13\x1a\0\x12\x0f\x17\x16\0");
    }

    #[test]
    fn requests_round_trip_and_hostile_ones_are_refused() {
        let r = TerminalRequest {
            operation: TerminalOperation::SetForeground,
            number: 9,
            argument: &7u32.to_le_bytes(),
        };
        let bytes = r.encode();
        assert_eq!(TerminalRequest::decode(&bytes), Some(r));
        assert_eq!(r.number_argument(), Some(7));
        for n in 0..8 {
            assert_eq!(TerminalRequest::decode(&bytes[..n]), None);
        }
        assert_eq!(TerminalRequest::decode(&[0; 8]), None);
        assert_eq!(TerminalRequest::decode(&[20, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(TerminalRequest::decode(&[1; MAX_MESSAGE + 1]), None);
    }
}
