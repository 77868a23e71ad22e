//! `--compressed`: bodies in gzip and deflate, decoded as they come.

use std::io::Write;

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::error::Error;

/// So much is fed at once: what one piece can grow to stays within a few megabytes.
const BITE: usize = 4096;
const BROKEN: Error = Error::Encoding("Error while processing content unencoding");

pub(crate) enum Decoder {
    Plain,
    Gzip(MultiGzDecoder<Vec<u8>>),
    /// deflate whose first byte is awaited: RFC 9110 wants zlib's form, some servers send without.
    Deflate,
    Zlib(ZlibDecoder<Vec<u8>>),
    Raw(DeflateDecoder<Vec<u8>>),
}

impl Decoder {
    pub(crate) fn new(encoding: Option<&[u8]>) -> Result<Decoder, Error> {
        let encoding = encoding.unwrap_or_default().to_ascii_lowercase();
        match encoding.trim_ascii() {
            b"" | b"identity" => Ok(Decoder::Plain),
            b"gzip" | b"x-gzip" => Ok(Decoder::Gzip(MultiGzDecoder::new(Vec::new()))),
            b"deflate" => Ok(Decoder::Deflate),
            _ => Err(Error::Encoding(
                "Unrecognized content encoding type. libcurl understands deflate, gzip content encodings.",
            )),
        }
    }

    /// Gives what comes out to `sink`.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let (Decoder::Deflate, Some(first)) = (&self, bytes.first()) {
            *self = match first & 0x0f {
                8 => Decoder::Zlib(ZlibDecoder::new(Vec::new())),
                _ => Decoder::Raw(DeflateDecoder::new(Vec::new())),
            };
        }
        if matches!(self, Decoder::Plain) {
            return sink(bytes);
        }
        for bite in bytes.chunks(BITE) {
            self.write(bite)?;
            self.drain(sink)?;
        }
        Ok(())
    }

    fn write(&mut self, bite: &[u8]) -> Result<(), Error> {
        let written = match self {
            Decoder::Gzip(d) => d.write_all(bite),
            Decoder::Zlib(d) => d.write_all(bite),
            Decoder::Raw(d) => d.write_all(bite),
            Decoder::Plain | Decoder::Deflate => Ok(()),
        };
        written.map_err(|_| BROKEN)
    }

    fn drain(&mut self, sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let out = match self {
            Decoder::Gzip(d) => d.get_mut(),
            Decoder::Zlib(d) => d.get_mut(),
            Decoder::Raw(d) => d.get_mut(),
            Decoder::Plain | Decoder::Deflate => return Ok(()),
        };
        let out = std::mem::take(out);
        if out.is_empty() { Ok(()) } else { sink(&out) }
    }

    /// The end: what has been held back, or an error for what is not whole.
    pub(crate) fn end(
        &mut self,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let ended = match self {
            Decoder::Gzip(d) => d.try_finish(),
            Decoder::Zlib(d) => d.try_finish(),
            Decoder::Raw(d) => d.try_finish(),
            Decoder::Plain | Decoder::Deflate => Ok(()),
        };
        ended.map_err(|_| BROKEN)?;
        self.drain(sink)
    }
}
