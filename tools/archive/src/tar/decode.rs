//! Reads an archive member by member: ustar and GNU headers, GNU's long names, and pax records
//! (POSIX `pax`, "pax Interchange Format"; GNU tar manual, "Tar Internals").
//!
//! Lengths in headers are not trusted: names and records are read in pieces up to a limit. A header
//! with a wrong checksum is not used.

use std::io::{self, Read};

use super::member::{Member, MemberKind, MemberTime};
use super::pax::{PaxRecord, parse_records};
use super::sparse;

/// The length of a block, the unit of archives, in bytes.
pub const BLOCK: usize = 512;

/// The maximum length of a name or of the records before a member, in bytes.
const LONGEST_EXTENSION: u64 = 16 << 20;

/// The reason why reading ends.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("This does not look like a tar archive")]
    NoArchive,
    #[error("Unexpected EOF in archive")]
    Truncated,
    /// A long name, a list of records or the map of a sparse file is malformed.
    #[error("Malformed extended header")]
    Malformed,
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<DecodeError> for io::Error {
    fn from(e: DecodeError) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, e)
    }
}

/// A problem that is reported although reading continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeNotice {
    /// Blocks that are not headers were skipped to find the next one.
    Skipped,
    /// There is a single block of zeros instead of two. The field is the block's number.
    LoneZeroBlock(u64),
}

/// A reader of the members of an archive.
pub struct TarReader<R: Read> {
    from: R,
    /// The number of bytes read so far.
    position: u64,
    /// The number of bytes of the current member's data that have not been read.
    left: u64,
    /// The number of bytes that pad the data.
    padding: u64,
    /// The offset of the current member's first header, including extended headers.
    start: u64,
    /// Whether blocks of zeros are skipped (`-i`).
    ignores_zeros: bool,
    /// The records that apply to all members (`g` headers).
    globals: Vec<PaxRecord>,
    notices: Vec<DecodeNotice>,
    has_members: bool,
}

/// The extended headers before a member.
#[derive(Default)]
struct Extensions {
    long_name: Option<Vec<u8>>,
    long_link: Option<Vec<u8>>,
    records: Vec<PaxRecord>,
}

impl<R: Read> TarReader<R> {
    /// Returns a reader for an archive at its beginning. With `ignores_zeros`, blocks of zeros do
    /// not end the archive.
    pub fn new(from: R, ignores_zeros: bool) -> TarReader<R> {
        TarReader {
            from,
            position: 0,
            left: 0,
            padding: 0,
            start: 0,
            ignores_zeros,
            globals: Vec::new(),
            notices: Vec::new(),
            has_members: false,
        }
    }

    /// Returns the number of bytes read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the offset of the current member's first header. After the last member, returns the
    /// offset of the blocks that end the archive.
    pub fn member_start(&self) -> u64 {
        self.start
    }

    /// Returns the notices since the last call, and clears them.
    pub fn take_notices(&mut self) -> Vec<DecodeNotice> {
        std::mem::take(&mut self.notices)
    }

    /// Reads the bytes after the end of the archive.
    pub fn read_rest(&mut self) -> Result<(), DecodeError> {
        self.position += io::copy(&mut self.from, &mut io::sink())?;
        Ok(())
    }

    /// Returns the next member, or `None` at the end of the archive.
    pub fn next_member(&mut self) -> Result<Option<Member>, DecodeError> {
        self.skip_data()?;
        self.start = self.position;
        let mut extensions = Extensions::default();
        let mut is_skipping = false;
        loop {
            let Some(block) = self.next_block()? else {
                return if self.position == 0 { Err(DecodeError::NoArchive) } else { Ok(None) };
            };
            if block.iter().all(|c| *c == 0) {
                if self.ignores_zeros {
                    self.start = self.position;
                    continue;
                }
                let number = self.position / BLOCK as u64;
                match self.next_block()? {
                    Some(next) if next.iter().any(|c| *c != 0) => {
                        self.notices.push(DecodeNotice::LoneZeroBlock(number));
                    }
                    None => self.notices.push(DecodeNotice::LoneZeroBlock(number)),
                    Some(_) => {}
                }
                return Ok(None);
            }
            if !is_header(&block) {
                if !self.has_members {
                    return Err(DecodeError::NoArchive);
                }
                if !is_skipping {
                    self.notices.push(DecodeNotice::Skipped);
                }
                is_skipping = true;
                self.start = self.position;
                continue;
            }
            self.has_members = true;
            let size = number_field(&block[124..136]).ok_or(DecodeError::Malformed)?;
            match block[156] {
                b'L' => extensions.long_name = Some(self.read_text(size)?),
                b'K' => extensions.long_link = Some(self.read_text(size)?),
                b'x' | b'X' => {
                    let text = self.read_extension(size)?;
                    let records = parse_records(&text).ok_or(DecodeError::Malformed)?;
                    extensions.records.extend(records);
                }
                b'g' => {
                    let text = self.read_extension(size)?;
                    let records = parse_records(&text).ok_or(DecodeError::Malformed)?;
                    self.globals.extend(records);
                }
                letter => return self.finish_member(&block, letter, size, extensions).map(Some),
            }
        }
    }

    /// Builds a member from its header and the extended headers before it.
    fn finish_member(
        &mut self,
        block: &[u8; BLOCK],
        letter: u8,
        size: u64,
        extensions: Extensions,
    ) -> Result<Member, DecodeError> {
        let mut member = basic_member(block, letter, size);
        let mut stored = size;
        if let Some(name) = extensions.long_name {
            member.name = name;
        }
        if let Some(link) = extensions.long_link {
            member.link = link;
        }
        let records = [&self.globals[..], &extensions.records[..]].concat();
        apply_records(&mut member, &records, &mut stored);
        // Old archives have no letter for directories; there a trailing slash marks one.
        if letter == 0 && member.name.ends_with(b"/") {
            member.kind = MemberKind::Directory;
        }
        let has_data = member.kind.is_file() || letter == b'D';
        // POSIX allows a hard link to have the data, too. Its length is only in the header.
        let is_link = member.kind == MemberKind::HardLink;
        self.left = if has_data || is_link { stored } else { 0 };
        if is_link && !block[257..].starts_with(b"ustar\0") {
            self.left = 0;
        }
        let whole = self.left.checked_next_multiple_of(BLOCK as u64);
        self.padding = whole.ok_or(DecodeError::Malformed)? - self.left;
        if letter == b'S' {
            self.read_old_sparse(block, &mut member)?;
        } else if let Some(map) = sparse::pax_map(&records) {
            let real = sparse::pax_size(&records).unwrap_or(stored);
            member.size = real;
            if let Some(name) = sparse::pax_name(&records) {
                member.name = name;
            }
            let pieces = match map {
                sparse::PaxMap::Pieces(pieces) => pieces,
                sparse::PaxMap::InData => self.read_data_map()?,
            };
            member.sparse = Some(sparse::check(pieces, real).ok_or(DecodeError::Malformed)?);
        }
        Ok(member)
    }

    /// Reads the map of a sparse file in GNU's old format, which continues in blocks after the
    /// header.
    fn read_old_sparse(
        &mut self,
        block: &[u8; BLOCK],
        member: &mut Member,
    ) -> Result<(), DecodeError> {
        let mut pieces = Vec::new();
        sparse::add_pieces(&block[386..482], &mut pieces);
        let mut has_more = block[482] != 0;
        while has_more {
            let more = self.next_block()?.ok_or(DecodeError::Truncated)?;
            sparse::add_pieces(&more[..504], &mut pieces);
            has_more = more[504] != 0;
        }
        let real = number_field(&block[483..495]).ok_or(DecodeError::Malformed)?;
        member.size = real;
        member.sparse = Some(sparse::check(pieces, real).ok_or(DecodeError::Malformed)?);
        Ok(())
    }

    /// Reads the map of a sparse file that precedes its data (pax format 1.0).
    fn read_data_map(&mut self) -> Result<Vec<(u64, u64)>, DecodeError> {
        let mut map = sparse::DataMap::default();
        while !map.is_whole() {
            if self.left < BLOCK as u64 {
                return Err(DecodeError::Malformed);
            }
            let block = self.next_block()?.ok_or(DecodeError::Truncated)?;
            self.left -= BLOCK as u64;
            map.add_block(&block).ok_or(DecodeError::Malformed)?;
        }
        Ok(map.into_pieces())
    }

    /// Skips the rest of the current member's data.
    fn skip_data(&mut self) -> Result<(), DecodeError> {
        let rest = self.left + self.padding;
        (self.left, self.padding) = (0, 0);
        let skipped = io::copy(&mut self.from.by_ref().take(rest), &mut io::sink())?;
        self.position += skipped;
        if skipped < rest { Err(DecodeError::Truncated) } else { Ok(()) }
    }

    /// Reads a block; returns `None` at the end of input.
    fn next_block(&mut self) -> Result<Option<[u8; BLOCK]>, DecodeError> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while filled < BLOCK {
            match self.from.read(&mut block[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        self.position += filled as u64;
        match filled {
            0 => Ok(None),
            BLOCK => Ok(Some(block)),
            _ if !self.has_members => Err(DecodeError::NoArchive),
            _ => Err(DecodeError::Truncated),
        }
    }

    /// Reads the data of an extended header.
    fn read_extension(&mut self, size: u64) -> Result<Vec<u8>, DecodeError> {
        if size > LONGEST_EXTENSION {
            return Err(DecodeError::Malformed);
        }
        let whole = size.next_multiple_of(BLOCK as u64);
        let mut text = Vec::new();
        while (text.len() as u64) < whole {
            text.extend_from_slice(&self.next_block()?.ok_or(DecodeError::Truncated)?);
        }
        text.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        Ok(text)
    }

    /// Reads a long name, which is NUL-terminated.
    fn read_text(&mut self, size: u64) -> Result<Vec<u8>, DecodeError> {
        Ok(text_field(&self.read_extension(size)?).to_vec())
    }
}

/// Reads the stored data of the current member. That of a sparse file does not include the holes.
impl<R: Read> Read for TarReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        if most == 0 {
            return Ok(0);
        }
        let n = self.from.read(&mut out[..most])?;
        if n == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, DecodeError::Truncated));
        }
        self.left -= n as u64;
        self.position += n as u64;
        Ok(n)
    }
}

/// Returns the member that a header alone describes.
fn basic_member(block: &[u8; BLOCK], letter: u8, size: u64) -> Member {
    let field = |from: usize, length: usize| &block[from..from + length];
    let mut name = text_field(field(0, 100)).to_vec();
    if field(257, 6) == b"ustar\0" {
        let prefix = text_field(field(345, 155));
        if !prefix.is_empty() {
            name = [prefix, b"/", &name].concat();
        }
    }
    let number = |from: usize, length: usize| number_field(field(from, length)).unwrap_or(0);
    let kind = MemberKind::from_letter(letter);
    let mut member = Member::new(name, kind);
    member.link = text_field(field(157, 100)).to_vec();
    member.mode = (number(100, 8) & 0o7777) as u16;
    member.uid = number(108, 8);
    member.gid = number(116, 8);
    member.size = if kind.is_file() { size } else { 0 };
    member.mtime = MemberTime { seconds: signed_field(field(136, 12)), nanos: 0 };
    if field(257, 5) == b"ustar" {
        member.user = text_field(field(265, 32)).to_vec();
        member.group = text_field(field(297, 32)).to_vec();
        member.device = (number(329, 8) as u32, number(337, 8) as u32);
    }
    member
}

/// Applies the records of extended headers to a member, and to `stored`, the length of its data.
fn apply_records(member: &mut Member, records: &[PaxRecord], stored: &mut u64) {
    for (key, value) in records {
        let number = || std::str::from_utf8(value).ok().and_then(|v| v.parse::<u64>().ok());
        match &key[..] {
            b"path" => member.name.clone_from(value),
            b"linkpath" => member.link.clone_from(value),
            b"uname" => member.user.clone_from(value),
            b"gname" => member.group.clone_from(value),
            b"uid" => member.uid = number().unwrap_or(member.uid),
            b"gid" => member.gid = number().unwrap_or(member.gid),
            b"mtime" => member.mtime = MemberTime::parse_decimal(value).unwrap_or(member.mtime),
            b"size" => {
                if let Some(size) = number() {
                    *stored = size;
                    member.size = if member.kind.is_file() { size } else { 0 };
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a block is a header with a correct checksum. The checksum is the sum of the
/// bytes, which some programs add up as signed numbers.
fn is_header(block: &[u8; BLOCK]) -> bool {
    let Some(stored) = number_field(&block[148..156]) else { return false };
    let bytes =
        || block.iter().enumerate().map(|(i, c)| if (148..156).contains(&i) { b' ' } else { *c });
    let unsigned: u64 = bytes().map(u64::from).sum();
    let signed: i64 = bytes().map(|c| i64::from(c.cast_signed())).sum();
    stored == unsigned || i64::try_from(stored) == Ok(signed)
}

/// Returns the text of a field, which ends at the first NUL.
fn text_field(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|c| *c == 0).unwrap_or(field.len());
    &field[..end]
}

/// Parses the number in a field: octal digits, or a binary number of GNU's, whose first bit is set.
/// Returns `None` if the field is invalid or the number is negative.
pub fn number_field(field: &[u8]) -> Option<u64> {
    match field.first()? {
        0x80 => {
            let (high, low) = field[1..].split_at(field.len().saturating_sub(9));
            if high.iter().any(|c| *c != 0) {
                return None;
            }
            Some(low.iter().fold(0, |n, c| n << 8 | u64::from(*c)))
        }
        0xff => None,
        _ => {
            let text = text_field(field).trim_ascii();
            let digit = |n: u64, c: &u8| match c {
                b'0'..=b'7' => n.checked_mul(8)?.checked_add(u64::from(c - b'0')),
                _ => None,
            };
            if text.is_empty() && field[0] != 0 && field[0] != b' ' {
                return None;
            }
            text.iter().try_fold(0, digit)
        }
    }
}

/// Parses the number in a field that may be negative; returns 0 if the field is invalid. Only
/// binary numbers can be negative.
fn signed_field(field: &[u8]) -> i64 {
    if field.first() == Some(&0xff) {
        return field[1..].iter().fold(-1_i64, |n, c| n << 8 | i64::from(*c));
    }
    number_field(field).and_then(|n| i64::try_from(n).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::encode::{ArchiveFormat, HeaderEncoder};
    use super::super::pax::PaxOptions;
    use super::*;

    /// Returns an archive with members of all kinds, a long name and pax records.
    fn sample_archive() -> Vec<u8> {
        let mut out = Vec::new();
        for format in [ArchiveFormat::Gnu, ArchiveFormat::Pax] {
            let encoder = HeaderEncoder::new(format, PaxOptions::default());
            for (name, kind) in [
                (vec![b'n'; 200], MemberKind::File),
                (b"d/".to_vec(), MemberKind::Directory),
                (b"l".to_vec(), MemberKind::Symlink),
            ] {
                let mut member = Member::new(name, kind);
                member.size = if kind.is_file() { 700 } else { 0 };
                member.link = b"target".to_vec();
                member.mtime.nanos = 5;
                out.extend(encoder.encode_member(&member, None).expect("encodes"));
                out.resize(out.len() + member.size.next_multiple_of(512) as usize, b'x');
            }
        }
        out.resize(out.len() + 1024, 0);
        out
    }

    /// Reads all members and their data.
    fn read_all(bytes: &[u8]) -> Result<usize, DecodeError> {
        let mut reader = TarReader::new(bytes, false);
        let mut count = 0;
        while reader.next_member()?.is_some() {
            io::copy(&mut reader, &mut io::sink())?;
            count += 1;
        }
        Ok(count)
    }

    #[test]
    fn all_members_are_read() {
        assert_eq!(read_all(&sample_archive()).expect("reads"), 6);
    }

    /// Corrects the checksum of the header at an offset, so that its other fields are used.
    fn seal_header(bytes: &mut [u8], at: usize) {
        let block = &mut bytes[at..at + BLOCK];
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|c| u32::from(*c)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }

    /// Checks that reading a damaged archive ends without a panic, and without allocating memory
    /// for lengths that are only claimed.
    #[test]
    fn hostile_archives_end() {
        let clean = sample_archive();
        let mut state = 12_345_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..2_000 {
            let mut bytes = clean.clone();
            for _ in 0..1 + random(4) {
                let at = random(bytes.len());
                bytes[at] = [0, 0x80, 0xff, b'7', b'S', b'x', random(256) as u8][random(7)];
                seal_header(&mut bytes, at / BLOCK * BLOCK);
            }
            bytes.truncate(bytes.len() - random(600));
            let _ = read_all(&bytes);
        }
    }

    #[test]
    fn claimed_lengths_cost_nothing() {
        let mut huge = sample_archive();
        huge[124] = 0x80;
        huge[125..136].fill(0xff);
        seal_header(&mut huge, 0);
        assert!(read_all(&huge).is_err());
    }
}
