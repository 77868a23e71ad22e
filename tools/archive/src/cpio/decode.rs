//! Reads archives entry by entry. Lengths in headers are not trusted: the length of names is
//! limited, and data is read in pieces.

use std::io::{self, Read};

use super::CpioError;
use super::entry::{
    BLOCK_DEVICE, CHAR_DEVICE, CpioEntry, CpioFormat, DIRECTORY, FIFO, FILE, SYMLINK, TRAILER,
};
use crate::tar::decode::{DecodeError, TarReader};
use crate::tar::member::{Member, MemberKind};

/// The maximum length of a name or of a symbolic link's target, in bytes.
const LONGEST_NAME: u64 = 1 << 16;

/// A reader that counts bytes.
pub struct CountedInput<'a> {
    from: Box<dyn Read + 'a>,
    count: u64,
}

impl Read for CountedInput<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(out)?;
        self.count += n as u64;
        Ok(n)
    }
}

/// A reader of an archive.
pub struct CpioReader<'a> {
    source: CpioSource<'a>,
    pub format: CpioFormat,
    /// The number of bytes of the current entry's data that have not been read.
    left: u64,
    /// The number of bytes that pad the data.
    padding: u64,
    /// The offset of the current entry.
    start: u64,
}

/// The input, by the kind of its headers.
enum CpioSource<'a> {
    Cpio(CountedInput<'a>),
    Tar(Box<TarReader<CountedInput<'a>>>),
}

impl<'a> CpioReader<'a> {
    /// Opens an archive at its beginning, by which its format is detected.
    pub fn open(mut from: Box<dyn Read + 'a>) -> Result<CpioReader<'a>, CpioError> {
        let mut head = Vec::new();
        from.by_ref().take(512).read_to_end(&mut head)?;
        let format = detect_format(&head).ok_or(CpioError::NoArchive)?;
        let input = CountedInput { from: Box::new(io::Cursor::new(head).chain(from)), count: 0 };
        let source = match format {
            CpioFormat::Ustar | CpioFormat::Tar => {
                CpioSource::Tar(Box::new(TarReader::new(input, false)))
            }
            _ => CpioSource::Cpio(input),
        };
        Ok(CpioReader { source, format, left: 0, padding: 0, start: 0 })
    }

    /// Returns the number of bytes read so far.
    pub fn count(&self) -> u64 {
        match &self.source {
            CpioSource::Cpio(input) => input.count,
            // GNU stops after the first block of the archive's end, so that block counts, too.
            CpioSource::Tar(reader) => reader.member_start() + 512,
        }
    }

    /// Returns the offset of the current entry, or that of the trailer at the end.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the next entry, or `None` at the end of the archive.
    pub fn next_entry(&mut self) -> Result<Option<CpioEntry>, CpioError> {
        let format = self.format;
        let input = match &mut self.source {
            CpioSource::Tar(reader) => {
                let member = reader.next_member().map_err(tar_error)?;
                return Ok(member.map(entry_of_member));
            }
            CpioSource::Cpio(input) => input,
        };
        let rest = self.left + self.padding;
        if io::copy(&mut input.by_ref().take(rest), &mut io::sink())? < rest {
            return Err(CpioError::Truncated);
        }
        self.start = input.count;
        let (mut entry, name_size) = match format {
            CpioFormat::Old => read_old(input)?,
            CpioFormat::Binary => read_binary(input)?,
            _ => read_new(input)?,
        };
        if name_size == 0 || name_size > LONGEST_NAME {
            return Err(CpioError::Malformed);
        }
        let mut name = read_bytes(input, name_size)?;
        if name.pop() != Some(0) || name.contains(&0) {
            return Err(CpioError::Malformed);
        }
        let header: u64 = match format {
            CpioFormat::Old => 76,
            CpioFormat::Binary => 26,
            _ => 110,
        };
        let align = format.alignment();
        let filled = (header + name_size).next_multiple_of(align) - header - name_size;
        read_bytes(input, filled)?;
        entry.name = name;
        if entry.name == TRAILER {
            return Ok(None);
        }
        self.left = entry.size;
        self.padding = entry.size.next_multiple_of(align) - entry.size;
        Ok(Some(entry))
    }

    /// Returns the target of the current symbolic link.
    pub fn read_target(&mut self, entry: &CpioEntry) -> Result<Vec<u8>, CpioError> {
        if let Some(link) = &entry.link {
            return Ok(link.clone());
        }
        if entry.size > LONGEST_NAME {
            return Err(CpioError::Malformed);
        }
        let mut target = Vec::new();
        self.take(entry.size).read_to_end(&mut target)?;
        Ok(target)
    }
}

/// Reads the data of the current entry.
impl Read for CpioReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let input = match &mut self.source {
            CpioSource::Tar(reader) => return reader.read(out),
            CpioSource::Cpio(input) => input,
        };
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        if most == 0 {
            return Ok(0);
        }
        let n = input.read(&mut out[..most])?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= n as u64;
        Ok(n)
    }
}

/// Returns the format of an archive by its first bytes.
fn detect_format(head: &[u8]) -> Option<CpioFormat> {
    Some(match head {
        [b'0', b'7', b'0', b'7', b'0', b'1', ..] => CpioFormat::New,
        [b'0', b'7', b'0', b'7', b'0', b'2', ..] => CpioFormat::Sum,
        [b'0', b'7', b'0', b'7', b'0', b'7', ..] => CpioFormat::Old,
        [0xc7, 0x71, ..] => CpioFormat::Binary,
        _ if head.get(257..262) == Some(b"ustar") => CpioFormat::Ustar,
        _ if TarReader::new(head, false).next_member().is_ok_and(|m| m.is_some()) => {
            CpioFormat::Tar
        }
        _ => return None,
    })
}

fn tar_error(e: DecodeError) -> CpioError {
    match e {
        DecodeError::Io(e) => CpioError::Io(e),
        DecodeError::Truncated => CpioError::Truncated,
        DecodeError::NoArchive | DecodeError::Malformed => CpioError::Malformed,
    }
}

/// Converts a member of a tar archive to an entry.
fn entry_of_member(member: Member) -> CpioEntry {
    let kind = match member.kind {
        MemberKind::Directory => DIRECTORY,
        MemberKind::Symlink => SYMLINK,
        MemberKind::Fifo => FIFO,
        MemberKind::CharDevice => CHAR_DEVICE,
        MemberKind::BlockDevice => BLOCK_DEVICE,
        _ => FILE,
    };
    let has_link = matches!(member.kind, MemberKind::Symlink | MemberKind::HardLink);
    let id = |id: u64| u32::try_from(id).unwrap_or(u32::MAX);
    CpioEntry {
        mode: kind | u32::from(member.mode),
        nlink: 1,
        uid: id(member.uid),
        gid: id(member.gid),
        rdev: member.device,
        mtime: u64::try_from(member.mtime.seconds).unwrap_or(0),
        size: member.size,
        link: has_link.then_some(member.link),
        name: member.name,
        ..CpioEntry::default()
    }
}

/// Reads exactly `count` bytes, whose number must be small.
fn read_bytes(input: &mut CountedInput<'_>, count: u64) -> Result<Vec<u8>, CpioError> {
    let mut bytes = Vec::new();
    input.take(count).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < count { Err(CpioError::Truncated) } else { Ok(bytes) }
}

/// Parses a field of digits as a number.
fn parse_digits(field: &[u8], radix: u32) -> Result<u64, CpioError> {
    let text = std::str::from_utf8(field).map_err(|_| CpioError::Malformed)?;
    u64::from_str_radix(text.trim(), radix).map_err(|_| CpioError::Malformed)
}

/// Reads a header of hexadecimal digits; returns the entry and the length of its name.
fn read_new(input: &mut CountedInput<'_>) -> Result<(CpioEntry, u64), CpioError> {
    let bytes = read_bytes(input, 110)?;
    if !matches!(&bytes[..6], b"070701" | b"070702") {
        return Err(CpioError::Malformed);
    }
    let mut fields = [0; 13];
    for (i, field) in fields.iter_mut().enumerate() {
        *field = parse_digits(&bytes[6 + 8 * i..14 + 8 * i], 16)?;
    }
    let [ino, mode, uid, gid, nlink, mtime, size, dev0, dev1, rdev0, rdev1, name, sum] = fields;
    let entry = CpioEntry {
        ino,
        mode: mode as u32,
        uid: uid as u32,
        gid: gid as u32,
        nlink: nlink as u32,
        mtime,
        size,
        dev: (dev0 as u32, dev1 as u32),
        rdev: (rdev0 as u32, rdev1 as u32),
        sum: sum as u32,
        ..CpioEntry::default()
    };
    Ok((entry, name))
}

/// Reads a header of octal digits; returns the entry and the length of its name.
fn read_old(input: &mut CountedInput<'_>) -> Result<(CpioEntry, u64), CpioError> {
    let bytes = read_bytes(input, 76)?;
    if &bytes[..6] != b"070707" {
        return Err(CpioError::Malformed);
    }
    let number = |from: usize, length: usize| parse_digits(&bytes[from..from + length], 8);
    let (dev, rdev) = (number(6, 6)? as u32, number(42, 6)? as u32);
    let entry = CpioEntry {
        dev: (dev >> 8, dev & 0xff),
        ino: number(12, 6)?,
        mode: number(18, 6)? as u32,
        uid: number(24, 6)? as u32,
        gid: number(30, 6)? as u32,
        nlink: number(36, 6)? as u32,
        rdev: (rdev >> 8, rdev & 0xff),
        mtime: number(48, 11)?,
        size: number(65, 11)?,
        ..CpioEntry::default()
    };
    Ok((entry, number(59, 6)?))
}

/// Reads a header of 16-bit numbers; returns the entry and the length of its name. Two 16-bit
/// numbers form a 32-bit number with the high half first.
fn read_binary(input: &mut CountedInput<'_>) -> Result<(CpioEntry, u64), CpioError> {
    let bytes = read_bytes(input, 26)?;
    let half = |i: usize| u32::from(u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]));
    let whole = |i: usize| u64::from(half(i) << 16 | half(i + 1));
    if half(0) != 0o070_707 {
        return Err(CpioError::Malformed);
    }
    let entry = CpioEntry {
        dev: (half(1) >> 8, half(1) & 0xff),
        ino: half(2).into(),
        mode: half(3),
        uid: half(4),
        gid: half(5),
        nlink: half(6),
        rdev: (half(7) >> 8, half(7) & 0xff),
        mtime: whole(8),
        size: whole(11),
        ..CpioEntry::default()
    };
    Ok((entry, half(10).into()))
}

#[cfg(test)]
mod tests {
    use super::super::encode::{encode_header, encode_trailer};
    use super::*;

    /// Returns an archive of three entries.
    fn sample_archive(format: CpioFormat) -> Vec<u8> {
        let mut out = Vec::new();
        for (name, mode, data) in
            [("d", DIRECTORY | 0o755, ""), ("d/f", FILE | 0o644, "12345"), ("l", SYMLINK, "to")]
        {
            let entry = CpioEntry {
                name: name.into(),
                mode,
                nlink: 1,
                size: data.len() as u64,
                ..CpioEntry::default()
            };
            out.extend(encode_header(format, &entry).expect("encodes"));
            out.extend_from_slice(data.as_bytes());
            let align = format.alignment() as usize;
            out.resize(out.len().next_multiple_of(align), 0);
        }
        out.extend(encode_trailer(format));
        out
    }

    fn read_all(bytes: &[u8]) -> Result<Vec<Vec<u8>>, CpioError> {
        let mut reader = CpioReader::open(Box::new(bytes))?;
        let mut names = Vec::new();
        while let Some(entry) = reader.next_entry()? {
            reader.read_target(&entry)?;
            names.push(entry.name);
        }
        Ok(names)
    }

    const FORMATS: [CpioFormat; 4] =
        [CpioFormat::New, CpioFormat::Sum, CpioFormat::Old, CpioFormat::Binary];

    #[test]
    fn what_is_encoded_is_decoded() {
        for format in FORMATS {
            let names = read_all(&sample_archive(format)).expect("reads");
            assert_eq!(names, [&b"d"[..], b"d/f", b"l"], "{format:?}");
        }
    }

    /// Checks that reading a damaged archive ends without a panic, and without allocating memory
    /// for lengths that are only claimed.
    #[test]
    fn hostile_archives_end() {
        let mut state = 99_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for format in FORMATS {
            let clean = sample_archive(format);
            for _ in 0..5_000 {
                let mut bytes = clean.clone();
                for _ in 0..1 + random(5) {
                    let at = random(bytes.len());
                    bytes[at] = [0, 0xff, b'F', b'7', b'0', random(256) as u8][random(6)];
                }
                bytes.truncate(bytes.len() - random(bytes.len()));
                let _ = read_all(&bytes);
            }
        }
    }
}
