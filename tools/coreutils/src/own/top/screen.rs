//! `top` on a terminal: keys, and what is drawn.

use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use box_applet::{Ctx, Exit};
use box_sys::terminal::{self, AttributesMoment, Termios, cc, lflag};
use box_sys::{events, signal};

use super::frame::{Frame, SortField};
use super::{TopSettings, parse_delay};

/// The row of questions and messages, which is the empty line above the heading.
const MESSAGE_ROW: usize = 6;
const KEYS: &str = "q quit  P,M,T,N sort  R reverse  c command line  i idle  k kill  d delay";

/// The terminal without lines and echo; dropping it puts the terminal back.
struct KeyMode<'t> {
    file: &'t File,
    before: Termios,
    caught: (u64, u64),
}

impl KeyMode<'_> {
    fn begin(file: &File) -> std::io::Result<KeyMode<'_>> {
        let before = terminal::attributes(file)?;
        let caught = events::signal_dispositions();
        let own = [signal::INT, signal::TERM, signal::CONT, signal::WINCH];
        let own = own.into_iter().map(events::signal_bit).fold(0, |set, bit| set | bit);
        events::catch_signals(caught.0 | own, caught.1);
        let mode = KeyMode { file, before, caught };
        mode.apply()?;
        Ok(mode)
    }

    fn apply(&self) -> std::io::Result<()> {
        let mut t = self.before;
        t.lflag &= !(lflag::ICANON | lflag::ECHO);
        (t.cc[cc::VMIN], t.cc[cc::VTIME]) = (1, 0);
        terminal::set_attributes(self.file, &t, AttributesMoment::Drained)
    }
}

impl Drop for KeyMode<'_> {
    fn drop(&mut self) {
        // A failure means that the terminal is gone.
        let _ = terminal::set_attributes(self.file, &self.before, AttributesMoment::Drained);
        events::catch_signals(self.caught.0, self.caught.1);
    }
}

/// An event at the terminal.
enum ScreenEvent {
    Key(u8),
    /// The time for the next look, or a reason to draw again.
    Look,
    End,
}

struct Screen<'t> {
    mode: KeyMode<'t>,
    rows: usize,
    columns: usize,
}

/// Shows frames until a key, a signal or their number ends that.
pub(super) fn show_frames(ctx: &mut Ctx<'_>, file: &File, mut settings: TopSettings) -> Exit {
    let Ok(mode) = KeyMode::begin(file) else {
        ctx.error(format_args!("failed tty get"));
        return Exit::FAILURE;
    };
    let mut screen = Screen { mode, rows: 24, columns: 80 };
    let (mut before, mut looks): (Option<Frame>, u64) = (None, 0);
    put(ctx, "\x1b[2J");
    loop {
        let frame = Frame::take(ctx, before.as_ref());
        screen.draw(ctx, &frame, &mut settings, "");
        looks += 1;
        if settings.looks == Some(looks) {
            break;
        }
        let until = Instant::now() + settings.delay;
        let goes_on = loop {
            match screen.wait_event(until) {
                ScreenEvent::Look => break true,
                ScreenEvent::End | ScreenEvent::Key(b'q') => break false,
                ScreenEvent::Key(b' ' | b'\n' | b'\r') => break true,
                ScreenEvent::Key(key) => {
                    let message = screen.use_key(ctx, key, &frame, &mut settings);
                    screen.draw(ctx, &frame, &mut settings, &message);
                }
            }
        };
        if !goes_on {
            break;
        }
        before = Some(frame);
    }
    put(ctx, &format!("\x1b[{};1H\r\n", screen.rows));
    Exit::SUCCESS
}

/// Writes to the terminal.
fn put(ctx: &mut Ctx<'_>, text: &str) {
    // A failure means that the terminal is gone; the next read says so.
    let _ = ctx.stdout.write_all(text.as_bytes());
    let _ = ctx.stdout.flush();
}

impl Screen<'_> {
    fn draw(
        &mut self,
        ctx: &mut Ctx<'_>,
        frame: &Frame,
        settings: &mut TopSettings,
        message: &str,
    ) {
        if let Ok(size) = terminal::window_size(self.mode.file)
            && size.rows > 0
            && size.columns > 0
        {
            (self.rows, self.columns) = (size.rows.into(), size.columns.into());
        }
        settings.frame.width = self.columns;
        let lines = frame.lines(&settings.frame);
        let mut text = String::from("\x1b[H");
        for (at, line) in lines.iter().enumerate().take(self.rows) {
            let line = if at + 1 == MESSAGE_ROW { message } else { line };
            // The heading is a bar over the whole width.
            let line = if at == MESSAGE_ROW {
                format!("\x1b[7m{line:<width$}\x1b[27m", width = self.columns)
            } else {
                line.to_owned()
            };
            let end = if at + 1 == lines.len().min(self.rows) { "" } else { "\r\n" };
            text.push_str(&format!("{line}\x1b[K{end}"));
        }
        text.push_str(&format!("\x1b[J\x1b[{MESSAGE_ROW};1H"));
        put(ctx, &text);
    }

    /// Waits for a key, a signal, or the time of the next look.
    fn wait_event(&self, until: Instant) -> ScreenEvent {
        loop {
            let arrived = events::take_pending();
            let has = |signal| arrived & events::signal_bit(signal) != 0;
            if has(signal::INT) || has(signal::TERM) {
                return ScreenEvent::End;
            }
            if has(signal::CONT) {
                // The shell may have changed the terminal since this program was stopped.
                let _ = self.mode.apply();
            }
            if has(signal::CONT) || has(signal::WINCH) {
                return ScreenEvent::Look;
            }
            let left = until.saturating_duration_since(Instant::now());
            match events::poll_readable(self.mode.file, left) {
                Ok(true) => return self.read_key().map_or(ScreenEvent::End, ScreenEvent::Key),
                Ok(false) => return ScreenEvent::Look,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return ScreenEvent::End,
            }
        }
    }

    fn read_key(&self) -> Option<u8> {
        let mut key = [0];
        let mut file = self.mode.file;
        matches!(file.read(&mut key), Ok(1)).then_some(key[0])
    }

    /// Does what a key stands for. Returns a message.
    fn use_key(
        &self,
        ctx: &mut Ctx<'_>,
        key: u8,
        frame: &Frame,
        settings: &mut TopSettings,
    ) -> String {
        let options = &mut settings.frame;
        match key {
            b'P' => options.sort = SortField::Cpu,
            b'M' => options.sort = SortField::Memory,
            b'T' => options.sort = SortField::Time,
            b'N' => options.sort = SortField::Pid,
            b'R' => options.is_ascending = !options.is_ascending,
            b'c' => options.has_command_line = !options.has_command_line,
            b'i' => options.without_idle = !options.without_idle,
            b'd' | b's' => {
                let now = settings.delay.as_secs_f64();
                let text = self.ask(ctx, &format!("Change delay from {now:.1} to "));
                match text.as_deref() {
                    None | Some("") => {}
                    Some(text) => match parse_delay(text) {
                        Some(delay) => settings.delay = delay,
                        None => return format!(" Unacceptable floating point '{text}'"),
                    },
                }
            }
            b'k' => return self.kill_process(ctx, frame.first_pid(options)).unwrap_or_default(),
            b'h' | b'?' => return KEYS.to_owned(),
            _ => return " Unknown command - try 'h' for help".to_owned(),
        }
        String::new()
    }

    /// Asks for a process and a signal, and sends it. Returns a message if that is not possible.
    fn kill_process(&self, ctx: &mut Ctx<'_>, usual: Option<u32>) -> Option<String> {
        let shown = usual.map(|pid| pid.to_string()).unwrap_or_default();
        let pid = self.ask(ctx, &format!("PID to signal/kill [default pid = {shown}] "))?;
        let pid = if pid.is_empty() { shown } else { pid };
        let Ok(pid) = pid.trim().parse::<u32>() else {
            return Some(format!(" Unacceptable integer '{pid}'"));
        };
        let signal = self.ask(ctx, &format!("Send pid {pid} signal [15/sigterm] "))?;
        let signal = match signal.trim() {
            "" => Some(signal::TERM),
            name => signal::parse(name.as_bytes()),
        };
        let Some(signal) = signal else { return Some(" Invalid signal".to_owned()) };
        let failed = ctx.procs.kill(pid, signal).err()?;
        let why = box_sys::error_text(&failed);
        Some(format!(" Failed signal pid '{pid}' with '{signal}': {why}"))
    }

    /// Asks a question, and returns the line that is typed; `None` if it is given up.
    fn ask(&self, ctx: &mut Ctx<'_>, question: &str) -> Option<String> {
        put(ctx, &format!("\x1b[{MESSAGE_ROW};1H{question}\x1b[K"));
        let mut line = String::new();
        loop {
            match self.wait_event(Instant::now() + Duration::from_secs(3600)) {
                ScreenEvent::Key(b'\n' | b'\r') => return Some(line),
                ScreenEvent::Key(0x7f | 0x08) => {
                    if line.pop().is_some() {
                        put(ctx, "\x08 \x08");
                    }
                }
                ScreenEvent::Key(0x1b) | ScreenEvent::End => return None,
                ScreenEvent::Key(byte) if byte.is_ascii_graphic() || byte == b' ' => {
                    line.push(char::from(byte));
                    put(ctx, &char::from(byte).to_string());
                }
                ScreenEvent::Key(_) | ScreenEvent::Look => {}
            }
        }
    }
}
