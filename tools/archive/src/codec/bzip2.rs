//! Reads concatenated bzip2 streams.

use std::io::{self, BufRead, Read};

use bzip2::Error;
use bzip2::bufread::BzDecoder;

use super::CodecFault;

/// A reader of the data of all streams.
pub struct Bzip2Reader<R: BufRead> {
    stream: Option<BzDecoder<R>>,
    is_first: bool,
    /// Whether the current stream has produced data, which means that its magic number was right.
    has_begun: bool,
}

impl<R: BufRead> Bzip2Reader<R> {
    /// Opens the first stream.
    pub fn new(from: R) -> Bzip2Reader<R> {
        Bzip2Reader { stream: Some(BzDecoder::new(from)), is_first: true, has_begun: false }
    }

    /// Converts an error of the library to a fault. Data after a whole stream that is not another
    /// stream is garbage, which bzip2 reports and ignores.
    fn fault_of(&self, e: io::Error) -> io::Error {
        let inner = e.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        match inner {
            Some(Error::DataMagic) if !self.is_first && !self.has_begun => {
                CodecFault::TrailingGarbage.into()
            }
            Some(Error::DataMagic) if !self.has_begun => CodecFault::OtherFormat.into(),
            _ => CodecFault::classify_error(e),
        }
    }
}

impl<R: BufRead> Read for Bzip2Reader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        while let Some(mut stream) = self.stream.take() {
            match stream.read(out) {
                Ok(0) => {
                    let mut from = stream.into_inner();
                    if from.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    (self.is_first, self.has_begun) = (false, false);
                    self.stream = Some(BzDecoder::new(from));
                }
                Ok(n) => {
                    self.has_begun = true;
                    self.stream = Some(stream);
                    return Ok(n);
                }
                Err(e) => return Err(self.fault_of(e)),
            }
        }
        Ok(0)
    }
}
