//! The faults of compressed data.

use std::io;

/// The reason why a stream cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecFault {
    /// There is no data at all.
    #[error("no data")]
    NoData,
    /// The stream ends too early.
    #[error("unexpected end of data")]
    Truncated,
    /// The stream does not begin with the magic number of its format.
    #[error("another format")]
    OtherFormat,
    /// The data breaks the rules of its format.
    #[error("damaged data")]
    Damaged,
    /// The data is well formed, but is not the data that was compressed.
    #[error("the checksum differs")]
    Checksum,
    /// All data was read, but the bytes that follow are not another member.
    #[error("trailing garbage")]
    TrailingGarbage,
}

impl CodecFault {
    /// Returns the fault that an error holds; `None` for an error of the input or the output.
    pub fn of(e: &io::Error) -> Option<CodecFault> {
        e.get_ref()?.downcast_ref::<CodecFault>().copied()
    }

    /// Converts an error of a decoding library. An error about the data becomes a fault, and an
    /// error of the input is returned unchanged.
    pub(super) fn classify_error(e: io::Error) -> io::Error {
        match e.kind() {
            io::ErrorKind::UnexpectedEof => CodecFault::Truncated.into(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
                CodecFault::Damaged.into()
            }
            _ => e,
        }
    }
}

impl From<CodecFault> for io::Error {
    fn from(fault: CodecFault) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, fault)
    }
}
