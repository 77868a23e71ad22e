//! Encodes the headers of entries of cpio archives.

use super::entry::{CpioEntry, CpioFormat, DIRECTORY, FIFO, SYMLINK, TRAILER};
use crate::tar::encode::{ArchiveFormat, EncodeError, HeaderEncoder};
use crate::tar::member::{Member, MemberKind};
use crate::tar::pax::PaxOptions;

/// Returns the header of an entry with its name, padded to the position at which the data begins.
pub fn encode_header(format: CpioFormat, entry: &CpioEntry) -> Result<Vec<u8>, EncodeError> {
    let name_size = entry.name.len() as u64 + 1;
    let mut out = match format {
        CpioFormat::New | CpioFormat::Sum => new_header(format, entry, name_size)?,
        CpioFormat::Old => old_header(entry, name_size)?,
        CpioFormat::Binary => binary_header(entry, name_size)?,
        CpioFormat::Ustar | CpioFormat::Tar => return tar_header(format, entry),
    };
    out.extend_from_slice(&entry.name);
    out.push(0);
    let align = usize::try_from(format.alignment()).unwrap_or(1);
    out.resize(out.len().next_multiple_of(align), 0);
    Ok(out)
}

/// Returns the header of the entry that ends an archive.
pub fn encode_trailer(format: CpioFormat) -> Vec<u8> {
    if matches!(format, CpioFormat::Ustar | CpioFormat::Tar) {
        return vec![0; 1024];
    }
    let entry = CpioEntry { name: TRAILER.to_vec(), nlink: 1, ..CpioEntry::default() };
    encode_header(format, &entry).unwrap_or_default()
}

fn new_header(
    format: CpioFormat,
    entry: &CpioEntry,
    name_size: u64,
) -> Result<Vec<u8>, EncodeError> {
    let magic = if format == CpioFormat::Sum { "070702" } else { "070701" };
    let fields = [
        entry.ino,
        entry.mode.into(),
        entry.uid.into(),
        entry.gid.into(),
        entry.nlink.into(),
        entry.mtime,
        entry.size,
        entry.dev.0.into(),
        entry.dev.1.into(),
        entry.rdev.0.into(),
        entry.rdev.1.into(),
        name_size,
        entry.sum.into(),
    ];
    if fields.iter().any(|n| *n > u64::from(u32::MAX)) {
        return Err(EncodeError::Range);
    }
    let digits: String = fields.iter().map(|n| format!("{n:08X}")).collect();
    Ok([magic, &digits].concat().into_bytes())
}

/// Returns the number of a device, reduced to 16 bits.
fn short_device((major, minor): (u32, u32)) -> u64 {
    u64::from((major & 0xff) << 8 | minor & 0xff)
}

fn old_header(entry: &CpioEntry, name_size: u64) -> Result<Vec<u8>, EncodeError> {
    let fields = [
        (short_device(entry.dev), 6),
        (entry.ino, 6),
        (entry.mode.into(), 6),
        (entry.uid.into(), 6),
        (entry.gid.into(), 6),
        (entry.nlink.into(), 6),
        (short_device(entry.rdev), 6),
        (entry.mtime, 11),
        (name_size, 6),
        (entry.size, 11),
    ];
    let mut out = String::from("070707");
    for (number, digits) in fields {
        let text = format!("{number:0digits$o}");
        if text.len() > digits {
            return Err(EncodeError::Range);
        }
        out.push_str(&text);
    }
    Ok(out.into_bytes())
}

fn binary_header(entry: &CpioEntry, name_size: u64) -> Result<Vec<u8>, EncodeError> {
    let fields = [
        0o070_707,
        short_device(entry.dev),
        entry.ino,
        entry.mode.into(),
        entry.uid.into(),
        entry.gid.into(),
        entry.nlink.into(),
        short_device(entry.rdev),
        entry.mtime >> 16,
        entry.mtime & 0xffff,
        name_size,
        entry.size >> 16,
        entry.size & 0xffff,
    ];
    let mut out = Vec::new();
    for number in fields {
        let half = u16::try_from(number).map_err(|_| EncodeError::Range)?;
        out.extend_from_slice(&half.to_le_bytes());
    }
    Ok(out)
}

fn tar_header(format: CpioFormat, entry: &CpioEntry) -> Result<Vec<u8>, EncodeError> {
    let kind = match (entry.kind(), &entry.link) {
        (DIRECTORY, _) => MemberKind::Directory,
        (SYMLINK, _) => MemberKind::Symlink,
        (FIFO, _) => MemberKind::Fifo,
        (_, Some(_)) => MemberKind::HardLink,
        _ => MemberKind::File,
    };
    let mut member = Member::new(entry.name.clone(), kind);
    if kind == MemberKind::Directory && !member.name.ends_with(b"/") {
        member.name.push(b'/');
    }
    member.mode = (entry.mode & 0o7777) as u16;
    member.uid = entry.uid.into();
    member.gid = entry.gid.into();
    member.mtime.seconds = entry.mtime.cast_signed();
    member.size = entry.size;
    member.link = entry.link.clone().unwrap_or_default();
    let format = match format {
        CpioFormat::Ustar => {
            let names = box_sys::AccountNames::load();
            member.user = names.user(entry.uid).unwrap_or_default().as_bytes().to_vec();
            member.group = names.group(entry.gid).unwrap_or_default().as_bytes().to_vec();
            ArchiveFormat::Ustar
        }
        _ => ArchiveFormat::V7,
    };
    HeaderEncoder::new(format, PaxOptions::default()).encode_member(&member, None)
}
