//! Reads a file from its end, so that `tac file | head` reads little more than it prints, as GNU's
//! `tac` does.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::common::input::CopyStop;

/// The number of bytes that one step reads.
const BLOCK: usize = 64 << 10;

/// Writes the records of a file, the last one first. With `before`, a separator begins its record;
/// otherwise it ends it.
///
/// Only one step of the file and the end of the record that the step cuts are held in memory. A
/// step that is within one record doubles the next step, so a long record is copied only a few
/// times.
pub(super) fn write(
    file: &mut File,
    separator: u8,
    before: bool,
    out: &mut impl Write,
) -> Result<(), CopyStop> {
    let mut left = file.seek(SeekFrom::End(0)).map_err(CopyStop::Read)?;
    // The end of a record: bytes from offset `left` on that are not written yet.
    let mut rest: Vec<u8> = Vec::new();
    let mut step = BLOCK;
    while left > 0 {
        let n = usize::try_from(left).unwrap_or(usize::MAX).min(step);
        left -= n as u64;
        let mut block = vec![0; n];
        block.reserve_exact(rest.len());
        read_at(file, left, &mut block).map_err(CopyStop::Read)?;
        block.append(&mut rest);
        let mut end = block.len();
        // A separator at the end of the text ends the last record. With `before` it is a record by
        // itself.
        for at in memchr::memrchr_iter(separator, &block[..n]) {
            let cut = if before { at } else { at + 1 };
            out.write_all(&block[cut..end]).map_err(|_| CopyStop::Write)?;
            end = cut;
        }
        step = if end == block.len() { step * 2 } else { BLOCK };
        block.truncate(end);
        rest = block;
    }
    out.write_all(&rest).map_err(|_| CopyStop::Write)
}

fn read_at(file: &mut File, at: u64, to: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the expected output from the whole text.
    fn expected(text: &[u8], before: bool) -> Vec<u8> {
        let mut records: Vec<Vec<u8>> = vec![Vec::new()];
        for &byte in text {
            if byte == b'\n' && before {
                records.push(Vec::new());
            }
            if let Some(last) = records.last_mut() {
                last.push(byte);
            }
            if byte == b'\n' && !before {
                records.push(Vec::new());
            }
        }
        records.into_iter().rev().flatten().collect()
    }

    #[test]
    fn records_come_from_the_end() {
        let path = std::env::temp_dir().join(format!("tac-{}", std::process::id()));
        let long =
            [vec![b'x'; 3 * BLOCK], b"\n".to_vec(), vec![b'y'; BLOCK], b"\nz".to_vec()].concat();
        let many: Vec<u8> = (0..60_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let edge =
            [vec![b'a'; BLOCK - 1], b"\n".to_vec(), vec![b'b'; BLOCK - 1], b"\n".to_vec()].concat();
        for text in [&b""[..], b"\n", b"a", b"a\nb\nc", b"\n\na\n\n", &long, &many, &edge] {
            std::fs::write(&path, text).unwrap();
            for before in [false, true] {
                let mut out = Vec::new();
                write(&mut File::open(&path).unwrap(), b'\n', before, &mut out).unwrap();
                assert!(out == expected(text, before), "{} bytes, {before}", text.len());
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
}
