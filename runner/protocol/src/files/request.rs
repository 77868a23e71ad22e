//! The requests, with the defaults of fields that JSON leaves out.

use super::answer::FileBytes;
use serde::{Deserialize, Serialize};

/// A request. In JSON `{"read": {"path": "a.txt"}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FileRequest {
    Read(ReadOf),
    Write(WriteOf),
    Edit(EditOf),
    PatchLines(PatchLines),
    ApplyPatch(PatchOf),
    Delete {
        path: String,
        /// Delete directories with their contents.
        #[serde(default)]
        recursive: bool,
    },
    Move {
        from: String,
        to: String,
    },
    MakeDir {
        path: String,
    },
    Ls(LsOf),
    Glob(GlobOf),
    Grep(GrepOf),
    Search(SearchOf),
    Upload(UploadOf),
    Download {
        path: String,
        /// First byte.
        #[serde(default)]
        offset: u64,
        /// Bytes, 1 MiB by default.
        #[serde(default)]
        limit: Option<u64>,
    },
    Stat {
        path: String,
        /// Follow a symbolic link.
        #[serde(default = "yes")]
        follow: bool,
    },
}

impl FileRequest {
    /// Returns the operation and its path, in a few words for people.
    pub fn summary(&self) -> String {
        let (what, of) = match self {
            FileRequest::Read(r) => ("read", &*r.path),
            FileRequest::Write(w) => ("write", &*w.path),
            FileRequest::Edit(e) => ("edit", &*e.path),
            FileRequest::PatchLines(p) => ("patch_lines", &*p.path),
            FileRequest::ApplyPatch(_) => ("apply_patch", ""),
            FileRequest::Delete { path, .. } => ("delete", &**path),
            FileRequest::Move { from, .. } => ("move", &**from),
            FileRequest::MakeDir { path } => ("make_dir", &**path),
            FileRequest::Ls(l) => ("ls", &*l.path),
            FileRequest::Glob(g) => ("glob", &*g.pattern),
            FileRequest::Grep(g) => ("grep", &*g.pattern),
            FileRequest::Search(s) => ("search", &*s.pattern),
            FileRequest::Upload(u) => ("upload", &*u.path),
            FileRequest::Download { path, .. } => ("download", &**path),
            FileRequest::Stat { path, .. } => ("stat", &**path),
        };
        format!("{what} {of}").trim_end().to_owned()
    }

    /// Returns whether it changes nothing.
    pub fn is_reading(&self) -> bool {
        match self {
            FileRequest::Read(_)
            | FileRequest::Ls(_)
            | FileRequest::Glob(_)
            | FileRequest::Grep(_)
            | FileRequest::Search(_)
            | FileRequest::Download { .. }
            | FileRequest::Stat { .. } => true,
            FileRequest::Write(_)
            | FileRequest::Edit(_)
            | FileRequest::PatchLines(_)
            | FileRequest::ApplyPatch(_)
            | FileRequest::Delete { .. }
            | FileRequest::Move { .. }
            | FileRequest::MakeDir { .. }
            | FileRequest::Upload(_) => false,
        }
    }
}

fn yes() -> bool {
    true
}

/// The encoding of a file's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TextEncoding {
    /// With or without a byte order mark, which is kept.
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "utf-16le")]
    Utf16Le,
    #[serde(rename = "utf-16be")]
    Utf16Be,
    /// Each byte is a character: ISO 8859-1.
    #[serde(rename = "latin-1")]
    Latin1,
}

impl TextEncoding {
    /// Returns the name for messages.
    pub fn name(self) -> &'static str {
        match self {
            TextEncoding::Utf8 => "UTF-8",
            TextEncoding::Utf16Le => "UTF-16 (little endian)",
            TextEncoding::Utf16Be => "UTF-16 (big endian)",
            TextEncoding::Latin1 => "latin-1",
        }
    }
}

/// Reads a file, or lists a directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReadOf {
    pub path: String,
    /// First line, from 1; from the end if negative.
    #[serde(default)]
    pub offset: Option<i64>,
    /// Lines, 2000 by default.
    #[serde(default)]
    pub limit: Option<u64>,
    /// Bytes of text, 128 KiB by default.
    #[serde(default)]
    pub max_bytes: Option<u64>,
    /// Detected by default: UTF-8, or UTF-16 if the file begins with a byte order mark.
    #[serde(default)]
    pub encoding: Option<TextEncoding>,
    /// Put each line's number before it.
    #[serde(default = "yes")]
    pub numbers: bool,
    /// Return the bytes as data, of any type.
    #[serde(default)]
    pub as_data: bool,
}

impl ReadOf {
    /// Creates a request to read a file from its beginning, with the defaults.
    pub fn new(path: impl Into<String>) -> ReadOf {
        ReadOf {
            path: path.into(),
            offset: None,
            limit: None,
            max_bytes: None,
            encoding: None,
            numbers: true,
            as_data: false,
        }
    }
}

/// Writes a whole file, and creates the folders above it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WriteOf {
    pub path: String,
    pub content: String,
    /// Add to the end of the present content.
    #[serde(default)]
    pub append: bool,
    /// Fail if the file exists.
    #[serde(default)]
    pub create_only: bool,
    /// UTF-8 by default.
    #[serde(default)]
    pub encoding: Option<TextEncoding>,
    /// Permission bits; by default those that the file has, or 0644.
    #[serde(default)]
    pub mode: Option<u16>,
}

impl WriteOf {
    /// Creates a request to create or replace a file, as UTF-8.
    pub fn new(path: impl Into<String>, content: impl Into<String>) -> WriteOf {
        WriteOf {
            path: path.into(),
            content: content.into(),
            append: false,
            create_only: false,
            encoding: None,
            mode: None,
        }
    }
}

/// One replacement of an [`EditOf`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EditReplacement {
    /// Text exactly as in the file.
    pub old: String,
    pub new: String,
    /// Replace every match; otherwise there must be exactly one.
    #[serde(default)]
    pub replace_all: bool,
}

/// Replaces text, one replacement after another; all or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EditOf {
    pub path: String,
    pub edits: Vec<EditReplacement>,
    #[serde(default)]
    pub encoding: Option<TextEncoding>,
}

impl EditOf {
    /// Creates a request for one replacement at one place.
    pub fn new(path: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> EditOf {
        let one = EditReplacement { old: old.into(), new: new.into(), replace_all: false };
        EditOf { path: path.into(), edits: vec![one], encoding: None }
    }
}

/// Replaces lines by their numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchLines {
    pub path: String,
    /// First line, from 1.
    pub first: u64,
    /// Last line; `first - 1` to insert before `first`.
    pub last: u64,
    /// The new lines; empty to remove the old ones.
    pub text: String,
    /// The present text of those lines.
    #[serde(default)]
    pub expect: Option<String>,
    #[serde(default)]
    pub encoding: Option<TextEncoding>,
}

/// Applies a unified diff of any number of files; all or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PatchOf {
    pub patch: String,
    /// Leading components to take off the names; by default 1 if all have git's `a/` and `b/`.
    #[serde(default)]
    pub strip: Option<u32>,
    /// Lines of context that may differ at a hunk's ends, 2 by default.
    #[serde(default)]
    pub fuzz: Option<u32>,
    /// Only report what would be done.
    #[serde(default)]
    pub dry_run: bool,
}

/// Lists a directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LsOf {
    #[serde(default = "here")]
    pub path: String,
    /// Levels of directories, 1 by default.
    #[serde(default)]
    pub depth: Option<u32>,
    /// Include names that begin with a dot.
    #[serde(default = "yes")]
    pub hidden: bool,
    /// Entries to leave out first.
    #[serde(default)]
    pub offset: u64,
    /// Entries, 1000 by default.
    #[serde(default)]
    pub limit: Option<u64>,
}

fn here() -> String {
    ".".to_owned()
}

/// Finds files by a pattern of their paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GlobOf {
    /// `*`, `?`, `[...]`, `{a,b}`, `**` for any number of directories.
    pub pattern: String,
    /// The directory to search.
    #[serde(default = "here")]
    pub path: String,
    /// Also names that begin with a dot where the pattern does not.
    #[serde(default)]
    pub hidden: bool,
    /// Sort by time, the last changed first, instead of by path.
    #[serde(default)]
    pub newest: bool,
    /// Include directories.
    #[serde(default)]
    pub directories: bool,
    /// Paths, 1000 by default.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// The language of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PatternSyntax {
    /// Perl's, as in `grep -P`: `\d`, `\s`, `\b`, lazy operators, look-around.
    #[default]
    Perl,
    /// `grep -E`.
    Extended,
    /// `grep -F`.
    Literal,
}

/// The form of `grep`'s answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GrepOutput {
    #[default]
    Content,
    /// Files that have a match.
    Files,
    /// The number of matching lines in each file.
    Count,
}

/// Finds lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GrepOf {
    pub pattern: String,
    /// A file, or a directory with everything below it.
    #[serde(default = "here")]
    pub path: String,
    #[serde(default)]
    pub syntax: PatternSyntax,
    #[serde(default)]
    pub ignore_case: bool,
    /// Match whole words only.
    #[serde(default)]
    pub word: bool,
    /// Only files whose name fits one of these patterns (their path, if it has a slash).
    #[serde(default)]
    pub include: Vec<String>,
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Also files and directories that begin with a dot.
    #[serde(default)]
    pub hidden: bool,
    /// Lines before and after each match.
    #[serde(default)]
    pub before: u32,
    #[serde(default)]
    pub after: u32,
    #[serde(default)]
    pub output: GrepOutput,
    /// Matches (files, for the other outputs) to leave out first.
    #[serde(default)]
    pub offset: u64,
    /// Matches (or files), 200 by default.
    #[serde(default)]
    pub limit: Option<u64>,
    /// Bytes of lines, 64 KiB by default.
    #[serde(default)]
    pub max_bytes: Option<u64>,
}

impl GrepOf {
    /// Creates a request that searches all files below the working directory for a Perl pattern.
    pub fn new(pattern: impl Into<String>) -> GrepOf {
        GrepOf {
            pattern: pattern.into(),
            path: here(),
            syntax: PatternSyntax::Perl,
            ignore_case: false,
            word: false,
            include: Vec::new(),
            exclude: Vec::new(),
            hidden: false,
            before: 0,
            after: 0,
            output: GrepOutput::Content,
            offset: 0,
            limit: None,
            max_bytes: None,
        }
    }
}

/// Finds places to edit: each comes with the exact text around it, which occurs only once in its
/// file if 12 lines are enough for that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchOf {
    pub pattern: String,
    #[serde(default = "here")]
    pub path: String,
    #[serde(default = "literal")]
    pub syntax: PatternSyntax,
    #[serde(default)]
    pub ignore_case: bool,
    #[serde(default)]
    pub include: Vec<String>,
    #[serde(default)]
    pub hidden: bool,
    #[serde(default)]
    pub offset: u64,
    /// Places, 20 by default.
    #[serde(default)]
    pub limit: Option<u64>,
}

fn literal() -> PatternSyntax {
    PatternSyntax::Literal
}

/// Writes bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UploadOf {
    pub path: String,
    pub data: FileBytes,
    /// The offset of the bytes, for a file that is sent in parts: at most the file's present
    /// length. 0 begins the file again. By default the bytes replace the whole file at once.
    #[serde(default)]
    pub offset: Option<u64>,
    #[serde(default)]
    pub mode: Option<u16>,
}
