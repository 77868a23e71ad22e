//! Merging of sorted runs: the files of `-m`, and parts of inputs larger than the memory bound.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Seek, SeekFrom, Write};

use super::lines::SortLines;
use super::options::SortOptions;
use crate::common::input::{CopyStop, write_output};

/// A sorted input with its current line.
pub(super) struct SortRun {
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
}

impl SortRun {
    fn new(reader: Box<dyn BufRead>) -> SortRun {
        SortRun { reader, line: Vec::new() }
    }

    pub(super) fn from_file(f: File) -> SortRun {
        SortRun::new(Box::new(BufReader::with_capacity(64 * 1024, f)))
    }

    pub(super) fn from_memory(text: Vec<u8>) -> SortRun {
        SortRun::new(Box::new(Cursor::new(text)))
    }

    /// Writes sorted lines to an unlinked temporary file; returns a run that reads it.
    pub(super) fn spill_lines(lines: &SortLines, o: &SortOptions) -> io::Result<SortRun> {
        let (mut read, write) = box_sys::preview1::spool()?;
        let mut out = BufWriter::with_capacity(64 * 1024, write);
        match lines.write(&mut out, o) {
            Ok(()) => out.flush()?,
            Err(_) => {
                return Err(out.flush().err().unwrap_or_else(|| io::ErrorKind::StorageFull.into()));
            }
        }
        read.seek(SeekFrom::Start(0))?;
        Ok(SortRun::from_file(read))
    }

    /// Reads the next line; returns false at the end.
    fn advance_line(&mut self, delimiter: u8) -> io::Result<bool> {
        self.line.clear();
        if self.reader.read_until(delimiter, &mut self.line)? == 0 {
            return Ok(false);
        }
        if self.line.last() == Some(&delimiter) {
            self.line.pop();
        }
        Ok(true)
    }
}

/// Merges runs; equal lines come in the order of the runs.
pub(super) fn merge_runs(
    mut runs: Vec<SortRun>,
    o: &SortOptions,
    out: &mut dyn Write,
) -> Result<(), CopyStop> {
    // The indexes of the runs that have a line, in the order of these lines.
    let mut order: Vec<usize> = Vec::new();
    for i in 0..runs.len() {
        if runs[i].advance_line(o.delimiter).map_err(CopyStop::Read)? {
            insert_run(&mut order, i, &runs, o);
        }
    }
    let mut previous: Option<Vec<u8>> = None;
    while !order.is_empty() {
        let i = order.remove(0);
        let skip = o.unique
            && previous.as_ref().is_some_and(|p| o.compare_keys(0, p, &runs[i].line).is_eq());
        if !skip {
            let mut w = &mut *out;
            write_output(&mut w, &runs[i].line)?;
            write_output(&mut w, &[o.delimiter])?;
            if o.unique {
                let p = previous.get_or_insert_default();
                p.clear();
                p.extend_from_slice(&runs[i].line);
            }
        }
        if runs[i].advance_line(o.delimiter).map_err(CopyStop::Read)? {
            insert_run(&mut order, i, &runs, o);
        }
    }
    Ok(())
}

fn insert_run(order: &mut Vec<usize>, i: usize, runs: &[SortRun], o: &SortOptions) {
    let at = order.partition_point(|&j| {
        let c = o.compare_lines(&runs[j].line, &runs[i].line);
        c.is_lt() || c.is_eq() && j < i
    });
    order.insert(at, i);
}
