//! Computes the sum of a file in one of the reading modes.

use std::io::{self, BufRead};

use box_applet::Ctx;
use sha2::digest::DynDigest;

use super::algorithm::ShaAlgorithm;
use crate::common::input;

/// The number of bytes at the start of a file by which Perl's `-T` recognises text.
const TEXT_SAMPLE: usize = 512;

/// The way the bytes of a file are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadMode {
    Text,
    Binary,
    /// In a text, CR and CR LF count as LF.
    Universal,
    /// The digits 0 and 1 are bits, and all other bytes are ignored.
    Bits,
}

impl ReadMode {
    /// Returns the character that marks the mode before the name in a list.
    pub(super) fn letter(self) -> char {
        match self {
            ReadMode::Text => ' ',
            ReadMode::Binary => '*',
            ReadMode::Universal => 'U',
            ReadMode::Bits => '^',
        }
    }

    /// Returns the mode that a character marks in a list.
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
/// The file cannot be read, or the number of bits is not a multiple of eight.
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

/// Returns whether Perl would recognise a file as text by its first block. A text has no NUL byte,
/// and it is UTF-8 or at most a third of its bytes are unusual.
fn is_text(block: &[u8]) -> bool {
    let sample = &block[..block.len().min(TEXT_SAMPLE)];
    if sample.contains(&0) {
        return false;
    }
    let is_utf8 = match std::str::from_utf8(sample) {
        Ok(_) => true,
        // The sample may end within a character.
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
