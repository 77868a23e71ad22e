//! Reads concatenated xz streams.

use std::io::{self, Read};

use super::CodecFault;

/// The maximum memory that a stream may use, in KiB. It is enough for the highest preset.
const MEMORY: u32 = 128 * 1024;

/// A reader of the data of all streams.
pub struct XzReader<R: Read>(lzma_rust2::XzReader<R>);

impl<R: Read> XzReader<R> {
    /// Opens the first stream.
    pub fn new(from: R) -> XzReader<R> {
        XzReader(lzma_rust2::XzReader::new_mem_limit(from, true, MEMORY))
    }
}

impl<R: Read> Read for XzReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out).map_err(CodecFault::classify_error)
    }
}
