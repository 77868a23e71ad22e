//! Terminals: attributes, size, name, foreground group.
//!
//! On the guest the kernel's node answers ([`box_abi::terminal`]). Without that node, and on a file
//! that is no terminal of the kernel, the functions fail with ENOTTY. On Linux the real calls are
//! used; other hosts have no attributes in this form.

use std::fs::File;
use std::io;

use box_abi::terminal::{TerminalOperation, TerminalRequest};
pub use box_abi::terminal::{Termios, WindowSize, cc, iflag, lflag, oflag};

use crate::backend::terminal_call;

/// When [`set_attributes`] takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributesMoment {
    Now = 0,
    /// After the output is written.
    Drained = 1,
    /// After that, and without the input that was not read.
    Flushed = 2,
}

/// Sends a request about a terminal, whose answer has `len` bytes.
fn ask(
    file: &File,
    operation: TerminalOperation,
    argument: &[u8],
    len: usize,
) -> io::Result<Vec<u8>> {
    let answer = terminal_call(file, &TerminalRequest { operation, number: 0, argument })?;
    if answer.len() == len { Ok(answer) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn ask_number(file: &File, operation: TerminalOperation) -> io::Result<u32> {
    let answer = ask(file, operation, &[], 4)?;
    Ok(u32::from_le_bytes([answer[0], answer[1], answer[2], answer[3]]))
}

/// Returns the attributes (`tcgetattr(3)`).
pub fn attributes(file: &File) -> io::Result<Termios> {
    let answer = ask(file, TerminalOperation::GetAttributes, &[], box_abi::terminal::TERMIOS_LEN)?;
    Termios::decode(&answer).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Sets the attributes (`tcsetattr(3)`).
pub fn set_attributes(file: &File, to: &Termios, when: AttributesMoment) -> io::Result<()> {
    let argument = [&(when as u32).to_le_bytes()[..], &to.encode()].concat();
    ask(file, TerminalOperation::SetAttributes, &argument, 0).map(drop)
}

/// Returns the size of the window.
pub fn window_size(file: &File) -> io::Result<WindowSize> {
    let answer = ask(file, TerminalOperation::GetSize, &[], 8)?;
    WindowSize::decode(&answer).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Sets the size of the window.
pub fn set_window_size(file: &File, size: WindowSize) -> io::Result<()> {
    ask(file, TerminalOperation::SetSize, &size.encode(), 0).map(drop)
}

/// Returns the path of a terminal (`ttyname(3)`).
pub fn terminal_name(file: &File) -> io::Result<String> {
    let answer = ask(file, TerminalOperation::GetName, &[], 8)?;
    let number = u32::from_le_bytes([answer[0], answer[1], answer[2], answer[3]]);
    Ok(format!("/dev/pts/{number}"))
}

/// Returns the foreground group (`tcgetpgrp(3)`).
pub fn foreground_group(file: &File) -> io::Result<u32> {
    ask_number(file, TerminalOperation::GetForeground)
}

/// Sets the foreground group (`tcsetpgrp(3)`).
pub fn set_foreground_group(file: &File, group: u32) -> io::Result<()> {
    ask(file, TerminalOperation::SetForeground, &group.to_le_bytes(), 0).map(drop)
}

/// The process group and the session of the calling process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnMembership {
    pub group: u32,
    pub session: u32,
}

/// Returns the group and session of the calling process. The terminal only names the system.
pub fn own_membership(file: &File) -> io::Result<OwnMembership> {
    let answer = ask(file, TerminalOperation::GetMembership, &[], 8)?;
    let number = |at: usize| {
        u32::from_le_bytes([answer[at], answer[at + 1], answer[at + 2], answer[at + 3]])
    };
    Ok(OwnMembership { group: number(0), session: number(4) })
}

/// Makes the calling process the leader of a group (`setpgid(2)`). Fails with `PermissionDenied` if
/// it leads a session.
pub fn lead_group(file: &File) -> io::Result<()> {
    ask(file, TerminalOperation::SetGroup, &0u32.to_le_bytes(), 0).map(drop)
}
