//! Conversion between lines and records of fixed length (`conv=block`, `conv=unblock`).

use super::options::DdOptions;
use super::report::DdCounts;

/// The state of the current record.
#[derive(Default)]
pub(super) struct DdRecords {
    column: usize,
    spaces: usize,
}

impl DdRecords {
    fn space_byte(o: &DdOptions) -> u8 {
        // The table has already been applied, so records are padded in the output's character set.
        match o.table {
            Some(t) if o.block => t[usize::from(b' ')],
            _ => b' ',
        }
    }

    fn newline_byte(o: &DdOptions) -> u8 {
        match o.table {
            Some(t) if o.block => t[usize::from(b'\n')],
            _ => b'\n',
        }
    }

    pub(super) fn block(
        &mut self,
        data: &[u8],
        o: &DdOptions,
        counts: &mut DdCounts,
        out: &mut Vec<u8>,
    ) {
        let (space, newline) = (Self::space_byte(o), Self::newline_byte(o));
        for &b in data {
            if b == newline {
                out.resize(out.len() + o.cbs.saturating_sub(self.column), space);
                self.column = 0;
            } else {
                if self.column == o.cbs {
                    counts.truncated += 1;
                }
                if self.column < o.cbs {
                    out.push(b);
                }
                self.column += 1;
            }
        }
    }

    pub(super) fn finish_block(&mut self, o: &DdOptions, out: &mut Vec<u8>) {
        if self.column > 0 {
            out.resize(out.len() + o.cbs.saturating_sub(self.column), Self::space_byte(o));
        }
    }

    pub(super) fn unblock(&mut self, data: &[u8], o: &DdOptions, out: &mut Vec<u8>) {
        for &b in data {
            if self.column == o.cbs {
                out.push(b'\n');
                self.column = 0;
                self.spaces = 0;
            }
            self.column += 1;
            if b == b' ' {
                self.spaces += 1;
            } else {
                out.resize(out.len() + self.spaces, b' ');
                self.spaces = 0;
                out.push(b);
            }
        }
    }

    pub(super) fn finish_unblock(&mut self, out: &mut Vec<u8>) {
        if self.column > 0 {
            out.push(b'\n');
        }
    }
}
