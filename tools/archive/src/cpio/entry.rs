//! An entry of an archive, and the archive formats.

/// The bits of a mode that give the kind of a file.
pub const KIND: u32 = 0o170_000;
pub const DIRECTORY: u32 = 0o040_000;
pub const FILE: u32 = 0o100_000;
pub const SYMLINK: u32 = 0o120_000;
pub const FIFO: u32 = 0o010_000;
pub const CHAR_DEVICE: u32 = 0o020_000;
pub const BLOCK_DEVICE: u32 = 0o060_000;

/// The name of the entry that ends an archive.
pub const TRAILER: &[u8] = b"TRAILER!!!";

/// A format of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpioFormat {
    /// `newc`, the new portable format, whose numbers are hexadecimal digits.
    New,
    /// `crc`, which is `newc` with the sum of each file's bytes.
    Sum,
    /// `odc`, the format of POSIX.1, whose numbers are octal digits.
    Old,
    /// `bin`, whose numbers have 16 bits.
    Binary,
    /// The format ustar of `tar`.
    Ustar,
    /// The format of `tar` in Unix version 7.
    Tar,
}

impl CpioFormat {
    /// Returns the format with a name, which is in lower case or in upper case.
    pub fn by_name(name: &[u8]) -> Option<CpioFormat> {
        if name.iter().any(u8::is_ascii_lowercase) && name.iter().any(u8::is_ascii_uppercase) {
            return None;
        }
        Some(match &name.to_ascii_lowercase()[..] {
            b"newc" => CpioFormat::New,
            b"crc" => CpioFormat::Sum,
            b"odc" | b"hpodc" => CpioFormat::Old,
            b"bin" | b"hpbin" => CpioFormat::Binary,
            b"ustar" => CpioFormat::Ustar,
            b"tar" => CpioFormat::Tar,
            _ => return None,
        })
    }

    /// Returns whether only the last of several hard links to a file has the data.
    pub fn has_late_data(self) -> bool {
        matches!(self, CpioFormat::New | CpioFormat::Sum)
    }

    /// Returns the number of bytes to a multiple of which headers and data are padded.
    pub fn alignment(self) -> u64 {
        match self {
            CpioFormat::New | CpioFormat::Sum => 4,
            CpioFormat::Old => 1,
            CpioFormat::Binary => 2,
            CpioFormat::Ustar | CpioFormat::Tar => 512,
        }
    }
}

/// The content of an entry's header.
#[derive(Clone, Debug, Default)]
pub struct CpioEntry {
    pub name: Vec<u8>,
    /// The kind and the permission bits.
    pub mode: u32,
    pub ino: u64,
    /// The major and minor number of the device that holds the file.
    pub dev: (u32, u32),
    /// The major and minor number of the file if it is a device.
    pub rdev: (u32, u32),
    pub nlink: u32,
    pub uid: u32,
    pub gid: u32,
    /// The time of the last modification, in seconds since the epoch.
    pub mtime: u64,
    /// The length of the data. The data of a symbolic link is its target.
    pub size: u64,
    /// The sum of the data's bytes, in the format that has one.
    pub sum: u32,
    /// In the formats of `tar`, the target of a hard or symbolic link.
    pub link: Option<Vec<u8>>,
}

impl CpioEntry {
    /// Returns the bits of the mode that give the kind.
    pub fn kind(&self) -> u32 {
        self.mode & KIND
    }
}
