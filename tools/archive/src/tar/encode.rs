//! Encodes the headers of members in four formats: GNU's with long names, pax, ustar, and that of
//! Unix version 7.

use super::decode::BLOCK;
use super::member::{Member, MemberKind, MemberTime};
use super::pax::{PaxOptions, encode_record, header_name};

/// The length of the field for a name, in bytes.
pub const NAME: usize = 100;
/// The length of ustar's field for the directory of a name, in bytes.
const PREFIX: usize = 155;

/// A format of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    Gnu,
    Pax,
    Ustar,
    V7,
}

impl ArchiveFormat {
    /// Returns the format with a name (`--format`).
    pub fn by_name(name: &[u8]) -> Option<ArchiveFormat> {
        Some(match name {
            b"gnu" | b"oldgnu" => ArchiveFormat::Gnu,
            b"pax" | b"posix" => ArchiveFormat::Pax,
            b"ustar" => ArchiveFormat::Ustar,
            b"v7" => ArchiveFormat::V7,
            _ => return None,
        })
    }
}

/// The reason why a member cannot be stored in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    #[error("file name is too long (max {0}); not dumped")]
    TooLong(usize),
    #[error("file name is too long (cannot be split); not dumped")]
    CannotSplit,
    #[error("link name is too long; not dumped")]
    LongLink,
    #[error("value out of range; not dumped")]
    Range,
}

/// The times of a file that only pax headers store.
#[derive(Clone, Copy, Debug)]
pub struct AccessTimes {
    pub atime: MemberTime,
    pub ctime: MemberTime,
}

/// An encoder for the headers of an archive's members.
pub struct HeaderEncoder {
    format: ArchiveFormat,
    options: PaxOptions,
}

impl HeaderEncoder {
    /// Returns an encoder for one archive.
    pub fn new(format: ArchiveFormat, options: PaxOptions) -> HeaderEncoder {
        HeaderEncoder { format, options }
    }

    /// Returns the header of the whole archive, which is empty if it has none. `now` is its time.
    pub fn encode_globals(&self, now: MemberTime) -> Vec<u8> {
        if self.format != ArchiveFormat::Pax || self.options.globals.is_empty() {
            return Vec::new();
        }
        let records: Vec<u8> =
            self.options.globals.iter().flat_map(|(k, v)| encode_record(k, v)).collect();
        let directory =
            std::env::var_os("TMPDIR").map_or(b"/tmp".to_vec(), box_sys::path::os_into_bytes);
        let template = self.options.global_name.clone();
        let template = template.unwrap_or_else(|| [&directory[..], b"/GlobalHead.%n"].concat());
        let name = header_name(&template, b"", 1);
        let time = self.options.global_mtime.map_or(now.seconds, u64::cast_signed);
        let mut out = extension_header(&name, b'g', records.len(), time);
        push_data(&mut out, &records);
        out
    }

    /// Returns the header of a member, with the extended headers before it.
    ///
    /// # Errors
    /// The format cannot hold the member.
    pub fn encode_member(
        &self,
        member: &Member,
        times: Option<AccessTimes>,
    ) -> Result<Vec<u8>, EncodeError> {
        match self.format {
            ArchiveFormat::Gnu => Ok(gnu_headers(member)),
            ArchiveFormat::Pax => Ok(self.pax_headers(member, times)),
            ArchiveFormat::Ustar => ustar_header(member),
            ArchiveFormat::V7 => v7_header(member),
        }
    }

    fn pax_headers(&self, member: &Member, times: Option<AccessTimes>) -> Vec<u8> {
        let mut records = Vec::new();
        let mut add = |key: &[u8], value: &[u8]| {
            if !self.options.is_deleted(key) && !self.options.overrides.contains_key(key) {
                records.extend_from_slice(&encode_record(key, value));
            }
        };
        let is_ascii = |text: &[u8]| text.is_ascii();
        if member.name.len() > NAME || !is_ascii(&member.name) {
            add(b"path", &member.name);
        }
        if member.link.len() > NAME || !is_ascii(&member.link) {
            add(b"linkpath", &member.link);
        }
        for (key, text) in [(&b"uname"[..], &member.user), (b"gname", &member.group)] {
            if text.len() > 31 || !is_ascii(text) {
                add(key, text);
            }
        }
        for (key, id) in [(&b"uid"[..], member.uid), (b"gid", member.gid)] {
            if id >= 1 << 21 {
                add(key, id.to_string().as_bytes());
            }
        }
        if member.size >= 1 << 33 {
            add(b"size", member.size.to_string().as_bytes());
        }
        let needs_time = |t: MemberTime| t.nanos != 0 || t.seconds < 0 || t.seconds >= 1 << 33;
        if needs_time(member.mtime) {
            add(b"mtime", member.mtime.to_decimal().as_bytes());
        }
        if let Some(times) = times {
            add(b"atime", times.atime.to_decimal().as_bytes());
            add(b"ctime", times.ctime.to_decimal().as_bytes());
        }
        for (key, value) in &self.options.overrides {
            records.extend_from_slice(&encode_record(key, value));
        }
        let mut out = Vec::new();
        if !records.is_empty() {
            let template = self.options.header_name.as_deref().unwrap_or(b"%d/PaxHeaders/%f");
            let name = header_name(template, &member.name, 0);
            let time = self.options.header_mtime.map_or(member.mtime.seconds, u64::cast_signed);
            out = extension_header(&name, b'x', records.len(), time);
            push_data(&mut out, &records);
        }
        let mut block = common_header(member, &member.name, FieldNumbers::Octal);
        put_ustar(&mut block, member, b"");
        out.extend_from_slice(&finish(block));
        out
    }
}

/// The way in which numbers that do not fit in their field are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldNumbers {
    /// The field has the largest number that fits; a pax record has the real one.
    Octal,
    /// The field has a binary number, as in GNU's format.
    Binary,
}

/// Returns a header with the fields that all formats have.
fn common_header(member: &Member, name: &[u8], numbers: FieldNumbers) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    put_text(&mut block[..NAME], name);
    put_number(&mut block[100..108], member.mode.into(), numbers);
    put_number(&mut block[108..116], i128::from(member.uid), numbers);
    put_number(&mut block[116..124], i128::from(member.gid), numbers);
    let size = if member.kind.is_file() { member.size } else { 0 };
    put_number(&mut block[124..136], i128::from(size), numbers);
    put_number(&mut block[136..148], i128::from(member.mtime.seconds), numbers);
    block[156] = member.kind.letter();
    put_text(&mut block[157..157 + NAME], &member.link);
    block
}

/// Adds the checksum to a header.
fn finish(mut block: [u8; BLOCK]) -> [u8; BLOCK] {
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|c| u32::from(*c)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// Adds the fields that ustar has in addition to version 7's.
fn put_ustar(block: &mut [u8; BLOCK], member: &Member, prefix: &[u8]) {
    block[257..265].copy_from_slice(b"ustar\x0000");
    put_owners(block, member);
    put_device(block, member, FieldNumbers::Octal);
    put_text(&mut block[345..345 + PREFIX], prefix);
}

fn put_device(block: &mut [u8; BLOCK], member: &Member, numbers: FieldNumbers) {
    put_number(&mut block[329..337], i128::from(member.device.0), numbers);
    put_number(&mut block[337..345], i128::from(member.device.1), numbers);
}

fn put_owners(block: &mut [u8; BLOCK], member: &Member) {
    put_text(&mut block[265..297], &member.user);
    put_text(&mut block[297..329], &member.group);
}

/// Returns a member's headers in GNU's format. Names that are too long have records of their own
/// before the header, that of the link first.
fn gnu_headers(member: &Member) -> Vec<u8> {
    let mut out = Vec::new();
    for (letter, text) in [(b'K', &member.link), (b'L', &member.name)] {
        if text.len() > NAME {
            let mut record = Member::new(b"././@LongLink".to_vec(), MemberKind::Other(letter));
            record.mode = 0o644;
            record.size = text.len() as u64 + 1;
            record.user = b"root".to_vec();
            record.group = b"root".to_vec();
            out.extend_from_slice(&gnu_header(&record));
            push_data(&mut out, &[&text[..], b"\0"].concat());
        }
    }
    out.extend_from_slice(&gnu_header(member));
    out
}

fn gnu_header(member: &Member) -> [u8; BLOCK] {
    let mut block = common_header(member, &member.name, FieldNumbers::Binary);
    block[257..265].copy_from_slice(b"ustar  \0");
    put_owners(&mut block, member);
    if matches!(member.kind, MemberKind::CharDevice | MemberKind::BlockDevice) {
        put_device(&mut block, member, FieldNumbers::Binary);
    }
    finish(block)
}

fn ustar_header(member: &Member) -> Result<Vec<u8>, EncodeError> {
    if member.name.len() > NAME + PREFIX + 1 {
        return Err(EncodeError::TooLong(NAME + PREFIX + 1));
    }
    let (prefix, name) = split_name(&member.name).ok_or(EncodeError::CannotSplit)?;
    check_fields(member)?;
    let mut block = common_header(member, name, FieldNumbers::Octal);
    put_ustar(&mut block, member, prefix);
    Ok(finish(block).to_vec())
}

fn v7_header(member: &Member) -> Result<Vec<u8>, EncodeError> {
    if member.name.len() >= NAME {
        return Err(EncodeError::TooLong(NAME - 1));
    }
    check_fields(member)?;
    let mut block = common_header(member, &member.name, FieldNumbers::Octal);
    // The format does not have these fields, but GNU fills them in.
    put_device(&mut block, member, FieldNumbers::Octal);
    if member.kind == MemberKind::File {
        block[156] = 0;
    }
    Ok(finish(block).to_vec())
}

/// Checks that a format without extensions can hold a member.
fn check_fields(member: &Member) -> Result<(), EncodeError> {
    let is_time = (0..1 << 33).contains(&member.mtime.seconds);
    if member.size >= 1 << 33 || member.uid >= 1 << 21 || member.gid >= 1 << 21 || !is_time {
        return Err(EncodeError::Range);
    }
    if member.link.len() > NAME { Err(EncodeError::LongLink) } else { Ok(()) }
}

/// Returns the block that begins an extended header, whose data follows.
fn extension_header(name: &[u8], letter: u8, size: usize, time: i64) -> Vec<u8> {
    let mut member = Member::new(name.to_vec(), MemberKind::Other(letter));
    member.mode = 0o644;
    member.size = size as u64;
    member.mtime.seconds = time;
    let mut block = common_header(&member, name, FieldNumbers::Octal);
    block[257..265].copy_from_slice(b"ustar\x0000");
    finish(block).to_vec()
}

/// Appends data, padded to a whole block.
fn push_data(out: &mut Vec<u8>, data: &[u8]) {
    out.extend_from_slice(data);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
}

/// Splits a name for ustar's two fields at the last slash at which both parts fit. Returns `None`
/// if there is no such slash.
fn split_name(name: &[u8]) -> Option<(&[u8], &[u8])> {
    if name.len() <= NAME {
        return Some((b"", name));
    }
    let end = name.len().min(PREFIX + 1);
    // A trailing slash belongs to the name.
    let is_last = |i: usize| i + 1 == name.len();
    let slash = (1..end).rev().find(|i| name[*i] == b'/' && !is_last(*i))?;
    let rest = &name[slash + 1..];
    (rest.len() <= NAME).then_some((&name[..slash], rest))
}

/// Copies a text to a field of zeros. The text is cut if it is too long.
fn put_text(field: &mut [u8], text: &[u8]) {
    let n = text.len().min(field.len());
    field[..n].copy_from_slice(&text[..n]);
}

/// Writes a number to a field as octal digits and a NUL. `numbers` says how a number that does not
/// fit is stored.
fn put_number(field: &mut [u8], value: i128, numbers: FieldNumbers) {
    let digits = field.len() - 1;
    let most = (1_i128 << (3 * digits)) - 1;
    if !(0..=most).contains(&value) && numbers == FieldNumbers::Binary {
        let bytes = value.to_be_bytes();
        let from = bytes.len() - field.len();
        field.copy_from_slice(&bytes[from..]);
        field[0] = if value < 0 { 0xff } else { 0x80 };
        return;
    }
    let text = format!("{:0digits$o}", value.clamp(0, most));
    field[..digits].copy_from_slice(text.as_bytes());
    field[digits] = 0;
}

#[cfg(test)]
mod tests {
    use super::super::decode::TarReader;
    use super::*;

    fn sample(name: &[u8]) -> Member {
        let mut member = Member::new(name.to_vec(), MemberKind::File);
        member.mode = 0o644;
        member.mtime = MemberTime { seconds: 1_577_934_245, nanos: 678_000_000 };
        member.user = b"user".to_vec();
        member.group = b"user".to_vec();
        member
    }

    /// Checks that names of all lengths can be read back in each format that can hold them.
    #[test]
    fn what_is_encoded_is_decoded() {
        for format in
            [ArchiveFormat::Gnu, ArchiveFormat::Pax, ArchiveFormat::Ustar, ArchiveFormat::V7]
        {
            let encoder = HeaderEncoder::new(format, PaxOptions::default());
            for length in 1..400 {
                let name: Vec<u8> =
                    (0..length).map(|i| if i % 60 == 59 { b'/' } else { b'n' }).collect();
                let mut member = sample(&name);
                member.uid = 1 << 22;
                let Ok(bytes) = encoder.encode_member(&member, None) else {
                    member.uid = 7;
                    let Ok(bytes) = encoder.encode_member(&member, None) else {
                        assert!(length > 98, "{format:?} {length}");
                        continue;
                    };
                    check(&bytes, &member);
                    continue;
                };
                check(&bytes, &member);
            }
        }
    }

    fn check(bytes: &[u8], member: &Member) {
        let mut reader = TarReader::new(bytes, false);
        let read = reader.next_member().expect("reads").expect("a member");
        assert_eq!(read.name, member.name);
        assert_eq!((read.uid, read.mode), (member.uid, member.mode));
        assert_eq!(read.mtime.seconds, member.mtime.seconds);
        assert!(reader.next_member().expect("reads").is_none());
    }

    #[test]
    fn times_before_1970_are_binary() {
        let mut member = sample(b"old");
        member.mtime = MemberTime { seconds: -86_400, nanos: 0 };
        let encoder = HeaderEncoder::new(ArchiveFormat::Gnu, PaxOptions::default());
        check(&encoder.encode_member(&member, None).expect("encodes"), &member);
    }
}
