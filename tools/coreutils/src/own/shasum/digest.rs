//! Files to sums, in the modes of reading.

use std::io::{self, BufRead};

use box_applet::Ctx;
use sha2::digest::DynDigest;

use super::algorithm::ShaAlgorithm;
use crate::common::input;

/// Bytes by which Perl's `-T` tells texts from other files.
const TEXT_SAMPLE: usize = 512;

/// The meaning of a file's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadMode {
    Text,
    Binary,
    /// CR and CR LF of a text are LF.
    Universal,
    /// The digits 0 and 1 are bits, and all else is nothing.
    Bits,
}

impl ReadMode {
    /// Returns the letter before the name in a list.
    pub(super) fn letter(self) -> char {
        match self {
            ReadMode::Text => ' ',
            ReadMode::Binary => '*',
            ReadMode::Universal => 'U',
            ReadMode::Bits => '^',
        }
    }

    /// Returns the mode of a letter in a list.
    pub(super) fn from_letter(letter: u8) -> Option<ReadMode> {
        match letter {
            b' ' => Some(ReadMode::Text),
            b'*' => Some(ReadMode::Binary),
            b'U' => Some(ReadMode::Universal),
            b'^' => Some(ReadMode::Bits),
            _ => None,
        }
    }
}

/// Returns the sum of a file in hexadecimal digits; `-` is standard input.
///
/// # Errors
/// A file that cannot be read, or bits that make up no whole byte.
pub(super) fn file_sum(
    ctx: &mut Ctx<'_>,
    file: &[u8],
    algorithm: ShaAlgorithm,
    mode: ReadMode,
) -> io::Result<String> {
    let mut reader = input::open_operand(&mut ctx.stdin, &ctx.cwd, file)?;
    let mut state = algorithm.begin();
    match mode {
        ReadMode::Bits => add_bits(&mut reader, &mut *state)?,
        ReadMode::Universal if is_text(reader.fill_buf()?) => add_lines(&mut reader, &mut *state)?,
        _ => for_each_block(&mut reader, |block| state.update(block))?,
    }
    Ok(state.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn for_each_block(reader: &mut impl BufRead, mut f: impl FnMut(&[u8])) -> io::Result<()> {
    loop {
        let block = match reader.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            block => block?,
        };
        if block.is_empty() {
            return Ok(());
        }
        f(block);
        let n = block.len();
        reader.consume(n);
    }
}

/// Returns whether Perl takes a file for a text by its beginning: UTF-8, or few bytes that are not
/// text.
fn is_text(block: &[u8]) -> bool {
    let sample = &block[..block.len().min(TEXT_SAMPLE)];
    if sample.contains(&0) {
        return false;
    }
    let is_utf8 = match std::str::from_utf8(sample) {
        Ok(_) => true,
        // A character may extend beyond the sample.
        Err(e) => e.error_len().is_none() && block.len() > sample.len(),
    };
    let odd = sample.iter().filter(|byte| {
        **byte > 127 || **byte < 32 && !matches!(**byte, b'\n' | b'\r' | 8 | b'\t' | 12 | 27)
    });
    is_utf8 || odd.count() * 3 <= sample.len()
}

fn add_lines(reader: &mut impl BufRead, state: &mut dyn DynDigest) -> io::Result<()> {
    let mut was_return = false;
    let mut out = Vec::new();
    for_each_block(reader, |block| {
        out.clear();
        for byte in block {
            match byte {
                b'\n' if was_return => {}
                b'\r' => out.push(b'\n'),
                other => out.push(*other),
            }
            was_return = *byte == b'\r';
        }
        state.update(&out);
    })
}

fn add_bits(reader: &mut impl BufRead, state: &mut dyn DynDigest) -> io::Result<()> {
    let (mut byte, mut count) = (0u8, 0u8);
    let mut out = Vec::new();
    for_each_block(reader, |block| {
        out.clear();
        for digit in block.iter().filter(|byte| matches!(byte, b'0' | b'1')) {
            byte = byte << 1 | (digit - b'0');
            count += 1;
            if count == 8 {
                out.push(byte);
                (byte, count) = (0, 0);
            }
        }
        state.update(&out);
    })?;
    if count > 0 {
        return Err(io::Error::other("bits that make up no whole byte are not supported"));
    }
    Ok(())
}
