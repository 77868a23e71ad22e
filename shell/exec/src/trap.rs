//! Running trap actions (POSIX XCU trap, bash manual 4.1).

use box_sys::{events, signal};
use sh_expand::Str;
use sh_syntax::ast::Command;

use crate::Shell;
use crate::run::{SourceText, TextKind};
use crate::shell::{Flow, Unwind};
use crate::state::here::{CommandContext, ExitTrap};
use crate::state::options::{SetOpt, ShOpt};
use crate::state::traps::Trap;
use crate::state::{PipeStatus, traps};

impl Shell<'_> {
    /// Runs an action and restores `$?` and PIPESTATUS of the interrupted code afterwards.
    fn run_action(&mut self, action: &Str, trap: Option<Trap>) -> Flow {
        let status = self.state.status;
        let pipe: PipeStatus = self.state.pipe_status.clone();
        let line = self.state.line;
        let text = SourceText { text: action, line, kind: TextKind::Action(trap) };
        let r = self.run_within(CommandContext::Action { trap, status }, |s| s.run_text(text));
        self.state.line = line;
        let last = self.state.status;
        self.state.status = status;
        self.state.pipe_status = pipe;
        r.map(|_| last)
    }

    /// Runs the EXIT trap once and returns the status to end with.
    pub(crate) fn run_exit_trap(&mut self, status: i32) -> i32 {
        let is_killed = self.signals.take_ending();
        let Some(action) = self.state.traps.get(traps::EXIT).cloned() else { return status };
        if action.is_empty() || self.state.here.exit_trap == ExitTrap::Never {
            return status;
        }
        // Where a signal ends the shell, the action sees the status of the last command.
        if !is_killed {
            self.state.status = status;
        }
        self.state.traps.set_exit_status(None);
        // bash counts the lines of the EXIT action from 1.
        self.state.line = 1;
        // A trace shows the action at the shell's own level, wherever the shell ends.
        let r = self
            .run_within(CommandContext::ExitAction, |s| s.run_action(&action, Some(Trap::Exit)));
        // The trap is reset only now, because `trap` still lists it within the action.
        self.state.traps.set(traps::EXIT, None);
        match r {
            // The action cannot change that the signal ends the shell.
            _ if is_killed => status,
            // An error that would end the shell has no further effect, except with `set -e`.
            Err(Unwind::Exit(s) | Unwind::GiveUp(s)) => {
                if self.state.options.has_set(SetOpt::ErrExit) {
                    self.state.traps.exit_status().unwrap_or(s)
                } else {
                    self.state.traps.exit_status().unwrap_or(status)
                }
            }
            Err(Unwind::Return(s)) => s,
            _ => status,
        }
    }

    /// Runs the DEBUG trap before a simple command and before the heads of `for`, `case` and so on.
    /// Returns false if the command must be skipped.
    pub(crate) fn run_debug_trap(&mut self, c: &Command) -> Result<bool, Unwind> {
        if self.state.traps.is_empty() && !self.mentions.commands {
            return Ok(true);
        }
        self.note_command(|| sh_syntax::print::command_head(c));
        self.run_debug_action()
    }

    /// Sets the text that `BASH_COMMAND` shows.
    pub(crate) fn note_command(&mut self, text: impl FnOnce() -> Vec<u8>) {
        if !self.state.here.action {
            self.state.command.set(text());
        }
    }

    /// Sets `BASH_COMMAND` to the text of a subshell, but only where the ERR trap may read it.
    pub(crate) fn note_subshell(&mut self, c: &Command) {
        if self.mentions.commands && self.state.traps.sees_trap(Trap::Err) {
            self.note_command(|| sh_syntax::print::command_line(c));
        }
    }

    /// Runs commands of `eval` or `.` and restores `BASH_COMMAND` afterwards.
    pub(crate) fn keeping_command<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.state.command.clone();
        let result = f(self);
        self.state.command = before;
        result
    }

    /// Runs the DEBUG trap for the command recorded before.
    pub(crate) fn run_debug_action(&mut self) -> Result<bool, Unwind> {
        if self.state.here.running.has(Trap::Debug) || !self.state.traps.sees_trap(Trap::Debug) {
            return Ok(true);
        }
        let Some(action) = self.state.traps.get(traps::DEBUG).cloned() else { return Ok(true) };
        let r = self.run_action(&action, Some(Trap::Debug));
        if let Err(Unwind::Exit(_) | Unwind::GiveUp(_)) = r {
            // The commands of an EXIT trap that runs later do not run the DEBUG trap again.
            self.state.traps.hide_debug();
        }
        let status = r?;
        // With extdebug, an action that fails skips the command; status 2 also returns from the
        // function.
        if self.state.options.has_shopt(ShOpt::ExtDebug) {
            if status == 2 {
                return Err(Unwind::Return(0));
            }
            return Ok(status == 0);
        }
        Ok(true)
    }

    pub(crate) fn run_err_trap(&mut self, line: u32) -> Result<(), Unwind> {
        if self.state.here.running.has(Trap::Err) {
            return Ok(());
        }
        let Some(action) = self.state.traps.get(traps::ERR).cloned() else { return Ok(()) };
        let old = self.state.line;
        self.state.line = line;
        let r = self.run_action(&action, Some(Trap::Err));
        self.state.line = old;
        r.map(drop)
    }

    pub(crate) fn run_return_trap(&mut self) -> Result<(), Unwind> {
        if self.state.here.running.has(Trap::Return) {
            return Ok(());
        }
        let Some(action) = self.state.traps.get(traps::RETURN).cloned() else { return Ok(()) };
        self.run_action(&action, Some(Trap::Return)).map(drop)
    }

    /// Takes the signals that arrived at the process. They belong to its outermost shell.
    pub(crate) fn collect_signals(&mut self) {
        if events::has_pending() {
            let here = self.is_process();
            self.signals.collect_arrived(here);
        }
    }

    /// Records the signals that are ignored from the start. They stay ignored and are listed (POSIX
    /// XCU trap).
    pub(crate) fn init_traps(&mut self) {
        self.signals.fix_ignored(events::ignored_at_start());
        for n in (1..64).filter(|n| self.signals.is_fixed(*n)) {
            self.state.traps.set(n, Some(Str::default()));
        }
    }

    /// Makes this process ignore SIGQUIT, as every shell does unless another shell forked it (bash
    /// manual 3.7.6). Its children do not inherit that, unless the shell itself began with the
    /// signal ignored.
    pub fn drop_quit(&mut self) {
        if !self.signals.is_fixed(signal::QUIT) {
            events::drop_signals(events::signal_bit(signal::QUIT));
            self.signals.drop_quit();
        }
    }

    /// Makes this process handle signals as an interactive shell does (bash manual 3.7.6): SIGINT
    /// gives up the present command, and signals that would end or stop it are dropped.
    pub fn begin_interactive(&mut self) {
        let own = INTERACTIVE_DROPS.iter().filter(|n| !self.signals.is_fixed(**n));
        let mut dropped = own.fold(0, |set, n| set | events::signal_bit(*n));
        if self.signals.drops_quit() {
            dropped |= events::signal_bit(signal::QUIT);
        }
        events::drop_signals(dropped);
        self.begin_job_control();
        self.sync_signals();
    }

    /// Catches SIGINT for a foreground command, because the command decides whether the signal ends
    /// the shell: [`Self::end_foreground`]. Returns the signals that were caught before, or `None`
    /// where the signal takes its usual course.
    pub(crate) fn begin_foreground(&mut self) -> Option<u64> {
        let is_ignored = self.state.traps.get(signal::INT).is_some_and(|action| action.is_empty());
        // The reader of a substitution's output does not wait for its commands.
        if is_ignored || self.state.here.captured || !self.sys.concurrent() {
            return None;
        }
        self.collect_signals();
        let (caught, ignored) = events::signal_dispositions();
        let interrupt = events::signal_bit(signal::INT);
        // A trap of the shell around this subshell always runs.
        if ignored & interrupt != 0 || caught & interrupt != 0 && !self.is_process() {
            return None;
        }
        events::catch_signals(caught | interrupt, ignored);
        Some(caught)
    }

    /// Restores what [`Self::begin_foreground`] changed. A SIGINT that arrived meanwhile has no
    /// effect without a trap if the command exited, because the command caught the signal.
    pub(crate) fn end_foreground(&mut self, begun: Option<u64>, has_exited: bool) {
        let Some(caught) = begun else { return };
        if has_exited && self.state.traps.get(signal::INT).is_none() {
            let _ = events::forget_pending(signal::INT);
        }
        let (_, ignored) = events::signal_dispositions();
        events::catch_signals(caught, ignored);
    }

    /// Returns the number of a signal that makes `wait` return: one with a trap to run, or one that
    /// ends the shell.
    pub(crate) fn waiting_signal(&mut self) -> Option<u8> {
        self.collect_signals();
        let acts = |n: &u8| {
            self.signals.has_signal(*n)
                && match self.state.traps.get(*n) {
                    Some(action) => !action.is_empty(),
                    None => !self.does_nothing(*n),
                }
        };
        (1..64).find(acts)
    }

    /// Returns whether a pending signal will end this shell.
    pub(crate) fn is_about_to_end(&mut self) -> bool {
        self.waiting_signal().is_some_and(|n| self.state.traps.get(n).is_none())
    }

    /// Returns whether a signal without an action has no effect.
    fn does_nothing(&self, number: u8) -> bool {
        is_harmless(number)
            || self.state.traps.ignores_unlisted(number)
            || number == signal::QUIT && self.signals.drops_quit() && self.is_process()
            || self.is_at_prompt() && INTERACTIVE_DROPS.contains(&number)
    }

    /// Returns whether this is an interactive shell and no subshell.
    fn is_at_prompt(&self) -> bool {
        self.state.options.is_interactive() && self.is_process() && !self.state.ids.is_subshell()
    }

    /// Registers with the system the signals that this shell catches and ignores. A subshell within
    /// the process has no signals of its own.
    pub(crate) fn sync_signals(&mut self) {
        if self.is_process() {
            let (mut caught, ignored) = self.trapped_signals();
            // The EXIT trap runs before one of these ends the shell.
            if self.state.traps.get(traps::EXIT).is_some_and(|action| !action.is_empty()) {
                caught |= ENDING.iter().fold(0, |set, n| set | events::signal_bit(*n)) & !ignored;
            }
            // The shell notices the end of a child by waiting for it.
            events::catch_signals(caught & !events::signal_bit(signal::CHLD), ignored);
        }
    }

    fn trapped_signals(&self) -> (u64, u64) {
        let (mut caught, mut ignored) = (0, 0);
        for (n, action) in self.state.traps.active_traps().filter(|(n, _)| *n < 64) {
            let set = if action.is_empty() { &mut ignored } else { &mut caught };
            *set |= events::signal_bit(n);
        }
        if self.is_at_prompt() && self.state.traps.get(signal::INT).is_none() {
            caught |= events::signal_bit(signal::INT);
        }
        // The jobs hang up with the shell.
        if self.terminal.is_some() && self.state.traps.get(signal::HUP).is_none() {
            caught |= events::signal_bit(signal::HUP);
        }
        if self.state.traps.ignores_unlisted(signal::QUIT) {
            ignored |= events::signal_bit(signal::QUIT);
        }
        (caught, ignored)
    }

    /// Runs `f`, which starts a child, while the process ignores the signals that the child must
    /// ignore.
    pub(crate) fn with_ignored_signals<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (_, ignored) = self.trapped_signals();
        let (caught, before) = events::signal_dispositions();
        if ignored == before {
            return f(self);
        }
        events::catch_signals(caught & !ignored, ignored);
        let result = f(self);
        events::catch_signals(caught, before);
        result
    }

    /// Records that a child of this shell has ended.
    pub(crate) fn child_ended(&mut self) {
        if self.state.traps.get(signal::CHLD).is_some_and(|a| !a.is_empty()) {
            self.signals.child_ended();
        }
    }

    /// Acts on the signals that arrived: runs the trap's action, or ends the shell.
    pub(crate) fn run_pending_traps(&mut self) -> Result<(), Unwind> {
        self.collect_signals();
        while let Some(number) = self.signals.next() {
            match self.state.traps.get(number).cloned() {
                Some(action) if action.is_empty() => {}
                Some(action) => {
                    // The CHLD trap runs once for each child.
                    let times = match number {
                        signal::CHLD => self.signals.take_children(),
                        _ => 1,
                    };
                    for _ in 0..times {
                        self.run_action(&action, None)?;
                    }
                }
                None if self.does_nothing(number) => {}
                None if number == signal::INT && self.is_at_prompt() => {
                    self.signals.interrupt_command();
                    return Err(Unwind::Discard(128 + i32::from(number)));
                }
                None => {
                    if self.is_process() && self.sys.concurrent() {
                        self.signals.kill_by(number);
                    }
                    self.signals.begin_ending();
                    return Err(Unwind::Exit(128 + i32::from(number)));
                }
            }
        }
        Ok(())
    }
}

/// The signals that end bash only after its EXIT trap has run, without those that no other process
/// would reasonably send: HUP, INT, USR1, USR2, ALRM, TERM, XCPU, XFSZ, VTALRM.
const ENDING: [u8; 9] = [1, 2, 10, 12, 14, 15, 24, 25, 26];

/// Signals that an interactive shell drops in addition to SIGQUIT.
const INTERACTIVE_DROPS: &[u8] = &[signal::TERM, signal::TSTP, signal::TTIN, signal::TTOU];

/// Returns whether a signal by default does nothing, or stops or continues the process.
fn is_harmless(signal: u8) -> bool {
    matches!(signal, 0 | 17 | 18 | 19 | 20 | 21 | 22 | 23 | 28)
}
