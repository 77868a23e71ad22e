//! Unpacks and checks the data of members.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use flate2::Crc;

use super::format::{self, BZIP2, DEFLATED, STORED, ZipEntry};

/// The reason why a member cannot be read.
#[derive(Debug)]
pub enum MemberProblem {
    Method(u16),
    Encrypted,
    /// The member needs this version of the format, which is not known here.
    Version(u16),
    /// The member's directory cannot be made, because this part of the path is not a directory.
    Directory(String),
    /// The data has this checksum, which differs from the stored one.
    Checksum(u32),
    Invalid(String),
    Output(io::Error),
}

/// The newest version of the format that is known here, 4.6.
const NEWEST: u16 = 46;

/// Checks that a member has a version and a method that are known here, and is not encrypted.
pub fn check_member(e: &ZipEntry) -> Result<(), MemberProblem> {
    match e.method {
        _ if e.needs & 0xff > NEWEST => Err(MemberProblem::Version(e.needs & 0xff)),
        STORED | DEFLATED | BZIP2 if e.is_encrypted() => Err(MemberProblem::Encrypted),
        STORED | DEFLATED | BZIP2 => Ok(()),
        other => Err(MemberProblem::Method(other)),
    }
}

/// Writes the unpacked data of a member to `out`, and checks its checksum.
pub fn unpack_member(
    file: &mut File,
    e: &ZipEntry,
    out: &mut dyn Write,
) -> Result<(), MemberProblem> {
    check_member(e)?;
    let invalid = |e: io::Error| MemberProblem::Invalid(box_sys::error_text(&e));
    format::seek_data(file, e).map_err(|e| MemberProblem::Invalid(e.to_string()))?;
    let packed = BufReader::with_capacity(1 << 16, file.take(e.packed));
    let mut reader: Box<dyn Read + '_> = match e.method {
        DEFLATED => Box::new(flate2::bufread::DeflateDecoder::new(packed)),
        BZIP2 => Box::new(bzip2::bufread::BzDecoder::new(packed)),
        _ => Box::new(packed),
    };
    let mut crc = Crc::new();
    let mut buf = vec![0u8; 1 << 16];
    loop {
        match reader.read(&mut buf) {
            Ok(0) => break,
            Ok(n) => {
                crc.update(&buf[..n]);
                out.write_all(&buf[..n]).map_err(MemberProblem::Output)?;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(invalid(e)),
        }
    }
    if crc.sum() != e.crc { Err(MemberProblem::Checksum(crc.sum())) } else { Ok(()) }
}
