//! The answers to requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wasibox_vfs::FileKind;

/// Bytes: base64 where people read, themselves otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileBytes(pub Vec<u8>);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for FileBytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Data".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "contentEncoding": "base64" })
    }
}

impl Serialize for FileBytes {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if s.is_human_readable() {
            s.serialize_str(&STANDARD.encode(&self.0))
        } else {
            s.serialize_bytes(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for FileBytes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<FileBytes, D::Error> {
        if !d.is_human_readable() {
            return serde_bytes::ByteBuf::deserialize(d).map(|b| FileBytes(b.into_vec()));
        }
        let text = String::deserialize(d)?;
        STANDARD.decode(text).map(FileBytes).map_err(serde::de::Error::custom)
    }
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// To `read`.
    Read {
        path: String,
        /// Bytes of the file.
        size: u64,
        content: FileText,
    },
    /// To `download`.
    Data {
        path: String,
        size: u64,
        mime: String,
        data: FileBytes,
        /// The offset to continue at; none if this was all.
        next_offset: Option<u64>,
    },
    /// To `write` and `upload`.
    Written { path: String, created: bool, size: u64 },
    /// To `edit` and `patch_lines`.
    Edited {
        path: String,
        replacements: u64,
        /// The edited places, with some lines around them and their numbers.
        shown: String,
    },
    /// To `apply_patch`.
    Patched(PatchAnswer),
    /// To `delete`: how many files and directories.
    Deleted { path: String, count: u64 },
    /// To `move`.
    Moved { from: String, to: String },
    /// To `make_dir`.
    Made { path: String, created: bool },
    /// To `stat`.
    Stat(FileEntry),
    /// To `ls`.
    Entries {
        path: String,
        entries: Vec<FileEntry>,
        /// The number of further ones; none if that was not counted.
        next_offset: Option<u64>,
    },
    /// To `glob`.
    Paths {
        paths: Vec<String>,
        /// There are more than the limit.
        more: bool,
    },
    /// To `grep`.
    Matches(GrepAnswer),
    /// To `search`.
    Found(SearchAnswer),
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileText {
    Text {
        text: String,
        encoding: crate::TextEncoding,
        /// Numbers of the lines in `text`; 0 if there are none.
        first: u64,
        last: u64,
        /// Lines of the file, if it was read to its end.
        lines: Option<u64>,
        /// The line to continue from; none if this was all.
        next_offset: Option<u64>,
        /// Lines end with CR LF.
        crlf: bool,
        /// The last line has no end.
        no_final_newline: bool,
        /// Bytes that are not text in this encoding, of those read; shown as U+FFFD.
        invalid: u64,
        /// Lines of `text` that are not whole.
        cut: Vec<Cut>,
        /// Advice, in words.
        note: Option<String>,
    },
    /// Data, with its type: an image, or data on request.
    Data {
        mime: String,
        data: FileBytes,
    },
    /// Neither text nor an image, or an image that is too large.
    Binary {
        mime: String,
        note: String,
    },
    Directory {
        entries: Vec<FileEntry>,
        next_offset: Option<u64>,
    },
}

/// A line that was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cut {
    pub line: u64,
    /// Where it begins in the file, in bytes; not known of UTF-16.
    pub offset: Option<u64>,
    /// Its length.
    pub bytes: u64,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileEntryKind {
    File,
    Directory,
    Symlink,
    Fifo,
    Socket,
    Device,
}

impl From<FileKind> for FileEntryKind {
    fn from(kind: FileKind) -> FileEntryKind {
        match kind {
            FileKind::File => FileEntryKind::File,
            FileKind::Dir => FileEntryKind::Directory,
            FileKind::Symlink => FileEntryKind::Symlink,
            FileKind::Fifo => FileEntryKind::Fifo,
            FileKind::Socket => FileEntryKind::Socket,
            FileKind::CharDevice | FileKind::BlockDevice => FileEntryKind::Device,
        }
    }
}

/// A file as `stat` and `ls` describe it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileEntry {
    /// Absolute for `stat`, below the listed directory for `ls`.
    pub path: String,
    pub kind: FileEntryKind,
    pub size: u64,
    /// Permission bits.
    pub mode: u16,
    /// Nanoseconds since the epoch.
    pub modified: u64,
    /// The target of a symbolic link.
    pub target: Option<String>,
}

/// The result of `apply_patch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatchAnswer {
    pub files: Vec<PatchedFile>,
    /// Nothing was written.
    pub dry_run: bool,
}

/// The change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatchedFile {
    pub path: String,
    /// Its name before.
    pub from: Option<String>,
    pub created: bool,
    pub deleted: bool,
    pub hunks: u64,
    /// Hunks that were not where they said, or with context that differs.
    pub moved: u64,
    pub fuzzy: u64,
}

/// The result of `grep`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrepAnswer {
    pub files: Vec<GrepHit>,
    /// Lines with a match, or files for the other outputs, in this answer.
    pub count: u64,
    /// The offset to continue at; none if this was all.
    pub next_offset: Option<u64>,
    /// Files that were searched, and files that were left out because they are not text.
    pub searched: u64,
    pub binary: u64,
    /// Paths that could not be read, and why.
    pub failed: Vec<String>,
    /// Advice, in words.
    pub note: Option<String>,
}

/// A file that has matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrepHit {
    pub path: String,
    /// Lines that match: of the whole file for `count`.
    pub count: u64,
    pub lines: Vec<GrepLine>,
}

/// A line of a [`GrepHit`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrepLine {
    pub number: u64,
    pub text: String,
    /// Otherwise it is context.
    pub matches: bool,
}

/// The result of `search`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchAnswer {
    pub places: Vec<Snippet>,
    pub next_offset: Option<u64>,
    pub note: Option<String>,
}

/// A place to edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snippet {
    pub path: String,
    pub first: u64,
    pub last: u64,
    /// The lines as they stand, without an end of the last one: text that `edit` takes as `old`.
    pub text: String,
    /// It is in the file once.
    pub unique: bool,
}
