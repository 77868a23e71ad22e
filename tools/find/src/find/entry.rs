//! A file that the walk has reached.

use std::cell::OnceCell;
use std::io;
use std::path::PathBuf;

use box_sys::{FileKind, Stat, meta, path};

/// A file of the walk. Its metadata is read on first use and kept.
pub struct FindEntry {
    /// The shown path: the starting point and the names below it.
    pub shown: Vec<u8>,
    /// The absolute path.
    pub path: PathBuf,
    pub depth: usize,
    /// The length of the starting point within `shown`.
    pub point_len: usize,
    /// Whether links are followed at this entry.
    pub follow: bool,
    /// The kind from the directory entry, where the file system supplies it.
    pub dir_kind: Option<FileKind>,
    stat: OnceCell<Result<Stat, i32>>,
    target: OnceCell<Option<Vec<u8>>>,
}

impl FindEntry {
    /// Creates the entry of a file in the walk; its metadata is read on first use.
    pub fn new(
        shown: Vec<u8>,
        path: PathBuf,
        depth: usize,
        point_len: usize,
        follow: bool,
        dir_kind: Option<FileKind>,
    ) -> FindEntry {
        FindEntry {
            shown,
            path,
            depth,
            point_len,
            follow,
            dir_kind,
            stat: OnceCell::new(),
            target: OnceCell::new(),
        }
    }

    /// Returns the last component; trailing slashes do not count.
    pub fn base(&self) -> &[u8] {
        let trimmed = trim_slashes(&self.shown);
        match trimmed.iter().rposition(|&b| b == b'/') {
            Some(i) if trimmed.len() > 1 => &trimmed[i + 1..],
            _ => trimmed,
        }
    }

    /// Returns the last component as [`FindEntry::base`] does, but with the trailing slashes of a
    /// starting point.
    pub fn base_with_slashes(&self) -> &[u8] {
        let trimmed = trim_slashes(&self.shown).len();
        let start = trimmed - self.base().len();
        if trimmed == 1 && self.shown.starts_with(b"/") {
            return b"/";
        }
        self.shown.get(start..).unwrap_or_default()
    }

    /// Returns the part of the path before the base name, without the slash; `.` if there is none.
    pub fn dir(&self) -> &[u8] {
        let trimmed = trim_slashes(&self.shown);
        match trimmed.iter().rposition(|&b| b == b'/') {
            Some(0) if trimmed.len() == 1 => b"",
            Some(i) => &trimmed[..i],
            None => b".",
        }
    }

    /// Returns the path below the starting point.
    pub fn below(&self) -> &[u8] {
        let rest = self.shown.get(self.point_len..).unwrap_or_default();
        rest.strip_prefix(b"/").unwrap_or(rest)
    }

    /// Returns the metadata that the options request: that of a followed link's target, or that of
    /// the link itself if the target is missing.
    pub fn stat(&self) -> io::Result<&Stat> {
        let result = self.stat.get_or_init(|| {
            let read = match meta::stat(&self.path, self.follow) {
                Err(_) if self.follow => meta::stat(&self.path, false),
                other => other,
            };
            read.map_err(|e| e.raw_os_error().unwrap_or(box_sys::errno::code::ENOENT))
        });
        result.as_ref().map_err(|code| io::Error::from_raw_os_error(*code))
    }

    /// Returns the kind, from the directory if that suffices.
    pub fn kind(&self) -> io::Result<FileKind> {
        match self.dir_kind {
            Some(kind) if kind != FileKind::Symlink || !self.follow => Ok(kind),
            _ => self.stat().map(|s| s.kind),
        }
    }

    /// Returns the text of a symbolic link.
    pub fn target(&self) -> Option<&[u8]> {
        let read = || {
            let target = std::fs::read_link(&self.path).ok()?;
            Some(path::os_into_bytes(target.into_os_string()))
        };
        self.target.get_or_init(read).as_deref()
    }
}

fn trim_slashes(mut name: &[u8]) -> &[u8] {
    while let [head @ .., b'/'] = name
        && !head.is_empty()
    {
        name = head;
    }
    name
}

/// Returns the kind of an entry from the file type in its directory.
pub fn kind_of(file_type: std::fs::FileType) -> Option<FileKind> {
    if file_type.is_symlink() {
        Some(FileKind::Symlink)
    } else if file_type.is_dir() {
        Some(FileKind::Dir)
    } else if file_type.is_file() {
        Some(FileKind::File)
    } else {
        // Devices and other special files are distinguished by their metadata.
        None
    }
}

/// Returns a name in the quotes of messages.
pub fn quote_name(name: &[u8]) -> Vec<u8> {
    ["\u{2018}".as_bytes(), name, "\u{2019}".as_bytes()].concat()
}
