//! The loop that reads, converts and writes blocks.

use std::io::{self, SeekFrom, Write};
use std::time::{Duration, Instant};

use super::options::{DdCase, DdOptions};
use super::output::DdOut;
use super::records::DdRecords;
use super::report::{DdCounts, transfer_line};
use super::source::ReadSeek;

/// The result of a copy.
#[derive(Default)]
pub(super) struct DdOutcome {
    pub(super) counts: DdCounts,
    /// The errors. The flag is true for an error in reading, and false for one in writing.
    pub(super) errors: Vec<(bool, io::Error)>,
}

/// Copies from `reader` to `out`. `progress` is called with the figures once a second.
pub(super) fn transfer_records(
    reader: &mut dyn ReadSeek,
    out: &mut DdOut<'_>,
    o: &DdOptions,
    start: Instant,
    progress: Option<&mut dyn Write>,
) -> DdOutcome {
    let mut transfer = DdTransfer {
        o,
        records: DdRecords::default(),
        odd: None,
        total_in: 0,
        outcome: DdOutcome::default(),
    };
    let mut progress = progress.map(|to| DdProgress { to, start, last: start });
    let mut buf = vec![0u8; o.ibs];
    while let Some(got) = transfer.read(reader, &mut buf) {
        let mut len = got;
        if o.pad && len < o.ibs {
            buf[len..].fill(if transfer.needs_conversion() { b' ' } else { 0 });
            len = o.ibs;
        }
        if let Err(e) = transfer.write(out, &mut buf[..len]) {
            transfer.outcome.errors.push((false, e));
            return transfer.outcome;
        }
        if let Some(progress) = &mut progress {
            progress.print_figures(transfer.outcome.counts.bytes);
        }
    }
    if let Err(e) = transfer.finish(out) {
        transfer.outcome.errors.push((false, e));
    }
    transfer.outcome
}

struct DdTransfer<'o> {
    o: &'o DdOptions,
    records: DdRecords,
    /// The byte that waits for the other byte of its pair (`conv=swab`).
    odd: Option<u8>,
    total_in: u64,
    outcome: DdOutcome,
}

impl DdTransfer<'_> {
    fn needs_conversion(&self) -> bool {
        self.o.block || self.o.unblock
    }

    /// Returns the number of bytes to read for the next block.
    fn wanted_bytes(&self) -> usize {
        let counts = &self.outcome.counts;
        match self.o.count {
            Some((n, true)) => {
                let left = n - self.total_in.min(n);
                self.o.ibs.min(usize::try_from(left).unwrap_or(usize::MAX))
            }
            Some((n, false)) if counts.in_full + counts.in_part >= n => 0,
            _ => self.o.ibs,
        }
    }

    /// Reads a block; returns `None` at the end. With `noerror`, a block that cannot be read is
    /// skipped.
    fn read(&mut self, reader: &mut dyn ReadSeek, buf: &mut [u8]) -> Option<usize> {
        let want = self.wanted_bytes();
        if want == 0 {
            return None;
        }
        let mut got = 0;
        let failed = loop {
            match reader.read(&mut buf[got..want]) {
                Ok(0) => break false,
                Ok(n) => {
                    got += n;
                    if got == want || !self.o.fullblock {
                        break false;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.outcome.errors.push((true, e));
                    break true;
                }
            }
        };
        if failed {
            // The block is skipped if the input can seek.
            let passed = self.o.noerror
                && self.outcome.errors.len() < 1000
                && reader.seek(SeekFrom::Current(self.o.ibs as i64)).is_ok();
            if !passed {
                return None;
            }
        } else if got == 0 {
            return None;
        }
        self.total_in += got as u64;
        if got == self.o.ibs {
            self.outcome.counts.in_full += 1;
        } else if got > 0 {
            self.outcome.counts.in_part += 1;
        }
        Some(got)
    }

    /// Converts a block and writes it.
    fn write(&mut self, out: &mut DdOut<'_>, data: &mut [u8]) -> io::Result<()> {
        let o = self.o;
        if let Some(table) = o.table {
            data.iter_mut().for_each(|b| *b = table[usize::from(*b)]);
        }
        match o.case {
            DdCase::Lower => data.make_ascii_lowercase(),
            DdCase::Upper => data.make_ascii_uppercase(),
            DdCase::Keep => {}
        }
        let swapped = o.swab.then(|| self.swap_bytes(data));
        let data = swapped.as_deref().unwrap_or(data);
        let counts = &mut self.outcome.counts;
        if !(o.block || o.unblock) {
            let whole = o.direct && !o.swab;
            return if whole { out.write_block(data, counts) } else { out.put_data(data, counts) };
        }
        let mut converted = Vec::with_capacity(data.len() * 2);
        if o.block {
            self.records.block(data, o, counts, &mut converted);
        } else {
            self.records.unblock(data, o, &mut converted);
        }
        out.put_data(&converted, counts)
    }

    /// Swaps the bytes of each pair.
    fn swap_bytes(&mut self, data: &[u8]) -> Vec<u8> {
        let mut swapped = Vec::with_capacity(data.len() + 1);
        swapped.extend(self.odd.take());
        swapped.extend_from_slice(data);
        if swapped.len() % 2 == 1 {
            self.odd = swapped.pop();
        }
        swapped.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        swapped
    }

    fn finish(&mut self, out: &mut DdOut<'_>) -> io::Result<()> {
        let mut tail = Vec::new();
        if self.o.block {
            self.records.finish_block(self.o, &mut tail);
        } else if self.o.unblock {
            self.records.finish_unblock(&mut tail);
        }
        tail.extend(self.odd);
        let counts = &mut self.outcome.counts;
        out.put_data(&tail, counts)?;
        out.finish(counts)
    }
}

/// `status=progress`
struct DdProgress<'a> {
    to: &'a mut dyn Write,
    start: Instant,
    last: Instant,
}

impl DdProgress<'_> {
    /// Reports the figures if a second has passed since the last report.
    fn print_figures(&mut self, bytes: u64) {
        if self.last.elapsed() >= Duration::from_secs(1) {
            self.last = Instant::now();
            let text = format!("\r{}", transfer_line(bytes, self.start.elapsed()));
            let _ = self.to.write_all(text.as_bytes());
        }
    }
}
