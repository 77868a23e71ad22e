//! Signals that arrived and are pending until a safe moment: before the next command, the trap's
//! action runs or the shell ends (`trap.rs`). Sets of signals have one bit for each.

use box_sys::events;

/// The signals of a process, for the shells in it.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    pending: u64,
    /// Signals for the shell around this subshell.
    outer: u64,
    /// Signals that were ignored when the shell began, which it cannot change: the parent has
    /// decided.
    fixed: u64,
    /// Whether the process drops SIGQUIT.
    drops_quit: bool,
    /// The number of children that ended since the CHLD trap last ran.
    ended_children: u32,
    /// The signal that ends this process after its EXIT trap.
    killed_by: Option<u8>,
    /// Whether a signal ends the shell or subshell, whose EXIT trap has not run yet.
    is_ending: bool,
    /// Whether SIGINT has ended a command of an interactive shell.
    interrupted: bool,
}

impl Signals {
    /// Records the signals that were ignored when the shell began, which stay ignored (POSIX XCU
    /// trap).
    pub fn fix_ignored(&mut self, ignored: u64) {
        self.fixed = ignored;
    }

    /// Returns the signals that stay ignored.
    pub fn fixed_signals(&self) -> u64 {
        self.fixed
    }

    /// Returns whether a condition is a signal that stays ignored.
    pub fn is_fixed(&self, condition: u8) -> bool {
        condition < 64 && self.fixed & events::signal_bit(condition) != 0
    }

    /// Records that SIGINT has ended a command of an interactive shell.
    pub fn interrupt_command(&mut self) {
        self.interrupted = true;
    }

    /// Returns whether that has happened since the last call.
    pub fn take_interrupted(&mut self) -> bool {
        std::mem::take(&mut self.interrupted)
    }

    /// Records that the process drops SIGQUIT.
    pub fn drop_quit(&mut self) {
        self.drops_quit = true;
    }

    /// Returns whether the process drops SIGQUIT.
    pub fn drops_quit(&self) -> bool {
        self.drops_quit
    }

    /// Records a signal for this shell.
    pub fn raise_signal(&mut self, signal: u8) {
        if signal < 64 {
            self.pending |= 1 << signal;
        }
    }

    /// Records a signal for the shell around this subshell, which receives it when it continues.
    pub fn raise_outside(&mut self, signal: u8) {
        self.outer |= 1 << (signal & 63);
    }

    /// Takes the signals that arrived at the process. They belong to the outermost shell; `here`
    /// says whether this shell is the outermost.
    pub fn collect_arrived(&mut self, here: bool) {
        if here {
            self.pending |= events::take_pending()
        } else {
            self.outer |= events::take_pending()
        }
    }

    /// Returns to the outermost shell, which takes the signals that arrived while its subshells
    /// ran.
    pub fn return_to_outermost(&mut self) {
        self.pending |= std::mem::take(&mut self.outer);
    }

    /// Returns whether any signal is pending.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.pending != 0
    }

    /// Returns whether this signal is pending.
    pub fn has_signal(&self, signal: u8) -> bool {
        self.pending & events::signal_bit(signal) != 0
    }

    /// Takes the lowest pending signal.
    pub fn next(&mut self) -> Option<u8> {
        if self.pending == 0 {
            return None;
        }
        let number = self.pending.trailing_zeros() as u8;
        self.pending &= !(1 << number);
        Some(number)
    }

    /// Records that a child ended while a CHLD trap is set.
    pub fn child_ended(&mut self) {
        self.ended_children += 1;
        self.raise_signal(box_sys::signal::CHLD);
    }

    /// Takes the number of times that the CHLD trap has to run.
    pub fn take_children(&mut self) -> u32 {
        std::mem::take(&mut self.ended_children).max(1)
    }

    /// Records that the process has to end by this signal.
    pub fn kill_by(&mut self, signal: u8) {
        self.killed_by = Some(signal);
    }

    /// Records that a signal ends the shell or subshell.
    pub fn begin_ending(&mut self) {
        self.is_ending = true;
    }

    /// Takes whether a signal ends the shell or subshell.
    pub fn take_ending(&mut self) -> bool {
        std::mem::take(&mut self.is_ending)
    }

    /// Returns whether the process has to end by this signal.
    pub fn is_killed_by(&self, signal: u8) -> bool {
        self.killed_by == Some(signal)
    }

    /// Takes the signal that the process has to end by.
    pub fn take_killed_by(&mut self) -> Option<u8> {
        self.killed_by.take()
    }
}
