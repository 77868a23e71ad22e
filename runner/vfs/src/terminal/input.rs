//! What typed bytes do.

use super::discipline::LineDiscipline;
use super::line::DISABLED;
use box_abi::signal;
use box_abi::terminal::{Termios, cc, iflag, lflag};

/// The bytes that may have a special meaning; `None` if all bytes pass as they are.
#[derive(Debug)]
pub(super) struct CharMap(Option<Box<[bool; 256]>>);

impl CharMap {
    pub(super) fn of(t: &Termios) -> CharMap {
        use {iflag::*, lflag::*};
        let has_i = |flag| t.iflag & flag != 0;
        let has_l = |flag| t.lflag & flag != 0;
        if !has_i(ISTRIP | IUCLC | IGNCR | ICRNL | INLCR | IXON | PARMRK)
            && !has_l(ICANON | ISIG | ECHO)
        {
            return CharMap(None);
        }
        let mut map = Box::new([false; 256]);
        let mut set = |c: u8| map[usize::from(c)] = true;
        if has_i(IGNCR | ICRNL) {
            set(b'\r');
        }
        if has_i(INLCR) {
            set(b'\n');
        }
        let mut set_all = |list: &[usize]| list.iter().for_each(|i| set(t.cc[*i]));
        if has_l(ICANON) {
            set_all(&[cc::VERASE, cc::VKILL, cc::VEOF, cc::VEOL]);
            if has_l(IEXTEN) {
                set_all(&[cc::VWERASE, cc::VLNEXT, cc::VEOL2]);
                if has_l(ECHO) {
                    set_all(&[cc::VREPRINT]);
                }
            }
        }
        if has_i(IXON) {
            set_all(&[cc::VSTART, cc::VSTOP]);
        }
        if has_l(ISIG) {
            set_all(&[cc::VINTR, cc::VQUIT, cc::VSUSP]);
        }
        if has_l(ICANON) {
            map[usize::from(b'\n')] = true;
        }
        map[usize::from(DISABLED)] = false;
        CharMap(Some(map))
    }

    fn is_raw(&self) -> bool {
        self.0.is_none()
    }

    fn contains(&self, c: u8) -> bool {
        self.0.as_ref().is_some_and(|map| map[usize::from(c)])
    }
}

/// Linux's `iscntrl`.
pub(super) fn is_control(c: u8) -> bool {
    c < 0x20 || c == 0x7f
}

/// Linux's `isalnum`, whose table is Latin-1.
fn is_alphanumeric(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c >= 0xc0 && c != 0xd7 && c != 0xf7
}

/// Linux's `tolower`.
fn to_lower(c: u8) -> u8 {
    match c {
        b'A'..=b'Z' => c + 32,
        0xc0..=0xd6 | 0xd8..=0xde => c + 32,
        _ => c,
    }
}

impl LineDiscipline {
    /// Processes bytes for which there is room (`__receive_buf`).
    pub(super) fn receive_part(&mut self, data: &[u8]) {
        if self.special.is_raw() {
            data.iter().for_each(|c| self.line.push(*c));
            return;
        }
        for &byte in data {
            let mut c = byte;
            if self.has_iflag(iflag::ISTRIP) {
                c &= 0x7f;
            }
            if self.has_iflag(iflag::IUCLC) && self.has_lflag(lflag::IEXTEN) {
                c = to_lower(c);
            }
            if std::mem::take(&mut self.literal) {
                self.receive_plain(c);
            } else if self.has_lflag(lflag::EXTPROC) {
                self.line.push(c);
            } else if self.special.contains(c) {
                self.receive_special(c);
            } else {
                self.receive_plain(c);
            }
        }
        self.process_echo();
    }

    /// Restarts stopped output if any character does.
    fn restart_by_any(&mut self) {
        if self.stopped && !self.held && self.has_iflag(iflag::IXON) && self.has_iflag(iflag::IXANY)
        {
            self.start();
            self.process_echo();
        }
    }

    /// `n_tty_receive_char`.
    fn receive_plain(&mut self, c: u8) {
        self.restart_by_any();
        if self.has_lflag(lflag::ECHO) {
            self.finish_erasing();
            self.echo_first_column();
            self.echo_char(c);
        }
        self.put_byte(c);
    }

    fn put_byte(&mut self, c: u8) {
        if c == 0xff && self.has_iflag(iflag::PARMRK) {
            self.line.push(c);
        }
        self.line.push(c);
    }

    /// Records the column of a line's first character.
    fn echo_first_column(&mut self) {
        if self.line.is_line_empty() {
            self.echo.set_line_column();
        }
    }

    /// `n_tty_receive_char_special`.
    fn receive_special(&mut self, mut c: u8) {
        let t = self.termios;
        if self.has_iflag(iflag::IXON) {
            if c == t.cc[cc::VSTART] {
                self.start();
                self.process_echo();
                return;
            }
            if c == t.cc[cc::VSTOP] {
                self.stopped = true;
                return;
            }
        }
        if self.has_lflag(lflag::ISIG) {
            for (at, sig) in
                [(cc::VINTR, signal::INT), (cc::VQUIT, signal::QUIT), (cc::VSUSP, signal::TSTP)]
            {
                if c == t.cc[at] {
                    return self.receive_signal(c, sig);
                }
            }
        }
        self.restart_by_any();
        if c == b'\r' {
            if self.has_iflag(iflag::IGNCR) {
                return;
            }
            if self.has_iflag(iflag::ICRNL) {
                c = b'\n';
            }
        } else if c == b'\n' && self.has_iflag(iflag::INLCR) {
            c = b'\r';
        }
        if self.has_lflag(lflag::ICANON) && self.receive_editing(c) {
            return;
        }
        if self.has_lflag(lflag::ECHO) {
            self.finish_erasing();
            if c == b'\n' {
                self.echo.push_raw(b'\n');
            } else {
                self.echo_first_column();
                self.echo_char(c);
            }
        }
        self.put_byte(c);
    }

    /// `n_tty_receive_signal_char` and `isig`.
    fn receive_signal(&mut self, c: u8, sig: u8) {
        if !self.signals.contains(&sig) {
            self.signals.push(sig);
        }
        if !self.has_lflag(lflag::NOFLSH) {
            self.echo.clear();
            self.flush_output();
            self.line.clear();
            self.erasing = false;
        }
        if self.has_iflag(iflag::IXON) {
            self.start();
        }
        if self.has_lflag(lflag::ECHO) {
            self.echo_char(c);
        } else {
            self.process_echo();
        }
    }

    /// Handles a character that edits or ends a line; returns false if it does neither
    /// (`n_tty_receive_char_canon`).
    fn receive_editing(&mut self, c: u8) -> bool {
        let t = self.termios;
        let extended = self.has_lflag(lflag::IEXTEN);
        let echoes = self.has_lflag(lflag::ECHO);
        if c == t.cc[cc::VERASE] || c == t.cc[cc::VKILL] || c == t.cc[cc::VWERASE] && extended {
            self.erase(c);
            return true;
        }
        if c == t.cc[cc::VLNEXT] && extended {
            self.literal = true;
            if echoes {
                self.finish_erasing();
                if self.has_lflag(lflag::ECHOCTL) {
                    self.echo.push_raw(b'^');
                    self.echo.push_raw(b'\x08');
                }
            }
            return true;
        }
        if c == t.cc[cc::VREPRINT] && echoes && extended {
            self.finish_erasing();
            self.echo_char(c);
            self.echo.push_raw(b'\n');
            for at in self.line.complete_len()..self.line.len() {
                self.echo_char(self.line.byte_at(at));
            }
            return true;
        }
        if c == b'\n' {
            if echoes || self.has_lflag(lflag::ECHONL) {
                self.echo.push_raw(b'\n');
            }
            self.line.end_line(b'\n');
            return true;
        }
        if c == t.cc[cc::VEOF] {
            self.line.end_line(DISABLED);
            return true;
        }
        if c == t.cc[cc::VEOL] || c == t.cc[cc::VEOL2] && extended {
            if echoes {
                self.echo_first_column();
                self.echo_char(c);
            }
            if c == 0xff && self.has_iflag(iflag::PARMRK) {
                self.line.push(c);
            }
            self.line.end_line(c);
            return true;
        }
        false
    }

    fn is_continuation(&self, c: u8) -> bool {
        self.has_iflag(iflag::IUTF8) && c & 0xc0 == 0x80
    }

    /// Erases a character, a word or the line (`eraser`).
    fn erase(&mut self, c: u8) {
        use lflag::*;
        let t = self.termios;
        if self.line.is_line_empty() {
            return;
        }
        let start = self.line.complete_len();
        let (one, word) = (c == t.cc[cc::VERASE], c == t.cc[cc::VWERASE]);
        if !one && !word {
            if !self.has_lflag(ECHO) {
                return self.line.cut(start);
            }
            if !self.has_lflag(ECHOK) || !self.has_lflag(ECHOKE) || !self.has_lflag(ECHOE) {
                self.line.cut(start);
                self.finish_erasing();
                self.echo_char(t.cc[cc::VKILL]);
                if self.has_lflag(ECHOK) {
                    self.echo.push_raw(b'\n');
                }
                return;
            }
        }
        let mut in_word = false;
        while self.line.len() > start {
            let end = self.line.len();
            let mut head = end - 1;
            while self.is_continuation(self.line.byte_at(head)) && head > start {
                head -= 1;
            }
            let erased = self.line.byte_at(head);
            if self.is_continuation(erased) {
                break;
            }
            if word && !one {
                if is_alphanumeric(erased) || erased == b'_' {
                    in_word = true;
                } else if in_word {
                    break;
                }
            }
            let rest: Vec<u8> = (head + 1..end).map(|at| self.line.byte_at(at)).collect();
            self.line.cut(head);
            if self.has_lflag(ECHO) {
                self.echo_erased(erased, &rest, one);
            }
            if one {
                break;
            }
        }
        if self.line.is_line_empty() && self.has_lflag(ECHO) {
            self.finish_erasing();
        }
    }

    /// Echoes that a character was erased; `rest` are its other bytes.
    fn echo_erased(&mut self, c: u8, rest: &[u8], one: bool) {
        use lflag::*;
        let controls = self.has_lflag(ECHOCTL);
        if self.has_lflag(ECHOPRT) {
            if !self.erasing {
                self.echo.push_raw(b'\\');
                self.erasing = true;
            }
            self.echo_char(c);
            for byte in rest {
                self.echo.push_raw(*byte);
                self.echo.move_back();
            }
        } else if one && !self.has_lflag(ECHOE) {
            self.echo_char(self.termios.cc[cc::VERASE]);
        } else if c == b'\t' {
            let (mut columns, mut after_tab) = (0, false);
            for at in (self.line.complete_len()..self.line.len()).rev() {
                let c = self.line.byte_at(at);
                if c == b'\t' {
                    after_tab = true;
                    break;
                } else if is_control(c) {
                    columns += if controls { 2 } else { 0 };
                } else if !self.is_continuation(c) {
                    columns += 1;
                }
            }
            self.echo.erase_tab(columns, after_tab);
        } else {
            if is_control(c) && controls {
                b"\x08 \x08".iter().for_each(|c| self.echo.push_raw(*c));
            }
            if !is_control(c) || controls {
                b"\x08 \x08".iter().for_each(|c| self.echo.push_raw(*c));
            }
        }
    }

    fn finish_erasing(&mut self) {
        if std::mem::take(&mut self.erasing) {
            self.echo.push_raw(b'/');
        }
    }

    /// Echoes a character, a control character as `^X` if ECHOCTL is set.
    fn echo_char(&mut self, c: u8) {
        if self.has_lflag(lflag::ECHOCTL) && is_control(c) && c != b'\t' {
            self.echo.push_control(c);
        } else {
            self.echo.push_raw(c);
        }
    }
}
