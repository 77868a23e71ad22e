//! What written bytes become.

use super::discipline::LineDiscipline;
use super::input::is_control;
use box_abi::terminal::{iflag, oflag};
use std::collections::VecDeque;

/// The bytes that wait for the master at most. Linux keeps about 12 KiB; as much as a pipe holds
/// saves a reader many turns.
pub(super) const OUTPUT_CAPACITY: usize = 65536;

/// Output that the master has not read, and the cursor's column.
#[derive(Debug, Default)]
pub(super) struct OutputQueue {
    bytes: VecDeque<u8>,
    pub(super) column: usize,
    /// The column at which the present line of input begins.
    pub(super) line_column: usize,
}

impl OutputQueue {
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn room(&self) -> usize {
        OUTPUT_CAPACITY.saturating_sub(self.bytes.len())
    }

    pub(super) fn push(&mut self, c: u8) {
        self.bytes.push_back(c);
    }

    fn extend(&mut self, data: &[u8]) {
        self.bytes.extend(data);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    pub(super) fn take(&mut self, buf: &mut [u8]) -> usize {
        let n = buf.len().min(self.bytes.len());
        let (a, b) = self.bytes.as_slices();
        let first = a.len().min(n);
        buf[..first].copy_from_slice(&a[..first]);
        buf[first..n].copy_from_slice(&b[..n - first]);
        self.bytes.drain(..n);
        n
    }
}

/// Linux's `toupper`.
fn to_upper(c: u8) -> u8 {
    match c {
        b'a'..=b'z' => c - 32,
        0xe0..=0xf6 | 0xf8..=0xfe => c - 32,
        _ => c,
    }
}

impl LineDiscipline {
    /// Writes bytes; returns how many had room.
    pub(super) fn put_output(&mut self, data: &[u8]) -> usize {
        if !self.has_oflag(oflag::OPOST) {
            let n = data.len().min(self.out.room());
            self.out.extend(&data[..n]);
            return n;
        }
        let utf8 = self.has_iflag(iflag::IUTF8);
        let changes = self.has_oflag(oflag::OLCUC);
        let mut done = 0;
        while done < data.len() {
            // Printable bytes are moved together.
            let rest = &data[done..data.len().min(done + self.out.room())];
            let plain = if changes {
                0
            } else {
                rest.iter().position(|c| is_control(*c)).unwrap_or(rest.len())
            };
            if plain > 0 {
                let run = &rest[..plain];
                self.out.extend(run);
                self.out.column +=
                    if utf8 { run.iter().filter(|c| **c & 0xc0 != 0x80).count() } else { plain };
                done += plain;
            } else if self.put_char(data[done]) {
                done += 1;
            } else {
                break;
            }
        }
        done
    }

    /// Writes one byte as the output modes say; returns false if there is no room
    /// (`do_output_char`).
    pub(super) fn put_char(&mut self, mut c: u8) -> bool {
        use oflag::*;
        let room = self.out.room();
        if room == 0 {
            return false;
        }
        match c {
            b'\n' => {
                if self.has_oflag(ONLRET) {
                    self.out.column = 0;
                }
                if self.has_oflag(ONLCR) {
                    if room < 2 {
                        return false;
                    }
                    (self.out.column, self.out.line_column) = (0, 0);
                    self.out.extend(b"\r\n");
                    return true;
                }
                self.out.line_column = self.out.column;
            }
            b'\r' => {
                if self.has_oflag(ONOCR) && self.out.column == 0 {
                    return true;
                }
                if self.has_oflag(OCRNL) {
                    c = b'\n';
                    if self.has_oflag(ONLRET) {
                        (self.out.column, self.out.line_column) = (0, 0);
                    }
                } else {
                    (self.out.column, self.out.line_column) = (0, 0);
                }
            }
            b'\t' => {
                let spaces = 8 - (self.out.column & 7);
                if self.termios.oflag & TABDLY == TABDLY {
                    if room < spaces {
                        return false;
                    }
                    self.out.column += spaces;
                    self.out.extend(&b"        "[..spaces]);
                    return true;
                }
                self.out.column += spaces;
            }
            b'\x08' => self.out.column = self.out.column.saturating_sub(1),
            _ if !is_control(c) => {
                if self.has_oflag(OLCUC) {
                    c = to_upper(c);
                }
                if !(self.has_iflag(iflag::IUTF8) && c & 0xc0 == 0x80) {
                    self.out.column += 1;
                }
            }
            _ => {}
        }
        self.out.push(c);
        true
    }
}
