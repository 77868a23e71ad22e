//! Brotli streams: `brotli-decompressor` decompresses them, and [`crate::brotli`] compresses them.

use super::ZlibStep;
use super::zstd::ERRORS;
use crate::brotli::BrotliEncoder;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

type Decoder = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

pub enum Brotli {
    Compress(Box<BrotliEncoder>),
    Decompress(Box<Decoder>),
}

impl Brotli {
    pub fn compress(quality: u32, window: u32) -> Brotli {
        Brotli::Compress(Box::new(BrotliEncoder::new(quality, window)))
    }

    pub fn decompress() -> Brotli {
        let alloc = StandardAlloc::default;
        Brotli::Decompress(Box::new(BrotliState::new(alloc(), alloc(), alloc())))
    }

    /// Runs one step. `flush` is 0 to continue, 1 to write all pending output, and 2 to end the
    /// stream.
    pub fn step(&mut self, input: &[u8], out: &mut [u8], flush: u8) -> ZlibStep {
        match self {
            Brotli::Compress(encoder) => {
                // More input is taken only when no output is pending.
                if !encoder.has_output() {
                    encoder.write(input);
                    match flush {
                        0 => {}
                        2 => encoder.finish(),
                        _ => encoder.flush(),
                    }
                    return ZlibStep {
                        read: input.len(),
                        wrote: encoder.take_output(out),
                        state: 0,
                    };
                }
                ZlibStep { read: 0, wrote: encoder.take_output(out), state: 0 }
            }
            Brotli::Decompress(state) => {
                let (mut left, mut read, mut room, mut wrote) = (input.len(), 0, out.len(), 0);
                let mut total = 0;
                let result = BrotliDecompressStream(
                    &mut left, &mut read, input, &mut room, &mut wrote, out, &mut total, state,
                );
                let state = match result {
                    BrotliResult::ResultSuccess => 1,
                    BrotliResult::ResultFailure => {
                        ERRORS + (state.error_code as i32).unsigned_abs() as usize
                    }
                    _ => 0,
                };
                ZlibStep { read, wrote, state }
            }
        }
    }
}
