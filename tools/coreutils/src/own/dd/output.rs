//! The output in whole blocks.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::rc::Rc;

use super::report::DdCounts;

/// The output, written in whole blocks. Its position is tracked for `sparse`.
pub(super) struct DdOut<'a> {
    pub(super) sink: &'a mut dyn Write,
    pub(super) file: Option<Rc<File>>,
    pub(super) buf: Vec<u8>,
    pub(super) obs: usize,
    pub(super) sparse: bool,
    pub(super) hole: bool,
}

impl DdOut<'_> {
    pub(super) fn write_block(&mut self, data: &[u8], counts: &mut DdCounts) -> io::Result<()> {
        if self.sparse
            && data.iter().all(|b| *b == 0)
            && let Some(f) = &self.file
            && (&**f).seek(SeekFrom::Current(data.len() as i64)).is_ok()
        {
            self.hole = true;
            self.count_block(data.len(), counts);
            return Ok(());
        }
        self.hole = false;
        match &self.file {
            Some(f) => (&**f).write_all(data)?,
            None => self.sink.write_all(data)?,
        }
        self.count_block(data.len(), counts);
        Ok(())
    }

    fn count_block(&self, n: usize, counts: &mut DdCounts) {
        counts.bytes += n as u64;
        if n == self.obs {
            counts.out_full += 1;
        } else {
            counts.out_part += 1;
        }
    }

    /// Collects output blocks.
    pub(super) fn put_data(&mut self, data: &[u8], counts: &mut DdCounts) -> io::Result<()> {
        self.buf.extend_from_slice(data);
        while self.buf.len() >= self.obs {
            let rest = self.buf.split_off(self.obs);
            let block = std::mem::replace(&mut self.buf, rest);
            self.write_block(&block, counts)?;
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, counts: &mut DdCounts) -> io::Result<()> {
        if !self.buf.is_empty() {
            let block = std::mem::take(&mut self.buf);
            self.write_block(&block, counts)?;
        }
        if self.hole
            && let Some(f) = &self.file
        {
            let end = (&**f).stream_position()?;
            if f.metadata().is_ok_and(|m| m.len() < end) {
                f.set_len(end)?;
            }
        }
        self.sink.flush()
    }
}
