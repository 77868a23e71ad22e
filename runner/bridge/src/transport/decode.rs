//! Content encodings, for bodies that the host must search for secrets. All other bodies are passed
//! to the guest unchanged, and decoded there within the guest's own limits.

use crate::error::RequestError;
use flate2::write::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use http::header::{CONTENT_ENCODING, HeaderMap};
use std::io::Write as _;

/// Number of bytes that are decoded at a time. It bounds the output, because deflate expands a byte
/// to at most about 1,032.
pub(crate) const PIECE: usize = 1024;

pub(crate) enum BodyDecoder {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// The encoding deflate of HTTP is the zlib format (RFC 9110, 8.4.1.2). The flag says whether
    /// the stream has ended.
    Zlib(Box<Decompress>, bool),
}

impl BodyDecoder {
    /// Returns the decoder for a body with these headers.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Self, RequestError> {
        let all: Vec<String> = headers
            .get_all(CONTENT_ENCODING)
            .iter()
            .flat_map(|v| v.as_bytes().split(|b| *b == b','))
            .map(|v| String::from_utf8_lossy(v.trim_ascii()).to_ascii_lowercase())
            .filter(|v| !v.is_empty() && v != "identity")
            .collect();
        match all.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [] => Ok(Self::Plain),
            ["gzip" | "x-gzip"] => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))),
            ["deflate"] => Ok(Self::Zlib(Box::new(Decompress::new(true)), false)),
            _ => Err(RequestError::Encoding(all.join(", ").chars().take(80).collect())),
        }
    }

    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }

    /// Decodes a piece of at most [`PIECE`] bytes.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<Vec<u8>, RequestError> {
        match self {
            Self::Plain => Ok(piece.to_vec()),
            Self::Gzip(decoder) => {
                decoder.write_all(piece).map_err(|_| RequestError::Encoding("gzip".into()))?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Zlib(decoder, ended) => {
                let bad = || RequestError::Encoding("deflate".into());
                let mut out = Vec::with_capacity(4 * PIECE);
                let begin = decoder.total_in();
                loop {
                    let at = (decoder.total_in() - begin) as usize;
                    let before = (decoder.total_in(), decoder.total_out());
                    if *ended {
                        // Nothing may follow the end.
                        return if at == piece.len() { Ok(out) } else { Err(bad()) };
                    }
                    out.reserve(4 * PIECE);
                    let status = decoder
                        .decompress_vec(&piece[at..], &mut out, FlushDecompress::None)
                        .map_err(|_| bad())?;
                    *ended = status == Status::StreamEnd;
                    if !*ended && before == (decoder.total_in(), decoder.total_out()) {
                        return Ok(out);
                    }
                }
            }
        }
    }

    /// Returns the remaining bytes at the end of the body.
    pub(crate) fn finish(self) -> Result<Vec<u8>, RequestError> {
        match self {
            Self::Plain | Self::Zlib(_, true) => Ok(Vec::new()),
            Self::Zlib(_, false) => Err(RequestError::Partial),
            Self::Gzip(decoder) => decoder.finish().map_err(|_| RequestError::Partial),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use http::HeaderValue;

    fn decoder(encoding: &'static str) -> Result<BodyDecoder, RequestError> {
        let one = (CONTENT_ENCODING, HeaderValue::from_static(encoding));
        BodyDecoder::from_headers(&HeaderMap::from_iter([one]))
    }

    fn decode(encoding: &'static str, bytes: &[u8], step: usize) -> Result<Vec<u8>, RequestError> {
        let mut d = decoder(encoding)?;
        let mut out = Vec::new();
        for piece in bytes.chunks(step) {
            out.extend(d.push(piece)?);
        }
        out.extend(d.finish()?);
        Ok(out)
    }

    #[test]
    fn encodings_are_decoded_whole_or_refused() {
        let text: Vec<u8> = (0..100_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&text).unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&text).unwrap();
        for (name, bytes) in [("gzip", gzip.finish().unwrap()), ("Deflate", zlib.finish().unwrap())]
        {
            for step in [1, 7, PIECE] {
                assert_eq!(decode(name, &bytes, step).unwrap(), text, "{name}");
            }
            for cut in [0, 1, 5, 100, bytes.len() - 1] {
                assert!(decode(name, &bytes[..cut], PIECE).is_err(), "{name} cut at {cut}");
            }
            let mut more = bytes.clone();
            more.extend_from_slice(b"rest");
            assert!(decode(name, &more, PIECE).is_err(), "{name}");
            let mut bad = bytes.clone();
            let last = bad.len() - 6;
            bad[last] ^= 1;
            assert!(decode(name, &bad, PIECE).is_err(), "{name}");
        }
        assert!(decoder("identity").unwrap().is_plain());
        for other in ["br", "zstd", "gzip, gzip", "compress", "\u{e9}"] {
            assert!(
                matches!(decoder_bytes(other.as_bytes()), Err(RequestError::Encoding(_))),
                "{other}"
            );
        }
    }

    fn decoder_bytes(encoding: &[u8]) -> Result<BodyDecoder, RequestError> {
        let one = (CONTENT_ENCODING, HeaderValue::from_bytes(encoding).unwrap());
        BodyDecoder::from_headers(&HeaderMap::from_iter([one]))
    }
}
