//! The answers to requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes: text in base64 in human-readable formats such as JSON, raw bytes in binary ones.
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
pub enum FileAnswer {
    /// The answer to `read`.
    Read {
        path: String,
        /// Bytes of the file.
        size: u64,
        content: FileText,
    },
    /// The answer to `download`.
    Data {
        path: String,
        size: u64,
        mime: String,
        data: FileBytes,
        /// The offset to continue at; none if this was all.
        next_offset: Option<u64>,
    },
    /// The answer to `write` and `upload`.
    Written { path: String, created: bool, size: u64 },
    /// The answer to `edit` and `patch_lines`.
    Edited {
        path: String,
        replacements: u64,
        /// The edited places, with some lines around them and their numbers.
        shown: String,
    },
    /// The answer to `apply_patch`.
    Patched(PatchAnswer),
    /// The answer to `delete`, with the number of files and directories that it removed.
    Deleted { path: String, count: u64 },
    /// The answer to `move`.
    Moved { from: String, to: String },
    /// The answer to `make_dir`.
    Made { path: String, created: bool },
    /// The answer to `stat`.
    Stat(FileEntry),
    /// The answer to `ls`.
    Entries {
        path: String,
        entries: Vec<FileEntry>,
        /// The number of the first entry that is left out; none if the list is complete.
        next_offset: Option<u64>,
    },
    /// The answer to `glob`.
    Paths {
        paths: Vec<String>,
        /// Whether there are more paths than the limit allows.
        more: bool,
    },
    /// The answer to `grep`.
    Matches(GrepAnswer),
    /// The answer to `search`.
    Found(SearchAnswer),
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileText {
    Text {
        text: String,
        encoding: super::TextEncoding,
        /// The numbers of the first and the last line in `text`; 0 if there are none.
        first: u64,
        last: u64,
        /// The number of lines in the file, if it was read to its end.
        lines: Option<u64>,
        /// The line to continue from; none if this was all.
        next_offset: Option<u64>,
        /// Whether lines end with CR LF.
        crlf: bool,
        /// Whether the last line lacks a line feed.
        no_final_newline: bool,
        /// The number of bytes, of those that were read, that are invalid in this encoding; `text`
        /// has U+FFFD for them.
        invalid: u64,
        /// Lines that are cut in `text`.
        cut: Vec<Cut>,
        /// Advice for the model, as text.
        note: Option<String>,
    },
    /// The bytes of an image, or of any file if the request has `as_data`.
    Data {
        mime: String,
        data: FileBytes,
    },
    /// A file that is neither text nor an image, or an image that is too large.
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
    /// The offset in bytes at which the line begins in the file; unknown for UTF-16.
    pub offset: Option<u64>,
    /// The length of the line in bytes.
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
    /// Whether nothing was written, because the request was a dry run.
    pub dry_run: bool,
}

/// The change that a patch makes to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatchedFile {
    pub path: String,
    /// The file's name before the patch, if the patch renames it.
    pub from: Option<String>,
    pub created: bool,
    pub deleted: bool,
    pub hunks: u64,
    /// The number of hunks that apply at other lines than they name.
    pub moved: u64,
    /// The number of hunks that apply although some of their context differs.
    pub fuzzy: u64,
}

/// The result of `grep`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrepAnswer {
    pub files: Vec<GrepHit>,
    /// The number of matching lines in this answer, or of files for the other outputs.
    pub count: u64,
    /// The offset to continue at; none if this was all.
    pub next_offset: Option<u64>,
    /// The number of files that were searched.
    pub searched: u64,
    /// The number of files that were skipped because they are not text.
    pub binary: u64,
    /// Paths that could not be read, and why.
    pub failed: Vec<String>,
    /// Advice for the model, as text.
    pub note: Option<String>,
}

/// A file that has matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrepHit {
    pub path: String,
    /// The number of matching lines: in this answer, or for the output `count` in the whole file.
    pub count: u64,
    pub lines: Vec<GrepLine>,
}

/// A line of a [`GrepHit`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrepLine {
    pub number: u64,
    pub text: String,
    /// Whether the line matches; if not, it is context.
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

/// A place in a file that a search has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snippet {
    pub path: String,
    pub first: u64,
    pub last: u64,
    /// The lines exactly as in the file, without the last one's line feed, so that `edit` takes the
    /// text as `old`.
    pub text: String,
    /// Whether the text occurs only once in the file.
    pub unique: bool,
}
