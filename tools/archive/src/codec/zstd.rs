//! Reads concatenated zstd frames.

use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::CodecFault;

/// A reader of the data of all frames.
pub struct ZstdReader<R: Read> {
    from: SourceEnd<R>,
    frame: Option<Box<FrameDecoder>>,
    is_first: bool,
}

/// A reader that remembers whether it has reached the end, because the decoder's errors do not show
/// whether the data ended early or was wrong.
struct SourceEnd<R> {
    from: R,
    is_reached: bool,
}

impl<R: Read> Read for SourceEnd<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(out)?;
        self.is_reached |= n == 0 && !out.is_empty();
        Ok(n)
    }
}

impl<R: Read> ZstdReader<R> {
    /// Returns a reader for a stream that is at its beginning.
    pub fn new(from: R) -> ZstdReader<R> {
        ZstdReader { from: SourceEnd { from, is_reached: false }, frame: None, is_first: true }
    }

    fn fault(&self) -> io::Error {
        let is_short = self.from.is_reached;
        if is_short { CodecFault::Truncated.into() } else { CodecFault::Damaged.into() }
    }

    /// Begins the next frame that has data; returns false at the end.
    fn begin_frame(&mut self) -> io::Result<bool> {
        loop {
            let mut magic = Vec::new();
            match self.from.by_ref().take(4).read_to_end(&mut magic)? {
                0 if !self.is_first => return Ok(false),
                0..4 => return Err(CodecFault::Truncated.into()),
                _ => self.is_first = false,
            }
            let mut frame = Box::new(FrameDecoder::new());
            match frame.init((&magic[..]).chain(&mut self.from)) {
                Ok(()) => {
                    self.frame = Some(frame);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.from.by_ref().take(length), &mut io::sink())? < length {
                        return Err(CodecFault::Truncated.into());
                    }
                }
                Err(FrameDecoderError::ReadFrameHeaderError(
                    ReadFrameHeaderError::BadMagicNumber(_),
                )) => return Err(CodecFault::OtherFormat.into()),
                Err(_) => return Err(self.fault()),
            }
        }
    }
}

impl<R: Read> Read for ZstdReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.frame.is_none() && !self.begin_frame()? {
                return Ok(0);
            }
            let Some(frame) = self.frame.as_mut() else { return Ok(0) };
            if frame.can_collect() == 0 && !frame.is_finished() {
                let more = BlockDecodingStrategy::UptoBytes(out.len().max(1));
                if frame.decode_blocks(&mut self.from, more).is_err() {
                    return Err(self.fault());
                }
            }
            let n = frame.read(out)?;
            if n > 0 || out.is_empty() {
                return Ok(n);
            }
            if frame.is_finished() && frame.can_collect() == 0 {
                let (stored, found) =
                    (frame.get_checksum_from_data(), frame.get_calculated_checksum());
                self.frame = None;
                if stored.is_some() && found.is_some() && stored != found {
                    return Err(CodecFault::Checksum.into());
                }
            }
        }
    }
}
