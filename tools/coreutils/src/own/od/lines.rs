//! Lines of `od`: converts bytes to addresses and fields.

use box_applet::OutStream;

use super::types::Type;
use crate::common::input::{CopyStop, write_output};

/// The size of the pieces in which output is passed on.
const PIECE: usize = 32 * 1024;

/// The form of addresses (`-A`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radix {
    Decimal,
    Octal,
    Hexadecimal,
    None,
}

/// The form of addresses, and the number at which a second address in parentheses begins
/// (`--traditional`).
#[derive(Clone, Copy, Debug)]
pub(super) struct OdAddress {
    pub radix: Radix,
    pub label: Option<u64>,
}

impl OdAddress {
    fn text(self, at: u64) -> String {
        match self.radix {
            Radix::Decimal => format!("{at:07}"),
            Radix::Octal => format!("{at:07o}"),
            Radix::Hexadecimal => format!("{at:06x}"),
            Radix::None => String::new(),
        }
    }

    /// Appends the address of byte number `at` in a dump that begins at number `start`.
    pub(super) fn write(self, at: u64, start: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(self.text(at).as_bytes());
        if let Some(label) = self.label {
            let radix = if self.radix == Radix::None { Radix::Octal } else { self.radix };
            let space = if self.radix == Radix::None { "" } else { " " };
            let text = OdAddress { radix, ..self }.text(label + (at - start));
            out.extend_from_slice(format!("{space}({text})").as_bytes());
        }
    }
}

/// A format and its layout in the line: all formats take the same number of columns.
struct OdColumn {
    kind: Type,
    /// The number of columns in a line that the fields do not need. They are distributed before the
    /// fields, about equally.
    extra: usize,
    /// The text of each byte, with the space before it, for a type of one byte without extra
    /// columns.
    texts: Vec<u8>,
}

impl OdColumn {
    fn new(kind: Type, extra: usize) -> OdColumn {
        let mut texts = Vec::new();
        if kind.size == 1 && extra == 0 {
            (0..=255).for_each(|byte| kind.show(&[byte], false, kind.width() + 1, &mut texts));
        }
        OdColumn { kind, extra, texts }
    }
}

/// A dump: its settings, and the state that is carried from block to block.
pub(super) struct OdDump {
    columns: Vec<OdColumn>,
    /// The number of bytes in a line, a multiple of each type's size.
    width: usize,
    address: OdAddress,
    big_endian: bool,
    /// Whether equal lines are replaced by a `*`.
    abbreviate: bool,
    /// The offset of the dump's beginning, and of the next line.
    start: u64,
    at: u64,
    /// The last line shown, and whether a `*` was already printed after it.
    previous: Vec<u8>,
    starred: bool,
    /// The bytes of an incomplete line.
    pending: Vec<u8>,
    out: Vec<u8>,
}

impl OdDump {
    /// Returns a dump that begins at byte number `start`.
    pub(super) fn new(types: &[Type], width: usize, address: OdAddress, start: u64) -> OdDump {
        let columns_of = |t: &Type| (width / t.size) * (t.width() + 1);
        let most = types.iter().map(columns_of).max().unwrap_or(0);
        let columns = types.iter().map(|t| OdColumn::new(*t, most - columns_of(t))).collect();
        OdDump {
            columns,
            width,
            address,
            big_endian: false,
            abbreviate: true,
            start,
            at: start,
            previous: Vec::new(),
            starred: false,
            pending: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Sets the order of the bytes of numbers, and whether repeated lines are abbreviated.
    pub(super) fn with_order(self, big_endian: bool, abbreviate: bool) -> OdDump {
        OdDump { big_endian, abbreviate, ..self }
    }

    /// Appends bytes to the dump.
    pub(super) fn feed_bytes(
        &mut self,
        mut bytes: &[u8],
        out: &mut OutStream,
    ) -> Result<(), CopyStop> {
        if !self.pending.is_empty() {
            let (head, rest) = bytes.split_at(bytes.len().min(self.width - self.pending.len()));
            self.pending.extend_from_slice(head);
            bytes = rest;
            if self.pending.len() < self.width {
                return Ok(());
            }
            let line = std::mem::take(&mut self.pending);
            self.full_line(&line, out)?;
        }
        let mut lines = bytes.chunks_exact(self.width);
        lines.by_ref().try_for_each(|line| self.full_line(line, out))?;
        self.pending.extend_from_slice(lines.remainder());
        Ok(())
    }

    /// Prints the unfinished line and the final address.
    pub(super) fn finish(mut self, out: &mut OutStream) -> Result<(), CopyStop> {
        let end = self.at + self.pending.len() as u64;
        if !self.pending.is_empty() {
            let line = std::mem::take(&mut self.pending);
            self.show_line(&line);
        }
        if self.address.radix != Radix::None || self.address.label.is_some() {
            self.address.write(end, self.start, &mut self.out);
            self.out.push(b'\n');
        }
        write_output(out, &self.out)
    }

    fn full_line(&mut self, bytes: &[u8], out: &mut OutStream) -> Result<(), CopyStop> {
        if self.abbreviate && self.previous == bytes {
            if !self.starred {
                self.out.extend_from_slice(b"*\n");
            }
            self.starred = true;
        } else {
            self.show_line(bytes);
            self.starred = false;
            self.previous.clear();
            self.previous.extend_from_slice(bytes);
        }
        self.at += bytes.len() as u64;
        if self.out.len() >= PIECE {
            write_output(out, &self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    /// Appends a line's bytes in all formats, each on a line of its own; an incomplete number is
    /// padded with zero bytes.
    fn show_line(&mut self, bytes: &[u8]) {
        let out = &mut self.out;
        for (number, column) in self.columns.iter().enumerate() {
            match number {
                0 => self.address.write(self.at, self.start, out),
                _ => out.resize(out.len() + self.address.text(0).len(), b' '),
            }
            let (kind, from) = (column.kind, out.len());
            let fields = self.width / kind.size;
            if column.texts.is_empty() {
                // The number of extra columns that are left for the fields from number `n` on.
                let left = |n: usize| column.extra * (fields - n) / fields;
                for (n, bytes) in bytes.chunks(kind.size).enumerate() {
                    let width = kind.width() + 1 + left(n) - left(n + 1);
                    let mut number = [0; 16];
                    number[..bytes.len()].copy_from_slice(bytes);
                    kind.show(&number[..kind.size], self.big_endian, width, out);
                }
            } else {
                let each = kind.width() + 1;
                for byte in bytes {
                    let text = &column.texts[usize::from(*byte) * each..][..each];
                    out.extend_from_slice(text);
                }
            }
            if kind.characters {
                out.resize(from + fields * (kind.width() + 1) + column.extra, b' ');
                let dot = |c: &u8| if matches!(c, 0x20..0x7f) { *c } else { b'.' };
                out.extend_from_slice(b"  >");
                out.extend(bytes.iter().map(dot));
                out.push(b'<');
            }
            out.push(b'\n');
        }
    }
}
