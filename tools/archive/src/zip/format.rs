//! The archive format (PKWARE's APPNOTE 6.3, sections 4.3 to 4.5). Names are bytes. No memory is
//! allocated for a size that is only claimed, because reads end at the end of the file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use box_text::time::{Zone, civil};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END64: u32 = 0x0606_4b50;
const LOCATOR64: u32 = 0x0706_4b50;

/// The compression method "stored", which does not compress.
pub const STORED: u16 = 0;
/// The compression method deflate (RFC 1951).
pub const DEFLATED: u16 = 8;
/// The compression method bzip2.
pub const BZIP2: u16 = 12;

/// The number of the extra field with ZIP64 sizes.
const EXTRA_ZIP64: u16 = 1;
/// The number of Info-ZIP's extra field with times.
const EXTRA_TIME: u16 = 0x5455;

/// A member, as the central directory describes it.
#[derive(Clone, Debug, Default)]
pub struct ZipEntry {
    pub name: Vec<u8>,
    /// The version and the system that made the member. The high byte is 3 for Unix.
    pub made_by: u16,
    /// The version that is needed to extract the member.
    pub needs: u16,
    pub flags: u16,
    pub method: u16,
    /// The time of modification in DOS format with the date in the high half: local time in steps
    /// of two seconds.
    pub dos: u32,
    /// The time of modification in seconds since the epoch, if the extra field has it.
    pub mtime: Option<i64>,
    pub crc: u32,
    /// The length of the compressed data, in bytes.
    pub packed: u64,
    /// The length of the unpacked data, in bytes.
    pub size: u64,
    /// The internal attributes; bit 0 marks text.
    pub internal: u16,
    /// The external attributes; the high half is the mode on Unix.
    pub external: u32,
    /// The offset of the local header in the file.
    pub offset: u64,
    pub comment: Vec<u8>,
}

impl ZipEntry {
    /// Returns whether the member is a directory, whose name ends with a slash.
    pub fn is_dir(&self) -> bool {
        self.name.ends_with(b"/")
    }

    /// Returns whether a password is needed.
    pub fn is_encrypted(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Returns the type and permission bits, if the archive was made on Unix.
    pub fn unix_mode(&self) -> Option<u32> {
        (self.made_by >> 8 == 3).then_some(self.external >> 16).filter(|m| *m != 0)
    }

    /// Returns whether the member is a symbolic link, by the mode that Unix systems store.
    pub fn is_symlink(&self) -> bool {
        self.unix_mode().is_some_and(|m| m & 0o170_000 == 0o120_000)
    }

    /// Returns the time of modification in seconds since the epoch.
    pub fn modified_epoch(&self, zone: &Zone) -> i64 {
        if let Some(t) = self.mtime {
            return t;
        }
        let (date, time) = (i64::from(self.dos >> 16), i64::from(self.dos & 0xffff));
        let days = civil::days_from_date(1980 + (date >> 9), date >> 5 & 15, date & 31);
        let seconds = (time >> 11) * 3600 + (time >> 5 & 63) * 60 + (time & 31) * 2;
        zone.to_epoch(days * 86_400 + seconds)
    }
}

/// Converts a time in seconds since the epoch to DOS format. A time before 1980 becomes the
/// beginning of 1980, and a year after 2107 becomes 2107.
pub fn dos_time(epoch: i64, zone: &Zone) -> u32 {
    let t = zone.to_civil(epoch, 0);
    if t.year < 1980 {
        return 1 << 21 | 1 << 16;
    }
    let date = (t.year.min(2107) - 1980) << 9 | t.month << 5 | t.day;
    let time = t.hour << 11 | t.minute << 5 | (t.second / 2);
    (date as u32) << 16 | time as u32
}

/// A reader of successive little-endian fields. It returns `None` if a field is missing.
struct ZipFields<'a>(&'a [u8]);

impl<'a> ZipFields<'a> {
    fn take_bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }
    fn take_u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take_bytes(2)?.try_into().ok()?))
    }
    fn take_u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take_bytes(4)?.try_into().ok()?))
    }
    fn take_u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take_bytes(8)?.try_into().ok()?))
    }
}

/// The members and the comment of an archive.
#[derive(Debug, Default)]
pub struct Directory {
    pub entries: Vec<ZipEntry>,
    pub comment: Vec<u8>,
    pub file_size: u64,
    /// The number of bytes before the archive.
    pub extra: u64,
}

/// Reads the directory; returns `None` if the file is not an archive.
pub fn read(file: &mut File) -> io::Result<Option<Directory>> {
    let file_size = file.seek(SeekFrom::End(0))?;
    // The end record is followed only by its comment, which has at most 64 KiB.
    let tail_size = file_size.min(65_557 + 20);
    let tail_at = file_size - tail_size;
    file.seek(SeekFrom::Start(tail_at))?;
    let mut tail = Vec::new();
    file.take(tail_size).read_to_end(&mut tail)?;
    let mark = END.to_le_bytes();
    let Some(at) = (0..tail.len().saturating_sub(21)).rev().find(|i| tail[*i..].starts_with(&mark))
    else {
        return Ok(None);
    };
    let mut f = ZipFields(&tail[at + 4..]);
    let end = (|| {
        f.take_bytes(6)?;
        let count = u64::from(f.take_u16()?);
        let (size, offset) = (u64::from(f.take_u32()?), u64::from(f.take_u32()?));
        let length = usize::from(f.take_u16()?);
        Some((count, size, offset, f.0.get(..length).unwrap_or(f.0).to_vec()))
    })();
    let Some((mut count, mut size, mut offset, comment)) = end else { return Ok(None) };
    let mut end_at = tail_at + at as u64;
    if (count == 0xffff || size == 0xffff_ffff || offset == 0xffff_ffff)
        && let Some(found) = find_end64(file, end_at)?
    {
        (count, size, offset, end_at) = found;
    }
    // An archive may have other bytes before it, such as a program that unpacks the archive.
    let Some(shift) = end_at.checked_sub(size).and_then(|n| n.checked_sub(offset)) else {
        return Ok(None);
    };
    file.seek(SeekFrom::Start(offset + shift))?;
    let mut data = Vec::new();
    file.take(size).read_to_end(&mut data)?;
    let mut f = ZipFields(&data);
    let mut entries = Vec::new();
    while (entries.len() as u64) < count {
        let Some(mut e) = parse_central(&mut f) else { break };
        e.offset = e.offset.saturating_add(shift);
        entries.push(e);
    }
    Ok(Some(Directory { entries, comment, file_size, extra: shift }))
}

/// Reads the ZIP64 end record, to which the locator before the end record points. Returns the
/// number of entries, the size and offset of the directory, and the offset of the record.
fn find_end64(file: &mut File, end_at: u64) -> io::Result<Option<(u64, u64, u64, u64)>> {
    let mut buf = [0u8; 56];
    let Some(at) = end_at.checked_sub(20) else { return Ok(None) };
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut buf[..20])?;
    let mut f = ZipFields(&buf);
    if f.take_u32() != Some(LOCATOR64) {
        return Ok(None);
    }
    f.take_bytes(4);
    let Some(at) = f.take_u64().filter(|a| *a < end_at) else { return Ok(None) };
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut buf)?;
    let mut f = ZipFields(&buf);
    if f.take_u32() != Some(END64) {
        return Ok(None);
    }
    f.take_bytes(28);
    Ok((|| Some((f.take_u64()?, f.take_u64()?, f.take_u64()?, at)))())
}

fn parse_central(f: &mut ZipFields<'_>) -> Option<ZipEntry> {
    if f.take_u32()? != CENTRAL {
        return None;
    }
    let mut e = ZipEntry {
        made_by: f.take_u16()?,
        needs: f.take_u16()?,
        flags: f.take_u16()?,
        method: f.take_u16()?,
        dos: f.take_u32()?,
        crc: f.take_u32()?,
        packed: f.take_u32()?.into(),
        size: f.take_u32()?.into(),
        ..ZipEntry::default()
    };
    let (name, extra, comment) = (f.take_u16()?, f.take_u16()?, f.take_u16()?);
    f.take_u16()?;
    e.internal = f.take_u16()?;
    e.external = f.take_u32()?;
    e.offset = f.take_u32()?.into();
    e.name = f.take_bytes(name.into())?.to_vec();
    let mut extra = ZipFields(f.take_bytes(extra.into())?);
    e.comment = f.take_bytes(comment.into())?.to_vec();
    while let (Some(id), Some(len)) = (extra.take_u16(), extra.take_u16()) {
        let Some(body) = extra.take_bytes(len.into()) else { break };
        let mut body = ZipFields(body);
        match id {
            EXTRA_ZIP64 => {
                for field in [&mut e.size, &mut e.packed, &mut e.offset] {
                    if *field == 0xffff_ffff {
                        *field = body.take_u64().unwrap_or(*field);
                    }
                }
            }
            EXTRA_TIME if body.take_bytes(1).is_some_and(|b| b[0] & 1 != 0) => {
                e.mtime = body.take_u32().map(|t| i64::from(t as i32));
            }
            _ => {}
        }
    }
    Some(e)
}

/// Sets the position of the file to the beginning of a member's data.
pub fn seek_data(file: &mut File, e: &ZipEntry) -> io::Result<()> {
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "bad zipfile offset");
    file.seek(SeekFrom::Start(e.offset))?;
    let mut head = [0u8; 30];
    file.read_exact(&mut head).map_err(|_| broken())?;
    let mut f = ZipFields(&head);
    if f.take_u32() != Some(LOCAL) {
        return Err(broken());
    }
    f.take_bytes(22);
    let (name, extra) = (f.take_u16().unwrap_or(0), f.take_u16().unwrap_or(0));
    file.seek(SeekFrom::Current(i64::from(name) + i64::from(extra)))?;
    Ok(())
}

fn clamp_u32(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Returns the extra field with the time. It is the same in the local header and in the directory.
fn time_field(e: &ZipEntry) -> Vec<u8> {
    let Some(t) = e.mtime.and_then(|t| i32::try_from(t).ok()) else { return Vec::new() };
    let mut out = EXTRA_TIME.to_le_bytes().to_vec();
    out.extend_from_slice(&5u16.to_le_bytes());
    out.push(1);
    out.extend_from_slice(&t.to_le_bytes());
    out
}

/// Returns the extra field with ZIP64 sizes, which only large members and archives need.
fn zip64_fields(fields: &[u64]) -> Vec<u8> {
    let mut out = EXTRA_ZIP64.to_le_bytes().to_vec();
    out.extend_from_slice(&((fields.len() * 8) as u16).to_le_bytes());
    fields.iter().for_each(|f| out.extend_from_slice(&f.to_le_bytes()));
    out
}

/// Returns a member's local header. Its length does not depend on `packed` and `crc` unless sizes
/// reach 4 GiB, which `size` shows beforehand.
pub fn local_header(e: &ZipEntry) -> Vec<u8> {
    let big = e.size.max(e.packed) >= 0xffff_0000;
    let mut extra = time_field(e);
    if big {
        extra.extend(zip64_fields(&[e.size, e.packed]));
    }
    let (packed, size) =
        if big { (u32::MAX, u32::MAX) } else { (clamp_u32(e.packed), clamp_u32(e.size)) };
    let mut out = LOCAL.to_le_bytes().to_vec();
    for n in [if big { 45 } else { e.needs }, e.flags, e.method] {
        out.extend_from_slice(&n.to_le_bytes());
    }
    for n in [e.dos, e.crc, packed, size] {
        out.extend_from_slice(&n.to_le_bytes());
    }
    for n in [e.name.len() as u16, extra.len() as u16] {
        out.extend_from_slice(&n.to_le_bytes());
    }
    out.extend_from_slice(&e.name);
    out.extend_from_slice(&extra);
    out
}

/// Writes the central directory and the end record.
pub fn write_end(
    out: &mut dyn Write,
    at: u64,
    entries: &[ZipEntry],
    comment: &[u8],
) -> io::Result<()> {
    let mut data = Vec::new();
    for e in entries {
        let mut extra = time_field(e);
        let wide: Vec<u64> =
            [e.size, e.packed, e.offset].into_iter().filter(|n| *n >= 0xffff_ffff).collect();
        if !wide.is_empty() {
            extra.extend(zip64_fields(&wide));
        }
        data.extend_from_slice(&CENTRAL.to_le_bytes());
        for n in [e.made_by, e.needs, e.flags, e.method] {
            data.extend_from_slice(&n.to_le_bytes());
        }
        for n in [e.dos, e.crc, clamp_u32(e.packed), clamp_u32(e.size)] {
            data.extend_from_slice(&n.to_le_bytes());
        }
        let lengths = [e.name.len(), extra.len(), e.comment.len()].map(|n| n as u16);
        for n in [lengths[0], lengths[1], lengths[2], 0, e.internal] {
            data.extend_from_slice(&n.to_le_bytes());
        }
        for n in [e.external, clamp_u32(e.offset)] {
            data.extend_from_slice(&n.to_le_bytes());
        }
        data.extend_from_slice(&e.name);
        data.extend_from_slice(&extra);
        data.extend_from_slice(&e.comment);
    }
    let (count, size) = (entries.len() as u64, data.len() as u64);
    out.write_all(&data)?;
    let mut end = Vec::new();
    if count >= 0xffff || at >= 0xffff_ffff || size >= 0xffff_ffff {
        end.extend_from_slice(&END64.to_le_bytes());
        end.extend_from_slice(&44u64.to_le_bytes());
        end.extend_from_slice(&[45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for n in [count, count, size, at] {
            end.extend_from_slice(&n.to_le_bytes());
        }
        end.extend_from_slice(&LOCATOR64.to_le_bytes());
        end.extend_from_slice(&0u32.to_le_bytes());
        end.extend_from_slice(&(at + size).to_le_bytes());
        end.extend_from_slice(&1u32.to_le_bytes());
    }
    let count = u16::try_from(count).unwrap_or(u16::MAX);
    end.extend_from_slice(&END.to_le_bytes());
    for n in [0, 0, count, count] {
        end.extend_from_slice(&n.to_le_bytes());
    }
    for n in [clamp_u32(size), clamp_u32(at)] {
        end.extend_from_slice(&n.to_le_bytes());
    }
    end.extend_from_slice(&(comment.len() as u16).to_le_bytes());
    end.extend_from_slice(comment);
    out.write_all(&end)
}
