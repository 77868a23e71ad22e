//! The line discipline: one value, without lock or clock.

use super::echo::EchoQueue;
use super::input::CharMap;
use super::line::{InputLine, LINE_CAPACITY};
use super::output::OutputQueue;
use box_abi::terminal::{Termios, cc, cflag, iflag, lflag};
use std::collections::VecDeque;

/// The number of typed bytes that wait until there is room in the line buffer, as in Linux.
pub(super) const TYPED_CAPACITY: usize = 8192;
/// The number of output bytes that survive a flush, because Linux has already moved them to the
/// buffer from which the master reads.
const MOVED: usize = LINE_CAPACITY - 1;

/// A terminal's line discipline (Linux's `n_tty`).
#[derive(Debug)]
pub struct LineDiscipline {
    pub(super) termios: Termios,
    pub(super) special: CharMap,
    /// Typed bytes that are not yet processed.
    typed: VecDeque<u8>,
    pub(super) line: InputLine,
    pub(super) echo: EchoQueue,
    pub(super) out: OutputQueue,
    /// Whether the next byte is literal.
    pub(super) literal: bool,
    /// Whether erased bytes are being printed (ECHOPRT).
    pub(super) erasing: bool,
    /// Whether output is stopped, and whether `tcflow` has stopped it.
    pub(super) stopped: bool,
    pub(super) held: bool,
    /// Signals that typed characters have raised.
    pub(super) signals: Vec<u8>,
}

impl Default for LineDiscipline {
    fn default() -> LineDiscipline {
        let termios = Termios::default();
        LineDiscipline {
            termios,
            special: CharMap::of(&termios),
            typed: VecDeque::new(),
            line: InputLine::default(),
            echo: EchoQueue::default(),
            out: OutputQueue::default(),
            literal: false,
            erasing: false,
            stopped: false,
            held: false,
            signals: Vec::new(),
        }
    }
}

impl LineDiscipline {
    /// Returns the attributes.
    pub fn termios(&self) -> &Termios {
        &self.termios
    }

    /// Sets the attributes. A pseudo-terminal always has 8 bits without parity.
    pub fn set_termios(&mut self, mut to: Termios) {
        to.cflag = to.cflag & !(cflag::CSIZE | cflag::PARENB) | cflag::CS8 | cflag::CREAD;
        let old = std::mem::replace(&mut self.termios, to);
        self.special = CharMap::of(&to);
        if (old.lflag ^ to.lflag) & (lflag::ICANON | lflag::EXTPROC) != 0 {
            self.line.change_kind(to.lflag & lflag::ICANON != 0);
            (self.erasing, self.literal) = (false, false);
        }
        if old.iflag & iflag::IXON != 0 && to.iflag & iflag::IXON == 0 && !self.held {
            self.start();
            self.process_echo();
        }
        self.receive_typed();
    }

    pub(super) fn has_iflag(&self, flag: u32) -> bool {
        self.termios.iflag & flag != 0
    }

    pub(super) fn has_lflag(&self, flag: u32) -> bool {
        self.termios.lflag & flag != 0
    }

    pub(super) fn has_oflag(&self, flag: u32) -> bool {
        self.termios.oflag & flag != 0
    }

    /// Returns whether reads give lines.
    pub(super) fn gives_lines(&self) -> bool {
        self.has_lflag(lflag::ICANON) && !self.has_lflag(lflag::EXTPROC)
    }

    /// Accepts typed bytes; returns how many, which is less than all if the program does not read.
    pub fn type_bytes(&mut self, data: &[u8]) -> usize {
        let n = data.len().min(TYPED_CAPACITY - self.typed.len());
        if self.typed.is_empty() {
            // Most bytes need not wait.
            let done = self.receive(&data[..n]);
            self.typed.extend(&data[done..n]);
        } else {
            self.typed.extend(&data[..n]);
            self.receive_typed();
        }
        n
    }

    /// Returns the number of bytes that [`LineDiscipline::type_bytes`] would accept.
    pub fn typing_room(&self) -> usize {
        TYPED_CAPACITY - self.typed.len()
    }

    /// Processes typed bytes that waited.
    pub(super) fn receive_typed(&mut self) {
        while !self.typed.is_empty() {
            let front = self.typed.as_slices().0.to_vec();
            let done = self.receive(&front);
            self.typed.drain(..done);
            if done < front.len() {
                return;
            }
        }
    }

    /// Processes typed bytes as far as there is room (`n_tty_receive_buf_common`).
    fn receive(&mut self, data: &[u8]) -> usize {
        let mut done = 0;
        while done < data.len() {
            let mut room = LINE_CAPACITY as isize - self.line.len() as isize;
            if self.has_iflag(iflag::PARMRK) {
                room = (room + 2) / 3;
            }
            room -= 1;
            if room <= 0 {
                // In a line without end the last byte is overwritten, so that the end has room.
                let endless = self.has_lflag(lflag::ICANON) && self.line.complete_len() == 0;
                if endless && room < 0 {
                    self.line.cut(self.line.len() - 1);
                }
                room = isize::from(endless);
            }
            let n = (data.len() - done).min(room as usize);
            if n == 0 {
                break;
            }
            self.receive_part(&data[done..done + n]);
            done += n;
        }
        done
    }

    /// Removes and returns the signals that were raised.
    pub fn take_signals(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.signals)
    }

    /// Writes as a program does; returns the number of bytes that were accepted.
    pub fn write(&mut self, data: &[u8]) -> usize {
        self.process_echo();
        if self.stopped { 0 } else { self.put_output(data) }
    }

    /// Returns whether a write would accept bytes.
    pub fn is_writable(&self) -> bool {
        !self.stopped && self.out.room() > 0
    }

    /// Takes output for the master.
    pub fn take_output(&mut self, buf: &mut [u8]) -> usize {
        let n = self.out.take(buf);
        if n > 0 && !self.echo.is_empty() {
            self.process_echo();
        }
        n
    }

    /// Returns the number of bytes of output.
    pub fn output_len(&self) -> usize {
        self.out.len()
    }

    /// Returns the number of bytes that FIONREAD reports.
    pub fn input_count(&self) -> usize {
        if self.gives_lines() { self.line.countable() } else { self.line.len() }
    }

    /// Returns whether there is input for a read, or for `poll(2)`.
    pub fn has_input(&self, polls: bool) -> bool {
        if self.gives_lines() {
            return self.line.complete_len() > 0;
        }
        let (least, time) = (self.termios.cc[cc::VMIN], self.termios.cc[cc::VTIME]);
        let least = if polls && time == 0 && least > 0 { usize::from(least) } else { 1 };
        self.line.len() >= least
    }

    /// Drops the input.
    pub fn flush_input(&mut self) {
        self.line.clear();
        self.erasing = false;
        self.receive_typed();
    }

    /// Drops typed bytes that are not yet processed.
    pub fn flush_typed(&mut self) {
        self.typed.clear();
    }

    /// Drops output, except the part that the master could already read in Linux.
    pub fn flush_output(&mut self) {
        self.out.truncate(MOVED);
    }

    /// Drops all output that the master has not read.
    pub fn drop_output(&mut self) {
        self.out.truncate(0);
    }

    /// Stops output until [`LineDiscipline::resume_output`] (`tcflow(3)`).
    pub fn hold_output(&mut self) {
        (self.held, self.stopped) = (true, true);
    }

    /// Ends the effect of [`LineDiscipline::hold_output`].
    pub fn resume_output(&mut self) {
        if std::mem::take(&mut self.held) {
            self.stopped = false;
        }
    }

    /// Sends the stop character (or the start character) to the master, unless it is switched off.
    pub fn send_flow_character(&mut self, stops: bool) {
        let character = self.termios.cc[if stops { cc::VSTOP } else { cc::VSTART }];
        if character != super::line::DISABLED {
            self.out.push(character);
        }
    }

    /// Starts output, unless `tcflow` has stopped it.
    pub(super) fn start(&mut self) {
        if !self.held {
            self.stopped = false;
        }
    }
}
