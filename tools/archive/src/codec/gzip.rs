//! Reads gzip streams (RFC 1952), which consist of members. Headers and trailers are read here and
//! not by the compression library, because `gzip -l` prints their fields, and because gzip only
//! warns about garbage after the last member.

use std::io::{self, BufRead, Read};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::CodecFault;

/// The length of the fixed part of a member's header, in bytes.
const HEADER: usize = 10;
/// The length of the checksum and the size after a member's data, in bytes.
const TRAILER: usize = 8;
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The bits in the flags of a header.
const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;

/// The maximum length of a name or comment, in bytes. A longer one counts as damage, so that
/// reading always ends.
const LONGEST_TEXT: u64 = 1 << 20;

/// The fields of a member.
#[derive(Clone, Debug, Default)]
pub struct GzipMember {
    /// The name of the file that was compressed, if it is stored.
    pub name: Option<Vec<u8>>,
    /// The stored time in seconds since the epoch; 0 if there is none.
    pub mtime: u32,
    /// The length of the header and the trailer, in bytes.
    pub overhead: u64,
    /// The length of the decompressed data, in bytes.
    pub size: u64,
    /// The checksum of the data.
    pub crc: u32,
}

/// A reader of the data of all members.
pub struct GzipReader<R: BufRead> {
    state: GzipState<R>,
    /// The member that is being read, or the last one.
    member: GzipMember,
    crc: Crc,
}

enum GzipState<R: BufRead> {
    /// The reader is before a member. The flag says whether it is the first one.
    Between(R, bool),
    Data(DeflateDecoder<R>),
    End,
}

impl<R: BufRead> GzipReader<R> {
    /// Returns a reader for a stream that is at its beginning.
    pub fn new(from: R) -> GzipReader<R> {
        GzipReader {
            state: GzipState::Between(from, true),
            member: GzipMember::default(),
            crc: Crc::new(),
        }
    }

    /// Returns the last member after all data has been read.
    pub fn last_member(&self) -> &GzipMember {
        &self.member
    }

    /// Compares a member's trailer with its data.
    fn check_trailer(&mut self, from: &mut R) -> io::Result<()> {
        let mut trailer = [0; TRAILER];
        from.read_exact(&mut trailer).map_err(CodecFault::classify_error)?;
        let [a, b, c, d, size @ ..] = trailer;
        self.member.crc = self.crc.sum();
        let whole = u32::from_le_bytes([a, b, c, d]) == self.crc.sum()
            && u32::from_le_bytes(size) == self.crc.amount();
        if whole { Ok(()) } else { Err(CodecFault::Checksum.into()) }
    }
}

impl<R: BufRead> Read for GzipReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, GzipState::End) {
                GzipState::End => return Ok(0),
                GzipState::Between(mut from, is_first) => {
                    if !is_first && !has_another_member(&mut from)? {
                        return Ok(0);
                    }
                    self.member = match read_header(&mut from) {
                        // Garbage may begin with the first byte of the magic number.
                        Err(e)
                            if !is_first && CodecFault::of(&e) == Some(CodecFault::OtherFormat) =>
                        {
                            return Err(CodecFault::TrailingGarbage.into());
                        }
                        header => header?,
                    };
                    self.crc = Crc::new();
                    self.state = GzipState::Data(DeflateDecoder::new(from));
                }
                GzipState::Data(mut data) => {
                    match data.read(out).map_err(CodecFault::classify_error)? {
                        0 => {
                            let mut from = data.into_inner();
                            self.check_trailer(&mut from)?;
                            self.state = GzipState::Between(from, false);
                        }
                        n => {
                            self.crc.update(&out[..n]);
                            self.member.size += n as u64;
                            self.state = GzipState::Data(data);
                            return Ok(n);
                        }
                    }
                }
            }
        }
    }
}

/// Returns whether another member follows. Zeros, which pad an archive on a tape, are skipped. Any
/// other bytes are garbage.
fn has_another_member<R: BufRead>(from: &mut R) -> io::Result<bool> {
    loop {
        let bytes = from.fill_buf()?;
        match bytes.iter().position(|c| *c != 0) {
            None if bytes.is_empty() => return Ok(false),
            None => {
                let n = bytes.len();
                from.consume(n);
            }
            Some(0) if bytes[0] == MAGIC[0] => return Ok(true),
            Some(_) => return Err(CodecFault::TrailingGarbage.into()),
        }
    }
}

/// Reads a member's header.
fn read_header<R: BufRead>(from: &mut R) -> io::Result<GzipMember> {
    let mut header = [0; HEADER];
    let (magic, rest) = header.split_at_mut(MAGIC.len());
    from.read_exact(magic).map_err(CodecFault::classify_error)?;
    if magic != MAGIC {
        return Err(CodecFault::OtherFormat.into());
    }
    from.read_exact(rest).map_err(CodecFault::classify_error)?;
    let [_, _, method, flags, t0, t1, t2, t3, ..] = header;
    if method != 8 {
        return Err(CodecFault::Damaged.into());
    }
    let mut member = GzipMember {
        mtime: u32::from_le_bytes([t0, t1, t2, t3]),
        overhead: (HEADER + TRAILER) as u64,
        ..GzipMember::default()
    };
    if flags & EXTRA != 0 {
        let mut length = [0; 2];
        from.read_exact(&mut length).map_err(CodecFault::classify_error)?;
        let length = u64::from(u16::from_le_bytes(length));
        skip_bytes(from, length)?;
        member.overhead += length + 2;
    }
    if flags & NAME != 0 {
        let name = read_text(from)?;
        member.overhead += name.len() as u64 + 1;
        member.name = Some(name);
    }
    if flags & COMMENT != 0 {
        member.overhead += read_text(from)?.len() as u64 + 1;
    }
    if flags & HEADER_CRC != 0 {
        skip_bytes(from, 2)?;
        member.overhead += 2;
    }
    Ok(member)
}

/// Skips bytes of a header.
fn skip_bytes<R: BufRead>(from: &mut R, count: u64) -> io::Result<()> {
    if io::copy(&mut from.by_ref().take(count), &mut io::sink())? < count {
        return Err(CodecFault::Truncated.into());
    }
    Ok(())
}

/// Reads a NUL-terminated text of a header.
fn read_text<R: BufRead>(from: &mut R) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let limit = from.by_ref().take(LONGEST_TEXT).read_until(0, &mut text)? as u64;
    match text.pop() {
        Some(0) => Ok(text),
        _ if limit == LONGEST_TEXT => Err(CodecFault::Damaged.into()),
        _ => Err(CodecFault::Truncated.into()),
    }
}
