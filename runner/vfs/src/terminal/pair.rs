//! A terminal: its discipline, its ends, its size, and the session that it controls.

use super::discipline::LineDiscipline;
use super::reading::{ReadProgress, ReadStep};
use super::registry::{Registry, TerminalCount};
use crate::budget::Reservation;
use crate::buffer::{Readiness, WaitingThreads};
use crate::errno::Errno;
use crate::sync::lock_mutex;
use box_abi::signal;
use box_abi::terminal::{Termios, WindowSize, lflag};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::Thread;

/// The receivers of a terminal's signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupSignal {
    /// All processes of a group.
    Group { group: u32, signal: u8 },
    /// The process that leads a session.
    Leader { session: u32, signal: u8 },
}

#[derive(Debug, Default)]
struct PairState {
    discipline: LineDiscipline,
    size: WindowSize,
    masters: usize,
    slaves: usize,
    /// Whether a slave end was opened since the last hang-up.
    was_opened: bool,
    /// The number of hang-ups; slave ends of earlier ones are dead.
    hangups: u32,
    /// The session that it controls and its foreground group; 0 if there is none.
    session: u32,
    foreground: u32,
    waiting: WaitingThreads,
}

/// A terminal; its ends keep it alive.
#[derive(Debug)]
pub struct Terminal {
    number: u32,
    state: Mutex<PairState>,
    registry: Arc<Registry>,
    _held: Reservation,
    _counted: TerminalCount,
}

/// The end that stands for the screen and the keyboard. When the last one is dropped, the terminal
/// hangs up.
#[derive(Debug)]
pub struct MasterEnd {
    terminal: Arc<Terminal>,
}

/// The end that programs use.
#[derive(Debug)]
pub struct SlaveEnd {
    terminal: Arc<Terminal>,
    hangups: u32,
}

impl Terminal {
    pub(super) fn new(
        number: u32,
        registry: Arc<Registry>,
        held: Reservation,
        counted: TerminalCount,
    ) -> Arc<Terminal> {
        let state = Mutex::default();
        Arc::new(Terminal { number, state, registry, _held: held, _counted: counted })
    }

    fn lock_state(&self) -> MutexGuard<'_, PairState> {
        lock_mutex(&self.state)
    }

    /// Returns N of `/dev/pts/N`.
    pub fn number(&self) -> u32 {
        self.number
    }

    pub(super) fn master(self: &Arc<Terminal>) -> MasterEnd {
        self.lock_state().masters += 1;
        MasterEnd { terminal: self.clone() }
    }

    /// Opens a slave end.
    ///
    /// # Errors
    /// EIO if the master is closed.
    pub fn slave(self: &Arc<Terminal>) -> Result<SlaveEnd, Errno> {
        let mut state = self.lock_state();
        if state.masters == 0 {
            return Err(Errno::IO);
        }
        state.slaves += 1;
        state.was_opened = true;
        state.waiting.wake_all();
        Ok(SlaveEnd { terminal: self.clone(), hangups: state.hangups })
    }

    /// Unparks `who` at the next change of state.
    pub fn watch(&self, who: &Thread) {
        self.lock_state().waiting.add_thread(who);
    }

    /// Changes the state, wakes all that wait, and sends the signals that result.
    fn change<T>(&self, change: impl FnOnce(&mut PairState) -> T) -> T {
        let mut state = self.lock_state();
        let result = change(&mut state);
        let group = state.foreground;
        let signals = state.discipline.take_signals();
        state.waiting.wake_all();
        drop(state);
        if group != 0 {
            for signal in signals {
                self.registry.send_signal(GroupSignal::Group { group, signal });
            }
        }
        result
    }

    /// Returns the attributes.
    pub fn termios(&self) -> Termios {
        *self.lock_state().discipline.termios()
    }

    /// Sets the attributes; drops the input first if `flushes`.
    pub fn set_termios(&self, to: Termios, flushes: bool) {
        self.change(|state| {
            if flushes {
                state.discipline.flush_input();
            }
            state.discipline.set_termios(to);
        });
    }

    /// Returns whether writes from background groups stop them.
    pub fn stops_background_output(&self) -> bool {
        self.termios().lflag & lflag::TOSTOP != 0
    }

    /// Returns the window's size.
    pub fn size(&self) -> WindowSize {
        self.lock_state().size
    }

    /// Sets the window's size; the foreground group receives SIGWINCH if it differs.
    pub fn set_size(&self, size: WindowSize) {
        let group = {
            let mut state = self.lock_state();
            if std::mem::replace(&mut state.size, size) == size {
                return;
            }
            state.foreground
        };
        if group != 0 {
            self.registry.send_signal(GroupSignal::Group { group, signal: signal::WINCH });
        }
    }

    /// Returns the session that it controls, or 0.
    pub fn session(&self) -> u32 {
        self.lock_state().session
    }

    /// Returns the foreground group, or 0.
    pub fn foreground(&self) -> u32 {
        self.lock_state().foreground
    }

    /// Sets the foreground group.
    pub fn set_foreground(&self, group: u32) {
        self.lock_state().foreground = group;
    }

    /// Makes it the controlling terminal of a session.
    ///
    /// # Errors
    /// EPERM if it controls another one.
    pub fn control_session(&self, session: u32, foreground: u32) -> Result<(), Errno> {
        let mut state = self.lock_state();
        if state.session != 0 && state.session != session {
            return Err(Errno::PERM);
        }
        (state.session, state.foreground) = (session, foreground);
        Ok(())
    }

    /// Gives up the session, as `TIOCNOTTY` of its leader does.
    pub fn drop_session(&self) {
        let group = {
            let mut state = self.lock_state();
            state.session = 0;
            std::mem::take(&mut state.foreground)
        };
        for signal in [signal::HUP, signal::CONT] {
            if group != 0 {
                self.registry.send_signal(GroupSignal::Group { group, signal });
            }
        }
    }

    /// Ends the connection of all slave ends. The session's leader receives SIGHUP and SIGCONT, and
    /// the foreground group SIGHUP if the leader has ended.
    pub(super) fn hang_up(&self, leader_ended: bool) {
        let (session, group) = {
            let mut state = self.lock_state();
            state.hangups += 1;
            state.was_opened = true;
            state.slaves = 0;
            state.discipline.flush_typed();
            state.discipline.flush_input();
            state.waiting.wake_all();
            (std::mem::take(&mut state.session), std::mem::take(&mut state.foreground))
        };
        let send = |to| self.registry.send_signal(to);
        if session != 0 && !leader_ended {
            send(GroupSignal::Leader { session, signal: signal::HUP });
            send(GroupSignal::Leader { session, signal: signal::CONT });
        }
        if group != 0 && leader_ended {
            send(GroupSignal::Group { group, signal: signal::HUP });
            send(GroupSignal::Group { group, signal: signal::CONT });
        }
    }

    /// Drops bytes: those that programs have not read, those that the master has not read.
    pub fn flush(&self, input: bool, output: bool) {
        self.change(|state| {
            if input {
                state.discipline.flush_input();
            }
            if output {
                state.discipline.flush_output();
            }
        });
    }

    /// Drops bytes as `tcflush(3)` does at the master: its input is all output that it has not read,
    /// its output what was typed and is not yet processed.
    pub fn flush_at_master(&self, input: bool, output: bool) {
        self.change(|state| {
            if input {
                state.discipline.drop_output();
            }
            if output {
                state.discipline.flush_typed();
            }
        });
    }

    /// Stops or restarts output (`tcflow(3)`).
    pub fn hold_output(&self, holds: bool) {
        self.change(|state| {
            if holds {
                state.discipline.hold_output();
            } else {
                state.discipline.resume_output();
            }
        });
    }

    /// Sends the stop or start character to the master.
    pub fn send_flow_character(&self, stops: bool) {
        self.change(|state| state.discipline.send_flow_character(stops));
    }
}

impl MasterEnd {
    /// Returns the terminal.
    pub fn terminal(&self) -> &Arc<Terminal> {
        &self.terminal
    }

    /// Reads output; AGAIN means wait, EIO that no slave end is open any more.
    pub fn try_read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        let mut state = self.terminal.lock_state();
        let n = state.discipline.take_output(buf);
        if n > 0 || buf.is_empty() {
            state.waiting.wake_all();
            return Ok(n);
        }
        Err(if state.slaves == 0 && state.was_opened { Errno::IO } else { Errno::AGAIN })
    }

    /// Types bytes; AGAIN means wait.
    pub fn try_write(&self, data: &[u8]) -> Result<usize, Errno> {
        let n = self.terminal.change(|state| state.discipline.type_bytes(data));
        if n == 0 && !data.is_empty() { Err(Errno::AGAIN) } else { Ok(n) }
    }

    /// Returns whether a read (or write) would not wait.
    pub fn ready(&self, write: bool) -> Option<Readiness> {
        let state = self.terminal.lock_state();
        let (bytes, hangup) = if write {
            (state.discipline.typing_room(), false)
        } else {
            (state.discipline.output_len(), state.slaves == 0 && state.was_opened)
        };
        (bytes > 0 || hangup).then_some(Readiness { bytes: bytes as u64, hangup })
    }

    /// Returns the number of bytes that wait to be read.
    pub fn pending_count(&self) -> usize {
        self.terminal.lock_state().discipline.output_len()
    }

    /// Hangs up, as the last master does when it is dropped. Output can still be read.
    pub fn hang_up(&self) {
        self.terminal.hang_up(false);
    }

    /// Drops the output that waits to be read.
    pub fn drop_output(&self) {
        self.terminal.change(|state| state.discipline.drop_output());
    }
}

impl Drop for MasterEnd {
    fn drop(&mut self) {
        let is_last = {
            let mut state = self.terminal.lock_state();
            state.masters -= 1;
            state.masters == 0
        };
        if is_last {
            self.terminal.registry.forget(self.terminal.number);
            self.terminal.hang_up(false);
        }
    }
}

impl SlaveEnd {
    /// Returns the terminal.
    pub fn terminal(&self) -> &Arc<Terminal> {
        &self.terminal
    }

    /// Returns whether the terminal has hung up since it was opened.
    pub fn is_dead(&self) -> bool {
        self.terminal.lock_state().hangups != self.hangups
    }

    /// Reads further into `buf`. A terminal that has hung up is at its end.
    pub fn read(&self, buf: &mut [u8], progress: &mut ReadProgress) -> ReadStep {
        let mut state = self.terminal.lock_state();
        if state.hangups != self.hangups {
            return ReadStep::Done;
        }
        let before = progress.count;
        let step = state.discipline.read(buf, progress);
        if progress.count > before || step == ReadStep::Done {
            state.waiting.wake_all();
        }
        step
    }

    /// Reads the bytes that a read would give now; AGAIN means wait.
    pub fn try_read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        let mut progress = ReadProgress::default();
        match self.read(buf, &mut progress) {
            ReadStep::Wait(_) if progress.count == 0 => Err(Errno::AGAIN),
            _ => Ok(progress.count),
        }
    }

    /// Writes output; AGAIN means wait, EIO that the terminal has hung up.
    pub fn try_write(&self, data: &[u8]) -> Result<usize, Errno> {
        let mut state = self.terminal.lock_state();
        if state.hangups != self.hangups {
            return Err(Errno::IO);
        }
        let n = state.discipline.write(data);
        if n > 0 {
            state.waiting.wake_all();
        }
        if n == 0 && !data.is_empty() { Err(Errno::AGAIN) } else { Ok(n) }
    }

    /// Returns whether a read (or write) would not wait.
    pub fn ready(&self, write: bool) -> Option<Readiness> {
        let state = self.terminal.lock_state();
        if state.hangups != self.hangups {
            return Some(Readiness { bytes: 0, hangup: true });
        }
        let ready =
            if write { state.discipline.is_writable() } else { state.discipline.has_input(true) };
        let bytes = if write { 4096 } else { state.discipline.input_count() as u64 };
        ready.then_some(Readiness { bytes, hangup: false })
    }

    /// Returns the number of bytes that a read would give.
    pub fn pending_count(&self) -> usize {
        self.terminal.lock_state().discipline.input_count()
    }
}

impl Drop for SlaveEnd {
    fn drop(&mut self) {
        let mut state = self.terminal.lock_state();
        if state.hangups == self.hangups {
            state.slaves -= 1;
            state.waiting.wake_all();
        }
    }
}
