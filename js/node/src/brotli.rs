//! An encoder of Brotli's format (RFC 7932), for `zlib.brotliCompress`. The crate
//! `brotli-decompressor` reads the format.
//!
//! [`BrotliEncoder`] cuts the stream into meta-blocks. For each of them, [`mod@matches`] finds
//! repetitions in a window, and [`block`] writes them with prefix codes that [`prefix`] makes.
//!
//! The format's own dictionary, contexts of literals and block types are deliberately absent,
//! because they make the crate `brotli` large: it would add 0.8 MB to each image, and this encoder
//! adds 20 KB (`docs/decisions.md` has the measurements).

mod bits;
mod block;
mod matches;
mod prefix;

use bits::Bits;
use matches::MatchFinder;

/// The maximum number of bytes in a meta-block. That many bytes may be buffered before there is
/// any output.
const BLOCK: usize = 1 << 19;

/// A stream that is being compressed.
pub struct BrotliEncoder {
    matcher: MatchFinder,
    out: Bits,
    /// The offset in `out` of the first byte that [`BrotliEncoder::take_output`] has not taken yet.
    taken: usize,
    wants_header: bool,
    window: u32,
    is_finished: bool,
}

impl BrotliEncoder {
    /// Creates an encoder. `quality` is 0 to 11; `window` is the binary logarithm of the window's
    /// size, 10 to 24.
    pub fn new(quality: u32, window: u32) -> BrotliEncoder {
        let window = window.clamp(10, 24);
        BrotliEncoder {
            matcher: MatchFinder::new(quality, (1 << window) - 16),
            out: Bits::default(),
            taken: 0,
            wants_header: true,
            window,
            is_finished: false,
        }
    }

    /// Takes more of the text, and compresses it whenever a meta-block is full.
    pub fn write(&mut self, mut text: &[u8]) {
        while !text.is_empty() {
            let room = BLOCK - self.matcher.pending_len();
            let (now, rest) = text.split_at(text.len().min(room));
            self.matcher.push(now);
            text = rest;
            if self.matcher.pending_len() == BLOCK {
                self.write_block();
            }
        }
    }

    /// Writes all of the text that was taken so far, up to the end of a byte.
    pub fn flush(&mut self) {
        self.write_block();
        if !self.out.is_aligned() {
            // An empty block of metadata.
            self.write_header();
            self.out.put(0b000_110, 6);
            self.out.align();
        }
    }

    /// Ends the stream.
    pub fn finish(&mut self) {
        if self.is_finished {
            return;
        }
        self.write_block();
        self.write_header();
        // The last block, which is empty.
        self.out.put(0b11, 2);
        self.out.align();
        self.is_finished = true;
    }

    /// Moves compressed bytes to `to`, as many as there is room for, and returns their number.
    pub fn take_output(&mut self, to: &mut [u8]) -> usize {
        let ready = &self.out.bytes()[self.taken..];
        let n = ready.len().min(to.len());
        to[..n].copy_from_slice(&ready[..n]);
        self.taken += n;
        if self.taken == self.out.bytes().len() {
            self.out.forget();
            self.taken = 0;
        }
        n
    }

    /// Returns whether there are bytes for [`BrotliEncoder::take_output`].
    pub fn has_output(&self) -> bool {
        self.taken < self.out.bytes().len()
    }

    fn write_header(&mut self) {
        if std::mem::take(&mut self.wants_header) {
            let (code, bits) = match self.window {
                10..=15 => (((self.window - 8) << 4) | 1, 7),
                16 => (0, 1),
                17 => (1, 7),
                n => (((n - 17) << 1) | 1, 4),
            };
            self.out.put(u64::from(code), bits);
        }
    }

    /// Writes the pending bytes as one meta-block.
    fn write_block(&mut self) {
        if self.matcher.pending_len() == 0 {
            return;
        }
        self.write_header();
        let commands = self.matcher.find_commands();
        block::write(&mut self.out, self.matcher.pending_text(), &commands);
        self.matcher.mark_written();
    }
}

#[cfg(test)]
mod tests {
    use super::BrotliEncoder;
    use std::io::Read;

    /// Decodes a stream with another implementation.
    fn read(stream: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        brotli_decompressor::Decompressor::new(stream, 4096).read_to_end(&mut text).unwrap();
        text
    }

    fn written(text: &[u8], quality: u32, window: u32, piece: usize, flushes: bool) -> Vec<u8> {
        let mut encoder = BrotliEncoder::new(quality, window);
        let (mut out, mut buffer) = (Vec::new(), [0; 1000]);
        let drain = |encoder: &mut BrotliEncoder, out: &mut Vec<u8>, buffer: &mut [u8]| {
            while encoder.has_output() {
                let n = encoder.take_output(buffer);
                out.extend_from_slice(&buffer[..n]);
            }
        };
        for part in text.chunks(piece) {
            encoder.write(part);
            if flushes {
                encoder.flush();
                drain(&mut encoder, &mut out, &mut buffer);
            }
        }
        encoder.finish();
        drain(&mut encoder, &mut out, &mut buffer);
        out
    }

    /// Returns bytes that do not repeat (xorshift).
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn another_reads_what_is_written() {
        let prose = include_bytes!("start.rs").repeat(40);
        let mut mixed = noise(70_000);
        mixed.extend_from_slice(&prose[..200_000]);
        mixed.extend(std::iter::repeat_n(b'a', 600_000));
        mixed.extend(noise(300));
        let texts: [&[u8]; 9] = [
            b"",
            b"a",
            b"ab",
            b"abc",
            b"aaaaaaaaaaaaaaaaaaaaaaaa",
            b"abcabcabcabcabcab",
            &prose,
            &noise(5000),
            &mixed,
        ];
        for text in texts {
            for (quality, window) in [(0, 10), (1, 16), (5, 17), (9, 22), (11, 24)] {
                for piece in [1 << 20, 7919] {
                    let stream = written(text, quality, window, piece, false);
                    assert!(read(&stream) == text, "{} {quality} {window} {piece}", text.len());
                }
            }
        }
    }

    #[test]
    fn all_that_was_flushed_can_be_read() {
        let text = include_bytes!("start.rs");
        let stream = written(text, 6, 18, 333, true);
        assert_eq!(read(&stream), text);
    }

    #[test]
    fn repetitions_are_found() {
        let text = include_bytes!("start.rs").repeat(20);
        assert!(
            written(&text, 11, 22, 1 << 20, false).len() < include_bytes!("start.rs").len() / 2
        );
        // Noise grows by little more than the headers of the blocks.
        assert!(written(&noise(100_000), 11, 22, 1 << 20, false).len() < 100_020);
    }
}
