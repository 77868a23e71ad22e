//! `cksum` without options (POSIX XCU cksum): CRC, size and name of each file. With options,
//! uutils' tool runs. It takes three times as long for this CRC, because Wasm lacks the processors'
//! instruction for CRCs.
//!
//! A file is taken as a polynomial over GF(2) whose highest coefficient is the first bit. Its CRC
//! is the remainder modulo [`POLY`], which does not change if a multiple of `POLY` is added. With
//! `y = x^128`, `y^3006 + y^2866 + y^2215 + 1` is such a multiple. So 16 bytes can be removed by
//! adding them at distances of 140, 791 and 3006 times 16 bytes, which takes three vector additions
//! and no table. The rest at the end, about 50 KB, is divided byte by byte.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use box_sys::errno::code;

use crate::common::quote;

/// `x^32 + x^26 + x^23 + ...`, without its highest term.
const POLY: u32 = 0x04c1_1db7;
const UNIT: usize = 16;
/// The distances at which removed bytes are added.
const ON: [usize; 3] = [140 * UNIT, 791 * UNIT, 3006 * UNIT];
/// The maximum number of bytes that are removed at once: at most the smallest distance in [`ON`].
const PIECE: usize = 2048;
/// The maximum number of bytes that are read at once.
const BUFFER: usize = 256 << 10;

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            value = (value << 1) ^ ((value >> 31) * POLY);
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
};

/// The status that a shell reports for SIGPIPE.
const CLOSED_PIPE: i32 = 141;

/// Prints a line for each file, or for standard input, without a name, if there are no files.
/// Returns the exit status.
pub(crate) fn run(files: &[OsString]) -> i32 {
    let mut status = 0;
    let stdin = [OsString::from("-")];
    for file in if files.is_empty() { &stdin } else { files } {
        let result = match file.as_encoded_bytes() {
            b"-" => checksum_input(&mut io::stdin().lock()),
            _ => open_input(file.as_ref()).and_then(|mut f| checksum_input(&mut f)),
        };
        let name = file.as_encoded_bytes();
        match result {
            Ok((crc, size)) => {
                let name = if files.is_empty() { Vec::new() } else { [b" ", name].concat() };
                let line = [format!("{crc} {size}").as_bytes(), &name, b"\n"].concat();
                match io::stdout().write_all(&line) {
                    Ok(()) => {}
                    Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return CLOSED_PIPE,
                    Err(e) => {
                        let why = box_sys::error_text(&e);
                        let _ = writeln!(io::stderr(), "cksum: write error: {why}");
                        return 1;
                    }
                }
            }
            Err(e) => {
                let why = box_sys::error_text(&e);
                let line =
                    [b"cksum: ", &*quote::quote_with_colon(name), b": ", why.as_bytes(), b"\n"];
                let _ = io::stderr().write_all(&line.concat());
                status = 1;
            }
        }
    }
    status
}

fn open_input(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from_raw_os_error(code::EISDIR));
    }
    Ok(file)
}

/// Returns the CRC and the total number of bytes.
fn checksum_input(input: &mut dyn Read) -> io::Result<(u32, u64)> {
    let mut left = CrcRemainder { bytes: vec![0; BUFFER], len: 0 };
    let mut size = 0;
    loop {
        let n = match input.read(&mut left.bytes[left.len..]) {
            Ok(0) => return Ok((left.crc(size), size)),
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        size += n as u64;
        left.len += n;
        if left.len == BUFFER {
            left.shorten();
        }
    }
}

/// Bytes that have the same remainder as all the input read so far; the first `len` of them are in
/// use.
struct CrcRemainder {
    bytes: Vec<u8>,
    len: usize,
}

impl CrcRemainder {
    /// Removes pieces from the beginning as long as there are bytes to add them to.
    fn shorten(&mut self) {
        let mut at = 0;
        while at + PIECE + ON[2] <= self.len {
            let (head, rest) = self.bytes[..self.len].split_at_mut(at + PIECE);
            for on in ON {
                let to = &mut rest[on - PIECE..on];
                to.iter_mut().zip(&head[at..]).for_each(|(to, from)| *to ^= from);
            }
            at += PIECE;
        }
        self.bytes.copy_within(at..self.len, 0);
        self.len -= at;
    }

    /// Returns the checksum, for which the number of bytes is appended, lowest byte first, and the
    /// remainder inverted.
    fn crc(mut self, size: u64) -> u32 {
        self.shorten();
        let used = (u64::BITS - size.leading_zeros()).div_ceil(8) as usize;
        let length = size.to_le_bytes();
        let all = self.bytes[..self.len].iter().chain(&length[..used]);
        let step =
            |crc: u32, byte: &u8| (crc << 8) ^ TABLE[(crc >> 24) as usize ^ usize::from(*byte)];
        !all.fold(0, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected sums are GNU's: `yes 0123456789 | head -c SIZE | cksum`.
    #[test]
    fn as_gnu() {
        let sums: [(usize, u32); 16] = [
            (0, 4_294_967_295),
            (1, 3_419_164_541),
            (11, 3_656_427_724),
            (255, 1_878_208_226),
            (256, 535_831_108),
            (2_048, 2_205_132_182),
            (48_096, 3_278_394_889),
            (50_143, 4_094_502_109),
            (50_144, 2_297_562_813),
            (50_145, 1_598_664_534),
            (65_535, 1_426_268_899),
            (65_536, 3_461_938_584),
            (524_288, 660_278_589),
            (524_289, 471_111_245),
            (1_000_000, 1_518_139_885),
            (3_000_001, 1_708_518_850),
        ];
        for (size, crc) in sums {
            let data: Vec<u8> = b"0123456789\n".iter().copied().cycle().take(size).collect();
            assert_eq!(checksum_input(&mut &data[..]).unwrap(), (crc, size as u64));
        }
    }

    /// Checks the multiple of `POLY` on which the algorithm is based.
    #[test]
    fn multiple() {
        let power = |units: usize| {
            let doubled = |value: u32| (value << 1) ^ ((value >> 31) * POLY);
            (0..8 * UNIT * units).fold(1, |value, _| doubled(value))
        };
        assert_eq!(power(3006) ^ power(2866) ^ power(2215) ^ 1, 0);
        assert_eq!(ON.map(|on| on / UNIT), [3006 - 2866, 3006 - 2215, 3006]);
    }
}
