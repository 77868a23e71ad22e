//! Terminals: reads and writes that wait, job control, and the requests at the node
//! `/.box/terminal`, among them those for locks of files.

use super::border::Fd;
use super::call_fd::{open_file, put_count};
use super::descriptors::OpenDescription;
use super::guest::{GuestCall, Halt, Sys};
use super::host::Host;
use super::locks::{lock_range, lock_whole};
use super::memory::CallMemory;
use super::process::Membership;
use crate::lock_mutex;
use box_abi::lock::{RecordLock, WholeLock};
use box_abi::signal;
use box_abi::terminal::{MAX_MESSAGE, TerminalOperation, TerminalRequest, Termios, WindowSize};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use wasibox_vfs::terminal::{
    MasterEnd, ReadProgress, ReadStep, SlaveEnd, Terminal, TerminalExchange,
};
use wasibox_vfs::{Errno, VfsFile};

/// The bytes that one read moves at most. A line has fewer.
const READ_MOST: usize = 64 << 10;

/// Returns the terminal that controls the caller's session.
pub fn controlling_terminal<H: Host>(c: &GuestCall<'_, H>) -> Option<Arc<Terminal>> {
    let Membership { session, .. } = *lock_mutex(&c.process.membership);
    c.process.kernel.vfs.terminals().of_session(session)
}

/// Waits until the caller is in the foreground of its controlling terminal
/// (`tty_check_change` of Linux). Other terminals do not matter.
///
/// # Errors
/// EIO if the caller would be stopped but may not be, EINTR if a handler has to run.
fn check_foreground<H: Host>(c: &GuestCall<'_, H>, terminal: &Terminal, sig: u8) -> Sys {
    loop {
        let Membership { group, session } = *lock_mutex(&c.process.membership);
        let foreground = terminal.foreground();
        if terminal.session() != session || foreground == 0 || foreground == group {
            return Ok(());
        }
        let bit = signal::signal_bit(sig);
        if c.process.ignored.load(Ordering::SeqCst) & bit != 0 {
            return if sig == signal::TTIN { Err(Errno::IO.into()) } else { Ok(()) };
        }
        if c.process.kernel.is_orphaned(group, session) {
            return Err(Errno::IO.into());
        }
        c.process.kernel.signal_group(group, sig);
        c.process.check_wait()?;
        // A handler that does not end the call, and a process that has just been continued.
        if !c.process.is_stopped() && terminal.foreground() == foreground {
            c.process.park_thread(Some(Instant::now() + std::time::Duration::from_millis(10)))?;
        }
    }
}

/// Reads from a terminal as `n_tty` does: a line, or bytes as VMIN and VTIME say.
pub fn read_terminal<H: Host>(
    c: &mut GuestCall<'_, H>,
    open: &OpenDescription,
    slave: &SlaveEnd,
    list: &[(u32, u32)],
    out: u32,
) -> Sys {
    if !open.read {
        return Err(Errno::BADF.into());
    }
    let room: u64 = list.iter().map(|(_, len)| u64::from(*len)).sum();
    if room == 0 {
        return put_count(c, out, 0);
    }
    if !slave.is_dead() {
        check_foreground(c, slave.terminal(), signal::TTIN)?;
    }
    c.process.threads.share_baton();
    let mut bytes = vec![0; usize::try_from(room).unwrap_or(READ_MOST).min(READ_MOST)];
    let mut progress = ReadProgress::default();
    let (mut deadline, mut seen) = (None, 0);
    loop {
        // Registering comes first, so that no event between the check and the wait is missed.
        slave.terminal().watch(&std::thread::current());
        let ReadStep::Wait(patience) = slave.read(&mut bytes, &mut progress) else { break };
        if open.is_nonblocking() {
            if progress.count == 0 {
                return Err(Errno::AGAIN.into());
            }
            break;
        }
        // The time between two bytes begins again with each.
        if deadline.is_none() || progress.count > seen {
            deadline = patience.and_then(|time| Instant::now().checked_add(time));
            seen = progress.count;
        }
        if deadline.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        match c.process.park_thread(deadline) {
            Err(Halt::Errno(_)) if progress.count > 0 => break,
            r => r?,
        }
    }
    let mut at = 0;
    for &(ptr, len) in list {
        let n = (len as usize).min(progress.count - at);
        c.mem.put_bytes(ptr, &bytes[at..at + n])?;
        at += n;
        if at == progress.count {
            break;
        }
    }
    put_count(c, out, progress.count as u64)
}

/// Checks before a write to a terminal whether the caller may write (TOSTOP).
pub fn check_write<H: Host>(c: &GuestCall<'_, H>, slave: &SlaveEnd) -> Sys {
    if slave.is_dead() || !slave.terminal().stops_background_output() {
        return Ok(());
    }
    check_foreground(c, slave.terminal(), signal::TTOU)
}

/// Opens the controlling terminal (`/dev/tty`).
///
/// # Errors
/// ENXIO if there is none.
pub fn open_controlling<H: Host>(c: &GuestCall<'_, H>) -> Result<VfsFile, Errno> {
    let terminal = controlling_terminal(c).ok_or(Errno::NXIO)?;
    Ok(VfsFile::Slave(terminal.slave()?))
}

/// Carries out the request that a guest has written to the node.
pub fn take_request<H: Host>(
    c: &mut GuestCall<'_, H>,
    exchange: &TerminalExchange,
    list: &[(u32, u32)],
    out: u32,
) -> Sys {
    let mut message = Vec::with_capacity(MAX_MESSAGE);
    for &(ptr, len) in list {
        if message.len() + len as usize > MAX_MESSAGE {
            return Err(Errno::INVAL.into());
        }
        c.mem.lend_bytes(ptr, len as usize, |bytes| {
            message.extend_from_slice(bytes);
            Ok(())
        })?;
    }
    let request = TerminalRequest::decode(&message).ok_or(Errno::INVAL)?;
    match answer_request(c, request) {
        Ok(answer) => exchange.put_reply(Ok(&answer)),
        Err(Halt::Errno(e)) => exchange.put_reply(Err(e)),
        Err(end) => return Err(end),
    }
    put_count(c, out, message.len() as u64)
}

/// A descriptor of a terminal.
enum TerminalFile {
    Master(Arc<Terminal>),
    Slave(Arc<Terminal>),
}

impl TerminalFile {
    fn terminal(&self) -> &Arc<Terminal> {
        match self {
            TerminalFile::Master(t) | TerminalFile::Slave(t) => t,
        }
    }

    fn is_master(&self) -> bool {
        matches!(self, TerminalFile::Master(_))
    }
}

fn find_terminal<H: Host>(c: &GuestCall<'_, H>, fd: u32) -> Result<TerminalFile, Errno> {
    match &open_file(c, Fd(fd))?.file {
        VfsFile::Master(m) => Ok(TerminalFile::Master(m.terminal().clone())),
        VfsFile::Slave(s) if s.is_dead() => Err(Errno::IO),
        VfsFile::Slave(s) => Ok(TerminalFile::Slave(s.terminal().clone())),
        _ => Err(Errno::NOTTY),
    }
}

fn pending_count<H: Host>(c: &GuestCall<'_, H>, fd: u32) -> Result<usize, Errno> {
    let of = |master: &MasterEnd| master.pending_count();
    match &open_file(c, Fd(fd))?.file {
        VfsFile::Master(m) => Ok(of(m)),
        VfsFile::Slave(s) => Ok(s.pending_count()),
        _ => Err(Errno::NOTTY),
    }
}

fn answer_request<H: Host>(
    c: &GuestCall<'_, H>,
    request: TerminalRequest<'_>,
) -> Result<Vec<u8>, Halt> {
    use TerminalOperation as Op;
    let number = |n: u32| Ok(n.to_le_bytes().to_vec());
    let argument = || request.number_argument().ok_or(Halt::Errno(Errno::INVAL));
    match request.operation {
        Op::GetMembership => {
            let of = c.process.kernel.membership_of(c.process, request.number)?;
            return Ok([of.group.to_le_bytes(), of.session.to_le_bytes()].concat());
        }
        Op::SetGroup => {
            c.process.kernel.set_group(c.process, request.number, argument()?)?;
            return Ok(Vec::new());
        }
        Op::LockFile => {
            let lock = WholeLock::decode(request.argument).ok_or(Errno::INVAL)?;
            return lock_whole(c, request.number, lock);
        }
        Op::LockRange => {
            let lock = RecordLock::decode(request.argument).ok_or(Errno::INVAL)?;
            return lock_range(c, request.number, lock);
        }
        _ => {}
    }
    let file = find_terminal(c, request.number)?;
    let terminal = file.terminal();
    let own = *lock_mutex(&c.process.membership);
    // Another session's terminal is known by its master only.
    let is_visible = file.is_master() || terminal.session() == own.session;
    match request.operation {
        Op::GetAttributes => Ok(terminal.termios().encode().to_vec()),
        Op::SetAttributes => {
            let (when, rest) =
                request.argument.split_first_chunk::<4>().ok_or(Halt::Errno(Errno::INVAL))?;
            let to = Termios::decode(rest).ok_or(Errno::INVAL)?;
            let when = u32::from_le_bytes(*when);
            if when > 2 {
                return Err(Errno::INVAL.into());
            }
            check_foreground(c, terminal, signal::TTOU)?;
            terminal.set_termios(to, when == 2);
            Ok(Vec::new())
        }
        Op::GetSize => Ok(terminal.size().encode().to_vec()),
        Op::SetSize => {
            terminal.set_size(WindowSize::decode(request.argument).ok_or(Errno::INVAL)?);
            Ok(Vec::new())
        }
        Op::GetForeground if is_visible => number(terminal.foreground()),
        Op::GetSession if is_visible && terminal.session() != 0 => number(terminal.session()),
        Op::GetForeground | Op::GetSession => Err(Errno::NOTTY.into()),
        Op::SetForeground => {
            let group = argument()?;
            match check_foreground(c, terminal, signal::TTOU) {
                Err(Halt::Errno(Errno::IO)) => return Err(Errno::NOTTY.into()),
                r => r?,
            }
            if terminal.session() == 0 || terminal.session() != own.session {
                return Err(Errno::NOTTY.into());
            }
            if group > i32::MAX as u32 {
                return Err(Errno::INVAL.into());
            }
            c.process.kernel.check_group(group, own.session)?;
            terminal.set_foreground(group);
            Ok(Vec::new())
        }
        Op::GetName => {
            let side = u32::from(file.is_master());
            Ok([terminal.number().to_le_bytes(), side.to_le_bytes()].concat())
        }
        Op::SetControlling => {
            let has_other = controlling_terminal(c).is_some_and(|t| !Arc::ptr_eq(&t, terminal));
            if file.is_master() || own.session != c.process.pid || has_other {
                return Err(Errno::PERM.into());
            }
            if terminal.session() != own.session {
                terminal.control_session(own.session, own.group)?;
            }
            Ok(Vec::new())
        }
        Op::DropControlling => {
            if terminal.session() != own.session || file.is_master() {
                return Err(Errno::NOTTY.into());
            }
            // One process cannot leave the terminal without its session here.
            if own.session == c.process.pid {
                terminal.drop_session();
            }
            Ok(Vec::new())
        }
        Op::Flush => {
            let queue = argument()?;
            if queue > 2 {
                return Err(Errno::INVAL.into());
            }
            check_foreground(c, terminal, signal::TTOU)?;
            let (input, output) = (queue != 1, queue != 0);
            match file {
                TerminalFile::Master(_) => terminal.flush_at_master(input, output),
                TerminalFile::Slave(_) => terminal.flush(input, output),
            }
            Ok(Vec::new())
        }
        Op::Flow => {
            check_foreground(c, terminal, signal::TTOU)?;
            match argument()? {
                0 => terminal.hold_output(true),
                1 => terminal.hold_output(false),
                2 => terminal.send_flow_character(true),
                3 => terminal.send_flow_character(false),
                _ => return Err(Errno::INVAL.into()),
            }
            Ok(Vec::new())
        }
        Op::SendBreak => check_foreground(c, terminal, signal::TTOU).map(|()| Vec::new()),
        Op::InputCount => number(pending_count(c, request.number)? as u32),
        // Output is with the master as soon as it is written.
        Op::OutputCount => number(0),
        Op::GetMembership | Op::SetGroup | Op::LockFile | Op::LockRange => Err(Errno::INVAL.into()),
    }
}
