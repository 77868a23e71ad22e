//! A member of an archive: a file with the properties that its header, and the extended headers
//! before it, describe.

/// The kind of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberKind {
    File,
    HardLink,
    Symlink,
    CharDevice,
    BlockDevice,
    Directory,
    Fifo,
    /// The name of the whole archive (`-V`).
    Label,
    /// A kind that is not known, with its letter. Such a member is treated as a file.
    Other(u8),
}

impl MemberKind {
    /// Returns the kind that a type letter stands for.
    pub fn from_letter(letter: u8) -> MemberKind {
        match letter {
            0 | b'0' | b'7' | b'S' => MemberKind::File,
            b'1' => MemberKind::HardLink,
            b'2' => MemberKind::Symlink,
            b'3' => MemberKind::CharDevice,
            b'4' => MemberKind::BlockDevice,
            // `D` is a directory of an incremental archive.
            b'5' | b'D' => MemberKind::Directory,
            b'6' => MemberKind::Fifo,
            b'V' => MemberKind::Label,
            other => MemberKind::Other(other),
        }
    }

    /// Returns the type letter of a kind.
    pub fn letter(self) -> u8 {
        match self {
            MemberKind::File => b'0',
            MemberKind::HardLink => b'1',
            MemberKind::Symlink => b'2',
            MemberKind::CharDevice => b'3',
            MemberKind::BlockDevice => b'4',
            MemberKind::Directory => b'5',
            MemberKind::Fifo => b'6',
            MemberKind::Label => b'V',
            MemberKind::Other(letter) => letter,
        }
    }

    /// Returns whether the member is extracted as a regular file.
    pub fn is_file(self) -> bool {
        matches!(self, MemberKind::File | MemberKind::Other(_))
    }
}

/// A point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberTime {
    pub seconds: i64,
    pub nanos: u32,
}

impl MemberTime {
    /// Converts nanoseconds since the epoch to a time.
    pub fn from_nanos(nanos: u64) -> MemberTime {
        let seconds = (nanos / 1_000_000_000).cast_signed();
        MemberTime { seconds, nanos: (nanos % 1_000_000_000) as u32 }
    }

    /// Converts the time to nanoseconds since the epoch. A time before the epoch becomes the epoch,
    /// because files cannot have an earlier time.
    pub fn to_nanos(self) -> u64 {
        let seconds = u64::try_from(self.seconds).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(self.nanos.into())
    }

    /// Parses a time `SECONDS[.FRACTION]` of an extended header.
    pub fn parse_decimal(text: &[u8]) -> Option<MemberTime> {
        let text = std::str::from_utf8(text).ok()?;
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if !fraction.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
        let seconds: i64 = whole.parse().ok()?;
        let nanos: u32 = format!("{fraction:0<9.9}").parse().ok()?;
        if whole.starts_with('-') && nanos > 0 {
            return Some(MemberTime {
                seconds: seconds.checked_sub(1)?,
                nanos: 1_000_000_000 - nanos,
            });
        }
        Some(MemberTime { seconds, nanos })
    }

    /// Returns the time as `SECONDS[.FRACTION]` without trailing zeros.
    pub fn to_decimal(self) -> String {
        if self.nanos == 0 {
            return self.seconds.to_string();
        }
        let fraction = format!("{:09}", self.nanos);
        format!("{}.{}", self.seconds, fraction.trim_end_matches('0'))
    }
}

/// The offset and length of a piece of a sparse file.
pub type SparsePiece = (u64, u64);

/// One member.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: Vec<u8>,
    /// The target of a link.
    pub link: Vec<u8>,
    pub kind: MemberKind,
    /// The permission bits.
    pub mode: u16,
    pub uid: u64,
    pub gid: u64,
    /// The length of the file, in bytes.
    pub size: u64,
    pub mtime: MemberTime,
    /// The name of the owner; empty if there is none.
    pub user: Vec<u8>,
    /// The name of the group; empty if there is none.
    pub group: Vec<u8>,
    /// The major and minor number of a device.
    pub device: (u32, u32),
    /// The pieces of a sparse file, which are its only stored data.
    pub sparse: Option<Vec<SparsePiece>>,
}

impl Member {
    /// Returns a member with a name and a kind. All other fields are zero or empty.
    pub fn new(name: Vec<u8>, kind: MemberKind) -> Member {
        Member {
            name,
            link: Vec::new(),
            kind,
            mode: 0,
            uid: 0,
            gid: 0,
            size: 0,
            mtime: MemberTime::default(),
            user: Vec::new(),
            group: Vec::new(),
            device: (0, 0),
            sparse: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `tar --format=pax` and `tar -tv --full-time` of GNU tar 1.34.
    #[test]
    fn times_with_a_fraction() {
        let time = MemberTime::parse_decimal(b"1577934245.678").expect("a time");
        assert_eq!(time, MemberTime { seconds: 1_577_934_245, nanos: 678_000_000 });
        assert_eq!(time.to_decimal(), "1577934245.678");
        assert_eq!(MemberTime::parse_decimal(b"5"), Some(MemberTime { seconds: 5, nanos: 0 }));
        assert_eq!(MemberTime::parse_decimal(b"5.x"), None);
        assert_eq!(MemberTime::parse_decimal(b""), None);
        let early = MemberTime::parse_decimal(b"-1.25").expect("a time");
        assert_eq!(early, MemberTime { seconds: -2, nanos: 750_000_000 });
    }
}
