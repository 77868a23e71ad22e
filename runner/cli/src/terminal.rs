//! A command on a terminal of its session, at the host's terminal: `exec -t`.
//!
//! The host's terminal is in raw mode meanwhile, because the session's terminal echoes, edits lines
//! and makes signals of keys. It is put back when the command has ended, and when a signal ends this
//! process. What the command shows is filtered ([`ScreenFilter`]) unless `--raw` is given.

use crate::CliFailure;
use crate::call::failure_from;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;
use std::io::{Read, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wasibox::screen::ScreenFilter;
use wasibox::{Exec, Session, TerminalKeyboard, TerminalSize};

/// The settings of the host's terminal at one time.
pub struct SavedTerminal(Termios);

impl SavedTerminal {
    /// Takes the present settings.
    ///
    /// # Errors
    /// If standard input is no terminal.
    pub fn save() -> std::io::Result<SavedTerminal> {
        Ok(SavedTerminal(tcgetattr(stdin())?))
    }

    /// Puts the terminal back.
    pub fn restore(&self) {
        // A failure means that the terminal is gone.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}

/// The host's terminal in raw mode; dropping it puts it back.
struct RawTerminal(SavedTerminal);

impl RawTerminal {
    fn begin() -> std::io::Result<RawTerminal> {
        let before = SavedTerminal::save()?;
        let mut raw = before.0.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        Ok(RawTerminal(before))
    }

    fn restore(&self) {
        self.0.restore();
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Returns the size of the host's terminal.
fn host_size() -> TerminalSize {
    match tcgetwinsize(stdout()) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => {
            TerminalSize { rows: size.ws_row, columns: size.ws_col }
        }
        _ => TerminalSize::default(),
    }
}

/// How a command on a terminal has ended.
pub struct TerminalEnd {
    /// Its status, as a shell reports it.
    pub status: u8,
    /// Whether what it showed ends within a line.
    pub is_within_line: bool,
}

/// Runs a command on a terminal of the session.
///
/// # Errors
/// If standard input or output is no terminal, or the command cannot be started.
pub fn run(session: &Session, mut exec: Exec, raw: bool) -> Result<TerminalEnd, CliFailure> {
    use std::io::IsTerminal as _;
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(CliFailure::usage("-t needs a terminal at standard input and output"));
    }
    let term = std::env::var("TERM").ok().filter(|t| !t.is_empty());
    if let (Some(term), false) = (term, exec.env.iter().any(|(name, _)| name == b"TERM")) {
        exec.env.push((b"TERM".to_vec(), term.into_bytes()));
    }
    let failed = |e: std::io::Error| CliFailure::new(125, e);
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH]).map_err(failed)?;
    let watching = signals.handle();
    let process = session.spawn_terminal(exec, host_size()).map_err(failure_from)?;
    let (keyboard, mut screen) = (Arc::new(process.keyboard), process.screen);
    let host = Arc::new(RawTerminal::begin().map_err(failed)?);
    let (theirs, terminal) = (keyboard.clone(), host.clone());
    let watcher = std::thread::spawn(move || {
        for signal in signals.forever() {
            if signal == SIGWINCH {
                // A failure means that the command has just ended.
                let _ = theirs.resize(host_size());
            } else {
                terminal.restore();
                signal_hook::low_level::exit(128 + signal);
            }
        }
    });
    let is_over = Arc::new(AtomicBool::new(false));
    let (keys, over) = (keyboard, is_over.clone());
    let typist = std::thread::spawn(move || pass_keys(&keys, &over));
    let mut filter = ScreenFilter::default();
    let mut buf = [0; 32 << 10];
    let mut is_within_line = false;
    while let Ok(n @ 1..) = screen.read(&mut buf) {
        is_within_line = buf[n - 1] != b'\n';
        let shown = if raw { buf[..n].to_vec() } else { filter.filter_bytes(&buf[..n]) };
        let mut out = stdout().lock();
        if out.write_all(&shown).and_then(|()| out.flush()).is_err() {
            break;
        }
    }
    is_over.store(true, Ordering::Relaxed);
    let mut out = stdout().lock();
    let _ = out.write_all(&filter.end()).and_then(|()| out.flush());
    drop(out);
    // Keys that are typed from now on are for whatever comes after the command.
    watching.close();
    let _ = (watcher.join(), typist.join());
    host.restore();
    let end = process.end.wait().end;
    Ok(TerminalEnd { status: wasibox::Outcome::from_end(end).exit_code, is_within_line })
}

/// The interval at which the keyboard is looked at, and the end of the command is noticed.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Types the input of the host's keyboard, until the command is over.
fn pass_keys(keyboard: &TerminalKeyboard, is_over: &AtomicBool) {
    let mut buf = [0; 4096];
    while !is_over.load(Ordering::Relaxed) {
        let input = stdin();
        let mut fds = [PollFd::new(&input, PollFlags::IN)];
        if !matches!(poll(&mut fds, Some(&LOOK)), Ok(1..)) {
            continue;
        }
        // Not through the buffer of standard input, which would keep keys from the next reader.
        match rustix::io::read(&input, &mut buf) {
            Ok(n @ 1..) if keyboard.type_bytes(&buf[..n]).is_ok() => {}
            _ => return,
        }
    }
}
