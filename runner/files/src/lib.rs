//! Files for models: reading, editing and searching the session's files, by the host.
//!
//! A [`Request`] is acted upon by [`apply_request`], which answers with an [`Answer`] or a [`FilesError`]. All three are
//! data that travel: as JSON to whoever asks, in binary form to the process that has the session.
//!
//! | what | file |
//! |---|---|
//! | requests, answers, errors | `request`, `answer`, `error` |
//! | paths, opening, replacing a file at once | `place` |
//! | encodings, ends of lines, kinds of data | `text`, `mime` |
//! | `read`, `download` | `read` |
//! | `write`, `upload`, `delete`, `move`, `make_dir` | `write` |
//! | `edit`, `patch_lines` | `edit`; what stands there instead: `nearest` |
//! | `apply_patch` | `patch`, its text `unified` |
//! | `stat`, `ls`, `glob` | `list`, patterns `pattern`, directories `walk` |
//! | what a call has changed, with digests and types | `changed` |
//! | `grep`, `search` | `grep`, `matcher` |
//!
//! # Invariants
//! - Whatever is done is done through [`wasibox_vfs::Vfs`] as a guest's system calls would do it: mounts, quota,
//!   permission bits and symbolic links are what they are for guests. No guest is started.
//! - A file that is replaced is whole at every moment: the new one is written beside it and takes its name.
//!   Only a file with several names, or in a directory that cannot be written, is written in place.
//! - Time and memory are bounded whatever the files hold and the request says ([`FileLimits`]).
//! - Only regular files are read and written: no device, no pipe.
//!
//! # Deliberately absent
//! Names that are not UTF-8 are shown with U+FFFD and cannot be given. `.gitignore` is not looked at. A directory
//! that a symbolic link leads to is not walked into.
#![forbid(unsafe_code)]

mod answer;
mod changed;
mod edit;
mod error;
mod grep;
mod list;
mod matcher;
mod mime;
mod nearest;
mod patch;
mod pattern;
mod place;
mod read;
mod request;
mod text;
mod unified;
mod walk;
mod write;

pub use answer::{
    Answer, Cut, FileBytes, FileEntry, FileEntryKind, FileText, GrepAnswer, GrepHit, GrepLine,
    PatchAnswer, PatchedFile, SearchAnswer, Snippet,
};
pub use changed::{FileChange, FileChangeKind, describe_changes};
pub use error::{FilesError, Nearest};
pub use request::{
    EditOf, EditReplacement, GlobOf, GrepOf, GrepOutput, LsOf, PatchLines, PatchOf, PatternSyntax,
    ReadOf, Request, SearchOf, TextEncoding, UploadOf, WriteOf,
};
pub use unified::unified_diff;

use place::FileCtx;
use std::time::{Duration, Instant};
use wasibox_vfs::Vfs;

/// What a request may take.
#[derive(Clone, Copy, Debug)]
pub struct FileLimits {
    /// Time, looked at between steps that each take milliseconds.
    pub time: Duration,
    /// Largest file that is edited, and bytes that a patch's files may have together.
    pub edited: u64,
    /// Bytes of an answer's contents, whatever the request asks for.
    pub answer: u64,
}

impl Default for FileLimits {
    /// 10 seconds, 16 MiB, 16 MiB.
    fn default() -> FileLimits {
        FileLimits { time: Duration::from_secs(10), edited: 16 << 20, answer: 16 << 20 }
    }
}

/// Acts upon a request within the default limits; relative paths are from `cwd`.
///
/// # Errors
/// What is wrong, what was found instead, and what to do. Nothing is changed then, but for what
/// `delete` had removed of a directory.
pub fn apply_request(vfs: &Vfs, cwd: &str, request: &Request) -> Result<Answer, FilesError> {
    apply_within(vfs, cwd, request, &FileLimits::default())
}

/// [`apply_request`] within other limits.
///
/// # Errors
/// As [`apply_request`].
pub fn apply_within(
    vfs: &Vfs,
    cwd: &str,
    request: &Request,
    limits: &FileLimits,
) -> Result<Answer, FilesError> {
    let ctx = FileCtx::new(vfs, cwd, limits, Instant::now() + limits.time)?;
    match request {
        Request::Read(r) => read::read(&ctx, r),
        Request::Download { path, offset, limit } => {
            read::download_part(&ctx, path, *offset, *limit)
        }
        Request::Write(w) => write::write(&ctx, w),
        Request::Upload(u) => write::upload_part(&ctx, u),
        Request::Delete { path, recursive } => write::delete_path(&ctx, path, *recursive),
        Request::Move { from, to } => write::rename_path(&ctx, from, to),
        Request::MakeDir { path } => write::make_dir(&ctx, path),
        Request::Edit(e) => edit::edit_file(&ctx, e),
        Request::PatchLines(p) => edit::patch_lines(&ctx, p),
        Request::ApplyPatch(p) => patch::apply_patch(&ctx, p),
        Request::Stat { path, follow } => list::stat_path(&ctx, path, *follow),
        Request::Ls(l) => list::list_dir(&ctx, l),
        Request::Glob(g) => list::glob_files(&ctx, g),
        Request::Grep(g) => grep::grep_files(&ctx, g),
        Request::Search(s) => grep::search_files(&ctx, s),
    }
}
