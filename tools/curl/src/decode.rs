//! `--compressed`: decodes bodies in gzip and deflate while they arrive.

use std::io::Write;

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::error::CurlError;

/// The size of the pieces of input, small enough that the decoded output of one piece stays within
/// a few megabytes.
const BITE: usize = 4096;
const BROKEN: CurlError = CurlError::Encoding("Error while processing content unencoding");

pub(crate) enum ContentDecoder {
    Plain,
    Gzip(MultiGzDecoder<Vec<u8>>),
    /// deflate whose first byte has not arrived: RFC 9110 requires zlib's form, but some servers
    /// omit its header.
    Deflate,
    Zlib(ZlibDecoder<Vec<u8>>),
    Raw(DeflateDecoder<Vec<u8>>),
}

impl ContentDecoder {
    pub(crate) fn new(encoding: Option<&[u8]>) -> Result<ContentDecoder, CurlError> {
        let encoding = encoding.unwrap_or_default().to_ascii_lowercase();
        match encoding.trim_ascii() {
            b"" | b"identity" => Ok(ContentDecoder::Plain),
            b"gzip" | b"x-gzip" => Ok(ContentDecoder::Gzip(MultiGzDecoder::new(Vec::new()))),
            b"deflate" => Ok(ContentDecoder::Deflate),
            _ => Err(CurlError::Encoding(
                "Unrecognized content encoding type. libcurl understands deflate, gzip content encodings.",
            )),
        }
    }

    /// Decodes `bytes` and passes the output to `sink`.
    pub(crate) fn feed_bytes(
        &mut self,
        bytes: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<(), CurlError>,
    ) -> Result<(), CurlError> {
        if let (ContentDecoder::Deflate, Some(first)) = (&self, bytes.first()) {
            *self = match first & 0x0f {
                8 => ContentDecoder::Zlib(ZlibDecoder::new(Vec::new())),
                _ => ContentDecoder::Raw(DeflateDecoder::new(Vec::new())),
            };
        }
        if matches!(self, ContentDecoder::Plain) {
            return sink(bytes);
        }
        for bite in bytes.chunks(BITE) {
            self.write(bite)?;
            self.drain_output(sink)?;
        }
        Ok(())
    }

    fn write(&mut self, bite: &[u8]) -> Result<(), CurlError> {
        let written = match self {
            ContentDecoder::Gzip(d) => d.write_all(bite),
            ContentDecoder::Zlib(d) => d.write_all(bite),
            ContentDecoder::Raw(d) => d.write_all(bite),
            ContentDecoder::Plain | ContentDecoder::Deflate => Ok(()),
        };
        written.map_err(|_| BROKEN)
    }

    fn drain_output(
        &mut self,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), CurlError>,
    ) -> Result<(), CurlError> {
        let out = match self {
            ContentDecoder::Gzip(d) => d.get_mut(),
            ContentDecoder::Zlib(d) => d.get_mut(),
            ContentDecoder::Raw(d) => d.get_mut(),
            ContentDecoder::Plain | ContentDecoder::Deflate => return Ok(()),
        };
        let out = std::mem::take(out);
        if out.is_empty() { Ok(()) } else { sink(&out) }
    }

    /// Ends the body: passes on the rest of the output, or returns an error if the body is
    /// incomplete.
    pub(crate) fn end_body(
        &mut self,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), CurlError>,
    ) -> Result<(), CurlError> {
        let ended = match self {
            ContentDecoder::Gzip(d) => d.try_finish(),
            ContentDecoder::Zlib(d) => d.try_finish(),
            ContentDecoder::Raw(d) => d.try_finish(),
            ContentDecoder::Plain | ContentDecoder::Deflate => Ok(()),
        };
        ended.map_err(|_| BROKEN)?;
        self.drain_output(sink)
    }
}
